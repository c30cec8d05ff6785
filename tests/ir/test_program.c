/* Programs as the builder makes them: sharing, blocks and scopes, limits, statistics, equality, life. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/builder.h"

static vyre_builder *begin(vyre_diagnostics **d) {
  vyre_builder *b;
  ck_assert_int_eq(vyre_diagnostics_create(NULL, NULL, 0, d), VYRE_OK);
  ck_assert_int_eq(vyre_builder_create("p", *d, &b), VYRE_OK);
  return b;
}

static vyre_program *finish(vyre_builder *b, vyre_diagnostics *d) {
  vyre_program *p = NULL;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_builder_finish(b, &p, &error);
  ck_assert_msg(status == VYRE_OK, "%s", error.text);
  vyre_builder_destroy(b);
  vyre_diagnostics_destroy(d);
  return p;
}

/* Ends a builder that must have failed with |code| first. */
static void finish_with(vyre_builder *b, vyre_diagnostics *d, vyre_code code) {
  vyre_program *p = (vyre_program *)b;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_diagnostic first;
  ck_assert_int_eq(vyre_builder_finish(b, &p, &error), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_ptr_null(p);
  ck_assert(vyre_diagnostics_get(d, 0, &first));
  ck_assert_str_eq(vyre_code_name(first.code), vyre_code_name(code));
  ck_assert_ptr_nonnull(strstr(error.text, vyre_code_name(code)));
  ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
  vyre_builder_destroy(b);
  vyre_diagnostics_destroy(d);
}

/* y[i] = a * x[i] + y[i]; |shuffled| builds the same in another order, with parts that nothing uses. */
static vyre_program *saxpy(bool shuffled, const char *variable) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_build_workgroup(b, 256, 1, 1);
  vyre_expr a = vyre_build_param(b, "a", VYRE_TYPE_F32);
  vyre_binding x = vyre_build_buffer(b, VYRE_ACCESS_READ, "x", VYRE_TYPE_F32, 0);
  vyre_binding y = vyre_build_buffer(b, VYRE_ACCESS_RW, "y", VYRE_TYPE_F32, 0);
  if (shuffled) vyre_build_u64(b, 77);
  vyre_var i = vyre_build_declare(b, VYRE_STMT_LET, variable, vyre_build_leaf(b, VYRE_OP_GID, 0));
  vyre_expr at = vyre_build_var_value(b, i);
  vyre_build_if(b, vyre_build_binary(b, VYRE_OP_LT, at, vyre_build_len(b, VYRE_OP_LEN, y)));
  vyre_expr second = shuffled ? vyre_build_load(b, VYRE_OP_LOAD, y, at) : 0;
  vyre_expr first = vyre_build_load(b, VYRE_OP_LOAD, x, at);
  if (!shuffled) second = vyre_build_load(b, VYRE_OP_LOAD, y, at);
  vyre_build_store(b, y, at, vyre_build_fma(b, a, first, second));
  vyre_build_end(b);
  return finish(b, d);
}

START_TEST(equal_expressions_are_one_entry) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_expr one = vyre_build_u32(b, 1), two = vyre_build_u32(b, 2);
  ck_assert_uint_eq(one, vyre_build_u32(b, 1));
  ck_assert_uint_ne(one, vyre_build_i32(b, 1));
  vyre_expr sum = vyre_build_binary(b, VYRE_OP_ADD, one, two);
  ck_assert_uint_eq(sum, vyre_build_binary(b, VYRE_OP_ADD, one, two));
  ck_assert_uint_ne(sum, vyre_build_binary(b, VYRE_OP_ADD, two, one));
  ck_assert_uint_ne(vyre_build_f32(b, 0.0f), vyre_build_f32(b, -0.0f));
  vyre_program_release(finish(b, d));
}
END_TEST

