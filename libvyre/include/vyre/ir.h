/* Programs: what they are made of, how one is built from C, and what can be asked of a finished one.
 *
 * A program is built through a vyre_builder and is immutable once vyre_builder_finish has made it.
 * The builder checks each part as it is added; what finish returns is always a valid program, in the
 * sense of docs/ir.md, whether it came from C, from text or from wire bytes.
 *
 * Expressions are handles into the builder that made them. A handle may be used any number of times;
 * each use is an evaluation of its own, in the place where it is used. Handle 0 stands for an
 * expression that could not be built: its fault is recorded already, and using it says nothing more.
 *
 * Threads: a builder is used by one thread at a time. A program may be used by any number. */
#ifndef VYRE_IR_H
#define VYRE_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/diagnostic.h>
#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vyre_type {
  VYRE_TYPE_NONE = 0, /* no value */
#define X(name, spelling, bytes, lanes, component, value, wire) VYRE_TYPE_##name,
#include <vyre/types.def>
#undef X
  VYRE_TYPE_COUNT
} vyre_type;

typedef enum vyre_op {
  VYRE_OP_NONE = 0,
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) VYRE_OP_##name,
#include <vyre/ops.def>
#undef X
  VYRE_OP_COUNT
} vyre_op;

typedef enum vyre_stmt_op {
  VYRE_STMT_NONE = 0,
#define X(name, spelling, arity, blocks, tag, doc) VYRE_STMT_##name,
#include <vyre/stmts.def>
#undef X
  VYRE_STMT_COUNT
} vyre_stmt_op;

/* How a buffer may be used; the numbers are those of the wire form. */
typedef enum vyre_access {
  VYRE_ACCESS_READ = 0,
  VYRE_ACCESS_RW = 1,
  VYRE_ACCESS_TABLE = 2,  /* a constant table: its elements are part of the program */
  VYRE_ACCESS_SHARED = 3, /* workgroup memory */
  VYRE_ACCESS_WRITE = 4,
  VYRE_ACCESS_LOCAL = 5   /* memory of one invocation */
} vyre_access;

typedef enum vyre_order {
  VYRE_ORDER_RELAXED = 0,
  VYRE_ORDER_ACQUIRE = 1,
  VYRE_ORDER_RELEASE = 2,
  VYRE_ORDER_ACQ_REL = 3,
  VYRE_ORDER_SEQ_CST = 4
} vyre_order;

typedef enum vyre_scope {
  VYRE_SCOPE_WORKGROUP = 0,
  VYRE_SCOPE_DEVICE = 1,
  VYRE_SCOPE_SYSTEM = 2,
  VYRE_SCOPE_DEFAULT = 3 /* for the builder alone: device for storage, workgroup for shared */
} vyre_scope;

/* Attributes of a program. */
enum {
  VYRE_PROGRAM_CONTRACT = 1u << 0,            /* a*b + c may become one rounding */
  VYRE_PROGRAM_FLUSH = 1u << 1,               /* subnormals may be treated as zero */
  VYRE_PROGRAM_PROGRESS_WORKGROUPS = 1u << 2, /* invocations wait for workgroups that started earlier */
  VYRE_PROGRAM_NONCOMPOSABLE = 1u << 3        /* must not be fused with a second copy of itself */
};

#define VYRE_ULP_UNSET UINT32_MAX /* no ulp budget: transcendentals are refused when compiled */

#define VYRE_FINGERPRINT_BYTES 32

/* Limits of a program (language.md, section 10). */
#define VYRE_MAX_EXPR_DEPTH 1024u
#define VYRE_MAX_NESTING 128u
#define VYRE_MAX_CALL_DEPTH 32u
#define VYRE_MAX_STATEMENTS 1000000u
#define VYRE_MAX_DECLARATIONS 16384u
#define VYRE_MAX_NAME_BYTES 255u
#define VYRE_MAX_STRING_BYTES (1u << 20)
#define VYRE_MAX_PROGRAM_BYTES (64u << 20)

/* A region whose name starts with this stands for an inlined call: it begins a nesting budget of its own. */
#define VYRE_CALL_REGION_PREFIX "call "

typedef uint32_t vyre_expr;    /* an expression of a builder; 0 is none */
typedef uint32_t vyre_var;     /* a let, var or loop variable; UINT32_MAX is none */
typedef uint32_t vyre_binding; /* a buffer by declaration order over all buffers; UINT32_MAX is none */

#define VYRE_NO_VAR UINT32_MAX
#define VYRE_NO_BINDING UINT32_MAX

typedef struct vyre_builder vyre_builder;
typedef struct vyre_program vyre_program;

/* ---- Types and operators ------------------------------------------------------------------- */

