/* Where barriers, subgroup operations and grid barriers may stand: language.md section 8 and the vectors of the
 * IR's specification, sections 10.2, 10.3 and 16. */
#include "kit.h"

#include "../suite.h"

#define GRID IR_LEVEL_GRID
#define WORKGROUP IR_LEVEL_WORKGROUP
#define SUBGROUP IR_LEVEL_SUBGROUP
#define DIVERGENT IR_LEVEL_DIVERGENT

/* A body in an `if` of a condition. */
#define UNDER(k, c)           \
  open_if(k, (c));            \
  for (int once = 1; once > 0; once--, end(k))

static vyre_expr settled(kit *k) { return not_zero(k, load(k, k->flag, u32(k, 0))); }
static void grid_barrier(kit *k) { simple(k, VYRE_STMT_GRID_BARRIER); }
static void vote(kit *k, const char *name) {
  let(k, name, unary(k, VYRE_OP_SUBGROUP_ANY, vyre_build_bool(k->b, true)));
}
static void copy(kit *k, bool workgroup, vyre_expr count) {
  vyre_build_copy_async(k->b, workgroup, k->flag, u32(k, 0), k->in, u32(k, 0), count);
}

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
  UNDER(k, condition(k, DIVERGENT)) UNDER(k, condition(k, GRID)) barrier(k);
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
  UNDER(k, condition(k, GRID)) UNDER(k, condition(k, WORKGROUP)) jump_if(k, VYRE_STMT_CONTINUE, condition(k, DIVERGENT));
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

/* ---- Loops with barriers that are left: V055 ---- */

