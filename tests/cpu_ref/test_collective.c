/* Barriers, grid barriers, uniform loads and subgroup operations, in every size of subgroup. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"
#include "trial.h"

/* ---- Workgroups ---- */

START_TEST(a_barrier_makes_writes_visible) {
  trial t;
  trial_begin(&t, "program p workgroup(64) { write out: u32[]; shared s: u32[64]; s[lid.x] = gid.x; barrier; out[gid.x] = s[63 - lid.x]; }");
  uint32_t *out = trial_bind(&t, "out", 128);
  trial_run(&t, 2, 1, 1);
  for (uint32_t i = 0; i < 128; i++) ck_assert_uint_eq(out[i], (i & 64) + 63 - (i & 63));
  trial_end(&t);
}
END_TEST

START_TEST(a_loop_with_barriers_is_a_tree_of_sums) {
  trial t;
  trial_begin(&t, "program p workgroup(64) { read a: u32[]; write out: u32[1]; shared s: u32[64]; s[lid.x] = a[lid.x]; barrier;"
                  "for (k in 0..6) { let d = 32 >> k; if (lid.x < d) { s[lid.x] += s[lid.x + d]; } barrier; }"
                  "if (lid.x == 0) { out[0] = s[0]; } }");
  uint32_t *a = trial_bind(&t, "a", 64), *out = trial_bind(&t, "out", 1);
  for (uint32_t i = 0; i < 64; i++) a[i] = i * i;
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(out[0], 85344);
  trial_end(&t);
}
END_TEST

START_TEST(a_uniform_load_is_one_value_between_two_barriers) {
  trial t;
  trial_begin(&t, "program p workgroup(32) { write out: u32[]; shared s: u32[1]; var n = 0; loop { if (lid.x == n) { s[0] = n + 100; }"
                  "let v = workgroup_uniform_load(s[0]); out[gid.x] = v; n += 1; if (v == 110) { break; } } }");
  uint32_t *out = trial_bind(&t, "out", 32);
  trial_run(&t, 1, 1, 1);
  for (int i = 0; i < 32; i++) ck_assert_uint_eq(out[i], 110);
  trial_end(&t);
}
END_TEST

/* The author's word that a load is uniform can be false; then invocations disagree, and nothing hangs. */
START_TEST(disagreement_is_an_error_that_names_two_invocations) {
  trial t;
  trial_begin(&t, "program p workgroup(8) { rw a: u32[]; let u = grid_uniform_load(a[0]); a[0] = 1;"
                  "if (u == 0) { barrier; } else { barrier; } }");
  trial_bind(&t, "a", 1);
  trial_run(&t, 1, 1, 1);
  trial_end(&t);
  trial_begin(&t, "program p workgroup(8) { rw a: u32[]; let u = atomic_add(a[0], 1); a[1] = u; let v = grid_uniform_load(a[1]);"
                  "if (v == 3) { barrier; a[2] = 1; } a[1] = 3; let w = grid_uniform_load(a[1 + u / 4]); if (w == 3) { barrier; } else {"
                  "let q = workgroup_uniform_load(a[2]); } }");
  trial_bind(&t, "a", 3);
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_ERR_NONUNIFORM);
  ck_assert_ptr_nonnull(strstr(t.error.text, "barrier of statement"));
  ck_assert_ptr_nonnull(strstr(t.error.text, "workgroup_uniform_load of statement"));
  ck_assert_ptr_nonnull(strstr(t.error.text, "invocation (0, 0, 0)"));
  trial_end(&t);
}
END_TEST

START_TEST(invocations_that_have_ended_do_not_count_at_a_barrier) {
  trial t;
  trial_begin(&t, "program p workgroup(4) { rw a: u32[]; let u = grid_uniform_load(a[lid.x]); if (u != 0) { return; } barrier; a[4 + lid.x] = 1; }");
  uint32_t *a = trial_bind(&t, "a", 8);
  a[1] = 1;
  trial_run(&t, 1, 1, 1);
  static const uint32_t want[] = { 0, 1, 0, 0, 1, 0, 1, 1 };
  ck_assert_mem_eq(a, want, sizeof want);
  trial_end(&t);
}
END_TEST

