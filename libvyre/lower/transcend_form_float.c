/* The transcendental functions in floats, of f64 or of f32. Each step is one rounding of IEEE 754, so the results are
 * the same everywhere. In f64 they err by about a unit of f64 in the last place, which matters to about one input in
 * 2^29; in f32 by a few units of f32. No sum has a product as its operand: where a program allows contraction there is
 * nothing to contract. */
#include "lower/transcend_angle.h"
#include "lower/transcend_exact.h"

typedef struct series {
  const double *c;
  size_t count;
} series;

/* A type to compute in, and the constants of its precision. */
typedef struct real {
  vyre_type type;
  double shifter; /* added and taken away again, it leaves the nearest integer */
  uint32_t large; /* bits of the f32 from which on an angle is reduced with words */
  series ln_2, half_pi; /* in pieces */
  series cosh, sinh, log, cos, sin, atan;
} real;

#include "lower/transcend_form_float.inc"

static lower_value u32(lower_code *b, uint32_t x) {
  return t_u32(b, x);
}

static lower_value number(lower_code *b, const real *t, double x) {
  return t->type == VYRE_TYPE_F64 ? lower_f64(b, x) : lower_f32(b, (float)x);
}

static lower_value real_of_bits(lower_code *b, const real *t, lower_value x) {
  lower_value value = t_convert(b, BITCAST, F32, x);
  return t->type == VYRE_TYPE_F64 ? t_convert(b, REFLOAT, F64, value) : value;
}

static lower_value bits_of_real(lower_code *b, lower_value x) {
  if (lower_type_of(b, x) == VYRE_TYPE_F64) x = t_convert(b, REFLOAT, F32, x);
  return t_convert(b, BITCAST, U32, x);
}

static lower_value real_of_integer(lower_code *b, const real *t, lower_value x) {
  return lower_convert(b, VYRE_KERNEL_TO_FLOAT, t->type, x);
}

static lower_value minus(lower_code *b, const real *t, lower_value x) {
  return t_sub(b, number(b, t, 0), x);
}

/* Sum of c[k] z^k by Horner's scheme. */
static lower_value polynomial(lower_code *b, const real *t, const series *s, lower_value z) {
  lower_value sum = number(b, t, s->c[s->count - 1]);
  for (size_t k = s->count - 1; k-- > 0;) sum = t_fma(b, sum, z, number(b, t, s->c[k]));
  return sum;
}

/* x - k times what the pieces add up to. The first step is exact: its result is a multiple of the first piece's last
 * bit and below 1 (Cody and Waite, Software Manual for the Elementary Functions, 1980). */
static lower_value without_multiple(lower_code *b, const real *t, lower_value x, lower_value k, const series *pieces) {
  for (size_t i = 0; i < pieces->count; i++) x = t_fma(b, k, number(b, t, -pieces->c[i]), x);
  return x;
}

/* The integer nearest to x y. */
static lower_value nearest(lower_code *b, const real *t, lower_value x, double y) {
  lower_value shifter = number(b, t, t->shifter);
  return t_sub(b, t_fma(b, x, number(b, t, y), shifter), shifter);
}

static lower_value bits_of_integer(lower_code *b, lower_value x) {
  return t_convert(b, BITCAST, U32, t_convert(b, TO_INT, I32, x));
}

/* ---- exp, exp2, sinh, cosh, tanh ---------------------------------------------------------------
 *
 * e^x = 2^k e^r = 2^k (1 + z c + s), |r| <= ln(2) / 2, where z = r^2, c = (cosh r - 1) / z and s = sinh r. */
typedef struct exponential {
  lower_value k, z, c, s;
} exponential;

static exponential exponential_of(lower_code *b, const real *t, lower_value k, lower_value r) {
  lower_value z = t_mul(b, r, r);
  lower_value c = polynomial(b, t, &t->cosh, z), s = polynomial(b, t, &t->sinh, z);
  return (exponential){ k, z, c, t_fma(b, t_mul(b, z, r), s, r) };
}

static exponential natural(lower_code *b, const real *t, lower_value x) {
  lower_value k = nearest(b, t, x, log2_e);
  return exponential_of(b, t, k, without_multiple(b, t, x, k, &t->ln_2));
}

/* 2^k x for k of -252 to 254, rounded once: 2^k is the product of two normal f32, and only the second product can be
 * subnormal or too large. */
