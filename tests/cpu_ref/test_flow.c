/* Statements: loops, branches, scopes, traps, prints, step limits, and in what order invocations have their turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/backend.h>

#include "../../plugins/cpu_ref/cpu_limits.h"
#include "../suite.h"
#include "trial.h"

/* Runs one invocation of |body| with out: u32[8] and gives out. */
static void run_body(const char *body, uint32_t *out) {
  char text[2048];
  trial t;
  snprintf(text, sizeof text, "program p { param n: u32; rw out: u32[8]; %s }", body);
  trial_begin(&t, text);
  void *bound = trial_bind(&t, "out", 8);
  trial_set(&t, "n", 5);
  trial_run(&t, 1, 1, 1);
  memcpy(out, bound, 32);
  trial_end(&t);
}

START_TEST(loops_run_over_half_open_ranges) {
  uint32_t out[8];
  run_body("for (i in 0..n) { out[0] += i; } for (i in n..n) { out[1] += 1; } for (i in n..0) { out[2] += 1; }"
           "for (i in 2..9 step 3) { out[3] = out[3] * 10 + i; } for (i in 0..10 step 0) { out[4] += 1; }"
           "for (i in -2..2) { out[5] = out[5] * 10 + u32(i + 2); } for (i in 0..10 step -1) { out[6] += 1; }"
           "for (i in 2..8 step 3) { out[7] = out[7] * 10 + i; }",
           out);
  static const uint32_t want[] = { 10, 0, 0, 258, 0, 123, 0, 25 };
  ck_assert_mem_eq(out, want, sizeof want);
}
END_TEST

START_TEST(loops_stop_before_they_overflow) {
  uint32_t out[8];
  run_body("for (i in 0xFFFFFFF0..0xFFFFFFFF step 7) { out[0] += 1; } for (i in 2147483640..2147483647i32 step 100) { out[1] += 1; }"
           "for (i in 0xFFFFFFFFFFFFFFF0u64..0xFFFFFFFFFFFFFFFFu64 step 7) { out[2] += 1; }"
           "for (i in -9223372036854775807i64..9223372036854775807i64 step 9223372036854775807i64) { out[3] += 1; }"
           "for (i in -2147483647..2147483647i32 step 1000000000) { out[4] += 1; }"
           "for (i in 0..0xFFFFFFFF step 0xFFFFFFFF) { out[5] += 1; }",
           out);
  static const uint32_t want[] = { 3, 1, 3, 2, 5, 1, 0, 0 };
  ck_assert_mem_eq(out, want, sizeof want);
}
END_TEST

START_TEST(bounds_are_read_once) {
  uint32_t out[8];
  run_body("var e = n; for (i in 0..e) { e = 100; out[0] += 1; }", out);
  ck_assert_uint_eq(out[0], 5);
}
END_TEST

START_TEST(an_endless_loop_ends_by_break_or_return) {
  uint32_t out[8];
  run_body("var i = 0; loop { i += 1; if (i == 3) { continue; } if (i > n) { break; } out[0] = out[0] * 10 + i; }"
           "for (k in 0..0xFFFFFFFF) { out[1] += 1; if (k == 9) { return; } } out[2] = 1;",
           out);
  ck_assert_uint_eq(out[0], 1245);
  ck_assert_uint_eq(out[1], 10);
  ck_assert_uint_eq(out[2], 0);
}
END_TEST

START_TEST(break_and_continue_belong_to_the_innermost_loop) {
  uint32_t out[8];
  run_body("for (i in 0..3) { for (j in 0..10) { if (j == 2) { continue; } if (j == 4) { break; } out[0] += 1; } out[1] += 1; }", out);
  ck_assert_uint_eq(out[0], 9);
  ck_assert_uint_eq(out[1], 3);
}
END_TEST

START_TEST(branches_and_scopes) {
  uint32_t out[8];
  run_body("var x = 1; { let y = x + 1; x = y; } { let y = 10; x += y; } region \"r\" { x += 100; } out[0] = x;"
           "if (n == 5) { out[1] = 1; } else { out[1] = 2; } if (n == 4) { out[2] = 1; } else if (n == 5) { out[2] = 2; }"
           "else { out[2] = 3; } if (n == 4) { } else { out[3] = 4; } if (n == 5) { } else { out[4] = 5; } {} region \"e\" {}",
           out);
  static const uint32_t want[] = { 112, 1, 2, 4, 0, 0, 0, 0 };
  ck_assert_mem_eq(out, want, sizeof want);
}
END_TEST

