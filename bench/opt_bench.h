/* What the commands of opt_bench share. */
#ifndef VYRE_BENCH_OPT_BENCH_H
#define VYRE_BENCH_OPT_BENCH_H

#include <stdbool.h>

#include <vyre/opt.h>

typedef struct opt_bench {
  vyre_opt_options optimizer;
  const char *directory;    /* of the kernels */
  uint32_t size;            /* expressions of the largest program */
  bool by_pass;             /* tell what each pass took */
  const char *const *names; /* what is asked for; none for all */
  int name_count;
} opt_bench;

/* Whether |name| is asked for. */
bool opt_bench_wants(const opt_bench *bench, const char *name);
/* Whether every name that is asked for is one of those that |name_of| gives; says so if not. */
bool opt_bench_knows(const opt_bench *bench, const char *(*name_of)(uint32_t index), const char *what);

/* The commands; they give the exit status. */
int opt_bench_lint(const opt_bench *bench);
int opt_bench_kernels(const opt_bench *bench);
int opt_bench_programs(const opt_bench *bench);
int opt_bench_scale(const opt_bench *bench);

#endif
