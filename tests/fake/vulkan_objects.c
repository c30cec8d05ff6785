/* Memory, buffers, shaders, pipelines and descriptors of the fake Vulkan. */
#include "vulkan.h"

#ifdef FAKE_HAS_VULKAN
#include <stdlib.h>
#include <string.h>

/* A zeroed object that is counted; NULL without memory. */
static void *make(const char *kind, size_t bytes) {
  void *object = calloc(1, bytes);
  if (object != NULL) fake_born(kind);
  return object;
}

static void unmake(const char *kind, void *object) {
  if (object == NULL) return;
  free(object);
  fake_died(kind);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint64_t used; /* of the device's heap, under the lock */

static bool is_local(uint32_t type) { return (vk_memory_flags(type) & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0; }

static bool reserve(uint32_t type, uint64_t bytes) {
  if (!is_local(type)) return true; /* the host's heap is as large as it likes */
  uint64_t all = fake_number("memory", 1u << 30);
  pthread_mutex_lock(&vk_lock);
  bool fits = bytes <= all - used;
  if (fits) used += bytes;
  pthread_mutex_unlock(&vk_lock);
  return fits;
}

static void give_back(uint32_t type, uint64_t bytes) {
  if (!is_local(type)) return;
  pthread_mutex_lock(&vk_lock);
  used -= bytes;
  pthread_mutex_unlock(&vk_lock);
}

static void *imported_pointer(const VkMemoryAllocateInfo *info) {
  for (const VkBaseInStructure *s = info->pNext; s != NULL; s = s->pNext)
    if (s->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT)
      return ((const VkImportMemoryHostPointerInfoEXT *)(const void *)s)->pHostPointer;
  return NULL;
}

/* New memory has no zeros that nobody wrote. */
VkResult vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *callbacks,
                          VkDeviceMemory *out) {
  ENTER(vkAllocateMemory);
  (void)device, (void)callbacks;
  *out = VK_NULL_HANDLE;
  void *imported = imported_pointer(info);
  if (vk_memory_flags(info->memoryTypeIndex) == 0 || info->allocationSize == 0) return VK_ERROR_UNKNOWN;
  if (imported == NULL && !reserve(info->memoryTypeIndex, info->allocationSize)) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  VkDeviceMemory m = make("memory", sizeof *m);
  void *bytes = imported;
  if (m == NULL || (imported == NULL && posix_memalign(&bytes, 256, info->allocationSize) != 0)) {
    unmake("memory", m);
    if (imported == NULL) give_back(info->memoryTypeIndex, info->allocationSize);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  if (imported == NULL) memset(bytes, 0xA5, info->allocationSize);
  *m = (struct VkDeviceMemory_T){ bytes, info->allocationSize, info->memoryTypeIndex, imported != NULL };
  *out = m;
  return VK_SUCCESS;
}

void vkFreeMemory(VkDevice device, VkDeviceMemory m, const VkAllocationCallbacks *callbacks) {
  COUNT(vkFreeMemory);
  (void)device, (void)callbacks;
  if (m == VK_NULL_HANDLE) return;
  if (!m->is_imported) {
    give_back(m->type, m->size);
    free(m->bytes);
  }
  unmake("memory", m);
}

VkResult vkMapMemory(VkDevice device, VkDeviceMemory m, VkDeviceSize offset, VkDeviceSize size, VkMemoryMapFlags flags,
                     void **out) {
  ENTER(vkMapMemory);
  (void)device, (void)flags;
  *out = NULL;
  bool is_visible = (vk_memory_flags(m->type) & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
  if (!is_visible || offset >= m->size || (size != VK_WHOLE_SIZE && size > m->size - offset))
    return VK_ERROR_MEMORY_MAP_FAILED;
  *out = m->bytes + offset;
  return VK_SUCCESS;
}

/* Host memory that is coherent takes what the host has. */
VkResult vkGetMemoryHostPointerPropertiesEXT(VkDevice device, VkExternalMemoryHandleTypeFlagBits kind,
                                             const void *pointer, VkMemoryHostPointerPropertiesEXT *out) {
  ENTER(vkGetMemoryHostPointerPropertiesEXT);
  (void)device;
  if (kind != VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT || (uintptr_t)pointer % 4096 != 0)
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
  out->memoryTypeBits = 0;
  for (uint32_t i = 0; vk_memory_flags(i) != 0; i++)
    if ((vk_memory_flags(i) & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) out->memoryTypeBits |= 1u << i;
  return VK_SUCCESS;
}

void vkUnmapMemory(VkDevice device, VkDeviceMemory m) {
  COUNT(vkUnmapMemory);
  (void)device, (void)m;
}

VkResult vkFlushMappedMemoryRanges(VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges) {
  ENTER(vkFlushMappedMemoryRanges);
  (void)device, (void)count, (void)ranges;
  return VK_SUCCESS;
}

VkResult vkInvalidateMappedMemoryRanges(VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges) {
  ENTER(vkInvalidateMappedMemoryRanges);
  (void)device, (void)count, (void)ranges;
  return VK_SUCCESS;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

VkResult vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *info, const VkAllocationCallbacks *callbacks,
                        VkBuffer *out) {
  ENTER(vkCreateBuffer);
  (void)device, (void)callbacks;
  *out = make("buffer", sizeof **out);
  if (*out == VK_NULL_HANDLE) return VK_ERROR_OUT_OF_HOST_MEMORY;
  (*out)->size = info->size;
  return VK_SUCCESS;
}

void vkDestroyBuffer(VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyBuffer);
  (void)device, (void)callbacks;
  unmake("buffer", buffer);
}

static VkMemoryRequirements requirements(VkBuffer buffer) {
  uint32_t types = 0;
  for (uint32_t i = 0; vk_memory_flags(i) != 0; i++) types |= 1u << i;
  return (VkMemoryRequirements){(buffer->size + 255) / 256 * 256, 256, types};
}

void vkGetBufferMemoryRequirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements *out) {
  COUNT(vkGetBufferMemoryRequirements);
  (void)device;
  *out = requirements(buffer);
}

void vkGetBufferMemoryRequirements2(VkDevice device, const VkBufferMemoryRequirementsInfo2 *info,
                                    VkMemoryRequirements2 *out) {
  COUNT(vkGetBufferMemoryRequirements2);
  (void)device;
  out->memoryRequirements = requirements(info->buffer);
}

static VkResult bind(VkBuffer buffer, VkDeviceMemory memory, uint64_t offset) {
  if (buffer->memory != VK_NULL_HANDLE || offset > memory->size || buffer->size > memory->size - offset)
    return VK_ERROR_UNKNOWN;
  buffer->memory = memory;
  buffer->offset = offset;
  return VK_SUCCESS;
}

VkResult vkBindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
  ENTER(vkBindBufferMemory);
  (void)device;
  return bind(buffer, memory, offset);
}

VkResult vkBindBufferMemory2(VkDevice device, uint32_t count, const VkBindBufferMemoryInfo *infos) {
  ENTER(vkBindBufferMemory2);
  (void)device;
  VkResult result = VK_SUCCESS;
  for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++)
    result = bind(infos[i].buffer, infos[i].memory, infos[i].memoryOffset);
  return result;
}

