/* The step limit. Back edges are counted where they are taken: those of loops without a collective together, those of
 * a loop with one for that loop, so that the whole workgroup leaves it together. The one that reaches the limit ends
 * its loop, and behind it the trap is recorded: the continuing part is no place for what may be expanded. */
#include "ir/walk.h"
#include "lower/lowering.h"

enum { STEP_TRAP = 0xFFFFFFFF };

#define op2(l, op, x, y) lower_op2(&(l)->code, op, x, y)
static lower_value negated(lowering *l, lower_value x) { return lower_op1(&l->code, VYRE_KERNEL_NOT, x); }

/* ---- Which loops hold a collective ----------------------------------------------------------- */

static uint64_t is_collective(const void *context, const ir_expr *e) {
  (void)context;
  return e->op == VYRE_OP_SHOULD_STOP || e->op == VYRE_OP_WORKGROUP_UNIFORM_LOAD;
}

static bool meets(const ir_stmt *s) {
  return s->op == VYRE_STMT_BARRIER || s->op == VYRE_STMT_GRID_BARRIER ||
         (s->op == VYRE_STMT_COPY_ASYNC && s->aux != 0);
}

/* A statement that is a collective marks what is open around it; who is marked passes it on when it is closed. */
static bool mark(lowering *l, const uint64_t *unions) {
  VYRE_VECTOR(uint32_t) open = { 0 };
  ir_walk walk = ir_walk_begin(l->p);
  bool good = true;
  for (ir_walk_event event; good && (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    uint32_t stmt = walk.stmt;
    const ir_stmt *s = ir_stmt_at(l->p, stmt);
    if (event == IR_WALK_STMT) {
      l->steps.meets[stmt] = meets(s) || ir_union_of_statement(l->p, s, unions) != 0;
      /* A bound of a loop is no part of it, and belongs to what is around. */
      if (l->steps.meets[stmt] && open.count > 0) l->steps.meets[open.data[open.count - 1]] = true;
      if (ir_is_loop(s)) l->steps.meets[stmt] = false;
    }
    if (event == IR_WALK_BODY) good = vyre_vector_push(&open, stmt);
    if (event != IR_WALK_LEAVE) continue;
    open.count--;
    if (l->steps.meets[stmt] && open.count > 0) l->steps.meets[open.data[open.count - 1]] = true;
  }
  vyre_vector_free(&open);
  return ir_walk_finish(&walk) && good;
}

void lower_steps_prepare(lowering *l) {
  const vyre_lower_options *o = l->code.options;
  if ((o->compile_flags & VYRE_COMPILE_STEPS) == 0) return;
  l->steps.on = true;
  l->steps.type = o->steps > UINT32_MAX ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
  l->code.flags |= VYRE_KERNEL_STEPS;
  l->steps.meets = calloc((size_t)l->p->stmts.count + 1, 1);
  uint64_t *unions = ir_union_of_operands(l->p, is_collective, NULL);
  if (l->steps.meets == NULL || unions == NULL || !mark(l, unions)) lower_fail_memory(&l->code);
  free(unions);
}

/* ---- Code ------------------------------------------------------------------------------------ */

void lower_steps_begin(lowering *l) {
  lower_code *c = &l->code;
  if (!l->steps.on) return;
  l->steps.expired = lower_slot(c, VYRE_TYPE_BOOL, VYRE_KERNEL_UNIFORM_NONE, lower_text(c, "steps.expired"));
  l->steps.all_expired = lower_slot(c, VYRE_TYPE_BOOL, VYRE_KERNEL_UNIFORM_NONE, lower_text(c, "steps.all_expired"));
  l->steps.traps = lower_slot(c, VYRE_TYPE_BOOL, VYRE_KERNEL_UNIFORM_NONE, lower_text(c, "steps.traps"));
  l->steps.count = lower_slot(c, l->steps.type, VYRE_KERNEL_UNIFORM_NONE, lower_text(c, "steps"));
}

void lower_steps_open(lowering *l, lower_open *loop) {
  if (!l->steps.on) return;
  loop->meets = l->steps.meets[loop->stmt];
  loop->counter = l->steps.count;
  if (loop->meets)
    loop->counter = lower_slot(&l->code, l->steps.type, VYRE_KERNEL_UNIFORM_NONE, lower_text(&l->code, "steps"));
}

void lower_unless_expired(lowering *l) {
  if (l->steps.on) lower_if(&l->code, negated(l, lower_get(&l->code, l->steps.expired)));
}

void lower_end_unless_expired(lowering *l) {
  if (l->steps.on) lower_end_if(&l->code);
}

/* An invocation traps once. */
static void expire(lowering *l, bool all) {
  lower_code *c = &l->code;
  lower_set(c, l->steps.traps, negated(l, lower_get(c, l->steps.expired)));
  lower_set(c, l->steps.expired, lower_bool(c, true));
  if (all) lower_set(c, l->steps.all_expired, lower_bool(c, true));
}

lower_value lower_steps_count(lowering *l, const lower_open *loop, lower_value done) {
  lower_code *c = &l->code;
  if (!l->steps.on) return done;
  uint32_t flag = loop->meets ? l->steps.all_expired : l->steps.expired;
  lower_value one = lower_number(c, l->steps.type, 1), zero = lower_number(c, l->steps.type, 0);
  lower_value limit = lower_number(c, l->steps.type, c->options->steps);
  lower_value goes_on = negated(l, lower_get(c, flag));
  if (done != 0) goes_on = op2(l, VYRE_KERNEL_AND, goes_on, negated(l, done));
  lower_value count = op2(l, VYRE_KERNEL_ADD, lower_get(c, loop->counter), lower_select(c, goes_on, one, zero));
  lower_set(c, loop->counter, count);
  lower_if(c, op2(l, VYRE_KERNEL_AND, goes_on, op2(l, VYRE_KERNEL_LE, limit, count)));
  expire(l, loop->meets);
  lower_end_if(c);
  lower_value expired = lower_get(c, flag);
  return done != 0 ? op2(l, VYRE_KERNEL_OR, done, expired) : expired;
}

void lower_steps_left(lowering *l) {
  lower_code *c = &l->code;
  if (!l->steps.on) return;
  lower_if(c, lower_get(c, l->steps.traps));
  lower_emit(c, &(lower_request){.op = VYRE_KERNEL_TRAP, .arg[0] = lower_u32(c, STEP_TRAP), .type[0] = VYRE_TYPE_U32});
  lower_set(c, l->steps.traps, lower_bool(c, false));
  lower_end_if(c);
}
