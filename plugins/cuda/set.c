/* Binding sets: checked and copied once. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

static vyre_status check_counts(const vyre_plugin_executable *x, const vyre_set_request *r, vyre_error *error) {
  const vyre_kernel_header *k = x->blob.kernel;
  if (r->bind_count != k->bindings.count)
    return gpu_fail(error, VYRE_ERR_MISSING_BINDING, x->name,
                    "the program binds %u buffers, %u were given. Fix: bind each", k->bindings.count, r->bind_count);
  if (!r->late_params && r->param_bytes != k->param_bytes)
    return gpu_fail(error, VYRE_ERR_MISSING_BINDING, x->name,
                    "the parameters take %u bytes, %llu were given. Fix: give each in its type", k->param_bytes,
                    (unsigned long long)r->param_bytes);
  return VYRE_OK;
}

/* The range, its length in elements and the place of a device's count. */
static vyre_status check_bind(const vyre_plugin_executable *x, uint32_t slot, const vyre_bind *bind,
                              vyre_error *error) {
  const vyre_kernel_header *k = x->blob.kernel;
  const vyre_kernel_binding *b = VYRE_KERNEL_AT(vyre_kernel_binding, k, bindings, slot);
  const char *name = VYRE_KERNEL_TEXT(k, b->name);
  vyre_status status =
    gpu_check_flags("a binding", bind->flags, VYRE_BIND_WRITTEN | VYRE_BIND_ZERO | VYRE_BIND_LATE, error);
  if (status != VYRE_OK) return status;
  bool fits = cuda_in_buffer(bind->buffer, bind->offset, bind->bytes) && bind->offset % 16 == 0 &&
              bind->elements <= bind->bytes / gpu_element_bytes(b->element);
  fits = fits && (bind->length_bits == 0 || bind->length_bits == 32 || bind->length_bits == 64);
  if (fits && bind->length_bits != 0)
    fits = bind->length_buffer != NULL && bind->length_offset % (bind->length_bits / 8) == 0 &&
           cuda_in_buffer(bind->length_buffer, bind->length_offset, bind->length_bits / 8);
  if (fits) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, name,
                  "what is bound to `%s` does not lie in its buffer, aligned to 16 bytes. Fix: bind a range of it",
                  name);
}

void cuda_set_destroy(vyre_plugin_set *set) {
  free(set->binds);
  free(set->params);
  free(set);
}

vyre_status cuda_set_create(vyre_plugin_executable *x, const vyre_set_request *given, vyre_plugin_set **out,
                            vyre_error *error) {
  vyre_set_request r;
  *out = NULL;
  gpu_take(&r, sizeof r, given);
  vyre_status status = cuda_check(x->device, error);
  if (status == VYRE_OK) status = check_counts(x, &r, error);
  for (uint32_t i = 0; status == VYRE_OK && i < r.bind_count; i++) status = check_bind(x, i, &r.binds[i], error);
  if (status != VYRE_OK) return status;
  vyre_plugin_set *set = calloc(1, sizeof *set);
  if (set == NULL) return gpu_no_memory(error);
  set->executable = x;
  set->binds = calloc((size_t)r.bind_count + 1, sizeof *set->binds);
  set->params = calloc((size_t)x->blob.kernel->param_bytes + 1, 1);
  if (set->binds == NULL || set->params == NULL) {
    cuda_set_destroy(set);
    return gpu_no_memory(error);
  }
  if (r.bind_count > 0) memcpy(set->binds, r.binds, r.bind_count * sizeof *set->binds);
  if (!r.late_params && r.param_bytes > 0) memcpy(set->params, r.params, r.param_bytes);
  set->is_late = r.late_params != 0;
  for (uint32_t i = 0; i < r.bind_count; i++) {
    set->is_late |= (r.binds[i].flags & VYRE_BIND_LATE) != 0;
    set->has_device_length |= r.binds[i].length_bits != 0;
  }
  *out = set;
  return VYRE_OK;
}
