/* Inputs, and taking turns. */
#include "vulkan/contest.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SAMPLES = 4000, LEAST_SAMPLES = 10 };

/* docs/benchmarks.md defines it: number i of stream s. */
static uint32_t mix(uint32_t v) {
  v = (v ^ v >> 16) * 0x7FEB352Du;
  v = (v ^ v >> 15) * 0x846CA68Bu;
  return v ^ v >> 16;
}

static uint32_t number(contest_fill fill, uint32_t stream, uint32_t i) {
  uint32_t h = mix(i ^ mix(stream)), bits;
  float signed_unit = (float)(h >> 8) * 0x1p-23f - 1;
  switch (fill) {
    case FILL_BITS: return h;
    case FILL_SIGNED: memcpy(&bits, &signed_unit, sizeof bits); return bits;
    case FILL_POISON: return 0xA5A5A5A5u;
    default: return 0;
  }
}

uint32_t *contest_contents(const contest_kernel *kernel, uint32_t buffer) {
  const contest_buffer *b = &kernel->buffers[buffer];
  uint32_t *words = malloc((size_t)b->count * sizeof *words);
  for (uint32_t i = 0; words && i < b->count; i++) words[i] = number(b->fill, 301 + buffer, i);
  return words;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static const char *take_sample(const contestant *c, uint32_t runs, double *ns) {
  double start = peer_now();
  for (uint32_t i = 0; i < runs; i++) {
    const char *fault = c->run(c->job);
    if (fault) return fault;
  }
  *ns = (peer_now() - start) / runs;
  return NULL;
}

const char *contest_measure(contestant *contestants, uint32_t count, uint32_t runs, double seconds) {
  double *samples = malloc(sizeof *samples * MOST_SAMPLES * count), end = 0;
  const char *fault = samples ? NULL : "memory is exhausted";
  uint32_t taken = 0;
  for (uint32_t round = 0; !fault && taken < MOST_SAMPLES; round++) {
    if (round == 2) end = peer_now() + seconds * 1e9; /* the first two warm */
    if (round > 2 && taken >= LEAST_SAMPLES && peer_now() > end) break;
    for (uint32_t i = 0; !fault && i < count; i++) {
      uint32_t who = round % 2 == 0 ? i : count - 1 - i;
      fault = take_sample(&contestants[who], runs, &samples[who * MOST_SAMPLES + taken]);
    }
    if (round >= 2) taken++;
  }
  for (uint32_t i = 0; !fault && i < count; i++) {
    double *own = samples + i * MOST_SAMPLES;
    qsort(own, taken, sizeof *own, by_size);
    contestants[i].median_ns = taken % 2 ? own[taken / 2] : (own[taken / 2 - 1] + own[taken / 2]) / 2;
    contestants[i].least_ns = own[0];
  }
  free(samples);
  return fault;
}
