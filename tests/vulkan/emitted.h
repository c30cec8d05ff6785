/* Programs as SPIR-V, for targets from the least that Vulkan promises to all that the emitter knows, and what spirv-val
 * says about them. */
#ifndef VYRE_TESTS_VULKAN_EMITTED_H
#define VYRE_TESTS_VULKAN_EMITTED_H

#include <vyre/lower.h>

#include "plugins/vulkan/spirv.h"

typedef struct emitted_target {
  const char *name;
  const char *environment; /* of spirv-val */
  spirv_target target;
  uint64_t needs;          /* VYRE_NEED_* that it satisfies */
} emitted_target;
extern const emitted_target emitted_targets[];
enum { EMITTED_LEAST, EMITTED_OLD, EMITTED_ALL, EMITTED_EXACT, EMITTED_TARGETS };

/* Lowers a program for a target. NULL where it has needs that the target has not; any other failure ends the test. The
 * caller frees it. */
uint8_t *emitted_kernel(const vyre_program *program, const emitted_target *t, uint32_t compile_flags);
/* Emits a kernel; |code| is empty. What fails ends the test. */
void emitted_modules(const uint8_t *kernel, const emitted_target *t, gpu_bytes *code, spirv_facts *facts);

/* Whether there is a spirv-val. */
bool emitted_can_validate(void);
/* Has spirv-val look at each module; |what| is printed where it finds a fault, which ends the test. */
void emitted_validate(const emitted_target *t, const gpu_bytes *code, const spirv_facts *facts, const char *what);
/* All of it for one program; 1 if the target takes it, else 0. */
int emitted_check(const vyre_program *program, const emitted_target *t, const char *what);

#endif
