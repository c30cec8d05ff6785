/* The CUDA backend on a driver that does what a script says: it starts, runs and ends as it should, and whatever the
 * driver answers, a user is told what to do, nothing is left, and other devices go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/rig.h"
#include "tests/suite.h"

/* ---- Starting -------------------------------------------------------------------------------- */

static void expect_probe(const char *script, vyre_status wanted, const char *word) {
  vyre_error error = VYRE_ERROR_INIT;
  rig_load(script);
  vyre_status status = ops->probe(&host, &error);
  rig_wants(script, status, wanted, &error);
  ck_assert_msg(strstr(error.text, word) != NULL, "%s is not in: %s", word, error.text);
  ck_assert_int_eq(fake.calls("cuInit"), 0); /* probing starts nothing */
}

START_TEST(a_stub_library) { expect_probe("set stub 1", VYRE_ERR_LIBRARY_ABSENT, "stub"); }
END_TEST

START_TEST(a_driver_that_is_too_old) { expect_probe("set version 10020", VYRE_ERR_TOO_OLD, "CUDA 10.2"); }
END_TEST

START_TEST(an_entry_point_that_is_missing) {
  expect_probe("absent cuStreamWaitEvent", VYRE_ERR_TOO_OLD, "cuStreamWaitEvent");
}
END_TEST

START_TEST(a_library_that_is_not_there) {
  vyre_error error = VYRE_ERROR_INIT;
  rig_load("");
  rig_set("library", "/nonexistent/libcuda.so.1");
  rig_wants("probe", ops->probe(&host, &error), VYRE_ERR_LIBRARY_ABSENT, &error);
  ck_assert(strstr(error.text, "/nonexistent/libcuda.so.1") != NULL);
}
END_TEST

static void expect_open(const char *script, vyre_status wanted, const char *word) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin *plugin = (vyre_plugin *)(void *)&error;
  rig_load(script);
  rig_wants("probe", ops->probe(&host, &error), VYRE_OK, &error);
  rig_wants(script, ops->open(&host, &plugin, &error), wanted, &error);
  ck_assert_ptr_null(plugin);
  ck_assert_msg(strstr(error.text, word) != NULL, "%s is not in: %s", word, error.text);
}

