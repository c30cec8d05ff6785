/* The transcendental functions on u32 words alone. Values are found to within about 2^-60 of themselves, which is
 * nearer than any f32 function comes to the middle between two f32, where it is not exactly there. */
#include "lower/transcend_angle.h"
#include "lower/transcend_exact.h"

#include "lower/transcend_form_pair.inc"

static lower_value u32(lower_code *b, uint32_t x) {
  return t_u32(b, x);
}

static lower_value negated(lower_code *b, lower_value x) {
  return t_sub(b, u32(b, 0), x);
}

/* All ones where bit 31 is set, else 0. */
static lower_value top_mask(lower_code *b, lower_value x) {
  return negated(b, t_shr(b, x, u32(b, 31)));
}

/* ---- Rounding ---------------------------------------------------------------------------------- */

/* 2^exponent word / 2^31: a value before it is rounded. One bit of the word behind the 24 of an f32 decides. */
typedef struct unrounded {
  lower_value word;     /* normalized */
  lower_value exponent; /* two's complement */
} unrounded;

/* x 2^exponent, x as a fraction. */
static unrounded scaled(lower_code *b, word_pair x, lower_value exponent) {
  lower_value count;
  x = pair_normalize(b, x, &count);
  return (unrounded){ x.hi, t_sub(b, t_sub(b, exponent, u32(b, 1)), count) };
}

/* Bits of the nearest f32, where that is normal and finite. A carry out of the mantissa goes where it should. */
static lower_value round_normal(lower_code *b, unrounded x) {
  lower_value half = t_and(b, t_shr(b, x.word, u32(b, 7)), u32(b, 1));
  lower_value mantissa = t_add(b, t_shr(b, x.word, u32(b, 8)), half);
  return t_add(b, mantissa, t_shl(b, t_add(b, x.exponent, u32(b, 126)), u32(b, 23)));
}

/* Bits of the nearest f32, for exponents above -1024. */
static lower_value round_any(lower_code *b, unrounded x) {
  lower_value least = u32(b, 1024), biased = t_add(b, x.exponent, u32(b, 1024 + 126)), normal = t_max(b, biased, least);
  lower_value lost = t_min(b, t_sub(b, normal, biased), u32(b, 25)); /* bits that a subnormal has not */
  lower_value twice = t_shr(b, t_shr(b, x.word, u32(b, 1)), t_add(b, lost, u32(b, 6)));
  lower_value mantissa = t_shr(b, t_add(b, twice, u32(b, 1)), u32(b, 1));
  lower_value bits = t_add(b, mantissa, t_shl(b, t_sub(b, normal, least), u32(b, 23)));
  return t_select(b, t_lt(b, biased, u32(b, 1024 + 254)), bits, u32(b, 0x7F800000));
}

/* x where x is below 2^-12: there it is nearest to the value of most odd functions. */
static lower_value unless_tiny(lower_code *b, lower_value x, lower_value bits) {
  return t_select(b, t_lt(b, x, u32(b, 0x39800000)), x, bits);
}

/* ---- exp, exp2, sinh, cosh, tanh ---------------------------------------------------------------
 *
 * x = (k + f) ln 2 with |f| <= 1/2, and e^x = 2^k (C + S), where C = cosh(f ln 2) and S = sinh(f ln 2) are even and
 * odd in f. So sinh x = (2^k (C + S) - 2^-k (C - S)) / 2, and cosh x the same with a sum. */
typedef struct exponential {
  lower_value k;
  word_pair c, s;  /* C / 2 and S / 2, which may be negative */
  word_pair ratio; /* S / (2 f ln 2) */
} exponential;

/* |x|, or |x| log2(e): the integer part and the fraction. Above 2^9 as if its exponent were 8, below 2^-26 as if it
 * were -26: no function here tells them apart. */
