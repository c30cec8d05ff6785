/* One program, run and compared. Each binding lies in a buffer of its own like this:
 *
 *   | front: guard, a multiple of binding_alignment | elements, up to a multiple of 16 | guard |
 *
 * Guards hold a pattern before the run and must hold it afterwards. */
#include "kit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 0xA5, GUARD_BYTES = 64 };
static const uint64_t usual_timeout_ns = 60000000000u;

/* A binding as it is laid out. */
typedef struct place {
  vyre_buffer_info info;
  vyre_buffer *buffer, *count;
  uint64_t front, bytes, padded, whole;
  uint8_t *image; /* of the whole buffer */
} place;

typedef struct running {
  const kit_case *c;
  vyre_device *device;
  vyre_program *program;
  vyre_executable *executable;
  place *places; /* by buffer of the case */
  vyre_arg *args;
  vyre_set *set;
  vyre_batch *batch;
  vyre_queue *queue;
  vyre_submission *submission;
} running;

static bool is_written(const vyre_buffer_info *info) {
  return info->access == VYRE_ACCESS_RW || info->access == VYRE_ACCESS_WRITE;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool find_buffer(const vyre_program *program, const char *name, vyre_buffer_info *out) {
  for (uint32_t slot = 0; vyre_program_slot(program, slot, out); slot++)
    if (strcmp(out->name, name) == 0) return true;
  return false;
}

static bool lay_out(kit *k, const running *r, uint32_t i, place *p) {
  const kit_buffer *b = &r->c->buffers[i];
  if (!find_buffer(r->program, b->name, &p->info))
    return kit_fail(k, "%s: the kit's own program has no buffer %s", r->c->name, b->name);
  uint64_t alignment = vyre_device_capabilities(k->device)->binding_alignment;
  uint64_t other = vyre_device_capabilities(r->device)->binding_alignment;
  if (other > alignment) alignment = other; /* both are powers of two */
  p->front = alignment * (i % 2 + b->shift);
  p->bytes = b->elements * vyre_type_describe(p->info.element)->bytes;
  p->padded = (p->bytes + 15) & ~(uint64_t)15;
  p->whole = p->front + p->padded + GUARD_BYTES;
  p->image = malloc(p->whole);
  if (p->image == NULL) return kit_fail(k, "%s: the kit has no memory", r->c->name);
  memset(p->image, GUARD, p->whole);
  memset(p->image + p->front, 0, p->bytes);
  if (b->in != NULL && p->bytes > 0) memcpy(p->image + p->front, b->in, p->bytes);
  return true;
}

static vyre_status make_buffer(running *r, place *p, vyre_error *error) {
  vyre_status status = vyre_buffer_create(r->device, p->whole, 0, &p->buffer, error);
  return status == VYRE_OK ? vyre_buffer_write(p->buffer, 0, p->image, p->whole, error) : status;
}

static vyre_status make_count(running *r, const kit_buffer *b, place *p, vyre_error *error) {
  if (b->length_bits == 0) return VYRE_OK;
  vyre_status status = vyre_buffer_create(r->device, 16, 0, &p->count, error);
  return status == VYRE_OK ? vyre_buffer_write(p->count, 0, &b->length, b->length_bits / 8, error) : status;
}

/* The arguments of the set. */
static vyre_status bind(running *r, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < r->c->param_count; i++) r->args[i] = r->c->params[i];
  for (uint32_t i = 0; i < r->c->buffer_count && status == VYRE_OK; i++) {
    const kit_buffer *b = &r->c->buffers[i];
    place *p = &r->places[i];
    status = make_buffer(r, p, error);
    if (status == VYRE_OK) status = make_count(r, b, p, error);
    vyre_arg *arg = &r->args[r->c->param_count + i];
    *arg = vyre_arg_range(b->name, p->buffer, p->front, b->elements);
    arg->length_bits = b->length_bits;
    arg->length_buffer = p->count;
  }
  return status;
}

