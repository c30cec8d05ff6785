/* Beside a persistent launch: the driver makes some calls wait for its end, which somebody has to bring about. None of
 * them is made before; what is asked for is refused by name, or done later. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/cuda/rig.h"
#include "tests/suite.h"

/* What closing beside another instance leaves to the context lives inside of the fake driver, which gives nothing back
 * with it: no leak of the plugin. The leak sanitizer asks here. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libcuda.so"; }

static const char waiting_program[] =
  "program waits workgroup(64) { param n: u32; read x: u32[]; rw y: u32[]; loop { if (should_stop()) { break; } }"
  " y[gid.x] = x[gid.x] + n; }";

/* ---- A launch that runs until it is stopped -------------------------------------------------- */

static uint32_t *stop_word;
static uint32_t has_begun, has_ended;
static int64_t modules_at_begin;

static void run_until_stopped(const fake_launch *l) {
  (void)l;
  modules_at_begin = fake.live("module");
  __atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(stop_word, __ATOMIC_ACQUIRE) == 0) continue;
  __atomic_store_n(&has_ended, 1, __ATOMIC_RELEASE);
}

typedef struct resident {
  rig r;
  vyre_plugin_buffer *stop;
  vyre_plugin_queue *queue;
  vyre_plugin_timeline *timeline;
  vyre_plugin_batch *batch;
  vyre_dispatch dispatch;
  vyre_completion completion;
} resident;

/* All but its submission. */
static void prepare(resident *p, const char *script) {
  vyre_error error = VYRE_ERROR_INIT;
  rig_load(script);
  fake.kernel("waits_0", run_until_stopped);
  rig_open(&p->r, waiting_program, 1);
  p->stop = rig_buffer(&p->r, 16, &stop_word);
  p->dispatch = (vyre_dispatch){ .size = sizeof p->dispatch, .flags = VYRE_DISPATCH_PERSISTENT,
                                 .executable = p->r.executable, .set = p->r.set, .grid = { 1, 1, 1 },
                                 .stop_buffer = p->stop };
  p->batch = rig_batch(&p->r, VYRE_COMMAND_DISPATCH, &p->dispatch);
  ck_assert_int_eq(ops->queue_create(p->r.device, VYRE_QUEUE_PERSISTENT, &p->queue, &error), VYRE_OK);
  ck_assert_int_eq(ops->timeline_create(p->r.device, 0, &p->timeline, &error), VYRE_OK);
}

static void submit(resident *p) {
  vyre_error error = VYRE_ERROR_INIT;
  p->completion = (vyre_completion){ .size = sizeof p->completion, .status = -1 };
  vyre_point end = { p->timeline, 1 };
  vyre_submit own = { .size = sizeof own, .batch = p->batch, .signals = &end, .signal_count = 1,
                      .completion = &p->completion };
  ck_assert_msg(ops->submit(p->queue, &own, &error) == VYRE_OK, "%s", error.text);
  while (__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE) == 0) continue;
}

static void stop(resident *p) {
  vyre_error error = VYRE_ERROR_INIT;
  __atomic_store_n(stop_word, 1, __ATOMIC_RELEASE);
  ck_assert_int_eq(ops->timeline_wait(p->timeline, 1, 60000000000u, &error), VYRE_OK);
  ck_assert_int_eq(p->completion.status, VYRE_OK);
}

static void finish(resident *p) {
  ops->queue_destroy(p->queue);
  ops->timeline_destroy(p->timeline);
  ops->batch_destroy(p->batch);
  ops->buffer_destroy(p->stop);
  rig_close(&p->r);
}

static vyre_status load(rig *r, const char *text, vyre_plugin_executable **out, vyre_error *error) {
  vyre_capabilities record = { .size = sizeof record };
  ck_assert_int_eq(ops->profile(&host, 0, &record, NULL), VYRE_OK);
  vyre_bytes blob = rig_compile(&record, text);
  vyre_status status = ops->executable_load(r->device, blob.data, blob.length, out, error);
  free(blob.data);
  return status;
}

static void wants_word(const vyre_error *error, const char *word) {
  ck_assert_msg(strstr(error->text, word) != NULL, "%s is not in: %s", word, error->text);
}

/* ---- What the launch itself keeps to --------------------------------------------------------- */

