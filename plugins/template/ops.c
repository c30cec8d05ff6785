/* One function for every opcode and type: plain C, since the form's opcodes are total and so are these. Build it without
 * contraction (-ffp-contract=off), so that every float operation rounds for itself. An arithmetic NaN is the quiet one
 * without sign. */
#include "ops.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

/* A function named |name| of the operands a, b and c. */
#define OP(name, value)                                      \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c) { \
    (void)a, (void)b, (void)c;                               \
    return (value);                                          \
  }

static float single(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return value;
}

static uint64_t single_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return isnan(value) ? 0x7FC00000u : bits;
}

static double twice(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t twice_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return isnan(value) ? 0x7FF8000000000000u : bits;
}

/* ---- Integers: N bits, unsigned as U and signed as S ----------------------------------------- */

static uint64_t reverse(uint64_t x, unsigned bits) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; i++) result |= (x >> i & 1) << (bits - 1 - i);
  return result;
}

#define INTEGERS(N, U, S, W, SW)                                                     \
  OP(add##N, (U)(a + b))                                                             \
  OP(sub##N, (U)(a - b))                                                             \
  OP(mul##N, (U)(a * b))                                                             \
  OP(neg##N, (U)(0 - a))                                                             \
  OP(not##N, (U)~a)                                                                  \
  OP(shl##N, (U)((U)a << (b & (N - 1))))                                             \
  OP(rotl##N, (U)((U)a << (b & (N - 1)) | (U)a >> ((0 - b) & (N - 1))))              \
  OP(rotr##N, (U)((U)a >> (b & (N - 1)) | (U)a << ((0 - b) & (N - 1))))              \
  OP(clz##N, a == 0 ? N : (uint64_t)__builtin_clzll(a) - (64 - N))                   \
  OP(ctz##N, a == 0 ? N : (uint64_t)__builtin_ctzll(a))                              \
  OP(reverse##N, reverse(a, N))                                                      \
  OP(udiv##N, b == 0 ? (U)-1 : (U)a / (U)b)                                          \
  OP(urem##N, b == 0 ? 0 : (U)a % (U)b)                                              \
  OP(umulhi##N, (U)((W)(U)a * (U)b >> N))                                            \
  OP(ushr##N, (U)a >> (b & (N - 1)))                                                 \
  OP(sdiv##N, b == 0 ? 0 : (S)b == -1 ? (U)(0 - a) : (U)((S)a / (S)b))               \
  OP(srem##N, b == 0 || (S)b == -1 ? 0 : (U)((S)a % (S)b))                           \
  OP(smulhi##N, (U)((SW)(S)a * (S)b >> N))                                           \
  OP(sshr##N, (U)((S)a >> (b & (N - 1))))                                            \
  OP(smin##N, (S)a < (S)b ? a : b)                                                   \
  OP(smax##N, (S)a > (S)b ? a : b)                                                   \
  OP(sabs##N, (S)a < 0 ? (U)(0 - a) : a)                                             \
  OP(slt##N, (S)a < (S)b)                                                            \
  OP(sle##N, (S)a <= (S)b)

INTEGERS(32, uint32_t, int32_t, uint64_t, int64_t)
INTEGERS(64, uint64_t, int64_t, wide, signed_wide)

OP(and_bits, a &b)
OP(or_bits, a | b)
OP(xor_bits, a ^ b)
OP(not_bool, a ^ 1)
OP(popcount, (uint64_t)__builtin_popcountll(a))
OP(umin, a < b ? a : b)
OP(umax, a > b ? a : b)
OP(eq_bits, a == b)
OP(ne_bits, a != b)
OP(ult, a < b)
OP(ule, a <= b)

/* ---- Floats: V reads bits, B gives them, F is the suffix of the C library, SIGN the sign bit -- */

/* A number wins over a NaN; of two zeros the one with the sign is smaller. */
#define FLOATS(T, V, B, F, SIGN)                                                             \
  OP(add_##T, B(V(a) + V(b)))                                                                \
  OP(sub_##T, B(V(a) - V(b)))                                                                \
  OP(mul_##T, B(V(a) * V(b)))                                                                \
  OP(div_##T, B(V(a) / V(b)))                                                                \
  OP(fma_##T, B(fma##F(V(a), V(b), V(c))))                                                   \
  OP(min_##T, isnan(V(a)) ? B(V(b)) : V(b) < V(a) || (V(a) == V(b) && (b & SIGN)) ? b : a)   \
  OP(max_##T, isnan(V(a)) ? B(V(b)) : V(b) > V(a) || (V(a) == V(b) && (a & SIGN)) ? b : a)   \
  OP(neg_##T, a ^ SIGN)                                                                      \
  OP(abs_##T, a & ~(uint64_t)SIGN)                                                           \
  OP(eq_##T, V(a) == V(b))                                                                   \
  OP(ne_##T, V(a) != V(b))                                                                   \
  OP(lt_##T, V(a) < V(b))                                                                    \
  OP(le_##T, V(a) <= V(b))                                                                   \
  OP(sqrt_##T, B(sqrt##F(V(a))))                                                             \
  OP(floor_##T, B(floor##F(V(a))))                                                           \
  OP(ceil_##T, B(ceil##F(V(a))))                                                             \
  OP(round_##T, B(nearbyint##F(V(a))))                                                       \
  OP(trunc_##T, B(trunc##F(V(a))))

FLOATS(f32, single, single_bits, f, 0x80000000u)
FLOATS(f64, twice, twice_bits, , 0x8000000000000000u)

/* ---- Conversions ----------------------------------------------------------------------------- */

/* Truncated and clamped; NaN is 0. |limit| is 2^N or 2^(N-1), exact in a double. */
static uint64_t to_unsigned(double x, double limit, uint64_t most) {
  if (!(x > 0)) return 0;
  return x >= limit ? most : (uint64_t)x;
}

static int64_t to_signed(double x, double limit, int64_t most) {
  if (isnan(x)) return 0;
  if (x >= limit) return most;
  return x < -limit ? -most - 1 : (int64_t)x;
}

OP(keep, a)
OP(low32, (uint32_t)a)
OP(extend32, (uint64_t)(int64_t)(int32_t)a)
OP(u32_to_f32, single_bits((float)(uint32_t)a))
OP(i32_to_f32, single_bits((float)(int32_t)a))
OP(u64_to_f32, single_bits((float)a))
OP(i64_to_f32, single_bits((float)(int64_t)a))
OP(u32_to_f64, twice_bits((uint32_t)a))
OP(i32_to_f64, twice_bits((int32_t)a))
OP(u64_to_f64, twice_bits((double)a))
OP(i64_to_f64, twice_bits((double)(int64_t)a))
OP(f32_to_u32, to_unsigned(single(a), 0x1p32, UINT32_MAX))
OP(f32_to_i32, (uint32_t)to_signed(single(a), 0x1p31, INT32_MAX))
OP(f32_to_u64, to_unsigned(single(a), 0x1p64, UINT64_MAX))
OP(f32_to_i64, (uint64_t)to_signed(single(a), 0x1p63, INT64_MAX))
OP(f64_to_u32, to_unsigned(twice(a), 0x1p32, UINT32_MAX))
OP(f64_to_i32, (uint32_t)to_signed(twice(a), 0x1p31, INT32_MAX))
OP(f64_to_u64, to_unsigned(twice(a), 0x1p64, UINT64_MAX))
OP(f64_to_i64, (uint64_t)to_signed(twice(a), 0x1p63, INT64_MAX))
OP(f32_to_f64, twice_bits(single(a)))
OP(f64_to_f32, single_bits((float)twice(a)))

uint32_t op_from_f16(uint32_t half) {
  uint32_t exponent = half >> 10 & 31, fraction = half & 0x3FF;
  if (exponent == 31 && fraction != 0) return 0x7FC00000u;
  float value = exponent == 31  ? INFINITY
                : exponent == 0 ? ldexpf((float)fraction, -24)
                                : ldexpf((float)(fraction | 0x400), (int)exponent - 25);
  return (uint32_t)single_bits(half & 0x8000 ? -value : value);
}

uint32_t op_to_f16(uint32_t bits) {
  float value = fabsf(single(bits));
  uint32_t sign = bits >> 16 & 0x8000;
  if (isnan(value)) return 0x7E00;
  if (value >= 65520) return sign | 0x7C00; /* halfway between the largest and what would follow */
  if (value < 0x1p-14f) return sign | (uint32_t)nearbyintf(value * 0x1p24f);
  int exponent;
  uint32_t fraction = (uint32_t)nearbyintf(frexpf(value, &exponent) * 2048); /* 1024 to 2048 */
  return sign | (((uint32_t)(exponent + 13) << 10) + fraction);
}

uint32_t op_from_bf16(uint32_t half) {
  return (uint32_t)single_bits(single((uint64_t)half << 16 & 0xFFFF0000u));
}

uint32_t op_to_bf16(uint32_t bits) {
  if (isnan(single(bits))) return 0x7FC0;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

OP(from_f16, op_from_f16((uint32_t)a & 0xFFFF))
OP(to_f16, op_to_f16((uint32_t)a))
OP(from_bf16, op_from_bf16((uint32_t)a & 0xFFFF))
OP(to_bf16, op_to_bf16((uint32_t)a))

/* ---- Tables ---------------------------------------------------------------------------------- */

/* A row an opcode: bool, u32, i32, u64, i64, f32, f64. */
static const struct row {
  uint16_t opcode;
  op_fn fn[OP_TYPES];
} rows[] = {
  { VYRE_KERNEL_ADD, { 0, add32, add32, add64, add64, add_f32, add_f64 } },
  { VYRE_KERNEL_SUB, { 0, sub32, sub32, sub64, sub64, sub_f32, sub_f64 } },
  { VYRE_KERNEL_MUL, { 0, mul32, mul32, mul64, mul64, mul_f32, mul_f64 } },
  { VYRE_KERNEL_DIV, { 0, udiv32, sdiv32, udiv64, sdiv64, div_f32, div_f64 } },
  { VYRE_KERNEL_REM, { 0, urem32, srem32, urem64, srem64, 0, 0 } },
  { VYRE_KERNEL_MULHI, { 0, umulhi32, smulhi32, umulhi64, smulhi64, 0, 0 } },
  { VYRE_KERNEL_MIN, { 0, umin, smin32, umin, smin64, min_f32, min_f64 } },
  { VYRE_KERNEL_MAX, { 0, umax, smax32, umax, smax64, max_f32, max_f64 } },
  { VYRE_KERNEL_NEG, { 0, neg32, neg32, neg64, neg64, neg_f32, neg_f64 } },
  { VYRE_KERNEL_ABS, { 0, 0, sabs32, 0, sabs64, abs_f32, abs_f64 } },
  { VYRE_KERNEL_FMA, { 0, 0, 0, 0, 0, fma_f32, fma_f64 } },
  { VYRE_KERNEL_AND, { and_bits, and_bits, and_bits, and_bits, and_bits, 0, 0 } },
  { VYRE_KERNEL_OR, { or_bits, or_bits, or_bits, or_bits, or_bits, 0, 0 } },
  { VYRE_KERNEL_XOR, { xor_bits, xor_bits, xor_bits, xor_bits, xor_bits, 0, 0 } },
  { VYRE_KERNEL_NOT, { not_bool, not32, not32, not64, not64, 0, 0 } },
  { VYRE_KERNEL_SHL, { 0, shl32, shl32, shl64, shl64, 0, 0 } },
  { VYRE_KERNEL_SHR, { 0, ushr32, sshr32, ushr64, sshr64, 0, 0 } },
  { VYRE_KERNEL_ROTL, { 0, rotl32, rotl32, rotl64, rotl64, 0, 0 } },
  { VYRE_KERNEL_ROTR, { 0, rotr32, rotr32, rotr64, rotr64, 0, 0 } },
  { VYRE_KERNEL_POPCOUNT, { 0, popcount, popcount, popcount, popcount, 0, 0 } },
  { VYRE_KERNEL_CLZ, { 0, clz32, clz32, clz64, clz64, 0, 0 } },
  { VYRE_KERNEL_CTZ, { 0, ctz32, ctz32, ctz64, ctz64, 0, 0 } },
  { VYRE_KERNEL_REVERSE_BITS, { 0, reverse32, reverse32, reverse64, reverse64, 0, 0 } },
  { VYRE_KERNEL_EQ, { eq_bits, eq_bits, eq_bits, eq_bits, eq_bits, eq_f32, eq_f64 } },
  { VYRE_KERNEL_NE, { ne_bits, ne_bits, ne_bits, ne_bits, ne_bits, ne_f32, ne_f64 } },
  { VYRE_KERNEL_LT, { 0, ult, slt32, ult, slt64, lt_f32, lt_f64 } },
  { VYRE_KERNEL_LE, { 0, ule, sle32, ule, sle64, le_f32, le_f64 } },
  { VYRE_KERNEL_SQRT, { 0, 0, 0, 0, 0, sqrt_f32, sqrt_f64 } },
  { VYRE_KERNEL_FLOOR, { 0, 0, 0, 0, 0, floor_f32, floor_f64 } },
  { VYRE_KERNEL_CEIL, { 0, 0, 0, 0, 0, ceil_f32, ceil_f64 } },
  { VYRE_KERNEL_ROUND, { 0, 0, 0, 0, 0, round_f32, round_f64 } },
  { VYRE_KERNEL_TRUNC, { 0, 0, 0, 0, 0, trunc_f32, trunc_f64 } },
  { VYRE_KERNEL_FROM_F16, { 0, from_f16, 0, 0, 0, 0, 0 } },
  { VYRE_KERNEL_TO_F16, { 0, 0, 0, 0, 0, to_f16, 0 } },
  { VYRE_KERNEL_FROM_BF16, { 0, from_bf16, 0, 0, 0, 0, 0 } },
  { VYRE_KERNEL_TO_BF16, { 0, 0, 0, 0, 0, to_bf16, 0 } },
};

/* Total ones serve for their narrower twins. */
static const uint16_t twins[][2] = {
  { VYRE_KERNEL_DIV_RAW, VYRE_KERNEL_DIV }, { VYRE_KERNEL_REM_RAW, VYRE_KERNEL_REM },
  { VYRE_KERNEL_MIN_RAW, VYRE_KERNEL_MIN }, { VYRE_KERNEL_MAX_RAW, VYRE_KERNEL_MAX },
  { VYRE_KERNEL_SHL_RAW, VYRE_KERNEL_SHL }, { VYRE_KERNEL_SHR_RAW, VYRE_KERNEL_SHR },
  { VYRE_KERNEL_CLZ_RAW, VYRE_KERNEL_CLZ }, { VYRE_KERNEL_CTZ_RAW, VYRE_KERNEL_CTZ },
  { VYRE_KERNEL_TO_INT_RAW, VYRE_KERNEL_TO_INT },
};

/* Conversions, by source and result. */
static const op_fn to_float[OP_TYPES][OP_TYPES] = {
  [OP_U32] = { [OP_F32] = u32_to_f32, [OP_F64] = u32_to_f64 },
  [OP_I32] = { [OP_F32] = i32_to_f32, [OP_F64] = i32_to_f64 },
  [OP_U64] = { [OP_F32] = u64_to_f32, [OP_F64] = u64_to_f64 },
  [OP_I64] = { [OP_F32] = i64_to_f32, [OP_F64] = i64_to_f64 },
};
static const op_fn to_int[OP_TYPES][OP_TYPES] = {
  [OP_F32] = { [OP_U32] = f32_to_u32, [OP_I32] = f32_to_i32, [OP_U64] = f32_to_u64, [OP_I64] = f32_to_i64 },
  [OP_F64] = { [OP_U32] = f64_to_u32, [OP_I32] = f64_to_i32, [OP_U64] = f64_to_u64, [OP_I64] = f64_to_i64 },
};
static const op_fn resize[OP_TYPES][OP_TYPES] = {
  [OP_U32] = { [OP_U64] = keep },
  [OP_I32] = { [OP_I64] = extend32 },
  [OP_U64] = { [OP_U32] = low32 },
  [OP_I64] = { [OP_I32] = low32 },
};
static const op_fn refloat[OP_TYPES][OP_TYPES] = {
  [OP_F32] = { [OP_F64] = f32_to_f64 },
  [OP_F64] = { [OP_F32] = f64_to_f32 },
};

op_type op_type_of(vyre_kernel_type type) {
  switch (type.cls) {
    case VYRE_KERNEL_CLASS_BOOL: return OP_BOOL;
    case VYRE_KERNEL_CLASS_UINT: return type.bits == 32 ? OP_U32 : type.bits == 64 ? OP_U64 : OP_TYPES;
    case VYRE_KERNEL_CLASS_SINT: return type.bits == 32 ? OP_I32 : type.bits == 64 ? OP_I64 : OP_TYPES;
    case VYRE_KERNEL_CLASS_FLOAT: return type.bits == 32 ? OP_F32 : type.bits == 64 ? OP_F64 : OP_TYPES;
    default: return OP_TYPES;
  }
}

op_fn op_find(uint16_t opcode, op_type from, op_type to) {
  if (from >= OP_TYPES || to >= OP_TYPES) return NULL;
  for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
    if (twins[i][0] == opcode) opcode = twins[i][1];
  switch (opcode) {
    case VYRE_KERNEL_TO_FLOAT: return to_float[from][to];
    case VYRE_KERNEL_TO_INT: return to_int[from][to];
    case VYRE_KERNEL_RESIZE: return resize[from][to];
    case VYRE_KERNEL_REFLOAT: return refloat[from][to];
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].opcode == opcode) return rows[i].fn[from];
  return NULL;
}

uint64_t op_largest(op_type type) {
  static const uint64_t largest[OP_TYPES] = { 1, UINT32_MAX, INT32_MAX, UINT64_MAX, INT64_MAX, 0x7F800000u,
                                              0x7FF0000000000000u };
  return largest[type];
}

uint64_t op_smallest(op_type type) {
  static const uint64_t smallest[OP_TYPES] = { 0, 0, 0x80000000u, 0, 0x8000000000000000u, 0xFF800000u,
                                               0xFFF0000000000000u };
  return smallest[type];
}
