/* A product and the sum that it goes into become one operator with one rounding, where the program says `contract`.
 * A product that others use, too, is computed for them anyway and stays. */
#include "opt/passes/algebra.h"

typedef struct contraction {
  opt_unit *unit;
  const opt_facts *facts;
} contraction;

static bool is_used_elsewhere(const contraction *f, uint32_t e) {
  if (opt_is(f->unit, e, VYRE_OP_NEG)) e = opt_at(f->unit, e)->arg[0];
  return opt_is(f->unit, e, VYRE_OP_MUL) && e < f->facts->exprs && f->facts->uses[e] > 1;
}

static bool allows(void *context, uint32_t e) {
  const contraction *f = context;
  const ir_expr *n = opt_at(f->unit, e);
  bool is_sum = (n->op == VYRE_OP_ADD || n->op == VYRE_OP_SUB) && ir_is_float((vyre_type)n->type);
  return is_sum && !is_used_elsewhere(f, n->arg[0]) && !is_used_elsewhere(f, n->arg[1]);
}

bool opt_pass_fma_synthesize(opt_context *c) {
  contraction f = { c->unit, opt_facts_of(c->unit) };
  if (f.facts == NULL || (c->unit->program->attributes & VYRE_PROGRAM_CONTRACT) == 0) return false;
  return opt_apply_rules(c, OPT_RULES_CONTRACT, allows, &f);
}
