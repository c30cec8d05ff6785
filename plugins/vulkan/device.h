/* Starting a device whose record is not complete yet, as the self-test does. */
#ifndef VULKAN_DEVICE_H
#define VULKAN_DEVICE_H

#include "plugins/vulkan/vulkan.h"

/* Errors: NO_MEMORY, DEVICE_LOST, what the driver says. */
vyre_status vulkan_device_start(vyre_plugin *plugin, const vulkan_facts *facts, vyre_plugin_device **out,
                                vyre_error *error);

#endif
