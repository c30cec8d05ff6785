/* An arena: many small allocations that are freed together. Zero is the empty one. */
#ifndef VYRE_BASE_ARENA_H
#define VYRE_BASE_ARENA_H

#include <stddef.h>

typedef struct vyre_arena_chunk vyre_arena_chunk;
typedef struct vyre_arena {
  vyre_arena_chunk *chunks;
  unsigned char *next, *end;
} vyre_arena;

/* |bytes| bytes, aligned to 16, contents unspecified; NULL without memory. */
void *vyre_arena_alloc(vyre_arena *arena, size_t bytes);
/* A copy of |bytes| bytes with a NUL behind it; NULL without memory. */
char *vyre_arena_copy(vyre_arena *arena, const char *text, size_t bytes);
/* Frees everything that came from it. */
void vyre_arena_free(vyre_arena *arena);

#endif
