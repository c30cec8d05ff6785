/* A program run twice on the same input: by the oracle as it is written, and by the engine of plugins/template as its
 * kernel. */
#ifndef VYRE_TESTS_LOWER_TWIN_H
#define VYRE_TESTS_LOWER_TWIN_H

#include "outcome.h"
#include "targets.h"

typedef struct twin_options {
  run_case input;
  target target;
  bool reverse; /* the engine runs invocations backwards */
  bool masked;  /* masked accesses are compared too */
} twin_options;

/* What came of it: empty where both agree, else what differs. */
typedef struct twin_result {
  bool refused; /* one of them does not take the program; the text says why */
  bool trapped;
  char text[512];
} twin_result;

twin_result twin_run(vyre_program *program, const twin_options *options);

#endif
