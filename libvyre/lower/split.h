/* Which parts of a program top-level grid barriers separate, and what lives across them. */
#ifndef VYRE_LOWER_SPLIT_H
#define VYRE_LOWER_SPLIT_H

#include "base/vector.h"
#include "ir/program.h"

enum { SPLIT_NOWHERE = UINT32_MAX };

/* A variable that may live across a barrier. */
typedef struct split_var {
  uint32_t declared; /* entry point */
  uint32_t last_use; /* entry point of the last statement that reads or assigns it */
  uint32_t value;    /* of a let that is computed again where it is used: its expression; else 0 */
  uint32_t cost;     /* of computing it, in operators */
  uint64_t place;    /* in its workgroup's part of the spill binding, UINT64_MAX for none */
} split_var;

/* A shared or local buffer. */
typedef struct split_array {
  uint32_t last_use;
  uint32_t first_write; /* SPLIT_NOWHERE: never written */
  uint64_t place;
} split_array;

typedef struct lower_split {
  uint32_t entries;    /* entry points; if 1, all else is empty */
  split_var *vars;     /* of each variable */
  split_array *arrays; /* of each buffer */
  uint8_t *leaves;     /* of each entry point: an invocation may end in it before its end */
  uint32_t first_leaving; /* the first such entry point, or SPLIT_NOWHERE */
  uint64_t invocations; /* of a workgroup */
  uint64_t ended;       /* places of the mark that an invocation has ended ... */
  uint64_t expired, all_expired, count; /* ... and of the words of the step limit */
  uint64_t bytes;      /* of a workgroup in the spill binding; UINT64_MAX if that is no number */
} lower_split;

/* Analyses a program, whose step counters have |counter_bytes| bytes; 0 without step limit. False without memory; free
 * it all the same. */
bool lower_split_create(lower_split *s, const vyre_program *p, uint32_t counter_bytes);
void lower_split_free(lower_split *s);

#endif