START_TEST(a_program_keeps_only_what_it_uses) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  for (uint32_t i = 0; i < 1000; i++) vyre_build_u32(b, i);
  vyre_build_declare(b, VYRE_STMT_LET, "x", vyre_build_u32(b, 999));
  vyre_program *p = finish(b, d);
  vyre_program_info info;
  vyre_program_describe(p, &info);
  ck_assert_uint_eq(info.expr_count, 1);
  ck_assert_uint_eq(info.statement_count, 1);
  vyre_program_release(p);
}
END_TEST

START_TEST(equality_sees_structure_and_names_but_not_order_of_building) {
  vyre_program *p = saxpy(false, "i"), *q = saxpy(true, "i"), *r = saxpy(false, "j");
  ck_assert(vyre_program_equal(p, p));
  ck_assert(vyre_program_equal(p, q));
  ck_assert(vyre_program_equal(q, p));
  ck_assert(!vyre_program_equal(p, r));
  ck_assert_mem_eq(vyre_program_fingerprint(p), vyre_program_fingerprint(q), VYRE_FINGERPRINT_BYTES);
  ck_assert_mem_ne(vyre_program_fingerprint(p), vyre_program_fingerprint(r), VYRE_FINGERPRINT_BYTES);
  vyre_program_release(p);
  vyre_program_release(q);
  vyre_program_release(r);
}
END_TEST

/* Two programs with as many nodes that differ in how they are shared. */
static vyre_program *sums(bool crossed) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_binding y = vyre_build_buffer(b, VYRE_ACCESS_WRITE, "y", VYRE_TYPE_U32, 0);
  vyre_expr x = vyre_build_leaf(b, VYRE_OP_GID, 0), z = vyre_build_leaf(b, VYRE_OP_LID, 0);
  vyre_expr sum = vyre_build_binary(b, VYRE_OP_ADD, x, z), other = vyre_build_binary(b, VYRE_OP_MUL, x, z);
  vyre_build_store(b, y, x, vyre_build_binary(b, VYRE_OP_ADD, sum, crossed ? other : sum));
  vyre_build_store(b, y, z, vyre_build_binary(b, VYRE_OP_ADD, other, crossed ? sum : other));
  return finish(b, d);
}

START_TEST(equality_compares_sharing) {
  vyre_program *p = sums(false), *q = sums(true);
  ck_assert(!vyre_program_equal(p, q));
  ck_assert(!vyre_program_equal(q, p));
  vyre_program_release(p);
  vyre_program_release(q);
}
END_TEST

START_TEST(derived_statistics_count_as_written) {
  vyre_program *p = saxpy(false, "i");
  vyre_program_info info;
  vyre_program_describe(p, &info);
  ck_assert_str_eq(info.name, "p");
  ck_assert_uint_eq(info.workgroup[0], 256);
  ck_assert_uint_eq(info.statement_count, 3);
  ck_assert_uint_eq(info.expr_count, 8);
  ck_assert_uint_eq(info.expr_uses, 11);
  ck_assert_uint_eq(info.memory_op_count, 3);
  ck_assert_uint_eq(info.control_flow_count, 1);
  ck_assert_uint_eq(info.max_live_names, 1);
  ck_assert_uint_eq(info.binding_count, 2);
  ck_assert_uint_eq(info.needs, VYRE_NEED_FMA);
  ck_assert_uint_eq(info.ulp, VYRE_ULP_UNSET);
  ck_assert_uint_eq(info.stmt_kinds, 1u << VYRE_STMT_LET | 1u << VYRE_STMT_IF | 1u << VYRE_STMT_STORE);
  vyre_program_release(p);
}
END_TEST

START_TEST(memory_totals_are_rounded_and_never_wrap) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_build_buffer(b, VYRE_ACCESS_SHARED, "s", VYRE_TYPE_U8, 17);
  vyre_build_buffer(b, VYRE_ACCESS_LOCAL, "l", VYRE_TYPE_F64, 3);
  vyre_build_buffer(b, VYRE_ACCESS_LOCAL, "m", VYRE_TYPE_F64, INT64_MAX / 8);
  vyre_build_buffer(b, VYRE_ACCESS_LOCAL, "n", VYRE_TYPE_F64, INT64_MAX / 8);
  vyre_build_buffer(b, VYRE_ACCESS_LOCAL, "o", VYRE_TYPE_F64, INT64_MAX / 8);
  vyre_program *p = finish(b, d);
  vyre_program_info info;
  vyre_program_describe(p, &info);
  ck_assert_uint_eq(info.shared_bytes, 32);
  ck_assert_uint_eq(info.local_bytes, UINT64_MAX);
  vyre_program_release(p);
}
END_TEST

