/* Levels of values and flow: operator by operator, and by their cost on programs that are made to be hard. */
#include "kit.h"

#include "../fail_malloc.h"
#include "../suite.h"
#include "ir/validate.h"

/* ---- Operators ----------------------------------------------------------------------------- */

/* The level of each operator whose operands are uniform over the grid; all others are then too. */
static const struct {
  const char *ops;
  ir_level level;
} levels[] = {
  { " WID SHOULD_STOP WORKGROUP_UNIFORM_LOAD ", IR_LEVEL_WORKGROUP },
  { " SUBGROUP_ID SUBGROUP_ADD SUBGROUP_MUL SUBGROUP_MIN SUBGROUP_MAX SUBGROUP_AND SUBGROUP_OR SUBGROUP_XOR "
    "SUBGROUP_ANY SUBGROUP_ALL SUBGROUP_BALLOT SUBGROUP_BROADCAST ", IR_LEVEL_SUBGROUP },
  { " GID LID LANE CLOCK_NS LOAD ATOMIC_ADD ATOMIC_SUB ATOMIC_AND ATOMIC_OR ATOMIC_XOR ATOMIC_MIN ATOMIC_MAX "
    "ATOMIC_XCHG ATOMIC_CAS ATOMIC_LOAD SUBGROUP_INCLUSIVE_ADD SUBGROUP_INCLUSIVE_MIN SUBGROUP_INCLUSIVE_MAX "
    "SUBGROUP_EXCLUSIVE_ADD SUBGROUP_EXCLUSIVE_MIN SUBGROUP_EXCLUSIVE_MAX SUBGROUP_SHUFFLE SUBGROUP_SHUFFLE_XOR "
    "SUBGROUP_SHUFFLE_UP SUBGROUP_SHUFFLE_DOWN ", IR_LEVEL_DIVERGENT },
};

static ir_level wanted_level(vyre_op op) {
  char word[32];
  snprintf(word, sizeof word, " %s ", vyre_op_describe(op)->name);
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (strstr(levels[i].ops, word) != NULL) return levels[i].level;
  return IR_LEVEL_GRID;
}

static bool is_float_op(vyre_op op) {
  return op == VYRE_OP_SQRT || (op >= VYRE_OP_FLOOR && op <= VYRE_OP_TANH);
}
static bool is_bool_op(vyre_op op) {
  return op == VYRE_OP_LAND || op == VYRE_OP_LOR || op == VYRE_OP_LNOT || op == VYRE_OP_SUBGROUP_ANY ||
         op == VYRE_OP_SUBGROUP_ALL || op == VYRE_OP_SUBGROUP_BALLOT;
}

