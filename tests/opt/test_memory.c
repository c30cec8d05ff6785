/* The n-th allocation fails, for every n and in every pass: the optimizer says so, leaves nothing behind and no
 * output. */
#include <stdlib.h>
#include <string.h>

#include <vyre/opt.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "dense.h"

/* How many allocations there were. */
static uint64_t fail_each(vyre_program *p, const vyre_opt_options *options, const char *what) {
  uint64_t count = 0;
  for (bool failed = true; failed; count++) {
    vyre_program *out = p;
    vyre_opt_report *report = NULL;
    int64_t before = fail_malloc_live();
    fail_malloc_at(count + 1);
    vyre_status status = vyre_optimize(p, options, &out, &report, NULL);
    failed = fail_malloc_end();
    ck_assert_msg(status == (failed ? VYRE_ERR_NO_MEMORY : VYRE_OK), "%s, allocation %u: status %d", what,
                  (unsigned)count + 1, status);
    if (failed) ck_assert(out == NULL && report == NULL);
    vyre_program_release(out);
    vyre_opt_report_free(report);
    ck_assert_msg(fail_malloc_live() == before, "%s, allocation %u: not all is freed", what, (unsigned)count + 1);
  }
  return count;
}

static vyre_program *program_of(uint64_t seed) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p = dense_program(seed, &error);
  ck_assert_msg(p != NULL, "%s", error.text);
  return p;
}

START_TEST(every_pass) {
  vyre_opt_pass_info info;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    vyre_program *p = program_of(seed);
    for (uint32_t i = 0; vyre_opt_pass_describe(i, &info); i++) {
      vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
      options.flags = VYRE_OPT_VERIFY | VYRE_OPT_EXPLAIN;
      options.passes = info.name;
      ck_assert(fail_each(p, &options, info.name) > 10 || !fail_malloc_works());
    }
    vyre_program_release(p);
  }
}
END_TEST

START_TEST(all_of_them) {
  vyre_program *p = program_of(4);
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  ck_assert(fail_each(p, &options, "level 2") > 100 || !fail_malloc_works());
  vyre_program_release(p);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { every_pass, all_of_them, NULL };
  return run_suite("opt/memory", 120, tests);
}
