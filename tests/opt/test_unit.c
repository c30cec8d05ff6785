/* The ground of the optimizer: a unit gives back the program that it was made from, copies mean the same, and what a
 * pass may not leave behind is found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/backend.h>
#include <vyre/text.h>

#include "../gen/random_program.h"
#include "../suite.h"
#include "opt/pass.h"

static vyre_program *parse(const char *text) {
  vyre_program *p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_text_parse(text, strlen(text), NULL, NULL, &p, &error);
  ck_assert_msg(status == VYRE_OK, "%s", error.text);
  return p;
}

static vyre_program *random_of(uint64_t seed) {
  vyre_program *p;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(random_program(seed, NULL, NULL, &p, &error) == VYRE_OK, "seed %llu: %s", (unsigned long long)seed,
                error.text);
  return p;
}

static vyre_program *program_of(opt_unit *u) {
  vyre_program *p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = opt_unit_program(u, &p, &error);
  ck_assert_msg(status == VYRE_OK, "%s", error.text);
  return p;
}

static char *text_of(const vyre_program *p) {
  char *text;
  ck_assert_int_eq(vyre_text_print(p, &text, NULL), VYRE_OK);
  return text;
}

START_TEST(a_unit_gives_its_program_back) {
  for (uint64_t seed = 1; seed <= 300; seed++) {
    vyre_program *p = random_of(seed);
    opt_unit u;
    ck_assert(opt_unit_create(&u, p, &opt_default_costs));
    vyre_program *again = program_of(&u);
    ck_assert_msg(vyre_program_equal(p, again), "seed %llu", (unsigned long long)seed);
    vyre_program_release(again);
    vyre_program_release(p);
    opt_unit_free(&u);
  }
}
END_TEST

static opt_action keep(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  (void)context, (void)old, (void)s;
  e->changed = true;
  return OPT_KEEP;
}

START_TEST(statements_that_are_put_as_they_are_stay_the_same) {
  static const opt_rewriter rewriter = { .enter = keep };
  for (uint64_t seed = 1; seed <= 200; seed++) {
    vyre_program *p = random_of(seed);
    opt_unit u;
    ck_assert(opt_unit_create(&u, p, &opt_default_costs));
    ck_assert(opt_rewrite(&u, &rewriter, NULL));
    vyre_program *again = program_of(&u);
    ck_assert_msg(vyre_program_equal(p, again), "seed %llu", (unsigned long long)seed);
    vyre_program_release(again);
    vyre_program_release(p);
    opt_unit_free(&u);
  }
}
END_TEST

START_TEST(an_undone_change_leaves_nothing) {
  vyre_program *p = random_of(7);
  opt_unit u;
  ck_assert(opt_unit_create(&u, p, &opt_default_costs));
  opt_edit e;
  opt_edit_begin(&e, &u);
  e.changed = true;
  ck_assert(opt_edit_commit(&e)); /* no statement at all */
  opt_edit_begin(&e, &u);
  opt_put_block(&e, VYRE_NO_POSITION);
  opt_close(&e);
  e.changed = true;
  ck_assert(opt_edit_commit(&e));
  ck_assert_uint_eq(u.program->stmts.count, 2);
  u.fault = OPT_LIMIT;
  opt_unit_undo(&u);
  vyre_program *again = program_of(&u);
  ck_assert(vyre_program_equal(p, again));
  vyre_program_release(again);
  vyre_program_release(p);
  opt_unit_free(&u);
}
END_TEST

