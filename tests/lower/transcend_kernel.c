#include "transcend_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vyre/text.h>

const transcend_function transcend_functions[TRANSCEND_FUNCTIONS] = {
#define FUNCTION(NAME, name, symmetry, most) { #name, VYRE_OP_##NAME },
#define EXCEPTION(NAME, forms, input, output)
#include "lower/transcend_exact.def"
#undef FUNCTION
#undef EXCEPTION
};

const char *const transcend_form_names[FORMS] = { "pair", "f64", "f32" };

static bool is_transcendental(uint32_t op) {
  return op >= VYRE_KERNEL_EXP && op <= VYRE_KERNEL_TANH;
}

const vyre_opcode_support *transcend_opcodes(transcend_form form, uint64_t *count) {
  static const uint32_t ops[] = {
#define X(name, number, spelling, rule, k0, k1, k2, k3, effects, doc) number,
#include <vyre/kernel_ops.def>
#undef X
  };
  static vyre_opcode_support rows[sizeof ops / sizeof *ops];
  uint64_t types = (1ull << VYRE_TYPE_COUNT) - 1;
  if (form == FORM_PAIR) types &= ~(uint64_t)VYRE_KERNEL_TYPE_BIT(F64);
  *count = 0;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    if (is_transcendental(ops[i]) || (form == FORM_PAIR && ops[i] == VYRE_KERNEL_REFLOAT)) continue;
    rows[(*count)++] = (vyre_opcode_support){ ops[i], 0, types };
  }
  return rows;
}

static void must(vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "%s: %s\n", error->where, error->text);
  exit(1);
}

void *transcend_kernel(const char *function, transcend_form form, uint32_t ulp) {
  char text[256];
  snprintf(text, sizeof text,
           "program p workgroup(64) ulp(0) { read x: f32[]; write y: f32[]; let i = gid.x; y[i] = %s(x[i]); }",
           function);
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  must(vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error), &error);
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  options.compile_flags = VYRE_COMPILE_ULP;
  options.ulp_budget = ulp;
  if (form == FORM_PAIR) options.needs &= ~(uint64_t)VYRE_NEED_FLOAT64;
  options.opcodes = transcend_opcodes(form, &options.opcode_count);
  uint8_t *kernel;
  size_t bytes;
  must(vyre_lower(program, &options, &kernel, &bytes, &error), &error);
  must(vyre_kernel_verify(kernel, bytes, &error), &error);
  vyre_program_release(program);
  return kernel;
}

uint32_t transcend_bound(vyre_op op) {
  enum form { F32, F64, PAIR };
  static const struct { vyre_op op; enum form form; uint32_t ulp; } rows[] = {
#define X(op, type, ulp, form, builder) { VYRE_OP_##op, form, ulp },
#include "lower/transcend.def"
#undef X
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].op == op && rows[i].form == F32) return rows[i].ulp;
  return 0;
}

static bool is_nan(uint32_t x) {
  return (x & 0x7FFFFFFF) > 0x7F800000;
}

static int64_t place(uint32_t x) {
  return (x & 0x80000000) != 0 ? -(int64_t)(x & 0x7FFFFFFF) : x;
}

uint32_t transcend_distance(uint32_t x, uint32_t y) {
  if (is_nan(x) || is_nan(y)) return is_nan(x) && is_nan(y) ? 0 : UINT32_MAX;
  return (uint32_t)llabs(place(x) - place(y));
}
