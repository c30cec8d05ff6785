/* vyre run: one program, once, on data of the command line; and all that can be asked about it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vyre/device.h>

#include "bindings.h"
#include "commands.h"
#include "compare.h"
#include "files.h"
#include "json.h"
#include "output.h"
#include "program.h"
#include "report.h"
#include "session.h"

#define ORACLE "cpu_ref"
#define CLOSE_TIMEOUT_NS 10000000000u
#define MOST_TIMED_RUNS 1000000u

/* All that one invocation of the command holds. */
typedef struct run {
  const parsed_options *o;
  loaded_program loaded;
  session session;
  session oracle_session; /* with its own lane order */
  bindings bindings;
  vyre_compile_options compile;
  uint64_t grid[3];
  bool has_grid, in_threads; /* --grid or --threads; the second */
  uint32_t timed_runs;       /* 0 without --time */
  vyre_device *device;
  vyre_executable *executable;
  data *results;
  vyre_launch_report report;
  vyre_completion completion;
  run_times times;
  bool timed_out; /* the device is still busy and can not be closed */
} run;

/* ---- Options ------------------------------------------------------------------------------- */

static int complain_number(const char *option, const char *text, const char *wanted) {
  output_complain("run: --%s %.80s: wants %s. Fix: give such a number.", option, text, wanted);
  return OUTPUT_USAGE;
}

/* A number of an option, if that is given, between |least| and |most|. */
static int read_number(const parsed_options *o, option_id id, uint64_t least, uint64_t most, uint64_t *value) {
  const char *text = options_get(o, id);
  if (!text) return OUTPUT_DONE;
  if (data_parse_count(text, value) && *value >= least && *value <= most) return OUTPUT_DONE;
  char wanted[80];
  snprintf(wanted, sizeof wanted, "a number from %" PRIu64 " to %" PRIu64, least, most);
  return complain_number(option_rows[id].name, text, wanted);
}

static int read_compile_options(run *r) {
  uint64_t ulp = VYRE_ULP_UNSET, steps = 0, subgroup = 0, timed = 0, level = VYRE_LEVEL_UNSET;
  int result = read_number(r->o, OPT_ULP, 0, VYRE_ULP_UNSET - 1, &ulp);
  if (result == OUTPUT_DONE) result = read_number(r->o, OPT_STEPS, 1, UINT64_MAX, &steps);
  if (result == OUTPUT_DONE) result = read_number(r->o, OPT_SUBGROUP, 1, 32, &subgroup);
  if (result == OUTPUT_DONE) result = read_number(r->o, OPT_OPT_LEVEL, 0, 2, &level);
  if (result == OUTPUT_DONE) result = read_number(r->o, OPT_TIME, 1, MOST_TIMED_RUNS, &timed);
  if (result == OUTPUT_DONE && (subgroup & (subgroup - 1)) != 0)
    result = complain_number("subgroup", options_get(r->o, OPT_SUBGROUP), "1, 2, 4, 8, 16 or 32");
  r->compile = (vyre_compile_options)VYRE_COMPILE_OPTIONS_INIT;
  r->compile.ulp = (uint32_t)ulp;
  r->compile.steps = steps;
  r->compile.subgroup_size = (uint32_t)subgroup;
  r->compile.level = (uint32_t)level;
  r->timed_runs = (uint32_t)timed;
  return result;
}

static int read_axes(const char *option, const char *text, uint64_t most, uint64_t axes[3]) {
  const char *wanted = data_parse_axes(text, most, axes);
  return wanted ? complain_number(option, text, wanted) : OUTPUT_DONE;
}

static int read_extent(run *r) {
  const char *grid = options_get(r->o, OPT_GRID), *threads = options_get(r->o, OPT_THREADS);
  if (grid && threads) {
    output_complain("run: --grid and --threads exclude each other. Fix: keep one of them.");
    return OUTPUT_USAGE;
  }
  r->grid[0] = r->grid[1] = r->grid[2] = 1;
  r->has_grid = grid || threads;
  r->in_threads = threads != NULL;
  if (grid) return read_axes("grid", grid, UINT32_MAX, r->grid);
  /* Ids are u32, so there may be 2^32 invocations; the launch refuses what goes beyond. */
  return threads ? read_axes("threads", threads, UINT64_MAX, r->grid) : OUTPUT_DONE;
}

