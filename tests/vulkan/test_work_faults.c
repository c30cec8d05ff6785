/* Work on the fake Vulkan: every call may fail, the device may be lost anywhere, and what is asked for may be absurd.
 * Nothing stays behind, nothing hangs, and other devices go on. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "rig.h"
#include "../suite.h"

static const char program[] = "program p workgroup(64) { param k: u32; read x: u32[]; rw y: u32[];\n"
                              "  let i = gid.x; if (i < len(y)) { y[i] = x[i] * k; } }";
/* It traps, and its grid is folded twice: all kinds of memory that a recording has. */
static const char wide_program[] = "program w workgroup(1) { param k: u32; rw y: u32[]; var s = gid.x;\n"
                                   "  if (k == 7) { trap(k); } grid_barrier;\n"
                                   "  atomic_add(y[0], s + nwg.x); if (should_stop()) { y[1] = 1; } }";

static const char *const names[] = {
#define X(name, level, since) #name,
#include "../fake/vulkan_entries.def"
#undef X
};

static rig_fake fake;

/* ---- One of everything ----------------------------------------------------------------------- */

typedef struct everything {
  vyre_plugin_executable *e, *w;
  vyre_plugin_buffer *x, *y;
  vyre_plugin_set *set, *wide;
  vyre_plugin_queue *queue;
  vyre_plugin_timeline *timeline, *gate;
  vyre_plugin_batch *batch;
} everything;

static vyre_bytes blob, wide_blob;

static vyre_status make_buffers(rig *r, everything *all) {
  const vyre_buffer_request request = { .size = sizeof request,
                                        .bytes = 4096,
                                        .properties = r->caps.memory_types[0].properties };
  vyre_status status = r->ops->buffer_create(r->device, &request, &all->x, &r->error);
  return status == VYRE_OK ? r->ops->buffer_create(r->device, &request, &all->y, &r->error) : status;
}

static vyre_status make_sets(rig *r, everything *all) {
  const uint32_t k = 3;
  vyre_bind binds[2] = { rig_bind(all->x, 2048, 512), rig_bind(all->y, 2048, 512) };
  vyre_set_request request = {
    .size = sizeof request, .bind_count = 2, .binds = binds, .params = &k, .param_bytes = 4
  };
  binds[1].flags |= VYRE_BIND_ZERO | VYRE_BIND_LATE;
  binds[1].length_bits = 64;
  binds[1].length_buffer = all->x;
  vyre_status status = r->ops->set_create(all->e, &request, &all->set, &r->error);
  if (status != VYRE_OK) return status;
  request.bind_count = 1;
  return r->ops->set_create(all->w, &request, &all->wide, &r->error);
}

static vyre_status make_batch(rig *r, everything *all) {
  vyre_dispatch d = rig_dispatch(all->e, all->set, 16, 1, 1), w = rig_dispatch(all->w, all->wide, 70000, 2, 1);
  const vyre_copy copy = { .size = sizeof copy, .source = all->x, .target = all->y, .bytes = 64 };
  const vyre_fill fill = { .size = sizeof fill, .pattern = 1, .target = all->y, .offset = 64, .bytes = 64 };
  const vyre_timestamp timestamp = { .size = sizeof timestamp };
  const vyre_command commands[] = { { VYRE_COMMAND_DISPATCH, 0, &d }, { VYRE_COMMAND_ORDER, 0, NULL },
                                    { VYRE_COMMAND_DISPATCH, 0, &w }, { VYRE_COMMAND_COPY, 0, &copy },
                                    { VYRE_COMMAND_FILL, 0, &fill },  { VYRE_COMMAND_TIMESTAMP, 0, &timestamp } };
  d.grid_buffer = all->x;
  w.stop_buffer = all->x;
  w.stop_offset = 8;
  return r->ops->batch_create(r->device, commands, 6, &all->batch, &r->error);
}

