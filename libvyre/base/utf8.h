/* The shape of UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF. */
#ifndef VYRE_BASE_UTF8_H
#define VYRE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the code point that begins at |p|, of which |left| bytes may be read; 0 if none does. */
static inline uint32_t vyre_utf8_length(const unsigned char *p, size_t left) {
  if (left == 0) return 0;
  if (p[0] < 0x80) return 1;
  uint32_t length = p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
  if (length == 0 || left < length) return 0;
  unsigned low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
  unsigned high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
  if (p[1] < low || p[1] > high) return 0;
  for (uint32_t i = 2; i < length; i++)
    if (p[i] < 0x80 || p[i] > 0xBF) return 0;
  return length;
}

/* The code point of |length| bytes that vyre_utf8_length accepted. */
static inline uint32_t vyre_utf8_value(const unsigned char *p, uint32_t length) {
  if (length == 1) return p[0];
  uint32_t value = p[0] & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; i++) value = value << 6 | (p[i] & 0x3Fu);
  return value;
}

/* Offset of the first byte that is NUL or begins no code point; |bytes| if there is none. */
size_t vyre_utf8_fault(const char *text, size_t bytes);
/* Whether all of it is UTF-8 without a NUL. */
bool vyre_utf8_valid(const char *text, size_t bytes);

#endif
