/* Vyre as a contestant: everything is made once and used again, as a program that cares for speed would do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vyre/text.h>

#include "base/error.h"
#include "driver.h"

#define CLOSE_TIMEOUT_NS 10000000000u
#define LAUNCH_TIMEOUT_NS 600000000000u

/* One copy of the arrays. */
typedef struct buffer_set {
  vyre_buffer *buffers[BENCH_MAX_ARRAYS];
  vyre_set *set;
} buffer_set;

typedef struct runner {
  vyre_program *program;
  vyre_device *device;
  vyre_executable *executable;
  vyre_queue *queue;
  buffer_set *sets;
  uint32_t set_count, last; /* last: the set of the launch before */
  uint64_t grid[3];
  vyre_batch *series; /* the launches of a sample of device time */
  uint32_t series_launches;
} runner;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- Making it -------------------------------------------------------------------------------- */

static vyre_status upload(const bench_work *work, const buffer_set *s, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < work->array_count && status == VYRE_OK; i++) {
    const bench_array *a = &work->arrays[i];
    if (!a->output) status = vyre_buffer_write(s->buffers[i], 0, a->host, a->bytes, error);
  }
  return status;
}

static vyre_status download(const bench_work *work, const buffer_set *s, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < work->array_count && status == VYRE_OK; i++) {
    const bench_array *a = &work->arrays[i];
    if (a->output) status = vyre_buffer_read(s->buffers[i], 0, a->host, a->bytes, error);
  }
  return status;
}

static vyre_status make_set(runner *r, const bench_work *work, buffer_set *s, vyre_error *error) {
  vyre_arg args[BENCH_MAX_ARRAYS + BENCH_MAX_PARAMS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < work->array_count; i++) {
    vyre_status status = vyre_buffer_create(r->device, work->arrays[i].bytes, 0, &s->buffers[i], error);
    if (status != VYRE_OK) return status;
    args[count++] = vyre_arg_buffer(work->arrays[i].name, s->buffers[i]);
  }
  for (uint32_t i = 0; i < work->param_count; i++)
    args[count++] = vyre_arg_value(work->params[i].name, work->params[i].type, work->params[i].bits);
  vyre_status status = vyre_set_create(r->executable, args, count, &s->set, error);
  return status == VYRE_OK ? upload(work, s, error) : status;
}

static vyre_status make(runner *r, const bench_setting *setting, const bench_work *work, const char *program,
                        vyre_error *error) {
  vyre_status status = vyre_text_parse(program, strlen(program), NULL, NULL, &r->program, error);
  if (status == VYRE_OK) status = vyre_device_open(setting->context, setting->device_name, &r->device, error);
  if (status == VYRE_OK) status = vyre_compile(r->device, r->program, setting->compile, &r->executable, error);
  if (status == VYRE_OK) status = vyre_queue_create(r->device, &r->queue, error);
  if (status != VYRE_OK) return status;
  r->set_count = work->buffer_sets ? work->buffer_sets : 1;
  r->sets = calloc(r->set_count, sizeof *r->sets);
  if (!r->sets) return vyre_fail_memory(error, work->id);
  status = make_set(r, work, &r->sets[0], error);
  return status == VYRE_OK ? vyre_set_grid(r->sets[0].set, r->grid, error) : status;
}

static vyre_status make_other_sets(runner *r, const bench_work *work, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 1; i < r->set_count && status == VYRE_OK; i++) status = make_set(r, work, &r->sets[i], error);
  return status;
}

static void destroy(runner *r) {
  vyre_batch_destroy(r->series);
  for (uint32_t i = 0; r->sets && i < r->set_count; i++) {
    vyre_set_destroy(r->sets[i].set);
    for (uint32_t k = 0; k < BENCH_MAX_ARRAYS; k++) vyre_buffer_destroy(r->sets[i].buffers[k]);
  }
  free(r->sets);
  vyre_queue_destroy(r->queue);
  vyre_executable_destroy(r->executable);
  if (r->device) vyre_device_close(r->device, CLOSE_TIMEOUT_NS, NULL);
  vyre_program_release(r->program);
  free(r);
}

