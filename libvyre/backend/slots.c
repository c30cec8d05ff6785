/* The plugin's table, copied and completed: a plugin may be built with a shorter table, and may leave optional slots
 * empty. Behind this file nobody tests a slot for NULL. */
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"

static vyre_status unsupported(const char *slot, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_UNSUPPORTED, slot,
                   "The backend has no %s. Fix: do without it, or choose another backend.", slot);
}

static vyre_status no_finalize(const vyre_host *host, const vyre_capabilities *target, const void *blob, uint64_t bytes,
                               vyre_bytes *out, vyre_error *error) {
  (void)host, (void)target, (void)blob, (void)bytes;
  *out = (vyre_bytes){ .size = sizeof *out };
  return unsupported("finalize", error);
}

static vyre_status no_disassemble(const vyre_host *host, const void *blob, uint64_t bytes, vyre_bytes *text,
                                  vyre_error *error) {
  (void)host, (void)blob, (void)bytes;
  *text = (vyre_bytes){ .size = sizeof *text };
  return unsupported("disassemble", error);
}

static vyre_status no_buffer_export(vyre_plugin_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error) {
  (void)buffer, (void)kind;
  *handle = 0;
  return unsupported("buffer_export", error);
}

static vyre_status no_storage_read(vyre_plugin_queue *queue, int32_t fd, uint64_t file_offset,
                                   vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes,
                                   const vyre_point *signal, vyre_completion *completion, vyre_error *error) {
  (void)queue, (void)fd, (void)file_offset, (void)buffer, (void)offset, (void)bytes, (void)signal, (void)completion;
  return unsupported("storage_read", error);
}

static vyre_status no_native(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error) {
  (void)kind, (void)object, (void)tag;
  *out = 0;
  return unsupported("native", error);
}

/* Every slot that a plugin must have. */
#define MANDATORY(X)                                                                                             \
  X(probe) X(profile) X(compile) X(open) X(close) X(device_count) X(device_describe) X(device_open) X(device_close) \
  X(executable_load) X(executable_destroy) X(executable_report) X(max_resident) X(buffer_create) X(buffer_destroy) \
  X(buffer_map) X(buffer_flush) X(buffer_invalidate) X(set_create) X(set_destroy) X(batch_create) X(batch_destroy) \
  X(queue_create) X(queue_destroy) X(submit) X(timeline_create) X(timeline_destroy) X(timeline_value)             \
  X(timeline_signal) X(timeline_wait)

vyre_status vyre_slots_copy(const vyre_backend_ops *ops, const char *path, vyre_backend_ops *out, vyre_error *error) {
  *out = (vyre_backend_ops){ 0 };
  memcpy(out, ops, ops->size < sizeof *out ? ops->size : sizeof *out);
  out->size = sizeof *out;
  const char *missing = NULL;
#define CHECK_SLOT(slot) \
  if (out->slot == NULL && missing == NULL) missing = #slot;
  MANDATORY(CHECK_SLOT)
#undef CHECK_SLOT
  if (missing != NULL)
    return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, path,
                     "The plugin's table of %u bytes lacks the mandatory slot %s (VBP-12). Fix: report it to the "
                     "plugin's author.",
                     ops->size, missing);
  if (out->finalize == NULL) out->finalize = no_finalize;
  if (out->disassemble == NULL) out->disassemble = no_disassemble;
  if (out->buffer_export == NULL) out->buffer_export = no_buffer_export;
  if (out->storage_read == NULL) out->storage_read = no_storage_read;
  if (out->native == NULL) out->native = no_native;
  return VYRE_OK;
}

bool vyre_slots_finalize(const vyre_backend_ops *ops) { return ops->finalize != no_finalize; }
