/* Ranges: what values an integer can have at a place, and which indices are in range there.
 *
 * A walk over the statements of a program tells the ranges where it is (opt_range_event). Intervals and possible bits
 * follow from operators and types; the conditions of the ifs around, the bounds of loops, and ifs before that end the
 * block add what holds here: intervals, and relations between expressions, such as gid.x < len(b). Relations are kept
 * only for expressions whose value can not change while they hold.
 *
 * Used by passes and by lower/, which leaves out the checks of accesses that are proved in range here. Nothing is
 * marked in programs, so that no text and no wire bytes can claim a proof. */
#ifndef VYRE_OPT_RANGE_H
#define VYRE_OPT_RANGE_H

#include "ir/program.h"
#include "ir/walk.h"

__extension__ typedef __int128 opt_wide; /* holds every 64-bit integer of either sign, and sums of them */

/* Integers by value, bool as 0 and 1. Everything of the type where nothing is known. */
typedef struct opt_interval {
  opt_wide least, most;
  uint64_t maybe; /* bits that may be 1, of the two's complement in the type's width */
} opt_interval;

typedef struct opt_ranges opt_ranges;

/* NULL without memory. |p| is borrowed, need not be sealed, and may get more expressions and variables meanwhile. */
opt_ranges *opt_ranges_create(const vyre_program *p);
void opt_ranges_free(opt_ranges *r);

/* The walk goes on: told for each event, IR_WALK_STMT for statements without blocks, too, after what the walker itself
 * asks about the statement's operands. Statements may be left out that are never reached. */
void opt_ranges_event(opt_ranges *r, ir_walk_event event, uint32_t stmt);

/* The values that an integer or bool expression may have, evaluated here. */
opt_interval opt_range_of(opt_ranges *r, uint32_t e);
/* Whether the element |index| of a buffer exists, evaluated here. */
bool opt_range_proves(opt_ranges *r, uint32_t index, uint32_t binding);
/* Whether a condition is known here; then *value is it. */
bool opt_range_decides(opt_ranges *r, uint32_t condition, bool *value);

/* False once memory has run out: all answers are then that nothing is known. */
bool opt_ranges_fine(const opt_ranges *r);

#endif
