/* Levels and barriers against what really happens: random programs are run by two workgroups of two subgroups of two
 * invocations, in random order, statement by statement. Each invocation notes where it comes and with which values.
 * A place is a statement and the turns of the loops around it. If flow there is uniform over a scope, all invocations
 * of the scope come to it or none; if a value is, they find the same. What the validator lets pass may never leave a
 * part of a workgroup alone at a barrier. */
#include "../suite.h"
#include "kit.h"

/* As ck_assert_msg, which costs a system call each time that it holds. */
#define HOLDS(condition, ...)                    \
  do {                                           \
    if (!(condition)) ck_abort_msg(__VA_ARGS__); \
  } while (0)

enum { INVOCATIONS = 8, WORKGROUP = 4, MAX_STEPS = 600, MAX_VARS = 64, MAX_LEVELS = 64, CELLS = 2 };

/* ---- Chance -------------------------------------------------------------------------------- */

static uint64_t chance;
static uint32_t any(uint32_t below) {
  chance += 0x9E3779B97F4A7C15u;
  return vyre_hash_u64(chance) % below;
}

/* ---- Programs ------------------------------------------------------------------------------ */

typedef struct maker {
  kit k;
  bool barriers;           /* with barriers and shared memory */
  vyre_var vars[MAX_VARS]; /* visible */
  uint32_t count, names, depth, loops, budget;
} maker;

static vyre_expr any_value(maker *m, uint32_t depth) {
  kit *k = &m->k;
  if (depth > 0 && any(2) == 0) {
    static const vyre_op ops[] = { VYRE_OP_ADD, VYRE_OP_BITAND, VYRE_OP_BITXOR, VYRE_OP_MIN };
    vyre_op op = ops[any(4)];
    vyre_expr x = any_value(m, depth - 1);
    return binary(k, op, x, any_value(m, depth - 1));
  }
  if (m->count > 0 && any(3) > 0) return value_of(k, m->vars[any(m->count)]);
  /* Little that diverges, lest all does. */
  static const vyre_op leaves[] = { VYRE_OP_LID, VYRE_OP_SUBGROUP_ID, VYRE_OP_WID, VYRE_OP_NWG, VYRE_OP_NWG };
  uint32_t pick = any(20);
  return pick < 5 ? leaf(k, leaves[pick]) : u32(k, any(4));
}

static vyre_expr any_condition(maker *m) {
  static const vyre_op ops[] = { VYRE_OP_EQ, VYRE_OP_NE, VYRE_OP_LT };
  vyre_op op = ops[any(3)];
  vyre_expr x = any_value(m, 1);
  return binary(&m->k, op, x, any_value(m, 0));
}

static vyre_expr any_flag(maker *m) { return not_zero(&m->k, load(&m->k, m->k.flag, u32(&m->k, any(CELLS)))); }

static void any_declaration(maker *m) {
  char name[16];
  if (m->count == MAX_VARS) return;
  snprintf(name, sizeof name, "v%u", m->names++);
  bool flag = m->barriers && any(4) == 0;
  vyre_expr value = flag ? load(&m->k, m->k.flag, u32(&m->k, any(CELLS))) : any_value(m, 2);
  m->vars[m->count] = vyre_build_declare(m->k.b, flag || any(3) == 0 ? VYRE_STMT_LET : VYRE_STMT_VAR, name, value);
  m->count++;
}

static void any_assignment(maker *m) {
  if (m->count == 0) return;
  vyre_var v = m->vars[any(m->count)];
  if (ir_builder_var(m->k.b, v)->kind == VYRE_STMT_VAR) assign(&m->k, v, any_value(m, 2));
}

static void any_store(maker *m) {
  vyre_expr value = any_value(m, 1);
  vyre_build_store(m->k.b, m->k.flag, u32(&m->k, any(CELLS)), value);
}

static void any_jump(maker *m) {
  bool leave = any(4) > 0;
  vyre_expr c = m->barriers && any(2) == 0 ? any_flag(m) : any_condition(m);
  if (m->loops > 0 && leave) jump_if(&m->k, any(4) ? VYRE_STMT_BREAK : VYRE_STMT_CONTINUE, c);
  else if (any(3) == 0) jump_if(&m->k, any(2) ? VYRE_STMT_TRAP : VYRE_STMT_RETURN, c);
}

