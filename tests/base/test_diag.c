/* Diagnostics: places, order, limits, what is shown of the source, and the table of codes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "base/diag.h"

static vyre_diagnostics *make(const char *file, const char *source, size_t bytes) {
  vyre_diagnostics *d;
  ck_assert_int_eq(vyre_diagnostics_create(file, source, bytes, &d), VYRE_OK);
  return d;
}

static void check_place(const char *source, size_t bytes, uint32_t offset, uint32_t line, uint32_t column) {
  vyre_diagnostics *d = make("f", source, bytes);
  vyre_diagnostic found;
  vyre_diag(d, VYRE_V66, offset, "x");
  ck_assert(vyre_diagnostics_get(d, 0, &found));
  ck_assert_uint_eq(found.line, line);
  ck_assert_uint_eq(found.column, column);
  ck_assert_uint_eq(found.offset, offset);
  vyre_diagnostics_destroy(d);
}

/* What render says of one finding at |offset|. */
static void check_render(const char *source, size_t bytes, uint32_t offset, const char *wanted) {
  vyre_diagnostics *d = make("f", source, bytes);
  vyre_diag(d, VYRE_V66, offset, "x");
  char *text = vyre_diagnostics_render(d);
  ck_assert_str_eq(text, wanted);
  free(text);
  vyre_diagnostics_destroy(d);
}

#define GIST "error V066: a name is not declared where it is used: x\n"
#define FIX "  Fix: declare it before its use, in this block or one around it.\n"

static const struct {
  vyre_code code;
  vyre_severity severity;
  const char *letter;
  int number;
} codes[] = {
#define X(family, number, severity, gist, fix) { VYRE_##family##number, VYRE_SEVERITY_##severity, #family, number },
#include <vyre/codes.def>
#undef X
};
enum { CODES = sizeof codes / sizeof *codes };

START_TEST(every_code_has_name_gist_and_fix) {
  for (int i = 0; i < CODES; i++) {
    char name[16];
    snprintf(name, sizeof name, "%s%03d", codes[i].letter, codes[i].number);
    ck_assert_str_eq(vyre_code_name(codes[i].code), name);
    ck_assert_uint_gt(strlen(vyre_code_gist(codes[i].code)), 10);
    const char *fix = vyre_code_fix(codes[i].code);
    ck_assert_uint_gt(strlen(fix), 7);
    ck_assert_msg(fix[strlen(fix) - 1] != '.', "%s: the fix gets its full stop when it is shown", name);
    ck_assert_int_eq(vyre_code_severity(codes[i].code), codes[i].severity);
    ck_assert_int_eq(codes[i].letter[0] == 'W', codes[i].severity == VYRE_SEVERITY_WARNING);
    for (int j = 0; j < i; j++) ck_assert_int_ne(codes[i].code, codes[j].code);
  }
  ck_assert_ptr_null(vyre_code_name(VYRE_CODE_NONE));
  ck_assert_ptr_null(vyre_code_gist((vyre_code)999));
  ck_assert_ptr_null(vyre_code_fix((vyre_code)-1));
}
END_TEST

START_TEST(lines_end_with_lf_cr_or_both) {
  static const char source[] = "a\nb\r\nc\rd\n\re";
  const size_t n = sizeof source - 1;
  check_place(source, n, 0, 1, 1);
  check_place(source, n, 1, 1, 2); /* the LF belongs to its line */
  check_place(source, n, 2, 2, 1);
  check_place(source, n, 3, 2, 2);
  check_place(source, n, 4, 2, 2); /* inside of CR LF */
  check_place(source, n, 5, 3, 1);
  check_place(source, n, 7, 4, 1);
  check_place(source, n, 9, 5, 1);
  check_place(source, n, 10, 6, 1);
  check_place(source, n, 11, 6, 2);
}
END_TEST

