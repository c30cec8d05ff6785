/* Runs straight kernels over many invocations at once, an instruction at a time: fast enough to try all 2^32 inputs of
 * a function. It knows the opcodes of u32, i32, f32 and f64 that builders emit, if, else and slots, one load (the
 * input) and one store (the output), and says so where it meets another. */
#ifndef TESTS_LOWER_BATCH_H
#define TESTS_LOWER_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/kernel.h>

enum { BATCH_LANES = 256 };

typedef struct batch batch;

/* Of a kernel that vyre_kernel_verify accepts. NULL if it is out of what this knows; then *unknown is the opcode. */
batch *batch_new(const void *kernel, uint32_t *unknown);
void batch_run(batch *b, const uint32_t input[BATCH_LANES], uint32_t output[BATCH_LANES]);
void batch_free(batch *b);
/* Instructions that a run executes at most. */
uint32_t batch_instructions(const batch *b);

#endif
