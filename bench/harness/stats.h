/* Statistics of samples: order statistics, ratios of medians with their intervals, and the sign test. Pure functions;
 * what is random in them (the bootstrap) is determined by a seed. */
#ifndef VYRE_BENCH_STATS_H
#define VYRE_BENCH_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

/* Whether a launch can take so many ns: from 0.1, which is less than a call takes, to 1e18, thirty years. What passes
 * these is an error or a lie, and would pass the range of doubles where it is squared. */
bool bench_is_time(double ns);

/* Statistics of |count| samples, in any order. Percentiles interpolate linearly between order statistics, at
 * p * (count - 1); stddev is that of a sample (count - 1). All 0 for no samples. False without memory. */
bool bench_stats_of(const double *samples, uint32_t count, bench_stats *out);

/* The median of |count| > 0 samples, which it reorders. Linear in |count|. */
double bench_median(double *samples, uint32_t count);

/* The ratio of two medians with a bootstrap interval of |confidence| (0.99): percentiles of the ratios of resampled
 * medians. */
typedef struct bench_interval {
  double value, low, high; /* value: p50(a) / p50(b) of the samples themselves */
} bench_interval;

/* Of pairs: a[i] and b[i] were taken in the same round and are drawn together. */
bool bench_ratio_paired(const double *a, const double *b, uint32_t count, double confidence, uint64_t seed,
                        bench_interval *out);
/* Of independent series. Both: false without memory, or if a series is empty or a sample is not above 0. */
bool bench_ratio_unpaired(const double *a, uint32_t a_count, const double *b, uint32_t b_count, double confidence,
                          uint64_t seed, bench_interval *out);

/* One-sided sign test over pairs: how likely it is that b is below a as often as here, or more, if neither is
 * smaller in truth. Equal pairs do not count; 1 if there are no others. Exact binomial tail. */
double bench_sign_test(const double *a, const double *b, uint32_t count);

#endif
