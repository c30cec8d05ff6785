/* The kernels of kernels.def with their data: what runs them, counts them or compares them takes it from here. */
#ifndef VYRE_BENCH_KERNELS_H
#define VYRE_BENCH_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/ir.h>

enum { KERNEL_MAX_ARRAYS = 16, KERNEL_MAX_PARAMS = 4 };

/* One buffer of a kernel; digest is that of its contents once the kernel has run. */
typedef struct kernel_array {
  const char *name;
  vyre_type type;
  vyre_access access;
  uint64_t count, bytes, digest;
  void *data; /* aligned to 16; NULL where count is 0 */
} kernel_array;

typedef struct kernel_param {
  const char *name;
  vyre_type type;
  uint64_t bits;
} kernel_param;

typedef struct kernel kernel;

/* A kernel, read and with data of its own. */
typedef struct kernel_data {
  const kernel *kernel;
  vyre_program *program;
  kernel_array arrays[KERNEL_MAX_ARRAYS]; /* by slot of the program */
  kernel_param params[KERNEL_MAX_PARAMS]; /* by number of the program's parameters */
  uint32_t array_count, param_count;
} kernel_data;

struct kernel {
  const char *name;
  const char *source; /* where it is from */
  uint32_t grid[3];   /* workgroups */
  void (*expect)(const kernel_data *data); /* makes the contents that the outputs must have in the end */
};

/* All of them, by name. */
const kernel *kernels(uint32_t *count);

/* Reads DIRECTORY/NAME.vyre and makes its data. Free in any case. Errors: IO, INVALID_PROGRAM (also if a parameter or
 * buffer has no row in the table), NO_MEMORY; |error| says which. */
vyre_status kernel_load(const kernel *k, const char *directory, kernel_data *data, vyre_error *error);
void kernel_free(kernel_data *data);

/* What replaces rows of the table, for machines that need more to do. */
typedef struct kernel_scale {
  uint64_t (*count)(const char *of, const char *buffer);      /* elements; 0: those of the table */
  const char *(*value)(const char *of, const char *param);    /* NULL: that of the table */
  bool keeps_contents; /* `write` buffers become `rw`, so that clearing them is no part of a launch */
} kernel_scale;
/* The same with |scale|, NULL for the table alone. Digests are those of the table's sizes in any case. */
vyre_status kernel_load_scaled(const kernel *k, const char *directory, const kernel_scale *scale, kernel_data *data,
                               vyre_error *error);

/* The contents of an array; NULL if there is none of that name. */
void *kernel_array_named(const kernel_data *data, const char *name);
uint64_t kernel_count_of(const kernel_data *data, const char *name);
uint64_t kernel_param_named(const kernel_data *data, const char *name);

/* The contents that arrays start with; one function for each name that stands in the table. fill.c */
typedef void (*kernel_fill)(kernel_array *array, uint32_t stream);
kernel_fill kernel_fill_named(const char *name);

#endif
