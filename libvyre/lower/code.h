/* A kernel under construction, and the functions that add to it: the interface of everything that emits
 * instructions, the builders of transcendentals included.
 *
 * An emitter asks for total opcodes. What the target does not take is expanded on the way (expand.def), so an
 * emitter never asks what the target can do. Types must fit; the verifier finds what does not.
 *
 * The first failure is kept in the code and everything after it does nothing: values are 0 then, which every
 * function here takes. So emitters need no checks of their own, only loops over input do. */
#ifndef VYRE_LOWER_CODE_H
#define VYRE_LOWER_CODE_H

#include <vyre/lower.h>

#include "base/error.h"
#include "base/index_set.h"
#include "base/vector.h"
#include "base/writer.h"
#include "lower/form.h"

typedef uint32_t lower_value; /* number of a value while the code is made; 0 is none */

/* A value: type and facts, as in vyre_kernel_value. */
typedef struct lower_info {
  uint8_t type; /* vyre_type */
  uint8_t uniform;
  uint8_t zeros; /* trailing */
  bool is_constant;
  uint32_t bits; /* number in constants */
  uint64_t least, most;
} lower_info;

typedef VYRE_VECTOR(vyre_kernel_insn) lower_insns;

/* An instruction that is asked for. */
typedef struct lower_request {
  uint16_t op;
  uint8_t aux, aux2;
  vyre_type result;  /* NONE if it has none */
  uint32_t arg[4];
  vyre_type type[4]; /* of each argument, as form_fits wants them */
} lower_request;

typedef struct lower_code {
  const vyre_lower_options *options;
  const char *name; /* of the program, for messages */
  uint32_t name_at; /* in strings */
  vyre_error *error;
  vyre_status status;
  uint64_t taken[FORM_OPS]; /* types that the target takes each opcode with */
  uint32_t stmt;            /* statement that instructions come from */
  uint32_t workgroup[3];
  uint32_t subgroup;        /* required size, 0 for any */

  VYRE_VECTOR(lower_info) values; /* [0] is none */
  VYRE_VECTOR(uint64_t) constants;
  VYRE_VECTOR(lower_value) constant_values;
  vyre_index_set constant_set;

  /* The open entry point, in the order in which it will stand: leaves and what follows from them, what is loaded at the
   * start, and the rest. Emitters write to |to|. */
  lower_insns leaves, head, body, *to;
  lower_insns insns; /* of the closed ones */
  VYRE_VECTOR(vyre_kernel_access) accesses;
  VYRE_VECTOR(uint32_t) access_stmts; /* statement that each comes from */
  VYRE_VECTOR(vyre_kernel_slot) slots;
  VYRE_VECTOR(vyre_kernel_entry) entries;
  VYRE_VECTOR(vyre_kernel_param) params;
  VYRE_VECTOR(vyre_kernel_spec) specs; /* by ascending id */
  VYRE_VECTOR(vyre_kernel_binding) bindings;
  VYRE_VECTOR(vyre_kernel_array) shared;
  VYRE_VECTOR(vyre_kernel_array) locals;
  VYRE_VECTOR(vyre_kernel_table_data) tables;
  VYRE_VECTOR(uint8_t) table_bytes;
  VYRE_VECTOR(vyre_kernel_hidden_binding) hidden_bindings;
  VYRE_VECTOR(vyre_kernel_hidden_word) hidden_words;
  VYRE_VECTOR(uint32_t) operands;
  vyre_writer strings;
  uint32_t param_bytes, count_offset, launch_bytes;
  uint64_t spill_bytes;
  uint32_t flags;
  uint64_t needs;
  uint32_t result; /* vyre_kernel_result */

  /* Of the open entry point, made when first asked for. */
  lower_value local_index, group_index;
  uint32_t stop_flag; /* number of the shared array of should_stop + 1 */
} lower_code;

#define lower_fail(c, status_, ...) \
  ((c)->status == VYRE_OK ? (void)((c)->status = vyre_fail((c)->error, (status_), __VA_ARGS__)) : (void)0)
void lower_fail_memory(lower_code *c);

static inline bool lower_failed(const lower_code *c) { return c->status != VYRE_OK; }
static inline const lower_info *lower_info_of(const lower_code *c, lower_value v) { return &c->values.data[v]; }
static inline vyre_type lower_type_of(const lower_code *c, lower_value v) { return (vyre_type)c->values.data[v].type; }

/* In |taken|, beside types: the opcode is listed. It is the bit of VYRE_TYPE_NONE. */
#define LOWER_LISTED form_type_bit(VYRE_TYPE_NONE)

