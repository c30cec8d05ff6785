/* Queues and timelines. A queue is a thread that takes submissions in order: it waits for their points, runs them,
 * fills their records and signals. */
#include "backend.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct submission {
  struct submission *next;
  vyre_point *waits, *signals;
  uint32_t wait_count, signal_count;
  vyre_late *late; /* params and offsets are copies too */
  backend_work work;
} submission;

struct vyre_plugin_queue {
  vyre_plugin_device *device;
  pthread_t thread;
  submission *first, *last; /* pending; these and closing under the device's lock */
  bool closing;
  bool persistent;
  uint32_t cancel;          /* atomic: the launch that runs is given up */
};

/* ---- Timelines ---- */

vyre_status backend_timeline_create(vyre_plugin_device *device, uint64_t value, vyre_plugin_timeline **out,
                                vyre_error *error) {
  *out = NULL;
  vyre_status status = backend_check_process(device, error);
  if (status != VYRE_OK) return status;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return backend_no_memory(error);
  (*out)->device = device;
  (*out)->value = value;
  return VYRE_OK;
}

void backend_timeline_destroy(vyre_plugin_timeline *timeline) {
  free(timeline);
}

vyre_status backend_timeline_value(vyre_plugin_timeline *timeline, uint64_t *value, vyre_error *error) {
  vyre_status status = backend_check_process(timeline->device, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&timeline->device->lock);
  *value = timeline->value;
  pthread_mutex_unlock(&timeline->device->lock);
  return VYRE_OK;
}

/* With the device's lock. */
static void reach(const vyre_point *point) {
  if (point->value > point->timeline->value) point->timeline->value = point->value;
}

vyre_status backend_timeline_signal(vyre_plugin_timeline *timeline, uint64_t value, vyre_error *error) {
  vyre_status status = backend_check_process(timeline->device, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&timeline->device->lock);
  reach(&(vyre_point){ timeline, value });
  pthread_cond_broadcast(&timeline->device->changed);
  pthread_mutex_unlock(&timeline->device->lock);
  return VYRE_OK;
}

/* The time |ns| from now; far in the future if that is beyond the clock. */
static struct timespec deadline(uint64_t ns) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  uint64_t seconds = ns / 1000000000u, rest = ns % 1000000000u + (uint64_t)t.tv_nsec;
  t.tv_sec += (time_t)(seconds + rest / 1000000000u);
  t.tv_nsec = (long)(rest % 1000000000u);
  return t;
}

vyre_status backend_timeline_wait(vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns,
                              vyre_error *error) {
  vyre_plugin_device *device = timeline->device;
  vyre_status status = backend_check_process(device, error);
  if (status != VYRE_OK) return status;
  struct timespec until = deadline(timeout_ns);
  int waited = 0;
  pthread_mutex_lock(&device->lock);
  while (timeline->value < value && waited == 0)
    waited = timeout_ns == UINT64_MAX ? pthread_cond_wait(&device->changed, &device->lock)
                                      : pthread_cond_timedwait(&device->changed, &device->lock, &until);
  uint64_t reached = timeline->value;
  pthread_mutex_unlock(&device->lock);
  if (reached >= value) return VYRE_OK;
  return backend_fail(error, VYRE_ERR_TIMEOUT, backend_name,
                   "The timeline is at %llu, not at %llu. Fix: wait longer, or see what should signal it.",
                   (unsigned long long)reached, (unsigned long long)value);
}

/* ---- Submissions ---- */

static void submission_free(submission *s) {
  for (uint32_t i = 0; s->late != NULL && i < s->work.late_count; i++) {
    free((void *)(uintptr_t)s->late[i].params);
    free((void *)(uintptr_t)s->late[i].offsets);
  }
  free(s->waits);
  free(s->signals);
  free(s->late);
  free(s);
}

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

/* What a submit leaves to a dispatch, checked against the program that it is for. */
static bool copy_late(const vyre_submit *from, submission *s) {
  s->late = calloc((size_t)from->late_count + 1, sizeof *s->late);
  if (s->late == NULL) return false;
  s->work.late = s->late;
  for (uint32_t i = 0; i < from->late_count; i++) {
    const vyre_late *late = &from->late[i];
    s->late[i].command = late->command;
    s->work.late_count = i + 1;
    if (late->command >= from->batch->count || from->batch->commands[late->command].kind != VYRE_COMMAND_DISPATCH)
      continue;
    const vyre_plugin_executable *e = from->batch->commands[late->command].u.dispatch.executable;
    if (!copy_of(late->params, e->param_bytes, &s->late[i].params)) return false;
    if (!copy_of(late->offsets, e->binding_count * sizeof(uint64_t), &s->late[i].offsets)) return false;
  }
  return true;
}

static submission *submission_create(const vyre_plugin_queue *queue, const vyre_submit *from) {
  submission *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->wait_count = from->wait_count;
  s->signal_count = from->signal_count;
  s->work = (backend_work){ .host = queue->device->plugin->host,
                            .batch = from->batch,
                        .timestamps = from->timestamps,
                        .timestamp_count = from->timestamp_count,
                        .prints = from->prints,
                        .print_words = from->prints != NULL ? from->print_words : 0,
                        .completion = from->completion,
                        .cancel = &queue->cancel };
  if (copy_of(from->waits, from->wait_count * sizeof *from->waits, &s->waits) &&
      copy_of(from->signals, from->signal_count * sizeof *from->signals, &s->signals) && copy_late(from, s))
    return s;
  submission_free(s);
  return NULL;
}

