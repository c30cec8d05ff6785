/* The plugin ABI: what a backend gives to libvyre and what it gets from it.
 *
 * A backend is one shared object `vyre_backend_<name>.so` that exports one symbol, vyre_backend_query.
 * It imports nothing from libvyre: memory, log, configuration, clock and cache come through vyre_host.
 * No function of the headers here is called by a plugin; they are read for their records and numbers.
 *
 * Rules that hold for every record and table here:
 *   - The first member is the record's size in bytes as its writer knows it. Members are only appended.
 *     A reader uses no byte beyond that size; what is missing reads as 0. Every `zero` member is 0.
 *   - Only fixed-width integers and pointers, no hidden padding, little endian hosts with 64-bit pointers.
 *   - A function that fills a record for the caller writes at most the size that the caller set.
 *   - Arrays of records are contiguous with the layout of this header; ABI major and fingerprint agree.
 *
 * Rules that hold for every function here:
 *   - It returns a vyre_status and, where it fails, fills the caller's vyre_error, which may be NULL.
 *     A failed creation has undone all that it began and has stored NULL.
 *   - It never aborts, exits, prints, raises or lets a signal or exception pass, and leaves the host's open
 *     files, blocked signals, current directory, mode mask and float environment as they are.
 *   - Arguments are borrowed for the call unless it is said otherwise. Handles are the plugin's own
 *     structures: define `struct vyre_plugin_device` and its like as you need them.
 *   - libvyre counts references: a destroy function is called once, and only when no pending submission
 *     and no other object of the plugin uses the object. Children are destroyed before their parents.
 *   - Threads: any function may be called from any thread. What must not run at the same time is said at
 *     the slot; otherwise calls on different objects, and calls that only read one object, may.
 *   - Once an operation has answered VYRE_ERR_DEVICE_LOST, every later one on that device does, at once,
 *     waits included. Destroying is still legal.
 *   - Nothing runs at process exit, and no destructor or atexit handler may be registered.
 *
 * ABI major 0: any record may change; each change comes with a new fingerprint, and a plugin that was
 * built with another one is refused. */
#ifndef VYRE_BACKEND_H
#define VYRE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/log.h> /* for the numbers of vyre_log_level */
#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#define VYRE_ABI_ASSERT(what) static_assert(what, #what)
#else
#define VYRE_ABI_ASSERT(what) _Static_assert(what, #what)
#endif

#define VYRE_ABI_MAGIC 0x315F444E45425956ull /* "VYBEND_1" in memory */
#define VYRE_ABI_MAJOR 0u
#define VYRE_ABI_MINOR 1u

/* The first eight bytes of the BLAKE2b-256 digest of tests/backend/abi_layout.golden, which lists every
 * member of every record here with its place. `make check` compares both. */
#define VYRE_ABI_FINGERPRINT 0x99FF3B2C5CB5EB3Dull

#define VYRE_BACKEND_SYMBOL "vyre_backend_query"
#define VYRE_BACKEND_PREFIX "vyre_backend_" /* file name: prefix, name, suffix */
#define VYRE_BACKEND_SUFFIX ".so"
#define VYRE_BACKEND_MAX_NAME 32u /* bytes of a backend's name: [a-z][a-z0-9_]* */

/* ---- Negotiation ----------------------------------------------------------------------------- */

/* Which sanitizers an object was built with. Host and plugin must agree. */
enum {
  VYRE_SANITIZER_ADDRESS = 1u << 0,
  VYRE_SANITIZER_THREAD = 1u << 1,
  VYRE_SANITIZER_MEMORY = 1u << 2
};

#ifndef __has_feature
#define VYRE_ABI_HAS_FEATURE(f) 0
#else
#define VYRE_ABI_HAS_FEATURE(f) __has_feature(f)
#endif
#if defined(__SANITIZE_ADDRESS__) || VYRE_ABI_HAS_FEATURE(address_sanitizer)
#define VYRE_ABI_SANITIZER VYRE_SANITIZER_ADDRESS
#elif defined(__SANITIZE_THREAD__) || VYRE_ABI_HAS_FEATURE(thread_sanitizer)
#define VYRE_ABI_SANITIZER VYRE_SANITIZER_THREAD
#elif VYRE_ABI_HAS_FEATURE(memory_sanitizer)
#define VYRE_ABI_SANITIZER VYRE_SANITIZER_MEMORY
#else
#define VYRE_ABI_SANITIZER 0u
#endif

/* What the host offers. */
typedef struct vyre_backend_request {
  uint32_t size;
  uint32_t sanitizer;      /* VYRE_SANITIZER_* of the host */
  uint32_t host_major_min; /* lowest and highest ABI major that the host can talk to */
  uint32_t host_major_max;
  uint32_t host_minor;     /* minor of the highest major */
  uint32_t zero;
  uint64_t fingerprint;    /* VYRE_ABI_FINGERPRINT of the host */
} vyre_backend_request;

