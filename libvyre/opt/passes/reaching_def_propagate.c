/* Copies: a variable that always has the value of a literal, a parameter, another such variable, an id or a length is
 * that; a `var` that is never assigned is a `let`. What this leaves unused is dead code. */
#include "opt/pass.h"

#include <stdlib.h>

typedef struct propagate {
  opt_context *c;
  opt_unit *unit;
  const opt_facts *facts;
  uint32_t *stands; /* by variable: the expression that stands for it, 0 for itself */
  opt_map map;
} propagate;

/* What costs nothing and is the same wherever it stands. */
static bool is_leaf(const opt_unit *u, uint32_t e) {
  return ir_op_arity[opt_at(u, e)->op] == 0 && (opt_flags(u, e) & OPT_FIXED_IN_PLACE) == 0;
}

static uint32_t replace(void *context, uint32_t e) {
  propagate *p = context;
  const ir_expr *node = opt_at(p->unit, e);
  return node->op == VYRE_OP_VAR && p->stands[node->arg[3]] != 0 ? p->stands[node->arg[3]] : e;
}

static const char *rule_for(const opt_unit *u, uint32_t e) {
  if (opt_is_literal(u, e)) return "literal";
  return opt_is(u, e, VYRE_OP_VAR) ? "copy" : "cheap_let";
}

/* A declaration whose value is a leaf, once what is known is put in, stands for that. */
static void learn(propagate *p, const ir_stmt *s) {
  uint32_t var = s->arg[4], value = opt_map_expr(&p->map, s->arg[0]);
  if (value == 0 || !is_leaf(p->unit, value)) return;
  p->stands[var] = value;
  opt_note(p->c, rule_for(p->unit, value), s->pos, 0);
}

/* A `var` that is none gets a `let`'s number. */
static void make_constant(propagate *p, ir_stmt *s) {
  uint32_t var = s->arg[4];
  vyre_type type = (vyre_type)p->unit->program->vars.data[var].type;
  uint32_t let = opt_new_var(p->unit, var, type, VYRE_STMT_LET);
  if (let == UINT32_MAX) return;
  s->op = VYRE_STMT_LET;
  s->arg[4] = let;
  p->stands[var] = opt_var_value(p->unit, let);
  opt_note(p->c, "never_assigned", s->pos, 0);
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  propagate *p = context;
  (void)e, (void)old;
  bool declares = s->op == VYRE_STMT_LET || s->op == VYRE_STMT_VAR;
  bool used = declares && p->facts->var[s->arg[4]].uses > 0 && opt_is_constant_var(p->unit, p->facts, s->arg[4]);
  if (used) learn(p, s);
  opt_map_operands(&p->map, s);
  if (used && s->op == VYRE_STMT_VAR && p->stands[s->arg[4]] == 0) make_constant(p, s);
  return OPT_KEEP;
}

bool opt_pass_reaching_def_propagate(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  propagate p = { .c = c, .unit = c->unit, .facts = opt_facts_of(c->unit) };
  if (p.facts == NULL) return false;
  p.stands = calloc((size_t)c->unit->program->vars.count + 1, sizeof *p.stands);
  if (p.stands == NULL) c->unit->fault = OPT_NO_MEMORY;
  p.map = opt_map_begin(c->unit, replace, &p);
  bool changed = p.stands != NULL && opt_rewrite(c->unit, &rewriter, &p);
  opt_map_end(&p.map);
  free(p.stands);
  return changed;
}
