/* A graph of equal expressions, grown in rounds within a budget.
 *
 * In each round every term takes the cheapest other operands that its operands' classes have, one at a time, and the
 * rules are tried once on each term, all that fit. What comes out joins the class of the term. Nothing is ever lost, so
 * the order of rules does not matter until the budget is used up. */
#include "opt/saturate.h"

#include <string.h>

enum { MOST_TERMS = 96, MOST_ROUNDS = 4, MOST_EQUALS = 6 };

opt_saturation opt_saturation_begin(opt_unit *u, uint64_t budget) {
  return (opt_saturation){ .unit = u, .budget = budget, .most_terms = MOST_TERMS, .most_rounds = MOST_ROUNDS };
}

void opt_saturation_end(opt_saturation *s) {
  vyre_vector_free(&s->terms);
  vyre_vector_free(&s->place);
  vyre_vector_free(&s->found);
}

static opt_equal_term *term(opt_saturation *s, uint32_t t) { return &s->terms.data[t]; }

static bool out_of_memory(opt_saturation *s) {
  if (s->unit->fault == OPT_FINE) s->unit->fault = OPT_NO_MEMORY;
  return false;
}

/* Operators that rules are about; all else is a leaf here. */
static bool is_inner(const opt_unit *u, uint32_t e) {
  vyre_op op = opt_at(u, e)->op;
  return (op >= VYRE_OP_ADD && op <= VYRE_OP_FMA) || op == VYRE_OP_CAST;
}

/* ---- Classes --------------------------------------------------------------------------------- */

static uint32_t class_of(opt_saturation *s, uint32_t t) {
  while (term(s, t)->parent != t) t = term(s, t)->parent = term(s, term(s, t)->parent)->parent;
  return t;
}

static bool is_cheaper(const opt_unit *u, uint32_t a, uint32_t b) {
  const opt_meta *x = opt_meta_of(u, a), *y = opt_meta_of(u, b);
  return x->cost != y->cost ? x->cost < y->cost : x->size < y->size;
}

/* The older term stands for both. */
static bool join(opt_saturation *s, uint32_t a, uint32_t b) {
  a = class_of(s, a);
  b = class_of(s, b);
  if (a == b) return false;
  if (b < a) {
    uint32_t swap = a;
    a = b;
    b = swap;
  }
  opt_equal_term *x = term(s, a), *y = term(s, b);
  uint32_t next = x->next;
  x->next = y->next;
  y->next = next;
  y->parent = a;
  if (is_cheaper(s->unit, y->best, x->best)) x->best = y->best;
  return true;
}

/* ---- Terms ----------------------------------------------------------------------------------- */

static bool reserve_places(opt_saturation *s) {
  uint32_t want = s->unit->program->exprs.count;
  if (want <= s->place.count) return true;
  if (!vyre_vector_reserve(&s->place, want - s->place.count)) return out_of_memory(s);
  memset(s->place.data + s->place.count, 0, (want - s->place.count) * sizeof *s->place.data);
  s->place.count = want;
  return true;
}

static bool is_known(const opt_saturation *s, uint32_t e, uint32_t *t) {
  *t = (uint32_t)s->place.data[e];
  return s->place.data[e] >> 32 == s->epoch;
}

/* The term of an expression and those of its operands; false where the budget or memory ends. Expressions that come here
 * are no deeper than a few rules make them deeper than the root, which is small. */
static bool add(opt_saturation *s, uint32_t e, uint32_t *t) {
  if (e == 0 || !reserve_places(s)) return false;
  if (is_known(s, e, t)) return true;
  for (uint32_t i = 0; is_inner(s->unit, e) && i < ir_op_arity[opt_at(s->unit, e)->op]; i++)
    if (!add(s, opt_at(s->unit, e)->arg[i], t)) return false;
  *t = s->terms.count;
  if (*t >= s->most_terms) return false;
  if (!vyre_vector_push(&s->terms, ((opt_equal_term){ .e = e, .parent = *t, .next = *t, .best = e })))
    return out_of_memory(s);
  s->place.data[e] = (uint64_t)s->epoch << 32 | *t;
  return true;
}

static bool add_equal(opt_saturation *s, uint32_t t, uint32_t e, bool *changed) {
  uint32_t other;
  if (!add(s, e, &other)) return false;
  *changed |= join(s, t, other);
  return true;
}

/* ---- Growing --------------------------------------------------------------------------------- */

