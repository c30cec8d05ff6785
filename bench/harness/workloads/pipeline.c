/* pipeline.*: what the compiler costs, stage by stage, on programs of about n expressions: blocks of statements under
 * conditions, with loads, a conversion, fma and variables, and between them an exchange through shared memory, so that
 * the validator has a flow to follow. Each stage takes the form that the stage before it made, and
 * its result is compared with that form. How time grows with size is a counter: an exponent of 1 is linear. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vyre/lower.h>
#include <vyre/text.h>
#include <vyre/wire.h>

#include "base/digest.h"
#include "base/error.h"
#include "harness/driver_host.h"
#include "harness/workload.h"

enum { GROUP = 64, PAIRS = 8, EXPRESSIONS_OF_BLOCK = 64, FINGERPRINT = 32, MOST_RUNS = 200 };
#define ENOUGH_NS 50e6

/* ---- The program ------------------------------------------------------------------------------------ */

typedef struct names {
  vyre_expr i, lane, across, a;
  vyre_binding x, k, y, tile;
  vyre_var v;
} names;

static names declare(vyre_builder *b) {
  names d;
  vyre_build_workgroup(b, GROUP, 1, 1);
  d.a = vyre_build_param(b, "a", VYRE_TYPE_F32);
  d.x = vyre_build_buffer(b, VYRE_ACCESS_READ, "x", VYRE_TYPE_F32, 0);
  d.k = vyre_build_buffer(b, VYRE_ACCESS_READ, "k", VYRE_TYPE_U32, 0);
  d.y = vyre_build_buffer(b, VYRE_ACCESS_RW, "y", VYRE_TYPE_F32, 0);
  d.tile = vyre_build_buffer(b, VYRE_ACCESS_SHARED, "tile", VYRE_TYPE_F32, GROUP);
  d.i = vyre_build_leaf(b, VYRE_OP_GID, 0);
  d.lane = vyre_build_leaf(b, VYRE_OP_LID, 0);
  d.across = vyre_build_binary(b, VYRE_OP_BITXOR, d.lane, vyre_build_u32(b, GROUP / 2));
  d.v = vyre_build_declare(b, VYRE_STMT_VAR, "v", vyre_build_f32(b, 0));
  return d;
}

/* let tN = fma(a, x[gid.x + N], f32(k[gid.x ^ N])); y[gid.x] = tN; */
static void add_pair(vyre_builder *b, const names *d, uint32_t n) {
  char name[16];
  snprintf(name, sizeof name, "t%u", n);
  vyre_expr number = vyre_build_u32(b, n);
  vyre_expr x = vyre_build_load(b, VYRE_OP_LOAD, d->x, vyre_build_binary(b, VYRE_OP_ADD, d->i, number));
  vyre_expr k = vyre_build_load(b, VYRE_OP_LOAD, d->k, vyre_build_binary(b, VYRE_OP_BITXOR, d->i, number));
  vyre_expr sum = vyre_build_fma(b, d->a, x, vyre_build_cast(b, VYRE_TYPE_F32, k));
  vyre_var t = vyre_build_declare(b, VYRE_STMT_LET, name, sum);
  vyre_build_store(b, d->y, d->i, vyre_build_var_value(b, t));
}

static void add_block(vyre_builder *b, const names *d, uint32_t n) {
  vyre_build_if(b, vyre_build_binary(b, VYRE_OP_LT, d->i, vyre_build_u32(b, n)));
  for (uint32_t pair = 0; pair < PAIRS; pair++) add_pair(b, d, n * PAIRS + pair);
  vyre_build_assign(b, d->v, vyre_build_load(b, VYRE_OP_LOAD, d->y, d->i));
  vyre_build_else(b);
  vyre_build_assign(b, d->v, vyre_build_binary(b, VYRE_OP_ADD, vyre_build_var_value(b, d->v), d->a));
  vyre_build_end(b);
  vyre_build_store(b, d->tile, d->lane, vyre_build_var_value(b, d->v));
  vyre_build_simple(b, VYRE_STMT_BARRIER);
  vyre_build_store(b, d->y, d->i, vyre_build_load(b, VYRE_OP_LOAD, d->tile, d->across));
  vyre_build_simple(b, VYRE_STMT_BARRIER);
}

static vyre_status make_program(uint64_t n, vyre_program **out, vyre_error *error) {
  vyre_builder *b;
  *out = NULL;
  if (vyre_builder_create("pipeline", NULL, &b) != VYRE_OK) return vyre_fail_memory(error, "pipeline");
  names d = declare(b);
  for (uint32_t block = 0; block <= n / EXPRESSIONS_OF_BLOCK; block++) add_block(b, &d, block);
  vyre_status status = vyre_builder_finish(b, out, error);
  vyre_builder_destroy(b);
  return status;
}

/* ---- Its forms, and what a stage makes of one -------------------------------------------------------- */

