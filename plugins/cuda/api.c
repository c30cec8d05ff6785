/* Opening libcuda, and what its answers mean. */
#include "plugins/cuda/api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char default_library[] = "libcuda.so.1";

/* The process in which cuInit has worked: the driver is of no use in a child of it. */
static pid_t started_in;

/* ---- Words ----------------------------------------------------------------------------------- */

const char *cuda_words(const cuda_api *api, CUresult code, char *out) {
  const char *name = NULL, *text = NULL;
  if (api->cuGetErrorName == NULL || api->cuGetErrorName(code, &name) != CUDA_SUCCESS) name = NULL;
  if (api->cuGetErrorString == NULL || api->cuGetErrorString(code, &text) != CUDA_SUCCESS) text = NULL;
  if (name == NULL) snprintf(out, CUDA_WORDS, "CUDA error %d", code);
  else snprintf(out, CUDA_WORDS, "%s (%s)", name, text != NULL ? text : "no words");
  return out;
}

typedef struct meaning {
  CUresult code;
  bool is_sticky; /* the context is of no use any more */
  vyre_status status;
  const char *fix;
} meaning;

static const meaning meanings[] = {
  { CUDA_ERROR_OUT_OF_MEMORY, false, VYRE_ERR_NO_MEMORY, "free buffers, or see who else uses the device" },
  { CUDA_ERROR_NOT_INITIALIZED, false, VYRE_ERR_FORKED,
    "start CUDA in the process that uses it; a child of one that has used it can't" },
  { CUDA_ERROR_STUB_LIBRARY, false, VYRE_ERR_LIBRARY_ABSENT,
    "this is the toolkit's stub; install the NVIDIA driver, or take the stub's directory out of the library path" },
  { CUDA_ERROR_DEVICE_UNAVAILABLE, false, VYRE_ERR_DENIED,
    "wait for the process that has the device for itself, or change its compute mode with nvidia-smi" },
  { CUDA_ERROR_NO_DEVICE, false, VYRE_ERR_NO_DEVICE,
    "see whether nvidia-smi lists one, and whether CUDA_VISIBLE_DEVICES hides it" },
  { CUDA_ERROR_INVALID_DEVICE, false, VYRE_ERR_NO_DEVICE, "see whether nvidia-smi lists it" },
  { CUDA_ERROR_INVALID_IMAGE, false, VYRE_ERR_INVALID_FILE, "compile the program again" },
  { CUDA_ERROR_NO_BINARY_FOR_GPU, false, VYRE_ERR_UNSUPPORTED, "compile the program for this device's architecture" },
  { CUDA_ERROR_INVALID_PTX, false, VYRE_ERR_INTERNAL, "report it with the log and `vyre emit --target cuda`" },
  { CUDA_ERROR_JIT_COMPILER_NOT_FOUND, false, VYRE_ERR_LIBRARY_ABSENT,
    "install libnvidia-ptxjitcompiler, which belongs to the driver" },
  { CUDA_ERROR_UNSUPPORTED_PTX_VERSION, false, VYRE_ERR_TOO_OLD, "install a newer NVIDIA driver" },
  { CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, false, VYRE_ERR_LIMIT,
    "use a smaller workgroup, or a simpler program: it takes more registers than there are" },
  { CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, false, VYRE_ERR_LIMIT,
    "launch no more workgroups than fit at the same time (max_resident)" },
  { CUDA_ERROR_NOT_PERMITTED, false, VYRE_ERR_DENIED, "ask who runs this machine for access to the device" },
  { CUDA_ERROR_NOT_SUPPORTED, false, VYRE_ERR_UNSUPPORTED, "use another device, or a newer driver" },
  { CUDA_ERROR_SYSTEM_NOT_READY, false, VYRE_ERR_NO_DEVICE, "start the service that it needs (fabric manager)" },
  { CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, false, VYRE_ERR_TOO_OLD,
    "install a libcuda of the version that the kernel's driver has, or restart the machine" },
  { CUDA_ERROR_INVALID_CONTEXT, true, VYRE_ERR_DEVICE_LOST, "do not reset the device while it is in use" },
  { CUDA_ERROR_CONTEXT_IS_DESTROYED, true, VYRE_ERR_DEVICE_LOST, "do not reset the device while it is in use" },
  { CUDA_ERROR_ECC_UNCORRECTABLE, true, VYRE_ERR_DEVICE_LOST, "reset the device; its memory has an error" },
  { CUDA_ERROR_NVLINK_UNCORRECTABLE, true, VYRE_ERR_DEVICE_LOST, "reset the device; its link has an error" },
  { CUDA_ERROR_CONTAINED, true, VYRE_ERR_DEVICE_LOST, "open the device anew; its memory has an error" },
  { CUDA_ERROR_ILLEGAL_ADDRESS, true, VYRE_ERR_DEVICE_LOST,
    "compile with checked indices, which name no address out of range, and open the device anew" },
  { CUDA_ERROR_LAUNCH_TIMEOUT, true, VYRE_ERR_DEVICE_LOST,
    "make launches shorter, or use a device that drives no display, and open the device anew" },
  { CUDA_ERROR_ASSERT, true, VYRE_ERR_DEVICE_LOST, "open the device anew" },
  { CUDA_ERROR_HARDWARE_STACK_ERROR, true, VYRE_ERR_DEVICE_LOST, "open the device anew" },
  { CUDA_ERROR_ILLEGAL_INSTRUCTION, true, VYRE_ERR_DEVICE_LOST, "open the device anew" },
  { CUDA_ERROR_MISALIGNED_ADDRESS, true, VYRE_ERR_DEVICE_LOST,
    "compile with checked indices, and open the device anew" },
  { CUDA_ERROR_INVALID_ADDRESS_SPACE, true, VYRE_ERR_DEVICE_LOST, "open the device anew" },
  { CUDA_ERROR_INVALID_PC, true, VYRE_ERR_DEVICE_LOST, "open the device anew" },
  { CUDA_ERROR_LAUNCH_FAILED, true, VYRE_ERR_DEVICE_LOST,
    "look for an error of the device in the system's log (Xid), and open the device anew" },
};

