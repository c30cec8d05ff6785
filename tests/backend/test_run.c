/* Programs run through the host API on the oracle: the short way, what a run tells, and what it does where memory
 * ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "device_for.h"

#define COUNT(args) (sizeof(args) / sizeof *(args))

START_TEST(saxpy) {
  enum { N = 1000 };
  bench b = bench_cpu_ref();
  vyre_program *program = program_of(SAXPY);
  float x[N], y[N];
  for (int i = 0; i < N; i++) {
    x[i] = (float)i;
    y[i] = 1;
  }
  vyre_arg args[] = { vyre_arg_f32("a", 2), vyre_arg_in("x", x, N), vyre_arg_inout("y", y, N) };
  OK(vyre_run(b.device, program, args, COUNT(args), NULL, &error));
  for (int i = 0; i < N; i++) ck_assert_float_eq(y[i], 2 * (float)i + 1);
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

START_TEST(grid_given_and_grid_of_nothing) {
  bench b = bench_cpu_ref();
  vyre_program *program = program_of("program p workgroup(4) { rw y: u32[]; y[gid.x] = gid.x + 1; }");
  uint32_t y[12] = { 0 };
  vyre_arg args[] = { vyre_arg_inout("y", y, 12) };
  vyre_run_options options = VYRE_RUN_OPTIONS_INIT;
  vyre_launch_report report = { .size = sizeof report };
  options.has_grid = 1;
  options.grid[0] = 2;
  options.report = &report;
  OK(vyre_run(b.device, program, args, 1, &options, &error));
  ck_assert_uint_eq(y[7], 8);
  ck_assert_uint_eq(y[8], 0);
  ck_assert_uint_eq(report.launched_grid[0], 2);
  ck_assert_uint_eq(report.declared_workgroup[0], 4);
  memset(y, 0x55, sizeof y);
  options.grid[1] = 0;
  OK(vyre_run(b.device, program, args, 1, &options, &error));
  ck_assert_uint_eq(y[0], 0x55555555);
  options.grid[1] = 1ull << 33;
  REFUSED(vyre_run(b.device, program, args, 1, &options, &error), VYRE_ERR_OUT_OF_RANGE, "along y");
  options.size = 3;
  REFUSED(vyre_run(b.device, program, args, 1, &options, &error), VYRE_ERR_INVALID_ARGUMENT, "size 3");
  vyre_program_release(program);
  program = program_of("program p workgroup(2, 2) { rw y: u32[]; }");
  REFUSED(vyre_run(b.device, program, args, 1, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "2 x 2 x 1");
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

START_TEST(parameters_of_every_type) {
  bench b = bench_cpu_ref();
  vyre_program *program = program_of(
      "program p { param b: bool; param i: i32; param l: u64; param u: u32; param d: f64; param f: f32; param m: i64;\n"
      "  write y: u64[7]; y[0] = u64(b); y[1] = u64(i); y[2] = l; y[3] = u64(u); y[4] = bitcast<u64>(d);\n"
      "  y[5] = u64(bitcast<u32>(f)); y[6] = bitcast<u64>(m); }");
  uint64_t y[7];
  memset(y, 0xEE, sizeof y);
  vyre_arg args[] = { vyre_arg_f32("f", 0.5f), vyre_arg_bool("b", true),
                      vyre_arg_i32("i", -2),   vyre_arg_u64("l", 1ull << 40),
                      vyre_arg_u32("u", 7),    vyre_arg_f64("d", -0.25),
                      vyre_arg_i64("m", -3),   vyre_arg_out("y", y, 7) };
  OK(vyre_run(b.device, program, args, COUNT(args), NULL, &error));
  ck_assert_uint_eq(y[0], 1);
  ck_assert_uint_eq(y[1], UINT64_MAX - 1);
  ck_assert_uint_eq(y[2], 1ull << 40);
  ck_assert_uint_eq(y[3], 7);
  ck_assert_uint_eq(y[4], 0xBFD0000000000000u);
  ck_assert_uint_eq(y[5], 0x3F000000u);
  ck_assert_uint_eq(y[6], UINT64_MAX - 2);
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

START_TEST(host_memory_that_does_not_fit) {
  bench b = bench_cpu_ref();
  vyre_program *program =
      program_of("program p { read x: u32[]; write y: u32[]; if (len(x) > 0) { y[gid.x] = x[gid.x]; } }");
  uint32_t x[4] = { 1, 2, 3, 4 }, y[4] = { 9, 9, 9, 9 };
  vyre_arg in = vyre_arg_in("x", x, 4), out = vyre_arg_out("y", y, 4);
  OK(vyre_run(b.device, program, (vyre_arg[]){ in, out }, 2, NULL, &error));
  ck_assert_mem_eq(x, y, sizeof x);
  REFUSED(vyre_run(b.device, program, (vyre_arg[]){ in, vyre_arg_inout("y", y, 4) }, 2, NULL, &error),
          VYRE_ERR_INVALID_ARGUMENT, "starts as zero");
  REFUSED(vyre_run(b.device, program, (vyre_arg[]){ vyre_arg_out("x", x, 4), out }, 2, NULL, &error),
          VYRE_ERR_INVALID_ARGUMENT, "read buffer");
  REFUSED(vyre_run(b.device, program, (vyre_arg[]){ in, vyre_arg_out("y", NULL, 4) }, 2, NULL, &error),
          VYRE_ERR_INVALID_ARGUMENT, "no memory");
  REFUSED(vyre_run(b.device, program, (vyre_arg[]){ in, vyre_arg_out("z", y, 4) }, 2, NULL, &error), VYRE_ERR_NOT_FOUND,
          "called z");
  REFUSED(vyre_run(b.device, program, &in, 1, NULL, &error), VYRE_ERR_MISSING_BINDING, "Buffer y");
  REFUSED(vyre_run(b.device, program, (vyre_arg[]){ in, vyre_arg_out("y", y, UINT64_MAX) }, 2, NULL, &error),
          VYRE_ERR_LIMIT, "max_buffer_bytes");
  /* No elements at all are a run that does nothing. */
  const vyre_arg nothing[] = { vyre_arg_in("x", NULL, 0), vyre_arg_out("y", NULL, 0) };
  OK(vyre_run(b.device, program, nothing, 2, NULL, &error));
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

