/* Executables: blobs from anywhere, checked and loaded. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- Blobs ----------------------------------------------------------------------------------- */

static vyre_status bad_blob(vyre_error *error, const char *what) {
  return gpu_fail(error, VYRE_ERR_INVALID_FILE, gpu_name, "the executable's %s. Fix: compile the program again", what);
}

/* Numbers that memory is sized and written by. */
static bool facts_fit(const ptx_facts *f, const vyre_kernel_header *kernel, uint32_t variant) {
  bool in_memory = (f->flags & PTX_BLOCK_IN_MEMORY) != 0;
  uint32_t block = in_memory ? 8 : kernel->launch_bytes;
  bool fits = (f->flags & ~(uint32_t)(PTX_BLOCK_IN_MEMORY | PTX_COOPERATIVE | PTX_SHARED_DYNAMIC)) == 0 &&
              (variant == 0 || in_memory) && f->block_bytes == block && f->pointer_count >= kernel->bindings.count &&
              f->pointer_count <= kernel->bindings.count + sizeof f->hidden / sizeof *f->hidden &&
              f->param_bytes == (uint64_t)block + 8ull * f->pointer_count && f->param_bytes <= PTX_PARAM_LIMIT_LARGE;
  for (size_t i = 0; i < sizeof f->hidden / sizeof *f->hidden; i++) fits = fits && f->hidden[i] <= f->pointer_count;
  return fits;
}

static bool text_fits(const gpu_blob *blob, uint32_t offset, uint32_t bytes) {
  const uint8_t *code = blob->code;
  return bytes > 0 && offset >= sizeof(cuda_code) && offset <= blob->code_bytes && bytes <= blob->code_bytes - offset &&
         memchr(code + offset, 0, bytes) == code + offset + bytes - 1;
}

vyre_status cuda_blob_open(const void *data, uint64_t bytes, gpu_blob *blob, const cuda_code **code,
                           vyre_error *error) {
  vyre_status status = gpu_blob_read(cuda_build_id, data, bytes, blob, error);
  if (status != VYRE_OK) return status;
  if (blob->code_bytes < sizeof **code) return bad_blob(error, "code is cut off");
  *code = blob->code;
  for (uint32_t v = 0; v < CUDA_VARIANTS; v++) {
    if (v > 0 && (*code)->bytes[v] == 0 && (*code)->facts[0].flags & PTX_BLOCK_IN_MEMORY) continue;
    if (!text_fits(blob, (*code)->offset[v], (*code)->bytes[v])) return bad_blob(error, "text does not lie in it");
    if (!facts_fit(&(*code)->facts[v], blob->kernel, v)) return bad_blob(error, "parameters do not fit its kernel");
  }
  return VYRE_OK;
}

/* PTX of an older architecture runs on a newer one. */
static vyre_status check_target(const vyre_plugin_device *device, const gpu_blob *blob, const char *name,
                                vyre_error *error) {
  const vyre_capabilities *own = &device->facts->record;
  vyre_capabilities record = { .size = sizeof record };
  memcpy(record.profile, blob->profile, sizeof record.profile);
  uint32_t sm = cuda_architecture_of(&record);
  if (sm == 0 || sm > device->facts->sm)
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, name,
                    "the executable was compiled for %.63s, and %s is %s. Fix: compile it for that", blob->profile,
                    own->name, own->profile);
  if (blob->numeric & ~own->numeric)
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, name,
                    "the executable relies on numeric promises 0x%x, and %s makes 0x%x. Fix: compile it for that",
                    blob->numeric, own->name, own->numeric);
  return gpu_check_needs(blob->needs, own->needs, name, error);
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void tell(const vyre_plugin_executable *x) {
  const cuda_module *m = x->modules[0];
  for (uint32_t i = 0; i < m->entry_count; i++) {
    const cuda_entry *e = &m->entries[i];
    gpu_log(x->device->plugin->host, VYRE_LOG_DEBUG, "load",
            "%s, entry point %u: %u registers, %u bytes of workgroup memory and %u given at the launch, %u bytes of "
            "scratch an invocation, %u workgroups on each of %u multiprocessors",
            x->name, i, e->registers, e->shared_bytes, e->dynamic_shared, e->scratch_bytes, e->per_unit,
            x->device->facts->units);
  }
}

