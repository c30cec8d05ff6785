/* The plugin, its devices and its buffers: what every part of the Vulkan backend sees.
 *
 * instance.c has the plugin, result.c answers of Vulkan, facts.c what a physical device is, describe.c its record,
 * device.c its use, memory.c blocks of device memory, buffer.c buffers, selftest.c the numeric self-test. Work is the other half: executable.c, set.c,
 * batch.c, queue.c, timeline.c, complete.c. Nothing here counts references: libvyre destroys an object when nothing
 * uses it. */
#ifndef VULKAN_VULKAN_H
#define VULKAN_VULKAN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "plugins/vulkan/api.h"

/* Made when it is built: a digest of the sources. */
extern const char vulkan_build_id[];

enum { VULKAN_MAX_FAMILIES = 16, VULKAN_MAX_QUEUES = 32 };

/* ---- What a physical device is --------------------------------------------------------------- */

/* Numbers of optional features; VULKAN_HAS asks a device or its facts for one. */
enum vulkan_feature {
#define FEATURE(name, spelling, structure, member) VULKAN_##name,
#include "plugins/vulkan/features.def"
  VULKAN_FEATURE_COUNT
};
#define VULKAN_BIT(feature) (UINT64_C(1) << VULKAN_##feature)
#define VULKAN_HAS(of, feature) (((of)->features & VULKAN_BIT(feature)) != 0)

/* Extensions that bring no feature. */
enum vulkan_extension {
  VULKAN_EXTERNAL_HOST,
  VULKAN_EXTERNAL_FD,
  VULKAN_PCI,
  VULKAN_DRIVER_PROPERTIES, /* this and the next two are set too where the core has them */
  VULKAN_FLOAT_CONTROLS,
  VULKAN_SPIRV_1_4,
  VULKAN_PORTABILITY,
  VULKAN_EXTENSION_COUNT
};

typedef struct vulkan_facts {
  VkPhysicalDevice handle;
  uint32_t api;           /* VK_API_VERSION_1_x that it is used with: the lower of the device's, the loader's and 1.3 */
  uint64_t features;      /* VULKAN_BIT of those that exist and are not switched off by the setting `without` */
  uint32_t structures;    /* bit 1 << number of the structures of features.def that it knows */
  bool has[VULKAN_EXTENSION_COUNT];
  VkPhysicalDeviceProperties properties; /* limits are properties.limits */
  VkPhysicalDeviceIDProperties id;
  VkPhysicalDeviceMaintenance3Properties maintenance3; /* maxMemoryAllocationSize */
  VkPhysicalDeviceSubgroupProperties subgroup;
  VkPhysicalDeviceSubgroupSizeControlProperties sizes; /* all 0 without SIZE_CONTROL */
  VkPhysicalDeviceFloatControlsProperties floats;      /* all 0 without them */
  VkPhysicalDeviceDriverProperties driver;             /* all 0 without them */
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci;
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT external_host;
  VkPhysicalDeviceMemoryProperties memory;
  VkQueueFamilyProperties families[VULKAN_MAX_FAMILIES];
  uint32_t family_count;
  bool exports;                /* new memory may leave as a file descriptor */
  uint64_t max_buffer_bytes;   /* of one VkBuffer; a binding through a descriptor has limits.maxStorageBufferRange */
  vyre_capabilities caps;      /* without numeric promises until the self-test has run */
  bool exactly; /* the setting */
  bool tested;
} vulkan_facts;

