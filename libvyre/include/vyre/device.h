/* Running programs: contexts, backends, devices, buffers, executables, queues, timelines.
 *
 * The short way, from a program to its results:
 *
 *   vyre_context *context;  vyre_context_create(NULL, NULL, &context, &error);
 *   vyre_device *device;    vyre_device_open(context, "auto", &device, &error);
 *   vyre_arg args[] = { vyre_arg_f32("a", 2), vyre_arg_in("x", x, n), vyre_arg_inout("y", y, n) };
 *   vyre_run(device, program, args, 3, NULL, &error);
 *
 * The long way makes buffers, an executable, a binding set and a batch once and submits it many times.
 *
 * Ownership: what a create function gives is the caller's, and its destroy function takes it back; NULL is
 * allowed there. Objects that others still use (a buffer in a pending submission, a device with buffers) live on
 * inside until the last use ends, so the order of destruction does not matter.
 *
 * Threads: every function may be called from any thread at any time, except that an object is not destroyed while
 * another call on it runs, and that one thread at a time records into a batch. Threads that submit to one queue
 * take turns; give each a queue of its own.
 *
 * Errors: every function that returns a vyre_status also answers
 *   FORKED          the object was made before a fork; a child process makes a context of its own
 *   DEVICE_LOST     the device failed, and every later call on it does
 *   CLOSED          vyre_device_close was called
 *   NO_MEMORY       and then nothing has changed.
 * A vyre_error record may be NULL everywhere. Outputs are NULL or 0 after an error. */
#ifndef VYRE_DEVICE_H
#define VYRE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/backend.h>
#include <vyre/config.h>
#include <vyre/ir.h>
#include <vyre/log.h>
#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_context vyre_context;
typedef struct vyre_device vyre_device;
typedef struct vyre_executable vyre_executable;
typedef struct vyre_buffer vyre_buffer;
typedef struct vyre_set vyre_set;
typedef struct vyre_batch vyre_batch;
typedef struct vyre_queue vyre_queue;
typedef struct vyre_submission vyre_submission;
typedef struct vyre_timeline vyre_timeline;

#define VYRE_FOREVER UINT64_MAX /* a timeout that never passes */
#define VYRE_WHOLE UINT64_MAX   /* all elements from the offset to the end of the buffer */

/* ---- Context and backends ---------------------------------------------------------------------- */

/* Makes a context: the place where backends are found and kept. Nothing is searched or opened yet.
 * |config| and |log| are borrowed until the context and all that came from it are destroyed; NULL for the
 * settings that vyre_config_load finds, and for silence. Several contexts may exist.
 * Errors: those of vyre_config_load. */
VYRE_API vyre_status vyre_context_create(const vyre_config *config, vyre_log *log, vyre_context **out,
                                         vyre_error *error);
VYRE_API void vyre_context_destroy(vyre_context *context);

/* What became of a file that was looked at. */
typedef enum vyre_verdict {
  VYRE_VERDICT_USABLE = 0,
  VYRE_VERDICT_UNTRIED = 1,     /* found, but nobody has asked for it yet */
  VYRE_VERDICT_UNAVAILABLE = 2, /* a sound plugin that cannot work here: no library, no device, no permission */
  VYRE_VERDICT_REFUSED = 3,     /* not a plugin, or not one for this library */
  VYRE_VERDICT_SHADOWED = 4,    /* another file with that name won */
  VYRE_VERDICT_DISABLED = 5,    /* the setting backends.enable leaves it out */
  VYRE_VERDICT_UNREADABLE = 6   /* the file or directory could not be examined */
} vyre_verdict;

typedef struct vyre_backend_info {
  const char *name;     /* from the file's name; "" for a directory */
  const char *path;     /* absolute */
  const char *version;  /* "" unless it was loaded */
  const char *build_id; /* "" unless it was loaded */
  vyre_verdict verdict;
  vyre_status status;   /* OK exactly for USABLE and UNTRIED */
  const char *reason;   /* why it is not usable, and what would mend it; "" if it is */
  uint32_t device_count;
} vyre_backend_info;

