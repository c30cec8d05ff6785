/* The emitter: what its parts share while one module is made of one kernel.
 *
 * spirv_emit.c makes entry points, spirv_scan.c looks through one before, spirv_launch.c has the block and ids,
 * spirv_flow.c blocks and jumps, spirv_operator.c arithmetic, spirv_memory.c accesses, spirv_group.c what invocations do
 * together. */
#ifndef VULKAN_SPIRV_EMIT_H
#define VULKAN_SPIRV_EMIT_H

#include "plugins/vulkan/spirv_module.h"

/* How elements look in memory: by their size, so that the same bits are one view whatever they mean. */
typedef enum spirv_view { VIEW_8, VIEW_16, VIEW_32, VIEW_64, VIEW_32X2, VIEW_32X4, VIEWS } spirv_view;
typedef struct spirv_view_shape {
  spirv_type type;
  uint32_t log; /* of its bytes */
} spirv_view_shape;
extern const spirv_view_shape spirv_views[VIEWS];
spirv_view spirv_view_of(vyre_kernel_type element);

/* A global variable. Entry points name those that they use. */
typedef struct spirv_variable {
  uint32_t id;    /* 0: not made yet */
  uint32_t stamp; /* 1 + the last entry point that named it */
} spirv_variable;

/* A buffer is bound once for each view that it is seen in. */
typedef struct spirv_buffer {
  spirv_variable variables[VIEWS];
  bool is_coherent;
  /* Of the open entry point, where the scan found them used: */
  bool wants_address, wants_length, wants_wide_length, wants_high;
  uint32_t address;     /* u64 */
  uint32_t length;      /* u32, the low word */
  uint32_t wide_length; /* u64 */
  uint32_t is_long;     /* bool: the high word is not 0 */
} spirv_buffer;

/* Memory of workgroup or invocation: an array of units, of the one view that it is seen in, or else of words. */
typedef struct spirv_array {
  spirv_variable variable;
  uint8_t seen; /* 1 << VIEW_* */
  uint8_t unit; /* VIEW_* */
} spirv_array;

/* A long chain of else-ifs is no nest, but a loop of one turn that each of its arms leaves: a nest as deep would soon be
 * beyond the limit of SPIR-V. Drivers make a nest of such a loop, and have limits, too, so that the longest chains are cut
 * into several loops, which those invocations skip that have been in an arm. */
enum { SPIRV_CHAIN_NONE, SPIRV_CHAIN_HEAD, SPIRV_CHAIN_LONG_HEAD, SPIRV_CHAIN_LINK, SPIRV_CHAIN_CUT };

/* A value that is used behind a cut, where the block that made it is out of sight: it is kept in a variable. */
typedef struct spirv_carried {
  uint32_t value, last; /* its last use */
  uint32_t variable;
} spirv_carried;

/* An open if or loop, or a chain. */
typedef struct spirv_frame {
  uint32_t merge;
  uint32_t other;  /* if: label of the else, or of the merge; loop: of the continuing part */
  uint32_t header; /* loop: its label; 0 for an if */
  uint32_t outer;  /* loop that padding skips: label behind that; else 0 */
  uint32_t loop;   /* index of the loop around, UINT32_MAX for none */
  bool is_continued; /* loop: a jump leads to its continuing part */
  bool is_joined;    /* loop: that part has a block of its own */
  bool is_chain;     /* then |other| is the label of the else to come, or 0 */
  uint32_t on;       /* chain: label of its continuing part, which nothing reaches */
  uint32_t links;    /* chain: open ifs beside the first */
  bool is_cut;       /* chain: there are several loops, and who has been in an arm says so */
  uint32_t skip;     /* chain: label behind the loop that some skip; 0 in the first */
  uint32_t carried;  /* chain: first of the values that it may carry */
} spirv_frame;
enum { SPIRV_MAX_DEPTH = 1000, SPIRV_MAX_IDS = 4194303 };

typedef struct spirv_emitter {
  spirv_module m;
  const vyre_kernel_header *kernel;
  const spirv_target *target;
  spirv_mode mode;
  spirv_layout layout;
  uint32_t subgroup; /* size; 0 where the kernel does not see it */
  vyre_error *error;
  vyre_status status;

  uint32_t *ids;     /* by value; 0 for a constant that was not used yet */
  spirv_buffer *buffers;
  spirv_array *shared, *locals;
  uint32_t *slots;   /* variables */
  uint32_t *specs;
  uint32_t runtime_blocks[VIEWS]; /* pointers to a struct of a runtime array */
  spirv_variable push, uniform;
  spirv_variable workgroup_id, local_id, local_index, subgroup_id, lane;
  uint32_t block_spec;
  uint32_t controls; /* SPIRV_* of the float controls requested */

  /* The open entry point. */
  const vyre_kernel_entry *entry;
  uint32_t number;
  gpu_bytes interface;
  uint32_t invocations; /* of its workgroup as declared */
  uint32_t real;        /* bool: no padding; 0 where there is none */
  uint8_t *meets;       /* by instruction: an if or loop that all lanes follow */
  uint8_t *chains;      /* by instruction: SPIRV_CHAIN_* of an if */
  bool is_cut;          /* a chain is */
  uint32_t is_done;     /* variable: the invocation has been in an arm of the open chain */
  gpu_bytes carried;    /* spirv_carried, in order of definition */
  uint32_t carried_next; /* the first of them that is not yet defined */
  uint32_t *words;      /* by word of the block: its id; 0 if not used */
  gpu_bytes used;       /* numbers of the words used */
  uint8_t wants_wid, wants_lid, wants_gid; /* 1 << axis */
  bool wants_lane, wants_subgroup_id, wants_local_index, has_f32, has_f64;
  uint32_t wid[3], lid[3], gid[3], lane_value, subgroup_id_value, local_index_value;
  spirv_frame *frames;
  uint32_t depth, loop; /* innermost loop; UINT32_MAX */
} spirv_emitter;

