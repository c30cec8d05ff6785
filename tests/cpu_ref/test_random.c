/* Random programs: the same answer in both orders of lanes and at another run, and no access beyond memory (which the
 * sanitizer builds see). */
#include <stdlib.h>
#include <string.h>

#include "../../plugins/cpu_ref/cpu_limits.h"
#include "../gen/random_program.h"
#include "../suite.h"
#include "holds.h"
#include "../../plugins/cpu_ref/launch.h"

enum { ELEMENTS = 40, MAX_BUFFERS = 64, MAX_PARAMS = 64 };

typedef struct memory {
  cpu_bound bound[MAX_BUFFERS];
  uint64_t bytes[MAX_BUFFERS];
  uint32_t count;
} memory;

/* Contents that depend on the seed alone. */
static void bind_all(memory *m, const vyre_program *p, uint64_t seed) {
  random_source source = { seed };
  vyre_buffer_info info;
  for (m->count = 0; vyre_program_slot(p, m->count, &info); m->count++) {
    HOLDS(m->count < MAX_BUFFERS);
    uint64_t length = info.length != 0 ? info.length : ELEMENTS, bytes = length * vyre_type_describe(info.element)->bytes;
    uint8_t *data = aligned_alloc(16, (bytes + 31) & ~(uint64_t)15);
    for (uint64_t i = 0; i < bytes; i++) data[i] = info.access == VYRE_ACCESS_WRITE ? 0 : (uint8_t)random_bits(&source);
    m->bound[m->count] = (cpu_bound){ data, length };
    m->bytes[m->count] = bytes;
  }
}

static void free_all(memory *m) {
  for (uint32_t i = 0; i < m->count; i++) free(m->bound[i].data);
}

static vyre_status run_once(const cpu_code *code, memory *m, uint64_t seed, bool reverse, cpu_report *report) {
  random_source source = { seed };
  uint64_t params[MAX_PARAMS];
  vyre_param_info info;
  for (uint32_t i = 0; vyre_program_param(code->program, i, &info); i++) {
    HOLDS(i < MAX_PARAMS);
    params[i] = random_bits(&source);
    if (vyre_type_describe(info.type)->bytes == 4) params[i] = (uint32_t)params[i];
    if (info.type == VYRE_TYPE_BOOL) params[i] &= 1;
  }
  bind_all(m, code->program, seed);
  uint32_t work = 1;
  cpu_launch launch = { .code = code, .params = params, .bound = m->bound, .grid = { 2, 1, 2 }, .reverse = reverse,
                        .memory_limit = CPU_MEMORY_LIMIT, .work_budget = work };
  return cpu_launch_run(&launch, report, NULL);
}

/* Both outcomes, and where they end well the memory, must be equal. */
static void check_same(const cpu_code *code, uint64_t seed, bool first, bool second) {
  memory a, b;
  cpu_report x, y;
  vyre_status status = run_once(code, &a, seed, first, &x), again = run_once(code, &b, seed, second, &y);
  if (status != VYRE_OK && status != VYRE_ERR_TRAP) ck_abort_msg("seed %llu: status %d", (unsigned long long)seed, status);
  if (status != again) ck_abort_msg("seed %llu: status %d and %d", (unsigned long long)seed, status, again);
  if (x.operations != y.operations && status == VYRE_OK)
    ck_abort_msg("seed %llu: %llu and %llu operations", (unsigned long long)seed, (unsigned long long)x.operations,
                 (unsigned long long)y.operations);
  for (uint32_t i = 0; i < a.count && status == VYRE_OK; i++)
    if (memcmp(a.bound[i].data, b.bound[i].data, a.bytes[i]) != 0)
      ck_abort_msg("seed %llu: buffer %u differs", (unsigned long long)seed, i);
  free_all(&a);
  free_all(&b);
}

/* Runs of |count| seeds; gives how many ended well. */
static uint32_t check_seeds(uint64_t from, uint32_t count, const random_program_options *options, bool both_orders) {
  static const uint32_t sizes[] = { 1, 2, 4, 8, 16, 32 };
  uint32_t ran = 0;
  for (uint64_t seed = from; seed < from + count; seed++) {
    vyre_error error = VYRE_ERROR_INIT;
    vyre_program *p;
    cpu_code *code;
    if (random_program(seed, options, NULL, &p, &error) != VYRE_OK) ck_abort_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    vyre_program_info info;
    vyre_program_describe(p, &info);
    cpu_options o = { .ulp = info.ulp == VYRE_ULP_UNSET ? 1 : info.ulp, .subgroup = info.subgroup ? 0 : sizes[seed % 6], .steps = 300 };
    if (cpu_code_create(p, &o, &code, &error) == VYRE_OK) {
      check_same(code, seed, false, both_orders);
      cpu_code_destroy(code);
      ran++;
    }
    vyre_program_release(p);
  }
  return ran;
}

START_TEST(reproducible_programs_give_one_answer_in_both_orders) {
  random_program_options options = { .reproducible = true };
  ck_assert_uint_gt(check_seeds(1, 1500, &options, true), 1400);
}
END_TEST

START_TEST(any_program_gives_the_same_answer_again) {
  random_program_options options = { .avoid = VYRE_NEED_CLOCK };
  ck_assert_uint_gt(check_seeds(100000, 800, &options, false), 600);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { reproducible_programs_give_one_answer_in_both_orders, any_program_gives_the_same_answer_again, NULL };
  return run_suite("cpu_ref/random", 240, tests);
}