START_TEST(a_length_beyond_64_bit_sizes_is_refused) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_build_buffer(b, VYRE_ACCESS_READ, "x", VYRE_TYPE_F64, UINT64_MAX / 4);
  finish_with(b, d, VYRE_V145);
}
END_TEST

START_TEST(slots_number_only_what_is_bound) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  uint32_t table[2] = { 1, 2 };
  vyre_build_buffer(b, VYRE_ACCESS_READ, "x", VYRE_TYPE_F32, 4);
  vyre_build_buffer(b, VYRE_ACCESS_SHARED, "s", VYRE_TYPE_F32, 4);
  vyre_build_table(b, "t", VYRE_TYPE_U32, table, 2);
  vyre_binding y = vyre_build_buffer(b, VYRE_ACCESS_WRITE, "y", VYRE_TYPE_F32, 0);
  vyre_build_declare(b, VYRE_STMT_LET, "n", vyre_build_len(b, VYRE_OP_LEN, y));
  vyre_program *p = finish(b, d);
  vyre_buffer_info info;
  ck_assert(vyre_program_slot(p, 1, &info));
  ck_assert_str_eq(info.name, "y");
  ck_assert(info.uses_len32);
  ck_assert(!vyre_program_slot(p, 2, &info));
  ck_assert(!vyre_program_slot(p, UINT32_MAX, &info));
  ck_assert(vyre_program_buffer(p, 1, &info));
  ck_assert_uint_eq(info.slot, UINT32_MAX);
  ck_assert(!vyre_program_buffer(p, 4, &info));
  vyre_program_release(p);
}
END_TEST

/* ---- Needs --------------------------------------------------------------------------------- */

static uint32_t needs_of(vyre_program *p) {
  vyre_program_info info;
  vyre_program_describe(p, &info);
  vyre_program_release(p);
  return info.needs;
}

START_TEST(needs_follow_from_operators_and_types) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_binding y = vyre_build_buffer(b, VYRE_ACCESS_RW, "y", VYRE_TYPE_I64, 0);
  vyre_build_buffer(b, VYRE_ACCESS_READ, "h", VYRE_TYPE_F16, 0);
  vyre_expr zero = vyre_build_u32(b, 0);
  vyre_build_eval(b, vyre_build_atomic(b, VYRE_OP_ATOMIC_ADD, y, zero, vyre_build_i64(b, -1), 0, VYRE_ORDER_SEQ_CST,
                                       VYRE_SCOPE_DEFAULT));
  vyre_build_declare(b, VYRE_STMT_LET, "s", vyre_build_unary(b, VYRE_OP_SUBGROUP_ADD, zero));
  vyre_build_declare(b, VYRE_STMT_LET, "e", vyre_build_unary(b, VYRE_OP_EXP, vyre_build_f32(b, 1)));
  vyre_build_simple(b, VYRE_STMT_GRID_BARRIER);
  ck_assert_uint_eq(needs_of(finish(b, d)), VYRE_NEED_INT64 | VYRE_NEED_ATOMIC64 | VYRE_NEED_SEQ_CST |
                                                VYRE_NEED_SUBGROUP | VYRE_NEED_ULP | VYRE_NEED_GRID_BARRIER |
                                                VYRE_NEED_STORAGE16 | VYRE_NEED_FLOAT16);
}
END_TEST

