/* The inside of a program: what the text, wire, validator, passes and the oracle read.
 *
 * Expressions and statements stand in pools and refer to each other by 32-bit handles; 0 is none.
 * Equal expressions are one entry (hash-consed), so a handle may occur in many places, and every
 * occurrence is an evaluation of its own. Statements are in pre-order: a smaller handle starts earlier
 * in the text. */
#ifndef VYRE_IR_PROGRAM_H
#define VYRE_IR_PROGRAM_H

#include <vyre/ir.h>

#include "base/strings.h"
#include "base/vector.h"

enum { IR_MAX_OPERANDS = 4 };

/* One expression, 20 bytes. Operands come first in arg. What else each operator keeps:
 *   LIT            arg[0] low and arg[1] high 32 bits of the value
 *   VAR            arg[3] variable
 *   PARAM          arg[3] parameter
 *   GID WID LID NWG, EXTRACT    aux axis or component
 *   CAST           aux target type (type is what the value keeps: the wide type)
 *   LOAD, *_UNIFORM_LOAD, LEN, LEN64, ATOMIC_*   arg[3] binding
 *   ATOMIC_*       aux order, aux2 scope (never VYRE_SCOPE_DEFAULT)
 * All else is 0, so that equality of bytes is equality. */
typedef struct ir_expr {
  uint8_t op, type, aux, aux2;
  uint32_t arg[IR_MAX_OPERANDS];
} ir_expr;

/* One statement. Operands come first in arg. What else each keeps:
 *   LET VAR ASSIGN FOR   arg[4] variable
 *   STORE                arg[4] binding
 *   REGION               arg[4] string
 *   FENCE                aux order, aux2 scope
 *   PRINT                arg[2] number of arguments, arg[3] their offset in lists, arg[4] string
 *   COPY_ASYNC           arg[3] destination binding, arg[4] source binding, aux 1 if workgroup
 *   WAIT                 aux unfinished groups */
typedef struct ir_stmt {
  uint8_t op, aux, aux2, zero;
  uint32_t next;         /* following statement of the same block */
  uint32_t arg[5];
  uint32_t body, orelse; /* first statement of each block */
  uint32_t pos;          /* byte offset in the source, or VYRE_NO_POSITION; not part of identity */
} ir_stmt;

typedef struct ir_var {
  uint32_t name; /* string */
  uint8_t type;
  uint8_t kind;  /* VYRE_STMT_LET, VYRE_STMT_VAR or VYRE_STMT_FOR */
} ir_var;

typedef struct ir_param {
  uint32_t name;
  uint8_t type;
} ir_param;

typedef struct ir_buffer {
  uint32_t name;
  uint8_t access, element;
  uint8_t uses_len32;
  uint32_t slot;   /* among bound buffers; UINT32_MAX for the others */
  uint64_t length; /* 0: what is bound */
  const uint8_t *data; /* tables: length * element bytes, in the strings' arena; else NULL */
} ir_buffer;

struct vyre_program {
  uint32_t references; /* atomic */
  uint32_t name, op_id; /* strings; op_id 0 (empty) if none */
  uint32_t workgroup[3];
  uint32_t attributes, ulp, subgroup;
  vyre_strings strings;
  VYRE_VECTOR(ir_param) params;
  VYRE_VECTOR(ir_buffer) buffers;
  VYRE_VECTOR(ir_var) vars;     /* in order of declaration */
  VYRE_VECTOR(ir_expr) exprs;   /* [0] is none */
  VYRE_VECTOR(ir_stmt) stmts;   /* [0] is none; its body is the program's first statement */
  VYRE_VECTOR(uint32_t) lists;
  uint64_t op_kinds[(VYRE_OP_COUNT + 63) / 64]; /* bit of each operator that it has; stmt_kinds is in |info| */
  vyre_program_info info;
  uint8_t fingerprint[VYRE_FINGERPRINT_BYTES];
};