START_TEST(a_long_else_if_chain_needs_no_stack) {
  enum { ARMS = 50000 };
  char *text = malloc(ARMS * 64), *at = text;
  at += sprintf(at, "program p { param n: u32; write out: u32[1]; if (n == 0) { out[0] = 1; }");
  for (int i = 1; i < ARMS; i++) at += sprintf(at, " else if (n == %d) { out[0] = %d; }", i, i + 1);
  sprintf(at, " }");
  trial t;
  trial_begin(&t, text);
  uint32_t *out = trial_bind(&t, "out", 1);
  trial_set(&t, "n", ARMS - 1);
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(out[0], ARMS);
  trial_end(&t);
  free(text);
}
END_TEST

START_TEST(empty_programs_and_empty_grids_succeed) {
  trial t;
  trial_begin(&t, "program p { }");
  trial_run(&t, 3, 2, 1);
  trial_end(&t);
  trial_begin(&t, "program p { rw n: u32[1]; atomic_add(n[0], 1); }");
  uint32_t *n = trial_bind(&t, "n", 1);
  trial_run(&t, 0, 5, 5);
  trial_run(&t, 5, 5, 0);
  ck_assert_uint_eq(n[0], 0);
  trial_end(&t);
}
END_TEST

START_TEST(every_invocation_of_the_grid_runs_once) {
  trial t;
  trial_begin(&t, "program p workgroup(3, 2, 2) { rw n: u32[]; atomic_add(n[(gid.z * 6 + gid.y) * 9 + gid.x], 1); }");
  uint32_t *n = trial_bind(&t, "n", 9 * 6 * 4);
  trial_run(&t, 3, 3, 2);
  for (int i = 0; i < 9 * 6 * 4; i++) ck_assert_uint_eq(n[i], 1);
  trial_end(&t);
}
END_TEST

START_TEST(ids_beyond_32_bits_are_refused) {
  trial t;
  trial_begin(&t, "program p workgroup(16) { }");
  ck_assert_int_eq(trial_try(&t, 0x10000001, 1, 1), VYRE_ERR_OUT_OF_RANGE);
  ck_assert_int_eq(trial_try(&t, 0xFFFFFFFF, 0, 1), VYRE_ERR_OUT_OF_RANGE);
  ck_assert_int_eq(trial_try(&t, 0x10000000, 0, 1), VYRE_OK);
  trial_end(&t);
}
END_TEST

/* ---- Turns ---- */

/* Each invocation takes a ticket a statement; what they get shows whose turn was when. */
START_TEST(a_statement_of_each_invocation_has_its_turn) {
  trial t;
  trial_begin(&t, "program p workgroup(3) { rw n: u32[1]; write out: u32[]; out[gid.x * 2] = atomic_add(n[0], 1);"
                  "out[gid.x * 2 + 1] = atomic_add(n[0], 1); }");
  uint32_t *out = trial_bind(&t, "out", 12), *n = trial_bind(&t, "n", 1);
  ck_assert_int_eq(trial_try(&t, 2, 1, 1), VYRE_OK);
  static const uint32_t forward[] = { 0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11 };
  ck_assert_mem_eq(out, forward, sizeof forward);
  n[0] = 0;
  t.launch.reverse = true;
  ck_assert_int_eq(trial_try(&t, 2, 1, 1), VYRE_OK);
  static const uint32_t reversed[] = { 2, 5, 1, 4, 0, 3, 8, 11, 7, 10, 6, 9 };
  ck_assert_mem_eq(out, reversed, sizeof reversed);
  trial_end(&t);
}
END_TEST

START_TEST(an_invocation_may_wait_for_another_of_its_workgroup) {
  trial t;
  trial_begin(&t, "program p workgroup(2) { rw n: u32[1]; write out: u32[1]; if (lid.x == 0) { loop { if (atomic_load(n[0]) == 7) { break; } }"
                  "out[0] = 1; } else { atomic_store(n[0], 7); } }");
  trial_bind(&t, "n", 1);
  uint32_t *out = trial_bind(&t, "out", 1);
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(out[0], 1);
  trial_end(&t);
}
END_TEST

