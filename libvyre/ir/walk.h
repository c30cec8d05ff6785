/* Walking the statements of a program in the order of the text, without recursion: `else if` chains
 * nest as deep as a program is long. */
#ifndef VYRE_IR_WALK_H
#define VYRE_IR_WALK_H

#include "ir/program.h"

typedef enum ir_walk_event {
  IR_WALK_END,    /* the program is over, or memory ran out (failed) */
  IR_WALK_STMT,   /* a statement, before its blocks */
  IR_WALK_BODY,   /* its first block begins */
  IR_WALK_ORELSE, /* its second block begins; not if that is empty */
  IR_WALK_LEAVE   /* its blocks are over */
} ir_walk_event;

typedef struct ir_walk {
  const vyre_program *program;
  uint32_t stmt; /* the statement that the event is about */
  bool failed;
  /* its own */
  uint32_t next;
  bool enter;
  VYRE_VECTOR(uint32_t) open; /* statement << 1 | in its second block */
} ir_walk;

ir_walk ir_walk_begin(const vyre_program *p);
ir_walk_event ir_walk_next(ir_walk *walk);
/* Frees what the walk holds; false if memory ran out on the way. */
bool ir_walk_finish(ir_walk *walk);

static inline bool ir_is_loop(const ir_stmt *s) { return s->op == VYRE_STMT_FOR || s->op == VYRE_STMT_LOOP; }
/* Whether what stands inside may run another number of times than what stands around it. */
static inline bool ir_is_conditional(const ir_stmt *s) { return s->op == VYRE_STMT_IF || ir_is_loop(s); }

/* The operands of a statement; a handle is 0 where one is left out. */
static inline const uint32_t *ir_operands(const vyre_program *p, const ir_stmt *s, uint32_t *count) {
  bool print = s->op == VYRE_STMT_PRINT;
  *count = print ? s->arg[2] : ir_stmt_arity[s->op];
  return print && s->arg[2] > 0 ? p->lists.data + s->arg[3] : s->arg;
}

/* For each expression the union of what |own| says of it and of all below it; NULL without memory.
 * One sweep, since operands have smaller handles than what uses them. The caller frees it. */
uint64_t *ir_union_of_operands(const vyre_program *p, uint64_t (*own)(const void *context, const ir_expr *e),
                               const void *context);
/* The union over a statement's operands. */
uint64_t ir_union_of_statement(const vyre_program *p, const ir_stmt *s, const uint64_t *unions);

#endif
