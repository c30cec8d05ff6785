/* Work of the fake driver. A stream is a thread that does one operation after the other; a stream that is captured
 * collects them for a graph instead. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda.h"

typedef enum op_kind {
  OP_COPY,
  OP_FILL,
  OP_LAUNCH,
  OP_HOST,
  OP_RECORD,
  OP_WAIT_EVENT,
  OP_WRITE,
  OP_WAIT_VALUE
} op_kind;

typedef struct op {
  op_kind kind;
  CUcontext context;
  uint64_t epoch;            /* of the context, when it was put */
  uint64_t to, from, bytes;  /* COPY; FILL: |bytes| elements of |width| */
  uint64_t value;
  unsigned width, flags;
  CUevent event;             /* counted */
  uint64_t turn;             /* of the event's records */
  void (*fn)(void *);
  void *data;
  char name[CUDA_NAME_BYTES]; /* LAUNCH */
  fake_launch launch;
  uint8_t params[CUDA_PARAM_BYTES];
} op;

struct CUevent_st {
  unsigned refs, flags;
  uint64_t recorded, done, ns; /* under the lock */
};

struct CUgraph_st {
  op **ops;
  uint32_t count;
};

struct CUgraphExec_st {
  op **ops;
  uint32_t count;
};

struct CUstream_st {
  CUcontext context;
  fake_worker *worker;
  CUgraph capture; /* NULL unless it is captured */
  bool is_invalid; /* something was done that a capture does not allow */
};

static CUstream real_stream(CUstream stream) {
  return (uintptr_t)stream <= 2 ? cuda_current()->stream : stream; /* NULL, and the two names of the default stream */
}

/* ---- Events ---------------------------------------------------------------------------------- */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void release_event(CUevent event) {
  pthread_mutex_lock(&cuda_lock);
  bool is_last = --event->refs == 0;
  pthread_mutex_unlock(&cuda_lock);
  if (is_last) free(event);
}

static void reach(CUevent event, uint64_t turn) {
  pthread_mutex_lock(&cuda_lock);
  if (event->done < turn) event->done = turn;
  event->ns = now_ns();
  pthread_cond_broadcast(&cuda_moved);
  pthread_mutex_unlock(&cuda_lock);
}

/* Until the event was reached, or the device is lost or was reset. */
static CUresult await_event(CUevent event, uint64_t turn, CUcontext context, uint64_t epoch) {
  pthread_mutex_lock(&cuda_lock);
  while (event->done < turn && context->sticky == CUDA_SUCCESS && context->epoch == epoch)
    pthread_cond_wait(&cuda_moved, &cuda_lock);
  CUresult code = context->sticky;
  pthread_mutex_unlock(&cuda_lock);
  return code;
}

CUresult do_cuEventCreate(CUevent *out, unsigned flags) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (*out)->refs = 1;
  (*out)->flags = flags;
  fake_born("event");
  return CUDA_SUCCESS;
}

CUresult do_cuEventDestroy(CUevent event) {
  if (event == NULL) return CUDA_ERROR_INVALID_HANDLE;
  fake_died("event");
  release_event(event);
  return CUDA_SUCCESS;
}