static bool collect(void *context, const char *rule, uint32_t before, uint32_t after) {
  opt_saturation *s = context;
  (void)rule, (void)before;
  if (!vyre_vector_push(&s->found, after)) out_of_memory(s);
  return false;
}

static bool try_rules(opt_saturation *s, uint32_t t, bool *changed) {
  if (term(s, t)->tried) return true;
  term(s, t)->tried = true;
  uint32_t e = term(s, t)->e, folded = opt_fold(s->unit, e);
  s->found.count = 0;
  if (folded != e) collect(s, "", e, folded);
  else opt_rule_apply(&s->matcher, e);
  for (uint32_t i = 0; i < s->found.count; i++)
    if (!add_equal(s, t, s->found.data[i], changed)) return false;
  return s->unit->fault == OPT_FINE;
}

static uint32_t with_operand(opt_unit *u, uint32_t e, uint32_t i, uint32_t operand) {
  ir_expr n = *opt_at(u, e);
  n.arg[i] = operand;
  return opt_expr(u, n);
}

/* The cheapest of its class, and a few others. */
static bool replace_operand(opt_saturation *s, uint32_t t, uint32_t i, bool *changed) {
  uint32_t e = term(s, t)->e, operand = opt_at(s->unit, e)->arg[i], first;
  if (!is_known(s, operand, &first)) return true;
  uint32_t best = term(s, class_of(s, first))->best;
  if (best != operand && !add_equal(s, t, with_operand(s->unit, e, i, best), changed)) return false;
  uint32_t other = term(s, first)->next;
  for (uint32_t k = 0; k < MOST_EQUALS && other != first; k++, other = term(s, other)->next)
    if (!add_equal(s, t, with_operand(s->unit, e, i, term(s, other)->e), changed)) return false;
  return true;
}

static bool grow(opt_saturation *s, bool *changed) {
  for (uint32_t t = 0, count = s->terms.count; t < count; t++) {
    if (!is_inner(s->unit, term(s, t)->e)) continue;
    if (!try_rules(s, t, changed)) return false;
    for (uint32_t i = 0; i < ir_op_arity[opt_at(s->unit, term(s, t)->e)->op]; i++)
      if (!replace_operand(s, t, i, changed)) return false;
  }
  return true;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* The term with the best operands; those of its own class can't make it cheaper. */
static uint32_t with_best_operands(opt_saturation *s, uint32_t t) {
  uint32_t e = term(s, t)->e;
  for (uint32_t i = 0; is_inner(s->unit, e) && i < ir_op_arity[opt_at(s->unit, e)->op]; i++) {
    uint32_t operand = opt_at(s->unit, e)->arg[i], of;
    if (is_known(s, operand, &of)) e = with_operand(s->unit, e, i, term(s, class_of(s, of))->best);
    if (e == 0 || !reserve_places(s)) return 0;
  }
  return e;
}

static void choose(opt_saturation *s) {
  bool changed = true;
  for (uint32_t round = 0; changed && round < s->most_rounds; round++) {
    changed = false;
    for (uint32_t t = 0; t < s->terms.count; t++) {
      uint32_t e = with_best_operands(s, t), of = class_of(s, t);
      if (e == 0) return;
      if (!is_cheaper(s->unit, e, term(s, of)->best)) continue;
      term(s, of)->best = e;
      changed = true;
    }
  }
}

uint32_t opt_saturate(opt_saturation *s, uint32_t e) {
  opt_unit *u = s->unit;
  uint32_t root;
  bool changed = true;
  if ((opt_flags(u, e) & (OPT_EFFECT | OPT_CONVERGENT)) != 0 || s->spent >= s->budget) return e;
  s->matcher = (opt_matcher){ .unit = u, .groups = OPT_RULES_FOLD | OPT_RULES_EXPLORE, .bare = true, .took = collect,
                              .context = s };
  s->terms.count = 0;
  s->epoch++;
  if (!add(s, e, &root)) return u->fault == OPT_FINE ? e : 0;
  for (uint32_t round = 0; changed && round < s->most_rounds; round++) {
    changed = false;
    if (!grow(s, &changed)) break;
  }
  choose(s);
  s->spent += s->terms.count;
  if (u->fault != OPT_FINE) return 0;
  uint32_t best = term(s, class_of(s, root))->best;
  return opt_meta_of(u, best)->cost < opt_meta_of(u, e)->cost ? best : e;
}
