/* Loads, stores, atomics and copies: widening and narrowing, what is out of range, what starts as zero. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "trial.h"

/* out = in, for the element type |type| of |bytes| bytes; gives whether the memory is |same| and sums counters. */
static void copy_elements(const char *type, const void *in, void *out, uint32_t bytes, uint64_t count) {
  char text[512];
  trial t;
  snprintf(text, sizeof text, "program p workgroup(8) { read a: %s[]; write b: %s[]; b[gid.x] = a[gid.x]; }", type, type);
  trial_begin(&t, text);
  memcpy(trial_bind(&t, "a", count), in, bytes * count);
  void *b = trial_bind(&t, "b", count);
  trial_run(&t, (uint32_t)(count + 7) / 8, 1, 1);
  memcpy(out, b, bytes * count);
  trial_end(&t);
}

START_TEST(every_element_type_keeps_its_bits) {
  static const struct {
    const char *type;
    uint32_t bytes;
  } types[] = { { "u32", 4 },   { "i32", 4 },   { "u64", 8 },    { "i64", 8 },   { "f32", 4 },   { "f64", 8 },
                { "u32x2", 8 }, { "i32x2", 8 }, { "f32x2", 8 },  { "u32x4", 16 }, { "i32x4", 16 }, { "f32x4", 16 },
                { "u8", 1 },    { "u16", 2 },   { "i8", 1 },     { "i16", 2 } };
  uint8_t in[160], out[160];
  for (size_t i = 0; i < sizeof in; i++) in[i] = (uint8_t)(i * 37 + 129);
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    copy_elements(types[k].type, in, out, types[k].bytes, 10);
    ck_assert_mem_eq(in, out, 10 * types[k].bytes);
  }
}
END_TEST

START_TEST(nan_payloads_and_subnormals_pass_memory) {
  static const uint32_t in[] = { 0x7FA00001, 0xFFC12345, 1, 0x80000001, 0x7F800000, 0xFFFFFFFF };
  uint32_t out[6];
  copy_elements("f32", in, out, 4, 6);
  ck_assert_mem_eq(in, out, sizeof in);
}
END_TEST

START_TEST(every_f16_and_bf16_comes_back) {
  static uint16_t in[0x10000], out[0x10000];
  for (uint32_t i = 0; i < 0x10000; i++) in[i] = (uint16_t)i;
  copy_elements("f16", in, out, 2, 0x10000);
  for (uint32_t i = 0; i < 0x10000; i++) HOLDS(out[i] == ((i & 0x7FFF) > 0x7C00 ? 0x7E00 : i));
  copy_elements("bf16", in, out, 2, 0x10000);
  for (uint32_t i = 0; i < 0x10000; i++) HOLDS(out[i] == ((i & 0x7FFF) > 0x7F80 ? 0x7FC0 : i));
}
END_TEST

START_TEST(any_word_but_zero_reads_as_true_and_one_is_written) {
  static const uint32_t in[] = { 0, 1, 2, 0x80000000, 0xFFFFFFFF };
  uint32_t out[5];
  copy_elements("bool", in, out, 4, 5);
  ck_assert_uint_eq(out[0], 0);
  for (int i = 1; i < 5; i++) ck_assert_uint_eq(out[i], 1);
}
END_TEST

START_TEST(narrow_loads_extend_by_sign_and_stores_wrap) {
  trial t;
  trial_begin(&t, "program p { rw a: i8[4]; rw b: u8[4]; rw c: i16[2]; rw d: u16[2]; rw h: f16[2]; write out: i32[4];"
                  "out[0] = a[0]; out[1] = i32(b[0]); out[2] = i32(c[0]); out[3] = i32(d[0]);"
                  "a[1] = 0x1FE; b[1] = 0x1FE; c[1] = 0x18001; d[1] = 0x1FFFF; h[1] = h[0] * 2.0; h[0] = 65520.0; }");
  int8_t *a = trial_bind(&t, "a", 4);
  uint8_t *b = trial_bind(&t, "b", 4);
  int16_t *c = trial_bind(&t, "c", 2);
  uint16_t *d = trial_bind(&t, "d", 2), *h = trial_bind(&t, "h", 2);
  int32_t *out = trial_bind(&t, "out", 4);
  a[0] = -3, b[0] = 0xFD, c[0] = -3, d[0] = 0xFFFD, h[0] = 0x3E00;
  trial_run(&t, 1, 1, 1);
  ck_assert_int_eq(out[0], -3);
  ck_assert_int_eq(out[1], 0xFD);
  ck_assert_int_eq(out[2], -3);
  ck_assert_int_eq(out[3], 0xFFFD);
  ck_assert_int_eq(a[1], -2);
  ck_assert_int_eq(b[1], 0xFE);
  ck_assert_int_eq(c[1], -32767);
  ck_assert_int_eq(d[1], 0xFFFF);
  ck_assert_int_eq(h[1], 0x4200);
  ck_assert_int_eq(h[0], 0x7C00);
  ck_assert_int_eq(b[2], 0);
  trial_end(&t);
}
END_TEST

