/* Passes as text: what they make of a program, in golden/. A file NAME.vyre holds cases, and NAME.out what becomes of
 * each. A case begins with a line that says what is done, more comments may follow, then comes the program:
 *   // passes: dce, cse     these passes, once each
 *   // level: 2             all passes of a level
 * To take new texts: run the test with GOLDEN_UPDATE=1, and look at the difference. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/opt.h>
#include <vyre/text.h>

#include "../suite.h"

enum { ROOM = 1 << 20 };
static const char by_passes[] = "// passes:", by_level[] = "// level:";

static void path_of(char path[4096], const char *name, const char *suffix) {
  const char *root = getenv("top_srcdir");
  snprintf(path, 4096, "%s/tests/opt/golden/%s%s", root != NULL ? root : ".", name, suffix);
}

/* "" for what is not there. */
static char *read_file(const char *name, const char *suffix) {
  char path[4096], *text = calloc(1, ROOM);
  path_of(path, name, suffix);
  FILE *file = fopen(path, "r");
  if (file == NULL) return text;
  size_t bytes = fread(text, 1, ROOM - 1, file);
  ck_assert_msg(bytes < ROOM - 1, "%s is too long", path);
  fclose(file);
  return text;
}

static vyre_program *parse(const char *name, const char *text) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_diagnostics *diagnostics;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create(name, text, strlen(text), &diagnostics), VYRE_OK);
  if (vyre_text_parse(text, strlen(text), NULL, diagnostics, &program, &error) != VYRE_OK)
    ck_abort_msg("%s\n%s\n%s", error.text, vyre_diagnostics_render(diagnostics), text);
  vyre_diagnostics_destroy(diagnostics);
  return program;
}

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
  vyre_program *program = parse(name, text), *out;
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
  char *all = calloc(1, ROOM);
  size_t used = 0;
  ck_assert_msg(begins_case(source), "%s does not begin with `%s` or `%s`", name, by_passes, by_level);
  for (char *at = source, *next; *at != 0; at = next) {
    next = next_case(at);
    char kept = *next;
    *next = 0;
    char *result = optimize(name, at);
    int head = (int)head_bytes(at);
    used += (size_t)snprintf(all + used, ROOM - used, "%s%.*s%s", used > 0 ? "\n" : "", head, at, result);
    ck_assert_msg(used < ROOM, "%s: too long", name);
    free(result);
    *next = kept;
  }
  return all;
}

static void write_file(const char *name, const char *text) {
  char path[4096];
  path_of(path, name, ".out");
  FILE *file = fopen(path, "w");
  ck_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* The line in which two texts differ first. */
static uint32_t first_difference(const char *a, const char *b) {
  uint32_t line = 1;
  for (; *a == *b && *a != 0; a++, b++) line += *a == '\n';
  return line;
}

static void check(const char *name) {
  char *source = read_file(name, ".vyre"), *golden = read_file(name, ".out"), *results = results_of(name, source);
  if (getenv("GOLDEN_UPDATE") != NULL) write_file(name, results);
  else if (strcmp(results, golden) != 0)
    ck_abort_msg("tests/opt/golden/%s.out differs from line %u on; it is now:\n%s", name,
                 first_difference(results, golden), results);
  free(source);
  free(golden);
  free(results);
}

START_TEST(programs_become_what_is_golden) {
  char path[4096];
  path_of(path, "", "");
  DIR *directory = opendir(path);
  ck_assert_msg(directory != NULL, "%s can't be read", path);
  uint32_t count = 0;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    char *dot = strrchr(entry->d_name, '.');
    if (dot == NULL || strcmp(dot, ".vyre") != 0) continue;
    *dot = 0;
    check(entry->d_name);
    count++;
  }
  closedir(directory);
  ck_assert_uint_ge(count, 1);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { programs_become_what_is_golden, NULL };
  return run_suite("opt/golden", 60, tests);
}
