/* How the entry points of the fake Vulkan are found: one export, through which all others are asked for. The export is
 * an indirect function, so that a script can take away even that. */
#include "vulkan.h"

#ifdef FAKE_HAS_VULKAN
#include <string.h>

static const fake_code codes[] = {
#define X(name) { #name, name },
    X(VK_SUCCESS) X(VK_NOT_READY) X(VK_TIMEOUT) X(VK_INCOMPLETE) X(VK_ERROR_OUT_OF_HOST_MEMORY)
        X(VK_ERROR_OUT_OF_DEVICE_MEMORY) X(VK_ERROR_INITIALIZATION_FAILED) X(VK_ERROR_DEVICE_LOST)
            X(VK_ERROR_MEMORY_MAP_FAILED) X(VK_ERROR_LAYER_NOT_PRESENT) X(VK_ERROR_EXTENSION_NOT_PRESENT)
                X(VK_ERROR_FEATURE_NOT_PRESENT) X(VK_ERROR_INCOMPATIBLE_DRIVER) X(VK_ERROR_TOO_MANY_OBJECTS)
                    X(VK_ERROR_FRAGMENTED_POOL) X(VK_ERROR_UNKNOWN) X(VK_ERROR_OUT_OF_POOL_MEMORY)
                        X(VK_ERROR_FRAGMENTATION) X(VK_PIPELINE_COMPILE_REQUIRED)
#undef X
                            {NULL, 0}};

uint32_t vk_api(void) { return (uint32_t)fake_number("api", 13); }

typedef enum level { GLOBAL, INSTANCE, DEVICE } level;

static const struct {
  const char *name;
  level level;
  uint32_t since;
  PFN_vkVoidFunction function;
} entries[] = {
#define X(name, of_level, since_version) { #name, of_level, since_version, (PFN_vkVoidFunction)(void *)name },
#include "vulkan_entries.def"
#undef X
};

static PFN_vkVoidFunction find(const char *name, level least, level most) {
  if (fake_is_absent(name)) return NULL;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    if (strcmp(entries[i].name, name) != 0 || entries[i].since > vk_api()) continue;
    return entries[i].level >= least && entries[i].level <= most ? entries[i].function : NULL;
  }
  return NULL;
}

PFN_vkVoidFunction vkGetDeviceProcAddr(VkDevice device, const char *name) {
  COUNT(vkGetDeviceProcAddr);
  return device != NULL ? find(name, DEVICE, DEVICE) : NULL;
}

static PFN_vkVoidFunction find_from_instance(VkInstance instance, const char *name) {
  COUNT(vkGetInstanceProcAddr);
  if (strcmp(name, "vkGetInstanceProcAddr") == 0) return (PFN_vkVoidFunction)(void *)find_from_instance;
  return instance != NULL ? find(name, INSTANCE, DEVICE) : find(name, GLOBAL, GLOBAL);
}

__attribute__((used)) static PFN_vkGetInstanceProcAddr find_the_export(void) {
  fake_begin("FAKE_VULKAN", codes);
  return fake_is_absent("vkGetInstanceProcAddr") ? NULL : find_from_instance;
}

FAKE_EXPORT PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name)
    __attribute__((ifunc("find_the_export")));
#endif
