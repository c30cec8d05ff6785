/* The other side: a GLSL shader with its descriptor set, in a command buffer that is recorded once. */
#include <stdlib.h>
#include <string.h>

#include "vulkan/contest.h"

static uint32_t buffers_of(const contest_kernel *kernel) {
  uint32_t count = 0;
  while (count < CONTEST_BUFFERS && kernel->buffers[count].name) count++;
  return count;
}

static uint32_t params_of(const contest_kernel *kernel, uint32_t words[CONTEST_PARAMS]) {
  uint32_t count = 0;
  for (; count < CONTEST_PARAMS && kernel->params[count].name; count++) words[count] = kernel->params[count].bits;
  return count;
}

/* ---- Pipelines ---- */

static const char *make_layouts(peer_job *job, const contest_kernel *kernel) {
  uint32_t words[CONTEST_PARAMS];
  VkDescriptorSetLayoutBinding bindings[CONTEST_BUFFERS];
  for (uint32_t i = 0; i < CONTEST_BUFFERS; i++)
    bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                 .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                 .descriptorCount = 1,
                                                 .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                         .bindingCount = buffers_of(kernel),
                                         .pBindings = bindings};
  VK_TRY(vkCreateDescriptorSetLayout(vk.device, &set, NULL, &job->set_layout));
  VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, params_of(kernel, words) * 4};
  VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = &job->set_layout,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &push};
  VK_TRY(vkCreatePipelineLayout(vk.device, &layout, NULL, &job->layout));
  return NULL;
}

const char *peer_job_compile(const contest_kernel *kernel, bool emulate, peer_job *out) {
  const contest_shader *shader = emulate && kernel->emulating.code ? &kernel->emulating : &kernel->shader;
  *out = (peer_job){0};
  if (shader == &kernel->emulating && !vk.float64) return "the device has no double, through which the peer makes fma";
  const char *fault = make_layouts(out, kernel);
  if (fault) return fault;
  VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                   .codeSize = shader->bytes,
                                   .pCode = shader->code};
  VkShaderModule module;
  VK_TRY(vkCreateShaderModule(vk.device, &info, NULL, &module));
  VkComputePipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                          .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                    .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                    .module = module,
                                                    .pName = "main"},
                                          .layout = out->layout};
  VkResult code = vkCreateComputePipelines(vk.device, VK_NULL_HANDLE, 1, &pipeline, NULL, &out->pipeline);
  vkDestroyShaderModule(vk.device, module, NULL);
  return vk_fault(code, "vkCreateComputePipelines");
}

/* ---- Buffers ---- */

/* Between the host and memory that it may not see. */
static const char *transfer(const vk_memory *memory, void *host, size_t bytes, bool to_device) {
  if (memory->host) {
    memcpy(to_device ? memory->host : host, to_device ? host : memory->host, bytes);
    return NULL;
  }
  vk_memory stage;
  VkCommandBuffer commands;
  const VkBufferCopy all = {0, 0, bytes};
  const char *fault = vk_allocate(bytes, true, &stage);
  if (!fault && to_device) memcpy(stage.host, host, bytes);
  if (!fault) fault = vk_begin(&commands);
  if (fault) return fault;
  vkCmdCopyBuffer(commands, to_device ? stage.buffer : memory->buffer, to_device ? memory->buffer : stage.buffer, 1,
                  &all);
  vk_barrier(commands);
  fault = vk_end(commands);
  if (!fault) fault = vk_run(commands);
  if (!fault && !to_device) memcpy(host, stage.host, bytes);
  vk_discard(commands);
  vk_free(&stage);
  return fault;
}

static const char *make_buffer(peer_job *job, const contest_kernel *kernel, uint32_t i) {
  const size_t bytes = (size_t)kernel->buffers[i].count * sizeof(uint32_t);
  uint32_t *words = contest_contents(kernel, i);
  const char *fault = words ? vk_allocate(bytes, false, &job->buffers[i]) : "memory is exhausted";
  if (!fault) fault = transfer(&job->buffers[i], words, bytes, true);
  free(words);
  return fault;
}

