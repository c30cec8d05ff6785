/* One plugin for all tests of the loader and of the host's objects. What it does wrong follows from its own file's
 * name: copied as vyre_backend_<fault>.so it has that fault, under any other name it is sound. The name of its
 * directory is a fault as well, so that several files of one name differ; if it begins with a digit, it is the version.
 *
 * It runs copies and fills; a dispatch adds 1 to each word of what it may write. It does all work inside submit, or,
 * where a submission waits for a point, as soon as the host signals it. Nothing of it is quick or clever. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <vyre/backend.h>
#include <vyre/ir.h>

#include "slot_names.h"

/* Tags of `native` on a device: objects of it that live, and how often the process compiled with this file. */
enum { FAKE_TAG_LIVE = 1, FAKE_TAG_COMPILED = 2 };

static char own_name[64], own_directory[64], own_version[64];
static _Atomic uint64_t compiled;

static bool is(const char *fault) { return strcmp(own_name, fault) == 0 || strcmp(own_directory, fault) == 0; }

/* ---- Faults that only a process of its own survives ------------------------------------------ */

/* Dies as it is told to by "<how>in<where>". */
static void die_in(const char *where) {
  static const char *const ways[] = { "crashes", "aborts", "exits", "hangs", "corrupts", "quits" };
  char fault[64];
  int way = -1;
  for (int i = 0; i < 6; i++) {
    snprintf(fault, sizeof fault, "%sin%s", ways[i], where);
    if (is(fault)) way = i;
  }
  if (way == 0) raise(SIGSEGV);
  if (way == 1) abort();
  if (way == 2) exit(3);
  while (way == 3) pause();
  if (way == 4) { /* all that lies before a block of malloc is not ours */
    volatile char *volatile block = malloc(64);
    for (;;) *--block = 0x5A;
  }
  if (way == 5) _exit(0); /* as if all were well */
}

/* ---- Objects; all under one lock ------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

struct vyre_plugin {
  const vyre_host *host;
};

typedef struct pending {
  struct pending *next;
  vyre_submit submit;
  vyre_point waits[8], signals[8];
} pending;

struct vyre_plugin_device {
  bool lost;
  uint64_t live, submits;
  pending *first;
};

struct vyre_plugin_executable {
  vyre_plugin_device *device;
  uint64_t launches;
};

struct vyre_plugin_buffer {
  vyre_plugin_device *device;
  uint8_t *bytes;
  uint64_t size;
  bool owned;
};

struct vyre_plugin_set {
  vyre_plugin_device *device;
  uint32_t count;
  vyre_bind *binds;
};

struct vyre_plugin_batch {
  vyre_plugin_device *device;
  uint64_t count;
  struct fake_command {
    uint32_t kind;
    vyre_dispatch dispatch;
    vyre_copy copy;
    vyre_fill fill;
    vyre_timestamp timestamp;
  } * commands;
};

struct vyre_plugin_queue {
  vyre_plugin_device *device;
};

struct vyre_plugin_timeline {
  vyre_plugin_device *device;
  uint64_t value;
};

static vyre_status fail(vyre_error *error, vyre_status status, const char *text) {
  if (error == NULL) return status;
  error->status = status;
  error->where[0] = 0;
  snprintf(error->text, sizeof error->text, "%s", text);
  return status;
}

/* Allocates with malloc, so that tests that make allocations fail reach it. */
static void *make(vyre_plugin_device *device, size_t bytes) {
  void *object = calloc(1, bytes);
  pthread_mutex_lock(&lock);
  if (object != NULL && device != NULL) device->live++;
  pthread_mutex_unlock(&lock);
  return object;
}

static void unmake(vyre_plugin_device *device, void *object) {
  pthread_mutex_lock(&lock);
  device->live--;
  pthread_mutex_unlock(&lock);
  free(object);
}

/* ---- Running --------------------------------------------------------------------------------- */