/* Instructions that the whole object was compiled for beyond its architecture's baseline. The host asks
 * processor and operating system before it calls anything but vyre_backend_query. x86-64: */
enum {
  VYRE_CPU_SSE42 = 1u << 0,
  VYRE_CPU_AVX = 1u << 1,
  VYRE_CPU_AVX2 = 1u << 2,
  VYRE_CPU_FMA = 1u << 3,
  VYRE_CPU_BMI2 = 1u << 4,
  VYRE_CPU_AVX512F = 1u << 5
};

/* Descriptor flags. An unknown bit is refused. */
enum {
  VYRE_BACKEND_TAKES_PROGRAM = 1u << 0, /* compile reads the program's wire bytes */
  VYRE_BACKEND_TAKES_KERNEL = 1u << 1   /* compile reads the kernel form */
};

/* One opcode of the kernel form (vyre/kernel.h) and the types that the plugin takes it with. */
typedef struct vyre_opcode_support {
  uint32_t opcode; /* vyre_kernel_op; an opcode may have several rows */
  uint32_t ulp;    /* of a transcendental: taken for error budgets of at least this; 0 for all others */
  uint64_t types;  /* VYRE_KERNEL_TYPE_BIT of each */
} vyre_opcode_support;

typedef struct vyre_backend_ops vyre_backend_ops;

/* What a plugin says about itself. Read-only, static storage. The members before opcodes are frozen for
 * ever, in every major. */
typedef struct vyre_backend_desc {
  uint64_t magic;          /* VYRE_ABI_MAGIC */
  uint32_t size;           /* of this record */
  uint32_t abi_major;      /* VYRE_ABI_MAJOR as the plugin was built */
  uint32_t abi_minor;
  uint32_t min_host_minor; /* the host's minor must not be lower */
  uint32_t flags;          /* VYRE_BACKEND_* */
  uint32_t sanitizer;      /* VYRE_ABI_SANITIZER as the plugin was built */
  uint64_t fingerprint;    /* VYRE_ABI_FINGERPRINT as the plugin was built */
  uint64_t cpu_features;   /* VYRE_CPU_*; 0 for the baseline */
  const char *name;        /* the same as in the file's name */
  const char *version;     /* dotted numbers, "1.4.0" */
  const char *build_id;    /* differs between any two builds that may compile differently; a cache key */
  const vyre_backend_ops *ops;
  /* end of the frozen part */
  const vyre_opcode_support *opcodes; /* NULL without VYRE_BACKEND_TAKES_KERNEL */
  uint64_t opcode_count;
} vyre_backend_desc;

/* The one export. Pure: no allocation, thread, vendor library or state; any thread, any number of times.
 * NULL if the plugin cannot serve such a host. */
typedef const vyre_backend_desc *(*vyre_backend_query_fn)(const vyre_backend_request *request);

/* In front of the plugin's definition: VYRE_BACKEND_EXPORT const vyre_backend_desc *vyre_backend_query(...) */
#ifdef __cplusplus
#define VYRE_BACKEND_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define VYRE_BACKEND_EXPORT __attribute__((visibility("default")))
#endif

/* ---- Host services --------------------------------------------------------------------------- */

/* Bytes that the host owns and frees: |data| comes from host->alloc with alignment 16. NULL with length 0. */
typedef struct vyre_bytes {
  uint32_t size;
  uint32_t zero;
  void *data;
  uint64_t length;
} vyre_bytes;

/* Services for the plugin. Valid during the call that passes it, and from open until close returns.
 * Every service may be called from any thread, inside any call. */
typedef struct vyre_host {
  uint32_t size;
  uint32_t zero;
  void *ctx; /* first argument of every service */
  /* |bytes| bytes aligned to |align|, a power of two; contents unspecified. NULL without memory. */
  void *(*alloc)(void *ctx, uint64_t bytes, uint64_t align);
  /* Moves |p| of |old_bytes| (NULL: none) to |bytes|. NULL without memory, then |p| is as it was. */
  void *(*realloc)(void *ctx, void *p, uint64_t old_bytes, uint64_t bytes, uint64_t align);
  /* Frees what alloc or realloc gave; |bytes| as asked for. NULL is allowed. */
  void (*free)(void *ctx, void *p, uint64_t bytes);
  /* One line of log, without newline; the host adds the plugin's name. It must not be called from inside
   * itself. |level| vyre_log_level, |subsystem| a word such as "compile". */
  void (*log)(void *ctx, uint32_t level, const char *subsystem, const char *text);
  /* Value of a configuration key; a plugin's own are "<name>.<key>". Those that libvyre's table has are plain decimals
   * where they are numbers: sizes in bytes, times in ns, true is 1. Others come from [backend <name>] of the file or
   * VYRE_BACKEND_<NAME>_<KEY> of the environment, as they were written. Writes at most |capacity| bytes, NUL included, and gives the value's length, at most 1023.
   * Errors: NOT_FOUND for a key that is not set. */
  vyre_status (*config_get)(void *ctx, const char *key, char *text, uint64_t capacity, uint64_t *length);
  /* Monotonic nanoseconds. */
  uint64_t (*now_ns)(void *ctx);
  /* What cache_put stored under the key. Anything wrong is NOT_FOUND. The caller frees out->data by free. */
  vyre_status (*cache_get)(void *ctx, const void *key, uint64_t key_bytes, vyre_bytes *out);
  /* Stores bytes under a key. A failure costs time only and may be ignored. */
  vyre_status (*cache_put)(void *ctx, const void *key, uint64_t key_bytes, const void *data, uint64_t bytes);
} vyre_host;

