/* Without memory, and again and again: what fails has undone all that it began, and nothing is left behind. Allocations
 * are those that the plugin asks its host for, and those of its own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "hook.h"
#include "process.h"
#include "programs.h"
#include "world.h"

/* ---- The n-th allocation --------------------------------------------------------------------- */

/* Everything that a run takes, from open to close, on a library that is loaded. Stops at the first failure and takes
 * back what was made. Gives its status; OK if all went well and the result is right. */
static vyre_status whole_run(raw *r, const raw_program *p, const char **step) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_bytes blob = {.size = sizeof blob};
  vyre_plugin_executable *executable = NULL;
  vyre_plugin_buffer *x = NULL, *y = NULL;
  vyre_plugin_set *set = NULL;
  vyre_plugin_batch *batch = NULL;
  vyre_plugin_queue *queue = NULL;
  vyre_plugin_timeline *timeline = NULL;
  const vyre_backend_ops *ops = &r->ops;
  static vyre_completion completion; /* it may be written later than this returns */
  uint32_t n = 5;
  vyre_buffer_request request = {
      .size = sizeof request, .bytes = 1024, .properties = r->caps.memory_types[0].properties};
  vyre_status status;
#define STEP(name, call)                                                                                               \
  if (status == VYRE_OK) {                                                                                             \
    *step = name;                                                                                                      \
    kit_doing(r->k, "%s, with an allocation that fails", name);                                                        \
    status = call;                                                                                                     \
  }
  r->plugin = NULL;
  r->device = NULL;
  status = VYRE_OK;
  STEP("open", ops->open(&r->host.services, &r->plugin, &error))
  STEP("device_open", ops->device_open(r->plugin, r->k->settings->device, &r->device, &error))
  STEP("compile", ops->compile(&r->host.services, &r->caps, &p->request, &blob, &error))
  STEP("executable_load", ops->executable_load(r->device, blob.data, blob.length, &executable, &error))
  STEP("buffer_create", ops->buffer_create(r->device, &request, &x, &error))
  STEP("buffer_create", ops->buffer_create(r->device, &request, &y, &error))
  vyre_bind binds[2] = {
      {.buffer = x, .bytes = 4 * WORLD_ELEMENTS, .elements = WORLD_ELEMENTS},
      {.flags = VYRE_BIND_WRITTEN, .buffer = y, .bytes = 4 * WORLD_ELEMENTS, .elements = WORLD_ELEMENTS}};
  vyre_set_request set_request = {
      .size = sizeof set_request, .bind_count = 2, .binds = binds, .params = &n, .param_bytes = 4};
  STEP("set_create", ops->set_create(executable, &set_request, &set, &error))
  vyre_dispatch dispatch = {.size = sizeof dispatch, .executable = executable, .set = set, .grid = {4, 1, 1}};
  vyre_command command = {.kind = VYRE_COMMAND_DISPATCH, .record = &dispatch};
  STEP("batch_create", ops->batch_create(r->device, &command, 1, &batch, &error))
  STEP("queue_create", ops->queue_create(r->device, 0, &queue, &error))
  STEP("timeline_create", ops->timeline_create(r->device, 0, &timeline, &error))
  completion = (vyre_completion){.size = sizeof completion};
  vyre_point end = {timeline, 1};
  vyre_submit submit = {
      .size = sizeof submit, .batch = batch, .signals = &end, .signal_count = 1, .completion = &completion};
  STEP("submit", ops->submit(queue, &submit, &error))
  STEP("timeline_wait", ops->timeline_wait(timeline, 1, 60000000000u, &error))
  STEP("the submission", completion.status)
#undef STEP
  if (status != VYRE_OK && strcmp(*step, "the submission") != 0) raw_wants_refusal(r, *step, status, &error);
  kit_doing(r->k, "taking back what was made, after %s", *step);
  if (queue != NULL) ops->queue_destroy(queue);
  if (timeline != NULL) ops->timeline_destroy(timeline);
  if (batch != NULL) ops->batch_destroy(batch);
  if (set != NULL) ops->set_destroy(set);
  if (x != NULL) ops->buffer_destroy(x);
  if (y != NULL) ops->buffer_destroy(y);
  if (executable != NULL) ops->executable_destroy(executable);
  raw_blob_free(r, &blob);
  raw_close(r);
  return status;
}

typedef struct failing {
  raw r;
  raw_program p;
} failing;

