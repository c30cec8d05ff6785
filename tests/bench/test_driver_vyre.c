/* Vyre as a contestant: on the oracle, whose answers count, and on the fake device, which has a clock of its own and
 * adds 1 to every word that a launch may write. */
#include <stdlib.h>
#include <string.h>

#include "../backend/device_for.h"
#include "../fail_malloc.h"
#include "../suite.h"
#include "harness/driver.h"

#define ADD                                                                                                            \
  "program add workgroup(64) { param d: u32; read a: u32[]; rw o: u32[];\n"                                            \
  "  let i = gid.x; if (i < len(o)) { o[i] = a[i] + d; } }"

enum { WORDS = 100 };

typedef struct stage {
  bench base;
  bench_work work;
  bench_driver driver;
} stage;

/* |fake| is the way of the fake plugin; NULL for the oracle. */
static void open_stage(stage *s, const char *fake, uint32_t sets) {
  *s = (stage){.base = fake ? bench_fake(fake) : bench_cpu_ref()};
  s->work = (bench_work){.id = "add", .n = WORDS, .buffer_sets = sets};
  bench_work_array(&s->work, "a", VYRE_TYPE_U32, WORDS, false);
  bench_work_array(&s->work, "o", VYRE_TYPE_U32, WORDS, true);
  bench_work_param_u32(&s->work, "d", 7);
  ck_assert_int_eq(bench_work_allocate(&s->work, NULL), VYRE_OK);
  uint32_t *a = s->work.arrays[0].host;
  for (uint32_t i = 0; i < WORDS; i++) a[i] = i * i;
}

static bench_setting setting_of(const stage *s) {
  return (bench_setting){
      .context = s->base.context, .device = s->base.device, .device_name = vyre_device_name(s->base.device)};
}

static void open_driver(stage *s) {
  vyre_error error = VYRE_ERROR_INIT;
  bench_setting setting = setting_of(s);
  vyre_status status = bench_driver_vyre(&setting, &s->work, ADD, &s->driver, &error);
  ck_assert_msg(status == VYRE_OK, "%s: %s", error.where, error.text);
}

static void close_stage(stage *s) {
  bench_driver_close(&s->driver);
  bench_work_free(&s->work);
  bench_end(&s->base);
}

static vyre_status sample(stage *s, bench_clock clock, uint32_t launches, bench_times *out) {
  return s->driver.table->sample(&s->driver, clock, launches, out, NULL);
}

static const uint32_t *output(stage *s) {
  bench_work_poison(&s->work);
  ck_assert_int_eq(s->driver.table->output(&s->driver, NULL), VYRE_OK);
  return s->work.arrays[1].host;
}

static void poison(stage *s) {
  bench_work_poison(&s->work);
  ck_assert_int_eq(s->driver.table->poison(&s->driver, NULL), VYRE_OK);
}

static bool is_right(const uint32_t *o) {
  for (uint32_t i = 0; i < WORDS; i++)
    if (o[i] != i * i + 7) return false;
  return true;
}

START_TEST(right_on_the_oracle) {
  for (uint32_t sets = 1; sets <= 3; sets++) {
    stage s;
    bench_times times;
    open_stage(&s, NULL, sets);
    open_driver(&s);
    ck_assert(s.driver.cold_ns > 0);
    ck_assert(is_right(output(&s))); /* of the cold launch */
    for (int clock = BENCH_WALL_RESIDENT; clock < BENCH_CLOCKS; clock++) {
      poison(&s);
      ck_assert(!is_right(output(&s)));
      ck_assert_int_eq(sample(&s, (bench_clock)clock, 5, &times), VYRE_OK);
      ck_assert(times.wall_ns > 0 && times.device_ns < 0);
      ck_assert(is_right(output(&s)));
    }
    ck_assert_int_eq(sample(&s, BENCH_DEVICE, 1, &times), VYRE_ERR_UNSUPPORTED);
    close_stage(&s);
  }
}
END_TEST

START_TEST(inputs_come_with_e2e_alone) {
  stage s;
  bench_times times;
  open_stage(&s, NULL, 1);
  open_driver(&s);
  uint32_t *a = s.work.arrays[0].host;
  a[3] += 1;
  ck_assert_int_eq(sample(&s, BENCH_WALL_READBACK, 1, &times), VYRE_OK);
  ck_assert_uint_eq(output(&s)[3], 16);
  ck_assert_int_eq(sample(&s, BENCH_WALL_E2E, 1, &times), VYRE_OK);
  ck_assert_uint_eq(output(&s)[3], 17);
  close_stage(&s);
}
END_TEST

