/* Launches at their limits: the largest workgroup, all of the workgroup's memory, many bindings and parameters; and
 * launches that somebody has to stop. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "world.h"

static const uint64_t long_ns = 60000000000u;

/* ---- Limits ---------------------------------------------------------------------------------- */

enum { TEXT_BYTES = 65536 };

typedef struct text {
  char bytes[TEXT_BYTES];
  size_t used;
} text;

__attribute__((format(printf, 2, 3))) static void say(text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int put = vsnprintf(t->bytes + t->used, TEXT_BYTES - t->used, format, args);
  va_end(args);
  if (put > 0 && (size_t)put < TEXT_BYTES - t->used) t->used += (size_t)put;
}

/* Runs a program over one workgroup with |count| buffers of |words| words, and gives the words of the first. */
static uint32_t *run_once(raw *r, const char *what, const char *program, uint32_t count, uint32_t words,
                          const void *params, uint64_t param_bytes) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_completion completion;
  raw_queue queue;
  vyre_plugin_set *set = NULL;
  vyre_bind *binds = calloc(count, sizeof *binds);
  uint32_t *found = NULL;
  kit_doing(r->k, "%s", what);
  vyre_plugin_executable *executable = raw_executable(r, program);
  if (executable == NULL || binds == NULL || !raw_queue_open(r, &queue)) return NULL;
  for (uint32_t i = 0; i < count; i++) {
    vyre_plugin_buffer *buffer = raw_buffer(r, 4 * (uint64_t)words);
    uint32_t *map = buffer != NULL ? (uint32_t *)(void *)raw_map(r, buffer) : NULL;
    if (map == NULL) return NULL;
    map[0] = i;
    raw_flush(r, buffer, 4 * (uint64_t)words);
    if (i == 0) found = map;
    binds[i] = (vyre_bind){
        .flags = i == 0 ? VYRE_BIND_WRITTEN : 0, .buffer = buffer, .bytes = 4 * (uint64_t)words, .elements = words};
  }
  vyre_set_request request = {
      .size = sizeof request, .bind_count = count, .binds = binds, .params = params, .param_bytes = param_bytes};
  if (!raw_wants(r, what, r->ops.set_create(executable, &request, &set, &error), VYRE_OK, &error)) return NULL;
  vyre_plugin_batch *batch = raw_dispatch(r, executable, set, 1);
  if (batch == NULL) return NULL;
  vyre_status status = raw_run(r, &queue, batch, &completion, &error);
  if (status != VYRE_OK) kit_fail(r->k, "%s: %s: %s", what, vyre_status_name(status), completion.text);
  raw_invalidate(r, binds[0].buffer, 4 * (uint64_t)words);
  free(binds);
  return status == VYRE_OK ? found : NULL;
}

/* A workgroup of all invocations along one axis, which turn a row around in workgroup memory. */
static void try_axis(raw *r, int axis) {
  static text t;
  char what[80];
  uint32_t size[3] = {1, 1, 1}, most = r->caps.max_workgroup[axis];
  if (most > r->caps.max_workgroup_invocations) most = r->caps.max_workgroup_invocations;
  size[axis] = most;
  t.used = 0;
  snprintf(what, sizeof what, "a workgroup of %u x %u x %u", size[0], size[1], size[2]);
  say(&t, "program limit workgroup(%u, %u, %u) { rw y: u32[]; shared t: u32[%u]; let i = lid.%c; t[i] = i; barrier;",
      size[0], size[1], size[2], most, "xyz"[axis]);
  say(&t, " y[i] = t[%u - i] + 1; }", most - 1);
  uint32_t *y = run_once(r, what, t.bytes, 1, most, NULL, 0);
  for (uint32_t i = 0; y != NULL && i < most; i++)
    if (y[i] != most - i) {
      kit_fail(r->k, "%s: y[%u]: wanted %u, found %u", what, i, most - i, y[i]);
      return;
    }
}

static void try_shared(raw *r) {
  static text t;
  uint32_t words = r->caps.max_shared_bytes / 16 * 4, lanes = 64;
  t.used = 0;
  if (words < 2 * lanes) return;
  say(&t,
      "program limit workgroup(%u) { rw y: u32[]; shared t: u32[%u]; let first = t[lid.x] + t[%u - lid.x]; barrier;",
      lanes, words, words - 1);
  say(&t, " t[%u - lid.x] = lid.x; barrier; y[lid.x] = first + t[%u + lid.x]; }", words - 1, words - lanes);
  uint32_t *y = run_once(r, "all of the workgroup's memory", t.bytes, 1, lanes, NULL, 0);
  for (uint32_t i = 0; y != NULL && i < lanes; i++)
    if (y[i] != lanes - 1 - i) {
      kit_fail(r->k, "%u bytes of workgroup memory: y[%u]: wanted %u, found %u", 4 * words, i, lanes - 1 - i, y[i]);
      return;
    }
}