START_TEST(it_runs_until_it_is_stopped) {
  resident p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_batch *many = NULL;
  prepare(&p, "");
  vyre_submit wrong = { .size = sizeof wrong, .batch = p.batch };
  rig_wants("a usual queue", ops->submit(p.r.queue, &wrong, &error), VYRE_ERR_INVALID_ARGUMENT, &error);
  submit(&p);
  rig_wants("while it runs", ops->timeline_wait(p.timeline, 1, 1000000, &error), VYRE_ERR_TIMEOUT, &error);
  stop(&p);
  p.dispatch.grid[0] = 32 * 4 + 1;
  vyre_command command = { VYRE_COMMAND_DISPATCH, 0, &p.dispatch };
  rig_wants("too many workgroups", ops->batch_create(p.r.device, &command, 1, &many, &error), VYRE_ERR_LIMIT, &error);
  wants_word(&error, "129 workgroups");
  wants_word(&error, "128 fit");
  finish(&p);
  rig_nothing_lives("after a persistent launch");
}
END_TEST

/* ---- Loading --------------------------------------------------------------------------------- */

START_TEST(loading_beside_it_is_refused_by_name) {
  resident p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_executable *other = NULL, *before = NULL, *again = NULL;
  prepare(&p, "set name \"A name\"");
  ck_assert_int_eq(load(&p.r, rig_program, &before, &error), VYRE_OK);
  submit(&p);
  uint64_t calls = fake.calls("cuModuleLoadDataEx");
  static const char text[] = "program other workgroup(64) { rw y: u32[]; y[gid.x] = gid.x; }";
  other = (void *)&error;
  rig_wants("another program", load(&p.r, text, &other, &error), VYRE_ERR_BUSY, &error);
  ck_assert_ptr_null(other);
  ck_assert_str_eq(error.where, "other");
  wants_word(&error, "launch of waits");
  wants_word(&error, "A name");
  ck_assert_uint_eq(fake.calls("cuModuleLoadDataEx"), calls);
  ck_assert_msg(load(&p.r, rig_program, &again, &error) == VYRE_OK, "one that is loaded: %s", error.text);
  stop(&p);
  ck_assert_msg(load(&p.r, text, &other, &error) == VYRE_OK, "afterwards: %s", error.text);
  ops->executable_destroy(other);
  ops->executable_destroy(again);
  ops->executable_destroy(before);
  finish(&p);
  rig_nothing_lives("after loading beside a persistent launch");
}
END_TEST

/* One that ended, but nobody has looked, is no reason to refuse. */
START_TEST(loading_sees_that_it_has_ended) {
  resident p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_executable *other = NULL;
  prepare(&p, "");
  submit(&p);
  __atomic_store_n(stop_word, 1, __ATOMIC_RELEASE);
  vyre_status status;
  while ((status = load(&p.r, rig_program, &other, &error)) == VYRE_ERR_BUSY) continue;
  ck_assert_msg(status == VYRE_OK, "%s", error.text);
  ops->executable_destroy(other);
  finish(&p);
  rig_nothing_lives("after an end that nobody looked for");
}
END_TEST

static vyre_plugin_batch *with_timestamp(rig *r, vyre_status wanted) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_batch *batch = NULL;
  vyre_timestamp first = { sizeof first, 0 };
  vyre_command command = { VYRE_COMMAND_TIMESTAMP, 0, &first };
  rig_wants("a timestamp", ops->batch_create(r->device, &command, 1, &batch, &error), wanted, &error);
  return batch;
}