uint8_t *vk_buffer_bytes(VkBuffer buffer, uint64_t offset) { return buffer->memory->bytes + buffer->offset + offset; }

VkDeviceAddress vkGetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo *info) {
  COUNT(vkGetBufferDeviceAddress);
  (void)device;
  return (uintptr_t)vk_buffer_bytes(info->buffer, 0);
}

/* ---- Shaders --------------------------------------------------------------------------------- */

enum { SPIRV_MAGIC = 0x07230203, SPIRV_HEADER_WORDS = 5, OP_ENTRY_POINT = 15 };

/* The names of the entry points; false for words that are no module. */
static bool read_entries(const uint32_t *words, size_t count, VkShaderModule out) {
  if (count < SPIRV_HEADER_WORDS || words[0] != SPIRV_MAGIC) return false;
  for (size_t at = SPIRV_HEADER_WORDS; at < count;) {
    size_t length = words[at] >> 16;
    if (length == 0 || length > count - at) return false;
    if ((words[at] & 0xFFFF) == OP_ENTRY_POINT && length > 3 && out->entry_count < MOST_ENTRIES) {
      char *name = out->entries[out->entry_count++];
      size_t bytes = (length - 3) * 4;
      memcpy(name, &words[at + 3], bytes < 63 ? bytes : 63);
    }
    at += length;
  }
  return out->entry_count > 0;
}

VkResult vkCreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info,
                              const VkAllocationCallbacks *callbacks, VkShaderModule *out) {
  ENTER(vkCreateShaderModule);
  (void)device, (void)callbacks;
  *out = make("shader", sizeof **out);
  if (*out == VK_NULL_HANDLE) return VK_ERROR_OUT_OF_HOST_MEMORY;
  if (info->codeSize % 4 == 0 && read_entries(info->pCode, info->codeSize / 4, *out)) return VK_SUCCESS;
  unmake("shader", *out);
  *out = VK_NULL_HANDLE;
  return VK_ERROR_UNKNOWN;
}

void vkDestroyShaderModule(VkDevice device, VkShaderModule module, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyShaderModule);
  (void)device, (void)callbacks;
  unmake("shader", module);
}

/* ---- Pipelines ------------------------------------------------------------------------------- */

typedef struct cache_data {
  VkPipelineCacheHeaderVersionOne header;
  uint32_t pipelines;
} cache_data;

