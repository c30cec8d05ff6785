/* exp, sin and their like as they are lowered, in all forms, against MPFR: where rounding is hardest, at the ends of
 * the ranges, and at random. `make check-transcend` tries all inputs. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#ifndef HAVE_MPFR

int main(void) {
  puts("skipped: MPFR was not found by configure");
  return 77;
}
#else
#include <mpfr.h>
#include <vyre/text.h>

#include "batch.h"
#include "lower/transcend_pair.h"
#include "transcend_kernel.h"

typedef int (*exact_fn)(mpfr_t, const mpfr_t, mpfr_rnd_t);
static const exact_fn exact_functions[] = {
#define FUNCTION(NAME, name, symmetry, most) mpfr_##name,
#define EXCEPTION(NAME, forms, input, output)
#include "lower/transcend_exact.def"
#undef FUNCTION
#undef EXCEPTION
};

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return isnan(value) ? 0x7FC00000 : bits;
}

static uint32_t exact(int function, uint32_t input) {
  float value;
  memcpy(&value, &input, sizeof value);
  mpfr_t x, y;
  mpfr_inits2(240, x, y, (mpfr_ptr)NULL);
  mpfr_set_flt(x, value, MPFR_RNDN);
  exact_functions[function](y, x, MPFR_RNDN);
  uint32_t bits = bits_of(mpfr_get_flt(y, MPFR_RNDN));
  mpfr_clears(x, y, (mpfr_ptr)NULL);
  return bits;
}

/* Inputs that wait until a batch is full. */
typedef struct trial {
  int function;
  batch *forms[FORMS];
  uint32_t input[BATCH_LANES];
  int count;
} trial;

static void trial_open(trial *t, int function) {
  *t = (trial){ .function = function };
  for (int form = 0; form < FORMS; form++) {
    uint32_t unknown, ulp = form == FORM_F32 ? transcend_bound(transcend_functions[function].op) : 0;
    void *kernel = transcend_kernel(transcend_functions[function].name, (transcend_form)form, ulp);
    t->forms[form] = batch_new(kernel, &unknown);
    ck_assert_msg(t->forms[form] != NULL, "opcode 0x%03X is not known", unknown);
    free(kernel);
  }
}

static void trial_flush(trial *t) {
  uint32_t output[FORMS][BATCH_LANES];
  for (int form = 0; form < FORMS; form++) batch_run(t->forms[form], t->input, output[form]);
  for (int k = 0; k < t->count; k++) {
    uint32_t want = exact(t->function, t->input[k]);
    for (int form = 0; form < FORMS; form++) {
      uint32_t allowed = form == FORM_F32 ? transcend_bound(transcend_functions[t->function].op) : 0;
      if (transcend_distance(output[form][k], want) > allowed)
        ck_abort_msg("%s(0x%08X) is 0x%08X in the %s form, not 0x%08X", transcend_functions[t->function].name,
                     t->input[k], output[form][k], transcend_form_names[form], want);
    }
  }
  t->count = 0;
}

static void trial_try(trial *t, uint32_t input) {
  t->input[t->count++] = input;
  if (t->count == BATCH_LANES) trial_flush(t);
}

static void trial_close(trial *t) {
  trial_flush(t);
  for (int form = 0; form < FORMS; form++) batch_free(t->forms[form]);
}

/* What the search found, with either sign, and inputs at which libraries are known to fail. */
START_TEST(hard_cases_are_rounded_correctly) {
  static const uint32_t inputs[] = {
#define FUNCTION(NAME, name, symmetry, most)
#define EXCEPTION(NAME, forms, input, output) input,
#include "lower/transcend_exact.def"
#undef FUNCTION
#undef EXCEPTION
    0x33800000, 0x33000000, 0x39800000, 0x3F800000, 0x42B17218, 0x42B17217, 0x42CFF1B4, 0x42CFF1B5, 0x42AEAC50,
    0x43000000, 0x43150000, 0x3FC90FDB, 0x40490FDB, 0x7F7FFFFF, 0x5BC5D1F4, 0x00000001, 0x352D1F9A, 0x6115CB11,
    0x5922AA80, 0x5F18B878, 0x3A1285FF, 0x3D8D6B23, 0x4E7FFFFF, 0x4E800000, 0x39800001, 0x397FFFFF, 0x32FFFFFF };
  trial t;
  trial_open(&t, _i);
  for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++)
    for (uint32_t sign = 0; sign < 2; sign++) trial_try(&t, (inputs[k] & 0x7FFFFFFF) | sign << 31);
  trial_close(&t);
}
END_TEST