static void run_dispatch(const vyre_dispatch *d) {
  for (uint32_t i = 0; i < d->set->count; i++) {
    const vyre_bind *b = &d->set->binds[i];
    if ((b->flags & VYRE_BIND_ZERO) != 0) memset(b->buffer->bytes + b->offset, 0, b->bytes);
    if ((b->flags & VYRE_BIND_WRITTEN) == 0) continue;
    for (uint64_t at = 0; at + 4 <= b->bytes; at += 4) ++*(uint32_t *)(void *)(b->buffer->bytes + b->offset + at);
  }
  d->executable->launches++;
}

static void run_command(const struct fake_command *c, const vyre_submit *submit) {
  switch (c->kind) {
  case VYRE_COMMAND_DISPATCH: run_dispatch(&c->dispatch); break;
  case VYRE_COMMAND_COPY:
    memcpy(c->copy.target->bytes + c->copy.target_offset, c->copy.source->bytes + c->copy.source_offset, c->copy.bytes);
    break;
  case VYRE_COMMAND_FILL:
    for (uint64_t at = 0; at < c->fill.bytes; at += 4)
      memcpy(c->fill.target->bytes + c->fill.offset + at, &c->fill.pattern, 4);
    break;
  case VYRE_COMMAND_TIMESTAMP: submit->timestamps[c->timestamp.index] = 1000u + c->timestamp.index; break;
  default: break;
  }
}

static void run_submission(vyre_plugin_device *device, const pending *p) {
  for (uint64_t i = 0; i < p->submit.batch->count; i++) run_command(&p->submit.batch->commands[i], &p->submit);
  p->submit.completion->status = is("traps") ? VYRE_ERR_TRAP : is("oddend") ? -12345 : VYRE_OK;
  if (is("traps")) p->submit.completion->trap_code = 7;
  p->submit.completion->masked_loads = VYRE_NOT_COUNTED;
  for (uint64_t i = 0; i < p->submit.batch->count && !is("untimed"); i++)
    if (p->submit.batch->commands[i].kind == VYRE_COMMAND_DISPATCH) p->submit.completion->device_ns += 500;
  for (uint32_t i = 0; i < p->submit.signal_count; i++) p->signals[i].timeline->value = p->signals[i].value;
  (void)device;
}

static bool may_run(const pending *p) {
  for (uint32_t i = 0; i < p->submit.wait_count; i++)
    if (p->waits[i].timeline->value < p->waits[i].value) return false;
  return true;
}

