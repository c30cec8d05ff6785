/* What an invocation starts from: the launch block, its place in the grid, and what the head of an entry point makes
 * ready for the instructions that use it. */
#include <string.h>

#include "plugins/cuda/ptx_emit.h"

/* ---- The launch block ------------------------------------------------------------------------ */

static void load_block(ptx_emitter *e, ptx_operand to, uint32_t offset) {
  bool wide = ptx_kind(to) == PTX_D, in_memory = e->block != PTX_NONE;
  const char *text = in_memory ? (wide ? "ld.global.nc.b64 $0, [$2+$1];" : "ld.global.nc.b32 $0, [$2+$1];")
                               : (wide ? "ld.param.b64 $0, [block+$1];" : "ld.param.b32 $0, [block+$1];");
  ptx_line(e, text, to, ptx_number(e, offset), e->block);
}

static void load_value(ptx_emitter *e, uint32_t v, uint32_t offset) {
  if (ptx_value_type(e, v) == PTX_BOOL) {
    ptx_operand word = ptx_new(e, PTX_R);
    load_block(e, word, offset);
    ptx_line(e, "setp.ne.s32 $0, $1, 0;", ptx_scalar(e, v), word);
    return;
  }
  for (uint32_t k = 0; k < ptx_lanes(e, v); k++) load_block(e, ptx_part(e, v, k), offset + 4 * k);
}

/* A hidden word, PTX_NONE if the kernel has none of that kind. */
static ptx_operand load_hidden(ptx_emitter *e, uint32_t kind) {
  int at = gpu_hidden_word(e->h, (vyre_kernel_word)kind);
  if (at < 0) return PTX_NONE;
  ptx_operand word = ptx_new(e, PTX_R);
  load_block(e, word, VYRE_KERNEL_AT(vyre_kernel_hidden_word, e->h, hidden_words, (uint32_t)at)->offset);
  return word;
}

/* ---- Places ---------------------------------------------------------------------------------- */

static ptx_operand wid(ptx_emitter *e, uint32_t axis) {
  static const char *const text[] = { "mov.u32 $0, %%ctaid.x;", "mov.u32 $0, %%ctaid.y;", "mov.u32 $0, %%ctaid.z;" };
  ptx_operand own = ptx_new(e, PTX_R), origin = load_hidden(e, VYRE_KERNEL_WORD_ORIGIN_X + axis);
  ptx_line(e, text[axis], own);
  if (origin == PTX_NONE) return own;
  ptx_operand sum = ptx_new(e, PTX_R);
  ptx_line(e, "add.s32 $0, $1, $2;", sum, own, origin);
  return sum;
}

static ptx_operand lid(ptx_emitter *e, uint32_t axis) {
  static const char *const text[] = { "mov.u32 $0, %%tid.x;", "mov.u32 $0, %%tid.y;", "mov.u32 $0, %%tid.z;" };
  ptx_operand id = ptx_new(e, PTX_R);
  ptx_line(e, text[axis], id);
  return id;
}

ptx_operand ptx_groups(ptx_emitter *e, uint32_t axis) {
  static const char *const text[] = { "mov.u32 $0, %%nctaid.x;", "mov.u32 $0, %%nctaid.y;",
                                      "mov.u32 $0, %%nctaid.z;" };
  ptx_operand word = load_hidden(e, VYRE_KERNEL_WORD_GRID_X + axis);
  if (word != PTX_NONE) return word;
  word = ptx_new(e, PTX_R);
  ptx_line(e, text[axis], word);
  return word;
}

static ptx_operand gid(ptx_emitter *e, uint32_t axis) {
  ptx_operand group = wid(e, axis), own = lid(e, axis), id = ptx_new(e, PTX_R);
  ptx_line(e, "mad.lo.s32 $0, $1, $3, $2;", id, group, own, ptx_number(e, e->entry->workgroup[axis]));
  return id;
}

static ptx_operand constant(ptx_emitter *e, uint32_t number) {
  ptx_operand made = ptx_new(e, PTX_R);
  ptx_line(e, "mov.b32 $0, $1;", made, ptx_number(e, number));
  return made;
}

static ptx_operand subgroup_id(ptx_emitter *e) {
  ptx_operand id = ptx_new(e, PTX_R);
  ptx_line(e, "shr.u32 $0, $1, $2;", id, e->linear, ptx_number(e, (uint32_t)__builtin_ctz(e->subgroup)));
  return id;
}

