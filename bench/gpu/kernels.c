/* The programs of bench/kernels on a GPU: first whether they are right, then how fast. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "gpu/scale.h"
#include "harness/generate.h"
#include "harness/targets.h"

enum { MAX_ROWS = 64 };

/* What is known of one kernel in one mode. Times are in ns; 0 where there is none. */
typedef struct row {
  const char *name;
  bool is_contract;
  double vyre, unchecked, peer;
} row;

typedef struct rows {
  row data[MAX_ROWS];
  uint32_t count;
} rows;

static bool wants(const gpu_bench *bench, const char *name) {
  for (uint32_t i = 0; i < bench->only_count; i++)
    if (strcmp(bench->only[i], name) == 0) return true;
  return bench->only_count == 0;
}

static uint32_t param_args(const kernel_data *data, vyre_arg *args) {
  for (uint32_t i = 0; i < data->param_count; i++)
    args[i] = vyre_arg_value(data->params[i].name, data->params[i].type, data->params[i].bits);
  return data->param_count;
}

/* ---- Against the references, at the table's sizes ---------------------------------------------- */

static uint32_t host_args(const kernel_data *data, vyre_arg *args) {
  uint32_t used = 0;
  for (uint32_t i = 0; i < data->array_count; i++) {
    const kernel_array *a = &data->arrays[i];
    uint32_t flags = a->access == VYRE_ACCESS_READ    ? VYRE_ARG_INPUT
                     : a->access == VYRE_ACCESS_WRITE ? VYRE_ARG_OUTPUT
                                                      : VYRE_ARG_INPUT | VYRE_ARG_OUTPUT;
    args[used++] = vyre_arg_host(a->name, flags, a->data, a->count);
  }
  return used + param_args(data, args + used);
}

static bool digests_match(const kernel_data *data) {
  bool good = true;
  for (uint32_t i = 0; i < data->array_count; i++) {
    const kernel_array *a = &data->arrays[i];
    uint64_t found = bench_fnv(a->data, a->bytes);
    if (found == a->digest) continue;
    good = false;
    printf("WRONG    %s: the digest of %s is 0x%016llx, and 0x%016llx was wanted\n", data->kernel->name, a->name,
           (unsigned long long)found, (unsigned long long)a->digest);
  }
  return good;
}

static bool check(const gpu_bench *bench, const kernel *k) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_arg args[KERNEL_MAX_ARRAYS + KERNEL_MAX_PARAMS];
  kernel_data data;
  vyre_status status = kernel_load(k, bench->kernels, &data, &error);
  if (status == VYRE_OK) {
    vyre_run_options options = VYRE_RUN_OPTIONS_INIT;
    options.has_grid = 1;
    for (int axis = 0; axis < 3; axis++) options.grid[axis] = k->grid[axis];
    status = vyre_run(bench->device, data.program, args, host_args(&data, args), &options, &error);
  }
  bool good = gpu_good(status, k->name, &error) && digests_match(&data);
  kernel_free(&data);
  return good;
}

/* ---- Against the peer's answers ---------------------------------------------------------------- */

/* What the first launch of a series wrote, array by array; NULL where nothing was. */
typedef struct answer {
  void *arrays[GPU_MAX_ARRAYS];
} answer;

static void free_answer(answer *a) {
  for (uint32_t i = 0; i < GPU_MAX_ARRAYS; i++) free(a->arrays[i]);
}

static bool ask(const gpu_bench *bench, gpu_side *side, answer *out) {
  const gpu_arrays *a = side->arrays;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = VYRE_OK;
  double ns;
  *out = (answer){{0}};
  if (!gpu_arrays_reset(bench, a) || !gpu_side_time(bench, side, &ns)) return false;
  for (uint32_t i = 0; i < a->count && status == VYRE_OK; i++) {
    if (!a->written[i]) continue;
    out->arrays[i] = malloc(a->bytes[i] + 1);
    if (out->arrays[i] == NULL) return false;
    status = vyre_buffer_read(a->buffers[0][i], 0, out->arrays[i], a->bytes[i], &error);
  }
  return gpu_good(status, "an answer", &error);
}

/* The largest difference of two floats over the larger of the array. */
static double float_difference(const float *x, const float *y, uint64_t n) {
  double most = 0, size = 0;
  for (uint64_t i = 0; i < n; i++) {
    double d = fabs((double)x[i] - (double)y[i]);
    if (!(d <= most)) most = d;
    if (fabs((double)x[i]) > size) size = fabs((double)x[i]);
  }
  return size > 0 ? most / size : most;
}

/* With contraction each compiler may fuse what it likes: then floats may differ by what rounding does, and counts of
 * points by those that lie on the circle. */
