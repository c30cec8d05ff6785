/* Where barriers and other operations of the whole workgroup may stand: docs/language.md, section 8. Loops that are
 * left behind their last barrier are in test_exits.c. */
#include "flow.h"

/* ---- Conditions around a barrier ---- */

static void at_top_level(kit *k) { barrier(k); }
static void in_block_and_region(kit *k) {
  vyre_build_block(k->b);
  vyre_build_region(k->b, "r");
  barrier(k);
  end(k);
  end(k);
}
static void in_grid_if(kit *k) { UNDER(k, condition(k, GRID)) barrier(k); }
static void in_workgroup_if(kit *k) { UNDER(k, condition(k, WORKGROUP)) barrier(k); }
static void in_subgroup_if(kit *k) { UNDER(k, condition(k, SUBGROUP)) barrier(k); }
static void in_divergent_if(kit *k) { UNDER(k, condition(k, DIVERGENT)) barrier(k); }
static void in_divergent_else(kit *k) {
  open_if(k, condition(k, DIVERGENT));
  vyre_build_else(k->b);
  barrier(k);
  end(k);
}
static void behind_divergent_if(kit *k) {
  UNDER(k, condition(k, DIVERGENT)) store(k, k->rw, u32(k, 1));
  barrier(k);
}
static void uniform_inside_divergent(kit *k) {
  open_if(k, condition(k, DIVERGENT));
  UNDER(k, condition(k, GRID)) barrier(k);
  end(k);
}
static void uniform_loop(kit *k) {
  open_for(k, "i", k->n);
  barrier(k);
  end(k);
}
static void divergent_bound(kit *k) {
  open_for(k, "i", leaf(k, VYRE_OP_LID));
  barrier(k);
  end(k);
}
static void divergent_start(kit *k) {
  vyre_build_for(k->b, "i", leaf(k, VYRE_OP_LID), k->n, 0);
  barrier(k);
  end(k);
}
static void divergent_step(kit *k) {
  vyre_build_for(k->b, "i", u32(k, 0), k->n, leaf(k, VYRE_OP_LID));
  barrier(k);
  end(k);
}
static void behind_divergent_loop(kit *k) {
  open_for(k, "i", leaf(k, VYRE_OP_LID));
  end(k);
  barrier(k);
}
static void under_loop_variable(kit *k) {
  vyre_var i = open_for(k, "i", k->n);
  UNDER(k, not_zero(k, value_of(k, i))) barrier(k);
  end(k);
}
static void under_divergent_loop_variable(kit *k) {
  vyre_var i = open_for(k, "i", leaf(k, VYRE_OP_GID));
  UNDER(k, not_zero(k, value_of(k, i))) barrier(k);
  end(k);
}
static void under_read_load(kit *k) { UNDER(k, not_zero(k, load(k, k->in, leaf(k, VYRE_OP_WID)))) barrier(k); }
static void under_divergent_read_load(kit *k) {
  UNDER(k, not_zero(k, load(k, k->in, leaf(k, VYRE_OP_LID)))) barrier(k);
}
static void under_rw_load(kit *k) { UNDER(k, not_zero(k, load(k, k->rw, u32(k, 0)))) barrier(k); }
static void under_shared_load(kit *k) {
  barrier(k);
  UNDER(k, settled(k)) barrier(k);
}
static void under_local_load(kit *k) { UNDER(k, not_zero(k, load(k, k->mine, u32(k, 0)))) barrier(k); }
static void under_workgroup_uniform_load(kit *k) {
  UNDER(k, not_zero(k, uniform_load(k, k->flag, u32(k, 0)))) barrier(k);
}
static void under_grid_uniform_load(kit *k) {
  UNDER(k, not_zero(k, vyre_build_load(k->b, VYRE_OP_GRID_UNIFORM_LOAD, k->rw, u32(k, 0)))) barrier(k);
}
static void under_atomic(kit *k) { UNDER(k, not_zero(k, atomic(k, VYRE_OP_ATOMIC_ADD, k->rw))) barrier(k); }
static void under_ballot(kit *k) {
  UNDER(k, not_zero(k, unary(k, VYRE_OP_SUBGROUP_BALLOT, vyre_build_bool(k->b, true)))) barrier(k);
}
static void under_should_stop(kit *k) { UNDER(k, leaf(k, VYRE_OP_SHOULD_STOP)) barrier(k); }

