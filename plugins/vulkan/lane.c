/* Lanes: work goes to a VkQueue, comes back in order, and is waited for. All of it under the lock of work. */
#include "plugins/vulkan/work.h"

#include <stdlib.h>
#include <string.h>

static bool has_timelines(const vulkan_lane *lane) { return lane->progress != VK_NULL_HANDLE; }

/* ---- Fences, where there are no timeline semaphores ------------------------------------------ */

static vulkan_fence *take_fence(vulkan_lane *lane, vyre_error *error) {
  vyre_plugin_device *device = lane->device;
  const VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
  vulkan_fence *fence = lane->fences;
  if (fence != NULL) {
    if (vulkan_check(device, device->vk.vkResetFences(device->handle, 1, &fence->handle), "vkResetFences", error) !=
        VYRE_OK)
      return NULL;
    lane->fences = fence->next;
  } else {
    fence = calloc(1, sizeof *fence);
    if (fence == NULL) {
      gpu_no_memory(error);
      return NULL;
    }
    if (vulkan_check(device, device->vk.vkCreateFence(device->handle, &info, NULL, &fence->handle), "vkCreateFence",
                     error) != VYRE_OK) {
      free(fence);
      return NULL;
    }
  }
  fence->users = 1;
  return fence;
}

static void drop_fence(vulkan_lane *lane, vulkan_fence *fence) {
  if (fence == NULL || --fence->users > 0) return;
  fence->next = lane->fences;
  lane->fences = fence;
}

/* ---- To the device --------------------------------------------------------------------------- */

/* Semaphores that a submission waits for: one a lane. */
typedef struct lane_waits {
  VkSemaphore semaphores[VULKAN_MAX_QUEUES];
  uint64_t serials[VULKAN_MAX_QUEUES];
  VkPipelineStageFlags stages[VULKAN_MAX_QUEUES];
  uint32_t count;
} lane_waits;

static void add_wait(lane_waits *w, const vulkan_lane *lane, uint64_t serial) {
  uint32_t i = 0;
  while (i < w->count && w->semaphores[i] != lane->progress) i++;
  if (i == w->count) {
    w->semaphores[i] = lane->progress;
    w->serials[i] = 0;
    w->stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    w->count++;
  }
  if (serial > w->serials[i]) w->serials[i] = serial;
}

/* What the lane itself was given before is behind a barrier of the recording, if that is ordered. What has ended is
 * waited for all the same if it is of this queue: the wait makes its writes visible. */
static void find_waits(lane_waits *w, const vulkan_submission *s) {
  if (!has_timelines(s->lane)) return;
  if (!s->recording->ordered && !s->overlaps && s->queue->last > 0) add_wait(w, s->lane, s->queue->last);
  for (uint32_t i = 0; i < s->wait_count; i++) {
    const vulkan_submission *before = vulkan_point_find(&s->waits[i]);
    if (before == NULL || before->serial <= before->lane->reached) continue;
    if (before->lane != s->lane || !s->recording->ordered) add_wait(w, before->lane, before->serial);
  }
}

static VkResult give(vulkan_submission *s, const lane_waits *w, uint64_t serial) {
  vulkan_lane *lane = s->lane;
  const VkTimelineSemaphoreSubmitInfo serials = { .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                  .waitSemaphoreValueCount = w->count,
                                                  .pWaitSemaphoreValues = w->serials,
                                                  .signalSemaphoreValueCount = 1,
                                                  .pSignalSemaphoreValues = &serial };
  const VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                              .pNext = has_timelines(lane) ? &serials : NULL,
                              .waitSemaphoreCount = w->count,
                              .pWaitSemaphores = w->semaphores,
                              .pWaitDstStageMask = w->stages,
                              .commandBufferCount = 1,
                              .pCommandBuffers = &s->recording->commands,
                              .signalSemaphoreCount = has_timelines(lane) ? 1 : 0,
                              .pSignalSemaphores = &lane->progress };
  pthread_mutex_lock(&lane->queue->lock);
  VkResult result = lane->device->vk.vkQueueSubmit(lane->queue->handle, 1, &info,
                                                   s->fence != NULL ? s->fence->handle : VK_NULL_HANDLE);
  pthread_mutex_unlock(&lane->queue->lock);
  return result;
}

