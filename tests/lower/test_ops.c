/* Every operator on values at the edges of its types: the kernel, as it is lowered for targets that take more and less,
 * gives what the oracle gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "../suite.h"
#include "twin.h"

typedef struct kind {
  const char *name;
  const char *edges; /* values of a constant table */
  bool is_float, is_signed;
} kind;

static const kind kinds[] = {
    {"u32",
     "0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 255, 65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 12345",
     false, false},
    {"i32", "0, 1, -1, 2, -2, 3, -3, 7, 31, 32, -32, 127, -128, 65536, 2147483647, -2147483648, -2147483647, 12345",
     false, true},
    {"u64",
     "0, 1, 2, 3, 10, 31, 32, 33, 63, 64, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,"
     "0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF, 0x123456789ABCDEF, 9007199254740993",
     false, false},
    {"i64",
     "0, 1, -1, 2, -2, 3, 32, 64, -64, 4294967295, -4294967296, 9223372036854775807, -9223372036854775808,"
     "-9223372036854775807, 81985529216486895, -81985529216486895, 9007199254740993, -5",
     false, true},
    {"f32",
     "0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, inf, -inf, nan, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38,"
     "2147483648.0, 4294967296.0, -2147483904.0, 65504.0, 65520.0, 5.9604645e-8, 2.9802322e-8, 0.1, -1e10, "
     "1.8446744e19",
     true, true},
    {"f64",
     "0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, inf, -inf, nan, 5e-324, -5e-324, 2.2250738585072014e-308,"
     "1.7976931348623157e308, 2147483647.5, 4294967295.5, -2147483648.5, 9223372036854775807.0, 0.1, 1e-40, "
     "3.4028236e38",
     true, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static vyre_program *parse(const char *text) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_diagnostics *diagnostics;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create("ops", text, strlen(text), &diagnostics), VYRE_OK);
  if (vyre_text_parse(text, strlen(text), NULL, diagnostics, &program, &error) != VYRE_OK)
    ck_abort_msg("%s\n%s", error.text, vyre_diagnostics_render(diagnostics));
  vyre_diagnostics_destroy(diagnostics);
  return program;
}

/* One result for each pair of edges. A NaN becomes a number, since its bits are anybody's. */
static void check(const kind *k, const char *result, const char *expression) {
  char text[2048];
  bool may_be_nan = strcmp(result, "f32") == 0 || strcmp(result, "f64") == 0;
  snprintf(text, sizeof text,
           "program ops workgroup(64) subgroup(8) { const E: %s[] = {%s}; write r: %s[];\n"
           "let i = gid.x; let a = E[i / len(E)]; let b = E[i %% len(E)]; let v = %s;\n"
           "r[i] = %s; }",
           k->name, k->edges, result, expression, may_be_nan ? "v == v ? v : 777.0" : "v");
  char *brackets = strstr(text, "[] = {");
  uint32_t count = 1;
  for (const char *p = k->edges; *p != 0; p++) count += *p == ',';
  memmove(brackets + 4, brackets + 2, strlen(brackets + 2) + 1);
  brackets[1] = (char)('0' + count / 10);
  brackets[2] = (char)('0' + count % 10);
  brackets[3] = ']';
  vyre_program *program = parse(text);
  for (target t = TARGET_ENGINE; t < TARGETS; t++) {
    run_case input = {.grid = {11, 1, 1}, .subgroup = 8, .ulp = VYRE_ULP_UNSET, .elements = 704, .seed = 1};
    twin_options o = {.input = input, .target = t};
    twin_result r = twin_run(program, &o);
    ck_assert_msg(r.text[0] == 0, "target %d, %s: %s\n%s", t, expression, r.text, text);
  }
  vyre_program_release(program);
}

/* The same for several expressions, whose result has the kind's own type. */
static void check_all(const kind *k, const char *const *expressions) {
  for (; *expressions != NULL; expressions++) check(k, k->name, *expressions);
}

static const char *const arithmetic[] = { "a + b", "a - b", "a * b", "a / b", "min(a, b)", "max(a, b)", "-a",
                                          "a < b ? a : b", NULL };
static const char *const integers[] = {
    "a % b",       "mulhi(a, b)",     "a & b",           "a | b",       "a ^ b",  "~a",     "a << u32(b)",
    "a >> u32(b)", "rotl(a, u32(b))", "rotr(a, u32(b))", "popcount(a)", "clz(a)", "ctz(a)", "reverse_bits(a)",
    "a / 7",       "a % 7",           "a << 3",          "a >> 5",      NULL};
