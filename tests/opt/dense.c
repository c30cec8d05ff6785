#include "dense.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <vyre/text.h>

#include "../gen/random_program.h"

enum { ROOM = 1 << 17, POOL = 7, EXPR = 256, MOST_NAMES = 64, MOST_DEPTH = 5 };

typedef struct dense {
  random_source r;
  char *text;
  size_t used;
  char pool[POOL][EXPR]; /* expressions of what is visible everywhere */
  uint32_t names, visible[MOST_NAMES], visible_count; /* of locals: 2 * number + 1 if it may be assigned */
  uint32_t depth, loops, left;
  bool returns; /* an invocation may be gone: no more barriers */
} dense;

static uint32_t below(dense *d, uint32_t n) { return random_below(&d->r, n); }

__attribute__((format(printf, 2, 3))) static void say(dense *d, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int bytes = vsnprintf(d->text + d->used, ROOM - d->used, format, args);
  va_end(args);
  d->used += bytes > 0 && d->used + (size_t)bytes < ROOM ? (size_t)bytes : 0;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static void leaf(dense *d, char *out, bool global) {
  static const char *const names[] = { "a", "b", "c", "a", "b", "k", "p", "q", "gid.x", "len(x)",
                                       "0u32", "1u32", "2u32", "3u32" };
  if (!global && d->visible_count > 0 && random_chance(&d->r, 40)) {
    uint32_t name = d->visible[below(d, d->visible_count)];
    snprintf(out, EXPR, "%c%u", name & 1 ? 'v' : 't', name / 2);
    return;
  }
  snprintf(out, EXPR, "%s", names[below(d, sizeof names / sizeof *names)]);
}

static void load(dense *d, char *out) {
  static const char *const names[] = { "x", "x", "y", "r", "s", "l" };
  static const char *const indices[] = { "0", "1", "a", "b & 3", "k" };
  const char *name = names[below(d, 6)];
  snprintf(out, EXPR, "%s[%s]", name, indices[below(d, 5)]);
}

static void expression(dense *d, char *out, bool global) {
  static const char *const operators[] = { "+", "-", "*", "&", "|", "^", "/", "%", "<<" };
  char x[EXPR], y[EXPR];
  if (!global && random_chance(&d->r, 55)) {
    snprintf(out, EXPR, "%s", d->pool[below(d, POOL)]);
    return;
  }
  if (random_chance(&d->r, 30)) load(d, x);
  else leaf(d, x, global);
  if (random_chance(&d->r, 25)) load(d, y);
  else leaf(d, y, global);
  switch (below(d, global ? 5 : 9)) {
    case 0: snprintf(out, EXPR, "%.60s", x); break;
    case 1: snprintf(out, EXPR, "(%.60s < %.60s ? %.60s : 5)", x, y, y); break;
    case 2: snprintf(out, EXPR, "min(%.60s, %.60s)", x, y); break;
    case 5: snprintf(out, EXPR, "(%.60s + %.100s)", x, d->pool[below(d, POOL)]); break;
    case 6: {
      char buffer = "xxy"[below(d, 3)];
      bool first = random_chance(&d->r, 50);
      if (first) snprintf(out, EXPR, "(atomic_xor(%c[%u], 1) - %.60s)", buffer, below(d, 2), x);
      else snprintf(out, EXPR, "(%.60s + atomic_add(%c[%u], %.60s))", x, buffer, below(d, 2), y);
      break;
    }
    default: {
      const char *op = operators[below(d, 9)];
      bool divides = *op == '/' || *op == '%';
      snprintf(out, EXPR, "(%.60s %s %.60s)", x, op, divides && *y >= '0' && *y <= '9' ? "3" : y);
    }
  }
}

static void condition(dense *d, char *out) {
  char x[EXPR], y[EXPR];
  expression(d, x, false);
  leaf(d, y, false);
  switch (below(d, 12)) {
    case 0: snprintf(out, EXPR, "true"); break;
    case 1: snprintf(out, EXPR, "false"); break;
    case 2: snprintf(out, EXPR, "%.100s == %.60s && a < 9", x, y); break;
    case 3: snprintf(out, EXPR, "%s", "(b & 1) == 0"); break;
    case 4: snprintf(out, EXPR, "%s", "p < 3"); break;
    default: snprintf(out, EXPR, "%.100s %s %.60s", x, below(d, 2) ? "<" : "!=", y); break;
  }
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void block(dense *d, uint32_t statements);

static void open(dense *d, const char *text, uint32_t statements) {
  say(d, "%s {\n", text);
  block(d, statements);
  say(d, "}\n");
}

static void declare(dense *d, bool assigned) {
  char e[EXPR];
  expression(d, e, false);
  say(d, "%s %c%u = %s;\n", assigned ? "var" : "let", assigned ? 'v' : 't', d->names, e);
  if (d->visible_count < MOST_NAMES) d->visible[d->visible_count++] = d->names * 2 + assigned;
  d->names++;
}

static void assign(dense *d) {
  char e[EXPR];
  expression(d, e, false);
  for (uint32_t i = 0; i < d->visible_count && random_chance(&d->r, 50); i++) {
    uint32_t name = d->visible[d->visible_count - 1 - i];
    if (!(name & 1)) continue;
    say(d, "v%u = %s;\n", name / 2, e);
    return;
  }
  say(d, "%c = %s;\n", "abc"[below(d, 3)], e);
}

static void store(dense *d) {
  char e[EXPR];
  expression(d, e, false);
  static const char *const targets[] = { "x[0]", "x[1]", "y[0]", "y[a]", "s[1]", "l[0]", "o[b]", "x[k]" };
  say(d, "%s = %s;\n", targets[below(d, 8)], e);
}

static void branch(dense *d) {
  char c[EXPR], text[EXPR + 8];
  condition(d, c);
  snprintf(text, sizeof text, "if (%s)", c);
  open(d, text, below(d, 4));
  if (random_chance(&d->r, 50)) open(d, "else", below(d, 4));
}

/* Two arms that begin and end alike. */
static void twins(dense *d) {
  char c[EXPR], first[EXPR];
  condition(d, c);
  expression(d, first, false);
  static const char *const last[] = { "x[0] = a;", "a = b * 3;", "o[b] = x[1];", "c = t;", "" };
  const char *end = last[below(d, 5)];
  say(d, "if (%s) {\n", c);
  for (int arm = 0; arm < 2; arm++) {
    uint32_t name = d->names++, before = d->visible_count;
    if (d->visible_count < MOST_NAMES) d->visible[d->visible_count++] = name * 2;
    say(d, "let t%u = %s;\n", name, first);
    block(d, below(d, 3));
    if (strcmp(end, "c = t;") == 0) say(d, "c = t%u;\n", name);
    else say(d, "%s\n", end);
    d->visible_count = before;
    say(d, "%s\n", arm == 0 ? "} else {" : "}");
  }
}

static void loop(dense *d) {
  uint32_t name = d->names++;
  d->loops++;
  if (random_chance(&d->r, 60)) {
    say(d, "for (t%u in %s) {\n", name, below(d, 4) == 0 ? "k..k" : below(d, 2) ? "0..3" : "0..p & 3");
    uint32_t before = d->visible_count;
    if (d->visible_count < MOST_NAMES) d->visible[d->visible_count++] = name * 2;
    block(d, 1 + below(d, 5));
    d->visible_count = before;
  } else {
    say(d, "var n%u = 0;\nloop {\nn%u = n%u + 1;\nif (n%u > 3) {\nbreak;\n}\n", name, name, name, name);
    block(d, 1 + below(d, 5));
  }
  say(d, "}\n");
  d->loops--;
}

static void jump(dense *d) {
  char c[EXPR];
  condition(d, c);
  bool returns = d->loops == 0 || random_chance(&d->r, 10);
  say(d, "if (%s) {\n", c);
  block(d, below(d, 2));
  say(d, "%s;\n}\n", returns ? "return" : below(d, 2) ? "break" : "continue");
  d->returns |= returns;
}

static void order(dense *d) {
  if (d->depth == 1 && !d->returns && random_chance(&d->r, 50)) say(d, "barrier;\n");
  else say(d, "fence(acq_rel, %s);\n", below(d, 2) ? "device" : "workgroup");
}

static void statement(dense *d) {
  uint32_t what = below(d, 100);
  if (what < 22) declare(d, false);
  else if (what < 28) declare(d, true);
  else if (what < 50) assign(d);
  else if (what < 70) store(d);
  else if (what < 77 && d->depth < MOST_DEPTH) branch(d);
  else if (what < 80 && d->depth < MOST_DEPTH) twins(d);
  else if (what < 87 && d->depth < MOST_DEPTH) loop(d);
  else if (what < 91 && d->depth < MOST_DEPTH) open(d, below(d, 2) ? "" : "region \"r\"", below(d, 4));
  else if (what < 95 && (d->loops > 0 || random_chance(&d->r, 20))) jump(d);
  else if (what < 97) order(d);
  else say(d, "atomic_add(%s[0], a);\n", below(d, 2) ? "x" : "s");
}

static void block(dense *d, uint32_t statements) {
  uint32_t before = d->visible_count;
  d->depth++;
  for (; statements > 0 && d->left > 0; statements--, d->left--) statement(d);
  d->depth--;
  d->visible_count = before;
}

vyre_program *dense_program(uint64_t seed, vyre_error *error) {
  static char text[ROOM];
  dense d = { .r = { seed }, .text = text, .left = 60 };
  vyre_program *p = NULL;
  for (uint32_t i = 0; i < POOL; i++) expression(&d, d.pool[i], true);
  say(&d, "program dense {\nparam p: u32;\nparam q: u32;\nrw x: u32[4];\nrw y: u32[4];\nread r: u32[4];\n"
          "write o: u32[8];\nshared s: u32[4];\nlocal l: u32[4];\nlet k = q & 3;\n"
          "var a = p & 7;\nvar b = q;\nvar c = 0;\n");
  block(&d, 8 + below(&d, 16));
  say(&d, "o[0] = a;\no[1] = b;\no[2] = c;\no[3] = l[0] + s[1];\n}\n");
  return vyre_text_parse(text, d.used, NULL, NULL, &p, error) == VYRE_OK ? p : NULL;
}
