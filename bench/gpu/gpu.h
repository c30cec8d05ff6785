/* The benchmark of a GPU backend: vyre through its public API on one side, CUDA C++ by nvcc on the other, both in one
 * process, on the same buffers of the device, taking turns. */
#ifndef VYRE_BENCH_GPU_H
#define VYRE_BENCH_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/device.h>

#include "peers/nvcc/kernels.h"

enum { GPU_LAUNCHES = 32, GPU_MAX_SAMPLES = 64, GPU_MAX_ARRAYS = 16 };

typedef struct gpu_bench {
  vyre_context *context;
  vyre_device *device;
  vyre_queue *queue;
  const char *name;                    /* of the device, as it was asked for */
  const char *kernels;                 /* directory of the kernels */
  const char *const *only;             /* names of kernels; none for all */
  uint32_t only_count, rounds;
  bool clears;                         /* `write` buffers are cleared by each launch, as the programs say */
  const peer_kernels *strict, *contract; /* NULL where there is none */
} gpu_bench;

/* Each part prints its tables. False if an answer is wrong or something failed, which it tells. */
bool gpu_run_kernels(const gpu_bench *bench);
bool gpu_run_add(const gpu_bench *bench);
bool gpu_run_submit(const gpu_bench *bench);
bool gpu_run_graph(const gpu_bench *bench);
bool gpu_run_compile(const gpu_bench *bench);

/* False, and |error| is told, unless |status| is OK. */
bool gpu_good(vyre_status status, const char *what, const vyre_error *error);
bool gpu_peer_good(const char *why, const char *what);
double gpu_median(double *samples, uint32_t count);
double gpu_wall_ns(void);
double gpu_cpu_ns(void); /* of the thread */
/* A line that says whether a target is reached: at least, or at most. */
void gpu_target(const char *what, double value, double wanted, bool at_least, const char *unit);
/* The address of a buffer on the device. */
bool gpu_address(vyre_buffer *buffer, void **out);

/* ---- Launches of one kernel, by one side: side.c ----------------------------------------------- */

/* Arrays on the device, for each launch of a series its own copy of what is written. */
typedef struct gpu_arrays {
  uint32_t count, launches;
  const char *names[GPU_MAX_ARRAYS];
  uint64_t counts[GPU_MAX_ARRAYS], bytes[GPU_MAX_ARRAYS];
  bool written[GPU_MAX_ARRAYS];
  const void *begin[GPU_MAX_ARRAYS];   /* contents, of the host */
  vyre_buffer *pristine[GPU_MAX_ARRAYS]; /* of written ones */
  vyre_buffer *buffers[GPU_LAUNCHES][GPU_MAX_ARRAYS];
  void *addresses[GPU_LAUNCHES][GPU_MAX_ARRAYS];
  vyre_batch *reset;
} gpu_arrays;

/* The caller has filled names, counts, bytes, written, begin and the numbers. Free in any case. */
bool gpu_arrays_make(const gpu_bench *bench, gpu_arrays *arrays);
void gpu_arrays_free(gpu_arrays *arrays);
/* All written arrays hold what they began with. */
bool gpu_arrays_reset(const gpu_bench *bench, const gpu_arrays *arrays);

/* One who can launch it. */
typedef struct gpu_side {
  const gpu_arrays *arrays;
  const char *kernel;
  /* Vyre */
  vyre_executable *executable;
  vyre_set *sets[GPU_LAUNCHES];
  vyre_batch *batch;
  /* or a peer */
  const peer_kernels *peer;
  const uint64_t *params;
  uint32_t config, block, width;
  double samples[GPU_MAX_SAMPLES];
  uint32_t sample_count;
} gpu_side;

/* |params| and |param_count| are appended to the arrays. Free in any case. */
bool gpu_side_vyre(const gpu_bench *bench, vyre_program *program, uint32_t flags, const vyre_arg *params,
                   uint32_t param_count, const uint64_t grid[3], const gpu_arrays *arrays, gpu_side *out);
/* Chooses the fastest configuration on the arrays. */
bool gpu_side_peer(const gpu_bench *bench, const peer_kernels *peer, const char *kernel, const uint64_t *params,
                   const gpu_arrays *arrays, gpu_side *out);
void gpu_side_free(gpu_side *side);
/* Time of one launch of a series by the device's events, in ns. */
bool gpu_side_time(const gpu_bench *bench, gpu_side *side, double *ns);
/* Takes turns: |bench->rounds| samples of each side, there and back. Outputs are reset before each. */
bool gpu_sides_measure(const gpu_bench *bench, gpu_side *const *sides, uint32_t count);
double gpu_side_median(const gpu_side *side);

#endif
