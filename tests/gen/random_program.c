/* Random declarations and statements. */
#include "random_program.h"

#include <stdio.h>
#include <string.h>

#include "random_state.h"

enum { NAME_BYTES = 32, MAX_DEPTH = 6, MAX_LOOPS = 3, EXPR_DEPTH = 4, MAX_SHARED = 15 << 10 };

/* ---- Declarations -------------------------------------------------------------------------- */

/* One of the subgroup sizes that may be asked for. */
static void fix_subgroup(generator *g) {
  uint32_t size = 1u << pick(g, 6);
  if (g->options.subgroups == 0 || (g->options.subgroups & size) != 0) vyre_build_subgroup(g->b, size);
}

static void make_attributes(generator *g) {
  static const uint32_t sizes[][3] = { { 1, 1, 1 },  { 32, 1, 1 }, { 64, 1, 1 }, { 7, 1, 1 },
                                       { 100, 1, 1 }, { 8, 4, 1 }, { 3, 5, 2 },  { 128, 1, 1 } };
  const uint32_t *size = sizes[pick(g, sizeof sizes / sizeof *sizes)];
  uint32_t bits = 0;
  if (chance(g, 10)) bits |= VYRE_PROGRAM_NONCOMPOSABLE;
  if (chance(g, 10) && !avoids(g, VYRE_NEED_PROGRESS)) bits |= VYRE_PROGRAM_PROGRESS_WORKGROUPS;
  if (chance(g, 10) && !g->options.reproducible) bits |= VYRE_PROGRAM_CONTRACT;
  if (chance(g, 10) && !g->options.reproducible) bits |= VYRE_PROGRAM_FLUSH;
  memcpy(g->size, size, sizeof g->size);
  vyre_build_workgroup(g->b, size[0], size[1], size[2]);
  vyre_build_attributes(g->b, bits);
  if (chance(g, 30) && !avoids(g, VYRE_NEED_SUBGROUP)) fix_subgroup(g);
  if (g->options.reproducible) vyre_build_ulp(g->b, 0);
  else if (chance(g, 40)) vyre_build_ulp(g->b, pick(g, 5));
  if (chance(g, 15)) vyre_build_op(g->b, chance(g, 50) ? "random.program" : "random.other");
}

static void make_params(generator *g) {
  g->param_count = pick(g, MAX_PARAMS + 1);
  for (uint32_t i = 0; i < g->param_count; i++) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "p%u", i);
    vyre_type type = pick_scalar(g);
    g->params[i] = (parameter){ vyre_build_param(g->b, name, type), type };
  }
}

static vyre_type pick_element(generator *g) {
  if (chance(g, 40)) return pick_scalar(g);
  vyre_type type = (vyre_type)(VYRE_TYPE_BOOL + pick(g, VYRE_TYPE_COUNT - VYRE_TYPE_BOOL));
  return type_allowed(g, type) ? type : VYRE_TYPE_U32;
}

static vyre_op pick_counting(generator *g) {
  static const vyre_op ops[] = { VYRE_OP_ATOMIC_ADD, VYRE_OP_ATOMIC_SUB, VYRE_OP_ATOMIC_AND, VYRE_OP_ATOMIC_OR,
                                 VYRE_OP_ATOMIC_XOR, VYRE_OP_ATOMIC_MIN, VYRE_OP_ATOMIC_MAX };
  return ops[pick(g, sizeof ops / sizeof *ops)];
}

static vyre_binding make_table(generator *g, const char *name, vyre_type element, uint64_t length) {
  const vyre_type_info *info = vyre_type_describe(element);
  uint8_t data[64 * 16];
  uint32_t size = info->bytes / info->lanes, count = (uint32_t)length * info->lanes;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t bits = make_bits(g, info->component);
    for (uint32_t k = 0; k < size; k++) data[i * size + k] = (uint8_t)(bits >> (8 * k));
  }
  return vyre_build_table(g->b, name, element, data, length);
}