/* Looks in every place and opens nothing: what may be opened is UNTRIED, as far as that was not done yet. Errors:
 * REENTRANT from inside a plugin. */
VYRE_API vyre_status vyre_backends_find(vyre_context *context, vyre_error *error);
/* Looks in every place, loads every enabled plugin and asks it for devices, as far as that was not done yet.
 * A backend that fails is a row with its reason, not an error. Errors: REENTRANT from inside a plugin. */
VYRE_API vyre_status vyre_backends_load(vyre_context *context, vyre_error *error);
/* Row |index|: every file and unreadable directory that was looked at, in search order. False beyond the last.
 * Texts live as long as the context. */
VYRE_API bool vyre_backend_describe(vyre_context *context, uint32_t index, vyre_backend_info *out);
/* The record of one device of a usable row, without opening it. Errors: NOT_FOUND. */
VYRE_API vyre_status vyre_backend_device(vyre_context *context, uint32_t index, uint32_t device,
                                         vyre_capabilities *out, vyre_error *error);
/* A place that was searched for plugins, or was not and why. */
typedef struct vyre_search_info {
  const char *path;    /* absolute */
  const char *source;  /* who names it: "--backend-path", "VYRE_BACKEND_PATH", a settings file, "beside libvyre", ... */
  const char *outcome; /* what was there, as a sentence */
  uint32_t plugins;    /* files named as plugins are */
} vyre_search_info;
/* Place |index| in the order of the search, once vyre_backends_load or vyre_device_open has searched; false beyond the
 * last. Texts live as long as the context. */
VYRE_API bool vyre_backend_searched(vyre_context *context, uint32_t index, vyre_search_info *out);
/* "usable", "refused", ...; "" for a number that is none. Static storage. */
VYRE_API const char *vyre_verdict_name(vyre_verdict verdict);

/* ---- Devices ----------------------------------------------------------------------------------- */

/* Opens a device. |name| is "auto" or NULL (the first of the setting backends.order that has a device; the log
 * says which was taken and why the others were not), "NAME" (its first device), "NAME:1" (by number) or
 * "NAME:<uuid>" (32 hexadecimal digits, stable). Nothing else is taken in place of a named one.
 * Errors: NOT_FOUND (no such plugin or device), and what the plugin itself said. */
VYRE_API vyre_status vyre_device_open(vyre_context *context, const char *name, vyre_device **out, vyre_error *error);
/* Refuses new work, asks persistent launches to stop and waits for the rest, at most |timeout_ns|. The handle is
 * gone in any case. Errors: DEVICE_LOST if work was still running; its memory is then never reused. */
VYRE_API vyre_status vyre_device_close(vyre_device *device, uint64_t timeout_ns, vyre_error *error);

/* "cpu_ref"; and the stable name, "NAME:<uuid>", or "cpu_ref:0" where no uuid is the device's alone. As long as the
 * device. */
VYRE_API const char *vyre_device_backend(const vyre_device *device);
VYRE_API const char *vyre_device_name(const vyre_device *device);
/* The device's record, as long as the device. */
VYRE_API const vyre_capabilities *vyre_device_capabilities(const vyre_device *device);
/* Waits until nothing that was submitted runs. Errors: TIMEOUT. */
VYRE_API vyre_status vyre_device_wait(vyre_device *device, uint64_t timeout_ns, vyre_error *error);
/* A number behind the device, under a tag that the plugin documents. Errors: UNSUPPORTED, NOT_FOUND. */
VYRE_API vyre_status vyre_device_native(vyre_device *device, uint32_t tag, uint64_t *out, vyre_error *error);

/* ---- Executables ------------------------------------------------------------------------------- */

enum {
  VYRE_OPTION_CONTRACT = 1u << 0,  /* as the attribute contract */
  VYRE_OPTION_FLUSH = 1u << 1,     /* as the attribute flush */
  VYRE_OPTION_UNCHECKED = 1u << 2  /* the caller vouches for every index; wrong ones are undefined */
};

struct vyre_arg;

#define VYRE_LEVEL_UNSET UINT32_MAX /* of optimization: the setting optimizer.level decides */

