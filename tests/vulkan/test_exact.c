/* What the emitter makes in place of a device's own operations, beside the oracle on many numbers: quotients, roots and
 * fma of f32 by way of f64, and 64-bit integers compared by their words, beside the device's own comparisons. */
#include <stdio.h>

#include <vyre/device.h>

#include "../golden.h"
#include "../suite.h"
#include "rig.h"

typedef struct sides {
  vyre_context *context;
  vyre_device *oracle, *device;
} sides;

static vyre_device *open_device(const sides *s, const char *name) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_device *device = NULL;
  if (vyre_device_open(s->context, name, &device, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
  return device;
}

static sides open_sides(bool exactly) {
  sides s = { NULL, NULL, NULL };
  vyre_error error = VYRE_ERROR_INIT;
  const char *backends = getenv("VYRE_TEST_BACKENDS");
  ck_assert_msg(backends != NULL, "VYRE_TEST_BACKENDS is not set; run `make check`");
  setenv("VYRE_BACKEND_PATH", backends, 1);
  setenv("VYRE_CACHE", "off", 1);
  setenv("VYRE_BACKEND_VULKAN_EXACTLY", exactly ? "1" : "0", 1);
  if (vyre_context_create(NULL, NULL, &s.context, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
  s.oracle = open_device(&s, "cpu_ref:0");
  s.device = open_device(&s, "vulkan:0");
  return s;
}

static void close_sides(sides *s) {
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(vyre_device_close(s->device, UINT64_MAX, &error) == VYRE_OK, "%s", error.text);
  ck_assert_msg(vyre_device_close(s->oracle, UINT64_MAX, &error) == VYRE_OK, "%s", error.text);
  vyre_context_destroy(s->context);
}

static void run_on(vyre_device *device, vyre_program *program, const vyre_arg *args, uint32_t count, uint64_t groups) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_run_options options = VYRE_RUN_OPTIONS_INIT;
  options.has_grid = 1;
  options.grid[0] = groups;
  if (vyre_run(device, program, args, count, &options, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
}

static void *zeroed(size_t count, size_t bytes) {
  void *memory = calloc(count, bytes);
  ck_assert_ptr_nonnull(memory);
  return memory;
}

static uint64_t seed = 77;
static uint32_t random_word(void) { return rig_random(&seed); }

/* ---- Floats ---------------------------------------------------------------------------------- */

enum { GROUP = 256, FLOAT_RESULTS = 3 };
static const char floats_program[] =
  "program floats workgroup(256) { read x: f32[]; read y: f32[]; read z: f32[]; write q: f32[];\n"
  "  let i = gid.x; let n = len(x); q[i] = x[i] / y[i]; q[n + i] = sqrt(x[i]); q[2 * n + i] = fma(x[i], y[i], z[i]); }";

static bool is_nan(uint32_t bits) { return (bits & 0x7FFFFFFF) > 0x7F800000; }

/* Any bits; or subnormals and what is next to them; or few bits, with which results come close to half of the last. */
static uint32_t some_float(void) {
  static const uint32_t special[] = { 0, 1, 0x007FFFFF, 0x00800000, 0x00800001, 0x3F800000, 0x3F7FFFFF, 0x4B800000,
                                      0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x00400000, 0x01000000, 0x7F000000 };
  const uint32_t word = random_word(), sign = word & 0x80000000;
  switch (word % 5) {
    case 0: return sign | special[(word >> 8) % (sizeof special / sizeof *special)];
    case 1: return sign | (random_word() & 0x00FFFFFF);
    case 2: return sign | (0x3F000000 + (random_word() & 0x01FFF000));
    case 3: return sign | (0x20000000 + random_word() % 0x40000000);
    default: return random_word();
  }
}

/* Often close to the product with another sign, so that the sum is what the product's rounding would have lost. */
static uint32_t some_third(uint32_t x, uint32_t y) {
  float a, b;
  uint32_t bits;
  if (random_word() % 2 == 0) return some_float();
  memcpy(&a, &x, sizeof a);
  memcpy(&b, &y, sizeof b);
  const float product = -(a * b);
  memcpy(&bits, &product, sizeof bits);
  return bits ^ (random_word() % 4 == 0 ? random_word() & 0x80000003 : 0);
}

static void compare_floats(const uint32_t *x[3], const uint32_t *wanted, const uint32_t *found, uint32_t count) {
  static const char *const what[FLOAT_RESULTS] = { "x / y", "sqrt(x)", "fma(x, y, z)" };
  for (uint32_t k = 0; k < FLOAT_RESULTS * count; k++) {
    const uint32_t i = k % count;
    if (wanted[k] == found[k] || (is_nan(wanted[k]) && is_nan(found[k]))) continue;
    ck_abort_msg("%s of 0x%08X, 0x%08X, 0x%08X: wanted 0x%08X, found 0x%08X", what[k / count], x[0][i], x[1][i],
                 x[2][i], wanted[k], found[k]);
  }
}

START_TEST(floats_by_other_operations) {
  const uint32_t count = (uint32_t)suite_rounds(1u << 20) / GROUP * GROUP;
  sides s = open_sides(true);
  vyre_program *program = golden_parse("floats", floats_program);
  uint32_t *x = zeroed(count, 4), *y = zeroed(count, 4), *z = zeroed(count, 4);
  uint32_t *wanted = zeroed(count, 4 * FLOAT_RESULTS), *found = zeroed(count, 4 * FLOAT_RESULTS);
  for (uint32_t i = 0; i < count; i++) x[i] = some_float(), y[i] = some_float(), z[i] = some_third(x[i], y[i]);
  for (int side = 0; side < 2; side++) {
    const vyre_arg args[] = { vyre_arg_in("x", x, count), vyre_arg_in("y", y, count), vyre_arg_in("z", z, count),
                              vyre_arg_out("q", side == 0 ? wanted : found, count * FLOAT_RESULTS) };
    run_on(side == 0 ? s.oracle : s.device, program, args, 4, count / GROUP);
  }
  compare_floats((const uint32_t *[]){ x, y, z }, wanted, found, count);
  vyre_program_release(program);
  free(x), free(y), free(z), free(wanted), free(found);
  close_sides(&s);
}
END_TEST

/* ---- Integers -------------------------------------------------------------------------------- */

enum { INTEGER_RESULTS = 17 };
static const char integers_program[] =
  "program integers workgroup(256) { param k: u64; param p: u32; read x: u64[]; read y: u64[]; write q: u64[];\n"
  "  let i = gid.x; let a = x[i]; let b = y[i]; let c = bitcast<i64>(a); let d = bitcast<i64>(b); let to = i * 17;\n"
  "  q[to] = sat_add(a, b); q[to + 1] = sat_sub(a, b);\n"
  "  q[to + 2] = sat_add(2u64, len64(x)) + a; q[to + 3] = sat_sub(7139205962u64, u64(p)) ^ b;\n"
  "  q[to + 4] = sat_add(u64(u32(a)), k); q[to + 5] = sat_sub(k, u64(u32(b)));\n"
  "  q[to + 6] = sat_sub(a, 7139205962u64); q[to + 7] = sat_add(a, 18446744073709551613u64);\n"
  "  q[to + 8] = min(a, b); q[to + 9] = bitcast<u64>(max(c, d));\n"
  "  q[to + 10] = (a <= b ? 1u64 : 0u64) + (c < d ? 2u64 : 0u64) + (c <= d ? 4u64 : 0u64);\n"
  "  q[to + 11] = a / b; q[to + 12] = a % b; q[to + 13] = bitcast<u64>(c / d); q[to + 14] = bitcast<u64>(c % d);\n"
  "  q[to + 15] = a / u64(u32(b)); q[to + 16] = u64(u32(a)) % k; }";

/* Any number; or one of few bits; or one next to a power of two, or next to the other one. */
static uint64_t some_integer(uint64_t other) {
  const uint32_t word = random_word();
  const uint64_t any = (uint64_t)random_word() << 32 | random_word(), power = UINT64_C(1) << (word >> 8 & 63);
  switch (word % 5) {
    case 0: return any >> (word >> 8 & 63);
    case 1: return power - 1 + (word >> 16 & 3);
    case 2: return UINT64_MAX - (any >> 32 & 7);
    case 3: return other + (any & 3) - 1;
    default: return any;
  }
}

static void integers(bool exactly) {
  const uint32_t count = (uint32_t)suite_rounds(1u << 16) / GROUP * GROUP;
  const uint64_t k = 0xFFFFFFFF80000000;
  sides s = open_sides(exactly);
  vyre_program *program = golden_parse("integers", integers_program);
  uint64_t *x = zeroed(count, 8), *y = zeroed(count, 8);
  uint64_t *wanted = zeroed(count, 8 * INTEGER_RESULTS), *found = zeroed(count, 8 * INTEGER_RESULTS);
  for (uint32_t i = 0; i < count; i++) x[i] = some_integer(1), y[i] = some_integer(x[i]);
  for (int side = 0; side < 2; side++) {
    const vyre_arg args[] = { vyre_arg_u64("k", k), vyre_arg_u32("p", 0x98765432), vyre_arg_in("x", x, count),
                              vyre_arg_in("y", y, count),
                              vyre_arg_out("q", side == 0 ? wanted : found, count * INTEGER_RESULTS) };
    run_on(side == 0 ? s.oracle : s.device, program, args, 5, count / GROUP);
  }
  for (uint64_t i = 0; i < (uint64_t)count * INTEGER_RESULTS; i++)
    ck_assert_msg(wanted[i] == found[i], "result %u of 0x%llX and 0x%llX: wanted 0x%llX, found 0x%llX",
                  (unsigned)(i % INTEGER_RESULTS), (unsigned long long)x[i / INTEGER_RESULTS],
                  (unsigned long long)y[i / INTEGER_RESULTS], (unsigned long long)wanted[i],
                  (unsigned long long)found[i]);
  vyre_program_release(program);
  free(x), free(y), free(wanted), free(found);
  close_sides(&s);
}

START_TEST(integers_as_the_device_does_it) { integers(false); }
END_TEST

START_TEST(integers_by_words) { integers(true); }
END_TEST

int main(void) {
  if (!rig_has_device()) return 77;
  const TTest *const tests[] = { floats_by_other_operations, integers_as_the_device_does_it, integers_by_words, NULL };
  return run_suite("vulkan, exactly", 300, tests);
}
