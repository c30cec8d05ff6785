/* The kernels of bench/kernels before and after the optimizer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>
#include <vyre/text.h>

#include "base/error.h"
#include "kernels/execute.h"
#include "kernels/lint.h"
#include "opt_bench.h"

/* A kernel's program at one stage. */
typedef struct form {
  uint64_t exprs, stmts; /* as written, whatever is shared */
  uint64_t cost;         /* estimated */
  uint32_t accesses, checks; /* of the kernel form: all, and those whose index is compared with a length */
  kernel_tally tally;
} form;

typedef struct comparison {
  const char *name;
  form before, after;
} comparison;

static const char *kernel_name(uint32_t index) {
  uint32_t count;
  const kernel *k = kernels(&count);
  return index < count ? k[index].name : NULL;
}

static bool fail(const char *name, const char *stage, const vyre_error *error) {
  fprintf(stderr, "opt_bench: %s, %s: %s\n", name, stage, error->text);
  return false;
}

/* ---- Lint ---- */

static void print_finding(void *context, uint32_t position, const char *finding) {
  printf("%s.vyre, byte %u: %s\n", ((const kernel *)context)->name, position, finding);
}

int opt_bench_lint(const opt_bench *bench) {
  uint32_t count, found, all = 0;
  const kernel *k = kernels(&count);
  if (!opt_bench_knows(bench, kernel_name, "kernel")) return 2;
  for (uint32_t i = 0; i < count; i++) {
    kernel_data data;
    kernel context = k[i];
    vyre_error error = VYRE_ERROR_INIT;
    if (!opt_bench_wants(bench, k[i].name)) continue;
    vyre_status status = kernel_load(&k[i], bench->directory, &data, &error);
    if (status == VYRE_OK) status = kernel_lint(data.program, print_finding, &context, &found);
    kernel_free(&data);
    if (status != VYRE_OK) return fail(k[i].name, "lint", &error) ? 0 : 1;
    all += found;
  }
  printf("%u findings\n", all);
  return all != 0;
}

/* ---- Before and after ---- */

/* Counts accesses in the kernel that compiled backends get. */
static vyre_status count_checks(const vyre_program *program, form *f, vyre_error *error) {
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  uint8_t *bytes;
  size_t length;
  options.compile_flags = VYRE_COMPILE_ULP;
  options.ulp_budget = 4;
  vyre_status status = vyre_lower(program, &options, &bytes, &length, error);
  if (status != VYRE_OK) return status;
  const vyre_kernel_header *header = (const void *)bytes;
  const vyre_kernel_access *access = (const void *)(bytes + header->accesses.offset);
  f->accesses = (uint32_t)header->accesses.count;
  for (uint32_t i = 0; i < header->accesses.count; i++) f->checks += access[i].bound_kind != VYRE_KERNEL_BOUND_PROVED;
  free(bytes);
  return VYRE_OK;
}

static bool same_arrays(const kernel_data *a, const kernel_data *b) {
  for (uint32_t i = 0; i < a->array_count; i++)
    if (memcmp(a->arrays[i].data, b->arrays[i].data, a->arrays[i].bytes) != 0) return false;
  return true;
}

/* Runs |program| on fresh data, which must come out as |expected|'s, and counts. */
static bool run(const opt_bench *bench, const kernel *k, vyre_program *program, const kernel_data *expected, form *f,
                const char *stage) {
  kernel_data data;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = kernel_load(k, bench->directory, &data, &error);
  if (status == VYRE_OK) status = kernel_execute(&data, program, &f->tally, &error);
  if (status == VYRE_OK) status = count_checks(program, f, &error);
  bool good = status == VYRE_OK ? true : fail(k->name, stage, &error);
  if (good && !same_arrays(expected, &data)) {
    fprintf(stderr, "opt_bench: %s, %s: the results are others than those of the reference\n", k->name, stage);
    good = false;
  }
  kernel_free(&data);
  return good;
}

