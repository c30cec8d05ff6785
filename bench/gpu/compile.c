/* What it costs to come from a program of 200 lines to a module that is loaded, and to the backend's text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vyre/lower.h>
#include <vyre/text.h>

#include "gpu/gpu.h"
#include "harness/targets.h"

enum { PROGRAMS = 9, STANZAS = 32, TEXT_ROUNDS = 200 };

/* ---- Programs ---------------------------------------------------------------------------------- */

/* 202 lines; another program for each seed. The caller releases it. NULL, and told, if it fails. */
static vyre_program *make_program(uint32_t seed) {
  char text[16384];
  int at = snprintf(text, sizeof text,
                    "program stanzas workgroup(64) {\n"
                    "  read x: u32[];\n"
                    "  read f: f32[];\n"
                    "  rw y: u32[];\n"
                    "  let i = gid.x;\n"
                    "  var a = %uu32;\n"
                    "  var s = 0.0;\n",
                    seed);
  for (unsigned k = 0; k < STANZAS; k++)
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "  let t%u = x[i + %u] * %uu32 + a;\n"
                   "  a ^= rotr(t%u, %u);\n"
                   "  s += f[i + %u] * f32(t%u & 0xFF);\n"
                   "  if (t%u & 7 == %u) {\n"
                   "    a += t%u / %u;\n"
                   "  }\n",
                   k, k, 2 * k + 3, k, k % 31 + 1, k, k, k, k % 8, k, k + 3);
  at += snprintf(text + at, sizeof text - (size_t)at, "  y[i] = a + u32(max(s, 0.0));\n}\n");
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  return gpu_good(vyre_text_parse(text, (size_t)at, NULL, NULL, &program, &error), "the program", &error) ? program
                                                                                                         : NULL;
}

/* ---- To a module ------------------------------------------------------------------------------- */

/* A context of its own, so that nothing is kept from before. */
typedef struct place {
  vyre_context *context;
  vyre_device *device;
} place;

static bool open_place(const gpu_bench *bench, place *out) {
  vyre_error error = VYRE_ERROR_INIT;
  *out = (place){0};
  vyre_status status = vyre_context_create(NULL, NULL, &out->context, &error);
  if (status == VYRE_OK) status = vyre_device_open(out->context, bench->name, &out->device, &error);
  return gpu_good(status, bench->name, &error);
}

static void close_place(place *p) {
  if (p->device != NULL) vyre_device_close(p->device, 10000000000u, NULL);
  vyre_context_destroy(p->context);
}

/* Median time of compiling each program once. The first of a device pays for what all share, and is not among them. */
static bool time_compiles(const place *p, vyre_program *const *programs, double *ns) {
  double samples[PROGRAMS];
  for (int i = 0; i < PROGRAMS; i++) {
    vyre_error error = VYRE_ERROR_INIT;
    vyre_executable *executable;
    double from = gpu_wall_ns();
    vyre_status status = vyre_compile(p->device, programs[i], NULL, &executable, &error);
    samples[i] = gpu_wall_ns() - from;
    vyre_executable_destroy(executable);
    if (!gpu_good(status, "compiling", &error)) return false;
  }
  *ns = gpu_median(samples + 1, PROGRAMS - 1);
  return true;
}

static bool time_in_place(const gpu_bench *bench, vyre_program *const *programs, double *ns) {
  place p;
  bool good = open_place(bench, &p) && time_compiles(&p, programs, ns);
  close_place(&p);
  return good;
}

static void remove_directory(const char *path) {
  char command[1200];
  snprintf(command, sizeof command, "rm -rf '%s'", path);
  if (system(command) != 0) fprintf(stderr, "gpu_bench: %s stays behind\n", path);
}

