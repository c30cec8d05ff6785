/* Timelines: a value, and the points that submissions on streams will reach. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

cuda_submission *cuda_timeline_find(const vyre_plugin_timeline *timeline, uint64_t value) {
  for (const cuda_signal *s = timeline->pending; s != NULL; s = s->next)
    if (s->value >= value) return s->submission;
  return NULL;
}

void cuda_timeline_expect(cuda_signal *signal) {
  cuda_signal **head = &signal->timeline->pending;
  signal->previous = NULL;
  signal->next = *head;
  if (*head != NULL) (*head)->previous = signal;
  *head = signal;
  signal->is_listed = true;
}

void cuda_timeline_forget(cuda_signal *signal) {
  if (!signal->is_listed) return;
  if (signal->previous != NULL) signal->previous->next = signal->next;
  else signal->timeline->pending = signal->next;
  if (signal->next != NULL) signal->next->previous = signal->previous;
  signal->is_listed = false;
}

vyre_status cuda_timeline_create(vyre_plugin_device *device, uint64_t value, vyre_plugin_timeline **out,
                                 vyre_error *error) {
  *out = NULL;
  vyre_status status = cuda_check(device, error);
  if (status != VYRE_OK) return status;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return gpu_no_memory(error);
  (*out)->device = device;
  (*out)->value = value;
  return VYRE_OK;
}

/* A submission that still runs has nothing to signal there any more. */
void cuda_timeline_destroy(vyre_plugin_timeline *timeline) {
  if (timeline->device->process == getpid()) {
    pthread_mutex_lock(&timeline->device->lock);
    while (timeline->pending != NULL) {
      cuda_signal *s = timeline->pending;
      cuda_timeline_forget(s);
      s->timeline = NULL;
    }
    pthread_mutex_unlock(&timeline->device->lock);
  }
  free(timeline);
}

/* Looks at what has ended first. The lock is held. */
static uint64_t look(vyre_plugin_timeline *timeline) {
  if (timeline->pending != NULL) cuda_progress(timeline->device);
  return timeline->value;
}

vyre_status cuda_timeline_value(vyre_plugin_timeline *timeline, uint64_t *value, vyre_error *error) {
  vyre_plugin_device *device = timeline->device;
  cuda_scope scope;
  *value = 0;
  vyre_status status = cuda_enter(device, &scope, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&device->lock);
  uint64_t reached = look(timeline);
  pthread_mutex_unlock(&device->lock);
  cuda_leave(&scope);
  status = cuda_check(device, error);
  if (status == VYRE_OK) *value = reached;
  return status;
}

vyre_status cuda_timeline_signal(vyre_plugin_timeline *timeline, uint64_t value, vyre_error *error) {
  vyre_plugin_device *device = timeline->device;
  cuda_scope scope;
  vyre_status status = cuda_enter(device, &scope, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&device->lock);
  if (value > timeline->value) timeline->value = value;
  pthread_cond_broadcast(&device->changed);
  if (device->deferred > 0) cuda_start_deferred(device);
  pthread_mutex_unlock(&device->lock);
  cuda_leave(&scope);
  return cuda_check(device, error);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

enum { SPIN_NS = 50000, SHORTEST_NS = 20000, LONGEST_NS = 500000 };

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Until something changes that the host does, at most |ns|. The lock is held. */
static void sleep_a_while(vyre_plugin_device *device, uint64_t until) {
  struct timespec t = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };
  pthread_cond_timedwait(&device->changed, &device->lock, &t);
}

/* Looks again and again: at first without a break, then with longer ones, since no thread is told when work has ended.
 * The lock is held. */
static uint64_t await(vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns) {
  vyre_plugin_device *device = timeline->device;
  uint64_t began = now_ns(), end, step = SHORTEST_NS, reached;
  if (__builtin_add_overflow(began, timeout_ns, &end)) end = UINT64_MAX;
  while ((reached = look(timeline)) < value && device->lost == CUDA_SUCCESS) {
    uint64_t now = now_ns();
    if (now >= end) break;
    if (now - began < SPIN_NS) {
      pthread_mutex_unlock(&device->lock);
      pthread_mutex_lock(&device->lock);
      continue;
    }
    sleep_a_while(device, end - now < step ? end : now + step);
    if (step < LONGEST_NS) step += step / 4;
  }
  return reached;
}

vyre_status cuda_timeline_wait(vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns,
                               vyre_error *error) {
  vyre_plugin_device *device = timeline->device;
  cuda_scope scope;
  vyre_status status = cuda_enter(device, &scope, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&device->lock);
  uint64_t reached = await(timeline, value, timeout_ns);
  pthread_mutex_unlock(&device->lock);
  cuda_leave(&scope);
  status = cuda_check(device, error);
  if (status != VYRE_OK || reached >= value) return status;
  return gpu_fail(error, VYRE_ERR_TIMEOUT, gpu_name,
                  "The timeline is at %llu, not at %llu. Fix: wait longer, or see what should signal it.",
                  (unsigned long long)reached, (unsigned long long)value);
}
