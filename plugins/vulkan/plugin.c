/* The plugin's table, and the export. */
#include "plugins/vulkan/compile.h"
#include "plugins/vulkan/facts.h"
#include "plugins/vulkan/spirv.h"

static vyre_status profile(const vyre_host *host, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  vyre_capabilities record;
  (void)host;
  if (index > 0)
    return gpu_fail(error, VYRE_ERR_NOT_FOUND, gpu_name, "There is one profile, number 0. Fix: ask for that.");
  vulkan_describe_profile(&record);
  gpu_answer(out, &record, sizeof record);
  return VYRE_OK;
}

/* ---- Handles of Vulkan ----------------------------------------------------------------------- */

static vyre_status native(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error) {
  const vyre_plugin_device *device = object;
  const vyre_plugin_buffer *buffer = object;
  *out = 0;
  if (kind == VYRE_OBJECT_QUEUE || kind == VYRE_OBJECT_EXECUTABLE)
    return vulkan_native_work(kind, object, tag, out, error);
  if (kind == VYRE_OBJECT_DEVICE && tag == VULKAN_TAG_INSTANCE) *out = (uint64_t)(uintptr_t)device->plugin->instance;
  if (kind == VYRE_OBJECT_DEVICE && tag == VULKAN_TAG_PHYSICAL) *out = (uint64_t)(uintptr_t)device->facts->handle;
  if (kind == VYRE_OBJECT_DEVICE && tag == VULKAN_TAG_HANDLE) *out = (uint64_t)(uintptr_t)device->handle;
  if (kind == VYRE_OBJECT_BUFFER && tag == VULKAN_TAG_HANDLE) *out = (uint64_t)buffer->handle;
  if (kind == VYRE_OBJECT_BUFFER && tag == VULKAN_TAG_ADDRESS) *out = buffer->address;
  if (*out != 0) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_NOT_FOUND, gpu_name,
                  "An object of kind %u has nothing under tag %u. Fix: see the plugin's README for the tags.", kind, tag);
}

/* ---- The export ------------------------------------------------------------------------------ */

static const vyre_backend_ops ops = {
  .size = sizeof ops,
  .probe = vulkan_probe,
  .profile = profile,
  .compile = vulkan_compile,
  .disassemble = vulkan_disassemble,
  .open = vulkan_open,
  .close = vulkan_close,
  .device_count = vulkan_device_count,
  .device_describe = vulkan_device_describe,
  .device_open = vulkan_device_open,
  .device_close = vulkan_device_close,
  .executable_load = vulkan_executable_load,
  .executable_destroy = vulkan_executable_destroy,
  .executable_report = vulkan_executable_report,
  .max_resident = vulkan_max_resident,
  .buffer_create = vulkan_buffer_create,
  .buffer_destroy = vulkan_buffer_destroy,
  .buffer_map = vulkan_buffer_map,
  .buffer_flush = vulkan_buffer_flush,
  .buffer_invalidate = vulkan_buffer_invalidate,
  .buffer_export = vulkan_buffer_export,
  .set_create = vulkan_set_create,
  .set_destroy = vulkan_set_destroy,
  .batch_create = vulkan_batch_create,
  .batch_destroy = vulkan_batch_destroy,
  .queue_create = vulkan_queue_create,
  .queue_destroy = vulkan_queue_destroy,
  .submit = vulkan_submit,
  .timeline_create = vulkan_timeline_create,
  .timeline_destroy = vulkan_timeline_destroy,
  .timeline_value = vulkan_timeline_value,
  .timeline_signal = vulkan_timeline_signal,
  .timeline_wait = vulkan_timeline_wait,
  .native = native,
};

static vyre_backend_desc desc = {
  .magic = VYRE_ABI_MAGIC,
  .size = sizeof desc,
  .abi_major = VYRE_ABI_MAJOR,
  .abi_minor = VYRE_ABI_MINOR,
  .flags = VYRE_BACKEND_TAKES_KERNEL,
  .sanitizer = VYRE_ABI_SANITIZER,
  .fingerprint = VYRE_ABI_FINGERPRINT,
  .name = gpu_name,
  .version = "1.0.0",
  .build_id = vulkan_build_id,
  .ops = &ops,
  .opcodes = spirv_opcodes,
};

VYRE_BACKEND_EXPORT const vyre_backend_desc *vyre_backend_query(const vyre_backend_request *request);

/* The emitter's count is a constant of another file, which can't stand above. */
const vyre_backend_desc *vyre_backend_query(const vyre_backend_request *request) {
  (void)request;
  __atomic_store_n(&desc.opcode_count, spirv_opcode_count, __ATOMIC_RELAXED);
  return &desc;
}