static void length(ptx_emitter *e, const vyre_kernel_insn *in) {
  uint32_t offset = VYRE_KERNEL_AT(vyre_kernel_binding, e->h, bindings, in->arg[0])->count_offset;
  bool high = in->arg[1] != 0 && ptx_value_type(e, in->result) == PTX_U32;
  load_block(e, ptx_scalar(e, in->result), high ? offset + 4 : offset);
}

static void specialized(ptx_emitter *e, const vyre_kernel_insn *in) {
  ptx_type type = ptx_value_type(e, in->result);
  const char *text = type == PTX_BOOL ? "mov.pred $0, $1;" : ptx_is_wide(type) ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;";
  uint64_t bits = VYRE_KERNEL_AT(vyre_kernel_spec, e->h, specs, in->arg[0])->bits;
  if (!ptx_is_wide(type)) bits = (uint32_t)bits;
  ptx_line(e, text, ptx_scalar(e, in->result), ptx_number(e, type == PTX_BOOL ? bits != 0 : bits));
}

/* Those that are read from the block. */
static bool block_leaf(ptx_emitter *e, const vyre_kernel_insn *in) {
  const vyre_kernel_header *h = e->h;
  ptx_define(e, in->result);
  switch (in->op) {
    case VYRE_KERNEL_PARAM:
      load_value(e, in->result, VYRE_KERNEL_AT(vyre_kernel_param, h, params, in->arg[0])->offset);
      return true;
    case VYRE_KERNEL_HIDDEN:
      load_value(e, in->result, VYRE_KERNEL_AT(vyre_kernel_hidden_word, h, hidden_words, in->arg[0])->offset);
      return true;
    case VYRE_KERNEL_SPEC: specialized(e, in); return true;
    default: length(e, in); return true;
  }
}

bool ptx_leaf(ptx_emitter *e, const vyre_kernel_insn *in) {
  if (in->result == 0) return false;
  ptx_operand *to = &e->values[in->result].part[0];
  switch (in->op) {
    case VYRE_KERNEL_GID: *to = gid(e, in->arg[0]); return true;
    case VYRE_KERNEL_WID: *to = wid(e, in->arg[0]); return true;
    case VYRE_KERNEL_LID: *to = lid(e, in->arg[0]); return true;
    case VYRE_KERNEL_NWG: *to = ptx_groups(e, in->arg[0]); return true;
    case VYRE_KERNEL_LANE: *to = e->lane; return true;
    case VYRE_KERNEL_SUBGROUP_ID: *to = subgroup_id(e); return true;
    case VYRE_KERNEL_SUBGROUP_SIZE: *to = constant(e, e->subgroup); return true;
    case VYRE_KERNEL_NUM_SUBGROUPS: *to = constant(e, (e->invocations - 1) / e->subgroup + 1); return true;
    default: return block_leaf(e, in);
  }
}

/* ---- The head -------------------------------------------------------------------------------- */

/* What the instructions of an entry point use. */
typedef struct uses {
  bool linear, lanes, shared, local;
} uses;

static void note_access(ptx_emitter *e, uses *u, const vyre_kernel_access *a) {
  u->shared |= a->space == VYRE_KERNEL_SPACE_SHARED;
  u->local |= a->space == VYRE_KERNEL_SPACE_LOCAL;
  if (a->space == VYRE_KERNEL_SPACE_BINDING) e->pointers[a->number] = 1;
  if (a->space == VYRE_KERNEL_SPACE_HIDDEN) {
    uint32_t kind = VYRE_KERNEL_AT(vyre_kernel_hidden_binding, e->h, hidden_bindings, a->number)->kind;
    e->pointers[e->facts->hidden[kind] - 1] = 1;
  }
  if (a->bound_kind == VYRE_KERNEL_BOUND_LENGTH) e->lengths[a->number] = 1;
}

static uses look(ptx_emitter *e) {
  uses u = { 0 };
  for (uint32_t i = 0; i < e->entry->insn_count; i++) {
    const vyre_kernel_insn *in = gpu_insn(e->h, e->entry->insn_first + i);
    gpu_opcode op = gpu_opcode_of(in->op);
    for (int k = 0; k < 2; k++)
      if (op.kind[k] == GPU_AC) note_access(e, &u, gpu_access(e->h, in->arg[k]));
    bool collective = in->op >= VYRE_KERNEL_SUBGROUP_ADD && in->op <= VYRE_KERNEL_SHUFFLE_DOWN;
    u.lanes |= collective || in->op == VYRE_KERNEL_LANE;
    u.linear |= in->op == VYRE_KERNEL_SUBGROUP_ID || in->op == VYRE_KERNEL_COPY_ASYNC;
    u.linear |= in->op == VYRE_KERNEL_GRID_BARRIER;
    e->uses_groups |= in->op == VYRE_KERNEL_COPY_ASYNC && ptx_has_groups(e);
    if (in->op == VYRE_KERNEL_GRID_BARRIER) e->pointers[e->facts->hidden[VYRE_KERNEL_HIDDEN_STATE] - 1] = 1;
  }
  return u;
}