START_TEST(special_values) {
  static const uint32_t inputs[] = { 0,          0x80000000, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFFFFFFF,
                                     0x7FC00000, 0x3F800000, 0xBF800000, 0x3F800001, 0xBF800001, 0x00800000,
                                     0x007FFFFF, 0x807FFFFF, 0x00000001, 0x80000001, 0x7F7FFFFF, 0xFF7FFFFF };
  trial t;
  trial_open(&t, _i);
  for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) trial_try(&t, inputs[k]);
  trial_close(&t);
}
END_TEST

START_TEST(every_power_of_two_and_its_neighbours) {
  trial t;
  trial_open(&t, _i);
  for (uint32_t exponent = 0; exponent < 255; exponent++)
    for (uint32_t sign = 0; sign < 2; sign++)
      for (uint32_t k = 0; k < 3; k++) trial_try(&t, (exponent << 23 | sign << 31) + k - (exponent > 0));
  trial_close(&t);
}
END_TEST

START_TEST(random_inputs) {
  uint64_t seed = 20261130 + (uint64_t)_i;
  trial t;
  trial_open(&t, _i);
  for (int n = 0; n < 8000; n++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint32_t bits = (uint32_t)(seed >> 32);
    if (n % 2) bits = (bits & 0x87FFFFFF) | 0x38000000; /* magnitudes from 2^-15 to 2 */
    trial_try(&t, bits);
  }
  trial_close(&t);
}
END_TEST

static bool has_float(const vyre_kernel_header *h, uint8_t bits) {
  for (uint32_t i = 0; i < h->values.count; i++) {
    vyre_kernel_type type = VYRE_KERNEL_AT(vyre_kernel_value, h, values, i)->type;
    if (type.cls == VYRE_KERNEL_CLASS_FLOAT && type.bits == bits) return true;
  }
  return false;
}

/* The pair form touches f32 by its bits alone, and the cheapest one asks for no f64. */
START_TEST(forms_ask_for_what_they_say) {
  vyre_kernel_header *pair = transcend_kernel(transcend_functions[_i].name, FORM_PAIR, 0);
  vyre_kernel_header *f64 = transcend_kernel(transcend_functions[_i].name, FORM_F64, 0);
  ck_assert(!has_float(pair, 64) && (pair->needs & VYRE_NEED_FLOAT64) == 0);
  ck_assert(has_float(f64, 64) && (f64->needs & VYRE_NEED_FLOAT64) != 0);
  vyre_kernel_header *f32 = transcend_kernel(transcend_functions[_i].name, FORM_F32, UINT16_MAX);
  ck_assert(!has_float(f32, 64) && (f32->needs & VYRE_NEED_FMA) != 0 && f32->insns.count < pair->insns.count);
  vyre_kernel_header *no_f64 = transcend_kernel(transcend_functions[_i].name, FORM_PAIR, UINT16_MAX);
  ck_assert_uint_eq(no_f64->insns.count, f32->insns.count);
  free(no_f64);
  for (uint32_t i = 0; i < pair->insns.count; i++) {
    const vyre_kernel_insn *insn = VYRE_KERNEL_AT(vyre_kernel_insn, pair, insns, i);
    ck_assert(insn->op != VYRE_KERNEL_FMA && insn->op != VYRE_KERNEL_DIV && insn->op != VYRE_KERNEL_SQRT);
  }
  free(pair);
  free(f64);
  free(f32);
}
END_TEST

