/* The objects behind the handles of the plugin ABI.
 *
 * One lock and one condition a device guard its timelines, queues and memory count; a queue runs its submissions in
 * order on a thread of its own. Nothing here counts references: libvyre destroys an object when nothing uses it. */
#ifndef CPU_PLUGIN_H
#define CPU_PLUGIN_H

#include <pthread.h>
#include <sys/types.h>

#include <vyre/backend.h>

#include "launch.h"

struct vyre_plugin {
  const vyre_host *host;
  uint32_t subgroup;     /* default size */
  bool reverse;          /* order of lanes */
  uint64_t memory_limit; /* of buffers together, and of the state of one launch */
};

struct vyre_plugin_device {
  vyre_plugin *plugin;
  pid_t process;         /* that opened it; a child of it can't use its threads */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t memory_used;
  uint32_t queues, persistent_queues;
};

struct vyre_plugin_buffer {
  vyre_plugin_device *device;
  uint8_t *data;
  uint64_t bytes;
  bool imported;
};

struct vyre_plugin_executable {
  vyre_plugin_device *device;
  cpu_code *code;
  uint32_t grid[3];      /* of the last launch; these two under the device's lock */
  uint64_t launches;
};

struct vyre_plugin_set {
  vyre_plugin_executable *executable;
  vyre_bind *binds;
  uint64_t *params;      /* bits of each; all zero with late parameters */
};

typedef struct cpu_command {
  uint32_t kind;
  union {
    vyre_dispatch dispatch;
    vyre_copy copy;
    vyre_fill fill;
    vyre_timestamp timestamp;
  } u;
} cpu_command;

struct vyre_plugin_batch {
  cpu_command *commands;
  uint64_t count;
};

struct vyre_plugin_timeline {
  vyre_plugin_device *device;
  uint64_t value;        /* under the device's lock */
};

/* A digest of the sources: it differs between any two versions of them. */
extern const char cpu_build_id[];

/* FORKED in a child of the process that opened the device, else OK. */
vyre_status cpu_check_process(const vyre_plugin_device *device, vyre_error *error);

/* True if [offset, offset + bytes) lies in the buffer; NULL has no bytes. */
bool cpu_in_buffer(const vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes);

/* Bytes of all parameters at natural alignment, and their bits from there. */
uint64_t cpu_param_bytes(const vyre_program *program);
void cpu_read_params(const vyre_program *program, const void *from, uint64_t *bits);

/* compile.c */
void cpu_describe(const vyre_plugin *plugin, vyre_capabilities *out);
vyre_status cpu_compile(const vyre_host *host, const vyre_capabilities *target, const vyre_compile_request *request,
                        vyre_bytes *blob, vyre_error *error);
vyre_status cpu_load_blob(const void *blob, uint64_t bytes, cpu_code **out, vyre_error *error);

/* queue.c */
vyre_status cpu_queue_create(vyre_plugin_device *device, uint32_t flags, vyre_plugin_queue **out, vyre_error *error);
void cpu_queue_destroy(vyre_plugin_queue *queue);
vyre_status cpu_submit(vyre_plugin_queue *queue, const vyre_submit *submit, vyre_error *error);
vyre_status cpu_timeline_create(vyre_plugin_device *device, uint64_t value, vyre_plugin_timeline **out,
                                vyre_error *error);
void cpu_timeline_destroy(vyre_plugin_timeline *timeline);
vyre_status cpu_timeline_value(vyre_plugin_timeline *timeline, uint64_t *value, vyre_error *error);
vyre_status cpu_timeline_signal(vyre_plugin_timeline *timeline, uint64_t value, vyre_error *error);
vyre_status cpu_timeline_wait(vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns, vyre_error *error);

/* execute.c: runs the commands of a batch and fills the completion record. |cancel| as in cpu_launch. */
typedef struct cpu_work {
  const vyre_plugin_batch *batch;
  const vyre_late *late; /* by ascending command */
  uint32_t late_count, timestamp_count;
  uint64_t *timestamps, *prints;
  uint64_t print_words;
  vyre_completion *completion;
  const uint32_t *cancel;
} cpu_work;
void cpu_execute(const cpu_work *work);

#endif
