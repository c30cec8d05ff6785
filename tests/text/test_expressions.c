/* Section 5 of the language: precedence, order of evaluation, and the forms that operators have. */
#include "kit.h"

START_TEST(precedence_is_that_of_c_but_for_bitwise_and_comparison) {
  kit_expr("n + n * n", "n + n * n");
  kit_expr("(n + n) * n", "(n + n) * n");
  kit_expr("n - n - n", "n - n - n");
  kit_expr("n - (n - n)", "n - (n - n)");
  kit_expr("n << 1 + n", "n << 1 + n");
  kit_expr("n & n << 1", "n & n << 1");
  kit_expr("n | n ^ n & n", "n | n ^ n & n");
  kit_expr("((n | n) ^ n) & n", "((n | n) ^ n) & n");
  kit_expr("n & n == n", "(n & n) == n");
  kit_expr("n == n | n", "n == (n | n)");
  kit_expr("n ^ 1 < n", "(n ^ 1) < n");
  kit_expr("n < n == c", "n < n == c");
  kit_expr("c == (n < n)", "c == n < n");
  kit_expr("(c == c) != c", "c == c != c");
  kit_expr("c != (c == c)", "c != (c == c)");
  kit_expr("c && c || c && c", "c && c || c && c");
  kit_expr("c && (c || c)", "c && (c || c)");
  kit_expr("c || (c || c)", "c || (c || c)");
  kit_expr("n == n && n < n", "n == n && n < n");
  kit_expr("c ? n : c ? n : n", "c ? n : c ? n : n");
  kit_expr("(c ? c : c) ? n : n", "(c ? c : c) ? n : n");
  kit_expr("c ? c ? n : n : n", "c ? (c ? n : n) : n");
  kit_expr("c || c ? n : n + n", "c || c ? n : n + n");
  kit_expr("(c ? n : n) + n", "(c ? n : n) + n");
  kit_expr("-n * n", "-n * n");
  kit_expr("-(n * n)", "-(n * n)");
  kit_expr("~-n", "~-n");
  kit_expr("- -n", "-(-n)");
  kit_expr("!!c", "!!c");
  kit_expr("!(c && c)", "!(c && c)");
  kit_expr("n - -n", "n - -n");
  kit_expr("-v[0].x", "-v[0].x");
  kit_expr("(-v[0]).x", "(-v[0]).x");
  kit_expr("(v[0] + v[1]).y", "(v[0] + v[1]).y");
  kit_expr("(c ? v[0] : v[1]).w", "(c ? v[0] : v[1]).w");
  kit_expr("n % n / n * n", "n % n / n * n");
  kit_expr("n * (n / n)", "n * (n / n)");
  kit_expr("a<-a", "a < -a");
  kit_expr("c?a:a-1", "c ? a : a - 1.0");
}
END_TEST

START_TEST(every_form_of_operand) {
  kit_expr("gid.x + lid.y + wid.z + nwg.x", "gid.x + lid.y + wid.z + nwg.x");
  kit_expr("lane + subgroup_id + num_subgroups + subgroup_size", "lane + subgroup_id + num_subgroups + subgroup_size");
  kit_expr("len(x)", "len(x)");
  kit_expr("len64(x)", "len64(x)");
  kit_expr("clock_ns()", "clock_ns()");
  kit_expr("should_stop()", "should_stop()");
  kit_expr("x[x[0] > 0 ? 1 : 2]", "x[x[0] > 0.0 ? 1u32 : 2]");
  kit_expr("grid_uniform_load(x[n + 1])", "grid_uniform_load(x[n + 1])");
  kit_expr("workgroup_uniform_load(m[1])", "workgroup_uniform_load(m[1])");
  kit_expr("atomic_add(u[0], 1)", "atomic_add(u[0], 1)");
  kit_expr("atomic_cas(u[n], 1, 2, acq_rel, system)", "atomic_cas(u[n], 1, 2, acq_rel, system)");
  kit_expr("atomic_load(m[0], acquire)", "atomic_load(m[0], acquire)");
  kit_expr("atomic_load(m[0], relaxed, workgroup,)", "atomic_load(m[0])");
  kit_expr("atomic_max(u[0], 5, relaxed, system)", "atomic_max(u[0], 5, relaxed, system)");
  kit_expr("f32x4(a)", "f32x4(a)");
  kit_expr("f32x4(a, 1, 2, a,)", "f32x4(a, 1.0, 2.0, a)");
  kit_expr("u32x2(n, 1).y", "u32x2(n, 1).y");
  kit_expr("bitcast<u64>(f32x2(a))", "bitcast<u64>(f32x2(a))");
  kit_expr("min(max(n, 1,), n,)", "min(max(n, 1), n)");
  kit_expr("v[0] * a", "v[0] * a");
  kit_expr("a * v[0]", "a * v[0]");
  kit_expr("f32x4(a) * f32x4(a)", "f32x4(a) * f32x4(a)");
  kit_expr("v[0] * f32x4(a)", "v[0] * a");
  kit_expr("fma(v[0], a, 1)", "fma(v[0], a, 1.0)");
  kit_expr("fma(f32x4(1), f32x4(2), f32x4(3))", "fma(f32x4(1.0), f32x4(2.0), f32x4(3.0))");
  kit_expr("u32x4(n) << n", "u32x4(n) << n");
  kit_expr("u32x4(1) >> u32x4(n)", "u32x4(1) >> n");
  kit_expr("((((n))))", "n");
}
END_TEST

