/* Turns, checks and figures, with contestants that say what the test wants them to. */
#include "harness/measure.h"

#include <math.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "fake_driver.h"

enum { ALL = 3 };

typedef struct scene {
  bench_work work;
  bench_answer answer;
  vyre_arena arena;
  fake fakes[ALL];
  bench_contestant records[ALL];
  bench_entrant entrants[ALL];
  bench_plan plan;
} scene;

static void open_scene(scene *s) {
  *s = (scene){0};
  fake_work(&s->work, &s->answer);
  memset(fake_log, 0, sizeof fake_log);
  s->plan = (bench_plan){.samples = 6,
                         .sample_ns = 1e4,
                         .warmup_launches = 20,
                         .warmup_ns = 1e4,
                         .warmup_limit_ns = 1e6,
                         .budget_ns = 1e9,
                         .seed = 3};
  for (int i = 0; i < ALL; i++) {
    s->fakes[i] = (fake){.letter = (char)('A' + i), .ns = 1000 + 500 * i, .noise = 0.01, .state = (uint64_t)i};
    s->records[i] = (bench_contestant){.name = "x"};
    s->entrants[i] = (bench_entrant){.driver = fake_driver(&s->fakes[i], &s->work), .record = &s->records[i]};
  }
}

static vyre_status measure(scene *s) {
  return bench_measure(&s->work, &s->answer, s->entrants, ALL, &s->plan, &s->arena, NULL);
}

static void close_scene(scene *s) {
  bench_answer_free(&s->answer);
  bench_work_free(&s->work);
  vyre_arena_free(&s->arena);
}

START_TEST(everybody_takes_turns) {
  scene s;
  open_scene(&s);
  ck_assert_int_eq(measure(&s), VYRE_OK);
  const char *rounds = strstr(fake_log, "ABCCBAABCCBAABCCBA");
  ck_assert_msg(rounds != NULL, "the order was %s", fake_log);
  /* The one that is checked, and 20, filled up to whole samples. */
  ck_assert_uint_ge(s.entrants[1].warmups, 1 + 20);
  ck_assert_uint_lt(s.entrants[1].warmups, 1 + 20 + s.records[1].launches_per_sample);
  for (int i = 0; i < ALL; i++) {
    ck_assert_msg(s.records[i].failure == NULL, "%s", s.records[i].failure);
    ck_assert(s.records[i].correct);
    ck_assert_uint_eq(s.records[i].clocks[BENCH_DEVICE].count, 0);
    for (int c = BENCH_WALL_RESIDENT; c < BENCH_CLOCKS; c++) {
      const bench_series *series = &s.records[i].clocks[c];
      ck_assert_uint_eq(series->count, 6);
      ck_assert_uint_eq(series->stats.count, 6);
      ck_assert_double_eq_tol(series->stats.p50, s.fakes[i].ns, 0.01 * s.fakes[i].ns);
    }
    ck_assert_uint_eq(s.fakes[i].worked_at_rest, 0);
    ck_assert(s.records[i].output.known);
    ck_assert_uint_eq(s.records[i].output.fnv, s.answer.digest.fnv);
    /* As many launches as fill a sample. */
    ck_assert_uint_eq(s.records[i].launches_per_sample, (uint32_t)ceil(1e4 / (1000 + 500 * i)));
  }
  close_scene(&s);
}
END_TEST

START_TEST(a_clock_of_the_device) {
  scene s;
  open_scene(&s);
  s.fakes[1].has_device_clock = true;
  ck_assert_int_eq(measure(&s), VYRE_OK);
  ck_assert_uint_eq(s.records[0].clocks[BENCH_DEVICE].count, 0);
  ck_assert_uint_eq(s.records[1].clocks[BENCH_DEVICE].count, 6);
  ck_assert_double_eq_tol(s.records[1].clocks[BENCH_DEVICE].stats.p50, 750, 8);
  close_scene(&s);
}
END_TEST

