/* Finding the devices of an instance, and what each is. */
#ifndef VULKAN_FACTS_H
#define VULKAN_FACTS_H

#include "plugins/vulkan/vulkan.h"

/* Fills plugin->devices with those that can be used, real GPUs before processors, numeric promises not yet tested.
 * Errors: NO_DEVICE, TOO_OLD (the reason of the last one that was passed over), NO_MEMORY, ... */
vyre_status vulkan_facts_list(vyre_plugin *plugin, vyre_error *error);

/* Fills facts->caps from the rest. describe.c */
void vulkan_describe(vulkan_facts *facts);
/* The record of the profile "vulkan": what Vulkan 1.1 promises. */
void vulkan_describe_profile(vyre_capabilities *out);
/* Kinds of memory of a device that the record can tell apart, best first; at most VYRE_MAX_MEMORY_TYPES. */
uint32_t vulkan_memory_kinds(const vulkan_facts *facts, vyre_memory_type *out);
/* VYRE_MEMORY_* of a memory type of the device; 0 for one that is not used. */
uint32_t vulkan_memory_properties(const vulkan_facts *facts, uint32_t type);
/* What every buffer may be used for. */
VkBufferUsageFlags vulkan_buffer_usage(uint64_t features);
/* How good a memory type is for work that does not care: the lower the better. */
uint32_t vulkan_memory_rank(const vulkan_facts *facts, uint32_t type);

#endif