START_TEST(columns_count_code_points) {
  static const char source[] = "\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x8c\x8a\xffx";
  const size_t n = sizeof source - 1;
  check_place(source, n, 2, 1, 2);
  check_place(source, n, 3, 1, 2); /* inside of a code point */
  check_place(source, n, 5, 1, 3);
  check_place(source, n, 9, 1, 4);
  check_place(source, n, 10, 1, 5); /* a byte that is not UTF-8 counts as one */
}
END_TEST

START_TEST(byte_order_mark_is_no_column) {
  static const char source[] = "\xEF\xBB\xBF" "ab";
  check_place(source, 5, 0, 1, 1);
  check_place(source, 5, 3, 1, 1);
  check_place(source, 5, 4, 1, 2);
}
END_TEST

START_TEST(places_beyond_the_end_are_the_end) {
  check_place("ab", 2, 1000, 1, 3);
  check_place("", 0, 7, 1, 1);
  check_place("ab\n", 3, 3, 2, 1);
}
END_TEST

START_TEST(findings_stand_in_source_order) {
  static const char source[] = "a\nb\nc\nd\n";
  static const uint32_t order[] = { 4, VYRE_NO_POSITION, 0, 6, 2 }, wanted[] = { 1, 2, 3, 4, 0 };
  vyre_diagnostics *d = make("f", source, sizeof source - 1);
  for (int i = 0; i < 5; i++) vyre_diag(d, VYRE_V66, order[i], "%d", i);
  vyre_diagnostic found;
  for (uint32_t i = 0; i < 5; i++) {
    ck_assert(vyre_diagnostics_get(d, i, &found));
    ck_assert_uint_eq(found.line, wanted[i]);
  }
  ck_assert(!vyre_diagnostics_get(d, 5, &found));
  vyre_diagnostics_destroy(d);
}
END_TEST

START_TEST(twenty_of_each_are_kept_and_all_are_counted) {
  vyre_diagnostics *d = make("f", "abc", 3);
  vyre_diagnostic found;
  for (int i = 0; i < 33; i++) vyre_diag(d, VYRE_V66, VYRE_NO_POSITION, "%d", i);
  for (int i = 0; i < 21; i++) vyre_diag(d, VYRE_W4, 1, "%d", i);
  ck_assert_uint_eq(vyre_diagnostics_errors(d), 33);
  ck_assert_uint_eq(vyre_diagnostics_warnings(d), 21);
  ck_assert(vyre_diagnostics_get(d, 39, &found));
  ck_assert(!vyre_diagnostics_get(d, 40, &found));
  char *text = vyre_diagnostics_render(d);
  ck_assert_ptr_nonnull(strstr(text, "13 more errors are not shown.\n1 more warning is not shown.\n"));
  free(text);
  vyre_diagnostics_destroy(d);
}
END_TEST

START_TEST(a_closer_fix_stands_instead_of_the_code_s) {
  vyre_diagnostics *d = make("f", "abc", 3);
  vyre_diagnostic found;
  char fix[] = "did you mean x?";
  vyre_diag_fix(d, VYRE_V66, 0, fix, "%s", "y");
  vyre_diag_fix(d, VYRE_V66, 1, NULL, "%s", "z");
  memset(fix, 'q', sizeof fix - 1); /* it was copied */
  ck_assert(vyre_diagnostics_get(d, 0, &found));
  ck_assert_str_eq(found.fix, "did you mean x?");
  ck_assert(vyre_diagnostics_get(d, 1, &found));
  ck_assert_str_eq(found.fix, vyre_code_fix(VYRE_V66));
  char *text = vyre_diagnostics_render(d);
  ck_assert_ptr_nonnull(strstr(text, "\n  Fix: did you mean x?\n"));
  free(text);
  vyre_diagnostics_destroy(d);
}
END_TEST

