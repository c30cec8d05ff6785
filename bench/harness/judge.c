/* Holds a case against its row. A figure counts only if it is what it is said to be: a baseline that is not there, that
 * was wrong, that has vyre's own samples, or whose ratio does not follow from its samples is a failure and no ratio. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/writer.h"
#include "record_fields.h"
#include "stats.h"
#include "targets.h"

/* A verdict under way: the worst word so far, and what was found. */
typedef struct verdict {
  enum { PASS, UNTESTED, FAIL } word;
  vyre_writer text;
} verdict;

__attribute__((format(printf, 3, 4))) static void say(verdict *v, int word, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (v->text.count) vyre_write_text(&v->text, "; ");
  vyre_write_list(&v->text, format, args);
  va_end(args);
  if (word > (int)v->word) v->word = word;
}

static bool same(const char *a, const char *b) {
  return a && b && strcmp(a, b) == 0;
}

static const char *pair_of(const bench_pair *pairs, uint32_t count, const char *key) {
  for (uint32_t i = 0; i < count; i++)
    if (same(pairs[i].key, key)) return pairs[i].value;
  return NULL;
}

const char *bench_backend_of(const bench_report *report, const bench_case *c) {
  const bench_contestant *vyre = c->contestants;
  if (c->contestant_count && vyre->launch_count) return vyre->launches[0].backend;
  return pair_of(report->device, report->device_count, "backend");
}

static const bench_baseline *baseline_named(const char *name) {
  uint32_t count;
  const bench_baseline *all = bench_baselines(&count);
  for (uint32_t i = 0; i < count; i++)
    if (same(all[i].name, name)) return &all[i];
  return NULL;
}

static const bench_contestant *contestant_named(const bench_case *c, const char *name) {
  for (uint32_t i = 1; i < c->contestant_count; i++)
    if (same(c->contestants[i].name, name)) return &c->contestants[i];
  return NULL;
}

static const bench_ratio *ratio_of(const bench_case *c, const char *peer, bench_clock clock) {
  for (uint32_t i = 0; i < c->ratio_count; i++)
    if (same(c->ratios[i].peer, peer) && c->ratios[i].clock == clock) return &c->ratios[i];
  return NULL;
}

static bool copied(const bench_series *a, const bench_series *b) {
  return a->count > 2 && a->count == b->count && memcmp(a->ns, b->ns, a->count * sizeof *a->ns) == 0;
}

/* Of the medians over the rounds that both have. False without memory. */
static bool median_ratio(const bench_series *a, const bench_series *b, double *out) {
  uint32_t rounds = a->count < b->count ? a->count : b->count;
  bench_stats x, y;
  if (!bench_stats_of(a->ns, rounds, &x) || !bench_stats_of(b->ns, rounds, &y)) return false;
  *out = x.p50 / y.p50;
  return true;
}

/* Why the peer's ratio by |clock| must not be believed; NULL if it may be. */
static const char *distrust(verdict *v, const bench_case *c, const bench_contestant *peer, bench_clock clock) {
  const bench_contestant *vyre = c->contestants;
  const bench_series *a = &peer->clocks[clock], *b = &vyre->clocks[clock];
  if (!peer->correct) return "its result is wrong";
  bool digested = peer->output.known && vyre->output.known;
  if (digested && peer->output.fnv != vyre->output.fnv) return "its result is another one";
  if (copied(a, b)) return "its samples are vyre's own";
  const bench_ratio *ratio = ratio_of(c, peer->name, clock);
  if (!ratio) return "its ratio is missing";
  double value;
  if (!median_ratio(a, b, &value)) {
    v->text.failed = true;
    return NULL;
  }
  if (!(fabs(ratio->value - value) <= 1e-9 * value)) return "its ratio does not follow from its samples";
  if (!(ratio->low <= ratio->value && ratio->value <= ratio->high)) return "its interval does not hold its ratio";
  return NULL;
}

/* How sure it is that vyre is faster, as one may say it. */
static const char *claim(const bench_ratio *ratio) {
  const bench_limits *l = bench_limits_get();
  bool tested = ratio->sign_p < l->sign_p && ratio->value > 1 + l->noise_floor;
  return ratio->value >= l->clear_ratio || tested ? "faster" : "level";
}

