/* vyre emit: what a program becomes on its way to a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vyre/device.h>
#include <vyre/lower.h>
#include <vyre/opt.h>

#include "commands.h"
#include "data.h"
#include "files.h"
#include "output.h"
#include "program.h"
#include "session.h"
#include "specs.h"

/* A number of an option, if that is given, between |least| and |most|. */
static int read_number(const parsed_options *o, option_id id, uint64_t least, uint64_t most, uint64_t *value) {
  const char *text = options_get(o, id);
  if (!text) return OUTPUT_DONE;
  if (data_parse_count(text, value) && *value >= least && *value <= most) return OUTPUT_DONE;
  output_complain("emit: --%s %.80s: wants a number from %llu to %llu. Fix: give such a number.", option_rows[id].name,
                  text, (unsigned long long)least, (unsigned long long)most);
  return OUTPUT_USAGE;
}

static int read_options(const parsed_options *o, vyre_compile_options *out) {
  uint64_t ulp = VYRE_ULP_UNSET, subgroup = 0, level = VYRE_LEVEL_UNSET;
  int result = read_number(o, OPT_ULP, 0, VYRE_ULP_UNSET - 1, &ulp);
  if (result == OUTPUT_DONE) result = read_number(o, OPT_STEPS, 1, UINT64_MAX, &out->steps);
  if (result == OUTPUT_DONE) result = read_number(o, OPT_SUBGROUP, 1, 32, &subgroup);
  if (result == OUTPUT_DONE) result = read_number(o, OPT_OPT_LEVEL, 0, 2, &level);
  out->ulp = (uint32_t)ulp;
  out->subgroup_size = (uint32_t)subgroup;
  out->level = (uint32_t)level;
  return result;
}

/* ---- The kernel form ----------------------------------------------------------------------- */

/* Options of the call win over attributes of the program. */
static vyre_lower_options lower_options(const vyre_program *program, const vyre_compile_options *call) {
  vyre_lower_options out = VYRE_LOWER_OPTIONS_INIT;
  vyre_program_info info;
  vyre_program_describe(program, &info);
  uint32_t ulp = call->ulp != VYRE_ULP_UNSET ? call->ulp : info.ulp;
  if (ulp != VYRE_ULP_UNSET) out.compile_flags |= VYRE_COMPILE_ULP;
  if (call->steps != 0) out.compile_flags |= VYRE_COMPILE_STEPS;
  if ((info.attributes & VYRE_PROGRAM_CONTRACT) != 0) out.compile_flags |= VYRE_COMPILE_CONTRACT;
  if ((info.attributes & VYRE_PROGRAM_FLUSH) != 0) out.compile_flags |= VYRE_COMPILE_FLUSH;
  out.ulp_budget = ulp != VYRE_ULP_UNSET ? ulp : 0;
  out.subgroup_size = call->subgroup_size != 0 ? call->subgroup_size : info.subgroup;
  out.steps = call->steps;
  return out;
}

/* A spec constant is numbered as its parameter is, and lowering wants them in that order. */
static uint64_t number_specs(const vyre_program *program, const vyre_compile_options *call, vyre_spec_constant *out) {
  uint64_t count = 0;
  vyre_param_info param;
  for (uint32_t id = 0; vyre_program_param(program, id, &param); id++)
    for (uint32_t i = 0; i < call->spec_count; i++)
      if (strcmp(call->specs[i].name, param.name) == 0)
        out[count++] = (vyre_spec_constant){id, param.type, call->specs[i].bits};
  return count;
}

/* As it is optimized for backends that compile, by the settings where the call leaves that open; with
 * a step limit as it is written. */
