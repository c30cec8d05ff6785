/* Programs with very much of one thing, each of which some pass might go through once for every other one. */
#include "shapes.h"

#include <stdio.h>

typedef struct ground {
  vyre_expr i, k;
  vyre_binding a, r;
} ground;

static ground declare(vyre_builder *b) {
  ground g;
  vyre_build_workgroup(b, 64, 1, 1);
  g.k = vyre_build_param(b, "k", VYRE_TYPE_U32);
  g.r = vyre_build_buffer(b, VYRE_ACCESS_READ, "r", VYRE_TYPE_U32, 0);
  g.a = vyre_build_buffer(b, VYRE_ACCESS_RW, "a", VYRE_TYPE_U32, 0);
  g.i = vyre_build_leaf(b, VYRE_OP_GID, 0);
  return g;
}

static const char *name_of(char prefix, uint32_t n) {
  static char name[24];
  snprintf(name, sizeof name, "%c_%u", prefix, n);
  return name;
}

static vyre_expr add(vyre_builder *b, vyre_expr x, vyre_expr y) {
  return vyre_build_binary(b, VYRE_OP_ADD, x, y);
}

static vyre_expr mul(vyre_builder *b, vyre_expr x, uint32_t y) {
  return vyre_build_binary(b, VYRE_OP_MUL, x, vyre_build_u32(b, y));
}

static vyre_expr let(vyre_builder *b, uint32_t n, vyre_expr value) {
  return vyre_build_var_value(b, vyre_build_declare(b, VYRE_STMT_LET, name_of('v', n), value));
}

/* Each name is made of the one before. */
static void build_lets(vyre_builder *b, uint32_t statements) {
  ground g = declare(b);
  vyre_expr last = g.i;
  for (uint32_t n = 0; n + 1 < statements; n++) last = let(b, n, add(b, mul(b, last, 3), vyre_build_u32(b, n)));
  vyre_build_store(b, g.a, g.i, last);
}

/* All names are in use at the end, in sums of 512. */
static void build_names(vyre_builder *b, uint32_t statements) {
  enum { SUM = 512 };
  ground g = declare(b);
  uint32_t names = statements - statements / SUM;
  vyre_var first = 0;
  for (uint32_t n = 0; n < names; n++) {
    vyre_var v = vyre_build_declare(b, VYRE_STMT_LET, name_of('v', n),
                                    vyre_build_binary(b, VYRE_OP_BITXOR, g.k, vyre_build_u32(b, n)));
    if (n == 0) first = v;
  }
  for (uint32_t n = 0; n + SUM <= names; n += SUM) {
    vyre_expr sum = g.i;
    for (uint32_t m = 0; m < SUM; m++) sum = add(b, sum, vyre_build_var_value(b, first + n + m));
    vyre_build_store(b, g.a, vyre_build_u32(b, n), sum);
  }
}

/* The same value under every name. */
static void build_equals(vyre_builder *b, uint32_t statements) {
  ground g = declare(b);
  vyre_expr at = mul(b, g.i, 7);
  for (uint32_t n = 0; n + 1 < statements; n += 2) {
    vyre_expr value = let(b, n, add(b, vyre_build_load(b, VYRE_OP_LOAD, g.r, at), g.k));
    vyre_build_store(b, g.a, add(b, g.i, vyre_build_u32(b, n)), value);
  }
}

/* As many buffers as there may be, each written from its neighbour. */
static void build_buffers(vyre_builder *b, uint32_t statements) {
  ground g = declare(b);
  uint32_t count = VYRE_MAX_DECLARATIONS - 16 < statements ? VYRE_MAX_DECLARATIONS - 16 : statements;
  vyre_binding first = 0;
  for (uint32_t n = 0; n < count; n++) {
    vyre_binding m = vyre_build_buffer(b, VYRE_ACCESS_RW, name_of('m', n), VYRE_TYPE_U32, 0);
    if (n == 0) first = m;
  }
  for (uint32_t n = 0; n < statements; n++) {
    vyre_expr at = add(b, g.i, vyre_build_u32(b, n / count));
    vyre_expr from = vyre_build_load(b, VYRE_OP_LOAD, first + (n + 1) % count, at);
    vyre_build_store(b, first + n % count, at, add(b, from, g.k));
  }
}

/* Elements of one buffer, first written one by one and then read. */
static void build_stores(vyre_builder *b, uint32_t statements) {
  ground g = declare(b);
  for (uint32_t n = 0; n < statements / 2; n++)
    vyre_build_store(b, g.a, add(b, g.i, vyre_build_u32(b, n)), mul(b, g.k, n));
  for (uint32_t n = 0; n < statements / 2; n++) {
    vyre_expr x = vyre_build_load(b, VYRE_OP_LOAD, g.a, add(b, g.i, vyre_build_u32(b, n)));
    vyre_build_store(b, g.a, add(b, g.k, vyre_build_u32(b, n)), x);
  }
}

