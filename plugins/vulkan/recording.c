/* Recordings: a command buffer of a batch with the memory, descriptors and queries that it alone uses. */
#include "plugins/vulkan/work.h"

#include <stdlib.h>
#include <string.h>

/* ---- What is bound --------------------------------------------------------------------------- */

/* Where one of a launch's buffers lies. */
typedef struct place {
  const vyre_plugin_buffer *buffer;
  uint64_t offset, bytes;
} place;

static place zeros(const vulkan_recording *r) { return (place){ r->host, VULKAN_HOST_ZERO, 16 }; }

static place place_of_slot(const vulkan_recording *r, const vulkan_plan *plan, uint32_t slot) {
  const vyre_bind *bind = &plan->dispatch.set->binds[slot];
  if (bind->buffer == NULL || bind->bytes == 0) return zeros(r);
  return (place){ bind->buffer, r->offsets[plan->index][slot], vulkan_bound_bytes(bind) };
}

static place place_of_hidden(const vulkan_recording *r, const vulkan_plan *plan, uint32_t kind) {
  const vyre_dispatch *d = &plan->dispatch;
  switch (kind) {
    case VYRE_KERNEL_HIDDEN_DIAGNOSTICS:
      return (place){ r->host, plan->diagnostics,
                      sizeof(vyre_kernel_diagnostics) + plan->print_words * sizeof(uint64_t) };
    case VYRE_KERNEL_HIDDEN_SPILL: return (place){ r->local, plan->spill, plan->spill_bytes };
    case VYRE_KERNEL_HIDDEN_STATE: return (place){ r->local, plan->state, sizeof(vyre_kernel_state) };
    default: break; /* the stop word */
  }
  if (plan->stop != 0) return (place){ r->host, plan->stop, 16 };
  return d->stop_buffer != NULL ? (place){ d->stop_buffer, d->stop_offset, 4 } : zeros(r);
}

/* Number |i| among the buffers of a launch, as spirv_layout counts them. */
static place place_of(const vulkan_recording *r, const vulkan_plan *plan, uint32_t i) {
  const vyre_plugin_executable *e = plan->dispatch.executable;
  const uint32_t bindings = e->kernel->bindings.count;
  if (i == plan->module->layout.table_buffer) return (place){ e->tables, 0, e->tables->bytes };
  if (i < bindings) return place_of_slot(r, plan, i);
  if (i - bindings >= e->kernel->hidden_bindings.count) return zeros(r);
  return place_of_hidden(
    r, plan, VYRE_KERNEL_AT(vyre_kernel_hidden_binding, e->kernel, hidden_bindings, i - bindings)->kind);
}

static void write_descriptor(const vulkan_recording *r, VkDescriptorSet set, uint32_t binding, VkDescriptorType type,
                             const place *at) {
  const vyre_plugin_device *device = r->batch->device;
  const VkDescriptorBufferInfo info = { at->buffer->handle, at->offset, at->bytes };
  const VkWriteDescriptorSet write = { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                       .dstSet = set,
                                       .dstBinding = binding,
                                       .descriptorCount = 1,
                                       .descriptorType = type,
                                       .pBufferInfo = &info };
  device->vk.vkUpdateDescriptorSets(device->handle, 1, &write, 0, NULL);
}

static void bind_plan(vulkan_recording *r, const vulkan_plan *plan) {
  const spirv_layout *layout = &plan->module->layout;
  const VkDescriptorSet set = r->sets[plan->index];
  for (uint32_t i = 0; i < layout->storage; i++) {
    place at = place_of(r, plan, i);
    write_descriptor(r, set, i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &at);
  }
  /* Where the block is pushed, something has to be bound all the same. */
  const uint32_t first = plan->place == VULKAN_BLOCK_BOUND ? plan->blocks : VULKAN_HOST_ZERO;
  const place block = { r->host, first, layout->block_bytes };
  write_descriptor(r, set, layout->block_binding, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, &block);
}

/* ---- Launch blocks --------------------------------------------------------------------------- */

