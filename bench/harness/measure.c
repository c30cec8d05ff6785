/* One clock after the other; in each, rounds in which every entrant takes one sample. What an entrant does wrong is
 * written into its record, and the others go on without it. */
#include "measure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "generate.h"
#include "stats.h"

enum { MOST_LAUNCHES = 1 << 17, LEAST_SAMPLES = 3 };
#define SHORT_NS 5e6 /* a shorter launch gets one before each sample that is not timed: caches, sleeping threads */

typedef struct meeting {
  bench_work *work;
  const bench_answer *answer;
  bench_entrant *entrants;
  uint32_t count;
  const bench_plan *plan;
  vyre_arena *arena;
} meeting;

/* ---- Answers ----------------------------------------------------------------------------------- */

static bench_digest digest_of(const bench_work *work) {
  uint64_t h = BENCH_FNV_BASIS;
  bool any = false;
  for (uint32_t i = 0; i < work->array_count; i++) {
    const bench_array *a = &work->arrays[i];
    if (!a->output) continue;
    const unsigned char *bytes = a->host;
    for (uint64_t k = 0; k < a->bytes; k++) h = (h ^ bytes[k]) * BENCH_FNV_PRIME;
    any = true;
  }
  return (bench_digest){any, any ? h : 0};
}

bool bench_answer_take(const bench_work *work, bench_answer *out) {
  *out = (bench_answer){.digest = digest_of(work)};
  for (uint32_t i = 0; i < work->array_count; i++) {
    const bench_array *a = &work->arrays[i];
    if (!a->output) continue;
    out->outputs[i] = malloc(a->bytes ? a->bytes : 1);
    if (!out->outputs[i]) {
      bench_answer_free(out);
      return false;
    }
    memcpy(out->outputs[i], a->host, a->bytes);
  }
  return true;
}

void bench_answer_free(bench_answer *answer) {
  for (int i = 0; i < BENCH_MAX_ARRAYS; i++) free(answer->outputs[i]);
  *answer = (bench_answer){0};
}

/* ---- Failures ---------------------------------------------------------------------------------- */

static bool takes_part(const bench_entrant *e) {
  return e->record->failure == NULL;
}

/* Ends an entrant's part. Its figures so far go: a series that was broken off is none. */
__attribute__((format(printf, 3, 4))) static void drop(const meeting *m, bench_entrant *e, const char *format, ...) {
  char text[640];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  size_t bytes = length < 0 ? 0 : strlen(text);
  e->record->failure = vyre_arena_copy(m->arena, text, bytes);
  if (!e->record->failure) e->record->failure = "it failed, and there was no memory to say how";
  e->record->correct = false;
  e->record->cold = (bench_series){0};
  for (int c = 0; c < BENCH_CLOCKS; c++) e->record->clocks[c] = (bench_series){0};
}

/* Names the first element that is wrong. */
static void drop_for_difference(const meeting *m, bench_entrant *e, const bench_array *a, const unsigned char *wanted,
                                const char *when) {
  const unsigned char *found = a->host;
  uint64_t element = vyre_type_describe(a->type)->bytes, at = 0;
  while (at < a->bytes && found[at] == wanted[at]) at++;
  e->record->output = digest_of(m->work);
  if (at == a->bytes) {
    drop(m, e, "%s: %s was still written to after it was done.", when, a->name);
    return;
  }
  at -= at % element;
  char left[2 * 16 + 1], right[2 * 16 + 1];
  for (uint64_t i = 0; i < element; i++) { /* little endian: the last byte first */
    snprintf(left + 2 * i, 3, "%02x", found[at + element - 1 - i]);
    snprintf(right + 2 * i, 3, "%02x", wanted[at + element - 1 - i]);
  }
  drop(m, e, "%s: %s[%llu] is 0x%s, and 0x%s was wanted.", when, a->name, (unsigned long long)(at / element), left,
       right);
}

/* Fetches the outputs of the last launch and compares them. */
static bool check_outputs(const meeting *m, bench_entrant *e, const char *when) {
  vyre_error error = VYRE_ERROR_INIT;
  bench_work_poison(m->work);
  if (e->driver.table->output(&e->driver, &error) != VYRE_OK) {
    drop(m, e, "%s: %s", when, error.text);
    return false;
  }
  for (uint32_t i = 0; i < m->work->array_count; i++) {
    const bench_array *a = &m->work->arrays[i];
    if (!a->output || memcmp(a->host, m->answer->outputs[i], a->bytes) == 0) continue;
    drop_for_difference(m, e, a, m->answer->outputs[i], when);
    return false;
  }
  e->record->output = m->answer->digest;
  return true;
}

