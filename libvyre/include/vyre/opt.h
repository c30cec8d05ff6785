/* The optimizer: from a program to one that means the same and costs less, on any backend.
 *
 * Results are the same bits as those of the program as written, on every input that it may be given, unless the program
 * allows more (`contract`). The same program and options give the same program on every machine.
 *
 * Threads: every function may be called from any thread. A report is not changed once it is made. */
#ifndef VYRE_OPT_H
#define VYRE_OPT_H

#include <vyre/ir.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  VYRE_OPT_VERIFY = 1u << 0,    /* after each pass, check the whole program; a pass that broke it is an error */
  VYRE_OPT_ROUNDTRIP = 1u << 1, /* ... and that text and wire form give it back */
  VYRE_OPT_EXPLAIN = 1u << 2,   /* the report holds each rewrite that was done */
  VYRE_OPT_PRINT = 1u << 3,     /* the report holds the program's text after each pass that changed it */
  VYRE_OPT_DROP_BUFFERS = 1u << 4 /* declarations of read buffers that nothing uses go, too: a caller binds fewer */
};

struct vyre_spec_constant; /* vyre/backend.h */

typedef struct vyre_opt_options {
  uint32_t size;         /* sizeof(vyre_opt_options) */
  uint32_t level;        /* 0: nothing but literal folding; 1: scalar passes and clean-up; 2: all */
  uint32_t flags;        /* VYRE_OPT_* */
  uint32_t rounds;       /* at most so many over all passes; 0 for 50 */
  uint32_t growth;       /* expressions as written may become at most so many times as many; 0 for 4 */
  uint32_t zero;
  uint64_t budget_ns;    /* no pass begins after so long; 0 for no limit. What comes out then depends on the machine */
  const char *passes;    /* names, separated by commas, instead of those of the level; NULL for these. Each is run in
                            the order given, once */
  const char *print_after; /* with PRINT: only after passes of these names; NULL for all */
  /* Parameters with a value that is known, by ascending id: constants from level 1 on, so that the result is that of
   * the program for these values alone. They stay parameters of it. Borrowed for the call. */
  const struct vyre_spec_constant *spec;
  uint64_t spec_count;
} vyre_opt_options;
#define VYRE_OPT_OPTIONS_INIT { sizeof(vyre_opt_options), 2, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* What was done, and what it brought. */
typedef struct vyre_opt_report vyre_opt_report;

/* Makes the optimized program; |program| is not changed. The caller owns *out, which may be |program| itself once more
 * retained if nothing changed. |report| may be NULL; else the caller frees *report.
 * Errors, with *out and *report NULL: INVALID_ARGUMENT (options, an unknown pass, by name, a spec constant), NO_MEMORY, INTERNAL (with
 * VERIFY or ROUNDTRIP: a pass broke the program, by name). Without these flags what a pass broke is undone, and the
 * report says so. */
VYRE_API vyre_status vyre_optimize(const vyre_program *program, const vyre_opt_options *options, vyre_program **out,
                                   vyre_opt_report **report, vyre_error *error);

/* NULL is allowed. */
VYRE_API void vyre_opt_report_free(vyre_opt_report *report);

/* How the whole ended. */
typedef enum vyre_opt_outcome {
  VYRE_OPT_DONE = 0,   /* no pass finds anything more to do */
  VYRE_OPT_BUDGET = 1, /* rounds or time were used up; the program is valid */
  VYRE_OPT_BROKEN = 2  /* a pass made an invalid program and was undone: a defect, see |text|; the program is valid */
} vyre_opt_outcome;

/* What all passes together did to a program. */
typedef struct vyre_opt_summary {
  vyre_opt_outcome outcome;
  uint32_t rounds;
  uint64_t cost_before, cost_after;   /* abstract cycles of one invocation, see docs/optimization */
  uint64_t exprs_before, exprs_after; /* as written */
  uint64_t stmts_before, stmts_after;
  uint64_t nanoseconds;
  const char *text; /* BUDGET: which pass; BROKEN: which pass, and what is wrong; "" else */
} vyre_opt_summary;
VYRE_API void vyre_opt_report_summary(const vyre_opt_report *report, vyre_opt_summary *out);

/* How the runs of one pass ended. */
typedef enum vyre_opt_decision {
  VYRE_OPT_CHANGED,
  VYRE_OPT_UNCHANGED,
  VYRE_OPT_CLEAN,           /* not run: nothing that it depends on had changed */
  VYRE_OPT_COST_REVERTED,   /* undone: the estimated cost rose */
  VYRE_OPT_GROWTH_REVERTED, /* undone: the program grew beyond the limit */
  VYRE_OPT_EFFECT_REVERTED, /* undone: it had effects that it had not before */
  VYRE_OPT_LIMIT_REVERTED,  /* undone: a limit of programs was passed */
  VYRE_OPT_BROKEN_REVERTED, /* undone: it had made an invalid program; the pass was not run again */
  VYRE_OPT_DECISIONS
} vyre_opt_decision;

/* A pass and its runs, |index| below vyre_opt_report_passes. */
typedef struct vyre_opt_pass_report {
  const char *name;
  uint32_t decisions[VYRE_OPT_DECISIONS]; /* how many runs ended so */
  uint64_t nanoseconds;
  uint64_t cost_saved; /* by all its runs that stayed */
} vyre_opt_pass_report;
VYRE_API uint32_t vyre_opt_report_passes(const vyre_opt_report *report);
VYRE_API bool vyre_opt_report_pass(const vyre_opt_report *report, uint32_t index, vyre_opt_pass_report *out);

/* One rewrite (EXPLAIN) or one text (PRINT), in the order in which they happened. Texts live as long as the report. */
typedef struct vyre_opt_note {
  const char *pass;
  const char *rule;  /* of the pass or of the rule table; "" for a text */
  uint32_t position; /* byte offset in the source, or VYRE_NO_POSITION */
  uint32_t round;
  uint64_t saved;    /* estimated cost of the place, before less after; 0 where it is only an enabler */
  const char *text;  /* the program's text (PRINT), or NULL */
} vyre_opt_note;
VYRE_API uint32_t vyre_opt_report_notes(const vyre_opt_report *report);
VYRE_API bool vyre_opt_report_note(const vyre_opt_report *report, uint32_t index, vyre_opt_note *out);

/* What a pass of the registry is; false beyond the last. Static storage. */
typedef struct vyre_opt_pass_info {
  const char *name, *phase, *class_name, *family, *requires, *invalidates, *doc;
  uint32_t level; /* from which it runs; UINT32_MAX: only by name */
} vyre_opt_pass_info;
VYRE_API bool vyre_opt_pass_describe(uint32_t index, vyre_opt_pass_info *out);

#ifdef __cplusplus
}
#endif
#endif