/* What the caller asks of a compilation. The call wins over the program, the program over vyre.ini. */
typedef struct vyre_compile_options {
  uint32_t size;  /* sizeof(vyre_compile_options) */
  uint32_t flags; /* VYRE_OPTION_* */
  uint32_t ulp;   /* error budget of transcendentals; VYRE_ULP_UNSET leaves it to program and settings */
  uint32_t subgroup_size; /* 1, 2, 4, 8, 16 or 32; 0 leaves it to the program */
  uint64_t steps; /* loop iterations an invocation may make; 0 leaves it to the settings. With a limit the level of
                     optimization is 0, so that the turns counted are those of the program as it is written */
  /* Receives remarks of the device's compiler, during the call; may be NULL. |statement| is that of the program which
   * the compiler got: of the optimized one, if it takes kernels. */
  void (*remark)(void *ctx, vyre_log_level severity, uint32_t code, uint32_t statement, const char *text);
  void *remark_ctx;
  /* Parameters whose values are known now, each once, as vyre_arg_u32 and the like give them: they are compiled in, and
   * binding sets do not take them any more. Borrowed for the call. An executable is another one for other values. */
  const struct vyre_arg *specs;
  uint32_t spec_count;
  /* How much the program is optimized for backends that compile a kernel: 0, 1 or 2 as in vyre/opt.h. Results are the
   * same at each. VYRE_LEVEL_UNSET leaves it to the settings, without which it is 2. */
  uint32_t level;
} vyre_compile_options;
#define VYRE_COMPILE_OPTIONS_INIT { sizeof(vyre_compile_options), 0, VYRE_ULP_UNSET, 0, 0, 0, 0, 0, 0, VYRE_LEVEL_UNSET }

/* Compiles a program for a device and loads it. Compiling the same program with the same options again gives
 * the same executable once more. |options| may be NULL. Blocks.
 * Errors: UNSUPPORTED (the capability, type or limit that the device lacks, by name), LIMIT (workgroup or shared
 * memory, both numbers), INVALID_ARGUMENT (a transcendental without budget, names function and option; a spec that is
 * no parameter's value or given twice), NOT_FOUND (a spec of no parameter), MISSING_BINDING (one of another type), BUSY
 * (the driver loads nothing beside a persistent launch: compile before that, or stop it first). */
VYRE_API vyre_status vyre_compile(vyre_device *device, vyre_program *program, const vyre_compile_options *options,
                                  vyre_executable **out, vyre_error *error);
/* What vyre_compile asks before it turns to the plugin, without a device: whether |target|, the record of a device or
 * of a profile, has what the program needs. Settings do not count. Any thread. Errors: as those of vyre_compile. */
VYRE_API vyre_status vyre_compile_check(const vyre_capabilities *target, const vyre_program *program,
                                        const vyre_compile_options *options, vyre_error *error);
VYRE_API void vyre_executable_destroy(vyre_executable *executable);
/* As long as the executable. */
VYRE_API const vyre_program *vyre_executable_program(const vyre_executable *executable);
/* What it became and how it was last launched. The caller sets out->size. */
VYRE_API vyre_status vyre_executable_report(vyre_executable *executable, vyre_launch_report *out, vyre_error *error);
/* Workgroups that can be on the device at the same time, if nothing else is. */
VYRE_API vyre_status vyre_executable_max_resident(vyre_executable *executable, uint64_t *workgroups,
                                                  vyre_error *error);

/* ---- Compiling without a device ---------------------------------------------------------------- */

/* Profile |index|, from 0, of what the backend |name| can compile for where no device is. The backend may be one that
 * is unavailable: its library or device need not be here. The caller sets out->size. Errors: NOT_FOUND (no such
 * backend; beyond the last profile), what is wrong with the plugin. */
VYRE_API vyre_status vyre_backend_profile(vyre_context *context, const char *name, uint32_t index,
                                          vyre_capabilities *out, vyre_error *error);
