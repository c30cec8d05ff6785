/* Dead code: what nobody sees goes. What is seen is found from what must happen: effects, and what the way to them and
 * their operands need. */
#include "opt/pass.h"

#include <stdlib.h>

#include "ir/walk.h"
#include "opt/passes/dead_assigns.h"

enum { MOST_RUNS = 16 };

typedef struct dce {
  opt_context *c;
  opt_unit *unit;
  const opt_facts *facts;
  uint8_t *assigns;  /* by statement, of dead_assigns.h */
  uint8_t *live;     /* by statement */
  uint8_t *needed;   /* by variable: somebody reads it */
  uint8_t *seen;     /* by expression */
  uint32_t *first;   /* by variable and, behind these, by loop: its first definition or jump ... */
  uint32_t *next;    /* ... and by statement the next one */
  VYRE_VECTOR(uint32_t) work; /* live statements to look at */
} dce;

/* ---- What never runs ------------------------------------------------------------------------- */

static bool is_pure_of_place(const opt_unit *u, uint32_t e) {
  return (opt_flags(u, e) & (OPT_EFFECT | OPT_READS_MEMORY)) == 0;
}

/* A loop that no value of its operands gives a turn, and whose operands nobody misses. */
static bool has_no_turns(const opt_unit *u, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(u, stmt);
  uint64_t trips;
  if (s->op != VYRE_STMT_FOR) return false;
  if (opt_trip_count(u, stmt, &trips)) return trips == 0;
  if (!is_pure_of_place(u, s->arg[0]) || !is_pure_of_place(u, s->arg[1])) return false;
  if (s->arg[0] == s->arg[1]) return s->arg[2] == 0 || opt_can_drop(u, s->arg[2]);
  if (s->arg[2] == 0 || !opt_is_literal(u, s->arg[2])) return false;
  return ir_literal_bits(opt_at(u, s->arg[2])) == 0 ||
         (!ir_is_unsigned(opt_type(u, s->arg[2])) && opt_signed_value(u, s->arg[2]) < 0);
}

/* Of an IF whose condition is a literal. */
static bool is_decided(const opt_unit *u, const ir_stmt *s) {
  return s->op == VYRE_STMT_IF && opt_is_literal(u, s->arg[0]);
}
static bool takes_body(const opt_unit *u, const ir_stmt *s) { return ir_literal_bits(opt_at(u, s->arg[0])) != 0; }

/* The first statement at or behind |stmt| that may run. */
static uint32_t skip_dead(const dce *d, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(d->unit, stmt);
  const opt_stmt_facts *f = &d->facts->stmt[stmt];
  const ir_stmt *owner = opt_stmt(d->unit, f->parent);
  bool begins_orelse = f->parent != 0 && owner->orelse == stmt;
  if (begins_orelse && is_decided(d->unit, owner) && takes_body(d->unit, owner))
    return d->facts->stmt[f->parent].last + 1;
  if (has_no_turns(d->unit, stmt)) return f->last + 1;
  if (is_decided(d->unit, s) && !takes_body(d->unit, s)) return s->orelse != 0 ? s->orelse : f->last + 1;
  return stmt;
}

/* ---- What is seen ---------------------------------------------------------------------------- */

static bool drops_operands(const opt_unit *u, const ir_stmt *s) {
  uint32_t count;
  const uint32_t *operands = opt_operands(u, s, &count);
  for (uint32_t i = 0; i < count; i++)
    if (operands[i] != 0 && !opt_can_drop(u, operands[i])) return false;
  return true;
}

static bool is_atomic(const opt_unit *u, uint32_t e) {
  return opt_at(u, e)->op >= VYRE_OP_ATOMIC_ADD && opt_at(u, e)->op <= VYRE_OP_ATOMIC_STORE;
}

/* What happens, whoever reads its result. */
static bool must_happen(const dce *d, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(d->unit, stmt);
  switch (s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR:
    case VYRE_STMT_ASSIGN:
    case VYRE_STMT_EVAL:
    case VYRE_STMT_IF:
    case VYRE_STMT_FOR: return !drops_operands(d->unit, s);
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE:
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION: return false;
    default: return true;
  }
}

