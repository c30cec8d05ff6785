/* The plugin ABI around the engine: what an executable is, how it runs, and what a device of it can do. Devices,
 * buffers, sets, batches and queues are those of plugins/template. */
#include "config.h"

#include "plugin.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

#include "cpu_limits.h"
#include "group.h"

const char backend_name[] = "cpu_ref";
const uint32_t backend_memory = VYRE_MEMORY_DEVICE_LOCAL | VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE |
                                VYRE_MEMORY_COHERENT | VYRE_MEMORY_CONCURRENT;

/* ---- Instances and devices ---- */

static vyre_status probe(const vyre_host *host, vyre_error *error) {
  (void)host, (void)error;
  return VYRE_OK;
}

static vyre_status profile(const vyre_host *host, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  (void)host;
  if (index > 0)
    return backend_fail(error, VYRE_ERR_NOT_FOUND, "cpu_ref", "There is one profile, number 0. Fix: ask for that.");
  cpu_describe(NULL, out);
  return VYRE_OK;
}

static bool is_reversed(const vyre_host *host) {
  char order[16];
  return backend_setting(host, "lane_order", order, sizeof order) && strcmp(order, "reversed") == 0;
}

static vyre_status plugin_open(const vyre_host *host, vyre_plugin **out, vyre_error *error) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return backend_no_memory(error);
  uint64_t subgroup = backend_configured(host, "subgroup_size", CPU_DEFAULT_SUBGROUP);
  (*out)->host = host;
  (*out)->reverse = is_reversed(host);
  (*out)->memory_limit = backend_configured(host, "memory_limit", CPU_MEMORY_LIMIT);
  (*out)->subgroup = subgroup == 0 || subgroup > 32 || (subgroup & (subgroup - 1)) ? CPU_DEFAULT_SUBGROUP
                                                                                   : (uint32_t)subgroup;
  return VYRE_OK;
}

static void plugin_close(vyre_plugin *plugin) {
  free(plugin);
}

static vyre_status device_count(vyre_plugin *plugin, uint32_t *count, vyre_error *error) {
  (void)plugin, (void)error;
  *count = 1;
  return VYRE_OK;
}

static vyre_status device_describe(vyre_plugin *plugin, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  if (index != 0)
    return backend_fail(error, VYRE_ERR_NOT_FOUND, "cpu_ref", "There is one device, number 0. Fix: ask for that.");
  cpu_describe(plugin, out);
  return VYRE_OK;
}

/* ---- Executables ---- */

/* Bytes of all parameters at natural alignment; |bits| gets those of each from |from| unless it is NULL. */
static uint32_t read_params(const vyre_program *program, const uint8_t *from, uint64_t *bits) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < program->params.count; i++) {
    uint8_t type = program->params.data[i].type;
    uint32_t size = vyre_type_describe(type)->bytes;
    at = (at + size - 1) & ~(uint64_t)(size - 1);
    if (bits != NULL) {
      bits[i] = 0;
      memcpy(&bits[i], from + at, size);
      if (type == VYRE_TYPE_BOOL) bits[i] = bits[i] != 0;
    }
    at += size;
  }
  return (uint32_t)at; /* at most VYRE_MAX_DECLARATIONS of 8 bytes */
}

static void executable_destroy(vyre_plugin_executable *executable) {
  cpu_code_destroy(executable->code);
  free(executable->bindings);
  free(executable);
}

/* What the objects have to know of the program. False without memory. */
static bool fill_executable(vyre_plugin_executable *e, const vyre_program *p) {
  e->name = p->info.name;
  e->binding_count = p->info.binding_count;
  e->param_bytes = read_params(p, NULL, NULL);
  e->bindings = calloc((size_t)e->binding_count + 1, sizeof *e->bindings);
  if (e->bindings == NULL) return false;
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    const ir_buffer *b = &p->buffers.data[i];
    if (b->slot == UINT32_MAX) continue;
    e->bindings[b->slot] = (backend_binding){ ir_text(p, b->name), vyre_type_describe(b->element)->bytes };
  }
  return true;
}

