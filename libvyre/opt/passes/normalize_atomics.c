/* Atomics stand alone: one inside a larger expression gets a `let` in front of the statement. What is evaluated before
 * it and could see it, other effects and reads of memory, gets one too, in order; what is evaluated later stays. */
#include "opt/pass.h"

enum { MOST_LETS = 64, MOST_SIZE = 4096 }; /* of one statement: an expression may be written once and occur often */

typedef struct anf {
  opt_context *c;
  opt_unit *unit;
  const opt_facts *facts;
  opt_edit *edit;
  uint32_t pos;
  uint32_t effects; /* that are still to come in the statement, as it is evaluated */
} anf;

static bool is_effect(const opt_unit *u, uint32_t e) {
  return (ir_op_effects[opt_at(u, e)->op] & VYRE_EFFECT_EFFECT) != 0;
}

/* The effects in an expression, as often as it is evaluated. */
static uint32_t count_effects(const opt_unit *u, uint32_t e) {
  if (e == 0 || (opt_flags(u, e) & OPT_EFFECT) == 0) return 0;
  const ir_expr *node = opt_at(u, e);
  uint32_t count = is_effect(u, e) ? 1 : 0;
  for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) count += count_effects(u, node->arg[i]);
  return count;
}

static uint32_t bind(anf *a, uint32_t e) {
  uint32_t var = opt_new_named_var(a->unit, "t", opt_type(a->unit, e), VYRE_STMT_LET);
  if (var == UINT32_MAX || e == 0) return 0;
  opt_put_let(a->edit, var, e, a->pos);
  opt_note(a->c, "atomic_alone", a->pos, 0);
  return opt_var_value(a->unit, var);
}

/* What stands for |e| in its statement, once all effects in it have happened. |alone|: it may stay one itself. No
 * deeper than expressions are. */
static uint32_t separate(anf *a, uint32_t e, bool alone) {
  opt_unit *u = a->unit;
  if (e == 0 || u->fault != OPT_FINE) return 0;
  uint32_t flags = opt_flags(u, e);
  if ((flags & OPT_EFFECT) == 0) return (flags & OPT_READS_MEMORY) != 0 && a->effects > 0 ? bind(a, e) : e;
  bool effect = is_effect(u, e), loads = opt_at(u, e)->op == VYRE_OP_LOAD;
  ir_expr node = *opt_at(u, e);
  for (uint32_t i = 0; i < ir_op_arity[node.op]; i++) node.arg[i] = separate(a, node.arg[i], false);
  uint32_t result = opt_expr(u, node);
  if (alone) return result;
  if (effect) a->effects--;
  return result != 0 && (effect || (loads && a->effects > 0)) ? bind(a, result) : result;
}

/* An `else if`: a statement in front of it would open a block around it, and chains of them are as long as programs. */
static bool is_else_if(const anf *a, uint32_t stmt) {
  const opt_stmt_facts *f = &a->facts->stmt[stmt];
  return f->in_orelse && opt_stmt(a->unit, stmt)->op == VYRE_STMT_IF && opt_stmt(a->unit, f->parent)->orelse == stmt;
}

/* Whether the whole operand may be an atomic. */
static bool takes_atomic(const ir_stmt *s) {
  return s->op == VYRE_STMT_LET || s->op == VYRE_STMT_VAR || s->op == VYRE_STMT_ASSIGN || s->op == VYRE_STMT_EVAL;
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  anf *a = context;
  uint32_t atomics = 0, effects = 0, arity = s->op == VYRE_STMT_PRINT ? 0 : ir_stmt_arity[s->op];
  for (uint32_t i = 0; i < arity; i++) {
    if (opt_meta_of(a->unit, s->arg[i])->size > MOST_SIZE) return OPT_KEEP;
    atomics |= opt_flags(a->unit, s->arg[i]) & OPT_ATOMIC;
    effects += count_effects(a->unit, s->arg[i]);
  }
  bool alone = takes_atomic(s) && arity == 1 && is_effect(a->unit, s->arg[0]);
  if (alone) effects--;
  if (atomics == 0 || effects == 0 || effects > MOST_LETS || is_else_if(a, old)) return OPT_KEEP;
  a->edit = e;
  a->pos = s->pos;
  a->effects = effects;
  for (uint32_t i = 0; i < arity; i++) s->arg[i] = separate(a, s->arg[i], alone);
  return OPT_KEEP;
}

bool opt_pass_normalize_atomics(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  anf a = { .c = c, .unit = c->unit, .facts = opt_facts_of(c->unit) };
  return a.facts != NULL && opt_rewrite(c->unit, &rewriter, &a);
}
