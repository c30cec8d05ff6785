/* Numbers of the storage formats: halves, and the shortest text of a float. */
#ifndef VYRE_TOOLS_NUMBER_H
#define VYRE_TOOLS_NUMBER_H

#include <stdint.h>

#include <vyre/ir.h>

#define NUMBER_TEXT_BYTES 32

/* To nearest even, as a store does. A NaN keeps its sign and the upper bits of its payload. */
uint16_t number_f16(float value);
uint16_t number_bf16(float value);
/* Exact. */
float number_from_f16(uint16_t bits);
float number_from_bf16(uint16_t bits);

/* Writes one scalar element of |type| at |element| as text that reads back as the same value: integers in decimal,
 * floats in the fewest digits, "-0.0" (since -0 is an integer literal), "inf", "nan", a bool as 0 or 1. */
void number_print(vyre_type type, const void *element, char text[NUMBER_TEXT_BYTES]);

/* Reads one scalar element of |type| from a literal of the language (for narrow types: one of the type that widens
 * them, whose value must be in range; for halves it is rounded), or 0 and 1 for bool. The element goes to |element|.
 * Errors: as vyre_text_literal. */
vyre_status number_parse(vyre_type type, const char *text, void *element, vyre_error *error);

#endif
