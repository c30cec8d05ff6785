/* Submissions: the caller's view of handed over work, and what became of it. A submission that has ended goes back
 * to its queue, so that the next one needs no memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"

/* Trap code of an invocation that used up its steps; one without a limit can only have called trap with it. */
#define STEPS_TRAP UINT32_MAX

vyre_submission *vyre_submission_new(vyre_queue *queue, vyre_batch *batch, vyre_set *set) {
  pthread_mutex_lock(&queue->lock);
  vyre_submission *s = queue->unused;
  if (s != NULL) queue->unused = s->next;
  pthread_mutex_unlock(&queue->lock);
  if (s == NULL && (s = malloc(sizeof *s)) == NULL) return NULL;
  memset(s, 0, sizeof *s);
  s->refs = 1;
  s->has_steps = batch->has_steps;
  s->timestamp_count = batch->timestamps;
  if (batch->timestamps > 0) s->timestamps = calloc(batch->timestamps, sizeof *s->timestamps);
  if (batch->prints) s->prints = malloc(VYRE_PRINT_WORDS * sizeof *s->prints);
  if ((batch->timestamps > 0 && s->timestamps == NULL) || (batch->prints && s->prints == NULL)) {
    free(s->timestamps);
    free(s->prints);
    free(s);
    return NULL;
  }
  s->completion.size = sizeof s->completion;
  s->queue = queue;
  vyre_queue_retain(queue);
  s->batch = batch;
  vyre_batch_retain(batch);
  s->set = set;
  if (set != NULL) vyre_set_retain(set);
  return s;
}

static void release_timelines(vyre_submission *s) {
  for (uint32_t i = 0; i < s->timeline_count; i++) vyre_timeline_destroy(s->timelines[i]);
  free(s->timelines);
  s->timelines = NULL;
  s->timeline_count = 0;
}

static void release_uses(vyre_submission *s) {
  vyre_batch_destroy(s->batch);
  vyre_set_destroy(s->set);
  s->batch = NULL;
  s->set = NULL;
}

void vyre_submission_settle(vyre_submission *s) {
  release_timelines(s);
  /* To make text of print records takes the program, which is behind the batch. */
  if (s->prints == NULL) release_uses(s);
}

void vyre_submission_destroy(vyre_submission *s) {
  if (s == NULL || !vyre_refs_drop(&s->refs)) return;
  vyre_queue *queue = s->queue;
  release_timelines(s);
  release_uses(s);
  free(s->timestamps);
  free(s->prints);
  if (vyre_context_check(queue->device->context, NULL) != VYRE_OK) {
    free(s);
  } else {
    pthread_mutex_lock(&queue->lock);
    s->next = queue->unused;
    queue->unused = s;
    pthread_mutex_unlock(&queue->lock);
  }
  vyre_queue_release(queue);
}

/* ---- Its end --------------------------------------------------------------------------------- */

static vyre_status trapped(const vyre_submission *s, vyre_error *error) {
  const vyre_completion *c = &s->completion;
  if (c->trap_code == STEPS_TRAP && s->has_steps)
    return vyre_fail(error, VYRE_ERR_TRAP, "program",
                     "Invocation (%u, %u, %u) used up its steps, or called trap with the code that stands for it, "
                     "0xFFFFFFFF; %" PRIu64 " did. Fix: end the loop, or allow more steps.",
                     c->trap_gid[0], c->trap_gid[1], c->trap_gid[2], c->trap_count);
  return vyre_fail(error, VYRE_ERR_TRAP, "program",
                   "The program trapped with code %u in invocation (%u, %u, %u); %" PRIu64 " invocations trapped, and "
                   "the outputs are not to be used. Fix: see where the program calls trap with that code.",
                   c->trap_code, c->trap_gid[0], c->trap_gid[1], c->trap_gid[2], c->trap_count);
}

vyre_status vyre_submission_result(const vyre_submission *s, vyre_error *error) {
  const vyre_completion *c = &s->completion;
  if (c->status == VYRE_OK) return VYRE_OK;
  if (c->status == VYRE_ERR_TRAP) return trapped(s, error);
  if (c->status == VYRE_ERR_DEVICE_LOST && c->text[0] == 0) { /* what helps is known, though the plugin said nothing */
    vyre_status status = vyre_device_check(s->queue->device, error);
    if (status != VYRE_OK) return status;
  }
  vyre_fail(error, c->status, s->queue->device->name, "%s", c->text[0] != 0 ? c->text : vyre_status_text(c->status));
  if (error != NULL && error->size >= sizeof *error) error->vendor_code = c->vendor_code;
  return c->status;
}

static bool is_done(const vyre_submission *s) { return atomic_load_explicit(&s->done, memory_order_acquire); }

