/* Float arithmetic with a literal zero, by the bits of the other operand. Some drivers take x + 0 for x, x * 0 and x / 0 for
 * 0, whatever they were asked to preserve, and so lose the signs of zeros, NaNs and infinities; what is made of integers
 * they leave alone. */
#include "plugins/vulkan/spirv_emit.h"

typedef struct shape {
  spirv_type type, bits;
  uint64_t sign, infinity;
} shape;

static shape shape_of(spirv_type type) {
  if (type == T_F64) return (shape){ T_F64, T_U64, 1ull << 63, 0x7FFull << 52 };
  return (shape){ T_F32, T_U32, 1u << 31, 0xFFull << 23 };
}

/* Whether a value is a literal zero. */
static bool is_zero(const spirv_emitter *e, const shape *s, uint32_t value, bool *is_negative) {
  if (value == 0 || value > e->kernel->constants.count) return false;
  uint64_t bits = VYRE_KERNEL_AT(vyre_kernel_constant, e->kernel, constants, value - 1)->bits;
  *is_negative = bits == s->sign;
  return bits == 0 || bits == s->sign;
}

static uint32_t flipped(spirv_emitter *e, const shape *s, uint32_t bits) {
  return spirv_value(&e->m, SpvOpBitwiseXor, s->bits, bits, spirv_constant(&e->m, s->bits, s->sign));
}

/* x + 0 is x, but that -0 becomes +0; x + -0 is x. */
static uint32_t sum(spirv_emitter *e, const shape *s, uint32_t bits, bool is_negative) {
  spirv_module *m = &e->m;
  if (is_negative) return bits;
  uint32_t is_lost = spirv_value(m, SpvOpIEqual, T_BOOL, bits, spirv_constant(m, s->bits, s->sign));
  return spirv_value(m, SpvOpSelect, s->bits, is_lost, spirv_constant(m, s->bits, 0), bits);
}

/* A zero with both signs multiplied where |is_number|, else a NaN. */
static uint32_t zero_or_nan(spirv_emitter *e, const shape *s, uint32_t bits, bool is_negative, uint32_t is_number) {
  spirv_module *m = &e->m;
  if (is_negative) bits = flipped(e, s, bits);
  uint32_t zero = spirv_value(m, SpvOpBitwiseAnd, s->bits, bits, spirv_constant(m, s->bits, s->sign));
  return spirv_value(m, SpvOpSelect, s->bits, is_number, zero, spirv_constant(m, s->bits, s->infinity | s->infinity >> 1));
}

static uint32_t magnitude(spirv_emitter *e, const shape *s, uint32_t bits) {
  return spirv_value(&e->m, SpvOpBitwiseAnd, s->bits, bits, spirv_constant(&e->m, s->bits, s->sign - 1));
}

static uint32_t product(spirv_emitter *e, const shape *s, uint32_t bits, bool is_negative) {
  uint32_t infinity = spirv_constant(&e->m, s->bits, s->infinity);
  uint32_t is_finite = spirv_value(&e->m, SpvOpULessThan, T_BOOL, magnitude(e, s, bits), infinity);
  return zero_or_nan(e, s, bits, is_negative, is_finite);
}

/* Quotients of x and 0 are NaNs where x is 0 or a NaN. The magnitude less one is all ones for 0. */
static uint32_t has_quotient(spirv_emitter *e, const shape *s, uint32_t bits) {
  spirv_module *m = &e->m;
  uint32_t one = spirv_constant(m, s->bits, 1), less = spirv_value(m, SpvOpISub, s->bits, magnitude(e, s, bits), one);
  return spirv_value(m, SpvOpULessThan, T_BOOL, less, spirv_constant(m, s->bits, s->infinity));
}

/* x / 0 is an infinity, 0 / x is a zero: the one has the bits of the other and of the exponent. */
static uint32_t quotient(spirv_emitter *e, const shape *s, uint32_t bits, bool is_negative, bool is_divided) {
  uint32_t result = zero_or_nan(e, s, bits, is_negative, has_quotient(e, s, bits));
  if (is_divided) return result;
  return spirv_value(&e->m, SpvOpBitwiseOr, s->bits, result, spirv_constant(&e->m, s->bits, s->infinity));
}

uint32_t spirv_with_zero(spirv_emitter *e, const vyre_kernel_insn *in) {
  spirv_module *m = &e->m;
  const spirv_type type = spirv_type_of(spirv_value_type(e, in->arg[0]));
  if (type != T_F32 && (type != T_F64 || (e->target->features & SPIRV_INT64) == 0)) return 0;
  const shape s = shape_of(type);
  bool is_negative = false, is_first = is_zero(e, &s, in->arg[0], &is_negative);
  if (!is_first && !is_zero(e, &s, in->arg[1], &is_negative)) return 0;
  uint32_t bits = spirv_value(m, SpvOpBitcast, s.bits, spirv_use(e, in->arg[is_first ? 1 : 0]));
  switch (in->op) {
    case VYRE_KERNEL_ADD: bits = sum(e, &s, bits, is_negative); break;
    case VYRE_KERNEL_SUB:
      if (is_first) bits = flipped(e, &s, bits);
      bits = sum(e, &s, bits, is_negative == is_first);
      break;
    case VYRE_KERNEL_MUL: bits = product(e, &s, bits, is_negative); break;
    default: bits = quotient(e, &s, bits, is_negative, is_first); break;
  }
  return spirv_value(m, SpvOpBitcast, type, bits);
}
