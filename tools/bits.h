/* Elements of results as bits, which is how they are compared: they agree bit by bit, and only the payload of a NaN is
 * free. */
#ifndef VYRE_TOOLS_BITS_H
#define VYRE_TOOLS_BITS_H

#include <string.h>

#include <vyre/ir.h>

static inline uint64_t bits_at(const uint8_t *bytes, uint32_t size) {
  uint64_t bits = 0;
  memcpy(&bits, bytes, size);
  return bits;
}

static inline bool bits_are_nan(vyre_type type, uint64_t bits) {
  switch (type) {
  case VYRE_TYPE_F16: return (bits & 0x7FFF) > 0x7C00;
  case VYRE_TYPE_BF16: return (bits & 0x7FFF) > 0x7F80;
  case VYRE_TYPE_F32: return (bits & 0x7FFFFFFF) > 0x7F800000;
  case VYRE_TYPE_F64: return (bits & 0x7FFFFFFFFFFFFFFF) > 0x7FF0000000000000;
  default: return false;
  }
}

#endif
