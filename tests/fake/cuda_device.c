/* The driver as a whole, its devices and contexts. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda.h"

pthread_mutex_t cuda_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cuda_moved = PTHREAD_COND_INITIALIZER;

static _Atomic pid_t initialized_by;
static struct CUctx_st contexts[CUDA_MOST_DEVICES];

enum { STACK = 16 };
static _Thread_local CUcontext stack[STACK];
static _Thread_local unsigned depth;
static _Thread_local CUresult compiler_failure;

CUcontext cuda_current(void) { return depth > 0 ? stack[depth - 1] : NULL; }

CUresult cuda_sticky(CUcontext context) {
  pthread_mutex_lock(&cuda_lock);
  CUresult code = context->sticky;
  pthread_mutex_unlock(&cuda_lock);
  return code;
}

uint64_t cuda_epoch(CUcontext context) {
  pthread_mutex_lock(&cuda_lock);
  uint64_t epoch = context->epoch;
  pthread_mutex_unlock(&cuda_lock);
  return epoch;
}

void cuda_lose(CUcontext context, CUresult code) {
  pthread_mutex_lock(&cuda_lock);
  context->sticky = code;
  pthread_cond_broadcast(&cuda_moved);
  pthread_mutex_unlock(&cuda_lock);
}

CUresult cuda_take_compiler_failure(void) {
  CUresult code = compiler_failure;
  compiler_failure = CUDA_SUCCESS;
  return code;
}

/* ---- Kernels that run ------------------------------------------------------------------------ */

void cuda_kernel_begins(CUcontext context) {
  pthread_mutex_lock(&cuda_lock);
  context->running++;
  pthread_mutex_unlock(&cuda_lock);
}

void cuda_kernel_ends(CUcontext context) {
  pthread_mutex_lock(&cuda_lock);
  context->running--;
  pthread_cond_broadcast(&cuda_moved);
  pthread_mutex_unlock(&cuda_lock);
}

/* The calls that NVIDIA's driver makes behind every kernel that runs in the context, however long that is. */
static bool waits_for_kernels(const char *name) {
  static const char *const calls[] = { "cuModuleLoadData",  "cuModuleLoadDataEx", "cuModuleUnload",
                                       "cuLibraryLoadData", "cuLibraryUnload",    "cuMemFree",
                                       "cuMemFreeHost",     "cuMemHostUnregister" };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(name, calls[i]) == 0) return true;
  return false;
}

static void await_kernels(CUcontext context) {
  pthread_mutex_lock(&cuda_lock);
  uint64_t epoch = context->epoch;
  while (context->running > 0 && context->sticky == CUDA_SUCCESS && context->epoch == epoch)
    pthread_cond_wait(&cuda_moved, &cuda_lock);
  pthread_mutex_unlock(&cuda_lock);
}

/* ---- The gate -------------------------------------------------------------------------------- */