/* The sum of the first word of each of many buffers. */
static void try_bindings(raw *r) {
  static text t;
  uint32_t count = r->caps.max_bindings < 200 ? r->caps.max_bindings : 200;
  char what[48];
  snprintf(what, sizeof what, "%u bindings", count);
  t.used = 0;
  say(&t, "program limit workgroup(1) { rw y: u32[];");
  for (uint32_t i = 1; i < count; i++) say(&t, " read b%u: u32[];", i);
  say(&t, " var s = 0;");
  for (uint32_t i = 1; i < count; i++) say(&t, " s = s + b%u[0];", i);
  say(&t, " y[0] = s; }");
  uint32_t *y = run_once(r, what, t.bytes, count, 4, NULL, 0), wanted = (count - 1) * count / 2;
  if (y != NULL && y[0] != wanted) kit_fail(r->k, "%s: their sum: wanted %u, found %u", what, wanted, y[0]);
}

static void try_params(raw *r) {
  static text t;
  static uint32_t params[256];
  uint32_t count = r->caps.max_param_bytes / 4 < 256 ? r->caps.max_param_bytes / 4 : 256, wanted = 0;
  char what[48];
  snprintf(what, sizeof what, "%u parameters", count);
  t.used = 0;
  say(&t, "program limit workgroup(1) {");
  for (uint32_t i = 0; i < count; i++) say(&t, " param p%u: u32;", i);
  say(&t, " rw y: u32[]; var s = 0;");
  for (uint32_t i = 0; i < count; i++) {
    say(&t, " s = s + p%u * %u;", i, i + 1);
    params[i] = 3 * i + 1;
    wanted += params[i] * (i + 1);
  }
  say(&t, " y[0] = s; }");
  uint32_t *y = run_once(r, what, t.bytes, 1, 4, params, 4 * (uint64_t)count);
  if (y != NULL && y[0] != wanted) kit_fail(r->k, "%s: their weighted sum: wanted %u, found %u", what, wanted, y[0]);
}

void check_limits(kit *k) {
  raw r;
  if (!raw_open(k, &r)) return;
  for (int axis = 0; axis < 3; axis++) try_axis(&r, axis);
  try_shared(&r);
  try_bindings(&r);
  try_params(&r);
}

/* ---- Stopping -------------------------------------------------------------------------------- */

static const char counting_text[] = "program counting workgroup(1) { rw y: u32[]; loop { if (should_stop()) { break; }"
                                    " atomic_add(y[0], 1, relaxed, system); } y[1] = 7; }";

typedef struct stopping {
  raw r;
  vyre_plugin_buffer *words, *stop;
  uint32_t *map, *stop_map;
  vyre_plugin_batch *batch;
} stopping;

/* Memory that host and kernel both touch while it runs, where it is claimed. */
static vyre_plugin_buffer *shared_buffer(raw *r) {
  vyre_error error = VYRE_ERROR_INIT;
  const uint32_t wanted = VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE | VYRE_MEMORY_CONCURRENT;
  vyre_buffer_request request = {.size = sizeof request, .bytes = 64};
  vyre_plugin_buffer *buffer = NULL;
  for (uint32_t i = 0; i < r->caps.memory_type_count && request.properties == 0; i++)
    if ((r->caps.memory_types[i].properties & wanted) == wanted)
      request.properties = r->caps.memory_types[i].properties;
  if (request.properties == 0) return raw_buffer(r, 64);
  raw_wants(r, "concurrent memory", r->ops.buffer_create(r->device, &request, &buffer, &error), VYRE_OK, &error);
  return buffer;
}

