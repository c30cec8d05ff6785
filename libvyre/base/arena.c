/* Chunks of growing use: a large request gets a chunk of its own. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum { ALIGN = 16, CHUNK = 16384 };

struct vyre_arena_chunk {
  vyre_arena_chunk *previous;
  _Alignas(ALIGN) unsigned char bytes[];
};

static unsigned char *new_chunk(vyre_arena *arena, size_t bytes) {
  size_t total;
  if (!vyre_add_size(sizeof(vyre_arena_chunk), bytes, &total) || total > PTRDIFF_MAX) return NULL;
  vyre_arena_chunk *chunk = malloc(total);
  if (chunk == NULL) return NULL;
  chunk->previous = arena->chunks;
  arena->chunks = chunk;
  return chunk->bytes;
}

void *vyre_arena_alloc(vyre_arena *arena, size_t bytes) {
  if (bytes > SIZE_MAX - ALIGN) return NULL;
  size_t rounded = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  if (arena->next != NULL && rounded <= (size_t)(arena->end - arena->next)) {
    unsigned char *result = arena->next;
    arena->next += rounded;
    return result;
  }
  if (rounded > CHUNK / 4) return new_chunk(arena, rounded);
  unsigned char *chunk = new_chunk(arena, CHUNK);
  if (chunk == NULL) return NULL;
  arena->next = chunk + rounded;
  arena->end = chunk + CHUNK;
  return chunk;
}

char *vyre_arena_copy(vyre_arena *arena, const char *text, size_t bytes) {
  if (bytes == SIZE_MAX) return NULL;
  char *copy = vyre_arena_alloc(arena, bytes + 1);
  if (copy == NULL) return NULL;
  if (bytes > 0) memcpy(copy, text, bytes);
  copy[bytes] = 0;
  return copy;
}

void vyre_arena_free(vyre_arena *arena) {
  for (vyre_arena_chunk *chunk = arena->chunks; chunk != NULL;) {
    vyre_arena_chunk *previous = chunk->previous;
    free(chunk);
    chunk = previous;
  }
  *arena = (vyre_arena){ 0 };
}