static vyre_status make_all(rig *r, everything *all) {
  const vyre_backend_ops *ops = r->ops;
  vyre_status status = ops->executable_load(r->device, blob.data, blob.length, &all->e, &r->error);
  if (status == VYRE_OK)
    status = ops->executable_load(r->device, wide_blob.data, wide_blob.length, &all->w, &r->error);
  if (status == VYRE_OK) status = make_buffers(r, all);
  if (status == VYRE_OK) status = make_sets(r, all);
  if (status == VYRE_OK) status = ops->queue_create(r->device, 0, &all->queue, &r->error);
  if (status == VYRE_OK) status = ops->timeline_create(r->device, 0, &all->timeline, &r->error);
  if (status == VYRE_OK) status = ops->timeline_create(r->device, 0, &all->gate, &r->error);
  return status == VYRE_OK ? make_batch(r, all) : status;
}

/* Twice while pending, the second behind a gate. */
static vyre_status run_all(rig *r, everything *all, vyre_completion completions[2]) {
  const vyre_backend_ops *ops = r->ops;
  const uint64_t offsets[2] = { 0, 256 };
  const uint32_t k = 3;
  const vyre_late late = { .command = 0, .params = &k, .offsets = offsets };
  const vyre_point gate = { all->gate, 1 };
  vyre_status status = VYRE_OK;
  uint64_t submitted = 0;
  for (uint64_t i = 0; i < 2 && status == VYRE_OK; i++) {
    const vyre_point end = { all->timeline, i + 1 };
    completions[i] = (vyre_completion){ .size = sizeof *completions, .status = 1 };
    const vyre_submit submit = { .size = sizeof submit, .batch = all->batch, .waits = &gate, .wait_count = (uint32_t)i,
                                 .signals = &end, .signal_count = 1, .late = &late, .late_count = 1,
                                 .completion = &completions[i] };
    status = ops->submit(all->queue, &submit, &r->error);
    submitted += status == VYRE_OK;
  }
  ops->timeline_signal(all->gate, 1, NULL);
  vyre_status waited = VYRE_OK;
  for (int turn = 0; turn < 4 && submitted > 0; turn++) { /* a wait that fails may be asked for again */
    waited = ops->timeline_wait(all->timeline, submitted, UINT64_MAX, &r->error);
    if (waited == VYRE_OK || waited == VYRE_ERR_DEVICE_LOST) break;
  }
  if (status == VYRE_OK) status = waited;
  for (uint64_t i = 0; i < submitted; i++) {
    ck_assert_msg(completions[i].status != 1, "submission %d has ended, and its record is not filled", (int)i);
    if (status == VYRE_OK) status = completions[i].status;
  }
  return status;
}

static void end_all(rig *r, everything *all) {
  const vyre_backend_ops *ops = r->ops;
  if (all->batch != NULL) ops->batch_destroy(all->batch);
  if (all->gate != NULL) ops->timeline_destroy(all->gate);
  if (all->timeline != NULL) ops->timeline_destroy(all->timeline);
  if (all->queue != NULL) ops->queue_destroy(all->queue);
  if (all->wide != NULL) ops->set_destroy(all->wide);
  if (all->set != NULL) ops->set_destroy(all->set);
  if (all->x != NULL) ops->buffer_destroy(all->x);
  if (all->y != NULL) ops->buffer_destroy(all->y);
  if (all->w != NULL) ops->executable_destroy(all->w);
  if (all->e != NULL) ops->executable_destroy(all->e);
}

static vyre_status try_everything(rig *r) {
  everything all = { .e = NULL };
  vyre_completion completions[2];
  vyre_status status = make_all(r, &all);
  if (status == VYRE_OK) status = run_all(r, &all, completions);
  end_all(r, &all);
  return status;
}

/* Opens the fake's device, with what a run needs compiled. */
static void begin(rig *r, const char *script) {
  fake = rig_use_fake(script);
  rig_open(r, 0);
  rig_must(r, rig_compile(r, program, &blob));
  rig_must(r, rig_compile(r, wide_program, &wide_blob));
  rig_must(r, try_everything(r));
}

static void end(rig *r) {
  ck_assert_ptr_null(fake.script(""));
  rig_close(r);
  rig_nothing_lives(&fake);
  free(blob.data);
  free(wide_blob.data);
}

/* ---- Each call fails, each time -------------------------------------------------------------- */