/* Runs from the front what can run. The lock is held. */
static void run_ready(vyre_plugin_device *device) {
  while (device->first != NULL && may_run(device->first)) {
    pending *p = device->first;
    device->first = p->next;
    run_submission(device, p);
    free(p);
  }
  pthread_cond_broadcast(&moved);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static vyre_status probe(const vyre_host *host, vyre_error *error) {
  (void)host;
  die_in("probe");
  if (is("absent")) return fail(error, VYRE_ERR_LIBRARY_ABSENT, "libfake.so.1 is not installed. Fix: install it.");
  if (is("tooold")) return fail(error, VYRE_ERR_TOO_OLD, "The driver is 1.0, at least 2.0 is needed. Fix: update it.");
  if (is("noaccess")) return fail(error, VYRE_ERR_DENIED, "/dev/fake is not readable. Fix: join group fake.");
  if (is("silent")) return VYRE_ERR_TOO_OLD;
  if (is("oddprobe")) return fail(error, -12345, "A number of its own.");
  if (is("slow")) nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
  if (is("reenters")) {
    const char *address = getenv("FAKE_REENTER");
    vyre_status (*call)(void) = NULL;
    if (address != NULL) *(void **)(void *)&call = (void *)(uintptr_t)strtoull(address, NULL, 16);
    if (call != NULL) return call();
  }
  return VYRE_OK;
}

static void describe(uint32_t index, vyre_capabilities *out) {
  vyre_capabilities caps = {
    .size = sizeof caps,
    .kind = VYRE_DEVICE_VIRTUAL,
    .numa_node = -1,
    .pci = UINT64_MAX,
    .needs = is("lacking") ? 0 : UINT32_MAX,
    .numeric = is("lacking") || is("rough") ? 0 : 15,
    .subgroup_sizes = 8 | 32,
    .subgroup_size = 8,
    .max_workgroup_invocations = 256,
    .max_workgroup = { 256, 128, 64 },
    .max_shared_bytes = 16384,
    .max_bindings = 16,
    .max_param_bytes = 128,
    .can = is("lacking") ? 0
                         : VYRE_CAN_DEVICE_LENGTH | VYRE_CAN_INDIRECT_GRID | VYRE_CAN_TIMESTAMP | VYRE_CAN_PERSISTENT,
    .max_buffer_bytes = is("huge") ? 1ull << 40 : 1 << 24,
    .binding_alignment = is("badrecord") ? 24 : 64,
    .import_kinds = 1u << VYRE_HANDLE_HOST_POINTER | (is("shares") ? 1u << VYRE_HANDLE_FD : 0) |
                    (is("shares") ? 1u << VYRE_HANDLE_DEVICE_POINTER : 0),
    .export_kinds = is("shares") ? 1u << VYRE_HANDLE_HOST_POINTER | 1u << VYRE_HANDLE_DEVICE_POINTER : 0,
    .memory_type_count = 2,
    .memory_heap_count = 1,
    .memory_types = { { VYRE_MEMORY_DEVICE_LOCAL, 0 },
                      { VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE | VYRE_MEMORY_COHERENT | VYRE_MEMORY_CONCURRENT,
                        0 } },
    .memory_heaps = { { 1 << 26, VYRE_MEMORY_DEVICE_LOCAL, 0 } },
  };
  snprintf(caps.profile, sizeof caps.profile, "fake");
  snprintf(caps.name, sizeof caps.name, "Fake device %u", index);
  if (is("sameuuid")) memset(caps.uuid, 0xA0, sizeof caps.uuid);
  if (is("uuids")) memset(caps.uuid, (int)(0xA0 + index), sizeof caps.uuid);
  *out = caps;
}

static vyre_status profile(const vyre_host *host, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  (void)host;
  if (index > 0) return fail(error, VYRE_ERR_NOT_FOUND, "There is one profile.");
  describe(0, out);
  return VYRE_OK;
}

static vyre_status compile(const vyre_host *host, const vyre_capabilities *target, const vyre_compile_request *request,
                           vyre_bytes *blob, vyre_error *error) {
  (void)target;
  atomic_fetch_add(&compiled, 1);
  if (is("refuses")) return fail(error, VYRE_ERR_UNSUPPORTED, "unsupported(fake)");
  if (is("oddcompile")) return 1;
  if (request->remark != NULL) request->remark(request->remark_ctx, VYRE_LOG_WARNING, 0, 1, "a remark");
  blob->data = host->alloc(host->ctx, 64, 16);
  if (blob->data == NULL) return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  blob->length = 64;
  memset(blob->data, 0, 64);
  snprintf(blob->data, 64, "flags %u ulp %u subgroup %u steps %llu", request->flags, request->ulp_budget,
           request->subgroup_size, (unsigned long long)request->steps);
  return VYRE_OK;
}

/* Turns the small letters of a blob into capitals; only `finalizes` and `halffinal` have it. */
static vyre_status finalize(const vyre_host *host, const vyre_capabilities *target, const void *blob, uint64_t bytes,
                            vyre_bytes *out, vyre_error *error) {
  (void)target;
  if (is("halffinal")) return fail(error, VYRE_ERR_UNSUPPORTED, "Not for this target. Fix: none.");
  if (is("finalfails")) return fail(error, VYRE_ERR_IO, "The assembler is missing. Fix: install it.");
  char *copy = host->alloc(host->ctx, bytes, 16);
  if (copy == NULL) return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  for (uint64_t i = 0; i < bytes; i++) {
    char c = ((const char *)blob)[i];
    copy[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
  }
  out->data = copy;
  out->length = bytes;
  return VYRE_OK;
}

static bool has_finalize(void) { return is("finalizes") || is("halffinal") || is("finalfails"); }

static vyre_status open_plugin(const vyre_host *host, vyre_plugin **out, vyre_error *error) {
  *out = NULL;
  if (is("openfails")) return fail(error, VYRE_ERR_IO, "The fake could not be opened. Fix: none.");
  if (is("opennull")) return VYRE_OK;
  *out = make(NULL, sizeof **out);
  if (*out == NULL) return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  (*out)->host = host;
  host->log(host->ctx, VYRE_LOG_DEBUG, "open", "opened");
  return VYRE_OK;
}

static void close_plugin(vyre_plugin *plugin) { free(plugin); }

static vyre_status device_count(vyre_plugin *plugin, uint32_t *count, vyre_error *error) {
  (void)plugin, (void)error;
  static atomic_uint asked;
  *count = is("nodevices") ? 0 : is("manydevices") ? 3000 : is("toomany") ? 4000000000u : 2;
  if (is("grows")) *count += atomic_fetch_add(&asked, 1);
  return VYRE_OK;
}

static vyre_status device_describe(vyre_plugin *plugin, uint32_t index, vyre_capabilities *out, vyre_error *error) {
  (void)plugin;
  if (is("shrinks") && index > 0) return fail(error, VYRE_ERR_NOT_FOUND, "The fake device was pulled out.");
  describe(index, out);
  return VYRE_OK;
}

static vyre_status device_open(vyre_plugin *plugin, uint32_t index, vyre_plugin_device **out, vyre_error *error) {
  (void)plugin;
  *out = NULL;
  if (is("busy") || (is("second") && index == 0)) return fail(error, VYRE_ERR_BUSY, "The fake device is in use.");
  *out = make(NULL, sizeof **out);
  return *out != NULL ? VYRE_OK : fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
}

static void device_close(vyre_plugin_device *device) {
  if (device->live != 0 || device->first != NULL) abort(); /* the host closed it too early: let the test die */
  free(device);
}

static vyre_status executable_load(vyre_plugin_device *device, const void *blob, uint64_t bytes,
                                   vyre_plugin_executable **out, vyre_error *error) {
  *out = NULL;
  const char *wanted = is("finalizes") ? "FLAGS " : "flags ";
  if (bytes < 6 || memcmp(blob, wanted, 6) != 0) return fail(error, VYRE_ERR_INVALID_FILE, "That is no blob of mine.");
  if (is("loadsnone")) return fail(error, VYRE_ERR_BUSY, "A persistent launch of spin runs. Fix: stop that first.");
  *out = make(device, sizeof **out);
  if (*out == NULL) return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  (*out)->device = device;
  return VYRE_OK;
}

static void executable_destroy(vyre_plugin_executable *e) { unmake(e->device, e); }

static vyre_status executable_report(vyre_plugin_executable *e, vyre_launch_report *out, vyre_error *error) {
  (void)error;
  *out = (vyre_launch_report){ .size = sizeof *out, .launches = e->launches, .subgroup_size = 8 };
  return VYRE_OK;
}

static vyre_status max_resident(vyre_plugin_executable *e, uint64_t *workgroups, vyre_error *error) {
  (void)e;
  if (is("endless") && error != NULL) {
    memset(error->text, 'x', sizeof error->text);
    error->status = VYRE_ERR_LIMIT;
  }
  if (is("endless")) return VYRE_ERR_LIMIT;
  *workgroups = 4;
  return VYRE_OK;
}

static vyre_status buffer_create(vyre_plugin_device *device, const vyre_buffer_request *request,
                                 vyre_plugin_buffer **out, vyre_error *error) {
  *out = make(device, sizeof **out);
  if (*out == NULL) return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  (*out)->device = device;
  (*out)->size = request->bytes;
  (*out)->owned = request->kind == VYRE_HANDLE_NONE;
  if (is("huge")) (*out)->size = 16; /* sizes are only talked about */
  if (request->kind == VYRE_HANDLE_FD) (*out)->owned = true; /* its contents do not matter */
  (*out)->bytes = (*out)->owned ? calloc(1, (*out)->size) : (uint8_t *)(uintptr_t)request->handle;
  if ((*out)->bytes != NULL) return VYRE_OK;
  unmake(device, *out);
  *out = NULL;
  return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
}

static void buffer_destroy(vyre_plugin_buffer *b) {
  if (b->owned) {
    memset(b->bytes, 0xDD, b->size); /* a later use shows */
    free(b->bytes);
  }
  unmake(b->device, b);
}

static vyre_status buffer_map(vyre_plugin_buffer *b, void **out, vyre_error *error) {
  (void)error;
  *out = b->bytes;
  return VYRE_OK;
}

static vyre_status buffer_sync(vyre_plugin_buffer *b, uint64_t offset, uint64_t bytes, vyre_error *error) {
  (void)b, (void)offset, (void)bytes, (void)error;
  return VYRE_OK;
}

static vyre_status buffer_export(vyre_plugin_buffer *b, uint32_t kind, uint64_t *handle, vyre_error *error) {
  (void)kind, (void)error;
  *handle = (uintptr_t)b->bytes;
  return VYRE_OK;
}

static vyre_status set_create(vyre_plugin_executable *e, const vyre_set_request *request, vyre_plugin_set **out,
                              vyre_error *error) {
  *out = make(e->device, sizeof **out);
  if (*out == NULL) return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  (*out)->device = e->device;
  (*out)->count = request->bind_count;
  (*out)->binds = calloc(request->bind_count + 1u, sizeof *(*out)->binds);
  if ((*out)->binds == NULL) {
    unmake(e->device, *out);
    *out = NULL;
    return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  }
  if (request->bind_count > 0) memcpy((*out)->binds, request->binds, request->bind_count * sizeof *request->binds);
  return VYRE_OK;
}

static void set_destroy(vyre_plugin_set *set) {
  free(set->binds);
  unmake(set->device, set);
}

static vyre_status batch_create(vyre_plugin_device *device, const vyre_command *commands, uint64_t count,
                                vyre_plugin_batch **out, vyre_error *error) {
  *out = make(device, sizeof **out);
  if (*out == NULL) return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  (*out)->device = device;
  (*out)->count = count;
  (*out)->commands = calloc(count + 1, sizeof *(*out)->commands);
  if ((*out)->commands == NULL) {
    unmake(device, *out);
    *out = NULL;
    return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  }
  for (uint64_t i = 0; i < count; i++) {
    struct fake_command *c = &(*out)->commands[i];
    c->kind = commands[i].kind;
    if (c->kind == VYRE_COMMAND_DISPATCH) memcpy(&c->dispatch, commands[i].record, sizeof c->dispatch);
    if (c->kind == VYRE_COMMAND_COPY) memcpy(&c->copy, commands[i].record, sizeof c->copy);
    if (c->kind == VYRE_COMMAND_FILL) memcpy(&c->fill, commands[i].record, sizeof c->fill);
    if (c->kind == VYRE_COMMAND_TIMESTAMP) memcpy(&c->timestamp, commands[i].record, sizeof c->timestamp);
  }
  return VYRE_OK;
}

static void batch_destroy(vyre_plugin_batch *batch) {
  free(batch->commands);
  unmake(batch->device, batch);
}

static vyre_status queue_create(vyre_plugin_device *device, uint32_t flags, vyre_plugin_queue **out,
                                vyre_error *error) {
  (void)flags;
  *out = make(device, sizeof **out);
  if (*out == NULL) return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  (*out)->device = device;
  return VYRE_OK;
}

static void queue_destroy(vyre_plugin_queue *queue) { unmake(queue->device, queue); }

static void drop_pending(vyre_plugin_device *device) {
  while (device->first != NULL) {
    pending *p = device->first;
    device->first = p->next;
    free(p);
  }
  pthread_cond_broadcast(&moved);
}

static vyre_status submit(vyre_plugin_queue *queue, const vyre_submit *s, vyre_error *error) {
  vyre_plugin_device *device = queue->device;
  if (s->wait_count > 8 || s->signal_count > 8) return fail(error, VYRE_ERR_LIMIT, "At most 8 points.");
  pending *p = calloc(1, sizeof *p), **end;
  if (p == NULL) return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  p->submit = *s;
  if (s->wait_count > 0) memcpy(p->waits, s->waits, s->wait_count * sizeof *s->waits);
  memcpy(p->signals, s->signals, s->signal_count * sizeof *s->signals);
  pthread_mutex_lock(&lock);
  if (is("loses") && ++device->submits == 3) {
    device->lost = true;
    drop_pending(device);
  }
  bool lost = device->lost;
  if (!lost) {
    for (end = &device->first; *end != NULL; end = &(*end)->next) continue;
    *end = p;
    run_ready(device);
  }
  pthread_mutex_unlock(&lock);
  if (!lost) return VYRE_OK;
  free(p);
  return fail(error, VYRE_ERR_DEVICE_LOST, "The fake device fell off its bus. Fix: put it back.");
}

static vyre_status timeline_create(vyre_plugin_device *device, uint64_t value, vyre_plugin_timeline **out,
                                   vyre_error *error) {
  *out = make(device, sizeof **out);
  if (*out == NULL) return fail(error, VYRE_ERR_NO_MEMORY, "No memory.");
  (*out)->device = device;
  (*out)->value = value;
  return VYRE_OK;
}

static void timeline_destroy(vyre_plugin_timeline *t) { unmake(t->device, t); }

static vyre_status timeline_value(vyre_plugin_timeline *t, uint64_t *value, vyre_error *error) {
  pthread_mutex_lock(&lock);
  *value = t->value;
  bool lost = t->device->lost;
  pthread_mutex_unlock(&lock);
  return lost ? fail(error, VYRE_ERR_DEVICE_LOST, "The fake device is lost.") : VYRE_OK;
}

static vyre_status timeline_signal(vyre_plugin_timeline *t, uint64_t value, vyre_error *error) {
  (void)error;
  pthread_mutex_lock(&lock);
  t->value = value;
  run_ready(t->device);
  pthread_mutex_unlock(&lock);
  return VYRE_OK;
}

static vyre_status timeline_wait(vyre_plugin_timeline *t, uint64_t value, uint64_t timeout_ns, vyre_error *error) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  uint64_t limit = timeout_ns > 3600000000000u ? 3600000000000u : timeout_ns;
  uint64_t ns = (uint64_t)until.tv_nsec + limit;
  until.tv_sec += (time_t)(ns / 1000000000u);
  until.tv_nsec = (long)(ns % 1000000000u);
  int code = 0;
  pthread_mutex_lock(&lock);
  while (t->value < value && !t->device->lost && code != ETIMEDOUT)
    code = limit == 0 ? ETIMEDOUT : pthread_cond_timedwait(&moved, &lock, &until);
  bool reached = t->value >= value, lost = t->device->lost;
  pthread_mutex_unlock(&lock);
  if (lost) return fail(error, VYRE_ERR_DEVICE_LOST, "The fake device is lost.");
  return reached ? VYRE_OK : fail(error, VYRE_ERR_TIMEOUT, "Not yet.");
}

static vyre_status native(uint32_t kind, const void *object, uint32_t tag, uint64_t *out, vyre_error *error) {
  const vyre_plugin_device *device = object;
  if (kind != VYRE_OBJECT_DEVICE || (tag != FAKE_TAG_LIVE && tag != FAKE_TAG_COMPILED))
    return fail(error, VYRE_ERR_NOT_FOUND, "No such tag.");
  pthread_mutex_lock(&lock);
  *out = tag == FAKE_TAG_LIVE ? device->live : atomic_load(&compiled);
  pthread_mutex_unlock(&lock);
  return VYRE_OK;
}

static const vyre_backend_ops sound_ops = {
  .size = sizeof sound_ops,
  .probe = probe,
  .profile = profile,
  .compile = compile,
  .open = open_plugin,
  .close = close_plugin,
  .device_count = device_count,
  .device_describe = device_describe,
  .device_open = device_open,
  .device_close = device_close,
  .executable_load = executable_load,
  .executable_destroy = executable_destroy,
  .executable_report = executable_report,
  .max_resident = max_resident,
  .buffer_create = buffer_create,
  .buffer_destroy = buffer_destroy,
  .buffer_map = buffer_map,
  .buffer_flush = buffer_sync,
  .buffer_invalidate = buffer_sync,
  .buffer_export = buffer_export,
  .set_create = set_create,
  .set_destroy = set_destroy,
  .batch_create = batch_create,
  .batch_destroy = batch_destroy,
  .queue_create = queue_create,
  .queue_destroy = queue_destroy,
  .submit = submit,
  .timeline_create = timeline_create,
  .timeline_destroy = timeline_destroy,
  .timeline_value = timeline_value,
  .timeline_signal = timeline_signal,
  .timeline_wait = timeline_wait,
  .native = native,
};

/* ---- The descriptor -------------------------------------------------------------------------- */

/* Name and version from the path of this very file. */
static void learn_name(void) {
  Dl_info info;
  if (dladdr((const void *)(uintptr_t)learn_name, &info) == 0) return;
  const char *file = strrchr(info.dli_fname, '/');
  const char *directory = file;
  while (directory > info.dli_fname && directory[-1] != '/') directory--;
  bool is_version = directory < file && *directory >= '0' && *directory <= '9';
  if (file - directory < (ptrdiff_t)sizeof own_directory)
    snprintf(own_directory, sizeof own_directory, "%.*s", (int)(file - directory), directory);
  snprintf(own_version, sizeof own_version, "%.*s", is_version ? (int)(file - directory) : 3,
           is_version ? directory : "1.0");
  sscanf(file, "/vyre_backend_%60[a-z0-9_].so", own_name);
}

__attribute__((constructor)) static void as_it_is_opened(void) {
  learn_name();
  die_in("open");
}

static vyre_backend_ops ops;
static struct {
  vyre_backend_desc desc;
  uint64_t more[4];
} longer;

VYRE_BACKEND_EXPORT const vyre_backend_desc *vyre_backend_query(const vyre_backend_request *request);
VYRE_BACKEND_EXPORT const vyre_backend_desc *vyre_backend_query(const vyre_backend_request *request) {
  vyre_backend_desc *desc = &longer.desc;
  die_in("query");
  if (is("declines") || request->size < sizeof *request) return NULL;
  ops = sound_ops;
  if (has_finalize()) ops.finalize = finalize;
  *desc = (vyre_backend_desc){
    .magic = VYRE_ABI_MAGIC,
    .size = sizeof *desc,
    .abi_major = VYRE_ABI_MAJOR,
    .abi_minor = VYRE_ABI_MINOR,
    .flags = VYRE_BACKEND_TAKES_PROGRAM,
    .sanitizer = VYRE_ABI_SANITIZER,
    .fingerprint = VYRE_ABI_FINGERPRINT,
    .name = own_name,
    .version = own_version,
    .build_id = "fake build",
    .ops = &ops,
  };
  if (is("wrongmagic")) desc->magic = 0x1122334455667788u;
  if (is("shortdesc")) desc->size = 40;
  if (is("frozenonly")) desc->size = offsetof(vyre_backend_desc, opcodes);
  if (is("longdesc")) desc->size = sizeof longer;
  if (is("oldermajor")) desc->abi_major = VYRE_ABI_MAJOR - 1u;
  if (is("newermajor")) desc->abi_major = VYRE_ABI_MAJOR + 1u;
  if (is("newerminor")) desc->abi_minor = VYRE_ABI_MINOR + 5u;
  if (is("needsnewer")) desc->min_host_minor = VYRE_ABI_MINOR + 1u;
  if (is("unknownflag")) desc->flags |= 1u << 30;
  if (is("takesnothing")) desc->flags = 0;
  if (is("sanitizer")) desc->sanitizer ^= VYRE_SANITIZER_ADDRESS | VYRE_SANITIZER_THREAD;
  if (is("fingerprint")) desc->fingerprint = 0x0123456789ABCDEFu;
  if (is("cpu")) desc->cpu_features = 1ull << 60;
  if (is("misnamed")) desc->name = "another";
  if (is("nameless")) desc->name = NULL;
  if (is("tableless")) desc->ops = NULL;
  if (is("shorttable")) ops.size = offsetof(vyre_backend_ops, submit);
  if (is("shortoptional")) ops.size = offsetof(vyre_backend_ops, storage_read);
  if (is("longtable")) ops.size = sizeof ops + 64;
#define TAKE_AWAY(slot) \
  if (is("null_" #slot)) ops.slot = NULL;
  MANDATORY_SLOTS(TAKE_AWAY)
  OPTIONAL_SLOTS(TAKE_AWAY)
#undef TAKE_AWAY
  return desc;
}
