/* Device memory in few allocations.
 *
 * Small buffers share blocks, one list of them for all memory types; a large buffer, and whatever comes from outside or
 * leaves, has a block of its own. What lies in a block is linked in order of address, and gaps between neighbours are
 * what is free, so that giving back takes no memory and can't fail. */
#ifndef VULKAN_MEMORY_H
#define VULKAN_MEMORY_H

#include "plugins/vulkan/vulkan.h"

struct vulkan_block {
  vulkan_block *next;
  VkDeviceMemory handle;
  uint64_t bytes;
  uint32_t type;          /* of memory */
  bool is_shared;         /* holds several pieces */
  uint8_t *host;          /* map of the whole block; NULL where the host does not see it */
  vulkan_memory *first;   /* by offset */
  vulkan_memory *last_taken; /* the search for a gap begins behind it */
  uint64_t used;          /* bytes in pieces */
};

/* What is wanted. */
typedef struct vulkan_wish {
  VkMemoryRequirements requirements;
  uint32_t type;          /* of memory, among requirements.memoryTypeBits */
  const void *chain;      /* of VkMemoryAllocateInfo: for a block of its own; NULL if it may share one */
  uint64_t own_bytes;     /* of that block; 0: as required */
} vulkan_wish;

/* |out| is at its place for as long as it is in use. Errors: NO_MEMORY, LIMIT (allocations), what the driver says. */
vyre_status vulkan_memory_take(vyre_plugin_device *device, const vulkan_wish *wish, vulkan_memory *out,
                               vyre_error *error);
void vulkan_memory_give(vyre_plugin_device *device, vulkan_memory *memory);
/* Frees the blocks that are kept for later; nothing is in use any more. */
void vulkan_memory_end(vyre_plugin_device *device);

static inline bool vulkan_type_has(const vyre_plugin_device *device, uint32_t type, VkMemoryPropertyFlags flags) {
  return (device->facts->memory.memoryTypes[type].propertyFlags & flags) == flags;
}

#endif
