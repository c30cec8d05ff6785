/* Queues, fences and semaphores of the fake Vulkan. A queue is a thread; whoever waits does so under the one lock, for
 * what he waits for or for the loss of the device. */
#include "vulkan.h"

#ifdef FAKE_HAS_VULKAN
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ENTER for calls that speak for a device: a script that has one answer VK_ERROR_DEVICE_LOST has lost it, and nothing
 * runs on it any more. */
#define ENTER_ON(of, name)                                                             \
  do {                                                                                 \
    int64_t code_;                                                                     \
    if (fake_enter(#name, &code_)) return scripted_answer(of, (VkResult)code_);        \
  } while (0)

static VkResult scripted_answer(VkDevice device, VkResult code) {
  if (code != VK_ERROR_DEVICE_LOST) return code;
  vk_lose(device, code);
  for (uint32_t i = 0; i < device->queue_count; i++) fake_worker_wait(device->queues[i].worker);
  return code;
}

struct VkFence_T {
  bool is_signaled;
};

/* A binary one is 0 or 1. */
struct VkSemaphore_T {
  bool is_timeline;
  uint64_t value;
};

typedef struct point {
  VkSemaphore semaphore;
  uint64_t value;
} point;

typedef struct submission {
  VkDevice device;
  VkFence fence;
  point *waits, *signals;
  VkCommandBuffer *buffers;
  uint32_t wait_count, signal_count, buffer_count;
} submission;

/* ---- Fences and semaphores ------------------------------------------------------------------- */

VkResult vkCreateFence(VkDevice device, const VkFenceCreateInfo *info, const VkAllocationCallbacks *callbacks,
                       VkFence *out) {
  ENTER(vkCreateFence);
  (void)device, (void)callbacks;
  *out = calloc(1, sizeof **out);
  if (*out == VK_NULL_HANDLE) return VK_ERROR_OUT_OF_HOST_MEMORY;
  (*out)->is_signaled = (info->flags & VK_FENCE_CREATE_SIGNALED_BIT) != 0;
  fake_born("fence");
  return VK_SUCCESS;
}

void vkDestroyFence(VkDevice device, VkFence fence, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyFence);
  (void)device, (void)callbacks;
  if (fence == VK_NULL_HANDLE) return;
  free(fence);
  fake_died("fence");
}

VkResult vkResetFences(VkDevice device, uint32_t count, const VkFence *fences) {
  ENTER(vkResetFences);
  (void)device;
  pthread_mutex_lock(&vk_lock);
  for (uint32_t i = 0; i < count; i++) fences[i]->is_signaled = false;
  pthread_mutex_unlock(&vk_lock);
  return VK_SUCCESS;
}

VkResult vkGetFenceStatus(VkDevice device, VkFence fence) {
  ENTER_ON(device, vkGetFenceStatus);
  pthread_mutex_lock(&vk_lock);
  VkResult result = device->lost != VK_SUCCESS ? device->lost : fence->is_signaled ? VK_SUCCESS : VK_NOT_READY;
  pthread_mutex_unlock(&vk_lock);
  return result;
}

/* Waits on the condition until |deadline| of the realtime clock; false once it has passed. */
static bool wait_a_turn(const struct timespec *deadline) {
  if (deadline != NULL) return pthread_cond_timedwait(&vk_moved, &vk_lock, deadline) != ETIMEDOUT;
  pthread_cond_wait(&vk_moved, &vk_lock);
  return true;
}

/* NULL for a time that never passes. */
static const struct timespec *deadline_after(uint64_t timeout_ns, struct timespec *out) {
  if (timeout_ns > 1000000000000000000u) return NULL;
  clock_gettime(CLOCK_REALTIME, out);
  uint64_t ns = (uint64_t)out->tv_nsec + timeout_ns;
  out->tv_sec += (time_t)(ns / 1000000000u);
  out->tv_nsec = (long)(ns % 1000000000u);
  return out;
}

static bool are_signaled(uint32_t count, const VkFence *fences, bool all) {
  uint32_t signaled = 0;
  for (uint32_t i = 0; i < count; i++) signaled += fences[i]->is_signaled;
  return all ? signaled == count : signaled > 0;
}

VkResult vkWaitForFences(VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t timeout_ns) {
  ENTER_ON(device, vkWaitForFences);
  struct timespec until;
  const struct timespec *deadline = deadline_after(timeout_ns, &until);
  bool is_time = true;
  pthread_mutex_lock(&vk_lock);
  while (!are_signaled(count, fences, all) && device->lost == VK_SUCCESS && is_time)
    is_time = timeout_ns > 0 && wait_a_turn(deadline);
  VkResult result = device->lost != VK_SUCCESS             ? device->lost
                    : are_signaled(count, fences, all) ? VK_SUCCESS
                                                           : VK_TIMEOUT;
  pthread_mutex_unlock(&vk_lock);
  return result;
}

VkResult vkCreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo *info, const VkAllocationCallbacks *callbacks,
                           VkSemaphore *out) {
  ENTER(vkCreateSemaphore);
  (void)device, (void)callbacks;
  *out = calloc(1, sizeof **out);
  if (*out == VK_NULL_HANDLE) return VK_ERROR_OUT_OF_HOST_MEMORY;
  for (const VkBaseInStructure *s = info->pNext; s != NULL; s = s->pNext) {
    const VkSemaphoreTypeCreateInfo *type = (const void *)s;
    if (s->sType != VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO) continue;
    (*out)->is_timeline = type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    (*out)->value = type->initialValue;
  }
  fake_born("semaphore");
  return VK_SUCCESS;
}