CUresult do_cuEventQuery(CUevent event) {
  pthread_mutex_lock(&cuda_lock);
  bool is_done = event->done >= event->recorded;
  pthread_mutex_unlock(&cuda_lock);
  return is_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult do_cuEventSynchronize(CUevent event) {
  pthread_mutex_lock(&cuda_lock);
  uint64_t turn = event->recorded;
  pthread_mutex_unlock(&cuda_lock);
  return await_event(event, turn, cuda_current(), cuda_epoch(cuda_current()));
}

CUresult do_cuEventElapsedTime(float *ms, CUevent begin, CUevent end) {
  if ((begin->flags | end->flags) & EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
  if (begin->recorded == 0 || end->recorded == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (do_cuEventQuery(begin) != CUDA_SUCCESS || do_cuEventQuery(end) != CUDA_SUCCESS) return CUDA_ERROR_NOT_READY;
  *ms = (float)(end->ns - begin->ns) / 1e6f;
  return CUDA_SUCCESS;
}

/* ---- Doing ----------------------------------------------------------------------------------- */

static void fill(const op *o) {
  for (uint64_t i = 0; i < o->bytes; i++) memcpy((void *)(uintptr_t)(o->to + i * o->width), &o->value, o->width);
}

static void launch(const op *o) {
  int64_t code;
  if (fake_loses(CUDA_ERROR_LAUNCH_FAILED, &code)) {
    cuda_lose(o->context, (CUresult)code);
    return;
  }
  fake_kernel_fn fn = fake_find_kernel(o->name);
  if (fn == NULL) return;
  fake_launch l = o->launch;
  for (uint32_t i = 0; i < l.argument_count; i++) {
    uint64_t word = 0;
    l.arguments[i] = o->params + (uintptr_t)o->launch.arguments[i]; /* kept as an offset */
    if (l.sizes[i] != 8) continue;
    memcpy(&word, l.arguments[i], sizeof word);
    uint64_t bytes = cuda_bytes_at(word);
    if (bytes == 0) continue; /* a number, and no address */
    l.arguments[i] = (const void *)(uintptr_t)word;
    l.sizes[i] = bytes;
  }
  cuda_kernel_begins(o->context);
  fn(&l);
  cuda_kernel_ends(o->context);
}

static bool is_reached(const op *o) {
  uint64_t is = o->width == 8 ? __atomic_load_n((const uint64_t *)(uintptr_t)o->to, __ATOMIC_ACQUIRE)
                              : __atomic_load_n((const uint32_t *)(uintptr_t)o->to, __ATOMIC_ACQUIRE);
  switch (o->flags & 3) {
  case WAIT_VALUE_GEQ: return (o->width == 8 ? (int64_t)(is - o->value) : (int32_t)(is - o->value)) >= 0;
  case WAIT_VALUE_EQ: return is == o->value;
  case WAIT_VALUE_AND: return (is & o->value) != 0;
  default: return (~(is | o->value) & (o->width == 8 ? UINT64_MAX : UINT32_MAX)) != 0;
  }
}

/* Whether the device is as it was when the work was put. */
static bool is_alive(const op *o) {
  return cuda_sticky(o->context) == CUDA_SUCCESS && cuda_epoch(o->context) == o->epoch;
}

/* The host writes the word without telling anyone. */
static void await_value(const op *o) {
  while (is_alive(o) && !is_reached(o))
    nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
}

static void do_op(const op *o) {
  if (o->kind == OP_HOST && o->fn != NULL) o->fn(o->data); /* runs whatever happened before */
  if (!is_alive(o)) return;
  switch (o->kind) {
  case OP_COPY: memmove((void *)(uintptr_t)o->to, (const void *)(uintptr_t)o->from, o->bytes); break;
  case OP_FILL: fill(o); break;
  case OP_LAUNCH: launch(o); break;
  case OP_RECORD: reach(o->event, o->turn); break;
  case OP_WAIT_EVENT: await_event(o->event, o->turn, o->context, o->epoch); break;
  case OP_WRITE:
    if (o->width == 8) __atomic_store_n((uint64_t *)(uintptr_t)o->to, o->value, __ATOMIC_RELEASE);
    else __atomic_store_n((uint32_t *)(uintptr_t)o->to, (uint32_t)o->value, __ATOMIC_RELEASE);
    break;
  case OP_WAIT_VALUE: await_value(o); break;
  case OP_HOST: break;
  }
}

static void free_op(op *o) {
  if (o->event != NULL) release_event(o->event);
  free(o);
}

static void run_op(void *ctx) {
  do_op(ctx);
  free_op(ctx);
}

static op *copy_op(const op *o) {
  op *copy = malloc(sizeof *copy);
  if (copy == NULL) return NULL;
  *copy = *o;
  if (copy->event == NULL) return copy;
  pthread_mutex_lock(&cuda_lock);
  copy->event->refs++;
  pthread_mutex_unlock(&cuda_lock);
  return copy;
}

static CUresult add_to_graph(CUgraph graph, op *o) {
  op **grown = realloc(graph->ops, (graph->count + 1u) * sizeof *grown);
  if (grown == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  graph->ops = grown;
  graph->ops[graph->count++] = o;
  return CUDA_SUCCESS;
}

/* A copy of |o| goes to the stream, or into the graph that it is captured for. */
static CUresult put(CUstream stream, const op *o) {
  stream = real_stream(stream);
  op *own = copy_op(o);
  if (own == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  own->context = stream->context;
  own->epoch = cuda_epoch(stream->context);
  CUresult code = stream->capture != NULL                      ? add_to_graph(stream->capture, own)
                  : fake_worker_put(stream->worker, run_op, own) ? CUDA_SUCCESS
                                                               : CUDA_ERROR_OUT_OF_MEMORY;
  if (code != CUDA_SUCCESS) free_op(own);
  return code;
}

/* ---- Streams --------------------------------------------------------------------------------- */

CUstream cuda_stream_new(CUcontext context) {
  CUstream stream = calloc(1, sizeof *stream);
  if (stream == NULL) return NULL;
  stream->context = context;
  stream->worker = fake_worker_new();
  if (stream->worker == NULL) {
    free(stream);
    return NULL;
  }
  fake_born("stream");
  return stream;
}

void cuda_stream_wait(CUstream stream) { fake_worker_wait(real_stream(stream)->worker); }

CUresult do_cuStreamCreate(CUstream *out, unsigned flags) {
  *out = NULL;
  if (flags > STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  *out = cuda_stream_new(cuda_current());
  return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult do_cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) {
  (void)priority;
  return do_cuStreamCreate(out, flags);
}

CUresult do_cuStreamDestroy(CUstream stream) {
  if (stream == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture != NULL) do_cuGraphDestroy(stream->capture);
  fake_worker_end(stream->worker); /* what it still has is done */
  free(stream);
  fake_died("stream");
  return CUDA_SUCCESS;
}

/* A captured stream can be waited for by nobody. */
static CUresult check_capture(CUstream stream) {
  if (stream->capture == NULL) return CUDA_SUCCESS;
  stream->is_invalid = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult do_cuStreamSynchronize(CUstream stream) {
  stream = real_stream(stream);
  CUresult code = check_capture(stream);
  if (code != CUDA_SUCCESS) return code;
  fake_worker_wait(stream->worker);
  return cuda_sticky(stream->context);
}

CUresult do_cuStreamQuery(CUstream stream) {
  stream = real_stream(stream);
  CUresult code = check_capture(stream);
  if (code != CUDA_SUCCESS) return code;
  if (!fake_worker_is_idle(stream->worker)) return CUDA_ERROR_NOT_READY;
  return cuda_sticky(stream->context);
}

/* Of the default stream alone: the fake keeps no list of the others. */
CUresult do_cuCtxSynchronize(void) { return do_cuStreamSynchronize(NULL); }

CUresult do_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  (void)flags;
  pthread_mutex_lock(&cuda_lock);
  uint64_t turn = event->recorded;
  pthread_mutex_unlock(&cuda_lock);
  return put(stream, &(op){ .kind = OP_WAIT_EVENT, .event = event, .turn = turn });
}

CUresult do_cuEventRecord(CUevent event, CUstream stream) {
  pthread_mutex_lock(&cuda_lock);
  uint64_t turn = ++event->recorded;
  pthread_mutex_unlock(&cuda_lock);
  return put(stream, &(op){ .kind = OP_RECORD, .event = event, .turn = turn });
}

static CUresult put_value(op_kind kind, CUstream stream, CUdeviceptr at, uint64_t value, unsigned width,
                          unsigned flags) {
  if (at % width != 0 || cuda_bytes_at(at) < width) return CUDA_ERROR_INVALID_VALUE;
  if (width == 8 && !cuda_attribute(122)) return CUDA_ERROR_NOT_SUPPORTED;
  return put(stream, &(op){ .kind = kind, .to = at, .value = value, .width = width, .flags = flags });
}

CUresult do_cuStreamWaitValue32(CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags) {
  return put_value(OP_WAIT_VALUE, stream, at, value, 4, flags);
}

CUresult do_cuStreamWaitValue64(CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags) {
  return put_value(OP_WAIT_VALUE, stream, at, value, 8, flags);
}

CUresult do_cuStreamWriteValue32(CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags) {
  return put_value(OP_WRITE, stream, at, value, 4, flags);
}

CUresult do_cuStreamWriteValue64(CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags) {
  return put_value(OP_WRITE, stream, at, value, 8, flags);
}

CUresult do_cuLaunchHostFunc(CUstream stream, void (*fn)(void *), void *data) {
  return put(stream, &(op){ .kind = OP_HOST, .fn = fn, .data = data });
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static CUresult put_copy(uint64_t to, uint64_t from, uint64_t bytes, bool is_to_device, bool is_from_device,
                         CUstream stream) {
  if (bytes == 0) return CUDA_SUCCESS;
  if ((is_to_device && cuda_bytes_at(to) < bytes) || (is_from_device && cuda_bytes_at(from) < bytes))
    return CUDA_ERROR_INVALID_VALUE;
  return put(stream, &(op){ .kind = OP_COPY, .to = to, .from = from, .bytes = bytes });
}

CUresult do_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return put_copy(to, from, bytes, false, false, stream);
}

CUresult do_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  return put_copy(to, (uintptr_t)from, bytes, true, false, stream);
}

CUresult do_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return put_copy((uintptr_t)to, from, bytes, false, true, stream);
}

CUresult do_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return put_copy(to, from, bytes, true, true, stream);
}

CUresult do_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                              size_t bytes, CUstream stream) {
  (void)to_context, (void)from_context;
  return put_copy(to, from, bytes, true, true, stream);
}

static CUresult put_fill(CUdeviceptr to, uint64_t value, unsigned width, uint64_t count, CUstream stream) {
  if (count == 0) return CUDA_SUCCESS;
  if (to % width != 0 || cuda_bytes_at(to) / width < count) return CUDA_ERROR_INVALID_VALUE;
  return put(stream, &(op){ .kind = OP_FILL, .to = to, .value = value, .width = width, .bytes = count });
}

CUresult do_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return put_fill(to, value, 1, count, stream);
}

CUresult do_cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return put_fill(to, value, 4, count, stream);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static bool fits(const CUlaunchConfig *c, CUfunction f) {
  uint64_t grid[3] = { c->gridDimX, c->gridDimY, c->gridDimZ }, block[3] = { c->blockDimX, c->blockDimY, c->blockDimZ };
  for (int axis = 0; axis < 3; axis++) {
    if (grid[axis] == 0 || grid[axis] > (uint64_t)cuda_attribute(5 + axis)) return false;
    if (block[axis] == 0 || block[axis] > (uint64_t)cuda_attribute(2 + axis)) return false;
  }
  int shared = f->dynamic_shared > 0 ? f->dynamic_shared : cuda_attribute(8);
  return block[0] * block[1] * block[2] <= (uint64_t)f->max_threads && c->sharedMemBytes <= (unsigned)shared;
}

/* Parameters come one by one, or as one block behind `extra`. */
static bool take_params(op *o, CUfunction f, void **params, void **extra) {
  const void *block = NULL;
  size_t block_bytes = 0;
  for (; extra != NULL && *extra != LAUNCH_PARAM_END; extra += 2) {
    if (*extra == LAUNCH_PARAM_BUFFER_POINTER) block = extra[1];
    else if (*extra == LAUNCH_PARAM_BUFFER_SIZE) block_bytes = *(size_t *)extra[1];
    else return false;
  }
  if (f->param_count > 0 && params == NULL && (block == NULL || block_bytes < f->param_bytes)) return false;
  if (params == NULL && block_bytes > 0) memcpy(o->params, block, f->param_bytes);
  o->launch.argument_count = f->param_count;
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (params != NULL) memcpy(o->params + f->offsets[i], params[i], f->sizes[i]);
    o->launch.arguments[i] = (const void *)(uintptr_t)f->offsets[i];
    o->launch.sizes[i] = f->sizes[i];
  }
  return true;
}

