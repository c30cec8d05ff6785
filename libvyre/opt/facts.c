/* The facts are made in two sweeps over the statements, which stand in pre-order, and one over the expressions. */
#include "opt/facts.h"

#include <stdlib.h>

static uint64_t add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

void opt_facts_free(opt_facts *f) {
  if (f == NULL) return;
  free(f->stmt);
  free(f->var);
  free(f->uses);
  free(f);
}

/* ---- Loops ----------------------------------------------------------------------------------- */

bool opt_trip_count(const opt_unit *u, uint32_t stmt, uint64_t *trips) {
  const ir_stmt *s = opt_stmt(u, stmt);
  if (s->op != VYRE_STMT_FOR || !opt_is_literal(u, s->arg[0]) || !opt_is_literal(u, s->arg[1])) return false;
  if (s->arg[2] != 0 && !opt_is_literal(u, s->arg[2])) return false;
  vyre_type type = opt_type(u, s->arg[0]);
  uint64_t from = ir_literal_bits(opt_at(u, s->arg[0])), to = ir_literal_bits(opt_at(u, s->arg[1]));
  uint64_t step = s->arg[2] != 0 ? ir_literal_bits(opt_at(u, s->arg[2])) : 1;
  if (!ir_is_unsigned(type)) { /* same distances, order shifted into the unsigned range */
    if (s->arg[2] != 0 && opt_signed_value(u, s->arg[2]) <= 0) step = 0;
    from = (uint64_t)opt_signed_value(u, s->arg[0]) ^ 1ull << 63;
    to = (uint64_t)opt_signed_value(u, s->arg[1]) ^ 1ull << 63;
  }
  *trips = step == 0 || from >= to ? 0 : (to - from - 1) / step + 1;
  return true;
}

static uint64_t turns(const opt_unit *u, uint32_t stmt) {
  uint64_t trips;
  if (!ir_is_loop(opt_stmt(u, stmt))) return 1;
  return opt_trip_count(u, stmt, &trips) ? trips : OPT_UNKNOWN_TRIP;
}

/* ---- One statement --------------------------------------------------------------------------- */

static uint32_t flags_of_expr(uint32_t flags) {
  uint32_t has = 0;
  if (flags & OPT_EFFECT) has |= OPT_HAS_EFFECT;
  if (flags & OPT_CONVERGENT) has |= OPT_HAS_CONVERGENT;
  if (flags & OPT_ATOMIC) has |= OPT_HAS_ATOMIC;
  if (flags & OPT_FENCE) has |= OPT_HAS_FENCE;
  if (flags & OPT_BARRIER) has |= OPT_HAS_BARRIER;
  return has;
}

/* Of the statement alone. Jumps count for what is around them. */
static uint32_t own_flags(vyre_stmt_op op) {
  switch (op) {
    case VYRE_STMT_STORE:
    case VYRE_STMT_PAUSE: return OPT_HAS_EFFECT;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE: return OPT_HAS_BREAK;
    case VYRE_STMT_RETURN: return OPT_HAS_RETURN;
    case VYRE_STMT_TRAP: return OPT_HAS_RETURN | OPT_HAS_EFFECT;
    case VYRE_STMT_PRINT: return OPT_HAS_PRINT | OPT_HAS_EFFECT;
    case VYRE_STMT_BARRIER:
    case VYRE_STMT_GRID_BARRIER: return OPT_HAS_BARRIER | OPT_HAS_EFFECT | OPT_HAS_CONVERGENT;
    case VYRE_STMT_FENCE: return OPT_HAS_FENCE | OPT_HAS_EFFECT;
    case VYRE_STMT_COPY_ASYNC: return OPT_HAS_ASYNC | OPT_HAS_EFFECT;
    case VYRE_STMT_COMMIT:
    case VYRE_STMT_WAIT: return OPT_HAS_ASYNC | OPT_HAS_BARRIER | OPT_HAS_EFFECT | OPT_HAS_CONVERGENT;
    case VYRE_STMT_FOR:
    case VYRE_STMT_LOOP: return OPT_HAS_LOOP;
    default: return 0;
  }
}

/* Cost is of running it once: a loop's own is that of its turns. */
static void note_statement(const opt_unit *u, opt_stmt_facts *f, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(u, stmt);
  uint32_t count;
  const uint32_t *operands = opt_operands(u, s, &count);
  f->flags = own_flags((vyre_stmt_op)s->op);
  f->cost = times(u->costs->stmt[s->op], turns(u, stmt));
  for (uint32_t i = 0; i < count; i++) {
    if (operands[i] == 0) continue;
    const opt_meta *m = opt_meta_of(u, operands[i]);
    f->flags |= flags_of_expr(m->flags);
    f->reads |= m->reads;
    f->writes |= m->writes;
    f->cost = add(f->cost, m->cost);
  }
  if (s->op == VYRE_STMT_STORE) f->writes |= opt_binding_bit(s->arg[4]);
  if (s->op == VYRE_STMT_COPY_ASYNC) {
    f->writes |= opt_binding_bit(s->arg[3]);
    f->reads |= opt_binding_bit(s->arg[4]);
  }
}