static void barrier_exit(kit *k) { /* the flag is written before the barrier, in the next turn */
  open_loop(k);
  store(k, k->flag, leaf(k, VYRE_OP_LID));
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  end(k);
}
static void barrier_exit_barrier(kit *k) {
  open_loop(k);
  store(k, k->flag, leaf(k, VYRE_OP_LID));
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  barrier(k);
  end(k);
}
static void barrier_exit_barrier_return(kit *k) {
  open_loop(k);
  store(k, k->flag, leaf(k, VYRE_OP_LID));
  barrier(k);
  jump_if(k, VYRE_STMT_RETURN, settled(k));
  barrier(k);
  end(k);
}
static void exit_on_settled_load(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_RETURN, settled(k));
  end(k);
}
static void exit_on_settled_load_after_preparation(kit *k) {
  UNDER(k, condition(k, DIVERGENT)) store(k, k->flag, u32(k, 1));
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  end(k);
}
static void exit_on_settled_let(kit *k) {
  open_loop(k);
  store(k, k->flag, leaf(k, VYRE_OP_LID));
  barrier(k);
  vyre_var done = let(k, "done", load(k, k->flag, u32(k, 1)));
  barrier(k);
  store(k, k->flag, u32(k, 0));
  jump_if(k, VYRE_STMT_BREAK, binary(k, VYRE_OP_LAND, not_zero(k, value_of(k, done)), condition(k, WORKGROUP)));
  end(k);
}
static void exit_on_unsettled_let(kit *k) {
  open_loop(k);
  barrier(k);
  vyre_var done = let(k, "done", load(k, k->flag, u32(k, 1)));
  store(k, k->flag, leaf(k, VYRE_OP_LID));
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, not_zero(k, value_of(k, done)));
  end(k);
}
static void settled_load_at_divergent_index(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, not_zero(k, load(k, k->flag, leaf(k, VYRE_OP_LID))));
  end(k);
}
static void store_between(kit *k) {
  open_loop(k);
  barrier(k);
  store(k, k->flag, leaf(k, VYRE_OP_LID));
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  end(k);
}
static void store_behind(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  store(k, k->flag, leaf(k, VYRE_OP_LID));
  end(k);
}
static void store_to_another(kit *k) {
  open_loop(k);
  barrier(k);
  store(k, k->other, leaf(k, VYRE_OP_LID));
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  end(k);
}
static void atomic_between(kit *k) {
  open_loop(k);
  barrier(k);
  vyre_build_eval(k->b, atomic(k, VYRE_OP_ATOMIC_OR, k->flag));
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  end(k);
}
static void copy_into_flag(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  barrier(k);
  copy(k, false, u32(k, 1));
  simple(k, VYRE_STMT_COMMIT);
  vyre_build_wait(k->b, 0);
  end(k);
}
static void store_in_a_nested_loop(kit *k) {
  open_loop(k);
  barrier(k);
  open_for(k, "i", leaf(k, VYRE_OP_LID));
  store(k, k->flag, u32(k, 1));
  end(k);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  end(k);
}
static void barrier_in_one_arm_between(kit *k) { /* the store and the load meet where the barrier is not run */
  open_loop(k);
  barrier(k);
  store(k, k->flag, u32(k, 1));
  UNDER(k, condition(k, WORKGROUP)) barrier(k);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  end(k);
}
/* The continue brings the store before the load of the next turn, which no barrier is between. */
static void store_before_continue(kit *k) {
  open_loop(k);
  barrier(k);
  open_loop(k);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  barrier(k);
  UNDER(k, condition(k, WORKGROUP)) {
    store(k, k->flag, u32(k, 1));
    simple(k, VYRE_STMT_CONTINUE);
  }
  barrier(k);
  end(k);
  end(k);
}
static void store_behind_a_barrier_before_continue(kit *k) {
  open_loop(k);
  barrier(k);
  open_loop(k);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  barrier(k);
  UNDER(k, condition(k, WORKGROUP)) {
    store(k, k->flag, u32(k, 1));
    barrier(k);
    simple(k, VYRE_STMT_CONTINUE);
  }
  barrier(k);
  end(k);
  end(k);
}
static void rw_flag(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, not_zero(k, load(k, k->rw, u32(k, 0))));
  end(k);
}
static void read_flag(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, not_zero(k, load(k, k->in, u32(k, 0))));
  end(k);
}
static void uniform_load_flag(kit *k) {
  open_loop(k);
  store(k, k->flag, leaf(k, VYRE_OP_LID));
  jump_if(k, VYRE_STMT_BREAK, not_zero(k, uniform_load(k, k->flag, u32(k, 0))));
  end(k);
}
static void fence_is_no_barrier(kit *k) {
  open_loop(k);
  barrier(k);
  store(k, k->flag, leaf(k, VYRE_OP_LID));
  vyre_build_fence(k->b, VYRE_ORDER_RELEASE, VYRE_SCOPE_WORKGROUP);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  end(k);
}
static void exit_by_lane(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_RETURN, not_zero(k, leaf(k, VYRE_OP_LANE)));
  end(k);
}
static void trap_behind_barrier(kit *k) {
  open_for(k, "i", k->n);
  barrier(k);
  jump_if(k, VYRE_STMT_TRAP, condition(k, DIVERGENT));
  end(k);
}
static void exit_by_lane_then_barrier(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, not_zero(k, leaf(k, VYRE_OP_LANE)));
  barrier(k);
  end(k);
}
static void barrier_only_in_if_behind_exit(kit *k) {
  open_loop(k);
  jump_if(k, VYRE_STMT_BREAK, settled(k));
  UNDER(k, condition(k, WORKGROUP)) barrier(k);
  end(k);
}
static void barrier_in_if_orders_nothing(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, not_zero(k, leaf(k, VYRE_OP_LID)));
  UNDER(k, condition(k, WORKGROUP)) barrier(k);
  end(k);
}
static void barrier_in_the_other_arm(kit *k) {
  open_loop(k);
  open_if(k, condition(k, WORKGROUP));
  jump_if(k, VYRE_STMT_BREAK, condition(k, DIVERGENT));
  vyre_build_else(k->b);
  barrier(k);
  end(k);
  end(k);
}
static void barrier_in_block_orders(kit *k) {
  open_loop(k);
  vyre_build_region(k->b, "r");
  barrier(k);
  end(k);
  jump_if(k, VYRE_STMT_BREAK, condition(k, WORKGROUP));
  vyre_build_block(k->b);
  barrier(k);
  end(k);
  end(k);
}
static void two_loops_one_exit(kit *k) { /* the return leaves both; only the outer loop has a barrier */
  open_loop(k);
  barrier(k);
  open_for(k, "i", k->n);
  jump_if(k, VYRE_STMT_RETURN, condition(k, DIVERGENT));
  end(k);
  end(k);
}
static void uniform_exits(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, condition(k, GRID));
  jump_if(k, VYRE_STMT_BREAK, condition(k, WORKGROUP));
  jump_if(k, VYRE_STMT_RETURN, leaf(k, VYRE_OP_SHOULD_STOP));
  end(k);
  barrier(k);
}
static void innocent_exit_beside_a_bad_one(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_RETURN, condition(k, WORKGROUP));
  jump_if(k, VYRE_STMT_BREAK, condition(k, DIVERGENT));
  end(k);
}
static void settled_exit_outside_a_loop(kit *k) {
  barrier(k);
  jump_if(k, VYRE_STMT_RETURN, settled(k));
  barrier(k);
}

