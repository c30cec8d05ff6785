/* Compiling without a device: profiles, blobs and their text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "device_for.h"
#include "places.h"

static vyre_context *context_with(const char *fault, vyre_config **config) {
  const char *root = place();
  copy_fake(below("vyre_backend_%s.so", fault));
  *config = config_for(root);
  return context_for(*config);
}

static void end(vyre_context *context, vyre_config *config) {
  vyre_context_destroy(context);
  vyre_config_destroy(config);
  remove_place();
}

START_TEST(profiles_need_no_device) {
  vyre_config *config;
  vyre_context *context = context_with("absent", &config);
  vyre_error error = VYRE_ERROR_INIT;
  vyre_capabilities caps = { .size = sizeof caps };
  ck_assert_int_eq(vyre_backend_profile(context, "absent", 0, &caps, NULL), VYRE_OK);
  ck_assert_str_eq(caps.profile, "fake");
  ck_assert_int_eq(vyre_backend_profile(context, "absent", 1, &caps, &error), VYRE_ERR_NOT_FOUND);
  ck_assert_int_eq(vyre_backend_profile(context, "other", 0, &caps, &error), VYRE_ERR_NOT_FOUND);
  caps.size--;
  ck_assert_int_eq(vyre_backend_profile(context, "absent", 0, &caps, &error), VYRE_ERR_INVALID_ARGUMENT);
  vyre_device *device;
  ck_assert_int_eq(vyre_device_open(context, "absent", &device, NULL), VYRE_ERR_LIBRARY_ABSENT);
  end(context, config);
}
END_TEST

START_TEST(blobs_are_the_plugins_own) {
  vyre_config *config;
  vyre_context *context = context_with("absent", &config);
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program = program_of(SAXPY);
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  vyre_capabilities caps = { .size = sizeof caps };
  uint8_t *blob;
  char *text;
  size_t bytes, length;
  ck_assert_int_eq(vyre_backend_profile(context, "absent", 0, &caps, NULL), VYRE_OK);
  options.steps = 7;
  ck_assert_int_eq(vyre_compile_blob(context, "absent", &caps, program, &options, &blob, &bytes, NULL), VYRE_OK);
  ck_assert_uint_eq(bytes, 64);
  ck_assert_str_eq((const char *)blob, "flags 16 ulp 0 subgroup 0 steps 7");
  ck_assert_int_eq(vyre_disassemble(context, "absent", blob, bytes, &text, &length, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_ptr_null(text);
  ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
  free(blob);
  /* What the record lacks is refused before the plugin is asked. */
  caps.max_bindings = 1;
  ck_assert_int_eq(vyre_compile_blob(context, "absent", &caps, program, NULL, &blob, &bytes, &error), VYRE_ERR_LIMIT);
  ck_assert_ptr_null(blob);
  caps.size--;
  ck_assert_int_eq(vyre_compile_blob(context, "absent", &caps, program, NULL, &blob, &bytes, &error),
                   VYRE_ERR_INVALID_ARGUMENT);
  vyre_program_release(program);
  end(context, config);
}
END_TEST

/* The oracle's text is the program, and a device loads what it came from. */
START_TEST(text_of_the_oracle) {
  bench b = bench_cpu_ref();
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program = program_of(SAXPY);
  vyre_capabilities caps = { .size = sizeof caps };
  uint8_t *blob, *again;
  char *text;
  size_t bytes, more, length;
  ck_assert_int_eq(vyre_backend_profile(b.context, "cpu_ref", 0, &caps, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_compile_blob(b.context, "cpu_ref", &caps, program, NULL, &blob, &bytes, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_compile_blob(b.context, "cpu_ref", &caps, program, NULL, &again, &more, NULL), VYRE_OK);
  ck_assert_mem_eq(blob, again, bytes);
  ck_assert_int_eq(vyre_disassemble(b.context, "cpu_ref", blob, bytes, &text, &length, NULL), VYRE_OK);
  ck_assert_uint_eq(strlen(text), length);
  ck_assert_ptr_nonnull(strstr(text, "y[i] = fma(a, x[i], y[i]);"));
  free(text);
  for (size_t cut = 0; cut < bytes; cut += 7) {
    ck_assert_int_ne(vyre_disassemble(b.context, "cpu_ref", blob, cut, &text, &length, &error), VYRE_OK);
    ck_assert_ptr_null(text);
  }
  for (size_t at = 0; at < bytes; at++) {
    again[at] ^= 0x5A;
    vyre_disassemble(b.context, "cpu_ref", again, bytes, &text, &length, &error);
    free(text);
    again[at] ^= 0x5A;
  }
  free(blob);
  free(again);
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

START_TEST(every_allocation_may_fail) {
  bench b = bench_cpu_ref();
  vyre_program *program = program_of(SAXPY);
  vyre_capabilities caps = { .size = sizeof caps };
  vyre_arg spec = vyre_arg_f32("a", 2);
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  options.specs = &spec;
  options.spec_count = 1;
  ck_assert_int_eq(vyre_backend_profile(b.context, "cpu_ref", 0, &caps, NULL), VYRE_OK);
  for (uint64_t n = 1, failed = 1; failed; n++) {
    vyre_error error = VYRE_ERROR_INIT;
    uint8_t *blob;
    char *text = NULL;
    size_t bytes, length;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = vyre_compile_blob(b.context, "cpu_ref", &caps, program, &options, &blob, &bytes, &error);
    if (status == VYRE_OK) status = vyre_disassemble(b.context, "cpu_ref", blob, bytes, &text, &length, &error);
    failed = fail_malloc_end();
    free(text);
    free(blob);
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    ck_assert_int_eq(fail_malloc_live(), before);
  }
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { profiles_need_no_device, blobs_are_the_plugins_own, text_of_the_oracle,
                                 every_allocation_may_fail, NULL };
  return run_suite("emit", 60, tests);
}
