/* A run, case by case: inputs and the right answer, contestants, measurement, ratios and bounds. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "facts.h"
#include "generate.h"
#include "machine.h"
#include "measure.h"
#include "probe.h"
#include "stats.h"
#include "targets.h"

enum { MOST_PEERS = 16, COLD_RUNS = 3 };
#define CLOSE_TIMEOUT_NS 10000000000u
#define SMALL_PROBE_BYTES ((uint64_t)256 << 20)
#define LONG_COLD_NS 2e9 /* one is enough */
#define SMALL_WARMUP_NS 0.25e9 /* tier S: 300 launches take far less, and there is no clock to ramp up for longer */

/* One case under way. */
typedef struct case_run {
  const bench_options *options;
  const bench_setting *setting;
  const bench_case_row *row;
  const bench_workload *workload;
  bench_report *report;
  bench_case *c;
  uint32_t samples;
  bench_work work;
  bench_answer answer;
  bench_entrant entrants[1 + MOST_PEERS];
} case_run;

static void tell(const bench_options *o, const char *id, const char *what, const bench_case *c) {
  char text[256];
  snprintf(text, sizeof text, "%s: %s", id, what);
  if (o->progress) o->progress(o->progress_ctx, text, c);
}

static const char *keep_text(bench_report *report, const char *text) {
  const char *kept = vyre_arena_copy(&report->arena, text, strlen(text));
  return kept ? kept : "there was no memory to say why";
}

/* ---- Inputs and the right answer ---------------------------------------------------------------- */

static bool note_inputs(case_run *r) {
  bench_case *c = r->c;
  c->inputs = vyre_arena_alloc(&r->report->arena, BENCH_MAX_ARRAYS * sizeof *c->inputs);
  if (!c->inputs) return false;
  for (uint32_t i = 0; i < r->work.array_count; i++) {
    const bench_array *a = &r->work.arrays[i];
    if (a->output) continue;
    c->inputs[c->input_count++] = (bench_input){
        .name = a->name,
        .found = {true, bench_fnv(a->host, a->bytes)},
        .wanted = bench_golden(r->workload, r->work.n, a->name),
    };
  }
  return true;
}

/* Why the case proves nothing, or NULL: its inputs or its own answer are not those that are written down. */
static const char *find_fault(const case_run *r) {
  for (uint32_t i = 0; i < r->c->input_count; i++) {
    const bench_input *in = &r->c->inputs[i];
    if (in->wanted.known && in->wanted.fnv != in->found.fnv) return "an input is not the one that is written down";
  }
  for (uint32_t i = 0; i < r->work.array_count; i++) {
    const bench_array *a = &r->work.arrays[i];
    if (!a->output) continue;
    bench_digest wanted = bench_golden(r->workload, r->work.n, a->name);
    if (wanted.known && wanted.fnv != bench_fnv(r->answer.outputs[i], a->bytes))
      return "the answer that was computed to compare with is not the one that is written down";
  }
  return NULL;
}

static vyre_status prepare_work(case_run *r, vyre_error *error) {
  const bench_workload *w = r->workload;
  r->work = (bench_work){.id = w->peer_id ? w->peer_id : w->id,
                         .n = r->row->n,
                         .buffer_sets = r->row->buffer_sets,
                         .file = -1};
  if (w->declare) w->declare(&r->work);
  vyre_status status = bench_work_allocate(&r->work, error);
  if (status != VYRE_OK) return status;
  if (w->generate) w->generate(&r->work);
  if (w->expect) w->expect(&r->work);
  bool kept = bench_answer_take(&r->work, &r->answer) && note_inputs(r);
  return kept ? VYRE_OK : vyre_fail_memory(error, w->id);
}

/* ---- Contestants -------------------------------------------------------------------------------- */

static vyre_status open_vyre(case_run *r, bench_driver *driver, vyre_error *error) {
  const bench_workload *w = r->workload;
  return w->program ? bench_driver_vyre(r->setting, &r->work, w->program, driver, error)
                    : w->open(r->setting, &r->work, driver, error);
}

/* A driver that tells what its first result took adds it to the cold runs. False without memory. */
static bool note_cold(case_run *r, bench_contestant *record, const bench_driver *driver) {
  if (!(driver->cold_ns > 0)) return true;
  if (!record->cold.ns) record->cold.ns = vyre_arena_alloc(&r->report->arena, COLD_RUNS * sizeof *record->cold.ns);
  if (!record->cold.ns) return false;
  if (record->cold.count < COLD_RUNS) record->cold.ns[record->cold.count++] = driver->cold_ns;
  return bench_stats_of(record->cold.ns, record->cold.count, &record->cold.stats);
}

