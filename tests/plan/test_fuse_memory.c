/* The n-th allocation fails, for every n: fusion says so and leaves nothing behind and no output, or does without it
 * (the validator has a shortcut that may fail) and gives what it gives else. */
#include <vyre/plan.h>

#include "../cpu_ref/trial.h"
#include "../fail_malloc.h"
#include "../suite.h"

START_TEST(every_allocation) {
  vyre_program *arms[] = {
    trial_parse("program a workgroup(4) { param n: u32; shared s: u32[4]; rw x: u32[]; s[lid.x] = n; barrier;"
                " for (i in 0..4) { if (x[i] > n) { return; } x[gid.x] = s[i]; } print(\"{}\", n); }"),
    trial_parse("program b workgroup(4) { param n: u32; shared s: u32[4]; rw x: u32[]; let i = gid.x;"
                " if (i > n) { return; } x[7 - i] = s[1]; }"),
    trial_parse("program c workgroup(4) { rw y: u32[]; y[gid.x] = 1; }")
  };
  for (uint64_t n = 1, failed = true; failed; n++) {
    vyre_program *out = arms[0], *good;
    bool is_shared = n % 2 == 0;
    ck_assert_int_eq((is_shared ? vyre_fuse_shared : vyre_fuse)(arms, 3, NULL, &good, NULL, NULL, NULL), VYRE_OK);
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = (is_shared ? vyre_fuse_shared : vyre_fuse)(arms, 3, NULL, &out, NULL, NULL, NULL);
    failed = fail_malloc_end();
    ck_assert_msg(status == VYRE_OK || (failed && status == VYRE_ERR_NO_MEMORY), "allocation %u: %d", (unsigned)n,
                  status);
    if (status == VYRE_OK)
      ck_assert(vyre_program_equal(out, good));
    else
      ck_assert_ptr_null(out);
    vyre_program_release(out);
    ck_assert_int_eq(fail_malloc_live(), before);
    vyre_program_release(good);
  }
  for (uint32_t i = 0; i < 3; i++) vyre_program_release(arms[i]);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { every_allocation, NULL };
  return run_suite("fuse_memory", 60, tests);
}