static bool is_guard(const uint8_t *bytes, uint64_t count, uint64_t *first) {
  for (*first = 0; *first < count; ++*first)
    if (bytes[*first] != GUARD) return false;
  return true;
}

/* What must be as it was: guards, and buffers that the program only reads. */
static bool check_place(kit *k, const running *r, uint32_t i, const uint8_t *found) {
  const place *p = &r->places[i];
  const char *who = vyre_device_name(r->device), *name = r->c->buffers[i].name;
  uint64_t at, behind = p->front + p->padded;
  if (!is_guard(found, p->front, &at))
    return kit_fail(k, "%s: %s wrote before the range that is bound to %s: %" PRIu64 " bytes in front of it (VBP-31)",
                    r->c->name, who, name, p->front - at);
  if (!is_guard(found + behind, GUARD_BYTES, &at))
    return kit_fail(k, "%s: %s wrote behind the range that is bound to %s: %" PRIu64 " bytes behind its end (VBP-31)",
                    r->c->name, who, name, at);
  if (!is_written(&p->info) && p->bytes > 0 && memcmp(found + p->front, p->image + p->front, p->bytes) != 0)
    return kit_fail(k, "%s: %s changed %s, which the program only reads (VBP-31)", r->c->name, who, name);
  return true;
}

static bool read_back(kit *k, running *r, kit_result *out) {
  bool is_sound = true;
  for (uint32_t i = 0; i < r->c->buffer_count; i++) {
    const place *p = &r->places[i];
    uint8_t *found = malloc(p->whole);
    vyre_error error = VYRE_ERROR_INIT;
    if (found == NULL) return kit_fail(k, "%s: the kit has no memory", r->c->name);
    if (vyre_buffer_read(p->buffer, 0, found, p->whole, &error) != VYRE_OK) {
      free(found);
      return kit_fail(k, "%s: %s: reading %s back: %s", r->c->name, vyre_device_name(r->device), r->c->buffers[i].name,
                      error.text);
    }
    is_sound = check_place(k, r, i, found) && is_sound;
    memmove(found, found + p->front, p->bytes);
    out->data[i] = found;
  }
  return is_sound;
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool is_grid_given(const kit_case *c) {
  return (c->grid[0] | c->grid[1] | c->grid[2]) != 0;
}

static vyre_status submit(running *r, vyre_error *error) {
  vyre_launch launch = VYRE_LAUNCH_INIT;
  launch.time_budget_ns = r->c->time_budget_ns;
  launch.work_budget = r->c->work_budget;
  memcpy(launch.grid, r->c->grid, sizeof launch.grid);
  vyre_status status = VYRE_OK;
  if (!is_grid_given(r->c)) status = vyre_set_grid(r->set, launch.grid, error);
  if (status == VYRE_OK) status = vyre_batch_create(r->device, &r->batch, error);
  if (status == VYRE_OK) status = vyre_batch_launch(r->batch, r->set, &launch, error);
  if (status == VYRE_OK) status = vyre_queue_create(r->device, &r->queue, error);
  return status == VYRE_OK ? vyre_queue_submit(r->queue, r->batch, NULL, &r->submission, error) : status;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef struct lines {
  char **data;
  size_t count;
  bool is_short; /* of memory */
} lines;

static void take_print(void *ctx, const uint32_t gid[3], const char *text) {
  lines *l = ctx;
  char **more = realloc(l->data, (l->count + 1) * sizeof *more), *line;
  if (more != NULL) l->data = more;
  if (more == NULL || asprintf(&line, "%u,%u,%u: %s\n", gid[0], gid[1], gid[2], text) < 0)
    l->is_short = true;
  else
    l->data[l->count++] = line;
}

static bool take_prints(kit *k, running *r, kit_result *out) {
  lines l = {0};
  size_t bytes = 1;
  vyre_submission_prints(r->submission, take_print, &l, NULL);
  if (l.count > 0) qsort(l.data, l.count, sizeof *l.data, by_text);
  for (size_t i = 0; i < l.count; i++) bytes += strlen(l.data[i]);
  out->prints = malloc(bytes);
  char *at = out->prints;
  if (at != NULL) *at = '\0';
  for (size_t i = 0; i < l.count; i++) {
    if (at != NULL) at = stpcpy(at, l.data[i]);
    free(l.data[i]);
  }
  free(l.data);
  return (out->prints != NULL && !l.is_short) || kit_fail(k, "%s: the kit has no memory", r->c->name);
}

/* Waits, and asks for all that there is to know. */
static bool finish(kit *k, running *r, kit_result *out) {
  uint64_t timeout = r->c->timeout_ns != 0 ? r->c->timeout_ns : usual_timeout_ns;
  out->status = vyre_submission_wait(r->submission, timeout, &out->error);
  if (out->status == VYRE_ERR_TIMEOUT) {
    kit_fail(k, "%s: %s has not ended after %.3g s", r->c->name, vyre_device_name(r->device), (double)timeout / 1e9);
    kit_end(k); /* nothing that it uses may be freed, and no other run would begin */
  }
  vyre_submission_completion(r->submission, &out->completion, NULL);
  vyre_executable_report(r->executable, &out->report, NULL);
  if (!take_prints(k, r, out)) return false;
  return out->status != VYRE_OK || read_back(k, r, out);
}

static bool run(kit *k, running *r, kit_result *out) {
  for (uint32_t i = 0; i < r->c->buffer_count; i++)
    if (!lay_out(k, r, i, &r->places[i])) return false;
  out->status = vyre_compile(r->device, r->program, r->c->compile, &r->executable, &out->error);
  if (out->status != VYRE_OK) return true;
  out->is_compiled = true;
  out->status = bind(r, &out->error);
  if (out->status == VYRE_OK)
    out->status = vyre_set_create(r->executable, r->args, r->c->param_count + r->c->buffer_count, &r->set, &out->error);
  if (out->status == VYRE_OK) out->status = submit(r, &out->error);
  return out->status != VYRE_OK || finish(k, r, out);
}

static void clean_up(running *r) {
  vyre_submission_destroy(r->submission);
  vyre_queue_destroy(r->queue);
  vyre_batch_destroy(r->batch);
  vyre_set_destroy(r->set);
  vyre_executable_destroy(r->executable);
  for (uint32_t i = 0; r->places != NULL && i < r->c->buffer_count; i++) {
    vyre_buffer_destroy(r->places[i].buffer);
    vyre_buffer_destroy(r->places[i].count);
    free(r->places[i].image);
  }
  free(r->places);
  free(r->args);
  vyre_program_release(r->program);
}

bool kit_run(kit *k, vyre_device *on, const kit_case *c, kit_result *out) {
  *out = (kit_result){.error = VYRE_ERROR_INIT,
                      .completion = {.size = sizeof out->completion},
                      .report = {.size = sizeof out->report},
                      .buffer_count = c->buffer_count};
  kit_doing(k, "%s, on %s", c->name, vyre_device_name(on));
  running r = {.c = c, .device = on};
  r.program = c->program != NULL ? vyre_program_retain(c->program) : kit_parse(k, c->text);
  if (r.program == NULL) return false;
  r.places = calloc((size_t)c->buffer_count + 1, sizeof *r.places);
  r.args = calloc((size_t)c->param_count + c->buffer_count + 1, sizeof *r.args);
  out->data = calloc((size_t)c->buffer_count + 1, sizeof *out->data);
  bool is_done =
      r.places != NULL && r.args != NULL && out->data != NULL ? run(k, &r, out) : kit_fail(k, "the kit has no memory");
  if (on == k->device && out->is_compiled) kit_count_programs(k, 1);
  clean_up(&r);
  return is_done;
}

void kit_result_free(kit_result *r) {
  for (uint32_t i = 0; r->data != NULL && i < r->buffer_count; i++) free(r->data[i]);
  free(r->data);
  free(r->prints);
  *r = (kit_result){0};
}
