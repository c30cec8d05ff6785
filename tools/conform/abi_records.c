/* Records of other sizes, flags of other times. A record's first member is its size as its writer knows it: a reader
 * uses no byte beyond that and takes what is missing for 0, and who fills a record for its caller writes no more than
 * the caller's size. A flag or kind that is not known is refused, since it may ask for anything. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "process.h"
#include "world.h"

/* ---- Outputs --------------------------------------------------------------------------------- */

enum { CANARY = 0xA7, ROOM = 2048, BEYOND = 64 };

/* One call that fills a record. */
typedef struct filling {
  world *w;
  const char *what;
  uint32_t full; /* bytes of the record as this kit knows it */
  void (*call)(const struct filling *f, void *record);
} filling;

static void fill_device(const filling *f, void *record) {
  f->w->r.ops.device_describe(f->w->r.plugin, f->w->r.k->settings->device, record, NULL);
}

static void fill_profile(const filling *f, void *record) {
  f->w->r.ops.profile(&f->w->r.host.services, 0, record, NULL);
}

static void fill_report(const filling *f, void *record) {
  f->w->r.ops.executable_report(f->w->executable, record, NULL);
}

static void fill_error(const filling *f, void *record) {
  vyre_capabilities none = {.size = sizeof none};
  f->w->r.ops.device_describe(f->w->r.plugin, UINT32_MAX, &none, record);
}

static void fill_completion(const filling *f, void *record) {
  raw *r = &f->w->r;
  vyre_error error = VYRE_ERROR_INIT;
  raw_queue *q = &f->w->queue;
  uint32_t size;
  memcpy(&size, record, sizeof size);
  memset((uint8_t *)record + 4, 0, size - 4); /* libvyre zeroes it */
  vyre_point end = {q->timeline, ++q->value};
  vyre_submit submit = {
      .size = sizeof submit, .batch = f->w->batch, .signals = &end, .signal_count = 1, .completion = record};
  if (!raw_wants(r, "submit", r->ops.submit(q->queue, &submit, &error), VYRE_OK, &error)) return;
  raw_wants(r, "waiting", r->ops.timeline_wait(q->timeline, q->value, 60000000000u, &error), VYRE_OK, &error);
}

/* What changes from call to call of a report and a completion: launches, device_ns. */
static bool is_same_part(const filling *f, const uint8_t *a, const uint8_t *b, uint32_t size) {
  for (uint32_t i = 4; i < size; i++) {
    if (f->call == fill_report && i >= offsetof(vyre_launch_report, launched_grid)) return true;
    if (f->call == fill_completion && i >= offsetof(vyre_completion, device_ns)) return true;
    if (a[i] != b[i]) return false;
  }
  return true;
}

static void check_filling(const filling *f) {
  kit *k = f->w->r.k;
  const uint32_t sizes[] = {f->full, 4, 8, f->full / 8 * 4, f->full - 8, f->full + BEYOND};
  static _Alignas(16) uint8_t whole[ROOM], record[ROOM];
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint32_t size = sizes[i];
    kit_doing(k, "%s of %u bytes, where the whole has %u", f->what, size, f->full);
    memset(record, CANARY, sizeof record);
    memcpy(record, &size, sizeof size);
    f->call(f, record);
    for (uint32_t at = size; at < sizeof record; at++) {
      if (record[at] == CANARY) continue;
      kit_fail(k, "%s: the caller's record has %u bytes, and byte %u was written", f->what, size, at);
      break;
    }
    if (i == 0) memcpy(whole, record, sizeof whole);
    /* A failure of no room for its text may leave an error as it was. */
    if (f->call != fill_error && !is_same_part(f, whole, record, size < f->full ? size : f->full))
      kit_fail(k, "%s: a record of %u bytes is filled otherwise than one of %u", f->what, size, f->full);
  }
}

