#include "device_for.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

static void open_device(bench *b, const char *name) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_device_open(b->context, name, &b->device, &error);
  ck_assert_msg(status == VYRE_OK, "%s", error.text);
}

bench bench_fake(const char *fault) {
  bench b;
  const char *root = place();
  copy_fake(below("vyre_backend_%s.so", fault));
  b.config = config_for(root);
  b.context = context_for(b.config);
  open_device(&b, fault);
  return b;
}

bench bench_cpu_ref(void) {
  bench b;
  const char *path = getenv("VYRE_TEST_BACKENDS");
  ck_assert_msg(path != NULL, "VYRE_TEST_BACKENDS is not set; run `make check`");
  b.config = config_for(path);
  b.context = context_for(b.config);
  open_device(&b, "cpu_ref");
  return b;
}

void bench_end(bench *b) {
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(vyre_device_close(b->device, VYRE_FOREVER, &error) == VYRE_OK, "%s", error.text);
  vyre_context_destroy(b->context);
  vyre_config_destroy(b->config);
  remove_place();
}

uint64_t live_objects(vyre_device *device) {
  uint64_t live = UINT64_MAX;
  ck_assert_int_eq(vyre_device_native(device, 1, &live, NULL), VYRE_OK);
  return live;
}

vyre_program *program_of(const char *text) {
  vyre_diagnostics *diagnostics;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create("test", text, strlen(text), &diagnostics), VYRE_OK);
  vyre_status status = vyre_text_parse(text, strlen(text), NULL, diagnostics, &program, NULL);
  char *all = vyre_diagnostics_render(diagnostics);
  ck_assert_msg(status == VYRE_OK, "%s", all);
  free(all);
  vyre_diagnostics_destroy(diagnostics);
  return program;
}

vyre_executable *compile(const bench *b, const char *text) {
  vyre_program *program = program_of(text);
  vyre_executable *executable;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_compile(b->device, program, NULL, &executable, &error);
  ck_assert_msg(status == VYRE_OK, "%s", error.text);
  vyre_program_release(program);
  return executable;
}
