/* Random programs in which the same few expressions are evaluated again and again while what they read is assigned,
 * stored to and jumped over: what goes wrong when values are moved, kept or forgotten shows in them. For one
 * invocation, which may do with memory as it likes. */
#ifndef VYRE_TESTS_OPT_DENSE_H
#define VYRE_TESTS_OPT_DENSE_H

#include <vyre/ir.h>

/* The program of |seed|; NULL is a fault of the generator, and |error| says which. */
vyre_program *dense_program(uint64_t seed, vyre_error *error);

#endif
