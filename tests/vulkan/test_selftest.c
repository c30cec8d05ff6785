/* The numeric self-test: its kernel is one that libvyre would make, and devices that compute well, flush, do not fuse or
 * are wrong are told apart. The fake device computes by C. */
#include <math.h>
#include <stdio.h>

#include <vyre/ir.h>
#include <vyre/lower.h>

#include "../suite.h"
#include "plugins/vulkan/selftest_kernel.h"
#include "plugins/vulkan/spirv.h"
#include "rig.h"

const char gpu_name[] = "selftest"; /* of the part that the kernel is made with */

static rig_fake fake;

/* ---- The kernel ------------------------------------------------------------------------------ */

START_TEST(the_kernel_is_sound) {
  const uint32_t widths[] = { 32, 64 };
  for (int i = 0; i < 2; i++) {
    gpu_bytes b = { .data = NULL };
    vyre_error error = VYRE_ERROR_INIT;
    selftest_kernel(widths[i], true, &b);
    ck_assert(!b.failed);
    ck_assert_msg(vyre_kernel_verify(b.data, b.count, &error) == VYRE_OK, "%s", error.text);
    gpu_bytes_free(&b);
  }
}
END_TEST

START_TEST(the_kernel_of_integers_is_sound) {
  gpu_bytes b = { .data = NULL };
  vyre_error error = VYRE_ERROR_INIT;
  selftest_integer_kernel(&b);
  ck_assert(!b.failed);
  ck_assert_msg(vyre_kernel_verify(b.data, b.count, &error) == VYRE_OK, "%s", error.text);
  gpu_bytes_free(&b);
}
END_TEST

/* ---- Devices --------------------------------------------------------------------------------- */

static struct {
  bool flushes32, flushes64, splits_fma, divides_badly, adds_badly;
  bool compares_flushed, is_mended; /* f32 alone; what is wrong once is right from the second run on */
  bool fuses_flushed;               /* f32 alone, in what the device does itself; by f64 it is right */
  bool has_no_f64;
  bool saturates_badly; /* until compared by words, if it is mended */
  int runs, integer_runs;
} faults;

static float flushed32(float x) { return faults.flushes32 && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }
static double flushed64(double x) { return faults.flushes64 && fpclassify(x) == FP_SUBNORMAL ? copysign(0, x) : x; }

static bool is_bad(bool fault) { return fault && !(faults.is_mended && faults.runs > 1); }

static float quotient(float x) { return is_bad(faults.divides_badly) ? nextafterf(x, 0) : x; }

static float lesser(float a, float b) { return a < b || (a == b && signbit(a)) ? a : b; }
static float greater(float a, float b) { return a > b || (a == b && signbit(b)) ? a : b; }
static double lesser64(double a, double b) { return a < b || (a == b && signbit(a)) ? a : b; }
static double greater64(double a, double b) { return a > b || (a == b && signbit(b)) ? a : b; }

