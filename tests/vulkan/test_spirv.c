/* The emitter without a device: every operator, type and kind of memory, and random programs, become modules that spirv-val
 * takes, for targets that have much and little. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../gen/random_program.h"
#include "../golden.h"
#include "emitted.h"

static int check_text(const char *text) {
  vyre_program *program = golden_parse("emitted", text);
  int taken = 0;
  for (int t = 0; t < EMITTED_TARGETS; t++) taken += emitted_check(program, &emitted_targets[t], text);
  vyre_program_release(program);
  return taken;
}

static const char *const types[] = { "u32", "i32", "u64", "i64", "f32", "f64" };
enum { TYPES = sizeof types / sizeof *types };
static bool is_float(int type) { return type >= 4; }
static bool is_wide(int type) { return type == 2 || type == 3 || type == 5; }

/* One module has all of a type: |lines| are statements, |x| stands for its name. */
static void check_lines(const char *type, const char *const *lines) {
  char text[8192];
  size_t used = (size_t)snprintf(text, sizeof text,
                                 "program all workgroup(64) { read p: %s[]; read q: %s[]; write r: %s[]; write u: u32[]; "
                                 "let i = gid.x; let a = p[i]; let b = q[i];\n",
                                 type, type, type);
  for (; *lines != NULL; lines++) used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", *lines);
  ck_assert_uint_lt(used + 2, sizeof text);
  strcat(text, "}");
  ck_assert_int_gt(check_text(text), 0);
}

START_TEST(operators) {
  static const char *const of_all[] = {
    "r[i] = a + b;", "r[i] = a - b;", "r[i] = a * b;", "r[i] = a / b;", "r[i] = min(a, b);", "r[i] = max(a, b);",
    "r[i] = -a;", "r[i] = a < b ? a : b;", "u[i] = u32(a == b);", "u[i] = u32(a != b);", "u[i] = u32(a <= b);",
    "u[i] = u32(!(a > b) && a >= b || a == b);", "u[i] = u32(u32(a));", "u[i] = u32(i32(a));", "u[i] = u32(f32(a));",
    NULL };
  static const char *const of_integers[] = {
    "r[i] = a % b;", "r[i] = mulhi(a, b);", "r[i] = a & b;", "r[i] = a | b;", "r[i] = a ^ b;", "r[i] = ~a;",
    "r[i] = a << u32(b);", "r[i] = a >> u32(b);", "r[i] = rotl(a, u32(b));", "r[i] = rotr(a, u32(b));",
    "r[i] = popcount(a);", "r[i] = clz(a);", "r[i] = ctz(a);", "r[i] = reverse_bits(a);", NULL };
  static const char *const of_floats[] = {
    "r[i] = sqrt(a);", "r[i] = rsqrt(a);", "r[i] = rcp(a);", "r[i] = floor(a);", "r[i] = ceil(a);", "r[i] = round(a);",
    "r[i] = trunc(a);", "r[i] = fma(a, b, a);", "r[i] = abs(a);", "u[i] = u32(is_nan(a));", "u[i] = u32(is_inf(a));",
    NULL };
  static const char *const wide_ones[] = { "r[i] = a;", "u[i] = u32(u64(a));", "u[i] = u32(i64(a));", "u[i] = u32(f64(a));", NULL };
  check_lines(types[_i], of_all);
  check_lines(types[_i], is_float(_i) ? of_floats : of_integers);
  if (is_wide(_i)) check_lines(types[_i], wide_ones);
}
END_TEST

/* Each element type in each kind of memory: seen as itself, and, through atomics on f32 and narrow elements, as words. */
START_TEST(memory) {
  static const char *const elements[][2] = {
    { "bool", "x != 0" }, { "u8", "x" }, { "u16", "x" }, { "i8", "i32(x)" }, { "i16", "i32(x)" }, { "f16", "f32(x)" },
    { "bf16", "f32(x)" }, { "u32", "x" }, { "i32", "i32(x)" }, { "u64", "u64(x)" }, { "i64", "i64(x)" },
    { "f32", "f32(x)" }, { "f64", "f64(x)" }, { "u32x2", "u32x2(x, i)" }, { "u32x4", "u32x4(x, i, x, i)" },
    { "i32x2", "i32x2(i32(x), 1)" }, { "f32x4", "f32x4(f32(x), 1.0, 2.0, 3.0)" } };
  for (size_t k = 0; k < sizeof elements / sizeof *elements; k++) {
    const char *e = elements[k][0], *value = elements[k][1];
    char text[2048];
    snprintf(text, sizeof text,
             "program memory workgroup(64) { read a: %s[]; write b: %s[]; rw c: %s[100]; shared s: %s[70]; local l: %s[9];"
             "read n: u32[]; let i = gid.x; let x = n[i]; s[lid.x] = %s; l[x] = a[i]; barrier; b[i] = s[x]; c[x] = l[x];"
             "b[x] = a[x]; }",
             e, e, e, e, e, value);
    ck_assert_int_gt(check_text(text), 0);
  }
}
END_TEST

