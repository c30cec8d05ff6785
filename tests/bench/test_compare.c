/* A slowdown of 5 % is found, in samples that are made up and in samples that were taken; no change is found where
 * nothing changed, whatever the machine does meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "harness/compare.h"
#include "harness/stats.h"
#include "sample_report.h"

static bench_report before, after;
static bench_comparison comparison;

static const bench_difference *row(uint32_t case_index, uint32_t contestant) {
  const bench_case *c = &after.cases[case_index];
  for (uint32_t i = 0; i < comparison.count; i++)
    if (comparison.rows[i].after == c && strcmp(comparison.rows[i].contestant, c->contestants[contestant].name) == 0)
      return &comparison.rows[i];
  ck_abort_msg("there is no row");
}

static void compare(void) {
  ck_assert_int_eq(bench_compare(&before, &after, &comparison), VYRE_OK);
  for (uint32_t i = 0; i < comparison.count; i++) {
    const bench_difference *d = &comparison.rows[i];
    bool plain = d->change == BENCH_SAME || d->change == BENCH_FASTER || d->change == BENCH_SLOWER ||
                 d->change == BENCH_ADDED || d->change == BENCH_REMOVED;
    ck_assert_msg(plain || d->reason, "%s without a reason", bench_change_name(d->change));
    ck_assert(d->ratio == 0 || (d->low <= d->ratio && d->ratio <= d->high));
  }
}

static void end(void) {
  bench_comparison_free(&comparison);
  bench_report_free(&before);
  bench_report_free(&after);
}

/* Two runs that differ by their seeds and by what |options| says of the later one. */
static void two_runs(uint64_t seed, const sample_options *options) {
  sample_options earlier = *options, later = *options;
  earlier.seed = 2 * seed + 1;
  later.seed = 2 * seed + 2;
  earlier.vyre = earlier.machine = 1;
  sample_report(&before, &earlier);
  sample_report(&after, &later);
  compare();
}

/* How often, of 50 pairs of runs, vyre is found to have changed in that way. */
static uint32_t found(const sample_options *options, bench_change change) {
  uint32_t times = 0;
  sample_options bare = *options;
  bare.bare = true;
  for (uint64_t seed = 0; seed < 50; seed++) {
    two_runs(seed, &bare);
    times += row(0, SAMPLE_VYRE)->change == change;
    end();
  }
  return times;
}

START_TEST(a_slowdown_of_5_percent_is_found) {
  sample_options slow = SAMPLE_PLAIN;
  slow.vyre = 1.05;
  slow.cv = 0.01;
  ck_assert_uint_ge(found(&slow, BENCH_SLOWER), 49);
  slow.cv = 0.02;
  ck_assert_uint_ge(found(&slow, BENCH_SLOWER), 37);
  slow.vyre = 1 / 1.05;
  slow.cv = 0.01;
  ck_assert_uint_ge(found(&slow, BENCH_FASTER), 49);
}
END_TEST

START_TEST(no_change_is_no_slowdown) {
  sample_options null = SAMPLE_PLAIN;
  static const double noise[] = { 0.002, 0.01, 0.03, 0.1 };
  for (int i = 0; i < 4; i++) {
    null.cv = noise[i];
    ck_assert_uint_le(found(&null, BENCH_SLOWER), 1);
    ck_assert_uint_le(found(&null, BENCH_FASTER), 1);
  }
  null.cv = 0.01;
  ck_assert_uint_ge(found(&null, BENCH_SAME), 48);
  null.vyre = 1.01; /* within the threshold */
  ck_assert_uint_eq(found(&null, BENCH_SLOWER), 0);
}
END_TEST

/* A machine that got slower as a whole, or while it was measured, is no slowdown of vyre. */
START_TEST(drift_is_no_slowdown) {
  sample_options drift = SAMPLE_PLAIN;
  drift.cv = 0.01;
  drift.machine = 1.08;
  ck_assert_uint_eq(found(&drift, BENCH_SLOWER), 0);
  ck_assert_uint_ge(found(&drift, BENCH_UNCLEAR), 47);
  two_runs(1, &drift);
  const bench_difference *d = row(SAMPLE_ADD_H, SAMPLE_VYRE);
  ck_assert(d->controlled && d->drift > 1.06 && d->drift < 1.1);
  ck_assert(strstr(d->reason, "may be the machine"));
  end();
  drift.machine = 1;
  drift.drift = 1.2;
  ck_assert_uint_le(found(&drift, BENCH_SLOWER), 1);
  ck_assert_uint_le(found(&drift, BENCH_FASTER), 1);
}
END_TEST