/* Opens a block; gives how many loops it is inside of then. */
static uint32_t any_opening(maker *m) {
  char name[16];
  switch (any(4)) {
    case 0:
    case 1: open_if(&m->k, any_condition(m)); return m->loops;
    case 2:
      snprintf(name, sizeof name, "turn%u", m->names++);
      m->vars[m->count] = open_for(&m->k, name, binary(&m->k, VYRE_OP_BITAND, any_value(m, 1), u32(&m->k, 3)));
      m->count++;
      return m->loops + 1;
    default: open_loop(&m->k); return m->loops + 1;
  }
}

static void any_block(maker *m);

static void any_compound(maker *m) {
  uint32_t count = m->count, loops = m->loops;
  if (m->depth >= 5 || m->count + 8 > MAX_VARS) return;
  m->loops = any_opening(m);
  m->depth++;
  any_block(m);
  m->count = count;
  if (m->loops == loops && any(2) == 0) {
    vyre_build_else(m->k.b);
    any_block(m);
  }
  m->count = count;
  m->loops = loops;
  m->depth--;
  end(&m->k);
}

static void any_block(maker *m) {
  uint32_t count = 1 + any(6);
  for (uint32_t i = 0; i < count && m->budget > 0; i++) {
    m->budget--;
    switch (any(9)) {
      case 0: any_declaration(m); break;
      case 1:
      case 2: any_assignment(m); break;
      case 3:
        if (m->barriers) barrier(&m->k);
        break;
      case 4:
        if (m->barriers) any_store(m);
        break;
      case 5:
      case 6: any_jump(m); break;
      default: any_compound(m); break;
    }
  }
  if (m->loops > 0 && any(8) == 0) simple(&m->k, any(3) ? VYRE_STMT_BREAK : VYRE_STMT_CONTINUE);
}

/* Ends a program; NULL where it has barriers and the validator refuses it. */
static vyre_program *finish(maker *m, uint64_t seed) {
  vyre_program *p = NULL;
  vyre_diagnostic found;
  uint32_t others = 0;
  vyre_status status = vyre_builder_finish(m->k.b, &p, NULL);
  for (uint32_t i = 0; vyre_diagnostics_get(m->k.d, i, &found); i++)
    others += found.code != VYRE_V10 && found.code != VYRE_V55 && found.code != VYRE_W3;
  ck_assert_msg(others == 0 && (m->barriers || status == VYRE_OK), "seed %llu", (unsigned long long)seed);
  vyre_builder_destroy(m->k.b);
  vyre_diagnostics_destroy(m->k.d);
  return p;
}

static vyre_program *any_program(uint64_t seed, bool barriers) {
  maker m = { .k = kit_begin(), .barriers = barriers, .budget = 40 };
  chance = seed;
  for (int i = 0; i < 6; i++) any_block(&m);
  return finish(&m, seed);
}

/* A store of what differs from invocation to invocation and from turn to turn, by all or by one. */
static void racy_store(maker *m) {
  kit *k = &m->k;
  vyre_expr lid = leaf(k, VYRE_OP_LID), turn = value_of(k, m->vars[0]);
  bool one = any(2) == 0;
  if (one) open_if(k, binary(k, VYRE_OP_EQ, lid, u32(k, any(WORKGROUP))));
  vyre_expr value = binary(k, VYRE_OP_BITAND, binary(k, VYRE_OP_ADD, turn, one ? u32(k, any(2)) : lid), u32(k, 1));
  vyre_build_store(k->b, k->flag, u32(k, any(CELLS)), value);
  if (one) end(k);
}

static void racy_jump(maker *m) {
  vyre_expr c = any(3) > 0 || m->count < 2 ? any_flag(m) : not_zero(&m->k, value_of(&m->k, m->vars[m->count - 1]));
  jump_if(&m->k, any(8) ? VYRE_STMT_BREAK : VYRE_STMT_RETURN, c);
}

