/* What a device's floating point really does. */
#ifndef VULKAN_SELFTEST_H
#define VULKAN_SELFTEST_H

#include "plugins/vulkan/vulkan.h"

/* Completes facts->caps by numeric promises: those that the cache knows of this device and driver, or else those that a
 * run establishes. A device that can't be tested has none, and the log says why. Once for a device.
 * Errors: NO_MEMORY. */
vyre_status vulkan_selftest(vyre_plugin *plugin, vulkan_facts *facts, vyre_error *error);

#endif
