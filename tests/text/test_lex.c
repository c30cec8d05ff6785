/* Section 1 of the language: characters, comments, names, numbers, strings. */
#include "kit.h"

static vyre_status parse_bytes(const char *text, size_t bytes, vyre_diagnostics **d) {
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create("t.vyre", text, bytes, d), VYRE_OK);
  vyre_status status = vyre_text_parse(text, bytes, NULL, *d, &program, NULL);
  vyre_program_release(program);
  return status;
}

static void check_bytes(const char *text, size_t bytes, uint32_t offset) {
  vyre_diagnostics *d;
  vyre_diagnostic found;
  ck_assert_int_eq(parse_bytes(text, bytes, &d), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_uint_eq(vyre_diagnostics_errors(d), 1);
  ck_assert(vyre_diagnostics_get(d, 0, &found));
  ck_assert_int_eq(found.code, VYRE_S2);
  ck_assert_uint_eq(found.offset, offset);
  vyre_diagnostics_destroy(d);
}

START_TEST(bytes_that_are_no_text_are_refused_anywhere) {
  check_bytes("program p {\0}", 13, 11);
  check_bytes("program p { /* \0 */ }", 21, 15);
  check_bytes("program p { // \xFF\n }", 19, 15);
  check_bytes("program p { region \"\xC0\x80\" {} }", 28, 20);
  check_bytes("program p { } // \xED\xA0\x80", 20, 17);
  check_bytes("program p { } // \xF4\x90\x80\x80", 21, 17);
  check_bytes("\0", 1, 0);
}
END_TEST

START_TEST(an_empty_text_is_no_program) {
  vyre_diagnostics *d;
  ck_assert_int_eq(parse_bytes("", 0, &d), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_uint_eq(vyre_diagnostics_errors(d), 1);
  vyre_diagnostics_destroy(d);
  kit_fault_at("// nothing\n", VYRE_S5, 2, 1);
  kit_fault_at("\xEF\xBB\xBF", VYRE_S5, 1, 1);
}
END_TEST

START_TEST(a_mark_line_ends_and_blanks_are_passed_over) {
  vyre_program *plain = kit_parse("program p { let a = 1; }");
  const char *const same[] = { "\xEF\xBB\xBFprogram p { let a = 1; }", "program p {\r\n let a = 1;\r\n}\r\n",
                               "program\tp\f{\tlet\fa\t=\f1;\t}", "program p{let a=1;}",
                               "// c\nprogram /* * / // */ p { /**/ let a = /* \xC3\xA9 */ 1; } // end" };
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    vyre_program *other = kit_parse(same[i]);
    ck_assert_msg(vyre_program_equal(plain, other), "%s", same[i]);
    vyre_program_release(other);
  }
  vyre_program_release(plain);
}
END_TEST

START_TEST(characters_without_a_place) {
  kit_fault_at("program p {\n  let a = 1 @ 2;\n}", VYRE_S1, 2, 13);
  kit_fault_at("program p { let \xC3\xA9 = 1; }", VYRE_S1, 1, 17);
  kit_fault_at("program p {\r let a = 1; }", VYRE_S1, 1, 12);
  kit_fault_at("program p { \v }", VYRE_S1, 1, 13);
  kit_fault_at("program p { \xEF\xBB\xBF }", VYRE_S1, 1, 13);
  kit_fault_at("program p { let a = 1 $; }", VYRE_S1, 1, 23);
}
END_TEST

START_TEST(comments_and_strings_must_close) {
  kit_fault_at("program p {\n  /* open\n}", VYRE_S3, 2, 3);
  kit_fault_at("program p { } /* /* */ */", VYRE_S5, 1, 24); /* they do not nest */
  kit_fault_at("program p { region \"open {}\n}", VYRE_S3, 1, 20);
  kit_fault_at("program p { region \"open\\\"", VYRE_S3, 1, 20);
}
END_TEST

START_TEST(names) {
  char name[300], *text;
  memset(name, 'a', sizeof name);
  name[255] = 0;
  text = kit_text("program p { let %s = 1; let _b9 = %s; }", name, name);
  vyre_program_release(kit_parse(text));
  free(text);
  name[255] = 'a';
  name[256] = 0;
  text = kit_text("program p { let %s = 1; }", name);
  kit_fault_at(text, VYRE_V142, 1, 17);
  free(text);
  kit_fault_at("program p { let 9a = 1; }", VYRE_S4, 1, 17);
  ck_assert_uint_eq(kit_warnings("program p { let __a = 1; let _b = __a; }", VYRE_W4), 1);
  ck_assert_uint_eq(kit_warnings("program p { param __a: u32; const __c = 1; fn __f(__x: u32) {} }", VYRE_W4), 4);
  /* What inlining makes is no fault of who reads it back. */
  static const char *const made[] = { "__r0", "__t12", "__v3", "__f_a_1", "__f_b_c_22" };
  static const char *const written[] = { "__r", "__x0", "__f_1", "__f_a", "___1", "__1", "__" };
  for (int i = 0; i < 12; i++) {
    text = kit_text("program p { let %s = 1; }", i < 5 ? made[i] : written[i - 5]);
    ck_assert_msg(kit_warnings(text, VYRE_W4) == (i >= 5), "%s", text);
    free(text);
  }
}
END_TEST

static const char *const reserved[] = {
    "program",    "param",     "read",     "write",        "rw",    "shared", "local", "const", "fn",
    "let",        "var",       "if",       "else",         "for",   "in",     "step",  "loop",  "break",
    "continue",   "return",    "barrier",  "grid_barrier", "fence", "region", "trap",  "print", "pause",
    "copy_async", "commit",    "wait",     "call",         "true",  "false",  "inf",   "nan",   "dot4",
    "tile_load",  "tile_fill", "tile_mma", "tile_store",   "f16x2", "bf16x2", "i8x4",  "u8x4",
#define X(name, spelling, bytes, lanes, component, value, wire) spelling,
#include <vyre/types.def>
#undef X
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) spelling,
#include <vyre/ops.def>
#undef X
};

