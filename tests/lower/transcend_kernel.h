/* Kernels of one transcendental function, y[i] = f(x[i]), lowered for a target that has it not. */
#ifndef TESTS_LOWER_TRANSCEND_KERNEL_H
#define TESTS_LOWER_TRANSCEND_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include <vyre/lower.h>

/* Whether the target computes in f64 too, or with words alone. */
typedef enum transcend_form { FORM_PAIR, FORM_F64 } transcend_form;

/* The functions, in the order of the table. */
typedef struct transcend_function {
  const char *name;
  vyre_op op;
} transcend_function;
enum { TRANSCEND_FUNCTIONS = 13 };
extern const transcend_function transcend_functions[TRANSCEND_FUNCTIONS];

/* Opcodes of such a target: all types or all but those of f64, all opcodes but the transcendentals. */
const vyre_opcode_support *transcend_opcodes(transcend_form form, uint64_t *count);

/* A kernel, verified; the caller frees it. Ends the process where that fails. */
void *transcend_kernel(const char *function, transcend_form form);

#endif
