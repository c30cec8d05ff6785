/* Levels only sink along dependences: a value is as weak as its operands, a variable as its values and
 * the flow at its assignments, flow as the conditions around it and the jumps that can skip it. All
 * this is one graph whose nodes start with the level that they have by themselves. The solution is
 * reachability: first everything that a divergent node reaches is divergent, then what is left and
 * reached by a subgroup node, and so on. Each edge is followed at most once, whatever loops there are.
 *
 * Flow is kept apart in two nodes: `forward`, what conditions and jumps before a place do to it, and
 * `again`, what jumps out of the loops around it do to later turns. A `continue` is in the first only:
 * it skips the rest of its turn, but every invocation begins the next one.
 *
 * Jumps have a flow of their own, `leaving`: there the condition of an `if` inside a loop, behind a
 * barrier of the loop's own block, may hold ordinary loads of shared memory if they are settled
 * (ir/settled.h). For them a second node stands beside an expression, its twin, in which settled loads
 * are uniform over the workgroup. Everywhere else such loads diverge. */
#include "ir/uniform.h"

#include <string.h>

#include "ir/settled.h"
#include "ir/walk.h"

enum { NONE = 0 }; /* node of expression 0: uniform over the grid, nothing weakens it */

typedef struct edge {
  uint32_t from, to; /* |to| is at least as weak as |from| */
} edge;

/* Expressions come first among the nodes, then variables. */
typedef struct graph {
  VYRE_VECTOR(uint8_t) levels;
  VYRE_VECTOR(edge) edges;
  bool failed;
} graph;

/* Where jumps of an open if or loop can go: nodes that collect the flow at which they are taken. */
typedef struct frame {
  uint32_t forward, leaving, again;  /* flow at the statement itself */
  uint32_t arm_forward, arm_leaving; /* flow at the start of its blocks */
  uint32_t own;                      /* of a loop: what all jumps out of it do to its later turns */
  uint32_t returns, breaks, continues;
  bool behind_barrier; /* of a loop: a barrier of its own block has been met */
} frame;

typedef struct analysis {
  const vyre_program *p;
  graph g;
  uint32_t vars; /* node of variable 0 */
  /* Where loads can be settled, else NULL: */
  uint32_t *twins;   /* of each expression: node in which settled loads are uniform, NONE if that makes no difference */
  uint64_t *settles; /* the buffers whose loads it takes as settled */
  uint32_t *lets;    /* of each variable that is a let: its statement */
  uint32_t *flow_nodes[3]; /* of each statement: forward, again, leaving */
  const ir_intervals *intervals;
  ir_settled settled;
  VYRE_VECTOR(frame) frames;
  uint32_t forward, leaving, again; /* flow where the walk is */
  uint32_t barrier_loops;           /* open loops that are behind a barrier of their own block */
} analysis;

/* ---- The graph ----------------------------------------------------------------------------- */

static uint32_t add_node(graph *g, ir_level level) {
  if (vyre_vector_push(&g->levels, (uint8_t)level)) return g->levels.count - 1;
  g->failed = true;
  return NONE;
}

static void weaken(graph *g, uint32_t to, uint32_t from) {
  if (from == NONE || from == to) return;
  if (!vyre_vector_push(&g->edges, ((edge){ from, to }))) g->failed = true;
}

/* The weaker of two: a node that exists if one will do. */
static uint32_t weaker(graph *g, uint32_t x, uint32_t y) {
  if (x == NONE || x == y) return y;
  if (y == NONE) return x;
  uint32_t node = add_node(g, IR_LEVEL_GRID);
  weaken(g, node, x);
  weaken(g, node, y);
  return node;
}

/* Lets |from| weaken a collecting node, which is made when the first one comes. */
static void collect(graph *g, uint32_t *collector, uint32_t from) {
  if (from == NONE) return;
  if (*collector == NONE) *collector = add_node(g, IR_LEVEL_GRID);
  weaken(g, *collector, from);
}

/* Edges in order of their start: those of node n are targets[starts[n]] up to targets[starts[n + 1]]. */
typedef struct sorted_edges {
  uint32_t *starts, *targets;
} sorted_edges;

