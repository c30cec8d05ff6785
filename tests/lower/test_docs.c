/* The table of opcodes in docs/kernel.md has the rows of kernel_ops.def, word for word, and no others. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>

#include "../suite.h"

typedef struct row {
  const char *name, *number, *rule, *kinds[4], *effects, *doc;
} row;

static const row rows[] = {
#define X(name, number, spelling, rule, k0, k1, k2, k3, effects, doc) \
  { #name, #number, #rule, { #k0, #k1, #k2, #k3 }, #effects, doc },
#include <vyre/kernel_ops.def>
#undef X
};

static char *read_page(void) {
  const char *root = getenv("top_srcdir");
  char path[4096];
  snprintf(path, sizeof path, "%s/docs/kernel.md", root != NULL ? root : ".");
  FILE *file = fopen(path, "r");
  ck_assert_msg(file != NULL, "%s can't be read", path);
  char *text = calloc(1, 1 << 18);
  ck_assert_uint_gt(fread(text, 1, (1 << 18) - 1, file), 0);
  fclose(file);
  return text;
}

static void write_row(char *line, size_t room, const row *r) {
  char kinds[32] = "", effects[64] = "";
  for (int k = 0; k < 4; k++) {
    if (strcmp(r->kinds[k], "NO") == 0) continue;
    if (kinds[0] != 0) strcat(kinds, " ");
    strcat(kinds, r->kinds[k]);
  }
  for (size_t i = 0; r->effects[i] != 0 && strcmp(r->effects, "0") != 0; i++)
    effects[i] = (char)(r->effects[i] == '|' ? ' ' : tolower((unsigned char)r->effects[i]));
  snprintf(line, room, "\n| %s | %s | %s | %s | %s | %s |\n", r->name, r->number, r->rule, kinds, effects, r->doc);
}

START_TEST(the_page_has_the_opcodes) {
  char *page = read_page(), line[1024];
  size_t count = 0, wanted = sizeof rows / sizeof *rows;
  for (size_t i = 0; i < wanted; i++) {
    write_row(line, sizeof line, &rows[i]);
    ck_assert_msg(strstr(page, line) != NULL, "docs/kernel.md lacks the row%s", line);
  }
  for (const char *at = page; (at = strstr(at, "| 0x")) != NULL; at++) count++;
  ck_assert_uint_eq(count, wanted);
  free(page);
}
END_TEST

/* Numbers of opcodes are pinned: none is there twice, and those for matrix units are free. */
START_TEST(numbers_are_unique) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    unsigned long number = strtoul(rows[i].number, NULL, 16);
    ck_assert(number > 0 && (number < VYRE_KERNEL_TILE_FIRST || number > VYRE_KERNEL_TILE_LAST));
    ck_assert_str_eq(vyre_kernel_op_describe((uint32_t)number).name, rows[i].name);
    for (size_t j = 0; j < i; j++) ck_assert_str_ne(rows[i].number, rows[j].number);
  }
  ck_assert_ptr_null(vyre_kernel_op_describe(0).name);
  ck_assert_ptr_null(vyre_kernel_op_describe(VYRE_KERNEL_TILE_FIRST).name);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { the_page_has_the_opcodes, numbers_are_unique, NULL };
  return run_suite("lower/docs", 10, tests);
}