/* ---- Variables ---- */

static void unsound_assign_under_divergence(kit *k) {
  vyre_var x = var(k, "x", u32(k, 0));
  UNDER(k, condition(k, DIVERGENT)) assign(k, x, u32(k, 1));
  UNDER(k, not_zero(k, value_of(k, x))) barrier(k);
}
static void unsound_late_in_loop(kit *k) {
  vyre_var x = var(k, "x", u32(k, 0));
  open_for(k, "i", k->n);
  UNDER(k, not_zero(k, value_of(k, x))) barrier(k);
  assign(k, x, leaf(k, VYRE_OP_LID));
  end(k);
}
static void unsound_return_then_barrier(kit *k) {
  jump_if(k, VYRE_STMT_RETURN, condition(k, DIVERGENT));
  barrier(k);
}
static void collective_return_then_barrier(kit *k) {
  jump_if(k, VYRE_STMT_RETURN, condition(k, WORKGROUP));
  barrier(k);
}
static void assigned_under_uniform(kit *k) {
  vyre_var x = var(k, "x", u32(k, 0));
  UNDER(k, condition(k, WORKGROUP)) assign(k, x, u32(k, 1));
  UNDER(k, not_zero(k, value_of(k, x))) barrier(k);
}
static void assigned_in_a_loop_left_divergently(kit *k) {
  vyre_var x = var(k, "x", u32(k, 0));
  open_loop(k);
  assign(k, x, binary(k, VYRE_OP_ADD, value_of(k, x), u32(k, 1)));
  jump_if(k, VYRE_STMT_BREAK, binary(k, VYRE_OP_GT, value_of(k, x), leaf(k, VYRE_OP_LID)));
  end(k);
  UNDER(k, not_zero(k, value_of(k, x))) barrier(k);
}
static void assigned_in_a_loop_left_together(kit *k) {
  vyre_var x = var(k, "x", u32(k, 0));
  open_loop(k);
  assign(k, x, binary(k, VYRE_OP_ADD, value_of(k, x), u32(k, 1)));
  jump_if(k, VYRE_STMT_BREAK, binary(k, VYRE_OP_GT, value_of(k, x), k->n));
  end(k);
  UNDER(k, not_zero(k, value_of(k, x))) barrier(k);
}
static void assigned_before_divergent_continue(kit *k) {
  vyre_var x = var(k, "x", u32(k, 0));
  open_for(k, "i", k->n);
  assign(k, x, binary(k, VYRE_OP_ADD, value_of(k, x), u32(k, 1)));
  jump_if(k, VYRE_STMT_CONTINUE, condition(k, DIVERGENT));
  store(k, k->rw, u32(k, 1));
  end(k);
  UNDER(k, not_zero(k, value_of(k, x))) barrier(k);
}
static void assigned_behind_divergent_continue(kit *k) {
  vyre_var x = var(k, "x", u32(k, 0));
  open_for(k, "i", k->n);
  jump_if(k, VYRE_STMT_CONTINUE, condition(k, DIVERGENT));
  assign(k, x, binary(k, VYRE_OP_ADD, value_of(k, x), u32(k, 1)));
  end(k);
  UNDER(k, not_zero(k, value_of(k, x))) barrier(k);
}
/* Each turn moves divergence one variable on, against the order of the text. */
static void divergence_goes_around(kit *k) {
  vyre_var a = var(k, "a", u32(k, 0)), b = var(k, "b", u32(k, 0)), c = var(k, "c", u32(k, 0));
  open_for(k, "i", k->n);
  UNDER(k, not_zero(k, value_of(k, a))) barrier(k);
  assign(k, a, value_of(k, b));
  assign(k, b, value_of(k, c));
  assign(k, c, leaf(k, VYRE_OP_LID));
  end(k);
}
static void divergence_comes_from_an_inner_loop(kit *k) {
  vyre_var a = var(k, "a", u32(k, 0)), b = var(k, "b", u32(k, 0));
  open_for(k, "i", k->n);
  open_for(k, "j", k->n);
  UNDER(k, not_zero(k, value_of(k, a))) barrier(k);
  open_for(k, "m", k->n);
  assign(k, a, value_of(k, b));
  end(k);
  end(k);
  assign(k, b, leaf(k, VYRE_OP_LANE));
  end(k);
}