START_TEST(workgroups_may_wait_for_those_that_started_earlier) {
  trial t;
  trial_begin(&t, "program p workgroup(4) progress(workgroups) { rw n: u32[]; loop { if (wid.x == 0 || atomic_load(n[wid.x - 1], acquire) == 4)"
                  "{ break; } } atomic_add(n[wid.x], 1, release); }");
  uint32_t *n = trial_bind(&t, "n", 5);
  trial_run(&t, 5, 1, 1);
  for (int i = 0; i < 5; i++) ck_assert_uint_eq(n[i], 4);
  trial_end(&t);
}
END_TEST

START_TEST(together_workgroups_may_wait_for_later_ones) {
  trial t;
  trial_begin(&t, "program p { rw n: u32[]; loop { if (wid.x == 4 || atomic_load(n[wid.x + 1]) == 1) { break; } pause(10); }"
                  "atomic_add(n[wid.x], 1); }");
  uint32_t *n = trial_bind(&t, "n", 5);
  t.launch.together = true;
  trial_run(&t, 5, 1, 1);
  for (int i = 0; i < 5; i++) ck_assert_uint_eq(n[i], 1);
  trial_end(&t);
}
END_TEST

/* ---- Traps ---- */

START_TEST(a_trap_ends_its_invocation_and_the_first_in_x_y_z_is_reported) {
  trial t;
  trial_begin(&t, "program p workgroup(2, 2) { write out: u32[]; let k = gid.y * 4 + gid.x;"
                  "if (k == 11 || k == 6 || k == 5) { trap(100 + k); } out[k] = 1; }");
  uint32_t *out = trial_bind(&t, "out", 16);
  for (int reverse = 0; reverse < 2; reverse++) {
    t.launch.reverse = reverse;
    ck_assert_int_eq(trial_try(&t, 2, 2, 1), VYRE_ERR_TRAP);
    ck_assert_uint_eq(t.report.trap_count, 3);
    ck_assert_uint_eq(t.report.trap_code, 105);
    ck_assert_uint_eq(t.report.trap_gid[0], 1);
    ck_assert_uint_eq(t.report.trap_gid[1], 1);
    ck_assert_ptr_nonnull(strstr(t.error.text, "code 105"));
  }
  for (int k = 0; k < 16; k++) ck_assert_uint_eq(out[k], k != 11 && k != 6 && k != 5);
  trial_end(&t);
}
END_TEST

/* ---- Step limit ---- */

START_TEST(the_step_limit_leaves_loops_and_traps) {
  trial t;
  trial_begin_with(&t, "program p { rw n: u32[5]; loop { atomic_add(n[0], 1); } atomic_add(n[1], 1); n[2] = 1;"
                       "var i = 0; loop { i += 1; if (i > 10) { break; } } }",
                   &(cpu_options){ .steps = 7 });
  uint32_t *n = trial_bind(&t, "n", 5);
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_ERR_TRAP);
  ck_assert_uint_eq(t.report.trap_code, 0xFFFFFFFF);
  ck_assert_uint_eq(t.report.trap_count, 1);
  ck_assert_uint_eq(n[0], 7);
  ck_assert_uint_eq(n[1], 0);
  ck_assert_uint_eq(n[2], 0);
  ck_assert_ptr_nonnull(strstr(t.error.text, "step limit"));
  trial_end(&t);
}
END_TEST

START_TEST(back_edges_of_all_loops_count_together) {
  trial t;
  trial_begin_with(&t, "program p { rw n: u32[2]; for (i in 0..4) { n[0] += 1; } for (i in 0..4) { n[1] += 1; } }",
                   &(cpu_options){ .steps = 7 });
  uint32_t *n = trial_bind(&t, "n", 2);
  trial_run(&t, 1, 1, 1); /* 3 + 3 back edges */
  ck_assert_uint_eq(n[1], 4);
  trial_end(&t);
  trial_begin_with(&t, "program p { rw n: u32[2]; for (i in 0..4) { n[0] += 1; } for (i in 0..4) { n[1] += 1; } }",
                   &(cpu_options){ .steps = 6 });
  n = trial_bind(&t, "n", 2);
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_ERR_TRAP);
  ck_assert_uint_eq(n[1], 3); /* the sixth back edge is the third of the second loop */
  trial_end(&t);
}
END_TEST

