/* Kernels as text: one program a construct in golden/, with the kernel that it becomes beside it. Lines at the start of
 * a program say for which target (targets.h), and with which step limit, it is lowered:
 *   // target least      all (the default), engine, scalar, raw, least
 *   // steps 5
 * To take new texts: run the test with VYRE_UPDATE_GOLDEN=1, and look at the difference. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "../suite.h"
#include "targets.h"

static void path_of(char path[4096], const char *name, const char *suffix) {
  const char *root = getenv("top_srcdir");
  snprintf(path, 4096, "%s/tests/lower/golden/%s%s", root != NULL ? root : ".", name, suffix);
}

static char *read_file(const char *name, const char *suffix) {
  char path[4096];
  path_of(path, name, suffix);
  FILE *file = fopen(path, "r");
  char *text = calloc(1, 1 << 20);
  if (file == NULL) return text;
  size_t bytes = fread(text, 1, (1 << 20) - 1, file);
  text[bytes] = 0;
  fclose(file);
  return text;
}

static vyre_lower_options options_of(const char *text) {
  static const char *const names[] = { "all", "engine", "scalar", "raw", "least" };
  const char *wanted = strstr(text, "// target "), *steps = strstr(text, "// steps ");
  uint32_t t = TARGET_ALL;
  for (uint32_t i = 0; wanted != NULL && i < TARGETS; i++)
    if (strncmp(wanted + 10, names[i], strlen(names[i])) == 0) t = i;
  vyre_lower_options o = target_options(t);
  if (steps != NULL) {
    o.compile_flags |= VYRE_COMPILE_STEPS;
    o.steps = strtoull(steps + 9, NULL, 10);
  }
  return o;
}

static vyre_program *parse(const char *name, const char *text) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_diagnostics *diagnostics;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create(name, text, strlen(text), &diagnostics), VYRE_OK);
  if (vyre_text_parse(text, strlen(text), NULL, diagnostics, &program, &error) != VYRE_OK)
    ck_abort_msg("%s\n%s", error.text, vyre_diagnostics_render(diagnostics));
  vyre_diagnostics_destroy(diagnostics);
  return program;
}

static void check(const char *name) {
  char *source = read_file(name, ".vyre"), *golden = read_file(name, ".kernel"), *text;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program = parse(name, source);
  vyre_lower_options options = options_of(source);
  uint8_t *kernel, *again;
  size_t bytes, bytes_again;
  if (vyre_lower(program, &options, &kernel, &bytes, &error) != VYRE_OK) ck_abort_msg("%s: %s", name, error.text);
  ck_assert_int_eq(vyre_lower(program, &options, &again, &bytes_again, &error), VYRE_OK);
  ck_assert_msg(bytes == bytes_again && memcmp(kernel, again, bytes) == 0, "%s: not the same bytes again", name);
  if (vyre_kernel_print(kernel, bytes, &text, NULL, &error) != VYRE_OK) ck_abort_msg("%s: %s", name, error.text);
  if (getenv("VYRE_UPDATE_GOLDEN") != NULL) {
    char path[4096];
    path_of(path, name, ".kernel");
    FILE *file = fopen(path, "w");
    ck_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
  } else {
    if (strcmp(text, golden) != 0) fprintf(stderr, "%s is now:\n%s", name, text);
    ck_assert_msg(strcmp(text, golden) == 0, "the kernel of %s differs from tests/lower/golden/%s.kernel", name, name);
  }
  free(kernel);
  free(again);
  free(text);
  free(source);
  free(golden);
  vyre_program_release(program);
}

START_TEST(kernels_are_golden) {
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
  ck_assert_uint_ge(count, 15);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { kernels_are_golden, NULL };
  return run_suite("lower/golden", 30, tests);
}
