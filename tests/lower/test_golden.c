/* Kernels as text: one program a construct in golden/, with the kernel that it becomes beside it. Lines at the start of
 * a program say for which target (targets.h), and with which step limit, it is lowered:
 *   // target least      all (the default), engine, scalar, raw, least
 *   // steps 5
 * New texts are taken as tests/golden.h says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../golden.h"
#include "targets.h"

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

static void check(const char *name) {
  char *source = golden_read("lower", name, ".vyre"), *text;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program = golden_parse(name, source);
  vyre_lower_options options = options_of(source);
  uint8_t *kernel, *again;
  size_t bytes, bytes_again;
  if (vyre_lower(program, &options, &kernel, &bytes, &error) != VYRE_OK) ck_abort_msg("%s: %s", name, error.text);
  ck_assert_int_eq(vyre_lower(program, &options, &again, &bytes_again, &error), VYRE_OK);
  ck_assert_msg(bytes == bytes_again && memcmp(kernel, again, bytes) == 0, "%s: not the same bytes again", name);
  if (vyre_kernel_print(kernel, bytes, &text, NULL, &error) != VYRE_OK) ck_abort_msg("%s: %s", name, error.text);
  golden_check("lower", name, ".kernel", text);
  free(kernel);
  free(again);
  free(text);
  free(source);
  vyre_program_release(program);
}

START_TEST(kernels_are_golden) {
  ck_assert_uint_ge(golden_each("lower", check), 15);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { kernels_are_golden, NULL };
  return run_suite("lower/golden", 30, tests);
}
