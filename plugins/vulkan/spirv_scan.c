/* What an entry point uses, before it is emitted: words of the block, ids, views of arrays, and which ifs and loops padding
 * has to follow. */
#include "plugins/vulkan/spirv_emit.h"

#include <string.h>

uint32_t spirv_buffer_of(const spirv_emitter *e, const vyre_kernel_access *access) {
  const vyre_kernel_header *k = e->kernel;
  switch (access->space) {
    case VYRE_KERNEL_SPACE_BINDING: return access->number;
    case VYRE_KERNEL_SPACE_HIDDEN: return k->bindings.count + access->number;
    case VYRE_KERNEL_SPACE_TABLE: return e->layout.table_buffer;
    default: return UINT32_MAX;
  }
}

/* ---- Words of the block ---------------------------------------------------------------------- */

static void want_word(spirv_emitter *e, uint32_t number) {
  if (e->words[number] != 0) return;
  e->words[number] = UINT32_MAX; /* until it is read */
  gpu_bytes_word(&e->used, number);
}

static void want(spirv_emitter *e, vyre_kernel_type type, uint32_t offset) {
  uint32_t bytes = gpu_element_bytes(type);
  for (uint32_t at = 0; at < bytes; at += 4) want_word(e, (offset + at) / 4);
}

static uint32_t count_word(const spirv_emitter *e, uint32_t binding) {
  return VYRE_KERNEL_AT(vyre_kernel_binding, e->kernel, bindings, binding)->count_offset / 4;
}

static void want_hidden(spirv_emitter *e, vyre_kernel_word kind) {
  int number = gpu_hidden_word(e->kernel, kind);
  if (number < 0) return;
  const vyre_kernel_hidden_word *w =
    VYRE_KERNEL_AT(vyre_kernel_hidden_word, e->kernel, hidden_words, (uint32_t)number);
  want(e, w->type, w->offset);
}

static void want_wid(spirv_emitter *e, uint32_t axis) {
  e->wants_wid |= (uint8_t)(1u << axis);
  want_hidden(e, VYRE_KERNEL_WORD_ORIGIN_X + axis);
}

static void scan_leaf(spirv_emitter *e, const vyre_kernel_insn *in) {
  const vyre_kernel_header *k = e->kernel;
  uint32_t a = in->arg[0];
  switch (in->op) {
    case VYRE_KERNEL_PARAM: {
      const vyre_kernel_param *p = VYRE_KERNEL_AT(vyre_kernel_param, k, params, a);
      want(e, p->type, p->offset);
      break;
    }
    case VYRE_KERNEL_HIDDEN: {
      const vyre_kernel_hidden_word *w = VYRE_KERNEL_AT(vyre_kernel_hidden_word, k, hidden_words, a);
      want(e, w->type, w->offset);
      break;
    }
    case VYRE_KERNEL_LENGTH:
      want_word(e, count_word(e, a));
      want_word(e, count_word(e, a) + 1);
      break;
    case VYRE_KERNEL_GID:
      e->wants_gid |= (uint8_t)(1u << a);
      e->wants_lid |= (uint8_t)(1u << a);
      want_wid(e, a);
      break;
    case VYRE_KERNEL_WID: want_wid(e, a); break;
    case VYRE_KERNEL_LID: e->wants_lid |= (uint8_t)(1u << a); break;
    case VYRE_KERNEL_NWG: want_hidden(e, VYRE_KERNEL_WORD_GRID_X + a); break;
    case VYRE_KERNEL_LANE: e->wants_lane = true; break;
    case VYRE_KERNEL_SUBGROUP_ID: e->wants_subgroup_id = true; break;
    default: break;
  }
}

/* ---- Accesses -------------------------------------------------------------------------------- */

static void scan_access(spirv_emitter *e, const vyre_kernel_access *a) {
  uint32_t number = spirv_buffer_of(e, a);
  if (a->space == VYRE_KERNEL_SPACE_SHARED) e->shared[a->number].seen |= (uint8_t)(1u << spirv_view_of(a->element));
  if (a->space == VYRE_KERNEL_SPACE_LOCAL) e->locals[a->number].seen |= (uint8_t)(1u << spirv_view_of(a->element));
  if (number == UINT32_MAX) return;
  spirv_buffer *b = &e->buffers[number];
  if (a->flags & VYRE_KERNEL_ACCESS_COHERENT) b->is_coherent = true;
  if (e->mode == SPIRV_ADDRESSED && !b->wants_address) {
    b->wants_address = true;
    want_word(e, (e->layout.address_offset + number * 8) / 4);
    want_word(e, (e->layout.address_offset + number * 8) / 4 + 1);
  }
  if (a->bound_kind != VYRE_KERNEL_BOUND_LENGTH) return;
  const bool is_wide = spirv_value_type(e, a->index).bits == 64;
  b->wants_length = true;
  if (is_wide) b->wants_wide_length = true;
  else if (e->mode == SPIRV_ADDRESSED) b->wants_high = true;
  want_word(e, count_word(e, number));
  if (is_wide || e->mode == SPIRV_ADDRESSED) want_word(e, count_word(e, number) + 1);
}