/* Vyre, opened several times, since each time is cold. */
static vyre_status enter_vyre(case_run *r, bench_entrant *e, vyre_error *error) {
  vyre_error why = VYRE_ERROR_INIT;
  e->record->name = "vyre";
  e->record->class = BENCH_SELF;
  for (int i = 0; i < COLD_RUNS; i++) {
    bench_driver_close(&e->driver);
    if (open_vyre(r, &e->driver, &why) != VYRE_OK) {
      e->driver = (bench_driver){0};
      e->record->failure = keep_text(r->report, why.text);
      return VYRE_OK;
    }
    if (!note_cold(r, e->record, &e->driver)) return vyre_fail_memory(error, r->c->id);
    if (e->driver.cold_ns < 0 || e->driver.cold_ns > LONG_COLD_NS) break;
  }
  return VYRE_OK;
}

static vyre_status enter_peer(case_run *r, bench_entrant *e, const bench_peer_row *row, vyre_error *error) {
  vyre_error why = VYRE_ERROR_INIT;
  char path[4096];
  *e->record = (bench_contestant){.name = row->file, .class = row->class, .difference = row->difference};
  if (!r->options->peers) {
    e->record->failure = "there is no directory of peers; --peers names one";
    return VYRE_OK;
  }
  if (snprintf(path, sizeof path, "%s/%s", r->options->peers, row->file) >= (int)sizeof path ||
      access(path, X_OK) != 0) {
    e->record->failure = "it is not built here";
    return VYRE_OK;
  }
  if (bench_driver_peer(path, &r->work, &e->driver, &why) != VYRE_OK) {
    e->driver = (bench_driver){0};
    e->record->failure = keep_text(r->report, why.text);
    return VYRE_OK;
  }
  if (e->driver.table->rest) e->driver.table->rest(&e->driver, true);
  return note_cold(r, e->record, &e->driver) ? VYRE_OK : vyre_fail_memory(error, r->c->id);
}

static vyre_status enter_all(case_run *r, vyre_error *error) {
  uint32_t peer_count;
  const bench_peer_row *peers = bench_peer_rows(&peer_count);
  bench_case *c = r->c;
  c->contestants = vyre_arena_alloc(&r->report->arena, (1 + MOST_PEERS) * sizeof *c->contestants);
  if (!c->contestants) return vyre_fail_memory(error, c->id);
  c->contestants[0] = (bench_contestant){0};
  for (int i = 0; i <= MOST_PEERS; i++) r->entrants[i].record = &c->contestants[i];
  c->contestant_count = 1;
  vyre_status status = enter_vyre(r, &r->entrants[0], error);
  for (uint32_t i = 0; i < peer_count && status == VYRE_OK; i++) {
    if (strcmp(peers[i].workload, r->work.id) != 0 || c->contestant_count > MOST_PEERS) continue;
    tell(r->options, c->id, peers[i].file, NULL);
    status = enter_peer(r, &r->entrants[c->contestant_count++], &peers[i], error);
  }
  return status;
}

static bool describe_all(case_run *r) {
  for (uint32_t i = 0; i < r->c->contestant_count; i++) {
    bench_entrant *e = &r->entrants[i];
    e->record->buffer_sets = r->row->buffer_sets;
    if (e->driver.table && !e->driver.table->describe(&e->driver, &r->report->arena, e->record)) return false;
  }
  return true;
}

/* ---- What follows from the samples ---------------------------------------------------------------- */

/* Samples of one round are pairs; where one of the two left the rounds early, the series are compared as a whole. */
static bool ratio_of(const case_run *r, const bench_series *other, const bench_series *own, bench_interval *out) {
  double confidence = bench_limits_get()->confidence;
  if (own->count == other->count)
    return bench_ratio_paired(other->ns, own->ns, own->count, confidence, r->options->seed, out);
  return bench_ratio_unpaired(other->ns, other->count, own->ns, own->count, confidence, r->options->seed, out);
}

static bool add_ratio(case_run *r, const bench_contestant *peer, bench_clock clock) {
  const bench_series *own = &r->c->contestants[0].clocks[clock], *other = &peer->clocks[clock];
  uint32_t pairs = own->count < other->count ? own->count : other->count;
  bench_interval interval;
  if (pairs == 0) return true;
  if (!ratio_of(r, other, own, &interval)) return false;
  r->c->ratios[r->c->ratio_count++] = (bench_ratio){.peer = peer->name,
                                                    .clock = clock,
                                                    .value = interval.value,
                                                    .low = interval.low,
                                                    .high = interval.high,
                                                    .sign_p = bench_sign_test(other->ns, own->ns, pairs)};
  return true;
}

