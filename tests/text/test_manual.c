/* docs/language.md: its tables are those of ops.def, types.def and codes.def, and its programs are programs. */
#include "kit.h"

static char *read_manual(void) {
  char *path = kit_text("%s/docs/language.md", getenv("top_srcdir") != NULL ? getenv("top_srcdir") : "."), *text = NULL;
  FILE *file = fopen(path, "rb");
  size_t bytes = 0;
  ck_assert_msg(file != NULL, "%s", path);
  ck_assert_int_ne(getdelim(&text, &bytes, 0, file), -1);
  fclose(file);
  free(path);
  return text;
}

/* |text| with the bars that would end a cell of a table escaped. */
static void escape_bars(const char *text, char *out) {
  for (; *text != 0; *out++ = *text++)
    if (*text == '|') *out++ = '\\';
  *out = 0;
}

START_TEST(every_operator_has_its_row) {
  static const struct { const char *spelling, *doc; } rows[] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) { spelling, doc },
#include <vyre/ops.def>
#undef X
  };
  char *manual = read_manual();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char spelling[64], doc[256];
    if (rows[i].spelling[0] == 0) continue;
    escape_bars(rows[i].spelling, spelling);
    escape_bars(rows[i].doc, doc);
    char *row = kit_text("\n| `%s` | %s |\n", spelling, doc);
    ck_assert_msg(strstr(manual, row) != NULL, "docs/language.md lacks %s", row);
    free(row);
  }
  free(manual);
}
END_TEST

START_TEST(every_type_word_and_code_is_there) {
  static const char *const words[] = {
#define X(name, spelling, bytes, lanes, component, value, wire) "\"" spelling "\"",
#include <vyre/types.def>
#undef X
#define S(number) "| S00" #number " |"
    S(1), S(2), S(3), S(4), S(5), S(6), S(7), S(8), S(9), "| S010 |", "| W002 |", "| W003 |", "| W004 |", "| W116 |",
  };
  static const char keywords[][16] = {
#define X(word) #word,
#include "ir/keywords.def"
#undef X
  };
  char *manual = read_manual();
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    ck_assert_msg(strstr(manual, words[i]) != NULL, "%s", words[i]);
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    ck_assert_msg(strstr(manual, keywords[i]) != NULL, "%s", keywords[i]);
  free(manual);
}
END_TEST

/* Each block marked `vyre` parses, and formatting changes no more than the columns of its comments. */
START_TEST(every_program_is_one) {
  char *manual = read_manual(), *at = manual;
  uint32_t count = 0;
  while ((at = strstr(at, "```vyre\n")) != NULL) {
    at += strlen("```vyre\n");
    char *end = strstr(at, "```"), *formatted;
    ck_assert_ptr_nonnull(end);
    *end = 0;
    vyre_program *program = kit_parse(at), *again;
    ck_assert_int_eq(vyre_text_format(at, strlen(at), NULL, &formatted, NULL, NULL), VYRE_OK);
    again = kit_parse(formatted);
    ck_assert(vyre_program_equal(program, again));
    vyre_program_release(program);
    vyre_program_release(again);
    free(formatted);
    count++;
    at = end + 1;
  }
  ck_assert_uint_ge(count, 9);
  free(manual);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {every_operator_has_its_row, every_type_word_and_code_is_there, every_program_is_one,
                                NULL};
  return run_suite("manual", 60, tests);
}