/* ---- Grids ---- */

START_TEST(locals_and_workgroup_memory_survive_a_grid_barrier) {
  trial t;
  trial_begin(&t, "program p workgroup(4) { rw a: u32[]; write out: u32[]; shared s: u32[4]; local l: u32[2]; let mine = gid.x * 3; s[lid.x] = gid.x;"
                  "l[1] = gid.x + 5; a[gid.x] = gid.x + 1; grid_barrier; let other = a[nwg.x * 4 - 1 - gid.x]; grid_barrier;"
                  "a[gid.x] = other; grid_barrier; out[gid.x] = mine + 1000 * s[lid.x] + 100000 * l[1] + 10000000 * a[gid.x]; }");
  uint32_t *out = trial_bind(&t, "out", 20);
  trial_bind(&t, "a", 20);
  trial_run(&t, 5, 1, 1);
  for (uint32_t i = 0; i < 20; i++) ck_assert_uint_eq(out[i], i * 3 + 1000 * i + 100000 * (i + 5) + 10000000 * (20 - i));
  trial_end(&t);
}
END_TEST

START_TEST(a_grid_barrier_in_a_uniform_loop) {
  trial t;
  trial_begin(&t, "program p workgroup(4) { param n: u32; rw a: u32[2]; for (i in 0..n) { atomic_add(a[i % 2], a[(i + 1) % 2] + 1); grid_barrier; } }");
  uint32_t *a = trial_bind(&t, "a", 2);
  trial_set(&t, "n", 3);
  trial_run(&t, 2, 1, 1);
  ck_assert_uint_eq(a[1], 8 * 9);
  ck_assert_uint_eq(a[0], 8 + 8 * 73);
  trial_end(&t);
}
END_TEST

START_TEST(a_grid_that_does_not_fit_is_refused_with_both_numbers) {
  trial t;
  trial_begin(&t, "program p workgroup(64) { rw a: u32[1]; atomic_add(a[0], 1); grid_barrier; }");
  trial_bind(&t, "a", 1);
  t.launch.memory_limit = 4 * cpu_group_bytes(t.code);
  trial_run(&t, 4, 1, 1);
  ck_assert_int_eq(trial_try(&t, 5, 1, 1), VYRE_ERR_LIMIT);
  char number[32];
  snprintf(number, sizeof number, "%llu", (unsigned long long)(5 * cpu_group_bytes(t.code)));
  ck_assert_ptr_nonnull(strstr(t.error.text, number));
  snprintf(number, sizeof number, "%llu", (unsigned long long)t.launch.memory_limit);
  ck_assert_ptr_nonnull(strstr(t.error.text, number));
  ck_assert_int_eq(trial_try(&t, 0x4000000, 0x7FFFFFFF, 0x7FFFFFFF), VYRE_ERR_LIMIT);
  trial_end(&t);
}
END_TEST

START_TEST(workgroups_at_different_grid_barriers_are_an_error) {
  trial t;
  trial_begin(&t, "program p { rw a: u32[]; let u = grid_uniform_load(a[wid.x]); if (u == 0) { grid_barrier; } else { grid_barrier; } }");
  uint32_t *a = trial_bind(&t, "a", 2);
  a[1] = 1;
  ck_assert_int_eq(trial_try(&t, 2, 1, 1), VYRE_ERR_NONUNIFORM);
  ck_assert_ptr_nonnull(strstr(t.error.text, "statements 3 and 4"));
  trial_end(&t);
}
END_TEST

/* ---- Subgroups ---- */

enum { MAX = 64 };

