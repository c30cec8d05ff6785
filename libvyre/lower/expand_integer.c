/* Integer opcodes by simpler ones. */
#include "lower/expand.h"

#define op1(c, op, x) lower_op1(c, op, x)
#define op2(c, op, x, y) lower_op2(c, op, x, y)
static uint32_t width_of(vyre_type type) { return form_bytes(form_component(type)) * 8; }
static vyre_type unsigned_of(vyre_type type) { return form_bytes(type) == 8 ? VYRE_TYPE_U64 : VYRE_TYPE_U32; }

/* ---- Division -------------------------------------------------------------------------------- */

/* Whether facts say that a divisor is not 0 (unsigned), or a constant that is neither 0 nor -1. */
static bool is_harmless(const lower_code *c, lower_value divisor, vyre_type type) {
  uint64_t bits, minus_one = width_of(type) == 64 ? UINT64_MAX : UINT32_MAX;
  if (form_is_unsigned(type)) return lower_info_of(c, divisor)->least > 0;
  return lower_constant_bits(c, divisor, &bits) && bits != 0 && bits != minus_one;
}

lower_value expand_div_unsigned(lower_code *c, const lower_request *r) {
  lower_value x = r->arg[0], y = r->arg[1];
  if (is_harmless(c, y, r->result)) return op2(c, VYRE_KERNEL_DIV_RAW, x, y);
  lower_value zero = lower_number(c, r->result, 0), one = lower_number(c, r->result, 1);
  lower_value by_zero = op2(c, VYRE_KERNEL_EQ, y, zero);
  lower_value quotient = op2(c, VYRE_KERNEL_DIV_RAW, x, lower_select(c, by_zero, one, y));
  return lower_select(c, by_zero, lower_number(c, r->result, UINT64_MAX), quotient);
}

/* Whether the pair has no quotient: a divisor of 0, or MIN and -1. */
static lower_value has_none(lower_code *c, vyre_type type, lower_value x, lower_value y, lower_value *by_zero) {
  *by_zero = op2(c, VYRE_KERNEL_EQ, y, lower_number(c, type, 0));
  if (form_is_unsigned(type)) return *by_zero;
  uint64_t least = 1ull << (width_of(type) - 1);
  lower_value overflows = op2(c, VYRE_KERNEL_AND, op2(c, VYRE_KERNEL_EQ, x, lower_number(c, type, least)),
                              op2(c, VYRE_KERNEL_EQ, y, lower_number(c, type, UINT64_MAX)));
  return op2(c, VYRE_KERNEL_OR, *by_zero, overflows);
}

/* MIN / -1 is MIN / 1, so only a zero divisor needs a choice of its own. */
lower_value expand_div_signed(lower_code *c, const lower_request *r) {
  lower_value x = r->arg[0], y = r->arg[1], by_zero;
  if (is_harmless(c, y, r->result)) return op2(c, VYRE_KERNEL_DIV_RAW, x, y);
  lower_value bad = has_none(c, r->result, x, y, &by_zero);
  lower_value divisor = lower_select(c, bad, lower_number(c, r->result, 1), y);
  lower_value quotient = op2(c, VYRE_KERNEL_DIV_RAW, x, divisor);
  return lower_select(c, by_zero, lower_number(c, r->result, 0), quotient);
}

/* A remainder by 1 is 0, which is what both exceptions want. */
lower_value expand_rem(lower_code *c, const lower_request *r) {
  lower_value x = r->arg[0], y = r->arg[1], by_zero;
  if (is_harmless(c, y, r->result)) return op2(c, VYRE_KERNEL_REM_RAW, x, y);
  lower_value bad = has_none(c, r->result, x, y, &by_zero);
  return op2(c, VYRE_KERNEL_REM_RAW, x, lower_select(c, bad, lower_number(c, r->result, 1), y));
}

/* x - x / y * y, whose quotient is total; a divisor of 0 is replaced by 1. */
lower_value expand_rem_by_div(lower_code *c, const lower_request *r) {
  lower_value x = r->arg[0], y = r->arg[1];
  if (!is_harmless(c, y, r->result)) {
    lower_value by_zero = op2(c, VYRE_KERNEL_EQ, y, lower_number(c, r->result, 0));
    y = lower_select(c, by_zero, lower_number(c, r->result, 1), y);
  }
  return op2(c, VYRE_KERNEL_SUB, x, op2(c, VYRE_KERNEL_MUL, op2(c, VYRE_KERNEL_DIV, x, y), y));
}

/* ---- Products -------------------------------------------------------------------------------- */

lower_value expand_mulhi_wide(lower_code *c, const lower_request *r) {
  lower_value x = op1(c, VYRE_KERNEL_RESIZE, r->arg[0]), y = op1(c, VYRE_KERNEL_RESIZE, r->arg[1]);
  return op1(c, VYRE_KERNEL_RESIZE, op2(c, VYRE_KERNEL_SHR, op2(c, VYRE_KERNEL_MUL, x, y), lower_u32(c, 32)));
}

