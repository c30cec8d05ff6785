/* The kernels of bench/kernels: each is a clean program, gives what its reference gives on every backend that is here,
 * and holds nothing for an optimizer to remove that nobody would have written. And the lint that says so finds what it
 * looks for. */
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/opt.h>
#include <vyre/text.h>

#include "../backend/device_for.h"
#include "../backend/places.h"
#include "../suite.h"
#include "harness/generate.h"
#include "kernels/execute.h"
#include "kernels/lint.h"
#include "kernels/reference.h"

static const char *environment(const char *name) {
  const char *value = getenv(name);
  ck_assert_msg(value != NULL, "%s is not set; run `make check`", name);
  return value;
}

static const char *directory(void) {
  static char path[1024];
  snprintf(path, sizeof path, "%s/bench/kernels", environment("top_srcdir"));
  return path;
}

static kernel_data load(const kernel *k) {
  kernel_data data;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = kernel_load(k, directory(), &data, &error);
  ck_assert_msg(status == VYRE_OK, "%s: %s", k->name, error.text);
  return data;
}

/* ---- What they compute ---- */

START_TEST(references_know_published_answers) {
  static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  uint8_t plain[16], cipher[16], text[10], bytes[6];
  uint32_t round_keys[44];
  for (int i = 0; i < 16; i++) plain[i] = (uint8_t)(0x11 * i);
  reference_aes128_expand(key, round_keys);
  reference_aes128_encrypt(round_keys, plain, cipher); /* FIPS 197, appendix C.1 */
  ck_assert_mem_eq(cipher, "\x69\xc4\xe0\xd8\x6a\x7b\x04\x30\xd8\xcd\xb7\x80\x70\xb4\xc5\x5a", 16);
  ck_assert_uint_eq(reference_crc32((const uint8_t *)"123456789", 9), 0xCBF43926);
  ck_assert_uint_eq(reference_siphash(0x0706050403020100, 0x0f0e0d0c0b0a0908, key, 15), 0xa129ca6149be45e5);
  ck_assert_uint_eq(reference_base64((const uint8_t *)"Zm9vYmE=", 8, bytes, 5), 0); /* RFC 4648, section 10 */
  ck_assert_mem_eq(bytes, "fooba", 5);
  ck_assert_uint_eq(reference_base64((const uint8_t *)"Zm9vYm!y", 8, bytes, 6), 1);
  const struct {
    int32_t days;
    const char *date;
  } dates[] = {{0, "1970-01-01"}, {-1, "1969-12-31"}, {11016, "2000-02-29"}, {-719528, "0000-01-01"},
               {2932896, "9999-12-31"}};
  for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
    reference_date(dates[i].days, text);
    ck_assert_mem_eq(text, dates[i].date, 10);
  }
}
END_TEST

static void *arrays[64];
static uint32_t array_count;

/* Zeros, until free_arrays. */
static void *zeros(uint64_t count, uint64_t bytes) {
  ck_assert_uint_lt(array_count, 64);
  ck_assert_ptr_nonnull(arrays[array_count] = calloc(count, bytes));
  return arrays[array_count++];
}

static void free_arrays(void) {
  while (array_count > 0) free(arrays[--array_count]);
}

/* An array of |count| elements, as a kernel's would be. */
static void *filled(const char *fill, uint32_t stream, uint64_t count, uint64_t bytes) {
  kernel_array array = {.name = fill, .count = count, .bytes = count * bytes, .data = zeros(count, bytes)};
  kernel_fill_named(fill)(&array, stream);
  return array.data;
}

static void check_digest(const char *what, const void *data, uint64_t bytes, uint64_t digest) {
  uint64_t found = bench_fnv(data, bytes);
  ck_assert_msg(found == digest, "%s has the digest 0x%016llx", what, (unsigned long long)found);
}