typedef struct job {
  const struct stage *stage;
  uint64_t n;
  vyre_program *program, *made;
  char *text, *printed;
  uint8_t *wire, *encoded, *kernel;
  size_t text_bytes, printed_bytes, wire_bytes, encoded_bytes, kernel_bytes;
  uint8_t digest[FINGERPRINT];
  bool is_valid;
} job;

typedef struct stage {
  const char *id;
  vyre_status (*run)(job *j, vyre_error *error);
  bool (*is_right)(const job *j);
} stage;

static vyre_status keep(job *j, vyre_program *made, vyre_status status) {
  vyre_program_release(j->made);
  j->made = status == VYRE_OK ? made : NULL;
  return status;
}

static bool same_program(const job *j) {
  return j->made && memcmp(vyre_program_fingerprint(j->made), vyre_program_fingerprint(j->program), FINGERPRINT) == 0;
}

static vyre_status build(job *j, vyre_error *error) {
  vyre_program *made;
  vyre_status status = make_program(j->n, &made, error);
  return keep(j, made, status);
}

static vyre_status parse(job *j, vyre_error *error) {
  vyre_program *made;
  vyre_status status = vyre_text_parse(j->text, j->text_bytes, NULL, NULL, &made, error);
  return keep(j, made, status);
}

static vyre_status decode(job *j, vyre_error *error) {
  vyre_program *made;
  vyre_status status = vyre_wire_decode(j->wire, j->wire_bytes, NULL, &made, error);
  return keep(j, made, status);
}

static vyre_status print(job *j, vyre_error *error) {
  free(j->printed);
  vyre_status status = vyre_text_print(j->program, &j->printed, &j->printed_bytes);
  if (status == VYRE_OK) return VYRE_OK;
  j->printed = NULL;
  return vyre_fail_memory(error, "print");
}

static bool same_text(const job *j) {
  return j->printed && j->printed_bytes == j->text_bytes && memcmp(j->printed, j->text, j->text_bytes) == 0;
}

static vyre_status encode(job *j, vyre_error *error) {
  free(j->encoded);
  vyre_status status = vyre_wire_encode(j->program, &j->encoded, &j->encoded_bytes);
  if (status == VYRE_OK) return VYRE_OK;
  j->encoded = NULL;
  return vyre_fail_memory(error, "encode");
}

static bool same_wire(const job *j) {
  return j->encoded && j->encoded_bytes == j->wire_bytes && memcmp(j->encoded, j->wire, j->wire_bytes) == 0;
}

static vyre_status digest(job *j, vyre_error *error) {
  (void)error;
  vyre_digest_of(j->wire + VYRE_WIRE_HEADER_BYTES, j->wire_bytes - VYRE_WIRE_HEADER_BYTES, j->digest);
  return VYRE_OK;
}

static bool same_digest(const job *j) {
  return memcmp(j->digest, vyre_program_fingerprint(j->program), FINGERPRINT) == 0;
}

static vyre_status validate(job *j, vyre_error *error) {
  vyre_status status = vyre_program_validate(j->program, NULL, error);
  j->is_valid = status == VYRE_OK;
  return status;
}

static bool is_valid(const job *j) {
  return j->is_valid;
}

static vyre_status lower(job *j, vyre_error *error) {
  const vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  free(j->kernel);
  j->kernel = NULL;
  return vyre_lower(j->program, &options, &j->kernel, &j->kernel_bytes, error);
}

/* Sound, and the same bytes as those of the program that came back from its wire form. */
static bool is_kernel(const job *j) {
  job again = {.wire = j->wire, .wire_bytes = j->wire_bytes};
  if (!j->kernel || vyre_kernel_verify(j->kernel, j->kernel_bytes, NULL) != VYRE_OK) return false;
  bool same = decode(&again, NULL) == VYRE_OK;
  again.program = again.made;
  same = same && lower(&again, NULL) == VYRE_OK && again.kernel_bytes == j->kernel_bytes &&
         memcmp(again.kernel, j->kernel, j->kernel_bytes) == 0;
  vyre_program_release(again.made);
  free(again.kernel);
  return same;
}

static const stage stages[] = {
    {"pipeline.build", build, same_program},   {"pipeline.parse", parse, same_program},
    {"pipeline.validate", validate, is_valid}, {"pipeline.print", print, same_text},
    {"pipeline.encode", encode, same_wire},    {"pipeline.digest", digest, same_digest},
    {"pipeline.decode", decode, same_program}, {"pipeline.lower", lower, is_kernel},
};

/* ---- As a contestant ------------------------------------------------------------------------------- */

static vyre_status run(void *ctx, vyre_error *error) {
  job *j = ctx;
  return j->stage->run(j, error);
}

static vyre_status check(void *ctx, vyre_error *error) {
  const job *j = ctx;
  if (j->stage->is_right(j)) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_INTERNAL, j->stage->id, "What came out is not the program that went in.");
}