static bool optimize(const opt_bench *bench, const char *name, const vyre_program *program, vyre_program **out,
                     comparison *c) {
  vyre_opt_report *report;
  vyre_opt_summary summary;
  vyre_error error = VYRE_ERROR_INIT;
  if (vyre_optimize(program, &bench->optimizer, out, &report, &error) != VYRE_OK) return fail(name, "optimizer", &error);
  vyre_opt_report_summary(report, &summary);
  c->before.exprs = summary.exprs_before;
  c->after.exprs = summary.exprs_after;
  c->before.stmts = summary.stmts_before;
  c->after.stmts = summary.stmts_after;
  c->before.cost = summary.cost_before;
  c->after.cost = summary.cost_after;
  if (summary.outcome != VYRE_OPT_DONE) fprintf(stderr, "opt_bench: %s: %s\n", name, summary.text);
  bool good = summary.outcome != VYRE_OPT_BROKEN;
  vyre_opt_report_free(report);
  return good;
}

static bool compare(const opt_bench *bench, const kernel *k, comparison *c) {
  kernel_data expected;
  vyre_program *optimized = NULL;
  vyre_error error = VYRE_ERROR_INIT;
  *c = (comparison){.name = k->name};
  vyre_status status = kernel_load(k, bench->directory, &expected, &error);
  if (status == VYRE_OK) k->expect(&expected);
  bool good = status == VYRE_OK ? true : fail(k->name, "kernel", &error);
  good = good && run(bench, k, expected.program, &expected, &c->before, "as written");
  good = good && optimize(bench, k->name, expected.program, &optimized, c);
  good = good && run(bench, k, optimized, &expected, &c->after, "optimized");
  vyre_program_release(optimized);
  kernel_free(&expected);
  return good;
}

/* ---- Tables ---- */

/* How many times as much it was; 1 if there was nothing. */
static double ratio(uint64_t before, uint64_t after) {
  return before == after ? 1 : after == 0 ? INFINITY : (double)before / (double)after;
}

static double geometric_mean(const comparison *c, uint32_t count, uint64_t (*of)(const form *f)) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += log(ratio(of(&c[i].before), of(&c[i].after)));
  return exp(sum / count);
}

static uint64_t exprs_of(const form *f) {
  return f->exprs;
}
static uint64_t cost_of(const form *f) {
  return f->cost;
}
static uint64_t operators_of(const form *f) {
  return kernel_operators(&f->tally);
}
static uint64_t instructions_of(const form *f) {
  return f->tally.instructions;
}
static uint64_t loads_of(const form *f) {
  return kernel_loads(&f->tally);
}
static uint64_t divisions_of(const form *f) {
  return kernel_divisions(&f->tally);
}
static uint64_t cycles_of(const form *f) {
  return f->tally.cost;
}

static void print_pair(const comparison *c, uint64_t (*of)(const form *f), int width) {
  printf("  %*llu %*llu", width, (unsigned long long)of(&c->before), width, (unsigned long long)of(&c->after));
}

static void print_ratio(const comparison *c, uint64_t (*of)(const form *f), int width) {
  print_pair(c, of, width);
  printf(" %6.2f", ratio(of(&c->before), of(&c->after)));
}

static void print_programs(const comparison *c, uint32_t count) {
  uint64_t accesses = 0, before = 0, after = 0;
  printf("%-16s %21s  %23s  %21s  %9s\n", "as a program", "expressions", "estimated cost", "checks of accesses",
         "removed");
  for (uint32_t i = 0; i < count; i++) {
    printf("%-16s", c[i].name);
    print_ratio(&c[i], exprs_of, 6);
    print_ratio(&c[i], cost_of, 7);
    printf("  %6u %6u of %3u  %9d\n", c[i].before.checks, c[i].after.checks, c[i].after.accesses,
           (int)c[i].before.checks - (int)c[i].after.checks);
    accesses += c[i].after.accesses;
    before += c[i].before.checks;
    after += c[i].after.checks;
  }
  printf("%-16s %21.3f  %23.3f  %6llu %6llu of %3llu  %9lld\n\n", "geometric mean", geometric_mean(c, count, exprs_of),
         geometric_mean(c, count, cost_of), (unsigned long long)before, (unsigned long long)after,
         (unsigned long long)accesses, (long long)before - (long long)after);
}

