/* Small regions stand in the block around them: a region is a scope and a name, and variables have numbers. */
#include "opt/pass.h"

enum { SMALL = 64 }; /* statements */

typedef struct inlining {
  opt_context *c;
  const opt_facts *facts;
} inlining;

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  inlining *i = context;
  (void)e;
  if (s->op != VYRE_STMT_REGION || i->facts->stmt[old].last - old > SMALL) return OPT_KEEP;
  opt_note(i->c, "region", s->pos, 0);
  return OPT_SPLICE_BODY;
}

bool opt_pass_region_inline(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  inlining i = { c, opt_facts_of(c->unit) };
  return i.facts != NULL && opt_rewrite(c->unit, &rewriter, &i);
}
