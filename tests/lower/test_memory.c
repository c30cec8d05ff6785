/* The n-th allocation fails, for every n: lowering, verifying and printing say so, leave nothing behind and no output. */
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>
#include <vyre/text.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "targets.h"

static const char text[] =
  "program p workgroup(8) {\n"
  "  param n: u32; param m: u32; read a: u8[]; rw b: u32[];\n"
  "  const T: u16[3] = {1, 2, 3}; shared s: u32[8]; local l: f32[2];\n"
  "  var kept = u32(a[gid.x]) + T[n];\n"
  "  s[lid.x] = kept; l[n] = f32(kept);\n"
  "  for (i in 0..n) { fence(release, device); atomic_add(b[i], kept, acquire); if (i == 3) { return; } }\n"
  "  print(\"{}\", kept / n);\n"
  "  grid_barrier;\n"
  "  loop { if (should_stop()) { break; } }\n"
  "  b[gid.x] = kept + m + s[7 - lid.x] + u32(l[0]);\n"
  "}\n";

static vyre_program *program;

static void make_program(void) {
  vyre_error error = VYRE_ERROR_INIT;
  if (vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
}
static void free_program(void) { vyre_program_release(program); }

START_TEST(lowering) {
  vyre_lower_options o = target_options(_i == 0 ? TARGET_ALL : TARGET_LEAST);
  o.compile_flags = VYRE_COMPILE_STEPS;
  o.steps = 9;
  const vyre_spec_constant spec = { 1, VYRE_TYPE_U32, 5 };
  o.spec = &spec;
  o.spec_count = 1;
  uint64_t count = 0;
  for (bool failed = true; failed; count++) {
    uint8_t *kernel = (uint8_t *)1;
    size_t bytes = 1;
    int64_t before = fail_malloc_live();
    fail_malloc_at(count + 1);
    vyre_status status = vyre_lower(program, &o, &kernel, &bytes, NULL);
    failed = fail_malloc_end();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    if (failed) ck_assert(kernel == NULL && bytes == 0);
    free(kernel);
    ck_assert_int_eq(fail_malloc_live(), before);
  }
  ck_assert(count > 20 || !fail_malloc_works());
}
END_TEST

START_TEST(printing) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  uint8_t *kernel;
  size_t size;
  uint64_t count = 0;
  ck_assert_int_eq(vyre_lower(program, &o, &kernel, &size, NULL), VYRE_OK);
  for (bool failed = true; failed; count++) {
    char *out = (char *)1;
    int64_t before = fail_malloc_live();
    fail_malloc_at(count + 1);
    vyre_status status = vyre_kernel_print(kernel, size, &out, NULL, NULL);
    failed = fail_malloc_end();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    if (failed) ck_assert_ptr_null(out);
    free(out);
    ck_assert_int_eq(fail_malloc_live(), before);
  }
  ck_assert(count > 5 || !fail_malloc_works());
  free(kernel);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lower/memory");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 60);
  suite_add_tcase(suite, all);
  tcase_add_unchecked_fixture(all, make_program, free_program);
  tcase_add_loop_test(all, lowering, 0, 2);
  tcase_add_test(all, printing);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
