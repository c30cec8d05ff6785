/* Operators and conversions at their edges: what the table of the language says, against arithmetic that is wider or
 * done another way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../plugins/cpu_ref/ops.h"
#include "../suite.h"
#include "holds.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

static uint64_t f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static uint64_t f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static uint64_t apply(vyre_op op, vyre_type type, uint64_t a, uint64_t b) {
  cpu_op fn = cpu_op_find(op, type);
  HOLDS(fn != NULL);
  return fn(a, b, 0);
}
static uint64_t cast(vyre_type from, vyre_type to, uint64_t a) {
  return cpu_cast_find(from, to)(a, 0, 0);
}
#define U32(op, a, b) apply(VYRE_OP_##op, VYRE_TYPE_U32, (uint32_t)(a), (uint32_t)(b))
#define I32(op, a, b) (int32_t)(uint32_t) apply(VYRE_OP_##op, VYRE_TYPE_I32, (uint32_t)(a), (uint32_t)(b))
#define U64(op, a, b) apply(VYRE_OP_##op, VYRE_TYPE_U64, (uint64_t)(a), (uint64_t)(b))
#define I64(op, a, b) (int64_t) apply(VYRE_OP_##op, VYRE_TYPE_I64, (uint64_t)(a), (uint64_t)(b))
#define F32(op, a, b) apply(VYRE_OP_##op, VYRE_TYPE_F32, f32(a), f32(b))
#define F64(op, a, b) apply(VYRE_OP_##op, VYRE_TYPE_F64, f64(a), f64(b))

enum { NAN32 = 0x7FC00000 };
#define NAN64 0x7FF8000000000000u

static const uint64_t edges[] = { 0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 65, 0x7F, 0x80, 0xFF, 0x12345678, 0x7FFFFFFE, 0x7FFFFFFF,
                                  0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x100000000, 0x123456789ABCDEF0,
                                  0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0x8000000000000001, 0xFFFFFFFFFFFFFFFE,
                                  0xFFFFFFFFFFFFFFFF };

/* ---- Integers ---- */

START_TEST(division_by_zero_and_of_the_smallest) {
  ck_assert_uint_eq(U32(DIV, 7, 0), UINT32_MAX);
  ck_assert_uint_eq(U32(MOD, 7, 0), 0);
  ck_assert_int_eq(I32(DIV, 7, 0), 0);
  ck_assert_int_eq(I32(MOD, 7, 0), 0);
  ck_assert_int_eq(I32(DIV, INT32_MIN, -1), INT32_MIN);
  ck_assert_int_eq(I32(MOD, INT32_MIN, -1), 0);
  ck_assert_int_eq(I32(DIV, -7, 2), -3);
  ck_assert_int_eq(I32(MOD, -7, 2), -1);
  ck_assert_int_eq(I32(MOD, 7, -2), 1);
  ck_assert(U64(DIV, 7, 0) == UINT64_MAX);
  ck_assert_uint_eq(U64(MOD, 7, 0), 0);
  ck_assert_int_eq(I64(DIV, 7, 0), 0);
  ck_assert(I64(DIV, INT64_MIN, -1) == INT64_MIN);
  ck_assert_int_eq(I64(MOD, INT64_MIN, -1), 0);
  ck_assert_int_eq(I64(MOD, -7, 0), 0);
}
END_TEST

START_TEST(shift_counts_are_masked) {
  static const uint32_t counts[] = { 0, 31, 32, 33, 63, 0xFFFFFFFF };
  for (size_t k = 0; k < COUNT(counts); k++) {
    uint32_t n = counts[k];
    ck_assert_uint_eq(U32(SHL, 0x80000001, n), 0x80000001u << (n & 31));
    ck_assert_uint_eq(U32(SHR, 0x80000001, n), 0x80000001u >> (n & 31));
    ck_assert_uint_eq(U64(SHL, 0x8000000000000001, n), 0x8000000000000001u << (n & 63));
    ck_assert_uint_eq(U64(SHR, 0x8000000000000001, n), 0x8000000000000001u >> (n & 63));
    ck_assert_int_eq(I32(SHR, -5, n), (n & 31) == 31 ? -1 : (n & 31) == 1 ? -3 : -5);
  }
  ck_assert_int_eq(I32(SHR, INT32_MIN, 31), -1);
  ck_assert_int_eq(I32(SHR, INT32_MIN, 32), INT32_MIN);
  ck_assert_int_eq(I64(SHR, INT64_MIN, 63), -1);
  ck_assert(I64(SHR, INT64_MIN, 64) == INT64_MIN);
  ck_assert_int_eq(I32(SHL, 1, 31), INT32_MIN);
}
END_TEST