static void make_memory(generator *g, vyre_access access, usage role) {
  char name[NAME_BYTES];
  memory m = { .access = access, .role = role, .element = pick_element(g) };
  m.counts = pick_counting(g);
  if (role == COUNTER) m.element = chance(g, 50) ? VYRE_TYPE_U32 : VYRE_TYPE_I32;
  bool inner = access == VYRE_ACCESS_SHARED || access == VYRE_ACCESS_LOCAL || access == VYRE_ACCESS_TABLE;
  m.length = inner || chance(g, 20) ? 1 + pick(g, 64) : 0;
  if (access == VYRE_ACCESS_SHARED) g->shared_bytes += (uint32_t)m.length * vyre_type_describe(m.element)->bytes + 16;
  snprintf(name, sizeof name, "b%u", g->memory_count);
  m.binding = access == VYRE_ACCESS_TABLE ? make_table(g, name, m.element, m.length)
                                          : vyre_build_buffer(g->b, access, name, m.element, m.length);
  g->memories[g->memory_count++] = m;
}

static void make_memories(generator *g) {
  static const struct {
    vyre_access access;
    usage role;
  } kinds[] = {
    { VYRE_ACCESS_READ, INPUT },  { VYRE_ACCESS_READ, INPUT },    { VYRE_ACCESS_TABLE, INPUT },
    { VYRE_ACCESS_RW, OWN },      { VYRE_ACCESS_RW, OWN },        { VYRE_ACCESS_WRITE, OWN },
    { VYRE_ACCESS_RW, COUNTER },  { VYRE_ACCESS_SHARED, COUNTER }, { VYRE_ACCESS_SHARED, STAGE },
    { VYRE_ACCESS_LOCAL, PRIVATE },
  };
  uint32_t count = pick(g, MAX_MEMORIES);
  make_memory(g, VYRE_ACCESS_WRITE, OWN);
  for (uint32_t i = 1; i < count; i++) {
    uint32_t k = pick(g, sizeof kinds / sizeof *kinds);
    bool full = kinds[k].access == VYRE_ACCESS_SHARED && g->shared_bytes > MAX_SHARED - 64 * 16;
    if (!full) make_memory(g, kinds[k].access, kinds[k].role);
  }
}

/* ---- Variables ----------------------------------------------------------------------------- */

/* A name that nothing visible has; disjoint scopes use the same ones. */
static const char *next_name(const generator *g, char name[NAME_BYTES]) {
  snprintf(name, NAME_BYTES, "v%u", g->variable_count);
  return name;
}

/* Blocks need a few names beyond what declarations take. */
static bool names_left(const generator *g) { return g->variable_count < MAX_VARIABLES - 64; }

static void add_variable(generator *g, vyre_var var, vyre_type type, vyre_stmt_op kind, level of) {
  g->variables[g->variable_count++] = (variable){ var, type, kind, of };
}

static level pick_level(generator *g) {
  return chance(g, 50) ? DIVERGENT : weaker(g->flow, (level)pick(g, GRID + 1));
}

static void declare(generator *g) {
  char name[NAME_BYTES];
  if (!names_left(g)) return;
  vyre_stmt_op kind = chance(g, 60) ? VYRE_STMT_LET : VYRE_STMT_VAR;
  vyre_type type = pick_type(g);
  level of = pick_level(g);
  vyre_expr value = make_expr(g, type, of, EXPR_DEPTH);
  add_variable(g, vyre_build_declare(g->b, kind, next_name(g, name), value), type, kind, of);
}

static void assign(generator *g) {
  for (uint32_t attempt = 0; attempt < 8 && g->variable_count > 0; attempt++) {
    const variable *v = &g->variables[pick(g, g->variable_count)];
    if (v->kind != VYRE_STMT_VAR || v->level > g->flow) continue;
    vyre_build_assign(g->b, v->var, make_expr(g, v->type, v->level, EXPR_DEPTH));
    return;
  }
  declare(g);
}

/* The linear number of an invocation, first in its workgroup, then in the grid. */
static void declare_self(generator *g) {
  vyre_builder *b = g->b;
  vyre_expr local = 0, all = 0;
  for (uint32_t axis = 3; axis-- > 0;) {
    vyre_expr n = vyre_build_u32(b, g->size[axis]);
    vyre_expr whole = vyre_build_binary(b, VYRE_OP_MUL, vyre_build_leaf(b, VYRE_OP_NWG, axis), n);
    vyre_expr lid = vyre_build_leaf(b, VYRE_OP_LID, axis), gid = vyre_build_leaf(b, VYRE_OP_GID, axis);
    local = local == 0 ? lid : vyre_build_binary(b, VYRE_OP_ADD, vyre_build_binary(b, VYRE_OP_MUL, local, n), lid);
    all = all == 0 ? gid : vyre_build_binary(b, VYRE_OP_ADD, vyre_build_binary(b, VYRE_OP_MUL, all, whole), gid);
  }
  g->local_self = vyre_build_var_value(b, vyre_build_declare(b, VYRE_STMT_LET, "local_self", local));
  g->self = vyre_build_var_value(b, vyre_build_declare(b, VYRE_STMT_LET, "self", all));
}

