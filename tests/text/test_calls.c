/* Functions and operations: what a call becomes, in which order things happen, and what is refused. */
#include "kit.h"

#define SQUARE "fn square(k: f32) -> f32 { return k * k; }\n"
#define COUNT "fn count(i: u32) -> u32 { let old = atomic_add(u[i], 1); return old; }\n"
#define BUMP "fn bump(i: u32) { u[i] += 1; }\n"

START_TEST(a_call_is_a_region_with_its_own_names) {
  kit_means(SQUARE "let k = 1.0; y[0] = square(a) + k;",
            "  let k = 1.0;\n"
            "  var __r0 = 0.0;\n"
            "  region \"call square\" {\n"
            "    let __square_k_1 = a;\n"
            "    __r0 = __square_k_1 * __square_k_1;\n"
            "  }\n"
            "  y[0] = __r0 + k;\n");
  kit_means(BUMP "bump(n); bump(2);",
            "  region \"call bump\" {\n    let __bump_i_1 = n;\n    u[__bump_i_1] = u[__bump_i_1] + 1;\n  }\n"
            "  region \"call bump\" {\n    let __bump_i_2 = 2;\n    u[__bump_i_2] = u[__bump_i_2] + 1;\n  }\n");
  kit_means(
      "fn none() {} fn vec(p: f32x2) -> f32x2 { return p * 2; } none(); let r = vec(f32x2(a)).y;",
      "  region \"call none\" {}\n  var __r0 = f32x2(0.0);\n  region \"call vec\" {\n    let __vec_p_2 = f32x2(a);\n"
      "    __r0 = __vec_p_2 * 2.0;\n  }\n  let r = __r0.y;\n");
}
END_TEST

/* What stands left of a call is evaluated before it; only what the call could change needs a name for that. */
START_TEST(operands_left_of_a_call_are_taken_first) {
  kit_means(COUNT "let r = u[n] + count(n) + u[n];",
            "  let __t0 = u[n];\n"
            "  var __r1 = 0;\n"
            "  region \"call count\" {\n"
            "    let __count_i_1 = n;\n"
            "    let __count_old_1 = atomic_add(u[__count_i_1], 1);\n"
            "    __r1 = __count_old_1;\n"
            "  }\n"
            "  let r = __t0 + __r1 + u[n];\n");
  /* the index is evaluated before the value; parameters, lets and read buffers do not change */
  kit_means(COUNT "u[m[0]] = count(n) + len(x);",
            "  let __t0 = m[0];\n  var __r1 = 0;\n  region \"call count\" {\n    let __count_i_1 = n;\n"
            "    let __count_old_1 = atomic_add(u[__count_i_1], 1);\n    __r1 = __count_old_1;\n  }\n  u[__t0] = __r1 "
            "+ len(x);\n");
  kit_means(SQUARE "let k = x[n]; let r = k * x[0] + square(a);",
            "  let k = x[n];\n  var __r0 = 0.0;\n  region \"call square\" {\n    let __square_k_1 = a;\n    __r0 = "
            "__square_k_1 * __square_k_1;\n  }\n"
            "  let r = k * x[0] + __r0;\n");
  /* arguments from left to right, nested calls innermost first */
  kit_means(COUNT "fn two(f: u32, g: u32) -> u32 { return f - g; } let r = two(u[0], count(count(1)));",
            "  let __t0 = u[0];\n  var __r1 = 0;\n  region \"call count\" {\n    let __count_i_1 = 1;\n"
            "    let __count_old_1 = atomic_add(u[__count_i_1], 1);\n    __r1 = __count_old_1;\n  }\n"
            "  var __r2 = 0;\n  region \"call count\" {\n    let __count_i_2 = __r1;\n"
            "    let __count_old_2 = atomic_add(u[__count_i_2], 1);\n    __r2 = __count_old_2;\n  }\n"
            "  var __r3 = 0;\n  region \"call two\" {\n    let __two_f_3 = __t0;\n    let __two_g_3 = __r2;\n    __r3 "
            "= __two_f_3 - __two_g_3;\n  }\n"
            "  let r = __r3;\n");
  /* a compound assignment loads before its value is computed */
  kit_means(COUNT "u[0] += count(0);",
            "  let __t0 = u[0];\n  var __r1 = 0;\n  region \"call count\" {\n    let __count_i_1 = 0;\n"
            "    let __count_old_1 = atomic_add(u[__count_i_1], 1);\n    __r1 = __count_old_1;\n  }\n  u[0] = __t0 + "
            "__r1;\n");
}
END_TEST

