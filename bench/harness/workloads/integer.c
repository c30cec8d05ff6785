/* integer.strength_reduction: divisions and remainders that a good compiler turns into multiplications, written as they
 * are meant. The runtime variant has the same divisors as parameters, so that there is nothing to reduce; the exact one
 * divides products by their own factors. */
#include "harness/generate.h"
#include "harness/workload.h"

#define PROGRAM(declarations, expression)                                                                              \
  "program strength_reduction workgroup(256) {\n" declarations                                                         \
  "  read x: u32[];\n"                                                                                                 \
  "  rw o: u32[];\n"                                                                                                   \
  "  let i = gid.x;\n"                                                                                                 \
  "  if (i < len(o)) {\n"                                                                                              \
  "    let v = x[i];\n"                                                                                                \
  "    o[i] = " expression ";\n"                                                                                       \
  "  }\n"                                                                                                              \
  "}\n"

static const uint32_t divisors[] = {7, 10, 641, 1000, 65536, 4096};
static const char *const divisor_names[] = {"d0", "d1", "d2", "d3", "d4", "d5"};
enum { DIVISORS = sizeof divisors / sizeof *divisors };

static void declare(bench_work *work) {
  bench_work_array(work, "x", VYRE_TYPE_U32, work->n, false);
  bench_work_array(work, "o", VYRE_TYPE_U32, work->n, true);
}

static void declare_runtime(bench_work *work) {
  declare(work);
  for (int i = 0; i < DIVISORS; i++) bench_work_param_u32(work, divisor_names[i], divisors[i]);
}

static uint64_t bytes(uint64_t n) {
  return 8 * n;
}

/* As written: six divisions or remainders, two multiplications, six additions and one exclusive or. */
static uint64_t ops(uint64_t n) {
  return 15 * n;
}

static void generate(bench_work *work) {
  uint32_t *x = bench_work_find(work, "x")->host;
  for (uint64_t i = 0; i < work->n; i++) x[i] = bench_hash(4, (uint32_t)i);
}

/* With divisors that the compiler does not know, so that this and what it checks are not one trick. */
static void expect(bench_work *work) {
  const volatile uint32_t *d = divisors;
  const uint32_t d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4], d5 = d[5];
  const uint32_t *x = bench_work_find(work, "x")->host;
  uint32_t *o = bench_work_find(work, "o")->host;
  for (uint64_t i = 0; i < work->n; i++) {
    uint32_t v = x[i];
    o[i] = v / d0 + v % d1 + v / d2 + v % d3 + v / d4 + v % d5 + ((9 * v) ^ (31 * v));
  }
}

const bench_workload bench_strength_reduction = {
    .id = "integer.strength_reduction",
    .variant = "true",
    .title = "u32: x/7 + x%10 + x/641 + x%1000 + x/65536 + x%4096 + ((9x) ^ (31x))",
    .bound = "bw_copy",
    .check = "every bit, against the same expression in C with divisors unknown to the compiler",
    .declare = declare,
    .bytes = bytes,
    .ops = ops,
    .generate = generate,
    .expect = expect,
    .program = PROGRAM("", "v / 7 + v % 10 + v / 641 + v % 1000 + v / 65536 + v % 4096 + ((9 * v) ^ (31 * v))"),
};

const bench_workload bench_strength_reduction_runtime = {
    .id = "integer.strength_reduction",
    .variant = "runtime",
    .title = "the same with divisors from parameters",
    .peer_id = "integer.strength_reduction.runtime",
    .bound = "bw_copy",
    .check = "every bit, against the same expression in C",
    .declare = declare_runtime,
    .bytes = bytes,
    .ops = ops,
    .generate = generate,
    .expect = expect,
    .program = PROGRAM("  param d0: u32;\n  param d1: u32;\n  param d2: u32;\n"
                       "  param d3: u32;\n  param d4: u32;\n  param d5: u32;\n",
                       "v / d0 + v % d1 + v / d2 + v % d3 + v / d4 + v % d5 + ((9 * v) ^ (31 * v))"),
};

/* ---- Exact divisions: w = x >> 8, so that no product wraps -------------------------------------------- */

static uint64_t ops_exact(uint64_t n) {
  return 6 * n;
}

static void expect_exact(bench_work *work) {
  const uint32_t *x = bench_work_find(work, "x")->host;
  uint32_t *o = bench_work_find(work, "o")->host;
  for (uint64_t i = 0; i < work->n; i++) o[i] = (x[i] >> 8) * 5; /* w * 12 / 12 + w * 100 / 25 */
}

const bench_workload bench_strength_reduction_exact = {
    .id = "integer.strength_reduction",
    .variant = "exact",
    .title = "u32: w * 12 / 12 + w * 100 / 25 with w = x >> 8",
    .peer_id = "integer.strength_reduction.exact",
    .bound = "bw_copy",
    .check = "every bit, against 5w",
    .declare = declare,
    .bytes = bytes,
    .ops = ops_exact,
    .generate = generate,
    .expect = expect_exact,
    .program = PROGRAM("", "(v >> 8) * 12 / 12 + (v >> 8) * 100 / 25"),
};
