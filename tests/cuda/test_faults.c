/* Each call of the driver may fail, each time it is made, and a device may be lost: every failure has a status, the
 * driver's words and a fix; nothing is left of what was begun; other devices go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/rig.h"
#include "tests/suite.h"

/* What a lost device, or a call that fails to give something back, leaves inside of the fake driver is no leak of the
 * plugin: the leak sanitizer asks here. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libcuda.so"; }

static vyre_bytes blob;

static void make_blob(void) {
  vyre_capabilities record = { .size = sizeof record };
  ck_assert_int_eq(ops->profile(&host, 0, &record, NULL), VYRE_OK);
  blob = rig_compile(&record, rig_program);
}

/* A whole life with one call that fails. Gives whether it did. */
static bool live(const char *name, const char *code, uint64_t n, const char *aim) {
  char script[128], what[192];
  const char *step = "";
  rig r;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_completion completion;
  snprintf(script, sizeof script, "fail %s %s at %llu", name, code, (unsigned long long)n);
  rig_script(script);
  rig_forget();
  vyre_status status = rig_make(&r, 0, &blob, 4, &step, &error);
  snprintf(what, sizeof what, "%s (%s) in %s", script, aim, step);
  if (status != VYRE_OK) rig_wants(what, status, status, &error);
  for (int i = 0; i < 3 && status == VYRE_OK; i++) {
    snprintf(what, sizeof what, "%s, run %d", script, i);
    status = rig_run(&r, r.batch, &completion, &error);
    if (status == VYRE_OK) {
      for (uint32_t e = 0; e < RIG_ELEMENTS; e++) ck_assert_uint_eq(r.y_words[e], e * 0x9E3779B1u * 3 + 5);
    } else if (completion.status == -1) {
      rig_wants(what, status, status, &error);
    } else {
      ck_assert_msg(strstr(completion.text, "Fix: ") != NULL, "%s: no fix in: %s", what, completion.text);
    }
  }
  bool in_use = fake.calls(name) >= n;
  rig_close(&r);
  /* What can't be given back is the driver's. */
  bool in_end = !in_use && fake.calls(name) >= n;
  if (!in_end && strncmp(name, "cuMemFree", 9) != 0) rig_nothing_lives(what);
  return in_use || in_end;
}

/* Every entry point that such a life calls, each time that it does. No code here loses the device: what runs on the fake
 * one would go on. */