/* out[i] = expression with x = in[i] over |n| invocations and subgroups of |size|; |type| has |bytes| bytes. */
static void subgroups(const char *type, const char *expression, uint32_t size, uint32_t n, uint32_t bytes, const void *in, void *out) {
  char text[1024];
  trial t;
  snprintf(text, sizeof text, "program p workgroup(%u) { read in_: %s[]; write out: %s[]; let x = in_[lid.x]; out[lid.x] = %s; }", n,
           type, type, expression);
  trial_begin_with(&t, text, &(cpu_options){ .subgroup = size });
  memcpy(trial_bind(&t, "in_", n), in, (size_t)n * bytes);
  void *bound = trial_bind(&t, "out", n);
  trial_run(&t, 1, 1, 1);
  memcpy(out, bound, (size_t)n * bytes);
  trial_end(&t);
}

static float combine(int op, float a, float b) {
  return op == 0 ? a + b : op == 1 ? a * b : op == 2 ? fminf(a, b) : fmaxf(a, b);
}

/* The stated order, written out: every lane's value after each step. */
static float reduced(int op, const float *v, uint32_t count) {
  float now[32], next[32];
  memcpy(now, v, count * sizeof *v);
  for (uint32_t d = 1; d <= 16; d *= 2) {
    for (uint32_t l = 0; l < count; l++) next[l] = (l ^ d) < count ? combine(op, now[l], now[l ^ d]) : now[l];
    memcpy(now, next, count * sizeof *now);
  }
  return now[0];
}

static void scanned(int op, const float *v, uint32_t count, float *out) {
  float next[32];
  memcpy(out, v, count * sizeof *v);
  for (uint32_t d = 1; d <= 16; d *= 2) {
    for (uint32_t l = 0; l < count; l++) next[l] = l >= d ? combine(op, out[l - d], out[l]) : out[l];
    memcpy(out, next, count * sizeof *out);
  }
}

START_TEST(float_reductions_and_scans_have_the_stated_order_in_every_size) {
  static const char *const names[] = { "add", "mul", "min", "max" };
  float in[MAX], out[MAX], scan[32];
  for (uint32_t i = 0; i < MAX; i++) in[i] = 1.0f + (float)(i * i % 37) * 0x1.234p-7f + (i % 3 ? 0 : 1e6f);
  for (uint32_t size = 1; size <= 32; size *= 2)
    for (uint32_t n = 1; n <= MAX; n += 7)
      for (int op = 0; op < 4; op++) {
        char expression[64];
        snprintf(expression, sizeof expression, "subgroup_%s(x)", names[op]);
        subgroups("f32", expression, size, n, 4, in, out);
        for (uint32_t i = 0; i < n; i++) {
          uint32_t first = i / size * size, count = n - first < size ? n - first : size;
          HOLDS(out[i] == reduced(op, in + first, count));
        }
        if (op == 1) continue;
        snprintf(expression, sizeof expression, "subgroup_inclusive_%s(x)", names[op]);
        subgroups("f32", expression, size, n, 4, in, out);
        for (uint32_t first = 0; first < n; first += size) {
          uint32_t count = n - first < size ? n - first : size;
          scanned(op, in + first, count, scan);
          HOLDS(memcmp(out + first, scan, count * sizeof *scan) == 0);
        }
        snprintf(expression, sizeof expression, "subgroup_exclusive_%s(x)", names[op]);
        subgroups("f32", expression, size, n, 4, in, out);
        for (uint32_t first = 0; first < n; first += size) {
          uint32_t count = n - first < size ? n - first : size;
          scanned(op, in + first, count, scan);
          HOLDS(out[first] == (op == 0 ? 0 : op == 2 ? INFINITY : -INFINITY) && !signbit(out[first]) == (op != 3));
          HOLDS(memcmp(out + first + 1, scan, (count - 1) * sizeof *scan) == 0);
        }
      }
}
END_TEST

START_TEST(five_lanes_of_one_give_five_in_each) {
  static const float in[] = { 1, 1, 1, 1, 1 };
  float out[5];
  for (uint32_t size = 8; size <= 32; size *= 2) {
    subgroups("f32", "subgroup_add(x)", size, 5, 4, in, out);
    for (int i = 0; i < 5; i++) ck_assert_float_eq(out[i], 5);
  }
}
END_TEST

