/* Times of the last changes, by kind. In the second arm of an `if` those of the first are taken back; behind it both
 * count. A loop's changes count at its beginning, for they may have been made by the turn before. */
#include "opt/changes.h"

#include <stdlib.h>

#include "ir/walk.h"

/* ---- What reads what ------------------------------------------------------------------------- */

static uint64_t var_of(const void *context, const ir_expr *e) {
  const opt_unit *u = context;
  bool changes = e->op == VYRE_OP_VAR && u->program->vars.data[e->arg[3]].kind == VYRE_STMT_VAR;
  return changes ? opt_var_bit(e->arg[3]) : 0;
}

uint64_t *opt_var_reads(opt_unit *u) {
  uint64_t *reads = ir_union_of_operands(u->program, var_of, u);
  if (reads == NULL) u->fault = OPT_NO_MEMORY;
  return reads;
}

static void note_assignments(opt_changes *c) {
  const vyre_program *p = c->unit->program;
  for (uint32_t s = p->stmts.count; s-- > 1;) {
    if (opt_stmt(c->unit, s)->op == VYRE_STMT_ASSIGN) c->assigned[s] |= opt_var_bit(opt_stmt(c->unit, s)->arg[4]);
    c->assigned[c->facts->stmt[s].parent] |= c->assigned[s];
  }
}

bool opt_changes_begin(opt_changes *c, opt_unit *u) {
  *c = (opt_changes){ .unit = u, .facts = opt_facts_of(u) };
  if (c->facts == NULL) return false;
  c->vars = opt_var_reads(u);
  c->assigned = calloc(u->program->stmts.count, sizeof *c->assigned);
  if (c->vars == NULL || c->assigned == NULL) {
    u->fault = OPT_NO_MEMORY;
    return false;
  }
  note_assignments(c);
  return true;
}

void opt_changes_end(opt_changes *c) {
  free(c->vars);
  free(c->assigned);
  vyre_vector_free(&c->undo);
  vyre_vector_free(&c->arms);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void change(opt_changes *c, uint32_t kind) {
  if (c->time[kind] == c->now) return;
  if (c->arms.count > 0 && !vyre_vector_push(&c->undo, ((opt_change){ kind, c->time[kind] })))
    c->unit->fault = OPT_NO_MEMORY;
  c->time[kind] = c->now;
}

static void change_all(opt_changes *c, uint64_t bits, uint32_t first) {
  for (; bits != 0; bits &= bits - 1) change(c, first + (uint32_t)__builtin_ctzll(bits));
}

/* All that a statement does, with what is in it. */
static void change_by(opt_changes *c, uint32_t stmt) {
  const opt_stmt_facts *f = &c->facts->stmt[stmt];
  change_all(c, c->assigned[stmt], 0);
  change_all(c, f->writes, 64);
  if (f->flags & OPT_IS_FULL_FENCE) change(c, OPT_CHANGE_FENCE);
}

static void note_operands(opt_changes *c, uint32_t stmt) {
  uint32_t count, flags = 0;
  const uint32_t *operands = opt_operands(c->unit, opt_stmt(c->unit, stmt), &count);
  c->own_writes = 0;
  for (uint32_t i = 0; i < count; i++) {
    c->own_writes |= opt_meta_of(c->unit, operands[i])->writes; /* of none: nothing */
    flags |= opt_flags(c->unit, operands[i]);
  }
  c->own_fence = (flags & (OPT_FENCE | OPT_BARRIER)) != 0;
}

static void take_back(opt_changes *c, uint32_t mark) {
  while (c->undo.count > mark) {
    opt_change last = c->undo.data[--c->undo.count];
    c->time[last.kind] = last.before;
  }
}

/* ---- The walk -------------------------------------------------------------------------------- */

static void flush(opt_changes *c) {
  c->now++;
  if (c->pending != 0) change_by(c, c->pending);
  c->pending = 0;
}

void opt_changes_at(opt_changes *c, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(c->unit, stmt);
  flush(c);
  c->now++;
  note_operands(c, stmt);
  if (c->own_fence) change(c, OPT_CHANGE_FENCE);
  change_all(c, c->own_writes, 64);
  if (!ir_is_conditional(s) && s->op != VYRE_STMT_BLOCK && s->op != VYRE_STMT_REGION) c->pending = stmt;
}

void opt_changes_block(opt_changes *c, uint32_t owner, bool orelse) {
  flush(c);
  if (owner == 0) return;
  const ir_stmt *s = opt_stmt(c->unit, owner);
  if (ir_is_loop(s)) change_by(c, owner);
  if (s->op != VYRE_STMT_IF) return;
  if (orelse) take_back(c, c->arms.data[c->arms.count - 1]);
  else if (!vyre_vector_push(&c->arms, c->undo.count)) c->unit->fault = OPT_NO_MEMORY;
}

void opt_changes_leave(opt_changes *c, uint32_t stmt) {
  flush(c);
  if (opt_stmt(c->unit, stmt)->op != VYRE_STMT_IF || c->unit->fault != OPT_FINE) return;
  take_back(c, c->arms.data[--c->arms.count]);
  change_by(c, stmt);
}

/* ---- Questions ------------------------------------------------------------------------------- */

opt_reads opt_reads_of(const opt_changes *c, uint32_t e) {
  bool changes = (opt_flags(c->unit, e) & OPT_READS_MEMORY) != 0;
  return (opt_reads){ c->vars[e], changes ? opt_meta_of(c->unit, e)->reads : 0 };
}

static bool all_before(const opt_changes *c, uint64_t bits, uint32_t first, uint32_t time) {
  for (; bits != 0; bits &= bits - 1)
    if (c->time[first + (uint32_t)__builtin_ctzll(bits)] > time) return false;
  return true;
}

bool opt_unchanged_since(const opt_changes *c, opt_reads reads, uint32_t time) {
  if (reads.memory != 0 && c->time[OPT_CHANGE_FENCE] > time) return false;
  return all_before(c, reads.vars, 0, time) && all_before(c, reads.memory, 64, time);
}

bool opt_operands_write(const opt_changes *c, opt_reads reads) {
  return (c->own_writes & reads.memory) != 0 || (c->own_fence && reads.memory != 0);
}
