/* Compiling for a record, which needs no device. */
#ifndef VULKAN_COMPILE_H
#define VULKAN_COMPILE_H

#include "plugins/gpu/kernel.h"

vyre_status vulkan_compile(const vyre_host *host, const vyre_capabilities *target, const vyre_compile_request *request,
                           vyre_bytes *blob, vyre_error *error);
vyre_status vulkan_disassemble(const vyre_host *host, const void *blob, uint64_t bytes, vyre_bytes *text,
                               vyre_error *error);
/* The last part of compiling: a kernel that has been opened becomes a blob.
 * Errors: UNSUPPORTED, LIMIT, NO_MEMORY. */
vyre_status vulkan_emit(const vyre_host *host, const vyre_capabilities *target, const vyre_kernel_header *kernel,
                        vyre_bytes *out, vyre_error *error);

#endif
