/* The table and the cases know each other; a verdict follows from what was measured, and from nothing made up. */
#include <stdio.h>
#include <string.h>

#include "../suite.h"
#include "harness/gates.h"
#include "harness/targets.h"
#include "harness/workload.h"
#include "sample_report.h"

static bench_report report;
static bench_case *add, *small;

static void begin(void) {
  sample_report(&report, &(sample_options)SAMPLE_PLAIN);
  add = &report.cases[SAMPLE_ADD_H];
  small = &report.cases[SAMPLE_ADD_S];
}

/* Judges and wants a verdict that begins with |word| and has |text|. */
static void wanted(const bench_case *c, const char *word, const char *text) {
  ck_assert_int_eq(bench_targets_judge(&report), VYRE_OK);
  ck_assert_msg(strncmp(c->verdict, word, strlen(word)) == 0 && strstr(c->verdict, text), "%s: wanted %s: %s, found %s",
                c->id, word, text, c->verdict);
  bench_report_free(&report);
}

START_TEST(each_case_has_a_row_and_each_row_a_case) {
  uint32_t cases, rows;
  const bench_case_row *all = bench_case_rows(&cases);
  const bench_target *targets = bench_targets(&rows);
  for (uint32_t i = 0; i < cases; i++) {
    const bench_workload *w = all[i].workload;
    ck_assert_msg(bench_target_of(w->id, w->variant, all[i].tier) != NULL, "%s %s at %s has no row in the table", w->id,
                  w->variant, all[i].tier);
  }
  for (uint32_t t = 0; t < rows; t++) {
    bool used = false;
    for (uint32_t i = 0; i < cases; i++)
      used |= bench_target_of(all[i].workload->id, all[i].workload->variant, all[i].tier) == &targets[t];
    ck_assert_msg(used, "the row %s is for no case", targets[t].id);
  }
}
END_TEST

static bool names(const bench_target *t, const char *baseline) {
  for (const char *const *name = t->baselines; *name; name++)
    if (strcmp(*name, baseline) == 0) return true;
  return false;
}

/* A peer that runs has a row of its own, and is named by each case that it runs for, unless it is only near. */
START_TEST(each_peer_is_a_baseline) {
  uint32_t peers, cases, baselines;
  const bench_peer_row *peer = bench_peer_rows(&peers);
  const bench_case_row *row = bench_case_rows(&cases);
  const bench_baseline *baseline = bench_baselines(&baselines);
  for (uint32_t p = 0; p < peers; p++) {
    bool there = false;
    for (uint32_t b = 0; b < baselines; b++) there |= strcmp(baseline[b].name, peer[p].file) == 0;
    ck_assert_msg(there, "the peer %s has no baseline row", peer[p].file);
    for (uint32_t i = 0; i < cases; i++) {
      const bench_workload *w = row[i].workload;
      if (strcmp(w->peer_id ? w->peer_id : w->id, peer[p].workload) != 0 || peer[p].class == BENCH_NEAR) continue;
      const bench_target *t = bench_target_of(w->id, w->variant, row[i].tier);
      ck_assert_msg(t && names(t, peer[p].file), "the row of %s %s does not name %s", w->id, w->variant, peer[p].file);
    }
  }
}
END_TEST

START_TEST(the_sample_passes) {
  begin();
  wanted(add, "pass", "device ratio to cub 1.2");
  begin();
  wanted(add, "pass", "faster");
  begin();
  wanted(add, "pass", "wall_resident ratio to gcc");
  begin();
  wanted(add, "pass", "phi 0.95");
  begin();
  wanted(small, "pass", "t_launch / p50 0.9");
  begin();
  add->contestants[SAMPLE_CUB].clocks[BENCH_DEVICE].count = 9; /* who takes long leaves the rounds early */
  sample_settle(&report);
  wanted(add, "pass", "device ratio to cub 1.2");
  begin();
  wanted(&report.cases[SAMPLE_ADD_L], "recorded", "");
  begin();
  ck_assert_int_eq(bench_targets_judge(&report), VYRE_OK);
  ck_assert_str_eq(add->target, "elementwise.add.h");
  ck_assert(!bench_report_failed(&report));
  bench_report_free(&report);
}
END_TEST

START_TEST(what_is_too_slow_fails) {
  sample_options slow = SAMPLE_PLAIN;
  slow.vyre = 1.3;
  sample_report(&report, &slow);
  add = &report.cases[SAMPLE_ADD_H];
  wanted(add, "fail", "device ratio to cub 0.9");
  sample_report(&report, &slow);
  add = &report.cases[SAMPLE_ADD_H];
  wanted(add, "fail", "phi 0.7");
  sample_report(&report, &slow);
  add = &report.cases[SAMPLE_ADD_H];
  wanted(add, "fail", "the threshold is a proposal");
  begin();
  report.probes[3].value = 2.5e11; /* a slower CPU: more is wanted of the ratio */
  wanted(add, "fail", "ratio to gcc");
  begin();
  report.probes[2].value = 1000;
  wanted(small, "fail", "t_launch / p50 0.4");
}
END_TEST

