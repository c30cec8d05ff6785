#include "twin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../plugins/cpu_ref/cpu_limits.h"
#include "../../plugins/cpu_ref/launch.h"
#include "../../plugins/template/engine.h"
#include "../cpu_ref/holds.h"
#include "../gen/random_program.h"

typedef struct memory {
  uint8_t *data[TWIN_MAX];
  uint64_t bytes[TWIN_MAX], length[TWIN_MAX];
  uint32_t count;
} memory;

typedef struct outcome {
  vyre_status status;
  uint64_t traps, masked[3], prints_written, prints_dropped, print_words;
  uint64_t prints[1 << 16];
  memory m;
} outcome;

__attribute__((format(printf, 2, 3))) static void say(twin_result *r, const char *format, ...) {
  va_list args;
  if (r->text[0] != 0) return;
  va_start(args, format);
  vsnprintf(r->text, sizeof r->text, format, args);
  va_end(args);
}

/* ---- Input ----------------------------------------------------------------------------------- */

/* Contents that depend on the seed alone. */
static void bind_all(memory *m, const vyre_program *p, const twin_options *o) {
  random_source source = { o->seed };
  vyre_buffer_info info;
  for (m->count = 0; vyre_program_slot(p, m->count, &info); m->count++) {
    HOLDS(m->count < TWIN_MAX);
    uint64_t length = info.length != 0 ? info.length : o->elements;
    uint64_t bytes = length * vyre_type_describe(info.element)->bytes;
    uint8_t *data = aligned_alloc(16, (bytes + 31) & ~(uint64_t)15);
    memset(data, 0, (bytes + 31) & ~(uint64_t)15);
    for (uint64_t i = 0; i < bytes && info.access != VYRE_ACCESS_WRITE; i++) data[i] = (uint8_t)random_bits(&source);
    m->data[m->count] = data;
    m->bytes[m->count] = bytes;
    m->length[m->count] = length;
  }
}

static void free_all(memory *m) {
  for (uint32_t i = 0; i < m->count; i++) free(m->data[i]);
}

/* Bits of each parameter, and the block that a launch has of them. */
typedef struct params {
  uint64_t bits[TWIN_MAX];
  uint8_t block[8 * TWIN_MAX];
} params;

static void make_params(params *out, const vyre_program *p, uint64_t seed) {
  random_source source = { seed ^ 0x5EED };
  vyre_param_info info;
  uint64_t at = 0;
  for (uint32_t i = 0; vyre_program_param(p, i, &info); i++) {
    HOLDS(i < TWIN_MAX);
    uint32_t bytes = vyre_type_describe(info.type)->bytes;
    uint64_t bits = random_bits(&source);
    if (bytes == 4) bits = (uint32_t)bits;
    if (info.type == VYRE_TYPE_BOOL) bits &= 1;
    at = (at + bytes - 1) / bytes * bytes;
    out->bits[i] = bits;
    memcpy(out->block + at, &bits, bytes);
    at += bytes;
  }
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* Both engines count under the same names. */
#define TAKE_REPORT(out, report)                     \
  do {                                               \
    (out)->traps = (report).trap_count;              \
    (out)->masked[0] = (report).masked_loads;        \
    (out)->masked[1] = (report).masked_stores;       \
    (out)->masked[2] = (report).masked_atomics;      \
    (out)->prints_written = (report).prints_written; \
    (out)->prints_dropped = (report).prints_dropped; \
    (out)->print_words = (report).print_words;       \
  } while (0)

static void run_oracle(vyre_program *p, const twin_options *o, const params *in, outcome *out, twin_result *r) {
  vyre_error error = VYRE_ERROR_INIT;
  cpu_options options = { .ulp = o->ulp, .subgroup = o->subgroup, .steps = o->steps };
  cpu_code *code;
  if (cpu_code_create(p, &options, &code, &error) != VYRE_OK) {
    r->refused = true;
    say(r, "oracle: %s", error.text);
    return;
  }
  cpu_bound bound[TWIN_MAX];
  for (uint32_t i = 0; i < out->m.count; i++) bound[i] = (cpu_bound){ out->m.data[i], out->m.length[i] };
  cpu_launch launch = { .code = code, .params = in->bits, .bound = bound, .memory_limit = CPU_MEMORY_LIMIT,
                        .grid = { o->grid[0], o->grid[1], o->grid[2] }, .work_budget = o->work_budget,
                        .prints = out->prints, .print_words = sizeof out->prints / sizeof *out->prints };
  cpu_report report;
  out->status = cpu_launch_run(&launch, &report, &error);
  cpu_code_destroy(code);
  TAKE_REPORT(out, report);
  if (out->status != VYRE_OK && out->status != VYRE_ERR_TRAP) say(r, "oracle: %s", error.text);
}

static void run_engine(vyre_program *p, const twin_options *o, const params *in, outcome *out, twin_result *r) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_lower_options options = target_options(o->target);
  options.flags = VYRE_LOWER_COUNT_MASKED;
  options.subgroup_size = 0;
  if (o->ulp != VYRE_ULP_UNSET) options.compile_flags |= VYRE_COMPILE_ULP;
  options.ulp_budget = o->ulp != VYRE_ULP_UNSET ? o->ulp : 0;
  if (o->steps != 0) options.compile_flags |= VYRE_COMPILE_STEPS;
  options.steps = o->steps;
  uint8_t *kernel;
  size_t bytes;
  vyre_status status = vyre_lower(p, &options, &kernel, &bytes, &error);
  if (status != VYRE_OK) {
    r->refused = true;
    say(r, "lower: %s", error.text);
    return;
  }
  if (vyre_kernel_verify(kernel, bytes, &error) != VYRE_OK) say(r, "verify: %s", error.text);
  engine_code *code;
  engine_fault fault = { 0 };
  status = engine_prepare(kernel, bytes, &code, &fault);
  free(kernel);
  if (status != VYRE_OK) {
    say(r, "engine: %s", fault.text);
    return;
  }
  engine_memory bound[TWIN_MAX];
  for (uint32_t i = 0; i < out->m.count; i++)
    bound[i] = (engine_memory){ out->m.data[i], (out->m.bytes[i] + 15) & ~15ull };
  engine_launch launch = { .code = code, .bound = bound, .elements = out->m.length, .params = in->block,
                           .grid = { o->grid[0], o->grid[1], o->grid[2] }, .subgroup = o->subgroup,
                           .reverse = o->reverse, .memory_limit = CPU_MEMORY_LIMIT, .work_budget = o->work_budget,
                           .prints = out->prints, .print_words = sizeof out->prints / sizeof *out->prints };
  engine_report report;
  out->status = engine_run(&launch, &report, &fault);
  engine_free(code);
  TAKE_REPORT(out, report);
  if (out->status != VYRE_OK && out->status != VYRE_ERR_TRAP) say(r, "engine: %s", fault.text);
}

