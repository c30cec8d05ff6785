/* Binding sets: what a launch binds, checked once. Descriptors are a recording's, since they name its memory too. */
#include "plugins/vulkan/work.h"

#include <stdlib.h>
#include <string.h>

static const vyre_kernel_binding *binding_of(const vyre_plugin_executable *e, uint32_t slot) {
  return VYRE_KERNEL_AT(vyre_kernel_binding, e->kernel, bindings, slot);
}

static const char *slot_name(const vyre_plugin_executable *e, uint32_t slot) {
  return VYRE_KERNEL_TEXT(e->kernel, binding_of(e, slot)->name);
}

static vyre_status check_counts(const vyre_plugin_executable *e, const vyre_set_request *request, vyre_error *error) {
  if (request->bind_count != e->kernel->bindings.count)
    return gpu_fail(error, VYRE_ERR_MISSING_BINDING, e->name,
                    "the program binds %u buffers, %u were given. Fix: bind each", e->kernel->bindings.count,
                    request->bind_count);
  if (request->late_params || request->param_bytes == e->kernel->param_bytes) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_MISSING_BINDING, e->name,
                  "the parameters take %u bytes, %llu were given. Fix: give each in its type", e->kernel->param_bytes,
                  (unsigned long long)request->param_bytes);
}

/* All that the kernel takes for granted is there. */
static vyre_status check_elements(const vyre_plugin_executable *e, uint32_t slot, const vyre_bind *bind,
                                  vyre_error *error) {
  const vyre_kernel_binding *b = binding_of(e, slot);
  const uint64_t size = gpu_element_bytes(b->element), room = bind->bytes / size;
  const uint64_t wanted = b->length > bind->elements ? b->length : bind->elements;
  if (wanted <= room) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, slot_name(e, slot),
                  "`%s` has %llu elements of %llu bytes, and %llu bytes are bound. Fix: bind all of it",
                  slot_name(e, slot), (unsigned long long)wanted, (unsigned long long)size,
                  (unsigned long long)bind->bytes);
}

static vyre_status check_length(const vyre_plugin_executable *e, uint32_t slot, const vyre_bind *bind,
                                vyre_error *error) {
  const uint32_t bytes = bind->length_bits / 8;
  if (bind->length_bits == 0) return VYRE_OK;
  if ((bytes == 4 || bytes == 8) && bind->length_buffer != NULL && bind->length_buffer->device == e->device &&
      bind->length_offset % bytes == 0 && vulkan_in_buffer(bind->length_buffer, bind->length_offset, bytes))
    return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, slot_name(e, slot),
                  "the length of `%s` is to be a number of %u bits at byte %llu of a buffer, where there is none. Fix: "
                  "place 32 or 64 bits at a multiple of their size in a buffer of the device",
                  slot_name(e, slot), bind->length_bits, (unsigned long long)bind->length_offset);
}

vyre_status vulkan_set_check_range(const vyre_plugin_set *set, uint32_t slot, uint64_t offset, vyre_error *error) {
  const vyre_plugin_executable *e = set->executable;
  const vyre_bind *bind = &set->binds[slot];
  const uint32_t alignment = e->device->facts->caps.binding_alignment;
  if (bind->buffer == NULL && bind->bytes == 0) return VYRE_OK;
  if (bind->buffer != NULL && bind->buffer->device == e->device && offset % alignment == 0 &&
      vulkan_in_buffer(bind->buffer, offset, bind->bytes))
    return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, slot_name(e, slot),
                  "%llu bytes from byte %llu on are bound to `%s`, and do not lie in a buffer of the device, aligned "
                  "to %u bytes. Fix: bind a range of one",
                  (unsigned long long)bind->bytes, (unsigned long long)offset, slot_name(e, slot), alignment);
}

static vyre_status check_bind(const vyre_plugin_set *set, uint32_t slot, vyre_error *error) {
  const vyre_bind *bind = &set->binds[slot];
  vyre_status status =
    gpu_check_flags("a binding", bind->flags, VYRE_BIND_WRITTEN | VYRE_BIND_ZERO | VYRE_BIND_LATE, error);
  if (status == VYRE_OK) status = check_elements(set->executable, slot, bind, error);
  if (status == VYRE_OK) status = check_length(set->executable, slot, bind, error);
  /* A late offset is looked at when it comes. */
  const uint64_t offset = (bind->flags & VYRE_BIND_LATE) != 0 ? 0 : bind->offset;
  if (status == VYRE_OK) status = vulkan_set_check_range(set, slot, offset, error);
  return status;
}

/* By descriptors if they reach all of it, else by addresses. */
static vyre_status choose_mode(vyre_plugin_set *set, vyre_error *error) {
  const vyre_plugin_executable *e = set->executable;
  const uint32_t most = e->device->facts->properties.limits.maxStorageBufferRange;
  set->mode = e->facts.module_bytes[SPIRV_BOUND] != 0 ? SPIRV_BOUND : SPIRV_ADDRESSED;
  for (uint32_t slot = 0; slot < e->kernel->bindings.count; slot++) {
    if (vulkan_bound_bytes(&set->binds[slot]) <= most) continue;
    set->mode = SPIRV_ADDRESSED;
    if (e->facts.module_bytes[SPIRV_ADDRESSED] != 0) continue;
    return gpu_fail(error, VYRE_ERR_LIMIT, slot_name(e, slot),
                    "%llu bytes are bound to `%s`, device %s binds at most %u (maxStorageBufferRange), and the program "
                    "was compiled without buffer addresses. Fix: bind less, or use a device that has them",
                    (unsigned long long)set->binds[slot].bytes, slot_name(e, slot),
                    e->device->facts->properties.deviceName, most);
  }
  return VYRE_OK;
}

static vyre_status check(vyre_plugin_set *set, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t slot = 0; slot < set->executable->kernel->bindings.count && status == VYRE_OK; slot++) {
    status = check_bind(set, slot, error);
    set->late_offsets |= (set->binds[slot].flags & VYRE_BIND_LATE) != 0;
    set->lengths += set->binds[slot].length_bits != 0;
  }
  return status == VYRE_OK ? choose_mode(set, error) : status;
}

vyre_status vulkan_set_create(vyre_plugin_executable *e, const vyre_set_request *given, vyre_plugin_set **out,
                              vyre_error *error) {
  vyre_set_request request;
  *out = NULL;
  gpu_take(&request, sizeof request, given);
  vyre_status status = vulkan_alive(e->device, error);
  if (status == VYRE_OK) status = check_counts(e, &request, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_set *set = calloc(1, sizeof *set);
  if (set == NULL) return gpu_no_memory(error);
  set->executable = e;
  set->late_params = request.late_params != 0;
  set->binds = calloc((size_t)request.bind_count + 1, sizeof *set->binds);
  set->params = calloc((size_t)e->kernel->param_bytes + 1, 1);
  if (set->binds == NULL || set->params == NULL) {
    vulkan_set_destroy(set);
    return gpu_no_memory(error);
  }
  if (request.bind_count > 0) memcpy(set->binds, request.binds, request.bind_count * sizeof *set->binds);
  if (!set->late_params && request.param_bytes > 0) memcpy(set->params, request.params, (size_t)request.param_bytes);
  status = check(set, error);
  if (status == VYRE_OK) *out = set;
  else vulkan_set_destroy(set);
  return status;
}

void vulkan_set_destroy(vyre_plugin_set *set) {
  free(set->binds);
  free(set->params);
  free(set);
}