static bool near(const kernel_data *data, uint32_t i, const void *x, const void *y) {
  const kernel_array *a = &data->arrays[i];
  uint64_t different = 0;
  if (vyre_type_describe(a->type)->component == VYRE_TYPE_F32) return float_difference(x, y, a->bytes / 4) < 1e-4;
  for (uint64_t k = 0; k < a->bytes; k++) different += ((const uint8_t *)x)[k] != ((const uint8_t *)y)[k];
  return different < a->bytes / 1000;
}

static bool compare(const kernel_data *data, const answer *x, const answer *y, bool is_contract) {
  bool good = true, is_equal = true;
  for (uint32_t i = 0; i < data->array_count; i++) {
    if (x->arrays[i] == NULL || memcmp(x->arrays[i], y->arrays[i], data->arrays[i].bytes) == 0) continue;
    is_equal = false;
    good &= is_contract && near(data, i, x->arrays[i], y->arrays[i]);
    if (!good) printf("WRONG    %s: %s differs from the peer's\n", data->kernel->name, data->arrays[i].name);
  }
  if (good && !is_equal) printf("         %s: contracted, the answers differ by rounding\n", data->kernel->name);
  return good;
}

static uint64_t digest(const kernel_data *data, const answer *a) {
  uint64_t sum = BENCH_FNV_BASIS;
  for (uint32_t i = 0; i < data->array_count; i++)
    if (a->arrays[i] != NULL) sum = sum * BENCH_FNV_PRIME ^ bench_fnv(a->arrays[i], data->arrays[i].bytes);
  return sum;
}

/* Both sides' answers are the same, and so is that without checks. */
static bool answers_agree(const gpu_bench *bench, const kernel_data *data, gpu_side *const *sides, uint32_t count,
                          bool is_contract) {
  answer first, other;
  bool good = ask(bench, sides[0], &first);
  for (uint32_t i = 1; i < count && good; i++) {
    good = ask(bench, sides[i], &other) && compare(data, &first, &other, is_contract && i > 0);
    free_answer(&other);
  }
  if (good) printf("         %-15s digest %016llx\n", data->kernel->name, (unsigned long long)digest(data, &first));
  free_answer(&first);
  return good;
}

/* ---- One kernel -------------------------------------------------------------------------------- */

/* Programs may read no more than there is, whatever the random sizes came to. */
static bool fits(const kernel_data *data) {
  static const char *const ranges[][2] = {{"start", "ids"}, {"starts", "text"}};
  for (int i = 0; i < 2; i++) {
    const uint32_t *start = kernel_array_named(data, ranges[i][0]);
    if (start != NULL && start[kernel_count_of(data, ranges[i][0]) - 1] > kernel_count_of(data, ranges[i][1])) {
      fprintf(stderr, "gpu_bench: %s: `%s` is too short. Fix: give it more in sizes.def.\n", data->kernel->name,
              ranges[i][1]);
      return false;
    }
  }
  return true;
}

static bool make_arrays(const gpu_bench *bench, const kernel_data *data, gpu_arrays *out) {
  *out = (gpu_arrays){.count = data->array_count, .launches = GPU_LAUNCHES};
  for (uint32_t i = 0; i < data->array_count; i++) {
    const kernel_array *a = &data->arrays[i];
    out->names[i] = a->name;
    out->counts[i] = a->count;
    out->bytes[i] = a->bytes;
    out->begin[i] = a->data;
    out->written[i] = a->access != VYRE_ACCESS_READ;
  }
  return gpu_arrays_make(bench, out);
}

static void describe(const gpu_side *side) {
  vyre_launch_report report = {.size = sizeof report};
  if (vyre_executable_report(side->executable, &report, NULL) != VYRE_OK) return;
  printf("         %u registers, %llu B of local memory, workgroup %ux%ux%u, %llu resident\n", report.registers,
         (unsigned long long)report.scratch_bytes, report.planned_workgroup[0], report.planned_workgroup[1],
         report.planned_workgroup[2], (unsigned long long)report.max_resident);
}

