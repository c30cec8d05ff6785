/* A program made ready to run: one list of instructions over numbered cells.
 *
 * Names are resolved: variables, intermediate values and loop bounds are cells of the invocation's frame, while
 * literals, parameters and whatever else is the same in the whole launch are cells of a table that all share. A
 * statement is a run of instructions whose first one carries `begins`; an invocation runs one statement a turn. An
 * expression is computed where it is used and as often as it is used, as the program is written. */
#ifndef CPU_CODE_H
#define CPU_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"
#include "ir/program.h"

#include "ops.h"

/* A value: scalars in word[0] with upper bits zero, vectors in lane[]. */
typedef union cpu_cell {
  uint64_t word[2];
  uint32_t lane[4];
} cpu_cell;

/* An operand is the number of a cell of the frame, or with this bit of one of the shared table. */
#define CPU_SHARED_CELL 0x80000000u
#define CPU_NO_CELL UINT32_MAX

typedef enum cpu_kind {
  CPU_CALL,       /* d = fn(a, b, c) */
  CPU_CALL_LANES, /* the same for each of aux components */
  CPU_MOVE,       /* d = a */
  CPU_SELECT,     /* d = a ? b : c */
  CPU_SPLAT,      /* every component of d = a */
  CPU_VECTOR,     /* d = the components a, b, c, x, of which there are aux */
  CPU_EXTRACT,    /* d = component aux of a */
  CPU_ID,         /* d = what leaf operator aux says, axis aux2 */
  CPU_CLOCK,      /* d = nanoseconds */
  CPU_LOAD,       /* d = buffer x at a */
  CPU_STORE,      /* buffer x at a = b */
  CPU_ATOMIC,     /* d = operator aux, order aux2, on buffer x at a with b and c */
  CPU_FENCE,      /* order aux */
  CPU_JUMP,       /* to x */
  CPU_UNLESS,     /* to x if not a */
  CPU_FOR,        /* d, d + 1, d + 2 hold variable, end and step (aux: step is 1); to the exit of loop x if it is empty */
  CPU_NEXT,       /* the body of loop x again, or its exit if it is done */
  CPU_CONTINUE,   /* to the CPU_NEXT of loop x */
  CPU_BREAK,      /* to the exit of loop x */
  CPU_RETURN,
  CPU_TRAP,       /* with code a */
  CPU_PRINT,      /* site x of sites[] */
  CPU_COPY,       /* c elements from buffer y at b to buffer x at a */
  CPU_PAUSE,      /* about a ns */

  /* Collectives: an invocation waits here until all that are concerned have come. */
  CPU_BARRIER,
  CPU_GRID_BARRIER,
  CPU_WORKGROUP_LOAD, /* as CPU_LOAD, a equal in the workgroup */
  CPU_SHOULD_STOP,    /* d = whether to stop */
  CPU_COPY_WORKGROUP, /* as CPU_COPY, operands equal in the workgroup */
  CPU_SUBGROUP        /* d = subgroup operator aux on a of type aux2, lane or distance b */
} cpu_kind;

static inline bool cpu_is_collective(cpu_kind kind) { return kind >= CPU_BARRIER; }

typedef struct cpu_insn {
  uint8_t kind;
  uint8_t aux, aux2;
  bool begins;   /* a statement */
  uint32_t stmt; /* the statement that it belongs to */
  uint32_t d, a, b, c, x, y;
  cpu_op fn;
} cpu_insn;

/* A `for` or `loop`; body, next and exit are instructions. */
typedef struct cpu_loop {
  uint32_t cells;   /* of `for`: variable, end, step */
  uint32_t body, next, exit;
  uint32_t counter; /* number among the loops with a barrier inside, or UINT32_MAX */
  uint32_t outer;   /* loop around it, or UINT32_MAX */
  uint8_t type;     /* of the variable; NONE for `loop` */
} cpu_loop;

/* A print statement: its arguments are |count| entries of operands[], from |first| on. */
typedef struct cpu_site {
  uint32_t first, count;
  uint32_t number; /* among the print statements, in pre-order */
} cpu_site;

/* Where a buffer of the program lies. */
typedef enum cpu_space { CPU_SPACE_BOUND, CPU_SPACE_TABLE, CPU_SPACE_SHARED, CPU_SPACE_LOCAL } cpu_space;

typedef struct cpu_buffer {
  uint8_t space;
  uint8_t element;  /* vyre_type */
  uint8_t bytes;    /* of an element */
  uint64_t length;  /* fixed, or 0 */
  uint64_t offset;  /* shared and local: place in that memory */
} cpu_buffer;

typedef struct cpu_options {
  uint32_t ulp;      /* VYRE_ULP_UNSET: transcendentals are refused */
  uint32_t subgroup; /* 1, 2, 4, 8, 16, 32; 0 for any */
  uint32_t default_subgroup; /* taken where neither this nor the program says; 0 for 32 */
  uint64_t steps;    /* back edges until a loop is left; 0 for no limit */
} cpu_options;

typedef struct cpu_code {
  vyre_program *program; /* retained */
  VYRE_VECTOR(cpu_insn) insns;
  VYRE_VECTOR(uint32_t) computes; /* by instruction: its expression; 0: it is its statement's own */
  VYRE_VECTOR(cpu_loop) loops;
  VYRE_VECTOR(cpu_site) sites;
  VYRE_VECTOR(uint32_t) operands; /* of print statements */
  VYRE_VECTOR(uint32_t) leaves;   /* expressions; cell i of the shared table is the value of leaves[i] */
  cpu_buffer *buffers;            /* one for each of the program's */
  uint32_t invocations;           /* of a workgroup */
  uint32_t subgroup;              /* size */
  uint32_t subgroups;             /* of a workgroup, the last one may be short */
  uint32_t cells;                 /* of a frame */
  uint32_t counters;              /* loops with a barrier inside */
  uint64_t shared_bytes, local_bytes;
  uint64_t steps;
} cpu_code;

/* Makes a program ready. Errors: UNSUPPORTED (a transcendental without budget, f64 with budget 0, a subgroup
 * size that can't be had), LIMIT (a workgroup that is too large), NO_MEMORY. The caller destroys *out. */
vyre_status cpu_code_create(vyre_program *program, const cpu_options *options, cpu_code **out, vyre_error *error);
void cpu_code_destroy(cpu_code *code); /* NULL is allowed */

#endif
