/* The CPU peer: one program of C and OpenMP, built with each compiler. A kernel computes a range of elements on one
 * thread; cpu.c owns memory, threads, the choice between ways, and the clock. */
#ifndef VYRE_BENCH_CPU_H
#define VYRE_BENCH_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "../peer.h"

enum { CPU_MAX_INPUTS = 3, CPU_LINE = 64 };

/* What a kernel works on. */
typedef struct cpu_data {
  const void *in[CPU_MAX_INPUTS];
  void *out;
} cpu_data;

typedef struct cpu_kernel {
  const char *id, *type;                        /* of the work, and of its output */
  const char *inputs[CPU_MAX_INPUTS], *output;  /* names of arrays; a probe names those that it makes itself */
  uint32_t element;                             /* bytes of an element of every array */
  /* Computes |count| elements from |begin| on into |out|, which is aligned to a line. If the kernel reduces, |out|
   * is a uint64_t of the thread's own, which |combine| makes the result from. */
  void (*run)(const cpu_data *data, size_t begin, size_t count, void *out);
  void (*combine)(void *out, const uint64_t *partial, size_t stride, int threads);
  /* Called before the first run. NULL, or why it can't be done. */
  const char *(*begin)(const peer_work *work);
} cpu_kernel;

extern const cpu_kernel cpu_kernels[];
extern const uint32_t cpu_kernel_count;

/* Probes that are no kernel over arrays: one launch, and how many parts it has. */
typedef struct cpu_probe {
  const char *id, *how;
  uint64_t (*prepare)(int threads, uint64_t n); /* bytes of a launch, or 0 */
  void (*launch)(int threads);
  uint64_t parts;
} cpu_probe;

extern const cpu_probe cpu_probes[];
extern const uint32_t cpu_probe_count;

/* Bytes of the second-level cache of a core; 0 if not known. */
uint64_t cpu_private_cache(void);
/* Bytes of all third-level caches that the program's processors have together; 0 if not known. */
uint64_t cpu_shared_caches(void);

#endif
