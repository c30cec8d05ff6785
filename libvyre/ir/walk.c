/* The walk keeps the statements whose blocks are open; its stack grows on the heap. */
#include "ir/walk.h"

ir_walk ir_walk_begin(const vyre_program *p) { return (ir_walk){ .program = p, .next = ir_entry(p) }; }

bool ir_walk_finish(ir_walk *walk) {
  vyre_vector_free(&walk->open);
  return !walk->failed;
}

static bool has_blocks(const ir_stmt *s) {
  return ir_is_conditional(s) || s->op == VYRE_STMT_BLOCK || s->op == VYRE_STMT_REGION;
}

static ir_walk_event open_body(ir_walk *walk) {
  walk->enter = false;
  if (!vyre_vector_push(&walk->open, walk->stmt << 1)) {
    walk->failed = true;
    return IR_WALK_END;
  }
  walk->next = ir_stmt_at(walk->program, walk->stmt)->body;
  return IR_WALK_BODY;
}

static ir_walk_event close_block(ir_walk *walk) {
  uint32_t *top = &walk->open.data[walk->open.count - 1];
  const ir_stmt *owner = ir_stmt_at(walk->program, *top >> 1);
  walk->stmt = *top >> 1;
  if ((*top & 1) == 0 && owner->orelse != 0) {
    *top |= 1;
    walk->next = owner->orelse;
    return IR_WALK_ORELSE;
  }
  walk->open.count--;
  walk->next = owner->next;
  return IR_WALK_LEAVE;
}

ir_walk_event ir_walk_next(ir_walk *walk) {
  if (walk->failed) return IR_WALK_END;
  if (walk->enter) return open_body(walk);
  if (walk->next == 0) return walk->open.count > 0 ? close_block(walk) : IR_WALK_END;
  walk->stmt = walk->next;
  const ir_stmt *s = ir_stmt_at(walk->program, walk->stmt);
  walk->enter = has_blocks(s);
  walk->next = s->next;
  return IR_WALK_STMT;
}

uint64_t *ir_union_of_operands(const vyre_program *p, uint64_t (*own)(const void *context, const ir_expr *e),
                               const void *context) {
  uint64_t *unions = calloc((size_t)p->exprs.count + 1, sizeof *unions);
  if (unions == NULL) return NULL;
  for (uint32_t e = 1; e < p->exprs.count; e++) {
    const ir_expr *node = ir_expr_at(p, e);
    unions[e] = own(context, node);
    for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) unions[e] |= unions[node->arg[i]];
  }
  return unions;
}

uint64_t ir_union_of_statement(const vyre_program *p, const ir_stmt *s, const uint64_t *unions) {
  uint32_t count;
  const uint32_t *operands = ir_operands(p, s, &count);
  uint64_t all = 0;
  for (uint32_t i = 0; i < count; i++) all |= unions[operands[i]];
  return all;
}