/* ---- Memory -------------------------------------------------------------------------------- */

static void store(generator *g) {
  static const usage roles[] = { OWN, OWN, OWN, STAGE, PRIVATE };
  const memory *m = pick_memory(g, roles[pick(g, 5)], VYRE_TYPE_NONE);
  if (m == NULL) return;
  vyre_expr index = m->role == PRIVATE ? make_index(g, m, DIVERGENT, 2) : make_own_index(g, m);
  vyre_expr value = make_expr(g, vyre_type_describe(m->element)->value, DIVERGENT, EXPR_DEPTH);
  vyre_build_store(g->b, m->binding, index, value);
}

static void eval_atomic(generator *g) {
  bool count = chance(g, 60);
  const memory *m = pick_memory(g, count ? COUNTER : OWN, VYRE_TYPE_NONE);
  if (m == NULL || m->access == VYRE_ACCESS_WRITE) return;
  uint32_t all = VYRE_OP_ATOMIC_STORE - VYRE_OP_ATOMIC_ADD + 1;
  vyre_op op = count ? m->counts : (vyre_op)(VYRE_OP_ATOMIC_STORE - pick(g, chance(g, 50) ? all : 1));
  vyre_build_eval(g->b, make_atomic(g, op, m, count ? make_index(g, m, DIVERGENT, 2) : make_own_index(g, m)));
}

/* Reads any element of memory whose elements belong to others, between two barriers of |kind|. */
static void read_others(generator *g, const memory *m, vyre_stmt_op kind) {
  char name[NAME_BYTES];
  vyre_type type = vyre_type_describe(m->element)->value;
  vyre_build_simple(g->b, kind);
  g->still = true;
  vyre_expr value = vyre_build_load(g->b, VYRE_OP_LOAD, m->binding, make_index(g, m, DIVERGENT, 1));
  g->still = false;
  vyre_var var = vyre_build_declare(g->b, VYRE_STMT_LET, next_name(g, name), value);
  vyre_build_simple(g->b, kind);
  add_variable(g, var, type, VYRE_STMT_LET, DIVERGENT);
}

static void exchange(generator *g) {
  const memory *m = pick_memory(g, chance(g, 70) ? STAGE : COUNTER, VYRE_TYPE_NONE);
  if (m == NULL || m->access != VYRE_ACCESS_SHARED || g->flow < WORKGROUP || !names_left(g)) return;
  read_others(g, m, VYRE_STMT_BARRIER);
}

/* Whether a grid barrier may stand here. */
static bool grid_meets(const generator *g) {
  return g->flow == GRID && !avoids(g, g->top ? VYRE_NEED_GRID_BARRIER : VYRE_NEED_GRID_SYNC);
}

/* The same over the grid. */
static void grid_exchange(generator *g) {
  const memory *m = pick_memory(g, chance(g, 70) ? OWN : COUNTER, VYRE_TYPE_NONE);
  if (m == NULL || m->access != VYRE_ACCESS_RW || !grid_meets(g) || !names_left(g)) return;
  read_others(g, m, VYRE_STMT_GRID_BARRIER);
}

static const memory *same_element(generator *g, usage role, vyre_type element) {
  for (uint32_t i = 0; i < g->memory_count; i++)
    if (g->memories[i].role == role && g->memories[i].element == element) return &g->memories[i];
  return NULL;
}

