/* Transcendental functions, rounded correctly to f32 and to within 1 ulp of f64.
 *
 * The C library's long double functions carry 64 bits and err by a few units of the last. Rounding such a value to
 * the 24 bits of an f32 is right unless the exact one lies within that error of the middle between two
 * neighbours. So the value is moved both ways by 2^-56 of itself, dozens of times the error: if both round to
 * the same f32, that is the answer. An f32 function has only 2^32 inputs, and a search over all of them
 * (tests/cpu_ref/transcend.c) has found those where the two differ: the table below holds them with answers from
 * a multiple-precision library.
 *
 * For f64, rounding the long double adds a few 2^-11 ulp to the half ulp that rounding costs. */
#include "transcend.h"

#include <float.h>
#include <math.h>
#include <string.h>

_Static_assert(LDBL_MANT_DIG >= 64, "long double must have 64 bits of precision for correct rounding to f32");

typedef long double (*wide_fn)(long double);

static wide_fn wide_function(vyre_op op) {
  switch (op) {
    case VYRE_OP_EXP: return expl;
    case VYRE_OP_EXP2: return exp2l;
    case VYRE_OP_LOG: return logl;
    case VYRE_OP_LOG2: return log2l;
    case VYRE_OP_SIN: return sinl;
    case VYRE_OP_COS: return cosl;
    case VYRE_OP_TAN: return tanl;
    case VYRE_OP_ASIN: return asinl;
    case VYRE_OP_ACOS: return acosl;
    case VYRE_OP_ATAN: return atanl;
    case VYRE_OP_SINH: return sinhl;
    case VYRE_OP_COSH: return coshl;
    case VYRE_OP_TANH: return tanhl;
    default: return NULL;
  }
}

bool cpu_is_transcendental(vyre_op op) {
  return wide_function(op) != NULL;
}

/* Inputs whose value lies within 2^-56 of the middle between two f32. */
static const struct hard_case {
  uint32_t op, input, output;
} hard_cases[] = {
  { VYRE_OP_EXP2, 0xBCF3A937, 0x3F7AC6B1 },
  { VYRE_OP_EXP2, 0xB52D1F9A, 0x3F7FFFF8 },
  { VYRE_OP_EXP2, 0xC3160000, 0x00000000 }, /* -150: exactly between 0 and the smallest subnormal */
  { VYRE_OP_LOG, 0x4C5D65A5, 0x418F034B },
  { VYRE_OP_LOG, 0x65D890D3, 0x4254D1F9 },
  { VYRE_OP_ACOS, 0x39826222, 0x3FC907B5 },
};

static bool find_hard_case(vyre_op op, uint32_t input, uint32_t *output) {
  for (size_t i = 0; i < sizeof hard_cases / sizeof *hard_cases; i++) {
    if (hard_cases[i].op != op || hard_cases[i].input != input) continue;
    *output = hard_cases[i].output;
    return true;
  }
  return false;
}

static float f32_value(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t f32_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return isnan(value) ? 0x7FC00000 : bits;
}

uint32_t cpu_math_f32(vyre_op op, uint32_t x) {
  long double value = wide_function(op)((long double)f32_value(x));
  if (!isfinite(value) || value == 0) return f32_bits((float)value);
  long double slack = fabsl(value) * 0x1p-56L;
  float below = (float)(value - slack), above = (float)(value + slack);
  uint32_t output;
  if (f32_bits(below) != f32_bits(above) && find_hard_case(op, x, &output)) return output;
  return f32_bits((float)value);
}

uint64_t cpu_math_f64(vyre_op op, uint64_t x) {
  double value;
  memcpy(&value, &x, sizeof value);
  value = (double)wide_function(op)((long double)value);
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return isnan(value) ? 0x7FF8000000000000 : bits;
}
