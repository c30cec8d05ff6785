/* Queues of the ABI, and what a submit makes of a batch. */
#include "plugins/vulkan/work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_IDLE = 32 }; /* recordings of a batch that are kept for later */

/* ---- The work of a device -------------------------------------------------------------------- */

static vyre_status open_lane(vyre_plugin_device *device, vulkan_lane *lane, vulkan_queue *queue, vyre_error *error) {
  const VkSemaphoreTypeCreateInfo type = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                           .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE };
  const VkSemaphoreCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type };
  lane->device = device;
  lane->queue = queue;
  if (!VULKAN_HAS(device, TIMELINE)) return VYRE_OK;
  return vulkan_made(device, device->vk.vkCreateSemaphore(device->handle, &info, NULL, &lane->progress),
                     &lane->progress, "vkCreateSemaphore", error);
}

static bool make_locks(vulkan_work *work) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) return false;
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  bool made = pthread_cond_init(&work->changed, &attributes) == 0;
  pthread_condattr_destroy(&attributes);
  if (!made) return false;
  pthread_mutex_init(&work->lock, NULL);
  pthread_mutex_init(&work->patcher_lock, NULL);
  return true;
}

vyre_status vulkan_work_open(vyre_plugin_device *device, vyre_error *error) {
  vulkan_work *work = calloc(1, sizeof *work);
  if (work == NULL || !make_locks(work)) {
    free(work);
    return gpu_no_memory(error);
  }
  device->work = work;
  vyre_status status = VYRE_OK;
  for (; work->lane_count < device->compute_count && status == VYRE_OK; work->lane_count++)
    status = open_lane(device, &work->lanes[work->lane_count], &device->queues[work->lane_count], error);
  if ((device->facts->caps.can & VYRE_CAN_PERSISTENT) != 0) work->persistent_count = device->facts->caps.max_persistent;
  if (status == VYRE_OK) return VYRE_OK;
  vulkan_work_close(device);
  return status;
}

static void close_lane(vulkan_lane *lane) {
  const vyre_plugin_device *device = lane->device;
  while (lane->fences != NULL) {
    vulkan_fence *next = lane->fences->next;
    device->vk.vkDestroyFence(device->handle, lane->fences->handle, NULL);
    free(lane->fences);
    lane->fences = next;
  }
  device->vk.vkDestroySemaphore(device->handle, lane->progress, NULL);
}

static void free_submission(vulkan_submission *s) {
  free(s->waits);
  free(s->signals);
  free(s);
}

void vulkan_work_close(vyre_plugin_device *device) {
  vulkan_work *work = device->work;
  if (work == NULL) return;
  for (uint32_t i = 0; i < work->lane_count; i++) close_lane(&work->lanes[i]);
  while (work->unused != NULL) {
    vulkan_submission *next = work->unused->next;
    free_submission(work->unused);
    work->unused = next;
  }
  vulkan_patcher_destroy(device);
  pthread_cond_destroy(&work->changed);
  pthread_mutex_destroy(&work->lock);
  pthread_mutex_destroy(&work->patcher_lock);
  free(work);
  device->work = NULL;
}

/* The lock may be held by this very thread; who misses this looks again soon. */
void vulkan_work_lost(vyre_plugin_device *device) {
  if (device->work != NULL) pthread_cond_broadcast(&device->work->changed);
}

/* ---- Queues ---------------------------------------------------------------------------------- */

/* The lane with the fewest users; a persistent queue has one for itself. NULL if there is none. */
static vulkan_lane *choose_lane(vulkan_work *work, bool persistent) {
  const uint32_t shared = work->lane_count - work->persistent_count;
  const uint32_t first = persistent ? shared : 0, end = persistent ? work->lane_count : shared;
  vulkan_lane *best = NULL;
  for (uint32_t i = first; i < end; i++)
    if (best == NULL || work->lanes[i].users < best->users) best = &work->lanes[i];
  return best != NULL && persistent && best->users > 0 ? NULL : best;
}

