/* Devices: which one a name means, opening, sticky loss, closing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"

/* ---- Which device ---------------------------------------------------------------------------- */

static void uuid_text(const uint8_t *uuid, char *out) {
  for (uint32_t i = 0; i < 16; i++) snprintf(out + 2 * i, 3, "%02x", uuid[i]);
}

/* A number, or the 32 digits of a uuid. */
static bool find_device(const vyre_plugin_file *file, const char *text, uint32_t *out) {
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && *end == 0 && strlen(text) < 9) {
    *out = (uint32_t)number;
    return number < file->device_count;
  }
  for (uint32_t i = 0; i < file->device_count; i++) {
    char uuid[33];
    uuid_text(file->devices[i].uuid, uuid);
    *out = i;
    if (strcmp(uuid, text) == 0) return true;
  }
  return false;
}

/* Whether a uuid names device |index| and no other: parts of one piece of hardware may have the same. */
static bool has_own_uuid(const vyre_plugin_file *file, uint32_t index) {
  static const uint8_t none[16] = { 0 };
  const uint8_t *uuid = file->devices[index].uuid;
  if (memcmp(uuid, none, sizeof none) == 0) return false;
  for (uint32_t i = 0; i < file->device_count; i++)
    if (i != index && memcmp(file->devices[i].uuid, uuid, sizeof none) == 0) return false;
  return true;
}

static vyre_status open_device(vyre_context *context, vyre_plugin_file *file, uint32_t index, vyre_device **out,
                               vyre_error *error) {
  vyre_device *device = calloc(1, sizeof *device);
  if (device == NULL) return vyre_fail_memory(error, file->name);
  vyre_status status = file->ops.device_open(file->plugin, index, &device->plugin, error);
  status = vyre_plugin_answer(file->path, status, error);
  if (status == VYRE_OK && device->plugin == NULL)
    status = vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, file->path,
                       "device_open succeeded without a device (VBP-16). Fix: report it to the plugin's author.");
  if (status != VYRE_OK) {
    free(device);
    return status;
  }
  device->refs = 1;
  device->context = context;
  vyre_refs_take(&context->refs);
  device->file = file;
  device->ops = &file->ops;
  device->caps = file->devices[index];
  pthread_mutex_init(&device->lock, NULL);
  pthread_cond_init(&device->changed, NULL);
  if (!has_own_uuid(file, index)) {
    snprintf(device->name, sizeof device->name, "%s:%u", file->name, index);
  } else {
    char uuid[33];
    uuid_text(device->caps.uuid, uuid);
    snprintf(device->name, sizeof device->name, "%s:%s", file->name, uuid);
  }
  *out = device;
  return VYRE_OK;
}

static vyre_status open_named(vyre_context *context, const char *name, vyre_device **out, vyre_error *error) {
  const char *colon = strchr(name, ':');
  char backend[VYRE_BACKEND_MAX_NAME + 1];
  size_t bytes = colon != NULL ? (size_t)(colon - name) : strlen(name);
  if (bytes == 0 || bytes >= sizeof backend)
    return vyre_fail(error, VYRE_ERR_NOT_FOUND, name,
                     "That is no device's name. Fix: write auto, BACKEND, BACKEND:NUMBER or BACKEND:UUID.");
  snprintf(backend, sizeof backend, "%.*s", (int)bytes, name);
  vyre_plugin_file *file;
  vyre_status status = vyre_backend_use(context, backend, &file, error);
  if (status != VYRE_OK) return status;
  uint32_t index = 0;
  if (colon != NULL && !find_device(file, colon + 1, &index))
    return vyre_fail(error, VYRE_ERR_NOT_FOUND, name,
                     "Backend %s has %u devices, and none is called so. Fix: `vyre backends` lists their numbers and "
                     "uuids.",
                     backend, file->device_count);
  return open_device(context, file, index, out, error);
}

/* Candidate |index| of `auto`: the setting backends.order, or every backend. */
static const char *candidate(vyre_context *context, uint32_t index) {
  vyre_config_value order;
  vyre_config_get(context->config, VYRE_CONFIG_BACKENDS_ORDER, &order);
  if (!order.is_set) return vyre_backend_name_at(context, index);
  return index < order.count ? order.list[index] : NULL;
}