static void note_launches(const vulkan_submission *s) {
  const vyre_plugin_batch *batch = s->recording->batch;
  for (uint32_t i = 0; i < batch->plan_count; i++) {
    const vyre_dispatch *d = &batch->plans[i].dispatch;
    memcpy(d->executable->grid, d->grid, sizeof d->executable->grid);
    d->executable->launches++;
  }
}

static void append(vulkan_lane *lane, vulkan_submission *s) {
  s->next = NULL;
  if (lane->end != NULL) lane->end->next = s;
  else lane->first = s;
  lane->end = s;
  for (uint32_t i = 0; i < s->signal_count; i++) vulkan_timeline_promise(&s->signals[i]);
}

vyre_status vulkan_lane_hand_over(vulkan_submission *s, vyre_error *error) {
  vulkan_lane *lane = s->lane;
  vyre_plugin_device *device = lane->device;
  lane_waits w;
  w.count = 0;
  find_waits(&w, s);
  if (!has_timelines(lane) && (s->fence = take_fence(lane, error)) == NULL)
    return atomic_load(&device->lost) ? VYRE_ERR_DEVICE_LOST : VYRE_ERR_NO_MEMORY;
  VkResult result = give(s, &w, lane->last + 1);
  if (result != VK_SUCCESS) {
    drop_fence(lane, s->fence);
    s->fence = NULL;
    return vulkan_check(device, result, "vkQueueSubmit", error);
  }
  s->serial = s->queue->last = ++lane->last;
  device->work->destroyed = 0;
  note_launches(s);
  append(lane, s);
  pthread_cond_broadcast(&device->work->changed);
  return VYRE_OK;
}

/* It has waited, and can't be given to the device now: it fails in its place. */
static void fail_in_place(vulkan_submission *s, vyre_status status, const vyre_error *error) {
  s->status = status;
  s->vendor_code = error->vendor_code;
  memcpy(s->text, error->text, sizeof s->text - 1);
  s->serial = s->lane->last;
  append(s->lane, s);
}

/* Some drivers (Mesa's llvmpipe) keep pipelines that were destroyed until a queue is used again, which may never be. */
void vulkan_lanes_note_destroyed(vyre_plugin_device *device) {
  enum { MANY = 8 };
  vulkan_work *work = device->work;
  vulkan_queue *queue = work->lanes[0].queue;
  const VkSubmitInfo nothing = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO };
  pthread_mutex_lock(&work->lock);
  const bool many = ++work->destroyed % MANY == 0 && !atomic_load(&device->lost);
  pthread_mutex_unlock(&work->lock);
  if (!many) return;
  pthread_mutex_lock(&queue->lock);
  device->vk.vkQueueSubmit(queue->handle, 1, &nothing, VK_NULL_HANDLE);
  pthread_mutex_unlock(&queue->lock);
}

/* ---- Back from it ---------------------------------------------------------------------------- */

void vulkan_lane_retire(vulkan_lane *lane, uint64_t serial) {
  if (serial > lane->reached) lane->reached = serial;
  while (lane->first != NULL && lane->first->serial <= lane->reached) {
    vulkan_submission *s = lane->first;
    lane->first = s->next;
    if (lane->first == NULL) lane->end = NULL;
    vulkan_complete(s);
    drop_fence(lane, s->fence);
    s->fence = NULL;
    vulkan_submission_end(s);
  }
}

/* How far the fences have come; the first that is not signalled ends the look. */
static uint64_t fences_reached(const vulkan_lane *lane, VkResult *result) {
  const vyre_plugin_device *device = lane->device;
  uint64_t reached = lane->reached;
  for (const vulkan_submission *s = lane->first; s != NULL; s = s->next) {
    if (s->fence != NULL) *result = device->vk.vkGetFenceStatus(device->handle, s->fence->handle);
    if (*result != VK_SUCCESS) break;
    reached = s->serial;
  }
  if (*result == VK_NOT_READY) *result = VK_SUCCESS;
  return reached;
}

void vulkan_lane_poll(vulkan_lane *lane) {
  vyre_plugin_device *device = lane->device;
  if (lane->first == NULL) return;
  uint64_t reached = lane->reached;
  VkResult result = VK_SUCCESS;
  if (has_timelines(lane)) result = device->vk.vkGetSemaphoreCounterValue(device->handle, lane->progress, &reached);
  else reached = fences_reached(lane, &result);
  /* Anything but a loss is seen again by whoever waits. */
  if (result == VK_SUCCESS) vulkan_lane_retire(lane, reached);
  else vulkan_check(device, result, "asking how far a queue has come", NULL);
}

