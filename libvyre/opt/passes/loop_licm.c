/* Loop-invariant code motion: what has the same value in every turn is computed once, before the loop.
 *
 * Moved are whole `let`s and, where a statement evaluates it in every turn, the largest parts of an expression that do
 * not change. Out of how many loops a value can go is its level: 0 for before all of them, the number of loops around
 * it for not at all. A value goes out of a loop only if the loop evaluates it without a condition, so that work that is
 * seldom done does not become work that always is; a loop that may have no turns is no condition.
 *
 * Moved is what is pure, or loads what can't change: out of range such a load is 0, so it can go anywhere. */
#include <string.h>

#include "opt/pass.h"

typedef struct item {
  uint32_t loop, next; /* loop that it goes before; the next item of that loop */
  uint32_t stmt;       /* a let that moves, or 0 */
  uint32_t expr;       /* a part of an expression that gets a let of its own, or 0 */
  uint32_t var;
} item;

typedef struct motion {
  opt_context *c;
  const opt_facts *facts;
  VYRE_VECTOR(uint32_t) loops;    /* around the present place, outermost first */
  VYRE_VECTOR(uint32_t) floors;   /* of each open statement: loops around the innermost condition */
  uint32_t floor;
  uint16_t *home;                 /* by variable: loops around its declaration, once lets have moved */
  VYRE_VECTOR(uint32_t) assigns;  /* statements, sorted by variable; those of one from first_assign[v] on */
  uint32_t *first_assign;
  VYRE_VECTOR(item) items;
  uint32_t *first, *last;         /* by loop: its items */
  uint8_t *moves;                 /* by statement: a let that moves */
  VYRE_VECTOR(uint64_t) level;    /* by expression: epoch << 32 | level */
  VYRE_VECTOR(uint64_t) stands;   /* by expression: epoch << 32 | what stands for it in the second walk */
  uint32_t epoch, exprs;          /* expressions when the pass began */
  VYRE_VECTOR(uint32_t) replaced; /* while their loops are open: expressions that have a variable */
  uint32_t *variable;             /* by expression: that variable + 1 */
} motion;

static void out_of_memory(motion *m) {
  if (m->c->unit->fault == OPT_FINE) m->c->unit->fault = OPT_NO_MEMORY;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Whether a variable is assigned in the statement |loop| or inside of it. */
static bool is_assigned_in(const motion *m, uint32_t var, uint32_t loop) {
  uint32_t low = m->first_assign[var], end = m->first_assign[var + 1], high = end;
  while (low < high) { /* the first assignment behind the start of the loop */
    uint32_t middle = (low + high) / 2;
    if (m->assigns.data[middle] < loop) low = middle + 1;
    else high = middle;
  }
  return low < end && m->assigns.data[low] <= m->facts->stmt[loop].last;
}

static uint32_t level_of_var(const motion *m, uint32_t var) {
  uint32_t level = m->home[var];
  if (m->first_assign[var] == m->first_assign[var + 1]) return level;
  while (level < m->loops.count && is_assigned_in(m, var, m->loops.data[level])) level++;
  return level;
}

enum { UNMOVABLE = OPT_READS_MEMORY | OPT_EFFECT | OPT_CONVERGENT };

/* No deeper than expressions are. */
static uint32_t level_of(motion *m, uint32_t e) {
  const opt_unit *u = m->c->unit;
  const ir_expr *node = opt_at(u, e);
  if ((opt_flags(u, e) & UNMOVABLE) != 0) return m->loops.count;
  if (node->op == VYRE_OP_VAR) return level_of_var(m, node->arg[3]);
  if (ir_op_arity[node->op] == 0) return 0;
  if (m->level.data[e] >> 32 == m->epoch) return (uint32_t)m->level.data[e];
  uint32_t level = 0;
  for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) {
    uint32_t below = level_of(m, node->arg[i]);
    if (below > level) level = below;
  }
  m->level.data[e] = (uint64_t)m->epoch << 32 | level;
  return level;
}

/* ---- The first walk: what moves, and where to ------------------------------------------------ */

static void add_item(motion *m, uint32_t loop, item it) {
  it.loop = loop;
  it.var = UINT32_MAX;
  if (!vyre_vector_push(&m->items, it)) {
    out_of_memory(m);
    return;
  }
  uint32_t number = m->items.count; /* from 1 on */
  if (m->first[loop] == 0) m->first[loop] = number;
  else m->items.data[m->last[loop] - 1].next = number;
  m->last[loop] = number;
}

/* Whether a part is worth a variable of its own. */
static bool is_worth_it(const opt_unit *u, uint32_t e) {
  return ir_op_arity[opt_at(u, e)->op] > 0 && opt_meta_of(u, e)->cost > 0;
}

/* Finds the largest parts of |e| that can go before one of the loops; |depth| loops are around it. What has gone
 * already is found again by its entry in |stands|, which the first walk uses for that. */
