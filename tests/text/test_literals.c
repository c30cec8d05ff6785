/* Section 3 of the language: what type and value untyped literals get, and where. */
#include <locale.h>

#include "kit.h"

START_TEST(where_no_place_asks) {
  kit_expr("7", "7");
  kit_expr("-7", "-7");
  kit_expr("3 - 4", "-1");
  kit_expr("4294967295", "4294967295");
  kit_fault("let r = 4294967296;", VYRE_V145, 9);
  kit_fault("let r = -2147483649;", VYRE_V145, 9);
  kit_means("for (i in 0..-1) {}", "  for (i in 0i32..-1) {}\n");
  kit_means("for (i in 0..9 step -1) {}", "  for (i in 0i32..9 step -1) {}\n");
  kit_means("let r = 1 < -1;", "  let r = 1i32 < -1;\n");
  kit_means("let r = c ? 1 : -1;", "  let r = c ? 1i32 : -1;\n");
  kit_means("let r = 1 < 2;", "  let r = 1u32 < 2;\n");
}
END_TEST

START_TEST(integers_are_computed_exactly) {
  kit_expr("2 * 3 + 4", "10");
  kit_expr("7 / 2", "3");
  kit_expr("-7 / 2", "-3");
  kit_expr("-7 % 3", "-1");
  kit_expr("(1 << 20) - 1 & 0xFF00 | 3 ^ 1", "65282");
  kit_expr("-1 >> 1", "-1");
  kit_expr("min(3, -4) + max(5, 6)", "2");
  kit_expr("u64(1 << 40)", "1099511627776u64");
  kit_expr("u32((1 << 100) >> 90)", "1024");
  kit_expr("u64(170141183460469231731687303715884105727 >> 63)", "18446744073709551615u64");
  kit_expr("-(-(170141183460469231731687303715884105727 - 170141183460469231731687303715884105726))", "1");
  kit_expr("(-170141183460469231731687303715884105727 - 1) / 170141183460469231731687303715884105727", "-1");
}
END_TEST

START_TEST(what_passes_128_bits_is_an_error) {
  kit_fault("let r = 170141183460469231731687303715884105727 + 1;", VYRE_S7, 49);
  kit_fault("let r = -170141183460469231731687303715884105727 - 2;", VYRE_S7, 50);
  kit_fault("let r = -(-170141183460469231731687303715884105727 - 1);", VYRE_S7, 9);
  kit_fault("let r = (-170141183460469231731687303715884105727 - 1) / -1;", VYRE_S7, 56);
  kit_fault("let r = 1 << 127;", VYRE_S7, 11);
  kit_fault("let r = 1 << 128;", VYRE_S7, 11);
  kit_fault("let r = 1 << -1;", VYRE_S7, 11);
  kit_fault("let r = 1 >> 128;", VYRE_S7, 11);
  kit_fault("let r = 99999999999999999999 * 99999999999999999999;", VYRE_S7, 30);
  kit_fault("let r = 7 / 0;", VYRE_V44, 11);
  kit_fault("let r = 7 % (1 - 1);", VYRE_V44, 11);
}
END_TEST

START_TEST(the_other_operand_gives_the_type) {
  kit_expr("x[0] * 2", "x[0] * 2.0");
  kit_expr("2 * x[0]", "2.0 * x[0]");
  kit_expr("j + 1", "j + 1");
  kit_expr("w & 0xFFFFFFFFFFFF", "w & 281474976710655");
  kit_expr("d + 0.1", "d + 0.1");
  kit_expr("l - -5", "l - -5");
  kit_expr("n == 3", "n == 3");
  kit_expr("j < -3", "j < -3");
  kit_expr("max(j, 4)", "max(j, 4)");
  kit_expr("absdiff(n, 4)", "absdiff(n, 4)");
  kit_expr("fma(a, 2, 1)", "fma(a, 2.0, 1.0)");
  kit_expr("fma(1, 2, d)", "fma(1.0, 2.0, d)");
  kit_expr("c ? a : 1", "c ? a : 1.0");
  kit_expr("c ? 1 : w", "c ? 1 : w");
  kit_expr("select(c, 1, w)", "c ? 1 : w");
  kit_expr("v[0] * 2", "v[0] * 2.0");
  kit_expr("2 - v[0]", "2.0 - v[0]");
  kit_expr("mulhi(j, 7)", "mulhi(j, 7)");
  kit_expr("a + (7 - 3) * 2", "a + 8.0");
  kit_fault("let r = n + -1;", VYRE_V145, 13);
  kit_fault("let r = j + 3000000000;", VYRE_V145, 13);
  kit_fault("let r = a + 16777217;", VYRE_V145, 13);
  kit_fault("let r = n + 1.5;", VYRE_V88, 11);
}
END_TEST

