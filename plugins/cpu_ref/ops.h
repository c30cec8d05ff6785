/* The operators on scalars: each is a total function from bits to bits.
 *
 * A value stands in 64 bits: 32-bit types with upper bits zero, bool as 0 or 1, floats as their bits. The
 * floating-point environment must be the default one (run.c sees to it). */
#ifndef CPU_OPS_H
#define CPU_OPS_H

#include <stdint.h>

#include <vyre/ir.h>

typedef uint64_t (*cpu_op)(uint64_t a, uint64_t b, uint64_t c);

/* The function of an arithmetic, logic, comparison or math operator on operands of scalar |type|; NULL if the
 * operator takes no such operands. */
cpu_op cpu_op_find(vyre_op op, vyre_type type);

/* T(x) from scalar |from| to |to|, which may be a narrow type (then |from| is the type it widens to). */
cpu_op cpu_cast_find(vyre_type from, vyre_type to);

/* The value that a reduction with min or max starts from: the largest of the type, or the smallest. */
uint64_t cpu_op_largest(vyre_type type);
uint64_t cpu_op_smallest(vyre_type type);

#endif
