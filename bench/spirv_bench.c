/* How fast kernels become SPIR-V: millions of kernel instructions a second, over programs that tests/gen makes, lowered for the
 * emitter's opcodes. A row a target: the least that Vulkan promises, and one with every feature, which gets two modules (its
 * instructions count once). Time is that of the process, and memory that was freed is kept.
 *   spirv_bench [STATEMENTS [SECONDS]]     statements of each program (2000), time for each row (1) */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../tests/gen/random_program.h"
#include "../tests/vulkan/emitted.h"

enum { PROGRAMS = 16 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure(const emitted_target *t, uint8_t *const *kernels, double seconds) {
  uint64_t insns = 0, words = 0, turns = 0;
  double started = now(), took;
  do {
    const uint8_t *kernel = kernels[turns++ % PROGRAMS];
    gpu_bytes code = { .data = NULL };
    spirv_facts facts;
    emitted_modules(kernel, t, &code, &facts);
    insns += ((const vyre_kernel_header *)(const void *)kernel)->insns.count;
    words += code.count / 4;
    gpu_bytes_free(&code);
  } while ((took = now() - started) < seconds || turns < PROGRAMS);
  printf("%-8s %8.2f million instructions/s  %6.1f words an instruction  %8.0f instructions a kernel\n", t->name,
         (double)insns / took * 1e-6, (double)words / (double)insns, (double)insns / (double)turns);
}

int main(int argc, char **argv) {
  const emitted_target *least = &emitted_targets[EMITTED_LEAST];
  random_program_options made = { .statements = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 2000,
                                  .avoid = (uint32_t)~least->needs, .reproducible = true };
  double seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
  uint8_t *kernels[PROGRAMS];
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  for (uint64_t i = 0; i < PROGRAMS; i++) {
    vyre_program *program;
    vyre_error error = VYRE_ERROR_INIT;
    if (random_program(i + 1, &made, NULL, &program, &error) != VYRE_OK) {
      fprintf(stderr, "spirv_bench: %s\n", error.text);
      return 1;
    }
    kernels[i] = emitted_kernel(program, least, 0);
    vyre_program_release(program);
  }
  measure(least, kernels, seconds);
  measure(&emitted_targets[EMITTED_ALL], kernels, seconds);
  for (int i = 0; i < PROGRAMS; i++) free(kernels[i]);
  return 0;
}