START_TEST(loops_with_barriers_count_for_themselves_and_barriers_are_still_met) {
  trial t;
  trial_begin_with(&t, "program p workgroup(4) { rw n: u32[3]; for (i in 0..lid.x * 3) { n[2] = 1; } loop { barrier; atomic_add(n[0], 1); }"
                       "barrier; atomic_add(n[1], 1); }",
                   &(cpu_options){ .steps = 10 });
  uint32_t *n = trial_bind(&t, "n", 3);
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_ERR_TRAP);
  ck_assert_uint_eq(t.report.trap_count, 4);
  ck_assert_uint_eq(t.report.trap_code, CPU_STEP_TRAP);
  ck_assert_uint_eq(n[0], 40);
  ck_assert_uint_eq(n[1], 0);
  trial_end(&t);
}
END_TEST

START_TEST(an_expired_invocation_goes_on_meeting_barriers) {
  trial t;
  trial_begin_with(&t, "program p workgroup(2) { rw n: u32[2]; if (lid.x == 0) { loop { n[0] = 1; } }"
                       "for (i in 0..3) { barrier; atomic_add(n[1], 1); } }",
                   &(cpu_options){ .steps = 5 });
  uint32_t *n = trial_bind(&t, "n", 2);
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_ERR_TRAP);
  ck_assert_uint_eq(t.report.trap_count, 1);
  ck_assert_uint_eq(n[1], 3);
  trial_end(&t);
}
END_TEST

/* ---- Stopping ---- */

static const char *const stepping = "program p workgroup(4) { rw n: u32[1]; loop { if (should_stop()) { break; } atomic_add(n[0], 1); } }";

START_TEST(should_stop_by_work_budget) {
  trial t;
  trial_begin(&t, stepping);
  uint32_t *n = trial_bind(&t, "n", 1);
  t.launch.work_budget = 5;
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(n[0], 20);
  n[0] = 0;
  trial_run(&t, 3, 1, 1); /* the budget is that of the launch */
  ck_assert_uint_eq(n[0], 20);
  trial_end(&t);
}
END_TEST

START_TEST(should_stop_by_stop_word_and_by_time) {
  trial t;
  uint32_t stop = 1;
  trial_begin(&t, stepping);
  uint32_t *n = trial_bind(&t, "n", 1);
  t.launch.stop = &stop;
  trial_run(&t, 2, 1, 1);
  ck_assert_uint_eq(n[0], 0);
  stop = 0;
  t.launch.time_budget_ns = 2000000;
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_OK);
  ck_assert_uint_gt(n[0], 0);
  trial_end(&t);
}
END_TEST

START_TEST(a_cancelled_launch_ends) {
  trial t;
  uint32_t cancel = 1;
  trial_begin(&t, "program p { loop { } }");
  t.launch.cancel = &cancel;
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_ERR_CLOSED);
  trial_end(&t);
}
END_TEST

START_TEST(the_clock_goes_on_and_pauses_end) {
  trial t;
  trial_begin(&t, "program p { write out: u64[3]; out[0] = clock_ns(); pause(200000); out[1] = clock_ns(); pause(0); out[2] = clock_ns(); }");
  uint64_t *out = trial_bind(&t, "out", 3);
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_OK);
  ck_assert(out[1] >= out[0] + 200000);
  ck_assert(out[2] >= out[1]);
  trial_end(&t);
}
END_TEST

/* ---- Prints ---- */

START_TEST(prints_are_records_and_a_full_buffer_counts) {
  trial t;
  uint64_t room[16] = { 0 };
  trial_begin(&t, "program p workgroup(2) { param f: f32; print(\"start\"); print(\"{} {} {}\", gid.x, f, gid.x == 1); }");
  trial_set_f32(&t, "f", 1.5f);
  t.launch.prints = room;
  t.launch.print_words = 3 + 3 + 6; /* the last of four finds no room */
  t.launch.command = 9;
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_OK);
  ck_assert_uint_eq(t.report.prints_written, 3);
  ck_assert_uint_eq(t.report.prints_dropped, 1);
  ck_assert_uint_eq(t.report.print_words, 12);
  vyre_print_record record;
  memcpy(&record, room + 3, sizeof record);
  ck_assert_uint_eq(record.site, 0);
  ck_assert_uint_eq(record.arg_count, 0);
  ck_assert_uint_eq(record.gid[0], 1);
  memcpy(&record, room + 6, sizeof record);
  ck_assert_uint_eq(record.site, 1);
  ck_assert_uint_eq(record.arg_count, 3);
  ck_assert_uint_eq(record.command, 9);
  ck_assert_uint_eq(room[9], 0);
  ck_assert_uint_eq(room[10], 0x3FC00000);
  ck_assert_uint_eq(room[11], 0);
  ck_assert_uint_eq(room[12], 0);
  trial_end(&t);
}
END_TEST

