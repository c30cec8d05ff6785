/* The Vulkan library, opened at run time, and its entry points. */
#ifndef VULKAN_API_H
#define VULKAN_API_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include "plugins/gpu/answer.h"

/* Entry points under their own names: api->vkCreateBuffer(...). Those of the levels that have been loaded are set; an
 * optional one may be NULL, and is not where the feature that brings it is enabled. */
typedef struct vulkan_api {
#define X(name, level, since, need) PFN_##name name;
#include "plugins/vulkan/entries.def"
#undef X
} vulkan_api;

typedef struct vulkan_library {
  void *handle;
  char path[256]; /* of the file that was opened, for messages */
  PFN_vkGetInstanceProcAddr find;
} vulkan_library;

/* Opens libvulkan.so.1, or the file that the setting `library` names, and finds the global entry points.
 * Errors: LIBRARY_ABSENT, TOO_OLD (a loader of Vulkan 1.0), BROKEN_PLUGIN (an entry point is not there). */
vyre_status vulkan_library_open(const vyre_host *host, vulkan_library *library, vulkan_api *api, vyre_error *error);
void vulkan_library_close(vulkan_library *library);
vyre_status vulkan_api_instance(const vulkan_library *library, VkInstance instance, vulkan_api *api,
                                vyre_error *error);
/* |api| has the instance's; |name| is the device's, for messages. */
vyre_status vulkan_api_device(VkDevice device, const char *name, vulkan_api *api, vyre_error *error);

#endif
