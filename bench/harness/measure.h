/* Measuring contestants of one case beside each other: checked before, in the middle and after; warm; in turns. */
#ifndef VYRE_BENCH_MEASURE_H
#define VYRE_BENCH_MEASURE_H

#include "driver.h"

/* The right answer. */
typedef struct bench_answer {
  void *outputs[BENCH_MAX_ARRAYS]; /* by array; NULL for inputs */
  bench_digest digest;             /* of all outputs, one after the other */
} bench_answer;

/* Takes the outputs that lie in the work's arrays as the right ones. False without memory. */
bool bench_answer_take(const bench_work *work, bench_answer *out);
void bench_answer_free(bench_answer *answer);

/* Someone who takes part. */
typedef struct bench_entrant {
  bench_driver driver;
  bench_contestant *record; /* once its failure is set, it takes part no more */
  double launch_ns;         /* about, of its quickest clock */
  uint32_t warmups;         /* launches before its first sample */
} bench_entrant;

/* How much is measured. */
typedef struct bench_plan {
  uint32_t samples;         /* rounds of each clock, if the budget allows them */
  double sample_ns;         /* a sample holds as many launches as take this long */
  uint32_t warmup_launches; /* at least, and ... */
  double warmup_ns;         /* ... for at least so long, but ... */
  double warmup_limit_ns;   /* ... not longer than this */
  double budget_ns;         /* of all samples of an entrant in one clock; at least 3 are taken */
  uint64_t seed;            /* chooses the round that is checked */
} bench_plan;

#define BENCH_PLAN_INIT {30, 1e6, 300, 1e9, 3e9, 10e9, 0}

/* Measures all clocks that they have, and fills launch_ns, warmups and their records: series, launches_per_sample, output,
 * correct, failure.
 * Round i goes through the entrants forward if i is even and backward if it is odd; whoever is not measured rests.
 * Fails only for memory; what befalls an entrant is in its record. */
vyre_status bench_measure(bench_work *work, const bench_answer *answer, bench_entrant *entrants, uint32_t count,
                          const bench_plan *plan, vyre_arena *arena, vyre_error *error);

#endif
