/* The plugin ABI: negotiation, devices, and the objects that need no thread. */
#include "config.h"

#include "plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"

#include "cpu_limits.h"

enum { NATIVE_POINTER = 1 }; /* tag: the host's address of a buffer */

vyre_status cpu_check_process(const vyre_plugin_device *device, vyre_error *error) {
  if (device->process == getpid()) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_FORKED, "cpu_ref",
                   "the device was opened by process %ld, this is its child %ld. Fix: open a device after fork",
                   (long)device->process, (long)getpid());
}

bool cpu_in_buffer(const vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes) {
  uint64_t size = buffer != NULL ? buffer->bytes : 0;
  return offset <= size && bytes <= size - offset;
}

/* ---- Instances and devices ---- */

static vyre_status probe(const vyre_host *host, vyre_error *error) {
  (void)host, (void)error;
  return VYRE_OK;
}

static vyre_status profile(const vyre_host *host, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  (void)host;
  if (index > 0)
    return vyre_fail(error, VYRE_ERR_NOT_FOUND, "cpu_ref", "There is one profile, number 0. Fix: ask for that.");
  cpu_describe(NULL, out);
  return VYRE_OK;
}

/* The value of a configuration key in |text|; empty if it is not set. */
static void configured(const vyre_host *host, const char *key, char *text, uint64_t capacity) {
  uint64_t length = 0;
  text[0] = 0;
  if (host->config_get == NULL || host->config_get(host->ctx, key, text, capacity, &length) != VYRE_OK) text[0] = 0;
}

static uint64_t configured_number(const vyre_host *host, const char *key, uint64_t otherwise) {
  char text[32], *end;
  configured(host, key, text, sizeof text);
  errno = 0;
  uint64_t number = strtoull(text, &end, 10);
  return text[0] == 0 || *end != 0 || errno != 0 ? otherwise : number;
}

static vyre_status plugin_open(const vyre_host *host, vyre_plugin **out, vyre_error *error) {
  char order[16];
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return vyre_fail_memory(error, "cpu_ref");
  uint64_t subgroup = configured_number(host, "cpu_ref.subgroup_size", CPU_DEFAULT_SUBGROUP);
  configured(host, "cpu_ref.lane_order", order, sizeof order);
  (*out)->host = host;
  (*out)->reverse = strcmp(order, "reversed") == 0;
  (*out)->memory_limit = configured_number(host, "cpu_ref.memory_limit", CPU_MEMORY_LIMIT);
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

static vyre_status check_index(uint32_t index, vyre_error *error) {
  if (index == 0) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_NOT_FOUND, "cpu_ref", "There is one device, number 0. Fix: ask for that.");
}

static vyre_status device_describe(vyre_plugin *plugin, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  vyre_status status = check_index(index, error);
  if (status == VYRE_OK) cpu_describe(plugin, out);
  return status;
}

