/* Which memory a device has, in the words of the ABI, and which of it is best for what. */
#include "plugins/vulkan/facts.h"

static const VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
static const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
static const VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

/* Memory for secrets, for tiles, or without caches is not for buffers that programs work on. */
static bool is_usable(VkMemoryPropertyFlags flags) {
  return (flags & (VK_MEMORY_PROPERTY_PROTECTED_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT |
                   VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD)) == 0;
}

static bool has_cached(const vulkan_facts *facts) {
  for (uint32_t i = 0; i < facts->memory.memoryTypeCount; i++) {
    VkMemoryPropertyFlags flags = facts->memory.memoryTypes[i].propertyFlags;
    if (is_usable(flags) && (flags & visible) != 0 && (flags & cached) != 0) return true;
  }
  return false;
}

/* Memory that the host does not cache is read slowly, so it counts as HOST_READ only where there is nothing else. */
uint32_t vulkan_memory_properties(const vulkan_facts *facts, uint32_t type) {
  VkMemoryPropertyFlags flags = facts->memory.memoryTypes[type].propertyFlags;
  uint32_t properties = 0;
  if (!is_usable(flags)) return 0;
  if ((flags & local) != 0) properties |= VYRE_MEMORY_DEVICE_LOCAL;
  if ((flags & visible) == 0) return properties;
  properties |= VYRE_MEMORY_HOST_WRITE;
  if ((flags & cached) != 0 || !has_cached(facts)) properties |= VYRE_MEMORY_HOST_READ;
  if ((flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0) properties |= VYRE_MEMORY_COHERENT;
  return properties;
}

/* On a device with memory of its own, memory that the host does not see is best; a window into it that the host sees
 * is scarce, and comes last. Where host and device share memory, seeing it costs nothing and saves copies. */
uint32_t vulkan_memory_rank(const vulkan_facts *facts, uint32_t type) {
  VkPhysicalDeviceType kind = facts->properties.deviceType;
  VkMemoryPropertyFlags flags = facts->memory.memoryTypes[type].propertyFlags;
  bool is_local = (flags & local) != 0, is_visible = (flags & visible) != 0, is_cached = (flags & cached) != 0;
  if (kind == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU || kind == VK_PHYSICAL_DEVICE_TYPE_CPU) {
    if (is_local) return is_visible ? (is_cached ? 0 : 1) : 2;
    return is_cached ? 3 : 4;
  }
  if (is_local) return is_visible ? 3 : 0;
  return is_cached ? 1 : 2;
}

uint32_t vulkan_memory_kinds(const vulkan_facts *facts, vyre_memory_type *out) {
  enum { WORST_RANK = 4 };
  uint32_t count = 0;
  for (uint32_t rank = 0; rank <= WORST_RANK; rank++)
    for (uint32_t i = 0; i < facts->memory.memoryTypeCount; i++) {
      uint32_t properties = vulkan_memory_properties(facts, i), heap = facts->memory.memoryTypes[i].heapIndex;
      if (properties == 0 || vulkan_memory_rank(facts, i) != rank || heap >= VYRE_MAX_MEMORY_HEAPS) continue;
      uint32_t known = 0;
      while (known < count && out[known].properties != properties) known++;
      if (known == count && count < VYRE_MAX_MEMORY_TYPES) out[count++] = (vyre_memory_type){ properties, heap };
    }
  return count;
}