/* Whether the target takes an opcode with all of these types (bits of form_type_bit). */
static inline bool lower_takes(const lower_code *c, uint32_t op, uint64_t types) {
  return (c->taken[op] & types) == types;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* A constant; upper bits of |bits| are 0. Equal ones are one value. */
lower_value lower_constant(lower_code *c, vyre_type type, uint64_t bits);
static inline lower_value lower_u32(lower_code *c, uint32_t x) { return lower_constant(c, VYRE_TYPE_U32, x); }
static inline lower_value lower_bool(lower_code *c, bool x) { return lower_constant(c, VYRE_TYPE_BOOL, x); }
lower_value lower_f32(lower_code *c, float x);
lower_value lower_f64(lower_code *c, double x);
/* The integer |x| in a type that is u32 i32 u64 i64 or a vector: a vector has it in every component. */
lower_value lower_number(lower_code *c, vyre_type type, uint64_t x);
/* Bits of a constant. False if |v| is none. */
bool lower_constant_bits(const lower_code *c, lower_value v, uint64_t *bits);

/* An operator whose operands fix the type of its result. Operands that it has not are 0. */
lower_value lower_op(lower_code *c, uint32_t op, lower_value x, lower_value y, lower_value z);
/* The same for operands that are expressions which emit: as members of one initializer they are evaluated from left to
 * right, while the order of a call's arguments would be the compiler's choice, and the kernel another one. */
typedef struct lower_operands {
  lower_value x, y, z;
} lower_operands;
static inline lower_value lower_operator(lower_code *c, uint32_t op, lower_operands o) {
  return lower_op(c, op, o.x, o.y, o.z);
}
#define lower_op1(c, op, x) lower_operator(c, op, (lower_operands){ x, 0, 0 })
#define lower_op2(c, op, x, y) lower_operator(c, op, (lower_operands){ x, y, 0 })
#define lower_select(c, condition, x, y) lower_operator(c, VYRE_KERNEL_SELECT, (lower_operands){ condition, x, y })
/* TO_FLOAT, TO_INT, BITCAST: the type is asked for. A bitcast to the own type is the value itself. */
lower_value lower_convert(lower_code *c, uint32_t op, vyre_type type, lower_value x);
/* A vector of |lanes| components, and one component. */
lower_value lower_vector(lower_code *c, const lower_value *components, uint32_t lanes);
lower_value lower_extract(lower_code *c, lower_value vector, uint32_t component);

/* A leaf opcode, computed at the start of the entry point; once if the caller keeps it. |type| is that of LENGTH, or of
 * what a parameter or hidden word holds; else NONE. */
lower_value lower_leaf(lower_code *c, uint32_t op, vyre_type type, uint32_t arg0, uint32_t arg1);
/* Linear number of the invocation in its workgroup, and of the workgroup in the grid. u32. */
lower_value lower_local_index(lower_code *c);
lower_value lower_group_index(lower_code *c);
/* A hidden word of the launch block. */
lower_value lower_hidden_word(lower_code *c, vyre_kernel_word kind);

/* ---- Flow ------------------------------------------------------------------------------------ */

void lower_if(lower_code *c, lower_value condition);
void lower_else(lower_code *c);
void lower_end_if(lower_code *c);
void lower_loop(lower_code *c);
void lower_continuing(lower_code *c);
/* |leave| may be 0: the loop is left by breaks alone. */
void lower_end_loop(lower_code *c, lower_value leave);
/* BREAK CONTINUE RETURN. */
void lower_jump(lower_code *c, uint32_t op);
/* An instruction without value operands or result. */
void lower_plain(lower_code *c, uint32_t op, uint32_t aux, uint32_t aux2);

/* ---- Slots and memory ------------------------------------------------------------------------ */

/* A slot of the open entry point; its number. |name| is an offset in strings. */
uint32_t lower_slot(lower_code *c, vyre_type type, uint32_t uniform, uint32_t name);
/* Facts of a value that do not follow from its instruction: low bits that are 0 and, if it is unsigned, bounds. */
void lower_know(lower_code *c, lower_value v, uint32_t zeros, uint64_t least, uint64_t most);
lower_value lower_get(lower_code *c, uint32_t slot);
void lower_set(lower_code *c, uint32_t slot, lower_value v);

/* Adds a text to the strings; its offset. */
uint32_t lower_text(lower_code *c, const char *text);
/* Number of a hidden binding, which is added if it is not there. */
uint32_t lower_hidden_binding(lower_code *c, vyre_kernel_hidden_kind kind, uint64_t bytes);
/* A new shared or local array of the open entry point; its number. */
uint32_t lower_array(lower_code *c, vyre_kernel_space space, vyre_type element, uint64_t length, uint32_t flags,
                     uint32_t name);

/* An access; alignment 0 is that of the element. Its number. */
uint32_t lower_access(lower_code *c, vyre_kernel_access access);
vyre_type lower_element(const lower_code *c, uint32_t access);
lower_value lower_load(lower_code *c, uint32_t access);
void lower_store(lower_code *c, uint32_t access, lower_value v);
/* ATOMIC_*; operands that it has not are 0. Gives 0 for a store. */
lower_value lower_atomic(lower_code *c, uint32_t op, uint32_t access, lower_value x, lower_value y, vyre_order order,
                         vyre_scope scope);

/* ---- Inside lower/ --------------------------------------------------------------------------- */

/* Emits what is asked for, or its expansion. */
lower_value lower_emit(lower_code *c, const lower_request *r);
/* Emits it as it stands. */
lower_value lower_append(lower_code *c, const lower_request *r);
/* Emits the expansion of what is not taken; |types| are all that it was asked with. Fails by name if there is none. */
lower_value lower_expand(lower_code *c, const lower_request *r, uint64_t types);
/* A transcendental: native, by a builder, or a failure that says what was looked for. */
lower_value lower_transcend(lower_code *c, const lower_request *r);
/* Facts of a result; |r| is the instruction, |info| has type and no facts yet. */
void lower_note_facts(const lower_code *c, const lower_request *r, lower_info *info);

/* Opens and closes an entry point. */
void lower_open_entry(lower_code *c);
void lower_close_entry(lower_code *c);

/* Writes all of it as one block and frees nothing. False without memory or above the largest size (status is set). */
bool lower_assemble(lower_code *c, const uint8_t *fingerprint, uint8_t **out, size_t *bytes);
void lower_code_free(lower_code *c);

#endif
