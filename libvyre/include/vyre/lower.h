/* Lowering: from a program to the kernel form (vyre/kernel.h), and what can be asked of a kernel.
 *
 * Threads: every function may be called from any thread. */
#ifndef VYRE_LOWER_H
#define VYRE_LOWER_H

#include <vyre/backend.h>
#include <vyre/ir.h>
#include <vyre/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  VYRE_LOWER_COUNT_MASKED = 1u << 0 /* ask the backend to count accesses out of range */
};

/* What to lower for. Options are final: attributes of the program, call and settings are merged in, as in
 * vyre_compile_request. */
typedef struct vyre_lower_options {
  uint32_t size;          /* sizeof(vyre_lower_options) */
  uint32_t flags;         /* VYRE_LOWER_* */
  uint32_t compile_flags; /* VYRE_COMPILE_* */
  uint32_t ulp_budget;    /* with VYRE_COMPILE_ULP */
  uint32_t subgroup_size; /* required size; 0 for any */
  uint32_t numeric;       /* VYRE_NUMERIC_* promises of the target; those about fma count here */
  uint64_t steps;         /* with VYRE_COMPILE_STEPS */
  uint64_t needs;         /* VYRE_NEED_* bits that the target satisfies */
  /* Opcodes and types that the target takes; NULL for all of the form. */
  const vyre_opcode_support *opcodes;
  uint64_t opcode_count;
  /* Fingerprint of the program as it was written, where passes have made another of it; NULL for its own. */
  const uint8_t *fingerprint;
  const vyre_spec_constant *spec; /* parameters with a value that is known, by ascending id */
  uint64_t spec_count;
} vyre_lower_options;
#define VYRE_LOWER_OPTIONS_INIT { sizeof(vyre_lower_options), 0, 0, 0, 0, UINT32_MAX, 0, UINT64_MAX, 0, 0, 0, 0, 0 }

/* Lowers a program. The same program and options give the same bytes. The caller frees *out with free().
 * Errors, with *out NULL: UNSUPPORTED (an opcode of these types that the target does not take and that nothing
 * expands, by name; a transcendental that neither the target nor a builder offers within the budget),
 * INVALID_ARGUMENT (options; a transcendental without budget), LIMIT (more than VYRE_KERNEL_MAX_INSNS instructions or
 * VYRE_KERNEL_MAX_BYTES), NO_MEMORY. */
VYRE_API vyre_status vyre_lower(const vyre_program *program, const vyre_lower_options *options, uint8_t **out,
                                size_t *bytes, vyre_error *error);

/* Checks a kernel that may come from anywhere; |kernel| is aligned to 8. What passes obeys every rule of vyre/kernel.h
 * and docs/kernel.md: reading it leaves no table and no block, and every type fits. Whether flow is as uniform as
 * collectives need it, and whether facts and PROVED bounds are true, can not be seen from a kernel.
 * Errors: INVALID_FILE (`where` names the record; what was found), UNSUPPORTED (an opcode, class, flag or version
 * that this library does not know), NO_MEMORY. */
VYRE_API vyre_status vyre_kernel_verify(const void *kernel, size_t bytes, vyre_error *error);

/* A kernel as text for people. It is verified first. The caller frees *out with free(); |length| may be NULL.
 * Errors: those of vyre_kernel_verify. */
VYRE_API vyre_status vyre_kernel_print(const void *kernel, size_t bytes, char **out, size_t *length,
                                       vyre_error *error);

/* What one opcode is: name as in kernel_ops.def, spelling as printed, the sentence that describes it. Static storage;
 * all NULL for a number that is none. */
typedef struct vyre_kernel_op_info {
  const char *name;
  const char *spelling;
  const char *doc;
} vyre_kernel_op_info;
VYRE_API vyre_kernel_op_info vyre_kernel_op_describe(uint32_t op);

#ifdef __cplusplus
}
#endif
#endif
