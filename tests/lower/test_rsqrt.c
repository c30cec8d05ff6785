/* 1/sqrt(x) of f32 as it is expanded, by f64 and by integers, for mantissas and both parities of the exponent: all else
 * is the same up to a power of two. Then for what is special. One mantissa in 23 is tried; with VYRE_EXHAUSTIVE=1 all,
 * which takes half a minute and is what the comments in lower/expand_float.c rest on. */
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>
#include <vyre/text.h>

#include "../../plugins/cpu_ref/ops.h"
#include "../suite.h"
#include "batch.h"

static batch *make(bool with_f64) {
  static const char text[] = "program p workgroup(64) { read x: f32[]; write y: f32[]; y[gid.x] = rsqrt(x[gid.x]); }";
  static const uint32_t ops[] = {
#define X(name, number, spelling, rule, k0, k1, k2, k3, effects, doc) number,
#include <vyre/kernel_ops.def>
#undef X
  };
  static vyre_opcode_support rows[sizeof ops / sizeof *ops];
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (ops[i] != VYRE_KERNEL_RSQRT)
      rows[options.opcode_count++] =
        (vyre_opcode_support){ ops[i], 0, with_f64 ? UINT64_MAX : ~(uint64_t)VYRE_KERNEL_TYPE_BIT(F64) };
  options.opcodes = rows;
  ck_assert_int_eq(vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error), VYRE_OK);
  uint8_t *kernel;
  size_t bytes;
  uint32_t unknown;
  ck_assert_msg(vyre_lower(program, &options, &kernel, &bytes, &error) == VYRE_OK, "%s", error.text);
  ck_assert_msg(vyre_kernel_verify(kernel, bytes, &error) == VYRE_OK, "%s", error.text);
  batch *b = batch_new(kernel, &unknown);
  ck_assert_msg(b != NULL, "opcode 0x%X", unknown);
  free(kernel);
  vyre_program_release(program);
  return b;
}

static bool is_nan(uint32_t bits) { return (bits & 0x7FFFFFFF) > 0x7F800000; }

static void check(batch *b, const uint32_t *input) {
  static cpu_op rsqrt;
  uint32_t output[BATCH_LANES];
  if (rsqrt == NULL) rsqrt = cpu_op_find(VYRE_OP_RSQRT, VYRE_TYPE_F32);
  batch_run(b, input, output);
  for (int i = 0; i < BATCH_LANES; i++) {
    uint32_t wanted = (uint32_t)rsqrt(input[i], 0, 0);
    ck_assert_msg(output[i] == wanted || (is_nan(output[i]) && is_nan(wanted)), "rsqrt of 0x%08X is 0x%08X, not 0x%08X",
                  input[i], output[i], wanted);
  }
}

START_TEST(mantissas) {
  batch *b = make(_i == 0);
  uint32_t stride = getenv("VYRE_EXHAUSTIVE") != NULL ? 1 : 23;
  uint32_t input[BATCH_LANES];
  for (uint32_t bits = 127u << 23; bits < 129u << 23; bits += stride * BATCH_LANES) {
    for (uint32_t i = 0; i < BATCH_LANES; i++) input[i] = bits + stride * i;
    check(b, input);
  }
  batch_free(b);
}
END_TEST

/* Every exponent, both signs, all subnormals' leading bits. */
START_TEST(every_exponent) {
  batch *b = make(_i == 0);
  uint32_t input[BATCH_LANES];
  for (uint32_t low = 0; low < 0x800000; low = low * 3 + 1)
    for (uint32_t sign = 0; sign < 2; sign++) {
      for (uint32_t i = 0; i < BATCH_LANES; i++) input[i] = sign << 31 | i << 23 | low;
      check(b, input);
    }
  for (uint32_t i = 0; i < BATCH_LANES; i++) input[i] = i < 23 ? 1u << i : i;
  check(b, input);
  batch_free(b);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lower/rsqrt");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 120);
  suite_add_tcase(suite, all);
  tcase_add_loop_test(all, mantissas, 0, 2);
  tcase_add_loop_test(all, every_exponent, 0, 2);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