static const char *make_set(peer_job *job, const contest_kernel *kernel) {
  const uint32_t count = buffers_of(kernel);
  VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count};
  VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                     .maxSets = 1,
                                     .poolSizeCount = 1,
                                     .pPoolSizes = &size};
  VK_TRY(vkCreateDescriptorPool(vk.device, &pool, NULL, &job->pool));
  VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                      .descriptorPool = job->pool,
                                      .descriptorSetCount = 1,
                                      .pSetLayouts = &job->set_layout};
  VK_TRY(vkAllocateDescriptorSets(vk.device, &info, &job->set));
  for (uint32_t i = 0; i < count; i++) {
    const char *fault = make_buffer(job, kernel, i);
    if (fault) return fault;
    const VkDescriptorBufferInfo buffer = {job->buffers[i].buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = job->set,
                                        .dstBinding = i,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .pBufferInfo = &buffer};
    vkUpdateDescriptorSets(vk.device, 1, &write, 0, NULL);
  }
  return NULL;
}

/* ---- Commands ---- */

static const char *make_progress(peer_job *job) {
  VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                    .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  VK_TRY(vkCreateSemaphore(vk.device, &info, NULL, &job->progress));
  return NULL;
}

const char *peer_job_bind(peer_job *job, const contest_kernel *kernel, uint32_t launches) {
  uint32_t words[CONTEST_PARAMS];
  const uint32_t count = params_of(kernel, words);
  const char *fault = make_set(job, kernel);
  if (!fault) fault = make_progress(job);
  if (!fault) fault = vk_begin(&job->commands);
  if (fault) return fault;
  vkCmdBindPipeline(job->commands, VK_PIPELINE_BIND_POINT_COMPUTE, job->pipeline);
  vkCmdBindDescriptorSets(job->commands, VK_PIPELINE_BIND_POINT_COMPUTE, job->layout, 0, 1, &job->set, 0, NULL);
  vkCmdPushConstants(job->commands, job->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, count * 4, words);
  for (uint32_t i = 0; i < launches; i++) {
    if (i > 0) vk_barrier(job->commands);
    vkCmdDispatch(job->commands, kernel->groups[0], kernel->groups[1], 1);
  }
  return vk_end(job->commands);
}

const char *peer_job_run(void *given) {
  peer_job *job = given;
  job->serial++;
  VkTimelineSemaphoreSubmitInfo serial = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                          .signalSemaphoreValueCount = 1,
                                          .pSignalSemaphoreValues = &job->serial};
  VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &serial,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &job->commands,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &job->progress};
  VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                              .semaphoreCount = 1,
                              .pSemaphores = &job->progress,
                              .pValues = &job->serial};
  VK_TRY(vkQueueSubmit(vk.queue, 1, &submit, VK_NULL_HANDLE));
  VK_TRY(vkWaitSemaphores(vk.device, &wait, UINT64_MAX));
  return NULL;
}

const char *peer_job_run_fence(void *job) { return vk_run(((peer_job *)job)->commands); }

const char *peer_job_read(peer_job *job, uint32_t buffer, void *to, size_t bytes) {
  return transfer(&job->buffers[buffer], to, bytes, false);
}

void peer_job_destroy(peer_job *job) {
  if (job->commands) vk_discard(job->commands);
  vkDestroySemaphore(vk.device, job->progress, NULL);
  vkDestroyDescriptorPool(vk.device, job->pool, NULL);
  vkDestroyPipeline(vk.device, job->pipeline, NULL);
  vkDestroyPipelineLayout(vk.device, job->layout, NULL);
  vkDestroyDescriptorSetLayout(vk.device, job->set_layout, NULL);
  for (uint32_t i = 0; i < CONTEST_BUFFERS; i++) vk_free(&job->buffers[i]);
}