START_TEST(calls_in_conditions_and_bounds) {
  kit_means("fn yes() -> bool { return true; } if (c) { } else if (yes()) { } for (i in 0..u32(yes())) { }",
            "  if (c) {} else {\n    var __r0 = false;\n    region \"call yes\" {\n      __r0 = true;\n    }\n    if "
            "(__r0) {}\n  }\n"
            "  var __r1 = false;\n  region \"call yes\" {\n    __r1 = true;\n  }\n  for (i in 0..u32(__r1)) {}\n");
  kit_means(SQUARE "let r = c ? square(a) : 1;", "  var __r0 = 0.0;\n  region \"call square\" {\n    let __square_k_1 "
                                                 "= a;\n    __r0 = __square_k_1 * __square_k_1;\n  }\n"
                                                 "  let r = c ? __r0 : 1.0;\n");
}
END_TEST

START_TEST(bodies_may_hold_what_programs_hold) {
  vyre_program_release(kit_parse(
      KIT_HEAD KIT_NAMES "fn all(p: u32) -> u32 {\n"
                         "  var k = p;\n  if (p > 3) { k += 1; } else { let z = p; k = z; }\n"
                         "  for (i in 0..p) { if (i == 2) { break; } let z = i; k ^= z; }\n"
                         "  loop { k += 1; if (k > 9) { break; } }\n  { let z = 1; k -= z; }\n"
                         "  m[0] = k; barrier; region \"r\" { k += m[0]; }\n  copy_async t: m[0], u[0], 1; wait t;\n"
                         "  return k;\n}\n"
                         "let k = all(n) + all(1); let z = all(k); }\n"));
}
END_TEST

START_TEST(a_body_sees_what_was_declared_before_it_and_nothing_else) {
  /* names of the caller and later declarations do not matter to it */
  vyre_program_release(kit_parse("program p { fn f(k: u32) -> u32 { let later = k; let i = later + 1; return i; } read "
                                 "later: u32[]; const i = 1;\n"
                                 " let k = f(2); let j = f(k); for (q in 0..f(3)) { let w = f(q); } }"));
  kit_fault_at("program p { fn f() -> u32 { return later[0]; } read later: u32[]; let k = f(); }", VYRE_V65, 1, 36);
  kit_fault_at("program p { fn f() -> u32 { return local_name; } let local_name = 1; let k = f(); }", VYRE_V66, 1, 36);
  kit_fault_at("program p { fn f() -> u32 { return g(); } fn g() -> u32 { return 1; } let k = f(); }", VYRE_V66, 1, 36);
  kit_fault_at("program p { fn f() -> u32 { return f(); } let k = f(); }", VYRE_V66, 1, 36);
  kit_fault_at("program p { param a: u32; fn f() { let a = 1; } f(); }", VYRE_V8, 1, 40);
  kit_fault_at("program p { fn f(f: u32) {} f(1); }", VYRE_V8, 1, 18);
  kit_fault_at("program p { fn f(k: u32, k: u32) {} f(1, 2); }", VYRE_V32, 1, 26);
  kit_fault_at("program p { fn f(k: u32) { let k = 1; } f(1); }", VYRE_V32, 1, 32);
  kit_fault_at("program p { fn f(k: u32) { { let k = 1; } } f(1); }", VYRE_V8, 1, 34);
}
END_TEST

START_TEST(what_is_wrong_with_a_call) {
  kit_fault(SQUARE "y[0] = square();", VYRE_V20, 0);
  kit_fault(SQUARE "y[0] = square(a, a);", VYRE_V20, 0);
  kit_fault(SQUARE "y[0] = square(n);", VYRE_V139, 0);
  kit_fault(SQUARE "y[0] = square;", VYRE_S5, 0);
  kit_fault(SQUARE "square(a);", VYRE_V147, 0);
  kit_fault(BUMP "y[0] = bump(1);", VYRE_V146, 0);
  kit_fault(BUMP "let r = bump(1) + 1;", VYRE_V146, 0);
  kit_fault(BUMP "bump(1) + 1;", VYRE_V146, 0);
  kit_fault("fn f() -> u32 { let k = 1; } let r = f();", VYRE_S9, 28);
  kit_fault("fn f() -> u32 { if (c) { return 1; } return 2; } let r = f();", VYRE_S9, 26);
  kit_fault("fn f() -> u32 { return; } let r = f();", VYRE_S9, 17);
  kit_fault("fn f() { return 1; } f();", VYRE_S9, 10);
  kit_fault("fn f() -> u32 { return 1.5; } let r = f();", VYRE_V45, 24);
  kit_fault("fn f() -> u32 { return 1; let k = 2; } let r = f();", VYRE_V112, 27);
  kit_fault("fn f(k: u8) {} f(1);", VYRE_V136, 9);
  kit_fault("fn f() -> f16 { return 1; }", VYRE_V136, 11);
  kit_fault("fn f( { } y[0] = 1;", VYRE_S5, 7);
  kit_fault("fn f(k) { } f(1);", VYRE_S5, 7);
  kit_fault("fn f() { { y[0] = 1;", VYRE_S5, 0);
  vyre_program_release(kit_parse("program p { fn f() { return; } f(); }"));
}
END_TEST

