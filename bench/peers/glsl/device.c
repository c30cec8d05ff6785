#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

vk_device vk;

const char *vk_fault(VkResult code, const char *what) {
  return code == VK_SUCCESS ? NULL : peer_reason("Vulkan error %d of %s", code, what);
}

/* ---- Device ---- */

/* The kinds in the order in which they are wanted. */
static int rank(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
    default: return 1;
  }
}

static const char *choose_physical(void) {
  VkPhysicalDevice devices[16];
  uint32_t count = 16;
  VkResult code = vkEnumeratePhysicalDevices(vk.instance, &count, devices);
  if (code != VK_INCOMPLETE) VK_TRY(code);
  int best = 0;
  for (uint32_t i = 0; i < count; i++) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(devices[i], &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2 || rank(properties.deviceType) <= best) continue;
    best = rank(properties.deviceType);
    vk.physical = devices[i];
    vk.properties = properties;
  }
  if (!best) return "there is no device of Vulkan 1.2. Fix: install its driver (Debian: mesa-vulkan-drivers)";
  vk.cpu = vk.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  vkGetPhysicalDeviceMemoryProperties(vk.physical, &vk.memory);
  return NULL;
}

static const char *choose_family(uint32_t *stamp_bits) {
  VkQueueFamilyProperties families[16];
  uint32_t count = 16;
  vkGetPhysicalDeviceQueueFamilyProperties(vk.physical, &count, families);
  for (uint32_t i = 0; i < count; i++) {
    if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
    vk.family = i;
    *stamp_bits = families[i].timestampValidBits;
    return NULL;
  }
  return "the device has no queue for compute";
}

static void describe_driver(void) {
  VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
  vkGetPhysicalDeviceProperties2(vk.physical, &properties);
  snprintf(vk.driver, sizeof vk.driver, "%s %s, Vulkan %u.%u", driver.driverName, driver.driverInfo,
           VK_API_VERSION_MAJOR(vk.properties.apiVersion), VK_API_VERSION_MINOR(vk.properties.apiVersion));
}

static const char *open_instance(void) {
  VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  VK_TRY(vkCreateInstance(&info, NULL, &vk.instance));
  return NULL;
}

static const char *open_logical(void) {
  const float priority = 1;
  VkPhysicalDeviceVulkan12Features features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceFeatures2 asked = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &features};
  vkGetPhysicalDeviceFeatures2(vk.physical, &asked);
  if (!features.bufferDeviceAddress) return "the device has no buffer addresses";
  vk.float64 = asked.features.shaderFloat64;
  features = (VkPhysicalDeviceVulkan12Features){
    .sType = features.sType, .bufferDeviceAddress = VK_TRUE, .timelineSemaphore = VK_TRUE};
  asked.features = (VkPhysicalDeviceFeatures){.shaderFloat64 = vk.float64};
  VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                   .queueFamilyIndex = vk.family,
                                   .queueCount = 1,
                                   .pQueuePriorities = &priority};
  VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                             .pNext = &asked,
                             .queueCreateInfoCount = 1,
                             .pQueueCreateInfos = &queue};
  VK_TRY(vkCreateDevice(vk.physical, &info, NULL, &vk.device));
  vkGetDeviceQueue(vk.device, vk.family, 0, &vk.queue);
  return NULL;
}

static const char *open_pools(uint32_t push_bytes, bool stamps) {
  VkCommandPoolCreateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                      .queueFamilyIndex = vk.family};
  VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = push_bytes};
  VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &push};
  VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                   .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = 2};
  VK_TRY(vkCreateCommandPool(vk.device, &commands, NULL, &vk.commands));
  VK_TRY(vkCreateFence(vk.device, &fence, NULL, &vk.fence));
  VK_TRY(vkCreatePipelineLayout(vk.device, &layout, NULL, &vk.layout));
  if (stamps) VK_TRY(vkCreateQueryPool(vk.device, &queries, NULL, &vk.stamps));
  return NULL;
}

/* ---- Memory ---- */

