/* The structures of features.def as one chain: to ask a device for its features, and to switch them on. */
#ifndef VULKAN_CHAIN_H
#define VULKAN_CHAIN_H

#include "plugins/vulkan/vulkan.h"

enum vulkan_structure {
#define STRUCTURE(member, type, stype, since, extension) VULKAN_STRUCTURE_##member,
#include "plugins/vulkan/features.def"
  VULKAN_STRUCTURE_COUNT
};

typedef struct vulkan_chain {
  VkPhysicalDeviceFeatures2 base;
#define STRUCTURE(member, type, stype, since, extension) type member;
#include "plugins/vulkan/features.def"
} vulkan_chain;

/* The record of a structure: version that has it, and extension that has it before. */
typedef struct vulkan_structure_source {
  uint32_t since; /* VK_API_VERSION_1_x, or UINT32_MAX */
  const char *extension;
} vulkan_structure_source;
extern const vulkan_structure_source vulkan_structures[VULKAN_STRUCTURE_COUNT];

/* Clears the chain and links those structures of which |structures| has the bit. */
void vulkan_chain_link(vulkan_chain *chain, uint32_t structures);
uint64_t vulkan_chain_features(const vulkan_chain *chain);
void vulkan_chain_enable(vulkan_chain *chain, uint64_t features);
/* Features that go with |features|: what is of no use or not allowed without another is left out. */
uint64_t vulkan_features_usable(uint64_t features);
/* Features that a list such as "timeline_semaphore, int64" names; what it names in vain is logged. */
uint64_t vulkan_features_named(const vyre_host *host, const char *list);

/* Extensions by number, for facts.c and device.c. */
typedef struct vulkan_extension_source {
  const char *name;
  uint32_t since; /* version whose core has it, or UINT32_MAX */
} vulkan_extension_source;
extern const vulkan_extension_source vulkan_extensions[VULKAN_EXTENSION_COUNT];

#endif