/* Only a loop of the body's own; the one around the call is not its business. */
START_TEST(a_body_leaves_no_loop_of_its_caller) {
  kit_fault("fn f(k: bool) -> u32 { if (k) { break; } return 1; } for (i in 0..5) { u[i] = f(i == 2); }", VYRE_V144, 33);
  kit_fault("fn f(k: bool) { if (k) { continue; } } loop { f(c); break; }", VYRE_V144, 26);
  kit_fault("fn f() { break; } fn g() { f(); } loop { g(); break; }", VYRE_V144, 10);
  kit_fault("fn f() { loop { break; } continue; } loop { f(); break; }", VYRE_V144, 26);
  kit_fault("fn f() { break; }", VYRE_V144, 10);
  kit_fault("loop { region \"call f\" { break; } }", VYRE_V144, 26);
  vyre_program_release(kit_parse("program p { param c: bool; rw u: u32[]; fn f(k: u32) -> u32 { var r = k; loop { r += "
                                 "1; if (r > 9) { break; } for (q in 0..r) { if (c) { continue; } u[q] = r; } } return "
                                 "r; } for (i in 0..5) { u[i] = f(i); if (c) { break; } } loop { region \"r\" { break; } "
                                 "} }"));
}
END_TEST

START_TEST(a_fault_in_a_body_is_said_once) {
  kit_fault("fn f(k: u32) -> u32 { return k + what; } let r = f(1) + f(2) + f(3);", VYRE_V66, 34);
  kit_fault("fn f(k: u32) -> u32 { return k + what; } fn g() -> u32 { return f(1) + f(2); } let r = g() + f(3);",
            VYRE_V66, 34);
}
END_TEST

START_TEST(bodies_that_nobody_calls_are_checked) {
  kit_fault("fn f(k: u32) -> u32 { return k + what; }", VYRE_V66, 34);
  kit_fault("fn f(k: u32) -> u32 { return k + a; }", VYRE_V88, 32);
  kit_fault("fn g(k: u32) -> u32 { return k; } fn f(k: u32) -> u32 { return g(k, 1); }", VYRE_V20, 0);
  kit_fault("fn f() -> u32 { let k = 1; }", VYRE_S9, 28);
  /* what they would do is not in the program */
  vyre_program *with = kit_parse("program p { rw u: u32[]; fn f(k: u32) { u[k] = len(u); barrier; } }"),
               *without = kit_parse("program p { rw u: u32[]; }");
  ck_assert(vyre_program_equal(with, without));
  vyre_buffer_info info;
  ck_assert(vyre_program_buffer(with, 0, &info));
  ck_assert(!info.uses_len32);
  vyre_program_release(with);
  vyre_program_release(without);
}
END_TEST

START_TEST(uniformity_is_judged_at_each_call) {
  const char *head = "program p workgroup(8) { shared m: u32[8]; fn f(k: u32) { m[k] = 1; if (k > 3) { barrier; } }";
  char *good = kit_text("%s f(wid.x); }", head), *bad = kit_text("%s f(wid.x); f(lid.x); }", head);
  vyre_program_release(kit_parse(good));
  kit_fault_at(bad, VYRE_V10, 1, 82);
  free(good);
  free(bad);
}
END_TEST

START_TEST(long_names_are_mangled_to_legal_ones) {
  char name[256];
  memset(name, 'n', 255);
  name[255] = 0;
  char *text = kit_text(
      "program p { fn %s(k%.250s: u32) -> u32 { let l%.250s = k%.250s; return l%.250s; } let r = %s(1) + %s(2); }",
      name, name, name, name, name, name, name);
  vyre_program *program = kit_parse(text);
  char *printed = kit_print(program);
  vyre_program *again = kit_parse(printed);
  ck_assert(vyre_program_equal(program, again));
  vyre_program_release(program);
  vyre_program_release(again);
  free(printed);
  free(text);
}
END_TEST

