/* The parts of the validator, and what it can say of a program and a device. */
#ifndef VYRE_IR_VALIDATE_H
#define VYRE_IR_VALIDATE_H

#include "ir/intervals.h"
#include "ir/program.h"

/* Warns (W116) where a buffer is used by atomics and plainly in one barrier interval. False without memory. */
bool ir_lint_races(const vyre_program *p, const ir_intervals *intervals, vyre_diagnostics *d);

/* Reports each need of a program (VYRE_NEED_*) that is not in |available|: V41 for subgroups, V56 for the others.
 * Gives those that are missing; 0 if the program can run. |d| may be NULL. */
uint32_t ir_check_needs(const vyre_program *p, uint32_t available, vyre_diagnostics *d);

/* What one VYRE_NEED_* bit is called among capabilities ("atomic64"), and what in a program needs it
 * ("64-bit atomics"); NULL if |bit| is not one of them. */
const char *ir_need_name(uint32_t bit);
const char *ir_need_use(uint32_t bit);

#endif