/* Both as high * 2^h + low with h half the width: no sum of the middle parts overflows. */
lower_value expand_mulhi_pieces(lower_code *c, const lower_request *r) {
  uint32_t half = width_of(r->result) / 2;
  lower_value h = lower_u32(c, half), mask = lower_number(c, r->result, (1ull << half) - 1);
  lower_value xl = op2(c, VYRE_KERNEL_AND, r->arg[0], mask), xh = op2(c, VYRE_KERNEL_SHR, r->arg[0], h);
  lower_value yl = op2(c, VYRE_KERNEL_AND, r->arg[1], mask), yh = op2(c, VYRE_KERNEL_SHR, r->arg[1], h);
  lower_value lh = op2(c, VYRE_KERNEL_MUL, xl, yh), hl = op2(c, VYRE_KERNEL_MUL, xh, yl);
  lower_value middle = op2(c, VYRE_KERNEL_SHR, op2(c, VYRE_KERNEL_MUL, xl, yl), h);
  middle = op2(c, VYRE_KERNEL_ADD, middle, op2(c, VYRE_KERNEL_AND, lh, mask));
  middle = op2(c, VYRE_KERNEL_ADD, middle, op2(c, VYRE_KERNEL_AND, hl, mask));
  lower_value high = op2(c, VYRE_KERNEL_ADD, op2(c, VYRE_KERNEL_MUL, xh, yh), op2(c, VYRE_KERNEL_SHR, lh, h));
  high = op2(c, VYRE_KERNEL_ADD, high, op2(c, VYRE_KERNEL_SHR, hl, h));
  return op2(c, VYRE_KERNEL_ADD, high, op2(c, VYRE_KERNEL_SHR, middle, h));
}

/* The unsigned one, less each factor where the other is negative (modulo 2^width). */
lower_value expand_mulhi_signed(lower_code *c, const lower_request *r) {
  vyre_type type = unsigned_of(r->result);
  lower_value zero = lower_number(c, r->result, 0), none = lower_number(c, type, 0);
  lower_value x = lower_convert(c, VYRE_KERNEL_BITCAST, type, r->arg[0]);
  lower_value y = lower_convert(c, VYRE_KERNEL_BITCAST, type, r->arg[1]);
  lower_value high = op2(c, VYRE_KERNEL_MULHI, x, y);
  high = op2(c, VYRE_KERNEL_SUB, high, lower_select(c, op2(c, VYRE_KERNEL_LT, r->arg[0], zero), y, none));
  high = op2(c, VYRE_KERNEL_SUB, high, lower_select(c, op2(c, VYRE_KERNEL_LT, r->arg[1], zero), x, none));
  return lower_convert(c, VYRE_KERNEL_BITCAST, r->result, high);
}

/* ---- Choice ---------------------------------------------------------------------------------- */

lower_value expand_choose(lower_code *c, const lower_request *r) {
  lower_value x = r->arg[0], y = r->arg[1];
  lower_value less = r->op == VYRE_KERNEL_MIN ? op2(c, VYRE_KERNEL_LT, x, y) : op2(c, VYRE_KERNEL_LT, y, x);
  return lower_select(c, less, x, y);
}

lower_value expand_neg_integer(lower_code *c, const lower_request *r) {
  return op2(c, VYRE_KERNEL_SUB, lower_number(c, r->result, 0), r->arg[0]);
}

lower_value expand_abs_integer(lower_code *c, const lower_request *r) {
  return op2(c, VYRE_KERNEL_MAX, r->arg[0], op1(c, VYRE_KERNEL_NEG, r->arg[0]));
}

lower_value expand_not_equal(lower_code *c, const lower_request *r) {
  return op1(c, VYRE_KERNEL_NOT, op2(c, VYRE_KERNEL_EQ, r->arg[0], r->arg[1]));
}