START_TEST(constructs) {
  static const char *const texts[] = {
    "program none {}",
    "program atomics workgroup(32) { rw a: u32[]; rw b: i32[]; rw f: f32[]; shared s: u32[4]; let i = gid.x;"
    "a[i] = atomic_add(a[0], i) + atomic_sub(a[1], i) + atomic_and(a[2], i) + atomic_or(a[3], i) + atomic_xor(a[4], i)"
    "+ atomic_min(a[5], i) + atomic_max(a[6], i) + atomic_xchg(a[7], i) + atomic_cas(a[i], i, 3)"
    "+ atomic_load(a[8], acquire, device); atomic_store(a[9], 1, release, device); b[i] = atomic_min(b[0], 4)"
    "+ atomic_max(b[i], -1, acq_rel, workgroup); f[i] = atomic_add(f[0], 1.5); fence(acq_rel, device);"
    "atomic_add(s[i], 1); barrier; a[i] = s[1]; fence(acquire, workgroup); fence(release, device); }",
    "program atomics64 workgroup(32) { rw a: u64[]; rw b: i64[]; shared s: u64[4]; let i = gid.x;"
    "a[i] = atomic_add(a[0], u64(i)) + atomic_cas(a[i], 1, 3) + atomic_max(s[i], 5); b[i] = atomic_min(b[0], 4); }",
    "program flow workgroup(32) { rw a: u32[]; param n: u32; let i = gid.x; var s = 0; for (k in 0..n) { if (a[k] == 7)"
    "{ continue; } if (a[k] == 9) { break; } loop { s += 1; if (s > k) { break; } if (s == 100) { return; } } } "
    "if (s == 0) { return; } else if (s == 1) { a[i] = 1; } else { trap(7); } a[i] = s; }",
    "program parameters workgroup(4, 2, 2) { param a: bool; param b: u32; param c: f32; param d: f64; param e: u64;"
    "write r: f64[]; if (a) { r[gid.y] = f64(b) + f64(c) + d + f64(e) + f64(len(r)) + f64(nwg.z); } }",
    "program tables workgroup(8) { const T: f32[5] = {1.0, 2.0, 3.0, 4.0, 5.0}; const U: u8[3] = {1, 2, 3};"
    "write r: f32[]; let i = gid.x; r[i] = T[i] + f32(U[i % 3]); }",
    "program lanes workgroup(40) subgroup(16) { rw r: u32[]; let i = lid.x; var v = r[i]; v += subgroup_add(v);"
    "v += subgroup_inclusive_max(v); if (subgroup_any(v == 3)) { v += subgroup_shuffle_down(v, 1); } barrier;"
    "loop { if (subgroup_all(v > 100)) { break; } v += subgroup_ballot(v == 4) + 7; } r[i] = v + lane + subgroup_id"
    "+ num_subgroups; for (k in 0..v) { r[k] = k; } }",
    "program many workgroup(64) { rw a: f32[]; shared s: f32[64]; let i = lid.x; s[i] = a[gid.x]; barrier;"
    "let t = s[63 - i]; grid_barrier; a[gid.x] = t + s[i]; grid_barrier; a[i] = a[i] * 2.0; }",
    "program prints workgroup(64) { read a: f32[]; print(\"{} {}\", a[gid.x], gid.x); if (should_stop()) { return; } }",
    "program functions workgroup(64) ulp(0) { read a: f32[]; write r: f32[]; let x = a[gid.x];"
    "r[gid.x] = exp(x) + sin(x) + log(x) + tanh(x); }",
    "program vectors workgroup(64) { rw a: f32x4[]; rw b: i32x2[]; let i = gid.x; a[i] = a[i] * a[0] + f32x4(1.0);"
    "b[i] = -b[i] & b[0]; a[i] = fma(a[i], a[1], a[2]); a[i] = floor(sqrt(a[i])); a[i] = a[i] / a[3]; }",
    "program copies workgroup(64) { read a: u8[]; shared s: u8[256]; write r: u8[]; copy_async workgroup s[0], a[5], 256;"
    "commit; wait 0; barrier; r[gid.x] = s[lid.x]; }",
    "program wide_index workgroup(64) { rw a: u32[]; param n: u64; let i = u64(gid.x) * n; a[i] = a[i + 1] + 1; }",
  };
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) ck_assert_int_gt(check_text(texts[k]), 0);
}
END_TEST

