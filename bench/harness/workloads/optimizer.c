/* optimizer.impact: one sum, written four times in ways that are equal, and literals to fold. What a compiler that sees
 * it leaves of the program are counters of the case; the result is the same to the bit. */
#include <string.h>

#include <vyre/text.h>

#include "harness/workload.h"

static const char program[] =
    "program optimizer_impact workgroup(256) {\n"
    "  read a: f32[];\n"
    "  read b: f32[];\n"
    "  rw o: f32[];\n"
    "  let i = gid.x;\n"
    "  if (i < len(o)) {\n"
    "    let t1 = a[i] + b[i];\n"
    "    let t2 = a[i | 0] + b[i | 0];\n"
    "    let t3 = a[i + (i & 0)] + b[i + (i & 0)];\n"
    "    let t4 = a[i] + b[i];\n"
    "    o[i] = (t1 + t2) + (t3 + t4) + (3.0 + 2.0) + 0.0;\n"
    "  }\n"
    "}\n";

static void declare(bench_work *work) {
  bench_work_array(work, "a", VYRE_TYPE_F32, work->n, false);
  bench_work_array(work, "b", VYRE_TYPE_F32, work->n, false);
  bench_work_array(work, "o", VYRE_TYPE_F32, work->n, true);
}

static uint64_t bytes(uint64_t n) {
  return 12 * n;
}

/* What is left to do at least: four sums, once a and b are loaded and added once. */
static uint64_t ops(uint64_t n) {
  return 4 * n;
}

static void generate(bench_work *work) {
  float *a = bench_work_find(work, "a")->host, *b = bench_work_find(work, "b")->host;
  for (uint64_t i = 0; i < work->n; i++) {
    a[i] = (float)(i % 257);
    b[i] = (float)(i % 131);
  }
}

/* Small whole numbers: every order of the additions gives the same. */
static void expect(bench_work *work) {
  float *o = bench_work_find(work, "o")->host;
  for (uint64_t i = 0; i < work->n; i++) o[i] = (float)(4 * (i % 257 + i % 131) + 5);
}

static bool finish(const bench_setting *setting, const bench_work *work, bench_report *report, bench_case *c) {
  vyre_program *p;
  vyre_program_info info;
  (void)setting;
  (void)work;
  if (vyre_text_parse(program, strlen(program), NULL, NULL, &p, NULL) != VYRE_OK) return true;
  vyre_program_describe(p, &info);
  vyre_program_release(p);
  return bench_case_count(report, c, "nodes_before", "1", info.expr_count) &&
         bench_case_count(report, c, "statements_before", "1", info.statement_count) &&
         bench_case_count(report, c, "memory_operations_before", "1", (double)info.memory_op_count);
}

const bench_workload bench_optimizer_impact = {
    .id = "optimizer.impact",
    .variant = "true",
    .title = "f32: ((a + b) + (a + b)) + ((a + b) + (a + b)) + (3 + 2) + 0, each index written another way",
    .bound = "bw_copy",
    .check = "every bit, against 4 (a + b) + 5 in whole numbers",
    .declare = declare,
    .bytes = bytes,
    .ops = ops,
    .generate = generate,
    .expect = expect,
    .program = program,
    .finish = finish,
};
