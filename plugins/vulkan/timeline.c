/* Timelines: numbers on the host that submissions and the host move up. */
#include "plugins/vulkan/work.h"

#include <stdlib.h>
#include <time.h>

/* Who waits looks up now and then: for the loss of the device, and for a host that signals what work was to. */
static const uint64_t most_wait_ns = 50000000u, short_wait_ns = 1000000u;

/* ---- Points, with the lock of work ----------------------------------------------------------- */

static const vulkan_signal *find_promise(const vyre_plugin_timeline *timeline, uint64_t value) {
  const vulkan_signal *p = timeline->promised;
  while (p != NULL && p->value < value) p = p->next;
  return p;
}

const vulkan_submission *vulkan_point_find(const vyre_point *point) {
  if (point->timeline->furthest >= point->value) return NULL;
  const vulkan_signal *p = find_promise(point->timeline, point->value);
  return p != NULL ? p->submission : NULL;
}

/* Without timeline semaphores a lane can rely on its own order alone. */
bool vulkan_point_is_safe(const vyre_point *point, const vulkan_lane *lane) {
  if (point->timeline->furthest >= point->value) return true;
  const vulkan_submission *s = vulkan_point_find(point);
  return s != NULL && (lane->progress != VK_NULL_HANDLE || s->lane == lane);
}

void vulkan_timeline_promise(vulkan_signal *signal) {
  vulkan_signal **link = &signal->timeline->promised;
  while (*link != NULL && (*link)->value <= signal->value) link = &(*link)->next;
  signal->next = *link;
  *link = signal;
}

/* Who sees a value finds the records of all that was to come before it: it waits for what it has overtaken. */
void vulkan_timeline_reach(vulkan_signal *signal) {
  vyre_plugin_timeline *timeline = signal->timeline;
  vulkan_signal **link = &timeline->promised;
  while (*link != NULL && *link != signal) link = &(*link)->next;
  if (*link != NULL) *link = signal->next;
  if (signal->value > timeline->furthest) timeline->furthest = signal->value;
  const vulkan_signal *first = timeline->promised;
  const uint64_t reached = first == NULL || first->value > timeline->furthest ? timeline->furthest : signal->value;
  if (reached > timeline->value && (first == NULL || first->value > reached)) timeline->value = reached;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

vyre_status vulkan_timeline_create(vyre_plugin_device *device, uint64_t value, vyre_plugin_timeline **out,
                                   vyre_error *error) {
  *out = NULL;
  vyre_status status = vulkan_alive(device, error);
  if (status != VYRE_OK) return status;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return gpu_no_memory(error);
  (*out)->device = device;
  (*out)->value = (*out)->furthest = value;
  return VYRE_OK;
}

void vulkan_timeline_destroy(vyre_plugin_timeline *timeline) { free(timeline); }

/* Takes what has ended off the lanes that are to move the timeline. */
static void look(vyre_plugin_timeline *timeline) {
  vulkan_work *work = timeline->device->work;
  uint32_t lanes = 0;
  for (const vulkan_signal *p = timeline->promised; p != NULL; p = p->next)
    lanes |= 1u << (uint32_t)(p->submission->lane - work->lanes);
  for (uint32_t i = 0; lanes != 0; i++, lanes >>= 1)
    if ((lanes & 1) != 0) vulkan_lane_poll(&work->lanes[i]);
  vulkan_queues_advance(timeline->device);
}

/* DEVICE_LOST once it is, with everything that was under way told so. */
static vyre_status check_lost(vyre_plugin_device *device, vyre_error *error) {
  if (!atomic_load(&device->lost)) return VYRE_OK;
  vulkan_lanes_give_up(device);
  return vulkan_alive(device, error);
}

vyre_status vulkan_timeline_value(vyre_plugin_timeline *timeline, uint64_t *value, vyre_error *error) {
  vyre_plugin_device *device = timeline->device;
  *value = 0;
  vyre_status status = vulkan_alive(device, error);
  if (status != VYRE_OK && status != VYRE_ERR_DEVICE_LOST) return status;
  pthread_mutex_lock(&device->work->lock);
  if (status == VYRE_OK) look(timeline);
  status = check_lost(device, error);
  *value = timeline->value;
  pthread_mutex_unlock(&device->work->lock);
  return status;
}

vyre_status vulkan_timeline_signal(vyre_plugin_timeline *timeline, uint64_t value, vyre_error *error) {
  vyre_plugin_device *device = timeline->device;
  vyre_status status = vulkan_alive(device, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&device->work->lock);
  if (value > timeline->furthest) timeline->furthest = value;
  if (value > timeline->value) timeline->value = value;
  vulkan_queues_advance(device);
  pthread_cond_broadcast(&device->work->changed);
  pthread_mutex_unlock(&device->work->lock);
  return VYRE_OK;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until_changed(vulkan_work *work, uint64_t ns) {
  const uint64_t until = now_ns() + ns;
  const struct timespec at = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };
  pthread_cond_timedwait(&work->changed, &work->lock, &at);
}

/* Until somebody hands over what is to reach the value, or the host does. Without timeline semaphores what waits for
 * another lane is handed over by who looks how far that has come. */
static void wait_for_others(vulkan_work *work, uint64_t ns) {
  const bool looks = work->held != NULL && work->lanes[0].progress == VK_NULL_HANDLE;
  sleep_until_changed(work, looks && ns > short_wait_ns ? short_wait_ns : ns);
  for (uint32_t i = 0; looks && i < work->lane_count; i++) vulkan_lane_poll(&work->lanes[i]);
}

/* One turn of at most |ns|. */
static vyre_status wait_once(vyre_plugin_timeline *timeline, uint64_t value, uint64_t ns, vyre_error *error) {
  const vulkan_signal *promise = timeline->furthest >= value ? timeline->promised : find_promise(timeline, value);
  if (promise == NULL) {
    wait_for_others(timeline->device->work, ns);
    return VYRE_OK;
  }
  vyre_status status = vulkan_lane_wait(promise->submission, ns, error);
  return status == VYRE_ERR_TIMEOUT || status == VYRE_ERR_DEVICE_LOST ? VYRE_OK : status;
}

static vyre_status timed_out(const vyre_plugin_timeline *timeline, uint64_t value, vyre_error *error) {
  return gpu_fail(error, VYRE_ERR_TIMEOUT, gpu_name,
                  "the timeline is at %llu, not at %llu. Fix: wait longer, or see what should signal it",
                  (unsigned long long)timeline->value, (unsigned long long)value);
}

vyre_status vulkan_timeline_wait(vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns,
                                 vyre_error *error) {
  vyre_plugin_device *device = timeline->device;
  vyre_status status = vulkan_alive(device, error);
  if (status == VYRE_ERR_FORKED) return status;
  const uint64_t began = timeout_ns != UINT64_MAX ? now_ns() : 0;
  uint64_t passed = 0;
  pthread_mutex_lock(&device->work->lock);
  status = check_lost(device, error);
  if (status == VYRE_OK && timeline->value < value && timeout_ns == 0) look(timeline);
  while (status == VYRE_OK && timeline->value < value) {
    if (passed >= timeout_ns) {
      status = timed_out(timeline, value, error);
      break;
    }
    const uint64_t left = timeout_ns - passed;
    status = wait_once(timeline, value, left < most_wait_ns ? left : most_wait_ns, error);
    vulkan_queues_advance(device);
    if (status == VYRE_OK) status = check_lost(device, error);
    if (timeout_ns != UINT64_MAX) passed = now_ns() - began;
  }
  pthread_mutex_unlock(&device->work->lock);
  return status;
}
