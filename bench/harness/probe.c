/* A probe is a work without arrays; see peers/README.md. */
#include "probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "peer_host.h"
#include "stats.h"

enum { PROBE_SAMPLES = 15, LEAST_SAMPLES = 5, MOST_LAUNCHES = 4096 };
#define SAMPLE_NS 1e6
#define BUDGET_NS 0.6e9

typedef struct probe_row {
  const char *name, *unit, *what;
  bench_clock clock;
  bool is_sized;
} probe_row;

#define DEVICE BENCH_DEVICE
#define WALL BENCH_WALL_RESIDENT
static const probe_row rows[] = {
#define PROBE(name, unit, clock, sized, what) {name, unit, what, clock, sized},
#include "probes.def"
};
#undef DEVICE
#undef WALL
enum { ROWS = sizeof rows / sizeof *rows };

static bool is_rate(const probe_row *row) {
  return strcmp(row->unit, "B/s") == 0;
}

/* ---- One probe of one peer --------------------------------------------------------------------- */

/* One sample of |launches|: the device's time if the probe is of the device and the peer has it, else the host's. */
static bool take(bench_peer *peer, const probe_row *row, uint32_t launches, double *ns) {
  bench_times times = {-1, -1};
  vyre_status status = VYRE_ERR_UNSUPPORTED;
  if (row->clock == BENCH_DEVICE) status = bench_peer_sample(peer, BENCH_DEVICE, launches, &times, NULL);
  if (status == VYRE_OK && times.device_ns > 0) {
    *ns = times.device_ns;
    return true;
  }
  if (status != VYRE_OK && status != VYRE_ERR_UNSUPPORTED) return false;
  if (bench_peer_sample(peer, BENCH_WALL_RESIDENT, launches, &times, NULL) != VYRE_OK) return false;
  *ns = times.wall_ns;
  return *ns > 0;
}

static bool measure(bench_peer *peer, const probe_row *row, bench_probe *out) {
  double ns[PROBE_SAMPLES], first;
  if (!take(peer, row, 1, &first) || !take(peer, row, 1, &first)) return false; /* the first warms up */
  uint32_t launches = (uint32_t)fmin(fmax(ceil(SAMPLE_NS / first), 1), MOST_LAUNCHES);
  double wanted = fmax(BUDGET_NS / (first * launches), LEAST_SAMPLES);
  uint32_t count = wanted < PROBE_SAMPLES ? (uint32_t)wanted : PROBE_SAMPLES;
  for (uint32_t i = 0; i < count; i++)
    if (!take(peer, row, launches, &ns[i])) return false;
  bench_stats stats;
  if (!bench_stats_of(ns, count, &stats) || (is_rate(row) && peer->who.bytes == 0)) return false;
  out->value = is_rate(row) ? (double)peer->who.bytes / stats.p50 * 1e9 : stats.p50 / (double)peer->who.parts;
  out->spread = (stats.p90 - stats.p50) / stats.p50;
  return isfinite(out->value) && out->value > 0;
}

static bool is_better(const bench_probe *a, const bench_probe *b) {
  return strcmp(a->unit, "B/s") == 0 ? a->value > b->value : a->value < b->value;
}

/* Puts it in the report, or in place of a worse one of the same device. */
static bool keep(bench_report *report, const bench_probe *found, const bench_peer_identity *who) {
  bench_probe *at = NULL;
  for (uint32_t i = 0; i < report->probe_count && !at; i++)
    if (strcmp(report->probes[i].name, found->name) == 0 && strcmp(report->probes[i].of, who->device) == 0)
      at = &report->probes[i];
  if (at && !is_better(found, at)) return true;
  if (!at) at = &report->probes[report->probe_count++];
  char how[320];
  snprintf(how, sizeof how, "%s: %.300s", who->name, who->how);
  *at = *found;
  at->of = vyre_arena_copy(&report->arena, who->device, strlen(who->device));
  at->how = vyre_arena_copy(&report->arena, how, strlen(how));
  return at->of && at->how;
}

/* False only without memory. */
static bool ask(const char *path, const probe_row *row, uint64_t bytes, bench_report *report) {
  char id[96];
  snprintf(id, sizeof id, "probe.%s", row->name);
  bench_work work = {.id = id, .n = row->is_sized ? bytes : 0, .file = -1};
  bench_peer peer;
  bench_probe found = {.name = row->name, .unit = row->unit};
  bool takes_it = bench_peer_begin(&peer, path, &work, NULL) == VYRE_OK && peer.who.device[0];
  bool fits = takes_it && measure(&peer, row, &found);
  bool kept = !fits || keep(report, &found, &peer.who);
  bench_peer_end(&peer);
  return kept;
}

/* ---- All --------------------------------------------------------------------------------------- */

/* Whether this row is the first that names its file. */
static bool is_first_of_file(const bench_peer_row *peers, uint32_t at) {
  for (uint32_t i = 0; i < at; i++)
    if (strcmp(peers[i].file, peers[at].file) == 0) return false;
  return true;
}

bool bench_probe_all(const bench_options *options, uint64_t bytes, bench_report *report) {
  uint32_t peer_count;
  const bench_peer_row *peers = bench_peer_rows(&peer_count);
  report->probes = vyre_arena_alloc(&report->arena, (size_t)peer_count * ROWS * sizeof *report->probes);
  report->probe_count = 0;
  if (!report->probes) return false;
  for (uint32_t i = 0; options->peers && i < peer_count; i++) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", options->peers, peers[i].file);
    if (length >= (int)sizeof path || !is_first_of_file(peers, i) || access(path, X_OK) != 0) continue;
    for (uint32_t k = 0; k < ROWS; k++) {
      char text[160];
      snprintf(text, sizeof text, "probing with %s: %s", peers[i].file, rows[k].what);
      if (options->progress) options->progress(options->progress_ctx, text, NULL);
      if (!ask(path, &rows[k], bytes, report)) return false;
    }
  }
  return true;
}

static const char *host_name(const bench_report *report) {
  for (uint32_t i = 0; i < report->host_count; i++)
    if (strcmp(report->host[i].key, "cpu") == 0) return report->host[i].value;
  return "";
}

const bench_probe *bench_probe_find(const bench_report *report, const char *name, const char *device, bool of_host) {
  const char *of = of_host ? host_name(report) : device;
  for (uint32_t i = 0; i < report->probe_count; i++)
    if (strcmp(report->probes[i].name, name) == 0 && strcmp(report->probes[i].of, of) == 0) return &report->probes[i];
  return NULL;
}