/* Operands are emitted from left to right, whatever compiler made the library: transcend_emit.h rests on it. */
START_TEST(kernels_do_not_depend_on_the_compiler) {
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  lower_code code = { .options = &options, .workgroup = { 1, 1, 1 } };
  for (int i = 0; i < FORM_OPS; i++) code.taken[i] = UINT64_MAX;
  lower_info none = { .type = VYRE_TYPE_NONE };
  ck_assert(vyre_vector_push(&code.values, none));
  lower_open_entry(&code);
  lower_value one = t_u32(&code, 1);
  t_select(&code, t_lt(&code, one, one), t_add(&code, one, one), t_mul(&code, one, one));
  pair_add(&code, PAIR(t_sub(&code, one, one), one), PAIR(t_or(&code, one, one), one));
  static const uint16_t order[] = { VYRE_KERNEL_LT, VYRE_KERNEL_ADD, VYRE_KERNEL_MUL, VYRE_KERNEL_SELECT,
                                    VYRE_KERNEL_SUB, VYRE_KERNEL_OR };
  ck_assert(!lower_failed(&code) && code.to->count > 6);
  for (int i = 0; i < 6; i++) ck_assert_uint_eq(code.to->data[i].op, order[i]);
  lower_code_free(&code);
}
END_TEST

/* ---- Which way is taken ------------------------------------------------------------------------ */

/* Lowers y[i] = sin(x[i]) for a target that offers SIN of f32 within |offered| units; 0 bytes where that fails. */
static vyre_kernel_header *lower_sin(const char *type, uint32_t offered, uint32_t budget, vyre_error *error) {
  char text[256];
  snprintf(text, sizeof text, "program p { read x: %s[]; write y: %s[]; let i = gid.x; y[i] = sin(x[i]); }", type,
           type);
  vyre_program *program;
  ck_assert_int_eq(vyre_text_parse(text, strlen(text), NULL, NULL, &program, error), VYRE_OK);
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  options.compile_flags = VYRE_COMPILE_ULP;
  options.ulp_budget = budget;
  const vyre_opcode_support *others = transcend_opcodes(FORM_F64, &options.opcode_count);
  vyre_opcode_support *all = calloc(options.opcode_count + 1, sizeof *all);
  memcpy(all, others, options.opcode_count * sizeof *all);
  all[options.opcode_count++] = (vyre_opcode_support){ VYRE_KERNEL_SIN, offered, VYRE_KERNEL_TYPE_BIT(F32) };
  options.opcodes = all;
  uint8_t *kernel;
  size_t bytes;
  vyre_status status = vyre_lower(program, &options, &kernel, &bytes, error);
  ck_assert((status == VYRE_OK) == (kernel != NULL));
  vyre_program_release(program);
  free(all);
  return (vyre_kernel_header *)(void *)kernel;
}

static bool has_sin(const vyre_kernel_header *h) {
  for (uint32_t i = 0; i < h->insns.count; i++)
    if (VYRE_KERNEL_AT(vyre_kernel_insn, h, insns, i)->op == VYRE_KERNEL_SIN) return true;
  return false;
}

START_TEST(native_functions_are_taken_within_the_budget_alone) {
  static const struct { uint32_t offered, budget; bool native; } cases[] = {
    { 4, 4, true }, { 4, 5, true }, { 4, 3, false }, { 4, 0, false }, { 0, 0, true } };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vyre_error error = VYRE_ERROR_INIT;
    vyre_kernel_header *h = lower_sin("f32", cases[i].offered, cases[i].budget, &error);
    ck_assert_msg(h != NULL, "%s", error.text);
    ck_assert(has_sin(h) == cases[i].native);
    free(h);
  }
}
END_TEST

START_TEST(f64_is_refused_by_name) {
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert(lower_sin("f64", 0, 0, &error) == NULL);
  ck_assert_int_eq(error.status, VYRE_ERR_UNSUPPORTED);
  ck_assert_msg(strstr(error.text, "sin of f64") != NULL && strstr(error.text, "Fix:") != NULL, "%s", error.text);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lower/transcend");
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_loop_test(all, hard_cases_are_rounded_correctly, 0, TRANSCEND_FUNCTIONS);
  tcase_add_loop_test(all, special_values, 0, TRANSCEND_FUNCTIONS);
  tcase_add_loop_test(all, every_power_of_two_and_its_neighbours, 0, TRANSCEND_FUNCTIONS);
  tcase_add_loop_test(all, random_inputs, 0, TRANSCEND_FUNCTIONS);
  tcase_add_loop_test(all, forms_ask_for_what_they_say, 0, TRANSCEND_FUNCTIONS);
  tcase_add_test(all, kernels_do_not_depend_on_the_compiler);
  tcase_add_test(all, native_functions_are_taken_within_the_budget_alone);
  tcase_add_test(all, f64_is_refused_by_name);
  suite_add_tcase(suite, all);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  return bad != 0;
}
#endif
