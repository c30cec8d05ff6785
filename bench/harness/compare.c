/* Each contestant of each case that both reports have is compared by the ratio of its medians. Runs are apart in time,
 * so a change is believed only if it is larger than what the machine itself did meanwhile:
 *
 *   interval   of the ratio, by a bootstrap of independent series
 *   wander     how far the medians of the parts of one series lie apart; it widens the interval
 *   fastest    samples have to show it as well
 *   drift      of the machine: what the other contestants of the case became, who are the same in both and were timed
 *              by the same clock; a change has to be there with and without it, and none must be hidden by it */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/writer.h"
#include "record_fields.h"
#include "stats.h"
#include "targets.h"

enum { SEED = 1, PARTS = 3, MAX_CONTROLS = 32 };

static bool same(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

const char *bench_change_name(bench_change change) {
  static const char *const names[BENCH_CHANGES] = { "same",   "faster", "slower",       "unclear", "broken",
                                                    "mended", "incomparable", "added", "removed" };
  return names[change];
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static const bench_case *find_case(const bench_report *r, const char *id) {
  for (uint32_t i = 0; i < r->case_count; i++)
    if (same(r->cases[i].id, id)) return &r->cases[i];
  return NULL;
}

static const bench_contestant *find_contestant(const bench_case *c, const char *name) {
  for (uint32_t i = 0; i < c->contestant_count; i++)
    if (same(c->contestants[i].name, name)) return &c->contestants[i];
  return NULL;
}

/* Device time if both have it, else the first wall clock of both; BENCH_CLOCKS if there is none. */
static bench_clock common_clock(const bench_contestant *a, const bench_contestant *b) {
  uint32_t clock = 0;
  while (clock < BENCH_CLOCKS && !(a->clocks[clock].count && b->clocks[clock].count)) clock++;
  return clock;
}

static bool usable(const bench_contestant *c) {
  return !c->failure && c->correct;
}

/* The two series of a contestant as a ratio after / before, with the interval of sampling alone. */
static bool ratio_of(const bench_series *before, const bench_series *after, bench_interval *out) {
  return bench_ratio_unpaired(after->ns, after->count, before->ns, before->count, bench_limits_get()->confidence, SEED,
                              out);
}

static double median_of(const double *ns, uint32_t count, double *room) {
  memcpy(room, ns, count * sizeof *ns);
  return bench_median(room, count);
}

/* Half the spread of the medians of the parts of a series, as a part of its median: what the machine does by itself
 * while one series is taken. 0 for short series. False without memory. */
static bool wander_of(const bench_series *s, double *out) {
  uint32_t part = s->count / PARTS;
  *out = 0;
  if (part < PARTS) return true;
  double low = INFINITY, high = 0, *room = calloc(part, sizeof *room);
  if (!room) return false;
  for (uint32_t i = 0; i < PARTS; i++) {
    double median = median_of(s->ns + (size_t)i * part, part, room);
    low = fmin(low, median);
    high = fmax(high, median);
  }
  free(room);
  *out = (high - low) / 2 / s->stats.p50;
  return true;
}

/* What the interval [low, high] of a ratio whose value is |value| lets one say. */
static bench_change say(double value, double low, double high) {
  const bench_limits *l = bench_limits_get();
  double slow = 1 + l->regression, floor = 1 + l->noise_floor;
  if (value > slow && low > floor) return BENCH_SLOWER;
  if (value < 1 / slow && high < 1 / floor) return BENCH_FASTER;
  return low > 1 / slow && high < slow ? BENCH_SAME : BENCH_UNCLEAR;
}

/* Whether the fastest samples changed the same way. What other processes take delays many samples and spares some, so
 * that medians move and the fastest does not; a slower program has no fast samples. */
static bool fastest_agree(bench_change change, const bench_series *before, const bench_series *after) {
  double floor = 1 + bench_limits_get()->noise_floor, ratio = after->stats.min / before->stats.min;
  return change == BENCH_SLOWER ? ratio > floor : ratio < 1 / floor;
}

static bool measure(bench_difference *d) {
  const bench_series *a = &d->was->clocks[d->clock], *b = &d->is->clocks[d->clock];
  bench_interval interval;
  double wander_a, wander_b;
  if (!ratio_of(a, b, &interval) || !wander_of(a, &wander_a) || !wander_of(b, &wander_b)) return false;
  double wander = interval.value * hypot(wander_a, wander_b);
  d->before_ns = a->stats.p50;
  d->after_ns = b->stats.p50;
  d->ratio = interval.value;
  d->low = interval.value - hypot(interval.value - interval.low, wander);
  d->high = interval.value + hypot(interval.high - interval.value, wander);
  d->change = say(d->ratio, d->low, d->high);
  if (d->change == BENCH_UNCLEAR) d->reason = "the samples vary too much; take more of them, on a quieter machine";
  if ((d->change == BENCH_SLOWER || d->change == BENCH_FASTER) && !fastest_agree(d->change, a, b)) {
    d->change = BENCH_UNCLEAR;
    d->reason = "the fastest samples do not show it, so others took the time";
  }
  return true;
}

/* Why the two cases are not the same work; NULL if they are. */
static const char *unlike(const bench_case *a, const bench_case *b) {
  if (a->n != b->n) return "the size is another one";
  if (a->bytes != b->bytes || a->ops != b->ops) return "other bytes or operations are counted";
  for (uint32_t i = 0; i < a->input_count && i < b->input_count; i++)
    if (a->inputs[i].found.known && b->inputs[i].found.known && a->inputs[i].found.fnv != b->inputs[i].found.fnv)
      return "the inputs are others";
  return a->input_count == b->input_count ? NULL : "the inputs are others";
}

static bool contrast(bench_difference *d) {
  const bench_contestant *before = d->was, *after = d->is;
  d->clock = common_clock(before, after);
  d->reason = unlike(d->before, d->after);
  d->change = BENCH_INCOMPARABLE;
  if (d->reason) return true;
  if (usable(before) != usable(after)) {
    d->change = usable(after) ? BENCH_MENDED : BENCH_BROKEN;
    const bench_contestant *bad = usable(after) ? before : after;
    d->reason = bad->failure ? bad->failure : "its result was wrong";
  } else if (!usable(after)) {
    d->reason = after->failure ? after->failure : "its result is wrong in both";
  } else if (d->clock == BENCH_CLOCKS) {
    d->reason = "no clock is in both";
  } else {
    return measure(d);
  }
  return true;
}

/* Whether the contestant of a row that has a ratio can stand for the machine: the same program in both runs. vyre is
 * what changes, and stands for nothing. */
static bool is_control(const bench_difference *d) {
  bool vyre = d->is == d->after->contestants;
  return !vyre && same(d->was->version, d->is->version) && same(d->was->flags, d->is->flags);
}

/* The median, and of the two in the middle the one that says less. */
static double middle(double *ratios, uint32_t count) {
  qsort(ratios, count, sizeof *ratios, ascending);
  double low = ratios[(count - 1) / 2], high = ratios[count / 2];
  return fabs(log(low)) < fabs(log(high)) ? low : high;
}

/* Holds a row against the drift: the median of what became of the controls, where 1 stands for no certain change. */
static void control(bench_difference *d, const bench_difference *rows, const bench_change *raw, uint32_t count) {
  double ratios[MAX_CONTROLS];
  uint32_t controls = 0;
  for (uint32_t i = 0; i < count && controls < MAX_CONTROLS; i++)
    if (&rows[i] != d && rows[i].ratio > 0 && rows[i].clock == d->clock && is_control(&rows[i]))
      ratios[controls++] = raw[i] == BENCH_SLOWER || raw[i] == BENCH_FASTER ? rows[i].ratio : 1;
  if (controls == 0) return;
  d->controlled = true;
  d->drift = middle(ratios, controls);
  bench_change without = say(d->ratio / d->drift, d->low / d->drift, d->high / d->drift);
  bool agrees = d->change == without || (d->change == BENCH_SAME && without != BENCH_SLOWER);
  if (d->change == BENCH_UNCLEAR || agrees) return;
  d->change = BENCH_UNCLEAR;
  d->reason = "the other contestants changed as well, so it may be the machine";
}

/* The rows of one case, which have their ratios. */
static bool control_all(bench_difference *rows, uint32_t count) {
  bench_change *raw = calloc(count ? count : 1, sizeof *raw);
  if (!raw) return false;
  for (uint32_t i = 0; i < count; i++) raw[i] = rows[i].change;
  for (uint32_t i = 0; i < count; i++)
    if (rows[i].ratio > 0) control(&rows[i], rows, raw, count);
  free(raw);
  return true;
}

/* A row for each contestant of |after|, and for those of |before| that are gone. */
static bool add_case(bench_comparison *out, const bench_case *before, const bench_case *after) {
  bench_difference *rows = out->rows + out->count;
  uint32_t count = 0;
  for (uint32_t i = 0; after && i < after->contestant_count; i++) {
    const bench_contestant *c = &after->contestants[i], *earlier = before ? find_contestant(before, c->name) : NULL;
    bench_difference *d = &rows[count++];
    *d = (bench_difference){ .before = before, .after = after, .contestant = c->name, .was = earlier, .is = c,
                             .change = BENCH_ADDED, .clock = BENCH_CLOCKS };
    if (earlier && !contrast(d)) return false;
  }
  for (uint32_t i = 0; before && i < before->contestant_count; i++) {
    const bench_contestant *c = &before->contestants[i];
    if (after && find_contestant(after, c->name)) continue;
    rows[count++] = (bench_difference){ .before = before, .after = after, .contestant = c->name, .was = c,
                                        .change = BENCH_REMOVED, .clock = BENCH_CLOCKS };
  }
  out->count += count;
  return control_all(rows, count);
}

static const char *pair_of(const bench_pair *pairs, uint32_t count, const char *key) {
  for (uint32_t i = 0; i < count; i++)
    if (same(pairs[i].key, key)) return pairs[i].value;
  return NULL;
}

/* What makes the two runs other than two runs of one machine; NULL if nothing does. */
static const char *warning_of(const bench_report *a, const bench_report *b) {
  if (!same(pair_of(a->host, a->host_count, "cpu"), pair_of(b->host, b->host_count, "cpu")))
    return "the processors are not the same: the differences are those of the machines";
  if (!same(pair_of(a->device, a->device_count, "name"), pair_of(b->device, b->device_count, "name")))
    return "the devices are not the same: the differences are those of the devices";
  if (!same(pair_of(a->device, a->device_count, "driver"), pair_of(b->device, b->device_count, "driver")))
    return "the drivers are not the same";
  if (!same(a->compiler, b->compiler) || !same(a->flags, b->flags)) return "the builds are not the same";
  return NULL;
}

static size_t contestants_of(const bench_report *r) {
  size_t count = 0;
  for (uint32_t i = 0; i < r->case_count; i++) count += r->cases[i].contestant_count;
  return count;
}

static bool fill(bench_comparison *out) {
  const bench_report *before = out->before, *after = out->after;
  for (uint32_t i = 0; i < after->case_count; i++)
    if (!add_case(out, find_case(before, after->cases[i].id), &after->cases[i])) return false;
  for (uint32_t i = 0; i < before->case_count; i++)
    if (!find_case(after, before->cases[i].id) && !add_case(out, &before->cases[i], NULL)) return false;
  return true;
}

vyre_status bench_compare(const bench_report *before, const bench_report *after, bench_comparison *out) {
  *out = (bench_comparison){ .before = before, .after = after, .warning = warning_of(before, after) };
  size_t rows = contestants_of(before) + contestants_of(after);
  out->rows = vyre_arena_alloc(&out->arena, rows * sizeof *out->rows);
  if (!out->rows || !fill(out)) {
    bench_comparison_free(out);
    return VYRE_ERR_NO_MEMORY;
  }
  for (uint32_t i = 0; i < out->count; i++) out->changes[out->rows[i].change]++;
  return VYRE_OK;
}

void bench_comparison_free(bench_comparison *comparison) {
  vyre_arena_free(&comparison->arena);
  *comparison = (bench_comparison){ 0 };
}

bool bench_comparison_failed(const bench_comparison *comparison) {
  for (uint32_t i = 0; i < comparison->count; i++) {
    const bench_difference *d = &comparison->rows[i];
    bool vyre = d->is && d->is == d->after->contestants;
    if (vyre && (d->change == BENCH_SLOWER || d->change == BENCH_BROKEN)) return true;
  }
  return false;
}
