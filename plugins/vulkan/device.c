/* A device in use: its features, queues and what the plugin itself needs of it. */
#include "plugins/vulkan/device.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/vulkan/chain.h"
#include "plugins/vulkan/memory.h"
#include "plugins/vulkan/selftest.h"

/* Two of a family run side by side. Drivers may take long for each: README.md has figures. */
enum { MOST_OF_FAMILY = 2, MOST_EXTENSIONS = VULKAN_STRUCTURE_COUNT + VULKAN_EXTENSION_COUNT };

/* ---- Queues ---------------------------------------------------------------------------------- */

/* Order in which families serve: 0 computes and does not draw, 1 does both, 2 only copies, 3 is of no use. */
enum { ROLES = 3 };

static uint32_t role_of(const VkQueueFamilyProperties *family) {
  const VkQueueFlags copying = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT; /* and no video, say */
  bool draws = (family->queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
  if (family->queueCount == 0 || (family->queueFlags & VK_QUEUE_PROTECTED_BIT) != 0) return ROLES;
  if ((family->queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) return draws ? 1 : 0;
  return (family->queueFlags & VK_QUEUE_TRANSFER_BIT) != 0 && (family->queueFlags & ~copying) == 0 ? 2 : ROLES;
}

static void plan_family(vyre_plugin_device *device, uint32_t index) {
  const VkQueueFamilyProperties *family = &device->facts->families[index];
  uint32_t count = family->queueCount < MOST_OF_FAMILY ? family->queueCount : MOST_OF_FAMILY;
  if (count > VULKAN_MAX_QUEUES - device->queue_count) count = VULKAN_MAX_QUEUES - device->queue_count;
  if (count == 0) return;
  device->families[device->family_count++] = index;
  for (uint32_t i = 0; i < count; i++) {
    vulkan_queue *queue = &device->queues[device->queue_count++];
    queue->family = index;
    queue->flags = family->queueFlags;
    queue->timestamp_bits = family->timestampValidBits;
  }
}

static void plan_queues(vyre_plugin_device *device) {
  for (uint32_t role = 0; role < ROLES; role++) {
    for (uint32_t i = 0; i < device->facts->family_count; i++)
      if (role_of(&device->facts->families[i]) == role) plan_family(device, i);
    if (role == 1) device->compute_count = device->queue_count;
  }
}

static uint32_t queues_of(const vyre_plugin_device *device, uint32_t family) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < device->queue_count; i++) count += device->queues[i].family == family;
  return count;
}

static void find_queues(vyre_plugin_device *device) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < device->queue_count; i++) {
    vulkan_queue *queue = &device->queues[i];
    number = i > 0 && device->queues[i - 1].family == queue->family ? number + 1 : 0;
    device->vk.vkGetDeviceQueue(device->handle, queue->family, number, &queue->handle);
  }
}

/* ---- The handle ------------------------------------------------------------------------------ */

/* What the core of the device's version has needs no extension. */
static uint32_t name_extensions(const vulkan_facts *facts, const char **names) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < VULKAN_STRUCTURE_COUNT; i++)
    if ((facts->structures >> i & 1) != 0 && facts->api < vulkan_structures[i].since)
      names[count++] = vulkan_structures[i].extension;
  for (uint32_t i = 0; i < VULKAN_EXTENSION_COUNT; i++)
    if (facts->has[i] && facts->api < vulkan_extensions[i].since) names[count++] = vulkan_extensions[i].name;
  return count;
}

static vyre_status create_handle(vyre_plugin_device *device, vyre_error *error) {
  const vulkan_facts *facts = device->facts;
  const char *names[MOST_EXTENSIONS];
  float priorities[MOST_OF_FAMILY];
  VkDeviceQueueCreateInfo queues[VULKAN_MAX_FAMILIES];
  vulkan_chain chain;
  vulkan_chain_link(&chain, facts->structures);
  vulkan_chain_enable(&chain, device->features);
  for (uint32_t i = 0; i < MOST_OF_FAMILY; i++) priorities[i] = 0.5f;
  for (uint32_t i = 0; i < device->family_count; i++)
    queues[i] = (VkDeviceQueueCreateInfo){ .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = device->families[i],
                                           .queueCount = queues_of(device, device->families[i]),
                                           .pQueuePriorities = priorities };
  const VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .pNext = &chain.base,
                                    .queueCreateInfoCount = device->family_count,
                                    .pQueueCreateInfos = queues,
                                    .enabledExtensionCount = name_extensions(facts, names),
                                    .ppEnabledExtensionNames = names };
  VkResult result = device->vk.vkCreateDevice(facts->handle, &info, NULL, &device->handle);
  if (result == VK_SUCCESS) return vulkan_api_device(device->handle, facts->properties.deviceName, &device->vk, error);
  device->handle = VK_NULL_HANDLE;
  return vulkan_check(device, result, "vkCreateDevice", error);
}

/* ---- The plugin's own commands --------------------------------------------------------------- */

