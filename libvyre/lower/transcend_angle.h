/* The argument of sin, cos and tan, reduced with words in both forms. */
#ifndef VYRE_LOWER_TRANSCEND_ANGLE_H
#define VYRE_LOWER_TRANSCEND_ANGLE_H

#include "lower/transcend_pair.h"

/* x / (pi/2) = quadrant + f, |f| <= 1/2. */
typedef struct angle_parts {
  lower_value quadrant; /* modulo 4 in the two low bits; the others hold anything */
  lower_value sign;     /* of f, in bit 31; the others are 0 */
  lower_value f[3];     /* |f| as a fraction, first word highest */
} angle_parts;

/* |x| is the bits of a positive finite f32; below 2^-13 as if its exponent were -13. */
angle_parts lower_angle_parts(lower_code *b, lower_value x);

/* Parts of a normal f32 by its bits: mantissa, with the leading one at the top of the word, and biased exponent. */
lower_value lower_mantissa(lower_code *b, lower_value x);
lower_value lower_exponent(lower_code *b, lower_value x);

#endif
