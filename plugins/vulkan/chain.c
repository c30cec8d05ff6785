/* Features: the chain of structures, which need each other, and their names. */
#include "plugins/vulkan/chain.h"

#include <string.h>

#define VERSION_OF(since) ((since) == 99 ? UINT32_MAX : VK_MAKE_API_VERSION(0, (since) / 10, (since) % 10, 0))

const vulkan_structure_source vulkan_structures[VULKAN_STRUCTURE_COUNT] = {
#define STRUCTURE(member, type, stype, since, extension) { VERSION_OF(since), extension },
#include "plugins/vulkan/features.def"
};

const vulkan_extension_source vulkan_extensions[VULKAN_EXTENSION_COUNT] = {
  [VULKAN_EXTERNAL_HOST] = { "VK_EXT_external_memory_host", UINT32_MAX },
  [VULKAN_EXTERNAL_FD] = { "VK_KHR_external_memory_fd", UINT32_MAX },
  [VULKAN_PCI] = { "VK_EXT_pci_bus_info", UINT32_MAX },
  [VULKAN_DRIVER_PROPERTIES] = { "VK_KHR_driver_properties", VK_API_VERSION_1_2 },
  [VULKAN_FLOAT_CONTROLS] = { "VK_KHR_shader_float_controls", VK_API_VERSION_1_2 },
  [VULKAN_SPIRV_1_4] = { "VK_KHR_spirv_1_4", VK_API_VERSION_1_2 },
  [VULKAN_PORTABILITY] = { "VK_KHR_portability_subset", UINT32_MAX },
};

static const char *const feature_names[VULKAN_FEATURE_COUNT] = {
#define FEATURE(name, spelling, structure, member) spelling,
#include "plugins/vulkan/features.def"
};

void vulkan_chain_link(vulkan_chain *chain, uint32_t structures) {
  memset(chain, 0, sizeof *chain);
  chain->base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  void **end = &chain->base.pNext;
#define STRUCTURE(member, type, stype, since, extension)                     \
  chain->member.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##stype;           \
  if ((structures >> VULKAN_STRUCTURE_##member & 1) != 0) {                  \
    *end = &chain->member;                                                   \
    end = &chain->member.pNext;                                              \
  }
#include "plugins/vulkan/features.def"
  *end = NULL;
}

uint64_t vulkan_chain_features(const vulkan_chain *chain) {
  uint64_t features = 0;
#define FEATURE(name, spelling, structure, member) \
  if (chain->structure.member != VK_FALSE) features |= VULKAN_BIT(name);
#include "plugins/vulkan/features.def"
  return features;
}

void vulkan_chain_enable(vulkan_chain *chain, uint64_t features) {
#define FEATURE(name, spelling, structure, member) \
  chain->structure.member = (features & VULKAN_BIT(name)) != 0 ? VK_TRUE : VK_FALSE;
#include "plugins/vulkan/features.def"
}

uint64_t vulkan_features_usable(uint64_t features) {
  static const struct { uint64_t of, needs; } needs[] = {
    { VULKAN_BIT(MEMORY_MODEL), VULKAN_BIT(DEVICE_SCOPE) },
    { VULKAN_BIT(DEVICE_SCOPE), VULKAN_BIT(MEMORY_MODEL) },
    { VULKAN_BIT(FULL_SUBGROUPS), VULKAN_BIT(SIZE_CONTROL) },
    { VULKAN_BIT(ADDRESS), VULKAN_BIT(INT64) },
    { VULKAN_BIT(ATOMIC64), VULKAN_BIT(INT64) },
    { VULKAN_BIT(SHARED_ATOMIC64), VULKAN_BIT(INT64) },
    { VULKAN_BIT(DEVICE_CLOCK), VULKAN_BIT(INT64) },
  };
  for (uint32_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if ((features & needs[i].needs) == 0) features &= ~needs[i].of;
  return features;
}

static uint64_t feature_named(const char *name, size_t length) {
  for (uint32_t i = 0; i < VULKAN_FEATURE_COUNT; i++)
    if (strlen(feature_names[i]) == length && memcmp(feature_names[i], name, length) == 0) return UINT64_C(1) << i;
  return 0;
}

uint64_t vulkan_features_named(const vyre_host *host, const char *list) {
  uint64_t features = 0;
  for (;;) {
    list += strspn(list, " ,");
    size_t length = strcspn(list, " ,");
    if (length == 0) return features;
    uint64_t feature = feature_named(list, length);
    if (feature == 0)
      gpu_log(host, VYRE_LOG_WARNING, "settings",
              "`%.*s` in the setting %s.without is no feature that is known. Fix: correct it; the plugin's README has "
              "the names.",
              (int)(length < 64 ? length : 64), list, gpu_name);
    features |= feature;
    list += length;
  }
}