static bool poison(const meeting *m, bench_entrant *e) {
  vyre_error error = VYRE_ERROR_INIT;
  bench_work_poison(m->work);
  if (e->driver.table->poison(&e->driver, &error) == VYRE_OK) return true;
  drop(m, e, "spoiling the outputs: %s", error.text);
  return false;
}

/* ---- Samples ----------------------------------------------------------------------------------- */

static void rest(bench_entrant *e, bool resting) {
  if (e->driver.table->rest) e->driver.table->rest(&e->driver, resting);
}

static void rest_all(const meeting *m, bool resting) {
  for (uint32_t i = 0; i < m->count; i++)
    if (m->entrants[i].driver.table) rest(&m->entrants[i], resting);
}

static vyre_status sample(bench_entrant *e, bench_clock clock, uint32_t launches, double *ns, vyre_error *error) {
  bench_times times = {-1, -1};
  vyre_status status = e->driver.table->sample(&e->driver, clock, launches, &times, error);
  if (status != VYRE_OK) return status;
  *ns = clock == BENCH_DEVICE ? times.device_ns : times.wall_ns;
  if (bench_is_time(*ns)) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_IO, NULL, "It measured %g ns, which is no time.", *ns);
}

/* Whether it has that clock, by a first, untimed sample of it; for long launches the first of the series will tell. */
static bool may_have_clock(const meeting *m, bench_entrant *e, bench_clock clock) {
  if (clock != BENCH_DEVICE && e->launch_ns > SHORT_NS) return true;
  vyre_error error = VYRE_ERROR_INIT;
  double ns;
  rest(e, false);
  vyre_status status = sample(e, clock, 1, &ns, &error);
  rest(e, true);
  if (status == VYRE_OK) {
    e->launch_ns = e->launch_ns > 0 ? fmin(e->launch_ns, ns) : ns;
    return true;
  }
  if (status != VYRE_ERR_UNSUPPORTED) drop(m, e, "%s", error.text);
  return false;
}

/* Until it is warm, as it is after one long launch; learns what a launch takes. */
static void warm_up(const meeting *m, bench_entrant *e) {
  const bench_plan *plan = m->plan;
  double spent = 0;
  uint32_t first = e->warmups;
  if (e->launch_ns >= plan->warmup_ns) return;
  rest(e, false);
  while ((e->warmups - first < plan->warmup_launches || spent < plan->warmup_ns) && spent < plan->warmup_limit_ns) {
    vyre_error error = VYRE_ERROR_INIT;
    double ns = 0;
    uint32_t batch = e->launch_ns > 0 ? (uint32_t)fmin(fmax(plan->sample_ns / e->launch_ns, 1), MOST_LAUNCHES) : 1;
    if (sample(e, BENCH_WALL_RESIDENT, batch, &ns, &error) != VYRE_OK) {
      drop(m, e, "warming up: %s", error.text);
      return;
    }
    e->launch_ns = e->launch_ns > 0 ? fmin(e->launch_ns, ns) : ns;
    spent += ns * batch;
    e->warmups += batch;
  }
  rest(e, true);
}

/* The first launch, from spoilt outputs, and its answer. */
static void begin(const meeting *m, bench_entrant *e) {
  vyre_error error = VYRE_ERROR_INIT;
  double ns;
  rest(e, false);
  if (!poison(m, e)) return;
  if (sample(e, BENCH_WALL_RESIDENT, 1, &ns, &error) != VYRE_OK) {
    drop(m, e, "the first launch: %s", error.text);
    return;
  }
  e->launch_ns = ns;
  e->warmups = 1;
  if (!check_outputs(m, e, "the first launch")) return;
  warm_up(m, e);
  double launches = ceil(m->plan->sample_ns / e->launch_ns);
  e->record->launches_per_sample = (uint32_t)fmin(fmax(launches, 1), MOST_LAUNCHES);
}

/* One timed sample at its place in its series. False if it does not have that clock after all. */
static bool take(const meeting *m, bench_entrant *e, bench_clock clock) {
  vyre_error error = VYRE_ERROR_INIT;
  bench_series *series = &e->record->clocks[clock];
  double ns = 0;
  rest(e, false);
  vyre_status status = e->launch_ns <= SHORT_NS ? sample(e, clock, 1, &ns, &error) : VYRE_OK;
  if (status == VYRE_OK) status = sample(e, clock, e->record->launches_per_sample, &ns, &error);
  if (status == VYRE_OK) series->ns[series->count++] = ns;
  else if (status == VYRE_ERR_UNSUPPORTED && series->count == 0) return false;
  else drop(m, e, "in the series: %s", error.text);
  return true;
}

