/* Finds chains of else-ifs that are too long to be nested, cuts the longest, and finds the values that are carried over the
 * cuts. */
#include "plugins/vulkan/spirv_emit.h"

#include <stdlib.h>

enum { LONG_CHAIN = 16, DEEP = 32, TURN = 32 };

/* An open if or loop, and what is known of it as it closes. */
typedef struct link {
  uint32_t insn;
  bool jumps_out; /* an if: a jump inside goes to a loop around it */
} link;

/* By number of its first instruction from the start of the entry point: how many ifs a chain from this one on has, and
 * which is the next. 0 for one that may not be in a chain. */
typedef struct length {
  uint32_t count, next;
  uint32_t cut; /* the if in front of which the chain is cut next; 0 for none */
} length;

static uint32_t depth_of(const spirv_emitter *e) {
  uint32_t depth = 0, most = 0;
  for (uint32_t i = e->entry->insn_first; i < e->entry->insn_first + e->entry->insn_count; i++) {
    const uint16_t op = gpu_insn(e->kernel, i)->op;
    if (op == VYRE_KERNEL_IF || op == VYRE_KERNEL_LOOP) depth++;
    if (op == VYRE_KERNEL_END_IF || op == VYRE_KERNEL_END_LOOP) depth--;
    if (depth > most) most = depth;
  }
  return most;
}

/* An if is continued by the one that ends right before it does, if that stands in its else and takes all of the rest. */
static void measure(const spirv_emitter *e, link *open, length *lengths) {
  const uint32_t first = e->entry->insn_first;
  uint32_t depth = 0, closed = UINT32_MAX; /* the if that ended last, and where */
  for (uint32_t i = first, ended = 0; i < first + e->entry->insn_count; i++) {
    const vyre_kernel_insn *in = gpu_insn(e->kernel, i);
    if (in->op == VYRE_KERNEL_IF || in->op == VYRE_KERNEL_LOOP) open[depth++] = (link){ i, false };
    if (in->op == VYRE_KERNEL_BREAK || in->op == VYRE_KERNEL_CONTINUE)
      for (uint32_t d = depth; d-- > 0 && gpu_insn(e->kernel, open[d].insn)->op == VYRE_KERNEL_IF;)
        open[d].jumps_out = true;
    if (in->op == VYRE_KERNEL_END_LOOP) depth--;
    if (in->op != VYRE_KERNEL_END_IF) continue;
    const link at = open[--depth];
    const uint32_t other = gpu_insn(e->kernel, at.insn)->arg[1];
    bool goes_on = closed != UINT32_MAX && ended + 1 == i && other != i && closed > other;
    if (!at.jumps_out)
      lengths[at.insn - first] = goes_on ? (length){ lengths[closed - first].count + 1, closed, 0 } : (length){ 1, 0, 0 };
    closed = at.insn;
    ended = i;
  }
}

/* Marks a chain from its head on. */
static void mark(spirv_emitter *e, length *lengths, uint32_t head) {
  const uint32_t first = e->entry->insn_first;
  uint32_t turn = head, links = 0;
  const bool is_long = lengths[head].count > TURN;
  e->chains[first + head] = is_long ? SPIRV_CHAIN_LONG_HEAD : SPIRV_CHAIN_HEAD;
  e->is_cut |= is_long;
  for (uint32_t at = head; lengths[at].count > 1;) {
    at = lengths[at].next - first;
    const bool is_cut = ++links % TURN == 0;
    e->chains[first + at] = is_cut ? SPIRV_CHAIN_CUT : SPIRV_CHAIN_LINK;
    for (; is_cut && turn != at; turn = lengths[turn].next - first) lengths[turn].cut = first + at;
  }
}

/* ---- Values that are carried over cuts ------------------------------------------------------- */

/* By value: the last instruction that uses it. */
static void find_last_uses(const spirv_emitter *e, uint32_t *last) {
  for (uint32_t i = e->entry->insn_first; i < e->entry->insn_first + e->entry->insn_count; i++) {
    const vyre_kernel_insn *in = gpu_insn(e->kernel, i);
    const gpu_opcode row = gpu_opcode_of(in->op);
    for (uint32_t k = 0; k < 4; k++) {
      if (row.kind[k] == GPU_VA || row.kind[k] == GPU_OV) last[in->arg[k]] = i;
      if (row.kind[k] != GPU_AC) continue;
      const vyre_kernel_access *a = gpu_access(e->kernel, in->arg[k]);
      last[a->index] = i;
      last[a->base] = i;
      last[a->bound] = i;
    }
  }
}

/* A value that is made between two ifs of a chain is seen by the rest of it. */
static void find_carried(spirv_emitter *e, link *open, const length *lengths, const uint32_t *last) {
  const uint32_t first = e->entry->insn_first;
  for (uint32_t i = first, depth = 0; i < first + e->entry->insn_count; i++) {
    const vyre_kernel_insn *in = gpu_insn(e->kernel, i);
    if (in->op == VYRE_KERNEL_IF || in->op == VYRE_KERNEL_LOOP) open[depth++].insn = i;
    if (in->op == VYRE_KERNEL_END_IF || in->op == VYRE_KERNEL_END_LOOP) depth--;
    if (in->result == 0 || depth == 0) continue;
    const uint32_t around = open[depth - 1].insn, cut = lengths[around - first].cut;
    if (cut == 0 || i < gpu_insn(e->kernel, around)->arg[1] || last[in->result] < cut) continue;
    const spirv_carried carried = { .value = in->result, .last = last[in->result] };
    gpu_bytes_add(&e->carried, &carried, sizeof carried);
  }
}

void spirv_find_chains(spirv_emitter *e) {
  const uint32_t first = e->entry->insn_first, count = e->entry->insn_count, depth = depth_of(e);
  e->is_cut = false;
  e->carried.count = 0;
  e->carried_next = 0;
  if (depth < DEEP) return;
  link *open = calloc(depth, sizeof *open);
  length *lengths = calloc(count, sizeof *lengths);
  uint32_t *last = calloc(e->kernel->values.count + 1u, sizeof *last);
  const bool has_room = open != NULL && lengths != NULL && last != NULL;
  if (has_room) measure(e, open, lengths);
  else e->m.failed = true;
  for (uint32_t i = 0; i < count && has_room; i++)
    if (e->chains[first + i] == SPIRV_CHAIN_NONE && lengths[i].count >= LONG_CHAIN) mark(e, lengths, i);
  if (e->is_cut) {
    find_last_uses(e, last);
    find_carried(e, open, lengths, last);
  }
  if (e->carried.failed) e->m.failed = true;
  free(open);
  free(lengths);
  free(last);
}