/* ---- Other operations of the workgroup ---- */

static void commit_under_divergence(kit *k) { UNDER(k, condition(k, DIVERGENT)) simple(k, VYRE_STMT_COMMIT); }
static void wait_under_divergence(kit *k) { UNDER(k, condition(k, DIVERGENT)) vyre_build_wait(k->b, 0); }
static void own_copy_under_divergence(kit *k) { UNDER(k, condition(k, DIVERGENT)) copy(k, false, leaf(k, VYRE_OP_LID)); }
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
#define CASE(name, codes) { #name, name, codes }
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
  CASE(barrier_exit, "V055"),
  CASE(barrier_exit_barrier, ""),
  CASE(barrier_exit_barrier_return, ""),
  CASE(exit_on_settled_load, ""),
  CASE(exit_on_settled_load_after_preparation, ""),
  CASE(exit_on_settled_let, ""),
  CASE(exit_on_unsettled_let, "V055"),
  CASE(settled_load_at_divergent_index, "V055"),
  CASE(store_between, "V055"),
  CASE(store_behind, "V055"),
  CASE(store_to_another, ""),
  CASE(atomic_between, "V055 W116"),
  CASE(copy_into_flag, "V010 V010 V010"),
  CASE(store_in_a_nested_loop, "V055"),
  CASE(barrier_in_one_arm_between, "V055"),
  CASE(store_before_continue, "V010 V010"),
  CASE(store_behind_a_barrier_before_continue, ""),
  CASE(rw_flag, "V055"),
  CASE(read_flag, ""),
  CASE(uniform_load_flag, ""),
  CASE(fence_is_no_barrier, "V055"),
  CASE(exit_by_lane, "W003 V055"),
  CASE(trap_behind_barrier, "V055"),
  CASE(exit_by_lane_then_barrier, "W003 V010"),
  CASE(barrier_only_in_if_behind_exit, "V010 V055"),
  CASE(barrier_in_if_orders_nothing, "V010 V055"),
  CASE(barrier_in_the_other_arm, "V055"),
  CASE(barrier_in_block_orders, ""),
  CASE(two_loops_one_exit, "V055"),
  CASE(uniform_exits, ""),
  CASE(innocent_exit_beside_a_bad_one, "V055"),
  CASE(settled_exit_outside_a_loop, "V010"),
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

/* ---- Subgroups ---- */

