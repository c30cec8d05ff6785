/* The transcendental functions in f64. Each step is one rounding of IEEE 754, so the results are the same wherever
 * f64 is. They err by about a unit of f64 in the last place, which matters to about one input in 2^29. */
#include "lower/transcend_angle.h"
#include "lower/transcend_exact.h"

#include "lower/transcend_form_f64.inc"

static lower_value u32(lower_code *b, uint32_t x) {
  return t_u32(b, x);
}

static lower_value f64(lower_code *b, double x) {
  return t_f64(b, x);
}

static lower_value f64_of_bits(lower_code *b, lower_value x) {
  return t_convert(b, REFLOAT, F64, t_convert(b, BITCAST, F32, x));
}

static lower_value bits_of_f64(lower_code *b, lower_value x) {
  return t_convert(b, BITCAST, U32, t_convert(b, REFLOAT, F32, x));
}

static lower_value minus(lower_code *b, lower_value x) {
  return t_sub(b, f64(b, 0), x);
}

/* Sum of c[k] z^k by Horner's scheme. */
static lower_value polynomial(lower_code *b, const double *c, size_t count, lower_value z) {
  lower_value sum = f64(b, c[count - 1]);
  for (size_t k = count - 1; k-- > 0;) sum = t_fma(b, sum, z, f64(b, c[k]));
  return sum;
}
#define POLYNOMIAL(b, c, z) polynomial(b, c, sizeof(c) / sizeof *(c), z)

/* The nearest integer, for |x| < 2^51. */
static lower_value nearest(lower_code *b, lower_value x) {
  lower_value shifter = f64(b, 0x1.8p52);
  return t_sub(b, t_add(b, x, shifter), shifter);
}

/* ---- exp, exp2, sinh, cosh, tanh ---------------------------------------------------------------
 *
 * e^x = 2^k e^r = 2^k (1 + c + s), |r| <= ln(2) / 2, where c = cosh r - 1 and s = sinh r. */
typedef struct exponential {
  lower_value k, c, s;
} exponential;

static exponential exponential_of(lower_code *b, lower_value k, lower_value r) {
  lower_value z = t_mul(b, r, r);
  lower_value c = t_mul(b, z, POLYNOMIAL(b, cosh_polynomial, z));
  lower_value s = t_fma(b, t_mul(b, z, r), POLYNOMIAL(b, sinh_polynomial, z), r);
  return (exponential){ k, c, s };
}

static exponential natural(lower_code *b, lower_value x) {
  lower_value k = nearest(b, t_mul(b, x, f64(b, log2_e)));
  lower_value r = t_fma(b, k, f64(b, -ln_2), x);
  return exponential_of(b, k, t_fma(b, k, f64(b, -ln_2_low), r));
}

/* 2^k for k of -252 to 254, as the product of two powers that are normal f32. */
static lower_value power_of_two(lower_code *b, lower_value k) {
  lower_value places = u32(b, 23), integer = t_convert(b, BITCAST, U32, t_convert(b, TO_INT, I32, k));
  lower_value sum = t_add(b, integer, u32(b, 2 * 127)), half = t_shr(b, sum, u32(b, 1)), rest = t_sub(b, sum, half);
  return t_mul(b, f64_of_bits(b, t_shl(b, half, places)), f64_of_bits(b, t_shl(b, rest, places)));
}

static lower_value power(lower_code *b, exponential e) {
  lower_value sum = t_add(b, f64(b, 1), t_add(b, e.c, e.s));
  return bits_of_f64(b, t_mul(b, sum, power_of_two(b, e.k)));
}

static lower_value clamped(lower_code *b, lower_value x, double least, double most) {
  lower_value low = f64(b, least), high = f64(b, most);
  x = t_select(b, t_lt(b, x, low), low, x);
  return t_select(b, t_lt(b, x, high), x, high);
}

lower_value exp_f64(lower_code *b, lower_value x) {
  return power(b, natural(b, clamped(b, f64_of_bits(b, x), -105, 90)));
}

lower_value exp2_f64(lower_code *b, lower_value x) {
  x = clamped(b, f64_of_bits(b, x), -151, 129);
  lower_value k = nearest(b, x);
  return power(b, exponential_of(b, k, t_mul(b, t_sub(b, x, k), f64(b, ln_2))));
}

/* sinh x = (2^k e^r - 2^-k e^-r) / 2, and cosh x the same with a sum. Where k is 0, sinh x is s, to the last digit. */
static void hyperbolic(lower_code *b, lower_value x, lower_value *sinh, lower_value *cosh) {
  exponential e = natural(b, f64_of_bits(b, t_min(b, x, u32(b, 0x42B40000)))); /* at most 90 */
  lower_value rising = power_of_two(b, t_sub(b, e.k, f64(b, 1))), falling = t_div(b, f64(b, 0.25), rising);
  lower_value sum = t_add(b, rising, falling), difference = t_sub(b, rising, falling);
  lower_value c = t_add(b, f64(b, 1), e.c);
  *sinh = t_fma(b, sum, e.s, t_mul(b, difference, c));
  *cosh = t_fma(b, sum, c, t_mul(b, difference, e.s));
}

