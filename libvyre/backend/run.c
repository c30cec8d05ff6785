/* The short way: one call from host memory to host memory, made of the public functions alone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/checked.h"
#include "base/error.h"

/* What one run holds. */
typedef struct run {
  vyre_device *device;
  vyre_executable *executable;
  vyre_arg *args;        /* host memory replaced by buffers */
  vyre_buffer **buffers; /* those made here, by argument */
  uint32_t count;
  vyre_set *set;
  vyre_queue *queue;
  vyre_submission *submission;
} run;

static void end_run(run *r) {
  vyre_submission_destroy(r->submission);
  if (r->queue != NULL) vyre_queue_release(r->queue);
  vyre_set_destroy(r->set);
  for (uint32_t i = 0; r->buffers != NULL && i < r->count; i++) vyre_buffer_destroy(r->buffers[i]);
  free(r->buffers);
  free(r->args);
  vyre_executable_destroy(r->executable);
}

static bool find_buffer(const vyre_program *program, uint32_t count, const char *name, vyre_buffer_info *out) {
  for (uint32_t i = 0; i < count; i++)
    if (vyre_program_slot(program, i, out) && strcmp(out->name, name) == 0) return true;
  return false;
}

static vyre_status check_host_arg(const vyre_arg *arg, const vyre_buffer_info *info, vyre_error *error) {
  bool is_in = (arg->flags & VYRE_ARG_INPUT) != 0, is_out = (arg->flags & VYRE_ARG_OUTPUT) != 0;
  if (is_in && info->access == VYRE_ACCESS_WRITE)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, arg->name,
                     "%s is a write buffer, which starts as zero, and is given contents. Fix: use vyre_arg_out, or "
                     "declare it rw.",
                     arg->name);
  if (is_out && info->access == VYRE_ACCESS_READ)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, arg->name,
                     "%s is a read buffer, and its contents are asked for. Fix: use vyre_arg_in, or declare it rw.",
                     arg->name);
  if (arg->host == NULL && arg->elements > 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, arg->name,
                     "%s has %" PRIu64 " elements and no memory. Fix: give the address.", arg->name, arg->elements);
  return VYRE_OK;
}

/* Puts a buffer in the place of host memory. */
static vyre_status bring_in(run *r, const vyre_program *program, uint32_t index, vyre_error *error) {
  vyre_arg *arg = &r->args[index];
  vyre_buffer_info info;
  uint64_t bytes;
  if (!find_buffer(program, r->executable->info.binding_count, arg->name, &info))
    return vyre_fail(error, VYRE_ERR_NOT_FOUND, arg->name,
                     "Program %s has no buffer called %s. Fix: name one that it declares.", r->executable->info.name,
                     arg->name);
  vyre_status status = check_host_arg(arg, &info, error);
  if (status != VYRE_OK) return status;
  if (!vyre_mul_u64(arg->elements, vyre_type_describe(info.element)->bytes, &bytes)) bytes = UINT64_MAX;
  status = vyre_buffer_create(r->device, bytes, 0, &r->buffers[index], error);
  if (status == VYRE_OK && (arg->flags & VYRE_ARG_INPUT) != 0)
    status = vyre_buffer_write(r->buffers[index], 0, arg->host, bytes, error);
  if (status != VYRE_OK) return status;
  *arg = vyre_arg_range(arg->name, r->buffers[index], 0, arg->elements);
  return VYRE_OK;
}

static vyre_status bring_all_in(run *r, const vyre_program *program, const vyre_arg *args, vyre_error *error) {
  r->args = malloc((r->count + 1u) * sizeof *r->args);
  r->buffers = calloc(r->count + 1u, sizeof *r->buffers);
  if (r->args == NULL || r->buffers == NULL) return vyre_fail_memory(error, "run");
  if (r->count > 0) memcpy(r->args, args, r->count * sizeof *args);
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < r->count && status == VYRE_OK; i++)
    if (args[i].kind == VYRE_ARG_HOST) status = bring_in(r, program, i, error);
  return status;
}

static vyre_status bring_out(const run *r, const vyre_arg *args, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < r->count && status == VYRE_OK; i++)
    if (r->buffers[i] != NULL && (args[i].flags & VYRE_ARG_OUTPUT) != 0)
      status = vyre_buffer_read(r->buffers[i], 0, args[i].host, r->buffers[i]->bytes, error);
  return status;
}

static uint64_t timeout_of(const vyre_device *device, const vyre_run_options *options) {
  vyre_config_value value;
  if (options->timeout_ns != 0) return options->timeout_ns;
  vyre_config_get(device->context->config, VYRE_CONFIG_RUN_TIMEOUT, &value);
  return value.is_set ? value.number : VYRE_FOREVER;
}

static vyre_status launch(run *r, const vyre_run_options *options, vyre_error *error) {
  uint64_t grid[3];
  memcpy(grid, options->grid, sizeof grid);
  vyre_status status = vyre_set_create(r->executable, r->args, r->count, &r->set, error);
  if (status == VYRE_OK && options->has_grid == 0) status = vyre_set_grid(r->set, grid, error);
  if (status == VYRE_OK) status = vyre_device_internal_queue(r->device, &r->queue, error);
  if (status == VYRE_OK) status = vyre_queue_dispatch(r->queue, r->set, grid, &r->submission, error);
  if (status == VYRE_OK) status = vyre_submission_wait(r->submission, timeout_of(r->device, options), error);
  return status;
}

/* What there is to tell about a run that has ended, well or not. |status| stays the answer. */
static vyre_status tell(const run *r, const vyre_run_options *options, vyre_status status, vyre_error *error) {
  vyre_status told = VYRE_OK;
  vyre_error *own = status == VYRE_OK ? error : NULL;
  if (r->submission == NULL) return status;
  if (options->print != NULL) told = vyre_submission_prints(r->submission, options->print, options->print_ctx, own);
  if (options->completion != NULL && told == VYRE_OK)
    told = vyre_submission_completion(r->submission, options->completion, own);
  if (options->report != NULL && told == VYRE_OK) told = vyre_executable_report(r->executable, options->report, own);
  return status != VYRE_OK ? status : told;
}

vyre_status vyre_run(vyre_device *device, vyre_program *program, const vyre_arg *args, uint32_t count,
                     const vyre_run_options *options, vyre_error *error) {
  static const vyre_run_options none = VYRE_RUN_OPTIONS_INIT;
  if (options == NULL) options = &none;
  if (options->size != sizeof *options)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "run",
                     "The options have size %u; %zu is known. Fix: start from VYRE_RUN_OPTIONS_INIT.", options->size,
                     sizeof *options);
  run r = { .device = device, .count = count };
  vyre_status status = vyre_compile(device, program, options->compile, &r.executable, error);
  if (status == VYRE_OK) status = bring_all_in(&r, program, args, error);
  if (status == VYRE_OK) status = launch(&r, options, error);
  status = tell(&r, options, status, error);
  if (status == VYRE_OK) status = bring_out(&r, args, error);
  end_run(&r);
  return status;
}
