/* Targets to lower for: opcode tables from all that the engine has down to the least that everything can be expanded
 * to. */
#ifndef VYRE_TESTS_LOWER_TARGETS_H
#define VYRE_TESTS_LOWER_TARGETS_H

#include <vyre/lower.h>

typedef enum target {
  TARGET_ALL,     /* every opcode of the form */
  TARGET_ENGINE,  /* all that the engine of plugins/template knows */
  TARGET_SCALAR,  /* the same without vectors and narrow elements */
  TARGET_RAW,     /* the same with the narrower twins in place of total opcodes */
  TARGET_LEAST,   /* as few opcodes as there can be */
  TARGETS,
  TARGET_UNFUSED = TARGETS /* all that the engine knows, as if its fma had two roundings */
} target;

/* Options for one, without compile flags. The table lives as long as the program runs. */
vyre_lower_options target_options(target t);

#endif