/* A lock, and a condition whose waits are timed by the monotonic clock. */
static bool make_locks(vyre_plugin_device *device) {
  pthread_condattr_t attributes;
  if (pthread_mutex_init(&device->lock, NULL) != 0) return false;
  bool made = false;
  if (pthread_condattr_init(&attributes) == 0) {
    made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(&device->changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
  }
  if (!made) pthread_mutex_destroy(&device->lock);
  return made;
}

static vyre_status device_open(vyre_plugin *plugin, uint32_t index, vyre_plugin_device **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = check_index(index, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_device *device = calloc(1, sizeof *device);
  if (device == NULL || !make_locks(device)) {
    free(device);
    return vyre_fail_memory(error, "cpu_ref");
  }
  device->plugin = plugin;
  device->process = getpid();
  *out = device;
  return VYRE_OK;
}

static void device_close(vyre_plugin_device *device) {
  if (device->process == getpid()) {
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
  }
  free(device);
}

/* ---- Executables ---- */

static vyre_status executable_load(vyre_plugin_device *device, const void *blob, uint64_t bytes,
                                   vyre_plugin_executable **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = cpu_check_process(device, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_executable *executable = calloc(1, sizeof *executable);
  if (executable == NULL) return vyre_fail_memory(error, "cpu_ref");
  executable->device = device;
  status = cpu_load_blob(blob, bytes, &executable->code, error);
  if (status == VYRE_OK) *out = executable;
  else free(executable);
  return status;
}

static void executable_destroy(vyre_plugin_executable *executable) {
  cpu_code_destroy(executable->code);
  free(executable);
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
  vyre_status status = cpu_check_process(executable->device, error);
  if (status != VYRE_OK) return status;
  memcpy(report.declared_workgroup, code->program->workgroup, sizeof report.declared_workgroup);
  memcpy(report.planned_workgroup, code->program->workgroup, sizeof report.planned_workgroup);
  pthread_mutex_lock(&executable->device->lock);
  memcpy(report.launched_grid, executable->grid, sizeof report.launched_grid);
  report.launches = executable->launches;
  pthread_mutex_unlock(&executable->device->lock);
  if (keeps_all) report.spill_bytes = bytes_of_grid(code, report.launched_grid);
  report.size = out->size < sizeof report ? out->size : (uint32_t)sizeof report;
  memcpy(out, &report, report.size);
  return VYRE_OK;
}

/* ---- Buffers ---- */

/* |used| gets what others use. */
static bool take_memory(vyre_plugin_device *device, uint64_t bytes, uint64_t *used) {
  pthread_mutex_lock(&device->lock);
  *used = device->memory_used;
  bool fits = bytes <= device->plugin->memory_limit - *used;
  if (fits) device->memory_used += bytes;
  pthread_mutex_unlock(&device->lock);
  return fits;
}

static void give_memory(vyre_plugin_device *device, uint64_t bytes) {
  if (device->process != getpid()) return;
  pthread_mutex_lock(&device->lock);
  device->memory_used -= bytes;
  pthread_mutex_unlock(&device->lock);
}

static vyre_status allocate(vyre_plugin_device *device, vyre_plugin_buffer *buffer, vyre_error *error) {
  uint64_t rounded, used = 0;
  if (!vyre_align_u64(buffer->bytes, 16, &rounded) || !take_memory(device, rounded, &used))
    return vyre_fail(error, VYRE_ERR_LIMIT, "cpu_ref.memory_limit",
                     "a buffer of %llu bytes does not fit, %llu of the limit of %llu bytes are in use. Fix: free "
                     "buffers, or raise cpu_ref.memory_limit",
                     (unsigned long long)buffer->bytes, (unsigned long long)used,
                     (unsigned long long)device->plugin->memory_limit);
  buffer->data = calloc(rounded / 16, 16);
  if (buffer->data != NULL) return VYRE_OK;
  give_memory(device, rounded);
  return vyre_fail_memory(error, "cpu_ref");
}

static vyre_status import(const vyre_buffer_request *request, vyre_plugin_buffer *buffer, vyre_error *error) {
  if (request->kind != VYRE_HANDLE_HOST_POINTER)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, "cpu_ref",
                     "handles of kind %u can not be imported, only host pointers. Fix: copy the data", request->kind);
  if (request->handle == 0 || request->handle % 16 != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "cpu_ref",
                     "the address 0x%llx is not one of 16-byte aligned memory. Fix: align it to 16 bytes",
                     (unsigned long long)request->handle);
  buffer->data = (uint8_t *)(uintptr_t)request->handle;
  buffer->imported = true;
  return VYRE_OK;
}

static vyre_status buffer_create(vyre_plugin_device *device, const vyre_buffer_request *request,
                                 vyre_plugin_buffer **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = cpu_check_process(device, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_buffer *buffer = calloc(1, sizeof *buffer);
  if (buffer == NULL) return vyre_fail_memory(error, "cpu_ref");
  buffer->device = device;
  buffer->bytes = request->bytes;
  status = request->kind == VYRE_HANDLE_NONE ? allocate(device, buffer, error) : import(request, buffer, error);
  if (status == VYRE_OK) *out = buffer;
  else free(buffer);
  return status;
}

static void buffer_destroy(vyre_plugin_buffer *buffer) {
  if (!buffer->imported) {
    give_memory(buffer->device, (buffer->bytes + 15) & ~(uint64_t)15);
    free(buffer->data);
  }
  free(buffer);
}

static vyre_status buffer_map(vyre_plugin_buffer *buffer, void **out, vyre_error *error) {
  (void)error;
  *out = buffer->data;
  return VYRE_OK;
}

/* The memory is coherent: nothing to do. */
static vyre_status buffer_sync(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error) {
  (void)buffer, (void)offset, (void)bytes, (void)error;
  return VYRE_OK;
}

static vyre_status buffer_export(vyre_plugin_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error) {
  *handle = (uint64_t)(uintptr_t)buffer->data;
  if (kind == VYRE_HANDLE_HOST_POINTER) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_UNSUPPORTED, "cpu_ref",
                   "handles of kind %u do not exist here, only host pointers. Fix: export a host pointer", kind);
}

static vyre_status native(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error) {
  if (kind == VYRE_OBJECT_BUFFER && tag == NATIVE_POINTER) {
    *out = (uint64_t)(uintptr_t)((const vyre_plugin_buffer *)object)->data;
    return VYRE_OK;
  }
  return vyre_fail(error, VYRE_ERR_NOT_FOUND, "cpu_ref", "object kind %u has no tag %u. Fix: buffers have tag 1", kind,
                   tag);
}

/* ---- Sets ---- */

static uint32_t param_size(uint8_t type) {
  return vyre_type_describe(type)->bytes;
}

uint64_t cpu_param_bytes(const vyre_program *program) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < program->params.count; i++) {
    uint32_t size = param_size(program->params.data[i].type);
    end = ((end + size - 1) & ~(uint64_t)(size - 1)) + size;
  }
  return end;
}

