/* Results that do not come from the oracle, or not to the last bit: what the language states, and functions with an
 * error budget, exact where it is 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numeric.h"

/* ---- Stated results ------------------------------------------------------------------------------ */

typedef struct vector_row {
  const char *type, *expression, *result;
  uint64_t a, b, wanted;
} vector_row;

static const vector_row vectors[] = {
#define X(type, a, b, expression, result, wanted) {#type, expression, #result, a, b, wanted},
#include "vectors.def"
#undef X
};

static vyre_type type_named(const char *name) {
  vyre_type type = VYRE_TYPE_NONE + 1;
  while (strcmp(vyre_type_describe(type)->spelling, name) != 0) type++;
  return type;
}

/* The wanted value goes through kit_compare_results as if it were the oracle's. */
static bool try_vector(kit *k, const vector_row *v) {
  char text[NUMERIC_TEXT], name[128];
  uint8_t in[2][16] = {{0}}, wanted_bytes[16] = {0}, *wanted_data[] = {in[0], in[1], wanted_bytes};
  vyre_type type = type_named(v->type), result = type_named(v->result);
  numeric_print(text,
                "program p { read x: %s[1]; read y: %s[1]; write r: %s[1]; let a = x[0]; let b = y[0]; r[0] = %s; }",
                v->type, v->type, v->result, v->expression);
  snprintf(name, sizeof name, "%s of %s, as the language states it", v->expression, v->type);
  numeric_put(type, in[0], 0, v->a);
  numeric_put(type, in[1], 0, v->b);
  numeric_put(result, wanted_bytes, 0, v->wanted);
  kit_buffer buffers[] = {
      {.name = "x", .in = in[0], .elements = 1}, {.name = "y", .in = in[1], .elements = 1}, numeric_output("r", 1)};
  kit_case c = {.name = name, .buffers = buffers, .buffer_count = 3};
  c.program = numeric_claimed(k, text, NULL);
  if (!c.program) return !kit_is_over(k);
  kit_result found;
  bool same = kit_run(k, k->device, &c, &found);
  kit_result wanted = found;
  wanted.status = VYRE_OK;
  wanted.data = wanted_data;
  same = same && kit_compare_results(k, &c, &found, &wanted);
  kit_result_free(&found);
  vyre_program_release(c.program);
  return same;
}

void check_stated(kit *k) {
  for (size_t n = 0; n < sizeof vectors / sizeof *vectors && !kit_is_full(k); n++) try_vector(k, &vectors[n]);
  numeric_conclude(k);
}

/* ---- Functions with a budget --------------------------------------------------------------------- */

/* Where rounding is hardest, where libraries are known to fail, and the ends of ranges; both signs are tried. */
static const uint32_t hard_inputs[] = {
    0x3CF3A937, 0x352D1F9A, 0x43160000, 0x4C5D65A5, 0x65D890D3, 0x39826222, 0x33800000, 0x33000000, 0x39800000,
    0x3F800000, 0x42B17218, 0x42B17217, 0x42CFF1B4, 0x42CFF1B5, 0x42AEAC50, 0x43000000, 0x43150000, 0x3FC90FDB,
    0x40490FDB, 0x7F7FFFFF, 0x5BC5D1F4, 0x00000001, 0x6115CB11, 0x5922AA80, 0x5F18B878, 0x3A1285FF, 0x3D8D6B23,
    0x4E7FFFFF, 0x4E800000, 0x39800001, 0x397FFFFF, 0x32FFFFFF, 0x41200000, 0x42480000, 0x3F3504F3, 0x3FB504F3,
    0x40C90FDB, 0x4B000000, 0x4B7FFFFF, 0x7F000000, 0x42FE0000, 0x42FFFFFF, 0x3EFFFFFF, 0x3F7FFFFF, 0x3F800001};

/* Edges, hard inputs, powers of two and their neighbours, and random bits of which half lie between 2^-15 and 2^16. */
static bool make_inputs(kit *k, numeric_column *out) {
  enum { HARD = sizeof hard_inputs / sizeof *hard_inputs, POWERS = 254 * 3, RANDOM = 2048 };
  vyre_type type = VYRE_TYPE_F32;
  if (!numeric_cross(&type, 1, UINT32_MAX, 2 * HARD + 2 * POWERS + RANDOM, kit_random(k), out))
    return kit_fail(k, "memory is exhausted");
  uint64_t at = numeric_edge_count(type);
  for (uint32_t n = 0; n < HARD; n++)
    for (uint32_t sign = 0; sign < 2; sign++) numeric_put(type, out->bytes, at++, hard_inputs[n] | sign << 31);
  for (uint32_t n = 0; n < POWERS; n++)
    for (uint32_t sign = 0; sign < 2; sign++)
      numeric_put(type, out->bytes, at++, (((n / 3 + 1) << 23) + n % 3 - 1) | sign << 31);
  for (uint32_t n = 0; n < RANDOM; n += 2) {
    uint64_t bits = kit_random(k);
    numeric_put(type, out->bytes, at + n, (bits & 0x807FFFFF) | (112 + (bits >> 32) % 32) << 23);
  }
  return true;
}

static kit_case budget_case(const char *name, const vyre_compile_options *options, const kit_buffer buffers[2]) {
  return (kit_case){.name = name, .buffers = buffers, .buffer_count = 2, .compile = options};
}

static bool is_budgeted(vyre_op op) {
  return (vyre_op_describe(op)->effects & VYRE_EFFECT_ULP) != 0;
}

static void budget_text(vyre_op op, vyre_type type, char text[NUMERIC_TEXT]) {
  const char *spelling = vyre_type_describe(type)->spelling;
  numeric_print(text, "program p workgroup(64) { read a: %s[]; write r: %s[]; let i = gid.x; r[i] = %s(a[i]); }",
                spelling, spelling, vyre_op_describe(op)->spelling);
}

