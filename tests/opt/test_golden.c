/* Passes as text: what they make of a program, in golden/. A file NAME.vyre holds cases, and NAME.out what becomes of
 * each. A case begins with a line that says what is done, more comments may follow, then comes the program:
 *   // passes: dce, cse     these passes, once each
 *   // level: 2             all passes of a level
 * New texts are taken as tests/golden.h says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/opt.h>

#include "../golden.h"

static const char by_passes[] = "// passes:", by_level[] = "// level:";

static bool begins_case(const char *text) {
  return strncmp(text, by_passes, sizeof by_passes - 1) == 0 || strncmp(text, by_level, sizeof by_level - 1) == 0;
}

/* The next case behind the first line of this one; the end of the text if it is the last. */
static char *next_case(char *text) {
  while (*text != 0) {
    char *end = strchr(text, '\n');
    text = end != NULL ? end + 1 : text + strlen(text);
    if (begins_case(text)) break;
  }
  return text;
}

/* The comment lines at the start of a case. */
static size_t head_bytes(const char *text) {
  const char *at = text;
  while (strncmp(at, "//", 2) == 0) at += strcspn(at, "\n") + 1;
  return (size_t)(at - text);
}

static char *optimize(const char *name, const char *text) {
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program = golden_parse(name, text), *out;
  char list[512], *result;
  options.flags = VYRE_OPT_VERIFY | VYRE_OPT_ROUNDTRIP;
  if (strncmp(text, by_passes, sizeof by_passes - 1) == 0) {
    const char *names = text + sizeof by_passes - 1;
    snprintf(list, sizeof list, "%.*s", (int)strcspn(names, "\n"), names);
    options.passes = list;
  } else {
    options.level = (uint32_t)strtoul(text + sizeof by_level - 1, NULL, 10);
  }
  if (vyre_optimize(program, &options, &out, NULL, &error) != VYRE_OK)
    ck_abort_msg("%s: %s\n%s", name, error.text, text);
  ck_assert_int_eq(vyre_text_print(out, &result, NULL), VYRE_OK);
  vyre_program_release(program);
  vyre_program_release(out);
  return result;
}

/* What becomes of all cases of a file, each below its comments. */
static char *results_of(const char *name, char *source) {
  char *all = calloc(1, GOLDEN_ROOM);
  size_t used = 0;
  ck_assert_msg(begins_case(source), "%s does not begin with `%s` or `%s`", name, by_passes, by_level);
  for (char *at = source, *next; *at != 0; at = next) {
    next = next_case(at);
    char kept = *next;
    *next = 0;
    char *result = optimize(name, at);
    int head = (int)head_bytes(at);
    used += (size_t)snprintf(all + used, GOLDEN_ROOM - used, "%s%.*s%s", used > 0 ? "\n" : "", head, at, result);
    ck_assert_msg(used < GOLDEN_ROOM, "%s: too long", name);
    free(result);
    *next = kept;
  }
  return all;
}

static void check(const char *name) {
  char *source = golden_read("opt", name, ".vyre"), *results = results_of(name, source);
  golden_check("opt", name, ".out", results);
  free(source);
  free(results);
}

START_TEST(programs_become_what_is_golden) {
  ck_assert_uint_ge(golden_each("opt", check), 20);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { programs_become_what_is_golden, NULL };
  return run_suite("opt/golden", 60, tests);
}