/* Whether a pipeline has to say which size its subgroups have: there are several, and it may. */
static inline bool vulkan_requires_size(const vulkan_facts *facts) {
  return VULKAN_HAS(facts, SIZE_CONTROL) && (facts->sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
         facts->sizes.minSubgroupSize != facts->sizes.maxSubgroupSize;
}

/* ---- Plugin ---------------------------------------------------------------------------------- */

struct vyre_plugin {
  const vyre_host *host;
  vulkan_library library;
  vulkan_api vk;            /* global and instance level */
  VkInstance instance;
  VkDebugUtilsMessengerEXT messenger; /* with validation */
  uint32_t api;             /* version of the loader, at most 1.3 */
  vulkan_facts *devices;
  uint32_t device_count;
  pthread_mutex_t lock;     /* of describing devices */
};

/* ---- Device ---------------------------------------------------------------------------------- */

/* A VkQueue. Every use of the handle holds the lock. */
typedef struct vulkan_queue {
  VkQueue handle;
  uint32_t family;
  VkQueueFlags flags;       /* of its family */
  uint32_t timestamp_bits;  /* of its family; 0 if it has no timestamps */
  pthread_mutex_t lock;
} vulkan_queue;

/* A piece of device memory; memory.c. */
typedef struct vulkan_block vulkan_block;
typedef struct vulkan_memory {
  vulkan_block *block;      /* NULL: none */
  uint64_t offset, bytes;   /* inside the block's VkDeviceMemory */
  struct vulkan_memory *before, *after; /* its neighbours in the block: it stays where it is while it is in use */
} vulkan_memory;

typedef struct vulkan_pool {
  pthread_mutex_t lock;
  vulkan_block *blocks;     /* all that exist, the newest first */
  uint32_t allocations;     /* how many, at most limits.maxMemoryAllocationCount */
} vulkan_pool;

/* Commands that the plugin itself runs and waits for, such as zeroing; buffer.c. */
typedef struct vulkan_internal {
  pthread_mutex_t lock;
  VkCommandPool pool;
  VkCommandBuffer commands;
  VkFence fence;
} vulkan_internal;

/* What the work half keeps for a device; queue.c. */
typedef struct vulkan_work vulkan_work;

struct vyre_plugin_device {
  vyre_plugin *plugin;
  const vyre_host *host;
  const vulkan_facts *facts;
  uint64_t features;        /* VULKAN_BIT of those that are enabled */
  vulkan_api vk;            /* all levels; device entry points are the device's own */
  VkDevice handle;
  pid_t process;            /* that opened it */
  atomic_uchar *in_process; /* a page that is 0 in a child of it; NULL where the kernel can't do that */
  atomic_bool lost;
  /* Those that can compute come first, families without graphics before others; then those that only copy. */
  vulkan_queue queues[VULKAN_MAX_QUEUES];
  uint32_t queue_count, compute_count;
  uint32_t families[VULKAN_MAX_FAMILIES]; /* indices of those that queues are of: buffers are shared by all of them */
  uint32_t family_count;
  vulkan_pool memory;
  vulkan_internal internal;
  vulkan_work *work;
};

/* Maps a result to a status. VK_SUCCESS is OK; VK_TIMEOUT TIMEOUT; VK_NOT_READY NOT_READY; out of memory NO_MEMORY;
 * VK_ERROR_DEVICE_LOST makes the loss sticky and wakes whoever waits. |call| names the call in the text. */
vyre_status vulkan_check(vyre_plugin_device *device, VkResult result, const char *call, vyre_error *error);
/* The same without a device, for calls of |where|. */
vyre_status vulkan_answer(VkResult result, const char *where, const char *call, vyre_error *error);
/* Makes it lost: |call| left the device in a state that nobody knows. Any thread. */
void vulkan_lose(vyre_plugin_device *device, const char *call);
/* At the begin of every slot: FORKED in a child, DEVICE_LOST once lost, else OK. */
vyre_status vulkan_alive(vyre_plugin_device *device, vyre_error *error);
/* Name of a VkResult, "VK_ERROR_DEVICE_LOST"; "VkResult" for a number that is none. */
const char *vulkan_result_name(VkResult result);

/* ---- Memory and buffers ---------------------------------------------------------------------- */

struct vyre_plugin_buffer {
  vyre_plugin_device *device;
  VkBuffer handle;          /* made with every usage: storage, uniform, indirect, transfer, address */
  uint64_t bytes;           /* as asked for; the handle's size is a multiple of 16 */
  uint64_t address;         /* VkDeviceAddress; 0 without buffer_device_address */
  uint8_t *host;            /* persistent map; NULL where the host does not reach it */
  bool coherent;            /* needs no flush and no invalidate */
  uint32_t kind;            /* VYRE_HANDLE_* that it was imported from */
  vulkan_memory memory;
};

/* A buffer of the plugin's own in the best memory with |properties| (VYRE_MEMORY_*), zeroed.
 * HOST_WRITE | COHERENT always exists, and so does DEVICE_LOCAL; HOST_READ is given by uncached memory where nothing
 * better exists. Errors: NO_MEMORY, LIMIT, UNSUPPORTED, DEVICE_LOST. */
vyre_status vulkan_buffer_make(vyre_plugin_device *device, uint32_t properties, uint64_t bytes,
                               vyre_plugin_buffer **out, vyre_error *error);

/* ---- Slots of the table ---------------------------------------------------------------------- */

vyre_status vulkan_probe(const vyre_host *host, vyre_error *error);
vyre_status vulkan_open(const vyre_host *host, vyre_plugin **out, vyre_error *error);
void vulkan_close(vyre_plugin *plugin);
vyre_status vulkan_device_count(vyre_plugin *plugin, uint32_t *count, vyre_error *error);
vyre_status vulkan_device_describe(vyre_plugin *plugin, uint32_t index, vyre_capabilities *out, vyre_error *error);
vyre_status vulkan_device_open(vyre_plugin *plugin, uint32_t index, vyre_plugin_device **out, vyre_error *error);
void vulkan_device_close(vyre_plugin_device *device);

vyre_status vulkan_buffer_create(vyre_plugin_device *device, const vyre_buffer_request *request,
                                 vyre_plugin_buffer **out, vyre_error *error);
void vulkan_buffer_destroy(vyre_plugin_buffer *buffer);
vyre_status vulkan_buffer_map(vyre_plugin_buffer *buffer, void **out, vyre_error *error);
vyre_status vulkan_buffer_flush(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error);
vyre_status vulkan_buffer_invalidate(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error);
vyre_status vulkan_buffer_export(vyre_plugin_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error);

/* The work half. */
vyre_status vulkan_work_open(vyre_plugin_device *device, vyre_error *error); /* fills device->work; last step of opening */
void vulkan_work_close(vyre_plugin_device *device);                          /* device->work may be NULL */
void vulkan_work_lost(vyre_plugin_device *device); /* the device was just lost, from any thread: wake who waits */
vyre_status vulkan_executable_load(vyre_plugin_device *device, const void *blob, uint64_t bytes,
                                   vyre_plugin_executable **out, vyre_error *error);
void vulkan_executable_destroy(vyre_plugin_executable *executable);
vyre_status vulkan_executable_report(vyre_plugin_executable *executable, vyre_launch_report *out, vyre_error *error);
vyre_status vulkan_max_resident(vyre_plugin_executable *executable, uint64_t *workgroups, vyre_error *error);
vyre_status vulkan_set_create(vyre_plugin_executable *executable, const vyre_set_request *request,
                              vyre_plugin_set **out, vyre_error *error);
void vulkan_set_destroy(vyre_plugin_set *set);
vyre_status vulkan_batch_create(vyre_plugin_device *device, const vyre_command *commands, uint64_t count,
                                vyre_plugin_batch **out, vyre_error *error);
void vulkan_batch_destroy(vyre_plugin_batch *batch);
vyre_status vulkan_queue_create(vyre_plugin_device *device, uint32_t flags, vyre_plugin_queue **out,
                                vyre_error *error);
void vulkan_queue_destroy(vyre_plugin_queue *queue);
vyre_status vulkan_submit(vyre_plugin_queue *queue, const vyre_submit *submit, vyre_error *error);
vyre_status vulkan_timeline_create(vyre_plugin_device *device, uint64_t value, vyre_plugin_timeline **out,
                                   vyre_error *error);
void vulkan_timeline_destroy(vyre_plugin_timeline *timeline);
vyre_status vulkan_timeline_value(vyre_plugin_timeline *timeline, uint64_t *value, vyre_error *error);
vyre_status vulkan_timeline_signal(vyre_plugin_timeline *timeline, uint64_t value, vyre_error *error);
vyre_status vulkan_timeline_wait(vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns,
                                 vyre_error *error);
/* Tags of `native`: device HANDLE, PHYSICAL, INSTANCE; buffer HANDLE, ADDRESS; queue HANDLE, executable HANDLE (the
 * VkPipeline of its first entry point). */
enum { VULKAN_TAG_HANDLE = 0, VULKAN_TAG_PHYSICAL = 1, VULKAN_TAG_INSTANCE = 2, VULKAN_TAG_ADDRESS = 3 };
/* Those of the work half's objects. */
vyre_status vulkan_native_work(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error);

#endif
