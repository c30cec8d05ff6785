/* Building a program's statements anew through a builder, which checks them as it checks all programs. Used by what
 * makes programs of programs: the optimizer, and fusion.
 *
 * Variables go by their numbers; here they get names that are free where they are declared: their own, or that with a
 * number behind it. */
#ifndef VYRE_IR_REBUILD_H
#define VYRE_IR_REBUILD_H

#include "ir/builder.h"

typedef struct ir_rebuild {
  const vyre_program *p;
  vyre_builder *b;
  vyre_expr *exprs;       /* by expression of |p|: that of the builder, 0 for not yet */
  vyre_var *vars;
  vyre_binding *bindings; /* by binding of |p|: the caller fills them ... */
  uint32_t *params;       /* ... and these; at first each is itself */
  uint32_t *numbers;      /* by string: the last number that was put behind it */
  const char *suffix;     /* put behind the names of variables; "" at first */
  bool is_placeless;      /* statements get no place in a source: the result has more than one */
  bool out_of_memory;
} ir_rebuild;

/* |p| and |b| are borrowed. Without memory it is noted in |out_of_memory|, and what follows does nothing. */
void ir_rebuild_begin(ir_rebuild *r, const vyre_program *p, vyre_builder *b);
void ir_rebuild_end(ir_rebuild *r);

/* A string of |p| as one of the builder. */
uint32_t ir_rebuild_string(ir_rebuild *r, uint32_t string);
/* The string |base| of the builder, or one near to it that names nothing here. |number| counts what was tried. */
uint32_t ir_rebuild_free_name(ir_rebuild *r, uint32_t base, uint32_t *number);
vyre_expr ir_rebuild_expr(ir_rebuild *r, uint32_t e);
/* Puts one statement; its blocks, if it has any, are open then. */
void ir_rebuild_stmt(ir_rebuild *r, const ir_stmt *s);

#endif
