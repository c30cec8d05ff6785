/* The emitter: a program for each operator, type, statement and pattern in golden/, with its text beside it; what it
 * refuses; what it says about launching. Lines at the start of a program say for what it is emitted:
 *   // sm 75        the target (90)
 *   // memory       with the launch block in memory
 * New texts are taken as tests/golden.h says. */
#include "tests/cuda/modules.h"
#include "tests/golden.h"
#include "tests/gen/random_program.h"

static module_options options_of(const char *source) {
  const char *sm = strstr(source, "// sm ");
  module_options o = { .level = 0, .target = { .sm = sm != NULL ? (uint32_t)atoi(sm + 6) : 90,
                                               .shared_limit = 227 * 1024 } };
  if (strstr(source, "// memory\n") != NULL) o.target.flags |= PTX_BLOCK_IN_MEMORY;
  return o;
}

static void check(const char *name) {
  char *source = golden_read("cuda", name, ".vyre");
  vyre_program *program = golden_parse(name, source);
  module_options options = options_of(source);
  vyre_error error = VYRE_ERROR_INIT;
  gpu_bytes text = { 0 }, again = { 0 };
  ptx_facts facts, same;
  if (module_of(program, &options, &text, &facts, NULL, &error) != VYRE_OK) ck_abort_msg("%s: %s", name, error.text);
  ck_assert_int_eq(module_of(program, &options, &again, &same, NULL, &error), VYRE_OK);
  ck_assert_msg(text.count == again.count && memcmp(text.data, again.data, text.count) == 0, "%s: not the same again",
                name);
  golden_check("cuda", name, ".ptx", (const char *)text.data);
  gpu_bytes_free(&text);
  gpu_bytes_free(&again);
  vyre_program_release(program);
  free(source);
}

START_TEST(modules_are_golden) {
  ck_assert_uint_ge(golden_each("cuda", check), 30);
}
END_TEST

/* ---- Launching ------------------------------------------------------------------------------- */

/* Emits |source|; the caller frees |text|. */
static vyre_status emit(const char *source, const ptx_target *target, gpu_bytes *text, ptx_facts *facts,
                        vyre_error *error) {
  module_options options = { .level = 0, .target = *target };
  vyre_program *program = golden_parse("test", source);
  vyre_status status = module_of(program, &options, text, facts, NULL, error);
  vyre_program_release(program);
  return status;
}