/* Workloads of the benchmark at their own sizes, against digests that another implementation has published. */
START_TEST(references_give_the_digests_of_their_workloads) {
  enum { N = 1 << 20, HITS = 1 << 22, FILES = 65536, PATTERNS = 16384 };
  uint32_t *c[12], *out = zeros(N, sizeof *out);
  ck_assert_uint_eq(reference_sum(filled("bits", 3, N, 4), N), 2739534164);

  static const uint64_t rules[12] = {0x782013f056abd915, 0xd64d04aba1d0d9e2, 0x1192a9b5384649bf, 0x2dec01a153954248,
                                     0x5ab3589d8ade8154, 0xc87f8a41f6148b79, 0x20c6b0da2c3461ad, 0x009d9b8b4182a7d1,
                                     0xdfe857448c0d0982, 0x716f5e98f2cf61d2, 0x74de357b1fda53b1, 0xff65b84ba027ce72};
  for (uint32_t i = 0; i < 12; i++) {
    uint32_t count = i < 3 ? PATTERNS : N;
    c[i] = filled("rule", i, count, 4);
    check_digest("a column of rules", c[i], 4 * count, rules[i]);
  }
  const reference_rules columns = {c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11]};
  reference_conditions(&columns, N, 10485760, 712, out);
  check_digest("condition_eval", out, N / 8, 0x2084c6c82ae99a63);

  uint32_t *bitmap = zeros(4096 * 32, sizeof *bitmap);
  reference_hits(filled("hits", 0, HITS, 4), filled("hits", 1, HITS, 4), HITS, bitmap);
  check_digest("hit_bitmap", bitmap, 4096 * 128, 0x7fbc4c177fd9d2ad);

  const uint8_t *files = filled("executables", 0, FILES * 1024, 1);
  uint32_t *fired = zeros(FILES / 32, sizeof *fired);
  reference_headers(files, FILES, fired);
  check_digest("executables", files, FILES * 1024, 0x93a8dcb0fcc470ed);
  check_digest("header_fields", fired, FILES / 8, 0xfca4eae1609f94f3);

  check_digest("bytes of entropy_window", filled("entropy", 102, HITS, 1), HITS, 0x3c55545931ff42c7);
  check_digest("weights of entropy_window", filled("weights", 0, 257, 4), 257 * 4, 0x1f501b003ac29a6d);

  reference_filter(filled("filter", 0, N, 4), filled("filter", 1, N, 4), filled("filter", 2, N, 4), N, out);
  check_digest("fused_filter", out, 4 * N, 0xa1a7a416cbd004aa);
  reference_route(filled("routes", 0, N, 4), filled("routes", 1, N, 4), filled("routes", 2, N, 4), N, out);
  check_digest("route", out, 4 * N, 0xb27e1a8bee3e6b82);

  const uint32_t *start = filled("wanted", 0, N + 1, 4), *need = filled("wanted", 1, N, 4);
  ck_assert_uint_eq(start[N], 17559315);
  uint32_t *any = zeros(N / 32, sizeof *any);
  reference_quantified(start, need, filled("wanted", 2, start[N], 4), filled("wanted", 3, 65536, 1), N, any);
  check_digest("quantified", any, N / 8, 0x006378da15203ac0);

  const float *x = filled("linear", 0, 256, 4), *scale = filled("linear", 2, 4 * 4096, 4);
  float *y = zeros(4096, sizeof *y);
  reference_linear_i4(x, filled("linear", 1, 32 * 4096, 4), scale, filled("linear", 3, 4 * 4096, 4),
                      filled("linear", 4, 4096, 4), 4096, y);
  check_digest("linear_i4", y, 4 * 4096, 0x831845e94f6dc525);
  free_arrays();
}
END_TEST

static void check_array(const kernel *k, const char *by, const kernel_array *found, const kernel_array *wanted) {
  size_t size = found->count > 0 ? found->bytes / found->count : 1;
  for (uint64_t i = 0; i < found->count; i++)
    if (memcmp((char *)found->data + i * size, (char *)wanted->data + i * size, size) != 0)
      ck_abort_msg("%s on %s: element %llu of %s differs from the reference", k->name, by, (unsigned long long)i,
                   found->name);
}

static void check_arrays(const kernel *k, const char *by, const kernel_data *found) {
  kernel_data wanted = load(k);
  k->expect(&wanted);
  for (uint32_t i = 0; i < found->array_count; i++) check_array(k, by, &found->arrays[i], &wanted.arrays[i]);
  kernel_free(&wanted);
}

START_TEST(references_give_the_digests) {
  uint32_t count;
  const kernel *k = kernels(&count);
  int wrong = 0;
  for (uint32_t i = 0; i < count; i++) {
    kernel_data data = load(&k[i]);
    k[i].expect(&data);
    for (uint32_t a = 0; a < data.array_count; a++) {
      const kernel_array *array = &data.arrays[a];
      uint64_t digest = bench_fnv(array->data, array->bytes);
      if (digest == array->digest) continue;
      fprintf(stderr, "%s, %s: 0x%016llx\n", k[i].name, array->name, (unsigned long long)digest);
      wrong++;
    }
    kernel_free(&data);
  }
  ck_assert_int_eq(wrong, 0);
}
END_TEST

