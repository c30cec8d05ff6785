/* What the passes share that are no more than a group of rules. */
#ifndef VYRE_OPT_PASSES_ALGEBRA_H
#define VYRE_OPT_PASSES_ALGEBRA_H

#include "opt/pass.h"
#include "opt/rules.h"

/* Applies rules of the groups (0: folds literals alone) to every expression, from the leaves up. |allows| is asked
 * before a rule is tried on an expression; NULL allows all. True if that changed the unit. */
bool opt_apply_rules(opt_context *c, uint32_t groups, bool (*allows)(void *context, uint32_t e), void *context);

/* Mapped operands bring literal indices to light: a store beyond its buffer that may not be left out gets the form of
 * index that it had. For statements whose operands were mapped. */
void opt_hide_beyond(opt_unit *u, ir_stmt *s);

#endif