START_TEST(rotation_by_the_width_changes_nothing) {
  ck_assert_uint_eq(U32(ROTL, 0x12345678, 32), 0x12345678);
  ck_assert_uint_eq(U32(ROTR, 0x12345678, 32), 0x12345678);
  ck_assert_uint_eq(U32(ROTL, 0x80000001, 1), 3);
  ck_assert_uint_eq(U32(ROTR, 3, 1), 0x80000001);
  ck_assert_uint_eq(U32(ROTL, 0x12345678, 36), 0x23456781);
  ck_assert(U64(ROTL, 0x123456789ABCDEF0, 64) == 0x123456789ABCDEF0);
  ck_assert(U64(ROTR, 1, 1) == 0x8000000000000000);
  ck_assert_int_eq(I32(ROTL, INT32_MIN, 1), 1);
}
END_TEST

START_TEST(high_halves_of_products) {
  ck_assert_uint_eq(U32(MULHI, UINT32_MAX, UINT32_MAX), 0xFFFFFFFE);
  ck_assert_int_eq(I32(MULHI, INT32_MIN, INT32_MIN), 0x40000000);
  ck_assert_int_eq(I32(MULHI, -1, 1), -1);
  ck_assert(U64(MULHI, UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
  ck_assert_int_eq(I64(MULHI, -1, 1), -1);
}
END_TEST

START_TEST(saturation) {
  ck_assert_uint_eq(U32(SAT_ADD, UINT32_MAX, 1), UINT32_MAX);
  ck_assert_uint_eq(U32(SAT_ADD, UINT32_MAX - 1, 1), UINT32_MAX);
  ck_assert_uint_eq(U32(SAT_SUB, 1, 2), 0);
  ck_assert_uint_eq(U32(SAT_SUB, 2, 1), 1);
  ck_assert_uint_eq(U32(SAT_MUL, 0x10000, 0x10000), UINT32_MAX);
  ck_assert_uint_eq(U32(SAT_MUL, 0xFFFF, 0x10001), UINT32_MAX);
  ck_assert_uint_eq(U32(SAT_MUL, 0x10000, 0xFFFF), 0xFFFF0000);
  ck_assert(U64(SAT_ADD, UINT64_MAX, 1) == UINT64_MAX);
  ck_assert(U64(SAT_MUL, UINT64_MAX, 2) == UINT64_MAX);
  ck_assert(U64(SAT_MUL, UINT64_MAX, 0) == 0);
  ck_assert_uint_eq(U64(SAT_SUB, 1, 2), 0);
  ck_assert_uint_eq(U32(ABSDIFF, 3, 10), 7);
  ck_assert_uint_eq(U32(ABSDIFF, UINT32_MAX, 0), UINT32_MAX);
}
END_TEST

START_TEST(counting_and_reversing_bits) {
  ck_assert_uint_eq(U32(CLZ, 0, 0), 32);
  ck_assert_uint_eq(U32(CTZ, 0, 0), 32);
  ck_assert_uint_eq(U32(POPCOUNT, 0, 0), 0);
  ck_assert_uint_eq(U32(CLZ, 0xFFFFFFFF, 0), 0);
  ck_assert_uint_eq(U32(CTZ, 0xFFFFFFFF, 0), 0);
  ck_assert_uint_eq(U32(POPCOUNT, 0xFFFFFFFF, 0), 32);
  ck_assert_int_eq(I32(POPCOUNT, -1, 0), 32);
  ck_assert_int_eq(I32(CLZ, 1, 0), 31);
  ck_assert_uint_eq(U64(CLZ, 0, 0), 64);
  ck_assert_uint_eq(U64(CTZ, 0, 0), 64);
  ck_assert_uint_eq(U64(CTZ, 0x100000000, 0), 32);
  ck_assert_uint_eq(U32(REVERSE_BITS, 1, 0), 0x80000000);
  ck_assert_uint_eq(U32(REVERSE_BITS, 0x12345678, 0), 0x1E6A2C48);
  ck_assert(U64(REVERSE_BITS, 1, 0) == 0x8000000000000000);
  ck_assert_uint_eq(U32(BITNOT, 0, 0), 0xFFFFFFFF);
  ck_assert_uint_eq(U32(UNPACK8HI, 0x12345678, 0), 0x12);
  ck_assert_uint_eq(U32(UNPACK8LO, 0x12345678, 0), 0x78);
  ck_assert_uint_eq(U32(UNPACK4HI, 0xA5, 0), 0xA);
  ck_assert_uint_eq(U32(UNPACK4LO, 0xA5, 0), 5);
  ck_assert_uint_eq((uint32_t)I32(UNPACK8HI, -1, 0), 0xFF);
}
END_TEST

START_TEST(negation_and_magnitude_wrap) {
  ck_assert_int_eq(I32(NEG, INT32_MIN, 0), INT32_MIN);
  ck_assert_int_eq(I32(ABS, INT32_MIN, 0), INT32_MIN);
  ck_assert_int_eq(I32(ABS, -5, 0), 5);
  ck_assert_int_eq(I32(SIGN, -5, 0), -1);
  ck_assert_int_eq(I32(SIGN, 0, 0), 0);
  ck_assert_int_eq(I32(SIGN, 9, 0), 1);
  ck_assert_uint_eq(U32(NEG, 1, 0), UINT32_MAX);
  ck_assert(I64(NEG, INT64_MIN, 0) == INT64_MIN);
  ck_assert(I64(ABS, INT64_MIN, 0) == INT64_MIN);
  ck_assert_int_eq(I64(SIGN, INT64_MIN, 0), -1);
}
END_TEST

/* Every pair of edges, against 128-bit arithmetic. */
START_TEST(all_edges_agree_with_wider_arithmetic) {
  for (size_t i = 0; i < COUNT(edges); i++)
    for (size_t j = 0; j < COUNT(edges); j++) {
      uint64_t a = edges[i], b = edges[j];
      uint32_t x = (uint32_t)a, y = (uint32_t)b;
      int32_t s = (int32_t)x, t = (int32_t)y;
      int64_t p = (int64_t)a, q = (int64_t)b;
      ck_assert_uint_eq(U32(ADD, x, y), (uint32_t)((u128)x + y));
      ck_assert_uint_eq(U32(SUB, x, y), (uint32_t)((i128)x - y));
      ck_assert_uint_eq(U32(MUL, x, y), (uint32_t)((u128)x * y));
      ck_assert_uint_eq(U32(MULHI, x, y), (uint32_t)((u128)x * y >> 32));
      ck_assert_uint_eq(U32(MIN, x, y), x < y ? x : y);
      ck_assert_uint_eq(U32(MAX, x, y), x < y ? y : x);
      ck_assert_uint_eq(U32(LT, x, y), x < y);
      ck_assert_uint_eq(U32(GE, x, y), x >= y);
      ck_assert_int_eq(I32(MULHI, s, t), (int32_t)((i128)s * t >> 32));
      ck_assert_int_eq(I32(MIN, s, t), s < t ? s : t);
      ck_assert_int_eq(I32(MAX, s, t), s < t ? t : s);
      ck_assert_int_eq(I32(LT, s, t), s < t);
      ck_assert_int_eq(I32(GT, s, t), s > t);
      ck_assert_int_eq(I32(LE, s, t), s <= t);
      ck_assert_int_eq(I32(MUL, s, t), (int32_t)(uint32_t)(u128)((i128)s * t));
      ck_assert(U64(ADD, a, b) == (uint64_t)((u128)a + b));
      ck_assert(U64(SUB, a, b) == (uint64_t)((i128)a - (i128)b));
      ck_assert(U64(MUL, a, b) == (uint64_t)((u128)a * b));
      ck_assert(U64(MULHI, a, b) == (uint64_t)((u128)a * b >> 64));
      ck_assert(U64(ABSDIFF, a, b) == (a > b ? a - b : b - a));
      ck_assert(I64(MULHI, p, q) == (int64_t)((i128)p * q >> 64));
      ck_assert(I64(MIN, p, q) == (p < q ? p : q));
      ck_assert_int_eq(I64(GE, p, q), p >= q);
      ck_assert_int_eq(I64(EQ, p, q), p == q);
      ck_assert_int_eq(I64(NE, p, q), p != q);
      if (y != 0) ck_assert_uint_eq(U32(DIV, x, y), x / y);
      if (y != 0) ck_assert_uint_eq(U32(MOD, x, y), x % y);
      if (t != 0 && t != -1) ck_assert_int_eq(I32(DIV, s, t), s / t);
      if (t != 0 && t != -1) ck_assert_int_eq(I32(MOD, s, t), s % t);
      if (b != 0) ck_assert(U64(DIV, a, b) == a / b);
      if (q != 0 && q != -1) ck_assert(I64(DIV, p, q) == p / q);
      if (q != 0 && q != -1) ck_assert(I64(MOD, p, q) == p % q);
    }
}
END_TEST

START_TEST(every_operator_of_the_language_has_its_types) {
  for (vyre_op op = VYRE_OP_ADD; op <= VYRE_OP_UNPACK8HI; op++) {
    unsigned types = 0;
    for (vyre_type type = VYRE_TYPE_BOOL; type <= VYRE_TYPE_F64; type++) types += cpu_op_find(op, type) != NULL;
    ck_assert_msg(types > 0, "%s has no type", vyre_op_describe(op)->name);
  }
  ck_assert_ptr_null(cpu_op_find(VYRE_OP_MOD, VYRE_TYPE_F32));
  ck_assert_ptr_null(cpu_op_find(VYRE_OP_LAND, VYRE_TYPE_U32));
  ck_assert_ptr_null(cpu_op_find(VYRE_OP_ADD, VYRE_TYPE_BOOL));
}
END_TEST

/* ---- Floats ---- */

START_TEST(rounding_to_integers) {
  ck_assert_uint_eq(F32(ROUND, 0.5f, 0), f32(0));
  ck_assert_uint_eq(F32(ROUND, 1.5f, 0), f32(2));
  ck_assert_uint_eq(F32(ROUND, 2.5f, 0), f32(2));
  ck_assert_uint_eq(F32(ROUND, -0.5f, 0), f32(-0.0f));
  ck_assert_uint_eq(F32(FLOOR, -0.5f, 0), f32(-1));
  ck_assert_uint_eq(F32(CEIL, -0.5f, 0), f32(-0.0f));
  ck_assert_uint_eq(F32(TRUNC, -1.7f, 0), f32(-1));
  ck_assert(F64(ROUND, 2.5, 0) == f64(2));
  ck_assert(F64(ROUND, -0.5, 0) == f64(-0.0));
}
END_TEST

START_TEST(a_number_wins_over_nan_and_minus_zero_is_below_zero) {
  ck_assert_uint_eq(F32(MIN, NAN, 1), f32(1));
  ck_assert_uint_eq(F32(MIN, 1, NAN), f32(1));
  ck_assert_uint_eq(F32(MAX, NAN, -1), f32(-1));
  ck_assert_uint_eq(F32(MAX, -1, NAN), f32(-1));
  ck_assert_uint_eq(F32(MIN, -NAN, NAN), NAN32);
  ck_assert_uint_eq(F32(MAX, -NAN, NAN), NAN32);
  ck_assert_uint_eq(F32(MIN, 0.0f, -0.0f), f32(-0.0f));
  ck_assert_uint_eq(F32(MIN, -0.0f, 0.0f), f32(-0.0f));
  ck_assert_uint_eq(F32(MAX, 0.0f, -0.0f), f32(0));
  ck_assert_uint_eq(F32(MAX, -0.0f, 0.0f), f32(0));
  ck_assert_uint_eq(F32(MIN, -INFINITY, 3), f32(-INFINITY));
  ck_assert(F64(MIN, (double)NAN, 1) == f64(1));
  ck_assert(F64(MAX, -0.0, 0.0) == f64(0));
}
END_TEST

START_TEST(comparisons_with_nan_are_false_but_for_ne) {
  ck_assert_uint_eq(F32(EQ, NAN, NAN), 0);
  ck_assert_uint_eq(F32(NE, NAN, NAN), 1);
  ck_assert_uint_eq(F32(LT, NAN, 1), 0);
  ck_assert_uint_eq(F32(GT, NAN, 1), 0);
  ck_assert_uint_eq(F32(LE, 1, NAN), 0);
  ck_assert_uint_eq(F32(GE, 1, NAN), 0);
  ck_assert_uint_eq(F32(EQ, -0.0f, 0.0f), 1);
  ck_assert_uint_eq(F32(LT, -0.0f, 0.0f), 0);
  ck_assert_uint_eq(F64(NE, (double)NAN, 0), 1);
}
END_TEST

START_TEST(sign_and_class) {
  ck_assert_uint_eq(F32(SIGN, -0.0f, 0), f32(0));
  ck_assert_uint_eq(F32(SIGN, 0.0f, 0), f32(0));
  ck_assert_uint_eq(F32(SIGN, -1e-45f, 0), f32(-1));
  ck_assert_uint_eq(F32(SIGN, INFINITY, 0), f32(1));
  ck_assert_uint_eq(F32(SIGN, -NAN, 0), NAN32);
  ck_assert_uint_eq(F32(IS_NAN, NAN, 0), 1);
  ck_assert_uint_eq(F32(IS_INF, -INFINITY, 0), 1);
  ck_assert_uint_eq(F32(IS_INF, NAN, 0), 0);
  ck_assert_uint_eq(F32(IS_FINITE, 1e-45f, 0), 1);
  ck_assert_uint_eq(F32(IS_FINITE, INFINITY, 0), 0);
  ck_assert_uint_eq(F64(IS_FINITE, 5e-324, 0), 1);
}
END_TEST

START_TEST(abs_and_negation_keep_the_bits_of_nan) {
  cpu_op absolute = cpu_op_find(VYRE_OP_ABS, VYRE_TYPE_F32), negative = cpu_op_find(VYRE_OP_NEG, VYRE_TYPE_F32);
  ck_assert_uint_eq(absolute(0xFFC12345, 0, 0), 0x7FC12345);
  ck_assert_uint_eq(negative(0x7FA00001, 0, 0), 0xFFA00001);
  ck_assert_uint_eq(negative(0, 0, 0), 0x80000000);
  ck_assert(cpu_op_find(VYRE_OP_NEG, VYRE_TYPE_F64)(0, 0, 0) == 0x8000000000000000);
}
END_TEST

START_TEST(an_arithmetic_nan_is_the_quiet_one) {
  ck_assert_uint_eq(F32(DIV, 0, 0), NAN32);
  ck_assert_uint_eq(F32(SUB, INFINITY, INFINITY), NAN32);
  ck_assert_uint_eq(F32(MUL, INFINITY, 0), NAN32);
  ck_assert_uint_eq(F32(SQRT, -1, 0), NAN32);
  ck_assert_uint_eq(apply(VYRE_OP_ADD, VYRE_TYPE_F32, 0xFFA00001, f32(1)), NAN32);
  ck_assert(F64(DIV, 0, 0) == NAN64);
  ck_assert(F64(SQRT, -1, 0) == NAN64);
}
END_TEST

START_TEST(division_by_zero_gives_infinities) {
  ck_assert_uint_eq(F32(DIV, 1, 0.0f), f32(INFINITY));
  ck_assert_uint_eq(F32(DIV, 1, -0.0f), f32(-INFINITY));
  ck_assert_uint_eq(F32(RCP, -0.0f, 0), f32(-INFINITY));
  ck_assert_uint_eq(F32(RSQRT, 0.0f, 0), f32(INFINITY));
  ck_assert_uint_eq(F32(RSQRT, -0.0f, 0), f32(-INFINITY));
  ck_assert_uint_eq(F32(RSQRT, INFINITY, 0), f32(0));
  ck_assert_uint_eq(F32(RSQRT, -1, 0), NAN32);
  ck_assert_uint_eq(F32(RSQRT, NAN, 0), NAN32);
  ck_assert_uint_eq(F32(SQRT, -0.0f, 0), f32(-0.0f));
  ck_assert(F64(RSQRT, -0.0, 0) == f64(-(double)INFINITY));
}
END_TEST

START_TEST(subnormals_are_kept) {
  ck_assert_uint_eq(apply(VYRE_OP_ADD, VYRE_TYPE_F32, 1, 1), 2);
  ck_assert_uint_eq(F32(MUL, 0x1p-140f, 0.5f), f32(0x1p-141f));
  ck_assert_uint_eq(F32(DIV, 0x1p-126f, 2), f32(0x1p-127f));
  ck_assert_uint_eq(F32(SQRT, 0x1p-148f, 0), f32(0x1p-74f));
  ck_assert(apply(VYRE_OP_ADD, VYRE_TYPE_F64, 1, 1) == 2);
}
END_TEST

START_TEST(fma_is_rounded_once) {
  cpu_op single = cpu_op_find(VYRE_OP_FMA, VYRE_TYPE_F32), wide = cpu_op_find(VYRE_OP_FMA, VYRE_TYPE_F64);
  float a = 1 + 0x1p-12f, c = -(1 + 0x1p-11f);
  ck_assert_uint_eq(single(f32(a), f32(a), f32(c)), f32(0x1p-24f));
  ck_assert_uint_eq(apply(VYRE_OP_ADD, VYRE_TYPE_F32, F32(MUL, a, a), f32(c)), f32(0));
  /* Through a double product and sum the last one would be rounded twice. */
  ck_assert_uint_eq(single(0x3F800001, 0x3F800001, f32(0x1p-60f)), f32(1 + 0x1p-22f));
  ck_assert_uint_eq(single(f32(0x1.000002p0f), f32(0x1.8p-24f), f32(1)), f32(0x1.000002p0f));
  ck_assert_uint_eq(single(f32(0x1p-149f), f32(0x1p-149f), f32(0x1p-149f)), 1);
  ck_assert_uint_eq(single(f32(0x1p127f), f32(2), f32(-0x1p127f)), f32(0x1p127f));
  ck_assert_uint_eq(single(f32(INFINITY), f32(0), f32(1)), NAN32);
  double d = 1 + 0x1p-27;
  ck_assert(wide(f64(d), f64(d), f64(-(1 + 0x1p-26))) == f64(0x1p-54));
}
END_TEST

/* 1/sqrt in long double has 40 bits more than f32 keeps, and the results are never that near to a middle. */
START_TEST(rsqrt_of_f32_is_rounded_once) {
  cpu_op rsqrt = cpu_op_find(VYRE_OP_RSQRT, VYRE_TYPE_F32);
  for (uint32_t bits = 0x3F800000; bits < 0x40800000; bits += 13) {
    float x;
    memcpy(&x, &bits, sizeof x);
    HOLDS(rsqrt(bits, 0, 0) == f32((float)(1 / sqrtl((long double)x))));
  }
  for (uint32_t bits = 1; bits < 0x7F800000; bits += 100003) {
    float x;
    memcpy(&x, &bits, sizeof x);
    HOLDS(rsqrt(bits, 0, 0) == f32((float)(1 / sqrtl((long double)x))));
  }
}
END_TEST

/* r is right if (r - ulp/2)^2 x < 1 < (r + ulp/2)^2 x: checked with fma residuals, away from the bound. */
START_TEST(rsqrt_of_f64_is_within_half_an_ulp) {
  cpu_op rsqrt = cpu_op_find(VYRE_OP_RSQRT, VYRE_TYPE_F64);
  uint64_t seed = 1;
  for (int i = 0; i < 200000; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double x = 1 + (double)(seed >> 11) * 0x1p-53 * 3, r;
    uint64_t bits = rsqrt(f64(x), 0, 0);
    memcpy(&r, &bits, sizeof r);
    long double exact = 1 / sqrtl((long double)x);
    HOLDS(fabsl(exact - (long double)r) <= (r == 1 ? 0x1p-53L : 0x1p-54L) * (1 + 0x1p-9L));
  }
  ck_assert(F64(RSQRT, 4, 0) == f64(0.5));
  ck_assert(F64(RSQRT, 0x1p-1074, 0) == f64(0x1p537));
  ck_assert(F64(RSQRT, 0x1p1022, 0) == f64(0x1p-511));
  ck_assert(F64(RSQRT, 1 - 0x1p-53, 0) == f64(1));
}
END_TEST

/* ---- Conversions ---- */

START_TEST(floats_to_integers_truncate_and_clamp) {
  static const struct {
    double from;
    uint64_t u32, i32, u64, i64;
  } rows[] = {
    { NAN, 0, 0, 0, 0 },
    { 3e9, 3000000000, INT32_MAX, 3000000000, 3000000000 },
    { -1, 0, 0xFFFFFFFF, 0, 0xFFFFFFFFFFFFFFFF },
    { 0x1p32, UINT32_MAX, INT32_MAX, 0x100000000, 0x100000000 },
    { INFINITY, UINT32_MAX, INT32_MAX, UINT64_MAX, INT64_MAX },
    { -INFINITY, 0, 0x80000000, 0, 0x8000000000000000 },
    { 0x1p64, UINT32_MAX, INT32_MAX, UINT64_MAX, INT64_MAX },
    { 0x1p63, UINT32_MAX, INT32_MAX, 0x8000000000000000, INT64_MAX },
    { -0x1p63, 0, 0x80000000, 0, 0x8000000000000000 },
    { -0x1p31, 0, 0x80000000, 0, 0xFFFFFFFF80000000 },
    { 1.75, 1, 1, 1, 1 },
    { -1.75, 0, 0xFFFFFFFF, 0, 0xFFFFFFFFFFFFFFFF },
    { -0.75, 0, 0, 0, 0 },
    { -0.0, 0, 0, 0, 0 },
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    uint64_t narrow = f32((float)rows[i].from), wide = f64(rows[i].from);
    ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_U32, wide), rows[i].u32);
    ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_I32, wide), rows[i].i32);
    ck_assert(cast(VYRE_TYPE_F64, VYRE_TYPE_U64, wide) == rows[i].u64);
    ck_assert(cast(VYRE_TYPE_F64, VYRE_TYPE_I64, wide) == rows[i].i64);
    ck_assert_uint_eq(cast(VYRE_TYPE_F32, VYRE_TYPE_U32, narrow), rows[i].u32);
    ck_assert_uint_eq(cast(VYRE_TYPE_F32, VYRE_TYPE_I32, narrow), rows[i].i32);
    ck_assert(cast(VYRE_TYPE_F32, VYRE_TYPE_U64, narrow) == rows[i].u64);
    ck_assert(cast(VYRE_TYPE_F32, VYRE_TYPE_I64, narrow) == rows[i].i64);
  }
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_U32, f64(4294967295.9)), UINT32_MAX);
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_I32, f64(2147483647.9)), INT32_MAX);
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_I32, f64(-2147483648.9)), 0x80000000);
}
END_TEST