START_TEST(operations_are_counted) {
  trial t;
  trial_begin(&t, "program p workgroup(8) { rw a: u32[]; a[gid.x] = a[gid.x] + 1; }");
  trial_bind(&t, "a", 16);
  trial_run(&t, 2, 1, 1);
  uint64_t few = t.report.operations;
  ck_assert_uint_gt(few, 16);
  trial_run(&t, 4, 1, 1);
  ck_assert_uint_eq(t.report.operations, 2 * few);
  trial_end(&t);
}
END_TEST

START_TEST(executions_are_counted_by_instruction) {
  trial t;
  uint64_t executed[32] = { 0 }, loads = 0, products = 0, stores = 0, all = 0;
  trial_begin(&t, "program p workgroup(8) { rw a: u32[];\n"
                  "  for (k in 0..3) { if (gid.x < 4) { a[gid.x] = a[gid.x] + a[k] * 5; } } }");
  trial_bind(&t, "a", 16);
  ck_assert_uint_le(t.code->insns.count, 32);
  ck_assert_uint_eq(t.code->insns.count, t.code->computes.count);
  t.launch.executed = executed;
  ck_assert_int_eq(trial_try(&t, 2, 1, 1), VYRE_OK);
  for (uint32_t i = 0; i < t.code->insns.count; i++) {
    uint32_t e = t.code->computes.data[i];
    uint8_t op = ir_expr_at(t.program, e)->op, stmt = ir_stmt_at(t.program, t.code->insns.data[i].stmt)->op;
    loads += op == VYRE_OP_LOAD ? executed[i] : 0;
    products += op == VYRE_OP_MUL ? executed[i] : 0;
    stores += e == 0 && stmt == VYRE_STMT_STORE ? executed[i] : 0;
    all += executed[i];
  }
  ck_assert_uint_eq(loads, 4 * 3 * 2);
  ck_assert_uint_eq(products, 4 * 3);
  ck_assert_uint_eq(stores, 4 * 3);
  ck_assert_uint_eq(all, t.report.operations);
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_OK); /* added to what was there */
  uint64_t twice = 0;
  for (uint32_t i = 0; i < t.code->insns.count; i++) twice += executed[i];
  ck_assert_uint_eq(twice, all + t.report.operations);
  trial_end(&t);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { loops_run_over_half_open_ranges,
                                 loops_stop_before_they_overflow,
                                 bounds_are_read_once,
                                 an_endless_loop_ends_by_break_or_return,
                                 break_and_continue_belong_to_the_innermost_loop,
                                 branches_and_scopes,
                                 a_long_else_if_chain_needs_no_stack,
                                 empty_programs_and_empty_grids_succeed,
                                 every_invocation_of_the_grid_runs_once,
                                 ids_beyond_32_bits_are_refused,
                                 a_statement_of_each_invocation_has_its_turn,
                                 an_invocation_may_wait_for_another_of_its_workgroup,
                                 workgroups_may_wait_for_those_that_started_earlier,
                                 together_workgroups_may_wait_for_later_ones,
                                 a_trap_ends_its_invocation_and_the_first_in_x_y_z_is_reported,
                                 the_step_limit_leaves_loops_and_traps,
                                 back_edges_of_all_loops_count_together,
                                 loops_with_barriers_count_for_themselves_and_barriers_are_still_met,
                                 an_expired_invocation_goes_on_meeting_barriers,
                                 should_stop_by_work_budget,
                                 should_stop_by_stop_word_and_by_time,
                                 a_cancelled_launch_ends,
                                 the_clock_goes_on_and_pauses_end,
                                 prints_are_records_and_a_full_buffer_counts,
                                 operations_are_counted,
                                 executions_are_counted_by_instruction,
                                 NULL };
  return run_suite("cpu_ref/flow", 60, tests);
}