/* Compiles a program with the backend |name| for |target|, the record of a profile or of a device that may be
 * elsewhere, and gives what that device would load. |options| may be NULL. The same input gives the same bytes. The
 * caller frees *out with free(). Blocks. Errors: those of vyre_compile, and of vyre_backend_profile for the backend. */
VYRE_API vyre_status vyre_compile_blob(vyre_context *context, const char *name, const vyre_capabilities *target,
                                       const vyre_program *program, const vyre_compile_options *options,
                                       uint8_t **out, size_t *bytes, vyre_error *error);
/* What the backend |name| compiled, as text for people in a dialect of its own. A NUL that |length| does not count
 * follows it; the caller frees *out with free(). Errors: UNSUPPORTED (the backend has no such text), INVALID_FILE (no
 * blob of this backend), and of vyre_backend_profile for the backend. */
VYRE_API vyre_status vyre_disassemble(vyre_context *context, const char *name, const void *blob, size_t bytes,
                                      char **out, size_t *length, vyre_error *error);

/* ---- Buffers ----------------------------------------------------------------------------------- */

/* Makes a buffer of |bytes| zero bytes. |properties| are VYRE_MEMORY_* bits that it must have; 0 for the memory
 * that suits the device best. 0 bytes are allowed.
 * Errors: UNSUPPORTED (no such memory; says which there are), LIMIT (both numbers). */
VYRE_API vyre_status vyre_buffer_create(vyre_device *device, uint64_t bytes, uint32_t properties, vyre_buffer **out,
                                        vyre_error *error);

/* Memory that exists already. */
typedef struct vyre_import {
  uint32_t size;       /* sizeof(vyre_import) */
  uint32_t kind;       /* VYRE_HANDLE_HOST_POINTER, VYRE_HANDLE_FD or VYRE_HANDLE_DEVICE_POINTER */
  uint64_t handle;
  uint64_t bytes;      /* a multiple of 16, at an address that is one */
  uint32_t properties; /* VYRE_MEMORY_* bits that it must have */
  uint32_t zero;
  /* Called once, when nothing uses the memory any more; may be NULL. Not called if the import fails. */
  void (*release)(void *ctx, uint64_t handle);
  void *release_ctx;
} vyre_import;
/* Memory that is reached through several buffers, because it was imported twice or exported and imported again, is
 * one memory where ranges must not overlap; of file descriptors that holds where the memory has a file of its own.
 * Errors: UNSUPPORTED (the device does not take that kind), INVALID_ARGUMENT (size or alignment, with both numbers),
 * BUSY (it was imported before, and the driver lets go of it when a persistent launch has ended). */
VYRE_API vyre_status vyre_buffer_import(vyre_device *device, const vyre_import *import, vyre_buffer **out,
                                        vyre_error *error);
/* A handle of |kind| (VYRE_HANDLE_*); file descriptors belong to the caller. Errors: UNSUPPORTED. */
VYRE_API vyre_status vyre_buffer_export(vyre_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error);
VYRE_API void vyre_buffer_destroy(vyre_buffer *buffer);
/* Bytes as asked for. */
VYRE_API uint64_t vyre_buffer_bytes(const vyre_buffer *buffer);
/* VYRE_MEMORY_* bits that it has. */
VYRE_API uint32_t vyre_buffer_properties(const vyre_buffer *buffer);
/* The host's address of a buffer with HOST_READ or HOST_WRITE, the same until it is destroyed. Errors:
 * UNSUPPORTED for other memory. */
VYRE_API vyre_status vyre_buffer_map(vyre_buffer *buffer, void **out, vyre_error *error);
/* For mapped memory that is not COHERENT: make the host's writes visible to later submissions, and their writes
 * visible to the host. Nothing happens for COHERENT memory. Errors: OUT_OF_RANGE. */
VYRE_API vyre_status vyre_buffer_flush(vyre_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error);
VYRE_API vyre_status vyre_buffer_invalidate(vyre_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error);
/* Copy to and from host memory, by the map where there is one, else staged. They do not wait for submissions
 * that use the buffer: wait for those first. Block. Errors: OUT_OF_RANGE. */
VYRE_API vyre_status vyre_buffer_write(vyre_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes,
                                       vyre_error *error);
