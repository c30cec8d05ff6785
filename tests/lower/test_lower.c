/* What lowering refuses, and what a kernel says of itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>
#include <vyre/text.h>

#include "../suite.h"
#include "targets.h"

static vyre_program *parse(const char *text) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_diagnostics *diagnostics;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create("p", text, strlen(text), &diagnostics), VYRE_OK);
  if (vyre_text_parse(text, strlen(text), NULL, diagnostics, &program, &error) != VYRE_OK)
    ck_abort_msg("%s\n%s", error.text, vyre_diagnostics_render(diagnostics));
  vyre_diagnostics_destroy(diagnostics);
  return program;
}

/* The kernel of a program; the caller frees it. */
static vyre_kernel_header *lower(const char *text, const vyre_lower_options *options) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program = parse(text);
  uint8_t *kernel;
  size_t bytes;
  if (vyre_lower(program, options, &kernel, &bytes, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
  if (vyre_kernel_verify(kernel, bytes, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
  ck_assert_int_eq(memcmp(((vyre_kernel_header *)(void *)kernel)->fingerprint, vyre_program_fingerprint(program),
                          VYRE_FINGERPRINT_BYTES), 0);
  vyre_program_release(program);
  return (vyre_kernel_header *)(void *)kernel;
}

/* Wants a failure that says so and how to mend it. */
static void refuse(const char *text, const vyre_lower_options *options, vyre_status wanted, const char *says) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program = parse(text);
  uint8_t *kernel = (uint8_t *)1;
  size_t bytes = 1;
  ck_assert_int_eq(vyre_lower(program, options, &kernel, &bytes, &error), wanted);
  ck_assert_ptr_null(kernel);
  ck_assert_uint_eq(bytes, 0);
  ck_assert_msg(strstr(error.text, says) != NULL, "%s", error.text);
  ck_assert_msg(strstr(error.text, "Fix: ") != NULL, "%s", error.text);
  vyre_program_release(program);
}

static uint32_t count_ops(const vyre_kernel_header *h, uint32_t op) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < h->insns.count; i++) count += VYRE_KERNEL_AT(vyre_kernel_insn, h, insns, i)->op == op;
  return count;
}

#define EMPTY "program p { }"
#define SINE "program p { rw x: f32[]; x[gid.x] = sin(x[gid.x]); }"

START_TEST(an_empty_program_is_a_kernel) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  vyre_kernel_header *h = lower(EMPTY, &o);
  ck_assert_uint_eq(h->entries.count, 1);
  ck_assert_uint_eq(h->insns.count, 0);
  ck_assert_uint_eq(h->launch_bytes, 24); /* grid and origin */
  free(h);
}
END_TEST

/* Passes keep the name of what was written. */
START_TEST(the_fingerprint_may_be_that_of_another) {
  uint8_t written[VYRE_FINGERPRINT_BYTES] = { 1, 2, 3 };
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  o.fingerprint = written;
  vyre_program *program = parse(EMPTY);
  uint8_t *kernel;
  size_t bytes;
  ck_assert_int_eq(vyre_lower(program, &o, &kernel, &bytes, NULL), VYRE_OK);
  ck_assert_int_eq(memcmp(((vyre_kernel_header *)(void *)kernel)->fingerprint, written, sizeof written), 0);
  free(kernel);
  vyre_program_release(program);
}
END_TEST

START_TEST(options_are_checked) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  o.size--;
  refuse(EMPTY, &o, VYRE_ERR_INVALID_ARGUMENT, "VYRE_LOWER_OPTIONS_INIT");
  o = (vyre_lower_options)VYRE_LOWER_OPTIONS_INIT;
  o.flags = 1u << 9;
  refuse(EMPTY, &o, VYRE_ERR_INVALID_ARGUMENT, "flags 0x200");
  o.flags = 0;
  o.compile_flags = 1u << 9;
  refuse(EMPTY, &o, VYRE_ERR_INVALID_ARGUMENT, "compile flags 0x200");
  o.compile_flags = VYRE_COMPILE_STEPS;
  refuse(EMPTY, &o, VYRE_ERR_INVALID_ARGUMENT, "step limit of 0");
  o.steps = 1ull << 32;
  o.needs = 0;
  refuse(EMPTY, &o, VYRE_ERR_UNSUPPORTED, "lacks int64");
  o = (vyre_lower_options)VYRE_LOWER_OPTIONS_INIT;
  o.subgroup_size = 3;
  refuse(EMPTY, &o, VYRE_ERR_INVALID_ARGUMENT, "subgroup size of 3");
}
END_TEST

