/* The works of the CPU peer: plain loops for the compiler to vectorise, intrinsics where C has no word for it. */
#include "cpu.h"

#include <string.h>
#if defined __AVX512F__ || defined __F16C__
#include <immintrin.h>
#endif
#if __has_include(<libdivide.h>)
#include <libdivide.h>
#define HAVE_LIBDIVIDE 1
#endif

/* ---- elementwise.add ---- */

#define INPUT(type, k) ((const type *)data->in[k] + begin)

static void add_f32(const cpu_data *data, size_t begin, size_t count, void *out) {
  const float *restrict a = INPUT(float, 0), *restrict b = INPUT(float, 1);
  float *restrict o = out;
  for (size_t i = 0; i < count; i++) o[i] = a[i] + b[i];
}

static void add_u8(const cpu_data *data, size_t begin, size_t count, void *out) {
  const uint8_t *restrict a = INPUT(uint8_t, 0), *restrict b = INPUT(uint8_t, 1);
  uint8_t *restrict o = out;
  for (size_t i = 0; i < count; i++) o[i] = (uint8_t)(a[i] + b[i]);
}

static float from_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

/* To the nearest, ties to even; NaN stays quiet. */
static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return value == value ? (uint16_t)rounded : (uint16_t)((bits >> 16) | 0x40);
}

static void add_bf16(const cpu_data *data, size_t begin, size_t count, void *out) {
  const uint16_t *restrict a = INPUT(uint16_t, 0), *restrict b = INPUT(uint16_t, 1);
  uint16_t *restrict o = out;
  for (size_t i = 0; i < count; i++) o[i] = to_bf16(from_bf16(a[i]) + from_bf16(b[i]));
}

/* The sum of two f16 is exact in f32 but for one rounding that the narrowing repeats without harm: f32 has more than
 * twice the bits of f16 and two to spare. */