START_TEST(names_of_the_compiler_that_are_taken_are_avoided) {
  kit_means(SQUARE "let __r0 = 1.0; let __square_k_1 = 2.0; y[0] = square(a) + __r0;",
            "  let __r0 = 1.0;\n  let __square_k_1 = 2.0;\n  var __r1 = 0.0;\n  region \"call square\" {\n    let __v2 "
            "= a;\n    __r1 = __v2 * __v2;\n  }\n"
            "  y[0] = __r1 + __r0;\n");
}
END_TEST

/* ---- Operations ---------------------------------------------------------------------------- */

/* "test.add"(a, b): their sum. "test.store"(buffer, i): stores i there. "test.broken": builds a fault. */
static vyre_status expand(void *ctx, vyre_builder *b, const char *id, const vyre_call_arg *args, uint32_t count,
                          vyre_expr *result) {
  ++*(uint32_t *)ctx;
  if (strcmp(id, "test.add") == 0 && count == 2) {
    vyre_build_region(b, "test.add");
    vyre_build_end(b);
    *result = vyre_build_binary(b, VYRE_OP_ADD, args[0].value, args[1].value);
    return VYRE_OK;
  }
  if (strcmp(id, "test.store") == 0 && count == 2 && args[0].binding != VYRE_NO_BINDING) {
    vyre_build_store(b, args[0].binding, args[1].value, args[1].value);
    return VYRE_OK;
  }
  if (strcmp(id, "test.broken") == 0) {
    vyre_build_store(b, args[0].binding, args[0].value, vyre_build_f32(b, 1));
    return VYRE_ERR_INVALID_PROGRAM;
  }
  return VYRE_ERR_NOT_FOUND;
}

static vyre_status parse_calls(const char *statements, char **printed, vyre_diagnostic *first) {
  uint32_t calls = 0;
  vyre_call_resolver resolver = { &calls, expand };
  vyre_text_options options = { .resolver = &resolver };
  char *text = kit_text(KIT_HEAD "rw u: u32[]; param n: u32;\n%s}", statements);
  vyre_diagnostics *d;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create(NULL, text, strlen(text), &d), VYRE_OK);
  vyre_status status = vyre_text_parse(text, strlen(text), &options, d, &program, NULL);
  if (status == VYRE_OK) *printed = kit_print(program);
  else ck_assert(vyre_diagnostics_get(d, 0, first));
  vyre_program_release(program);
  vyre_diagnostics_destroy(d);
  free(text);
  return status;
}

START_TEST(operations_are_expanded_where_they_are_called) {
  char *printed = NULL;
  vyre_diagnostic fault;
  ck_assert_int_eq(
      parse_calls("u[0] = u[1] + call \"test.add\"(u[2], n,); call \"test.store\"(u, n);", &printed, &fault), VYRE_OK);
  ck_assert_str_eq(strstr(printed, "\n\n") + 2, "  let __t0 = u[1];\n  let __t1 = u[2];\n  region \"test.add\" {}\n  "
                                                "u[0] = __t0 + (__t1 + n);\n  u[n] = n;\n}\n");
  free(printed);
  ck_assert_int_eq(parse_calls("call \"no.such\"();", &printed, &fault), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_int_eq(fault.code, VYRE_V16);
  ck_assert_int_eq(parse_calls("call \"test.broken\"(n);", &printed, &fault), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_int_eq(parse_calls("let r = call \"test.store\"(u, n);", &printed, &fault), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_int_eq(fault.code, VYRE_V146);
  ck_assert_int_eq(parse_calls("call test.store(u, n);", &printed, &fault), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_int_eq(fault.code, VYRE_S5);
  ck_assert_int_eq(parse_calls("call \"test.store\"(u + 1, n);", &printed, &fault), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_int_eq(fault.code, VYRE_S5);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { a_call_is_a_region_with_its_own_names,
                                 operands_left_of_a_call_are_taken_first,
                                 calls_in_conditions_and_bounds,
                                 bodies_may_hold_what_programs_hold,
                                 a_body_sees_what_was_declared_before_it_and_nothing_else,
                                 what_is_wrong_with_a_call,
                                 a_body_leaves_no_loop_of_its_caller,
                                 a_fault_in_a_body_is_said_once,
                                 bodies_that_nobody_calls_are_checked,
                                 uniformity_is_judged_at_each_call,
                                 long_names_are_mangled_to_legal_ones,
                                 names_of_the_compiler_that_are_taken_are_avoided,
                                 operations_are_expanded_where_they_are_called,
                                 NULL };
  return run_suite("calls", 60, tests);
}