/* Names of a copy are free ones; uses follow. */
START_TEST(a_copy_has_variables_of_its_own) {
  vyre_program *p = parse("program p {\n  write y: u32[];\n  for (i in 0..2) {\n    let a = i * 3;\n    var b = a + 1;\n"
                          "    if (a > 2) {\n      b = b + a;\n    } else {\n      b = i;\n    }\n    y[i] = b;\n  }\n}\n");
  opt_unit u;
  ck_assert(opt_unit_create(&u, p, &opt_default_costs));
  const ir_stmt *loop = opt_stmt(&u, ir_entry(u.program));
  uint32_t body = loop->body, var = loop->arg[4];
  opt_edit e;
  opt_edit_begin(&e, &u);
  for (uint32_t turn = 0; turn < 2; turn++) opt_put_copy(&e, body, var, opt_literal(&u, VYRE_TYPE_U32, turn));
  ck_assert(opt_edit_commit(&e));
  vyre_program *copies = program_of(&u);
  char *text = text_of(copies);
  ck_assert_str_eq(text,
                   "program p workgroup(1) {\n  write y: u32[];\n\n  let a = 0u32 * 3;\n  var b = a + 1;\n  if (a > 2) {\n"
                   "    b = b + a;\n  } else {\n    b = 0;\n  }\n  y[0] = b;\n  let a_2 = 1u32 * 3;\n"
                   "  var b_2 = a_2 + 1;\n  if (a_2 > 2) {\n    b_2 = b_2 + a_2;\n  } else {\n    b_2 = 1;\n  }\n"
                   "  y[1] = b_2;\n}\n");
  free(text);
  vyre_program_release(copies);
  vyre_program_release(p);
  opt_unit_free(&u);
}
END_TEST

/* What the language has no form for gets one. */
START_TEST(no_division_by_a_literal_0_and_no_literal_index_beyond_a_length) {
  vyre_program *p = parse("program p {\n  rw y: u32[4];\n  let i = 9u64;\n  let z = 0;\n  y[i] = y[i] / z;\n"
                          "  y[z] = atomic_add(y[z], 1) / z;\n  y[1] = atomic_add(y[i], 1) % z;\n"
                          "  y[i] = atomic_add(y[z], 1);\n}\n");
  opt_unit u;
  ck_assert(opt_unit_create(&u, p, &opt_default_costs));
  const opt_facts *f = opt_facts_of(&u);
  ck_assert_ptr_nonnull(f);
  for (uint32_t s = 1; s < u.program->stmts.count; s++) ck_assert_int_ne(opt_stmt(&u, s)->op, 0);
  vyre_program *again = program_of(&u);
  ck_assert(vyre_program_equal(p, again));
  vyre_program_release(again);
  uint32_t y = 0, nine = opt_literal(&u, VYRE_TYPE_U64, 9), zero = opt_literal(&u, VYRE_TYPE_U32, 0);
  ir_expr load = { .op = VYRE_OP_LOAD, .type = VYRE_TYPE_U32, .arg = { nine, 0, 0, y } };
  ck_assert_uint_eq(opt_expr(&u, load), zero);
  uint32_t ones = opt_literal(&u, VYRE_TYPE_U32, UINT32_MAX);
  load.arg[0] = zero;
  uint32_t element = opt_expr(&u, load);
  ck_assert_uint_eq(opt_op(&u, VYRE_OP_DIV, element, zero, 0), opt_op(&u, VYRE_OP_BITOR, element, ones, 0));
  ck_assert_uint_eq(opt_op(&u, VYRE_OP_MOD, element, zero, 0), opt_op(&u, VYRE_OP_BITAND, element, zero, 0));
  opt_edit e;
  opt_edit_begin(&e, &u);
  ck_assert_uint_eq(opt_put_store(&e, y, nine, element, 0), 0);
  ck_assert(opt_edit_commit(&e));
  vyre_program_release(p);
  opt_unit_free(&u);
}
END_TEST

START_TEST(trip_counts) {
  static const struct { const char *range; uint64_t trips; } rows[] = {
    { "0..4", 4 }, { "3..3", 0 }, { "5..3", 0 }, { "0..5 step 2", 3 }, { "0..6 step 2", 3 }, { "0..7 step 0", 0 },
    { "-3..2", 5 }, { "-3..2 step 3", 2 }, { "2..-3", 0 }, { "0..4 step -1", 0 },
    { "0xFFFFFFFEu32..0xFFFFFFFF", 1 }, { "0u64..0xFFFFFFFFFFFFFFFF", UINT64_MAX },
    { "-2147483648i32..2147483647", 0xFFFFFFFF }, { "0u32..0xFFFFFFFF step 0xFFFFFFFF", 1 },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    uint64_t trips = 12345;
    snprintf(text, sizeof text, "program p {\n  for (i in %s) {}\n}\n", rows[i].range);
    vyre_program *p = parse(text);
    opt_unit u;
    ck_assert(opt_unit_create(&u, p, &opt_default_costs));
    ck_assert_msg(opt_trip_count(&u, ir_entry(u.program), &trips) && trips == rows[i].trips, "%s: %llu", rows[i].range,
                  (unsigned long long)trips);
    vyre_program_release(p);
    opt_unit_free(&u);
  }
}
END_TEST

