/* Probes of the GPU: what it and its link can do at most. Each kernel is the plainest one that reaches it. */
#include "probes.h"

#include <cooperative_groups.h>

#include <initializer_list>

#include "sum.h"

enum { GRAPH_NODES = 1000, BARRIERS = 1000, ROUNDS_OF_CACHE = 1000, EVENTS = 1000, THREADS = 512 };

static void *from, *other, *to;
static size_t size; /* of each, in bytes */
static sum_scratch scratch;
static cudaGraphExec_t graph;
static int full_grid; /* blocks of a barrier that are resident at once */

static const char *allocate(uint64_t n, uint64_t otherwise, int arrays) {
  void **all[] = {&from, &to, &other};
  size = (n ? n : otherwise) / 16 * 16;
  for (int i = 0; i < arrays; i++) {
    GPU_TRY(cudaMalloc(all[i], size));
    GPU_TRY(cudaMemset(*all[i], 1, size));
  }
  GPU_TRY(cudaDeviceSynchronize());
  return NULL;
}

/* ---- Device memory ---- */

template <int UNROLL> __global__ static void copy_kernel(const uint4 *__restrict__ a, uint4 *o, size_t n) {
  size_t first = (size_t)blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
  uint4 got[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    if (first + u * blockDim.x < n) got[u] = __ldcs(&a[first + u * blockDim.x]);
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    if (first + u * blockDim.x < n) __stcs(&o[first + u * blockDim.x], got[u]);
}

template <int UNROLL> static cudaError_t copy_by_kernel(const void *, cudaStream_t stream) {
  size_t count = size / sizeof(uint4), each = THREADS * UNROLL;
  copy_kernel<UNROLL><<<(unsigned)((count + each - 1) / each), THREADS, 0, stream>>>((const uint4 *)from, (uint4 *)to,
                                                                                     count);
  return cudaGetLastError();
}

static cudaError_t copy_by_call(const void *, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, stream);
}

static cudaError_t (*copying)(const void *, cudaStream_t);

/* The fastest of the runtime's copy and some kernels. */
static const char *prepare_copy(uint64_t n, uint64_t *bytes, uint64_t *) {
  const char *fault = allocate(n, 1 << 30, 2);
  if (fault) return fault;
  double best = 1e300;
  for (auto way : {copy_by_call, copy_by_kernel<1>, copy_by_kernel<2>, copy_by_kernel<4>}) {
    double took = gpu_try(way, NULL);
    if (took < 0 || took >= best) continue;
    best = took;
    copying = way;
  }
  *bytes = 2 * (uint64_t)size;
  return copying ? NULL : gpu_fault(cudaErrorLaunchFailure, "no way of copying worked");
}

static cudaError_t enqueue_copy(cudaStream_t stream) {
  return copying(NULL, stream);
}

__global__ static void triad_kernel(const double2 *__restrict__ b, const double2 *__restrict__ c, double2 *a,
                                    size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double2 x = __ldcs(&b[i]), y = __ldcs(&c[i]);
  __stcs(&a[i], make_double2(x.x + 3.0 * y.x, x.y + 3.0 * y.y));
}

static const char *prepare_triad(uint64_t n, uint64_t *bytes, uint64_t *) {
  const char *fault = allocate(n, 1 << 30, 3);
  *bytes = 3 * (uint64_t)size;
  return fault;
}

static cudaError_t enqueue_triad(cudaStream_t stream) {
  size_t count = size / sizeof(double2);
  triad_kernel<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
      (const double2 *)from, (const double2 *)other, (double2 *)to, count);
  return cudaGetLastError();
}

/* ---- Reading ---- */

typedef struct sum_way {
  void (*kernel)(const uint32_t *, size_t, uint32_t *, sum_scratch, uint32_t);
  unsigned blocks;
  uint32_t rounds;
} sum_way;

static sum_way reading;

static cudaError_t launch_sum(const void *ctx, cudaStream_t stream) {
  const sum_way *way = (const sum_way *)ctx;
  way->kernel<<<way->blocks, SUM_THREADS, 0, stream>>>((const uint32_t *)from, size / 4, (uint32_t *)to, scratch,
                                                       way->rounds);
  return cudaGetLastError();
}

/* The fastest of some kernels and grids. */
static const char *prepare_sum(uint64_t n, uint64_t otherwise, uint32_t rounds, uint64_t *bytes) {
  const char *fault = allocate(n, otherwise, 1);
  if (fault) return fault;
  GPU_TRY(cudaMalloc(&to, sizeof(uint32_t)));
  GPU_TRY(sum_scratch_make(&scratch));
  double best = 1e300;
  for (unsigned each = 1; each <= 8; each *= 2) {
    unsigned blocks = each * (unsigned)gpu_properties.multiProcessorCount;
    if (blocks > SUM_MOST_BLOCKS) break;
    sum_way ways[] = {
        {sum_kernel<2>, blocks, rounds}, {sum_kernel<4>, blocks, rounds}, {sum_kernel<8>, blocks, rounds}};
    for (const sum_way &way : ways) {
      double took = gpu_try(launch_sum, &way);
      if (took < 0 || took >= best) continue;
      best = took;
      reading = way;
    }
  }
  *bytes = (uint64_t)rounds * size;
  return reading.kernel ? NULL : gpu_fault(cudaErrorLaunchFailure, "no way of launching worked");
}

