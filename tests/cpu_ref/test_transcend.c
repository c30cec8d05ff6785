/* exp, sin and their like against MPFR: where rounding is hardest, at the ends of the ranges, and at random. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#ifndef HAVE_MPFR
#include <stdio.h>

int main(void) {
  puts("skipped: MPFR was not found by configure");
  return 77;
}
#else
#include <mpfr.h>

#include "../../plugins/cpu_ref/ops.h"
#include "../../plugins/cpu_ref/transcend.h"

typedef int (*exact_fn)(mpfr_t, const mpfr_t, mpfr_rnd_t);
static const struct function {
  const char *name;
  vyre_op op;
  exact_fn exact;
} functions[] = {
#define X(name, NAME) { #name, VYRE_OP_##NAME, mpfr_##name },
  X(exp, EXP) X(exp2, EXP2) X(log, LOG) X(log2, LOG2) X(sin, SIN) X(cos, COS) X(tan, TAN)
  X(asin, ASIN) X(acos, ACOS) X(atan, ATAN) X(sinh, SINH) X(cosh, COSH) X(tanh, TANH)
#undef X
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static float value_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return isnan(value) ? 0x7FC00000 : bits;
}

static void check_f32(const struct function *f, uint32_t input) {
  mpfr_t x, y;
  mpfr_inits2(240, x, y, (mpfr_ptr)NULL);
  mpfr_set_flt(x, value_of(input), MPFR_RNDN);
  f->exact(y, x, MPFR_RNDN);
  uint32_t want = bits_of(mpfr_get_flt(y, MPFR_RNDN)), got = cpu_math_f32(f->op, input);
  mpfr_clears(x, y, (mpfr_ptr)NULL);
  if (want != got) ck_abort_msg("%s(0x%08X) is 0x%08X, not 0x%08X", f->name, input, want, got);
}

/* Those that the search over all inputs printed, and others at which libraries are known to fail. */
START_TEST(hard_cases_are_rounded_correctly) {
  static const uint32_t inputs[] = { 0xBCF3A937, 0xB52D1F9A, 0xC3160000, 0x4C5D65A5, 0x65D890D3, 0x39826222,
                                     0x33800000, 0x33000000, 0x39800000, 0x3F800000, 0xBF800000, 0x42B17218,
                                     0x42B17217, 0xC2CFF1B4, 0xC2CFF1B5, 0xC2AEAC50, 0x43000000, 0xC3150000,
                                     0x3FC90FDB, 0x40490FDB, 0x7F7FFFFF, 0xFF7FFFFF, 0x5BC5D1F4, 0x00000001 };
  for (int i = 0; i < FUNCTIONS; i++)
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) check_f32(&functions[i], inputs[k]);
}
END_TEST

START_TEST(special_values) {
  for (int i = 0; i < FUNCTIONS; i++) {
    check_f32(&functions[i], 0);
    check_f32(&functions[i], 0x80000000);
    check_f32(&functions[i], 0x7F800000);
    check_f32(&functions[i], 0xFF800000);
    check_f32(&functions[i], 0x7F800001);
    check_f32(&functions[i], 0xFFFFFFFF);
  }
  ck_assert_uint_eq(cpu_math_f32(VYRE_OP_LOG, 0), 0xFF800000);
  ck_assert_uint_eq(cpu_math_f32(VYRE_OP_LOG, 0xBF800000), 0x7FC00000);
  ck_assert_uint_eq(cpu_math_f32(VYRE_OP_EXP2, 0xC3160000), 0);
}
END_TEST

START_TEST(every_power_of_two_and_its_neighbours) {
  for (int i = 0; i < FUNCTIONS; i++)
    for (uint32_t exponent = 0; exponent < 255; exponent += 2)
      for (uint32_t sign = 0; sign < 2; sign++)
        for (uint32_t k = 0; k < 3; k++) check_f32(&functions[i], (exponent << 23 | sign << 31) + k - (exponent > 0));
}
END_TEST

START_TEST(random_inputs) {
  uint64_t seed = 20240229;
  for (int n = 0; n < 60000; n++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint32_t bits = (uint32_t)(seed >> 32);
    if (n % 2) bits = (bits & 0x87FFFFFF) | 0x38000000; /* magnitudes from 2^-15 to 2 */
    check_f32(&functions[n % FUNCTIONS], bits);
  }
}
END_TEST