START_TEST(reserved_words_are_no_names) {
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
    if (reserved[i][0] < 'a' || reserved[i][0] > 'z') continue;
    char *text = kit_text("program p {\n  let %s = 1;\n}", reserved[i]);
    kit_fault_at(text, VYRE_S6, 2, 7);
    free(text);
    text = kit_text("program %s {}", reserved[i]);
    kit_fault_at(text, VYRE_S6, 1, 9);
    free(text);
  }
}
END_TEST

START_TEST(words_of_one_place_are_names_elsewhere) {
  vyre_program_release(kit_parse(
      "program workgroup workgroup(2) { rw device: u32[4]; param acquire: u32; shared workgroup: u32[8];\n"
      " shared tile: u32[8]; let relaxed = acquire; copy_async workgroup[0], device[0], 1; commit; wait 0; }"));
}
END_TEST

START_TEST(names_have_one_space_but_tags_and_the_program) {
  vyre_program_release(
      kit_parse("program x { read x: f32[]; shared s: f32[4]; copy_async x: s[0], x[0], 1; wait x; }"));
  kit_fault_at("program p { param a: u32; read a: u32[]; }", VYRE_V107, 1, 32);
  kit_fault_at("program p { const a = 1; param a: u32; }", VYRE_V107, 1, 32);
  kit_fault_at("program p { fn a() {} const a = 1; }", VYRE_V107, 1, 29);
  kit_fault_at("program p { param a: u32; let a = 1; }", VYRE_V8, 1, 31);
  kit_fault_at("program p { let a = 1; { let a = 2; } }", VYRE_V8, 1, 30);
  kit_fault_at("program p { let a = 1; let a = 2; }", VYRE_V32, 1, 28);
  kit_fault_at("program p { for (i in 0..2) { let i = 1; } }", VYRE_V32, 1, 35);
  vyre_program_release(kit_parse("program p { { let a = 1; } { let a = 2.0; } for (a in 0..1) {} }"));
}
END_TEST

