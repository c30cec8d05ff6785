/* What an invocation knows at its start: words of the block, ids, lengths and addresses. All is read and computed once,
 * in front of everything else. */
#include "plugins/vulkan/spirv_emit.h"

/* ---- The block ------------------------------------------------------------------------------- */

/* A variable of a struct with one array that the host fills. */
static uint32_t block_variable(spirv_emitter *e, SpvStorageClass storage, spirv_type element, uint32_t count,
                               uint32_t stride) {
  spirv_module *m = &e->m;
  uint32_t length = spirv_u32(m, count), of = spirv_type_id(m, element);
  uint32_t array = spirv_id(m), block = spirv_id(m), pointer = spirv_id(m);
  spirv_put(m, PART_GLOBALS, SpvOpTypeArray, array, of, length);
  spirv_put(m, PART_GLOBALS, SpvOpTypeStruct, block, array);
  spirv_put(m, PART_GLOBALS, SpvOpTypePointer, pointer, storage, block);
  spirv_put(m, PART_MARKS, SpvOpDecorate, array, SpvDecorationArrayStride, stride);
  spirv_put(m, PART_MARKS, SpvOpMemberDecorate, block, 0, SpvDecorationOffset, 0);
  spirv_put(m, PART_MARKS, SpvOpDecorate, block, SpvDecorationBlock);
  return spirv_global(e, storage, pointer);
}

void spirv_begin_launch(spirv_emitter *e) {
  spirv_module *m = &e->m;
  if (e->layout.block_bytes == 0) return;
  e->uniform.id = block_variable(e, SpvStorageClassUniform, T_U32X4, e->layout.block_bytes / 16, 16);
  spirv_put(m, PART_MARKS, SpvOpDecorate, e->uniform.id, SpvDecorationDescriptorSet, 0);
  spirv_put(m, PART_MARKS, SpvOpDecorate, e->uniform.id, SpvDecorationBinding, e->layout.block_binding);
  if (e->layout.push_bytes == 0) return;
  e->push.id = block_variable(e, SpvStorageClassPushConstant, T_U32, e->layout.push_bytes / 4, 4);
  e->block_spec = spirv_id(m);
  spirv_put(m, PART_GLOBALS, SpvOpSpecConstant, spirv_type_id(m, T_U32), e->block_spec, 0);
  spirv_put(m, PART_MARKS, SpvOpDecorate, e->block_spec, SpvDecorationSpecId, SPIRV_SPEC_BLOCK);
}

static uint32_t read_push(spirv_emitter *e, uint32_t word) {
  spirv_module *m = &e->m;
  const uint32_t path[] = { spirv_name(e, &e->push), spirv_u32(m, 0), spirv_u32(m, word) };
  uint32_t type = spirv_pointer(m, SpvStorageClassPushConstant, T_U32);
  uint32_t pointer = spirv_value_words(m, SpvOpAccessChain, type, path, 3);
  return spirv_value(m, SpvOpLoad, T_U32, pointer);
}

static uint32_t read_uniform(spirv_emitter *e, uint32_t word) {
  spirv_module *m = &e->m;
  const uint32_t path[] = { spirv_name(e, &e->uniform), spirv_u32(m, 0), spirv_u32(m, word / 4),
                            spirv_u32(m, word % 4) };
  uint32_t type = spirv_pointer(m, SpvStorageClassUniform, T_U32);
  uint32_t pointer = spirv_value_words(m, SpvOpAccessChain, type, path, 4);
  return spirv_value(m, SpvOpLoad, T_U32, pointer);
}

/* Words from the push constants or the uniform buffer, as the specialization constant says. */
static void read_either(spirv_emitter *e, const uint32_t *used, uint32_t count) {
  spirv_module *m = &e->m;
  uint32_t pushed = spirv_id(m), bound = spirv_id(m), merge = spirv_id(m);
  uint32_t in_buffer = spirv_value(m, SpvOpINotEqual, T_BOOL, e->block_spec, spirv_u32(m, 0));
  spirv_do(m, SpvOpSelectionMerge, merge, SpvSelectionControlMaskNone);
  spirv_branch_if(m, in_buffer, bound, pushed);
  spirv_label(m, pushed);
  for (uint32_t i = 0; i < count; i++) e->words[used[i]] = read_push(e, used[i]);
  spirv_branch(m, merge);
  spirv_label(m, bound);
  gpu_bytes others = { 0 };
  for (uint32_t i = 0; i < count; i++) gpu_bytes_word(&others, read_uniform(e, used[i]));
  spirv_branch(m, merge);
  spirv_label(m, merge);
  for (uint32_t i = 0; i < count && !others.failed; i++)
    e->words[used[i]] = spirv_value(m, SpvOpPhi, T_U32, e->words[used[i]], pushed,
                                    ((const uint32_t *)(const void *)others.data)[i], bound);
  if (others.failed) m->failed = true;
  gpu_bytes_free(&others);
}

