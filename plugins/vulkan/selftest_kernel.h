/* The kernel that the numeric self-test runs. */
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

/* Appends the kernel for floats of |bits| 32 or 64; |is_wide| says that the device has f64. Binding 0 has the operands, first all of the first, and so on;
 * binding 1 gets the results in the same way. b->failed says whether memory ran out. */
void selftest_kernel(uint32_t bits, bool is_wide, gpu_bytes *b);

#endif
