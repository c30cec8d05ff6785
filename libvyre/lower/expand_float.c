/* Float opcodes by simpler ones and by integer steps on their bits. */
#include "lower/expand.h"

#define op1(c, op, x) lower_op1(c, op, x)
#define op2(c, op, x, y) lower_op2(c, op, x, y)
static lower_value cast(lower_code *c, vyre_type type, lower_value x) {
  return lower_convert(c, VYRE_KERNEL_BITCAST, type, x);
}
static vyre_type bits_of(vyre_type type) { return type == VYRE_TYPE_F64 ? VYRE_TYPE_U64 : VYRE_TYPE_U32; }

/* ---- Minimum, maximum, sign ------------------------------------------------------------------ */

/* Where both are equal, the bits of a zero with the right sign come from both; a NaN gives way to the other. */
lower_value expand_choose_float(lower_code *c, const lower_request *r) {
  lower_value x = r->arg[0], y = r->arg[1], chosen;
  bool least = r->op == VYRE_KERNEL_MIN;
  uint32_t raw = least ? VYRE_KERNEL_MIN_RAW : VYRE_KERNEL_MAX_RAW;
  vyre_type bits = bits_of(r->result);
  if (lower_takes(c, raw, form_type_bit(r->result))) chosen = op2(c, raw, x, y);
  else chosen = lower_select(c, least ? op2(c, VYRE_KERNEL_LT, x, y) : op2(c, VYRE_KERNEL_LT, y, x), x, y);
  lower_value both = op2(c, least ? VYRE_KERNEL_OR : VYRE_KERNEL_AND, cast(c, bits, x), cast(c, bits, y));
  chosen = lower_select(c, op2(c, VYRE_KERNEL_EQ, x, y), cast(c, r->result, both), chosen);
  chosen = lower_select(c, op2(c, VYRE_KERNEL_NE, x, x), y, chosen);
  return lower_select(c, op2(c, VYRE_KERNEL_NE, y, y), x, chosen);
}

lower_value expand_sign_bit(lower_code *c, const lower_request *r) {
  vyre_type bits = bits_of(r->result);
  uint64_t sign = bits == VYRE_TYPE_U64 ? 1ull << 63 : 1ull << 31;
  lower_value x = cast(c, bits, r->arg[0]);
  if (r->op == VYRE_KERNEL_NEG) return cast(c, r->result, op2(c, VYRE_KERNEL_XOR, x, lower_constant(c, bits, sign)));
  return cast(c, r->result, op2(c, VYRE_KERNEL_AND, x, lower_constant(c, bits, sign - 1)));
}

lower_value expand_less_or_equal(lower_code *c, const lower_request *r) {
  lower_value less = op2(c, VYRE_KERNEL_LT, r->arg[0], r->arg[1]);
  return op2(c, VYRE_KERNEL_OR, less, op2(c, VYRE_KERNEL_EQ, r->arg[0], r->arg[1]));
}

/* ---- To integers ----------------------------------------------------------------------------- */

static lower_value number(lower_code *c, vyre_type type, double x) {
  return type == VYRE_TYPE_F64 ? lower_f64(c, x) : lower_f32(c, (float)x);
}

/* Bounds are powers of two, so exact in both float types. What is not inside them, a NaN too, is converted as 0. */
lower_value expand_to_int(lower_code *c, const lower_request *r) {
  vyre_type from = r->type[0];
  uint32_t width = form_bytes(r->result) * 8;
  bool is_signed = form_is_signed(r->result);
  double limit = is_signed ? (width == 64 ? 0x1p63 : 0x1p31) : (width == 64 ? 0x1p64 : 0x1p32);
  uint64_t greatest = is_signed ? (1ull << (width - 1)) - 1 : UINT64_MAX;
  lower_value x = r->arg[0], zero = number(c, from, 0);
  lower_value least = number(c, from, is_signed ? -limit : 0), end = number(c, from, limit);
  lower_value inside = op2(c, VYRE_KERNEL_AND, op2(c, VYRE_KERNEL_LE, least, x), op2(c, VYRE_KERNEL_LT, x, end));
  lower_value result = lower_convert(c, VYRE_KERNEL_TO_INT_RAW, r->result, lower_select(c, inside, x, zero));
  result = lower_select(c, op2(c, VYRE_KERNEL_LE, end, x), lower_number(c, r->result, greatest), result);
  if (!is_signed) return result;
  return lower_select(c, op2(c, VYRE_KERNEL_LT, x, least), lower_number(c, r->result, greatest + 1), result);
}

/* ---- 16-bit floats --------------------------------------------------------------------------- */

#define bit(c, op, x, y) op2(c, op, x, lower_u32(c, y))

