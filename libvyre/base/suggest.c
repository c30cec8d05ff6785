/* Optimal string alignment distance (Levenshtein with swaps of neighbours) over three rows. */
#include "base/suggest.h"

#include <string.h>
#include <strings.h>

enum { LONGEST = 64 };

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t distance(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes) {
  uint32_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
  for (uint32_t j = 0; j <= b_bytes; j++) before[j] = last[j] = j;
  for (uint32_t i = 1; i <= a_bytes; i++) {
    row[0] = i;
    for (uint32_t j = 1; j <= b_bytes; j++) {
      row[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = least(row[j], least(last[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = least(row[j], before[j - 2] + 1);
    }
    uint32_t *oldest = before;
    before = last;
    last = row;
    row = oldest;
  }
  return last[b_bytes];
}

void vyre_suggest_offer(vyre_suggestion *s, const char *candidate) {
  size_t a = strlen(s->word), b = strlen(candidate);
  if (a > LONGEST || b > LONGEST) return;
  if (strcasecmp(s->word, candidate) == 0 && s->distance > 0) { /* capitals are the likeliest slip */
    s->best = candidate;
    s->distance = strcmp(s->word, candidate) != 0;
    return;
  }
  uint32_t allowed = 1 + (uint32_t)(a < b ? a : b) / 4;
  if ((a < b ? b - a : a - b) > allowed) return; /* so many letters are missing at least */
  uint32_t found = distance(s->word, (uint32_t)a, candidate, (uint32_t)b);
  if (found > allowed || found >= s->distance || found >= b || found >= a) return;
  s->best = candidate;
  s->distance = found;
}
