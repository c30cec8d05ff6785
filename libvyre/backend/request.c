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

vyre_status vyre_options_merge(const vyre_config *config, const vyre_program_info *info,
                               const vyre_compile_options *call, vyre_final_options *out, vyre_error *error) {
  *out = (vyre_final_options){ 0 };
  static const vyre_compile_options none = VYRE_COMPILE_OPTIONS_INIT;
  const uint32_t known = VYRE_OPTION_CONTRACT | VYRE_OPTION_FLUSH | VYRE_OPTION_UNCHECKED;
  if (call == NULL) call = &none;
  if (call->size != sizeof *call || (call->flags & ~known) != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "options",
                     "The compile options have size %u and flags 0x%X; %zu and bits of 0x%X are known. Fix: start from "
                     "VYRE_COMPILE_OPTIONS_INIT.",
                     call->size, call->flags, sizeof *call, known);
  if (call->subgroup_size > 32 || (call->subgroup_size & (call->subgroup_size - 1)) != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "subgroup_size",
                     "A subgroup size of %u is asked for. Fix: ask for 1, 2, 4, 8, 16 or 32, or 0 for any.",
                     call->subgroup_size);
  if (call->subgroup_size != 0 && info->subgroup != 0 && call->subgroup_size != info->subgroup)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "subgroup_size",
                     "The program says subgroup(%u) and the call asks for %u. Fix: ask for the program's size, or for "
                     "none.",
                     info->subgroup, call->subgroup_size);
  *out = (vyre_final_options){ .ulp = call->ulp, .subgroup = call->subgroup_size, .steps = call->steps };
  if (out->ulp == VYRE_ULP_UNSET) out->ulp = info->ulp;
  if (out->ulp == VYRE_ULP_UNSET) out->ulp = (uint32_t)setting(config, VYRE_CONFIG_RUN_ULP, VYRE_ULP_UNSET);
  if (out->subgroup == 0) out->subgroup = info->subgroup;
  if (out->steps == 0) out->steps = setting(config, VYRE_CONFIG_RUN_STEPS, 0);
  if (out->ulp != VYRE_ULP_UNSET) out->flags |= VYRE_COMPILE_ULP;
  if (out->steps != 0) out->flags |= VYRE_COMPILE_STEPS;
  if ((call->flags & VYRE_OPTION_CONTRACT) != 0 || (info->attributes & VYRE_PROGRAM_CONTRACT) != 0)
    out->flags |= VYRE_COMPILE_CONTRACT;
  if ((call->flags & VYRE_OPTION_FLUSH) != 0 || (info->attributes & VYRE_PROGRAM_FLUSH) != 0)
    out->flags |= VYRE_COMPILE_FLUSH;
  if ((call->flags & VYRE_OPTION_UNCHECKED) != 0) out->flags |= VYRE_COMPILE_UNCHECKED;
  return VYRE_OK;
}

static void pass_remark(void *ctx, uint32_t severity, uint32_t code, uint32_t statement, const char *text) {
  const vyre_compile_options *call = ctx;
  call->remark(call->remark_ctx, (vyre_log_level)severity, code, statement, text);
}

vyre_status vyre_request_make(const vyre_backend_desc *desc, const vyre_capabilities *target,
                              const vyre_program *program, const vyre_final_options *options,
                              const vyre_compile_options *call, vyre_request *out, vyre_error *error) {
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
    .remark = has_remark ? pass_remark : NULL,
    .remark_ctx = &out->call,
  };
  memcpy(out->record.fingerprint, vyre_program_fingerprint(program), VYRE_FINGERPRINT_BYTES);
  vyre_status status = vyre_request_kernel(desc, target, program, &out->record, error);
  if (status != VYRE_OK) vyre_request_free(out);
  return status;
}

void vyre_request_free(vyre_request *request) {
  vyre_request_free_kernel(&request->record);
  free(request->wire);
  request->wire = NULL;
}
