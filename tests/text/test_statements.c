/* Section 6 of the language: every statement, what it desugars to, and what is wrong with others. */
#include "kit.h"

START_TEST(variables) {
  kit_means("let r = n; var k: f32 = 1; k = a; k += 2; k -= a; k *= a; k /= a;",
            "  let r = n;\n  var k = 1.0;\n  k = a;\n  k = k + 2.0;\n  k = k - a;\n  k = k * a;\n  k = k / a;\n");
  kit_means("var k = n; k %= 3; k &= 7; k |= n; k ^= n; k <<= 2; k >>= n;",
            "  var k = n;\n  k = k % 3;\n  k = k & 7;\n  k = k | n;\n  k = k ^ n;\n  k = k << 2;\n  k = k >> n;\n");
  kit_means("var k = v[0]; k.y = a; k.w *= 2;",
            "  var k = v[0];\n  k = f32x4(k.x, a, k.z, k.w);\n  k = f32x4(k.x, k.y, k.z, k.w * 2.0);\n");
  kit_fault("let r = n; r = 1;", VYRE_V120, 12);
  kit_fault("n = 1;", VYRE_V120, 1);
  kit_fault("u = 1;", VYRE_V120, 1);
  kit_fault("what = 1; what = 2;", VYRE_V120, 1);
  kit_fault("for (i in 0..3) { i = 1; }", VYRE_V11, 19);
  kit_fault("var k = n; k = a;", VYRE_V45, 16);
  kit_fault("var k = n; k.x = 1;", VYRE_V68, 13);
  kit_fault("var k = v[0]; k.x = n;", VYRE_V45, 21);
  kit_fault("var k = v[0]; k.q = 1;", VYRE_V68, 17);
  kit_fault("let r: f16 = 1;", VYRE_V136, 5);
  kit_fault("let r: what = 1;", VYRE_V136, 8);
  kit_fault("let r: tile = 1;", VYRE_V136, 8);
  kit_fault("let r;", VYRE_S5, 6);
  kit_fault("let r = atomic_store(u[0], 1);", VYRE_V146, 0);
  kit_fault("let r = n", VYRE_S5, 0);
}
END_TEST

START_TEST(stores) {
  kit_means("y[n] = a; y[n] += 1; u[0] <<= n; m[1] ^= 0xFF;",
            "  y[n] = a;\n  y[n] = y[n] + 1.0;\n  u[0] = u[0] << n;\n  m[1] = m[1] ^ 255;\n");
  kit_fault("x[0] = 1;", VYRE_V63, 1);
  kit_fault("what[0] = 1;", VYRE_V64, 1);
  kit_fault("n[0] = 1;", VYRE_V64, 1);
  kit_fault("y[a] = 1;", VYRE_V122, 3);
  kit_fault("y[0] = n;", VYRE_V121, 8);
  kit_fault("m[8] = 1;", VYRE_V36, 1);
  kit_fault("y[0];", VYRE_V147, 1);
  kit_fault("y[0] 1;", VYRE_S5, 6);
  kit_fault("y = 1;", VYRE_V120, 1);
}
END_TEST

/* The index of a compound assignment is evaluated once, before the value. */
START_TEST(a_compound_assignment_evaluates_its_index_once) {
  kit_means("u[atomic_add(m[0], 1)] += 2;", "  let __t0 = atomic_add(m[0], 1);\n  u[__t0] = u[__t0] + 2;\n");
  kit_means("u[m[0]] += 2;", "  u[m[0]] = u[m[0]] + 2;\n");
}
END_TEST

START_TEST(expressions_that_are_statements) {
  kit_means("atomic_add(u[0], 1); atomic_store(m[0], n, release);",
            "  atomic_add(u[0], 1);\n  atomic_store(m[0], n, release);\n");
  kit_fault("n + 1;", VYRE_V147, 1);
  kit_fault("7;", VYRE_V147, 1);
  kit_fault("(atomic_add(u[0], 1) + 1);", VYRE_V147, 1);
  kit_fault("subgroup_add(n);", VYRE_V147, 1);
  kit_fault("n;", VYRE_V147, 1);
  kit_fault("min(n, n);", VYRE_V147, 1);
}
END_TEST