void vulkan_recording_block(const vulkan_recording *r, const vulkan_plan *plan, const gpu_piece *piece, void *to) {
  const vyre_dispatch *d = &plan->dispatch;
  const spirv_layout *layout = &plan->module->layout;
  gpu_launch launch = { .kernel = d->executable->kernel,
                        .params = r->params[plan->index],
                        .elements = r->elements[plan->index],
                        .command = plan->command,
                        .work_budget = d->work_budget,
                        .time_budget_ns = d->time_budget_ns };
  memcpy(launch.grid, d->grid, sizeof launch.grid);
  memcpy(launch.origin, piece->origin, sizeof launch.origin);
  memset(to, 0, layout->block_bytes);
  gpu_launch_block(&launch, to);
  for (uint32_t i = 0; plan->mode == SPIRV_ADDRESSED && i < layout->buffers; i++) {
    const place at = place_of(r, plan, i);
    const uint64_t address = at.buffer->address + at.offset;
    memcpy((uint8_t *)to + layout->address_offset + i * sizeof address, &address, sizeof address);
  }
}

static void write_blocks(const vulkan_recording *r, const vulkan_plan *plan) {
  gpu_piece piece = { 0 };
  uint8_t *to = r->host->host + plan->blocks;
  const uint32_t *limit = r->batch->device->facts->properties.limits.maxComputeWorkGroupCount;
  for (; gpu_next_piece(plan->dispatch.grid, limit, &piece); to += plan->block_stride)
    vulkan_recording_block(r, plan, &piece, to);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static vyre_status make_commands(vulkan_recording *r, vyre_error *error) {
  const vulkan_api *vk = &r->batch->device->vk;
  VkDevice handle = r->batch->device->handle;
  VkCommandPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                   .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                   .queueFamilyIndex = r->family };
  vyre_status status = vulkan_made(r->batch->device, vk->vkCreateCommandPool(handle, &info, NULL, &r->pool), &r->pool,
                                   "vkCreateCommandPool", error);
  if (status != VYRE_OK) return status;
  VkCommandBufferAllocateInfo buffers = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                          .commandPool = r->pool,
                                          .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                          .commandBufferCount = 1 };
  return vulkan_check(r->batch->device, vk->vkAllocateCommandBuffers(handle, &buffers, &r->commands),
                      "vkAllocateCommandBuffers", error);
}

static vyre_status make_queries(vulkan_recording *r, vyre_error *error) {
  vyre_plugin_device *device = r->batch->device;
  if (r->timestamp_bits == 0) return VYRE_OK;
  VkQueryPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                 .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                 .queryCount = VULKAN_QUERY_FIRST + r->batch->timestamps };
  return vulkan_made(device, device->vk.vkCreateQueryPool(device->handle, &info, NULL, &r->queries), &r->queries,
                     "vkCreateQueryPool", error);
}

static vyre_status make_memory(vulkan_recording *r, vyre_error *error) {
  const vyre_plugin_batch *batch = r->batch;
  const uint32_t host = VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE | VYRE_MEMORY_COHERENT;
  vyre_status status = VYRE_OK;
  if (batch->host_bytes > 0) status = vulkan_buffer_make(batch->device, host, batch->host_bytes, &r->host, error);
  if (status == VYRE_OK && batch->local_bytes > 0)
    status = vulkan_buffer_make(batch->device, VYRE_MEMORY_DEVICE_LOCAL, batch->local_bytes, &r->local, error);
  return status;
}

static vyre_status make_pool(vulkan_recording *r, vyre_error *error) {
  const vyre_plugin_batch *batch = r->batch;
  vyre_plugin_device *device = batch->device;
  const VkDescriptorPoolSize sizes[] = {
    { VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, batch->plan_count },
    { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, batch->storage_buffers + 1 },
  };
  VkDescriptorPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                      .maxSets = batch->plan_count + 1,
                                      .poolSizeCount = 2,
                                      .pPoolSizes = sizes };
  return vulkan_made(device, device->vk.vkCreateDescriptorPool(device->handle, &info, NULL, &r->descriptors),
                     &r->descriptors, "vkCreateDescriptorPool", error);
}

static vyre_status make_set(vulkan_recording *r, VkDescriptorSetLayout layout, uint32_t index, vyre_error *error) {
  vyre_plugin_device *device = r->batch->device;
  VkDescriptorSetAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = r->descriptors,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &layout };
  return vulkan_check(device, device->vk.vkAllocateDescriptorSets(device->handle, &info, &r->sets[index]),
                      "vkAllocateDescriptorSets", error);
}

