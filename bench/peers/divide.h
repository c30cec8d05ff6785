/* Division of u32 by a number that is known before a launch, as a multiplication: Granlund and Montgomery, "Division by
 * Invariant Integers using Multiplication", 1994, figure 4.1. */
#ifndef VYRE_BENCH_DIVIDE_H
#define VYRE_BENCH_DIVIDE_H

#include <stdint.h>

typedef struct divider {
  uint32_t divisor, magic;
  uint8_t first, second; /* shifts */
} divider;

static inline divider divider_of(uint32_t divisor) {
  uint32_t log = 0; /* rounded up */
  while (log < 32 && ((uint64_t)1 << log) < divisor) log++;
  uint64_t magic = ((((uint64_t)1 << log) - divisor) << 32) / divisor + 1;
  divider by = {divisor, (uint32_t)magic, (uint8_t)(log < 1 ? log : 1), (uint8_t)(log < 1 ? 0 : log - 1)};
  return by;
}

#ifdef __CUDACC__
__host__ __device__
#endif
static inline uint32_t divide(uint32_t x, divider by) {
#ifdef __CUDA_ARCH__
  uint32_t high = __umulhi(by.magic, x);
#else
  uint32_t high = (uint32_t)(((uint64_t)by.magic * x) >> 32);
#endif
  return (high + ((x - high) >> by.first)) >> by.second;
}

#endif