/* Once as it should be, so that what is made once for all is there. */
static bool prepare(kit *k, failing *f) {
  const char *step = "";
  if (!raw_open(k, &f->r) || !raw_program_make(&f->r, world_text, &f->p)) return false;
  uint32_t most = VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE;
  if ((f->r.caps.memory_types[0].properties & most) != most) kit_note(k, "buffers are of memory type 0");
  raw_close(&f->r);
  for (int i = 0; i < 3; i++) {
    vyre_status status = whole_run(&f->r, &f->p, &step);
    if (status != VYRE_OK)
      return kit_fail(k, "%s: %s, without an allocation that fails", step, vyre_status_name(status));
  }
  return true;
}

enum { MOST_ALLOCATIONS = 4096 };

static void judge_failure(kit *k, const char *who, uint64_t n, const char *what, const char *step, vyre_status status) {
  if (status == VYRE_OK) return; /* it could do without */
  if (status != VYRE_ERR_NO_MEMORY)
    kit_fail(k, "%s %" PRIu64 " (%s) fails: %s: wanted VYRE_ERR_NO_MEMORY, found %s", who, n, what, step,
             vyre_status_name(status));
}

void check_host_allocations(kit *k) {
  failing f;
  if (!prepare(k, &f)) return;
  uint64_t n = 1;
  for (; n <= MOST_ALLOCATIONS && !kit_is_full(k); n++) {
    const char *step = "";
    atomic_store(&f.r.host.calls, 0);
    atomic_store(&f.r.host.fail_at, n);
    f.r.host.failed = 0;
    vyre_status status = whole_run(&f.r, &f.p, &step);
    atomic_store(&f.r.host.fail_at, 0);
    judge_failure(k, "allocation of the host", n, "alloc", step, status);
    if (atomic_load(&f.r.host.blocks) != 0) {
      kit_fail(k, "allocation of the host %" PRIu64 " fails in %s, and %" PRId64 " others live on", n, step,
               atomic_load(&f.r.host.blocks));
      return;
    }
    if (f.r.host.failed == 0) break; /* it takes fewer */
  }
  kit_note(k, "%" PRIu64 " allocations of the host", n - 1);
}

void check_own_allocations(kit *k) {
  failing f;
  if (!raw_load(k, &f.r)) return;
  if (VYRE_ABI_SANITIZER != 0) {
    kit_skip(k, "a sanitizer has the allocator");
    return;
  }
  if (hook_imports(f.r.library) == 0) {
    kit_skip(k, "it allocates nothing of its own, or the kit does not know this machine's relocations");
    return;
  }
  if (!prepare(k, &f)) return;
  uint64_t n = 1;
  for (; n <= MOST_ALLOCATIONS && !kit_is_full(k); n++) {
    const char *step = "";
    int64_t before = hook_live();
    hook_fail_at(n);
    vyre_status status = whole_run(&f.r, &f.p, &step);
    char what[64];
    bool has_failed = hook_has_failed();
    snprintf(what, sizeof what, "%s", hook_failed());
    hook_fail_at(0);
    if (!has_failed) break;
    judge_failure(k, "call", n, what, step, status);
    if (hook_live() > before) {
      kit_fail(k, "call %" PRIu64 " (%s) fails in %s, and %" PRId64 " allocations live on", n, what, step,
               hook_live() - before);
      return;
    }
  }
  const char *name;
  if (hook_environment_reads(&name) > 0)
    kit_fail(k, "it reads the environment: %s (VBP-30). Fix: use config_get", name);
  kit_note(k, "%" PRIu64 " calls that allocate or start a thread", n - 1);
}

/* ---- Leaks ----------------------------------------------------------------------------------- */

enum { WARM_UP = 20, LEAST_SERIES = 4, MOST_SERIES = 24, LEAK = 16 };

/* What is done again and again, and how often in one series. */
typedef struct deed {
  const char *what;
  bool (*act)(raw *r, void *ctx);
  void *ctx;
  int rounds;
} deed;

/* Does |d| in several series, until one leaves next to no more bytes allocated than before: what the C library keeps
 * for each thread comes to an end, and a leak does not. |growth| is the least of a series, |times| how often it was done. */