static int optimize(const parsed_options *o, const loaded_program *p, const vyre_compile_options *call,
                    vyre_program **out) {
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  vyre_spec_constant *specs = calloc(call->spec_count + (size_t)1, sizeof *specs);
  vyre_error error = VYRE_ERROR_INIT;
  session s;
  *out = NULL;
  if (!specs) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  options.spec = specs;
  options.spec_count = number_specs(p->program, call, specs);
  int result = session_load(o, &s);
  if (result == OUTPUT_DONE) {
    vyre_config_value setting;
    vyre_config_get(s.config, VYRE_CONFIG_OPTIMIZER_LEVEL, &setting);
    options.level = call->level != VYRE_LEVEL_UNSET ? call->level : (uint32_t)setting.number;
    if (call->steps != 0) options.level = 0;
    if (vyre_optimize(p->program, &options, out, NULL, &error) != VYRE_OK) result = output_error(p->path, &error);
  }
  session_close(&s);
  free(specs);
  return result;
}

static int emit_kernel(const loaded_program *p, const vyre_program *optimized, const vyre_compile_options *call,
                       const char *path) {
  vyre_lower_options options = lower_options(p->program, call);
  vyre_error error = VYRE_ERROR_INIT;
  uint8_t *kernel = NULL;
  size_t bytes, length;
  char *text = NULL;
  vyre_spec_constant *specs = calloc(call->spec_count + (size_t)1, sizeof *specs);
  if (!specs) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  options.spec = specs;
  options.spec_count = number_specs(p->program, call, specs);
  options.fingerprint = vyre_program_fingerprint(p->program);
  vyre_status status = vyre_lower(optimized, &options, &kernel, &bytes, &error);
  free(specs);
  if (status == VYRE_OK) status = vyre_kernel_print(kernel, bytes, &text, &length, &error);
  int result = status == VYRE_OK ? files_write(path, text, length) : output_error(p->path, &error);
  free(kernel);
  free(text);
  return result;
}

/* ---- What a backend makes of it ------------------------------------------------------------ */

/* The backend of --target: its name, and its file if that is what was given. */
typedef struct target_backend {
  char name[VYRE_BACKEND_MAX_NAME + 1];
  const char *file; /* NULL for one that is looked for */
} target_backend;

static bool find_target(const char *target, target_backend *out) {
  const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
  size_t length = strlen(name), before = slash ? strlen(VYRE_BACKEND_PREFIX) : 0;
  size_t behind = slash ? strlen(VYRE_BACKEND_SUFFIX) : 0;
  *out = (target_backend){.file = slash ? target : NULL};
  if (length <= before + behind || length - before - behind > VYRE_BACKEND_MAX_NAME) return false;
  if (slash && (strncmp(name, VYRE_BACKEND_PREFIX, before) != 0 ||
                strcmp(name + length - behind, VYRE_BACKEND_SUFFIX) != 0))
    return false;
  memcpy(out->name, name + before, length - before - behind);
  return true;
}

/* The backend's own profile called |name|, its first for NULL. NOT_FOUND if there is none. */
static vyre_status find_profile(vyre_context *context, const target_backend *target, const char *name,
                                vyre_capabilities *out, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; status == VYRE_OK; i++) {
    out->size = sizeof *out;
    status = vyre_backend_profile(context, target->name, i, out, error);
    if (status == VYRE_OK && (!name || strcmp(out->profile, name) == 0)) return VYRE_OK;
  }
  return status;
}

static int choose_profile(const session *s, const parsed_options *o, const target_backend *target,
                          vyre_capabilities *out) {
  vyre_error error = VYRE_ERROR_INIT;
  const char *name = options_get(o, OPT_TARGET_PROFILE);
  vyre_status status = find_profile(s->context, target, NULL, out, &error);
  if (status != VYRE_OK || !name) return status == VYRE_OK ? OUTPUT_DONE : output_error(target->name, &error);
  if (find_profile(s->context, target, name, out, &error) == VYRE_OK) return OUTPUT_DONE;
  if (access(name, F_OK) != 0) {
    output_complain("emit: --profile %s: %s has no such profile, and there is no such file. Fix: give the file of a "
                    "saved profile, or leave it out for %s.", name, target->name, out->profile);
    return OUTPUT_USAGE;
  }
  profile saved;
  int result = program_read_profile(name, &saved);
  *out = saved.capabilities;
  if (result != OUTPUT_DONE || strcmp(saved.backend, target->name) == 0) return result;
  output_complain("emit: --profile %s: it is a profile of %s, and --target is %s. Fix: name the same backend in both.",
                  name, saved.backend, target->name);
  return OUTPUT_USAGE;
}

