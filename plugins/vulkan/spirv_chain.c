/* Finds chains of else-ifs that are too long to be nested. */
#include "plugins/vulkan/spirv_emit.h"

#include <stdlib.h>

enum { LONG_CHAIN = 16, DEEP = 32 };

/* An open if or loop, and what is known of it as it closes. */
typedef struct link {
  uint32_t insn;
  bool jumps_out; /* an if: a jump inside goes to a loop around it */
} link;

/* By number of its first instruction from the start of the entry point: how many ifs a chain from this one on has, and
 * which is the next. 0 for one that may not be in a chain. */
typedef struct length {
  uint32_t count, next;
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
      lengths[at.insn - first] = goes_on ? (length){ lengths[closed - first].count + 1, closed } : (length){ 1, 0 };
    closed = at.insn;
    ended = i;
  }
}

void spirv_find_chains(spirv_emitter *e) {
  const uint32_t first = e->entry->insn_first, count = e->entry->insn_count, depth = depth_of(e);
  if (depth < DEEP) return;
  link *open = calloc(depth, sizeof *open);
  length *lengths = calloc(count, sizeof *lengths);
  if (open != NULL && lengths != NULL) measure(e, open, lengths);
  else e->m.failed = true;
  for (uint32_t i = 0; i < count && lengths != NULL && open != NULL; i++) {
    if (e->chains[first + i] != SPIRV_CHAIN_NONE || lengths[i].count < LONG_CHAIN) continue;
    e->chains[first + i] = SPIRV_CHAIN_HEAD;
    for (uint32_t at = i; lengths[at].count > 1;) {
      at = lengths[at].next - first;
      e->chains[first + at] = SPIRV_CHAIN_LINK;
    }
  }
  free(open);
  free(lengths);
}
