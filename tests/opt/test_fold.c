/* Literal folding against the oracle: every operator on every type, at the edges and on random bits. */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "../../plugins/cpu_ref/ops.h"
#include "../gen/random_program.h"
#include "../suite.h"
#include "ir/check.h"
#include "opt/fold.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const uint64_t integers[] = { 0, 1, 2, 3, 5, 7, 10, 31, 32, 33, 63, 64, 65, 0x7F, 0x80, 0xFF, 0x8000, 0xFFFF,
                                     0x12345678, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF,
                                     0x100000000, 0x123456789ABCDEF0, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,
                                     0x8000000000000001, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF };
static const uint64_t singles[] = { 0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F000000, 0x3F800000,
                                    0xBF800000, 0x40000000, 0x40200000, 0x3FC00000, 0xBFC00000, 0x4B7FFFFF, 0x4B800000,
                                    0x4EFFFFFF, 0x4F000000, 0xCF000000, 0x4F7FFFFF, 0x4F800000, 0x5F000000, 0x5F800000,
                                    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x477FE000, 0x477FF000,
                                    0x33800000, 0x3EAAAAAB };
static const uint64_t doubles[] = { 0, 0x8000000000000000, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x3FE0000000000000,
                                    0x3FF0000000000000, 0xBFF0000000000000, 0x3FF8000000000000, 0x4004000000000000,
                                    0x41DFFFFFFFC00000, 0x41E0000000000000, 0x41EFFFFFFFE00000, 0x41F0000000000000,
                                    0x43E0000000000000, 0x43F0000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000,
                                    0xFFF0000000000000, 0x7FF8000000000000, 0x36A0000000000000, 0x3690000000000001,
                                    0x47EFFFFFF0000000, 0x3FD5555555555555 };

static random_source source = { 20260 };

/* A literal: an edge, or any bits. */
static uint64_t value_of(vyre_type type, uint32_t turn) {
  const uint64_t *edges = type == VYRE_TYPE_F32 ? singles : type == VYRE_TYPE_F64 ? doubles : integers;
  size_t count = type == VYRE_TYPE_F32 ? COUNT(singles) : type == VYRE_TYPE_F64 ? COUNT(doubles) : COUNT(integers);
  uint64_t bits = turn < count ? edges[turn] : random_bits(&source);
  if (type == VYRE_TYPE_BOOL) return bits & 1;
  if (vyre_type_describe(type)->bytes == 4) bits &= UINT32_MAX;
  return ir_check_literal(type, bits) ? bits : 0;
}

enum { EDGES = 34, RANDOM = 30, TURNS = EDGES + RANDOM };

static bool is_exact_point(vyre_op op) { return op == VYRE_OP_RSQRT || (op >= VYRE_OP_EXP && op <= VYRE_OP_TANH); }

static void compare(vyre_op op, vyre_type type, const uint64_t *x) {
  cpu_op oracle = cpu_op_find(op, type);
  uint64_t out = 0, wanted = oracle(x[0], x[1], x[2]);
  bool known = opt_fold_op(op, type, x, &out);
  if (!known && (is_exact_point(op) || op == VYRE_OP_NEG)) return; /* -nan is no literal */
  ck_assert_msg(known && out == wanted, "%s of type %u on %llx %llx %llx: %s %llx, wanted %llx",
                vyre_op_describe(op)->name, type, (unsigned long long)x[0], (unsigned long long)x[1],
                (unsigned long long)x[2], known ? "" : "unknown", (unsigned long long)out, (unsigned long long)wanted);
}

static bool is_shift(vyre_op op) {
  return op == VYRE_OP_SHL || op == VYRE_OP_SHR || op == VYRE_OP_ROTL || op == VYRE_OP_ROTR;
}

static void all_values(vyre_op op, vyre_type type) {
  uint32_t arity = ir_op_arity[op];
  vyre_type second = is_shift(op) ? VYRE_TYPE_U32 : type;
  for (uint32_t i = 0; i < TURNS; i++)
    for (uint32_t j = 0; j < (arity > 1 ? TURNS : 1); j++)
      for (uint32_t k = 0; k < (arity > 2 ? TURNS : 1); k++) {
        uint64_t x[3] = { value_of(type, i), value_of(second, j), value_of(type, k) };
        compare(op, type, x);
      }
}

START_TEST(every_operator_gives_what_the_oracle_gives) {
  for (vyre_op op = VYRE_OP_ADD; op <= VYRE_OP_FMA; op++)
    for (vyre_type type = VYRE_TYPE_BOOL; type <= VYRE_TYPE_F64; type++)
      if (op != VYRE_OP_SELECT && cpu_op_find(op, type) != NULL) all_values(op, type);
}
END_TEST