/* ---- Capabilities ---------------------------------------------------------------------------- */

/* Kinds of memory. A request asks for bits; the record lists the combinations that exist. */
enum {
  VYRE_MEMORY_DEVICE_LOCAL = 1u << 0, /* fastest for the device */
  VYRE_MEMORY_HOST_READ = 1u << 1,    /* mappable, cached for the host */
  VYRE_MEMORY_HOST_WRITE = 1u << 2,   /* mappable, maybe write-combined */
  VYRE_MEMORY_COHERENT = 1u << 3,     /* needs no flush and no invalidate */
  VYRE_MEMORY_CONCURRENT = 1u << 4    /* host and a running kernel both access it (host_coherent_atomics) */
};

/* What a buffer can be imported from or exported as. `handle` is a u64 of the stated meaning. */
enum {
  VYRE_HANDLE_NONE = 0,
  VYRE_HANDLE_HOST_POINTER = 1,   /* address of memory of this process */
  VYRE_HANDLE_FD = 2,             /* file descriptor of a memory object; import and export duplicate it */
  VYRE_HANDLE_DEVICE_POINTER = 3, /* address in the device's own address space */
  VYRE_HANDLE_BUFFER = 4          /* vyre_plugin_buffer of another device of the same plugin */
};

/* Device kinds. */
enum {
  VYRE_DEVICE_CPU = 1u << 0,
  VYRE_DEVICE_INTEGRATED = 1u << 1,
  VYRE_DEVICE_DISCRETE = 1u << 2,
  VYRE_DEVICE_VIRTUAL = 1u << 3
};

/* What a device can do beside running programs. */
enum {
  VYRE_CAN_DEVICE_LENGTH = 1u << 0,         /* a binding's length may stand in a buffer */
  VYRE_CAN_INDIRECT_GRID = 1u << 1,         /* a grid may stand in a buffer */
  VYRE_CAN_HOST_COHERENT_ATOMICS = 1u << 2, /* system scope reaches the host while a kernel runs */
  VYRE_CAN_PERSISTENT = 1u << 3,            /* persistent launches */
  VYRE_CAN_TIMESTAMP = 1u << 4,
  VYRE_CAN_STORAGE_READ = 1u << 5,
  VYRE_CAN_PEER_COPY = 1u << 6              /* copies whose other buffer is on another device of this plugin */
};

/* Numeric promises, made by the API or established by a self-test as the device was opened. */
enum {
  VYRE_NUMERIC_SUBNORMALS = 1u << 0, /* kept; without it a program needs the attribute flush */
  VYRE_NUMERIC_FMA = 1u << 1,        /* fma is rounded once */
  VYRE_NUMERIC_DIVISION = 1u << 2,   /* division and square root are rounded once */
  VYRE_NUMERIC_ZERO_ORDER = 1u << 3  /* min and max keep -0 below +0 */
};

enum { VYRE_PROGRESS_NONE = 0, VYRE_PROGRESS_WORKGROUPS = 1, VYRE_PROGRESS_INVOCATIONS = 2 };

#define VYRE_MAX_MEMORY_TYPES 16u
#define VYRE_MAX_MEMORY_HEAPS 8u

typedef struct vyre_memory_type {
  uint32_t properties; /* VYRE_MEMORY_* */
  uint32_t heap;       /* index of its heap */
} vyre_memory_type;

typedef struct vyre_memory_heap {
  uint64_t bytes;
  uint32_t properties; /* VYRE_MEMORY_DEVICE_LOCAL or 0 */
  uint32_t zero;
} vyre_memory_heap;

/* What a device, or a profile that may be compiled for without one, is and can do. A device's record does
 * not change while it is open. Identity, memory, limits of launching and handles are 0 in a profile. */