START_TEST(the_launch_is_read_back) {
  stage s;
  vyre_arena arena = {0};
  bench_contestant who = {.name = "vyre", .class = BENCH_SELF};
  open_stage(&s, NULL, 1);
  open_driver(&s);
  ck_assert(s.driver.table->describe(&s.driver, &arena, &who));
  ck_assert_int_eq(who.class, BENCH_REFERENCE);
  ck_assert_uint_eq(who.launch_count, 1);
  const bench_launch *launch = who.launches;
  ck_assert_str_eq(launch->backend, "cpu_ref");
  ck_assert_str_eq(launch->entry, "add");
  ck_assert_uint_eq(strlen(launch->program), 64);
  ck_assert_uint_eq(launch->declared_workgroup[0], 64);
  ck_assert_uint_eq(launch->workgroup[0], 64);
  ck_assert_uint_eq(launch->grid[0], 2);
  ck_assert_uint_eq(launch->grid[1], 1);
  vyre_arena_free(&arena);
  close_stage(&s);
}
END_TEST

/* 500 ns a launch, and each adds 1. */
START_TEST(the_clock_of_the_device) {
  stage s;
  bench_times times;
  open_stage(&s, "sound", 1);
  open_driver(&s);
  static const uint32_t series[] = {1, 4, 4, 7, 1000};
  for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
    poison(&s);
    ck_assert_int_eq(sample(&s, BENCH_DEVICE, series[i], &times), VYRE_OK);
    ck_assert_double_eq(times.device_ns, 500);
    ck_assert(times.wall_ns < 0);
    ck_assert_uint_eq(output(&s)[WORDS - 1], 0xA5A5A5A5u + series[i]);
  }
  close_stage(&s);
}
END_TEST

START_TEST(a_device_that_does_not_tell_its_time) {
  stage s;
  bench_times times;
  open_stage(&s, "untimed", 1);
  open_driver(&s);
  ck_assert_int_eq(sample(&s, BENCH_DEVICE, 2, &times), VYRE_ERR_UNSUPPORTED);
  ck_assert_int_eq(sample(&s, BENCH_WALL_RESIDENT, 2, &times), VYRE_OK);
  close_stage(&s);
}
END_TEST

/* Seven launches over three sets: the first set gets three of them, the last launch is its own. */
START_TEST(sets_take_turns) {
  stage s;
  bench_times times;
  open_stage(&s, "sound", 3);
  open_driver(&s);
  poison(&s);
  ck_assert_int_eq(sample(&s, BENCH_DEVICE, 7, &times), VYRE_OK);
  ck_assert_uint_eq(output(&s)[0], 0xA5A5A5A5u + 3);
  ck_assert_int_eq(sample(&s, BENCH_WALL_RESIDENT, 1, &times), VYRE_OK); /* goes on with the second */
  ck_assert_uint_eq(output(&s)[0], 0xA5A5A5A5u + 3);
  ck_assert_int_eq(sample(&s, BENCH_WALL_RESIDENT, 2, &times), VYRE_OK);
  ck_assert_uint_eq(output(&s)[0], 0xA5A5A5A5u + 4);
  close_stage(&s);
}
END_TEST

START_TEST(what_can_not_be_opened) {
  stage s;
  vyre_error error = VYRE_ERROR_INIT;
  open_stage(&s, NULL, 1);
  bench_setting setting = setting_of(&s);
  ck_assert_int_eq(bench_driver_vyre(&setting, &s.work, "program", &s.driver, &error), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_int_eq(bench_driver_vyre(&setting, &s.work, "program p { rw o: u32[]; o[0] = 1; }", &s.driver, &error),
                   VYRE_ERR_NOT_FOUND); /* there is no a */
  setting.device_name = "nothing";
  ck_assert_int_eq(bench_driver_vyre(&setting, &s.work, ADD, &s.driver, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_ptr_null(s.driver.table);
  close_stage(&s);
}
END_TEST

START_TEST(memory_may_end) {
  for (uint64_t n = 1;; n += 3) {
    stage s;
    bench_times times;
    open_stage(&s, "sound", 2);
    bench_setting setting = setting_of(&s);
    fail_malloc_at(n);
    vyre_status status = bench_driver_vyre(&setting, &s.work, ADD, &s.driver, NULL);
    if (status == VYRE_OK) status = sample(&s, BENCH_DEVICE, 3, &times);
    bool failed = fail_malloc_end();
    ck_assert_msg(status == VYRE_OK || failed, "status %d without a failed allocation", status);
    close_stage(&s);
    if (!failed) break;
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      right_on_the_oracle, inputs_come_with_e2e_alone, the_launch_is_read_back, the_clock_of_the_device,
      a_device_that_does_not_tell_its_time, sets_take_turns, what_can_not_be_opened, memory_may_end, NULL
  };
  return run_suite("driver_vyre", 120, tests);
}
