/* The one growth step that all vectors share. */
#include "base/vector.h"

#include "base/checked.h"

bool vyre_vector_grow(void **data, uint32_t count, uint32_t *capacity, uint32_t more, size_t size) {
  uint64_t wanted = (uint64_t)count + more;
  if (wanted > UINT32_MAX) return false;
  uint64_t doubled = (uint64_t)*capacity * 2;
  if (doubled < 8) doubled = 8;
  if (wanted < doubled) wanted = doubled;
  if (wanted > UINT32_MAX) wanted = UINT32_MAX;
  size_t bytes;
  if (!vyre_mul_size((size_t)wanted, size, &bytes) || bytes > PTRDIFF_MAX) return false;
  void *grown = realloc(*data, bytes);
  if (grown == NULL) return false;
  *data = grown;
  *capacity = (uint32_t)wanted;
  return true;
}

bool vyre_vector_trim_to(void **data, uint32_t count, uint32_t *capacity, size_t size) {
  if (count == *capacity || count == 0) return true;
  void *trimmed = realloc(*data, count * size);
  if (trimmed == NULL) return false;
  *data = trimmed;
  *capacity = count;
  return true;
}