START_TEST(what_nothing_expands_is_refused_by_name) {
  vyre_opcode_support row = { VYRE_KERNEL_ADD, 0, UINT64_MAX };
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  o.opcodes = &row;
  o.opcode_count = 1;
  refuse("program p { rw x: f32[]; x[0] = sqrt(x[0]); }", &o, VYRE_ERR_UNSUPPORTED, "unsupported(load)");
  refuse("program p { barrier; }", &o, VYRE_ERR_UNSUPPORTED, "unsupported(barrier)");
}
END_TEST

START_TEST(transcendentals_need_a_budget) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  refuse(SINE, &o, VYRE_ERR_INVALID_ARGUMENT, "ulp_budget");
  o.compile_flags = VYRE_COMPILE_ULP;
  vyre_kernel_header *h = lower(SINE, &o);
  ck_assert_uint_eq(count_ops(h, VYRE_KERNEL_SIN), 1);
  ck_assert_uint_eq(h->result, VYRE_KERNEL_RESULT_D0);
  free(h);
}
END_TEST

/* Native only within the bound that the target states. */
START_TEST(native_transcendentals_keep_to_the_budget) {
  vyre_lower_options o = target_options(TARGET_ENGINE);
  vyre_opcode_support *rows = calloc(o.opcode_count + 1, sizeof *rows);
  memcpy(rows, o.opcodes, o.opcode_count * sizeof *rows);
  rows[o.opcode_count] = (vyre_opcode_support){ VYRE_KERNEL_SIN, 2, VYRE_KERNEL_TYPE_BIT(F32) };
  o.opcodes = rows;
  o.opcode_count++;
  o.compile_flags = VYRE_COMPILE_ULP;
  o.ulp_budget = 2;
  vyre_kernel_header *h = lower(SINE, &o);
  ck_assert_uint_eq(count_ops(h, VYRE_KERNEL_SIN), 1);
  ck_assert_uint_eq(h->result, VYRE_KERNEL_RESULT_D1);
  ck_assert_uint_eq(h->ulp, 2);
  free(h);
  o.ulp_budget = 1;
  h = lower(SINE, &o);
  ck_assert_uint_eq(count_ops(h, VYRE_KERNEL_SIN), 0);
  free(h);
  refuse("program p { rw x: f64[]; x[0] = sin(x[0]); }", &o, VYRE_ERR_UNSUPPORTED, "sin of f64 within 1 units");
  free(rows);
}
END_TEST

START_TEST(the_launch_block_has_natural_alignment) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  vyre_kernel_header *h = lower("program p { param a: bool; param b: f64; param c: i32; read x: u8[]; rw y: f64[4];"
                                " y[0] = b + f64(c) + (a ? 1.0 : f64(x[0])); }", &o);
  ck_assert_uint_eq(VYRE_KERNEL_AT(vyre_kernel_param, h, params, 0)->offset, 0);
  ck_assert_uint_eq(VYRE_KERNEL_AT(vyre_kernel_param, h, params, 1)->offset, 8);
  ck_assert_uint_eq(VYRE_KERNEL_AT(vyre_kernel_param, h, params, 2)->offset, 16);
  ck_assert_uint_eq(h->param_bytes, 20);
  ck_assert_uint_eq(h->count_offset, 24);
  ck_assert_uint_eq(VYRE_KERNEL_AT(vyre_kernel_binding, h, bindings, 1)->count_offset, 32);
  ck_assert_uint_eq(VYRE_KERNEL_AT(vyre_kernel_hidden_word, h, hidden_words, 0)->offset, 40);
  ck_assert_uint_eq(h->launch_bytes, 64);
  ck_assert_uint_eq(h->needs & VYRE_NEED_FLOAT64, VYRE_NEED_FLOAT64);
  free(h);
}
END_TEST

