/* Lowering, emitting and validating. */
#include "emitted.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const char gpu_name[] = "vulkan";

/* What opcodes expand to everywhere. */
static const uint64_t everywhere = VYRE_NEED_ATOMIC_F32_ADD | VYRE_NEED_GRID_BARRIER | VYRE_NEED_ULP | VYRE_NEED_FMA |
                                   VYRE_NEED_TRAP | VYRE_NEED_PRINT | VYRE_NEED_ASYNC_COPY | VYRE_NEED_SHOULD_STOP |
                                   VYRE_NEED_FLOAT16 | VYRE_NEED_STORAGE8 | VYRE_NEED_STORAGE16;
static const uint64_t wide = VYRE_NEED_INT64 | VYRE_NEED_FLOAT64 | VYRE_NEED_ATOMIC64;

#define LANES (SPIRV_VOTE | SPIRV_BALLOT | SPIRV_SHUFFLE)
#define WIDE (SPIRV_INT64 | SPIRV_FLOAT64 | SPIRV_BUFFER_ATOMIC64 | SPIRV_SHARED_ATOMIC64)
#define CONTROLS                                                                                          \
  (SPIRV_FLOAT_CONTROLS | SPIRV_CONTROLS_ALL | SPIRV_DENORM_PRESERVE_32 | SPIRV_DENORM_PRESERVE_64 | \
   SPIRV_SIGNED_ZERO_32 | SPIRV_SIGNED_ZERO_64 | SPIRV_RTE_32 | SPIRV_RTE_64)
#define ALL_PROMISES \
  (VYRE_NUMERIC_SUBNORMALS | VYRE_NUMERIC_FMA | VYRE_NUMERIC_DIVISION | VYRE_NUMERIC_ZERO_ORDER)
#define NARROW (SPIRV_INT8 | SPIRV_INT16 | SPIRV_STORAGE8 | SPIRV_STORAGE16)

const emitted_target emitted_targets[] = {
  [EMITTED_LEAST] = { "least", "vulkan1.1",
                      { .version = 0x10300, .push_bytes = 128, .storage_buffers = 64, .uniform_bytes = 16384,
                        .numeric = ALL_PROMISES },
                      everywhere },
  /* 1.1 with many extensions, and no 64 bits. */
  [EMITTED_OLD] = { "old", "vulkan1.1",
                    { .features = LANES | SPIRV_MEMORY_MODEL | CONTROLS | SPIRV_STORAGE16,
                      .version = 0x10300, .push_bytes = 128, .storage_buffers = 64, .uniform_bytes = 16384,
                      .numeric = ALL_PROMISES, .subgroup_size = 16, .subgroup_sizes = 63 },
                    everywhere | VYRE_NEED_SUBGROUP },
  [EMITTED_ALL] = { "all", "vulkan1.3",
                    { .features = LANES | WIDE | CONTROLS | NARROW | SPIRV_MEMORY_MODEL | SPIRV_ADDRESSES |
                                  SPIRV_ZERO_WORKGROUP,
                      .version = 0x10600, .push_bytes = 256, .storage_buffers = 64, .uniform_bytes = 65536,
                      .numeric = ALL_PROMISES, .subgroup_size = 32, .subgroup_sizes = 63 },
                    everywhere | wide | VYRE_NEED_SUBGROUP },
  /* As a device is seen that flushes and divides inexactly. */
  [EMITTED_EXACT] = { "exact", "vulkan1.2",
                      { .features = LANES | WIDE | CONTROLS | SPIRV_MEMORY_MODEL | SPIRV_EXACTLY,
                        .version = 0x10500, .push_bytes = 128, .storage_buffers = 64, .uniform_bytes = 65536,
                        .numeric = ALL_PROMISES, .subgroup_size = 8, .subgroup_sizes = 63 },
                      everywhere | wide | VYRE_NEED_SUBGROUP },
};

uint8_t *emitted_kernel(const vyre_program *program, const emitted_target *t, uint32_t compile_flags) {
  vyre_lower_options o = VYRE_LOWER_OPTIONS_INIT;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program_info info;
  uint8_t *kernel;
  size_t bytes;
  o.compile_flags = compile_flags | VYRE_COMPILE_ULP;
  o.ulp_budget = 1;
  o.needs = t->needs;
  o.numeric = t->target.numeric;
  o.opcodes = spirv_opcodes;
  o.opcode_count = spirv_opcode_count;
  vyre_program_describe(program, &info);
  if ((info.needs & ~t->needs) != 0) return NULL;
  if (vyre_lower(program, &o, &kernel, &bytes, &error) != VYRE_OK) ck_abort_msg("%s: %s", t->name, error.text);
  return kernel;
}

void emitted_modules(const uint8_t *kernel, const emitted_target *t, gpu_bytes *code, spirv_facts *facts) {
  const vyre_kernel_header *h;
  vyre_error error = VYRE_ERROR_INIT;
  uint32_t bytes = ((const vyre_kernel_header *)(const void *)kernel)->bytes;
  if (gpu_kernel_open(kernel, bytes, &h, &error) != VYRE_OK || spirv_emit(h, &t->target, code, facts, &error) != VYRE_OK)
    ck_abort_msg("%s: %s", t->name, error.text);
  uint32_t missing = facts->features & ~t->target.features;
  ck_assert_msg(missing == 0, "%s: uses features 0x%x that the target has not", t->name, missing);
}

/* ---- spirv-val ------------------------------------------------------------------------------- */

static int run(const char *const *words) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    dup2(2, 1);
    execvp(words[0], (char *const *)words);
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

bool emitted_can_validate(void) { return run((const char *const[]){ "spirv-val", "--version", NULL }) == 0; }

void emitted_validate(const emitted_target *t, const gpu_bytes *code, const spirv_facts *facts, const char *what) {
  for (int mode = 0; mode < SPIRV_MODES; mode++) {
    char path[] = "/tmp/vyre-module-XXXXXX";
    size_t bytes = facts->module_bytes[mode];
    if (bytes == 0) continue;
    int file = mkstemp(path);
    ck_assert(file >= 0);
    ck_assert_int_eq(write(file, code->data + facts->module_offset[mode], bytes), (ssize_t)bytes);
    close(file);
    int status = run((const char *const[]){ "spirv-val", "--target-env", t->environment, path, NULL });
    ck_assert_msg(status == 0, "%s, mode %d: spirv-val ends with %d, %s is left\n%s", t->name, mode, status, path, what);
    unlink(path);
  }
}

int emitted_check(const vyre_program *program, const emitted_target *t, const char *what) {
  gpu_bytes code = { .data = NULL }, again = { .data = NULL };
  spirv_facts facts, facts_again;
  uint8_t *kernel = emitted_kernel(program, t, 0);
  if (kernel == NULL) return 0;
  emitted_modules(kernel, t, &code, &facts);
  emitted_modules(kernel, t, &again, &facts_again);
  ck_assert_msg(code.count == again.count && memcmp(code.data, again.data, code.count) == 0, "not the same bytes again");
  emitted_validate(t, &code, &facts, what);
  gpu_bytes_free(&code);
  gpu_bytes_free(&again);
  free(kernel);
  return 1;
}
