/* Elements of buffers. Plain accesses are plain; atomics are those of C, of the order that is stated. The address is
 * that of an element in range, aligned to its size. */
#ifndef CPU_MEMORY_H
#define CPU_MEMORY_H

#include "code.h"

void cpu_load(vyre_type element, const uint8_t *at, cpu_cell *out);
void cpu_store(vyre_type element, uint8_t *at, const cpu_cell *in);

/* ATOMIC_*: |value| is the operand (of CAS the expected one), |desired| the new one of a CAS. |old| gets the value
 * before; it is 0 for a store. */
void cpu_atomic(vyre_op op, vyre_type element, vyre_order order, uint8_t *at, uint64_t value, uint64_t desired,
                cpu_cell *old);
void cpu_fence(vyre_order order);

/* Whether 16 bytes can be read in one access here. */
bool cpu_can_load128(void);

#endif
