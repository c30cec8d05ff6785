/* Every allocation that the engine makes fails once: it answers NO_MEMORY, and nothing is left behind. */
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "trial.h"

static const char *const rich =
    "program p workgroup(4) { param a: f32; read x: f32[]; rw y: f32[]; shared s: f32[8]; local l: u32[2]; const T: u32[2] = {1, 2};"
    "for (i in 0..3) { if (i == 1) { s[lid.x] = x[gid.x] * a; } else { l[0] += T[i]; } barrier; }"
    "print(\"{} {}\", a, l[0]); loop { if (should_stop()) { break; } } y[gid.x] = s[3 - lid.x] + subgroup_add(1.0); grid_barrier; y[gid.x] += 1.0; }";

START_TEST(preparing_survives_the_failure_of_any_allocation) {
  vyre_program *p = trial_parse(rich);
  bool failed = true;
  for (uint64_t n = 1; failed; n++) {
    cpu_code *code;
    vyre_error error = VYRE_ERROR_INIT;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = cpu_code_create(p, &(cpu_options){ 0 }, &code, &error);
    failed = fail_malloc_end();
    bool empty = code == NULL;
    cpu_code_destroy(code);
    int64_t after = fail_malloc_live();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    ck_assert_int_eq(empty, failed);
    ck_assert_int_eq(after, before);
    if (!failed && fail_malloc_works()) ck_assert_uint_gt(n, 8);
  }
  vyre_program_release(p);
}
END_TEST

START_TEST(launching_survives_the_failure_of_any_allocation) {
  trial t;
  trial_begin(&t, rich);
  trial_bind(&t, "x", 8);
  float *y = trial_bind(&t, "y", 8);
  t.launch.work_budget = 2;
  bool failed = true;
  for (uint64_t n = 1; failed; n++) {
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = trial_try(&t, 2, 1, 1);
    failed = fail_malloc_end();
    int64_t after = fail_malloc_live();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    ck_assert_int_eq(after, before);
  }
  ck_assert_float_eq(y[7], 5);
  trial_end(&t);
}
END_TEST

START_TEST(sizes_beyond_all_memory_are_refused) {
  trial t;
  trial_begin(&t, "program p workgroup(4096) { local l: u32x4[4194304]; l[gid.x] = u32x4(1); }");
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_ERR_LIMIT);
  t.launch.memory_limit = UINT64_MAX;
  t.launch.together = true;
  ck_assert_int_eq(trial_try(&t, 1 << 20, 1 << 20, 1 << 20), VYRE_ERR_LIMIT);
  ck_assert_int_eq(trial_try(&t, 1 << 20, 1 << 6, 1), VYRE_ERR_LIMIT);
  trial_end(&t);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { preparing_survives_the_failure_of_any_allocation,
                                 launching_survives_the_failure_of_any_allocation,
                                 sizes_beyond_all_memory_are_refused, NULL };
  return run_suite("cpu_ref/fault", 60, tests);
}
