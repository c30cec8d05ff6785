/* Steps go to a stream, one by one or as a graph. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

/* A graph is made for as many steps; fewer are given faster one by one. */
enum { GRAPH_STEPS = 3 };

/* ---- One step -------------------------------------------------------------------------------- */

static CUresult launch(const cuda_api *api, const cuda_step *s, CUstream stream) {
  const uint32_t *g = s->u.launch.grid, *b = s->u.launch.block;
  void **params = (void **)(uintptr_t)s->u.launch.params;
  if (s->u.launch.is_cooperative)
    return api->cuLaunchCooperativeKernel(s->u.launch.function, g[0], g[1], g[2], b[0], b[1], b[2], s->u.launch.shared,
                                          stream, params);
  return api->cuLaunchKernel(s->u.launch.function, g[0], g[1], g[2], b[0], b[1], b[2], s->u.launch.shared, stream,
                             params, NULL);
}

static CUresult give(const cuda_api *api, const cuda_step *s, CUstream stream) {
  switch (s->kind) {
    case CUDA_STEP_LAUNCH: return launch(api, s, stream);
    case CUDA_STEP_ZERO: return api->cuMemsetD8Async(s->u.fill.to, 0, s->u.fill.count, stream);
    case CUDA_STEP_FILL: return api->cuMemsetD32Async(s->u.fill.to, s->u.fill.pattern, s->u.fill.count, stream);
    case CUDA_STEP_COPY: break;
  }
  if (s->u.copy.to_context == NULL) return api->cuMemcpyAsync(s->u.copy.to, s->u.copy.from, s->u.copy.bytes, stream);
  return api->cuMemcpyPeerAsync(s->u.copy.to, s->u.copy.to_context, s->u.copy.from, s->u.copy.from_context,
                                s->u.copy.bytes, stream);
}

static CUresult give_all(const vyre_plugin_batch *b, CUstream stream, bool *begun) {
  const cuda_api *api = &b->device->plugin->api;
  CUresult code = CUDA_SUCCESS;
  for (uint64_t i = 0; i < b->step_count && code == CUDA_SUCCESS; i++) {
    code = give(api, &b->steps[i], stream);
    *begun |= code == CUDA_SUCCESS;
  }
  return code;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static CUresult record(const vyre_plugin_batch *b, CUgraph *graph) {
  const cuda_api *api = &b->device->plugin->api;
  CUstream stream = b->device->capture;
  bool begun = false;
  *graph = NULL;
  CUresult code = api->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  if (code != CUDA_SUCCESS) return code;
  code = give_all(b, stream, &begun);
  CUresult end = api->cuStreamEndCapture(stream, graph); /* in any case, or the stream stays as it is */
  return code != CUDA_SUCCESS ? code : end;
}

/* What the driver can't make a graph of runs step by step. */
static void make_graph(vyre_plugin_batch *b) {
  const cuda_api *api = &b->device->plugin->api;
  CUgraph graph;
  CUresult code = record(b, &graph);
  if (code == CUDA_SUCCESS) code = api->cuGraphInstantiate(&b->graph, graph, 0);
  if (graph != NULL) api->cuGraphDestroy(graph);
  if (code == CUDA_SUCCESS) return;
  char words[CUDA_WORDS];
  b->graph = NULL;
  b->has_no_graph = true;
  gpu_log(b->device->plugin->host, VYRE_LOG_DEBUG, "batch", "no graph is made of %llu steps: %s",
          (unsigned long long)b->step_count, cuda_words(api, code, words));
}

/* A batch that runs once is not worth a graph. */
static bool wants_graph(vyre_plugin_batch *b) {
  if (b->step_count < GRAPH_STEPS || b->is_late || b->is_persistent || b->has_no_graph) return false;
  if (b->graph == NULL && b->has_run) make_graph(b);
  return b->graph != NULL;
}

/* ---- Late values ----------------------------------------------------------------------------- */

static vyre_status bad_late(const vyre_plugin_batch *b, uint32_t command, vyre_error *error) {
  const char *name = command < b->count && b->commands[command].kind == VYRE_COMMAND_DISPATCH
                       ? b->commands[command].u.dispatch.executable->name
                       : gpu_name;
  return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, name,
                  "a late value is for command %u, which is no dispatch, or an offset leads out of its buffer. Fix: "
                  "give multiples of 16 inside of buffers, by ascending command",
                  command);
}

/* Where the binding of a slot begins in this run; false if that is not in its buffer. */
static bool late_address(const vyre_plugin_set *set, const vyre_late *late, uint32_t slot, CUdeviceptr *out) {
  const vyre_bind *bind = &set->binds[slot];
  uint64_t offset = late->offsets[slot];
  if (offset % 16 != 0 || !cuda_in_buffer(bind->buffer, offset, bind->bytes)) return false;
  *out = cuda_address(bind->buffer, offset);
  return true;
}

static bool put_late(vyre_plugin_batch *b, const cuda_arguments *a, const vyre_late *late, uint8_t *image) {
  const vyre_kernel_header *k = a->set->executable->blob.kernel;
  bool in_image = image != NULL && a->block >= b->image && a->block < b->image + b->image_bytes;
  uint8_t *block = in_image ? image + (a->block - b->image) : a->block;
  if (late->params != NULL && k->param_bytes > 0) memcpy(block, late->params, k->param_bytes);
  for (uint32_t slot = 0; late->offsets != NULL && slot < k->bindings.count; slot++)
    if ((a->set->binds[slot].flags & VYRE_BIND_LATE) != 0 && !late_address(a->set, late, slot, &a->pointers[slot]))
      return false;
  return true;
}

