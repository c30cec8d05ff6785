/* The commands of a batch, one after another. */
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#include "group.h"

/* What one dispatch finds in its buffers and the submit. */
typedef struct arguments {
  cpu_bound *bound;
  uint64_t *params;
} arguments;

static const vyre_late *find_late(const cpu_work *work, uint64_t command) {
  for (uint32_t i = 0; i < work->late_count; i++)
    if (work->late[i].command == command) return &work->late[i];
  return NULL;
}

/* The length of a binding: what is bound, or fewer if the device's count says so. */
static uint64_t length_of(const vyre_bind *bind, vyre_completion *completion) {
  uint64_t count = 0;
  if (bind->length_bits == 0) return bind->elements;
  memcpy(&count, bind->length_buffer->data + bind->length_offset, bind->length_bits / 8);
  if (count <= bind->elements) return count;
  completion->clamped_extents++;
  return bind->elements;
}

/* False if a late offset leads out of its buffer. */
static bool resolve(const cpu_work *work, uint64_t command, const vyre_plugin_set *set, arguments *to) {
  const vyre_program *p = set->executable->code->program;
  const vyre_late *late = find_late(work, command);
  for (uint32_t slot = 0; slot < p->info.binding_count; slot++) {
    const vyre_bind *bind = &set->binds[slot];
    uint64_t offset = bind->offset;
    if (bind->flags & VYRE_BIND_LATE && late != NULL && late->offsets != NULL) offset = late->offsets[slot];
    if (!cpu_in_buffer(bind->buffer, offset, bind->bytes) || offset % 16 != 0) return false;
    to->bound[slot].length = length_of(bind, work->completion);
    to->bound[slot].data = bind->buffer != NULL ? bind->buffer->data + offset : NULL;
  }
  if (late != NULL && late->params != NULL) cpu_read_params(p, late->params, to->params);
  else memcpy(to->params, set->params, p->params.count * sizeof *to->params);
  return true;
}

/* After every length was read: a count may stand in what is cleared. */
static void clear_outputs(const vyre_plugin_set *set, const arguments *a) {
  for (uint32_t slot = 0; slot < set->executable->code->program->info.binding_count; slot++)
    if (set->binds[slot].flags & VYRE_BIND_ZERO && set->binds[slot].bytes > 0)
      memset(a->bound[slot].data, 0, set->binds[slot].bytes);
}

static void find_grid(const vyre_dispatch *d, uint32_t *grid, vyre_completion *completion) {
  memcpy(grid, d->grid, 3 * sizeof *grid);
  if (d->grid_buffer == NULL) return;
  memcpy(grid, d->grid_buffer->data + d->grid_offset, 3 * sizeof *grid);
  for (int axis = 0; axis < 3; axis++) {
    if (grid[axis] <= d->grid[axis]) continue;
    grid[axis] = d->grid[axis];
    completion->clamped_extents++;
  }
}

static void note_launch(vyre_plugin_executable *executable, const uint32_t *grid) {
  pthread_mutex_lock(&executable->device->lock);
  memcpy(executable->grid, grid, sizeof executable->grid);
  executable->launches++;
  pthread_mutex_unlock(&executable->device->lock);
}

static void add_report(vyre_completion *c, const cpu_report *report) {
  if (report->trap_count > 0 && c->trap_count == 0) {
    c->trap_code = report->trap_code;
    memcpy(c->trap_gid, report->trap_gid, sizeof c->trap_gid);
  }
  c->trap_count += report->trap_count;
  c->masked_loads += report->masked_loads;
  c->masked_stores += report->masked_stores;
  c->masked_atomics += report->masked_atomics;
  c->prints_written += report->prints_written;
  c->prints_dropped += report->prints_dropped;
}

static vyre_status launch(const cpu_work *work, uint64_t command, const vyre_dispatch *d, const arguments *a,
                          uint64_t *print_words, vyre_error *error) {
  vyre_plugin_executable *executable = d->executable;
  const vyre_plugin *plugin = executable->device->plugin;
  cpu_launch l = {
    .code = executable->code,
    .params = a->params,
    .bound = a->bound,
    .reverse = plugin->reverse,
    .together = (d->flags & VYRE_DISPATCH_PERSISTENT) != 0,
    .memory_limit = plugin->memory_limit,
    .cancel = work->cancel,
    .time_budget_ns = d->time_budget_ns,
    .work_budget = d->work_budget,
    .prints = work->prints != NULL ? work->prints + *print_words : NULL,
    .print_words = work->print_words - *print_words,
    .command = (uint32_t)command,
  };
  if (d->stop_buffer != NULL) l.stop = (const uint32_t *)(const void *)(d->stop_buffer->data + d->stop_offset);
  find_grid(d, l.grid, work->completion);
  note_launch(executable, l.grid);
  clear_outputs(d->set, a);
  cpu_report report;
  vyre_status status = cpu_launch_run(&l, &report, error);
  add_report(work->completion, &report);
  *print_words += report.print_words;
  return status;
}

static vyre_status dispatch(const cpu_work *work, uint64_t command, const vyre_dispatch *d, uint64_t *print_words,
                            vyre_error *error) {
  const vyre_program *p = d->executable->code->program;
  arguments a = { .bound = calloc((size_t)p->info.binding_count + 1, sizeof *a.bound),
                  .params = calloc((size_t)p->params.count + 1, sizeof *a.params) };
  vyre_status status;
  if (a.bound == NULL || a.params == NULL)
    status = vyre_fail_memory(error, p->info.name);
  else if (!resolve(work, command, d->set, &a))
    status = vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, p->info.name,
                       "a late offset of command %llu leads out of its buffer. Fix: give a multiple of 16 inside it",
                       (unsigned long long)command);
  else
    status = launch(work, command, d, &a, print_words, error);
  free(a.bound);
  free(a.params);
  return status;
}

static void fill(const vyre_fill *f) {
  for (uint64_t at = 0; at < f->bytes; at += sizeof f->pattern)
    memcpy(f->target->data + f->offset + at, &f->pattern, sizeof f->pattern);
}

static vyre_status execute(const cpu_work *work, uint64_t index, uint64_t *print_words, vyre_error *error) {
  const cpu_command *c = &work->batch->commands[index];
  switch (c->kind) {
    case VYRE_COMMAND_DISPATCH: return dispatch(work, index, &c->u.dispatch, print_words, error);
    case VYRE_COMMAND_COPY:
      if (c->u.copy.bytes > 0)
        memmove(c->u.copy.target->data + c->u.copy.target_offset, c->u.copy.source->data + c->u.copy.source_offset,
                c->u.copy.bytes);
      return VYRE_OK;
    case VYRE_COMMAND_FILL: fill(&c->u.fill); return VYRE_OK;
    case VYRE_COMMAND_TIMESTAMP:
      if (c->u.timestamp.index < work->timestamp_count) work->timestamps[c->u.timestamp.index] = cpu_now_ns();
      return VYRE_OK;
    default: return VYRE_OK; /* ORDER: everything is in order */
  }
}

/* A command that fails ends the batch. */
void cpu_execute(const cpu_work *work) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = VYRE_OK;
  uint64_t started = cpu_now_ns(), print_words = 0;
  for (uint64_t i = 0; i < work->batch->count && status == VYRE_OK; i++)
    status = execute(work, i, &print_words, &error);
  work->completion->status = status;
  work->completion->device_ns = cpu_now_ns() - started;
  if (status == VYRE_OK) return;
  memcpy(work->completion->text, error.text, sizeof work->completion->text - 1);
}
