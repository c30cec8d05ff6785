/* The binary interface of the CUDA driver as far as the fake library speaks it, in our own words: numbers, and the
 * layout of the few records. Facts are those of the CUDA 12 driver API reference. No header of the vendor is needed
 * where tests run. */
#ifndef VYRE_TESTS_FAKE_CUDA_ABI_H
#define VYRE_TESTS_FAKE_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUlinkState_st *CUlinkState;

typedef struct CUuuid {
  char bytes[16];
} CUuuid;

typedef struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int cooperative;
  } value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
} CUlaunchConfig;

/* Every result that the driver knows, or that is of use here: name, number, sentence. */
#define CUDA_RESULTS(X)                                                                       \
  X(CUDA_SUCCESS, 0, "no error")                                                              \
  X(CUDA_ERROR_INVALID_VALUE, 1, "invalid argument")                                          \
  X(CUDA_ERROR_OUT_OF_MEMORY, 2, "out of memory")                                             \
  X(CUDA_ERROR_NOT_INITIALIZED, 3, "initialization error")                                    \
  X(CUDA_ERROR_DEINITIALIZED, 4, "driver shutting down")                                      \
  X(CUDA_ERROR_STUB_LIBRARY, 34, "stub library")                                              \
  X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46, "device busy or unavailable")                          \
  X(CUDA_ERROR_NO_DEVICE, 100, "no device")                                                   \
  X(CUDA_ERROR_INVALID_DEVICE, 101, "invalid device ordinal")                                 \
  X(CUDA_ERROR_INVALID_IMAGE, 200, "invalid kernel image")                                    \
  X(CUDA_ERROR_INVALID_CONTEXT, 201, "invalid context")                                       \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image for this device")                     \
  X(CUDA_ERROR_ECC_UNCORRECTABLE, 214, "uncorrectable ECC error")                             \
  X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217, "no peer access")                                \
  X(CUDA_ERROR_INVALID_PTX, 218, "PTX that does not compile")                                 \
  X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221, "PTX compiler not found")                         \
  X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222, "PTX version not supported")                     \
  X(CUDA_ERROR_JIT_COMPILATION_DISABLED, 223, "PTX compilation disabled")                     \
  X(CUDA_ERROR_FILE_NOT_FOUND, 301, "file not found")                                         \
  X(CUDA_ERROR_OPERATING_SYSTEM, 304, "operating system call failed")                         \
  X(CUDA_ERROR_INVALID_HANDLE, 400, "invalid handle")                                         \
  X(CUDA_ERROR_ILLEGAL_STATE, 401, "illegal state")                                           \
  X(CUDA_ERROR_NOT_FOUND, 500, "named symbol not found")                                      \
  X(CUDA_ERROR_NOT_READY, 600, "not ready")                                                   \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700, "illegal memory access")                                 \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources for the launch")             \
  X(CUDA_ERROR_LAUNCH_TIMEOUT, 702, "the launch timed out")                                   \
  X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, "peer access already enabled")               \
  X(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, 708, "primary context is active")                      \
  X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709, "context is destroyed")                             \
  X(CUDA_ERROR_ASSERT, 710, "device assertion")                                               \
  X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, "host memory already registered")         \
  X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713, "host memory not registered")                 \
  X(CUDA_ERROR_MISALIGNED_ADDRESS, 716, "misaligned address")                                 \
  X(CUDA_ERROR_LAUNCH_FAILED, 719, "launch failed")                                           \
  X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "cooperative launch too large")             \
  X(CUDA_ERROR_NOT_PERMITTED, 800, "not permitted")                                           \
  X(CUDA_ERROR_NOT_SUPPORTED, 801, "not supported")                                           \
  X(CUDA_ERROR_SYSTEM_NOT_READY, 802, "system not ready")                                     \
  X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803, "driver and library do not belong together")      \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "not permitted while a stream is captured")   \
  X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, "the capture failed earlier")                 \
  X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, "captured by another thread")                \
  X(CUDA_ERROR_UNKNOWN, 999, "unknown error")

enum {
#define X(name, number, text) name = number,
  CUDA_RESULTS(X)
#undef X
};

