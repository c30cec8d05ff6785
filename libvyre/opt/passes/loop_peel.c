/* Peeling: where a loop does something in its first turn alone, that turn stands before the loop. */
#include "opt/pass.h"

static bool is_first_turn(const opt_unit *u, const ir_stmt *guard, uint32_t var) {
  if (guard->op != VYRE_STMT_IF || guard->orelse != 0) return false;
  const ir_expr *c = opt_at(u, guard->arg[0]);
  if (c->op != VYRE_OP_EQ || !opt_is_literal(u, c->arg[1]) || ir_literal_bits(opt_at(u, c->arg[1])) != 0) return false;
  const ir_expr *left = opt_at(u, c->arg[0]);
  return left->op == VYRE_OP_VAR && left->arg[3] == var;
}

static bool peels(opt_unit *u, uint32_t stmt) {
  const uint32_t forbidden = OPT_HAS_RETURN | OPT_HAS_BREAK | OPT_HAS_BARRIER | OPT_HAS_ASYNC | OPT_HAS_CONVERGENT;
  const ir_stmt *s = opt_stmt(u, stmt);
  const opt_facts *f = opt_facts_of(u);
  uint64_t trips;
  if (f == NULL || s->op != VYRE_STMT_FOR || s->arg[2] != 0 || (f->stmt[stmt].flags & forbidden) != 0) return false;
  if (!opt_trip_count(u, stmt, &trips) || trips < 2 || ir_literal_bits(opt_at(u, s->arg[0])) != 0) return false;
  return s->body != 0 && is_first_turn(u, opt_stmt(u, s->body), s->arg[4]);
}

/* The guard of a loop that is peeled: its own body is the first turn's alone. */
static bool is_guard_of_peeled(opt_unit *u, uint32_t stmt) {
  const opt_facts *f = opt_facts_of(u);
  uint32_t loop = f->stmt[stmt].parent;
  return loop != 0 && opt_stmt(u, loop)->body == stmt && peels(u, loop);
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  opt_unit *u = e->unit;
  if (s->op == VYRE_STMT_IF && is_guard_of_peeled(u, old)) return OPT_DROP;
  if (!peels(u, old)) return OPT_KEEP;
  const ir_stmt *guard = opt_stmt(u, s->body);
  uint32_t first = s->arg[0], var = s->arg[4], then = guard->body, rest = guard->next;
  vyre_type type = opt_type(u, first);
  if (then != 0) opt_put_copy(e, then, var, first);
  if (rest != 0) opt_put_copy(e, rest, var, first);
  opt_note(context, "peeled", s->pos, 0);
  s->arg[0] = opt_literal(u, type, 1);
  return OPT_KEEP;
}

bool opt_pass_loop_peel(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  const opt_facts *f = opt_facts_of(c->unit);
  return f != NULL && (f->stmt[0].flags & OPT_HAS_LOOP) != 0 && opt_rewrite(c->unit, &rewriter, c);
}