/* The script begins the counts anew, so a call of a run is number |at| of what follows. */
static uint64_t fail_once(rig *r, const char *base, const char *name, const char *code, int at) {
  char script[160];
  snprintf(script, sizeof script, "%s\nfail %s %s at %d", base, name, code, at);
  ck_assert_ptr_null(fake.script(script));
  r->error.text[0] = 0;
  vyre_status status = try_everything(r);
  bool is_told = status == VYRE_OK || strstr(r->error.text, "Fix: ") != NULL || status == VYRE_ERR_NO_MEMORY;
  ck_assert_msg(is_told, "%s fails as call %d: status %d says `%s`", name, at, status, r->error.text);
  bool is_named = status == VYRE_OK || status == VYRE_ERR_NO_MEMORY;
  ck_assert_msg(is_named, "%s answers %s as call %d: status %d: %s", name, code, at, status, r->error.text);
  return fake.calls(name);
}

static void fail_each(const char *base) {
  rig r;
  begin(&r, base);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (uint64_t at = 1; fail_once(&r, base, names[i], "VK_ERROR_OUT_OF_HOST_MEMORY", (int)at) >= at; at++) continue;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    fail_once(&r, base, names[i], "VK_ERROR_OUT_OF_DEVICE_MEMORY", 1);
  ck_assert_ptr_null(fake.script(base));
  rig_must(&r, try_everything(&r)); /* it is as good as ever */
  end(&r);
}

START_TEST(each_call_may_run_out_of_memory) { fail_each("set api 13"); }
END_TEST

START_TEST(each_call_may_run_out_of_memory_with_fences) { fail_each("set api 11"); }
END_TEST

/* ---- Loss ------------------------------------------------------------------------------------ */

/* After the loss everything says so at once, and destroying is all that is left. */
static void everything_says_lost(rig *r) {
  uint64_t value;
  vyre_plugin_batch *batch;
  vyre_plugin_timeline *timeline;
  ck_assert_int_eq(r->ops->timeline_value(r->timeline, &value, &r->error), VYRE_ERR_DEVICE_LOST);
  ck_assert_int_eq(r->ops->timeline_wait(r->timeline, UINT64_MAX, UINT64_MAX, &r->error), VYRE_ERR_DEVICE_LOST);
  ck_assert_int_eq(r->ops->timeline_create(r->device, 0, &timeline, &r->error), VYRE_ERR_DEVICE_LOST);
  ck_assert_int_eq(r->ops->batch_create(r->device, NULL, 0, &batch, &r->error), VYRE_ERR_DEVICE_LOST);
  ck_assert_ptr_nonnull(strstr(r->error.text, "Fix: "));
}

static void lose_by(const char *base, const char *name) {
  rig r;
  char script[160];
  begin(&r, base);
  const uint64_t before = fake.calls(name);
  snprintf(script, sizeof script, "%s\nfail %s VK_ERROR_DEVICE_LOST at 1", base, name);
  ck_assert_ptr_null(fake.script(script));
  vyre_status status = try_everything(&r);
  if (before > 0 && fake.calls(name) > 0) {
    ck_assert_msg(status == VYRE_ERR_DEVICE_LOST, "%s loses the device, and the run ends with %d", name, status);
    everything_says_lost(&r);
  }
  end(&r);
}

static const char *const losing[] = { "vkQueueSubmit", "vkWaitSemaphores", "vkGetSemaphoreCounterValue" };

START_TEST(each_call_may_lose_the_device) { lose_by("set api 13", losing[_i]); }
END_TEST

static const char *const losing_fences[] = { "vkQueueSubmit", "vkWaitForFences" };

START_TEST(each_call_may_lose_the_device_with_fences) { lose_by("set api 11", losing_fences[_i]); }
END_TEST

static void *wait_for_ever(void *argument) {
  rig *r = argument;
  vyre_error error = VYRE_ERROR_INIT;
  return (void *)(intptr_t)r->ops->timeline_wait(r->timeline, 1000, UINT64_MAX, &error);
}

