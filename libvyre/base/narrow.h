/* Conversions between f32 and the 16-bit float formats, by their bits alone. */
#ifndef VYRE_BASE_NARROW_H
#define VYRE_BASE_NARROW_H

#include <stdint.h>

/* To nearest even; NaN gives the quiet NaN 0x7E00 or 0x7FC0, overflow infinity. Subnormals are kept. */
uint16_t vyre_f16_from_f32(uint32_t bits);
uint16_t vyre_bf16_from_f32(uint32_t bits);
/* Exact; a NaN gives 0x7FC00000. */
uint32_t vyre_f32_from_f16(uint16_t half);
uint32_t vyre_f32_from_bf16(uint16_t brain);

#endif
