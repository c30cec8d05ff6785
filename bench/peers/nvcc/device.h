/* What the CUDA peers share: memory, transfers, clocks. A peer brings works, each of which can enqueue itself.
 *
 * Inputs and outputs of every buffer set lie on the device. The harness's memory is registered, so that copies run at
 * the link's speed. For e2e, a work that maps elements is cut into pieces on three streams, so that both directions of
 * the link and the device work at once. */
#ifndef VYRE_BENCH_CUDA_DEVICE_H
#define VYRE_BENCH_CUDA_DEVICE_H

#include <cuda_runtime.h>

#include "../peer.h"

enum { GPU_MAX_INPUTS = 2 };

/* Arrays of |n| elements on the device; a reduction writes one. */
typedef struct gpu_slice {
  const void *in[GPU_MAX_INPUTS];
  void *out;
  size_t n;
} gpu_slice;

typedef struct gpu_work {
  const char *id, *type;                       /* of the work, and of its output */
  const char *inputs[GPU_MAX_INPUTS], *output; /* names of arrays */
  size_t element;                              /* bytes of an element of every array */
  bool reduces;
  /* Chooses how to enqueue, on the whole of |slice|; writes it to |how| (256 bytes). NULL, or why it can't be done. */
  const char *(*prepare)(const peer_work *work, const gpu_slice *slice, char *how);
  /* Enqueues the work. For a map, |slice| may be a part, aligned to 4096 elements. */
  cudaError_t (*enqueue)(const gpu_slice *slice, cudaStream_t stream);
} gpu_work;

/* A probe: |prepare| allocates for a working set of |n| bytes (0: its own choice) and says what one launch holds. */
typedef struct gpu_probe {
  const char *id, *how;
  const char *(*prepare)(uint64_t n, uint64_t *bytes, uint64_t *parts);
  cudaError_t (*enqueue)(cudaStream_t stream);
  /* Instead of enqueue: measures by itself. */
  const char *(*measure)(cudaStream_t stream, peer_times *times);
} gpu_probe;

typedef struct gpu_peer {
  const gpu_work *works;
  size_t work_count;
  const gpu_probe *probes;
  size_t probe_count;
  const char *library; /* what does the work, with its version */
} gpu_peer;

int gpu_main(const gpu_peer *peer);

extern cudaDeviceProp gpu_properties;

/* Time of one enqueue by the device's clock, the shortest of some, in ns; negative if it fails. |call| enqueues. */
double gpu_try(cudaError_t (*call)(const void *ctx, cudaStream_t stream), const void *ctx);

/* NULL, or the reason as text. */
const char *gpu_fault(cudaError_t code, const char *what);
#define GPU_TRY(call)                                        \
  do {                                                       \
    const char *fault_ = gpu_fault((call), #call);           \
    if (fault_) return fault_;                               \
  } while (0)

#endif