void cpu_read_params(const vyre_program *program, const void *from, uint64_t *bits) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < program->params.count; i++) {
    uint8_t type = program->params.data[i].type;
    uint32_t size = param_size(type);
    at = (at + size - 1) & ~(uint64_t)(size - 1);
    bits[i] = 0;
    memcpy(&bits[i], (const uint8_t *)from + at, size);
    if (type == VYRE_TYPE_BOOL) bits[i] = bits[i] != 0;
    at += size;
  }
}

static vyre_status check_set(const vyre_program *p, const vyre_set_request *request, vyre_error *error) {
  if (request->bind_count != p->info.binding_count)
    return vyre_fail(error, VYRE_ERR_MISSING_BINDING, p->info.name,
                     "the program binds %u buffers, %u were given. Fix: bind each", p->info.binding_count,
                     request->bind_count);
  uint64_t bytes = cpu_param_bytes(p);
  if (!request->late_params && request->param_bytes != bytes)
    return vyre_fail(error, VYRE_ERR_MISSING_BINDING, p->info.name,
                     "the parameters take %llu bytes, %llu were given. Fix: give each in its type",
                     (unsigned long long)bytes, (unsigned long long)request->param_bytes);
  return VYRE_OK;
}

/* The range, its length in elements and the place of a device's count. */
static vyre_status check_bind(const ir_buffer *from, const vyre_program *p, const vyre_bind *bind, vyre_error *error) {
  uint64_t bytes, size = vyre_type_describe(from->element)->bytes;
  bool fits = cpu_in_buffer(bind->buffer, bind->offset, bind->bytes) && bind->offset % 16 == 0 &&
              vyre_mul_u64(bind->elements, size, &bytes) && bytes <= bind->bytes;
  fits = fits && (bind->length_bits == 0 || bind->length_bits == 32 || bind->length_bits == 64);
  if (fits && bind->length_bits != 0)
    fits = bind->length_buffer != NULL && bind->length_offset % (bind->length_bits / 8) == 0 &&
           cpu_in_buffer(bind->length_buffer, bind->length_offset, bind->length_bits / 8);
  if (fits) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, ir_text(p, from->name),
                   "what is bound to `%s` does not lie in its buffer, aligned to 16 bytes. Fix: bind a range of it",
                   ir_text(p, from->name));
}

static void set_destroy(vyre_plugin_set *set) {
  free(set->binds);
  free(set->params);
  free(set);
}

