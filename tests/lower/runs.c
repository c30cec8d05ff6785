#include "runs.h"

#include <stdlib.h>

#include "../../plugins/cpu_ref/cpu_limits.h"
#include "../../plugins/cpu_ref/launch.h"
#include "../../plugins/template/engine.h"

/* All count under the same names. */
#define TAKE_REPORT(out, report)                                                     \
  do {                                                                               \
    (out)->traps = (report).trap_count;                                              \
    (out)->expired = (report).trap_count > 0 && (report).trap_code == CPU_STEP_TRAP; \
    (out)->masked[0] = (report).masked_loads;                                        \
    (out)->masked[1] = (report).masked_stores;                                       \
    (out)->masked[2] = (report).masked_atomics;                                      \
    (out)->prints_written = (report).prints_written;                                 \
    (out)->prints_dropped = (report).prints_dropped;                                 \
  } while (0)

static void refuse(outcome *out, const char *who, const char *why) {
  out->refused = true;
  outcome_say(out, "%s: %s", who, why);
}

void run_oracle(vyre_program *p, const run_case *c, bool reverse, outcome *out) {
  vyre_error error = VYRE_ERROR_INIT;
  cpu_options options = { .ulp = c->ulp, .subgroup = c->subgroup, .steps = c->steps };
  cpu_code *code;
  if (!outcome_prepare(out, p, c)) return;
  if (cpu_code_create(p, &options, &code, &error) != VYRE_OK) {
    refuse(out, "oracle", error.text);
    return;
  }
  run_memory *m = &out->memory;
  cpu_bound bound[OUTCOME_MAX];
  for (uint32_t i = 0; i < m->count; i++) bound[i] = (cpu_bound){ m->data[i], m->length[i] };
  const uint32_t grid[3] = { (uint32_t)c->grid[0], (uint32_t)c->grid[1], (uint32_t)c->grid[2] };
  cpu_launch launch = { .code = code, .params = m->params, .bound = bound, .grid = { grid[0], grid[1], grid[2] },
                        .reverse = reverse, .memory_limit = CPU_MEMORY_LIMIT, .work_budget = c->work_budget,
                        .prints = out->prints, .print_words = OUTCOME_PRINT_WORDS };
  cpu_report report;
  vyre_status status = cpu_launch_run(&launch, &report, &error);
  cpu_code_destroy(code);
  TAKE_REPORT(out, report);
  out->print_words = report.print_words;
  if (status != VYRE_OK && status != VYRE_ERR_TRAP) outcome_say(out, "oracle: %s", error.text);
}

/* ---- The engine ------------------------------------------------------------------------------ */

static engine_code *prepare_kernel(vyre_program *p, const run_case *c, target t, outcome *out) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_lower_options options = target_options(t);
  engine_fault fault = { 0 };
  engine_code *code = NULL;
  uint8_t *kernel;
  size_t bytes;
  options.flags = VYRE_LOWER_COUNT_MASKED;
  if (c->ulp != VYRE_ULP_UNSET) options.compile_flags |= VYRE_COMPILE_ULP;
  options.ulp_budget = c->ulp != VYRE_ULP_UNSET ? c->ulp : 0;
  if (c->steps != 0) options.compile_flags |= VYRE_COMPILE_STEPS;
  options.steps = c->steps;
  if (vyre_lower(p, &options, &kernel, &bytes, &error) != VYRE_OK) {
    refuse(out, "lower", error.text);
    return NULL;
  }
  vyre_status status = vyre_kernel_verify(kernel, bytes, &error);
  if (status != VYRE_OK) outcome_say(out, "verify: %s", error.text);
  else status = engine_prepare(kernel, bytes, &code, &fault);
  free(kernel);
  if (status == VYRE_ERR_UNSUPPORTED) refuse(out, "engine", fault.text);
  else if (status != VYRE_OK) outcome_say(out, "engine: %s", fault.text);
  return code;
}

