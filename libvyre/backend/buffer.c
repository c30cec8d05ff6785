/* Memory of a device. Host-visible buffers are mapped once, when they are made; the others are reached through a
 * staging buffer and a copy. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/checked.h"
#include "base/error.h"

enum { GRAIN = 16, STAGING_BYTES = 4 << 20, MAPPABLE = VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE };

void vyre_buffer_retain(vyre_buffer *buffer) { vyre_refs_take(&buffer->refs); }

void vyre_buffer_destroy(vyre_buffer *buffer) {
  if (buffer == NULL || !vyre_refs_drop(&buffer->refs)) return;
  vyre_device *device = buffer->device;
  if (vyre_device_may_destroy(device)) {
    device->ops->buffer_destroy(buffer->plugin);
    if (buffer->release != NULL) buffer->release(buffer->release_ctx, buffer->handle);
  }
  free(buffer);
  vyre_device_release(device);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static const char *property_names(uint32_t properties, char *out, size_t capacity) {
  static const char *const names[] = { "device_local", "host_read", "host_write", "coherent", "concurrent" };
  out[0] = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if ((properties >> i & 1) != 0)
      snprintf(out + strlen(out), capacity - strlen(out), "%s%s", out[0] != 0 ? "+" : "", names[i]);
  return out;
}

/* The first kind of memory that has all of |wanted|. */
static vyre_status choose_memory(const vyre_device *device, uint32_t wanted, uint32_t *out, vyre_error *error) {
  char all[VYRE_ERROR_TEXT_BYTES / 2] = "", one[64];
  for (uint32_t i = 0; i < device->caps.memory_type_count; i++) {
    *out = device->caps.memory_types[i].properties;
    if ((*out & wanted) == wanted) return VYRE_OK;
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i > 0 ? ", " : "",
             property_names(*out, one, sizeof one));
  }
  return vyre_fail(error, VYRE_ERR_UNSUPPORTED, device->name,
                   "No memory of the device is %s; it has %s. Fix: ask for one of those.",
                   property_names(wanted, one, sizeof one), all);
}

static vyre_status create(vyre_device *device, uint64_t bytes, const vyre_buffer_request *request, vyre_buffer **out,
                          vyre_error *error) {
  vyre_buffer *buffer = calloc(1, sizeof *buffer);
  if (buffer == NULL) return vyre_fail_memory(error, device->name);
  vyre_status status = device->ops->buffer_create(device->plugin, request, &buffer->plugin, error);
  status = vyre_device_made(device, status, buffer->plugin, error);
  if (status == VYRE_OK && (request->properties & MAPPABLE) != 0) {
    status = device->ops->buffer_map(buffer->plugin, &buffer->map, error);
    status = vyre_device_made(device, status, bytes > 0 ? buffer->map : buffer, error);
    if (status != VYRE_OK) device->ops->buffer_destroy(buffer->plugin);
  }
  if (status != VYRE_OK) {
    free(buffer);
    return status;
  }
  buffer->refs = 1;
  buffer->device = device;
  vyre_device_retain(device);
  buffer->bytes = bytes;
  buffer->capacity = request->bytes;
  buffer->properties = request->properties;
  vyre_buffer_lies_in_itself(buffer);
  *out = buffer;
  return VYRE_OK;
}

static vyre_status check_size(const vyre_device *device, uint64_t bytes, vyre_error *error) {
  if (bytes <= device->caps.max_buffer_bytes) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_LIMIT, device->name,
                   "A buffer of %" PRIu64 " bytes is asked for, and the device takes at most %" PRIu64
                   " (max_buffer_bytes). Fix: split the data, or choose another device.",
                   bytes, device->caps.max_buffer_bytes);
}

vyre_status vyre_buffer_create(vyre_device *device, uint64_t bytes, uint32_t properties, vyre_buffer **out,
                               vyre_error *error) {
  *out = NULL;
  vyre_buffer_request request = { .size = sizeof request };
  vyre_status status = vyre_device_check_open(device, error);
  if (status == VYRE_OK) status = choose_memory(device, properties, &request.properties, error);
  if (status == VYRE_OK && !vyre_align_u64(bytes > 0 ? bytes : 1, GRAIN, &request.bytes)) request.bytes = UINT64_MAX;
  if (status == VYRE_OK) status = check_size(device, request.bytes, error);
  return status == VYRE_OK ? create(device, bytes, &request, out, error) : status;
}