/* Of a normal number the exponent moves by 127 - 15; a subnormal one is its fraction times 2^-24. */
lower_value expand_from_f16(lower_code *c, const lower_request *r) {
  lower_value h = r->arg[0];
  lower_value sign = bit(c, VYRE_KERNEL_SHL, bit(c, VYRE_KERNEL_AND, h, 0x8000), 16);
  lower_value rest = bit(c, VYRE_KERNEL_AND, h, 0x7FFF);
  lower_value normal = bit(c, VYRE_KERNEL_ADD, bit(c, VYRE_KERNEL_SHL, rest, 13), 112u << 23);
  lower_value fraction = lower_convert(c, VYRE_KERNEL_TO_FLOAT, VYRE_TYPE_F32, rest);
  lower_value small = cast(c, VYRE_TYPE_U32, op2(c, VYRE_KERNEL_MUL, fraction, lower_f32(c, 0x1p-24f)));
  lower_value value = lower_select(c, bit(c, VYRE_KERNEL_LT, rest, 0x400), small, normal);
  value = lower_select(c, bit(c, VYRE_KERNEL_EQ, rest, 0x7C00), lower_u32(c, 0x7F800000), value);
  value = op2(c, VYRE_KERNEL_OR, value, sign);
  lower_value is_nan = op2(c, VYRE_KERNEL_LT, lower_u32(c, 0x7C00), rest);
  return cast(c, VYRE_TYPE_F32, lower_select(c, is_nan, lower_u32(c, 0x7FC00000), value));
}

/* |x| with its lowest |drop| bits rounded off, to nearest, ties to even; a carry runs into the exponent. */
static lower_value round_off(lower_code *c, lower_value x, uint32_t drop) {
  lower_value odd = bit(c, VYRE_KERNEL_AND, bit(c, VYRE_KERNEL_SHR, x, drop), 1);
  lower_value sum = bit(c, VYRE_KERNEL_ADD, op2(c, VYRE_KERNEL_ADD, x, odd), (1u << (drop - 1)) - 1);
  return bit(c, VYRE_KERNEL_SHR, sum, drop);
}

/* Below 2^-14 the addition of 0.5 rounds at 2^-24, the unit of f16 subnormals. */
lower_value expand_to_f16(lower_code *c, const lower_request *r) {
  lower_value x = cast(c, VYRE_TYPE_U32, r->arg[0]);
  lower_value sign = bit(c, VYRE_KERNEL_AND, bit(c, VYRE_KERNEL_SHR, x, 16), 0x8000);
  lower_value rest = bit(c, VYRE_KERNEL_AND, x, 0x7FFFFFFF);
  lower_value normal = round_off(c, bit(c, VYRE_KERNEL_SUB, rest, 0x38000000), 13);
  lower_value sum = op2(c, VYRE_KERNEL_ADD, cast(c, VYRE_TYPE_F32, rest), lower_f32(c, 0.5f));
  lower_value small = bit(c, VYRE_KERNEL_SUB, cast(c, VYRE_TYPE_U32, sum), 0x3F000000);
  lower_value value = lower_select(c, bit(c, VYRE_KERNEL_LT, rest, 0x38800000), small, normal);
  lower_value is_large = op2(c, VYRE_KERNEL_LE, lower_u32(c, 0x47800000), rest);
  value = op2(c, VYRE_KERNEL_OR, lower_select(c, is_large, lower_u32(c, 0x7C00), value), sign);
  lower_value is_nan = op2(c, VYRE_KERNEL_LT, lower_u32(c, 0x7F800000), rest);
  return lower_select(c, is_nan, lower_u32(c, 0x7E00), value);
}

lower_value expand_from_bf16(lower_code *c, const lower_request *r) {
  lower_value x = bit(c, VYRE_KERNEL_SHL, r->arg[0], 16);
  lower_value is_nan = op2(c, VYRE_KERNEL_LT, lower_u32(c, 0x7F800000), bit(c, VYRE_KERNEL_AND, x, 0x7FFFFFFF));
  return cast(c, VYRE_TYPE_F32, lower_select(c, is_nan, lower_u32(c, 0x7FC00000), x));
}

lower_value expand_to_bf16(lower_code *c, const lower_request *r) {
  lower_value x = cast(c, VYRE_TYPE_U32, r->arg[0]);
  lower_value is_nan = op2(c, VYRE_KERNEL_LT, lower_u32(c, 0x7F800000), bit(c, VYRE_KERNEL_AND, x, 0x7FFFFFFF));
  return lower_select(c, is_nan, lower_u32(c, 0x7FC0), round_off(c, x, 16));
}

/* Rounding the f64 result is exact: its error is below 2^-52 of the value, and no 1/sqrt(x) of an f32 is nearer than
 * that to the middle between two f32 (a test goes through all mantissas). */
lower_value expand_rsqrt_wide(lower_code *c, const lower_request *r) {
  lower_value root = op1(c, VYRE_KERNEL_SQRT, op1(c, VYRE_KERNEL_REFLOAT, r->arg[0]));
  return op1(c, VYRE_KERNEL_REFLOAT, op2(c, VYRE_KERNEL_DIV, lower_f64(c, 1), root));
}