static vyre_status too_many(const vyre_plugin_device *device, bool persistent, vyre_error *error) {
  const vyre_capabilities *caps = &device->facts->caps;
  return gpu_fail(error, VYRE_ERR_LIMIT, gpu_name,
                  "device %s has at most %u queues and %u persistent launches, and %s more is asked for. Fix: destroy "
                  "one that is not used",
                  device->facts->properties.deviceName, caps->max_queues, caps->max_persistent,
                  persistent ? "a persistent one" : "one");
}

vyre_status vulkan_queue_create(vyre_plugin_device *device, uint32_t flags, vyre_plugin_queue **out,
                                vyre_error *error) {
  *out = NULL;
  vyre_status status = vulkan_alive(device, error);
  if (status == VYRE_OK) status = gpu_check_flags("a queue", flags, VYRE_QUEUE_PERSISTENT, error);
  if (status != VYRE_OK) return status;
  vulkan_work *work = device->work;
  vyre_plugin_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) return gpu_no_memory(error);
  queue->device = device;
  queue->persistent = (flags & VYRE_QUEUE_PERSISTENT) != 0;
  pthread_mutex_lock(&work->lock);
  if (work->queues < device->facts->caps.max_queues) queue->lane = choose_lane(work, queue->persistent);
  if (queue->lane != NULL) {
    queue->lane->users++;
    work->queues++;
  }
  pthread_mutex_unlock(&work->lock);
  if (queue->lane != NULL) {
    *out = queue;
    return VYRE_OK;
  }
  status = too_many(device, queue->persistent, error);
  free(queue);
  return status;
}

static const vulkan_submission *last_of(const vyre_plugin_queue *queue) {
  const vulkan_submission *last = NULL;
  for (const vulkan_submission *s = queue->lane->first; s != NULL; s = s->next)
    if (s->queue == queue) last = s;
  return last;
}

/* Its submissions have ended; those whose end nobody could see are waited for here. A device that can't even say how
 * far it is counts as lost. */
static void drain(vyre_plugin_queue *queue) {
  enum { MOST_FAILURES = 100 };
  const uint64_t turn_ns = 50000000u;
  int failures = 0;
  for (const vulkan_submission *last; (last = last_of(queue)) != NULL;) {
    vyre_status status = vulkan_lane_wait(last, turn_ns, NULL);
    if (status != VYRE_OK && status != VYRE_ERR_TIMEOUT && ++failures == MOST_FAILURES)
      vulkan_lose(queue->device, "waiting for a queue");
    if (atomic_load(&queue->device->lost)) vulkan_lanes_give_up(queue->device);
  }
}

static void abandon(vyre_plugin_queue *queue) {
  static const char text[] = "The queue was closed before this began. Fix: wait for work before destroying its queue.";
  vulkan_work *work = queue->device->work;
  for (vyre_plugin_queue **link = &work->held; *link != NULL; link = &(*link)->next_held) {
    if (*link != queue) continue;
    *link = queue->next_held;
    break;
  }
  while (queue->first != NULL) {
    vulkan_submission *s = queue->first;
    queue->first = s->next;
    s->status = VYRE_ERR_CLOSED;
    memcpy(s->text, text, sizeof text);
    vulkan_complete(s);
    vulkan_submission_end(s);
  }
}

void vulkan_queue_destroy(vyre_plugin_queue *queue) {
  vulkan_work *work = queue->device->work;
  pthread_mutex_lock(&work->lock);
  drain(queue);
  if (queue->first != NULL) abandon(queue);
  queue->lane->users--;
  work->queues--;
  vulkan_queues_advance(queue->device);
  pthread_mutex_unlock(&work->lock);
  free(queue);
}

/* ---- Submissions ----------------------------------------------------------------------------- */

/* With the lock of work. */
void vulkan_submission_end(vulkan_submission *s) {
  vulkan_work *work = s->queue->device->work;
  s->queue->pending--;
  vulkan_recording *r = s->recording;
  vyre_plugin_batch *batch = r->batch;
  if (batch->idle_count < MOST_IDLE) {
    r->next = batch->idle;
    batch->idle = r;
    batch->idle_count++;
  } else {
    vulkan_recording_destroy(r);
  }
  for (uint32_t i = 0; i < s->signal_count; i++) vulkan_timeline_reach(&s->signals[i]);
  s->next = work->unused;
  work->unused = s;
}

