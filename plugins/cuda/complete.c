/* How submissions end: their records, their timelines, and what they leave for the next ones. */
#include "plugins/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Records --------------------------------------------------------------------------------- */

/* What the batch's memory held as it ended. */
static void read_report(const cuda_submission *s, vyre_completion *c) {
  const vyre_plugin_batch *b = s->batch;
  const uint8_t *report = s->pinned->report;
  uint64_t used = 0, word;
  memcpy(&c->clamped_extents, report, sizeof c->clamped_extents);
  for (uint64_t i = 0; i < b->timestamp_count; i++) {
    if (b->timestamps[i] >= s->timestamp_count) continue;
    memcpy(&word, report + 8 * (i + 1), sizeof word);
    s->timestamps[b->timestamps[i]] = word;
  }
  uint64_t at = b->diagnostics - b->report;
  if (at < b->report_bytes)
    gpu_read_diagnostics(report + at, b->report_bytes - at, c, s->prints, s->print_words, &used);
}

static void fill_record(const cuda_submission *s, vyre_status status, int64_t vendor_code, const char *text) {
  vyre_completion c = { .size = sizeof c, .status = status, .vendor_code = vendor_code };
  if (s->completion == NULL) return;
  if (status == VYRE_OK && s->status != VYRE_OK) {
    c.status = s->status;
    c.vendor_code = s->vendor_code;
    text = s->text;
  }
  if (s->batch->is_not_counted) c.masked_loads = c.masked_stores = c.masked_atomics = VYRE_NOT_COUNTED;
  if (c.status == VYRE_OK) {
    c.device_ns = s->ns;
    if (s->pinned != NULL && s->batch->report_bytes > 0) read_report(s, &c);
    if (c.trap_count > 0) c.status = VYRE_ERR_TRAP;
  } else {
    snprintf(c.text, sizeof c.text, "%.255s", text);
  }
  gpu_answer(s->completion, &c, sizeof c);
}

/* ---- What is left ---------------------------------------------------------------------------- */

void cuda_keep_event(vyre_plugin_device *device, CUevent event) {
  if (event == NULL) return;
  if (device->spare_event_count < CUDA_SPARE_EVENTS) device->spare_events[device->spare_event_count++] = event;
  else device->plugin->api.cuEventDestroy(event);
}

CUresult cuda_take_event(vyre_plugin_device *device, CUevent *out) {
  if (device->spare_event_count > 0) {
    *out = device->spare_events[--device->spare_event_count];
    return CUDA_SUCCESS;
  }
  CUresult code = device->plugin->api.cuEventCreate(out, 0);
  if (code != CUDA_SUCCESS) *out = NULL;
  return code;
}

static void keep_memory(cuda_submission *s) {
  vyre_plugin_queue *q = s->queue;
  vyre_plugin_batch *b = s->batch;
  if (s->pinned != NULL) {
    s->pinned->next = b->unused;
    b->unused = s->pinned;
  }
  if (b->running == s) b->running = NULL;
  cuda_keep_event(q->device, s->begin);
  if (s->end != NULL) {
    cuda_keep_event(q->device, q->mark);
    q->mark = s->end;
  }
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

void cuda_finish(cuda_submission *s, vyre_status status, int64_t vendor_code, const char *text) {
  vyre_plugin_device *device = s->queue->device;
  fill_record(s, status, vendor_code, text);
  if (s->queue->is_persistent) cuda_resident_end(device);
  for (uint32_t i = 0; i < s->signal_count; i++) {
    cuda_signal *signal = &s->signals[i];
    vyre_plugin_timeline *t = signal->timeline;
    if (t != NULL && signal->value > t->value) t->value = signal->value;
    cuda_timeline_forget(signal);
  }
  keep_memory(s);
  pthread_cond_broadcast(&device->changed);
}

/* ---- Progress -------------------------------------------------------------------------------- */

static cuda_submission *take_first(vyre_plugin_queue *q) {
  cuda_submission *s = q->first;
  q->first = s->next;
  if (q->first == NULL) q->last = NULL;
  return s;
}

/* A code that says neither that it has ended nor that it has not leaves nothing to hope for. */
static void lose(vyre_plugin_device *device, CUresult code) {
  if (device->lost == CUDA_SUCCESS) __atomic_store_n(&device->lost, code, __ATOMIC_RELEASE);
  cuda_end_all(device);
}

/* From the begin of the first of a queue to the end of |last|. */
static uint64_t elapsed_ns(const vyre_plugin_queue *q, const cuda_submission *last) {
  CUevent begin = q->first->begin != NULL ? q->first->begin : q->mark;
  float ms = 0;
  if (begin == NULL || last->end == NULL) return 0;
  if (q->device->plugin->api.cuEventElapsedTime(&ms, begin, last->end) != CUDA_SUCCESS || !(ms > 0)) return 0;
  return (uint64_t)((double)ms * 1e6);
}

/* All up to |last|, whose end was seen. Those that share it share the time. */
static void finish_through(vyre_plugin_queue *q, const cuda_submission *last) {
  uint64_t ns = elapsed_ns(q, last), count = 1;
  for (const cuda_submission *s = q->first; s != last; s = s->next) count++;
  for (bool is_last = false; !is_last;) {
    cuda_submission *s = take_first(q);
    is_last = s == last;
    s->ns = ns / count;
    s->batch->ns = s->ns;
    cuda_finish(s, VYRE_OK, 0, "");
  }
}

void cuda_progress(vyre_plugin_device *device) {
  const cuda_api *api = &device->plugin->api;
  for (vyre_plugin_queue *q = device->queues; q != NULL; q = q->next) {
    /* Who looks twice wants to see what was given before. */
    if (q->open > 0 && q->given == q->looked) cuda_mark(q);
    q->looked = q->given;
    while (q->first != NULL) {
      const cuda_submission *s = q->first;
      while (s != NULL && s->is_open) s = s->next;
      CUresult code = s == NULL ? CUDA_ERROR_NOT_READY : s->end != NULL ? api->cuEventQuery(s->end) : CUDA_SUCCESS;
      if (code == CUDA_ERROR_NOT_READY) break;
      if (code != CUDA_SUCCESS) {
        lose(device, code);
        return;
      }
      finish_through(q, s);
    }
  }
}

void cuda_end_all(vyre_plugin_device *device) {
  vyre_error error = VYRE_ERROR_INIT;
  cuda_lost(device, &error);
  for (vyre_plugin_queue *q = device->queues; q != NULL; q = q->next) {
    q->open = 0;
    while (q->first != NULL) cuda_finish(take_first(q), VYRE_ERR_DEVICE_LOST, error.vendor_code, error.text);
    while (q->deferred != NULL) {
      cuda_submission *s = q->deferred;
      q->deferred = s->next;
      if (q->deferred == NULL) q->last_deferred = NULL;
      device->deferred--;
      cuda_finish(s, VYRE_ERR_DEVICE_LOST, error.vendor_code, error.text);
    }
  }
  pthread_cond_broadcast(&device->changed);
}