static bool sort_edges(const graph *g, sorted_edges *sorted) {
  sorted->starts = calloc((size_t)g->levels.count + 2, sizeof *sorted->starts);
  sorted->targets = malloc(((size_t)g->edges.count + 1) * sizeof *sorted->targets);
  if (sorted->starts == NULL || sorted->targets == NULL) return false;
  uint32_t *ends = sorted->starts + 1; /* the end of each node's edges moves up to its place as they are filled in */
  for (uint32_t i = 0; i < g->edges.count; i++) ends[g->edges.data[i].from + 1]++;
  for (uint32_t n = 0; n < g->levels.count; n++) ends[n + 1] += ends[n];
  for (uint32_t i = 0; i < g->edges.count; i++) sorted->targets[ends[g->edges.data[i].from]++] = g->edges.data[i].to;
  return true;
}

/* Gives all that |stack| reaches the level of its start, unless it is weaker already. */
static uint64_t spread(graph *g, const sorted_edges *edges, uint32_t *stack, uint32_t depth) {
  uint64_t work = 0;
  uint8_t level = g->levels.data[stack[0]];
  while (depth > 0) {
    uint32_t node = stack[--depth];
    for (uint32_t i = edges->starts[node]; i < edges->starts[node + 1]; i++, work++) {
      uint32_t target = edges->targets[i];
      if (g->levels.data[target] >= level) continue;
      g->levels.data[target] = level;
      stack[depth++] = target;
    }
  }
  return work;
}

static bool solve(graph *g, uint64_t *work) {
  sorted_edges edges = { NULL, NULL };
  uint32_t *stack = malloc(((size_t)g->levels.count + 1) * sizeof *stack);
  bool good = stack != NULL && sort_edges(g, &edges);
  for (uint8_t level = IR_LEVEL_DIVERGENT; good && level > IR_LEVEL_GRID; level--) {
    uint32_t depth = 0;
    for (uint32_t n = 0; n < g->levels.count; n++)
      if (g->levels.data[n] == level) stack[depth++] = n;
    if (depth > 0) *work += spread(g, &edges, stack, depth);
  }
  free(stack);
  free(edges.starts);
  free(edges.targets);
  return good;
}

/* ---- Expressions --------------------------------------------------------------------------- */

/* The level that an operator has by itself; |*follows| if it is also as weak as its operands. */
static ir_level own_level(const vyre_program *p, const ir_expr *e, bool *follows) {
  *follows = false;
  switch (e->op) {
    case VYRE_OP_WID:
    case VYRE_OP_SHOULD_STOP:
    case VYRE_OP_WORKGROUP_UNIFORM_LOAD: return IR_LEVEL_WORKGROUP;
    case VYRE_OP_SUBGROUP_ID:
    case VYRE_OP_SUBGROUP_ADD:
    case VYRE_OP_SUBGROUP_MUL:
    case VYRE_OP_SUBGROUP_MIN:
    case VYRE_OP_SUBGROUP_MAX:
    case VYRE_OP_SUBGROUP_AND:
    case VYRE_OP_SUBGROUP_OR:
    case VYRE_OP_SUBGROUP_XOR:
    case VYRE_OP_SUBGROUP_ANY:
    case VYRE_OP_SUBGROUP_ALL:
    case VYRE_OP_SUBGROUP_BALLOT:
    case VYRE_OP_SUBGROUP_BROADCAST: return IR_LEVEL_SUBGROUP;
    case VYRE_OP_GRID_UNIFORM_LOAD: return IR_LEVEL_GRID;
    case VYRE_OP_GID:
    case VYRE_OP_LID:
    case VYRE_OP_LANE:
    case VYRE_OP_CLOCK_NS: return IR_LEVEL_DIVERGENT;
    case VYRE_OP_LOAD: {
      uint8_t access = p->buffers.data[e->arg[3]].access;
      *follows = access == VYRE_ACCESS_READ || access == VYRE_ACCESS_TABLE;
      return *follows ? IR_LEVEL_GRID : IR_LEVEL_DIVERGENT;
    }
    default: break;
  }
  if ((e->op >= VYRE_OP_ATOMIC_ADD && e->op <= VYRE_OP_ATOMIC_STORE) ||
      (e->op >= VYRE_OP_SUBGROUP_ADD && e->op <= VYRE_OP_SUBGROUP_SHUFFLE_DOWN))
    return IR_LEVEL_DIVERGENT;
  *follows = true;
  return IR_LEVEL_GRID;
}

