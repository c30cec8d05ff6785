/* Barriers and fences that have nothing to order: fences side by side become one that does what both did; a barrier
 * goes if no memory was touched since the last one, or if the workgroup is one invocation.
 *
 * A loop that has a barrier keeps one, for its turns are counted by that. */
#include "opt/pass.h"

enum { DIRTY = 0, SINCE_BARRIER, SINCE_GRID_BARRIER }; /* since when no memory was touched */

typedef struct sync {
  opt_context *c;
  opt_unit *unit;
  const opt_facts *facts;
  bool alone;               /* a workgroup's barrier orders nobody */
  uint8_t clean;            /* where the walk is */
  VYRE_VECTOR(uint8_t) outer; /* |clean| in front of the open statements */
  vyre_order order;         /* of the fences that were passed on to the next one ... */
  vyre_scope scope;
  bool carries;             /* ... if there are any */
} sync;

static opt_action drop(sync *y, const char *rule, const ir_stmt *s) {
  opt_note(y->c, rule, s->pos, y->unit->costs->stmt[s->op]);
  return OPT_DROP;
}

static vyre_stmt_op next_op(const sync *y, const ir_stmt *s) {
  return s->next != 0 ? (vyre_stmt_op)opt_stmt(y->unit, s->next)->op : VYRE_STMT_COUNT;
}

/* ---- Fences ---------------------------------------------------------------------------------- */

/* The order that has what both have. */
static vyre_order join(vyre_order a, vyre_order b) {
  if (a == b) return a;
  return a == VYRE_ORDER_SEQ_CST || b == VYRE_ORDER_SEQ_CST ? VYRE_ORDER_SEQ_CST : VYRE_ORDER_ACQ_REL;
}

/* Whether a barrier beside it does the same. */
static bool is_covered(const sync *y, const ir_stmt *s) {
  vyre_stmt_op next = next_op(y, s);
  bool by_grid = y->clean == SINCE_GRID_BARRIER || next == VYRE_STMT_GRID_BARRIER;
  bool by_any = by_grid || y->clean == SINCE_BARRIER || next == VYRE_STMT_BARRIER;
  if (s->aux == VYRE_ORDER_SEQ_CST) return false;
  return s->aux2 == VYRE_SCOPE_WORKGROUP ? by_any : s->aux2 == VYRE_SCOPE_DEVICE && by_grid;
}

static opt_action look_at_fence(sync *y, ir_stmt *s) {
  if (y->carries) {
    s->aux = (uint8_t)join((vyre_order)s->aux, y->order);
    if (y->scope > (vyre_scope)s->aux2) s->aux2 = (uint8_t)y->scope;
    y->carries = false;
  }
  if (is_covered(y, s)) return drop(y, "fence_beside_barrier", s);
  if (next_op(y, s) != VYRE_STMT_FENCE) {
    y->clean = DIRTY;
    return OPT_KEEP;
  }
  y->carries = true;
  y->order = (vyre_order)s->aux;
  y->scope = (vyre_scope)s->aux2;
  return drop(y, "fences", s);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static opt_action look_at_barrier(sync *y, uint32_t stmt, const ir_stmt *s) {
  bool grid = s->op == VYRE_STMT_GRID_BARRIER;
  uint8_t gives = grid ? SINCE_GRID_BARRIER : SINCE_BARRIER;
  if (y->clean >= gives) return drop(y, "nothing_to_order", s);
  if (!grid && next_op(y, s) == VYRE_STMT_GRID_BARRIER) return drop(y, "grid_barrier_follows", s);
  if (!grid && y->alone && y->facts->stmt[stmt].loops == 0) return drop(y, "one_invocation", s);
  y->clean = gives;
  return OPT_KEEP;
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* Whether anything that barriers order, or a barrier, is in a statement. */
static bool touches(const sync *y, uint32_t stmt) {
  const opt_stmt_facts *f = &y->facts->stmt[stmt];
  return f->reads != 0 || f->writes != 0 || (f->flags & (OPT_HAS_EFFECT | OPT_IS_FULL_FENCE)) != 0;
}

static bool operands_touch(const sync *y, const ir_stmt *s) {
  uint32_t count, flags = 0;
  const uint32_t *operands = opt_operands(y->unit, s, &count);
  for (uint32_t i = 0; i < count; i++) flags |= opt_flags(y->unit, operands[i]);
  return (flags & (OPT_READS_MEMORY | OPT_EFFECT)) != 0;
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  sync *y = context;
  (void)e;
  if (s->op == VYRE_STMT_FENCE) return look_at_fence(y, s);
  if (s->op == VYRE_STMT_BARRIER || s->op == VYRE_STMT_GRID_BARRIER) return look_at_barrier(y, old, s);
  bool blocks = ir_is_conditional(s) || s->op == VYRE_STMT_BLOCK || s->op == VYRE_STMT_REGION;
  if (operands_touch(y, s) || (!blocks && (y->facts->stmt[old].flags & OPT_HAS_EFFECT) != 0)) y->clean = DIRTY;
  return OPT_KEEP;
}

/* Of an `if` the first arm leaves its end in |outer|, above what was in front of it. */
static void begin_block(void *context, opt_edit *e, uint32_t owner, bool orelse) {
  sync *y = context;
  (void)e;
  if (owner == 0) return;
  uint8_t before = orelse ? y->outer.data[y->outer.count - 1] : y->clean;
  if (!vyre_vector_push(&y->outer, y->clean)) y->unit->fault = OPT_NO_MEMORY;
  y->clean = ir_is_loop(opt_stmt(y->unit, owner)) ? DIRTY : before;
}

static void leave(void *context, opt_edit *e, uint32_t old) {
  sync *y = context;
  const ir_stmt *s = opt_stmt(y->unit, old);
  (void)e;
  uint8_t other = y->outer.data[--y->outer.count]; /* the end of the first arm, or what was in front of it all */
  if (s->op == VYRE_STMT_IF && s->orelse != 0) y->outer.count--;
  if (ir_is_loop(s)) y->clean = touches(y, old) ? DIRTY : other;
  else if (s->op == VYRE_STMT_IF && other < y->clean) y->clean = other;
}

static bool run(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter, .block = begin_block, .leave = leave };
  const uint32_t *workgroup = c->unit->program->workgroup;
  sync y = { .c = c, .unit = c->unit, .facts = opt_facts_of(c->unit), .clean = SINCE_GRID_BARRIER };
  if (y.facts == NULL) return false;
  y.alone = workgroup[0] == 1 && workgroup[1] == 1 && workgroup[2] == 1 &&
            (y.facts->stmt[0].flags & (OPT_HAS_FENCE | OPT_HAS_ASYNC)) == 0;
  bool changed = opt_rewrite(c->unit, &rewriter, &y);
  vyre_vector_free(&y.outer);
  return changed;
}

/* A workgroup of one may be rid of its last fence only now. */
bool opt_pass_barrier_coalesce(opt_context *c) { return run(c) && (run(c), true); }
