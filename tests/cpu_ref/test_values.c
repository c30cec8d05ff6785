/* Expressions from text to result: types, vectors, selects, conversions, leaves, and the rule that everything is
 * evaluated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"
#include "trial.h"

/* The bits of |expression|, stored as |type|, with parameters a, b: u32; i, j: i32; p, q: u64; m: i64; x, y: f32; d: f64;
 * t: bool of the stated values. */
static uint64_t value_of(const char *type, const char *expression) {
  char text[2048];
  trial t;
  snprintf(text, sizeof text,
           "program v { param a: u32; param b: u32; param i: i32; param j: i32; param p: u64; param q: u64; param m: i64; "
           "param x: f32; param y: f32; param d: f64; param t: bool; write out: %s[1]; out[0] = %s; }",
           type, expression);
  trial_begin(&t, text);
  uint64_t *out = trial_bind(&t, "out", 1);
  double d = 2.5;
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  trial_set(&t, "a", 7);
  trial_set(&t, "b", 0xFFFFFFFF);
  trial_set(&t, "i", 0xFFFFFFF9); /* -7 */
  trial_set(&t, "j", 3);
  trial_set(&t, "p", 0x123456789ABCDEF0);
  trial_set(&t, "q", 5);
  trial_set(&t, "m", (uint64_t)-9);
  trial_set_f32(&t, "x", 1.5f);
  trial_set_f32(&t, "y", -2.0f);
  trial_set(&t, "d", bits);
  trial_set(&t, "t", 1);
  trial_run(&t, 1, 1, 1);
  bits = out[0];
  trial_end(&t);
  return bits;
}