START_TEST(a_grid_barrier_inside_a_loop_needs_grid_sync) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_build_for(b, "i", vyre_build_u32(b, 0), vyre_build_u32(b, 4), 0);
  vyre_build_block(b);
  vyre_build_simple(b, VYRE_STMT_GRID_BARRIER);
  vyre_build_end(b);
  vyre_build_end(b);
  vyre_build_region(b, "outside");
  vyre_build_end(b);
  ck_assert_uint_eq(needs_of(finish(b, d)), VYRE_NEED_GRID_SYNC);
}
END_TEST

/* ---- Blocks, scopes and limits ------------------------------------------------------------- */

START_TEST(blocks_must_match) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_build_block(b);
  finish_with(b, d, VYRE_V150);
  b = begin(&d);
  vyre_build_end(b);
  finish_with(b, d, VYRE_V150);
  b = begin(&d);
  vyre_build_block(b);
  vyre_build_else(b);
  vyre_build_end(b);
  finish_with(b, d, VYRE_V150);
}
END_TEST

START_TEST(a_variable_is_gone_with_its_block) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_build_block(b);
  vyre_var x = vyre_build_declare(b, VYRE_STMT_LET, "x", vyre_build_u32(b, 1));
  vyre_build_end(b);
  vyre_build_declare(b, VYRE_STMT_LET, "x", vyre_build_u32(b, 2));
  ck_assert_uint_eq(vyre_builder_errors(b), 0);
  ck_assert_uint_eq(vyre_build_var_value(b, x), 0);
  finish_with(b, d, VYRE_V66);
}
END_TEST

START_TEST(an_expression_is_gone_with_the_variables_in_it) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_build_block(b);
  vyre_expr x = vyre_build_var_value(b, vyre_build_declare(b, VYRE_STMT_LET, "x", vyre_build_u32(b, 1)));
  vyre_expr kept = vyre_build_unary(b, VYRE_OP_BITNOT, x);
  vyre_build_end(b);
  vyre_expr y = vyre_build_var_value(b, vyre_build_declare(b, VYRE_STMT_LET, "y", vyre_build_u32(b, 2)));
  ck_assert_uint_eq(vyre_builder_errors(b), 0);
  ck_assert_uint_eq(vyre_build_binary(b, VYRE_OP_ADD, kept, y), 0);
  ck_assert_uint_eq(vyre_builder_errors(b), 1);
  vyre_build_declare(b, VYRE_STMT_LET, "z", kept);
  ck_assert_uint_eq(vyre_builder_errors(b), 2);
  finish_with(b, d, VYRE_V66);
}
END_TEST

START_TEST(table_elements_are_what_text_can_write) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  static const uint32_t floats[4] = { 0xFFC12345, 0xFF800000, 0x80000000, 0x7F800001 }, words[3] = { 0, 1, 7 };
  static const uint16_t halves[2] = { 0xFC01, 0xFC00 };
  vyre_build_table(b, "f", VYRE_TYPE_F32X4, floats, 1);
  vyre_build_table(b, "w", VYRE_TYPE_BOOL, words, 3);
  vyre_build_table(b, "h", VYRE_TYPE_F16, halves, 2);
  vyre_program *p = finish(b, d);
  static const uint32_t floats_want[4] = { 0x7FC00000, 0xFF800000, 0x80000000, 0x7FC00000 }, words_want[3] = { 0, 1, 1 };
  static const uint16_t halves_want[2] = { 0x7E00, 0xFC00 };
  ck_assert_mem_eq(p->buffers.data[0].data, floats_want, sizeof floats_want);
  ck_assert_mem_eq(p->buffers.data[1].data, words_want, sizeof words_want);
  ck_assert_mem_eq(p->buffers.data[2].data, halves_want, sizeof halves_want);
  vyre_program_release(p);
}
END_TEST

START_TEST(a_length_that_is_not_used_binds_nothing) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_build_len(b, VYRE_OP_LEN, vyre_build_buffer(b, VYRE_ACCESS_READ, "x", VYRE_TYPE_U8, 0));
  vyre_program *p = finish(b, d);
  vyre_buffer_info info;
  ck_assert(vyre_program_buffer(p, 0, &info));
  ck_assert(!info.uses_len32);
  vyre_program_release(p);
}
END_TEST

