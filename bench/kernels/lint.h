/* Whether a program is written as an engineer would: a kernel that is padded with work for an optimizer to remove
 * measures nothing. */
#ifndef VYRE_BENCH_KERNELS_LINT_H
#define VYRE_BENCH_KERNELS_LINT_H

#include <vyre/ir.h>

/* |position| is the byte offset of the statement in its source, or VYRE_NO_POSITION. */
typedef void (*kernel_lint_report)(void *context, uint32_t position, const char *finding);

/* Looks at the program as it was parsed, functions inlined and literals folded, and reports
 *   - operations that do nothing, such as x + 0, x * 1, x & x;
 *   - expressions that are evaluated twice in a basic block, with nothing between that could change them;
 *   - values that nobody reads: names, assignments and stores.
 * Components of a name (v.x) are names. A store may change all of its buffer. Exact for programs of up to 64 vars and
 * 64 buffers; beyond, it may find less. |count| gets the number of findings. Errors: NO_MEMORY. */
vyre_status kernel_lint(const vyre_program *program, kernel_lint_report report, void *context, uint32_t *count);

#endif