/* The first type of |bits| with all of |wanted|; UINT32_MAX if there is none. */
static uint32_t memory_type(uint32_t bits, VkMemoryPropertyFlags wanted) {
  for (uint32_t i = 0; i < vk.memory.memoryTypeCount; i++)
    if ((bits >> i & 1) && (vk.memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  return UINT32_MAX;
}

static uint32_t choose_type(uint32_t bits, bool host) {
  enum {
    SEEN = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    CACHED = SEEN | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
    OWN = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
  };
  uint32_t first = memory_type(bits, vk.unified ? CACHED | OWN : host ? CACHED : OWN);
  return first != UINT32_MAX ? first : memory_type(bits, host ? SEEN : 0);
}

const char *vk_allocate(VkDeviceSize bytes, bool host, vk_memory *out) {
  *out = (vk_memory){.bytes = (bytes + 15) / 16 * 16};
  VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = out->bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  VK_TRY(vkCreateBuffer(vk.device, &buffer, NULL, &out->buffer));
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(vk.device, out->buffer, &needs);
  uint32_t type = choose_type(needs.memoryTypeBits, host);
  if (type == UINT32_MAX) return "the device has no memory of that kind";
  VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                     .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = &flags,
                                 .allocationSize = needs.size,
                                 .memoryTypeIndex = type};
  VK_TRY(vkAllocateMemory(vk.device, &memory, NULL, &out->memory));
  VK_TRY(vkBindBufferMemory(vk.device, out->buffer, out->memory, 0));
  VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = out->buffer};
  out->address = vkGetBufferDeviceAddress(vk.device, &address);
  if (host || vk.unified) {
    VK_TRY(vkMapMemory(vk.device, out->memory, 0, VK_WHOLE_SIZE, 0, &out->host));
    memset(out->host, 0, out->bytes);
    return NULL;
  }
  VkCommandBuffer commands;
  const char *fault = vk_begin(&commands);
  if (fault) return fault;
  vkCmdFillBuffer(commands, out->buffer, 0, VK_WHOLE_SIZE, 0);
  fault = vk_end(commands);
  if (!fault) fault = vk_run(commands);
  vk_discard(commands);
  return fault;
}

void vk_free(vk_memory *memory) {
  vkDestroyBuffer(vk.device, memory->buffer, NULL);
  vkFreeMemory(vk.device, memory->memory, NULL);
  *memory = (vk_memory){0};
}

/* ---- Pipelines ---- */

const char *vk_pipeline(const uint32_t *code, size_t bytes, uint32_t size, uint32_t vectors, VkPipeline *out) {
  uint32_t constants[] = {size, vectors};
  VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}};
  VkSpecializationInfo special = {2, entries, sizeof constants, constants};
  VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                     .codeSize = bytes,
                                     .pCode = code};
  VkShaderModule shader;
  VK_TRY(vkCreateShaderModule(vk.device, &module, NULL, &shader));
  VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                .module = shader,
                                                .pName = "main",
                                                .pSpecializationInfo = &special},
                                      .layout = vk.layout};
  VkResult code_of = vkCreateComputePipelines(vk.device, VK_NULL_HANDLE, 1, &info, NULL, out);
  vkDestroyShaderModule(vk.device, shader, NULL);
  return vk_fault(code_of, "vkCreateComputePipelines");
}

/* ---- Commands ---- */

const char *vk_begin(VkCommandBuffer *out) {
  VkCommandBufferAllocateInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = vk.commands,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = 1};
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  VK_TRY(vkAllocateCommandBuffers(vk.device, &buffer, out));
  VK_TRY(vkBeginCommandBuffer(*out, &begin));
  return NULL;
}

const char *vk_end(VkCommandBuffer buffer) {
  VK_TRY(vkEndCommandBuffer(buffer));
  return NULL;
}

void vk_discard(VkCommandBuffer buffer) {
  vkFreeCommandBuffers(vk.device, vk.commands, 1, &buffer);
}

void vk_barrier(VkCommandBuffer buffer) {
  VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                         .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                         .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                          VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                                          VK_ACCESS_HOST_READ_BIT};
  VkPipelineStageFlags device = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  vkCmdPipelineBarrier(buffer, device, device | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all, 0, NULL, 0, NULL);
}

const char *vk_run(VkCommandBuffer buffer) {
  VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &buffer};
  VK_TRY(vkQueueSubmit(vk.queue, 1, &submit, vk.fence));
  VK_TRY(vkWaitForFences(vk.device, 1, &vk.fence, VK_TRUE, UINT64_MAX));
  VK_TRY(vkResetFences(vk.device, 1, &vk.fence));
  return NULL;
}

const char *vk_elapsed(double *ns) {
  uint64_t stamps[2];
  VK_TRY(vkGetQueryPoolResults(vk.device, vk.stamps, 0, 2, sizeof stamps, stamps, sizeof *stamps,
                               VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  *ns = (double)(stamps[1] - stamps[0]) * vk.properties.limits.timestampPeriod;
  return NULL;
}

const char *vk_open(uint32_t push_bytes) {
  uint32_t stamp_bits = 0;
  const char *fault = open_instance();
  if (!fault) fault = choose_physical();
  if (!fault) fault = choose_family(&stamp_bits);
  if (!fault) fault = open_logical();
  if (fault) return fault;
  describe_driver();
  enum { EVERYWHERE = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                      VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT };
  vk.unified = vk.cpu && memory_type(UINT32_MAX, EVERYWHERE) != UINT32_MAX;
  return open_pools(push_bytes, stamp_bits >= 36 && !vk.cpu);
}
