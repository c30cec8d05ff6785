/* Checking whole texts, eight bytes of ASCII at a time. */
#include "base/utf8.h"

#include <string.h>

size_t vyre_utf8_fault(const char *text, size_t bytes) {
  const unsigned char *p = (const unsigned char *)text;
  size_t at = 0;
  while (at < bytes) {
    uint64_t word;
    if (bytes - at >= 8) {
      memcpy(&word, p + at, 8);
      uint64_t zero = (word - 0x0101010101010101u) & ~word;
      if (((word | zero) & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    uint32_t length = p[at] == 0 ? 0 : vyre_utf8_length(p + at, bytes - at);
    if (length == 0) return at;
    at += length;
  }
  return at;
}

bool vyre_utf8_valid(const char *text, size_t bytes) { return vyre_utf8_fault(text, bytes) == bytes; }