static void read_words(spirv_emitter *e) {
  const uint32_t *used = (const uint32_t *)(const void *)e->used.data;
  const uint32_t count = (uint32_t)(e->used.count / sizeof *used);
  if (count == 0) return;
  if (e->push.id != 0) read_either(e, used, count);
  else
    for (uint32_t i = 0; i < count; i++) e->words[used[i]] = read_uniform(e, used[i]);
}

static uint32_t wide_word(spirv_emitter *e, uint32_t offset, spirv_type type) {
  uint32_t pair = spirv_value(&e->m, SpvOpCompositeConstruct, T_U32X2, e->words[offset / 4], e->words[offset / 4 + 1]);
  return spirv_value(&e->m, SpvOpBitcast, type, pair);
}

uint32_t spirv_block_value(spirv_emitter *e, vyre_kernel_type type, uint32_t offset) {
  spirv_module *m = &e->m;
  const uint32_t *word = &e->words[offset / 4];
  const spirv_type to = spirv_type_of(type);
  uint32_t value = word[0];
  if (to == T_BOOL) return spirv_value(m, SpvOpINotEqual, T_BOOL, value, spirv_u32(m, 0));
  if (to == T_U64 || to == T_F64) return wide_word(e, offset, to);
  if (type.lanes == 2) value = spirv_value(m, SpvOpCompositeConstruct, T_U32X2, word[0], word[1]);
  if (type.lanes == 4) value = spirv_value(m, SpvOpCompositeConstruct, T_U32X4, word[0], word[1], word[2], word[3]);
  return to == T_F32 || to == T_F32X2 || to == T_F32X4 ? spirv_value(m, SpvOpBitcast, to, value) : value;
}

static uint32_t hidden_value(spirv_emitter *e, uint32_t number) {
  const vyre_kernel_hidden_word *w = VYRE_KERNEL_AT(vyre_kernel_hidden_word, e->kernel, hidden_words, number);
  return spirv_block_value(e, w->type, w->offset);
}

/* ---- Ids ------------------------------------------------------------------------------------- */

/* A variable that the device fills in. */
static uint32_t built_in(spirv_emitter *e, spirv_variable *variable, SpvBuiltIn which, spirv_type type) {
  if (variable->id == 0) {
    variable->id = spirv_global(e, SpvStorageClassInput, spirv_pointer(&e->m, SpvStorageClassInput, type));
    spirv_put(&e->m, PART_MARKS, SpvOpDecorate, variable->id, SpvDecorationBuiltIn, which);
  }
  return spirv_value(&e->m, SpvOpLoad, type, spirv_name(e, variable));
}

/* Workgroups with subgroups have one axis in the module, and their invocations are numbered by subgroup and lane. */
static void number_lanes(spirv_emitter *e) {
  spirv_module *m = &e->m;
  spirv_need(m, CAP_SUBGROUP);
  e->lane_value = built_in(e, &e->lane, SpvBuiltInSubgroupLocalInvocationId, T_U32);
  e->subgroup_id_value = built_in(e, &e->subgroup_id, SpvBuiltInSubgroupId, T_U32);
  uint32_t first = spirv_value(m, SpvOpIMul, T_U32, e->subgroup_id_value, spirv_u32(m, e->subgroup));
  e->local_index_value = spirv_value(m, SpvOpIAdd, T_U32, first, e->lane_value);
  if (e->invocations % e->subgroup == 0) return;
  e->real = spirv_value(m, SpvOpULessThan, T_BOOL, e->local_index_value, spirv_u32(m, e->invocations));
}

/* Padding has the ids of the last invocation, so that what is known of ids holds for it. */
static void divide_local_index(spirv_emitter *e) {
  spirv_module *m = &e->m;
  const uint32_t *size = e->entry->workgroup;
  uint32_t index = e->local_index_value;
  if (e->real != 0) index = spirv_glsl(m, GLSLstd450UMin, T_U32, index, spirv_u32(m, e->invocations - 1));
  for (uint32_t axis = 0; axis < 3; axis++) {
    bool is_last = axis == 2 || size[axis + 1] * (axis == 0 ? size[2] : 1) == 1;
    e->lid[axis] = is_last ? index : spirv_value(m, SpvOpUMod, T_U32, index, spirv_u32(m, size[axis]));
    index = is_last ? spirv_u32(m, 0) : spirv_value(m, SpvOpUDiv, T_U32, index, spirv_u32(m, size[axis]));
  }
}

static void split(spirv_emitter *e, uint32_t vector, uint8_t axes, uint32_t to[3]) {
  for (uint32_t axis = 0; axis < 3; axis++)
    if (axes >> axis & 1) to[axis] = spirv_value(&e->m, SpvOpCompositeExtract, T_U32, vector, axis);
}

static void add_origin(spirv_emitter *e, uint32_t axis) {
  int number = gpu_hidden_word(e->kernel, VYRE_KERNEL_WORD_ORIGIN_X + axis);
  if (number < 0) return;
  e->wid[axis] = spirv_value(&e->m, SpvOpIAdd, T_U32, e->wid[axis], hidden_value(e, (uint32_t)number));
}

