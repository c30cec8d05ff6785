/* Buffers: memory of the device, pinned memory of the host, and memory of others. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Host memory that was registered with the driver. It is registered by pages and once only, so that imports whose pages
 * meet share it. */
struct cuda_registration {
  cuda_registration *next;
  uintptr_t begin, end;
  uint32_t refs;
};

bool cuda_in_buffer(const vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes) {
  uint64_t size = buffer != NULL ? buffer->bytes : 0;
  return offset <= size && bytes <= size - offset;
}

/* ---- New memory ------------------------------------------------------------------------------ */

static vyre_status make_pinned(vyre_plugin_buffer *b, vyre_error *error) {
  const cuda_api *api = &b->device->plugin->api;
  CUresult code = cuda_pinned_new(b->device, b->bytes, &b->host);
  if (code != CUDA_SUCCESS) return cuda_answer(b->device, code, "allocating pinned memory of the host", error);
  code = api->cuMemHostGetDevicePointer(&b->address, b->host, 0);
  if (code != CUDA_SUCCESS) {
    cuda_pinned_free(b->device, b->host, b->bytes);
    return cuda_answer(b->device, code, "mapping pinned memory of the host", error);
  }
  memset(b->host, 0, b->bytes);
  return VYRE_OK;
}

static vyre_status make(vyre_plugin_buffer *b, uint32_t properties, vyre_error *error) {
  const vyre_capabilities *c = &b->device->facts->record;
  if (b->bytes > c->max_buffer_bytes)
    return gpu_fail(error, VYRE_ERR_LIMIT, c->name,
                    "a buffer of %llu bytes is asked for, and the device has %llu. Fix: split the data",
                    (unsigned long long)b->bytes, (unsigned long long)c->max_buffer_bytes);
  if (properties & (VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE)) return make_pinned(b, error);
  return cuda_answer(b->device, cuda_memory_new(b->device, b->bytes, true, &b->address),
                     "allocating memory of the device", error);
}

/* ---- Memory of others ------------------------------------------------------------------------ */

static vyre_status misplaced(const vyre_plugin_buffer *b, uint64_t address, const char *why, vyre_error *error) {
  return gpu_fail(error, VYRE_ERR_INVALID_ARGUMENT, b->device->facts->record.name,
                  "%llu bytes at 0x%llx can not be imported: %s. Fix: give a range of memory that is there, aligned to "
                  "16 bytes",
                  (unsigned long long)b->bytes, (unsigned long long)address, why);
}

/* Under the lock. */
static vyre_status register_pages(vyre_plugin_buffer *b, uintptr_t begin, uintptr_t end, vyre_error *error) {
  vyre_plugin_device *device = b->device;
  cuda_registration *r = malloc(sizeof *r);
  if (r == NULL) return gpu_no_memory(error);
  CUresult code = device->plugin->api.cuMemHostRegister((void *)begin, end - begin,
                                                        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  if (code != CUDA_SUCCESS) {
    free(r);
    /* Somebody else has: it stays usable for as long as that one leaves it so. */
    if (code == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) return VYRE_OK;
    return cuda_answer(device, code, "registering memory of the host", error);
  }
  *r = (cuda_registration){ device->registrations, begin, end, 1 };
  device->registrations = r;
  b->registration = r;
  return VYRE_OK;
}

static vyre_status share_pages(vyre_plugin_buffer *b, uintptr_t begin, uintptr_t end, vyre_error *error) {
  for (cuda_registration *r = b->device->registrations; r != NULL; r = r->next) {
    if (end <= r->begin || begin >= r->end) continue;
    if (r->refs == 0)
      return gpu_fail(error, VYRE_ERR_BUSY, b->device->facts->record.name,
                      "%llu bytes at %p can not be imported: pages of them were, and the driver lets go of these once "
                      "a persistent launch has ended. Fix: stop that first, or use other pages",
                      (unsigned long long)b->bytes, b->host);
    if (begin < r->begin || end > r->end)
      return misplaced(b, (uint64_t)(uintptr_t)b->host, "part of its pages was imported before, part was not", error);
    r->refs++;
    b->registration = r;
    return VYRE_OK;
  }
  return register_pages(b, begin, end, error);
}

/* The sweep ends one that nobody uses. Its pages may be others by the next import, so it serves none of these. */
static void leave_pages(vyre_plugin_device *device, cuda_registration *r) {
  if (r == NULL) return;
  pthread_mutex_lock(&device->lock);
  r->refs--;
  pthread_mutex_unlock(&device->lock);
}

void cuda_registrations_sweep(vyre_plugin_device *device, bool may_call) {
  pthread_mutex_lock(&device->lock);
  for (cuda_registration **link = &device->registrations, *r; (r = *link) != NULL;) {
    if (r->refs > 0) {
      link = &r->next;
      continue;
    }
    *link = r->next;
    if (may_call) device->plugin->api.cuMemHostUnregister((void *)r->begin);
    free(r);
  }
  pthread_mutex_unlock(&device->lock);
}

/* With the lock, so that no other thread leaves pages before these are looked for. */
static void end_left(vyre_plugin_device *device) {
  if (!cuda_waiting_begin(device)) return;
  cuda_registrations_sweep(device, true);
  cuda_waiting_end(device);
}

static vyre_status import_host(vyre_plugin_buffer *b, uint64_t address, vyre_error *error) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = address & ~(page - 1);
  uint64_t end;
  if (__builtin_add_overflow(address, b->bytes, &end) || end > UINT64_MAX - page)
    return misplaced(b, address, "they go beyond the end of the address space", error);
  b->host = (void *)(uintptr_t)address;
  pthread_mutex_lock(&b->device->lock);
  end_left(b->device);
  vyre_status status = share_pages(b, begin, (end + page - 1) & ~(page - 1), error);
  pthread_mutex_unlock(&b->device->lock);
  if (status != VYRE_OK) return status;
  CUresult code = b->device->plugin->api.cuMemHostGetDevicePointer(&b->address, b->host, 0);
  if (code == CUDA_SUCCESS) return VYRE_OK;
  leave_pages(b->device, b->registration);
  cuda_sweep(b->device);
  return cuda_answer(b->device, code, "mapping registered memory of the host", error);
}

