/* Instances and devices. */
#include "plugins/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NATIVE_CONTEXT = 1, NATIVE_ADDRESS = 1, NATIVE_STREAM = 1, NATIVE_MODULE = 1 };

const char gpu_name[] = "cuda";

/* ---- Instances ------------------------------------------------------------------------------- */

vyre_status cuda_probe(const vyre_host *host, vyre_error *error) {
  cuda_api api;
  return cuda_api_open(host, &api, error);
}

/* The first line of a small file of the system; "" if it can't be read. */
static void read_line(const char *path, char *out, size_t room) {
  FILE *file = fopen(path, "re");
  if (file == NULL || fgets(out, (int)room, file) == NULL) out[0] = 0;
  if (file != NULL) fclose(file);
  out[strcspn(out, "\n")] = 0;
}

/* The driver's own version grows with each release; that of CUDA stays for several, whose compilers differ. */
static void describe_driver(const cuda_api *api, vyre_capabilities *c) {
  char line[32];
  unsigned major = 0, minor = 0, patch = 0;
  read_line("/sys/module/nvidia/version", line, sizeof line);
  c->api_version = (uint32_t)api->version;
  if (sscanf(line, "%u.%u.%u", &major, &minor, &patch) >= 2) {
    c->driver_version = major * 1000000ull + minor % 1000 * 1000 + patch % 1000;
    snprintf(c->driver, sizeof c->driver, "NVIDIA %.31s, CUDA %d.%d", line, api->version / 1000,
             api->version % 1000 / 10);
  } else {
    c->driver_version = (uint64_t)api->version;
    snprintf(c->driver, sizeof c->driver, "CUDA %d.%d", api->version / 1000, api->version % 1000 / 10);
  }
}

/* What the system's tree of PCI devices has of this one. */
static void describe_place(uint32_t domain, uint32_t bus, uint32_t slot, vyre_capabilities *c) {
  char path[96], line[32];
  c->pci = (uint64_t)domain << 16 | bus << 8 | slot << 3;
  snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.0/numa_node", domain, bus, slot);
  read_line(path, line, sizeof line);
  if (line[0] >= '0' && line[0] <= '9') c->numa_node = (int32_t)strtol(line, NULL, 10);
  snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.0/device", domain, bus, slot);
  read_line(path, line, sizeof line);
  c->device_id = (uint32_t)strtoul(line, NULL, 16);
}

static void describe_memory(uint64_t bytes, vyre_capabilities *c) {
  static const uint32_t pinned =
    VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE | VYRE_MEMORY_COHERENT | VYRE_MEMORY_CONCURRENT;
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  c->max_buffer_bytes = bytes & ~(uint64_t)15;
  c->binding_alignment = 16;
  c->import_kinds = 1u << VYRE_HANDLE_HOST_POINTER | 1u << VYRE_HANDLE_DEVICE_POINTER;
  c->export_kinds = c->import_kinds;
  c->memory_type_count = c->memory_heap_count = 2;
  c->memory_types[0] = (vyre_memory_type){ VYRE_MEMORY_DEVICE_LOCAL, 0 };
  c->memory_types[1] = (vyre_memory_type){ pinned, 1 };
  c->memory_heaps[0] = (vyre_memory_heap){ bytes, VYRE_MEMORY_DEVICE_LOCAL, 0 };
  c->memory_heaps[1] = (vyre_memory_heap){ pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : bytes, 0, 0 };
}

