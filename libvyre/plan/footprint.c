/* What an arm reads and writes, and which elements: what happens, not what is declared. */
#include <string.h>

#include "plan/arm.h"

/* ---- Footprints ------------------------------------------------------------------------------ */

static const plan_footprint any = { .kind = PLAN_TOUCHES_ANY };

bool plan_same_footprint(const plan_footprint *x, const plan_footprint *y) {
  if (x->kind != PLAN_TOUCHES_OWN || y->kind != PLAN_TOUCHES_OWN) return false;
  if (x->axis != y->axis || x->op != y->op || x->type != y->type || x->bits != y->bits) return false;
  return x->param == y->param || (x->param != NULL && y->param != NULL && strcmp(x->param, y->param) == 0);
}

/* gid.axis with a literal or a parameter: each invocation has another element, since + - ^ lose nothing. */
static plan_footprint shifted(const plan_arm *a, const ir_expr *node) {
  plan_footprint f = { .kind = PLAN_TOUCHES_OWN, .op = node->op, .type = node->type };
  uint32_t other = node->arg[1];
  bool good = plan_is_gid(a, node->arg[0], &f.axis);
  if (!good && node->op != VYRE_OP_SUB) {
    good = plan_is_gid(a, node->arg[1], &f.axis);
    other = node->arg[0];
  }
  const ir_expr *by = ir_expr_at(a->p, plan_root(a, other));
  if (by->op == VYRE_OP_LIT) f.bits = ir_literal_bits(by);
  else if (by->op == VYRE_OP_PARAM) f.param = ir_text(a->p, a->p->params.data[by->arg[3]].name);
  else good = false;
  return good ? f : any;
}

static plan_footprint footprint_of(const plan_arm *a, uint32_t index) {
  plan_footprint own = { .kind = PLAN_TOUCHES_OWN };
  if (plan_is_gid(a, index, &own.axis)) return own;
  const ir_expr *node = ir_expr_at(a->p, plan_root(a, index));
  bool shifts = node->op == VYRE_OP_ADD || node->op == VYRE_OP_SUB || node->op == VYRE_OP_BITXOR;
  return shifts ? shifted(a, node) : any;
}

static void touch(plan_use *use, plan_footprint f) {
  if (use->footprint.kind == PLAN_TOUCHES_NOTHING) use->footprint = f;
  else if (!plan_same_footprint(&use->footprint, &f)) use->footprint = any;
}

/* ---- Uses ------------------------------------------------------------------------------------ */

static void note_expr(plan_arm *a, const ir_expr *e) {
  bool is_atomic = e->op >= VYRE_OP_ATOMIC_ADD && e->op <= VYRE_OP_ATOMIC_STORE;
  if (!is_atomic && (e->op < VYRE_OP_LOAD || e->op > VYRE_OP_WORKGROUP_UNIFORM_LOAD)) return;
  plan_use *use = &a->uses[e->arg[3]];
  use->reads |= e->op != VYRE_OP_ATOMIC_STORE;
  touch(use, footprint_of(a, e->arg[0]));
  if (!is_atomic || e->op == VYRE_OP_ATOMIC_LOAD) return;
  use->writes = true;
  use->stores += 2;
}

/* One store, made alike by every workgroup. Whoever makes it again writes what is there. */
static bool is_constant_store(plan_arm *a, uint32_t s, const ir_stmt *stmt) {
  if (a->uniformity.flow[s] != IR_LEVEL_GRID) return false;
  return plan_is_constant(a, stmt->arg[0]) && plan_is_constant(a, stmt->arg[1]);
}

static void note_store(plan_arm *a, uint32_t s, const ir_stmt *stmt) {
  plan_use *use = &a->uses[stmt->arg[4]];
  use->writes = true;
  use->stores++;
  use->is_constant = is_constant_store(a, s, stmt);
  touch(use, footprint_of(a, stmt->arg[0]));
}

static void note_copy(plan_arm *a, const ir_stmt *stmt) {
  plan_use *to = &a->uses[stmt->arg[3]], *from = &a->uses[stmt->arg[4]];
  to->writes = from->reads = true;
  to->stores += 2;
  to->footprint = from->footprint = any;
}

/* Every expression that a finished program has is evaluated somewhere in it. */
void plan_find_uses(plan_arm *a) {
  for (uint32_t e = 1; e < a->p->exprs.count; e++) note_expr(a, ir_expr_at(a->p, e));
  for (uint32_t s = 1; s < a->p->stmts.count; s++) {
    const ir_stmt *stmt = ir_stmt_at(a->p, s);
    if (stmt->op == VYRE_STMT_STORE) note_store(a, s, stmt);
    if (stmt->op == VYRE_STMT_COPY_ASYNC) note_copy(a, stmt);
  }
  for (uint32_t i = 0; i < a->p->buffers.count; i++) a->uses[i].is_constant &= a->uses[i].stores == 1;
}
