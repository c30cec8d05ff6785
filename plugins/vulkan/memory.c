/* Device memory in few allocations. */
#include "plugins/vulkan/memory.h"

#include <stdlib.h>

/* Drivers allow as few as 4096 allocations. Blocks are a compromise between those and memory that lies idle. */
enum { BLOCK_BYTES = 32 << 20, SHARED_MOST = BLOCK_BYTES / 4, HEAP_PARTS = 16 };

/* ---- Blocks ---------------------------------------------------------------------------------- */

static vyre_status map_block(vyre_plugin_device *device, vulkan_block *block, vyre_error *error) {
  void *host = NULL;
  if (!vulkan_type_has(device, block->type, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)) return VYRE_OK;
  VkResult result = device->vk.vkMapMemory(device->handle, block->handle, 0, VK_WHOLE_SIZE, 0, &host);
  block->host = host;
  return vulkan_check(device, result, "vkMapMemory", error);
}

static vyre_status check_count(const vyre_plugin_device *device, vyre_error *error) {
  uint32_t most = device->facts->properties.limits.maxMemoryAllocationCount;
  if (device->memory.allocations < most) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_LIMIT, device->facts->properties.deviceName,
                  "The driver allows %u allocations of memory (maxMemoryAllocationCount), and all are in use. Fix: use "
                  "fewer large buffers.",
                  most);
}

static void free_block(vyre_plugin_device *device, vulkan_block *block) {
  device->vk.vkFreeMemory(device->handle, block->handle, NULL); /* that ends its map, too */
  device->memory.allocations--;
  free(block);
}

static vyre_status new_block(vyre_plugin_device *device, uint32_t type, uint64_t bytes, const void *chain,
                             vulkan_block **out, vyre_error *error) {
  vyre_status status = check_count(device, error);
  if (status != VYRE_OK) return status;
  vulkan_block *block = calloc(1, sizeof *block);
  if (block == NULL) return gpu_no_memory(error);
  const VkMemoryAllocateFlagsInfo flags = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                            .pNext = chain,
                                            .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT };
  const VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                      .pNext = VULKAN_HAS(device, ADDRESS) ? &flags : chain,
                                      .allocationSize = bytes,
                                      .memoryTypeIndex = type };
  block->type = type;
  block->bytes = bytes;
  VkResult result = device->vk.vkAllocateMemory(device->handle, &info, NULL, &block->handle);
  if (result != VK_SUCCESS) {
    free(block);
    return vulkan_check(device, result, "vkAllocateMemory", error);
  }
  device->memory.allocations++;
  status = map_block(device, block, error);
  if (status != VYRE_OK) {
    free_block(device, block);
    return status;
  }
  block->next = device->memory.blocks;
  device->memory.blocks = block;
  *out = block;
  return VYRE_OK;
}

