/* What the invocations of a workgroup or subgroup do together: barriers, fences, votes, shuffles. */
#include "plugins/vulkan/spirv_emit.h"

uint32_t spirv_scope(spirv_emitter *e, uint32_t scope) {
  return spirv_u32(&e->m, scope == VYRE_SCOPE_WORKGROUP ? SpvScopeWorkgroup : SpvScopeDevice);
}

/* Orders hold for buffers and workgroup memory alike. With the Vulkan memory model what was written is also made available,
 * and made visible, which every access that is not private takes part in. */
uint32_t spirv_semantics(spirv_emitter *e, uint32_t order) {
  const bool has_model = e->target->features & SPIRV_MEMORY_MODEL;
  const uint32_t memory = SpvMemorySemanticsUniformMemoryMask | SpvMemorySemanticsWorkgroupMemoryMask;
  const uint32_t available = has_model ? SpvMemorySemanticsMakeAvailableMask : 0;
  const uint32_t visible = has_model ? SpvMemorySemanticsMakeVisibleMask : 0;
  uint32_t semantics = 0;
  if (order == VYRE_ORDER_ACQUIRE) semantics = SpvMemorySemanticsAcquireMask | visible | memory;
  if (order == VYRE_ORDER_RELEASE) semantics = SpvMemorySemanticsReleaseMask | available | memory;
  if (order == VYRE_ORDER_ACQ_REL) semantics = SpvMemorySemanticsAcquireReleaseMask | available | visible | memory;
  return spirv_u32(&e->m, semantics);
}

void spirv_barrier(spirv_emitter *e) {
  uint32_t scope = spirv_u32(&e->m, SpvScopeWorkgroup);
  spirv_do(&e->m, SpvOpControlBarrier, scope, scope, spirv_semantics(e, VYRE_ORDER_ACQ_REL));
}

/* Where fences suspend the workgroup they are right in uniform flow alone, and atomics do without them. */
void spirv_fence(spirv_emitter *e, uint32_t scope, uint32_t order) {
  if (e->target->features & SPIRV_ORDERED_ATOMICS) return;
  spirv_do(&e->m, SpvOpMemoryBarrier, spirv_scope(e, scope), spirv_semantics(e, order));
}

/* ---- Subgroups ------------------------------------------------------------------------------- */

static uint32_t subgroup(spirv_emitter *e) { return spirv_u32(&e->m, SpvScopeSubgroup); }

uint32_t spirv_followed(spirv_emitter *e, uint32_t condition) {
  spirv_module *m = &e->m;
  spirv_need(m, CAP_BALLOT);
  uint32_t word = spirv_value(m, SpvOpSelect, T_U32, condition, spirv_u32(m, 1), spirv_u32(m, 0));
  uint32_t first = spirv_value(m, SpvOpGroupNonUniformBroadcastFirst, T_U32, subgroup(e), word);
  uint32_t others = spirv_value(m, SpvOpINotEqual, T_BOOL, first, spirv_u32(m, 0));
  return spirv_value(m, SpvOpSelect, T_BOOL, e->real, condition, others);
}

static uint32_t vote(spirv_emitter *e, SpvOp op, uint32_t condition) {
  spirv_module *m = &e->m;
  spirv_need(m, CAP_VOTE);
  if (e->real != 0 && op == SpvOpGroupNonUniformAny)
    condition = spirv_value(m, SpvOpLogicalAnd, T_BOOL, condition, e->real);
  if (e->real != 0 && op == SpvOpGroupNonUniformAll)
    condition = spirv_value(m, SpvOpLogicalOr, T_BOOL, condition, spirv_value(m, SpvOpLogicalNot, T_BOOL, e->real));
  return spirv_value(m, op, T_BOOL, subgroup(e), condition);
}

static uint32_t ballot(spirv_emitter *e, uint32_t condition) {
  spirv_module *m = &e->m;
  spirv_need(m, CAP_BALLOT);
  if (e->real != 0) condition = spirv_value(m, SpvOpLogicalAnd, T_BOOL, condition, e->real);
  uint32_t lanes = spirv_value(m, SpvOpGroupNonUniformBallot, T_U32X4, subgroup(e), condition);
  return spirv_value(m, SpvOpCompositeExtract, T_U32, lanes, 0);
}

/* A lane that does not exist gives the own value: one beyond the size, or beyond the invocations of the workgroup. */
static uint32_t shuffle(spirv_emitter *e, uint32_t x, uint32_t lane) {
  spirv_module *m = &e->m;
  spirv_need(m, CAP_SHUFFLE);
  uint32_t exists = spirv_value(m, SpvOpULessThan, T_BOOL, lane, spirv_u32(m, e->subgroup));
  if (e->real != 0) {
    uint32_t first = spirv_value(m, SpvOpIMul, T_U32, e->subgroup_id_value, spirv_u32(m, e->subgroup));
    uint32_t left = spirv_value(m, SpvOpISub, T_U32, spirv_u32(m, e->invocations), first);
    uint32_t is_real = spirv_value(m, SpvOpULessThan, T_BOOL, lane, left);
    exists = spirv_value(m, SpvOpLogicalAnd, T_BOOL, exists, is_real);
  }
  uint32_t from = spirv_value(m, SpvOpSelect, T_U32, exists, lane, e->lane_value);
  return spirv_value(m, SpvOpGroupNonUniformShuffle, T_U32, subgroup(e), x, from);
}

uint32_t spirv_group(spirv_emitter *e, const vyre_kernel_insn *in) {
  uint32_t x = in->arg[0] != 0 ? spirv_use(e, in->arg[0]) : 0;
  switch (in->op) {
    case VYRE_KERNEL_FENCE: spirv_fence(e, in->aux2, in->aux); return 0;
    case VYRE_KERNEL_BARRIER: spirv_barrier(e); return 0;
    case VYRE_KERNEL_SUBGROUP_ANY: return vote(e, SpvOpGroupNonUniformAny, x);
    case VYRE_KERNEL_SUBGROUP_ALL: return vote(e, SpvOpGroupNonUniformAll, x);
    case VYRE_KERNEL_SUBGROUP_BALLOT: return ballot(e, x);
    case VYRE_KERNEL_SHUFFLE: return shuffle(e, x, spirv_use(e, in->arg[1]));
    default:
      spirv_fail(e, VYRE_ERR_UNSUPPORTED,
                 "the emitter has no opcode 0x%03x. Fix: use a plugin of the same release as libvyre", in->op);
      return 0;
  }
}