START_TEST(out_of_range_loads_give_zero_stores_and_atomics_do_nothing) {
  trial t;
  trial_begin(&t, "program p { param k: u32; param w: u64; rw a: u32[]; write out: u32[6]; shared s: u32[4]; local l: f32x4[2];"
                  "out[0] = a[k] + 1; a[k] = 77; out[1] = atomic_add(a[k], 5) + 2; out[2] = s[k] + 3; s[k] = 9;"
                  "l[k] = f32x4(1.0); out[3] = u32(l[k].w) + 4; out[4] = a[w] + 5; a[w] = 1; out[k + k] = 8;"
                  "atomic_store(a[k], 3); out[5] = atomic_cas(s[w], 0, 1) + 6; }");
  uint32_t *a = trial_bind(&t, "a", 4), *out = trial_bind(&t, "out", 6);
  for (int i = 0; i < 4; i++) a[i] = 10;
  trial_set(&t, "k", 4);
  trial_set(&t, "w", 0x100000000);
  trial_run(&t, 1, 1, 1);
  for (uint32_t i = 0; i < 6; i++) ck_assert_uint_eq(out[i], i + 1);
  for (int i = 0; i < 4; i++) ck_assert_uint_eq(a[i], 10);
  ck_assert_uint_eq(t.report.masked_loads, 4);
  ck_assert_uint_eq(t.report.masked_stores, 5);
  ck_assert_uint_eq(t.report.masked_atomics, 3);
  trial_end(&t);
}
END_TEST

START_TEST(empty_buffers_can_be_bound) {
  trial t;
  trial_begin(&t, "program p { rw a: f32[]; write out: u32[2]; out[0] = len(a); a[0] = 1.0; out[1] = u32(a[0]) + 7; }");
  trial_bind(&t, "a", 0);
  uint32_t *out = trial_bind(&t, "out", 2);
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(out[0], 0);
  ck_assert_uint_eq(out[1], 7);
  trial_end(&t);
}
END_TEST

START_TEST(a_program_in_bounds_masks_nothing) {
  trial t;
  trial_begin(&t, "program p workgroup(64) { rw a: u32[]; if (gid.x < len(a)) { a[gid.x] = a[gid.x] + 1; } }");
  trial_bind(&t, "a", 100);
  trial_run(&t, 2, 1, 1);
  ck_assert_uint_eq(t.report.masked_loads + t.report.masked_stores + t.report.masked_atomics, 0);
  trial_end(&t);
}
END_TEST

START_TEST(shared_and_local_memory_start_as_zero) {
  trial t;
  trial_begin(&t, "program p workgroup(4) { rw out: u32[]; shared s: u32[4]; local l: u16[3];"
                  "out[gid.x] = s[lid.x] + l[2]; s[lid.x] = 7; l[2] = 9; out[gid.x] += l[2] * 100; }");
  uint32_t *out = trial_bind(&t, "out", 16);
  trial_run(&t, 4, 1, 1);
  for (int i = 0; i < 16; i++) ck_assert_uint_eq(out[i], 900);
  trial_end(&t);
}
END_TEST

START_TEST(tables_read_widened_and_zero_past_the_end) {
  trial t;
  trial_begin(&t, "program p workgroup(8) { const T: i8[3] = {-1, 2, 127}; const H: f16[2] = {0.5, 1.5}; write out: f32[8]; "
                  "out[lid.x] = f32(T[lid.x]) + H[lid.x]; }");
  float *out = trial_bind(&t, "out", 8);
  trial_run(&t, 1, 1, 1);
  static const float want[] = { -0.5f, 3.5f, 127, 0, 0, 0, 0, 0 };
  ck_assert_mem_eq(out, want, sizeof want);
  trial_end(&t);
}
END_TEST

/* ---- Atomics ---- */