/* Other processes delay most samples of the later run, and spare some. */
START_TEST(load_is_no_slowdown) {
  sample_options plain = SAMPLE_PLAIN;
  plain.bare = true;
  plain.cv = 0.01;
  sample_report(&before, &plain);
  plain.seed = 2;
  sample_report(&after, &plain);
  bench_series *s = &after.cases[0].contestants[SAMPLE_VYRE].clocks[BENCH_DEVICE];
  for (uint32_t i = 0; i < s->count; i++)
    if (i % 6 != 0) s->ns[i] *= 1.3;
  sample_settle(&after);
  compare();
  ck_assert_int_eq(row(0, SAMPLE_VYRE)->change, BENCH_UNCLEAR);
  ck_assert(strstr(row(0, SAMPLE_VYRE)->reason, "fastest samples"));
  end();
}
END_TEST

/* Only the one whose samples were made slower is found, in every case. */
START_TEST(only_the_one_that_changed) {
  sample_options plain = SAMPLE_PLAIN;
  plain.cv = 0.005;
  sample_report(&before, &plain);
  plain.seed = 7;
  sample_report(&after, &plain);
  for (uint32_t c = 0; c < SAMPLE_CASES; c++) {
    bench_series *s = &after.cases[c].contestants[SAMPLE_CUDA].clocks[BENCH_DEVICE];
    for (uint32_t i = 0; i < s->count; i++) s->ns[i] *= 1.05;
  }
  sample_settle(&after);
  compare();
  for (uint32_t c = 0; c < SAMPLE_CASES; c++)
    for (uint32_t i = 0; i < SAMPLE_ABSENT; i++)
      ck_assert_int_eq(row(c, i)->change, i == SAMPLE_CUDA ? BENCH_SLOWER : BENCH_SAME);
  ck_assert_uint_eq(comparison.changes[BENCH_SLOWER], SAMPLE_CASES);
  ck_assert(!bench_comparison_failed(&comparison)); /* it is not vyre */
  end();
}
END_TEST

START_TEST(what_else_can_be) {
  sample_options plain = SAMPLE_PLAIN;
  sample_report(&before, &plain);
  sample_report(&after, &plain);
  after.cases[SAMPLE_ADD_H].contestants[SAMPLE_VYRE].correct = false;
  before.cases[SAMPLE_ADD_L].contestants[SAMPLE_VYRE].failure = "the device was lost";
  before.cases[SAMPLE_ADD_L].contestants[SAMPLE_CUB].name = "cub-old";
  after.cases[SAMPLE_ADD_S].bytes++;
  after.cases[SAMPLE_INTEGER].inputs[0].found.fnv++;
  after.cases[SAMPLE_INTEGER].id = before.cases[SAMPLE_INTEGER].id;
  compare();
  ck_assert_int_eq(row(SAMPLE_ADD_H, SAMPLE_VYRE)->change, BENCH_BROKEN);
  ck_assert_int_eq(row(SAMPLE_ADD_L, SAMPLE_VYRE)->change, BENCH_MENDED);
  ck_assert_str_eq(row(SAMPLE_ADD_L, SAMPLE_VYRE)->reason, "the device was lost");
  ck_assert_int_eq(row(SAMPLE_ADD_L, SAMPLE_CUB)->change, BENCH_ADDED);
  ck_assert_uint_eq(comparison.changes[BENCH_REMOVED], 1);
  ck_assert_int_eq(row(SAMPLE_ADD_S, SAMPLE_VYRE)->change, BENCH_INCOMPARABLE);
  ck_assert_int_eq(row(SAMPLE_INTEGER, SAMPLE_VYRE)->change, BENCH_INCOMPARABLE);
  ck_assert(strstr(row(SAMPLE_INTEGER, SAMPLE_VYRE)->reason, "inputs"));
  ck_assert_int_eq(row(SAMPLE_ADD_H, SAMPLE_ABSENT)->change, BENCH_INCOMPARABLE);
  ck_assert(bench_comparison_failed(&comparison));
  ck_assert_ptr_null(comparison.warning);
  end();
  sample_report(&before, &plain);
  sample_report(&after, &plain);
  before.case_count = 1;
  before.cases[0].id = "gone";
  after.device[0].value = "Another GPU";
  compare();
  ck_assert(strstr(comparison.warning, "devices are not the same"));
  ck_assert_uint_eq(comparison.changes[BENCH_REMOVED], SAMPLE_CONTESTANTS);
  ck_assert_uint_eq(comparison.changes[BENCH_ADDED], SAMPLE_CASES * SAMPLE_CONTESTANTS);
  ck_assert(!bench_comparison_failed(&comparison));
  end();
  before = after = (bench_report){ 0 };
  compare();
  ck_assert_uint_eq(comparison.count, 0);
  end();
}
END_TEST

