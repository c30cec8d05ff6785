#include "lower/transcend_pair.h"

word_pair pair_constant(lower_code *b, pair_bits bits) {
  return (word_pair){ t_u32(b, bits.hi), t_u32(b, bits.lo) };
}

word_pair lower_pair_select(lower_code *b, pair_operands o) {
  return (word_pair){ t_select(b, o.condition, o.x.hi, o.y.hi), t_select(b, o.condition, o.x.lo, o.y.lo) };
}

/* 1 if x < y, else 0. */
static lower_value less(lower_code *b, lower_value x, lower_value y) {
  return t_select(b, t_lt(b, x, y), t_u32(b, 1), t_u32(b, 0));
}

word_pair lower_pair_add(lower_code *b, pair_operands o) {
  lower_value lo = t_add(b, o.x.lo, o.y.lo), carry = less(b, lo, o.y.lo);
  return (word_pair){ t_add(b, t_add(b, o.x.hi, o.y.hi), carry), lo };
}

word_pair lower_pair_sub(lower_code *b, pair_operands o) {
  lower_value borrow = less(b, o.x.lo, o.y.lo);
  return (word_pair){ t_sub(b, t_sub(b, o.x.hi, o.y.hi), borrow), t_sub(b, o.x.lo, o.y.lo) };
}

word_pair lower_pair_flip(lower_code *b, pair_operands o) {
  return (word_pair){ t_xor(b, o.x.hi, o.word), t_xor(b, o.x.lo, o.word) };
}

/* Adds a word at the low end. */
static word_pair add_low(lower_code *b, word_pair x, lower_value word) {
  lower_value lo = t_add(b, x.lo, word);
  return (word_pair){ t_add(b, x.hi, less(b, lo, word)), lo };
}

word_pair lower_pair_mul_word(lower_code *b, pair_operands o) {
  word_pair high = { t_mulhi(b, o.x.hi, o.word), t_mul(b, o.x.hi, o.word) };
  return add_low(b, high, t_mulhi(b, o.x.lo, o.word));
}

word_pair lower_pair_mul(lower_code *b, pair_operands o) {
  word_pair high = pair_mul_word(b, o.x, o.y.hi);
  return add_low(b, high, t_mulhi(b, o.x.hi, o.y.lo));
}

/* A shift by 32 - count is one by 1 and one by 31 - count, so that the count may be 0. */
lower_value lower_funnel_left(lower_code *b, emit_operands o) {
  lower_value upper = o.v[0], lower = o.v[1], count = o.v[2];
  lower_value in = t_shr(b, t_shr(b, lower, t_u32(b, 1)), t_xor(b, count, t_u32(b, 31)));
  return t_or(b, t_shl(b, upper, count), in);
}

lower_value lower_funnel_right(lower_code *b, emit_operands o) {
  lower_value upper = o.v[0], lower = o.v[1], count = o.v[2];
  lower_value in = t_shl(b, t_shl(b, upper, t_u32(b, 1)), t_xor(b, count, t_u32(b, 31)));
  return t_or(b, t_shr(b, lower, count), in);
}

word_pair lower_pair_shl(lower_code *b, pair_operands o) {
  return (word_pair){ funnel_left(b, o.x.hi, o.x.lo, o.word), t_shl(b, o.x.lo, o.word) };
}

word_pair lower_pair_shr(lower_code *b, pair_operands o) {
  lower_value most = t_u32(b, 31), far = t_lt(b, most, o.word), count = t_and(b, o.word, most);
  word_pair x = pair_select(b, far, PAIR(t_u32(b, 0), o.x.hi), o.x);
  return (word_pair){ t_shr(b, x.hi, count), funnel_right(b, x.hi, x.lo, count) };
}

word_pair pair_normalize(lower_code *b, word_pair x, lower_value *count) {
  lower_value zero = t_u32(b, 0), empty = t_eq(b, x.hi, zero);
  x = pair_select(b, empty, PAIR(x.lo, zero), x);
  lower_value shift = t_and(b, t_clz(b, x.hi), t_u32(b, 31));
  *count = t_add(b, shift, t_select(b, empty, t_u32(b, 32), zero));
  return pair_shl(b, x, shift);
}

/* ---- Polynomials ------------------------------------------------------------------------------- */

static lower_value word_of(lower_code *b, const pair_polynomial *p, const pair_polynomial *other, lower_value choice,
                           uint32_t k) {
  lower_value own = t_u32(b, p->word[k]);
  return other == NULL ? own : t_select(b, choice, t_u32(b, other->word[k]), own);
}