static lower_value scaled(lower_code *b, const real *t, lower_value x, lower_value k) {
  lower_value places = u32(b, 23), sum = t_add(b, bits_of_integer(b, k), u32(b, 2 * 127));
  lower_value half = t_shr(b, sum, u32(b, 1)), rest = t_sub(b, sum, half);
  x = t_mul(b, x, real_of_bits(b, t, t_shl(b, half, places)));
  return t_mul(b, x, real_of_bits(b, t, t_shl(b, rest, places)));
}

static lower_value clamped(lower_code *b, const real *t, lower_value x, double least, double most) {
  lower_value low = number(b, t, least), high = number(b, t, most);
  x = t_select(b, t_lt(b, x, low), low, x);
  return t_select(b, t_lt(b, x, high), x, high);
}

static lower_value power(lower_code *b, const real *t, exponential e) {
  lower_value sum = t_add(b, number(b, t, 1), t_fma(b, e.z, e.c, e.s));
  return bits_of_real(b, scaled(b, t, sum, e.k));
}

static lower_value exp_of(lower_code *b, const real *t, lower_value x) {
  return power(b, t, natural(b, t, clamped(b, t, real_of_bits(b, t, x), -105, 90)));
}

static lower_value exp2_of(lower_code *b, const real *t, lower_value x) {
  x = clamped(b, t, real_of_bits(b, t, x), -151, 129);
  lower_value k = nearest(b, t, x, 1);
  return power(b, t, exponential_of(b, t, k, t_mul(b, t_sub(b, x, k), number(b, t, ln_2))));
}

/* sinh x = (2^k e^r - 2^-k e^-r) / 2, and cosh x the same with a sum, both over 2 here, so that no power of two is too
 * large. Where k is 0, sinh x is s, to the last digit. */
static void hyperbolic(lower_code *b, const real *t, lower_value x, lower_value *sinh, lower_value *cosh) {
  exponential e = natural(b, t, real_of_bits(b, t, t_min(b, x, u32(b, 0x42B30000)))); /* at most 89.5 */
  lower_value exponent = t_add(b, bits_of_integer(b, e.k), u32(b, 127 - 2));
  lower_value rising = real_of_bits(b, t, t_shl(b, exponent, u32(b, 23)));
  lower_value falling = t_div(b, number(b, t, 0x1p-4), rising);
  lower_value sum = t_add(b, rising, falling), difference = t_sub(b, rising, falling);
  lower_value c = t_fma(b, e.z, e.c, number(b, t, 1));
  *sinh = t_fma(b, sum, e.s, t_mul(b, difference, c));
  *cosh = t_fma(b, sum, c, t_mul(b, difference, e.s));
}

static lower_value sinh_of(lower_code *b, const real *t, lower_value x) {
  lower_value sinh, cosh;
  hyperbolic(b, t, x, &sinh, &cosh);
  return bits_of_real(b, t_add(b, sinh, sinh));
}

static lower_value cosh_of(lower_code *b, const real *t, lower_value x) {
  lower_value sinh, cosh;
  hyperbolic(b, t, x, &sinh, &cosh);
  return bits_of_real(b, t_add(b, cosh, cosh));
}

static lower_value tanh_of(lower_code *b, const real *t, lower_value x) {
  lower_value sinh, cosh;
  hyperbolic(b, t, t_min(b, x, u32(b, 0x41200000)), &sinh, &cosh); /* at most 10, which gives 1 */
  return bits_of_real(b, t_div(b, sinh, cosh));
}

/* ---- log, log2 ---------------------------------------------------------------------------------
 *
 * x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). With s = f / (2 + f) and R = log((1 + s) / (1 - s)) / s - 2,
 * log(1 + f) = f - (f^2/2 - s (f^2/2 + R)); f is exact (as in FreeBSD's e_log.c). */