/* The type of a value in the module. */
spirv_type spirv_type_of(vyre_kernel_type type);
/* The id of a value. */
uint32_t spirv_declare_constant(spirv_emitter *e, uint32_t value);
static inline uint32_t spirv_use(spirv_emitter *e, uint32_t value) {
  return e->ids[value] != 0 ? e->ids[value] : spirv_declare_constant(e, value);
}
static inline vyre_kernel_type spirv_value_type(const spirv_emitter *e, uint32_t value) {
  return gpu_value(e->kernel, value)->type;
}
/* The id of a variable, which the entry point names from now on. */
static inline uint32_t spirv_name(spirv_emitter *e, spirv_variable *variable) {
  if (variable->stamp != e->number + 1) {
    variable->stamp = e->number + 1;
    gpu_bytes_word(&e->interface, variable->id);
  }
  return variable->id;
}
/* A new global variable of a storage class. */
uint32_t spirv_global(spirv_emitter *e, SpvStorageClass storage, uint32_t pointer);
/* Records the first failure; the format has a `Fix:`. */
#define spirv_fail(e, status_, ...)                                                                       \
  ((e)->status == VYRE_OK                                                                                 \
     ? (void)((e)->status = gpu_fail((e)->error, (status_), VYRE_KERNEL_TEXT((e)->kernel, (e)->kernel->name), __VA_ARGS__)) \
     : (void)0)

/* spirv_chain.c: marks the long chains of the open entry point, and finds what they carry. */
void spirv_find_chains(spirv_emitter *e);
static inline spirv_carried *spirv_carried_at(const spirv_emitter *e, uint32_t i) {
  return (spirv_carried *)(void *)e->carried.data + i;
}
static inline uint32_t spirv_carried_count(const spirv_emitter *e) {
  return (uint32_t)(e->carried.count / sizeof(spirv_carried));
}

/* spirv_scan.c: finds what the open entry point uses. */
void spirv_scan(spirv_emitter *e);
/* Number of the buffer of an access to a binding, hidden binding or table; UINT32_MAX for other memory. */
uint32_t spirv_buffer_of(const spirv_emitter *e, const vyre_kernel_access *access);

/* spirv_launch.c */
void spirv_begin_launch(spirv_emitter *e); /* once a module */
void spirv_enter(spirv_emitter *e);        /* at the start of an entry point: words of the block, ids, what follows from them */
/* A value of the block, where the scan found it used. */
uint32_t spirv_block_value(spirv_emitter *e, vyre_kernel_type type, uint32_t offset);
uint32_t spirv_leaf(spirv_emitter *e, const vyre_kernel_insn *insn);

/* spirv_flow.c */
void spirv_flow(spirv_emitter *e, const vyre_kernel_insn *insn, uint32_t number);

/* spirv_operator.c: gives the id of the result. */
uint32_t spirv_operator(spirv_emitter *e, const vyre_kernel_insn *insn);
/* Keeps float arithmetic from being fused with other. */
uint32_t spirv_kept_apart(spirv_emitter *e, uint32_t id);

/* spirv_zero.c: ADD SUB MUL DIV of floats where an operand is a literal zero; 0 where none is. */
uint32_t spirv_with_zero(spirv_emitter *e, const vyre_kernel_insn *insn);

/* spirv_exact.c: operations of f32 and 64-bit integers that the target does not do exactly; 0 where it does. */
uint32_t spirv_exact(spirv_emitter *e, const vyre_kernel_insn *insn);

/* spirv_memory.c */
void spirv_declare_shared(spirv_emitter *e);
void spirv_declare_locals(spirv_emitter *e);
void spirv_zero_shared(spirv_emitter *e);
uint32_t spirv_load(spirv_emitter *e, const vyre_kernel_access *access);
void spirv_store(spirv_emitter *e, const vyre_kernel_access *access, uint32_t value);
uint32_t spirv_atomic(spirv_emitter *e, const vyre_kernel_insn *insn);
void spirv_mark_aliases(spirv_emitter *e);

/* spirv_group.c: gives the id of the result, or 0. */
uint32_t spirv_group(spirv_emitter *e, const vyre_kernel_insn *insn);
void spirv_barrier(spirv_emitter *e);
void spirv_fence(spirv_emitter *e, uint32_t scope, uint32_t order);
/* A condition as all lanes of a subgroup follow it: padding takes the first lane's. */
uint32_t spirv_followed(spirv_emitter *e, uint32_t condition);
/* Ids of the constants of a scope and of memory semantics. */
uint32_t spirv_scope(spirv_emitter *e, uint32_t scope);
uint32_t spirv_semantics(spirv_emitter *e, uint32_t order);

#endif
