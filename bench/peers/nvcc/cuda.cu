/* The CUDA C++ peer. Maps load and store 16 bytes a thread; block size, vectors a thread and cache hints are those that
 * were fastest on the case's own arrays. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <cstring>

#include "device.h"
#include "../divide.h"
#include "probes.h"
#include "sum.h"

/* ---- Maps ---- */

/* 16 bytes as elements. */
template <typename T> union vector {
  uint4 whole;
  T part[16 / sizeof(T)];
};

template <typename T, bool STREAM> __device__ static vector<T> load(const T *from, size_t i) {
  const uint4 *at = reinterpret_cast<const uint4 *>(from) + i;
  return {STREAM ? __ldcs(at) : __ldg(at)};
}

template <typename T, bool STREAM> __device__ static void store(T *to, size_t i, vector<T> value) {
  uint4 *at = reinterpret_cast<uint4 *>(to) + i;
  if (STREAM) __stcs(at, value.whole);
  else *at = value.whole;
}

/* A block does blockDim.x * UNROLL vectors; what is left of n goes to the first threads of the last block. Op has the
 * number of its inputs and applies itself to vectors. */
template <class Op, int UNROLL, bool STREAM>
__global__ static void map_kernel(const typename Op::type *__restrict__ a, const typename Op::type *__restrict__ b,
                                  typename Op::type *__restrict__ o, size_t n, Op op) {
  typedef typename Op::type T;
  const size_t width = 16 / sizeof(T), vectors = n / width;
  const size_t first = (size_t)blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
  vector<T> x[UNROLL], y[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    size_t i = first + (size_t)u * blockDim.x;
    if (i >= vectors) continue;
    x[u] = load<T, STREAM>(a, i);
    if (Op::inputs == 2) y[u] = load<T, STREAM>(b, i);
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    size_t i = first + (size_t)u * blockDim.x;
    if (i < vectors) store<T, STREAM>(o, i, op(x[u], y[u]));
  }
  if (blockIdx.x != gridDim.x - 1 || threadIdx.x >= n - vectors * width) return;
  size_t at = vectors * width + threadIdx.x;
  x[0].part[0] = a[at];
  if (Op::inputs == 2) y[0].part[0] = b[at];
  o[at] = op(x[0], y[0]).part[0];
}

struct add_f32 {
  typedef float type;
  enum { inputs = 2 };
  __device__ vector<float> operator()(vector<float> x, vector<float> y) const {
    for (int k = 0; k < 4; k++) x.part[k] += y.part[k];
    return x;
  }
};

struct add_u8 {
  typedef uint8_t type;
  enum { inputs = 2 };
  __device__ vector<uint8_t> operator()(vector<uint8_t> x, vector<uint8_t> y) const {
    return {make_uint4(__vadd4(x.whole.x, y.whole.x), __vadd4(x.whole.y, y.whole.y), __vadd4(x.whole.z, y.whole.z),
                       __vadd4(x.whole.w, y.whole.w))};
  }
};

struct add_f16 {
  typedef __half type;
  enum { inputs = 2 };
  __device__ static uint32_t add(uint32_t x, uint32_t y) {
    __half2 a, b;
    memcpy(&a, &x, 4);
    memcpy(&b, &y, 4);
    a = __hadd2_rn(a, b);
    memcpy(&x, &a, 4);
    return x;
  }
  __device__ vector<__half> operator()(vector<__half> x, vector<__half> y) const {
    x.whole = make_uint4(add(x.whole.x, y.whole.x), add(x.whole.y, y.whole.y), add(x.whole.z, y.whole.z),
                         add(x.whole.w, y.whole.w));
    return x;
  }
};

struct add_bf16 {
  typedef __nv_bfloat16 type;
  enum { inputs = 2 };
  /* In f32, rounded once. */
  __device__ static uint32_t add(uint32_t x, uint32_t y) {
    float low = __uint_as_float(x << 16) + __uint_as_float(y << 16);
    float high = __uint_as_float(x & 0xFFFF0000u) + __uint_as_float(y & 0xFFFF0000u);
    __nv_bfloat162 sum = __floats2bfloat162_rn(low, high);
    memcpy(&x, &sum, 4);
    return x;
  }
  __device__ vector<__nv_bfloat16> operator()(vector<__nv_bfloat16> x, vector<__nv_bfloat16> y) const {
    x.whole = make_uint4(add(x.whole.x, y.whole.x), add(x.whole.y, y.whole.y), add(x.whole.z, y.whole.z),
                         add(x.whole.w, y.whole.w));
    return x;
  }
};

