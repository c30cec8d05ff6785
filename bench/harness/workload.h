/* What a workload is: inputs by a generator, the answer by plain C, a program for vyre, and what must be moved and
 * computed at least. Each stands in a file of workloads/; cases.def says at which sizes it is measured, with which
 * digests, and peers.def against whom. */
#ifndef VYRE_BENCH_WORKLOAD_H
#define VYRE_BENCH_WORKLOAD_H

#include "driver.h"

typedef struct bench_workload {
  const char *id;      /* "elementwise.add"; what peers know it by, unless |peer_id| is set */
  const char *variant; /* "true", "shape", ... */
  const char *title;
  const char *peer_id;
  const char *bound;   /* the probe that bounds it: "bw_copy"; NULL if none does */
  const char *check;   /* how the result is checked, in words */
  /* Arrays and parameters at size work->n. */
  void (*declare)(bench_work *work);
  /* Bytes that must be moved and operations that must be done; 0 if that is not stated. */
  uint64_t (*bytes)(uint64_t n);
  uint64_t (*ops)(uint64_t n);
  /* Fills the inputs, and computes every output from them by the plainest means. */
  void (*generate)(bench_work *work);
  void (*expect)(bench_work *work);
  /* The program that vyre runs, with the arrays' names. NULL: |open| makes the contestant instead. */
  const char *program;
  vyre_status (*open)(const bench_setting *setting, const bench_work *work, bench_driver *out, vyre_error *error);
  /* Called once the case was measured, with all cases before it in |report|: adds counters. May be NULL. */
  bool (*finish)(const bench_setting *setting, const bench_work *work, bench_report *report, bench_case *c);
} bench_workload;

/* A row of cases.def. */
typedef struct bench_case_row {
  const bench_workload *workload;
  const char *tier;      /* "S", "L", "H" */
  uint64_t n;
  uint32_t buffer_sets;
} bench_case_row;

/* A row of peers.def. */
typedef struct bench_peer_row {
  const char *workload, *file;
  bench_class class;
  const char *difference; /* near only */
} bench_peer_row;

const bench_case_row *bench_case_rows(uint32_t *count);
const bench_peer_row *bench_peer_rows(uint32_t *count);
/* The digest that is written down for an array of a case; not known if none is. */
bench_digest bench_golden(const bench_workload *workload, uint64_t n, const char *array);
/* "elementwise.add.true.S.1024": unique among the rows; in |id|, which has room for 128 bytes. */
void bench_case_id(const bench_case_row *row, char id[128]);

/* Adds a number to a case; false without memory. */
bool bench_case_count(bench_report *report, bench_case *c, const char *name, const char *unit, double value);

#endif
