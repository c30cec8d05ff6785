/* The command buffer of a recording: everything that a batch says, once. */
#include "plugins/vulkan/work.h"

#include <string.h>

enum { MOST_PUSHED = 256 };

/* All before it ends and is seen by all behind it. */
static void order(const vulkan_recording *r) {
  const VkMemoryBarrier all = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT };
  r->batch->device->vk.vkCmdPipelineBarrier(r->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &all, 0, NULL, 0, NULL);
}

static void order_host(const vulkan_recording *r) {
  const VkMemoryBarrier all = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                .dstAccessMask = VK_ACCESS_HOST_READ_BIT };
  r->batch->device->vk.vkCmdPipelineBarrier(r->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                            VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all, 0, NULL, 0, NULL);
}

static void write_time(const vulkan_recording *r, uint32_t query) {
  if (r->queries != VK_NULL_HANDLE)
    r->batch->device->vk.vkCmdWriteTimestamp(r->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, r->queries, query);
}

/* ---- Dispatches ------------------------------------------------------------------------------ */

static void fill(const vulkan_recording *r, const vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes,
                 uint32_t pattern) {
  if (bytes > 0) r->batch->device->vk.vkCmdFillBuffer(r->commands, buffer->handle, offset, bytes, pattern);
}

static void copy(const vulkan_recording *r, const vyre_plugin_buffer *from, uint64_t from_offset,
                 const vyre_plugin_buffer *to, uint64_t to_offset, uint64_t bytes) {
  const VkBufferCopy region = { from_offset, to_offset, bytes };
  if (bytes > 0) r->batch->device->vk.vkCmdCopyBuffer(r->commands, from->handle, to->handle, 1, &region);
}

/* What has to be zero, or a copy, when the first invocation starts. */
static void prepare(const vulkan_recording *r, const vulkan_plan *plan) {
  const vyre_plugin_set *set = plan->dispatch.set;
  bool any = plan->has_state || plan->stop != 0;
  if (plan->has_state) fill(r, r->local, plan->state, sizeof(vyre_kernel_state), 0);
  if (plan->stop != 0) copy(r, plan->dispatch.stop_buffer, plan->dispatch.stop_offset, r->host, plan->stop, 4);
  for (uint32_t slot = 0; slot < set->executable->kernel->bindings.count; slot++) {
    const vyre_bind *bind = &set->binds[slot];
    if ((bind->flags & VYRE_BIND_ZERO) == 0 || bind->bytes == 0) continue;
    fill(r, bind->buffer, r->offsets[plan->index][slot], (bind->bytes + 3) & ~(uint64_t)3, 0);
    any = true;
  }
  if (any) order(r);
}

static void bind_block(const vulkan_recording *r, const vulkan_plan *plan, const gpu_piece *piece, uint32_t number) {
  const vulkan_api *vk = &r->batch->device->vk;
  const vulkan_module *m = plan->module;
  const uint32_t offset = plan->place == VULKAN_BLOCK_BOUND ? number * plan->block_stride : 0;
  if (plan->place == VULKAN_BLOCK_BOUND || number == 0)
    vk->vkCmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, m->pipeline_layout, 0, 1,
                                &r->sets[plan->index], 1, &offset);
  if (plan->place == VULKAN_BLOCK_BOUND) return;
  _Alignas(16) uint8_t block[MOST_PUSHED];
  vulkan_recording_block(r, plan, piece, block);
  vk->vkCmdPushConstants(r->commands, m->pipeline_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, m->layout.push_bytes, block);
}

static void dispatch_pieces(const vulkan_recording *r, const vulkan_plan *plan) {
  const vulkan_api *vk = &r->batch->device->vk;
  const uint32_t *limit = r->batch->device->facts->properties.limits.maxComputeWorkGroupCount;
  gpu_piece piece = { 0 };
  for (uint32_t number = 0; gpu_next_piece(plan->dispatch.grid, limit, &piece); number++) {
    bind_block(r, plan, &piece, number);
    if (plan->indirect != 0)
      vk->vkCmdDispatchIndirect(r->commands, r->host->handle,
                                plan->indirect + number * sizeof(VkDispatchIndirectCommand));
    else
      vk->vkCmdDispatch(r->commands, piece.size[0], piece.size[1], piece.size[2]);
  }
}

static void dispatch(const vulkan_recording *r, const vulkan_plan *plan) {
  if (plan->pieces == 0) return;
  vulkan_patches_record(r, plan);
  prepare(r, plan);
  for (uint32_t entry = 0; entry < plan->dispatch.executable->kernel->entries.count; entry++) {
    if (entry > 0) order(r);
    r->batch->device->vk.vkCmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                           plan->module->pipelines[plan->place][entry]);
    dispatch_pieces(r, plan);
  }
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void put(const vulkan_recording *r, const vulkan_command *c, uint32_t *timestamps) {
  switch (c->kind) {
    case VYRE_COMMAND_DISPATCH: dispatch(r, c->u.dispatch); break;
    case VYRE_COMMAND_COPY:
      copy(r, c->u.copy.source, c->u.copy.source_offset, c->u.copy.target, c->u.copy.target_offset, c->u.copy.bytes);
      break;
    case VYRE_COMMAND_FILL: fill(r, c->u.fill.target, c->u.fill.offset, c->u.fill.bytes, c->u.fill.pattern); break;
    case VYRE_COMMAND_TIMESTAMP: write_time(r, VULKAN_QUERY_FIRST + (*timestamps)++); break;
    default: order(r); break; /* VYRE_COMMAND_ORDER */
  }
}

vyre_status vulkan_record(vulkan_recording *r, vyre_error *error) {
  vyre_plugin_device *device = r->batch->device;
  const VkCommandBufferBeginInfo info = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO };
  vyre_status status =
    vulkan_check(device, device->vk.vkBeginCommandBuffer(r->commands, &info), "vkBeginCommandBuffer", error);
  if (status != VYRE_OK) return status;
  uint32_t timestamps = 0;
  if (r->queries != VK_NULL_HANDLE)
    device->vk.vkCmdResetQueryPool(r->commands, r->queries, 0, VULKAN_QUERY_FIRST + r->batch->timestamps);
  if (r->ordered) order(r);
  write_time(r, VULKAN_QUERY_BEGIN);
  for (uint64_t i = 0; i < r->batch->count; i++) put(r, &r->batch->commands[i], &timestamps);
  write_time(r, VULKAN_QUERY_END);
  order_host(r);
  return vulkan_check(device, device->vk.vkEndCommandBuffer(r->commands), "vkEndCommandBuffer", error);
}