/* Adds one expression. A level that no variable can weaken any more is final at once and needs no edges; |open| says of
 * each expression whether its is not. */
static void add_expression(analysis *a, uint32_t i, uint8_t *open) {
  const ir_expr *e = ir_expr_at(a->p, i);
  bool follows;
  uint8_t level = (uint8_t)own_level(a->p, e, &follows), weakest = 0;
  open[i] = e->op == VYRE_OP_VAR;
  for (uint32_t k = 0; follows && k < ir_op_arity[e->op]; k++) {
    if (a->g.levels.data[e->arg[k]] > weakest) weakest = a->g.levels.data[e->arg[k]];
    open[i] |= open[e->arg[k]];
  }
  if (weakest > level) level = weakest;
  open[i] &= level < IR_LEVEL_DIVERGENT;
  add_node(&a->g, (ir_level)level);
  if (!open[i]) return;
  if (e->op == VYRE_OP_VAR) weaken(&a->g, i, a->vars + e->arg[3]);
  for (uint32_t k = 0; k < ir_op_arity[e->op]; k++)
    if (open[e->arg[k]]) weaken(&a->g, i, e->arg[k]);
}

static void add_expressions(analysis *a) {
  graph *g = &a->g;
  /* Most of what will come; growing there step by step would cost more than the analysis. */
  uint8_t *open = calloc(a->p->exprs.count, 1);
  g->failed = open == NULL ||
              !vyre_vector_reserve(&g->levels, a->p->exprs.count + a->p->vars.count + a->p->stmts.count) ||
              !vyre_vector_reserve(&g->edges, a->p->exprs.count + a->p->vars.count + 2 * a->p->stmts.count);
  add_node(g, IR_LEVEL_GRID);
  for (uint32_t i = 1; i < a->p->exprs.count && !g->failed; i++) add_expression(a, i, open);
  for (uint32_t i = 0; i < a->p->vars.count; i++) add_node(g, IR_LEVEL_GRID);
  free(open);
}

/* ---- Twins --------------------------------------------------------------------------------- */

static uint32_t twin_or_self(const analysis *a, uint32_t e) { return a->twins[e] != NONE ? a->twins[e] : e; }

static bool prepare_twins(analysis *a) {
  const vyre_program *p = a->p;
  a->twins = calloc((size_t)p->exprs.count + 1, sizeof *a->twins);
  a->settles = calloc((size_t)p->exprs.count + 1, sizeof *a->settles);
  a->lets = calloc((size_t)p->vars.count + 1, sizeof *a->lets);
  if (a->twins == NULL || a->settles == NULL || a->lets == NULL) return false;
  for (uint32_t s = 1; s < p->stmts.count; s++)
    if (ir_stmt_at(p, s)->op == VYRE_STMT_LET) a->lets[ir_stmt_at(p, s)->arg[4]] = s;
  return true;
}

/* A twin that is as weak as those of the operands. */
static void add_twin(analysis *a, uint32_t i, ir_level level) {
  const ir_expr *e = ir_expr_at(a->p, i);
  a->twins[i] = add_node(&a->g, level);
  for (uint32_t k = 0; k < ir_op_arity[e->op]; k++) {
    weaken(&a->g, a->twins[i], twin_or_self(a, e->arg[k]));
    a->settles[i] |= a->settles[e->arg[k]];
  }
}

/* A let whose value is settled where it is declared stays so. */
static uint32_t twin_of_let(const analysis *a, uint32_t var) {
  uint32_t stmt = a->lets[var];
  if (stmt == 0) return NONE;
  uint32_t value = ir_stmt_at(a->p, stmt)->arg[0];
  return ir_settled_at(&a->settled, stmt, a->settles[value]) ? a->twins[value] : NONE;
}

static void add_twins(analysis *a) {
  for (uint32_t i = 1; i < a->p->exprs.count; i++) {
    const ir_expr *e = ir_expr_at(a->p, i);
    bool follows, twin = false;
    own_level(a->p, e, &follows);
    if (e->op == VYRE_OP_VAR) {
      a->twins[i] = twin_of_let(a, e->arg[3]);
    } else if (e->op == VYRE_OP_LOAD && a->settled.bit[e->arg[3]] != 0) {
      a->settles[i] = a->settled.bit[e->arg[3]];
      add_twin(a, i, IR_LEVEL_WORKGROUP);
    } else if (follows) {
      for (uint32_t k = 0; k < ir_op_arity[e->op]; k++) twin |= a->twins[e->arg[k]] != NONE;
      if (twin) add_twin(a, i, IR_LEVEL_GRID);
    }
  }
}

