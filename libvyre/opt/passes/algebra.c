/* Groups of rules over whole programs. */
#include "opt/passes/algebra.h"

typedef struct algebra {
  opt_context *c;
  opt_matcher matcher;
  opt_map map;
  uint32_t position; /* of the statement that is rewritten */
  bool (*allows)(void *context, uint32_t e);
  void *context;
} algebra;

static bool note(void *context, const char *rule, uint32_t before, uint32_t after) {
  algebra *a = context;
  uint64_t cost = opt_meta_of(a->c->unit, before)->cost, now = opt_meta_of(a->c->unit, after)->cost;
  if (a->c->explains) opt_note(a->c, rule, a->position, cost > now ? cost - now : 0);
  return true;
}

static uint32_t simplify(void *context, uint32_t e) {
  algebra *a = context;
  return a->allows != NULL && !a->allows(a->context, e) ? e : opt_simplify(&a->matcher, e);
}

void opt_hide_beyond(opt_unit *u, ir_stmt *s) {
  bool stays = s->op == VYRE_STMT_STORE && u->fault == OPT_FINE && opt_is_beyond(u, s->arg[0], s->arg[4]) &&
               !opt_can_drop(u, s->arg[1]);
  if (stays) s->arg[0] = opt_hide_literal(u, s->arg[0]);
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  algebra *a = context;
  (void)old;
  a->position = s->pos;
  opt_map_operands(&a->map, s);
  opt_hide_beyond(e->unit, s);
  return OPT_KEEP;
}

bool opt_apply_rules(opt_context *c, uint32_t groups, bool (*allows)(void *context, uint32_t e), void *context) {
  static const opt_rewriter rewriter = { .enter = enter };
  algebra a = { .c = c, .allows = allows, .context = context };
  a.matcher = (opt_matcher){ .unit = c->unit, .groups = groups, .took = note, .context = &a };
  a.map = opt_map_begin(c->unit, simplify, &a);
  bool changed = opt_rewrite(c->unit, &rewriter, &a);
  opt_map_end(&a.map);
  return changed;
}
