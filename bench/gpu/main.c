/* A GPU backend beside CUDA C++, in one process and one run.
 *
 * usage: gpu_bench [kernels|add|submit|graph|compile|all] [NAME...] [--backend DEVICE] [--peers DIR] [--kernels DIR]
 *                  [--rounds N] [--clear]
 *
 * kernels  the programs of bench/kernels: their answers at the table's sizes against the references, then at sizes of a
 *          GPU against the peer's answers, and the times of both
 * add      f32 add of 2^28 elements beside a vectorized kernel and a copy
 * submit   processor time of handing over one dispatch, beside cuLaunchKernel
 * graph    a batch of many dispatches, replayed, beside a captured graph
 * compile  from a program to a loaded module, cold and from the disk cache, and from a program to text
 *
 * DIR of --peers has peer_strict.so and peer_contract.so, built by bench/peers/build; without them there are no ratios.
 * --clear keeps `write` buffers as they are, so that each launch clears them, which no peer does.
 * Exit status: 0, 1 if an answer is wrong or something fails, 2 for wrong usage. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/gpu.h"
#include "harness/stats.h"

enum { MAX_NAMES = 32 };

typedef struct part {
  const char *name;
  bool (*run)(const gpu_bench *bench);
} part;

static const part parts[] = {
  {"kernels", gpu_run_kernels}, {"add", gpu_run_add},         {"submit", gpu_run_submit},
  {"graph", gpu_run_graph},     {"compile", gpu_run_compile},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* ---- What the parts share ---------------------------------------------------------------------- */

bool gpu_good(vyre_status status, const char *what, const vyre_error *error) {
  if (status == VYRE_OK) return true;
  fprintf(stderr, "gpu_bench: %s: %s\n", what, error->text);
  return false;
}

bool gpu_peer_good(const char *why, const char *what) {
  if (why == NULL) return true;
  fprintf(stderr, "gpu_bench: the peer's %s: %s\n", what, why);
  return false;
}

double gpu_median(double *samples, uint32_t count) { return count > 0 ? bench_median(samples, count) : 0; }

static double clock_ns(clockid_t which) {
  struct timespec t;
  clock_gettime(which, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double gpu_wall_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
double gpu_cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

void gpu_target(const char *what, double value, double wanted, bool at_least, const char *unit) {
  bool reached = at_least ? value >= wanted : value <= wanted;
  printf("%-9s%s: %.3f%s, wanted at %s %.3g%s\n", reached ? "reached" : "MISSED", what, value, unit,
         at_least ? "least" : "most", wanted, unit);
}

bool gpu_address(vyre_buffer *buffer, void **out) {
  vyre_error error = VYRE_ERROR_INIT;
  uint64_t handle;
  vyre_status status = vyre_buffer_export(buffer, VYRE_HANDLE_DEVICE_POINTER, &handle, &error);
  *out = (void *)(uintptr_t)handle;
  return gpu_good(status, "the address of a buffer", &error);
}

/* ---- Peers ------------------------------------------------------------------------------------- */

static const peer_kernels *load_peer(const char *directory, const char *name) {
  char path[1024];
  const peer_kernels *(*open)(void);
  snprintf(path, sizeof path, "%s/%s.so", directory, name);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library != NULL ? dlsym(library, "peer_kernels_open") : NULL;
  if (symbol == NULL) {
    printf("%s is not there: %s\n", name, dlerror());
    return NULL;
  }
  memcpy(&open, &symbol, sizeof open);
  const peer_kernels *peer = open();
  if (peer != NULL) printf("%s: nvcc %s\n", name, peer->flags);
  return peer;
}

/* ---- The command ------------------------------------------------------------------------------- */

static int usage(void) {
  fputs("usage: gpu_bench [kernels|add|submit|graph|compile|all] [NAME...] [--backend DEVICE] [--peers DIR]\n"
        "                 [--kernels DIR] [--rounds N] [--clear]\n",
        stderr);
  return 2;
}

static bool read_option(gpu_bench *bench, const char **peers, const char *option, const char *value) {
  if (strcmp(option, "--backend") == 0) bench->name = value;
  else if (strcmp(option, "--kernels") == 0) bench->kernels = value;
  else if (strcmp(option, "--peers") == 0) *peers = value;
  else if (strcmp(option, "--rounds") == 0) bench->rounds = (uint32_t)strtoul(value, NULL, 10);
  else return false;
  return bench->rounds > 0 && bench->rounds <= GPU_MAX_SAMPLES;
}

static bool read_arguments(gpu_bench *bench, int argc, char **argv, const char **names, const char **peers,
                           const char **word) {
  bench->only = names;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--clear") == 0) bench->clears = true;
    else if (argv[i][0] != '-' && i == 1) *word = argv[i];
    else if (argv[i][0] != '-' && bench->only_count < MAX_NAMES) names[bench->only_count++] = argv[i];
    else if (i + 1 == argc || !read_option(bench, peers, argv[i], argv[i + 1])) return false;
    else i++;
  }
  return true;
}

static bool open_device(gpu_bench *bench) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_context_create(NULL, NULL, &bench->context, &error);
  if (status == VYRE_OK) status = vyre_device_open(bench->context, bench->name, &bench->device, &error);
  if (status == VYRE_OK) status = vyre_queue_create(bench->device, &bench->queue, &error);
  return gpu_good(status, bench->name, &error);
}

static bool run_parts(const gpu_bench *bench, const char *word, bool *known) {
  bool good = true;
  *known = false;
  for (int i = 0; i < PARTS; i++) {
    if (strcmp(word, "all") != 0 && strcmp(word, parts[i].name) != 0) continue;
    *known = true;
    printf("\n== %s\n", parts[i].name);
    fflush(stdout);
    good &= parts[i].run(bench);
    fflush(stdout);
  }
  return good;
}

int main(int argc, char **argv) {
  const char *names[MAX_NAMES], *peers = NULL, *word = "all";
  gpu_bench bench = {.name = "cuda", .kernels = BENCH_KERNELS_DIR, .rounds = 9};
  bool known = false, good = read_arguments(&bench, argc, argv, names, &peers, &word);
  if (!good) return usage();
  setenv("CUDA_CACHE_DISABLE", "1", 1); /* the driver's own cache of compiled text would hide what compiling costs */
  good = open_device(&bench);
  if (good) {
    const vyre_capabilities *c = vyre_device_capabilities(bench.device);
    printf("%s, driver %s, as %s\n", c->name, c->driver, vyre_device_name(bench.device));
    bench.strict = peers != NULL ? load_peer(peers, "peer_strict") : NULL;
    bench.contract = peers != NULL ? load_peer(peers, "peer_contract") : NULL;
    good = run_parts(&bench, word, &known);
  }
  vyre_queue_destroy(bench.queue);
  if (bench.device != NULL) vyre_device_close(bench.device, 10000000000u, NULL);
  vyre_context_destroy(bench.context);
  return good && !known ? usage() : !good;
}
