/* The objects behind the handles of the plugin ABI.
 *
 * One lock a device guards its timelines, its queues and everything that is pending; a call that finds the device lost
 * takes it again, so it may be taken twice by one thread. Nothing here has a thread of its own: work goes to streams of
 * the driver, each submission ends in an event, and whoever asks for a timeline looks at the events first. A
 * submission that waits for what nobody has submitted or signalled yet stays with the host, until the call that brings
 * it: so no stream ever waits for the host, and streams that share a channel of the hardware can't block each other.
 *
 * Every call makes the device's primary context current and leaves the caller's as it was. Nothing counts references:
 * libvyre destroys an object when nothing uses it. */
#ifndef CUDA_CUDA_H
#define CUDA_CUDA_H

#include <pthread.h>
#include <sys/types.h>

#include "plugins/cuda/api.h"
#include "plugins/cuda/extents.h"
#include "plugins/cuda/ptx.h"
#include "plugins/gpu/blob.h"
#include "plugins/gpu/launch.h"

enum { CUDA_SPARE_STREAMS = 16, CUDA_SPARE_EVENTS = 64, CUDA_SPARE_PINNED = 1 << 20 };
enum { CUDA_MAX_QUEUES = 64, CUDA_MAX_PERSISTENT = 4, CUDA_MAX_DEVICES = 64, CUDA_ZEROS = 1 << 20 };

extern const char cuda_build_id[];

/* ---- Instances and devices: device.c --------------------------------------------------------- */

/* What the driver says of a device, once for an instance. */
typedef struct cuda_facts {
  CUdevice device;
  uint32_t sm, units;       /* compute capability, times 10; multiprocessors */
  uint32_t shared_limit;    /* of a workgroup that has opted in */
  uint32_t grid_limit[3];
  bool cooperates;          /* takes cooperative launches */
  bool has_pools;           /* stream-ordered allocation */
  bool maps_registered;     /* registered host memory keeps its address */
  vyre_capabilities record;
} cuda_facts;

struct vyre_plugin {
  const vyre_host *host;
  cuda_api api;
  uint32_t count;
  cuda_facts *devices;
};

typedef struct cuda_module cuda_module;
typedef struct cuda_kept cuda_kept;
typedef struct cuda_unfreed cuda_unfreed;
typedef struct cuda_registration cuda_registration;

struct vyre_plugin_device {
  vyre_plugin *plugin;
  const cuda_facts *facts;
  pid_t process;            /* that opened it */
  CUcontext context;
  CUstream service;         /* allocations, and what is done before a call returns */
  CUstream capture;         /* graphs are recorded on it, under the lock */
  pthread_mutex_t lock;     /* recursive */
  pthread_cond_t changed;
  CUresult lost;            /* atomic: the code that the context is stuck with */
  vyre_plugin_queue *queues; /* these and all below under the lock */
  uint32_t queue_count, persistent_count;
  uint32_t deferred;        /* submissions that stay with the host */
  CUstream spare_streams[CUDA_SPARE_STREAMS]; /* of queues that are gone, and events: drivers never give back all */
  CUevent spare_events[CUDA_SPARE_EVENTS];    /* that these take, and making them costs time */
  uint32_t spare_stream_count, spare_event_count;
  cuda_kept *kept;          /* pinned memory that nobody uses: for the next one, or to be freed */
  uint64_t kept_bytes;
  cuda_unfreed *unfreed;    /* memory of the device to be freed */
  cuda_module *modules;
  cuda_module *begin;       /* of extents.c */
  uint8_t *zeros;           /* pinned: CUDA_ZEROS of them, for when no kernel can clear memory */
  cuda_registration *registrations;
};

/* A call on a device: the process is right, the device is not lost, its context is current. Each cuda_enter that
 * succeeds has its cuda_leave. */
typedef struct cuda_scope {
  const vyre_plugin_device *device;
  bool is_pushed;
} cuda_scope;
vyre_status cuda_check(const vyre_plugin_device *device, vyre_error *error);
vyre_status cuda_enter(vyre_plugin_device *device, cuda_scope *scope, vyre_error *error);
/* For destroying, which is legal on a lost device. False in a child process: then nothing may be called. */
bool cuda_enter_to_destroy(vyre_plugin_device *device, cuda_scope *scope);
void cuda_leave(const cuda_scope *scope);

/* The answer to a driver's code: OK, or |error| filled. A code that sticks loses the device: all that is pending ends,
 * before this returns. */
