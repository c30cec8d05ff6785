/* Operands for the numeric checks: the values at which implementations go wrong, and random bits beside them. */
#ifndef VYRE_CONFORM_NUMERIC_VALUES_H
#define VYRE_CONFORM_NUMERIC_VALUES_H

#include <vyre/ir.h>

/* SplitMix64. */
uint64_t numeric_random(uint64_t *state);

/* Bits of edge |index| of a scalar type, stored types as well; false beyond the last. Those that matter most come
 * first, so that a few of them are a choice. */
bool numeric_edge(vyre_type type, uint32_t index, uint64_t *bits);
uint32_t numeric_edge_count(vyre_type type);

/* Elements of one type, as a buffer holds them. */
typedef struct numeric_column {
  vyre_type type;
  uint64_t count; /* elements */
  uint8_t *bytes;
} numeric_column;

/* Every combination of the first |most| edges of each type, and |extra| rows of random bits behind them, as one column
 * an operand. Vectors take one row a component, so that all have the same number of lanes or one; the last vector is
 * filled up with random bits. The caller frees. False without memory. */
bool numeric_cross(const vyre_type *types, uint32_t count, uint32_t most, uint32_t extra, uint64_t seed,
                   numeric_column *columns);
void numeric_columns_free(numeric_column *columns, uint32_t count);

/* Writes scalar |bits| of |type| at element |index| of |bytes|. */
void numeric_put(vyre_type type, uint8_t *bytes, uint64_t index, uint64_t bits);

#endif
