/* Lengths and grids that lie on the device. The numbers are copied into a recording's memory as the dispatch starts, a
 * small shader clamps them, and its results are words of the launch blocks and the groups of indirect dispatches: the
 * host never reads them in between. */
#include "plugins/vulkan/work.h"

#include <string.h>

static const uint32_t words[] = {
#include "plugins/vulkan/patch.inc"
};

enum { PATCHES_IN_GROUP = 64 };

/* What the shader is pushed: numbers of words. */
typedef struct patch_arguments {
  uint32_t first, count, clamped;
} patch_arguments;

/* ---- The shader ------------------------------------------------------------------------------ */

static vyre_status make_layouts(vyre_plugin_device *device, vulkan_patcher *p, vyre_error *error) {
  const VkDescriptorSetLayoutBinding binding = { .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                 .descriptorCount = 1,
                                                 .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT };
  const VkDescriptorSetLayoutCreateInfo set = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                .bindingCount = 1,
                                                .pBindings = &binding };
  vyre_status status =
    vulkan_made(device, device->vk.vkCreateDescriptorSetLayout(device->handle, &set, NULL, &p->set_layout),
                &p->set_layout, "vkCreateDescriptorSetLayout", error);
  if (status != VYRE_OK) return status;
  const VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(patch_arguments) };
  const VkPipelineLayoutCreateInfo pipeline = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                .setLayoutCount = 1,
                                                .pSetLayouts = &p->set_layout,
                                                .pushConstantRangeCount = 1,
                                                .pPushConstantRanges = &range };
  return vulkan_made(device, device->vk.vkCreatePipelineLayout(device->handle, &pipeline, NULL, &p->pipeline_layout),
                     &p->pipeline_layout, "vkCreatePipelineLayout", error);
}

static vyre_status make_pipeline(vyre_plugin_device *device, vulkan_patcher *p, vyre_error *error) {
  const VkShaderModuleCreateInfo shader = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                            .codeSize = sizeof words,
                                            .pCode = words };
  vyre_status status = vulkan_made(device, device->vk.vkCreateShaderModule(device->handle, &shader, NULL, &p->shader),
                                   &p->shader, "vkCreateShaderModule", error);
  if (status != VYRE_OK) return status;
  const VkComputePipelineCreateInfo info = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                             .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                        .module = p->shader,
                                                        .pName = "patch" },
                                             .layout = p->pipeline_layout };
  return vulkan_made(
    device, device->vk.vkCreateComputePipelines(device->handle, VK_NULL_HANDLE, 1, &info, NULL, &p->pipeline),
    &p->pipeline, "vkCreateComputePipelines", error);
}

static void destroy(const vyre_plugin_device *device, vulkan_patcher *p) {
  device->vk.vkDestroyPipeline(device->handle, p->pipeline, NULL);
  device->vk.vkDestroyShaderModule(device->handle, p->shader, NULL);
  device->vk.vkDestroyPipelineLayout(device->handle, p->pipeline_layout, NULL);
  device->vk.vkDestroyDescriptorSetLayout(device->handle, p->set_layout, NULL);
  *p = (vulkan_patcher){ 0 };
}

vyre_status vulkan_patcher_get(vyre_plugin_device *device, vyre_error *error) {
  vulkan_work *work = device->work;
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&work->patcher_lock);
  if (work->patcher.pipeline == VK_NULL_HANDLE) {
    status = make_layouts(device, &work->patcher, error);
    if (status == VYRE_OK) status = make_pipeline(device, &work->patcher, error);
    if (status != VYRE_OK) destroy(device, &work->patcher);
  }
  pthread_mutex_unlock(&work->patcher_lock);
  return status;
}

void vulkan_patcher_destroy(vyre_plugin_device *device) { destroy(device, &device->work->patcher); }

/* ---- Records --------------------------------------------------------------------------------- */

/* Where the launch block has a word of the grid; UINT32_MAX if the kernel does not look at it. */
static uint32_t grid_word(const vyre_kernel_header *kernel, int axis) {
  int number = gpu_hidden_word(kernel, (vyre_kernel_word)(VYRE_KERNEL_WORD_GRID_X + axis));
  return number < 0 ? UINT32_MAX
                    : VYRE_KERNEL_AT(vyre_kernel_hidden_word, kernel, hidden_words, (uint32_t)number)->offset;
}

/* For each piece: the lengths and the grid in its block, and how many groups it has. The first piece counts. */
uint32_t vulkan_patches_count(const vulkan_plan *plan) {
  const vyre_kernel_header *kernel = plan->dispatch.executable->kernel;
  uint32_t count = plan->dispatch.set->lengths;
  for (int axis = 0; plan->dispatch.grid_buffer != NULL && axis < 3; axis++)
    count += 1 + (grid_word(kernel, axis) != UINT32_MAX);
  return count * plan->pieces;
}

typedef struct writer {
  const vulkan_plan *plan;
  vulkan_patch *to;
  uint32_t block;   /* of the piece */
  uint32_t counted; /* VULKAN_PATCH_COUNTED for the first piece */
} writer;