/* ---- Flow ---------------------------------------------------------------------------------- */

/* The node of an if's condition as jumps inside see it. */
static uint32_t guard(const analysis *a, uint32_t stmt) {
  uint32_t condition = ir_stmt_at(a->p, stmt)->arg[0];
  bool settled = a->twins != NULL && a->barrier_loops > 0 && ir_settled_at(&a->settled, stmt, a->settles[condition]);
  return settled ? twin_or_self(a, condition) : condition;
}

static void assign(analysis *a, uint32_t var, uint32_t value) {
  graph *g = &a->g;
  weaken(g, a->vars + var, value);
  weaken(g, a->vars + var, a->forward);
  weaken(g, a->vars + var, a->again);
}

static void open_frame(analysis *a, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(a->p, stmt);
  graph *g = &a->g;
  frame f = { .forward = a->forward, .leaving = a->leaving, .again = a->again };
  if (s->op == VYRE_STMT_IF) {
    uint32_t as_guard = guard(a, stmt);
    a->forward = weaker(g, f.forward, s->arg[0]);
    a->leaving = as_guard == s->arg[0] && f.leaving == f.forward ? a->forward : weaker(g, f.leaving, as_guard);
  } else {
    for (uint32_t i = 0; i < ir_stmt_arity[s->op]; i++) {
      bool same = a->leaving == a->forward;
      a->forward = weaker(g, a->forward, s->arg[i]);
      a->leaving = same ? a->forward : weaker(g, a->leaving, s->arg[i]);
    }
    f.own = add_node(g, IR_LEVEL_GRID);
    a->again = weaker(g, f.again, f.own);
  }
  f.arm_forward = a->forward;
  f.arm_leaving = a->leaving;
  if (!vyre_vector_push(&a->frames, f)) g->failed = true;
}

/* Behind a statement whose jumps can skip what follows. */
static void resume(analysis *a, const frame *f, uint32_t skips) {
  a->forward = weaker(&a->g, f->forward, skips);
  a->leaving = f->leaving == f->forward ? a->forward : weaker(&a->g, f->leaving, skips);
}

/* Tells the frame around, if there is one, which jumps leave the one that was just closed. */
static void pass_on(analysis *a, uint32_t returns, uint32_t breaks, uint32_t continues) {
  if (a->frames.count == 0) return;
  frame *outer = &a->frames.data[a->frames.count - 1];
  collect(&a->g, &outer->returns, returns);
  collect(&a->g, &outer->breaks, breaks);
  collect(&a->g, &outer->continues, continues);
}

static void close_if(analysis *a, const frame *f) {
  resume(a, f, weaker(&a->g, f->returns, weaker(&a->g, f->breaks, f->continues)));
  pass_on(a, f->returns, f->breaks, f->continues);
}

static void close_loop(analysis *a, const frame *f, uint32_t stmt) {
  weaken(&a->g, f->own, f->breaks);
  weaken(&a->g, f->own, f->returns);
  a->again = f->again;
  a->barrier_loops -= f->behind_barrier;
  /* Who returns in a later turn has not left by another jump before. */
  uint32_t returns = f->returns != NONE ? f->own : NONE;
  a->flow_nodes[2][stmt] = returns;
  resume(a, f, returns);
  pass_on(a, returns, NONE, NONE);
}

static void close_frame(analysis *a, uint32_t stmt) {
  frame f = a->frames.data[--a->frames.count];
  if (ir_stmt_at(a->p, stmt)->op == VYRE_STMT_IF) close_if(a, &f);
  else close_loop(a, &f, stmt);
}

static void jump(analysis *a, uint8_t op) {
  if (a->frames.count == 0) return; /* all that is behind it in this block is unreachable or as uniform as it is */
  frame *f = &a->frames.data[a->frames.count - 1];
  uint32_t *collector = op == VYRE_STMT_BREAK ? &f->breaks : op == VYRE_STMT_CONTINUE ? &f->continues : &f->returns;
  collect(&a->g, collector, a->leaving);
}