static VkResult wait_timeline(const vulkan_lane *lane, uint64_t serial, uint64_t ns) {
  const VkSemaphoreWaitInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                     .semaphoreCount = 1,
                                     .pSemaphores = &lane->progress,
                                     .pValues = &serial };
  return lane->device->vk.vkWaitSemaphores(lane->device->handle, &info, ns);
}

/* What to wait for in place of a submission that failed, and so has none: that of the last before it. */
static vulkan_fence *find_fence(const vulkan_submission *s) {
  vulkan_fence *fence = NULL;
  for (const vulkan_submission *at = s->lane->first; at != NULL; at = at == s ? NULL : at->next)
    if (at->fence != NULL) fence = at->fence;
  return fence;
}

vyre_status vulkan_lane_wait(const vulkan_submission *s, uint64_t ns, vyre_error *error) {
  vulkan_lane *lane = s->lane;
  vyre_plugin_device *device = lane->device;
  vulkan_fence *fence = s->fence == NULL && !has_timelines(lane) ? find_fence(s) : s->fence;
  const uint64_t serial = s->serial;
  VkResult result = VK_SUCCESS;
  if (fence != NULL) fence->users++;
  pthread_mutex_unlock(&device->work->lock);
  if (has_timelines(lane)) result = wait_timeline(lane, serial, ns);
  else if (fence != NULL) result = device->vk.vkWaitForFences(device->handle, 1, &fence->handle, VK_TRUE, ns);
  pthread_mutex_lock(&device->work->lock);
  drop_fence(lane, fence);
  if (result == VK_SUCCESS) vulkan_lane_retire(lane, serial);
  return vulkan_check(device, result, "waiting for a queue", error);
}

/* ---- Loss ------------------------------------------------------------------------------------ */

static void end_as_lost(vulkan_submission *s) {
  static const char text[] = "The device was lost before this had ended. Fix: open it anew, and shorten what runs "
                             "for long.";
  s->status = VYRE_ERR_DEVICE_LOST;
  s->vendor_code = VK_ERROR_DEVICE_LOST;
  memcpy(s->text, text, sizeof text);
  vulkan_complete(s);
  drop_fence(s->lane, s->fence);
  s->fence = NULL;
  vulkan_submission_end(s);
}

static void end_all(vulkan_submission **first, vulkan_submission **end) {
  while (*first != NULL) {
    vulkan_submission *s = *first;
    *first = s->next;
    end_as_lost(s);
  }
  *end = NULL;
}

void vulkan_lanes_give_up(vyre_plugin_device *device) {
  vulkan_work *work = device->work;
  if (work->is_given_up) return;
  work->is_given_up = true;
  for (uint32_t i = 0; i < work->lane_count; i++) end_all(&work->lanes[i].first, &work->lanes[i].end);
  for (; work->held != NULL; work->held = work->held->next_held) end_all(&work->held->first, &work->held->end);
  pthread_cond_broadcast(&work->changed);
}

/* ---- What has waited ------------------------------------------------------------------------- */

static bool is_safe(const vulkan_submission *s) {
  for (uint32_t i = 0; i < s->wait_count; i++)
    if (!vulkan_point_is_safe(&s->waits[i], s->lane)) return false;
  return true;
}

/* Hands over the first ones of a queue. True if there were any. */
static bool advance(vyre_plugin_queue *queue) {
  bool any = false;
  while (queue->first != NULL && is_safe(queue->first)) {
    vulkan_submission *s = queue->first;
    vyre_error error = VYRE_ERROR_INIT;
    queue->first = s->next;
    if (queue->first == NULL) queue->end = NULL;
    vyre_status status = vulkan_lane_hand_over(s, &error);
    if (status != VYRE_OK) fail_in_place(s, status, &error);
    any = true;
  }
  return any;
}

void vulkan_queues_advance(vyre_plugin_device *device) {
  vulkan_work *work = device->work;
  bool any = work->held != NULL;
  while (any) {
    any = false;
    vyre_plugin_queue **link = &work->held;
    while (*link != NULL) {
      vyre_plugin_queue *queue = *link;
      any |= advance(queue);
      if (queue->first == NULL) *link = queue->next_held;
      else link = &queue->next_held;
    }
  }
  for (uint32_t i = 0; i < work->lane_count; i++) vulkan_lane_retire(&work->lanes[i], 0); /* what failed at once */
}