static void load_pointers(ptx_emitter *e) {
  for (uint32_t i = 0; i < e->facts->pointer_count; i++) {
    if (e->pointers[i] == PTX_NONE) continue;
    ptx_operand generic = ptx_new(e, PTX_D);
    e->pointers[i] = ptx_new(e, PTX_D);
    ptx_line(e, "ld.param.b64 $0, [pointers+$2];\ncvta.to.global.u64 $1, $0;", generic, e->pointers[i],
             ptx_number(e, 8 * i));
  }
  for (uint32_t i = 0; i < e->h->bindings.count; i++) {
    if (e->lengths[i] == PTX_NONE) continue;
    e->lengths[i] = ptx_new(e, PTX_D);
    load_block(e, e->lengths[i], VYRE_KERNEL_AT(vyre_kernel_binding, e->h, bindings, i)->count_offset);
  }
}

static void number_invocation(ptx_emitter *e) {
  const uint32_t *size = e->entry->workgroup;
  e->linear = lid(e, 0);
  for (uint32_t axis = 1, row = size[0]; axis < 3; row *= size[axis++]) {
    if (size[axis] == 1) continue;
    ptx_operand own = lid(e, axis), sum = ptx_new(e, PTX_R);
    ptx_line(e, "mad.lo.s32 $0, $1, $3, $2;", sum, own, e->linear, ptx_number(e, row));
    e->linear = sum;
  }
}

/* Lane, lanes that exist, and the mask of warp lanes that a subgroup operation names. */
static void number_lanes(ptx_emitter *e) {
  uint32_t size = e->subgroup, within = size - 1;
  e->lane = ptx_new(e, PTX_R);
  if (size == 32) ptx_line(e, "mov.u32 $0, %%laneid;", e->lane);
  else ptx_line(e, "and.b32 $0, $1, $2;", e->lane, e->linear, ptx_number(e, within));
  bool whole = e->invocations % size == 0;
  if (whole && size == 32) return;
  ptx_operand first = ptx_new(e, PTX_R);
  if (!whole) {
    e->live = ptx_new(e, PTX_R);
    ptx_line(e, "sub.s32 $r0, $1, $2;\nsub.s32 $r1, $3, $r0;\nmin.u32 $0, $r1, $4;", e->live, e->linear, e->lane,
             ptx_number(e, e->invocations), ptx_number(e, size));
  }
  e->mask = ptx_new(e, PTX_R);
  ptx_line(e, "mov.u32 $r0, %%laneid;\nsub.s32 $0, $r0, $1;", first, e->lane);
  ptx_line(e, "shl.b32 $r0, 1, $1;\nsub.s32 $r1, $r0, 1;\nshl.b32 $0, $r1, $2;", e->mask,
           whole ? ptx_number(e, size) : e->live, first);
}

/* Workgroups of a launch that is larger than the grid that the block says. */
static void leave_beyond(ptx_emitter *e) {
  ptx_operand beyond = ptx_new(e, PTX_P);
  ptx_line(e, "mov.pred $0, 0;", beyond);
  for (uint32_t axis = 0; axis < 3; axis++) {
    ptx_operand own = wid(e, axis), count = ptx_groups(e, axis);
    ptx_line(e, "setp.ge.or.u32 $0, $1, $2, $0;", beyond, own, count);
  }
  ptx_line(e, "@$0 ret;", beyond);
}

static void clear_slots(ptx_emitter *e) {
  for (uint32_t i = 0; i < e->entry->slot_count; i++) {
    uint32_t number = e->entry->slot_first + i;
    vyre_kernel_type type = VYRE_KERNEL_AT(vyre_kernel_slot, e->h, slots, number)->type;
    uint32_t kind = ptx_register_of(ptx_type_of(type));
    const char *text = kind == PTX_P ? "mov.pred $0, 0;" : kind == PTX_D ? "mov.b64 $0, 0;" : "mov.b32 $0, 0;";
    for (uint32_t k = 0; k < type.lanes; k++) {
      e->slots[number].part[k] = ptx_new(e, kind);
      ptx_line(e, text, e->slots[number].part[k]);
    }
  }
}

