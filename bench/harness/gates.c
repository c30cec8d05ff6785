/* Each gate is a function that looks at the report and gives its verdict and reason. */
#include "gates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/writer.h"
#include "record_json.h"
#include "render.h"
#include "stats.h"
#include "targets.h"

enum { LEAST_SIZES = 3 };

/* The first fault is kept as the reason; |seen| counts what could be judged. */
typedef struct judgement {
  bench_report *report;
  vyre_writer fault;
  uint32_t seen, faults;
} judgement;

#define FAULT(j, ...) ((j)->faults++ == 0 ? vyre_write(&(j)->fault, __VA_ARGS__) : (void)0)

static bool same(const char *a, const char *b) {
  return a && b && strcmp(a, b) == 0;
}

static bool ran(const bench_case *c) {
  return c->contestant_count > 0 && !c->contestants[0].failure;
}

static bool by_oracle(const judgement *j, const bench_case *c) {
  return same(bench_backend_of(j->report, c), "cpu_ref");
}

static bool starts_with(const char *text, const char *word) {
  return text && strncmp(text, word, strlen(word)) == 0;
}

/* The case behind |c|, or the first; NULL behind the last. */
static const bench_case *next(const judgement *j, const bench_case *c) {
  const bench_report *r = j->report;
  uint32_t at = c ? (uint32_t)(c - r->cases) + 1 : 0;
  return at < r->case_count ? &r->cases[at] : NULL;
}

#define EACH_CASE(j, c) for (const bench_case *c = next(j, NULL); c; c = next(j, c))

/* 1: whoever has no failure has times: vyre by the wall, and by the device unless it ran on the oracle. */
static void timing(judgement *j) {
  EACH_CASE(j, c)
  for (uint32_t i = 0; i < c->contestant_count; i++) {
    const bench_contestant *who = &c->contestants[i];
    uint32_t clocks = 0;
    for (int clock = 0; clock < BENCH_CLOCKS; clock++) clocks += who->clocks[clock].count > 0;
    j->seen++;
    if (who->failure ? clocks > 0 : clocks == 0)
      FAULT(j, "%s: %s has %s", c->id, who->name, who->failure ? "times in spite of its failure" : "no times");
    else if (i == 0 && clocks > 0 && who->launch_count && !by_oracle(j, c) && !who->clocks[BENCH_DEVICE].count)
      FAULT(j, "%s: vyre has no device time on %s", c->id, who->launches[0].backend);
  }
}

static bool monotone(const bench_stats *s) {
  return s->min > 0 && s->min <= s->p50 && s->p50 <= s->p90 && s->p90 <= s->p95 && s->p95 <= s->p99 &&
         s->p99 <= s->p999 && s->p999 <= s->max && s->min <= s->mean && s->mean <= s->max;
}

/* 2: percentiles are in order, and those of the samples. */
static void percentiles(judgement *j) {
  EACH_CASE(j, c)
  for (uint32_t i = 0; i < c->contestant_count; i++)
    for (int clock = 0; clock < BENCH_CLOCKS; clock++) {
      const bench_series *s = &c->contestants[i].clocks[clock];
      bench_stats stats;
      if (s->count == 0) continue;
      j->seen++;
      if (!monotone(&s->stats))
        FAULT(j, "%s: the percentiles of %s are out of order", c->id, c->contestants[i].name);
      else if (!bench_stats_of(s->ns, s->count, &stats) || !(fabs(stats.p50 - s->stats.p50) <= 1e-9 * stats.p50))
        FAULT(j, "%s: the median of %s is not that of its samples", c->id, c->contestants[i].name);
    }
}

/* 3: device times that vary are marked, and pass nothing. */
static void determinism(judgement *j) {
  EACH_CASE(j, c) {
    const bench_series *s = c->contestant_count ? &c->contestants[0].clocks[BENCH_DEVICE] : NULL;
    if (!s || s->count < 2) continue;
    j->seen++;
    if (s->stats.cv >= bench_limits_get()->device_cv && !c->unstable)
      FAULT(j, "%s: device times vary by %.3f and are not marked unstable", c->id, s->stats.cv);
    else if (c->unstable && starts_with(c->verdict, "pass"))
      FAULT(j, "%s is unstable and passes", c->id);
  }
}

/* 4: what has a bound says its bytes, and its phi follows from them and is possible. Caches may beat the bound of
 * memory, so only tier H is held against phi_max. */