static vyre_status open_internal(vyre_plugin_device *device, vyre_error *error) {
  vulkan_internal *own = &device->internal;
  const VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                         .queueFamilyIndex = device->queues[0].family };
  const VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
  VkResult result = device->vk.vkCreateCommandPool(device->handle, &pool, NULL, &own->pool);
  if (result != VK_SUCCESS) {
    own->pool = VK_NULL_HANDLE;
    return vulkan_check(device, result, "vkCreateCommandPool", error);
  }
  const VkCommandBufferAllocateInfo commands = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                 .commandPool = own->pool,
                                                 .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                 .commandBufferCount = 1 };
  result = device->vk.vkAllocateCommandBuffers(device->handle, &commands, &own->commands);
  if (result != VK_SUCCESS) return vulkan_check(device, result, "vkAllocateCommandBuffers", error);
  result = device->vk.vkCreateFence(device->handle, &fence, NULL, &own->fence);
  if (result != VK_SUCCESS) own->fence = VK_NULL_HANDLE;
  return vulkan_check(device, result, "vkCreateFence", error);
}

static void close_internal(vyre_plugin_device *device) {
  vulkan_internal *own = &device->internal;
  if (own->fence != VK_NULL_HANDLE) device->vk.vkDestroyFence(device->handle, own->fence, NULL);
  if (own->pool != VK_NULL_HANDLE) device->vk.vkDestroyCommandPool(device->handle, own->pool, NULL);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* A page that a fork empties tells a child at no cost, where asking for the process is a call of the system. */
static atomic_uchar *make_witness(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  atomic_uchar *witness = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (witness == MAP_FAILED) return NULL;
  if (madvise(witness, page, MADV_WIPEONFORK) == 0) {
    atomic_store(witness, 1);
    return witness;
  }
  munmap(witness, page);
  return NULL;
}

static void init_locks(vyre_plugin_device *device) {
  pthread_mutex_init(&device->memory.lock, NULL);
  pthread_mutex_init(&device->internal.lock, NULL);
  for (uint32_t i = 0; i < VULKAN_MAX_QUEUES; i++) pthread_mutex_init(&device->queues[i].lock, NULL);
}

vyre_status vulkan_device_start(vyre_plugin *plugin, const vulkan_facts *facts, vyre_plugin_device **out,
                                vyre_error *error) {
  *out = NULL;
  vyre_plugin_device *device = calloc(1, sizeof *device);
  if (device == NULL) return gpu_no_memory(error);
  device->plugin = plugin;
  device->host = plugin->host;
  device->facts = facts;
  device->features = facts->features;
  device->vk = plugin->vk;
  device->process = getpid();
  device->in_process = make_witness();
  init_locks(device);
  plan_queues(device);
  vyre_status status = create_handle(device, error);
  if (status == VYRE_OK) {
    find_queues(device);
    status = open_internal(device, error);
  }
  if (status == VYRE_OK) status = vulkan_work_open(device, error);
  if (status == VYRE_OK) *out = device;
  else vulkan_device_close(device);
  return status;
}

static void end_handle(vyre_plugin_device *device) {
  if (device->handle == VK_NULL_HANDLE || device->vk.vkDestroyDevice == NULL) return;
  if (device->vk.vkDeviceWaitIdle != NULL) device->vk.vkDeviceWaitIdle(device->handle);
  if (device->work != NULL) vulkan_work_close(device);
  close_internal(device);
  vulkan_memory_end(device);
  device->vk.vkDestroyDevice(device->handle, NULL);
}

void vulkan_device_close(vyre_plugin_device *device) {
  end_handle(device);
  for (uint32_t i = 0; i < VULKAN_MAX_QUEUES; i++) pthread_mutex_destroy(&device->queues[i].lock);
  pthread_mutex_destroy(&device->internal.lock);
  pthread_mutex_destroy(&device->memory.lock);
  if (device->in_process != NULL) munmap(device->in_process, (size_t)sysconf(_SC_PAGESIZE));
  free(device);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

vyre_status vulkan_device_count(vyre_plugin *plugin, uint32_t *count, vyre_error *error) {
  (void)error;
  *count = plugin->device_count;
  return VYRE_OK;
}

static vyre_status find_device(vyre_plugin *plugin, uint32_t index, vulkan_facts **out, vyre_error *error) {
  if (index >= plugin->device_count)
    return gpu_fail(error, VYRE_ERR_NOT_FOUND, gpu_name,
                    "There are %u devices, numbered from 0, and number %u is asked for. Fix: ask for one of those.",
                    plugin->device_count, index);
  *out = &plugin->devices[index];
  return vulkan_selftest(plugin, *out, error);
}

vyre_status vulkan_device_describe(vyre_plugin *plugin, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  vulkan_facts *facts = NULL;
  vyre_status status = find_device(plugin, index, &facts, error);
  if (status != VYRE_OK) return status;
  vyre_capabilities caps = facts->caps;
  caps.dlpack_id = (int32_t)index;
  gpu_answer(out, &caps, sizeof caps);
  return VYRE_OK;
}

vyre_status vulkan_device_open(vyre_plugin *plugin, uint32_t index, vyre_plugin_device **out, vyre_error *error) {
  vulkan_facts *facts = NULL;
  *out = NULL;
  vyre_status status = find_device(plugin, index, &facts, error);
  return status == VYRE_OK ? vulkan_device_start(plugin, facts, out, error) : status;
}