static const char *const unsigned_ones[] = { "absdiff(a, b)", "sat_add(a, b)", "sat_sub(a, b)", "sat_mul(a, b)", NULL };
static const char *const signed_ones[] = { "abs(a)", "sign(a)", NULL };
static const char *const floats[] = { "sqrt(a)", "rsqrt(a)", "rcp(a)", "floor(a)", "ceil(a)", "round(a)", "trunc(a)",
                                      "fma(a, b, a)", "fma(a, a, b)", NULL };
static const char *const comparisons[] = { "a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b",
                                           "a < b && a != b", "a < b || b < a", "!(a < b)", "(a < b) == (b < a)",
                                           "(a < b) != (a == b)", NULL };
static const char *const classes[] = { "is_nan(a)", "is_inf(a)", "is_finite(a)", NULL };

START_TEST(operators) {
  const kind *k = &kinds[_i];
  check_all(k, arithmetic);
  if (!k->is_float) check_all(k, integers);
  if (!k->is_float && !k->is_signed) check_all(k, unsigned_ones);
  if (k->is_signed) check_all(k, signed_ones);
  if (k->is_float) check_all(k, floats);
  for (const char *const *e = comparisons; *e != NULL; e++) check(k, "bool", *e);
  for (const char *const *e = classes; k->is_float && *e != NULL; e++) check(k, "bool", *e);
}
END_TEST

START_TEST(conversions) {
  const kind *k = &kinds[_i];
  char expression[64];
  for (int to = 0; to < KINDS; to++) {
    snprintf(expression, sizeof expression, "%s(a)", kinds[to].name);
    check(k, kinds[to].name, expression);
    snprintf(expression, sizeof expression, "%s(a < b)", kinds[to].name);
    check(k, kinds[to].name, expression);
  }
  check(k, "bool", "bool(a)");
}
END_TEST

/* Types that exist in memory alone: conversions through them, loads, stores. */
START_TEST(narrow) {
  static const char *const names[][2] = { { "u8", "u32" }, { "u16", "u32" }, { "i8", "i32" }, { "i16", "i32" },
                                          { "f16", "f32" }, { "bf16", "f32" } };
  for (int n = 0; n < 6; n++)
    for (int i = 0; i < KINDS; i++) {
      char expression[64];
      if (strcmp(kinds[i].name, names[n][1]) != 0) continue;
      snprintf(expression, sizeof expression, "%s(a)", names[n][0]);
      check(&kinds[i], names[n][1], expression);
      check(&kinds[i], names[n][0], "a");
    }
  check(&kinds[0], "u32", "unpack4lo(a) + unpack4hi(a) + unpack8lo(b) + unpack8hi(b)");
  check(&kinds[1], "u32", "unpack4lo(a) + unpack4hi(a) + unpack8lo(b) + unpack8hi(b)");
}
END_TEST

START_TEST(bitcasts) {
  check(&kinds[0], "f32", "bitcast<f32>(a)");
  check(&kinds[4], "u32", "bitcast<u32>(-a)");
  check(&kinds[4], "u32", "bitcast<u32>(abs(a))");
  check(&kinds[5], "u64", "bitcast<u64>(-a) ^ bitcast<u64>(abs(b))");
  check(&kinds[2], "i64", "bitcast<i64>(a)");
  check(&kinds[2], "u32x2", "bitcast<u32x2>(a)");
  check(&kinds[0], "u64", "bitcast<u64>(u32x2(a, b))");
  check(&kinds[5], "u32", "bitcast<u32x2>(a).y");
}
END_TEST

START_TEST(vectors) {
  static const char *const by_component[] = { "+", "-", "*", "/" };
  char expression[96];
  for (int i = 0; i < 5; i += i == 1 ? 3 : 1) /* u32, i32, f32 */
    for (int op = 0; op < 4; op++)
      for (int lanes = 2; lanes <= 4; lanes += 2) {
        char type[16];
        snprintf(type, sizeof type, "%sx%d", kinds[i].name, lanes);
        snprintf(expression, sizeof expression,
                 lanes == 2 ? "(%s(a, b) %s %s(b, a)).y" : "(%s(a, b, a, a) %s %s(b, a, a, b)).z", type,
                 by_component[op], type);
        check(&kinds[i], kinds[i].name, expression);
      }
  check(&kinds[0], "u32x2", "u32x2(a, b) % u32x2(b, a) + rotl(u32x2(a, b), u32x2(b, 3)) + popcount(u32x2(a))");
  check(&kinds[1], "i32x4", "abs(i32x4(a, b, 1, -1)) + sign(i32x4(b, a, 5, 0)) - mulhi(i32x4(a), i32x4(b))");
  check(&kinds[4], "u32x2", "bitcast<u32x2>(-f32x2(a, b))");
  check(&kinds[4], "bool", "(a < b ? f32x2(a, b) : f32x2(b, a)).x < 1.0");
  check(&kinds[4], "f32",
        "min(f32x4(a, b, a, b), f32x4(b, a, a, b)).x + sign(f32x2(a, b)).y + fma(f32x2(a), f32x2(b), f32x2(1.0)).x");
  check(&kinds[4], "f32",
        "floor(f32x2(a, b)).x + ceil(f32x2(a)).y + round(f32x2(a)).x + trunc(f32x2(b)).x + sqrt(f32x2(a, b)).y");
}
END_TEST

