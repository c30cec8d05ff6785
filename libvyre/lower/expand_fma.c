/* a * b + c of f32 with one rounding, for targets whose own fma has two. */
#include "lower/expand.h"

#define op1(c, op, x) lower_op1(c, op, x)
#define op2(c, op, x, y) lower_op2(c, op, x, y)
#define add(c, x, y) op2(c, VYRE_KERNEL_ADD, x, y)
#define sub(c, x, y) op2(c, VYRE_KERNEL_SUB, x, y)

/* What a sum of f64 lost by its rounding, exactly; a NaN if anything is not finite. */
static lower_value lost(lower_code *c, lower_value x, lower_value y, lower_value sum) {
  lower_value of_y = sub(c, sum, x);
  lower_value of_x = sub(c, sum, of_y);
  lower_value from_x = sub(c, x, of_x), from_y = sub(c, y, of_y);
  return add(c, from_x, from_y);
}

/* The product is exact in f64. The sum is rounded to odd: where it lost something and is even, its neighbour on the other
 * side of the exact value is taken. No tie between two f32 is odd in f64, and f64 has more than two bits beyond f32, so
 * that rounding once more is the same as rounding the exact value. Subnormals of f64 do not come up. */
lower_value expand_fma(lower_code *c, const lower_request *r) {
  lower_value x = op1(c, VYRE_KERNEL_REFLOAT, r->arg[0]), y = op1(c, VYRE_KERNEL_REFLOAT, r->arg[1]);
  lower_value z = op1(c, VYRE_KERNEL_REFLOAT, r->arg[2]), zero = lower_f64(c, 0);
  lower_value product = op2(c, VYRE_KERNEL_MUL, x, y), sum = add(c, product, z);
  lower_value error = lost(c, product, z, sum);
  lower_value bits = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_U64, sum), one = lower_number(c, VYRE_TYPE_U64, 1);
  lower_value is_above = op2(c, VYRE_KERNEL_LT, zero, error), is_below = op2(c, VYRE_KERNEL_LT, error, zero);
  lower_value is_positive = op2(c, VYRE_KERNEL_LT, zero, sum);
  lower_value goes_out = op2(c, VYRE_KERNEL_EQ, is_above, is_positive);
  lower_value next = lower_select(c, goes_out, add(c, bits, one), sub(c, bits, one));
  lower_value is_even = op2(c, VYRE_KERNEL_EQ, op2(c, VYRE_KERNEL_AND, bits, one), lower_number(c, VYRE_TYPE_U64, 0));
  lower_value moves = op2(c, VYRE_KERNEL_AND, op2(c, VYRE_KERNEL_OR, is_above, is_below), is_even);
  lower_value odd = lower_convert(c, VYRE_KERNEL_BITCAST, VYRE_TYPE_F64, lower_select(c, moves, next, bits));
  return op1(c, VYRE_KERNEL_REFLOAT, odd);
}