START_TEST(one_fault_at_one_place_is_said_once) {
  vyre_diagnostics *d = make("f", "abc", 3);
  for (int i = 0; i < 3; i++) vyre_diag(d, VYRE_V66, 1, "x");
  vyre_diag(d, VYRE_V66, 1, "y");
  vyre_diag(d, VYRE_V66, 2, "x");
  vyre_diag(d, VYRE_V12, 2, "x");
  ck_assert_uint_eq(vyre_diagnostics_errors(d), 4);
  for (int i = 0; i < 3; i++) vyre_diag(d, VYRE_V66, VYRE_NO_POSITION, "x"); /* without a place they may be different */
  ck_assert_uint_eq(vyre_diagnostics_errors(d), 7);
  vyre_diagnostics_destroy(d);
}
END_TEST

START_TEST(rendering_shows_line_and_caret) {
  static const char source[] = "one\n\tlet a = b;\r\nend";
  check_render(source, sizeof source - 1, 13, "f:2:10: " GIST "  \tlet a = b;\n  \t        ^\n" FIX);
  check_render(source, sizeof source - 1, 2, "f:1:3: " GIST "  one\n    ^\n" FIX);
  check_render(source, sizeof source - 1, 20, "f:3:4: " GIST "  end\n     ^\n" FIX);
  check_render("", 0, 0, "f:1:1: " GIST "  \n  ^\n" FIX);
}
END_TEST

START_TEST(rendering_without_place_or_file_has_no_line) {
  vyre_diagnostics *d = make(NULL, NULL, 0);
  vyre_diag(d, VYRE_V66, 17, "x"); /* an offset into wire bytes is no line */
  vyre_diag(d, VYRE_W4, VYRE_NO_POSITION, "%s", "");
  char *text = vyre_diagnostics_render(d);
  ck_assert_str_eq(text, GIST FIX "warning W004: a name that begins with __ is the compiler's\n"
                                  "  Fix: choose another name.\n");
  free(text);
  vyre_diagnostics_destroy(d);
  d = make("dir/p.vyre", "abc", 3);
  vyre_diag(d, VYRE_V66, VYRE_NO_POSITION, "x");
  text = vyre_diagnostics_render(d);
  ck_assert_str_eq(text, "dir/p.vyre: " GIST FIX);
  free(text);
  vyre_diagnostics_destroy(d);
}
END_TEST

START_TEST(hostile_text_is_escaped) {
  check_render("\x1b[2Jx\0\xc3 y", 9, 4, "f:1:5: " GIST "  \\x1B[2Jx\\x00\\xC3 y\n         ^\n" FIX);
  check_render("\xe2\x80\xaeok", 5, 3, "f:1:2: " GIST "  \\u{202E}ok\n          ^\n" FIX);
  vyre_diagnostics *d = make("\x1b]0;x", "abc", 3);
  vyre_diag(d, VYRE_V66, 0, "%s", "\x1b[31m\n");
  char *text = vyre_diagnostics_render(d);
  ck_assert_ptr_null(strchr(text, 0x1b));
  ck_assert_ptr_nonnull(strstr(text, "\\x1B]0;x:1:1:"));
  ck_assert_ptr_nonnull(strstr(text, "is used: \\x1B[31m\\x0A\n"));
  free(text);
  vyre_diagnostics_destroy(d);
}
END_TEST

/* The caret stands under the letter that it is about, at every place of a long line. */
START_TEST(long_lines_are_cut_around_the_caret) {
  char source[400];
  memset(source, '_', sizeof source);
  for (uint32_t at = 0; at < sizeof source; at++) {
    source[at] = 'X';
    vyre_diagnostics *d = make("f", source, sizeof source);
    vyre_diag(d, VYRE_V66, at, "x");
    char *text = vyre_diagnostics_render(d), *line = strchr(text, '\n') + 1, *below = strchr(line, '\n') + 1;
    ck_assert_int_eq(strchr(line, 'X') - line, strchr(below, '^') - below);
    size_t shown = 0;
    for (char *p = line; p < below; p++) shown += *p == '_' || *p == 'X';
    ck_assert_uint_eq(shown, 120);
    bool cut_before = strncmp(line, "  ...", 5) == 0, cut_behind = below[-2] == '.';
    ck_assert(cut_before || cut_behind);
    ck_assert_int_eq(cut_before, at > 80);
    free(text);
    vyre_diagnostics_destroy(d);
    source[at] = '_';
  }
}
END_TEST

