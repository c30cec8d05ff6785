/* Objects of a device: memory, what plugins answer, batches, and all of them in many threads and in a child process. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "adder.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

START_TEST(memory_by_property) {
  bench b = bench_fake("sound");
  vyre_buffer *m;
  void *map;
  OK(vyre_buffer_create(b.device, 0, 0, &m, &error));
  ck_assert_uint_eq(vyre_buffer_bytes(m), 0);
  ck_assert_uint_eq(vyre_buffer_properties(m), VYRE_MEMORY_DEVICE_LOCAL);
  REFUSED(vyre_buffer_map(m, &map, &error), VYRE_ERR_UNSUPPORTED, "host_read");
  vyre_buffer_destroy(m);
  OK(vyre_buffer_create(b.device, 100, VYRE_MEMORY_CONCURRENT, &m, &error));
  OK(vyre_buffer_map(m, &map, &error));
  memset(map, 7, 100);
  ck_assert_uint_eq(word(m, 24), 0x07070707);
  OK(vyre_buffer_flush(m, 0, 100, &error));
  REFUSED(vyre_buffer_flush(m, 1, 100, &error), VYRE_ERR_OUT_OF_RANGE, "100 bytes from byte 1");
  REFUSED(vyre_buffer_invalidate(m, 101, 0, &error), VYRE_ERR_OUT_OF_RANGE, "has 100");
  vyre_buffer_destroy(m);
  REFUSED(vyre_buffer_create(b.device, 16, VYRE_MEMORY_DEVICE_LOCAL | VYRE_MEMORY_HOST_READ, &m, &error),
          VYRE_ERR_UNSUPPORTED,
          "device_local+host_read; it has device_local, host_read+host_write+coherent+concurrent");
  REFUSED(vyre_buffer_create(b.device, (1 << 24) + 1, 0, &m, &error), VYRE_ERR_LIMIT, "at most 16777216");
  REFUSED(vyre_buffer_create(b.device, UINT64_MAX, 0, &m, &error), VYRE_ERR_LIMIT, "at most 16777216");
  ck_assert_ptr_null(m);
  ck_assert_uint_eq(live_objects(b.device), 0);
  bench_end(&b);
}
END_TEST

START_TEST(memory_out_of_reach_is_staged) {
  enum { BYTES = (9 << 20) + 5 };
  bench b = bench_fake("sound");
  vyre_buffer *m;
  unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
  for (uint32_t i = 0; i < BYTES; i++) out[i] = (unsigned char)(i * 2654435761u >> 24);
  OK(vyre_buffer_create(b.device, BYTES, VYRE_MEMORY_DEVICE_LOCAL, &m, &error));
  OK(vyre_buffer_write(m, 0, out, BYTES, &error));
  OK(vyre_buffer_read(m, 0, in, BYTES, &error));
  ck_assert_mem_eq(out, in, BYTES);
  OK(vyre_buffer_write(m, 7, "middle", 6, &error));
  OK(vyre_buffer_read(m, 6, in, 8, &error));
  ck_assert_mem_eq(in + 1, "middle", 6);
  ck_assert_uint_eq(in[0], out[6]);
  ck_assert_uint_eq(in[7], out[13]);
  REFUSED(vyre_buffer_write(m, BYTES, "x", 1, &error), VYRE_ERR_OUT_OF_RANGE, "stay inside");
  REFUSED(vyre_buffer_read(m, UINT64_MAX, in, 2, &error), VYRE_ERR_OUT_OF_RANGE, "stay inside");
  OK(vyre_buffer_write(m, BYTES, "", 0, &error));
  vyre_buffer_destroy(m);
  free(in);
  free(out);
  bench_end(&b);
}
END_TEST

static void released(void *ctx, uint64_t handle) { *(uint64_t *)ctx += handle; }

START_TEST(imported_memory) {
  bench b = bench_fake("sound");
  _Alignas(16) uint32_t memory[8] = { 1, 2, 3, 4 };
  uint64_t freed = 0;
  vyre_buffer *m;
  vyre_import import = { .size = sizeof import, .kind = VYRE_HANDLE_HOST_POINTER, .handle = (uintptr_t)memory,
                         .bytes = 32, .release = released, .release_ctx = &freed };
  OK(vyre_buffer_import(b.device, &import, &m, &error));
  ck_assert_uint_eq(word(m, 2), 3);
  vyre_buffer_destroy(m);
  ck_assert_uint_eq(freed, (uintptr_t)memory);
  import.bytes = 20;
  REFUSED(vyre_buffer_import(b.device, &import, &m, &error), VYRE_ERR_INVALID_ARGUMENT, "20 bytes");
  import.bytes = 16;
  import.handle += 4;
  REFUSED(vyre_buffer_import(b.device, &import, &m, &error), VYRE_ERR_INVALID_ARGUMENT, "multiples of 16");
  import.kind = VYRE_HANDLE_FD;
  REFUSED(vyre_buffer_import(b.device, &import, &m, &error), VYRE_ERR_UNSUPPORTED, "kind 2");
  import.size = 0;
  REFUSED(vyre_buffer_import(b.device, &import, &m, &error), VYRE_ERR_INVALID_ARGUMENT, "size 0");
  ck_assert_uint_eq(freed, (uintptr_t)memory); /* a failed import releases nothing */
  OK(vyre_buffer_create(b.device, 16, 0, &m, &error));
  uint64_t handle;
  REFUSED(vyre_buffer_export(m, VYRE_HANDLE_FD, &handle, &error), VYRE_ERR_UNSUPPORTED, "kind 2");
  vyre_buffer_destroy(m);
  bench_end(&b);
}
END_TEST

