/* Barrier intervals: which statements can run between the same two barriers.
 *
 * Two places are in one interval if a path leads from one to the other without a barrier. A barrier
 * opens a new interval; where paths meet (after an if, at the back edge of a loop) their intervals
 * become one. So all that a workgroup does between two barriers that it meets is within one interval,
 * even where some of its invocations are a turn of a loop ahead. The start of the program counts as a
 * barrier. Joining is symmetric, which can only make intervals larger. */
#ifndef VYRE_IR_INTERVALS_H
#define VYRE_IR_INTERVALS_H

#include "ir/program.h"

typedef struct ir_intervals {
  uint32_t *before;            /* of each statement: interval in which it begins ... */
  uint32_t *after;             /* ... and the one behind it, another one if it is or holds a barrier */
  VYRE_VECTOR(uint32_t) joined; /* of each interval: the one that it has become part of */
} ir_intervals;

/* False without memory; free it all the same. */
bool ir_intervals_create(ir_intervals *v, const vyre_program *p);
void ir_intervals_free(ir_intervals *v);

/* The interval that |interval| has become part of. */
static inline uint32_t ir_interval(const ir_intervals *v, uint32_t interval) { return v->joined.data[interval]; }

static inline bool ir_holds_barrier(const ir_intervals *v, uint32_t stmt) { return v->before[stmt] != v->after[stmt]; }

#endif
