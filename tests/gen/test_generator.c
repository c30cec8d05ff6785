/* The generator of random programs: always valid, the same for the same seed, and nothing of the language left out. */
#include <check.h>
#include <string.h>

#include "random_program.h"
#include "../suite.h"
#include "ir/program.h"

static vyre_program *make(uint64_t seed, const random_program_options *options) {
  vyre_program *p = NULL;
  vyre_diagnostics *d;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_diagnostics_create("random", NULL, 0, &d), VYRE_OK);
  vyre_status status = random_program(seed, options, d, &p, &error);
  ck_assert_msg(status == VYRE_OK, "seed %llu: %s", (unsigned long long)seed, error.text);
  ck_assert_uint_eq(vyre_diagnostics_errors(d), 0);
  vyre_diagnostics_destroy(d);
  return p;
}

START_TEST(numbers_are_splitmix64) {
  random_source r = { 0 };
  ck_assert_uint_eq(random_bits(&r), 0xE220A8397B1DCDAFu);
  for (int i = 0; i < 1000; i++) ck_assert_uint_lt(random_below(&r, 7), 7);
}
END_TEST

START_TEST(a_seed_is_one_program) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    vyre_program *a = make(seed, NULL), *b = make(seed, NULL), *c = make(seed + 1, NULL);
    ck_assert(vyre_program_equal(a, b));
    ck_assert(!vyre_program_equal(a, c));
    vyre_program_release(a);
    vyre_program_release(b);
    vyre_program_release(c);
  }
}
END_TEST

/* On every machine and by every compiler. Where the generator was changed on purpose, the number is another. */
START_TEST(programs_are_the_same_everywhere) {
  uint32_t digest = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    vyre_program *p = make(seed, NULL);
    const uint8_t *fingerprint = vyre_program_fingerprint(p);
    for (int i = 0; i < 8; i++) digest = digest * 31 + fingerprint[i];
    vyre_program_release(p);
  }
  ck_assert_msg(digest == 0xC962AF6Eu, "0x%08X", digest);
}
END_TEST

/* What was seen over many seeds. */
typedef struct tally {
  uint32_t ops[VYRE_OP_COUNT], stmts[VYRE_STMT_COUNT], types[VYRE_TYPE_COUNT], elements[VYRE_TYPE_COUNT];
  uint32_t accesses[8], orders[8], scopes[8], casts[VYRE_TYPE_COUNT], attributes, grid_sync, needs;
} tally;

static void count(tally *t, const vyre_program *p) {
  for (uint32_t i = 1; i < p->exprs.count; i++) {
    const ir_expr *e = ir_expr_at(p, i);
    t->ops[e->op]++;
    t->types[e->type]++;
    if (e->op == VYRE_OP_CAST) t->casts[e->aux]++;
    if (e->op < VYRE_OP_ATOMIC_ADD || e->op > VYRE_OP_ATOMIC_STORE) continue;
    t->orders[e->aux]++;
    t->scopes[e->aux2]++;
  }
  for (uint32_t i = 1; i < p->stmts.count; i++) t->stmts[ir_stmt_at(p, i)->op]++;
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    t->accesses[p->buffers.data[i].access]++;
    t->elements[p->buffers.data[i].element]++;
  }
  t->attributes |= p->attributes;
  t->needs |= p->info.needs;
}

static void check_all(const tally *t) {
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++)
    ck_assert_msg(t->ops[op] > 0, "no %s", vyre_op_describe(op)->name);
  for (uint32_t op = 1; op < VYRE_STMT_COUNT; op++) ck_assert_msg(t->stmts[op] > 0, "no statement %u", op);
  for (vyre_type type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
    const char *name = vyre_type_describe(type)->spelling;
    ck_assert_msg(t->elements[type] > 0, "no buffer of %s", name);
    ck_assert_msg(type >= VYRE_TYPE_U8 || t->types[type] > 0, "no value of %s", name);
    bool converted = type <= VYRE_TYPE_F64 || type >= VYRE_TYPE_U8;
    ck_assert_msg(!converted || t->casts[type] > 0, "no conversion to %s", name);
  }
  for (uint32_t i = 0; i <= VYRE_ACCESS_LOCAL; i++) ck_assert_msg(t->accesses[i] > 0, "no access %u", i);
  for (uint32_t i = 0; i <= VYRE_ORDER_SEQ_CST; i++) ck_assert_msg(t->orders[i] > 0, "no order %u", i);
  for (uint32_t i = 0; i <= VYRE_SCOPE_SYSTEM; i++) ck_assert_msg(t->scopes[i] > 0, "no scope %u", i);
  ck_assert_uint_eq(t->needs, VYRE_NEED_STORAGE16 * 2 - 1);
}

