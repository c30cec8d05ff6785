/* Instance, devices, and what they say about themselves. */
#include "vulkan.h"

#ifdef FAKE_HAS_VULKAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t vk_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t vk_moved = PTHREAD_COND_INITIALIZER;

static struct VkPhysicalDevice_T gpus[MOST_GPUS];

static uint32_t api_number(void) {
  uint32_t api = vk_api();
  return VK_MAKE_API_VERSION(0, api / 10, api % 10, 239);
}

/* The two-call way in which Vulkan gives lists. */
static VkResult give(uint32_t *count, uint32_t all, size_t size, const void *from, void *out) {
  if (out == NULL) {
    *count = all;
    return VK_SUCCESS;
  }
  uint32_t most = *count < all ? *count : all;
  if (most > 0) memcpy(out, from, most * size);
  *count = most;
  return most < all ? VK_INCOMPLETE : VK_SUCCESS;
}

/* ---- Instance -------------------------------------------------------------------------------- */

VkResult vkEnumerateInstanceVersion(uint32_t *version) {
  ENTER(vkEnumerateInstanceVersion);
  *version = api_number();
  return VK_SUCCESS;
}

VkResult vkEnumerateInstanceExtensionProperties(const char *layer, uint32_t *count, VkExtensionProperties *out) {
  ENTER(vkEnumerateInstanceExtensionProperties);
  if (layer != NULL) return VK_ERROR_LAYER_NOT_PRESENT;
  return give(count, 0, sizeof *out, NULL, out);
}

VkResult vkEnumerateInstanceLayerProperties(uint32_t *count, VkLayerProperties *out) {
  ENTER(vkEnumerateInstanceLayerProperties);
  return give(count, 0, sizeof *out, NULL, out);
}

VkResult vkCreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *callbacks, VkInstance *out) {
  ENTER(vkCreateInstance);
  (void)callbacks;
  *out = NULL;
  if (info->enabledLayerCount > 0) return VK_ERROR_LAYER_NOT_PRESENT;
  if (info->enabledExtensionCount > 0) return VK_ERROR_EXTENSION_NOT_PRESENT;
  uint32_t wanted = info->pApplicationInfo != NULL ? info->pApplicationInfo->apiVersion : 0;
  if (vk_api() == 10 && VK_API_VERSION_MINOR(wanted) > 0) return VK_ERROR_INCOMPATIBLE_DRIVER;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return VK_ERROR_OUT_OF_HOST_MEMORY;
  fake_born("instance");
  return VK_SUCCESS;
}

void vkDestroyInstance(VkInstance instance, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyInstance);
  (void)callbacks;
  if (instance == NULL) return;
  free(instance);
  fake_died("instance");
}

VkResult vkEnumeratePhysicalDevices(VkInstance instance, uint32_t *count, VkPhysicalDevice *out) {
  ENTER(vkEnumeratePhysicalDevices);
  (void)instance;
  VkPhysicalDevice all[MOST_GPUS];
  uint64_t number = fake_number("devices", 1);
  if (number > MOST_GPUS) number = MOST_GPUS;
  for (uint32_t i = 0; i < number; i++) {
    gpus[i].index = i;
    all[i] = &gpus[i];
  }
  return give(count, (uint32_t)number, sizeof *out, all, out);
}

/* ---- Properties ------------------------------------------------------------------------------ */

static void fill_limits(VkPhysicalDeviceLimits *l) {
  *l = (VkPhysicalDeviceLimits){
    .maxUniformBufferRange = 65536,
    .maxStorageBufferRange = (1u << 30) - 1,
    .maxPushConstantsSize = MOST_PUSH_BYTES,
    .maxMemoryAllocationCount = (uint32_t)fake_number("allocations", 4096),
    .bufferImageGranularity = 1024,
    .maxBoundDescriptorSets = MOST_SETS,
    .maxPerStageDescriptorStorageBuffers = MOST_BINDINGS,
    .maxPerStageResources = MOST_BINDINGS,
    .maxDescriptorSetStorageBuffers = MOST_BINDINGS,
    .maxComputeSharedMemorySize = 32768,
    .maxComputeWorkGroupCount = { 65535, 65535, 65535 },
    .maxComputeWorkGroupInvocations = 1024,
    .maxComputeWorkGroupSize = { 1024, 1024, 64 },
    .minMemoryMapAlignment = 64,
    .minUniformBufferOffsetAlignment = 64,
    .minStorageBufferOffsetAlignment = 64,
    .nonCoherentAtomSize = 64,
    .timestampComputeAndGraphics = VK_TRUE,
    .timestampPeriod = 1,
  };
}

