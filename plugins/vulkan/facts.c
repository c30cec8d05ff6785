/* Finding the devices of an instance, and what each is. */
#include "plugins/vulkan/facts.h"

#include <stdlib.h>
#include <string.h>

#include "plugins/vulkan/chain.h"

/* ---- Extensions ------------------------------------------------------------------------------ */

typedef struct names {
  VkExtensionProperties *data;
  uint32_t count;
} names;

static bool is_named(const names *list, const char *name) {
  for (uint32_t i = 0; i < list->count; i++)
    if (strncmp(list->data[i].extensionName, name, sizeof list->data[i].extensionName) == 0) return true;
  return false;
}

/* The list may grow between the two calls; what came last is not needed. */
static vyre_status list_extensions(const vyre_plugin *plugin, const vulkan_facts *facts, names *out,
                                   vyre_error *error) {
  const char *call = "vkEnumerateDeviceExtensionProperties", *where = facts->properties.deviceName;
  VkResult result = plugin->vk.vkEnumerateDeviceExtensionProperties(facts->handle, NULL, &out->count, NULL);
  if (result != VK_SUCCESS) return vulkan_answer(result, where, call, error);
  out->data = calloc((size_t)out->count + 1, sizeof *out->data);
  if (out->data == NULL) return gpu_no_memory(error);
  result = plugin->vk.vkEnumerateDeviceExtensionProperties(facts->handle, NULL, &out->count, out->data);
  if (result == VK_SUCCESS || result == VK_INCOMPLETE) return VYRE_OK;
  free(out->data);
  return vulkan_answer(result, where, call, error);
}

static void find_extensions(vulkan_facts *facts, const names *list) {
  for (uint32_t i = 0; i < VULKAN_EXTENSION_COUNT; i++)
    facts->has[i] = facts->api >= vulkan_extensions[i].since || is_named(list, vulkan_extensions[i].name);
  for (uint32_t i = 0; i < VULKAN_STRUCTURE_COUNT; i++) {
    const vulkan_structure_source *s = &vulkan_structures[i];
    if (facts->api >= s->since || (s->extension[0] != 0 && is_named(list, s->extension)))
      facts->structures |= 1u << i;
  }
}

/* ---- Properties ------------------------------------------------------------------------------ */

static void ask_features(const vyre_plugin *plugin, vulkan_facts *facts) {
  vulkan_chain chain;
  char without[512];
  vulkan_chain_link(&chain, facts->structures);
  plugin->vk.vkGetPhysicalDeviceFeatures2(facts->handle, &chain.base);
  facts->features = vulkan_chain_features(&chain);
  if (gpu_setting(plugin->host, "without", without, sizeof without))
    facts->features &= ~vulkan_features_named(plugin->host, without);
  facts->features = vulkan_features_usable(facts->features);
  facts->exactly = gpu_configured(plugin->host, "exactly", 0) != 0;
}

static bool has_structure(const vulkan_facts *facts, enum vulkan_structure structure) {
  return (facts->structures >> structure & 1) != 0;
}

static void ask_properties(const vyre_plugin *plugin, vulkan_facts *facts) {
  VkPhysicalDeviceProperties2 base = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2 };
  VkPhysicalDeviceMaintenance4Properties maintenance4 = { .maxBufferSize = UINT64_MAX };
  void **end = &base.pNext;
#define ASK(record, stype, when)                                 \
  (record).sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##stype;    \
  if (when) {                                                    \
    *end = &(record);                                            \
    end = &(record).pNext;                                       \
  }
  ASK(facts->id, ID_PROPERTIES, true)
  ASK(facts->maintenance3, MAINTENANCE_3_PROPERTIES, true)
  ASK(facts->subgroup, SUBGROUP_PROPERTIES, true)
  ASK(facts->sizes, SUBGROUP_SIZE_CONTROL_PROPERTIES, has_structure(facts, VULKAN_STRUCTURE_size_control))
  ASK(facts->floats, FLOAT_CONTROLS_PROPERTIES, facts->has[VULKAN_FLOAT_CONTROLS])
  ASK(facts->driver, DRIVER_PROPERTIES, facts->has[VULKAN_DRIVER_PROPERTIES])
  ASK(facts->pci, PCI_BUS_INFO_PROPERTIES_EXT, facts->has[VULKAN_PCI])
  ASK(facts->external_host, EXTERNAL_MEMORY_HOST_PROPERTIES_EXT, facts->has[VULKAN_EXTERNAL_HOST])
  ASK(maintenance4, MAINTENANCE_4_PROPERTIES, has_structure(facts, VULKAN_STRUCTURE_maintenance4))
