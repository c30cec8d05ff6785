/* Inputs, and taking turns. */
#include "vulkan/contest.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARMING = 2, LEAST_SAMPLES = 10, MOST_SAMPLES = 4000 };

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

static double median(double *samples, uint32_t count) {
  qsort(samples, count, sizeof *samples, by_size);
  return count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

static double processor_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Samples of one contestant. */
typedef struct series {
  double wall[MOST_SAMPLES], processor[MOST_SAMPLES];
} series;

static const char *take_sample(const contestant *c, uint32_t runs, series *s, uint32_t at) {
  double wall = peer_now(), processor = processor_now();
  for (uint32_t i = 0; i < runs; i++) {
    const char *fault = c->run(c->job);
    if (fault) return fault;
  }
  s->wall[at] = (peer_now() - wall) / runs;
  s->processor[at] = (processor_now() - processor) / runs;
  return NULL;
}

const char *contest_measure(contestant *contestants, uint32_t count, uint32_t runs, double seconds) {
  series *all = malloc(sizeof *all * count);
  const char *fault = all ? NULL : "memory is exhausted";
  uint32_t taken = 0;
  double end = 0;
  for (uint32_t round = 0; !fault && taken < MOST_SAMPLES; round++) {
    if (round == WARMING) end = peer_now() + seconds * 1e9;
    if (taken >= LEAST_SAMPLES && peer_now() > end) break;
    for (uint32_t i = 0; !fault && i < count; i++) {
      uint32_t who = round % 2 == 0 ? i : count - 1 - i;
      fault = take_sample(&contestants[who], runs, &all[who], taken);
    }
    if (round >= WARMING) taken++;
  }
  for (uint32_t i = 0; !fault && i < count; i++) {
    contestants[i].wall_ns = median(all[i].wall, taken);
    contestants[i].processor_ns = median(all[i].processor, taken);
  }
  free(all);
  return fault;
}
