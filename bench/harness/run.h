/* A run: characterise the machine, then measure the chosen cases against their peers, and gather what was found. */
#ifndef VYRE_BENCH_RUN_H
#define VYRE_BENCH_RUN_H

#include <vyre/device.h>

#include "record.h"
#include "workload.h"

/* A row of suites.def: which cases, and how many samples of each. */
typedef struct bench_suite {
  const char *name, *content;
  uint32_t samples;
  const char *tiers;      /* letters: "SLH" */
  bool first_variant_only;
} bench_suite;

const bench_suite *bench_suites(uint32_t *count);

typedef struct bench_options {
  const char *const *names; /* of cases (a prefix that ends at a dot will do), workloads or one suite; all if none */
  uint32_t name_count;
  const char *tier, *variant; /* NULL for any */
  uint32_t samples;           /* 0: as the suite says */
  uint64_t seed;              /* of the bootstrap and of what is checked at random */
  const char *peers;          /* directory; NULL: there are none */
  bool no_probes;
  vyre_context *context;
  const char *device;         /* as vyre_device_open takes it */
  /* What is going on, for people. |c| is a case that was just finished, or NULL. May be NULL. */
  void (*progress)(void *ctx, const char *text, const bench_case *c);
  void *progress_ctx;
} bench_options;

/* The rows that the options choose, in the table's order, to |rows|, which has room for all of them. Errors: NOT_FOUND
 * (a name, tier or variant that no case has; the text lists what there is). */
vyre_status bench_select(const bench_options *options, const bench_case_row **rows, uint32_t *count,
                         const bench_suite **suite, vyre_error *error);

/* Runs them. A contestant that fails is a row that says so; errors are what leaves no report: NOT_FOUND, NO_DEVICE and
 * the like, NO_MEMORY. Free the report with bench_report_free in any case. Not judged: see targets.h and gates.h. */
vyre_status bench_run(const bench_options *options, bench_report *out, vyre_error *error);
/* Only the machine and its probes. */
vyre_status bench_probe_run(const bench_options *options, bench_report *out, vyre_error *error);

/* Generates every chosen case's inputs and expected outputs and compares with the digests that are written down,
 * without a device. Calls |tell| for each array. False if one differs, or a case could not be made. */
bool bench_verify(const bench_options *options,
                  void (*tell)(void *ctx, const char *id, const char *array, bench_digest found, bench_digest wanted),
                  void *ctx, vyre_error *error);

#endif