START_TEST(every_call_may_fail) {
  static const struct { const char *name, *code; } calls[] = {
    { "cuInit", "CUDA_ERROR_NO_DEVICE" },
    { "cuDriverGetVersion", "CUDA_ERROR_UNKNOWN" },
    { "cuDeviceGetCount", "CUDA_ERROR_NO_DEVICE" },
    { "cuDeviceGet", "CUDA_ERROR_INVALID_DEVICE" },
    { "cuDeviceGetName", "CUDA_ERROR_INVALID_DEVICE" },
    { "cuDeviceGetUuid", "CUDA_ERROR_UNKNOWN" },
    { "cuDeviceTotalMem", "CUDA_ERROR_UNKNOWN" },
    { "cuDeviceGetAttribute", "CUDA_ERROR_UNKNOWN" },
    { "cuDevicePrimaryCtxRetain", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuStreamCreate", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuModuleLoadDataEx", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuModuleGetFunction", "CUDA_ERROR_NOT_FOUND" },
    { "cuFuncLoad", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuFuncGetAttribute", "CUDA_ERROR_UNKNOWN" },
    { "cuOccupancyMaxActiveBlocksPerMultiprocessor", "CUDA_ERROR_UNKNOWN" },
    { "cuMemAllocAsync", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuMemHostAlloc", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuMemHostGetDevicePointer", "CUDA_ERROR_UNKNOWN" },
    { "cuMemsetD8Async", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuMemcpyAsync", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuStreamSynchronize", "CUDA_ERROR_UNKNOWN" },
    { "cuEventCreate", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuEventRecord", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuEventElapsedTime", "CUDA_ERROR_UNKNOWN" },
    { "cuLaunchKernel", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuStreamBeginCapture", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuStreamEndCapture", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuGraphInstantiate", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuGraphLaunch", "CUDA_ERROR_OUT_OF_MEMORY" },
    { "cuCtxPushCurrent", "CUDA_ERROR_UNKNOWN" },
    { "cuStreamDestroy", "CUDA_ERROR_UNKNOWN" },
    { "cuMemFreeAsync", "CUDA_ERROR_UNKNOWN" },
    { "cuMemFreeHost", "CUDA_ERROR_UNKNOWN" },
    { "cuModuleUnload", "CUDA_ERROR_UNKNOWN" },
    { "cuEventDestroy", "CUDA_ERROR_UNKNOWN" },
    { "cuGraphExecDestroy", "CUDA_ERROR_UNKNOWN" },
  };
  int i = _i;
  rig_load("");
  make_blob();
  uint64_t n = 1;
  while (n < 200 && live(calls[i].name, calls[i].code, n, "each call in turn")) n++;
  ck_assert_msg(n > 1, "%s is never called", calls[i].name);
  ck_assert_uint_lt(n, 200);
  free(blob.data);
}
END_TEST
enum { CALLS = 36 };

/* ---- Loss ------------------------------------------------------------------------------------ */

static void expect_lost(rig *r, const char *words) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_completion completion = { .size = sizeof completion };
  vyre_plugin_buffer *buffer = NULL;
  vyre_plugin_queue *queue = NULL;
  uint64_t value;
  vyre_buffer_request request = { .size = sizeof request, .bytes = 64 };
  vyre_submit submit = { .size = sizeof submit, .batch = r->batch, .completion = &completion };
  rig_wants("submit", ops->submit(r->queue, &submit, &error), VYRE_ERR_DEVICE_LOST, &error);
  ck_assert_msg(strstr(error.text, words) != NULL, "%s is not in: %s", words, error.text);
  rig_wants("a buffer", ops->buffer_create(r->device, &request, &buffer, &error), VYRE_ERR_DEVICE_LOST, &error);
  rig_wants("a queue", ops->queue_create(r->device, 0, &queue, &error), VYRE_ERR_DEVICE_LOST, &error);
  rig_wants("a value", ops->timeline_value(r->timeline, &value, &error), VYRE_ERR_DEVICE_LOST, &error);
  rig_wants("a wait without end", ops->timeline_wait(r->timeline, 1000, UINT64_MAX, &error), VYRE_ERR_DEVICE_LOST,
            &error);
  rig_wants("a signal", ops->timeline_signal(r->timeline, 1000, &error), VYRE_ERR_DEVICE_LOST, &error);
}

/* A device is lost with work on it and work that waits; the other one does not notice, and a new instance works. */
START_TEST(one_device_is_lost) {
  static const char *const codes[] = { "CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_LAUNCH_TIMEOUT",
                                       "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ECC_UNCORRECTABLE" };
  char script[96];
  rig lost, other;
  vyre_error error = VYRE_ERROR_INIT;
  const char *step = "";
  rig_load("set devices 2");
  make_blob();
  ck_assert_msg(rig_make(&lost, 0, &blob, 1, &step, &error) == VYRE_OK, "%s: %s", step, error.text);
  ck_assert_msg(rig_make(&other, 1, &blob, 1, &step, &error) == VYRE_OK, "%s: %s", step, error.text);
  rig_check(&lost, 5);
  rig_check(&other, 5);
  snprintf(script, sizeof script, "set devices 2; lose at 1 %s", codes[_i]);
  static vyre_completion pending = { .size = sizeof pending, .status = -1 }, waiting = { .size = sizeof waiting };
  vyre_point later = { lost.timeline, 900 }, last = { lost.timeline, 901 };
  waiting.status = -1;
  vyre_submit submit = { .size = sizeof submit, .batch = lost.batch, .waits = &later, .wait_count = 1, .signals = &last,
                         .signal_count = 1, .completion = &waiting };
  vyre_plugin_queue *second = NULL;
  ck_assert_int_eq(ops->queue_create(lost.device, 0, &second, &error), VYRE_OK);
  ck_assert_int_eq(ops->submit(second, &submit, &error), VYRE_OK);
  rig_script(script);
  vyre_status status = rig_run(&lost, lost.batch, &pending, &error);
  ck_assert_int_eq(status, VYRE_ERR_DEVICE_LOST);
  ck_assert_int_eq(waiting.status, VYRE_ERR_DEVICE_LOST);
  ck_assert_msg(strstr(waiting.text, codes[_i]) != NULL, "%s", waiting.text);
  expect_lost(&lost, codes[_i]);
  rig_check(&other, 5);
  ops->queue_destroy(second);
  rig_close(&lost);
  rig_check(&other, 5);
  rig_script("set devices 2");
  ck_assert_msg(rig_make(&lost, 0, &blob, 1, &step, &error) == VYRE_OK, "%s: %s", step, error.text);
  rig_check(&lost, 5);
  rig_close(&lost);
  rig_close(&other);
  ck_assert_int_eq(fake.live("context"), 0); /* with which all goes that a lost device does not give back */
  free(blob.data);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cuda faults");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 300);
  suite_add_tcase(suite, all);
  tcase_add_loop_test(all, every_call_may_fail, 0, CALLS);
  tcase_add_loop_test(all, one_device_is_lost, 0, 4);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