static lower_value split(lower_code *b, lower_value x, bool times_log2_e, word_pair *fraction) {
  lower_value exponent = t_max(b, lower_exponent(b, x), u32(b, 127 - 26));
  exponent = t_min(b, exponent, u32(b, 127 + 8));
  lower_value m = lower_mantissa(b, x), zero = u32(b, 0), p[3] = { t_shr(b, m, u32(b, 1)), zero, zero };
  if (times_log2_e) {
    word_pair low = pair_mul_word(b, PAIR(u32(b, log2_e[1]), u32(b, log2_e[2])), m);
    lower_value top = u32(b, log2_e[0]);
    word_pair high = { t_mulhi(b, top, m), t_mul(b, top, m) };
    high = pair_add(b, high, PAIR(zero, low.hi));
    p[0] = high.hi, p[1] = high.lo, p[2] = low.lo;
  }
  /* Three words, shifted to the right by 22 to 56. */
  lower_value shift = t_sub(b, u32(b, 127 + 8 + 22), exponent), far = t_lt(b, u32(b, 31), shift);
  shift = t_and(b, shift, u32(b, 31));
  lower_value top = t_select(b, far, zero, p[0]), middle = t_select(b, far, p[0], p[1]);
  lower_value bottom = t_select(b, far, p[1], p[2]);
  *fraction = PAIR(funnel_right(b, top, middle, shift), funnel_right(b, middle, bottom, shift));
  return t_shr(b, top, shift);
}

/* |sign| is a mask, all ones for a negative x. */
static exponential exponential_of(lower_code *b, lower_value x, lower_value sign, bool natural) {
  word_pair f;
  lower_value whole = split(b, x, natural, &f), up = t_shr(b, f.hi, u32(b, 31));
  lower_value mask = negated(b, up), k = t_add(b, whole, up);
  f = pair_flip(b, f, mask);
  exponential e = { .k = t_sub(b, t_xor(b, k, sign), sign) };
  word_pair z = pair_mul(b, f, f);
  e.c = pair_evaluate(b, &cosh_polynomial, NULL, 0, z);
  e.ratio = pair_evaluate(b, &sinh_polynomial, NULL, 0, z);
  word_pair s = pair_mul(b, pair_mul(b, f, pair_constant(b, ln_2)), e.ratio);
  e.s = pair_flip(b, s, t_xor(b, mask, sign));
  return e;
}

static lower_value power(lower_code *b, lower_value x, bool natural) {
  lower_value magnitude = t_and(b, x, u32(b, 0x7FFFFFFF));
  exponential e = exponential_of(b, magnitude, top_mask(b, x), natural);
  word_pair sum = pair_add(b, e.c, e.s);
  return round_any(b, scaled(b, sum, t_add(b, e.k, u32(b, 1))));
}

lower_value exp_pair(lower_code *b, lower_value x) {
  return power(b, x, true);
}

lower_value exp2_pair(lower_code *b, lower_value x) {
  return power(b, x, false);
}

/* 2^k (C + S) and 2^-k (C - S), both over 2^(k + 2). */
static void both_powers(lower_code *b, const exponential *e, word_pair *rising, word_pair *falling) {
  lower_value one = u32(b, 1), shift = t_add(b, t_add(b, e->k, e->k), one);
  *rising = pair_shr(b, pair_add(b, e->c, e->s), one);
  *falling = pair_shr(b, pair_sub(b, e->c, e->s), t_min(b, shift, u32(b, 63)));
}

/* A function as fraction 2^exponent. */
typedef struct scaled_pair {
  word_pair fraction;
  lower_value exponent;
} scaled_pair;

static scaled_pair cosh_of(lower_code *b, const exponential *e) {
  word_pair rising, falling;
  both_powers(b, e, &rising, &falling);
  return (scaled_pair){ pair_add(b, rising, falling), t_add(b, e->k, u32(b, 1)) };
}

/* Where k is 0, sinh x = x S / (f ln 2), which keeps all digits of a small x. */
static scaled_pair sinh_of(lower_code *b, const exponential *e, lower_value x) {
  word_pair rising, falling;
  both_powers(b, e, &rising, &falling);
  lower_value near = t_eq(b, e->k, u32(b, 0));
  word_pair far_value = pair_sub(b, rising, falling), near_value = pair_mul_word(b, e->ratio, lower_mantissa(b, x));
  lower_value far_exponent = t_add(b, e->k, u32(b, 1));
  lower_value near_exponent = t_sub(b, lower_exponent(b, x), u32(b, 127 - 2));
  return (scaled_pair){ pair_select(b, near, near_value, far_value),
                        t_select(b, near, near_exponent, far_exponent) };
}