/* ---- Flow ------------------------------------------------------------------------------------ */

/* Padding follows ifs and loops that hold what invocations do together, and those by which such a loop, or the entry point
 * in front of such a place, may be left. All others it skips. */
static bool is_together(uint16_t op) {
  return op == VYRE_KERNEL_BARRIER || (op >= VYRE_KERNEL_SUBGROUP_ADD && op <= VYRE_KERNEL_SHUFFLE_DOWN);
}

/* MEETS flows outwards, FOLLOWED does not. */
enum { FOLLOWED = 1, MEETS = 2 };

static void mark(spirv_emitter *e, uint32_t insn, uint8_t how) {
  if (e->meets[insn] < how) e->meets[insn] = how;
}

/* |stack| has the |depth| ifs and loops around a jump. */
static void mark_jump(spirv_emitter *e, uint16_t op, const uint32_t *stack, uint32_t depth) {
  while (depth-- > 0) {
    if (op != VYRE_KERNEL_RETURN && gpu_insn(e->kernel, stack[depth])->op == VYRE_KERNEL_LOOP) return;
    mark(e, stack[depth], FOLLOWED);
  }
}

static uint32_t last_together(const spirv_emitter *e) {
  uint32_t last = e->entry->insn_first;
  for (uint32_t i = last; i < e->entry->insn_first + e->entry->insn_count; i++)
    if (is_together(gpu_insn(e->kernel, i)->op)) last = i;
  return last;
}

static void scan_flow(spirv_emitter *e) {
  const uint32_t first = e->entry->insn_first, end = first + e->entry->insn_count, last = last_together(e);
  uint32_t depth = 0;
  gpu_bytes open = { 0 };
  for (uint32_t i = first; i < end && !open.failed; i++) {
    const vyre_kernel_insn *in = gpu_insn(e->kernel, i);
    const uint32_t *stack = (const uint32_t *)(const void *)open.data;
    if (in->op == VYRE_KERNEL_IF || in->op == VYRE_KERNEL_LOOP) {
      open.count = depth++ * sizeof i;
      gpu_bytes_word(&open, i);
    } else if (in->op == VYRE_KERNEL_END_IF || in->op == VYRE_KERNEL_END_LOOP) {
      uint32_t closed = stack[--depth];
      if (e->meets[closed] == MEETS && depth > 0) mark(e, stack[depth - 1], MEETS);
    } else if (depth > 0 && is_together(in->op)) {
      mark(e, stack[depth - 1], MEETS);
    } else if (in->op == VYRE_KERNEL_BREAK || in->op == VYRE_KERNEL_CONTINUE ||
               (in->op == VYRE_KERNEL_RETURN && i < last)) {
      mark_jump(e, in->op, stack, depth);
    }
  }
  if (open.failed) e->m.failed = true;
  gpu_bytes_free(&open);
}

static void note_types(spirv_emitter *e, const vyre_kernel_insn *in) {
  if (in->result == 0) return;
  vyre_kernel_type type = spirv_value_type(e, in->result);
  if (type.cls != VYRE_KERNEL_CLASS_FLOAT) return;
  if (type.bits == 64) e->has_f64 = true;
  else e->has_f32 = true;
}

void spirv_scan(spirv_emitter *e) {
  const uint32_t first = e->entry->insn_first, end = first + e->entry->insn_count;
  for (uint32_t i = first; i < end; i++) {
    const vyre_kernel_insn *in = gpu_insn(e->kernel, i);
    const gpu_opcode op = gpu_opcode_of(in->op);
    if (in->op >= VYRE_KERNEL_PARAM && in->op <= VYRE_KERNEL_NUM_SUBGROUPS) scan_leaf(e, in);
    for (int j = 0; j < 2; j++)
      if (op.kind[j] == GPU_AC) scan_access(e, gpu_access(e->kernel, in->arg[j]));
    note_types(e, in);
  }
  if (e->subgroup != 0 && e->invocations % e->subgroup != 0) scan_flow(e);
}