static vyre_status check_import(const vyre_device *device, const vyre_import *import, vyre_error *error) {
  if (import->size != sizeof *import)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "import", "The record has size %u; %zu is known. Fix: set it.",
                     import->size, sizeof *import);
  if (import->kind == VYRE_HANDLE_NONE || import->kind > 31 ||
      (device->caps.import_kinds >> import->kind & 1) == 0 || import->kind == VYRE_HANDLE_BUFFER)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, device->name,
                     "The device does not import handles of kind %u. Fix: create a buffer and copy.", import->kind);
  uint64_t address = import->kind == VYRE_HANDLE_FD ? 0 : import->handle;
  if (import->bytes == 0 || import->bytes % GRAIN != 0 || address % GRAIN != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "import",
                     "The memory has %" PRIu64 " bytes at 0x%" PRIX64 "; both must be multiples of %d. Fix: align it, "
                     "or create a buffer and copy.",
                     import->bytes, address, GRAIN);
  return VYRE_OK;
}

vyre_status vyre_buffer_import(vyre_device *device, const vyre_import *import, vyre_buffer **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vyre_device_check_open(device, error);
  if (status == VYRE_OK) status = check_import(device, import, error);
  if (status == VYRE_OK) status = check_size(device, import->bytes, error);
  vyre_buffer_request request = { .size = sizeof request, .kind = import->kind, .handle = import->handle };
  request.bytes = import->bytes;
  uint32_t properties = import->properties | (import->kind == VYRE_HANDLE_HOST_POINTER ? MAPPABLE : 0);
  if (status == VYRE_OK) status = choose_memory(device, properties, &request.properties, error);
  if (status == VYRE_OK) status = create(device, import->bytes, &request, out, error);
  if (status != VYRE_OK) return status;
  vyre_buffer_lies_at(*out, import->kind, import->handle);
  (*out)->release = import->release;
  (*out)->release_ctx = import->release_ctx;
  (*out)->handle = import->handle;
  return VYRE_OK;
}

vyre_status vyre_buffer_export(vyre_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error) {
  *handle = 0;
  vyre_device *device = buffer->device;
  vyre_status status = vyre_device_check(device, error);
  if (status != VYRE_OK) return status;
  if (kind > 31 || (device->caps.export_kinds >> kind & 1) == 0)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, device->name,
                     "The device does not export handles of kind %u. Fix: copy the contents.", kind);
  status = vyre_device_answer(device, device->ops->buffer_export(buffer->plugin, kind, handle, error), error);
  if (status == VYRE_OK) vyre_buffer_lies_at(buffer, kind, *handle);
  return status;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

uint64_t vyre_buffer_bytes(const vyre_buffer *buffer) { return buffer->bytes; }
uint32_t vyre_buffer_properties(const vyre_buffer *buffer) { return buffer->properties; }

vyre_status vyre_buffer_check_range(const vyre_buffer *buffer, uint64_t offset, uint64_t bytes, const char *what,
                                    vyre_error *error) {
  if (offset <= buffer->bytes && bytes <= buffer->bytes - offset) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_OUT_OF_RANGE, what,
                   "%" PRIu64 " bytes from byte %" PRIu64 " on are asked for, and the buffer has %" PRIu64
                   ". Fix: stay inside, or make a larger buffer.",
                   bytes, offset, buffer->bytes);
}

vyre_status vyre_buffer_map(vyre_buffer *buffer, void **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vyre_device_check(buffer->device, error);
  if (status != VYRE_OK) return status;
  if (buffer->map == NULL)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, buffer->device->name,
                     "The host can't reach this memory. Fix: create the buffer with host_read or host_write, or use "
                     "vyre_buffer_read and vyre_buffer_write.");
  *out = buffer->map;
  return VYRE_OK;
}

typedef vyre_status (*cache_fn)(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error);

static vyre_status sync_cache(vyre_buffer *buffer, cache_fn fn, uint64_t offset, uint64_t bytes, const char *what,
                              vyre_error *error) {
  vyre_status status = vyre_device_check(buffer->device, error);
  if (status == VYRE_OK) status = vyre_buffer_check_range(buffer, offset, bytes, what, error);
  if (status != VYRE_OK || (buffer->properties & VYRE_MEMORY_COHERENT) != 0 || buffer->map == NULL) return status;
  return vyre_device_answer(buffer->device, fn(buffer->plugin, offset, bytes, error), error);
}

