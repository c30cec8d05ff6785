/* Buffers: new ones, which are zero, and those that come from outside. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/vulkan/facts.h"
#include "plugins/vulkan/memory.h"

enum { GRAIN = 16 };

/* ---- The handle ------------------------------------------------------------------------------ */

/* Any buffer may be anything. All families may use it without telling each other: that costs buffers nothing. */
static vyre_status create_handle(vyre_plugin_buffer *b, VkExternalMemoryHandleTypeFlags external, vyre_error *error) {
  vyre_plugin_device *device = b->device;
  const VkExternalMemoryBufferCreateInfo outside = { .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                     .handleTypes = external };
  VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                              .pNext = external != 0 ? &outside : NULL,
                              .size = b->bytes,
                              .usage = vulkan_buffer_usage(device->features) };
  if (device->family_count > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = device->family_count;
    info.pQueueFamilyIndices = device->families;
  }
  VkResult result = device->vk.vkCreateBuffer(device->handle, &info, NULL, &b->handle);
  if (result != VK_SUCCESS) b->handle = VK_NULL_HANDLE;
  return vulkan_check(device, result, "vkCreateBuffer", error);
}

static void describe_memory(vyre_plugin_buffer *b) {
  uint32_t type = b->memory.block->type;
  b->coherent = vulkan_type_has(b->device, type, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  if (b->memory.block->host != NULL) b->host = b->memory.block->host + b->memory.offset;
}

/* |inside|: where in its piece of memory the buffer begins. */
static vyre_status bind(vyre_plugin_buffer *b, uint64_t inside, vyre_error *error) {
  vyre_plugin_device *device = b->device;
  VkResult result = device->vk.vkBindBufferMemory(device->handle, b->handle, b->memory.block->handle,
                                                  b->memory.offset + inside);
  if (result != VK_SUCCESS) return vulkan_check(device, result, "vkBindBufferMemory", error);
  describe_memory(b);
  if (!VULKAN_HAS(device, ADDRESS)) return VYRE_OK;
  const VkBufferDeviceAddressInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                           .buffer = b->handle };
  b->address = device->vk.vkGetBufferDeviceAddress(device->handle, &info);
  return VYRE_OK;
}

/* ---- Zeroing --------------------------------------------------------------------------------- */

static vyre_status record_zeroing(vyre_plugin_device *device, VkBuffer buffer, vyre_error *error) {
  VkCommandBuffer commands = device->internal.commands;
  const VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT };
  VkResult result = device->vk.vkBeginCommandBuffer(commands, &begin);
  if (result != VK_SUCCESS) return vulkan_check(device, result, "vkBeginCommandBuffer", error);
  device->vk.vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, 0);
  return vulkan_check(device, device->vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer", error);
}

static vyre_status run_internal(vyre_plugin_device *device, vyre_error *error) {
  const VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                              .commandBufferCount = 1,
                              .pCommandBuffers = &device->internal.commands };
  VkFence fence = device->internal.fence;
  VkResult result = device->vk.vkResetFences(device->handle, 1, &fence);
  if (result != VK_SUCCESS) return vulkan_check(device, result, "vkResetFences", error);
  vulkan_queue *queue = &device->queues[0];
  pthread_mutex_lock(&queue->lock);
  result = device->vk.vkQueueSubmit(queue->handle, 1, &info, fence);
  pthread_mutex_unlock(&queue->lock);
  if (result != VK_SUCCESS) return vulkan_check(device, result, "vkQueueSubmit", error);
  result = device->vk.vkWaitForFences(device->handle, 1, &fence, VK_TRUE, UINT64_MAX);
  if (result == VK_SUCCESS) return VYRE_OK;
  if (result != VK_ERROR_DEVICE_LOST) { /* there may be another way to wait */
    pthread_mutex_lock(&queue->lock);
    VkResult idle = device->vk.vkQueueWaitIdle(queue->handle);
    pthread_mutex_unlock(&queue->lock);
    if (idle == VK_SUCCESS) return VYRE_OK;
  }
  vulkan_lose(device, "vkWaitForFences"); /* the commands may still run, and need what is freed */
  return vulkan_check(device, result, "vkWaitForFences", error);
}

