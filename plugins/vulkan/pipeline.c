/* Pipelines of an executable: made when they are first wanted, with the driver's cache kept by the host. */
#include "plugins/vulkan/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The driver's cache ---------------------------------------------------------------------- */

/* What the entry of an executable depends on beside the plugin's build, which the host adds. */
typedef struct cache_key {
  char what[16];
  uint8_t device[VK_UUID_SIZE], driver[VK_UUID_SIZE];
  uint8_t kernel[32];
  uint64_t facts[SPIRV_FACT_WORDS];
} cache_key;

static cache_key key_of(const vyre_plugin_executable *e) {
  const vulkan_facts *facts = e->device->facts;
  cache_key key = { .what = "pipelines" };
  memcpy(key.device, facts->id.deviceUUID, sizeof key.device);
  memcpy(key.driver, facts->properties.pipelineCacheUUID, sizeof key.driver);
  memcpy(key.kernel, e->blob.kernel_digest, sizeof key.kernel);
  spirv_facts_keep(&e->facts, key.facts);
  return key;
}

/* Data of another driver is not given to this one. */
static bool is_own(const vulkan_facts *facts, const vyre_bytes *data) {
  VkPipelineCacheHeaderVersionOne header;
  if (data->length < sizeof header) return false;
  memcpy(&header, data->data, sizeof header);
  return header.headerSize >= sizeof header && header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
         header.vendorID == facts->properties.vendorID && header.deviceID == facts->properties.deviceID &&
         memcmp(header.pipelineCacheUUID, facts->properties.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

static vyre_status open_cache(vyre_plugin_executable *e, vyre_error *error) {
  vyre_plugin_device *device = e->device;
  const vyre_host *host = device->host;
  const cache_key key = key_of(e);
  vyre_bytes data = { .size = sizeof data };
  if (host->cache_get(host->ctx, &key, sizeof key, &data) != VYRE_OK) data.length = 0;
  const bool hit = is_own(device->facts, &data);
  VkPipelineCacheCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                     .initialDataSize = hit ? (size_t)data.length : 0,
                                     .pInitialData = hit ? data.data : NULL };
  VkResult result = device->vk.vkCreatePipelineCache(device->handle, &info, NULL, &e->cache);
  e->cached_bytes = hit ? data.length : 0;
  host->free(host->ctx, data.data, data.length);
  gpu_log(host, VYRE_LOG_DEBUG, "pipelines", "%s: %s", e->name,
          hit ? "the driver gets what it compiled before from the cache" : "the driver compiles it");
  return vulkan_made(device, result, &e->cache, "vkCreatePipelineCache", error);
}

/* Keeps what the driver compiled, if it is more than the cache has. A failure costs time only. */
static void keep_cache(vyre_plugin_executable *e) {
  vyre_plugin_device *device = e->device;
  const vyre_host *host = device->host;
  size_t bytes = 0;
  if (device->vk.vkGetPipelineCacheData(device->handle, e->cache, &bytes, NULL) != VK_SUCCESS) return;
  if (bytes <= e->cached_bytes) return;
  void *data = malloc(bytes);
  if (data == NULL) return;
  if (device->vk.vkGetPipelineCacheData(device->handle, e->cache, &bytes, data) == VK_SUCCESS) {
    const cache_key key = key_of(e);
    if (host->cache_put(host->ctx, &key, sizeof key, data, bytes) == VYRE_OK) e->cached_bytes = bytes;
  }
  free(data);
}

/* ---- Modules --------------------------------------------------------------------------------- */

static vyre_status make_shader(vyre_plugin_executable *e, spirv_mode mode, vyre_error *error) {
  vyre_plugin_device *device = e->device;
  vulkan_module *m = &e->modules[mode];
  if (m->shader != VK_NULL_HANDLE) return VYRE_OK;
  VkShaderModuleCreateInfo info = {
    .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
    .codeSize = e->facts.module_bytes[mode],
    .pCode = (const uint32_t *)(const void *)((const uint8_t *)e->blob.code + e->facts.module_offset[mode])
  };
  return vulkan_made(device, device->vk.vkCreateShaderModule(device->handle, &info, NULL, &m->shader), &m->shader,
                     "vkCreateShaderModule", error);
}

/* Storage buffers in order, and the block, whose place changes from piece to piece. */
static vyre_status make_set_layout(vyre_plugin_executable *e, vulkan_module *m, vyre_error *error) {
  vyre_plugin_device *device = e->device;
  if (m->set_layout != VK_NULL_HANDLE) return VYRE_OK;
  VkDescriptorSetLayoutBinding *bindings = calloc(m->layout.storage + 1u, sizeof *bindings);
  if (bindings == NULL) return gpu_no_memory(error);
  for (uint32_t i = 0; i <= m->layout.storage; i++)
    bindings[i] = (VkDescriptorSetLayoutBinding){ .binding = i,
                                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                  .descriptorCount = 1,
                                                  .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT };
  bindings[m->layout.storage].binding = m->layout.block_binding;
  bindings[m->layout.storage].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
  VkDescriptorSetLayoutCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = m->layout.storage + 1,
                                           .pBindings = bindings };
  VkResult result = device->vk.vkCreateDescriptorSetLayout(device->handle, &info, NULL, &m->set_layout);
  free(bindings);
  return vulkan_made(device, result, &m->set_layout, "vkCreateDescriptorSetLayout", error);
}

