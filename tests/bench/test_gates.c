/* Each gate passes the sample, and fails for the one thing that it asks about. */
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "harness/gates.h"
#include "harness/targets.h"
#include "sample_report.h"

static bench_report report;

static void begin(void) {
  sample_report(&report, &(sample_options)SAMPLE_PLAIN);
}

static void judge(void) {
  ck_assert_int_eq(bench_targets_judge(&report), VYRE_OK);
  ck_assert_int_eq(bench_gates_judge(&report), VYRE_OK);
  ck_assert_uint_eq(report.gate_count, 12);
}

static bench_contestant *vyre(void) {
  return &report.cases[SAMPLE_ADD_H].contestants[SAMPLE_VYRE];
}

/* Judges, wants that verdict of that gate with that reason, and that no other gate fails but |also| (0 for none). */
static void wanted(uint32_t number, int verdict, const char *reason, uint32_t also) {
  judge();
  for (uint32_t i = 0; i < report.gate_count; i++) {
    const bench_gate *g = &report.gates[i];
    ck_assert_uint_eq(g->number, i + 1);
    ck_assert(g->verdict == BENCH_GATE_PASS || g->reason);
    if (g->number == number)
      ck_assert_msg((int)g->verdict == verdict && (!reason || (g->reason && strstr(g->reason, reason))),
                    "gate %u, %s: %d, %s", number, g->name, (int)g->verdict, g->reason ? g->reason : "-");
    else if (g->number != also)
      ck_assert_msg(g->verdict != BENCH_GATE_FAIL, "gate %u, %s: %s", g->number, g->name, g->reason);
  }
  ck_assert(bench_report_is_evidence(&report) == (verdict != BENCH_GATE_FAIL));
  bench_report_free(&report);
}

START_TEST(the_sample_passes) {
  begin();
  ck_assert(!bench_report_is_evidence(&report));
  judge();
  for (uint32_t i = 0; i < report.gate_count; i++) {
    const bench_gate *g = &report.gates[i];
    ck_assert_msg(g->verdict == BENCH_GATE_PASS, "gate %u, %s: %s", g->number, g->name, g->reason ? g->reason : "-");
  }
  ck_assert(bench_report_is_evidence(&report));
  ck_assert(!bench_report_failed(&report));
  bench_report_free(&report);
}
END_TEST

START_TEST(gate_1_timing) {
  begin();
  memset(vyre()->clocks, 0, sizeof vyre()->clocks);
  report.cases[SAMPLE_ADD_H].has_phi = false;
  report.cases[SAMPLE_ADD_H].bound = NULL;
  wanted(1, BENCH_GATE_FAIL, "vyre has no times", 10);
  begin();
  vyre()->clocks[BENCH_DEVICE].count = 0;
  report.cases[SAMPLE_ADD_H].bound = NULL;
  wanted(1, BENCH_GATE_FAIL, "no device time on cuda", 10);
  begin();
  report.cases[0].contestants[SAMPLE_ABSENT].failure = NULL;
  wanted(1, BENCH_GATE_FAIL, "pocl has no times", 0);
  begin();
  report.cases[0].contestants[SAMPLE_CUB].failure = "it crashed";
  wanted(1, BENCH_GATE_FAIL, "cub has times in spite of its failure", 0);
}
END_TEST

START_TEST(gate_2_percentiles) {
  begin();
  vyre()->clocks[BENCH_WALL_RESIDENT].stats.p99 = vyre()->clocks[BENCH_WALL_RESIDENT].stats.p90 * 0.99;
  wanted(2, BENCH_GATE_FAIL, "out of order", 10);
  begin();
  bench_stats *s = &vyre()->clocks[BENCH_WALL_READBACK].stats;
  s->p50 = s->p90;
  wanted(2, BENCH_GATE_FAIL, "median", 10);
}
END_TEST

START_TEST(gate_3_determinism) {
  sample_options noisy = SAMPLE_PLAIN;
  noisy.cv = 0.02;
  sample_report(&report, &noisy);
  judge();
  ck_assert(report.cases[SAMPLE_ADD_H].unstable);
  const char *verdict = report.cases[SAMPLE_ADD_H].verdict;
  ck_assert_msg(strncmp(verdict, "unstable", 8) == 0, "%s", verdict);
  for (int i = 0; i < 12; i++) ck_assert_msg(report.gates[i].verdict != BENCH_GATE_FAIL, "%s", report.gates[i].reason);
  report.cases[SAMPLE_ADD_H].unstable = false;
  ck_assert_int_eq(bench_gates_judge(&report), VYRE_OK);
  ck_assert_int_eq(report.gates[2].verdict, BENCH_GATE_FAIL);
  report.cases[SAMPLE_ADD_H].unstable = true;
  report.cases[SAMPLE_ADD_H].verdict = "pass: so it says";
  ck_assert_int_eq(bench_gates_judge(&report), VYRE_OK);
  ck_assert_int_eq(report.gates[2].verdict, BENCH_GATE_FAIL);
  bench_report_free(&report);
}
END_TEST