#undef ASK
  *end = NULL;
  plugin->vk.vkGetPhysicalDeviceProperties2(facts->handle, &base);
  facts->properties.deviceName[sizeof facts->properties.deviceName - 1] = 0;
  facts->max_buffer_bytes = maintenance4.maxBufferSize;
  uint32_t *range = &facts->properties.limits.maxStorageBufferRange;
  uint64_t most = gpu_configured(plugin->host, "max_binding", *range);
  if (most < *range) *range = (uint32_t)most;
}

/* A buffer lies in one allocation of one heap. */
static void limit_buffers(vulkan_facts *facts) {
  uint64_t heap = 0;
  for (uint32_t i = 0; i < facts->memory.memoryHeapCount; i++)
    if (facts->memory.memoryHeaps[i].size > heap) heap = facts->memory.memoryHeaps[i].size;
  if (facts->max_buffer_bytes > heap) facts->max_buffer_bytes = heap;
  if (facts->max_buffer_bytes > facts->maintenance3.maxMemoryAllocationSize)
    facts->max_buffer_bytes = facts->maintenance3.maxMemoryAllocationSize;
  facts->max_buffer_bytes &= ~UINT64_C(15);
}

static void ask_queues_and_memory(const vyre_plugin *plugin, vulkan_facts *facts) {
  facts->family_count = VULKAN_MAX_FAMILIES;
  plugin->vk.vkGetPhysicalDeviceQueueFamilyProperties(facts->handle, &facts->family_count, facts->families);
  if (facts->family_count > VULKAN_MAX_FAMILIES) facts->family_count = VULKAN_MAX_FAMILIES;
  plugin->vk.vkGetPhysicalDeviceMemoryProperties(facts->handle, &facts->memory);
  if (facts->memory.memoryTypeCount > VK_MAX_MEMORY_TYPES) facts->memory.memoryTypeCount = VK_MAX_MEMORY_TYPES;
  if (facts->memory.memoryHeapCount > VK_MAX_MEMORY_HEAPS) facts->memory.memoryHeapCount = VK_MAX_MEMORY_HEAPS;
  limit_buffers(facts);
}

VkBufferUsageFlags vulkan_buffer_usage(uint64_t features) {
  const VkBufferUsageFlags address = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  return VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
         VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
         ((features & VULKAN_BIT(ADDRESS)) != 0 ? address : 0);
}

/* An extension alone does not say that buffers can come and go by it. */
static VkExternalMemoryFeatureFlags outside_of(const vyre_plugin *plugin, const vulkan_facts *facts,
                                               VkExternalMemoryHandleTypeFlagBits kind) {
  const VkPhysicalDeviceExternalBufferInfo info = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
                                                    .usage = vulkan_buffer_usage(facts->features),
                                                    .handleType = kind };
  VkExternalBufferProperties out = { .sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES };
  plugin->vk.vkGetPhysicalDeviceExternalBufferProperties(facts->handle, &info, &out);
  return out.externalMemoryProperties.externalMemoryFeatures;
}

