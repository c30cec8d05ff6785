/* The constants of cheaper forms: the tables of the specification, all divisors of small widths, corners of large ones.
 * And what the pass makes of operations on literals, evaluated. */
#include <stdlib.h>
#include <string.h>

#include "../gen/random_program.h"
#include "../suite.h"
#include "opt/strength.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

/* ---- Division -------------------------------------------------------------------------------- */

static uint64_t ones(unsigned width) { return UINT64_MAX >> (64 - width); }

static uint64_t quotient(opt_quotient q, uint64_t x, unsigned width) {
  uint64_t high = (uint64_t)((u128)(x >> q.before) * q.multiplier >> width);
  if (!q.fixup) return high >> q.after;
  return ((high + ((x - high) >> 1)) & ones(width)) >> q.after;
}

static int64_t extended(uint64_t bits, unsigned width) { return (int64_t)(bits << (64 - width)) >> (64 - width); }

static int64_t signed_quotient(opt_quotient q, int64_t x, unsigned width) {
  int64_t high = (int64_t)((i128)x * extended(q.multiplier, width) >> width);
  if (q.fixup) high = extended((uint64_t)high + (uint64_t)x, width);
  return (high >> q.after) - (x >> 63);
}

static bool is_power(uint64_t d) { return (d & (d - 1)) == 0; }

static void check(uint64_t d, uint64_t x, unsigned width) {
  x &= ones(width);
  opt_quotient best = opt_unsigned_quotient(d, width), plain = opt_plain_quotient(d, width);
  ck_assert_msg(!best.fixup || (d & 1), "%llu is even and has a fixup", (unsigned long long)d);
  ck_assert_msg(quotient(best, x, width) == x / d && quotient(plain, x, width) == x / d, "%llu / %llu, %u bits",
                (unsigned long long)x, (unsigned long long)d, width);
  int64_t s = extended(x, width);
  if (d > ones(width) >> 1) return;
  ck_assert_msg(signed_quotient(opt_signed_quotient(d, width), s, width) == s / (int64_t)d, "%lld / %llu, %u bits",
                (long long)s, (unsigned long long)d, width);
}

START_TEST(the_division_table) {
  static const struct { uint64_t d, m; unsigned s; bool fixup; } rows[] = {
    { 3, 0xAAAAAAAB, 1, 0 },         { 5, 0xCCCCCCCD, 2, 0 },         { 6, 0xAAAAAAAB, 2, 0 },
    { 7, 0x24924925, 3, 1 },         { 9, 0x38E38E39, 1, 0 },         { 10, 0xCCCCCCCD, 3, 0 },
    { 11, 0xBA2E8BA3, 3, 0 },        { 13, 0x4EC4EC4F, 2, 0 },        { 14, 0x24924925, 4, 1 },
    { 19, 0xAF286BCB, 5, 1 },        { 25, 0x51EB851F, 3, 0 },        { 28, 0x24924925, 5, 1 },
    { 100, 0x51EB851F, 5, 0 },       { 125, 0x10624DD3, 3, 0 },       { 625, 0xD1B71759, 9, 0 },
    { 641, 0x00663D81, 0, 0 },       { 1000, 0x10624DD3, 6, 0 },      { 1641, 0x3F7E34BB, 11, 1 },
    { 0x7FFFFFFF, 3, 31, 1 },        { 0x80000001, 0xFFFFFFFF, 31, 0 }, { 0xFFFFFFFE, 3, 32, 1 },
    { 0xFFFFFFFF, 0x80000001, 31, 0 },
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    opt_quotient q = opt_plain_quotient(rows[i].d, 32);
    ck_assert_msg(q.multiplier == rows[i].m && (unsigned)q.after + q.fixup == rows[i].s && q.fixup == rows[i].fixup, "%llx",
                  (unsigned long long)rows[i].d);
  }
}
END_TEST

START_TEST(every_division_of_eight_bits) {
  for (uint64_t d = 3; d < 256; d++)
    for (uint64_t x = 0; x < 256 && !is_power(d); x++) check(d, x, 8);
}
END_TEST

START_TEST(divisors_of_32_and_64_bits_at_their_corners) {
  random_source r = { 72 };
  for (unsigned width = 32; width <= 64; width += 32)
    for (uint32_t i = 3; i < 4096 + 64 * 8 + 2000; i++) {
      uint64_t d = i;
      if (i >= 4096) d = (1ull << (i - 4096) / 8 % width) + i % 8 - 4;
      if (i >= 4096 + 64 * 8) d = random_bits(&r) >> random_below(&r, 60);
      d &= ones(width);
      if (d < 3 || is_power(d)) continue;
      uint64_t half = ones(width) >> 1, most = ones(width) / d * d;
      uint64_t xs[] = { 0, 1, d - 1, d, d + 1, half, half + 1, ones(width) - d + 1, ones(width), most, most - 1, 0 - d,
                        1 - d, half / d * d, half / d * d - 1, random_bits(&r), random_bits(&r) };
      for (size_t k = 0; k < COUNT(xs); k++) check(d, xs[k], width);
    }
}
END_TEST

/* ---- Multiplication -------------------------------------------------------------------------- */

static uint64_t value_of(const opt_sum *sum) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < sum->count; i++) {
    uint64_t term = 1ull << sum->term[i].shift;
    value += sum->term[i].negative ? 0 - term : term;
  }
  return value;
}

START_TEST(sums_are_their_factors) {
  random_source r = { 71 };
  for (unsigned width = 32; width <= 64; width += 32)
    for (uint32_t i = 1; i < 20000; i++) {
      uint64_t factor = (i < 4096 ? i : random_bits(&r)) & ones(width);
      opt_sum sum = opt_sum_of(factor, width);
      ck_assert_uint_eq(value_of(&sum) & ones(width), factor);
      for (uint32_t k = 0; k < sum.count; k++) ck_assert_uint_lt(sum.term[k].shift, width);
    }
}
END_TEST

START_TEST(non_adjacent_forms) {
  static const struct { uint64_t factor; int terms[4]; uint32_t cost; } rows[] = {
    { 3, { 2, -100 }, 2 },           { 5, { 2, 100 }, 2 },           { 7, { 3, -100 }, 2 },
    { 11, { 4, -2, -100 }, 4 },      { 23, { 5, -3, -100 }, 4 },     { 119, { 7, -3, -100 }, 4 },
    { 255, { 8, -100 }, 2 },         { 0xFFFF, { 16, -100 }, 2 },    { 45, { 0 }, 6 },
    { 100, { 0 }, 5 },               { 0xFFFFFFFF, { -100 }, 1 },    { 0xC0000001, { -30, 100 }, 2 },
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    opt_sum sum = opt_sum_of(rows[i].factor, 32);
    ck_assert_msg(opt_sum_cost(&sum) == rows[i].cost, "%llx costs %u", (unsigned long long)rows[i].factor,
                  opt_sum_cost(&sum));
    for (uint32_t k = 0; rows[i].terms[0] != 0 && k < sum.count; k++) {
      int shift = abs(rows[i].terms[k]) == 100 ? 0 : abs(rows[i].terms[k]);
      ck_assert_msg(sum.term[k].shift == shift && sum.term[k].negative == (rows[i].terms[k] < 0), "%llx term %u",
                    (unsigned long long)rows[i].factor, k);
    }
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = { the_division_table,
                                 every_division_of_eight_bits,
                                 divisors_of_32_and_64_bits_at_their_corners,
                                 sums_are_their_factors,
                                 non_adjacent_forms,
                                 NULL };
  return run_suite("opt/strength", 60, tests);
}