START_TEST(blocks) {
  kit_means("if (c) {} else if (n == 1) { y[0] = a; } else {}", "  if (c) {} else if (n == 1) {\n    y[0] = a;\n  }\n");
  kit_means("if (c) { } else { if (c) { } }", "  if (c) {} else if (c) {}\n");
  kit_means("if (c) { } else { if (c) { } y[0] = a; }", "  if (c) {} else {\n    if (c) {}\n    y[0] = a;\n  }\n");
  kit_means("{ let r = 1; } { } region \"r\" { region \"r\" { } }",
            "  {\n    let r = 1;\n  }\n  {}\n  region \"r\" {\n    region \"r\" {}\n  }\n");
  kit_fault("if c { }", VYRE_S5, 4);
  kit_fault("if (c) y[0] = a;", VYRE_S5, 8);
  kit_fault("if (n) { }", VYRE_V123, 5);
  kit_fault("if (c) { } else y[0] = a;", VYRE_S5, 17);
  kit_fault("else { }", VYRE_S5, 1);
  kit_fault(";", VYRE_S5, 1);
  kit_fault("y[0] = a;;", VYRE_S5, 10);
  kit_fault("{ ; }", VYRE_S5, 3);
  kit_fault("region r { }", VYRE_S5, 8);
  kit_fault("loop (c) { }", VYRE_S5, 6);
}
END_TEST

START_TEST(loops) {
  kit_means(
      "for (i in 0..n) { } for (i in j..9) { } for (i in 0..w step 2) { } for (i in -3..3 step 1) { }",
      "  for (i in 0..n) {}\n  for (i in j..9) {}\n  for (i in 0..w step 2) {}\n  for (i in -3i32..3 step 1) {}\n");
  kit_means("loop { if (c) { break; } continue; }",
            "  loop {\n    if (c) {\n      break;\n    }\n    continue;\n  }\n");
  kit_means("for (i in 0..10 step 3) { }", "  for (i in 0..10 step 3) {}\n");
  kit_fault("for (i in a..n) { }", VYRE_V124, 11);
  kit_fault("for (i in 0..a) { }", VYRE_V124, 0);
  kit_fault("for (i in n..j) { }", VYRE_V125, 14);
  kit_fault("for (i in n..n step j) { }", VYRE_V125, 21);
  kit_fault("for (i in n) { }", VYRE_S5, 12);
  kit_fault("for (i = 0) { y[0] = what; }", VYRE_S5, 8);
  kit_fault("for i in 0..n { }", VYRE_S5, 5);
  kit_fault("for (n in 0..n) { }", VYRE_V8, 6);
  kit_fault("break;", VYRE_V144, 1);
  kit_fault("if (c) { continue; }", VYRE_V144, 10);
  kit_fault("loop { break; y[0] = a; }", VYRE_V112, 15);
  kit_fault("loop { continue; break; }", VYRE_V112, 18);
  kit_fault("return; y[0] = a;", VYRE_V112, 9);
  kit_fault("return n;", VYRE_S9, 8);
}
END_TEST