static CUresult launch_on(const CUlaunchConfig *c, bool is_cooperative, CUfunction f, void **params, void **extra) {
  op o = { .kind = OP_LAUNCH };
  if (f == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (!fits(c, f) || !take_params(&o, f, params, extra)) return CUDA_ERROR_INVALID_VALUE;
  uint64_t blocks = (uint64_t)c->gridDimX * c->gridDimY * c->gridDimZ;
  int threads = (int)(c->blockDimX * c->blockDimY * c->blockDimZ);
  uint64_t room = (uint64_t)cuda_occupancy(f, threads, c->sharedMemBytes) * (uint64_t)cuda_attribute(16);
  if (is_cooperative && !cuda_attribute(95)) return CUDA_ERROR_NOT_SUPPORTED;
  if (is_cooperative && blocks > room) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  memcpy(o.name, f->name, sizeof o.name);
  memcpy(o.launch.grid, (const uint32_t[]){ c->gridDimX, c->gridDimY, c->gridDimZ }, sizeof o.launch.grid);
  memcpy(o.launch.block, (const uint32_t[]){ c->blockDimX, c->blockDimY, c->blockDimZ }, sizeof o.launch.block);
  o.launch.shared_bytes = c->sharedMemBytes;
  return put(c->hStream, &o);
}

CUresult do_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                           unsigned shared, CUstream stream, void **params, void **extra) {
  CUlaunchConfig c = { gx, gy, gz, bx, by, bz, shared, stream, NULL, 0 };
  return launch_on(&c, false, f, params, extra);
}