lower_value sinh_pair(lower_code *b, lower_value x) {
  exponential e = exponential_of(b, x, u32(b, 0), true);
  scaled_pair sinh = sinh_of(b, &e, x);
  return unless_tiny(b, x, round_any(b, scaled(b, sinh.fraction, sinh.exponent)));
}

lower_value cosh_pair(lower_code *b, lower_value x) {
  exponential e = exponential_of(b, x, u32(b, 0), true);
  scaled_pair cosh = cosh_of(b, &e);
  return round_any(b, scaled(b, cosh.fraction, cosh.exponent));
}

lower_value tanh_pair(lower_code *b, lower_value x) {
  x = t_min(b, x, u32(b, 0x41200000)); /* at most 10, which gives 1 */
  exponential e = exponential_of(b, x, u32(b, 0), true);
  scaled_pair sinh = sinh_of(b, &e, x), cosh = cosh_of(b, &e);
  lower_value up, down;
  word_pair upper = pair_normalize(b, sinh.fraction, &up), lower = pair_normalize(b, cosh.fraction, &down);
  lower_value more = t_add(b, sinh.exponent, down), less = t_add(b, cosh.exponent, up);
  lower_value exponent = t_add(b, t_sub(b, more, less), u32(b, 1));
  return unless_tiny(b, x, round_normal(b, scaled(b, pair_quotient(b, upper, lower), exponent)));
}

/* ---- log, log2 ---------------------------------------------------------------------------------
 *
 * x = 2^k m with sqrt(1/2) <= m < sqrt(2), and log x = k log 2 + 2 atanh(s), where s = (m - 1) / (m + 1). */
typedef struct log_parts {
  lower_value k, k_sign; /* sign bits stand in bit 31 */
  lower_value s_sign;
  word_pair s;           /* |s| = 2^-63 s 2^-less, less >= 2 */
  lower_value less;
} log_parts;

static log_parts log_parts_of(lower_code *b, lower_value x) {
  lower_value zero = u32(b, 0), hidden = u32(b, 1 << 23);
  /* m in units of 2^-23, x 2^-149 shifted up where it is subnormal */
  lower_value subnormal = t_lt(b, x, hidden), shift = t_and(b, t_sub(b, t_clz(b, x), u32(b, 8)), u32(b, 31));
  lower_value normal_m = t_or(b, t_and(b, x, u32(b, (1 << 23) - 1)), hidden);
  lower_value m = t_select(b, subnormal, t_shl(b, x, shift), normal_m);
  lower_value normal_exponent = lower_exponent(b, x);
  lower_value exponent = t_select(b, subnormal, t_sub(b, u32(b, 1), shift), normal_exponent);
  lower_value large = t_lt(b, u32(b, 0x00B504F3), m); /* above sqrt(2), m is halved: as if its unit were 2^-24 */
  lower_value one = t_select(b, large, u32(b, 1 << 24), hidden), top = u32(b, 0x80000000);
  log_parts p = { .k = t_sub(b, exponent, t_select(b, large, u32(b, 126), u32(b, 127))) };
  p.k_sign = t_and(b, p.k, top);
  p.s_sign = t_select(b, large, top, zero);
  lower_value below = t_sub(b, one, m), above = t_sub(b, m, one);
  lower_value upper = t_select(b, large, below, above), lower = t_add(b, m, one);
  lower_value up = t_clz(b, upper), down = t_clz(b, lower);
  upper = t_shl(b, upper, up), lower = t_shl(b, lower, down);
  p.s = pair_quotient(b, PAIR(upper, zero), PAIR(lower, zero));
  p.less = t_sub(b, up, down);
  return p;
}