static float f32_of(const char *expression) {
  uint32_t bits = (uint32_t)value_of("f32", expression);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double f64_of(const char *expression) {
  uint64_t bits = value_of("f64", expression);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

START_TEST(arithmetic_of_each_type) {
  ck_assert_uint_eq(value_of("u32", "a * 3 + 1"), 22);
  ck_assert_uint_eq(value_of("u32", "b + 2"), 1);
  ck_assert_int_eq((int32_t)value_of("i32", "i / j"), -2);
  ck_assert_int_eq((int32_t)value_of("i32", "i % j"), -1);
  ck_assert_int_eq((int32_t)value_of("i32", "i >> 1"), -4);
  ck_assert_uint_eq(value_of("u64", "p >> 32"), 0x12345678);
  ck_assert_int_eq((int64_t)value_of("i64", "m / 2"), -4);
  ck_assert_float_eq(f32_of("x * y + 0.25"), -2.75f);
  ck_assert_double_eq(f64_of("d * d"), 6.25);
  ck_assert_uint_eq(value_of("bool", "x > y && !t"), 0);
  ck_assert_uint_eq(value_of("bool", "x > y || !t"), 1);
  ck_assert_uint_eq(value_of("u32", "mulhi(b, b)"), 0xFFFFFFFE);
  ck_assert_uint_eq(value_of("u32", "sat_mul(b, 2)"), 0xFFFFFFFF);
  ck_assert_uint_eq(value_of("u32", "a & 5 ^ 1 | 8"), ((7 & 5) ^ 1) | 8);
}
END_TEST

START_TEST(division_by_a_zero_that_is_not_constant) {
  ck_assert_uint_eq(value_of("u32", "a / (a - 7)"), 0xFFFFFFFF);
  ck_assert_uint_eq(value_of("u32", "a % (a - 7)"), 0);
  ck_assert_int_eq((int32_t)value_of("i32", "i / (j - 3)"), 0);
  ck_assert(value_of("u64", "p / (q - 5)") == UINT64_MAX);
  ck_assert(isinf(f32_of("x / (y + 2.0)")));
}
END_TEST

START_TEST(conversions) {
  ck_assert_uint_eq(value_of("u32", "u32(y)"), 0);
  ck_assert_int_eq((int32_t)value_of("i32", "i32(y)"), -2);
  ck_assert_uint_eq(value_of("u64", "u64(i)"), 0xFFFFFFFFFFFFFFF9);
  ck_assert_uint_eq(value_of("u32", "u32(p)"), 0x9ABCDEF0);
  ck_assert_uint_eq(value_of("bool", "bool(a)"), 1);
  ck_assert_float_eq(f32_of("f32(t) + f32(i)"), -6);
  ck_assert_uint_eq(value_of("u32", "u8(b) + u16(b)"), 0x100FE);
  ck_assert_int_eq((int32_t)value_of("i32", "i8(j + 125)"), -128);
  ck_assert_float_eq(f32_of("f16(x + 0.0001)"), 1.5f);
  ck_assert_double_eq(f64_of("f64(x)"), 1.5);
  ck_assert_float_eq(f32_of("f32(d)"), 2.5f);
}
END_TEST

START_TEST(bits_keep_through_bitcasts) {
  ck_assert_uint_eq(value_of("u32", "bitcast<u32>(x)"), 0x3FC00000);
  ck_assert_float_eq(f32_of("bitcast<f32>(a + 0x3F800000 - 7)"), 1);
  ck_assert_uint_eq(value_of("u32", "bitcast<u32x2>(p).x"), 0x9ABCDEF0);
  ck_assert_uint_eq(value_of("u32", "bitcast<u32x2>(p).y"), 0x12345678);
  ck_assert(value_of("u64", "bitcast<u64>(u32x2(a, b))") == 0xFFFFFFFF00000007);
  ck_assert_uint_eq(value_of("u32", "bitcast<u32>(bitcast<f32>(0x7FA00001 + a - 7))"), 0x7FA00001);
  ck_assert(value_of("u64", "bitcast<u64>(d)") == 0x4004000000000000);
}
END_TEST

START_TEST(vectors_are_element_wise) {
  ck_assert_uint_eq(value_of("u32", "(u32x4(1, 2, 3, 4) * 2 + u32x4(10)).z"), 16);
  ck_assert_float_eq(f32_of("(f32x2(x, y) * f32x2(2.0, 3.0)).y"), -6);
  ck_assert_float_eq(f32_of("abs(f32x4(x, y, x, y)).w"), 2);
  ck_assert_float_eq(f32_of("fma(f32x2(x), f32x2(y), f32x2(1.0, 10.0)).y"), 7);
  ck_assert_int_eq((int32_t)value_of("i32", "min(i32x4(i, j, 0, 5), i32x4(-1)).x"), -7);
  ck_assert_uint_eq(value_of("u32", "(t ? u32x4(1, 2, 3, 4) : u32x4(5)).w"), 4);
  ck_assert_uint_eq(value_of("u32", "popcount(u32x2(a, b)).y"), 32);
  ck_assert_uint_eq(value_of("u32", "(u32x4(a, b, a, b) << u32x4(0, 1, 2, 3)).w"), 0xFFFFFFF8);
  ck_assert_int_eq((int32_t)value_of("i32", "(-i32x2(i, j)).x"), 7);
}
END_TEST

START_TEST(components_of_a_variable_can_be_set) {
  trial t;
  trial_begin(&t, "program p { write out: f32x4[1]; var v = f32x4(1.0, 2.0, 3.0, 4.0); v.y = 9.0; v = v * v.y; "
                  "v.x = v.w; out[0] = v; }");
  float *out = trial_bind(&t, "out", 1);
  trial_run(&t, 1, 1, 1);
  ck_assert_float_eq(out[0], 36);
  ck_assert_float_eq(out[1], 81);
  ck_assert_float_eq(out[2], 27);
  ck_assert_float_eq(out[3], 36);
  trial_end(&t);
}
END_TEST

START_TEST(select_evaluates_all_and_moves_bits) {
  trial t;
  trial_begin(&t, "program p { param c: bool; rw n: u32[2]; write out: u32[2];"
                  "let v = c ? atomic_add(n[0], 1) : atomic_add(n[1], 1); out[0] = v;"
                  "let both = atomic_add(n[0], 1) == 1 && atomic_add(n[1], 1) == 9; out[1] = u32(both); }");
  uint32_t *n = trial_bind(&t, "n", 2);
  trial_bind(&t, "out", 2);
  trial_set(&t, "c", 0);
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(n[0], 2);
  ck_assert_uint_eq(n[1], 2);
  trial_end(&t);
  ck_assert_uint_eq(value_of("u32", "bitcast<u32>(t ? bitcast<f32>(0x7FA00001 + a - 7) : x)"), 0x7FA00001);
}
END_TEST

/* Each use of a name is what the name stood for; each atomic in the text happens once, in order. */
START_TEST(evaluation_goes_from_left_to_right) {
  trial t;
  trial_begin(&t, "program p { rw n: u32[1]; write out: u32[4]; let a = atomic_add(n[0], 1);"
                  "out[a] = atomic_add(n[0], 10) + 100 * atomic_add(n[0], 100);"
                  "out[atomic_add(n[0], 0) - 109] = atomic_xchg(n[0], 5); }");
  uint32_t *out = trial_bind(&t, "out", 4), *n = trial_bind(&t, "n", 1);
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(out[0], 1 + 100 * 11);
  ck_assert_uint_eq(out[2], 111);
  ck_assert_uint_eq(n[0], 5);
  trial_end(&t);
}
END_TEST

START_TEST(ids_and_sizes) {
  trial t;
  trial_begin(&t, "program p workgroup(4, 2, 2) { write out: u32[]; "
                  "let n = nwg.x * 4; let k = (gid.z * (nwg.y * 2) + gid.y) * n + gid.x;"
                  "out[k] = gid.x + 10 * gid.y + 100 * gid.z + 1000 * wid.x + 10000 * lid.y + 100000 * lane"
                  " + 1000000 * u32(gid.x == wid.x * 4 + lid.x) + 2000000 * subgroup_id + 10000000 * num_subgroups; }");
  uint32_t *out = trial_bind(&t, "out", 8 * 2 * 4);
  t.launch.code = t.code;
  trial_run(&t, 2, 1, 2);
  ck_assert_uint_eq(out[(3 * 2 + 1) * 8 + 6], 6 + 10 + 300 + 1000 + 10000 + 100000 * 14 + 1000000 + 10000000);
  trial_end(&t);
  trial_begin_with(&t, "program p workgroup(5) { write out: u32[]; out[gid.x] = subgroup_id * 100 + lane * 10 + subgroup_size; }",
                   &(cpu_options){ .subgroup = 4 });
  out = trial_bind(&t, "out", 5);
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(out[3], 34);
  ck_assert_uint_eq(out[4], 104);
  trial_end(&t);
}
END_TEST

START_TEST(lengths_are_those_of_what_is_bound) {
  trial t;
  trial_begin(&t, "program p { read empty: f16[]; read some: u32x4[]; shared s: u8[5]; local l: f64[3]; const T: u32[2] = {4, 5};"
                  "write out: u64[6]; out[0] = u64(len(empty)); out[1] = len64(some); out[2] = u64(len(s)); "
                  "out[3] = len64(l); out[4] = u64(len(T)); out[5] = u64(T[1]); }");
  uint64_t *out = trial_bind(&t, "out", 6);
  trial_bind(&t, "empty", 0);
  trial_bind(&t, "some", 9);
  trial_run(&t, 1, 1, 1);
  static const uint64_t want[] = { 0, 9, 5, 3, 2, 5 };
  ck_assert_mem_eq(out, want, sizeof want);
  trial_end(&t);
}
END_TEST

START_TEST(deep_expressions_use_cells_like_a_stack) {
  char text[16384] = "program p { param a: u32; write out: u32[1]; out[0] = ";
  size_t at = strlen(text);
  for (int i = 0; i < 1000; i++) at += (size_t)sprintf(text + at, "(a + ");
  at += (size_t)sprintf(text + at, "a");
  for (int i = 0; i < 1000; i++) text[at++] = ')';
  strcpy(text + at, "; }");
  trial t;
  trial_begin(&t, text);
  uint32_t *out = trial_bind(&t, "out", 1);
  trial_set(&t, "a", 3);
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(out[0], 3003);
  ck_assert_uint_lt(t.code->cells, 4);
  trial_end(&t);
}
END_TEST

START_TEST(transcendentals_need_a_budget) {
  vyre_error error = VYRE_ERROR_INIT;
  cpu_code *code;
  vyre_program *p = trial_parse("program p { param x: f32; write out: f32[1]; out[0] = tan(x); }");
  cpu_options options = { .ulp = VYRE_ULP_UNSET };
  ck_assert_int_eq(cpu_code_create(p, &options, &code, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(error.text, "tan"));
  ck_assert_ptr_nonnull(strstr(error.text, "ulp_budget"));
  ck_assert_ptr_null(code);
  for (options.ulp = 0; options.ulp < 3; options.ulp++) {
    ck_assert_int_eq(cpu_code_create(p, &options, &code, &error), VYRE_OK);
    cpu_code_destroy(code);
  }
  vyre_program_release(p);
  p = trial_parse("program p { param x: f64; write out: f64[1]; out[0] = cosh(x); }");
  options.ulp = 0;
  ck_assert_int_eq(cpu_code_create(p, &options, &code, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(error.text, "cosh of f64"));
  options.ulp = 1;
  ck_assert_int_eq(cpu_code_create(p, &options, &code, &error), VYRE_OK);
  cpu_code_destroy(code);
  vyre_program_release(p);
  ck_assert_float_eq(f32_of("exp2(x + 1.5)"), 8);
  ck_assert_float_eq(f32_of("sqrt(x * 1.5)"), 1.5f);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { arithmetic_of_each_type,
                                 division_by_a_zero_that_is_not_constant,
                                 conversions,
                                 bits_keep_through_bitcasts,
                                 vectors_are_element_wise,
                                 components_of_a_variable_can_be_set,
                                 select_evaluates_all_and_moves_bits,
                                 evaluation_goes_from_left_to_right,
                                 ids_and_sizes,
                                 lengths_are_those_of_what_is_bound,
                                 deep_expressions_use_cells_like_a_stack,
                                 transcendentals_need_a_budget,
                                 NULL };
  return run_suite("cpu_ref/values", 60, tests);
}