/* Ratios need both to be right. */
static bool add_ratios(case_run *r) {
  bench_case *c = r->c;
  c->ratios = vyre_arena_alloc(&r->report->arena, c->contestant_count * BENCH_CLOCKS * sizeof *c->ratios);
  if (!c->ratios) return false;
  if (!c->contestants[0].correct) return true;
  for (uint32_t i = 1; i < c->contestant_count; i++) {
    const bench_contestant *peer = &c->contestants[i];
    for (int clock = 0; clock < BENCH_CLOCKS && peer->correct; clock++)
      if (!add_ratio(r, peer, (bench_clock)clock)) return false;
  }
  return true;
}

/* The bound in time, by the measured speed of the device that vyre ran on. */
static void add_bound(case_run *r) {
  bench_case *c = r->c;
  const vyre_capabilities *device = vyre_device_capabilities(r->setting->device);
  if (!c->bound || !c->bytes) return;
  const bench_probe *probe =
      bench_probe_find(r->report, c->bound, device->name, (device->kind & VYRE_DEVICE_CPU) != 0);
  if (!probe) return;
  c->bound_ns = (double)c->bytes / probe->value * 1e9;
  const bench_contestant *own = &c->contestants[0];
  c->phi_clock = own->clocks[BENCH_DEVICE].count ? BENCH_DEVICE : BENCH_WALL_RESIDENT;
  if (!own->correct || !own->clocks[c->phi_clock].count) return;
  c->has_phi = true;
  c->phi = c->bound_ns / own->clocks[c->phi_clock].stats.p50;
}

static void add_notes(case_run *r) {
  const bench_contestant *own = &r->c->contestants[0];
  uint32_t least = UINT32_MAX;
  for (int clock = 0; clock < BENCH_CLOCKS; clock++)
    if (own->clocks[clock].count && own->clocks[clock].count < least) least = own->clocks[clock].count;
  if (least >= r->samples) return;
  char text[96];
  snprintf(text, sizeof text, "%u of %u samples: a launch takes long", least, r->samples);
  r->c->notes = keep_text(r->report, text);
}

/* Peers share the inputs: if one spoilt them, nothing after that counts. */
static const char *find_spoilt(const case_run *r) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < r->work.array_count; i++) {
    const bench_array *a = &r->work.arrays[i];
    if (!a->output && bench_fnv(a->host, a->bytes) != r->c->inputs[at++].found.fnv)
      return "an input was changed during the series";
  }
  return NULL;
}

/* All that took part. */
static void fail_all(case_run *r, const char *why) {
  for (uint32_t i = 0; i < r->c->contestant_count; i++) {
    bench_contestant *record = &r->c->contestants[i];
    if (!r->entrants[i].driver.table) continue;
    record->failure = why;
    record->correct = false;
    record->cold = (bench_series){0};
    for (int clock = 0; clock < BENCH_CLOCKS; clock++) record->clocks[clock] = (bench_series){0};
  }
}

/* ---- A case --------------------------------------------------------------------------------------- */

static void begin_case(case_run *r, const char *id) {
  const bench_workload *w = r->workload;
  *r->c = (bench_case){.id = id,
                       .workload = w->id,
                       .variant = w->variant,
                       .tier = r->row->tier,
                       .title = w->title,
                       .n = r->row->n,
                       .bytes = w->bytes ? w->bytes(r->row->n) : 0,
                       .ops = w->ops ? w->ops(r->row->n) : 0,
                       .bound = w->bound,
                       .check = w->check,
                       .order = "ABBA"};
}

static vyre_status measure(case_run *r, vyre_error *error) {
  bench_plan plan = BENCH_PLAN_INIT;
  plan.samples = r->samples;
  plan.seed = r->options->seed;
  if (strcmp(r->row->tier, "S") == 0) plan.warmup_ns = SMALL_WARMUP_NS;
  tell(r->options, r->c->id, "measuring", NULL);
  vyre_status status = bench_measure(&r->work, &r->answer, r->entrants, r->c->contestant_count, &plan,
                                     &r->report->arena, error);
  r->c->warmups = r->entrants[0].warmups;
  const char *spoilt = find_spoilt(r);
  if (spoilt) fail_all(r, spoilt);
  return status;
}