/* One variable that changes with every statement. */
static void build_assigns(vyre_builder *b, uint32_t statements) {
  ground g = declare(b);
  vyre_var x = vyre_build_declare(b, VYRE_STMT_VAR, "x", g.i);
  for (uint32_t n = 0; n + 2 < statements; n++)
    vyre_build_assign(b, x, add(b, mul(b, vyre_build_var_value(b, x), 5), vyre_build_u32(b, n)));
  vyre_build_store(b, g.a, g.i, vyre_build_var_value(b, x));
}

/* Loops as deep as they may be, with something in each that could leave it. */
static void build_nests(vyre_builder *b, uint32_t statements) {
  enum { DEEP = 120 };
  ground g = declare(b);
  vyre_var sum = vyre_build_declare(b, VYRE_STMT_VAR, "sum", g.i);
  for (uint32_t n = 0; n + 3 * DEEP <= statements; n += 3 * DEEP) {
    for (uint32_t deep = 0; deep < DEEP; deep++) {
      vyre_var turn = vyre_build_for(b, name_of('t', n + deep), vyre_build_u32(b, 0), g.k, 0);
      vyre_expr fixed = let(b, n + deep, vyre_build_binary(b, VYRE_OP_BITXOR, g.k, vyre_build_u32(b, n + deep)));
      vyre_expr more = add(b, fixed, vyre_build_var_value(b, turn));
      vyre_build_assign(b, sum, add(b, vyre_build_var_value(b, sum), more));
    }
    for (uint32_t deep = 0; deep < DEEP; deep++) vyre_build_end(b);
  }
  vyre_build_store(b, g.a, g.i, vyre_build_var_value(b, sum));
}

/* Conditions one after another, with variables that both arms change, a thousand of them in turn. */
static void build_arms(vyre_builder *b, uint32_t statements) {
  enum { VARS = 1000, EACH = 8 };
  ground g = declare(b);
  uint32_t vars = statements / 4 < VARS ? statements / 4 + EACH : VARS;
  vyre_var first = 0;
  for (uint32_t n = 0; n < vars; n++) {
    vyre_var v = vyre_build_declare(b, VYRE_STMT_VAR, name_of('x', n), vyre_build_u32(b, n));
    if (n == 0) first = v;
  }
  for (uint32_t n = vars; n + 2 * EACH + 2 <= statements; n += 2 * EACH + 2) {
    vyre_build_if(b, vyre_build_binary(b, VYRE_OP_LT, g.i, vyre_build_u32(b, n)));
    for (uint32_t arm = 0; arm < 2; arm++) {
      for (uint32_t m = 0; m < EACH; m++) {
        vyre_var v = first + (n + m) % vars;
        vyre_build_assign(b, v, add(b, vyre_build_var_value(b, v), vyre_build_u32(b, n + arm)));
      }
      if (arm == 0) vyre_build_else(b);
    }
    vyre_build_end(b);
    vyre_build_store(b, g.a, g.i, vyre_build_var_value(b, first + n % vars));
  }
}

/* Expressions as deep as they may be. */
static void build_deep(vyre_builder *b, uint32_t statements) {
  enum { STEPS = 500 };
  ground g = declare(b);
  for (uint32_t n = 0; n < statements; n += STEPS) {
    vyre_expr x = vyre_build_u32(b, n);
    for (uint32_t m = 0; m < STEPS; m++) x = vyre_build_binary(b, VYRE_OP_BITXOR, mul(b, x, 9 + m % 5), g.i);
    vyre_build_store(b, g.a, g.i, x);
  }
}

/* Expressions whose parts are used twice each; written out they are about as large as a program may be. */
static void build_squares(vyre_builder *b, uint32_t statements) {
  enum { STEPS = 4 };
  ground g = declare(b);
  for (uint32_t n = 0; n < statements; n++) {
    vyre_expr x = add(b, g.k, vyre_build_u32(b, n));
    for (uint32_t m = 0; m < STEPS; m++) x = add(b, vyre_build_binary(b, VYRE_OP_MUL, x, x), g.i);
    vyre_build_store(b, g.a, g.i, x);
  }
}

/* A scope around every two statements, some of them within each other. */
static void build_scopes(vyre_builder *b, uint32_t statements) {
  enum { DEEP = 100 };
  ground g = declare(b);
  for (uint32_t n = 0; n + 3 * DEEP <= statements; n += 3 * DEEP) {
    for (uint32_t deep = 0; deep < DEEP; deep++) {
      vyre_build_block(b);
      vyre_expr x = let(b, n + deep, add(b, g.i, vyre_build_u32(b, n + deep)));
      vyre_build_store(b, g.a, x, g.k);
    }
    for (uint32_t deep = 0; deep < DEEP; deep++) vyre_build_end(b);
  }
}

