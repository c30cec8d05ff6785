/* A program run twice on the same input: by the oracle as it is written, and by the engine of plugins/template as its
 * kernel. */
#ifndef VYRE_TESTS_LOWER_TWIN_H
#define VYRE_TESTS_LOWER_TWIN_H

#include "targets.h"

enum { TWIN_MAX = 64 };

typedef struct twin_options {
  target target;
  uint32_t grid[3];
  uint32_t subgroup;    /* size */
  uint32_t ulp;         /* VYRE_ULP_UNSET for none */
  uint64_t steps;       /* 0 for no limit */
  uint64_t work_budget;
  uint64_t elements;    /* of buffers whose length is free */
  uint64_t seed;        /* of contents and parameters */
  bool reverse;         /* the engine runs invocations backwards */
  bool masked;          /* masked accesses are compared too */
} twin_options;

/* What came of it: empty where both agree, else what differs. */
typedef struct twin_result {
  bool refused; /* one of them does not take the program; the text says why */
  bool trapped;
  char text[512];
} twin_result;

twin_result twin_run(vyre_program *program, const twin_options *options);

#endif