/* Attributes of a device: name, number, value of the fake device where the script gives none. */
#define CUDA_ATTRIBUTES(X)                                                                    \
  X(MAX_THREADS_PER_BLOCK, 1, 1024) X(MAX_BLOCK_DIM_X, 2, 1024) X(MAX_BLOCK_DIM_Y, 3, 1024)    \
  X(MAX_BLOCK_DIM_Z, 4, 64) X(MAX_GRID_DIM_X, 5, 2147483647) X(MAX_GRID_DIM_Y, 6, 65535)      \
  X(MAX_GRID_DIM_Z, 7, 65535) X(MAX_SHARED_MEMORY_PER_BLOCK, 8, 49152)                        \
  X(TOTAL_CONSTANT_MEMORY, 9, 65536) X(WARP_SIZE, 10, 32) X(MAX_REGISTERS_PER_BLOCK, 12, 65536) \
  X(CLOCK_RATE, 13, 1500000) X(MULTIPROCESSOR_COUNT, 16, 4) X(KERNEL_EXEC_TIMEOUT, 17, 0)     \
  X(INTEGRATED, 18, 0) X(CAN_MAP_HOST_MEMORY, 19, 1) X(COMPUTE_MODE, 20, 0)                   \
  X(CONCURRENT_KERNELS, 31, 1) X(ECC_ENABLED, 32, 0) X(PCI_BUS_ID, 33, 1) X(PCI_DEVICE_ID, 34, 0) \
  X(MEMORY_CLOCK_RATE, 36, 2000000) X(GLOBAL_MEMORY_BUS_WIDTH, 37, 256) X(L2_CACHE_SIZE, 38, 4194304) \
  X(MAX_THREADS_PER_MULTIPROCESSOR, 39, 2048) X(ASYNC_ENGINE_COUNT, 40, 2) X(UNIFIED_ADDRESSING, 41, 1) \
  X(PCI_DOMAIN_ID, 50, 0) X(COMPUTE_CAPABILITY_MAJOR, 75, 9) X(COMPUTE_CAPABILITY_MINOR, 76, 0) \
  X(STREAM_PRIORITIES_SUPPORTED, 78, 1) X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81, 233472)   \
  X(MAX_REGISTERS_PER_MULTIPROCESSOR, 82, 65536) X(MANAGED_MEMORY, 83, 1)                     \
  X(HOST_NATIVE_ATOMIC_SUPPORTED, 86, 0) X(PAGEABLE_MEMORY_ACCESS, 88, 0)                     \
  X(CONCURRENT_MANAGED_ACCESS, 89, 1) X(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91, 1)       \
  X(COOPERATIVE_LAUNCH, 95, 1) X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97, 232448)               \
  X(HOST_REGISTER_SUPPORTED, 99, 1) X(MAX_BLOCKS_PER_MULTIPROCESSOR, 106, 32)                 \
  X(RESERVED_SHARED_MEMORY_PER_BLOCK, 111, 1024) X(MEMORY_POOLS_SUPPORTED, 115, 1)            \
  X(CAN_USE_64_BIT_STREAM_MEM_OPS, 122, 1) X(CAN_USE_STREAM_WAIT_VALUE_NOR, 123, 1)

/* Attributes of a function. */
enum {
  FUNC_MAX_THREADS_PER_BLOCK = 0,
  FUNC_SHARED_SIZE_BYTES = 1,
  FUNC_CONST_SIZE_BYTES = 2,
  FUNC_LOCAL_SIZE_BYTES = 3,
  FUNC_NUM_REGS = 4,
  FUNC_PTX_VERSION = 5,
  FUNC_BINARY_VERSION = 6,
  FUNC_CACHE_MODE_CA = 7,
  FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

/* Options of the just-in-time compiler. */
enum {
  JIT_INFO_LOG_BUFFER = 3,
  JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  JIT_ERROR_LOG_BUFFER = 5,
  JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

enum { LAUNCH_ATTRIBUTE_COOPERATIVE = 2 };
enum { STREAM_NON_BLOCKING = 1 };
enum { EVENT_BLOCKING_SYNC = 1, EVENT_DISABLE_TIMING = 2 };
enum { WAIT_VALUE_GEQ = 0, WAIT_VALUE_EQ = 1, WAIT_VALUE_AND = 2, WAIT_VALUE_NOR = 3 };
enum { GET_PROC_SUCCESS = 0, GET_PROC_NOT_FOUND = 1, GET_PROC_VERSION_NOT_SUFFICIENT = 2 };
/* First word of `extra` and what follows it. */
#define LAUNCH_PARAM_END ((void *)0)
#define LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

#endif