void check_outputs(kit *k) {
  world w;
  if (!world_open(k, &w)) return;
  const filling fillings[] = {
      {&w, "the record of a device", sizeof(vyre_capabilities), fill_device},
      {&w, "the record of a profile", sizeof(vyre_capabilities), fill_profile},
      {&w, "a launch report", sizeof(vyre_launch_report), fill_report},
      {&w, "an error", sizeof(vyre_error), fill_error},
      {&w, "a completion record", sizeof(vyre_completion), fill_completion},
  };
  for (size_t i = 0; i < sizeof fillings / sizeof *fillings; i++) check_filling(&fillings[i]);
  world_close(&w);
}

/* ---- Inputs that end early ------------------------------------------------------------------- */

/* A copy of the first |size| bytes, behind which there is no memory. */
static void *cut(kit *k, const void *record, uint32_t size) {
  uint8_t *copy = process_end_of_page(size);
  if (copy == NULL) {
    kit_fail(k, "the kit has no memory");
    return NULL;
  }
  memcpy(copy, record, size);
  memcpy(copy, &size, sizeof size);
  return copy;
}

static void short_buffer(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_buffer *buffer = NULL;
  vyre_buffer_request whole = {.size = sizeof whole, .bytes = 64, .properties = w->r.caps.memory_types[0].properties};
  kit_doing(w->r.k, "buffer_create with a request that ends before kind and handle (VBP-13)");
  vyre_buffer_request *request = cut(w->r.k, &whole, offsetof(vyre_buffer_request, kind));
  if (request == NULL) return;
  vyre_status status = w->r.ops.buffer_create(w->r.device, request, &buffer, &error);
  raw_wants(&w->r, "a buffer request that ends before kind", status, VYRE_OK, &error);
  if (buffer != NULL) w->r.ops.buffer_destroy(buffer);
}

static void short_set(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  uint32_t n = 5;
  vyre_plugin_set *set = NULL;
  vyre_bind binds[2] = {
      {.buffer = w->x, .bytes = 4 * WORLD_ELEMENTS, .elements = WORLD_ELEMENTS},
      {.flags = VYRE_BIND_WRITTEN, .buffer = w->y, .bytes = 4 * WORLD_ELEMENTS, .elements = WORLD_ELEMENTS},
  };
  vyre_set_request whole = {.bind_count = 2, .binds = binds, .params = &n, .param_bytes = 4};
  kit_doing(w->r.k, "set_create with a request that ends before late_params (VBP-13)");
  vyre_set_request *request = cut(w->r.k, &whole, offsetof(vyre_set_request, late_params));
  if (request == NULL) return;
  vyre_status status = w->r.ops.set_create(w->executable, request, &set, &error);
  raw_wants(&w->r, "a set request that ends before late_params", status, VYRE_OK, &error);
  if (set != NULL) w->r.ops.set_destroy(set);
}

/* A dispatch without grid_buffer and budgets, and a submit without timestamps and prints. */
static void short_work(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_batch *batch = NULL;
  vyre_dispatch whole = {.executable = w->executable, .set = w->set, .grid = {WORLD_GROUPS, 1, 1}};
  kit_doing(w->r.k, "batch_create with a dispatch that ends before grid_buffer (VBP-13)");
  vyre_dispatch *dispatch = cut(w->r.k, &whole, offsetof(vyre_dispatch, grid_buffer));
  if (dispatch == NULL) return;
  vyre_command command = {.kind = VYRE_COMMAND_DISPATCH, .record = dispatch};
  vyre_status status = w->r.ops.batch_create(w->r.device, &command, 1, &batch, &error);
  if (!raw_wants(&w->r, "a dispatch that ends before grid_buffer", status, VYRE_OK, &error)) return;
  vyre_plugin_batch *usual = w->batch;
  w->batch = batch;
  world_run(w, "a dispatch that ends before grid_buffer");
  w->batch = usual;
  w->r.ops.batch_destroy(batch);
}