static vyre_status zero_on_device(vyre_plugin_buffer *b, vyre_error *error) {
  vyre_plugin_device *device = b->device;
  pthread_mutex_lock(&device->internal.lock);
  vyre_status status = vulkan_alive(device, error);
  if (status == VYRE_OK) status = record_zeroing(device, b->handle, error);
  if (status == VYRE_OK) status = run_internal(device, error);
  pthread_mutex_unlock(&device->internal.lock);
  return status;
}

static vyre_status zero(vyre_plugin_buffer *b, vyre_error *error) {
  if (b->host == NULL) return zero_on_device(b, error);
  memset(b->host, 0, b->bytes);
  return b->coherent ? VYRE_OK : vulkan_buffer_flush(b, 0, b->bytes, error);
}

/* ---- New memory ------------------------------------------------------------------------------ */

static vyre_status take_type(vyre_plugin_buffer *b, uint32_t type, vyre_error *error) {
  const VkMemoryDedicatedAllocateInfo own = { .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                              .buffer = b->handle };
  const VkExportMemoryAllocateInfo leaves = { .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                              .pNext = &own,
                                              .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT };
  vulkan_wish wish = { .type = type, .chain = b->device->facts->exports ? &leaves : NULL };
  b->device->vk.vkGetBufferMemoryRequirements(b->device->handle, b->handle, &wish.requirements);
  return vulkan_memory_take(b->device, &wish, &b->memory, error);
}

/* The next best type with these properties, behind the ranks before |*rank|; false if there is none. */
static bool next_type(const vulkan_facts *facts, uint32_t properties, uint32_t allowed, uint32_t *rank,
                      uint32_t *type) {
  enum { RANKS = 5 };
  for (; *rank < RANKS * VK_MAX_MEMORY_TYPES; ++*rank) {
    *type = *rank % VK_MAX_MEMORY_TYPES;
    if (*type >= facts->memory.memoryTypeCount || (allowed >> *type & 1) == 0) continue;
    uint32_t has = vulkan_memory_properties(facts, *type);
    if (has == 0 || (has & properties) != properties) continue;
    if (vulkan_memory_rank(facts, *type) != *rank / VK_MAX_MEMORY_TYPES) continue;
    ++*rank;
    return true;
  }
  return false;
}

static vyre_status no_such_memory(const vyre_plugin_device *device, uint32_t properties, vyre_error *error) {
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, device->facts->properties.deviceName,
                  "No memory of the device has the properties 0x%x. Fix: ask for those of one of its memory types.",
                  properties);
}

/* Another heap may have room where the best has none. */
static vyre_status take_memory(vyre_plugin_buffer *b, uint32_t properties, vyre_error *error) {
  VkMemoryRequirements requirements;
  b->device->vk.vkGetBufferMemoryRequirements(b->device->handle, b->handle, &requirements);
  vyre_status status = VYRE_ERR_UNSUPPORTED;
  uint32_t rank = 0, type;
  while (next_type(b->device->facts, properties, requirements.memoryTypeBits, &rank, &type)) {
    status = take_type(b, type, error);
    if (status != VYRE_ERR_NO_MEMORY) return status;
  }
  return status == VYRE_ERR_UNSUPPORTED ? no_such_memory(b->device, properties, error) : status;
}

static vyre_status make_new(vyre_plugin_buffer *b, uint32_t properties, vyre_error *error) {
  bool leaves = b->device->facts->exports;
  vyre_status status = create_handle(b, leaves ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT : 0, error);
  if (status == VYRE_OK) status = take_memory(b, properties, error);
  if (status == VYRE_OK) status = bind(b, 0, error);
  return status == VYRE_OK ? zero(b, error) : status;
}