/* |op| of a u32 and others that are uniform over the grid. */
static vyre_expr apply(kit *k, vyre_op op, vyre_expr x) {
  vyre_builder *b = k->b;
  vyre_expr one = u32(k, 1), yes = vyre_build_bool(b, true);
  vyre_expr as_bool = not_zero(k, x), as_float = vyre_build_cast(b, VYRE_TYPE_F32, x);
  vyre_expr parts[4] = { one, x, one, one };
  switch (op) {
    case VYRE_OP_LIT: return one;
    case VYRE_OP_VAR: return value_of(k, let(k, "v", x));
    case VYRE_OP_PARAM: return k->n;
    case VYRE_OP_LEN:
    case VYRE_OP_LEN64: return vyre_build_len(b, op, k->rw);
    case VYRE_OP_LOAD: return load(k, k->rw, x);
    case VYRE_OP_GRID_UNIFORM_LOAD:
    case VYRE_OP_WORKGROUP_UNIFORM_LOAD: return vyre_build_load(b, op, k->rw, one);
    case VYRE_OP_SELECT: return vyre_build_select(b, yes, one, x);
    case VYRE_OP_FMA: return vyre_build_fma(b, as_float, as_float, as_float);
    case VYRE_OP_CAST: return as_float;
    case VYRE_OP_BITCAST: return vyre_build_bitcast(b, VYRE_TYPE_F32, x);
    case VYRE_OP_SPLAT: return vyre_build_vector(b, VYRE_TYPE_U32X4, &x, 1);
    case VYRE_OP_VEC2: return vyre_build_vector(b, VYRE_TYPE_U32X2, parts, 2);
    case VYRE_OP_VEC4: return vyre_build_vector(b, VYRE_TYPE_U32X4, parts, 4);
    case VYRE_OP_EXTRACT: return vyre_build_extract(b, vyre_build_vector(b, VYRE_TYPE_U32X4, parts, 4), 3);
    case VYRE_OP_ABS:
    case VYRE_OP_SIGN: return unary(k, op, vyre_build_cast(b, VYRE_TYPE_I32, x));
    case VYRE_OP_SUBGROUP_BROADCAST: return binary(k, op, x, one);
    default: break;
  }
  if (op >= VYRE_OP_ATOMIC_ADD && op <= VYRE_OP_ATOMIC_STORE)
    return vyre_build_atomic(b, op, k->rw, one, one, one, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT);
  uint32_t arity = vyre_op_describe(op)->arity;
  if (arity == 0) return leaf(k, op);
  vyre_expr operand = is_bool_op(op) ? as_bool : is_float_op(op) ? as_float : x;
  return arity == 1 ? unary(k, op, operand) : binary(k, op, operand, operand);
}

/* The level of what a let called r gets, built from |op| of an operand of |level|. */
static ir_level level_of(vyre_op op, ir_level level) {
  kit k = kit_begin();
  vyre_expr e = apply(&k, op, at_level(&k, level));
  ck_assert_msg(e != 0, "%s", vyre_op_describe(op)->name);
  let(&k, "r", e);
  vyre_program *p = kit_finish(&k);
  ir_uniformity u;
  ck_assert(ir_uniformity_create(&u, p));
  ir_level found = (ir_level)u.var[p->vars.count - 1];
  ir_uniformity_free(&u);
  vyre_program_release(p);
  return found;
}

START_TEST(each_operator_has_its_level) {
  for (vyre_op op = 1; op < VYRE_OP_COUNT; op++) {
    if (op == VYRE_OP_ATOMIC_STORE) continue; /* no value */
    ck_assert_msg(level_of(op, IR_LEVEL_GRID) == wanted_level(op), "%s", vyre_op_describe(op)->name);
  }
}
END_TEST

/* What is uniform over the grid by its operands is as weak as they are. */
START_TEST(operators_are_as_weak_as_their_operands) {
  for (vyre_op op = 1; op < VYRE_OP_COUNT; op++) {
    bool closed = op == VYRE_OP_LIT || op == VYRE_OP_PARAM || op == VYRE_OP_GRID_UNIFORM_LOAD ||
                  op == VYRE_OP_ATOMIC_STORE || vyre_op_describe(op)->arity == 0;
    if ((closed && op != VYRE_OP_VAR) || wanted_level(op) != IR_LEVEL_GRID) continue;
    for (ir_level level = IR_LEVEL_GRID; level <= IR_LEVEL_DIVERGENT; level++)
      ck_assert_msg(level_of(op, level) == level, "%s", vyre_op_describe(op)->name);
  }
}
END_TEST

START_TEST(loads_have_the_level_of_what_is_read) {
  for (ir_level level = IR_LEVEL_GRID; level <= IR_LEVEL_DIVERGENT; level++) {
    static const uint32_t data[4] = { 1, 2, 3, 4 };
    kit k = kit_begin();
    vyre_binding table = vyre_build_table(k.b, "table", VYRE_TYPE_U32, data, 4);
    vyre_expr index = at_level(&k, level);
    vyre_var r = let(&k, "r", load(&k, k.in, index)), t = let(&k, "t", load(&k, table, index));
    vyre_var s = let(&k, "s", load(&k, k.flag, index)), m = let(&k, "m", load(&k, k.mine, index));
    vyre_program *p = kit_finish(&k);
    ir_uniformity u;
    ck_assert(ir_uniformity_create(&u, p));
    ck_assert_uint_eq(u.var[r], level);
    ck_assert_uint_eq(u.var[t], level);
    ck_assert_uint_eq(u.var[s], IR_LEVEL_DIVERGENT);
    ck_assert_uint_eq(u.var[m], IR_LEVEL_DIVERGENT);
    ir_uniformity_free(&u);
    vyre_program_release(p);
  }
}
END_TEST

