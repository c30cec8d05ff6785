/* Which assignments give a variable a value that nothing reads, though the variable itself is read. */
#ifndef VYRE_OPT_DEAD_ASSIGNS_H
#define VYRE_OPT_DEAD_ASSIGNS_H

#include "opt/facts.h"

enum {
  OPT_OVERWRITTEN = 1, /* an assignment, or a declaration whose value the next assignment replaces ... */
  OPT_DECLARES = 2,    /* ... which then declares the variable */
  OPT_NEVER_READ = 3   /* an assignment behind which nothing reads the variable */
};

/* By statement: one of these, or 0. NULL without memory, and the unit then has the fault. The caller frees it. */
uint8_t *opt_dead_assigns(opt_unit *u, const opt_facts *f);

#endif
