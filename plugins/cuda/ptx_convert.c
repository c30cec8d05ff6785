/* Conversions, and what only moves bits.
 *
 * cvt from float to integer clamps. A NaN gives 0 from f32 to 32 bits; else the PTX ISA has another number for it,
 * which is selected away. */
#include "plugins/cuda/ptx_emit.h"

#define TO_WIDE(R, F) "setp.num." F " $p0, &1, &1;\ncvt.rzi." R "." F " $d0, &1;\nselp.b64 $0, $d0, 0, $p0;"
#define F64_TO(R) "setp.num.f64 $p0, &1, &1;\ncvt.rzi." R ".f64 $r0, &1;\nselp.b32 $0, $r0, 0, $p0;"

/* By the types of operand and result. */
static const char *const conversions[PTX_TYPES][PTX_TYPES] = {
  [PTX_U32] = { [PTX_U64] = "cvt.u64.u32 $0, $1;",
                [PTX_F32] = "cvt.rn.f32.u32 $0, $1;", [PTX_F64] = "cvt.rn.f64.u32 $0, $1;" },
  [PTX_I32] = { [PTX_I64] = "cvt.s64.s32 $0, $1;",
                [PTX_F32] = "cvt.rn.f32.s32 $0, $1;", [PTX_F64] = "cvt.rn.f64.s32 $0, $1;" },
  [PTX_U64] = { [PTX_U32] = "cvt.u32.u64 $0, $1;",
                [PTX_F32] = "cvt.rn.f32.u64 $0, $1;", [PTX_F64] = "cvt.rn.f64.u64 $0, $1;" },
  [PTX_I64] = { [PTX_I32] = "cvt.u32.u64 $0, $1;",
                [PTX_F32] = "cvt.rn.f32.s64 $0, $1;", [PTX_F64] = "cvt.rn.f64.s64 $0, $1;" },
  [PTX_F32] = { [PTX_U32] = "cvt.rzi.u32.f32 $0, &1;", [PTX_I32] = "cvt.rzi.s32.f32 $0, &1;",
                [PTX_U64] = TO_WIDE("u64", "f32"), [PTX_I64] = TO_WIDE("s64", "f32"),
                [PTX_F64] = "cvt.f64.f32 $0, &1;" },
  [PTX_F64] = { [PTX_U32] = F64_TO("u32"), [PTX_I32] = F64_TO("s32"),
                [PTX_U64] = TO_WIDE("u64", "f64"), [PTX_I64] = TO_WIDE("s64", "f64"),
                [PTX_F32] = "cvt.rn.f32.f64 $0, &1;" },
};

static const char *half(uint32_t op) {
  switch (op) {
    case VYRE_KERNEL_FROM_F16:
      return "cvt.u16.u32 $h0, $1;\ncvt.f32.f16 $r0, $h0;\nsetp.num.f32 $p0, $r0, $r0;\n"
             "selp.b32 $0, $r0, 0x7FC00000, $p0;";
    case VYRE_KERNEL_TO_F16:
      return "cvt.rn.f16.f32 $h0, &1;\ncvt.u32.u16 $r0, $h0;\nsetp.num.f32 $p0, &1, &1;\n"
             "selp.b32 $0, $r0, 0x7E00, $p0;";
    case VYRE_KERNEL_FROM_BF16:
      return "shl.b32 $r0, $1, 16;\nsetp.num.f32 $p0, $r0, $r0;\nselp.b32 $0, $r0, 0x7FC00000, $p0;";
    default:
      return "bfe.u32 $r0, $1, 16, 1;\nadd.s32 $r1, $r0, $1;\nadd.s32 $r2, $r1, 0x7FFF;\nshr.u32 $r3, $r2, 16;\n"
             "setp.num.f32 $p0, &1, &1;\nselp.b32 $0, $r3, 0x7FC0, $p0;";
  }
}

bool ptx_convert(ptx_emitter *e, const vyre_kernel_insn *in) {
  if (in->result == 0 || in->arg[0] == 0) return false;
  ptx_define(e, in->result);
  ptx_type from = ptx_value_type(e, in->arg[0]), to = ptx_value_type(e, in->result);
  if (from >= PTX_TYPES || to >= PTX_TYPES) return false;
  bool is_half = in->op >= VYRE_KERNEL_FROM_F16 && in->op <= VYRE_KERNEL_TO_BF16;
  const char *text = is_half ? half(in->op) : conversions[from][to];
  if (text == NULL) return false;
  ptx_line(e, text, ptx_scalar(e, in->result), ptx_scalar(e, in->arg[0]));
  return true;
}

/* ---- Moves ----------------------------------------------------------------------------------- */

/* The same registers, unless 64 bits come apart or together. */
static bool bitcast(ptx_emitter *e, const vyre_kernel_insn *in) {
  uint32_t from = in->arg[0], to = in->result, parts = ptx_lanes(e, from);
  if (parts == ptx_lanes(e, to)) {
    e->values[to] = e->values[from];
    return true;
  }
  ptx_define(e, to);
  if (parts == 1) ptx_line(e, "mov.b64 {$0, $1}, $2;", ptx_part(e, to, 0), ptx_part(e, to, 1), ptx_scalar(e, from));
  else ptx_line(e, "mov.b64 $0, {$1, $2};", ptx_scalar(e, to), ptx_part(e, from, 0), ptx_part(e, from, 1));
  return parts == 2 || ptx_lanes(e, to) == 2;
}

static void set(ptx_emitter *e, const vyre_kernel_insn *in) {
  const vyre_kernel_slot *slot = VYRE_KERNEL_AT(vyre_kernel_slot, e->h, slots, in->arg[0]);
  ptx_type type = ptx_type_of(slot->type);
  const char *text = type == PTX_BOOL ? "mov.pred $0, $1;" : ptx_is_wide(type) ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;";
  const char *guarded = type == PTX_BOOL      ? "@$2 mov.pred $0, $1;"
                        : ptx_is_wide(type) ? "@$2 mov.b64 $0, $1;"
                                            : "@$2 mov.b32 $0, $1;";
  for (uint32_t k = 0; k < slot->type.lanes; k++)
    ptx_line(e, e->guard != PTX_NONE ? guarded : text, e->slots[in->arg[0]].part[k & 3], ptx_part(e, in->arg[1], k),
             e->guard);
}

static void get(ptx_emitter *e, const vyre_kernel_insn *in) {
  ptx_define(e, in->result);
  ptx_type type = ptx_value_type(e, in->result);
  const char *text = type == PTX_BOOL ? "mov.pred $0, $1;" : ptx_is_wide(type) ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;";
  for (uint32_t k = 0; k < ptx_lanes(e, in->result); k++)
    ptx_line(e, text, ptx_part(e, in->result, k), e->slots[in->arg[0]].part[k]);
}

bool ptx_move(ptx_emitter *e, const vyre_kernel_insn *in) {
  if (in->result == 0 && in->op != VYRE_KERNEL_SET) return false;
  switch (in->op) {
    case VYRE_KERNEL_GET: get(e, in); return true;
    case VYRE_KERNEL_SET: set(e, in); return true;
    case VYRE_KERNEL_BITCAST: return bitcast(e, in);
    case VYRE_KERNEL_EXTRACT: e->values[in->result].part[0] = ptx_part(e, in->arg[0], in->arg[1]); return true;
    default:
      for (uint32_t k = 0; k < ptx_lanes(e, in->result); k++)
        e->values[in->result].part[k] = ptx_scalar(e, in->arg[k]);
      return true;
  }
}