START_TEST(the_arms_of_an_if_have_scopes_of_their_own) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_build_if(b, vyre_build_bool(b, true));
  vyre_build_declare(b, VYRE_STMT_LET, "x", vyre_build_u32(b, 1));
  vyre_build_else(b);
  vyre_build_declare(b, VYRE_STMT_LET, "x", vyre_build_u32(b, 2));
  vyre_build_end(b);
  vyre_program_release(finish(b, d));
}
END_TEST

static void nest(vyre_builder *b, uint32_t depth) {
  for (uint32_t i = 0; i < depth; i++) vyre_build_block(b);
  for (uint32_t i = 0; i < depth; i++) vyre_build_end(b);
}

START_TEST(nesting_at_its_limit_and_beyond) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  nest(b, VYRE_MAX_NESTING);
  vyre_program_release(finish(b, d));
  b = begin(&d);
  nest(b, VYRE_MAX_NESTING + 1);
  finish_with(b, d, VYRE_V18);
}
END_TEST

/* |count| else-ifs; with |tail|, something follows the last if in its else block. */
static void chain(vyre_builder *b, uint32_t count, bool tail) {
  vyre_expr yes = vyre_build_bool(b, true);
  for (uint32_t i = 0; i < count; i++) {
    vyre_build_if(b, yes);
    vyre_build_else(b);
  }
  for (uint32_t i = 0; i < count; i++) {
    vyre_build_end(b);
    if (tail && i + 1 < count) vyre_build_simple(b, VYRE_STMT_COMMIT);
  }
}

START_TEST(an_else_if_chain_is_one_level) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  chain(b, 100000, false);
  vyre_program_release(finish(b, d));
  b = begin(&d);
  chain(b, VYRE_MAX_NESTING, true);
  vyre_program_release(finish(b, d));
  b = begin(&d);
  chain(b, VYRE_MAX_NESTING + 1, true);
  finish_with(b, d, VYRE_V18);
}
END_TEST

START_TEST(an_inlined_call_has_a_nesting_budget_of_its_own) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  for (uint32_t call = 0; call < VYRE_MAX_CALL_DEPTH; call++) {
    for (uint32_t i = 0; i < VYRE_MAX_NESTING; i++) vyre_build_block(b);
    vyre_build_region(b, VYRE_CALL_REGION_PREFIX "f");
  }
  for (uint32_t i = 0; i < VYRE_MAX_CALL_DEPTH * (VYRE_MAX_NESTING + 1); i++) vyre_build_end(b);
  vyre_program_release(finish(b, d));
  b = begin(&d);
  for (uint32_t call = 0; call <= VYRE_MAX_CALL_DEPTH; call++) vyre_build_region(b, VYRE_CALL_REGION_PREFIX "f");
  for (uint32_t call = 0; call <= VYRE_MAX_CALL_DEPTH; call++) vyre_build_end(b);
  finish_with(b, d, VYRE_V140);
}
END_TEST

static vyre_expr tower(vyre_builder *b, uint32_t depth) {
  vyre_expr e = vyre_build_leaf(b, VYRE_OP_GID, 0);
  for (uint32_t i = 1; i < depth; i++) e = vyre_build_unary(b, VYRE_OP_BITNOT, e);
  return e;
}

START_TEST(expression_depth_at_its_limit_and_beyond) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_build_declare(b, VYRE_STMT_LET, "x", tower(b, VYRE_MAX_EXPR_DEPTH));
  vyre_program_release(finish(b, d));
  b = begin(&d);
  vyre_build_declare(b, VYRE_STMT_LET, "x", tower(b, VYRE_MAX_EXPR_DEPTH + 1));
  finish_with(b, d, VYRE_V33);
}
END_TEST

START_TEST(statements_at_their_limit_and_beyond) {
  for (uint32_t extra = 0; extra < 2; extra++) {
    vyre_diagnostics *d;
    vyre_builder *b = begin(&d);
    for (uint32_t i = 0; i < VYRE_MAX_STATEMENTS + extra; i++) vyre_build_simple(b, VYRE_STMT_COMMIT);
    if (extra == 0) vyre_program_release(finish(b, d));
    else finish_with(b, d, VYRE_V19);
  }
}
END_TEST