START_TEST(every_conversion_gives_what_the_oracle_gives) {
  for (vyre_type from = VYRE_TYPE_BOOL; from <= VYRE_TYPE_F64; from++)
    for (vyre_type to = VYRE_TYPE_BOOL; to < VYRE_TYPE_COUNT; to++) {
      if (!ir_check_cast(from, to)) continue;
      for (uint32_t i = 0; i < 4 * TURNS; i++) {
        uint64_t x = value_of(from, i), out = 0, wanted = cpu_cast_find(from, to)(x, 0, 0);
        ck_assert_msg(opt_fold_cast(from, to, x, &out) && out == wanted, "%u to %u of %llx: %llx, wanted %llx", from, to,
                      (unsigned long long)x, (unsigned long long)out, (unsigned long long)wanted);
      }
    }
}
END_TEST

/* The caller's rounding mode and flushing are not the language's. */
START_TEST(rounding_of_the_caller_does_not_matter) {
  uint64_t x[3] = { 0x3F800000, 0x40400000, 0 }, out = 0;
  ck_assert_int_eq(fesetround(FE_UPWARD), 0);
  ck_assert(opt_fold_op(VYRE_OP_DIV, VYRE_TYPE_F32, x, &out));
  ck_assert_int_eq(fegetround(), FE_UPWARD);
  fesetround(FE_TONEAREST);
  ck_assert_uint_eq(out, 0x3EAAAAAB);
  fesetround(FE_DOWNWARD);
  ck_assert(opt_fold_cast(VYRE_TYPE_U64, VYRE_TYPE_F32, UINT64_MAX, &out));
  fesetround(FE_TONEAREST);
  ck_assert_uint_eq(out, 0x5F800000);
}
END_TEST

/* Host and device differ on what is between the points. */
START_TEST(transcendentals_are_folded_at_exact_points_alone) {
  static const struct { vyre_op op; uint64_t at, value; } points[] = {
    { VYRE_OP_SIN, 0, 0 }, { VYRE_OP_COS, 0, 0x3F800000 }, { VYRE_OP_TAN, 0, 0 }, { VYRE_OP_EXP, 0, 0x3F800000 },
    { VYRE_OP_EXP2, 0, 0x3F800000 }, { VYRE_OP_LOG, 0x3F800000, 0 }, { VYRE_OP_LOG2, 0x3F800000, 0 },
    { VYRE_OP_ASIN, 0, 0 }, { VYRE_OP_ACOS, 0x3F800000, 0 }, { VYRE_OP_ATAN, 0, 0 }, { VYRE_OP_TANH, 0, 0 },
    { VYRE_OP_SINH, 0, 0 }, { VYRE_OP_COSH, 0, 0x3F800000 }, { VYRE_OP_RSQRT, 0x3F800000, 0x3F800000 },
    { VYRE_OP_SQRT, 0, 0 }, { VYRE_OP_SQRT, 0x3F800000, 0x3F800000 }, { VYRE_OP_RCP, 0x3F800000, 0x3F800000 },
  };
  for (size_t i = 0; i < COUNT(points); i++) {
    uint64_t out = 1;
    ck_assert(opt_fold_op(points[i].op, VYRE_TYPE_F32, (uint64_t[]){ points[i].at, 0, 0 }, &out));
    ck_assert_uint_eq(out, points[i].value);
    bool rounded = points[i].op == VYRE_OP_SQRT || points[i].op == VYRE_OP_RCP;
    if (!rounded) ck_assert(!opt_fold_op(points[i].op, VYRE_TYPE_F32, (uint64_t[]){ 0x3F000001, 0, 0 }, &out));
  }
}
END_TEST

START_TEST(the_spec_vectors) {
  static const struct { vyre_op op; vyre_type type; uint64_t x, y, value; } rows[] = {
    { VYRE_OP_DIV, VYRE_TYPE_U32, 7, 0, 0xFFFFFFFF },
    { VYRE_OP_MOD, VYRE_TYPE_U32, 7, 0, 0 },
    { VYRE_OP_DIV, VYRE_TYPE_I32, 0xFFFFFFF8, 3, 0xFFFFFFFE },
    { VYRE_OP_MOD, VYRE_TYPE_I32, 0xFFFFFFF8, 3, 0xFFFFFFFE },
    { VYRE_OP_DIV, VYRE_TYPE_I32, 0x80000000, 0xFFFFFFFF, 0x80000000 },
    { VYRE_OP_MOD, VYRE_TYPE_I32, 0x80000000, 0xFFFFFFFF, 0 },
    { VYRE_OP_SHL, VYRE_TYPE_U32, 1, 32, 1 },
    { VYRE_OP_SHL, VYRE_TYPE_U32, 1, 33, 2 },
    { VYRE_OP_SHR, VYRE_TYPE_I32, 0x80000000, 31, 0xFFFFFFFF },
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    uint64_t out = 12345;
    ck_assert(opt_fold_op(rows[i].op, rows[i].type, (uint64_t[]){ rows[i].x, rows[i].y, 0 }, &out));
    ck_assert_msg(out == rows[i].value, "row %zu: %llx", i, (unsigned long long)out);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = { every_operator_gives_what_the_oracle_gives,
                                 every_conversion_gives_what_the_oracle_gives,
                                 rounding_of_the_caller_does_not_matter,
                                 transcendentals_are_folded_at_exact_points_alone,
                                 the_spec_vectors,
                                 NULL };
  return run_suite("opt/fold", 60, tests);
}
