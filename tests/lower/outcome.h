/* What a run of a program is given, all of it from one seed, and what comes out of it: for tests that run a program in
 * several ways and compare. */
#ifndef VYRE_TESTS_LOWER_OUTCOME_H
#define VYRE_TESTS_LOWER_OUTCOME_H

#include <vyre/ir.h>

enum { OUTCOME_MAX = 64, OUTCOME_PRINT_WORDS = 1 << 16 };

/* The input of a run. */
typedef struct run_case {
  uint64_t grid[3];     /* workgroups */
  uint32_t subgroup;    /* size */
  uint32_t ulp;         /* VYRE_ULP_UNSET for none */
  uint64_t steps;       /* 0 for no limit */
  uint64_t work_budget; /* 0 for none */
  uint64_t elements;    /* of buffers whose length is free */
  uint64_t seed;        /* of contents and parameters */
  bool mixed;           /* some buffers hold small numbers or ordinary floats, not bits of every kind */
} run_case;

/* Memory that is bound, by slot, and parameters. */
typedef struct run_memory {
  uint8_t *data[OUTCOME_MAX]; /* aligned to 16, with room up to the next multiple of it */
  uint64_t bytes[OUTCOME_MAX], length[OUTCOME_MAX], room[OUTCOME_MAX];
  uint32_t count, param_count;
  uint64_t params[OUTCOME_MAX];
} run_memory;

typedef struct outcome {
  bool refused;   /* the program is not taken; the text says why */
  char text[512]; /* why there is no answer; else empty */
  bool expired;   /* a trap that is reported is the step limit's */
  uint64_t traps, masked[3], prints_written, prints_dropped, print_words;
  uint64_t prints[OUTCOME_PRINT_WORDS];
  run_memory memory;
} outcome;

/* An outcome may be used for any number of runs, one after the other. NULL without memory. */
outcome *outcome_create(void);
void outcome_destroy(outcome *o);
/* Makes the input anew: the same for the same program and case. False if there are too many buffers or parameters, or
 * there is no memory. */
bool outcome_prepare(outcome *o, const vyre_program *p, const run_case *c);
/* Says why there is no answer; what was said first stays. */
void outcome_say(outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How strictly two outcomes are compared. */
typedef struct compare_options {
  bool masked; /* accesses out of range count */
  bool words;  /* words of print records count */
  bool nans;   /* any NaN equals any other in memory of floats */
  bool expiry; /* how many trap at the step limit counts: behind it invocations may disagree, which ends some */
} compare_options;

/* Writes what differs first; false, and nothing written, where nothing does. Where invocations trapped, memory is
 * unspecified, and the number of them alone counts. */
bool outcome_differs(const vyre_program *p, const outcome *wanted, const outcome *got, const compare_options *options,
                     char *text, uint32_t room);

/* The case as one line, and back: false if it is none. */
void run_case_write(const run_case *c, char *text, uint32_t room);
bool run_case_read(run_case *c, const char *text);

#endif
