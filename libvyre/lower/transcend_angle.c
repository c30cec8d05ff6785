#include "lower/transcend_angle.h"

#include "lower/transcend_angle.inc"

enum { LEAST_EXPONENT = 127 - 13, WORDS = sizeof two_over_pi / sizeof *two_over_pi };

lower_value lower_mantissa(lower_code *b, lower_value x) {
  return t_or(b, t_shl(b, x, t_u32(b, 8)), t_u32(b, 0x80000000));
}

lower_value lower_exponent(lower_code *b, lower_value x) {
  return t_shr(b, x, t_u32(b, 23));
}

/* The 128 bits of the table behind its first |offset|, which is below 160. Steps of four, two and one words leave
 * out what is not wanted. */
static void window(lower_code *b, lower_value offset, lower_value out[4]) {
  lower_value words[WORDS], zero = t_u32(b, 0);
  uint32_t count = WORDS;
  for (uint32_t i = 0; i < count; i++) words[i] = t_u32(b, two_over_pi[i]);
  for (uint32_t step = 4; step > 0; step /= 2) {
    lower_value stay = t_eq(b, t_and(b, offset, t_u32(b, 32 * step)), zero);
    for (uint32_t i = 0; i < 4 + step && i + step < count; i++) words[i] = t_select(b, stay, words[i], words[i + step]);
    count = 4 + step;
  }
  lower_value shift = t_and(b, offset, t_u32(b, 31));
  for (uint32_t i = 0; i < 4; i++) out[i] = funnel_left(b, words[i], words[i + 1], shift);
}

/* Payne and Hanek, Radian Reduction for Trigonometric Functions, 1983: bits of 2/pi that give multiples of 4 are left
 * out from the start; the mantissa, 24 bits, is multiplied by the next 128. What is behind them counts for less than
 * 2^-102, while no f32 from 1 on comes nearer to a multiple of pi/2 than 2^-32. */
angle_parts lower_angle_parts(lower_code *b, lower_value x) {
  lower_value least = t_u32(b, LEAST_EXPONENT), w[4];
  lower_value exponent = t_max(b, lower_exponent(b, x), least);
  window(b, t_sub(b, exponent, least), w);
  lower_value m = t_shr(b, lower_mantissa(b, x), t_u32(b, 8));
  /* The product modulo 2^128, in units of 2^-126, but for its lowest word. */
  word_pair low = pair_mul_word(b, PAIR(w[2], w[3]), m);
  word_pair high = { t_mul(b, w[0], m), t_mul(b, w[1], m) };
  high = pair_add(b, high, PAIR(t_mulhi(b, w[1], m), low.hi));
  /* To the nearest quadrant: from 1/2 on, f is what is missing to the next, but for one unit. */
  lower_value two = t_u32(b, 2), fraction = t_shl(b, high.hi, two);
  lower_value up = t_shr(b, fraction, t_u32(b, 31)), mask = t_sub(b, t_u32(b, 0), up);
  angle_parts parts = { .quadrant = t_add(b, t_shr(b, high.hi, t_u32(b, 30)), up) };
  parts.sign = t_shl(b, up, t_u32(b, 31));
  parts.f[0] = t_xor(b, funnel_left(b, high.hi, high.lo, two), mask);
  parts.f[1] = t_xor(b, funnel_left(b, high.lo, low.lo, two), mask);
  parts.f[2] = t_xor(b, t_shl(b, low.lo, two), mask);
  return parts;
}