vyre_status vyre_submission_wait(vyre_submission *s, uint64_t timeout_ns, vyre_error *error) {
  vyre_device *device = s->queue->device;
  vyre_status status = vyre_context_check(device->context, error);
  if (status != VYRE_OK) return status;
  if (is_done(s)) return vyre_submission_result(s, error);
  if (atomic_load(&device->abandoned)) return vyre_device_check(device, error);
  status = vyre_device_await(device, s->queue->timeline, s->value, timeout_ns, error);
  vyre_queue_retire(s->queue);
  if (is_done(s)) return vyre_submission_result(s, error);
  if (status == VYRE_ERR_TIMEOUT)
    return vyre_fail(error, VYRE_ERR_TIMEOUT, device->name,
                     "The work had not ended when %.3f s had passed. Fix: allow more time, or give it less to do.",
                     (double)timeout_ns * 1e-9);
  if (status != VYRE_OK) return status;
  return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, device->name,
                   "The plugin says that the work has ended, and its timeline has not come so far. Fix: report it to "
                   "the plugin's author.");
}

vyre_status vyre_submission_hold(vyre_submission *s, const vyre_submit_options *options, vyre_error *error) {
  uint32_t count = options->wait_count + options->signal_count;
  if (count == 0) return VYRE_OK;
  s->timelines = malloc(count * sizeof *s->timelines);
  if (s->timelines == NULL) return vyre_fail_memory(error, "submit");
  for (uint32_t i = 0; i < count; i++) {
    bool is_wait = i < options->wait_count;
    s->timelines[i] = is_wait ? options->waits[i].timeline : options->signals[i - options->wait_count].timeline;
    vyre_timeline_retain(s->timelines[i]);
  }
  s->timeline_count = count;
  return VYRE_OK;
}

/* NOT_READY until it has ended. */
static vyre_status check_done(vyre_submission *s, vyre_error *error) {
  vyre_status status = vyre_context_check(s->queue->device->context, error);
  if (status != VYRE_OK) return status;
  if (!is_done(s)) vyre_queue_retire(s->queue);
  if (is_done(s)) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_NOT_READY, "submission",
                   "It has not ended yet. Fix: wait for it with vyre_submission_wait.");
}

vyre_status vyre_submission_completion(vyre_submission *s, vyre_completion *out, vyre_error *error) {
  vyre_status status = check_done(s, error);
  if (status != VYRE_OK) return status;
  uint32_t size = out->size < sizeof *out ? out->size : (uint32_t)sizeof *out;
  memcpy(out, &s->completion, size);
  out->size = size;
  return VYRE_OK;
}

vyre_status vyre_submission_timestamp(vyre_submission *s, uint32_t index, uint64_t *out, vyre_error *error) {
  *out = 0;
  vyre_status status = check_done(s, error);
  if (status != VYRE_OK) return status;
  if (index >= s->timestamp_count)
    return vyre_fail(error, VYRE_ERR_NOT_FOUND, "submission",
                     "Its batch has %u timestamps, and number %u is asked for. Fix: count from 0.", s->timestamp_count,
                     index);
  *out = s->timestamps[index];
  return VYRE_OK;
}

/* Removes a callback that nobody has begun to run; false if somebody has. */
static bool take_back(vyre_queue *queue, const vyre_submission *s, vyre_complete_fn fn, const void *ctx) {
  bool found = false;
  pthread_mutex_lock(&queue->lock);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < queue->callbacks.count; i++) {
    vyre_callback c = queue->callbacks.data[i];
    bool is_it = !found && c.submission == s && c.fn == fn && c.ctx == ctx;
    found |= is_it;
    if (!is_it) queue->callbacks.data[kept++] = c;
  }
  queue->callbacks.count = kept;
  pthread_mutex_unlock(&queue->lock);
  return found;
}

vyre_status vyre_submission_on_complete(vyre_submission *s, vyre_complete_fn fn, void *ctx, vyre_error *error) {
  vyre_queue *queue = s->queue;
  vyre_status status = vyre_context_check(queue->device->context, error);
  if (status != VYRE_OK) return status;
  vyre_refs_take(&s->refs);
  pthread_mutex_lock(&queue->lock);
  bool is_kept = vyre_vector_push(&queue->callbacks, ((vyre_callback){ s, fn, ctx }));
  bool starts = is_kept && (is_done(s) || !queue->has_waiter);
  pthread_mutex_unlock(&queue->lock);
  if (!is_kept) {
    vyre_submission_destroy(s);
    return vyre_fail_memory(error, "submission");
  }
  status = starts ? vyre_waiter_start(queue, error) : VYRE_OK;
  if (status == VYRE_OK || !take_back(queue, s, fn, ctx)) return VYRE_OK;
  vyre_submission_destroy(s);
  return status;
}

vyre_status vyre_submission_stop(vyre_submission *s, vyre_error *error) {
  vyre_status status = vyre_context_check(s->queue->device->context, error);
  if (status != VYRE_OK) return status;
  if (s->queue->stop == NULL)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "submission",
                     "It is no persistent launch. Fix: give a launch a stop_buffer and write to that.");
  __atomic_store_n((uint32_t *)s->queue->stop->map, 1u, __ATOMIC_RELEASE);
  return VYRE_OK;
}
