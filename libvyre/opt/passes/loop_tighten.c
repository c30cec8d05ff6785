/* Tightening: a loop whose whole body is guarded by an upper bound of its variable ends at that bound. */
#include "opt/pass.h"

/* The literal n of `var < n`; 0 if the condition is another. */
static uint32_t bound_of(const opt_unit *u, uint32_t condition, uint32_t var) {
  const ir_expr *c = opt_at(u, condition);
  if (c->op != VYRE_OP_LT || !opt_is_literal(u, c->arg[1])) return 0;
  const ir_expr *left = opt_at(u, c->arg[0]);
  return left->op == VYRE_OP_VAR && left->arg[3] == var ? c->arg[1] : 0;
}

static bool is_below(const opt_unit *u, uint32_t a, uint32_t b) {
  if (!ir_is_unsigned(opt_type(u, a))) return opt_signed_value(u, a) < opt_signed_value(u, b);
  return ir_literal_bits(opt_at(u, a)) < ir_literal_bits(opt_at(u, b));
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  opt_unit *u = e->unit;
  const ir_stmt *loop = opt_stmt(u, opt_facts_of(u)->stmt[old].parent);
  if (s->op == VYRE_STMT_IF && loop->op == VYRE_STMT_FOR && loop->body == old && s->next == 0 && s->orelse == 0) {
    uint32_t n = bound_of(u, s->arg[0], loop->arg[4]);
    return n != 0 && opt_is_literal(u, loop->arg[1]) && is_below(u, n, loop->arg[1]) ? OPT_SPLICE_BODY : OPT_KEEP;
  }
  if (s->op != VYRE_STMT_FOR || s->body == 0) return OPT_KEEP;
  const ir_stmt *guard = opt_stmt(u, s->body);
  if (guard->op != VYRE_STMT_IF || guard->next != 0 || guard->orelse != 0) return OPT_KEEP;
  uint32_t n = bound_of(u, guard->arg[0], s->arg[4]);
  if (n == 0 || !opt_is_literal(u, s->arg[1]) || !is_below(u, n, s->arg[1])) return OPT_KEEP;
  opt_note(context, "tightened", s->pos, u->costs->stmt[VYRE_STMT_IF]);
  s->arg[1] = n;
  return OPT_KEEP;
}

bool opt_pass_loop_tighten(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  const opt_facts *f = opt_facts_of(c->unit);
  return f != NULL && (f->stmt[0].flags & OPT_HAS_LOOP) != 0 && opt_rewrite(c->unit, &rewriter, c);
}