/* ---- Rounds ------------------------------------------------------------------------------------ */

/* In how many rounds of a clock an entrant takes part: whoever takes long leaves early. */
static uint32_t count_rounds(const meeting *m, const bench_entrant *e) {
  double rounds = m->plan->budget_ns / fmax(e->launch_ns, m->plan->sample_ns);
  return (uint32_t)fmin(fmax(rounds, LEAST_SAMPLES), m->plan->samples);
}

/* Sets |rounds| of each entrant, 0 for those that do not take part, and makes room. Gives the most, 0 for none;
 * UINT32_MAX without memory. */
static uint32_t plan_rounds(const meeting *m, bench_clock clock, uint32_t *rounds) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < m->count; i++) {
    bench_entrant *e = &m->entrants[i];
    if (!takes_part(e) || !may_have_clock(m, e, clock)) continue;
    rounds[i] = count_rounds(m, e);
    double *ns = vyre_arena_alloc(m->arena, rounds[i] * sizeof *ns);
    if (!ns) return UINT32_MAX;
    e->record->clocks[clock] = (bench_series){.ns = ns};
    if (rounds[i] > most) most = rounds[i];
  }
  return most;
}

/* The rounds of one clock. |chosen| gives those whose answers are looked at, |is_checked| whether there are any. */
static void run_rounds(const meeting *m, uint32_t *rounds, bench_clock clock, uint32_t most, bool is_checked,
                       uint32_t chosen) {
  for (uint32_t round = 0; round < most; round++) {
    for (uint32_t turn = 0; turn < m->count; turn++) {
      uint32_t at = round % 2 ? m->count - 1 - turn : turn;
      bench_entrant *e = &m->entrants[at];
      if (round >= rounds[at] || !takes_part(e)) continue;
      bool is_chosen = is_checked && round == chosen % rounds[at];
      if (!take(m, e, clock)) rounds[at] = 0;
      else if (is_chosen && takes_part(e)) check_outputs(m, e, "in the middle of the series");
      rest(e, true);
    }
  }
}

static vyre_status measure_clock(const meeting *m, bench_clock clock, bool *was_checked, vyre_error *error) {
  uint32_t *rounds = calloc(m->count, sizeof *rounds);
  if (!rounds) return vyre_fail_memory(error, m->work->id);
  uint32_t most = plan_rounds(m, clock, rounds);
  bool has_room = most != UINT32_MAX;
  if (has_room) run_rounds(m, rounds, clock, most, !*was_checked, bench_mix32((uint32_t)m->plan->seed ^ 0x5EED));
  *was_checked |= most > 0;
  free(rounds);
  return has_room ? VYRE_OK : vyre_fail_memory(error, m->work->id);
}

/* The last launch of all, once more from what the device holds; then what is left are figures. */
static bool finish(const meeting *m, bench_entrant *e) {
  rest(e, false);
  if (!check_outputs(m, e, "after the series")) return true;
  e->record->correct = true;
  for (int c = 0; c < BENCH_CLOCKS; c++) {
    bench_series *s = &e->record->clocks[c];
    if (!bench_stats_of(s->ns, s->count, &s->stats)) return false;
  }
  return true;
}

vyre_status bench_measure(bench_work *work, const bench_answer *answer, bench_entrant *entrants, uint32_t count,
                          const bench_plan *plan, vyre_arena *arena, vyre_error *error) {
  meeting m = {work, answer, entrants, count, plan, arena};
  rest_all(&m, true);
  for (uint32_t i = 0; i < count; i++) {
    if (takes_part(&entrants[i])) begin(&m, &entrants[i]);
    if (entrants[i].driver.table) rest(&entrants[i], true);
  }
  bool was_checked = false;
  vyre_status status = VYRE_OK;
  for (int clock = 0; clock < BENCH_CLOCKS && status == VYRE_OK; clock++)
    status = measure_clock(&m, (bench_clock)clock, &was_checked, error);
  for (uint32_t i = 0; i < count && status == VYRE_OK; i++)
    if (takes_part(&entrants[i]) && !finish(&m, &entrants[i])) status = vyre_fail_memory(error, work->id);
  return status;
}
