/* Torbjoern Granlund, Peter Montgomery: Division by Invariant Integers using Multiplication, PLDI 1994; and George
 * Reitwiesner's form of numbers with the fewest terms. */
#include "opt/strength.h"

__extension__ typedef unsigned __int128 u128;

opt_sum opt_sum_of(uint64_t factor, unsigned width) {
  opt_sum sum = { .count = 0 };
  u128 rest = factor;
  opt_term up[66];
  uint32_t count = 0;
  for (unsigned shift = 0; rest != 0; shift++, rest >>= 1) {
    if ((rest & 1) == 0) continue;
    bool negative = (rest & 3) == 3;
    rest = negative ? rest + 1 : rest - 1;
    if (shift < width) up[count++] = (opt_term){ (uint8_t)shift, negative };
  }
  while (count > 0) sum.term[sum.count++] = up[--count];
  return sum;
}

uint32_t opt_sum_cost(const opt_sum *sum) {
  uint32_t cost = sum->count - 1;
  bool all_negative = true;
  for (uint32_t i = 0; i < sum->count; i++) {
    cost += sum->term[i].shift > 0;
    all_negative &= sum->term[i].negative;
  }
  return cost + all_negative;
}

/* By the least p >= width with 2^p > nc * (d - 1 - (2^p - 1) mod d); p may be 2 * width, so 2^p - 1 stands for 2^p. */
opt_quotient opt_plain_quotient(uint64_t d, unsigned width) {
  u128 end = (u128)1 << width, nc = end - 1 - (end - d) % d, below = end - 1;
  unsigned p = width;
  for (;; p++, below = below << 1 | 1) {
    u128 rest = d - 1 - below % d;
    if (rest == 0 || below / rest >= nc) break;
  }
  u128 multiplier = below / d + 1; /* 2^p / d, rounded up */
  bool fixup = multiplier >= end;
  return (opt_quotient){ .multiplier = (uint64_t)(fixup ? multiplier - end : multiplier), .fixup = fixup,
                         .after = (uint8_t)(p - width - (fixup ? 1 : 0)) };
}

/* Behind a shift, x has fewer bits, and the multiplier of the odd part fits. */
opt_quotient opt_unsigned_quotient(uint64_t d, unsigned width) {
  opt_quotient q = opt_plain_quotient(d, width);
  unsigned zeros = (unsigned)__builtin_ctzll(d);
  if (!q.fixup || zeros == 0) return q;
  u128 one = 1, odd = d >> zeros;
  unsigned bits = width - zeros; /* of the shifted x */
  unsigned log = 0;
  while ((one << log) < odd) log++;
  /* 2^(bits+log) / odd, rounded up, errs by less than 2^log / 2^(bits+log): right for every x below 2^bits. */
  u128 multiplier = ((one << (bits + log)) + odd - 1) / odd;
  unsigned shift = bits + log;
  if (shift < width) multiplier <<= width - shift, shift = width;
  return (opt_quotient){ .multiplier = (uint64_t)multiplier, .before = (uint8_t)zeros,
                         .after = (uint8_t)(shift - width) };
}

opt_quotient opt_signed_quotient(uint64_t d, unsigned width) {
  u128 one = 1, half = one << (width - 1);
  u128 nc = half - 1 - half % d; /* the largest x with x mod d = d - 1 */
  unsigned p = width;
  for (;; p++) {
    u128 rest = d - (one << p) % d;
    if ((one << p) / rest > nc || ((one << p) / rest == nc && (one << p) % rest != 0)) break; /* nc * rest < 2^p */
  }
  u128 multiplier = ((one << p) + d - (one << p) % d) / d;
  return (opt_quotient){ .multiplier = (uint64_t)(multiplier & (((half - 1) << 1) | 1)), .fixup = multiplier >= half,
                         .after = (uint8_t)(p - width) };
}
