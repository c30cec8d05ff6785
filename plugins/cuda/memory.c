/* Memory of the device. */
#include "plugins/cuda/cuda.h"

#include <string.h>

static CUresult allocate(vyre_plugin_device *device, uint64_t bytes, CUdeviceptr *out) {
  const cuda_api *api = &device->plugin->api;
  if (device->facts->has_pools) return api->cuMemAllocAsync(out, bytes, device->service);
  return api->cuMemAlloc(out, bytes);
}

/* A persistent launch may leave no room for the kernel that clears memory; copies from the host need none. */
static CUresult clear(vyre_plugin_device *device, CUdeviceptr p, uint64_t bytes) {
  const cuda_api *api = &device->plugin->api;
  if (__atomic_load_n(&device->residents, __ATOMIC_RELAXED) == 0)
    return api->cuMemsetD8Async(p, 0, bytes, device->service);
  CUresult code = CUDA_SUCCESS;
  for (uint64_t at = 0; at < bytes && code == CUDA_SUCCESS; at += CUDA_ZEROS) {
    uint64_t part = bytes - at < CUDA_ZEROS ? bytes - at : CUDA_ZEROS;
    code = api->cuMemcpyAsync(p + at, (uintptr_t)device->zeros, part, device->service);
  }
  return code;
}

CUresult cuda_memory_new(vyre_plugin_device *device, uint64_t bytes, bool zero, CUdeviceptr *out) {
  *out = 0;
  CUresult code = allocate(device, bytes, out);
  if (code != CUDA_SUCCESS) {
    *out = 0;
    return code;
  }
  if (zero) code = clear(device, *out, bytes);
  if (code == CUDA_SUCCESS) code = device->plugin->api.cuStreamSynchronize(device->service);
  if (code == CUDA_SUCCESS) return code;
  cuda_memory_free(device, *out);
  *out = 0;
  return code;
}

void cuda_memory_free(vyre_plugin_device *device, CUdeviceptr p) {
  const cuda_api *api = &device->plugin->api;
  if (p == 0) return;
  if (device->facts->has_pools) api->cuMemFreeAsync(p, device->service);
  else api->cuMemFree(p);
}

/* ---- What can't be given back now ------------------------------------------------------------ */

static bool has_residents(const vyre_plugin_device *device) {
  return __atomic_load_n(&device->residents, __ATOMIC_RELAXED) > 0;
}

void cuda_pinned_free(vyre_plugin_device *device, void *p) {
  if (p == NULL) return;
  if (!has_residents(device)) {
    device->plugin->api.cuMemFreeHost(p);
    return;
  }
  pthread_mutex_lock(&device->lock);
  memcpy(p, &device->kept, sizeof device->kept); /* a list inside of what nobody uses any more */
  device->kept = p;
  pthread_mutex_unlock(&device->lock);
}

void cuda_sweep(vyre_plugin_device *device) {
  if (has_residents(device)) return;
  pthread_mutex_lock(&device->lock);
  void *p = device->kept, *next;
  device->kept = NULL;
  pthread_mutex_unlock(&device->lock);
  for (; p != NULL; p = next) {
    memcpy(&next, p, sizeof next);
    device->plugin->api.cuMemFreeHost(p);
  }
  cuda_modules_sweep(device);
}
