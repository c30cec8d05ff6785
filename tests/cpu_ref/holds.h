/* ck_assert for inner loops: it notes nothing while all is well. */
#ifndef VYRE_TESTS_HOLDS_H
#define VYRE_TESTS_HOLDS_H

#include <check.h>

#define HOLDS(condition)                              \
  do {                                                \
    if (!(condition)) ck_abort_msg("%s", #condition); \
  } while (0)

#endif
