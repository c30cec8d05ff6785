/* Programs as PTX. */
#include "tests/cuda/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char gpu_name[] = "cuda";

static vyre_status kernel_of(const vyre_program *program, const module_options *o, uint8_t **kernel, size_t *bytes,
                             vyre_error *error) {
  vyre_lower_options lower = VYRE_LOWER_OPTIONS_INIT;
  vyre_program_info info;
  vyre_program_describe(program, &info);
  lower.opcodes = ptx_opcodes;
  lower.opcode_count = PTX_OPCODE_COUNT;
  lower.needs = PTX_NEEDS;
  lower.compile_flags = o->compile_flags | VYRE_COMPILE_ULP;
  lower.ulp_budget = o->ulp != 0 || info.ulp == VYRE_ULP_UNSET ? o->ulp : info.ulp;
  if ((info.attributes & VYRE_PROGRAM_CONTRACT) != 0) lower.compile_flags |= VYRE_COMPILE_CONTRACT;
  if ((info.attributes & VYRE_PROGRAM_FLUSH) != 0) lower.compile_flags |= VYRE_COMPILE_FLUSH;
  if (o->steps != 0) lower.compile_flags |= VYRE_COMPILE_STEPS;
  lower.steps = o->steps;
  lower.subgroup_size = o->subgroup != 0 ? o->subgroup : info.subgroup;
  return vyre_lower(program, &lower, kernel, bytes, error);
}

vyre_status module_of(const vyre_program *program, const module_options *o, gpu_bytes *text, ptx_facts *facts,
                      uint8_t **kernel, vyre_error *error) {
  vyre_program *optimized = NULL;
  uint8_t *block = NULL;
  size_t bytes;
  const vyre_kernel_header *header;
  vyre_status status = VYRE_OK;
  if (o->level != 0) {
    vyre_opt_options opt = VYRE_OPT_OPTIONS_INIT;
    opt.level = o->level;
    status = vyre_optimize(program, &opt, &optimized, NULL, error);
  }
  if (status == VYRE_OK) status = kernel_of(optimized != NULL ? optimized : program, o, &block, &bytes, error);
  if (status == VYRE_OK) status = gpu_kernel_open(block, bytes, &header, error);
  if (status == VYRE_OK) status = ptx_emit(header, &o->target, text, facts, error);
  if (optimized != NULL) vyre_program_release(optimized);
  if (kernel != NULL && status == VYRE_OK) *kernel = block;
  else free(block);
  return status;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void add_line(module_batch *b, const char *line, size_t length) {
  static const char entry[] = ".visible .entry ", table[] = "table_", shared[] = ".extern .shared";
  if (strncmp(line, shared, sizeof shared - 1) == 0) {
    b->dynamic = true;
    return;
  }
  for (size_t i = 0; i < length; i++) {
    bool is_entry = strncmp(line + i, entry, sizeof entry - 1) == 0;
    bool is_table = strncmp(line + i, table, sizeof table - 1) == 0;
    if (is_entry) {
      gpu_bytes_format(&b->text, "%sm%u_", entry, b->count);
      i += sizeof entry - 2;
      continue;
    }
    if (is_table && (i == 0 || line[i - 1] == ' ')) gpu_bytes_format(&b->text, "m%u_", b->count);
    gpu_bytes_add(&b->text, line + i, 1);
  }
  gpu_bytes_add(&b->text, "\n", 1);
}

void module_join(module_batch *b, const char *text, const ptx_facts *facts) {
  if (facts->sm > b->sm) b->sm = facts->sm;
  if (facts->version > b->version) b->version = facts->version;
  for (uint32_t top = 0; top < 3; top++) text = strchr(text, '\n') + 1;
  for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) add_line(b, text, (size_t)(end - text));
  b->count++;
}

bool module_write(module_batch *b, const char *path) {
  FILE *file = fopen(path, "w");
  bool good = file != NULL && !b->text.failed;
  if (good) {
    fprintf(file, ".version %u.%u\n.target sm_%u\n.address_size 64\n%s", b->version / 10, b->version % 10, b->sm,
            b->dynamic ? ".extern .shared .align 16 .b8 shared_memory[];\n" : "");
    good = fwrite(b->text.data, 1, b->text.count, file) == b->text.count;
  }
  if (file != NULL) good &= fclose(file) == 0;
  gpu_bytes_free(&b->text);
  *b = (module_batch){ 0 };
  return good;
}
