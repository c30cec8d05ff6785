/* Opens the Vulkan library and finds its entry points. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "plugins/vulkan/api.h"

enum { GLOBAL, INSTANCE, DEVICE };
enum { REQUIRED, OPTIONAL };

/* Where each entry point lies in the table, and what is known of it. */
static const struct entry {
  const char *name;
  uint32_t offset;
  uint8_t level, since, need;
} entries[] = {
#define X(name, level, since, need) { #name, offsetof(vulkan_api, name), level, since, need },
#include "plugins/vulkan/entries.def"
#undef X
};
enum { ENTRY_COUNT = sizeof entries / sizeof *entries };

typedef PFN_vkVoidFunction (*find_fn)(const void *from, const char *name);

static PFN_vkVoidFunction find_in_instance(const void *from, const char *name) {
  const struct { PFN_vkGetInstanceProcAddr find; VkInstance instance; } *f = from;
  return f->find(f->instance, name);
}

static PFN_vkVoidFunction find_in_device(const void *from, const char *name) {
  const struct { PFN_vkGetDeviceProcAddr find; VkDevice device; } *f = from;
  return f->find(f->device, name);
}

/* What came into the core after 1.1 an older driver may have under the name of its extension. */
static PFN_vkVoidFunction find_entry(const struct entry *e, find_fn find, const void *from) {
  PFN_vkVoidFunction fn = find(from, e->name);
  if (fn != NULL || e->since <= 11 || e->since == 99) return fn;
  char name[64];
  snprintf(name, sizeof name, "%sKHR", e->name);
  return find(from, name);
}

static vyre_status find_level(uint8_t level, find_fn find, const void *from, const char *who, vulkan_api *api,
                              vyre_error *error) {
  for (uint32_t i = 0; i < ENTRY_COUNT; i++) {
    const struct entry *e = &entries[i];
    if (e->level != level) continue;
    PFN_vkVoidFunction fn = find_entry(e, find, from);
    if (fn == NULL && e->need == REQUIRED)
      return gpu_fail(error, VYRE_ERR_BROKEN_PLUGIN, who,
                      "It lacks %s, which Vulkan 1.%u has. Fix: install the Vulkan loader and driver of your system "
                      "again.",
                      e->name, e->since - 10u);
    memcpy((uint8_t *)api + e->offset, &fn, sizeof fn);
  }
  return VYRE_OK;
}

/* ---- Library --------------------------------------------------------------------------------- */

static vyre_status absent(const char *name, const char *why, vyre_error *error) {
  return gpu_fail(error, VYRE_ERR_LIBRARY_ABSENT, gpu_name,
                  "The Vulkan loader %s can not be opened: %s. Fix: install it (Debian: libvulkan1), or name its file "
                  "as library in [backend vulkan].",
                  name, why);
}

static vyre_status check_version(const vulkan_library *library, const vulkan_api *api, vyre_error *error) {
  uint32_t version = 0;
  VkResult result = api->vkEnumerateInstanceVersion(&version);
  if (result != VK_SUCCESS)
    return gpu_fail_vendor(error, VYRE_ERR_NO_MEMORY, result, library->path,
                           "vkEnumerateInstanceVersion answers %d. Fix: free memory.", result);
  if (version >= VK_API_VERSION_1_1) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_TOO_OLD, library->path,
                  "The loader has Vulkan %u.%u; 1.1 is needed. Fix: install a newer one.",
                  VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
}

/* A loader of Vulkan 1.0 has no vkEnumerateInstanceVersion. */
static vyre_status find_global(vulkan_library *library, vulkan_api *api, vyre_error *error) {
  void *address = dlsym(library->handle, "vkGetInstanceProcAddr");
  if (address == NULL)
    return gpu_fail(error, VYRE_ERR_BROKEN_PLUGIN, library->path,
                    "It has no vkGetInstanceProcAddr, so it is no Vulkan loader. Fix: name the right file as library "
                    "in [backend vulkan].");
  memcpy(&library->find, &address, sizeof address);
  if (library->find(NULL, "vkEnumerateInstanceVersion") == NULL)
    return gpu_fail(error, VYRE_ERR_TOO_OLD, library->path,
                    "The loader has Vulkan 1.0; 1.1 is needed. Fix: install a newer one.");
  const struct { PFN_vkGetInstanceProcAddr find; VkInstance instance; } from = { library->find, NULL };
  vyre_status status = find_level(GLOBAL, find_in_instance, &from, library->path, api, error);
  return status == VYRE_OK ? check_version(library, api, error) : status;
}

vyre_status vulkan_library_open(const vyre_host *host, vulkan_library *library, vulkan_api *api, vyre_error *error) {
  *library = (vulkan_library){ .handle = NULL };
  *api = (vulkan_api){ .vkCreateInstance = NULL };
  if (!gpu_setting(host, "library", library->path, sizeof library->path))
    snprintf(library->path, sizeof library->path, "libvulkan.so.1");
  library->handle = dlopen(library->path, RTLD_NOW | RTLD_LOCAL);
  if (library->handle == NULL) {
    const char *why = dlerror();
    return absent(library->path, why != NULL ? why : "no reason is given", error);
  }
  vyre_status status = find_global(library, api, error);
  if (status != VYRE_OK) vulkan_library_close(library);
  return status;
}

void vulkan_library_close(vulkan_library *library) {
  if (library->handle != NULL) dlclose(library->handle);
  library->handle = NULL;
}

vyre_status vulkan_api_instance(const vulkan_library *library, VkInstance instance, vulkan_api *api,
                                vyre_error *error) {
  const struct { PFN_vkGetInstanceProcAddr find; VkInstance instance; } from = { library->find, instance };
  return find_level(INSTANCE, find_in_instance, &from, library->path, api, error);
}

vyre_status vulkan_api_device(VkDevice device, const char *name, vulkan_api *api, vyre_error *error) {
  const struct { PFN_vkGetDeviceProcAddr find; VkDevice device; } from = { api->vkGetDeviceProcAddr, device };
  return find_level(DEVICE, find_in_device, &from, name, api, error);
}