START_TEST(flow_has_the_level_of_its_conditions) {
  for (ir_level outer = IR_LEVEL_GRID; outer <= IR_LEVEL_DIVERGENT; outer++)
    for (ir_level inner = IR_LEVEL_GRID; inner <= IR_LEVEL_DIVERGENT; inner++) {
      kit k = kit_begin();
      open_if(&k, condition(&k, outer));
      vyre_var i = open_for(&k, "i", at_level(&k, inner));
      vyre_var v = let(&k, "v", u32(&k, 1));
      end(&k);
      end(&k);
      vyre_var w = let(&k, "w", u32(&k, 1));
      vyre_program *p = kit_finish(&k);
      ir_uniformity u;
      ck_assert(ir_uniformity_create(&u, p));
      ir_level both = outer > inner ? outer : inner;
      ck_assert_uint_eq(u.var[i], both);
      ck_assert_uint_eq(u.var[v], both);
      ck_assert_uint_eq(u.var[w], IR_LEVEL_GRID);
      ck_assert_uint_eq(u.flow[1], IR_LEVEL_GRID);
      ck_assert_uint_eq(u.flow[2], outer);
      ck_assert_uint_eq(u.flow[3], both);
      ir_uniformity_free(&u);
      vyre_program_release(p);
    }
}
END_TEST

/* ---- Cost ---------------------------------------------------------------------------------- */

/* Dependences followed on a program, which must be linear in its size. */
static uint64_t work_of(vyre_program *p) {
  ir_uniformity u;
  ck_assert(ir_uniformity_create(&u, p));
  uint64_t work = u.work, size = (uint64_t)p->exprs.count + p->stmts.count;
  ck_assert_uint_le(work, 8 * size);
  ir_uniformity_free(&u);
  vyre_program_release(p);
  return work;
}

/* |depth| loops inside each other, each with a variable that is assigned from the one of the loop inside it, so that
 * divergence needs a turn of every loop to get out. */
static vyre_program *nested_loops(uint32_t depth) {
  kit k = kit_begin();
  vyre_var vars[VYRE_MAX_NESTING + 1];
  char name[16];
  for (uint32_t i = 0; i <= depth; i++) {
    snprintf(name, sizeof name, "v%u", i);
    vars[i] = var(&k, name, u32(&k, 0));
  }
  for (uint32_t i = 0; i < depth; i++) {
    snprintf(name, sizeof name, "turn%u", i);
    open_for(&k, name, value_of(&k, vars[i]));
    assign(&k, vars[i], value_of(&k, vars[i + 1]));
  }
  assign(&k, vars[depth], leaf(&k, VYRE_OP_LID));
  for (uint32_t i = 0; i < depth; i++) end(&k);
  return kit_finish(&k);
}

START_TEST(nested_loops_cost_what_they_are_long) {
  uint64_t half = work_of(nested_loops(VYRE_MAX_NESTING / 2)), whole = work_of(nested_loops(VYRE_MAX_NESTING));
  ck_assert_uint_gt(half, VYRE_MAX_NESTING / 2);
  ck_assert_uint_le(whole, 2 * half + 16);
}
END_TEST

/* Divergence goes through |count| variables against the order of the text. */
static vyre_program *long_chain(uint32_t count) {
  kit k = kit_begin();
  char name[16];
  vyre_var *vars = malloc(count * sizeof *vars);
  for (uint32_t i = 0; i < count; i++) {
    snprintf(name, sizeof name, "v%u", i);
    vars[i] = var(&k, name, u32(&k, 0));
  }
  open_for(&k, "i", k.n);
  for (uint32_t i = 0; i + 1 < count; i++) assign(&k, vars[i], value_of(&k, vars[i + 1]));
  assign(&k, vars[count - 1], leaf(&k, VYRE_OP_LID));
  end(&k);
  free(vars);
  return kit_finish(&k);
}