static void fix_size(kit *k) { vyre_build_subgroup(k->b, 32); }
static void vote_at_top(kit *k) {
  fix_size(k);
  vote(k, "v");
}
static void vote_under_subgroup_id(kit *k) {
  fix_size(k);
  UNDER(k, condition(k, SUBGROUP)) vote(k, "v");
}
static void vote_under_divergence(kit *k) {
  fix_size(k);
  UNDER(k, condition(k, DIVERGENT)) vote(k, "v");
}
static void vote_under_a_vote(kit *k) {
  fix_size(k);
  UNDER(k, unary(k, VYRE_OP_SUBGROUP_ALL, condition(k, DIVERGENT))) vote(k, "v");
}
static void vote_under_a_scan(kit *k) {
  fix_size(k);
  UNDER(k, not_zero(k, unary(k, VYRE_OP_SUBGROUP_INCLUSIVE_ADD, u32(k, 1)))) vote(k, "v");
}
static void vote_behind_subgroup_return(kit *k) {
  fix_size(k);
  jump_if(k, VYRE_STMT_RETURN, condition(k, SUBGROUP));
  vote(k, "v");
}
static void vote_behind_divergent_return(kit *k) {
  fix_size(k);
  jump_if(k, VYRE_STMT_RETURN, condition(k, DIVERGENT));
  vote(k, "v");
}
static void vote_in_a_loop_that_lanes_leave(kit *k) {
  fix_size(k);
  open_loop(k);
  vote(k, "v");
  jump_if(k, VYRE_STMT_BREAK, condition(k, DIVERGENT));
  end(k);
}
static void vote_in_a_loop_that_subgroups_leave(kit *k) {
  fix_size(k);
  open_loop(k);
  vote(k, "v");
  jump_if(k, VYRE_STMT_BREAK, condition(k, SUBGROUP));
  end(k);
}
static void vote_as_a_condition(kit *k) {
  fix_size(k);
  UNDER(k, condition(k, DIVERGENT)) jump_if(k, VYRE_STMT_RETURN, unary(k, VYRE_OP_SUBGROUP_ANY, vyre_build_bool(k->b, true)));
}
static void vote_as_a_trap_code(kit *k) {
  fix_size(k);
  UNDER(k, condition(k, DIVERGENT)) vyre_build_trap(k->b, unary(k, VYRE_OP_SUBGROUP_ADD, u32(k, 1)));
}
static void vote_in_a_print(kit *k) {
  fix_size(k);
  vyre_expr args[2] = { u32(k, 1), unary(k, VYRE_OP_SUBGROUP_ADD, u32(k, 1)) };
  UNDER(k, condition(k, DIVERGENT)) vyre_build_print(k->b, "{} {}", args, 2);
}
static void broadcast_of_a_uniform_lane(kit *k) {
  fix_size(k);
  let(k, "v", binary(k, VYRE_OP_SUBGROUP_BROADCAST, leaf(k, VYRE_OP_LID), leaf(k, VYRE_OP_SUBGROUP_ID)));
}
static void broadcast_of_a_divergent_lane(kit *k) {
  fix_size(k);
  let(k, "v", binary(k, VYRE_OP_SUBGROUP_BROADCAST, u32(k, 1), leaf(k, VYRE_OP_LANE)));
}
static void shuffle_of_a_divergent_lane(kit *k) {
  fix_size(k);
  let(k, "v", binary(k, VYRE_OP_SUBGROUP_SHUFFLE, u32(k, 1), leaf(k, VYRE_OP_LANE)));
}
static void size_is_not_fixed(kit *k) {
  let(k, "a", leaf(k, VYRE_OP_SUBGROUP_SIZE));
  let(k, "b", leaf(k, VYRE_OP_LANE));
}
static void num_subgroups_shows(kit *k) { let(k, "a", leaf(k, VYRE_OP_NUM_SUBGROUPS)); }
static void an_operation_shows(kit *k) { vote(k, "v"); }

static const kit_case subgroup_cases[] = {
  CASE(vote_at_top, ""),
  CASE(vote_under_subgroup_id, ""),
  CASE(vote_under_divergence, "V132"),
  CASE(vote_under_a_vote, ""),
  CASE(vote_under_a_scan, "V132"),
  CASE(vote_behind_subgroup_return, ""),
  CASE(vote_behind_divergent_return, "V132"),
  CASE(vote_in_a_loop_that_lanes_leave, "V132"),
  CASE(vote_in_a_loop_that_subgroups_leave, ""),
  CASE(vote_as_a_condition, "V132"),
  CASE(vote_as_a_trap_code, "V132"),
  CASE(vote_in_a_print, "V132"),
  CASE(broadcast_of_a_uniform_lane, ""),
  CASE(broadcast_of_a_divergent_lane, "V132"),
  CASE(shuffle_of_a_divergent_lane, ""),
  CASE(size_is_not_fixed, "W003"),
  CASE(num_subgroups_shows, "W003"),
  CASE(an_operation_shows, "W003"),
};

/* ---- Grids ---- */

