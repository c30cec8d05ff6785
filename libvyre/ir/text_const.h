/* Constants of the text form: exact integers of 128 bits, and literals as bits of a type. */
#ifndef VYRE_IR_TEXT_CONST_H
#define VYRE_IR_TEXT_CONST_H

#include <vyre/ir.h>

typedef __int128 text_int;

/* Computes an operator of untyped integers: + - * / % << >> & | ^ min max, and unary minus (|y| is not read).
 * NULL if it went well, else what went wrong (static storage). A zero divisor gives text_zero_divisor. */
const char *text_fold(vyre_op op, text_int x, text_int y, text_int *out);
extern const char text_zero_divisor[];
/* Whether text_fold knows it. */
bool text_folds(vyre_op op);

/* The value as bits of a scalar arithmetic type: in range, and exact for floats. False if it is neither. Not for bool.
 */
bool text_int_bits(vyre_type type, text_int value, uint64_t *bits);
/* The value of integer bits. */
text_int text_int_value(vyre_type type, uint64_t bits);

typedef enum text_float_result { TEXT_FLOAT_OK, TEXT_FLOAT_RANGE, TEXT_FLOAT_MEMORY } text_float_result;

/* Rounds the digits of a float literal (without sign and suffix) once to f32 or f64, to nearest even, whatever the
 * locale. RANGE if that is infinite. */
text_float_result text_float_bits(vyre_type type, const char *digits, uint32_t bytes, uint64_t *bits);

/* Computes + - * / min max and unary minus of two floats of a type; false for other operators. */
bool text_fold_float(vyre_op op, vyre_type type, uint64_t x, uint64_t y, uint64_t *out);

enum { TEXT_NUMBER_BYTES = 64 };
/* Writes a finite f32 or f64 with the fewest digits that parse back, always with a point or an exponent. */
void text_write_float(char out[TEXT_NUMBER_BYTES], vyre_type type, uint64_t bits);
/* Writes an integer of a type. */
void text_write_int(char out[TEXT_NUMBER_BYTES], text_int value);

/* The bits that a literal of |element|'s value type has as an element in memory. */
uint64_t text_narrow(vyre_type element, uint64_t bits);
/* The reverse: the value that a load of these bits gives. */
uint64_t text_widen(vyre_type element, uint64_t bits);

#endif