static void meet_barrier(analysis *a) {
  if (a->frames.count == 0) return;
  frame *f = &a->frames.data[a->frames.count - 1];
  if (f->own == NONE || f->behind_barrier) return;
  f->behind_barrier = true;
  a->barrier_loops++;
}

static void visit(analysis *a, uint32_t stmt) {
  const ir_stmt *s = ir_stmt_at(a->p, stmt);
  a->flow_nodes[0][stmt] = a->forward;
  a->flow_nodes[1][stmt] = a->again;
  a->flow_nodes[2][stmt] = a->leaving;
  if (ir_holds_barrier(a->intervals, stmt)) meet_barrier(a);
  switch (s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR:
    case VYRE_STMT_ASSIGN: assign(a, s->arg[4], s->arg[0]); break;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE:
    case VYRE_STMT_RETURN:
    case VYRE_STMT_TRAP: jump(a, s->op); break;
    case VYRE_STMT_IF:
    case VYRE_STMT_LOOP: open_frame(a, stmt); break;
    case VYRE_STMT_FOR:
      for (uint32_t i = 0; i < ir_stmt_arity[s->op]; i++) assign(a, s->arg[4], s->arg[i]);
      open_frame(a, stmt);
      break;
    default: break;
  }
}

static void begin_else(analysis *a) {
  const frame *f = &a->frames.data[a->frames.count - 1];
  a->forward = f->arm_forward;
  a->leaving = f->arm_leaving;
}

