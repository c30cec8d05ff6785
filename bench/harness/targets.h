/* What each case has to reach, and against whom. All of it stands in docs/optimization/BENCH_TARGETS.toml, from
 * which targets.inc is generated; no other file holds a threshold. */
#ifndef VYRE_BENCH_TARGETS_H
#define VYRE_BENCH_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/status.h>

#include "record.h"

/* The limits that are the same for every case. */
typedef struct bench_limits {
  double confidence;        /* of every interval */
  double regression;        /* compare: a slowdown beyond this fails */
  double noise_floor;       /* an effect within this is never claimed */
  double clear_ratio;       /* a claim "faster" from here on needs no sign test */
  double sign_p;            /* below it, it does */
  double device_cv;         /* of device time on a machine with locked clocks */
  double wall_cv;           /* of wall time */
  double cache_hits;        /* of the compile cache in the measured phase */
  double clock_drift;       /* of the device's clocks over the run */
  double phi_max;           /* above it the bound is wrong */
  /* of bench/gpu */
  double gpu_add_kernel, gpu_add_copy, gpu_mean, gpu_worst, gpu_checks, gpu_submit_us, gpu_replay, gpu_cold_ms,
    gpu_disk_ms, gpu_text_us;
} bench_limits;

const bench_limits *bench_limits_get(void);

/* Someone or something that a target measures vyre against. */
typedef struct bench_baseline {
  const char *name;         /* of the contestant or probe */
  enum {
    BENCH_BASELINE_PEER,
    BENCH_BASELINE_PROBE,
    BENCH_BASELINE_SELF
  } kind;
  const char *what;         /* what it is, and why it is the one to beat */
} bench_baseline;

typedef enum bench_quality {
  BENCH_QUALITY_GATE,       /* failing it fails the run */
  BENCH_QUALITY_PROPOSAL,   /* to be confirmed by an honest run; failing it is said */
  BENCH_QUALITY_RECORDED    /* measured and recorded; there is no threshold yet */
} bench_quality;

/* A row, as its file explains it. Thresholds that are 0 are not there. */
typedef struct bench_target {
  const char *id, *workload, *variant;
  const char *tier;         /* NULL: every one that has no row of its own */
  const char *backend;      /* that it is for; "any"; NULL: any compiled one, that is, not the oracle */
  bench_clock clock;
  bench_class class;
  const char *const *baselines; /* names; NULL ends them */
  double min_ratio, min_ceiling, min_probe, min_phi, ref_min;
  const char *counter;      /* a counter with a limit of its own; NULL if none */
  bool at_most;             /* else at least */
  double limit;
  bench_quality quality;
  bool sweep;
  const char *notes;
} bench_target;

const bench_target *bench_targets(uint32_t *count);
const bench_baseline *bench_baselines(uint32_t *count);
/* The row of a case; NULL if there is none. |variant| and |tier| may be NULL. */
const bench_target *bench_target_of(const char *workload, const char *variant, const char *tier);

/* The backend that vyre's contestant of a case ran on; NULL if it is not known. */
const char *bench_backend_of(const bench_report *report, const bench_case *c);

/* Fills target, verdict and unstable of every case. A verdict begins with pass, fail, unstable, untested or recorded.
 * VYRE_ERR_NO_MEMORY. */
vyre_status bench_targets_judge(bench_report *report);

#endif