/* What one type is; all zero for VYRE_TYPE_NONE and numbers that are no type. Static storage. Any thread. */
typedef struct vyre_type_info {
  const char *spelling;
  uint32_t bytes;      /* one element in a buffer */
  uint32_t lanes;      /* 1, or the number of components */
  vyre_type component; /* type of a component; the type itself for scalars */
  vyre_type value;     /* type of a load and a store */
} vyre_type_info;
VYRE_API const vyre_type_info *vyre_type_describe(vyre_type type);

/* What one operator is. Static storage. Any thread. */
typedef struct vyre_op_info {
  const char *name;     /* as in ops.def, "ADD" */
  const char *spelling; /* as in text, "+" */
  uint32_t arity;       /* operand expressions */
  uint32_t effects;     /* VYRE_EFFECT_* */
  const char *doc;
} vyre_op_info;
enum {
  VYRE_EFFECT_READS = 1u << 0,      /* reads memory or a variable */
  VYRE_EFFECT_EFFECT = 1u << 1,     /* must happen exactly where it stands */
  VYRE_EFFECT_CONVERGENT = 1u << 2, /* all lanes meet in it */
  VYRE_EFFECT_ULP = 1u << 3         /* needs an ulp budget */
};
VYRE_API const vyre_op_info *vyre_op_describe(vyre_op op);

/* ---- Building ------------------------------------------------------------------------------ */

/* Makes a builder for a program called |name|, with workgroup (1, 1, 1) and no attributes. |name| is
 * copied; it follows the rules for names, else finish reports V142. |diagnostics| receives every fault
 * as it is found; it is borrowed until the builder is destroyed, and may be NULL.
 * Errors: NO_MEMORY, then *out is NULL. */
VYRE_API vyre_status vyre_builder_create(const char *name, vyre_diagnostics *diagnostics, vyre_builder **out);

/* Frees a builder and all its handles. NULL is allowed. Programs that it finished live on. */
VYRE_API void vyre_builder_destroy(vyre_builder *b);

/* Byte offset in the source that faults and statements from here on belong to; VYRE_NO_POSITION for none. */
VYRE_API void vyre_build_position(vyre_builder *b, uint32_t offset);

/* Workgroup size in invocations along each axis, each at least 1 (V106). */
VYRE_API void vyre_build_workgroup(vyre_builder *b, uint32_t x, uint32_t y, uint32_t z);
/* Adds VYRE_PROGRAM_* bits (V149 for an unknown one). */
VYRE_API void vyre_build_attributes(vyre_builder *b, uint32_t bits);
/* Error budget of transcendentals in units in the last place; 0 asks for correct rounding. */
VYRE_API void vyre_build_ulp(vyre_builder *b, uint32_t ulp);
/* Fixes the subgroup size: 1, 2, 4, 8, 16 or 32 (V149). */
VYRE_API void vyre_build_subgroup(vyre_builder *b, uint32_t size);
/* States the operation that the program implements, "family.name"; copied. */
VYRE_API void vyre_build_op(vyre_builder *b, const char *id);

/* Declares a launch parameter (bool u32 i32 u64 i64 f32 f64) and gives its value. Declarations stand
 * before the first statement. */
VYRE_API vyre_expr vyre_build_param(vyre_builder *b, const char *name, vyre_type type);
/* Declares a buffer of |element|s. |length| is the fixed number of elements, 0 for what is bound
 * (READ, WRITE and RW only). Not for tables. */
VYRE_API vyre_binding vyre_build_buffer(vyre_builder *b, vyre_access access, const char *name, vyre_type element,
                                        uint64_t length);
/* Declares a constant table of |length| >= 1 elements, copied from |data| (little endian, as in a buffer).
 * NaNs become the one NaN that text has, bool words 0 or 1. */
VYRE_API vyre_binding vyre_build_table(vyre_builder *b, const char *name, vyre_type element, const void *data,
                                       uint64_t length);

/* Literals. |bits| holds the value's bits, upper ones 0 (bool: 0 or 1). Scalar arithmetic types only. */
VYRE_API vyre_expr vyre_build_literal(vyre_builder *b, vyre_type type, uint64_t bits);
VYRE_API vyre_expr vyre_build_bool(vyre_builder *b, bool value);
VYRE_API vyre_expr vyre_build_u32(vyre_builder *b, uint32_t value);
VYRE_API vyre_expr vyre_build_i32(vyre_builder *b, int32_t value);
VYRE_API vyre_expr vyre_build_u64(vyre_builder *b, uint64_t value);
VYRE_API vyre_expr vyre_build_i64(vyre_builder *b, int64_t value);
VYRE_API vyre_expr vyre_build_f32(vyre_builder *b, float value);
VYRE_API vyre_expr vyre_build_f64(vyre_builder *b, double value);

