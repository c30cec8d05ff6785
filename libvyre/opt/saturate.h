/* Equality saturation: what the rules make of an expression in every order, and the cheapest of it. */
#ifndef VYRE_OPT_SATURATE_H
#define VYRE_OPT_SATURATE_H

#include "opt/rules.h"

typedef struct opt_equal_term {
  uint32_t e;
  uint32_t parent; /* towards the term that stands for the class */
  uint32_t next;   /* in a circle of all terms of the class */
  uint32_t best;   /* of the class, where this stands for it: its cheapest expression */
  bool tried;      /* the rules */
} opt_equal_term;

/* Terms are expressions of the unit, so equal ones are one; classes are those that the rules have shown to give the same
 * value. An operand stands for its class: each of its terms may take its place. */
typedef struct opt_saturation {
  opt_unit *unit;
  opt_matcher matcher;
  VYRE_VECTOR(opt_equal_term) terms;
  VYRE_VECTOR(uint64_t) place; /* by expression: epoch << 32 | its term */
  VYRE_VECTOR(uint32_t) found; /* what the rules made of the term at hand */
  uint32_t epoch;
  uint32_t most_terms, most_rounds; /* of one expression */
  uint64_t spent, budget;           /* terms of all expressions together */
} opt_saturation;

opt_saturation opt_saturation_begin(opt_unit *u, uint64_t budget);
void opt_saturation_end(opt_saturation *s);

/* The cheapest expression that was found, by opt_meta cost; |e| itself if there is none that costs less, or if |e| has
 * effects. The same expression and budget give the same. */
uint32_t opt_saturate(opt_saturation *s, uint32_t e);

#endif
