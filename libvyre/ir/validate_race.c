/* The race lint: a warning, since an invocation that uses atomics and then reads plainly what it wrote
 * itself does nothing wrong.
 *
 * Sets of buffers are 64-bit words, one bit for each buffer that the program uses in both ways; the
 * first 64 of them are looked at. */
#include "base/diag.h"
#include "ir/validate.h"
#include "ir/walk.h"

enum { ATOMIC = 1, PLAIN = 2, BOTH = 3 };

typedef struct lint {
  const vyre_program *p;
  const ir_intervals *intervals;
  vyre_diagnostics *d;
  uint64_t *bit;           /* of each buffer */
  uint64_t *atomic, *plain; /* buffers that each expression uses so */
  struct seen {
    uint64_t atomic, plain, reported;
  } *seen; /* of each interval */
} lint;

static bool is_atomic(const ir_expr *e) { return e->op >= VYRE_OP_ATOMIC_ADD && e->op <= VYRE_OP_ATOMIC_STORE; }

/* A workgroup_uniform_load stands between barriers of its own. */
static bool is_plain(const ir_expr *e) { return e->op == VYRE_OP_LOAD || e->op == VYRE_OP_GRID_UNIFORM_LOAD; }

static uint64_t atomic_uses(const void *context, const ir_expr *e) {
  return is_atomic(e) ? ((const lint *)context)->bit[e->arg[3]] : 0;
}

static uint64_t plain_uses(const void *context, const ir_expr *e) {
  return is_plain(e) ? ((const lint *)context)->bit[e->arg[3]] : 0;
}

/* Gives bits to the buffers that are used in both ways; false if there is none. */
static bool assign_bits(lint *l) {
  const vyre_program *p = l->p;
  for (uint32_t i = 1; i < p->exprs.count; i++) {
    const ir_expr *e = ir_expr_at(p, i);
    if (is_atomic(e)) l->bit[e->arg[3]] |= ATOMIC;
    if (is_plain(e)) l->bit[e->arg[3]] |= PLAIN;
  }
  for (uint32_t i = 1; i < p->stmts.count; i++) {
    const ir_stmt *s = ir_stmt_at(p, i);
    if (s->op == VYRE_STMT_STORE || s->op == VYRE_STMT_COPY_ASYNC) l->bit[s->arg[4]] |= PLAIN;
    if (s->op == VYRE_STMT_COPY_ASYNC) l->bit[s->arg[3]] |= PLAIN;
  }
  uint64_t next = 1;
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    bool both = l->bit[i] == BOTH;
    l->bit[i] = both ? next : 0;
    if (both) next <<= 1;
  }
  return next != 1;
}

static void warn(const lint *l, const ir_stmt *s, uint64_t buffers) {
  for (uint32_t i = 0; i < l->p->buffers.count; i++)
    if ((l->bit[i] & buffers) != 0)
      vyre_diag(l->d, VYRE_W116, s->pos, "\"%s\"", ir_text(l->p, l->p->buffers.data[i].name));
}

static void look_at(const lint *l, const ir_stmt *s, uint32_t interval) {
  struct seen *seen = &l->seen[ir_interval(l->intervals, interval)];
  seen->atomic |= ir_union_of_statement(l->p, s, l->atomic);
  seen->plain |= ir_union_of_statement(l->p, s, l->plain);
  if (s->op == VYRE_STMT_STORE || s->op == VYRE_STMT_COPY_ASYNC) seen->plain |= l->bit[s->arg[4]];
  if (s->op == VYRE_STMT_COPY_ASYNC) seen->plain |= l->bit[s->arg[3]];
  uint64_t news = seen->atomic & seen->plain & ~seen->reported;
  if (news != 0) warn(l, s, news);
  seen->reported |= news;
}

static bool run(lint *l) {
  l->atomic = ir_union_of_operands(l->p, atomic_uses, l);
  l->plain = ir_union_of_operands(l->p, plain_uses, l);
  l->seen = calloc(l->intervals->joined.count, sizeof *l->seen);
  if (l->atomic == NULL || l->plain == NULL || l->seen == NULL) return false;
  for (uint32_t s = 1; s < l->p->stmts.count; s++) {
    look_at(l, ir_stmt_at(l->p, s), l->intervals->before[s]);
    if (ir_holds_barrier(l->intervals, s)) look_at(l, ir_stmt_at(l->p, s), l->intervals->after[s]);
  }
  return true;
}

bool ir_lint_races(const vyre_program *p, const ir_intervals *intervals, vyre_diagnostics *d) {
  lint l = { .p = p, .intervals = intervals, .d = d };
  l.bit = calloc((size_t)p->buffers.count + 1, sizeof *l.bit);
  bool good = l.bit != NULL && (!assign_bits(&l) || run(&l));
  free(l.bit);
  free(l.atomic);
  free(l.plain);
  free(l.seen);
  return good;
}