START_TEST(integers_extend_by_the_sign_of_their_own_type) {
  ck_assert(cast(VYRE_TYPE_I32, VYRE_TYPE_U64, 0xFFFFFFFF) == UINT64_MAX);
  ck_assert(cast(VYRE_TYPE_I32, VYRE_TYPE_I64, 0x80000000) == 0xFFFFFFFF80000000);
  ck_assert(cast(VYRE_TYPE_U32, VYRE_TYPE_I64, 0xFFFFFFFF) == 0xFFFFFFFF);
  ck_assert_uint_eq(cast(VYRE_TYPE_U64, VYRE_TYPE_U32, 0x123456789), 0x23456789);
  ck_assert_uint_eq(cast(VYRE_TYPE_I64, VYRE_TYPE_I32, 0xFFFFFFFFFFFFFFFF), 0xFFFFFFFF);
  ck_assert_uint_eq(cast(VYRE_TYPE_BOOL, VYRE_TYPE_I64, 1), 1);
  ck_assert_uint_eq(cast(VYRE_TYPE_U32, VYRE_TYPE_I32, 0x80000000), 0x80000000);
}
END_TEST

START_TEST(anything_but_zero_is_true) {
  ck_assert_uint_eq(cast(VYRE_TYPE_F32, VYRE_TYPE_BOOL, NAN32), 1);
  ck_assert_uint_eq(cast(VYRE_TYPE_F32, VYRE_TYPE_BOOL, 0x80000000), 0);
  ck_assert_uint_eq(cast(VYRE_TYPE_F32, VYRE_TYPE_BOOL, 1), 1);
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_BOOL, 0x8000000000000000), 0);
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_BOOL, NAN64), 1);
  ck_assert_uint_eq(cast(VYRE_TYPE_U64, VYRE_TYPE_BOOL, 0x100000000), 1);
  ck_assert_uint_eq(cast(VYRE_TYPE_BOOL, VYRE_TYPE_F32, 1), f32(1));
  ck_assert(cast(VYRE_TYPE_BOOL, VYRE_TYPE_F64, 0) == f64(0));
}
END_TEST