static vyre_status import_device(vyre_plugin_buffer *b, uint64_t address, vyre_error *error) {
  CUdeviceptr begin = 0;
  size_t bytes = 0;
  CUresult code = b->device->plugin->api.cuMemGetAddressRange(&begin, &bytes, address);
  if (cuda_is_sticky(code)) return cuda_answer(b->device, code, "looking up memory of the device", error);
  if (code != CUDA_SUCCESS || address - begin > bytes || b->bytes > bytes - (address - begin))
    return misplaced(b, address, "the driver knows no allocation that holds them", error);
  b->address = address;
  return VYRE_OK;
}

static vyre_status import(vyre_plugin_buffer *b, uint64_t handle, vyre_error *error) {
  if (b->kind != VYRE_HANDLE_HOST_POINTER && b->kind != VYRE_HANDLE_DEVICE_POINTER)
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, b->device->facts->record.name,
                    "handles of kind %u can not be imported, only pointers of the host and of the device. Fix: copy "
                    "the data",
                    b->kind);
  if (handle == 0 || handle % 16 != 0 || b->bytes == 0) return misplaced(b, handle, "that is no such address", error);
  return b->kind == VYRE_HANDLE_HOST_POINTER ? import_host(b, handle, error) : import_device(b, handle, error);
}

/* ---- The slots ------------------------------------------------------------------------------- */

static vyre_status check_properties(const vyre_plugin_device *device, uint32_t properties, vyre_error *error) {
  const vyre_capabilities *c = &device->facts->record;
  for (uint32_t i = 0; i < c->memory_type_count; i++)
    if ((properties & ~c->memory_types[i].properties) == 0) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, c->name,
                  "memory of properties 0x%x does not exist here. Fix: ask for one that memory_types lists",
                  properties);
}

vyre_status cuda_buffer_create(vyre_plugin_device *device, const vyre_buffer_request *request,
                               vyre_plugin_buffer **out, vyre_error *error) {
  vyre_buffer_request wanted;
  cuda_scope scope;
  *out = NULL;
  gpu_take(&wanted, sizeof wanted, request);
  vyre_status status = cuda_enter(device, &scope, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_buffer *buffer = calloc(1, sizeof *buffer);
  status = buffer != NULL ? check_properties(device, wanted.properties, error) : gpu_no_memory(error);
  if (status == VYRE_OK) {
    buffer->device = device;
    buffer->bytes = wanted.bytes;
    buffer->kind = wanted.kind;
    status = wanted.kind == VYRE_HANDLE_NONE ? make(buffer, wanted.properties, error)
                                             : import(buffer, wanted.handle, error);
  }
  cuda_leave(&scope);
  if (status == VYRE_OK) *out = buffer;
  else free(buffer);
  return status;
}

void cuda_buffer_destroy(vyre_plugin_buffer *buffer) {
  vyre_plugin_device *device = buffer->device;
  cuda_scope scope;
  if (cuda_enter_to_destroy(device, &scope)) {
    if (buffer->kind == VYRE_HANDLE_NONE && buffer->host != NULL) cuda_pinned_free(device, buffer->host, buffer->bytes);
    else if (buffer->kind == VYRE_HANDLE_NONE) cuda_memory_free(device, buffer->address);
    leave_pages(device, buffer->registration);
    cuda_sweep(device);
    cuda_leave(&scope);
  }
  free(buffer);
}

vyre_status cuda_buffer_map(vyre_plugin_buffer *buffer, void **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = cuda_check(buffer->device, error);
  if (status != VYRE_OK) return status;
  *out = buffer->host;
  if (buffer->host != NULL) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, buffer->device->facts->record.name,
                  "memory of the device has no address on the host. Fix: copy it, or ask for host_read memory");
}

/* All that the host reaches is coherent. */
vyre_status cuda_buffer_sync(vyre_plugin_buffer *buffer, uint64_t offset, uint64_t bytes, vyre_error *error) {
  (void)offset, (void)bytes;
  return cuda_check(buffer->device, error);
}

vyre_status cuda_buffer_export(vyre_plugin_buffer *buffer, uint32_t kind, uint64_t *handle, vyre_error *error) {
  *handle = 0;
  vyre_status status = cuda_check(buffer->device, error);
  if (status != VYRE_OK) return status;
  if (kind == VYRE_HANDLE_DEVICE_POINTER) *handle = buffer->address;
  if (kind == VYRE_HANDLE_HOST_POINTER) *handle = (uint64_t)(uintptr_t)buffer->host;
  if (*handle != 0) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, buffer->device->facts->record.name,
                  "the buffer has no handle of kind %u. Fix: export a device pointer, or the host's of host_read "
                  "memory",
                  kind);
}