static void fill_properties(VkPhysicalDevice gpu, VkPhysicalDeviceProperties *p) {
  *p = (VkPhysicalDeviceProperties){ .apiVersion = api_number(),
                                     .driverVersion = VK_MAKE_API_VERSION(0, 1, 2, 3),
                                     .vendorID = 0x10000 + 1,
                                     .deviceID = 1 + gpu->index,
                                     .deviceType = (VkPhysicalDeviceType)fake_number("kind", 2) };
  snprintf(p->deviceName, sizeof p->deviceName, "%s", fake_text("name", "Fake GPU"));
  memset(p->pipelineCacheUUID, 0x40, sizeof p->pipelineCacheUUID);
  fill_limits(&p->limits);
}

void vkGetPhysicalDeviceProperties(VkPhysicalDevice gpu, VkPhysicalDeviceProperties *out) {
  COUNT(vkGetPhysicalDeviceProperties);
  fill_properties(gpu, out);
}

static void fill_uuid(VkPhysicalDevice gpu, uint8_t out[VK_UUID_SIZE]) {
  memset(out, 0x10 + (int)fake_number("uuid", gpu->index), VK_UUID_SIZE);
}

static uint32_t subgroup_size(void) { return (uint32_t)fake_number("subgroup", 32); }

/* The members behind sType and pNext of the records that a chain may ask for; others stay as they are. */
static void fill_chained(VkPhysicalDevice gpu, VkBaseOutStructure *s) {
  const VkSubgroupFeatureFlags operations = 0xFF; /* basic to quad */
  switch (s->sType) {
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES:
    fill_uuid(gpu, ((VkPhysicalDeviceIDProperties *)(void *)s)->deviceUUID);
    break;
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES: {
    VkPhysicalDeviceSubgroupProperties *p = (void *)s;
    p->subgroupSize = subgroup_size();
    p->supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
    p->supportedOperations = operations;
    p->quadOperationsInAllStages = VK_FALSE;
    break;
  }
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES:
    ((VkPhysicalDeviceMaintenance3Properties *)(void *)s)->maxMemoryAllocationSize = fake_number("memory", 1u << 30);
    break;
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES: {
    VkPhysicalDeviceVulkan11Properties *p = (void *)s;
    fill_uuid(gpu, p->deviceUUID);
    p->subgroupSize = subgroup_size();
    p->subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
    p->subgroupSupportedOperations = operations;
    p->maxMemoryAllocationSize = fake_number("memory", 1u << 30);
    break;
  }
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES: {
    VkPhysicalDeviceVulkan12Properties *p = (void *)s;
    snprintf(p->driverName, sizeof p->driverName, "fake");
    snprintf(p->driverInfo, sizeof p->driverInfo, "1.2.3");
    p->conformanceVersion = (VkConformanceVersion){ 1, 3, 0, 0 };
    p->denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
    p->roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
    VkBool32 keeps = strcmp(fake_text("features", "all"), "none") != 0;
    p->shaderSignedZeroInfNanPreserveFloat32 = p->shaderDenormPreserveFloat32 = p->shaderRoundingModeRTEFloat32 = keeps;
    p->shaderSignedZeroInfNanPreserveFloat64 = p->shaderDenormPreserveFloat64 = p->shaderRoundingModeRTEFloat64 = keeps;
    p->maxTimelineSemaphoreValueDifference = UINT64_MAX / 2;
    break;
  }
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES: {
    VkPhysicalDeviceVulkan13Properties *p = (void *)s;
    p->minSubgroupSize = (uint32_t)fake_number("smallest", subgroup_size());
    p->maxSubgroupSize = subgroup_size();
    p->maxComputeWorkgroupSubgroups = 32;
    p->requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
    p->maxBufferSize = fake_number("memory", 1u << 30);
    break;
  }
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES: {
    VkPhysicalDeviceFloatControlsProperties *p = (void *)s;
    VkBool32 keeps = strcmp(fake_text("features", "all"), "none") != 0;
    p->denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
    p->roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
    p->shaderSignedZeroInfNanPreserveFloat32 = p->shaderDenormPreserveFloat32 = p->shaderRoundingModeRTEFloat32 = keeps;
    p->shaderSignedZeroInfNanPreserveFloat64 = p->shaderDenormPreserveFloat64 = p->shaderRoundingModeRTEFloat64 = keeps;
    break;
  }
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES: {
    VkPhysicalDeviceDriverProperties *p = (void *)s;
    snprintf(p->driverName, sizeof p->driverName, "fake");
    snprintf(p->driverInfo, sizeof p->driverInfo, "1.2.3");
    break;
  }
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES: {
    VkPhysicalDeviceSubgroupSizeControlProperties *p = (void *)s;
    p->minSubgroupSize = (uint32_t)fake_number("smallest", subgroup_size());
    p->maxSubgroupSize = subgroup_size();
    p->maxComputeWorkgroupSubgroups = 32;
    p->requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
    break;
  }
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES:
    ((VkPhysicalDeviceMaintenance4Properties *)(void *)s)->maxBufferSize = fake_number("memory", 1u << 30);
    break;
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT: {
    VkPhysicalDevicePCIBusInfoPropertiesEXT *p = (void *)s;
    p->pciDomain = p->pciDevice = p->pciFunction = 0;
    p->pciBus = 1 + gpu->index;
    break;
  }
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT:
    ((VkPhysicalDeviceExternalMemoryHostPropertiesEXT *)(void *)s)->minImportedHostPointerAlignment = 4096;
    break;
  default: break;
  }
}