/* Copies that are far longer than what they write to, of every kind of memory: the rest of it is written, and where it
 * ends the copy does, too. One that went on would outlast the time that the test has. */
START_TEST(long_copies_end_with_their_destination) {
  static const char *const places[][2] = {
      {"", "copy_async r[i], x[i + 5], 4294967295;"},
      {"", "copy_async r[i], x[i + 5], n;"},
      {"", "copy_async r[u64(i)], x[u64(i) + 5], 4294967295;"},
      {"", "copy_async r[u64(i) << 30], x[u64(i) << 30], 4294967295;"},
      {"", "copy_async r[i - 3], x[i - 3], 4294967295; copy_async r[i + 60], x[i + 60], n;"},
      {"rw f: u16[37]; read h: u16[];", "copy_async f[i / 3], h[i / 3], 4294967295;"},
      {"rw f: bool[]; read h: bool[];", "copy_async f[i], h[i], 4294967295;"},
      {"shared m: u32[40];",
       "copy_async workgroup m[3], x[wid.x * 7], 4294967295; commit; wait 0; barrier; r[i] = m[lid.x];"},
      {"", "copy_async workgroup r[wid.x * 8], x[wid.x * 8 + 2], 4294967295;"},
      {"shared m: u8[41]; read h: u8[];",
       "copy_async workgroup m[2], h[wid.x], n; commit; wait 0; barrier; r[i] = m[lid.x];"},
      {"local t: u32[9];", "copy_async t[i % 12], x[i], 4294967295; commit; wait 0; r[i] = t[8] + t[3];"},
      {"local t: u32[9];", "copy_async t[i % 12], x[i], n; commit; wait 0; grid_barrier; r[i] = t[8] + t[3];"}};
  char text[1024];
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    snprintf(text, sizeof text,
             "program copies workgroup(8) { read x: u32[]; rw r: u32[]; %s let i = gid.x;\n"
             "let n = x[0] | 0xF0000000; %s }",
             places[k][0], places[k][1]);
    vyre_program *program = parse(text);
    for (target t = TARGET_ENGINE; t < TARGETS; t++) {
      run_case input = {.grid = {9, 1, 1}, .subgroup = 8, .ulp = VYRE_ULP_UNSET, .elements = 70, .seed = k + 1};
      twin_options o = {.input = input, .target = t};
      twin_result r = twin_run(program, &o);
      ck_assert_msg(r.text[0] == 0, "target %d: %s\n%s", t, r.text, text);
    }
    vyre_program_release(program);
  }
}
END_TEST

/* rsqrt of f64 by integers, on any bits. */
START_TEST(rsqrt_of_any_bits) {
  vyre_program *program = parse("program p workgroup(64) { read x: f64[]; write r: f64[]; let v = rsqrt(x[gid.x]);"
                                "r[gid.x] = v == v ? v : 777.0; }");
  for (uint64_t seed = 1; seed <= 40; seed++) {
    run_case input = { .grid = { 8, 1, 1 }, .subgroup = 8, .ulp = VYRE_ULP_UNSET, .elements = 512, .seed = seed };
    twin_options o = { .input = input, .target = TARGET_SCALAR };
    twin_result r = twin_run(program, &o);
    ck_assert_msg(r.text[0] == 0, "seed %llu: %s", (unsigned long long)seed, r.text);
  }
  vyre_program_release(program);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lower/ops");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 120);
  suite_add_tcase(suite, all);
  tcase_add_loop_test(all, operators, 0, KINDS);
  tcase_add_loop_test(all, conversions, 0, KINDS);
  tcase_add_test(all, narrow);
  tcase_add_test(all, bitcasts);
  tcase_add_test(all, vectors);
  tcase_add_test(all, long_copies_end_with_their_destination);
  tcase_add_test(all, rsqrt_of_any_bits);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
