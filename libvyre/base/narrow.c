/* binary16 and bfloat16. No floating-point operation is used, so no mode of the processor matters. */
#include "base/narrow.h"

enum { F32_QUIET_NAN = 0x7FC00000 };

/* |value| with its lowest |drop| bits rounded off, to nearest, ties to even. drop is 1 to 31. */
static uint32_t round_off(uint32_t value, uint32_t drop) {
  uint32_t half = 1u << (drop - 1);
  uint32_t rest = value & ((half << 1) - 1);
  uint32_t kept = value >> drop;
  return kept + (rest > half || (rest == half && (kept & 1)));
}

uint16_t vyre_f16_from_f32(uint32_t bits) {
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return 0x7E00;
  if (magnitude >= 0x47800000) return (uint16_t)(sign | 0x7C00); /* 2^16 and above */
  /* Rounding may carry into the exponent, which is then the right result, infinity included. */
  if (magnitude >= 0x38800000) return (uint16_t)(sign | round_off(magnitude - 0x38000000, 13));
  if (magnitude < 0x33000000) return (uint16_t)sign; /* below 2^-25 */
  uint32_t significand = (magnitude & 0x7FFFFF) | 0x800000;
  return (uint16_t)(sign | round_off(significand, 126 - (magnitude >> 23)));
}

uint16_t vyre_bf16_from_f32(uint32_t bits) {
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FC0;
  return (uint16_t)((bits & 0x80000000) >> 16 | round_off(bits & 0x7FFFFFFF, 16));
}

uint32_t vyre_f32_from_f16(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t exponent = half >> 10 & 31, fraction = half & 0x3FF;
  if (exponent == 31) return fraction ? F32_QUIET_NAN : sign | 0x7F800000;
  if (exponent != 0) return sign | (exponent + 112) << 23 | fraction << 13;
  if (fraction == 0) return sign;
  uint32_t shift = (uint32_t)__builtin_clz(fraction) - 21; /* brings the leading one to bit 10 */
  return sign | (113 - shift) << 23 | ((fraction << shift) & 0x3FF) << 13;
}

uint32_t vyre_f32_from_bf16(uint16_t brain) {
  if ((brain & 0x7FFF) > 0x7F80) return F32_QUIET_NAN;
  return (uint32_t)brain << 16;
}
