/* Compiling without a device: for a profile, or for a record from elsewhere. A plugin whose library or device is
 * missing here does it all the same. */
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"

vyre_status vyre_backend_profile(vyre_context *context, const char *name, uint32_t index, vyre_capabilities *out,
                                 vyre_error *error) {
  vyre_plugin_file *file;
  if (out->size != sizeof *out)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "profile", "The record has size %u; %zu is known. Fix: set it.",
                     out->size, sizeof *out);
  vyre_status status = vyre_backend_use_compiler(context, name, &file, error);
  if (status != VYRE_OK) return status;
  vyre_capabilities caps = { .size = sizeof caps };
  status = vyre_plugin_answer(file->path, file->ops.profile(&file->host, index, &caps, error), error);
  if (status != VYRE_OK) return status;
  if (memchr(caps.profile, 0, sizeof caps.profile) == NULL)
    return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, file->path,
                     "Profile %u has a name without end (VBP-17). Fix: report it to the plugin's author.", index);
  caps.size = sizeof caps;
  *out = caps;
  return VYRE_OK;
}

static void free_bytes(const vyre_plugin_file *file, vyre_bytes *bytes) {
  file->host.free(file->host.ctx, bytes->data, bytes->length);
}

/* What a slot has stored, as a block of the caller's, with a NUL behind it that is not counted. */
static vyre_status hand_over(const vyre_plugin_file *file, vyre_status status, vyre_bytes *from, char **out,
                             size_t *bytes, vyre_error *error) {
  status = vyre_plugin_answer(file->path, status, error);
  if (status != VYRE_OK) return status;
  if (from->data == NULL && from->length != 0)
    return vyre_fail(error, VYRE_ERR_BROKEN_PLUGIN, file->path,
                     "The plugin gave %llu bytes at no address (VBP-16). Fix: report it to the plugin's author.",
                     (unsigned long long)from->length);
  char *copy = from->length < SIZE_MAX ? malloc((size_t)from->length + 1) : NULL;
  if (copy != NULL) {
    if (from->length > 0) memcpy(copy, from->data, from->length);
    copy[from->length] = 0;
    *out = copy;
    *bytes = from->length;
  }
  free_bytes(file, from);
  return copy != NULL ? VYRE_OK : vyre_fail_memory(error, "compile");
}

vyre_status vyre_compile_blob(vyre_context *context, const char *name, const vyre_capabilities *target,
                              const vyre_program *program, const vyre_compile_options *call, uint8_t **out,
                              size_t *bytes, vyre_error *error) {
  vyre_plugin_file *file;
  vyre_final_options options;
  *out = NULL;
  *bytes = 0;
  vyre_status status = vyre_compile_check(target, program, call, error);
  if (status == VYRE_OK) status = vyre_backend_use_compiler(context, name, &file, error);
  if (status != VYRE_OK) return status;
  status = vyre_options_merge(context->config, program, call, &options, error);
  if (status != VYRE_OK) return status;
  vyre_request request;
  char *copy = NULL;
  status = vyre_request_make(context, &file->desc, target, program, &options, call, &request, error);
  if (status == VYRE_OK) {
    vyre_bytes blob = { .size = sizeof blob };
    status = file->ops.compile(&file->host, target, &request.record, &blob, error);
    status = hand_over(file, status, &blob, &copy, bytes, error);
    vyre_request_free(&request);
  }
  *out = (uint8_t *)copy;
  vyre_options_free(&options);
  return status;
}

vyre_status vyre_disassemble(vyre_context *context, const char *name, const void *blob, size_t bytes, char **out,
                             size_t *length, vyre_error *error) {
  vyre_plugin_file *file;
  *out = NULL;
  *length = 0;
  vyre_status status = vyre_backend_use_compiler(context, name, &file, error);
  if (status != VYRE_OK) return status;
  vyre_bytes text = { .size = sizeof text };
  return hand_over(file, file->ops.disassemble(&file->host, blob, bytes, &text, error), &text, out, length, error);
}
