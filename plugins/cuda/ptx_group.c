/* What invocations meet at or are ordered by, and the world: fences, barriers, the clock, pauses. */
#include <stddef.h>
#include <stdio.h>

#include "plugins/cuda/ptx_emit.h"

static void fence(ptx_emitter *e, const vyre_kernel_insn *in) {
  static const char *const scopes[] = { "cta", "gpu", "sys" };
  char text[32];
  snprintf(text, sizeof text, "fence.%s.%s;", in->aux == VYRE_ORDER_SEQ_CST ? "sc" : "acq_rel", scopes[in->aux2 % 3]);
  ptx_plain(e, text);
}

/* One invocation of each workgroup arrives at a counter; the last one sets it back and begins the next round, which the
 * others wait for. */
static bool grid_barrier(ptx_emitter *e) {
  enum { ARRIVED = offsetof(vyre_kernel_state, barrier), ROUND = ARRIVED + 4 };
  ptx_operand state = e->pointers[e->facts->hidden[VYRE_KERNEL_HIDDEN_STATE] - 1], groups = ptx_new(e, PTX_R);
  ptx_operand round = ptx_new(e, PTX_R), p = ptx_new(e, PTX_P);
  ptx_operand arrived = ptx_number(e, ARRIVED), next = ptx_number(e, ROUND), label = ptx_number(e, ptx_number_of(p));
  ptx_operand x = ptx_groups(e, 0), y = ptx_groups(e, 1), z = ptx_groups(e, 2);
  ptx_line(e, "mul.lo.s32 $r0, $1, $2;\nmul.lo.s32 $0, $r0, $3;", groups, x, y, z);
  ptx_line(e, "bar.sync 0;\nsetp.ne.s32 $0, $1, 0;\n@$0 bra M$2;", p, e->linear, label);
  ptx_line(e, "ld.relaxed.gpu.global.b32 $0, [$1+$2];\nfence.acq_rel.gpu;\n"
           "atom.acq_rel.gpu.global.add.u32 $r0, [$1+$3], 1;\nadd.s32 $r1, $r0, 1;\nsetp.ne.s32 $4, $r1, $5;\n"
           "@$4 bra W$6;", round, state, next, arrived, p, groups, label);
  ptx_line(e, "st.relaxed.gpu.global.b32 [$0+$1], 0;\nred.release.gpu.global.add.u32 [$0+$2], 1;\nbra M$3;", state,
           arrived, next, label);
  ptx_line(e, "W$4:\nld.acquire.gpu.global.b32 $r0, [$0+$1];\nsetp.eq.s32 $2, $r0, $3;\n@$2 bra W$4;", state, next, p,
           round, label);
  ptx_line(e, "M$0:\nfence.acq_rel.gpu;\nbar.sync 0;", label);
  return true;
}

/* nanosleep takes at most a millisecond. */
static bool pause(ptx_emitter *e, const vyre_kernel_insn *in) {
  if (!ptx_needs(e, 70, 63, "pause")) return true;
  ptx_operand ns = ptx_scalar(e, in->arg[0]);
  bool wide = ptx_is_wide(ptx_value_type(e, in->arg[0]));
  ptx_line(e, wide ? "min.u64 $d0, $0, 1000000;\ncvt.u32.u64 $r0, $d0;\nnanosleep.u32 $r0;"
                   : "min.u32 $r0, $0, 1000000;\nnanosleep.u32 $r0;", ns);
  return true;
}

bool ptx_group(ptx_emitter *e, const vyre_kernel_insn *in) {
  switch (in->op) {
    case VYRE_KERNEL_FENCE: fence(e, in); return true;
    case VYRE_KERNEL_BARRIER: ptx_plain(e, "bar.sync 0;"); return true;
    case VYRE_KERNEL_GRID_BARRIER: return grid_barrier(e);
    case VYRE_KERNEL_PAUSE: return pause(e, in);
    case VYRE_KERNEL_CLOCK:
      if (in->result == 0 || ptx_value_type(e, in->result) != PTX_U64) return false;
      ptx_define(e, in->result);
      ptx_line(e, "mov.u64 $0, %%globaltimer;", ptx_scalar(e, in->result));
      return true;
    default: return false; /* SHOULD_STOP, TRAP and PRINT are expanded */
  }
}
