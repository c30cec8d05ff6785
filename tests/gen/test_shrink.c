/* The shrinker: programs of two hundred statements come down to what a predicate asks for, always to the same. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vyre/text.h>

#include "../suite.h"
#include "random_program.h"
#include "shrink.h"
#include "shrink_text.h"

enum { MOST_LINES = 6 };

static vyre_program *make(uint64_t seed) {
  random_program_options options = { .statements = 200 };
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p;
  if (random_program(seed, &options, NULL, &p, &error) != VYRE_OK)
    ck_abort_msg("seed %llu: %s", (unsigned long long)seed, error.text);
  return p;
}

static char *text_of(const vyre_program *p) {
  char *text;
  ck_assert_int_eq(vyre_text_print(p, &text, NULL), VYRE_OK);
  return text;
}

static vyre_program *parse(const char *text) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p;
  if (vyre_text_parse(text, strlen(text), NULL, NULL, &p, &error) != VYRE_OK) ck_abort_msg("%s: %s", error.text, text);
  return p;
}

static uint32_t lines_of(const char *text) {
  uint32_t lines = 0;
  for (; *text != 0; text++) lines += *text == '\n' && text[1] != '\n';
  return lines;
}

static bool contains(vyre_program *p, void *words) {
  char *text = text_of(p);
  bool all = true;
  for (const char *const *word = words; *word != NULL; word++) all &= strstr(text, *word) != NULL;
  free(text);
  return all;
}

/* Gives the lines that are left. */
static uint32_t shrink(vyre_program *p, shrink_fails fails, void *ctx) {
  vyre_program *small;
  shrink_report report;
  ck_assert_int_eq(shrink_program(p, fails, ctx, NULL, &small, &report), VYRE_OK);
  ck_assert(fails(small, ctx));
  ck_assert_uint_le(report.tests, 5000);
  char *text = text_of(small);
  uint32_t lines = lines_of(text);
  ck_assert_msg(lines <= MOST_LINES, "%u lines:\n%s", lines, text);
  free(text);
  vyre_program_release(small);
  return lines;
}

/* Every operator that text has a word for. */
START_TEST(programs_that_contain_an_operator) {
  uint32_t reduced = 0;
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++) {
    char word[64];
    const char *words[] = { word, NULL };
    snprintf(word, sizeof word, "%s(", vyre_op_describe(op)->spelling);
    if (word[0] < 'a' || word[0] > 'z') continue;
    for (uint64_t seed = op; seed < op + 200u; seed++) {
      vyre_program *p = make(seed);
      bool found = contains(p, words);
      if (found) shrink(p, contains, words);
      vyre_program_release(p);
      reduced += found;
      if (found) break;
    }
  }
  ck_assert_uint_gt(reduced, 80);
}
END_TEST

