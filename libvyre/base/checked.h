/* Checked arithmetic on sizes: every product or sum that comes from outside goes through here. */
#ifndef VYRE_BASE_CHECKED_H
#define VYRE_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False, and *out unspecified, if the result does not fit. */
static inline bool vyre_mul_u64(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool vyre_add_u64(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool vyre_mul_size(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool vyre_add_size(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }

/* |value| rounded up to a multiple of |align|, a power of two; false if that does not fit. */
static inline bool vyre_align_u64(uint64_t value, uint64_t align, uint64_t *out) {
  if (!vyre_add_u64(value, align - 1, out)) return false;
  *out &= ~(align - 1);
  return true;
}

#endif