/* A blob that has no text. */
static int write_bytes(const char *path, const target_backend *target, const uint8_t *blob, size_t bytes) {
  if (strcmp(path, "-") != 0 || !isatty(STDOUT_FILENO)) return files_write(path, blob, bytes);
  output_complain("emit: what %s compiles has no text, and bytes are nothing for a terminal. Fix: add -o FILE.",
                  target->name);
  return OUTPUT_FAILED;
}

static int emit_blob(const session *s, const target_backend *target, const vyre_capabilities *caps,
                     const loaded_program *p, const vyre_compile_options *call, const char *path) {
  vyre_error error = VYRE_ERROR_INIT;
  uint8_t *blob = NULL;
  char *text = NULL;
  size_t bytes, length;
  vyre_status status = vyre_compile_blob(s->context, target->name, caps, p->program, call, &blob, &bytes, &error);
  if (status != VYRE_OK) return output_error(p->path, &error);
  status = vyre_disassemble(s->context, target->name, blob, bytes, &text, &length, &error);
  int result = status == VYRE_OK                ? files_write(path, text, length)
               : status == VYRE_ERR_UNSUPPORTED ? write_bytes(path, target, blob, bytes)
                                                : output_error(target->name, &error);
  free(text);
  free(blob);
  return result;
}

static int emit_backend(const parsed_options *o, const target_backend *target, const loaded_program *p,
                        const vyre_compile_options *call, const char *path) {
  session s;
  vyre_capabilities caps;
  int result = session_load_plugin(o, target->file, &s);
  if (result == OUTPUT_DONE) {
    session_warn(&s);
    result = session_open(&s);
  }
  if (result == OUTPUT_DONE) result = choose_profile(&s, o, target, &caps);
  if (result == OUTPUT_DONE) result = emit_blob(&s, target, &caps, p, call, path);
  session_close(&s);
  return result;
}

/* ---- The command --------------------------------------------------------------------------- */

static int check_usage(const parsed_options *o, const char *path, bool is_kernel, target_backend *target) {
  const char *name = options_get(o, OPT_TARGET);
  if (path && !*path) output_complain("emit: --output names no file. Fix: add -o FILE, or leave it out.");
  else if (!name) output_complain("emit: --target is missing. Fix: add --target kernel, or name a backend.");
  else if (is_kernel && options_has(o, OPT_TARGET_PROFILE))
    output_complain("emit: --profile is for a backend, and the kernel is shown for none. Fix: leave it out.");
  else if (!is_kernel && !find_target(name, target))
    output_complain("emit: --target %.80s is no backend. Fix: give kernel, a backend's name, or the path of a "
                    VYRE_BACKEND_PREFIX "NAME" VYRE_BACKEND_SUFFIX ".", name);
  else return OUTPUT_DONE;
  return OUTPUT_USAGE;
}

int cmd_emit(const parsed_options *o) {
  const char *path = options_get(o, OPT_OUTPUT), *name = options_get(o, OPT_TARGET);
  bool is_kernel = name && strcmp(name, "kernel") == 0;
  target_backend target;
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  int result = check_usage(o, path, is_kernel, &target);
  if (result == OUTPUT_DONE) result = read_options(o, &options);
  if (result != OUTPUT_DONE) return result;
  loaded_program p;
  result = program_load(o->operands[0], o, &p);
  if (p.diagnostics) output_diagnostics(p.path, p.diagnostics);
  vyre_arg *specs = NULL;
  if (result == OUTPUT_DONE) result = specs_read("emit", o, p.program, &specs, &options.spec_count);
  options.specs = specs;
  vyre_program *optimized = NULL;
  if (result == OUTPUT_DONE && is_kernel) result = optimize(o, &p, &options, &optimized);
  if (result == OUTPUT_DONE && is_kernel) result = emit_kernel(&p, optimized, &options, path ? path : "-");
  else if (result == OUTPUT_DONE) result = emit_backend(o, &target, &p, &options, path ? path : "-");
  free(specs);
  vyre_program_release(optimized);
  program_free(&p);
  return result;
}
