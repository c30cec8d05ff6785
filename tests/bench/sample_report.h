/* A report for tests, as a run on a machine with a GPU would leave it: complete, passing, with random times. */
#ifndef VYRE_TESTS_SAMPLE_REPORT_H
#define VYRE_TESTS_SAMPLE_REPORT_H

#include "harness/record_json.h"

typedef struct sample_options {
  uint64_t seed;
  uint32_t rounds;    /* samples of each series */
  double cv;          /* of the noise of one sample */
  double drift;       /* factor on all times at the end of a series, growing from 1 */
  double machine;     /* factor on all times */
  double vyre;        /* factor on vyre's times in every case */
  bool bare;          /* the case of SAMPLE_ADD_H alone, as the first, and no ratios: for many samples */
} sample_options;

#define SAMPLE_PLAIN { .seed = 1, .rounds = 30, .cv = 0.002, .drift = 1, .machine = 1, .vyre = 1 }

/* Cases of the sample, by index. */
enum { SAMPLE_ADD_S, SAMPLE_ADD_L, SAMPLE_ADD_H, SAMPLE_INTEGER, SAMPLE_CASES };
/* Contestants of each case. */
enum {
  SAMPLE_VYRE,
  SAMPLE_CUB,
  SAMPLE_CUDA,
  SAMPLE_GCC,
  SAMPLE_CLANG,
  SAMPLE_ABSENT, /* without figures, as all from here on */
  SAMPLE_CONTESTANTS = SAMPLE_ABSENT + 3
};

/* Free with bench_report_free. */
void sample_report(bench_report *report, const sample_options *options);
/* Computes statistics and ratios again, after samples were changed. */
void sample_settle(bench_report *report);
/* A text of the report's own. */
const char *sample_text(bench_report *report, const char *text);
/* The report as JSON, in memory of malloc. */
char *sample_json(const bench_report *report, size_t *count);

#endif