struct reduce_strength {
  typedef uint32_t type;
  enum { inputs = 1 };
  __device__ static uint32_t of(uint32_t x) {
    return x / 7 + x % 10 + x / 641 + x % 1000 + x / 65536 + x % 4096 + ((9 * x) ^ (31 * x));
  }
  __device__ vector<uint32_t> operator()(vector<uint32_t> x, vector<uint32_t>) const {
    for (int k = 0; k < 4; k++) x.part[k] = of(x.part[k]);
    return x;
  }
};

/* The host knows the divisors before the launch, so it sends what divides by multiplication. */
struct reduce_runtime {
  typedef uint32_t type;
  enum { inputs = 1, divisors = 6 };
  divider by[divisors];
  __device__ uint32_t of(uint32_t x) const {
    return divide(x, by[0]) + (x - divide(x, by[1]) * by[1].divisor) + divide(x, by[2]) +
           (x - divide(x, by[3]) * by[3].divisor) + divide(x, by[4]) + (x - divide(x, by[5]) * by[5].divisor) +
           ((9 * x) ^ (31 * x));
  }
  __device__ vector<uint32_t> operator()(vector<uint32_t> x, vector<uint32_t>) const {
    for (int k = 0; k < 4; k++) x.part[k] = of(x.part[k]);
    return x;
  }
};

struct divide_exact {
  typedef uint32_t type;
  enum { inputs = 1 };
  __device__ vector<uint32_t> operator()(vector<uint32_t> x, vector<uint32_t>) const {
    for (int k = 0; k < 4; k++) {
      uint32_t w = x.part[k] >> 8;
      x.part[k] = w * 12 / 12 + w * 100 / 25;
    }
    return x;
  }
};

/* ---- The fastest way of a map ---- */

/* A way to launch Op, and the arrays to try it on. */
template <class Op> struct map_plan {
  typedef void kernel(const typename Op::type *, const typename Op::type *, typename Op::type *, size_t, Op);
  kernel *function;
  int block, unroll;
  bool stream;
  Op op;
};

template <class Op> struct map_trial {
  map_plan<Op> plan;
  const gpu_slice *slice;
};

template <class Op> static map_plan<Op> chosen;

template <class Op> static cudaError_t launch_map(const map_plan<Op> &plan, const gpu_slice *s, cudaStream_t stream) {
  typedef typename Op::type T;
  size_t vectors = s->n / (16 / sizeof(T)), each = (size_t)plan.block * plan.unroll;
  size_t blocks = (vectors + each - 1) / each;
  if (blocks == 0) blocks = 1;
  if (blocks > INT32_MAX) return cudaErrorInvalidConfiguration;
  plan.function<<<(unsigned)blocks, plan.block, 0, stream>>>((const T *)s->in[0], (const T *)s->in[1], (T *)s->out,
                                                             s->n, plan.op);
  return cudaGetLastError();
}

template <class Op> static cudaError_t launch_trial(const void *ctx, cudaStream_t stream) {
  const map_trial<Op> *trial = (const map_trial<Op> *)ctx;
  return launch_map(trial->plan, trial->slice, stream);
}

template <class Op> static cudaError_t enqueue_map(const gpu_slice *slice, cudaStream_t stream) {
  return launch_map(chosen<Op>, slice, stream);
}

template <class Op, int UNROLL, bool STREAM>
static void try_map(const Op &op, const gpu_slice *slice, double *best) {
  for (int block = 128; block <= 1024; block *= 2) {
    map_trial<Op> trial = {{map_kernel<Op, UNROLL, STREAM>, block, UNROLL, STREAM, op}, slice};
    double took = gpu_try(launch_trial<Op>, &trial);
    if (took < 0 || took >= *best) continue;
    *best = took;
    chosen<Op> = trial.plan;
  }
}

template <class Op> static const char *tune_map(const Op &op, const gpu_slice *slice, char *how) {
  double best = 1e300;
  try_map<Op, 1, false>(op, slice, &best);
  try_map<Op, 2, false>(op, slice, &best);
  try_map<Op, 4, false>(op, slice, &best);
  try_map<Op, 1, true>(op, slice, &best);
  try_map<Op, 2, true>(op, slice, &best);
  try_map<Op, 4, true>(op, slice, &best);
  if (!chosen<Op>.function) return gpu_fault(cudaErrorLaunchFailure, "no way of launching worked");
  snprintf(how, 256, "16 bytes a load, %d loads of an input a thread, blocks of %d, %s; fastest of 24 tried",
           chosen<Op>.unroll, chosen<Op>.block, chosen<Op>.stream ? "streaming hints" : "no hints");
  return NULL;
}