/* The program as the optimizer has it, in the place of the one that was written. */
static void optimize(kernel_data *data) {
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *optimized;
  options.flags = VYRE_OPT_VERIFY | VYRE_OPT_ROUNDTRIP;
  vyre_status status = vyre_optimize(data->program, &options, &optimized, NULL, &error);
  ck_assert_msg(status == VYRE_OK, "%s: %s", data->kernel->name, error.text);
  vyre_program_release(data->program);
  data->program = optimized;
}

static void run_on(vyre_device *device, const char *name, const kernel *k, bool optimized) {
  kernel_data data = load(k);
  if (optimized) optimize(&data);
  vyre_arg args[KERNEL_MAX_ARRAYS + KERNEL_MAX_PARAMS];
  vyre_run_options options = VYRE_RUN_OPTIONS_INIT;
  vyre_error error = VYRE_ERROR_INIT;
  uint32_t count = 0;
  for (uint32_t i = 0; i < data.array_count; i++) {
    const kernel_array *array = &data.arrays[i];
    uint32_t flags = array->access == VYRE_ACCESS_READ    ? VYRE_ARG_INPUT
                     : array->access == VYRE_ACCESS_WRITE ? VYRE_ARG_OUTPUT
                                                          : VYRE_ARG_INPUT | VYRE_ARG_OUTPUT;
    args[count++] = vyre_arg_host(array->name, flags, array->data, array->count);
  }
  for (uint32_t i = 0; i < data.param_count; i++)
    args[count++] = vyre_arg_value(data.params[i].name, data.params[i].type, data.params[i].bits);
  options.has_grid = 1;
  for (int axis = 0; axis < 3; axis++) options.grid[axis] = k->grid[axis];
  vyre_status status = vyre_run(device, data.program, args, count, &options, &error);
  ck_assert_msg(status == VYRE_OK, "%s on %s: %s", k->name, name, error.text);
  check_arrays(k, name, &data);
  kernel_free(&data);
}

/* A plugin lies in the directory that it was built in. */
static void run_all_on(const char *name, bool optimized) {
  char path[1024];
  uint32_t count;
  const kernel *k = kernels(&count);
  vyre_error error = VYRE_ERROR_INIT;
  snprintf(path, sizeof path, "%s/plugins/%s/%s", environment("top_builddir"), name, environment("objdir"));
  vyre_config *config = config_for(path);
  vyre_context *context = context_for(config);
  vyre_device *device;
  ck_assert_msg(vyre_device_open(context, name, &device, &error) == VYRE_OK, "%s", error.text);
  for (uint32_t i = 0; i < count; i++) run_on(device, name, &k[i], optimized);
  ck_assert_int_eq(vyre_device_close(device, VYRE_FOREVER, &error), VYRE_OK);
  vyre_context_destroy(context);
  vyre_config_destroy(config);
}

START_TEST(the_oracle_agrees) {
  run_all_on("cpu_ref", false);
}
END_TEST

START_TEST(the_oracle_agrees_on_what_is_optimized) {
  run_all_on("cpu_ref", true);
}
END_TEST

START_TEST(the_kernel_form_agrees) {
  run_all_on("template", false);
}
END_TEST

START_TEST(the_kernel_form_agrees_on_what_is_optimized) {
  run_all_on("template", true);
}
END_TEST

START_TEST(executions_are_counted) {
  uint32_t count;
  const kernel *k = kernels(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(k[i].name, "crc32") != 0) continue;
    kernel_data data = load(&k[i]);
    kernel_tally tally;
    ck_assert_int_eq(kernel_execute(&data, data.program, &tally, NULL), VYRE_OK);
    check_arrays(&k[i], "the counting oracle", &data);
    ck_assert_uint_eq(kernel_loads(&tally), 2 * 64 * 2048); /* a byte and a row of the table */
    ck_assert_uint_eq(kernel_stores(&tally), 2048 + 8 * 256);
    ck_assert_uint_eq(kernel_divisions(&tally), 8 * 8 * 256); /* the remainder of each bit */
    ck_assert_uint_gt(kernel_operators(&tally), kernel_loads(&tally));
    ck_assert_uint_gt(tally.instructions, kernel_operators(&tally));
    kernel_free(&data);
    return;
  }
  ck_abort_msg("crc32 is no kernel");
}
END_TEST

