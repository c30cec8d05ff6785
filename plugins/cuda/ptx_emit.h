/* What the parts of the emitter share: registers, operands, lines of text.
 *
 * A value of the kernel is one operand for each of its components: a virtual register or a constant. Registers have no
 * class beyond their width, so that bits move between integers and floats for nothing:
 *
 *   r  .b32    d  .b64    p  .pred    h  .b16    q  .b128
 *
 * Instructions are written from templates (ptx_line), in which
 *
 *   $0 .. $9   the operand; a constant as an integer
 *   &0 .. &9   the operand; a constant as a float (0f or 0d)
 *   $r0 .. $r5, $d0 .., $p0 .., $h0 .., $q0 ..   a register for this line alone, the same wherever it stands in it
 *   %          `.rn` (a plain % is %%), or nothing where the kernel lets a*b + c be contracted
 *   ^          `.ftz` where the kernel lets subnormals be flushed
 *
 * A template may have several lines; the last one gets its end from ptx_line. */
#ifndef CUDA_PTX_EMIT_H
#define CUDA_PTX_EMIT_H

#include "plugins/cuda/ptx.h"

/* Kind in the upper four bits, number in the others. */
typedef uint32_t ptx_operand;
enum { PTX_NONE, PTX_R, PTX_D, PTX_P, PTX_H, PTX_Q, PTX_REGISTERS, PTX_CONSTANT = PTX_REGISTERS, PTX_SMALL, PTX_WIDE };
enum { PTX_NUMBER_BITS = 28, PTX_NUMBER_MASK = (1 << PTX_NUMBER_BITS) - 1 };

static inline ptx_operand ptx_make(uint32_t kind, uint32_t number) { return kind << PTX_NUMBER_BITS | number; }
static inline uint32_t ptx_kind(ptx_operand o) { return o >> PTX_NUMBER_BITS; }
static inline uint32_t ptx_number_of(ptx_operand o) { return o & PTX_NUMBER_MASK; }
static inline bool ptx_is_register(ptx_operand o) { return ptx_kind(o) < PTX_REGISTERS; }

/* Scalar types; of a vector that of its components. */
typedef enum ptx_type { PTX_BOOL, PTX_U32, PTX_I32, PTX_U64, PTX_I64, PTX_F32, PTX_F64, PTX_TYPES } ptx_type;

typedef struct ptx_parts {
  ptx_operand part[4];
} ptx_parts;

/* What the emitter remembers of an address: |reg| + |offset| is where it begins. */
typedef struct ptx_place {
  uint8_t space;
  uint8_t bytes;  /* of an element */
  uint32_t number, base, index; /* as the access has them, the index without what was added to it */
  ptx_operand reg;
} ptx_place;

/* Loads or stores that become one: by place, lowest first. */
typedef struct ptx_neighbours {
  uint32_t count;    /* 0, 2 or 4 */
  uint32_t last;     /* the one that comes last */
  uint32_t insns[4];
} ptx_neighbours;

enum { PTX_PLACES = 4096, PTX_WIDES = 8, PTX_TEMPS = 6 };

typedef struct ptx_emitter {
  const vyre_kernel_header *h;
  ptx_target target;
  ptx_facts *facts;
  vyre_error *error;
  vyre_status status;   /* of the first refusal */
  gpu_bytes *out;

  ptx_parts *values;    /* by value */
  uint32_t *makers;     /* by value: 1 + its instruction; 0 for constants */
  uint8_t *uses;        /* by value: how often it is an operand, at most 255 */
  bool *done;           /* by instruction: it was emitted with an earlier one */
  ptx_parts *slots;
  bool *constant_tables; /* by table: it is `.const`, not `.global` */
  uint64_t wide[PTX_WIDES]; /* numbers of PTX_WIDE operands, the latest ones */
  uint32_t wides;

  const vyre_kernel_entry *entry;
  uint32_t entry_number, invocations;
  uint32_t subgroup;    /* lanes */
  uint32_t counts[PTX_REGISTERS]; /* registers of each kind */
  ptx_operand guard;    /* of memory accesses and slots; PTX_NONE for none */
  bool uses_groups;     /* cp.async */

  /* What the head of the entry has put into registers, PTX_NONE where it is not used. */
  ptx_operand block, shared, local, linear, lane, mask, live;
  ptx_operand *pointers; /* by place in the parameter */
  ptx_operand *lengths;  /* by binding */

  ptx_neighbours stores; /* that wait for the last of them */
  ptx_place *places;    /* that can be used again here */
  uint32_t place_count;
  uint32_t *blocks;     /* stack: place_count where each open block began */
  uint32_t block_count, block_room;
} ptx_emitter;

/* ---- ptx_text.c ------------------------------------------------------------------------------ */