START_TEST(integer_reductions_of_every_type) {
  static const uint32_t in[] = { 5, 0xFFFFFFFF, 3, 12, 7, 9, 1, 2 };
  uint32_t out[8];
  static const struct {
    const char *type, *operation;
    uint32_t first, second;
  } rows[] = { { "u32", "add", 19, 19 },   { "u32", "min", 3, 1 },  { "u32", "max", 0xFFFFFFFF, 9 },
               { "i32", "min", 0xFFFFFFFF, 1 }, { "i32", "max", 12, 9 }, { "u32", "and", 0, 0 },
               { "u32", "or", 0xFFFFFFFF, 15 }, { "u32", "xor", 5 ^ 0xFFFFFFFF ^ 3 ^ 12, 7 ^ 9 ^ 1 ^ 2 }, { "i32", "mul", (uint32_t)-180, 126 } };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char expression[64];
    snprintf(expression, sizeof expression, "subgroup_%s(x)", rows[k].operation);
    subgroups(rows[k].type, expression, 4, 8, 4, in, out);
    for (int i = 0; i < 8; i++) ck_assert_uint_eq(out[i], i < 4 ? rows[k].first : rows[k].second);
  }
  subgroups("u32", "subgroup_exclusive_min(x)", 4, 8, 4, in, out);
  ck_assert_uint_eq(out[0], 0xFFFFFFFF);
  ck_assert_uint_eq(out[2], 5);
  subgroups("i32", "subgroup_exclusive_max(x)", 4, 8, 4, in, out);
  ck_assert_uint_eq(out[0], 0x80000000);
  subgroups("i32", "subgroup_exclusive_min(x)", 4, 8, 4, in, out);
  ck_assert_uint_eq(out[4], 0x7FFFFFFF);
  subgroups("u32", "subgroup_exclusive_add(x)", 8, 8, 4, in, out);
  ck_assert_uint_eq(out[0], 0);
  ck_assert_uint_eq(out[7], 5 - 1 + 3 + 12 + 7 + 9 + 1);
}
END_TEST

START_TEST(eight_byte_types) {
  uint64_t in[4] = { (uint64_t)1 << 40, 2, UINT64_MAX, 7 }, out[4];
  subgroups("u64", "subgroup_add(x)", 4, 4, 8, in, out);
  ck_assert(out[3] == ((uint64_t)1 << 40) + 8);
  subgroups("i64", "subgroup_min(x)", 4, 4, 8, in, out);
  ck_assert(out[0] == UINT64_MAX);
  subgroups("i64", "subgroup_exclusive_max(x)", 4, 4, 8, in, out);
  ck_assert(out[0] == (uint64_t)1 << 63);
  subgroups("u64", "subgroup_shuffle(x, 3)", 4, 4, 8, in, out);
  ck_assert_uint_eq(out[0], 7);
  double wide[2] = { 0.5, 0x1p60 }, sums[2];
  subgroups("f64", "subgroup_add(x)", 2, 2, 8, wide, sums);
  ck_assert_double_eq(sums[1], 0x1p60);
}
END_TEST

