#include "device.h"

#include <cstdio>
#include <cstring>

#include "peer_identity.h"

enum { MAX_SETS = 64, STREAMS = 3, GRAPH_LAUNCHES = 256, PIECE = 4096, POISON = 0xA5 };

cudaDeviceProp gpu_properties;

static struct {
  const gpu_peer *peer;
  const gpu_work *work;
  const gpu_probe *probe;
  const peer_array *input[GPU_MAX_INPUTS], *result;
  gpu_slice sets[MAX_SETS];
  uint32_t set_count, next, last;
  cudaStream_t streams[STREAMS];
  cudaEvent_t begin, end;
  bool graphs;
  cudaGraphExec_t graph; /* |graph_launches| of them, beginning with the first set */
  uint32_t graph_launches;
  uint32_t pieces; /* of an e2e launch; 0: not tried yet */
  char how[512];
} me;

const char *gpu_fault(cudaError_t code, const char *what) {
  if (code == cudaSuccess) return NULL;
  cudaGetLastError();
  return peer_reason("CUDA: %s: %s", cudaGetErrorString(code), what);
}

/* ---- Enqueueing ---- */

static cudaError_t enqueue_next(void) {
  if (me.probe) return me.probe->enqueue(me.streams[0]);
  cudaError_t code = me.work->enqueue(&me.sets[me.next], me.streams[0]);
  me.last = me.next;
  me.next = (me.next + 1) % me.set_count;
  return code;
}

/* Makes |graph| of that many launches. */
static const char *record(uint32_t launches) {
  cudaGraph_t graph;
  if (me.graph) GPU_TRY(cudaGraphExecDestroy(me.graph));
  me.graph = NULL;
  me.next = 0;
  GPU_TRY(cudaStreamBeginCapture(me.streams[0], cudaStreamCaptureModeThreadLocal));
  cudaError_t code = cudaSuccess;
  for (uint32_t i = 0; i < launches && code == cudaSuccess; i++) code = enqueue_next();
  cudaError_t ended = cudaStreamEndCapture(me.streams[0], &graph);
  GPU_TRY(code);
  GPU_TRY(ended);
  GPU_TRY(cudaGraphInstantiate(&me.graph, graph, 0));
  GPU_TRY(cudaGraphDestroy(graph));
  GPU_TRY(cudaGraphUpload(me.graph, me.streams[0]));
  GPU_TRY(cudaStreamSynchronize(me.streams[0]));
  me.graph_launches = launches;
  return NULL;
}

/* The graph that a series is made of: as long as the series, or as long as whole turns through the sets. 0: none. */
static uint32_t graph_length(uint32_t launches) {
  if (!me.graphs || me.probe || launches < 2) return 0;
  uint32_t whole = GRAPH_LAUNCHES / me.set_count * me.set_count;
  return launches < whole ? launches : whole;
}

static const char *enqueue_series(uint32_t launches, uint32_t length) {
  for (; length && launches >= length; launches -= length) {
    GPU_TRY(cudaGraphLaunch(me.graph, me.streams[0]));
    me.last = (length - 1) % me.set_count;
    me.next = length % me.set_count;
  }
  for (; launches > 0; launches--) GPU_TRY(enqueue_next());
  return NULL;
}

/* ---- Clocks ---- */

static const char *sample_device(uint32_t launches, peer_times *times) {
  if (me.probe && me.probe->measure) return me.probe->measure(me.streams[0], times);
  uint32_t length = graph_length(launches);
  const char *fault = length && length != me.graph_launches ? record(length) : NULL;
  if (fault) return fault;
  float ms;
  double start = peer_now();
  GPU_TRY(cudaEventRecord(me.begin, me.streams[0]));
  fault = enqueue_series(launches, length);
  if (fault) return fault;
  GPU_TRY(cudaEventRecord(me.end, me.streams[0]));
  GPU_TRY(cudaStreamSynchronize(me.streams[0]));
  times->wall_ns = (peer_now() - start) / launches;
  GPU_TRY(cudaEventElapsedTime(&ms, me.begin, me.end));
  times->device_ns = ms * 1e6 / launches;
  return NULL;
}

static const char *copy_inputs(const gpu_slice *set, size_t begin, size_t count, cudaStream_t stream) {
  const size_t element = me.work->element;
  for (int k = 0; k < GPU_MAX_INPUTS && me.input[k]; k++)
    GPU_TRY(cudaMemcpyAsync((char *)set->in[k] + begin * element, (const char *)me.input[k]->host + begin * element,
                            count * element, cudaMemcpyHostToDevice, stream));
  return NULL;
}

static const char *copy_output(const gpu_slice *set, size_t begin, size_t count, cudaStream_t stream) {
  const size_t element = me.work->element;
  GPU_TRY(cudaMemcpyAsync((char *)me.result->host + begin * element, (const char *)set->out + begin * element,
                          count * element, cudaMemcpyDeviceToHost, stream));
  return NULL;
}

