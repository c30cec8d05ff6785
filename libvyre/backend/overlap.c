/* Whether ranges share memory, by the allocations underneath: two buffers may lie in the same memory, where one was
 * imported from what the other was exported as, or both from the same handle. So each buffer knows the places that it
 * is known to lie at: itself, an address of this process or of the device, a file. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "backend/objects.h"
#include "base/error.h"

enum { FEW = 128, DMA_BUF_FILES = 0x444D4142 };

/* ---- Places ---------------------------------------------------------------------------------- */

/* A descriptor names an allocation only where each has a file of its own: shared memory and buffers of the kernel. */
static bool file_place(int fd, vyre_place *out) {
  struct stat info;
  struct statfs system;
  if (fstat(fd, &info) != 0) return false;
  bool is_own = S_ISREG(info.st_mode) || (fstatfs(fd, &system) == 0 && system.f_type == DMA_BUF_FILES);
  *out = (vyre_place){ VYRE_SPACE_FILE, { info.st_dev, info.st_ino }, 0 };
  return is_own;
}

static bool handle_place(uint32_t kind, uint64_t handle, vyre_place *out) {
  switch (kind) {
  case VYRE_HANDLE_HOST_POINTER: *out = (vyre_place){ VYRE_SPACE_HOST, { 0, 0 }, handle }; return true;
  case VYRE_HANDLE_DEVICE_POINTER: *out = (vyre_place){ VYRE_SPACE_DEVICE, { 0, 0 }, handle }; return true;
  case VYRE_HANDLE_FD: return file_place((int)handle, out);
  default: return false;
  }
}

/* Readers see a place once it counts; one of each space is enough. */
static void add_place(vyre_buffer *buffer, vyre_place place) {
  pthread_mutex_lock(&buffer->device->lock);
  uint32_t count = atomic_load_explicit(&buffer->place_count, memory_order_relaxed), i = 0;
  while (i < count && buffer->places[i].space != place.space) i++;
  if (i == count) {
    buffer->places[count] = place;
    atomic_store_explicit(&buffer->place_count, count + 1, memory_order_release);
  }
  pthread_mutex_unlock(&buffer->device->lock);
}

void vyre_buffer_lies_in_itself(vyre_buffer *buffer) {
  add_place(buffer, (vyre_place){ VYRE_SPACE_BUFFER, { (uintptr_t)buffer, 0 }, 0 });
  if (buffer->map != NULL) add_place(buffer, (vyre_place){ VYRE_SPACE_HOST, { 0, 0 }, (uintptr_t)buffer->map });
}

void vyre_buffer_lies_at(vyre_buffer *buffer, uint32_t kind, uint64_t handle) {
  vyre_place place;
  if (handle_place(kind, handle, &place)) add_place(buffer, place);
}

/* ---- Spans ----------------------------------------------------------------------------------- */

/* A range at one of its buffer's places. */
typedef struct span {
  vyre_place place; /* at: the first byte */
  uint64_t end;
  const vyre_range *range;
} span;

static int compare_numbers(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int compare_memory(const vyre_place *a, const vyre_place *b) {
  int order = compare_numbers(a->space, b->space);
  if (order == 0) order = compare_numbers(a->memory[0], b->memory[0]);
  return order != 0 ? order : compare_numbers(a->memory[1], b->memory[1]);
}

static int compare_spans(const void *x, const void *y) {
  const span *a = x, *b = y;
  int order = compare_memory(&a->place, &b->place);
  return order != 0 ? order : compare_numbers(a->place.at, b->place.at);
}

/* The spans of a range, one a place; their number. */
static uint32_t spread(const vyre_range *range, span spans[VYRE_SPACES]) {
  uint32_t count = range->bytes > 0 ? atomic_load_explicit(&range->buffer->place_count, memory_order_acquire) : 0;
  for (uint32_t i = 0; i < count; i++) {
    vyre_place place = range->buffer->places[i];
    place.at += range->offset;
    spans[i] = (span){ place, place.at + range->bytes, range };
  }
  return count;
}

/* Along each memory it is enough to know how far the ranges so far reach. */
static bool find_in(span *spans, uint32_t count, const vyre_range **a, const vyre_range **b) {
  qsort(spans, count, sizeof *spans, compare_spans);
  const span *farthest = NULL, *farthest_written = NULL;
  for (uint32_t i = 0; i < count; i++) {
    const span *s = &spans[i];
    if (farthest != NULL && compare_memory(&farthest->place, &s->place) != 0) farthest = farthest_written = NULL;
    const span *other = s->range->written ? farthest : farthest_written;
    if (other != NULL && s->place.at < other->end) {
      *a = other->range;
      *b = s->range;
      return true;
    }
    if (farthest == NULL || s->end > farthest->end) farthest = s;
    if (s->range->written && (farthest_written == NULL || s->end > farthest_written->end)) farthest_written = s;
  }
  return false;
}

vyre_status vyre_find_overlap(const vyre_range *ranges, uint32_t count, const vyre_range **a, const vyre_range **b,
                              vyre_error *error) {
  span few[FEW], *spans = few;
  uint32_t used = 0;
  *a = *b = NULL;
  if (count > FEW / VYRE_SPACES) spans = malloc((size_t)count * VYRE_SPACES * sizeof *spans);
  if (spans == NULL) return vyre_fail_memory(error, "binding set");
  for (uint32_t i = 0; i < count; i++) used += spread(&ranges[i], spans + used);
  bool is_found = find_in(spans, used, a, b);
  if (spans != few) free(spans);
  return is_found ? VYRE_ERR_ALIASED : VYRE_OK;
}
