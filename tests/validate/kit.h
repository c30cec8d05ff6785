/* Small programs for the tests of the validator: one of each kind of buffer, conditions of each level, and
 * the codes that a program gets, as text. */
#ifndef VYRE_TESTS_VALIDATE_KIT_H
#define VYRE_TESTS_VALIDATE_KIT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/builder.h"
#include "ir/uniform.h"

typedef struct kit {
  vyre_builder *b;
  vyre_diagnostics *d;
  vyre_expr n;                           /* param n: u32 */
  vyre_binding in, rw, out, flag, other; /* u32: read, rw, write, and two shared of 4 */
  vyre_binding mine;                     /* u32 local of 4 */
} kit;

static inline kit kit_begin(void) {
  kit k;
  ck_assert_int_eq(vyre_diagnostics_create(NULL, NULL, 0, &k.d), VYRE_OK);
  ck_assert_int_eq(vyre_builder_create("p", k.d, &k.b), VYRE_OK);
  vyre_build_workgroup(k.b, 64, 1, 1);
  k.n = vyre_build_param(k.b, "n", VYRE_TYPE_U32);
  k.in = vyre_build_buffer(k.b, VYRE_ACCESS_READ, "in_", VYRE_TYPE_U32, 0);
  k.rw = vyre_build_buffer(k.b, VYRE_ACCESS_RW, "rw_", VYRE_TYPE_U32, 0);
  k.out = vyre_build_buffer(k.b, VYRE_ACCESS_WRITE, "out", VYRE_TYPE_U32, 0);
  k.flag = vyre_build_buffer(k.b, VYRE_ACCESS_SHARED, "flag", VYRE_TYPE_U32, 4);
  k.other = vyre_build_buffer(k.b, VYRE_ACCESS_SHARED, "other", VYRE_TYPE_U32, 4);
  k.mine = vyre_build_buffer(k.b, VYRE_ACCESS_LOCAL, "mine", VYRE_TYPE_U32, 4);
  return k;
}

/* ---- Expressions ---- */

static inline vyre_expr u32(kit *k, uint32_t value) { return vyre_build_u32(k->b, value); }
static inline vyre_expr leaf(kit *k, vyre_op op) { return vyre_build_leaf(k->b, op, 0); }
static inline vyre_expr unary(kit *k, vyre_op op, vyre_expr x) { return vyre_build_unary(k->b, op, x); }
static inline vyre_expr binary(kit *k, vyre_op op, vyre_expr x, vyre_expr y) {
  return vyre_build_binary(k->b, op, x, y);
}
static inline vyre_expr load(kit *k, vyre_binding buffer, vyre_expr index) {
  return vyre_build_load(k->b, VYRE_OP_LOAD, buffer, index);
}
static inline vyre_expr uniform_load(kit *k, vyre_binding buffer, vyre_expr index) {
  return vyre_build_load(k->b, VYRE_OP_WORKGROUP_UNIFORM_LOAD, buffer, index);
}
static inline vyre_expr atomic(kit *k, vyre_op op, vyre_binding buffer) {
  vyre_expr value = op == VYRE_OP_ATOMIC_LOAD ? 0 : u32(k, 1);
  return vyre_build_atomic(k->b, op, buffer, u32(k, 0), value, 0, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT);
}
static inline vyre_expr value_of(kit *k, vyre_var var) { return vyre_build_var_value(k->b, var); }
static inline vyre_expr not_zero(kit *k, vyre_expr x) { return binary(k, VYRE_OP_NE, x, u32(k, 0)); }

/* A u32 and a condition of a level. */
static inline vyre_expr at_level(kit *k, ir_level level) {
  static const vyre_op ops[] = { VYRE_OP_NWG, VYRE_OP_WID, VYRE_OP_SUBGROUP_ID, VYRE_OP_LID };
  return leaf(k, ops[level]);
}
static inline vyre_expr condition(kit *k, ir_level level) { return not_zero(k, at_level(k, level)); }

/* ---- Statements ---- */

static inline vyre_var let(kit *k, const char *name, vyre_expr value) {
  return vyre_build_declare(k->b, VYRE_STMT_LET, name, value);
}
static inline vyre_var var(kit *k, const char *name, vyre_expr value) {
  return vyre_build_declare(k->b, VYRE_STMT_VAR, name, value);
}
static inline void assign(kit *k, vyre_var v, vyre_expr value) { vyre_build_assign(k->b, v, value); }
static inline void store(kit *k, vyre_binding buffer, vyre_expr value) {
  vyre_build_store(k->b, buffer, u32(k, 0), value);
}
static inline void simple(kit *k, vyre_stmt_op op) { vyre_build_simple(k->b, op); }
static inline void barrier(kit *k) { simple(k, VYRE_STMT_BARRIER); }
static inline void open_if(kit *k, vyre_expr c) { vyre_build_if(k->b, c); }
static inline void open_loop(kit *k) { vyre_build_loop(k->b); }
static inline vyre_var open_for(kit *k, const char *name, vyre_expr to) {
  return vyre_build_for(k->b, name, u32(k, 0), to, 0);
}
static inline void end(kit *k) { vyre_build_end(k->b); }
/* if (c) { op; } */
static inline void jump_if(kit *k, vyre_stmt_op op, vyre_expr c) {
  open_if(k, c);
  if (op == VYRE_STMT_TRAP) vyre_build_trap(k->b, u32(k, 1));
  else simple(k, op);
  end(k);
}

/* ---- The end ---- */

static inline vyre_program *kit_finish(kit *k) {
  vyre_program *p = NULL;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_builder_finish(k->b, &p, &error);
  ck_assert_msg(status == VYRE_OK, "%s", error.text);
  vyre_builder_destroy(k->b);
  vyre_diagnostics_destroy(k->d);
  return p;
}

/* The codes of all findings in their order, "V10 W116"; the program is gone then. */
static inline const char *kit_codes(kit *k, char *text, size_t bytes) {
  vyre_program *p = NULL;
  vyre_status status = vyre_builder_finish(k->b, &p, NULL);
  vyre_diagnostic found;
  size_t at = 0;
  text[0] = 0;
  for (uint32_t i = 0; vyre_diagnostics_get(k->d, i, &found); i++)
    at += (size_t)snprintf(text + at, at < bytes ? bytes - at : 0, "%s%s", i > 0 ? " " : "",
                           vyre_code_name(found.code));
  ck_assert_uint_lt(at, bytes);
  ck_assert_int_eq(status, vyre_diagnostics_errors(k->d) > 0 ? VYRE_ERR_INVALID_PROGRAM : VYRE_OK);
  ck_assert_int_eq(p != NULL, status == VYRE_OK);
  vyre_program_release(p);
  vyre_builder_destroy(k->b);
  vyre_diagnostics_destroy(k->d);
  return text;
}

/* One program and the codes that it must get. */
typedef struct kit_case {
  const char *name;
  void (*build)(kit *k);
  const char *codes;
} kit_case;

static inline void kit_run(const kit_case *c) {
  char text[512];
  kit k = kit_begin();
  c->build(&k);
  kit_codes(&k, text, sizeof text);
  ck_assert_msg(strcmp(text, c->codes) == 0, "%s: wanted \"%s\", found \"%s\"", c->name, c->codes, text);
}

#endif