typedef struct vyre_capabilities {
  uint32_t size;
  uint32_t kind;                   /* VYRE_DEVICE_* */
  char profile[64];                /* its profile's name, "NAME:ARCHITECTURE" */
  char name[128];                  /* of the device, for people */
  char driver[64];                 /* driver and version, for people */
  uint8_t uuid[16];                /* stable identity of the hardware; all 0 if there is none */
  uint64_t driver_version;         /* as a number that only grows, a cache key */
  uint64_t pci;                    /* domain << 16 | bus << 8 | device << 3 | function; all ones if none */
  uint32_t api_version;
  uint32_t vendor_id;
  uint32_t device_id;
  uint32_t partition;              /* of a partitioned device; 0 else */
  int32_t numa_node;               /* -1 if unknown */
  int32_t dlpack_type;             /* DLDeviceType and device id of its memory */
  int32_t dlpack_id;
  uint32_t forward_progress;       /* VYRE_PROGRESS_* */

  /* Programs. */
  uint64_t needs;                  /* the VYRE_NEED_* bits of vyre/ir.h that it satisfies */
  uint32_t numeric;                /* VYRE_NUMERIC_* */
  uint32_t subgroup_sizes;         /* the sum of the sizes that can be required, each 1, 2, 4, 8, 16 or 32 */
  uint32_t subgroup_size;          /* the one that is used where none is required */
  uint32_t max_workgroup_invocations;
  uint32_t max_workgroup[3];
  uint32_t max_shared_bytes;       /* of workgroup memory in one workgroup */
  uint32_t max_bindings;
  uint32_t max_param_bytes;

  /* Launching. */
  uint32_t can;                    /* VYRE_CAN_* */
  uint32_t max_queues;
  uint32_t max_persistent;         /* persistent launches at the same time */
  uint32_t conformance;            /* version of the conformance kit that it passed; 0 if never */
  uint64_t time_limit_ns;          /* a longer launch is killed; 0 if none is */

  /* Memory. */
  uint64_t max_buffer_bytes;
  uint32_t binding_alignment;      /* of a binding's offset: 16 to 256, a power of two */
  uint32_t import_kinds;           /* bit 1 << VYRE_HANDLE_* */
  uint32_t export_kinds;
  uint32_t memory_type_count;
  uint32_t memory_heap_count;
  uint32_t zero;
  vyre_memory_type memory_types[VYRE_MAX_MEMORY_TYPES]; /* best first: the first that has all bits asked for is taken */
  vyre_memory_heap memory_heaps[VYRE_MAX_MEMORY_HEAPS];

  /* What the plugin's own compile wants to know of a target beside all that: only the plugin reads it. */
  uint32_t vendor[8];
} vyre_capabilities;

/* ---- Compiling ------------------------------------------------------------------------------- */

enum {
  VYRE_COMPILE_ULP = 1u << 0,       /* ulp_budget is set; without it transcendentals are refused */
  VYRE_COMPILE_CONTRACT = 1u << 1,  /* a*b + c may become one rounding */
  VYRE_COMPILE_FLUSH = 1u << 2,     /* subnormals may be treated as zero */
  VYRE_COMPILE_UNCHECKED = 1u << 3, /* the caller vouches for every index */
  VYRE_COMPILE_STEPS = 1u << 4      /* back edges are counted up to |steps| */
};

/* A parameter whose value is fixed when the program is compiled. In the kernel it is a row of specs with the same value,
 * and a literal or SPEC takes the place of PARAM; the launch block has the value too. */
typedef struct vyre_spec_constant {
  uint32_t id;   /* number of the parameter in order of declaration */
  uint32_t type; /* enum vyre_type */
  uint64_t bits;
} vyre_spec_constant;

/* What to compile. Options are final: attributes of the program, call and configuration are merged in. */
typedef struct vyre_compile_request {
  uint32_t size;
  uint32_t flags;             /* VYRE_COMPILE_* */
  const uint8_t *wire;        /* the program as written, VIR0 */
  uint64_t wire_bytes;
  const uint8_t *kernel;      /* the kernel form; NULL without VYRE_BACKEND_TAKES_KERNEL */
  uint64_t kernel_bytes;
  uint8_t fingerprint[32];    /* of the program */
  uint32_t ulp_budget;        /* 0 asks for correct rounding */
  uint32_t subgroup_size;     /* required size, 0 for any */
  uint64_t steps;
  const vyre_spec_constant *spec; /* parameters with a value that is known, by ascending id */
  uint64_t spec_count;
  /* A remark for people: |severity| VYRE_LOG_ERROR, WARNING or INFO, |code| enum vyre_code or 0, |statement|
   * its number in pre-order from 1 or 0. May be NULL. Called by the calling thread, during the call. */
  void (*remark)(void *ctx, uint32_t severity, uint32_t code, uint32_t statement, const char *text);
  void *remark_ctx;
} vyre_compile_request;

/* ---- Objects of a device --------------------------------------------------------------------- */

