/* What a benchmark run found, as data: filled by the runner, written and read as JSON (record_json.h), shown as a
 * table or as HTML, compared with another run, judged by the gates and the targets.
 *
 * What was not measured is absent: a series with count 0, a text that is NULL, a number whose has_ flag is false. It is
 * never 0 or 1 in its place. All memory belongs to the report's arena and goes with it. */
#ifndef VYRE_BENCH_RECORD_H
#define VYRE_BENCH_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define BENCH_SCHEMA 1u

/* The clocks of one operation. Device: its own events around the series, divided by the launches in it. Wall: the
 * monotonic clock from the first API call until the host can use the result, where inputs and outputs stay on the
 * device (resident), the declared output is read back (readback), or inputs start in host memory as well (e2e). */
typedef enum bench_clock {
  BENCH_DEVICE,
  BENCH_WALL_RESIDENT,
  BENCH_WALL_READBACK,
  BENCH_WALL_E2E,
  BENCH_CLOCKS
} bench_clock;

/* What a contestant may be used for. */
typedef enum bench_class {
  BENCH_GPU_SOTA,  /* the best public implementation on the same device, inputs resident */
  BENCH_CPU_SOTA,  /* a maintained library or vectorised, threaded C, wall against wall */
  BENCH_HW_BOUND,  /* a measured bandwidth or rate */
  BENCH_SELF,      /* another route of vyre */
  BENCH_NEAR,      /* cannot do the task exactly; never gates */
  BENCH_REFERENCE, /* the oracle; never gates */
  BENCH_CLASSES
} bench_class;

typedef struct bench_stats {
  uint32_t count;
  double min, p50, p90, p95, p99, p999, max, mean, stddev, cv;
} bench_stats;

/* Samples in ns, in the order they were taken; sample i of every contestant of a case belongs to the same round. */
typedef struct bench_series {
  uint32_t count;
  double *ns;
  bench_stats stats;
} bench_series;

typedef struct bench_digest {
  bool known;
  uint64_t fnv; /* FNV-1a 64 over the little-endian bytes as stored */
} bench_digest;

/* One launch as it really was: read back from the launch, never from what was asked for. */
typedef struct bench_launch {
  const char *backend, *device, *uuid, *driver, *entry, *program, *route;
  uint32_t declared_workgroup[3], workgroup[3];
  uint64_t grid[3];
  uint32_t subgroup, registers, spill_bytes, static_scratch, dynamic_scratch, scratch_limit, resident;
  bool cooperative, graph;
  bool has_subgroup, has_registers, has_scratch, has_resident;
} bench_launch;

/* Someone who did the work: vyre first, then its peers. */
typedef struct bench_contestant {
  const char *name, *version, *build, *flags, *how; /* build command, compiler flags, API called */
  bench_class class;
  const char *difference; /* near only: what is not the same task */
  const char *failure;    /* why there are no figures; NULL if there are */
  bench_series clocks[BENCH_CLOCKS];
  bench_series cold;      /* first runs of fresh processes or objects, wall, readback */
  uint32_t launches_per_sample, buffer_sets; /* K and R of the series */
  bench_digest output;
  bool correct;           /* output checked before, after and once during the series */
  bench_launch *launches;
  uint32_t launch_count;
} bench_contestant;

/* Peer's p50 over vyre's: above 1, vyre is faster. The interval is a 99 % bootstrap over paired samples. */
typedef struct bench_ratio {
  const char *peer;
  bench_clock clock;
  double value, low, high;
  double sign_p; /* one-sided sign test that vyre is faster */
} bench_ratio;

typedef struct bench_input {
  const char *name;
  bench_digest found, wanted; /* wanted: of the workload's definition, where it has one */
} bench_input;

/* A number that is neither time nor bytes: loads before and after, growth exponent, nodes. Names that gates know:
 * compile_cache_hits and compile_cache_lookups of the measured phase. */
typedef struct bench_counter {
  const char *name, *unit;
  double value;
} bench_counter;

/* A case is one size of one variant: (id, variant, tier, n) is unique in a report, and so it is found again in
 * another one. */
typedef struct bench_case {
  const char *id, *workload, *variant, *tier, *title;
  uint64_t n;
  uint64_t bytes, ops;           /* that must happen; 0: not stated */
  const char *bound;             /* probe that bounds it, such as bw_copy; NULL if none */
  double bound_ns, phi;          /* has_phi: bound_ns / the p50 of phi_clock */
  bool has_phi;
  bench_clock phi_clock;
  const char *check;             /* how the result is checked */
  bench_input *inputs;
  bench_contestant *contestants; /* [0] is vyre */
  bench_ratio *ratios;
  bench_counter *counters;
  uint32_t input_count, contestant_count, ratio_count, counter_count;
  uint32_t warmups;
  const char *order;             /* of the contestants, such as ABBA */
  const char *target;            /* its row of the target table; NULL if none */
  const char *verdict;           /* pass, fail, unstable, untested and why, in a sentence */
  bool unstable;
  const char *notes;
} bench_case;

/* A measured property of device, host or link. */
typedef struct bench_probe {
  const char *name; /* bw_copy, bw_read, bw_cache, t_launch, ... */
  const char *of;   /* the device or host it was measured on */
  const char *unit; /* B/s or ns */
  const char *how;
  double value;     /* p50 */
  double spread;    /* (p90 - p50) / p50 */
} bench_probe;

/* A backend that was found, and why it has no rows; NULL if it has some. */
typedef struct bench_backend {
  const char *name, *version, *reason;
} bench_backend;

/* A gate and what it said. */
typedef struct bench_gate {
  uint32_t number; /* 1 to 12 */
  const char *name, *reason;
  enum { BENCH_GATE_PASS, BENCH_GATE_FAIL, BENCH_GATE_ABSENT } verdict; /* absent: could not be judged, and why */
} bench_gate;

/* Keys of the device that gates know: clock_before_mhz, clock_after_mhz, throttle (none, or the reasons). */
typedef struct bench_pair {
  const char *key, *value;
} bench_pair;

typedef struct bench_report {
  vyre_arena arena;
  const char *run_id, *time, *suite; /* time: ISO 8601, UTC */
  const char *commit, *compiler, *flags;
  bool dirty;
  bench_pair *host, *device; /* cpu, cores, smt, numa, memory, os; name, uuid, driver, clocks, ... */
  uint32_t host_count, device_count;
  uint64_t seed;
  bench_backend *backends;
  uint32_t backend_count;
  bench_probe *probes;
  uint32_t probe_count;
  bench_case *cases;
  uint32_t case_count;
  bench_gate *gates;
  uint32_t gate_count;
} bench_report;

#endif