static void note_variable(opt_var_facts *var, const ir_stmt *s, uint32_t stmt) {
  switch (s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR:
      var[s->arg[4]].value = s->arg[0];
      var[s->arg[4]].def = stmt;
      break;
    case VYRE_STMT_FOR: var[s->arg[4]].def = stmt; break;
    case VYRE_STMT_ASSIGN: var[s->arg[4]].assigns++; break;
    default: break;
  }
}

/* ---- Trees of statements --------------------------------------------------------------------- */

/* Jumps of a loop's own do not leave it. */
static uint32_t seen_from_outside(const ir_stmt *s, uint32_t flags) {
  return ir_is_loop(s) ? flags & ~(uint32_t)OPT_HAS_BREAK : flags;
}

/* Adds a statement, complete, to the one around it. Both arms of an if are taken to run: it is the sum of them that may
 * not rise. */
static void add_to_parent(const opt_unit *u, opt_stmt_facts *all, uint32_t stmt) {
  opt_stmt_facts *f = &all[stmt], *parent = &all[f->parent];
  parent->flags |= seen_from_outside(opt_stmt(u, stmt), f->flags);
  parent->reads |= f->reads;
  parent->writes |= f->writes;
  parent->cost = add(parent->cost, times(f->cost, turns(u, f->parent)));
  if (f->last > parent->last) parent->last = f->last;
}

static void place_children(const opt_unit *u, opt_stmt_facts *all, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(u, stmt);
  uint16_t loops = (uint16_t)(all[stmt].loops + (ir_is_loop(s) ? 1 : 0));
  for (int second = 0; second < 2; second++)
    for (uint32_t c = second ? s->orelse : s->body; c != 0; c = opt_stmt(u, c)->next) {
      all[c].parent = stmt;
      all[c].loops = loops;
      all[c].in_orelse = (uint16_t)second;
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

static uint32_t add_uses(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }

static void count_uses(const opt_unit *u, opt_facts *f) {
  const vyre_program *p = u->program;
  for (uint32_t s = 1; s < p->stmts.count; s++) {
    uint32_t count;
    const uint32_t *operands = opt_operands(u, opt_stmt(u, s), &count);
    for (uint32_t i = 0; i < count; i++) f->uses[operands[i]] = add_uses(f->uses[operands[i]], 1);
  }
  for (uint32_t e = f->exprs; e-- > 1;) {
    if (f->uses[e] == 0) continue;
    const ir_expr *node = opt_at(u, e);
    for (uint32_t i = 0; i < ir_op_arity[node->op]; i++)
      f->uses[node->arg[i]] = add_uses(f->uses[node->arg[i]], f->uses[e]);
    if (node->op == VYRE_OP_VAR) f->var[node->arg[3]].uses = f->uses[e];
  }
}

static void derive(const opt_unit *u, opt_facts *f) {
  uint32_t count = u->program->stmts.count;
  for (uint32_t s = 0; s < count; s++) {
    const ir_stmt *stmt = opt_stmt(u, s);
    f->stmt[s].last = s;
    if (s != 0) {
      note_statement(u, &f->stmt[s], s);
      note_variable(f->var, stmt, s);
    }
    place_children(u, f->stmt, s);
  }
  for (uint32_t s = count; s-- > 1;) add_to_parent(u, f->stmt, s);
  count_uses(u, f);
}

static opt_facts *make(const opt_unit *u) {
  const vyre_program *p = u->program;
  opt_facts *f = calloc(1, sizeof *f);
  if (f == NULL) return NULL;
  f->exprs = p->exprs.count;
  f->stmt = calloc(p->stmts.count, sizeof *f->stmt);
  f->var = calloc((size_t)p->vars.count + 1, sizeof *f->var);
  f->uses = calloc(f->exprs, sizeof *f->uses);
  if (f->stmt == NULL || f->var == NULL || f->uses == NULL) {
    opt_facts_free(f);
    return NULL;
  }
  derive(u, f);
  return f;
}

const opt_facts *opt_facts_of(opt_unit *u) {
  if (u->facts != NULL && u->facts_generation == u->generation) return u->facts;
  opt_facts_free(u->facts);
  u->facts = make(u);
  u->facts_generation = u->generation;
  if (u->facts == NULL && u->fault == OPT_FINE) u->fault = OPT_NO_MEMORY;
  return u->facts;
}