vyre_status cuda_answer(vyre_plugin_device *device, CUresult code, const char *what, vyre_error *error);
/* DEVICE_LOST in the driver's words. */
vyre_status cuda_lost(const vyre_plugin_device *device, vyre_error *error);

/* Records of profiles, for compiling without a device: profile.c. */
bool cuda_profile(uint32_t index, vyre_capabilities *out);
/* What all of one compute capability have in common. |variant| is 'a' for sm_90a, else 0. */
void cuda_describe_architecture(uint32_t sm, char variant, vyre_capabilities *out);
/* The architecture that a record's profile names, "cuda:sm_NN"; 0 if it is none. */
uint32_t cuda_architecture_of(const vyre_capabilities *record);

/* ---- Memory: memory.c, buffer.c -------------------------------------------------------------- */

/* Memory of the device, zero or holding anything, ready for every stream. Where the driver allocates in the order of a
 * stream it neither comes nor goes behind what runs on others. */
CUresult cuda_memory_new(vyre_plugin_device *device, uint64_t bytes, bool zero, CUdeviceptr *out);
void cuda_memory_free(vyre_plugin_device *device, CUdeviceptr p);

/* Pinned memory, portable and mapped, that holds anything; *out, a pointer, is NULL where there is none. What is freed,
 * with the same |bytes|, serves the next one of that size, also beside a persistent launch, where the driver takes none
 * back; and making it costs time. */
CUresult cuda_pinned_new(vyre_plugin_device *device, uint64_t bytes, void *out);
void cuda_pinned_free(vyre_plugin_device *device, void *p, uint64_t bytes);

/* Pinned memory, registrations and code go back behind all that runs. So what nobody uses any more is kept, and the
 * sweep, with which destroyers end, gives it back unless a persistent launch runs: whoever did it beside that would
 * wait for it, and it maybe for them. Of pinned memory CUDA_SPARE_PINNED bytes stay. */
void cuda_sweep(vyre_plugin_device *device);
/* As the device closes, nothing stays. Beside the persistent launch of another instance the driver keeps it with the
 * context, which is that one's, too. */
void cuda_sweep_all(vyre_plugin_device *device);
/* Parts of the sweep; |may_call| the driver. */
void cuda_registrations_sweep(vyre_plugin_device *device, bool may_call);

/* resident.c: a persistent launch counts from before it is given to the driver until its end is seen. The begin lets
 * calls end that wait for everything; so it is not called with the device's lock. */
void cuda_resident_begin(const vyre_plugin_device *device);
void cuda_resident_end(const vyre_plugin_device *device);
bool cuda_has_residents(const vyre_plugin_device *device);
/* Around calls that wait for everything that runs. False beside a persistent launch: then it is not made. */
bool cuda_waiting_begin(const vyre_plugin_device *device);
void cuda_waiting_end(const vyre_plugin_device *device);
/* The same for loading; BUSY, by the name of what is loaded, if it can't be. Ends with cuda_waiting_end. */
vyre_status cuda_loading_begin(vyre_plugin_device *device, const char *name, vyre_error *error);

struct vyre_plugin_buffer {
  vyre_plugin_device *device;
  CUdeviceptr address;
  void *host;       /* NULL if the host does not reach it */
  uint64_t bytes;
  uint32_t kind;    /* VYRE_HANDLE_* that it was made from */
  cuda_registration *registration; /* of an imported host pointer that was registered here */
};
bool cuda_in_buffer(const vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes);
static inline CUdeviceptr cuda_address(const vyre_plugin_buffer *buffer, uint64_t offset) {
  return buffer != NULL ? buffer->address + offset : 0;
}

/* ---- Executables: module.c, executable.c ----------------------------------------------------- */

enum { CUDA_VARIANTS = 2 }; /* the launch block among the parameters, and in memory */

/* At the start of a blob's code. */
typedef struct cuda_code {
  ptx_facts facts[CUDA_VARIANTS];
  uint32_t offset[CUDA_VARIANTS], bytes[CUDA_VARIANTS]; /* of each text, its NUL included; 0: the other one serves */
} cuda_code;

/* A blob from anywhere: the frame, the kernel's launch part, and the numbers of its code. */
vyre_status cuda_blob_open(const void *data, uint64_t bytes, gpu_blob *blob, const cuda_code **code, vyre_error *error);

/* What an entry point needs as it is launched. */
typedef struct cuda_entry {
  CUfunction function;
  uint32_t block[3], dynamic_shared;
  uint32_t registers, shared_bytes, scratch_bytes;
  uint32_t per_unit; /* workgroups on a multiprocessor */
} cuda_entry;

