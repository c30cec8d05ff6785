/* What the optimizer brings, and how its time grows with the program. No test depends on what it says.
 *
 * usage: opt_bench programs FILE... [--level N] [--passes A,B,...]
 *        opt_bench lint|kernels [NAME...] [--directory DIR] [--level N] [--passes A,B,...]
 *        opt_bench scale [SHAPE...] [--size N] [--by-pass] [--level N] [--passes A,B,...]
 *
 * lint     what in the kernels of bench/kernels is there for an optimizer to remove and would not have been written
 * kernels  each kernel before and after: as a program, in the kernel form, and executed by the oracle on its data; the
 *          results must be the same to the bit
 * programs texts before and after, as programs and in the kernel form
 * scale    programs of 1,000 expressions and more, up to N (1,000,000), of shapes that people make and of others that
 *          are hard: processor time of the whole, for each expression, and the exponent of its growth (1: linear)
 *
 * Exit status: 0, 1 if something is wrong, 2 for wrong usage. */
#include "opt_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 64 };

bool opt_bench_wants(const opt_bench *bench, const char *name) {
  for (int i = 0; i < bench->name_count; i++)
    if (strcmp(bench->names[i], name) == 0) return true;
  return bench->name_count == 0;
}

static bool is_one_of(const char *name, const char *(*name_of)(uint32_t index)) {
  const char *known;
  for (uint32_t i = 0; (known = name_of(i)) != NULL; i++)
    if (strcmp(known, name) == 0) return true;
  return false;
}

bool opt_bench_knows(const opt_bench *bench, const char *(*name_of)(uint32_t index), const char *what) {
  for (int i = 0; i < bench->name_count; i++) {
    if (is_one_of(bench->names[i], name_of)) continue;
    fprintf(stderr, "opt_bench: there is no %s %s. Fix: leave the name out to see all.\n", what, bench->names[i]);
    return false;
  }
  return true;
}

static int usage(void) {
  fputs("usage: opt_bench lint|kernels [NAME...] [--directory DIR] [--level N] [--passes A,B,...]\n"
        "       opt_bench programs FILE... [--level N] [--passes A,B,...]\n"
        "       opt_bench scale [SHAPE...] [--size EXPRESSIONS] [--by-pass] [--level N] [--passes A,B,...]\n",
        stderr);
  return 2;
}

/* False if it is no number from |least| to |most|. */
static bool read_number(const char *text, uint32_t least, uint32_t most, uint32_t *out) {
  char *end;
  unsigned long value = strtoul(text, &end, 10);
  *out = (uint32_t)value;
  return *text != 0 && *end == 0 && value >= least && value <= most;
}

static bool read_option(opt_bench *bench, const char *option, const char *value) {
  if (strcmp(option, "--directory") == 0) bench->directory = value;
  else if (strcmp(option, "--passes") == 0) bench->optimizer.passes = value;
  else if (strcmp(option, "--level") == 0) return read_number(value, 0, 2, &bench->optimizer.level);
  else if (strcmp(option, "--size") == 0) return read_number(value, 1000, 1000000, &bench->size);
  else return false;
  return true;
}

static bool read_arguments(opt_bench *bench, int argc, char **argv, const char **names) {
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "--by-pass") == 0) bench->by_pass = true;
    else if (argv[i][0] != '-' && bench->name_count < MAX_NAMES) names[bench->name_count++] = argv[i];
    else if (i + 1 == argc || !read_option(bench, argv[i], argv[i + 1])) return false;
    else i++;
  }
  return argc > 1;
}

int main(int argc, char **argv) {
  const char *names[MAX_NAMES];
  opt_bench bench = { VYRE_OPT_OPTIONS_INIT, BENCH_KERNELS_DIR, 1000000, false, names, 0 };
  if (!read_arguments(&bench, argc, argv, names)) return usage();
  if (strcmp(argv[1], "lint") == 0) return opt_bench_lint(&bench);
  if (strcmp(argv[1], "kernels") == 0) return opt_bench_kernels(&bench);
  if (strcmp(argv[1], "programs") == 0 && bench.name_count > 0) return opt_bench_programs(&bench);
  if (strcmp(argv[1], "scale") == 0) return opt_bench_scale(&bench);
  return usage();
}
