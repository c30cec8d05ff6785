/* The builders of transcend.def. Each emits, through code.h, what computes one function of one value. */
#ifndef VYRE_LOWER_TRANSCEND_H
#define VYRE_LOWER_TRANSCEND_H

#include "lower/code.h"

typedef lower_value (*transcend_builder)(lower_code *c, lower_value x);

/* With u32 alone and with f64, correctly rounded; and with f32, within what transcend.def says. */
#define FUNCTION(NAME, name, symmetry, most)                    \
  lower_value lower_##name##_pair(lower_code *c, lower_value x); \
  lower_value lower_##name##_f64(lower_code *c, lower_value x); \
  lower_value lower_##name##_f32(lower_code *c, lower_value x);
#define EXCEPTION(NAME, forms, input, output)
#include "lower/transcend_exact.def"
#undef FUNCTION
#undef EXCEPTION

#endif