static cache_data describe_cache(VkDevice device, VkPipelineCache cache) {
  cache_data d = { .header = { .headerSize = sizeof d.header,
                               .headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE,
                               .vendorID = 0x10001,
                               .deviceID = 1 + device->physical->index } };
  memset(d.header.pipelineCacheUUID, 0x40, sizeof d.header.pipelineCacheUUID);
  d.pipelines = cache != VK_NULL_HANDLE ? cache->pipelines : 0;
  return d;
}

/* Data of another device or driver is passed over, as the API wants it. */
VkResult vkCreatePipelineCache(VkDevice device, const VkPipelineCacheCreateInfo *info,
                               const VkAllocationCallbacks *callbacks, VkPipelineCache *out) {
  ENTER(vkCreatePipelineCache);
  (void)callbacks;
  *out = make("pipeline cache", sizeof **out);
  if (*out == VK_NULL_HANDLE) return VK_ERROR_OUT_OF_HOST_MEMORY;
  cache_data own = describe_cache(device, VK_NULL_HANDLE), given;
  if (info->initialDataSize != sizeof given) return VK_SUCCESS;
  memcpy(&given, info->pInitialData, sizeof given);
  if (memcmp(&given.header, &own.header, sizeof own.header) == 0) (*out)->pipelines = given.pipelines;
  return VK_SUCCESS;
}

void vkDestroyPipelineCache(VkDevice device, VkPipelineCache cache, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyPipelineCache);
  (void)device, (void)callbacks;
  unmake("pipeline cache", cache);
}

VkResult vkGetPipelineCacheData(VkDevice device, VkPipelineCache cache, size_t *bytes, void *out) {
  ENTER(vkGetPipelineCacheData);
  cache_data d = describe_cache(device, cache);
  if (out != NULL && *bytes < sizeof d) {
    *bytes = 0;
    return VK_INCOMPLETE;
  }
  if (out != NULL) memcpy(out, &d, sizeof d);
  *bytes = sizeof d;
  return VK_SUCCESS;
}

VkResult vkMergePipelineCaches(VkDevice device, VkPipelineCache to, uint32_t count, const VkPipelineCache *from) {
  ENTER(vkMergePipelineCaches);
  (void)device;
  for (uint32_t i = 0; i < count; i++) to->pipelines += from[i]->pipelines;
  return VK_SUCCESS;
}

VkResult vkCreateDescriptorSetLayout(VkDevice device, const VkDescriptorSetLayoutCreateInfo *info,
                                     const VkAllocationCallbacks *callbacks, VkDescriptorSetLayout *out) {
  ENTER(vkCreateDescriptorSetLayout);
  (void)device, (void)callbacks;
  *out = VK_NULL_HANDLE;
  uint32_t count = 0;
  for (uint32_t i = 0; i < info->bindingCount; i++)
    if (info->pBindings[i].binding >= count) count = info->pBindings[i].binding + 1;
  if (count > MOST_BINDINGS) return VK_ERROR_OUT_OF_HOST_MEMORY;
  *out = make("layout", sizeof **out);
  if (*out == VK_NULL_HANDLE) return VK_ERROR_OUT_OF_HOST_MEMORY;
  (*out)->count = count;
  return VK_SUCCESS;
}

void vkDestroyDescriptorSetLayout(VkDevice device, VkDescriptorSetLayout layout,
                                  const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyDescriptorSetLayout);
  (void)device, (void)callbacks;
  unmake("layout", layout);
}

VkResult vkCreatePipelineLayout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                const VkAllocationCallbacks *callbacks, VkPipelineLayout *out) {
  ENTER(vkCreatePipelineLayout);
  (void)device, (void)callbacks;
  *out = make("layout", sizeof **out);
  if (*out == VK_NULL_HANDLE) return VK_ERROR_OUT_OF_HOST_MEMORY;
  (*out)->set_count = info->setLayoutCount;
  for (uint32_t i = 0; i < info->pushConstantRangeCount; i++) {
    uint32_t end = info->pPushConstantRanges[i].offset + info->pPushConstantRanges[i].size;
    if (end > (*out)->push_bytes) (*out)->push_bytes = end;
  }
  if (info->setLayoutCount <= MOST_SETS && (*out)->push_bytes <= MOST_PUSH_BYTES) return VK_SUCCESS;
  unmake("layout", *out);
  *out = VK_NULL_HANDLE;
  return VK_ERROR_UNKNOWN;
}

void vkDestroyPipelineLayout(VkDevice device, VkPipelineLayout layout, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyPipelineLayout);
  (void)device, (void)callbacks;
  unmake("layout", layout);
}

static bool has_entry(VkShaderModule module, const char *name) {
  for (uint32_t i = 0; i < module->entry_count; i++)
    if (strcmp(module->entries[i], name) == 0) return true;
  return false;
}

