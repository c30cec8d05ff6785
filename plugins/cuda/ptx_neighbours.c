/* Loads and stores side by side: two or four elements of 32 bits, two of 64, that begin at a multiple of their size
 * together. That takes accesses that are in range for certain, indices that differ by constants from one value, and
 * facts about that value's low bits. Between the first and the last of them nothing may come that an access could not
 * be moved across. */
#include "plugins/cuda/ptx_emit.h"

enum { LOOK_AHEAD = 24 };

/* An access as what its index is made from. */
typedef struct spot {
  const vyre_kernel_access *access;
  uint32_t index;
  int64_t element; /* behind that index */
} spot;

static bool find_spot(const ptx_emitter *e, const vyre_kernel_insn *in, spot *s) {
  const vyre_kernel_access *a = s->access = gpu_access(e->h, in->arg[0]);
  uint64_t bits;
  bool is_scalar = a->element.lanes == 1 && (a->element.bits == 32 || a->element.bits == 64);
  if (!is_scalar || (a->flags & VYRE_KERNEL_ACCESS_COHERENT) != 0 || !ptx_is_inside(e, a)) return false;
  s->index = ptx_split_index(e, a, &s->element);
  if (ptx_constant(e, s->index, &bits) && bits < 1 << 20) {
    s->index = 0;
    s->element += (int64_t)bits;
  }
  return true;
}

static bool is_beside(const spot *a, const spot *b) {
  const vyre_kernel_access *x = a->access, *y = b->access;
  return a->index == b->index && x->space == y->space && x->number == y->number && x->base == y->base &&
         x->flags == y->flags && gpu_same(x->element, y->element);
}

static uint32_t zeros_of(const ptx_emitter *e, uint32_t v) { return v == 0 ? 31 : gpu_value(e->h, v)->trailing_zeros; }

/* Low bits that are 0 of every address that the index alone gives. */
static uint32_t aligned_bits(const ptx_emitter *e, const spot *s) {
  uint32_t size = (uint32_t)__builtin_ctz(s->access->element.bits / 8), bits = zeros_of(e, s->index) + size;
  uint32_t base = zeros_of(e, s->access->base);
  bits = bits < base ? bits : base;
  return bits < 4 ? bits : 4; /* all memory begins at a multiple of 16 */
}

/* Whether one of a group may be moved across an instruction. */
static bool lets_pass(const ptx_emitter *e, const vyre_kernel_insn *in, bool is_load) {
  if (in->op < VYRE_KERNEL_PARAM || in->op > VYRE_KERNEL_STORE) return false;
  if (in->op < VYRE_KERNEL_LOAD) return true;
  if (in->op == VYRE_KERNEL_STORE) return false;
  const vyre_kernel_access *a = gpu_access(e->h, in->arg[0]);
  return is_load || (a->flags & VYRE_KERNEL_ACCESS_READ_ONLY) != 0 || a->space == VYRE_KERNEL_SPACE_TABLE;
}

/* Four if it can be, else the two that hold |own|, if they can be. */
static bool choose(const uint32_t *found, const uint32_t *order, uint32_t own, uint32_t most, ptx_neighbours *out) {
  for (uint32_t width = most; width >= 2; width /= 2) {
    uint32_t first = own / width * width, last = 0;
    bool all = true;
    for (uint32_t k = 0; k < width; k++) {
      all &= found[first + k] != 0;
      if (order[first + k] > last) last = order[first + k];
    }
    if (!all) continue;
    *out = (ptx_neighbours){ .count = width, .last = last };
    for (uint32_t k = 0; k < width; k++) out->insns[k] = found[first + k] - 1;
    return true;
  }
  return false;
}

bool ptx_find_neighbours(const ptx_emitter *e, uint32_t number, ptx_neighbours *out) {
  const vyre_kernel_insn *in = gpu_insn(e->h, number);
  spot own, other;
  if (!find_spot(e, in, &own)) return false;
  uint32_t bytes = own.access->element.bits / 8, most = (1u << aligned_bits(e, &own)) / bytes;
  most = most > 4 ? 4 : most;
  if (most < 2) return false;
  int64_t start = own.element & ~(int64_t)(most - 1);
  uint32_t found[4] = { 0 }, order[4] = { 0 }, end = e->entry->insn_first + e->entry->insn_count;
  for (uint32_t i = number; i < end && i < number + LOOK_AHEAD; i++) {
    const vyre_kernel_insn *next = gpu_insn(e->h, i);
    bool same = next->op == in->op && !e->done[i] && find_spot(e, next, &other) && is_beside(&own, &other);
    int64_t at = same ? other.element - start : -1;
    if (at >= 0 && at < most && found[at] == 0) {
      found[at] = i + 1;
      order[at] = i;
    } else if (!lets_pass(e, next, in->op == VYRE_KERNEL_LOAD)) {
      break;
    }
  }
  return choose(found, order, (uint32_t)(own.element - start), most, out);
}
