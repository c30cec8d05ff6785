/* How the optimizer's time grows with the program. */
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "opt_bench.h"
#include "shapes.h"

/* One program and what the optimizer took for it. */
typedef struct trial {
  vyre_program_info info;
  double seconds;
  vyre_opt_outcome outcome;
} trial;

static const program_shape *shape_at(uint32_t index) {
  uint32_t some, hard;
  const program_shape *a = program_shapes(&some), *b = hard_shapes(&hard);
  if (index < some) return &a[index];
  return index - some < hard ? &b[index - some] : NULL;
}

static const char *shape_name(uint32_t index) {
  const program_shape *s = shape_at(index);
  return s != NULL ? s->name : NULL;
}

/* Processor time, so that a busy machine does not count. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

_Noreturn static void give_up(const char *name, const vyre_error *error) {
  fprintf(stderr, "opt_bench: %s: %s\n", name, error->text);
  exit(1);
}

static vyre_program *make(const program_shape *s, double statements) {
  vyre_builder *b;
  vyre_program *p;
  vyre_error error = VYRE_ERROR_INIT;
  uint32_t most = VYRE_MAX_STATEMENTS - 10;
  if (vyre_builder_create("scale", NULL, &b) != VYRE_OK) exit(1);
  s->build(b, statements < most ? (uint32_t)statements : most);
  if (vyre_builder_finish(b, &p, &error) != VYRE_OK) give_up(s->name, &error);
  vyre_builder_destroy(b);
  return p;
}

/* A program of about |expressions| distinct expressions, by how many a smaller one has. */
static vyre_program *make_of_size(const program_shape *s, uint32_t expressions) {
  enum { SMALL = 4000 };
  vyre_program_info info;
  vyre_program *small = make(s, SMALL);
  vyre_program_describe(small, &info);
  vyre_program_release(small);
  return make(s, (double)expressions * SMALL / info.expr_count);
}

/* The shortest of some runs, which take half a second together or are one. */
static trial measure(const opt_bench *bench, const program_shape *s, const vyre_program *p) {
  trial t = { .seconds = INFINITY };
  vyre_error error = VYRE_ERROR_INIT;
  double spent = 0;
  vyre_program_describe(p, &t.info);
  for (int i = 0; i == 0 || (spent < 0.5 && i < 20); i++) {
    vyre_program *optimized;
    vyre_opt_report *report;
    vyre_opt_summary summary;
    double start = now();
    if (vyre_optimize(p, &bench->optimizer, &optimized, &report, &error) != VYRE_OK) give_up(s->name, &error);
    double took = now() - start;
    vyre_opt_report_summary(report, &summary);
    t.outcome = summary.outcome;
    vyre_opt_report_free(report);
    vyre_program_release(optimized);
    spent += took;
    if (took < t.seconds) t.seconds = took;
  }
  return t;
}

static void print_trial(const program_shape *s, const trial *t, const trial *last) {
  static const char *const outcomes[] = { "", "budget", "broken" };
  printf("%-10s %10u %12u %10.4f %10.1f ", s->name, t->info.statement_count, t->info.expr_count, t->seconds,
         t->seconds * 1e9 / t->info.expr_count);
  if (last->seconds > 0)
    printf("%9.2f", log(t->seconds / last->seconds) / log((double)t->info.expr_count / last->info.expr_count));
  else printf("%9s", "");
  printf("%s%s\n", *outcomes[t->outcome] ? "  " : "", outcomes[t->outcome]);
  fflush(stdout);
}

/* What each pass took of one run. */
static void print_passes(const opt_bench *bench, const program_shape *s, const vyre_program *p) {
  vyre_program *optimized;
  vyre_opt_report *report;
  vyre_opt_pass_report pass;
  vyre_program_info info;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program_describe(p, &info);
  if (vyre_optimize(p, &bench->optimizer, &optimized, &report, &error) != VYRE_OK) give_up(s->name, &error);
  for (uint32_t i = 0; vyre_opt_report_pass(report, i, &pass); i++) {
    uint32_t runs = 0;
    for (int d = 0; d < VYRE_OPT_DECISIONS; d++) runs += d == VYRE_OPT_CLEAN ? 0 : pass.decisions[d];
    printf("  %-24s %4u runs %10.4f s %10.1f ns/expr\n", pass.name, runs, (double)pass.nanoseconds * 1e-9,
           (double)pass.nanoseconds / info.expr_count);
  }
  vyre_opt_report_free(report);
  vyre_program_release(optimized);
}

/* Sizes ten times as large each time. Beyond what took longest so far, a minute, there is none. */
static bool scale(const opt_bench *bench, const program_shape *s) {
  trial last = { 0 };
  bool sound = true;
  for (uint32_t size = 1000; size <= bench->size && last.seconds < 60; size *= 10) {
    vyre_program *p = make_of_size(s, size);
    trial t = measure(bench, s, p);
    print_trial(s, &t, &last);
    sound &= t.outcome != VYRE_OPT_BROKEN;
    if (bench->by_pass && (uint64_t)size * 10 > bench->size) print_passes(bench, s, p);
    vyre_program_release(p);
    last = t;
  }
  return sound;
}

int opt_bench_scale(const opt_bench *bench) {
  bool sound = true;
  if (!opt_bench_knows(bench, shape_name, "shape")) return 2;
  mallopt(M_MMAP_MAX, 0); /* all from the one heap, which keeps what it has */
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  printf("%-10s %10s %12s %10s %10s %9s\n", "optimize", "statements", "expressions", "seconds", "ns/expr", "exponent");
  for (uint32_t i = 0; shape_at(i) != NULL; i++)
    if (opt_bench_wants(bench, shape_at(i)->name)) sound &= scale(bench, shape_at(i));
  return !sound;
}
