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

/* ---- 1 / sqrt(x) ----------------------------------------------------------------------------- */

/* What rsqrt needs to know of a float type. */
typedef struct shape {
  vyre_type word;    /* unsigned, of the float's size */
  uint32_t width;    /* of it */
  uint32_t fraction; /* bits of the fraction */
  uint32_t bias;
  uint32_t even;     /* M below lies in [2^even, 2^(even + 2)) */
  uint32_t scale;    /* 2^scale / sqrt(M) lies in [2^fraction, 2^(fraction + 1)] */
} shape;

static shape shape_of(vyre_type type) {
  if (type == VYRE_TYPE_F64) return (shape){ VYRE_TYPE_U64, 64, 52, 1023, 52, 79 };
  return (shape){ VYRE_TYPE_U32, 32, 23, 127, 24, 36 };
}

/* A positive finite x as M * 2^exponent, the exponent even; by integers alone, so that subnormal ones are right too. */
static lower_value split(lower_code *c, const shape *s, lower_value x, lower_value *exponent) {
#define word(n) lower_number(c, s->word, n)
  uint64_t hidden = 1ull << s->fraction;
  lower_value fraction = op2(c, VYRE_KERNEL_AND, x, word(hidden - 1)),
              biased = op2(c, VYRE_KERNEL_SHR, x, lower_u32(c, s->fraction));
  lower_value zeros = op1(c, VYRE_KERNEL_CLZ, fraction);
  if (s->width == 64) {
    biased = op1(c, VYRE_KERNEL_RESIZE, biased);
    zeros = op1(c, VYRE_KERNEL_RESIZE, zeros);
  }
  lower_value is_small = bit(c, VYRE_KERNEL_EQ, biased, 0),
              up = bit(c, VYRE_KERNEL_SUB, zeros, s->width - 1 - s->fraction);
  lower_value small = op2(c, VYRE_KERNEL_SHL, fraction, up), normal = op2(c, VYRE_KERNEL_OR, fraction, word(hidden));
  lower_value m = lower_select(c, is_small, small, normal);
  lower_value e = lower_select(c, is_small, op2(c, VYRE_KERNEL_SUB, lower_u32(c, 1), up), biased);
  /* x = m * 2^(e - bias - fraction) with m in [2^fraction, 2^(fraction + 1)) */
  e = bit(c, VYRE_KERNEL_SUB, e, s->bias + s->even);
  lower_value odd = bit(c, VYRE_KERNEL_AND, e, 1);
  *exponent = op2(c, VYRE_KERNEL_SUB, e, odd);
  return op2(c, VYRE_KERNEL_SHL, m, bit(c, VYRE_KERNEL_ADD, odd, s->even - s->fraction));
}

/* Whether r * r * M is below 4^(scale + 1), which has but one bit in the highest of three words. */
static lower_value is_below(lower_code *c, const shape *s, lower_value r, lower_value m) {
  lower_value low = op2(c, VYRE_KERNEL_MUL, r, r), high = op2(c, VYRE_KERNEL_MULHI, r, r);
  lower_value middle = op2(c, VYRE_KERNEL_MUL, high, m);
  lower_value sum = op2(c, VYRE_KERNEL_ADD, middle, op2(c, VYRE_KERNEL_MULHI, low, m));
  lower_value carry = lower_select(c, op2(c, VYRE_KERNEL_LT, sum, middle), word(1), word(0));
  lower_value top = op2(c, VYRE_KERNEL_ADD, op2(c, VYRE_KERNEL_MULHI, high, m), carry);
  return op2(c, VYRE_KERNEL_LT, top, word(1ull << (2 * s->scale + 2 - 2 * s->width)));
}

/* R = 2^scale / sqrt(M), rounded: an estimate of two roundings is less than 2 away from it, and one step by exact
 * integers mends that. It is never half way between two, since r * r * M with an odd r and an M above 1 is no power of
 * two. */
static lower_value root(lower_code *c, const shape *s, vyre_type type, lower_value m) {
  lower_value one = type == VYRE_TYPE_F64 ? lower_f64(c, 1) : lower_f32(c, 1);
  lower_value scale = lower_constant(c, type, (uint64_t)(s->bias + s->scale) << s->fraction);
  lower_value estimate =
      op2(c, VYRE_KERNEL_DIV, one, op1(c, VYRE_KERNEL_SQRT, lower_convert(c, VYRE_KERNEL_TO_FLOAT, type, m)));
  lower_value r = lower_convert(c, VYRE_KERNEL_TO_INT, s->word, op2(c, VYRE_KERNEL_MUL, estimate, scale));
  lower_value twice = op2(c, VYRE_KERNEL_SHL, r, lower_u32(c, 1));
  lower_value is_low = is_below(c, s, op2(c, VYRE_KERNEL_ADD, twice, word(1)), m);
  lower_value is_not_high = is_below(c, s, op2(c, VYRE_KERNEL_SUB, twice, word(1)), m);
  lower_value up = op2(c, VYRE_KERNEL_ADD, r, word(1)), down = op2(c, VYRE_KERNEL_SUB, r, word(1));
  return lower_select(c, is_low, up, lower_select(c, is_not_high, r, down));
}

lower_value expand_rsqrt(lower_code *c, const lower_request *r) {
  vyre_type type = r->result;
  shape of_type = shape_of(type);
  const shape *s = &of_type;
  lower_value x = r->arg[0], bits = cast(c, s->word, x), exponent;
  lower_value m = split(c, s, bits, &exponent);
  lower_value value = lower_convert(c, VYRE_KERNEL_TO_FLOAT, type, root(c, s, type, m));
  /* The result is R * 2^(-scale - exponent / 2); that power of two is a normal number. */
  lower_value half = op2(c, VYRE_KERNEL_SHR, cast(c, VYRE_TYPE_I32, exponent), lower_u32(c, 1));
  lower_value power = op2(c, VYRE_KERNEL_SUB, lower_u32(c, s->bias - s->scale), cast(c, VYRE_TYPE_U32, half));
  if (s->width == 64) power = op1(c, VYRE_KERNEL_RESIZE, power);
  power = cast(c, type, op2(c, VYRE_KERNEL_SHL, power, lower_u32(c, s->fraction)));
  value = op2(c, VYRE_KERNEL_MUL, value, power);
  /* 0, infinity, and what has no root. */
  uint64_t infinity = (2 * (uint64_t)s->bias + 1) << s->fraction, sign = 1ull << (s->width - 1);
  lower_value magnitude = op2(c, VYRE_KERNEL_AND, bits, word(sign - 1)), zero = lower_constant(c, type, 0);
  lower_value signed_infinity = cast(c, type, op2(c, VYRE_KERNEL_OR, bits, word(infinity)));
  value = lower_select(c, op2(c, VYRE_KERNEL_EQ, bits, word(infinity)), zero, value);
  lower_value none = op2(c, VYRE_KERNEL_LT, word(infinity), bits); /* NaNs and all with a sign */
  value = lower_select(c, none, lower_constant(c, type, infinity | 1ull << (s->fraction - 1)), value);
  return lower_select(c, op2(c, VYRE_KERNEL_EQ, magnitude, word(0)), signed_infinity, value);
#undef word
}