START_TEST(another_program_is_no_form_of_a_kernel) {
  uint32_t count;
  const kernel *k = kernels(&count);
  kernel_data data = load(&k[0]), other = load(&k[1]);
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(kernel_execute(&data, other.program, NULL, &error), VYRE_ERR_INVALID_PROGRAM);
  ck_assert(strstr(error.text, "Fix: ") != NULL);
  kernel_free(&other);
  ck_assert_int_eq(kernel_load(&k[0], "/nowhere", &other, &error), VYRE_ERR_IO);
  ck_assert(strstr(error.text, "Fix: ") != NULL);
  kernel_free(&other);
  kernel_free(&data);
}
END_TEST

/* ---- How they are written ---- */

static char *read_kernel(const kernel *k, size_t *bytes) {
  static char text[1 << 16];
  char path[1100];
  snprintf(path, sizeof path, "%s/%s.vyre", directory(), k->name);
  FILE *file = fopen(path, "rb");
  ck_assert_ptr_nonnull(file);
  *bytes = fread(text, 1, sizeof text - 1, file);
  ck_assert_uint_lt(*bytes, sizeof text - 1);
  text[*bytes] = 0;
  fclose(file);
  return text;
}

static void print_finding(void *context, uint32_t position, const char *finding) {
  size_t bytes;
  const char *text = read_kernel(context, &bytes);
  int line = 1;
  for (uint32_t i = 0; i < position && i < bytes; i++) line += text[i] == '\n';
  fprintf(stderr, "%s.vyre:%d: %s\n", ((const kernel *)context)->name, line, finding);
}

START_TEST(they_are_as_an_engineer_writes_them) {
  uint32_t count, found, all = 0;
  const kernel *k = kernels(&count);
  ck_assert_uint_eq(count, 20);
  for (uint32_t i = 0; i < count; i++) {
    kernel_data data = load(&k[i]);
    kernel ours = k[i];
    ck_assert_int_eq(kernel_lint(data.program, print_finding, &ours, &found), VYRE_OK);
    all += found;
    kernel_free(&data);
  }
  ck_assert_uint_eq(all, 0);
}
END_TEST

START_TEST(they_are_free_of_warnings_and_formatted) {
  uint32_t count;
  const kernel *k = kernels(&count);
  for (uint32_t i = 0; i < count; i++) {
    size_t bytes, formatted;
    char *text = read_kernel(&k[i], &bytes), *out;
    vyre_diagnostics *diagnostics;
    vyre_program *program;
    ck_assert_msg(strncmp(text, "// ", 3) == 0, "%s does not begin by saying what it is", k[i].name);
    ck_assert_int_eq(vyre_diagnostics_create(k[i].name, text, bytes, &diagnostics), VYRE_OK);
    ck_assert_int_eq(vyre_text_parse(text, bytes, NULL, diagnostics, &program, NULL), VYRE_OK);
    ck_assert_msg(vyre_diagnostics_warnings(diagnostics) == 0, "%s", vyre_diagnostics_render(diagnostics));
    vyre_diagnostics_destroy(diagnostics);
    vyre_program_release(program);
    ck_assert_int_eq(vyre_text_format(text, bytes, NULL, &out, &formatted, NULL), VYRE_OK);
    ck_assert_msg(formatted == bytes && memcmp(out, text, bytes) == 0, "%s is not as `vyre fmt` has it", k[i].name);
    free(out);
  }
}
END_TEST

/* ---- The lint ---- */

static void remember(void *context, uint32_t position, const char *finding) {
  (void)position;
  snprintf(context, 256, "%s", finding);
}

static const char *lint_of(const char *body, uint32_t *count) {
  static char finding[256];
  char text[2048];
  snprintf(text, sizeof text,
           "program p workgroup(64) { param k: u32; read r: u32[]; rw a: u32[]; rw f: f32[]; shared s: u32[64];\n"
           "  rw v: u32x2[]; const T: u32[2] = {1, 2}; const Z: u32 = 0; let i = gid.x; a[i] = 9; %s }",
           body);
  vyre_program *program = program_of(text);
  strcpy(finding, "nothing");
  ck_assert_int_eq(kernel_lint(program, remember, finding, count), VYRE_OK);
  vyre_program_release(program);
  return finding;
}