vyre_status backend_submit(vyre_plugin_queue *queue, const vyre_submit *submit, vyre_error *error) {
  vyre_plugin_device *device = queue->device;
  vyre_submit own;
  backend_take(&own, sizeof own, submit);
  vyre_status status = backend_check_process(device, error);
  if (status == VYRE_OK) status = backend_check_flags("a submit", own.flags, VYRE_SUBMIT_OVERLAP, error);
  if (status != VYRE_OK) return status;
  submission *s = submission_create(queue, &own);
  if (s == NULL) return backend_no_memory(error);
  pthread_mutex_lock(&device->lock);
  if (queue->last != NULL) queue->last->next = s;
  else queue->first = s;
  queue->last = s;
  pthread_cond_broadcast(&device->changed);
  pthread_mutex_unlock(&device->lock);
  return VYRE_OK;
}

/* ---- Threads ---- */

/* With the device's lock: the next submission once its points are reached, NULL when the queue closes. */
static submission *take(vyre_plugin_queue *queue) {
  while (!queue->closing) {
    submission *s = queue->first;
    uint32_t reached = 0;
    while (s != NULL && reached < s->wait_count && s->waits[reached].timeline->value >= s->waits[reached].value)
      reached++;
    if (s != NULL && reached == s->wait_count) {
      queue->first = s->next;
      if (s->next == NULL) queue->last = NULL;
      return s;
    }
    pthread_cond_wait(&queue->device->changed, &queue->device->lock);
  }
  return NULL;
}

/* With the device's lock. */
static void signal_all(vyre_plugin_device *device, const submission *s) {
  for (uint32_t i = 0; i < s->signal_count; i++) reach(&s->signals[i]);
  pthread_cond_broadcast(&device->changed);
}

/* What was not started when its queue is destroyed. */
static void abandon(submission *s) {
  vyre_completion record = { .status = VYRE_ERR_CLOSED, .text = "The queue was closed before this began." };
  backend_complete(s->work.completion, &record);
}

static void *queue_main(void *argument) {
  vyre_plugin_queue *queue = argument;
  vyre_plugin_device *device = queue->device;
  submission *s;
  pthread_mutex_lock(&device->lock);
  while ((s = take(queue)) != NULL) {
    pthread_mutex_unlock(&device->lock);
    backend_execute(&s->work);
    pthread_mutex_lock(&device->lock);
    signal_all(device, s);
    submission_free(s);
  }
  while ((s = queue->first) != NULL) {
    queue->first = s->next;
    abandon(s);
    signal_all(device, s);
    submission_free(s);
  }
  pthread_mutex_unlock(&device->lock);
  return NULL;
}

/* Signals of the process are for its own threads. */
static bool start_thread(vyre_plugin_queue *queue) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  bool started = pthread_create(&queue->thread, NULL, queue_main, queue) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

/* Counts a queue in or out; false if there are too many. */
static bool count_queue(vyre_plugin_device *device, bool persistent, bool in) {
  pthread_mutex_lock(&device->lock);
  bool fits = !in || (device->queues < BACKEND_MAX_QUEUES &&
                      (!persistent || device->persistent_queues < BACKEND_MAX_PERSISTENT));
  if (fits) {
    device->queues += in ? 1 : UINT32_MAX;
    if (persistent) device->persistent_queues += in ? 1 : UINT32_MAX;
  }
  pthread_mutex_unlock(&device->lock);
  return fits;
}

vyre_status backend_queue_create(vyre_plugin_device *device, uint32_t flags, vyre_plugin_queue **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = backend_check_process(device, error);
  if (status == VYRE_OK) status = backend_check_flags("a queue", flags, VYRE_QUEUE_PERSISTENT, error);
  if (status != VYRE_OK) return status;
  bool persistent = (flags & VYRE_QUEUE_PERSISTENT) != 0;
  if (!count_queue(device, persistent, true))
    return backend_fail(error, VYRE_ERR_LIMIT, backend_name,
                     "A device has at most %u queues, %u of them persistent. Fix: destroy one that is not used.",
                     BACKEND_MAX_QUEUES, BACKEND_MAX_PERSISTENT);
  vyre_plugin_queue *queue = calloc(1, sizeof *queue);
  if (queue != NULL) {
    queue->device = device;
    queue->persistent = persistent;
    if (start_thread(queue)) {
      *out = queue;
      return VYRE_OK;
    }
  }
  free(queue);
  count_queue(device, persistent, false);
  return backend_no_memory(error);
}

void backend_queue_destroy(vyre_plugin_queue *queue) {
  vyre_plugin_device *device = queue->device;
  if (device->process == getpid()) { /* in a child the thread does not exist */
    pthread_mutex_lock(&device->lock);
    queue->closing = true;
    __atomic_store_n(&queue->cancel, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    pthread_join(queue->thread, NULL);
    count_queue(device, queue->persistent, false);
  }
  free(queue);
}