/* Nearest even by hand: the top |digits| bits, and what is cut off compared with a half. */
static double nearest(uint64_t magnitude, int digits) {
  if (magnitude == 0) return 0;
  int drop = 64 - __builtin_clzll(magnitude) - digits;
  if (drop <= 0) return (double)magnitude;
  uint64_t kept = magnitude >> drop, rest = magnitude & (((uint64_t)1 << drop) - 1), half = (uint64_t)1 << (drop - 1);
  kept += rest > half || (rest == half && (kept & 1));
  return ldexp((double)kept, drop);
}

START_TEST(integers_to_floats_round_to_nearest_even) {
  uint64_t seed = 7;
  for (int i = 0; i < 100000; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = i < (int)COUNT(edges) ? edges[i] : seed >> (seed & 63);
    if (i % 3 == 0 && x >> 40) x = (x & ~(uint64_t)0xFFFF) | 0x8000; /* near ties */
    uint64_t magnitude = (int64_t)x < 0 ? 0 - x : x;
    double sign = (int64_t)x < 0 ? -1 : 1;
    HOLDS(cast(VYRE_TYPE_U64, VYRE_TYPE_F32, x) == f32((float)nearest(x, 24)));
    HOLDS(cast(VYRE_TYPE_U64, VYRE_TYPE_F64, x) == f64(nearest(x, 53)));
    HOLDS(cast(VYRE_TYPE_I64, VYRE_TYPE_F32, x) == f32((float)(sign * nearest(magnitude, 24))));
    HOLDS(cast(VYRE_TYPE_I64, VYRE_TYPE_F64, x) == f64(sign * nearest(magnitude, 53)));
    HOLDS(cast(VYRE_TYPE_U32, VYRE_TYPE_F32, (uint32_t)x) == f32((float)nearest((uint32_t)x, 24)));
  }
  ck_assert_uint_eq(cast(VYRE_TYPE_U32, VYRE_TYPE_F32, 16777217), f32(16777216));
  ck_assert_uint_eq(cast(VYRE_TYPE_U32, VYRE_TYPE_F32, 16777219), f32(16777220));
  ck_assert_uint_eq(cast(VYRE_TYPE_I32, VYRE_TYPE_F32, 0x80000000), f32(-0x1p31f));
}
END_TEST