/* ---- What plugins answer --------------------------------------------------------------------- */

START_TEST(numbers_that_are_no_status_reach_nobody) {
  bench b = bench_fake("oddcompile");
  vyre_program *program = program_of(ADDER);
  vyre_executable *e;
  REFUSED(vyre_compile(b.device, program, NULL, &e, &error), VYRE_ERR_BROKEN_PLUGIN, "answers 1, which is no status");
  ck_assert_ptr_null(e);
  vyre_program_release(program);
  bench_end(&b);
  b = bench_fake("oddend");
  adder a = adder_for(&b);
  vyre_submission *s;
  vyre_completion c = { .size = sizeof c };
  OK(vyre_queue_dispatch(a.queue, a.set, one, &s, &error));
  REFUSED(vyre_submission_wait(s, VYRE_FOREVER, &error), VYRE_ERR_BROKEN_PLUGIN, "with -12345, which is no status");
  OK(vyre_submission_completion(s, &c, &error));
  ck_assert_int_eq(c.status, VYRE_ERR_BROKEN_PLUGIN);
  vyre_submission_destroy(s);
  adder_end(&a);
  bench_end(&b);
}
END_TEST

START_TEST(texts_of_plugins_end) {
  bench b = bench_fake("endless");
  vyre_executable *e = compile(&b, ADDER);
  uint64_t workgroups;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_executable_max_resident(e, &workgroups, &error), VYRE_ERR_LIMIT);
  ck_assert_uint_eq(strlen(error.text), sizeof error.text - 1);
  ck_assert_int_eq(vyre_executable_max_resident(e, &workgroups, NULL), VYRE_ERR_LIMIT);
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

/* ---- Batches --------------------------------------------------------------------------------- */

START_TEST(commands_run_in_order) {
  bench b = bench_fake("sound");
  adder a = adder_for(&b);
  vyre_buffer *copy;
  vyre_batch *batch;
  vyre_submission *s;
  uint64_t stamp;
  OK(vyre_buffer_create(b.device, 64, HOST, &copy, &error));
  OK(vyre_batch_create(b.device, &batch, &error));
  OK(vyre_batch_timestamp(batch, &error));
  OK(vyre_batch_fill(batch, a.y, 0, 16, 41, &error));
  OK(vyre_batch_order(batch, &error));
  OK(vyre_batch_dispatch(batch, a.set, one, &error));
  OK(vyre_batch_dispatch(batch, a.set, (uint64_t[]){ 5, 0, 5 }, &error)); /* nothing */
  OK(vyre_batch_order(batch, &error));
  OK(vyre_batch_copy(batch, a.y, 0, copy, 32, 16, &error));
  OK(vyre_batch_copy(batch, a.y, 16, copy, 64, 0, &error));
  OK(vyre_batch_timestamp(batch, &error));
  OK(vyre_queue_submit(a.queue, batch, NULL, &s, &error));
  OK(vyre_submission_wait(s, VYRE_FOREVER, &error));
  ck_assert_uint_eq(word(copy, 8), 42);
  ck_assert_uint_eq(word(copy, 7), 0);
  OK(vyre_submission_timestamp(s, 1, &stamp, &error));
  ck_assert_uint_eq(stamp, 1001);
  REFUSED(vyre_submission_timestamp(s, 2, &stamp, &error), VYRE_ERR_NOT_FOUND, "2 timestamps");
  vyre_completion c = { .size = sizeof c };
  OK(vyre_submission_completion(s, &c, &error));
  ck_assert_int_eq(c.status, VYRE_OK);
  ck_assert_uint_eq(c.masked_loads, VYRE_NOT_COUNTED);
  vyre_submission_destroy(s);
  REFUSED(vyre_batch_order(batch, &error), VYRE_ERR_BUSY, "takes no more commands");
  OK(vyre_queue_submit(a.queue, batch, NULL, NULL, &error)); /* again, and nobody asks */
  OK(vyre_queue_wait(a.queue, VYRE_FOREVER, &error));
  ck_assert_uint_eq(word(copy, 8), 42);
  vyre_batch_destroy(batch);
  vyre_buffer_destroy(copy);
  adder_end(&a);
  ck_assert_uint_eq(live_objects(b.device), 0);
  bench_end(&b);
}
END_TEST

