/* One piece of work: arrays of input and room for output in one file of shared memory, so that every contestant, in
 * this process or in another, starts from the same bytes; and numbers beside them. */
#ifndef VYRE_BENCH_WORK_H
#define VYRE_BENCH_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/ir.h>
#include <vyre/status.h>

enum { BENCH_MAX_ARRAYS = 16, BENCH_MAX_PARAMS = 16 };

typedef struct bench_array {
  const char *name; /* as the program and the peers call it */
  vyre_type type;
  bool output;
  uint64_t count, bytes;
  uint64_t offset; /* in the file, a multiple of 4096 */
  void *host;      /* where this process sees it */
} bench_array;

typedef struct bench_param {
  const char *name;
  vyre_type type;
  uint64_t bits;  /* for a program */
  double value;   /* for a peer */
} bench_param;

typedef struct bench_work {
  const char *id; /* of the workload, for peers */
  uint64_t n;
  bench_array arrays[BENCH_MAX_ARRAYS];
  bench_param params[BENCH_MAX_PARAMS];
  uint32_t array_count, param_count;
  uint32_t buffer_sets; /* copies of the arrays that launches go through in turn */
  int file;             /* -1 without arrays */
  void *memory;
  uint64_t bytes;
} bench_work;

/* Declares an array or a parameter. Beyond the room the work cannot be made, and bench_work_allocate says so. */
void bench_work_array(bench_work *work, const char *name, vyre_type type, uint64_t count, bool output);
void bench_work_param_u32(bench_work *work, const char *name, uint32_t value);

/* Makes the file and maps it, all zero. Errors: LIMIT, NO_MEMORY, IO. Free in any case. */
vyre_status bench_work_allocate(bench_work *work, vyre_error *error);
void bench_work_free(bench_work *work);

/* The array of that name; NULL if there is none. */
bench_array *bench_work_find(bench_work *work, const char *name);
/* Fills every output with bytes that no right answer has everywhere. */
void bench_work_poison(bench_work *work);

#endif
