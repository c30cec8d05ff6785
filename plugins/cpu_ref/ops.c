/* The table of docs/ir.md: what every operator gives for every operand. Integers wrap and never fault; an
 * arithmetic NaN is always the quiet one without sign. */
#include "ops.h"

#include <math.h>
#include <string.h>

#include "transcend.h"
#include "base/narrow.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

/* A function named |name| of the operands a, b and c. */
#define OP(name, value)                                              \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c) {         \
    (void)a, (void)b, (void)c;                                       \
    return (value);                                                  \
  }

static inline int32_t s32(uint64_t bits) {
  return (int32_t)(uint32_t)bits;
}
static inline int64_t s64(uint64_t bits) {
  return (int64_t)bits;
}
static inline float f32(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return value;
}
static inline double f64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint64_t b32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value == value ? bits : 0x7FC00000;
}
static inline uint64_t b64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value == value ? bits : 0x7FF8000000000000;
}

/* ---- Integers ---- */

/* What does not depend on the sign; U is the unsigned type, N its width. */
#define INTEGERS(U, N)                                                                        \
  OP(add_##U, (U)(a + b))                                                                     \
  OP(sub_##U, (U)(a - b))                                                                     \
  OP(mul_##U, (U)(a * b))                                                                     \
  OP(and_##U, a & b)                                                                          \
  OP(or_##U, a | b)                                                                           \
  OP(xor_##U, a ^ b)                                                                          \
  OP(shl_##U, (U)(a << (b & (N - 1))))                                                        \
  OP(rotl_##U, (U)((U)a << (b & (N - 1)) | (U)a >> (-b & (N - 1))))                           \
  OP(rotr_##U, (U)((U)a >> (b & (N - 1)) | (U)a << (-b & (N - 1))))                           \
  OP(neg_##U, (U)(0 - a))                                                                     \
  OP(not_##U, (U)~a)                                                                          \
  OP(popcount_##U, (uint64_t)__builtin_popcountll(a))                                         \
  OP(clz_##U, a == 0 ? N : (uint64_t)__builtin_clzll(a) - (64 - N))                           \
  OP(ctz_##U, a == 0 ? N : (uint64_t)__builtin_ctzll(a))                                      \
  OP(reverse_##U, reverse_bits(a) >> (64 - N))

static uint64_t reverse_bits(uint64_t x) {
  x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
  x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
  x = (x >> 4 & 0x0F0F0F0F0F0F0F0F) | (x & 0x0F0F0F0F0F0F0F0F) << 4;
  return __builtin_bswap64(x);
}

INTEGERS(uint32_t, 32)
INTEGERS(uint64_t, 64)

OP(div_u32, b == 0 ? UINT32_MAX : a / b)
OP(div_u64, b == 0 ? UINT64_MAX : a / b)
OP(mod_unsigned, b == 0 ? 0 : a % b)
OP(shr_u32, a >> (b & 31))
OP(shr_u64, a >> (b & 63))
OP(min_unsigned, a < b ? a : b)
OP(max_unsigned, a > b ? a : b)
OP(absdiff_unsigned, a > b ? a - b : b - a)
OP(sat_add_u32, a + b > UINT32_MAX ? UINT32_MAX : a + b)
OP(sat_add_u64, a + b < a ? UINT64_MAX : a + b)
OP(sat_sub_unsigned, a > b ? a - b : 0)
OP(sat_mul_u32, a * b > UINT32_MAX ? UINT32_MAX : a * b)
OP(sat_mul_u64, (u128)a * b > UINT64_MAX ? UINT64_MAX : a * b)
OP(mulhi_u32, a * b >> 32)
OP(mulhi_u64, (uint64_t)((u128)a * b >> 64))
OP(eq_bits, a == b)
OP(ne_bits, a != b)
OP(lt_unsigned, a < b)
OP(gt_unsigned, a > b)
OP(le_unsigned, a <= b)
OP(ge_unsigned, a >= b)

/* Signed: S is the type, s reads it, U is the unsigned one. */
#define SIGNED(S, s, U)                                                      \
  OP(div_##S, b == 0 ? 0 : s(b) == -1 ? (U)(0 - a) : (U)(s(a) / s(b)))       \
  OP(mod_##S, b == 0 || s(b) == -1 ? 0 : (U)(s(a) % s(b)))                   \
  OP(min_##S, s(a) < s(b) ? a : b)                                           \
  OP(max_##S, s(a) > s(b) ? a : b)                                           \
  OP(lt_##S, s(a) < s(b))                                                    \
  OP(gt_##S, s(a) > s(b))                                                    \
  OP(le_##S, s(a) <= s(b))                                                   \
  OP(ge_##S, s(a) >= s(b))                                                   \
  OP(abs_##S, s(a) < 0 ? (U)(0 - a) : a)                                     \
  OP(sign_##S, (U)((s(a) > 0) - (s(a) < 0)))

SIGNED(int32_t, s32, uint32_t)
SIGNED(int64_t, s64, uint64_t)

OP(shr_i32, (uint32_t)(s32(a) >> (b & 31)))
OP(shr_i64, (uint64_t)(s64(a) >> (b & 63)))
OP(mulhi_i32, (uint32_t)((int64_t)s32(a) * s32(b) >> 32))
OP(mulhi_i64, (uint64_t)((i128)s64(a) * s64(b) >> 64))

OP(unpack4lo, a & 15)
OP(unpack4hi, a >> 4 & 15)
OP(unpack8lo, a & 255)
OP(unpack8hi, a >> 24)

OP(land, a & b)
OP(lor, a | b)
OP(lnot, !a)

/* ---- Floats ---- */

/* f reads the bits, w gives a result's bits, SIGN is the sign bit and SUFFIX that of the C library. A number wins
 * over a NaN; where values are equal the bits decide, so that -0 is below +0. */
#define FLOATS(T, f, w, SIGN, SUFFIX)                                                                  \
  OP(add_##T, w(f(a) + f(b)))                                                                          \
  OP(sub_##T, w(f(a) - f(b)))                                                                          \
  OP(mul_##T, w(f(a) * f(b)))                                                                          \
  OP(div_##T, w(f(a) / f(b)))                                                                          \
  OP(fma_##T, w(fma##SUFFIX(f(a), f(b), f(c))))                                                        \
  OP(min_##T, f(a) < f(b) || (f(a) == f(b) && (a & SIGN)) || f(b) != f(b) ? w(f(a)) : w(f(b)))         \
  OP(max_##T, f(a) > f(b) || (f(a) == f(b) && (b & SIGN)) || f(b) != f(b) ? w(f(a)) : w(f(b)))         \
  OP(eq_##T, f(a) == f(b))                                                                             \
  OP(ne_##T, f(a) != f(b))                                                                             \
  OP(lt_##T, f(a) < f(b))                                                                              \
  OP(gt_##T, f(a) > f(b))                                                                              \
  OP(le_##T, f(a) <= f(b))                                                                             \
  OP(ge_##T, f(a) >= f(b))                                                                             \
  OP(neg_##T, a ^ SIGN)                                                                                \
  OP(abs_##T, a & ~SIGN)                                                                               \
  OP(sign_##T, f(a) > 0 ? w(1) : f(a) < 0 ? w(-1) : f(a) == 0 ? 0 : w(f(a)))                           \
  OP(sqrt_##T, w(sqrt##SUFFIX(f(a))))                                                                  \
  OP(floor_##T, w(floor##SUFFIX(f(a))))                                                                \
  OP(ceil_##T, w(ceil##SUFFIX(f(a))))                                                                  \
  OP(round_##T, w(rint##SUFFIX(f(a))))                                                                 \
  OP(trunc_##T, w(trunc##SUFFIX(f(a))))                                                                \
  OP(is_nan_##T, f(a) != f(a))                                                                         \
  OP(is_inf_##T, isinf(f(a)) != 0)                                                                     \
  OP(is_finite_##T, isfinite(f(a)) != 0)                                                               \
  OP(rcp_##T, w(1 / f(a)))

FLOATS(f32, f32, b32, 0x80000000u, f)
FLOATS(f64, f64, b64, 0x8000000000000000u,)

/* The order of m * m * x and 2^power, for m and x below 2^54 and power of 64 to 190. */
static int compare_square(uint64_t m, uint64_t x, unsigned power) {
  u128 square = (u128)m * m;
  u128 low = (u128)(uint64_t)square * x;
  u128 high = (u128)(uint64_t)(square >> 64) * x + (low >> 64);
  u128 wanted = (u128)1 << (power - 64);
  if (high != wanted) return high < wanted ? -1 : 1;
  return (uint64_t)low != 0;
}

/* 1/sqrt(x) to |digits| bits (24 or 53), rounded once; |x| is finite and above 0.
 * An estimate is moved until the exact value lies within half a unit of it. That value is never half a unit away:
 * the square of an odd number times an integer above 1 is no power of two. */
static double rsqrt_digits(double x, unsigned digits) {
  int exponent;
  double fraction = frexp(x, &exponent);
  if (exponent & 1) fraction *= 2, exponent--;
  /* x = fraction * 2^exponent with 1/2 <= fraction < 2, and root / 2^scale is to be 1/sqrt(fraction). */
  uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
  unsigned scale = digits - (fraction <= 1), power = 2 * scale + 53;
  uint64_t root = (uint64_t)rint(ldexp(1 / sqrt(fraction), (int)scale));
  while (compare_square(2 * root + 1, mantissa, power + 2) < 0) root++;
  while (compare_square(2 * root - 1, mantissa, power + 2) > 0) root--;
  return ldexp((double)root, -(int)scale - exponent / 2);
}

static double rsqrt(double x, unsigned digits) {
  if (x == 0) return copysign(INFINITY, x);
  if (x < 0 || isnan(x)) return NAN;
  return isinf(x) ? 0 : rsqrt_digits(x, digits);
}

OP(rsqrt_f32, b32((float)rsqrt(f32(a), 24)))
OP(rsqrt_f64, b64(rsqrt(f64(a), 53)))

/* X(name, NAME) for each transcendental. */
#define TRANSCENDENTALS(X)                                                                       \
  X(exp, EXP) X(exp2, EXP2) X(log, LOG) X(log2, LOG2) X(sin, SIN) X(cos, COS) X(tan, TAN)        \
  X(asin, ASIN) X(acos, ACOS) X(atan, ATAN) X(sinh, SINH) X(cosh, COSH) X(tanh, TANH)
#define X(name, NAME)                                              \
  OP(name##_f32, cpu_math_f32(VYRE_OP_##NAME, (uint32_t)a))        \
  OP(name##_f64, cpu_math_f64(VYRE_OP_##NAME, a))
TRANSCENDENTALS(X)
#undef X

/* ---- Tables ---- */

#define INTEGER_ROWS(U)                                                                          \
  [VYRE_OP_ADD] = add_##U, [VYRE_OP_SUB] = sub_##U, [VYRE_OP_MUL] = mul_##U,                     \
  [VYRE_OP_BITAND] = and_##U, [VYRE_OP_BITOR] = or_##U, [VYRE_OP_BITXOR] = xor_##U,              \
  [VYRE_OP_SHL] = shl_##U, [VYRE_OP_ROTL] = rotl_##U, [VYRE_OP_ROTR] = rotr_##U,                 \
  [VYRE_OP_NEG] = neg_##U, [VYRE_OP_BITNOT] = not_##U, [VYRE_OP_POPCOUNT] = popcount_##U,        \
  [VYRE_OP_CLZ] = clz_##U, [VYRE_OP_CTZ] = ctz_##U, [VYRE_OP_REVERSE_BITS] = reverse_##U,        \
  [VYRE_OP_EQ] = eq_bits, [VYRE_OP_NE] = ne_bits

#define UNSIGNED_ROWS(t)                                                                         \
  [VYRE_OP_DIV] = div_##t, [VYRE_OP_MOD] = mod_unsigned, [VYRE_OP_SHR] = shr_##t,                \
  [VYRE_OP_MIN] = min_unsigned, [VYRE_OP_MAX] = max_unsigned,                                    \
  [VYRE_OP_ABSDIFF] = absdiff_unsigned, [VYRE_OP_SAT_ADD] = sat_add_##t,                         \
  [VYRE_OP_SAT_SUB] = sat_sub_unsigned, [VYRE_OP_SAT_MUL] = sat_mul_##t,                         \
  [VYRE_OP_MULHI] = mulhi_##t,                                                                   \
  [VYRE_OP_LT] = lt_unsigned, [VYRE_OP_GT] = gt_unsigned,                                        \
  [VYRE_OP_LE] = le_unsigned, [VYRE_OP_GE] = ge_unsigned

#define SIGNED_ROWS(S, t)                                                                        \
  [VYRE_OP_DIV] = div_##S, [VYRE_OP_MOD] = mod_##S, [VYRE_OP_SHR] = shr_##t,                     \
  [VYRE_OP_MIN] = min_##S, [VYRE_OP_MAX] = max_##S, [VYRE_OP_MULHI] = mulhi_##t,                 \
  [VYRE_OP_LT] = lt_##S, [VYRE_OP_GT] = gt_##S, [VYRE_OP_LE] = le_##S, [VYRE_OP_GE] = ge_##S,    \
  [VYRE_OP_ABS] = abs_##S, [VYRE_OP_SIGN] = sign_##S

#define UNPACK_ROWS                                                                              \
  [VYRE_OP_UNPACK4LO] = unpack4lo, [VYRE_OP_UNPACK4HI] = unpack4hi,                              \
  [VYRE_OP_UNPACK8LO] = unpack8lo, [VYRE_OP_UNPACK8HI] = unpack8hi

#define FLOAT_ROWS(T)                                                                            \
  [VYRE_OP_ADD] = add_##T, [VYRE_OP_SUB] = sub_##T, [VYRE_OP_MUL] = mul_##T,                     \
  [VYRE_OP_DIV] = div_##T, [VYRE_OP_FMA] = fma_##T, [VYRE_OP_MIN] = min_##T,                     \
  [VYRE_OP_MAX] = max_##T, [VYRE_OP_EQ] = eq_##T, [VYRE_OP_NE] = ne_##T, [VYRE_OP_LT] = lt_##T,  \
  [VYRE_OP_GT] = gt_##T, [VYRE_OP_LE] = le_##T, [VYRE_OP_GE] = ge_##T, [VYRE_OP_NEG] = neg_##T,  \
  [VYRE_OP_ABS] = abs_##T, [VYRE_OP_SIGN] = sign_##T, [VYRE_OP_SQRT] = sqrt_##T,                 \
  [VYRE_OP_FLOOR] = floor_##T, [VYRE_OP_CEIL] = ceil_##T, [VYRE_OP_ROUND] = round_##T,           \
  [VYRE_OP_TRUNC] = trunc_##T, [VYRE_OP_IS_NAN] = is_nan_##T, [VYRE_OP_IS_INF] = is_inf_##T,     \
  [VYRE_OP_IS_FINITE] = is_finite_##T, [VYRE_OP_RCP] = rcp_##T, [VYRE_OP_RSQRT] = rsqrt_##T

static const cpu_op bool_ops[VYRE_OP_COUNT] = { [VYRE_OP_LAND] = land, [VYRE_OP_LOR] = lor,
                                                [VYRE_OP_LNOT] = lnot, [VYRE_OP_EQ] = eq_bits,
                                                [VYRE_OP_NE] = ne_bits };
static const cpu_op u32_ops[VYRE_OP_COUNT] = { INTEGER_ROWS(uint32_t), UNSIGNED_ROWS(u32), UNPACK_ROWS };
static const cpu_op u64_ops[VYRE_OP_COUNT] = { INTEGER_ROWS(uint64_t), UNSIGNED_ROWS(u64) };
static const cpu_op i32_ops[VYRE_OP_COUNT] = { INTEGER_ROWS(uint32_t), SIGNED_ROWS(int32_t, i32), UNPACK_ROWS };
static const cpu_op i64_ops[VYRE_OP_COUNT] = { INTEGER_ROWS(uint64_t), SIGNED_ROWS(int64_t, i64) };
#define X(name, NAME) [VYRE_OP_##NAME] = name##_f32,
static const cpu_op f32_ops[VYRE_OP_COUNT] = { FLOAT_ROWS(f32), TRANSCENDENTALS(X) };
#undef X
#define X(name, NAME) [VYRE_OP_##NAME] = name##_f64,
static const cpu_op f64_ops[VYRE_OP_COUNT] = { FLOAT_ROWS(f64), TRANSCENDENTALS(X) };
#undef X

cpu_op cpu_op_find(vyre_op op, vyre_type type) {
  switch (type) {
    case VYRE_TYPE_BOOL: return bool_ops[op];
    case VYRE_TYPE_U32: return u32_ops[op];
    case VYRE_TYPE_I32: return i32_ops[op];
    case VYRE_TYPE_U64: return u64_ops[op];
    case VYRE_TYPE_I64: return i64_ops[op];
    case VYRE_TYPE_F32: return f32_ops[op];
    case VYRE_TYPE_F64: return f64_ops[op];
    default: return NULL;
  }
}

/* ---- Conversions ---- */

/* Truncation with clamping; a NaN gives 0. Every bound is exact in the types where it is compared. */
static uint64_t to_u32(double x) {
  return !(x > 0) ? 0 : x >= 0x1p32 ? UINT32_MAX : (uint32_t)x;
}
static uint64_t to_i32(double x) {
  return x != x ? 0 : x >= 0x1p31 ? INT32_MAX : x <= -0x1p31 ? (uint32_t)INT32_MIN : (uint32_t)(int32_t)x;
}
static uint64_t to_u64(double x) {
  return !(x > 0) ? 0 : x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
}
static uint64_t to_i64(double x) {
  return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? (uint64_t)INT64_MIN : (uint64_t)(int64_t)x;
}

OP(keep, a)
OP(low_word, (uint32_t)a)
OP(sign_extend, (uint64_t)(int64_t)s32(a))
OP(bool_from_bits, a != 0)
OP(bool_from_f32, f32(a) != 0)
OP(bool_from_f64, f64(a) != 0)
OP(u32_from_f32, to_u32(f32(a)))
OP(i32_from_f32, to_i32(f32(a)))
OP(u64_from_f32, to_u64(f32(a)))
OP(i64_from_f32, to_i64(f32(a)))
OP(u32_from_f64, to_u32(f64(a)))
OP(i32_from_f64, to_i32(f64(a)))
OP(u64_from_f64, to_u64(f64(a)))
OP(i64_from_f64, to_i64(f64(a)))
OP(f32_from_unsigned, b32((float)a))
OP(f64_from_unsigned, b64((double)a))
OP(f32_from_i32, b32((float)s32(a)))
OP(f64_from_i32, b64((double)s32(a)))
OP(f32_from_i64, b32((float)s64(a)))
OP(f64_from_i64, b64((double)s64(a)))
OP(f32_from_f64, b32((float)f64(a)))
OP(f64_from_f32, b64((double)f32(a)))
OP(u8_of, (uint8_t)a)
OP(u16_of, (uint16_t)a)
OP(i8_of, (uint32_t)(int32_t)(int8_t)a)
OP(i16_of, (uint32_t)(int32_t)(int16_t)a)
OP(f16_of, vyre_f32_from_f16(vyre_f16_from_f32((uint32_t)a)))
OP(bf16_of, vyre_f32_from_bf16(vyre_bf16_from_f32((uint32_t)a)))

enum { FIRST = VYRE_TYPE_BOOL, SCALARS = VYRE_TYPE_F64 - FIRST + 1 };
#define COLUMN(type) [VYRE_TYPE_##type - FIRST]

/* From a row's type to a column's. */
static const cpu_op casts[SCALARS][SCALARS] = {
  COLUMN(BOOL) = { COLUMN(BOOL) = keep, COLUMN(U32) = keep, COLUMN(I32) = keep, COLUMN(U64) = keep,
                   COLUMN(I64) = keep, COLUMN(F32) = f32_from_unsigned, COLUMN(F64) = f64_from_unsigned },
  COLUMN(U32) = { COLUMN(BOOL) = bool_from_bits, COLUMN(U32) = keep, COLUMN(I32) = keep, COLUMN(U64) = keep,
                  COLUMN(I64) = keep, COLUMN(F32) = f32_from_unsigned, COLUMN(F64) = f64_from_unsigned },
  COLUMN(I32) = { COLUMN(BOOL) = bool_from_bits, COLUMN(U32) = keep, COLUMN(I32) = keep, COLUMN(U64) = sign_extend,
                  COLUMN(I64) = sign_extend, COLUMN(F32) = f32_from_i32, COLUMN(F64) = f64_from_i32 },
  COLUMN(U64) = { COLUMN(BOOL) = bool_from_bits, COLUMN(U32) = low_word, COLUMN(I32) = low_word,
                  COLUMN(U64) = keep, COLUMN(I64) = keep, COLUMN(F32) = f32_from_unsigned,
                  COLUMN(F64) = f64_from_unsigned },
  COLUMN(I64) = { COLUMN(BOOL) = bool_from_bits, COLUMN(U32) = low_word, COLUMN(I32) = low_word,
                  COLUMN(U64) = keep, COLUMN(I64) = keep, COLUMN(F32) = f32_from_i64, COLUMN(F64) = f64_from_i64 },
  COLUMN(F32) = { COLUMN(BOOL) = bool_from_f32, COLUMN(U32) = u32_from_f32, COLUMN(I32) = i32_from_f32,
                  COLUMN(U64) = u64_from_f32, COLUMN(I64) = i64_from_f32, COLUMN(F32) = keep,
                  COLUMN(F64) = f64_from_f32 },
  COLUMN(F64) = { COLUMN(BOOL) = bool_from_f64, COLUMN(U32) = u32_from_f64, COLUMN(I32) = i32_from_f64,
                  COLUMN(U64) = u64_from_f64, COLUMN(I64) = i64_from_f64, COLUMN(F32) = f32_from_f64,
                  COLUMN(F64) = keep },
};

cpu_op cpu_cast_find(vyre_type from, vyre_type to) {
  switch (to) {
    case VYRE_TYPE_U8: return u8_of;
    case VYRE_TYPE_U16: return u16_of;
    case VYRE_TYPE_I8: return i8_of;
    case VYRE_TYPE_I16: return i16_of;
    case VYRE_TYPE_F16: return f16_of;
    case VYRE_TYPE_BF16: return bf16_of;
    default: return casts[from - FIRST][to - FIRST];
  }
}

uint64_t cpu_op_largest(vyre_type type) {
  switch (type) {
    case VYRE_TYPE_U32: return UINT32_MAX;
    case VYRE_TYPE_I32: return INT32_MAX;
    case VYRE_TYPE_U64: return UINT64_MAX;
    case VYRE_TYPE_I64: return INT64_MAX;
    case VYRE_TYPE_F32: return b32(INFINITY);
    default: return b64(INFINITY);
  }
}

uint64_t cpu_op_smallest(vyre_type type) {
  switch (type) {
    case VYRE_TYPE_I32: return (uint32_t)INT32_MIN;
    case VYRE_TYPE_I64: return (uint64_t)INT64_MIN;
    case VYRE_TYPE_F32: return b32(-INFINITY);
    case VYRE_TYPE_F64: return b64(-INFINITY);
    default: return 0;
  }
}
