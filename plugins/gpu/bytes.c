/* The growing block. */
#include "plugins/gpu/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096 };
static const size_t most = (size_t)1 << 31;

/* From now on nothing fits. */
static void *fail(gpu_bytes *b) {
  b->failed = true;
  b->room = b->count;
  return NULL;
}

void *gpu_bytes_room(gpu_bytes *b, size_t bytes) {
  if (b->failed) return NULL;
  if (b->room - b->count >= bytes && b->data != NULL) return b->data + b->count;
  if (bytes > most - b->count) return fail(b);
  size_t room = b->room != 0 ? b->room : FIRST_ROOM;
  while (room - b->count < bytes) room *= 2;
  uint8_t *data = realloc(b->data, room);
  if (data == NULL) return fail(b);
  b->data = data;
  b->room = room;
  return data + b->count;
}

void gpu_bytes_add(gpu_bytes *b, const void *data, size_t bytes) {
  if (bytes == 0) return;
  void *to = gpu_bytes_room(b, bytes);
  if (to == NULL) return;
  memcpy(to, data, bytes);
  b->count += bytes;
}

void gpu_bytes_text(gpu_bytes *b, const char *text) { gpu_bytes_add(b, text, strlen(text)); }

void gpu_bytes_format(gpu_bytes *b, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char *to = length < 0 ? NULL : gpu_bytes_room(b, (size_t)length + 1);
  if (to != NULL) {
    vsnprintf(to, (size_t)length + 1, format, again);
    b->count += (size_t)length;
  }
  if (length < 0) fail(b);
  va_end(again);
  va_end(args);
}

void gpu_bytes_align(gpu_bytes *b, size_t align) {
  size_t bytes = -b->count & (align - 1);
  void *to = gpu_bytes_room(b, bytes);
  if (to == NULL) return;
  memset(to, 0, bytes);
  b->count += bytes;
}

void gpu_bytes_free(gpu_bytes *b) {
  free(b->data);
  *b = (gpu_bytes){ 0 };
}