static void judge_ratio(verdict *v, const bench_case *c, const bench_contestant *peer, bench_clock clock,
                        double wanted) {
  const char *reason = distrust(v, c, peer, clock);
  if (reason) {
    say(v, FAIL, "%s gives no ratio: %s", peer->name, reason);
    return;
  }
  const bench_ratio *ratio = ratio_of(c, peer->name, clock);
  if (ratio->value < wanted)
    say(v, FAIL, "%s ratio to %s %.3f, at least %.3f wanted", bench_clock_name(clock), peer->name, ratio->value,
        wanted);
  else
    say(v, PASS, "%s ratio to %s %.3f (at least %.3f: %s)", bench_clock_name(clock), peer->name, ratio->value, wanted,
        claim(ratio));
}

/* Every peer of the row that is of |class| here and has figures by |clock|. */
static void judge_ratios(verdict *v, const bench_target *t, const bench_case *c, bench_class class, bench_clock clock,
                         double wanted) {
  bool any = false;
  const char *why = "none of that class is named";
  for (const char *const *name = t->baselines; *name; name++) {
    if (baseline_named(*name)->kind != BENCH_BASELINE_PEER) continue;
    const bench_contestant *peer = contestant_named(c, *name);
    if (!peer)
      say(v, FAIL, "the report has no row for the baseline %s", *name);
    else if (peer->failure)
      why = peer->failure;
    else if (peer->class == class && peer->clocks[clock].count && c->contestants->clocks[clock].count) {
      judge_ratio(v, c, peer, clock, wanted);
      any = true;
    }
  }
  if (!any) say(v, UNTESTED, "no baseline of class %s ran: %s", bench_class_name(class), why);
}

static const bench_probe *probe_of(const bench_report *r, const char *name, const char *of) {
  for (uint32_t i = 0; i < r->probe_count; i++)
    if (same(r->probes[i].name, name) && same(r->probes[i].of, of)) return &r->probes[i];
  return NULL;
}

/* Ratio of two perfect implementations: both move the same bytes at their measured bandwidth. */
static void judge_ceiling(verdict *v, const bench_target *t, const bench_report *r, const bench_case *c) {
  const bench_probe *theirs = c->bound ? probe_of(r, c->bound, pair_of(r->host, r->host_count, "cpu")) : NULL;
  if (!theirs || !(c->bound_ns > 0)) {
    say(v, UNTESTED, "the bandwidths of device and host were not both measured");
    return;
  }
  double own = (double)c->bytes / c->bound_ns * 1e9;
  judge_ratios(v, t, c, BENCH_CPU_SOTA, BENCH_WALL_RESIDENT, t->min_ceiling * own / theirs->value);
}

static void judge_phi(verdict *v, const bench_target *t, const bench_case *c) {
  if (!c->has_phi)
    say(v, UNTESTED, "phi is not known: %s was not measured", c->bound ? c->bound : "a bound");
  else
    say(v, c->phi < t->min_phi ? FAIL : PASS, "phi %.3f, at least %.3f wanted", c->phi, t->min_phi);
}

static void judge_probe(verdict *v, const bench_target *t, const bench_report *r, const bench_case *c) {
  const char *device = pair_of(r->device, r->device_count, "name");
  for (const char *const *name = t->baselines; *name; name++) {
    if (baseline_named(*name)->kind != BENCH_BASELINE_PROBE) continue;
    const bench_probe *probe = probe_of(r, *name, device);
    double p50 = c->contestants->clocks[t->clock].stats.p50;
    if (!probe || !same(probe->unit, "ns") || !(p50 > 0))
      say(v, UNTESTED, "%s was not measured, or not %s", *name, bench_clock_name(t->clock));
    else
      say(v, probe->value / p50 < t->min_probe ? FAIL : PASS, "%s / p50 %.3f, at least %.3f wanted", *name,
          probe->value / p50, t->min_probe);
  }
}

static void judge_counter(verdict *v, const bench_target *t, const bench_case *c) {
  for (uint32_t i = 0; i < c->counter_count; i++) {
    if (!same(c->counters[i].name, t->counter)) continue;
    double value = c->counters[i].value;
    bool good = t->at_most ? value <= t->limit : value >= t->limit;
    say(v, good ? PASS : FAIL, "%s %g, at %s %g wanted", t->counter, value, t->at_most ? "most" : "least", t->limit);
    return;
  }
  say(v, UNTESTED, "%s was not counted", t->counter);
}

