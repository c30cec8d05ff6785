/* What is loaded: the plugin's blob, with machine code where the plugin makes some. Only that is worth a file, so the
 * disk cache keeps the blobs of plugins that finalize, and of no others. */
#include <stdlib.h>

#include "backend/objects.h"
#include "base/error.h"

static bool is_worth_keeping(const vyre_device *device) { return vyre_slots_finalize(device->ops); }

vyre_status vyre_blob_find(vyre_device *device, const vyre_compile_request *request, vyre_bytes *out) {
  *out = (vyre_bytes){ .size = sizeof *out };
  if (!is_worth_keeping(device)) return VYRE_ERR_NOT_FOUND;
  vyre_cache_id id;
  vyre_cache_id_of_executable(&device->file->desc, &device->caps, request, &id);
  return vyre_cache_get(&device->context->cache, &id, &out->data, &out->length);
}

void vyre_blob_keep(vyre_device *device, const vyre_compile_request *request, const vyre_bytes *blob) {
  if (!is_worth_keeping(device)) return;
  vyre_cache_id id;
  vyre_cache_id_of_executable(&device->file->desc, &device->caps, request, &id);
  vyre_cache_put(&device->context->cache, &id, blob->data, blob->length);
}

void vyre_blob_free(vyre_device *device, vyre_bytes *blob) {
  device->file->host.free(device->file->host.ctx, blob->data, blob->length);
  *blob = (vyre_bytes){ .size = sizeof *blob };
}

/* A plugin that finalizes for some targets only says so by UNSUPPORTED, and its blob is loaded as it is. */
static vyre_status finalize(vyre_device *device, vyre_bytes *blob, vyre_error *error) {
  vyre_bytes final = { .size = sizeof final };
  vyre_status status =
      device->ops->finalize(&device->file->host, &device->caps, blob->data, blob->length, &final, error);
  if (status == VYRE_ERR_UNSUPPORTED) return VYRE_OK;
  if (status != VYRE_OK) return vyre_device_answer(device, status, error);
  vyre_blob_free(device, blob);
  *blob = final;
  return VYRE_OK;
}

vyre_status vyre_blob_make(vyre_device *device, const vyre_compile_request *request, vyre_bytes *out,
                           vyre_error *error) {
  *out = (vyre_bytes){ .size = sizeof *out };
  vyre_status status = device->ops->compile(&device->file->host, &device->caps, request, out, error);
  if (status != VYRE_OK) return vyre_device_answer(device, status, error);
  status = finalize(device, out, error);
  if (status != VYRE_OK) vyre_blob_free(device, out);
  return status;
}