typedef struct vyre_plugin vyre_plugin;                       /* one opened instance */
typedef struct vyre_plugin_device vyre_plugin_device;
typedef struct vyre_plugin_executable vyre_plugin_executable; /* a loaded blob */
typedef struct vyre_plugin_buffer vyre_plugin_buffer;
typedef struct vyre_plugin_set vyre_plugin_set;               /* a binding set */
typedef struct vyre_plugin_batch vyre_plugin_batch;           /* recorded commands */
typedef struct vyre_plugin_queue vyre_plugin_queue;
typedef struct vyre_plugin_timeline vyre_plugin_timeline;

#define VYRE_NOT_COUNTED UINT64_MAX

/* What an executable is and how it was launched. */
enum {
  VYRE_REPORT_SYSTEM_IS_DEVICE = 1u << 0,      /* system scope reaches the device only */
  VYRE_REPORT_NATIVE_GRID_BARRIER = 1u << 1    /* grid barriers run inside one launch */
};
typedef struct vyre_launch_report {
  uint32_t size;
  uint32_t flags;                 /* VYRE_REPORT_* */
  uint32_t declared_workgroup[3]; /* as the program says */
  uint32_t planned_workgroup[3];  /* as compiled, padding to whole subgroups included */
  uint32_t launched_grid[3];      /* workgroups of the launch that started last */
  uint32_t subgroup_size;         /* that every launch of it uses */
  uint32_t registers;             /* an invocation; 0 if unknown */
  uint32_t entry_points;          /* launches that one dispatch needs */
  uint64_t shared_bytes;          /* a workgroup */
  uint64_t scratch_bytes;         /* an invocation; its locals and spilled registers */
  uint64_t spill_bytes;           /* a grid; live across grid barriers */
  uint64_t max_resident;          /* workgroups at the same time; 0 if unknown */
  uint64_t launches;              /* dispatches started so far */
} vyre_launch_report;

/* Memory to make or to import. */
typedef struct vyre_buffer_request {
  uint32_t size;
  uint32_t properties; /* VYRE_MEMORY_*: all of them, as one entry of the record's memory_types has */
  uint64_t bytes;      /* at least 1; a multiple of 16. New memory is zero */
  uint32_t kind;       /* VYRE_HANDLE_NONE makes new memory, else it is imported from |handle| */
  uint32_t zero;
  uint64_t handle;     /* stays valid until the buffer is destroyed; its owner frees it then */
} vyre_buffer_request;

/* One binding of a set: |bytes| of |buffer| from |offset|, a multiple of binding_alignment. Its length is
 * |elements|; if length_bits is not 0, the count of that width at |length_offset| (a multiple of its size)
 * of |length_buffer| is read once as the dispatch starts and the length is min(count, elements). */
enum {
  VYRE_BIND_WRITTEN = 1u << 0, /* the program may write it */
  VYRE_BIND_ZERO = 1u << 1,    /* the bytes are set to zero as a part of each dispatch, before its first invocation */
  VYRE_BIND_LATE = 1u << 2     /* the offset comes with each submit */
};
typedef struct vyre_bind {
  uint32_t flags;       /* VYRE_BIND_* */
  uint32_t length_bits; /* 0, 32 or 64 */
  vyre_plugin_buffer *buffer; /* NULL only where bytes is 0 */
  uint64_t offset;
  uint64_t bytes;
  uint64_t elements;
  vyre_plugin_buffer *length_buffer;
  uint64_t length_offset;
} vyre_bind;

/* What an executable runs on. libvyre has checked it: types, sizes, alignment, aliasing. */
typedef struct vyre_set_request {
  uint32_t size;
  uint32_t bind_count;   /* as many as the program binds */
  const vyre_bind *binds; /* by slot, copied */
  const void *params;    /* parameters in declaration order at natural alignment, bool as u32; copied */
  uint64_t param_bytes;
  uint32_t late_params;  /* 1: every submit gives them */
  uint32_t zero;
} vyre_set_request;

/* The commands of a batch. Those without an ORDER between them may overlap; ORDER finishes all before it
 * and makes their writes visible to all after it. */
enum {
  VYRE_COMMAND_DISPATCH = 1,  /* vyre_dispatch */
  VYRE_COMMAND_COPY = 2,      /* vyre_copy */
  VYRE_COMMAND_FILL = 3,      /* vyre_fill */
  VYRE_COMMAND_TIMESTAMP = 4, /* vyre_timestamp */
  VYRE_COMMAND_ORDER = 5      /* no record */
};
typedef struct vyre_command {
  uint32_t kind; /* VYRE_COMMAND_* */
  uint32_t zero;
  const void *record; /* of that kind; copied */
} vyre_command;

/* Runs an executable over a grid of workgroups: |grid|, or three u32 at |grid_offset| (a multiple of 4) of
 * |grid_buffer|, each clamped to |grid|. An axis of 0 runs nothing. Every id fits 32 bits for every grid
 * that |grid| allows. A persistent dispatch is the only command of its batch.
 * should_stop() is true once the u32 at |stop_offset| of |stop_buffer| (may be NULL: none) is not 0, the
 * launch has run for |time_budget_ns|, or the call has been made |work_budget| times; 0 is no budget. */