START_TEST(nothing_is_left_out) {
  tally t = { 0 };
  for (uint64_t seed = 0; seed < 1500; seed++) {
    vyre_program *p = make(seed, NULL);
    count(&t, p);
    vyre_program_release(p);
  }
  check_all(&t);
  ck_assert_uint_eq(t.attributes, 15);
}
END_TEST

/* Nor by programs that have one answer, but for what frees it. */
START_TEST(nothing_reproducible_is_left_out) {
  random_program_options options = { .reproducible = true };
  tally t = { 0 };
  for (uint64_t seed = 5000; seed < 7500; seed++) {
    vyre_program *p = make(seed, &options);
    count(&t, p);
    vyre_program_release(p);
  }
  check_all(&t);
  ck_assert_uint_eq(t.attributes, VYRE_PROGRAM_PROGRESS_WORKGROUPS | VYRE_PROGRAM_NONCOMPOSABLE);
}
END_TEST

/* What every backend takes. */
START_TEST(workgroups_are_small) {
  random_program_options options = { .subgroups = 8 | 32 };
  for (uint64_t seed = 0; seed < 1000; seed++) {
    vyre_program_info info;
    vyre_program *p = make(seed, &options);
    vyre_program_describe(p, &info);
    ck_assert_uint_le(info.workgroup[0] * info.workgroup[1] * info.workgroup[2], 128);
    ck_assert_uint_le(info.shared_bytes, 16 << 10);
    ck_assert(info.subgroup == 0 || info.subgroup == 8 || info.subgroup == 32);
    vyre_program_release(p);
  }
}
END_TEST

/* How often an expression is evaluated, over a hundred programs. */
static double uses(uint32_t reuse) {
  random_program_options options = { .reproducible = true, .reuse = reuse };
  uint64_t all = 0, distinct = 0;
  for (uint64_t seed = 0; seed < 100; seed++) {
    vyre_program_info info;
    vyre_program *p = make(seed, &options);
    vyre_program_describe(p, &info);
    all += info.expr_uses;
    distinct += info.expr_count;
    vyre_program_release(p);
  }
  return (double)all / (double)distinct;
}

START_TEST(expressions_are_taken_again) {
  ck_assert_double_gt(uses(25), 1.2 * uses(0));
}
END_TEST

/* Each need can be avoided, alone and all at once. */
START_TEST(needs_are_avoided) {
  for (uint32_t bit = 0; bit <= 20; bit++) {
    random_program_options options = { .avoid = bit < 20 ? 1u << bit : VYRE_NEED_STORAGE16 * 2 - 1 };
    for (uint64_t seed = 0; seed < 60; seed++) {
      vyre_program_info info;
      vyre_program *p = make(seed, &options);
      vyre_program_describe(p, &info);
      ck_assert_msg((info.needs & options.avoid) == 0, "avoid 0x%x, seed %u needs 0x%x", options.avoid, (unsigned)seed,
                    info.needs);
      vyre_program_release(p);
    }
  }
}
END_TEST

START_TEST(reproducible_programs) {
  random_program_options options = { .reproducible = true };
  for (uint64_t seed = 0; seed < 300; seed++) {
    vyre_program_info info;
    vyre_program *p = make(seed, &options);
    vyre_program_describe(p, &info);
    ck_assert_uint_eq(info.attributes & (VYRE_PROGRAM_CONTRACT | VYRE_PROGRAM_FLUSH), 0);
    ck_assert_uint_eq(info.ulp, 0);
    for (uint32_t i = 1; i < p->exprs.count; i++) {
      const ir_expr *e = ir_expr_at(p, i);
      if (ir_op_effects[e->op] & VYRE_EFFECT_ULP) ck_assert_int_eq(e->type, VYRE_TYPE_F32);
    }
    vyre_program_release(p);
  }
}
END_TEST

START_TEST(large_programs) {
  random_program_options options = { .statements = 20000 };
  uint32_t statements = 0;
  for (uint64_t seed = 0; seed < 3; seed++) {
    vyre_program_info info;
    vyre_program *p = make(seed, &options);
    vyre_program_describe(p, &info);
    statements += info.statement_count;
    vyre_program_release(p);
  }
  ck_assert_uint_gt(statements, 30000);
}
END_TEST

int main(void) {
  const TTest *tests[] = { numbers_are_splitmix64,
                           a_seed_is_one_program,
                           programs_are_the_same_everywhere,
                           nothing_is_left_out,
                           nothing_reproducible_is_left_out,
                           workgroups_are_small,
                           expressions_are_taken_again,
                           needs_are_avoided,
                           reproducible_programs,
                           large_programs,
                           NULL };
  return run_suite("generator of random programs", 60, tests);
}