static void bounds(judgement *j) {
  EACH_CASE(j, c) {
    if (!c->bound || !ran(c)) continue;
    j->seen++;
    double p50 = c->contestants[0].clocks[c->phi_clock].stats.p50;
    if (c->bytes == 0 && c->ops == 0)
      FAULT(j, "%s is bound by %s and counts neither bytes nor operations", c->id, c->bound);
    else if (!c->has_phi)
      FAULT(j, "%s has no phi: %s was not measured on the device", c->id, c->bound);
    else if (!(fabs(c->phi * p50 - c->bound_ns) <= 1e-6 * c->bound_ns))
      FAULT(j, "%s: phi %.3f is not bound_ns / p50", c->id, c->phi);
    else if (same(c->tier, "H") && c->phi > bench_limits_get()->phi_max)
      FAULT(j, "%s: phi %.3f says that the bound is wrong", c->id, c->phi);
  }
}

static const bench_counter *counter_of(const bench_case *c, const char *name) {
  for (uint32_t i = 0; i < c->counter_count; i++)
    if (same(c->counters[i].name, name)) return &c->counters[i];
  return NULL;
}

/* 5: nothing is compiled while it is measured. */
static void compile_cache(judgement *j) {
  EACH_CASE(j, c) {
    const bench_counter *hits = counter_of(c, "compile_cache_hits"), *asked = counter_of(c, "compile_cache_lookups");
    if (!hits || !asked) continue;
    j->seen++;
    if (asked->value > 0 && !(hits->value >= bench_limits_get()->cache_hits * asked->value))
      FAULT(j, "%s: %g of %g lookups hit the compile cache", c->id, hits->value, asked->value);
  }
}

/* 6: the snapshot is of one commit, which is known and unchanged. */
static void snapshot(judgement *j) {
  const char *commit = j->report->commit;
  if (!commit) return;
  j->seen++;
  if (strlen(commit) != 40 || strspn(commit, "0123456789abcdef") != 40)
    FAULT(j, "the commit is not 40 hexadecimal digits");
  else if (j->report->dirty)
    FAULT(j, "the tree was changed since %.12s", commit);
}

static const char *device_pair(const judgement *j, const char *key) {
  for (uint32_t i = 0; i < j->report->device_count; i++)
    if (same(j->report->device[i].key, key)) return j->report->device[i].value;
  return NULL;
}

/* 7: the device neither throttled nor changed its clock. */
static void clocks(judgement *j) {
  const char *throttle = device_pair(j, "throttle");
  const char *before = device_pair(j, "clock_before_mhz"), *after = device_pair(j, "clock_after_mhz");
  j->seen = throttle || (before && after);
  if (throttle && strcmp(throttle, "none") != 0) FAULT(j, "the device throttled: %s", throttle);
  if (!before || !after) return;
  double from = strtod(before, NULL), to = strtod(after, NULL);
  if (!(from > 0) || !(fabs(to / from - 1) < bench_limits_get()->clock_drift))
    FAULT(j, "the clock of the device went from %s to %s MHz", before, after);
}

/* How many sizes of the case's workload and variant there are. */
static uint32_t sizes_of(const judgement *j, const bench_case *c) {
  uint32_t sizes = 0;
  EACH_CASE(j, a) {
    bool counts = same(a->workload, c->workload) && same(a->variant, c->variant);
    for (const bench_case *b = j->report->cases; counts && b < a; b++)
      counts = b->n != a->n || !same(b->workload, c->workload) || !same(b->variant, c->variant);
    sizes += counts;
  }
  return sizes;
}

/* 8: a workload with a planned crossover was measured at several sizes. */
static void sweeps(judgement *j) {
  EACH_CASE(j, c) {
    const bench_target *t = bench_target_of(c->workload, c->variant, c->tier);
    if (!t || !t->sweep) continue;
    j->seen++;
    uint32_t sizes = sizes_of(j, c);
    if (sizes < LEAST_SIZES) FAULT(j, "%s was measured at %u sizes only", c->workload, sizes);
  }
}

static bool has_row(const judgement *j, const char *backend) {
  EACH_CASE(j, c)
  if (ran(c) && same(bench_backend_of(j->report, c), backend)) return true;
  return false;
}

/* 9: a backend that was found has rows, or a reason. */
static void backends(judgement *j) {
  for (uint32_t i = 0; i < j->report->backend_count; i++) {
    const bench_backend *b = &j->report->backends[i];
    j->seen++;
    if (!b->reason && !has_row(j, b->name)) FAULT(j, "%s has neither a row nor a reason", b->name);
  }
}