/* ---- Jumps ---- */

static void return_in_the_other_arm(kit *k) {
  open_if(k, condition(k, WORKGROUP));
  jump_if(k, VYRE_STMT_RETURN, condition(k, DIVERGENT));
  vyre_build_else(k->b);
  barrier(k);
  end(k);
}
static void return_in_an_arm_then_barrier(kit *k) {
  open_if(k, condition(k, WORKGROUP));
  jump_if(k, VYRE_STMT_RETURN, condition(k, DIVERGENT));
  end(k);
  barrier(k);
}
static void trap_then_barrier(kit *k) {
  jump_if(k, VYRE_STMT_TRAP, condition(k, DIVERGENT));
  barrier(k);
}
static void return_in_a_loop_then_barrier(kit *k) {
  open_for(k, "i", k->n);
  jump_if(k, VYRE_STMT_RETURN, condition(k, DIVERGENT));
  end(k);
  barrier(k);
}
static void break_in_a_loop_then_barrier(kit *k) {
  open_for(k, "i", k->n);
  jump_if(k, VYRE_STMT_BREAK, condition(k, DIVERGENT));
  end(k);
  barrier(k);
}
static void break_before_barrier(kit *k) {
  open_for(k, "i", k->n);
  jump_if(k, VYRE_STMT_BREAK, condition(k, DIVERGENT));
  barrier(k);
  end(k);
}
static void continue_before_barrier(kit *k) {
  open_for(k, "i", k->n);
  jump_if(k, VYRE_STMT_CONTINUE, condition(k, DIVERGENT));
  barrier(k);
  end(k);
}
static void continue_behind_barrier(kit *k) {
  open_for(k, "i", k->n);
  barrier(k);
  jump_if(k, VYRE_STMT_CONTINUE, condition(k, DIVERGENT));
  store(k, k->rw, u32(k, 1));
  end(k);
}
/* The continue skips the break, so not all leave. */
static void continue_skips_break(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_CONTINUE, condition(k, DIVERGENT));
  simple(k, VYRE_STMT_BREAK);
  end(k);
}
static void return_from_inner_loop_that_some_left(kit *k) {
  open_loop(k);
  barrier(k);
  open_loop(k);
  jump_if(k, VYRE_STMT_RETURN, not_zero(k, vyre_build_load(k->b, VYRE_OP_GRID_UNIFORM_LOAD, k->rw, u32(k, 0))));
  jump_if(k, VYRE_STMT_BREAK, condition(k, DIVERGENT));
  end(k);
  jump_if(k, VYRE_STMT_BREAK, condition(k, GRID));
  end(k);
}
static void only_return_from_inner_loop_that_some_left(kit *k) {
  open_for(k, "i", k->n);
  barrier(k);
  open_loop(k);
  jump_if(k, VYRE_STMT_RETURN, not_zero(k, vyre_build_load(k->b, VYRE_OP_GRID_UNIFORM_LOAD, k->rw, u32(k, 0))));
  jump_if(k, VYRE_STMT_BREAK, condition(k, DIVERGENT));
  end(k);
  end(k);
}
static void continue_inside_ifs_before_barrier(kit *k) {
  open_for(k, "i", k->n);
  open_if(k, condition(k, GRID));
  UNDER(k, condition(k, WORKGROUP)) jump_if(k, VYRE_STMT_CONTINUE, condition(k, DIVERGENT));
  end(k);
  barrier(k);
  end(k);
}
static void inner_break_stays_inside(kit *k) {
  open_for(k, "i", k->n);
  barrier(k);
  open_loop(k);
  jump_if(k, VYRE_STMT_BREAK, condition(k, DIVERGENT));
  end(k);
  end(k);
}