VYRE_API vyre_status vyre_buffer_read(vyre_buffer *buffer, uint64_t offset, void *data, uint64_t bytes,
                                      vyre_error *error);

/* ---- Arguments --------------------------------------------------------------------------------- */

enum { VYRE_ARG_PARAM = 0, VYRE_ARG_BUFFER = 1, VYRE_ARG_HOST = 2 };
enum {
  VYRE_ARG_LATE = 1u << 0,  /* sets: the value, or the buffer's offset, comes with each submit */
  VYRE_ARG_INPUT = 1u << 1, /* HOST: copied to the device before the run */
  VYRE_ARG_OUTPUT = 1u << 2 /* HOST: copied back after it */
};

/* What one parameter or buffer of the program gets, by name. The functions below fill it. */
typedef struct vyre_arg {
  const char *name;
  uint32_t kind;         /* VYRE_ARG_PARAM, BUFFER or HOST */
  uint32_t flags;        /* VYRE_ARG_LATE, INPUT, OUTPUT */
  vyre_type type;        /* PARAM: type of the value, which must be the parameter's */
  uint32_t length_bits;  /* BUFFER: 0, or 32 or 64: the length stands in length_buffer */
  uint64_t bits;         /* PARAM: the value's bits */
  vyre_buffer *buffer;   /* BUFFER */
  uint64_t offset;       /* BUFFER: in bytes, a multiple of the device's binding_alignment */
  uint64_t elements;     /* BUFFER, HOST: number of elements, or VYRE_WHOLE (BUFFER) */
  vyre_buffer *length_buffer; /* BUFFER: the device's count; the length is min(count, elements) */
  uint64_t length_offset;     /* in bytes, a multiple of the count's size */
  void *host;            /* HOST */
} vyre_arg;

static inline vyre_arg vyre_arg_value(const char *name, vyre_type type, uint64_t bits) {
  vyre_arg arg = { name, VYRE_ARG_PARAM, 0, type, 0, bits, 0, 0, 0, 0, 0, 0 };
  return arg;
}
static inline vyre_arg vyre_arg_bool(const char *name, bool v) { return vyre_arg_value(name, VYRE_TYPE_BOOL, v); }
static inline vyre_arg vyre_arg_u32(const char *name, uint32_t v) { return vyre_arg_value(name, VYRE_TYPE_U32, v); }
static inline vyre_arg vyre_arg_i32(const char *name, int32_t v) {
  return vyre_arg_value(name, VYRE_TYPE_I32, (uint32_t)v);
}
static inline vyre_arg vyre_arg_u64(const char *name, uint64_t v) { return vyre_arg_value(name, VYRE_TYPE_U64, v); }
static inline vyre_arg vyre_arg_i64(const char *name, int64_t v) {
  return vyre_arg_value(name, VYRE_TYPE_I64, (uint64_t)v);
}
static inline vyre_arg vyre_arg_f32(const char *name, float v) {
  uint32_t bits;
  __builtin_memcpy(&bits, &v, sizeof bits);
  return vyre_arg_value(name, VYRE_TYPE_F32, bits);
}
static inline vyre_arg vyre_arg_f64(const char *name, double v) {
  uint64_t bits;
  __builtin_memcpy(&bits, &v, sizeof bits);
  return vyre_arg_value(name, VYRE_TYPE_F64, bits);
}
/* A whole buffer. */
static inline vyre_arg vyre_arg_buffer(const char *name, vyre_buffer *buffer) {
  vyre_arg arg = { name, VYRE_ARG_BUFFER, 0, VYRE_TYPE_NONE, 0, 0, buffer, 0, VYRE_WHOLE, 0, 0, 0 };
  return arg;
}
/* |elements| elements from a byte offset on. */
static inline vyre_arg vyre_arg_range(const char *name, vyre_buffer *buffer, uint64_t offset, uint64_t elements) {
  vyre_arg arg = { name, VYRE_ARG_BUFFER, 0, VYRE_TYPE_NONE, 0, 0, buffer, offset, elements, 0, 0, 0 };
  return arg;
}
/* Host memory for vyre_run: copied in, copied out (starts as zero, as `write` and unset `rw` buffers do), or both. */
static inline vyre_arg vyre_arg_host(const char *name, uint32_t flags, void *host, uint64_t elements) {
  vyre_arg arg = { name, VYRE_ARG_HOST, flags, VYRE_TYPE_NONE, 0, 0, 0, 0, elements, 0, 0, host };
  return arg;
}
static inline vyre_arg vyre_arg_in(const char *name, const void *host, uint64_t elements) {
  return vyre_arg_host(name, VYRE_ARG_INPUT, (void *)(uintptr_t)host, elements);
}
static inline vyre_arg vyre_arg_out(const char *name, void *host, uint64_t elements) {
  return vyre_arg_host(name, VYRE_ARG_OUTPUT, host, elements);
}
static inline vyre_arg vyre_arg_inout(const char *name, void *host, uint64_t elements) {
  return vyre_arg_host(name, VYRE_ARG_INPUT | VYRE_ARG_OUTPUT, host, elements);
}

