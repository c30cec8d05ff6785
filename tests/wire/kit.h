/* What the tests of the wire form share: bytes put together by hand, and what must hold for any bytes. */
#ifndef VYRE_TESTS_WIRE_KIT_H
#define VYRE_TESTS_WIRE_KIT_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/wire.h>

#include "base/digest.h"
#include "../suite.h"

typedef struct bytes {
  uint8_t *data;
  size_t count, capacity;
} bytes;

static inline void put(bytes *b, const void *data, size_t count) {
  if (b->capacity - b->count < count) {
    b->capacity = (b->count + count) * 2;
    b->data = realloc(b->data, b->capacity);
    ck_assert_ptr_nonnull(b->data);
  }
  if (count > 0) memcpy(b->data + b->count, data, count);
  b->count += count;
}

static inline void put_byte(bytes *b, unsigned value) { put(b, &(uint8_t){ (uint8_t)value }, 1); }
/* Bytes from a list of them: PUT(&b, 0x00, 0x01). */
#define PUT(b, ...) put((b), (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static inline void put_number(bytes *b, uint64_t value) {
  for (; value >= 0x80; value >>= 7) put_byte(b, (unsigned)(value | 0x80) & 0xFF);
  put_byte(b, (unsigned)value);
}

static inline void put_new_string(bytes *b, const char *text) {
  put_number(b, (uint64_t)strlen(text) << 1);
  put(b, text, strlen(text));
}

/* The header and the program's name and attributes: name "p", nothing set, workgroup (1, 1, 1). */
static inline bytes begin_program(void) {
  bytes b = { 0 };
  PUT(&b, 'V', 'I', 'R', '0', 1, 0, 4, 0);
  for (int i = 0; i < VYRE_DIGEST_BYTES; i++) put_byte(&b, 0);
  put_new_string(&b, "p");
  put_new_string(&b, "");
  PUT(&b, 1, 1, 1, 0, 0, 0);
  return b;
}

/* The same without parameters and buffers, so that statements follow. */
static inline bytes begin_code(void) {
  bytes b = begin_program();
  PUT(&b, 0, 0);
  return b;
}

/* Makes the digest that of the bytes. */
static inline void seal(uint8_t *data, size_t count) {
  if (count >= VYRE_WIRE_HEADER_BYTES)
    vyre_digest_of(data + VYRE_WIRE_HEADER_BYTES, count - VYRE_WIRE_HEADER_BYTES, data + 8);
}

/* Decodes; an accepted form must be the one that encode writes. */
static inline vyre_status decode_lawfully(const uint8_t *data, size_t count, vyre_diagnostics *d, vyre_error *error) {
  vyre_program *p = NULL;
  vyre_status status = vyre_wire_decode(data, count, d, &p, error);
  if (status != VYRE_OK) {
    ck_assert_ptr_null(p);
    return status;
  }
  uint8_t *own;
  size_t length;
  ck_assert_int_eq(vyre_wire_encode(p, &own, &length), VYRE_OK);
  ck_assert_uint_eq(length, count);
  ck_assert_mem_eq(own, data, count);
  free(own);
  vyre_program_release(p);
  return VYRE_OK;
}

/* Seals and frees |b|; it must be a program. */
static inline void accept_bytes(bytes b) {
  vyre_error error = VYRE_ERROR_INIT;
  seal(b.data, b.count);
  vyre_status status = decode_lawfully(b.data, b.count, NULL, &error);
  ck_assert_msg(status == VYRE_OK, "%s: %s", error.where, error.text);
  free(b.data);
}

/* Seals and frees |b|; it must be refused with |status|, and the text must hold |words|. */
static inline void refuse_bytes(bytes b, vyre_status status, const char *words) {
  vyre_error error = VYRE_ERROR_INIT;
  seal(b.data, b.count);
  ck_assert_int_eq(decode_lawfully(b.data, b.count, NULL, &error), status);
  ck_assert_int_eq(error.status, status);
  ck_assert_msg(strstr(error.text, words) != NULL, "wanted \"%s\" in \"%s\"", words, error.text);
  ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
  free(b.data);
}

static inline void refuse_wire(bytes b, const char *words) { refuse_bytes(b, VYRE_ERR_INVALID_WIRE, words); }

/* The bytes of a program; releases it. */
static inline bytes encode_and_release(vyre_program *p) {
  bytes b = { 0 };
  ck_assert_int_eq(vyre_wire_encode(p, &b.data, &b.count), VYRE_OK);
  b.capacity = b.count;
  vyre_program_release(p);
  return b;
}

#endif
