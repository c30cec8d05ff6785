/* fma of f32 by f64, as it is lowered where the target's own has two roundings: the oracle's bits for random operands, most
 * of them near each other, at ties, below the normal numbers, or special. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "../suite.h"
#include "twin.h"

/* a, b, c come from three random words each time; |how| makes floats of them. A NaN becomes a number. */
static const char form[] =
  "program fused workgroup(64) { read p: u32[]; read q: u32[]; read s: u32[]; write r: u32[];\n"
  "const E: f32[16] = {0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38,"
  "0.5, 1.0000001, 0.99999994, 8388609.0};\n"
  "let i = gid.x; let x = p[i]; let y = q[i]; let z = s[i];\n%s\n"
  "let v = fma(a, b, c); r[i] = v == v ? bitcast<u32>(v) : 777; }";

static const char *const ways[] = {
  "let a = bitcast<f32>(x); let b = bitcast<f32>(y); let c = bitcast<f32>(z);",
  /* exponents near 0, so that product and summand overlap */
  "let a = bitcast<f32>(x & 0x807FFFFF | 0x3F800000); let b = bitcast<f32>(y & 0x807FFFFF | 0x3F800000);"
  "let c = bitcast<f32>((z & 0x807FFFFF) | ((100 + (x ^ y) % 40) << 23));",
  /* products half way between two f32, and a summand far below f64's last bit, which alone decides */
  "let a = bitcast<f32>(x & 0x800FFFFF | 0x3F800001); let b = bitcast<f32>(y & 0x80000000 | 0x3FC00000);"
  "let c = bitcast<f32>((z & 0x807FFFFF) | ((20 + z % 70) << 23));",
  /* sums that cancel */
  "let a = bitcast<f32>(x & 0x807FFFFF | 0x3F800000); let b = bitcast<f32>(y & 0x80000003 | 0x3F800000);"
  "let c = (x & 1) == 0 ? -(a * b) : bitcast<f32>(bitcast<u32>(a) ^ 0x80000001);",
  /* results at and below the least normal number */
  "let a = bitcast<f32>(x & 0x807FFFFF | 0x1F800000); let b = bitcast<f32>(y & 0x807FFFFF | 0x20000000);"
  "let c = bitcast<f32>(z & 0x80FFFFFF);",
  /* results at the largest number */
  "let a = bitcast<f32>(x & 0x807FFFFF | 0x5F000000); let b = bitcast<f32>(y & 0x807FFFFF | 0x5F800000);"
  "let c = bitcast<f32>(z & 0x80FFFFFF | 0x7F000000);",
  "let a = E[x % 16]; let b = E[y % 16]; let c = E[z % 16];",
  "let a = E[x % 16]; let b = bitcast<f32>(y); let c = E[z % 16];",
};
enum { WAYS = sizeof ways / sizeof *ways };

START_TEST(has_one_rounding) {
  char text[2048];
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  snprintf(text, sizeof text, form, ways[_i]);
  if (vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error) != VYRE_OK) ck_abort_msg("%s\n%s", error.text, text);
  for (uint64_t seed = 1; seed <= 8; seed++) {
    run_case input = { .grid = { 256, 1, 1 }, .subgroup = 8, .ulp = VYRE_ULP_UNSET, .elements = 16384, .seed = seed };
    twin_options o = { .input = input, .target = TARGET_UNFUSED };
    twin_result r = twin_run(program, &o);
    ck_assert_msg(r.text[0] == 0, "seed %d: %s\n%s", (int)seed, r.text, text);
  }
  vyre_program_release(program);
}
END_TEST

/* What is computed so has no FMA and says that it needs f64; f64's own is refused by name, and so is f32's without f64. */
START_TEST(is_asked_of_the_target) {
  static const char *const texts[] = {
    "program one workgroup(64) { rw x: f32[]; x[0] = fma(x[1], x[2], x[3]); }",
    "program two workgroup(64) { rw x: f64[]; x[0] = fma(x[1], x[2], x[3]); }" };
  for (int turn = 0; turn < 3; turn++) {
    vyre_lower_options o = target_options(TARGET_UNFUSED);
    vyre_error error = VYRE_ERROR_INIT;
    vyre_program *program;
    uint8_t *kernel;
    size_t bytes;
    const char *text = texts[turn == 1];
    if (turn == 2) o.needs &= ~(uint64_t)VYRE_NEED_FLOAT64;
    ck_assert_int_eq(vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error), VYRE_OK);
    vyre_status status = vyre_lower(program, &o, &kernel, &bytes, &error);
    ck_assert_int_eq(status, turn == 0 ? VYRE_OK : VYRE_ERR_UNSUPPORTED);
    if (turn != 0) ck_assert_msg(strstr(error.text, "unsupported(fma)") != NULL, "%s", error.text);
    if (turn == 0) {
      const vyre_kernel_header *h = (const vyre_kernel_header *)(const void *)kernel;
      ck_assert_uint_eq(h->needs & VYRE_NEED_FLOAT64, VYRE_NEED_FLOAT64);
      for (uint32_t i = 0; i < h->insns.count; i++)
        ck_assert_uint_ne(VYRE_KERNEL_AT(vyre_kernel_insn, h, insns, i)->op, VYRE_KERNEL_FMA);
    }
    free(kernel);
    vyre_program_release(program);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lower/fma");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 120);
  suite_add_tcase(suite, all);
  tcase_add_loop_test(all, has_one_rounding, 0, WAYS);
  tcase_add_test(all, is_asked_of_the_target);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