static gpu_slice piece_of(const gpu_slice *set, size_t begin, size_t count) {
  gpu_slice piece = *set;
  for (int k = 0; k < GPU_MAX_INPUTS && me.input[k]; k++)
    piece.in[k] = (const char *)set->in[k] + begin * me.work->element;
  if (!me.work->reduces) piece.out = (char *)set->out + begin * me.work->element;
  piece.n = count;
  return piece;
}

/* From host memory to host memory, in |pieces|. */
static const char *launch_e2e(uint32_t pieces) {
  const gpu_slice *set = &me.sets[me.next];
  size_t units = (set->n + PIECE - 1) / PIECE;
  for (uint32_t p = 0; p < pieces; p++) {
    cudaStream_t stream = me.streams[p % STREAMS];
    size_t begin = units * p / pieces * PIECE, end = units * (p + 1) / pieces * PIECE;
    if (end > set->n) end = set->n;
    if (begin == end) continue;
    gpu_slice piece = piece_of(set, begin, end - begin);
    const char *fault = copy_inputs(set, begin, end - begin, stream);
    if (fault) return fault;
    GPU_TRY(me.work->enqueue(&piece, stream));
    fault = me.work->reduces ? copy_output(set, 0, 1, stream) : copy_output(set, begin, end - begin, stream);
    if (fault) return fault;
  }
  for (uint32_t s = 0; s < STREAMS && s < pieces; s++) GPU_TRY(cudaStreamSynchronize(me.streams[s]));
  me.last = me.next;
  me.next = (me.next + 1) % me.set_count;
  return NULL;
}

static const char *choose_pieces(void) {
  double best = 1e300;
  uint32_t most = me.work->reduces ? 1 : 64, chosen = 1;
  for (uint32_t pieces = 1; pieces <= most; pieces *= 2) {
    for (int i = 0; i < 5; i++) {
      double start = peer_now();
      const char *fault = launch_e2e(pieces);
      if (fault) return fault;
      double took = peer_now() - start;
      if (i > 0 && took < best) { /* the first one warms */
        best = took;
        chosen = pieces;
      }
    }
  }
  me.pieces = chosen;
  return NULL;
}

/* One operation as |clock| wants it, until its result can be used. */
static const char *launch_wall(peer_clock clock) {
  if (clock == PEER_E2E) return launch_e2e(me.pieces);
  GPU_TRY(enqueue_next());
  if (clock == PEER_READBACK) {
    const char *fault = copy_output(&me.sets[me.last], 0, me.result->count, me.streams[0]);
    if (fault) return fault;
  }
  GPU_TRY(cudaStreamSynchronize(me.streams[0]));
  return NULL;
}

static const char *sample(peer_clock clock, uint32_t launches, peer_times *times) {
  if (clock == PEER_DEVICE) return sample_device(launches, times);
  if (me.probe && (clock != PEER_RESIDENT || me.probe->measure)) return "the probe does not have that clock";
  if (clock == PEER_E2E && !me.pieces) {
    const char *fault = choose_pieces();
    if (fault) return fault;
  }
  double start = peer_now();
  for (uint32_t i = 0; i < launches; i++) {
    const char *fault = launch_wall(clock);
    if (fault) return fault;
  }
  times->wall_ns = (peer_now() - start) / launches;
  return NULL;
}

/* ---- Outputs ---- */

static const char *output(void) {
  if (me.probe) return NULL;
  GPU_TRY(cudaMemcpy(me.result->host, me.sets[me.last].out, me.result->bytes, cudaMemcpyDeviceToHost));
  return NULL;
}

static const char *poison(void) {
  if (me.probe) return NULL;
  memset(me.result->host, POISON, me.result->bytes);
  for (uint32_t s = 0; s < me.set_count; s++) GPU_TRY(cudaMemset(me.sets[s].out, POISON, me.result->bytes));
  GPU_TRY(cudaDeviceSynchronize());
  return NULL;
}

/* ---- Preparing ---- */

double gpu_try(cudaError_t (*call)(const void *ctx, cudaStream_t stream), const void *ctx) {
  double best = -1;
  for (int i = 0; i < 8; i++) {
    float ms;
    if (cudaEventRecord(me.begin, me.streams[0]) != cudaSuccess || call(ctx, me.streams[0]) != cudaSuccess ||
        cudaEventRecord(me.end, me.streams[0]) != cudaSuccess ||
        cudaStreamSynchronize(me.streams[0]) != cudaSuccess ||
        cudaEventElapsedTime(&ms, me.begin, me.end) != cudaSuccess) {
      cudaGetLastError();
      return -1;
    }
    if (i > 1 && (best < 0 || ms * 1e6 < best)) best = ms * 1e6;
  }
  return best;
}

