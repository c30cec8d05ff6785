/* Random programs: every kernel verifies, for every target, and gives what the oracle gives for the program. */
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "../gen/random_program.h"
#include "../suite.h"
#include "twin.h"

static vyre_program *make(uint64_t seed, const random_program_options *options) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  if (random_program(seed, options, NULL, &program, &error) != VYRE_OK)
    ck_abort_msg("seed %llu: %s", (unsigned long long)seed, error.text);
  return program;
}

/* Where one load of the program is one of each invocation in the kernel, and is counted so. */
static bool counts_differ(const vyre_program *p) {
  char *text;
  ck_assert_int_eq(vyre_text_print(p, &text, NULL), VYRE_OK);
  bool differ = strstr(text, "workgroup_uniform_load") != NULL;
  free(text);
  return differ;
}

static void check_twins(uint64_t seed, uint64_t steps) {
  static const uint32_t sizes[] = { 1, 2, 4, 8, 16, 32 };
  random_program_options options = { .reproducible = true, .avoid = VYRE_NEED_ATOMIC_LOAD128 };
  vyre_program *p = make(seed, &options);
  vyre_program_info info;
  vyre_program_describe(p, &info);
  bool masked = !counts_differ(p);
  for (target t = TARGET_ENGINE; t < TARGETS; t++) {
    run_case input = { .grid = { 2, 1, 2 }, .subgroup = info.subgroup ? info.subgroup : sizes[seed % 6],
                       .ulp = info.ulp == VYRE_ULP_UNSET ? 1 : info.ulp, .steps = steps, .work_budget = 1,
                       .elements = seed % 3 == 0 ? 37 : 40, .seed = seed };
    twin_options o = { .input = input, .target = t, .reverse = seed % 2 == 0,
                       .masked = masked && (t == TARGET_ENGINE || t == TARGET_RAW) };
    twin_result r = twin_run(p, &o);
    ck_assert_msg(r.text[0] == 0, "seed %llu, target %d: %s", (unsigned long long)seed, t, r.text);
  }
  vyre_program_release(p);
}

START_TEST(kernels_give_what_the_oracle_gives) {
  for (uint64_t seed = 1; seed <= suite_rounds(300); seed++) check_twins(seed, 3000);
}
END_TEST

START_TEST(so_they_do_where_the_step_limit_is_reached) {
  for (uint64_t seed = 10000; seed < 10000 + suite_rounds(150); seed++) check_twins(seed, 1 + seed % 5);
}
END_TEST

/* The kernel of any program, reproducible or not. */
START_TEST(every_kernel_verifies) {
  for (uint64_t seed = 20000; seed < 20000 + suite_rounds(600); seed++) {
    vyre_program *p = make(seed, NULL);
    vyre_program_info info;
    vyre_program_describe(p, &info);
    for (target t = TARGET_ALL; t < TARGETS; t++) {
      vyre_error error = VYRE_ERROR_INIT;
      vyre_lower_options o = target_options(t);
      o.compile_flags =
          VYRE_COMPILE_ULP | (seed % 2 ? VYRE_COMPILE_STEPS : 0) | (seed % 5 == 0 ? VYRE_COMPILE_UNCHECKED : 0);
      o.steps = seed % 2 ? (seed % 3 ? 1000 : 10000000000u) : 0;
      o.ulp_budget = info.ulp == VYRE_ULP_UNSET ? 0 : info.ulp;
      uint8_t *kernel;
      size_t bytes;
      vyre_status status = vyre_lower(p, &o, &kernel, &bytes, &error);
      bool is_f64_function =
          status == VYRE_ERR_UNSUPPORTED && t != TARGET_ALL && strstr(error.text, "of f64 within") != NULL;
      if (is_f64_function) continue;
      ck_assert_msg(status == VYRE_OK, "seed %llu, target %d: %s", (unsigned long long)seed, t, error.text);
      status = vyre_kernel_verify(kernel, bytes, &error);
      ck_assert_msg(status == VYRE_OK, "seed %llu, target %d: %s", (unsigned long long)seed, t, error.text);
      free(kernel);
    }
    vyre_program_release(p);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = { kernels_give_what_the_oracle_gives, so_they_do_where_the_step_limit_is_reached,
                                 every_kernel_verifies, NULL };
  return run_suite("lower/random", 240, tests);
}
