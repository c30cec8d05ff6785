/* Memory of the fake driver: the host's, so that every copy is a real one and a sanitizer sees each byte beyond it. An
 * address on the device is the address on the host. */
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

typedef enum memory_kind { MEMORY_DEVICE, MEMORY_HOST, MEMORY_REGISTERED } memory_kind;

typedef struct range {
  struct range *next;
  uint64_t begin, bytes;
  memory_kind kind;
} range;

static range *ranges; /* under the lock */
static uint64_t used;

static range *find(uint64_t p) {
  for (range *r = ranges; r != NULL; r = r->next)
    if (p >= r->begin && p - r->begin < r->bytes) return r;
  return NULL;
}

uint64_t cuda_bytes_at(CUdeviceptr p) {
  pthread_mutex_lock(&cuda_lock);
  const range *r = find(p);
  uint64_t bytes = r != NULL ? r->begin + r->bytes - p : 0;
  pthread_mutex_unlock(&cuda_lock);
  return bytes;
}

static bool holds(CUdeviceptr p, uint64_t bytes) { return bytes == 0 || cuda_bytes_at(p) >= bytes; }

static CUresult add(void *p, uint64_t bytes, memory_kind kind) {
  range *r = malloc(sizeof *r);
  if (r == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  pthread_mutex_lock(&cuda_lock);
  *r = (range){ ranges, (uintptr_t)p, bytes, kind };
  ranges = r;
  if (kind == MEMORY_DEVICE) used += bytes;
  pthread_mutex_unlock(&cuda_lock);
  fake_born("memory");
  return CUDA_SUCCESS;
}

/* Takes the range that begins at |p| off the list, and frees it unless it is only registered. */
static bool drop(uint64_t p, memory_kind kind) {
  pthread_mutex_lock(&cuda_lock);
  range **link = &ranges;
  while (*link != NULL && ((*link)->begin != p || (*link)->kind != kind)) link = &(*link)->next;
  range *r = *link;
  if (r != NULL) *link = r->next;
  if (r != NULL && kind == MEMORY_DEVICE) used -= r->bytes;
  pthread_mutex_unlock(&cuda_lock);
  if (r == NULL) return false;
  if (kind != MEMORY_REGISTERED) free((void *)(uintptr_t)r->begin);
  free(r);
  fake_died("memory");
  return true;
}

/* New memory has no zeros that nobody wrote. */
static CUresult make(void **out, uint64_t bytes, uint64_t align, memory_kind kind) {
  *out = NULL;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&cuda_lock);
  bool fits = kind != MEMORY_DEVICE || (bytes <= fake_number("memory", 1u << 30) - used);
  pthread_mutex_unlock(&cuda_lock);
  if (!fits || posix_memalign(out, align, bytes) != 0) {
    *out = NULL;
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memset(*out, 0xA5, bytes);
  return add(*out, bytes, kind);
}

static CUresult make_on_device(CUdeviceptr *out, uint64_t bytes) {
  void *p;
  CUresult code = make(&p, bytes, 256, MEMORY_DEVICE);
  *out = (uintptr_t)p;
  return code;
}

CUresult do_cuMemGetInfo(size_t *free_bytes, size_t *total) {
  *total = fake_number("memory", 1u << 30);
  pthread_mutex_lock(&cuda_lock);
  *free_bytes = *total - used;
  pthread_mutex_unlock(&cuda_lock);
  return CUDA_SUCCESS;
}

CUresult do_cuMemGetAddressRange(CUdeviceptr *begin, size_t *bytes, CUdeviceptr p) {
  pthread_mutex_lock(&cuda_lock);
  const range *r = find(p);
  if (r != NULL && begin != NULL) *begin = r->begin;
  if (r != NULL && bytes != NULL) *bytes = r->bytes;
  pthread_mutex_unlock(&cuda_lock);
  return r != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult do_cuMemAlloc(CUdeviceptr *out, size_t bytes) { return make_on_device(out, bytes); }

CUresult do_cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags) {
  return flags == 1 || flags == 2 ? make_on_device(out, bytes) : CUDA_ERROR_INVALID_VALUE;
}

CUresult do_cuMemFree(CUdeviceptr p) {
  return p == 0 || drop(p, MEMORY_DEVICE) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult do_cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream) {
  (void)stream;
  return cuda_attribute(115) ? make_on_device(out, bytes) : CUDA_ERROR_NOT_SUPPORTED;
}

/* After the work that the stream has. */
CUresult do_cuMemFreeAsync(CUdeviceptr p, CUstream stream) {
  cuda_stream_wait(stream);
  return do_cuMemFree(p);
}

CUresult do_cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
  return flags < 8 ? make(out, bytes, 4096, MEMORY_HOST) : CUDA_ERROR_INVALID_VALUE;
}

CUresult do_cuMemFreeHost(void *p) { return drop((uintptr_t)p, MEMORY_HOST) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

CUresult do_cuMemHostRegister(void *p, size_t bytes, unsigned flags) {
  if (p == NULL || bytes == 0 || flags >= 16) return CUDA_ERROR_INVALID_VALUE;
  if (cuda_bytes_at((uintptr_t)p) > 0) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  return add(p, bytes, MEMORY_REGISTERED);
}

CUresult do_cuMemHostUnregister(void *p) {
  return drop((uintptr_t)p, MEMORY_REGISTERED) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult do_cuMemHostGetDevicePointer(CUdeviceptr *out, void *p, unsigned flags) {
  *out = 0;
  if (flags != 0 || cuda_bytes_at((uintptr_t)p) == 0) return CUDA_ERROR_INVALID_VALUE;
  *out = (uintptr_t)p;
  return CUDA_SUCCESS;
}

/* ---- Copies that are done when they return --------------------------------------------------- */

static CUresult copy_now(uint64_t to, uint64_t from, uint64_t bytes, bool is_to_device, bool is_from_device) {
  if ((is_to_device && !holds(to, bytes)) || (is_from_device && !holds(from, bytes))) return CUDA_ERROR_INVALID_VALUE;
  cuda_stream_wait(NULL);
  CUresult code = cuda_sticky(cuda_current());
  if (code == CUDA_SUCCESS && bytes > 0) memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return code;
}

CUresult do_cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  return copy_now(to, (uintptr_t)from, bytes, true, false);
}

CUresult do_cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  return copy_now((uintptr_t)to, from, bytes, false, true);
}

CUresult do_cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy_now(to, from, bytes, true, true);
}