/* Makes, compares and measures the sides of one mode, and appends its row. */
static bool run_mode(const gpu_bench *bench, const kernel_data *data, const gpu_arrays *arrays, bool is_contract,
                     rows *out) {
  const peer_kernels *library = is_contract ? bench->contract : bench->strict;
  uint32_t flags = is_contract ? VYRE_OPTION_CONTRACT : 0, count = 2, param_count;
  vyre_arg params[KERNEL_MAX_PARAMS];
  uint64_t grid[3], bits[KERNEL_MAX_PARAMS];
  gpu_side vyre = {0}, unchecked = {0}, peer = {0}, *sides[] = {&vyre, &unchecked, &peer};
  param_count = param_args(data, params);
  for (uint32_t i = 0; i < data->param_count; i++) bits[i] = data->params[i].bits;
  gpu_scale_grid(data->kernel->name, grid);
  bool good = gpu_side_vyre(bench, data->program, flags, params, param_count, grid, arrays, &vyre) &&
              gpu_side_vyre(bench, data->program, flags | VYRE_OPTION_UNCHECKED, params, param_count, grid, arrays,
                            &unchecked);
  if (good && library != NULL) {
    good = gpu_side_peer(bench, library, data->kernel->name, bits, arrays, &peer);
    count = 3;
  }
  good = good && answers_agree(bench, data, sides, count, is_contract) && gpu_sides_measure(bench, sides, count);
  if (good) {
    describe(&vyre);
    out->data[out->count++] = (row){data->kernel->name, is_contract, gpu_side_median(&vyre),
                                    gpu_side_median(&unchecked), library != NULL ? gpu_side_median(&peer) : 0};
    if (library != NULL) printf("         peer: blocks of %u, width %u\n", peer.block, peer.width);
  }
  for (int i = 0; i < 3; i++) gpu_side_free(sides[i]);
  return good;
}

static bool run_kernel(const gpu_bench *bench, const kernel *k, rows *out) {
  const kernel_scale scale = {gpu_scale_count, gpu_scale_value, !bench->clears};
  vyre_error error = VYRE_ERROR_INIT;
  kernel_data data;
  gpu_arrays arrays = {0};
  bool good = gpu_good(kernel_load_scaled(k, bench->kernels, &scale, &data, &error), k->name, &error) && fits(&data) &&
              make_arrays(bench, &data, &arrays) && run_mode(bench, &data, &arrays, false, out);
  if (good && gpu_scale_has_floats(k->name)) good = run_mode(bench, &data, &arrays, true, out);
  gpu_arrays_free(&arrays);
  kernel_free(&data);
  return good;
}

/* ---- The tables -------------------------------------------------------------------------------- */

static const char *source_of(const char *name) {
  uint32_t count;
  const kernel *k = kernels(&count);
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(k[i].name, name) == 0) return k[i].source;
  return "";
}

static void print_rows(const rows *r) {
  printf("\n%-15s %-8s %10s %10s %10s %7s %7s  %s\n", "kernel", "floats", "vyre us", "unchecked", "peer us", "ratio",
         "checks", "from");
  for (uint32_t i = 0; i < r->count; i++) {
    const row *x = &r->data[i];
    printf("%-15s %-8s %10.1f %10.1f %10.1f %7.3f %+6.1f%%  %s\n", x->name, x->is_contract ? "contract" : "strict",
           x->vyre / 1e3, x->unchecked / 1e3, x->peer / 1e3, x->peer / x->vyre, 100 * (x->vyre / x->unchecked - 1),
           source_of(x->name));
  }
}

static bool has_contract(const rows *r, const char *name) {
  for (uint32_t i = 0; i < r->count; i++)
    if (r->data[i].is_contract && strcmp(r->data[i].name, name) == 0) return true;
  return false;
}

/* The twenty with floats strict, or with those that have floats contracted. */
static void print_targets(const rows *r, bool contracts) {
  const bench_limits *limits = bench_limits_get();
  double product = 0, checks = 0, worst = 1e300;
  const char *name = "";
  char what[96];
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    const row *x = &r->data[i];
    if (contracts ? !x->is_contract && has_contract(r, x->name) : x->is_contract) continue;
    double ratio = x->peer / x->vyre;
    count++;
    product += log(ratio);
    checks += log(x->vyre / x->unchecked);
    if (ratio >= worst) continue;
    worst = ratio;
    name = x->name;
  }
  if (count == 0) return;
  printf("\n%u kernels, %s\n", count, contracts ? "contract" : "strict");
  snprintf(what, sizeof what, "worst ratio (%s)", name);
  if (worst > 0) gpu_target("geometric mean of peer / vyre", exp(product / count), limits->gpu_mean, true, "");
  if (worst > 0) gpu_target(what, worst, limits->gpu_worst, true, "");
  gpu_target("bounds checks, geometric mean", 100 * (exp(checks / count) - 1), 100 * limits->gpu_checks, false, " %");
}

bool gpu_run_kernels(const gpu_bench *bench) {
  uint32_t count, right = 0, wanted = 0;
  const kernel *k = kernels(&count);
  rows r = {.count = 0};
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    if (!wants(bench, k[i].name)) continue;
    wanted++;
    right += check(bench, &k[i]);
  }
  printf("%u of %u kernels have the digests of the references\n", right, wanted);
  if (vyre_device_capabilities(bench->device)->kind & VYRE_DEVICE_CPU) return right == wanted;
  for (uint32_t i = 0; i < count; i++) {
    if (!wants(bench, k[i].name)) continue;
    good &= run_kernel(bench, &k[i], &r);
    fflush(stdout);
  }
  print_rows(&r);
  print_targets(&r, false);
  print_targets(&r, true);
  return good && right == wanted;
}