vyre_status vyre_buffer_flush(vyre_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error) {
  return sync_cache(buffer, buffer->device->ops->buffer_flush, offset, bytes, "flush", error);
}

vyre_status vyre_buffer_invalidate(vyre_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error) {
  return sync_cache(buffer, buffer->device->ops->buffer_invalidate, offset, bytes, "invalidate", error);
}

/* ---- Copies to and from the host ------------------------------------------------------------- */

static vyre_status copy_and_wait(vyre_queue *queue, vyre_buffer *source, uint64_t source_offset, vyre_buffer *target,
                                 uint64_t target_offset, uint64_t bytes, vyre_error *error) {
  vyre_batch *batch;
  vyre_submission *submission = NULL;
  vyre_status status = vyre_batch_create(queue->device, &batch, error);
  if (status != VYRE_OK) return status;
  status = vyre_batch_copy(batch, source, source_offset, target, target_offset, bytes, error);
  if (status == VYRE_OK) status = vyre_queue_submit(queue, batch, NULL, &submission, error);
  if (status == VYRE_OK) status = vyre_submission_wait(submission, VYRE_FOREVER, error);
  vyre_submission_destroy(submission);
  vyre_batch_destroy(batch);
  return status;
}

/* Moves |bytes| bytes through a staging buffer, a piece at a time; one of |in| and |out| is NULL. */
static vyre_status stage(vyre_buffer *buffer, uint64_t offset, const char *in, char *out, uint64_t bytes,
                         vyre_error *error) {
  vyre_queue *queue;
  vyre_buffer *staging = NULL;
  vyre_status status = vyre_device_internal_queue(buffer->device, &queue, error);
  if (status != VYRE_OK) return status;
  uint64_t piece = bytes < STAGING_BYTES ? bytes : STAGING_BYTES;
  uint32_t property = in != NULL ? VYRE_MEMORY_HOST_WRITE : VYRE_MEMORY_HOST_READ;
  status = vyre_buffer_create(buffer->device, piece, property, &staging, error);
  for (uint64_t done = 0; done < bytes && status == VYRE_OK; done += piece) {
    if (piece > bytes - done) piece = bytes - done;
    if (in != NULL) {
      memcpy(staging->map, in + done, piece);
      status = vyre_buffer_flush(staging, 0, piece, error);
      if (status == VYRE_OK) status = copy_and_wait(queue, staging, 0, buffer, offset + done, piece, error);
    } else {
      status = copy_and_wait(queue, buffer, offset + done, staging, 0, piece, error);
      if (status == VYRE_OK) status = vyre_buffer_invalidate(staging, 0, piece, error);
      if (status == VYRE_OK) memcpy(out + done, staging->map, piece);
    }
  }
  vyre_buffer_destroy(staging);
  vyre_queue_release(queue);
  return status;
}

vyre_status vyre_buffer_write(vyre_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes,
                              vyre_error *error) {
  vyre_status status = vyre_device_check_open(buffer->device, error);
  if (status == VYRE_OK) status = vyre_buffer_check_range(buffer, offset, bytes, "write", error);
  if (status != VYRE_OK || bytes == 0) return status;
  if (buffer->map == NULL) return stage(buffer, offset, data, NULL, bytes, error);
  memcpy((char *)buffer->map + offset, data, bytes);
  return vyre_buffer_flush(buffer, offset, bytes, error);
}

vyre_status vyre_buffer_read(vyre_buffer *buffer, uint64_t offset, void *data, uint64_t bytes, vyre_error *error) {
  vyre_status status = vyre_device_check(buffer->device, error);
  if (status == VYRE_OK) status = vyre_buffer_check_range(buffer, offset, bytes, "read", error);
  if (status != VYRE_OK || bytes == 0) return status;
  if (buffer->map == NULL) return stage(buffer, offset, NULL, data, bytes, error);
  status = vyre_buffer_invalidate(buffer, offset, bytes, error);
  if (status == VYRE_OK) memcpy(data, (const char *)buffer->map + offset, bytes);
  return status;
}