START_TEST(atomics_give_the_old_value_and_store_the_new) {
  trial t;
  trial_begin(&t, "program p { rw n: u32[9]; rw s: i32[2]; write out: u32[12];"
                  "out[0] = atomic_add(n[0], 5); out[1] = atomic_sub(n[1], 3); out[2] = atomic_and(n[2], 6);"
                  "out[3] = atomic_or(n[3], 6); out[4] = atomic_xor(n[4], 6); out[5] = atomic_min(n[5], 4);"
                  "out[6] = atomic_max(n[6], 0xFFFFFFFF); out[7] = atomic_xchg(n[7], 42);"
                  "out[8] = atomic_cas(n[8], 12, 50); out[9] = atomic_cas(n[8], 12, 60); out[10] = atomic_load(n[8]);"
                  "atomic_store(n[0], 99); out[11] = atomic_load(n[0], acquire);"
                  "atomic_min(s[0], -5); atomic_max(s[1], -5); }");
  uint32_t *n = trial_bind(&t, "n", 9), *out = trial_bind(&t, "out", 12);
  int32_t *s = trial_bind(&t, "s", 2);
  for (int i = 0; i < 9; i++) n[i] = 12;
  trial_run(&t, 1, 1, 1);
  static const uint32_t want_n[] = { 99, 9, 4, 14, 10, 4, 0xFFFFFFFF, 42, 50 };
  ck_assert_mem_eq(n, want_n, sizeof want_n);
  for (int i = 0; i < 9; i++) ck_assert_uint_eq(out[i], 12);
  ck_assert_uint_eq(out[9], 50);
  ck_assert_uint_eq(out[10], 50);
  ck_assert_uint_eq(out[11], 99);
  ck_assert_int_eq(s[0], -5);
  ck_assert_int_eq(s[1], 0);
  trial_end(&t);
}
END_TEST

START_TEST(atomics_of_eight_bytes_floats_and_vectors) {
  trial t;
  trial_begin(&t, "program p workgroup(64) { rw n: u64[3]; rw m: i64[2]; rw f: f32[1]; rw v: u32x4[1]; write out: u32x4[1];"
                  "atomic_add(n[0], 0x100000000); atomic_max(n[1], u64(gid.x) << 40); atomic_min(m[0], -i64(gid.x));"
                  "atomic_xor(m[1], 1); atomic_add(f[0], 0.5); atomic_cas(n[2], u64(lid.x), u64(lid.x) + 1);"
                  "if (gid.x == 0) { out[0] = atomic_load(v[0]); } }");
  uint64_t *n = trial_bind(&t, "n", 3);
  int64_t *m = trial_bind(&t, "m", 2);
  float *f = trial_bind(&t, "f", 1);
  uint32_t *v = trial_bind(&t, "v", 1), *out = trial_bind(&t, "out", 1);
  for (uint32_t i = 0; i < 4; i++) v[i] = i + 5;
  t.launch.reverse = false;
  ck_assert_int_eq(trial_try(&t, 2, 1, 1), VYRE_OK);
  ck_assert(n[0] == 0x8000000000);
  ck_assert(n[1] == (uint64_t)127 << 40);
  ck_assert_int_eq(m[0], -127);
  ck_assert_int_eq(m[1], 0);
  ck_assert_float_eq(f[0], 64);
  ck_assert_uint_eq(n[2], 64);
  ck_assert_mem_eq(v, out, 16);
  trial_end(&t);
}
END_TEST

static void check_order(const char *order, const char *load, const char *store, const char *fence, const char *scope) {
  char text[512];
  trial t;
  snprintf(text, sizeof text,
           "program p workgroup(8) { rw n: u32[2]; rw w: u64[2]; atomic_add(n[0], 1, %s, %s); atomic_sub(w[0], 1, %s, %s);"
           "atomic_store(n[1], 3, %s, %s); atomic_store(w[1], 4, %s); let x = atomic_load(n[0], %s, %s);"
           "let y = atomic_load(w[0], %s); fence(%s, %s); }",
           order, scope, order, scope, store, scope, store, load, scope, load, fence, scope);
  trial_begin(&t, text);
  uint32_t *n = trial_bind(&t, "n", 2);
  uint64_t *w = trial_bind(&t, "w", 2);
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(n[0], 8);
  ck_assert_uint_eq(n[1], 3);
  ck_assert(w[0] == (uint64_t)-8);
  ck_assert_uint_eq(w[1], 4);
  trial_end(&t);
}

START_TEST(every_order_and_scope_runs) {
  static const char *const scopes[] = { "workgroup", "device", "system" };
  for (int s = 0; s < 3; s++) {
    check_order("relaxed", "relaxed", "relaxed", "acquire", scopes[s]);
    check_order("acquire", "acquire", "relaxed", "acquire", scopes[s]);
    check_order("release", "relaxed", "release", "release", scopes[s]);
    check_order("acq_rel", "acquire", "release", "acq_rel", scopes[s]);
    check_order("seq_cst", "seq_cst", "seq_cst", "seq_cst", scopes[s]);
  }
}
END_TEST