START_TEST(chains_against_the_text_cost_what_they_are_long) {
  uint64_t half = work_of(long_chain(20000)), whole = work_of(long_chain(40000));
  ck_assert_uint_gt(half, 20000);
  ck_assert_uint_le(whole, 2 * half + 16);
}
END_TEST

/* Each link of an `else if` chain nests in the one before. */
START_TEST(long_else_if_chains_are_walked) {
  kit k = kit_begin();
  enum { LINKS = 100000 };
  for (uint32_t i = 0; i < LINKS; i++) {
    open_if(&k, binary(&k, VYRE_OP_EQ, leaf(&k, VYRE_OP_LID), u32(&k, i)));
    jump_if(&k, VYRE_STMT_RETURN, condition(&k, IR_LEVEL_GRID));
    if (i + 1 < LINKS) vyre_build_else(k.b);
  }
  for (uint32_t i = 0; i < LINKS; i++) end(&k);
  work_of(kit_finish(&k));
}
END_TEST

/* One large expression in many statements, and a warning in each of them. */
START_TEST(shared_expressions_are_looked_at_once) {
  kit k = kit_begin();
  vyre_expr e = atomic(&k, VYRE_OP_ATOMIC_ADD, k.rw);
  for (uint32_t i = 0; i < 300; i++) e = binary(&k, VYRE_OP_ADD, e, leaf(&k, VYRE_OP_LANE));
  for (uint32_t i = 0; i < 10000; i++) {
    store(&k, k.rw, e);
    barrier(&k);
  }
  work_of(kit_finish(&k));
}
END_TEST

/* ---- Memory that runs out ------------------------------------------------------------------ */

static vyre_program *a_bit_of_all(void) {
  kit k = kit_begin();
  vyre_build_subgroup(k.b, 32);
  vyre_var x = var(&k, "x", u32(&k, 0));
  open_loop(&k);
  barrier(&k);
  vyre_var done = let(&k, "done", load(&k, k.flag, u32(&k, 0)));
  open_if(&k, binary(&k, VYRE_OP_LAND, not_zero(&k, value_of(&k, done)), condition(&k, IR_LEVEL_GRID)));
  simple(&k, VYRE_STMT_BREAK);
  vyre_build_else(k.b);
  assign(&k, x, u32(&k, 1));
  end(&k);
  end(&k);
  assign(&k, x, unary(&k, VYRE_OP_SUBGROUP_ADD, u32(&k, 1)));
  vyre_build_eval(k.b, atomic(&k, VYRE_OP_ATOMIC_ADD, k.rw));
  store(&k, k.rw, value_of(&k, x));
  return kit_finish(&k);
}

START_TEST(every_allocation_may_fail) {
  vyre_program *p = a_bit_of_all();
  uint64_t n = 1;
  for (bool failed = true; failed; n++) {
    vyre_error error = VYRE_ERROR_INIT;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = ir_validate(p, NULL, &error);
    failed = fail_malloc_end();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    ck_assert_int_eq(error.status, status);
    ck_assert_int_eq(fail_malloc_live(), before);
  }
  if (fail_malloc_works()) ck_assert_uint_gt(n, 10);
  vyre_program_release(p);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { each_operator_has_its_level,
                                 operators_are_as_weak_as_their_operands,
                                 loads_have_the_level_of_what_is_read,
                                 flow_has_the_level_of_its_conditions,
                                 nested_loops_cost_what_they_are_long,
                                 chains_against_the_text_cost_what_they_are_long,
                                 long_else_if_chains_are_walked,
                                 shared_expressions_are_looked_at_once,
                                 every_allocation_may_fail,
                                 NULL };
  return run_suite("uniformity", 120, tests);
}
