/* How fast programs are read, checked and decoded, and how much memory they take. No test depends on it.
 *
 * usage: ir_bench text|wire|validate|memory|all [--size N]
 * N is the number of statements, about, of the largest program; default 1,000,000. */
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
      sum = vyre_build_binary(b, m % 2 ? VYRE_OP_ADD : VYRE_OP_BITXOR, vyre_build_binary(b, VYRE_OP_MUL, sum, d.i), d.i);
    vyre_build_store(b, d.y, sum, d.a);
  }
}

static const shape shapes[] = { { "flat", build_flat },
                                { "branches", build_branches },
                                { "loops", build_loops },
                                { "chain", build_chain },
                                { "trees", build_trees } };
enum { SHAPES = sizeof shapes / sizeof *shapes };

static vyre_builder *begin(const shape *s, uint32_t statements) {
  vyre_builder *b;
  if (vyre_builder_create("bench", NULL, &b) != VYRE_OK) exit(1);
  s->build(b, statements);
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

static vyre_program_info describe(const vyre_program *p) {
  vyre_program_info info;
  vyre_program_describe(p, &info);
  return info;
}

/* ---- Measurements ---- */

/* The best of some repetitions, which take half a second together or three. */
#define BEST(seconds, what)                                                                        \
  do {                                                                                             \
    double best_ = INFINITY, spent_ = 0;                                                           \
    for (int run_ = 0; run_ < 3 || (spent_ < 0.5 && run_ < 50); run_++) {                          \
      double start_ = now();                                                                       \
      what;                                                                                        \
      double took_ = now() - start_;                                                               \
      spent_ += took_;                                                                             \
      if (took_ < best_) best_ = took_;                                                            \
    }                                                                                              \
    (seconds) = best_;                                                                             \
  } while (0)

static void parse(const char *text, size_t bytes) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p;
  if (vyre_text_parse(text, bytes, NULL, NULL, &p, &error) != VYRE_OK) give_up("parse", &error);
  vyre_program_release(p);
}

static void print(const vyre_program *p, char **text, size_t *bytes) {
  if (vyre_text_print(p, text, bytes) != VYRE_OK) exit(1);
}

static void print_and_free(const vyre_program *p) {
  char *text;
  size_t bytes;
  print(p, &text, &bytes);
  free(text);
}

static void bench_text(uint32_t size) {
  printf("%-10s %10s %10s %12s %12s\n", "text", "statements", "MB", "parse MB/s", "print MB/s");
  for (int s = 0; s < SHAPES; s++) {
    vyre_program *p = make(&shapes[s], size / 10);
    char *text;
    size_t bytes;
    print(p, &text, &bytes);
    double parsing, printing, megabytes = (double)bytes * 1e-6;
    BEST(parsing, parse(text, bytes));
    BEST(printing, print_and_free(p));
    printf("%-10s %10u %10.2f %12.1f %12.1f\n", shapes[s].name, describe(p).statement_count, megabytes,
           megabytes / parsing, megabytes / printing);
    free(text);
    vyre_program_release(p);
  }
}

static void decode(const uint8_t *wire, size_t bytes) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p;
  if (vyre_wire_decode(wire, bytes, NULL, &p, &error) != VYRE_OK) give_up("decode", &error);
  vyre_program_release(p);
}

static void encode(const vyre_program *p, uint8_t **wire, size_t *bytes) {
  if (vyre_wire_encode(p, wire, bytes) != VYRE_OK) exit(1);
}

static void encode_and_free(const vyre_program *p) {
  uint8_t *wire;
  size_t bytes;
  encode(p, &wire, &bytes);
  free(wire);
}

static void bench_wire(uint32_t size) {
  printf("%-10s %10s %10s %12s %12s\n", "wire", "statements", "MB", "decode MB/s", "encode MB/s");
  for (int s = 0; s < SHAPES; s++) {
    vyre_program *p = make(&shapes[s], size / 10);
    uint8_t *wire;
    size_t bytes;
    encode(p, &wire, &bytes);
    double decoding, encoding, megabytes = (double)bytes * 1e-6;
    BEST(decoding, decode(wire, bytes));
    BEST(encoding, encode_and_free(p));
    printf("%-10s %10u %10.2f %12.1f %12.1f\n", shapes[s].name, describe(p).statement_count, megabytes,
           megabytes / decoding, megabytes / encoding);
    free(wire);
    vyre_program_release(p);
  }
}

static void validate(const vyre_program *p) {
  vyre_error error = VYRE_ERROR_INIT;
  if (vyre_program_validate(p, NULL, &error) != VYRE_OK) give_up("validate", &error);
}

/* The exponent says how time grows with size from row to row: 1 is linear. */
static void bench_validate(uint32_t size) {
  printf("%-10s %10s %12s %10s %12s %10s %9s\n", "validate", "statements", "expressions", "build s", "validate s",
         "ns/stmt", "exponent");
  for (int s = 0; s < SHAPES; s++) {
    double last = 0, last_size = 0;
    for (uint32_t n = size / 100; n <= size && n > 0; n *= 10) {
      double start = now();
      vyre_program *p = make(&shapes[s], n < VYRE_MAX_STATEMENTS - 10 ? n : VYRE_MAX_STATEMENTS - 10);
      double building = now() - start, checking;
      BEST(checking, validate(p));
      vyre_program_info info = describe(p);
      printf("%-10s %10u %12u %10.3f %12.4f %10.1f ", shapes[s].name, info.statement_count, info.expr_count, building,
             checking, checking * 1e9 / info.statement_count);
      if (last > 0) printf("%9.2f\n", log(checking / last) / log(info.statement_count / last_size));
      else printf("%9s\n", "");
      last = checking;
      last_size = info.statement_count;
      vyre_program_release(p);
    }
  }
}

static void bench_memory(uint32_t size) {
  printf("%-10s %10s %12s %14s %16s\n", "memory", "statements", "expressions", "program B/expr", "building B/expr");
  for (int s = 0; s < SHAPES; s++) {
    size_t before = heap_bytes();
    vyre_builder *b = begin(&shapes[s], size / 10);
    size_t building = heap_bytes() - before;
    vyre_program *p = finish(b);
    size_t held = heap_bytes() - before;
    vyre_program_info info = describe(p);
    double units = (double)info.expr_count;
    printf("%-10s %10u %12u %14.1f %16.1f\n", shapes[s].name, info.statement_count, info.expr_count,
           (double)held / units, (double)building / units);
    vyre_program_release(p);
  }
}

static const struct {
  const char *name;
  void (*run)(uint32_t size);
} benches[] = { { "text", bench_text }, { "wire", bench_wire }, { "validate", bench_validate },
                { "memory", bench_memory } };

static int usage(void) {
  fputs("usage: ir_bench text|wire|validate|memory|all [--size STATEMENTS]\n", stderr);
  return 2;
}

int main(int argc, char **argv) {
  unsigned long size = 1000000;
  if (argc != 2 && argc != 4) return usage();
  if (argc == 4) {
    char *end;
    size = strtoul(argv[3], &end, 10);
    if (strcmp(argv[2], "--size") != 0 || *end != 0 || size < 1000 || size > 1000000) return usage();
  }
  bool found = false;
  for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
    if (strcmp(argv[1], benches[i].name) != 0 && strcmp(argv[1], "all") != 0) continue;
    benches[i].run((uint32_t)size);
    found = true;
  }
  return found ? 0 : usage();
}