START_TEST(integers) {
  kit_expr("7", "7");
  kit_expr("0", "0");
  kit_expr("0xFF", "255");
  kit_expr("0xfF", "255");
  kit_expr("7u32", "7");
  kit_expr("7i64", "7i64");
  kit_expr("0x1Fu64", "31u64");
  kit_expr("0x1Fi32", "31i32");
  kit_expr("0x1f32", "7986"); /* digits win */
}
END_TEST

START_TEST(malformed_numbers) {
  static const char *const bad[] = {"5.",     ".5",   "5.u32", "1e",     "1e+",    "0x",     "0xg",    "0X1F",
                                    "1.5u32", "7u8",  "7u16",  "12ab",   "0x1.8",  "0x.8p1", "0x1.p3", "0x1p",
                                    "1_000",  "1f16", "007",   "1.5f16", "1e3i32", "1.e5",   "0b11",   "1u32x2"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char *text = kit_text("let r = %s;", bad[i]);
    kit_fault(text, VYRE_S4, 9);
    free(text);
  }
  kit_fault("let r = 170141183460469231731687303715884105728;", VYRE_S7, 9);
}
END_TEST

START_TEST(floats) {
  kit_expr("1.5", "1.5");
  kit_expr("1e3", "1000.0");
  kit_expr("1E3", "1000.0");
  kit_expr("2.5e-3", "0.0025");
  kit_expr("0x1.8p3", "12.0");
  kit_expr("0x1P+4", "16.0");
  kit_expr("0x1p-149", "1e-45");
  kit_expr("1f32", "1.0");
  kit_expr("1f64", "1.0f64");
  kit_expr("1.5f64", "1.5f64");
  kit_expr("0x1.8p3f64", "12.0f64");
  kit_expr("00.5", "0.5");
  kit_expr("inf", "inf");
  kit_expr("-inf", "-inf");
  kit_expr("nan", "nan");
  kit_expr("f64(inf)", "f64(inf)");
  kit_expr("f64(nan)", "f64(nan)");
  kit_expr("-nan", "-(f32(nan))");
  kit_expr("true", "true");
}
END_TEST

START_TEST(a_range_is_no_fraction) {
  kit_means("for (i in 0..n) {}", "  for (i in 0..n) {}\n");
  kit_means("for (i in 0x0 .. 5) {}", "  for (i in 0..5) {}\n");
  kit_fault("for (i in 0...5) {}", VYRE_S4, 14);
}
END_TEST

START_TEST(strings) {
  kit_means("region \"\" {} region \"a b\" {}", "  region \"\" {}\n  region \"a b\" {}\n");
  kit_means("region \"\\n\\r\\t\\\"\\\\\" {}", "  region \"\\n\\r\\t\\\"\\\\\" {}\n");
  kit_means("region \"\\u{41}\\u{e9}\\u{20AC}\\u{1F600}\" {}",
            "  region \"A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\" {}\n");
  kit_means("region \"\\u{1}\\u{7f}\" {}", "  region \"\\u{1}\\u{7F}\" {}\n");
  kit_means("region \"// no /* comment\" {}", "  region \"// no /* comment\" {}\n");
  kit_fault("region \"ab\\q\" {}", VYRE_S1, 11);
  kit_fault("region \"\\u{}\" {}", VYRE_S1, 9);
  kit_fault("region \"\\u{0}\" {}", VYRE_S1, 9);
  kit_fault("region \"\\u{D800}\" {}", VYRE_S1, 9);
  kit_fault("region \"\\u{110000}\" {}", VYRE_S1, 9);
  kit_fault("region \"\\u{0000041}\" {}", VYRE_S1, 9);
  kit_fault("region \"\\u41\" {}", VYRE_S1, 9);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { bytes_that_are_no_text_are_refused_anywhere,
                                 an_empty_text_is_no_program,
                                 a_mark_line_ends_and_blanks_are_passed_over,
                                 characters_without_a_place,
                                 comments_and_strings_must_close,
                                 names,
                                 reserved_words_are_no_names,
                                 words_of_one_place_are_names_elsewhere,
                                 names_have_one_space_but_tags_and_the_program,
                                 integers,
                                 malformed_numbers,
                                 floats,
                                 a_range_is_no_fraction,
                                 strings,
                                 NULL };
  return run_suite("lexical", 60, tests);
}