static void add_flow(analysis *a) {
  ir_walk walk = ir_walk_begin(a->p);
  for (ir_walk_event event; !a->g.failed && (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    if (event == IR_WALK_STMT) visit(a, walk.stmt);
    if (event == IR_WALK_ORELSE) begin_else(a);
    if (event == IR_WALK_LEAVE && ir_is_conditional(ir_stmt_at(a->p, walk.stmt))) close_frame(a, walk.stmt);
  }
  if (!ir_walk_finish(&walk)) a->g.failed = true;
}

/* ---- All of it ----------------------------------------------------------------------------- */

static bool prepare(analysis *a, const vyre_program *p, ir_intervals *intervals) {
  *a = (analysis){ .p = p, .vars = p->exprs.count, .intervals = intervals };
  bool good = true;
  for (int i = 0; i < 3; i++) good &= (a->flow_nodes[i] = malloc(p->stmts.count * sizeof **a->flow_nodes)) != NULL;
  good = good && ir_intervals_create(intervals, p) && ir_settled_create(&a->settled, p, intervals);
  return good && (!a->settled.any || prepare_twins(a));
}

static void release(analysis *a) {
  free(a->twins);
  free(a->settles);
  free(a->lets);
  for (int i = 0; i < 3; i++) free(a->flow_nodes[i]);
  ir_settled_free(&a->settled);
  vyre_vector_free(&a->frames);
  vyre_vector_free(&a->g.levels);
  vyre_vector_free(&a->g.edges);
}

/* Hands the levels of expressions and variables over, and looks up those of statements. */
static bool keep(analysis *a, ir_uniformity *u) {
  const vyre_program *p = a->p;
  size_t stmts = p->stmts.count;
  const uint8_t *levels = u->expr = a->g.levels.data;
  a->g.levels.data = NULL;
  u->var = u->expr + a->vars;
  u->flow = calloc(stmts, 3);
  if (u->flow == NULL) return false;
  u->forward = u->flow + stmts;
  u->leaving = u->forward + stmts;
  for (uint32_t s = 1; s < stmts; s++) {
    uint8_t again = levels[a->flow_nodes[1][s]];
    u->forward[s] = levels[a->flow_nodes[0][s]];
    u->leaving[s] = levels[a->flow_nodes[2][s]];
    u->flow[s] = u->forward[s] > again ? u->forward[s] : again;
  }
  return true;
}

bool ir_uniformity_create(ir_uniformity *u, const vyre_program *p) {
  *u = (ir_uniformity){ 0 };
  analysis a;
  bool good = prepare(&a, p, &u->intervals);
  if (good) {
    add_expressions(&a);
    if (a.settled.any) add_twins(&a);
    add_flow(&a);
    good = !a.g.failed && solve(&a.g, &u->work) && keep(&a, u);
  }
  release(&a);
  return good;
}

void ir_uniformity_free(ir_uniformity *u) {
  free(u->expr);
  free(u->flow);
  ir_intervals_free(&u->intervals);
}

/* ---- The glance ---------------------------------------------------------------------------- */

typedef struct glance {
  const vyre_program *p;
  uint8_t *expr, *stmt;  /* whether each value, or the flow that comes to each statement, could differ */
  uint32_t *declared_by; /* of each variable: its statement */
} glance;

static bool operands_differ(const glance *g, const uint32_t *operands, uint32_t count) {
  uint8_t differ = 0;
  for (uint32_t i = 0; i < count; i++) differ |= g->expr[operands[i]];
  return differ != 0;
}

/* A let and a loop variable are as their values; what flow does to them besides, it does to all in their scope. What is
 * assigned to a var is not followed. */
static bool var_differs(const glance *g, uint32_t var) {
  const ir_stmt *s = ir_stmt_at(g->p, g->declared_by[var]);
  return s->op == VYRE_STMT_VAR || operands_differ(g, s->arg, ir_stmt_arity[s->op]);
}

static void glance_at_expressions(glance *g) {
  const vyre_program *p = g->p;
  for (uint32_t s = 1; s < p->stmts.count; s++) {
    const ir_stmt *stmt = ir_stmt_at(p, s);
    bool declares = stmt->op == VYRE_STMT_LET || stmt->op == VYRE_STMT_VAR || stmt->op == VYRE_STMT_FOR;
    if (declares) g->declared_by[stmt->arg[4]] = s;
  }
  for (uint32_t i = 1; i < p->exprs.count; i++) {
    const ir_expr *e = ir_expr_at(p, i);
    bool follows;
    g->expr[i] = own_level(p, e, &follows) != IR_LEVEL_GRID || (e->op == VYRE_OP_VAR && var_differs(g, e->arg[3])) ||
                 (follows && operands_differ(g, e->arg, ir_op_arity[e->op]));
  }
}

/* Whether a part could come alone to a statement of all, or to one that keeps it from what follows. */
static bool parts_meet(const glance *g, uint32_t s) {
  const ir_stmt *stmt = ir_stmt_at(g->p, s);
  switch (stmt->op) {
    case VYRE_STMT_BARRIER:
    case VYRE_STMT_GRID_BARRIER:
    case VYRE_STMT_COMMIT:
    case VYRE_STMT_WAIT:
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE:
    case VYRE_STMT_RETURN:
    case VYRE_STMT_TRAP: return g->stmt[s];
    case VYRE_STMT_COPY_ASYNC:
      return stmt->aux != 0 && (g->stmt[s] || operands_differ(g, stmt->arg, ir_stmt_arity[stmt->op]));
    default: return false;
  }
}

/* Owners come before what they own. */
static bool glance_at_flow(glance *g) {
  const vyre_program *p = g->p;
  for (uint32_t s = 1; s < p->stmts.count; s++) {
    const ir_stmt *stmt = ir_stmt_at(p, s);
    if (parts_meet(g, s)) return false;
    bool differs = g->stmt[s] || (ir_is_conditional(stmt) && operands_differ(g, stmt->arg, ir_stmt_arity[stmt->op]));
    if (!differs) continue;
    for (uint32_t child = stmt->body; child != 0; child = ir_stmt_at(p, child)->next) g->stmt[child] = 1;
    for (uint32_t child = stmt->orelse; child != 0; child = ir_stmt_at(p, child)->next) g->stmt[child] = 1;
  }
  return true;
}

bool ir_plainly_uniform(const vyre_program *p) {
  glance g = { .p = p,
               .expr = calloc(p->exprs.count, 1),
               .stmt = calloc(p->stmts.count, 1),
               .declared_by = malloc((p->vars.count + 1) * sizeof *g.declared_by) };
  bool plain = g.expr != NULL && g.stmt != NULL && g.declared_by != NULL;
  if (plain) glance_at_expressions(&g);
  plain = plain && glance_at_flow(&g);
  free(g.expr);
  free(g.stmt);
  free(g.declared_by);
  return plain;
}