/* ---- Binding sets ------------------------------------------------------------------------------ */

/* Checks what an executable runs on, once: every parameter that was not compiled in and every buffer given, exactly once, of the right type,
 * length and alignment, no overlap with something written. HOST arguments are for vyre_run only.
 * Errors: MISSING_BINDING, NOT_FOUND (no such name in the program), ALIASED, OUT_OF_RANGE (beyond the buffer, or
 * too long for len()), LIMIT, UNSUPPORTED (device_length), INVALID_ARGUMENT. */
VYRE_API vyre_status vyre_set_create(vyre_executable *executable, const vyre_arg *args, uint32_t count,
                                     vyre_set **out, vyre_error *error);
VYRE_API void vyre_set_destroy(vyre_set *set);
/* The grid that covers the longest written buffer, else the longest buffer, with one invocation an element.
 * Errors: INVALID_ARGUMENT if the workgroup has more than one axis. */
VYRE_API vyre_status vyre_set_grid(const vyre_set *set, uint64_t grid[3], vyre_error *error);

/* ---- Batches ----------------------------------------------------------------------------------- */

/* Commands to be submitted together, any number of times. Those without vyre_batch_order between them may
 * overlap. After its first submit, and while one goes on, a batch takes no more commands (BUSY); one that was refused
 * for its arguments leaves the batch open. */
VYRE_API vyre_status vyre_batch_create(vyre_device *device, vyre_batch **out, vyre_error *error);
VYRE_API void vyre_batch_destroy(vyre_batch *batch);

/* How a dispatch is launched. */
typedef struct vyre_launch {
  uint32_t size;      /* sizeof(vyre_launch) */
  uint32_t zero;
  uint64_t grid[3];   /* workgroups; the largest grid where it comes from the device */
  vyre_buffer *grid_buffer; /* three u32 at grid_offset, clamped to |grid|; NULL: |grid| itself */
  uint64_t grid_offset;
  vyre_buffer *stop_buffer; /* should_stop() is true once the u32 at stop_offset is not 0; may be NULL */
  uint64_t stop_offset;
  uint64_t time_budget_ns;  /* or once it has run so long; 0 for no limit */
  uint64_t work_budget;     /* or once it was called so often; 0 for no limit */
} vyre_launch;
#define VYRE_LAUNCH_INIT { sizeof(vyre_launch), 0, { 1, 1, 1 }, 0, 0, 0, 0, 0, 0 }

/* Runs |set| over |grid| workgroups. An axis of 0 runs nothing. Errors: OUT_OF_RANGE if an id would pass 2^32-1. */
VYRE_API vyre_status vyre_batch_dispatch(vyre_batch *batch, vyre_set *set, const uint64_t grid[3], vyre_error *error);
/* The same with everything. Errors: UNSUPPORTED (indirect_grid) besides. */
VYRE_API vyre_status vyre_batch_launch(vyre_batch *batch, vyre_set *set, const vyre_launch *launch,
                                       vyre_error *error);