/* ---- Other operations of the workgroup ---- */

static void commit_under_divergence(kit *k) { UNDER(k, condition(k, DIVERGENT)) simple(k, VYRE_STMT_COMMIT); }
static void wait_under_divergence(kit *k) { UNDER(k, condition(k, DIVERGENT)) vyre_build_wait(k->b, 0); }
static void own_copy_under_divergence(kit *k) {
  UNDER(k, condition(k, DIVERGENT)) copy(k, false, leaf(k, VYRE_OP_LID));
}
static void workgroup_copy(kit *k) { copy(k, true, leaf(k, VYRE_OP_WID)); }
static void workgroup_copy_under_divergence(kit *k) { UNDER(k, condition(k, DIVERGENT)) copy(k, true, u32(k, 1)); }
static void workgroup_copy_of_a_divergent_count(kit *k) { copy(k, true, leaf(k, VYRE_OP_LID)); }
static void should_stop_under_divergence(kit *k) {
  UNDER(k, condition(k, DIVERGENT)) let(k, "s", leaf(k, VYRE_OP_SHOULD_STOP));
}
static void should_stop_deep_inside(kit *k) {
  UNDER(k, condition(k, DIVERGENT))
  store(k, k->rw, vyre_build_cast(k->b, VYRE_TYPE_U32, unary(k, VYRE_OP_LNOT, leaf(k, VYRE_OP_SHOULD_STOP))));
}
static void uniform_load_under_divergence(kit *k) {
  UNDER(k, condition(k, DIVERGENT)) let(k, "s", uniform_load(k, k->flag, u32(k, 0)));
}
static void uniform_load_at_divergent_index(kit *k) { let(k, "s", uniform_load(k, k->flag, leaf(k, VYRE_OP_LID))); }
static void loop_until_should_stop(kit *k) {
  open_loop(k);
  jump_if(k, VYRE_STMT_BREAK, leaf(k, VYRE_OP_SHOULD_STOP));
  end(k);
}
static void loop_with_commit_left_divergently(kit *k) {
  open_loop(k);
  simple(k, VYRE_STMT_COMMIT);
  jump_if(k, VYRE_STMT_BREAK, condition(k, DIVERGENT));
  end(k);
}