void vkGetPhysicalDeviceProperties2(VkPhysicalDevice gpu, VkPhysicalDeviceProperties2 *out) {
  COUNT(vkGetPhysicalDeviceProperties2);
  fill_properties(gpu, &out->properties);
  for (VkBaseOutStructure *s = out->pNext; s != NULL; s = s->pNext) fill_chained(gpu, s);
}

/* ---- Features: all or none ------------------------------------------------------------------- */

static VkBool32 feature(void) { return strcmp(fake_text("features", "all"), "none") != 0; }

static void set_features(VkBool32 *from, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof *from; i++) from[i] = feature();
}

/* Bytes of a record of features; 0 for any other. Its members are all booleans. */
static size_t feature_bytes(VkStructureType type) {
  switch (type) {
#define X(number, name) \
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##number##_FEATURES: return sizeof(VkPhysicalDevice##name##Features);
    X(VULKAN_1_1, Vulkan11) X(VULKAN_1_2, Vulkan12) X(VULKAN_1_3, Vulkan13)
    X(16BIT_STORAGE, 16BitStorage) X(8BIT_STORAGE, 8BitStorage) X(SHADER_FLOAT16_INT8, ShaderFloat16Int8)
    X(SHADER_ATOMIC_INT64, ShaderAtomicInt64) X(TIMELINE_SEMAPHORE, TimelineSemaphore)
    X(BUFFER_DEVICE_ADDRESS, BufferDeviceAddress) X(VULKAN_MEMORY_MODEL, VulkanMemoryModel)
    X(SUBGROUP_SIZE_CONTROL, SubgroupSizeControl) X(SYNCHRONIZATION_2, Synchronization2)
    X(VARIABLE_POINTERS, VariablePointers) X(HOST_QUERY_RESET, HostQueryReset) X(MAINTENANCE_4, Maintenance4)
    X(SHADER_SUBGROUP_EXTENDED_TYPES, ShaderSubgroupExtendedTypes)
    X(ZERO_INITIALIZE_WORKGROUP_MEMORY, ZeroInitializeWorkgroupMemory)
#undef X
  default: return 0;
  }
}

