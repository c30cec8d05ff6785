/* What operators give on literals, bit for bit as the language says. */
#ifndef VYRE_OPT_FOLD_H
#define VYRE_OPT_FOLD_H

#include "opt/unit.h"

/* One operator on scalars. |type| is that of the first operand (of SELECT: of the second); |x| has the operands' bits in
 * the form of literals, and so has *out. False where the operator has no such operands, or what it gives is not for the
 * optimizer to compute: a transcendental but for exact points, a NaN that no literal has. */
bool opt_fold_op(vyre_op op, vyre_type type, const uint64_t *x, uint64_t *out);
/* T(x). |to| may be narrow. */
bool opt_fold_cast(vyre_type from, vyre_type to, uint64_t x, uint64_t *out);

/* A literal, or a vector whose components are all the same literal. */
bool opt_is_constant(const opt_unit *u, uint32_t e);
/* Its bits; e is one. */
uint64_t opt_constant_bits(const opt_unit *u, uint32_t e);
uint32_t opt_constant(opt_unit *u, vyre_type type, uint64_t bits);

/* What an expression of literals gives, what a component of a vector that is put together is, or |e|. */
uint32_t opt_fold(opt_unit *u, uint32_t e);

/* x op y is y op x. */
bool opt_is_commutative(vyre_op op);
/* The comparison that gives the same with its operands exchanged; for all else the operator itself. */
vyre_op opt_mirrored(vyre_op op);

/* The bits of a number of |type|, which is a scalar; numbers are exact in it. */
uint64_t opt_integer_bits(vyre_type type, int64_t value);
uint64_t opt_float_bits(vyre_type type, double value);
/* The ends of an integer type. */
uint64_t opt_smallest(vyre_type type);
uint64_t opt_largest(vyre_type type);

#endif
