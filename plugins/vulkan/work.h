/* What runs on a device: executables, sets, batches, and what is under way.
 *
 * executable.c has loaded blobs, pipeline.c their pipelines, set.c binding sets, batch.c what a batch's commands need,
 * recording.c and record.c its command buffers, patch.c extents from the device, queue.c and lane.c submissions,
 * timeline.c timelines, complete.c what became of a submission.
 *
 * A batch is recorded into command buffers ahead. Each recording has memory of its own (diagnostics, launch blocks,
 * spill), so it is pending once at a time; a batch that is submitted again meanwhile gets another one, and a
 * submission that finds an idle one makes nothing.
 *
 * A lane is a VkQueue with its place in time: submissions have serial numbers on it, and one timeline semaphore (or a
 * fence each, where a device has none) tells how far it has come. Timelines of the ABI are numbers on the host; what
 * is to reach a point is a serial of a lane. A submission is handed to its lane only once each point that it waits for
 * is reached or will be by work that was handed over before, so queues that share a lane can't wait for each other
 * for ever. Whoever looks at a timeline first takes what has ended off the lanes and fills its record. */
#ifndef VULKAN_WORK_H
#define VULKAN_WORK_H

#include <string.h>

#include "plugins/gpu/blob.h"
#include "plugins/gpu/launch.h"
#include "plugins/vulkan/spirv.h"
#include "plugins/vulkan/vulkan.h"

/* vulkan_check for a call that makes *handle, which is VK_NULL_HANDLE after a failure. */
static inline vyre_status vulkan_made(vyre_plugin_device *device, VkResult result, void *handle, const char *call,
                                      vyre_error *error) {
  if (result != VK_SUCCESS) memset(handle, 0, sizeof(VkFence));
  return vulkan_check(device, result, call, error);
}

/* ---- Executables ----------------------------------------------------------------------------- */

/* Where a pipeline finds its launch block: SPIRV_SPEC_BLOCK. */
typedef enum vulkan_block_place {
  VULKAN_BLOCK_PUSHED = 0,
  VULKAN_BLOCK_BOUND = 1,
  VULKAN_BLOCK_PLACES = 2
} vulkan_block_place;

/* A module of an executable with its layouts; VK_NULL_HANDLE until they are wanted. */
typedef struct vulkan_module {
  spirv_layout layout;
  VkShaderModule shader;
  VkDescriptorSetLayout set_layout;
  VkPipelineLayout pipeline_layout;
  VkPipeline *pipelines[VULKAN_BLOCK_PLACES]; /* by entry point; NULL until they are wanted */
} vulkan_module;

struct vyre_plugin_executable {
  vyre_plugin_device *device;
  uint8_t *bytes;            /* the blob; blob and kernel point into it */
  gpu_blob blob;
  const vyre_kernel_header *kernel;
  const char *name;          /* of the program */
  spirv_facts facts;
  vyre_plugin_buffer *tables; /* the kernel's constant tables; NULL if there are none */
  pthread_mutex_t lock;      /* of making modules and pipelines */
  vulkan_module modules[SPIRV_MODES];
  VkPipelineCache cache;
  uint64_t cached_bytes;     /* of its data that the host's cache has */
  uint32_t grid[3];          /* of the last launch; these two under the lock of work */
  uint64_t launches;
};

/* The module with pipelines for |place|, made if this is the first time.
 * Errors: NO_MEMORY, LIMIT (no such module), DEVICE_LOST, UNSUPPORTED (the driver refuses it). */
vyre_status vulkan_pipelines(vyre_plugin_executable *executable, spirv_mode mode, vulkan_block_place place,
                             const vulkan_module **out, vyre_error *error);
void vulkan_pipelines_destroy(vyre_plugin_executable *executable);
/* Fills registers and scratch bytes from what the driver tells, if it does. */
void vulkan_pipeline_statistics(vyre_plugin_executable *executable, vyre_launch_report *report);

/* ---- Sets ------------------------------------------------------------------------------------ */