static vyre_status make_pipeline_layout(vyre_plugin_executable *e, vulkan_module *m, vyre_error *error) {
  vyre_plugin_device *device = e->device;
  if (m->pipeline_layout != VK_NULL_HANDLE) return VYRE_OK;
  VkPushConstantRange range = { .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = m->layout.push_bytes };
  VkPipelineLayoutCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                      .setLayoutCount = 1,
                                      .pSetLayouts = &m->set_layout,
                                      .pushConstantRangeCount = range.size > 0,
                                      .pPushConstantRanges = &range };
  return vulkan_made(device, device->vk.vkCreatePipelineLayout(device->handle, &info, NULL, &m->pipeline_layout),
                     &m->pipeline_layout, "vkCreatePipelineLayout", error);
}

/* ---- Pipelines ------------------------------------------------------------------------------- */

/* Full subgroups of the size that the code was emitted for, which is said only where there is another: workgroups whose
 * size is required may have fewer of them (VkPhysicalDeviceSubgroupSizeControlProperties). */
static void require_subgroups(const vyre_plugin_executable *e, VkPipelineShaderStageCreateInfo *stage,
                              VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *size) {
  const vyre_plugin_device *device = e->device;
  if (e->facts.subgroup == 0) return;
  if (VULKAN_HAS(device, FULL_SUBGROUPS))
    stage->flags |= VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  if (!vulkan_requires_size(device->facts)) return;
  size->requiredSubgroupSize = e->facts.subgroup;
  stage->pNext = size;
}

/* Modules are valid, so a compiler that does not say what is wrong has run out of something. */
static vyre_status gave_up(const vyre_plugin_executable *e, VkResult result, vyre_error *error) {
  return gpu_fail_vendor(error, VYRE_ERR_NO_MEMORY, result, e->name,
                         "the driver's compiler gives up without a reason (%s), as it does when memory runs out. Fix: "
                         "free memory, make the program smaller, or update the driver",
                         vulkan_result_name(result));
}

static vyre_status make_pipeline(vyre_plugin_executable *e, const vulkan_module *m, vulkan_block_place place,
                                 uint32_t entry, VkPipeline *out, vyre_error *error) {
  vyre_plugin_device *device = e->device;
  const uint32_t bound = place;
  char name[24];
  const VkSpecializationMapEntry map = { .constantID = SPIRV_SPEC_BLOCK, .size = sizeof bound };
  const VkSpecializationInfo specialization = { 1, &map, sizeof bound, &bound };
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
    .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO
  };
  VkComputePipelineCreateInfo info = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                       .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = m->shader,
                                                  .pName = name,
                                                  .pSpecializationInfo = &specialization },
                                       .layout = m->pipeline_layout };
  snprintf(name, sizeof name, "entry%u", entry);
  require_subgroups(e, &info.stage, &size);
  if (VULKAN_HAS(device, PIPELINE_EXECUTABLES)) info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  VkResult result = device->vk.vkCreateComputePipelines(device->handle, e->cache, 1, &info, NULL, out);
  if (result == VK_ERROR_UNKNOWN) {
    *out = VK_NULL_HANDLE;
    return gave_up(e, result, error);
  }
  return vulkan_made(device, result, out, "vkCreateComputePipelines", error);
}

static void destroy_pipelines(vyre_plugin_executable *e, VkPipeline *pipelines) {
  const vyre_plugin_device *device = e->device;
  for (uint32_t i = 0; pipelines != NULL && i < e->kernel->entries.count; i++)
    device->vk.vkDestroyPipeline(device->handle, pipelines[i], NULL);
  free(pipelines);
}

static vyre_status make_pipelines(vyre_plugin_executable *e, vulkan_module *m, vulkan_block_place place,
                                  vyre_error *error) {
  if (m->pipelines[place] != NULL) return VYRE_OK;
  VkPipeline *pipelines = calloc(e->kernel->entries.count, sizeof *pipelines);
  vyre_status status = pipelines != NULL ? VYRE_OK : gpu_no_memory(error);
  for (uint32_t i = 0; i < e->kernel->entries.count && status == VYRE_OK; i++)
    status = make_pipeline(e, m, place, i, &pipelines[i], error);
  if (status != VYRE_OK) {
    destroy_pipelines(e, pipelines);
    return status;
  }
  m->pipelines[place] = pipelines;
  keep_cache(e);
  return VYRE_OK;
}

