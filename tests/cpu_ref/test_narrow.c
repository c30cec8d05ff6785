/* f16 and bf16: all inputs of the 16-bit side, and of f32 those where rounding decides, against a search for the
 * nearest value in the list of all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "holds.h"
#include "base/narrow.h"

static float value_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

typedef struct format {
  int exponent_bits, fraction_bits;
  uint16_t (*from)(uint32_t bits);
  uint32_t (*to)(uint16_t bits);
} format;
static const format f16 = { 5, 10, vyre_f16_from_f32, vyre_f32_from_f16 };
static const format bf16 = { 8, 7, vyre_bf16_from_f32, vyre_f32_from_bf16 };

static uint16_t infinity_of(const format *f) {
  return (uint16_t)(((1 << f->exponent_bits) - 1) << f->fraction_bits);
}

/* The value that 16 bits stand for, by the definition of the format. Infinity stands where the next number would. */
static double meaning(const format *f, uint16_t bits) {
  int bias = (1 << (f->exponent_bits - 1)) - 1;
  int exponent = (bits & 0x7FFF) >> f->fraction_bits, fraction = bits & ((1 << f->fraction_bits) - 1);
  double magnitude = exponent == 0 ? ldexp(fraction, 1 - bias - f->fraction_bits)
                                   : ldexp(fraction + (1 << f->fraction_bits), exponent - bias - f->fraction_bits);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/* Nearest by bisection over the magnitudes, which are in the order of their bits; ties to the even one. */
static uint16_t nearest(const format *f, double x) {
  uint16_t low = 0, high = infinity_of(f);
  double magnitude = fabs(x);
  while (high - low > 1) {
    uint16_t middle = (uint16_t)((low + high) / 2);
    if (meaning(f, middle) <= magnitude) low = middle;
    else high = middle;
  }
  double below = magnitude - meaning(f, low), above = meaning(f, high) - magnitude;
  uint16_t best = below < above || (below == above && low % 2 == 0) ? low : high;
  return (uint16_t)(best | (signbit(x) ? 0x8000 : 0));
}

static void check_all_widen(const format *f) {
  for (uint32_t bits = 0; bits <= 0xFFFF; bits++) {
    uint32_t wide = f->to((uint16_t)bits), magnitude = bits & 0x7FFF;
    if (magnitude > infinity_of(f)) {
      HOLDS(wide == (0x7FC00000));
    } else if (magnitude == infinity_of(f)) {
      HOLDS(wide == (bits & 0x8000 ? 0xFF800000 : 0x7F800000));
    } else {
      HOLDS(wide == (bits_of((float)meaning(f, (uint16_t)bits))));
      HOLDS(f->from(wide) == (bits));
    }
  }
}

static void check_around(const format *f, uint32_t bits) {
  for (uint32_t b = bits - 3; b != bits + 4; b++) {
    if ((b & 0x7FFFFFFF) > 0x7F800000) continue;
    uint16_t want = nearest(f, (double)value_of(b)), got = f->from(b);
    if (got != want) ck_abort_msg("0x%08X gives 0x%04X, not 0x%04X", b, got, want);
  }
}

/* Every value of the format and the middle to its successor, with their neighbours. */
static void check_all_narrow(const format *f) {
  for (uint32_t bits = 0; bits < infinity_of(f); bits++) {
    double here = meaning(f, (uint16_t)bits), next = meaning(f, (uint16_t)(bits + 1));
    check_around(f, bits_of((float)here));
    check_around(f, bits_of((float)here) | 0x80000000);
    check_around(f, bits_of((float)((here + next) / 2)));
    check_around(f, bits_of((float)((here + next) / 2)) | 0x80000000);
  }
}

static void check_spread(const format *f) {
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 6151) {
    if ((bits & 0x7FFFFFFF) > 0x7F800000) continue;
    HOLDS(f->from((uint32_t)bits) == (nearest(f, (double)value_of((uint32_t)bits))));
  }
}

START_TEST(every_f16_widens_exactly_and_comes_back) {
  check_all_widen(&f16);
}
END_TEST

START_TEST(every_bf16_widens_exactly_and_comes_back) {
  check_all_widen(&bf16);
}
END_TEST

START_TEST(f32_to_f16_is_nearest_even_at_every_value_and_middle) {
  check_all_narrow(&f16);
  check_spread(&f16);
}
END_TEST

START_TEST(f32_to_bf16_is_nearest_even_at_every_value_and_middle) {
  check_all_narrow(&bf16);
  check_spread(&bf16);
}
END_TEST

START_TEST(stated_vectors) {
  ck_assert_uint_eq(vyre_f16_from_f32(bits_of(65519.99f)), 0x7BFF);
  ck_assert_uint_eq(vyre_f16_from_f32(bits_of(65520)), 0x7C00);
  ck_assert_uint_eq(vyre_f16_from_f32(bits_of(-65520)), 0xFC00);
  ck_assert_uint_eq(vyre_f16_from_f32(bits_of(0x1p-24f)), 1);
  ck_assert_uint_eq(vyre_f16_from_f32(bits_of(0x1p-25f)), 0);
  ck_assert_uint_eq(vyre_f16_from_f32(bits_of(-0x1p-25f)), 0x8000);
  ck_assert_uint_eq(vyre_f16_from_f32(bits_of(0x1.8p-25f)), 1);
  ck_assert_uint_eq(vyre_f16_from_f32(0x7F800001), 0x7E00);
  ck_assert_uint_eq(vyre_f16_from_f32(0xFFFFFFFF), 0x7E00);
  ck_assert_uint_eq(vyre_f16_from_f32(0x7F800000), 0x7C00);
  ck_assert_uint_eq(vyre_bf16_from_f32(0x3F808000), 0x3F80);
  ck_assert_uint_eq(vyre_bf16_from_f32(0x3F818000), 0x3F82);
  ck_assert_uint_eq(vyre_bf16_from_f32(0x3F808001), 0x3F81);
  ck_assert_uint_eq(vyre_bf16_from_f32(0x7F7FFFFF), 0x7F80);
  ck_assert_uint_eq(vyre_bf16_from_f32(0x7F800001), 0x7FC0);
  ck_assert_uint_eq(vyre_bf16_from_f32(0x00010000), 1);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { every_f16_widens_exactly_and_comes_back,
                                        every_bf16_widens_exactly_and_comes_back,
                                        f32_to_f16_is_nearest_even_at_every_value_and_middle,
                                        f32_to_bf16_is_nearest_even_at_every_value_and_middle,
                                        stated_vectors,
                                        NULL };
  return run_suite("cpu_ref/narrow", 60, tests);
}