START_TEST(ordering_and_copies) {
  kit_means("barrier; fence(acq_rel, workgroup); fence(acquire, system); grid_barrier; pause(10); commit; wait 7;",
            "  barrier;\n  fence(acq_rel, workgroup);\n  fence(acquire, system);\n  grid_barrier;\n  pause(10);\n  "
            "commit;\n  wait 7;\n");
  kit_means("copy_async m[0], u[n], 8; copy_async workgroup m[0], u[0], 4; commit; wait 0;",
            "  copy_async m[0], u[n], 8;\n  copy_async workgroup m[0], u[0], 4;\n  commit;\n  wait 0;\n");
  kit_fault("fence(relaxed, device);", VYRE_V42, 1);
  kit_fault("fence(acquire);", VYRE_S5, 14);
  kit_fault("fence(device, acquire);", VYRE_S5, 7);
  kit_fault("wait 8;", VYRE_V145, 6);
  kit_fault("wait n;", VYRE_V66, 6);
  kit_fault("wait what;", VYRE_V66, 6);
  kit_fault("wait;", VYRE_S5, 5);
  kit_fault("copy_async m[0], x[0], 8;", VYRE_V137, 1);
  kit_fault("copy_async what[0], u[0], 8;", VYRE_V137, 12);
  kit_fault("copy_async m[0], u[0], a;", VYRE_V137, 24);
  kit_fault("copy_async m[0], u[0];", VYRE_S5, 22);
  kit_fault("copy_async if: m[0], u[0], 1;", VYRE_S6, 12);
  kit_fault("trap(a);", VYRE_V139, 6);
  kit_fault("pause(w);", VYRE_V139, 7);
}
END_TEST

/* `wait tag` waits for the tag's group and what was closed before it, when the text shows how many came after. */
START_TEST(tags) {
  kit_means("copy_async t: m[0], u[0], 1; wait t;", "  copy_async m[0], u[0], 1;\n  commit;\n  wait 0;\n");
  kit_means("copy_async t: m[0], u[0], 1; copy_async r: m[1], u[1], 1; commit; wait t; wait r;",
            "  copy_async m[0], u[0], 1;\n  commit;\n  copy_async m[1], u[1], 1;\n  commit;\n  commit;\n  wait 2;\n  "
            "wait 1;\n");
  kit_means("copy_async t: m[0], u[0], 1; if (n == 1) { commit; } wait t;",
            "  copy_async m[0], u[0], 1;\n  commit;\n  if (n == 1) {\n    commit;\n  }\n  wait 0;\n");
  kit_means("copy_async t: m[0], u[0], 1; if (n == 1) { } commit; wait t;",
            "  copy_async m[0], u[0], 1;\n  commit;\n  if (n == 1) {}\n  commit;\n  wait 1;\n");
  kit_means("copy_async t: m[0], u[0], 1; commit; for (i in 0..n) { wait t; }",
            "  copy_async m[0], u[0], 1;\n  commit;\n  commit;\n  for (i in 0..n) {\n    wait 0;\n  }\n");
  kit_means("{ copy_async t: m[0], u[0], 1; } commit; region \"r\" { wait t; }",
            "  {\n    copy_async m[0], u[0], 1;\n    commit;\n  }\n  commit;\n  region \"r\" {\n    wait 1;\n  }\n");
  kit_means("copy_async t: m[0], u[0], 1; commit; copy_async t: m[0], u[0], 1; wait t;",
            "  copy_async m[0], u[0], 1;\n  commit;\n  commit;\n  copy_async m[0], u[0], 1;\n  commit;\n  wait 0;\n");
  kit_means("copy_async t: m[0], u[0], 1; commit; commit; commit; commit; commit; commit; commit; commit; wait t;",
            "  copy_async m[0], u[0], 1;\n  commit;\n  commit;\n  commit;\n  commit;\n  commit;\n  commit;\n  "
            "commit;\n  commit;\n  commit;\n  wait 7;\n");
}
END_TEST

START_TEST(prints) {
  kit_means("print(\"none\"); print(\"{} {} {}\\n\", n, a + 1, c,);",
            "  print(\"none\");\n  print(\"{} {} {}\\n\", n, a + 1.0, c);\n");
  kit_means("print(\"{}\", 5);", "  print(\"{}\", 5);\n");
  kit_fault("print(\"{}\");", VYRE_V151, 1);
  kit_fault("print(\"{}\", n, n);", VYRE_V151, 1);
  kit_fault("print(\"{}\", v[0]);", VYRE_V139, 1);
  kit_fault("print(n);", VYRE_S5, 7);
}
END_TEST

