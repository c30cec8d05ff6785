/* A text that grows while it is written. Zero is the empty one. A failed growth is remembered, and what
 * follows is dropped, so that a caller asks once, at the end. */
#ifndef VYRE_BASE_WRITER_H
#define VYRE_BASE_WRITER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct vyre_writer {
  char *data; /* NUL-terminated once something was written */
  size_t count, capacity;
  bool failed;
} vyre_writer;

void vyre_write_bytes(vyre_writer *w, const char *bytes, size_t count);
void vyre_write_text(vyre_writer *w, const char *text);
void vyre_write_repeat(vyre_writer *w, char c, size_t count);
__attribute__((format(printf, 2, 3))) void vyre_write(vyre_writer *w, const char *format, ...);
__attribute__((format(printf, 2, 0))) void vyre_write_list(vyre_writer *w, const char *format, va_list args);

/* As vyre_write_bytes for text from outside that a person will see on a terminal: control characters, those that
 * reorder text, and bytes that are not UTF-8 are written as \xNN or \u{NNNN}. Tabs are kept. */
void vyre_write_escaped(vyre_writer *w, const char *bytes, size_t count);
/* One code point of that at |p|, of which |left| > 0 bytes may be read. Gives the bytes that it took, and in
 * *columns (may be NULL) the columns that it shows as, counting every unescaped code point as one. */
size_t vyre_write_escaped_point(vyre_writer *w, const unsigned char *p, size_t left, size_t *columns);

/* The text, to be freed with free(); NULL if memory ran out. The writer is empty again. */
char *vyre_writer_take(vyre_writer *w);
void vyre_writer_free(vyre_writer *w);

#endif