static void spoil(void *ctx) {
  job *j = ctx;
  vyre_program_release(j->made);
  free(j->printed);
  free(j->encoded);
  free(j->kernel);
  j->made = NULL;
  j->printed = NULL;
  j->encoded = NULL;
  j->kernel = NULL;
  j->is_valid = false;
  memset(j->digest, 0, sizeof j->digest);
}

static void destroy(void *ctx) {
  job *j = ctx;
  spoil(j);
  vyre_program_release(j->program);
  free(j->text);
  free(j->wire);
  free(j);
}

static vyre_status prepare(job *j, const bench_work *work, vyre_error *error) {
  j->n = work->n;
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
    if (strcmp(stages[i].id, work->id) == 0) j->stage = &stages[i];
  vyre_status status = make_program(j->n, &j->program, error);
  if (status != VYRE_OK) return status;
  if (vyre_text_print(j->program, &j->text, &j->text_bytes) != VYRE_OK ||
      vyre_wire_encode(j->program, &j->wire, &j->wire_bytes) != VYRE_OK)
    return vyre_fail_memory(error, work->id);
  return VYRE_OK;
}

static vyre_status make_job(const bench_work *work, job **out, vyre_error *error) {
  *out = calloc(1, sizeof **out);
  if (!*out) return vyre_fail_memory(error, work->id);
  vyre_status status = prepare(*out, work, error);
  if (status != VYRE_OK) destroy(*out);
  return status;
}

static vyre_status open_stage(const bench_setting *setting, const bench_work *work, bench_driver *out,
                              vyre_error *error) {
  static const bench_host_work host = {"libvyre's own functions on one thread of the host", run, check, spoil, destroy};
  job *j;
  (void)setting;
  *out = (bench_driver){.cold_ns = -1};
  vyre_status status = make_job(work, &j, error);
  return status == VYRE_OK ? bench_driver_host(&host, j, work, out, error) : status;
}

/* ---- Counters -------------------------------------------------------------------------------------- */

static double counter_of(const bench_case *c, const char *name) {
  for (uint32_t i = 0; i < c->counter_count; i++)
    if (strcmp(c->counters[i].name, name) == 0) return c->counters[i].value;
  return NAN;
}

static double processor_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The shortest of some runs in processor time: how it grows must not depend on what else the machine does. */
static double shortest_run(job *j) {
  double shortest = NAN, begun = processor_ns(), spent = 0;
  for (int i = 0; i < MOST_RUNS && (i < 3 || spent < ENOUGH_NS); i++) {
    double start = processor_ns();
    if (j->stage->run(j, NULL) != VYRE_OK) return NAN;
    double end = processor_ns();
    shortest = fmin(shortest, end - start);
    spent = end - begun;
  }
  return shortest;
}

/* The same stage on the next smaller program of this run; NULL if there is none. */
static const bench_case *smaller(const bench_report *report, const bench_case *c) {
  const bench_case *best = NULL;
  for (uint32_t i = 0; i < report->case_count; i++) {
    const bench_case *other = &report->cases[i];
    if (strcmp(other->workload, c->workload) == 0 && other->n < c->n && (!best || other->n > best->n)) best = other;
  }
  return best;
}

static bool count(bench_report *report, bench_case *c, job *j) {
  vyre_program_info info;
  vyre_program_describe(j->program, &info);
  double expressions = info.expr_count, time = shortest_run(j);
  if (!isfinite(time)) return true;
  bool done = bench_case_count(report, c, "expressions", "1", expressions) &&
              bench_case_count(report, c, "statements", "1", info.statement_count) &&
              bench_case_count(report, c, "processor_time", "ns", time) &&
              bench_case_count(report, c, "processor_time_per_expression", "ns", time / expressions);
  const bench_case *before = smaller(report, c);
  if (!done || !before) return done;
  double exponent = log(time / counter_of(before, "processor_time")) /
                    log(expressions / counter_of(before, "expressions"));
  return !isfinite(exponent) || bench_case_count(report, c, "growth_exponent", "1", exponent);
}

static bool finish(const bench_setting *setting, const bench_work *work, bench_report *report, bench_case *c) {
  job *j;
  (void)setting;
  if (!c->contestants[0].correct || make_job(work, &j, NULL) != VYRE_OK) return true;
  bool done = count(report, c, j);
  destroy(j);
  return done;
}

#define STAGE(name, words)                                                   \
  const bench_workload bench_pipeline_##name = {                             \
      .id = "pipeline." #name,                                               \
      .variant = "true",                                                     \
      .title = words ", a program of about n expressions",                   \
      .check = "what comes out is the program, text or bytes that went in",  \
      .open = open_stage,                                                    \
      .finish = finish,                                                      \
  };

STAGE(build, "builder: calls to program")
STAGE(parse, "parser: text to program")
STAGE(validate, "validator")
STAGE(print, "printer: program to canonical text")
STAGE(encode, "program to wire bytes")
STAGE(digest, "BLAKE2b-256 of the wire bytes")
STAGE(decode, "wire bytes to program")
STAGE(lower, "program to kernel")
