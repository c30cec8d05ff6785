/* The digest; the streams stand in the header. */
#include "generate.h"

uint64_t bench_fnv(const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint64_t h = BENCH_FNV_BASIS;
  for (size_t i = 0; i < count; i++) h = (h ^ at[i]) * BENCH_FNV_PRIME;
  return h;
}
