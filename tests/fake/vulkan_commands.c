/* Command buffers and queries of the fake Vulkan: commands are kept as they were recorded and run by a queue. */
#include "vulkan.h"

#ifdef FAKE_HAS_VULKAN
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum command_kind {
  RUN_DISPATCH,
  RUN_INDIRECT,
  RUN_COPY,
  RUN_FILL,
  RUN_UPDATE,
  RUN_RESET,
  RUN_TIMESTAMP
} command_kind;

typedef struct command {
  command_kind kind;
  VkPipeline pipeline;
  VkDescriptorSet sets[MOST_SETS];
  uint32_t offsets[MOST_SETS][MOST_BINDINGS]; /* dynamic ones, by binding */
  uint8_t push[MOST_PUSH_BYTES];
  uint32_t grid[3];
  VkBuffer to, from;
  uint64_t to_offset, from_offset, bytes;
  uint32_t pattern;
  uint8_t *data; /* UPDATE, owned */
  VkQueryPool queries;
  uint32_t first, count;
} command;

struct VkCommandPool_T {
  VkCommandBuffer first;
};

struct VkCommandBuffer_T {
  VkCommandBuffer next;
  VkCommandPool pool;
  command *commands;
  uint32_t count, capacity;
  bool is_recording, has_failed;
  command state; /* what the next dispatch takes */
};

uint64_t vk_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- Pools and buffers ----------------------------------------------------------------------- */

static void clear(VkCommandBuffer buffer) {
  for (uint32_t i = 0; i < buffer->count; i++) free(buffer->commands[i].data);
  free(buffer->commands);
  buffer->commands = NULL;
  buffer->count = buffer->capacity = 0;
  buffer->is_recording = buffer->has_failed = false;
  buffer->state = (command){ 0 };
}

VkResult vkCreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo *info,
                             const VkAllocationCallbacks *callbacks, VkCommandPool *out) {
  ENTER(vkCreateCommandPool);
  (void)device, (void)callbacks, (void)info;
  *out = calloc(1, sizeof **out);
  if (*out == VK_NULL_HANDLE) return VK_ERROR_OUT_OF_HOST_MEMORY;
  fake_born("command pool");
  return VK_SUCCESS;
}

static void free_buffer(VkCommandBuffer buffer) {
  VkCommandBuffer *link = &buffer->pool->first;
  while (*link != buffer) link = &(*link)->next;
  *link = buffer->next;
  clear(buffer);
  free(buffer);
  fake_died("command buffer");
}

void vkDestroyCommandPool(VkDevice device, VkCommandPool pool, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyCommandPool);
  (void)device, (void)callbacks;
  if (pool == VK_NULL_HANDLE) return;
  while (pool->first != NULL) free_buffer(pool->first);
  free(pool);
  fake_died("command pool");
}

VkResult vkResetCommandPool(VkDevice device, VkCommandPool pool, VkCommandPoolResetFlags flags) {
  ENTER(vkResetCommandPool);
  (void)device, (void)flags;
  for (VkCommandBuffer b = pool->first; b != NULL; b = b->next) clear(b);
  return VK_SUCCESS;
}

VkResult vkAllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out) {
  ENTER(vkAllocateCommandBuffers);
  (void)device;
  for (uint32_t i = 0; i < info->commandBufferCount; i++) {
    out[i] = calloc(1, sizeof *out[i]);
    if (out[i] == NULL) {
      while (i > 0) free_buffer(out[--i]);
      return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    fake_born("command buffer");
    out[i]->pool = info->commandPool;
    out[i]->next = info->commandPool->first;
    info->commandPool->first = out[i];
  }
  return VK_SUCCESS;
}

void vkFreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t count, const VkCommandBuffer *buffers) {
  COUNT(vkFreeCommandBuffers);
  (void)device, (void)pool;
  for (uint32_t i = 0; i < count; i++)
    if (buffers[i] != NULL) free_buffer(buffers[i]);
}

VkResult vkBeginCommandBuffer(VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info) {
  ENTER(vkBeginCommandBuffer);
  (void)info;
  clear(buffer);
  buffer->is_recording = true;
  return VK_SUCCESS;
}