static const struct planted {
  const char *body, *finding;
} planted[] = {
    {"a[1] = i + Z;", "does nothing: i + 0"},
    {"a[1] = Z + i;", "does nothing: 0 + i"},
    {"f[1] = f[i] * 1.0;", "does nothing: f[i] * 1.0"},
    {"a[1] = T[i] * k - T[i];", "evaluated again: T[i]"},
    {"a[1] = i & i;", "does nothing: i & i"},
    {"a[1] = k ^ k;", "does nothing: k ^ k"},
    {"a[1] = i | (7 & 0);", "does nothing: i | 0"},
    {"a[1] = i & 0xFFFFFFFF;", "does nothing: i & 4294967295"},
    {"a[1] = i % 1;", "does nothing: i % 1"},
    {"a[1] = i << (32u32 - 32u32);", "does nothing: i << 32u32 - 32"},
    {"a[1] = min(i, i);", "does nothing: min(i, i)"},
    {"a[1] = ~~i;", "does nothing: ~~i"},
    {"a[1] = u32(i);", "does nothing: u32(i)"},
    {"a[1] = true ? i : k;", "does nothing: true ? i : k"},
    {"a[1] = i > 3 ? k : k;", "does nothing: i > 3 ? k : k"},
    {"if (i < 5 && true) { a[1] = 2; }", "does nothing: i < 5 && true"},
    {"f[1] = fma(f[i], 1.0, 2.0);", "does nothing: fma(f[i], 1.0, 2.0)"},
    {"a[1] = i * 3; a[2] = i * 3;", "evaluated again: i * 3"},
    {"a[1] = i * 3; { a[2] = i * 3 + 1; }", "evaluated again: i * 3"},
    {"a[1] = r[i]; a[2] = r[i];", "evaluated again: r[i]"},
    {"let x = r[i]; barrier; a[x] = r[i];", "evaluated again: r[i]"},
    {"let x = a[k]; s[i] = x; a[x] = a[k];", "evaluated again: a[k]"},
    {"if (i * 3 > k) { a[i * 3 + 1] = 2; } else { a[k + 1] = k + 1; }", "evaluated again: k + 1"},
    {"let x = k + 1;", "never read: x"},
    {"var x = k; x = 3; a[2] = x;", "overwritten unread: x"},
    {"var x = k; a[2] = x; x = 3;", "nothing"}, /* nobody follows values over blocks here */
    {"a[k] = 2; a[k] = 3;", "overwritten unread: a"},
    {"a[k] = 2; a[7] = 4; a[7] = 3;", "overwritten unread: a"},
};

static const char *const clean[] = {
    "a[1] = i * 3; if (k > 4) { a[2] = i * 3; }", /* another block */
    "var x = k; a[1] = x * 3; x = 5; a[2] = x * 3;",
    "let x = a[k]; a[k] = x + 1; a[2] = a[k];", /* stored between */
    "let x = s[i]; barrier; a[x] = s[i];",
    "atomic_add(a[k], 1); atomic_add(a[k], 1);",
    "a[1] = atomic_add(a[k], 1) + atomic_add(a[k], 1);",
    "let w = v[i]; a[1] = w.x * w.y + w.x;", /* components are names */
    "var x = 1; for (n in 0..4) { x = x * 2; } a[x] = 1;",
    "a[k] = 2; a[7] = a[k]; a[k] = 3;", /* read between */
    "a[k] = 2; if (k > 3) { a[5] = 1; } a[k] = 3;",
    "var x = k; a[x] = 1; x = 4; a[x] = 2;",
    "f[1] = 3.0 / 7.0;",
    "a[1] = i * 12 / 12;", /* not an identity: it wraps */
};

START_TEST(the_lint_finds_what_is_planted) {
  uint32_t count;
  for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
    const char *found = lint_of(planted[i].body, &count);
    ck_assert_msg(strcmp(found, planted[i].finding) == 0, "%s: %s", planted[i].body, found);
    ck_assert_uint_eq(count, strcmp(found, "nothing") != 0);
  }
}
END_TEST

START_TEST(the_lint_leaves_alone_what_is_good) {
  uint32_t count;
  for (size_t i = 0; i < sizeof clean / sizeof *clean; i++) {
    const char *found = lint_of(clean[i], &count);
    ck_assert_msg(count == 0, "%s: %s", clean[i], found);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      references_know_published_answers, references_give_the_digests_of_their_workloads, references_give_the_digests,
      the_oracle_agrees, the_oracle_agrees_on_what_is_optimized, the_kernel_form_agrees,
      the_kernel_form_agrees_on_what_is_optimized, executions_are_counted, another_program_is_no_form_of_a_kernel,
      they_are_as_an_engineer_writes_them, they_are_free_of_warnings_and_formatted, the_lint_finds_what_is_planted,
      the_lint_leaves_alone_what_is_good, NULL
  };
  return run_suite("kernels", 120, tests);
}