START_TEST(no_device) { expect_open("set devices 0", VYRE_ERR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"); }
END_TEST

START_TEST(a_driver_that_does_not_belong_to_its_library) {
  expect_open("fail cuInit CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", VYRE_ERR_TOO_OLD, "MISMATCH");
}
END_TEST

START_TEST(a_device_that_is_too_old) {
  rig_load("set attribute75 5; set attribute76 2");
  vyre_plugin *plugin;
  uint32_t count = 7;
  ck_assert_int_eq(ops->open(&host, &plugin, NULL), VYRE_OK);
  ck_assert_int_eq(ops->device_count(plugin, &count, NULL), VYRE_OK);
  ck_assert_uint_eq(count, 0);
  ck_assert(strstr(rig_logged, "5.2") != NULL);
  ops->close(plugin);
}
END_TEST

START_TEST(a_record_says_what_the_driver_says) {
  rig_load("set name \"A name\"; set attribute75 8; set attribute17 1; set uuid 3");
  vyre_plugin *plugin;
  vyre_capabilities c = { .size = sizeof c };
  ck_assert_int_eq(ops->open(&host, &plugin, NULL), VYRE_OK);
  ck_assert_int_eq(ops->device_describe(plugin, 0, &c, NULL), VYRE_OK);
  ck_assert_str_eq(c.name, "A name");
  ck_assert_str_eq(c.profile, "cuda:sm_80");
  ck_assert_uint_eq(c.uuid[0], 0x13);
  ck_assert_uint_eq(c.pci, 0x0100);
  /* A device with a time limit takes no persistent launches. */
  ck_assert_uint_eq(c.can & VYRE_CAN_PERSISTENT, 0);
  ck_assert_uint_eq(c.max_persistent, 0);
  ck_assert_uint_gt(c.time_limit_ns, 0);
  ck_assert_uint_eq(c.max_shared_bytes, 49152);
  ops->close(plugin);
}
END_TEST

START_TEST(a_setting_allows_more_workgroup_memory) {
  rig_load("");
  rig_set("shared_optin", "1");
  vyre_plugin *plugin;
  vyre_capabilities c = { .size = sizeof c };
  ck_assert_int_eq(ops->open(&host, &plugin, NULL), VYRE_OK);
  ck_assert_int_eq(ops->device_describe(plugin, 0, &c, NULL), VYRE_OK);
  ck_assert_uint_eq(c.max_shared_bytes, 232448);
  ops->close(plugin);
}
END_TEST

/* ---- Running --------------------------------------------------------------------------------- */

START_TEST(it_runs_and_leaves_nothing) {
  rig r;
  rig_load("");
  rig_open(&r, rig_program, 1);
  for (int i = 0; i < 3; i++) rig_check(&r, 5);
  vyre_launch_report report = { .size = sizeof report };
  ck_assert_int_eq(ops->executable_report(r.executable, &report, NULL), VYRE_OK);
  ck_assert_uint_eq(report.launches, 3);
  ck_assert_uint_eq(report.launched_grid[0], RIG_GROUPS);
  ck_assert_uint_eq(report.registers, 32);
  ck_assert_uint_eq(report.max_resident, 32 * 4); /* 2048 / 64 workgroups on each of 4 multiprocessors */
  ck_assert_uint_eq(fake.calls("cuGraphLaunch"), 0);
  rig_close(&r);
  rig_nothing_lives("after a run");
}
END_TEST

/* One that is submitted again and again becomes a graph; one that runs once does not. */
START_TEST(batches_become_graphs) {
  rig r;
  rig_load("");
  rig_open(&r, rig_program, 4);
  rig_check(&r, 5);
  ck_assert_uint_eq(fake.calls("cuGraphLaunch"), 0);
  rig_check(&r, 5);
  rig_check(&r, 5);
  ck_assert_uint_eq(fake.calls("cuGraphLaunch"), 2);
  ck_assert_uint_eq(fake.calls("cuGraphInstantiate"), 1);
  ck_assert_uint_eq(fake.calls("cuLaunchKernel"), 8); /* 4 the first time, 4 to record them */
  rig_close(&r);
  rig_nothing_lives("after graphs");
}
END_TEST

START_TEST(a_driver_that_makes_no_graphs) {
  rig r;
  rig_load("fail cuGraphInstantiate CUDA_ERROR_NOT_SUPPORTED");
  rig_open(&r, rig_program, 4);
  for (int i = 0; i < 3; i++) rig_check(&r, 5);
  ck_assert_uint_eq(fake.calls("cuGraphInstantiate"), 1);
  ck_assert_uint_eq(fake.calls("cuLaunchKernel"), 4 * 4);
  rig_close(&r);
  rig_nothing_lives("without graphs");
}
END_TEST

/* The caller has the context of another device current, and has it afterwards. */
START_TEST(the_callers_context_stays) {
  rig r;
  CUcontext own, now;
  vyre_error error = VYRE_ERROR_INIT;
  rig_load("set devices 2");
  ops->probe(&host, &error);
  rig_open(&r, rig_program, 1);
  ck_assert_int_eq(fake.retain(&own, 1), CUDA_SUCCESS);
  ck_assert_int_eq(fake.make_current(own), CUDA_SUCCESS);
  rig_check(&r, 5);
  ck_assert_int_eq(fake.current(&now), CUDA_SUCCESS);
  ck_assert_ptr_eq(now, own);
  rig_close(&r);
  ck_assert_int_eq(fake.current(&now), CUDA_SUCCESS);
  ck_assert_ptr_eq(now, own);
  ck_assert_int_eq(fake.make_current(NULL), CUDA_SUCCESS);
  rig_open(&r, rig_program, 1);
  rig_check(&r, 5);
  rig_close(&r);
  ck_assert_int_eq(fake.current(&now), CUDA_SUCCESS);
  ck_assert_ptr_null(now);
  fake.release(1);
}
END_TEST

/* ---- What the device knows ------------------------------------------------------------------- */

static vyre_plugin_set *make_set(rig *r, uint32_t flags, vyre_plugin_buffer *length, bool late_params) {
  static const uint32_t n = 7;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_set *set = NULL;
  vyre_bind binds[2] = { { .buffer = r->x, .bytes = 4 * RIG_ELEMENTS, .elements = RIG_ELEMENTS },
                         { .flags = VYRE_BIND_WRITTEN | flags, .buffer = r->y, .bytes = 4 * RIG_ELEMENTS,
                           .elements = RIG_ELEMENTS } };
  if (length != NULL) {
    binds[1].length_bits = 32;
    binds[1].length_buffer = length;
    binds[1].length_offset = 4;
  }
  vyre_set_request request = { .size = sizeof request, .bind_count = 2, .binds = binds, .params = &n, .param_bytes = 4,
                               .late_params = late_params };
  ck_assert_msg(ops->set_create(r->executable, &request, &set, &error) == VYRE_OK, "%s", error.text);
  return set;
}

START_TEST(lengths_and_grids_from_the_device) {
  static const struct { uint32_t length, groups, written, clamped; } cases[] = {
    { 100, 4, 100, 0 }, { 1000, 4, 256, 1 }, { 256, 2, 128, 0 }, { 0, 4, 0, 0 }, { 1000, 9, 256, 2 },
    { 256, 0, 0, 0 } };
  rig r;
  uint32_t *words;
  rig_load("");
  rig_open(&r, rig_program, 1);
  vyre_plugin_buffer *counts = rig_buffer(&r, 32, &words);
  vyre_plugin_set *set = make_set(&r, VYRE_BIND_ZERO, counts, false);
  vyre_dispatch d = { .size = sizeof d, .executable = r.executable, .set = set, .grid = { RIG_GROUPS, 1, 1 },
                      .grid_buffer = counts, .grid_offset = 8 };
  vyre_plugin_batch *batch = rig_batch(&r, VYRE_COMMAND_DISPATCH, &d);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    vyre_completion completion;
    vyre_error error = VYRE_ERROR_INIT;
    words[1] = cases[c].length;
    words[2] = cases[c].groups;
    words[3] = words[4] = 1;
    memset(r.y_words, 0xEE, 4 * RIG_ELEMENTS);
    ck_assert_int_eq(rig_run(&r, batch, &completion, &error), VYRE_OK);
    ck_assert_uint_eq(completion.clamped_extents, cases[c].clamped);
    for (uint32_t i = 0; i < RIG_ELEMENTS; i++)
      ck_assert_uint_eq(r.y_words[i], i < cases[c].written ? i * 0x9E3779B1u * 3 + 7 : 0);
  }
  ops->batch_destroy(batch);
  ops->set_destroy(set);
  ops->buffer_destroy(counts);
  rig_close(&r);
  rig_nothing_lives("after lengths from the device");
}
END_TEST

START_TEST(late_values) {
  rig r;
  rig_load("");
  rig_open(&r, rig_program, 1);
  vyre_plugin_set *set = make_set(&r, VYRE_BIND_LATE, NULL, true);
  vyre_dispatch d = { .size = sizeof d, .executable = r.executable, .set = set, .grid = { RIG_GROUPS, 1, 1 } };
  vyre_plugin_batch *batch = rig_batch(&r, VYRE_COMMAND_DISPATCH, &d);
  vyre_error error = VYRE_ERROR_INIT;
  uint64_t offsets[2] = { 0, 0 };
  uint32_t n = 40;
  vyre_late late = { .command = 0, .params = &n, .offsets = offsets };
  vyre_completion completion = { .size = sizeof completion };
  vyre_point end = { r.timeline, ++r.value };
  vyre_submit submit = { .size = sizeof submit, .batch = batch, .signals = &end, .signal_count = 1, .late = &late,
                         .late_count = 1, .completion = &completion };
  ck_assert_msg(ops->submit(r.queue, &submit, &error) == VYRE_OK, "%s", error.text);
  n = 0xFFFFFFFF; /* it was copied */
  ck_assert_int_eq(ops->timeline_wait(r.timeline, r.value, 60000000000u, NULL), VYRE_OK);
  for (uint32_t i = 0; i < RIG_ELEMENTS; i++) ck_assert_uint_eq(r.y_words[i], i * 0x9E3779B1u * 3 + 40);
  end.value = ++r.value;
  offsets[1] = 16; /* its end would be beyond the buffer's */
  rig_wants("an offset beyond the buffer", ops->submit(r.queue, &submit, &error), VYRE_ERR_INVALID_ARGUMENT, &error);
  ops->batch_destroy(batch);
  ops->set_destroy(set);
  rig_close(&r);
  rig_nothing_lives("after late values");
}
END_TEST

START_TEST(timestamps_are_there_at_the_end) {
  rig r;
  rig_load("");
  rig_open(&r, rig_program, 1);
  vyre_timestamp first = { sizeof first, 1 }, second = { sizeof second, 0 }, beyond = { sizeof beyond, 1000000 };
  const vyre_command commands[] = { { VYRE_COMMAND_TIMESTAMP, 0, &first }, { VYRE_COMMAND_ORDER, 0, NULL },
                                    { VYRE_COMMAND_TIMESTAMP, 0, &second }, { VYRE_COMMAND_TIMESTAMP, 0, &beyond } };
  vyre_plugin_batch *batch = NULL;
  ck_assert_int_eq(ops->batch_create(r.device, commands, 4, &batch, NULL), VYRE_OK);
  for (int i = 0; i < 3; i++) {
    uint64_t times[3] = { 0, 0, 77 };
    vyre_completion completion = { .size = sizeof completion };
    vyre_point end = { r.timeline, ++r.value };
    vyre_submit submit = { .size = sizeof submit, .batch = batch, .signals = &end, .signal_count = 1,
                           .timestamps = times, .timestamp_count = 2, .completion = &completion };
    ck_assert_int_eq(ops->submit(r.queue, &submit, NULL), VYRE_OK);
    ck_assert_int_eq(ops->timeline_wait(r.timeline, r.value, 60000000000u, NULL), VYRE_OK);
    ck_assert_uint_gt(times[1], 0);
    ck_assert_uint_gt(times[0], times[1]);
    ck_assert_uint_eq(times[2], 77);
  }
  ops->batch_destroy(batch);
  rig_close(&r);
  rig_nothing_lives("after timestamps");
}
END_TEST

/* A grid axis above the driver's limit runs in pieces, each with its origin. */
START_TEST(grids_in_pieces) {
  rig r;
  rig_load("set attribute5 3");
  rig_open(&r, rig_program, 1);
  rig_check(&r, 5);
  ck_assert_uint_eq(fake.calls("cuLaunchKernel"), 2);
  rig_close(&r);
}
END_TEST

/* ---- Timelines ------------------------------------------------------------------------------- */

/* Two queues whose submissions wait for each other in turns, given in the wrong order, and all of them for the host. */
START_TEST(work_waits_for_what_is_to_come) {
  enum { TURNS = 12 };
  rig r;
  rig_load("");
  rig_open(&r, rig_program, 1);
  vyre_plugin_queue *second = NULL;
  vyre_plugin_timeline *turn = NULL;
  static vyre_completion completions[2 * TURNS];
  ck_assert_int_eq(ops->queue_create(r.device, 0, &second, NULL), VYRE_OK);
  ck_assert_int_eq(ops->timeline_create(r.device, 0, &turn, NULL), VYRE_OK);
  memset(r.y_words, 0, 4 * RIG_ELEMENTS);
  for (int q = 1; q >= 0; q--)
    for (uint64_t i = 0; i < TURNS; i++) {
      uint64_t number = 2 * i + (uint64_t)q;
      vyre_point wait = { turn, number + 1 }, signal = { turn, number + 2 };
      completions[number] = (vyre_completion){ .size = sizeof completions[number], .status = -1 };
      vyre_submit submit = { .size = sizeof submit, .batch = r.batch, .waits = &wait, .wait_count = 1,
                             .signals = &signal, .signal_count = 1, .completion = &completions[number] };
      ck_assert_int_eq(ops->submit(q == 0 ? r.queue : second, &submit, NULL), VYRE_OK);
    }
  vyre_error error = VYRE_ERROR_INIT;
  rig_wants("before the host's signal", ops->timeline_wait(turn, 2, 2000000, &error), VYRE_ERR_TIMEOUT, &error);
  ck_assert_uint_eq(r.y_words[1], 0);
  ck_assert_int_eq(ops->timeline_signal(turn, 1, NULL), VYRE_OK);
  ck_assert_int_eq(ops->timeline_wait(turn, 2 * TURNS + 1, 60000000000u, NULL), VYRE_OK);
  for (int i = 0; i < 2 * TURNS; i++) ck_assert_int_eq(completions[i].status, VYRE_OK);
  ck_assert_uint_eq(r.y_words[1], 0x9E3779B1u * 3 + 5);
  ops->queue_destroy(second);
  ops->timeline_destroy(turn);
  rig_close(&r);
  rig_nothing_lives("after two queues");
}
END_TEST

/* Many in a row, whose ends may be marked together: each has its record before its point is seen. */
START_TEST(many_in_a_row) {
  enum { COUNT = 300 };
  rig r;
  static vyre_completion completions[COUNT];
  rig_load("");
  rig_open(&r, rig_program, 1);
  for (int i = 0; i < 5; i++) rig_check(&r, 5);
  for (uint64_t i = 0; i < COUNT; i++) {
    uint64_t value = 0;
    completions[i] = (vyre_completion){ .size = sizeof completions[i], .status = -1 };
    vyre_point end = { r.timeline, r.value + i + 1 };
    vyre_submit submit = { .size = sizeof submit, .batch = r.batch, .signals = &end, .signal_count = 1,
                           .completion = &completions[i] };
    ck_assert_int_eq(ops->submit(r.queue, &submit, NULL), VYRE_OK);
    if (i % 3 == 0) ck_assert_int_eq(ops->timeline_value(r.timeline, &value, NULL), VYRE_OK);
    for (uint64_t n = 0; n < COUNT && r.value + n + 1 <= value; n++) ck_assert_int_eq(completions[n].status, VYRE_OK);
  }
  ck_assert_int_eq(ops->timeline_wait(r.timeline, r.value + COUNT / 2, 60000000000u, NULL), VYRE_OK);
  for (uint64_t i = 0; i < COUNT / 2; i++) ck_assert_int_eq(completions[i].status, VYRE_OK);
  for (uint64_t value = 0; value < r.value + COUNT;)
    ck_assert_int_eq(ops->timeline_value(r.timeline, &value, NULL), VYRE_OK);
  for (uint64_t i = 0; i < COUNT; i++) ck_assert_int_eq(completions[i].status, VYRE_OK);
  rig_close(&r);
  rig_nothing_lives("after many in a row");
}
END_TEST

START_TEST(what_never_began_is_told_so) {
  rig r;
  rig_load("");
  rig_open(&r, rig_program, 1);
  vyre_completion completion = { .size = sizeof completion, .status = -1 };
  vyre_point wait = { r.timeline, 5 }, end = { r.timeline, 9 };
  vyre_submit submit = { .size = sizeof submit, .batch = r.batch, .waits = &wait, .wait_count = 1, .signals = &end,
                         .signal_count = 1, .completion = &completion };
  ck_assert_int_eq(ops->submit(r.queue, &submit, NULL), VYRE_OK);
  ops->queue_destroy(r.queue);
  r.queue = NULL;
  ck_assert_int_eq(completion.status, VYRE_ERR_CLOSED);
  rig_close(&r);
  rig_nothing_lives("after a queue that was closed");
}
END_TEST

/* ---- The compiler ---------------------------------------------------------------------------- */

START_TEST(the_compilers_complaint_names_its_line) {
  rig r = { 0 };
  char log[256];
  vyre_error error = VYRE_ERROR_INIT;
  vyre_capabilities record = { .size = sizeof record };
  error.log = log;
  error.log_capacity = sizeof log;
  rig_load("set log \"ptxas application ptx input, line 3; error : of the test\"\n"
           "fail cuModuleLoadDataEx CUDA_ERROR_INVALID_PTX");
  ck_assert_int_eq(ops->profile(&host, 0, &record, NULL), VYRE_OK);
  vyre_bytes blob = rig_compile(&record, rig_program);
  const char *step = "";
  vyre_status status = rig_make(&r, 0, &blob, 1, &step, &error);
  ck_assert_str_eq(step, "executable_load");
  rig_wants("PTX that is refused", status, VYRE_ERR_INTERNAL, &error);
  ck_assert_msg(strstr(error.text, "of the test") != NULL && strstr(error.text, ".address_size 64") != NULL, "%s",
                error.text);
  ck_assert(strstr(log, "line 3") != NULL);
  ck_assert_int_eq(error.vendor_code, CUDA_ERROR_INVALID_PTX);
  rig_close(&r);
  rig_nothing_lives("after PTX that is refused");
  free(blob.data);
}
END_TEST

/* Machine code is made where the device is open, and loaded instead of text; another device takes the text. */
START_TEST(machine_code) {
  static const char program[] = "program other workgroup(64) { rw y: u32[]; y[gid.x] = gid.x; }";
  rig r;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_capabilities record = { .size = sizeof record };
  rig_load("");
  rig_open(&r, rig_program, 1);
  ck_assert_int_eq(ops->device_describe(r.plugin, 0, &record, NULL), VYRE_OK);
  vyre_bytes blob = rig_compile(&record, program), final = { .size = sizeof final }, none = { .size = sizeof none };
  ck_assert_msg(ops->finalize(&host, &record, blob.data, blob.length, &final, &error) == VYRE_OK, "%s", error.text);
  ck_assert_uint_gt(final.length, blob.length);
  vyre_plugin_executable *executable = NULL;
  ck_assert_int_eq(ops->executable_load(r.device, final.data, final.length, &executable, &error), VYRE_OK);
  ops->executable_destroy(executable);
  rig_script("fail cuModuleLoadDataEx CUDA_ERROR_NO_BINARY_FOR_GPU at 1");
  ck_assert_int_eq(ops->executable_load(r.device, final.data, final.length, &executable, &error), VYRE_OK);
  ck_assert_uint_eq(fake.calls("cuModuleLoadDataEx"), 2);
  ops->executable_destroy(executable);
  rig_close(&r);
  rig_wants("with no device open", ops->finalize(&host, &record, blob.data, blob.length, &none, &error),
            VYRE_ERR_UNSUPPORTED, &error);
  free(blob.data);
  free(final.data);
  rig_nothing_lives("after machine code");
}
END_TEST

START_TEST(equal_modules_are_loaded_once) {
  rig r;
  rig_load("");
  rig_open(&r, rig_program, 1);
  vyre_capabilities record = { .size = sizeof record };
  ops->profile(&host, 0, &record, NULL);
  vyre_bytes blob = rig_compile(&record, rig_program);
  vyre_plugin_executable *again = NULL;
  uint64_t calls = fake.calls("cuModuleLoadDataEx");
  ck_assert_int_eq(ops->executable_load(r.device, blob.data, blob.length, &again, NULL), VYRE_OK);
  ck_assert_uint_eq(fake.calls("cuModuleLoadDataEx"), calls);
  ops->executable_destroy(again);
  rig_check(&r, 5);
  free(blob.data);
  rig_close(&r);
  rig_nothing_lives("after two of one module");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
    a_stub_library, a_driver_that_is_too_old, an_entry_point_that_is_missing, a_library_that_is_not_there, no_device,
    a_driver_that_does_not_belong_to_its_library, a_device_that_is_too_old, a_record_says_what_the_driver_says,
    a_setting_allows_more_workgroup_memory, it_runs_and_leaves_nothing, batches_become_graphs,
    a_driver_that_makes_no_graphs, the_callers_context_stays, lengths_and_grids_from_the_device, late_values,
    timestamps_are_there_at_the_end, grids_in_pieces, work_waits_for_what_is_to_come, many_in_a_row,
    what_never_began_is_told_so, the_compilers_complaint_names_its_line, machine_code,
    equal_modules_are_loaded_once, NULL
  };
  return run_suite("cuda driver", 120, tests);
}