/* Copies bytes between buffers of this device, or from or to another device of the same plugin where it can.
 * Errors: OUT_OF_RANGE, ALIASED, UNSUPPORTED (peer_copy). */
VYRE_API vyre_status vyre_batch_copy(vyre_batch *batch, vyre_buffer *source, uint64_t source_offset,
                                     vyre_buffer *target, uint64_t target_offset, uint64_t bytes, vyre_error *error);
/* Fills |bytes| bytes with a u32 pattern; offset and bytes are multiples of 4. Errors: OUT_OF_RANGE. */
VYRE_API vyre_status vyre_batch_fill(vyre_batch *batch, vyre_buffer *target, uint64_t offset, uint64_t bytes,
                                     uint32_t pattern, vyre_error *error);
/* The device's clock once all before the last order is done; the submission's timestamps by order of recording.
 * Errors: UNSUPPORTED (timestamp). */
VYRE_API vyre_status vyre_batch_timestamp(vyre_batch *batch, vyre_error *error);
/* Finishes all before it and makes its writes visible to all after it. */
VYRE_API vyre_status vyre_batch_order(vyre_batch *batch, vyre_error *error);

/* ---- Timelines --------------------------------------------------------------------------------- */

/* A counter that only grows, moved by submissions and by the host. */
VYRE_API vyre_status vyre_timeline_create(vyre_device *device, uint64_t value, vyre_timeline **out,
                                          vyre_error *error);
VYRE_API void vyre_timeline_destroy(vyre_timeline *timeline);
VYRE_API vyre_status vyre_timeline_value(vyre_timeline *timeline, uint64_t *value, vyre_error *error);
/* Moves it from the host. Errors: INVALID_ARGUMENT unless |value| is above the present one. */
VYRE_API vyre_status vyre_timeline_signal(vyre_timeline *timeline, uint64_t value, vyre_error *error);
/* Waits until it has reached |value|; 0 ns only asks. Errors: TIMEOUT; the status of the submission that
 * signalled the point, each time that it is asked. */
VYRE_API vyre_status vyre_timeline_wait(vyre_timeline *timeline, uint64_t value, uint64_t timeout_ns,
                                        vyre_error *error);

/* ---- Queues and submissions -------------------------------------------------------------------- */

/* Batches of one queue run in order; those of different queues may overlap. Errors: LIMIT. */
VYRE_API vyre_status vyre_queue_create(vyre_device *device, vyre_queue **out, vyre_error *error);
/* What was submitted still runs to its end. */
VYRE_API void vyre_queue_destroy(vyre_queue *queue);

typedef struct vyre_timeline_point {
  vyre_timeline *timeline;
  uint64_t value;
} vyre_timeline_point;

/* Late values of one dispatch: those of its set that have VYRE_ARG_LATE. */
typedef struct vyre_late_args {
  uint32_t command;     /* its number among the commands of the batch, from 0 */
  uint32_t count;
  const vyre_arg *args; /* params by value; buffers by name and offset alone */
} vyre_late_args;

typedef struct vyre_submit_options {
  uint32_t size;    /* sizeof(vyre_submit_options) */
  uint32_t overlap; /* 1: need not wait for earlier batches of the queue */
  const vyre_timeline_point *waits;   /* before the first command */
  const vyre_timeline_point *signals; /* after the last; each above what was asked of its timeline before */
  const vyre_late_args *late;
  uint32_t wait_count, signal_count, late_count, zero;
} vyre_submit_options;

/* Hands a batch over and returns at once. |options| may be NULL. |out| may be NULL if nobody will ask.
 * Errors: MISSING_BINDING (a late value is not given), ALIASED, OUT_OF_RANGE, BUSY (its first submit needs code that
 * the driver does not load beside a persistent launch). */
VYRE_API vyre_status vyre_queue_submit(vyre_queue *queue, vyre_batch *batch, const vyre_submit_options *options,
                                       vyre_submission **out, vyre_error *error);
/* The same for one dispatch, through a batch that the set keeps ready. */
VYRE_API vyre_status vyre_queue_dispatch(vyre_queue *queue, vyre_set *set, const uint64_t grid[3],
                                         vyre_submission **out, vyre_error *error);