static bool repeat(raw *r, const deed *d, uint64_t *growth, int *times) {
  const uint64_t leak = (uint64_t)d->rounds * LEAK;
  *growth = UINT64_MAX;
  *times = 0;
  for (int series = 0; series < LEAST_SERIES || (series < MOST_SERIES && *growth >= leak); series++) {
    uint64_t before = process_allocated();
    kit_doing(r->k, "%s, %d times, the %d. time", d->what, d->rounds, series + 1);
    for (int i = 0; i < d->rounds; i++, ++*times)
      if (!d->act(r, d->ctx)) return false;
    uint64_t after = process_allocated(), grown = after > before ? after - before : 0;
    if (grown < *growth) *growth = grown;
  }
  return true;
}

/* Does |d| many times; afterwards no more is there than after the first few. */
static void check_deed(kit *k, raw *r, const deed *d) {
  for (int i = 0; i < WARM_UP; i++)
    if (!d->act(r, d->ctx)) return;
  process_state before, after;
  uint64_t growth;
  int times;
  int64_t host = atomic_load(&r->host.blocks), own = hook_live();
  process_look(&before);
  if (!repeat(r, d, &growth, &times)) return;
  process_look(&after);
  host = atomic_load(&r->host.blocks) - host;
  own = hook_live() - own;
  if (host > 0) kit_fail(k, "%s: %d times leave %" PRId64 " allocations of the host", d->what, times, host);
  if (own > 0) kit_fail(k, "%s: %d times leave %" PRId64 " allocations of its own", d->what, times, own);
  if (host <= 0 && own <= 0 && growth >= (uint64_t)d->rounds * LEAK)
    kit_fail(k, "%s: each %d times leave at least %" PRIu64 " more bytes allocated", d->what, d->rounds, growth);
  process_compare(k, d->what, &before, &after, PROCESS_THREADS | PROCESS_FILES | PROCESS_CHILDREN);
}

static void check_growth(kit *k, raw *r, const char *what, bool (*act)(raw *r, void *ctx), void *ctx) {
  check_deed(k, r, &(deed){ .what = what, .act = act, .ctx = ctx, .rounds = 100 });
}

/* The hooks bind what can be bound; without them bytes are compared alone. */
static bool open_counted(kit *k, raw *r) {
  if (!raw_load(k, r)) return false;
  if (VYRE_ABI_SANITIZER == 0) hook_imports(r->library);
  return raw_open(k, r);
}

static bool compile_once(raw *r, void *ctx) {
  const raw_program *p = ctx;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_bytes blob;
  vyre_status status = raw_compile(r, &p->request, &blob, &error);
  raw_blob_free(r, &blob);
  return raw_wants(r, "compile", status, VYRE_OK, &error);
}

void check_compile_leaks(kit *k) {
  raw r;
  if (!open_counted(k, &r)) return;
  for (uint32_t i = 0; i < sample_count; i++) {
    raw_program p;
    char what[48];
    if ((sample_programs[i].needs & ~r.caps.needs) != 0 || !raw_program_make(&r, sample_programs[i].text, &p)) continue;
    snprintf(what, sizeof what, "compiling %.*s", (int)strcspn(sample_programs[i].text + 8, " "),
             sample_programs[i].text + 8);
    check_growth(k, &r, what, compile_once, &p);
    raw_program_free(&p);
  }
  raw_close(&r);
}

/* Something that compile refuses, at a different depth for each kind. */
typedef struct refused {
  raw_program p;
  uint64_t at; /* a byte that is changed */
  uint8_t by;
  uint8_t *copy;
} refused;

static bool fail_once(raw *r, void *ctx) {
  refused *f = ctx;
  vyre_bytes blob = {.size = sizeof blob};
  vyre_compile_request request = f->p.request;
  bool is_kernel = f->p.kernel != NULL;
  uint64_t bytes = is_kernel ? request.kernel_bytes : request.wire_bytes;
  memcpy(f->copy, is_kernel ? f->p.kernel : f->p.wire, bytes);
  f->copy[f->at] ^= f->by;
  if (is_kernel)
    request.kernel = f->copy;
  else
    request.wire = f->copy;
  vyre_status status = r->ops.compile(&r->host.services, &r->caps, &request, &blob, NULL);
  if (status == VYRE_OK)
    raw_blob_free(r, &blob);
  else if (blob.data != NULL)
    return kit_fail(r->k, "compile fails and leaves a blob");
  return true;
}