enum { VYRE_DISPATCH_PERSISTENT = 1u << 0 };
typedef struct vyre_dispatch {
  uint32_t size;
  uint32_t flags; /* VYRE_DISPATCH_* */
  vyre_plugin_executable *executable;
  vyre_plugin_set *set;
  uint32_t grid[3];
  uint32_t zero;
  vyre_plugin_buffer *grid_buffer;
  uint64_t grid_offset;
  vyre_plugin_buffer *stop_buffer;
  uint64_t stop_offset;
  uint64_t time_budget_ns;
  uint64_t work_budget;
} vyre_dispatch;

/* Copies bytes; the ranges do not overlap. One of the buffers may be another device's with VYRE_CAN_PEER_COPY. */
typedef struct vyre_copy {
  uint32_t size;
  uint32_t zero;
  vyre_plugin_buffer *source;
  uint64_t source_offset;
  vyre_plugin_buffer *target;
  uint64_t target_offset;
  uint64_t bytes;
} vyre_copy;

/* Writes |bytes| bytes, offset and bytes multiples of 4, with the u32 |pattern|. */
typedef struct vyre_fill {
  uint32_t size;
  uint32_t pattern;
  vyre_plugin_buffer *target;
  uint64_t offset;
  uint64_t bytes;
} vyre_fill;

/* Writes the device's clock in ns to timestamps[index] of the submit, after all before the last ORDER. */
typedef struct vyre_timestamp {
  uint32_t size;
  uint32_t index;
} vyre_timestamp;

/* A point of a timeline: reached once the timeline's value is at least |value|. */
typedef struct vyre_point {
  vyre_plugin_timeline *timeline;
  uint64_t value;
} vyre_point;

/* What a set leaves to the submit, for one dispatch of the batch. */
typedef struct vyre_late {
  uint32_t command;        /* its number among all commands of the batch, from 0 */
  uint32_t zero;
  const void *params;      /* with late_params, else NULL; copied */
  const uint64_t *offsets; /* one a slot, read for VYRE_BIND_LATE slots; NULL if there is none; copied */
} vyre_late;

/* What became of a submission. libvyre owns the record, sets size and zeroes the rest; the plugin fills it
 * before timeline_value or timeline_wait reports one of the submission's signals, and does not touch it
 * afterwards. Points are signalled also by submissions that failed. */
typedef struct vyre_completion {
  uint32_t size;
  int32_t status;            /* OK, TRAP, DEVICE_LOST, ... */
  int64_t vendor_code;       /* of the vendor's API, or 0 */
  uint64_t trap_count;       /* invocations that trapped */
  uint32_t trap_code;        /* of one of them; on cpu_ref, the one that comes first in x, then y, then z */
  uint32_t trap_gid[3];      /* that invocation */
  uint64_t masked_loads;     /* accesses out of range that were not made; VYRE_NOT_COUNTED if not counted */
  uint64_t masked_stores;
  uint64_t masked_atomics;
  uint64_t prints_written;   /* print records in |prints| of the submit */
  uint64_t prints_dropped;   /* those that found no room */
  uint64_t clamped_extents;  /* lengths and grid axes from the device that were larger than allowed */
  uint64_t device_ns;        /* time on the device, 0 if unknown */
  char text[256];            /* of a failure, for people; else empty */
} vyre_completion;

/* Print records follow each other in |prints| of the submit: this header, then |arg_count| words with the
 * bits of an argument each, upper ones 0 (vectors: one word a component). Libvyre makes the text. */
typedef struct vyre_print_record {
  uint32_t site;      /* number of the print statement among those of the program, in pre-order, from 0 */
  uint32_t arg_count;
  uint32_t gid[3];    /* invocation */
  uint32_t command;   /* dispatch in the batch */
} vyre_print_record;

/* Points are signalled in the order of the queue's submissions, those that overlap included. */
enum { VYRE_SUBMIT_OVERLAP = 1u << 0 }; /* need not wait for earlier batches of the queue */
typedef struct vyre_submit {
  uint32_t size;
  uint32_t flags; /* VYRE_SUBMIT_* */
  vyre_plugin_batch *batch;
  const vyre_point *waits;   /* reached before the first command starts; may lie in the future */
  const vyre_point *signals; /* signalled in this order after the last command has ended */
  const vyre_late *late;     /* by ascending command */
  uint32_t wait_count;
  uint32_t signal_count;
  uint32_t late_count;
  uint32_t timestamp_count;
  uint64_t *timestamps;      /* host memory; filled like the completion record */
  uint64_t *prints;          /* host memory for print records; filled like the completion record */
  uint64_t print_words;      /* capacity in words; 0 if no program prints */
  vyre_completion *completion;
} vyre_submit;

