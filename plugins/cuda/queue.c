/* Queues: each is a stream, and a list of what waits at the host for a point that nobody has promised yet. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Making and ending ----------------------------------------------------------------------- */

/* Streams of another priority share no channel of the hardware with those of the usual one, which a persistent launch
 * would block. */
static CUresult make_stream(vyre_plugin_queue *q) {
  enum { HIGH_PRIORITY = -1 };
  const cuda_api *api = &q->device->plugin->api;
  pthread_mutex_lock(&q->device->lock);
  bool has_spare = !q->is_persistent && q->device->spare_stream_count > 0;
  if (has_spare) q->stream = q->device->spare_streams[--q->device->spare_stream_count];
  pthread_mutex_unlock(&q->device->lock);
  if (has_spare) return CUDA_SUCCESS;
  if (q->is_persistent) return api->cuStreamCreateWithPriority(&q->stream, CU_STREAM_NON_BLOCKING, HIGH_PRIORITY);
  return api->cuStreamCreate(&q->stream, CU_STREAM_NON_BLOCKING);
}

/* Under the lock: counts it in; false if there are too many. */
static bool list(vyre_plugin_queue *q) {
  vyre_plugin_device *device = q->device;
  if (device->queue_count >= CUDA_MAX_QUEUES) return false;
  if (q->is_persistent && device->persistent_count >= device->facts->record.max_persistent) return false;
  device->queue_count++;
  device->persistent_count += q->is_persistent;
  q->next = device->queues;
  device->queues = q;
  return true;
}

static void unlist(vyre_plugin_queue *q) {
  vyre_plugin_device *device = q->device;
  vyre_plugin_queue **link = &device->queues;
  while (*link != q) link = &(*link)->next;
  *link = q->next;
  device->queue_count--;
  device->persistent_count -= q->is_persistent;
}

static vyre_status make_queue(vyre_plugin_queue *q, vyre_error *error) {
  vyre_plugin_device *device = q->device;
  pthread_mutex_lock(&device->lock);
  bool fits = list(q);
  pthread_mutex_unlock(&device->lock);
  if (!fits)
    return gpu_fail(error, VYRE_ERR_LIMIT, gpu_name,
                    "A device has at most %u queues, %u of them persistent. Fix: destroy one that is not used.",
                    CUDA_MAX_QUEUES, device->facts->record.max_persistent);
  CUresult code = make_stream(q);
  if (code == CUDA_SUCCESS) return VYRE_OK;
  pthread_mutex_lock(&device->lock);
  unlist(q);
  pthread_mutex_unlock(&device->lock);
  return cuda_answer(device, code, "making a stream", error);
}

/* What batches may need beside a persistent launch can't be loaded then. Beside one it is as it is. */
static vyre_status load_before(vyre_plugin_device *device, vyre_error *error) {
  CUfunction function;
  vyre_status status = cuda_begin_kernel(device, &function, error);
  return status == VYRE_ERR_BUSY ? VYRE_OK : status;
}

vyre_status cuda_queue_create(vyre_plugin_device *device, uint32_t flags, vyre_plugin_queue **out, vyre_error *error) {
  cuda_scope scope;
  *out = NULL;
  vyre_status status = cuda_enter(device, &scope, error);
  if (status != VYRE_OK) return status;
  status = gpu_check_flags("a queue", flags, VYRE_QUEUE_PERSISTENT, error);
  if (status == VYRE_OK && flags == VYRE_QUEUE_PERSISTENT) status = load_before(device, error);
  vyre_plugin_queue *q = status == VYRE_OK ? calloc(1, sizeof *q) : NULL;
  if (q != NULL) {
    q->device = device;
    q->is_persistent = (flags & VYRE_QUEUE_PERSISTENT) != 0;
    status = make_queue(q, error);
  } else if (status == VYRE_OK) {
    status = gpu_no_memory(error);
  }
  cuda_leave(&scope);
  if (status == VYRE_OK) *out = q;
  else free(q);
  return status;
}

/* Under the lock. The stream has nothing left to do. */
static bool keep_stream(const vyre_plugin_queue *q) {
  vyre_plugin_device *device = q->device;
  if (q->is_persistent || device->lost != CUDA_SUCCESS || device->spare_stream_count == CUDA_SPARE_STREAMS) return false;
  device->spare_streams[device->spare_stream_count++] = q->stream;
  return true;
}

/* What was not started when its queue is destroyed. */
static void abandon(vyre_plugin_queue *q) {
  while (q->deferred != NULL) {
    cuda_submission *s = q->deferred;
    q->deferred = s->next;
    q->device->deferred--;
    cuda_finish(s, VYRE_ERR_CLOSED, 0, "The queue was closed before this began.");
  }
  q->last_deferred = NULL;
}