/* Breaks at places all over the kernel, so that it is refused early, late, and with much already made. */
void check_failed_compile_leaks(kit *k) {
  enum { PLACES = 40 };
  raw r;
  refused f = {0};
  if (!open_counted(k, &r) || !raw_program_make(&r, sample_programs[2].text, &f.p)) return;
  uint64_t bytes = f.p.kernel != NULL ? f.p.request.kernel_bytes : f.p.request.wire_bytes;
  f.copy = aligned_alloc(16, (bytes + 15) & ~(uint64_t)15);
  if (f.copy == NULL) return;
  for (uint32_t i = 0; i < PLACES && !kit_is_full(k); i++) {
    char what[96];
    f.at = i < 8 ? 8 * i : kit_random(k) % bytes;
    f.by = (uint8_t)(1 + kit_random(k) % 255);
    snprintf(what, sizeof what, "compiling a program whose byte %" PRIu64 " of %" PRIu64 " is wrong", f.at, bytes);
    check_growth(k, &r, what, fail_once, &f);
  }
  raw_close(&r);
}

static bool load_once(raw *r, void *ctx) {
  const vyre_bytes *blob = ctx;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_executable *executable = NULL;
  vyre_status status = r->ops.executable_load(r->device, blob->data, blob->length, &executable, &error);
  if (executable != NULL) r->ops.executable_destroy(executable);
  return raw_wants(r, "executable_load", status, VYRE_OK, &error);
}

static bool fail_load_once(raw *r, void *ctx) {
  const vyre_bytes *blob = ctx;
  vyre_plugin_executable *executable = NULL;
  for (uint64_t cut = 1; cut < blob->length; cut += blob->length / 8 + 1)
    if (r->ops.executable_load(r->device, blob->data, blob->length - cut, &executable, NULL) == VYRE_OK)
      return kit_fail(r->k, "it loads a blob that was cut off");
  return true;
}

void check_load_leaks(kit *k) {
  raw r;
  raw_program p;
  vyre_bytes blob = {0};
  if (!open_counted(k, &r) || !raw_program_make(&r, sample_programs[2].text, &p)) return;
  if (raw_compile(&r, &p.request, &blob, NULL) == VYRE_OK) {
    check_growth(k, &r, "loading and destroying an executable", load_once, &blob);
    check_growth(k, &r, "loading blobs that were cut off", fail_load_once, &blob);
  }
  raw_blob_free(&r, &blob);
  raw_close(&r);
}

static bool make_once(raw *r, void *ctx) {
  (void)ctx;
  world w = {.r = *r};
  bool is_made = world_make(&w) && world_run(&w, "a run");
  world_unmake(&w);
  return is_made;
}

static bool submit_once(raw *r, void *ctx) {
  (void)r;
  return world_run(ctx, "a run");
}

static bool refuse_once(raw *r, void *ctx) {
  (void)ctx;
  vyre_plugin_buffer *buffer = NULL;
  vyre_plugin_batch *batch = NULL;
  vyre_plugin_device *device = NULL;
  vyre_buffer_request request = {
      .size = sizeof request, .bytes = UINT64_MAX - 15, .properties = r->caps.memory_types[0].properties};
  const vyre_command unknown[] = {{.kind = VYRE_COMMAND_ORDER}, {.kind = 77}};
  r->ops.buffer_create(r->device, &request, &buffer, NULL);
  r->ops.batch_create(r->device, unknown, 2, &batch, NULL);
  r->ops.device_open(r->plugin, UINT32_MAX, &device, NULL);
  return true;
}

static bool open_once(raw *r, void *ctx) {
  (void)ctx;
  vyre_error error = VYRE_ERROR_INIT;
  raw again = *r;
  vyre_status status = r->ops.open(&r->host.services, &again.plugin, &error);
  if (!raw_wants(r, "open", status, VYRE_OK, &error) || !raw_open_device(&again)) return false;
  raw_close(&again);
  return true;
}

void check_object_leaks(kit *k) {
  raw r;
  world w = {0};
  if (!open_counted(k, &r)) return;
  check_growth(k, &r, "making, running and destroying everything", make_once, NULL);
  check_growth(k, &r, "calls that fail", refuse_once, NULL);
  /* Drivers take a good part of a second to open a device. */
  check_deed(k, &r, &(deed){ .what = "opening and closing an instance", .act = open_once, .rounds = 25 });
  w.r = r;
  if (world_make(&w)) check_growth(k, &r, "submitting a batch", submit_once, &w);
}