/* A copy into local memory by each invocation, or into shared memory by the workgroup, waited for at once. */
static void copy(generator *g) {
  if (g->flow < WORKGROUP || avoids(g, VYRE_NEED_ASYNC_COPY)) return;
  bool workgroup = chance(g, 50);
  const memory *to = pick_memory(g, workgroup ? STAGE : PRIVATE, VYRE_TYPE_NONE);
  const memory *from = to != NULL ? same_element(g, INPUT, to->element) : NULL;
  if (from == NULL) return;
  level want = workgroup ? WORKGROUP : DIVERGENT;
  vyre_expr at = make_index(g, to, want, 1), source = make_index(g, from, want, 1);
  vyre_expr count = chance(g, 50) ? vyre_build_u32(g->b, pick(g, 9))
                                  : vyre_build_binary(g->b, VYRE_OP_BITAND, make_expr(g, VYRE_TYPE_U32, want, 1),
                                                      vyre_build_u32(g->b, 15));
  if (workgroup) vyre_build_simple(g->b, VYRE_STMT_BARRIER);
  vyre_build_copy_async(g->b, workgroup, to->binding, at, from->binding, source, count);
  vyre_build_simple(g->b, VYRE_STMT_COMMIT);
  if (chance(g, 30)) vyre_build_wait(g->b, 1 + pick(g, 7));
  vyre_build_wait(g->b, 0);
  if (workgroup) vyre_build_simple(g->b, VYRE_STMT_BARRIER);
}

/* ---- Blocks -------------------------------------------------------------------------------- */

static void make_statements(generator *g, uint32_t count);

/* What a block changes and its end gives back. */
typedef struct scope {
  uint32_t variables, known, known_first;
  level flow;
  bool top;
} scope;

static scope open_scope(generator *g, level flow, bool top) {
  scope before = { g->variable_count, g->known_count, g->known_first, g->flow, g->top };
  g->known_first = g->known_count;
  g->flow = weaker(g->flow, flow);
  g->top = g->top && top;
  g->depth++;
  return before;
}

static void close_scope(generator *g, scope before) {
  g->variable_count = before.variables;
  g->known_count = before.known;
  g->known_first = before.known_first;
  g->flow = weaker(before.flow, g->cap);
  g->top = before.top;
  g->depth--;
}

/* Groups of copies into local memory, of which all but the last are waited for first, while other statements run. */
static void copies(generator *g) {
  memory *to[3];
  uint32_t groups = 0;
  bool stays = g->stays;
  if (g->flow < WORKGROUP || g->depth >= MAX_DEPTH || avoids(g, VYRE_NEED_ASYNC_COPY)) return;
  for (uint32_t i = 0; i < g->memory_count && groups < 3; i++) {
    memory *m = &g->memories[i];
    const memory *from = m->role == PRIVATE && !m->busy ? same_element(g, INPUT, m->element) : NULL;
    if (from == NULL) continue;
    vyre_expr at = make_index(g, m, DIVERGENT, 1), source = make_index(g, from, DIVERGENT, 1);
    vyre_build_copy_async(g->b, false, m->binding, at, from->binding, source, vyre_build_u32(g->b, 1 + pick(g, 4)));
    vyre_build_simple(g->b, VYRE_STMT_COMMIT);
    m->busy = true;
    to[groups++] = m;
  }
  for (uint32_t i = 0; i < groups; i++) {
    vyre_build_block(g->b);
    scope before = open_scope(g, GRID, true);
    g->stays = true;
    make_statements(g, pick(g, 3));
    g->stays = stays;
    close_scope(g, before);
    vyre_build_end(g->b);
    vyre_build_wait(g->b, groups - 1 - i);
    to[i]->busy = false;
  }
}

static void make_if(generator *g) {
  level of = pick_level(g);
  vyre_build_if(g->b, make_expr(g, VYRE_TYPE_BOOL, of, EXPR_DEPTH));
  scope before = open_scope(g, of, false);
  make_statements(g, 1 + pick(g, 5));
  close_scope(g, before);
  if (chance(g, 40)) {
    vyre_build_else(g->b);
    before = open_scope(g, of, false);
    if (chance(g, 30) && g->depth < MAX_DEPTH) make_if(g);
    else make_statements(g, 1 + pick(g, 4));
    close_scope(g, before);
  }
  vyre_build_end(g->b);
}

/* Leaves or repeats the innermost loop, on a condition that all who are in the loop share. |body| is the flow that
 * the loop's body began with. */
static void make_jump(generator *g, level body) {
  if (weaker(g->flow, body) < body) return;
  vyre_build_if(g->b, make_expr(g, VYRE_TYPE_BOOL, body, 2));
  vyre_build_simple(g->b, chance(g, 50) ? VYRE_STMT_BREAK : VYRE_STMT_CONTINUE);
  vyre_build_end(g->b);
}

static void make_loop_body(generator *g, level body) {
  make_statements(g, 1 + pick(g, 5));
  if (chance(g, 40)) make_jump(g, body);
  if (chance(g, 50)) make_statements(g, 1 + pick(g, 2));
}