enum { CHAIN_HEAD = sizeof(VkBaseOutStructure) };

void vkGetPhysicalDeviceFeatures(VkPhysicalDevice gpu, VkPhysicalDeviceFeatures *out) {
  COUNT(vkGetPhysicalDeviceFeatures);
  (void)gpu;
  set_features((VkBool32 *)(void *)out, sizeof *out);
}

void vkGetPhysicalDeviceFeatures2(VkPhysicalDevice gpu, VkPhysicalDeviceFeatures2 *out) {
  COUNT(vkGetPhysicalDeviceFeatures2);
  (void)gpu;
  set_features((VkBool32 *)(void *)&out->features, sizeof out->features);
  for (VkBaseOutStructure *s = out->pNext; s != NULL; s = s->pNext) {
    size_t bytes = feature_bytes(s->sType);
    if (bytes > 0) set_features((VkBool32 *)(void *)((uint8_t *)s + CHAIN_HEAD), bytes - CHAIN_HEAD);
  }
}

static bool asks_for(const VkBool32 *features, size_t bytes) {
  for (size_t i = 0; features != NULL && i < bytes / sizeof *features; i++)
    if (features[i] == VK_TRUE && !feature()) return true;
  return false;
}

static bool asks_for_too_much(const VkDeviceCreateInfo *info) {
  if (asks_for((const VkBool32 *)(const void *)info->pEnabledFeatures, sizeof *info->pEnabledFeatures)) return true;
  for (const VkBaseInStructure *s = info->pNext; s != NULL; s = s->pNext) {
    size_t bytes = s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 ? sizeof(VkPhysicalDeviceFeatures2)
                                                                           : feature_bytes(s->sType);
    if (bytes > 0 && asks_for((const VkBool32 *)(const void *)((const uint8_t *)s + CHAIN_HEAD), bytes - CHAIN_HEAD))
      return true;
  }
  return false;
}

/* ---- Queues and memory that there are -------------------------------------------------------- */

static const VkQueueFamilyProperties family = {
    VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, MOST_QUEUES, 64, {1, 1, 1}};

void vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice gpu, uint32_t *count, VkQueueFamilyProperties *out) {
  COUNT(vkGetPhysicalDeviceQueueFamilyProperties);
  (void)gpu;
  give(count, 1, sizeof *out, &family, out);
}

void vkGetPhysicalDeviceQueueFamilyProperties2(VkPhysicalDevice gpu, uint32_t *count, VkQueueFamilyProperties2 *out) {
  COUNT(vkGetPhysicalDeviceQueueFamilyProperties2);
  (void)gpu;
  if (out != NULL && *count > 0) out->queueFamilyProperties = family;
  if (out == NULL || *count > 0) *count = 1;
}

/* Flags of VkMemoryPropertyFlagBits, a number a type: device local, host memory, the same cached, and a window that the
 * host has into the first. */
VkMemoryPropertyFlags vk_memory_flags(uint32_t type) {
  const char *at = fake_text("types", "1 6 14 7");
  char *end;
  for (uint32_t i = 0;; i++, at = end) {
    unsigned long flags = strtoul(at, &end, 10);
    if (end == at) return 0;
    if (i == type) return (VkMemoryPropertyFlags)flags;
  }
}

static void fill_memory(VkPhysicalDeviceMemoryProperties *m) {
  *m = (VkPhysicalDeviceMemoryProperties){
    .memoryHeapCount = 2,
    .memoryHeaps = { { fake_number("memory", 1u << 30), VK_MEMORY_HEAP_DEVICE_LOCAL_BIT },
                     { fake_number("host", 1ull << 32), 0 } },
  };
  VkMemoryPropertyFlags flags;
  while (m->memoryTypeCount < VK_MAX_MEMORY_TYPES && (flags = vk_memory_flags(m->memoryTypeCount)) != 0)
    m->memoryTypes[m->memoryTypeCount++] =
        (VkMemoryType){flags, (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0 ? 0 : 1};
}

void vkGetPhysicalDeviceExternalBufferProperties(VkPhysicalDevice gpu, const VkPhysicalDeviceExternalBufferInfo *info,
                                                 VkExternalBufferProperties *out) {
  COUNT(vkGetPhysicalDeviceExternalBufferProperties);
  (void)gpu;
  out->externalMemoryProperties = (VkExternalMemoryProperties){0};
  if (info->handleType == VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT)
    out->externalMemoryProperties.externalMemoryFeatures = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
}

void vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice gpu, VkPhysicalDeviceMemoryProperties *out) {
  COUNT(vkGetPhysicalDeviceMemoryProperties);
  (void)gpu;
  fill_memory(out);
}