START_TEST(lines_of_120_are_shown_whole) {
  char source[121];
  memset(source, 'a', sizeof source);
  for (uint32_t bytes = 119; bytes <= 121; bytes++)
    for (uint32_t at = 0; at < bytes; at++) {
      vyre_diagnostics *d = make("f", source, bytes);
      vyre_diag(d, VYRE_V66, at, "x");
      char *text = vyre_diagnostics_render(d), *line = strchr(text, '\n') + 1;
      bool cut = strstr(line, "...") != NULL;
      ck_assert_int_eq(cut, bytes > 120);
      free(text);
      vyre_diagnostics_destroy(d);
    }
}
END_TEST

START_TEST(long_messages_are_cut) {
  char longest[3000];
  memset(longest, 'm', sizeof longest);
  longest[sizeof longest - 1] = 0;
  vyre_diagnostics *d = make("f", "abc", 3);
  vyre_diag(d, VYRE_V66, 0, "%s", longest);
  vyre_diagnostic found;
  ck_assert(vyre_diagnostics_get(d, 0, &found));
  ck_assert_uint_lt(strlen(found.message), 1200);
  ck_assert_str_eq(found.message + strlen(found.message) - 4, "m...");
  vyre_diagnostics_destroy(d);
}
END_TEST

START_TEST(no_set_and_no_such_code_are_harmless) {
  vyre_diag(NULL, VYRE_V66, 0, "x");
  vyre_diagnostics_destroy(NULL);
  vyre_diagnostics *d = make(NULL, NULL, 0);
  vyre_diag(d, (vyre_code)998, 0, "x");
  ck_assert_uint_eq(vyre_diagnostics_errors(d), 0);
  vyre_diagnostics_destroy(d);
}
END_TEST

START_TEST(without_memory_findings_still_count) {
  for (uint64_t n = 1;; n++) {
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_diagnostics *d;
    vyre_status status = vyre_diagnostics_create("file", "a\nb", 3, &d);
    char *text = NULL;
    uint32_t errors = 20;
    if (status == VYRE_OK) {
      for (uint32_t i = 0; i < 20; i++) vyre_diag(d, VYRE_V66, i, "number %u", i);
      text = vyre_diagnostics_render(d);
      errors = vyre_diagnostics_errors(d);
    }
    bool failed = fail_malloc_end();
    ck_assert_uint_eq(errors, 20);
    if (!failed) ck_assert_ptr_nonnull(text);
    if (status != VYRE_OK) ck_assert_ptr_null(d);
    free(text);
    vyre_diagnostics_destroy(d);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
}
END_TEST

int main(void) {
  return run_suite("diag", 60,
                   (const TTest *const[]){
                     every_code_has_name_gist_and_fix, lines_end_with_lf_cr_or_both, columns_count_code_points,
                     byte_order_mark_is_no_column, places_beyond_the_end_are_the_end, findings_stand_in_source_order,
                     twenty_of_each_are_kept_and_all_are_counted, one_fault_at_one_place_is_said_once,
                     a_closer_fix_stands_instead_of_the_code_s,
                     rendering_shows_line_and_caret, rendering_without_place_or_file_has_no_line,
                     hostile_text_is_escaped, long_lines_are_cut_around_the_caret, lines_of_120_are_shown_whole,
                     long_messages_are_cut, no_set_and_no_such_code_are_harmless, without_memory_findings_still_count,
                     NULL });
}