/* ---- Memory from outside --------------------------------------------------------------------- */

/* Takes memory of a type that fits what |chain| imports. That the device has it at hand matters least. */
static vyre_status import(vyre_plugin_buffer *b, uint32_t properties, uint32_t allowed, const void *chain,
                          uint64_t bytes, uint64_t inside, vyre_error *error) {
  vulkan_wish wish = { .chain = chain, .own_bytes = bytes };
  uint32_t rank = 0;
  b->device->vk.vkGetBufferMemoryRequirements(b->device->handle, b->handle, &wish.requirements);
  if (inside % wish.requirements.alignment != 0)
    return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, b->device->facts->properties.deviceName,
                    "The memory begins %llu bytes behind a page; the device wants a multiple of %llu. Fix: align it, or "
                    "create a buffer and copy.",
                    (unsigned long long)inside, (unsigned long long)wish.requirements.alignment);
  allowed &= wish.requirements.memoryTypeBits;
  if (!next_type(b->device->facts, properties & ~(uint32_t)VYRE_MEMORY_DEVICE_LOCAL, allowed, &rank, &wish.type))
    return no_such_memory(b->device, properties, error);
  vyre_status status = vulkan_memory_take(b->device, &wish, &b->memory, error);
  return status == VYRE_OK ? bind(b, inside, error) : status;
}

/* Whole pages are imported; the buffer begins somewhere in the first. */
static vyre_status import_host(vyre_plugin_buffer *b, const vyre_buffer_request *request, vyre_error *error) {
  vyre_plugin_device *device = b->device;
  const VkExternalMemoryHandleTypeFlagBits kind = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  uint64_t page = device->facts->external_host.minImportedHostPointerAlignment;
  uint64_t begin = request->handle & ~(page - 1), inside = request->handle - begin;
  uint64_t bytes = (inside + request->bytes + page - 1) & ~(page - 1);
  VkMemoryHostPointerPropertiesEXT fits = { .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT };
  const VkImportMemoryHostPointerInfoEXT info = { .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                                  .handleType = kind,
                                                  .pHostPointer = (void *)(uintptr_t)begin };
  if (request->handle == 0 || request->handle % GRAIN != 0)
    return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, device->facts->properties.deviceName,
                    "Memory at 0x%llx can't be imported; a multiple of %d is wanted. Fix: align it, or create a buffer "
                    "and copy.",
                    (unsigned long long)request->handle, GRAIN);
  VkResult result = device->vk.vkGetMemoryHostPointerPropertiesEXT(device->handle, kind, info.pHostPointer, &fits);
  if (result != VK_SUCCESS) return vulkan_check(device, result, "vkGetMemoryHostPointerPropertiesEXT", error);
  vyre_status status = create_handle(b, kind, error);
  if (status == VYRE_OK) status = import(b, request->properties, fits.memoryTypeBits, &info, bytes, inside, error);
  if (status == VYRE_OK) b->host = (uint8_t *)(uintptr_t)request->handle;
  return status;
}

/* The driver owns a descriptor that it has imported, so it gets one of its own. The memory has to be as large as the
 * exporter's, which is what a buffer of this size takes. */
static vyre_status import_fd(vyre_plugin_buffer *b, const vyre_buffer_request *request, vyre_error *error) {
  const VkExternalMemoryHandleTypeFlagBits kind = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  vyre_status status = create_handle(b, kind, error);
  if (status != VYRE_OK) return status;
  int fd = request->handle <= INT32_MAX ? dup((int)request->handle) : -1;
  if (fd < 0)
    return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, b->device->facts->properties.deviceName,
                    "%llu is no open file descriptor. Fix: give one that was exported for this device.",
                    (unsigned long long)request->handle);
  const VkMemoryDedicatedAllocateInfo own = { .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                              .buffer = b->handle };
  const VkImportMemoryFdInfoKHR info = {
    .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, .pNext = &own, .handleType = kind, .fd = fd
  };
  status = import(b, request->properties, UINT32_MAX, &info, 0, 0, error);
  if (b->memory.block == NULL) close(fd);
  return status;
}