static void mark(dce *d, uint32_t stmt) {
  if (stmt == 0 || d->live[stmt]) return;
  d->live[stmt] = 1;
  if (!vyre_vector_push(&d->work, stmt)) d->unit->fault = OPT_NO_MEMORY;
}

static void mark_all(dce *d, uint32_t stmt) {
  for (; stmt != 0; stmt = d->next[stmt]) mark(d, stmt);
}

/* No deeper than expressions are. */
static void need(dce *d, uint32_t e) {
  if (e == 0 || d->seen[e]) return;
  d->seen[e] = 1;
  const ir_expr *node = opt_at(d->unit, e);
  for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) need(d, node->arg[i]);
  if (node->op != VYRE_OP_VAR) return;
  d->needed[node->arg[3]] = 1;
  mark_all(d, d->first[node->arg[3]]);
}

static uint32_t *jumps_of(dce *d, uint32_t loop) { return &d->first[d->unit->program->vars.count + loop]; }

static void mark_what_it_needs(dce *d, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(d->unit, stmt);
  uint32_t count;
  const uint32_t *operands = opt_operands(d->unit, s, &count);
  for (uint32_t i = 0; i < count; i++) need(d, operands[i]);
  mark(d, d->facts->stmt[stmt].parent);
  if (ir_is_loop(s)) mark_all(d, *jumps_of(d, stmt));
  /* An assignment that can't become an atomic alone needs its declaration. */
  if (s->op == VYRE_STMT_ASSIGN && !is_atomic(d->unit, s->arg[0])) need(d, opt_var_value(d->unit, s->arg[4]));
}

/* Definitions of variables, and jumps of loops: they are kept if their loop is. */
static void list_definitions(dce *d) {
  VYRE_VECTOR(uint32_t) loops = { 0 };
  ir_walk walk = ir_walk_begin(d->unit->program);
  for (ir_walk_event event; (event = ir_walk_next(&walk)) != IR_WALK_END && d->unit->fault == OPT_FINE;) {
    const ir_stmt *s = opt_stmt(d->unit, walk.stmt);
    uint32_t *list = NULL;
    bool defines = s->op == VYRE_STMT_LET || s->op == VYRE_STMT_VAR || s->op == VYRE_STMT_ASSIGN;
    bool dead = d->assigns[walk.stmt] == OPT_OVERWRITTEN || d->assigns[walk.stmt] == OPT_NEVER_READ;
    if (event == IR_WALK_BODY && ir_is_loop(s) && !vyre_vector_push(&loops, walk.stmt)) d->unit->fault = OPT_NO_MEMORY;
    if (event == IR_WALK_LEAVE && ir_is_loop(s)) loops.count--;
    if (event != IR_WALK_STMT) continue;
    if (defines && !dead) list = &d->first[s->arg[4]];
    if (s->op == VYRE_STMT_BREAK || s->op == VYRE_STMT_CONTINUE) list = jumps_of(d, loops.data[loops.count - 1]);
    if (list == NULL) continue;
    d->next[walk.stmt] = *list;
    *list = walk.stmt;
  }
  if (!ir_walk_finish(&walk)) d->unit->fault = OPT_NO_MEMORY;
  vyre_vector_free(&loops);
}

static void find_live(dce *d) {
  list_definitions(d);
  for (uint32_t s = 1; s < d->unit->program->stmts.count;) {
    uint32_t runs = skip_dead(d, s);
    if (runs == s && must_happen(d, s)) mark(d, s);
    s = runs == s ? s + 1 : runs;
  }
  while (d->work.count > 0 && d->unit->fault == OPT_FINE) mark_what_it_needs(d, d->work.data[--d->work.count]);
}

/* ---- Rewriting ------------------------------------------------------------------------------- */

static opt_action drop(dce *d, const char *rule, uint32_t stmt) {
  opt_note(d->c, rule, opt_stmt(d->unit, stmt)->pos, d->facts->stmt[stmt].cost);
  return OPT_DROP;
}

