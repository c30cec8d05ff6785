/* From a program to an executable. Its final options and its fingerprint are the key: who compiles the same again gets
 * the same executable. */
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"

/* ---- The device's list of executables -------------------------------------------------------- */

static bool is_same(const vyre_executable *e, const uint8_t *fingerprint, const vyre_final_options *o) {
  return memcmp(e->fingerprint, fingerprint, VYRE_FINGERPRINT_BYTES) == 0 && e->flags == o->flags &&
         e->ulp == o->ulp && e->subgroup == o->subgroup && e->level == o->level && e->steps == o->steps &&
         e->spec_count == o->spec_count &&
         (o->spec_count == 0 || memcmp(e->spec, o->spec, o->spec_count * sizeof *o->spec) == 0);
}

/* One that is there already, counted; NULL if there is none. The lock is held. */
static vyre_executable *find_executable(vyre_device *device, const uint8_t *fingerprint, const vyre_final_options *o) {
  for (uint32_t i = 0; i < device->executables.count; i++) {
    vyre_executable *e = device->executables.data[i];
    if (is_same(e, fingerprint, o) && vyre_refs_try(&e->refs)) return e;
  }
  return NULL;
}

/* Lists |made|, or gives the one that another thread has listed meanwhile; NULL without memory. */
static vyre_executable *list_executable(vyre_device *device, vyre_executable *made, const vyre_final_options *o) {
  pthread_mutex_lock(&device->lock);
  vyre_executable *listed = find_executable(device, made->fingerprint, o);
  if (listed == NULL && vyre_vector_push(&device->executables, made)) listed = made;
  pthread_mutex_unlock(&device->lock);
  return listed;
}

static void unlist_executable(vyre_executable *executable) {
  vyre_device *device = executable->device;
  pthread_mutex_lock(&device->lock);
  for (uint32_t i = 0; i < device->executables.count; i++)
    if (device->executables.data[i] == executable) {
      device->executables.data[i] = device->executables.data[--device->executables.count];
      break;
    }
  pthread_mutex_unlock(&device->lock);
}

/* ---- Compiling ------------------------------------------------------------------------------- */

static bool copy_specs(vyre_executable *e, const vyre_final_options *o) {
  if (o->spec_count == 0) return true;
  e->spec = malloc(o->spec_count * sizeof *e->spec);
  if (e->spec == NULL) return false;
  memcpy(e->spec, o->spec, o->spec_count * sizeof *e->spec);
  e->spec_count = o->spec_count;
  return true;
}

static vyre_status load(vyre_device *device, vyre_program *program, const vyre_final_options *o,
                        const vyre_request *request, const vyre_bytes *blob, vyre_executable **out, vyre_error *error) {
  vyre_executable *e = calloc(1, sizeof *e);
  if (e == NULL || !copy_specs(e, o)) {
    free(e);
    return vyre_fail_memory(error, "compile");
  }
  vyre_status status = device->ops->executable_load(device->plugin, blob->data, blob->length, &e->plugin, error);
  status = vyre_device_made(device, status, e->plugin, error);
  if (status != VYRE_OK) {
    free(e->spec);
    free(e);
    return status;
  }
  e->refs = 1;
  e->device = device;
  vyre_device_retain(device);
  e->program = vyre_program_retain(program);
  e->compiled = vyre_program_retain(request->compiled);
  vyre_program_describe(program, &e->info);
  memcpy(e->fingerprint, vyre_program_fingerprint(program), VYRE_FINGERPRINT_BYTES);
  e->flags = o->flags;
  e->ulp = o->ulp;
  e->subgroup = o->subgroup;
  e->level = o->level;
  e->steps = o->steps;
  *out = e;
  return VYRE_OK;
}

/* With machine code from the disk cache. Who wants the compiler's remarks gets no code that was compiled before. */
static vyre_status load_cached(vyre_device *device, vyre_program *program, const vyre_final_options *o,
                               const vyre_request *request, vyre_executable **out) {
  vyre_bytes blob;
  if (request->record.remark != NULL || vyre_blob_find(device, &request->record, &blob) != VYRE_OK)
    return VYRE_ERR_NOT_FOUND;
  vyre_status status = load(device, program, o, request, &blob, out, NULL);
  vyre_blob_free(device, &blob);
  return status;
}