/* A dispatch loses one device: who waits there for what nobody will signal wakes, and the other device goes on. */
static void lose_one_of_two(const char *api) {
  rig r, other;
  pthread_t waiter;
  void *answer;
  char script[96];
  vyre_completion completion;
  snprintf(script, sizeof script, "set devices 2\n%s", api);
  begin(&r, script);
  rig_open(&other, 1);
  vyre_plugin_executable *e = rig_load(&r, program);
  uint32_t *map;
  vyre_plugin_buffer *y = rig_buffer(&r, 4096, &map);
  const vyre_bind binds[2] = { rig_bind(y, 256, 64), rig_bind(y, 256, 64) };
  const uint32_t k = 1;
  vyre_plugin_set *set = rig_set(&r, e, binds, 2, &k, 4);
  const vyre_dispatch d = rig_dispatch(e, set, 1, 1, 1);
  vyre_plugin_batch *batch = rig_batch(&r, &d);
  ck_assert_int_eq(pthread_create(&waiter, NULL, wait_for_ever, &r), 0);
  snprintf(script, sizeof script, "set devices 2\n%s\nlose at 1", api);
  ck_assert_ptr_null(fake.script(script));
  ck_assert_int_eq(rig_run(&r, batch, &completion), VYRE_ERR_DEVICE_LOST);
  ck_assert_int_eq(completion.status, VYRE_ERR_DEVICE_LOST);
  ck_assert_ptr_nonnull(strstr(completion.text, "Fix: "));
  ck_assert_int_eq(pthread_join(waiter, &answer), 0);
  ck_assert_int_eq((int)(intptr_t)answer, VYRE_ERR_DEVICE_LOST);
  everything_says_lost(&r);
  snprintf(script, sizeof script, "set devices 2\n%s", api);
  ck_assert_ptr_null(fake.script(script));
  rig_must(&other, try_everything(&other));
  r.ops->batch_destroy(batch);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(y);
  r.ops->executable_destroy(e);
  rig_close(&other);
  end(&r);
}

START_TEST(other_devices_go_on) { lose_one_of_two("set api 13"); }
END_TEST

START_TEST(other_devices_go_on_with_fences) { lose_one_of_two("set api 11"); }
END_TEST

/* ---- What is held back ----------------------------------------------------------------------- */

typedef struct small {
  vyre_plugin_executable *e;
  vyre_plugin_buffer *y;
  vyre_plugin_set *set;
  vyre_plugin_batch *batch;
} small;

static small make_small(rig *r) {
  uint32_t *map;
  const uint32_t k = 1;
  small s = { .e = rig_load(r, program), .y = rig_buffer(r, 4096, &map) };
  const vyre_bind binds[2] = { rig_bind(s.y, 256, 64), rig_bind(s.y, 256, 64) };
  s.set = rig_set(r, s.e, binds, 2, &k, 4);
  const vyre_dispatch d = rig_dispatch(s.e, s.set, 1, 1, 1);
  s.batch = rig_batch(r, &d);
  return s;
}

static void end_small(rig *r, small *s) {
  r->ops->batch_destroy(s->batch);
  r->ops->set_destroy(s->set);
  r->ops->buffer_destroy(s->y);
  r->ops->executable_destroy(s->e);
}

/* It can be handed over only once the host has signalled, and then that fails: the record says so, the point comes. */
static void fail_behind_a_gate(const char *api) {
  rig r;
  vyre_completion held, next;
  vyre_point held_end, next_end;
  vyre_plugin_timeline *gate;
  char script[96];
  begin(&r, api);
  small s = make_small(&r);
  rig_must(&r, r.ops->timeline_create(r.device, 0, &gate, &r.error));
  const vyre_point wait = { gate, 1 };
  vyre_submit first = rig_submit(&r, s.batch, &held_end, &held);
  first.waits = &wait;
  first.wait_count = 1;
  rig_must(&r, r.ops->submit(r.queue, &first, &r.error));
  vyre_submit second = rig_submit(&r, s.batch, &next_end, &next);
  rig_must(&r, r.ops->submit(r.queue, &second, &r.error));
  ck_assert_int_eq(r.ops->timeline_wait(r.timeline, next_end.value, 1000000, &r.error), VYRE_ERR_TIMEOUT);
  snprintf(script, sizeof script, "%s\nfail vkQueueSubmit VK_ERROR_OUT_OF_DEVICE_MEMORY at 1", api);
  ck_assert_ptr_null(fake.script(script));
  rig_must(&r, r.ops->timeline_signal(gate, 1, &r.error));
  rig_must(&r, r.ops->timeline_wait(r.timeline, held_end.value, UINT64_MAX, &r.error));
  ck_assert_int_eq(held.status, VYRE_ERR_NO_MEMORY);
  ck_assert_ptr_nonnull(strstr(held.text, "Fix: "));
  rig_must(&r, r.ops->timeline_wait(r.timeline, next_end.value, UINT64_MAX, &r.error));
  ck_assert_int_eq(next.status, VYRE_OK);
  r.ops->timeline_destroy(gate);
  end_small(&r, &s);
  end(&r);
}

