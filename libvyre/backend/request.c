/* What a plugin is asked to compile. Options of the call, the program and the settings become one final set; with the
 * program in the forms that the plugin takes they are the request. */
#include <stdlib.h>
#include <string.h>

#include <vyre/wire.h>

#include "backend/objects.h"
#include "base/error.h"

/* |config| may be NULL: then nothing is set. */
static uint64_t setting(const vyre_config *config, vyre_config_key key, uint64_t otherwise) {
  vyre_config_value value = { 0 };
  if (config != NULL) vyre_config_get(config, key, &value);
  return value.is_set ? value.number : otherwise;
}

/* The number of the parameter called |name|, in |info|; UINT32_MAX if there is none. They mostly come in the program's
 * order, so a search goes on at *hint. */
static uint32_t find_param(const vyre_program *program, uint32_t count, const char *name, uint32_t *hint,
                           vyre_param_info *info) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = (*hint + i) % count;
    if (!vyre_program_param(program, at, info) || strcmp(info->name, name) != 0) continue;
    *hint = at + 1;
    return at;
  }
  return UINT32_MAX;
}

static vyre_status take_spec(const vyre_program *program, uint32_t count, const vyre_arg *arg, uint32_t *hint,
                             vyre_spec_constant *by_param, vyre_error *error) {
  vyre_param_info info;
  if (arg->kind != VYRE_ARG_PARAM || arg->flags != 0 || arg->name == NULL)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "specs",
                     "What is compiled in are values of parameters. Fix: give vyre_arg_u32 and the like.");
  uint32_t at = find_param(program, count, arg->name, hint, &info);
  if (at == UINT32_MAX)
    return vyre_fail(error, VYRE_ERR_NOT_FOUND, arg->name,
                     "The program has no parameter called %s that could be compiled in. Fix: name one that it "
                     "declares.", arg->name);
  if (arg->type != info.type)
    return vyre_fail(error, VYRE_ERR_MISSING_BINDING, arg->name,
                     "Parameter %s has type %s and is given a %s. Fix: give a value of its type.", arg->name,
                     vyre_type_describe(info.type)->spelling, vyre_type_describe(arg->type)->spelling);
  if (by_param[at].id != UINT32_MAX)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, arg->name, "%s is given twice. Fix: give it once.", arg->name);
  uint32_t bytes = vyre_type_describe(info.type)->bytes;
  uint64_t mask = bytes < 8 ? (1ull << 8 * bytes) - 1 : UINT64_MAX;
  uint64_t bits = info.type == VYRE_TYPE_BOOL ? arg->bits != 0 : arg->bits & mask;
  by_param[at] = (vyre_spec_constant){ at, info.type, bits };
  return VYRE_OK;
}

/* The values that the call compiles in, by ascending number of their parameters. */
static vyre_status take_specs(const vyre_program *program, uint32_t count, const vyre_compile_options *call,
                              vyre_final_options *out, vyre_error *error) {
  if (call->spec_count == 0) return VYRE_OK;
  vyre_spec_constant *specs = malloc((count + (size_t)1) * sizeof *specs);
  if (specs == NULL) return vyre_fail_memory(error, "compile");
  for (uint32_t i = 0; i < count; i++) specs[i].id = UINT32_MAX;
  vyre_status status = VYRE_OK;
  uint32_t hint = 0;
  for (uint32_t i = 0; i < call->spec_count && status == VYRE_OK; i++)
    status = take_spec(program, count, &call->specs[i], &hint, specs, error);
  for (uint32_t i = 0; i < count; i++)
    if (specs[i].id != UINT32_MAX) specs[out->spec_count++] = specs[i];
  out->spec = specs;
  if (status != VYRE_OK) vyre_options_free(out);
  return status;
}

void vyre_options_free(vyre_final_options *options) {
  free(options->spec);
  *options = (vyre_final_options){ 0 };
}