static void short_compile(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  raw_program p;
  vyre_bytes whole_blob, blob = {.size = sizeof blob};
  if (!raw_program_make(&w->r, world_text, &p)) return;
  const vyre_host *host = &w->r.host.services;
  vyre_compile_request *request = cut(w->r.k, &p.request, offsetof(vyre_compile_request, spec));
  vyre_capabilities *target = cut(w->r.k, &w->r.caps, offsetof(vyre_capabilities, can));
  if (request == NULL || target == NULL) return;
  kit_doing(w->r.k, "compile with a request that ends before spec, for a record that ends before can (VBP-13)");
  raw_compile(&w->r, &p.request, &whole_blob, NULL);
  vyre_status status = w->r.ops.compile(host, target, request, &blob, &error);
  raw_wants(&w->r, "a compile request that ends before spec", status, VYRE_OK, &error);
  raw_blob_free(&w->r, &whole_blob);
  raw_blob_free(&w->r, &blob);
  raw_program_free(&p);
}

/* A host that has neither settings nor a cache. */
static void short_host(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin *plugin = NULL;
  kit_doing(w->r.k, "open with a host that ends before config_get (VBP-13)");
  vyre_host *host = cut(w->r.k, &w->r.host.services, offsetof(vyre_host, config_get));
  if (host == NULL) return;
  vyre_status status = w->r.ops.open(host, &plugin, &error);
  if (status == VYRE_OK && plugin != NULL)
    w->r.ops.close(plugin);
  else
    raw_wants_refusal(&w->r, "a host that ends before config_get", status, &error);
}

void check_short_inputs(kit *k) {
  world w;
  if (!world_open(k, &w)) return;
  short_buffer(&w);
  short_set(&w);
  short_work(&w);
  short_compile(&w);
  short_host(&w);
  world_close(&w);
}

/* ---- Inputs that go on ----------------------------------------------------------------------- */

/* A copy with more members than anybody knows, all bits of them set. */
static void *stretched(const void *record, uint32_t size) {
  static _Alignas(16) uint8_t copies[4][1024];
  static unsigned turn;
  uint8_t *copy = copies[turn++ % 4];
  uint32_t longer = size + BEYOND;
  memset(copy, 0xFF, sizeof copies[0]);
  memcpy(copy, record, size);
  memcpy(copy, &longer, sizeof longer);
  return copy;
}

static void long_work(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_batch *batch = NULL;
  vyre_dispatch dispatch = {.executable = w->executable, .set = w->set, .grid = {WORLD_GROUPS, 1, 1}};
  vyre_command command = {.kind = VYRE_COMMAND_DISPATCH, .record = stretched(&dispatch, sizeof dispatch)};
  vyre_status status = w->r.ops.batch_create(w->r.device, &command, 1, &batch, &error);
  if (!raw_wants(&w->r, "a dispatch of more members", status, VYRE_OK, &error)) return;
  raw_queue *q = &w->queue;
  vyre_completion completion = {.size = sizeof completion};
  vyre_point end = {q->timeline, ++q->value};
  vyre_submit submit = {.batch = batch, .signals = &end, .signal_count = 1, .completion = &completion};
  world_clear(w);
  status = w->r.ops.submit(q->queue, stretched(&submit, sizeof submit), &error);
  if (!raw_wants(&w->r, "a submit of more members", status, VYRE_OK, &error)) return;
  status = w->r.ops.timeline_wait(q->timeline, q->value, 60000000000u, &error);
  raw_wants(&w->r, "waiting", status, VYRE_OK, &error);
  world_check(w, "records of more members", 5);
  w->r.ops.batch_destroy(batch);
}

static void long_buffer(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_buffer *buffer = NULL;
  vyre_buffer_request request = {.bytes = 64, .properties = w->r.caps.memory_types[0].properties};
  vyre_status status = w->r.ops.buffer_create(w->r.device, stretched(&request, sizeof request), &buffer, &error);
  raw_wants(&w->r, "a buffer request of more members", status, VYRE_OK, &error);
  if (buffer != NULL) w->r.ops.buffer_destroy(buffer);
}