static lower_value log_of_fraction(lower_code *b, const real *t, lower_value x, lower_value *k) {
  /* A subnormal is taken times 2^30. */
  lower_value subnormal = t_lt(b, x, u32(b, 0x00800000)), least = u32(b, 0x3F3504F3); /* sqrt(1/2) */
  lower_value large = bits_of_real(b, t_mul(b, real_of_bits(b, t, x), number(b, t, 0x1p30)));
  lower_value offset = t_sub(b, t_select(b, subnormal, large, x), least);
  lower_value exponent = t_shr(b, t_convert(b, BITCAST, I32, offset), u32(b, 23));
  lower_value too_large = t_select(b, subnormal, number(b, t, 30), number(b, t, 0));
  *k = t_sub(b, real_of_integer(b, t, exponent), too_large);
  lower_value m = t_add(b, t_and(b, offset, u32(b, (1 << 23) - 1)), least);
  lower_value f = t_sub(b, real_of_bits(b, t, m), number(b, t, 1));
  lower_value s = t_div(b, f, t_add(b, f, number(b, t, 2))), z = t_mul(b, s, s);
  lower_value half = t_mul(b, t_mul(b, f, f), number(b, t, 0.5));
  lower_value sum = t_fma(b, z, polynomial(b, t, &t->log, z), half);
  return t_sub(b, f, t_fma(b, minus(b, t, s), sum, half));
}

static lower_value log_of(lower_code *b, const real *t, lower_value x) {
  lower_value k, fraction = log_of_fraction(b, t, x, &k);
  fraction = t_fma(b, k, number(b, t, t->ln_2.c[1]), fraction);
  return bits_of_real(b, t_fma(b, k, number(b, t, t->ln_2.c[0]), fraction));
}

static lower_value log2_of(lower_code *b, const real *t, lower_value x) {
  lower_value k, fraction = log_of_fraction(b, t, x, &k);
  return bits_of_real(b, t_fma(b, fraction, number(b, t, log2_e), k));
}

/* ---- sin, cos, tan ----------------------------------------------------------------------------- */

typedef struct circle {
  lower_value quadrant;
  lower_value sin, cos; /* of what is left, |r| <= pi/4 */
} circle;

static lower_value reduce_small(lower_code *b, const real *t, lower_value x, lower_value *quadrant) {
  x = real_of_bits(b, t, x);
  lower_value k = nearest(b, t, x, two_over_pi);
  *quadrant = bits_of_integer(b, k);
  return without_multiple(b, t, x, k, &t->half_pi);
}

static lower_value reduce_large(lower_code *b, const real *t, lower_value x, lower_value *quadrant) {
  angle_parts p = lower_angle_parts(b, x);
  lower_value scale = number(b, t, 0x1p-32), f = real_of_integer(b, t, p.f[2]);
  f = t_fma(b, f, scale, real_of_integer(b, t, p.f[1]));
  f = t_fma(b, f, scale, real_of_integer(b, t, p.f[0]));
  f = t_select(b, t_eq(b, p.sign, u32(b, 0)), f, minus(b, t, f));
  *quadrant = p.quadrant;
  return t_mul(b, f, number(b, t, 0x1p-32 * half_pi));
}

static circle circle_of(lower_code *b, const real *t, lower_value x) {
  uint32_t uniform = lower_info_of(b, x)->uniform;
  uint32_t r_slot = lower_slot(b, t->type, uniform, 0), quadrant_slot = lower_slot(b, VYRE_TYPE_U32, uniform, 0);
  circle c;
  lower_if(b, t_lt(b, x, u32(b, t->large)));
  lower_set(b, r_slot, reduce_small(b, t, x, &c.quadrant));
  lower_set(b, quadrant_slot, c.quadrant);
  lower_else(b);
  lower_set(b, r_slot, reduce_large(b, t, x, &c.quadrant));
  lower_set(b, quadrant_slot, c.quadrant);
  lower_end_if(b);
  lower_value r = lower_get(b, r_slot), z = t_mul(b, r, r);
  c.quadrant = lower_get(b, quadrant_slot);
  c.cos = t_fma(b, z, polynomial(b, t, &t->cos, z), number(b, t, 1));
  c.sin = t_fma(b, t_mul(b, z, r), polynomial(b, t, &t->sin, z), r);
  return c;
}

static lower_value is_odd(lower_code *b, lower_value x) {
  lower_value one = u32(b, 1);
  return t_eq(b, t_and(b, x, one), one);
}

static lower_value sine(lower_code *b, const circle *c, lower_value quadrant) {
  lower_value value = t_select(b, is_odd(b, quadrant), c->cos, c->sin);
  lower_value sign = t_shl(b, t_shr(b, quadrant, u32(b, 1)), u32(b, 31));
  return t_xor(b, bits_of_real(b, value), sign);
}

