/* The constants that the optimizer takes for divisions and products, for prove.py to prove: a line each.
 *   unsigned|signed WIDTH DIVISOR MULTIPLIER BEFORE AFTER FIXUP
 *   power WIDTH SHIFT              signed, by a power of two
 *   sum WIDTH FACTOR TERMS...      a term is 1 + its shift, negative if it is subtracted
 * With --fast: all of 8 bits. Else: all of 8 bits, some of 16, and of 32 and 64 bits the first 20000 divisors, those
 * around powers of two, and those of the specification. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opt/strength.h"

static void print_quotient(const char *kind, uint64_t d, unsigned width, opt_quotient q) {
  printf("%s %u %" PRIu64 " %" PRIu64 " %u %u %d\n", kind, width, d, q.multiplier, q.before, q.after, q.fixup);
}

static void print_division(uint64_t d, unsigned width) {
  d &= UINT64_MAX >> (64 - width);
  if (d < 3 || (d & (d - 1)) == 0) return;
  print_quotient("unsigned", d, width, opt_unsigned_quotient(d, width));
  if (d < 1ull << (width - 1)) print_quotient("signed", d, width, opt_signed_quotient(d, width));
}

static void print_powers(unsigned width) {
  for (unsigned k = 1; k < width; k++) printf("power %u %u\n", width, k);
}

static void print_sum(uint64_t factor, unsigned width) {
  opt_sum sum = opt_sum_of(factor & UINT64_MAX >> (64 - width), width);
  if (sum.count < 2) return;
  printf("sum %u %" PRIu64, width, factor & UINT64_MAX >> (64 - width));
  for (uint32_t i = 0; i < sum.count; i++) printf(" %d", (sum.term[i].negative ? -1 : 1) * (sum.term[i].shift + 1));
  putchar('\n');
}

int main(int argc, char **argv) {
  static const uint64_t table[] = { 25, 28, 100, 125, 625, 641, 1000, 1641, 0x7FFFFFFF, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF };
  bool fast = argc > 1 && strcmp(argv[1], "--fast") == 0;
  for (uint64_t d = 3; d < 256; d++) print_division(d, 8);
  for (uint64_t f = 3; f < 256; f++) print_sum(f, 8);
  print_powers(8);
  if (fast) return 0;
  print_powers(16);
  print_powers(32);
  for (uint64_t d = 3; d < 65536; d += d < 64 ? 1 : 509) print_division(d, 16);
  for (unsigned width = 32; width <= 64; width += 32) {
    for (uint64_t d = 3; d < 20000; d++) print_division(d, width);
    for (unsigned k = 15; k < width; k++)
      for (uint64_t d = (1ull << k) - 4; d <= (1ull << k) + 4; d++) print_division(d, width);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) print_division(table[i], width);
    for (unsigned high = 1; high < width; high++)
      for (unsigned low = 0; low < high; low++) {
        print_sum((1ull << high) + (1ull << low), width);
        print_sum((1ull << high) - (1ull << low), width);
        print_sum((1ull << low) - (1ull << high), width);
      }
  }
  return 0;
}