static bool make_stopping(kit *k, stopping *s, uint32_t flags) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_set *set = NULL;
  if (s->r.plugin == NULL && !raw_open(k, &s->r)) return false;
  if ((s->r.caps.needs & VYRE_NEED_SHOULD_STOP) == 0) return kit_skip(k, "should_stop is not claimed");
  vyre_plugin_executable *executable = raw_executable(&s->r, counting_text);
  s->words = executable != NULL ? shared_buffer(&s->r) : NULL;
  s->stop = s->words != NULL ? shared_buffer(&s->r) : NULL;
  if (s->stop == NULL) return false;
  s->map = (uint32_t *)(void *)raw_map(&s->r, s->words);
  s->stop_map = (uint32_t *)(void *)raw_map(&s->r, s->stop);
  if (s->map == NULL || s->stop_map == NULL) return false;
  vyre_bind bind = {.flags = VYRE_BIND_WRITTEN, .buffer = s->words, .bytes = 64, .elements = 16};
  vyre_set_request request = {.size = sizeof request, .bind_count = 1, .binds = &bind};
  if (!raw_wants(&s->r, "a set", s->r.ops.set_create(executable, &request, &set, &error), VYRE_OK, &error))
    return false;
  vyre_dispatch dispatch = {.size = sizeof dispatch,
                            .flags = flags,
                            .executable = executable,
                            .set = set,
                            .grid = {1, 1, 1},
                            .stop_buffer = s->stop,
                            .stop_offset = 8};
  vyre_command command = {.kind = VYRE_COMMAND_DISPATCH, .record = &dispatch};
  return raw_wants(&s->r, "a launch with a stop word",
                   s->r.ops.batch_create(s->r.device, &command, 1, &s->batch, &error), VYRE_OK, &error);
}

/* The stop word is set before it begins. */
void check_stop_word(kit *k) {
  stopping s = {0};
  vyre_error error = VYRE_ERROR_INIT;
  vyre_completion completion;
  raw_queue queue;
  if (!make_stopping(k, &s, 0) || !raw_queue_open(&s.r, &queue)) return;
  s.stop_map[2] = 1;
  raw_flush(&s.r, s.stop, 64);
  kit_doing(k, "a launch whose stop word is set");
  vyre_status status = raw_run(&s.r, &queue, s.batch, &completion, &error);
  raw_invalidate(&s.r, s.words, 64);
  if (status != VYRE_OK)
    kit_fail(k, "a launch whose stop word is set: %s: %s", vyre_status_name(status), completion.text);
  if (s.map[0] != 0 || s.map[1] != 7)
    kit_fail(k, "a launch whose stop word is set: wanted 0 turns and an end, found %u turns and %u", s.map[0],
             s.map[1]);
}

/* ---- Beside a persistent launch --------------------------------------------------------------- */

typedef struct persistent {
  stopping s;
  vyre_plugin_queue *queue;
  vyre_plugin_timeline *timeline;
  vyre_completion completion;
  world w;        /* loaded before */
  raw_program p;  /* compiled and loaded beside it */
  vyre_bytes blob;
} persistent;

/* What else is used beside it is loaded before: a driver may load nothing while something runs. */
static bool make_persistent(kit *k, persistent *p) {
  static const char beside[] = "program beside workgroup(64) { rw y: u32[]; y[gid.x] = gid.x * 5; }";
  vyre_error error = VYRE_ERROR_INIT;
  if (!make_stopping(k, &p->s, VYRE_DISPATCH_PERSISTENT)) return false;
  raw *r = &p->s.r;
  p->w.r = *r;
  if (!world_make(&p->w) || !raw_program_make(r, beside, &p->p)) return false;
  vyre_status status = r->ops.queue_create(r->device, VYRE_QUEUE_PERSISTENT, &p->queue, &error);
  if (status == VYRE_OK) status = r->ops.timeline_create(r->device, 0, &p->timeline, &error);
  return raw_wants(r, "a persistent queue and a timeline", status, VYRE_OK, &error);
}

static bool start_persistent(persistent *p) {
  raw *r = &p->s.r;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_point end = {p->timeline, 1};
  p->completion = (vyre_completion){.size = sizeof p->completion};
  vyre_submit submit = {
      .size = sizeof submit, .batch = p->s.batch, .signals = &end, .signal_count = 1, .completion = &p->completion};
  kit_doing(r->k, "starting a persistent launch");
  if (!raw_wants(r, "submit", r->ops.submit(p->queue, &submit, &error), VYRE_OK, &error)) return false;
  bool is_seen = (r->caps.can & VYRE_CAN_HOST_COHERENT_ATOMICS) != 0;
  uint64_t until = kit_now_ns() + 20000000000u;
  while (is_seen && __atomic_load_n(&p->s.map[0], __ATOMIC_ACQUIRE) < 100 && kit_now_ns() < until) continue;
  if (is_seen && __atomic_load_n(&p->s.map[0], __ATOMIC_ACQUIRE) < 100)
    kit_fail(r->k, "host_coherent_atomics is claimed, and the host does not see what a running kernel counts");
  return true;
}

