/* How fast programs are built, read, checked and decoded, and how much memory they take. No test depends on it.
 *
 * usage: ir_bench build|text|wire|validate|memory|all [--size N] [--barrier]
 * N is the number of statements, about, of the largest program; default 1,000,000.
 *
 * Where there are two columns, one is warm and one is cold. Warm: the heap keeps the pages of the run before, as in a
 * process that goes on reading programs. Cold: freed pages are given back before each run, so that every page that a
 * run touches is a page fault, as for the first program of a process. Under nested paging a fault may cost 10 us, and
 * cold is then mostly the faults; compare machines by the warm columns. All times are processor time, and the best of
 * some runs. ns/expr counts the distinct expressions of the finished program.
 *
 * Programs get a barrier at their end where validation is measured, and by option elsewhere (--barrier): without one,
 * all shapes but "loops" have nothing that must be uniform, and are not analysed. */
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vyre/ir.h>
#include <vyre/text.h>
#include <vyre/wire.h>

#include "shapes.h"

/* Processor time, so that a busy machine does not count. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t heap_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

_Noreturn static void give_up(const char *what, const vyre_error *error) {
  fprintf(stderr, "ir_bench: %s: %s: %s\n", what, error->where, error->text);
  exit(1);
}

/* ---- Programs ---- */

static bool with_barrier; /* at the end of each program */
static const program_shape *shapes;
static uint32_t shape_count;

static vyre_builder *begin(const program_shape *s, uint32_t statements) {
  vyre_builder *b;
  if (vyre_builder_create("bench", NULL, &b) != VYRE_OK) exit(1);
  s->build(b, statements);
  if (with_barrier) vyre_build_simple(b, VYRE_STMT_BARRIER);
  return b;
}

static vyre_program *finish(vyre_builder *b) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p;
  if (vyre_builder_finish(b, &p, &error) != VYRE_OK) give_up("finish", &error);
  vyre_builder_destroy(b);
  return p;
}

static vyre_program *make(const program_shape *s, uint32_t statements) { return finish(begin(s, statements)); }

/* ---- Measurements ---- */

/* A program in all its forms, and the size to build it again. */
typedef struct job {
  const program_shape *shape;
  uint32_t statements;
  vyre_program *program;
  vyre_program_info info;
  char *text;
  uint8_t *wire;
  size_t text_bytes, wire_bytes;
} job;

static job begin_job(const program_shape *s, uint32_t statements) {
  job j = { .shape = s, .statements = statements, .program = make(s, statements) };
  vyre_program_describe(j.program, &j.info);
  if (vyre_text_print(j.program, &j.text, &j.text_bytes) != VYRE_OK) exit(1);
  if (vyre_wire_encode(j.program, &j.wire, &j.wire_bytes) != VYRE_OK) exit(1);
  return j;
}

static void end_job(job *j) {
  free(j->text);
  free(j->wire);
  vyre_program_release(j->program);
}

static void build(const job *j) { vyre_program_release(make(j->shape, j->statements)); }

static void parse(const job *j) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p;
  if (vyre_text_parse(j->text, j->text_bytes, NULL, NULL, &p, &error) != VYRE_OK) give_up("parse", &error);
  vyre_program_release(p);
}

static void print(const job *j) {
  char *text;
  size_t bytes;
  if (vyre_text_print(j->program, &text, &bytes) != VYRE_OK) exit(1);
  free(text);
}

static void decode(const job *j) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p;
  if (vyre_wire_decode(j->wire, j->wire_bytes, NULL, &p, &error) != VYRE_OK) give_up("decode", &error);
  vyre_program_release(p);
}

static void encode(const job *j) {
  uint8_t *wire;
  size_t bytes;
  if (vyre_wire_encode(j->program, &wire, &bytes) != VYRE_OK) exit(1);
  free(wire);
}

static void validate(const job *j) {
  vyre_error error = VYRE_ERROR_INIT;
  if (vyre_program_validate(j->program, NULL, &error) != VYRE_OK) give_up("validate", &error);
}

typedef enum temperature { WARM, COLD } temperature;

/* The shortest of some runs, in seconds; they take half a second together, or are three. */
static double best(void (*run)(const job *j), const job *j, temperature heap) {
  double shortest = INFINITY, spent = 0;
  for (int i = 0; i < 3 || (spent < 0.5 && i < 100); i++) {
    if (heap == COLD) malloc_trim(0);
    double start = now();
    run(j);
    double took = now() - start;
    spent += took;
    if (took < shortest) shortest = took;
  }
  return shortest;
}

static double per_expression(const job *j, double seconds) { return seconds * 1e9 / j->info.expr_count; }

static void bench_build(uint32_t size) {
  printf("%-10s %10s %12s %14s %14s\n", "build", "statements", "expressions", "warm ns/expr", "cold ns/expr");
  for (uint32_t s = 0; s < shape_count; s++) {
    job j = begin_job(&shapes[s], size / 10);
    double warm = best(build, &j, WARM), cold = best(build, &j, COLD);
    printf("%-10s %10u %12u %14.1f %14.1f\n", j.shape->name, j.info.statement_count, j.info.expr_count,
           per_expression(&j, warm), per_expression(&j, cold));
    end_job(&j);
  }
}