static bool put_late_zeros(vyre_plugin_batch *b, const vyre_late *late) {
  const vyre_plugin_set *set = b->commands[late->command].u.dispatch.set;
  for (uint64_t i = 0; late->offsets != NULL && i < b->step_count; i++) {
    cuda_step *s = &b->steps[i];
    if (s->command != late->command || s->kind != CUDA_STEP_ZERO) continue;
    if ((set->binds[s->slot].flags & VYRE_BIND_LATE) != 0 &&
        !late_address(set, late, (uint32_t)s->slot, &s->u.fill.to))
      return false;
  }
  return true;
}

/* The driver copies arguments as it is called, so those of the last run may be written over. */
static vyre_status put_all_late(vyre_plugin_batch *b, const vyre_late *late, uint32_t count, uint8_t *image,
                                vyre_error *error) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t command = late[i].command;
    if (command >= b->count || b->commands[command].kind != VYRE_COMMAND_DISPATCH)
      return bad_late(b, command, error);
    while (at < b->argument_count && b->arguments[at].command < command) at++;
    for (; at < b->argument_count && b->arguments[at].command == command; at++)
      if (!put_late(b, &b->arguments[at], &late[i], image)) return bad_late(b, command, error);
    if (!put_late_zeros(b, &late[i])) return bad_late(b, command, error);
  }
  return VYRE_OK;
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* Of the image in the pinned memory of a run, which only late values need. */
static uint64_t own_image_bytes(const vyre_plugin_batch *b) {
  return b->is_late ? (b->image_bytes + 15) & ~(uint64_t)15 : 0;
}

uint64_t cuda_run_bytes(const vyre_plugin_batch *b) { return own_image_bytes(b) + b->report_bytes + 16; }

/* Both parts in one allocation; NULL and *code where there is none. */
static cuda_pinned *take_pinned(vyre_plugin_batch *b, CUresult *code) {
  cuda_pinned *p = b->unused;
  *code = CUDA_SUCCESS;
  if (p != NULL) {
    b->unused = p->next;
    return p;
  }
  p = malloc(sizeof *p);
  *code = p != NULL ? cuda_pinned_new(b->device, cuda_run_bytes(b), &p->image) : CUDA_ERROR_OUT_OF_MEMORY;
  if (*code != CUDA_SUCCESS) {
    free(p);
    return NULL;
  }
  p->report = p->image + own_image_bytes(b);
  return p;
}

static void note_launches(const vyre_plugin_batch *b) {
  for (uint64_t i = 0; i < b->count; i++) {
    if (b->commands[i].kind != VYRE_COMMAND_DISPATCH) continue;
    const vyre_dispatch *d = &b->commands[i].u.dispatch;
    __atomic_fetch_add(&d->executable->launches, 1, __ATOMIC_RELAXED);
    for (int axis = 0; axis < 3; axis++) __atomic_store_n(&d->executable->grid[axis], d->grid[axis], __ATOMIC_RELAXED);
  }
}

/* The image in front, the report behind. */
static CUresult give_run(vyre_plugin_batch *b, CUstream stream, const cuda_pinned *pinned, bool *begun) {
  const cuda_api *api = &b->device->plugin->api;
  CUresult code = CUDA_SUCCESS;
  if (b->image_bytes > 0) {
    const uint8_t *image = b->is_late ? pinned->image : b->image;
    code = api->cuMemcpyAsync(b->memory, (uintptr_t)image, b->image_bytes, stream);
    *begun |= code == CUDA_SUCCESS;
  }
  if (code == CUDA_SUCCESS && wants_graph(b)) {
    code = api->cuGraphLaunch(b->graph, stream);
    *begun |= code == CUDA_SUCCESS;
  } else if (code == CUDA_SUCCESS) {
    code = give_all(b, stream, begun);
  }
  if (code == CUDA_SUCCESS && b->report_bytes > 0)
    code = api->cuMemcpyAsync((uintptr_t)pinned->report, b->memory + b->report, b->report_bytes, stream);
  return code;
}

vyre_status cuda_batch_run(vyre_plugin_batch *b, CUstream stream, const vyre_late *late, uint32_t late_count,
                           cuda_pinned **out, bool *begun, vyre_error *error) {
  CUresult code = CUDA_SUCCESS;
  cuda_pinned *pinned = NULL;
  *begun = false;
  *out = NULL;
  if (b->report_bytes > 0 || (b->is_late && b->image_bytes > 0)) {
    pinned = take_pinned(b, &code);
    if (pinned == NULL) return cuda_answer(b->device, code, "allocating pinned memory of the host", error);
    if (b->is_late && b->image_bytes > 0) memcpy(pinned->image, b->image, b->image_bytes);
  }
  vyre_status status = late_count > 0 ? put_all_late(b, late, late_count, pinned != NULL ? pinned->image : NULL, error)
                                      : VYRE_OK;
  if (status == VYRE_OK)
    status = cuda_answer(b->device, give_run(b, stream, pinned, begun), "giving a batch to the device", error);
  if (status == VYRE_OK || (*begun && status != VYRE_ERR_DEVICE_LOST)) {
    *out = pinned;
    b->has_run = true;
    note_launches(b);
  } else if (pinned != NULL) {
    pinned->next = b->unused;
    b->unused = pinned;
  }
  return status;
}