static void describe_launching(const vyre_host *host, const int *attributes, cuda_facts *f) {
  enum { DISPLAY_LIMIT_NS = 2000000000 };
  vyre_capabilities *c = &f->record;
  bool is_limited = attributes[CU_KERNEL_EXEC_TIMEOUT] != 0;
  for (int axis = 0; axis < 3; axis++) {
    f->grid_limit[axis] = (uint32_t)attributes[CU_MAX_GRID_DIM_X + axis];
    c->max_workgroup[axis] = (uint32_t)attributes[CU_MAX_BLOCK_DIM_X + axis];
  }
  f->shared_limit = (uint32_t)attributes[CU_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN];
  c->max_workgroup_invocations = (uint32_t)attributes[CU_MAX_THREADS_PER_BLOCK];
  if (gpu_configured(host, "shared_optin", 0) != 0)
    c->max_shared_bytes = f->shared_limit & ~15u;
  if (attributes[CU_INTEGRATED] != 0) c->kind = VYRE_DEVICE_INTEGRATED;
  c->can = VYRE_CAN_DEVICE_LENGTH | VYRE_CAN_INDIRECT_GRID | VYRE_CAN_HOST_COHERENT_ATOMICS | VYRE_CAN_TIMESTAMP |
           VYRE_CAN_PEER_COPY;
  c->max_queues = CUDA_MAX_QUEUES;
  if (is_limited) c->time_limit_ns = DISPLAY_LIMIT_NS;
  else c->can |= VYRE_CAN_PERSISTENT;
  c->max_persistent = is_limited ? 0 : CUDA_MAX_PERSISTENT;
  if (!f->cooperates) c->needs &= ~(uint64_t)VYRE_NEED_GRID_SYNC;
}

static vyre_status ask(const cuda_api *api, CUdevice device, int *attributes, vyre_error *error) {
  static const int wanted[] = {
    CU_MAX_THREADS_PER_BLOCK, CU_MAX_BLOCK_DIM_X, CU_MAX_BLOCK_DIM_X + 1, CU_MAX_BLOCK_DIM_X + 2, CU_MAX_GRID_DIM_X,
    CU_MAX_GRID_DIM_X + 1, CU_MAX_GRID_DIM_X + 2, CU_MULTIPROCESSOR_COUNT, CU_KERNEL_EXEC_TIMEOUT, CU_INTEGRATED,
    CU_PCI_BUS_ID, CU_PCI_DEVICE_ID, CU_PCI_DOMAIN_ID, CU_COMPUTE_CAPABILITY_MAJOR, CU_COMPUTE_CAPABILITY_MINOR,
    CU_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, CU_COOPERATIVE_LAUNCH, CU_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
    CU_MEMORY_POOLS_SUPPORTED,
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    CUresult code = api->cuDeviceGetAttribute(&attributes[wanted[i]], wanted[i], device);
    if (code != CUDA_SUCCESS) return cuda_fail(api, code, gpu_name, "asking a device for its attributes", error);
  }
  return VYRE_OK;
}

static vyre_status learn(const vyre_plugin *plugin, uint32_t index, cuda_facts *f, vyre_error *error) {
  const cuda_api *api = &plugin->api;
  int attributes[CU_MEMORY_POOLS_SUPPORTED + 1] = { 0 };
  char name[sizeof f->record.name] = "";
  CUuuid uuid = { { 0 } };
  size_t bytes = 0;
  CUresult code = api->cuDeviceGet(&f->device, (int)index);
  if (code == CUDA_SUCCESS) code = api->cuDeviceGetName(name, sizeof name, f->device);
  if (code == CUDA_SUCCESS) code = api->cuDeviceGetUuid(&uuid, f->device);
  if (code == CUDA_SUCCESS) code = api->cuDeviceTotalMem(&bytes, f->device);
  if (code != CUDA_SUCCESS) return cuda_fail(api, code, gpu_name, "asking for a device", error);
  vyre_status status = ask(api, f->device, attributes, error);
  if (status != VYRE_OK) return status;
  f->sm = (uint32_t)(attributes[CU_COMPUTE_CAPABILITY_MAJOR] * 10 + attributes[CU_COMPUTE_CAPABILITY_MINOR]);
  f->units = (uint32_t)attributes[CU_MULTIPROCESSOR_COUNT];
  f->cooperates = attributes[CU_COOPERATIVE_LAUNCH] != 0;
  f->has_pools = attributes[CU_MEMORY_POOLS_SUPPORTED] != 0 && api->cuMemAllocAsync != NULL &&
                 api->cuMemFreeAsync != NULL;
  f->maps_registered = attributes[CU_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM] != 0;
  vyre_capabilities *c = &f->record;
  cuda_describe_architecture(f->sm, 0, c);
  snprintf(c->name, sizeof c->name, "%.127s", name[0] != 0 ? name : "NVIDIA GPU");
  memcpy(c->uuid, uuid.bytes, sizeof c->uuid);
  c->dlpack_id = f->device;
  describe_driver(api, c);
  describe_place((uint32_t)attributes[CU_PCI_DOMAIN_ID], (uint32_t)attributes[CU_PCI_BUS_ID],
                 (uint32_t)attributes[CU_PCI_DEVICE_ID], c);
  describe_memory(bytes, c);
  describe_launching(plugin->host, attributes, f);
  return VYRE_OK;
}