lower_value sinh_f64(lower_code *b, lower_value x) {
  lower_value sinh, cosh;
  hyperbolic(b, x, &sinh, &cosh);
  return bits_of_f64(b, sinh);
}

lower_value cosh_f64(lower_code *b, lower_value x) {
  lower_value sinh, cosh;
  hyperbolic(b, x, &sinh, &cosh);
  return bits_of_f64(b, cosh);
}

lower_value tanh_f64(lower_code *b, lower_value x) {
  lower_value sinh, cosh;
  hyperbolic(b, x, &sinh, &cosh);
  return bits_of_f64(b, t_div(b, sinh, cosh));
}

/* ---- log, log2 ---------------------------------------------------------------------------------
 *
 * x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). With s = f / (2 + f) and R = log((1 + s) / (1 - s)) / s - 2,
 * log(1 + f) = f - (f^2/2 - s (f^2/2 + R)), where f and f^2/2 are exact (as in FreeBSD's e_log.c). */
static lower_value log_of_fraction(lower_code *b, lower_value x, lower_value *k) {
  /* A subnormal is taken times 2^30. */
  lower_value subnormal = t_lt(b, x, u32(b, 0x00800000)), least = u32(b, 0x3F3504F3); /* sqrt(1/2) */
  lower_value scaled = bits_of_f64(b, t_mul(b, f64_of_bits(b, x), f64(b, 0x1p30)));
  lower_value offset = t_sub(b, t_select(b, subnormal, scaled, x), least);
  lower_value exponent = t_shr(b, t_convert(b, BITCAST, I32, offset), u32(b, 23));
  lower_value too_large = t_select(b, subnormal, f64(b, 30), f64(b, 0));
  *k = t_sub(b, t_convert(b, TO_FLOAT, F64, exponent), too_large);
  lower_value m = t_add(b, t_and(b, offset, u32(b, (1 << 23) - 1)), least);
  lower_value f = t_sub(b, f64_of_bits(b, m), f64(b, 1));
  lower_value s = t_div(b, f, t_add(b, f, f64(b, 2))), z = t_mul(b, s, s);
  lower_value r = t_mul(b, z, POLYNOMIAL(b, log_polynomial, z)), half = t_mul(b, t_mul(b, f, f), f64(b, 0.5));
  return t_sub(b, f, t_fma(b, minus(b, s), t_add(b, half, r), half));
}

lower_value log_f64(lower_code *b, lower_value x) {
  lower_value k, fraction = log_of_fraction(b, x, &k);
  fraction = t_fma(b, k, f64(b, ln_2_low), fraction);
  return bits_of_f64(b, t_fma(b, k, f64(b, ln_2), fraction));
}

lower_value log2_f64(lower_code *b, lower_value x) {
  lower_value k, fraction = log_of_fraction(b, x, &k);
  return bits_of_f64(b, t_fma(b, fraction, f64(b, log2_e), k));
}

/* ---- sin, cos, tan ----------------------------------------------------------------------------- */

typedef struct circle {
  lower_value quadrant;
  lower_value sin, cos; /* of what is left, |r| <= pi/4 */
} circle;

/* Of |x| < 2^30, after Cody and Waite, Software Manual for the Elementary Functions, 1980: x - k pi/2 is a multiple of
 * 2^-52 for the first 53 bits of pi/2, so the first step is exact. */
static lower_value reduce_small(lower_code *b, lower_value x, lower_value *quadrant) {
  lower_value wide = f64_of_bits(b, x), k = nearest(b, t_mul(b, wide, f64(b, two_over_pi)));
  *quadrant = t_convert(b, BITCAST, U32, t_convert(b, TO_INT, I32, k));
  lower_value r = t_fma(b, k, f64(b, -half_pi), wide);
  return t_fma(b, k, f64(b, -half_pi_low), r);
}

static lower_value reduce_large(lower_code *b, lower_value x, lower_value *quadrant) {
  angle_parts p = lower_angle_parts(b, x);
  lower_value scale = f64(b, 0x1p-32), f = t_convert(b, TO_FLOAT, F64, p.f[2]);
  f = t_fma(b, f, scale, t_convert(b, TO_FLOAT, F64, p.f[1]));
  f = t_fma(b, f, scale, t_convert(b, TO_FLOAT, F64, p.f[0]));
  f = t_mul(b, f, f64(b, 0x1p-32 * half_pi));
  *quadrant = p.quadrant;
  return t_select(b, t_eq(b, p.sign, u32(b, 0)), f, minus(b, f));
}