void vkGetPhysicalDeviceMemoryProperties2(VkPhysicalDevice gpu, VkPhysicalDeviceMemoryProperties2 *out) {
  COUNT(vkGetPhysicalDeviceMemoryProperties2);
  (void)gpu;
  fill_memory(&out->memoryProperties);
}

/* ---- Devices --------------------------------------------------------------------------------- */

static const VkExtensionProperties extensions[] = { { VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, 2 },
                                                    { VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, 1 } };
enum { EXTENSIONS = sizeof extensions / sizeof *extensions };

VkResult vkEnumerateDeviceExtensionProperties(VkPhysicalDevice gpu, const char *layer, uint32_t *count,
                                              VkExtensionProperties *out) {
  ENTER(vkEnumerateDeviceExtensionProperties);
  (void)gpu;
  if (layer != NULL) return VK_ERROR_LAYER_NOT_PRESENT;
  return give(count, EXTENSIONS, sizeof *out, extensions, out);
}

static bool has_extension(const char *name) {
  for (size_t i = 0; i < EXTENSIONS; i++)
    if (strcmp(extensions[i].extensionName, name) == 0) return true;
  return false;
}

VkResult vkCreateDevice(VkPhysicalDevice gpu, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *callbacks,
                        VkDevice *out) {
  ENTER(vkCreateDevice);
  (void)callbacks;
  *out = NULL;
  for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
    if (!has_extension(info->ppEnabledExtensionNames[i])) return VK_ERROR_EXTENSION_NOT_PRESENT;
  if (asks_for_too_much(info)) return VK_ERROR_FEATURE_NOT_PRESENT;
  const VkDeviceQueueCreateInfo *q = info->pQueueCreateInfos;
  if (info->queueCreateInfoCount != 1 || q->queueFamilyIndex != 0 || q->queueCount > MOST_QUEUES)
    return VK_ERROR_INITIALIZATION_FAILED;
  VkDevice device = calloc(1, sizeof *device);
  if (device == NULL) return VK_ERROR_OUT_OF_HOST_MEMORY;
  device->physical = gpu;
  device->queue_count = q->queueCount;
  for (uint32_t i = 0; i < device->queue_count; i++) {
    device->queues[i] = (struct VkQueue_T){ device, fake_worker_new() };
    if (device->queues[i].worker == NULL) abort();
  }
  fake_born("device");
  *out = device;
  return VK_SUCCESS;
}

void vkDestroyDevice(VkDevice device, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyDevice);
  (void)callbacks;
  if (device == NULL) return;
  for (uint32_t i = 0; i < device->queue_count; i++) {
    fake_worker_wait(device->queues[i].worker);
    fake_worker_end(device->queues[i].worker);
  }
  free(device);
  fake_died("device");
}

void vkGetDeviceQueue(VkDevice device, uint32_t of_family, uint32_t index, VkQueue *out) {
  COUNT(vkGetDeviceQueue);
  *out = of_family == 0 && index < device->queue_count ? &device->queues[index] : NULL;
}

void vkGetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2 *info, VkQueue *out) {
  COUNT(vkGetDeviceQueue2);
  *out =
      info->queueFamilyIndex == 0 && info->queueIndex < device->queue_count ? &device->queues[info->queueIndex] : NULL;
}

void vk_lose(VkDevice device, VkResult code) {
  pthread_mutex_lock(&vk_lock);
  atomic_store(&device->lost, code);
  pthread_cond_broadcast(&vk_moved);
  pthread_mutex_unlock(&vk_lock);
}
#endif