static void find_parts(motion *m, uint32_t e, uint32_t depth) {
  const opt_unit *u = m->c->unit;
  const ir_expr *node = opt_at(u, e);
  if (ir_op_arity[node->op] == 0 || m->stands.data[e] >> 32 == m->epoch) return;
  uint32_t level = level_of(m, e);
  if (level < m->floor) level = m->floor;
  m->stands.data[e] = (uint64_t)m->epoch << 32;
  if (level < depth && is_worth_it(u, e)) {
    add_item(m, m->loops.data[level], (item){ .expr = e });
    depth = level;
  }
  for (uint32_t i = 0; i < ir_op_arity[node->op]; i++) find_parts(m, node->arg[i], depth);
}

static void look_at(motion *m, uint32_t stmt) {
  opt_unit *u = m->c->unit;
  const ir_stmt *s = opt_stmt(u, stmt);
  uint32_t depth = m->loops.count, count;
  const uint32_t *operands = opt_operands(u, s, &count);
  if (s->op == VYRE_STMT_LET || s->op == VYRE_STMT_VAR || s->op == VYRE_STMT_FOR)
    m->home[s->arg[4]] = (uint16_t)(depth + (s->op == VYRE_STMT_FOR ? 1 : 0));
  if (depth <= m->floor) return;
  uint32_t level = s->op == VYRE_STMT_LET ? level_of(m, s->arg[0]) : depth;
  if (level < m->floor) level = m->floor;
  if (level < depth) {
    m->moves[stmt] = 1;
    m->home[s->arg[4]] = (uint16_t)level;
    add_item(m, m->loops.data[level], (item){ .stmt = stmt });
    return;
  }
  for (uint32_t i = 0; i < count; i++) find_parts(m, operands[i], depth);
}

static bool never_turns(const opt_unit *u, uint32_t stmt) {
  uint64_t trips;
  return opt_trip_count(u, stmt, &trips) && trips == 0;
}

static void open_statement(motion *m, uint32_t stmt) {
  const ir_stmt *s = opt_stmt(m->c->unit, stmt);
  if (!vyre_vector_push(&m->floors, m->floor)) out_of_memory(m);
  if (s->op == VYRE_STMT_IF || never_turns(m->c->unit, stmt)) m->floor = m->loops.count + ir_is_loop(s);
  if (!ir_is_loop(s)) return;
  if (!vyre_vector_push(&m->loops, stmt)) out_of_memory(m);
}

static void close_statement(motion *m, uint32_t stmt) {
  if (m->floors.count > 0) m->floor = m->floors.data[--m->floors.count];
  if (!ir_is_loop(opt_stmt(m->c->unit, stmt)) || m->loops.count == 0) return;
  m->loops.count--;
}