START_TEST(declarations_stand_first) {
  kit_fault("y[0] = a; param z: f32; y[1] = z;", VYRE_S8, 11);
  kit_fault("y[0] = a; read z: f32[4]; y[1] = z[0];", VYRE_S8, 11);
  kit_fault("y[0] = a; const Z: f32[2] = {1, 2}; y[1] = Z[0];", VYRE_S8, 11);
  kit_fault("y[0] = a; fn z(q: f32) -> f32 { return q; } y[1] = z(0);", VYRE_S8, 11);
  kit_fault("{ local z: f32[4]; z[0] = 1; }", VYRE_S8, 3);
}
END_TEST

START_TEST(a_fault_is_said_once_and_the_rest_is_read) {
  /* a name whose declaration failed is silent */
  kit_fault("let r = what; y[0] = r + 1; let q = r * r; u[r] = 1; for (i in 0..r) { y[i] = 1; } if (r) { }", VYRE_V66,
            9);
  kit_fault("let r = ; y[0] = r;", VYRE_S5, 9);
  kit_fault("let r: what = 1; y[0] = r;", VYRE_V136, 8);
  kit_fault("for (i in what..n) { y[i] = f32(i); }", VYRE_V66, 11);
  kit_fault("for (i in n) { y[i] = f32(i); } y[0] = 1;", VYRE_S5, 12);
  kit_fault("if (what) { y[0] = 1; } else { y[1] = 1; }", VYRE_V66, 5);
  kit_fault("if (n +) { y[0] = 1; } else { y[1] = 1; } y[2] = 1;", VYRE_S5, 8);
  kit_fault("y[what + 1] = 1;", VYRE_V66, 3);
  kit_fault("let r = n\nlet p = r;", VYRE_S5, 0);
  kit_fault("what(1, 2); y[0] = 1;", VYRE_V66, 1);
}
END_TEST

START_TEST(every_fault_is_found_up_to_20) {
  vyre_diagnostics *d;
  vyre_program *program;
  vyre_diagnostic found;
  const char *three = "program p {\n let a = what;\n let b = 1 +;\n {\n  c = 2;\n }\n let d = a;\n}\n";
  ck_assert_int_eq(vyre_diagnostics_create(NULL, three, strlen(three), &d), VYRE_OK);
  ck_assert_int_eq(vyre_text_parse(three, strlen(three), NULL, d, &program, NULL), VYRE_ERR_INVALID_PROGRAM);
  static const struct {
    vyre_code code;
    uint32_t line, column;
  } wanted[] = {{VYRE_V66, 2, 10}, {VYRE_S5, 3, 13}, {VYRE_V120, 5, 3}};
  ck_assert_uint_eq(vyre_diagnostics_errors(d), 3);
  for (uint32_t i = 0; i < 3; i++) {
    ck_assert(vyre_diagnostics_get(d, i, &found));
    ck_assert_int_eq(found.code, wanted[i].code);
    ck_assert_uint_eq(found.line, wanted[i].line);
    ck_assert_uint_eq(found.column, wanted[i].column);
  }
  vyre_diagnostics_destroy(d);

  char *many = strdup("program p {\n");
  for (int i = 0; i < 50; i++) {
    char *more = kit_text("%s let a%d = what%d;\n", many, i, i);
    free(many);
    many = more;
  }
  ck_assert_int_eq(vyre_diagnostics_create(NULL, many, strlen(many), &d), VYRE_OK);
  ck_assert_int_eq(vyre_text_parse(many, strlen(many), NULL, d, &program, NULL), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_uint_eq(vyre_diagnostics_errors(d), VYRE_MAX_DIAGNOSTICS);
  vyre_diagnostics_destroy(d);
  free(many);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { variables,
                                 stores,
                                 a_compound_assignment_evaluates_its_index_once,
                                 expressions_that_are_statements,
                                 blocks,
                                 loops,
                                 ordering_and_copies,
                                 tags,
                                 prints,
                                 declarations_stand_first,
                                 a_fault_is_said_once_and_the_rest_is_read,
                                 every_fault_is_found_up_to_20,
                                 NULL };
  return run_suite("statements", 60, tests);
}
