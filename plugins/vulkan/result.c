/* Answers of Vulkan as statuses, and the loss of a device, which lasts. */
#include <unistd.h>

#include "plugins/vulkan/vulkan.h"

typedef struct meaning {
  VkResult result;
  const char *name;
  vyre_status status;
  const char *fix;
} meaning;

static const meaning meanings[] = {
#define X(result, status, fix) { result, #result, VYRE_ERR_##status, fix },
#include "plugins/vulkan/results.def"
#undef X
};

/* A number that is not known: of a newer driver, or of a broken one. */
static const meaning unknown = { VK_RESULT_MAX_ENUM, "VkResult", VYRE_ERR_INTERNAL, "Fix: update the driver." };

static const meaning *meaning_of(VkResult result) {
  for (uint32_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
    if (meanings[i].result == result) return &meanings[i];
  return &unknown;
}

const char *vulkan_result_name(VkResult result) { return result == VK_SUCCESS ? "VK_SUCCESS" : meaning_of(result)->name; }

vyre_status vulkan_answer(VkResult result, const char *where, const char *call, vyre_error *error) {
  if (result == VK_SUCCESS) return VYRE_OK;
  const meaning *m = meaning_of(result);
  return gpu_fail_vendor(error, m->status, result, where, "%s answers %s (%d). %s", call, m->name, result, m->fix);
}

void vulkan_lose(vyre_plugin_device *device, const char *call) {
  if (atomic_exchange(&device->lost, true)) return;
  gpu_log(device->host, VYRE_LOG_ERROR, "device", "%s is lost: %s says so.", device->facts->properties.deviceName,
          call);
  if (device->work != NULL) vulkan_work_lost(device);
}

vyre_status vulkan_check(vyre_plugin_device *device, VkResult result, const char *call, vyre_error *error) {
  if (result == VK_SUCCESS) return VYRE_OK;
  if (result == VK_ERROR_DEVICE_LOST) vulkan_lose(device, call);
  return vulkan_answer(result, device->facts->properties.deviceName, call, error);
}

static bool is_forked(const vyre_plugin_device *device) {
  if (device->in_process != NULL) return atomic_load_explicit(device->in_process, memory_order_relaxed) == 0;
  return getpid() != device->process;
}

vyre_status vulkan_alive(vyre_plugin_device *device, vyre_error *error) {
  const char *name = device->facts->properties.deviceName;
  if (is_forked(device))
    return gpu_fail(error, VYRE_ERR_FORKED, name,
                    "The device was opened by process %d, and this is a child of it. Fix: open it anew in the child.",
                    (int)device->process);
  if (!atomic_load(&device->lost)) return VYRE_OK;
  return gpu_fail_vendor(error, VYRE_ERR_DEVICE_LOST, VK_ERROR_DEVICE_LOST, name,
                         "The device is lost. Fix: close it and open it anew; the system's log may say why.");
}
