/* What the Vulkan peer needs of Vulkan: a device, memory with addresses, pipelines without descriptors, and command
 * buffers that are submitted again and again. */
#ifndef VYRE_BENCH_VULKAN_DEVICE_H
#define VYRE_BENCH_VULKAN_DEVICE_H

#include <vulkan/vulkan.h>

#include "../peer.h"

typedef struct vk_memory {
  VkBuffer buffer;
  VkDeviceMemory memory;
  VkDeviceAddress address;
  void *host; /* NULL if the host can't see it */
  VkDeviceSize bytes;
} vk_memory;

typedef struct vk_device {
  VkInstance instance;
  VkPhysicalDevice physical;
  VkPhysicalDeviceProperties properties;
  VkPhysicalDeviceMemoryProperties memory;
  VkDevice device;
  VkQueue queue;
  uint32_t family;
  VkCommandPool commands;
  VkFence fence;
  VkPipelineLayout layout;
  VkQueryPool stamps;  /* two; NULL if the queue has no timestamps */
  char driver[VK_MAX_DRIVER_NAME_SIZE + VK_MAX_DRIVER_INFO_SIZE + 32];
  bool cpu;            /* the device is a processor */
  bool unified;        /* all its memory is the host's */
  bool float64;        /* its shaders may use double */
} vk_device;

extern vk_device vk;

/* All return NULL or why it could not be. */
const char *vk_open(uint32_t push_bytes);
/* |host|: memory that the host sees and reads fast; else the device's own. All zero. */
const char *vk_allocate(VkDeviceSize bytes, bool host, vk_memory *out);
void vk_free(vk_memory *memory);
/* |size| and |vectors| become the constants 0 and 1. */
const char *vk_pipeline(const uint32_t *code, size_t bytes, uint32_t size, uint32_t vectors, VkPipeline *out);
const char *vk_begin(VkCommandBuffer *out);
const char *vk_end(VkCommandBuffer buffer);
void vk_discard(VkCommandBuffer buffer);
/* What comes before it is done and seen by what comes after it, on the device and the host. */
void vk_barrier(VkCommandBuffer buffer);
/* Submits and waits. */
const char *vk_run(VkCommandBuffer buffer);
/* Between the two stamps of the last run, in ns. */
const char *vk_elapsed(double *ns);

const char *vk_fault(VkResult code, const char *what);
#define VK_TRY(call)                                       \
  do {                                                     \
    const char *fault_ = vk_fault((call), #call);          \
    if (fault_) return fault_;                             \
  } while (0)

#endif