enum { VYRE_QUEUE_PERSISTENT = 1u << 0 }; /* takes persistent dispatches, and nothing else */

/* Objects that |native| knows. */
enum {
  VYRE_OBJECT_DEVICE = 1,
  VYRE_OBJECT_BUFFER = 2,
  VYRE_OBJECT_QUEUE = 3,
  VYRE_OBJECT_EXECUTABLE = 4
};

/* ---- The table ------------------------------------------------------------------------------- */

/* Slots marked "optional" may be NULL; libvyre then answers VYRE_ERR_UNSUPPORTED for them. */
struct vyre_backend_ops {
  uint32_t size;
  uint32_t zero;

  /* Can this plugin work here? May open the vendor's library, makes no context, thread or process. Not at
   * the same time as open or close.
   * Errors: LIBRARY_ABSENT, TOO_OLD, NO_DEVICE, DENIED, FORKED, BROKEN_PLUGIN. */
  vyre_status (*probe)(const vyre_host *host, vyre_error *error);

  /* Profile |index|, from 0: what can be compiled for without a device. Needs no probe.
   * Errors: NOT_FOUND beyond the last. */
  vyre_status (*profile)(const vyre_host *host, uint32_t index, vyre_capabilities *out, vyre_error *error);

  /* Compiles for a profile's or a device's record. Pure: the same input gives the same bytes. Needs no probe
   * and no device. The blob begins with the plugin's build id, the profile and the digest of what was compiled.
   * Errors: UNSUPPORTED (names what), INVALID_WIRE, LIMIT, NO_MEMORY. */
  vyre_status (*compile)(const vyre_host *host, const vyre_capabilities *target, const vyre_compile_request *request,
                         vyre_bytes *blob, vyre_error *error);

  /* Optional: adds machine code for |target| to a blob. */
  vyre_status (*finalize)(const vyre_host *host, const vyre_capabilities *target, const void *blob, uint64_t bytes,
                          vyre_bytes *out, vyre_error *error);

  /* Optional: the blob as text for people (`vyre emit`). */
  vyre_status (*disassemble)(const vyre_host *host, const void *blob, uint64_t bytes, vyre_bytes *text,
                             vyre_error *error);

  /* Starts an instance. |host| stays valid until close returns. Several may be open. Not at the same time as
   * probe or close. Errors: as probe. */
  vyre_status (*open)(const vyre_host *host, vyre_plugin **out, vyre_error *error);
  /* Ends an instance whose open succeeded, after its last device was closed. */
  void (*close)(vyre_plugin *plugin);

  /* Devices of an instance, 0 is a valid answer. Numbers are stable while it is open. */
  vyre_status (*device_count)(vyre_plugin *plugin, uint32_t *count, vyre_error *error);
  /* Errors: NOT_FOUND. */
  vyre_status (*device_describe)(vyre_plugin *plugin, uint32_t index, vyre_capabilities *out, vyre_error *error);
  vyre_status (*device_open)(vyre_plugin *plugin, uint32_t index, vyre_plugin_device **out, vyre_error *error);
  void (*device_close)(vyre_plugin_device *device);

  /* Loads a blob from anywhere: its plugin build, profile and capabilities are checked, and what is missing is
   * named. |blob| is borrowed for the call. Errors: INVALID_FILE, UNSUPPORTED, NO_MEMORY; BUSY beside a persistent
   * launch, where the driver would wait for its end: at once, and the same load succeeds afterwards. */
  vyre_status (*executable_load)(vyre_plugin_device *device, const void *blob, uint64_t bytes,
                                 vyre_plugin_executable **out, vyre_error *error);
  void (*executable_destroy)(vyre_plugin_executable *executable);
  vyre_status (*executable_report)(vyre_plugin_executable *executable, vyre_launch_report *out, vyre_error *error);
  /* Workgroups of it that can be on the device at the same time, if nothing else is. */
  vyre_status (*max_resident)(vyre_plugin_executable *executable, uint64_t *workgroups, vyre_error *error);

  /* Errors: NO_MEMORY, LIMIT, UNSUPPORTED (no such memory or kind of handle), INVALID_ARGUMENT; BUSY for memory that
   * was imported before and that the driver lets go of only when a persistent launch has ended. */
  vyre_status (*buffer_create)(vyre_plugin_device *device, const vyre_buffer_request *request,
                               vyre_plugin_buffer **out, vyre_error *error);
  void (*buffer_destroy)(vyre_plugin_buffer *buffer);
  /* The host's address of a buffer with HOST_READ or HOST_WRITE, the same for as long as the buffer lives. */
  vyre_status (*buffer_map)(vyre_plugin_buffer *buffer, void **out, vyre_error *error);
  /* What the host wrote becomes visible to later submissions; what they wrote becomes visible to the host.
   * Not called for COHERENT memory. */
  vyre_status (*buffer_flush)(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error);
  vyre_status (*buffer_invalidate)(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error);
  /* Optional: a handle of |kind|. A file descriptor belongs to the caller. */
  vyre_status (*buffer_export)(vyre_plugin_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error);