static void long_compile(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  raw_program p;
  vyre_bytes blob = {.size = sizeof blob};
  if (!raw_program_make(&w->r, world_text, &p)) return;
  vyre_status status = w->r.ops.compile(&w->r.host.services, stretched(&w->r.caps, sizeof w->r.caps),
                                        stretched(&p.request, sizeof p.request), &blob, &error);
  raw_wants(&w->r, "a compile request of more members", status, VYRE_OK, &error);
  raw_blob_free(&w->r, &blob);
  raw_program_free(&p);
}

void check_long_inputs(kit *k) {
  world w;
  if (!world_open(k, &w)) return;
  kit_doing(k, "records with more members than are known (VBP-13)");
  long_work(&w);
  long_buffer(&w);
  long_compile(&w);
  world_close(&w);
}

/* ---- Flags and kinds ------------------------------------------------------------------------- */

enum { UNKNOWN_FLAG = 1u << 30, UNKNOWN_KIND = 77 };

static void wrong_compile(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  raw_program p;
  vyre_bytes blob = {.size = sizeof blob};
  if (!raw_program_make(&w->r, world_text, &p)) return;
  p.request.flags |= UNKNOWN_FLAG;
  vyre_status status = w->r.ops.compile(&w->r.host.services, &w->r.caps, &p.request, &blob, &error);
  raw_wants_refusal(&w->r, "compile with an unknown flag", status, &error);
  raw_program_free(&p);
}

static void wrong_buffer(world *w, const char *what, uint32_t properties, uint32_t kind, uint64_t handle) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_buffer *buffer = (vyre_plugin_buffer *)(void *)w;
  vyre_buffer_request request = {.size = sizeof request,
                                 .bytes = 64,
                                 .properties = properties | w->r.caps.memory_types[0].properties,
                                 .kind = kind,
                                 .handle = handle};
  kit_doing(w->r.k, "%s", what);
  vyre_status status = w->r.ops.buffer_create(w->r.device, &request, &buffer, &error);
  if (raw_wants_refusal(&w->r, what, status, &error) && buffer != NULL)
    kit_fail(w->r.k, "%s: it does not store NULL (VBP-16)", what);
}

static void wrong_queue(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_queue *queue = NULL;
  vyre_status status = w->r.ops.queue_create(w->r.device, UNKNOWN_FLAG, &queue, &error);
  raw_wants_refusal(&w->r, "a queue with an unknown flag", status, &error);
}

static void wrong_set(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  uint32_t n = 5;
  vyre_plugin_set *set = NULL;
  vyre_bind binds[2] = {
      {.flags = UNKNOWN_FLAG, .buffer = w->x, .bytes = 4 * WORLD_ELEMENTS, .elements = WORLD_ELEMENTS},
      {.flags = VYRE_BIND_WRITTEN, .buffer = w->y, .bytes = 4 * WORLD_ELEMENTS, .elements = WORLD_ELEMENTS},
  };
  vyre_set_request request = {.size = sizeof request, .bind_count = 2, .binds = binds, .params = &n, .param_bytes = 4};
  vyre_status status = w->r.ops.set_create(w->executable, &request, &set, &error);
  raw_wants_refusal(&w->r, "a binding with an unknown flag", status, &error);
}

static void wrong_commands(world *w) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_batch *batch = NULL;
  vyre_dispatch dispatch = {
      .size = sizeof dispatch, .flags = UNKNOWN_FLAG, .executable = w->executable, .set = w->set, .grid = {1, 1, 1}};
  const vyre_command flagged = {.kind = VYRE_COMMAND_DISPATCH, .record = &dispatch};
  const vyre_command unknown = {.kind = UNKNOWN_KIND, .record = &dispatch};
  raw_wants_refusal(&w->r, "a dispatch with an unknown flag",
                    w->r.ops.batch_create(w->r.device, &flagged, 1, &batch, &error), &error);
  raw_wants_refusal(&w->r, "a command of an unknown kind",
                    w->r.ops.batch_create(w->r.device, &unknown, 1, &batch, &error), &error);
}