static circle circle_of(lower_code *b, lower_value x) {
  uint32_t uniform = lower_info_of(b, x)->uniform;
  uint32_t r_slot = lower_slot(b, VYRE_TYPE_F64, uniform, 0), quadrant_slot = lower_slot(b, VYRE_TYPE_U32, uniform, 0);
  circle c;
  lower_if(b, t_lt(b, x, u32(b, 0x4E800000)));
  lower_set(b, r_slot, reduce_small(b, x, &c.quadrant));
  lower_set(b, quadrant_slot, c.quadrant);
  lower_else(b);
  lower_set(b, r_slot, reduce_large(b, x, &c.quadrant));
  lower_set(b, quadrant_slot, c.quadrant);
  lower_end_if(b);
  lower_value r = lower_get(b, r_slot), z = t_mul(b, r, r);
  c.quadrant = lower_get(b, quadrant_slot);
  c.cos = t_fma(b, z, POLYNOMIAL(b, cos_polynomial, z), f64(b, 1));
  c.sin = t_fma(b, t_mul(b, z, r), POLYNOMIAL(b, sin_polynomial, z), r);
  return c;
}

static lower_value is_odd(lower_code *b, lower_value x) {
  lower_value one = u32(b, 1);
  return t_eq(b, t_and(b, x, one), one);
}

static lower_value sine(lower_code *b, const circle *c, lower_value quadrant) {
  lower_value value = t_select(b, is_odd(b, quadrant), c->cos, c->sin);
  lower_value sign = t_shl(b, t_shr(b, quadrant, u32(b, 1)), u32(b, 31));
  return t_xor(b, bits_of_f64(b, value), sign);
}

lower_value sin_f64(lower_code *b, lower_value x) {
  circle c = circle_of(b, x);
  return sine(b, &c, c.quadrant);
}

lower_value cos_f64(lower_code *b, lower_value x) {
  circle c = circle_of(b, x);
  return sine(b, &c, t_add(b, c.quadrant, u32(b, 1)));
}

lower_value tan_f64(lower_code *b, lower_value x) {
  circle c = circle_of(b, x);
  lower_value odd = is_odd(b, c.quadrant), upper = t_select(b, odd, minus(b, c.cos), c.sin);
  return bits_of_f64(b, t_div(b, upper, t_select(b, odd, c.sin, c.cos)));
}

/* ---- asin, acos, atan --------------------------------------------------------------------------
 *
 * Each is the angle whose tangent is y / x, for y, x >= 0. The smaller over the larger is t <= 1, and with c the one
 * of 0, 1/2, 1 whose angle is nearest, atan t = atan c + atan((t - c) / (1 + c t)). */
static lower_value angle_between(lower_code *b, lower_value y, lower_value x) {
  lower_value zero = f64(b, 0), steep = t_lt(b, x, y);
  lower_value large = t_select(b, steep, y, x), small = t_select(b, steep, x, y);
  lower_value some = t_lt(b, t_mul(b, large, f64(b, tan_0_to_half)), small);
  lower_value most = t_lt(b, t_mul(b, large, f64(b, tan_half_to_1)), small);
  lower_value c = t_select(b, some, t_select(b, most, f64(b, 1), f64(b, 0.5)), zero);
  lower_value atan_c = t_select(b, some, t_select(b, most, f64(b, quarter_pi), f64(b, atan_half)), zero);
  lower_value t = t_div(b, t_fma(b, minus(b, c), large, small), t_fma(b, c, small, large)), z = t_mul(b, t, t);
  lower_value rest = t_fma(b, t_mul(b, z, t), POLYNOMIAL(b, atan_polynomial, z), t);
  atan_c = t_select(b, steep, t_sub(b, f64(b, half_pi), atan_c), atan_c);
  return t_add(b, atan_c, t_select(b, steep, minus(b, rest), rest));
}

/* sqrt(1 - x^2) */
static lower_value other_leg(lower_code *b, lower_value x) {
  lower_value one = f64(b, 1);
  return t_sqrt(b, t_mul(b, t_sub(b, one, x), t_add(b, one, x)));
}

lower_value atan_f64(lower_code *b, lower_value x) {
  lower_value y = f64_of_bits(b, t_min(b, x, u32(b, 0x4E800000))); /* 2^30 gives pi/2 */
  return bits_of_f64(b, angle_between(b, y, f64(b, 1)));
}

lower_value asin_f64(lower_code *b, lower_value x) {
  lower_value y = f64_of_bits(b, x), leg = other_leg(b, y);
  return bits_of_f64(b, angle_between(b, y, leg));
}

lower_value acos_f64(lower_code *b, lower_value x) {
  lower_value cosine = f64_of_bits(b, t_and(b, x, u32(b, 0x7FFFFFFF))), leg = other_leg(b, cosine);
  lower_value angle = angle_between(b, leg, cosine), obtuse = t_lt(b, u32(b, 0x7FFFFFFF), x);
  return bits_of_f64(b, t_select(b, obtuse, t_sub(b, f64(b, pi), angle), angle));
}