/* Reading a form of |bytes| bytes, warm and cold, and writing it. */
static void print_speeds(const job *j, size_t bytes, void (*reading)(const job *j), void (*writing)(const job *j)) {
  double warm = best(reading, j, WARM), cold = best(reading, j, COLD), out = best(writing, j, WARM);
  double megabytes = (double)bytes * 1e-6;
  printf("%-10s %10u %8.2f %10.1f %10.1f %12.1f %12.1f %12.1f\n", j->shape->name, j->info.statement_count, megabytes,
         megabytes / warm, per_expression(j, warm), megabytes / cold, per_expression(j, cold), megabytes / out);
}

static void bench_text(uint32_t size) {
  printf("%-10s %10s %8s %10s %10s %12s %12s %12s\n", "text", "statements", "MB", "parse MB/s", "ns/expr", "cold MB/s",
         "cold ns/expr", "print MB/s");
  for (uint32_t s = 0; s < shape_count; s++) {
    job j = begin_job(&shapes[s], size / 10);
    print_speeds(&j, j.text_bytes, parse, print);
    end_job(&j);
  }
}

static void bench_wire(uint32_t size) {
  printf("%-10s %10s %8s %10s %10s %12s %12s %12s\n", "wire", "statements", "MB", "decode MB/s", "ns/expr", "cold MB/s",
         "cold ns/expr", "encode MB/s");
  for (uint32_t s = 0; s < shape_count; s++) {
    job j = begin_job(&shapes[s], size / 10);
    print_speeds(&j, j.wire_bytes, decode, encode);
    end_job(&j);
  }
}

/* The exponent says how time grows with size from row to row: 1 is linear. */
static void bench_validate(uint32_t size) {
  bool asked = with_barrier;
  with_barrier = true;
  printf("%-10s %10s %12s %12s %10s %9s\n", "validate", "statements", "expressions", "validate s", "ns/stmt",
         "exponent");
  for (uint32_t s = 0; s < shape_count; s++) {
    double last = 0, last_size = 0;
    for (uint32_t n = size / 100; n <= size && n > 0; n *= 10) {
      job j = begin_job(&shapes[s], n < VYRE_MAX_STATEMENTS - 10 ? n : VYRE_MAX_STATEMENTS - 10);
      double checking = best(validate, &j, WARM);
      printf("%-10s %10u %12u %12.4f %10.1f ", j.shape->name, j.info.statement_count, j.info.expr_count, checking,
             checking * 1e9 / j.info.statement_count);
      if (last > 0) printf("%9.2f\n", log(checking / last) / log(j.info.statement_count / last_size));
      else printf("%9s\n", "");
      last = checking;
      last_size = j.info.statement_count;
      end_job(&j);
    }
  }
  with_barrier = asked;
}

static void bench_memory(uint32_t size) {
  printf("%-10s %10s %12s %14s %16s\n", "memory", "statements", "expressions", "program B/expr", "building B/expr");
  for (uint32_t s = 0; s < shape_count; s++) {
    size_t before = heap_bytes();
    vyre_builder *b = begin(&shapes[s], size / 10);
    size_t building = heap_bytes() - before;
    vyre_program *p = finish(b);
    size_t held = heap_bytes() - before;
    vyre_program_info info;
    vyre_program_describe(p, &info);
    double units = (double)info.expr_count;
    printf("%-10s %10u %12u %14.1f %16.1f\n", shapes[s].name, info.statement_count, info.expr_count,
           (double)held / units, (double)building / units);
    vyre_program_release(p);
  }
}

static const struct {
  const char *name;
  void (*run)(uint32_t size);
} benches[] = { { "build", bench_build }, { "text", bench_text }, { "wire", bench_wire },
                { "validate", bench_validate }, { "memory", bench_memory } };

static int usage(void) {
  fputs("usage: ir_bench build|text|wire|validate|memory|all [--size STATEMENTS] [--barrier]\n", stderr);
  return 2;
}

/* False if there is something else than the options. */
static bool read_options(int argc, char **argv, uint32_t *size) {
  for (int i = 2; i < argc; i++) {
    char none[1] = "", *end = none;
    unsigned long value = 1000;
    if (strcmp(argv[i], "--barrier") == 0) with_barrier = true;
    else if (strcmp(argv[i], "--size") == 0 && i + 1 < argc) *size = (uint32_t)(value = strtoul(argv[++i], &end, 10));
    else return false;
    if (*end != 0 || value < 1000 || value > 1000000) return false;
  }
  return argc > 1;
}

int main(int argc, char **argv) {
  uint32_t size = 1000000;
  shapes = program_shapes(&shape_count);
  if (!read_options(argc, argv, &size)) return usage();
  mallopt(M_MMAP_MAX, 0); /* all from the one heap, which is given back at malloc_trim alone */
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  bool found = false;
  for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
    if (strcmp(argv[1], benches[i].name) != 0 && strcmp(argv[1], "all") != 0) continue;
    benches[i].run(size);
    found = true;
  }
  return found ? 0 : usage();
}
