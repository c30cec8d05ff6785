/* Programs that between them have every part of the kernel form, for checks that hand a plugin something broken. */
#ifndef VYRE_TOOLS_CONFORM_PROGRAMS_H
#define VYRE_TOOLS_CONFORM_PROGRAMS_H

#include <stdint.h>

/* A program and the VYRE_NEED_* bits that it has. */
typedef struct sample_program {
  const char *text;
  uint64_t needs;
} sample_program;
extern const sample_program sample_programs[];
extern const uint32_t sample_count;

#endif
