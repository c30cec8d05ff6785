/* Contestants without a device: what they do wrong and how long they say that it took is up to the test. */
#ifndef VYRE_TESTS_FAKE_DRIVER_H
#define VYRE_TESTS_FAKE_DRIVER_H

#include "harness/measure.h"

typedef struct fake {
  char letter;           /* in the log */
  double ns;             /* a launch */
  double noise;          /* part of it, random */
  uint64_t state;
  bool has_device_clock, lacks_e2e;
  uint32_t wrong_from;   /* launches from this one on give a wrong answer; 0: none does */
  uint32_t wrong_to;     /* ... up to this one */
  uint32_t silent_from;  /* launches from this one on write nothing; 0: all write */
  uint32_t fail_at;      /* this launch fails; 0: none does */
  double bad_time;       /* what is measured instead, if not 0 */
  uint32_t launches;
  bool resting;
  uint32_t worked_at_rest;
  uint32_t output[4];
} fake;

/* Timed samples of more than one launch, as letters in the order they were taken. */
extern char fake_log[4096];

bench_driver fake_driver(fake *f, bench_work *work);
/* The work of all: output "o" of 4 u32, which have to be 0, 3, 6, 9. */
void fake_work(bench_work *work, bench_answer *answer);

#endif