static vyre_status executable_load(vyre_plugin_device *device, const void *blob, uint64_t bytes,
                                   vyre_plugin_executable **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = backend_check_process(device, error);
  if (status != VYRE_OK) return status;
  cpu_code *code;
  status = cpu_load_blob(blob, bytes, &code, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_executable *executable = calloc(1, sizeof *executable);
  if (executable == NULL || !fill_executable(executable, code->program)) {
    cpu_code_destroy(code);
    free(executable);
    return backend_no_memory(error);
  }
  executable->device = device;
  executable->code = code;
  *out = executable;
  return VYRE_OK;
}

static uint64_t residents(const vyre_plugin_executable *executable) {
  uint64_t fit = executable->device->plugin->memory_limit / cpu_group_bytes(executable->code);
  return fit < CPU_MAX_RESIDENT ? fit : CPU_MAX_RESIDENT;
}

static vyre_status max_resident(vyre_plugin_executable *executable, uint64_t *workgroups, vyre_error *error) {
  (void)error;
  *workgroups = residents(executable);
  return VYRE_OK;
}

static uint64_t bytes_of_grid(const cpu_code *code, const uint32_t *grid) {
  uint64_t bytes = cpu_group_bytes(code);
  for (int axis = 0; axis < 3; axis++)
    if (!vyre_mul_u64(bytes, grid[axis], &bytes)) return UINT64_MAX;
  return bytes;
}

static vyre_status executable_report(vyre_plugin_executable *executable, vyre_launch_report *out, vyre_error *error) {
  const cpu_code *code = executable->code;
  bool keeps_all = (code->program->info.stmt_kinds >> VYRE_STMT_GRID_BARRIER & 1) != 0;
  vyre_launch_report report = {
    .flags = keeps_all ? VYRE_REPORT_NATIVE_GRID_BARRIER : 0,
    .subgroup_size = code->subgroup,
    .entry_points = 1,
    .shared_bytes = code->shared_bytes,
    .scratch_bytes = code->local_bytes + code->cells * sizeof(cpu_cell),
    .max_resident = residents(executable),
  };
  vyre_status status = backend_check_process(executable->device, error);
  if (status != VYRE_OK) return status;
  memcpy(report.declared_workgroup, code->program->workgroup, sizeof report.declared_workgroup);
  memcpy(report.planned_workgroup, code->program->workgroup, sizeof report.planned_workgroup);
  pthread_mutex_lock(&executable->device->lock);
  memcpy(report.launched_grid, executable->grid, sizeof report.launched_grid);
  report.launches = executable->launches;
  pthread_mutex_unlock(&executable->device->lock);
  if (keeps_all) report.spill_bytes = bytes_of_grid(code, report.launched_grid);
  backend_answer(out, &report, sizeof report);
  return VYRE_OK;
}

/* ---- Dispatches ---- */

static void add_report(vyre_completion *c, const cpu_report *report) {
  if (report->trap_count > 0 && c->trap_count == 0) {
    c->trap_code = report->trap_code;
    memcpy(c->trap_gid, report->trap_gid, sizeof c->trap_gid);
  }
  c->trap_count += report->trap_count;
  c->masked_loads += report->masked_loads;
  c->masked_stores += report->masked_stores;
  c->masked_atomics += report->masked_atomics;
  c->prints_written += report->prints_written;
  c->prints_dropped += report->prints_dropped;
}

/* Everything is found: arrays of the engine's own records, of |count| bindings and |params| parameters. */
static vyre_status launch(const backend_launch *from, cpu_bound *bound, uint64_t *params, vyre_completion *completion,
                          uint64_t *printed, vyre_error *error) {
  const vyre_plugin_executable *executable = from->executable;
  const vyre_plugin *plugin = executable->device->plugin;
  const cpu_code *code = executable->code;
  for (uint32_t slot = 0; slot < executable->binding_count; slot++)
    bound[slot] = (cpu_bound){ .data = from->data[slot], .length = from->elements[slot] };
  read_params(code->program, from->params, params);
  cpu_launch l = {
    .code = code,
    .params = params,
    .bound = bound,
    .grid = { from->grid[0], from->grid[1], from->grid[2] },
    .reverse = plugin->reverse,
    .together = (from->dispatch->flags & VYRE_DISPATCH_PERSISTENT) != 0,
    .memory_limit = plugin->memory_limit,
    .stop = from->stop,
    .cancel = from->cancel,
    .time_budget_ns = from->dispatch->time_budget_ns,
    .work_budget = from->dispatch->work_budget,
    .prints = from->prints,
    .print_words = from->print_words,
    .command = from->command,
  };
  cpu_report report;
  vyre_status status = cpu_launch_run(&l, &report, error);
  add_report(completion, &report);
  *printed += report.print_words;
  return status;
}

vyre_status backend_run(const backend_launch *from, vyre_completion *completion, uint64_t *printed,
                        vyre_error *error) {
  const cpu_code *code = from->executable->code;
  cpu_bound *bound = calloc((size_t)from->executable->binding_count + 1, sizeof *bound);
  uint64_t *params = calloc((size_t)code->program->params.count + 1, sizeof *params);
  vyre_status status = bound != NULL && params != NULL ? launch(from, bound, params, completion, printed, error)
                                                       : backend_no_memory(error);
  free(bound);
  free(params);
  return status;
}

/* ---- The export ---- */

static const vyre_backend_ops ops = {
  .size = sizeof ops,
  .probe = probe,
  .profile = profile,
  .compile = cpu_compile,
  .disassemble = cpu_disassemble,
  .open = plugin_open,
  .close = plugin_close,
  .device_count = device_count,
  .device_describe = device_describe,
  .device_open = backend_device_open,
  .device_close = backend_device_close,
  .executable_load = executable_load,
  .executable_destroy = executable_destroy,
  .executable_report = executable_report,
  .max_resident = max_resident,
  .buffer_create = backend_buffer_create,
  .buffer_destroy = backend_buffer_destroy,
  .buffer_map = backend_buffer_map,
  .buffer_flush = backend_buffer_sync,
  .buffer_invalidate = backend_buffer_sync,
  .buffer_export = backend_buffer_export,
  .set_create = backend_set_create,
  .set_destroy = backend_set_destroy,
  .batch_create = backend_batch_create,
  .batch_destroy = backend_batch_destroy,
  .queue_create = backend_queue_create,
  .queue_destroy = backend_queue_destroy,
  .submit = backend_submit,
  .timeline_create = backend_timeline_create,
  .timeline_destroy = backend_timeline_destroy,
  .timeline_value = backend_timeline_value,
  .timeline_signal = backend_timeline_signal,
  .timeline_wait = backend_timeline_wait,
  .native = backend_native,
};

static const vyre_backend_desc desc = {
  .magic = VYRE_ABI_MAGIC,
  .size = sizeof desc,
  .abi_major = VYRE_ABI_MAJOR,
  .abi_minor = VYRE_ABI_MINOR,
  .flags = VYRE_BACKEND_TAKES_PROGRAM,
  .sanitizer = VYRE_ABI_SANITIZER,
  .fingerprint = VYRE_ABI_FINGERPRINT,
  .name = "cpu_ref",
  .version = PACKAGE_VERSION,
  .build_id = cpu_build_id,
  .ops = &ops,
};

VYRE_BACKEND_EXPORT const vyre_backend_desc *vyre_backend_query(const vyre_backend_request *request);

const vyre_backend_desc *vyre_backend_query(const vyre_backend_request *request) {
  (void)request;
  return &desc;
}