/* Every operator of the table that is a function parses and prints as itself. */
START_TEST(every_function_of_the_table) {
  static const char *const arguments[4] = { "", "a", "a, a", "a, a, a" };
  static const struct {
    const char *spelling, *form;
    uint32_t arity;
    vyre_op op;
  } rows[] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) { spelling, #form, arity, VYRE_OP_##name },
#include <vyre/ops.def>
#undef X
  };
  uint32_t seen = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strcmp(rows[i].form, "FUNC") != 0 || rows[i].arity == 0) continue;
    static const char *const kinds[] = { "a", "n", "c", "d" };
    bool found = false;
    for (size_t k = 0; k < 4 && !found; k++) {
      const char *second =
          rows[i].op >= VYRE_OP_SUBGROUP_BROADCAST || rows[i].op == VYRE_OP_ROTL || rows[i].op == VYRE_OP_ROTR
              ? "n"
              : kinds[k];
      char *call = rows[i].arity == 1   ? kit_text("%s(%s)", rows[i].spelling, kinds[k])
                   : rows[i].arity == 2 ? kit_text("%s(%s, %s)", rows[i].spelling, kinds[k], second)
                                        : kit_text("%s(%s, %s, %s)", rows[i].spelling, kinds[k], kinds[k], kinds[k]);
      char *text = kit_text(KIT_HEAD KIT_NAMES "let r = %s;}", call);
      vyre_program *program = NULL;
      if (vyre_text_parse(text, strlen(text), NULL, NULL, &program, NULL) == VYRE_OK) {
        kit_expr(call, call);
        found = true;
        seen++;
      }
      vyre_program_release(program);
      free(text);
      free(call);
    }
    ck_assert_msg(found, "%s(%s) is not to be had", rows[i].spelling, arguments[rows[i].arity]);
  }
  ck_assert_uint_gt(seen, 60);
}
END_TEST

START_TEST(what_is_wrong_with_an_expression_and_where) {
  kit_fault("let r = n + ;", VYRE_S5, 13);
  kit_fault("let r = (n;", VYRE_S5, 11);
  kit_fault("let r = n);", VYRE_S5, 10);
  kit_fault("let r = x[0;", VYRE_S5, 12);
  kit_fault("let r = x[0);", VYRE_S5, 12);
  kit_fault("let r = c ? n;", VYRE_S5, 14);
  kit_fault("let r = (c ? n);", VYRE_S5, 15);
  kit_fault("let r = n n;", VYRE_S5, 11);
  kit_fault("let r = ();", VYRE_S5, 10);
  kit_fault("let r = min(n, n;", VYRE_S5, 17);
  kit_fault("let r = min n;", VYRE_S5, 13);
  kit_fault("let r = x;", VYRE_S5, 10);
  kit_fault("let r = if;", VYRE_S5, 9);
  kit_fault("let r = gid;", VYRE_S5, 12);
  kit_fault("let r = gid.w;", VYRE_V68, 13);
  kit_fault("let r = gid.q;", VYRE_V68, 13);
  kit_fault("let r = f32x2(a).z;", VYRE_V68, 17);
  kit_fault("let r = n.x;", VYRE_V68, 10);
  kit_fault("let r = bitcast<f32(n);", VYRE_S5, 20);
  kit_fault("let r = bitcast<number>(n);", VYRE_V136, 17);
  kit_fault("let r = bitcast<u64>(n);", VYRE_V12, 9);
  kit_fault("let r = what;", VYRE_V66, 9);
  kit_fault("let r = what[0] + what[1];", VYRE_V65, 0);
  kit_fault("let r = what(0);", VYRE_V66, 9);
  kit_fault("let r = n(0);", VYRE_V66, 9);
  kit_fault("let r = n[0];", VYRE_V65, 9);
  kit_fault("let r = len(what);", VYRE_V67, 13);
  kit_fault("let r = len(n);", VYRE_V67, 13);
  kit_fault("let r = atomic_add(what[0], 1);", VYRE_V61, 20);
  kit_fault("let r = atomic_add(u[0]);", VYRE_V20, 9);
  kit_fault("let r = atomic_add(u[0], 1, 2);", VYRE_S5, 29);
  kit_fault("let r = atomic_add(u[0], 1, relaxed, here);", VYRE_S5, 38);
  kit_fault("let r = atomic_load(u[0], release);", VYRE_V42, 9);
  kit_fault("let r = min(n);", VYRE_V20, 9);
  kit_fault("let r = sqrt(a, a);", VYRE_V20, 9);
  kit_fault("let r = f32();", VYRE_V20, 9);
  kit_fault("let r = clock_ns(1);", VYRE_V20, 9);
  kit_fault("let r = f32x4(1, 2);", VYRE_V148, 9);
  kit_fault("let r = f32x2(n);", VYRE_V148, 9);
  kit_fault("let r = n + a;", VYRE_V88, 11);
  kit_fault("let r = a + n * 2 - 1;", VYRE_V88, 11);
  kit_fault("let r = c + c;", VYRE_V87, 11);
  kit_fault("let r = a & a;", VYRE_V91, 11);
  kit_fault("let r = !n;", VYRE_V100, 9);
  kit_fault("let r = n && c;", VYRE_V95, 11);
  kit_fault("let r = n ? a : a;", VYRE_V134, 11);
  kit_fault("let r = c ? a : n;", VYRE_V29, 11);
  kit_fault("let r = x[a];", VYRE_V133, 9);
  kit_fault("let r = m[8];", VYRE_V36, 9);
  kit_fault("let r = n / 0;", VYRE_V44, 11);
  kit_fault("let r = sqrt(n);", VYRE_V102, 9);
  kit_fault("let r = dot4(n, n);", VYRE_V136, 9);
  kit_fault("let r = call \"no.such\"(n);", VYRE_V16, 9);
  kit_fault("let r = n + atomic_store(u[0], 1);", VYRE_V146, 11);
}
END_TEST

