#include "shrink.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "shrink_text.h"

enum { USUAL_TESTS = 5000, SEEN_SLOTS = 1 << 16 };

typedef struct shrinker {
  vyre_program *program; /* the smallest that fails so far */
  char *source;
  shrink_text text;
  uint64_t cost;
  shrink_fails fails;
  void *ctx;
  shrink_options options;
  shrink_report report;
  uint64_t *seen; /* hashes of candidates */
  bool no_memory;
} shrinker;

/* ---- One candidate ------------------------------------------------------------------------- */

static bool done(const shrinker *s) { return s->no_memory || s->report.tests >= s->options.max_tests; }

/* Whether a text is tried for the first time. What falls out of the table is tried again, which costs time alone. */
static bool is_new(shrinker *s, const char *text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (; *text != 0; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001B3u;
  uint64_t *slot = &s->seen[hash % SEEN_SLOTS];
  if (*slot == hash) return false;
  *slot = hash;
  return true;
}

/* Makes |program| the smallest. Takes both over. */
static bool adopt(shrinker *s, vyre_program *program, char *source, const shrink_text *text) {
  vyre_program_release(s->program);
  free(s->source);
  shrink_text_free(&s->text);
  s->program = program;
  s->source = source;
  s->text = *text;
  s->cost = shrink_text_cost(text);
  return true;
}

static bool try_program(shrinker *s, vyre_program *program) {
  char *source;
  shrink_text text;
  if (vyre_text_print(program, &source, NULL) != VYRE_OK || !shrink_text_read(&text, source)) {
    s->no_memory = true;
    return false;
  }
  if (shrink_text_cost(&text) < s->cost && !done(s)) {
    s->report.tests++;
    if (s->fails(program, s->ctx)) return adopt(s, vyre_program_retain(program), source, &text);
  }
  shrink_text_free(&text);
  free(source);
  return false;
}

/* Tries a text, which is freed. True if it has become the program. */
static bool try_text(shrinker *s, char *text) {
  vyre_program *program = NULL;
  if (text == NULL) s->no_memory = true;
  if (text == NULL || done(s) || !is_new(s, text)) {
    free(text);
    return false;
  }
  s->report.parsed++;
  vyre_status status = vyre_text_parse(text, strlen(text), NULL, NULL, &program, NULL);
  free(text);
  if (status == VYRE_ERR_NO_MEMORY) s->no_memory = true;
  bool adopted = status == VYRE_OK && try_program(s, program);
  vyre_program_release(program);
  return adopted;
}

static bool try_replaced(shrinker *s, shrink_range range, const char *with) {
  return try_text(s, shrink_replaced(&s->text, range, with));
}

/* |range| gives way to |part| of itself, between |before| and |after|. */
static bool try_part(shrinker *s, shrink_range range, const char *before, shrink_range part, const char *after) {
  shrink_writer w = { 0 };
  shrink_write_text(&w, before);
  shrink_write_range(&w, &s->text, part);
  shrink_write_text(&w, after);
  if (w.failed) s->no_memory = true;
  bool adopted = !s->no_memory && try_replaced(s, range, w.data);
  free(w.data);
  return adopted;
}

/* ---- Statements ---------------------------------------------------------------------------- */

/* Deletes |size| neighbours at a time, the last first, as what is used stands before its use. */
static void delete_some(shrinker *s, uint32_t size) {
  for (uint32_t l = 0; l < s->text.list_count; l++)
    for (uint32_t at = s->text.lists[l].count; at > 0 && !done(s);) {
      shrink_list list = s->text.lists[l];
      if (at > list.count) at = list.count;
      uint32_t from = at > size ? at - size : 0;
      const shrink_item *first = &s->text.items[list.first + from], *last = &s->text.items[list.first + at - 1];
      if (at > 0) try_replaced(s, (shrink_range){ first->range.begin, last->range.end }, "");
      at = from;
    }
}

static void delete_statements(shrinker *s) {
  uint32_t size = 1;
  for (uint32_t l = 0; l < s->text.list_count; l++)
    if (s->text.lists[l].count > size) size = s->text.lists[l].count;
  for (; size > 0; size /= 2) delete_some(s, size);
}

/* Blocks in place of their statement: with the scope that names may need, or without. An if also without its else. */
static bool unwrap_one(shrinker *s, const shrink_item *item) {
  for (uint32_t i = 0; i < item->count; i++) {
    shrink_range body = s->text.lists[item->first + i].range;
    if (try_part(s, item->range, "", body, "") || try_part(s, item->range, "{", body, "}")) return true;
  }
  if (item->count < 2) return false;
  shrink_range first = { item->range.begin, s->text.lists[item->first].range.end };
  return try_part(s, item->range, "", first, "}");
}

static void unwrap(shrinker *s) {
  for (uint32_t i = 0; i < s->text.item_count && !done(s);) {
    shrink_item item = s->text.items[i];
    if (!unwrap_one(s, &item)) i++;
  }
}

/* ---- Names --------------------------------------------------------------------------------- */

static const char *const zeros[] = {
  "0", "false", "0u32", "0i32", "0f32", "0u64", "0i64", "0f64", "u32x4(0)", "i32x4(0)", "f32x4(0)", "u32x2(0)",
  "i32x2(0)", "f32x2(0)", NULL,
};

typedef struct declared {
  shrink_range removed; /* the declaration, empty for a loop's variable */
  shrink_range value;   /* of a let, else empty */
  uint32_t name, end;   /* tokens; where it is no longer visible */
} declared;

static bool is_use(const shrink_text *t, const declared *d, uint32_t token) {
  const shrink_token *a = &t->tokens[d->name], *b = &t->tokens[token];
  if (a->bytes != b->bytes || memcmp(a->at, b->at, a->bytes) != 0) return false;
  return b->kind == SHRINK_NAME && !shrink_token_is(t, token - 1, ".");
}

/* What an item declares; false if nothing whose uses are values. */
static bool find_declared(const shrink_text *t, const shrink_item *item, declared *d) {
  uint32_t at = item->range.begin;
  *d = (declared){ .removed = item->range, .name = at + 1, .end = t->lists[item->list].range.end };
  if (shrink_token_is(t, at, "let")) d->value = (shrink_range){ at + 3, item->range.end - 1 };
  if (shrink_token_is(t, at, "let") || shrink_token_is(t, at, "var") || shrink_token_is(t, at, "param")) return true;
  if (!shrink_token_is(t, at, "for")) return false;
  shrink_range body = t->lists[item->first].range;
  *d = (declared){ .removed = { body.begin, body.begin }, .name = at + 2, .end = body.end };
  return true;
}

/* The text without the declaration, and without assignments to it, with |with| for each use. */
static char *without_name(const shrink_text *t, const declared *d, const char *with) {
  shrink_writer w = { 0 };
  shrink_write(&w, t->text, (size_t)(t->tokens[d->removed.begin].at - t->text));
  for (uint32_t i = d->removed.end; i < t->token_count; i++) {
    bool use = i < d->end && is_use(t, d, i);
    if (use && shrink_token_is(t, i + 1, "=")) {
      while (!shrink_token_is(t, i, ";")) i++;
      continue;
    }
    shrink_write_text(&w, " ");
    if (use) shrink_write_text(&w, with);
    else shrink_write_range(&w, t, (shrink_range){ i, i + 1 });
  }
  if (!w.failed) return w.data;
  free(w.data);
  return NULL;
}

static bool inline_name(shrinker *s, const declared *d) {
  uint32_t uses = 0;
  for (uint32_t i = d->removed.end; i < d->end; i++) uses += is_use(&s->text, d, i);
  if (d->value.begin == d->value.end || (uses > 1 && d->value.end - d->value.begin > 3)) return false;
  shrink_writer value = { 0 };
  shrink_write_text(&value, "(");
  shrink_write_range(&value, &s->text, d->value);
  shrink_write_text(&value, ")");
  bool adopted = !value.failed && try_text(s, without_name(&s->text, d, value.data));
  free(value.data);
  return adopted;
}

static bool drop_name(shrinker *s, const shrink_item *item) {
  declared d;
  if (!find_declared(&s->text, item, &d)) return false;
  if (inline_name(s, &d)) return true;
  for (const char *const *zero = zeros; *zero != NULL; zero++)
    if (try_text(s, without_name(&s->text, &d, *zero))) return true;
  return false;
}

static void drop_names(shrinker *s) {
  for (uint32_t i = s->text.item_count; i > 0 && !done(s); i--) {
    if (i > s->text.item_count) i = s->text.item_count;
    shrink_item item = s->text.items[i - 1];
    drop_name(s, &item);
  }
}

/* ---- Expressions --------------------------------------------------------------------------- */

/* `max(x, -inf)` is how the generator keeps the bits of a NaN from being seen; without it differences mean nothing. */
static bool hides_nan(const shrink_text *t, shrink_range node) {
  return shrink_token_is(t, node.begin, "max") && shrink_token_is(t, node.end - 2, "inf");
}

static bool simplify_one(shrinker *s, uint32_t node) {
  shrink_range range = s->text.nodes[node];
  if (range.end - range.begin > 1 || s->text.tokens[range.begin].kind == SHRINK_NAME)
    for (const char *const *zero = zeros; *zero != NULL; zero++)
      if (try_replaced(s, range, *zero)) return true;
  if (hides_nan(&s->text, range)) return false;
  for (uint32_t i = node + 1; i < s->text.node_count && s->text.nodes[i].begin < range.end;) {
    shrink_range part = s->text.nodes[i];
    if (try_part(s, range, "(", part, ")")) return true;
    while (i < s->text.node_count && s->text.nodes[i].begin < part.end) i++;
  }
  return false;
}

static void simplify(shrinker *s) {
  for (uint32_t i = 0; i < s->text.node_count && !done(s);)
    if (!simplify_one(s, i)) i++;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

/* 0, 1 or half of a number, with its suffix if that is one. */
static bool shrink_number_at(shrinker *s, uint32_t token) {
  const shrink_token *k = &s->text.tokens[token];
  char *end, text[64];
  uint64_t value = strtoull(k->at, &end, 10);
  bool whole = *end != '.' && *end != 'e';
  int suffix = whole ? (int)(k->at + k->bytes - end) : 0;
  char tail[16] = "";
  if (suffix < (int)sizeof tail) memcpy(tail, end, (size_t)suffix);
  const uint64_t values[] = { 0, 1, value, value / 2, value - 1 };
  for (size_t i = whole ? 0 : 1; i < (whole ? 5 : 3); i++) {
    if (whole && values[i] >= value) continue;
    snprintf(text, sizeof text, whole ? "%llu%s" : "%llu.0%s", (unsigned long long)values[i], tail);
    if (try_replaced(s, (shrink_range){ token, token + 1 }, text)) return true;
  }
  return false;
}

static void shrink_literals(shrinker *s) {
  for (uint32_t i = 0; i < s->text.token_count && !done(s);)
    if (s->text.tokens[i].kind != SHRINK_NUMBER || !shrink_number_at(s, i)) i++;
}

/* A table keeps its first element, or its first half. */
static bool cut_table(shrinker *s, const shrink_item *item) {
  const shrink_text *t = &s->text;
  uint32_t at = item->range.begin, open = at + 8, count = 0;
  if (!shrink_token_is(t, at, "const") || !shrink_token_is(t, open, "{")) return false;
  uint32_t length = (uint32_t)strtoul(t->tokens[at + 5].at, NULL, 10), wanted[] = { 1, length / 2 };
  for (int k = 0; k < 2; k++) {
    uint32_t end = open + 1;
    if (wanted[k] == 0 || wanted[k] >= length) continue;
    for (count = 0; !(shrink_token_is(t, end, ",") && ++count == wanted[k]); end++)
      if (shrink_token_is(t, end, "(")) end = t->tokens[end].match;
    shrink_writer w = { 0 };
    char number[16];
    snprintf(number, sizeof number, "%u", wanted[k]);
    shrink_write_range(&w, t, (shrink_range){ at, at + 5 });
    shrink_write_text(&w, number);
    shrink_write_range(&w, t, (shrink_range){ at + 6, end });
    shrink_write_text(&w, "};");
    bool adopted = !w.failed && try_replaced(s, item->range, w.data);
    free(w.data);
    if (adopted) return true;
  }
  return false;
}

static void cut_tables(shrinker *s) {
  for (uint32_t i = 0; i < s->text.item_count && !done(s);) {
    shrink_item item = s->text.items[i];
    if (!cut_table(s, &item)) i++;
  }
}

/* Attributes stand between the program's name and its brace. */
static void drop_attributes(shrinker *s) {
  for (uint32_t at = 2; !shrink_token_is(&s->text, at, "{") && !done(s);) {
    uint32_t end = shrink_token_is(&s->text, at + 1, "(") ? s->text.tokens[at + 1].match + 1 : at + 1;
    if (!try_replaced(s, (shrink_range){ at, end }, "")) at = end;
  }
}

/* The numbers beside the program: the program stays, so the predicate alone decides. */
static bool shrink_numbers(shrinker *s) {
  bool changed = false;
  for (uint32_t i = 0; i < s->options.number_count; i++) {
    const shrink_number *n = &s->options.numbers[i];
    uint64_t before = *n->value, tries[] = { n->least, before / 2, before - 1 };
    for (int k = 0; k < 3 && *n->value == before && !done(s); k++) {
      if (tries[k] < n->least || tries[k] >= before) continue;
      *n->value = tries[k];
      s->report.tests++;
      if (!s->fails(s->program, s->ctx)) *n->value = before;
    }
    if (*n->value != before) memset(s->seen, 0, SEEN_SLOTS * sizeof *s->seen);
    changed |= *n->value != before;
  }
  return changed;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static void shrink_all(shrinker *s) {
  for (;;) {
    uint64_t before = s->cost;
    delete_statements(s);
    unwrap(s);
    drop_names(s);
    delete_some(s, 1);
    simplify(s);
    shrink_literals(s);
    cut_tables(s);
    drop_attributes(s);
    bool changed = shrink_numbers(s);
    if (done(s) || (s->cost == before && !changed)) return;
  }
}

vyre_status shrink_program(vyre_program *program, shrink_fails still_fails, void *ctx, const shrink_options *options,
                           vyre_program **out, shrink_report *report) {
  shrinker s = { .fails = still_fails, .ctx = ctx };
  *out = NULL;
  if (options != NULL) s.options = *options;
  if (s.options.max_tests == 0) s.options.max_tests = USUAL_TESTS;
  s.seen = calloc(SEEN_SLOTS, sizeof *s.seen);
  s.program = vyre_program_retain(program);
  s.no_memory = s.seen == NULL || vyre_text_print(program, &s.source, NULL) != VYRE_OK ||
                !shrink_text_read(&s.text, s.source);
  if (!s.no_memory) {
    s.cost = shrink_text_cost(&s.text);
    shrink_all(&s);
  }
  if (report != NULL) *report = s.report;
  if (s.no_memory) vyre_program_release(s.program);
  else *out = s.program;
  shrink_text_free(&s.text);
  free(s.source);
  free(s.seen);
  return s.no_memory ? VYRE_ERR_NO_MEMORY : VYRE_OK;
}

/* ---- Keeping it ---------------------------------------------------------------------------- */

static vyre_status fail(vyre_error *error, vyre_status status, const char *path, const char *what) {
  if (error == NULL) return status;
  error->status = status;
  snprintf(error->where, sizeof error->where, "%.*s", (int)sizeof error->where - 1, path);
  snprintf(error->text, sizeof error->text, "the program could not be written: %s. Fix: name a directory that exists "
           "and can be written to.", what);
  return status;
}

static void write_comment(FILE *f, const char *comment) {
  for (const char *line = comment; *line != 0;) {
    int bytes = (int)strcspn(line, "\n");
    fprintf(f, "// %.*s\n", bytes, line);
    line += bytes + (line[bytes] == '\n');
  }
}

vyre_status shrink_save(const char *directory, const char *name, const char *comment, const vyre_program *program,
                        vyre_error *error) {
  char path[4096], *text;
  if (snprintf(path, sizeof path, "%s/%s.vyre", directory, name) >= (int)sizeof path)
    return fail(error, VYRE_ERR_IO, directory, "its path is too long");
  if (vyre_text_print(program, &text, NULL) != VYRE_OK) return fail(error, VYRE_ERR_NO_MEMORY, path, "no memory");
  FILE *f = fopen(path, "w");
  bool good = f != NULL;
  if (good) {
    write_comment(f, comment);
    good = fputs(text, f) >= 0;
    good = fclose(f) == 0 && good;
  }
  free(text);
  return good ? VYRE_OK : fail(error, VYRE_ERR_IO, path, strerror(errno));
}