START_TEST(random_programs) {
  const random_program_options options = { .statements = 60, .reproducible = true };
  int taken = 0;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    vyre_error error = VYRE_ERROR_INIT;
    vyre_program *program;
    char what[64];
    snprintf(what, sizeof what, "random program %llu", (unsigned long long)seed);
    random_program_options o = options;
    const emitted_target *t = &emitted_targets[seed % EMITTED_TARGETS];
    o.avoid = (uint32_t)~t->needs;
    if (random_program(seed, &o, NULL, &program, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
    taken += emitted_check(program, t, what);
    vyre_program_release(program);
  }
  ck_assert_int_ge(taken, 30);
}
END_TEST

/* ---- Refusals -------------------------------------------------------------------------------- */

static void check_refused(const char *text, spirv_target target, vyre_status status, const char *says) {
  emitted_target t = emitted_targets[EMITTED_ALL];
  vyre_program *program = golden_parse("refused", text);
  vyre_error error = VYRE_ERROR_INIT;
  gpu_bytes code = { .data = NULL };
  spirv_facts facts;
  uint8_t *kernel = emitted_kernel(program, &t, 0);
  vyre_status got = spirv_emit((const vyre_kernel_header *)(const void *)kernel, &target, &code, &facts, &error);
  ck_assert_int_eq(got, status);
  ck_assert_msg(strstr(error.text, says) != NULL && strstr(error.text, "Fix: ") != NULL, "%s", error.text);
  gpu_bytes_free(&code);
  free(kernel);
  vyre_program_release(program);
}

START_TEST(what_a_target_lacks_is_named) {
  spirv_target t = emitted_targets[EMITTED_ALL].target;
  t.features &= ~(uint32_t)SPIRV_ADDRESSES;
  t.storage_buffers = 1;
  check_refused("program two { rw a: u32[]; rw b: u32[]; a[0] = b[0]; }", t, VYRE_ERR_LIMIT,
                "maxPerStageDescriptorStorageBuffers");
  t = emitted_targets[EMITTED_ALL].target;
  t.uniform_bytes = 16;
  check_refused("program two { rw a: u32[]; rw b: u32[]; a[0] = b[0]; }", t, VYRE_ERR_LIMIT, "maxUniformBufferRange");
  t = emitted_targets[EMITTED_ALL].target;
  t.features &= ~(uint32_t)SPIRV_SHARED_ATOMIC64;
  check_refused("program w workgroup(8) { rw r: u64[]; shared s: u64[4]; r[0] = atomic_add(s[0], 1); }", t,
                VYRE_ERR_UNSUPPORTED, "shaderSharedInt64Atomics");
  t = emitted_targets[EMITTED_ALL].target;
  t.subgroup_sizes = 8;
  check_refused("program l workgroup(32) subgroup(16) { write r: u32[]; r[gid.x] = lane; }", t, VYRE_ERR_UNSUPPORTED,
                "subgroups of 16");
}
END_TEST

/* |count| ifs inside each other. */
static char *nested(int count) {
  size_t room = 256 + (size_t)count * 40, used;
  char *text = malloc(room);
  used = (size_t)snprintf(text, room, "program deep { rw a: u32[]; let x = a[0]; ");
  for (int i = 0; i < count; i++) used += (size_t)snprintf(text + used, room - used, "if (x != %d) { a[%d] = 1; ", i, i);
  for (int i = 0; i <= count; i++) used += (size_t)snprintf(text + used, room - used, "}");
  return text;
}

/* Chains of any length are no nest; a nest as deep as the language has one is taken. */
START_TEST(long_chains_and_deep_nests) {
  const int links = 1100;
  size_t room = 256 + (size_t)links * 64, used;
  char *text = malloc(room), *nest = nested(127);
  used = (size_t)snprintf(text, room, "program chain { rw a: u32[]; let x = a[0]; if (x == 0) { a[0] = 1; }");
  for (int i = 1; i < links; i++)
    used += (size_t)snprintf(text + used, room - used, " else if (a[%d] == x) { a[0] = %d; }", i, i + 1);
  snprintf(text + used, room - used, " a[1] = 2; }");
  ck_assert_int_eq(check_text(text), EMITTED_TARGETS);
  ck_assert_int_eq(check_text(nest), EMITTED_TARGETS);
  free(text);
  free(nest);
}
END_TEST

/* ---- Text, records and facts ----------------------------------------------------------------- */

/* A line `// target NAME` says for which; without one it is the least. */
static const emitted_target *target_of(const char *source) {
  const char *wanted = strstr(source, "// target ");
  for (int t = 0; wanted != NULL && t < EMITTED_TARGETS; t++)
    if (strncmp(wanted + 10, emitted_targets[t].name, strlen(emitted_targets[t].name)) == 0) return &emitted_targets[t];
  return &emitted_targets[EMITTED_LEAST];
}

static void check_golden(const char *name) {
  char *source = golden_read("vulkan", name, ".vyre");
  vyre_program *program = golden_parse(name, source);
  const emitted_target *t = target_of(source);
  gpu_bytes code = { .data = NULL }, text = { .data = NULL };
  spirv_facts facts;
  uint8_t *kernel = emitted_kernel(program, t, 0);
  vyre_error error = VYRE_ERROR_INIT;
  emitted_modules(kernel, t, &code, &facts);
  for (int mode = 0; mode < SPIRV_MODES; mode++)
    if (facts.module_bytes[mode] != 0)
      ck_assert_int_eq(spirv_list(code.data + facts.module_offset[mode], facts.module_bytes[mode], &text, &error), VYRE_OK);
  gpu_bytes_add(&text, "", 1);
  golden_check("vulkan", name, ".spirv", (const char *)text.data);
  gpu_bytes_free(&code);
  gpu_bytes_free(&text);
  free(kernel);
  free(source);
  vyre_program_release(program);
}

START_TEST(modules_are_golden) { ck_assert_uint_ge(golden_each("vulkan", check_golden), 3); }
END_TEST

/* Whatever words are listed, nothing is read beyond them. */
START_TEST(listing_damaged_words) {
  vyre_program *program = golden_parse("list", "program l { rw a: f32[]; a[gid.x] = sqrt(a[0]); }");
  gpu_bytes code = { .data = NULL };
  spirv_facts facts;
  uint8_t *kernel = emitted_kernel(program, &emitted_targets[EMITTED_LEAST], 0);
  random_source r = { 1 };
  vyre_error error = VYRE_ERROR_INIT;
  emitted_modules(kernel, &emitted_targets[EMITTED_LEAST], &code, &facts);
  for (int turn = 0; turn < 2000; turn++) {
    size_t bytes = random_below(&r, (uint32_t)code.count / 4 + 1) * 4u;
    uint32_t *copy = malloc(bytes + 1);
    gpu_bytes text = { .data = NULL };
    memcpy(copy, code.data, bytes);
    if (bytes > 20) copy[5 + random_below(&r, (uint32_t)bytes / 4 - 5)] = (uint32_t)random_bits(&r);
    spirv_list(copy, bytes, &text, &error);
    gpu_bytes_free(&text);
    free(copy);
  }
  gpu_bytes_free(&code);
  free(kernel);
  vyre_program_release(program);
}
END_TEST

START_TEST(targets_and_facts_are_kept) {
  for (int t = 0; t < EMITTED_TARGETS; t++) {
    const spirv_target *target = &emitted_targets[t].target;
    vyre_capabilities record = { .size = sizeof record, .numeric = target->numeric,
                                 .subgroup_size = target->subgroup_size, .subgroup_sizes = target->subgroup_sizes };
    spirv_target_keep(target, &record);
    spirv_target read = spirv_target_of(&record);
    ck_assert_mem_eq(&read, target, sizeof read);
  }
  const spirv_facts facts = { { 0, 4096 }, { 4000, 400 }, 16, 128, 0x1234, 0x10600 };
  uint64_t words[SPIRV_FACT_WORDS];
  spirv_facts read;
  spirv_facts_keep(&facts, words);
  ck_assert(spirv_facts_read(words, 4496, &read));
  ck_assert_mem_eq(&read, &facts, sizeof read);
  ck_assert(!spirv_facts_read(words, 4495, &read));
  ck_assert(!spirv_facts_read((const uint64_t[SPIRV_FACT_WORDS]){ 0 }, 4496, &read));
}
END_TEST

int main(void) {
  const TTest *const tests[] = { constructs, memory, long_chains_and_deep_nests, random_programs, NULL };
  const TTest *const others[] = { what_a_target_lacks_is_named, modules_are_golden, listing_damaged_words,
                                  targets_and_facts_are_kept, NULL };
  Suite *suite = suite_create("vulkan/spirv");
  TCase *valid = tcase_create("valid"), *rest = tcase_create("rest");
  bool can_validate = emitted_can_validate();
  tcase_set_timeout(valid, 300);
  tcase_set_timeout(rest, 60);
  if (can_validate) tcase_add_loop_test(valid, operators, 0, TYPES);
  for (const TTest *const *t = tests; can_validate && *t != NULL; t++) tcase_add_test(valid, *t);
  for (const TTest *const *t = others; *t != NULL; t++) tcase_add_test(rest, *t);
  suite_add_tcase(suite, valid);
  suite_add_tcase(suite, rest);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  if (bad == 0 && !can_validate) puts("skipped: no spirv-val, so no module was validated. Fix: install spirv-tools.");
  return bad != 0 ? 1 : can_validate ? 0 : 77;
}