static void drop_block(vyre_plugin_device *device, vulkan_block *block) {
  vulkan_block **link = &device->memory.blocks;
  while (*link != block) link = &(*link)->next;
  *link = block->next;
  free_block(device, block);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

/* Tries the gap behind |before| (NULL: before the first piece). */
static bool take_gap(vulkan_block *block, vulkan_memory *before, uint64_t bytes, uint64_t alignment,
                     vulkan_memory *out) {
  vulkan_memory *after = before != NULL ? before->after : block->first;
  uint64_t begin = align_up(before != NULL ? before->offset + before->bytes : 0, alignment);
  uint64_t end = after != NULL ? after->offset : block->bytes;
  if (begin > end || end - begin < bytes) return false;
  *out = (vulkan_memory){ .block = block, .offset = begin, .bytes = bytes, .before = before, .after = after };
  if (before != NULL) before->after = out;
  else block->first = out;
  if (after != NULL) after->before = out;
  block->last_taken = out;
  block->used += bytes;
  return true;
}

/* From the last piece that was taken to the end, then from the beginning. */
static bool take_from(vulkan_block *block, uint64_t bytes, uint64_t alignment, vulkan_memory *out) {
  if (block->bytes - block->used < bytes) return false;
  for (vulkan_memory *at = block->last_taken; at != NULL; at = at->after)
    if (take_gap(block, at, bytes, alignment, out)) return true;
  if (take_gap(block, NULL, bytes, alignment, out)) return true;
  for (vulkan_memory *at = block->first; at != NULL && at != block->last_taken; at = at->after)
    if (take_gap(block, at, bytes, alignment, out)) return true;
  return false;
}

static uint64_t block_bytes(const vyre_plugin_device *device, uint32_t type) {
  const VkPhysicalDeviceMemoryProperties *memory = &device->facts->memory;
  uint64_t bytes = memory->memoryHeaps[memory->memoryTypes[type].heapIndex].size / HEAP_PARTS;
  uint64_t most = device->facts->maintenance3.maxMemoryAllocationSize;
  if (bytes > most) bytes = most;
  return bytes < BLOCK_BYTES ? bytes & ~UINT64_C(0xFFFF) : BLOCK_BYTES;
}

static bool take_shared(vyre_plugin_device *device, uint32_t type, uint64_t bytes, uint64_t alignment,
                        vulkan_memory *out) {
  for (vulkan_block *block = device->memory.blocks; block != NULL; block = block->next)
    if (block->is_shared && block->type == type && take_from(block, bytes, alignment, out)) return true;
  vulkan_block *made;
  uint64_t size = block_bytes(device, type);
  if (bytes > size || new_block(device, type, size, NULL, &made, NULL) != VYRE_OK) return false;
  made->is_shared = true;
  return take_from(made, bytes, alignment, out);
}

/* Where there is no room for a whole block there may be some for the buffer alone. */
static vyre_status take(vyre_plugin_device *device, const vulkan_wish *wish, vulkan_memory *out, vyre_error *error) {
  uint64_t bytes = wish->requirements.size, alignment = wish->requirements.alignment;
  uint64_t atom = device->facts->properties.limits.nonCoherentAtomSize;
  if (!vulkan_type_has(device, wish->type, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) && atom > 1) {
    if (alignment < atom) alignment = atom;
    bytes = align_up(bytes, atom);
  }
  bool is_large = bytes > SHARED_MOST || bytes > block_bytes(device, wish->type) / 4;
  if (wish->chain == NULL && !is_large && take_shared(device, wish->type, bytes, alignment, out)) return VYRE_OK;
  vyre_status status = vulkan_alive(device, error);
  vulkan_block *block;
  if (wish->own_bytes != 0) bytes = wish->own_bytes;
  if (status == VYRE_OK) status = new_block(device, wish->type, bytes, wish->chain, &block, error);
  if (status == VYRE_OK) take_gap(block, NULL, bytes, alignment, out);
  return status;
}

vyre_status vulkan_memory_take(vyre_plugin_device *device, const vulkan_wish *wish, vulkan_memory *out,
                               vyre_error *error) {
  pthread_mutex_lock(&device->memory.lock);
  vyre_status status = take(device, wish, out, error);
  pthread_mutex_unlock(&device->memory.lock);
  return status;
}

/* ---- Giving back ----------------------------------------------------------------------------- */

/* One empty block a type is kept, so that a program which makes and destroys one buffer does not allocate each time. */
static bool has_other_empty(const vyre_plugin_device *device, const vulkan_block *block) {
  for (const vulkan_block *other = device->memory.blocks; other != NULL; other = other->next)
    if (other != block && other->is_shared && other->type == block->type && other->first == NULL) return true;
  return false;
}

void vulkan_memory_give(vyre_plugin_device *device, vulkan_memory *memory) {
  vulkan_block *block = memory->block;
  if (block == NULL) return;
  pthread_mutex_lock(&device->memory.lock);
  if (memory->before != NULL) memory->before->after = memory->after;
  else block->first = memory->after;
  if (memory->after != NULL) memory->after->before = memory->before;
  if (block->last_taken == memory) block->last_taken = memory->before;
  block->used -= memory->bytes;
  memory->block = NULL;
  if (block->first == NULL && (!block->is_shared || has_other_empty(device, block))) drop_block(device, block);
  pthread_mutex_unlock(&device->memory.lock);
}

void vulkan_memory_end(vyre_plugin_device *device) {
  while (device->memory.blocks != NULL) drop_block(device, device->memory.blocks);
}
