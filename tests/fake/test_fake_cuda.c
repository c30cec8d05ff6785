/* The fake CUDA driver: each kind of script, found and called as a plugin does, and the answers. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../suite.h"
#include "cuda_abi.h"
#include "open.h"
#include "script.h"

static struct {
#define X(name, exported, since, needs, parameters, arguments) CUresult(*name) parameters;
#include "cuda_entries.def"
#undef X
  __typeof__(fake_script) *script;
  __typeof__(fake_calls) *calls;
  __typeof__(fake_live) *live;
  __typeof__(fake_kernel) *kernel;
} cu;

static void *library;

static void load(const char *script) {
  library = fake_open("libcuda.so.1", "FAKE_CUDA", script);
#define X(name, exported, since, needs, parameters, arguments) fake_take(library, &cu.name, #exported);
#include "cuda_entries.def"
#undef X
  fake_take(library, &cu.script, "fake_script");
  fake_take(library, &cu.calls, "fake_calls");
  fake_take(library, &cu.live, "fake_live");
  fake_take(library, &cu.kernel, "fake_kernel");
}

#define OK(call) ck_assert_int_eq(call, CUDA_SUCCESS)

static CUcontext load_with_context(const char *script) {
  CUcontext context;
  load(script);
  OK(cu.cuInit(0));
  OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
  OK(cu.cuCtxSetCurrent(context));
  return context;
}

static const char ptx[] =
    "// a comment\n.version 8.4\n.target sm_90\n.address_size 64\n"
    ".visible .entry saxpy(\n  .param .f32 saxpy_a,\n  .param .u64 saxpy_x,\n  .param .u64 saxpy_y\n)\n"
    ".maxntid 256, 1, 1\n{\n  ret;\n}\n"
    ".visible .entry block(.param .align 8 .b8 block_params[24]) { ret; }\n"
    ".visible .entry empty() { ret; }\n";

/* What the helpers made, for finish. */
static CUmodule modules[8];
static CUdeviceptr memories[8];
static unsigned module_count, memory_count;

static CUfunction function_of(const char *name) {
  CUmodule module;
  CUfunction function;
  OK(cu.cuModuleLoadData(&module, ptx));
  OK(cu.cuModuleGetFunction(&function, module, name));
  modules[module_count++] = module;
  return function;
}

static CUdeviceptr memory(size_t bytes) {
  CUdeviceptr p;
  OK(cu.cuMemAlloc(&p, bytes));
  memories[memory_count++] = p;
  return p;
}

/* Nothing that a test made may be left. */
static void finish(void) {
  while (module_count > 0) OK(cu.cuModuleUnload(modules[--module_count]));
  while (memory_count > 0) OK(cu.cuMemFree(memories[--memory_count]));
  static const char *const kinds[] = { "memory", "module", "link", "event", "graph", "graph exec" };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) ck_assert_msg(cu.live(kinds[i]) == 0, "%s", kinds[i]);
  ck_assert_int_eq(cu.live("stream"), 1); /* the context's own */
}

/* ---- Finding --------------------------------------------------------------------------------- */