  vyre_status (*set_create)(vyre_plugin_executable *executable, const vyre_set_request *request,
                            vyre_plugin_set **out, vyre_error *error);
  void (*set_destroy)(vyre_plugin_set *set);

  /* Records |count| commands, maybe none. A batch may be submitted any number of times, also while it is pending.
   * Errors: BUSY as executable_load, where it needs code that is not loaded yet. */
  vyre_status (*batch_create)(vyre_plugin_device *device, const vyre_command *commands, uint64_t count,
                              vyre_plugin_batch **out, vyre_error *error);
  void (*batch_destroy)(vyre_plugin_batch *batch);

  /* |flags| VYRE_QUEUE_*. Errors: LIMIT. */
  vyre_status (*queue_create)(vyre_plugin_device *device, uint32_t flags, vyre_plugin_queue **out,
                              vyre_error *error);
  /* After its last submission has ended. */
  void (*queue_destroy)(vyre_plugin_queue *queue);
  /* Hands a batch over and returns without waiting for it. One thread at a time for a queue. A call that fails
   * has submitted nothing; later failures stand in the completion record. */
  vyre_status (*submit)(vyre_plugin_queue *queue, const vyre_submit *submit, vyre_error *error);

  vyre_status (*timeline_create)(vyre_plugin_device *device, uint64_t value, vyre_plugin_timeline **out,
                                 vyre_error *error);
  void (*timeline_destroy)(vyre_plugin_timeline *timeline);
  /* The value that it has reached. */
  vyre_status (*timeline_value)(vyre_plugin_timeline *timeline, uint64_t *value, vyre_error *error);
  /* Reaches |value|, which is above the present one, from the host. */
  vyre_status (*timeline_signal)(vyre_plugin_timeline *timeline, uint64_t value, vyre_error *error);
  /* Blocks until |value| is reached or |timeout_ns| have passed (0 asks only, UINT64_MAX is endless). Concurrent
   * with everything, other waits for the same timeline included. Errors: TIMEOUT, DEVICE_LOST. */
  vyre_status (*timeline_wait)(vyre_plugin_timeline *timeline, uint64_t value, uint64_t timeout_ns,
                               vyre_error *error);

  /* Optional, VYRE_CAN_STORAGE_READ: reads from a file straight into a buffer, then signals |signal|.
   * |completion| is as that of a submit. */
  vyre_status (*storage_read)(vyre_plugin_queue *queue, int32_t fd, uint64_t file_offset, vyre_plugin_buffer *buffer,
                              uint64_t offset, uint64_t bytes, const vyre_point *signal, vyre_completion *completion,
                              vyre_error *error);

  /* Optional: pointer, stream or allocation behind an object (VYRE_OBJECT_*), under a tag that the plugin
   * documents. Errors: NOT_FOUND for an unknown tag. */
  vyre_status (*native)(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error);
};

/* The layout that the fingerprint stands for. */
VYRE_ABI_ASSERT(sizeof(void *) == 8);
VYRE_ABI_ASSERT(sizeof(vyre_backend_request) == 32);
VYRE_ABI_ASSERT(offsetof(vyre_backend_desc, opcodes) == 80);
VYRE_ABI_ASSERT(sizeof(vyre_backend_desc) == 96);
VYRE_ABI_ASSERT(sizeof(vyre_host) == 80);
VYRE_ABI_ASSERT(sizeof(vyre_bytes) == 24);
VYRE_ABI_ASSERT(sizeof(vyre_capabilities) == 720);
VYRE_ABI_ASSERT(sizeof(vyre_compile_request) == 120);
VYRE_ABI_ASSERT(sizeof(vyre_launch_report) == 96);
VYRE_ABI_ASSERT(sizeof(vyre_buffer_request) == 32);
VYRE_ABI_ASSERT(sizeof(vyre_bind) == 56);
VYRE_ABI_ASSERT(sizeof(vyre_set_request) == 40);
VYRE_ABI_ASSERT(sizeof(vyre_dispatch) == 88);
VYRE_ABI_ASSERT(sizeof(vyre_copy) == 48);
VYRE_ABI_ASSERT(sizeof(vyre_fill) == 32);
VYRE_ABI_ASSERT(sizeof(vyre_submit) == 88);
VYRE_ABI_ASSERT(sizeof(vyre_completion) == 352);
VYRE_ABI_ASSERT(sizeof(vyre_print_record) == 24);
VYRE_ABI_ASSERT(sizeof(vyre_backend_ops) == 288);

#ifdef __cplusplus
}
#endif
#endif