static const char *rule_for_dead(const dce *d, uint32_t stmt) {
  switch (opt_stmt(d->unit, stmt)->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR: return d->assigns[stmt] == OPT_OVERWRITTEN ? "late_declaration" : "unused_let";
    case VYRE_STMT_ASSIGN: return d->assigns[stmt] == OPT_OVERWRITTEN ? "overwritten" : "dead_assign";
    case VYRE_STMT_IF: return "empty_if";
    case VYRE_STMT_FOR: return "empty_loop";
    default: return "nothing";
  }
}

/* The end of a block that comes to its end anyway. */
static bool is_idle_jump(const dce *d, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(d->unit, stmt), *owner = opt_stmt(d->unit, d->facts->stmt[stmt].parent);
  uint32_t parent = d->facts->stmt[stmt].parent;
  if (s->next != 0) return false;
  return s->op == VYRE_STMT_RETURN ? parent == 0 : s->op == VYRE_STMT_CONTINUE && ir_is_loop(owner);
}

static opt_action take_arm(dce *d, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(d->unit, stmt);
  opt_note(d->c, "decided_if", s->pos, 0);
  return takes_body(d->unit, s) ? OPT_SPLICE_BODY : OPT_SPLICE_ORELSE;
}

/* An atomic whose result nobody reads stands alone. */
static void drop_result(dce *d, ir_stmt *s) {
  bool defines = s->op == VYRE_STMT_LET || s->op == VYRE_STMT_VAR || s->op == VYRE_STMT_ASSIGN;
  if (!defines || d->needed[s->arg[4]] || !is_atomic(d->unit, s->arg[0])) return;
  opt_note(d->c, "unused_result", s->pos, 0);
  *s = (ir_stmt){ .op = VYRE_STMT_EVAL, .arg = { s->arg[0] }, .pos = s->pos };
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  dce *d = context;
  (void)e;
  bool self = s->op == VYRE_STMT_ASSIGN && s->arg[0] == opt_var_value(d->unit, s->arg[4]);
  if (self) return drop(d, "self_assign", old);
  if (has_no_turns(d->unit, old)) return drop(d, "no_turns", old);
  if (is_decided(d->unit, s)) return take_arm(d, old);
  if (!d->live[old]) return drop(d, rule_for_dead(d, old), old);
  if (is_idle_jump(d, old)) return drop(d, "idle_jump", old);
  if (s->op == VYRE_STMT_BLOCK) return OPT_SPLICE_BODY;
  if (d->assigns[old] == OPT_DECLARES && d->needed[s->arg[4]]) s->op = VYRE_STMT_VAR;
  drop_result(d, s);
  return OPT_KEEP;
}

static bool prepare(dce *d) {
  const vyre_program *p = d->unit->program;
  d->facts = opt_facts_of(d->unit);
  d->assigns = d->facts != NULL ? opt_dead_assigns(d->unit, d->facts) : NULL;
  if (d->assigns == NULL) return false;
  size_t exprs = (size_t)p->exprs.count + p->vars.count + 1; /* with a value for each variable */
  d->live = calloc(p->stmts.count, 1);
  d->needed = calloc((size_t)p->vars.count + 1, 1);
  d->seen = calloc(exprs, 1);
  d->first = calloc((size_t)p->vars.count + p->stmts.count, sizeof *d->first);
  d->next = calloc(p->stmts.count, sizeof *d->next);
  if (d->live != NULL && d->needed != NULL && d->seen != NULL && d->first != NULL && d->next != NULL) return true;
  d->unit->fault = OPT_NO_MEMORY;
  return false;
}

static bool run(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  dce d = { .c = c, .unit = c->unit };
  bool changed = false;
  if (prepare(&d)) {
    find_live(&d);
    changed = opt_rewrite(c->unit, &rewriter, &d);
  }
  free(d.assigns);
  free(d.live);
  free(d.needed);
  free(d.seen);
  free(d.first);
  free(d.next);
  vyre_vector_free(&d.work);
  return changed;
}

/* What has gone may have been all that needed something else in a way that the search for what is seen takes for one:
 * an arm that is never taken, an assignment that nobody reads. */
bool opt_pass_dce(opt_context *c) {
  uint32_t runs = 0;
  while (runs < MOST_RUNS && run(c)) runs++;
  return runs > 0;
}