START_TEST(counts_lanes_and_indices_are_u32) {
  kit_expr("w << 3", "w << 3");
  kit_expr("1 << n", "1 << n");
  kit_expr("rotl(w, 7)", "rotl(w, 7)");
  kit_expr("subgroup_shuffle(a, 3)", "subgroup_shuffle(a, 3)");
  kit_expr("u[3]", "u[3]");
  kit_expr("u[w]", "u[w]");
}
END_TEST

START_TEST(targets_give_the_type) {
  kit_means("let r: u64 = 5;", "  let r = 5u64;\n");
  kit_means("var r: f64 = 1;", "  var r = 1.0f64;\n");
  kit_means("var r = d; r = 3; r += 4;", "  var r = d;\n  r = 3.0;\n  r = r + 4.0;\n");
  kit_means("y[0] = 1; s[0] = -1; q[0] = 1 << 40; e[0] = 0.1;",
            "  y[0] = 1.0;\n  s[0] = -1;\n  q[0] = 1099511627776;\n  e[0] = 0.1;\n");
  kit_means("q[0] += 1 << 40;", "  q[0] = q[0] + 1099511627776;\n");
  kit_means("v[0] = f32x4(1, 2, 3, 4);", "  v[0] = f32x4(1.0, 2.0, 3.0, 4.0);\n");
  kit_means("atomic_add(s[0], -1);", "  atomic_add(s[0], -1);\n");
  kit_means("trap(7); ", "  trap(7);\n");
  kit_fault("y[-1] = 1;", VYRE_V145, 3);
  kit_fault("let r = x[5000000000];", VYRE_V145, 11);
  kit_fault("let r: u64 = 1.5;", VYRE_V45, 14);
  kit_fault("let r: u32 = -1;", VYRE_V145, 14);
  kit_fault("let r: f32x4 = 1;", VYRE_V45, 16);
  kit_fault("u[0] = 1.5;", VYRE_V121, 8);
}
END_TEST

START_TEST(conversions_give_the_type) {
  kit_expr("f32(7 / 2)", "3.0");
  kit_expr("f32(-1)", "-1.0");
  kit_expr("f64(0.1)", "0.1f64");
  kit_expr("u64(5)", "5u64");
  kit_expr("u32(5u32)", "u32(5u32)");
  kit_expr("u32(1.5)", "u32(1.5f32)");
  kit_expr("bool(2)", "bool(2u32)");
  kit_expr("bool(-2)", "bool(-2i32)");
  kit_expr("u8(300)", "u8(300u32)");
  kit_expr("i8(-1)", "i8(-1i32)");
  kit_expr("f16(0.1)", "f16(0.1f32)");
  kit_expr("f32(n)", "f32(n)");
  kit_expr("f32(~0)", "f32(~0u32)");
  kit_expr("bitcast<f32>(0x7FC00000)", "bitcast<f32>(2143289344)");
  kit_expr("bitcast<u64>(1.5f64)", "bitcast<u64>(1.5f64)");
  kit_fault("let r = u64(-1);", VYRE_V145, 13);
  kit_fault("let r = i32(0xFFFFFFFF);", VYRE_V145, 13);
  kit_fault("let r = f32(16777217);", VYRE_V145, 13);
  kit_fault("let r = u8(-1);", VYRE_V145, 0);
}
END_TEST

START_TEST(complement_takes_the_place_first) {
  kit_expr("~0", "~0u32");
  kit_means("let r: u64 = ~0;", "  let r = ~0u64;\n");
  kit_means("let r: i32 = ~0;", "  let r = ~0i32;\n");
  kit_expr("w & ~7", "w & ~7u64");
  kit_expr("w & ~(1 << 3) & ~1", "w & ~8u64 & ~1u64");
  kit_expr("~1 & j", "~1i32 & j");
  kit_means("q[0] = ~0 >> 1;", "  q[0] = ~0u64 >> 1;\n");
}
END_TEST

