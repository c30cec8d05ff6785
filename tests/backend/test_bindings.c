/* What is refused before anything runs: programs that a device can't take, and bindings that do not fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../suite.h"
#include "device_for.h"

static vyre_buffer *buffer(const bench *b, uint64_t bytes) {
  vyre_buffer *out;
  ck_assert_int_eq(vyre_buffer_create(b->device, bytes, 0, &out, NULL), VYRE_OK);
  return out;
}

/* ---- Programs -------------------------------------------------------------------------------- */

static void refuse_program(const bench *b, const char *text, const vyre_compile_options *options, vyre_status status,
                           const char *says) {
  vyre_program *program = program_of(text);
  vyre_executable *executable;
  REFUSED(vyre_compile(b->device, program, options, &executable, &error), status, says);
  ck_assert_ptr_null(executable);
  vyre_program_release(program);
}

START_TEST(capabilities_that_are_absent) {
  bench b = bench_fake("lacking");
  static const char *const cases[][2] = {
    { "program p { rw y: u64[]; y[0] = y[1] + 1; }", "capability int64" },
    { "program p { rw y: f64[]; y[0] = y[1]; }", "float64" },
    { "program p workgroup(8) { rw y: u32[]; y[0] = subgroup_add(1u32); }", "V041" },
    { "program p { rw y: u64[]; atomic_add(y[0], 1u64); }", "lacks the capability" },
    { "program p { rw y: f32[]; atomic_add(y[0], 1.0); }", "capability atomic_f32_add" },
    { "program p { rw y: u32[]; atomic_add(y[0], 1, seq_cst); }", "capability seq_cst" },
    { "program p { rw y: u64[]; y[0] = clock_ns(); }", "V056" },
    { "program p { rw y: u32[]; y[0] = 1; grid_barrier; y[1] = 2; }", "capability grid_barrier" },
    { "program p progress(workgroups) { }", "capability progress" },
    { "program p { trap(1); }", "capability trap" },
    { "program p { print(\"x\"); }", "capability print" },
    { "program p { rw y: u8[]; y[0] = 1; }", "capability storage8" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse_program(&b, cases[i][0], NULL, VYRE_ERR_UNSUPPORTED, cases[i][1]);
  /* Integers need none of that. */
  vyre_executable_destroy(compile(&b, "program p { rw y: u32[]; y[0] = min(y[1] / 3, 7); }"));
  bench_end(&b);
}
END_TEST

START_TEST(numeric_promises_that_are_not_made) {
  bench b = bench_fake("rough");
  static const char *const cases[][2] = {
    { "program p { rw y: f32[]; y[0] = y[1] + 1.0; }", "keep subnormal numbers" },
    { "program p flush { rw y: f64[]; y[0] = fma(y[1], 2.0f64, 3.0f64); }", "fma" },
    { "program p flush { rw y: f32[]; y[0] = 1.0 / y[1]; }", "round division" },
    { "program p flush { rw y: f32[]; y[0] = min(y[1], 2.0); }", "keep -0 below +0" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse_program(&b, cases[i][0], NULL, VYRE_ERR_UNSUPPORTED, cases[i][1]);
  vyre_executable_destroy(compile(&b, "program p flush { rw y: f32[]; y[0] = y[1] * 2.0; }"));
  /* Lowering writes it with f64. */
  vyre_executable_destroy(compile(&b, "program p flush { rw y: f32[]; y[0] = fma(y[1], 2.0, 3.0); }"));
  vyre_executable_destroy(compile(&b, "program p { rw y: f32[]; y[0] = y[1]; }"));
  bench_end(&b);
}
END_TEST

START_TEST(limits_by_name_and_both_numbers) {
  bench b = bench_fake("sound");
  refuse_program(&b, "program p workgroup(257) { }", NULL, VYRE_ERR_LIMIT, "257, and device sound:0 takes at most 256");
  refuse_program(&b, "program p workgroup(1, 129) { }", NULL, VYRE_ERR_LIMIT, "(max_workgroup)");
  refuse_program(&b, "program p workgroup(16, 17) { }", NULL, VYRE_ERR_LIMIT,
                 "272, and device sound:0 takes at most 256");
  refuse_program(&b, "program p { shared small: u32[1]; shared tile: f32[4096]; tile[0] = 1.0; small[0] = 1; }", NULL,
                 VYRE_ERR_LIMIT, "16400 bytes of workgroup memory, most of it in tile");
  vyre_executable_destroy(compile(&b, "program p { shared tile: f32[4096]; tile[0] = 1.0; }"));
  char text[1024] = "program p {";
  for (int i = 0; i < 17; i++) sprintf(text + strlen(text), " read b%d: u32[];", i);
  refuse_program(&b, strcat(text, " }"), NULL, VYRE_ERR_LIMIT,
                 "17, and device sound:0 takes at most 16 (max_bindings)");
  refuse_program(&b, "program p subgroup(16) { }", NULL, VYRE_ERR_UNSUPPORTED, "subgroups of 16");
  refuse_program(&b, "program p subgroup(16) { }", NULL, VYRE_ERR_UNSUPPORTED, "has 8, 32");
  vyre_executable_destroy(compile(&b, "program p subgroup(32) { }"));
  bench_end(&b);
}
END_TEST

/* Without a device: the same answers, under the profile's name. */
START_TEST(a_record_alone_can_be_asked) {
  bench b = bench_fake("lacking");
  vyre_capabilities c = *vyre_device_capabilities(b.device);
  bench_end(&b);
  vyre_program *doubles = program_of("program p { rw y: f64[]; y[0] = y[0] * y[0]; }");
  vyre_program *plain = program_of("program p workgroup(256) { rw y: u32[]; y[0] = 1; }");
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  REFUSED(vyre_compile_check(&c, doubles, NULL, &error), VYRE_ERR_UNSUPPORTED,
          "device fake lacks the capability float64");
  ck_assert_int_eq(vyre_compile_check(&c, plain, NULL, NULL), VYRE_OK);
  c.max_workgroup_invocations = 255;
  REFUSED(vyre_compile_check(&c, plain, &options, &error), VYRE_ERR_LIMIT, "256, and device fake takes at most 255");
  c.max_workgroup_invocations = 256;
  options.subgroup_size = 16;
  REFUSED(vyre_compile_check(&c, plain, &options, &error), VYRE_ERR_UNSUPPORTED, "device fake has 8, 32");
  options.subgroup_size = 3;
  REFUSED(vyre_compile_check(&c, plain, &options, &error), VYRE_ERR_INVALID_ARGUMENT, "A subgroup size of 3");
  c.size--;
  REFUSED(vyre_compile_check(&c, plain, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "The record has size");
  vyre_program_release(doubles);
  vyre_program_release(plain);
}
END_TEST

START_TEST(transcendentals_need_a_budget) {
  const char *text = "program p { rw y: f32[]; y[0] = sin(y[1]); }";
  const char *with = "program p ulp(4) { rw y: f32[]; y[0] = sin(y[1]); }";
  bench b = bench_fake("sound");
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  refuse_program(&b, text, NULL, VYRE_ERR_INVALID_ARGUMENT, "uses sin");
  refuse_program(&b, text, &options, VYRE_ERR_INVALID_ARGUMENT, "--ulp");
  vyre_executable_destroy(compile(&b, with));
  vyre_program *program = program_of(text);
  vyre_executable *executable;
  options.ulp = 0;
  ck_assert_int_eq(vyre_compile(b.device, program, &options, &executable, NULL), VYRE_OK);
  vyre_executable_destroy(executable);
  ck_assert_int_eq(vyre_config_set(b.config, VYRE_CONFIG_RUN_ULP, "2", NULL, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_compile(b.device, program, NULL, &executable, NULL), VYRE_OK);
  vyre_executable_destroy(executable);
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

START_TEST(options_that_are_wrong) {
  bench b = bench_fake("sound");
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  options.subgroup_size = 3;
  refuse_program(&b, "program p { }", &options, VYRE_ERR_INVALID_ARGUMENT, "subgroup size of 3");
  options.subgroup_size = 8;
  refuse_program(&b, "program p subgroup(32) { }", &options, VYRE_ERR_INVALID_ARGUMENT, "subgroup(32)");
  options = (vyre_compile_options)VYRE_COMPILE_OPTIONS_INIT;
  options.level = 3;
  refuse_program(&b, "program p { }", &options, VYRE_ERR_INVALID_ARGUMENT, "level 3");
  options.level = VYRE_LEVEL_UNSET;
  options.flags = 1u << 9;
  refuse_program(&b, "program p { }", &options, VYRE_ERR_INVALID_ARGUMENT, "0x200");
  options.flags = 0;
  options.size = 4;
  refuse_program(&b, "program p { }", &options, VYRE_ERR_INVALID_ARGUMENT, "size 4");
  bench_end(&b);
}
END_TEST

START_TEST(equal_compilations_share_an_executable) {
  bench b = bench_fake("sound");
  vyre_program *program = program_of(SAXPY), *again = program_of(SAXPY);
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  vyre_executable *first, *second, *third;
  ck_assert_int_eq(vyre_compile(b.device, program, NULL, &first, NULL), VYRE_OK);
  options.level = 2; /* the default of the settings */
  ck_assert_int_eq(vyre_compile(b.device, again, &options, &second, NULL), VYRE_OK);
  ck_assert_ptr_eq(first, second);
  options.level = 0;
  ck_assert_int_eq(vyre_compile(b.device, program, &options, &third, NULL), VYRE_OK);
  ck_assert_ptr_ne(first, third);
  vyre_executable_destroy(third);
  options.level = VYRE_LEVEL_UNSET;
  options.ulp = 0; /* unset and 0 differ in every key */
  ck_assert_int_eq(vyre_compile(b.device, program, &options, &third, NULL), VYRE_OK);
  ck_assert_ptr_ne(first, third);
  ck_assert_uint_eq(live_objects(b.device), 2);
  vyre_executable_destroy(first);
  ck_assert_uint_eq(live_objects(b.device), 2);
  vyre_executable_destroy(second);
  vyre_executable_destroy(third);
  ck_assert_uint_eq(live_objects(b.device), 0);
  vyre_program_release(program);
  vyre_program_release(again);
  bench_end(&b);
}
END_TEST

static void count_remark(void *ctx, vyre_log_level severity, uint32_t code, uint32_t statement, const char *text) {
  if (severity == VYRE_LOG_WARNING && code == 0 && statement == 1 && strcmp(text, "a remark") == 0) ++*(int *)ctx;
}

START_TEST(remarks_and_refusals_of_the_plugin_arrive) {
  int remarks = 0;
  bench b = bench_fake("sound");
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  options.remark = count_remark;
  options.remark_ctx = &remarks;
  vyre_program *program = program_of(SAXPY);
  vyre_executable *executable;
  ck_assert_int_eq(vyre_compile(b.device, program, &options, &executable, NULL), VYRE_OK);
  ck_assert_int_eq(remarks, 1);
  vyre_executable_destroy(executable);
  bench_end(&b);
  b = bench_fake("refuses");
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_compile(b.device, program, NULL, &executable, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_str_eq(error.text, "unsupported(fake)");
  bench_end(&b);
  b = bench_fake("loadsnone");
  ck_assert_int_eq(vyre_compile(b.device, program, NULL, &executable, &error), VYRE_ERR_BUSY);
  ck_assert_str_eq(error.text, "A persistent launch of spin runs. Fix: stop that first.");
  ck_assert_ptr_null(executable);
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

/* ---- Bindings -------------------------------------------------------------------------------- */

static void refuse_set(vyre_executable *e, const vyre_arg *args, uint32_t count, vyre_status status, const char *says) {
  vyre_set *set;
  REFUSED(vyre_set_create(e, args, count, &set, &error), status, says);
  ck_assert_ptr_null(set);
}

static void accept_set(vyre_executable *e, const vyre_arg *args, uint32_t count) {
  vyre_set *set;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(vyre_set_create(e, args, count, &set, &error) == VYRE_OK, "%s", error.text);
  vyre_set_destroy(set);
}

START_TEST(bindings_by_name) {
  bench b = bench_fake("sound"), other = b;
  vyre_executable *e = compile(&b, SAXPY);
  vyre_buffer *x = buffer(&b, 400), *y = buffer(&b, 400), *foreign;
  ck_assert_int_eq(vyre_device_open(b.context, "sound:1", &other.device, NULL), VYRE_OK);
  foreign = buffer(&other, 400);
  const vyre_arg a = vyre_arg_f32("a", 2), bx = vyre_arg_buffer("x", x), by = vyre_arg_buffer("y", y);
  accept_set(e, (vyre_arg[]){ a, bx, by }, 3);
  accept_set(e, (vyre_arg[]){ by, bx, a }, 3);
  refuse_set(e, NULL, 0, VYRE_ERR_MISSING_BINDING, "Buffer x of program saxpy is not bound");
  refuse_set(e, (vyre_arg[]){ a, bx }, 2, VYRE_ERR_MISSING_BINDING, "Buffer y");
  refuse_set(e, (vyre_arg[]){ bx, by }, 2, VYRE_ERR_MISSING_BINDING, "Parameter a");
  refuse_set(e, (vyre_arg[]){ a, bx, by, vyre_arg_buffer("z", x) }, 4, VYRE_ERR_NOT_FOUND, "called z");
  refuse_set(e, (vyre_arg[]){ a, bx, by, vyre_arg_u32("x", 1) }, 4, VYRE_ERR_NOT_FOUND, "no parameter called x");
  refuse_set(e, (vyre_arg[]){ a, bx, by, bx }, 4, VYRE_ERR_INVALID_ARGUMENT, "x is given twice");
  refuse_set(e, (vyre_arg[]){ a, a, bx, by }, 4, VYRE_ERR_INVALID_ARGUMENT, "a is given twice");
  refuse_set(e, (vyre_arg[]){ vyre_arg_u32("a", 2), bx, by }, 3, VYRE_ERR_MISSING_BINDING,
             "type f32 and is given a u32");
  refuse_set(e, (vyre_arg[]){ a, bx, vyre_arg_buffer("y", NULL) }, 3, VYRE_ERR_INVALID_ARGUMENT, "no buffer");
  refuse_set(e, (vyre_arg[]){ a, bx, vyre_arg_buffer("y", foreign) }, 3, VYRE_ERR_INVALID_ARGUMENT, "another device");
  refuse_set(e, (vyre_arg[]){ a, bx, vyre_arg_out("y", x, 1) }, 3, VYRE_ERR_INVALID_ARGUMENT, "host memory");
  vyre_buffer_destroy(foreign);
  ck_assert_int_eq(vyre_device_close(other.device, 0, NULL), VYRE_OK);
  vyre_buffer_destroy(x);
  vyre_buffer_destroy(y);
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

START_TEST(lengths_and_ranges) {
  bench b = bench_fake("sound");
  vyre_executable *e =
      compile(&b, "program p { read x: f32[10]; rw y: u32x4[]; y[gid.x] = u32x4(u32(x[0])); }");
  vyre_buffer *x = buffer(&b, 400), *y = buffer(&b, 400), *odd = buffer(&b, 401), *none = buffer(&b, 0);
  const vyre_arg bx = vyre_arg_range("x", x, 0, 10), by = vyre_arg_buffer("y", y);
  accept_set(e, (vyre_arg[]){ bx, by }, 2);
  accept_set(e, (vyre_arg[]){ vyre_arg_range("x", x, 320, 10), by }, 2);
  accept_set(e, (vyre_arg[]){ bx, vyre_arg_buffer("y", none) }, 2);
  refuse_set(e, (vyre_arg[]){ vyre_arg_range("x", x, 0, 9), by }, 2, VYRE_ERR_MISSING_BINDING,
             "10 elements and gets 9");
  refuse_set(e, (vyre_arg[]){ vyre_arg_buffer("x", x), by }, 2, VYRE_ERR_MISSING_BINDING, "10 elements and gets 100");
  refuse_set(e, (vyre_arg[]){ vyre_arg_range("x", x, 384, 10), by }, 2, VYRE_ERR_OUT_OF_RANGE,
             "40 bytes from byte 384");
  refuse_set(e, (vyre_arg[]){ vyre_arg_range("x", x, 32, 10), by }, 2, VYRE_ERR_INVALID_ARGUMENT, "multiples of 64");
  refuse_set(e, (vyre_arg[]){ bx, vyre_arg_buffer("y", odd) }, 2, VYRE_ERR_MISSING_BINDING, "not whole elements of 16");
  refuse_set(e, (vyre_arg[]){ bx, vyre_arg_range("y", y, 0, UINT64_MAX / 8) }, 2, VYRE_ERR_OUT_OF_RANGE, "400");
  refuse_set(e, (vyre_arg[]){ bx, vyre_arg_range("y", y, UINT64_MAX - 63, 0) }, 2, VYRE_ERR_OUT_OF_RANGE, "400");
  vyre_buffer_destroy(x);
  vyre_buffer_destroy(y);
  vyre_buffer_destroy(odd);
  vyre_buffer_destroy(none);
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

START_TEST(a_length_that_does_not_fit_len) {
  bench b = bench_fake("huge");
  vyre_executable *short_len = compile(&b, "program p { rw y: u8[]; y[0] = len(y); }");
  vyre_executable *long_len = compile(&b, "program p { rw y: u8[]; y[0] = u32(len64(y)); }");
  vyre_buffer *y = buffer(&b, 1ull << 32);
  const vyre_arg most = vyre_arg_range("y", y, 0, UINT32_MAX), all = vyre_arg_buffer("y", y);
  accept_set(short_len, &most, 1);
  refuse_set(short_len, &all, 1, VYRE_ERR_OUT_OF_RANGE, "4294967296 elements");
  accept_set(long_len, &all, 1);
  vyre_buffer_destroy(y);
  vyre_executable_destroy(short_len);
  vyre_executable_destroy(long_len);
  bench_end(&b);
}
END_TEST

START_TEST(overlapping_ranges) {
  bench b = bench_fake("sound");
  vyre_executable *e = compile(&b, SAXPY);
  vyre_executable *readers =
      compile(&b, "program p { read x: f32[]; read y: f32[]; write z: f32[]; z[0] = x[0] + y[0]; }");
  vyre_buffer *m = buffer(&b, 1024), *z = buffer(&b, 64);
  const vyre_arg a = vyre_arg_f32("a", 2);
  refuse_set(e, (vyre_arg[]){ a, vyre_arg_buffer("x", m), vyre_arg_buffer("y", m) }, 3, VYRE_ERR_ALIASED,
             "y is written");
  accept_set(e, (vyre_arg[]){ a, vyre_arg_range("x", m, 0, 16), vyre_arg_range("y", m, 64, 16) }, 3);
  accept_set(e, (vyre_arg[]){ a, vyre_arg_range("x", m, 64, 16), vyre_arg_range("y", m, 0, 16) }, 3);
  refuse_set(e, (vyre_arg[]){ a, vyre_arg_range("x", m, 64, 16), vyre_arg_range("y", m, 0, 17) }, 3, VYRE_ERR_ALIASED,
             "overlap");
  refuse_set(e, (vyre_arg[]){ a, vyre_arg_range("x", m, 0, 17), vyre_arg_range("y", m, 64, 1) }, 3, VYRE_ERR_ALIASED,
             "overlap");
  refuse_set(e, (vyre_arg[]){ a, vyre_arg_range("x", m, 0, 100), vyre_arg_range("y", m, 128, 1) }, 3, VYRE_ERR_ALIASED,
             "overlap");
  accept_set(e, (vyre_arg[]){ a, vyre_arg_range("x", m, 0, 0), vyre_arg_range("y", m, 0, 16) }, 3);
  /* Two that are only read may be the same. */
  accept_set(readers, (vyre_arg[]){ vyre_arg_buffer("x", m), vyre_arg_buffer("y", m), vyre_arg_buffer("z", z) }, 3);
  refuse_set(readers, (vyre_arg[]){ vyre_arg_buffer("x", m), vyre_arg_buffer("y", z), vyre_arg_range("z", m, 512,
             1) }, 3,
             VYRE_ERR_ALIASED, "x and z");
  vyre_buffer_destroy(m);
  vyre_buffer_destroy(z);
  vyre_executable_destroy(e);
  vyre_executable_destroy(readers);
  bench_end(&b);
}
END_TEST

/* The same memory imported twice overlaps, too. */
START_TEST(overlapping_imports) {
  bench b = bench_fake("sound");
  vyre_executable *e = compile(&b, SAXPY);
  void *memory = aligned_alloc(64, 1024);
  vyre_import import = { .size = sizeof import, .kind = VYRE_HANDLE_HOST_POINTER, .bytes = 512 };
  vyre_buffer *low, *high, *middle;
  import.handle = (uintptr_t)memory;
  ck_assert_int_eq(vyre_buffer_import(b.device, &import, &low, NULL), VYRE_OK);
  import.handle += 512;
  ck_assert_int_eq(vyre_buffer_import(b.device, &import, &high, NULL), VYRE_OK);
  import.handle -= 256;
  ck_assert_int_eq(vyre_buffer_import(b.device, &import, &middle, NULL), VYRE_OK);
  const vyre_arg a = vyre_arg_f32("a", 2);
  accept_set(e, (vyre_arg[]){ a, vyre_arg_buffer("x", low), vyre_arg_buffer("y", high) }, 3);
  refuse_set(e, (vyre_arg[]){ a, vyre_arg_buffer("x", low), vyre_arg_buffer("y", middle) }, 3, VYRE_ERR_ALIASED,
             "overlap");
  refuse_set(e, (vyre_arg[]){ a, vyre_arg_buffer("x", middle), vyre_arg_buffer("y", high) }, 3, VYRE_ERR_ALIASED,
             "overlap");
  vyre_buffer_destroy(low);
  vyre_buffer_destroy(high);
  vyre_buffer_destroy(middle);
  free(memory);
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

static vyre_buffer *imported(const bench *b, uint32_t kind, uint64_t handle, uint64_t bytes) {
  vyre_import import = { .size = sizeof import, .kind = kind, .handle = handle, .bytes = bytes };
  vyre_buffer *m;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(vyre_buffer_import(b->device, &import, &m, &error) == VYRE_OK, "%s", error.text);
  return m;
}

static uint64_t exported(vyre_buffer *m, uint32_t kind) {
  uint64_t handle;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(vyre_buffer_export(m, kind, &handle, &error) == VYRE_OK, "%s", error.text);
  return handle;
}

/* y from byte 64 on and x, of which the first 64 bytes are before it, both ways round. */
static void check_shared(const bench *b, vyre_executable *e, vyre_buffer *one, vyre_buffer *other) {
  const vyre_arg a = vyre_arg_f32("a", 2);
  for (int i = 0; i < 2; i++) {
    vyre_buffer *x = i ? one : other, *y = i ? other : one;
    accept_set(e, (vyre_arg[]){ a, vyre_arg_range("x", x, 0, 16), vyre_arg_range("y", y, 64, 16) }, 3);
    refuse_set(e, (vyre_arg[]){ a, vyre_arg_range("x", x, 0, 17), vyre_arg_range("y", y, 64, 17) }, 3,
               VYRE_ERR_ALIASED, "overlap");
  }
  vyre_batch *batch;
  ck_assert_int_eq(vyre_batch_create(b->device, &batch, NULL), VYRE_OK);
  REFUSED(vyre_batch_copy(batch, one, 0, other, 4, 8, &error), VYRE_ERR_ALIASED, "overlap");
  ck_assert_int_eq(vyre_batch_copy(batch, one, 0, other, 4, 4, NULL), VYRE_OK);
  vyre_batch_destroy(batch);
}

/* Memory that two buffers share is known by what is underneath, whichever way it came to the second. */
START_TEST(overlaps_through_handles) {
  static const uint32_t kinds[] = { VYRE_HANDLE_HOST_POINTER, VYRE_HANDLE_DEVICE_POINTER };
  bench b = bench_fake("shares");
  vyre_executable *e = compile(&b, SAXPY);
  for (int i = 0; i < 2; i++) {
    vyre_buffer *m = buffer(&b, 256), *again = imported(&b, kinds[i], exported(m, kinds[i]), 256);
    vyre_buffer *tail = imported(&b, kinds[i], exported(m, kinds[i]) + 128, 128);
    check_shared(&b, e, m, again);
    vyre_arg args[] = { vyre_arg_f32("a", 2), vyre_arg_range("x", m, 128, 16), vyre_arg_buffer("y", tail) };
    refuse_set(e, args, 3, VYRE_ERR_ALIASED, "x and y");
    args[1] = vyre_arg_range("x", m, 64, 16);
    accept_set(e, args, 3);
    vyre_buffer_destroy(tail);
    vyre_buffer_destroy(again);
    vyre_buffer_destroy(m);
  }
  int fd = memfd_create("memory", MFD_CLOEXEC), other_fd = memfd_create("memory", MFD_CLOEXEC), copy = dup(fd);
  ck_assert(fd >= 0 && other_fd >= 0 && copy >= 0);
  vyre_buffer *m = imported(&b, VYRE_HANDLE_FD, (uint64_t)fd, 256);
  vyre_buffer *again = imported(&b, VYRE_HANDLE_FD, (uint64_t)copy, 256);
  vyre_buffer *other = imported(&b, VYRE_HANDLE_FD, (uint64_t)other_fd, 256);
  check_shared(&b, e, m, again);
  accept_set(e, (vyre_arg[]){ vyre_arg_f32("a", 2), vyre_arg_buffer("x", m), vyre_arg_buffer("y", other) }, 3);
  vyre_buffer_destroy(m);
  vyre_buffer_destroy(again);
  vyre_buffer_destroy(other);
  close(fd);
  close(copy);
  close(other_fd);
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

/* The oracle exports what it maps. */
START_TEST(an_export_of_the_oracle_is_the_same_memory) {
  bench b = bench_cpu_ref();
  vyre_executable *e = compile(&b, SAXPY);
  vyre_buffer *m = buffer(&b, 256);
  vyre_buffer *again = imported(&b, VYRE_HANDLE_HOST_POINTER, exported(m, VYRE_HANDLE_HOST_POINTER), 256);
  check_shared(&b, e, m, again);
  vyre_buffer_destroy(again);
  vyre_buffer_destroy(m);
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

START_TEST(lengths_on_the_device) {
  const char *text = "program p { rw y: f32[]; read x: f32[4]; y[0] = x[0]; }";
  bench b = bench_fake("sound");
  vyre_executable *e = compile(&b, text);
  vyre_buffer *y = buffer(&b, 64), *x = buffer(&b, 16), *count = buffer(&b, 16);
  vyre_arg args[] = { vyre_arg_buffer("y", y), vyre_arg_buffer("x", x) };
  args[0].length_buffer = count;
  args[0].length_bits = 32;
  args[0].length_offset = 12;
  accept_set(e, args, 2);
  args[0].length_offset = 16;
  refuse_set(e, args, 2, VYRE_ERR_OUT_OF_RANGE, "4 bytes from byte 16");
  args[0].length_offset = 2;
  refuse_set(e, args, 2, VYRE_ERR_INVALID_ARGUMENT, "u32 or u64");
  args[0].length_offset = 4;
  args[0].length_bits = 64;
  refuse_set(e, args, 2, VYRE_ERR_INVALID_ARGUMENT, "multiple of its size");
  args[0].length_offset = 8;
  accept_set(e, args, 2);
  args[0].length_bits = 16;
  refuse_set(e, args, 2, VYRE_ERR_INVALID_ARGUMENT, "u32 or u64");
  args[0].length_bits = 0;
  args[1].length_bits = 32;
  args[1].length_buffer = count;
  refuse_set(e, args, 2, VYRE_ERR_MISSING_BINDING, "4 elements");
  vyre_buffer_destroy(y);
  vyre_buffer_destroy(x);
  vyre_buffer_destroy(count);
  vyre_executable_destroy(e);
  bench_end(&b);
  b = bench_fake("lacking");
  e = compile(&b, "program p { rw y: u32[]; y[0] = 1; }");
  y = buffer(&b, 64);
  count = buffer(&b, 16);
  args[0] = vyre_arg_buffer("y", y);
  args[0].length_buffer = count;
  args[0].length_bits = 32;
  refuse_set(e, args, 1, VYRE_ERR_UNSUPPORTED, "capability device_length");
  vyre_buffer_destroy(y);
  vyre_buffer_destroy(count);
  vyre_executable_destroy(e);
  bench_end(&b);
}
END_TEST

/* ---- Grids ----------------------------------------------------------------------------------- */

START_TEST(grids) {
  bench b = bench_fake("sound");
  vyre_executable *e = compile(&b, SAXPY), *plane = compile(&b, "program p workgroup(8, 8) { }");
  vyre_buffer *x = buffer(&b, 4000), *y = buffer(&b, 260);
  vyre_set *set, *plane_set;
  vyre_arg args[] = { vyre_arg_f32("a", 1), vyre_arg_buffer("x", x), vyre_arg_buffer("y", y) };
  ck_assert_int_eq(vyre_set_create(e, args, 3, &set, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_set_create(plane, NULL, 0, &plane_set, NULL), VYRE_OK);
  uint64_t grid[3];
  ck_assert_int_eq(vyre_set_grid(set, grid, NULL), VYRE_OK);
  ck_assert_uint_eq(grid[0], 2); /* 65 elements of y, though x is longer */
  ck_assert_uint_eq(grid[1] * grid[2], 1);
  REFUSED(vyre_set_grid(plane_set, grid, &error), VYRE_ERR_INVALID_ARGUMENT, "8 x 8 x 1");
  vyre_batch *batch;
  ck_assert_int_eq(vyre_batch_create(b.device, &batch, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_batch_dispatch(batch, set, (uint64_t[]){ 1u << 26, 1, 1 }, NULL), VYRE_OK);
  REFUSED(vyre_batch_dispatch(batch, set, (uint64_t[]){ (1u << 26) + 1, 1, 1 }, &error), VYRE_ERR_OUT_OF_RANGE,
          "67108865 workgroups of 64 along x");
  ck_assert_int_eq(vyre_batch_dispatch(batch, set, (uint64_t[]){ 1, 1, UINT32_MAX }, NULL), VYRE_OK);
  REFUSED(vyre_batch_dispatch(batch, set, (uint64_t[]){ 1, 1ull << 32, 1 }, &error), VYRE_ERR_OUT_OF_RANGE, "along y");
  ck_assert_int_eq(vyre_batch_dispatch(batch, set, (uint64_t[]){ 0, 1, 1 }, NULL), VYRE_OK);
  vyre_launch launch = VYRE_LAUNCH_INIT;
  launch.grid_buffer = y;
  launch.grid_offset = 248;
  ck_assert_int_eq(vyre_batch_launch(batch, set, &launch, NULL), VYRE_OK);
  launch.grid_offset = 252;
  REFUSED(vyre_batch_launch(batch, set, &launch, &error), VYRE_ERR_OUT_OF_RANGE, "12 bytes from byte 252");
  launch.grid_offset = 2;
  REFUSED(vyre_batch_launch(batch, set, &launch, &error), VYRE_ERR_INVALID_ARGUMENT, "multiple of 4");
  launch.size = 8;
  REFUSED(vyre_batch_launch(batch, set, &launch, &error), VYRE_ERR_INVALID_ARGUMENT, "size 8");
  vyre_batch_destroy(batch);
  vyre_set_destroy(set);
  vyre_set_destroy(plane_set);
  vyre_buffer_destroy(x);
  vyre_buffer_destroy(y);
  vyre_executable_destroy(e);
  vyre_executable_destroy(plane);
  bench_end(&b);
}
END_TEST

#define POWERS "program p { param n: u32; param a: f32; param up: bool; rw y: f32[]; " \
               "for (i in 0..n) { y[gid.x] = up ? y[gid.x] * a : y[gid.x] + a; } }"

static vyre_status compile_with(const bench *b, vyre_program *program, const vyre_arg *specs, uint32_t count,
                                vyre_executable **out, vyre_error *error) {
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  options.specs = specs;
  options.spec_count = count;
  return vyre_compile(b->device, program, &options, out, error);
}

START_TEST(values_that_are_compiled_in) {
  bench b = bench_cpu_ref();
  vyre_program *program = program_of(POWERS);
  vyre_executable *three, *again, *four;
  vyre_arg specs[] = { vyre_arg_bool("up", true), vyre_arg_u32("n", 3) };
  vyre_arg turned[] = { specs[1], specs[0] }, other[] = { vyre_arg_u32("n", 4), specs[0] };
  ck_assert_int_eq(compile_with(&b, program, specs, 2, &three, NULL), VYRE_OK);
  ck_assert_int_eq(compile_with(&b, program, turned, 2, &again, NULL), VYRE_OK);
  ck_assert_int_eq(compile_with(&b, program, other, 2, &four, NULL), VYRE_OK);
  ck_assert_ptr_eq(three, again); /* the order in which they are given says nothing */
  ck_assert_ptr_ne(three, four);
  vyre_buffer *y = buffer(&b, 16);
  float start[4] = { 1, 2, 3, 4 };
  ck_assert_int_eq(vyre_buffer_write(y, 0, start, sizeof start, NULL), VYRE_OK);
  vyre_set *set;
  vyre_arg args[] = { vyre_arg_f32("a", 2), vyre_arg_buffer("y", y), vyre_arg_u32("n", 3) };
  REFUSED(vyre_set_create(three, args, 3, &set, &error), VYRE_ERR_INVALID_ARGUMENT, "when the program was compiled");
  args[2].flags = VYRE_ARG_LATE;
  REFUSED(vyre_set_create(three, args, 3, &set, &error), VYRE_ERR_INVALID_ARGUMENT, "when the program was compiled");
  REFUSED(vyre_set_create(three, args + 1, 1, &set, &error), VYRE_ERR_MISSING_BINDING, "Parameter a");
  ck_assert_int_eq(vyre_set_create(three, args, 2, &set, NULL), VYRE_OK);
  vyre_queue *queue;
  const uint64_t grid[3] = { 4, 1, 1 };
  ck_assert_int_eq(vyre_queue_create(b.device, &queue, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_queue_dispatch(queue, set, grid, NULL, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_queue_wait(queue, VYRE_FOREVER, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_buffer_read(y, 0, start, sizeof start, NULL), VYRE_OK);
  for (int i = 0; i < 4; i++) ck_assert(start[i] == 8 * (float)(i + 1));
  vyre_queue_destroy(queue);
  vyre_set_destroy(set);
  vyre_buffer_destroy(y);
  vyre_executable_destroy(three);
  vyre_executable_destroy(again);
  vyre_executable_destroy(four);

  vyre_arg wrong = vyre_arg_i32("n", 3), unknown = vyre_arg_u32("m", 3), twice[] = { specs[1], specs[1] };
  vyre_arg late = specs[1], memory = vyre_arg_in("y", start, 4);
  late.flags = VYRE_ARG_LATE;
  REFUSED(compile_with(&b, program, &wrong, 1, &three, &error), VYRE_ERR_MISSING_BINDING,
          "has type u32 and is given a i32");
  REFUSED(compile_with(&b, program, &unknown, 1, &three, &error), VYRE_ERR_NOT_FOUND, "no parameter called m");
  REFUSED(compile_with(&b, program, twice, 2, &three, &error), VYRE_ERR_INVALID_ARGUMENT, "n is given twice");
  REFUSED(compile_with(&b, program, &late, 1, &three, &error), VYRE_ERR_INVALID_ARGUMENT, "values of parameters");
  REFUSED(compile_with(&b, program, &memory, 1, &three, &error), VYRE_ERR_INVALID_ARGUMENT, "values of parameters");
  vyre_program_release(program);
  bench_end(&b);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { capabilities_that_are_absent,
                                 numeric_promises_that_are_not_made,
                                 limits_by_name_and_both_numbers,
                                 a_record_alone_can_be_asked,
                                 transcendentals_need_a_budget,
                                 options_that_are_wrong,
                                 equal_compilations_share_an_executable,
                                 values_that_are_compiled_in,
                                 remarks_and_refusals_of_the_plugin_arrive,
                                 bindings_by_name,
                                 lengths_and_ranges,
                                 a_length_that_does_not_fit_len,
                                 overlapping_ranges,
                                 overlapping_imports,
                                 overlaps_through_handles,
                                 an_export_of_the_oracle_is_the_same_memory,
                                 lengths_on_the_device,
                                 grids,
                                 NULL };
  return run_suite("bindings", 60, tests);
}