/* Conditions within each other about the index that is used at the bottom. */
static void build_guards(vyre_builder *b, uint32_t statements) {
  enum { DEEP = 100 };
  ground g = declare(b);
  for (uint32_t n = 0; n + DEEP < statements; n += DEEP + 1) {
    vyre_expr at = add(b, g.i, vyre_build_u32(b, n));
    for (uint32_t deep = 0; deep < DEEP; deep++)
      vyre_build_if(b, vyre_build_binary(b, VYRE_OP_LT, at, add(b, g.k, vyre_build_u32(b, deep))));
    vyre_build_store(b, g.a, at, vyre_build_load(b, VYRE_OP_LOAD, g.r, at));
    for (uint32_t deep = 0; deep < DEEP; deep++) vyre_build_end(b);
  }
}

/* Ways out one after another: behind each, one more condition is known not to hold. */
static void build_returns(vyre_builder *b, uint32_t statements) {
  ground g = declare(b);
  for (uint32_t n = 0; n + 2 < statements; n += 3) {
    vyre_expr at = add(b, g.i, vyre_build_u32(b, n));
    vyre_build_if(b, vyre_build_binary(b, VYRE_OP_GE, at, vyre_build_len(b, VYRE_OP_LEN, n % 2 ? g.a : g.r)));
    vyre_build_simple(b, VYRE_STMT_RETURN);
    vyre_build_end(b);
    vyre_build_store(b, g.a, at, vyre_build_load(b, VYRE_OP_LOAD, g.r, at));
  }
}

/* Loops of the same turns side by side, each over a buffer of its own. */
static void build_neighbours(vyre_builder *b, uint32_t statements) {
  enum { BUFFERS = 1000 };
  ground g = declare(b);
  vyre_binding first = 0;
  for (uint32_t n = 0; n < BUFFERS; n++) {
    vyre_binding m = vyre_build_buffer(b, VYRE_ACCESS_RW, name_of('m', n), VYRE_TYPE_U32, 0);
    if (n == 0) first = m;
  }
  for (uint32_t n = 0; n + 1 < statements; n += 2) {
    vyre_var turn = vyre_build_for(b, name_of('t', n), vyre_build_u32(b, 0), vyre_build_u32(b, 100), 0);
    vyre_expr at = add(b, vyre_build_var_value(b, turn), vyre_build_u32(b, n / 2 / BUFFERS));
    vyre_build_store(b, first + n / 2 % BUFFERS, at, add(b, at, g.k));
    vyre_build_end(b);
  }
}

/* Short loops within each other, which could all be written out. */
static void build_turns(vyre_builder *b, uint32_t statements) {
  enum { DEEP = 4 };
  ground g = declare(b);
  vyre_var sum = vyre_build_declare(b, VYRE_STMT_VAR, "sum", g.i);
  for (uint32_t n = 0; n + DEEP + 1 < statements; n += DEEP + 1) {
    vyre_expr turns = vyre_build_var_value(b, sum);
    for (uint32_t deep = 0; deep < DEEP; deep++) {
      vyre_var turn = vyre_build_for(b, name_of('t', n + deep), vyre_build_u32(b, 0), vyre_build_u32(b, 4), 0);
      turns = add(b, mul(b, turns, 5), vyre_build_var_value(b, turn));
    }
    vyre_build_assign(b, sum, turns);
    for (uint32_t deep = 0; deep < DEEP; deep++) vyre_build_end(b);
  }
  vyre_build_store(b, g.a, g.i, vyre_build_var_value(b, sum));
}

/* Many values that could be used again, and then many changes of what none of them reads. */
static void build_changes(vyre_builder *b, uint32_t statements) {
  ground g = declare(b);
  uint32_t half = statements / 2;
  vyre_var x = vyre_build_declare(b, VYRE_STMT_VAR, "x", g.k);
  for (uint32_t n = 0; n < half; n++) {
    vyre_expr at = add(b, g.i, vyre_build_u32(b, n));
    vyre_build_store(b, g.a, let(b, n, vyre_build_load(b, VYRE_OP_LOAD, g.r, at)), at);
  }
  for (uint32_t n = 0; n + 1 < half; n += 2) {
    vyre_build_assign(b, x, add(b, vyre_build_var_value(b, x), vyre_build_u32(b, n)));
    vyre_build_store(b, g.a, vyre_build_var_value(b, x), add(b, g.i, vyre_build_u32(b, n)));
  }
}

static const program_shape rows[] = {
  { "lets", build_lets },     { "names", build_names },     { "equals", build_equals },
  { "buffers", build_buffers }, { "stores", build_stores }, { "changes", build_changes },
  { "assigns", build_assigns }, { "arms", build_arms },     { "deep", build_deep },
  { "squares", build_squares }, { "scopes", build_scopes }, { "guards", build_guards },
  { "returns", build_returns }, { "nests", build_nests },   { "neighbours", build_neighbours },
  { "turns", build_turns },
};

const program_shape *hard_shapes(uint32_t *count) {
  *count = sizeof rows / sizeof *rows;
  return rows;
}
