/* The kernel form: what a compiled backend gets to see of a program.
 *
 * A kernel is one block of bytes, position independent, little endian, aligned to 8: a header, then tables of
 * fixed-width records that the header names by {offset, count, stride}. It is plain data; reading it needs no
 * function of libvyre. docs/kernel.md describes it as a whole and says how each construct of the language becomes
 * what stands here; vyre/lower.h has the functions that make, check and print kernels.
 *
 * Rules for a reader:
 *   - Record i of a table is at offset + i * stride. A stride may be larger than the record that this header knows;
 *     what is beyond is ignored. A smaller one is refused.
 *   - An opcode, class, space, kind or flag bit that a reader does not know is refused: UNSUPPORTED, by its number.
 *     There is no instruction that may be skipped.
 *   - Kernels that libvyre hands to a plugin have passed the verifier (vyre_kernel_verify), so all numbers in them are
 *     in range, all types fit, and every value is defined on each path before it is used.
 *
 * Values are numbered from 1: first the constants, then the results of instructions in the order of the table.
 * A value is visible behind its instruction to the end of the innermost block (arm of an if, body or continuing part
 * of a loop, entry point) that holds it, blocks inside included; the continuing part does not see values of the
 * body. What lives longer or changes is in a slot. Constants are visible everywhere. Nothing but memory survives from
 * one entry point to the next. */
#ifndef VYRE_KERNEL_H
#define VYRE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/ir.h> /* for the numbers of vyre_type, vyre_access, vyre_order, vyre_scope and VYRE_NEED_* */