/* Code of the plugin's own is there before, and a batch that needs other code of its program is refused. */
START_TEST(batches_are_made_beside_it) {
  resident p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_completion completion;
  vyre_plugin_executable *before = NULL;
  vyre_plugin_set *set = NULL;
  vyre_plugin_batch *batch = NULL;
  uint32_t *words;
  static const uint32_t n = 7;
  prepare(&p, "");
  ck_assert_int_eq(load(&p.r, rig_program, &before, &error), VYRE_OK);
  vyre_plugin_buffer *counts = rig_buffer(&p.r, 16, &words);
  words[0] = RIG_GROUPS;
  words[1] = words[2] = 1;
  vyre_bind binds[2] = { { .buffer = p.r.x, .bytes = 4 * RIG_ELEMENTS, .elements = RIG_ELEMENTS },
                         { .flags = VYRE_BIND_WRITTEN, .buffer = p.r.y, .bytes = 4 * RIG_ELEMENTS,
                           .elements = RIG_ELEMENTS } };
  vyre_set_request request = { .size = sizeof request, .bind_count = 2, .binds = binds, .params = &n,
                               .param_bytes = 4 };
  ck_assert_int_eq(ops->set_create(before, &request, &set, &error), VYRE_OK);
  submit(&p);
  vyre_plugin_batch *times = with_timestamp(&p.r, VYRE_OK);
  ck_assert_int_eq(rig_run(&p.r, times, &completion, &error), VYRE_OK);
  vyre_dispatch d = { .size = sizeof d, .executable = before, .set = set, .grid = { RIG_GROUPS, 1, 1 } };
  vyre_plugin_batch *plain = rig_batch(&p.r, VYRE_COMMAND_DISPATCH, &d);
  ck_assert_int_eq(rig_run(&p.r, plain, &completion, &error), VYRE_OK);
  for (uint32_t i = 0; i < RIG_ELEMENTS; i++) ck_assert_uint_eq(p.r.y_words[i], i * 0x9E3779B1u * 3 + 7);
  d.grid_buffer = counts;
  vyre_command command = { VYRE_COMMAND_DISPATCH, 0, &d };
  rig_wants("a grid in memory", ops->batch_create(p.r.device, &command, 1, &batch, &error), VYRE_ERR_BUSY, &error);
  ck_assert_ptr_null(batch);
  stop(&p);
  ck_assert_msg(ops->batch_create(p.r.device, &command, 1, &batch, &error) == VYRE_OK, "%s", error.text);
  ck_assert_int_eq(rig_run(&p.r, batch, &completion, &error), VYRE_OK);
  ops->batch_destroy(batch);
  ops->batch_destroy(plain);
  ops->batch_destroy(times);
  ops->set_destroy(set);
  ops->buffer_destroy(counts);
  ops->executable_destroy(before);
  finish(&p);
  rig_nothing_lives("after batches beside a persistent launch");
}
END_TEST

/* A load that has begun before a persistent launch is submitted ends before that begins: here the driver makes it wait
 * for a usual kernel, which goes on until it is told to end. */
static uint32_t may_end;
static void run_until_told(const fake_launch *l) {
  (void)l;
  while (__atomic_load_n(&may_end, __ATOMIC_ACQUIRE) == 0) continue;
}

static void *load_another(void *ctx) {
  resident *p = ctx;
  vyre_error error = VYRE_ERROR_INIT;
  static vyre_plugin_executable *other;
  vyre_status status = load(&p->r, "program other workgroup(64) { rw y: u32[]; y[gid.x] = gid.x; }", &other, &error);
  return status == VYRE_OK ? other : NULL;
}

static void *end_soon(void *ctx) {
  nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL); /* the submit may be there by then; right either way */
  __atomic_store_n(&may_end, 1, __ATOMIC_RELEASE);
  return ctx;
}

START_TEST(a_load_that_has_begun_ends_first) {
  resident p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_executable *slow = NULL;
  vyre_plugin_set *set = NULL;
  pthread_t loader, ender;
  void *other;
  prepare(&p, "");
  fake.kernel("slow_0", run_until_told);
  ck_assert_int_eq(load(&p.r, "program slow workgroup(64) { rw y: u32[]; y[gid.x] = gid.x; }", &slow, &error), VYRE_OK);
  vyre_bind bind = { .flags = VYRE_BIND_WRITTEN, .buffer = p.r.y, .bytes = 4 * RIG_ELEMENTS, .elements = RIG_ELEMENTS };
  vyre_set_request request = { .size = sizeof request, .bind_count = 1, .binds = &bind };
  ck_assert_int_eq(ops->set_create(slow, &request, &set, &error), VYRE_OK);
  vyre_dispatch d = { .size = sizeof d, .executable = slow, .set = set, .grid = { RIG_GROUPS, 1, 1 } };
  vyre_plugin_batch *batch = rig_batch(&p.r, VYRE_COMMAND_DISPATCH, &d);
  vyre_point end = { p.r.timeline, ++p.r.value };
  vyre_submit own = { .size = sizeof own, .batch = batch, .signals = &end, .signal_count = 1 };
  ck_assert_int_eq(ops->submit(p.r.queue, &own, &error), VYRE_OK);
  int64_t modules = fake.live("module");
  uint64_t calls = fake.calls("cuModuleLoadDataEx");
  pthread_create(&loader, NULL, load_another, &p);
  while (fake.calls("cuModuleLoadDataEx") == calls) continue;
  pthread_create(&ender, NULL, end_soon, NULL);
  submit(&p);
  ck_assert_int_eq(modules_at_begin, modules + 1);
  pthread_join(loader, &other);
  pthread_join(ender, NULL);
  ck_assert_ptr_nonnull(other);
  stop(&p);
  ck_assert_int_eq(ops->timeline_wait(p.r.timeline, p.r.value, 60000000000u, &error), VYRE_OK);
  ops->batch_destroy(batch);
  ops->set_destroy(set);
  ops->executable_destroy(slow);
  ops->executable_destroy(other);
  finish(&p);
  rig_nothing_lives("after a load and a persistent launch at the same time");
}
END_TEST