static const char *open_device(void) {
  int devices = 0;
  cudaError_t code = cudaGetDeviceCount(&devices);
  if (code != cudaSuccess || devices == 0)
    return peer_reason("there is no CUDA device: %s", cudaGetErrorString(code ? code : cudaErrorNoDevice));
  GPU_TRY(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
  GPU_TRY(cudaSetDevice(0));
  GPU_TRY(cudaGetDeviceProperties(&gpu_properties, 0));
  for (int s = 0; s < STREAMS; s++) GPU_TRY(cudaStreamCreateWithFlags(&me.streams[s], cudaStreamNonBlocking));
  GPU_TRY(cudaEventCreate(&me.begin));
  GPU_TRY(cudaEventCreate(&me.end));
  return NULL;
}

/* Pinned if the system allows it; copies from memory that is not are slower and as right. */
static bool pin(const peer_array *array) {
  if (array->bytes == 0 || cudaHostRegister(array->host, array->bytes, cudaHostRegisterDefault) == cudaSuccess)
    return true;
  cudaGetLastError();
  return false;
}

static const char *take_arrays(const peer_work *work, bool *pinned) {
  const gpu_work *w = me.work;
  me.result = peer_find(work, w->output);
  *pinned = pin(me.result);
  size_t n = peer_find(work, w->inputs[0])->count;
  if (n == 0 || me.result->count != (w->reduces ? 1 : n)) return "the output has not the input's length";
  for (int k = 0; k < GPU_MAX_INPUTS && w->inputs[k]; k++) {
    me.input[k] = peer_find(work, w->inputs[k]);
    if (me.input[k]->count != n || strcmp(me.input[k]->type, w->type)) return "the inputs differ in length or type";
    *pinned = pin(me.input[k]) && *pinned;
  }
  return NULL;
}

static const char *upload_sets(const peer_work *work) {
  me.set_count = peer_buffer_sets(work, MAX_SETS);
  if (!me.set_count) return peer_reason("buffer_sets is not 1 to %d", MAX_SETS);
  for (uint32_t s = 0; s < me.set_count; s++) {
    gpu_slice *set = &me.sets[s];
    set->n = me.input[0]->count;
    for (int k = 0; k < GPU_MAX_INPUTS && me.input[k]; k++) {
      void *memory;
      GPU_TRY(cudaMalloc(&memory, me.input[k]->bytes));
      GPU_TRY(cudaMemcpy(memory, me.input[k]->host, me.input[k]->bytes, cudaMemcpyHostToDevice));
      set->in[k] = memory;
    }
    GPU_TRY(cudaMalloc(&set->out, me.result->bytes));
  }
  return NULL;
}

static const char *prepare_work(const peer_work *work, peer_identity *identity) {
  bool pinned;
  char how[256] = "";
  const char *fault = take_arrays(work, &pinned);
  if (!fault) fault = upload_sets(work);
  if (!fault) fault = me.work->prepare(work, &me.sets[0], how);
  if (fault) return fault;
  GPU_TRY(enqueue_next()); /* loads what is loaded at first use, which a recording forbids */
  GPU_TRY(cudaStreamSynchronize(me.streams[0]));
  me.graphs = peer_value_or(work, "graph", 1) != 0;
  snprintf(me.how, sizeof me.how, "%s; %s; host memory %s", how,
           me.graphs ? "device series as a replayed graph" : "device series as plain launches",
           pinned ? "pinned" : "not pinned");
  identity->how = me.how;
  for (int k = 0; k < GPU_MAX_INPUTS && me.input[k]; k++) identity->bytes += me.input[k]->bytes;
  if (!me.work->reduces) identity->bytes += me.result->bytes;
  return NULL;
}

static const char *choose(const peer_work *work) {
  const gpu_peer *peer = me.peer;
  for (size_t i = 0; i < peer->probe_count; i++)
    if (!strcmp(peer->probes[i].id, work->id)) me.probe = &peer->probes[i];
  for (size_t i = 0; !me.probe && i < peer->work_count; i++)
    if (!strcmp(peer->works[i].id, work->id) &&
        !strcmp(peer->works[i].type, peer_find(work, peer->works[i].output)->type))
      me.work = &peer->works[i];
  return me.probe || me.work ? NULL : peer_reason("%s has no \"%s\" of this type", PEER_NAME, work->id);
}

static const char *prepare(const peer_work *work, peer_identity *identity) {
  static char version[256];
  int runtime = 0, driver = 0;
  const char *fault = choose(work);
  if (!fault) fault = open_device();
  if (fault) return fault;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  snprintf(version, sizeof version, "%s, CUDA %d.%d, driver for CUDA %d.%d", me.peer->library, runtime / 1000,
           runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
  identity->name = PEER_NAME;
  identity->version = version;
  identity->build = PEER_BUILD;
  identity->flags = PEER_FLAGS;
  identity->device = gpu_properties.name;
  identity->kind = "gpu";
  if (!me.probe) return prepare_work(work, identity);
  identity->how = me.probe->how;
  return me.probe->prepare ? me.probe->prepare(work->n, &identity->bytes, &identity->parts) : NULL;
}

int gpu_main(const gpu_peer *peer) {
  me.peer = peer;
  peer_program program = {prepare, sample, output, poison};
  return peer_main(&program);
}
