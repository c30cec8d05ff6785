/* What has changed on the way from one statement to a later one: variables that were assigned, memory that was written.
 * A pass that follows the statements in their order tells what it meets, and may ask at any point whether an
 * expression still has the value that it had at an earlier one, in the same block or in one around it.
 *
 * Exact in what it denies, not in what it allows: 64 bits stand for all variables, and 64 for all bindings. */
#ifndef VYRE_OPT_CHANGES_H
#define VYRE_OPT_CHANGES_H

#include "opt/facts.h"

enum { OPT_CHANGE_FENCE = 128, OPT_CHANGE_KINDS }; /* bits of variables, of bindings, and all memory at once */

static inline uint64_t opt_var_bit(uint32_t var) { return 1ull << var % 64; }

/* By expression: the bits of the `var`s that it reads, constant ones too. NULL without memory, and the unit then has
 * the fault. The caller frees it. */
uint64_t *opt_var_reads(opt_unit *u);

/* What an expression, or all fused into one, depends on. */
typedef struct opt_reads {
  uint64_t vars, memory;
} opt_reads;

typedef struct opt_change {
  uint32_t kind, before;
} opt_change;

typedef struct opt_changes {
  opt_unit *unit;
  const opt_facts *facts;
  uint64_t *vars;     /* by expression: bits of the `var`s that it reads */
  uint64_t *assigned; /* by statement: bits of the variables that are assigned in it */
  uint32_t now;       /* one more with each point that was told of */
  uint64_t own_writes; /* of the operands of the statement that was told of last */
  bool own_fence;
  uint32_t pending;   /* statement without blocks whose own effects come next */
  uint32_t time[OPT_CHANGE_KINDS];
  VYRE_VECTOR(opt_change) undo; /* of the open arms */
  VYRE_VECTOR(uint32_t) arms;   /* where in |undo| each open `if` begins */
} opt_changes;

/* False without memory, and the unit then has the fault; end it all the same. */
bool opt_changes_begin(opt_changes *c, opt_unit *u);
void opt_changes_end(opt_changes *c);

/* To be told in the order of the walk. At a statement: its operands are evaluated next; what they write themselves
 * counts as done before. */
void opt_changes_at(opt_changes *c, uint32_t stmt);
void opt_changes_block(opt_changes *c, uint32_t owner, bool orelse);
void opt_changes_leave(opt_changes *c, uint32_t stmt);

/* What |e|, of the unit as it was at the beginning, depends on; |memory| has no bit for what never changes. */
opt_reads opt_reads_of(const opt_changes *c, uint32_t e);
/* Whether nothing of that has changed since the point |time|, a value of c->now. */
bool opt_unchanged_since(const opt_changes *c, opt_reads reads, uint32_t time);
/* Whether an operand of the statement that was told of last writes what is read, so that their order in it matters. */
bool opt_operands_write(const opt_changes *c, opt_reads reads);

#endif
