/* The kernel of a request, for plugins that take the kernel form: lowered for the opcodes that their descriptor lists
 * and the capabilities of the target. */
#include <stdlib.h>

#include <vyre/lower.h>

#include "backend/objects.h"

vyre_status vyre_request_kernel(const vyre_backend_desc *desc, const vyre_capabilities *target,
                                const vyre_program *program, vyre_compile_request *request, vyre_error *error) {
  static const vyre_opcode_support none = { 0, 0, 0 };
  if ((desc->flags & VYRE_BACKEND_TAKES_KERNEL) == 0) return VYRE_OK;
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  options.flags = VYRE_LOWER_COUNT_MASKED;
  options.compile_flags = request->flags;
  options.ulp_budget = request->ulp_budget;
  options.subgroup_size = request->subgroup_size;
  options.steps = request->steps;
  options.needs = target->needs;
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

void vyre_request_free_kernel(vyre_compile_request *request) {
  free((void *)(uintptr_t)request->kernel);
  request->kernel = NULL;
  request->kernel_bytes = 0;
}
