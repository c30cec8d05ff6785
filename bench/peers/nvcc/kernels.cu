/* The library of kernels.h: the rows, clocks, and two things that are timed without a kernel of their own. */
#include <cstdio>
#include <ctime>

#include <cuda.h>

#include "launch.h"

#ifndef PEER_FLAGS
#define PEER_FLAGS "as they come"
#endif

cudaStream_t peer_stream;
static cudaEvent_t begin, end;
static int units;

/* NULL, or the reason as text. */
static const char *fault(cudaError_t code, const char *what) {
  static char text[256];
  if (code == cudaSuccess) return NULL;
  snprintf(text, sizeof text, "%s: %s (%s)", what, cudaGetErrorString(code), cudaGetErrorName(code));
  return text;
}
#define TRY(call)                                        \
  do {                                                   \
    const char *fault_ = fault((call), #call);           \
    if (fault_ != NULL) return fault_;                   \
  } while (0)

unsigned peer_resident(const void *function, unsigned block) {
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, (int)block, 0);
  return (unsigned)(blocks * units);
}

/* ---- Kernels ---- */

static const peer_row *find(const char *name) {
  const peer_row *const tables[] = {peer_bits, peer_rules, peer_numbers};
  for (const peer_row *row : tables)
    for (; row->name != NULL; row++)
      if (strcmp(row->name, name) == 0) return row;
  return NULL;
}

static int config(const char *name, uint32_t number, uint32_t *block, uint32_t *width) {
  const peer_row *row = find(name);
  if (row == NULL || number >= 8 || row->configs[number].block == 0) return 0;
  *block = row->configs[number].block;
  *width = row->configs[number].width;
  return 1;
}

static const char *time_launches(const char *name, uint32_t number, const peer_launch *launches, uint32_t count,
                                 double *ns) {
  const peer_row *row = find(name);
  float ms = 0;
  if (row == NULL || number >= 8 || row->configs[number].block == 0) return "there is no such kernel or configuration";
  TRY(cudaEventRecord(begin, peer_stream));
  for (uint32_t i = 0; i < count; i++) row->run(&launches[i], row->configs[number]);
  TRY(cudaGetLastError());
  TRY(cudaEventRecord(end, peer_stream));
  TRY(cudaEventSynchronize(end));
  TRY(cudaEventElapsedTime(&ms, begin, end));
  *ns = (double)ms * 1e6 / count;
  return NULL;
}

/* ---- Submitting ---- */

__global__ static void increment(uint32_t *words, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) words[i] += 1;
}

static double clock_ns(clockid_t which) {
  struct timespec t;
  clock_gettime(which, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef CUresult (*launch_kernel)(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                  unsigned bz, unsigned shared, CUstream stream, void **params, void **extra);

/* The driver's own function, so that the library needs no libcuda to link. */
static const char *find_launch(launch_kernel *out) {
  void *entry = NULL;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 13000
  TRY(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &entry, 12000, cudaEnableDefault, &result));
#else
  TRY(cudaGetDriverEntryPoint("cuLaunchKernel", &entry, cudaEnableDefault, &result));
#endif
  memcpy(out, &entry, sizeof *out);
  return entry != NULL ? NULL : "the driver has no cuLaunchKernel";
}

static const char *submit(void *word, uint32_t count, double *ns) {
  static launch_kernel launch;
  cudaFunction_t function;
  unsigned n = 1;
  void *params[] = {&word, &n};
  const char *why = launch == NULL ? find_launch(&launch) : NULL;
  if (why != NULL) return why;
  TRY(cudaGetFuncBySymbol(&function, (const void *)increment));
  TRY(cudaStreamSynchronize(peer_stream));
  CUresult code = CUDA_SUCCESS;
  double from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  for (uint32_t i = 0; i < count && code == CUDA_SUCCESS; i++)
    code = launch((CUfunction)function, 1, 1, 1, 32, 1, 1, 0, (CUstream)peer_stream, params, NULL);
  *ns = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - from) / count;
  TRY(cudaStreamSynchronize(peer_stream));
  return code == CUDA_SUCCESS ? NULL : "cuLaunchKernel failed";
}

/* ---- Graphs ---- */

static const char *capture(uint32_t *words, uint32_t n, uint32_t nodes, cudaGraphExec_t *out) {
  cudaGraph_t graph;
  TRY(cudaStreamBeginCapture(peer_stream, cudaStreamCaptureModeRelaxed));
  for (uint32_t i = 0; i < nodes; i++) PEER_LAUNCH(increment, peer_blocks(n, 256), 256, words, n);
  TRY(cudaStreamEndCapture(peer_stream, &graph));
  const char *why = fault(cudaGraphInstantiate(out, graph, 0), "cudaGraphInstantiate");
  cudaGraphDestroy(graph);
  return why;
}

static const char *replay(cudaGraphExec_t graph, uint32_t replays, double *device_ns, double *wall_ns) {
  float ms = 0;
  TRY(cudaGraphLaunch(graph, peer_stream));
  TRY(cudaStreamSynchronize(peer_stream));
  double from = clock_ns(CLOCK_MONOTONIC);
  TRY(cudaEventRecord(begin, peer_stream));
  for (uint32_t i = 0; i < replays; i++) TRY(cudaGraphLaunch(graph, peer_stream));
  TRY(cudaEventRecord(end, peer_stream));
  TRY(cudaEventSynchronize(end));
  *wall_ns = (clock_ns(CLOCK_MONOTONIC) - from) / replays;
  TRY(cudaEventElapsedTime(&ms, begin, end));
  *device_ns = (double)ms * 1e6 / replays;
  return NULL;
}

static const char *graph(uint32_t *words, uint32_t n, uint32_t nodes, uint32_t replays, double *device_ns,
                         double *wall_ns) {
  cudaGraphExec_t made;
  const char *why = capture(words, n, nodes, &made);
  if (why != NULL) return why;
  why = replay(made, replays, device_ns, wall_ns);
  cudaGraphExecDestroy(made);
  return why;
}

static const char *synchronize(void) {
  TRY(cudaDeviceSynchronize());
  return NULL;
}

/* ---- The symbol ---- */

static const char *start(void) {
  TRY(cudaSetDevice(0));
  TRY(cudaStreamCreateWithFlags(&peer_stream, cudaStreamNonBlocking));
  TRY(cudaEventCreate(&begin));
  TRY(cudaEventCreate(&end));
  TRY(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0));
  return NULL;
}

extern "C" const peer_kernels *peer_kernels_open(void) {
  static const peer_kernels table = {PEER_FLAGS, config, time_launches, submit, graph, synchronize};
  const char *why = start();
  if (why == NULL) return &table;
  fprintf(stderr, "peer kernels: %s\n", why);
  return NULL;
}