/* Turns invocations into workgroups, and sees that something determines the grid. */
static int settle_grid(run *r) {
  vyre_program_info info;
  vyre_program_describe(r->loaded.program, &info);
  if (r->in_threads) {
    for (int axis = 0; axis < 3; axis++)
      r->grid[axis] = r->grid[axis] / info.workgroup[axis] + (r->grid[axis] % info.workgroup[axis] != 0);
  }
  if (r->has_grid) return OUTPUT_DONE;
  if (info.workgroup[1] != 1 || info.workgroup[2] != 1) {
    output_complain("run: a program with workgroup(%" PRIu32 ", %" PRIu32 ", %" PRIu32
                    ") does not say how often it runs. Fix: add --grid X,Y,Z or --threads X,Y,Z.",
                    info.workgroup[0], info.workgroup[1], info.workgroup[2]);
    return OUTPUT_USAGE;
  }
  if (info.binding_count == 0) {
    output_complain("run: a program without buffers does not say how often it runs. Fix: add --grid X or --threads X.");
    return OUTPUT_USAGE;
  }
  return OUTPUT_DONE;
}

/* The grid that nobody stated covers what is written; who reads more may have meant that. */
static void note_short_grid(const run *r, const bindings *b) {
  vyre_program_info info;
  vyre_program_describe(r->loaded.program, &info);
  uint64_t invocations = (uint64_t)r->report.launched_grid[0] * info.workgroup[0];
  for (uint32_t i = 0; i < b->buffer_count; i++) {
    const bound_buffer *buffer = &b->buffers[i];
    if (bindings_is_written(buffer) || buffer->input.count <= invocations) continue;
    output_note("no grid was given, so it covers the longest buffer that is written: %" PRIu64 " invocations, and "
                "%s has %" PRIu64 " elements; --threads N states another one",
                invocations, buffer->info.name, buffer->input.count);
    return;
  }
}

static int check_lanes(const run *r) {
  const char *lanes = options_get(r->o, OPT_LANES), *backend = options_get(r->o, OPT_BACKEND);
  if (!lanes || !backend || strcmp(backend, "auto") == 0 || strncmp(backend, ORACLE, strlen(ORACLE)) == 0)
    return OUTPUT_DONE;
  output_complain("run: --lanes is for " ORACLE ", but --backend asks for %s. Fix: leave --lanes out.", backend);
  return OUTPUT_USAGE;
}

static int load_session(run *r, session *s, const char *lanes) {
  int result = session_load(r->o, s);
  if (result == OUTPUT_DONE && lanes) result = session_set(s, VYRE_CONFIG_CPU_REF_LANE_ORDER, lanes, "--lanes");
  const char *timeout = options_get(r->o, OPT_TIMEOUT);
  if (timeout && !*timeout) return complain_number("timeout", timeout, "a number of seconds"); /* it would unset it */
  if (result == OUTPUT_DONE && timeout) result = session_set(s, VYRE_CONFIG_RUN_TIMEOUT, timeout, "--timeout");
  return result;
}

static int read_options(run *r) {
  int result = read_extent(r);
  if (result == OUTPUT_DONE) result = read_compile_options(r);
  if (result == OUTPUT_DONE) result = check_lanes(r);
  if (result == OUTPUT_DONE) result = load_session(r, &r->session, options_get(r->o, OPT_LANES));
  if (result == OUTPUT_DONE) session_warn(&r->session);
  return result;
}

/* ---- Running ------------------------------------------------------------------------------- */

/* What a program prints may hold any text; a terminal gets no control characters from it. */
static void print_record(void *ctx, const uint32_t gid[3], const char *text) {
  (void)ctx;
  output_progress(NULL);
  fprintf(stderr, "[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "] ", gid[0], gid[1], gid[2]);
  bool ends_line = false;
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    ends_line = c == '\n';
    if ((c < ' ' && c != '\t' && c != '\n') || c == 0x7F) {
      fprintf(stderr, "\\x%02x", c);
    } else {
      putc(c, stderr);
    }
  }
  if (!ends_line) putc('\n', stderr);
}

static int open_device(session *s, const char *name, vyre_device **out) {
  vyre_error error = VYRE_ERROR_INIT;
  int result = session_open(s);
  if (result != OUTPUT_DONE) return result;
  if (vyre_device_open(s->context, name, out, &error) == VYRE_OK) return OUTPUT_DONE;
  output_error(name, &error);
  return OUTPUT_FAILED;
}

