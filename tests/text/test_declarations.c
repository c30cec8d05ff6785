/* Sections 4 and 5.1 of the language: the header, parameters, buffers, constants, tables, --define. */
#include "kit.h"

static void check_canonical(const char *text, const char *canonical) {
  vyre_program *program = kit_parse(text);
  char *printed = kit_print(program);
  ck_assert_str_eq(printed, canonical);
  vyre_program *again = kit_parse(printed);
  ck_assert(vyre_program_equal(program, again));
  vyre_program_release(again);
  vyre_program_release(program);
  free(printed);
}

START_TEST(headers) {
  check_canonical("program p {}", "program p workgroup(1) {\n}\n");
  check_canonical("program p workgroup(8,4,2,) {}", "program p workgroup(8, 4, 2) {\n}\n");
  check_canonical("program p workgroup(1, 1, 3) {}", "program p workgroup(1, 1, 3) {\n}\n");
  check_canonical("program p workgroup(4, 2) {}", "program p workgroup(4, 2) {\n}\n");
  check_canonical("program p op(\"a.b\") noncomposable progress(workgroups) subgroup(16) ulp(2 * 2) flush contract "
                  "workgroup(1 << 6) {}",
                  "program p workgroup(64) contract flush ulp(4) subgroup(16) progress(workgroups) noncomposable "
                  "op(\"a.b\") {\n}\n");
  kit_fault_at("program p workgroup(0) {}", VYRE_V106, 1, 11);
  kit_fault_at("program p workgroup() {}", VYRE_S5, 1, 21);
  kit_fault_at("program p workgroup(1, 2, 3, 4) {}", VYRE_S5, 1, 30);
  kit_fault_at("program p workgroup(4294967296) {}", VYRE_V145, 1, 21);
  kit_fault_at("program p workgroup(1.5) {}", VYRE_S7, 1, 21);
  kit_fault_at("program p workgroup(N) {}", VYRE_V66, 1, 21);
  kit_fault_at("program p subgroup(3) {}", VYRE_V149, 1, 11);
  kit_fault_at("program p subgroup(64) {}", VYRE_V149, 1, 11);
  kit_fault_at("program p contract contract {}", VYRE_V149, 1, 20);
  kit_fault_at("program p ulp(4294967295) {}", VYRE_V149, 1, 11);
  kit_fault_at("program p ulp {}", VYRE_S5, 1, 15);
  kit_fault_at("program p progress(threads) {}", VYRE_S5, 1, 20);
  kit_fault_at("program p fast { let a = 1; }", VYRE_S5, 1, 11);
  kit_fault_at("program p op(p) {}", VYRE_S5, 1, 14);
  kit_fault_at("program p op(\"\") {}", VYRE_V142, 1, 11);
  kit_fault_at("program {}", VYRE_S5, 1, 9);
  kit_fault_at("progam p {}", VYRE_S5, 1, 1);
  kit_fault_at("program p", VYRE_S5, 1, 10);
  kit_fault_at("program p { let a = 1;", VYRE_S5, 1, 23);
  kit_fault_at("program p {} program q {}", VYRE_S5, 1, 14);
  kit_fault_at("program p { } }", VYRE_S5, 1, 15);
}
END_TEST