START_TEST(work_that_fails_later_says_so_in_its_record) { fail_behind_a_gate("set api 13"); }
END_TEST

START_TEST(work_that_fails_later_says_so_in_its_record_with_fences) { fail_behind_a_gate("set api 11"); }
END_TEST

/* More queues than the device has, in a ring: each waits for the one before it and is submitted before it. */
static void ring_of_queues(const char *api) {
  enum { QUEUES = 12 };
  rig r;
  vyre_plugin_queue *queues[QUEUES];
  vyre_completion completions[QUEUES];
  vyre_plugin_timeline *t;
  begin(&r, api);
  small s = make_small(&r);
  rig_must(&r, r.ops->timeline_create(r.device, 0, &t, &r.error));
  for (int i = 0; i < QUEUES; i++) rig_must(&r, r.ops->queue_create(r.device, 0, &queues[i], &r.error));
  for (int i = QUEUES - 1; i >= 0; i--) {
    const vyre_point wait = { t, (uint64_t)i + 1 }, signal = { t, (uint64_t)i + 2 };
    completions[i] = (vyre_completion){ .size = sizeof *completions, .status = 1 };
    const vyre_submit submit = { .size = sizeof submit, .flags = i % 2 ? VYRE_SUBMIT_OVERLAP : 0, .batch = s.batch,
                                 .waits = &wait, .wait_count = 1, .signals = &signal, .signal_count = 1,
                                 .completion = &completions[i] };
    rig_must(&r, r.ops->submit(queues[i], &submit, &r.error));
  }
  ck_assert_int_eq(r.ops->timeline_wait(t, 2, 1000000, &r.error), VYRE_ERR_TIMEOUT);
  rig_must(&r, r.ops->timeline_signal(t, 1, &r.error));
  rig_must(&r, r.ops->timeline_wait(t, QUEUES + 1, UINT64_MAX, &r.error));
  for (int i = 0; i < QUEUES; i++) ck_assert_int_eq(completions[i].status, VYRE_OK);
  for (int i = 0; i < QUEUES; i++) r.ops->queue_destroy(queues[i]);
  r.ops->timeline_destroy(t);
  end_small(&r, &s);
  end(&r);
}

START_TEST(queues_wait_for_each_other) { ring_of_queues("set api 13"); }
END_TEST

START_TEST(queues_wait_for_each_other_with_fences) { ring_of_queues("set api 11"); }
END_TEST

/* ---- The hot path ---------------------------------------------------------------------------- */

static const char *const making[] = { "vkAllocateMemory",         "vkCreateBuffer",         "vkCreateCommandPool",
                                      "vkAllocateCommandBuffers", "vkBeginCommandBuffer",   "vkCreateDescriptorPool",
                                      "vkAllocateDescriptorSets", "vkUpdateDescriptorSets", "vkCreateQueryPool",
                                      "vkCreateSemaphore",        "vkCreateFence", "vkCreateComputePipelines" };

static void repeat(const char *api) {
  rig r;
  vyre_completion completion;
  begin(&r, api);
  small s = make_small(&r);
  rig_must(&r, rig_run(&r, s.batch, &completion));
  ck_assert_ptr_null(fake.script(api));
  for (int i = 0; i < 100; i++) rig_must(&r, rig_run(&r, s.batch, &completion));
  ck_assert_uint_eq(fake.calls("vkQueueSubmit"), 100);
  for (size_t i = 0; i < sizeof making / sizeof *making; i++)
    ck_assert_msg(fake.calls(making[i]) == 0, "%s is called when a batch is submitted again", making[i]);
  end_small(&r, &s);
  end(&r);
}

