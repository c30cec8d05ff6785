/* The kernel of a request, for plugins that take the kernel form: the optimized program, lowered for the opcodes that
 * their descriptor lists and the capabilities of the target. */
#include <stdlib.h>

#include <vyre/lower.h>

#include "backend/objects.h"

static vyre_status lower(const vyre_backend_desc *desc, const vyre_capabilities *target, const vyre_program *program,
                         vyre_compile_request *request, vyre_error *error) {
  static const vyre_opcode_support none = { 0, 0, 0 };
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  options.flags = VYRE_LOWER_COUNT_MASKED;
  options.compile_flags = request->flags;
  options.ulp_budget = request->ulp_budget;
  options.subgroup_size = request->subgroup_size;
  options.steps = request->steps;
  options.needs = target->needs;
  options.numeric = target->numeric;
  options.fingerprint = request->fingerprint;
  options.spec = request->spec;
  options.spec_count = request->spec_count;
  options.opcodes = desc->opcodes != NULL ? desc->opcodes : &none;
  options.opcode_count = desc->opcodes != NULL ? desc->opcode_count : 0;
  uint8_t *kernel;
  size_t bytes;
  vyre_status status = vyre_lower(program, &options, &kernel, &bytes, error);
  request->kernel = kernel;
  request->kernel_bytes = bytes;
  return status;
}

static void take_program(vyre_request *request, const vyre_program *program) {
  vyre_program_release(request->compiled);
  request->compiled = vyre_program_retain((vyre_program *)program);
}

/* What was refused may be of the optimizer's making, as a program that became too long: the one as written decides. */
vyre_status vyre_request_kernel(const vyre_context *context, const vyre_backend_desc *desc,
                                const vyre_capabilities *target, const vyre_program *program, uint32_t level,
                                vyre_request *request, vyre_error *error) {
  if ((desc->flags & VYRE_BACKEND_TAKES_KERNEL) == 0) {
    take_program(request, program);
    return VYRE_OK;
  }
  vyre_status status = vyre_request_optimize(context, program, level, &request->record, &request->compiled, error);
  if (status != VYRE_OK) return status;
  status = lower(desc, target, request->compiled, &request->record, error);
  if (status == VYRE_OK || status == VYRE_ERR_NO_MEMORY || request->compiled == program) return status;
  take_program(request, program);
  return lower(desc, target, program, &request->record, error);
}

void vyre_request_free_kernel(vyre_request *request) {
  free((void *)(uintptr_t)request->record.kernel);
  request->record.kernel = NULL;
  request->record.kernel_bytes = 0;
  vyre_program_release(request->compiled);
  request->compiled = NULL;
}
