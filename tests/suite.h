/* The end of a test program: one suite from a list of tests that NULL ends. */
#ifndef VYRE_TESTS_SUITE_H
#define VYRE_TESTS_SUITE_H

#include <check.h>

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
