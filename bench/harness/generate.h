/* How inputs are made and recognised: one mixing function, streams of it, and one digest. The definitions are those of
 * docs/benchmarks.md, so that anyone can make the same bytes. */
#ifndef VYRE_BENCH_GENERATE_H
#define VYRE_BENCH_GENERATE_H

#include <stddef.h>
#include <stdint.h>

/* All arithmetic wraps. */
static inline uint32_t bench_mix32(uint32_t v) {
  v ^= v >> 16;
  v *= 0x7FEB352Du;
  v ^= v >> 15;
  v *= 0x846CA68Bu;
  v ^= v >> 16;
  return v;
}

/* Number |i| of stream |s|: H(s, i), and as f32 in [0, 1): U(s, i). */
static inline uint32_t bench_hash(uint32_t s, uint32_t i) {
  return bench_mix32(i ^ bench_mix32(s));
}
static inline float bench_uniform(uint32_t s, uint32_t i) {
  return (float)(bench_hash(s, i) >> 8) * 0x1p-24f;
}

/* FNV-1a 64 of the bytes of an array as stored. */
#define BENCH_FNV_BASIS 0xcbf29ce484222325u
#define BENCH_FNV_PRIME 0x100000001b3u
uint64_t bench_fnv(const void *bytes, size_t count);

#endif