template <class Op> static const char *prepare_map(const peer_work *, const gpu_slice *slice, char *how) {
  return tune_map(Op(), slice, how);
}

static const char *prepare_runtime(const peer_work *work, const gpu_slice *slice, char *how) {
  reduce_runtime op;
  for (int k = 0; k < reduce_runtime::divisors; k++) {
    const char name[] = {'d', (char)('0' + k), '\0'};
    double value = peer_value(work, name);
    if (!(value >= 1 && value <= UINT32_MAX)) return peer_reason("divisor %s is %g, not 1 to 2^32 - 1", name, value);
    op.by[k] = divider_of((uint32_t)value);
  }
  return tune_map(op, slice, how);
}

/* ---- reduce.sum ---- */

typedef struct sum_plan {
  void (*kernel)(const uint32_t *, size_t, uint32_t *, sum_scratch, uint32_t);
  unsigned blocks;
  sum_scratch scratch;
  const gpu_slice *slice;
} sum_plan;

static sum_plan summing;

static cudaError_t launch_sum(const sum_plan *plan, const gpu_slice *s, cudaStream_t stream) {
  plan->kernel<<<plan->blocks, SUM_THREADS, 0, stream>>>((const uint32_t *)s->in[0], s->n, (uint32_t *)s->out,
                                                         plan->scratch, 1);
  return cudaGetLastError();
}

static cudaError_t try_sum(const void *ctx, cudaStream_t stream) {
  const sum_plan *plan = (const sum_plan *)ctx;
  return launch_sum(plan, plan->slice, stream);
}

static cudaError_t enqueue_sum(const gpu_slice *slice, cudaStream_t stream) {
  return launch_sum(&summing, slice, stream);
}

static const char *prepare_sum(const peer_work *, const gpu_slice *slice, char *how) {
  sum_scratch scratch;
  GPU_TRY(sum_scratch_make(&scratch));
  double best = 1e300;
  unsigned processors = (unsigned)gpu_properties.multiProcessorCount;
  for (unsigned blocks = 1; blocks <= processors * 8 && blocks <= SUM_MOST_BLOCKS;
       blocks = blocks < processors && blocks * 2 > processors ? processors : blocks * 2) {
    sum_plan plans[] = {{sum_kernel<2>, blocks, scratch, slice},
                        {sum_kernel<4>, blocks, scratch, slice},
                        {sum_kernel<8>, blocks, scratch, slice}};
    for (const sum_plan &plan : plans) {
      double took = gpu_try(try_sum, &plan);
      if (took < 0 || took >= best) continue;
      best = took;
      summing = plan;
    }
  }
  if (!summing.kernel) return gpu_fault(cudaErrorLaunchFailure, "no way of launching worked");
  snprintf(how, 256, "16 bytes a load, %u blocks of %d, one launch; fastest of those tried", summing.blocks,
           SUM_THREADS);
  return NULL;
}

static const gpu_work works[] = {
    {"elementwise.add", "f32", {"a", "b"}, "o", 4, false, prepare_map<add_f32>, enqueue_map<add_f32>},
    {"elementwise.add", "u8", {"a", "b"}, "o", 1, false, prepare_map<add_u8>, enqueue_map<add_u8>},
    {"elementwise.add", "f16", {"a", "b"}, "o", 2, false, prepare_map<add_f16>, enqueue_map<add_f16>},
    {"elementwise.add", "bf16", {"a", "b"}, "o", 2, false, prepare_map<add_bf16>, enqueue_map<add_bf16>},
    {"integer.strength_reduction", "u32", {"x"}, "o", 4, false, prepare_map<reduce_strength>,
     enqueue_map<reduce_strength>},
    {"integer.strength_reduction.runtime", "u32", {"x"}, "o", 4, false, prepare_runtime, enqueue_map<reduce_runtime>},
    {"integer.strength_reduction.exact", "u32", {"x"}, "o", 4, false, prepare_map<divide_exact>,
     enqueue_map<divide_exact>},
    {"reduce.sum", "u32", {"v"}, "o", 4, true, prepare_sum, enqueue_sum},
};

int main() {
  gpu_peer peer = {works, sizeof works / sizeof *works, gpu_probes, gpu_probe_count, "CUDA C++"};
  return gpu_main(&peer);
}
