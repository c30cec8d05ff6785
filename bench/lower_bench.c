/* How fast programs become kernels: millions of instructions a second, for targets that take every opcode and the least,
 * over programs that tests/gen makes. Time is that of the process, not of the clock, and memory that was freed is kept,
 * since what a first touch of fresh memory costs depends on the machine.
 *   lower_bench [STATEMENTS [SECONDS]]     statements of each program (2000), time for each row (1) */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <vyre/lower.h>

#include "../tests/gen/random_program.h"
#include "../tests/lower/targets.h"

enum { PROGRAMS = 16 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "lower_bench: %s\n", error->text);
  exit(1);
}

/* Instructions and bytes of the kernels that are made in at least |seconds|. */
static void measure(const char *name, target t, bool verified, vyre_program *const *programs, double seconds) {
  vyre_lower_options options = target_options(t);
  vyre_error error = VYRE_ERROR_INIT;
  uint64_t insns = 0, bytes = 0, kernels = 0;
  double started = now(), took;
  options.compile_flags = VYRE_COMPILE_ULP;
  options.ulp_budget = 1;
  do {
    uint8_t *kernel;
    size_t length;
    must(vyre_lower(programs[kernels++ % PROGRAMS], &options, &kernel, &length, &error), &error);
    if (verified) must(vyre_kernel_verify(kernel, length, &error), &error);
    insns += ((const vyre_kernel_header *)(const void *)kernel)->insns.count;
    bytes += length;
    free(kernel);
  } while ((took = now() - started) < seconds || kernels < PROGRAMS);
  printf("%-28s %8.2f million instructions/s  %6.1f MB/s  %8.0f instructions a kernel\n", name,
         (double)insns / took * 1e-6, (double)bytes / took * 1e-6, (double)insns / (double)kernels);
}

int main(int argc, char **argv) {
  random_program_options made = { .statements = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 2000,
                                  .reproducible = true };
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  double seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
  vyre_program *programs[PROGRAMS];
  vyre_error error = VYRE_ERROR_INIT;
  for (uint64_t i = 0; i < PROGRAMS; i++) must(random_program(i + 1, &made, NULL, &programs[i], &error), &error);
  measure("every opcode", TARGET_ALL, false, programs, seconds);
  measure("every opcode, verified", TARGET_ALL, true, programs, seconds);
  measure("the least", TARGET_LEAST, false, programs, seconds);
  for (int i = 0; i < PROGRAMS; i++) vyre_program_release(programs[i]);
  return 0;
}