/* ---- Registry -------------------------------------------------------------------------------- */

START_TEST(the_table_of_passes_has_an_order) {
  bool all[OPT_MAX_PASSES];
  uint32_t order[OPT_MAX_PASSES], ordered, bad;
  ck_assert_uint_le(opt_pass_count, OPT_MAX_PASSES);
  for (uint32_t i = 0; i < OPT_MAX_PASSES; i++) all[i] = true;
  ck_assert_msg(opt_pass_order(opt_passes, opt_pass_count, all, order, &ordered, &bad), "%s", opt_passes[bad].name);
  ck_assert_uint_eq(ordered, opt_pass_count);
  for (uint32_t i = 0; i < opt_pass_count; i++) {
    ck_assert_uint_eq(opt_pass_named(opt_passes[i].name, strlen(opt_passes[i].name)), i); /* no name twice */
    for (const char *list = opt_passes[i].requires;; list = opt_passes[i].invalidates) {
      for (const char *at = list; *at != 0;) {
        size_t bytes = strcspn(at, ", ");
        if (bytes > 0) ck_assert_msg(opt_pass_named(at, bytes) != UINT32_MAX, "%s: %s", opt_passes[i].name, at);
        at += bytes;
        at += strspn(at, ", ");
      }
      if (list == opt_passes[i].invalidates) break;
    }
  }
}
END_TEST

START_TEST(a_circle_of_requirements_is_found) {
  static const opt_pass_row rows[] = { { .name = "a", .requires = "b", .invalidates = "" },
                                       { .name = "b", .requires = "c a", .invalidates = "" },
                                       { .name = "c", .requires = "", .invalidates = "" } };
  static const bool all[] = { true, true, true }, without_a[] = { false, true, true };
  uint32_t order[3], ordered, bad;
  ck_assert(!opt_pass_order(rows, 3, all, order, &ordered, &bad));
  ck_assert_uint_eq(bad, 0);
  ck_assert(opt_pass_order(rows, 3, without_a, order, &ordered, &bad));
  ck_assert_uint_eq(ordered, 2);
  ck_assert_uint_eq(order[0], 2);
  ck_assert_uint_eq(order[1], 1);
}
END_TEST

/* ---- The whole ------------------------------------------------------------------------------- */

