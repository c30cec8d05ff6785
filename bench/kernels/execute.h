/* Kernels on the engine of the oracle, with a count of what was executed. */
#ifndef VYRE_BENCH_KERNELS_EXECUTE_H
#define VYRE_BENCH_KERNELS_EXECUTE_H

#include "kernels/kernels.h"

/* How often each was executed, over all invocations: operators, and what statements do besides their operands; of a
 * loop, its turns. */
typedef struct kernel_tally {
  uint64_t ops[VYRE_OP_COUNT], stmts[VYRE_STMT_COUNT];
  uint64_t instructions; /* of the oracle, its jumps and moves included */
  uint64_t cost;         /* of all, in the cycles of the optimizer's table */
} kernel_tally;

/* Runs |program|, the kernel's own or what became of it, on the kernel's arrays in place. |tally| may be NULL.
 * Errors: those of the oracle; NO_MEMORY; INVALID_PROGRAM if the program has other buffers or parameters. */
vyre_status kernel_execute(const kernel_data *data, vyre_program *program, kernel_tally *tally, vyre_error *error);

/* Operators executed that have operands, and those among them that load; an operator on vectors counts once. Ids and the
 * like are registers, wherever they stand. */
uint64_t kernel_operators(const kernel_tally *tally);
uint64_t kernel_loads(const kernel_tally *tally);
uint64_t kernel_stores(const kernel_tally *tally);
uint64_t kernel_divisions(const kernel_tally *tally);

#endif