void vkDestroySemaphore(VkDevice device, VkSemaphore semaphore, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroySemaphore);
  (void)device, (void)callbacks;
  if (semaphore == VK_NULL_HANDLE) return;
  free(semaphore);
  fake_died("semaphore");
}

VkResult vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore, uint64_t *value) {
  ENTER_ON(device, vkGetSemaphoreCounterValue);
  pthread_mutex_lock(&vk_lock);
  *value = semaphore->value;
  VkResult result = device->lost;
  pthread_mutex_unlock(&vk_lock);
  return result;
}

static bool are_reached(const VkSemaphoreWaitInfo *info) {
  uint32_t reached = 0;
  for (uint32_t i = 0; i < info->semaphoreCount; i++) reached += info->pSemaphores[i]->value >= info->pValues[i];
  return (info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) != 0 ? reached > 0 : reached == info->semaphoreCount;
}

VkResult vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout_ns) {
  ENTER_ON(device, vkWaitSemaphores);
  struct timespec until;
  const struct timespec *deadline = deadline_after(timeout_ns, &until);
  bool is_time = true;
  pthread_mutex_lock(&vk_lock);
  while (!are_reached(info) && device->lost == VK_SUCCESS && is_time) is_time = timeout_ns > 0 && wait_a_turn(deadline);
  VkResult result = device->lost != VK_SUCCESS ? device->lost : are_reached(info) ? VK_SUCCESS : VK_TIMEOUT;
  pthread_mutex_unlock(&vk_lock);
  return result;
}

VkResult vkSignalSemaphore(VkDevice device, const VkSemaphoreSignalInfo *info) {
  ENTER(vkSignalSemaphore);
  pthread_mutex_lock(&vk_lock);
  VkResult result = device->lost;
  if (result == VK_SUCCESS && info->value <= info->semaphore->value) result = VK_ERROR_UNKNOWN;
  if (result == VK_SUCCESS) info->semaphore->value = info->value;
  pthread_cond_broadcast(&vk_moved);
  pthread_mutex_unlock(&vk_lock);
  return result;
}

/* ---- Submitting ------------------------------------------------------------------------------ */

static bool may_start(const submission *s) {
  for (uint32_t i = 0; i < s->wait_count; i++)
    if (s->waits[i].semaphore->value < (s->waits[i].semaphore->is_timeline ? s->waits[i].value : 1)) return false;
  return true;
}

static void free_submission(submission *s) {
  free(s->waits);
  free(s->signals);
  free(s->buffers);
  free(s);
}

/* On the queue's thread. On a lost device nothing is signalled any more. */
static void run_submission(void *ctx) {
  submission *s = ctx;
  pthread_mutex_lock(&vk_lock);
  while (!may_start(s) && s->device->lost == VK_SUCCESS) pthread_cond_wait(&vk_moved, &vk_lock);
  for (uint32_t i = 0; s->device->lost == VK_SUCCESS && i < s->wait_count; i++)
    if (!s->waits[i].semaphore->is_timeline) s->waits[i].semaphore->value = 0;
  pthread_mutex_unlock(&vk_lock);
  for (uint32_t i = 0; i < s->buffer_count; i++) vk_run_commands(s->device, s->buffers[i]);
  pthread_mutex_lock(&vk_lock);
  bool is_lost = s->device->lost != VK_SUCCESS;
  for (uint32_t i = 0; i < s->signal_count && !is_lost; i++)
    s->signals[i].semaphore->value = s->signals[i].semaphore->is_timeline ? s->signals[i].value : 1;
  if (s->fence != VK_NULL_HANDLE && !is_lost) s->fence->is_signaled = true;
  pthread_cond_broadcast(&vk_moved);
  pthread_mutex_unlock(&vk_lock);
  free_submission(s);
}