START_TEST(a_batch_that_is_submitted_again_makes_nothing) { repeat("set api 13"); }
END_TEST

START_TEST(a_batch_that_is_submitted_again_makes_nothing_with_fences) { repeat("set api 11"); }
END_TEST

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static bool gate_is_open;
static atomic_uint runs;

static void wait_at_gate(const fake_launch *launch) {
  (void)launch;
  pthread_mutex_lock(&gate_lock);
  while (!gate_is_open) pthread_cond_wait(&gate_moved, &gate_lock);
  pthread_mutex_unlock(&gate_lock);
  atomic_fetch_add(&runs, 1);
}

/* Pending many times at once; each ends with a record of its own, and no more is made than were pending. */
START_TEST(a_batch_is_pending_many_times) {
  enum { TIMES = 40 };
  rig r;
  vyre_completion completions[TIMES];
  vyre_point points[TIMES];
  begin(&r, "");
  small s = make_small(&r);
  fake.kernel("entry0", wait_at_gate);
  for (int i = 0; i < TIMES; i++) {
    vyre_submit submit = rig_submit(&r, s.batch, &points[i], &completions[i]);
    completions[i].status = 1;
    rig_must(&r, r.ops->submit(r.queue, &submit, &r.error));
  }
  ck_assert_int_eq(r.ops->timeline_wait(r.timeline, points[0].value, 1000000, &r.error), VYRE_ERR_TIMEOUT);
  for (int i = 0; i < TIMES; i++) ck_assert_int_eq(completions[i].status, 1);
  pthread_mutex_lock(&gate_lock);
  gate_is_open = true;
  pthread_cond_broadcast(&gate_moved);
  pthread_mutex_unlock(&gate_lock);
  rig_must(&r, r.ops->timeline_wait(r.timeline, points[TIMES - 1].value, UINT64_MAX, &r.error));
  for (int i = 0; i < TIMES; i++) ck_assert_int_eq(completions[i].status, VYRE_OK);
  ck_assert_uint_eq(atomic_load(&runs), TIMES);
  vyre_launch_report report = { .size = sizeof report };
  rig_must(&r, r.ops->executable_report(s.e, &report, &r.error));
  ck_assert_uint_eq(report.launches, TIMES);
  fake.kernel("entry0", NULL);
  end_small(&r, &s);
  end(&r);
}
END_TEST

/* ---- What is refused ------------------------------------------------------------------------- */

static void refused(rig *r, vyre_status status, vyre_status wanted, const char *word) {
  ck_assert_msg(status == wanted, "wanted %d, found %d: %s", wanted, status, r->error.text);
  ck_assert_msg(strstr(r->error.text, word) != NULL && strstr(r->error.text, "Fix: ") != NULL, "`%s` in: %s", word,
                r->error.text);
}

/* A device with 32 subgroups in a workgroup, of a size that is required where there are several. */
START_TEST(workgroups_of_too_many_subgroups_are_refused) {
  static const char *const texts[] = {
    "program few workgroup(1024) subgroup(32) { write r: u32[]; r[gid.x] = subgroup_add(lid.x); }",
    "program many workgroup(1024) subgroup(8) { write r: u32[]; r[gid.x] = subgroup_add(lid.x); }" };
  rig r;
  begin(&r, "set subgroup 32; set smallest 8");
  for (int i = 0; i < 2; i++) {
    vyre_plugin_executable *e = NULL;
    vyre_bytes code;
    rig_must(&r, rig_compile(&r, texts[i], &code));
    vyre_status status = r.ops->executable_load(r.device, code.data, code.length, &e, &r.error);
    if (i == 0) rig_must(&r, status);
    else refused(&r, status, VYRE_ERR_LIMIT, "256");
    if (e != NULL) r.ops->executable_destroy(e);
    free(code.data);
  }
  end(&r);
}
END_TEST