struct vyre_plugin_set {
  vyre_plugin_executable *executable;
  vyre_bind *binds;
  uint8_t *params;           /* all zero with late ones */
  spirv_mode mode;           /* by which its bindings can be reached */
  bool late_params, late_offsets;
  uint32_t lengths;          /* bindings whose length is on the device */
};

/* Whether binding |slot| may begin at |offset|. Errors: INVALID_ARGUMENT. */
vyre_status vulkan_set_check_range(const vyre_plugin_set *set, uint32_t slot, uint64_t offset, vyre_error *error);
/* Bytes of a binding that the program may touch: up to the next multiple of 16. */
static inline uint64_t vulkan_bound_bytes(const vyre_bind *bind) { return (bind->bytes + 15) & ~(uint64_t)15; }
/* True if [offset, offset + bytes) lies in the buffer; NULL has no bytes. */
static inline bool vulkan_in_buffer(const vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes) {
  uint64_t size = buffer != NULL ? buffer->bytes : 0;
  return offset <= size && bytes <= size - offset;
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* How a dispatch is recorded. Offsets are in the memory of a recording. */
typedef struct vulkan_plan {
  vyre_dispatch dispatch;
  const vulkan_module *module;
  spirv_mode mode;
  vulkan_block_place place;
  uint32_t index, command;   /* among the dispatches and the commands of the batch */
  uint32_t pieces;           /* 0 where an axis is 0 */
  uint32_t blocks, block_stride;      /* host memory: a launch block for each piece, if place is BOUND */
  uint32_t diagnostics, print_words;  /* host memory; print_words of room behind it */
  uint32_t stop;             /* host memory: a copy of the stop word, if it can't be bound itself; else 0 */
  uint32_t gathered;         /* host memory: lengths, 8 bytes each, and grid as the device gave them */
  uint32_t patches, patch_count; /* host memory: vulkan_patch records */
  uint32_t indirect;         /* host memory: a VkDispatchIndirectCommand a piece, if the grid is on the device */
  uint64_t spill, spill_bytes, state; /* local memory */
  bool has_diagnostics, has_state;
} vulkan_plan;

typedef struct vulkan_command {
  uint32_t kind;             /* VYRE_COMMAND_* */
  union {
    vulkan_plan *dispatch;
    vyre_copy copy;
    vyre_fill fill;
    vyre_timestamp timestamp;
  } u;
} vulkan_command;

typedef struct vulkan_recording vulkan_recording;

struct vyre_plugin_batch {
  vyre_plugin_device *device;
  vulkan_command *commands;
  uint64_t count;
  vulkan_plan *plans;
  uint32_t plan_count;
  uint32_t timestamps;       /* TIMESTAMP commands */
  bool persistent;
  bool late;                 /* a set of it leaves something to the submit */
  bool patched;              /* extents come from the device */
  uint32_t storage_buffers;  /* descriptors of all its dispatches */
  uint32_t host_bytes;       /* of a recording's memory */
  uint64_t local_bytes;
  vulkan_recording *idle;    /* under the lock of work */
  uint32_t idle_count;
};

/* In host memory, before what the plans have: 16 bytes of zeros, then the count of extents that were clamped. */
enum { VULKAN_HOST_ZERO = 0, VULKAN_HOST_CLAMPED = 16, VULKAN_HOST_FIRST = 32 };

/* ---- Recordings ------------------------------------------------------------------------------ */

struct vulkan_recording {
  vulkan_recording *next;
  vyre_plugin_batch *batch;
  uint32_t family;           /* of queues that it is for */
  bool ordered;              /* begins with a barrier, behind all that its lane was given before */
  VkCommandPool pool;
  VkCommandBuffer commands;
  VkDescriptorPool descriptors;
  VkDescriptorSet *sets;     /* by dispatch; then that of the patches */
  VkQueryPool queries;       /* VULKAN_QUERY_*; VK_NULL_HANDLE if it does not look at the clock */
  uint32_t timestamp_bits;
  vyre_plugin_buffer *host, *local; /* NULL if nothing is needed */
  uint64_t **offsets, **elements; /* by dispatch, then by slot: as bound; at most, where the device has a length */
  uint8_t **params;          /* by dispatch */
};

/* Queries of a recording: when it began, when it ended, then the timestamps of the batch in order. */
enum { VULKAN_QUERY_BEGIN = 0, VULKAN_QUERY_END = 1, VULKAN_QUERY_FIRST = 2 };

vyre_status vulkan_recording_make(vyre_plugin_batch *batch, const vulkan_queue *queue, bool ordered,
                                  vulkan_recording **out, vyre_error *error);
void vulkan_recording_destroy(vulkan_recording *recording);
/* Makes it ready for a submit: late values, room for prints, counts at zero. */
vyre_status vulkan_recording_arm(vulkan_recording *recording, const vyre_submit *submit, vyre_error *error);
/* Writes the launch block of a piece. */
void vulkan_recording_block(const vulkan_recording *recording, const vulkan_plan *plan, const gpu_piece *piece,
                            void *to);
/* Puts all commands into the command buffer. */
vyre_status vulkan_record(vulkan_recording *recording, vyre_error *error);

/* ---- Extents from the device ----------------------------------------------------------------- */

/* One number that is clamped on the device; patch.spvasm reads it. */
typedef struct vulkan_patch {
  uint32_t source;           /* word in host memory where the device's number lies */
  uint32_t flags;            /* VULKAN_PATCH_* */
  uint32_t limit[2];         /* low and high word of the largest value */
  uint32_t origin, most;     /* a 32-bit result is min(max(value - origin, 0), most) */
  uint32_t target;           /* word that the result is written to */
  uint32_t zero;
} vulkan_patch;
enum {
  VULKAN_PATCH_WIDE_SOURCE = 1u << 0, /* the number has 64 bits */
  VULKAN_PATCH_WIDE_TARGET = 1u << 1, /* so has the result */
  VULKAN_PATCH_COUNTED = 1u << 2      /* one that is clamped is counted */
};

typedef struct vulkan_patcher {
  VkShaderModule shader;
  VkDescriptorSetLayout set_layout;
  VkPipelineLayout pipeline_layout;
  VkPipeline pipeline;
} vulkan_patcher;

/* The device's, made if this is the first time. */
vyre_status vulkan_patcher_get(vyre_plugin_device *device, vyre_error *error);
void vulkan_patcher_destroy(vyre_plugin_device *device);
/* Patches that a plan needs. */
uint32_t vulkan_patches_count(const vulkan_plan *plan);
void vulkan_patches_write(const vyre_plugin_device *device, const vulkan_plan *plan, uint8_t *host);
/* Copies the numbers, clamps them and waits: what follows reads the results. */
void vulkan_patches_record(const vulkan_recording *recording, const vulkan_plan *plan);

/* ---- Submissions ----------------------------------------------------------------------------- */

typedef struct vulkan_submission vulkan_submission;
typedef struct vulkan_lane vulkan_lane;

/* A point that a submission signals. */
typedef struct vulkan_signal {
  struct vulkan_signal *next;     /* of the timeline, by ascending value */
  vyre_plugin_timeline *timeline;
  uint64_t value;
  const vulkan_submission *submission;
} vulkan_signal;

/* In place of a timeline semaphore. */
typedef struct vulkan_fence {
  struct vulkan_fence *next;
  VkFence handle;
  uint32_t users;                 /* the submission, and threads that wait */
} vulkan_fence;

struct vulkan_submission {
  vulkan_submission *next;
  vyre_plugin_queue *queue;
  vulkan_recording *recording;
  vulkan_lane *lane;
  uint64_t serial;                /* on its lane, once handed over */
  vulkan_fence *fence;            /* NULL with timeline semaphores */
  bool overlaps;                  /* needs no order behind what its queue had before */
  vyre_point *waits;
  vulkan_signal *signals;
  uint32_t wait_count, signal_count, wait_room, signal_room;
  uint64_t *timestamps, *prints;
  uint64_t print_words;
  uint32_t timestamp_count;
  vyre_completion *completion;
  vyre_status status;             /* why it could not be handed over, after submit had returned; or OK */
  int64_t vendor_code;
  char text[256];
};

struct vulkan_lane {
  vyre_plugin_device *device;
  vulkan_queue *queue;
  VkSemaphore progress;           /* the serial that was reached; VK_NULL_HANDLE without timeline semaphores */
  uint64_t last, reached;         /* serials: of what was handed over, of what has ended */
  vulkan_submission *first, *end; /* handed over, by ascending serial */
  vulkan_fence *fences;           /* idle ones */
  uint32_t users;                 /* queues of the ABI */
};

struct vyre_plugin_queue {
  vyre_plugin_device *device;
  vulkan_lane *lane;
  bool persistent;
  uint32_t pending;               /* submissions that have not ended */
  uint64_t last;                  /* serial of the last that was handed over */
  vulkan_submission *first, *end; /* that wait for points which nothing is to reach yet */
  vyre_plugin_queue *next_held;   /* of the queues with such submissions */
};

struct vyre_plugin_timeline {
  vyre_plugin_device *device;
  uint64_t value;                 /* all that was promised up to it has ended */
  uint64_t furthest;              /* the highest that was reached; work of another lane below it may run */
  vulkan_signal *promised;        /* what is handed over, by ascending value */
};

/* All under |lock|, but for the patcher. */
struct vulkan_work {
  pthread_mutex_t lock;
  pthread_cond_t changed;         /* a timeline moved, or work was handed over; by the monotonic clock */
  vulkan_lane lanes[VULKAN_MAX_QUEUES];
  uint32_t lane_count, persistent_count; /* the last ones are for persistent queues */
  uint32_t queues;
  vyre_plugin_queue *held;        /* queues with submissions that wait */
  vulkan_submission *unused;
  uint32_t destroyed;             /* executables, since work was handed over */
  bool is_given_up;               /* the device is lost, and everything has been told so */
  pthread_mutex_t patcher_lock;
  vulkan_patcher patcher;
};

/* lane.c. All of these with the lock of work. */
/* Gives it to the device. Errors: those of vkQueueSubmit, and NO_MEMORY; then nothing has happened. */
vyre_status vulkan_lane_hand_over(vulkan_submission *submission, vyre_error *error);
/* Asks how far the device has come, and takes what has ended off. */
void vulkan_lane_poll(vulkan_lane *lane);
/* Takes off what has a serial up to |serial|. */
void vulkan_lane_retire(vulkan_lane *lane, uint64_t serial);
/* Waits for one that was handed over, for at most |ns|. The lock is released meanwhile. */
vyre_status vulkan_lane_wait(const vulkan_submission *submission, uint64_t ns, vyre_error *error);
/* Ends everything, as lost. */
void vulkan_lanes_give_up(vyre_plugin_device *device);
/* Hands over what waits for nothing any more. */
void vulkan_queues_advance(vyre_plugin_device *device);
/* Ends a submission that is on no list: its points, its recording. */
void vulkan_submission_end(vulkan_submission *submission);
/* An executable was destroyed; takes the lock of work itself. */
void vulkan_lanes_note_destroyed(vyre_plugin_device *device);

/* timeline.c, with the lock of work. */
/* Whether a point is reached, or will be by what |submission| may rely on. */
bool vulkan_point_is_safe(const vyre_point *point, const vulkan_lane *lane);
/* What reaches the point; NULL if nothing is to yet. */
const vulkan_submission *vulkan_point_find(const vyre_point *point);
void vulkan_timeline_promise(vulkan_signal *signal);
void vulkan_timeline_reach(vulkan_signal *signal);

/* Fills the completion record. */
void vulkan_complete(const vulkan_submission *submission);

#endif
