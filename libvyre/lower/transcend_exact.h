/* The three forms of each function, before exceptions and special values: transcend_exact.c adds these. Each takes the
 * bits of x, of |x| where the function is odd or even, and gives the bits of the value. */
#ifndef VYRE_LOWER_TRANSCEND_EXACT_H
#define VYRE_LOWER_TRANSCEND_EXACT_H

#include "lower/code.h"

#define FUNCTION(NAME, name, symmetry, most)              \
  lower_value name##_pair(lower_code *b, lower_value x); \
  lower_value name##_f64(lower_code *b, lower_value x);  \
  lower_value name##_f32(lower_code *b, lower_value x);
#define EXCEPTION(NAME, forms, input, output)
#include "lower/transcend_exact.def"
#undef FUNCTION
#undef EXCEPTION

#endif
