/* Order statistics by sorting or by quickselect, a percentile bootstrap, and an exact binomial tail. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESAMPLES 2000u /* the 0.5 % percentile stands on ten of them; more moves no digit that is shown */

bool bench_is_time(double ns) {
  return ns * 10 >= 1 && ns <= 1e18;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double *copy_of(const double *samples, uint32_t count) {
  double *copy = calloc(count ? count : 1, sizeof *copy);
  if (copy && count) memcpy(copy, samples, count * sizeof *copy);
  return copy;
}

/* At |p| in [0, 1] of sorted samples. Rounding is kept from leaving the two neighbours, so that percentiles are
 * monotone. */
static double percentile(const double *sorted, uint32_t count, double p) {
  double at = p * (count - 1);
  uint32_t below = (uint32_t)at;
  if (below + 1 >= count) return sorted[count - 1];
  double value = sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
  return fmin(fmax(value, sorted[below]), sorted[below + 1]);
}

bool bench_stats_of(const double *samples, uint32_t count, bench_stats *out) {
  *out = (bench_stats){0};
  if (count == 0) return true;
  double *sorted = copy_of(samples, count);
  if (!sorted) return false;
  qsort(sorted, count, sizeof *sorted, ascending);
  double mean = 0, square = 0; /* Welford's recurrence */
  for (uint32_t i = 0; i < count; i++) {
    double delta = sorted[i] - mean;
    mean += delta / (i + 1);
    square += delta * (sorted[i] - mean);
  }
  out->count = count;
  out->min = sorted[0];
  out->max = sorted[count - 1];
  out->p50 = percentile(sorted, count, 0.50);
  out->p90 = percentile(sorted, count, 0.90);
  out->p95 = percentile(sorted, count, 0.95);
  out->p99 = percentile(sorted, count, 0.99);
  out->p999 = percentile(sorted, count, 0.999);
  out->mean = mean;
  out->stddev = count > 1 ? sqrt(square / (count - 1)) : 0;
  out->cv = mean != 0 ? out->stddev / mean : 0;
  free(sorted);
  return true;
}

/* Moves the |k| smallest to the front, with the k-th (from 0) at its place: Hoare's selection. */
static double select_kth(double *v, uint32_t count, uint32_t k) {
  uint32_t low = 0, high = count - 1;
  while (low < high) {
    double pivot = v[low + (high - low) / 2];
    uint32_t i = low, j = high;
    while (i <= j) {
      while (v[i] < pivot) i++;
      while (v[j] > pivot) j--;
      if (i > j) break;
      double swap = v[i];
      v[i] = v[j];
      v[j] = swap;
      i++;
      if (j == 0) break;
      j--;
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else break;
  }
  return v[k];
}

double bench_median(double *samples, uint32_t count) {
  double high = select_kth(samples, count, count / 2);
  if (count % 2) return high;
  double low = samples[0]; /* the largest of the lower half */
  for (uint32_t i = 1; i < count / 2; i++) low = fmax(low, samples[i]);
  return low + 0.5 * (high - low);
}

/* SplitMix64. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Below |bound|; the bias of 2^-32 is far below what a bootstrap resolves. */
static uint32_t draw(uint64_t *state, uint32_t bound) {
  return (uint32_t)(((next_random(state) >> 32) * bound) >> 32);
}

static bool all_positive(const double *v, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!(v[i] > 0) || !isfinite(v[i])) return false;
  return count > 0;
}

typedef struct bootstrap {
  const double *a, *b;
  uint32_t a_count, b_count;
  bool paired;
  double *room_a, *room_b, *ratios;
} bootstrap;

static void resample(bootstrap *s, uint64_t *state) {
  for (uint32_t i = 0; i < s->a_count; i++) {
    uint32_t at = draw(state, s->a_count);
    s->room_a[i] = s->a[at];
    if (s->paired) s->room_b[i] = s->b[at];
  }
  for (uint32_t i = 0; !s->paired && i < s->b_count; i++) s->room_b[i] = s->b[draw(state, s->b_count)];
}

static void run_bootstrap(bootstrap *s, double confidence, uint64_t seed, bench_interval *out) {
  memcpy(s->room_a, s->a, s->a_count * sizeof *s->a);
  memcpy(s->room_b, s->b, s->b_count * sizeof *s->b);
  out->value = bench_median(s->room_a, s->a_count) / bench_median(s->room_b, s->b_count);
  for (uint32_t r = 0; r < RESAMPLES; r++) {
    resample(s, &seed);
    s->ratios[r] = bench_median(s->room_a, s->a_count) / bench_median(s->room_b, s->b_count);
  }
  qsort(s->ratios, RESAMPLES, sizeof *s->ratios, ascending);
  out->low = fmin(percentile(s->ratios, RESAMPLES, (1 - confidence) / 2), out->value);
  out->high = fmax(percentile(s->ratios, RESAMPLES, (1 + confidence) / 2), out->value);
}

static bool ratio_of(bootstrap *s, double confidence, uint64_t seed, bench_interval *out) {
  *out = (bench_interval){0};
  if (!all_positive(s->a, s->a_count) || !all_positive(s->b, s->b_count)) return false;
  s->room_a = calloc(s->a_count, sizeof *s->room_a);
  s->room_b = calloc(s->b_count, sizeof *s->room_b);
  s->ratios = calloc(RESAMPLES, sizeof *s->ratios);
  bool done = s->room_a && s->room_b && s->ratios;
  if (done) run_bootstrap(s, confidence, seed, out);
  free(s->room_a);
  free(s->room_b);
  free(s->ratios);
  return done;
}

bool bench_ratio_paired(const double *a, const double *b, uint32_t count, double confidence, uint64_t seed,
                        bench_interval *out) {
  bootstrap s = {.a = a, .b = b, .a_count = count, .b_count = count, .paired = true};
  return ratio_of(&s, confidence, seed, out);
}

bool bench_ratio_unpaired(const double *a, uint32_t a_count, const double *b, uint32_t b_count, double confidence,
                          uint64_t seed, bench_interval *out) {
  bootstrap s = {.a = a, .b = b, .a_count = a_count, .b_count = b_count};
  return ratio_of(&s, confidence, seed, out);
}

double bench_sign_test(const double *a, const double *b, uint32_t count) {
  uint32_t wins = 0, pairs = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (a[i] == b[i]) continue;
    pairs++;
    if (b[i] < a[i]) wins++;
  }
  if (pairs == 0) return 1;
  double tail = 0; /* P(X >= wins), X of Binomial(pairs, 1/2); by logarithms, so that no factor overflows */
  for (uint32_t k = wins; k <= pairs; k++)
    tail += exp(lgamma(pairs + 1.0) - lgamma(k + 1.0) - lgamma(pairs - k + 1.0) - pairs * log(2));
  return fmin(tail, 1);
}