/* Wants that contestant B alone fails, with this in its reason. */
static void wants_failure(scene *s, const char *text) {
  ck_assert_int_eq(measure(s), VYRE_OK);
  ck_assert(s->records[0].correct && s->records[2].correct);
  ck_assert_uint_eq(s->records[2].clocks[BENCH_WALL_E2E].count, 6);
  ck_assert(!s->records[1].correct);
  ck_assert_msg(s->records[1].failure && strstr(s->records[1].failure, text), "failure: %s", s->records[1].failure);
  for (int c = 0; c < BENCH_CLOCKS; c++) ck_assert_uint_eq(s->records[1].clocks[c].count, 0);
  close_scene(s);
}

START_TEST(wrong_at_first) {
  scene s;
  open_scene(&s);
  s.fakes[1].wrong_from = 1;
  s.fakes[1].wrong_to = UINT32_MAX;
  wants_failure(&s, "the first launch: o[2] is 0x00000007, and 0x00000006 was wanted");
}
END_TEST

START_TEST(wrong_in_the_end) {
  scene s;
  open_scene(&s);
  ck_assert_int_eq(measure(&s), VYRE_OK);
  uint32_t launches = s.fakes[1].launches; /* how many there are */
  close_scene(&s);
  open_scene(&s);
  s.fakes[1].wrong_from = launches;
  s.fakes[1].wrong_to = UINT32_MAX;
  wants_failure(&s, "after the series: o[2]");
}
END_TEST

/* The launches of one round are wrong: with every seed that chooses it, and with no other, that is found. */
START_TEST(wrong_in_the_middle) {
  int found = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    scene s;
    open_scene(&s);
    s.plan.seed = seed;
    /* 1 first, 24 to be warm, 1 to learn the clock, then 1 + 7 launches a round */
    s.fakes[1].wrong_from = 60;
    s.fakes[1].wrong_to = 67;
    ck_assert_int_eq(measure(&s), VYRE_OK);
    if (s.records[1].failure) {
      ck_assert_msg(strstr(s.records[1].failure, "in the middle of the series") != NULL, "%s", s.records[1].failure);
      found++;
    }
    close_scene(&s);
  }
  ck_assert_msg(found > 0 && found < 60, "found with %d of 60 seeds", found);
}
END_TEST

START_TEST(what_is_not_written_is_found) {
  scene s;
  open_scene(&s);
  s.fakes[1].silent_from = 1;
  memcpy(s.fakes[1].output, (uint32_t[]){0, 3, 6, 9}, 16); /* a right answer from before does not help */
  wants_failure(&s, "the first launch: o[0] is 0x");
}
END_TEST

START_TEST(a_launch_fails) {
  for (uint32_t at = 1; at < 100; at += 7) {
    scene s;
    open_scene(&s);
    s.fakes[1].fail_at = at;
    wants_failure(&s, "it fell over");
  }
}
END_TEST

START_TEST(times_that_are_none) {
  const double bad[] = {-1, NAN, INFINITY, -INFINITY, 1e-300, 1e200};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    scene s;
    open_scene(&s);
    s.fakes[1].bad_time = bad[i];
    wants_failure(&s, "which is no time");
  }
}
END_TEST

START_TEST(who_failed_before_takes_no_part) {
  scene s;
  open_scene(&s);
  s.records[1].failure = "it is not built here";
  s.entrants[1].driver = (bench_driver){0};
  ck_assert_int_eq(measure(&s), VYRE_OK);
  ck_assert_str_eq(s.records[1].failure, "it is not built here");
  ck_assert(strstr(fake_log, "ACCAAC") != NULL);
  close_scene(&s);
}
END_TEST

START_TEST(the_budget_limits_rounds) {
  scene s;
  open_scene(&s);
  s.plan.samples = 30;
  s.plan.budget_ns = 8e4; /* eight samples of 1e4 ns */
  ck_assert_int_eq(measure(&s), VYRE_OK);
  for (int i = 0; i < ALL; i++) ck_assert_uint_eq(s.records[i].clocks[BENCH_WALL_RESIDENT].count, 8);
  close_scene(&s);
  open_scene(&s);
  s.plan.samples = 30;
  s.plan.budget_ns = 1; /* three are taken in any case */
  ck_assert_int_eq(measure(&s), VYRE_OK);
  for (int i = 0; i < ALL; i++) ck_assert_uint_eq(s.records[i].clocks[BENCH_WALL_RESIDENT].count, 3);
  close_scene(&s);
}
END_TEST

