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

typedef struct shape {
  const char *name;
  void (*build)(vyre_builder *b, uint32_t statements);
} shape;

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

typedef struct base {
  vyre_expr i, a;
  vyre_binding x, k, y;
} base;

static base declare(vyre_builder *b) {
  base d;
  vyre_build_workgroup(b, 64, 1, 1);
  d.a = vyre_build_param(b, "a", VYRE_TYPE_F32);
  d.x = vyre_build_buffer(b, VYRE_ACCESS_READ, "x", VYRE_TYPE_F32, 0);
  d.k = vyre_build_buffer(b, VYRE_ACCESS_READ, "k", VYRE_TYPE_U32, 0);
  d.y = vyre_build_buffer(b, VYRE_ACCESS_RW, "y", VYRE_TYPE_F32, 0);
  d.i = vyre_build_leaf(b, VYRE_OP_GID, 0);
  return d;
}

static const char *name_of(char prefix, uint32_t n) {
  static char name[24];
  snprintf(name, sizeof name, "%c_%u", prefix, n);
  return name;
}

/* let tN = fma(a, x[gid.x + N], f32(k[gid.x ^ N])); y[gid.x] = tN; */
static void build_pair(vyre_builder *b, const base *d, uint32_t n) {
  vyre_expr at = vyre_build_binary(b, VYRE_OP_ADD, d->i, vyre_build_u32(b, n));
  vyre_expr key = vyre_build_binary(b, VYRE_OP_BITXOR, d->i, vyre_build_u32(b, n));
  vyre_expr x = vyre_build_load(b, VYRE_OP_LOAD, d->x, at);
  vyre_expr k = vyre_build_cast(b, VYRE_TYPE_F32, vyre_build_load(b, VYRE_OP_LOAD, d->k, key));
  vyre_var t = vyre_build_declare(b, VYRE_STMT_LET, name_of('t', n), vyre_build_fma(b, d->a, x, k));
  vyre_build_store(b, d->y, d->i, vyre_build_var_value(b, t));
}

static void build_flat(vyre_builder *b, uint32_t statements) {
  base d = declare(b);
  for (uint32_t n = 0; n < statements / 2; n++) build_pair(b, &d, n);
}

/* Blocks of 16 statements under conditions that differ, with variables that are assigned in both arms. */
static void build_branches(vyre_builder *b, uint32_t statements) {
  base d = declare(b);
  vyre_var v = vyre_build_declare(b, VYRE_STMT_VAR, "v", vyre_build_f32(b, 0));
  for (uint32_t n = 0; n < statements / 20; n++) {
    vyre_build_if(b, vyre_build_binary(b, VYRE_OP_LT, d.i, vyre_build_u32(b, n)));
    for (uint32_t m = 0; m < 8; m++) build_pair(b, &d, n * 8 + m);
    vyre_build_assign(b, v, vyre_build_load(b, VYRE_OP_LOAD, d.y, d.i));
    vyre_build_else(b);
    vyre_build_assign(b, v, vyre_build_var_value(b, v));
    vyre_build_end(b);
    vyre_build_store(b, d.y, d.i, vyre_build_var_value(b, v));
  }
}

/* Loops three deep, each with a barrier, over a variable that grows less uniform round by round. */
static void build_loops(vyre_builder *b, uint32_t statements) {
  base d = declare(b);
  vyre_expr zero = vyre_build_u32(b, 0), four = vyre_build_u32(b, 4);
  for (uint32_t n = 0; n < statements / 12; n++) {
    vyre_var u = vyre_build_declare(b, VYRE_STMT_VAR, name_of('u', n), zero);
    vyre_var w = vyre_build_declare(b, VYRE_STMT_VAR, name_of('w', n), vyre_build_u32(b, n));
    for (uint32_t deep = 0; deep < 3; deep++) vyre_build_for(b, name_of('p' + (char)deep, n), zero, four, 0);
    vyre_build_simple(b, VYRE_STMT_BARRIER);
    vyre_build_assign(b, w, vyre_build_var_value(b, u));
    vyre_build_assign(b, u, d.i);
    vyre_build_store(b, d.y, vyre_build_var_value(b, w), d.a);
    for (uint32_t deep = 0; deep < 3; deep++) vyre_build_end(b);
  }
}