START_TEST(what_is_made_of_untyped_operands_waits_for_its_place) {
  kit_means("let r: u64 = c ? 1 : 2;", "  let r = c ? 1u64 : 2;\n");
  kit_means("let r: f64 = 1.0 / 3;", "  let r = 1.0f64 / 3.0;\n");
  kit_expr("1.0 / 3", "1.0f32 / 3.0");
  kit_expr("d * (1.0 / 3)", "d * (1.0f64 / 3.0)");
  kit_expr("w + (c ? 1 : 2)", "w + (c ? 1u64 : 2)");
  kit_expr("sqrt(2.0)", "sqrt(2.0f32)");
  kit_means("let r: f64 = sqrt(2.0);", "  let r = sqrt(2.0f64);\n");
  kit_expr("abs(-3)", "abs(-3i32)");
  kit_expr("popcount(7)", "popcount(7u32)");
  kit_expr("is_nan(1.5)", "is_nan(1.5f32)");
  kit_means("let r: f64 = 16777217 * 1.0;", "  let r = 16777217.0f64 * 1.0;\n");
  kit_fault("let r: f32 = 16777217 * 1.0;", VYRE_V145, 0);
}
END_TEST

START_TEST(values_outside_of_their_type) {
  kit_fault("let r = 0xFFFFFFFFi32;", VYRE_V145, 9);
  kit_fault("let r = -1u32;", VYRE_V145, 9);
  kit_fault("let r = 4294967296u32;", VYRE_V145, 9);
  kit_fault("let r = 18446744073709551616u64;", VYRE_V145, 9);
  kit_fault("let r = 9223372036854775808i64;", VYRE_V145, 9);
  kit_fault("let r = 2147483648i32;", VYRE_V145, 9);
  kit_fault("let r = -(2147483648i32);", VYRE_V145, 11);
  kit_fault("let r = 1e39;", VYRE_V145, 9);
  kit_fault("let r = 1e39f32;", VYRE_V145, 9);
  kit_fault("let r: f64 = 1e309;", VYRE_V145, 14);
  kit_fault("let r = 3.4028235678e38;", VYRE_V145, 9); /* rounds to 2^128 */
  kit_expr("-2147483648i32", "-2147483648");
  kit_expr("-9223372036854775808i64", "-9223372036854775808i64");
  kit_expr("3.4028235677e38", "3.4028235e38");
}
END_TEST

START_TEST(a_minus_belongs_to_the_number_behind_it) {
  kit_expr("-3i32", "-3");
  kit_expr("- 3i32", "-3");
  kit_expr("-(3i32)", "-(3i32)");
  kit_expr("--3i32", "-(-3i32)");
  kit_expr("-0.0", "-0.0");
  kit_expr("-(1.5)", "-1.5");
  kit_expr("-(1.5f32)", "-(1.5f32)");
  kit_expr("-0x1p-3f64", "-0.125f64");
  kit_expr("-5i32 * j", "-5 * j");
}
END_TEST

/* One rounding, from the decimal text: through f64 these would come out otherwise. */
START_TEST(floats_are_rounded_once) {
  kit_expr("1.00000005960464477540", "1.0000001"); /* just above half of an ulp of f32, a tie in f64 */
  kit_expr("1.00000005960464477539", "1.0");
  kit_expr("0.1", "0.1");
  kit_expr("1e-46", "0.0");
  kit_expr("7.1e-46", "1e-45");
  kit_expr("0.1f64", "0.1f64");
  kit_expr("0.10000000000000000555111512312578270211815834045410156251f64", "0.1f64");
  kit_expr("5e-324f64", "5e-324f64");
  kit_expr("1.7976931348623157e308f64", "1.7976931348623157e308f64");
  kit_expr("0x1.000001p0", "1.0");
  kit_expr("0x1.0000010000001p0", "1.0000001");
}
END_TEST

START_TEST(the_locale_does_not_matter) {
  static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8" };
  for (size_t i = 0; i < sizeof names / sizeof *names && setlocale(LC_ALL, names[i]) == NULL; i++) continue;
  kit_expr("0.1 + a", "0.1 + a");
  kit_expr("123456.789012345678e-3", "123.45679");
  setlocale(LC_ALL, "C");
}
END_TEST

