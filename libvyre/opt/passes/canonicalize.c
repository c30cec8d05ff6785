/* One form for what may be written in two: the literal stands on the right, and operands whose order is free stand in
 * one that depends on their structure alone. What is equal then is one expression. */
#include "opt/passes/algebra.h"

typedef struct ordering {
  opt_unit *unit;
  const opt_facts *facts;
} ordering;

static int compare_numbers(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* Deep before flat, and literals last; then whatever tells them apart. Variables stand in the order of declaration. Two
 * different expressions differ in themselves or in an operand, so only one way down is taken. */
static int compare(const ordering *o, uint32_t a, uint32_t b) {
  while (a != b) {
    const ir_expr *x = opt_at(o->unit, a), *y = opt_at(o->unit, b);
    bool x_literal = opt_is_constant(o->unit, a), y_literal = opt_is_constant(o->unit, b);
    if (x_literal != y_literal) return x_literal ? 1 : -1;
    int order = compare_numbers(opt_meta_of(o->unit, b)->depth, opt_meta_of(o->unit, a)->depth);
    if (order == 0) order = compare_numbers(x->op, y->op);
    if (order == 0) order = compare_numbers(x->type, y->type);
    if (order == 0) order = compare_numbers(x->aux, y->aux);
    if (order == 0) order = compare_numbers(x->aux2, y->aux2);
    if (order == 0 && x->op == VYRE_OP_VAR)
      return compare_numbers(o->facts->var[x->arg[3]].def, o->facts->var[y->arg[3]].def);
    if (order == 0 && x->op == VYRE_OP_LIT) return compare_numbers(ir_literal_bits(x), ir_literal_bits(y));
    uint32_t arity = ir_op_arity[x->op], i = 0;
    if (order == 0 && arity < IR_MAX_OPERANDS) order = compare_numbers(x->arg[3], y->arg[3]);
    if (order != 0) return order;
    while (i < arity && x->arg[i] == y->arg[i]) i++;
    if (i == arity) return 0;
    a = x->arg[i];
    b = y->arg[i];
  }
  return 0;
}

static bool is_literal_first(const ordering *o, const ir_expr *n) {
  return opt_is_constant(o->unit, n->arg[0]) && !opt_is_constant(o->unit, n->arg[1]);
}

/* Comparisons only for the sake of a literal: `i < len(b)` is the form that bounds are looked for in. */
static uint32_t arrange(void *context, uint32_t e) {
  ordering *o = context;
  ir_expr n = *opt_at(o->unit, e);
  bool commutes = opt_is_commutative(n.op) || n.op == VYRE_OP_FMA;
  bool mirrors = opt_mirrored(n.op) != n.op && is_literal_first(o, &n);
  if ((!commutes && !mirrors) || (opt_flags(o->unit, e) & (OPT_EFFECT | OPT_CONVERGENT))) return e;
  bool literals = opt_is_constant(o->unit, n.arg[0]) && opt_is_constant(o->unit, n.arg[1]); /* const_fold's */
  if (commutes && (literals || compare(o, n.arg[0], n.arg[1]) <= 0)) return e;
  uint32_t first = n.arg[0];
  n.op = (uint8_t)opt_mirrored(n.op);
  n.arg[0] = n.arg[1];
  n.arg[1] = first;
  return opt_expr(o->unit, n);
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  (void)e, (void)old;
  opt_map_operands(context, s);
  return OPT_KEEP;
}

bool opt_pass_canonicalize(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  ordering o = { c->unit, opt_facts_of(c->unit) };
  if (o.facts == NULL) return false;
  opt_map map = opt_map_begin(c->unit, arrange, &o);
  bool changed = opt_rewrite(c->unit, &rewriter, &map);
  opt_map_end(&map);
  return changed;
}