static void print_executions(const comparison *c, uint32_t count) {
  printf("%-16s %27s  %27s  %21s  %17s  %31s\n", "executed", "instructions", "operators", "loads", "divisions",
         "cycles");
  for (uint32_t i = 0; i < count; i++) {
    printf("%-16s", c[i].name);
    print_ratio(&c[i], instructions_of, 9);
    print_ratio(&c[i], operators_of, 9);
    print_pair(&c[i], loads_of, 10);
    print_pair(&c[i], divisions_of, 8);
    print_ratio(&c[i], cycles_of, 11);
    putchar('\n');
  }
  printf("%-16s %27.3f  %27.3f  %21s  %17s  %31.3f\n", "geometric mean", geometric_mean(c, count, instructions_of),
         geometric_mean(c, count, operators_of), "", "", geometric_mean(c, count, cycles_of));
}

int opt_bench_kernels(const opt_bench *bench) {
  uint32_t count, compared = 0;
  const kernel *k = kernels(&count);
  if (!opt_bench_knows(bench, kernel_name, "kernel")) return 2;
  comparison *c = calloc(count, sizeof *c);
  int status = c == NULL;
  for (uint32_t i = 0; c != NULL && i < count; i++) {
    if (!opt_bench_wants(bench, k[i].name)) continue;
    if (compare(bench, &k[i], &c[compared])) compared++;
    else status = 1;
  }
  if (compared > 0) {
    print_programs(c, compared);
    print_executions(c, compared);
  }
  free(c);
  return status;
}

/* ---- Texts ---- */

static bool read_text(const char *path, vyre_program **out) {
  enum { MOST = 1 << 20 };
  vyre_error error = VYRE_ERROR_INIT;
  FILE *file = fopen(path, "rb");
  char *text = malloc(MOST);
  size_t bytes = file != NULL && text != NULL ? fread(text, 1, MOST, file) : 0;
  if (bytes == 0 || bytes == MOST)
    vyre_fail(&error, VYRE_ERR_IO, path, "Can't be read, or has a MiB and more. Fix: name a text.");
  else vyre_text_parse(text, bytes, NULL, NULL, out, &error);
  if (file != NULL) fclose(file);
  free(text);
  return error.status == VYRE_OK ? true : fail(path, "text", &error);
}

static bool compare_text(const opt_bench *bench, const char *path, comparison *c) {
  vyre_program *program = NULL, *optimized = NULL;
  vyre_error error = VYRE_ERROR_INIT;
  const char *slash = strrchr(path, '/');
  *c = (comparison){.name = slash != NULL ? slash + 1 : path};
  bool good = read_text(path, &program) && optimize(bench, path, program, &optimized, c);
  if (good && (count_checks(program, &c->before, &error) != VYRE_OK ||
               count_checks(optimized, &c->after, &error) != VYRE_OK))
    good = fail(path, "kernel", &error);
  vyre_program_release(program);
  vyre_program_release(optimized);
  return good;
}

int opt_bench_programs(const opt_bench *bench) {
  comparison *c = calloc((size_t)bench->name_count, sizeof *c);
  uint32_t compared = 0;
  for (int i = 0; c != NULL && i < bench->name_count; i++) compared += compare_text(bench, bench->names[i], &c[compared]);
  if (compared > 0) print_programs(c, compared);
  free(c);
  return compared != (uint32_t)bench->name_count;
}