static const char *prepare_read(uint64_t n, uint64_t *bytes, uint64_t *) {
  return prepare_sum(n, (uint64_t)2 << 30, 1, bytes);
}

static cudaError_t enqueue_reading(cudaStream_t stream) {
  return launch_sum(&reading, stream);
}

static const char *prepare_cache(uint64_t n, uint64_t *bytes, uint64_t *) {
  return prepare_sum(n, (uint64_t)gpu_properties.l2CacheSize / 4, ROUNDS_OF_CACHE, bytes);
}

/* ---- The link to the host ---- */

static const char *prepare_link(uint64_t n, void **host, void **device, uint64_t *bytes) {
  size = n ? n : 256 << 20;
  GPU_TRY(cudaHostAlloc(host, size, cudaHostAllocDefault));
  GPU_TRY(cudaMalloc(device, size));
  GPU_TRY(cudaMemcpy(*device, *host, size, cudaMemcpyHostToDevice));
  *bytes = size;
  return NULL;
}

static const char *prepare_h2d(uint64_t n, uint64_t *bytes, uint64_t *) {
  return prepare_link(n, &from, &to, bytes);
}

static cudaError_t enqueue_h2d(cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, stream);
}

static const char *prepare_d2h(uint64_t n, uint64_t *bytes, uint64_t *) {
  return prepare_link(n, &to, &from, bytes);
}

static cudaError_t enqueue_d2h(cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost, stream);
}

/* ---- Launches, barriers, events ---- */

__global__ static void empty_kernel() {
}

static cudaError_t enqueue_empty(cudaStream_t stream) {
  empty_kernel<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}

static const char *prepare_graph(uint64_t, uint64_t *, uint64_t *parts) {
  cudaStream_t stream;
  cudaGraph_t recorded;
  GPU_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  GPU_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < GRAPH_NODES; i++) enqueue_empty(stream);
  GPU_TRY(cudaStreamEndCapture(stream, &recorded));
  GPU_TRY(cudaGraphInstantiate(&graph, recorded, 0));
  GPU_TRY(cudaGraphDestroy(recorded));
  GPU_TRY(cudaStreamDestroy(stream));
  *parts = GRAPH_NODES;
  return NULL;
}

static cudaError_t enqueue_graph(cudaStream_t stream) {
  return cudaGraphLaunch(graph, stream);
}

__global__ static void __launch_bounds__(THREADS) barrier_kernel() {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int i = 0; i < BARRIERS; i++) grid.sync();
}

static const char *prepare_barrier(uint64_t, uint64_t *, uint64_t *parts) {
  int per_processor;
  if (!gpu_properties.cooperativeLaunch) return "the device has no cooperative launch";
  GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, barrier_kernel, THREADS, 0));
  full_grid = per_processor * gpu_properties.multiProcessorCount;
  *parts = BARRIERS;
  return NULL;
}

static cudaError_t enqueue_barrier(cudaStream_t stream) {
  void *none[] = {NULL};
  return cudaLaunchCooperativeKernel((const void *)barrier_kernel, dim3((unsigned)full_grid), dim3(THREADS), none, 0,
                                     stream);
}

static const char *measure_event(cudaStream_t stream, peer_times *times) {
  static cudaEvent_t events[EVENTS];
  float least = 0;
  for (int i = 0; i < EVENTS; i++) {
    if (!events[i]) GPU_TRY(cudaEventCreate(&events[i]));
    GPU_TRY(cudaEventRecord(events[i], stream));
  }
  GPU_TRY(cudaStreamSynchronize(stream));
  for (int i = 1; i < EVENTS; i++) {
    float ms;
    GPU_TRY(cudaEventElapsedTime(&ms, events[i - 1], events[i]));
    if (ms > 0 && (least == 0 || ms < least)) least = ms;
  }
  if (least == 0) return "no two events differ";
  times->device_ns = least * 1e6;
  return NULL;
}

const gpu_probe gpu_probes[] = {
    {"probe.bw_copy", "cudaMemcpyAsync or 16 bytes a load, whichever is faster", prepare_copy, enqueue_copy, NULL},
    {"probe.bw_triad", "f64, 16 bytes a load, one a thread, streaming hints", prepare_triad, enqueue_triad, NULL},
    {"probe.bw_read", "sum of u32, 16 bytes a load, fastest grid of those tried", prepare_read, enqueue_reading, NULL},
    {"probe.bw_cache", "the same over a quarter of L2, 1000 times in one launch", prepare_cache, enqueue_reading,
     NULL},
    {"probe.bw_h2d", "cudaMemcpyAsync from pinned memory", prepare_h2d, enqueue_h2d, NULL},
    {"probe.bw_d2h", "cudaMemcpyAsync to pinned memory", prepare_d2h, enqueue_d2h, NULL},
    {"probe.t_launch", "empty kernel, cudaStreamSynchronize that spins", NULL, enqueue_empty, NULL},
    {"probe.t_graph_node", "a graph of 1000 empty kernels", prepare_graph, enqueue_graph, NULL},
    {"probe.t_barrier", "1000 grid barriers of a cooperative kernel at full residency", prepare_barrier,
     enqueue_barrier, NULL},
    {"probe.t_event", "1000 events one after the other", NULL, NULL, measure_event},
};
const size_t gpu_probe_count = sizeof gpu_probes / sizeof *gpu_probes;
