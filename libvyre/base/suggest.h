/* "Did you mean ...?": the candidate that is nearest to a word that is not known. */
#ifndef VYRE_BASE_SUGGEST_H
#define VYRE_BASE_SUGGEST_H

#include <stdint.h>

typedef struct vyre_suggestion {
  const char *word;
  const char *best;  /* NULL: nothing is near enough to be meant */
  uint32_t distance; /* of best, in letters added, removed, changed or swapped with a neighbour */
} vyre_suggestion;

static inline vyre_suggestion vyre_suggest(const char *word) { return (vyre_suggestion){ word, 0, UINT32_MAX }; }

/* Considers one candidate; the first of the nearest is kept. */
void vyre_suggest_offer(vyre_suggestion *s, const char *candidate);

#endif
