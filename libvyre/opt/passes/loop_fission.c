/* Loop fission: a loop whose body falls into two halves that have nothing to do with each other becomes two loops. */
#include "opt/pass.h"

enum { BITS = 64 };

/* What the halves may not share, as ranges of positions in the body: where a place between two statements lies within
 * the range of something that is written, the loop is not split there. */
typedef struct range {
  uint32_t first, last;
  bool written;
} range;

typedef struct fission {
  opt_context *c;
  const opt_facts *facts;
  range *vars;             /* by variable; those of the present loop are in |touched| */
  VYRE_VECTOR(uint32_t) touched;
  uint32_t *seen;          /* by expression: the last statement of a body that looked at it */
  uint32_t split;          /* statement of the loop's body with which the second loop begins */
  uint32_t position;       /* of the statement that is looked at; from 1 on */
} fission;

static void touch(range *r, uint32_t position, bool writes) {
  if (r->first == 0) r->first = position;
  r->last = position;
  r->written |= writes;
}

static void touch_var(fission *f, uint32_t var, bool writes) {
  bool fresh = f->vars[var].first == 0;
  if (fresh && !vyre_vector_push(&f->touched, var)) f->c->unit->fault = OPT_NO_MEMORY;
  touch(&f->vars[var], f->position, writes);
}

static void look_at_expr(fission *f, uint32_t e, uint32_t stmt) {
  const ir_expr *node = opt_at(f->c->unit, e);
  if (f->seen[e] == stmt) return;
  f->seen[e] = stmt;
  if (node->op == VYRE_OP_VAR) touch_var(f, node->arg[3], false);
  for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) look_at_expr(f, node->arg[i], stmt);
}

/* All inside of one statement of the body. */
static void look_at(fission *f, uint32_t stmt, range *memory) {
  const opt_unit *u = f->c->unit;
  const opt_stmt_facts *facts = &f->facts->stmt[stmt];
  for (uint32_t s = stmt; s <= facts->last; s++) {
    const ir_stmt *inner = opt_stmt(u, s);
    uint32_t count;
    const uint32_t *operands = opt_operands(u, inner, &count);
    for (uint32_t i = 0; i < count; i++) look_at_expr(f, operands[i], stmt);
    bool names = inner->op == VYRE_STMT_LET || inner->op == VYRE_STMT_VAR || inner->op == VYRE_STMT_ASSIGN ||
                 inner->op == VYRE_STMT_FOR;
    if (names) touch_var(f, inner->arg[4], true);
  }
  for (uint32_t bit = 0; bit < BITS; bit++)
    if ((facts->reads | facts->writes) >> bit & 1) touch(&memory[bit], f->position, facts->writes >> bit & 1);
}

static void reach(uint32_t *farthest, const range *r) {
  if (r->written && r->last > farthest[r->first]) farthest[r->first] = r->last;
}

/* The first statement with which a second loop can begin; 0 if there is none. */
static uint32_t find_split(fission *f, uint32_t loop) {
  const opt_unit *u = f->c->unit;
  range memory[BITS] = { { 0 } };
  uint32_t count = 0, split = 0;
  f->touched.count = 0;
  for (uint32_t s = opt_stmt(u, loop)->body; s != 0; s = opt_stmt(u, s)->next) {
    f->position = ++count;
    look_at(f, s, memory);
  }
  uint32_t *farthest = calloc((size_t)count + 1, sizeof *farthest);
  if (farthest == NULL) f->c->unit->fault = OPT_NO_MEMORY;
  for (uint32_t bit = 0; farthest != NULL && bit < BITS; bit++) reach(farthest, &memory[bit]);
  for (uint32_t i = 0; i < f->touched.count; i++) {
    range *r = &f->vars[f->touched.data[i]];
    if (farthest != NULL) reach(farthest, r);
    *r = (range){ 0 };
  }
  uint32_t position = 1, last = 0;
  for (uint32_t s = opt_stmt(u, loop)->body; farthest != NULL && s != 0; s = opt_stmt(u, s)->next, position++) {
    if (position > 1 && last < position) {
      split = s;
      break;
    }
    if (farthest[position] > last) last = farthest[position];
  }
  free(farthest);
  return split;
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  const uint32_t forbidden = OPT_HAS_RETURN | OPT_HAS_BREAK | OPT_IS_FULL_FENCE | OPT_HAS_CONVERGENT | OPT_HAS_PRINT;
  fission *f = context;
  uint64_t trips;
  (void)e;
  if (old == f->split) return OPT_DROP;
  if (s->op != VYRE_STMT_FOR || (f->facts->stmt[old].flags & forbidden) != 0) return OPT_KEEP;
  if (f->split != 0 || !opt_trip_count(e->unit, old, &trips)) return OPT_KEEP;
  f->split = find_split(f, old);
  if (f->split != 0) opt_note(f->c, "split", s->pos, 0);
  return OPT_KEEP;
}

/* What follows the split in its block has gone into the second loop. */
static bool is_behind_split(const fission *f, uint32_t stmt) {
  return f->split != 0 && stmt > f->split && f->facts->stmt[stmt].parent == f->facts->stmt[f->split].parent;
}

static opt_action enter_or_skip(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  return is_behind_split(context, old) ? OPT_DROP : enter(context, e, old, s);
}

static void leave(void *context, opt_edit *e, uint32_t old) {
  fission *f = context;
  opt_unit *u = e->unit;
  if (f->split == 0 || f->facts->stmt[f->split].parent != old) return;
  ir_stmt second = *opt_stmt(u, old);
  uint32_t var = second.arg[4];
  second.arg[4] = opt_new_var(u, var, (vyre_type)u->program->vars.data[var].type, VYRE_STMT_FOR);
  if (second.arg[4] == UINT32_MAX) return;
  opt_open(e, opt_put(e, second), false);
  opt_put_copy(e, f->split, var, opt_var_value(u, second.arg[4]));
  opt_close(e);
  f->split = 0;
}

bool opt_pass_loop_fission(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter_or_skip, .leave = leave };
  const vyre_program *p = c->unit->program;
  fission f = { .c = c, .facts = opt_facts_of(c->unit) };
  if (f.facts == NULL || (f.facts->stmt[0].flags & OPT_HAS_LOOP) == 0) return false;
  f.vars = calloc((size_t)p->vars.count + 1, sizeof *f.vars);
  f.seen = calloc(p->exprs.count, sizeof *f.seen);
  bool changed = false;
  if (f.vars == NULL || f.seen == NULL) c->unit->fault = OPT_NO_MEMORY;
  else changed = opt_rewrite(c->unit, &rewriter, &f);
  vyre_vector_free(&f.touched);
  free(f.vars);
  free(f.seen);
  return changed;
}
