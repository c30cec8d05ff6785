/* Nesting, followed with a stack of the instructions that opened blocks. */
#include "plugins/gpu/flow.h"

#include <stdlib.h>

/* The open blocks of one entry point. An ELSE takes the place of its IF; loops[] are the places of open LOOPs. */
typedef struct nest {
  const vyre_kernel_header *kernel;
  uint32_t *open, depth, room;
  uint32_t *loops, loop_depth;
  bool *continues; /* by loop: its continuing part has begun */
} nest;

static void free_nest(nest *n) {
  free(n->open);
  free(n->loops);
  free(n->continues);
}

/* As many as there can be open at once. */
static bool make_nest(nest *n, const vyre_kernel_header *kernel) {
  uint32_t depth = 0, most = 0;
  for (uint32_t i = 0; i < kernel->insns.count; i++) {
    uint16_t op = gpu_insn(kernel, i)->op;
    if (op == VYRE_KERNEL_IF || op == VYRE_KERNEL_LOOP) depth++;
    if ((op == VYRE_KERNEL_END_IF || op == VYRE_KERNEL_END_LOOP) && depth > 0) depth--;
    if (depth > most) most = depth;
  }
  *n = (nest){ .kernel = kernel, .room = most };
  n->open = calloc((size_t)most + 1, sizeof *n->open);
  n->loops = calloc((size_t)most + 1, sizeof *n->loops);
  n->continues = calloc((size_t)most + 1, sizeof *n->continues);
  return n->open != NULL && n->loops != NULL && n->continues != NULL;
}

static const vyre_kernel_insn *innermost(const nest *n) {
  return n->depth > 0 ? gpu_insn(n->kernel, n->open[n->depth - 1]) : NULL;
}

static const vyre_kernel_insn *loop_of(const nest *n) {
  return n->loop_depth > 0 ? gpu_insn(n->kernel, n->loops[n->loop_depth - 1]) : NULL;
}

static bool in_continuing(const nest *n) { return n->loop_depth > 0 && n->continues[n->loop_depth - 1]; }

static bool open_block(nest *n, uint32_t at) {
  n->open[n->depth++] = at;
  if (gpu_insn(n->kernel, at)->op != VYRE_KERNEL_LOOP) return true;
  if (in_continuing(n)) return false;
  n->loops[n->loop_depth] = at;
  n->continues[n->loop_depth++] = false;
  return true;
}

/* An IF's arg[1] is its ELSE or END_IF, an ELSE's its END_IF. */
static bool end_arm(nest *n, uint32_t at, bool is_else) {
  const vyre_kernel_insn *in = innermost(n);
  if (in == NULL || in->arg[1] != at) return false;
  if (in->op != VYRE_KERNEL_IF && (is_else || in->op != VYRE_KERNEL_ELSE)) return false;
  if (is_else) n->open[n->depth - 1] = at;
  else n->depth--;
  return true;
}

static bool begin_continuing(nest *n, uint32_t at) {
  const vyre_kernel_insn *in = innermost(n);
  if (in == NULL || in->op != VYRE_KERNEL_LOOP || in->arg[2] != at || in_continuing(n)) return false;
  n->continues[n->loop_depth - 1] = true;
  return true;
}

static bool end_loop(nest *n, uint32_t at) {
  const vyre_kernel_insn *in = innermost(n);
  if (in == NULL || in->op != VYRE_KERNEL_LOOP || in->arg[1] != at || !in_continuing(n)) return false;
  if (gpu_insn(n->kernel, at)->arg[1] != n->open[n->depth - 1]) return false;
  n->depth--;
  n->loop_depth--;
  return true;
}

static bool is_jump(uint16_t op) {
  return op == VYRE_KERNEL_BREAK || op == VYRE_KERNEL_CONTINUE || op == VYRE_KERNEL_RETURN;
}

/* Whether a block ends behind instruction |at|: what a jump needs. */
static bool ends_block(const nest *n, uint32_t at, uint32_t end) {
  uint16_t next = at + 1 < end ? gpu_insn(n->kernel, at + 1)->op : VYRE_KERNEL_END_IF;
  return next == VYRE_KERNEL_ELSE || next == VYRE_KERNEL_END_IF || next == VYRE_KERNEL_CONTINUING;
}

static bool jump_fits(const nest *n, const vyre_kernel_insn *in, uint32_t at, uint32_t end) {
  const vyre_kernel_insn *loop = loop_of(n);
  if (in_continuing(n) || !ends_block(n, at, end)) return false;
  if (in->op == VYRE_KERNEL_RETURN) return true;
  return loop != NULL && in->arg[1] == (in->op == VYRE_KERNEL_BREAK ? loop->arg[1] : loop->arg[2]);
}

static bool insn_fits(nest *n, uint32_t at, uint32_t end) {
  const vyre_kernel_insn *in = gpu_insn(n->kernel, at);
  switch (in->op) {
    case VYRE_KERNEL_IF:
    case VYRE_KERNEL_LOOP: return open_block(n, at);
    case VYRE_KERNEL_ELSE: return end_arm(n, at, true);
    case VYRE_KERNEL_END_IF: return end_arm(n, at, false);
    case VYRE_KERNEL_CONTINUING: return begin_continuing(n, at);
    case VYRE_KERNEL_END_LOOP: return end_loop(n, at);
    default: return !is_jump(in->op) || jump_fits(n, in, at, end);
  }
}

static vyre_status check_entries(nest *n, vyre_error *error) {
  for (uint32_t e = 0; e < n->kernel->entries.count; e++) {
    const vyre_kernel_entry *entry = gpu_entry(n->kernel, e);
    uint32_t at = entry->insn_first, end = at + entry->insn_count;
    while (at < end && insn_fits(n, at, end)) at++;
    if (at == end && n->depth == 0) continue;
    return gpu_fail(error, VYRE_ERR_INVALID_FILE, gpu_name,
                    "the kernel's blocks do not nest at instruction %u. Fix: compile the program again", at);
  }
  return VYRE_OK;
}

vyre_status gpu_check_flow(const vyre_kernel_header *kernel, vyre_error *error) {
  nest n;
  vyre_status status = make_nest(&n, kernel) ? check_entries(&n, error) : gpu_no_memory(error);
  free_nest(&n);
  return status;
}