static void free_submissions(vyre_plugin_queue *q) {
  while (q->unused != NULL) {
    cuda_submission *s = q->unused;
    q->unused = s->next;
    free(s);
  }
}

void cuda_queue_destroy(vyre_plugin_queue *q) {
  vyre_plugin_device *device = q->device;
  const cuda_api *api = &device->plugin->api;
  cuda_scope scope;
  if (cuda_enter_to_destroy(device, &scope)) {
    pthread_mutex_lock(&device->lock);
    cuda_mark(q);
    pthread_mutex_unlock(&device->lock);
    if (q->first != NULL && device->lost == CUDA_SUCCESS) api->cuStreamSynchronize(q->stream);
    pthread_mutex_lock(&device->lock);
    if (q->first != NULL) cuda_progress(device);
    abandon(q);
    unlist(q);
    cuda_keep_event(device, q->mark);
    bool is_kept = keep_stream(q);
    pthread_mutex_unlock(&device->lock);
    if (!is_kept) api->cuStreamDestroy(q->stream);
    cuda_sweep(device);
    cuda_leave(&scope);
  }
  free_submissions(q);
  free(q);
}

/* ---- Submissions; all of this with the lock -------------------------------------------------- */

/* Back among those that are not in use; nothing of it was given to anyone. */
static void give_up(cuda_submission *s) {
  vyre_plugin_queue *q = s->queue;
  cuda_keep_event(q->device, s->begin);
  cuda_keep_event(q->device, s->end);
  for (uint32_t i = 0; s->late != NULL && i < s->late_count; i++) {
    free((void *)(uintptr_t)s->late[i].params);
    free((void *)(uintptr_t)s->late[i].offsets);
  }
  free(s->late);
  free(s->waits);
  if (s->signals != s->few) free(s->signals);
  s->next = q->unused;
  q->unused = s;
}

/* NULL without memory. */
static cuda_submission *take_submission(vyre_plugin_queue *q, const vyre_submit *from) {
  cuda_submission *s = q->unused;
  if (s != NULL) q->unused = s->next;
  else s = malloc(sizeof *s);
  if (s == NULL) return NULL;
  memset(s, 0, offsetof(cuda_submission, few));
  s->queue = q;
  s->batch = from->batch;
  s->completion = from->completion;
  s->timestamps = from->timestamps;
  s->timestamp_count = from->timestamps != NULL ? from->timestamp_count : 0;
  s->prints = from->prints;
  s->print_words = from->prints != NULL ? from->print_words : 0;
  s->signal_count = from->signal_count;
  s->signals = s->few;
  if (from->signal_count > CUDA_FEW_SIGNALS) s->signals = calloc(from->signal_count, sizeof *s->signals);
  if (s->signals == NULL) {
    s->next = q->unused;
    q->unused = s;
    return NULL;
  }
  for (uint32_t i = 0; i < from->signal_count; i++)
    s->signals[i] = (cuda_signal){ .submission = s, .timeline = from->signals[i].timeline,
                                   .value = from->signals[i].value };
  return s;
}

/* Whether each point is reached, or will be by what is on a stream. */
static bool is_promised(const vyre_point *waits, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (waits[i].timeline->value < waits[i].value && cuda_timeline_find(waits[i].timeline, waits[i].value) == NULL)
      return false;
  return true;
}

static CUresult wait_for(vyre_plugin_queue *q, const cuda_submission *other) {
  if (other == NULL || other->queue == q) return CUDA_SUCCESS;
  if (other->is_open) cuda_mark(other->queue);
  while (other->is_open && other->next != NULL) other = other->next;
  if (other->end == NULL) return CUDA_SUCCESS; /* it has ended */
  return q->device->plugin->api.cuStreamWaitEvent(q->stream, other->end, 0);
}

/* Whether the end of a later one will do for it. An event costs a third of a launch; where launches are so short that
 * giving them takes longer than running them, those that follow each other share one, unless somebody waits: then each
 * is seen to end a few microseconds late at most. */
static bool is_light(const cuda_submission *s, uint32_t wait_count) {
  enum { MOST_OPEN = 16, MOST_OPEN_NS = 30000 };
  const vyre_plugin_batch *b = s->batch;
  return b->step_count == 1 && b->memory == 0 && wait_count == 0 && !b->is_persistent && b->ns != 0 &&
         s->queue->open + 1 < MOST_OPEN && (s->queue->open + 1) * b->ns < MOST_OPEN_NS;
}