/* ---- Creating -------------------------------------------------------------------------------- */

static vyre_status check_size(const vyre_plugin_device *device, uint64_t bytes, vyre_error *error) {
  uint64_t most = device->facts->max_buffer_bytes;
  if (bytes == 0 || bytes % GRAIN != 0)
    return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, device->facts->properties.deviceName,
                    "A buffer of %llu bytes is asked for; a multiple of %d is wanted. Fix: round it up.",
                    (unsigned long long)bytes, GRAIN);
  if (bytes <= most) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_LIMIT, device->facts->properties.deviceName,
                  "A buffer of %llu bytes is asked for; the device takes at most %llu. Fix: split the data.",
                  (unsigned long long)bytes, (unsigned long long)most);
}

static vyre_status check_kind(const vyre_plugin_device *device, uint32_t kind, vyre_error *error) {
  if (kind == VYRE_HANDLE_NONE || (kind <= VYRE_HANDLE_BUFFER && (device->facts->caps.import_kinds >> kind & 1) != 0))
    return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, device->facts->properties.deviceName,
                  "Handles of kind %u are not imported. Fix: create a buffer and copy.", kind);
}

static vyre_status fill(vyre_plugin_buffer *b, const vyre_buffer_request *request, vyre_error *error) {
  switch (request->kind) {
    case VYRE_HANDLE_HOST_POINTER: return import_host(b, request, error);
    case VYRE_HANDLE_FD: return import_fd(b, request, error);
    default: return make_new(b, request->properties, error);
  }
}

static vyre_status create(vyre_plugin_device *device, const vyre_buffer_request *request, vyre_plugin_buffer **out,
                          vyre_error *error) {
  vyre_plugin_buffer *b = calloc(1, sizeof *b);
  if (b == NULL) return gpu_no_memory(error);
  b->device = device;
  b->bytes = request->bytes;
  b->kind = request->kind;
  vyre_status status = fill(b, request, error);
  if (status == VYRE_OK) *out = b;
  else vulkan_buffer_destroy(b);
  return status;
}

vyre_status vulkan_buffer_create(vyre_plugin_device *device, const vyre_buffer_request *given,
                                 vyre_plugin_buffer **out, vyre_error *error) {
  vyre_buffer_request request;
  *out = NULL;
  gpu_take(&request, sizeof request, given);
  vyre_status status = vulkan_alive(device, error);
  if (status == VYRE_OK) status = check_size(device, request.bytes, error);
  if (status == VYRE_OK) status = check_kind(device, request.kind, error);
  return status == VYRE_OK ? create(device, &request, out, error) : status;
}

vyre_status vulkan_buffer_make(vyre_plugin_device *device, uint32_t properties, uint64_t bytes,
                               vyre_plugin_buffer **out, vyre_error *error) {
  uint64_t whole = bytes < UINT64_MAX - GRAIN ? (bytes + GRAIN - 1) / GRAIN * GRAIN : UINT64_MAX / GRAIN * GRAIN;
  const vyre_buffer_request request = { .size = sizeof request,
                                        .properties = properties,
                                        .bytes = whole != 0 ? whole : GRAIN };
  return vulkan_buffer_create(device, &request, out, error);
}

void vulkan_buffer_destroy(vyre_plugin_buffer *buffer) {
  vyre_plugin_device *device = buffer->device;
  if (buffer->handle != VK_NULL_HANDLE) device->vk.vkDestroyBuffer(device->handle, buffer->handle, NULL);
  vulkan_memory_give(device, &buffer->memory);
  free(buffer);
}

/* ---- The host's side ------------------------------------------------------------------------- */

