/* What every function of f32 does around its form: signs, NaNs, exceptions. */
#include "lower/transcend_exact.h"

#include "lower/transcend.h"
#include "lower/transcend_emit.h"

enum symmetry { NONE, ODD, EVEN };
enum form { PAIR = 1, F64 = 2, F32 = 4, ALL = 7 };

typedef struct function {
  uint32_t op;
  enum symmetry symmetry;
  uint32_t most;
} function;

static const struct {
  uint32_t op;
  uint8_t forms; /* enum form */
  uint32_t input, output;
} exceptions[] = {
#define FUNCTION(NAME, name, symmetry, most)
#define EXCEPTION(NAME, forms, input, output) { VYRE_KERNEL_##NAME, forms, input, output },
#include "lower/transcend_exact.def"
#undef FUNCTION
#undef EXCEPTION
};

static lower_value with_exceptions(lower_code *b, const function *f, enum form form, lower_value x, lower_value y) {
  for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
    if (exceptions[i].op != f->op || (exceptions[i].forms & form) == 0) continue;
    lower_value found = t_eq(b, x, t_u32(b, exceptions[i].input));
    y = t_select(b, found, t_u32(b, exceptions[i].output), y);
  }
  return y;
}

/* No value: above the largest magnitude, NaNs among them, and for logarithms all that is below -0. */
static lower_value is_invalid(lower_code *b, const function *f, lower_value bits, lower_value magnitude) {
  lower_value above = t_lt(b, t_u32(b, f->most), magnitude);
  if (f->op != VYRE_KERNEL_LOG && f->op != VYRE_KERNEL_LOG2) return above;
  return t_or(b, above, t_lt(b, t_u32(b, 0x80000000), bits));
}

static lower_value whole(lower_code *b, const function *f, enum form form, lower_value x, transcend_builder build) {
  lower_value bits = t_convert(b, BITCAST, U32, x), magnitude = t_and(b, bits, t_u32(b, 0x7FFFFFFF));
  lower_value in = f->symmetry == NONE ? bits : magnitude;
  lower_value y = with_exceptions(b, f, form, in, build(b, in));
  if (f->symmetry == ODD) y = t_xor(b, y, t_and(b, bits, t_u32(b, 0x80000000)));
  y = t_select(b, is_invalid(b, f, bits, magnitude), t_u32(b, 0x7FC00000), y);
  return t_convert(b, BITCAST, F32, y);
}

#define FUNCTION(NAME, name, symmetry, most)                                    \
  static const function function_##name = { VYRE_KERNEL_##NAME, symmetry, most }; \
  lower_value lower_##name##_pair(lower_code *c, lower_value x) {               \
    return whole(c, &function_##name, PAIR, x, name##_pair);                    \
  }                                                                             \
  lower_value lower_##name##_f64(lower_code *c, lower_value x) {                \
    return whole(c, &function_##name, F64, x, name##_f64);                      \
  }                                                                             \
  lower_value lower_##name##_f32(lower_code *c, lower_value x) {                \
    return whole(c, &function_##name, F32, x, name##_f32);                      \
  }
#define EXCEPTION(NAME, forms, input, output)
#include "lower/transcend_exact.def"
#undef FUNCTION
#undef EXCEPTION