/* |k| log 2 in units of 2^-63: the high word of three, and the others. */
static lower_value times_log_2(lower_code *b, lower_value k, bool natural, word_pair *low) {
  lower_value mask = top_mask(b, k), magnitude = t_sub(b, t_xor(b, k, mask), mask), zero = u32(b, 0);
  if (!natural) {
    *low = PAIR(t_shl(b, magnitude, u32(b, 31)), zero);
    return t_shr(b, magnitude, u32(b, 1));
  }
  word_pair unit = pair_constant(b, half_ln_2);
  word_pair small = { t_mulhi(b, unit.lo, magnitude), t_mul(b, unit.lo, magnitude) };
  word_pair large = { t_mulhi(b, unit.hi, magnitude), t_mul(b, unit.hi, magnitude) };
  large = pair_add(b, large, PAIR(zero, small.hi));
  *low = PAIR(large.lo, small.lo);
  return large.hi;
}

static lower_value logarithm(lower_code *b, lower_value x, const pair_polynomial *polynomial, bool natural) {
  log_parts p = log_parts_of(b, x);
  lower_value zero = u32(b, 0), one = u32(b, 1);
  word_pair s = pair_shr(b, p.s, t_sub(b, p.less, one));
  word_pair value = pair_mul(b, p.s, pair_evaluate(b, polynomial, NULL, 0, pair_mul(b, s, s)));
  /* |log m| = 2^-61 value 2^-less. That is all where k is 0. */
  unrounded near = scaled(b, value, t_sub(b, u32(b, 3), p.less));
  word_pair low;
  lower_value high = times_log_2(b, p.k, natural, &low);
  lower_value opposite = top_mask(b, t_xor(b, p.k_sign, p.s_sign));
  value = pair_shr(b, value, t_sub(b, p.less, u32(b, 2)));
  word_pair sum = pair_add(b, low, pair_flip(b, value, opposite));
  lower_value same = t_and(b, t_eq(b, sum.hi, low.hi), t_lt(b, sum.lo, low.lo));
  lower_value carries = t_or(b, t_lt(b, sum.hi, low.hi), same);
  high = t_add(b, t_add(b, high, opposite), t_select(b, carries, one, zero));
  lower_value small = t_eq(b, high, zero);
  sum = pair_select(b, small, sum, PAIR(high, sum.hi));
  unrounded far = scaled(b, sum, t_select(b, small, one, u32(b, 33)));
  lower_value is_near = t_eq(b, p.k, zero), sign = t_select(b, is_near, p.s_sign, p.k_sign);
  unrounded y = { t_select(b, is_near, near.word, far.word), t_select(b, is_near, near.exponent, far.exponent) };
  return t_or(b, round_normal(b, y), sign);
}

lower_value log_pair(lower_code *b, lower_value x) {
  return logarithm(b, x, &log_polynomial, true);
}

lower_value log2_pair(lower_code *b, lower_value x) {
  return logarithm(b, x, &log2_polynomial, false);
}

/* ---- sin, cos, tan ----------------------------------------------------------------------------- */

typedef struct angle {
  lower_value quadrant, odd; /* bool */
  lower_value sign;          /* of f, in bit 31 */
  word_pair f;               /* normalized; |f| = 2^-64 f 2^-down */
  lower_value down;
  word_pair z; /* f^2 */
} angle;

static angle angle_of(lower_code *b, lower_value x, uint32_t quadrants) {
  angle_parts p = lower_angle_parts(b, x);
  lower_value zero = u32(b, 0), one = u32(b, 1), empty = t_eq(b, p.f[0], zero);
  angle a = { .quadrant = t_add(b, p.quadrant, u32(b, quadrants)), .sign = p.sign };
  a.odd = t_eq(b, t_and(b, a.quadrant, one), one);
  a.z = pair_mul(b, PAIR(p.f[0], p.f[1]), PAIR(p.f[0], p.f[1]));
  lower_value first = t_select(b, empty, p.f[1], p.f[0]), second = t_select(b, empty, p.f[2], p.f[1]);
  lower_value third = t_select(b, empty, zero, p.f[2]), shift = t_and(b, t_clz(b, first), u32(b, 31));
  a.f = PAIR(funnel_left(b, first, second, shift), funnel_left(b, second, third, shift));
  a.down = t_add(b, shift, t_select(b, empty, u32(b, 32), zero));
  return a;
}

