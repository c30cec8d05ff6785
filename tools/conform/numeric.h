/* What the numeric checks share: a program is tried where the device claims what it needs, and what was left out is
 * told at the end. */
#ifndef VYRE_CONFORM_NUMERIC_H
#define VYRE_CONFORM_NUMERIC_H

#include "checks.h"
#include "numeric_values.h"

/* Enough for the text of one program. */
enum { NUMERIC_TEXT = 8192 };

typedef enum numeric_outcome {
  NUMERIC_SAME,
  NUMERIC_UNCLAIMED, /* the device says that it can not do this */
  NUMERIC_DIFFERS    /* kit_fail was called */
} numeric_outcome;

/* Compares a case, of which |text| or |program| is given, with the oracle; in both orders of its lanes if |both|. */
numeric_outcome numeric_try(kit *k, const kit_case *c, bool both);
/* Parses the text of a case whose device has what it needs; NULL if it has not, or with a kit_fail. */
vyre_program *numeric_claimed(kit *k, const char *text, const vyre_compile_options *options);
/* Ends a check: without any program that the device claims it is skipped, and what was left out is noted. */
void numeric_conclude(kit *k);

/* snprintf for texts of programs. The kit's own texts fit. */
__attribute__((format(printf, 2, 3))) void numeric_print(char text[NUMERIC_TEXT], const char *format, ...);
/* Writes |pattern| with each $1 to $9 replaced by that word. */
void numeric_expand(char text[NUMERIC_TEXT], const char *pattern, const char *const *words);
/* "f32x2". */
const char *numeric_spelling(vyre_type type);
/* The type of as many bytes in whose elements every bit is compared: floats may differ in the bits of a NaN. */
vyre_type numeric_words(vyre_type type);
/* A column as the input of the buffer |name|. */
kit_buffer numeric_input(const char *name, const numeric_column *column);
kit_buffer numeric_output(const char *name, uint64_t elements);

#endif