static void racy_let(maker *m) {
  char name[16];
  snprintf(name, sizeof name, "f%u", m->names++);
  m->vars[m->count++] = let(&m->k, name, load(&m->k, m->k.flag, u32(&m->k, any(CELLS))));
}

static void racy_loop(maker *m) {
  kit *k = &m->k;
  uint32_t count = m->count, parts = 3 + any(5);
  open_loop(k);
  assign(k, m->vars[0], binary(k, VYRE_OP_ADD, value_of(k, m->vars[0]), u32(k, 1)));
  jump_if(k, VYRE_STMT_BREAK, binary(k, VYRE_OP_LT, u32(k, 9), value_of(k, m->vars[0])));
  for (uint32_t i = 0; i < parts; i++) switch (any(8)) {
    case 0:
    case 1:
    case 2: barrier(k); break;
    case 3:
    case 4: racy_store(m); break;
    case 5: racy_jump(m); break;
    case 6: racy_let(m); break;
    default:
      if (m->depth++ < 2) racy_loop(m);
      else jump_if(k, VYRE_STMT_CONTINUE, binary(k, VYRE_OP_EQ, value_of(k, m->vars[0]), u32(k, any(8))));
      m->depth--;
      break;
  }
  m->count = count;
  end(k);
}

/* Loops that are left on flags in shared memory, which are written in every turn. */
static vyre_program *racy_program(uint64_t seed) {
  maker m = { .k = kit_begin(), .barriers = true };
  chance = seed;
  m.vars[m.count++] = var(&m.k, "turn", u32(&m.k, 0));
  racy_loop(&m);
  racy_loop(&m);
  return finish(&m, seed);
}

/* ---- Running them -------------------------------------------------------------------------- */

/* One invocation at one place. */
typedef struct visit {
  uint64_t place;
  uint32_t stmt, invocation;
  uint32_t values[2]; /* of its first operands */
} visit;

/* An open block of an invocation. */
typedef struct level {
  uint32_t next, loop;       /* next statement; the loop whose body it is, or 0 */
  uint32_t turn, value, end; /* of the loop */
  uint64_t place, outside;   /* of what stands in it; of the loop */
} level;

typedef struct invocation {
  uint32_t vars[MAX_VARS * 8];
  level levels[MAX_LEVELS];
  uint32_t depth, steps; /* no level is open: it has ended */
  uint64_t waits;        /* place of the barrier that it waits at, 0 if it runs */
} invocation;

typedef struct runner {
  const vyre_program *p;
  uint64_t seed;
  invocation all[INVOCATIONS];
  uint32_t cells[INVOCATIONS / WORKGROUP][CELLS];
  bool too_long;
  uint32_t count;
  visit visits[INVOCATIONS * (MAX_STEPS + 1)];
} runner;

static uint32_t evaluate(const runner *r, uint32_t who, uint32_t handle) {
  const ir_expr *e = ir_expr_at(r->p, handle);
  uint32_t x = ir_op_arity[e->op] > 0 ? evaluate(r, who, e->arg[0]) : 0;
  uint32_t y = ir_op_arity[e->op] > 1 ? evaluate(r, who, e->arg[1]) : 0;
  switch (e->op) {
    case VYRE_OP_LIT: return e->arg[0];
    case VYRE_OP_VAR: return r->all[who].vars[e->arg[3]];
    case VYRE_OP_LOAD: return r->cells[who / WORKGROUP][x];
    case VYRE_OP_NWG: return INVOCATIONS / WORKGROUP;
    case VYRE_OP_WID: return who / WORKGROUP;
    case VYRE_OP_SUBGROUP_ID: return who / 2 % 2;
    case VYRE_OP_LID: return who % WORKGROUP;
    case VYRE_OP_ADD: return x + y;
    case VYRE_OP_BITAND: return x & y;
    case VYRE_OP_BITXOR: return x ^ y;
    case VYRE_OP_MIN: return x < y ? x : y;
    case VYRE_OP_EQ: return x == y;
    case VYRE_OP_NE: return x != y;
    case VYRE_OP_LT: return x < y;
    default: ck_abort_msg("operator %u", e->op);
  }
  return 0;
}