START_TEST(a_message_shows_the_line_and_a_caret) {
  const char *text = "program p {\n  read x: f32[];\n\tlet r = x[0] + what;\n}\n";
  vyre_diagnostics *d;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create("dir/t.vyre", text, strlen(text), &d), VYRE_OK);
  ck_assert_int_eq(vyre_text_parse(text, strlen(text), NULL, d, &program, NULL), VYRE_ERR_INVALID_PROGRAM);
  char *rendered = vyre_diagnostics_render(d);
  ck_assert_str_eq(rendered,
                   "dir/t.vyre:3:17: error V066: a name is not declared where it is used: \"what\" is not declared\n"
                   "  \tlet r = x[0] + what;\n"
                   "  \t               ^\n"
                   "  Fix: declare it before its use, in this block or one around it.\n");
  free(rendered);
  vyre_diagnostics_destroy(d);
}
END_TEST

/* What C would skip and vyre does not. */
START_TEST(effects_that_c_would_skip_are_warned_of) {
  static const struct { const char *statement; uint32_t warnings; } rows[] = {
    { "let r = c && atomic_add(u[0], 1) == 0;", 1 },
    { "let r = c || atomic_add(u[0], 1) == 0;", 1 },
    { "let r = atomic_add(u[0], 1) == 0 && c;", 0 },
    { "let r = c ? atomic_add(u[0], 1) : n;", 1 },
    { "let r = c ? n : atomic_add(u[0], 1);", 1 },
    { "let r = atomic_add(u[0], 1) == 0 ? n : n;", 0 },
    { "let r = select(c, atomic_add(u[0], 1), n);", 0 },
    { "let r = c && should_stop();", 1 },
    { "let r = c && (f(1) == 1);", 1 },
    { "let r = c && (pure(1) == 1);", 0 },
    { "let r = f(1) == 1 && c;", 0 },
    { "let r = c && x[0] > 0;", 0 },
    { "let r = (c && c) == (atomic_add(u[0], 1) == 0);", 0 },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *text = kit_text(KIT_HEAD KIT_NAMES "fn f(i: u32) -> u32 { atomic_add(u[i], 1); return i; }\n"
                          "fn pure(i: u32) -> u32 { return i + 1; }\n%s }", rows[i].statement);
    ck_assert_msg(kit_warnings(text, VYRE_W2) == rows[i].warnings, "%s", rows[i].statement);
    free(text);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = { precedence_is_that_of_c_but_for_bitwise_and_comparison,
                                 every_form_of_operand,
                                 every_function_of_the_table,
                                 what_is_wrong_with_an_expression_and_where,
                                 a_message_shows_the_line_and_a_caret,
                                 effects_that_c_would_skip_are_warned_of,
                                 NULL };
  return run_suite("expressions", 60, tests);
}