/* ---- Measuring -------------------------------------------------------------------------------- */

static buffer_set *next_set(runner *r) {
  r->last = (r->last + 1) % r->set_count;
  return &r->sets[r->last];
}

static vyre_status launch(runner *r, const buffer_set *s, vyre_error *error) {
  vyre_submission *submission;
  vyre_status status = vyre_queue_dispatch(r->queue, s->set, r->grid, &submission, error);
  if (status != VYRE_OK) return status;
  status = vyre_submission_wait(submission, LAUNCH_TIMEOUT_NS, error);
  vyre_submission_destroy(submission);
  return status;
}

static vyre_status operation(runner *r, const bench_work *work, bench_clock clock, vyre_error *error) {
  const buffer_set *s = next_set(r);
  vyre_status status = clock == BENCH_WALL_E2E ? upload(work, s, error) : VYRE_OK;
  if (status == VYRE_OK) status = launch(r, s, error);
  if (status == VYRE_OK && clock != BENCH_WALL_RESIDENT) status = download(work, s, error);
  return status;
}

/* The batch of a series of launches, made once for each length. */
static vyre_status make_series(runner *r, uint32_t launches, vyre_error *error) {
  if (r->series && r->series_launches == launches) return VYRE_OK;
  vyre_batch_destroy(r->series);
  r->series = NULL;
  r->series_launches = launches;
  vyre_status status = vyre_batch_create(r->device, &r->series, error);
  for (uint32_t i = 0; i < launches && status == VYRE_OK; i++) {
    if (i > 0) status = vyre_batch_order(r->series, error);
    if (status == VYRE_OK) status = vyre_batch_dispatch(r->series, r->sets[i % r->set_count].set, r->grid, error);
  }
  return status;
}

static vyre_status sample_device(runner *r, uint32_t launches, bench_times *out, vyre_error *error) {
  if (vyre_device_capabilities(r->device)->kind & VYRE_DEVICE_CPU)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, NULL, "The host is the device: it has no clock of its own.");
  vyre_submission *submission;
  vyre_completion completion = {.size = sizeof completion};
  vyre_status status = make_series(r, launches, error);
  if (status == VYRE_OK) status = vyre_queue_submit(r->queue, r->series, NULL, &submission, error);
  if (status != VYRE_OK) return status;
  status = vyre_submission_wait(submission, LAUNCH_TIMEOUT_NS, error);
  if (status == VYRE_OK) status = vyre_submission_completion(submission, &completion, error);
  vyre_submission_destroy(submission);
  r->last = (launches - 1) % r->set_count;
  if (status != VYRE_OK) return status;
  if (completion.device_ns == 0)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, NULL, "The device does not tell its time.");
  *out = (bench_times){-1, (double)completion.device_ns / launches};
  return VYRE_OK;
}

static vyre_status sample(bench_driver *d, bench_clock clock, uint32_t launches, bench_times *out, vyre_error *error) {
  runner *r = d->self;
  if (clock == BENCH_DEVICE) return sample_device(r, launches, out, error);
  double start = now_ns();
  for (uint32_t i = 0; i < launches; i++) {
    vyre_status status = operation(r, d->work, clock, error);
    if (status != VYRE_OK) return status;
  }
  *out = (bench_times){(now_ns() - start) / launches, -1};
  return VYRE_OK;
}

static vyre_status output(bench_driver *d, vyre_error *error) {
  const runner *r = d->self;
  return download(d->work, &r->sets[r->last], error);
}

static vyre_status poison(bench_driver *d, vyre_error *error) {
  const runner *r = d->self;
  vyre_status status = VYRE_OK;
  for (uint32_t s = 0; s < r->set_count; s++) {
    for (uint32_t i = 0; i < d->work->array_count && status == VYRE_OK; i++) {
      const bench_array *a = &d->work->arrays[i];
      if (a->output) status = vyre_buffer_write(r->sets[s].buffers[i], 0, a->host, a->bytes, error);
    }
  }
  return status;
}

/* ---- Telling ---------------------------------------------------------------------------------- */

static const char *copy(vyre_arena *arena, const char *text) {
  return vyre_arena_copy(arena, text, strlen(text));
}

