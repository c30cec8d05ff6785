/* Settled loads: ordinary loads of shared memory that give every invocation of the workgroup the same
 * value, because nothing writes that memory between the two barriers around the load.
 *
 * Only shared memory can be settled: other workgroups, the host or another kernel may write an rw
 * buffer at any time. The two barriers count in both directions, so that an invocation that is a turn
 * of a loop ahead can not have written what another has yet to read. */
#ifndef VYRE_IR_SETTLED_H
#define VYRE_IR_SETTLED_H

#include "ir/intervals.h"

typedef struct ir_settled {
  const ir_intervals *intervals;
  uint64_t *bit;     /* of each buffer: its bit, 0 if its loads are never settled */
  uint64_t *written; /* of each interval: bits of what may be written in it */
  bool any;          /* a buffer has a bit */
} ir_settled;

/* |intervals| is borrowed. False without memory; free it all the same. */
bool ir_settled_create(ir_settled *s, const vyre_program *p, const ir_intervals *intervals);
void ir_settled_free(ir_settled *s);

/* Whether loads of the buffers |bits| in the operands of |stmt| are settled there. */
bool ir_settled_at(const ir_settled *s, uint32_t stmt, uint64_t bits);

#endif
