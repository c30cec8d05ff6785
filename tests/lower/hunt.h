/* The hunt for differences: a seed makes a program and a case, the variants run it, and what differs is made small and
 * kept. */
#ifndef VYRE_TESTS_LOWER_HUNT_H
#define VYRE_TESTS_LOWER_HUNT_H

#include "../gen/random_program.h"
#include "variants.h"

typedef struct hunt {
  const variant *variants;
  uint32_t variant_count;
  random_program_options options; /* |statements| 0: as the seed says */
  const char *directory;          /* where small programs are kept; NULL: nowhere */
  bool isolate;                   /* each candidate runs in a process of its own, so that it may crash or hang */
  uint32_t subgroup;              /* size that all use; 0: as the seed says */
  variants_room room;
} hunt;

/* Programs and cases of seeds. NULL if none can be made, and then |error| says why. */
vyre_program *hunt_program(const hunt *h, uint64_t seed, vyre_error *error);
void hunt_case(const hunt *h, uint64_t seed, const vyre_program *p, run_case *c);

enum { HUNT_NAME = 64, HUNT_SECONDS = 20 };
/* Ends the process by a signal after so many seconds of its own time, or much longer; 0 for no limit. */
void hunt_limit(uint32_t seconds);

/* What came of a difference: the small program's text, and how it was called. */
typedef struct finding {
  char name[HUNT_NAME];
  char *text; /* with what differs and the case as comments; free() */
} finding;

/* Makes a failing program small, with its case, and keeps it. |crashed|: the variant does not come back. */
void hunt_shrink(const hunt *h, const variant *v, vyre_program *p, const run_case *c, const char *what, bool crashed,
                 finding *out);

#endif
