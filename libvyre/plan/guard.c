/* Whether more invocations than an arm was written for would do nothing: all its effects are under `gid.axis < n`, or
 * behind `if (gid.axis >= n) { return; }`, where n is the same in the whole grid. */
#include <stdlib.h>

#include "ir/walk.h"
#include "plan/arm.h"

typedef struct search {
  plan_arm *a;
  uint8_t *holds, *fails; /* by expression: the axes that are bounded where it is true, where it is false */
  VYRE_VECTOR(uint8_t) open; /* of each open block: the axes that are bounded in it so far */
  uint64_t *effects;
} search;

/* ---- Conditions ------------------------------------------------------------------------------ */

static uint8_t bound(const search *f, uint32_t id, uint32_t limit) {
  uint8_t axis;
  bool is_bound = plan_is_gid(f->a, id, &axis) && f->a->uniformity.expr[limit] == IR_LEVEL_GRID;
  return is_bound ? (uint8_t)(1u << axis) : 0;
}

static void judge(search *f, uint32_t e) {
  const ir_expr *n = ir_expr_at(f->a->p, e);
  uint32_t x = n->arg[0], y = n->arg[1];
  switch (n->op) {
    case VYRE_OP_LT: f->holds[e] = bound(f, x, y); break;
    case VYRE_OP_GT: f->holds[e] = bound(f, y, x); break;
    case VYRE_OP_GE: f->fails[e] = bound(f, x, y); break;
    case VYRE_OP_LE: f->fails[e] = bound(f, y, x); break;
    case VYRE_OP_LNOT:
      f->holds[e] = f->fails[x];
      f->fails[e] = f->holds[x];
      break;
    case VYRE_OP_LAND: f->holds[e] = f->holds[x] | f->holds[y]; break;
    case VYRE_OP_LOR: f->fails[e] = f->fails[x] | f->fails[y]; break;
    default: break;
  }
}

/* ---- Statements ------------------------------------------------------------------------------ */

static uint64_t effect_of(const void *context, const ir_expr *e) {
  (void)context;
  return (ir_op_effects[e->op] & VYRE_EFFECT_EFFECT) != 0;
}

static bool has_effect(const search *f, const ir_stmt *s) {
  switch (s->op) {
    case VYRE_STMT_STORE:
    case VYRE_STMT_TRAP:
    case VYRE_STMT_PRINT:
    case VYRE_STMT_COPY_ASYNC: return true;
    default: return ir_union_of_statement(f->a->p, s, f->effects) != 0;
  }
}

static bool visit(search *f, ir_walk_event event, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(f->a->p, stmt);
  uint8_t *now = &f->open.data[f->open.count - 1];
  switch (event) {
    case IR_WALK_STMT:
      if (has_effect(f, s)) f->a->guarded &= *now;
      return true;
    case IR_WALK_BODY: return vyre_vector_push(&f->open, *now | (s->op == VYRE_STMT_IF ? f->holds[s->arg[0]] : 0));
    case IR_WALK_ORELSE: *now = now[-1] | f->fails[s->arg[0]]; return true;
    default:
      f->open.count--;
      if (plan_only_returns(f->a->p, s)) now[-1] |= f->fails[s->arg[0]];
      return true;
  }
}

static bool walk(search *f) {
  ir_walk w = ir_walk_begin(f->a->p);
  bool good = vyre_vector_push(&f->open, 0);
  for (ir_walk_event event; good && (event = ir_walk_next(&w)) != IR_WALK_END;) good = visit(f, event, w.stmt);
  return ir_walk_finish(&w) && good;
}

bool plan_find_guard(plan_arm *a) {
  size_t count = (size_t)a->p->exprs.count + 1;
  search f = { .a = a, .holds = calloc(count, 1), .fails = calloc(count, 1) };
  f.effects = ir_union_of_operands(a->p, effect_of, NULL);
  bool good = f.holds != NULL && f.fails != NULL && f.effects != NULL;
  for (uint32_t e = 1; good && e < a->p->exprs.count; e++) judge(&f, e);
  a->guarded = 7;
  good = good && walk(&f);
  free(f.holds);
  free(f.fails);
  free(f.effects);
  vyre_vector_free(&f.open);
  return good;
}