static void add_buffer(const bound_buffer *buffer, data *result, vyre_arg *out) {
  const vyre_buffer_info *info = &buffer->info;
  if (info->access == VYRE_ACCESS_READ) {
    *out = vyre_arg_in(info->name, buffer->input.bytes, buffer->input.count);
  } else if (info->access == VYRE_ACCESS_WRITE) {
    *out = vyre_arg_out(info->name, result->bytes, result->count);
  } else {
    *out = vyre_arg_inout(info->name, result->bytes, result->count);
  }
}

/* One run on |device| from the inputs to |results|. The status is that of the run; what went wrong has been said. */
static vyre_status launch(run *r, vyre_device *device, const vyre_compile_options *compile, data *results,
                          bool is_first) {
  const bindings *b = &r->bindings;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_arg *args = calloc(b->param_count + b->buffer_count + 1u, sizeof *args);
  if (!args) {
    output_complain("memory is exhausted");
    return VYRE_ERR_NO_MEMORY;
  }
  for (uint32_t i = 0; i < b->param_count; i++) args[i] = b->params[i];
  for (uint32_t i = 0; i < b->buffer_count; i++) add_buffer(&b->buffers[i], &results[i], &args[b->param_count + i]);
  bindings_reset(b, results);
  r->report = (vyre_launch_report){.size = sizeof r->report};
  r->completion = (vyre_completion){.size = sizeof r->completion};
  vyre_run_options options = VYRE_RUN_OPTIONS_INIT;
  options.has_grid = r->has_grid;
  memcpy(options.grid, r->grid, sizeof options.grid);
  options.compile = compile;
  options.print = is_first ? print_record : NULL;
  options.completion = &r->completion;
  options.report = &r->report;
  vyre_status status = vyre_run(device, r->loaded.program, args, b->param_count + b->buffer_count, &options, &error);
  free(args);
  r->timed_out |= status == VYRE_ERR_TIMEOUT;
  if (status != VYRE_OK) output_error(r->loaded.path, &error);
  if (status == VYRE_OK && is_first && !r->has_grid) note_short_grid(r, b);
  if (is_first && r->completion.prints_dropped)
    output_note("%" PRIu64 " prints found no room and were dropped", r->completion.prints_dropped);
  return status;
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int time_runs(run *r) {
  r->times.whole = calloc(r->timed_runs, sizeof *r->times.whole);
  r->times.device = calloc(r->timed_runs, sizeof *r->times.device);
  if (!r->times.whole || !r->times.device) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  for (uint32_t i = 0; i < r->timed_runs; i++) {
    char text[64];
    snprintf(text, sizeof text, "run %" PRIu32 " of %" PRIu32, i + 1, r->timed_runs);
    output_progress(text);
    uint64_t start = now_ns();
    if (launch(r, r->device, &r->compile, r->results, i == 0) != VYRE_OK) return OUTPUT_FAILED;
    r->times.whole[i] = now_ns() - start;
    r->times.device[i] = r->completion.device_ns;
  }
  output_progress(NULL);
  r->times.count = r->timed_runs;
  report_sort_times(&r->times);
  return OUTPUT_DONE;
}

static int run_on_device(run *r) {
  const char *name = options_get(r->o, OPT_BACKEND);
  bool is_auto = !name || strcmp(name, "auto") == 0;
  int result = open_device(&r->session, is_auto ? "auto" : name, &r->device);
  if (result != OUTPUT_DONE) return result;
  const char *taken = vyre_device_backend(r->device);
  if (is_auto) output_note("auto took the backend %s", taken);
  if (options_has(r->o, OPT_LANES) && strcmp(taken, ORACLE) != 0) output_note("--lanes has no effect on %s", taken);
  vyre_error error = VYRE_ERROR_INIT;
  /* Compiled first and held, so that no time of a run has it in it. */
  if (vyre_compile(r->device, r->loaded.program, &r->compile, &r->executable, &error) != VYRE_OK) {
    output_error(r->loaded.path, &error);
    return OUTPUT_FAILED;
  }
  result = bindings_copy(&r->bindings, &r->results);
  if (result != OUTPUT_DONE) return result;
  if (r->timed_runs) return time_runs(r);
  return launch(r, r->device, &r->compile, r->results, true) == VYRE_OK ? OUTPUT_DONE : OUTPUT_FAILED;
}

/* ---- Verifying ----------------------------------------------------------------------------- */

/* What is compared with what: a backend with the oracle; the oracle with itself in the other lane order. */
typedef struct contestants {
  const char *lanes; /* of the oracle's run */
  char run[48], oracle[48];
} contestants;

static contestants contestants_of(const run *r) {
  const char *backend = vyre_device_backend(r->device);
  contestants c = {.lanes = "forward", .oracle = ORACLE};
  snprintf(c.run, sizeof c.run, "%s", backend);
  if (strcmp(backend, ORACLE) != 0) return c;
  vyre_config_value order;
  vyre_config_get(r->session.config, VYRE_CONFIG_CPU_REF_LANE_ORDER, &order);
  bool is_forward = strcmp(order.text, "forward") == 0;
  c.lanes = is_forward ? "reversed" : "forward";
  snprintf(c.run, sizeof c.run, ORACLE " with lanes %s", is_forward ? "forward" : "reversed");
  snprintf(c.oracle, sizeof c.oracle, ORACLE " with lanes %s", c.lanes);
  return c;
}

static int compare_all(const run *r, const contestants *c, const data *oracle) {
  const bindings *b = &r->bindings;
  for (uint32_t i = 0; i < b->buffer_count; i++) {
    if (!bindings_is_written(&b->buffers[i])) continue;
    if (!compare_data(b->buffers[i].info.name, c->run, &r->results[i], c->oracle, &oracle[i])) return OUTPUT_FAILED;
  }
  return OUTPUT_DONE;
}

/* Runs the oracle with the subgroup size of the launch. */
static int verify(run *r) {
  vyre_launch_report report = r->report;
  vyre_completion completion = r->completion;
  vyre_compile_options compile = r->compile;
  compile.subgroup_size = report.subgroup_size;
  vyre_device *oracle = NULL;
  data *results = NULL;
  contestants c = contestants_of(r);
  int result = load_session(r, &r->oracle_session, c.lanes);
  if (result == OUTPUT_DONE) result = open_device(&r->oracle_session, ORACLE, &oracle);
  if (result == OUTPUT_DONE) result = bindings_copy(&r->bindings, &results);
  if (result == OUTPUT_DONE) {
    vyre_status status = launch(r, oracle, &compile, results, false);
    result = status == VYRE_OK ? compare_all(r, &c, results) : OUTPUT_FAILED;
  }
  bindings_free_copy(&r->bindings, r->timed_out ? NULL : results);
  if (oracle && !r->timed_out) vyre_device_close(oracle, CLOSE_TIMEOUT_NS, NULL);
  r->report = report;
  r->completion = completion;
  return result;
}

/* ---- Results ------------------------------------------------------------------------------- */

/* Stages the files. What encoding makes goes to |owned|, one an output. */
static int stage(const run *r, file_set *files, uint8_t **owned) {
  for (uint32_t i = 0; i < r->bindings.output_count; i++) {
    uint32_t slot = r->bindings.outputs[i];
    const char *destination = r->bindings.buffers[slot].out;
    const uint8_t *bytes;
    uint64_t length;
    if (data_is_stdout(destination)) continue;
    int result = data_encode(&r->results[slot], destination, &bytes, &length, &owned[i]);
    if (result == OUTPUT_DONE) result = files_stage(files, data_path(destination), bytes, length);
    if (result != OUTPUT_DONE) return result;
  }
  return OUTPUT_DONE;
}

static void print_lines(const run *r) {
  for (uint32_t i = 0; i < r->bindings.output_count; i++) {
    const bound_buffer *buffer = &r->bindings.buffers[r->bindings.outputs[i]];
    if (!data_is_stdout(buffer->out)) continue;
    if (r->bindings.output_count > 1) printf("%s: ", buffer->info.name);
    data_print(&r->results[r->bindings.outputs[i]]);
  }
}

static void write_values(json_writer *j, const char *name, const data *d) {
  const vyre_type_info *info = vyre_type_describe(d->element);
  uint32_t size = vyre_type_describe(info->component)->bytes;
  json_open(j, name, '[');
  for (uint64_t i = 0; i < d->count * info->lanes; i++) json_element(j, NULL, info->component, d->bytes + i * size);
  json_close(j, ']');
}

static void print_json(const run *r) {
  json_writer writer, *j = output_json(&writer);
  vyre_program_info info;
  vyre_program_describe(r->loaded.program, &info);
  json_open(j, NULL, '{');
  json_text(j, "program", info.name);
  json_text(j, "backend", vyre_device_backend(r->device));
  json_text(j, "device", vyre_device_name(r->device));
  json_open(j, "outputs", '{');
  for (uint32_t i = 0; i < r->bindings.output_count; i++) {
    const bound_buffer *buffer = &r->bindings.buffers[r->bindings.outputs[i]];
    if (data_is_stdout(buffer->out)) write_values(j, buffer->info.name, &r->results[r->bindings.outputs[i]]);
  }
  json_close(j, '}');
  if (options_has(r->o, OPT_VERIFY)) json_boolean(j, "verified", true);
  if (options_has(r->o, OPT_REPORT)) report_json(j, &r->report, &r->completion);
  if (r->times.count) report_times_json(j, &r->times);
  json_close(j, '}');
}

static void tell(const run *r) {
  bool is_json = options_has(r->o, OPT_JSON);
  if (is_json) {
    print_json(r);
    return;
  }
  print_lines(r);
  if (options_has(r->o, OPT_REPORT)) report_text(r->device, &r->report, &r->completion);
  if (r->times.count) report_times_text(&r->times);
  if (options_has(r->o, OPT_VERIFY)) {
    contestants c = contestants_of(r);
    output_note("the results of %s equal those of %s", c.run, c.oracle);
  }
}

/* Files appear only after standard output has taken its part. */
static int deliver(const run *r) {
  file_set files = {0};
  uint8_t **owned = calloc(r->bindings.output_count + 1u, sizeof *owned);
  if (!owned) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  int result = stage(r, &files, owned);
  if (result == OUTPUT_DONE) {
    tell(r);
    result = output_finish(OUTPUT_DONE);
  }
  if (result == OUTPUT_DONE) {
    result = files_commit(&files);
  } else {
    files_discard(&files);
  }
  for (uint32_t i = 0; i < r->bindings.output_count; i++) free(owned[i]);
  free(owned);
  return result;
}

static void note_lost_results(const run *r) {
  const parsed_options *o = r->o;
  bool is_asked = r->bindings.output_count || r->timed_runs || options_has(o, OPT_VERIFY) || options_has(o, OPT_REPORT);
  for (uint32_t i = 0; i < r->bindings.buffer_count && !is_asked; i++) {
    if (!bindings_is_written(&r->bindings.buffers[i])) continue;
    output_note("no --out is given, so nothing of the results is kept. Fix: add --out %s=-.",
                r->bindings.buffers[i].info.name);
    return;
  }
}

/* ---- All of it ----------------------------------------------------------------------------- */

static void release(run *r) {
  if (r->timed_out) return; /* the device still works on all of this, until the process ends */
  vyre_executable_destroy(r->executable);
  if (r->device) vyre_device_close(r->device, CLOSE_TIMEOUT_NS, NULL);
  session_close(&r->session);
  session_close(&r->oracle_session);
  bindings_free_copy(&r->bindings, r->results);
  bindings_free(&r->bindings);
  program_free(&r->loaded);
  free(r->times.whole);
  free(r->times.device);
}

int cmd_run(const parsed_options *o) {
  run r = {.o = o};
  int result = read_options(&r);
  if (result == OUTPUT_DONE) {
    result = program_load(o->operands[0], o, &r.loaded);
    if (r.loaded.diagnostics) output_diagnostics(r.loaded.path, r.loaded.diagnostics);
  }
  if (result == OUTPUT_DONE) result = settle_grid(&r);
  if (result == OUTPUT_DONE) result = bindings_read(r.loaded.program, o, &r.bindings);
  r.compile.specs = r.bindings.specs;
  r.compile.spec_count = r.bindings.spec_count;
  if (result == OUTPUT_DONE) note_lost_results(&r);
  if (result == OUTPUT_DONE) result = run_on_device(&r);
  if (result == OUTPUT_DONE && options_has(o, OPT_VERIFY)) result = verify(&r);
  if (result == OUTPUT_DONE) result = deliver(&r);
  release(&r);
  return result;
}
