/* Batches: commands are checked and planned once, and the first recording of them is made at once. */
#include "plugins/vulkan/work.h"

#include <stdlib.h>
#include <string.h>

/* A dispatch is divided where the API's limit on an axis wants it; more pieces than this are no program's intent. */
enum { MOST_PIECES = 1 << 20, PRINT_WORDS = 1 << 16 };
/* What a recording brings for its own is small; its largest part are launch blocks of pieces. */
static const uint64_t most_host_bytes = 1u << 27; /* each device binds that much */

/* ---- Memory of a recording ------------------------------------------------------------------- */

typedef struct places {
  uint64_t host, local;
  uint64_t least;     /* of host memory: a block that is pushed has a descriptor, too */
  uint32_t alignment; /* of what descriptors point to */
} places;

static uint64_t place(uint64_t *end, uint64_t bytes, uint64_t alignment) {
  uint64_t at = (*end + alignment - 1) & ~(alignment - 1);
  *end = at + bytes;
  return at;
}

static uint32_t place_on_host(places *p, uint64_t bytes, uint32_t alignment) {
  return (uint32_t)place(&p->host, bytes, alignment);
}

static uint32_t descriptor_alignment(const vyre_plugin_device *device) {
  const VkPhysicalDeviceLimits *limits = &device->facts->properties.limits;
  uint64_t most = 16;
  if (limits->minStorageBufferOffsetAlignment > most) most = limits->minStorageBufferOffsetAlignment;
  if (limits->minUniformBufferOffsetAlignment > most) most = limits->minUniformBufferOffsetAlignment;
  return (uint32_t)most;
}

static const vyre_kernel_hidden_binding *hidden_binding(const vyre_kernel_header *kernel,
                                                        vyre_kernel_hidden_kind kind) {
  int number = gpu_hidden_binding(kernel, kind);
  return number < 0 ? NULL : VYRE_KERNEL_AT(vyre_kernel_hidden_binding, kernel, hidden_bindings, (uint32_t)number);
}

/* The stop word can be bound itself where it lies as descriptors want it; else the launch sees a copy. */
static bool binds_stop(const vyre_plugin_device *device, const vulkan_plan *plan) {
  const vyre_dispatch *d = &plan->dispatch;
  return plan->mode == SPIRV_ADDRESSED ||
         d->stop_offset % device->facts->properties.limits.minStorageBufferOffsetAlignment == 0;
}

static void place_hidden(const vyre_plugin_device *device, places *p, vulkan_plan *plan) {
  const vyre_kernel_header *kernel = plan->dispatch.executable->kernel;
  const vyre_kernel_hidden_binding *diagnostics = hidden_binding(kernel, VYRE_KERNEL_HIDDEN_DIAGNOSTICS);
  const vyre_kernel_hidden_binding *state = hidden_binding(kernel, VYRE_KERNEL_HIDDEN_STATE);
  plan->has_diagnostics = diagnostics != NULL;
  plan->has_state = state != NULL;
  if (diagnostics != NULL) {
    plan->print_words = (kernel->needs & VYRE_NEED_PRINT) != 0 ? PRINT_WORDS : 0;
    plan->diagnostics =
      place_on_host(p, sizeof(vyre_kernel_diagnostics) + plan->print_words * sizeof(uint64_t), p->alignment);
  }
  plan->spill_bytes = gpu_spill_bytes(kernel, plan->dispatch.grid);
  if (hidden_binding(kernel, VYRE_KERNEL_HIDDEN_SPILL) != NULL && plan->spill_bytes < 16) plan->spill_bytes = 16;
  plan->spill = place(&p->local, plan->spill_bytes, p->alignment);
  if (state != NULL) plan->state = place(&p->local, sizeof(vyre_kernel_state), p->alignment);
  if (plan->dispatch.stop_buffer != NULL && hidden_binding(kernel, VYRE_KERNEL_HIDDEN_STOP) != NULL &&
      !binds_stop(device, plan))
    plan->stop = place_on_host(p, 16, p->alignment);
}

