/* Instances and devices: how they begin, what they say, and how they end. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "process.h"
#include "world.h"

/* ---- Probe ----------------------------------------------------------------------------------- */

void check_probe(kit *k) {
  raw r;
  vyre_error error = VYRE_ERROR_INIT;
  process_state before, after;
  if (!raw_load(k, &r)) return;
  process_look(&before);
  kit_doing(k, "probing");
  vyre_status first = r.ops.probe(&r.host.services, &error);
  process_look(&after);
  if (first != VYRE_OK) raw_wants_refusal(&r, "probe", first, &error);
  process_compare(k, "probe", &before, &after, PROCESS_THREADS | PROCESS_CHILDREN);
  for (int i = 0; i < 10; i++) {
    vyre_status again = r.ops.probe(&r.host.services, &error);
    if (again != first)
      kit_fail(k, "probe: it answers %s, and %s when it is asked again", vyre_status_name(first),
               vyre_status_name(again));
  }
  if (atomic_load(&r.host.blocks) != 0)
    kit_fail(k, "probe keeps %" PRId64 " allocations of its host", atomic_load(&r.host.blocks));
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool ends(const char *text, size_t room) {
  return strnlen(text, room) < room;
}

static bool is_power(uint32_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

static void check_common(kit *k, const char *what, const vyre_capabilities *c) {
  const uint64_t needs =
#define X(name, bit, spelling, use) 1ull << (bit) |
#include <vyre/needs.def>
#undef X
      0;
  if (!ends(c->profile, sizeof c->profile) || !ends(c->name, sizeof c->name) || !ends(c->driver, sizeof c->driver))
    kit_fail(k, "%s: a text without end", what);
  if (c->profile[0] == '\0') kit_fail(k, "%s: profile: no name", what);
  if ((c->needs & ~needs) != 0) kit_fail(k, "%s: needs: unknown bits 0x%" PRIx64, what, c->needs & ~needs);
  if ((c->numeric & ~15u) != 0) kit_fail(k, "%s: numeric: unknown bits 0x%x", what, c->numeric & ~15u);
  if (c->forward_progress > VYRE_PROGRESS_INVOCATIONS)
    kit_fail(k, "%s: forward_progress: %u is none", what, c->forward_progress);
  if (c->subgroup_sizes == 0 || c->subgroup_sizes > 63)
    kit_fail(k, "%s: subgroup_sizes: 0x%x", what, c->subgroup_sizes);
  if (!is_power(c->subgroup_size) || (c->subgroup_sizes & c->subgroup_size) == 0)
    kit_fail(k, "%s: subgroup_size %u is not among subgroup_sizes 0x%x", what, c->subgroup_size, c->subgroup_sizes);
  if (c->max_workgroup_invocations == 0) kit_fail(k, "%s: max_workgroup_invocations: 0", what);
  for (int axis = 0; axis < 3; axis++)
    if (c->max_workgroup[axis] == 0) kit_fail(k, "%s: max_workgroup[%d]: 0", what, axis);
  if (c->max_bindings == 0) kit_fail(k, "%s: max_bindings: 0", what);
  if ((c->needs & VYRE_NEED_PROGRESS) != 0 && c->forward_progress == VYRE_PROGRESS_NONE)
    kit_fail(k, "%s: it claims progress, and forward_progress is none", what);
}

static void check_memory(kit *k, const char *what, const vyre_capabilities *c) {
  if (c->memory_type_count == 0 || c->memory_type_count > VYRE_MAX_MEMORY_TYPES || c->memory_heap_count == 0 ||
      c->memory_heap_count > VYRE_MAX_MEMORY_HEAPS) {
    kit_fail(k, "%s: %u memory types and %u heaps", what, c->memory_type_count, c->memory_heap_count);
    return;
  }
  for (uint32_t i = 0; i < c->memory_type_count; i++) {
    if (c->memory_types[i].heap >= c->memory_heap_count) kit_fail(k, "%s: memory type %u has no heap", what, i);
    if ((c->memory_types[i].properties & ~31u) != 0)
      kit_fail(k, "%s: memory type %u: unknown properties 0x%x", what, i, c->memory_types[i].properties & ~31u);
  }
  if (!is_power(c->binding_alignment) || c->binding_alignment < 16 || c->binding_alignment > 256)
    kit_fail(k, "%s: binding_alignment: wanted a power of two from 16 to 256, found %u", what, c->binding_alignment);
  if (c->max_buffer_bytes < 16) kit_fail(k, "%s: max_buffer_bytes: %" PRIu64, what, c->max_buffer_bytes);
}

static void check_device_record(kit *k, const char *what, const vyre_capabilities *c) {
  check_common(k, what, c);
  check_memory(k, what, c);
  if (c->name[0] == '\0') kit_fail(k, "%s: it has no name", what);
  if (c->max_queues == 0) kit_fail(k, "%s: max_queues: 0", what);
  if ((c->can & ~127u) != 0) kit_fail(k, "%s: can: unknown bits 0x%x", what, c->can & ~127u);
  if ((c->can & VYRE_CAN_PERSISTENT) != 0 && c->max_persistent == 0)
    kit_fail(k, "%s: it claims persistent launches, and max_persistent is 0", what);
  if (((c->import_kinds | c->export_kinds) & ~30u) != 0)
    kit_fail(k, "%s: import_kinds 0x%x, export_kinds 0x%x: there are no such kinds", what, c->import_kinds,
             c->export_kinds);
  if (c->conformance > KIT_VERSION)
    kit_fail(k, "%s: conformance: it claims version %u of this kit, which is version %u", what, c->conformance,
             KIT_VERSION);
}

void check_devices(kit *k) {
  raw r;
  vyre_error error = VYRE_ERROR_INIT;
  uint32_t count = 0, again = 0;
  if (!raw_open(k, &r)) return;
  if (!raw_wants(&r, "device_count", r.ops.device_count(r.plugin, &count, &error), VYRE_OK, &error)) return;
  r.ops.device_count(r.plugin, &again, NULL);
  if (count != again || count > 65536) kit_fail(k, "it has %u devices, and %u when it is asked again", count, again);
  for (uint32_t i = 0; i < count && i < 64; i++) {
    char what[32];
    vyre_capabilities first = {.size = sizeof first}, second = {.size = sizeof second};
    snprintf(what, sizeof what, "device %u", i);
    kit_doing(k, "describing %s", what);
    if (!raw_wants(&r, what, r.ops.device_describe(r.plugin, i, &first, &error), VYRE_OK, &error)) continue;
    r.ops.device_describe(r.plugin, i, &second, NULL);
    if (memcmp(&first, &second, sizeof first) != 0) kit_fail(k, "%s: its record changes while it is open", what);
    check_device_record(k, what, &first);
    if ((first.can & VYRE_CAN_STORAGE_READ) != 0 && r.ops.storage_read == NULL)
      kit_fail(k, "%s: it claims storage_read, and that slot is missing", what);
  }
  vyre_capabilities none = {.size = sizeof none};
  vyre_plugin_device *device = (vyre_plugin_device *)(void *)k;
  raw_wants(&r, "describing a device beyond the last", r.ops.device_describe(r.plugin, count, &none, &error),
            VYRE_ERR_NOT_FOUND, &error);
  raw_wants(&r, "opening a device beyond the last", r.ops.device_open(r.plugin, UINT32_MAX, &device, &error),
            VYRE_ERR_NOT_FOUND, &error);
  if (device != NULL) kit_fail(k, "opening a device beyond the last does not store NULL (VBP-16)");
  raw_close(&r);
}

void check_profiles(kit *k) {
  raw r;
  uint32_t i = 0;
  if (!raw_load(k, &r)) return;
  for (; i < 1024; i++) {
    char what[32];
    vyre_error error = VYRE_ERROR_INIT;
    vyre_capabilities c = {.size = sizeof c};
    snprintf(what, sizeof what, "profile %u", i);
    kit_doing(k, "describing %s", what);
    vyre_status status = r.ops.profile(&r.host.services, i, &c, &error);
    if (status == VYRE_ERR_NOT_FOUND) break;
    if (!raw_wants(&r, what, status, VYRE_OK, &error)) return;
    check_common(k, what, &c);
    if (c.memory_type_count != 0 || c.memory_heap_count != 0 || c.max_queues != 0 || c.can != 0)
      kit_fail(k, "%s: memory and limits of launching are 0 in a profile", what);
  }
  if (i == 0) kit_fail(k, "it has no profile, so that nothing can be compiled without a device");
  if (i == 1024) kit_fail(k, "profile: it does not say NOT_FOUND for number 1023");
}

/* ---- Again and again ------------------------------------------------------------------------- */

enum { ROUNDS = 20 };

void check_reopen(kit *k) {
  process_state first, before = {0}, after;
  process_look(&first);
  for (int i = 0; i < ROUNDS && !kit_is_over(k); i++) {
    world w;
    char what[32];
    snprintf(what, sizeof what, "instance %d", i + 1);
    if (!world_open(k, &w)) return;
    world_run(&w, what);
    world_close(&w);
    if (atomic_load(&w.r.host.blocks) != 0)
      kit_fail(k, "%s: %" PRId64 " allocations of its host live on after close", what, atomic_load(&w.r.host.blocks));
    if (i == 1) process_look(&before); /* what is made once has been made */
  }
  process_look(&after);
  process_compare(k, "opening and closing 18 times", &before, &after,
                  PROCESS_THREADS | PROCESS_FILES | PROCESS_CHILDREN);
  process_is_kept(k, "opening, running and closing", &first, &after);
}

/* Each has all that the others have, and the first is closed first. */
void check_instances(kit *k) {
  world w[3];
  for (int i = 0; i < 3; i++)
    if (!world_open(k, &w[i])) return;
  for (int i = 0; i < 3; i++) {
    char what[48];
    for (int j = i; j < 3; j++) {
      snprintf(what, sizeof what, "instance %d with %d instances open", j + 1, 3 - i);
      world_run(&w[j], what);
    }
    world_close(&w[i]);
  }
}

/* Two devices of one number. */
void check_two_devices(kit *k) {
  world first, second = {0};
  if (!world_open(k, &first)) return;
  second.r = first.r;
  second.r.device = NULL;
  if (!raw_open_device(&second.r) || !world_make(&second)) return;
  world_run(&first, "the first of two devices");
  world_run(&second, "the second of two devices");
  world_unmake(&first);
  first.r.ops.device_close(first.r.device);
  first.r.device = NULL;
  world_run(&second, "the second device, once the first is closed");
  world_unmake(&second);
  raw_close(&second.r);
}

/* ---- Orders of ending ------------------------------------------------------------------------ */

/* Children go before parents, and that is all that is said: every such order is right. */
void check_destroy_orders(kit *k) {
  for (int order = 0; order < 6; order++) {
    world w;
    if (!world_open(k, &w) || !world_run(&w, "before destroying")) return;
    const vyre_backend_ops *ops = &w.r.ops;
    kit_doing(k, "destroying in order %d", order);
    if (order % 2 == 0) raw_queue_close(&w.r, &w.queue);
    ops->batch_destroy(w.batch);
    w.batch = NULL;
    if (order / 2 == 0) {
      ops->set_destroy(w.set);
      ops->executable_destroy(w.executable);
      w.set = NULL;
      w.executable = NULL;
    } else {
      ops->set_destroy(w.set);
      w.set = NULL;
      ops->buffer_destroy(order / 2 == 1 ? w.y : w.x);
      if (order / 2 == 1)
        w.y = NULL;
      else
        w.x = NULL;
    }
    world_close(&w);
  }
}

/* Never submitted, never run. */
void check_unused_objects(kit *k) {
  for (int i = 0; i < ROUNDS; i++) {
    world w;
    if (!world_open(k, &w)) return;
    world_close(&w);
  }
}

/* ---- The end of the process ------------------------------------------------------------------ */

static int exit_status_of(kit *k, void (*end)(void), bool *is_late) {
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    end();
    _exit(0);
  }
  int status = 0;
  *is_late = false;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    kit_fail(k, "the kit can't fork");
    return 0;
  }
  *is_late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  return status;
}