static void make_ids(spirv_emitter *e) {
  spirv_module *m = &e->m;
  if (e->subgroup != 0) {
    number_lanes(e);
    if (e->wants_lid) divide_local_index(e);
  } else {
    if (e->wants_lid) split(e, built_in(e, &e->local_id, SpvBuiltInLocalInvocationId, T_U32X3), e->wants_lid, e->lid);
    if (e->wants_local_index) e->local_index_value = built_in(e, &e->local_index, SpvBuiltInLocalInvocationIndex, T_U32);
  }
  if (e->wants_wid) split(e, built_in(e, &e->workgroup_id, SpvBuiltInWorkgroupId, T_U32X3), e->wants_wid, e->wid);
  for (uint32_t axis = 0; axis < 3; axis++) {
    if (e->wants_wid >> axis & 1) add_origin(e, axis);
    if ((e->wants_gid >> axis & 1) == 0) continue;
    uint32_t first = spirv_value(m, SpvOpIMul, T_U32, e->wid[axis], spirv_u32(m, e->entry->workgroup[axis]));
    e->gid[axis] = spirv_value(m, SpvOpIAdd, T_U32, first, e->lid[axis]);
  }
}

static void make_lengths(spirv_emitter *e) {
  spirv_module *m = &e->m;
  for (uint32_t i = 0; i < e->layout.buffers; i++) {
    spirv_buffer *b = &e->buffers[i];
    if (b->wants_address) b->address = wide_word(e, e->layout.address_offset + i * 8, T_U64);
    if (!b->wants_length) continue;
    uint32_t offset = VYRE_KERNEL_AT(vyre_kernel_binding, e->kernel, bindings, i)->count_offset;
    b->length = e->words[offset / 4];
    if (b->wants_wide_length) b->wide_length = wide_word(e, offset, T_U64);
    if (b->wants_high) b->is_long = spirv_value(m, SpvOpINotEqual, T_BOOL, e->words[offset / 4 + 1], spirv_u32(m, 0));
  }
}

void spirv_enter(spirv_emitter *e) {
  read_words(e);
  make_ids(e);
  make_lengths(e);
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

static uint32_t spec_value(spirv_emitter *e, uint32_t number) {
  spirv_module *m = &e->m;
  uint32_t *id = &e->specs[number];
  if (*id != 0) return *id;
  const vyre_kernel_spec *spec = VYRE_KERNEL_AT(vyre_kernel_spec, e->kernel, specs, number);
  const spirv_type type = spirv_type_of(spec->type);
  uint32_t of = spirv_type_id(m, type);
  *id = spirv_id(m);
  if (type == T_BOOL)
    spirv_put(m, PART_GLOBALS, spec->bits != 0 ? SpvOpSpecConstantTrue : SpvOpSpecConstantFalse, of, *id);
  else if (spec->type.bits == 64)
    spirv_put(m, PART_GLOBALS, SpvOpSpecConstant, of, *id, (uint32_t)spec->bits, (uint32_t)(spec->bits >> 32));
  else spirv_put(m, PART_GLOBALS, SpvOpSpecConstant, of, *id, (uint32_t)spec->bits);
  spirv_put(m, PART_MARKS, SpvOpDecorate, *id, SpvDecorationSpecId, SPIRV_SPEC_FIRST + number);
  return *id;
}

static uint32_t length_value(spirv_emitter *e, const vyre_kernel_insn *in) {
  uint32_t offset = VYRE_KERNEL_AT(vyre_kernel_binding, e->kernel, bindings, in->arg[0])->count_offset;
  if (spirv_value_type(e, in->result).bits == 64) return wide_word(e, offset, T_U64);
  return e->words[offset / 4 + in->arg[1]];
}

uint32_t spirv_leaf(spirv_emitter *e, const vyre_kernel_insn *in) {
  spirv_module *m = &e->m;
  uint32_t a = in->arg[0];
  switch (in->op) {
    case VYRE_KERNEL_PARAM: {
      const vyre_kernel_param *p = VYRE_KERNEL_AT(vyre_kernel_param, e->kernel, params, a);
      return spirv_block_value(e, p->type, p->offset);
    }
    case VYRE_KERNEL_SPEC: return spec_value(e, a);
    case VYRE_KERNEL_HIDDEN: return hidden_value(e, a);
    case VYRE_KERNEL_LENGTH: return length_value(e, in);
    case VYRE_KERNEL_GID: return e->gid[a];
    case VYRE_KERNEL_WID: return e->wid[a];
    case VYRE_KERNEL_LID: return e->lid[a];
    case VYRE_KERNEL_NWG: {
      int number = gpu_hidden_word(e->kernel, VYRE_KERNEL_WORD_GRID_X + a);
      return number < 0 ? 0 : hidden_value(e, (uint32_t)number);
    }
    case VYRE_KERNEL_LANE: return e->lane_value;
    case VYRE_KERNEL_SUBGROUP_ID: return e->subgroup_id_value;
    case VYRE_KERNEL_SUBGROUP_SIZE: return spirv_u32(m, e->subgroup);
    case VYRE_KERNEL_NUM_SUBGROUPS: return spirv_u32(m, (e->invocations + e->subgroup - 1) / e->subgroup);
    default: return 0;
  }
}