static void place_extents(places *p, vulkan_plan *plan) {
  const uint32_t block_bytes = plan->module->layout.block_bytes;
  if (block_bytes > p->least) p->least = block_bytes;
  plan->block_stride = (block_bytes + p->alignment - 1) & ~(p->alignment - 1);
  if (plan->place == VULKAN_BLOCK_BOUND)
    plan->blocks = place_on_host(p, (uint64_t)plan->block_stride * plan->pieces, p->alignment);
  plan->patch_count = vulkan_patches_count(plan);
  if (plan->patch_count == 0) return;
  plan->gathered = place_on_host(p, (uint64_t)plan->dispatch.set->lengths * 8 + 16, 16);
  plan->patches = place_on_host(p, (uint64_t)plan->patch_count * sizeof(vulkan_patch), 16);
  if (plan->dispatch.grid_buffer != NULL)
    plan->indirect = place_on_host(p, (uint64_t)plan->pieces * sizeof(VkDispatchIndirectCommand), 16);
}

/* ---- Dispatches ------------------------------------------------------------------------------ */

static vyre_status bad_command(vyre_error *error, uint64_t index, const char *what) {
  return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, gpu_name, "command %llu %s", (unsigned long long)index, what);
}

static bool is_word(const vyre_plugin_device *device, const vyre_plugin_buffer *buffer, uint64_t offset,
                    uint64_t bytes) {
  return buffer == NULL || (buffer->device == device && offset % 4 == 0 && vulkan_in_buffer(buffer, offset, bytes));
}

static vyre_status check_dispatch(const vyre_plugin_device *device, const vyre_dispatch *d, uint64_t index,
                                  vyre_error *error) {
  vyre_status status = gpu_check_flags("a dispatch", d->flags, VYRE_DISPATCH_PERSISTENT, error);
  if (status != VYRE_OK) return status;
  if (d->executable == NULL || d->set == NULL || d->executable->device != device || d->set->executable != d->executable)
    return bad_command(error, index, "has no executable of the device with a set made for it. Fix: make the set from "
                                     "the executable");
  if (!is_word(device, d->grid_buffer, d->grid_offset, 12))
    return bad_command(error, index, "has its grid where there are no three words in a buffer of the device. Fix: "
                                     "place them at a multiple of 4");
  if (!is_word(device, d->stop_buffer, d->stop_offset, 4))
    return bad_command(error, index, "has its stop word where there is none in a buffer of the device. Fix: place it "
                                     "at a multiple of 4");
  if ((d->flags & VYRE_DISPATCH_PERSISTENT) != 0 && (device->facts->caps.can & VYRE_CAN_PERSISTENT) == 0)
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, d->executable->name,
                    "a persistent launch is asked for, and device %s lacks the capability persistent. Fix: launch step "
                    "by step, with a work budget",
                    device->facts->properties.deviceName);
  gpu_launch launch = { .kernel = d->executable->kernel,
                        .work_budget = d->work_budget,
                        .time_budget_ns = d->time_budget_ns };
  memcpy(launch.grid, d->grid, sizeof launch.grid);
  return gpu_launch_check(&launch, error);
}

static bool is_empty(const uint32_t grid[3]) { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }

static vyre_status count_pieces(const vyre_plugin_device *device, vulkan_plan *plan, vyre_error *error) {
  const uint32_t *limit = device->facts->properties.limits.maxComputeWorkGroupCount, *grid = plan->dispatch.grid;
  double pieces = is_empty(grid) ? 0 : 1;
  for (int axis = 0; axis < 3 && pieces > 0; axis++) pieces *= (double)((grid[axis] - 1) / limit[axis] + 1);
  if (pieces > MOST_PIECES)
    return gpu_fail(error, VYRE_ERR_LIMIT, plan->dispatch.executable->name,
                    "a grid of %u x %u x %u workgroups takes %.0f launches of device %s, and %d are the limit. Fix: "
                    "launch fewer workgroups, of more invocations",
                    grid[0], grid[1], grid[2], pieces, device->facts->properties.deviceName, MOST_PIECES);
  plan->pieces = (uint32_t)pieces;
  return VYRE_OK;
}