/* A loaded module; equal ones are loaded once. */
struct cuda_module {
  cuda_module *next;
  uint32_t refs;
  uint8_t key[32]; /* digest of the image */
  CUmodule module;
  uint32_t entry_count;
  cuda_entry entries[];
};
/* Gives the module of an image, loading it if the device has none of that key; counted. */
vyre_status cuda_module_get(vyre_plugin_executable *executable, uint32_t variant, cuda_module **out, vyre_error *error);
void cuda_module_drop(vyre_plugin_device *device, cuda_module *module);
/* Part of the sweep: unloads those that nobody uses. */
void cuda_modules_sweep(vyre_plugin_device *device, bool may_call);

/* jit.c: an image for the driver, PTX text that ends with NUL or machine code, and what the compiler wrote about it. */
typedef struct cuda_image {
  const void *data;
  uint64_t bytes; /* the NUL included */
  bool is_text;
  const char *name; /* of the program */
} cuda_image;
enum { CUDA_LOG_BYTES = 8192 };
typedef struct cuda_log {
  char text[CUDA_LOG_BYTES];
} cuda_log;
CUresult cuda_jit_load(const cuda_api *api, const cuda_image *image, CUmodule *out, cuda_log *log);
/* PTX to machine code for the architecture of the current context. */
CUresult cuda_jit_link(const cuda_api *api, const cuda_image *image, gpu_bytes *out, cuda_log *log);
/* Fills |error| with the driver's words, the compiler's first complaint and the line of PTX that it is about; the log
 * goes where the caller has room for it. */
vyre_status cuda_jit_fail(const cuda_api *api, CUresult code, const cuda_image *image, const cuda_log *log,
                          vyre_error *error);

struct vyre_plugin_executable {
  vyre_plugin_device *device;
  uint8_t *copy;   /* the blob's, which everything below points into */
  gpu_blob blob;
  const cuda_code *code;
  const char *name;
  cuda_module *modules[CUDA_VARIANTS]; /* by variant, once they are needed; the first at once. Under the lock */
  uint64_t launches; /* these two atomic */
  uint32_t grid[3];
};
/* The module with the launch block among the parameters if that exists, or the one with it in memory. */
vyre_status cuda_executable_module(vyre_plugin_executable *executable, bool in_memory, const cuda_module **module,
                                   const ptx_facts **facts, vyre_error *error);
uint64_t cuda_resident(const vyre_plugin_device *device, const cuda_module *module);

struct vyre_plugin_set {
  vyre_plugin_executable *executable;
  vyre_bind *binds;
  uint8_t *params; /* all zero with late parameters */
  bool is_late, has_device_length;
};

/* ---- What is done before a launch: extents.c ------------------------------------------------- */

/* The kernel that does patches: two parameters, the address of the patches and their u32 count; one workgroup. */
vyre_status cuda_begin_kernel(vyre_plugin_device *device, CUfunction *out, vyre_error *error);

/* ---- Batches: batch.c takes commands, plan.c makes steps of them, steps.c gives these to a stream ---- */

typedef enum cuda_step_kind { CUDA_STEP_LAUNCH, CUDA_STEP_COPY, CUDA_STEP_ZERO, CUDA_STEP_FILL } cuda_step_kind;

/* One call of the driver. */
typedef struct cuda_step {
  cuda_step_kind kind;
  int32_t slot;            /* ZERO of a binding, whose offset may be late; else -1 */
  uint64_t command;        /* that it belongs to */
  union {
    struct {
      CUfunction function;
      uint32_t grid[3], block[3], shared;
      bool is_cooperative;
      void *params[2];     /* the driver reads them as it is called */
    } launch;
    struct {
      CUdeviceptr to, from;
      uint64_t bytes;
      CUcontext to_context, from_context; /* NULL if both are the device's own */
    } copy;
    struct {
      CUdeviceptr to;
      uint64_t count;      /* ZERO: bytes. FILL: words */
      uint32_t pattern;
    } fill;
  } u;
} cuda_step;

/* What a late value changes: the arguments of one piece of a dispatch. */
typedef struct cuda_arguments {
  uint64_t command;
  const vyre_plugin_set *set;
  uint8_t *block;          /* the launch block: among the parameters, or in the batch's image */
  uint64_t *pointers;
} cuda_arguments;

typedef struct cuda_command {
  uint32_t kind;
  union {
    vyre_dispatch dispatch;
    vyre_copy copy;
    vyre_fill fill;
    vyre_timestamp timestamp;
  } u;
} cuda_command;