/* Parameters at their natural alignment, as a launch block has them. */
static void lay_out_params(const vyre_program *p, const run_memory *m, uint8_t *block) {
  vyre_param_info info;
  uint64_t at = 0;
  for (uint32_t i = 0; vyre_program_param(p, i, &info); i++) {
    uint32_t bytes = vyre_type_describe(info.type)->bytes;
    at = (at + bytes - 1) / bytes * bytes;
    __builtin_memcpy(block + at, &m->params[i], bytes);
    at += bytes;
  }
}

void run_engine(vyre_program *p, const run_case *c, target t, bool reverse, outcome *out) {
  if (!outcome_prepare(out, p, c)) return;
  engine_code *code = prepare_kernel(p, c, t, out);
  if (code == NULL) return;
  run_memory *m = &out->memory;
  engine_memory bound[OUTCOME_MAX];
  uint8_t params[8 * OUTCOME_MAX];
  lay_out_params(p, m, params);
  for (uint32_t i = 0; i < m->count; i++) bound[i] = (engine_memory){ m->data[i], (m->bytes[i] + 15) & ~15ull };
  const uint32_t grid[3] = { (uint32_t)c->grid[0], (uint32_t)c->grid[1], (uint32_t)c->grid[2] };
  engine_launch launch = { .code = code, .bound = bound, .elements = m->length, .params = params,
                           .grid = { grid[0], grid[1], grid[2] }, .subgroup = c->subgroup, .reverse = reverse,
                           .memory_limit = CPU_MEMORY_LIMIT, .work_budget = c->work_budget, .prints = out->prints,
                           .print_words = OUTCOME_PRINT_WORDS };
  engine_report report;
  engine_fault fault = { 0 };
  vyre_status status = engine_run(&launch, &report, &fault);
  engine_free(code);
  TAKE_REPORT(out, report);
  out->print_words = report.print_words;
  if (status != VYRE_OK && status != VYRE_ERR_TRAP) outcome_say(out, "engine: %s", fault.text);
}

/* ---- A device -------------------------------------------------------------------------------- */

static uint32_t make_args(const vyre_program *p, run_memory *m, vyre_arg *args) {
  vyre_param_info param;
  vyre_buffer_info buffer;
  uint32_t count = 0;
  for (uint32_t i = 0; vyre_program_param(p, i, &param); i++)
    args[count++] = vyre_arg_value(param.name, param.type, m->params[i]);
  for (uint32_t i = 0; vyre_program_slot(p, i, &buffer); i++) {
    uint32_t flags = (buffer.access != VYRE_ACCESS_WRITE ? VYRE_ARG_INPUT : 0) |
                     (buffer.access != VYRE_ACCESS_READ ? VYRE_ARG_OUTPUT : 0);
    args[count++] = vyre_arg_host(buffer.name, flags, m->data[i], m->length[i]);
  }
  return count;
}

void run_device(vyre_program *p, const run_case *c, vyre_device *device, outcome *out) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_compile_options compile = VYRE_COMPILE_OPTIONS_INIT;
  vyre_run_options run = VYRE_RUN_OPTIONS_INIT;
  vyre_completion done = { .size = sizeof done };
  vyre_arg args[2 * OUTCOME_MAX];
  if (!outcome_prepare(out, p, c)) return;
  compile.ulp = c->ulp;
  compile.subgroup_size = c->subgroup;
  compile.steps = c->steps;
  run.has_grid = 1;
  for (int i = 0; i < 3; i++) run.grid[i] = c->grid[i];
  run.compile = &compile;
  run.completion = &done;
  uint32_t count = make_args(p, &out->memory, args);
  vyre_status status = vyre_run(device, p, args, count, &run, &error);
  if (status == VYRE_ERR_UNSUPPORTED || status == VYRE_ERR_LIMIT) refuse(out, "device", error.text);
  else if (status != VYRE_OK && status != VYRE_ERR_TRAP) outcome_say(out, "device: %s", error.text);
  TAKE_REPORT(out, done);
}