static lower_value sin_of(lower_code *b, const real *t, lower_value x) {
  circle c = circle_of(b, t, x);
  return sine(b, &c, c.quadrant);
}

static lower_value cos_of(lower_code *b, const real *t, lower_value x) {
  circle c = circle_of(b, t, x);
  return sine(b, &c, t_add(b, c.quadrant, u32(b, 1)));
}

static lower_value tan_of(lower_code *b, const real *t, lower_value x) {
  circle c = circle_of(b, t, x);
  lower_value odd = is_odd(b, c.quadrant), upper = t_select(b, odd, minus(b, t, c.cos), c.sin);
  return bits_of_real(b, t_div(b, upper, t_select(b, odd, c.sin, c.cos)));
}

/* ---- asin, acos, atan --------------------------------------------------------------------------
 *
 * Each is the angle whose tangent is y / x, for y, x >= 0. The smaller over the larger is t <= 1, and with c the one
 * of 0, 1/2, 1 whose angle is nearest, atan t = atan c + atan((t - c) / (1 + c t)). */
static lower_value angle_between(lower_code *b, const real *t, lower_value y, lower_value x) {
  lower_value zero = number(b, t, 0), steep = t_lt(b, x, y);
  lower_value large = t_select(b, steep, y, x), small = t_select(b, steep, x, y);
  lower_value some = t_lt(b, t_mul(b, large, number(b, t, tan_0_to_half)), small);
  lower_value most = t_lt(b, t_mul(b, large, number(b, t, tan_half_to_1)), small);
  lower_value c = t_select(b, some, t_select(b, most, number(b, t, 1), number(b, t, 0.5)), zero);
  lower_value atan_c = t_select(b, most, number(b, t, quarter_pi), number(b, t, atan_half));
  atan_c = t_select(b, some, atan_c, zero);
  lower_value upper = t_fma(b, minus(b, t, c), large, small);
  lower_value q = t_div(b, upper, t_fma(b, c, small, large)), z = t_mul(b, q, q);
  lower_value rest = t_fma(b, t_mul(b, z, q), polynomial(b, t, &t->atan, z), q);
  atan_c = t_select(b, steep, t_sub(b, number(b, t, half_pi), atan_c), atan_c);
  return t_add(b, atan_c, t_select(b, steep, minus(b, t, rest), rest));
}

/* sqrt(1 - x^2) */
static lower_value other_leg(lower_code *b, const real *t, lower_value x) {
  lower_value one = number(b, t, 1);
  return t_sqrt(b, t_mul(b, t_sub(b, one, x), t_add(b, one, x)));
}

static lower_value atan_of(lower_code *b, const real *t, lower_value x) {
  lower_value y = real_of_bits(b, t, t_min(b, x, u32(b, 0x4E800000))); /* 2^30 gives pi/2 */
  return bits_of_real(b, angle_between(b, t, y, number(b, t, 1)));
}

static lower_value asin_of(lower_code *b, const real *t, lower_value x) {
  lower_value y = real_of_bits(b, t, x), leg = other_leg(b, t, y);
  return bits_of_real(b, angle_between(b, t, y, leg));
}

static lower_value acos_of(lower_code *b, const real *t, lower_value x) {
  lower_value cosine = real_of_bits(b, t, t_and(b, x, u32(b, 0x7FFFFFFF))), leg = other_leg(b, t, cosine);
  lower_value angle = angle_between(b, t, leg, cosine), obtuse = t_lt(b, u32(b, 0x7FFFFFFF), x);
  return bits_of_real(b, t_select(b, obtuse, t_sub(b, number(b, t, pi), angle), angle));
}

/* ---- Both types -------------------------------------------------------------------------------- */

#define FUNCTION(NAME, name, symmetry, most)              \
  lower_value name##_f64(lower_code *b, lower_value x) { \
    return name##_of(b, &real_f64, x);                   \
  }                                                      \
  lower_value name##_f32(lower_code *b, lower_value x) { \
    return name##_of(b, &real_f32, x);                   \
  }
#define EXCEPTION(NAME, forms, input, output)
#include "lower/transcend_exact.def"
#undef FUNCTION
#undef EXCEPTION