static ptx_facts facts_of(const char *source, ptx_target target) {
  vyre_error error = VYRE_ERROR_INIT;
  gpu_bytes text = { 0 };
  ptx_facts facts;
  if (emit(source, &target, &text, &facts, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
  gpu_bytes_free(&text);
  return facts;
}

static const char simple[] = "program p workgroup(64) {\n  param a: u32;\n  rw b: u32[];\n  b[gid.x] = a;\n}\n";

START_TEST(targets_are_the_lowest_that_serve) {
  ptx_facts f = facts_of(simple, (ptx_target){ .sm = 120 });
  ck_assert_uint_eq(f.sm, 70);
  ck_assert_uint_eq(f.version, 60);
  f = facts_of("program p workgroup(64) {\n  rw b: u32[];\n  b[gid.x] = subgroup_add(b[gid.x]);\n}\n",
               (ptx_target){ .sm = 90 });
  ck_assert_uint_eq(f.sm, 80);
  ck_assert_uint_eq(f.version, 70);
  f = facts_of("program p workgroup(64) {\n  rw b: u32[];\n  b[gid.x] = subgroup_add(b[gid.x]);\n}\n",
               (ptx_target){ .sm = 90, .version = 65 });
  ck_assert_uint_eq(f.sm, 70);
}
END_TEST

START_TEST(parameters_are_laid_out) {
  ptx_facts f = facts_of(simple, (ptx_target){ .sm = 90 });
  ck_assert_uint_eq(f.pointer_count, 1);
  ck_assert_uint_eq(f.param_bytes, f.block_bytes + 8);
  ck_assert_uint_eq(f.block_bytes % 8, 0);
  ck_assert_uint_eq(f.flags, 0);
  f = facts_of(simple, (ptx_target){ .sm = 90, .flags = PTX_BLOCK_IN_MEMORY });
  ck_assert_uint_eq(f.block_bytes, 8);
  ck_assert_uint_eq(f.flags, PTX_BLOCK_IN_MEMORY);
  f = facts_of("program p {\n  param n: u32;\n  rw b: u32[];\n  for (i in 0..n) {\n    grid_barrier;\n  }\n"
               "  b[0] = 1;\n  trap(1);\n}\n", (ptx_target){ .sm = 90 });
  ck_assert_uint_eq(f.flags, PTX_COOPERATIVE);
  ck_assert_uint_eq(f.pointer_count, 3);
  ck_assert_uint_ne(f.hidden[VYRE_KERNEL_HIDDEN_STATE], 0);
  ck_assert_uint_ne(f.hidden[VYRE_KERNEL_HIDDEN_DIAGNOSTICS], f.hidden[VYRE_KERNEL_HIDDEN_STATE]);
  ck_assert_uint_eq(f.hidden[VYRE_KERNEL_HIDDEN_STOP], 0);
}
END_TEST

/* |count| parameters of 8 bytes. */
static char *many_parameters(uint32_t count) {
  char *source = malloc(64 * (size_t)count + 256), *to = source;
  to += sprintf(to, "program p workgroup(64) {\n");
  for (uint32_t i = 0; i < count; i++) to += sprintf(to, "  param a%u: u64;\n", i);
  sprintf(to, "  rw b: u64[];\n  b[gid.x] = a%u;\n}\n", count - 1);
  return source;
}

START_TEST(more_parameters_than_fit_lie_in_memory) {
  char *source = many_parameters(600);
  ptx_facts f = facts_of(source, (ptx_target){ .sm = 90 });
  ck_assert_uint_eq(f.flags, PTX_BLOCK_IN_MEMORY);
  ck_assert_uint_le(f.version, 80);
  f = facts_of(source, (ptx_target){ .sm = 90, .param_limit = PTX_PARAM_LIMIT_LARGE });
  ck_assert_uint_eq(f.flags, 0);
  ck_assert_uint_gt(f.param_bytes, PTX_PARAM_LIMIT);
  ck_assert_uint_eq(f.version, 81);
  free(source);
}
END_TEST

START_TEST(entries_are_named_after_the_program) {
  vyre_error error = VYRE_ERROR_INIT;
  gpu_bytes text = { 0 };
  ptx_facts facts;
  ck_assert_int_eq(emit("program tile_sum workgroup(8) {\n  rw b: u32[];\n  grid_barrier;\n  b[0] = 1;\n}\n",
                        &(ptx_target){ .sm = 90 }, &text, &facts, &error), VYRE_OK);
  ck_assert_ptr_nonnull(strstr((char *)text.data, ".visible .entry tile_sum_0("));
  ck_assert_ptr_nonnull(strstr((char *)text.data, ".visible .entry tile_sum_1("));
  gpu_bytes_free(&text);
}
END_TEST

/* ---- Refusals -------------------------------------------------------------------------------- */

static void refused(const char *source, ptx_target target, vyre_status status, const char *const *words) {
  vyre_error error = VYRE_ERROR_INIT;
  gpu_bytes text = { 0 };
  ptx_facts facts;
  ck_assert_int_eq(emit(source, &target, &text, &facts, &error), status);
  for (; *words != NULL; words++) ck_assert_msg(strstr(error.text, *words) != NULL, "%s in: %s", *words, error.text);
  ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
  gpu_bytes_free(&text);
}

/* The example of the specification: 64 lanes, head dimension h. */
static char *attention(uint32_t h) {
  static char source[512];
  snprintf(source, sizeof source, "program attention workgroup(64) {\n  shared q_scratch: f32[%u];\n"
           "  shared score_tile: f32[4096];\n  shared o_acc: f32[%u];\n  write out: f32[];\n"
           "  q_scratch[lid.x] = 1;\n  score_tile[lid.x] = 1;\n  o_acc[lid.x] = 1;\n  barrier;\n"
           "  out[gid.x] = q_scratch[0] + score_tile[1] + o_acc[2];\n}\n", 64 * h, 64 * h);
  return source;
}

START_TEST(shared_memory_is_a_ceiling) {
  static const char *const at_96[] = { "65536", "49152", "q_scratch 24576", "score_tile 16384", "o_acc 24576",
                                       "fewer elements", "narrower workgroup", "storage buffers", NULL };
  static const char *const at_128[] = { "81920", "49152", "q_scratch 32768", "score_tile 16384", "o_acc 32768", NULL };
  ptx_target plain = { .sm = 90 }, opted = { .sm = 90, .shared_limit = 81919 };
  ck_assert_uint_eq(facts_of(attention(32), plain).flags, 0);
  ck_assert_uint_eq(facts_of(attention(64), plain).flags, 0); /* 48 KiB, the limit itself */
  refused(attention(96), plain, VYRE_ERR_LIMIT, at_96);
  refused(attention(128), plain, VYRE_ERR_LIMIT, at_128);
  refused(attention(128), opted, VYRE_ERR_LIMIT, (const char *const[]){ "81920", "81919", NULL });
  opted.shared_limit++;
  ck_assert_uint_eq(facts_of(attention(128), opted).flags, PTX_SHARED_DYNAMIC);
}
END_TEST

START_TEST(what_a_driver_is_too_old_for_is_named) {
  static const char polled[] = "program p {\n  rw a: u32x4[];\n  rw b: u32[];\n"
                               "  b[0] = atomic_load(a[0], acquire).x;\n}\n";
  refused(polled, (ptx_target){ .sm = 90, .version = 80 }, VYRE_ERR_UNSUPPORTED,
          (const char *const[]){ "16 bytes", "8.3", "8.0", NULL });
  ck_assert_uint_eq(facts_of(polled, (ptx_target){ .sm = 90, .version = 83 }).version, 83);
}
END_TEST

/* ---- Kernels from anywhere ------------------------------------------------------------------- */

/* One word of a kernel is another one: it is refused, or gives text that may be wrong; nothing else happens. */
START_TEST(broken_kernels_do_no_harm) {
  random_source r = { .state = 20261130 };
  uint32_t emitted = 0;
  for (uint64_t seed = 1; seed <= 24; seed++) {
    vyre_error error = VYRE_ERROR_INIT;
    vyre_program *program;
    gpu_bytes text = { 0 };
    ptx_facts facts;
    uint8_t *kernel = NULL;
    module_options options = { .target = { .sm = 90 } };
    ck_assert_int_eq(random_program(seed, NULL, NULL, &program, &error), VYRE_OK);
    vyre_status status = module_of(program, &options, &text, &facts, &kernel, &error);
    vyre_program_release(program);
    gpu_bytes_free(&text);
    if (status != VYRE_OK) continue;
    uint32_t bytes = ((vyre_kernel_header *)(void *)kernel)->bytes;
    for (uint32_t i = 0; i < 600; i++) {
      const vyre_kernel_header *header;
      uint32_t at = random_below(&r, bytes / 4), *words = (uint32_t *)(void *)kernel, kept = words[at];
      uint32_t bit = random_below(&r, 40);
      words[at] = bit < 32 ? kept ^ 1u << bit : (uint32_t)random_bits(&r);
      if (gpu_kernel_open(kernel, bytes, &header, &error) == VYRE_OK)
        emitted += ptx_emit(header, &options.target, &text, &facts, &error) == VYRE_OK;
      gpu_bytes_free(&text);
      words[at] = kept;
    }
    free(kernel);
  }
  ck_assert_uint_gt(emitted, 1000);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { modules_are_golden,
                                 targets_are_the_lowest_that_serve,
                                 parameters_are_laid_out,
                                 more_parameters_than_fit_lie_in_memory,
                                 entries_are_named_after_the_program,
                                 shared_memory_is_a_ceiling,
                                 what_a_driver_is_too_old_for_is_named,
                                 broken_kernels_do_no_harm,
                                 NULL };
  return run_suite("cuda/ptx", 60, tests);
}
