/* What the tests of the text form share: a program from a few lines, and what became of it. */
#ifndef VYRE_TESTS_TEXT_KIT_H
#define VYRE_TESTS_TEXT_KIT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "../suite.h"

/* Names that most lines use. */
#define KIT_HEAD "program t workgroup(64) ulp(0) {\n"
#define KIT_NAMES                                                                                                      \
  "  param a: f32;\n  param n: u32;\n  param j: i32;\n  param w: u64;\n  param l: i64;\n  param d: f64;\n  param c: "  \
  "bool;\n"                                                                                                            \
  "  read x: f32[];\n  rw y: f32[];\n  rw u: u32[];\n  rw s: i32[];\n  rw q: u64[];\n  rw e: f64[];\n  rw v: "         \
  "f32x4[];\n"                                                                                                         \
  "  shared m: u32[8];\n"

/* A text made of printf pieces; freed by the caller. */
__attribute__((format(printf, 1, 2))) static inline char *kit_text(const char *format, ...) {
  char *text;
  va_list args;
  va_start(args, format);
  int length = vasprintf(&text, format, args);
  va_end(args);
  ck_assert_int_ge(length, 0);
  return text;
}

/* Parses; prints the findings and fails if there is an error. */
static inline vyre_program *kit_parse_with(const char *text, const vyre_text_options *options) {
  vyre_diagnostics *d;
  vyre_program *program;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_diagnostics_create("t.vyre", text, strlen(text), &d), VYRE_OK);
  vyre_status status = vyre_text_parse(text, strlen(text), options, d, &program, &error);
  if (status != VYRE_OK) {
    char *message = vyre_diagnostics_render(d);
    ck_abort_msg("%s: %s\n%s\n%s", vyre_status_name(status), error.text, message, text);
  }
  vyre_diagnostics_destroy(d);
  return program;
}

static inline vyre_program *kit_parse(const char *text) { return kit_parse_with(text, NULL); }

static inline char *kit_print(const vyre_program *program) {
  char *text = NULL;
  size_t length;
  ck_assert_int_eq(vyre_text_print(program, &text, &length), VYRE_OK);
  ck_assert_uint_eq(strlen(text), length);
  return text;
}

/* The program that |statements| make behind KIT_NAMES, and what it prints behind them, without the last brace. */
static inline char *kit_printed(const char *statements) {
  char *text = kit_text(KIT_HEAD KIT_NAMES "%s}\n", statements);
  vyre_program *program = kit_parse(text), *again;
  char *printed = kit_print(program);
  again = kit_parse(printed);
  ck_assert_msg(vyre_program_equal(program, again), "printing changed %s to %s", statements, printed);
  vyre_program_release(program);
  vyre_program_release(again);
  free(text);
  size_t bytes = strlen(printed), start = 0;
  while (strncmp(printed + start, "\n\n", 2) != 0) start++;
  memmove(printed, printed + start + 2, bytes - start - 1);
  printed[strlen(printed) - 2] = 0;
  return printed;
}

/* Asserts that |statements| mean the same as |canonical| says, which is how they are printed. */
static inline void kit_means(const char *statements, const char *canonical) {
  char *printed = kit_printed(statements);
  ck_assert_str_eq(printed, canonical);
  free(printed);
}

/* One expression, as `let r = ...;`. */
static inline void kit_expr(const char *expression, const char *canonical) {
  char *statements = kit_text("let r = %s;", expression), *wanted = kit_text("  let r = %s;\n", canonical);
  kit_means(statements, wanted);
  free(statements);
  free(wanted);
}

/* Asserts that |text| has exactly one error, |code|, at line and column, and gives its message (until the next call).
 */
static inline const char *kit_fault_at(const char *text, vyre_code code, uint32_t line, uint32_t column) {
  static char message[1024];
  vyre_diagnostics *d;
  vyre_program *program;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_diagnostic first = { 0 };
  ck_assert_int_eq(vyre_diagnostics_create("t.vyre", text, strlen(text), &d), VYRE_OK);
  vyre_status status = vyre_text_parse(text, strlen(text), NULL, d, &program, &error);
  char *rendered = vyre_diagnostics_render(d);
  ck_assert_msg(status == VYRE_ERR_INVALID_PROGRAM, "%s was accepted: %s", text, rendered);
  ck_assert_ptr_null(program);
  for (uint32_t i = 0; vyre_diagnostics_get(d, i, &first) && first.severity != VYRE_SEVERITY_ERROR; i++) continue;
  ck_assert_msg(vyre_diagnostics_errors(d) == 1, "%s\n%s", text, rendered);
  ck_assert_msg(first.code == code, "wanted %s in %s\n%s", vyre_code_name(code), text, rendered);
  ck_assert_msg(line == 0 || (first.line == line && first.column == column), "wanted %u:%u in %s\n%s", line, column,
                text, rendered);
  ck_assert_ptr_nonnull(strstr(error.text, vyre_code_name(code)));
  ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
  snprintf(message, sizeof message, "%s", first.message);
  free(rendered);
  vyre_diagnostics_destroy(d);
  return message;
}

/* As kit_fault_at for |statements| behind KIT_NAMES; |column| counts in the first line of them, 0 for anywhere. */
static inline const char *kit_fault(const char *statements, vyre_code code, uint32_t column) {
  char *text = kit_text(KIT_HEAD KIT_NAMES "%s\n}\n", statements);
  const char *message = kit_fault_at(text, code, column != 0 ? 17 : 0, column);
  free(text);
  return message;
}

/* Number of warnings |code| in |text|, which must be valid. */
static inline uint32_t kit_warnings(const char *text, vyre_code code) {
  vyre_diagnostics *d;
  vyre_program *program;
  vyre_diagnostic found;
  uint32_t count = 0;
  ck_assert_int_eq(vyre_diagnostics_create(NULL, text, strlen(text), &d), VYRE_OK);
  ck_assert_int_eq(vyre_text_parse(text, strlen(text), NULL, d, &program, NULL), VYRE_OK);
  for (uint32_t i = 0; vyre_diagnostics_get(d, i, &found); i++) count += found.code == code;
  vyre_program_release(program);
  vyre_diagnostics_destroy(d);
  return count;
}

#endif