START_TEST(wrong_results_fail) {
  begin();
  add->contestants[0].correct = false;
  wanted(add, "fail", "the result is wrong");
  begin();
  add->contestants[0].failure = "the device was lost";
  wanted(add, "fail", "the device was lost");
  begin();
  add->inputs[0].found.fnv ^= 1;
  wanted(add, "fail", "an input is not the one");
  begin();
  add->contestants[0].correct = false;
  ck_assert_int_eq(bench_targets_judge(&report), VYRE_OK);
  ck_assert(bench_report_failed(&report));
  bench_report_free(&report);
  begin();
  report.cases[SAMPLE_ADD_L].contestants[0].correct = false; /* also where nothing is demanded */
  wanted(&report.cases[SAMPLE_ADD_L], "fail", "the result is wrong");
}
END_TEST

START_TEST(fabricated_baselines_fail) {
  begin();
  add->contestant_count--;
  wanted(add, "fail", "no row for the baseline cublas");
  begin();
  add->contestants[SAMPLE_CUB].correct = false;
  wanted(add, "fail", "cub gives no ratio: its result is wrong");
  begin();
  add->contestants[SAMPLE_CUB].output.fnv ^= 1;
  wanted(add, "fail", "cub gives no ratio: its result is another one");
  begin();
  add->contestants[SAMPLE_CUB].clocks[BENCH_DEVICE] = add->contestants[0].clocks[BENCH_DEVICE];
  sample_settle(&report);
  wanted(add, "fail", "its samples are vyre's own");
  begin();
  add->ratios[0].value *= 1.01;
  wanted(add, "fail", "does not follow from its samples");
  begin();
  add->ratios[0].low = add->ratios[0].value * 1.001;
  wanted(add, "fail", "its interval does not hold its ratio");
  begin();
  add->ratio_count = 0;
  wanted(add, "fail", "its ratio is missing");
  begin();
  add->workload = "elementwise.made_up";
  wanted(add, "fail", "no row of the target table");
}
END_TEST

START_TEST(what_did_not_run_is_untested) {
  begin();
  for (int i = 1; i < SAMPLE_CONTESTANTS; i++)
    if (add->contestants[i].class == BENCH_GPU_SOTA) add->contestants[i].failure = "no nvcc here";
  wanted(add, "untested", "no baseline of class gpu_sota ran: no nvcc here");
  begin();
  add->contestants[SAMPLE_CUB].class = add->contestants[SAMPLE_CUDA].class = BENCH_NEAR;
  wanted(add, "untested", "no baseline of class gpu_sota ran");
  begin();
  add->has_phi = false;
  wanted(add, "untested", "phi is not known: bw_copy");
  begin();
  report.probe_count = 0;
  wanted(add, "untested", "bandwidths of device and host");
  begin();
  report.probe_count = 0;
  wanted(small, "untested", "t_launch was not measured");
  begin();
  small->contestants[0].clocks[BENCH_WALL_RESIDENT].count = 0;
  small->contestants[0].clocks[BENCH_WALL_RESIDENT].stats.p50 = 0;
  wanted(small, "untested", "not wall_resident");
  begin();
  add->contestants[0].launches[0].backend = "cpu_ref";
  wanted(add, "untested", "no compiled backend");
  begin();
  add->contestants[0].launch_count = 0;
  report.device_count = 1;
  wanted(add, "untested", "no compiled backend");
}
END_TEST

START_TEST(nothing_is_passed_on_noise) {
  sample_options noisy = SAMPLE_PLAIN;
  noisy.cv = 0.01;
  sample_report(&report, &noisy);
  add = &report.cases[SAMPLE_ADD_H];
  wanted(add, "unstable", "device ratio to cub");
  begin();
  bench_series *wall = &small->contestants[0].clocks[BENCH_WALL_RESIDENT];
  for (uint32_t i = 0; i < wall->count; i += 2) wall->ns[i] *= 0.7;
  sample_settle(&report);
  wanted(small, "unstable", "t_launch");
}
END_TEST

int main(void) {
  return run_suite("targets", 60,
                   (const TTest *const[]){ each_case_has_a_row_and_each_row_a_case, each_peer_is_a_baseline,
                                           the_sample_passes, what_is_too_slow_fails, wrong_results_fail,
                                           fabricated_baselines_fail, what_did_not_run_is_untested,
                                           nothing_is_passed_on_noise, NULL });
}
