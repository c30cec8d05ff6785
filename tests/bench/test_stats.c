/* Statistics against values worked out by hand, against sorting, and against what they are for: five percent of
 * difference is found in noise, and no difference is not. */
#include "harness/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"

static uint64_t state = 20261130;

static double uniform(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) * 0x1p-53;
}

/* About normal, by the sum of twelve. */
static double noisy(double mean, double deviation) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += uniform();
  return mean + deviation * sum;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

START_TEST(statistics_by_hand) {
  bench_stats s;
  ck_assert(bench_stats_of((double[]){5, 1, 4, 2, 3}, 5, &s));
  ck_assert_uint_eq(s.count, 5);
  ck_assert_double_eq(s.min, 1);
  ck_assert_double_eq(s.max, 5);
  ck_assert_double_eq(s.p50, 3);
  ck_assert_double_eq_tol(s.p90, 4.6, 1e-12);
  ck_assert_double_eq_tol(s.p95, 4.8, 1e-12);
  ck_assert_double_eq_tol(s.p99, 4.96, 1e-12);
  ck_assert_double_eq_tol(s.p999, 4.996, 1e-12);
  ck_assert_double_eq(s.mean, 3);
  ck_assert_double_eq_tol(s.stddev, sqrt(2.5), 1e-12);
  ck_assert_double_eq_tol(s.cv, sqrt(2.5) / 3, 1e-12);
}
END_TEST

START_TEST(few_samples) {
  bench_stats s;
  ck_assert(bench_stats_of(NULL, 0, &s));
  ck_assert_uint_eq(s.count, 0);
  ck_assert_double_eq(s.p50, 0);
  ck_assert(bench_stats_of((double[]){7}, 1, &s));
  ck_assert_double_eq(s.min, 7);
  ck_assert_double_eq(s.p50, 7);
  ck_assert_double_eq(s.p999, 7);
  ck_assert_double_eq(s.stddev, 0);
  ck_assert(bench_stats_of((double[]){8, 4}, 2, &s));
  ck_assert_double_eq(s.p50, 6);
}
END_TEST

START_TEST(percentiles_are_monotone) {
  for (uint32_t count = 1; count < 200; count++) {
    double v[200];
    bench_stats s;
    /* Neighbours that differ in their last bit, and many that are equal. */
    for (uint32_t i = 0; i < count; i++) v[i] = uniform() < 0.3 ? 1e9 : nextafter(1e9, uniform() < 0.5 ? 0 : 2e9);
    ck_assert(bench_stats_of(v, count, &s));
    ck_assert(s.min <= s.p50 && s.p50 <= s.p90 && s.p90 <= s.p95 && s.p95 <= s.p99 && s.p99 <= s.p999 &&
              s.p999 <= s.max);
  }
}
END_TEST

START_TEST(medians_as_by_sorting) {
  for (uint32_t count = 1; count < 130; count++) {
    for (int shape = 0; shape < 4; shape++) {
      double v[130], sorted[130];
      for (uint32_t i = 0; i < count; i++)
        v[i] = shape == 0 ? uniform() : shape == 1 ? i : shape == 2 ? count - i : (double)(i % 3);
      memcpy(sorted, v, sizeof sorted);
      qsort(sorted, count, sizeof *sorted, ascending);
      double wanted = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
      ck_assert_double_eq_tol(bench_median(v, count), wanted, 1e-12);
    }
  }
}
END_TEST

enum { SAMPLES = 30 };

static void fill(double *v, double mean, double deviation) {
  for (int i = 0; i < SAMPLES; i++) v[i] = noisy(mean, deviation);
}

START_TEST(five_percent_is_found_and_nothing_is_not) {
  int found = 0, imagined = 0;
  for (uint64_t run = 0; run < 200; run++) {
    double own[SAMPLES], slower[SAMPLES], same[SAMPLES];
    bench_interval i;
    fill(own, 1000, 20); /* 2 % of noise */
    fill(slower, 1050, 20);
    fill(same, 1000, 20);
    ck_assert(bench_ratio_paired(slower, own, SAMPLES, 0.99, run, &i));
    found += i.low > 1;
    ck_assert(bench_ratio_unpaired(same, SAMPLES, own, SAMPLES, 0.99, run, &i));
    imagined += i.low > 1 || i.high < 1;
    ck_assert(i.low <= i.value && i.value <= i.high);
  }
  ck_assert_msg(found >= 196, "5 %% were found in %d of 200 runs", found);
  ck_assert_msg(imagined <= 8, "a difference was imagined in %d of 200 runs", imagined);
}
END_TEST

