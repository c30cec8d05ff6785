/* Memory of the device, pinned memory of the host, and what can't be given back at once. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- Memory of the device -------------------------------------------------------------------- */

static CUresult allocate(vyre_plugin_device *device, uint64_t bytes, CUdeviceptr *out) {
  const cuda_api *api = &device->plugin->api;
  if (device->facts->has_pools) return api->cuMemAllocAsync(out, bytes, device->service);
  return api->cuMemAlloc(out, bytes);
}

/* A persistent launch may leave no room for the kernel that clears memory; copies from the host need none. */
static CUresult clear(vyre_plugin_device *device, CUdeviceptr p, uint64_t bytes) {
  const cuda_api *api = &device->plugin->api;
  if (!cuda_has_residents(device)) return api->cuMemsetD8Async(p, 0, bytes, device->service);
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

/* Where the driver has no pools. */
struct cuda_unfreed {
  cuda_unfreed *next;
  CUdeviceptr p;
};

void cuda_memory_free(vyre_plugin_device *device, CUdeviceptr p) {
  const cuda_api *api = &device->plugin->api;
  if (p == 0) return;
  if (device->facts->has_pools) {
    api->cuMemFreeAsync(p, device->service);
    return;
  }
  cuda_unfreed *u = malloc(sizeof *u);
  if (u == NULL) {
    api->cuMemFree(p); /* waiting is better than losing it */
    return;
  }
  pthread_mutex_lock(&device->lock);
  *u = (cuda_unfreed){ device->unfreed, p };
  device->unfreed = u;
  pthread_mutex_unlock(&device->lock);
}

static void free_unfreed(vyre_plugin_device *device, bool may_call) {
  pthread_mutex_lock(&device->lock);
  cuda_unfreed *u = device->unfreed, *next;
  device->unfreed = NULL;
  pthread_mutex_unlock(&device->lock);
  for (; u != NULL; u = next) {
    next = u->next;
    if (may_call) device->plugin->api.cuMemFree(u->p);
    free(u);
  }
}

/* ---- Pinned memory --------------------------------------------------------------------------- */

/* At the begin of pinned memory that nobody uses. */
struct cuda_kept {
  cuda_kept *next;
  uint64_t bytes;
};

static uint64_t block_bytes(uint64_t bytes) { return bytes > sizeof(cuda_kept) ? bytes : sizeof(cuda_kept); }

/* With what the driver keeps for it. */
static uint64_t cost(uint64_t bytes) { return bytes + 4096; }

/* One of as many bytes, off the list; NULL if there is none. */
static void *take_kept(vyre_plugin_device *device, uint64_t bytes) {
  pthread_mutex_lock(&device->lock);
  cuda_kept **link = &device->kept;
  while (*link != NULL && (*link)->bytes != bytes) link = &(*link)->next;
  cuda_kept *k = *link;
  if (k != NULL) {
    *link = k->next;
    device->kept_bytes -= cost(k->bytes);
  }
  pthread_mutex_unlock(&device->lock);
  return k;
}

CUresult cuda_pinned_new(vyre_plugin_device *device, uint64_t bytes, void *out) {
  void *p = bytes > 0 ? take_kept(device, block_bytes(bytes)) : NULL;
  CUresult code = CUDA_SUCCESS;
  if (p == NULL)
    code = device->plugin->api.cuMemHostAlloc(&p, bytes > 0 ? block_bytes(bytes) : 0,
                                              CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (code != CUDA_SUCCESS) p = NULL;
  memcpy(out, &p, sizeof p);
  return code;
}

void cuda_pinned_free(vyre_plugin_device *device, void *p, uint64_t bytes) {
  cuda_kept *k = p;
  if (k == NULL) return;
  pthread_mutex_lock(&device->lock);
  *k = (cuda_kept){ device->kept, block_bytes(bytes) };
  device->kept = k;
  device->kept_bytes += cost(k->bytes);
  pthread_mutex_unlock(&device->lock);
}

/* One that is large for what may be kept, or the oldest if they are too many, off the list. */
static cuda_kept *take_surplus(vyre_plugin_device *device, uint64_t most) {
  pthread_mutex_lock(&device->lock);
  cuda_kept **link = &device->kept;
  while (*link != NULL && cost((*link)->bytes) <= most / 4 &&
         ((*link)->next != NULL || device->kept_bytes <= most))
    link = &(*link)->next;
  cuda_kept *k = *link;
  if (k != NULL) {
    *link = k->next;
    device->kept_bytes -= cost(k->bytes);
  }
  pthread_mutex_unlock(&device->lock);
  return k;
}

/* ---- The sweep ------------------------------------------------------------------------------- */

static void sweep(vyre_plugin_device *device, uint64_t most, bool may_call) {
  for (cuda_kept *k; (k = take_surplus(device, most)) != NULL;)
    if (may_call) device->plugin->api.cuMemFreeHost(k);
  free_unfreed(device, may_call);
  cuda_registrations_sweep(device, may_call);
  cuda_modules_sweep(device, may_call);
}

void cuda_sweep(vyre_plugin_device *device) {
  if (!cuda_waiting_begin(device)) return;
  sweep(device, CUDA_SPARE_PINNED, true);
  cuda_waiting_end(device);
}

void cuda_sweep_all(vyre_plugin_device *device) {
  bool may_call = cuda_waiting_begin(device);
  sweep(device, 0, may_call);
  if (may_call) cuda_waiting_end(device);
}
