/* The kernels of bench/kernels in CUDA C++, as a library that shares the device with its caller: same algorithms, the
 * same arrays by slot of the program, parameters by number. Everything is in the device's primary context. */
#ifndef VYRE_BENCH_NVCC_KERNELS_H
#define VYRE_BENCH_NVCC_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one launch works on. */
typedef struct peer_launch {
  void *const *arrays;    /* addresses of the device */
  const uint64_t *counts; /* elements */
  const uint64_t *params; /* bits */
} peer_launch;

/* Every function gives NULL, or why it failed. */
typedef struct peer_kernels {
  const char *flags; /* of the compiler */
  /* How kernel |name| can be launched, by number from 0: false beyond the last. |width| is what a thread loads at once,
   * in elements, or the threads of a row where the block has two axes. */
  int (*config)(const char *name, uint32_t number, uint32_t *block, uint32_t *width);
  /* Launches back to back between two events, one for each of |launches|; *ns is the time of one. */
  const char *(*time)(const char *name, uint32_t config, const peer_launch *launches, uint32_t count, double *ns);
  /* Processor time of one cuLaunchKernel of a kernel that does next to nothing, |count| in a row. */
  const char *(*submit)(void *word, uint32_t count, double *ns);
  /* A captured graph of |nodes| launches, each of which adds 1 to |n| words, replayed |replays| times: device and wall
   * time of one replay. */
  const char *(*graph)(uint32_t *words, uint32_t n, uint32_t nodes, uint32_t replays, double *device_ns,
                       double *wall_ns);
  const char *(*synchronize)(void);
} peer_kernels;

/* The library's one symbol. NULL without a device. */
const peer_kernels *peer_kernels_open(void);

#ifdef __cplusplus
}
#endif
#endif
