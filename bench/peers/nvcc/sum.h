/* A sum of u32 in one launch: each block adds up 16 bytes at a time, the block that is done last adds up the blocks. */
#ifndef VYRE_BENCH_CUDA_SUM_H
#define VYRE_BENCH_CUDA_SUM_H

#include <cstdint>

enum { SUM_THREADS = 512, SUM_MOST_BLOCKS = 4096 };

/* What a sum needs beside its arrays; |arrived| is 0 between launches. */
typedef struct sum_scratch {
  uint32_t *parts;
  unsigned *arrived;
} sum_scratch;

__device__ static inline uint32_t sum_of_block(uint32_t value) {
  __shared__ uint32_t warps[SUM_THREADS / 32];
  value = __reduce_add_sync(0xFFFFFFFFu, value);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < SUM_THREADS / 32 ? warps[threadIdx.x] : 0;
  __syncthreads();
  return __reduce_add_sync(0xFFFFFFFFu, value); /* right in the first warp */
}

/* Every block has SUM_THREADS threads. Reads |v| |repeats| times. */
template <int UNROLL>
__global__ static void __launch_bounds__(SUM_THREADS)
    sum_kernel(const uint32_t *__restrict__ v, size_t n, uint32_t *out, sum_scratch scratch, uint32_t repeats) {
  __shared__ bool last;
  const uint4 *vectors = reinterpret_cast<const uint4 *>(v);
  const size_t count = n / 4, threads = (size_t)gridDim.x * SUM_THREADS;
  const size_t me = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x;
  uint32_t sum = 0;
  for (uint32_t r = 0; r < repeats; r++) {
    size_t i = me;
    for (; i + (UNROLL - 1) * threads < count; i += UNROLL * threads) {
      uint4 got[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++) got[u] = __ldcg(&vectors[i + u * threads]);
#pragma unroll
      for (int u = 0; u < UNROLL; u++) sum += got[u].x + got[u].y + got[u].z + got[u].w;
    }
    for (; i < count; i += threads) {
      uint4 got = __ldcg(&vectors[i]);
      sum += got.x + got.y + got.z + got.w;
    }
    if (me < n % 4) sum += v[count * 4 + me];
    asm volatile("" ::: "memory"); /* each round reads anew */
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) {
    scratch.parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(scratch.arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (uint32_t i = threadIdx.x; i < gridDim.x; i += SUM_THREADS) sum += __ldcg(&scratch.parts[i]);
  sum = sum_of_block(sum);
  if (threadIdx.x) return;
  *out = sum;
  *scratch.arrived = 0;
}

static inline cudaError_t sum_scratch_make(sum_scratch *out) {
  cudaError_t code = cudaMalloc(&out->parts, SUM_MOST_BLOCKS * sizeof *out->parts);
  if (code == cudaSuccess) code = cudaMalloc(&out->arrived, sizeof *out->arrived);
  if (code == cudaSuccess) code = cudaMemset(out->arrived, 0, sizeof *out->arrived);
  return code;
}

#endif