/* A bound that is small whatever the expression gives. */
static vyre_expr make_bound(generator *g, vyre_type type, level of) {
  vyre_expr seven = vyre_build_literal(g->b, type, 7);
  if (chance(g, 40)) return vyre_build_literal(g->b, type, pick(g, 8));
  return vyre_build_binary(g->b, VYRE_OP_BITAND, make_expr(g, type, of, 2), seven);
}

static void make_for(generator *g) {
  char name[NAME_BYTES];
  if (g->loops >= MAX_LOOPS) return;
  vyre_type type = (vyre_type)(VYRE_TYPE_U32 + pick(g, avoids(g, VYRE_NEED_INT64) ? 2 : 4));
  level of = pick_level(g);
  vyre_expr from = make_bound(g, type, of), to = make_bound(g, type, of);
  vyre_expr step = chance(g, 30) ? make_bound(g, type, of) : 0;
  vyre_var var = vyre_build_for(g->b, next_name(g, name), from, to, step);
  scope before = open_scope(g, of, false);
  g->loops++;
  add_variable(g, var, type, VYRE_STMT_FOR, g->flow);
  make_loop_body(g, g->flow);
  g->loops--;
  close_scope(g, before);
  vyre_build_end(g->b);
}

/* An endless loop with a counter of its own, which nothing else assigns. */
static void make_loop(generator *g) {
  char name[NAME_BYTES];
  vyre_builder *b = g->b;
  level of = pick_level(g);
  if (g->loops >= MAX_LOOPS) return;
  vyre_expr limit = make_bound(g, VYRE_TYPE_U32, of);
  vyre_build_block(b);
  scope around = open_scope(g, GRID, true);
  vyre_var bound = vyre_build_declare(b, VYRE_STMT_LET, next_name(g, name), limit);
  add_variable(g, bound, VYRE_TYPE_U32, VYRE_STMT_LET, of);
  vyre_var counter = vyre_build_declare(b, VYRE_STMT_VAR, next_name(g, name), vyre_build_u32(b, 0));
  add_variable(g, counter, VYRE_TYPE_U32, VYRE_STMT_LET, of); /* as a let, so that it stays what it is */
  vyre_build_loop(b);
  scope inside = open_scope(g, of, false);
  vyre_expr count = vyre_build_var_value(b, counter);
  vyre_build_if(b, vyre_build_binary(b, VYRE_OP_GE, count, vyre_build_var_value(b, bound)));
  vyre_build_simple(b, VYRE_STMT_BREAK);
  vyre_build_end(b);
  vyre_build_assign(b, counter, vyre_build_binary(b, VYRE_OP_ADD, count, vyre_build_u32(b, 1)));
  g->loops++;
  make_loop_body(g, g->flow);
  g->loops--;
  close_scope(g, inside);
  vyre_build_end(b);
  close_scope(g, around);
  vyre_build_end(b);
}

static void make_scope(generator *g) {
  static const char *const names[] = { "plain", "", "call random.body", "naïve \"quoted\"\n", "plain" };
  if (chance(g, 50)) vyre_build_block(g->b);
  else vyre_build_region(g->b, names[pick(g, 5)]);
  scope before = open_scope(g, GRID, true);
  make_statements(g, pick(g, 5));
  close_scope(g, before);
  vyre_build_end(g->b);
}

/* ---- The rest ------------------------------------------------------------------------------ */

/* A return, or a trap that is seldom reached, that takes the flow along with it. Not in a loop, whose next round would
 * come too late to know. */
static void leave(generator *g) {
  bool late = g->spent * 3 > g->budget * 2;
  if (g->loops > 0 || g->stays || (g->flow < WORKGROUP && !late)) return;
  bool trap = chance(g, 30) && !avoids(g, VYRE_NEED_TRAP), reached = !trap || chance(g, 5);
  vyre_expr never = vyre_build_binary(g->b, VYRE_OP_EQ, vyre_build_leaf(g->b, VYRE_OP_NWG, 0), vyre_build_u32(g->b, 0));
  level of = late ? DIVERGENT : g->flow, left = reached ? weaker(g->flow, of) : g->flow;
  vyre_build_if(g->b, reached ? make_expr(g, VYRE_TYPE_BOOL, of, 2) : never);
  g->flow = left;
  if (trap) vyre_build_trap(g->b, make_expr(g, VYRE_TYPE_U32, DIVERGENT, 2));
  else vyre_build_simple(g->b, VYRE_STMT_RETURN);
  vyre_build_end(g->b);
  g->cap = weaker(g->cap, left);
  g->flow = weaker(g->flow, g->cap);
}