/* Gives whether it was refused with BUSY, which is an answer beside a persistent launch alone. */
static bool is_load_refused(persistent *p, const char *what, bool may_be_busy) {
  raw *r = &p->s.r;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_executable *executable = NULL;
  vyre_status status = r->ops.executable_load(r->device, p->blob.data, p->blob.length, &executable, &error);
  bool is_refused = may_be_busy && status == VYRE_ERR_BUSY;
  raw_wants(r, what, status, is_refused ? VYRE_ERR_BUSY : VYRE_OK, &error);
  if (status != VYRE_OK && executable != NULL) kit_fail(r->k, "%s: it fails and leaves an executable (VBP-16)", what);
  if (status == VYRE_OK) r->ops.executable_destroy(executable);
  return is_refused;
}

static void use_buffers(raw *r) {
  enum { BYTES = 4096, TIMES = 3 };
  for (int i = 0; i < TIMES; i++) {
    vyre_plugin_buffer *buffer = raw_buffer(r, BYTES);
    uint8_t *map = buffer != NULL ? raw_map(r, buffer) : NULL;
    if (map == NULL) return;
    for (int b = 0; b < BYTES; b++)
      if (map[b] != 0) {
        kit_fail(r->k, "a buffer made beside a persistent launch: byte %d: wanted 0, found %u", b, map[b]);
        break;
      }
    memset(map, 0xA5, BYTES);
    raw_flush(r, buffer, BYTES);
    r->ops.buffer_destroy(buffer);
  }
}

/* Gives whether loading was refused. */
static bool work_beside(persistent *p) {
  raw *r = &p->s.r;
  vyre_error error = VYRE_ERROR_INIT;
  kit_doing(r->k, "compiling beside a persistent launch");
  vyre_status status = raw_compile(r, &p->p.request, &p->blob, &error);
  raw_wants(r, "compiling beside a persistent launch", status, VYRE_OK, &error);
  kit_doing(r->k, "loading beside a persistent launch");
  bool is_refused = status == VYRE_OK && is_load_refused(p, "loading beside a persistent launch", true);
  kit_doing(r->k, "making, mapping and destroying buffers beside a persistent launch");
  use_buffers(r);
  kit_doing(r->k, "making a set and a batch beside a persistent launch");
  vyre_plugin_set *set = NULL;
  bool is_made = world_make_set(&p->w, 5, &set);
  vyre_plugin_batch *batch = is_made ? raw_dispatch(r, p->w.executable, set, WORLD_GROUPS) : NULL;
  world_run(&p->w, "a run beside a persistent launch");
  if (batch != NULL) r->ops.batch_destroy(batch);
  if (set != NULL) r->ops.set_destroy(set);
  status = r->ops.timeline_wait(p->timeline, 1, 1000000, &error);
  raw_wants(r, "a persistent launch that nobody has stopped", status, VYRE_ERR_TIMEOUT, &error);
  return is_refused;
}

static void stop_persistent(persistent *p) {
  raw *r = &p->s.r;
  vyre_error error = VYRE_ERROR_INIT;
  kit_doing(r->k, "stopping a persistent launch");
  __atomic_store_n(&p->s.stop_map[2], 1, __ATOMIC_RELEASE);
  vyre_status status = r->ops.timeline_wait(p->timeline, 1, long_ns, &error);
  if (!raw_wants(r, "a persistent launch that was stopped", status, VYRE_OK, &error)) kit_end(r->k);
  if (p->completion.status != VYRE_OK)
    kit_fail(r->k, "a persistent launch ends with %s", vyre_status_name(p->completion.status));
  if (p->s.map[1] != 7)
    kit_fail(r->k, "what a persistent launch wrote last is not there: wanted 7, found %u", p->s.map[1]);
}

/* It runs until the host says so, and the device takes other calls meanwhile. Loading may be refused until its end. */
void check_persistent(kit *k) {
  static persistent p; /* a completion record may be written later than this returns */
  if (!raw_open(k, &p.s.r)) return;
  if ((p.s.r.caps.can & VYRE_CAN_PERSISTENT) == 0) {
    kit_skip(k, "persistent is not claimed");
    return;
  }
  if (!make_persistent(k, &p) || !start_persistent(&p)) return;
  bool is_refused = work_beside(&p);
  stop_persistent(&p);
  if (is_refused) {
    kit_note(k, "it loads nothing beside a persistent launch");
    kit_doing(k, "loading after a persistent launch");
    is_load_refused(&p, "loading what was refused beside a persistent launch, after its end", false);
  }
  raw_blob_free(&p.s.r, &p.blob);
  raw_program_free(&p.p);
  p.s.r.ops.queue_destroy(p.queue);
  p.s.r.ops.timeline_destroy(p.timeline);
}
