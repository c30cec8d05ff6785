/* The objects behind the handles of the plugin ABI, for a backend whose memory is the host's and whose work runs on the
 * host's threads.
 *
 * objects.c has devices, buffers, sets and batches, queue.c has queues and timelines, execute.c the commands of a batch.
 * What an executable is and how it runs is the plugin's own: it defines the functions at the end.
 *
 * One lock and one condition a device guard its timelines, queues and memory count; a queue runs its submissions in
 * order on a thread of its own. Nothing here counts references: libvyre destroys an object when nothing uses it. */
#ifndef TEMPLATE_BACKEND_H
#define TEMPLATE_BACKEND_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include <vyre/backend.h>

enum { BACKEND_MAX_QUEUES = 64, BACKEND_MAX_PERSISTENT = 16 };

struct vyre_plugin {
  const vyre_host *host;
  uint32_t subgroup;     /* default size */
  bool reverse;          /* order of invocations */
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

typedef struct backend_binding {
  const char *name;
  uint32_t element_bytes;
} backend_binding;

struct vyre_plugin_executable {
  vyre_plugin_device *device;
  void *code;            /* the plugin's own */
  const char *name;      /* of the program */
  backend_binding *bindings; /* by slot */
  uint32_t binding_count;
  uint32_t param_bytes;
  uint32_t grid[3];      /* of the last launch; these two under the device's lock */
  uint64_t launches;
};

struct vyre_plugin_set {
  vyre_plugin_executable *executable;
  vyre_bind *binds;
  uint8_t *params;       /* all zero with late parameters */
};

typedef struct backend_command {
  uint32_t kind;
  union {
    vyre_dispatch dispatch;
    vyre_copy copy;
    vyre_fill fill;
    vyre_timestamp timestamp;
  } u;
} backend_command;

struct vyre_plugin_batch {
  backend_command *commands;
  uint64_t count;
};

struct vyre_plugin_timeline {
  vyre_plugin_device *device;
  uint64_t value;        /* under the device's lock */
};

/* Fills |error| by a format and gives |status|. |error| may be NULL. */
vyre_status backend_fail(vyre_error *error, vyre_status status, const char *where, const char *format, ...)
  __attribute__((format(printf, 4, 5)));
vyre_status backend_no_memory(vyre_error *error);
/* Copies at most out->size bytes of a record whose first member is its size. */
void backend_answer(void *out, void *record, uint32_t bytes);
/* The other way: a caller's record as one of |bytes| bytes. What the caller does not know is 0. */
void backend_take(void *own, uint32_t bytes, const void *record);
/* Refuses bits of |flags| that are not among |known|; |what| has them. */
vyre_status backend_check_flags(const char *what, uint32_t flags, uint32_t known, vyre_error *error);

/* FORKED in a child of the process that opened the device, else OK. */
vyre_status backend_check_process(const vyre_plugin_device *device, vyre_error *error);
/* True if [offset, offset + bytes) lies in the buffer; NULL has no bytes. */
bool backend_in_buffer(const vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes);
/* A configured text of the plugin, "NAME.key"; false if nobody has set it, or the host has no settings. */
bool backend_setting(const vyre_host *host, const char *key, char *text, uint64_t room);
/* The same as a number. */
uint64_t backend_configured(const vyre_host *host, const char *key, uint64_t otherwise);

/* The slots of the ABI that they fill, in objects.c and queue.c. */
vyre_status backend_device_open(vyre_plugin *plugin, uint32_t index, vyre_plugin_device **out, vyre_error *error);
void backend_device_close(vyre_plugin_device *device);
vyre_status backend_buffer_create(vyre_plugin_device *device, const vyre_buffer_request *request,
                                  vyre_plugin_buffer **out, vyre_error *error);
void backend_buffer_destroy(vyre_plugin_buffer *buffer);
vyre_status backend_buffer_map(vyre_plugin_buffer *buffer, void **out, vyre_error *error);
vyre_status backend_buffer_sync(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error);
vyre_status backend_buffer_export(vyre_plugin_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error);
vyre_status backend_native(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error);
vyre_status backend_set_create(vyre_plugin_executable *executable, const vyre_set_request *request,
                               vyre_plugin_set **out, vyre_error *error);
void backend_set_destroy(vyre_plugin_set *set);
vyre_status backend_batch_create(vyre_plugin_device *device, const vyre_command *commands, uint64_t count,
                                 vyre_plugin_batch **out, vyre_error *error);
void backend_batch_destroy(vyre_plugin_batch *batch);
vyre_status backend_queue_create(vyre_plugin_device *device, uint32_t flags, vyre_plugin_queue **out,
                                 vyre_error *error);
void backend_queue_destroy(vyre_plugin_queue *queue);
vyre_status backend_submit(vyre_plugin_queue *queue, const vyre_submit *submit, vyre_error *error);
vyre_status backend_timeline_create(vyre_plugin_device *device, uint64_t value, vyre_plugin_timeline **out,
                                    vyre_error *error);
void backend_timeline_destroy(vyre_plugin_timeline *timeline);
vyre_status backend_timeline_value(vyre_plugin_timeline *timeline, uint64_t *value, vyre_error *error);
vyre_status backend_timeline_signal(vyre_plugin_timeline *timeline, uint64_t value, vyre_error *error);
vyre_status backend_timeline_wait(vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns,
                                  vyre_error *error);

/* Runs the commands of a batch and fills the completion record. execute.c */
typedef struct backend_work {
  const vyre_host *host; /* for its clock */
  const vyre_plugin_batch *batch;
  const vyre_late *late; /* by ascending command */
  uint32_t late_count, timestamp_count;
  uint64_t *timestamps, *prints;
  uint64_t print_words;
  vyre_completion *completion;
  const uint32_t *cancel;
} backend_work;
/* |completion| has room for what its size says; this fills it from |record|. */
void backend_complete(vyre_completion *completion, vyre_completion *record);
void backend_execute(const backend_work *work);

/* ---- What the plugin defines ----------------------------------------------------------------- */

/* In errors. */
extern const char backend_name[];
/* VYRE_MEMORY_* bits of its one kind of memory, as its record has them. */
extern const uint32_t backend_memory;

/* One dispatch with everything found. */
typedef struct backend_launch {
  const vyre_plugin_executable *executable;
  const vyre_dispatch *dispatch;
  uint8_t *const *data;     /* by slot */
  const uint64_t *bytes;    /* by slot: behind the data */
  const uint64_t *elements; /* by slot */
  const uint8_t *params;
  uint32_t grid[3];
  uint32_t command;
  const uint32_t *stop;     /* NULL if there is none */
  const uint32_t *cancel;   /* not 0: give up */
  uint64_t *prints;
  uint64_t print_words;     /* room */
} backend_launch;
/* Runs it. Adds to the counts of |completion|, and to *printed the words that it wrote. */
vyre_status backend_run(const backend_launch *launch, vyre_completion *completion, uint64_t *printed,
                        vyre_error *error);

#endif