/* Where sizes can't be required, subgroups of one are made without any, and their number is no matter. */
START_TEST(a_size_is_required_only_where_that_can_be) {
  rig r;
  vyre_plugin_executable *e = NULL;
  vyre_bytes code;
  rig_setting("without", "subgroup_size_control");
  begin(&r, "set subgroup 32; set smallest 8");
  r.subgroup = 1;
  rig_must(&r, rig_compile(&r, "program ones workgroup(1024) { write r: u32[]; r[gid.x] = lid.x; }", &code));
  rig_must(&r, r.ops->executable_load(r.device, code.data, code.length, &e, &r.error));
  r.ops->executable_destroy(e);
  free(code.data);
  end(&r);
}
END_TEST

START_TEST(absurd_launches_are_refused) {
  rig r;
  vyre_plugin_batch *batch = NULL;
  begin(&r, "");
  small s = make_small(&r);
  vyre_dispatch d = rig_dispatch(s.e, s.set, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF);
  vyre_command c = { VYRE_COMMAND_DISPATCH, 0, &d };
  refused(&r, r.ops->batch_create(r.device, &c, 1, &batch, &r.error), VYRE_ERR_LIMIT, "4294967295");
  ck_assert_ptr_null(batch);
  d = rig_dispatch(s.e, s.set, 1, 1, 1);
  d.flags = VYRE_DISPATCH_PERSISTENT;
  refused(&r, r.ops->batch_create(r.device, &c, 1, &batch, &r.error), VYRE_ERR_UNSUPPORTED, "persistent");
  d.flags = 1u << 30;
  refused(&r, r.ops->batch_create(r.device, &c, 1, &batch, &r.error), VYRE_ERR_UNSUPPORTED, "0x40000000");
  d.flags = 0;
  d.work_budget = 1ull << 32;
  refused(&r, r.ops->batch_create(r.device, &c, 1, &batch, &r.error), VYRE_ERR_LIMIT, "4294967296");
  d.work_budget = 0;
  d.grid_buffer = s.y;
  d.grid_offset = 4096 - 8;
  refused(&r, r.ops->batch_create(r.device, &c, 1, &batch, &r.error), VYRE_ERR_INVALID_ARGUMENT, "grid");
  c.kind = 77;
  refused(&r, r.ops->batch_create(r.device, &c, 1, &batch, &r.error), VYRE_ERR_UNSUPPORTED, "77");
  end_small(&r, &s);
  end(&r);
}
END_TEST

START_TEST(bindings_that_do_not_fit_are_refused) {
  rig r;
  vyre_plugin_set *set = NULL;
  const uint32_t k = 1;
  begin(&r, "");
  small s = make_small(&r);
  vyre_bind binds[2] = { rig_bind(s.y, 256, 64), rig_bind(s.y, 256, 65) };
  vyre_set_request request = {
    .size = sizeof request, .bind_count = 2, .binds = binds, .params = &k, .param_bytes = 4
  };
  refused(&r, r.ops->set_create(s.e, &request, &set, &r.error), VYRE_ERR_INVALID_ARGUMENT, "65 elements");
  binds[1] = rig_bind(s.y, 8192, 64);
  refused(&r, r.ops->set_create(s.e, &request, &set, &r.error), VYRE_ERR_INVALID_ARGUMENT, "8192 bytes");
  binds[1] = rig_bind(s.y, 256, 64);
  binds[1].offset = 4;
  refused(&r, r.ops->set_create(s.e, &request, &set, &r.error), VYRE_ERR_INVALID_ARGUMENT, "byte 4");
  binds[1].offset = 0;
  binds[1].length_bits = 16;
  refused(&r, r.ops->set_create(s.e, &request, &set, &r.error), VYRE_ERR_INVALID_ARGUMENT, "16 bits");
  binds[1].length_bits = 0;
  binds[1].flags = 1u << 20;
  refused(&r, r.ops->set_create(s.e, &request, &set, &r.error), VYRE_ERR_UNSUPPORTED, "0x100000");
  binds[1].flags = 0;
  request.param_bytes = 8;
  refused(&r, r.ops->set_create(s.e, &request, &set, &r.error), VYRE_ERR_MISSING_BINDING, "8 were given");
  request.param_bytes = 4;
  request.bind_count = 1;
  refused(&r, r.ops->set_create(s.e, &request, &set, &r.error), VYRE_ERR_MISSING_BINDING, "1 were given");
  ck_assert_ptr_null(set);
  end_small(&r, &s);
  end(&r);
}
END_TEST