START_TEST(gate_4_bounds) {
  begin();
  report.cases[SAMPLE_ADD_H].bytes = report.cases[SAMPLE_ADD_H].ops = 0;
  wanted(4, BENCH_GATE_FAIL, "neither bytes nor operations", 0);
  begin();
  report.cases[SAMPLE_ADD_H].has_phi = false;
  wanted(4, BENCH_GATE_FAIL, "no phi", 0);
  begin();
  report.cases[SAMPLE_ADD_H].phi *= 0.99;
  wanted(4, BENCH_GATE_FAIL, "not bound_ns / p50", 0);
  begin();
  report.probes[0].value = 4e12;
  sample_settle(&report);
  wanted(4, BENCH_GATE_FAIL, "the bound is wrong", 0);
  begin(); /* a cache may beat it */
  bench_case *l = &report.cases[SAMPLE_ADD_L];
  l->bound_ns *= 2;
  l->phi *= 2;
  wanted(4, BENCH_GATE_PASS, NULL, 0);
}
END_TEST

START_TEST(gates_5_to_7) {
  begin();
  report.cases[0].counters[0].value = 90;
  wanted(5, BENCH_GATE_FAIL, "90 of 100", 0);
  begin();
  for (int i = 0; i < SAMPLE_CASES; i++) report.cases[i].counter_count = 1;
  wanted(5, BENCH_GATE_ABSENT, "no case counts", 0);
  begin();
  report.dirty = true;
  wanted(6, BENCH_GATE_FAIL, "changed since 0123456789ab", 0);
  begin();
  report.commit = "unknown";
  wanted(6, BENCH_GATE_FAIL, "40 hexadecimal", 0);
  begin();
  report.commit = NULL;
  wanted(6, BENCH_GATE_ABSENT, "not known", 0);
  begin();
  report.device[4].value = "thermal";
  wanted(7, BENCH_GATE_FAIL, "throttled: thermal", 0);
  begin();
  report.device[3].value = "1900";
  wanted(7, BENCH_GATE_FAIL, "1980 to 1900", 0);
  begin();
  report.device_count = 2;
  wanted(7, BENCH_GATE_ABSENT, "does not tell", 0);
}
END_TEST

START_TEST(gate_8_sweeps) {
  begin();
  report.cases[SAMPLE_ADD_L].n = report.cases[SAMPLE_ADD_S].n; /* one size in two ways */
  wanted(8, BENCH_GATE_FAIL, "elementwise.add was measured at 2 sizes only", 0);
  begin();
  report.cases++; /* without the row that asks for several */
  report.case_count--;
  wanted(8, BENCH_GATE_ABSENT, "no case has a planned crossover", 0);
}
END_TEST

START_TEST(gates_9_to_12) {
  begin();
  report.backends[1].reason = NULL;
  wanted(9, BENCH_GATE_FAIL, "vulkan has neither", 0);
  begin();
  report.cases[0].ratios[0].value = 1.0 / 0.0;
  wanted(10, BENCH_GATE_FAIL, "value is missing", 0);
  begin();
  report.cases[0].title = "a title of \xFF no text";
  wanted(10, BENCH_GATE_FAIL, "changes as it is read", 0);
  begin();
  vyre()->launch_count = 0;
  wanted(11, BENCH_GATE_FAIL, "no launch record", 0);
  begin();
  vyre()->launches[0].grid[1] = 0;
  wanted(11, BENCH_GATE_FAIL, "launch of nothing", 0);
  begin();
  report.cases[0].inputs[0].found.fnv++;
  wanted(12, BENCH_GATE_FAIL, "not the one that is defined", 0);
  begin();
  report.cases[0].inputs[0].found.known = false;
  wanted(12, BENCH_GATE_FAIL, "not digested", 0);
  begin();
  report.cases[0].inputs[0].wanted.known = false;
  wanted(12, BENCH_GATE_PASS, NULL, 0);
}
END_TEST

START_TEST(an_empty_report_is_judged) {
  report = (bench_report){ .time = "2026-11-30T00:00:00Z" };
  judge();
  for (uint32_t i = 0; i < report.gate_count; i++)
    ck_assert_int_eq(report.gates[i].verdict, i + 1 == 10 ? BENCH_GATE_PASS : BENCH_GATE_ABSENT);
  bench_report_free(&report);
}
END_TEST

START_TEST(many_faults_are_counted) {
  begin();
  for (int i = 0; i < SAMPLE_CASES; i++) report.cases[i].contestants[0].launch_count = 0;
  wanted(11, BENCH_GATE_FAIL, "and 3 more", 0);
}
END_TEST

/* Either the call fails, or a gate does. */
START_TEST(without_memory_it_says_so) {
  begin();
  report.cases += SAMPLE_INTEGER;
  report.case_count = 1;
  judge();
  for (uint64_t n = 1;; n++) {
    fail_malloc_at(n);
    vyre_status targets = bench_targets_judge(&report), gates = bench_gates_judge(&report);
    if (!fail_malloc_end()) break;
    bool silent = targets == VYRE_OK && gates == VYRE_OK && bench_report_is_evidence(&report);
    ck_assert_msg(!silent, "allocation %d", (int)n);
  }
  judge();
  ck_assert(bench_report_is_evidence(&report));
  bench_report_free(&report);
}
END_TEST

int main(void) {
  return run_suite("gates", 60,
                   (const TTest *const[]){ the_sample_passes, gate_1_timing, gate_2_percentiles, gate_3_determinism,
                                           gate_4_bounds, gates_5_to_7, gate_8_sweeps, gates_9_to_12,
                                           an_empty_report_is_judged, many_faults_are_counted, without_memory_it_says_so, NULL });
}