START_TEST(every_entry_is_found_both_ways) {
  load("");
#define X(name, exported, since, needs, parameters, arguments)                              \
  do {                                                                                      \
    void *found = NULL, *own;                                                               \
    int status = -1;                                                                        \
    ck_assert_msg(cu.name != NULL, #exported);                                              \
    OK(cu.cuGetProcAddress(#name, &found, 12040, 0, &status));                              \
    memcpy(&own, &cu.name, sizeof own);                                                     \
    ck_assert_ptr_eq(found, own);                                                           \
    ck_assert_int_eq(status, GET_PROC_SUCCESS);                                             \
  } while (0);
#include "cuda_entries.def"
#undef X
  void *found = &found;
  ck_assert_int_eq(cu.cuGetProcAddress("cuNonesuch", &found, 12040, 0, NULL), CUDA_ERROR_NOT_FOUND);
  ck_assert_ptr_null(found);
}
END_TEST

START_TEST(entries_that_are_absent) {
  load("absent cuMemAllocAsync; absent cuLibraryLoadData # a comment\nabsent cuGraphLaunch");
  ck_assert(cu.cuMemAllocAsync == NULL && cu.cuLibraryLoadData == NULL && cu.cuGraphLaunch == NULL);
  ck_assert(cu.cuMemAlloc != NULL);
  void *found;
  int status;
  ck_assert_int_eq(cu.cuGetProcAddress("cuMemAllocAsync", &found, 12040, 0, &status), CUDA_ERROR_NOT_FOUND);
  ck_assert_int_eq(status, GET_PROC_NOT_FOUND);
}
END_TEST

START_TEST(a_driver_that_is_too_old) {
  load("set version 11000");
  int version;
  OK(cu.cuDriverGetVersion(&version));
  ck_assert_int_eq(version, 11000);
  ck_assert(cu.cuMemAlloc != NULL && cu.cuLaunchCooperativeKernel != NULL);
  ck_assert(cu.cuMemAllocAsync == NULL && cu.cuLaunchKernelEx == NULL && cu.cuGetProcAddress == NULL);
}
END_TEST

START_TEST(a_version_that_was_not_asked_for) {
  load("");
  void *found;
  int status;
  ck_assert_int_eq(cu.cuGetProcAddress("cuLaunchKernelEx", &found, 11000, 0, &status), CUDA_ERROR_NOT_FOUND);
  ck_assert_int_eq(status, GET_PROC_VERSION_NOT_SUFFICIENT);
}
END_TEST

/* ---- Starting -------------------------------------------------------------------------------- */

START_TEST(a_stub_library) {
  load("set stub 1");
  int count;
  const char *name;
  ck_assert_int_eq(cu.cuInit(0), CUDA_ERROR_STUB_LIBRARY);
  ck_assert_int_eq(cu.cuDeviceGetCount(&count), CUDA_ERROR_STUB_LIBRARY);
  ck_assert_int_eq(cu.cuGetErrorName(0, &name), CUDA_ERROR_STUB_LIBRARY);
}
END_TEST

START_TEST(no_device_and_init_that_fails) {
  load("set devices 0");
  ck_assert_int_eq(cu.cuInit(0), CUDA_ERROR_NO_DEVICE);
  ck_assert_ptr_null(cu.script("fail cuInit CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"));
  ck_assert_int_eq(cu.cuInit(0), CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  ck_assert_ptr_null(cu.script("fail cuInit 304 at 1"));
  ck_assert_int_eq(cu.cuInit(0), CUDA_ERROR_OPERATING_SYSTEM);
  OK(cu.cuInit(0));
  ck_assert_uint_eq(cu.calls("cuInit"), 2);
  ck_assert_int_eq(cu.cuInit(1), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(nothing_works_before_init_nor_in_a_child) {
  load("");
  int count;
  ck_assert_int_eq(cu.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  OK(cu.cuInit(0));
  OK(cu.cuDeviceGetCount(&count));
  pid_t child = fork();
  if (child == 0)
    _exit(cu.cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED && cu.cuInit(0) == CUDA_ERROR_NOT_INITIALIZED ? 0
                                                                                                                  : 1);
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

START_TEST(devices_and_their_attributes) {
  load("set devices 3; set name \"Fake H\"; set attribute16 132; set memory 65536");
  OK(cu.cuInit(0));
  int count, value;
  CUdevice device;
  char text[64];
  size_t bytes;
  CUuuid first, second;
  OK(cu.cuDeviceGetCount(&count));
  ck_assert_int_eq(count, 3);
  OK(cu.cuDeviceGet(&device, 2));
  ck_assert_int_eq(cu.cuDeviceGet(&device, 3), CUDA_ERROR_INVALID_DEVICE);
  OK(cu.cuDeviceGetName(text, sizeof text, 0));
  ck_assert_str_eq(text, "Fake H");
  OK(cu.cuDeviceGetAttribute(&value, 16, 0));
  ck_assert_int_eq(value, 132);
  OK(cu.cuDeviceGetAttribute(&value, 10, 0));
  ck_assert_int_eq(value, 32);
  OK(cu.cuDeviceTotalMem(&bytes, 0));
  ck_assert_uint_eq(bytes, 65536);
  OK(cu.cuDeviceGetUuid(&first, 0));
  OK(cu.cuDeviceGetUuid(&second, 1));
  ck_assert_int_ne(memcmp(&first, &second, sizeof first), 0);
  OK(cu.cuDeviceGetPCIBusId(text, sizeof text, 1));
  ck_assert_str_eq(text, "0000:02:00.0");
  OK(cu.cuDeviceCanAccessPeer(&value, 0, 1));
  ck_assert_int_eq(value, 1);
}
END_TEST

/* ---- Contexts -------------------------------------------------------------------------------- */

static void *without_context(void *ctx) {
  CUdeviceptr p;
  CUcontext context = ctx;
  bool is_right = cu.cuMemAlloc(&p, 16) == CUDA_ERROR_INVALID_CONTEXT && cu.cuCtxPushCurrent(context) == CUDA_SUCCESS &&
                  cu.cuMemAlloc(&p, 16) == CUDA_SUCCESS && cu.cuMemFree(p) == CUDA_SUCCESS &&
                  cu.cuCtxPopCurrent(&context) == CUDA_SUCCESS && context == ctx &&
                  cu.cuCtxGetCurrent(&context) == CUDA_SUCCESS && context == NULL;
  return is_right ? ctx : NULL;
}

START_TEST(contexts_are_current_to_threads) {
  CUcontext context = load_with_context("set devices 2"), other, now;
  CUdevice device;
  pthread_t thread;
  void *answer;
  OK(cu.cuCtxGetDevice(&device));
  ck_assert_int_eq(device, 0);
  ck_assert_int_eq(pthread_create(&thread, NULL, without_context, context), 0);
  pthread_join(thread, &answer);
  ck_assert_ptr_eq(answer, context);
  OK(cu.cuDevicePrimaryCtxRetain(&other, 1));
  OK(cu.cuCtxPushCurrent(other));
  OK(cu.cuCtxGetDevice(&device));
  ck_assert_int_eq(device, 1);
  OK(cu.cuCtxPopCurrent(&now));
  ck_assert_ptr_eq(now, other);
  OK(cu.cuCtxGetCurrent(&now));
  ck_assert_ptr_eq(now, context);
  ck_assert_int_eq(cu.live("context"), 2);
  OK(cu.cuDevicePrimaryCtxRelease(1));
  OK(cu.cuDevicePrimaryCtxRelease(0));
  ck_assert_int_eq(cu.live("context"), 0);
  ck_assert_int_eq(cu.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------------------- */

START_TEST(memory_is_real_and_bounded) {
  load_with_context("set memory 4096");
  CUdeviceptr p, q;
  OK(cu.cuMemAlloc(&p, 4000));
  unsigned char bytes[16] = "fifteen letters", back[16];
  OK(cu.cuMemcpyDtoH(back, p, 16));
  for (int i = 0; i < 16; i++) ck_assert_uint_eq(back[i], 0xA5); /* nobody cleared it */
  ck_assert_int_eq(cu.cuMemAlloc(&q, 97), CUDA_ERROR_OUT_OF_MEMORY);
  OK(cu.cuMemcpyHtoD(p + 3984, bytes, 16));
  OK(cu.cuMemcpyDtoD(p, p + 3984, 16));
  OK(cu.cuMemcpyDtoH(back, p, 16));
  ck_assert_int_eq(memcmp(back, bytes, 16), 0);
  ck_assert_int_eq(cu.cuMemcpyHtoD(p + 3985, bytes, 16), CUDA_ERROR_INVALID_VALUE);
  ck_assert_int_eq(cu.cuMemFree(p + 16), CUDA_ERROR_INVALID_VALUE);
  size_t left, total;
  OK(cu.cuMemGetInfo(&left, &total));
  ck_assert_uint_eq(total - left, 4000);
  OK(cu.cuMemFree(p));
  ck_assert_int_eq(cu.cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
  void *host;
  OK(cu.cuMemHostAlloc(&host, 100, 0));
  OK(cu.cuMemHostGetDevicePointer(&q, host, 0));
  OK(cu.cuMemFreeHost(host));
  OK(cu.cuMemHostRegister(bytes, sizeof bytes, 0));
  ck_assert_int_eq(cu.cuMemHostRegister(bytes, sizeof bytes, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  OK(cu.cuMemHostUnregister(bytes));
  ck_assert_int_eq(cu.cuMemHostUnregister(bytes), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  finish();
}
END_TEST

START_TEST(the_nth_call_fails) {
  load_with_context("fail cuMemAlloc CUDA_ERROR_OUT_OF_MEMORY at 3; fail cuEventCreate 999 from 2");
  CUdeviceptr p[6];
  CUevent event[6];
  for (int i = 1; i <= 5; i++)
    ck_assert_int_eq(cu.cuMemAlloc(&p[i], 16), i == 3 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
  for (int i = 1; i <= 5; i++)
    ck_assert_int_eq(cu.cuEventCreate(&event[i], 0), i >= 2 ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
  ck_assert_uint_eq(cu.calls("cuMemAlloc"), 5);
  ck_assert_int_eq(cu.live("memory"), 4);
  for (int i = 1; i <= 5; i++)
    if (i != 3) OK(cu.cuMemFree(p[i]));
  OK(cu.cuEventDestroy(event[1]));
  finish();
}
END_TEST

/* ---- Modules --------------------------------------------------------------------------------- */

START_TEST(modules_and_what_is_wrong_with_them) {
  load_with_context("set registers 40; set local 16");
  CUmodule module;
  CUfunction function;
  int value;
  OK(cu.cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
  OK(cu.cuModuleGetFunction(&function, module, "saxpy"));
  OK(cu.cuFuncGetAttribute(&value, FUNC_MAX_THREADS_PER_BLOCK, function));
  ck_assert_int_eq(value, 256);
  OK(cu.cuFuncGetAttribute(&value, FUNC_NUM_REGS, function));
  ck_assert_int_eq(value, 40);
  OK(cu.cuFuncGetAttribute(&value, FUNC_LOCAL_SIZE_BYTES, function));
  ck_assert_int_eq(value, 16);
  OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 256, 0));
  ck_assert_int_eq(value, 6); /* 65536 registers / (256 * 40) */
  OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 257, 0));
  ck_assert_int_eq(value, 0);
  ck_assert_int_eq(cu.cuModuleGetFunction(&function, module, "nonesuch"), CUDA_ERROR_NOT_FOUND);
  OK(cu.cuModuleUnload(module));
  static const struct {
    const char *image;
    CUresult code;
    const char *log;
  } wrong[] = {
    { "no program", CUDA_ERROR_INVALID_IMAGE, "" },
    { "// .entry\n", CUDA_ERROR_INVALID_PTX, "missing .version" },
    { ".version 8.0\n.address_size 64", CUDA_ERROR_INVALID_PTX, "missing .target" },
    { ".version 9.9\n.target sm_90", CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "unsupported" },
    { ".version 8.0\n.target sm_120", CUDA_ERROR_NO_BINARY_FOR_GPU, "newer than the device" },
    { ".version 8.0\n.target sm_90\n.entry f(.param .u64) {}", CUDA_ERROR_INVALID_PTX, "syntax error" },
    { ".version 8.0\n.target sm_90\n.entry f(.param .u64 a", CUDA_ERROR_INVALID_PTX, "syntax error" },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char log[256] = "";
    int names[] = { JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)sizeof log };
    ck_assert_int_eq(cu.cuModuleLoadDataEx(&module, wrong[i].image, 2, names, values), wrong[i].code);
    ck_assert_msg(strstr(log, wrong[i].log) != NULL, "%s", log);
    ck_assert_uint_eq((uintptr_t)values[1], log[0] != 0 ? strlen(log) : sizeof log);
    ck_assert_ptr_null(module);
  }
  finish();
}
END_TEST

START_TEST(a_compiler_that_fails_as_ordered) {
  load_with_context("fail cuModuleLoadDataEx CUDA_ERROR_INVALID_PTX at 2; set log \"ptxas error: line 7\"");
  CUmodule module;
  char log[8] = "";
  int names[] = { JIT_ERROR_LOG_BUFFER_SIZE_BYTES, JIT_ERROR_LOG_BUFFER };
  void *values[] = { (void *)sizeof log, log };
  OK(cu.cuModuleLoadDataEx(&module, ptx, 2, names, values));
  OK(cu.cuModuleUnload(module));
  ck_assert_int_eq(cu.cuModuleLoadDataEx(&module, ptx, 2, names, values), CUDA_ERROR_INVALID_PTX);
  ck_assert_str_eq(log, "ptxas e"); /* as much as there is room for */
  ck_assert_uint_eq((uintptr_t)values[0], 7);
  OK(cu.cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
  OK(cu.cuModuleUnload(module));
  finish();
}
END_TEST

START_TEST(linked_machine_code_loads) {
  load_with_context("");
  CUlinkState link;
  CUmodule module;
  CUlibrary from;
  CUkernel kernel;
  CUfunction function;
  void *image;
  size_t bytes;
  OK(cu.cuLinkCreate(0, NULL, NULL, &link));
  ck_assert_int_eq(cu.cuLinkComplete(link, &image, &bytes), CUDA_ERROR_INVALID_VALUE);
  OK(cu.cuLinkAddData(link, 1, (void *)(uintptr_t)ptx, sizeof ptx, "p", 0, NULL, NULL));
  OK(cu.cuLinkComplete(link, &image, &bytes));
  ck_assert_uint_gt(bytes, sizeof ptx);
  OK(cu.cuModuleLoadData(&module, image));
  OK(cu.cuModuleGetFunction(&function, module, "saxpy"));
  OK(cu.cuLibraryLoadData(&from, image, NULL, NULL, 0, NULL, NULL, 0));
  OK(cu.cuLibraryGetKernel(&kernel, from, "empty"));
  OK(cu.cuKernelGetFunction(&function, kernel));
  OK(cu.cuLibraryUnload(from));
  OK(cu.cuModuleUnload(module));
  OK(cu.cuLinkDestroy(link));
  finish();
}
END_TEST

/* ---- Launches -------------------------------------------------------------------------------- */

static fake_launch seen;
static uint8_t seen_block[24];

static void look(const fake_launch *l) {
  seen = *l;
  if (l->argument_count == 1) memcpy(seen_block, l->arguments[0], sizeof seen_block);
}

START_TEST(launches_run_c_functions) {
  load_with_context("kernel saxpy saxpy");
  CUfunction saxpy = function_of("saxpy"), block = function_of("block");
  float a = 2, x[4] = { 1, 2, 3, 4 }, y[4] = { 10, 20, 30, 40 };
  CUdeviceptr dx = memory(sizeof x), dy = memory(sizeof y);
  CUstream stream;
  OK(cu.cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(cu.cuMemcpyHtoDAsync(dx, x, sizeof x, stream));
  OK(cu.cuMemcpyHtoDAsync(dy, y, sizeof y, stream));
  void *params[] = { &a, &dx, &dy };
  OK(cu.cuLaunchKernel(saxpy, 1, 1, 1, 256, 1, 1, 0, stream, params, NULL));
  OK(cu.cuMemcpyDtoHAsync(y, dy, sizeof y, stream));
  OK(cu.cuStreamSynchronize(stream));
  ck_assert(y[0] == 12 && y[1] == 24 && y[2] == 36 && y[3] == 48);
  cu.kernel("block", look);
  uint64_t words[3] = { 7, 8, dy };
  size_t bytes = sizeof words;
  void *extra[] = { LAUNCH_PARAM_BUFFER_POINTER, words, LAUNCH_PARAM_BUFFER_SIZE, &bytes, LAUNCH_PARAM_END };
  OK(cu.cuLaunchKernel(block, 2, 3, 4, 8, 4, 2, 100, stream, NULL, extra));
  OK(cu.cuStreamSynchronize(stream));
  ck_assert(seen.grid[0] == 2 && seen.grid[1] == 3 && seen.grid[2] == 4 && seen.block[0] == 8 &&
            seen.shared_bytes == 100);
  ck_assert_int_eq(memcmp(seen_block, words, sizeof words), 0);
  bytes = 8;
  ck_assert_int_eq(cu.cuLaunchKernel(block, 1, 1, 1, 1, 1, 1, 0, stream, NULL, extra), CUDA_ERROR_INVALID_VALUE);
  CUlaunchAttribute attribute = { .id = LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1 };
  CUlaunchConfig config = { 32, 1, 1, 256, 1, 1, 0, stream, &attribute, 1 };
  OK(cu.cuLaunchKernelEx(&config, saxpy, params, NULL)); /* 4 multiprocessors with 8 workgroups each */
  OK(cu.cuLaunchCooperativeKernel(saxpy, 32, 1, 1, 256, 1, 1, 0, stream, params));
  config.gridDimX = 33;
  ck_assert_int_eq(cu.cuLaunchKernelEx(&config, saxpy, params, NULL), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  ck_assert_int_eq(cu.cuLaunchKernel(saxpy, 1, 1, 1, 257, 1, 1, 0, stream, params, NULL), CUDA_ERROR_INVALID_VALUE);
  ck_assert_int_eq(cu.cuLaunchKernel(saxpy, 1, 65536, 1, 1, 1, 1, 0, stream, params, NULL), CUDA_ERROR_INVALID_VALUE);
  ck_assert_int_eq(cu.cuLaunchKernel(saxpy, 1, 1, 1, 1, 1, 1, 49153, stream, params, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cu.cuFuncSetAttribute(saxpy, FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
  OK(cu.cuLaunchKernel(saxpy, 1, 1, 1, 1, 1, 1, 65536, stream, params, NULL));
  OK(cu.cuStreamSynchronize(stream));
  OK(cu.cuStreamDestroy(stream));
  finish();
}
END_TEST

START_TEST(a_launch_that_fails) {
  load_with_context("fail cuLaunchKernel CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES at 2");
  CUfunction empty = function_of("empty");
  OK(cu.cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  ck_assert_int_eq(cu.cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  OK(cu.cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  OK(cu.cuStreamSynchronize(NULL));
  finish();
}
END_TEST

/* ---- Streams --------------------------------------------------------------------------------- */

static void set_flag(void *ctx) { __atomic_store_n((int *)ctx, 1, __ATOMIC_RELEASE); }

START_TEST(streams_wait_for_values_and_events) {
  load_with_context("");
  CUstream first, second;
  CUevent event, untimed;
  CUdeviceptr word, target = memory(16);
  uint32_t *host, value = 0;
  float ms;
  int flag = 0;
  OK(cu.cuStreamCreate(&first, 0));
  OK(cu.cuStreamCreateWithPriority(&second, 0, -1));
  OK(cu.cuEventCreate(&event, 0));
  OK(cu.cuEventCreate(&untimed, EVENT_DISABLE_TIMING));
  OK(cu.cuMemHostAlloc((void **)&host, 64, 0));
  *host = 0;
  OK(cu.cuMemHostGetDevicePointer(&word, host, 0));
  OK(cu.cuMemsetD32Async(target, 1, 4, first));
  OK(cu.cuEventRecord(event, first));
  OK(cu.cuEventSynchronize(event));
  OK(cu.cuStreamWaitValue32(first, word, 5, WAIT_VALUE_GEQ)); /* holds the stream up until the host writes */
  OK(cu.cuMemsetD32Async(target, 77, 4, first));
  OK(cu.cuEventRecord(event, first));
  OK(cu.cuStreamWaitEvent(second, event, 0));
  OK(cu.cuMemcpyDtoHAsync(&value, target, 4, second));
  OK(cu.cuLaunchHostFunc(second, set_flag, &flag));
  ck_assert_int_eq(cu.cuEventQuery(event), CUDA_ERROR_NOT_READY);
  ck_assert_int_eq(cu.cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  __atomic_store_n(host, 5, __ATOMIC_RELEASE);
  OK(cu.cuStreamSynchronize(second));
  ck_assert_uint_eq(value, 77);
  ck_assert_int_eq(__atomic_load_n(&flag, __ATOMIC_ACQUIRE), 1);
  OK(cu.cuEventQuery(event));
  OK(cu.cuStreamQuery(second));
  OK(cu.cuStreamWriteValue64(first, word, 9, 0));
  OK(cu.cuStreamSynchronize(first));
  ck_assert_uint_eq(*host, 9);
  OK(cu.cuEventRecord(untimed, first));
  OK(cu.cuEventSynchronize(untimed));
  OK(cu.cuEventElapsedTime(&ms, event, event));
  ck_assert_int_eq(cu.cuEventElapsedTime(&ms, event, untimed), CUDA_ERROR_INVALID_HANDLE);
  OK(cu.cuEventDestroy(event));
  OK(cu.cuEventDestroy(untimed));
  OK(cu.cuStreamDestroy(first));
  OK(cu.cuStreamDestroy(second));
  OK(cu.cuMemFreeHost(host));
  finish();
}
END_TEST

START_TEST(graphs_replay_what_was_captured) {
  load_with_context("kernel block increment");
  CUstream stream;
  CUgraph graph;
  CUgraphExec exec;
  int status;
  CUdeviceptr counter = memory(4);
  uint32_t value = 0;
  cu.kernel("empty", look);
  OK(cu.cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(cu.cuMemsetD32Async(counter, 5, 1, stream));
  OK(cu.cuStreamSynchronize(stream));
  OK(cu.cuStreamBeginCapture(stream, 1));
  OK(cu.cuStreamIsCapturing(stream, &status));
  ck_assert_int_eq(status, 1);
  OK(cu.cuMemcpyDtoHAsync(&value, counter, 4, stream));
  OK(cu.cuMemsetD32Async(counter, 6, 1, stream));
  OK(cu.cuLaunchKernel(function_of("empty"), 3, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
  OK(cu.cuStreamEndCapture(stream, &graph));
  ck_assert_uint_eq(value, 0); /* nothing has run */
  OK(cu.cuGraphInstantiate(&exec, graph, 0));
  OK(cu.cuGraphDestroy(graph));
  OK(cu.cuGraphLaunch(exec, stream));
  OK(cu.cuStreamSynchronize(stream));
  ck_assert(value == 5 && seen.grid[0] == 3);
  OK(cu.cuGraphLaunch(exec, stream));
  OK(cu.cuStreamSynchronize(stream));
  ck_assert_uint_eq(value, 6);
  OK(cu.cuGraphExecDestroy(exec));
  OK(cu.cuStreamBeginCapture(stream, 1));
  ck_assert_int_eq(cu.cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ck_assert_int_eq(cu.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ck_assert_ptr_null(graph);
  ck_assert_int_eq(cu.cuStreamBeginCapture(NULL, 1), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  OK(cu.cuStreamDestroy(stream));
  finish();
}
END_TEST

/* ---- Calls that wait for kernels ------------------------------------------------------------- */

static unsigned kernel_begun, kernel_may_end, kernel_ended;

static void run_until_told(const fake_launch *l) {
  (void)l;
  __atomic_store_n(&kernel_begun, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&kernel_may_end, __ATOMIC_ACQUIRE) == 0) continue;
  __atomic_store_n(&kernel_ended, 1, __ATOMIC_RELEASE);
}

typedef struct waiting {
  CUcontext context;
  CUmodule module, made[2];
  CUlibrary library, library_made;
  CUdeviceptr p;
  void *pinned, *registered;
} waiting;

static void load_module(waiting *w) { OK(cu.cuModuleLoadData(&w->made[0], ptx)); }
static void load_module_by_options(waiting *w) { OK(cu.cuModuleLoadDataEx(&w->made[1], ptx, 0, NULL, NULL)); }
static void unload_module(waiting *w) { OK(cu.cuModuleUnload(w->module)); }
static void load_library(waiting *w) {
  OK(cu.cuLibraryLoadData(&w->library_made, ptx, NULL, NULL, 0, NULL, NULL, 0));
}
static void unload_library(waiting *w) { OK(cu.cuLibraryUnload(w->library)); }
static void free_memory(waiting *w) { OK(cu.cuMemFree(w->p)); }
static void free_pinned(waiting *w) { OK(cu.cuMemFreeHost(w->pinned)); }
static void unregister(waiting *w) { OK(cu.cuMemHostUnregister(w->registered)); }

static void (*const waiting_calls[])(waiting *w) = { load_module,    load_module_by_options, unload_module,
                                                     load_library,   unload_library,         free_memory,
                                                     free_pinned,    unregister };
enum { WAITING_CALLS = sizeof waiting_calls / sizeof *waiting_calls };
static int waiting_call;

static void *call_beside_a_kernel(void *ctx) {
  waiting *w = ctx;
  OK(cu.cuCtxSetCurrent(w->context));
  waiting_calls[waiting_call](w);
  ck_assert_uint_eq(__atomic_load_n(&kernel_ended, __ATOMIC_ACQUIRE), 1);
  return NULL;
}

/* One of them beside a kernel that goes on until it is told to end. */
static void wait_for_a_kernel(waiting *w, CUfunction function, CUstream stream) {
  CUdeviceptr beside;
  pthread_t thread;
  kernel_begun = kernel_may_end = kernel_ended = 0;
  OK(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
  while (__atomic_load_n(&kernel_begun, __ATOMIC_ACQUIRE) == 0) continue;
  OK(cu.cuMemAllocAsync(&beside, 64, NULL)); /* these do not wait */
  OK(cu.cuMemFreeAsync(beside, NULL));
  pthread_create(&thread, NULL, call_beside_a_kernel, w);
  nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL); /* it may have got there by then; right either way */
  __atomic_store_n(&kernel_may_end, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  OK(cu.cuStreamSynchronize(stream));
}

START_TEST(calls_that_wait_for_kernels) {
  static char page[64];
  waiting w = { .context = load_with_context(""), .registered = page };
  CUstream stream;
  CUfunction function = function_of("empty");
  OK(cu.cuModuleLoadData(&w.module, ptx));
  OK(cu.cuLibraryLoadData(&w.library, ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cu.cuMemAlloc(&w.p, 64));
  OK(cu.cuMemHostAlloc(&w.pinned, 64, 0));
  OK(cu.cuMemHostRegister(page, sizeof page, 0));
  OK(cu.cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  cu.kernel("empty", run_until_told);
  for (waiting_call = 0; waiting_call < WAITING_CALLS; waiting_call++) wait_for_a_kernel(&w, function, stream);
  for (int i = 0; i < 2; i++) OK(cu.cuModuleUnload(w.made[i]));
  OK(cu.cuLibraryUnload(w.library_made));
  OK(cu.cuStreamDestroy(stream));
  finish();
}
END_TEST

/* ---- Loss ------------------------------------------------------------------------------------ */

static void *wait_for_event(void *ctx) { return (void *)(uintptr_t)cu.cuEventSynchronize(ctx); }

static void *wait_for_loss(void *ctx) {
  void **both = ctx;
  cu.cuCtxSetCurrent(both[0]);
  return wait_for_event(both[1]);
}

START_TEST(a_device_that_is_lost_wakes_everyone_and_stays_lost) {
  CUcontext context = load_with_context("lose at 2");
  CUfunction empty = function_of("empty");
  CUstream stuck, stream;
  CUevent event;
  CUdeviceptr word = memory(16), p;
  pthread_t thread;
  void *answer;
  OK(cu.cuStreamCreate(&stuck, 0));
  OK(cu.cuStreamCreate(&stream, 0));
  OK(cu.cuEventCreate(&event, 0));
  OK(cu.cuMemsetD32Async(word, 0, 4, stuck));
  OK(cu.cuStreamWaitValue32(stuck, word, 1, WAIT_VALUE_EQ)); /* never comes */
  OK(cu.cuEventRecord(event, stuck));
  void *both[] = { context, event };
  ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_loss, both), 0);
  OK(cu.cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
  OK(cu.cuStreamSynchronize(stream));
  cu.cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
  ck_assert_int_eq(cu.cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  pthread_join(thread, &answer);
  ck_assert_uint_eq((uintptr_t)answer, CUDA_ERROR_LAUNCH_FAILED);
  ck_assert_int_eq(cu.cuMemAlloc(&p, 16), CUDA_ERROR_LAUNCH_FAILED);
  ck_assert_int_eq(cu.cuStreamSynchronize(stuck), CUDA_ERROR_LAUNCH_FAILED);
  OK(cu.cuDevicePrimaryCtxRelease(0));
  OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
  OK(cu.cuMemAlloc(&p, 16)); /* the device was reset */
  OK(cu.cuMemFree(p));
  OK(cu.cuStreamSynchronize(stuck)); /* what waited in it has come to its end */
  OK(cu.cuEventDestroy(event));
  OK(cu.cuStreamDestroy(stuck));
  OK(cu.cuStreamDestroy(stream));
  finish();
}
END_TEST

START_TEST(a_loss_with_a_code_of_its_own) {
  load_with_context("lose at 1 CUDA_ERROR_ECC_UNCORRECTABLE");
  CUfunction empty = function_of("empty");
  OK(cu.cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  ck_assert_int_eq(cu.cuStreamSynchronize(NULL), CUDA_ERROR_ECC_UNCORRECTABLE);
  const char *name;
  OK(cu.cuGetErrorName(CUDA_ERROR_ECC_UNCORRECTABLE, &name)); /* that still works */
  ck_assert_str_eq(name, "CUDA_ERROR_ECC_UNCORRECTABLE");
  OK(cu.cuGetErrorString(CUDA_ERROR_ECC_UNCORRECTABLE, &name));
  ck_assert_int_eq(cu.cuGetErrorName(12345, &name), CUDA_ERROR_INVALID_VALUE);
  OK(cu.cuDevicePrimaryCtxRelease(0));
  CUcontext context;
  OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
  finish();
}
END_TEST

/* ---- Scripts --------------------------------------------------------------------------------- */

START_TEST(scripts_that_are_wrong) {
  static const char *const wrong[] = { "nonsense", "fail cuInit", "fail cuInit NO_SUCH_CODE", "fail cuInit 3 at 0",
                                       "fail cuInit 3 at", "set devices", "set a b c", "absent", "kernel k nonsense",
                                       "set name \"no end", "lose", "lose at x", "fail cuInit 3 4" };
  load("set devices 2");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) ck_assert_msg(cu.script(wrong[i]) != NULL, "%s", wrong[i]);
  int count;
  OK(cu.cuInit(0));
  OK(cu.cuDeviceGetCount(&count));
  ck_assert_int_eq(count, 2); /* the old script holds */
}
END_TEST

START_TEST(a_script_from_a_file_and_a_trace) {
  char script[] = "/tmp/vyre-test-XXXXXX", trace[sizeof script + 8], variable[sizeof script + 1], text[256];
  int fd = mkstemp(script);
  ck_assert_int_ge(fd, 0);
  snprintf(trace, sizeof trace, "%s.trace", script);
  snprintf(variable, sizeof variable, "@%s", script);
  int bytes = snprintf(text, sizeof text, "set devices 4\ntrace %s\n", trace);
  ck_assert_int_eq(write(fd, text, (size_t)bytes), bytes);
  close(fd);
  load(variable);
  int count;
  OK(cu.cuInit(0));
  OK(cu.cuDeviceGetCount(&count));
  ck_assert_int_eq(count, 4);
  FILE *file = fopen(trace, "r");
  ck_assert_ptr_nonnull(file);
  bytes = (int)fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[bytes] = 0;
  ck_assert_str_eq(text, "cuInit\ncuDeviceGetCount\n");
  unlink(script);
  unlink(trace);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
    every_entry_is_found_both_ways, entries_that_are_absent, a_driver_that_is_too_old, a_version_that_was_not_asked_for,
    a_stub_library, no_device_and_init_that_fails, nothing_works_before_init_nor_in_a_child,
    devices_and_their_attributes, contexts_are_current_to_threads, memory_is_real_and_bounded, the_nth_call_fails,
    modules_and_what_is_wrong_with_them, a_compiler_that_fails_as_ordered, linked_machine_code_loads,
    launches_run_c_functions, a_launch_that_fails, streams_wait_for_values_and_events,
    graphs_replay_what_was_captured, calls_that_wait_for_kernels,
    a_device_that_is_lost_wakes_everyone_and_stays_lost, a_loss_with_a_code_of_its_own, scripts_that_are_wrong,
    a_script_from_a_file_and_a_trace, NULL
  };
  return run_suite("fake CUDA driver", 60, tests);
}
