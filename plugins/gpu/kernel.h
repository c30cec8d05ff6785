/* The kernel form as a GPU backend reads it.
 *
 * Kernels of a compile request have passed libvyre's verifier; the launch part that a blob keeps may come from anywhere.
 * gpu_kernel_open looks at every number of either and at how blocks nest, so that a wrong kernel gives wrong code at
 * worst: types, and definition on each path before use, are the verifier's alone. */
#ifndef GPU_KERNEL_H
#define GPU_KERNEL_H

#include <vyre/kernel.h>

#include "plugins/gpu/answer.h"
#include "plugins/gpu/bytes.h"

/* What arg[0..3] of an opcode hold, as the columns k0 to k3 of kernel_ops.def. */
enum { GPU_NO, GPU_VA, GPU_OV, GPU_AC, GPU_SL, GPU_PA, GPU_BI, GPU_SP, GPU_HW, GPU_IN, GPU_LI, GPU_IM };
typedef struct gpu_opcode {
  const char *spelling; /* NULL: there is no such opcode */
  uint8_t kind[4];      /* GPU_NO ... */
} gpu_opcode;
/* The record of an opcode; its spelling is NULL for numbers that are not known. */
gpu_opcode gpu_opcode_of(uint32_t op);

/* Checks magic, form, tables, opcodes, flags, that every number leads into its table, and nesting. |*out| points into |kernel|,
 * which has to be aligned to 8.
 * Errors: UNSUPPORTED (another form, an opcode or flag that is not known, by its number), INVALID_FILE. */
vyre_status gpu_kernel_open(const void *kernel, uint64_t bytes, const vyre_kernel_header **out, vyre_error *error);
/* Appends a kernel that has only what launching reads: header, entries, params, bindings, shared and local arrays,
 * constant tables, hidden bindings and words, specs, strings. It begins at the next multiple of 8. */
void gpu_kernel_keep(const vyre_kernel_header *kernel, gpu_bytes *b);

static inline bool gpu_is(vyre_kernel_type a, vyre_kernel_class cls, uint32_t bits) {
  return a.cls == (uint8_t)cls && a.bits == bits;
}
static inline bool gpu_same(vyre_kernel_type a, vyre_kernel_type b) {
  return a.cls == b.cls && a.bits == b.bits && a.lanes == b.lanes;
}
/* Bytes that an element takes in memory: bool 4, a vector all its components. */
static inline uint32_t gpu_element_bytes(vyre_kernel_type type) {
  return (type.cls == VYRE_KERNEL_CLASS_BOOL ? 4u : type.bits / 8u) * type.lanes;
}
/* The number in enum vyre_type; VYRE_TYPE_NONE for one that the form has not. */
uint32_t gpu_type_number(vyre_kernel_type type);
/* "u32", "f32x4"; "?" for one that the form has not. */
const char *gpu_type_name(vyre_kernel_type type);

/* Hidden binding or word of a kind: its number in the table, or -1. */
int gpu_hidden_binding(const vyre_kernel_header *kernel, vyre_kernel_hidden_kind kind);
int gpu_hidden_word(const vyre_kernel_header *kernel, vyre_kernel_word kind);

static inline const vyre_kernel_value *gpu_value(const vyre_kernel_header *h, uint32_t i) {
  return VYRE_KERNEL_AT(vyre_kernel_value, h, values, i);
}
static inline const vyre_kernel_insn *gpu_insn(const vyre_kernel_header *h, uint32_t i) {
  return VYRE_KERNEL_AT(vyre_kernel_insn, h, insns, i);
}
static inline const vyre_kernel_access *gpu_access(const vyre_kernel_header *h, uint32_t i) {
  return VYRE_KERNEL_AT(vyre_kernel_access, h, accesses, i);
}
static inline const vyre_kernel_entry *gpu_entry(const vyre_kernel_header *h, uint32_t i) {
  return VYRE_KERNEL_AT(vyre_kernel_entry, h, entries, i);
}

#endif