/* What it does not refuse it may have begun: the record stays. */
static void wrong_submit(world *w) {
  static vyre_completion completion = {.size = sizeof completion};
  vyre_error error = VYRE_ERROR_INIT;
  vyre_submit submit = {.size = sizeof submit, .flags = UNKNOWN_FLAG, .batch = w->batch, .completion = &completion};
  raw_wants_refusal(&w->r, "a submit with an unknown flag", w->r.ops.submit(w->queue.queue, &submit, &error), &error);
}

void check_unknown_flags(kit *k) {
  world w;
  if (!world_open(k, &w)) return;
  wrong_compile(&w);
  wrong_buffer(&w, "a buffer with an unknown property", UNKNOWN_FLAG, VYRE_HANDLE_NONE, 0);
  wrong_buffer(&w, "a buffer imported from an unknown kind of handle", 0, UNKNOWN_KIND, 4096);
  wrong_queue(&w);
  wrong_set(&w);
  wrong_commands(&w);
  wrong_submit(&w);
  raw_run(&w.r, &w.queue, w.batch, &(vyre_completion){0}, NULL); /* behind what should not have begun */
  if (!kit_is_over(k)) world_close(&w);
}

/* ---- No error record ------------------------------------------------------------------------- */

/* Every call that fails, with nobody who wants to know why. */
void check_no_error_record(kit *k) {
  world w;
  if (!world_open(k, &w)) return;
  const vyre_backend_ops *ops = &w.r.ops;
  vyre_capabilities caps = {.size = sizeof caps};
  vyre_plugin_device *device = NULL;
  vyre_plugin_executable *executable = NULL;
  vyre_plugin_buffer *buffer = NULL;
  vyre_bytes blob = {.size = sizeof blob}, text = {.size = sizeof text};
  vyre_compile_request request = {.size = sizeof request};
  vyre_buffer_request huge = {
      .size = sizeof huge, .bytes = UINT64_MAX - 15, .properties = w.r.caps.memory_types[0].properties};
  uint64_t number = 0;
  kit_doing(k, "failing calls without an error record");
  ops->profile(&w.r.host.services, UINT32_MAX, &caps, NULL);
  ops->device_describe(w.r.plugin, UINT32_MAX, &caps, NULL);
  ops->device_open(w.r.plugin, UINT32_MAX, &device, NULL);
  if (ops->compile(&w.r.host.services, &w.r.caps, &request, &blob, NULL) == VYRE_OK)
    kit_fail(k, "compile of nothing: wanted a refusal, found VYRE_OK");
  if (ops->executable_load(w.r.device, "no blob", 7, &executable, NULL) == VYRE_OK)
    kit_fail(k, "executable_load of 7 bytes: wanted a refusal, found VYRE_OK");
  if (ops->disassemble != NULL && ops->disassemble(&w.r.host.services, "no blob", 7, &text, NULL) == VYRE_OK)
    kit_fail(k, "disassemble of 7 bytes: wanted a refusal, found VYRE_OK");
  if (ops->buffer_create(w.r.device, &huge, &buffer, NULL) == VYRE_OK)
    kit_fail(k, "a buffer of 2^64 bytes: wanted a refusal, found VYRE_OK");
  if (ops->native != NULL) ops->native(VYRE_OBJECT_DEVICE, w.r.device, UINT32_MAX, &number, NULL);
  if (ops->timeline_wait(w.queue.timeline, 1000, 0, NULL) != VYRE_ERR_TIMEOUT)
    kit_fail(k, "a wait of 0 ns for what is not reached: wanted VYRE_ERR_TIMEOUT");
  world_run(&w, "after failing calls");
  world_close(&w);
}
