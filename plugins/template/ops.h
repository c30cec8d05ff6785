/* What each opcode gives for each operand: one function a row of ops.c. */
#ifndef TEMPLATE_OPS_H
#define TEMPLATE_OPS_H

#include <stdint.h>

#include <vyre/kernel.h>

/* The types that scalar values have, and components of vectors. */
typedef enum op_type { OP_BOOL, OP_U32, OP_I32, OP_U64, OP_I64, OP_F32, OP_F64, OP_TYPES } op_type;

/* The component type of |type|; OP_TYPES for one that no value has. */
op_type op_type_of(vyre_kernel_type type);

/* Bits of a scalar, upper ones 0; a bool is 0 or 1. Unused operands are 0. */
typedef uint64_t (*op_fn)(uint64_t a, uint64_t b, uint64_t c);

/* The function for operands of type |from| (of the first; for comparisons and arithmetic that of all) and a result of
 * type |to|; NULL if there is none. */
op_fn op_find(uint16_t opcode, op_type from, op_type to);

/* The largest and the smallest value of a type, infinities included: where a scan of minima or maxima begins. */
uint64_t op_largest(op_type type);
uint64_t op_smallest(op_type type);

/* Elements that are narrower in memory than as values. */
uint32_t op_from_f16(uint32_t half);
uint32_t op_to_f16(uint32_t single);
uint32_t op_from_bf16(uint32_t half);
uint32_t op_to_bf16(uint32_t single);

#endif
