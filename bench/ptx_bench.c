/* How fast kernels become PTX: millions of kernel instructions a second, and what a program of 200 lines takes, over
 * programs that tests/gen makes. Time is that of the process, not of the clock, and memory that was freed is kept.
 *   ptx_bench [SECONDS]     time for each row (1) */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/cuda/modules.h"
#include "tests/gen/random_program.h"

enum { PROGRAMS = 16 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "ptx_bench: %s\n", error->text);
  exit(1);
}

static uint8_t *make(uint64_t seed, uint32_t statements) {
  random_program_options made = { .statements = statements, .reproducible = true };
  module_options options = { .ulp = 1, .target = { .sm = 90 } };
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  gpu_bytes text = { 0 };
  ptx_facts facts;
  uint8_t *kernel;
  must(random_program(seed, &made, NULL, &program, &error), &error);
  must(module_of(program, &options, &text, &facts, &kernel, &error), &error);
  gpu_bytes_free(&text);
  vyre_program_release(program);
  return kernel;
}

static void measure(uint32_t statements, double seconds) {
  uint64_t insns = 0, bytes = 0, turns = 0;
  uint8_t *kernels[PROGRAMS];
  ptx_target target = { .sm = 90 };
  for (uint64_t i = 0; i < PROGRAMS; i++) kernels[i] = make(i + 1, statements);
  double started = now(), took;
  do {
    const vyre_kernel_header *kernel = (const void *)kernels[turns++ % PROGRAMS];
    vyre_error error = VYRE_ERROR_INIT;
    gpu_bytes text = { 0 };
    ptx_facts facts;
    must(ptx_emit(kernel, &target, &text, &facts, &error), &error);
    insns += kernel->insns.count;
    bytes += text.count;
    gpu_bytes_free(&text);
  } while ((took = now() - started) < seconds || turns < PROGRAMS);
  printf("%5u statements %8.2f million instructions/s  %7.1f us and %7.0f instructions a kernel  %5.1f bytes an "
         "instruction\n", statements, (double)insns / took * 1e-6, took * 1e6 / (double)turns,
         (double)insns / (double)turns, (double)bytes / (double)insns);
  for (int i = 0; i < PROGRAMS; i++) free(kernels[i]);
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  measure(50, seconds);
  measure(200, seconds);
  measure(2000, seconds);
  return 0;
}