/* Leaves without operands: LANE SUBGROUP_SIZE SUBGROUP_ID NUM_SUBGROUPS CLOCK_NS SHOULD_STOP, and with an
 * axis 0..2 GID WID LID NWG (V068). |axis| is 0 for the others. */
VYRE_API vyre_expr vyre_build_leaf(vyre_builder *b, vyre_op op, uint32_t axis);
/* Value of a variable, which must be visible here (V066). */
VYRE_API vyre_expr vyre_build_var_value(vyre_builder *b, vyre_var var);
/* LEN or LEN64 of a buffer. */
VYRE_API vyre_expr vyre_build_len(vyre_builder *b, vyre_op op, vyre_binding binding);
/* LOAD, GRID_UNIFORM_LOAD or WORKGROUP_UNIFORM_LOAD. */
VYRE_API vyre_expr vyre_build_load(vyre_builder *b, vyre_op op, vyre_binding binding, vyre_expr index);
/* Any operator whose operands are one or two expressions and that needs no other argument: rows with tag 9
 * and 10, and the subgroup operations (|y| is the lane where there is one). A scalar beside a vector is splat. */
VYRE_API vyre_expr vyre_build_unary(vyre_builder *b, vyre_op op, vyre_expr x);
VYRE_API vyre_expr vyre_build_binary(vyre_builder *b, vyre_op op, vyre_expr x, vyre_expr y);
VYRE_API vyre_expr vyre_build_select(vyre_builder *b, vyre_expr c, vyre_expr x, vyre_expr y);
VYRE_API vyre_expr vyre_build_fma(vyre_builder *b, vyre_expr x, vyre_expr y, vyre_expr z);
/* type(x): conversion of the value. To u8 u16 i8 i16 f16 bf16 the value wraps or rounds and keeps the wide type. */
VYRE_API vyre_expr vyre_build_cast(vyre_builder *b, vyre_type type, vyre_expr x);
VYRE_API vyre_expr vyre_build_bitcast(vyre_builder *b, vyre_type type, vyre_expr x);
/* A vector of |type| from one component for all (|count| 1) or from each. */
VYRE_API vyre_expr vyre_build_vector(vyre_builder *b, vyre_type type, const vyre_expr *components, uint32_t count);
VYRE_API vyre_expr vyre_build_extract(vyre_builder *b, vyre_expr vector, uint32_t component);
/* ATOMIC_*: |value| is the expected value of a CAS and |desired| its new one; both 0 where not taken. */
VYRE_API vyre_expr vyre_build_atomic(vyre_builder *b, vyre_op op, vyre_binding binding, vyre_expr index,
                                     vyre_expr value, vyre_expr desired, vyre_order order, vyre_scope scope);

/* Type of an expression, NONE for handle 0 and for atomic stores. */
VYRE_API vyre_type vyre_build_type_of(const vyre_builder *b, vyre_expr e);
/* Type of a variable, NONE for VYRE_NO_VAR. */
VYRE_API vyre_type vyre_build_var_type(const vyre_builder *b, vyre_var var);

/* Statements. Each is appended to the innermost open block. LET or VAR by |op|. */
VYRE_API vyre_var vyre_build_declare(vyre_builder *b, vyre_stmt_op op, const char *name, vyre_expr value);
VYRE_API void vyre_build_assign(vyre_builder *b, vyre_var var, vyre_expr value);
VYRE_API void vyre_build_store(vyre_builder *b, vyre_binding binding, vyre_expr index, vyre_expr value);
VYRE_API void vyre_build_eval(vyre_builder *b, vyre_expr e);
/* Opening statements; each is closed by vyre_build_end. An if may have one vyre_build_else in between. */
VYRE_API void vyre_build_if(vyre_builder *b, vyre_expr condition);
VYRE_API void vyre_build_else(vyre_builder *b);
/* |step| 0 (no expression) stands for 1. Gives the loop variable. */
VYRE_API vyre_var vyre_build_for(vyre_builder *b, const char *name, vyre_expr from, vyre_expr to, vyre_expr step);
VYRE_API void vyre_build_loop(vyre_builder *b);
VYRE_API void vyre_build_block(vyre_builder *b);
VYRE_API void vyre_build_region(vyre_builder *b, const char *name);
VYRE_API void vyre_build_end(vyre_builder *b);
/* BREAK CONTINUE RETURN BARRIER GRID_BARRIER COMMIT. */
VYRE_API void vyre_build_simple(vyre_builder *b, vyre_stmt_op op);
VYRE_API void vyre_build_fence(vyre_builder *b, vyre_order order, vyre_scope scope);
VYRE_API void vyre_build_trap(vyre_builder *b, vyre_expr code);
VYRE_API void vyre_build_print(vyre_builder *b, const char *format, const vyre_expr *args, uint32_t count);
VYRE_API void vyre_build_copy_async(vyre_builder *b, bool workgroup, vyre_binding dst, vyre_expr dst_offset,
                                    vyre_binding src, vyre_expr src_offset, vyre_expr count);