lower_value expand_not_above(lower_code *c, const lower_request *r) {
  return op1(c, VYRE_KERNEL_NOT, op2(c, VYRE_KERNEL_LT, r->arg[1], r->arg[0]));
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* A count below the width of |type|; a mask only where facts do not say so. */
static lower_value masked_count(lower_code *c, vyre_type type, lower_value count) {
  uint32_t width = width_of(type);
  if (lower_info_of(c, count)->most < width) return count;
  return op2(c, VYRE_KERNEL_AND, count, lower_u32(c, width - 1));
}

lower_value expand_shift(lower_code *c, const lower_request *r) {
  uint32_t raw = r->op == VYRE_KERNEL_SHL ? VYRE_KERNEL_SHL_RAW : VYRE_KERNEL_SHR_RAW;
  return op2(c, raw, r->arg[0], masked_count(c, r->result, r->arg[1]));
}

/* Shifts take their count modulo the width, so that the other count may be the negative one. */
lower_value expand_rotate(lower_code *c, const lower_request *r) {
  vyre_type type = unsigned_of(r->result);
  lower_value x = lower_convert(c, VYRE_KERNEL_BITCAST, type, r->arg[0]), n = r->arg[1];
  lower_value other = op1(c, VYRE_KERNEL_NEG, n);
  bool left = r->op == VYRE_KERNEL_ROTL;
  lower_value high = op2(c, VYRE_KERNEL_SHL, x, left ? n : other), low = op2(c, VYRE_KERNEL_SHR, x, left ? other : n);
  return lower_convert(c, VYRE_KERNEL_BITCAST, r->result, op2(c, VYRE_KERNEL_OR, high, low));
}

/* A 64-bit operand by its 32-bit halves. */
lower_value expand_halves(lower_code *c, const lower_request *r) {
  lower_value x = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U64, r->arg[0]), count = lower_u32(c, 32);
  lower_value low = op1(c, VYRE_KERNEL_RESIZE, x);
  lower_value high = op1(c, VYRE_KERNEL_RESIZE, op2(c, VYRE_KERNEL_SHR, x, count));
  lower_value of_low = op1(c, r->op, low), of_high = op1(c, r->op, high), zero = lower_u32(c, 0), result;
  if (r->op == VYRE_KERNEL_REVERSE_BITS) {
    lower_value upper = op2(c, VYRE_KERNEL_SHL, op1(c, VYRE_KERNEL_RESIZE, of_low), count);
    result = op2(c, VYRE_KERNEL_OR, upper, op1(c, VYRE_KERNEL_RESIZE, of_high));
    return lower_convert(c, VYRE_KERNEL_BITCAST, r->result, result);
  }
  if (r->op == VYRE_KERNEL_POPCOUNT) result = op2(c, VYRE_KERNEL_ADD, of_low, of_high);
  else if (r->op == VYRE_KERNEL_CLZ)
    result = lower_select(c, op2(c, VYRE_KERNEL_EQ, high, zero), op2(c, VYRE_KERNEL_ADD, of_low, count), of_high);
  else result = lower_select(c, op2(c, VYRE_KERNEL_EQ, low, zero), op2(c, VYRE_KERNEL_ADD, of_high, count), of_low);
  return lower_convert(c, VYRE_KERNEL_BITCAST, r->result, op1(c, VYRE_KERNEL_RESIZE, result));
}

/* x with pairs of fields of |n| bits exchanged, or added: what both below are made of. */
static lower_value field(lower_code *c, lower_value x, uint32_t shift, uint32_t mask) {
  if (shift != 0) x = op2(c, VYRE_KERNEL_SHR, x, lower_u32(c, shift));
  return op2(c, VYRE_KERNEL_AND, x, lower_u32(c, mask));
}

/* Sums of ever wider fields. */
lower_value expand_popcount(lower_code *c, const lower_request *r) {
  static const uint32_t masks[5] = { 0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF };
  lower_value x = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U32, r->arg[0]);
  for (uint32_t i = 0; i < 5; i++)
    x = op2(c, VYRE_KERNEL_ADD, field(c, x, 0, masks[i]), field(c, x, 1u << i, masks[i]));
  return lower_convert(c, VYRE_KERNEL_BITCAST, r->result, x);
}

/* Neighbours exchanged, then pairs, and so on. */
lower_value expand_reverse_bits(lower_code *c, const lower_request *r) {
  static const uint32_t masks[5] = { 0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF };
  lower_value x = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U32, r->arg[0]);
  for (uint32_t i = 0; i < 5; i++) {
    lower_value up = op2(c, VYRE_KERNEL_SHL, field(c, x, 0, masks[i]), lower_u32(c, 1u << i));
    x = op2(c, VYRE_KERNEL_OR, up, field(c, x, 1u << i, masks[i]));
  }
  return lower_convert(c, VYRE_KERNEL_BITCAST, r->result, x);
}

lower_value expand_count_raw(lower_code *c, const lower_request *r) {
  uint32_t raw = r->op == VYRE_KERNEL_CLZ ? VYRE_KERNEL_CLZ_RAW : VYRE_KERNEL_CTZ_RAW;
  lower_value none = op2(c, VYRE_KERNEL_EQ, r->arg[0], lower_number(c, r->result, 0));
  return lower_select(c, none, lower_number(c, r->result, width_of(r->result)), op1(c, raw, r->arg[0]));
}

/* The highest bit is copied to all below it; what is left are the leading zeros. */
lower_value expand_clz(lower_code *c, const lower_request *r) {
  lower_value x = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U32, r->arg[0]);
  for (uint32_t n = 1; n < 32; n *= 2) x = op2(c, VYRE_KERNEL_OR, x, op2(c, VYRE_KERNEL_SHR, x, lower_u32(c, n)));
  x = op1(c, VYRE_KERNEL_POPCOUNT, op1(c, VYRE_KERNEL_NOT, x));
  return lower_convert(c, VYRE_KERNEL_BITCAST, r->result, x);
}

/* The zeros below the lowest bit are the ones of ~x & (x - 1). */
lower_value expand_ctz(lower_code *c, const lower_request *r) {
  lower_value x = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U32, r->arg[0]);
  lower_value below = op2(c, VYRE_KERNEL_SUB, x, lower_u32(c, 1));
  x = op1(c, VYRE_KERNEL_POPCOUNT, op2(c, VYRE_KERNEL_AND, op1(c, VYRE_KERNEL_NOT, x), below));
  return lower_convert(c, VYRE_KERNEL_BITCAST, r->result, x);
}