CUresult cuda_gate(const char *name, cuda_needs needs) {
  int64_t code = 0;
  compiler_failure = CUDA_SUCCESS;
  bool fails = fake_enter(name, &code);
  if (fake_number("stub", 0) != 0) return CUDA_ERROR_STUB_LIBRARY;
  if (fails && needs != COMPILER) return (CUresult)code;
  if (needs == ALWAYS) return CUDA_SUCCESS;
  if (atomic_load(&initialized_by) != getpid()) return CUDA_ERROR_NOT_INITIALIZED; /* nor in a child process */
  if (cuda_current() != NULL && waits_for_kernels(name)) await_kernels(cuda_current());
  if (needs == INIT) return CUDA_SUCCESS;
  if (cuda_current() == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  if (fails) compiler_failure = (CUresult)code;
  return cuda_sticky(cuda_current());
}

/* ---- The driver ------------------------------------------------------------------------------ */

CUresult do_cuInit(unsigned flags) {
  pid_t none = 0;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (fake_number("devices", 1) == 0) return CUDA_ERROR_NO_DEVICE;
  if (atomic_compare_exchange_strong(&initialized_by, &none, getpid()) || none == getpid()) return CUDA_SUCCESS;
  return CUDA_ERROR_NOT_INITIALIZED;
}

CUresult do_cuDriverGetVersion(int *version) {
  *version = (int)cuda_driver_version();
  return CUDA_SUCCESS;
}

CUresult do_cuGetProcAddress(const char *symbol, void **out, int version, uint64_t flags, int *status) {
  (void)flags;
  int since = 0;
  *out = cuda_find_entry(symbol, &since);
  bool is_late = *out != NULL && since > version;
  if (is_late) *out = NULL;
  if (status != NULL)
    *status = is_late ? GET_PROC_VERSION_NOT_SUFFICIENT : *out == NULL ? GET_PROC_NOT_FOUND : GET_PROC_SUCCESS;
  return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult do_cuGetErrorName(CUresult code, const char **out) {
  *out = NULL;
  switch (code) {
#define X(name, number, text) \
  case number: *out = #name; break;
    CUDA_RESULTS(X)
#undef X
  default: break;
  }
  return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult do_cuGetErrorString(CUresult code, const char **out) {
  *out = NULL;
  switch (code) {
#define X(name, number, text) \
  case number: *out = text; break;
    CUDA_RESULTS(X)
#undef X
  default: break;
  }
  return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Devices --------------------------------------------------------------------------------- */

static int device_count(void) {
  uint64_t count = fake_number("devices", 1);
  return count < CUDA_MOST_DEVICES ? (int)count : CUDA_MOST_DEVICES;
}

static bool is_device(CUdevice device) { return device >= 0 && device < device_count(); }

int cuda_attribute(int attribute) {
  char key[32];
  uint64_t value = 0;
  switch (attribute) {
#define X(name, number, otherwise) \
  case number: value = otherwise; break;
    CUDA_ATTRIBUTES(X)
#undef X
  default: break;
  }
  snprintf(key, sizeof key, "attribute%d", attribute);
  return (int)fake_number(key, value);
}

CUresult do_cuDeviceGetCount(int *count) {
  *count = device_count();
  return CUDA_SUCCESS;
}

CUresult do_cuDeviceGet(CUdevice *out, int ordinal) {
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *out = ordinal;
  return CUDA_SUCCESS;
}

CUresult do_cuDeviceGetName(char *name, int bytes, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  snprintf(name, (size_t)bytes, "%s", fake_text("name", "Fake GPU"));
  return CUDA_SUCCESS;
}

CUresult do_cuDeviceGetUuid(CUuuid *out, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  memset(out->bytes, 0x10 + (int)fake_number("uuid", (uint64_t)device), sizeof out->bytes);
  return CUDA_SUCCESS;
}

CUresult do_cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = fake_number("memory", 1u << 30);
  return CUDA_SUCCESS;
}

CUresult do_cuDeviceGetAttribute(int *out, int attribute, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (attribute < 1 || attribute > 200) return CUDA_ERROR_INVALID_VALUE;
  *out = cuda_attribute(attribute);
  if (attribute == 33) *out += device; /* each on a bus of its own */
  return CUDA_SUCCESS;
}

CUresult do_cuDeviceGetPCIBusId(char *text, int bytes, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  snprintf(text, (size_t)bytes, "0000:%02X:00.0", cuda_attribute(33) + device);
  return CUDA_SUCCESS;
}

CUresult do_cuDeviceCanAccessPeer(int *out, CUdevice device, CUdevice peer) {
  if (!is_device(device) || !is_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
  *out = device != peer && fake_number("peer", 1) != 0;
  return CUDA_SUCCESS;
}

/* ---- Contexts -------------------------------------------------------------------------------- */

CUresult do_cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
  *out = NULL;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  CUcontext context = &contexts[device];
  pthread_mutex_lock(&cuda_lock);
  bool is_first = context->refs++ == 0;
  pthread_mutex_unlock(&cuda_lock);
  if (is_first) {
    fake_born("context");
    context->device = device;
    context->stream = cuda_stream_new(context);
    if (context->stream == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *out = context;
  return CUDA_SUCCESS;
}

/* The last release resets the device: what was lost works again. */
CUresult do_cuDevicePrimaryCtxRelease(CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  CUcontext context = &contexts[device];
  pthread_mutex_lock(&cuda_lock);
  bool was_active = context->refs > 0, is_last = was_active && --context->refs == 0;
  CUstream stream = context->stream;
  if (is_last) {
    context->sticky = CUDA_SUCCESS;
    context->epoch++;
    context->stream = NULL;
    pthread_cond_broadcast(&cuda_moved);
  }
  pthread_mutex_unlock(&cuda_lock);
  if (!is_last) return was_active ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  fake_died("context");
  return do_cuStreamDestroy(stream);
}

CUresult do_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  (void)flags;
  return is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult do_cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  pthread_mutex_lock(&cuda_lock);
  *flags = 0;
  *active = contexts[device].refs > 0;
  pthread_mutex_unlock(&cuda_lock);
  return CUDA_SUCCESS;
}

CUresult do_cuCtxGetCurrent(CUcontext *out) {
  *out = cuda_current();
  return CUDA_SUCCESS;
}

static bool is_context(CUcontext context) {
  return context >= contexts && context < contexts + CUDA_MOST_DEVICES && context->refs > 0;
}

CUresult do_cuCtxSetCurrent(CUcontext context) {
  if (context != NULL && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (depth > 0) depth--;
  if (context != NULL) stack[depth++] = context;
  return CUDA_SUCCESS;
}

CUresult do_cuCtxPushCurrent(CUcontext context) {
  if (!is_context(context) || depth == STACK) return CUDA_ERROR_INVALID_CONTEXT;
  stack[depth++] = context;
  return CUDA_SUCCESS;
}

CUresult do_cuCtxPopCurrent(CUcontext *out) {
  if (depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
  depth--;
  if (out != NULL) *out = stack[depth];
  return CUDA_SUCCESS;
}

CUresult do_cuCtxGetDevice(CUdevice *out) {
  *out = cuda_current()->device;
  return CUDA_SUCCESS;
}

CUresult do_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  if (!is_context(peer) || peer == cuda_current()) return CUDA_ERROR_INVALID_CONTEXT;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return fake_number("peer", 1) != 0 ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}
