/* Loops with barriers that only a part of the workgroup may leave (V055), and loads that are settled between barriers:
 * docs/language.md, section 8. */
#include "flow.h"

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

static const kit_case exit_cases[] = {
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
};

RUN(exit_cases)

RUN_MESSAGES(
  { trap_behind_barrier, "only a part of the workgroup may take this trap" },
  { exit_by_lane, "only a part of the workgroup may take this return" },
  { rw_flag, "only a part of the workgroup may take this break" })

int main(void) {
  return run_suite("exits", 60, (const TTest *const[]){ exit_cases_get_their_codes, messages_name_the_reason, NULL });
}