/* What stands deep inside, and needs more than itself. */
START_TEST(programs_that_contain_statements) {
  static const char *const cases[][4] = {
    { "for (", "continue;" },       { "loop {", "break;" }, { "else {" },
    { "copy_async workgroup" },     { "print(", "trap(" },  { "region \"plain\" {" },
    { "fence(seq_cst, system)" },   { "u64(self)" },        { "barrier;", "u16" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t reduced = 0;
    for (uint64_t seed = 0; seed < 200 && reduced < 3; seed++) {
      vyre_program *p = make(seed);
      bool found = contains(p, (void *)cases[i]);
      if (found) shrink(p, contains, (void *)cases[i]);
      vyre_program_release(p);
      reduced += found;
    }
    ck_assert_msg(reduced > 0, "no program with %s", cases[i][0]);
  }
}
END_TEST

/* Edits of every kind, on a program where each is needed once. */
START_TEST(every_edit_is_made) {
  static const char source[] =
    "program all workgroup(64) contract ulp(3) progress(workgroups) {\n"
    "  param p: f32;\n"
    "  read unused: u8[];\n"
    "  write out: f32[100];\n"
    "  const table: u32x2[3] = {u32x2(1, 2), u32x2(3, 4), u32x2(5, 6)};\n"
    "  let a = table[1].x;\n"
    "  var b = 7;\n"
    "  if (b > a) {\n"
    "    b = 9;\n"
    "  } else if (a == 3) {\n"
    "    for (i in 0..b + 2) {\n"
    "      region \"deep\" {\n"
    "        let c = i + 12 * b;\n"
    "        out[c % 100] = p + rcp(p * 1234.5);\n"
    "        out[i] = c == 0 ? 0.5 : table[2].y == c ? 1.5 : 2.5;\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";
  static const char *const words[][2] = { { "rcp(" }, { "table: u32x2" }, { "12" }, { "2.5" } };
  static const char *const wanted[] = {
    "  write out: f32[1];\n\n  out[0] = rcp(0.0f32);\n",
    "  const table: u32x2[1] = {u32x2(0, 0)};\n",
    "  let c = 12;\n",
    "  write out: f32[1];\n\n  out[0] = 2.5;\n",
  };
  for (int i = 0; i < 4; i++) {
    char all[256];
    vyre_program *p = parse(source), *small;
    ck_assert_int_eq(shrink_program(p, contains, (void *)words[i], NULL, &small, NULL), VYRE_OK);
    char *text = text_of(small);
    snprintf(all, sizeof all, "program all workgroup(1) {\n%s}\n", wanted[i]);
    ck_assert_str_eq(text, all);
    free(text);
    vyre_program_release(p);
    vyre_program_release(small);
  }
}
END_TEST

START_TEST(the_result_is_always_the_same) {
  const char *words[] = { "atomic_", NULL };
  vyre_program *p = make(3), *a, *b;
  ck_assert(contains(p, words));
  ck_assert_int_eq(shrink_program(p, contains, words, NULL, &a, NULL), VYRE_OK);
  ck_assert_int_eq(shrink_program(p, contains, words, NULL, &b, NULL), VYRE_OK);
  ck_assert(vyre_program_equal(a, b));
  vyre_program_release(a);
  vyre_program_release(b);
  vyre_program_release(p);
}
END_TEST

static bool counts_and_refuses(vyre_program *p, void *count) {
  (void)p;
  ++*(uint32_t *)count;
  return false;
}

START_TEST(what_cannot_be_reduced_comes_back) {
  uint32_t count = 0;
  vyre_program *p = make(5), *small;
  shrink_report report;
  shrink_options few = { .max_tests = 50 };
  ck_assert_int_eq(shrink_program(p, counts_and_refuses, &count, &few, &small, &report), VYRE_OK);
  ck_assert_ptr_eq(small, p);
  ck_assert_uint_eq(count, 50);
  ck_assert_uint_eq(report.tests, 50);
  vyre_program_release(small);
  vyre_program_release(p);
}
END_TEST

/* The predicate of a case: it needs three workgroups along x, whatever the program. */
static bool needs_three(vyre_program *p, void *grid) {
  (void)p;
  return ((uint64_t *)grid)[0] >= 3;
}

START_TEST(numbers_beside_the_program_are_reduced) {
  uint64_t grid[] = { 17, 5 };
  shrink_number numbers[] = { { &grid[0], 1 }, { &grid[1], 1 } };
  shrink_options options = { .numbers = numbers, .number_count = 2 };
  vyre_program *p = make(6), *small;
  ck_assert_int_eq(shrink_program(p, needs_three, grid, &options, &small, NULL), VYRE_OK);
  ck_assert_uint_eq(grid[0], 3);
  ck_assert_uint_eq(grid[1], 1);
  char *text = text_of(small);
  ck_assert_uint_le(lines_of(text), 2);
  free(text);
  vyre_program_release(small);
  vyre_program_release(p);
}
END_TEST

START_TEST(a_kept_program_is_read_back) {
  char directory[] = "/tmp/vyre-shrink-XXXXXX", path[64], text[1 << 16] = "";
  ck_assert_ptr_nonnull(mkdtemp(directory));
  vyre_program *p = make(7), *q;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(shrink_save(directory, "seed-7", "seed 7\nb0 differs", p, &error), VYRE_OK);
  snprintf(path, sizeof path, "%s/seed-7.vyre", directory);
  FILE *f = fopen(path, "r");
  ck_assert_ptr_nonnull(f);
  size_t bytes = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  ck_assert(strncmp(text, "// seed 7\n// b0 differs\nprogram ", 32) == 0);
  ck_assert_int_eq(vyre_text_parse(text, bytes, NULL, NULL, &q, &error), VYRE_OK);
  ck_assert(vyre_program_equal(p, q));
  unlink(path);
  rmdir(directory);
  ck_assert_int_eq(shrink_save(directory, "seed-7", "", p, &error), VYRE_ERR_IO);
  ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
  vyre_program_release(p);
  vyre_program_release(q);
}
END_TEST

/* What the expressions of a text are; a change of the printer's form would show here first. */
START_TEST(text_is_taken_apart) {
  static const char source[] =
    "program t {\n"
    "  read b: u32[];\n"
    "  let v = (b[0] + 1) * u32x2(2, 3).x;\n"
    "  for (i in 0..v step 2) {}\n"
    "}\n";
  static const char *const wanted[] = { "(b[0] + 1) * u32x2(2, 3).x", "(b[0] + 1)", "b[0]", "0", "1", "u32x2(2, 3).x",
                                        "2", "3", "0", "v", "2" };
  shrink_text t;
  ck_assert(shrink_text_read(&t, source));
  ck_assert_uint_eq(t.item_count, 3);
  ck_assert_uint_eq(t.list_count, 2);
  ck_assert_uint_eq(t.node_count, sizeof wanted / sizeof *wanted);
  for (uint32_t i = 0; i < t.node_count; i++) {
    shrink_writer w = { 0 };
    shrink_write_range(&w, &t, t.nodes[i]);
    ck_assert_str_eq(w.data, wanted[i]);
    free(w.data);
  }
  shrink_text_free(&t);
}
END_TEST

int main(void) {
  const TTest *tests[] = { programs_that_contain_an_operator,
                           programs_that_contain_statements,
                           every_edit_is_made,
                           the_result_is_always_the_same,
                           what_cannot_be_reduced_comes_back,
                           numbers_beside_the_program_are_reduced,
                           a_kept_program_is_read_back,
                           text_is_taken_apart,
                           NULL };
  return run_suite("shrinking random programs", 240, tests);
}