/* ---- Giving back ----------------------------------------------------------------------------- */

/* Calls that wait, made so far. */
static uint64_t waiting_calls(void) {
  return fake.calls("cuMemFree") + fake.calls("cuMemFreeHost") + fake.calls("cuMemHostUnregister") +
         fake.calls("cuModuleUnload");
}

static vyre_status make_buffer(rig *r, uint32_t properties, uint32_t kind, void *memory, uint64_t bytes,
                               vyre_plugin_buffer **out, vyre_error *error) {
  vyre_buffer_request request = { .size = sizeof request, .properties = properties, .kind = kind,
                                  .handle = (uintptr_t)memory, .bytes = bytes };
  *out = NULL;
  return ops->buffer_create(r->device, &request, out, error);
}

enum { LARGE = 3 << 20, PAGES = 4096 };

/* One of each kind, made before and destroyed beside it. */
START_TEST(what_is_destroyed_beside_it_goes_back_later) {
  static const char *const scripts[] = { "", "set attribute115 0" }; /* with pools of the driver, and without */
  const uint32_t reached = VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE;
  resident p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_buffer *pinned, *local, *imported, *again;
  vyre_plugin_executable *other = NULL;
  prepare(&p, scripts[_i]);
  void *memory = aligned_alloc(PAGES, PAGES), *elsewhere = aligned_alloc(PAGES, PAGES);
  ck_assert_int_eq(load(&p.r, rig_program, &other, &error), VYRE_OK);
  ck_assert_int_eq(make_buffer(&p.r, reached, VYRE_HANDLE_NONE, NULL, LARGE, &pinned, &error), VYRE_OK);
  ck_assert_int_eq(make_buffer(&p.r, 0, VYRE_HANDLE_HOST_POINTER, memory, PAGES, &imported, &error), VYRE_OK);
  submit(&p);
  uint64_t calls = waiting_calls();
  int64_t modules = fake.live("module"), blocks = fake.live("memory");
  vyre_status status = make_buffer(&p.r, VYRE_MEMORY_DEVICE_LOCAL, VYRE_HANDLE_NONE, NULL, LARGE, &local, &error);
  ck_assert_int_eq(status, VYRE_OK);
  ops->buffer_destroy(local);
  ops->buffer_destroy(pinned);
  ops->buffer_destroy(imported);
  ops->executable_destroy(other);
  ck_assert_uint_eq(waiting_calls(), calls);
  ck_assert_int_eq(fake.live("module"), modules);
  status = make_buffer(&p.r, 0, VYRE_HANDLE_HOST_POINTER, memory, PAGES, &again, &error);
  rig_wants("pages that are still registered", status, VYRE_ERR_BUSY, &error);
  ck_assert_ptr_null(again);
  status = make_buffer(&p.r, 0, VYRE_HANDLE_HOST_POINTER, elsewhere, PAGES, &imported, &error);
  ck_assert_msg(status == VYRE_OK, "other pages: %s", error.text);
  stop(&p);
  status = make_buffer(&p.r, 0, VYRE_HANDLE_HOST_POINTER, memory, PAGES, &again, &error);
  ck_assert_msg(status == VYRE_OK, "afterwards: %s", error.text);
  ops->buffer_destroy(again);
  ops->buffer_destroy(imported);
  ck_assert_int_eq(fake.live("memory"), blocks - 2);
  ck_assert_int_eq(fake.live("module"), modules - 1);
  finish(&p);
  rig_nothing_lives("after what was destroyed beside a persistent launch");
  free(memory);
  free(elsewhere);
}
END_TEST