VkResult vkCreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                  const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *callbacks,
                                  VkPipeline *out) {
  ENTER(vkCreateComputePipelines);
  (void)device, (void)callbacks;
  VkResult result = VK_SUCCESS;
  for (uint32_t i = 0; i < count; i++) {
    out[i] = VK_NULL_HANDLE;
    if (!has_entry(infos[i].stage.module, infos[i].stage.pName)) {
      result = VK_ERROR_UNKNOWN;
      continue;
    }
    out[i] = make("pipeline", sizeof *out[i]);
    if (out[i] == VK_NULL_HANDLE) {
      result = VK_ERROR_OUT_OF_HOST_MEMORY;
      continue;
    }
    strncpy(out[i]->entry, infos[i].stage.pName, sizeof out[i]->entry - 1);
    out[i]->layout = infos[i].layout;
    if (cache != VK_NULL_HANDLE) cache->pipelines++;
  }
  return result;
}

void vkDestroyPipeline(VkDevice device, VkPipeline pipeline, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyPipeline);
  (void)device, (void)callbacks;
  unmake("pipeline", pipeline);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

VkResult vkCreateDescriptorPool(VkDevice device, const VkDescriptorPoolCreateInfo *info,
                                const VkAllocationCallbacks *callbacks, VkDescriptorPool *out) {
  ENTER(vkCreateDescriptorPool);
  (void)device, (void)callbacks;
  *out = make("descriptor pool", sizeof **out);
  if (*out == VK_NULL_HANDLE) return VK_ERROR_OUT_OF_HOST_MEMORY;
  (*out)->most = info->maxSets;
  return VK_SUCCESS;
}

static void drop_sets(VkDescriptorPool pool) {
  while (pool->first != VK_NULL_HANDLE) {
    VkDescriptorSet set = pool->first;
    pool->first = set->next;
    unmake("descriptor set", set);
  }
  pool->count = 0;
}

void vkDestroyDescriptorPool(VkDevice device, VkDescriptorPool pool, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyDescriptorPool);
  (void)device, (void)callbacks;
  if (pool != VK_NULL_HANDLE) drop_sets(pool);
  unmake("descriptor pool", pool);
}

VkResult vkResetDescriptorPool(VkDevice device, VkDescriptorPool pool, VkDescriptorPoolResetFlags flags) {
  ENTER(vkResetDescriptorPool);
  (void)device, (void)flags;
  drop_sets(pool);
  return VK_SUCCESS;
}

static void drop_set(VkDescriptorSet set) {
  VkDescriptorSet *link = &set->pool->first;
  while (*link != set) link = &(*link)->next;
  *link = set->next;
  set->pool->count--;
  unmake("descriptor set", set);
}

VkResult vkAllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *out) {
  ENTER(vkAllocateDescriptorSets);
  (void)device;
  VkDescriptorPool pool = info->descriptorPool;
  if (info->descriptorSetCount > pool->most - pool->count) return VK_ERROR_OUT_OF_POOL_MEMORY;
  for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
    out[i] = make("descriptor set", sizeof *out[i]);
    if (out[i] == VK_NULL_HANDLE) {
      while (i > 0) drop_set(out[--i]);
      return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    out[i]->pool = pool;
    out[i]->count = info->pSetLayouts[i]->count;
    out[i]->next = pool->first;
    pool->first = out[i];
    pool->count++;
  }
  return VK_SUCCESS;
}

VkResult vkFreeDescriptorSets(VkDevice device, VkDescriptorPool pool, uint32_t count, const VkDescriptorSet *sets) {
  ENTER(vkFreeDescriptorSets);
  (void)device, (void)pool;
  for (uint32_t i = 0; i < count; i++)
    if (sets[i] != VK_NULL_HANDLE) drop_set(sets[i]);
  return VK_SUCCESS;
}

void vkUpdateDescriptorSets(VkDevice device, uint32_t write_count, const VkWriteDescriptorSet *writes,
                            uint32_t copy_count, const VkCopyDescriptorSet *copies) {
  COUNT(vkUpdateDescriptorSets);
  (void)device;
  for (uint32_t i = 0; i < write_count; i++)
    for (uint32_t j = 0; j < writes[i].descriptorCount; j++)
      if (writes[i].dstBinding + j < writes[i].dstSet->count && writes[i].pBufferInfo != NULL)
        writes[i].dstSet->infos[writes[i].dstBinding + j] = writes[i].pBufferInfo[j];
  for (uint32_t i = 0; i < copy_count; i++)
    for (uint32_t j = 0; j < copies[i].descriptorCount; j++)
      copies[i].dstSet->infos[copies[i].dstBinding + j] = copies[i].srcSet->infos[copies[i].srcBinding + j];
}
#endif