START_TEST(parameters_and_buffers) {
  check_canonical("program p { write z: bool[]; param a: f64; read b: u8[4]; param c: bool; rw d: f32x4[]; shared e: "
                  "i32x2[3]; local f: bf16[1];}",
                  "program p workgroup(1) {\n  param a: f64;\n  param c: bool;\n  write z: bool[];\n  read b: u8[4];\n"
                  "  rw d: f32x4[];\n  shared e: i32x2[3];\n  local f: bf16[1];\n}\n");
  kit_fault_at("program p { param a: f16; }", VYRE_V136, 1, 19);
  kit_fault_at("program p { param a: f32x4; }", VYRE_V136, 1, 19);
  kit_fault_at("program p { param a: float; }", VYRE_V136, 1, 22);
  kit_fault_at("program p { param a; let b = a; }", VYRE_S5, 1, 20);
  kit_fault_at("program p { read a: f32; let b = a[0]; }", VYRE_S5, 1, 24);
  kit_fault_at("program p { read a: tile[4]; }", VYRE_V136, 1, 21);
  kit_fault_at("program p { read a: f16x2[4]; }", VYRE_V136, 1, 21);
  kit_fault_at("program p { shared a: f32[]; }", VYRE_V109, 1, 20);
  kit_fault_at("program p { local a: f32[]; let b = a[0]; }", VYRE_V109, 1, 19);
  kit_fault_at("program p { read a: f32[0]; }", VYRE_V145, 1, 25);
  kit_fault_at("program p { read a: f32[-1]; }", VYRE_V145, 1, 25);
  kit_fault_at("program p { read a: f32[1.5]; }", VYRE_S7, 1, 25);
  kit_fault_at("program p { param n: u32; read a: f32[n]; }", VYRE_S7, 1, 39);
  kit_fault_at("program p { read a: f32[4] }", VYRE_S5, 1, 28);
  kit_fault_at("program p { read a: f32[9223372036854775808]; }", VYRE_V145, 1, 25);
  kit_fault_at("program p { read a: f64[9223372036854775807]; }", VYRE_V145, 1, 18);
}
END_TEST

START_TEST(scalar_constants) {
  check_canonical(
      "program p { const N = 4; const M: u32 = N * N + 1; const K: i64 = -(1 << 40); const F: f64 = 1.0 / 3; const B = "
      "true;\n"
      " const H = 1.5; rw a: f32[N << 2]; rw b: f64[1]; rw c: i64[M]; a[N] = H * 2; b[0] = H + F; c[0] = K; a[0] = B ? "
      "N : 2; }",
      "program p workgroup(1) {\n  rw a: f32[16];\n  rw b: f64[1];\n  rw c: i64[17];\n\n  a[4] = 1.5f32 * 2.0;\n"
      "  b[0] = 1.5f64 + 0.3333333333333333;\n  c[0] = -1099511627776;\n  a[0] = true ? 4.0f32 : 2.0;\n}\n");
  vyre_program_release(kit_parse("program p { const N: u32 = 3; rw a: f32[N * 2 - 1]; a[N] = f32(N * 2); }"));
  vyre_program_release(
      kit_parse("program p { const A: f32 = 1.0 / 3.0; const B: f32 = -A * 2 + min(A, 1); rw a: f32[1]; a[0] = B; }"));
  vyre_program_release(
      kit_parse("program p { const A = 4294967295u32; const B: u32 = A >> 31 << 31 | 1; rw a: u32[1]; a[0] = B; }"));
  kit_fault_at("program p { const N: u32 = 4294967295; const M: u32 = N + 1; }", VYRE_S7, 1, 57);
  kit_fault_at("program p { const N: u32 = 1; const M: u32 = N << 32; }", VYRE_S7, 1, 48);
  kit_fault_at("program p { const N: u32 = 1; const M: i32 = N; }", VYRE_V145, 1, 46);
  kit_fault_at("program p { const N: u32 = -1; let a = N; }", VYRE_V145, 1, 28);
  kit_fault_at("program p { const N: u32 = 1.5; }", VYRE_V145, 1, 28);
  kit_fault_at("program p { const N: u32 = true; }", VYRE_V145, 1, 28);
  kit_fault_at("program p { const N: f16 = 1; }", VYRE_V136, 1, 19);
  kit_fault_at("program p { const N: f32x2 = f32x2(1); }", VYRE_V136, 1, 19);
  kit_fault_at("program p { const N = f32x2(1); }", VYRE_S7, 1, 23);
  kit_fault_at("program p { const N = 1 / 0; let a = N; }", VYRE_V44, 1, 25);
  kit_fault_at("program p { const N = gid.x; let a = N; }", VYRE_S7, 1, 23);
  kit_fault_at("program p { param a: u32; const N = a + 1; }", VYRE_S7, 1, 37);
  kit_fault_at("program p { fn f() -> u32 { return 1; } const N = f(); }", VYRE_S7, 1, 51);
  kit_fault_at("program p { const N = sqrt(2.0); }", VYRE_S7, 1, 23);
  kit_fault_at("program p { const N = 1 == 1; }", VYRE_S7, 1, 25);
  kit_fault_at("program p { const N; let a = N; }", VYRE_S5, 1, 20);
  kit_fault_at("program p { const N = M; }", VYRE_V66, 1, 23);
  kit_fault_at("program p { const N = N; }", VYRE_V66, 1, 23);
}
END_TEST