#ifdef __cplusplus
extern "C" {
#define VYRE_KERNEL_ASSERT(what) static_assert(what, #what)
#else
#define VYRE_KERNEL_ASSERT(what) _Static_assert(what, #what)
#endif

#define VYRE_KERNEL_MAGIC 0x4C4E52454B525956ull /* "VYRKERNL" in memory */
#define VYRE_KERNEL_FORM_MAJOR 0u /* another major is another form; a reader takes its own alone */
#define VYRE_KERNEL_FORM_MINOR 1u /* grows with what is added */

/* Limits of a kernel. Blocks nest as deep as there are instructions (`else if` chains become nested ifs): a reader
 * that follows them keeps its stack on the heap. */
#define VYRE_KERNEL_MAX_BYTES 0xFFFFFFF0u
#define VYRE_KERNEL_MAX_INSNS (1u << 26)

/* ---- Types ----------------------------------------------------------------------------------- */

typedef enum vyre_kernel_class {
  VYRE_KERNEL_CLASS_NONE = 0,
  VYRE_KERNEL_CLASS_BOOL = 1,  /* 1 bit; in memory a 32-bit word: 0 is false, any other true, 1 is written */
  VYRE_KERNEL_CLASS_UINT = 2,
  VYRE_KERNEL_CLASS_SINT = 3,
  VYRE_KERNEL_CLASS_FLOAT = 4, /* IEEE binary16, 32, 64 */
  VYRE_KERNEL_CLASS_BRAIN = 5, /* bf16: the upper half of a binary32 */
  VYRE_KERNEL_CLASS_TILE = 6   /* held for matrix units: no kernel of this form version has it */
} vyre_kernel_class;

/* A type of a value or of elements in memory; kernel_types.def lists those that exist. */
typedef struct vyre_kernel_type {
  uint8_t cls;   /* vyre_kernel_class */
  uint8_t bits;  /* of a component: 1, 8, 16, 32 or 64 */
  uint8_t lanes; /* components: 1, 2 or 4 */
  uint8_t zero;
} vyre_kernel_type;

/* Bit of a type in vyre_opcode_support.types; |type| is the last part of its name in vyre_type, as in
 * VYRE_KERNEL_TYPE_BIT(U32). A plugin takes an instruction if it lists the opcode with the bits of every value operand,
 * of the result, and of the elements of every access. */
#define VYRE_KERNEL_TYPE_BIT(type) (1ull << VYRE_TYPE_##type)

/* ---- Opcodes --------------------------------------------------------------------------------- */

typedef enum vyre_kernel_op {
  VYRE_KERNEL_NONE = 0,
#define X(name, number, spelling, rule, k0, k1, k2, k3, effects, doc) VYRE_KERNEL_##name = number,
#include <vyre/kernel_ops.def>
#undef X
  VYRE_KERNEL_TILE_FIRST = 0x400, /* 0x400 to 0x4FF are held for matrix units */
  VYRE_KERNEL_TILE_LAST = 0x4FF
} vyre_kernel_op;

/* An instruction. What arg holds is said by kernel_ops.def for each opcode; what is not used is 0. */
typedef struct vyre_kernel_insn {
  uint16_t op;     /* vyre_kernel_op */
  uint8_t aux;     /* atomics, FENCE: vyre_order. WAIT: groups. COPY_ASYNC: 1 if it is the workgroup's */
  uint8_t aux2;    /* atomics, FENCE: vyre_scope */
  uint32_t result; /* value that it defines, or 0 */
  uint32_t arg[4];
  uint32_t stmt;   /* statement of the program that it comes from, in pre-order from 1; 0 for none */
} vyre_kernel_insn;

/* ---- Values ---------------------------------------------------------------------------------- */

/* Over how much of the launch a value is the same for all invocations that come to its definition together. */
typedef enum vyre_kernel_uniform {
  VYRE_KERNEL_UNIFORM_GRID = 0,
  VYRE_KERNEL_UNIFORM_WORKGROUP = 1,
  VYRE_KERNEL_UNIFORM_SUBGROUP = 2,
  VYRE_KERNEL_UNIFORM_NONE = 3
} vyre_kernel_uniform;

/* Value |i| is record i; record 0 is all zero. Facts are promises: a reader may use them or not. */
typedef struct vyre_kernel_value {
  vyre_kernel_type type;
  uint8_t uniform;        /* vyre_kernel_uniform */
  uint8_t trailing_zeros; /* so many low bits are known to be 0 (scalar integers; the width for the constant 0) */
  uint16_t zero;
  uint64_t least, most;   /* bounds of an unsigned scalar; of any other type 0 and all ones, which say nothing */
} vyre_kernel_value;

/* Constant |i| is value i + 1: a scalar's bits, upper ones 0 (bool: 0 or 1). */
typedef struct vyre_kernel_constant {
  uint64_t bits;
} vyre_kernel_constant;

/* A cell of an invocation that can be put and got. It holds zero when its entry point starts. */
typedef struct vyre_kernel_slot {
  vyre_kernel_type type;
  uint8_t uniform; /* of all values that it ever holds */
  uint8_t zero[3];
  uint32_t name;   /* offset in strings: the variable, or "" */
} vyre_kernel_slot;

/* ---- Memory ---------------------------------------------------------------------------------- */

typedef enum vyre_kernel_space {
  VYRE_KERNEL_SPACE_BINDING = 1, /* number in bindings: what the launch binds */
  VYRE_KERNEL_SPACE_SHARED = 2,  /* number in shared, one of the entry point's: memory of the workgroup */
  VYRE_KERNEL_SPACE_LOCAL = 3,   /* number in locals, one of the entry point's: memory of the invocation */
  VYRE_KERNEL_SPACE_TABLE = 4,   /* number in tables: constant data of the kernel */
  VYRE_KERNEL_SPACE_HIDDEN = 5   /* number in hidden_bindings */
} vyre_kernel_space;

typedef enum vyre_kernel_bound {
  VYRE_KERNEL_BOUND_PROVED = 0, /* the index is in range: no check is needed */
  VYRE_KERNEL_BOUND_STATIC = 1, /* below |limit| */
  VYRE_KERNEL_BOUND_LENGTH = 2, /* below the element count that the launch block has for the binding */
  VYRE_KERNEL_BOUND_VALUE = 3   /* below the value |bound|, u32 or u64 */
} vyre_kernel_bound;

enum {
  VYRE_KERNEL_ACCESS_COHERENT = 1u << 0,  /* other workgroups, kernels or the host may touch it meanwhile, in an order
                                             that atomics or fences of the program make: past caches of a workgroup */
  VYRE_KERNEL_ACCESS_STREAMING = 1u << 1, /* used once: need not be cached. A hint */
  VYRE_KERNEL_ACCESS_LAST_USE = 1u << 2,  /* nothing uses it again. A hint */
  VYRE_KERNEL_ACCESS_READ_ONLY = 1u << 3  /* nothing writes that memory during the dispatch */
};

/* Where an instruction loads or stores: element |index| of elements of type |element|, the first of which begins
 * |base| bytes behind the start of the memory. It is made only if the index (zero-extended) is below the bound; the
 * comparison is one of 64 bits unless the facts of both allow less. No index wraps around: the byte address is computed
 * in 64 bits. The element type belongs to the access, so the same memory may be seen as several types; all memory goes
 * on to the next multiple of 16 bytes behind its last element, so that a word around a narrow element is there. */
typedef struct vyre_kernel_access {
  uint8_t space;            /* vyre_kernel_space */
  uint8_t bound_kind;       /* vyre_kernel_bound */
  uint16_t zero;
  uint32_t number;          /* in the table that the space names */
  vyre_kernel_type element; /* its value type is what LOAD gives and STORE takes (u8 u16 -> u32, i8 i16 -> i32,
                               f16 bf16 -> f32; integers keep the low bits, floats round to nearest even) */
  uint32_t flags;           /* VYRE_KERNEL_ACCESS_* */
  uint32_t base;            /* a u32 or u64 value, a multiple of |alignment|; 0 for none */
  uint32_t index;           /* a u32 or u64 value */
  uint32_t bound;           /* BOUND_VALUE: the value; else 0 */
  uint32_t alignment;       /* of every address that it gives, in bytes: at least that of the element */
  uint64_t limit;           /* BOUND_STATIC: the limit; else 0 */
} vyre_kernel_access;

/* What the launch binds, by slot: record i is the binding that a set has as number i. */
typedef struct vyre_kernel_binding {
  uint8_t access;           /* VYRE_ACCESS_READ, RW or WRITE */
  uint8_t zero[3];
  vyre_kernel_type element; /* as declared */
  uint32_t count_offset;    /* of its u64 element count, in the launch block */
  uint32_t name;            /* offset in strings */
  uint64_t length;          /* fixed number of elements, or 0 for what is bound */
} vyre_kernel_binding;

/* Memory of a workgroup (table shared) or of an invocation (table locals), for one entry point. */
typedef struct vyre_kernel_array {
  vyre_kernel_type element;
  uint32_t flags;  /* VYRE_KERNEL_ARRAY_* */
  uint64_t length; /* elements */
  uint64_t offset; /* in the memory of that kind of the entry point: a multiple of 16; arrays do not overlap */
  uint32_t name;   /* offset in strings; "" for one that the lowering made */
  uint32_t zero;
} vyre_kernel_array;
enum {
  VYRE_KERNEL_ARRAY_NEEDS_ZERO = 1u << 0 /* zero when the entry point starts; the others hold anything then */
};

/* A constant table: |length| elements as they lie in memory, at |offset| in table_bytes, a multiple of 16. */
typedef struct vyre_kernel_table_data {
  vyre_kernel_type element;
  uint32_t name; /* offset in strings */
  uint64_t length;
  uint64_t offset;
} vyre_kernel_table_data;

/* Memory that the backend brings: bound like a buffer, but not by the caller. */
typedef enum vyre_kernel_hidden_kind {
  VYRE_KERNEL_HIDDEN_DIAGNOSTICS = 1, /* vyre_kernel_diagnostics, then print records; zero when a launch starts */
  VYRE_KERNEL_HIDDEN_SPILL = 2,       /* spill_bytes for each workgroup; holds anything when a launch starts */
  VYRE_KERNEL_HIDDEN_STATE = 3,       /* vyre_kernel_state; zero when a launch starts */
  VYRE_KERNEL_HIDDEN_STOP = 4         /* one u32 that the host can write meanwhile; a zero where there is none */
} vyre_kernel_hidden_kind;
typedef struct vyre_kernel_hidden_binding {
  uint32_t kind;  /* vyre_kernel_hidden_kind; no two records have the same */
  uint32_t zero;
  uint64_t bytes; /* at least that many; SPILL: for each workgroup of the grid */
} vyre_kernel_hidden_binding;

/* Where lowered code leaves what becomes of the completion record. */
typedef struct vyre_kernel_diagnostics {
  uint32_t trap_count;     /* invocations that trapped, modulo 2^32 */
  uint32_t trap_claimed;   /* not 0 once an invocation has taken the next two members */
  uint32_t trap_code;
  uint32_t trap_gid[3];
  uint32_t prints_written; /* whole records */
  uint32_t prints_dropped;
  uint32_t print_used;     /* u64 words taken, maybe more than there are; only whole records are written */
  uint32_t print_words;    /* capacity in u64 words, which the backend sets before the launch; below 2^30 */
  uint32_t masked[3];      /* loads, stores, atomics out of range, modulo 2^32, if the backend counts them here */
  uint32_t zero[3];
} vyre_kernel_diagnostics; /* behind it: print_words words of vyre_print_record and arguments */

/* Words that workgroups of one launch share. */
typedef struct vyre_kernel_state {
  uint32_t stopped;    /* not 0 once should_stop() was true */
  uint32_t stop_calls; /* of should_stop() against the work budget */
  uint32_t barrier[2]; /* for the backend's own grid barrier */
  uint64_t started_ns; /* the device's clock when the launch started, set by the backend if there is a time budget */
  uint64_t zero;
} vyre_kernel_state;

/* ---- The launch block ------------------------------------------------------------------------ */

/* Bytes that every invocation can read, made for each launch: the parameters in declaration order at natural
 * alignment (bool as a u32 of 0 or 1), so that they are byte for byte vyre_set_request.params; then, aligned to 8,
 * one u64 element count a binding, in order; then the hidden words. */
typedef struct vyre_kernel_param {
  vyre_kernel_type type;
  uint32_t offset; /* in the launch block */
  uint32_t name;   /* offset in strings */
} vyre_kernel_param;

typedef enum vyre_kernel_word {
  VYRE_KERNEL_WORD_GRID_X = 1, /* u32: workgroups of the whole grid, after clamping */
  VYRE_KERNEL_WORD_GRID_Y = 2,
  VYRE_KERNEL_WORD_GRID_Z = 3,
  VYRE_KERNEL_WORD_ORIGIN_X = 4, /* u32: added to the device's own workgroup id, where a grid is run in pieces */
  VYRE_KERNEL_WORD_ORIGIN_Y = 5,
  VYRE_KERNEL_WORD_ORIGIN_Z = 6,
  VYRE_KERNEL_WORD_COMMAND = 7,     /* u32: number of the dispatch in its batch, for print records */
  VYRE_KERNEL_WORD_WORK_BUDGET = 8, /* u32: calls of should_stop() that give false; 0 for no budget. A launch with a
                                       budget of 2^32 or more is refused */
  VYRE_KERNEL_WORD_TIME_BUDGET = 9  /* u64: ns; 0 for no budget */
} vyre_kernel_word;
typedef struct vyre_kernel_hidden_word {
  uint32_t kind; /* vyre_kernel_word; no two records have the same */
  vyre_kernel_type type;
  uint32_t offset; /* in the launch block */
} vyre_kernel_hidden_word;

/* A parameter whose value is known when the kernel is compiled. */
typedef struct vyre_kernel_spec {
  uint32_t id;           /* number of the parameter, in params */
  vyre_kernel_type type; /* a scalar */
  uint64_t bits;         /* its value, for which the kernel was made */
} vyre_kernel_spec;

/* ---- Entry points ---------------------------------------------------------------------------- */

/* Entry points run in order over the same grid, with a full barrier between: all memory that one wrote is visible
 * to the next. The first instruction of an entry point begins its outermost block; it ends behind the last one. */
typedef struct vyre_kernel_entry {
  uint32_t workgroup[3];
  uint32_t subgroup;                   /* required size; 0 for any */
  uint32_t insn_first, insn_count;     /* in insns; entry points follow each other without gap */
  uint32_t slot_first, slot_count;     /* in slots */
  uint32_t shared_first, shared_count; /* in shared */
  uint32_t local_first, local_count;   /* in locals */
  uint64_t shared_bytes;               /* of the arrays, a multiple of 16 */
  uint64_t local_bytes;
  uint64_t dynamic_shared_bytes;       /* more workgroup memory, whose size is not the kernel's; 0 in this version */
} vyre_kernel_entry;

/* ---- The block ------------------------------------------------------------------------------- */

typedef struct vyre_kernel_table {
  uint32_t offset; /* from the start of the block, a multiple of 8 */
  uint32_t count;
  uint32_t stride; /* bytes from one record to the next; a multiple of 4, of 8 for records with u64 members */
  uint32_t zero;
} vyre_kernel_table;

/* How results compare with those of other backends. */
typedef enum vyre_kernel_result {
  VYRE_KERNEL_RESULT_D0 = 0, /* the same bits everywhere */
  VYRE_KERNEL_RESULT_D1 = 1, /* within a tolerance: contraction, flush, an error budget above 0, float atomics */
  VYRE_KERNEL_RESULT_D2 = 2  /* a set whose order is not stated; no lowering says it yet */
} vyre_kernel_result;

enum {
  VYRE_KERNEL_CONTRACT = 1u << 0,       /* a*b + c may become one rounding */
  VYRE_KERNEL_FLUSH = 1u << 1,          /* subnormal operands and results of arithmetic may be taken as zero */
  VYRE_KERNEL_UNCHECKED = 1u << 2,      /* the caller vouches for every index: all bounds are PROVED */
  VYRE_KERNEL_COUNTS_MASKED = 1u << 3,  /* accesses out of range are wanted counted; where that costs too much, the
                                           completion record says VYRE_NOT_COUNTED */
  VYRE_KERNEL_STEPS = 1u << 4,          /* loops were lowered with a step limit */
  VYRE_KERNEL_PROGRESS = 1u << 5,       /* invocations wait for workgroups that started earlier */
  VYRE_KERNEL_NO_TIME_BUDGET = 1u << 6  /* should_stop() knows no clock: a launch with a time budget is refused */
};

typedef struct vyre_kernel_header {
  uint64_t magic;        /* VYRE_KERNEL_MAGIC */
  uint32_t header_bytes; /* of this record as its writer knew it */
  uint16_t form_major, form_minor;
  uint32_t bytes;        /* of the whole block, a multiple of 8 */
  uint32_t flags;        /* VYRE_KERNEL_* */
  uint64_t needs;        /* VYRE_NEED_* bits of a device */
  uint8_t fingerprint[VYRE_FINGERPRINT_BYTES]; /* of the program as it was written */
  uint32_t ulp;          /* error budget; VYRE_ULP_UNSET if none */
  uint32_t result;       /* vyre_kernel_result */
  uint64_t steps;        /* with VYRE_KERNEL_STEPS, else 0 */
  uint32_t name;         /* offset in strings */
  uint32_t launch_bytes; /* of the launch block, a multiple of 8 */
  uint32_t count_offset; /* of the first element count in it */
  uint32_t param_bytes;  /* of the parameters in it */
  uint64_t spill_bytes;  /* each workgroup's part of the spill binding, a multiple of 16; 0 without that binding.
                            Indices into it have 32 bits: a grid with more than 2^32 bytes in all is refused */
  vyre_kernel_table values;          /* vyre_kernel_value */
  vyre_kernel_table constants;       /* vyre_kernel_constant */
  vyre_kernel_table insns;           /* vyre_kernel_insn */
  vyre_kernel_table operands;        /* uint32_t: values, of PRINT */
  vyre_kernel_table accesses;        /* vyre_kernel_access */
  vyre_kernel_table slots;           /* vyre_kernel_slot */
  vyre_kernel_table entries;         /* vyre_kernel_entry, at least one */
  vyre_kernel_table params;          /* vyre_kernel_param */
  vyre_kernel_table bindings;        /* vyre_kernel_binding */
  vyre_kernel_table shared;          /* vyre_kernel_array */
  vyre_kernel_table locals;          /* vyre_kernel_array */
  vyre_kernel_table tables;          /* vyre_kernel_table_data */
  vyre_kernel_table table_bytes;     /* bytes, stride 1: what tables point to; place and size are multiples of 16 */
  vyre_kernel_table hidden_bindings; /* vyre_kernel_hidden_binding */
  vyre_kernel_table hidden_words;    /* vyre_kernel_hidden_word */
  vyre_kernel_table specs;           /* vyre_kernel_spec */
  vyre_kernel_table strings;         /* bytes, stride 1: texts that end with NUL; the first one is "" */
} vyre_kernel_header;

/* Record |i| of a table of |header|'s kernel. |type| is the record's type, |table| the member of the header. */
#define VYRE_KERNEL_AT(type, header, table, i)                                        \
  ((const type *)(const void *)((const uint8_t *)(header) + (header)->table.offset + \
                                (uint64_t)(i) * (header)->table.stride))
/* A text by its offset in strings. */
#define VYRE_KERNEL_TEXT(header, at) ((const char *)(header) + (header)->strings.offset + (at))

VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_type) == 4);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_insn) == 28);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_value) == 24);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_constant) == 8);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_slot) == 12);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_access) == 40);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_binding) == 24);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_array) == 32);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_table_data) == 24);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_hidden_binding) == 16);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_diagnostics) == 64);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_state) == 32);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_param) == 12);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_hidden_word) == 12);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_spec) == 16);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_entry) == 72);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_table) == 16);
VYRE_KERNEL_ASSERT(sizeof(vyre_kernel_header) == 376);

#ifdef __cplusplus
}
#endif
#endif
