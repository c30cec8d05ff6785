/* Doubling growth with room for the NUL always counted in. */
#include "base/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/utf8.h"

static bool reserve(vyre_writer *w, size_t more) {
  if (w->failed) return false;
  size_t wanted;
  if (vyre_add_size(w->count, more, &wanted) && vyre_add_size(wanted, 1, &wanted)) {
    if (wanted <= w->capacity) return true;
    size_t doubled = w->capacity <= SIZE_MAX / 2 ? w->capacity * 2 : wanted;
    if (doubled < 256) doubled = 256;
    if (wanted < doubled) wanted = doubled;
    char *grown = realloc(w->data, wanted);
    if (grown != NULL) {
      w->data = grown;
      w->capacity = wanted;
      return true;
    }
  }
  w->failed = true;
  return false;
}

void vyre_write_bytes(vyre_writer *w, const char *bytes, size_t count) {
  if (!reserve(w, count)) return;
  if (count > 0) memcpy(w->data + w->count, bytes, count);
  w->count += count;
  w->data[w->count] = 0;
}

void vyre_write_text(vyre_writer *w, const char *text) { vyre_write_bytes(w, text, strlen(text)); }

void vyre_write_repeat(vyre_writer *w, char c, size_t count) {
  if (!reserve(w, count)) return;
  memset(w->data + w->count, c, count);
  w->count += count;
  w->data[w->count] = 0;
}

void vyre_write_list(vyre_writer *w, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0) w->failed = true;
  if (length < 0 || !reserve(w, (size_t)length)) return;
  vsnprintf(w->data + w->count, (size_t)length + 1, format, args);
  w->count += (size_t)length;
}

void vyre_write(vyre_writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vyre_write_list(w, format, args);
  va_end(args);
}

/* Characters that would let a text from outside steer a terminal or hide what it says. */
static bool is_hidden(uint32_t point) {
  if (point == '\t') return false;
  if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return true;
  if (point == 0x200E || point == 0x200F || point == 0xFEFF) return true;
  return (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

size_t vyre_write_escaped_point(vyre_writer *w, const unsigned char *p, size_t left, size_t *columns) {
  uint32_t length = vyre_utf8_length(p, left);
  uint32_t point = length > 0 ? vyre_utf8_value(p, length) : p[0];
  size_t before = w->count, width = 1;
  if (length > 0 && !is_hidden(point)) {
    vyre_write_bytes(w, (const char *)p, length);
  } else {
    if (length < 2) vyre_write(w, "\\x%02X", point);
    else vyre_write(w, "\\u{%04X}", point);
    width = w->count - before;
  }
  if (columns != NULL) *columns = width;
  return length > 0 ? length : 1;
}

void vyre_write_escaped(vyre_writer *w, const char *bytes, size_t count) {
  const unsigned char *p = (const unsigned char *)bytes;
  for (size_t at = 0; at < count;) at += vyre_write_escaped_point(w, p + at, count - at, NULL);
}

char *vyre_writer_take(vyre_writer *w) {
  if (w->data == NULL) vyre_write_text(w, "");
  char *text = w->failed ? NULL : w->data;
  if (w->failed) free(w->data);
  *w = (vyre_writer){ 0 };
  return text;
}

void vyre_writer_free(vyre_writer *w) {
  free(w->data);
  *w = (vyre_writer){ 0 };
}