#if defined __AVX512F__
enum { F16_STEP = 16 };
static void add_f16_step(const uint16_t *a, const uint16_t *b, uint16_t *o) {
  __m512 sum = _mm512_add_ps(_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)a)),
                             _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)b)));
  _mm256_storeu_si256((__m256i *)o, _mm512_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined __F16C__
enum { F16_STEP = 8 };
static void add_f16_step(const uint16_t *a, const uint16_t *b, uint16_t *o) {
  __m256 sum = _mm256_add_ps(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)a)),
                             _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)b)));
  _mm_storeu_si128((__m128i *)o, _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#endif

#if defined __AVX512F__ || defined __F16C__
static void add_f16(const cpu_data *data, size_t begin, size_t count, void *out) {
  const uint16_t *a = INPUT(uint16_t, 0), *b = INPUT(uint16_t, 1);
  uint16_t *o = out, rest[3][F16_STEP] = {{0}};
  size_t whole = count - count % F16_STEP, left = (count - whole) * sizeof *o;
  for (size_t i = 0; i < whole; i += F16_STEP) add_f16_step(a + i, b + i, o + i);
  if (!left) return;
  memcpy(rest[0], a + whole, left);
  memcpy(rest[1], b + whole, left);
  add_f16_step(rest[0], rest[1], rest[2]);
  memcpy(o + whole, rest[2], left);
}
#endif

/* ---- integer.strength_reduction ---- */

static void reduce_strength(const cpu_data *data, size_t begin, size_t count, void *out) {
  const uint32_t *restrict in = INPUT(uint32_t, 0);
  uint32_t *restrict o = out;
  for (size_t i = 0; i < count; i++) {
    uint32_t x = in[i];
    o[i] = x / 7 + x % 10 + x / 641 + x % 1000 + x / 65536 + x % 4096 + ((9 * x) ^ (31 * x));
  }
}

static void divide_exact(const cpu_data *data, size_t begin, size_t count, void *out) {
  const uint32_t *restrict in = INPUT(uint32_t, 0);
  uint32_t *restrict o = out;
  for (size_t i = 0; i < count; i++) {
    uint32_t w = in[i] >> 8;
    o[i] = w * 12 / 12 + w * 100 / 25;
  }
}

/* The divisors are known at run time only: libdivide's multiplication, without a branch. It has none for 1. */
#if HAVE_LIBDIVIDE
enum { DIVISORS = 6 };
static struct libdivide_u32_branchfree_t by[DIVISORS];
static uint32_t divisors[DIVISORS];

static const char *begin_runtime(const peer_work *work) {
  for (int k = 0; k < DIVISORS; k++) {
    const char name[] = {'d', (char)('0' + k), '\0'};
    double value = peer_value(work, name);
    if (!(value >= 2 && value <= UINT32_MAX)) return peer_reason("divisor %s is %g, not 2 to 2^32 - 1", name, value);
    divisors[k] = (uint32_t)value;
    by[k] = libdivide_u32_branchfree_gen(divisors[k]);
  }
  return NULL;
}

static void reduce_runtime(const cpu_data *data, size_t begin, size_t count, void *out) {
  const uint32_t *restrict in = INPUT(uint32_t, 0);
  uint32_t *restrict o = out;
  struct libdivide_u32_branchfree_t d[DIVISORS];
  memcpy(d, by, sizeof d);
  const uint32_t m1 = divisors[1], m3 = divisors[3], m5 = divisors[5];
  for (size_t i = 0; i < count; i++) {
    uint32_t x = in[i], q[DIVISORS];
    for (int k = 0; k < DIVISORS; k++) q[k] = libdivide_u32_branchfree_do(x, &d[k]);
    o[i] = q[0] + (x - q[1] * m1) + q[2] + (x - q[3] * m3) + q[4] + (x - q[5] * m5) + ((9 * x) ^ (31 * x));
  }
}
#endif

/* ---- reduce.sum, and the probes over arrays ---- */

static void sum_u32(const cpu_data *data, size_t begin, size_t count, void *out) {
  const uint32_t *restrict v = INPUT(uint32_t, 0);
  uint32_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += v[i];
  *(uint64_t *)out = sum;
}

static void combine_sum(void *out, const uint64_t *partial, size_t stride, int threads) {
  uint32_t sum = 0;
  for (int t = 0; t < threads; t++) sum += (uint32_t)partial[(size_t)t * stride];
  memcpy(out, &sum, sizeof sum);
}

static void copy_f64(const cpu_data *data, size_t begin, size_t count, void *out) {
  memcpy(out, INPUT(double, 0), count * sizeof(double));
}

static void triad_f64(const cpu_data *data, size_t begin, size_t count, void *out) {
  const double *restrict b = INPUT(double, 0), *restrict c = INPUT(double, 1);
  double *restrict a = out;
  for (size_t i = 0; i < count; i++) a[i] = b[i] + 3.0 * c[i];
}

const cpu_kernel cpu_kernels[] = {
  {"elementwise.add", "f32", {"a", "b"}, "o", 4, add_f32, NULL, NULL},
  {"elementwise.add", "u8", {"a", "b"}, "o", 1, add_u8, NULL, NULL},
  {"elementwise.add", "bf16", {"a", "b"}, "o", 2, add_bf16, NULL, NULL},
#if defined __AVX512F__ || defined __F16C__
  {"elementwise.add", "f16", {"a", "b"}, "o", 2, add_f16, NULL, NULL},
#endif
  {"integer.strength_reduction", "u32", {"x"}, "o", 4, reduce_strength, NULL, NULL},
  {"integer.strength_reduction.exact", "u32", {"x"}, "o", 4, divide_exact, NULL, NULL},
#if HAVE_LIBDIVIDE
  {"integer.strength_reduction.runtime", "u32", {"x"}, "o", 4, reduce_runtime, NULL, begin_runtime},
#endif
  {"reduce.sum", "u32", {"v"}, "o", 4, sum_u32, combine_sum, NULL},
  {"probe.bw_copy", "f64", {"a"}, "o", 8, copy_f64, NULL, NULL},
  {"probe.bw_triad", "f64", {"b", "c"}, "a", 8, triad_f64, NULL, NULL},
  {"probe.bw_read", "u32", {"v"}, "o", 4, sum_u32, combine_sum, NULL},
};
const uint32_t cpu_kernel_count = sizeof cpu_kernels / sizeof *cpu_kernels;
