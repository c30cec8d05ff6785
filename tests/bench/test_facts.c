/* What the driver's tool tells, and what one that lies can not do. */
#include "harness/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"
#include "harness/record_json.h"

static char directory[64];

/* An executable script in the directory of this test. As `facts` it starts with reading what it is asked. */
static void script(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  bool is_asked = strcmp(name, "facts") == 0 && strncmp(text, "exec \"", 6) != 0;
  fprintf(file, "#!/bin/sh\n%s%s\n", is_asked ? "read -r word id\n" : "", text);
  ck_assert_int_eq(fclose(file), 0);
  ck_assert_int_eq(chmod(path, 0755), 0);
}

static void setup(void) {
  snprintf(directory, sizeof directory, "/tmp/vyre-facts-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void teardown(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  ck_assert_int_eq(system(command), 0);
}

/* A report of a device with a uuid. */
static bench_report new_report(void) {
  bench_report report = {0};
  report.device = vyre_arena_alloc(&report.arena, sizeof *report.device);
  report.device[0] = (bench_pair){"uuid", "8f5a0c3e111122223333444444444444"};
  report.device_count = 1;
  return report;
}

static const char *value_of(const bench_report *report, const char *key) {
  for (uint32_t i = 0; i < report->device_count; i++)
    if (strcmp(report->device[i].key, key) == 0) return report->device[i].value;
  return "(absent)";
}

START_TEST(before_and_after) {
  setup();
  bench_report report = new_report();
  script("facts", "echo 'fact clock_*_mhz 1980'; echo 'fact ecc on'; echo 'fact throttle none'; echo done");
  ck_assert(bench_facts_take(directory, true, &report));
  script("facts", "echo 'fact clock_*_mhz 1755'; echo 'fact ecc on'; echo 'fact throttle power_cap'; echo done");
  ck_assert(bench_facts_take(directory, false, &report));
  script("facts", "echo 'fact clock_*_mhz 1965'; echo 'fact throttle none'; echo 'fact throttle power_cap'; "
                  "echo 'fact throttle thermal slowdown'; echo done; echo 'fact late 1'");
  ck_assert(bench_facts_take(directory, false, &report));
  ck_assert_str_eq(value_of(&report, "clock_before_mhz"), "1980");
  ck_assert_str_eq(value_of(&report, "clock_after_mhz"), "1965");
  ck_assert_str_eq(value_of(&report, "ecc"), "on");
  ck_assert_str_eq(value_of(&report, "throttle"), "power_cap, thermal slowdown");
  ck_assert_str_eq(value_of(&report, "late"), "(absent)");
  ck_assert_uint_eq(report.device_count, 5);
  bench_report_free(&report);
  teardown();
}
END_TEST

START_TEST(the_device_is_named) {
  setup();
  bench_report report = new_report();
  script("facts", "echo \"fact asked $word-$id\"; echo done");
  ck_assert(bench_facts_take(directory, true, &report));
  ck_assert_str_eq(value_of(&report, "asked"), "device-8f5a0c3e111122223333444444444444");
  bench_report_free(&report);
  teardown();
}
END_TEST

START_TEST(what_is_no_fact) {
  setup();
  bench_report report = new_report();
  script("facts", "echo 'fact'; echo 'fact '; echo 'fact key'; echo 'fact key '; echo 'fact Key 1'; echo 'fact a-b 1'; "
                  "echo 'fact a*b*c 1'; echo 'fact ../x 1'; echo nonsense; echo 'fact "
                  "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop 1'; printf 'fact good a\\001b\\n'; echo done");
  ck_assert(bench_facts_take(directory, true, &report));
  ck_assert_str_eq(value_of(&report, "good"), "a b");
  ck_assert_uint_eq(report.device_count, 2);
  bench_report_free(&report);
  teardown();
}
END_TEST

START_TEST(programs_that_fail) {
  static const char *const texts[] = {"exit 1", "kill -9 $$", "exec 1>&-; sleep 0.1", "yes 'fact a 1'",
                                      "head -c 20000 /dev/zero | tr '\\0' x"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    setup();
    bench_report report = new_report();
    script("facts", texts[i]);
    ck_assert(bench_facts_take(directory, true, &report));
    ck_assert_uint_le(report.device_count, 2);
    bench_report_free(&report);
    teardown();
  }
}
END_TEST

START_TEST(nothing_to_ask) {
  setup();
  bench_report report = new_report();
  ck_assert(bench_facts_take(NULL, true, &report));
  ck_assert(bench_facts_take(directory, true, &report));
  ck_assert(bench_facts_take("/no/such/place", true, &report));
  script("facts", "echo 'fact a 1'; echo done");
  report.device_count = 0; /* no uuid */
  ck_assert(bench_facts_take(directory, true, &report));
  ck_assert_uint_eq(report.device_count, 0);
  bench_report_free(&report);
  teardown();
}
END_TEST

/* The program for NVIDIA's tool, with a tool of this test. */
START_TEST(the_tool_is_understood) {
  setup();
  char path[4096], source[4096];
  const char *top = getenv("top_srcdir");
  script("nvidia-smi", "echo 'GPU-00000000-1111-2222-3333-444444444444, 345, 1593, 30, 70.00, 700.00, Enabled, "
                       "Enabled, 0x0000000000000001'\n"
                       "echo 'GPU-8f5a0c3e-1111-2222-3333-444444444444, 1980, 3201, 45, 350.12, 700.00, Enabled, "
                       "[N/A], 0x0000000000000025'");
  snprintf(source, sizeof source, "exec \"%s/bench/peers/facts.sh\"", top ? top : ".");
  script("facts", source);
  snprintf(path, sizeof path, "%s:%s", directory, getenv("PATH"));
  setenv("PATH", path, 1);
  bench_report report = new_report();
  ck_assert(bench_facts_take(directory, true, &report));
  ck_assert_str_eq(value_of(&report, "clock_before_mhz"), "1980");
  ck_assert_str_eq(value_of(&report, "memory_clock_before_mhz"), "3201");
  ck_assert_str_eq(value_of(&report, "temperature_before_c"), "45");
  ck_assert_str_eq(value_of(&report, "power_before_w"), "350.12");
  ck_assert_str_eq(value_of(&report, "power_limit_w"), "700.00");
  ck_assert_str_eq(value_of(&report, "ecc"), "Enabled");
  ck_assert_str_eq(value_of(&report, "persistence"), "(absent)");
  ck_assert_str_eq(value_of(&report, "throttle"), "power_cap, thermal_slowdown");
  bench_report_free(&report);
  report = new_report();
  report.device[0].value = "00000000111122223333444444444444";
  ck_assert(bench_facts_take(directory, true, &report));
  ck_assert_str_eq(value_of(&report, "throttle"), "none"); /* idle is no throttling */
  bench_report_free(&report);
  teardown();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      before_and_after, the_device_is_named, what_is_no_fact, programs_that_fail, nothing_to_ask,
      the_tool_is_understood, NULL
  };
  return run_suite("facts", 120, tests);
}
