/* The transcendental functions. */
#ifndef CPU_TRANSCEND_H
#define CPU_TRANSCEND_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/ir.h>

/* True if |op| is EXP, EXP2, ... TANH. */
bool cpu_is_transcendental(vyre_op op);

/* f32, correctly rounded to nearest even; a NaN gives 0x7FC00000. */
uint32_t cpu_math_f32(vyre_op op, uint32_t x);

/* f64 within 1 ulp; a NaN gives 0x7FF8000000000000. */
uint64_t cpu_math_f64(vyre_op op, uint64_t x);

#endif
