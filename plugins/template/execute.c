/* The commands of a batch, one after another. */
#include "backend.h"

#include <stdlib.h>
#include <string.h>

/* What one dispatch finds in its buffers and the submit. */
typedef struct arguments {
  uint8_t **data;
  uint64_t *bytes, *elements;
  const uint8_t *params;
} arguments;

static const vyre_late *find_late(const backend_work *work, uint64_t command) {
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
static bool resolve(const backend_work *work, uint64_t command, const vyre_plugin_set *set, arguments *to) {
  const vyre_late *late = find_late(work, command);
  for (uint32_t slot = 0; slot < set->executable->binding_count; slot++) {
    const vyre_bind *bind = &set->binds[slot];
    uint64_t offset = bind->offset;
    if (bind->flags & VYRE_BIND_LATE && late != NULL && late->offsets != NULL) offset = late->offsets[slot];
    if (!backend_in_buffer(bind->buffer, offset, bind->bytes) || offset % 16 != 0) return false;
    to->elements[slot] = length_of(bind, work->completion);
    to->bytes[slot] = bind->bytes;
    to->data[slot] = bind->buffer != NULL ? bind->buffer->data + offset : NULL;
  }
  to->params = late != NULL && late->params != NULL ? late->params : set->params;
  return true;
}

/* After every length was read: a count may stand in what is cleared. */
static void clear_outputs(const vyre_plugin_set *set, const arguments *a) {
  for (uint32_t slot = 0; slot < set->executable->binding_count; slot++)
    if (set->binds[slot].flags & VYRE_BIND_ZERO && set->binds[slot].bytes > 0)
      memset(a->data[slot], 0, set->binds[slot].bytes);
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

static vyre_status launch(const backend_work *work, uint64_t command, const vyre_dispatch *d, const arguments *a,
                          uint64_t *printed, vyre_error *error) {
  backend_launch l = {
    .executable = d->executable,
    .dispatch = d,
    .data = a->data,
    .bytes = a->bytes,
    .elements = a->elements,
    .params = a->params,
    .command = (uint32_t)command,
    .cancel = work->cancel,
    .prints = work->prints != NULL ? work->prints + *printed : NULL,
    .print_words = work->print_words - *printed,
  };
  if (d->stop_buffer != NULL) l.stop = (const uint32_t *)(const void *)(d->stop_buffer->data + d->stop_offset);
  find_grid(d, l.grid, work->completion);
  note_launch(d->executable, l.grid);
  clear_outputs(d->set, a);
  return backend_run(&l, work->completion, printed, error);
}

static vyre_status dispatch(const backend_work *work, uint64_t command, const vyre_dispatch *d, uint64_t *printed,
                            vyre_error *error) {
  size_t count = (size_t)d->executable->binding_count + 1;
  arguments a = { .data = calloc(count, sizeof *a.data),
                  .bytes = calloc(count, sizeof *a.bytes),
                  .elements = calloc(count, sizeof *a.elements) };
  vyre_status status;
  if (a.data == NULL || a.bytes == NULL || a.elements == NULL)
    status = backend_no_memory(error);
  else if (!resolve(work, command, d->set, &a))
    status = backend_fail(error, VYRE_ERR_INVALID_ARGUMENT, d->executable->name,
                          "a late offset of command %llu leads out of its buffer. Fix: give a multiple of 16 inside it",
                          (unsigned long long)command);
  else
    status = launch(work, command, d, &a, printed, error);
  free(a.data);
  free(a.bytes);
  free(a.elements);
  return status;
}

static uint64_t now_ns(const backend_work *work) { return work->host->now_ns(work->host->ctx); }

static void fill(const vyre_fill *f) {
  for (uint64_t at = 0; at < f->bytes; at += sizeof f->pattern)
    memcpy(f->target->data + f->offset + at, &f->pattern, sizeof f->pattern);
}

static vyre_status execute(const backend_work *work, uint64_t index, uint64_t *printed, vyre_error *error) {
  const backend_command *c = &work->batch->commands[index];
  switch (c->kind) {
    case VYRE_COMMAND_DISPATCH: return dispatch(work, index, &c->u.dispatch, printed, error);
    case VYRE_COMMAND_COPY:
      if (c->u.copy.bytes > 0)
        memmove(c->u.copy.target->data + c->u.copy.target_offset, c->u.copy.source->data + c->u.copy.source_offset,
                c->u.copy.bytes);
      return VYRE_OK;
    case VYRE_COMMAND_FILL: fill(&c->u.fill); return VYRE_OK;
    case VYRE_COMMAND_TIMESTAMP:
      if (c->u.timestamp.index < work->timestamp_count) work->timestamps[c->u.timestamp.index] = now_ns(work);
      return VYRE_OK;
    default: return VYRE_OK; /* ORDER: everything is in order */
  }
}

void backend_complete(vyre_completion *completion, vyre_completion *record) {
  backend_answer(completion, record, sizeof *record);
}

/* A command that fails ends the batch. What is found is gathered in a record of our own, since the caller's may be an
 * older, shorter one. */
void backend_execute(const backend_work *given) {
  vyre_completion record = { .size = sizeof record };
  backend_work own = *given, *work = &own;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = VYRE_OK;
  own.completion = &record;
  uint64_t started = now_ns(work), printed = 0;
  for (uint64_t i = 0; i < work->batch->count && status == VYRE_OK; i++) status = execute(work, i, &printed, &error);
  record.status = status;
  record.device_ns = now_ns(work) - started;
  if (status != VYRE_OK) memcpy(record.text, error.text, sizeof record.text - 1);
  backend_complete(given->completion, &record);
}