static vyre_status make_sets(vulkan_recording *r, vyre_error *error) {
  const vyre_plugin_batch *batch = r->batch;
  if (batch->plan_count == 0) return VYRE_OK;
  r->sets = calloc(batch->plan_count + 1u, sizeof(VkDescriptorSet));
  vyre_status status = r->sets != NULL ? make_pool(r, error) : gpu_no_memory(error);
  for (uint32_t i = 0; i < batch->plan_count && status == VYRE_OK; i++) {
    if (batch->plans[i].pieces == 0) continue;
    status = make_set(r, batch->plans[i].module->set_layout, i, error);
    if (status == VYRE_OK) bind_plan(r, &batch->plans[i]);
  }
  if (status != VYRE_OK || !batch->patched) return status;
  status = make_set(r, batch->device->work->patcher.set_layout, batch->plan_count, error);
  const place all = { r->host, 0, r->host->bytes };
  if (status == VYRE_OK)
    write_descriptor(r, r->sets[batch->plan_count], 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &all);
  return status;
}

/* Offsets, lengths and parameters, as the set has them until a submit brings others. */
static vyre_status make_values(vulkan_recording *r, const vulkan_plan *plan, vyre_error *error) {
  const vyre_plugin_set *set = plan->dispatch.set;
  const uint32_t slots = set->executable->kernel->bindings.count, bytes = set->executable->kernel->param_bytes;
  uint64_t *offsets = calloc(slots + 1u, sizeof *offsets), *elements = calloc(slots + 1u, sizeof *elements);
  uint8_t *params = malloc(bytes + 1u);
  r->offsets[plan->index] = offsets;
  r->elements[plan->index] = elements;
  r->params[plan->index] = params;
  if (offsets == NULL || elements == NULL || params == NULL) return gpu_no_memory(error);
  for (uint32_t slot = 0; slot < slots; slot++) {
    offsets[slot] = set->binds[slot].flags & VYRE_BIND_LATE ? 0 : set->binds[slot].offset;
    elements[slot] = set->binds[slot].elements;
  }
  memcpy(params, set->params, bytes);
  return VYRE_OK;
}

static vyre_status make_all_values(vulkan_recording *r, vyre_error *error) {
  const vyre_plugin_batch *batch = r->batch;
  r->offsets = calloc(batch->plan_count + 1u, sizeof *r->offsets);
  r->elements = calloc(batch->plan_count + 1u, sizeof *r->elements);
  r->params = calloc(batch->plan_count + 1u, sizeof *r->params);
  if (r->offsets == NULL || r->elements == NULL || r->params == NULL) return gpu_no_memory(error);
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < batch->plan_count && status == VYRE_OK; i++)
    status = make_values(r, &batch->plans[i], error);
  return status;
}

static void fill_memory(vulkan_recording *r) {
  const vyre_plugin_batch *batch = r->batch;
  for (uint32_t i = 0; i < batch->plan_count; i++) {
    const vulkan_plan *plan = &batch->plans[i];
    if (plan->place == VULKAN_BLOCK_BOUND) write_blocks(r, plan);
    if (plan->patch_count > 0) vulkan_patches_write(batch->device, plan, r->host->host);
  }
}

/* The time on the device costs hardware nothing; a driver that computes itself empties its pipeline for it. */
static bool looks_at_clock(const vyre_plugin_batch *batch) {
  return batch->timestamps > 0 ||
         batch->device->facts->properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
}

vyre_status vulkan_recording_make(vyre_plugin_batch *batch, const vulkan_queue *queue, bool ordered,
                                  vulkan_recording **out, vyre_error *error) {
  *out = NULL;
  vulkan_recording *r = calloc(1, sizeof *r);
  if (r == NULL) return gpu_no_memory(error);
  r->batch = batch;
  r->family = queue->family;
  r->timestamp_bits = looks_at_clock(batch) ? queue->timestamp_bits : 0;
  r->ordered = ordered;
  vyre_status status = make_all_values(r, error);
  if (status == VYRE_OK) status = make_commands(r, error);
  if (status == VYRE_OK) status = make_queries(r, error);
  if (status == VYRE_OK) status = make_memory(r, error);
  if (status == VYRE_OK) status = make_sets(r, error);
  if (status == VYRE_OK) {
    fill_memory(r);
    status = vulkan_record(r, error);
  }
  if (status == VYRE_OK) *out = r;
  else vulkan_recording_destroy(r);
  return status;
}

static void free_all(void **each, uint32_t count) {
  for (uint32_t i = 0; each != NULL && i < count; i++) free(each[i]);
  free(each);
}

