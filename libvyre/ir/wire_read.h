/* Reading the primitives of the wire form: bytes, numbers, types. A fault is remembered where it was found, and
 * everything behind it reads as the end, so that callers may ask late. */
#ifndef VYRE_IR_WIRE_READ_H
#define VYRE_IR_WIRE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/ir.h>

#include "ir/wire.h"

typedef struct wire_reader {
  const uint8_t *start, *at, *end;
  vyre_error *error; /* filled by the first fault; may be NULL */
  vyre_status status;
} wire_reader;

/* Records that the bytes at |at| are no wire form, and ends reading. The text says what was wanted and found. */
__attribute__((format(printf, 3, 4), cold)) void wire_refuse(wire_reader *r, const uint8_t *at, const char *format,
                                                             ...);
/* The same for memory that ran out. */
void wire_out_of_memory(wire_reader *r);
/* The same for bytes that end inside something. Gives 0. */
__attribute__((cold)) uint32_t wire_truncated(wire_reader *r);

static inline size_t wire_left(const wire_reader *r) { return (size_t)(r->end - r->at); }

static inline uint32_t wire_u8(wire_reader *r) { return r->at < r->end ? *r->at++ : wire_truncated(r); }

/* A number of at most |most| in LEB128, 7 bits a byte from the lowest, in as few bytes as it can be; |what| names it
 * in messages. */
uint64_t wire_long_leb(wire_reader *r, uint64_t most, const char *what);
static inline uint64_t wire_leb(wire_reader *r, uint64_t most, const char *what) {
  if (r->at < r->end && *r->at < 0x80 && *r->at <= most) return *r->at++;
  return wire_long_leb(r, most, what);
}
static inline uint32_t wire_leb32(wire_reader *r, uint32_t most, const char *what) {
  return (uint32_t)wire_leb(r, most, what);
}

/* |bytes| bytes (at most 8), lowest first. */
uint64_t wire_fixed(wire_reader *r, uint32_t bytes);
/* A type; NONE after a fault. */
vyre_type wire_long_type(wire_reader *r);
extern const uint8_t wire_type_of_key[]; /* scalars by their tag, and what only wire_long_type knows */
static inline vyre_type wire_type(wire_reader *r) {
  bool scalar = r->at < r->end && *r->at < WIRE_TAGS && wire_type_of_key[*r->at] != VYRE_TYPE_NONE;
  return scalar ? (vyre_type)wire_type_of_key[*r->at++] : wire_long_type(r);
}

/* A number in one byte, at most |most|. */
uint32_t wire_refuse_small(wire_reader *r, uint32_t most, const char *what);
static inline uint32_t wire_small(wire_reader *r, uint32_t most, const char *what) {
  return r->at < r->end && *r->at <= most ? *r->at++ : wire_refuse_small(r, most, what);
}

#endif
