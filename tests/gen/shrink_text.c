#include "shrink_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tokens -------------------------------------------------------------------------------- */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static uint32_t number_bytes(const char *at) {
  bool hex = at[0] == '0' && at[1] == 'x';
  uint32_t n = 1;
  for (;; n++) {
    bool point = at[n] == '.' && isalnum((unsigned char)at[n + 1]);
    bool sign = (at[n] == '-' || at[n] == '+') && (hex ? at[n - 1] == 'p' : at[n - 1] == 'e');
    if (!is_word(at[n]) && !point && !sign) return n;
  }
}

static uint32_t string_bytes(const char *at) {
  uint32_t n = 1;
  while (at[n] != '"') n += at[n] == '\\' ? 2 : 1;
  return n + 1;
}

static uint32_t sign_bytes(const char *at) {
  static const char pairs[][3] = { "..", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||" };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (memcmp(at, pairs[i], 2) == 0) return 2;
  return 1;
}

static shrink_token token_at(const char *at) {
  shrink_token token = { .at = at, .bytes = 1 };
  if (isdigit((unsigned char)*at)) {
    token.kind = SHRINK_NUMBER;
    token.bytes = number_bytes(at);
  } else if (is_word(*at)) {
    token.kind = SHRINK_NAME;
    while (is_word(at[token.bytes])) token.bytes++;
  } else if (*at == '"') {
    token.kind = SHRINK_STRING;
    token.bytes = string_bytes(at);
  } else {
    token.kind = SHRINK_SIGN;
    token.bytes = sign_bytes(at);
  }
  return token;
}

/* Brackets of sound text nest, so an open one waits in |match| for its partner: there stands the one around it. */
static void read_tokens(shrink_text *t) {
  uint32_t open = UINT32_MAX;
  const char *at = t->text;
  for (;;) {
    while (isspace((unsigned char)*at)) at++;
    if (*at == 0) return;
    uint32_t n = t->token_count++;
    t->tokens[n] = token_at(at);
    at += t->tokens[n].bytes;
    char c = t->tokens[n].kind == SHRINK_SIGN ? *t->tokens[n].at : 0;
    if (c == '(' || c == '[' || c == '{') {
      t->tokens[n].match = open;
      open = n;
    } else if (c == ')' || c == ']' || c == '}') {
      uint32_t partner = open;
      open = t->tokens[partner].match;
      t->tokens[partner].match = n;
      t->tokens[n].match = partner;
    }
  }
}

bool shrink_token_is(const shrink_text *t, uint32_t token, const char *text) {
  const shrink_token *k = &t->tokens[token];
  return token < t->token_count && k->bytes == strlen(text) && memcmp(k->at, text, k->bytes) == 0;
}

static bool is_one_of(const shrink_text *t, uint32_t token, const char *const *words) {
  for (; *words != NULL; words++)
    if (shrink_token_is(t, token, *words)) return true;
  return false;
}

/* ---- Statements ---------------------------------------------------------------------------- */

bool shrink_is_declaration(const shrink_text *t, const shrink_item *item) {
  static const char *const words[] = { "param", "read", "write", "rw", "shared", "local", "const", NULL };
  return is_one_of(t, item->range.begin, words);
}

static bool opens(const shrink_text *t, uint32_t token) {
  return t->tokens[token].kind == SHRINK_SIGN && strchr("([{", *t->tokens[token].at) != NULL;
}

/* The first |sign| from |at| on that is in no bracket. */
static uint32_t find(const shrink_text *t, uint32_t at, const char *sign) {
  while (!shrink_token_is(t, at, sign)) at = opens(t, at) ? t->tokens[at].match + 1 : at + 1;
  return at;
}

static uint32_t add_block(shrink_text *t, uint32_t brace) {
  t->lists[t->list_count++] = (shrink_list){ .range = { brace + 1, t->tokens[brace].match } };
  return t->tokens[brace].match + 1;
}

/* Reads the item at |at|; gives where the next one begins. */
static uint32_t read_item(shrink_text *t, uint32_t list, uint32_t at) {
  static const char *const words[] = { "if", "for", "loop", "region", "{", NULL };
  shrink_item *item = &t->items[t->item_count++];
  *item = (shrink_item){ .range = { at, 0 }, .list = list, .first = t->list_count };
  uint32_t next = at;
  if (!is_one_of(t, at, words)) next = find(t, at, ";") + 1;
  else next = add_block(t, find(t, at, "{"));
  while (shrink_token_is(t, at, "if") && shrink_token_is(t, next, "else")) next = add_block(t, find(t, next, "{"));
  item->count = t->list_count - item->first;
  item->range.end = next;
  return next;
}

/* Blocks are added behind those that are read, so that the items of one lie together. */
static void read_lists(shrink_text *t) {
  add_block(t, find(t, 0, "{"));
  for (uint32_t i = 0; i < t->list_count; i++) {
    t->lists[i].first = t->item_count;
    for (uint32_t at = t->lists[i].range.begin; at < t->lists[i].range.end;) at = read_item(t, i, at);
    t->lists[i].count = t->item_count - t->lists[i].first;
  }
}

/* ---- Expressions --------------------------------------------------------------------------- */

static uint32_t precedence(const shrink_text *t, uint32_t token) {
  static const char *const signs[][5] = { { "||" }, { "&&" }, { "==", "!=" }, { "<", ">", "<=", ">=" }, { "|" },
                                          { "^" },  { "&" },  { "<<", ">>" }, { "+", "-" },        { "*", "/", "%" } };
  for (uint32_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (is_one_of(t, token, signs[i])) return i + 1;
  return 0;
}

static uint32_t add_node(shrink_text *t, uint32_t begin, uint32_t end) {
  t->nodes[t->node_count++] = (shrink_range){ begin, end };
  return end;
}

static uint32_t read_expr(shrink_text *t, uint32_t at, uint32_t least);

/* Expressions between brackets; gives what follows the closing one. */
static uint32_t read_bracket(shrink_text *t, uint32_t open) {
  uint32_t close = t->tokens[open].match;
  for (uint32_t at = open + 1; at < close;) at = shrink_token_is(t, at, ",") ? at + 1 : read_expr(t, at, 0);
  return close + 1;
}

static uint32_t read_primary(shrink_text *t, uint32_t at) {
  static const char *const prefixes[] = { "-", "~", "!", NULL };
  uint32_t begin = at;
  if (is_one_of(t, at, prefixes)) return add_node(t, begin, read_primary(t, at + 1));
  if (shrink_token_is(t, at, "(")) {
    at = read_bracket(t, at);
    if (!shrink_token_is(t, at, ".")) {
      t->nodes[t->node_count - 1] = (shrink_range){ begin, at }; /* the brackets belong to what is in them */
      return at;
    }
  } else {
    if (shrink_token_is(t, at, "bitcast")) at += 3;
    at++;
    while (shrink_token_is(t, at, "(") || shrink_token_is(t, at, "[")) at = read_bracket(t, at);
  }
  while (shrink_token_is(t, at, ".")) at += 2;
  return add_node(t, begin, at);
}

/* An expression of operators that bind at least so; gives what follows. The depth is the expression's, which the
 * language limits. */
static uint32_t read_expr(shrink_text *t, uint32_t at, uint32_t least) {
  uint32_t begin = at;
  at = read_primary(t, at);
  for (uint32_t own; (own = precedence(t, at)) != 0 && own >= least;) {
    at = read_expr(t, at + 1, own + 1);
    add_node(t, begin, at);
  }
  if (least == 0 && shrink_token_is(t, at, "?")) {
    at = read_expr(t, at + 1, 0) + 1;
    at = add_node(t, begin, read_expr(t, at, 0));
  }
  return at;
}

static int by_place(const void *x, const void *y) {
  const shrink_range *a = x, *b = y;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  return a->end != b->end ? a->end < b->end ? 1 : -1 : 0;
}

static void read_nodes(shrink_text *t) {
  static const char *const words[] = { "else", "loop", "region", "break", "continue", "return", "barrier",
                                       "grid_barrier", "commit", "wait", "copy_async", "workgroup", "step", NULL };
  static const char *const operators[] = { "(", "-", "~", "!", NULL };
  uint32_t at = t->lists[0].range.begin;
  for (uint32_t i = 0; i < t->lists[0].count && shrink_is_declaration(t, &t->items[i]); i++) at = t->items[i].range.end;
  while (at < t->lists[0].range.end) {
    if (shrink_token_is(t, at, "let") || shrink_token_is(t, at, "var")) at += 3;
    else if (shrink_token_is(t, at, "for")) at += 4;
    else if (shrink_token_is(t, at, "if")) at += 2;
    else if (is_one_of(t, at, words) || t->tokens[at].kind == SHRINK_STRING) at++;
    else if (t->tokens[at].kind == SHRINK_SIGN && !is_one_of(t, at, operators)) at++;
    else at = read_expr(t, at, 0);
  }
  qsort(t->nodes, t->node_count, sizeof *t->nodes, by_place);
}

/* ---- The whole ----------------------------------------------------------------------------- */

bool shrink_text_read(shrink_text *t, const char *text) {
  size_t most = strlen(text) + 1; /* of tokens, and so of all that consists of some */
  *t = (shrink_text){ .text = text };
  t->tokens = malloc(most * sizeof *t->tokens);
  t->items = malloc(most * sizeof *t->items);
  t->lists = malloc(most * sizeof *t->lists);
  t->nodes = malloc(2 * most * sizeof *t->nodes);
  if (t->tokens == NULL || t->items == NULL || t->lists == NULL || t->nodes == NULL) {
    shrink_text_free(t);
    return false;
  }
  read_tokens(t);
  read_lists(t);
  read_nodes(t);
  return true;
}

void shrink_text_free(shrink_text *t) {
  free(t->tokens);
  free(t->items);
  free(t->lists);
  free(t->nodes);
  *t = (shrink_text){ 0 };
}

/* Small numbers weigh less than large ones, and few digits less than many. */
static uint64_t number_cost(const shrink_token *k) {
  uint64_t value = strtoull(k->at, NULL, 10), bits = 64 - (uint64_t)__builtin_clzll(value | 1);
  return k->bytes + (value < 16 ? value : 16 + bits);
}

/* Statements weigh most; a literal weighs less than a name. */
uint64_t shrink_text_cost(const shrink_text *t) {
  uint64_t cost = 200ull * t->item_count;
  for (uint32_t i = 0; i < t->token_count; i++) {
    const shrink_token *k = &t->tokens[i];
    cost += k->kind == SHRINK_NAME ? 120 : k->kind == SHRINK_NUMBER ? number_cost(k) : 4;
  }
  return cost;
}

void shrink_write(shrink_writer *w, const char *data, size_t bytes) {
  if (w->room - w->count <= bytes) {
    size_t room = 2 * (w->count + bytes) + 256;
    char *grown = realloc(w->data, room);
    if (grown == NULL) {
      w->failed = true;
      return;
    }
    w->data = grown;
    w->room = room;
  }
  memcpy(w->data + w->count, data, bytes);
  w->count += bytes;
  w->data[w->count] = 0;
}

void shrink_write_text(shrink_writer *w, const char *text) { shrink_write(w, text, strlen(text)); }

void shrink_write_range(shrink_writer *w, const shrink_text *t, shrink_range range) {
  if (range.begin >= range.end) return;
  const shrink_token *last = &t->tokens[range.end - 1];
  shrink_write(w, t->tokens[range.begin].at, (size_t)(last->at + last->bytes - t->tokens[range.begin].at));
}

char *shrink_replaced(const shrink_text *t, shrink_range range, const char *with) {
  shrink_writer w = { 0 };
  shrink_write(&w, t->text, (size_t)(t->tokens[range.begin].at - t->text));
  shrink_write_text(&w, " ");
  shrink_write_text(&w, with);
  shrink_write_text(&w, " ");
  const shrink_token *last = &t->tokens[range.end - 1];
  shrink_write_text(&w, range.end > range.begin ? last->at + last->bytes : t->tokens[range.begin].at);
  if (!w.failed) return w.data;
  free(w.data);
  return NULL;
}