/* Waits until all that was submitted to it has ended. Errors: TIMEOUT. */
VYRE_API vyre_status vyre_queue_wait(vyre_queue *queue, uint64_t timeout_ns, vyre_error *error);

/* Starts a kernel that runs until its stop word is set: on a queue of its own, at most max_resident workgroups. The
 * stop word is the library's own: stop_buffer stays NULL. Beside it everything else goes on, but some drivers load no
 * code: compile before, and see BUSY where that is an error.
 * Errors: UNSUPPORTED (persistent), LIMIT (both numbers), INVALID_ARGUMENT (a stop_buffer). */
VYRE_API vyre_status vyre_launch_persistent(vyre_set *set, const vyre_launch *launch, vyre_submission **out,
                                            vyre_error *error);
/* Sets the stop word of a persistent launch, and returns at once. Errors: INVALID_ARGUMENT for another one. */
VYRE_API vyre_status vyre_submission_stop(vyre_submission *submission, vyre_error *error);

/* A submission's handle may be destroyed while it runs. */
VYRE_API void vyre_submission_destroy(vyre_submission *submission);
/* Waits for its end: OK, TIMEOUT, or what became of it (TRAP, DEVICE_LOST, ...), each time. Any thread. */
VYRE_API vyre_status vyre_submission_wait(vyre_submission *submission, uint64_t timeout_ns, vyre_error *error);
/* Its completion record. The caller sets out->size. Errors: NOT_READY. */
VYRE_API vyre_status vyre_submission_completion(vyre_submission *submission, vyre_completion *out, vyre_error *error);
/* Its |index|-th timestamp in ns of the device's clock. Errors: NOT_READY, NOT_FOUND. */
VYRE_API vyre_status vyre_submission_timestamp(vyre_submission *submission, uint32_t index, uint64_t *out,
                                               vyre_error *error);
/* What the programs printed, record by record, as text. |gid| is the invocation. Errors: NOT_READY. */
typedef void (*vyre_print_fn)(void *ctx, const uint32_t gid[3], const char *text);
VYRE_API vyre_status vyre_submission_prints(vyre_submission *submission, vyre_print_fn fn, void *ctx,
                                            vyre_error *error);
/* Calls |fn| once when it has ended, at once if it has, on a thread of the library. It may call anything here that
 * does not wait, and must not block. The device stays open until it has returned. */
typedef void (*vyre_complete_fn)(void *ctx, vyre_status status);
VYRE_API vyre_status vyre_submission_on_complete(vyre_submission *submission, vyre_complete_fn fn, void *ctx,
                                                 vyre_error *error);

/* ---- The short way ----------------------------------------------------------------------------- */

typedef struct vyre_run_options {
  uint32_t size;                       /* sizeof(vyre_run_options) */
  uint32_t has_grid;                   /* 0: what vyre_set_grid gives */
  uint64_t grid[3];                    /* workgroups */
  uint64_t timeout_ns;                 /* 0: the setting run.timeout, or none */
  const vyre_compile_options *compile; /* may be NULL */
  vyre_print_fn print;                 /* may be NULL */
  void *print_ctx;
  vyre_completion *completion;         /* filled if not NULL; the caller sets its size */
  vyre_launch_report *report;          /* filled if not NULL; the caller sets its size */
} vyre_run_options;
#define VYRE_RUN_OPTIONS_INIT { sizeof(vyre_run_options), 0, { 1, 1, 1 }, 0, 0, 0, 0, 0, 0 }

/* Compiles, binds, copies host memory in, runs, waits and copies back. |options| may be NULL. Nothing is copied
 * back from a run that failed. All runs of a device share a queue, so that one that never ends holds up the next; a
 * step limit or a timeout with vyre_device_close ends it. Errors: those of vyre_compile, vyre_set_create, vyre_submission_wait; TIMEOUT. */
VYRE_API vyre_status vyre_run(vyre_device *device, vyre_program *program, const vyre_arg *args, uint32_t count,
                              const vyre_run_options *options, vyre_error *error);

#ifdef __cplusplus
}
#endif
#endif