/* With a budget of 0 every bit is that of the correctly rounded value. */
void check_rounded_functions(kit *k) {
  numeric_column a;
  char text[NUMERIC_TEXT], name[64];
  if (!make_inputs(k, &a)) return;
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  options.ulp = 0;
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT && !kit_is_full(k); op++) {
    if (!is_budgeted(op)) continue;
    kit_buffer buffers[] = {numeric_input("a", &a), numeric_output("r", a.count)};
    kit_case c = budget_case(name, &options, buffers);
    budget_text(op, VYRE_TYPE_F32, text);
    snprintf(name, sizeof name, "%s of f32, ulp(0)", vyre_op_describe(op)->spelling);
    c.text = text;
    numeric_try(k, &c, false);
  }
  numeric_columns_free(&a, 1);
  numeric_conclude(k);
}

static bool is_nan(uint64_t bits, uint32_t width) {
  uint64_t magnitude = bits & (((uint64_t)1 << (width - 1)) - 1);
  return magnitude > (width == 32 ? 0x7F800000u : 0x7FF0000000000000u);
}

/* Floats as integers in their order, both zeros being one. */
static uint64_t ordered(uint64_t bits, uint32_t width) {
  const uint64_t zero = (uint64_t)1 << 63;
  uint64_t magnitude = bits & (((uint64_t)1 << (width - 1)) - 1);
  return bits >> (width - 1) ? zero - magnitude : zero + magnitude;
}

static bool is_within(uint64_t found, uint64_t exact, uint32_t width, uint32_t ulp) {
  if (is_nan(found, width) || is_nan(exact, width)) return is_nan(found, width) && is_nan(exact, width);
  uint64_t f = ordered(found, width), e = ordered(exact, width);
  return (f > e ? f - e : e - f) <= ulp;
}

static void judge_budget(kit *k, const char *name, uint32_t ulp, const numeric_column *a, const uint8_t *found,
                         const uint8_t *exact) {
  uint32_t size = vyre_type_describe(a->type)->bytes;
  for (uint64_t i = 0; i < a->count; i++) {
    uint64_t f = 0, e = 0;
    char texts[3][KIT_ELEMENT_BYTES];
    memcpy(&f, found + i * size, size);
    memcpy(&e, exact + i * size, size);
    if (is_within(f, e, 8 * size, ulp)) continue;
    kit_element_text(a->type, &e, texts[0]);
    kit_element_text(a->type, &f, texts[1]);
    kit_element_text(a->type, a->bytes + i * size, texts[2]);
    kit_fail(k, "%s: r[%llu]: wanted %s or at most %u steps beside it, found %s; a[%llu] = %s", name,
             (unsigned long long)i, texts[0], ulp, texts[1], (unsigned long long)i, texts[2]);
    return;
  }
}

/* Both have run. Functions of f64 need not be there, but are refused by name then; the oracle's are half a step away.
 */
static void judge_function(kit *k, vyre_op op, const kit_case *c, const numeric_column *a, const kit_result *found,
                           const kit_result *exact) {
  bool wide = a->type == VYRE_TYPE_F64, named = strstr(found->error.text, vyre_op_describe(op)->spelling) != NULL;
  if (wide && found->status == VYRE_ERR_UNSUPPORTED && named) return;
  if (found->status != VYRE_OK)
    kit_fail(k, "%s: %s: %s", c->name, vyre_status_name(found->status), found->error.text);
  else if (exact->status != VYRE_OK)
    kit_fail(k, "%s: the oracle: %s", c->name, exact->error.text);
  else
    judge_budget(k, c->name, c->compile->ulp + wide, a, found->data[1], exact->data[1]);
}

static void try_budget(kit *k, vyre_op op, uint32_t ulp, const numeric_column *a) {
  char text[NUMERIC_TEXT], name[64];
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  options.ulp = ulp;
  kit_buffer buffers[] = {numeric_input("a", a), numeric_output("r", a->count)};
  kit_case c = budget_case(name, &options, buffers);
  budget_text(op, a->type, text);
  snprintf(name, sizeof name, "%s of %s, ulp(%u)", vyre_op_describe(op)->spelling,
           vyre_type_describe(a->type)->spelling, ulp);
  c.program = numeric_claimed(k, text, &options);
  if (!c.program) return;
  kit_result found, exact;
  bool sound = kit_run(k, k->device, &c, &found);
  sound = kit_run(k, k->oracle, &c, &exact) && sound;
  if (sound) judge_function(k, op, &c, a, &found, &exact);
  kit_result_free(&found);
  kit_result_free(&exact);
  vyre_program_release(c.program);
}

static void try_budgets(kit *k, const numeric_column *a) {
  static const uint32_t budgets[] = {1, 2, 3, 4, 64};
  for (vyre_op op = VYRE_OP_NONE + 1; op < VYRE_OP_COUNT; op++)
    for (size_t n = 0; n < sizeof budgets / sizeof *budgets && is_budgeted(op) && !kit_is_full(k); n++)
      try_budget(k, op, budgets[n], a);
}

void check_budgets(kit *k) {
  vyre_type wide = VYRE_TYPE_F64;
  numeric_column a;
  if (!make_inputs(k, &a)) return;
  try_budgets(k, &a);
  numeric_columns_free(&a, 1);
  if (!numeric_cross(&wide, 1, UINT32_MAX, 1000, kit_random(k), &a)) return;
  try_budgets(k, &a);
  numeric_columns_free(&a, 1);
  numeric_conclude(k);
}