static uint64_t inside(uint64_t place, uint32_t step) {
  uint64_t h = (place + step + 1) * 0x9E3779B97F4A7C15u;
  return (uint64_t)vyre_hash_u64(h) << 32 | vyre_hash_u64(~h) | 1;
}

static void open_level(invocation *me, level l) {
  HOLDS(me->depth < MAX_LEVELS, "too deep");
  me->levels[me->depth++] = l;
}

static void begin_turn(const runner *r, invocation *me, level *l) {
  const ir_stmt *s = ir_stmt_at(r->p, l->loop);
  if (s->op == VYRE_STMT_FOR && l->value >= l->end) {
    me->depth--;
    return;
  }
  if (s->op == VYRE_STMT_FOR) me->vars[s->arg[4]] = l->value;
  l->next = s->body;
  l->place = inside(l->outside, l->turn);
}

static void open_loop_level(const runner *r, invocation *me, uint32_t stmt, const visit *v) {
  bool counts = ir_stmt_at(r->p, stmt)->op == VYRE_STMT_FOR;
  open_level(me, (level){ .loop = stmt, .value = counts ? v->values[0] : 0, .end = v->values[1], .outside = v->place });
  begin_turn(r, me, &me->levels[me->depth - 1]);
}

/* Closes what is open up to the innermost loop. */
static level *innermost_loop(invocation *me) {
  while (me->levels[me->depth - 1].loop == 0) me->depth--;
  return &me->levels[me->depth - 1];
}

static void run_statement(runner *r, uint32_t who, uint32_t stmt, uint64_t place) {
  invocation *me = &r->all[who];
  const ir_stmt *s = ir_stmt_at(r->p, stmt);
  visit v = { .place = inside(place, stmt), .stmt = stmt, .invocation = who };
  for (uint32_t i = 0; i < 2 && i < ir_stmt_arity[s->op]; i++) v.values[i] = evaluate(r, who, s->arg[i]);
  r->visits[r->count++] = v;
  switch (s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR:
    case VYRE_STMT_ASSIGN: me->vars[s->arg[4]] = v.values[0]; break;
    case VYRE_STMT_STORE: r->cells[who / WORKGROUP][v.values[0]] = v.values[1]; break;
    case VYRE_STMT_IF: open_level(me, (level){ .next = v.values[0] ? s->body : s->orelse, .place = v.place }); break;
    case VYRE_STMT_FOR:
    case VYRE_STMT_LOOP: open_loop_level(r, me, stmt, &v); break;
    case VYRE_STMT_BREAK:
      innermost_loop(me);
      me->depth--;
      break;
    case VYRE_STMT_CONTINUE: innermost_loop(me)->next = 0; break;
    case VYRE_STMT_RETURN:
    case VYRE_STMT_TRAP: me->depth = 0; break;
    case VYRE_STMT_BARRIER: me->waits = v.place; break;
    default: ck_abort_msg("statement %u", s->op);
  }
}

static void step(runner *r, uint32_t who) {
  invocation *me = &r->all[who];
  level *l = &me->levels[me->depth - 1];
  if (me->steps++ >= MAX_STEPS) r->too_long = true;
  if (l->next != 0) {
    uint32_t stmt = l->next;
    l->next = ir_stmt_at(r->p, stmt)->next;
    run_statement(r, who, stmt, l->place);
  } else if (l->loop != 0) {
    l->value++;
    l->turn++;
    begin_turn(r, me, l);
  } else {
    me->depth--;
  }
}

/* Lets a workgroup go on when all that have not ended wait. All must then wait at one place. */
static void release(runner *r, uint32_t first) {
  for (uint32_t who = first; who < first + WORKGROUP; who++)
    HOLDS(r->all[who].waits == r->all[first].waits, "seed %llu: invocation %u is not at the barrier of %u",
          (unsigned long long)r->seed, who, first);
  for (uint32_t who = first; who < first + WORKGROUP; who++) r->all[who].waits = 0;
}