/* The first candidate that has a device. What was passed over is logged, and stands in the error if nothing is left. */
static vyre_status open_auto(vyre_context *context, vyre_device **out, vyre_error *error) {
  char tried[VYRE_ERROR_TEXT_BYTES / 2] = "";
  const char *name;
  for (uint32_t i = 0; (name = candidate(context, i)) != NULL; i++) {
    vyre_error why = VYRE_ERROR_INIT;
    vyre_status status = open_named(context, name, out, &why);
    if (status == VYRE_OK) {
      vyre_log_write(context->log, VYRE_LOG_INFO, "device", "auto takes %s (%s).", (*out)->name, (*out)->caps.name);
      return VYRE_OK;
    }
    if (status == VYRE_ERR_REENTRANT || status == VYRE_ERR_NO_MEMORY)
      return vyre_fail(error, status, why.where, "%s", why.text);
    vyre_log_write(context->log, VYRE_LOG_INFO, "device", "auto passes over %s: %s", name, why.text);
    size_t used = strlen(tried);
    snprintf(tried + used, sizeof tried - used, "%s%s (%s)", i > 0 ? ", " : "", name, vyre_status_text(status));
  }
  return vyre_fail(error, VYRE_ERR_NO_DEVICE, "auto",
                   "No backend can be used: %s. Fix: `vyre backends --all` says why for each; a working installation "
                   "has cpu_ref.",
                   tried[0] != 0 ? tried : "none was found");
}

vyre_status vyre_device_open(vyre_context *context, const char *name, vyre_device **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vyre_registry_check(context, error);
  if (status != VYRE_OK) return status;
  if (name == NULL || strcmp(name, "auto") == 0) return open_auto(context, out, error);
  return open_named(context, name, out, error);
}

/* ---- State ----------------------------------------------------------------------------------- */

vyre_status vyre_device_answer(vyre_device *device, vyre_status status, vyre_error *error) {
  status = vyre_plugin_answer(device->name, status, error);
  if (status != VYRE_ERR_DEVICE_LOST) return status;
  atomic_store(&device->lost, true);
  return status;
}

vyre_status vyre_device_made(vyre_device *device, vyre_status status, const void *object, vyre_error *error) {
  status = vyre_device_answer(device, status, error);
  if (status != VYRE_OK || object != NULL) return status;
  return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, device->name,
                   "The plugin says that it made an object, and gives none (VBP-16). Fix: report it to the plugin's "
                   "author.");
}

vyre_status vyre_device_check(vyre_device *device, vyre_error *error) {
  vyre_status status = vyre_context_check(device->context, error);
  if (status != VYRE_OK || !atomic_load(&device->lost)) return status;
  return vyre_fail(error, VYRE_ERR_DEVICE_LOST, device->name,
                   "The device is lost. Fix: close it and open it anew.");
}

vyre_status vyre_device_check_open(vyre_device *device, vyre_error *error) {
  vyre_status status = vyre_device_check(device, error);
  if (status != VYRE_OK || !atomic_load(&device->closing)) return status;
  return vyre_fail(error, VYRE_ERR_CLOSED, device->name, "The device was closed. Fix: open it again.");
}

const char *vyre_device_backend(const vyre_device *device) { return device->file->name; }
const char *vyre_device_name(const vyre_device *device) { return device->name; }
const vyre_capabilities *vyre_device_capabilities(const vyre_device *device) { return &device->caps; }

vyre_status vyre_device_native(vyre_device *device, uint32_t tag, uint64_t *out, vyre_error *error) {
  *out = 0;
  vyre_status status = vyre_device_check(device, error);
  if (status != VYRE_OK) return status;
  return vyre_device_answer(device, device->ops->native(VYRE_OBJECT_DEVICE, device->plugin, tag, out, error), error);
}

vyre_status vyre_device_internal_queue(vyre_device *device, vyre_queue **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vyre_device_check_open(device, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&device->lock);
  vyre_queue *queue = device->internal;
  if (queue != NULL) vyre_queue_retain(queue);
  pthread_mutex_unlock(&device->lock);
  if (queue == NULL) {
    vyre_queue *made;
    status = vyre_queue_make(device, 0, &made, error);
    if (status != VYRE_OK) return status;
    pthread_mutex_lock(&device->lock);
    bool is_first = device->internal == NULL && !atomic_load(&device->closing);
    if (is_first) device->internal = made;
    queue = device->internal != NULL ? device->internal : made;
    if (queue != made || is_first) vyre_queue_retain(queue);
    pthread_mutex_unlock(&device->lock);
    if (queue != made) vyre_queue_release(made);
  }
  *out = queue;
  return VYRE_OK;
}

/* ---- Waiting and closing --------------------------------------------------------------------- */

/* Its live queues, each counted; false without memory. */
static bool take_queues(vyre_device *device, vyre_queue ***out, uint32_t *count) {
  pthread_mutex_lock(&device->lock);
  *count = 0;
  *out = calloc(device->queues.count + 1u, sizeof **out);
  for (uint32_t i = 0; i < device->queues.count && *out != NULL; i++)
    if (vyre_refs_try(&device->queues.data[i]->refs)) (*out)[(*count)++] = device->queues.data[i];
  pthread_mutex_unlock(&device->lock);
  return *out != NULL;
}