/* Pinned memory for one run of a batch, cuda_run_bytes: its image where values are late, and what is read back. */
typedef struct cuda_pinned {
  struct cuda_pinned *next;
  uint8_t *image, *report;
} cuda_pinned;

struct vyre_plugin_batch {
  vyre_plugin_device *device;
  cuda_command *commands;
  uint64_t count;
  cuda_step *steps;
  uint64_t step_count;
  cuda_arguments *arguments;
  uint64_t argument_count;
  uint8_t *storage;        /* what params and arguments point into */
  bool is_late, is_persistent, is_not_counted;
  /* Its own memory on the device, at |memory|: what each run begins with, a copy of |image|, which is pinned; the end
   * of it, and the prints behind it, are read back; then what holds anything. */
  CUdeviceptr memory;
  uint8_t *image;
  uint64_t memory_bytes, image_bytes;
  uint64_t report, report_bytes; /* a count of clamped extents, then the timestamps, then the diagnostics */
  uint64_t diagnostics;    /* 0 without */
  uint32_t *timestamps;    /* index of each, in storage */
  uint64_t timestamp_count;
  cuda_pinned *unused;     /* these under the lock */
  CUgraphExec graph;       /* made when it runs for the second time */
  bool has_run, has_no_graph;
  struct cuda_submission *running; /* the last one, while it is on a stream */
  uint64_t ns;             /* on the device, as it took lately; 0: unknown */
};

vyre_status cuda_plan(vyre_plugin_batch *batch, vyre_error *error);
/* Copies between these devices take the short way, where there is one. */
void cuda_reach(vyre_plugin_device *device, vyre_plugin_device *other);
uint64_t cuda_run_bytes(const vyre_plugin_batch *batch);

/* With the lock: gives the batch to a stream, with the late values of a submit. *begun says whether the stream has got
 * some of it, when it fails. */
vyre_status cuda_batch_run(vyre_plugin_batch *batch, CUstream stream, const vyre_late *late, uint32_t late_count,
                           cuda_pinned **pinned, bool *begun, vyre_error *error);

/* ---- Queues and timelines: queue.c, timeline.c, complete.c ------------------------------------ */

typedef struct cuda_submission cuda_submission;

/* A point that a submission signals. While it is on a stream, its timeline lists it. */
typedef struct cuda_signal {
  struct cuda_signal *next, *previous;
  bool is_listed;
  cuda_submission *submission;
  vyre_plugin_timeline *timeline;
  uint64_t value;
} cuda_signal;

enum { CUDA_FEW_SIGNALS = 4 };

struct cuda_submission {
  cuda_submission *next;
  vyre_plugin_queue *queue;
  vyre_plugin_batch *batch;
  vyre_completion *completion;
  uint64_t *timestamps, *prints, print_words;
  uint32_t timestamp_count, signal_count, wait_count, late_count;
  vyre_point *waits;        /* these two while it stays with the host */
  vyre_late *late;
  CUevent begin;            /* NULL where the end of the one before will do */
  CUevent end;              /* NULL if it is open, or has ended already */
  bool is_open;             /* no event marks its end: that of a later one will do */
  cuda_pinned *pinned;
  int64_t vendor_code;
  uint64_t ns;              /* that it took on the device; 0: unknown */
  vyre_status status;       /* not OK: why not all of it could be given to the stream */
  cuda_signal *signals;
  cuda_signal few[CUDA_FEW_SIGNALS]; /* zeroed down to here */
  char text[256];
};

struct vyre_plugin_queue {
  vyre_plugin_device *device;
  vyre_plugin_queue *next;
  CUstream stream;
  bool is_persistent;
  cuda_submission *first, *last;             /* on the stream */
  cuda_submission *deferred, *last_deferred; /* with the host, behind those */
  cuda_submission *unused;
  CUevent mark;             /* the end of the last one whose end was marked */
  uint64_t given, looked;   /* submissions given to the stream so far, and when somebody looked last */
  uint32_t open;            /* at the end of the list, that no event marks yet */
};

struct vyre_plugin_timeline {
  vyre_plugin_device *device;
  uint64_t value;           /* under the lock */
  cuda_signal *pending;     /* points that submissions on streams will reach */
};

/* All of these with the lock, and with the context being current.
 *
 * Sees what has ended, fills its records, moves timelines. */
