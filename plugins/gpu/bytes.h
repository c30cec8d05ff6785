/* A growing block of bytes: what emitters write into. Running out of memory is remembered, so that only the end has to
 * ask; a block without memory swallows all that is added. */
#ifndef GPU_BYTES_H
#define GPU_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gpu_bytes {
  uint8_t *data;
  size_t count, room;
  bool failed; /* memory ran out, or more than 2^31 bytes were asked for */
} gpu_bytes;

/* Room for |bytes| more. NULL if there is none. The caller fills it and adds to count. */
void *gpu_bytes_room(gpu_bytes *b, size_t bytes);
void gpu_bytes_add(gpu_bytes *b, const void *data, size_t bytes);
/* Text without its NUL. */
void gpu_bytes_text(gpu_bytes *b, const char *text);
void gpu_bytes_format(gpu_bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Zeros up to a multiple of |align|, a power of two. */
void gpu_bytes_align(gpu_bytes *b, size_t align);
void gpu_bytes_free(gpu_bytes *b);

static inline void gpu_bytes_word(gpu_bytes *b, uint32_t word) {
  if (b->room - b->count >= sizeof word) {
    __builtin_memcpy(b->data + b->count, &word, sizeof word);
    b->count += sizeof word;
  } else {
    gpu_bytes_add(b, &word, sizeof word);
  }
}

#endif