static vyre_status load(vyre_plugin_executable *x, const void *blob, uint64_t bytes, vyre_error *error) {
  x->copy = malloc(bytes > 0 ? bytes : 1);
  if (x->copy == NULL) return gpu_no_memory(error);
  if (bytes > 0) memcpy(x->copy, blob, bytes);
  vyre_status status = cuda_blob_open(x->copy, bytes, &x->blob, &x->code, error);
  if (status != VYRE_OK) return status;
  x->name = VYRE_KERNEL_TEXT(x->blob.kernel, x->blob.kernel->name);
  status = check_target(x->device, &x->blob, x->name, error);
  return status == VYRE_OK ? cuda_module_get(x, 0, &x->modules[0], error) : status;
}

vyre_status cuda_executable_load(vyre_plugin_device *device, const void *blob, uint64_t bytes,
                                 vyre_plugin_executable **out, vyre_error *error) {
  cuda_scope scope;
  *out = NULL;
  vyre_status status = cuda_enter(device, &scope, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_executable *x = calloc(1, sizeof *x);
  if (x != NULL) {
    x->device = device;
    status = load(x, blob, bytes, error);
  } else {
    status = gpu_no_memory(error);
  }
  cuda_leave(&scope);
  if (status == VYRE_OK) {
    tell(x);
    *out = x;
  } else if (x != NULL) {
    free(x->copy);
    free(x);
  }
  return status;
}

void cuda_executable_destroy(vyre_plugin_executable *x) {
  cuda_scope scope;
  if (cuda_enter_to_destroy(x->device, &scope)) {
    for (uint32_t v = 0; v < CUDA_VARIANTS; v++) cuda_module_drop(x->device, x->modules[v]);
    cuda_sweep(x->device);
    cuda_leave(&scope);
  }
  free(x->copy);
  free(x);
}

vyre_status cuda_executable_module(vyre_plugin_executable *x, bool in_memory, const cuda_module **module,
                                   const ptx_facts **facts, vyre_error *error) {
  uint32_t v = in_memory && (x->code->facts[0].flags & PTX_BLOCK_IN_MEMORY) == 0 ? 1 : 0;
  pthread_mutex_lock(&x->device->lock);
  cuda_module *found = x->modules[v];
  pthread_mutex_unlock(&x->device->lock);
  *facts = &x->code->facts[v];
  *module = found;
  if (found != NULL) return VYRE_OK;
  vyre_status status = cuda_module_get(x, v, &found, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&x->device->lock);
  bool is_first = x->modules[v] == NULL;
  if (is_first) x->modules[v] = found;
  *module = x->modules[v];
  pthread_mutex_unlock(&x->device->lock);
  if (!is_first) cuda_module_drop(x->device, found);
  return VYRE_OK;
}

/* ---- Reports --------------------------------------------------------------------------------- */

vyre_status cuda_max_resident(vyre_plugin_executable *x, uint64_t *workgroups, vyre_error *error) {
  *workgroups = 0;
  vyre_status status = cuda_check(x->device, error);
  if (status == VYRE_OK) *workgroups = cuda_resident(x->device, x->modules[0]);
  return status;
}

vyre_status cuda_executable_report(vyre_plugin_executable *x, vyre_launch_report *out, vyre_error *error) {
  vyre_status status = cuda_check(x->device, error);
  if (status != VYRE_OK) return status;
  const vyre_kernel_entry *first = gpu_entry(x->blob.kernel, 0);
  const cuda_module *m = x->modules[0];
  vyre_launch_report r = {
    .flags = x->code->facts[0].flags & PTX_COOPERATIVE ? VYRE_REPORT_NATIVE_GRID_BARRIER : 0,
    .subgroup_size = first->subgroup != 0 ? first->subgroup : x->blob.subgroup != 0 ? x->blob.subgroup : 32,
    .entry_points = m->entry_count,
    .max_resident = cuda_resident(x->device, m),
    .launches = __atomic_load_n(&x->launches, __ATOMIC_RELAXED),
  };
  memcpy(r.declared_workgroup, first->workgroup, sizeof r.declared_workgroup);
  memcpy(r.planned_workgroup, first->workgroup, sizeof r.planned_workgroup);
  for (int axis = 0; axis < 3; axis++) r.launched_grid[axis] = __atomic_load_n(&x->grid[axis], __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < m->entry_count; i++) {
    const cuda_entry *e = &m->entries[i];
    uint64_t shared = (uint64_t)e->shared_bytes + e->dynamic_shared;
    if (e->registers > r.registers) r.registers = e->registers;
    if (shared > r.shared_bytes) r.shared_bytes = shared;
    if (e->scratch_bytes > r.scratch_bytes) r.scratch_bytes = e->scratch_bytes;
  }
  r.spill_bytes = gpu_spill_bytes(x->blob.kernel, r.launched_grid);
  gpu_answer(out, &r, sizeof r);
  return VYRE_OK;
}