static lower_value sine(lower_code *b, lower_value x, uint32_t quadrants) {
  angle a = angle_of(b, x, quadrants);
  lower_value zero = u32(b, 0);
  word_pair cosine = pair_evaluate(b, &sin_polynomial, &cos_polynomial, a.odd, a.z);
  word_pair value = pair_select(b, a.odd, cosine, pair_mul(b, cosine, a.f));
  lower_value exponent = t_sub(b, u32(b, 1), t_select(b, a.odd, zero, a.down));
  lower_value half = t_shl(b, t_shr(b, a.quadrant, u32(b, 1)), u32(b, 31));
  lower_value sign = t_xor(b, half, t_select(b, a.odd, zero, a.sign));
  return t_xor(b, round_normal(b, scaled(b, value, exponent)), sign);
}

lower_value sin_pair(lower_code *b, lower_value x) {
  return unless_tiny(b, x, sine(b, x, 0));
}

lower_value cos_pair(lower_code *b, lower_value x) {
  return sine(b, x, 1);
}

lower_value tan_pair(lower_code *b, lower_value x) {
  angle a = angle_of(b, x, 0);
  lower_value sin_less, cos_less, zero = u32(b, 0);
  word_pair sin = pair_mul(b, a.f, pair_evaluate(b, &sin_polynomial, NULL, 0, a.z));
  sin = pair_normalize(b, sin, &sin_less);
  word_pair cos = pair_normalize(b, pair_evaluate(b, &cos_polynomial, NULL, 0, a.z), &cos_less);
  lower_value exponent = t_sub(b, cos_less, t_add(b, sin_less, a.down));
  exponent = t_select(b, a.odd, negated(b, exponent), exponent);
  word_pair ratio = pair_quotient(b, pair_select(b, a.odd, cos, sin), pair_select(b, a.odd, sin, cos));
  lower_value bits = round_normal(b, scaled(b, ratio, t_add(b, exponent, u32(b, 1))));
  lower_value sign = t_xor(b, a.sign, t_select(b, a.odd, u32(b, 0x80000000), zero));
  return unless_tiny(b, x, t_xor(b, bits, sign));
}

/* ---- asin, acos, atan --------------------------------------------------------------------------
 *
 * Each is the angle whose tangent is y / x, for y, x >= 0. The smaller over the larger is t <= 1, and with c the one
 * of 0, 1/2, 1 whose angle is nearest, atan t = atan c + atan((t - c) / (1 + c t)). */
typedef struct positive {
  word_pair m; /* normalized */
  lower_value exponent; /* value 2^-63 m 2^(exponent - 127) */
} positive;

static positive positive_of(lower_code *b, lower_value x) {
  return (positive){ PAIR(lower_mantissa(b, x), u32(b, 0)), lower_exponent(b, x) };
}

/* sqrt(1 - x^2), for 0 < x < 1. */
static positive other_leg(lower_code *b, lower_value x) {
  lower_value m = lower_mantissa(b, x), exponent = lower_exponent(b, x), zero = u32(b, 0), one = u32(b, 1), count;
  word_pair square = { t_mulhi(b, m, m), t_mul(b, m, m) };
  lower_value shift = t_sub(b, u32(b, 2 * 127 - 1), t_add(b, exponent, exponent));
  square = pair_shr(b, square, t_min(b, shift, u32(b, 63)));
  word_pair rest = pair_sub(b, PAIR(u32(b, 0x80000000), zero), square); /* in units of 2^-63 */
  rest = pair_normalize(b, rest, &count);
  lower_value even = t_xor(b, t_and(b, count, one), one);
  word_pair root = pair_sqrt(b, pair_shr(b, rest, even)); /* the value is 2^-64 root 2^h */
  lower_value h = t_sub(b, even, t_shr(b, count, one));
  positive leg = { .m = pair_normalize(b, root, &count) };
  leg.exponent = t_sub(b, t_add(b, h, u32(b, 126)), count);
  return leg;
}

