/* Where subgroup operations and grid barriers may stand: docs/language.md, section 8. */
#include "flow.h"

/* ---- Subgroups ---- */

static void vote(kit *k, const char *name) {
  let(k, name, unary(k, VYRE_OP_SUBGROUP_ANY, vyre_build_bool(k->b, true)));
}
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
  UNDER(k, condition(k, DIVERGENT))
  jump_if(k, VYRE_STMT_RETURN, unary(k, VYRE_OP_SUBGROUP_ANY, vyre_build_bool(k->b, true)));
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

static void grid_barrier(kit *k) { simple(k, VYRE_STMT_GRID_BARRIER); }
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
static void grid_under_workgroup_load(kit *k) {
  UNDER(k, not_zero(k, uniform_load(k, k->rw, u32(k, 0)))) grid_barrier(k);
}
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

RUN(subgroup_cases)
RUN(grid_cases)

RUN_MESSAGES(
  { grid_under_a_workgroup_condition, "grid_barrier stands under a condition that differs within the grid" },
  { vote_in_a_print, "subgroup_add stands under a condition that differs within the subgroup" })

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
  return run_suite("scopes", 60,
                   (const TTest *const[]){ subgroup_cases_get_their_codes, grid_cases_get_their_codes,
                                           messages_name_the_reason, a_grid_barrier_inside_a_loop_needs_the_capability,
                                           NULL });
}