static const kit_case workgroup_cases[] = {
  CASE(at_top_level, ""),
  CASE(in_block_and_region, ""),
  CASE(in_grid_if, ""),
  CASE(in_workgroup_if, ""),
  CASE(in_subgroup_if, "W003 V010"),
  CASE(in_divergent_if, "V010"),
  CASE(in_divergent_else, "V010"),
  CASE(behind_divergent_if, ""),
  CASE(uniform_inside_divergent, "V010"),
  CASE(uniform_loop, ""),
  CASE(divergent_bound, "V010"),
  CASE(divergent_start, "V010"),
  CASE(divergent_step, "V010"),
  CASE(behind_divergent_loop, ""),
  CASE(under_loop_variable, ""),
  CASE(under_divergent_loop_variable, "V010"),
  CASE(under_read_load, ""),
  CASE(under_divergent_read_load, "V010"),
  CASE(under_rw_load, "V010"),
  CASE(under_shared_load, "V010"),
  CASE(under_local_load, "V010"),
  CASE(under_workgroup_uniform_load, ""),
  CASE(under_grid_uniform_load, ""),
  CASE(under_atomic, "V010"),
  CASE(under_ballot, "W003 V010"),
  CASE(under_should_stop, ""),
  CASE(unsound_assign_under_divergence, "V010"),
  CASE(unsound_late_in_loop, "V010"),
  CASE(unsound_return_then_barrier, "V010"),
  CASE(collective_return_then_barrier, ""),
  CASE(assigned_under_uniform, ""),
  CASE(assigned_in_a_loop_left_divergently, "V010"),
  CASE(assigned_in_a_loop_left_together, ""),
  CASE(assigned_before_divergent_continue, ""),
  CASE(assigned_behind_divergent_continue, "V010"),
  CASE(divergence_goes_around, "V010"),
  CASE(divergence_comes_from_an_inner_loop, "V010 W003"),
  CASE(return_in_the_other_arm, ""),
  CASE(return_in_an_arm_then_barrier, "V010"),
  CASE(trap_then_barrier, "V010"),
  CASE(return_in_a_loop_then_barrier, "V010"),
  CASE(break_in_a_loop_then_barrier, ""),
  CASE(break_before_barrier, "V010"),
  CASE(continue_before_barrier, "V010"),
  CASE(continue_behind_barrier, ""),
  CASE(continue_skips_break, "V055"),
  CASE(return_from_inner_loop_that_some_left, "V055"),
  CASE(only_return_from_inner_loop_that_some_left, "V055"),
  CASE(continue_inside_ifs_before_barrier, "V010"),
  CASE(inner_break_stays_inside, ""),
  CASE(commit_under_divergence, "V010"),
  CASE(wait_under_divergence, "V010"),
  CASE(own_copy_under_divergence, ""),
  CASE(workgroup_copy, ""),
  CASE(workgroup_copy_under_divergence, "V010"),
  CASE(workgroup_copy_of_a_divergent_count, "V010"),
  CASE(should_stop_under_divergence, "V010"),
  CASE(should_stop_deep_inside, "V010"),
  CASE(uniform_load_under_divergence, "V010"),
  CASE(uniform_load_at_divergent_index, "V010"),
  CASE(loop_until_should_stop, ""),
  CASE(loop_with_commit_left_divergently, "V055"),
};

RUN(workgroup_cases)

/* ---- What is said ---- */

RUN_MESSAGES(
  { in_divergent_if, "barrier stands under a condition that differs within the workgroup" },
  { divergent_bound, "barrier stands in a for whose bounds differ within the workgroup" },
  { unsound_return_then_barrier,
    "a break, continue, return or trap that only a part of the workgroup takes can skip barrier" },
  { should_stop_deep_inside, "should_stop stands under a condition that differs within the workgroup" })

START_TEST(the_error_record_repeats_the_first_and_needs_no_set) {
  vyre_builder *b;
  vyre_program *p = NULL;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_builder_create("unmet", NULL, &b), VYRE_OK);
  kit k = { .b = b };
  in_divergent_if(&k);
  in_divergent_if(&k);
  ck_assert_int_eq(vyre_builder_finish(b, &p, &error), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_ptr_null(p);
  ck_assert_str_eq(error.where, "unmet");
  ck_assert_ptr_nonnull(strstr(error.text, "V010: barrier where the workgroup may diverge: barrier stands under"));
  ck_assert_ptr_nonnull(strstr(error.text, "Fix: move it out"));
  vyre_builder_destroy(b);
}
END_TEST

START_TEST(a_finding_stands_where_its_statement_does) {
  kit k = kit_begin();
  vyre_diagnostic found;
  vyre_program *p = NULL;
  vyre_build_position(k.b, 10);
  open_if(&k, condition(&k, DIVERGENT));
  vyre_build_position(k.b, 20);
  barrier(&k);
  vyre_build_position(k.b, 30);
  end(&k);
  ck_assert_int_eq(vyre_builder_finish(k.b, &p, NULL), VYRE_ERR_INVALID_PROGRAM);
  ck_assert(vyre_diagnostics_get(k.d, 0, &found));
  ck_assert_uint_eq(found.offset, 20);
  vyre_builder_destroy(k.b);
  vyre_diagnostics_destroy(k.d);
}
END_TEST

int main(void) {
  return run_suite("flow", 60,
                   (const TTest *const[]){ workgroup_cases_get_their_codes, messages_name_the_reason,
                                           the_error_record_repeats_the_first_and_needs_no_set,
                                           a_finding_stands_where_its_statement_does, NULL });
}