vyre_status vulkan_pipelines(vyre_plugin_executable *e, spirv_mode mode, vulkan_block_place place,
                             const vulkan_module **out, vyre_error *error) {
  vulkan_module *m = &e->modules[mode];
  *out = m;
  if (e->facts.module_bytes[mode] == 0)
    return gpu_fail(error, VYRE_ERR_LIMIT, e->name,
                    "the program was compiled without the code that this launch needs (%s). Fix: compile it for this "
                    "device, or bind smaller ranges",
                    mode == SPIRV_ADDRESSED ? "bindings by address" : "bindings by descriptor");
  pthread_mutex_lock(&e->lock);
  vyre_status status = e->cache != VK_NULL_HANDLE ? VYRE_OK : open_cache(e, error);
  if (status == VYRE_OK) status = make_shader(e, mode, error);
  if (status == VYRE_OK) status = make_set_layout(e, m, error);
  if (status == VYRE_OK) status = make_pipeline_layout(e, m, error);
  if (status == VYRE_OK) status = make_pipelines(e, m, place, error);
  pthread_mutex_unlock(&e->lock);
  return status;
}

void vulkan_pipelines_destroy(vyre_plugin_executable *e) {
  const vyre_plugin_device *device = e->device;
  for (int mode = 0; mode < SPIRV_MODES; mode++) {
    vulkan_module *m = &e->modules[mode];
    for (int place = 0; place < VULKAN_BLOCK_PLACES; place++) destroy_pipelines(e, m->pipelines[place]);
    device->vk.vkDestroyPipelineLayout(device->handle, m->pipeline_layout, NULL);
    device->vk.vkDestroyDescriptorSetLayout(device->handle, m->set_layout, NULL);
    device->vk.vkDestroyShaderModule(device->handle, m->shader, NULL);
  }
  device->vk.vkDestroyPipelineCache(device->handle, e->cache, NULL);
}

/* ---- Statistics ------------------------------------------------------------------------------ */

enum { MOST_STATISTICS = 64 };

static uint64_t number_of(const VkPipelineExecutableStatisticKHR *s) {
  switch (s->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR: return s->value.u64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: return s->value.i64 > 0 ? (uint64_t)s->value.i64 : 0;
    default: return 0;
  }
}

/* Drivers name them as they like: what says registers, or scratch, spilled and local memory, is taken. */
static void take_statistic(const VkPipelineExecutableStatisticKHR *s, vyre_launch_report *report) {
  const uint64_t number = number_of(s);
  const bool is_spilled = strcasestr(s->name, "spill") != NULL;
  if (!is_spilled && strcasestr(s->name, "register") != NULL && number > report->registers && number <= UINT32_MAX)
    report->registers = (uint32_t)number;
  if (!is_spilled && (strcasestr(s->name, "scratch") != NULL || strcasestr(s->name, "local memory") != NULL ||
                      strcasestr(s->name, "stack size") != NULL) &&
      number > report->scratch_bytes)
    report->scratch_bytes = number;
}

static void take_pipeline(const vyre_plugin_device *device, VkPipeline pipeline, vyre_launch_report *report) {
  VkPipelineExecutableStatisticKHR statistics[MOST_STATISTICS];
  for (uint32_t i = 0; i < MOST_STATISTICS; i++)
    statistics[i] =
      (VkPipelineExecutableStatisticKHR){ .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR };
  const VkPipelineExecutableInfoKHR info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                             .pipeline = pipeline };
  uint32_t count = MOST_STATISTICS;
  VkResult result = device->vk.vkGetPipelineExecutableStatisticsKHR(device->handle, &info, &count, statistics);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return;
  for (uint32_t i = 0; i < count; i++) take_statistic(&statistics[i], report);
}

void vulkan_pipeline_statistics(vyre_plugin_executable *e, vyre_launch_report *report) {
  const vyre_plugin_device *device = e->device;
  if (!VULKAN_HAS(device, PIPELINE_EXECUTABLES) || device->vk.vkGetPipelineExecutableStatisticsKHR == NULL) return;
  pthread_mutex_lock(&e->lock);
  for (int mode = 0; mode < SPIRV_MODES; mode++)
    for (int place = 0; place < VULKAN_BLOCK_PLACES; place++)
      for (uint32_t i = 0; e->modules[mode].pipelines[place] != NULL && i < e->kernel->entries.count; i++)
        take_pipeline(device, e->modules[mode].pipelines[place][i], report);
  pthread_mutex_unlock(&e->lock);
}
