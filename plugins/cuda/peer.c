/* Copies between two devices take the short way if each may reach the other's memory; where one may not, they go
 * through the host, and nothing else changes. So no failure here is one. */
#include "plugins/cuda/cuda.h"

static void open_pool(const vyre_plugin_device *of, const vyre_plugin_device *to) {
  const cuda_api *api = &of->plugin->api;
  CUmemoryPool pool;
  if (!of->facts->has_pools || api->cuDeviceGetDefaultMemPool == NULL || api->cuMemPoolSetAccess == NULL) return;
  if (api->cuDeviceGetDefaultMemPool(&pool, of->facts->device) != CUDA_SUCCESS) return;
  const CUmemAccessDesc access = { CU_MEM_LOCATION_TYPE_DEVICE, to->facts->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
  api->cuMemPoolSetAccess(pool, &access, 1);
}

/* |from| reaches the memory of |to|. */
static void reach_one_way(vyre_plugin_device *from, vyre_plugin_device *to) {
  const cuda_api *api = &from->plugin->api;
  cuda_scope scope;
  int can = 0;
  if (api->cuDeviceCanAccessPeer(&can, from->facts->device, to->facts->device) != CUDA_SUCCESS || can == 0) return;
  if (cuda_enter(from, &scope, NULL) != VYRE_OK) return;
  api->cuCtxEnablePeerAccess(to->context, 0);
  cuda_leave(&scope);
  open_pool(to, from);
}

void cuda_reach(vyre_plugin_device *device, vyre_plugin_device *other) {
  if (device->facts->device == other->facts->device) return;
  reach_one_way(device, other);
  reach_one_way(other, device);
}