/* A submit that is refused has submitted nothing, and the batch is as it was. */
START_TEST(late_values_that_do_not_fit_are_refused) {
  rig r;
  vyre_completion completion;
  vyre_point point;
  begin(&r, "");
  small s = make_small(&r);
  vyre_bind binds[2] = { rig_bind(s.y, 256, 64), rig_bind(s.y, 256, 64) };
  binds[1].flags |= VYRE_BIND_LATE;
  vyre_plugin_set *set;
  const vyre_set_request request = { .size = sizeof request, .bind_count = 2, .binds = binds, .late_params = 1 };
  rig_must(&r, r.ops->set_create(s.e, &request, &set, &r.error));
  const vyre_dispatch d = rig_dispatch(s.e, set, 1, 1, 1);
  vyre_plugin_batch *batch = rig_batch(&r, &d);
  const uint32_t k = 1;
  uint64_t offsets[2] = { 0, 4096 };
  vyre_late late = { .command = 0, .params = &k, .offsets = offsets };
  vyre_submit submit = rig_submit(&r, batch, &point, &completion);
  ck_assert_ptr_null(fake.script(""));
  refused(&r, r.ops->submit(r.queue, &submit, &r.error), VYRE_ERR_MISSING_BINDING, "late");
  submit.late = &late;
  submit.late_count = 1;
  refused(&r, r.ops->submit(r.queue, &submit, &r.error), VYRE_ERR_INVALID_ARGUMENT, "byte 4096");
  offsets[1] = 8;
  refused(&r, r.ops->submit(r.queue, &submit, &r.error), VYRE_ERR_INVALID_ARGUMENT, "byte 8");
  submit.flags = 1u << 9;
  refused(&r, r.ops->submit(r.queue, &submit, &r.error), VYRE_ERR_UNSUPPORTED, "0x200");
  ck_assert_uint_eq(fake.calls("vkQueueSubmit"), 0);
  submit.flags = 0;
  offsets[1] = 256;
  rig_must(&r, r.ops->submit(r.queue, &submit, &r.error));
  rig_must(&r, r.ops->timeline_wait(r.timeline, point.value, UINT64_MAX, &r.error));
  ck_assert_int_eq(completion.status, VYRE_OK);
  r.ops->batch_destroy(batch);
  r.ops->set_destroy(set);
  end_small(&r, &s);
  end(&r);
}
END_TEST

/* ---- The driver's cache ---------------------------------------------------------------------- */

START_TEST(a_program_that_was_compiled_before_comes_from_the_cache) {
  rig r;
  begin(&r, "");
  const unsigned hits = rig_cache_hits, puts = rig_cache_puts;
  rig_must(&r, try_everything(&r));
  ck_assert_uint_eq(rig_cache_hits, hits + 2);
  ck_assert_uint_eq(rig_cache_puts, puts);
  ck_assert(rig_logged("from the cache"));
  end(&r);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("vulkan work, faults");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 120);
  suite_add_tcase(suite, all);
  tcase_add_test(all, each_call_may_run_out_of_memory);
  tcase_add_test(all, each_call_may_run_out_of_memory_with_fences);
  tcase_add_loop_test(all, each_call_may_lose_the_device, 0, sizeof losing / sizeof *losing);
  tcase_add_loop_test(all, each_call_may_lose_the_device_with_fences, 0, sizeof losing_fences / sizeof *losing_fences);
  const TTest *const tests[] = {
    other_devices_go_on, other_devices_go_on_with_fences, work_that_fails_later_says_so_in_its_record,
    work_that_fails_later_says_so_in_its_record_with_fences, queues_wait_for_each_other,
    queues_wait_for_each_other_with_fences, a_batch_that_is_submitted_again_makes_nothing,
    a_batch_that_is_submitted_again_makes_nothing_with_fences, a_batch_is_pending_many_times,
    workgroups_of_too_many_subgroups_are_refused, a_size_is_required_only_where_that_can_be,
    absurd_launches_are_refused, bindings_that_do_not_fit_are_refused, late_values_that_do_not_fit_are_refused,
    a_program_that_was_compiled_before_comes_from_the_cache
  };
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(all, tests[i]);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