START_TEST(declarations_at_their_limit_and_beyond) {
  for (uint32_t extra = 0; extra < 2; extra++) {
    vyre_diagnostics *d;
    vyre_builder *b = begin(&d);
    for (uint32_t i = 0; i < VYRE_MAX_DECLARATIONS + extra; i++) {
      char name[16];
      snprintf(name, sizeof name, "b%u", i);
      vyre_build_buffer(b, VYRE_ACCESS_READ, name, VYRE_TYPE_U32, 0);
    }
    if (extra == 0) vyre_program_release(finish(b, d));
    else finish_with(b, d, VYRE_V141);
  }
}
END_TEST

START_TEST(shared_subtrees_that_no_wire_form_could_hold_are_refused) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_expr e = vyre_build_leaf(b, VYRE_OP_GID, 0);
  for (uint32_t i = 0; i < 100; i++) e = vyre_build_binary(b, VYRE_OP_ADD, e, e);
  vyre_build_declare(b, VYRE_STMT_LET, "x", e);
  finish_with(b, d, VYRE_V143);
}
END_TEST

START_TEST(a_failed_expression_stays_silent) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_expr wrong = vyre_build_binary(b, VYRE_OP_ADD, vyre_build_u32(b, 1), vyre_build_f32(b, 1));
  ck_assert_uint_eq(wrong, 0);
  vyre_expr more = vyre_build_unary(b, VYRE_OP_NEG, vyre_build_select(b, vyre_build_bool(b, true), wrong, wrong));
  ck_assert_uint_eq(more, 0);
  vyre_var x = vyre_build_declare(b, VYRE_STMT_LET, "x", more);
  ck_assert_uint_eq(vyre_build_var_value(b, x), 0);
  vyre_build_if(b, more);
  vyre_build_end(b);
  ck_assert_uint_eq(vyre_builder_errors(b), 1);
  finish_with(b, d, VYRE_V88);
}
END_TEST