START_TEST(atomics_work_in_shared_memory) {
  trial t;
  trial_begin(&t, "program p workgroup(32) { shared s: u32[1]; write out: u32[]; atomic_add(s[0], lid.x); barrier;"
                  "if (lid.x == 0) { out[wid.x] = s[0]; } }");
  uint32_t *out = trial_bind(&t, "out", 3);
  trial_run(&t, 3, 1, 1);
  for (int i = 0; i < 3; i++) ck_assert_uint_eq(out[i], 31 * 16);
  trial_end(&t);
}
END_TEST

/* ---- Copies ---- */

START_TEST(asynchronous_copies_are_loads_and_stores) {
  trial t;
  trial_begin(&t, "program p { read a: u16[]; shared s: u16[8]; write out: u16[10]; read w: bool[]; write b: bool[2];"
                  "copy_async s[2], a[1], 4; commit; copy_async b[0], w[0], 2; commit; wait 0; barrier;"
                  "copy_async out[1], s[0], 8; commit; wait 0; }");
  uint16_t *a = trial_bind(&t, "a", 3), *out = trial_bind(&t, "out", 10);
  uint32_t *w = trial_bind(&t, "w", 2), *b = trial_bind(&t, "b", 2);
  a[0] = 1, a[1] = 2, a[2] = 3;
  w[0] = 9;
  trial_run(&t, 1, 1, 1);
  static const uint16_t want[] = { 0, 0, 0, 2, 3, 0, 0, 0, 0, 0 };
  ck_assert_mem_eq(out, want, sizeof want);
  ck_assert_uint_eq(t.report.masked_loads, 2);
  ck_assert_uint_eq(b[0], 1);
  ck_assert_uint_eq(b[1], 0);
  trial_end(&t);
}
END_TEST

START_TEST(copies_at_the_edges_of_the_index_do_not_wrap) {
  trial t;
  trial_begin(&t, "program p { param o: u64; param n: u32; rw a: u32[4]; rw c: u32[4];"
                  "copy_async a[o], c[0], n; copy_async a[2], c[o], n; copy_async a[0], c[1], 0; commit; wait 0; }");
  uint32_t *a = trial_bind(&t, "a", 4), *c = trial_bind(&t, "c", 4);
  for (uint32_t i = 0; i < 4; i++) a[i] = 5, c[i] = 9;
  trial_set(&t, "o", UINT64_MAX - 1);
  trial_set(&t, "n", UINT32_MAX);
  trial_run(&t, 1, 1, 1);
  static const uint32_t want[] = { 5, 5, 0, 0 };
  ck_assert_mem_eq(a, want, sizeof want);
  ck_assert(t.report.masked_stores == 2ull * UINT32_MAX - 2);
  ck_assert(t.report.masked_loads == 2ull * UINT32_MAX - 4);
  trial_end(&t);
}
END_TEST

START_TEST(a_workgroup_copies_once) {
  trial t;
  trial_begin(&t, "program p workgroup(16) { read a: u32[]; shared s: u32[16]; write out: u32[];"
                  "copy_async workgroup s[0], a[wid.x * 16], 16; commit; wait 0; barrier; out[gid.x] = s[15 - lid.x]; }");
  uint32_t *a = trial_bind(&t, "a", 32), *out = trial_bind(&t, "out", 32);
  for (uint32_t i = 0; i < 32; i++) a[i] = i;
  trial_run(&t, 2, 1, 1);
  ck_assert_uint_eq(out[0], 15);
  ck_assert_uint_eq(out[31], 16);
  trial_end(&t);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { every_element_type_keeps_its_bits,
                                 nan_payloads_and_subnormals_pass_memory,
                                 every_f16_and_bf16_comes_back,
                                 any_word_but_zero_reads_as_true_and_one_is_written,
                                 narrow_loads_extend_by_sign_and_stores_wrap,
                                 out_of_range_loads_give_zero_stores_and_atomics_do_nothing,
                                 empty_buffers_can_be_bound,
                                 a_program_in_bounds_masks_nothing,
                                 shared_and_local_memory_start_as_zero,
                                 tables_read_widened_and_zero_past_the_end,
                                 atomics_give_the_old_value_and_store_the_new,
                                 atomics_of_eight_bytes_floats_and_vectors,
                                 every_order_and_scope_runs,
                                 atomics_work_in_shared_memory,
                                 asynchronous_copies_are_loads_and_stores,
                                 copies_at_the_edges_of_the_index_do_not_wrap,
                                 a_workgroup_copies_once,
                                 NULL };
  return run_suite("cpu_ref/memory", 60, tests);
}
