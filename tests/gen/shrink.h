/* Makes a program that fails small: what is left has the same fault and little else, so that a person can read it.
 *
 * It works on the canonical text, which says all that a program is, and tries what deletes or simplifies a piece of it:
 * statements, arms and bodies of blocks, variables, operands, literals, lengths, the workgroup, attributes. What the
 * parser takes, and what is simpler than before, is tried with the caller's predicate; whatever still fails is kept.
 * The same program and predicate give the same result. */
#ifndef VYRE_TESTS_SHRINK_H
#define VYRE_TESTS_SHRINK_H

#include <vyre/ir.h>

/* Whether a program has the fault. It must not ask for what depends on races: a candidate may have lost its barriers,
 * so one that compares two runs also checks that each gives the same answer in another order. */
typedef bool (*shrink_fails)(vyre_program *candidate, void *ctx);

/* A number beside the program that the predicate reads, and that is reduced too: an axis of the grid, say. */
typedef struct shrink_number {
  uint64_t *value;
  uint64_t least;
} shrink_number;

typedef struct shrink_options {
  uint32_t max_tests; /* calls of the predicate; 0 for 5000 */
  const shrink_number *numbers;
  uint32_t number_count;
} shrink_options;

typedef struct shrink_report {
  uint32_t tests;  /* calls of the predicate */
  uint32_t parsed; /* candidates, with those that are no program */
} shrink_report;

/* Reduces |program|, which fails. |options| and |report| may be NULL. The caller owns *out; where nothing could be
 * reduced it is |program| once more. Errors: NO_MEMORY. */
vyre_status shrink_program(vyre_program *program, shrink_fails still_fails, void *ctx, const shrink_options *options,
                           vyre_program **out, shrink_report *report);

/* Writes DIRECTORY/NAME.vyre: |comment|, each of its lines as a comment, and the canonical text. An existing file is
 * replaced. Errors: IO, NO_MEMORY. */
vyre_status shrink_save(const char *directory, const char *name, const char *comment, const vyre_program *program,
                        vyre_error *error);

#endif
