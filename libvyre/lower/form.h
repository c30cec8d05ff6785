/* What the tables of the kernel form say, as arrays and functions: opcodes, their operands, the typing rules.
 * The lowering, the verifier and the printer all go by these. */
#ifndef VYRE_LOWER_FORM_H
#define VYRE_LOWER_FORM_H

#include <stdbool.h>

#include <vyre/kernel.h>

enum { FORM_OPS = 0x180 }; /* above every opcode of this version */

/* What an operand of an instruction is, as in kernel_ops.def. */
typedef enum form_kind {
  FORM_NO,
  FORM_VA,
  FORM_OV,
  FORM_AC,
  FORM_SL,
  FORM_PA,
  FORM_BI,
  FORM_SP,
  FORM_HW,
  FORM_IN,
  FORM_LI,
  FORM_IM
} form_kind;

/* Effects of an opcode, as in kernel_ops.def. */
enum {
  FORM_READS = 1u << 0,
  FORM_WRITES = 1u << 1,
  FORM_ORDERS = 1u << 2,
  FORM_MEETS = 1u << 3,
  FORM_LANES = 1u << 4,
  FORM_FLOW = 1u << 5,
  FORM_ULP = 1u << 6
};

typedef struct form_op {
  bool known;
  uint8_t rule; /* of form.c */
  uint8_t effects;
  uint8_t kinds[4]; /* form_kind of each arg */
  uint8_t values;   /* bit k: arg[k] is a value or may be left out */
} form_op;

extern const form_op form_ops[FORM_OPS];

static inline bool form_is_known(uint32_t op) { return op < FORM_OPS && form_ops[op].known; }
static inline bool form_is_atomic(uint32_t op) { return op >= VYRE_KERNEL_ATOMIC_LOAD && op <= VYRE_KERNEL_ATOMIC_CAS; }
static inline bool form_is_loop_jump(uint32_t op) { return op == VYRE_KERNEL_BREAK || op == VYRE_KERNEL_CONTINUE; }
/* No instruction of the same block may follow. */
static inline bool form_is_jump(uint32_t op) { return form_is_loop_jump(op) || op == VYRE_KERNEL_RETURN; }

/* The type of the language behind a type of the form and back; NONE and all zero where there is none. */
vyre_type form_type_named(vyre_kernel_type type);
vyre_kernel_type form_type(vyre_type type);
/* Types that values may have. */
static inline bool form_is_value_type(vyre_type t) { return t >= VYRE_TYPE_BOOL && t <= VYRE_TYPE_F32X4; }
static inline uint64_t form_type_bit(vyre_type t) { return 1ull << t; }

/* What a type is, by number; all zero for NONE. */
typedef struct form_traits {
  uint8_t bytes, lanes, component, widened; /* of an element in memory; what a load of such an element gives */
  bool is_unsigned; /* u32, u64 */
  bool is_signed;   /* i32, i64 */
  bool is_integer;  /* u32 i32 u64 i64 and vectors */
  bool is_float;    /* f32, f64 and vectors */
} form_traits;
extern const form_traits form_types[VYRE_TYPE_COUNT];
static inline vyre_type form_widened(vyre_type element) { return (vyre_type)form_types[element].widened; }
static inline uint32_t form_bytes(vyre_type t) { return form_types[t].bytes; }
static inline uint32_t form_lanes(vyre_type t) { return form_types[t].lanes; }
static inline vyre_type form_component(vyre_type t) { return (vyre_type)form_types[t].component; }
static inline bool form_is_unsigned(vyre_type t) { return form_types[t].is_unsigned; }
static inline bool form_is_signed(vyre_type t) { return form_types[t].is_signed; }
static inline bool form_is_integer(vyre_type t) { return form_types[t].is_integer; }
static inline bool form_is_float(vyre_type t) { return form_types[t].is_float; }

/* Whether an instruction has types that fit: |t| are those of its arguments by place (of a value; of the elements of
 * an access; of what a slot, parameter, spec or hidden word holds; NONE for others and for a value that is left out),
 * and |result| that of its result, NONE if it has none. */
bool form_fits(uint32_t op, vyre_type result, const vyre_type t[4]);

/* The result's type where the operands fix it; NONE where there is no result or several are possible. */
vyre_type form_result(uint32_t op, const vyre_type t[4]);

/* Whether an order may stand at an atomic or a fence. */
bool form_takes_order(uint32_t op, uint32_t order);

#endif
