/* Programs of the shapes that people and generators make. */
#include "shapes.h"

#include <stdio.h>

typedef struct base {
  vyre_expr i, a;
  vyre_binding x, k, y;
} base;

static base declare(vyre_builder *b) {
  base d;
  vyre_build_workgroup(b, 64, 1, 1);
  d.a = vyre_build_param(b, "a", VYRE_TYPE_F32);
  d.x = vyre_build_buffer(b, VYRE_ACCESS_READ, "x", VYRE_TYPE_F32, 0);
  d.k = vyre_build_buffer(b, VYRE_ACCESS_READ, "k", VYRE_TYPE_U32, 0);
  d.y = vyre_build_buffer(b, VYRE_ACCESS_RW, "y", VYRE_TYPE_F32, 0);
  d.i = vyre_build_leaf(b, VYRE_OP_GID, 0);
  return d;
}

static const char *name_of(char prefix, uint32_t n) {
  static char name[24];
  snprintf(name, sizeof name, "%c_%u", prefix, n);
  return name;
}

/* let tN = fma(a, x[gid.x + N], f32(k[gid.x ^ N])); y[gid.x] = tN; */
static void build_pair(vyre_builder *b, const base *d, uint32_t n) {
  vyre_expr at = vyre_build_binary(b, VYRE_OP_ADD, d->i, vyre_build_u32(b, n));
  vyre_expr key = vyre_build_binary(b, VYRE_OP_BITXOR, d->i, vyre_build_u32(b, n));
  vyre_expr x = vyre_build_load(b, VYRE_OP_LOAD, d->x, at);
  vyre_expr k = vyre_build_cast(b, VYRE_TYPE_F32, vyre_build_load(b, VYRE_OP_LOAD, d->k, key));
  vyre_var t = vyre_build_declare(b, VYRE_STMT_LET, name_of('t', n), vyre_build_fma(b, d->a, x, k));
  vyre_build_store(b, d->y, d->i, vyre_build_var_value(b, t));
}

static void build_flat(vyre_builder *b, uint32_t statements) {
  base d = declare(b);
  for (uint32_t n = 0; n < statements / 2; n++) build_pair(b, &d, n);
}

/* Blocks of 16 statements under conditions that differ, with variables that are assigned in both arms. */
static void build_branches(vyre_builder *b, uint32_t statements) {
  base d = declare(b);
  vyre_var v = vyre_build_declare(b, VYRE_STMT_VAR, "v", vyre_build_f32(b, 0));
  for (uint32_t n = 0; n < statements / 20; n++) {
    vyre_build_if(b, vyre_build_binary(b, VYRE_OP_LT, d.i, vyre_build_u32(b, n)));
    for (uint32_t m = 0; m < 8; m++) build_pair(b, &d, n * 8 + m);
    vyre_build_assign(b, v, vyre_build_load(b, VYRE_OP_LOAD, d.y, d.i));
    vyre_build_else(b);
    vyre_build_assign(b, v, vyre_build_var_value(b, v));
    vyre_build_end(b);
    vyre_build_store(b, d.y, d.i, vyre_build_var_value(b, v));
  }
}

/* Loops three deep, each with a barrier, over a variable that grows less uniform round by round. */
static void build_loops(vyre_builder *b, uint32_t statements) {
  base d = declare(b);
  vyre_expr zero = vyre_build_u32(b, 0), four = vyre_build_u32(b, 4);
  for (uint32_t n = 0; n < statements / 12; n++) {
    vyre_var u = vyre_build_declare(b, VYRE_STMT_VAR, name_of('u', n), zero);
    vyre_var w = vyre_build_declare(b, VYRE_STMT_VAR, name_of('w', n), vyre_build_u32(b, n));
    for (uint32_t deep = 0; deep < 3; deep++) vyre_build_for(b, name_of('p' + (char)deep, n), zero, four, 0);
    vyre_build_simple(b, VYRE_STMT_BARRIER);
    vyre_build_assign(b, w, vyre_build_var_value(b, u));
    vyre_build_assign(b, u, d.i);
    vyre_build_store(b, d.y, vyre_build_var_value(b, w), d.a);
    for (uint32_t deep = 0; deep < 3; deep++) vyre_build_end(b);
  }
}

/* One chain of else-ifs. */
static void build_chain(vyre_builder *b, uint32_t statements) {
  base d = declare(b);
  uint32_t arms = statements / 2;
  for (uint32_t n = 0; n < arms; n++) {
    vyre_build_if(b, vyre_build_binary(b, VYRE_OP_EQ, d.i, vyre_build_u32(b, n)));
    vyre_build_store(b, d.y, d.i, d.a);
    vyre_build_else(b);
  }
  for (uint32_t n = 0; n < arms; n++) vyre_build_end(b);
}

/* Every statement has a tree of its own of 64 expressions. */
static void build_trees(vyre_builder *b, uint32_t statements) {
  base d = declare(b);
  for (uint32_t n = 0; n < statements / 32; n++) {
    vyre_expr sum = vyre_build_u32(b, n);
    for (uint32_t m = 0; m < 31; m++)
      sum = vyre_build_binary(b, m % 2 ? VYRE_OP_ADD : VYRE_OP_BITXOR,
                              vyre_build_binary(b, VYRE_OP_MUL, sum, d.i), d.i);
    vyre_build_store(b, d.y, sum, d.a);
  }
}

/* A table's elements: finite floats of all signs and small magnitudes, the same in every run. */
static void fill_table(float *data, uint32_t count, uint32_t seed) {
  for (uint32_t i = 0; i < count; i++) {
    seed = seed * 1664525 + 1013904223;
    data[i] = (float)(int32_t)seed / 65536.0f;
  }
}

/* Constant tables of 1024 floats, a region with a name of its own around the statements that use each, and prints. */
static void build_tables(vyre_builder *b, uint32_t statements) {
  enum { ELEMENTS = 1024, USES = 128, EACH = USES + USES / 8 + 1 };
  static float data[ELEMENTS];
  base d = declare(b);
  vyre_expr lane = vyre_build_binary(b, VYRE_OP_MOD, d.i, vyre_build_u32(b, ELEMENTS));
  for (uint32_t n = 0; n < statements / EACH; n++) {
    fill_table(data, ELEMENTS, n);
    vyre_binding table = vyre_build_table(b, name_of('c', n), VYRE_TYPE_F32, data, ELEMENTS);
    char text[96];
    snprintf(text, sizeof text, "layer %u: weights of the input, row by row", n);
    vyre_build_region(b, text);
    for (uint32_t m = 0; m < USES; m++) {
      vyre_expr at = vyre_build_binary(b, VYRE_OP_BITXOR, lane, vyre_build_u32(b, m));
      vyre_expr old = vyre_build_load(b, VYRE_OP_LOAD, d.y, d.i);
      vyre_expr weight = vyre_build_load(b, VYRE_OP_LOAD, table, at);
      vyre_build_store(b, d.y, d.i, vyre_build_fma(b, weight, d.a, old));
      if (m % 8 != 0) continue;
      snprintf(text, sizeof text, "layer %u, weight %u of invocation {} is {} \xE2\x9C\x93\n", n, m);
      vyre_build_print(b, text, (vyre_expr[]){ d.i, weight }, 2);
    }
    vyre_build_end(b);
  }
}

static const program_shape rows[] = { { "flat", build_flat },   { "branches", build_branches },
                                      { "loops", build_loops }, { "chain", build_chain },
                                      { "trees", build_trees }, { "tables", build_tables } };

const program_shape *program_shapes(uint32_t *count) {
  *count = sizeof rows / sizeof *rows;
  return rows;
}