static bool time_modules(const gpu_bench *bench, vyre_program *const *programs) {
  char directory[] = "/tmp/gpu_bench.XXXXXX";
  double cold, filling, warm;
  if (mkdtemp(directory) == NULL) return gpu_peer_good("no directory can be made in /tmp", "cache");
  setenv("VYRE_CACHE", "off", 1);
  bool good = time_in_place(bench, programs, &cold);
  setenv("VYRE_CACHE", "on", 1);
  setenv("VYRE_CACHE_DIRECTORY", directory, 1);
  good = good && time_in_place(bench, programs, &filling) && time_in_place(bench, programs, &warm);
  remove_directory(directory);
  unsetenv("VYRE_CACHE");
  unsetenv("VYRE_CACHE_DIRECTORY");
  if (!good) return false;
  printf("cold, no disk cache  %9.3f ms\n", cold / 1e6);
  printf("cold, cache written  %9.3f ms\n", filling / 1e6);
  printf("from the disk cache  %9.3f ms\n", warm / 1e6);
  gpu_target("cold compile to a loaded module", cold / 1e6, bench_limits_get()->gpu_cold_ms, false, " ms");
  gpu_target("the same from the disk cache", warm / 1e6, bench_limits_get()->gpu_disk_ms, false, " ms");
  return true;
}

/* ---- To text ----------------------------------------------------------------------------------- */

/* The record that no device has, so that nothing is made of the text. */
static bool find_profile(const gpu_bench *bench, vyre_capabilities *out) {
  const vyre_capabilities *own = vyre_device_capabilities(bench->device);
  const char *backend = vyre_device_backend(bench->device);
  out->size = sizeof *out;
  for (uint32_t i = 0; vyre_backend_profile(bench->context, backend, i, out, NULL) == VYRE_OK; i++) {
    if (strcmp(out->profile, own->profile) == 0) return true;
    out->size = sizeof *out;
  }
  return false;
}

static bool time_blob(const gpu_bench *bench, const vyre_capabilities *target, const vyre_program *program,
                      uint32_t level, double *ns) {
  double samples[TEXT_ROUNDS];
  const char *backend = vyre_device_backend(bench->device);
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  options.level = level;
  for (int i = 0; i < TEXT_ROUNDS; i++) {
    vyre_error error = VYRE_ERROR_INIT;
    uint8_t *blob;
    size_t bytes;
    double from = gpu_cpu_ns();
    vyre_status status = vyre_compile_blob(bench->context, backend, target, program, &options, &blob, &bytes, &error);
    samples[i] = gpu_cpu_ns() - from;
    free(blob);
    if (!gpu_good(status, "compiling to text", &error)) return false;
  }
  *ns = gpu_median(samples, TEXT_ROUNDS);
  return true;
}

static bool time_lower(const vyre_program *program, double *ns) {
  double samples[TEXT_ROUNDS];
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  for (int i = 0; i < TEXT_ROUNDS; i++) {
    vyre_error error = VYRE_ERROR_INIT;
    uint8_t *kernel;
    size_t bytes;
    double from = gpu_cpu_ns();
    vyre_status status = vyre_lower(program, &options, &kernel, &bytes, &error);
    samples[i] = gpu_cpu_ns() - from;
    free(kernel);
    if (!gpu_good(status, "lowering", &error)) return false;
  }
  *ns = gpu_median(samples, TEXT_ROUNDS);
  return true;
}

static bool time_text(const gpu_bench *bench, const vyre_program *program) {
  vyre_capabilities target;
  double plain, optimized, lowering;
  if (!find_profile(bench, &target)) {
    puts("the backend compiles for no profile, so text is not timed");
    return true;
  }
  if (!time_blob(bench, &target, program, 0, &plain) || !time_blob(bench, &target, program, 2, &optimized) ||
      !time_lower(program, &lowering))
    return false;
  printf("to a blob, level 0   %9.1f us\nto a blob, level 2   %9.1f us\nto a kernel          %9.1f us\n", plain / 1e3,
         optimized / 1e3, lowering / 1e3);
  gpu_target("program to text, without passes", plain / 1e3, bench_limits_get()->gpu_text_us, false, " us");
  return true;
}

bool gpu_run_compile(const gpu_bench *bench) {
  vyre_program *programs[PROGRAMS] = {0};
  bool good = true;
  for (uint32_t i = 0; i < PROGRAMS && good; i++) good = (programs[i] = make_program(i)) != NULL;
  good = good && time_text(bench, programs[0]) && time_modules(bench, programs);
  for (int i = 0; i < PROGRAMS; i++) vyre_program_release(programs[i]);
  return good;
}
