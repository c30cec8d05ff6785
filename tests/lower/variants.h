/* A program run in several ways that must agree: the oracle forwards decides; the oracle backwards, the engine for
 * each table of opcodes, devices, and what a transformation makes of the program are its variants. */
#ifndef VYRE_TESTS_LOWER_VARIANTS_H
#define VYRE_TESTS_LOWER_VARIANTS_H

#include "runs.h"

/* NOTHING: the transformation itself says what is wrong. */
typedef enum variant_where { RUN_ORACLE, RUN_ENGINE, RUN_DEVICE, RUN_NOTHING } variant_where;

typedef struct variant {
  const char *name;
  variant_where where;
  bool reverse;         /* ORACLE, ENGINE: from the last invocation to the first */
  target target;        /* ENGINE */
  vyre_device *device;  /* DEVICE */
  bool asked;           /* not among all: runs where it is named */
  /* Makes another program that must give the same, as a pass of an optimizer does; NULL runs it as it is. */
  vyre_status (*transform)(vyre_program *program, vyre_program **out, vyre_error *error);
} variant;

/* Those that need no device: "reversed", "engine", "scalar", "raw", "least" (the engine), "text", "wire" (printed and
 * parsed, encoded and decoded), "level-1", "level-2" (optimized, for the oracle and for the engine). */
extern const variant variants_plain[];
extern const uint32_t variants_plain_count;

/* What was found. */
typedef struct verdict {
  const variant *failed; /* NULL where all agree */
  bool trapped;
  uint32_t runs, refused; /* runs; those that were refused */
  char text[512];         /* what differs, or why the oracle or the last that refused gave no answer */
} verdict;

/* Memory for one check after the other. */
typedef struct variants_room {
  outcome *wanted, *got;
} variants_room;
bool variants_open(variants_room *room);
void variants_close(variants_room *room);

/* Runs |p| as |list| says until one differs. |running| (may be NULL) is set to the number of each before it begins. */
void variants_check(const variants_room *room, const variant *list, uint32_t count, vyre_program *p, const run_case *c,
                    volatile uint32_t *running, verdict *out);
/* Whether the variant alone differs where the oracle gives one answer in both orders: what a shrinker asks. */
bool variants_fails(const variants_room *room, const variant *v, vyre_program *p, const run_case *c);

#endif