CUresult do_cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                      unsigned bz, unsigned shared, CUstream stream, void **params) {
  CUlaunchConfig c = { gx, gy, gz, bx, by, bz, shared, stream, NULL, 0 };
  return launch_on(&c, true, f, params, NULL);
}

CUresult do_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra) {
  bool is_cooperative = false;
  for (unsigned i = 0; i < c->numAttrs; i++)
    is_cooperative =
        is_cooperative || (c->attrs[i].id == LAUNCH_ATTRIBUTE_COOPERATIVE && c->attrs[i].value.cooperative);
  return launch_on(c, is_cooperative, f, params, extra);
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

CUresult do_cuStreamBeginCapture(CUstream stream, int mode) {
  if (mode < 0 || mode > 2) return CUDA_ERROR_INVALID_VALUE;
  if ((uintptr_t)stream <= 2) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture != NULL) return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = calloc(1, sizeof *stream->capture);
  stream->is_invalid = false;
  if (stream->capture == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  fake_born("graph");
  return CUDA_SUCCESS;
}

CUresult do_cuStreamIsCapturing(CUstream stream, int *status) {
  stream = real_stream(stream);
  *status = stream->capture == NULL ? 0 : stream->is_invalid ? 2 : 1;
  return CUDA_SUCCESS;
}

CUresult do_cuStreamEndCapture(CUstream stream, CUgraph *out) {
  *out = NULL;
  stream = real_stream(stream);
  CUgraph graph = stream->capture;
  if (graph == NULL) return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = NULL;
  if (stream->is_invalid) {
    do_cuGraphDestroy(graph);
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  *out = graph;
  return CUDA_SUCCESS;
}

CUresult do_cuGraphDestroy(CUgraph graph) {
  if (graph == NULL) return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < graph->count; i++) free_op(graph->ops[i]);
  free(graph->ops);
  free(graph);
  fake_died("graph");
  return CUDA_SUCCESS;
}

CUresult do_cuGraphInstantiate(CUgraphExec *out, CUgraph graph, uint64_t flags) {
  (void)flags;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (*out)->ops = calloc(graph->count + 1u, sizeof *(*out)->ops);
  for (uint32_t i = 0; i < graph->count && (*out)->ops != NULL; i++) {
    (*out)->ops[i] = copy_op(graph->ops[i]);
    if ((*out)->ops[i] != NULL) (*out)->count++;
  }
  fake_born("graph exec");
  if ((*out)->count == graph->count && (*out)->ops != NULL) return CUDA_SUCCESS;
  do_cuGraphExecDestroy(*out);
  *out = NULL;
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult do_cuGraphExecDestroy(CUgraphExec exec) {
  for (uint32_t i = 0; i < exec->count; i++) free_op(exec->ops[i]);
  free(exec->ops);
  free(exec);
  fake_died("graph exec");
  return CUDA_SUCCESS;
}

CUresult do_cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  for (uint32_t i = 0; i < exec->count; i++) {
    CUresult code = put(stream, exec->ops[i]);
    if (code != CUDA_SUCCESS) return code;
  }
  return CUDA_SUCCESS;
}
