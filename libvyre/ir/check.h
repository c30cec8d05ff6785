/* The typing rules of expressions, once for text, wire and C. */
#ifndef VYRE_IR_CHECK_H
#define VYRE_IR_CHECK_H

#include "ir/program.h"

/* The type of |op| applied to operands of types |x|, |y|, |z| (NONE where the operator has fewer), as
 * ops.def's rule says. |code| gets VYRE_CODE_NONE, or the code of the broken rule, and the result is NONE.
 * Operands are as they will stand in the program: a scalar beside a vector has been splat already.
 * Not for CAST, BITCAST, vectors, memory and leaves, whose types do not follow from operands alone. */
vyre_type ir_check_op(vyre_op op, vyre_type x, vyre_type y, vyre_type z, vyre_code *code);

/* Whether T(x) and bitcast<T>(x) exist between these types. */
bool ir_check_cast(vyre_type from, vyre_type to);
bool ir_check_bitcast(vyre_type from, vyre_type to);

/* True if |bits| is a value of |type| in the form that literals have (upper bits 0, bool 0 or 1). */
bool ir_check_literal(vyre_type type, uint64_t bits);

/* Whether an atomic operator takes this order. */
bool ir_check_order(vyre_op op, vyre_order order);

#endif
