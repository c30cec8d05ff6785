/* Cases that run in the harness's own process: stages of the compiler and single calls, as a whole run would have them;
 * and a host function that is wrong or fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "base/error.h"
#include "harness/driver_host.h"
#include "harness/record_json.h"
#include "harness/run.h"

/* ---- The driver -------------------------------------------------------------------------------------- */

typedef struct toy {
  int runs, fails_at, destroyed;
  bool right;
} toy;

static vyre_status toy_run(void *ctx, vyre_error *error) {
  toy *t = ctx;
  if (++t->runs == t->fails_at) return vyre_fail(error, VYRE_ERR_IO, "toy", "It broke.");
  t->right = true;
  return VYRE_OK;
}

static vyre_status toy_check(void *ctx, vyre_error *error) {
  toy *t = ctx;
  return t->right ? VYRE_OK : vyre_fail(error, VYRE_ERR_INTERNAL, "toy", "It is wrong.");
}

static void toy_spoil(void *ctx) {
  ((toy *)ctx)->right = false;
}

static void toy_destroy(void *ctx) {
  ((toy *)ctx)->destroyed++;
}

static const bench_host_work toy_work = {"by hand", toy_run, toy_check, toy_spoil, toy_destroy};

START_TEST(a_host_function_as_driver) {
  toy t = {0};
  bench_driver driver;
  bench_times times;
  bench_contestant record = {0};
  vyre_error error = VYRE_ERROR_INIT;
  bench_work work = {.id = "toy", .file = -1};
  ck_assert_int_eq(bench_driver_host(&toy_work, &t, &work, &driver, &error), VYRE_OK);
  ck_assert_int_eq(driver.table->output(&driver, &error), VYRE_ERR_INTERNAL);
  ck_assert_int_eq(driver.table->sample(&driver, BENCH_WALL_RESIDENT, 7, &times, &error), VYRE_OK);
  ck_assert_int_eq(t.runs, 7);
  ck_assert(times.wall_ns > 0 && times.device_ns < 0);
  ck_assert_int_eq(driver.table->output(&driver, &error), VYRE_OK);
  ck_assert_int_eq(driver.table->poison(&driver, &error), VYRE_OK);
  ck_assert_int_eq(driver.table->output(&driver, &error), VYRE_ERR_INTERNAL);
  const bench_clock others[] = {BENCH_DEVICE, BENCH_WALL_READBACK, BENCH_WALL_E2E};
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(driver.table->sample(&driver, others[i], 1, &times, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_int_eq(t.runs, 7);
  t.fails_at = 9;
  ck_assert_int_eq(driver.table->sample(&driver, BENCH_WALL_RESIDENT, 7, &times, &error), VYRE_ERR_IO);
  ck_assert_int_eq(t.runs, 9);
  ck_assert(driver.table->describe(&driver, NULL, &record));
  ck_assert_str_eq(record.how, "by hand");
  bench_driver_close(&driver);
  ck_assert_int_eq(t.destroyed, 1);
}
END_TEST

/* ---- The cases ----------------------------------------------------------------------------------------- */

static double counter(const bench_case *c, const char *name) {
  for (uint32_t i = 0; i < c->counter_count; i++)
    if (strcmp(c->counters[i].name, name) == 0) return c->counters[i].value;
  return -1;
}

static void run_cases(const char *const *names, uint32_t count, const char *tier, bench_report *out) {
  vyre_context *context;
  vyre_error error = VYRE_ERROR_INIT;
  const char *plugins = getenv("VYRE_TEST_BACKENDS");
  ck_assert_msg(plugins != NULL, "VYRE_TEST_BACKENDS is not set; run `make check`");
  setenv("VYRE_BACKEND_PATH", plugins, 1);
  ck_assert_int_eq(vyre_context_create(NULL, NULL, &context, &error), VYRE_OK);
  bench_options options = {.names = names,
                           .name_count = count,
                           .tier = tier,
                           .samples = 2,
                           .no_probes = true,
                           .context = context,
                           .device = "cpu_ref"};
  vyre_status status = bench_run(&options, out, &error);
  ck_assert_msg(status == VYRE_OK, "%s", error.text);
  vyre_context_destroy(context);
}

START_TEST(stages_of_the_compiler) {
  const char *const names[] = {"pipeline"};
  bench_report report;
  run_cases(names, 1, "S", &report);
  ck_assert_uint_eq(report.case_count, 16);
  for (uint32_t i = 0; i < report.case_count; i++) {
    const bench_case *c = &report.cases[i];
    ck_assert_msg(c->contestants[0].correct, "%s: %s", c->id, c->contestants[0].failure);
    ck_assert_uint_ge(c->contestants[0].clocks[BENCH_WALL_RESIDENT].count, 2);
    double expressions = counter(c, "expressions");
    ck_assert_msg(expressions > 0.8 * (double)c->n && expressions < 1.3 * (double)c->n, "%s has %.0f expressions",
                  c->id, expressions);
    ck_assert(counter(c, "processor_time_per_expression") > 0);
    ck_assert(i % 2 == 0 || counter(c, "growth_exponent") != -1);
    ck_assert(i % 2 == 1 || counter(c, "growth_exponent") == -1); /* there is nothing smaller */
  }
  bench_report_free(&report);
}
END_TEST

START_TEST(single_calls) {
  const char *const names[] = {"micro"};
  bench_report report;
  run_cases(names, 1, "S", &report);
  ck_assert_uint_eq(report.case_count, 4);
  for (uint32_t i = 0; i < report.case_count; i++) {
    const bench_case *c = &report.cases[i];
    ck_assert_msg(c->contestants[0].correct, "%s: %s", c->id, c->contestants[0].failure);
    ck_assert_uint_eq(c->contestants[0].launch_count, strcmp(c->workload, "micro.dispatch") == 0);
    bool copies = strcmp(c->workload, "micro.write") == 0 || strcmp(c->workload, "micro.read") == 0;
    ck_assert((counter(c, "copied") > 0) == copies);
  }
  bench_report_free(&report);
}
END_TEST

START_TEST(what_the_optimizer_has_to_do) {
  const char *const names[] = {"optimizer.impact"};
  bench_report report;
  run_cases(names, 1, "L", &report);
  ck_assert_uint_eq(report.case_count, 1);
  const bench_case *c = report.cases;
  ck_assert_msg(c->contestants[0].correct, "%s: %s", c->id, c->contestants[0].failure);
  ck_assert(counter(c, "memory_operations_before") == 9); /* eight loads and a store, as it is written */
  ck_assert(counter(c, "nodes_before") > 9);
  bench_report_free(&report);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_host_function_as_driver, stages_of_the_compiler, single_calls,
                                what_the_optimizer_has_to_do, NULL};
  return run_suite("host_cases", 300, tests);
}