/* Devices below PTX_MIN_SM are left out: the numbers of the others stay as the driver has them only behind them. */
static vyre_status learn_all(vyre_plugin *plugin, vyre_error *error) {
  int count = 0;
  CUresult code = plugin->api.cuDeviceGetCount(&count);
  if (code != CUDA_SUCCESS) return cuda_fail(&plugin->api, code, gpu_name, "counting devices", error);
  if (count > CUDA_MAX_DEVICES) count = CUDA_MAX_DEVICES;
  plugin->devices = calloc((size_t)(count > 0 ? count : 1), sizeof *plugin->devices);
  if (plugin->devices == NULL) return gpu_no_memory(error);
  for (int i = 0; i < count; i++) {
    cuda_facts *f = &plugin->devices[plugin->count];
    vyre_status status = learn(plugin, (uint32_t)i, f, error);
    if (status != VYRE_OK) return status;
    if (f->sm >= PTX_MIN_SM) plugin->count++;
    else
      gpu_log(plugin->host, VYRE_LOG_INFO, "device", "%s is of compute capability %u.%u, and %d.%d is the least.",
              f->record.name, f->sm / 10, f->sm % 10, PTX_MIN_SM / 10, PTX_MIN_SM % 10);
  }
  return VYRE_OK;
}

vyre_status cuda_open(const vyre_host *host, vyre_plugin **out, vyre_error *error) {
  *out = NULL;
  vyre_plugin *plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return gpu_no_memory(error);
  plugin->host = host;
  vyre_status status = cuda_api_open(host, &plugin->api, error);
  if (status == VYRE_OK) status = cuda_api_start(&plugin->api, error);
  if (status == VYRE_OK) status = learn_all(plugin, error);
  if (status == VYRE_OK) *out = plugin;
  else cuda_close(plugin);
  return status;
}

void cuda_close(vyre_plugin *plugin) {
  free(plugin->devices);
  free(plugin);
}

vyre_status cuda_device_count(vyre_plugin *plugin, uint32_t *count, vyre_error *error) {
  (void)error;
  *count = plugin->count;
  return VYRE_OK;
}

static vyre_status check_index(const vyre_plugin *plugin, uint32_t index, vyre_error *error) {
  if (index < plugin->count) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_NOT_FOUND, gpu_name,
                  "there are %u devices, and number %u is asked for. Fix: count from 0", plugin->count, index);
}

