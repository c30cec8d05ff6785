/* Without memory: every allocation that parser, printer and formatter make fails once, and nothing is lost. */
#include "../fail_malloc.h"
#include "kit.h"

#define TEXT                                                                                                           \
  "program p workgroup(8) op(\"a.b\") { param a: f32; read x: f32[]; rw u: u32[]; rw v: f32x4[]; const N = 3;\n"       \
  "const T: f32x2[2] = {f32x2(1, 2), f32x2(3)}; const B: u8[4] = {1, 2, 3, N};\n"                                      \
  "fn f(k: u32) -> u32 { var s = k; for (i in 0..k) { s += i; let z = s; u[z] += 1; } return s; }\n"                   \
  "fn unused(k: f32) -> f32 { let z = k * 2; return z; }\n"                                                            \
  "let r = u[0] + f(1) * f(u[2]) + (a > 0 ? 1 : 2); region \"r\\n\" { print(\"{} {}\", r, 0.1234567890123456789f64); " \
  "}\n"                                                                                                                \
  "if (r == 1) { u[0] = 1; } else if (r == 2) { } else { loop { break; } } copy_async t: u[0], u[1], 1; wait t; }\n"

START_TEST(parsing) {
  const char *text = TEXT;
  vyre_program *whole = kit_parse(text);
  vyre_define define = { "N", "3" };
  vyre_text_options options = { .defines = &define, .define_count = 1 };
  for (uint64_t n = 1;; n++) {
    vyre_program *program;
    vyre_error error = VYRE_ERROR_INIT;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = vyre_text_parse(text, strlen(text), &options, NULL, &program, &error);
    bool failed = fail_malloc_end();
    /* Giving memory back may fail without harm, so that a failure is no error then. */
    ck_assert_msg(status == VYRE_OK || (failed && status == VYRE_ERR_NO_MEMORY), "allocation %d: %s", (int)n,
                  vyre_status_name(status));
    ck_assert_int_eq(program == NULL, status != VYRE_OK);
    ck_assert_int_eq(error.status, status);
    if (program != NULL) ck_assert(vyre_program_equal(program, whole));
    vyre_program_release(program);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
  vyre_program_release(whole);
}
END_TEST

START_TEST(printing_and_formatting) {
  const char *text = TEXT;
  vyre_program *program = kit_parse(text);
  for (uint64_t n = 1;; n++) {
    char *printed = NULL, *formatted = NULL;
    vyre_error error = VYRE_ERROR_INIT;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status one = vyre_text_print(program, &printed, NULL),
                two = vyre_text_format(text, strlen(text), NULL, &formatted, NULL, &error);
    bool failed = fail_malloc_end();
    ck_assert_int_eq(one == VYRE_ERR_NO_MEMORY || two == VYRE_ERR_NO_MEMORY, failed);
    ck_assert_int_eq(one == VYRE_OK, printed != NULL);
    ck_assert_int_eq(two == VYRE_OK, formatted != NULL);
    free(printed);
    free(formatted);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
  vyre_program_release(program);
}
END_TEST

START_TEST(faults_too) {
  const char *text = "program p { fn g() { let a = what; } let a = ; { b = 1; } const N = 1; x(3); }";
  for (uint64_t n = 1;; n++) {
    vyre_program *program;
    vyre_error error = VYRE_ERROR_INIT;
    vyre_diagnostics *d;
    int64_t before = fail_malloc_live();
    ck_assert_int_eq(vyre_diagnostics_create(NULL, text, strlen(text), &d), VYRE_OK);
    fail_malloc_at(n);
    vyre_status status = vyre_text_parse(text, strlen(text), NULL, d, &program, &error);
    bool failed = fail_malloc_end();
    ck_assert(status == VYRE_ERR_INVALID_PROGRAM || (failed && status == VYRE_ERR_NO_MEMORY));
    vyre_diagnostics_destroy(d);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = { parsing, printing_and_formatting, faults_too, NULL };
  return run_suite("memory", 120, tests);
}
