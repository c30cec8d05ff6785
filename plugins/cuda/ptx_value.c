/* Values of the kernel as operands. */
#include "plugins/cuda/ptx_emit.h"

ptx_type ptx_type_of(vyre_kernel_type type) {
  bool wide = type.bits == 64;
  switch (type.cls) {
    case VYRE_KERNEL_CLASS_BOOL: return PTX_BOOL;
    case VYRE_KERNEL_CLASS_UINT: return type.bits < 32 ? PTX_TYPES : wide ? PTX_U64 : PTX_U32;
    case VYRE_KERNEL_CLASS_SINT: return type.bits < 32 ? PTX_TYPES : wide ? PTX_I64 : PTX_I32;
    case VYRE_KERNEL_CLASS_FLOAT: return type.bits < 32 ? PTX_TYPES : wide ? PTX_F64 : PTX_F32;
    default: return PTX_TYPES;
  }
}

uint32_t ptx_register_of(ptx_type type) { return type == PTX_BOOL ? PTX_P : ptx_is_wide(type) ? PTX_D : PTX_R; }

void ptx_define(ptx_emitter *e, uint32_t v) {
  if (v == 0) return;
  uint32_t kind = ptx_register_of(ptx_value_type(e, v));
  for (uint32_t k = 0; k < ptx_lanes(e, v); k++) e->values[v].part[k] = ptx_new(e, kind);
}

bool ptx_constant(const ptx_emitter *e, uint32_t v, uint64_t *bits) {
  if (v == 0 || v > e->h->constants.count) return false;
  *bits = VYRE_KERNEL_AT(vyre_kernel_constant, e->h, constants, v - 1)->bits;
  return true;
}

const vyre_kernel_insn *ptx_maker(const ptx_emitter *e, uint32_t v) {
  return e->makers[v] != 0 ? gpu_insn(e->h, e->makers[v] - 1) : NULL;
}

ptx_operand ptx_predicate(ptx_emitter *e, uint32_t v) {
  ptx_operand o = ptx_scalar(e, v);
  if (ptx_kind(o) == PTX_P) return o;
  ptx_operand made = ptx_new(e, PTX_P);
  ptx_line(e, "mov.pred $0, $1;", made, o);
  return made;
}

ptx_operand ptx_wide(ptx_emitter *e, uint32_t v) {
  ptx_operand o = ptx_scalar(e, v);
  if (ptx_kind(o) != PTX_R) return o;
  ptx_operand made = ptx_new(e, PTX_D);
  ptx_line(e, "cvt.u64.u32 $0, $1;", made, o);
  return made;
}
