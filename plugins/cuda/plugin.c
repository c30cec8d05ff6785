/* What the plugin is, and its one export. */
#include "plugins/cuda/cuda.h"

static vyre_status profile(const vyre_host *host, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  vyre_capabilities record;
  (void)host;
  if (!cuda_profile(index, &record))
    return gpu_fail(error, VYRE_ERR_NOT_FOUND, gpu_name, "There is no profile %u. Fix: stop at the first one missing.",
                    index);
  gpu_answer(out, &record, sizeof record);
  return VYRE_OK;
}

static const vyre_backend_ops ops = {
  .size = sizeof ops,
  .probe = cuda_probe,
  .profile = profile,
  .compile = cuda_compile,
  .finalize = cuda_finalize,
  .disassemble = cuda_disassemble,
  .open = cuda_open,
  .close = cuda_close,
  .device_count = cuda_device_count,
  .device_describe = cuda_device_describe,
  .device_open = cuda_device_open,
  .device_close = cuda_device_close,
  .executable_load = cuda_executable_load,
  .executable_destroy = cuda_executable_destroy,
  .executable_report = cuda_executable_report,
  .max_resident = cuda_max_resident,
  .buffer_create = cuda_buffer_create,
  .buffer_destroy = cuda_buffer_destroy,
  .buffer_map = cuda_buffer_map,
  .buffer_flush = cuda_buffer_sync,
  .buffer_invalidate = cuda_buffer_sync,
  .buffer_export = cuda_buffer_export,
  .set_create = cuda_set_create,
  .set_destroy = cuda_set_destroy,
  .batch_create = cuda_batch_create,
  .batch_destroy = cuda_batch_destroy,
  .queue_create = cuda_queue_create,
  .queue_destroy = cuda_queue_destroy,
  .submit = cuda_submit,
  .timeline_create = cuda_timeline_create,
  .timeline_destroy = cuda_timeline_destroy,
  .timeline_value = cuda_timeline_value,
  .timeline_signal = cuda_timeline_signal,
  .timeline_wait = cuda_timeline_wait,
  .native = cuda_native,
};

static const vyre_backend_desc desc = {
  .magic = VYRE_ABI_MAGIC,
  .size = sizeof desc,
  .abi_major = VYRE_ABI_MAJOR,
  .abi_minor = VYRE_ABI_MINOR,
  .flags = VYRE_BACKEND_TAKES_KERNEL,
  .sanitizer = VYRE_ABI_SANITIZER,
  .fingerprint = VYRE_ABI_FINGERPRINT,
  .name = "cuda",
  .version = "1.0.0",
  .build_id = cuda_build_id,
  .ops = &ops,
  .opcodes = ptx_opcodes,
  .opcode_count = PTX_OPCODE_COUNT,
};

VYRE_BACKEND_EXPORT const vyre_backend_desc *vyre_backend_query(const vyre_backend_request *request);

const vyre_backend_desc *vyre_backend_query(const vyre_backend_request *request) {
  (void)request;
  return &desc;
}