START_TEST(attributes_are_in_the_header) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  o.flags = VYRE_LOWER_COUNT_MASKED;
  o.compile_flags = VYRE_COMPILE_CONTRACT | VYRE_COMPILE_FLUSH | VYRE_COMPILE_UNCHECKED | VYRE_COMPILE_STEPS;
  o.steps = 7;
  o.subgroup_size = 16;
  vyre_kernel_header *h = lower("program p workgroup(4, 3, 2) progress(workgroups) { rw x: f32[]; x[gid.x] = 1; }", &o);
  ck_assert_uint_eq(h->flags, VYRE_KERNEL_CONTRACT | VYRE_KERNEL_FLUSH | VYRE_KERNEL_UNCHECKED |
                                  VYRE_KERNEL_COUNTS_MASKED | VYRE_KERNEL_STEPS | VYRE_KERNEL_PROGRESS);
  ck_assert_uint_eq(h->steps, 7);
  ck_assert_uint_eq(h->result, VYRE_KERNEL_RESULT_D1);
  const vyre_kernel_entry *e = VYRE_KERNEL_AT(vyre_kernel_entry, h, entries, 0);
  ck_assert_uint_eq(e->workgroup[1], 3);
  ck_assert_uint_eq(e->subgroup, 16);
  ck_assert_uint_eq(VYRE_KERNEL_AT(vyre_kernel_access, h, accesses, 0)->bound_kind, VYRE_KERNEL_BOUND_PROVED);
  free(h);
}
END_TEST

/* Without a clock the time is not asked for, and the kernel says so. */
START_TEST(should_stop_without_a_clock) {
  static const char text[] = "program p { loop { if (should_stop()) { break; } } }";
  vyre_lower_options o = target_options(TARGET_LEAST);
  vyre_kernel_header *h = lower(text, &o);
  ck_assert_uint_eq(h->flags & VYRE_KERNEL_NO_TIME_BUDGET, 0);
  ck_assert_uint_eq(count_ops(h, VYRE_KERNEL_CLOCK), 1);
  free(h);
  o.needs &= ~(uint64_t)VYRE_NEED_CLOCK;
  h = lower(text, &o);
  ck_assert_uint_ne(h->flags & VYRE_KERNEL_NO_TIME_BUDGET, 0);
  ck_assert_uint_eq(count_ops(h, VYRE_KERNEL_CLOCK), 0);
  free(h);
}
END_TEST

/* A program whose locals do not fit the largest spill binding. */
START_TEST(what_can_not_be_kept_is_refused_with_figures) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  refuse("program p workgroup(1024) { local l: u32[2000000]; rw b: u32[]; l[b[0]] = 1; grid_barrier; b[1] = l[b[0]]; }",
         &o, VYRE_ERR_LIMIT, "has 8192000000 bytes a workgroup, and 4294967295 is the most");
}
END_TEST

/* Low bits of an index that are 0, from operators, loops and their steps, reach the access: neighbours of b[4 * i] can be
 * merged. Beyond 16 bytes nothing is said, as memory begins at a multiple of 16; nothing of elements in between. */
START_TEST(accesses_are_aligned_as_their_indices_are) {
  static const struct { const char *index; uint32_t bytes; } rows[] = {
    { "i", 4 }, { "i * 4", 16 }, { "i * 4 + 1", 4 }, { "i * 4 + 2", 8 }, { "i << 1", 8 }, { "i * 6", 8 }, { "i & 0xFFFFFFFC", 16 },
    { "i * 64", 16 }, { "i / 4", 4 }, { "n", 4 }, { "k", 16 }, { "k + 2", 8 }, { "k + 3", 4 }, { "i * 4 + k", 16 },
    { "m", 4 }, { "q * 2", 8 }, { "i > 3 ? i * 4 : k", 16 }, { "u64(k)", 16 },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[512];
    vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
    snprintf(text, sizeof text, "program p { param n: u32; write y: u32[]; let i = gid.x; for (k in 8..n step 4) { "
             "for (m in 3..n step 4) { for (q in n..100 step 2) { y[%s] = m + q; } } } }", rows[i].index);
    vyre_kernel_header *h = lower(text, &o);
    ck_assert_uint_eq(h->accesses.count, 1);
    uint32_t found = VYRE_KERNEL_AT(vyre_kernel_access, h, accesses, 0)->alignment;
    ck_assert_msg(found == rows[i].bytes, "y[%s]: %u", rows[i].index, found);
    free(h);
  }
  static const struct { const char *element; uint32_t bytes; } elements[] = {
    { "u8", 4 }, { "u16", 8 }, { "f64", 16 }, { "f32x2", 16 }, { "f32x4", 16 },
  };
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
    char text[256];
    vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
    snprintf(text, sizeof text, "program p { rw y: %s[]; y[gid.x * 4] = y[gid.x * 4]; }", elements[i].element);
    vyre_kernel_header *h = lower(text, &o);
    for (uint32_t a = 0; a < h->accesses.count; a++)
      ck_assert_uint_eq(VYRE_KERNEL_AT(vyre_kernel_access, h, accesses, a)->alignment, elements[i].bytes);
    free(h);
  }
}
END_TEST

