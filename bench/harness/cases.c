/* The tables of cases.def and peers.def as arrays. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "workload.h"

#define WORKLOAD(symbol) extern const bench_workload bench_##symbol;
#include "cases.def"

static const bench_case_row case_rows[] = {
#define CASE(symbol, tier, n, buffer_sets) {&bench_##symbol, tier, n, buffer_sets},
#include "cases.def"
};

static const bench_peer_row peer_rows[] = {
#define PEER(workload, file, class, difference) {workload, file, BENCH_##class, difference},
#include "peers.def"
};

static const struct golden {
  const bench_workload *workload;
  uint64_t n;
  const char *array;
  uint64_t digest;
} goldens[] = {
#define GOLDEN(symbol, n, array, digest) {&bench_##symbol, n, array, digest},
#include "cases.def"
};

const bench_case_row *bench_case_rows(uint32_t *count) {
  *count = sizeof case_rows / sizeof *case_rows;
  return case_rows;
}

const bench_peer_row *bench_peer_rows(uint32_t *count) {
  *count = sizeof peer_rows / sizeof *peer_rows;
  return peer_rows;
}

bench_digest bench_golden(const bench_workload *workload, uint64_t n, const char *array) {
  for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
    const struct golden *g = &goldens[i];
    if (g->workload == workload && g->n == n && strcmp(g->array, array) == 0) return (bench_digest){true, g->digest};
  }
  return (bench_digest){0};
}

void bench_case_id(const bench_case_row *row, char id[128]) {
  snprintf(id, 128, "%s.%s.%s.%" PRIu64 "%s", row->workload->id, row->workload->variant, row->tier, row->n,
           row->buffer_sets > 1 ? ".rotate" : "");
}

/* Counters are few, so each is a new copy of the list. */
bool bench_case_count(bench_report *report, bench_case *c, const char *name, const char *unit, double value) {
  bench_counter *longer = vyre_arena_alloc(&report->arena, (c->counter_count + 1) * sizeof *longer);
  if (!longer) return false;
  if (c->counter_count) memcpy(longer, c->counters, c->counter_count * sizeof *longer);
  longer[c->counter_count++] = (bench_counter){name, unit, value};
  c->counters = longer;
  return true;
}