static void judge_thresholds(verdict *v, const bench_target *t, const bench_report *r, const bench_case *c) {
  if (t->min_ratio > 0) judge_ratios(v, t, c, t->class, t->clock, t->min_ratio);
  if (t->min_ceiling > 0) judge_ceiling(v, t, r, c);
  if (t->min_phi > 0) judge_phi(v, t, c);
  if (t->min_probe > 0) judge_probe(v, t, r, c);
  if (t->counter) judge_counter(v, t, c);
}

/* What is wrong with vyre's own figures; NULL if nothing is. */
static const char *fault_of(const bench_case *c) {
  if (c->contestant_count == 0) return "nothing ran";
  if (c->contestants[0].failure) return c->contestants[0].failure;
  for (uint32_t i = 0; i < c->input_count; i++) {
    const bench_input *in = &c->inputs[i];
    if (in->wanted.known && (!in->found.known || in->found.fnv != in->wanted.fnv))
      return "an input is not the one that the workload defines";
  }
  return c->contestants[0].correct ? NULL : "the result is wrong";
}

static bool varies(const bench_series *s, double limit) {
  return s->count > 1 && s->stats.cv >= limit;
}

/* Device time always has to be steady, wall time where it is the contract's. */
static bool is_unstable(const bench_target *t, const bench_case *c) {
  const bench_series *clocks = c->contestants[0].clocks;
  if (varies(&clocks[BENCH_DEVICE], bench_limits_get()->device_cv)) return true;
  return t->clock != BENCH_DEVICE && varies(&clocks[t->clock], bench_limits_get()->wall_cv);
}

static void judge_row(verdict *v, const bench_target *t, const bench_report *r, bench_case *c) {
  const char *backend = bench_backend_of(r, c), *fault = fault_of(c);
  bool any = same(t->backend, "any");
  if (fault) {
    say(v, FAIL, "%s", fault);
    return;
  }
  if (t->quality == BENCH_QUALITY_RECORDED) return;
  if (!t->backend && (!backend || same(backend, "cpu_ref")))
    say(v, UNTESTED, "no compiled backend");
  else if (t->backend && !any && !same(t->backend, backend))
    say(v, UNTESTED, "the row is for %s", t->backend);
  else
    judge_thresholds(v, t, r, c);
}

static const char *word_of(const verdict *v, const bench_target *t, const bench_case *c) {
  if (v->word == FAIL) return "fail";
  if (t->quality == BENCH_QUALITY_RECORDED) return "recorded";
  if (v->word == UNTESTED) return "untested";
  return c->unstable ? "unstable" : "pass";
}

/* The verdict in a sentence, as the report keeps it; NULL without memory. */
static const char *spell(bench_report *r, const bench_case *c, const bench_target *t, verdict *v) {
  vyre_writer whole = { 0 };
  vyre_write_text(&whole, word_of(v, t, c));
  if (v->text.count) vyre_write(&whole, ": %s", v->text.data);
  if (v->word == FAIL && t && t->quality == BENCH_QUALITY_PROPOSAL && !fault_of(c))
    vyre_write_text(&whole, " (the threshold is a proposal)");
  bool failed = whole.failed || v->text.failed;
  const char *text = failed ? NULL : vyre_arena_copy(&r->arena, whole.data, whole.count);
  vyre_writer_free(&whole);
  vyre_writer_free(&v->text);
  return text;
}

static bool judge(bench_report *r, bench_case *c) {
  verdict v = { 0 };
  const bench_target *t = bench_target_of(c->workload, c->variant, c->tier);
  c->target = t ? t->id : NULL;
  if (t) judge_row(&v, t, r, c);
  else say(&v, FAIL, "no row of the target table is for it");
  if (t && c->contestant_count && is_unstable(t, c)) c->unstable = true;
  c->verdict = spell(r, c, t, &v);
  return c->verdict != NULL;
}

vyre_status bench_targets_judge(bench_report *report) {
  for (uint32_t i = 0; i < report->case_count; i++)
    if (!judge(report, &report->cases[i])) return VYRE_ERR_NO_MEMORY;
  return VYRE_OK;
}
