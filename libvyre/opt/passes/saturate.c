/* Small expressions of several operators become the cheapest that the rules lead to in any order. What const_fold does
 * from the leaves up can't be had cheaper; this finds what has to become dearer, or only different, on the way. */
#include "opt/saturate.h"

#include <string.h>

#include "opt/passes/algebra.h"

enum {
  FEWEST_OPERATORS = 3, /* fewer have no order */
  MOST_OPERATORS = 16,
  TERMS = 1024, /* of a program, and for each */
  TERMS_FOR_EACH = 1 /* expression: the whole pass stays linear */
};

typedef struct saturating {
  opt_context *c;
  opt_saturation graph;
  opt_map map;
  uint32_t position;
} saturating;

static bool is_arithmetic(const opt_unit *u, uint32_t e) {
  vyre_op op = opt_at(u, e)->op;
  return op >= VYRE_OP_ADD && op <= VYRE_OP_SELECT;
}

/* Leaves do not count: what has more than one operator with two operands has at least three of these. */
static uint32_t saturated(saturating *s, uint32_t e) {
  opt_unit *u = s->c->unit;
  if (e == 0 || !is_arithmetic(u, e)) return e;
  const opt_meta *m = opt_meta_of(u, e);
  bool pays = m->size >= 2 * FEWEST_OPERATORS - 1 && m->size <= 2 * MOST_OPERATORS && !ir_is_float(opt_type(u, e));
  if (!pays) return e;
  uint64_t cost = m->cost;
  uint32_t best = opt_saturate(&s->graph, e);
  if (best != e && best != 0 && s->c->explains)
    opt_note(s->c, "saturation", s->position, cost - opt_meta_of(u, best)->cost);
  return best;
}

/* Arithmetic is looked at from its root: from what is no arithmetic, and from statements. */
static uint32_t below(void *context, uint32_t e) {
  saturating *s = context;
  opt_unit *u = s->c->unit;
  if (is_arithmetic(u, e)) return e;
  ir_expr n = *opt_at(u, e);
  bool changed = false;
  for (uint32_t i = 0; i < ir_op_arity[n.op]; i++) {
    uint32_t operand = saturated(s, n.arg[i]);
    changed |= operand != n.arg[i];
    n.arg[i] = operand;
  }
  return changed ? opt_expr(u, n) : e;
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  saturating *all = context;
  (void)old;
  all->position = s->pos;
  opt_map_operands(&all->map, s);
  for (uint32_t i = 0; s->op != VYRE_STMT_PRINT && i < ir_stmt_arity[s->op]; i++) s->arg[i] = saturated(all, s->arg[i]);
  opt_hide_beyond(e->unit, s);
  return OPT_KEEP;
}

bool opt_pass_saturate(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  saturating s = { .c = c };
  s.graph = opt_saturation_begin(c->unit, TERMS + (uint64_t)TERMS_FOR_EACH * c->unit->program->exprs.count);
  s.map = opt_map_begin(c->unit, below, &s);
  bool changed = opt_rewrite(c->unit, &rewriter, &s);
  opt_map_end(&s.map);
  opt_saturation_end(&s.graph);
  return changed;
}