/* What comes before its first command: points, another run that has the batch's memory, the begin of its time. */
static CUresult give_front(cuda_submission *s, const vyre_point *waits, uint32_t count) {
  vyre_plugin_queue *q = s->queue;
  s->is_open = is_light(s, count);
  CUresult code = s->is_open ? CUDA_SUCCESS : cuda_take_event(q->device, &s->end);
  for (uint32_t i = 0; i < count && code == CUDA_SUCCESS; i++)
    if (waits[i].timeline->value < waits[i].value)
      code = wait_for(q, cuda_timeline_find(waits[i].timeline, waits[i].value));
  if (code == CUDA_SUCCESS && s->batch->memory != 0) code = wait_for(q, s->batch->running);
  if (code != CUDA_SUCCESS || q->first != NULL) return code;
  code = cuda_take_event(q->device, &s->begin);
  return code == CUDA_SUCCESS ? q->device->plugin->api.cuEventRecord(s->begin, q->stream) : code;
}

/* Gives all of it. |*begun| says whether the stream has got some of it, when it fails. A device that is lost meanwhile
 * has ended what it had; then |s| is not touched any more unless it is in no list. */
static vyre_status give(cuda_submission *s, const vyre_point *waits, uint32_t wait_count, const vyre_late *late,
                        uint32_t late_count, bool *begun, vyre_error *error) {
  vyre_plugin_queue *q = s->queue;
  vyre_plugin_batch *b = s->batch;
  cuda_pinned *pinned = NULL;
  *begun = false;
  vyre_status status = cuda_answer(q->device, give_front(s, waits, wait_count), "giving a batch to the device", error);
  if (status == VYRE_OK) status = cuda_batch_run(b, q->stream, late, late_count, &pinned, begun, error);
  if (status == VYRE_ERR_DEVICE_LOST) return status;
  s->pinned = pinned;
  return status;
}

/* What its record will say. The first failure is the one to tell. */
static void note_failure(cuda_submission *s, const vyre_error *error) {
  if (s->status != VYRE_OK) return;
  s->status = error->status;
  s->vendor_code = error->vendor_code;
  memcpy(s->text, error->text, sizeof s->text - 1);
  s->text[sizeof s->text - 1] = 0;
}

/* Records the end of |s|, behind which the stream has nothing yet. Without an event it is waited for. */
static void record_end(cuda_submission *s) {
  vyre_plugin_queue *q = s->queue;
  const cuda_api *api = &q->device->plugin->api;
  CUresult code = s->end != NULL ? api->cuEventRecord(s->end, q->stream) : CUDA_ERROR_OUT_OF_MEMORY;
  s->is_open = false;
  q->open = 0;
  if (code == CUDA_SUCCESS) return;
  vyre_error error = VYRE_ERROR_INIT;
  if (!cuda_is_sticky(code)) {
    if (s->end != NULL) api->cuEventDestroy(s->end);
    s->end = NULL;
    code = api->cuStreamSynchronize(q->stream);
  }
  vyre_status status = cuda_answer(q->device, code, "marking the end of a batch", &error);
  if (status != VYRE_OK && status != VYRE_ERR_DEVICE_LOST) note_failure(s, &error);
}

void cuda_mark(vyre_plugin_queue *q) {
  if (q->last == NULL || !q->last->is_open) return;
  if (cuda_take_event(q->device, &q->last->end) != CUDA_SUCCESS) q->last->end = NULL;
  record_end(q->last);
}

/* Behind all of it: the queue lists it, its points are promised, its end is marked. */
static void settle(cuda_submission *s) {
  vyre_plugin_queue *q = s->queue;
  s->next = NULL;
  if (q->last != NULL) q->last->next = s;
  else q->first = s;
  q->last = s;
  q->given++;
  s->batch->running = s;
  for (uint32_t i = 0; i < s->signal_count; i++) cuda_timeline_expect(&s->signals[i]);
  if (s->is_open) q->open++;
  else record_end(s);
}

/* ---- With the host --------------------------------------------------------------------------- */

/* A copy of |bytes| bytes in *out; NULL for none. False without memory. */
static bool copy_of(const void *from, uint64_t bytes, void *out) {
  void *copy = NULL;
  if (from != NULL && bytes > 0) {
    copy = malloc(bytes);
    if (copy == NULL) return false;
    memcpy(copy, from, bytes);
  }
  memcpy(out, &copy, sizeof copy);
  return true;
}

