/* Programs of any size, for measuring how the time of what works on programs grows. */
#ifndef VYRE_BENCH_SHAPES_H
#define VYRE_BENCH_SHAPES_H

#include <vyre/ir.h>

typedef struct program_shape {
  const char *name;
  void (*build)(vyre_builder *b, uint32_t statements); /* adds about so many */
} program_shape;

/* What people and generators make. */
const program_shape *program_shapes(uint32_t *count);
/* What makes a careless pass slow: each has very much of one thing. */
const program_shape *hard_shapes(uint32_t *count);

#endif
