/* vyre emit: what a program becomes on its way to a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>

#include "commands.h"
#include "data.h"
#include "files.h"
#include "output.h"
#include "program.h"

static int check_target(const char *target) {
  if (target && strcmp(target, "kernel") == 0) return OUTPUT_DONE;
  if (target) output_complain("emit: there is no target '%.80s'. Fix: add --target kernel.", target);
  else output_complain("emit: --target is missing. Fix: add --target kernel.");
  return OUTPUT_USAGE;
}

/* A number of an option, if that is given, between |least| and |most|. */
static int read_number(const parsed_options *o, option_id id, uint64_t least, uint64_t most, uint64_t *value) {
  const char *text = options_get(o, id);
  if (!text) return OUTPUT_DONE;
  if (data_parse_count(text, value) && *value >= least && *value <= most) return OUTPUT_DONE;
  output_complain("emit: --%s %.80s: wants a number from %llu to %llu. Fix: give such a number.", option_rows[id].name,
                  text, (unsigned long long)least, (unsigned long long)most);
  return OUTPUT_USAGE;
}

/* Options of the call win over attributes of the program. */
static int read_options(const parsed_options *o, const vyre_program *program, vyre_lower_options *out) {
  vyre_program_info info;
  vyre_program_describe(program, &info);
  uint64_t ulp = info.ulp, steps = 0, subgroup = info.subgroup;
  int result = read_number(o, OPT_ULP, 0, VYRE_ULP_UNSET - 1, &ulp);
  if (result == OUTPUT_DONE) result = read_number(o, OPT_STEPS, 1, UINT64_MAX, &steps);
  if (result == OUTPUT_DONE) result = read_number(o, OPT_SUBGROUP, 1, 32, &subgroup);
  if (ulp != VYRE_ULP_UNSET) out->compile_flags |= VYRE_COMPILE_ULP;
  if (steps != 0) out->compile_flags |= VYRE_COMPILE_STEPS;
  if ((info.attributes & VYRE_PROGRAM_CONTRACT) != 0) out->compile_flags |= VYRE_COMPILE_CONTRACT;
  if ((info.attributes & VYRE_PROGRAM_FLUSH) != 0) out->compile_flags |= VYRE_COMPILE_FLUSH;
  out->ulp_budget = ulp != VYRE_ULP_UNSET ? (uint32_t)ulp : 0;
  out->subgroup_size = (uint32_t)subgroup;
  out->steps = steps;
  return result;
}

static int emit_kernel(const loaded_program *p, const vyre_lower_options *options, const char *path) {
  vyre_error error = VYRE_ERROR_INIT;
  uint8_t *kernel = NULL;
  size_t bytes, length;
  char *text = NULL;
  vyre_status status = vyre_lower(p->program, options, &kernel, &bytes, &error);
  if (status == VYRE_OK) status = vyre_kernel_print(kernel, bytes, &text, &length, &error);
  int result = status == VYRE_OK ? files_write(path, text, length) : output_error(p->path, &error);
  free(kernel);
  free(text);
  return result;
}

int cmd_emit(const parsed_options *o) {
  const char *path = options_get(o, OPT_OUTPUT);
  int result = check_target(options_get(o, OPT_TARGET));
  if (result != OUTPUT_DONE) return result;
  if (path && !*path) {
    output_complain("emit: --output names no file. Fix: add -o FILE, or leave it out.");
    return OUTPUT_USAGE;
  }
  loaded_program p;
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  result = program_load(o->operands[0], o, &p);
  if (p.diagnostics) output_diagnostics(p.path, p.diagnostics);
  if (result == OUTPUT_DONE) result = read_options(o, p.program, &options);
  if (result == OUTPUT_DONE) result = emit_kernel(&p, &options, path ? path : "-");
  program_free(&p);
  return result;
}
