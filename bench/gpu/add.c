/* f32 add of 2^28 elements: nothing but memory, so that the bandwidth of a copy is the bound. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "gpu/gpu.h"
#include "harness/generate.h"
#include "harness/targets.h"

#define N (UINT64_C(1) << 28)

/* The same addition, an element or four an invocation. */
typedef struct form {
  const char *name, *type;
  uint32_t width;
} form;
static const form forms[] = {{"f32", "f32", 1}, {"f32x4", "f32x4", 4}};
enum { FORMS = sizeof forms / sizeof *forms, SIDES = 2 * FORMS + 2, LAUNCHES = 8 };

static vyre_program *parse(const form *f) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  char text[512];
  snprintf(text, sizeof text,
           "program elementwise_add workgroup(256) {\n"
           "  read a: %s[];\n"
           "  read b: %s[];\n"
           "  rw o: %s[];\n"
           "  let i = gid.x;\n"
           "  if (i < len(o)) {\n"
           "    o[i] = a[i] + b[i];\n"
           "  }\n"
           "}\n",
           f->type, f->type, f->type);
  return gpu_good(vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error), f->name, &error) ? program : NULL;
}

/* Everything of one run. The forms see the same memory with other numbers of elements. */
typedef struct addition {
  float *a, *b;
  gpu_arrays arrays[FORMS], pair; /* those of the first form are real; |pair| is what a copy gets */
  vyre_program *programs[FORMS];
  gpu_side sides[SIDES];          /* each form checked and unchecked, the peer, the copy */
} addition;

static bool make_inputs(addition *x) {
  x->a = malloc(4 * N);
  x->b = malloc(4 * N);
  if (x->a == NULL || x->b == NULL) return gpu_peer_good("there is no memory", "input");
  for (uint64_t i = 0; i < N; i++) {
    x->a[i] = 2 * bench_uniform(1, (uint32_t)i) - 1;
    x->b[i] = 2 * bench_uniform(2, (uint32_t)i) - 1;
  }
  return true;
}

static bool make_arrays(const gpu_bench *bench, addition *x) {
  x->arrays[0] = (gpu_arrays){.count = 3,
                              .launches = LAUNCHES,
                              .names = {"a", "b", "o"},
                              .counts = {N, N, N},
                              .bytes = {4 * N, 4 * N, 4 * N},
                              .written = {false, false, true},
                              .begin = {x->a, x->b, NULL}};
  if (!gpu_arrays_make(bench, &x->arrays[0])) return false;
  for (int f = 1; f < FORMS; f++) {
    x->arrays[f] = x->arrays[0];
    for (int i = 0; i < 3; i++) x->arrays[f].counts[i] = N / forms[f].width;
  }
  x->pair = x->arrays[0];
  for (uint32_t l = 0; l < LAUNCHES; l++) x->pair.addresses[l][1] = x->pair.addresses[l][2];
  return true;
}

static bool make_sides(const gpu_bench *bench, addition *x) {
  for (int f = 0; f < FORMS; f++) {
    const uint64_t grid[3] = {N / forms[f].width / 256, 1, 1};
    x->programs[f] = parse(&forms[f]);
    for (int u = 0; u < 2; u++)
      if (x->programs[f] == NULL || !gpu_side_vyre(bench, x->programs[f], u == 1 ? VYRE_OPTION_UNCHECKED : 0, NULL, 0,
                                                   grid, &x->arrays[f], &x->sides[2 * f + u]))
        return false;
  }
  return bench->strict == NULL ||
         (gpu_side_peer(bench, bench->strict, "add", NULL, &x->arrays[0], &x->sides[2 * FORMS]) &&
          gpu_side_peer(bench, bench->strict, "copy", NULL, &x->pair, &x->sides[2 * FORMS + 1]));
}

/* Every bit of the last launch. */
static bool is_right(const gpu_bench *bench, const addition *x, gpu_side *side) {
  vyre_error error = VYRE_ERROR_INIT;
  uint64_t wrong = 0;
  double ns;
  float *o = malloc(4 * N);
  bool good = o != NULL && gpu_arrays_reset(bench, &x->arrays[0]) && gpu_side_time(bench, side, &ns);
  good = good && gpu_good(vyre_buffer_read(x->arrays[0].buffers[LAUNCHES - 1][2], 0, o, 4 * N, &error), "o", &error);
  for (uint64_t i = 0; good && i < N; i++) wrong += o[i] != x->a[i] + x->b[i];
  free(o);
  if (wrong > 0) printf("WRONG    %llu sums\n", (unsigned long long)wrong);
  return good && wrong == 0;
}

static double rate(double bytes, double ns) { return ns > 0 ? bytes / ns : 0; }

static void print_side(const char *name, const gpu_side *side, double bytes) {
  double ns = gpu_side_median(side);
  printf("%-24s %9.1f us %8.1f GB/s\n", name, ns / 1e3, rate(bytes, ns));
}

static void report(const gpu_bench *bench, const addition *x) {
  const bench_limits *limits = bench_limits_get();
  char name[64];
  for (int f = 0; f < FORMS; f++) {
    for (int u = 0; u < 2; u++) {
      snprintf(name, sizeof name, "vyre %s%s", forms[f].name, u == 1 ? ", unchecked" : "");
      print_side(name, &x->sides[2 * f + u], 12.0 * N);
    }
  }
  if (bench->strict == NULL) return;
  const gpu_side *peer = &x->sides[2 * FORMS], *copy = &x->sides[2 * FORMS + 1];
  print_side("CUDA C++", peer, 12.0 * N);
  print_side("copy by the driver", copy, 8.0 * N);
  printf("         the peer's blocks are %u, its width %u\n", peer->block, peer->width);
  for (int f = 0; f < FORMS; f++) {
    double ns = gpu_side_median(&x->sides[2 * f]);
    snprintf(name, sizeof name, "%s add beside the kernel", forms[f].name);
    gpu_target(name, gpu_side_median(peer) / ns, limits->gpu_add_kernel, true, "");
    snprintf(name, sizeof name, "%s add beside a copy's bandwidth", forms[f].name);
    gpu_target(name, rate(12.0 * N, ns) / rate(8.0 * N, gpu_side_median(copy)), limits->gpu_add_copy, true,
               "");
  }
}

bool gpu_run_add(const gpu_bench *bench) {
  addition x = {0};
  gpu_side *sides[SIDES];
  uint32_t count = bench->strict != NULL ? SIDES : 2 * FORMS;
  for (uint32_t i = 0; i < SIDES; i++) sides[i] = &x.sides[i];
  if (vyre_device_capabilities(bench->device)->kind & VYRE_DEVICE_CPU) {
    puts("not on a CPU");
    return true;
  }
  bool good = make_inputs(&x) && make_arrays(bench, &x) && make_sides(bench, &x);
  for (uint32_t i = 0; good && i < 2 * FORMS; i++) good = is_right(bench, &x, sides[i]);
  if (good && bench->strict != NULL) good = is_right(bench, &x, sides[2 * FORMS]);
  good = good && gpu_sides_measure(bench, sides, count);
  if (good) report(bench, &x);
  for (uint32_t i = 0; i < SIDES; i++) gpu_side_free(sides[i]);
  for (int f = 0; f < FORMS; f++) vyre_program_release(x.programs[f]);
  gpu_arrays_free(&x.arrays[0]);
  free(x.a);
  free(x.b);
  return good;
}
