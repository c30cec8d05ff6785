/* Programs as PTX: read or made from a seed, optimized, lowered for what the emitter takes, emitted. */
#ifndef VYRE_TESTS_CUDA_MODULES_H
#define VYRE_TESTS_CUDA_MODULES_H

#include <vyre/lower.h>
#include <vyre/opt.h>

#include "plugins/cuda/ptx.h"

typedef struct module_options {
  uint32_t level; /* of optimization; 0 lowers the program as it is written */
  uint32_t compile_flags, ulp, subgroup; /* as in vyre_lower_options */
  uint64_t steps;
  ptx_target target;
} module_options;

/* Appends the text of |program|; |kernel|, if it is not NULL, gets the kernel, which the caller frees. */
vyre_status module_of(const vyre_program *program, const module_options *options, gpu_bytes *text, ptx_facts *facts,
                      uint8_t **kernel, vyre_error *error);

/* Modules put together, so that one call of ptxas has many: names get the module's number before them, and the top says
 * the highest version and target. */
typedef struct module_batch {
  gpu_bytes text;
  uint32_t count, sm, version;
  bool dynamic;
} module_batch;
void module_join(module_batch *batch, const char *text, const ptx_facts *facts);
/* Writes what was put together and begins anew. False if the file can't be written. */
bool module_write(module_batch *batch, const char *path);

#endif
