/* The primitives of the wire form, and how a fault in them is told. */
#include "ir/wire_read.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

static void stop(wire_reader *r, vyre_status status) {
  r->status = status;
  r->at = r->end;
}

void wire_refuse(wire_reader *r, const uint8_t *at, const char *format, ...) {
  if (r->status != VYRE_OK) return;
  char what[256], where[32];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  snprintf(where, sizeof where, "byte %zu", (size_t)(at - r->start));
  stop(r, vyre_fail(r->error, VYRE_ERR_INVALID_WIRE, where,
                    "The wire form is wrong at %s: %s. Fix: write the program again with a sound encoder.", where,
                    what));
}

void wire_out_of_memory(wire_reader *r) {
  if (r->status == VYRE_OK) stop(r, vyre_fail_memory(r->error, "wire form"));
}

uint32_t wire_truncated(wire_reader *r) {
  wire_refuse(r, r->end, "the bytes end inside an item");
  return 0;
}

uint64_t wire_long_leb(wire_reader *r, uint64_t most, const char *what) {
  const uint8_t *at = r->at;
  uint64_t value = 0;
  for (uint32_t shift = 0;; shift += 7) {
    if (r->at == r->end) return wire_truncated(r);
    uint64_t byte = *r->at++;
    if (shift == 63 && byte > 1) {
      wire_refuse(r, at, "%s has more than 64 bits", what);
      return 0;
    }
    value |= (byte & 0x7F) << shift;
    if (byte >= 0x80) continue;
    if (byte == 0 && shift > 0) wire_refuse(r, at, "%s is written in more bytes than it needs", what);
    else if (value > most)
      wire_refuse(r, at, "%s is %llu, at most %llu can be", what, (unsigned long long)value, (unsigned long long)most);
    else return value;
    return 0;
  }
}

uint64_t wire_fixed(wire_reader *r, uint32_t bytes) {
  if (wire_left(r) < bytes) return wire_truncated(r);
  uint64_t value = 0;
  for (uint32_t i = 0; i < bytes; i++) value |= (uint64_t)r->at[i] << (8 * i);
  r->at += bytes;
  return value;
}

uint32_t wire_refuse_small(wire_reader *r, uint32_t most, const char *what) {
  if (r->at == r->end) return wire_truncated(r);
  wire_refuse(r, r->at, "%s is %u, at most %u can be", what, *r->at, most);
  return 0;
}

/* Types by their whole tag: one byte, or for vectors the component and the lane count too. */
#define TYPE_KEY(wire, component, lanes) \
  ((wire) == WIRE_VECTOR_TYPE ? WIRE_TAGS + VYRE_TYPE_##component * 8 + (lanes) : (wire))
enum { TYPE_KEYS = WIRE_TAGS + VYRE_TYPE_COUNT * 8 };

const uint8_t wire_type_of_key[TYPE_KEYS] = {
#define X(name, spelling, bytes, lanes, component, value, wire) [TYPE_KEY(wire, component, lanes)] = VYRE_TYPE_##name,
#include <vyre/types.def>
#undef X
};

static vyre_type scalar_of_tag(uint32_t tag) {
  return tag < WIRE_TAGS ? (vyre_type)wire_type_of_key[tag] : VYRE_TYPE_NONE;
}

vyre_type wire_long_type(wire_reader *r) {
  const uint8_t *at = r->at;
  uint32_t tag = wire_u8(r);
  vyre_type type = scalar_of_tag(tag);
  if (tag == WIRE_VECTOR_TYPE) {
    vyre_type component = scalar_of_tag(wire_u8(r));
    uint32_t lanes = wire_u8(r);
    type = lanes < 8 ? (vyre_type)wire_type_of_key[WIRE_TAGS + component * 8 + lanes] : VYRE_TYPE_NONE;
  }
  if (type == VYRE_TYPE_NONE) wire_refuse(r, at, "type tag 0x%02x, or what follows it, is no type of version 1", tag);
  return type;
}