static vyre_status load_compiled(vyre_device *device, vyre_program *program, const vyre_final_options *o,
                                 const vyre_request *request, vyre_executable **out, vyre_error *error) {
  vyre_bytes blob;
  vyre_status status = vyre_blob_make(device, &request->record, &blob, error);
  if (status != VYRE_OK) return status;
  status = load(device, program, o, request, &blob, out, error);
  if (status == VYRE_OK) vyre_blob_keep(device, &request->record, &blob);
  vyre_blob_free(device, &blob);
  return status;
}

static vyre_status build(vyre_device *device, vyre_program *program, const vyre_final_options *o,
                         const vyre_compile_options *call, vyre_executable **out, vyre_error *error) {
  vyre_request request;
  vyre_status status =
      vyre_request_make(device->context, &device->file->desc, &device->caps, program, o, call, &request, error);
  vyre_executable *made = NULL;
  if (status == VYRE_OK && load_cached(device, program, o, &request, &made) != VYRE_OK)
    status = load_compiled(device, program, o, &request, &made, error);
  vyre_request_free(&request);
  if (status != VYRE_OK) return status;
  *out = list_executable(device, made, o);
  if (*out != made) vyre_executable_destroy(made);
  return *out != NULL ? VYRE_OK : vyre_fail_memory(error, "compile");
}

vyre_status vyre_compile(vyre_device *device, vyre_program *program, const vyre_compile_options *call,
                         vyre_executable **out, vyre_error *error) {
  *out = NULL;
  vyre_final_options o;
  vyre_status status = vyre_device_check_open(device, error);
  if (status != VYRE_OK) return status;
  status = vyre_options_merge(device->context->config, program, call, &o, error);
  if (status != VYRE_OK) return status;
  status = vyre_admit(program, o.flags, o.subgroup, &device->caps, device->name, error);
  if (status == VYRE_OK) {
    pthread_mutex_lock(&device->lock);
    *out = find_executable(device, vyre_program_fingerprint(program), &o);
    pthread_mutex_unlock(&device->lock);
    if (*out == NULL) status = build(device, program, &o, call, out, error);
  }
  vyre_options_free(&o);
  return status;
}

vyre_status vyre_compile_check(const vyre_capabilities *target, const vyre_program *program,
                               const vyre_compile_options *call, vyre_error *error) {
  vyre_final_options o;
  if (target->size != sizeof *target)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "target", "The record has size %u; %zu is known. Fix: set it.",
                     target->size, sizeof *target);
  vyre_status status = vyre_options_merge(NULL, program, call, &o, error);
  if (status != VYRE_OK) return status;
  status = vyre_admit(program, o.flags, o.subgroup, target, target->profile, error);
  vyre_options_free(&o);
  return status;
}

void vyre_executable_retain(vyre_executable *executable) { vyre_refs_take(&executable->refs); }

void vyre_executable_destroy(vyre_executable *executable) {
  if (executable == NULL || !vyre_refs_drop(&executable->refs)) return;
  vyre_device *device = executable->device;
  if (vyre_context_check(device->context, NULL) == VYRE_OK) unlist_executable(executable);
  if (vyre_device_may_destroy(device)) device->ops->executable_destroy(executable->plugin);
  vyre_program_release(executable->program);
  vyre_program_release(executable->compiled);
  free(executable->spec);
  free(executable);
  vyre_device_release(device);
}

const vyre_program *vyre_executable_program(const vyre_executable *executable) { return executable->program; }

vyre_status vyre_executable_report(vyre_executable *executable, vyre_launch_report *out, vyre_error *error) {
  vyre_device *device = executable->device;
  vyre_status status = vyre_device_check(device, error);
  if (status != VYRE_OK) return status;
  return vyre_device_answer(device, device->ops->executable_report(executable->plugin, out, error), error);
}

vyre_status vyre_executable_max_resident(vyre_executable *executable, uint64_t *workgroups, vyre_error *error) {
  *workgroups = 0;
  vyre_device *device = executable->device;
  vyre_status status = vyre_device_check(device, error);
  if (status != VYRE_OK) return status;
  return vyre_device_answer(device, device->ops->max_resident(executable->plugin, workgroups, error), error);
}