vyre_status cuda_device_describe(vyre_plugin *plugin, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  vyre_status status = check_index(plugin, index, error);
  if (status != VYRE_OK) return status;
  vyre_capabilities record = plugin->devices[index].record;
  gpu_answer(out, &record, sizeof record);
  return VYRE_OK;
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* A lock that one thread may take twice, and a condition whose waits are timed by the monotonic clock. */
static bool make_locks(vyre_plugin_device *device) {
  pthread_mutexattr_t mutex;
  pthread_condattr_t condition;
  if (pthread_mutexattr_init(&mutex) != 0) return false;
  bool is_made = pthread_mutexattr_settype(&mutex, PTHREAD_MUTEX_RECURSIVE) == 0 &&
                 pthread_mutex_init(&device->lock, &mutex) == 0;
  pthread_mutexattr_destroy(&mutex);
  if (!is_made) return false;
  if (pthread_condattr_init(&condition) == 0) {
    is_made = pthread_condattr_setclock(&condition, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(&device->changed, &condition) == 0;
    pthread_condattr_destroy(&condition);
  } else {
    is_made = false;
  }
  if (!is_made) pthread_mutex_destroy(&device->lock);
  return is_made;
}

/* A module that nobody uses, like others. */
static void drop_begin(vyre_plugin_device *device) {
  if (device->begin == NULL) return;
  device->begin->next = device->modules;
  device->modules = device->begin;
  device->begin = NULL;
}

/* What ends with the context goes first. In a child process nothing of the driver is called. */
static void take_down(vyre_plugin_device *device) {
  const cuda_api *api = &device->plugin->api;
  cuda_scope scope;
  if (device->context != NULL && cuda_enter_to_destroy(device, &scope)) {
    drop_begin(device);
    cuda_pinned_free(device, device->zeros, CUDA_ZEROS);
    cuda_sweep_all(device);
    while (device->spare_event_count > 0) api->cuEventDestroy(device->spare_events[--device->spare_event_count]);
    while (device->spare_stream_count > 0) api->cuStreamDestroy(device->spare_streams[--device->spare_stream_count]);
    if (device->capture != NULL) api->cuStreamDestroy(device->capture);
    if (device->service != NULL) api->cuStreamDestroy(device->service);
    cuda_leave(&scope);
    api->cuDevicePrimaryCtxRelease(device->facts->device);
  }
  free(device->begin);
}

static vyre_status bring_up(vyre_plugin_device *device, vyre_error *error) {
  const cuda_api *api = &device->plugin->api;
  cuda_scope scope;
  CUresult code = api->cuDevicePrimaryCtxRetain(&device->context, device->facts->device);
  if (code != CUDA_SUCCESS) {
    device->context = NULL;
    return cuda_fail(api, code, device->facts->record.name, "retaining the device's context", error);
  }
  vyre_status status = cuda_enter(device, &scope, error);
  if (status != VYRE_OK) return status;
  code = api->cuStreamCreate(&device->service, CU_STREAM_NON_BLOCKING);
  if (code == CUDA_SUCCESS) code = api->cuStreamCreate(&device->capture, CU_STREAM_NON_BLOCKING);
  if (code == CUDA_SUCCESS) code = cuda_pinned_new(device, CUDA_ZEROS, &device->zeros);
  if (code == CUDA_SUCCESS) memset(device->zeros, 0, CUDA_ZEROS);
  status = cuda_answer(device, code, "making streams and pinned memory", error);
  cuda_leave(&scope);
  return status;
}

vyre_status cuda_device_open(vyre_plugin *plugin, uint32_t index, vyre_plugin_device **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = check_index(plugin, index, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_device *device = calloc(1, sizeof *device);
  if (device == NULL || !make_locks(device)) {
    free(device);
    return gpu_no_memory(error);
  }
  device->plugin = plugin;
  device->facts = &plugin->devices[index];
  device->process = getpid();
  status = bring_up(device, error);
  if (status == VYRE_OK) *out = device;
  else cuda_device_close(device);
  return status;
}

void cuda_device_close(vyre_plugin_device *device) {
  take_down(device);
  if (device->process == getpid()) {
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
  }
  free(device);
}

/* ---- Calls on a device ----------------------------------------------------------------------- */

vyre_status cuda_lost(const vyre_plugin_device *device, vyre_error *error) {
  CUresult code = __atomic_load_n(&device->lost, __ATOMIC_ACQUIRE);
  char words[CUDA_WORDS];
  return gpu_fail_vendor(error, VYRE_ERR_DEVICE_LOST, code, device->facts->record.name,
                         "the device is lost: the driver answers %s. Fix: %s",
                         cuda_words(&device->plugin->api, code, words), cuda_fix_of(code));
}

static vyre_status check_process(const vyre_plugin_device *device, vyre_error *error) {
  if (device->process == getpid()) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_FORKED, gpu_name,
                  "the device was opened by process %ld, this is its child %ld. Fix: open a device after fork",
                  (long)device->process, (long)getpid());
}

vyre_status cuda_check(const vyre_plugin_device *device, vyre_error *error) {
  vyre_status status = check_process(device, error);
  if (status != VYRE_OK || __atomic_load_n(&device->lost, __ATOMIC_ACQUIRE) == CUDA_SUCCESS) return status;
  return cuda_lost(device, error);
}

static CUresult make_current(const vyre_plugin_device *device, cuda_scope *scope) {
  const cuda_api *api = &device->plugin->api;
  CUcontext current = NULL;
  *scope = (cuda_scope){ .device = device };
  if (api->cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == device->context) return CUDA_SUCCESS;
  CUresult code = api->cuCtxPushCurrent(device->context);
  scope->is_pushed = code == CUDA_SUCCESS;
  return code;
}

vyre_status cuda_enter(vyre_plugin_device *device, cuda_scope *scope, vyre_error *error) {
  vyre_status status = cuda_check(device, error);
  if (status != VYRE_OK) return status;
  return cuda_answer(device, make_current(device, scope), "making the device's context current", error);
}

bool cuda_enter_to_destroy(vyre_plugin_device *device, cuda_scope *scope) {
  if (device->process != getpid()) return false;
  make_current(device, scope); /* where that fails, so does what follows, and there is nothing left to free */
  return true;
}

void cuda_leave(const cuda_scope *scope) {
  CUcontext own;
  if (scope->is_pushed) scope->device->plugin->api.cuCtxPopCurrent(&own);
}

vyre_status cuda_answer(vyre_plugin_device *device, CUresult code, const char *what, vyre_error *error) {
  if (code == CUDA_SUCCESS) return VYRE_OK;
  if (!cuda_is_sticky(code)) return cuda_fail(&device->plugin->api, code, device->facts->record.name, what, error);
  pthread_mutex_lock(&device->lock);
  if (device->lost == CUDA_SUCCESS) __atomic_store_n(&device->lost, code, __ATOMIC_RELEASE);
  cuda_end_all(device);
  pthread_mutex_unlock(&device->lock);
  return cuda_lost(device, error);
}

vyre_status cuda_native(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error) {
  *out = 0;
  if (kind == VYRE_OBJECT_DEVICE && tag == NATIVE_CONTEXT)
    *out = (uint64_t)(uintptr_t)((const vyre_plugin_device *)object)->context;
  else if (kind == VYRE_OBJECT_BUFFER && tag == NATIVE_ADDRESS)
    *out = ((const vyre_plugin_buffer *)object)->address;
  else if (kind == VYRE_OBJECT_QUEUE && tag == NATIVE_STREAM)
    *out = (uint64_t)(uintptr_t)((const vyre_plugin_queue *)object)->stream;
  else if (kind == VYRE_OBJECT_EXECUTABLE && tag == NATIVE_MODULE)
    *out = (uint64_t)(uintptr_t)((const vyre_plugin_executable *)object)->modules[0]->module;
  else
    return gpu_fail(error, VYRE_ERR_NOT_FOUND, gpu_name,
                    "object kind %u has no tag %u. Fix: devices, buffers, queues and executables have tag 1", kind,
                    tag);
  return VYRE_OK;
}
