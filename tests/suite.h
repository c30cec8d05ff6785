/* The end of a test program: one suite from a list of tests that NULL ends. */
#ifndef VYRE_TESTS_SUITE_H
#define VYRE_TESTS_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sanitizers make programs about ten times as slow: long tests go on for a tenth of the rounds there. VYRE_SHORT_TESTS=1
 * asks for that elsewhere. */
static inline bool suite_is_short(void) {
  const char *asked = getenv("VYRE_SHORT_TESTS"), *sanitizers = getenv("VYRE_SANITIZERS");
  return (asked != NULL && asked[0] != 0) || (sanitizers != NULL && strcmp(sanitizers, "no") != 0);
}
static inline uint64_t suite_rounds(uint64_t wanted) { return suite_is_short() ? (wanted + 9) / 10 : wanted; }

/* Runs the tests, each in a process of its own and for at most |seconds|; gives what main returns. */
static inline int run_suite(const char *name, double seconds, const TTest *const tests[]) {
  Suite *suite = suite_create(name);
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, seconds);
  suite_add_tcase(suite, all);
  for (; *tests != NULL; tests++) tcase_add_test(all, *tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}

#endif