static float compared(float x) {
  return is_bad(faults.compares_flushed) && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static float fused(float x) {
  const bool is_own = faults.has_no_f64 || faults.runs == 1;
  return faults.fuses_flushed && is_own && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static void run32(const float *from, float *to) {
  faults.runs++;
  for (int i = 0; i < SELFTEST_ROWS; i++) {
    float a = flushed32(from[i]), b = flushed32(from[SELFTEST_ROWS + i]), c = flushed32(from[2 * SELFTEST_ROWS + i]);
    volatile float product = a * b;
    float x = compared(a), y = compared(b);
    const float results[SELFTEST_OPS] = { from[i],
                                          faults.adds_badly ? nextafterf(a + b, 0) : a + b,
                                          a - b,
                                          a * b,
                                          a * b,
                                          x < y ? a : c,
                                          x == y ? a : c,
                                          lesser(a, b),
                                          greater(a, b),
                                          floorf(x),
                                          ceilf(x),
                                          quotient(a / b),
                                          sqrtf(a),
                                          faults.splits_fma ? product + c : fused(fmaf(fused(a), fused(b), fused(c))) };
    to[i] = results[0];
    for (int k = 1; k < SELFTEST_OPS; k++) to[k * SELFTEST_ROWS + i] = flushed32(results[k]);
  }
}

static void run64(const double *from, double *to) {
  for (int i = 0; i < SELFTEST_ROWS; i++) {
    double a = flushed64(from[i]), b = flushed64(from[SELFTEST_ROWS + i]), c = flushed64(from[2 * SELFTEST_ROWS + i]);
    const double results[SELFTEST_OPS] = { from[i],         a + b,           a - b,    a * b,   a * b,
                                           a < b ? a : c,   a == b ? a : c,  lesser64(a, b), greater64(a, b), floor(a),
                                           ceil(a),         a / b,           sqrt(a),  fma(a, b, c) };
    to[i] = results[0];
    for (int k = 1; k < SELFTEST_OPS; k++) to[k * SELFTEST_ROWS + i] = flushed64(results[k]);
  }
}

/* With a wrong high word where a constant beside a length is the greater. */
static uint64_t saturated(uint32_t form, uint64_t x, uint64_t y, bool is_constant) {
  uint64_t number;
  const bool is_wrong = __builtin_sub_overflow(form == 2 ? y : x, form == 2 ? x : y, &number);
  if (form < 2) return __builtin_add_overflow(x, y, &number) ? UINT64_MAX : number;
  if (is_wrong) return 0;
  const bool is_bad = is_constant && faults.saturates_badly && !(faults.is_mended && faults.integer_runs > 1);
  return is_bad && form == 2 ? number & UINT32_MAX : number;
}

/* The parameter comes first in the block, the length of binding 0 behind it at 8. */
static void run_integers(const uint8_t *block, const uint64_t *from, uint64_t *to) {
  uint64_t length;
  uint32_t param;
  memcpy(&param, block, sizeof param);
  memcpy(&length, block + 8, sizeof length);
  faults.integer_runs++;
  for (uint32_t i = 0; i < SELFTEST_SATURATIONS; i++)
    for (uint32_t row = 0; row < SELFTEST_ROWS; row++) {
      const uint32_t k = i / 4 % (SELFTEST_LIMITS + 1);
      const uint64_t sources[SELFTEST_SOURCES] = { from[row], (uint32_t)from[row], param, length };
      const bool is_constant = k < SELFTEST_LIMITS;
      const uint64_t y = is_constant ? selftest_limits[k] : from[SELFTEST_ROWS + row];
      to[i * SELFTEST_ROWS + row] = saturated(i % 4, sources[i / 4 / (SELFTEST_LIMITS + 1)], y, is_constant);
    }
}

/* Push constants, operands, results. */
static void run_kernel(const fake_launch *launch) {
  void *to;
  if (launch->argument_count < 3) return;
  memcpy(&to, &launch->arguments[2], sizeof to);
  if (launch->sizes[1] == 2 * SELFTEST_ROWS * sizeof(uint64_t))
    run_integers(launch->arguments[0], launch->arguments[1], to);
  if (launch->sizes[1] == SELFTEST_OPERANDS * SELFTEST_ROWS * sizeof(float)) run32(launch->arguments[1], to);
  if (launch->sizes[1] == SELFTEST_OPERANDS * SELFTEST_ROWS * sizeof(double)) run64(launch->arguments[1], to);
}

/* Makes the record, which is when the test runs. */
static void describe(rig *r) {
  rig_open_plugin(r);
  rig_must(r, r->ops->device_describe(r->plugin, 0, &r->caps, &r->error));
  r->ops->close(r->plugin);
}

enum {
  ALL = VYRE_NUMERIC_SUBNORMALS | VYRE_NUMERIC_FMA | VYRE_NUMERIC_DIVISION | VYRE_NUMERIC_ZERO_ORDER
};

/* The library reads its script when it is first used, and forgets what it was told before. */
static void use_fake(const char *script) {
  rig r;
  fake = rig_use_fake(script);
  rig_open_plugin(&r);
  r.ops->close(r.plugin);
  fake.kernel("entry0", run_kernel);
}

/* What is promised of the device as |faults| has it, and whether f64 is. */
static void promises(uint32_t wanted, bool wants_f64) {
  rig r;
  use_fake("");
  if (faults.has_no_f64) rig_setting("without", "float64");
  describe(&r);
  ck_assert_uint_eq(r.caps.numeric, wanted);
  ck_assert_int_eq((r.caps.needs & VYRE_NEED_FLOAT64) != 0, wants_f64);
  rig_nothing_lives(&fake);
}

START_TEST(a_good_device_is_promised) { promises(ALL, true); }
END_TEST

START_TEST(flushing_is_seen_and_division_kept) {
  faults.flushes32 = faults.flushes64 = true;
  promises(ALL & ~VYRE_NUMERIC_SUBNORMALS, true);
}
END_TEST

START_TEST(f64_is_given_up_where_only_that_flushes) {
  faults.flushes64 = true;
  promises(ALL, false);
}
END_TEST

START_TEST(two_roundings_are_seen) {
  faults.splits_fma = true;
  promises(ALL & ~VYRE_NUMERIC_FMA, true);
}
END_TEST

START_TEST(a_quotient_that_is_a_unit_off_is_seen) {
  faults.divides_badly = true;
  promises(ALL & ~VYRE_NUMERIC_DIVISION, true);
}
END_TEST

/* The second run is of code that goes around what the first one found. */
START_TEST(what_the_emitter_can_go_around_is_promised) {
  faults.compares_flushed = faults.divides_badly = faults.is_mended = true;
  promises(ALL, true);
}
END_TEST

START_TEST(comparisons_that_flush_are_seen) {
  faults.compares_flushed = true;
  promises(ALL & ~VYRE_NUMERIC_SUBNORMALS, true);
  ck_assert(rig_logged("exactly 0x0,"));
}
END_TEST

START_TEST(fma_that_flushes_is_made_of_f64) {
  faults.compares_flushed = faults.fuses_flushed = faults.is_mended = true;
  promises(ALL, true);
}
END_TEST

START_TEST(fma_that_flushes_is_not_promised_without_f64) {
  faults.compares_flushed = faults.fuses_flushed = faults.is_mended = faults.has_no_f64 = true;
  promises(ALL & ~VYRE_NUMERIC_FMA, false);
}
END_TEST

/* The setting asks for no more than the device has. */
START_TEST(without_f64_nothing_is_made_of_it) {
  char text[64];
  faults.divides_badly = faults.has_no_f64 = true;
  rig_setting("exactly", "1");
  promises(ALL & ~VYRE_NUMERIC_DIVISION, false);
  snprintf(text, sizeof text, "exactly 0x%x,", SPIRV_KEEP_32 | SPIRV_WORDS_64);
  ck_assert(rig_logged(text));
}
END_TEST

START_TEST(a_device_that_can_not_add_is_promised_nothing) {
  faults.adds_badly = true;
  promises(VYRE_NUMERIC_ZERO_ORDER, true);
  ck_assert(rig_logged("adds or multiplies f32 wrongly"));
}
END_TEST

static bool has_int64(void) {
  rig r;
  use_fake("");
  describe(&r);
  ck_assert_uint_eq(r.caps.numeric, ALL);
  return (r.caps.needs & VYRE_NEED_INT64) != 0;
}

START_TEST(right_integers_are_left_to_the_device) {
  ck_assert(has_int64());
  ck_assert(rig_logged("exactly 0x0,"));
}
END_TEST

START_TEST(integers_that_saturate_badly_are_compared_by_words) {
  char text[64];
  faults.saturates_badly = faults.is_mended = true;
  ck_assert(has_int64());
  snprintf(text, sizeof text, "exactly 0x%x,", SPIRV_WORDS_64);
  ck_assert(rig_logged(text));
}
END_TEST

START_TEST(u64_is_given_up_where_nothing_helps) {
  faults.saturates_badly = true;
  ck_assert(!has_int64());
  ck_assert(rig_logged("computes sums or differences of u64 wrongly"));
}
END_TEST

/* ---- Keeping --------------------------------------------------------------------------------- */

START_TEST(it_runs_once_for_a_device_and_driver) {
  rig r;
  use_fake("");
  describe(&r);
  uint64_t submits = fake.calls("vkQueueSubmit");
  ck_assert_uint_gt(submits, 0);
  describe(&r);
  ck_assert_uint_eq(fake.calls("vkQueueSubmit"), submits);
  ck_assert_uint_eq(r.caps.numeric, ALL);
  rig_setting("without", "int16"); /* the code may be another */
  describe(&r);
  ck_assert_uint_gt(fake.calls("vkQueueSubmit"), submits);
}
END_TEST

START_TEST(a_device_that_is_lost_meanwhile_is_promised_nothing_and_tried_again) {
  rig r;
  use_fake("lose at 1");
  describe(&r);
  ck_assert_uint_eq(r.caps.numeric, VYRE_NUMERIC_ZERO_ORDER);
  ck_assert(rig_logged("could not be tested"));
  rig_nothing_lives(&fake);
  ck_assert_ptr_null(fake.script(""));
  fake.kernel("entry0", run_kernel);
  describe(&r);
  ck_assert_uint_eq(r.caps.numeric, ALL);
}
END_TEST

/* What a real driver is promised, programs are compared by elsewhere. */
START_TEST(a_real_device_is_tested) {
  rig r;
  if (!rig_has_device()) return;
  describe(&r);
  ck_assert(!rig_logged("could not be tested"));
  ck_assert(!rig_logged("of u64 wrongly"));
}
END_TEST

/* Nor does a driver break what is emitted in the place of its own operations. A promise is one for all types, so f32 is
 * seen in the log. */
START_TEST(what_a_real_device_is_given_in_place_of_its_own_is_right) {
  rig r;
  if (!rig_has_device()) return;
  rig_setting("exactly", "1");
  describe(&r);
  if ((r.caps.needs & VYRE_NEED_FLOAT64) == 0) return;
  char text[64];
  snprintf(text, sizeof text, "f32 0x%x,", VYRE_NUMERIC_SUBNORMALS | VYRE_NUMERIC_FMA | VYRE_NUMERIC_DIVISION);
  ck_assert(rig_logged(text));
  snprintf(text, sizeof text, "exactly 0x%x,", SPIRV_EXACTLY);
  ck_assert(rig_logged(text));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
    the_kernel_is_sound,
    the_kernel_of_integers_is_sound,
    a_good_device_is_promised,
    flushing_is_seen_and_division_kept,
    f64_is_given_up_where_only_that_flushes,
    two_roundings_are_seen,
    a_quotient_that_is_a_unit_off_is_seen,
    what_the_emitter_can_go_around_is_promised,
    comparisons_that_flush_are_seen,
    fma_that_flushes_is_made_of_f64,
    fma_that_flushes_is_not_promised_without_f64,
    without_f64_nothing_is_made_of_it,
    a_device_that_can_not_add_is_promised_nothing,
    right_integers_are_left_to_the_device,
    integers_that_saturate_badly_are_compared_by_words,
    u64_is_given_up_where_nothing_helps,
    it_runs_once_for_a_device_and_driver,
    a_device_that_is_lost_meanwhile_is_promised_nothing_and_tried_again,
    a_real_device_is_tested,
    what_a_real_device_is_given_in_place_of_its_own_is_right,
    NULL,
  };
  return run_suite("vulkan, self-test", 60, tests);
}