static bool copy_late(const vyre_submit *from, cuda_submission *s) {
  if (from->late_count == 0) return true;
  s->late = calloc(from->late_count, sizeof *s->late);
  if (s->late == NULL) return false;
  for (; s->late_count < from->late_count; s->late_count++) {
    const vyre_late *late = &from->late[s->late_count];
    vyre_late *own = &s->late[s->late_count];
    own->command = late->command;
    if (late->command >= s->batch->count || s->batch->commands[late->command].kind != VYRE_COMMAND_DISPATCH) continue;
    const vyre_kernel_header *k = s->batch->commands[late->command].u.dispatch.executable->blob.kernel;
    if (!copy_of(late->params, k->param_bytes, &own->params)) return false;
    if (!copy_of(late->offsets, k->bindings.count * sizeof *late->offsets, &own->offsets)) {
      free((void *)(uintptr_t)own->params);
      return false;
    }
  }
  return true;
}

static vyre_status defer(cuda_submission *s, const vyre_submit *from, vyre_error *error) {
  vyre_plugin_queue *q = s->queue;
  if (!copy_of(from->waits, from->wait_count * sizeof *from->waits, &s->waits) || !copy_late(from, s)) {
    give_up(s);
    return gpu_no_memory(error);
  }
  s->wait_count = from->wait_count;
  s->next = NULL;
  if (q->last_deferred != NULL) q->last_deferred->next = s;
  else q->deferred = s;
  q->last_deferred = s;
  q->device->deferred++;
  return VYRE_OK;
}

/* The first one that the queue keeps; false if the device is lost, and all has ended. */
static bool start_first(vyre_plugin_queue *q) {
  cuda_submission *s = q->deferred;
  bool begun;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = give(s, s->waits, s->wait_count, s->late, s->late_count, &begun, &error);
  if (status == VYRE_ERR_DEVICE_LOST) return false;
  q->deferred = s->next;
  if (q->deferred == NULL) q->last_deferred = NULL;
  q->device->deferred--;
  if (status != VYRE_OK) note_failure(s, &error);
  settle(s); /* one that failed ends in the order of the queue, too */
  return q->device->lost == CUDA_SUCCESS;
}

void cuda_start_deferred(vyre_plugin_device *device) {
  bool has_moved = true;
  while (has_moved && device->deferred > 0) {
    has_moved = false;
    for (vyre_plugin_queue *q = device->queues; q != NULL; q = q->next)
      while (q->deferred != NULL && is_promised(q->deferred->waits, q->deferred->wait_count)) {
        if (!start_first(q)) return;
        has_moved = true;
      }
  }
}

/* ---- The slot -------------------------------------------------------------------------------- */

static vyre_status hand_over(vyre_plugin_queue *q, const vyre_submit *from, vyre_error *error) {
  vyre_plugin_device *device = q->device;
  bool begun;
  vyre_error own;
  cuda_submission *s = take_submission(q, from);
  if (s == NULL) return gpu_no_memory(error);
  if (q->deferred != NULL || !is_promised(from->waits, from->wait_count)) return defer(s, from, error);
  own.size = sizeof own; /* nothing else of it is read unless it was filled */
  own.log = NULL;
  vyre_status status = give(s, from->waits, from->wait_count, from->late, from->late_count, &begun, &own);
  if (status != VYRE_OK && (!begun || status == VYRE_ERR_DEVICE_LOST)) {
    give_up(s);
    return gpu_fail_vendor(error, status, own.vendor_code, own.where, "%s", own.text);
  }
  if (status != VYRE_OK) note_failure(s, &own);
  settle(s);
  if (device->deferred > 0) cuda_start_deferred(device);
  return VYRE_OK;
}

static vyre_status check_submit(const vyre_plugin_queue *q, const vyre_submit *from, vyre_error *error) {
  vyre_status status = gpu_check_flags("a submit", from->flags, VYRE_SUBMIT_OVERLAP, error);
  if (status != VYRE_OK || q->is_persistent == from->batch->is_persistent) return status;
  return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, gpu_name,
                  "a batch that is %spersistent is given to a queue that is not. Fix: use a queue of its kind",
                  from->batch->is_persistent ? "" : "not ");
}

vyre_status cuda_submit(vyre_plugin_queue *q, const vyre_submit *submit, vyre_error *error) {
  vyre_submit own;
  cuda_scope scope;
  gpu_take(&own, sizeof own, submit);
  vyre_status status = cuda_enter(q->device, &scope, error);
  if (status != VYRE_OK) return status;
  status = check_submit(q, &own, error);
  if (status == VYRE_OK) {
    if (q->is_persistent) cuda_resident_begin(q->device); /* before the lock */
    pthread_mutex_lock(&q->device->lock);
    status = hand_over(q, &own, error);
    pthread_mutex_unlock(&q->device->lock);
    if (q->is_persistent && status != VYRE_OK) cuda_resident_end(q->device);
  }
  cuda_leave(&scope);
  return status;
}
