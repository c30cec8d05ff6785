/* f32 on devices that lose subnormals in some operations, or round quotients and roots more than once (SPIRV_KEEP_32,
 * SPIRV_WIDE_32), and 64-bit integers where a driver's compiler errs (SPIRV_WORDS_64). Vulkan allows the first two.
 *
 * The first are made of integer operations, which no device takes for zero. Quotients and roots go by way of f64, whose 53
 * bits are more than the 2 * 24 + 1 that make a second rounding harmless, and those of subnormals have fewer bits still.
 * So does fma where subnormals get lost.
 *
 * One compiler makes saturating operations of u64, of a sum or difference and a comparison that chooses beside it, and
 * gets high words wrong. In comparisons of words it sees none. */
#include "plugins/vulkan/spirv_emit.h"

static const uint64_t sign32 = 1u << 31, infinity32 = 0xFFu << 23, least32 = 1u << 23;

/* 2^power as bits of an f64. */
static uint64_t power64(int32_t power) { return (uint64_t)(1023 + power) << 52; }

static bool keeps(const spirv_emitter *e) {
  return (e->target->features & SPIRV_KEEP_32) != 0 && (e->kernel->flags & VYRE_KERNEL_FLUSH) == 0;
}

static uint32_t bits_of(spirv_emitter *e, uint32_t x) { return spirv_value(&e->m, SpvOpBitcast, T_U32, x); }

static uint32_t magnitude(spirv_emitter *e, uint32_t bits) {
  return spirv_value(&e->m, SpvOpBitwiseAnd, T_U32, bits, spirv_u32(&e->m, (uint32_t)sign32 - 1));
}

static uint32_t is_below(spirv_emitter *e, uint32_t word, uint64_t limit) {
  return spirv_value(&e->m, SpvOpULessThan, T_BOOL, word, spirv_u32(&e->m, (uint32_t)limit));
}

