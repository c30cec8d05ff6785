/* Section 10 of the language: each limit at N and at N + 1, as it is written. */
#include "kit.h"

/* |head|, |count| times |piece|, |tail|. */
static char *repeated(const char *head, const char *piece, uint32_t count, const char *tail) {
  size_t a = strlen(head), b = strlen(piece), c = strlen(tail);
  char *text = malloc(a + b * count + c + 1), *at = text;
  ck_assert_ptr_nonnull(text);
  memcpy(at, head, a);
  at += a;
  for (uint32_t i = 0; i < count; i++, at += b) memcpy(at, piece, b);
  memcpy(at, tail, c + 1);
  return text;
}

/* Nesting: |head| |open|*n |middle| |close|*n |tail|. */
static char *nested(const char *head, const char *open, uint32_t count, const char *middle, const char *close,
                    const char *tail) {
  char *left = repeated(head, open, count, middle), *right = repeated("", close, count, tail),
       *text = kit_text("%s%s", left, right);
  free(left);
  free(right);
  return text;
}

static void check_valid(char *text) {
  vyre_program *program = kit_parse(text), *again;
  char *printed = kit_print(program);
  again = kit_parse(printed);
  ck_assert(vyre_program_equal(program, again));
  vyre_program_release(program);
  vyre_program_release(again);
  free(printed);
  free(text);
}

static void check_fault(char *text, vyre_code code) {
  vyre_diagnostics *d;
  vyre_program *program;
  vyre_diagnostic found;
  ck_assert_int_eq(vyre_diagnostics_create(NULL, text, strlen(text), &d), VYRE_OK);
  ck_assert_int_eq(vyre_text_parse(text, strlen(text), NULL, d, &program, NULL), VYRE_ERR_INVALID_PROGRAM);
  ck_assert_uint_eq(vyre_diagnostics_errors(d), 1);
  ck_assert(vyre_diagnostics_get(d, 0, &found));
  ck_assert_msg(found.code == code, "wanted %s, found %s", vyre_code_name(code), vyre_code_name(found.code));
  vyre_diagnostics_destroy(d);
  free(text);
}

#define PARAMS "program p { param a: u32; param c: bool; rw u: u32[]; "

START_TEST(expressions_1024_deep) {
  check_valid(repeated(PARAMS "let r = ", "~", 1023, "a; }"));
  check_fault(repeated(PARAMS "let r = ", "~", 1024, "a; }"), VYRE_V33);
  check_valid(repeated(PARAMS "let r = a", " + a", 1023, "; }"));
  check_fault(repeated(PARAMS "let r = a", " + a", 1024, "; }"), VYRE_V33);
  check_valid(nested(PARAMS "let r = ", "u[", 1023, "a", "]", "; }"));
  check_fault(nested(PARAMS "let r = ", "u[", 1024, "a", "]", "; }"), VYRE_V33);
  check_valid(repeated(PARAMS "let r = ", "c ? a : ", 1023, "a; }"));
  check_fault(repeated(PARAMS "let r = ", "c ? a : ", 1024, "a; }"), VYRE_V33);
}
END_TEST

/* What is computed at once is as deep as it is written. */
START_TEST(constant_expressions_1024_deep) {
  static const char *const heads[] = { PARAMS "let r = ", PARAMS "u[0] = ", "program p { const r = ",
                                       "program p { const r: f32 = ", "program p { const r: u32[1] = {",
                                       "program p { read r: u32[" };
  static const char *const tails[] = { "; }", "; }", "; }", "; }", "}; }", "]; }" };
  for (uint32_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    for (uint32_t count = 1023; count <= 1024; count++) {
      char *head = kit_text("%s1", heads[i]);
      char *sum = repeated(head, " + 1", count, tails[i]);
      char *calls = nested(heads[i], "max(1, ", count, "1", ")", tails[i]);
      char *right = nested(heads[i], "1 + (", count, "1", ")", tails[i]);
      free(head);
      if (count == 1023) check_valid(sum), check_valid(calls), check_valid(right);
      else check_fault(sum, VYRE_V33), check_fault(calls, VYRE_V33), check_fault(right, VYRE_V33);
    }
  }
  /* the sign of a literal is part of it */
  check_valid(repeated("program p { const r = ", "-", 1024, "1; }"));
  check_fault(repeated("program p { const r = ", "-", 1025, "1; }"), VYRE_V33);
  check_valid(repeated("program p { const r = ", "-", 1024, "1.5; }"));
  check_fault(repeated("program p { const r = ", "-", 1025, "1.5; }"), VYRE_V33);
  check_fault(repeated("program p { const r = ", "-", 1000000, "1; }"), VYRE_V33);
  check_fault(repeated(PARAMS "let r = a - ", "-", 1000000, "5; }"), VYRE_V33);
  check_valid(repeated(PARAMS "let r = 1.5", " + 1.5", 1023, "; }"));
  check_fault(repeated(PARAMS "let r = 1.5", " + 1.5", 1024, "; }"), VYRE_V33);
  check_valid(repeated(PARAMS "let r = a + (1", " + 1", 1022, "); }"));
  check_fault(repeated(PARAMS "let r = a + (1", " + 1", 1023, "); }"), VYRE_V33);
  check_valid(repeated(PARAMS "let r = u[1", " + 1", 1022, "]; }"));
  check_fault(repeated(PARAMS "let r = u[1", " + 1", 1023, "]; }"), VYRE_V33);
  /* a typed infinity is printed as a conversion, and is a leaf */
  check_valid(nested(PARAMS "let r = ", "abs(", 1023, "f64(-inf)", ")", "; }"));
  check_fault(nested(PARAMS "let r = ", "abs(", 1024, "f64(-inf)", ")", "; }"), VYRE_V33);
  /* a name is a leaf */
  check_valid(repeated("program p { const n = 1", " + 1", 1023, "; const r = n + n; rw u: u32[n]; u[0] = n + r; }"));
}
END_TEST