/* ---- vyre_text_literal --------------------------------------------------------------------- */

static void check_literal(vyre_type type, const char *text, vyre_status wanted, uint64_t bits) {
  uint64_t found = 0;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_text_literal(type, text, &found, &error);
  ck_assert_msg(status == wanted, "%s as %s: %s", text, vyre_type_describe(type)->spelling, vyre_status_name(status));
  if (status == VYRE_OK) ck_assert_msg(found == bits, "%s: 0x%llx", text, (unsigned long long)found);
  else ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
}

START_TEST(literals_from_outside) {
  const vyre_status no = VYRE_ERR_INVALID_ARGUMENT, far = VYRE_ERR_OUT_OF_RANGE;
  check_literal(VYRE_TYPE_U32, "2", VYRE_OK, 2);
  check_literal(VYRE_TYPE_U32, " 7u32 ", VYRE_OK, 7);
  check_literal(VYRE_TYPE_U32, "0xFFFFFFFF", VYRE_OK, 0xFFFFFFFF);
  check_literal(VYRE_TYPE_U32, "4294967296", far, 0);
  check_literal(VYRE_TYPE_U32, "-1", far, 0);
  check_literal(VYRE_TYPE_U32, "1.5", no, 0);
  check_literal(VYRE_TYPE_U32, "7i32", no, 0);
  check_literal(VYRE_TYPE_U32, "true", no, 0);
  check_literal(VYRE_TYPE_I32, "-3", VYRE_OK, 0xFFFFFFFD);
  check_literal(VYRE_TYPE_I32, "- 3", VYRE_OK, 0xFFFFFFFD);
  check_literal(VYRE_TYPE_I64, "-9223372036854775808", VYRE_OK, 0x8000000000000000u);
  check_literal(VYRE_TYPE_U64, "18446744073709551615", VYRE_OK, UINT64_MAX);
  check_literal(VYRE_TYPE_F32, "2", VYRE_OK, 0x40000000);
  check_literal(VYRE_TYPE_F32, "0x1p-4", VYRE_OK, 0x3D800000);
  check_literal(VYRE_TYPE_F32, "-inf", VYRE_OK, 0xFF800000);
  check_literal(VYRE_TYPE_F32, "nan", VYRE_OK, 0x7FC00000);
  check_literal(VYRE_TYPE_F32, "1e39", far, 0);
  check_literal(VYRE_TYPE_F32, "16777217", far, 0);
  check_literal(VYRE_TYPE_F32, "1.5f64", no, 0);
  check_literal(VYRE_TYPE_F64, "0.1", VYRE_OK, 0x3FB999999999999Au);
  check_literal(VYRE_TYPE_F64, "1e39", VYRE_OK, 0x48078287F49C4A1Du);
  check_literal(VYRE_TYPE_BOOL, "true", VYRE_OK, 1);
  check_literal(VYRE_TYPE_BOOL, "false", VYRE_OK, 0);
  check_literal(VYRE_TYPE_BOOL, "1", no, 0);
  check_literal(VYRE_TYPE_BOOL, "-true", no, 0);
  check_literal(VYRE_TYPE_U8, "1", no, 0);
  check_literal(VYRE_TYPE_F32X2, "1", no, 0);
  static const char *const bad[] = {"",
                                    "-",
                                    "--1",
                                    "1 2",
                                    "x",
                                    "1;",
                                    "5.",
                                    "\"1\"",
                                    "1u8",
                                    "\xFF",
                                    "/*",
                                    "1 /* c",
                                    "170141183460469231731687303715884105728"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) check_literal(VYRE_TYPE_I64, bad[i], no, 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { where_no_place_asks,
                                 integers_are_computed_exactly,
                                 what_passes_128_bits_is_an_error,
                                 the_other_operand_gives_the_type,
                                 counts_lanes_and_indices_are_u32,
                                 targets_give_the_type,
                                 conversions_give_the_type,
                                 complement_takes_the_place_first,
                                 what_is_made_of_untyped_operands_waits_for_its_place,
                                 values_outside_of_their_type,
                                 a_minus_belongs_to_the_number_behind_it,
                                 floats_are_rounded_once,
                                 the_locale_does_not_matter,
                                 literals_from_outside,
                                 NULL };
  return run_suite("literals", 60, tests);
}
