/* Lets are followed and constants found in the order of the text, so that each is looked at once. */
#include "plan/arm.h"

#include <stdlib.h>

#include "ir/walk.h"

uint32_t plan_root(const plan_arm *a, uint32_t e) {
  const ir_expr *node = ir_expr_at(a->p, e);
  uint32_t root = node->op == VYRE_OP_VAR ? a->roots[node->arg[3]] : 0;
  return root != 0 ? root : e;
}

bool plan_is_gid(const plan_arm *a, uint32_t e, uint8_t *axis) {
  const ir_expr *node = ir_expr_at(a->p, plan_root(a, e));
  if (node->op == VYRE_OP_CAST && node->aux == VYRE_TYPE_U64) node = ir_expr_at(a->p, plan_root(a, node->arg[0]));
  if (node->op != VYRE_OP_GID) return false;
  *axis = node->aux;
  return true;
}

static bool is_constant_leaf(const plan_arm *a, const ir_expr *node) {
  switch (node->op) {
    case VYRE_OP_LIT:
    case VYRE_OP_PARAM:
    case VYRE_OP_NWG:
    case VYRE_OP_LEN:
    case VYRE_OP_LEN64: return true;
    case VYRE_OP_VAR: return a->constant_vars[node->arg[3]];
    default: return false;
  }
}

/* No deeper than expressions are. Operators of memory, effects and subgroups are none. */
bool plan_is_constant(plan_arm *a, uint32_t e) {
  if (a->constants[e] != 0) return a->constants[e] == 1;
  const ir_expr *node = ir_expr_at(a->p, e);
  bool is_pure = (ir_op_effects[node->op] & (VYRE_EFFECT_READS | VYRE_EFFECT_EFFECT | VYRE_EFFECT_CONVERGENT)) == 0;
  bool good = ir_op_arity[node->op] == 0 ? is_constant_leaf(a, node) : is_pure;
  for (uint32_t i = 0; good && i < ir_op_arity[node->op]; i++) good = plan_is_constant(a, node->arg[i]);
  a->constants[e] = good ? 1 : 2;
  return good;
}

static void follow_lets(plan_arm *a) {
  for (uint32_t s = 1; s < a->p->stmts.count; s++) {
    const ir_stmt *stmt = ir_stmt_at(a->p, s);
    if (stmt->op != VYRE_STMT_LET) continue;
    a->roots[stmt->arg[4]] = plan_root(a, stmt->arg[0]);
    a->constant_vars[stmt->arg[4]] = plan_is_constant(a, stmt->arg[0]);
  }
}

const char *plan_word_of_geometry(const plan_arm *a) {
  static const uint8_t words[] = { VYRE_OP_LID,         VYRE_OP_WID,           VYRE_OP_NWG, VYRE_OP_LANE,
                                   VYRE_OP_SUBGROUP_ID, VYRE_OP_SUBGROUP_SIZE, VYRE_OP_NUM_SUBGROUPS };
  for (size_t i = 0; i < sizeof words; i++)
    if (ir_has_op(a->p, words[i])) return vyre_op_describe(words[i])->spelling;
  for (uint32_t op = VYRE_OP_SUBGROUP_ADD; op <= VYRE_OP_SUBGROUP_SHUFFLE_DOWN; op++)
    if (ir_has_op(a->p, op)) return vyre_op_describe(op)->spelling;
  return NULL;
}

bool plan_has_barrier(const plan_arm *a) {
  const vyre_program *p = a->p;
  return plan_has_stmt(p, VYRE_STMT_BARRIER) || plan_has_stmt(p, VYRE_STMT_GRID_BARRIER) ||
         plan_has_stmt(p, VYRE_STMT_COMMIT) || plan_has_stmt(p, VYRE_STMT_WAIT) ||
         plan_has_stmt(p, VYRE_STMT_COPY_ASYNC) || ir_has_op(p, VYRE_OP_SHOULD_STOP) ||
         ir_has_op(p, VYRE_OP_WORKGROUP_UNIFORM_LOAD);
}

bool plan_has_shared(const plan_arm *a) {
  for (uint32_t i = 0; i < a->p->buffers.count; i++)
    if (a->p->buffers.data[i].access == VYRE_ACCESS_SHARED) return true;
  return false;
}

bool plan_arm_create(plan_arm *a, const vyre_program *p) {
  *a = (plan_arm){ .p = p };
  if (!ir_uniformity_create(&a->uniformity, p)) return false;
  a->roots = calloc((size_t)p->vars.count + 1, sizeof *a->roots);
  a->constants = calloc((size_t)p->exprs.count + 1, 1);
  a->constant_vars = calloc((size_t)p->vars.count + 1, sizeof *a->constant_vars);
  a->uses = calloc((size_t)p->buffers.count + 1, sizeof *a->uses);
  a->marks = calloc((size_t)p->stmts.count + 1, 1);
  if (a->roots == NULL || a->constants == NULL || a->constant_vars == NULL || a->uses == NULL || a->marks == NULL)
    return false;
  follow_lets(a);
  plan_find_uses(a);
  return plan_find_guard(a) && plan_find_returns(a);
}

void plan_arm_free(plan_arm *a) {
  ir_uniformity_free(&a->uniformity);
  free(a->roots);
  free(a->constants);
  free(a->constant_vars);
  free(a->uses);
  free(a->marks);
}