VkResult vkEndCommandBuffer(VkCommandBuffer buffer) {
  ENTER(vkEndCommandBuffer);
  buffer->is_recording = false;
  return buffer->has_failed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

VkResult vkResetCommandBuffer(VkCommandBuffer buffer, VkCommandBufferResetFlags flags) {
  ENTER(vkResetCommandBuffer);
  (void)flags;
  clear(buffer);
  return VK_SUCCESS;
}

/* ---- Recording ------------------------------------------------------------------------------- */

static void record(VkCommandBuffer buffer, command c) {
  if (!buffer->is_recording) abort(); /* the caller broke the rules of the API */
  if (buffer->count == buffer->capacity) {
    uint32_t capacity = buffer->capacity * 2 + 8;
    command *grown = realloc(buffer->commands, capacity * sizeof *grown);
    if (grown == NULL) {
      buffer->has_failed = true;
      free(c.data);
      return;
    }
    buffer->commands = grown;
    buffer->capacity = capacity;
  }
  buffer->commands[buffer->count++] = c;
}

void vkCmdBindPipeline(VkCommandBuffer buffer, VkPipelineBindPoint point, VkPipeline pipeline) {
  COUNT(vkCmdBindPipeline);
  if (point == VK_PIPELINE_BIND_POINT_COMPUTE) buffer->state.pipeline = pipeline;
}

void vkCmdBindDescriptorSets(VkCommandBuffer buffer, VkPipelineBindPoint point, VkPipelineLayout layout, uint32_t first,
                             uint32_t count, const VkDescriptorSet *sets, uint32_t dynamic_count,
                             const uint32_t *dynamic) {
  COUNT(vkCmdBindDescriptorSets);
  (void)point, (void)layout;
  for (uint32_t i = 0; i < count && first + i < MOST_SETS; i++) {
    buffer->state.sets[first + i] = sets[i];
    for (uint32_t b = 0; b < MOST_BINDINGS; b++)
      buffer->state.offsets[first + i][b] = b < dynamic_count ? dynamic[b] : 0;
  }
}

void vkCmdPushConstants(VkCommandBuffer buffer, VkPipelineLayout layout, VkShaderStageFlags stages, uint32_t offset,
                        uint32_t bytes, const void *data) {
  COUNT(vkCmdPushConstants);
  (void)layout, (void)stages;
  if (offset > MOST_PUSH_BYTES || bytes > MOST_PUSH_BYTES - offset) abort();
  memcpy(buffer->state.push + offset, data, bytes);
}

static void record_dispatch(VkCommandBuffer buffer, uint32_t x, uint32_t y, uint32_t z) {
  command c = buffer->state;
  if (c.pipeline == VK_NULL_HANDLE) abort();
  c.kind = RUN_DISPATCH;
  c.grid[0] = x;
  c.grid[1] = y;
  c.grid[2] = z;
  record(buffer, c);
}

void vkCmdDispatch(VkCommandBuffer buffer, uint32_t x, uint32_t y, uint32_t z) {
  COUNT(vkCmdDispatch);
  record_dispatch(buffer, x, y, z);
}

void vkCmdDispatchBase(VkCommandBuffer buffer, uint32_t base_x, uint32_t base_y, uint32_t base_z, uint32_t x,
                       uint32_t y, uint32_t z) {
  COUNT(vkCmdDispatchBase);
  (void)base_x, (void)base_y, (void)base_z;
  record_dispatch(buffer, x, y, z);
}

void vkCmdDispatchIndirect(VkCommandBuffer buffer, VkBuffer grid, VkDeviceSize offset) {
  COUNT(vkCmdDispatchIndirect);
  command c = buffer->state;
  if (c.pipeline == VK_NULL_HANDLE) abort();
  c.kind = RUN_INDIRECT;
  c.from = grid;
  c.from_offset = offset;
  record(buffer, c);
}

void vkCmdCopyBuffer(VkCommandBuffer buffer, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy *regions) {
  COUNT(vkCmdCopyBuffer);
  for (uint32_t i = 0; i < count; i++)
    record(buffer, (command){ .kind = RUN_COPY,
                              .from = from,
                              .to = to,
                              .from_offset = regions[i].srcOffset,
                              .to_offset = regions[i].dstOffset,
                              .bytes = regions[i].size });
}

void vkCmdFillBuffer(VkCommandBuffer buffer, VkBuffer to, VkDeviceSize offset, VkDeviceSize bytes, uint32_t pattern) {
  COUNT(vkCmdFillBuffer);
  if (bytes == VK_WHOLE_SIZE) bytes = (to->size - offset) / 4 * 4;
  record(buffer, (command){ .kind = RUN_FILL, .to = to, .to_offset = offset, .bytes = bytes, .pattern = pattern });
}

void vkCmdUpdateBuffer(VkCommandBuffer buffer, VkBuffer to, VkDeviceSize offset, VkDeviceSize bytes, const void *data) {
  COUNT(vkCmdUpdateBuffer);
  if (bytes > 65536) abort();
  uint8_t *copy = malloc(bytes);
  if (copy == NULL) {
    buffer->has_failed = true;
    return;
  }
  memcpy(copy, data, bytes);
  record(buffer, (command){ .kind = RUN_UPDATE, .to = to, .to_offset = offset, .bytes = bytes, .data = copy });
}

/* Commands run one after the other, each whole, so a barrier has nothing to do. */
void vkCmdPipelineBarrier(VkCommandBuffer buffer, VkPipelineStageFlags before, VkPipelineStageFlags after,
                          VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
                          uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                          const VkImageMemoryBarrier *images) {
  COUNT(vkCmdPipelineBarrier);
  (void)buffer, (void)before, (void)after, (void)flags, (void)memory_count, (void)memory, (void)buffer_count;
  (void)buffers, (void)image_count, (void)images;
}

void vkCmdPipelineBarrier2(VkCommandBuffer buffer, const VkDependencyInfo *info) {
  COUNT(vkCmdPipelineBarrier2);
  (void)buffer, (void)info;
}

void vkCmdResetQueryPool(VkCommandBuffer buffer, VkQueryPool pool, uint32_t first, uint32_t count) {
  COUNT(vkCmdResetQueryPool);
  record(buffer, (command){ .kind = RUN_RESET, .queries = pool, .first = first, .count = count });
}

void vkCmdWriteTimestamp(VkCommandBuffer buffer, VkPipelineStageFlagBits stage, VkQueryPool pool, uint32_t query) {
  COUNT(vkCmdWriteTimestamp);
  (void)stage;
  record(buffer, (command){ .kind = RUN_TIMESTAMP, .queries = pool, .first = query });
}

void vkCmdWriteTimestamp2(VkCommandBuffer buffer, VkPipelineStageFlags2 stage, VkQueryPool pool, uint32_t query) {
  COUNT(vkCmdWriteTimestamp2);
  (void)stage;
  record(buffer, (command){ .kind = RUN_TIMESTAMP, .queries = pool, .first = query });
}

/* ---- Running --------------------------------------------------------------------------------- */

/* First the push constants, if the layout has some, then the buffers by set and binding. */
static void take_arguments(const command *c, fake_launch *l) {
  if (c->pipeline->layout->push_bytes > 0) {
    l->arguments[0] = c->push;
    l->sizes[0] = c->pipeline->layout->push_bytes;
    l->argument_count = 1;
  }
  for (uint32_t s = 0; s < c->pipeline->layout->set_count; s++) {
    VkDescriptorSet set = c->sets[s];
    for (uint32_t b = 0; set != VK_NULL_HANDLE && b < set->count && l->argument_count < 64; b++) {
      const VkDescriptorBufferInfo *info = &set->infos[b];
      if (info->buffer == VK_NULL_HANDLE) continue;
      uint64_t offset = info->offset + c->offsets[s][b];
      l->arguments[l->argument_count] = vk_buffer_bytes(info->buffer, offset);
      l->sizes[l->argument_count++] = info->range == VK_WHOLE_SIZE ? info->buffer->size - offset : info->range;
    }
  }
}

static void run_dispatch(VkDevice device, const command *c) {
  int64_t code;
  if (fake_loses(VK_ERROR_DEVICE_LOST, &code)) {
    vk_lose(device, (VkResult)code);
    return;
  }
  fake_kernel_fn fn = fake_find_kernel(c->pipeline->entry);
  if (fn == NULL) return;
  fake_launch l = { .grid = { c->grid[0], c->grid[1], c->grid[2] } };
  if (c->kind == RUN_INDIRECT) memcpy(l.grid, vk_buffer_bytes(c->from, c->from_offset), sizeof l.grid);
  take_arguments(c, &l);
  fn(&l);
}

static void set_query(VkQueryPool pool, uint32_t query, uint64_t value, bool is_available) {
  pthread_mutex_lock(&vk_lock);
  pool->values[query] = value;
  pool->available[query] = is_available;
  pthread_cond_broadcast(&vk_moved);
  pthread_mutex_unlock(&vk_lock);
}

static void run_command(VkDevice device, const command *c) {
  switch (c->kind) {
  case RUN_DISPATCH:
  case RUN_INDIRECT: run_dispatch(device, c); break;
  case RUN_COPY:
    memmove(vk_buffer_bytes(c->to, c->to_offset), vk_buffer_bytes(c->from, c->from_offset), c->bytes);
    break;
  case RUN_FILL:
    for (uint64_t at = 0; at < c->bytes; at += 4) memcpy(vk_buffer_bytes(c->to, c->to_offset + at), &c->pattern, 4);
    break;
  case RUN_UPDATE: memcpy(vk_buffer_bytes(c->to, c->to_offset), c->data, c->bytes); break;
  case RUN_RESET:
    for (uint32_t i = 0; i < c->count; i++) set_query(c->queries, c->first + i, 0, false);
    break;
  case RUN_TIMESTAMP: set_query(c->queries, c->first, vk_now_ns(), true); break;
  }
}

/* Once the device is lost its buffers may be freed. */
void vk_run_commands(VkDevice device, VkCommandBuffer buffer) {
  for (uint32_t i = 0; atomic_load(&device->lost) == VK_SUCCESS && i < buffer->count; i++)
    run_command(device, &buffer->commands[i]);
}

/* ---- Queries --------------------------------------------------------------------------------- */

VkResult vkCreateQueryPool(VkDevice device, const VkQueryPoolCreateInfo *info, const VkAllocationCallbacks *callbacks,
                           VkQueryPool *out) {
  ENTER(vkCreateQueryPool);
  (void)device, (void)callbacks;
  *out = calloc(1, sizeof **out);
  if (*out == VK_NULL_HANDLE) return VK_ERROR_OUT_OF_HOST_MEMORY;
  (*out)->count = info->queryCount;
  (*out)->values = calloc(info->queryCount + 1u, sizeof *(*out)->values);
  (*out)->available = calloc(info->queryCount + 1u, sizeof *(*out)->available);
  if ((*out)->values == NULL || (*out)->available == NULL) abort();
  fake_born("query pool");
  return VK_SUCCESS;
}

void vkDestroyQueryPool(VkDevice device, VkQueryPool pool, const VkAllocationCallbacks *callbacks) {
  COUNT(vkDestroyQueryPool);
  (void)device, (void)callbacks;
  if (pool == VK_NULL_HANDLE) return;
  free(pool->values);
  free(pool->available);
  free(pool);
  fake_died("query pool");
}

void vkResetQueryPool(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count) {
  COUNT(vkResetQueryPool);
  (void)device;
  for (uint32_t i = 0; i < count; i++) set_query(pool, first + i, 0, false);
}

VkResult vkGetQueryPoolResults(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count, size_t bytes,
                               void *out, VkDeviceSize stride, VkQueryResultFlags flags) {
  ENTER(vkGetQueryPoolResults);
  if ((flags & VK_QUERY_RESULT_64_BIT) == 0 || first + count > pool->count ||
      (count > 0 && bytes < (count - 1) * stride + 8))
    return VK_ERROR_UNKNOWN;
  VkResult result = VK_SUCCESS;
  pthread_mutex_lock(&vk_lock);
  for (uint32_t i = 0; i < count; i++) {
    while ((flags & VK_QUERY_RESULT_WAIT_BIT) != 0 && !pool->available[first + i] && device->lost == VK_SUCCESS)
      pthread_cond_wait(&vk_moved, &vk_lock);
    if (pool->available[first + i]) memcpy((uint8_t *)out + i * stride, &pool->values[first + i], 8);
    else result = VK_NOT_READY;
  }
  if (device->lost != VK_SUCCESS) result = device->lost;
  pthread_mutex_unlock(&vk_lock);
  return result;
}
#endif
