/* The binary interface of the CUDA driver as far as the plugin uses it, in our own words: handles, numbers, the layout
 * of the few records. No header of the vendor is needed to build. The facts are those of the driver API reference;
 * tests/fake has its own copy of them, so that a slip in one of the two shows. */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUmemPoolHandle_st *CUmemoryPool;

typedef struct CUuuid {
  uint8_t bytes[16];
} CUuuid;

typedef struct CUmemAccessDesc {
  int location_type; /* CU_MEM_LOCATION_TYPE_DEVICE */
  int location_id;
  int flags;         /* CU_MEM_ACCESS_FLAGS_PROT_READWRITE */
} CUmemAccessDesc;
enum { CU_MEM_LOCATION_TYPE_DEVICE = 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3 };

/* Results that the plugin tells from others; every other one is quoted in the driver's words. */
enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_STUB_LIBRARY = 34,
  CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
  CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_CONTAINED = 226,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
  CUDA_ERROR_INVALID_PC = 718,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_NOT_PERMITTED = 800,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_SYSTEM_NOT_READY = 802,
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803
};

/* Attributes of a device. */
enum {
  CU_MAX_THREADS_PER_BLOCK = 1,
  CU_MAX_BLOCK_DIM_X = 2, /* Y, Z follow */
  CU_MAX_GRID_DIM_X = 5,  /* Y, Z follow */
  CU_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_WARP_SIZE = 10,
  CU_MULTIPROCESSOR_COUNT = 16,
  CU_KERNEL_EXEC_TIMEOUT = 17,
  CU_INTEGRATED = 18,
  CU_COMPUTE_MODE = 20,
  CU_PCI_BUS_ID = 33,
  CU_PCI_DEVICE_ID = 34,
  CU_UNIFIED_ADDRESSING = 41,
  CU_PCI_DOMAIN_ID = 50,
  CU_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_COMPUTE_CAPABILITY_MINOR = 76,
  CU_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
  CU_COOPERATIVE_LAUNCH = 95,
  CU_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_HOST_REGISTER_SUPPORTED = 99,
  CU_MEMORY_POOLS_SUPPORTED = 115
};
enum { CU_COMPUTEMODE_PROHIBITED = 2 };

/* Attributes of a function. */
enum {
  CU_FUNC_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_SHARED_SIZE_BYTES = 1,
  CU_FUNC_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_NUM_REGS = 4,
  CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

/* Options of the just-in-time compiler; each has a value of a pointer's size. */
enum {
  CU_JIT_INFO_LOG_BUFFER = 3,
  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};
enum { CU_JIT_INPUT_PTX = 1 };

enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum { CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2 };
enum { CU_MEMHOSTREGISTER_PORTABLE = 1, CU_MEMHOSTREGISTER_DEVICEMAP = 2 };

#endif
