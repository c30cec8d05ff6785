/* The CUB peer: its device-wide algorithms with default policies; temporary storage is allocated beforehand. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_transform.cuh>
#include <cub/version.cuh>
#include <cuda/std/tuple>

#include <cstdio>

#include "device.h"

/* ---- DeviceTransform ---- */

/* Adds in f32 what is narrower, rounded once. */
template <typename T> struct add {
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

template <> struct add<__half> {
  __device__ __half operator()(__half a, __half b) const {
    return __float2half_rn(__half2float(a) + __half2float(b));
  }
};

template <> struct add<__nv_bfloat16> {
  __device__ __nv_bfloat16 operator()(__nv_bfloat16 a, __nv_bfloat16 b) const {
    return __float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(b));
  }
};

struct reduce_strength {
  __device__ uint32_t operator()(uint32_t x) const {
    return x / 7 + x % 10 + x / 641 + x % 1000 + x / 65536 + x % 4096 + ((9 * x) ^ (31 * x));
  }
};

template <typename T> static cudaError_t enqueue_add(const gpu_slice *s, cudaStream_t stream) {
  return cub::DeviceTransform::Transform(cuda::std::make_tuple((const T *)s->in[0], (const T *)s->in[1]), (T *)s->out,
                                         s->n, add<T>(), stream);
}

static cudaError_t enqueue_strength(const gpu_slice *s, cudaStream_t stream) {
  return cub::DeviceTransform::Transform((const uint32_t *)s->in[0], (uint32_t *)s->out, s->n, reduce_strength(),
                                         stream);
}

static const char *prepare_transform(const peer_work *, const gpu_slice *, char *how) {
  snprintf(how, 256, "cub::DeviceTransform::Transform");
  return NULL;
}

/* ---- DeviceReduce ---- */

static void *scratch;
static size_t scratch_bytes;

static cudaError_t enqueue_sum(const gpu_slice *s, cudaStream_t stream) {
  return cub::DeviceReduce::Sum(scratch, scratch_bytes, (const uint32_t *)s->in[0], (uint32_t *)s->out, s->n, stream);
}

static const char *prepare_sum(const peer_work *, const gpu_slice *slice, char *how) {
  GPU_TRY(enqueue_sum(slice, 0)); /* without storage: says how much it needs */
  GPU_TRY(cudaMalloc(&scratch, scratch_bytes));
  snprintf(how, 256, "cub::DeviceReduce::Sum, %zu bytes of storage allocated beforehand", scratch_bytes);
  return NULL;
}

static const gpu_work works[] = {
    {"elementwise.add", "f32", {"a", "b"}, "o", 4, false, prepare_transform, enqueue_add<float>},
    {"elementwise.add", "u8", {"a", "b"}, "o", 1, false, prepare_transform, enqueue_add<uint8_t>},
    {"elementwise.add", "f16", {"a", "b"}, "o", 2, false, prepare_transform, enqueue_add<__half>},
    {"elementwise.add", "bf16", {"a", "b"}, "o", 2, false, prepare_transform, enqueue_add<__nv_bfloat16>},
    {"integer.strength_reduction", "u32", {"x"}, "o", 4, false, prepare_transform, enqueue_strength},
    {"reduce.sum", "u32", {"v"}, "o", 4, true, prepare_sum, enqueue_sum},
};

int main() {
  static char library[64];
  snprintf(library, sizeof library, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
  gpu_peer peer = {works, sizeof works / sizeof *works, NULL, 0, library};
  return gpu_main(&peer);
}
