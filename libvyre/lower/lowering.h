/* A program on its way into a kernel: what the parts of the lowering share. */
#ifndef VYRE_LOWER_LOWERING_H
#define VYRE_LOWER_LOWERING_H

#include "ir/program.h"
#include "ir/uniform.h"
#include "lower/code.h"
#include "lower/split.h"
#include "opt/range.h"

/* Where a variable of the program is: its value (let, loop variable) or its slot (var), in one entry point. */
typedef struct lower_place {
  uint32_t entry; /* + 1; 0: nowhere yet */
  uint32_t where;
  bool changed;   /* in this entry point */
} lower_place;

/* An open if, for, loop, block or region. */
typedef struct lower_open {
  uint32_t stmt;
  bool in_orelse;
  bool meets;          /* a loop with a collective inside, which counts its steps for itself */
  uint32_t counter;    /* of such a loop: slot of its steps */
  uint32_t variable;   /* FOR: slot of the variable ... */
  lower_value to, step; /* ... and its end and step */
} lower_open;

/* Slots of the step limit. */
typedef struct lower_steps {
  bool on;
  vyre_type type;       /* of the counters: u32, or u64 for a limit beyond that */
  uint8_t *meets;       /* of each statement: it is or holds a collective */
  uint32_t count;       /* back edges of loops without collectives */
  uint32_t expired;     /* the limit was reached */
  uint32_t all_expired; /* it was reached in a loop with a collective */
  uint32_t traps;       /* it was reached just now, and the trap is to be recorded */
} lower_steps;

typedef struct lowering {
  lower_code code;
  const vyre_program *p;
  ir_uniformity uniformity;
  opt_ranges *ranges;         /* what indices can be, at the statement that is being emitted */
  lower_split split;
  lower_steps steps;
  uint32_t entry;             /* number of the open entry point */
  lower_value *leaves;        /* of each expression that is a leaf: its value, 0 if it has none yet */
  VYRE_VECTOR(uint32_t) kept; /* the leaves to forget with the entry point */
  lower_place *vars;          /* of each variable */
  lower_place *arrays;        /* of each shared or local buffer: number of its array; of others nothing */
  uint32_t *tables;           /* of each constant table: its number + 1 */
  VYRE_VECTOR(uint32_t) changed_vars;   /* of this entry point, where there are several ... */
  VYRE_VECTOR(uint32_t) changed_arrays; /* ... in the order of their first change */
  VYRE_VECTOR(lower_open) open;
  VYRE_VECTOR(uint32_t) fences; /* FENCE statements of device or system scope, and ... */
  VYRE_VECTOR(uint32_t) fence_loops; /* ... pairs: first and last statement of an outermost loop around one */
  uint32_t loop_depth, outermost;    /* open loops, and the statement of the outermost one */
  bool loop_has_fence;
  uint32_t last;            /* statement that was emitted last */
  uint32_t counted, prints; /* print statements among those below |counted| */
  bool dead; /* what follows in this block is never reached */
} lowering;

static inline bool lowering_failed(const lowering *l) { return lower_failed(&l->code); }

/* Emits an expression; 0 for an atomic store. expr.c */
lower_value lower_expr(lowering *l, uint32_t e);
/* The access to an element of a buffer of the program: |index| is the value of expression |e|. */
uint32_t lower_buffer_access(lowering *l, uint32_t binding, lower_value index, uint32_t e);
/* The same for that element and those that follow it. */
uint32_t lower_buffer_stretch(lowering *l, uint32_t binding, lower_value index);
/* The same for an index that is known to be in range. */
uint32_t lower_buffer_element(lowering *l, uint32_t binding, lower_value index);

/* Emits all statements, entry point by entry point. stmt.c */
void lower_statements(lowering *l);

/* The value of a variable here, its slot. */
lower_value lower_variable(lowering *l, uint32_t var);
uint32_t lower_variable_slot(lowering *l, uint32_t var);
/* Number of the array of a shared or local buffer in this entry point. */
uint32_t lower_buffer_array(lowering *l, uint32_t binding);

/* Across grid barriers. keep.c */
void lower_keep_begin(lowering *l); /* at the start of an entry point */
void lower_keep_end(lowering *l);   /* at its end */
void lower_keep_leave(lowering *l); /* before an invocation ends early */
/* Notes that a variable or buffer, which has its place here, has another value now. */
void lower_keep_note_variable(lowering *l, uint32_t var);
void lower_keep_note_buffer(lowering *l, uint32_t binding);
/* Brings what an earlier entry point left into this one. */
void lower_keep_variable(lowering *l, uint32_t var);
void lower_keep_array(lowering *l, uint32_t binding);

/* Step limits. Without VYRE_COMPILE_STEPS none of these does anything. steps.c */
void lower_steps_prepare(lowering *l);
void lower_steps_begin(lowering *l);   /* at the start of an entry point */
void lower_steps_open(lowering *l, lower_open *loop);
/* In the continuing part, after which the loop ends if |done| (0: never): gives what ends it. */
lower_value lower_steps_count(lowering *l, const lower_open *loop, lower_value done);
void lower_steps_left(lowering *l); /* behind the loop */
/* Around what an expired invocation does not do. */
void lower_unless_expired(lowering *l);
void lower_end_unless_expired(lowering *l);

/* Marks accesses whose memory others touch in an order. coherent.c */
void lower_mark_coherent(lowering *l);

#endif