void cuda_progress(vyre_plugin_device *device);
/* Marks the end of what is open. */
void cuda_mark(vyre_plugin_queue *queue);
/* An event for later, and one that was kept or is made. NULL is allowed. */
void cuda_keep_event(vyre_plugin_device *device, CUevent event);
CUresult cuda_take_event(vyre_plugin_device *device, CUevent *out);
/* Everything that is pending ends as lost. */
void cuda_end_all(vyre_plugin_device *device);
/* Gives to streams what no longer has to stay with the host. */
void cuda_start_deferred(vyre_plugin_device *device);
/* Ends a submission that is in no list: fills its records by |status|, or by what went wrong as it was given to the
 * stream, moves its timelines, and keeps its memory for the next one. |text| says more where it failed. */
void cuda_finish(cuda_submission *s, vyre_status status, int64_t vendor_code, const char *text);
/* The submission on a stream that reaches |value|; NULL if there is none. */
cuda_submission *cuda_timeline_find(const vyre_plugin_timeline *timeline, uint64_t value);
void cuda_timeline_expect(cuda_signal *signal);
void cuda_timeline_forget(cuda_signal *signal);

/* ---- The slots of the table ------------------------------------------------------------------ */

vyre_status cuda_probe(const vyre_host *host, vyre_error *error);
vyre_status cuda_open(const vyre_host *host, vyre_plugin **out, vyre_error *error);
void cuda_close(vyre_plugin *plugin);
vyre_status cuda_device_count(vyre_plugin *plugin, uint32_t *count, vyre_error *error);
vyre_status cuda_device_describe(vyre_plugin *plugin, uint32_t index, vyre_capabilities *out, vyre_error *error);
vyre_status cuda_device_open(vyre_plugin *plugin, uint32_t index, vyre_plugin_device **out, vyre_error *error);
void cuda_device_close(vyre_plugin_device *device);
vyre_status cuda_native(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error);
vyre_status cuda_compile(const vyre_host *host, const vyre_capabilities *target, const vyre_compile_request *request,
                         vyre_bytes *blob, vyre_error *error);
vyre_status cuda_finalize(const vyre_host *host, const vyre_capabilities *target, const void *blob, uint64_t bytes,
                          vyre_bytes *out, vyre_error *error);
vyre_status cuda_disassemble(const vyre_host *host, const void *blob, uint64_t bytes, vyre_bytes *text,
                             vyre_error *error);
vyre_status cuda_executable_load(vyre_plugin_device *device, const void *blob, uint64_t bytes,
                                 vyre_plugin_executable **out, vyre_error *error);
void cuda_executable_destroy(vyre_plugin_executable *executable);
vyre_status cuda_executable_report(vyre_plugin_executable *executable, vyre_launch_report *out, vyre_error *error);
vyre_status cuda_max_resident(vyre_plugin_executable *executable, uint64_t *workgroups, vyre_error *error);
vyre_status cuda_buffer_create(vyre_plugin_device *device, const vyre_buffer_request *request,
                               vyre_plugin_buffer **out, vyre_error *error);
void cuda_buffer_destroy(vyre_plugin_buffer *buffer);
vyre_status cuda_buffer_map(vyre_plugin_buffer *buffer, void **out, vyre_error *error);
vyre_status cuda_buffer_sync(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error);
vyre_status cuda_buffer_export(vyre_plugin_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error);
vyre_status cuda_set_create(vyre_plugin_executable *executable, const vyre_set_request *request, vyre_plugin_set **out,
                            vyre_error *error);
void cuda_set_destroy(vyre_plugin_set *set);
vyre_status cuda_batch_create(vyre_plugin_device *device, const vyre_command *commands, uint64_t count,
                              vyre_plugin_batch **out, vyre_error *error);
void cuda_batch_destroy(vyre_plugin_batch *batch);
vyre_status cuda_queue_create(vyre_plugin_device *device, uint32_t flags, vyre_plugin_queue **out, vyre_error *error);
void cuda_queue_destroy(vyre_plugin_queue *queue);
vyre_status cuda_submit(vyre_plugin_queue *queue, const vyre_submit *submit, vyre_error *error);
vyre_status cuda_timeline_create(vyre_plugin_device *device, uint64_t value, vyre_plugin_timeline **out,
                                 vyre_error *error);
void cuda_timeline_destroy(vyre_plugin_timeline *timeline);
vyre_status cuda_timeline_value(vyre_plugin_timeline *timeline, uint64_t *value, vyre_error *error);
vyre_status cuda_timeline_signal(vyre_plugin_timeline *timeline, uint64_t value, vyre_error *error);
vyre_status cuda_timeline_wait(vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns, vyre_error *error);

#endif