static void run_workgroup(runner *r, uint32_t first) {
  for (;;) {
    uint32_t ready[WORKGROUP], count = 0, waiting = 0;
    for (uint32_t who = first; who < first + WORKGROUP; who++) {
      if (r->all[who].waits != 0) waiting++;
      else if (r->all[who].depth > 0) ready[count++] = who;
    }
    if (r->too_long || (count == 0 && waiting == 0)) return;
    if (count == 0) release(r, first);
    else step(r, ready[any(count)]);
  }
}

/* ---- Comparing ----------------------------------------------------------------------------- */

static int by_place(const void *x, const void *y) {
  const visit *a = x, *b = y;
  if (a->place != b->place) return a->place < b->place ? -1 : 1;
  return (int)a->invocation - (int)b->invocation;
}

typedef struct scope {
  uint32_t first, size;
  ir_level level;
} scope;

static void check_scope(const runner *r, const ir_uniformity *u, const visit *at, const visit *after, scope sc) {
  const visit *seen = NULL;
  uint32_t count = 0;
  for (const visit *v = at; v < after; v++) {
    if (v->invocation < sc.first || v->invocation >= sc.first + sc.size) continue;
    const ir_stmt *s = ir_stmt_at(r->p, v->stmt);
    count++;
    if (seen == NULL) seen = v;
    for (uint32_t i = 0; i < 2 && i < ir_stmt_arity[s->op]; i++)
      HOLDS(u->expr[s->arg[i]] > sc.level || u->flow[v->stmt] > sc.level || v->values[i] == seen->values[i],
            "seed %llu, statement %u: operand %u differs", (unsigned long long)r->seed, v->stmt, i);
  }
  HOLDS(count == 0 || count == sc.size || u->flow[at->stmt] > sc.level,
        "seed %llu: %u of %u come to statement %u", (unsigned long long)r->seed, count, sc.size, at->stmt);
}

static void check_visits(runner *r, const ir_uniformity *u) {
  static const scope scopes[] = { { 0, 8, IR_LEVEL_GRID }, { 0, 4, IR_LEVEL_WORKGROUP }, { 4, 4, IR_LEVEL_WORKGROUP },
                                  { 0, 2, IR_LEVEL_SUBGROUP }, { 2, 2, IR_LEVEL_SUBGROUP }, { 4, 2, IR_LEVEL_SUBGROUP },
                                  { 6, 2, IR_LEVEL_SUBGROUP } };
  qsort(r->visits, r->count, sizeof *r->visits, by_place);
  for (uint32_t i = 0, next; i < r->count; i = next) {
    for (next = i; next < r->count && r->visits[next].place == r->visits[i].place; next++) {}
    for (size_t k = 0; k < sizeof scopes / sizeof *scopes; k++)
      check_scope(r, u, r->visits + i, r->visits + next, scopes[k]);
  }
}

/* False if the program ran too long to tell. */
static bool check_run(const vyre_program *p, uint64_t seed) {
  static runner r;
  memset(r.all, 0, sizeof r.all);
  memset(r.cells, 0, sizeof r.cells);
  r.p = p;
  r.seed = seed;
  r.too_long = false;
  r.count = 0;
  ir_uniformity u;
  ck_assert_uint_le(p->vars.count, sizeof r.all->vars / sizeof *r.all->vars);
  ck_assert(ir_uniformity_create(&u, p));
  for (uint32_t who = 0; who < INVOCATIONS; who++) open_level(&r.all[who], (level){ .next = ir_entry(p), .place = 1 });
  for (uint32_t first = 0; first < INVOCATIONS; first += WORKGROUP) run_workgroup(&r, first);
  if (!r.too_long) check_visits(&r, &u);
  ir_uniformity_free(&u);
  return !r.too_long;
}

/* ---- The tests ----------------------------------------------------------------------------- */

START_TEST(levels_hold_when_random_programs_run) {
  uint32_t told = 0;
  for (uint64_t seed = 1; seed <= 2000; seed++) {
    vyre_program *p = any_program(seed, false);
    told += check_run(p, seed);
    vyre_program_release(p);
  }
  ck_assert_uint_gt(told, 1000);
}
END_TEST