static vulkan_recording *take_idle(vyre_plugin_batch *batch, uint32_t family, bool ordered) {
  vulkan_recording **link = &batch->idle;
  while (*link != NULL && ((*link)->family != family || (*link)->ordered != ordered)) link = &(*link)->next;
  vulkan_recording *r = *link;
  if (r == NULL) return NULL;
  *link = r->next;
  batch->idle_count--;
  return r;
}

/* Behind what is under way a recording begins with a barrier. Where nothing is, a semaphore that has been reached costs
 * less; and without timeline semaphores the barrier has to do for points of the same lane, too. */
static bool is_ordered(const vyre_plugin_queue *queue, const vyre_submit *submit) {
  const bool overlaps = (submit->flags & VYRE_SUBMIT_OVERLAP) != 0;
  if (queue->lane->progress == VK_NULL_HANDLE) return !overlaps || submit->wait_count > 0;
  return !overlaps && queue->pending > 0;
}

/* One of each, without making anything where that is possible. */
static vyre_status take(vyre_plugin_queue *queue, const vyre_submit *submit, vulkan_submission **out,
                        vyre_error *error) {
  vulkan_work *work = queue->device->work;
  vyre_plugin_batch *batch = submit->batch;
  pthread_mutex_lock(&work->lock);
  const bool ordered = is_ordered(queue, submit);
  vulkan_submission *s = work->unused;
  if (s != NULL) work->unused = s->next;
  else s = calloc(1, sizeof *s);
  vulkan_recording *r = s != NULL ? take_idle(batch, queue->lane->queue->family, ordered) : NULL;
  queue->pending += s != NULL;
  pthread_mutex_unlock(&work->lock);
  *out = s;
  if (s == NULL) return gpu_no_memory(error);
  s->queue = queue;
  s->lane = queue->lane;
  s->recording = r;
  s->signal_count = s->wait_count = 0;
  s->overlaps = (submit->flags & VYRE_SUBMIT_OVERLAP) != 0;
  return r != NULL ? VYRE_OK : vulkan_recording_make(batch, queue->lane->queue, ordered, &s->recording, error);
}

/* Nothing of it has happened. */
static void give_back(vyre_plugin_batch *batch, vulkan_submission *s) {
  if (s == NULL) return;
  vulkan_work *work = batch->device->work;
  s->signal_count = 0;
  pthread_mutex_lock(&work->lock);
  if (s->recording != NULL) {
    vulkan_submission_end(s);
  } else {
    s->queue->pending--;
    s->next = work->unused;
    work->unused = s;
  }
  pthread_mutex_unlock(&work->lock);
}

static bool make_room(void *list, uint32_t *room, uint32_t count, size_t bytes) {
  void *now, *grown;
  if (count <= *room) return true;
  memcpy(&now, list, sizeof now);
  grown = realloc(now, count * bytes);
  if (grown == NULL) return false;
  memcpy(list, &grown, sizeof grown);
  *room = count;
  return true;
}

static vyre_status fill(vulkan_submission *s, const vyre_submit *from, vyre_error *error) {
  if (!make_room(&s->waits, &s->wait_room, from->wait_count, sizeof *s->waits) ||
      !make_room(&s->signals, &s->signal_room, from->signal_count, sizeof *s->signals))
    return gpu_no_memory(error);
  if (from->wait_count > 0) memcpy(s->waits, from->waits, from->wait_count * sizeof *s->waits);
  for (uint32_t i = 0; i < from->signal_count; i++)
    s->signals[i] = (vulkan_signal){ NULL, from->signals[i].timeline, from->signals[i].value, s };
  s->wait_count = from->wait_count;
  s->signal_count = from->signal_count;
  s->timestamps = from->timestamps;
  s->timestamp_count = from->timestamps != NULL ? from->timestamp_count : 0;
  s->prints = from->prints;
  s->print_words = from->prints != NULL ? from->print_words : 0;
  s->completion = from->completion;
  s->status = VYRE_OK;
  s->vendor_code = 0;
  s->text[0] = 0;
  return VYRE_OK;
}

