/* Kernels of one transcendental function, y[i] = f(x[i]), lowered for a target that has it not. */
#ifndef TESTS_LOWER_TRANSCEND_KERNEL_H
#define TESTS_LOWER_TRANSCEND_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include <vyre/lower.h>

/* PAIR: the target has no f64. F32: the error budget is large. */
typedef enum transcend_form { FORM_PAIR, FORM_F64, FORM_F32, FORMS } transcend_form;
extern const char *const transcend_form_names[FORMS];

/* The functions, in the order of the table. */
typedef struct transcend_function {
  const char *name;
  vyre_op op;
} transcend_function;
enum { TRANSCEND_FUNCTIONS = 13 };
extern const transcend_function transcend_functions[TRANSCEND_FUNCTIONS];

/* Opcodes of such a target: all types or all but those of f64, all opcodes but the transcendentals. */
const vyre_opcode_support *transcend_opcodes(transcend_form form, uint64_t *count);

/* A kernel within an error budget, verified; the caller frees it. Ends the process where that fails. */
void *transcend_kernel(const char *function, transcend_form form, uint32_t ulp);

/* What the table says of the form of f32: its results are at most so many f32 away. */
uint32_t transcend_bound(vyre_op op);
/* How many f32 lie between, and one more; 0 if equal, UINT32_MAX if one alone is a NaN. */
uint32_t transcend_distance(uint32_t x, uint32_t y);

#endif