vyre_status vulkan_buffer_map(vyre_plugin_buffer *buffer, void **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vulkan_alive(buffer->device, error);
  if (status != VYRE_OK) return status;
  if (buffer->host == NULL)
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, buffer->device->facts->properties.deviceName,
                    "The host does not reach this memory. Fix: create the buffer with host_read or host_write.");
  *out = buffer->host;
  return VYRE_OK;
}

/* Whole atoms; pieces of such memory begin and end at one. */
static vyre_status range_of(const vyre_plugin_buffer *b, uint64_t offset, uint64_t bytes, VkMappedMemoryRange *out,
                            vyre_error *error) {
  uint64_t atom = b->device->facts->properties.limits.nonCoherentAtomSize;
  if (offset > b->bytes || bytes > b->bytes - offset)
    return gpu_fail(error, VYRE_ERR_OUT_OF_RANGE, b->device->facts->properties.deviceName,
                    "%llu bytes from byte %llu on are named, and the buffer has %llu. Fix: stay inside.",
                    (unsigned long long)bytes, (unsigned long long)offset, (unsigned long long)b->bytes);
  uint64_t begin = b->memory.offset + offset, end = begin + bytes;
  begin -= begin % atom;
  end += (atom - end % atom) % atom;
  *out = (VkMappedMemoryRange){ .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
                                .memory = b->memory.block->handle,
                                .offset = begin,
                                .size = end < b->memory.block->bytes ? end - begin : VK_WHOLE_SIZE };
  return VYRE_OK;
}

typedef VkResult(VKAPI_PTR *sync_fn)(VkDevice device, uint32_t count, const VkMappedMemoryRange *ranges);

static vyre_status sync_host(vyre_plugin_buffer *buffer, sync_fn fn, const char *call, uint64_t offset,
                             uint64_t bytes, vyre_error *error) {
  vyre_plugin_device *device = buffer->device;
  VkMappedMemoryRange range;
  vyre_status status = vulkan_alive(device, error);
  if (status == VYRE_OK) status = range_of(buffer, offset, bytes, &range, error);
  if (status != VYRE_OK || buffer->host == NULL || buffer->coherent || bytes == 0) return status;
  return vulkan_check(device, fn(device->handle, 1, &range), call, error);
}

vyre_status vulkan_buffer_flush(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error) {
  return sync_host(buffer, buffer->device->vk.vkFlushMappedMemoryRanges, "vkFlushMappedMemoryRanges", offset, bytes,
                   error);
}

vyre_status vulkan_buffer_invalidate(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error) {
  return sync_host(buffer, buffer->device->vk.vkInvalidateMappedMemoryRanges, "vkInvalidateMappedMemoryRanges", offset,
                   bytes, error);
}

/* ---- Leaving --------------------------------------------------------------------------------- */

vyre_status vulkan_buffer_export(vyre_plugin_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error) {
  vyre_plugin_device *device = buffer->device;
  *handle = 0;
  vyre_status status = vulkan_alive(device, error);
  if (status != VYRE_OK) return status;
  if (kind == VYRE_HANDLE_DEVICE_POINTER && buffer->address != 0) {
    *handle = buffer->address;
    return VYRE_OK;
  }
  if (kind != VYRE_HANDLE_FD || !device->facts->exports || buffer->kind == VYRE_HANDLE_HOST_POINTER)
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, device->facts->properties.deviceName,
                    "A handle of kind %u of this buffer can't be had. Fix: copy the contents.", kind);
  const VkMemoryGetFdInfoKHR info = { .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                      .memory = buffer->memory.block->handle,
                                      .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT };
  int fd = -1;
  VkResult result = device->vk.vkGetMemoryFdKHR(device->handle, &info, &fd);
  if (result == VK_SUCCESS) *handle = (uint64_t)fd;
  return vulkan_check(device, result, "vkGetMemoryFdKHR", error);
}