START_TEST(brackets_do_not_count) {
  check_valid(nested(PARAMS "let r = ", "(", 100000, "a", ")", "; }"));
  check_valid(nested(PARAMS "let r = ", "(", 100000, "a", ")", " + 1; }"));
  check_valid(nested("program p { const n = ", "(", 100000, "1", ")", " + 1; }"));
  check_fault(repeated(PARAMS "let r = ", "-", 100000, "a; }"), VYRE_V33);
  check_fault(repeated(PARAMS "let r = ", "(", 100000, "a; }"), VYRE_S5);
  check_fault(repeated(PARAMS "let r = a", ")", 100000, "; }"), VYRE_S5);
}
END_TEST

START_TEST(blocks_128_deep) {
  static const char *const opens[] = { "{ ", "if (c) { ", "loop { ", "region \"r\" { " };
  check_valid(nested(PARAMS, opens[0], 128, "u[0] = a;", "}", "}"));
  check_fault(nested(PARAMS, opens[0], 129, "u[0] = a;", "}", "}"), VYRE_V18);
  check_valid(nested(PARAMS, opens[1], 128, "u[0] = a;", "}", "}"));
  check_fault(nested(PARAMS, opens[1], 129, "u[0] = a;", "}", "}"), VYRE_V18);
  check_valid(nested(PARAMS, opens[2], 128, "break;", "}", "}"));
  check_fault(nested(PARAMS, opens[2], 129, "break;", "}", "}"), VYRE_V18);
  check_valid(nested(PARAMS, opens[3], 128, "u[0] = a;", "}", "}"));
  check_fault(nested(PARAMS, opens[3], 129, "u[0] = a;", "}", "}"), VYRE_V18);
  check_fault(nested(PARAMS, opens[0], 100000, "", "}", "}"), VYRE_V18);
}
END_TEST

START_TEST(an_else_if_chain_is_one_level) {
  check_valid(repeated(PARAMS "if (c) { } ", "else if (a == 1) { u[0] = a; } ", 20000, "else { u[1] = a; } }"));
  char *chain = repeated(PARAMS, "if (c) { } else if (c) { ", 128, "u[0] = a;");
  check_valid(repeated(chain, "}", 128, "}"));
  free(chain);
  chain = repeated(PARAMS, "if (c) { } else if (c) { ", 129, "u[0] = a;");
  check_fault(repeated(chain, "}", 129, "}"), VYRE_V18);
  free(chain);
}
END_TEST

/* A function's body counts by itself. */
START_TEST(nesting_is_counted_before_inlining) {
  char *body = nested("program p { rw u: u32[]; fn f() { ", "{ ", 128, "u[0] = 1;", "}", "} ");
  check_valid(nested(body, "{ ", 128, "f();", "}", "}"));
  free(body);
  body = nested("program p { rw u: u32[]; fn f() { ", "{ ", 129, "u[0] = 1;", "}", "} ");
  check_fault(kit_text("%s f(); }", body), VYRE_V18);
  free(body);
}
END_TEST

/* g2 calls g1, and so on; the program calls the last. */
static char *call_chain(uint32_t depth, const char *call) {
  char *text = strdup("program p { rw u: u32[]; fn g1() { u[0] = 1; } ");
  for (uint32_t i = 2; i <= depth; i++) {
    char *more = kit_text("%sfn g%u() { ", text, i);
    free(text);
    text = more;
    for (const char *c = call; *c != 0; c++) {
      more = kit_text("%sg%u(); ", text, i - 1);
      free(text);
      text = more;
    }
    more = kit_text("%s} ", text);
    free(text);
    text = more;
  }
  char *whole = kit_text("%s g%u(); }", text, depth);
  free(text);
  return whole;
}