void vulkan_recording_destroy(vulkan_recording *r) {
  const vyre_plugin_device *device = r->batch->device;
  const uint32_t count = r->batch->plan_count;
  device->vk.vkDestroyQueryPool(device->handle, r->queries, NULL);
  device->vk.vkDestroyDescriptorPool(device->handle, r->descriptors, NULL);
  device->vk.vkDestroyCommandPool(device->handle, r->pool, NULL);
  if (r->host != NULL) vulkan_buffer_destroy(r->host);
  if (r->local != NULL) vulkan_buffer_destroy(r->local);
  free(r->sets);
  free_all((void **)r->offsets, count);
  free_all((void **)r->elements, count);
  free_all((void **)r->params, count);
  free(r);
}

/* ---- For a submit ---------------------------------------------------------------------------- */

static const vyre_late *find_late(const vyre_submit *submit, uint32_t command) {
  for (uint32_t i = 0; i < submit->late_count; i++)
    if (submit->late[i].command == command) return &submit->late[i];
  return NULL;
}

static vyre_status take_offsets(vulkan_recording *r, const vulkan_plan *plan, const vyre_late *late,
                                vyre_error *error) {
  const vyre_plugin_set *set = plan->dispatch.set;
  vyre_status status = VYRE_OK;
  for (uint32_t slot = 0; slot < set->executable->kernel->bindings.count && status == VYRE_OK; slot++) {
    if ((set->binds[slot].flags & VYRE_BIND_LATE) == 0) continue;
    status = vulkan_set_check_range(set, slot, late->offsets[slot], error);
    if (status == VYRE_OK) r->offsets[plan->index][slot] = late->offsets[slot];
  }
  return status;
}

static vyre_status take_late(vulkan_recording *r, const vulkan_plan *plan, const vyre_submit *submit,
                             vyre_error *error) {
  const vyre_plugin_set *set = plan->dispatch.set;
  if (!set->late_params && !set->late_offsets) return VYRE_OK;
  const vyre_late *late = find_late(submit, plan->command);
  if (late == NULL || (set->late_params && late->params == NULL) || (set->late_offsets && late->offsets == NULL))
    return gpu_fail(error, VYRE_ERR_MISSING_BINDING, set->executable->name,
                    "command %u waits for late values, and the submit does not bring them. Fix: give them for each "
                    "dispatch whose set leaves some",
                    plan->command);
  if (set->late_params) memcpy(r->params[plan->index], late->params, set->executable->kernel->param_bytes);
  return set->late_offsets ? take_offsets(r, plan, late, error) : VYRE_OK;
}

/* New offsets make new descriptors and, where these are what the commands name, new commands. */
static vyre_status rebind(vulkan_recording *r, bool offsets, vyre_error *error) {
  const vyre_plugin_batch *batch = r->batch;
  for (uint32_t i = 0; i < batch->plan_count; i++) {
    const vulkan_plan *plan = &batch->plans[i];
    const vyre_plugin_set *set = plan->dispatch.set;
    if (plan->pieces == 0) continue;
    if (set->late_offsets) bind_plan(r, plan);
    if (set->late_params || set->late_offsets) write_blocks(r, plan);
  }
  return offsets ? vulkan_record(r, error) : VYRE_OK;
}

static vyre_status arm_late(vulkan_recording *r, const vyre_submit *submit, vyre_error *error) {
  const vyre_plugin_batch *batch = r->batch;
  vyre_status status = VYRE_OK;
  bool offsets = false;
  for (uint32_t i = 0; i < batch->plan_count && status == VYRE_OK; i++) {
    status = take_late(r, &batch->plans[i], submit, error);
    offsets |= batch->plans[i].dispatch.set->late_offsets;
  }
  return status == VYRE_OK ? rebind(r, offsets, error) : status;
}

vyre_status vulkan_recording_arm(vulkan_recording *r, const vyre_submit *submit, vyre_error *error) {
  const vyre_plugin_batch *batch = r->batch;
  const uint64_t words = submit->prints != NULL ? submit->print_words : 0;
  vyre_status status = batch->late ? arm_late(r, submit, error) : VYRE_OK;
  if (status != VYRE_OK) return status;
  if (batch->patched) memset(r->host->host + VULKAN_HOST_CLAMPED, 0, sizeof(uint32_t));
  for (uint32_t i = 0; i < batch->plan_count; i++) {
    const vulkan_plan *plan = &batch->plans[i];
    if (!plan->has_diagnostics) continue;
    const vyre_kernel_diagnostics none = { .print_words =
                                             words < plan->print_words ? (uint32_t)words : plan->print_words };
    memcpy(r->host->host + plan->diagnostics, &none, sizeof none);
  }
  return VYRE_OK;
}