static void grid_at_top(kit *k) { grid_barrier(k); }
static void grid_in_a_region(kit *k) {
  vyre_build_region(k->b, "r");
  vyre_build_block(k->b);
  grid_barrier(k);
  end(k);
  end(k);
}
static void grid_in_a_uniform_loop(kit *k) {
  open_for(k, "i", k->n);
  UNDER(k, condition(k, GRID)) grid_barrier(k);
  end(k);
}
static void grid_under_a_workgroup_condition(kit *k) { UNDER(k, condition(k, WORKGROUP)) grid_barrier(k); }
static void grid_in_a_workgroup_loop(kit *k) {
  open_for(k, "i", leaf(k, VYRE_OP_WID));
  grid_barrier(k);
  end(k);
}
static void grid_behind_grid_return(kit *k) {
  jump_if(k, VYRE_STMT_RETURN, condition(k, GRID));
  grid_barrier(k);
}
static void grid_behind_workgroup_return(kit *k) {
  jump_if(k, VYRE_STMT_RETURN, condition(k, WORKGROUP));
  grid_barrier(k);
}
static void grid_behind_workgroup_trap(kit *k) {
  jump_if(k, VYRE_STMT_TRAP, condition(k, WORKGROUP));
  grid_barrier(k);
}
static void grid_before_divergent_return(kit *k) {
  grid_barrier(k);
  jump_if(k, VYRE_STMT_RETURN, condition(k, DIVERGENT));
}
static void grid_in_a_loop_left_by_workgroups(kit *k) {
  open_loop(k);
  grid_barrier(k);
  jump_if(k, VYRE_STMT_BREAK, condition(k, WORKGROUP));
  end(k);
}
static void grid_in_a_loop_left_by_all(kit *k) {
  open_loop(k);
  grid_barrier(k);
  jump_if(k, VYRE_STMT_BREAK, not_zero(k, vyre_build_load(k->b, VYRE_OP_GRID_UNIFORM_LOAD, k->rw, u32(k, 0))));
  end(k);
}
static void grid_under_read_load(kit *k) { UNDER(k, not_zero(k, load(k, k->in, u32(k, 3)))) grid_barrier(k); }
static void grid_under_workgroup_load(kit *k) { UNDER(k, not_zero(k, uniform_load(k, k->rw, u32(k, 0)))) grid_barrier(k); }
static void grid_under_should_stop(kit *k) { UNDER(k, leaf(k, VYRE_OP_SHOULD_STOP)) grid_barrier(k); }

static const kit_case grid_cases[] = {
  CASE(grid_at_top, ""),
  CASE(grid_in_a_region, ""),
  CASE(grid_in_a_uniform_loop, ""),
  CASE(grid_under_a_workgroup_condition, "V131"),
  CASE(grid_in_a_workgroup_loop, "V131"),
  CASE(grid_behind_grid_return, ""),
  CASE(grid_behind_workgroup_return, "V131"),
  CASE(grid_behind_workgroup_trap, "V131"),
  CASE(grid_before_divergent_return, ""),
  CASE(grid_in_a_loop_left_by_workgroups, "V131"),
  CASE(grid_in_a_loop_left_by_all, ""),
  CASE(grid_under_read_load, ""),
  CASE(grid_under_workgroup_load, "V131"),
  CASE(grid_under_should_stop, "V131"),
};

/* ---- The race lint ---- */

static void add(kit *k) { vyre_build_eval(k->b, atomic(k, VYRE_OP_ATOMIC_ADD, k->rw)); }
static void plain(kit *k, const char *name) { let(k, name, load(k, k->rw, u32(k, 1))); }

static void atomic_then_load(kit *k) {
  add(k);
  plain(k, "x");
}
static void store_then_atomic(kit *k) {
  store(k, k->rw, u32(k, 0));
  add(k);
}
static void atomics_alone(kit *k) {
  add(k);
  let(k, "x", atomic(k, VYRE_OP_ATOMIC_LOAD, k->rw));
}
static void barrier_between(kit *k) {
  add(k);
  barrier(k);
  plain(k, "x");
}
static void length_does_not_count(kit *k) {
  add(k);
  let(k, "x", vyre_build_len(k->b, VYRE_OP_LEN, k->rw));
}
static void uniform_load_brings_its_barriers(kit *k) {
  vyre_build_eval(k->b, atomic(k, VYRE_OP_ATOMIC_ADD, k->flag));
  let(k, "x", uniform_load(k, k->flag, u32(k, 0)));
  store(k, k->flag, u32(k, 0));
}
static void inner_use_goes_outward(kit *k) {
  UNDER(k, condition(k, DIVERGENT)) add(k);
  plain(k, "x");
}
static void outer_use_goes_inward(kit *k) {
  plain(k, "x");
  open_for(k, "i", k->n);
  UNDER(k, condition(k, DIVERGENT)) add(k);
  end(k);
}
static void around_the_back_edge(kit *k) {
  open_for(k, "i", k->n);
  add(k);
  barrier(k);
  plain(k, "x");
  end(k);
}
static void around_the_back_edge_with_barriers(kit *k) {
  open_for(k, "i", k->n);
  add(k);
  barrier(k);
  plain(k, "x");
  barrier(k);
  end(k);
}
static void barrier_in_one_arm(kit *k) {
  add(k);
  UNDER(k, condition(k, WORKGROUP)) barrier(k);
  plain(k, "x");
}
static void barrier_in_both_arms(kit *k) {
  add(k);
  open_if(k, condition(k, WORKGROUP));
  barrier(k);
  vyre_build_else(k->b);
  barrier(k);
  end(k);
  plain(k, "x");
}
static void behind_the_first_of_two_breaks(kit *k) {
  open_loop(k);
  barrier(k);
  add(k);
  jump_if(k, VYRE_STMT_BREAK, condition(k, WORKGROUP));
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, condition(k, WORKGROUP));
  end(k);
  plain(k, "x");
}
static void once_an_interval(kit *k) {
  add(k);
  plain(k, "x");
  plain(k, "y");
  barrier(k);
  plain(k, "z");
  add(k);
}
static void copies_count(kit *k) {
  add(k);
  vyre_build_copy_async(k->b, false, k->rw, u32(k, 0), k->in, u32(k, 0), u32(k, 1));
}
static void different_buffers(kit *k) {
  add(k);
  store(k, k->flag, u32(k, 0));
}

