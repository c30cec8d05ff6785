/* The inside of the fake Vulkan. Its types are those of Vulkan's own headers; where they are not installed, the library
 * has nothing in it and its test is skipped. */
#ifndef VYRE_TESTS_FAKE_VULKAN_H
#define VYRE_TESTS_FAKE_VULKAN_H

#include <pthread.h>
#include <stdatomic.h>

#include "script.h"

#if __has_include(<vulkan/vulkan_core.h>)
#include <vulkan/vulkan_core.h>

#define FAKE_HAS_VULKAN 1

/* Every entry point begins with one of these: it counts the call and obeys the script. */
#define ENTER(name)                                            \
  do {                                                         \
    int64_t code_;                                             \
    if (fake_enter(#name, &code_)) return (VkResult)code_;     \
  } while (0)
#define COUNT(name)                    \
  do {                                 \
    int64_t code_;                     \
    (void)fake_enter(#name, &code_);   \
  } while (0)

enum { MOST_BINDINGS = 32, MOST_SETS = 4, MOST_PUSH_BYTES = 256, MOST_QUEUES = 4, MOST_GPUS = 16, MOST_ENTRIES = 8 };

/* One lock for the state of all devices, and a condition for whoever waits for some of it to change. */
extern pthread_mutex_t vk_lock;
extern pthread_cond_t vk_moved;

/* vulkan_entries.c */
uint32_t vk_api(void); /* 10 to 13 */

struct VkInstance_T {
  uint32_t api;
};

struct VkPhysicalDevice_T {
  uint32_t index;
};

struct VkQueue_T {
  VkDevice device;
  fake_worker *worker;
};

struct VkDevice_T {
  VkPhysicalDevice physical;
  struct VkQueue_T queues[MOST_QUEUES];
  uint32_t queue_count;
  _Atomic VkResult lost; /* VK_SUCCESS until then */
};
void vk_lose(VkDevice device, VkResult code);
/* VkMemoryPropertyFlagBits of a type of memory; 0 behind the last. */
VkMemoryPropertyFlags vk_memory_flags(uint32_t type);

/* vulkan_objects.c */
struct VkDeviceMemory_T {
  uint8_t *bytes;
  uint64_t size;
  uint32_t type;
  bool is_imported;
};

struct VkBuffer_T {
  uint64_t size;
  VkDeviceMemory memory;
  uint64_t offset;
};
uint8_t *vk_buffer_bytes(VkBuffer buffer, uint64_t offset);

struct VkShaderModule_T {
  char entries[MOST_ENTRIES][64];
  uint32_t entry_count;
};

struct VkPipelineCache_T {
  uint32_t pipelines; /* that were made with it */
};

struct VkDescriptorSetLayout_T {
  uint32_t count;
};

struct VkPipelineLayout_T {
  uint32_t set_count, push_bytes;
};

struct VkPipeline_T {
  char entry[64];
  VkPipelineLayout layout;
};

struct VkDescriptorPool_T {
  uint32_t most, count;
  VkDescriptorSet first;
};

struct VkDescriptorSet_T {
  VkDescriptorSet next;
  VkDescriptorPool pool;
  uint32_t count;
  VkDescriptorBufferInfo infos[MOST_BINDINGS];
};

/* vulkan_commands.c */
struct VkQueryPool_T {
  uint32_t count;
  uint64_t *values;
  bool *available; /* under the lock */
};
/* Runs what a command buffer recorded. */
void vk_run_commands(VkDevice device, VkCommandBuffer buffer);
uint64_t vk_now_ns(void);

#endif
#endif
