/* Queues: what was handed over and has not ended stands in a list, oldest first. Each submission is a point on the
 * queue's own timeline; whoever learns how far that has come takes what has ended off the list. */
#include <stdlib.h>

#include "backend/objects.h"
#include "base/error.h"

void vyre_queue_retain(vyre_queue *queue) { vyre_refs_take(&queue->refs); }

static void unlist(vyre_queue *queue) {
  vyre_device *device = queue->device;
  pthread_mutex_lock(&device->lock);
  for (uint32_t i = 0; i < device->queues.count; i++)
    if (device->queues.data[i] == queue) {
      device->queues.data[i] = device->queues.data[--device->queues.count];
      break;
    }
  pthread_mutex_unlock(&device->lock);
}

static void free_queue(vyre_queue *queue) {
  while (queue->unused != NULL) {
    vyre_submission *next = queue->unused->next;
    free(queue->unused);
    queue->unused = next;
  }
  vyre_vector_free(&queue->callbacks);
  vyre_buffer_destroy(queue->stop);
  pthread_mutex_destroy(&queue->order);
  pthread_mutex_destroy(&queue->lock);
  free(queue);
}

void vyre_queue_release(vyre_queue *queue) {
  if (!vyre_refs_drop(&queue->refs)) return;
  vyre_device *device = queue->device;
  if (vyre_context_check(device->context, NULL) == VYRE_OK) unlist(queue);
  if (vyre_device_may_destroy(device)) {
    device->ops->timeline_destroy(queue->timeline);
    device->ops->queue_destroy(queue->plugin);
  }
  free_queue(queue);
  vyre_device_release(device);
}

static vyre_status make_plugin_parts(vyre_queue *queue, uint32_t flags, vyre_error *error) {
  vyre_device *device = queue->device;
  vyre_status status = device->ops->queue_create(device->plugin, flags, &queue->plugin, error);
  status = vyre_device_made(device, status, queue->plugin, error);
  if (status != VYRE_OK) return status;
  status = device->ops->timeline_create(device->plugin, 0, &queue->timeline, error);
  status = vyre_device_made(device, status, queue->timeline, error);
  if (status != VYRE_OK) device->ops->queue_destroy(queue->plugin);
  return status;
}

vyre_status vyre_queue_make(vyre_device *device, uint32_t flags, vyre_queue **out, vyre_error *error) {
  *out = NULL;
  vyre_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) return vyre_fail_memory(error, "queue");
  queue->refs = 1;
  queue->device = device;
  queue->end = &queue->first;
  pthread_mutex_init(&queue->order, NULL);
  pthread_mutex_init(&queue->lock, NULL);
  vyre_status status = make_plugin_parts(queue, flags, error);
  if (status != VYRE_OK) {
    free_queue(queue);
    return status;
  }
  vyre_device_retain(device);
  pthread_mutex_lock(&device->lock);
  bool is_listed = vyre_vector_push(&device->queues, queue);
  pthread_mutex_unlock(&device->lock);
  if (!is_listed) {
    vyre_queue_release(queue);
    return vyre_fail_memory(error, "queue");
  }
  *out = queue;
  return VYRE_OK;
}

vyre_status vyre_queue_create(vyre_device *device, vyre_queue **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vyre_device_check_open(device, error);
  return status == VYRE_OK ? vyre_queue_make(device, 0, out, error) : status;
}

/* Takes off the list what has reached |value|, or everything from a lost device. The lock is held. */
static vyre_submission *take_ended(vyre_queue *queue, uint64_t value, bool is_lost) {
  vyre_submission *ended = NULL, **end = &ended;
  while (queue->first != NULL && (is_lost || queue->first->value <= value)) {
    vyre_submission *s = queue->first;
    queue->first = s->next;
    if (queue->first == NULL) queue->end = &queue->first;
    if (is_lost) s->completion.status = VYRE_ERR_DEVICE_LOST;
    vyre_plugin_completion(&s->completion);
    s->next = NULL;
    *end = s;
    end = &s->next;
    atomic_store_explicit(&s->done, true, memory_order_release);
  }
  return ended;
}

void vyre_queue_retire(vyre_queue *queue) {
  vyre_device *device = queue->device;
  uint64_t value = 0;
  vyre_status status = device->ops->timeline_value(queue->timeline, &value, NULL);
  status = vyre_device_answer(device, status, NULL);
  if (status != VYRE_OK) value = 0;
  if (status != VYRE_OK && status != VYRE_ERR_DEVICE_LOST) vyre_device_give_up(device);
  /* Of an abandoned device the plugin may still write to the records, so they stay where they are. */
  bool is_lost = atomic_load(&device->lost) && !atomic_load(&device->abandoned);
  pthread_mutex_lock(&queue->lock);
  vyre_submission *ended = take_ended(queue, value, is_lost);
  pthread_mutex_unlock(&queue->lock);
  while (ended != NULL) {
    vyre_submission *next = ended->next;
    ended->next = NULL;
    vyre_submission_settle(ended);
    vyre_submission_destroy(ended);
    ended = next;
  }
}

vyre_status vyre_queue_wait(vyre_queue *queue, uint64_t timeout_ns, vyre_error *error) {
  vyre_device *device = queue->device;
  vyre_status status = vyre_device_check(device, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&queue->lock);
  uint64_t last = queue->last;
  pthread_mutex_unlock(&queue->lock);
  status = vyre_device_await(device, queue->timeline, last, timeout_ns, error);
  vyre_queue_retire(queue);
  if (status != VYRE_ERR_TIMEOUT) return status;
  return vyre_fail(error, status, device->name,
                   "The queue's work had not ended when %.3f s had passed. Fix: allow more time, or give it less to do.",
                   (double)timeout_ns * 1e-9);
}

void vyre_queue_destroy(vyre_queue *queue) {
  if (queue == NULL) return;
  if (vyre_context_check(queue->device->context, NULL) == VYRE_OK && !atomic_load(&queue->device->abandoned)) {
    vyre_queue_retire(queue);
    pthread_mutex_lock(&queue->lock);
    queue->is_draining = true;
    bool is_busy = queue->first != NULL && !queue->has_waiter;
    pthread_mutex_unlock(&queue->lock);
    if (is_busy && vyre_waiter_start(queue, NULL) != VYRE_OK) vyre_queue_wait(queue, VYRE_FOREVER, NULL);
  }
  vyre_queue_release(queue);
}