static void ask_outside(const vyre_plugin *plugin, vulkan_facts *facts) {
  if (facts->has[VULKAN_EXTERNAL_HOST])
    facts->has[VULKAN_EXTERNAL_HOST] =
      facts->external_host.minImportedHostPointerAlignment > 0 &&
      (outside_of(plugin, facts, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT) &
       VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
  if (!facts->has[VULKAN_EXTERNAL_FD]) return;
  VkExternalMemoryFeatureFlags fd = outside_of(plugin, facts, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
  facts->has[VULKAN_EXTERNAL_FD] = (fd & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
  facts->exports = (fd & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) != 0 &&
                   gpu_configured(plugin->host, "exports", 0) != 0;
}

static bool can_compute(const vulkan_facts *facts) {
  for (uint32_t i = 0; i < facts->family_count; i++)
    if ((facts->families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0 && facts->families[i].queueCount > 0) return true;
  return false;
}

/* ---- The list -------------------------------------------------------------------------------- */

/* A status of its own says that a device can't be used; that is no reason to give up the others. */
static vyre_status learn(const vyre_plugin *plugin, vulkan_facts *facts, vyre_error *error) {
  VkPhysicalDeviceProperties2 first = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2 };
  names extensions = { .data = NULL };
  plugin->vk.vkGetPhysicalDeviceProperties2(facts->handle, &first);
  facts->properties = first.properties;
  facts->properties.deviceName[sizeof facts->properties.deviceName - 1] = 0;
  const char *name = facts->properties.deviceName;
  uint32_t version = facts->properties.apiVersion;
  if (version < VK_API_VERSION_1_1)
    return gpu_fail(error, VYRE_ERR_TOO_OLD, name,
                    "Its driver has Vulkan %u.%u; 1.1 is needed. Fix: install a newer driver.",
                    VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
  facts->api = version < plugin->api ? VK_MAKE_API_VERSION(0, 1, VK_API_VERSION_MINOR(version), 0) : plugin->api;
  vyre_status status = list_extensions(plugin, facts, &extensions, error);
  if (status != VYRE_OK) return status;
  find_extensions(facts, &extensions);
  free(extensions.data);
  ask_features(plugin, facts);
  ask_properties(plugin, facts);
  ask_queues_and_memory(plugin, facts);
  ask_outside(plugin, facts);
  if (!can_compute(facts))
    return gpu_fail(error, VYRE_ERR_NO_DEVICE, name,
                    "It has no queue that computes. Fix: choose another device or driver.");
  if (facts->max_buffer_bytes == 0)
    return gpu_fail(error, VYRE_ERR_NO_DEVICE, name, "It has no memory. Fix: choose another device or driver.");
  vulkan_describe(facts);
  return VYRE_OK;
}

static uint32_t order_of(const vulkan_facts *facts) {
  switch (facts->properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
    default: return 3;
  }
}

/* Kept in the driver's order where the kind is the same. */
static void insert(vyre_plugin *plugin, const vulkan_facts *facts) {
  uint32_t at = plugin->device_count++;
  for (; at > 0 && order_of(&plugin->devices[at - 1]) > order_of(facts); at--)
    plugin->devices[at] = plugin->devices[at - 1];
  plugin->devices[at] = *facts;
}

static vyre_status no_device(vyre_error *error) {
  return gpu_fail(error, VYRE_ERR_NO_DEVICE, gpu_name,
                  "The Vulkan loader works, and no driver offers a device. Fix: install a Vulkan driver for the device "
                  "(Debian: mesa-vulkan-drivers), or give the user access to it.");
}

static vyre_status learn_all(vyre_plugin *plugin, const VkPhysicalDevice *handles, uint32_t count,
                             vyre_error *error) {
  vyre_status status = VYRE_OK;
  plugin->devices = calloc(count, sizeof *plugin->devices);
  if (plugin->devices == NULL) return gpu_no_memory(error);
  for (uint32_t i = 0; i < count; i++) {
    vulkan_facts facts = { .handle = handles[i] };
    vyre_error why = VYRE_ERROR_INIT;
    status = learn(plugin, &facts, &why);
    if (status == VYRE_OK) {
      insert(plugin, &facts);
      continue;
    }
    gpu_log(plugin->host, VYRE_LOG_INFO, "device", "%s is left out: %s", facts.properties.deviceName, why.text);
    if (status == VYRE_ERR_NO_MEMORY || (i + 1 == count && plugin->device_count == 0))
      return gpu_fail_vendor(error, status, why.vendor_code, why.where, "%s", why.text);
  }
  return VYRE_OK;
}

vyre_status vulkan_facts_list(vyre_plugin *plugin, vyre_error *error) {
  enum { MOST = 64 };
  VkPhysicalDevice handles[MOST];
  uint32_t count = MOST;
  VkResult result = plugin->vk.vkEnumeratePhysicalDevices(plugin->instance, &count, handles);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE)
    return vulkan_answer(result, gpu_name, "vkEnumeratePhysicalDevices", error);
  if (count == 0) return no_device(error);
  return learn_all(plugin, handles, count, error);
}
