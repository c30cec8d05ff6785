/* Random programs for tests: valid and typed by construction, made through the public builder from a seed alone. The
 * same seed and options give the same program on every machine.
 *
 * Over many seeds they hold every statement, operator, type, access, order, scope and attribute, and lie right at
 * the rules of uniformity: collectives stand wherever the flow allows them, on values of every level.
 *
 * They can be run. Loops are bounded. An invocation writes only what it owns, except for
 *   - atomics of one commutative operator a buffer, whose results are dropped,
 *   - shared memory, read from others only between barriers.
 * Elements of write and rw buffers are owned by the invocation with that linear number, local memory by each, so the
 * length of what is bound is free; many accesses are out of range on purpose. Workgroups have at most 128 invocations
 * and 16 KiB of shared memory, which every backend takes. */
#ifndef VYRE_TESTS_RANDOM_PROGRAM_H
#define VYRE_TESTS_RANDOM_PROGRAM_H

#include <vyre/ir.h>

/* A source of random numbers: SplitMix64. */
typedef struct random_source {
  uint64_t state;
} random_source;

uint64_t random_bits(random_source *r);
/* A number below |n|; n is at least 1. */
uint32_t random_below(random_source *r, uint32_t n);
/* True |percent| times in 100. */
bool random_chance(random_source *r, uint32_t percent);

typedef struct random_program_options {
  uint32_t statements; /* about how many; 0 for a number that the seed chooses */
  uint32_t avoid;      /* VYRE_NEED_* bits that the program must not have */
  uint32_t reuse;      /* how often in 100, where an expression is wanted, one that stands before is taken again */
  uint32_t subgroups;  /* sum of the subgroup sizes that a program may ask for; 0 for all */
  /* The answer must be the same on every backend and in every order of lanes: nothing shows the bits of a NaN, the
   * clock, or an order of atomics; no attribute frees the rounding; transcendentals are correctly rounded f32. Where
   * VYRE_NEED_SUBGROUP is not avoided, only for equal subgroup sizes. */
  bool reproducible;
} random_program_options;

/* Builds the program of |seed|. |options| may be NULL for all zero. |diagnostics| may be NULL. What finish says is
 * returned; anything but OK is a fault of the generator or of what checks. */
vyre_status random_program(uint64_t seed, const random_program_options *options, vyre_diagnostics *diagnostics,
                           vyre_program **out, vyre_error *error);

#endif
