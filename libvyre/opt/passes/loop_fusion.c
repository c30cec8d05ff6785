/* Loop fusion: two loops over the same literal range that follow each other and have nothing to do with each other
 * become one. */
#include <string.h>

#include "opt/pass.h"

typedef struct fusing {
  opt_context *c;
  const opt_facts *facts;
  uint32_t *assigned, *read; /* by variable: the last stamp under which it was assigned and read */
  uint32_t *seen;            /* by expression: the last stamp under which it was looked at */
  uint32_t stamp;            /* one more for each loop that is looked at */
  uint8_t *taken;            /* by statement: its body has become part of the loop before it */
} fusing;

static bool same_range(const opt_unit *u, const ir_stmt *a, const ir_stmt *b) {
  bool literal = opt_is_literal(u, a->arg[0]) && opt_is_literal(u, a->arg[1]) &&
                 (a->arg[2] == 0 || opt_is_literal(u, a->arg[2]));
  return literal && memcmp(a->arg, b->arg, 3 * sizeof *a->arg) == 0;
}

/* ---- Variables ------------------------------------------------------------------------------- */

static void note_read(fusing *f, uint32_t e) {
  const ir_expr *node = opt_at(f->c->unit, e);
  if (f->seen[e] == f->stamp) return;
  f->seen[e] = f->stamp;
  if (node->op == VYRE_OP_VAR) f->read[node->arg[3]] = f->stamp;
  for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) note_read(f, node->arg[i]);
}

static void note_variables(fusing *f, uint32_t loop) {
  const opt_unit *u = f->c->unit;
  f->stamp++;
  for (uint32_t s = loop; s <= f->facts->stmt[loop].last; s++) {
    const ir_stmt *stmt = opt_stmt(u, s);
    uint32_t count;
    const uint32_t *operands = opt_operands(u, stmt, &count);
    for (uint32_t i = 0; i < count; i++) note_read(f, operands[i]);
    if (stmt->op == VYRE_STMT_ASSIGN) f->assigned[stmt->arg[4]] = f->stamp;
  }
}

/* Whether a variable that one loop assigns is touched by the other. Each loop is looked at twice, at most. */
static bool share_variables(fusing *f, uint32_t a, uint32_t b) {
  const opt_unit *u = f->c->unit;
  for (int turn = 0; turn < 2; turn++) {
    uint32_t one = turn ? b : a, other = turn ? a : b;
    note_variables(f, one);
    for (uint32_t s = other; s <= f->facts->stmt[other].last; s++) {
      const ir_stmt *stmt = opt_stmt(u, s);
      if (stmt->op != VYRE_STMT_ASSIGN) continue;
      if (f->assigned[stmt->arg[4]] == f->stamp || f->read[stmt->arg[4]] == f->stamp) return true;
    }
  }
  return false;
}

/* ---- Fusing ---------------------------------------------------------------------------------- */

static bool share_memory(const opt_stmt_facts *a, const opt_stmt_facts *b) {
  return (a->writes & (b->reads | b->writes)) != 0 || (b->writes & a->reads) != 0;
}

/* Whether the loop behind |stmt| can become part of it. */
static bool fuses(fusing *f, uint32_t stmt) {
  const uint32_t forbidden = OPT_HAS_RETURN | OPT_HAS_BREAK | OPT_IS_FULL_FENCE | OPT_HAS_CONVERGENT | OPT_HAS_PRINT;
  const opt_unit *u = f->c->unit;
  const ir_stmt *s = opt_stmt(u, stmt);
  const opt_stmt_facts *a = &f->facts->stmt[stmt], *b = &f->facts->stmt[s->next];
  if (s->op != VYRE_STMT_FOR || s->next == 0 || f->taken[stmt]) return false;
  if (opt_stmt(u, s->next)->op != VYRE_STMT_FOR) return false;
  if (!same_range(u, s, opt_stmt(u, s->next)) || ((a->flags | b->flags) & forbidden) != 0) return false;
  return !share_memory(a, b) && !share_variables(f, stmt, s->next);
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  fusing *f = context;
  (void)e;
  if (f->taken[old] == 1) return OPT_DROP;
  if (!fuses(f, old)) return OPT_KEEP;
  f->taken[s->next] = 1;
  f->taken[old] = 2;
  opt_note(f->c, "fused", s->pos, f->c->unit->costs->stmt[VYRE_STMT_FOR]);
  return OPT_KEEP;
}

/* The second body follows the first. */
static void end(void *context, opt_edit *e, uint32_t owner, bool orelse) {
  fusing *f = context;
  opt_unit *u = e->unit;
  if (owner == 0 || orelse || f->taken[owner] != 2) return;
  const ir_stmt *first = opt_stmt(u, owner), *second = opt_stmt(u, first->next);
  if (second->body != 0) opt_put_copy(e, second->body, second->arg[4], opt_var_value(u, first->arg[4]));
}

bool opt_pass_loop_fusion(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter, .end = end };
  const vyre_program *p = c->unit->program;
  fusing f = { .c = c, .facts = opt_facts_of(c->unit) };
  if (f.facts == NULL || (f.facts->stmt[0].flags & OPT_HAS_LOOP) == 0) return false;
  f.assigned = calloc((size_t)p->vars.count + 1, sizeof *f.assigned);
  f.read = calloc((size_t)p->vars.count + 1, sizeof *f.read);
  f.seen = calloc(p->exprs.count, sizeof *f.seen);
  f.taken = calloc(p->stmts.count, 1);
  bool changed = false;
  if (f.assigned == NULL || f.read == NULL || f.seen == NULL || f.taken == NULL) c->unit->fault = OPT_NO_MEMORY;
  else changed = opt_rewrite(c->unit, &rewriter, &f);
  free(f.assigned);
  free(f.read);
  free(f.seen);
  free(f.taken);
  return changed;
}