START_TEST(tables) {
  check_canonical(
      "program p { const N = 3; const A: i8[N + 1] = {-128, 1, N, 127,}; const B: bool[2] = {true, false};\n"
      "const C: f16[3] = {0.5, 1, -inf}; const D: f32x2[2] = {f32x2(1, 2.5), f32x2(3)}; const E: u64[1] = {1 << 63};\n"
      "const F: f64[2] = {0.1, 1.0 / 2}; rw o: i32[4]; o[0] = A[1] + A[gid.x]; let n = len(A); }",
      "program p workgroup(1) {\n  const A: i8[4] = {-128, 1, 3, 127};\n  const B: bool[2] = {true, false};\n"
      "  const C: f16[3] = {0.5, 1.0, -inf};\n  const D: f32x2[2] = {f32x2(1.0, 2.5), f32x2(3.0, 3.0)};\n"
      "  const E: u64[1] = {9223372036854775808};\n  const F: f64[2] = {0.1, 0.5};\n  rw o: i32[4];\n\n"
      "  o[0] = A[1] + A[gid.x];\n  let n = len(A);\n}\n");
  kit_fault_at("program p { const A: u32[2] = {1}; let a = A[0]; }", VYRE_S10, 1, 19);
  kit_fault_at("program p { const A: u32[2] = {1, 2, 3}; }", VYRE_S10, 1, 19);
  kit_fault_at("program p { const A: u32[] = {1}; }", VYRE_V109, 1, 26);
  kit_fault_at("program p { const A: u32[0] = {}; }", VYRE_V145, 1, 26);
  kit_fault_at("program p { const A: u8[2] = {1, 256}; }", VYRE_V145, 1, 34);
  kit_fault_at("program p { const A: i8[2] = {1, -129}; }", VYRE_V145, 1, 34);
  kit_fault_at("program p { const A: f16[1] = {65520}; }", VYRE_V145, 1, 32);
  kit_fault_at("program p { const A: f16[1] = {65520.0}; }", VYRE_V145, 1, 32);
  /* a float rounds, an integer is exact */
  kit_fault_at("program p { const A: f16[1] = {2049}; }", VYRE_V145, 1, 32);
  kit_fault_at("program p { const A: f16[2] = {2048, -2049}; }", VYRE_V145, 1, 38);
  kit_fault_at("program p { const A: bf16[1] = {257}; }", VYRE_V145, 1, 33);
  kit_fault_at("program p { const N = 257; const A: bf16[1] = {N}; }", VYRE_V145, 1, 48);
  vyre_program_release(kit_parse("program p { const A: f16[5] = {2048, 2050, -65504, 2049.0, 2049f32}; "
                                 "const B: bf16[4] = {256, -258, 1 << 126, 257.0}; }"));
  kit_fault_at("program p { const A: u32[1] = {1.5}; }", VYRE_V145, 1, 32);
  kit_fault_at("program p { const A: bool[1] = {1}; }", VYRE_V145, 1, 33);
  kit_fault_at("program p { const A: f32x2[1] = {1}; }", VYRE_V145, 1, 34);
  kit_fault_at("program p { const A: u32[1] = {gid.x}; }", VYRE_S7, 1, 32);
  kit_fault_at("program p { const A: u32[1] = 1; }", VYRE_S5, 1, 31);
  kit_fault_at("program p { const A: u32[9999999999] = {1}; }", VYRE_S10, 1, 19);
  kit_fault_at("program p { const A: u32[2] = {1, 2}; A[0] = 1; }", VYRE_V63, 1, 39);
  kit_fault_at("program p { const A: u32[2] = {1, 2}; let a = A[2]; }", VYRE_V36, 1, 47);
  kit_fault_at("program p { const A: u32[2] = {1, 2}; let a = A; }", VYRE_S5, 1, 48);
}
END_TEST

