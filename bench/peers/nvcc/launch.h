/* What the kernels' sources share: how one is launched, and the rows of their table. */
#ifndef VYRE_BENCH_NVCC_LAUNCH_H
#define VYRE_BENCH_NVCC_LAUNCH_H

#include <cstdint>
#include <cstring>

#include <cuda_runtime.h>

#include "kernels.h"

extern cudaStream_t peer_stream;
/* Blocks of |function| that the device holds at once. */
unsigned peer_resident(const void *function, unsigned block);

#ifndef PEER_LAUNCH_SHARED
#define PEER_LAUNCH_SHARED(function, grid, block, bytes, ...) \
  (function)<<<grid, block, bytes, peer_stream>>>(__VA_ARGS__)
#endif
#define PEER_LAUNCH(function, grid, block, ...) PEER_LAUNCH_SHARED(function, grid, block, 0, __VA_ARGS__)

/* One way to launch a kernel; |run| enqueues it. */
typedef struct peer_config {
  unsigned block, width;
} peer_config;
typedef struct peer_row {
  const char *name;
  void (*run)(const peer_launch *l, peer_config c);
  peer_config configs[8]; /* up to one with block 0 */
} peer_row;

/* Tables that end with a NULL name. */
extern const peer_row peer_bits[], peer_rules[], peer_numbers[];

/* Blocks of |per| elements that cover |n|. */
static inline unsigned peer_blocks(uint64_t n, uint64_t per) { return (unsigned)((n + per - 1) / per); }

template <typename T> static inline T *peer_array(const peer_launch *l, int slot) {
  return static_cast<T *>(l->arrays[slot]);
}
/* Of an array of 4-byte elements. */
static inline uint64_t peer_bytes(const peer_launch *l, int slot) { return 4 * l->counts[slot]; }
static inline float peer_float(const peer_launch *l, int number) {
  uint32_t bits = (uint32_t)l->params[number];
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define PEER_SWEEP {{64, 1}, {128, 1}, {256, 1}, {512, 1}, {1024, 1}}

#endif