START_TEST(a_builder_finishes_once) {
  vyre_diagnostics *d;
  vyre_builder *b = begin(&d);
  vyre_program *p, *again;
  ck_assert_int_eq(vyre_builder_finish(b, &p, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_builder_finish(b, &again, NULL), VYRE_ERR_CLOSED);
  vyre_builder_destroy(b);
  vyre_program *shared = vyre_program_retain(p);
  vyre_program_release(p);
  vyre_program_info info;
  vyre_program_describe(shared, &info);
  ck_assert_uint_eq(info.statement_count, 0);
  vyre_program_release(shared);
  vyre_diagnostics_destroy(d);
}
END_TEST

START_TEST(numbers_that_are_no_type_are_refused) {
  static const int numbers[] = { -1, VYRE_TYPE_COUNT, 99, INT32_MAX };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    for (int call = 0; call < 6; call++) {
      vyre_diagnostics *d;
      vyre_builder *b = begin(&d);
      vyre_type type = (vyre_type)numbers[i];
      vyre_expr one = vyre_build_u32(b, 1);
      switch (call) {
        case 0: vyre_build_bitcast(b, type, one); break;
        case 1: vyre_build_cast(b, type, one); break;
        case 2: vyre_build_vector(b, type, &one, 1); break;
        case 3: vyre_build_literal(b, type, 1); break;
        case 4: vyre_build_param(b, "p", type); break;
        case 5: vyre_build_buffer(b, VYRE_ACCESS_READ, "x", type, 1); break;
      }
      vyre_diagnostic first;
      ck_assert_uint_eq(vyre_builder_errors(b), 1);
      ck_assert(vyre_diagnostics_get(d, 0, &first));
      ck_assert_ptr_null(strstr(first.message, "(null)"));
      vyre_builder_destroy(b);
      vyre_diagnostics_destroy(d);
    }
}
END_TEST

START_TEST(a_text_that_is_null_is_the_empty_one) {
  for (int call = 0; call < 5; call++) {
    vyre_diagnostics *d;
    vyre_builder *b = begin(&d);
    vyre_expr one = vyre_build_u32(b, 1);
    switch (call) {
      case 0: vyre_build_declare(b, VYRE_STMT_LET, NULL, one); break;
      case 1: vyre_build_for(b, NULL, one, one, 0); break;
      case 2: vyre_build_param(b, NULL, VYRE_TYPE_U32); break;
      case 3: vyre_build_op(b, NULL); break;
      case 4: vyre_build_region(b, NULL); break;
    }
    ck_assert_uint_eq(vyre_builder_errors(b), call < 4);
    vyre_builder_destroy(b);
    vyre_diagnostics_destroy(d);
  }
}
END_TEST

START_TEST(names_are_checked) {
  static const char *const bad[] = { "", "1x", "a-b", "if", "f32", "gid", "tile_load", "sqrt", "\xC3\xA9" };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    vyre_diagnostics *d;
    vyre_builder *b = begin(&d);
    vyre_build_param(b, bad[i], VYRE_TYPE_U32);
    finish_with(b, d, VYRE_V142);
  }
  char name[VYRE_MAX_NAME_BYTES + 2];
  memset(name, 'n', sizeof name);
  for (uint32_t extra = 0; extra < 2; extra++) {
    vyre_diagnostics *d;
    vyre_builder *b = begin(&d);
    name[VYRE_MAX_NAME_BYTES + extra] = 0;
    vyre_build_param(b, name, VYRE_TYPE_U32);
    name[VYRE_MAX_NAME_BYTES + extra] = 'n';
    if (extra == 0) vyre_program_release(finish(b, d));
    else finish_with(b, d, VYRE_V142);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("program");
  TCase *tc = tcase_create("program");
  tcase_set_timeout(tc, 120);
  tcase_add_test(tc, equal_expressions_are_one_entry);
  tcase_add_test(tc, a_program_keeps_only_what_it_uses);
  tcase_add_test(tc, equality_sees_structure_and_names_but_not_order_of_building);
  tcase_add_test(tc, equality_compares_sharing);
  tcase_add_test(tc, derived_statistics_count_as_written);
  tcase_add_test(tc, memory_totals_are_rounded_and_never_wrap);
  tcase_add_test(tc, a_length_beyond_64_bit_sizes_is_refused);
  tcase_add_test(tc, slots_number_only_what_is_bound);
  tcase_add_test(tc, needs_follow_from_operators_and_types);
  tcase_add_test(tc, a_grid_barrier_inside_a_loop_needs_grid_sync);
  tcase_add_test(tc, blocks_must_match);
  tcase_add_test(tc, a_variable_is_gone_with_its_block);
  tcase_add_test(tc, an_expression_is_gone_with_the_variables_in_it);
  tcase_add_test(tc, table_elements_are_what_text_can_write);
  tcase_add_test(tc, a_length_that_is_not_used_binds_nothing);
  tcase_add_test(tc, the_arms_of_an_if_have_scopes_of_their_own);
  tcase_add_test(tc, nesting_at_its_limit_and_beyond);
  tcase_add_test(tc, an_else_if_chain_is_one_level);
  tcase_add_test(tc, an_inlined_call_has_a_nesting_budget_of_its_own);
  tcase_add_test(tc, expression_depth_at_its_limit_and_beyond);
  tcase_add_test(tc, statements_at_their_limit_and_beyond);
  tcase_add_test(tc, declarations_at_their_limit_and_beyond);
  tcase_add_test(tc, shared_subtrees_that_no_wire_form_could_hold_are_refused);
  tcase_add_test(tc, a_failed_expression_stays_silent);
  tcase_add_test(tc, a_builder_finishes_once);
  tcase_add_test(tc, numbers_that_are_no_type_are_refused);
  tcase_add_test(tc, a_text_that_is_null_is_the_empty_one);
  tcase_add_test(tc, names_are_checked);
  suite_add_tcase(suite, tc);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
