/* Threads of the library: they see work to its end where nobody else waits for it, and run callbacks. One thread of a
 * queue waits for its timeline; another may run a callback that is due meanwhile. A thread ends as soon as there is
 * nothing left to wait for, so an idle process has none. */
#include "backend/objects.h"
#include "base/error.h"

static _Thread_local bool is_waiter;

bool vyre_is_waiter(void) { return is_waiter; }

/* Takes the first callback that is due. The lock is held. */
static bool take_callback(vyre_queue *queue, vyre_callback *out) {
  for (uint32_t i = 0; i < queue->callbacks.count; i++) {
    *out = queue->callbacks.data[i];
    if (!atomic_load_explicit(&out->submission->done, memory_order_acquire)) continue;
    for (uint32_t j = i + 1; j < queue->callbacks.count; j++)
      queue->callbacks.data[j - 1] = queue->callbacks.data[j];
    queue->callbacks.count--;
    return true;
  }
  return false;
}

static void run_callback(const vyre_callback *callback) {
  callback->fn(callback->ctx, vyre_submission_result(callback->submission, NULL));
  vyre_submission_destroy(callback->submission);
}

/* One step; false if there is nothing for this thread to do. */
static bool step(vyre_queue *queue) {
  vyre_callback callback;
  pthread_mutex_lock(&queue->lock);
  if (take_callback(queue, &callback)) {
    pthread_mutex_unlock(&queue->lock);
    run_callback(&callback);
    return true;
  }
  bool is_wanted = queue->is_draining || queue->callbacks.count > 0;
  bool waits = is_wanted && queue->first != NULL && !queue->has_waiter && !atomic_load(&queue->device->abandoned);
  uint64_t value = queue->first != NULL ? queue->first->value : 0;
  if (waits) queue->has_waiter = true;
  pthread_mutex_unlock(&queue->lock);
  if (!waits) return false;
  vyre_device_await(queue->device, queue->timeline, value, VYRE_FOREVER, NULL);
  vyre_queue_retire(queue);
  pthread_mutex_lock(&queue->lock);
  queue->has_waiter = false;
  pthread_mutex_unlock(&queue->lock);
  return true;
}

static void *run(void *argument) {
  vyre_queue *queue = argument;
  vyre_device *device = queue->device;
  is_waiter = true;
  vyre_device_retain(device);
  while (step(queue)) continue;
  vyre_queue_release(queue);
  pthread_mutex_lock(&device->lock);
  device->threads--;
  pthread_cond_broadcast(&device->changed);
  pthread_mutex_unlock(&device->lock);
  vyre_device_release(device);
  return NULL;
}

vyre_status vyre_waiter_start(vyre_queue *queue, vyre_error *error) {
  vyre_device *device = queue->device;
  pthread_t thread;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return vyre_fail_memory(error, "thread");
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  vyre_queue_retain(queue);
  pthread_mutex_lock(&device->lock);
  device->threads++;
  int code = pthread_create(&thread, &attributes, run, queue);
  if (code != 0) device->threads--;
  pthread_mutex_unlock(&device->lock);
  pthread_attr_destroy(&attributes);
  if (code == 0) return VYRE_OK;
  vyre_queue_release(queue);
  return vyre_fail(error, VYRE_ERR_LIMIT, "thread",
                   "The system starts no more threads for this process. Fix: raise its limit, or use fewer.");
}