START_TEST(shuffles_from_lanes_that_do_not_exist_give_the_own_value) {
  uint32_t in[12], out[12];
  for (uint32_t i = 0; i < 12; i++) in[i] = 100 + i;
  subgroups("u32", "subgroup_shuffle_up(x, 1)", 8, 12, 4, in, out);
  for (uint32_t i = 0; i < 12; i++) ck_assert_uint_eq(out[i], i % 8 == 0 ? 100 + i : 99 + i);
  subgroups("u32", "subgroup_shuffle_down(x, 2)", 8, 12, 4, in, out);
  for (uint32_t i = 0; i < 12; i++) ck_assert_uint_eq(out[i], i == 6 || i == 7 || i >= 10 ? 100 + i : 102 + i);
  subgroups("u32", "subgroup_shuffle_xor(x, 4)", 8, 12, 4, in, out);
  for (uint32_t i = 0; i < 12; i++) ck_assert_uint_eq(out[i], i < 8 ? 100 + (i ^ 4) : 100 + i);
  subgroups("u32", "subgroup_shuffle(x, 11 - lid.x)", 8, 12, 4, in, out);
  for (uint32_t i = 0; i < 12; i++) ck_assert_uint_eq(out[i], i < 4 ? 100 + i : i < 8 ? 111 - i : 119 - i);
  subgroups("u32", "subgroup_shuffle_down(x, 0xFFFFFFFF)", 8, 12, 4, in, out);
  ck_assert_mem_eq(in, out, sizeof in);
  subgroups("u32", "subgroup_shuffle_up(x, 0x80000001)", 8, 12, 4, in, out);
  ck_assert_mem_eq(in, out, sizeof in);
  subgroups("u32", "subgroup_broadcast(x, 2)", 4, 12, 4, in, out);
  for (uint32_t i = 0; i < 12; i++) ck_assert_uint_eq(out[i], 102 + i / 4 * 4);
  subgroups("u32", "subgroup_broadcast(x, 6)", 8, 12, 4, in, out);
  for (uint32_t i = 0; i < 12; i++) ck_assert_uint_eq(out[i], i < 8 ? 106 : 100 + i);
}
END_TEST

START_TEST(votes_and_ballots) {
  uint32_t in[40], out[40];
  for (uint32_t i = 0; i < 40; i++) in[i] = i;
  for (uint32_t size = 1; size <= 32; size *= 2) {
    subgroups("u32", "subgroup_ballot(x % 3 == 0)", size, 40, 4, in, out);
    for (uint32_t i = 0; i < 40; i++) {
      uint32_t first = i / size * size, want = 0;
      for (uint32_t l = first; l < first + size && l < 40; l++) want |= (uint32_t)(l % 3 == 0) << (l - first);
      HOLDS(out[i] == want);
    }
  }
  subgroups("u32", "u32(subgroup_any(x == 5)) + 10 * u32(subgroup_all(x < 36))", 4, 40, 4, in, out);
  for (uint32_t i = 0; i < 40; i++) ck_assert_uint_eq(out[i], (i / 4 == 1) + 10 * (i < 36));
}
END_TEST

START_TEST(lane_order_of_a_workgroup_in_three_dimensions) {
  trial t;
  trial_begin_with(&t, "program p workgroup(2, 2, 2) subgroup(4) { write out: u32[]; out[lid.z * 4 + lid.y * 2 + lid.x] ="
                       "subgroup_id * 100 + lane * 10 + u32(subgroup_shuffle_xor(lid.x, 1) != lid.x); }",
                   &(cpu_options){ 0 });
  uint32_t *out = trial_bind(&t, "out", 8);
  trial_run(&t, 1, 1, 1);
  for (uint32_t i = 0; i < 8; i++) ck_assert_uint_eq(out[i], i / 4 * 100 + i % 4 * 10 + 1);
  trial_end(&t);
}
END_TEST

START_TEST(subgroups_go_their_own_ways) {
  trial t;
  trial_begin_with(&t, "program p workgroup(16) { rw n: u32[4]; write out: u32[]; if (subgroup_id == 0) { out[lid.x] = subgroup_add(lid.x); atomic_store(n[0], 1); }"
                       "else { loop { if (atomic_load(n[0]) != 0) { break; } } out[lid.x] = subgroup_max(lid.x); } }",
                   &(cpu_options){ .subgroup = 8 });
  trial_bind(&t, "n", 4);
  uint32_t *out = trial_bind(&t, "out", 16);
  trial_run(&t, 1, 1, 1);
  ck_assert_uint_eq(out[0], 28);
  ck_assert_uint_eq(out[8], 15);
  trial_end(&t);
}
END_TEST