static void compare(const vyre_program *p, const twin_options *o, const outcome *a, const outcome *b, twin_result *r) {
  static const char *const kinds[] = { "loads", "stores", "atomics" };
  r->trapped = a->traps > 0;
  if ((a->traps > 0) != (b->traps > 0) || (a->traps != b->traps))
    say(r, "%llu traps, and %llu of the kernel", (unsigned long long)a->traps, (unsigned long long)b->traps);
  if (r->trapped) return;
  for (uint32_t i = 0; i < a->m.count; i++) {
    if (a->m.bytes[i] == 0 || memcmp(a->m.data[i], b->m.data[i], a->m.bytes[i]) == 0) continue;
    vyre_buffer_info info;
    uint64_t at = 0, size = 1;
    while (a->m.data[i][at] == b->m.data[i][at]) at++;
    if (vyre_program_slot(p, i, &info)) size = vyre_type_describe(info.element)->bytes;
    say(r, "buffer %s differs at element %llu", info.name, (unsigned long long)(at / size));
  }
  for (int k = 0; k < 3 && o->masked; k++)
    if (a->masked[k] != b->masked[k])
      say(r, "%llu masked %s, and %llu of the kernel", (unsigned long long)a->masked[k], kinds[k],
          (unsigned long long)b->masked[k]);
  if (a->prints_written != b->prints_written || a->print_words != b->print_words)
    say(r, "%llu prints, and %llu of the kernel", (unsigned long long)a->prints_written,
        (unsigned long long)b->prints_written);
}

twin_result twin_run(vyre_program *program, const twin_options *options) {
  twin_result r = { .text = "" };
  outcome *oracle = calloc(1, sizeof *oracle), *engine = calloc(1, sizeof *engine);
  params in = { { 0 }, { 0 } };
  make_params(&in, program, options->seed);
  bind_all(&oracle->m, program, options);
  bind_all(&engine->m, program, options);
  run_oracle(program, options, &in, oracle, &r);
  if (r.text[0] == 0) run_engine(program, options, &in, engine, &r);
  if (r.text[0] == 0) compare(program, options, oracle, engine, &r);
  free_all(&oracle->m);
  free_all(&engine->m);
  free(oracle);
  free(engine);
  return r;
}