/* Who makes and destroys beside it for ever takes no more and more. */
START_TEST(pinned_memory_is_used_again) {
  enum { ROUNDS = 50 };
  resident p;
  uint32_t *words;
  prepare(&p, "");
  submit(&p);
  uint64_t calls = fake.calls("cuMemHostAlloc");
  for (int i = 0; i < ROUNDS; i++) {
    vyre_plugin_buffer *buffer = rig_buffer(&p.r, LARGE, &words);
    for (uint32_t w = 0; w < LARGE / 4; w += 1023) ck_assert_uint_eq(words[w], 0);
    memset(words, 0xEE, LARGE);
    ops->buffer_destroy(buffer);
  }
  ck_assert_uint_eq(fake.calls("cuMemHostAlloc"), calls + 1);
  stop(&p);
  finish(&p);
  rig_nothing_lives("after pinned memory that was used again");
}
END_TEST

/* Few and small ones stay for the next; large and many go back. */
START_TEST(little_pinned_memory_is_kept) {
  enum { SMALL = 4096, COUNT = 400 };
  rig r;
  uint32_t *words;
  static vyre_plugin_buffer *many[COUNT];
  rig_load("");
  rig_open(&r, rig_program, 1);
  int64_t before = fake.live("memory");
  ops->buffer_destroy(rig_buffer(&r, LARGE, &words));
  ck_assert_int_eq(fake.live("memory"), before);
  ops->buffer_destroy(rig_buffer(&r, SMALL, &words));
  ck_assert_int_eq(fake.live("memory"), before + 1);
  for (uint32_t i = 0; i < COUNT; i++) many[i] = rig_buffer(&r, SMALL + 16 * i, &words);
  for (uint32_t i = 0; i < COUNT; i++) ops->buffer_destroy(many[i]);
  ck_assert_int_gt(fake.live("memory"), before + 1);
  ck_assert_int_le(fake.live("memory"), before + (1 << 20) / SMALL);
  rig_check(&r, 5);
  rig_close(&r);
  rig_nothing_lives("after pinned memory that was kept");
}
END_TEST

/* ---- Several instances ----------------------------------------------------------------------- */

/* All have the context of the GPU in common, so also what waits there. */
START_TEST(another_instance_on_the_same_device) {
  resident p;
  rig second;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_executable *other = NULL;
  prepare(&p, "");
  rig_open(&second, rig_program, 1);
  submit(&p);
  rig_check(&second, 5);
  vyre_status status = load(&second, "program other workgroup(64) { rw y: u32[]; y[gid.x] = gid.x; }", &other, &error);
  rig_wants("loading", status, VYRE_ERR_BUSY, &error);
  wants_word(&error, "another instance");
  uint64_t calls = waiting_calls();
  rig_close(&second);
  ck_assert_uint_eq(waiting_calls(), calls);
  stop(&p);
  finish(&p);
  ck_assert_int_eq(fake.live("context"), 0); /* with which all goes that could not be given back */
}
END_TEST

/* A device that is lost has no launch that runs. */
START_TEST(loss_ends_it) {
  resident p;
  vyre_error error = VYRE_ERROR_INIT;
  rig again;
  prepare(&p, "");
  submit(&p);
  __atomic_store_n(stop_word, 1, __ATOMIC_RELEASE); /* what runs on the fake device would go on, and read it */
  while (__atomic_load_n(&has_ended, __ATOMIC_ACQUIRE) == 0) continue;
  rig_script("fail cuEventQuery CUDA_ERROR_ILLEGAL_ADDRESS");
  rig_wants("lost", ops->timeline_wait(p.timeline, 1, 60000000000u, &error), VYRE_ERR_DEVICE_LOST, &error);
  ck_assert_int_eq(p.completion.status, VYRE_ERR_DEVICE_LOST);
  finish(&p);
  rig_script("");
  rig_open(&again, rig_program, 1);
  rig_check(&again, 5);
  rig_close(&again);
  ck_assert_int_eq(fake.live("context"), 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cuda persistent");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 120);
  suite_add_tcase(suite, all);
  tcase_add_test(all, it_runs_until_it_is_stopped);
  tcase_add_test(all, loading_beside_it_is_refused_by_name);
  tcase_add_test(all, loading_sees_that_it_has_ended);
  tcase_add_test(all, batches_are_made_beside_it);
  tcase_add_test(all, a_load_that_has_begun_ends_first);
  tcase_add_loop_test(all, what_is_destroyed_beside_it_goes_back_later, 0, 2);
  tcase_add_test(all, pinned_memory_is_used_again);
  tcase_add_test(all, little_pinned_memory_is_kept);
  tcase_add_test(all, another_instance_on_the_same_device);
  tcase_add_test(all, loss_ends_it);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