START_TEST(options_are_checked) {
  vyre_program *p = parse("program p {\n  param n: u32;\n  param b: bool;\n}\n"), *out;
  static const vyre_spec_constant turned[] = { { 1, VYRE_TYPE_BOOL, 1 }, { 0, VYRE_TYPE_U32, 1 } },
                                  absent[] = { { 2, VYRE_TYPE_U32, 1 } }, other[] = { { 0, VYRE_TYPE_I32, 1 } },
                                  long_bool[] = { { 1, VYRE_TYPE_BOOL, 2 } }, wide[] = { { 0, VYRE_TYPE_U32, 1ull << 32 } };
  static const struct { vyre_opt_options options; const char *where; } rows[] = {
    { { .size = 8, .level = 2 }, "options" },
    { { .size = sizeof(vyre_opt_options), .level = 3 }, "level" },
    { { .size = sizeof(vyre_opt_options), .flags = 1u << 20 }, "flags" },
    { { .size = sizeof(vyre_opt_options), .passes = "dce, no_such" }, "passes" },
    { { .size = sizeof(vyre_opt_options), .print_after = "dc" }, "passes" },
    { { .size = sizeof(vyre_opt_options), .spec = turned, .spec_count = 2 }, "spec" },
    { { .size = sizeof(vyre_opt_options), .spec = absent, .spec_count = 1 }, "spec" },
    { { .size = sizeof(vyre_opt_options), .spec = other, .spec_count = 1 }, "spec" },
    { { .size = sizeof(vyre_opt_options), .spec = long_bool, .spec_count = 1 }, "spec" },
    { { .size = sizeof(vyre_opt_options), .spec = wide, .spec_count = 1 }, "spec" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    vyre_error error = VYRE_ERROR_INIT;
    ck_assert_int_eq(vyre_optimize(p, &rows[i].options, &out, NULL, &error), VYRE_ERR_INVALID_ARGUMENT);
    ck_assert_str_eq(error.where, rows[i].where);
    ck_assert_ptr_nonnull(strstr(error.text, "Fix:"));
    ck_assert_ptr_null(out);
  }
  vyre_program_release(p);
}
END_TEST

/* Literals where parameters stood, and what follows from that; the parameters stay declared. A NaN with a payload is no
 * literal, and level 0 leaves all as it is. */
START_TEST(known_parameters_are_literals) {
  vyre_program *p = parse("program p {\n  param n: u32;\n  param f: f32;\n  param g: f32;\n  write y: f32[];\n"
                          "  for (i in 0..n) {\n    y[i + n] = f * g;\n  }\n}\n"), *out;
  static const vyre_spec_constant spec[] = { { 0, VYRE_TYPE_U32, 1 }, { 1, VYRE_TYPE_F32, 0x40000000 },
                                             { 2, VYRE_TYPE_F32, 0x7FC00001 } };
  static const char head[] = "program p workgroup(1) {\n  param n: u32;\n  param f: f32;\n  param g: f32;\n"
                             "  write y: f32[];\n\n";
  for (uint32_t level = 0; level <= 2; level += 2) {
    vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
    char wanted[512];
    options.level = level;
    options.spec = spec;
    options.spec_count = 3;
    ck_assert_int_eq(vyre_optimize(p, &options, &out, NULL, NULL), VYRE_OK);
    char *text = text_of(out);
    snprintf(wanted, sizeof wanted, "%s%s}\n", head, level == 0 ?
             "  for (i in 0..n) {\n    y[i + n] = f * g;\n  }\n" : "  y[1] = g + g;\n");
    ck_assert_str_eq(text, wanted);
    free(text);
    vyre_program_release(out);
  }
  vyre_program_release(p);
}
END_TEST

START_TEST(every_random_program_comes_out_valid_at_every_level) {
  for (uint64_t seed = 1; seed <= 150; seed++) {
    vyre_program *p = random_of(seed);
    for (uint32_t level = 0; level <= 2; level++) {
      vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
      vyre_opt_report *report;
      vyre_opt_summary summary;
      vyre_program *out, *again;
      vyre_error error = VYRE_ERROR_INIT;
      options.level = level;
      options.flags = VYRE_OPT_VERIFY | VYRE_OPT_ROUNDTRIP | VYRE_OPT_EXPLAIN;
      vyre_status status = vyre_optimize(p, &options, &out, &report, &error);
      ck_assert_msg(status == VYRE_OK, "seed %llu level %u: %s", (unsigned long long)seed, level, error.text);
      vyre_opt_report_summary(report, &summary);
      ck_assert_msg(summary.outcome == VYRE_OPT_DONE, "seed %llu: %s", (unsigned long long)seed, summary.text);
      ck_assert_uint_le(summary.cost_after, summary.cost_before);
      options.flags = 0;
      ck_assert_int_eq(vyre_optimize(p, &options, &again, NULL, &error), VYRE_OK);
      ck_assert_msg(vyre_program_equal(out, again), "seed %llu: two answers", (unsigned long long)seed);
      vyre_opt_report_free(report);
      vyre_program_release(out);
      vyre_program_release(again);
    }
    vyre_program_release(p);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
    a_unit_gives_its_program_back,
    statements_that_are_put_as_they_are_stay_the_same,
    an_undone_change_leaves_nothing,
    a_copy_has_variables_of_its_own,
    no_division_by_a_literal_0_and_no_literal_index_beyond_a_length,
    trip_counts,
    the_table_of_passes_has_an_order,
    a_circle_of_requirements_is_found,
    options_are_checked,
    known_parameters_are_literals,
    every_random_program_comes_out_valid_at_every_level,
    NULL
  };
  return run_suite("opt/unit", 120, tests);
}
