/* Accesses whose order others see: those to an rw buffer that the program also touches by an ordered atomic, or on
 * both sides of a fence of device or system scope. Accesses stand in the order of their statements, and so do fences
 * and the outermost loops around fences; all that is in such a loop lies on both sides. */
#include "lower/lowering.h"

typedef struct touched {
  uint32_t first, last; /* statements */
  bool is_seen, is_ordered;
} touched;

static void note_ordered(const lowering *l, touched *bindings) {
  for (uint32_t e = 1; e < l->p->exprs.count; e++) {
    const ir_expr *x = ir_expr_at(l->p, e);
    if (x->op < VYRE_OP_ATOMIC_ADD || x->op > VYRE_OP_ATOMIC_STORE || x->aux == VYRE_ORDER_RELAXED) continue;
    uint32_t slot = l->p->buffers.data[x->arg[3]].slot;
    if (slot != UINT32_MAX) bindings[slot].is_ordered = true;
  }
}

static void note_touched(const lowering *l, touched *bindings) {
  uint32_t loop = 0; /* the loop with a fence that is not over yet, as an index of fence_loops */
  for (uint32_t i = 0; i < l->code.accesses.count; i++) {
    const vyre_kernel_access *a = &l->code.accesses.data[i];
    uint32_t stmt = l->code.access_stmts.data[i];
    if (a->space != VYRE_KERNEL_SPACE_BINDING) continue;
    touched *t = &bindings[a->number];
    if (!t->is_seen) t->first = stmt;
    t->is_seen = true;
    t->last = stmt;
    while (loop < l->fence_loops.count && l->fence_loops.data[loop + 1] < stmt) loop += 2;
    if (loop < l->fence_loops.count && l->fence_loops.data[loop] <= stmt) t->is_ordered = true;
  }
}

/* Whether one of |n| ascending numbers, |stride| apart, lies between two. */
static bool is_between(const uint32_t *numbers, uint32_t n, uint32_t stride, uint32_t first, uint32_t last) {
  uint32_t low = 0, high = n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (numbers[middle * stride] <= first) low = middle + 1;
    else high = middle;
  }
  return low < n && numbers[low * stride] < last;
}

void lower_mark_coherent(lowering *l) {
  lower_code *c = &l->code;
  bool has_fences = l->fences.count + l->fence_loops.count > 0;
  touched *bindings = calloc((size_t)c->bindings.count + 1, sizeof *bindings);
  if (bindings == NULL) {
    lower_fail_memory(c);
    return;
  }
  note_ordered(l, bindings);
  if (has_fences) note_touched(l, bindings);
  for (uint32_t i = 0; i < c->bindings.count; i++) {
    touched *t = &bindings[i];
    if (is_between(l->fences.data, l->fences.count, 1, t->first, t->last) ||
        is_between(l->fence_loops.data, l->fence_loops.count / 2, 2, t->first, t->last))
      t->is_ordered = true;
    if (c->bindings.data[i].access == VYRE_ACCESS_READ) t->is_ordered = false;
  }
  for (uint32_t i = 0; i < c->accesses.count; i++) {
    vyre_kernel_access *a = &c->accesses.data[i];
    if (a->space == VYRE_KERNEL_SPACE_BINDING && bindings[a->number].is_ordered)
      a->flags |= VYRE_KERNEL_ACCESS_COHERENT;
  }
  free(bindings);
}