/* One chain of else-ifs. */
static void build_chain(vyre_builder *b, uint32_t statements) {
  base d = declare(b);
  uint32_t arms = statements / 2;
  for (uint32_t n = 0; n < arms; n++) {
    vyre_build_if(b, vyre_build_binary(b, VYRE_OP_EQ, d.i, vyre_build_u32(b, n)));
    vyre_build_store(b, d.y, d.i, d.a);
    vyre_build_else(b);
  }
  for (uint32_t n = 0; n < arms; n++) vyre_build_end(b);
}

/* Every statement has a tree of its own of 64 expressions. */
static void build_trees(vyre_builder *b, uint32_t statements) {
  base d = declare(b);
  for (uint32_t n = 0; n < statements / 32; n++) {
    vyre_expr sum = vyre_build_u32(b, n);
    for (uint32_t m = 0; m < 31; m++)
      sum = vyre_build_binary(b, m % 2 ? VYRE_OP_ADD : VYRE_OP_BITXOR,
                              vyre_build_binary(b, VYRE_OP_MUL, sum, d.i), d.i);
    vyre_build_store(b, d.y, sum, d.a);
  }
}

/* A table's elements: finite floats of all signs and small magnitudes, the same in every run. */
static void fill_table(float *data, uint32_t count, uint32_t seed) {
  for (uint32_t i = 0; i < count; i++) {
    seed = seed * 1664525 + 1013904223;
    data[i] = (float)(int32_t)seed / 65536.0f;
  }
}

/* Constant tables of 1024 floats, a region with a name of its own around the statements that use each, and prints. */
static void build_tables(vyre_builder *b, uint32_t statements) {
  enum { ELEMENTS = 1024, USES = 128, EACH = USES + USES / 8 + 1 };
  static float data[ELEMENTS];
  base d = declare(b);
  vyre_expr lane = vyre_build_binary(b, VYRE_OP_MOD, d.i, vyre_build_u32(b, ELEMENTS));
  for (uint32_t n = 0; n < statements / EACH; n++) {
    fill_table(data, ELEMENTS, n);
    vyre_binding table = vyre_build_table(b, name_of('c', n), VYRE_TYPE_F32, data, ELEMENTS);
    char text[96];
    snprintf(text, sizeof text, "layer %u: weights of the input, row by row", n);
    vyre_build_region(b, text);
    for (uint32_t m = 0; m < USES; m++) {
      vyre_expr at = vyre_build_binary(b, VYRE_OP_BITXOR, lane, vyre_build_u32(b, m));
      vyre_expr old = vyre_build_load(b, VYRE_OP_LOAD, d.y, d.i);
      vyre_expr weight = vyre_build_load(b, VYRE_OP_LOAD, table, at);
      vyre_build_store(b, d.y, d.i, vyre_build_fma(b, weight, d.a, old));
      if (m % 8 != 0) continue;
      snprintf(text, sizeof text, "layer %u, weight %u of invocation {} is {} \xE2\x9C\x93\n", n, m);
      vyre_build_print(b, text, (vyre_expr[]){ d.i, weight }, 2);
    }
    vyre_build_end(b);
  }
}

static const shape shapes[] = { { "flat", build_flat },
                                { "branches", build_branches },
                                { "loops", build_loops },
                                { "chain", build_chain },
                                { "trees", build_trees },
                                { "tables", build_tables } };
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool with_barrier; /* at the end of each program */

static vyre_builder *begin(const shape *s, uint32_t statements) {
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

static vyre_program *make(const shape *s, uint32_t statements) { return finish(begin(s, statements)); }

/* ---- Measurements ---- */

/* A program in all its forms, and the size to build it again. */
typedef struct job {
  const shape *shape;
  uint32_t statements;
  vyre_program *program;
  vyre_program_info info;
  char *text;
  uint8_t *wire;
  size_t text_bytes, wire_bytes;
} job;

static job begin_job(const shape *s, uint32_t statements) {
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
  for (int s = 0; s < SHAPES; s++) {
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
  for (int s = 0; s < SHAPES; s++) {
    job j = begin_job(&shapes[s], size / 10);
    print_speeds(&j, j.text_bytes, parse, print);
    end_job(&j);
  }
}

static void bench_wire(uint32_t size) {
  printf("%-10s %10s %8s %10s %10s %12s %12s %12s\n", "wire", "statements", "MB", "decode MB/s", "ns/expr", "cold MB/s",
         "cold ns/expr", "encode MB/s");
  for (int s = 0; s < SHAPES; s++) {
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
  for (int s = 0; s < SHAPES; s++) {
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
  for (int s = 0; s < SHAPES; s++) {
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