void ptx_write(ptx_emitter *e, const char *template, const ptx_operand *operands);
/* One instruction or several. */
#define ptx_line(e, template, ...) ptx_write(e, template, (const ptx_operand[]){ __VA_ARGS__ })
#define ptx_plain(e, text) ptx_write(e, text, NULL)
ptx_operand ptx_new(ptx_emitter *e, uint32_t kind);
/* Any number as an operand. It holds until PTX_WIDES more were made. */
ptx_operand ptx_number(ptx_emitter *e, uint64_t number);
/* Refuses the kernel; the first refusal counts. */
void ptx_refuse(ptx_emitter *e, vyre_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Asks for a target and a version; refuses, by |what|, where the caller does not allow them. */
bool ptx_needs(ptx_emitter *e, uint32_t sm, uint32_t version, const char *what);

/* ---- ptx_value.c ----------------------------------------------------------------------------- */

/* PTX_TYPES for one that no value has. */
ptx_type ptx_type_of(vyre_kernel_type type);
static inline bool ptx_is_wide(ptx_type t) { return t == PTX_U64 || t == PTX_I64 || t == PTX_F64; }
static inline bool ptx_is_float(ptx_type t) { return t == PTX_F32 || t == PTX_F64; }
uint32_t ptx_register_of(ptx_type type);

static inline ptx_type ptx_value_type(const ptx_emitter *e, uint32_t v) {
  return ptx_type_of(gpu_value(e->h, v)->type);
}
static inline uint32_t ptx_lanes(const ptx_emitter *e, uint32_t v) { return gpu_value(e->h, v)->type.lanes; }
static inline ptx_operand ptx_part(const ptx_emitter *e, uint32_t v, uint32_t k) { return e->values[v].part[k & 3]; }
static inline ptx_operand ptx_scalar(const ptx_emitter *e, uint32_t v) { return e->values[v].part[0]; }

/* New registers for an instruction's result; nothing for a result of 0. */
void ptx_define(ptx_emitter *e, uint32_t v);
/* Whether it is a constant, and which. */
bool ptx_constant(const ptx_emitter *e, uint32_t v, uint64_t *bits);
/* The instruction that makes a value; NULL for a constant. */
const vyre_kernel_insn *ptx_maker(const ptx_emitter *e, uint32_t v);
/* A bool as a predicate register. */
ptx_operand ptx_predicate(ptx_emitter *e, uint32_t v);
/* An unsigned value as 64 bits. */
ptx_operand ptx_wide(ptx_emitter *e, uint32_t v);

/* ---- Instructions. Each gives false for one that it does not know in this shape. -------------- */

bool ptx_leaf(ptx_emitter *e, const vyre_kernel_insn *in);       /* ptx_leaf.c */
void ptx_head(ptx_emitter *e);
ptx_operand ptx_groups(ptx_emitter *e, uint32_t axis);           /* workgroups of the grid */
bool ptx_compute(ptx_emitter *e, const vyre_kernel_insn *in);    /* ptx_compute.c */
bool ptx_convert(ptx_emitter *e, const vyre_kernel_insn *in);    /* ptx_convert.c */
bool ptx_move(ptx_emitter *e, const vyre_kernel_insn *in);       /* ptx_convert.c */
bool ptx_pattern(ptx_emitter *e, const vyre_kernel_insn *in);    /* ptx_pattern.c: false where nothing matches */
bool ptx_memory(ptx_emitter *e, uint32_t number, const vyre_kernel_insn *in); /* ptx_memory.c */
bool ptx_atomic(ptx_emitter *e, const vyre_kernel_insn *in);     /* ptx_atomic.c */
bool ptx_copy(ptx_emitter *e, const vyre_kernel_insn *in);       /* ptx_copy.c */
bool ptx_has_groups(const ptx_emitter *e);
bool ptx_group(ptx_emitter *e, const vyre_kernel_insn *in);      /* ptx_group.c */
bool ptx_subgroup(ptx_emitter *e, const vyre_kernel_insn *in);   /* ptx_subgroup.c */
void ptx_body(ptx_emitter *e);                                   /* ptx_flow.c */

/* The template of an operator on a type, NULL for none; also what reductions and scans combine by. */
const char *ptx_operator(uint32_t op, ptx_type type);

/* ---- Addresses: ptx_address.c ----------------------------------------------------------------- */

/* What stands in brackets: a register or a name, and a number of bytes. */
typedef struct ptx_address {
  ptx_operand reg;
  int64_t offset;
} ptx_address;
/* "global", "shared", ...: the state space of an access. */
const char *ptx_space(const ptx_emitter *e, const vyre_kernel_access *a);
ptx_address ptx_address_of(ptx_emitter *e, const vyre_kernel_access *a);
/* The same with an offset that is not negative. */
ptx_address ptx_plain_address(ptx_emitter *e, const vyre_kernel_access *a);
/* The index without a constant that was added to it, which goes to |*plus|. */
uint32_t ptx_split_index(const ptx_emitter *e, const vyre_kernel_access *a, int64_t *plus);
/* The predicate under which an access is made, guard included; PTX_NONE if it always is. */
ptx_operand ptx_bound(ptx_emitter *e, const vyre_kernel_access *a);
/* Whether it is made for certain, but for the guard. */
bool ptx_is_inside(const ptx_emitter *e, const vyre_kernel_access *a);
/* The number of elements that are in range, 64 bits; PTX_NONE for PROVED. */
ptx_operand ptx_limit(ptx_emitter *e, const vyre_kernel_access *a);
/* The loads or stores that can be made together with instruction |number|, the first of them (ptx_neighbours.c). */
bool ptx_find_neighbours(const ptx_emitter *e, uint32_t number, ptx_neighbours *out);
/* Which tables are `.const`. */
void ptx_place_tables(ptx_emitter *e);

#endif
