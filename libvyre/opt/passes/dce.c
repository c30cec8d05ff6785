/* Dead code: what nobody sees goes. */
#include "opt/pass.h"

typedef struct dce {
  opt_context *c;
  const opt_facts *facts;
} dce;

static opt_action drop(dce *d, const char *rule, const ir_stmt *s) {
  opt_note(d->c, rule, s->pos, 0);
  return OPT_DROP;
}

static bool is_unused(const dce *d, uint32_t var) { return d->facts->var[var].uses == 0; }

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  dce *d = context;
  opt_unit *u = e->unit;
  (void)old;
  switch (s->op) {
    case VYRE_STMT_LET:
      return is_unused(d, s->arg[4]) && opt_can_drop(u, s->arg[0]) ? drop(d, "unused_let", s) : OPT_KEEP;
    default: return OPT_KEEP;
  }
}

bool opt_pass_dce(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  dce d = { c, opt_facts_of(c->unit) };
  return d.facts != NULL && opt_rewrite(c->unit, &rewriter, &d);
}