static vyre_status set_create(vyre_plugin_executable *executable, const vyre_set_request *request,
                              vyre_plugin_set **out, vyre_error *error) {
  const vyre_program *p = executable->code->program;
  *out = NULL;
  vyre_status status = check_set(p, request, error);
  for (uint32_t i = 0; i < p->buffers.count && status == VYRE_OK; i++) {
    const ir_buffer *from = &p->buffers.data[i];
    if (from->slot != UINT32_MAX) status = check_bind(from, p, &request->binds[from->slot], error);
  }
  if (status != VYRE_OK) return status;
  vyre_plugin_set *set = calloc(1, sizeof *set);
  if (set == NULL) return vyre_fail_memory(error, "cpu_ref");
  set->executable = executable;
  set->binds = calloc((size_t)request->bind_count + 1, sizeof *set->binds);
  set->params = calloc((size_t)p->params.count + 1, sizeof *set->params);
  if (set->binds == NULL || set->params == NULL) {
    set_destroy(set);
    return vyre_fail_memory(error, "cpu_ref");
  }
  if (request->bind_count > 0) memcpy(set->binds, request->binds, request->bind_count * sizeof *set->binds);
  if (!request->late_params) cpu_read_params(p, request->params, set->params);
  *out = set;
  return VYRE_OK;
}

/* ---- Batches ---- */

static bool take_command(const vyre_command *from, cpu_command *to) {
  to->kind = from->kind;
  switch (from->kind) {
    case VYRE_COMMAND_ORDER: return true;
    case VYRE_COMMAND_TIMESTAMP: to->u.timestamp = *(const vyre_timestamp *)from->record; return true;
    case VYRE_COMMAND_DISPATCH: {
      const vyre_dispatch *d = from->record;
      to->u.dispatch = *d;
      return (d->grid_buffer == NULL || (cpu_in_buffer(d->grid_buffer, d->grid_offset, 12) && d->grid_offset % 4 == 0)) &&
             (d->stop_buffer == NULL || (cpu_in_buffer(d->stop_buffer, d->stop_offset, 4) && d->stop_offset % 4 == 0));
    }
    case VYRE_COMMAND_COPY: {
      const vyre_copy *c = from->record;
      to->u.copy = *c;
      return cpu_in_buffer(c->source, c->source_offset, c->bytes) && cpu_in_buffer(c->target, c->target_offset, c->bytes);
    }
    case VYRE_COMMAND_FILL: {
      const vyre_fill *f = from->record;
      to->u.fill = *f;
      return cpu_in_buffer(f->target, f->offset, f->bytes) && f->offset % 4 == 0 && f->bytes % 4 == 0;
    }
    default: return false;
  }
}

static void batch_destroy(vyre_plugin_batch *batch) {
  free(batch->commands);
  free(batch);
}

static vyre_status batch_create(vyre_plugin_device *device, const vyre_command *commands, uint64_t count,
                                vyre_plugin_batch **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = cpu_check_process(device, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_batch *batch = calloc(1, sizeof *batch);
  if (batch != NULL) batch->commands = calloc(count > 0 ? count : 1, sizeof *batch->commands);
  if (batch == NULL || batch->commands == NULL) {
    free(batch);
    return vyre_fail_memory(error, "cpu_ref");
  }
  for (; batch->count < count; batch->count++) {
    if (take_command(&commands[batch->count], &batch->commands[batch->count])) continue;
    status = vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "cpu_ref",
                       "command %llu is of an unknown kind, or reaches beyond a buffer. Fix: correct its range",
                       (unsigned long long)batch->count);
    batch_destroy(batch);
    return status;
  }
  *out = batch;
  return VYRE_OK;
}

/* ---- The export ---- */

static const vyre_backend_ops ops = {
  .size = sizeof ops,
  .probe = probe,
  .profile = profile,
  .compile = cpu_compile,
  .open = plugin_open,
  .close = plugin_close,
  .device_count = device_count,
  .device_describe = device_describe,
  .device_open = device_open,
  .device_close = device_close,
  .executable_load = executable_load,
  .executable_destroy = executable_destroy,
  .executable_report = executable_report,
  .max_resident = max_resident,
  .buffer_create = buffer_create,
  .buffer_destroy = buffer_destroy,
  .buffer_map = buffer_map,
  .buffer_flush = buffer_sync,
  .buffer_invalidate = buffer_sync,
  .buffer_export = buffer_export,
  .set_create = set_create,
  .set_destroy = set_destroy,
  .batch_create = batch_create,
  .batch_destroy = batch_destroy,
  .queue_create = cpu_queue_create,
  .queue_destroy = cpu_queue_destroy,
  .submit = cpu_submit,
  .timeline_create = cpu_timeline_create,
  .timeline_destroy = cpu_timeline_destroy,
  .timeline_value = cpu_timeline_value,
  .timeline_signal = cpu_timeline_signal,
  .timeline_wait = cpu_timeline_wait,
  .native = native,
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