static vyre_status conclude(case_run *r, vyre_error *error) {
  bool done = describe_all(r) && add_ratios(r);
  if (done && r->workload->finish) done = r->workload->finish(r->setting, &r->work, r->report, r->c);
  if (!done) return vyre_fail_memory(error, r->c->id);
  add_bound(r);
  add_notes(r);
  return VYRE_OK;
}

static vyre_status run_steps(case_run *r, vyre_error *error) {
  tell(r->options, r->c->id, "generating inputs", NULL);
  vyre_status status = prepare_work(r, error);
  if (status == VYRE_OK) status = enter_all(r, error);
  if (status != VYRE_OK) return status;
  const char *fault = find_fault(r);
  if (fault) fail_all(r, fault);
  status = fault ? VYRE_OK : measure(r, error);
  return status == VYRE_OK ? conclude(r, error) : status;
}

static vyre_status run_case(case_run *r, vyre_error *error) {
  char id[128];
  bench_case_id(r->row, id);
  const char *kept = vyre_arena_copy(&r->report->arena, id, strlen(id));
  if (!kept) return vyre_fail_memory(error, id);
  begin_case(r, kept);
  vyre_status status = run_steps(r, error);
  for (int i = 0; i <= MOST_PEERS; i++) bench_driver_close(&r->entrants[i].driver);
  bench_answer_free(&r->answer);
  bench_work_free(&r->work);
  if (status == VYRE_OK) r->report->case_count++;
  return status;
}

/* ---- A run ---------------------------------------------------------------------------------------- */

/* |bytes|: the working set of probes. */
static vyre_status begin_run(const bench_options *o, uint64_t bytes, bench_setting *setting, bench_report *out,
                             vyre_error *error) {
  *setting = (bench_setting){.context = o->context, .device_name = o->device};
  vyre_status status = vyre_device_open(o->context, o->device, &setting->device, error);
  if (status != VYRE_OK) return status;
  setting->device_name = vyre_device_name(setting->device); /* every later one is this one */
  out->seed = o->seed;
  bool done = bench_machine_describe(out) && bench_device_describe(out, o->context, setting->device);
  if (done && !o->no_probes) done = bench_probe_all(o, bytes, out);
  if (done) done = bench_facts_take(o->peers, true, out);
  return done ? VYRE_OK : vyre_fail_memory(error, "bench");
}

static vyre_status run_rows(const bench_options *o, const bench_setting *setting, const bench_suite *suite,
                            const bench_case_row **rows, uint32_t count, bench_report *out, vyre_error *error) {
  out->suite = suite->name;
  out->cases = vyre_arena_alloc(&out->arena, count * sizeof *out->cases);
  if (!out->cases) return vyre_fail_memory(error, "bench");
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
    case_run r = {.options = o,
                  .setting = setting,
                  .row = rows[i],
                  .workload = rows[i]->workload,
                  .report = out,
                  .c = &out->cases[out->case_count],
                  .samples = o->samples ? o->samples : suite->samples,
                  .work.file = -1};
    status = run_case(&r, error);
    if (status == VYRE_OK && !bench_facts_take(o->peers, false, out)) status = vyre_fail_memory(error, "bench");
    if (status == VYRE_OK) tell(o, r.c->id, "done", r.c);
  }
  return status;
}

/* Whether a row is judged by bandwidth; if none is, memory is probed less thoroughly. */
static bool any_is_large(const bench_case_row **rows, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(rows[i]->tier, "S") != 0) return true;
  return false;
}

vyre_status bench_run(const bench_options *options, bench_report *out, vyre_error *error) {
  *out = (bench_report){0};
  uint32_t room, count;
  const bench_suite *suite;
  bench_setting setting = {0};
  bench_case_rows(&room);
  const bench_case_row **rows = calloc(room, sizeof *rows);
  if (!rows) return vyre_fail_memory(error, "bench");
  vyre_status status = bench_select(options, rows, &count, &suite, error);
  if (status == VYRE_OK)
    status = begin_run(options, any_is_large(rows, count) ? 0 : SMALL_PROBE_BYTES, &setting, out, error);
  if (status == VYRE_OK) status = run_rows(options, &setting, suite, rows, count, out, error);
  if (setting.device) vyre_device_close(setting.device, CLOSE_TIMEOUT_NS, NULL);
  free(rows);
  return status;
}

vyre_status bench_probe_run(const bench_options *options, bench_report *out, vyre_error *error) {
  *out = (bench_report){.suite = "probe"};
  bench_setting setting = {0};
  vyre_status status = begin_run(options, 0, &setting, out, error);
  if (setting.device) vyre_device_close(setting.device, CLOSE_TIMEOUT_NS, NULL);
  return status;
}
