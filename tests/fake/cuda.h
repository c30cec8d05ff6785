/* The inside of the fake CUDA driver. */
#ifndef VYRE_TESTS_FAKE_CUDA_H
#define VYRE_TESTS_FAKE_CUDA_H

#include <pthread.h>

#include "cuda_abi.h"
#include "script.h"

enum { CUDA_MOST_DEVICES = 64, CUDA_MOST_PARAMS = 64, CUDA_PARAM_BYTES = 4096, CUDA_NAME_BYTES = 128 };

/* What an entry point does, behind the gate that every call passes. */
#define X(name, exported, since, needs, parameters, arguments) CUresult do_##name parameters;
#include "cuda_entries.def"
#undef X

/* One lock for the state of the driver, and a condition for whoever waits for some of it to change. */
extern pthread_mutex_t cuda_lock;
extern pthread_cond_t cuda_moved;

/* cuda_entries.c */
uint64_t cuda_driver_version(void);
/* The enter_ function of an entry point, with the version that brought it; NULL if it is not there. */
void *cuda_find_entry(const char *name, int *since);

/* cuda_device.c */
typedef enum cuda_needs { ALWAYS, INIT, CONTEXT, COMPILER } cuda_needs;
/* What every call answers before it does anything; CUDA_SUCCESS to go on. */
CUresult cuda_gate(const char *name, cuda_needs needs);
/* The failure that the script orders for this call of the compiler, once; CUDA_SUCCESS for none. */
CUresult cuda_take_compiler_failure(void);

struct CUctx_st {
  int device;
  unsigned refs;
  CUresult sticky; /* under the lock: a lost device answers nothing else */
  uint64_t epoch;  /* under the lock: counts resets, so that work from before one ends */
  unsigned running; /* under the lock: kernels */
  CUstream stream; /* the one that NULL means */
};
CUcontext cuda_current(void); /* not NULL behind the gate of CONTEXT */
int cuda_attribute(int attribute);
/* Makes the context lost, and wakes who waits. */
void cuda_lose(CUcontext context, CUresult code);
CUresult cuda_sticky(CUcontext context);
uint64_t cuda_epoch(CUcontext context);
/* A kernel of the context begins, or ends. */
void cuda_kernel_begins(CUcontext context);
void cuda_kernel_ends(CUcontext context);

/* cuda_memory.c */
/* Bytes from |p| to the end of the allocation that it lies in; 0 if it lies in none. */
uint64_t cuda_bytes_at(CUdeviceptr p);

/* cuda_module.c */
struct CUfunc_st {
  char name[CUDA_NAME_BYTES];
  uint32_t param_count;
  uint32_t offsets[CUDA_MOST_PARAMS], sizes[CUDA_MOST_PARAMS];
  uint32_t param_bytes;
  int max_threads, dynamic_shared;
  struct CUfunc_st *next;
};
/* Workgroups of |block| threads that a multiprocessor holds. */
int cuda_occupancy(CUfunction function, int block, uint64_t shared);

/* cuda_stream.c */
CUstream cuda_stream_new(CUcontext context);
void cuda_stream_wait(CUstream stream);

#endif