static kit *ending_kit;

static void live_and_exit(void) {
  world w;
  if (world_open(ending_kit, &w) && world_run(&w, "before exit")) exit(0);
}

/* All objects are alive when main returns: nothing of the plugin runs. */
void check_exit(kit *k) {
  bool is_late;
  ending_kit = k;
  int status = exit_status_of(k, live_and_exit, &is_late);
  if (is_late)
    kit_fail(k, "exit with live objects does not come to its end");
  else if (WIFSIGNALED(status))
    kit_fail(k, "exit with live objects ends by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    kit_fail(k, "exit with live objects ends with status %d", WEXITSTATUS(status));
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static world forked;

/* The first call that does not answer FORKED gives its number to the exit status. */
static void try_child(void) {
  const vyre_backend_ops *ops = &forked.r.ops;
  vyre_buffer_request request = {
      .size = sizeof request, .bytes = 64, .properties = forked.r.caps.memory_types[0].properties};
  vyre_plugin_buffer *buffer = NULL;
  vyre_plugin_queue *queue = NULL;
  vyre_plugin_timeline *timeline = NULL;
  vyre_plugin_batch *batch = NULL;
  vyre_plugin_executable *executable = NULL;
  vyre_completion completion = {.size = sizeof completion};
  vyre_submit submit = {.size = sizeof submit, .batch = forked.batch, .completion = &completion};
  uint64_t value = 0;
  const uint8_t blob[64] = {0};
  if (ops->buffer_create(forked.r.device, &request, &buffer, NULL) != VYRE_ERR_FORKED) _exit(1);
  if (ops->queue_create(forked.r.device, 0, &queue, NULL) != VYRE_ERR_FORKED) _exit(2);
  if (ops->timeline_create(forked.r.device, 0, &timeline, NULL) != VYRE_ERR_FORKED) _exit(3);
  if (ops->batch_create(forked.r.device, NULL, 0, &batch, NULL) != VYRE_ERR_FORKED) _exit(4);
  if (ops->executable_load(forked.r.device, blob, sizeof blob, &executable, NULL) != VYRE_ERR_FORKED) _exit(5);
  if (ops->submit(forked.queue.queue, &submit, NULL) != VYRE_ERR_FORKED) _exit(6);
  if (ops->timeline_value(forked.queue.timeline, &value, NULL) != VYRE_ERR_FORKED) _exit(7);
  if (ops->timeline_signal(forked.queue.timeline, 1000, NULL) != VYRE_ERR_FORKED) _exit(8);
  if (ops->timeline_wait(forked.queue.timeline, 1000, UINT64_MAX, NULL) != VYRE_ERR_FORKED) _exit(9);
}

void check_fork(kit *k) {
  static const char *const calls[] = {"buffer_create",  "queue_create",    "timeline_create",
                                      "batch_create",   "executable_load", "submit",
                                      "timeline_value", "timeline_signal", "timeline_wait"};
  bool is_late;
  if (!world_open(k, &forked) || !world_run(&forked, "before the fork")) return;
  kit_doing(k, "calling the plugin in a child of the process that opened it");
  int status = exit_status_of(k, try_child, &is_late);
  if (is_late)
    kit_fail(k, "a call in a child process does not return");
  else if (WIFSIGNALED(status))
    kit_fail(k, "a call in a child process ends by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) > 0 && WEXITSTATUS(status) <= 9)
    kit_fail(k, "%s in a child process: wanted VYRE_ERR_FORKED", calls[WEXITSTATUS(status) - 1]);
  else if (WEXITSTATUS(status) != 0)
    kit_fail(k, "a call in a child process exits with %d", WEXITSTATUS(status));
  world_run(&forked, "in the parent, after the fork");
}