/* Blocks that change after recording lie in memory. */
static vyre_status choose_module(vulkan_plan *plan, vyre_error *error) {
  const vyre_plugin_set *set = plan->dispatch.set;
  vyre_plugin_executable *e = plan->dispatch.executable;
  plan->mode = set->mode;
  bool changes = set->late_params || set->late_offsets || set->lengths > 0 || plan->dispatch.grid_buffer != NULL;
  plan->place = changes || e->modules[plan->mode].layout.push_bytes == 0 ? VULKAN_BLOCK_BOUND : VULKAN_BLOCK_PUSHED;
  return vulkan_pipelines(e, plan->mode, plan->place, &plan->module, error);
}

static vyre_status take_dispatch(vyre_plugin_batch *batch, const void *record, uint64_t index, vulkan_plan *plan,
                                 places *p, vyre_error *error) {
  gpu_take(&plan->dispatch, sizeof plan->dispatch, record);
  const vyre_dispatch *d = &plan->dispatch;
  vyre_status status = check_dispatch(batch->device, d, index, error);
  if (status == VYRE_OK) status = choose_module(plan, error);
  if (status == VYRE_OK) status = count_pieces(batch->device, plan, error);
  if (status != VYRE_OK) return status;
  place_hidden(batch->device, p, plan);
  place_extents(p, plan);
  batch->persistent |= (d->flags & VYRE_DISPATCH_PERSISTENT) != 0;
  batch->late |= d->set->late_params || d->set->late_offsets;
  batch->patched |= plan->patch_count > 0;
  batch->storage_buffers += plan->module->layout.storage;
  if (p->host > most_host_bytes)
    return gpu_fail(error, VYRE_ERR_LIMIT, d->executable->name,
                    "the launches of a batch take more than %llu bytes of parameters. Fix: make several batches, or "
                    "launch fewer workgroups",
                    (unsigned long long)most_host_bytes);
  return VYRE_OK;
}

/* ---- Other commands -------------------------------------------------------------------------- */

static bool is_range(const vyre_plugin_device *device, const vyre_plugin_buffer *buffer, uint64_t offset,
                     uint64_t bytes) {
  return buffer != NULL && buffer->device == device && vulkan_in_buffer(buffer, offset, bytes);
}

static vyre_status take_copy(const vyre_plugin_device *device, const void *record, uint64_t index, vyre_copy *c,
                             vyre_error *error) {
  gpu_take(c, sizeof *c, record);
  if (is_range(device, c->source, c->source_offset, c->bytes) &&
      is_range(device, c->target, c->target_offset, c->bytes))
    return VYRE_OK;
  return bad_command(error, index, "copies what does not lie in buffers of the device. Fix: correct its ranges");
}

static vyre_status take_fill(const vyre_plugin_device *device, const void *record, uint64_t index, vyre_fill *f,
                             vyre_error *error) {
  gpu_take(f, sizeof *f, record);
  if (is_range(device, f->target, f->offset, f->bytes) && f->offset % 4 == 0 && f->bytes % 4 == 0) return VYRE_OK;
  return bad_command(error, index, "fills what does not lie in a buffer of the device, at multiples of 4. Fix: correct "
                                   "its range");
}

static vyre_status take_timestamp(vyre_plugin_batch *batch, const void *record, vyre_timestamp *t, vyre_error *error) {
  gpu_take(t, sizeof *t, record);
  batch->timestamps++;
  if ((batch->device->facts->caps.can & VYRE_CAN_TIMESTAMP) != 0) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, gpu_name,
                  "a timestamp is asked for, and device %s lacks the capability timestamp. Fix: measure on the host",
                  batch->device->facts->properties.deviceName);
}