static const meaning *meaning_of(CUresult code) {
  static const meaning unknown = { 0, false, VYRE_ERR_INTERNAL, "report it with these words" };
  for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
    if (meanings[i].code == code) return &meanings[i];
  return &unknown;
}

bool cuda_is_sticky(CUresult code) { return meaning_of(code)->is_sticky; }
vyre_status cuda_status_of(CUresult code) { return code == CUDA_SUCCESS ? VYRE_OK : meaning_of(code)->status; }
const char *cuda_fix_of(CUresult code) { return meaning_of(code)->fix; }

vyre_status cuda_fail(const cuda_api *api, CUresult code, const char *where, const char *what, vyre_error *error) {
  char words[CUDA_WORDS];
  return gpu_fail_vendor(error, cuda_status_of(code), code, where, "%s: the driver answers %s. Fix: %s", what,
                         cuda_words(api, code, words), cuda_fix_of(code));
}

/* ---- Opening --------------------------------------------------------------------------------- */

static vyre_status open_library(const vyre_host *host, void **out, vyre_error *error) {
  char path[1024];
  const char *name = gpu_setting(host, "library", path, sizeof path) ? path : default_library;
  *out = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (*out != NULL) return VYRE_OK;
  const char *why = dlerror();
  return gpu_fail(error, VYRE_ERR_LIBRARY_ABSENT, gpu_name,
                  "the driver's library can't be opened: %.300s. Fix: install the NVIDIA driver, or name its libcuda "
                  "in the setting cuda.library",
                  why != NULL ? why : name);
}

/* The first required entry point that is missing; NULL if all are there. */
static const char *find_entries(void *library, cuda_api *api, int *since_version) {
  const char *missing = NULL;
  enum { OPTIONAL, REQUIRED };
  void *found;
#define X(name, symbol, since, need, parameters)             \
  found = dlsym(library, #symbol);                           \
  memcpy(&api->name, &found, sizeof found);                  \
  if (found == NULL && need == REQUIRED && missing == NULL) { \
    missing = #symbol;                                       \
    *since_version = since;                                  \
  }
#include "plugins/cuda/entries.def"
#undef X
  return missing;
}

static vyre_status too_old(int version, const char *missing, int since, vyre_error *error) {
  int needed = since > CUDA_OLDEST_DRIVER ? since : CUDA_OLDEST_DRIVER;
  return gpu_fail(error, VYRE_ERR_TOO_OLD, gpu_name,
                  "the driver is made for CUDA %d.%d%s%s, and CUDA %d.%d is the oldest that will do. Fix: install a "
                  "newer NVIDIA driver",
                  version / 1000, version % 1000 / 10, missing != NULL ? " and lacks " : "",
                  missing != NULL ? missing : "", needed / 1000, needed % 1000 / 10);
}

/* The devices' files tell what cuInit would say, where they are of the usual kind; elsewhere there are none. */
static vyre_status check_access(vyre_error *error) {
  static const char control[] = "/dev/nvidiactl";
  if (access(control, R_OK | W_OK) == 0 || errno != EACCES) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_DENIED, gpu_name,
                  "%s may not be read and written by this process. Fix: ask who runs this machine for access", control);
}

static vyre_status check_process(vyre_error *error) {
  pid_t process = __atomic_load_n(&started_in, __ATOMIC_RELAXED);
  if (process == 0 || process == getpid()) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_FORKED, gpu_name,
                  "process %ld has started CUDA, and this is its child %ld, where the driver does not work. Fix: fork "
                  "before CUDA is used, or start another program",
                  (long)process, (long)getpid());
}

vyre_status cuda_api_open(const vyre_host *host, cuda_api *api, vyre_error *error) {
  void *library;
  int since = 0;
  memset(api, 0, sizeof *api);
  vyre_status status = check_process(error);
  if (status == VYRE_OK) status = open_library(host, &library, error);
  if (status != VYRE_OK) return status;
  const char *missing = find_entries(library, api, &since);
  CUresult code = api->cuDriverGetVersion != NULL ? api->cuDriverGetVersion(&api->version) : CUDA_SUCCESS;
  if (code == CUDA_ERROR_STUB_LIBRARY) return cuda_fail(api, code, gpu_name, "opening libcuda", error);
  if (code != CUDA_SUCCESS) return cuda_fail(api, code, gpu_name, "asking libcuda for its version", error);
  if (missing != NULL || api->version < CUDA_OLDEST_DRIVER) return too_old(api->version, missing, since, error);
  return check_access(error);
}

vyre_status cuda_api_start(const cuda_api *api, vyre_error *error) {
  vyre_status status = check_process(error);
  if (status != VYRE_OK) return status;
  CUresult code = api->cuInit(0);
  if (code != CUDA_SUCCESS) return cuda_fail(api, code, gpu_name, "starting CUDA (cuInit)", error);
  __atomic_store_n(&started_in, getpid(), __ATOMIC_RELAXED);
  return VYRE_OK;
}

bool cuda_api_is_started(void) { return __atomic_load_n(&started_in, __ATOMIC_RELAXED) == getpid(); }