/* A loop's variable has the zeros of its start and its step, and is below the end. */
START_TEST(the_variable_of_a_loop_has_facts) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  vyre_kernel_header *h = lower("program p { write y: u32[]; for (k in 16..100 step 8) { y[k] = k; } }", &o);
  uint32_t found = 0;
  for (uint32_t i = 1; i <= h->values.count; i++) {
    const vyre_kernel_value *v = VYRE_KERNEL_AT(vyre_kernel_value, h, values, i - 1);
    found += v->trailing_zeros == 3 && v->least == 16 && v->most == 99;
  }
  ck_assert_uint_ge(found, 1);
  free(h);
  free(lower("program p { write y: u32[]; for (k in 7..1) { y[k] = k; } for (k in 7..0) { y[k] = k; } }", &o));
}
END_TEST

#define SPECS "program p { param a: f32; param n: u32; param b: bool; param w: i64; rw y: f32[]; " \
              "if (b && w > 0) { y[n] = a; } }"

START_TEST(parameters_that_are_known_become_spec_constants) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  vyre_spec_constant specs[] = { { 1, VYRE_TYPE_U32, UINT32_MAX }, { 2, VYRE_TYPE_BOOL, 1 },
                                 { 3, VYRE_TYPE_I64, UINT64_MAX } };
  vyre_kernel_header *plain = lower(SPECS, &o);
  ck_assert_uint_eq(plain->specs.count, 0);
  o.spec = specs;
  o.spec_count = 3;
  vyre_kernel_header *h = lower(SPECS, &o);
  ck_assert_uint_eq(h->specs.count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    const vyre_kernel_spec *s = VYRE_KERNEL_AT(vyre_kernel_spec, h, specs, i);
    ck_assert_uint_eq(s->id, specs[i].id);
    ck_assert_uint_eq(s->bits, specs[i].bits);
  }
  ck_assert_uint_eq(count_ops(h, VYRE_KERNEL_SPEC), 3);
  ck_assert_uint_eq(count_ops(h, VYRE_KERNEL_PARAM), 1);
  /* The launch is the same: a backend may read the block as well. */
  ck_assert_uint_eq(h->param_bytes, plain->param_bytes);
  ck_assert_uint_eq(h->params.count, plain->params.count);
  free(plain);
  free(h);
  specs[0].bits = 1ull << 32;
  refuse(SPECS, &o, VYRE_ERR_INVALID_ARGUMENT, "bits 0x100000000");
  specs[0].bits = 0;
  specs[1].bits = 2;
  refuse(SPECS, &o, VYRE_ERR_INVALID_ARGUMENT, "bits 0x2");
  specs[1].bits = 0;
  specs[1].id = 1;
  refuse(SPECS, &o, VYRE_ERR_INVALID_ARGUMENT, "Spec constant 1 has id 1");
  specs[1] = (vyre_spec_constant){ 2, VYRE_TYPE_U32, 0 };
  refuse(SPECS, &o, VYRE_ERR_INVALID_ARGUMENT, "Spec constant 1 has id 2");
  specs[1].type = VYRE_TYPE_BOOL;
  specs[2].id = 4;
  refuse(SPECS, &o, VYRE_ERR_INVALID_ARGUMENT, "Spec constant 2 has id 4");
}
END_TEST

/* Statements carry their numbers, blocks are deep, chains are long. */
START_TEST(long_chains_and_deep_blocks) {
  static char text[1 << 20];
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  strcpy(text, "program p { rw b: u32[]; let v = b[0];\nif (v == 0) { b[1] = 0; }\n");
  char *end = text + strlen(text);
  for (int i = 1; i < 20000; i++) end += sprintf(end, "else if (v == %d) { b[1] = %d; }\n", i, i);
  strcpy(end, "}");
  vyre_kernel_header *h = lower(text, &o);
  ck_assert_uint_eq(count_ops(h, VYRE_KERNEL_IF), 20000);
  free(h);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { an_empty_program_is_a_kernel, the_fingerprint_may_be_that_of_another,
                                 options_are_checked, what_nothing_expands_is_refused_by_name,
                                 transcendentals_need_a_budget, native_transcendentals_keep_to_the_budget,
                                 the_launch_block_has_natural_alignment, attributes_are_in_the_header,
                                 accesses_are_aligned_as_their_indices_are, the_variable_of_a_loop_has_facts,
                                 should_stop_without_a_clock, what_can_not_be_kept_is_refused_with_figures,
                                 parameters_that_are_known_become_spec_constants, long_chains_and_deep_blocks, NULL };
  return run_suite("lower", 30, tests);
}