/* 10: what is written is read back as it was. */
static void output(judgement *j) {
  vyre_writer text = { 0 }, again = { 0 };
  bench_report copy = { 0 };
  vyre_error error = VYRE_ERROR_INIT;
  j->seen = 1;
  if (!bench_render(j->report, bench_json_write, &text))
    FAULT(j, "it cannot be written");
  else if (bench_json_parse("the report", text.data, text.count, &copy, &error) != VYRE_OK)
    FAULT(j, "%s", error.text);
  else if (!bench_render(&copy, bench_json_write, &again) || again.count != text.count ||
           memcmp(text.data, again.data, text.count) != 0)
    FAULT(j, "it changes as it is read");
  bench_report_free(&copy);
  vyre_writer_free(&text);
  vyre_writer_free(&again);
}

/* 11: each series says how it was really launched. What runs on the host alone has no launches. */
static void launches(judgement *j) {
  EACH_CASE(j, c) {
    const bench_target *t = bench_target_of(c->workload, c->variant, c->tier);
    if (!ran(c) || (t && same(t->backend, "any"))) continue;
    j->seen++;
    const bench_contestant *vyre = &c->contestants[0];
    if (vyre->launch_count == 0) FAULT(j, "%s has no launch record", c->id);
    for (uint32_t i = 0; i < vyre->launch_count; i++) {
      const bench_launch *l = &vyre->launches[i];
      for (int axis = 0; axis < 3; axis++)
        if (l->grid[axis] == 0 || l->workgroup[axis] == 0) FAULT(j, "%s: a launch of nothing is recorded", c->id);
    }
  }
}

/* 12: inputs are those that the workload defines. */
static void inputs(judgement *j) {
  EACH_CASE(j, c)
  for (uint32_t i = 0; i < c->input_count; i++) {
    const bench_input *in = &c->inputs[i];
    j->seen++;
    if (!in->found.known) FAULT(j, "%s: the input %s was not digested", c->id, in->name);
    else if (in->wanted.known && in->wanted.fnv != in->found.fnv)
      FAULT(j, "%s: the input %s is not the one that is defined", c->id, in->name);
  }
}

static const struct gate {
  const char *name, *absent;
  void (*judge)(judgement *j);
} gates[] = {
  { "timing is there", "there are no cases", timing },
  { "percentiles are in order", "nothing was timed", percentiles },
  { "device times are steady", "nothing has device times", determinism },
  { "phi and bytes are there", "no case has a bound", bounds },
  { "compile cache hits", "no case counts lookups", compile_cache },
  { "one commit", "the commit is not known", snapshot },
  { "no throttling, steady clocks", "the device does not tell", clocks },
  { "sweeps of crossovers", "no case has a planned crossover", sweeps },
  { "every backend has rows or a reason", "no backend was found", backends },
  { "output is stable", "", output },
  { "launch records", "nothing was launched", launches },
  { "input digests", "no case has inputs", inputs },
};
enum { GATES = sizeof gates / sizeof *gates };

static bool judge(bench_report *report, uint32_t i, bench_gate *out) {
  judgement j = { .report = report };
  gates[i].judge(&j);
  if (j.faults > 1) vyre_write(&j.fault, ", and %u more", j.faults - 1);
  *out = (bench_gate){ .number = i + 1, .name = gates[i].name };
  out->verdict = j.faults ? BENCH_GATE_FAIL : j.seen ? BENCH_GATE_PASS : BENCH_GATE_ABSENT;
  if (j.faults && !j.fault.failed) out->reason = vyre_arena_copy(&report->arena, j.fault.data, j.fault.count);
  else if (!j.seen) out->reason = gates[i].absent;
  bool done = !j.faults || out->reason;
  vyre_writer_free(&j.fault);
  return done;
}

vyre_status bench_gates_judge(bench_report *report) {
  bench_gate *all = vyre_arena_alloc(&report->arena, sizeof *all * GATES);
  if (!all) return VYRE_ERR_NO_MEMORY;
  report->gates = NULL;
  report->gate_count = 0;
  for (uint32_t i = 0; i < GATES; i++)
    if (!judge(report, i, &all[i])) return VYRE_ERR_NO_MEMORY;
  report->gates = all;
  report->gate_count = GATES;
  return VYRE_OK;
}

bool bench_report_is_evidence(const bench_report *report) {
  for (uint32_t i = 0; i < report->gate_count; i++)
    if (report->gates[i].verdict == BENCH_GATE_FAIL) return false;
  return report->gate_count > 0;
}

bool bench_report_failed(const bench_report *report) {
  for (uint32_t i = 0; i < report->case_count; i++) {
    const bench_case *c = &report->cases[i];
    const bench_target *t = bench_target_of(c->workload, c->variant, c->tier);
    bool counts = !t || t->quality == BENCH_QUALITY_GATE || !ran(c) || !c->contestants[0].correct;
    if (counts && starts_with(c->verdict, "fail")) return true;
  }
  return false;
}