static const char *hexadecimal(vyre_arena *arena, const uint8_t *bytes, size_t count) {
  char *text = vyre_arena_alloc(arena, 2 * count + 1);
  for (size_t i = 0; text && i < count; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  return text;
}

static bool has_uuid(const vyre_capabilities *c) {
  for (size_t i = 0; i < sizeof c->uuid; i++)
    if (c->uuid[i]) return true;
  return false;
}

static bool describe_launch(runner *r, vyre_arena *arena, bench_launch *out) {
  vyre_launch_report report = {.size = sizeof report};
  if (vyre_executable_report(r->executable, &report, NULL) != VYRE_OK) return false;
  const vyre_capabilities *c = vyre_device_capabilities(r->device);
  vyre_program_info info;
  vyre_program_describe(r->program, &info);
  *out = (bench_launch){
      .backend = copy(arena, vyre_device_backend(r->device)),
      .device = copy(arena, c->name),
      .uuid = has_uuid(c) ? hexadecimal(arena, c->uuid, sizeof c->uuid) : NULL,
      .driver = copy(arena, c->driver),
      .entry = copy(arena, info.name),
      .program = hexadecimal(arena, vyre_program_fingerprint(r->program), 32),
      .subgroup = report.subgroup_size,
      .has_subgroup = report.subgroup_size != 0,
      .registers = report.registers,
      .has_registers = report.registers != 0,
      .spill_bytes = (uint32_t)report.scratch_bytes,
      .static_scratch = (uint32_t)report.shared_bytes,
      .scratch_limit = c->max_shared_bytes,
      .has_scratch = true,
      .resident = report.max_resident < UINT32_MAX ? (uint32_t)report.max_resident : UINT32_MAX,
      .has_resident = report.max_resident != 0,
      .cooperative = (report.flags & VYRE_REPORT_NATIVE_GRID_BARRIER) != 0,
  };
  for (int axis = 0; axis < 3; axis++) {
    out->declared_workgroup[axis] = report.declared_workgroup[axis];
    out->workgroup[axis] = report.planned_workgroup[axis];
    out->grid[axis] = report.launched_grid[axis];
  }
  return out->backend && out->device && out->driver && out->entry && out->program;
}

static bool describe(bench_driver *d, vyre_arena *arena, bench_contestant *out) {
  runner *r = d->self;
  const vyre_capabilities *c = vyre_device_capabilities(r->device);
  bool is_oracle = strcmp(vyre_device_backend(r->device), "cpu_ref") == 0;
  out->class = is_oracle ? BENCH_REFERENCE : BENCH_SELF;
  out->version = copy(arena, c->driver);
  out->how = "one executable, binding sets and queue kept; vyre_queue_dispatch and vyre_submission_wait a launch, "
             "one batch for a series of device time";
  out->launches = vyre_arena_alloc(arena, sizeof *out->launches);
  if (!out->version || !out->launches || !describe_launch(r, arena, out->launches)) return false;
  out->launch_count = 1;
  return true;
}

static void close_driver(bench_driver *d) {
  destroy(d->self);
}

static const bench_driver_table table = {
    .sample = sample, .output = output, .poison = poison, .describe = describe, .close = close_driver};

vyre_status bench_driver_vyre(const bench_setting *setting, const bench_work *work, const char *program,
                              bench_driver *out, vyre_error *error) {
  *out = (bench_driver){.cold_ns = -1};
  runner *r = calloc(1, sizeof *r);
  if (!r) return vyre_fail_memory(error, work->id);
  double start = now_ns();
  vyre_status status = make(r, setting, work, program, error);
  if (status == VYRE_OK) status = launch(r, &r->sets[0], error);
  if (status == VYRE_OK) status = download(work, &r->sets[0], error);
  double cold = now_ns() - start;
  if (status == VYRE_OK) status = make_other_sets(r, work, error);
  if (status != VYRE_OK) {
    destroy(r);
    return status;
  }
  *out = (bench_driver){.table = &table, .work = work, .self = r, .cold_ns = cold};
  return VYRE_OK;
}
