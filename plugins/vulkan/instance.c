/* The plugin's instance of Vulkan: probing, opening, validation layers. */
#include <stdlib.h>
#include <string.h>

#include "plugins/vulkan/facts.h"

const char gpu_name[] = "vulkan";

/* ---- Validation ------------------------------------------------------------------------------ */

/* Values of the setting `validation`. */
enum { VALIDATE_NOT = 0, VALIDATE = 1, VALIDATE_ORDER = 2 };

static const char layer_name[] = "VK_LAYER_KHRONOS_validation";
static const char messenger_name[] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;

/* Called by the layers on any thread. Messages say what the plugin did wrong, not what a user did. */
static VKAPI_ATTR VkBool32 VKAPI_CALL pass_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                   VkDebugUtilsMessageTypeFlagsEXT types,
                                                   const VkDebugUtilsMessengerCallbackDataEXT *data, void *ctx) {
  const vyre_host *host = ctx;
  (void)types;
  uint32_t level = severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT     ? VYRE_LOG_ERROR
                   : severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT ? VYRE_LOG_WARNING
                                                                                 : VYRE_LOG_DEBUG;
  gpu_log(host, level, "validation", "%s", data->pMessage != NULL ? data->pMessage : "a message without text");
  return VK_FALSE;
}

static VkDebugUtilsMessengerCreateInfoEXT messenger_info(const vyre_host *host) {
  return (VkDebugUtilsMessengerCreateInfoEXT){
    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
    .messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                   VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
    .pfnUserCallback = pass_message,
    .pUserData = (void *)(uintptr_t)host,
  };
}

static bool has_layer(const vulkan_api *vk) {
  enum { MOST = 64 };
  VkLayerProperties layers[MOST];
  uint32_t count = MOST;
  VkResult result = vk->vkEnumerateInstanceLayerProperties(&count, layers);
  for (uint32_t i = 0; (result == VK_SUCCESS || result == VK_INCOMPLETE) && i < count; i++)
    if (strcmp(layers[i].layerName, layer_name) == 0) return true;
  return false;
}

static bool has_extension(const vulkan_api *vk, const char *layer, const char *name) {
  enum { MOST = 64 };
  VkExtensionProperties extensions[MOST];
  uint32_t count = MOST;
  VkResult result = vk->vkEnumerateInstanceExtensionProperties(layer, &count, extensions);
  for (uint32_t i = 0; (result == VK_SUCCESS || result == VK_INCOMPLETE) && i < count; i++)
    if (strcmp(extensions[i].extensionName, name) == 0) return true;
  return false;
}

static uint64_t wanted_validation(const vyre_host *host, const vulkan_api *vk) {
  uint64_t wanted = gpu_configured(host, "validation", VALIDATE_NOT);
  if (wanted == VALIDATE_NOT) return wanted;
  if (has_layer(vk) && (has_extension(vk, layer_name, messenger_name) || has_extension(vk, NULL, messenger_name)))
    return wanted;
  gpu_log(host, VYRE_LOG_WARNING, "validation",
          "The setting %s.validation is on, and the layer %s is not installed: nothing is validated. Fix: install it "
          "(Debian: vulkan-validationlayers).",
          gpu_name, layer_name);
  return VALIDATE_NOT;
}

/* ---- Instance -------------------------------------------------------------------------------- */

static vyre_status create_instance(vyre_plugin *plugin, uint64_t validation, vyre_error *error) {
  const VkValidationFeatureEnableEXT order = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  const VkValidationFeaturesEXT checks = { .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                           .enabledValidationFeatureCount = 1,
                                           .pEnabledValidationFeatures = &order };
  VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(plugin->host);
  if (validation == VALIDATE_ORDER) messenger.pNext = &checks;
  const VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                          .pApplicationName = "vyre",
                                          .pEngineName = "vyre",
                                          .apiVersion = plugin->api };
  const char *const layer = layer_name;
  const char *extensions[2];
  VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                .pApplicationInfo = &application,
                                .ppEnabledLayerNames = &layer,
                                .ppEnabledExtensionNames = extensions };
  if (validation != VALIDATE_NOT) {
    info.pNext = &messenger;
    info.enabledLayerCount = 1;
    extensions[info.enabledExtensionCount++] = messenger_name;
  }
  if (has_extension(&plugin->vk, NULL, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    extensions[info.enabledExtensionCount++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
  }
  VkResult result = plugin->vk.vkCreateInstance(&info, NULL, &plugin->instance);
  if (result == VK_SUCCESS) return VYRE_OK;
  plugin->instance = VK_NULL_HANDLE;
  return vulkan_answer(result, plugin->library.path, "vkCreateInstance", error);
}

static vyre_status create_messenger(vyre_plugin *plugin, uint64_t validation, vyre_error *error) {
  if (validation == VALIDATE_NOT || plugin->vk.vkCreateDebugUtilsMessengerEXT == NULL) return VYRE_OK;
  const VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(plugin->host);
  VkResult result =
    plugin->vk.vkCreateDebugUtilsMessengerEXT(plugin->instance, &info, NULL, &plugin->messenger);
  return vulkan_answer(result, plugin->library.path, "vkCreateDebugUtilsMessengerEXT", error);
}

static vyre_status start(vyre_plugin *plugin, vyre_error *error) {
  vyre_status status = vulkan_library_open(plugin->host, &plugin->library, &plugin->vk, error);
  if (status != VYRE_OK) return status;
  uint32_t version = VK_API_VERSION_1_1;
  plugin->vk.vkEnumerateInstanceVersion(&version);
  plugin->api = version < VK_API_VERSION_1_3 ? VK_MAKE_API_VERSION(0, 1, VK_API_VERSION_MINOR(version), 0)
                                             : VK_API_VERSION_1_3;
  uint64_t validation = wanted_validation(plugin->host, &plugin->vk);
  status = create_instance(plugin, validation, error);
  if (status == VYRE_OK) status = vulkan_api_instance(&plugin->library, plugin->instance, &plugin->vk, error);
  if (status == VYRE_OK) status = create_messenger(plugin, validation, error);
  return status == VYRE_OK ? vulkan_facts_list(plugin, error) : status;
}

vyre_status vulkan_probe(const vyre_host *host, vyre_error *error) {
  vulkan_library library;
  vulkan_api vk;
  vyre_status status = vulkan_library_open(host, &library, &vk, error);
  if (status == VYRE_OK) vulkan_library_close(&library);
  return status;
}

vyre_status vulkan_open(const vyre_host *host, vyre_plugin **out, vyre_error *error) {
  *out = NULL;
  vyre_plugin *plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return gpu_no_memory(error);
  plugin->host = host;
  pthread_mutex_init(&plugin->lock, NULL);
  vyre_status status = start(plugin, error);
  if (status == VYRE_OK) *out = plugin;
  else vulkan_close(plugin);
  return status;
}

void vulkan_close(vyre_plugin *plugin) {
  if (plugin->messenger != VK_NULL_HANDLE)
    plugin->vk.vkDestroyDebugUtilsMessengerEXT(plugin->instance, plugin->messenger, NULL);
  if (plugin->instance != VK_NULL_HANDLE && plugin->vk.vkDestroyInstance != NULL)
    plugin->vk.vkDestroyInstance(plugin->instance, NULL);
  vulkan_library_close(&plugin->library);
  pthread_mutex_destroy(&plugin->lock);
  free(plugin->devices);
  free(plugin);
}
