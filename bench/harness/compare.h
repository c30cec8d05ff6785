/* Two reports, earlier and later: what became slower or faster, and what the noise does not let one say. */
#ifndef VYRE_BENCH_COMPARE_H
#define VYRE_BENCH_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include <vyre/status.h>

#include "record.h"

typedef enum bench_change {
  BENCH_SAME,         /* the interval of the ratio lies within the threshold */
  BENCH_FASTER,
  BENCH_SLOWER,
  BENCH_UNCLEAR,      /* the interval is too wide to say */
  BENCH_BROKEN,       /* correct before, not correct or without figures now */
  BENCH_MENDED,       /* the other way round */
  BENCH_INCOMPARABLE, /* not the same work, or no figures on either side */
  BENCH_ADDED,
  BENCH_REMOVED,
  BENCH_CHANGES
} bench_change;

/* One contestant of one case. */
typedef struct bench_difference {
  const bench_case *before, *after;                   /* one is NULL if added or removed */
  const char *contestant;
  const bench_contestant *was, *is;                   /* its records; NULL where it is not */
  bench_clock clock;           /* device if both have it, else the first wall clock of both; BENCH_CLOCKS if none is */
  double before_ns, after_ns;                         /* p50; 0 if there is none */
  double ratio, low, high;                            /* after / before, with its interval */
  bool controlled;                                    /* other contestants ran in both, and ... */
  double drift;                                       /* ... this is the ratio of theirs */
  bench_change change;
  const char *reason;
} bench_difference;

typedef struct bench_comparison {
  vyre_arena arena;
  const bench_report *before, *after;
  bench_difference *rows; /* in the order of |after|, then what was removed; vyre before its peers */
  uint32_t count;
  uint32_t changes[BENCH_CHANGES];
  const char *warning;    /* the machines or builds are not the same; NULL if they are */
} bench_comparison;

/* Compares; |*out| borrows from both reports. Deterministic. VYRE_ERR_NO_MEMORY. */
vyre_status bench_compare(const bench_report *before, const bench_report *after, bench_comparison *out);
void bench_comparison_free(bench_comparison *comparison);

/* Whether something of vyre became slower or broke: what `vyre bench compare` fails for. */
bool bench_comparison_failed(const bench_comparison *comparison);
/* As text, or as JSON; false if the stream failed. */
bool bench_comparison_write(FILE *file, const bench_comparison *comparison);
bool bench_comparison_json(FILE *file, const bench_comparison *comparison);

const char *bench_change_name(bench_change change);

#endif
