/* Expression fusion: a `let` that is read in one place moves there, so that rules see the whole expression, and so that
 * what only one arm of an `if` needs is computed in that arm.
 *
 * It may not move into a loop, nor past anything that changes what it reads: an assignment, a write or an atomic on the
 * memory, a fence, a barrier, a wait. */
#include "opt/changes.h"
#include "opt/pass.h"

#include <stdlib.h>

/* A `let` read once, with all that has moved into it. */
typedef struct candidate {
  opt_reads reads;
  uint32_t time;  /* when it was evaluated; 0 if it is none */
  uint32_t depth; /* of its expression */
  uint16_t loops; /* around it */
  bool moves;
} candidate;

typedef struct fusion {
  opt_context *c;
  opt_unit *unit;
  opt_changes changes;
  candidate *lets; /* by variable */
  uint32_t stmt;
  opt_map map;
  candidate into;  /* what the statement has taken in so far */
  uint32_t *value; /* by variable that moves: what stands for it */
} fusion;

static bool may_move(const opt_unit *u, uint32_t e) {
  return ir_op_arity[opt_at(u, e)->op] > 0 && (opt_flags(u, e) & (OPT_EFFECT | OPT_CONVERGENT)) == 0;
}

/* ---- Finding --------------------------------------------------------------------------------- */

static bool can_move_here(const fusion *f, const candidate *let, uint32_t depth) {
  return let->time != 0 && let->loops == f->changes.facts->stmt[f->stmt].loops &&
         opt_unchanged_since(&f->changes, let->reads, let->time) && !opt_operands_write(&f->changes, let->reads) &&
         depth + let->depth <= VYRE_MAX_EXPR_DEPTH;
}

static void take_in(fusion *f, candidate *let) {
  let->moves = true;
  f->into.reads.vars |= let->reads.vars;
  f->into.reads.memory |= let->reads.memory;
  if (let->depth > f->into.depth) f->into.depth = let->depth;
}

/* What occurs once lies only in expressions that occur once. No deeper than expressions are. */
static void find_reads(fusion *f, uint32_t e, uint32_t depth) {
  const opt_facts *facts = f->changes.facts;
  if (e == 0 || facts->uses[e] != 1) return;
  const ir_expr *node = opt_at(f->unit, e);
  for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) find_reads(f, node->arg[i], depth);
  if (node->op != VYRE_OP_VAR) return;
  candidate *let = &f->lets[node->arg[3]];
  if (can_move_here(f, let, depth)) take_in(f, let);
}

static void look_at(fusion *f, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(f->unit, stmt);
  uint32_t count;
  const uint32_t *operands = opt_operands(f->unit, s, &count);
  opt_changes_at(&f->changes, stmt);
  f->stmt = stmt;
  f->into = (candidate){ .time = f->changes.now }; /* what has moved here had not changed by now */
  for (uint32_t i = 0; i < count; i++) find_reads(f, operands[i], opt_meta_of(f->unit, operands[i])->depth);
  if (s->op != VYRE_STMT_LET || f->changes.facts->var[s->arg[4]].uses != 1 || !may_move(f->unit, s->arg[0])) return;
  candidate let = f->into;
  opt_reads own = opt_reads_of(&f->changes, s->arg[0]);
  let.reads.vars |= own.vars;
  let.reads.memory |= own.memory;
  let.depth += opt_meta_of(f->unit, s->arg[0])->depth;
  let.loops = f->changes.facts->stmt[stmt].loops;
  f->lets[s->arg[4]] = let;
}

static void find(fusion *f) {
  ir_walk walk = ir_walk_begin(f->unit->program);
  for (ir_walk_event event; f->unit->fault == OPT_FINE && (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    switch (event) {
      case IR_WALK_STMT: look_at(f, walk.stmt); break;
      case IR_WALK_BODY: opt_changes_block(&f->changes, walk.stmt, false); break;
      case IR_WALK_ORELSE: opt_changes_block(&f->changes, walk.stmt, true); break;
      default: opt_changes_leave(&f->changes, walk.stmt); break;
    }
  }
  if (!ir_walk_finish(&walk)) f->unit->fault = OPT_NO_MEMORY;
}

/* ---- Moving ---------------------------------------------------------------------------------- */

static uint32_t replace(void *context, uint32_t e) {
  fusion *f = context;
  const ir_expr *node = opt_at(f->unit, e);
  return node->op == VYRE_OP_VAR && f->lets[node->arg[3]].moves ? f->value[node->arg[3]] : e;
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  fusion *f = context;
  (void)e, (void)old;
  opt_map_operands(&f->map, s);
  if (s->op != VYRE_STMT_LET || !f->lets[s->arg[4]].moves) return OPT_KEEP;
  f->value[s->arg[4]] = s->arg[0];
  opt_note(f->c, "single_use", s->pos, 0);
  return OPT_DROP;
}

bool opt_pass_fusion(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  fusion f = { .c = c, .unit = c->unit };
  size_t vars = (size_t)c->unit->program->vars.count + 1;
  f.lets = calloc(vars, sizeof *f.lets);
  f.value = calloc(vars, sizeof *f.value);
  if (f.lets == NULL || f.value == NULL) c->unit->fault = OPT_NO_MEMORY;
  else if (opt_changes_begin(&f.changes, c->unit)) find(&f);
  f.map = opt_map_begin(c->unit, replace, &f);
  bool changed = c->unit->fault == OPT_FINE && opt_rewrite(c->unit, &rewriter, &f);
  opt_map_end(&f.map);
  opt_changes_end(&f.changes);
  free(f.lets);
  free(f.value);
  return changed;
}
