/* Constants of cheaper forms: multiplication as shifts and sums, division as multiplication. Pure numbers. */
#ifndef VYRE_OPT_STRENGTH_H
#define VYRE_OPT_STRENGTH_H

#include <stdbool.h>
#include <stdint.h>

/* A factor in non-adjacent form: the sum of its terms, +-2^shift, from the highest down. */
typedef struct opt_term {
  uint8_t shift;
  bool negative;
} opt_term;

typedef struct opt_sum {
  opt_term term[33];
  uint32_t count;
} opt_sum;

/* Terms of 2^width and more are left out: they are 0. |factor| is below 2^width; width is 8 to 64. */
opt_sum opt_sum_of(uint64_t factor, unsigned width);
/* Operators that it takes: a shift for each term but 2^0, and what joins them (a leading minus is a negation). */
uint32_t opt_sum_cost(const opt_sum *sum);

/* x / d = mulhi(x >> before, multiplier) >> after, or with |fixup|, where the multiplier has one bit more:
 * t = mulhi(x, multiplier), (t + ((x - t) >> 1)) >> after. */
typedef struct opt_quotient {
  uint64_t multiplier;
  uint8_t before, after;
  bool fixup;
} opt_quotient;

/* |d| is above 2 and no power of two, below 2^width. Even d have no fixup (Granlund and Montgomery, 1994). */
opt_quotient opt_unsigned_quotient(uint64_t d, unsigned width);
/* The same without looking at evenness: before is 0. */
opt_quotient opt_plain_quotient(uint64_t d, unsigned width);

/* Signed, d from 3 to 2^(width-1) - 1 and no power of two: q = mulhi(x, multiplier), plus x with |fixup|, >> after, and
 * 1 more where x is negative. */
opt_quotient opt_signed_quotient(uint64_t d, unsigned width);

#endif