START_TEST(a_divided_subgroup_is_an_error) {
  trial t;
  trial_begin_with(&t, "program p workgroup(8) { rw a: u32[]; let u = grid_uniform_load(a[lid.x]); if (u == 0) { a[0] = subgroup_add(1); } else { barrier; } }",
                   &(cpu_options){ .subgroup = 4 });
  uint32_t *a = trial_bind(&t, "a", 8);
  a[5] = 1;
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_ERR_NONUNIFORM);
  ck_assert_ptr_nonnull(strstr(t.error.text, "the subgroup is divided"));
  ck_assert_ptr_nonnull(strstr(t.error.text, "(5, 0, 0) at barrier"));
  trial_end(&t);
}
END_TEST

START_TEST(a_broadcast_from_different_lanes_is_an_error) {
  trial t;
  trial_begin(&t, "program p workgroup(8) { rw a: u32[]; a[0] = subgroup_broadcast(lid.x, grid_uniform_load(a[lid.x])); }");
  uint32_t *a = trial_bind(&t, "a", 8);
  a[3] = 2;
  ck_assert_int_eq(trial_try(&t, 1, 1, 1), VYRE_ERR_NONUNIFORM);
  ck_assert_ptr_nonnull(strstr(t.error.text, "different lanes"));
  trial_end(&t);
}
END_TEST

START_TEST(sizes_that_can_not_be_had_are_refused) {
  vyre_error error = VYRE_ERROR_INIT;
  cpu_code *code;
  vyre_program *p = trial_parse("program p subgroup(8) { }");
  ck_assert_int_eq(cpu_code_create(p, &(cpu_options){ .subgroup = 16 }, &code, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(error.text, "16"));
  ck_assert_int_eq(cpu_code_create(p, &(cpu_options){ .subgroup = 8 }, &code, &error), VYRE_OK);
  cpu_code_destroy(code);
  vyre_program_release(p);
  p = trial_parse("program p { }");
  ck_assert_int_eq(cpu_code_create(p, &(cpu_options){ .subgroup = 3 }, &code, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_int_eq(cpu_code_create(p, &(cpu_options){ .subgroup = 64 }, &code, &error), VYRE_ERR_UNSUPPORTED);
  vyre_program_release(p);
  p = trial_parse("program p workgroup(4096, 2) { }");
  ck_assert_int_eq(cpu_code_create(p, &(cpu_options){ 0 }, &code, &error), VYRE_ERR_LIMIT);
  ck_assert_ptr_nonnull(strstr(error.text, "max_workgroup_invocations"));
  vyre_program_release(p);
  p = trial_parse("program p { shared a: u32[16777216]; shared b: u32[1]; b[0] = a[0]; }");
  ck_assert_int_eq(cpu_code_create(p, &(cpu_options){ 0 }, &code, &error), VYRE_ERR_LIMIT);
  ck_assert_str_eq(error.where, "b");
  vyre_program_release(p);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { a_barrier_makes_writes_visible,
                                 a_loop_with_barriers_is_a_tree_of_sums,
                                 a_uniform_load_is_one_value_between_two_barriers,
                                 disagreement_is_an_error_that_names_two_invocations,
                                 invocations_that_have_ended_do_not_count_at_a_barrier,
                                 locals_and_workgroup_memory_survive_a_grid_barrier,
                                 a_grid_barrier_in_a_uniform_loop,
                                 a_grid_that_does_not_fit_is_refused_with_both_numbers,
                                 workgroups_at_different_grid_barriers_are_an_error,
                                 float_reductions_and_scans_have_the_stated_order_in_every_size,
                                 five_lanes_of_one_give_five_in_each,
                                 integer_reductions_of_every_type,
                                 eight_byte_types,
                                 shuffles_from_lanes_that_do_not_exist_give_the_own_value,
                                 votes_and_ballots,
                                 lane_order_of_a_workgroup_in_three_dimensions,
                                 subgroups_go_their_own_ways,
                                 a_divided_subgroup_is_an_error,
                                 a_broadcast_from_different_lanes_is_an_error,
                                 sizes_that_can_not_be_had_are_refused,
                                 NULL };
  return run_suite("cpu_ref/collective", 60, tests);
}