/* All ones where the sign is set. */
static uint32_t sign_mask(spirv_emitter *e, uint32_t bits) {
  return spirv_value(&e->m, SpvOpShiftRightArithmetic, T_U32, bits, spirv_u32(&e->m, 31));
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Integers in the order of the numbers, with one zero. */
static uint32_t rank_of(spirv_emitter *e, uint32_t bits, uint32_t size) {
  uint32_t mask = sign_mask(e, bits), flipped = spirv_value(&e->m, SpvOpBitwiseXor, T_U32, size, mask);
  return spirv_value(&e->m, SpvOpISub, T_U32, flipped, mask);
}

/* A flush changes no comparison but that of two numbers which are both smaller than all normal ones. */
static uint32_t compare(spirv_emitter *e, uint16_t op, uint32_t x, uint32_t y) {
  static const struct { SpvOp small, others; } ops[4] = {
    [VYRE_KERNEL_EQ - VYRE_KERNEL_EQ] = { SpvOpIEqual, SpvOpFOrdEqual },
    [VYRE_KERNEL_NE - VYRE_KERNEL_EQ] = { SpvOpINotEqual, SpvOpFUnordNotEqual },
    [VYRE_KERNEL_LT - VYRE_KERNEL_EQ] = { SpvOpSLessThan, SpvOpFOrdLessThan },
    [VYRE_KERNEL_LE - VYRE_KERNEL_EQ] = { SpvOpSLessThanEqual, SpvOpFOrdLessThanEqual },
  };
  spirv_module *m = &e->m;
  const SpvOp small = ops[op - VYRE_KERNEL_EQ].small, others = ops[op - VYRE_KERNEL_EQ].others;
  uint32_t a = bits_of(e, x), b = bits_of(e, y), a_size = magnitude(e, a), b_size = magnitude(e, b);
  uint32_t are_small = is_below(e, spirv_value(m, SpvOpBitwiseOr, T_U32, a_size, b_size), least32);
  uint32_t by_rank = spirv_value(m, small, T_BOOL, rank_of(e, a, a_size), rank_of(e, b, b_size));
  uint32_t by_number = spirv_value(m, others, T_BOOL, x, y);
  return spirv_value(m, SpvOpSelect, T_BOOL, are_small, by_rank, by_number);
}

/* Integers in the order of the numbers, -0 before +0; done twice it gives the bits again. */
static uint32_t key_of(spirv_emitter *e, uint32_t bits) {
  return spirv_value(&e->m, SpvOpBitwiseXor, T_U32, bits, magnitude(e, sign_mask(e, bits)));
}

static uint32_t is_nan(spirv_emitter *e, uint32_t bits) {
  return spirv_value(&e->m, SpvOpUGreaterThan, T_BOOL, magnitude(e, bits), spirv_u32(&e->m, (uint32_t)infinity32));
}

/* Of a NaN and a number it is the number. */
static uint32_t choose(spirv_emitter *e, uint16_t op, uint32_t x, uint32_t y) {
  spirv_module *m = &e->m;
  const uint32_t choice = op == VYRE_KERNEL_MIN ? GLSLstd450SMin : GLSLstd450SMax;
  uint32_t a = bits_of(e, x), b = bits_of(e, y);
  uint32_t key_a = key_of(e, a), key_b = key_of(e, b);
  uint32_t chosen = key_of(e, spirv_glsl(m, choice, T_U32, key_a, key_b));
  chosen = spirv_value(m, SpvOpSelect, T_U32, is_nan(e, b), a, chosen);
  chosen = spirv_value(m, SpvOpSelect, T_U32, is_nan(e, a), b, chosen);
  return spirv_value(m, SpvOpBitcast, T_F32, chosen);
}

/* A subnormal rounds up or down like a half and more of the same sign. */
static uint32_t round_away(spirv_emitter *e, uint16_t op, uint32_t x) {
  spirv_module *m = &e->m;
  uint32_t bits = bits_of(e, x), one = spirv_u32(m, 1);
  uint32_t less = spirv_value(m, SpvOpISub, T_U32, magnitude(e, bits), one); /* all ones for 0 */
  uint32_t lifted = spirv_value(m, SpvOpBitwiseOr, T_U32, bits, spirv_u32(m, 0x3F000000));
  uint32_t number = spirv_value(m, SpvOpSelect, T_U32, is_below(e, less, least32 - 1), lifted, bits);
  return spirv_glsl(m, op == VYRE_KERNEL_FLOOR ? GLSLstd450Floor : GLSLstd450Ceil, T_F32,
                    spirv_value(m, SpvOpBitcast, T_F32, number));
}

/* ---- Conversion ------------------------------------------------------------------------------ */

static uint32_t widen(spirv_emitter *e, uint32_t x) {
  spirv_module *m = &e->m;
  uint32_t number = spirv_value(m, SpvOpFConvert, T_F64, x);
  if (!keeps(e)) return number;
  uint32_t bits = bits_of(e, x), size = magnitude(e, bits), zero = spirv_u32(m, 0);
  uint32_t is_negative = spirv_value(m, SpvOpSLessThan, T_BOOL, bits, zero);
  uint32_t down = spirv_constant(m, T_F64, power64(-149) | 1ull << 63), up = spirv_constant(m, T_F64, power64(-149));
  uint32_t unit = spirv_value(m, SpvOpSelect, T_F64, is_negative, down, up);
  uint32_t count = spirv_value(m, SpvOpConvertUToF, T_F64, size);
  uint32_t small = spirv_kept_apart(e, spirv_value(m, SpvOpFMul, T_F64, count, unit));
  return spirv_value(m, SpvOpSelect, T_F64, is_below(e, size, least32), small, number);
}

/* A number below all normal ones is rounded by a sum whose last bit counts 2^-149. */
static uint32_t narrow(spirv_emitter *e, uint32_t x) {
  spirv_module *m = &e->m;
  uint32_t number = spirv_value(m, SpvOpFConvert, T_F32, x);
  if (!keeps(e)) return number;
  uint32_t bits = spirv_value(m, SpvOpBitcast, T_U64, x);
  uint32_t size = spirv_value(m, SpvOpBitwiseAnd, T_U64, bits, spirv_constant(m, T_U64, INT64_MAX));
  uint32_t is_small = spirv_value(m, SpvOpULessThan, T_BOOL, size, spirv_constant(m, T_U64, power64(-126)));
  uint32_t positive = spirv_value(m, SpvOpBitcast, T_F64, size);
  uint32_t sum = spirv_value(m, SpvOpFAdd, T_F64, positive, spirv_constant(m, T_F64, power64(52 - 149)));
  uint32_t count = spirv_value(m, SpvOpUConvert, T_U32, spirv_value(m, SpvOpBitcast, T_U64, spirv_kept_apart(e, sum)));
  uint32_t high = spirv_value(m, SpvOpShiftRightLogical, T_U64, bits, spirv_u32(m, 32));
  uint32_t sign = spirv_value(m, SpvOpBitwiseAnd, T_U32, spirv_value(m, SpvOpUConvert, T_U32, high),
                              spirv_u32(m, (uint32_t)sign32));
  uint32_t small = spirv_value(m, SpvOpBitwiseOr, T_U32, count, sign);
  uint32_t chosen = spirv_value(m, SpvOpSelect, T_U32, is_small, small, bits_of(e, number));
  return spirv_value(m, SpvOpBitcast, T_F32, chosen);
}

/* ---- Quotients and roots --------------------------------------------------------------------- */

static uint32_t quotient(spirv_emitter *e, uint32_t x, uint32_t y) {
  uint32_t a = widen(e, x), b = widen(e, y);
  e->has_f64 = true;
  return narrow(e, spirv_kept_apart(e, spirv_value(&e->m, SpvOpFDiv, T_F64, a, b)));
}

static uint32_t root(spirv_emitter *e, uint32_t x) {
  e->has_f64 = true;
  return narrow(e, spirv_glsl(&e->m, GLSLstd450Sqrt, T_F64, widen(e, x)));
}

/* ---- Product and sum ------------------------------------------------------------------------- */

static uint32_t of_f64(spirv_emitter *e, SpvOp op, uint32_t x, uint32_t y) {
  return spirv_kept_apart(e, spirv_value(&e->m, op, T_F64, x, y));
}

/* What a sum of f64 lost by its rounding, exactly; a NaN if anything is not finite. */
static uint32_t lost(spirv_emitter *e, uint32_t x, uint32_t y, uint32_t sum) {
  uint32_t of_y = of_f64(e, SpvOpFSub, sum, x);
  uint32_t of_x = of_f64(e, SpvOpFSub, sum, of_y);
  uint32_t from_x = of_f64(e, SpvOpFSub, x, of_x), from_y = of_f64(e, SpvOpFSub, y, of_y);
  return of_f64(e, SpvOpFAdd, from_x, from_y);
}

/* The product is exact in f64 and the sum is rounded to odd, as libvyre/lower/expand_fma.c explains. */
static uint32_t product_sum(spirv_emitter *e, uint32_t x, uint32_t y, uint32_t z) {
  spirv_module *m = &e->m;
  e->has_f64 = true;
  uint32_t a = widen(e, x), b = widen(e, y), c = widen(e, z);
  uint32_t product = of_f64(e, SpvOpFMul, a, b), sum = of_f64(e, SpvOpFAdd, product, c);
  uint32_t error = lost(e, product, c, sum);
  uint32_t zero = spirv_constant(m, T_F64, 0), one = spirv_constant(m, T_U64, 1), none = spirv_constant(m, T_U64, 0);
  uint32_t bits = spirv_value(m, SpvOpBitcast, T_U64, sum);
  uint32_t is_above = spirv_value(m, SpvOpFOrdGreaterThan, T_BOOL, error, zero);
  uint32_t is_positive = spirv_value(m, SpvOpFOrdGreaterThan, T_BOOL, sum, zero);
  uint32_t goes_out = spirv_value(m, SpvOpLogicalEqual, T_BOOL, is_above, is_positive);
  uint32_t out = spirv_value(m, SpvOpIAdd, T_U64, bits, one), in = spirv_value(m, SpvOpISub, T_U64, bits, one);
  uint32_t next = spirv_value(m, SpvOpSelect, T_U64, goes_out, out, in);
  uint32_t is_off = spirv_value(m, SpvOpLogicalOr, T_BOOL, is_above,
                                spirv_value(m, SpvOpFOrdLessThan, T_BOOL, error, zero));
  uint32_t last = spirv_value(m, SpvOpBitwiseAnd, T_U64, bits, one);
  uint32_t is_even = spirv_value(m, SpvOpIEqual, T_BOOL, last, none);
  uint32_t moves = spirv_value(m, SpvOpLogicalAnd, T_BOOL, is_off, is_even);
  uint32_t odd = spirv_value(m, SpvOpSelect, T_U64, moves, next, bits);
  return narrow(e, spirv_value(m, SpvOpBitcast, T_F64, odd));
}

/* ---- Integers of 64 bits --------------------------------------------------------------------- */

static uint32_t word_of(spirv_emitter *e, uint32_t pair, uint32_t i) {
  return spirv_value(&e->m, SpvOpCompositeExtract, T_U32, pair, i);
}

/* The high words decide unless they are equal; only they have a sign. 0 for what is no order of such integers. */
static uint32_t compare_words(spirv_emitter *e, const vyre_kernel_insn *in, vyre_kernel_type type) {
  spirv_module *m = &e->m;
  const bool is_strict = in->op == VYRE_KERNEL_LT;
  if ((e->target->features & SPIRV_WORDS_64) == 0 || type.bits != 64) return 0;
  if (!is_strict && in->op != VYRE_KERNEL_LE) return 0;
  const SpvOp high = type.cls == VYRE_KERNEL_CLASS_SINT ? SpvOpSLessThan : SpvOpULessThan;
  const SpvOp low = is_strict ? SpvOpULessThan : SpvOpULessThanEqual;
  uint32_t x = spirv_use(e, in->arg[0]), y = spirv_use(e, in->arg[1]);
  uint32_t a = spirv_value(m, SpvOpBitcast, T_U32X2, x), b = spirv_value(m, SpvOpBitcast, T_U32X2, y);
  uint32_t low_a = word_of(e, a, 0), low_b = word_of(e, b, 0);
  uint32_t high_a = word_of(e, a, 1), high_b = word_of(e, b, 1);
  uint32_t are_equal = spirv_value(m, SpvOpIEqual, T_BOOL, high_a, high_b);
  uint32_t by_low = spirv_value(m, low, T_BOOL, low_a, low_b);
  uint32_t by_high = spirv_value(m, high, T_BOOL, high_a, high_b);
  return spirv_select(m, T_BOOL, are_equal, by_low, by_high);
}

/* ---- The operators --------------------------------------------------------------------------- */

static uint32_t of_lane(spirv_emitter *e, uint16_t op, const uint32_t *x) {
  switch (op) {
    case VYRE_KERNEL_DIV: return quotient(e, x[0], x[1]);
    case VYRE_KERNEL_FMA: return product_sum(e, x[0], x[1], x[2]);
    case VYRE_KERNEL_SQRT: return root(e, x[0]);
    case VYRE_KERNEL_FLOOR:
    case VYRE_KERNEL_CEIL: return round_away(e, op, x[0]);
    case VYRE_KERNEL_MIN:
    case VYRE_KERNEL_MAX: return choose(e, op, x[0], x[1]);
    case VYRE_KERNEL_REFLOAT: return widen(e, x[0]);
    default: return compare(e, op, x[0], x[1]);
  }
}

static uint32_t operand_count(uint16_t op) {
  switch (op) {
    case VYRE_KERNEL_SQRT:
    case VYRE_KERNEL_FLOOR:
    case VYRE_KERNEL_CEIL:
    case VYRE_KERNEL_REFLOAT: return 1;
    case VYRE_KERNEL_FMA: return 3;
    default: return 2;
  }
}

static bool is_needed(const spirv_emitter *e, uint16_t op) {
  switch (op) {
    case VYRE_KERNEL_DIV:
    case VYRE_KERNEL_SQRT: return (e->target->features & SPIRV_WIDE_32) != 0;
    case VYRE_KERNEL_FMA: return keeps(e) && (e->target->features & SPIRV_WIDE_32) != 0;
    case VYRE_KERNEL_FLOOR:
    case VYRE_KERNEL_CEIL:
    case VYRE_KERNEL_MIN:
    case VYRE_KERNEL_MAX:
    case VYRE_KERNEL_EQ:
    case VYRE_KERNEL_NE:
    case VYRE_KERNEL_LT:
    case VYRE_KERNEL_LE:
    case VYRE_KERNEL_REFLOAT: return keeps(e);
    default: return false;
  }
}

uint32_t spirv_exact(spirv_emitter *e, const vyre_kernel_insn *in) {
  spirv_module *m = &e->m;
  const vyre_kernel_type from = spirv_value_type(e, in->arg[0]);
  const uint32_t count = operand_count(in->op);
  uint32_t x[3] = { 0, 0, 0 }, lanes[4];
  if (from.cls != VYRE_KERNEL_CLASS_FLOAT) return compare_words(e, in, from);
  if (!is_needed(e, in->op)) return 0;
  for (uint32_t k = 0; k < count; k++) x[k] = spirv_use(e, in->arg[k]);
  if (from.bits == 64) return in->op == VYRE_KERNEL_REFLOAT ? narrow(e, x[0]) : 0;
  if (from.lanes == 1) return of_lane(e, in->op, x);
  for (uint32_t i = 0; i < from.lanes; i++) {
    uint32_t lane[3];
    for (uint32_t k = 0; k < count; k++) lane[k] = spirv_value(m, SpvOpCompositeExtract, T_F32, x[k], i);
    lanes[i] = of_lane(e, in->op, lane);
  }
  return spirv_value_words(m, SpvOpCompositeConstruct, spirv_type_id(m, spirv_type_of(from)), lanes, from.lanes);
}