/* ---- --define ------------------------------------------------------------------------------ */

#define DEFINED                                                                                                        \
  "program p { const N = 4; const M: i64 = N * 2; const F = 1.5; const B = true; const COUNT = 2; rw a: f32[N]; rw "   \
  "b: i64[1]; "                                                                                                        \
  "a[0] = F; b[0] = M; a[1] = B ? 1 : 2; }"

static void check_define(const char *name, const char *value, const char *piece) {
  vyre_define define = { name, value };
  vyre_program *program = kit_parse_with(DEFINED, &(vyre_text_options){ .defines = &define, .define_count = 1 });
  char *printed = kit_print(program);
  ck_assert_msg(strstr(printed, piece) != NULL, "no \"%s\" in %s", piece, printed);
  free(printed);
  vyre_program_release(program);
}

static void refuse_define(const char *name, const char *value, const char *piece) {
  vyre_define define = { name, value };
  vyre_program *program;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_text_options options = { .defines = &define, .define_count = 1 };
  ck_assert_int_eq(vyre_text_parse(DEFINED, strlen(DEFINED), &options, NULL, &program, &error),
                   VYRE_ERR_INVALID_ARGUMENT);
  ck_assert_ptr_null(program);
  ck_assert_msg(strstr(error.text, piece) != NULL, "no \"%s\" in %s", piece, error.text);
  ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
}

START_TEST(defines_replace_scalar_constants) {
  check_define("N", "128", "rw a: f32[128];");
  check_define("N", "128", "b[0] = 256;");
  check_define("N", "0x10", "rw a: f32[16];");
  check_define("M", "-3", "b[0] = -3;");
  check_define("M", "5i64", "b[0] = 5;");
  check_define("F", "2.5e3", "a[0] = 2500.0;");
  check_define("F", "-2", "a[0] = -2.0;");
  check_define("F", "inf", "a[0] = inf;");
  check_define("B", "false", "a[1] = false ?");
  refuse_define("K", "1", "it has N, M, F, B, COUNT");
  refuse_define("COUTN", "1", "did you mean COUNT?");
  refuse_define("a", "1", "no scalar constant a");
  refuse_define("N", "1.5", "an integer literal");
  refuse_define("N", "5u32", "an integer literal");
  refuse_define("N", "x", "an integer literal");
  refuse_define("N", "1 + 1", "an integer literal");
  refuse_define("N", "", "an integer literal");
  refuse_define("M", "5u32", "i64");
  refuse_define("M", "9223372036854775808", "i64");
  refuse_define("F", "true", "a number");
  refuse_define("B", "1", "bool");
}
END_TEST

START_TEST(a_define_that_makes_the_program_wrong_is_a_fault_of_the_program) {
  vyre_define define = { "N", "0" };
  vyre_program *program;
  vyre_text_options options = { .defines = &define, .define_count = 1 };
  ck_assert_int_eq(vyre_text_parse(DEFINED, strlen(DEFINED), &options, NULL, &program, NULL), VYRE_ERR_INVALID_PROGRAM);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { headers,
                                 parameters_and_buffers,
                                 scalar_constants,
                                 tables,
                                 defines_replace_scalar_constants,
                                 a_define_that_makes_the_program_wrong_is_a_fault_of_the_program,
                                 NULL };
  return run_suite("declarations", 60, tests);
}
