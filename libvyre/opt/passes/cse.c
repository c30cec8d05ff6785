/* Common subexpressions: a value that stands there already is not computed once more. What is met again, in the same
 * block or in one inside it, while nothing that it reads has changed, gets a `let` in front of the statement where it
 * was met first, or uses the one that holds it.
 *
 * Both runs over the statements take the same steps: the first counts how often each value is met again, the second
 * writes. */
#include "opt/changes.h"
#include "opt/pass.h"

#include <stdlib.h>

/* A variable is worth it where it saves as much, by the cost of its value or by how often that is met again. */
enum { WORTH = 2, STEPS_EACH = 32 };

/* One evaluation of an expression whose value may be used again. */
typedef struct value {
  uint32_t expr, before; /* the value of the same expression that it hides, UINT32_MAX for none */
  uint32_t time;
  uint32_t again;  /* how often it is met again */
  uint32_t holder; /* variable that has the value, UINT32_MAX for none */
  uint32_t mapped; /* what it is written as */
  bool may_bind;   /* a `let` may stand in front of the statement */
} value;

typedef struct cse {
  opt_context *c;
  opt_unit *unit;
  opt_changes changes;
  bool writes;          /* the second run */
  VYRE_VECTOR(value) values;
  uint32_t *known;      /* by expression: 1 + its latest value, 0 for none */
  uint32_t *met;        /* by expression: the statement in which it was mapped last, for those that are no values ... */
  uint32_t *met_mapped; /* ... and what it became */
  VYRE_VECTOR(uint32_t) open;   /* values of the open blocks ... */
  VYRE_VECTOR(uint32_t) blocks; /* ... and how many there were when each began */
  uint32_t next_value;
  uint32_t stmt;
  bool may_bind;
  opt_edit *edit;
  uint64_t steps, most_steps;
} cse;

/* ---- Values ---------------------------------------------------------------------------------- */

static bool is_leaf(const opt_unit *u, uint32_t e) { return ir_op_arity[opt_at(u, e)->op] == 0; }

/* The value that an expression has already here, or NULL. */
static value *available(cse *c, uint32_t e) {
  if (c->known[e] == 0) return NULL;
  value *v = &c->values.data[c->known[e] - 1];
  return opt_unchanged_since(&c->changes, opt_reads_of(&c->changes, e), v->time) ? v : NULL;
}

/* What is evaluated here and could be used later. */
static bool is_value(const cse *c, uint32_t e) {
  if (is_leaf(c->unit, e) || (opt_flags(c->unit, e) & (OPT_EFFECT | OPT_CONVERGENT)) != 0) return false;
  return !opt_operands_write(&c->changes, opt_reads_of(&c->changes, e));
}

/* In the first run a new value; in the second the same one again. */
static uint32_t begin_value(cse *c, uint32_t e) {
  uint32_t index = c->next_value++;
  if (!c->writes) {
    value v = { .expr = e, .holder = UINT32_MAX, .may_bind = c->may_bind };
    if (!vyre_vector_push(&c->values, v)) c->unit->fault = OPT_NO_MEMORY;
    if (c->unit->fault != OPT_FINE) return index;
  }
  if (!vyre_vector_push(&c->open, index)) c->unit->fault = OPT_NO_MEMORY;
  value *v = &c->values.data[index];
  v->before = c->known[e];
  v->time = c->changes.now;
  c->known[e] = index + 1;
  return index;
}

static bool pays(const cse *c, const value *v) {
  if (v->again == 0 || !v->may_bind) return false;
  return opt_meta_of(c->unit, v->expr)->cost >= WORTH || v->again >= WORTH;
}