START_TEST(pairs_take_out_what_is_common) {
  double own[SAMPLES], peer[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) {
    double machine = 1 + 0.5 * uniform(); /* both suffer from it */
    own[i] = 1000 * machine * noisy(1, 0.001);
    peer[i] = 1020 * machine * noisy(1, 0.001);
  }
  ck_assert_double_lt(bench_sign_test(peer, own, SAMPLES), 1e-8);
  bench_interval paired, unpaired;
  ck_assert(bench_ratio_paired(peer, own, SAMPLES, 0.99, 1, &paired));
  ck_assert(bench_ratio_unpaired(peer, SAMPLES, own, SAMPLES, 0.99, 1, &unpaired));
  ck_assert_double_lt(paired.high - paired.low, unpaired.high - unpaired.low);
}
END_TEST

START_TEST(a_seed_gives_one_answer) {
  double a[SAMPLES], b[SAMPLES];
  bench_interval one, two, other;
  fill(a, 10, 1);
  fill(b, 10, 1);
  ck_assert(bench_ratio_paired(a, b, SAMPLES, 0.99, 5, &one));
  ck_assert(bench_ratio_paired(a, b, SAMPLES, 0.99, 5, &two));
  ck_assert(bench_ratio_paired(a, b, SAMPLES, 0.99, 6, &other));
  ck_assert_mem_eq(&one, &two, sizeof one);
  ck_assert_double_eq(one.value, other.value);
  ck_assert(one.low != other.low || one.high != other.high);
}
END_TEST

START_TEST(no_ratio_of_no_times) {
  bench_interval i;
  const double good[] = {1, 2, 3}, zero[] = {1, 0, 3}, negative[] = {1, -2, 3}, none[] = {1, NAN, 3},
               endless[] = {1, INFINITY, 3};
  ck_assert(bench_ratio_paired(good, good, 3, 0.99, 1, &i));
  ck_assert(!bench_ratio_paired(good, good, 0, 0.99, 1, &i));
  ck_assert(!bench_ratio_unpaired(good, 3, good, 0, 0.99, 1, &i));
  const double *bad[] = {zero, negative, none, endless};
  for (int k = 0; k < 4; k++) {
    ck_assert(!bench_ratio_paired(good, bad[k], 3, 0.99, 1, &i));
    ck_assert(!bench_ratio_paired(bad[k], good, 3, 0.99, 1, &i));
  }
}
END_TEST

START_TEST(sign_test_by_hand) {
  double ones[60], twos[60];
  for (int i = 0; i < 60; i++) {
    ones[i] = 1;
    twos[i] = 2;
  }
  ck_assert_double_eq_tol(bench_sign_test(twos, ones, 10), 0x1p-10, 1e-15);
  ck_assert_double_eq_tol(bench_sign_test(ones, twos, 10), 1, 1e-12);
  ck_assert_double_eq(bench_sign_test(ones, ones, 10), 1);
  ck_assert_double_eq_tol(bench_sign_test(twos, ones, 60), 0x1p-60, 1e-28);
  double mixed[10] = {2, 2, 2, 2, 2, 0.5, 0.5, 0.5, 0.5, 0.5}; /* five wins of ten */
  ck_assert_double_eq_tol(bench_sign_test(mixed, ones, 10), 638.0 / 1024, 1e-12);
  mixed[9] = 1; /* a tie does not count: five of nine */
  ck_assert_double_eq_tol(bench_sign_test(mixed, ones, 10), 0.5, 1e-12);
}
END_TEST

START_TEST(memory_may_end) {
  double a[SAMPLES];
  bench_interval interval;
  bench_stats stats;
  fill(a, 10, 1);
  for (uint64_t n = 1;; n++) {
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    bool done = bench_ratio_paired(a, a, SAMPLES, 0.99, 1, &interval) && bench_stats_of(a, SAMPLES, &stats);
    bool failed = fail_malloc_end();
    ck_assert(done || failed); /* qsort does without the memory that it asks for */
    if (n <= 3 && fail_malloc_works()) ck_assert(!done);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      statistics_by_hand, few_samples, percentiles_are_monotone, medians_as_by_sorting,
      five_percent_is_found_and_nothing_is_not, pairs_take_out_what_is_common, a_seed_gives_one_answer,
      no_ratio_of_no_times, sign_test_by_hand, memory_may_end, NULL
  };
  return run_suite("stats", 60, tests);
}
