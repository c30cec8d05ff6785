/* What is known of a unit's statements and variables. One structure, built when first asked for after a change, and
 * shared by all passes. */
#ifndef VYRE_OPT_FACTS_H
#define VYRE_OPT_FACTS_H

#include "opt/unit.h"

/* What a statement has, its operands and blocks included. */
enum {
  OPT_HAS_RETURN = 1 << 0,   /* return or trap */
  OPT_HAS_BREAK = 1 << 1,    /* a break or continue of a loop around the statement */
  OPT_HAS_BARRIER = 1 << 2,  /* all that invocations meet in: barriers, commit and wait, should_stop, uniform loads */
  OPT_HAS_FENCE = 1 << 3,    /* fence, ordered atomic: orders accesses of other buffers */
  OPT_HAS_ATOMIC = 1 << 4,
  OPT_HAS_ASYNC = 1 << 5,    /* copy_async, commit, wait */
  OPT_HAS_CONVERGENT = 1 << 6,
  OPT_HAS_EFFECT = 1 << 7,   /* anything that can be seen besides its variables: stores, atomics, print, trap, ... */
  OPT_HAS_LOOP = 1 << 8,
  OPT_HAS_PRINT = 1 << 9,
  /* Nothing may move across it, or out of it, that touches memory. */
  OPT_IS_FULL_FENCE = OPT_HAS_BARRIER | OPT_HAS_FENCE | OPT_HAS_ASYNC
};

typedef struct opt_stmt_facts {
  uint32_t flags;
  uint32_t parent;          /* the statement around it; 0 for none */
  uint32_t last;            /* last statement inside it, or itself: pre-order makes the inside a range */
  uint16_t loops;           /* loops around it */
  uint16_t in_orelse;       /* it stands in the second block of its parent */
  uint64_t reads, writes;   /* bits of bindings (opt_binding_bit); atomics are both */
  uint64_t cost;            /* of running it once, inside included */
} opt_stmt_facts;

typedef struct opt_var_facts {
  uint32_t def;     /* LET, VAR or FOR; 0 if the variable is no more */
  uint32_t assigns;
  uint32_t uses;    /* evaluations as written; saturates */
  uint32_t value;   /* expression that LET or VAR gave it */
} opt_var_facts;

struct opt_facts {
  opt_stmt_facts *stmt; /* by statement; [0] stands for the whole body */
  opt_var_facts *var;   /* by variable */
  uint32_t *uses;       /* by expression: evaluations as written; saturates */
  uint32_t exprs;       /* of which there were so many: newer ones have no entry */
};

/* The facts of the unit as it stands; NULL without memory (the unit then has a fault). Valid until a
 * commit. */
const opt_facts *opt_facts_of(opt_unit *u);
void opt_facts_free(opt_facts *f);

/* A variable that never changes once it has its value. */
static inline bool opt_is_constant_var(const opt_unit *u, const opt_facts *f, uint32_t var) {
  return u->program->vars.data[var].kind != VYRE_STMT_VAR || f->var[var].assigns == 0;
}

/* The number of turns of a FOR with literal bounds; false if they are not. */
bool opt_trip_count(const opt_unit *u, uint32_t stmt, uint64_t *trips);

#endif