/* In front of the statement; |whole| says that the statement itself declares the value. */
static void bind(cse *c, value *v, bool whole) {
  if (whole) return;
  const ir_stmt *s = opt_stmt(c->unit, c->stmt);
  uint32_t var = opt_new_named_var(c->unit, "t", opt_type(c->unit, v->expr), VYRE_STMT_LET);
  if (var == UINT32_MAX) return;
  opt_put_let(c->edit, var, v->mapped, s->pos);
  opt_note(c->c, "common", s->pos, opt_meta_of(c->unit, v->expr)->cost * v->again);
  c->edit->changed = true;
  v->holder = var;
  v->mapped = opt_var_value(c->unit, var);
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static uint32_t visit(cse *c, uint32_t e, bool whole);

static uint32_t visit_operands(cse *c, uint32_t e) {
  ir_expr node = *opt_at(c->unit, e);
  bool changed = false;
  for (uint32_t i = 0; i < ir_op_arity[node.op]; i++) {
    uint32_t operand = visit(c, node.arg[i], false);
    changed |= operand != node.arg[i];
    node.arg[i] = operand;
  }
  return changed && c->writes ? opt_expr(c->unit, node) : e;
}

static uint32_t meet_again(cse *c, value *v) {
  if (!c->writes) v->again++;
  return v->holder != UINT32_MAX ? opt_var_value(c->unit, v->holder) : v->mapped;
}

/* No value of its own, but what is below may be one; in one statement it is looked into once. */
static uint32_t visit_other(cse *c, uint32_t e) {
  if (is_leaf(c->unit, e)) return e;
  if (c->met[e] == c->stmt) return c->met_mapped[e];
  uint32_t mapped = visit_operands(c, e);
  c->met[e] = c->stmt;
  c->met_mapped[e] = mapped;
  return mapped;
}

/* What an expression becomes where the walk is. No deeper than expressions are. */
static uint32_t visit(cse *c, uint32_t e, bool whole) {
  if (e == 0 || c->unit->fault != OPT_FINE) return 0;
  if (c->steps++ > c->most_steps) return e;
  value *known = available(c, e);
  if (known != NULL && !is_leaf(c->unit, e)) return meet_again(c, known);
  if (!is_value(c, e)) return visit_other(c, e);
  uint32_t index = begin_value(c, e), mapped = visit_operands(c, e);
  if (c->unit->fault != OPT_FINE) return 0;
  value *v = &c->values.data[index];
  v->mapped = mapped;
  if (c->writes && pays(c, v)) bind(c, v, whole);
  return v->mapped;
}

/* ---- Statements ------------------------------------------------------------------------------ */

/* An `else if`: a statement in front of it would open a block around it, and chains of them are as long as programs. */
static bool is_else_if(const cse *c, uint32_t stmt) {
  const opt_stmt_facts *f = &c->changes.facts->stmt[stmt];
  return f->in_orelse && opt_stmt(c->unit, stmt)->op == VYRE_STMT_IF && opt_stmt(c->unit, f->parent)->orelse == stmt;
}

/* PRINT's new arguments stand at the end of the lists. */
static void visit_list(cse *c, ir_stmt *s) {
  vyre_program *p = c->unit->program;
  uint32_t count = s->arg[2], from = s->arg[3], to = p->lists.count;
  if (c->writes && !vyre_vector_reserve(&p->lists, count)) c->unit->fault = OPT_NO_MEMORY;
  for (uint32_t i = 0; i < count && c->unit->fault == OPT_FINE; i++) {
    uint32_t mapped = visit(c, p->lists.data[from + i], false);
    if (c->writes) p->lists.data[p->lists.count++] = mapped;
  }
  if (c->writes) s->arg[3] = to;
}

static void visit_statement(cse *c, ir_stmt *s) {
  uint32_t first = c->next_value;
  bool declares = s->op == VYRE_STMT_LET;
  if (s->op == VYRE_STMT_PRINT) {
    visit_list(c, s);
    return;
  }
  for (uint32_t i = 0; i < ir_stmt_arity[s->op]; i++) {
    uint32_t e = s->arg[i], mapped = visit(c, e, declares);
    if (c->writes) s->arg[i] = mapped;
    if (c->unit->fault != OPT_FINE) return;
    bool holds = declares && c->next_value > first && c->values.data[first].expr == e;
    if (holds) c->values.data[first].holder = s->arg[4];
  }
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  cse *c = context;
  opt_changes_at(&c->changes, old);
  c->edit = e;
  c->stmt = old;
  c->may_bind = !is_else_if(c, old);
  visit_statement(c, s);
  return OPT_KEEP;
}

static void begin_block(void *context, opt_edit *e, uint32_t owner, bool orelse) {
  cse *c = context;
  (void)e;
  opt_changes_block(&c->changes, owner, orelse);
  if (!vyre_vector_push(&c->blocks, c->open.count)) c->unit->fault = OPT_NO_MEMORY;
}

/* Values of a block are none behind it. */
static void end_block(void *context, opt_edit *e, uint32_t owner, bool orelse) {
  cse *c = context;
  (void)orelse;
  for (uint32_t first = c->blocks.data[--c->blocks.count]; c->open.count > first;) {
    const value *v = &c->values.data[c->open.data[--c->open.count]];
    c->known[v->expr] = v->before;
  }
  if (owner == 0 && !c->writes) e->changed = false;
}

static void leave(void *context, opt_edit *e, uint32_t old) {
  cse *c = context;
  (void)e;
  opt_changes_leave(&c->changes, old);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool run(cse *c, bool writes) {
  static const opt_rewriter rewriter = { .enter = enter, .block = begin_block, .end = end_block, .leave = leave };
  const vyre_program *p = c->unit->program;
  size_t exprs = p->exprs.count;
  c->writes = writes;
  c->next_value = 0;
  c->steps = 0;
  c->known = calloc(exprs, sizeof *c->known);
  c->met = calloc(exprs, sizeof *c->met);
  c->met_mapped = calloc(exprs, sizeof *c->met_mapped);
  bool fine = opt_changes_begin(&c->changes, c->unit) && c->known != NULL && c->met != NULL && c->met_mapped != NULL;
  if (!fine) c->unit->fault = OPT_NO_MEMORY;
  bool changed = fine && opt_rewrite(c->unit, &rewriter, c);
  opt_changes_end(&c->changes);
  free(c->known);
  free(c->met);
  free(c->met_mapped);
  c->blocks.count = c->open.count = 0;
  return changed;
}

bool opt_pass_cse(opt_context *context) {
  cse c = { .c = context, .unit = context->unit };
  c.most_steps = STEPS_EACH * ((uint64_t)c.unit->program->stmts.count + c.unit->program->exprs.count);
  run(&c, false);
  bool again = false;
  for (uint32_t i = 0; i < c.values.count && !again; i++) again = c.values.data[i].again > 0;
  bool changed = again && c.unit->fault == OPT_FINE && run(&c, true);
  vyre_vector_free(&c.values);
  vyre_vector_free(&c.open);
  vyre_vector_free(&c.blocks);
  return changed;
}