vyre_status vyre_options_merge(const vyre_config *config, const vyre_program *program,
                               const vyre_compile_options *call, vyre_final_options *out, vyre_error *error) {
  static const vyre_compile_options none = VYRE_COMPILE_OPTIONS_INIT;
  const uint32_t known = VYRE_OPTION_CONTRACT | VYRE_OPTION_FLUSH | VYRE_OPTION_UNCHECKED;
  vyre_program_info what, *info = &what;
  *out = (vyre_final_options){ 0 };
  vyre_program_describe(program, info);
  if (call == NULL) call = &none;
  if (call->size != sizeof *call || (call->flags & ~known) != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "options",
                     "The compile options have size %u and flags 0x%X; %zu and bits of 0x%X are known. Fix: start from "
                     "VYRE_COMPILE_OPTIONS_INIT.",
                     call->size, call->flags, sizeof *call, known);
  if (call->level > 2 && call->level != VYRE_LEVEL_UNSET)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "level",
                     "Optimization of level %u is asked for. Fix: ask for 0, 1 or 2, or VYRE_LEVEL_UNSET for what is"
                     " set.", call->level);
  if (call->subgroup_size > 32 || (call->subgroup_size & (call->subgroup_size - 1)) != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "subgroup_size",
                     "A subgroup size of %u is asked for. Fix: ask for 1, 2, 4, 8, 16 or 32, or 0 for any.",
                     call->subgroup_size);
  if (call->subgroup_size != 0 && info->subgroup != 0 && call->subgroup_size != info->subgroup)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "subgroup_size",
                     "The program says subgroup(%u) and the call asks for %u. Fix: ask for the program's size, or for "
                     "none.",
                     info->subgroup, call->subgroup_size);
  *out = (vyre_final_options){ .ulp = call->ulp, .subgroup = call->subgroup_size, .level = call->level,
                               .steps = call->steps };
  if (out->ulp == VYRE_ULP_UNSET) out->ulp = info->ulp;
  if (out->ulp == VYRE_ULP_UNSET) out->ulp = (uint32_t)setting(config, VYRE_CONFIG_RUN_ULP, VYRE_ULP_UNSET);
  if (out->subgroup == 0) out->subgroup = info->subgroup;
  if (out->level == VYRE_LEVEL_UNSET) out->level = (uint32_t)setting(config, VYRE_CONFIG_OPTIMIZER_LEVEL, 2);
  if (out->steps == 0) out->steps = setting(config, VYRE_CONFIG_RUN_STEPS, 0);
  if (out->steps != 0) out->level = 0; /* the limit counts the turns of loops as they are written */
  if (out->ulp != VYRE_ULP_UNSET) out->flags |= VYRE_COMPILE_ULP;
  if (out->steps != 0) out->flags |= VYRE_COMPILE_STEPS;
  if ((call->flags & VYRE_OPTION_CONTRACT) != 0 || (info->attributes & VYRE_PROGRAM_CONTRACT) != 0)
    out->flags |= VYRE_COMPILE_CONTRACT;
  if ((call->flags & VYRE_OPTION_FLUSH) != 0 || (info->attributes & VYRE_PROGRAM_FLUSH) != 0)
    out->flags |= VYRE_COMPILE_FLUSH;
  if ((call->flags & VYRE_OPTION_UNCHECKED) != 0) out->flags |= VYRE_COMPILE_UNCHECKED;
  return take_specs(program, info->param_count, call, out, error);
}

static void pass_remark(void *ctx, uint32_t severity, uint32_t code, uint32_t statement, const char *text) {
  const vyre_compile_options *call = ctx;
  call->remark(call->remark_ctx, (vyre_log_level)severity, code, statement, text);
}

vyre_status vyre_request_make(const vyre_context *context, const vyre_backend_desc *desc,
                              const vyre_capabilities *target, const vyre_program *program,
                              const vyre_final_options *options, const vyre_compile_options *call,
                              vyre_request *out, vyre_error *error) {
  bool has_remark = call != NULL && call->remark != NULL;
  size_t wire_bytes;
  *out = (vyre_request){ .record.size = sizeof out->record };
  if (vyre_wire_encode(program, &out->wire, &wire_bytes) != VYRE_OK) return vyre_fail_memory(error, "compile");
  if (has_remark) out->call = *call;
  out->record = (vyre_compile_request){
    .size = sizeof out->record,
    .flags = options->flags,
    .wire = out->wire,
    .wire_bytes = wire_bytes,
    .ulp_budget = (options->flags & VYRE_COMPILE_ULP) != 0 ? options->ulp : 0,
    .subgroup_size = options->subgroup,
    .steps = options->steps,
    .spec = options->spec,
    .spec_count = options->spec_count,
    .remark = has_remark ? pass_remark : NULL,
    .remark_ctx = &out->call,
  };
  memcpy(out->record.fingerprint, vyre_program_fingerprint(program), VYRE_FINGERPRINT_BYTES);
  vyre_status status = vyre_request_kernel(context, desc, target, program, options->level, out, error);
  if (status != VYRE_OK) vyre_request_free(out);
  return status;
}

void vyre_request_free(vyre_request *request) {
  vyre_request_free_kernel(request);
  free(request->wire);
  request->wire = NULL;
}
