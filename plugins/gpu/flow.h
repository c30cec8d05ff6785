/* Whether the instructions of a kernel nest as its structure says. */
#ifndef GPU_FLOW_H
#define GPU_FLOW_H

#include "plugins/gpu/kernel.h"

/* Blocks of each entry point open and end in order, operands that name instructions name those of their own block, jumps
 * name the innermost loop, and a continuing part has no jump. The kernel's operands have been seen to be in range.
 * Errors: INVALID_FILE with the number of the instruction, NO_MEMORY. */
vyre_status gpu_check_flow(const vyre_kernel_header *kernel, vyre_error *error);

#endif