/* Behind a break or continue a loop goes on only sometimes; that is no more of a condition than that it has turns. */
static void find_all(motion *m) {
  opt_unit *u = m->c->unit;
  ir_walk walk = ir_walk_begin(u->program);
  for (ir_walk_event event; u->fault == OPT_FINE && (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    if (event == IR_WALK_STMT) look_at(m, walk.stmt);
    if (event == IR_WALK_BODY) open_statement(m, walk.stmt);
    if (event == IR_WALK_LEAVE) close_statement(m, walk.stmt);
    if (event != IR_WALK_STMT) m->epoch++; /* loops or the floor are others */
  }
  if (!ir_walk_finish(&walk)) out_of_memory(m);
}

/* ---- The second walk ------------------------------------------------------------------------- */

/* An expression as it is now, with variables for the parts that have moved. No deeper than expressions are. */
static uint32_t now_of(motion *m, uint32_t e) {
  opt_unit *u = m->c->unit;
  if (e == 0 || e >= m->exprs) return e;
  if (m->variable[e] != 0) return opt_var_value(u, m->variable[e] - 1);
  ir_expr node = *opt_at(u, e);
  if (ir_op_arity[node.op] == 0 || m->replaced.count == 0) return e;
  if (m->stands.data[e] >> 32 == m->epoch) return (uint32_t)m->stands.data[e];
  bool changed = false;
  for (uint32_t i = 0; i < ir_op_arity[node.op]; i++) {
    uint32_t operand = now_of(m, node.arg[i]);
    changed |= operand != node.arg[i];
    node.arg[i] = operand;
  }
  uint32_t result = changed ? opt_expr(u, node) : e;
  m->stands.data[e] = (uint64_t)m->epoch << 32 | result;
  return result;
}

static void put_item(motion *m, opt_edit *e, item *it) {
  opt_unit *u = m->c->unit;
  if (it->stmt != 0) {
    ir_stmt s = *opt_stmt(u, it->stmt);
    s.arg[0] = now_of(m, s.arg[0]);
    opt_put(e, s);
    opt_note(m->c, "let_hoisted", s.pos, 0);
    return;
  }
  if (m->variable[it->expr] != 0) return; /* it stands before an outer loop */
  uint32_t pos = opt_stmt(u, it->loop)->pos;
  it->var = opt_new_named_var(u, "fixed", opt_type(u, it->expr), VYRE_STMT_LET);
  if (it->var == UINT32_MAX) return;
  opt_put_let(e, it->var, now_of(m, it->expr), pos);
  m->variable[it->expr] = it->var + 1;
  if (!vyre_vector_push(&m->replaced, it->expr)) out_of_memory(m);
  m->epoch++;
  opt_note(m->c, "part_hoisted", pos, opt_meta_of(u, it->expr)->cost);
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  motion *m = context;
  if (m->moves[old]) return OPT_DROP;
  if (ir_is_loop(s))
    for (uint32_t i = m->first[old]; i != 0; i = m->items.data[i - 1].next) put_item(m, e, &m->items.data[i - 1]);
  if (s->op == VYRE_STMT_PRINT || m->replaced.count == 0) return OPT_KEEP;
  for (uint32_t i = 0; i < ir_stmt_arity[s->op]; i++) s->arg[i] = now_of(m, s->arg[i]);
  return OPT_KEEP;
}

/* Behind a loop its variables are still visible, but the place may be another: what read a `var` is no longer it. */
static void leave(void *context, opt_edit *e, uint32_t old) {
  motion *m = context;
  (void)e;
  if (!ir_is_loop(opt_stmt(m->c->unit, old))) return;
  bool any = false;
  for (uint32_t i = m->first[old]; i != 0; i = m->items.data[i - 1].next) {
    const item *it = &m->items.data[i - 1];
    if (it->expr == 0 || it->var == UINT32_MAX || m->variable[it->expr] != it->var + 1) continue;
    m->variable[it->expr] = 0;
    m->replaced.count--;
    any = true;
  }
  if (any) m->epoch++;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool list_assigns(motion *m) {
  const vyre_program *p = m->c->unit->program;
  m->first_assign = calloc((size_t)p->vars.count + 2, sizeof *m->first_assign);
  if (m->first_assign == NULL || !vyre_vector_reserve(&m->assigns, p->stmts.count)) return false;
  for (uint32_t s = 1; s < p->stmts.count; s++)
    if (p->stmts.data[s].op == VYRE_STMT_ASSIGN) m->first_assign[p->stmts.data[s].arg[4] + 2]++;
  for (uint32_t v = 2; v < p->vars.count + 2; v++) m->first_assign[v] += m->first_assign[v - 1];
  for (uint32_t s = 1; s < p->stmts.count; s++)
    if (p->stmts.data[s].op == VYRE_STMT_ASSIGN) {
      uint32_t at = m->first_assign[p->stmts.data[s].arg[4] + 1]++;
      m->assigns.data[at] = s;
      m->assigns.count++;
    }
  return true;
}

static bool prepare(motion *m) {
  const vyre_program *p = m->c->unit->program;
  uint32_t exprs = m->exprs = p->exprs.count;
  m->home = calloc((size_t)p->vars.count + 1, sizeof *m->home);
  m->first = calloc(p->stmts.count, sizeof *m->first);
  m->last = calloc(p->stmts.count, sizeof *m->last);
  m->moves = calloc(p->stmts.count, 1);
  m->variable = calloc(exprs, sizeof *m->variable);
  bool room = vyre_vector_reserve(&m->level, exprs) && vyre_vector_reserve(&m->stands, exprs);
  if (!room || m->home == NULL || m->first == NULL || m->last == NULL || m->moves == NULL || m->variable == NULL)
    return false;
  memset(m->level.data, 0, exprs * sizeof *m->level.data);
  memset(m->stands.data, 0, exprs * sizeof *m->stands.data);
  return list_assigns(m);
}

static void clean_up(motion *m) {
  vyre_vector_free(&m->loops);
  vyre_vector_free(&m->floors);
  vyre_vector_free(&m->assigns);
  vyre_vector_free(&m->items);
  vyre_vector_free(&m->level);
  vyre_vector_free(&m->stands);
  vyre_vector_free(&m->replaced);
  free(m->home);
  free(m->first_assign);
  free(m->first);
  free(m->last);
  free(m->moves);
  free(m->variable);
}

bool opt_pass_loop_licm(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter, .leave = leave };
  motion m = { .c = c, .facts = opt_facts_of(c->unit), .epoch = 1 };
  if (m.facts == NULL || (m.facts->stmt[0].flags & OPT_HAS_LOOP) == 0) return false;
  if (!prepare(&m)) out_of_memory(&m);
  else find_all(&m);
  bool changed = m.items.count > 0 && c->unit->fault == OPT_FINE;
  m.epoch++;
  if (changed) changed = opt_rewrite(c->unit, &rewriter, &m);
  clean_up(&m);
  return changed;
}