/* Whether jumps in a loop rest on settled loads. */
static bool trusts_settled_loads(const vyre_program *p, const ir_uniformity *u) {
  bool found = false;
  for (uint32_t s = 1; s < p->stmts.count; s++) {
    const ir_stmt *stmt = ir_stmt_at(p, s);
    bool jump = stmt->op == VYRE_STMT_BREAK || stmt->op == VYRE_STMT_RETURN;
    found = found || (jump && u->leaving[s] < u->forward[s]);
  }
  return found;
}

typedef struct tally {
  uint32_t refused, told, settled;
} tally;

static void check_barriers(vyre_program *p, uint64_t seed, uint32_t runs, tally *t) {
  t->refused += p == NULL;
  if (p == NULL) return;
  ir_uniformity u;
  ck_assert(ir_uniformity_create(&u, p));
  for (uint32_t s = 1; s < p->stmts.count; s++)
    if (ir_stmt_at(p, s)->op == VYRE_STMT_BARRIER)
      HOLDS(u.flow[s] <= IR_LEVEL_WORKGROUP, "seed %llu", (unsigned long long)seed);
  bool trusts = trusts_settled_loads(p, &u), ended = true;
  ir_uniformity_free(&u);
  for (uint32_t i = 0; p->info.barrier_count > 0 && i < runs; i++) ended = check_run(p, seed) && ended;
  t->told += ended && p->info.barrier_count > 0;
  t->settled += ended && trusts;
  vyre_program_release(p);
}

START_TEST(barriers_of_valid_random_programs_are_met_by_all) {
  tally t = { 0 };
  for (uint64_t seed = 1; seed <= 3000; seed++) check_barriers(any_program(seed, true), seed, 1, &t);
  ck_assert_uint_gt(t.told, 100);
  ck_assert_uint_gt(t.refused, 200);
}
END_TEST

START_TEST(settled_loads_let_all_leave_together) {
  tally t = { 0 };
  for (uint64_t seed = 1; seed <= 4000; seed++) check_barriers(racy_program(seed), seed, 4, &t);
  ck_assert_uint_gt(t.settled, 80);
  ck_assert_uint_gt(t.refused, 200);
}
END_TEST

/* Whether a program, if a glance says that it is uniform, is so where all must come or some can leave. */
static bool check_glance(vyre_program *p, uint64_t seed) {
  bool plain = p != NULL && ir_plainly_uniform(p);
  ir_uniformity u;
  if (plain) ck_assert(ir_uniformity_create(&u, p));
  for (uint32_t s = 1; plain && s < p->stmts.count; s++) {
    uint8_t op = ir_stmt_at(p, s)->op;
    bool jump = op == VYRE_STMT_BREAK || op == VYRE_STMT_CONTINUE || op == VYRE_STMT_RETURN || op == VYRE_STMT_TRAP;
    if (jump || op == VYRE_STMT_BARRIER || op == VYRE_STMT_GRID_BARRIER)
      HOLDS(u.flow[s] == IR_LEVEL_GRID && u.leaving[s] == IR_LEVEL_GRID, "seed %llu", (unsigned long long)seed);
  }
  if (plain) ir_uniformity_free(&u);
  vyre_program_release(p);
  return plain;
}

START_TEST(what_is_uniform_at_a_glance_is_uniform) {
  uint32_t plain = 0, others = 0;
  for (uint64_t seed = 1; seed <= 4000; seed++) {
    bool barriers = seed % 2 == 1, glance = check_glance(any_program(seed, barriers), seed);
    plain += glance;
    others += !glance;
  }
  ck_assert_uint_gt(plain, 100);
  ck_assert_uint_gt(others, 100);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { levels_hold_when_random_programs_run, barriers_of_valid_random_programs_are_met_by_all,
                                 settled_loads_let_all_leave_together,
                                 what_is_uniform_at_a_glance_is_uniform, NULL };
  return run_suite("random programs", 120, tests);
}