static void write_lengths(writer *w) {
  const vyre_plugin_set *set = w->plan->dispatch.set;
  const vyre_kernel_header *kernel = set->executable->kernel;
  uint32_t source = w->plan->gathered;
  for (uint32_t slot = 0; slot < kernel->bindings.count; slot++) {
    const vyre_bind *bind = &set->binds[slot];
    if (bind->length_bits == 0) continue;
    const uint32_t at = VYRE_KERNEL_AT(vyre_kernel_binding, kernel, bindings, slot)->count_offset;
    *w->to++ = (vulkan_patch){ .source = source / 4,
                               .flags = w->counted | VULKAN_PATCH_WIDE_TARGET |
                                        (bind->length_bits == 64 ? VULKAN_PATCH_WIDE_SOURCE : 0),
                               .limit = { (uint32_t)bind->elements, (uint32_t)(bind->elements >> 32) },
                               .target = (w->block + at) / 4 };
    source += 8;
  }
}

static void write_grid(writer *w, const gpu_piece *piece, uint32_t number, const uint32_t most[3]) {
  const vulkan_plan *plan = w->plan;
  const uint32_t source = plan->gathered + plan->dispatch.set->lengths * 8;
  const uint32_t groups = plan->indirect + number * (uint32_t)sizeof(VkDispatchIndirectCommand);
  for (uint32_t axis = 0; plan->dispatch.grid_buffer != NULL && axis < 3; axis++) {
    const uint32_t word = grid_word(plan->dispatch.executable->kernel, (int)axis);
    const vulkan_patch whole = { .source = source / 4 + axis,
                                 .limit = { plan->dispatch.grid[axis], 0 },
                                 .most = UINT32_MAX };
    vulkan_patch part = whole;
    part.flags = w->counted;
    part.origin = piece->origin[axis];
    part.most = most[axis];
    part.target = groups / 4 + axis;
    *w->to++ = part;
    if (word == UINT32_MAX) continue;
    *w->to = whole;
    w->to++->target = (w->block + word) / 4;
  }
}

void vulkan_patches_write(const vyre_plugin_device *device, const vulkan_plan *plan, uint8_t *host) {
  const uint32_t *limit = device->facts->properties.limits.maxComputeWorkGroupCount;
  writer w = { plan, (vulkan_patch *)(void *)(host + plan->patches), plan->blocks, VULKAN_PATCH_COUNTED };
  gpu_piece piece = { 0 };
  for (uint32_t number = 0; gpu_next_piece(plan->dispatch.grid, limit, &piece); number++) {
    write_lengths(&w);
    write_grid(&w, &piece, number, limit);
    w.block += plan->block_stride;
    w.counted = 0;
  }
}

/* ---- Recording ------------------------------------------------------------------------------- */

static void gather(const vulkan_recording *r, const vulkan_plan *plan) {
  const vulkan_api *vk = &r->batch->device->vk;
  const vyre_dispatch *d = &plan->dispatch;
  uint64_t to = plan->gathered;
  for (uint32_t slot = 0; slot < d->executable->kernel->bindings.count; slot++) {
    const vyre_bind *bind = &d->set->binds[slot];
    if (bind->length_bits == 0) continue;
    const VkBufferCopy region = { bind->length_offset, to, bind->length_bits / 8 };
    vk->vkCmdCopyBuffer(r->commands, bind->length_buffer->handle, r->host->handle, 1, &region);
    to += 8;
  }
  const VkBufferCopy region = { d->grid_offset, to, 12 };
  if (d->grid_buffer != NULL) vk->vkCmdCopyBuffer(r->commands, d->grid_buffer->handle, r->host->handle, 1, &region);
}

static void wait_for(const vulkan_recording *r, VkPipelineStageFlags before, VkAccessFlags written,
                     VkPipelineStageFlags after, VkAccessFlags used) {
  const VkMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = written,
                                    .dstAccessMask = used };
  r->batch->device->vk.vkCmdPipelineBarrier(r->commands, before, after, 0, 1, &barrier, 0, NULL, 0, NULL);
}

void vulkan_patches_record(const vulkan_recording *r, const vulkan_plan *plan) {
  if (plan->patch_count == 0) return;
  const vulkan_api *vk = &r->batch->device->vk;
  const vulkan_patcher *patcher = &r->batch->device->work->patcher;
  const patch_arguments arguments = { plan->patches / 4, plan->patch_count, VULKAN_HOST_CLAMPED / 4 };
  gather(r, plan);
  wait_for(r, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
           VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
  vk->vkCmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, patcher->pipeline);
  vk->vkCmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, patcher->pipeline_layout, 0, 1,
                              &r->sets[r->batch->plan_count], 0, NULL);
  vk->vkCmdPushConstants(r->commands, patcher->pipeline_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof arguments,
                         &arguments);
  vk->vkCmdDispatch(r->commands, (plan->patch_count - 1) / PATCHES_IN_GROUP + 1, 1, 1);
  wait_for(r, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
           VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
           VK_ACCESS_UNIFORM_READ_BIT | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_INDIRECT_COMMAND_READ_BIT |
             VK_ACCESS_TRANSFER_WRITE_BIT);
}