static submission *new_submission(VkQueue queue, uint32_t waits, uint32_t buffers, uint32_t signals) {
  submission *s = calloc(1, sizeof *s);
  if (s == NULL) abort();
  s->device = queue->device;
  s->waits = calloc(waits + 1u, sizeof *s->waits);
  s->signals = calloc(signals + 1u, sizeof *s->signals);
  s->buffers = calloc(buffers + 1u, sizeof *s->buffers);
  if (s->waits == NULL || s->signals == NULL || s->buffers == NULL) abort();
  s->wait_count = waits;
  s->signal_count = signals;
  s->buffer_count = buffers;
  return s;
}

static VkResult hand_over(VkQueue queue, submission *s) {
  if (!fake_worker_put(queue->worker, run_submission, s)) abort();
  return VK_SUCCESS;
}

/* The fence alone, behind all that was submitted before. */
static VkResult hand_over_fence(VkQueue queue, VkFence fence) {
  submission *s = new_submission(queue, 0, 0, 0);
  s->fence = fence;
  return hand_over(queue, s);
}

static const VkTimelineSemaphoreSubmitInfo *timeline_values(const VkSubmitInfo *info) {
  for (const VkBaseInStructure *s = info->pNext; s != NULL; s = s->pNext)
    if (s->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) return (const void *)s;
  return NULL;
}

static submission *take_submit(VkQueue queue, const VkSubmitInfo *info) {
  const VkTimelineSemaphoreSubmitInfo *values = timeline_values(info);
  submission *s = new_submission(queue, info->waitSemaphoreCount, info->commandBufferCount, info->signalSemaphoreCount);
  for (uint32_t i = 0; i < s->wait_count; i++)
    s->waits[i] = (point){info->pWaitSemaphores[i],
                          values != NULL && i < values->waitSemaphoreValueCount ? values->pWaitSemaphoreValues[i] : 0};
  for (uint32_t i = 0; i < s->signal_count; i++)
    s->signals[i] = (point){
      info->pSignalSemaphores[i],
      values != NULL && i < values->signalSemaphoreValueCount ? values->pSignalSemaphoreValues[i] : 0
    };
  for (uint32_t i = 0; i < s->buffer_count; i++) s->buffers[i] = info->pCommandBuffers[i];
  return s;
}

VkResult vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence) {
  ENTER_ON(queue->device, vkQueueSubmit);
  VkResult result = atomic_load(&queue->device->lost);
  for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++) result = hand_over(queue, take_submit(queue, &infos[i]));
  return result == VK_SUCCESS && fence != VK_NULL_HANDLE ? hand_over_fence(queue, fence) : result;
}

static submission *take_submit2(VkQueue queue, const VkSubmitInfo2 *info) {
  submission *s = new_submission(queue, info->waitSemaphoreInfoCount, info->commandBufferInfoCount,
                                 info->signalSemaphoreInfoCount);
  for (uint32_t i = 0; i < s->wait_count; i++)
    s->waits[i] = (point){ info->pWaitSemaphoreInfos[i].semaphore, info->pWaitSemaphoreInfos[i].value };
  for (uint32_t i = 0; i < s->signal_count; i++)
    s->signals[i] = (point){ info->pSignalSemaphoreInfos[i].semaphore, info->pSignalSemaphoreInfos[i].value };
  for (uint32_t i = 0; i < s->buffer_count; i++) s->buffers[i] = info->pCommandBufferInfos[i].commandBuffer;
  return s;
}

VkResult vkQueueSubmit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence) {
  ENTER_ON(queue->device, vkQueueSubmit2);
  VkResult result = atomic_load(&queue->device->lost);
  for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++)
    result = hand_over(queue, take_submit2(queue, &infos[i]));
  return result == VK_SUCCESS && fence != VK_NULL_HANDLE ? hand_over_fence(queue, fence) : result;
}

VkResult vkQueueWaitIdle(VkQueue queue) {
  ENTER_ON(queue->device, vkQueueWaitIdle);
  fake_worker_wait(queue->worker);
  return atomic_load(&queue->device->lost);
}

VkResult vkDeviceWaitIdle(VkDevice device) {
  ENTER_ON(device, vkDeviceWaitIdle);
  for (uint32_t i = 0; i < device->queue_count; i++) fake_worker_wait(device->queues[i].worker);
  return atomic_load(&device->lost);
}
#endif