vyre_status vyre_device_wait(vyre_device *device, uint64_t timeout_ns, vyre_error *error) {
  vyre_status status = vyre_device_check(device, error);
  vyre_queue **queues;
  uint32_t count;
  if (status != VYRE_OK) return status;
  if (!take_queues(device, &queues, &count)) return vyre_fail_memory(error, device->name);
  uint64_t deadline = vyre_deadline_after(timeout_ns);
  for (uint32_t i = 0; i < count; i++) {
    if (status == VYRE_OK) status = vyre_queue_wait(queues[i], vyre_deadline_left(deadline), error);
    vyre_queue_release(queues[i]);
  }
  free(queues);
  return status;
}

/* A queue is listed until its last reference is gone, so a stop word that is seen here is alive. */
static void stop_persistent(vyre_device *device) {
  pthread_mutex_lock(&device->lock);
  for (uint32_t i = 0; i < device->queues.count; i++) {
    vyre_buffer *stop = device->queues.data[i]->stop;
    if (stop != NULL) __atomic_store_n((uint32_t *)stop->map, 1u, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&device->lock);
}

/* The threads that wait for its queues end by themselves once there is nothing to wait for. One that is late, in a
 * callback say, keeps the device to its own end. */
static void wait_for_threads(vyre_device *device, uint64_t deadline) {
  pthread_mutex_lock(&device->lock);
  while (device->threads > 0 && !vyre_is_waiter()) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_cond_timedwait(&device->changed, &device->lock, &until);
    if (vyre_deadline_left(deadline) == 0) break;
  }
  pthread_mutex_unlock(&device->lock);
}

/* Devices whose work never ended. Nobody looks at them again; the list says to leak checkers that they are kept on
 * purpose, because the plugin may still write to what they hold. */
static _Atomic(vyre_device *) abandoned;

void vyre_device_give_up(vyre_device *device) {
  if (atomic_exchange(&device->abandoned, true)) return;
  vyre_device_retain(device);
  atomic_store(&device->lost, true);
  device->next_abandoned = atomic_load(&abandoned);
  while (!atomic_compare_exchange_weak(&abandoned, &device->next_abandoned, device)) continue;
}

enum { SLICE_NS = 50000000 };

static vyre_status give_up_broken(vyre_device *device, vyre_status answer, vyre_error *error) {
  vyre_device_give_up(device);
  return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, device->name,
                   "The plugin can not wait for its own work (%s); the device is given up (VBP-22). Fix: report it to "
                   "the plugin's author.",
                   vyre_status_name(answer));
}

vyre_status vyre_device_await(vyre_device *device, vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns,
                              vyre_error *error) {
  uint64_t deadline = vyre_deadline_after(timeout_ns);
  for (;;) {
    vyre_status status = vyre_device_check(device, error);
    if (status != VYRE_OK) return status;
    uint64_t left = vyre_deadline_left(deadline), slice = left < SLICE_NS ? left : SLICE_NS;
    status = vyre_device_answer(device, device->ops->timeline_wait(timeline, value, slice, NULL), NULL);
    if (status == VYRE_OK) return status;
    if (status == VYRE_ERR_DEVICE_LOST) return vyre_device_check(device, error);
    if (status != VYRE_ERR_TIMEOUT) return give_up_broken(device, status, error);
    if (left <= SLICE_NS) return status;
  }
}

vyre_status vyre_device_close(vyre_device *device, uint64_t timeout_ns, vyre_error *error) {
  if (device == NULL) return VYRE_OK;
  vyre_status status = vyre_context_check(device->context, error);
  if (status != VYRE_OK) return status;
  uint64_t deadline = vyre_deadline_after(timeout_ns);
  atomic_store(&device->closing, true);
  stop_persistent(device);
  if (!atomic_load(&device->lost)) status = vyre_device_wait(device, timeout_ns, error);
  if (status == VYRE_ERR_TIMEOUT) {
    vyre_device_give_up(device);
    status = vyre_fail(error, VYRE_ERR_DEVICE_LOST, device->name,
                       "Work was still running when the time to close the device had passed; it is given up. Fix: "
                       "allow more time, or bound the work with a step limit.");
  } else {
    wait_for_threads(device, deadline);
  }
  pthread_mutex_lock(&device->lock);
  vyre_queue *internal = device->internal;
  device->internal = NULL;
  pthread_mutex_unlock(&device->lock);
  vyre_queue_destroy(internal);
  vyre_device_release(device);
  return status;
}

void vyre_device_retain(vyre_device *device) { vyre_refs_take(&device->refs); }

void vyre_device_release(vyre_device *device) {
  if (!vyre_refs_drop(&device->refs)) return;
  if (vyre_device_may_destroy(device)) device->ops->device_close(device->plugin);
  vyre_vector_free(&device->queues);
  vyre_vector_free(&device->executables);
  pthread_cond_destroy(&device->changed);
  pthread_mutex_destroy(&device->lock);
  vyre_context_release(device->context);
  free(device);
}

bool vyre_device_may_destroy(const vyre_device *device) {
  return !atomic_load(&device->abandoned) && vyre_context_check(device->context, NULL) == VYRE_OK;
}