START_TEST(it_is_written) {
  sample_options slow = SAMPLE_PLAIN;
  slow.vyre = 1.3;
  two_runs(1, &slow);
  char *text = NULL;
  size_t count;
  FILE *file = open_memstream(&text, &count);
  ck_assert(bench_comparison_write(file, &comparison));
  ck_assert(bench_comparison_json(file, &comparison));
  fclose(file);
  ck_assert_msg(strncmp(text, "slower       elementwise.add.true.L", 34) == 0, "%s", text);
  ck_assert(strstr(text, "-> ") && strstr(text, "\n4 slower, 16 same") && strstr(text, "\"change\": \"slower\""));
  ck_assert(strstr(text, "\"failed\": true"));
  free(text);
  FILE *full = fopen("/dev/full", "w");
  ck_assert(!bench_comparison_write(full, &comparison));
  fclose(full);
  end();
}
END_TEST

/* ---- Live -------------------------------------------------------------------------------------- */

/* A piece of work of |steps| steps that no compiler can shorten. */
static uint32_t work(uint32_t steps) {
  uint32_t x = 1;
  for (uint32_t i = 0; i < steps; i++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  return x;
}

/* Time of this thread alone, so that what else the machine does counts little. */
static double time_of(uint32_t steps) {
  struct timespec a, b;
  static volatile uint32_t sink;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  sink = work(steps);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  (void)sink;
  return 1e9 * (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec);
}

enum { LIVE_ROUNDS = 60, STEPS = 200000, TRIES = 5 };

/* Four series taken in turns: vyre and a peer, before and after; vyre's later one does |steps|. */
static bench_change live(uint32_t steps) {
  sample_options options = SAMPLE_PLAIN;
  options.rounds = LIVE_ROUNDS;
  sample_report(&before, &options);
  sample_report(&after, &options);
  before.case_count = after.case_count = 1;
  bench_contestant *who[4] = { &before.cases[0].contestants[0], &before.cases[0].contestants[1],
                               &after.cases[0].contestants[0], &after.cases[0].contestants[1] };
  for (int round = -5; round < LIVE_ROUNDS; round++)
    for (int turn = 0; turn < 4; turn++) {
      int i = round % 2 ? 3 - turn : turn;
      double ns = time_of(i == 2 ? steps : STEPS);
      if (round >= 0) who[i]->clocks[BENCH_DEVICE].ns[round] = ns;
    }
  sample_settle(&before);
  sample_settle(&after);
  compare();
  bench_change change = row(0, 0)->change;
  ck_assert_int_ne(row(0, 1)->change, BENCH_SLOWER);
  end();
  return change;
}

/* On a machine that is too noisy the answer is "unclear", and is asked for again; a wrong answer is never given. */
static bench_change live_answer(uint32_t steps, bench_change never) {
  bench_change change = BENCH_UNCLEAR;
  for (int i = 0; i < TRIES && change == BENCH_UNCLEAR; i++) {
    change = live(steps);
    ck_assert_int_ne(change, never);
  }
  return change;
}

START_TEST(live_slowdown_and_live_null) {
  bench_change slow = live_answer(STEPS + STEPS / 20, BENCH_FASTER), null = live_answer(STEPS, BENCH_SLOWER);
  ck_assert_int_ne(null, BENCH_FASTER);
  if (slow == BENCH_UNCLEAR || null == BENCH_UNCLEAR) printf("live: the machine is too noisy to tell\n");
  else ck_assert(slow == BENCH_SLOWER && null == BENCH_SAME);
}
END_TEST

/* Sorting can do without memory. */
START_TEST(without_memory_it_says_so) {
  sample_options options = SAMPLE_PLAIN;
  sample_report(&before, &options);
  sample_report(&after, &options);
  before.case_count = after.case_count = 1;
  for (uint64_t n = 1;; n++) {
    fail_malloc_at(n);
    vyre_status status = bench_compare(&before, &after, &comparison);
    bool failed = fail_malloc_end();
    if (status == VYRE_OK) ck_assert_uint_eq(comparison.changes[BENCH_SAME], SAMPLE_ABSENT);
    if (status == VYRE_OK) bench_comparison_free(&comparison);
    if (!failed) break;
    ck_assert(status == VYRE_ERR_NO_MEMORY || status == VYRE_OK);
  }
  bench_report_free(&before);
  bench_report_free(&after);
}
END_TEST

int main(void) {
  return run_suite("compare", 300,
                   (const TTest *const[]){ a_slowdown_of_5_percent_is_found, no_change_is_no_slowdown,
                                           drift_is_no_slowdown, load_is_no_slowdown,
                                           only_the_one_that_changed, what_else_can_be,
                                           it_is_written, live_slowdown_and_live_null, without_memory_it_says_so,
                                           NULL });
}
