/* The race lint: atomics and plain accesses of one buffer within one barrier interval (W116). */
#include "flow.h"

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

RUN(race_cases)

RUN_MESSAGES(
  { atomic_then_load, "\"rw_\"" })

int main(void) {
  return run_suite("race", 60, (const TTest *const[]){ race_cases_get_their_codes, messages_name_the_reason, NULL });
}
