/* A growing array of any type: struct { T *data; uint32_t count, capacity; }. Zero is the empty one.
 * A failed growth leaves the vector as it was. */
#ifndef VYRE_BASE_VECTOR_H
#define VYRE_BASE_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define VYRE_VECTOR(T)  \
  struct {              \
    T *data;            \
    uint32_t count;     \
    uint32_t capacity;  \
  }

/* Makes room for |more| elements of |size| bytes behind |count|; false without memory or beyond 2^32-1 elements. */
bool vyre_vector_grow(void **data, uint32_t count, uint32_t *capacity, uint32_t more, size_t size);

#define vyre_vector_reserve(v, more)                                            \
  ((v)->capacity - (v)->count >= (uint32_t)(more) ||                            \
   vyre_vector_grow((void **)&(v)->data, (v)->count, &(v)->capacity, (more), sizeof *(v)->data))

/* Gives back the room behind the last element; false if the allocator would not. */
bool vyre_vector_trim_to(void **data, uint32_t count, uint32_t *capacity, size_t size);
#define vyre_vector_trim(v) vyre_vector_trim_to((void **)&(v)->data, (v)->count, &(v)->capacity, sizeof *(v)->data)

/* Appends a value; false without memory. */
#define vyre_vector_push(v, value) (vyre_vector_reserve((v), 1) && ((v)->data[(v)->count++] = (value), true))

#define vyre_vector_free(v)                       \
  do {                                            \
    free((v)->data);                              \
    (v)->data = NULL;                             \
    (v)->count = (v)->capacity = 0;               \
  } while (0)

#endif