static inline const ir_expr *ir_expr_at(const vyre_program *p, uint32_t e) { return &p->exprs.data[e]; }
static inline const ir_stmt *ir_stmt_at(const vyre_program *p, uint32_t s) { return &p->stmts.data[s]; }
static inline uint32_t ir_entry(const vyre_program *p) { return p->stmts.data[0].body; }
static inline const char *ir_text(const vyre_program *p, uint32_t string) {
  return vyre_strings_text(&p->strings, string);
}
/* Of a finished program: whether it has such an operator. */
static inline bool ir_has_op(const vyre_program *p, vyre_op op) { return p->op_kinds[op / 64] >> op % 64 & 1; }
static inline uint64_t ir_literal_bits(const ir_expr *e) { return (uint64_t)e->arg[1] << 32 | e->arg[0]; }

/* Operands of an operator and of a statement. */
extern const uint8_t ir_op_arity[VYRE_OP_COUNT];
extern const uint8_t ir_stmt_arity[VYRE_STMT_COUNT];
extern const uint8_t ir_op_effects[VYRE_OP_COUNT];

/* What vyre_type_describe says of a type, within reach of the loops that ask it for every expression. */
typedef struct ir_type_row {
  uint8_t bytes, lanes, component, value;
} ir_type_row;
extern const ir_type_row ir_type_rows[VYRE_TYPE_COUNT];
static inline const ir_type_row *ir_type_at(vyre_type t) {
  return &ir_type_rows[(unsigned)t < VYRE_TYPE_COUNT ? t : VYRE_TYPE_NONE];
}

/* Type predicates. */
static inline bool ir_is_vector(vyre_type t) { return t >= VYRE_TYPE_U32X2 && t <= VYRE_TYPE_F32X4; }
static inline bool ir_is_narrow(vyre_type t) { return t >= VYRE_TYPE_U8 && t <= VYRE_TYPE_BF16; }
static inline vyre_type ir_component(vyre_type t) { return (vyre_type)ir_type_at(t)->component; }
static inline bool ir_is_integer(vyre_type t) { /* scalar or vector of u32 i32 u64 i64 */
  return ir_component(t) >= VYRE_TYPE_U32 && ir_component(t) <= VYRE_TYPE_I64;
}
static inline bool ir_is_float(vyre_type t) { /* scalar or vector of f32 f64 */
  return ir_component(t) == VYRE_TYPE_F32 || ir_component(t) == VYRE_TYPE_F64;
}
static inline bool ir_is_unsigned(vyre_type t) { /* scalar or vector of u32 u64 */
  return ir_component(t) == VYRE_TYPE_U32 || ir_component(t) == VYRE_TYPE_U64;
}
/* The vector of |lanes| components, NONE if there is none. */
vyre_type ir_vector_of(vyre_type component, uint32_t lanes);
/* The type spelled so, NONE if there is none. */
vyre_type ir_type_named(const char *spelling, size_t bytes);

/* The words that no name may be, as a hash table of their numbers, for who asks often. */
typedef struct ir_reserved {
  uint16_t slots[512]; /* 1 + number; 0 is free */
  uint8_t bytes[512];  /* length of the word in each slot */
} ir_reserved;
void ir_note_reserved_words(ir_reserved *reserved, uint64_t key);
/* |string| has been hashed under the same key. */
bool ir_is_reserved(const ir_reserved *reserved, const vyre_string *string);
/* The same for who asks once. */
bool ir_is_reserved_word(const char *text, size_t bytes);

/* Compacts the pools of a program under construction to what its statements use, and derives |op_kinds| and |info|.
 * |max_live_names| is what only the builder saw. False without memory. ir/seal.c */
bool ir_program_seal(vyre_program *p, uint32_t max_live_names);
void ir_program_free(vyre_program *p);

/* Checks what only a whole program shows: uniformity, loops with barriers, the race lint. ir/validate.c */
vyre_status ir_validate(const vyre_program *p, vyre_diagnostics *d, vyre_error *error);

/* Writes the wire bytes and their digest. ir/wire_encode.c. |digest| has VYRE_FINGERPRINT_BYTES. */
vyre_status ir_wire_digest(const vyre_program *p, uint8_t *digest, vyre_error *error);

#endif