static word_pair pair_of(lower_code *b, const pair_polynomial *p, const pair_polynomial *other, lower_value choice,
                         uint32_t k) {
  word_pair own = pair_constant(b, p->pair[k]);
  return other == NULL ? own : pair_select(b, choice, pair_constant(b, other->pair[k]), own);
}

/* Horner's scheme: on words as long as they suffice, then on pairs. */
word_pair pair_evaluate(lower_code *b, const pair_polynomial *p, const pair_polynomial *other, lower_value choice,
                        word_pair z) {
  lower_value sum = word_of(b, p, other, choice, p->words - 1);
  for (uint32_t k = p->words - 1; k-- > 0;) {
    lower_value c = word_of(b, p, other, choice, k), product = t_mulhi(b, z.hi, sum);
    sum = p->alternates ? t_sub(b, c, product) : t_add(b, c, product);
  }
  word_pair product = { t_mulhi(b, z.hi, sum), t_mul(b, z.hi, sum) };
  lower_value shift = t_u32(b, p->shift);
  product = (word_pair){ t_shr(b, product.hi, shift), funnel_right(b, product.hi, product.lo, shift) };
  for (uint32_t k = p->pairs - 1;; k--) {
    word_pair c = pair_of(b, p, other, choice, k);
    word_pair pair_sum = p->alternates ? pair_sub(b, c, product) : pair_add(b, c, product);
    if (k == 0) return pair_sum;
    product = pair_mul(b, z, pair_sum);
  }
}

/* ---- Division and square root ------------------------------------------------------------------ */

/* 2^127 / y by Newton's method, r := r (2 - y r), from a line that errs by 1/17 (Ercegovac and Lang, Digital
 * Arithmetic, chapter 7). Three steps on words, in units of 2^-31, with a 2 that is two units short, so that r stays
 * below: nothing overflows, and e = 1 - y r is not negative. The last step, on pairs, is r (1 + e + e^2). */
static word_pair reciprocal(lower_code *b, word_pair y) {
  lower_value zero = t_u32(b, 0), one = t_u32(b, 1), two = t_u32(b, UINT32_MAX - 1);
  lower_value r = t_shl(b, t_sub(b, t_u32(b, 0xB4B4B4B4), t_mulhi(b, t_u32(b, 0x78787878), y.hi)), one);
  for (int step = 0; step < 3; step++) r = t_shl(b, t_mulhi(b, r, t_sub(b, two, t_mulhi(b, y.hi, r))), one);
  word_pair e = pair_sub(b, PAIR(t_u32(b, 0x80000000), zero), pair_mul_word(b, y, r));
  lower_value top = funnel_left(b, e.hi, e.lo, t_u32(b, 29)); /* e < 2^-28 */
  e = add_low(b, e, t_shr(b, t_mulhi(b, top, top), t_u32(b, 25)));
  word_pair correction = pair_shl(b, pair_mul_word(b, e, r), one);
  return pair_add(b, PAIR(r, zero), correction);
}

word_pair lower_pair_quotient(lower_code *b, pair_operands o) {
  return pair_mul(b, o.x, reciprocal(b, o.y));
}

/* Newton's method for r = 1/sqrt(x), r := r (3 - x r^2) / 2, from a line that errs by less than 1/11: four steps on
 * words, in units of 2^-31, rounded so that r stays below. Then s := s + (x - s^2) r / 2 on pairs, twice; the second
 * time from 8 units less, so that x - s^2 is not negative. */
word_pair pair_sqrt(lower_code *b, word_pair x) {
  lower_value one = t_u32(b, 1), three = t_u32(b, 0xC0000000 - 3);
  lower_value r = t_shl(b, t_sub(b, t_u32(b, 0x8883126E), t_mulhi(b, t_u32(b, 0x4E041893), x.hi)), one);
  for (int step = 0; step < 4; step++) {
    lower_value square = t_mulhi(b, x.hi, t_mulhi(b, r, r));
    r = t_shl(b, t_mulhi(b, r, t_sub(b, three, square)), one);
  }
  word_pair s = pair_shl(b, pair_mul_word(b, x, r), one);
  s = pair_add(b, s, pair_mul_word(b, pair_sub(b, x, pair_mul(b, s, s)), r));
  s = pair_sub(b, s, PAIR(t_u32(b, 0), t_u32(b, 8)));
  return pair_add(b, s, pair_mul_word(b, pair_sub(b, x, pair_mul(b, s, s)), r));
}
