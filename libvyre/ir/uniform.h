/* Uniformity: over how much of a launch a value, or the flow that reaches a statement, is the same.
 * The rules are those of docs/language.md, section 8.
 *
 * A variable has one level, that of the weakest value and flow that assign it. So the level of an
 * expression does not depend on where it stands. */
#ifndef VYRE_IR_UNIFORM_H
#define VYRE_IR_UNIFORM_H

#include "ir/intervals.h"

/* From strong to weak. */
typedef enum ir_level {
  IR_LEVEL_GRID,
  IR_LEVEL_WORKGROUP,
  IR_LEVEL_SUBGROUP,
  IR_LEVEL_DIVERGENT
} ir_level;

typedef struct ir_uniformity {
  uint8_t *expr;    /* level of each expression's value */
  uint8_t *var;     /* level of each variable; the same memory, as flow, forward and leaving are one */
  uint8_t *flow;    /* of each statement: level of the flow that reaches it, in every turn of the loops around it */
  uint8_t *forward; /* the same in the first turn: without what jumps that stand behind it do to later turns */
  uint8_t *leaving; /* of a jump: level at which invocations take it. As forward, but a condition inside a loop
                       that is uniform by settled loads counts as such (ir/settled.h).
                       Of a loop: level at which invocations leave it by a return or trap */
  ir_intervals intervals;
  uint64_t work; /* dependences that were followed: each at most once */
} ir_uniformity;

/* Whether a glance shows that all invocations come together to whatever a workgroup or the grid must come to: no
 * such statement, and no jump, stands under a condition that could differ, nor has one an operand that must not differ.
 * False says nothing, and so it is without memory. Operators that are collective themselves are not looked for. */
bool ir_plainly_uniform(const vyre_program *p);

/* False without memory; free it all the same. */
bool ir_uniformity_create(ir_uniformity *u, const vyre_program *p);
void ir_uniformity_free(ir_uniformity *u);

#endif