static void collective(generator *g) {
  if (grid_meets(g) && chance(g, 15)) vyre_build_simple(g->b, VYRE_STMT_GRID_BARRIER);
  else if (g->flow >= WORKGROUP) vyre_build_simple(g->b, VYRE_STMT_BARRIER);
}

static void fence(generator *g) {
  uint32_t orders = avoids(g, VYRE_NEED_SEQ_CST) ? 3 : 4;
  vyre_order order = (vyre_order)(VYRE_ORDER_ACQUIRE + pick(g, orders));
  vyre_build_fence(g->b, order, (vyre_scope)pick(g, VYRE_SCOPE_DEFAULT + 1));
}

static void print(generator *g) {
  static const char *const formats[] = { "reached", "{}", "x = {} y = {}", "{}{}{}", "", "50% {} {{}} µ" };
  static const uint32_t counts[] = { 0, 1, 2, 3, 0, 2 };
  if (avoids(g, VYRE_NEED_PRINT)) return;
  uint32_t i = pick(g, 6);
  vyre_expr args[3];
  for (uint32_t k = 0; k < counts[i]; k++) args[k] = make_expr(g, pick_scalar(g), DIVERGENT, 2);
  vyre_build_print(g->b, formats[i], args, counts[i]);
}

/* Mostly for no time, as any other takes a call of the system. */
static void pause_briefly(generator *g) {
  uint32_t ns = chance(g, 90) ? 0 : pick(g, 50);
  vyre_build_pause(g->b, vyre_build_u32(g->b, ns));
}

/* The clock is read, and what it says is dropped where the answer must not depend on it. */
static void read_clock(generator *g) {
  char name[NAME_BYTES];
  if (avoids(g, VYRE_NEED_CLOCK | VYRE_NEED_INT64)) return;
  vyre_build_block(g->b);
  vyre_build_declare(g->b, VYRE_STMT_LET, next_name(g, name), vyre_build_leaf(g->b, VYRE_OP_CLOCK_NS, 0));
  vyre_build_end(g->b);
}

/* ---- By weight ----------------------------------------------------------------------------- */

typedef struct maker {
  void (*make)(generator *g);
  uint32_t weight;
} maker;

static void make_by_weight(generator *g, const maker *makers, uint32_t count) {
  uint32_t all = 0, i = 0;
  for (uint32_t k = 0; k < count; k++) all += makers[k].weight;
  for (uint32_t at = pick(g, all); at >= makers[i].weight; i++) at -= makers[i].weight;
  makers[i].make(g);
}

static void make_block(generator *g) {
  static const maker blocks[] = {
#define BLOCK(make, weight) { make, weight },
#include "weights.def"
  };
  if (g->depth >= MAX_DEPTH) store(g);
  else make_by_weight(g, blocks, sizeof blocks / sizeof *blocks);
}

static void make_statement(generator *g) {
  static const maker statements[] = {
#define STATEMENT(make, weight) { make, weight },
#include "weights.def"
  };
  make_by_weight(g, statements, sizeof statements / sizeof *statements);
}

static void make_statements(generator *g, uint32_t count) {
  for (; count > 0 && g->spent < g->budget; count--) {
    g->spent++;
    make_statement(g);
  }
}

static void make_program(generator *g) {
  make_attributes(g);
  make_params(g);
  make_memories(g);
  declare_self(g);
  while (g->spent < g->budget) make_statements(g, g->budget);
}

vyre_status random_program(uint64_t seed, const random_program_options *options, vyre_diagnostics *diagnostics,
                           vyre_program **out, vyre_error *error) {
  *out = NULL;
  generator g = { .random = { seed }, .flow = GRID, .cap = GRID, .top = true };
  if (options != NULL) g.options = *options;
  g.budget = g.options.statements > 0 ? g.options.statements : 5 + pick(&g, 60);
  if (vyre_builder_create("random", diagnostics, &g.b) != VYRE_OK) return VYRE_ERR_NO_MEMORY;
  make_program(&g);
  vyre_status status = vyre_builder_finish(g.b, out, error);
  vyre_builder_destroy(g.b);
  return status;
}