START_TEST(commands_that_are_refused) {
  bench b = bench_fake("sound"), other = b;
  vyre_buffer *m, *foreign;
  vyre_batch *batch;
  vyre_queue *queue;
  OK(vyre_device_open(b.context, "sound:1", &other.device, &error));
  OK(vyre_buffer_create(b.device, 64, 0, &m, &error));
  OK(vyre_buffer_create(other.device, 64, 0, &foreign, &error));
  OK(vyre_batch_create(b.device, &batch, &error));
  REFUSED(vyre_batch_copy(batch, m, 0, m, 8, 16, &error), VYRE_ERR_ALIASED, "overlap");
  OK(vyre_batch_copy(batch, m, 0, m, 16, 16, &error));
  REFUSED(vyre_batch_copy(batch, m, 60, m, 0, 8, &error), VYRE_ERR_OUT_OF_RANGE, "from byte 60");
  REFUSED(vyre_batch_copy(batch, m, 0, m, 60, 8, &error), VYRE_ERR_OUT_OF_RANGE, "from byte 60");
  REFUSED(vyre_batch_copy(batch, m, 0, foreign, 0, 8, &error), VYRE_ERR_UNSUPPORTED, "peer_copy");
  REFUSED(vyre_batch_fill(batch, m, 2, 8, 0, &error), VYRE_ERR_INVALID_ARGUMENT, "multiples of 4");
  REFUSED(vyre_batch_fill(batch, m, 0, 68, 0, &error), VYRE_ERR_OUT_OF_RANGE, "68 bytes");
  REFUSED(vyre_batch_fill(batch, foreign, 0, 8, 0, &error), VYRE_ERR_INVALID_ARGUMENT, "same device");
  OK(vyre_queue_create(other.device, &queue, &error));
  REFUSED(vyre_queue_submit(queue, batch, NULL, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "another device");
  vyre_queue_destroy(queue);
  vyre_batch_destroy(batch);
  vyre_buffer_destroy(m);
  vyre_buffer_destroy(foreign);
  OK(vyre_device_close(other.device, 0, &error));
  bench_end(&b);
}
END_TEST

START_TEST(late_values) {
  bench b = bench_fake("sound");
  vyre_executable *e =
      compile(&b, "program p { param k: u32; param c: u32; rw y: u32[]; read x: u32[]; y[0] = x[k]; }");
  vyre_buffer *m;
  vyre_set *set;
  vyre_batch *batch;
  vyre_queue *queue;
  OK(vyre_buffer_create(b.device, 256, HOST, &m, &error));
  vyre_arg args[] = { vyre_arg_u32("k", 0), vyre_arg_u32("c", 9), vyre_arg_range("y", m, 0, 4),
                      vyre_arg_range("x", m, 192, 16) };
  args[0].flags = args[2].flags = VYRE_ARG_LATE;
  OK(vyre_set_create(e, args, 4, &set, &error));
  OK(vyre_batch_create(b.device, &batch, &error));
  OK(vyre_batch_order(batch, &error));
  OK(vyre_batch_dispatch(batch, set, one, &error));
  OK(vyre_queue_create(b.device, &queue, &error));
  vyre_arg values[] = { vyre_arg_u32("k", 3), vyre_arg_range("y", NULL, 64, 0) };
  values[1].kind = VYRE_ARG_BUFFER;
  vyre_late_args late = { .command = 1, .count = 2, .args = values };
  vyre_submit_options options = { .size = sizeof options, .late = &late, .late_count = 1 };
  REFUSED(vyre_queue_submit(queue, batch, NULL, NULL, &error), VYRE_ERR_MISSING_BINDING, "1 dispatches");
  OK(vyre_batch_order(batch, &error)); /* nothing was submitted, so it takes commands still */
  OK(vyre_queue_submit(queue, batch, &options, NULL, &error));
  values[1].offset = 192;
  REFUSED(vyre_queue_submit(queue, batch, &options, NULL, &error), VYRE_ERR_ALIASED, "overlap");
  values[1].offset = 256;
  REFUSED(vyre_queue_submit(queue, batch, &options, NULL, &error), VYRE_ERR_OUT_OF_RANGE, "16 bytes from byte 256");
  values[1].offset = 4;
  REFUSED(vyre_queue_submit(queue, batch, &options, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "multiples of 64");
  values[1].offset = 128;
  values[0] = vyre_arg_f32("k", 3);
  REFUSED(vyre_queue_submit(queue, batch, &options, NULL, &error), VYRE_ERR_MISSING_BINDING, "given a f32");
  values[0] = vyre_arg_u32("c", 3);
  REFUSED(vyre_queue_submit(queue, batch, &options, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "not declare it late");
  values[0] = values[1];
  REFUSED(vyre_queue_submit(queue, batch, &options, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "y is given twice");
  late.count = 1;
  REFUSED(vyre_queue_submit(queue, batch, &options, NULL, &error), VYRE_ERR_MISSING_BINDING, "1 values are given");
  late.command = 0;
  REFUSED(vyre_queue_submit(queue, batch, &options, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "command 0");
  REFUSED(vyre_queue_submit(queue, batch, NULL, NULL, &error), VYRE_ERR_MISSING_BINDING, "wait for late values");
  vyre_queue_destroy(queue);
  vyre_batch_destroy(batch);
  vyre_set_destroy(set);
  vyre_buffer_destroy(m);
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

/* ---- Ready batches, many threads, fork ------------------------------------------------------- */

START_TEST(one_set_dispatched_with_changing_grids) {
  bench b = bench_fake("sound");
  adder a = adder_for(&b);
  for (uint64_t i = 0; i < 20; i++)
    OK(vyre_queue_dispatch(a.queue, a.set, (uint64_t[]){ 1 + i / 5, 1, 1 }, NULL, &error));
  OK(vyre_queue_wait(a.queue, VYRE_FOREVER, &error));
  ck_assert_uint_eq(word(a.y, 0), 20);
  vyre_launch_report report = { .size = sizeof report };
  OK(vyre_executable_report(a.executable, &report, &error));
  ck_assert_uint_eq(report.launches, 20);
  adder_end(&a);
  ck_assert_uint_eq(live_objects(b.device), 0);
  bench_end(&b);
}
END_TEST

typedef struct worker {
  const bench *bench;
  const adder *adder;
  int failures;
} worker;

static void *work(void *ctx) {
  worker *w = ctx;
  vyre_device *device = w->bench->device;
  vyre_program *program = program_of(ADDER);
  for (int i = 0; i < 50; i++) {
    uint32_t y[4] = { 0, 1, 2, 3 };
    vyre_submission *s = NULL;
    vyre_buffer *m = NULL;
    bool good = vyre_run(device, program, (vyre_arg[]){ vyre_arg_inout("y", y, 4) }, 1, NULL, NULL) == VYRE_OK;
    good = good && y[0] == 1 && y[3] == 4;
    good = good && vyre_queue_dispatch(w->adder->queue, w->adder->set, one, &s, NULL) == VYRE_OK;
    good = good && vyre_submission_wait(s, VYRE_FOREVER, NULL) == VYRE_OK;
    good = good && vyre_buffer_create(device, 64, 0, &m, NULL) == VYRE_OK;
    vyre_submission_destroy(s);
    vyre_buffer_destroy(m);
    w->failures += !good;
  }
  vyre_program_release(program);
  return NULL;
}

START_TEST(many_threads_share_everything) {
  enum { THREADS = 8 };
  bench b = bench_fake("sound");
  adder a = adder_for(&b);
  worker workers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){ &b, &a, 0 };
    ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    ck_assert_int_eq(workers[i].failures, 0);
  }
  ck_assert_uint_eq(word(a.y, 0), THREADS * 50);
  adder_end(&a);
  bench_end(&b);
}
END_TEST

START_TEST(every_object_answers_forked_in_a_child) {
  bench b = bench_fake("sound");
  adder a = adder_for(&b);
  vyre_timeline *gate;
  vyre_batch *batch;
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  OK(vyre_batch_create(b.device, &batch, &error));
  vyre_submission *s = hold_back(&b, &a, gate, NULL, 0);
  vyre_program *program = program_of(ADDER);
  pid_t child = fork();
  if (child == 0) {
    void *map;
    uint64_t value;
    uint32_t data = 0;
    int wrong = 0;
#define FORKED(call) wrong += (call) != VYRE_ERR_FORKED
    vyre_executable *e;
    vyre_buffer *m;
    vyre_set *set;
    vyre_queue *queue;
    vyre_batch *other;
    vyre_timeline *timeline;
    vyre_completion c = { .size = sizeof c };
    vyre_launch_report report = { .size = sizeof report };
    vyre_launch launch = VYRE_LAUNCH_INIT;
    FORKED(vyre_compile(b.device, program, NULL, &e, NULL));
    FORKED(vyre_executable_report(a.executable, &report, NULL));
    FORKED(vyre_executable_max_resident(a.executable, &value, NULL));
    FORKED(vyre_buffer_create(b.device, 16, 0, &m, NULL));
    FORKED(vyre_buffer_map(a.y, &map, NULL));
    FORKED(vyre_buffer_read(a.y, 0, &data, 4, NULL));
    FORKED(vyre_buffer_write(a.y, 0, &data, 4, NULL));
    FORKED(vyre_buffer_flush(a.y, 0, 4, NULL));
    FORKED(vyre_buffer_export(a.y, VYRE_HANDLE_FD, &value, NULL));
    FORKED(vyre_set_create(a.executable, NULL, 0, &set, NULL));
    FORKED(vyre_batch_create(b.device, &other, NULL));
    FORKED(vyre_batch_order(batch, NULL));
    FORKED(vyre_batch_dispatch(batch, a.set, one, NULL));
    FORKED(vyre_queue_create(b.device, &queue, NULL));
    FORKED(vyre_queue_submit(a.queue, batch, NULL, NULL, NULL));
    FORKED(vyre_queue_dispatch(a.queue, a.set, one, NULL, NULL));
    FORKED(vyre_queue_wait(a.queue, VYRE_FOREVER, NULL));
    FORKED(vyre_timeline_create(b.device, 0, &timeline, NULL));
    FORKED(vyre_timeline_signal(gate, 1, NULL));
    FORKED(vyre_timeline_value(gate, &value, NULL));
    FORKED(vyre_timeline_wait(gate, 1, VYRE_FOREVER, NULL));
    FORKED(vyre_submission_wait(s, VYRE_FOREVER, NULL));
    FORKED(vyre_submission_completion(s, &c, NULL));
    FORKED(vyre_submission_stop(s, NULL));
    FORKED(vyre_submission_on_complete(s, NULL, NULL, NULL));
    FORKED(vyre_launch_persistent(a.set, &launch, NULL, NULL));
    FORKED(vyre_device_wait(b.device, VYRE_FOREVER, NULL));
    FORKED(vyre_device_native(b.device, 1, &value, NULL));
    FORKED(vyre_run(b.device, program, NULL, 0, NULL, NULL));
    FORKED(vyre_device_close(b.device, VYRE_FOREVER, NULL));
    vyre_submission_destroy(s);
    vyre_batch_destroy(batch);
    adder_end(&a);
    vyre_timeline_destroy(gate);
    vyre_program_release(program);
    _exit(wrong);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 0);
  OK(vyre_timeline_signal(gate, 1, &error));
  OK(vyre_submission_wait(s, VYRE_FOREVER, &error)); /* the parent is as it was */
  vyre_submission_destroy(s);
  vyre_batch_destroy(batch);
  vyre_timeline_destroy(gate);
  adder_end(&a);
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { memory_by_property,
                                 memory_out_of_reach_is_staged,
                                 imported_memory,
                                 numbers_that_are_no_status_reach_nobody,
                                 texts_of_plugins_end,
                                 commands_run_in_order,
                                 commands_that_are_refused,
                                 late_values,
                                 one_set_dispatched_with_changing_grids,
                                 many_threads_share_everything,
                                 every_object_answers_forked_in_a_child,
                                 NULL };
  return run_suite("objects", 60, tests);
}