/* ---- Arrays that are zero when the entry point starts ----------------------------------------- */

static const vyre_kernel_array *array_of(const ptx_emitter *e, bool is_shared, uint32_t i) {
  if (is_shared) return VYRE_KERNEL_AT(vyre_kernel_array, e->h, shared, e->entry->shared_first + i);
  return VYRE_KERNEL_AT(vyre_kernel_array, e->h, locals, e->entry->local_first + i);
}

/* Chunks of 16 bytes from byte |at| on, by |step| invocations of which this is |first|. */
static void clear_chunks(ptx_emitter *e, const char *store, ptx_operand base, ptx_operand first, uint32_t step,
                         uint64_t at, uint64_t chunks) {
  ptx_operand k = ptx_new(e, PTX_R), done = ptx_new(e, PTX_P), label = ptx_number(e, e->counts[PTX_P]);
  ptx_line(e, "mov.b32 $0, $1;\nsetp.ge.u32 $2, $0, $3;\n@$2 bra Zend$4;\nZ$4:", k, first, done, ptx_number(e, chunks),
           label);
  ptx_operand address = ptx_new(e, PTX_R);
  ptx_line(e, "mad.lo.s32 $0, $1, 16, $2;", address, k, base);
  ptx_line(e, store, address, ptx_number(e, at));
  ptx_line(e, "add.s32 $0, $0, $1;\nsetp.lt.u32 $2, $0, $3;\n@$2 bra Z$4;\nZend$4:", k, ptx_number(e, step), done,
           ptx_number(e, chunks), label);
}

static bool clear_arrays(ptx_emitter *e, bool is_shared) {
  const char *store = is_shared ? "st.shared.v4.b32 [$0+$1], {0, 0, 0, 0};" : "st.local.v4.b32 [$0+$1], {0, 0, 0, 0};";
  uint32_t count = is_shared ? e->entry->shared_count : e->entry->local_count;
  bool any = false;
  for (uint32_t i = 0; i < count; i++) {
    const vyre_kernel_array *a = array_of(e, is_shared, i);
    uint64_t chunks = (a->length * gpu_element_bytes(a->element) + 15) / 16;
    if ((a->flags & VYRE_KERNEL_ARRAY_NEEDS_ZERO) == 0 || chunks == 0) continue;
    ptx_operand first = is_shared ? e->linear : ptx_number(e, 0), base = is_shared ? e->shared : e->local;
    clear_chunks(e, store, base, first, is_shared ? e->invocations : 1, a->offset, chunks);
    any = true;
  }
  return any;
}

/* ---- All together ---------------------------------------------------------------------------- */

static void forget(ptx_emitter *e) {
  e->uses_groups = false;
  e->block = e->shared = e->local = e->linear = e->lane = e->mask = e->live = PTX_NONE;
  if (e->facts->pointer_count > 0) memset(e->pointers, 0, e->facts->pointer_count * sizeof *e->pointers);
  if (e->h->bindings.count > 0) memset(e->lengths, 0, e->h->bindings.count * sizeof *e->lengths);
}

void ptx_head(ptx_emitter *e) {
  forget(e);
  if ((e->facts->flags & PTX_BLOCK_IN_MEMORY) != 0) {
    ptx_operand block = ptx_new(e, PTX_D);
    ptx_line(e, "ld.param.b64 $d0, [block];\ncvta.to.global.u64 $0, $d0;", block);
    e->block = block;
    leave_beyond(e);
  }
  uses u = look(e);
  u.shared |= e->entry->shared_count > 0;
  u.local |= e->entry->local_count > 0;
  load_pointers(e);
  if (u.linear || u.lanes || u.shared) number_invocation(e);
  if (u.lanes) number_lanes(e);
  if (u.shared && e->entry->shared_bytes > 0) {
    e->shared = ptx_new(e, PTX_R);
    ptx_line(e, "mov.u32 $0, shared_memory;", e->shared);
  }
  if (u.local && e->entry->local_bytes > 0) {
    e->local = ptx_new(e, PTX_R);
    ptx_line(e, "mov.u32 $0, local_memory;", e->local);
  }
  clear_slots(e);
  if (e->local != PTX_NONE) clear_arrays(e, false);
  if (e->shared != PTX_NONE && clear_arrays(e, true)) ptx_plain(e, "bar.sync 0;");
}
