/* Short names for what the builders of transcendental functions emit. |b| is the code that they add to.
 *
 * Operands are members of one initializer, which compilers evaluate from left to right; in a call the order would
 * be theirs to choose, and two builds of the library would emit different kernels for one program. */
#ifndef VYRE_LOWER_TRANSCEND_EMIT_H
#define VYRE_LOWER_TRANSCEND_EMIT_H

#include "lower/code.h"

typedef struct emit_operands {
  lower_value v[3];
} emit_operands;

static inline lower_value emit_op(lower_code *b, uint32_t op, emit_operands o) {
  return lower_op(b, op, o.v[0], o.v[1], o.v[2]);
}

#define EMIT(b, op, ...) emit_op(b, VYRE_KERNEL_##op, (emit_operands){ { __VA_ARGS__ } })
#define t_add(b, x, y) EMIT(b, ADD, x, y)
#define t_sub(b, x, y) EMIT(b, SUB, x, y)
#define t_mul(b, x, y) EMIT(b, MUL, x, y)
#define t_mulhi(b, x, y) EMIT(b, MULHI, x, y)
#define t_div(b, x, y) EMIT(b, DIV, x, y)
#define t_fma(b, x, y, z) EMIT(b, FMA, x, y, z)
#define t_sqrt(b, x) EMIT(b, SQRT, x)
#define t_min(b, x, y) EMIT(b, MIN, x, y)
#define t_max(b, x, y) EMIT(b, MAX, x, y)
#define t_and(b, x, y) EMIT(b, AND, x, y)
#define t_or(b, x, y) EMIT(b, OR, x, y)
#define t_xor(b, x, y) EMIT(b, XOR, x, y)
#define t_shl(b, x, y) EMIT(b, SHL, x, y)
#define t_shr(b, x, y) EMIT(b, SHR, x, y)
#define t_clz(b, x) EMIT(b, CLZ, x)
#define t_lt(b, x, y) EMIT(b, LT, x, y)
#define t_eq(b, x, y) EMIT(b, EQ, x, y)
#define t_select(b, condition, x, y) EMIT(b, SELECT, condition, x, y)
#define t_convert(b, op, type, x) lower_convert(b, VYRE_KERNEL_##op, VYRE_TYPE_##type, x)
#define t_u32(b, x) lower_u32(b, x)
#define t_f64(b, x) lower_f64(b, x)

#endif