START_TEST(long_launches_are_single) {
  scene s;
  open_scene(&s);
  s.fakes[0].ns = 1e7;
  ck_assert_int_eq(measure(&s), VYRE_OK);
  ck_assert_uint_eq(s.records[0].launches_per_sample, 1);
  /* 1 first, which makes it warm, and 6 samples of each of three clocks without another before */
  ck_assert_uint_eq(s.fakes[0].launches, 1 + 18);
  ck_assert_uint_eq(s.entrants[0].warmups, 1);
  close_scene(&s);
}
END_TEST

START_TEST(who_takes_long_leaves_early) {
  scene s;
  open_scene(&s);
  s.fakes[1].ns = 1e7;
  s.plan.samples = 20;
  s.plan.budget_ns = 4e7;
  s.plan.warmup_limit_ns = 1;
  ck_assert_int_eq(measure(&s), VYRE_OK);
  for (int c = BENCH_WALL_RESIDENT; c < BENCH_CLOCKS; c++) {
    ck_assert_uint_eq(s.records[0].clocks[c].count, 20);
    ck_assert_uint_eq(s.records[1].clocks[c].count, 3); /* 4e7 / 1.01e7 */
    ck_assert_uint_eq(s.records[2].clocks[c].count, 20);
  }
  close_scene(&s);
}
END_TEST

/* That a clock is not there is found at the first sample of a long launch, and ends nothing. */
START_TEST(a_long_launch_without_a_clock) {
  scene s;
  open_scene(&s);
  s.fakes[1].ns = 1e7;
  s.fakes[1].lacks_e2e = true;
  ck_assert_int_eq(measure(&s), VYRE_OK);
  ck_assert(s.records[1].correct);
  ck_assert_uint_eq(s.records[1].clocks[BENCH_WALL_READBACK].count, 6);
  ck_assert_uint_eq(s.records[1].clocks[BENCH_WALL_E2E].count, 0);
  ck_assert_uint_eq(s.records[0].clocks[BENCH_WALL_E2E].count, 6);
  close_scene(&s);
}
END_TEST

START_TEST(memory_may_end) {
  for (uint64_t n = 1;; n++) {
    scene s;
    open_scene(&s);
    fail_malloc_at(n);
    vyre_status status = measure(&s);
    bool failed = fail_malloc_end();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    close_scene(&s);
    if (!failed) break;
  }
}
END_TEST

START_TEST(a_work_that_is_too_large) {
  vyre_error error = VYRE_ERROR_INIT;
  bench_work work = {.id = "w", .n = 1};
  bench_work_array(&work, "a", VYRE_TYPE_U32, UINT64_MAX / 4 + 1, false);
  ck_assert_int_eq(bench_work_allocate(&work, &error), VYRE_ERR_LIMIT);
  bench_work_free(&work);
  work = (bench_work){.id = "w", .n = 1};
  for (int i = 0; i < BENCH_MAX_ARRAYS + 1; i++) bench_work_array(&work, "a", VYRE_TYPE_U32, 1, false);
  ck_assert_int_eq(bench_work_allocate(&work, &error), VYRE_ERR_LIMIT);
  bench_work_free(&work);
  work = (bench_work){.id = "w", .n = 1};
  for (int i = 0; i < BENCH_MAX_PARAMS + 1; i++) bench_work_param_u32(&work, "p", 1);
  ck_assert_int_eq(bench_work_allocate(&work, &error), VYRE_ERR_LIMIT);
  bench_work_free(&work);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      everybody_takes_turns, a_clock_of_the_device, wrong_at_first, wrong_in_the_end, wrong_in_the_middle,
      what_is_not_written_is_found, a_launch_fails, times_that_are_none, who_failed_before_takes_no_part,
      the_budget_limits_rounds, long_launches_are_single, who_takes_long_leaves_early, a_long_launch_without_a_clock,
      memory_may_end, a_work_that_is_too_large, NULL
  };
  return run_suite("measure", 60, tests);
}