START_TEST(f64_to_f32_rounds_once) {
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_F32, f64(1 + 0x1p-24)), f32(1));
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_F32, f64(1 + 0x1p-24 + 0x1p-52)), f32(1 + 0x1p-23f));
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_F32, f64(0x1p-150)), 0);
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_F32, f64(0x1.8p-150)), 1);
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_F32, f64(3.5e38)), f32(INFINITY));
  ck_assert_uint_eq(cast(VYRE_TYPE_F64, VYRE_TYPE_F32, NAN64 | 1), NAN32);
  ck_assert(cast(VYRE_TYPE_F32, VYRE_TYPE_F64, 1) == f64(0x1p-149));
}
END_TEST

START_TEST(narrow_conversions_keep_the_wide_type) {
  ck_assert_uint_eq(cast(VYRE_TYPE_U32, VYRE_TYPE_U8, 0x1FF), 0xFF);
  ck_assert_uint_eq(cast(VYRE_TYPE_U32, VYRE_TYPE_U16, 0x12345678), 0x5678);
  ck_assert_uint_eq(cast(VYRE_TYPE_I32, VYRE_TYPE_I8, 0x80), 0xFFFFFF80);
  ck_assert_uint_eq(cast(VYRE_TYPE_I32, VYRE_TYPE_I8, 0x17F), 0x7F);
  ck_assert_uint_eq(cast(VYRE_TYPE_I32, VYRE_TYPE_I16, 0x18000), 0xFFFF8000);
  ck_assert_uint_eq(cast(VYRE_TYPE_F32, VYRE_TYPE_F16, f32(65519.99f)), f32(65504));
  ck_assert_uint_eq(cast(VYRE_TYPE_F32, VYRE_TYPE_F16, f32(65520)), f32(INFINITY));
  ck_assert_uint_eq(cast(VYRE_TYPE_F32, VYRE_TYPE_BF16, f32(1 + 0x1p-8f)), f32(1));
  ck_assert_uint_eq(cast(VYRE_TYPE_F32, VYRE_TYPE_BF16, 0xFFFFFFFF), NAN32);
}
END_TEST