static bool is_safe(const vulkan_submission *s) {
  for (uint32_t i = 0; i < s->wait_count; i++)
    if (!vulkan_point_is_safe(&s->waits[i], s->lane)) return false;
  return true;
}

static void hold(vyre_plugin_queue *queue, vulkan_submission *s) {
  vulkan_work *work = queue->device->work;
  s->next = NULL;
  if (queue->first == NULL) {
    queue->next_held = work->held;
    work->held = queue;
    queue->first = s;
  } else {
    queue->end->next = s;
  }
  queue->end = s;
}

static vyre_status hand_over(vyre_plugin_queue *queue, vulkan_submission *s, vyre_error *error) {
  vulkan_work *work = queue->device->work;
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&work->lock);
  vulkan_queues_advance(queue->device);
  if (queue->first == NULL && is_safe(s)) status = vulkan_lane_hand_over(s, error);
  else hold(queue, s);
  if (status == VYRE_OK) vulkan_queues_advance(queue->device);
  pthread_mutex_unlock(&work->lock);
  return status;
}

static vyre_status check_submit(const vyre_plugin_queue *queue, const vyre_submit *submit, vyre_error *error) {
  vyre_status status = gpu_check_flags("a submit", submit->flags, VYRE_SUBMIT_OVERLAP, error);
  if (status != VYRE_OK) return status;
  if (submit->batch == NULL || submit->batch->device != queue->device)
    return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, gpu_name,
                    "the batch is not one of the queue's device. Fix: make it for that device");
  if (submit->batch->persistent == queue->persistent) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, gpu_name,
                  "the batch %s a persistent launch, and the queue %s. Fix: give persistent launches, and nothing "
                  "else, to a persistent queue",
                  submit->batch->persistent ? "is" : "is not", queue->persistent ? "is for those" : "is not for those");
}

vyre_status vulkan_submit(vyre_plugin_queue *queue, const vyre_submit *given, vyre_error *error) {
  vyre_submit submit;
  gpu_take(&submit, sizeof submit, given);
  vyre_status status = vulkan_alive(queue->device, error);
  if (status == VYRE_OK) status = check_submit(queue, &submit, error);
  if (status != VYRE_OK) return status;
  vulkan_submission *s;
  status = take(queue, &submit, &s, error);
  if (status == VYRE_OK) status = fill(s, &submit, error);
  if (status == VYRE_OK) status = vulkan_recording_arm(s->recording, &submit, error);
  if (status == VYRE_OK) status = hand_over(queue, s, error);
  if (status != VYRE_OK) give_back(submit.batch, s);
  return status;
}

/* ---- Native handles -------------------------------------------------------------------------- */

vyre_status vulkan_native_work(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error) {
  const vyre_plugin_queue *queue = object;
  const vyre_plugin_executable *e = object;
  *out = 0;
  if (tag == VULKAN_TAG_HANDLE && kind == VYRE_OBJECT_QUEUE) {
    *out = (uint64_t)(uintptr_t)queue->lane->queue->handle;
    return VYRE_OK;
  }
  const bool is_pipeline = tag == VULKAN_TAG_HANDLE && kind == VYRE_OBJECT_EXECUTABLE;
  for (int i = 0; is_pipeline && i < SPIRV_MODES * VULKAN_BLOCK_PLACES; i++) {
    const VkPipeline *pipelines = e->modules[i / VULKAN_BLOCK_PLACES].pipelines[i % VULKAN_BLOCK_PLACES];
    if (pipelines == NULL) continue;
    *out = (uint64_t)(uintptr_t)pipelines[0];
    return VYRE_OK;
  }
  return gpu_fail(error, VYRE_ERR_NOT_FOUND, gpu_name,
                  "object kind %u has no tag %u. Fix: queues and executables have tag 0", kind, tag);
}