static const kit_case race_cases[] = {
  CASE(atomic_then_load, "W116"),
  CASE(store_then_atomic, "W116"),
  CASE(atomics_alone, ""),
  CASE(barrier_between, ""),
  CASE(length_does_not_count, ""),
  CASE(uniform_load_brings_its_barriers, ""),
  CASE(inner_use_goes_outward, "W116"),
  CASE(outer_use_goes_inward, "W116"),
  CASE(around_the_back_edge, "W116"),
  CASE(around_the_back_edge_with_barriers, ""),
  CASE(barrier_in_one_arm, "W116"),
  CASE(barrier_in_both_arms, ""),
  CASE(behind_the_first_of_two_breaks, "W116"),
  CASE(once_an_interval, "W116 W116"),
  CASE(copies_count, "W116"),
  CASE(different_buffers, ""),
};

#define RUN(cases)                                                        \
  START_TEST(cases##_get_their_codes) {                                   \
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) kit_run(&cases[i]); \
  }                                                                       \
  END_TEST

RUN(workgroup_cases)
RUN(subgroup_cases)
RUN(grid_cases)
RUN(race_cases)

/* ---- What is said ---- */

START_TEST(messages_name_the_reason) {
  static const struct {
    void (*build)(kit *k);
    const char *wanted;
  } cases[] = {
    { in_divergent_if, "barrier stands under a condition that differs within the workgroup" },
    { divergent_bound, "barrier stands in a for whose bounds differ within the workgroup" },
    { unsound_return_then_barrier, "a break, continue, return or trap that only a part of the workgroup takes can skip barrier" },
    { grid_under_a_workgroup_condition, "grid_barrier stands under a condition that differs within the grid" },
    { should_stop_deep_inside, "should_stop stands under a condition that differs within the workgroup" },
    { vote_in_a_print, "subgroup_add stands under a condition that differs within the subgroup" },
    { trap_behind_barrier, "only a part of the workgroup may take this trap" },
    { exit_by_lane, "only a part of the workgroup may take this return" },
    { rw_flag, "only a part of the workgroup may take this break" },
    { atomic_then_load, "\"rw_\"" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    kit k = kit_begin();
    vyre_program *p = NULL;
    cases[i].build(&k);
    vyre_builder_finish(k.b, &p, NULL);
    char *text = vyre_diagnostics_render(k.d);
    ck_assert_ptr_nonnull(text);
    ck_assert_msg(strstr(text, cases[i].wanted) != NULL, "wanted \"%s\" in \"%s\"", cases[i].wanted, text);
    free(text);
    vyre_program_release(p);
    vyre_builder_destroy(k.b);
    vyre_diagnostics_destroy(k.d);
  }
}
END_TEST

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

START_TEST(a_grid_barrier_inside_a_loop_needs_the_capability) {
  vyre_program_info info;
  kit k = kit_begin();
  grid_in_a_uniform_loop(&k);
  vyre_program *p = kit_finish(&k);
  vyre_program_describe(p, &info);
  ck_assert_uint_ne(info.needs & VYRE_NEED_GRID_SYNC, 0);
  ck_assert_int_eq(vyre_program_validate(p, NULL, NULL), VYRE_OK);
  vyre_program_release(p);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { workgroup_cases_get_their_codes,
                                 subgroup_cases_get_their_codes,
                                 grid_cases_get_their_codes,
                                 race_cases_get_their_codes,
                                 messages_name_the_reason,
                                 the_error_record_repeats_the_first_and_needs_no_set,
                                 a_finding_stands_where_its_statement_does,
                                 a_grid_barrier_inside_a_loop_needs_the_capability,
                                 NULL };
  return run_suite("flow", 60, tests);
}