START_TEST(equal_types_move_bits) {
  ck_assert_uint_eq(cast(VYRE_TYPE_F32, VYRE_TYPE_F32, 0xFFA00001), 0xFFA00001);
  ck_assert(cast(VYRE_TYPE_F64, VYRE_TYPE_F64, NAN64 | 5) == (NAN64 | 5));
}
END_TEST

int main(void) {
  const TTest *const tests[] = { division_by_zero_and_of_the_smallest,
                                        shift_counts_are_masked,
                                        rotation_by_the_width_changes_nothing,
                                        high_halves_of_products,
                                        saturation,
                                        counting_and_reversing_bits,
                                        negation_and_magnitude_wrap,
                                        all_edges_agree_with_wider_arithmetic,
                                        every_operator_of_the_language_has_its_types,
                                        rounding_to_integers,
                                        a_number_wins_over_nan_and_minus_zero_is_below_zero,
                                        comparisons_with_nan_are_false_but_for_ne,
                                        sign_and_class,
                                        abs_and_negation_keep_the_bits_of_nan,
                                        an_arithmetic_nan_is_the_quiet_one,
                                        division_by_zero_gives_infinities,
                                        subnormals_are_kept,
                                        fma_is_rounded_once,
                                        rsqrt_of_f32_is_rounded_once,
                                        rsqrt_of_f64_is_within_half_an_ulp,
                                        floats_to_integers_truncate_and_clamp,
                                        integers_extend_by_the_sign_of_their_own_type,
                                        anything_but_zero_is_true,
                                        integers_to_floats_round_to_nearest_even,
                                        f64_to_f32_rounds_once,
                                        narrow_conversions_keep_the_wide_type,
                                        equal_types_move_bits,
                                        NULL };
  return run_suite("cpu_ref/ops", 60, tests);
}
