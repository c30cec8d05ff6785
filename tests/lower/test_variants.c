/* The hunt for differences: all variants agree on programs, and a planted defect, of a transformation or one that ends
 * the process, is found and comes down to a few lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vyre/text.h>

#include "../suite.h"
#include "hunt.h"

enum { MOST_LINES = 9 }; /* with declarations and braces */

/* ---- Planted defects --------------------------------------------------------------------------- */

/* The program with the first |word| written otherwise. */
static vyre_status reword(vyre_program *p, const char *word, const char *instead, vyre_program **out,
                          vyre_error *error) {
  char *text, *at;
  ck_assert_int_eq(vyre_text_print(p, &text, NULL), VYRE_OK);
  if ((at = strstr(text, word)) == NULL) {
    free(text);
    *out = vyre_program_retain(p);
    return VYRE_OK;
  }
  size_t room = strlen(text) + strlen(instead) + 1;
  char *other = malloc(room);
  snprintf(other, room, "%.*s%s%s", (int)(at - text), text, instead, at + strlen(word));
  vyre_status status = vyre_text_parse(other, strlen(other), NULL, NULL, out, error);
  free(text);
  free(other);
  return status;
}

static vyre_status bits_are_counted(vyre_program *p, vyre_program **out, vyre_error *error) {
  return reword(p, "reverse_bits(", "popcount(", out, error);
}
static vyre_status smaller_is_larger(vyre_program *p, vyre_program **out, vyre_error *error) {
  return reword(p, "min(", "max(", out, error);
}
static vyre_status sums_go_down(vyre_program *p, vyre_program **out, vyre_error *error) {
  return reword(p, "atomic_add(", "atomic_sub(", out, error);
}
static vyre_status loops_end_early(vyre_program *p, vyre_program **out, vyre_error *error) {
  return reword(p, "break;", "return;", out, error);
}
static vyre_status other_lane(vyre_program *p, vyre_program **out, vyre_error *error) {
  return reword(p, "subgroup_inclusive_", "subgroup_exclusive_", out, error);
}
static vyre_status aborts(vyre_program *p, vyre_program **out, vyre_error *error) {
  vyre_status status = reword(p, "rotl(", "rotr(", out, error);
  if (*out != NULL && !vyre_program_equal(p, *out)) abort();
  return status;
}

static const variant planted[] = {
  { .name = "bits", .where = RUN_ORACLE, .transform = bits_are_counted },
  { .name = "min", .where = RUN_ENGINE, .target = TARGET_LEAST, .transform = smaller_is_larger },
  { .name = "sums", .where = RUN_ORACLE, .transform = sums_go_down },
  { .name = "loops", .where = RUN_ORACLE, .transform = loops_end_early },
  { .name = "lanes", .where = RUN_ENGINE, .target = TARGET_RAW, .transform = other_lane },
};

/* ---- Hunting ----------------------------------------------------------------------------------- */

static uint32_t lines_of(const char *text) {
  uint32_t lines = 0;
  for (const char *line = text; *line != 0; line += strcspn(line, "\n") + 1)
    lines += *line != '\n' && strncmp(line, "//", 2) != 0;
  return lines;
}

static void check_small(const finding *found, const char *name) {
  ck_assert_ptr_nonnull(found->text);
  ck_assert_msg(lines_of(found->text) <= MOST_LINES, "%s: %u lines:\n%s", name, lines_of(found->text), found->text);
  ck_assert_ptr_nonnull(strstr(found->text, "// case grid "));
}

/* Looks for a program of two hundred statements on which the variant differs, and makes it small. */
static bool hunt_down(hunt *h, const variant *v, uint64_t seed) {
  vyre_error error = VYRE_ERROR_INIT;
  verdict found;
  finding small;
  run_case c;
  vyre_program *p = hunt_program(h, seed, &error);
  ck_assert_msg(p != NULL, "seed %llu: %s", (unsigned long long)seed, error.text);
  hunt_case(h, seed, p, &c);
  variants_check(&h->room, v, 1, p, &c, NULL, &found);
  if (found.failed == v) {
    hunt_shrink(h, v, p, &c, found.text, false, &small);
    check_small(&small, v->name);
    free(small.text);
  }
  vyre_program_release(p);
  return found.failed == v;
}

START_TEST(planted_defects_come_down_to_a_few_lines) {
  hunt h = { .options = { .reproducible = true, .statements = 200 } };
  ck_assert(variants_open(&h.room));
  for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
    uint32_t count = 0;
    for (uint64_t seed = 1; seed <= 300 && count < 1; seed++) count += hunt_down(&h, &planted[i], seed);
    ck_assert_msg(count > 0, "%s was never seen", planted[i].name);
  }
  variants_close(&h.room);
}
END_TEST

START_TEST(so_do_those_that_end_the_process) {
  static const variant v = { .name = "aborts", .where = RUN_ORACLE, .transform = aborts };
  hunt h = { .options = { .reproducible = true, .statements = 100 }, .isolate = true };
  vyre_error error = VYRE_ERROR_INIT;
  finding small;
  run_case c;
  ck_assert(variants_open(&h.room));
  vyre_program *p = hunt_program(&h, 3, &error);
  ck_assert_ptr_nonnull(p);
  hunt_case(&h, 3, p, &c);
  hunt_shrink(&h, &v, p, &c, "ended", true, &small);
  check_small(&small, "aborts");
  ck_assert_ptr_nonnull(strstr(small.text, "rotl("));
  free(small.text);
  vyre_program_release(p);
  variants_close(&h.room);
}
END_TEST

START_TEST(a_case_is_read_as_it_was_written) {
  char line[256], again[256];
  run_case c = { .grid = { 1, 2, 3 }, .subgroup = 8, .ulp = VYRE_ULP_UNSET, .steps = 5, .work_budget = 6, .elements = 7,
                 .seed = UINT64_MAX, .mixed = true }, read;
  run_case_write(&c, line, sizeof line);
  ck_assert(run_case_read(&read, line));
  run_case_write(&read, again, sizeof again);
  ck_assert_str_eq(line, again);
  ck_assert(!run_case_read(&read, "case grid 1 2"));
}
END_TEST

int main(void) {
  const TTest *const tests[] = { planted_defects_come_down_to_a_few_lines, so_do_those_that_end_the_process,
                                 a_case_is_read_as_it_was_written, NULL };
  return run_suite("lower/variants", 120, tests);
}
