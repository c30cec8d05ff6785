/* The inside of the host's objects. Each counts its references: one for the caller's handle, one for every object
 * or pending submission that uses it. The last release destroys the plugin's counterpart, so a plugin never
 * has to count. A child holds its parent, up to the context, which closes the plugins. */
#ifndef VYRE_BACKEND_OBJECTS_H
#define VYRE_BACKEND_OBJECTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include <vyre/device.h>

#include "backend/cache.h"
#include "base/vector.h"

typedef _Atomic uint32_t vyre_refs;

static inline void vyre_refs_take(vyre_refs *refs) { atomic_fetch_add_explicit(refs, 1, memory_order_relaxed); }
/* For lists that do not count what they list: false for one that is on its way out. */
static inline bool vyre_refs_try(vyre_refs *refs) {
  uint32_t count = atomic_load_explicit(refs, memory_order_relaxed);
  while (count != 0)
    if (atomic_compare_exchange_weak_explicit(refs, &count, count + 1, memory_order_acquire, memory_order_relaxed))
      return true;
  return false;
}
/* True for the last one. */
static inline bool vyre_refs_drop(vyre_refs *refs) {
  return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

/* ---- Plugins --------------------------------------------------------------------------------- */

/* One file that was found, and the plugin in it once it has been loaded. */
typedef struct vyre_plugin_file {
  vyre_context *context;
  char *name, *path;
  bool is_explicit;          /* named as a file, not found in a directory */
  vyre_verdict verdict;
  vyre_status status;
  char *reason;              /* NULL if there is none */
  vyre_backend_desc desc;    /* valid once it was examined with success */
  vyre_backend_ops ops;      /* complete: optional slots that are missing hold stubs */
  vyre_host host;
  vyre_plugin *plugin;       /* opened instance, NULL unless USABLE */
  vyre_capabilities *devices;
  uint32_t device_count;
} vyre_plugin_file;

/* A place that was searched, or why it was not. */
typedef struct vyre_searched {
  char *path, *outcome;
  const char *source; /* the configuration's, or static */
  uint32_t plugins;
} vyre_searched;

/* The files of one name, of which at most one is used. */
typedef struct vyre_backend {
  const char *name;
  enum { VYRE_BACKEND_NEW, VYRE_BACKEND_LOADING, VYRE_BACKEND_LOADED } state;
  VYRE_VECTOR(vyre_plugin_file *) files; /* in search order */
  vyre_plugin_file *chosen;              /* what its verdict is about, NULL if no file is a plugin */
} vyre_backend;

struct vyre_context {
  vyre_refs refs;
  pid_t process;           /* that made it, for messages */
  uint32_t forks;          /* as counted when it was made: another count means a child process */
  const vyre_config *config;
  vyre_config *own_config; /* the same, if it was loaded here */
  vyre_log *log;
  vyre_cache cache;
  pthread_mutex_t lock;    /* never held while a plugin runs */
  pthread_cond_t changed;  /* a backend left LOADING */
  bool scanned;
  VYRE_VECTOR(vyre_searched) places;
  VYRE_VECTOR(vyre_plugin_file *) files;
  VYRE_VECTOR(vyre_backend) backends;
};

/* context.c */
void vyre_context_release(vyre_context *context);
vyre_status vyre_context_check(const vyre_context *context, vyre_error *error); /* FORKED in a child */
void vyre_host_init(vyre_plugin_file *file);
uint64_t vyre_now_ns(void);
/* Nanoseconds of |deadline| that are left; VYRE_FOREVER stays. */
uint64_t vyre_deadline_after(uint64_t timeout_ns);
uint64_t vyre_deadline_left(uint64_t deadline);

/* search.c: fills context->places, and context->files with what lies there, nothing opened. The lock is held. */
vyre_status vyre_search(vyre_context *context, vyre_error *error);
/* Frees the places. */
void vyre_search_forget(vyre_context *context);
/* Sets verdict, status and reason (formatted as for printf). */
__attribute__((format(printf, 4, 5))) void vyre_judge(vyre_plugin_file *file, vyre_verdict verdict,
                                                      vyre_status status, const char *format, ...);

/* elf.c: refuses what dlopen should not see. |machine| of the file must be that of this library. */
vyre_status vyre_elf_check(const char *path, vyre_error *error);

/* negotiate.c: checks a descriptor and copies it and its table into |file|. |desc| may be anything a plugin answers. */
void vyre_backend_request_fill(vyre_backend_request *request);
vyre_status vyre_negotiate(const vyre_backend_desc *desc, vyre_plugin_file *file, vyre_error *error);
/* host_cpu.c: the first of the VYRE_CPU_* bits that this machine lacks, by name; NULL if it has all. */
const char *vyre_host_cpu_lacks(uint64_t wanted);
/* slots.c: completes a table of |size| bytes into |out|. */
vyre_status vyre_slots_copy(const vyre_backend_ops *ops, const char *path, vyre_backend_ops *out, vyre_error *error);
/* Whether a completed table has the plugin's own finalize. */
bool vyre_slots_finalize(const vyre_backend_ops *ops);

/* answer.c: |status| as a function of the plugin gave it, or BROKEN_PLUGIN if it is none; sees that |error| has it and
 * a text. |who| is the file or device. */
vyre_status vyre_plugin_answer(const char *who, vyre_status status, vyre_error *error);
/* The same for the record of work that has ended. */
void vyre_plugin_completion(vyre_completion *completion);

/* load.c: opens the file and negotiates; then probes, opens the instance and lists its devices. The verdict says
 * what came of it. No lock is held. */
void vyre_plugin_examine(vyre_plugin_file *file);
void vyre_plugin_start(vyre_plugin_file *file);

/* registry.c: FORKED, and REENTRANT inside a plugin that is being loaded. */
vyre_status vyre_registry_check(vyre_context *context, vyre_error *error);
/* Name |index| in the order of the alphabet, the oracle last; NULL beyond the last. For `auto`. */
const char *vyre_backend_name_at(vyre_context *context, uint32_t index);
/* The backend of that name, loaded; *out NULL and NOT_FOUND if there is none, or what is wrong with it. */
vyre_status vyre_backend_use(vyre_context *context, const char *name, vyre_plugin_file **out, vyre_error *error);
/* The same for what needs no device: a sound plugin that can't work here will do. */
vyre_status vyre_backend_use_compiler(vyre_context *context, const char *name, vyre_plugin_file **out,
                                      vyre_error *error);

/* ---- Devices --------------------------------------------------------------------------------- */

struct vyre_device {
  vyre_refs refs;
  vyre_context *context;
  vyre_plugin_file *file;
  const vyre_backend_ops *ops;
  vyre_plugin_device *plugin;
  vyre_capabilities caps;
  char name[VYRE_BACKEND_MAX_NAME + 48];
  atomic_bool lost;
  atomic_bool closing;
  atomic_bool abandoned;  /* work never ended: nothing of it may be destroyed */
  pthread_mutex_t lock;
  pthread_cond_t changed; /* a waiter thread has ended */
  VYRE_VECTOR(vyre_queue *) queues;           /* live ones, not counted */
  VYRE_VECTOR(vyre_executable *) executables; /* live ones, not counted */
  vyre_queue *internal;   /* for staged copies and vyre_run; made on demand, given up by close */
  uint32_t threads;       /* waiter threads of its queues */
  vyre_device *next_abandoned;
};

/* device.c */
void vyre_device_retain(vyre_device *device);
void vyre_device_release(vyre_device *device);
/* FORKED, DEVICE_LOST; CLOSED for new work. */
vyre_status vyre_device_check(vyre_device *device, vyre_error *error);
vyre_status vyre_device_check_open(vyre_device *device, vyre_error *error);
/* Gives |status| back, having made a loss sticky. Every answer of a plugin passes through it. */
vyre_status vyre_device_answer(vyre_device *device, vyre_status status, vyre_error *error);
/* The same for a call that makes an object: BROKEN_PLUGIN if it succeeded without one. */
vyre_status vyre_device_made(vyre_device *device, vyre_status status, const void *object, vyre_error *error);
/* Waits for a point of a plugin's timeline, in slices, so that a loss that is found elsewhere ends it. A plugin that
 * fails otherwise is given up: BROKEN_PLUGIN. */
vyre_status vyre_device_await(vyre_device *device, vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns,
                              vyre_error *error);
/* Nothing of it is waited for, destroyed or reused any more: its work may run on for ever. */
void vyre_device_give_up(vyre_device *device);
/* False where a plugin's object must not be destroyed: work never ended, or this is a child process. */
bool vyre_device_may_destroy(const vyre_device *device);
/* A queue of the library's own, shared by all threads; *out is counted. */
vyre_status vyre_device_internal_queue(vyre_device *device, vyre_queue **out, vyre_error *error);

struct vyre_executable {
  vyre_refs refs;
  vyre_device *device;
  vyre_program *program;
  vyre_program *compiled;        /* what the plugin got of it: print records number its statements */
  vyre_plugin_executable *plugin;
  vyre_program_info info;
  uint8_t fingerprint[VYRE_FINGERPRINT_BYTES];
  uint32_t flags, ulp, subgroup, level; /* options as compiled: with the fingerprint, its key */
  uint64_t steps;
  vyre_spec_constant *spec;      /* values of parameters that were compiled in, by ascending id */
  uint64_t spec_count;
};

/* blob.c: blobs are freed by vyre_blob_free, after a failure they are empty */
/* From the disk cache. NOT_FOUND for whatever reason. */
vyre_status vyre_blob_find(vyre_device *device, const vyre_compile_request *request, vyre_bytes *out);
/* Compiled, and finalized where the plugin does that. */
vyre_status vyre_blob_make(vyre_device *device, const vyre_compile_request *request, vyre_bytes *out,
                           vyre_error *error);
/* Into the disk cache, once it was loaded. */
void vyre_blob_keep(vyre_device *device, const vyre_compile_request *request, const vyre_bytes *blob);
void vyre_blob_free(vyre_device *device, vyre_bytes *blob);

/* request.c: options of the call over those of the program over settings, which may be NULL. They are zero after a
 * failure. */
typedef struct vyre_final_options {
  uint32_t flags, ulp, subgroup, level; /* flags: VYRE_COMPILE_*; level: of the optimizer */
  uint64_t steps;
  vyre_spec_constant *spec;      /* owned; by ascending id */
  uint64_t spec_count;
} vyre_final_options;
vyre_status vyre_options_merge(const vyre_config *config, const vyre_program *program,
                               const vyre_compile_options *call, vyre_final_options *out, vyre_error *error);
void vyre_options_free(vyre_final_options *options);
/* A request and what it points to. It borrows the options and stays where it is; nothing is to be freed after a
 * failure. */
typedef struct vyre_request {
  vyre_compile_request record;
  vyre_compile_options call; /* whose remark is called */
  uint8_t *wire;
  vyre_program *compiled;    /* the optimized one, if a kernel was made from that; else the one as written */
} vyre_request;
vyre_status vyre_request_make(const vyre_context *context, const vyre_backend_desc *desc,
                              const vyre_capabilities *target, const vyre_program *program,
                              const vyre_final_options *options, const vyre_compile_options *call,
                              vyre_request *out, vyre_error *error);
void vyre_request_free(vyre_request *request);

/* kernel.c: adds the kernel to a request, if the plugin takes kernels; the caller frees it. */
vyre_status vyre_request_kernel(const vyre_context *context, const vyre_backend_desc *desc,
                                const vyre_capabilities *target, const vyre_program *program, uint32_t level,
                                vyre_request *request, vyre_error *error);
void vyre_request_free_kernel(vyre_request *request);
/* optimize.c: the program optimized for the spec constants of |request|, counted, which may be |program| itself. A defect of the optimizer is logged. */
vyre_status vyre_request_optimize(const vyre_context *context, const vyre_program *program, uint32_t level,
                                  const vyre_compile_request *request, vyre_program **out, vyre_error *error);

/* compile.c */
void vyre_executable_retain(vyre_executable *executable);
/* admit.c: refuses a program that the device can't run, by name. |flags| are the final VYRE_COMPILE_*. */
vyre_status vyre_admit(const vyre_program *program, uint32_t flags, uint32_t subgroup, const vyre_capabilities *caps,
                       const char *device, vyre_error *error);

/* Where memory can be known to lie. */
enum { VYRE_SPACE_BUFFER, VYRE_SPACE_HOST, VYRE_SPACE_DEVICE, VYRE_SPACE_FILE, VYRE_SPACES };
typedef struct vyre_place {
  uint32_t space;     /* VYRE_SPACE_* */
  uint64_t memory[2]; /* which, in that space: the buffer, or the file's device and number */
  uint64_t at;        /* first byte there */
} vyre_place;

struct vyre_buffer {
  vyre_refs refs;
  vyre_device *device;
  vyre_plugin_buffer *plugin;
  uint64_t bytes;     /* as asked for */
  uint64_t capacity;  /* as allocated, a multiple of 16 */
  uint32_t properties;
  void *map;          /* NULL for memory that the host can't reach */
  vyre_place places[VYRE_SPACES]; /* where it is known to lie, at most one of a space */
  _Atomic uint32_t place_count;
  void (*release)(void *ctx, uint64_t handle);
  void *release_ctx;
  uint64_t handle;
};

/* buffer.c */
void vyre_buffer_retain(vyre_buffer *buffer);
/* OUT_OF_RANGE unless [offset, offset + bytes) lies in the buffer. */
vyre_status vyre_buffer_check_range(const vyre_buffer *buffer, uint64_t offset, uint64_t bytes, const char *what,
                                    vyre_error *error);

/* overlap.c */
/* Notes where a buffer lies: by itself and its map, as every one does; at a handle that was imported or exported. */
void vyre_buffer_lies_in_itself(vyre_buffer *buffer);
void vyre_buffer_lies_at(vyre_buffer *buffer, uint32_t kind, uint64_t handle);
typedef struct vyre_range {
  const vyre_buffer *buffer;
  uint64_t offset, bytes;
  bool written;
} vyre_range;
/* ALIASED, and two ranges that share memory, one of them written; |error| is left to the caller then. NO_MEMORY. */
vyre_status vyre_find_overlap(const vyre_range *ranges, uint32_t count, const vyre_range **a, const vyre_range **b,
                              vyre_error *error);

/* One binding of a set. */
typedef struct vyre_set_slot {
  vyre_buffer *buffer;        /* counted */
  vyre_buffer *length_buffer; /* counted, or NULL */
  const char *name;           /* the program's */
  uint64_t offset, bytes, elements;
  uint64_t length_offset;
  uint32_t length_bits;
  bool written, zero, late, given;
} vyre_set_slot;

/* One parameter: its place in the block. */
typedef struct vyre_set_param {
  const char *name;
  uint32_t type, offset, bytes;
  bool late, given, spec; /* spec: it was compiled in */
} vyre_set_param;

struct vyre_set {
  vyre_refs refs;
  vyre_executable *executable;
  vyre_plugin_set *plugin;
  vyre_set_slot *slots;
  uint32_t slot_count;
  vyre_set_param *params;
  uint32_t param_count;
  uint8_t *block;         /* the values of the parameters */
  uint64_t block_bytes;
  uint32_t late_param_count, late_slot_count;
  pthread_mutex_t lock;
  vyre_batch *ready;      /* the one-command batch for the grid below, or NULL; it does not count this set */
  uint64_t ready_grid[3];
};

/* set.c */
void vyre_set_retain(vyre_set *set);
/* Late values for one submission: fills |block| (block_bytes) and |offsets| (slot_count), the set's own where they
 * are not late. Errors: MISSING_BINDING, ALIASED, ... */
vyre_status vyre_set_late(const vyre_set *set, const vyre_arg *args, uint32_t count, uint8_t *block,
                          uint64_t *offsets, vyre_error *error);
static inline bool vyre_set_is_late(const vyre_set *set) { return set->late_param_count + set->late_slot_count > 0; }

/* ---- Batches, queues, submissions -------------------------------------------------------------- */

typedef struct vyre_batch_command {
  uint32_t kind;  /* VYRE_COMMAND_*; 0 for a dispatch of nothing */
  uint32_t index; /* number among the plugin's commands */
  union {
    vyre_dispatch dispatch;
    vyre_copy copy;
    vyre_fill fill;
    vyre_timestamp timestamp;
  } record;
  vyre_set *set;           /* counted, or NULL */
  vyre_buffer *buffers[2]; /* counted, or NULL */
} vyre_batch_command;

struct vyre_batch {
  vyre_refs refs;
  vyre_device *device;
  pthread_mutex_t lock;
  vyre_plugin_batch *plugin; /* made by the first submit */
  VYRE_VECTOR(vyre_batch_command) commands;
  uint32_t plugin_commands, timestamps, late; /* late: dispatches that wait for values */
  uint32_t submitting; /* submits that have begun and not ended: it takes no commands meanwhile */
  bool prints, has_steps;
  bool is_ready; /* the ready batch of a set: its command does not count the set, its submissions do */
};

/* batch.c */
void vyre_batch_retain(vyre_batch *batch);
/* Around a submit: what it has seen of the batch stays so. */
void vyre_batch_begin_submit(vyre_batch *batch);
void vyre_batch_end_submit(vyre_batch *batch);
/* Makes the plugin's batch, once; from then on it takes no commands. */
vyre_status vyre_batch_prepare(vyre_batch *batch, vyre_error *error);
/* A batch of one persistent dispatch, stopped by the first word of |stop|. */
vyre_status vyre_batch_persistent(vyre_set *set, const vyre_launch *launch, vyre_buffer *stop, vyre_batch **out,
                                  vyre_error *error);
/* The ready batch of a set for |grid|, counted. */
vyre_status vyre_batch_ready(vyre_set *set, const uint64_t grid[3], vyre_batch **out, vyre_error *error);

struct vyre_submission {
  vyre_refs refs;
  vyre_queue *queue; /* counted */
  vyre_batch *batch; /* counted; kept after the end only for its prints */
  vyre_set *set;     /* counted: the set of a ready batch, or NULL */
  uint64_t value;    /* its point on the queue's timeline */
  atomic_bool done;  /* written under the queue's lock */
  bool has_steps;    /* a dispatch of it was compiled with a limit of steps */
  vyre_completion completion;
  uint64_t *timestamps, *prints;
  uint32_t timestamp_count, timeline_count;
  vyre_timeline **timelines; /* that it waits for or signals, each counted */
  vyre_submission *next; /* in the pending or the free list */
};

typedef struct vyre_callback {
  vyre_submission *submission; /* counted */
  vyre_complete_fn fn;
  void *ctx;
} vyre_callback;

struct vyre_queue {
  vyre_refs refs;
  vyre_device *device;
  vyre_plugin_queue *plugin;
  vyre_plugin_timeline *timeline;
  pthread_mutex_t order;         /* held while a submission is handed over */
  pthread_mutex_t lock;
  uint64_t last;                 /* value of the submission handed over last */
  vyre_submission *first, **end; /* pending, oldest first; each counted */
  vyre_submission *unused;       /* kept for reuse */
  VYRE_VECTOR(vyre_callback) callbacks;
  bool is_draining;              /* the handle is gone: a thread sees pending work to its end */
  bool has_waiter;               /* a thread of the library waits for its timeline */
  vyre_buffer *stop;             /* stop word of a persistent launch, counted, or NULL */
};

/* queue.c */
void vyre_queue_retain(vyre_queue *queue);
void vyre_queue_release(vyre_queue *queue);
vyre_status vyre_queue_make(vyre_device *device, uint32_t flags, vyre_queue **out, vyre_error *error);
/* Takes what has ended off the pending list. */
void vyre_queue_retire(vyre_queue *queue);

/* waiter.c: the library's threads */
/* Starts one that runs callbacks which are due, and waits for the queue if no other does. */
vyre_status vyre_waiter_start(vyre_queue *queue, vyre_error *error);
/* Whether this is such a thread. */
bool vyre_is_waiter(void);

/* submit.c */
/* |set| is counted by the submission if the batch is the ready one of it, else NULL. */
vyre_status vyre_submit_batch(vyre_queue *queue, vyre_batch *batch, vyre_set *set, const vyre_submit_options *options,
                              vyre_submission **out, vyre_error *error);

/* submission.c */
enum { VYRE_PRINT_WORDS = 1 << 16 }; /* room for print records of one submission: 512 KiB */
vyre_submission *vyre_submission_new(vyre_queue *queue, vyre_batch *batch, vyre_set *set); /* NULL without memory */
/* Counts the timelines that it waits for and signals. */
vyre_status vyre_submission_hold(vyre_submission *submission, const vyre_submit_options *options, vyre_error *error);
/* It has ended: lets go of what it used. */
void vyre_submission_settle(vyre_submission *submission);
/* Its status, with the whole story in |error|. It must have ended. */
vyre_status vyre_submission_result(const vyre_submission *submission, vyre_error *error);

/* timeline.c */
void vyre_timeline_retain(vyre_timeline *timeline);
/* Notes that |submission| will signal |value|, which must be above what other submissions were noted for. */
vyre_status vyre_timeline_expect(vyre_timeline *timeline, uint64_t value, vyre_submission *submission,
                                 vyre_error *error);
/* Takes back what was noted for a submission that was not handed over. */
void vyre_timeline_forget(vyre_timeline *timeline, vyre_submission *submission);
vyre_plugin_timeline *vyre_timeline_plugin(const vyre_timeline *timeline);
vyre_device *vyre_timeline_device(const vyre_timeline *timeline);

#endif