/* |got - exact| in units of the last place of the result. */
static double error_of(const struct function *f, double input) {
  uint64_t bits, result;
  double got;
  mpfr_t x, y;
  memcpy(&bits, &input, sizeof bits);
  result = cpu_math_f64(f->op, bits);
  memcpy(&got, &result, sizeof got);
  mpfr_inits2(240, x, y, (mpfr_ptr)NULL);
  mpfr_set_d(x, input, MPFR_RNDN);
  f->exact(y, x, MPFR_RNDN);
  double error = 0, nearest = mpfr_get_d(y, MPFR_RNDN);
  if (isnan(nearest) || isinf(nearest) || isinf(got)) {
    ck_assert((isnan(nearest) && isnan(got)) || got == nearest);
  } else {
    mpfr_sub_d(y, y, got, MPFR_RNDN);
    int exponent = got == 0 ? -1022 : ilogb(got) < -1022 ? -1022 : ilogb(got);
    error = fabs(mpfr_get_d(y, MPFR_RNDN)) / ldexp(1, exponent - 52);
  }
  mpfr_clears(x, y, (mpfr_ptr)NULL);
  return error;
}

START_TEST(f64_stays_within_the_stated_bound) {
  uint64_t seed = 42;
  for (int n = 0; n < 40000; n++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double unit = (double)(seed >> 11) * 0x1p-53 * 2 - 1;
    double input = n % 3 == 0 ? unit : n % 3 == 1 ? unit * 700 : ldexp(unit, (int)(seed & 1023) - 512);
    const struct function *f = &functions[n % FUNCTIONS];
    double error = error_of(f, input);
    if (error > 0.51) ck_abort_msg("%s(%a) is %g ulp away", f->name, input, error);
  }
  for (int i = 0; i < FUNCTIONS; i++) {
    static const double ends[] = { 0, 1, -1, 0x1p-1074, 1e308, -1e308, 709.78, -745.13, INFINITY, -INFINITY, NAN };
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
      ck_assert_msg(error_of(&functions[i], ends[k]) <= 0.51, "%s(%a)", functions[i].name, ends[k]);
  }
}
END_TEST

/* Not transcendental, but rounded once as well. */
START_TEST(rsqrt_against_mpfr) {
  cpu_op narrow = cpu_op_find(VYRE_OP_RSQRT, VYRE_TYPE_F32), wide = cpu_op_find(VYRE_OP_RSQRT, VYRE_TYPE_F64);
  uint64_t seed = 3;
  mpfr_t x, y;
  mpfr_inits2(240, x, y, (mpfr_ptr)NULL);
  for (int n = 0; n < 100000; n++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = seed >> 1;
    double input, got;
    if (bits >= 0x7FF0000000000000) continue;
    memcpy(&input, &bits, sizeof input);
    mpfr_set_d(x, input, MPFR_RNDN);
    mpfr_rec_sqrt(y, x, MPFR_RNDN);
    uint64_t result = wide(bits, 0, 0);
    memcpy(&got, &result, sizeof got);
    if (got != mpfr_get_d(y, MPFR_RNDN)) ck_abort_msg("rsqrt(%a) is not %a", input, got);
    uint32_t half = (uint32_t)(bits >> 32) % 0x7F800000;
    mpfr_set_flt(x, value_of(half), MPFR_RNDN);
    mpfr_rec_sqrt(y, x, MPFR_RNDN);
    if (narrow(half, 0, 0) != bits_of(mpfr_get_flt(y, MPFR_RNDN))) ck_abort_msg("rsqrt of f32 0x%08X", half);
  }
  mpfr_clears(x, y, (mpfr_ptr)NULL);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { hard_cases_are_rounded_correctly,
                                        special_values,
                                        every_power_of_two_and_its_neighbours,
                                        random_inputs,
                                        f64_stays_within_the_stated_bound,
                                        rsqrt_against_mpfr,
                                        NULL };
  return run_suite("cpu_ref/transcend", 120, tests);
}
#endif