/* pi less that angle where the bool |obtuse| is true, if there is one. */
static unrounded angle_between(lower_code *b, positive y, positive x, lower_value obtuse) {
  lower_value zero = u32(b, 0), two = u32(b, 2), ones = u32(b, UINT32_MAX);
  lower_value same = t_and(b, t_eq(b, x.exponent, y.exponent), t_lt(b, x.m.hi, y.m.hi));
  lower_value steep = t_or(b, t_lt(b, x.exponent, y.exponent), same);
  word_pair larger = pair_select(b, steep, y.m, x.m), smaller = pair_select(b, steep, x.m, y.m), none = { zero, zero };
  lower_value down = t_sub(b, y.exponent, x.exponent), down_flat = negated(b, down);
  down = t_add(b, t_select(b, steep, down, down_flat), two);
  /* Both in one unit, with two bits to spare. */
  word_pair large = pair_shr(b, larger, two), small = pair_shr(b, smaller, t_min(b, down, u32(b, 63)));
  lower_value some = t_lt(b, t_mulhi(b, large.hi, u32(b, tan_0_to_half)), small.hi);
  lower_value most = t_lt(b, t_mulhi(b, large.hi, u32(b, tan_half_to_1)), small.hi);
  lower_value c_shift = t_select(b, most, zero, u32(b, 1));
  word_pair c_large = pair_select(b, some, pair_shr(b, large, c_shift), none);
  word_pair c_small = pair_select(b, some, pair_shr(b, small, c_shift), none);
  word_pair difference = pair_sub(b, small, c_large);
  lower_value below = top_mask(b, difference.hi), up, under;
  word_pair upper = pair_normalize(b, pair_flip(b, difference, below), &up);
  word_pair lower = pair_normalize(b, pair_add(b, large, c_small), &under);
  upper = pair_select(b, some, upper, smaller);
  /* (t - c) / (1 + c t) = 2^-63 ratio 2^-less, less >= 2 */
  lower_value less = t_sub(b, t_select(b, some, up, down), under), near = t_min(b, less, u32(b, 63));
  word_pair ratio = pair_quotient(b, upper, lower), t = pair_shr(b, ratio, t_sub(b, near, u32(b, 1)));
  word_pair value = pair_mul(b, ratio, pair_evaluate(b, &atan_polynomial, NULL, 0, pair_mul(b, t, t)));
  /* Its angle is 2^-62 value 2^-less; what it is added to is in units of 2^-62. */
  word_pair base = pair_select(b, steep, pair_constant(b, atan_2), pair_constant(b, atan_half));
  base = pair_select(b, most, pair_constant(b, quarter_pi), base);
  base = pair_select(b, some, base, pair_select(b, steep, pair_constant(b, half_pi), none));
  lower_value sign = t_xor(b, below, t_select(b, steep, ones, zero));
  if (obtuse != 0) {
    base = pair_select(b, obtuse, pair_sub(b, pair_constant(b, whole_pi), base), base);
    sign = t_xor(b, sign, t_select(b, obtuse, ones, zero));
  }
  word_pair sum = pair_add(b, base, pair_flip(b, pair_shr(b, value, near), sign));
  unrounded alone = scaled(b, value, t_sub(b, two, less)), added = scaled(b, sum, two);
  lower_value is_alone = t_eq(b, base.hi, zero);
  return (unrounded){ t_select(b, is_alone, alone.word, added.word),
                      t_select(b, is_alone, alone.exponent, added.exponent) };
}

lower_value atan_pair(lower_code *b, lower_value x) {
  positive y = positive_of(b, t_min(b, x, u32(b, 0x4E800000))); /* 2^30 gives pi/2 */
  positive one = { PAIR(u32(b, 0x80000000), u32(b, 0)), u32(b, 127) };
  return unless_tiny(b, x, round_normal(b, angle_between(b, y, one, 0)));
}

lower_value asin_pair(lower_code *b, lower_value x) {
  positive y = positive_of(b, x), leg = other_leg(b, x);
  return unless_tiny(b, x, round_normal(b, angle_between(b, y, leg, 0)));
}

lower_value acos_pair(lower_code *b, lower_value x) {
  lower_value obtuse = t_lt(b, u32(b, 0x7FFFFFFF), x), magnitude = t_and(b, x, u32(b, 0x7FFFFFFF));
  positive leg = other_leg(b, magnitude), cosine = positive_of(b, magnitude);
  return round_normal(b, angle_between(b, leg, cosine, obtuse));
}
