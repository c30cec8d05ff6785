/* Two ways to know it: an assignment that comes, in its block, before the next one and any read; and one that stands
 * behind the last place where the variable is read. Both are one sweep over the statements. */
#include "opt/passes/dead_assigns.h"

#include <stdlib.h>

#include "ir/walk.h"
#include "opt/changes.h"

typedef struct assigns {
  opt_unit *unit;
  const opt_facts *facts;
  uint8_t *verdict;      /* by statement: the answer */
  uint64_t *reads;       /* by expression: bits of variables */
  uint32_t *loop;        /* by statement: the loop around it */
  uint32_t *pending;     /* by variable: the statement that gave it its present value, on a straight way */
  uint32_t *last_read;   /* by variable: from this statement on nobody reads it */
  uint8_t *seen;         /* by expression */
  uint32_t read_at[64];  /* by bit of a variable: the last statement that reads it */
  uint32_t jumped_at;    /* the last break or continue of the loop around */
  VYRE_VECTOR(uint32_t) outer_jumps; /* of the loops around that */
} assigns;

/* ---- Overwritten ----------------------------------------------------------------------------- */

static bool same_block(const assigns *a, uint32_t x, uint32_t y) {
  const opt_stmt_facts *f = &a->facts->stmt[x], *g = &a->facts->stmt[y];
  return f->parent == g->parent && f->in_orelse == g->in_orelse;
}

static void note_reads(assigns *a, uint32_t stmt) {
  uint32_t count;
  const uint32_t *operands = opt_operands(a->unit, opt_stmt(a->unit, stmt), &count);
  uint64_t bits = 0;
  for (uint32_t i = 0; i < count; i++) bits |= a->reads[operands[i]];
  for (; bits != 0; bits &= bits - 1) a->read_at[__builtin_ctzll(bits)] = stmt;
}

/* Whether the value that |before| gave can't be seen by the time |stmt| replaces it. */
static bool replaces(const assigns *a, uint32_t stmt, uint32_t before) {
  const ir_stmt *s = opt_stmt(a->unit, before);
  return before != 0 && same_block(a, stmt, before) && a->read_at[s->arg[4] % 64] <= before && a->jumped_at <= before &&
         opt_can_drop(a->unit, s->arg[0]);
}

static void note_assign(assigns *a, uint32_t stmt) {
  uint32_t var = opt_stmt(a->unit, stmt)->arg[4], before = a->pending[var];
  if (replaces(a, stmt, before)) {
    bool declared = opt_stmt(a->unit, before)->op == VYRE_STMT_VAR || a->verdict[before] == OPT_DECLARES;
    a->verdict[before] = OPT_OVERWRITTEN;
    if (declared) a->verdict[stmt] = OPT_DECLARES;
  }
  a->pending[var] = stmt;
}

static void look_at(assigns *a, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(a->unit, stmt);
  note_reads(a, stmt);
  switch (s->op) {
    case VYRE_STMT_VAR: a->pending[s->arg[4]] = stmt; break;
    case VYRE_STMT_ASSIGN: note_assign(a, stmt); break;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE: a->jumped_at = stmt; break;
    default: break;
  }
}

static void find_overwritten(assigns *a) {
  opt_unit *u = a->unit;
  ir_walk walk = ir_walk_begin(u->program);
  for (ir_walk_event event; (event = ir_walk_next(&walk)) != IR_WALK_END && u->fault == OPT_FINE;) {
    bool loop = ir_is_loop(opt_stmt(u, walk.stmt));
    if (event == IR_WALK_STMT) look_at(a, walk.stmt);
    if (event == IR_WALK_BODY && loop && !vyre_vector_push(&a->outer_jumps, a->jumped_at)) u->fault = OPT_NO_MEMORY;
    if (event == IR_WALK_LEAVE && loop) a->jumped_at = a->outer_jumps.data[--a->outer_jumps.count];
  }
  if (!ir_walk_finish(&walk)) u->fault = OPT_NO_MEMORY;
}

/* ---- Never read ------------------------------------------------------------------------------ */

/* A read in a loop counts at its end, for the next turn may be the one that reads. */
static uint32_t read_until(const assigns *a, uint32_t stmt, uint32_t var) {
  uint32_t until = stmt;
  for (uint32_t loop = a->loop[stmt]; loop > a->facts->var[var].def; loop = a->loop[loop])
    until = a->facts->stmt[loop].last + 1;
  return until;
}

/* From the last statement on, each expression once: no deeper than expressions are. */
static void note_last_reads(assigns *a, uint32_t stmt, uint32_t e) {
  if (a->reads[e] == 0 || a->seen[e]) return;
  a->seen[e] = 1;
  const ir_expr *node = opt_at(a->unit, e);
  if (node->op == VYRE_OP_VAR) a->last_read[node->arg[3]] = read_until(a, stmt, node->arg[3]);
  for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) note_last_reads(a, stmt, node->arg[i]);
}

static void find_never_read(assigns *a) {
  uint32_t count = a->unit->program->stmts.count;
  for (uint32_t s = 1; s < count; s++) {
    uint32_t parent = a->facts->stmt[s].parent;
    a->loop[s] = parent != 0 && ir_is_loop(opt_stmt(a->unit, parent)) ? parent : a->loop[parent];
  }
  for (uint32_t s = count; s-- > 1;) {
    uint32_t operands_count;
    const uint32_t *operands = opt_operands(a->unit, opt_stmt(a->unit, s), &operands_count);
    for (uint32_t i = 0; i < operands_count; i++) note_last_reads(a, s, operands[i]);
  }
  for (uint32_t s = 1; s < count; s++) {
    const ir_stmt *stmt = opt_stmt(a->unit, s);
    if (stmt->op == VYRE_STMT_ASSIGN && a->verdict[s] == 0 && s >= a->last_read[stmt->arg[4]] &&
        opt_can_drop(a->unit, stmt->arg[0]))
      a->verdict[s] = OPT_NEVER_READ;
  }
}

/* ---- The whole ------------------------------------------------------------------------------- */

uint8_t *opt_dead_assigns(opt_unit *u, const opt_facts *f) {
  uint32_t stmts = u->program->stmts.count, vars = u->program->vars.count + 1;
  assigns a = { .unit = u, .facts = f, .verdict = calloc(stmts, 1), .reads = opt_var_reads(u),
                .loop = calloc(stmts, sizeof *a.loop), .pending = calloc(vars, sizeof *a.pending),
                .last_read = calloc(vars, sizeof *a.last_read), .seen = calloc(u->program->exprs.count, 1) };
  bool fine = a.verdict != NULL && a.reads != NULL && a.loop != NULL && a.pending != NULL && a.last_read != NULL &&
              a.seen != NULL;
  if (!fine) u->fault = OPT_NO_MEMORY;
  if (fine) find_overwritten(&a);
  if (fine) find_never_read(&a);
  free(a.reads);
  free(a.loop);
  free(a.pending);
  free(a.last_read);
  free(a.seen);
  vyre_vector_free(&a.outer_jumps);
  if (u->fault == OPT_FINE) return a.verdict;
  free(a.verdict);
  return NULL;
}