static vyre_status take_command(vyre_plugin_batch *batch, const vyre_command *from, uint64_t index, places *p,
                                vyre_error *error) {
  vulkan_command *to = &batch->commands[index];
  to->kind = from->kind;
  if (from->kind == VYRE_COMMAND_ORDER) return VYRE_OK;
  if (from->record == NULL) return bad_command(error, index, "has no record. Fix: give that of its kind");
  switch (from->kind) {
    case VYRE_COMMAND_COPY: return take_copy(batch->device, from->record, index, &to->u.copy, error);
    case VYRE_COMMAND_FILL: return take_fill(batch->device, from->record, index, &to->u.fill, error);
    case VYRE_COMMAND_TIMESTAMP: return take_timestamp(batch, from->record, &to->u.timestamp, error);
    case VYRE_COMMAND_DISPATCH: break;
    default:
      return gpu_fail(error, VYRE_ERR_UNSUPPORTED, gpu_name,
                      "command %llu is of kind %u, which is not known. Fix: use a newer plugin",
                      (unsigned long long)index, from->kind);
  }
  vulkan_plan *plan = &batch->plans[batch->plan_count];
  plan->index = batch->plan_count++;
  plan->command = (uint32_t)index;
  to->u.dispatch = plan;
  return take_dispatch(batch, from->record, index, plan, p, error);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static vyre_status take_commands(vyre_plugin_batch *batch, const vyre_command *commands, uint64_t count,
                                 vyre_error *error) {
  places p = { .host = VULKAN_HOST_FIRST, .alignment = descriptor_alignment(batch->device) };
  vyre_status status = VYRE_OK;
  for (; batch->count < count && status == VYRE_OK; batch->count++)
    status = take_command(batch, &commands[batch->count], batch->count, &p, error);
  if (status != VYRE_OK) return status;
  if (batch->persistent && count != 1)
    return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, gpu_name,
                    "a persistent launch has company in its batch of %llu commands. Fix: give it a batch of its own",
                    (unsigned long long)count);
  if (p.host < p.least) p.host = p.least;
  batch->host_bytes = batch->plan_count > 0 ? (uint32_t)((p.host + 15) & ~(uint64_t)15) : 0;
  batch->local_bytes = (p.local + 15) & ~(uint64_t)15;
  return batch->patched ? vulkan_patcher_get(batch->device, error) : VYRE_OK;
}

static uint64_t count_dispatches(const vyre_command *commands, uint64_t count) {
  uint64_t dispatches = 0;
  for (uint64_t i = 0; i < count; i++) dispatches += commands[i].kind == VYRE_COMMAND_DISPATCH;
  return dispatches;
}

vyre_status vulkan_batch_create(vyre_plugin_device *device, const vyre_command *commands, uint64_t count,
                                vyre_plugin_batch **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vulkan_alive(device, error);
  if (status != VYRE_OK) return status;
  if (count > UINT32_MAX) return gpu_no_memory(error);
  vyre_plugin_batch *batch = calloc(1, sizeof *batch);
  if (batch == NULL) return gpu_no_memory(error);
  batch->device = device;
  batch->commands = calloc((size_t)count + 1, sizeof *batch->commands);
  batch->plans = calloc((size_t)count_dispatches(commands, count) + 1, sizeof *batch->plans);
  status = batch->commands != NULL && batch->plans != NULL ? take_commands(batch, commands, count, error)
                                                           : gpu_no_memory(error);
  if (status == VYRE_OK) { /* for a queue that has nothing under way */
    const vulkan_lane *lane = &device->work->lanes[0];
    status = vulkan_recording_make(batch, lane->queue, lane->progress == VK_NULL_HANDLE, &batch->idle, error);
  }
  if (status == VYRE_OK) {
    batch->idle_count = 1;
    *out = batch;
  } else {
    vulkan_batch_destroy(batch);
  }
  return status;
}

void vulkan_batch_destroy(vyre_plugin_batch *batch) {
  while (batch->idle != NULL) {
    vulkan_recording *next = batch->idle->next;
    vulkan_recording_destroy(batch->idle);
    batch->idle = next;
  }
  free(batch->commands);
  free(batch->plans);
  free(batch);
}
