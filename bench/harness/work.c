/* The shared memory of a case: an anonymous file, since peers get it as a descriptor; sealed, so that no peer can take
 * its pages away. */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"

enum { PAGE = 4096, POISON = 0xA5 };

void bench_work_array(bench_work *work, const char *name, vyre_type type, uint64_t count, bool output) {
  if (work->array_count < BENCH_MAX_ARRAYS)
    work->arrays[work->array_count] = (bench_array){.name = name, .type = type, .count = count, .output = output};
  work->array_count++; /* one too many is found by bench_work_allocate */
}

void bench_work_param_u32(bench_work *work, const char *name, uint32_t value) {
  if (work->param_count < BENCH_MAX_PARAMS)
    work->params[work->param_count] =
        (bench_param){.name = name, .type = VYRE_TYPE_U32, .bits = value, .value = value};
  work->param_count++;
}

/* Gives every array its place; false if the sizes pass 2^63. */
static bool lay_out(bench_work *work) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < work->array_count; i++) {
    bench_array *a = &work->arrays[i];
    if (!vyre_mul_u64(a->count, vyre_type_describe(a->type)->bytes, &a->bytes)) return false;
    a->offset = end;
    if (!vyre_add_u64(end, a->bytes, &end) || !vyre_align_u64(end, PAGE, &end)) return false;
  }
  work->bytes = end;
  return end <= INT64_MAX;
}

vyre_status bench_work_allocate(bench_work *work, vyre_error *error) {
  work->file = -1;
  work->memory = NULL;
  if (work->array_count > BENCH_MAX_ARRAYS || work->param_count > BENCH_MAX_PARAMS)
    return vyre_fail(error, VYRE_ERR_LIMIT, work->id,
                     "%u arrays and %u parameters were declared, and there is room for %d and %d. Fix: use fewer.",
                     work->array_count, work->param_count, BENCH_MAX_ARRAYS, BENCH_MAX_PARAMS);
  if (!lay_out(work))
    return vyre_fail(error, VYRE_ERR_LIMIT, work->id, "The arrays pass 2^63 bytes. Fix: choose a smaller size.");
  if (work->bytes == 0) return VYRE_OK;
  work->file = memfd_create("vyre-bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (work->file < 0 || ftruncate(work->file, (off_t)work->bytes) != 0 ||
      fcntl(work->file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return vyre_fail(error, VYRE_ERR_IO, work->id, "%llu bytes of shared memory: %s. Fix: free memory.",
                     (unsigned long long)work->bytes, strerror(errno));
  void *memory = mmap(NULL, work->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, work->file, 0);
  if (memory == MAP_FAILED) return vyre_fail_memory(error, work->id);
  work->memory = memory;
  for (uint32_t i = 0; i < work->array_count; i++)
    work->arrays[i].host = (unsigned char *)memory + work->arrays[i].offset;
  return VYRE_OK;
}

void bench_work_free(bench_work *work) {
  if (work->memory) munmap(work->memory, work->bytes);
  if (work->file >= 0) close(work->file);
  work->memory = NULL;
  work->file = -1;
}

bench_array *bench_work_find(bench_work *work, const char *name) {
  for (uint32_t i = 0; i < work->array_count; i++)
    if (strcmp(work->arrays[i].name, name) == 0) return &work->arrays[i];
  return NULL;
}

void bench_work_poison(bench_work *work) {
  for (uint32_t i = 0; i < work->array_count; i++)
    if (work->arrays[i].output) memset(work->arrays[i].host, POISON, work->arrays[i].bytes);
}