START_TEST(calls_32_deep) {
  check_valid(call_chain(32, "1"));
  check_fault(call_chain(33, "1"), VYRE_V140);
}
END_TEST

START_TEST(statements_1000000) {
  check_valid(repeated("program p { ", "barrier; ", 1000000, "}"));
  check_fault(repeated("program p { ", "barrier; ", 1000001, "}"), VYRE_V19);
  check_valid(repeated("program p { rw u: u32[]; ", "u[0] = 1; ", 100000, "}"));
}
END_TEST

START_TEST(expansion_ends_at_the_limit_of_statements) { check_fault(call_chain(30, "11"), VYRE_V19); }
END_TEST

static char *declared(uint32_t params, uint32_t buffers, uint32_t constants, uint32_t tables) {
  char *text = NULL;
  size_t bytes;
  FILE *out = open_memstream(&text, &bytes);
  fprintf(out, "program p {\n");
  for (uint32_t i = 0; i < params; i++) fprintf(out, "param p%u: u32;\n", i);
  for (uint32_t i = 0; i < buffers; i++) fprintf(out, "read b%u: u32[];\n", i);
  for (uint32_t i = 0; i < constants; i++) fprintf(out, "const c%u = %u;\n", i, i);
  for (uint32_t i = 0; i < tables; i++) fprintf(out, "const t%u: u8[1] = {%u};\n", i, i & 255);
  fprintf(out, "}\n");
  fclose(out);
  return text;
}

START_TEST(declarations_16384) {
  check_valid(declared(0, 16384, 0, 0));
  check_fault(declared(0, 16385, 0, 0), VYRE_V141);
  check_valid(declared(0, 0, 16384, 0));
  check_fault(declared(0, 0, 16385, 0), VYRE_V141);
  check_valid(declared(1, 16380, 2, 1));
  check_fault(declared(1, 16380, 2, 2), VYRE_V141);
}
END_TEST

START_TEST(strings_of_1_mib) {
  check_valid(repeated("program p { region \"", "a", 1u << 20, "\" { } }"));
  check_fault(repeated("program p { region \"", "a", (1u << 20) + 1, "\" { } }"), VYRE_V142);
  check_valid(repeated("program p { region \"", "\\n", 1u << 20, "\" { } }"));
  check_fault(repeated("program p { print(\"", "a", (1u << 20) + 1, "\"); }"), VYRE_V142);
}
END_TEST

START_TEST(texts_of_64_mib) {
  size_t most = 64u << 20;
  const char *program = "program p { }";
  char *text = malloc(most + 1);
  vyre_program *out;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_ptr_nonnull(text);
  memset(text, ' ', most + 1);
  memcpy(text, program, strlen(program));
  ck_assert_int_eq(vyre_text_parse(text, most, NULL, NULL, &out, &error), VYRE_OK);
  vyre_program_release(out);
  ck_assert_int_eq(vyre_text_parse(text, most + 1, NULL, NULL, &out, &error), VYRE_ERR_LIMIT);
  ck_assert_ptr_null(out);
  ck_assert_ptr_nonnull(strstr(error.text, "67108864"));
  ck_assert_ptr_nonnull(strstr(error.text, "67108865"));
  char *formatted;
  ck_assert_int_eq(vyre_text_format(text, most + 1, NULL, &formatted, NULL, &error), VYRE_ERR_LIMIT);
  free(text);
}
END_TEST

/* Counts that are only written, not there, cost nothing. */
START_TEST(huge_counts_are_refused_without_memory) {
  check_fault(strdup("program p { const T: f32[18446744073709551615] = {1}; }"), VYRE_V145);
  check_fault(strdup("program p { const T: f32[9223372036854775807] = {1}; }"), VYRE_S10);
  check_fault(strdup("program p { shared s: f32x4[9223372036854775807]; }"), VYRE_V145);
  check_valid(strdup("program p { read s: u8[9223372036854775807]; }"));
}
END_TEST

/* The same function many times in one expression: work per call does not grow with what stands left of it. */
START_TEST(long_rows_of_calls_are_linear) {
  char *head = repeated(PARAMS "fn f() -> u32 { return u[0]; } print(\"", "{}", 20000, "\"");
  check_valid(repeated(head, ", f() + u[0]", 20000, "); }"));
  free(head);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { expressions_1024_deep,
                                 constant_expressions_1024_deep,
                                 brackets_do_not_count,
                                 blocks_128_deep,
                                 an_else_if_chain_is_one_level,
                                 nesting_is_counted_before_inlining,
                                 calls_32_deep,
                                 statements_1000000,
                                 expansion_ends_at_the_limit_of_statements,
                                 declarations_16384,
                                 strings_of_1_mib,
                                 texts_of_64_mib,
                                 huge_counts_are_refused_without_memory,
                                 long_rows_of_calls_are_linear,
                                 NULL };
  return run_suite("limits", 240, tests);
}