VYRE_API void vyre_build_wait(vyre_builder *b, uint32_t unfinished); /* 0 to 7 (V145) */
VYRE_API void vyre_build_pause(vyre_builder *b, vyre_expr nanoseconds);

/* Number of errors recorded so far. */
VYRE_API uint32_t vyre_builder_errors(const vyre_builder *b);

/* Ends building: checks what only the whole shows (open blocks, limits, uniformity), and makes the
 * program. The builder can then only be destroyed. The caller owns *out.
 * Errors: INVALID_PROGRAM (the diagnostics say all; the error record repeats the first), NO_MEMORY. */
VYRE_API vyre_status vyre_builder_finish(vyre_builder *b, vyre_program **out, vyre_error *error);

/* ---- Finished programs --------------------------------------------------------------------- */

/* One more owner; gives |program|. Any thread. */
VYRE_API vyre_program *vyre_program_retain(vyre_program *program);
/* One owner fewer; the last one frees. NULL is allowed. Any thread. */
VYRE_API void vyre_program_release(vyre_program *program);

/* Checks a program again, as finish did. What finish or a decoder made always passes; this is for passes
 * that are under test. Errors: INVALID_PROGRAM, NO_MEMORY. */
VYRE_API vyre_status vyre_program_validate(const vyre_program *program, vyre_diagnostics *diagnostics,
                                           vyre_error *error);

/* Equality of all that identity holds: names, attributes, declarations in order, statements and
 * expressions. Source positions do not count. Needs memory for a while; without it the answer is false. */
VYRE_API bool vyre_program_equal(const vyre_program *a, const vyre_program *b);

/* BLAKE2b-256 (RFC 7693, unkeyed) of the wire bytes; valid as long as the program. */
VYRE_API const uint8_t *vyre_program_fingerprint(const vyre_program *program);

typedef struct vyre_param_info {
  const char *name;
  vyre_type type;
} vyre_param_info;

typedef struct vyre_buffer_info {
  const char *name;
  vyre_access access;
  vyre_type element;
  uint64_t length;  /* fixed number of elements, or 0 */
  uint32_t slot;    /* number among the buffers that a launch binds; UINT32_MAX for shared, local and tables */
  bool uses_len32;  /* len() of it is taken: no more than 2^32-1 elements can be bound */
} vyre_buffer_info;

/* What a program needs of a device, as bits that derive from its operators and types. */
enum {
#define X(name, bit, spelling, use) VYRE_NEED_##name = 1u << bit,
#include <vyre/needs.def>
#undef X
};

typedef struct vyre_program_info {
  const char *name;
  const char *op_id;      /* "" if none */
  uint32_t workgroup[3];
  uint32_t attributes;    /* VYRE_PROGRAM_* */
  uint32_t ulp;           /* VYRE_ULP_UNSET if none */
  uint32_t subgroup;      /* 0 if any */
  uint32_t param_count;
  uint32_t buffer_count;  /* all, with shared, local and tables */
  uint32_t binding_count; /* those that a launch binds */
  uint32_t needs;         /* VYRE_NEED_* */
  /* derived statistics */
  uint32_t statement_count;
  uint32_t expr_count;       /* distinct expressions */
  uint64_t expr_uses;        /* expressions as written, each use counted */
  uint32_t region_count;
  uint32_t barrier_count;
  uint64_t memory_op_count;  /* loads, stores, copies */
  uint64_t atomic_op_count;
  uint32_t control_flow_count;
  uint32_t max_live_names;   /* most names visible at once */
  uint64_t shared_bytes;     /* each array rounded up to 16 */
  uint64_t local_bytes;
  uint64_t stmt_kinds;       /* bit vyre_stmt_op set if the program has such a statement */
} vyre_program_info;

/* Fills |out|; texts belong to the program. */
VYRE_API void vyre_program_describe(const vyre_program *program, vyre_program_info *out);
/* False, and |out| untouched, if there is no such parameter or buffer. */
VYRE_API bool vyre_program_param(const vyre_program *program, uint32_t index, vyre_param_info *out);
VYRE_API bool vyre_program_buffer(const vyre_program *program, uint32_t index, vyre_buffer_info *out);
/* The buffer that a launch binds as number |slot|. */
VYRE_API bool vyre_program_slot(const vyre_program *program, uint32_t slot, vyre_buffer_info *out);

#ifdef __cplusplus
}
#endif
#endif
