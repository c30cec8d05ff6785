/* The kernels that the numeric self-test runs. */
#ifndef VULKAN_SELFTEST_KERNEL_H
#define VULKAN_SELFTEST_KERNEL_H

#include "plugins/gpu/kernel.h"

/* What the test does with a row of operands: the results of an invocation, in this order. */
enum selftest_op {
  SELFTEST_COPY, /* an operand, loaded and stored */
  SELFTEST_ADD,
  SELFTEST_SUB,
  SELFTEST_MUL,
  SELFTEST_PRODUCT, /* the same by way of f64, where the device has that */
  SELFTEST_LESS,    /* a < b ? a : c */
  SELFTEST_EQUAL,   /* a == b ? a : c */
  SELFTEST_MIN,
  SELFTEST_MAX,
  SELFTEST_FLOOR,
  SELFTEST_CEIL,
  SELFTEST_DIV,
  SELFTEST_SQRT,
  SELFTEST_FMA,
  SELFTEST_OPS
};
enum { SELFTEST_ROWS = 128, SELFTEST_OPERANDS = 3, SELFTEST_GROUP = 64 };

/* Appends the kernel for floats of |bits| 32 or 64; |is_wide| says that the device has f64. Binding 0 has the operands,
 * first all of the first, and so on; binding 1 gets the results in the same way. b->failed says whether memory ran out. */
void selftest_kernel(uint32_t bits, bool is_wide, gpu_bytes *b);

/* Sums and differences of u64 that saturate. One operand is: */
enum selftest_source {
  SELFTEST_LOADED, /* the row's first */
  SELFTEST_LOW,    /* the low word of that */
  SELFTEST_PARAM,  /* a u32 that the launch has as its only parameter */
  SELFTEST_LENGTH, /* the element count of binding 0 */
  SELFTEST_SOURCES
};
/* The other is a constant, or at last the row's second. */
enum { SELFTEST_LIMITS = 4, SELFTEST_SATURATIONS = 4 * SELFTEST_SOURCES * (SELFTEST_LIMITS + 1) };
extern const uint64_t selftest_limits[SELFTEST_LIMITS];

/* Appends their kernel; bindings as above, with two operands a row. Results, for each source x, for each other y:
 * y + x, x + y, y - x, x - y. */
void selftest_integer_kernel(gpu_bytes *b);

#endif