START_TEST(a_trap_leaves_the_outputs_alone) {
  bench b = bench_cpu_ref();
  vyre_program *program =
      program_of("program p workgroup(8) { write y: u32[]; y[gid.x] = 1; if (gid.x > 2) { trap(gid.x + 40); } }");
  uint32_t y[8] = { 5, 5, 5, 5, 5, 5, 5, 5 };
  vyre_run_options options = VYRE_RUN_OPTIONS_INIT;
  vyre_completion completion = { .size = sizeof completion };
  options.completion = &completion;
  REFUSED(vyre_run(b.device, program, (vyre_arg[]){ vyre_arg_out("y", y, 8) }, 1, &options, &error), VYRE_ERR_TRAP,
          "code 43 in invocation (3, 0, 0); 5 invocations");
  ck_assert_uint_eq(y[0], 5);
  ck_assert_int_eq(completion.status, VYRE_ERR_TRAP);
  ck_assert_uint_eq(completion.trap_count, 5);
  ck_assert_uint_eq(completion.trap_code, 43);
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

START_TEST(steps_and_timeouts_bound_a_run) {
  bench b = bench_cpu_ref();
  vyre_program *program = program_of("program p { rw y: u32[]; loop { y[0] += 1; } }");
  uint32_t y[1] = { 0 };
  vyre_compile_options compile_options = VYRE_COMPILE_OPTIONS_INIT;
  vyre_run_options options = VYRE_RUN_OPTIONS_INIT;
  compile_options.steps = 1000;
  options.compile = &compile_options;
  vyre_arg arg = vyre_arg_inout("y", y, 1);
  REFUSED(vyre_run(b.device, program, &arg, 1, &options, &error), VYRE_ERR_TRAP, "used up its steps");
  compile_options.steps = 1000000;
  options.timeout_ns = 1;
  REFUSED(vyre_run(b.device, program, &arg, 1, &options, &error), VYRE_ERR_TIMEOUT, "had not ended");
  ck_assert_uint_eq(y[0], 0);
  options.timeout_ns = 0;
  ck_assert_int_eq(vyre_config_set(b.config, VYRE_CONFIG_RUN_TIMEOUT, "1 ns", NULL, NULL), VYRE_OK);
  REFUSED(vyre_run(b.device, program, &arg, 1, &options, &error), VYRE_ERR_TIMEOUT, "had not ended");
  vyre_program_release(program);
  bench_end(&b); /* waits for both */
}
END_TEST

/* The code that stands for steps is an ordinary one where none are counted. */
START_TEST(the_code_of_steps_means_steps_only_with_a_limit) {
  bench b = bench_cpu_ref();
  vyre_program *program = program_of("program p { write y: u32[]; trap(0xFFFFFFFF); }");
  uint32_t y[1] = { 0 };
  vyre_compile_options compile_options = VYRE_COMPILE_OPTIONS_INIT;
  vyre_run_options options = VYRE_RUN_OPTIONS_INIT;
  options.compile = &compile_options;
  vyre_arg arg = vyre_arg_out("y", y, 1);
  REFUSED(vyre_run(b.device, program, &arg, 1, &options, &error), VYRE_ERR_TRAP, "trapped with code 4294967295");
  compile_options.steps = 1000;
  REFUSED(vyre_run(b.device, program, &arg, 1, &options, &error), VYRE_ERR_TRAP, "or called trap");
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

static void append_text(void *ctx, const uint32_t gid[3], const char *text) {
  sprintf((char *)ctx + strlen(ctx), "%u:%s|", gid[0], text);
}

START_TEST(prints_of_every_type) {
  bench b = bench_cpu_ref();
  vyre_program *program = program_of(
      "program p { print(\"none\");\n"
      "  if (gid.x == 1) { print(\"{} {} {} {}\", 7u32, -7i32, 5000000000u64, -5000000000i64); }\n"
      "  print(\"{}{}{}\", gid.x == 0, 0.1, 0.1f64); print(\"{} {} {}\", inf, -inf, nan); }");
  char text[1024] = "";
  vyre_run_options options = VYRE_RUN_OPTIONS_INIT;
  options.has_grid = 1;
  options.grid[0] = 2;
  options.print = append_text;
  options.print_ctx = text;
  OK(vyre_run(b.device, program, NULL, 0, &options, &error));
  ck_assert_str_eq(text, "0:none|0:true0.10.1|0:inf -inf nan|"
                         "1:none|1:7 -7 5000000000 -5000000000|1:false0.10.1|1:inf -inf nan|");
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

START_TEST(prints_that_find_no_room_are_counted) {
  bench b = bench_cpu_ref();
  vyre_program *program = program_of("program p { for (i in 0..30000) { print(\"{}\", i); } }");
  vyre_run_options options = VYRE_RUN_OPTIONS_INIT;
  vyre_completion completion = { .size = sizeof completion };
  options.completion = &completion;
  OK(vyre_run(b.device, program, NULL, 0, &options, &error));
  ck_assert_uint_gt(completion.prints_written, 1000);
  ck_assert_uint_eq(completion.prints_written + completion.prints_dropped, 30000);
  ck_assert_uint_gt(completion.prints_dropped, 0);
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

/* ---- The long way ---------------------------------------------------------------------------- */

START_TEST(counts_and_grids_from_the_device) {
  bench b = bench_cpu_ref();
  vyre_executable *e = compile(&b, "program p { rw y: u32[]; read x: u32[]; y[gid.x] = len(y) * 100 + nwg.x; }");
  vyre_buffer *m, *x;
  void *map;
  vyre_set *set;
  vyre_batch *batch;
  vyre_queue *queue;
  vyre_submission *s;
  OK(vyre_buffer_create(b.device, 1024, VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE, &m, &error));
  OK(vyre_buffer_create(b.device, 64, 0, &x, &error));
  OK(vyre_buffer_map(m, &map, &error));
  uint32_t *words = map;
  vyre_arg args[] = { vyre_arg_range("y", m, 0, 16), vyre_arg_buffer("x", x) };
  args[0].length_buffer = m;
  args[0].length_bits = 32;
  args[0].length_offset = 512;
  OK(vyre_set_create(e, args, 2, &set, &error));
  OK(vyre_batch_create(b.device, &batch, &error));
  vyre_launch launch = VYRE_LAUNCH_INIT;
  launch.grid[0] = 8;
  launch.grid_buffer = m;
  launch.grid_offset = 516;
  OK(vyre_batch_launch(batch, set, &launch, &error));
  OK(vyre_queue_create(b.device, &queue, &error));
  static const struct {
    uint32_t count, grid, written, value, clamped;
  } cases[] = { { 5, 3, 3, 503, 0 }, { 2, 8, 2, 208, 0 }, { 16, 9, 8, 1608, 1 }, { 99, 9, 8, 1608, 2 },
                { 7, 0, 0, 0, 0 } };
  for (size_t i = 0; i < COUNT(cases); i++) {
    vyre_completion completion = { .size = sizeof completion };
    memset(words, 0, 64);
    words[128] = cases[i].count;
    words[129] = cases[i].grid;
    words[130] = words[131] = 1;
    OK(vyre_queue_submit(queue, batch, NULL, &s, &error));
    OK(vyre_submission_wait(s, VYRE_FOREVER, &error));
    OK(vyre_submission_completion(s, &completion, &error));
    for (uint32_t k = 0; k < 16; k++) ck_assert_uint_eq(words[k], k < cases[i].written ? cases[i].value : 0);
    ck_assert_uint_eq(completion.clamped_extents, cases[i].clamped);
    vyre_submission_destroy(s);
  }
  vyre_queue_destroy(queue);
  vyre_batch_destroy(batch);
  vyre_set_destroy(set);
  vyre_buffer_destroy(m);
  vyre_buffer_destroy(x);
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

START_TEST(late_parameters_reach_the_program) {
  bench b = bench_cpu_ref();
  vyre_executable *e = compile(&b, "program p { param k: u32; rw y: u32[]; y[0] = y[0] * 10 + k; }");
  vyre_buffer *y;
  vyre_set *set;
  vyre_batch *batch;
  vyre_queue *queue;
  vyre_submission *s;
  OK(vyre_buffer_create(b.device, 64, 0, &y, &error));
  vyre_arg args[] = { vyre_arg_u32("k", 0), vyre_arg_buffer("y", y) };
  args[0].flags = VYRE_ARG_LATE;
  OK(vyre_set_create(e, args, 2, &set, &error));
  OK(vyre_batch_create(b.device, &batch, &error));
  OK(vyre_batch_dispatch(batch, set, (uint64_t[]){ 1, 1, 1 }, &error));
  OK(vyre_queue_create(b.device, &queue, &error));
  for (uint32_t k = 1; k <= 4; k++) {
    vyre_arg value = vyre_arg_u32("k", k);
    vyre_late_args late = { .command = 0, .count = 1, .args = &value };
    vyre_submit_options options = { .size = sizeof options, .late = &late, .late_count = 1 };
    OK(vyre_queue_submit(queue, batch, &options, &s, &error));
    if (k < 4) vyre_submission_destroy(s);
  }
  OK(vyre_submission_wait(s, VYRE_FOREVER, &error));
  uint32_t result;
  OK(vyre_buffer_read(y, 0, &result, 4, &error));
  ck_assert_uint_eq(result, 1234);
  vyre_submission_destroy(s);
  vyre_queue_destroy(queue);
  vyre_batch_destroy(batch);
  vyre_set_destroy(set);
  vyre_buffer_destroy(y);
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

START_TEST(persistent_until_stopped_or_closed) {
  bench b = bench_cpu_ref();
  vyre_executable *e =
      compile(&b, "program p { rw y: u32[]; loop { atomic_add(y[0], 1); if (should_stop()) { break; } } }");
  vyre_buffer *y[2];
  vyre_set *set[2];
  vyre_submission *s[2];
  void *map[2];
  vyre_launch launch = VYRE_LAUNCH_INIT;
  for (int i = 0; i < 2; i++) {
    OK(vyre_buffer_create(b.device, 64, VYRE_MEMORY_CONCURRENT, &y[i], &error));
    OK(vyre_buffer_map(y[i], &map[i], &error));
    OK(vyre_set_create(e, (vyre_arg[]){ vyre_arg_buffer("y", y[i]) }, 1, &set[i], &error));
    OK(vyre_launch_persistent(set[i], &launch, &s[i], &error));
  }
  for (int i = 0; i < 2; i++)
    while (__atomic_load_n((uint32_t *)map[i], __ATOMIC_ACQUIRE) < 1000) continue;
  vyre_error timeout = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_submission_wait(s[0], 0, &timeout), VYRE_ERR_TIMEOUT);
  OK(vyre_submission_stop(s[0], &error));
  OK(vyre_submission_wait(s[0], VYRE_FOREVER, &error));
  OK(vyre_device_close(b.device, VYRE_FOREVER, &error)); /* stops the other one */
  b.device = NULL;
  OK(vyre_submission_wait(s[1], 0, &error));
  for (int i = 0; i < 2; i++) {
    vyre_submission_destroy(s[i]);
    vyre_set_destroy(set[i]);
    vyre_buffer_destroy(y[i]);
  }
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

/* ---- Memory that ends ------------------------------------------------------------------------ */

/* Every allocation of a whole run may fail: it says so, leaks nothing, and the next run is right. */
static void run_with_failures(const bench *b) {
  vyre_program *program = program_of(SAXPY);
  for (uint64_t n = 1;; n++) {
    float x[4] = { 1, 2, 3, 4 }, y[4] = { 1, 1, 1, 1 };
    vyre_arg args[] = { vyre_arg_f32("a", 2), vyre_arg_in("x", x, 4), vyre_arg_inout("y", y, 4) };
    fail_malloc_at(n);
    vyre_status status = vyre_run(b->device, program, args, 3, NULL, NULL);
    bool failed = fail_malloc_end();
    ck_assert_msg(status == VYRE_OK || (failed && (status == VYRE_ERR_NO_MEMORY || status == VYRE_ERR_LIMIT)),
                  "allocation %llu: %s", (unsigned long long)n, vyre_status_name(status));
    ck_assert_float_eq(y[3], status == VYRE_OK ? 9 : 1);
    if (!failed) break;
  }
  vyre_program_release(program);
}

START_TEST(any_allocation_of_a_run_may_fail) {
  bench b = bench_cpu_ref();
  run_with_failures(&b);
  bench_end(&b);
}
END_TEST

START_TEST(any_allocation_of_a_run_on_the_fake_may_fail) {
  bench b = bench_fake("sound");
  vyre_program *program = program_of("program p { rw y: u32[]; y[gid.x] = 1; }");
  for (uint64_t n = 1;; n++) {
    uint32_t y[4] = { 1, 2, 3, 4 };
    fail_malloc_at(n);
    vyre_status status = vyre_run(b.device, program, (vyre_arg[]){ vyre_arg_inout("y", y, 4) }, 1, NULL, NULL);
    bool failed = fail_malloc_end();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    ck_assert_uint_eq(y[3], failed ? 4 : 5);
    if (!failed) break;
    ck_assert_uint_le(live_objects(b.device), 2); /* the queue and its timeline are kept */
  }
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

START_TEST(any_allocation_of_opening_may_fail) {
  bench b = bench_fake("sound");
  for (uint64_t n = 1;; n++) {
    vyre_context *context = NULL;
    vyre_device *device = NULL;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = vyre_context_create(b.config, NULL, &context, NULL);
    if (status == VYRE_OK) status = vyre_device_open(context, "sound", &device, NULL);
    bool failed = fail_malloc_end();
    vyre_device_close(device, 0, NULL);
    vyre_context_destroy(context);
    ck_assert_msg(fail_malloc_live() == before, "allocation %llu leaks", (unsigned long long)n);
    ck_assert_msg(status == VYRE_OK || failed, "allocation %llu: %s", (unsigned long long)n, vyre_status_name(status));
    if (!failed) break;
  }
  bench_end(&b);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { saxpy,
                                 grid_given_and_grid_of_nothing,
                                 parameters_of_every_type,
                                 host_memory_that_does_not_fit,
                                 a_trap_leaves_the_outputs_alone,
                                 steps_and_timeouts_bound_a_run,
                                 the_code_of_steps_means_steps_only_with_a_limit,
                                 prints_of_every_type,
                                 prints_that_find_no_room_are_counted,
                                 counts_and_grids_from_the_device,
                                 late_parameters_reach_the_program,
                                 persistent_until_stopped_or_closed,
                                 any_allocation_of_a_run_may_fail,
                                 any_allocation_of_a_run_on_the_fake_may_fail,
                                 any_allocation_of_opening_may_fail,
                                 NULL };
  return run_suite("run", 60, tests);
}
