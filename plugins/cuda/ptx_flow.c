/* Blocks become labels and branches. Instruction i that is jumped to is label L<i>; a branch whose condition is the
 * same for the whole workgroup says `.uni`. An arm that is short and only computes, loads, stores and sets slots is not
 * branched around: what it touches is predicated. */
#include <stdlib.h>

#include "plugins/cuda/ptx_emit.h"

enum { SHORT_ARM = 8, FEW_EFFECTS = 3 };

static ptx_operand label(ptx_emitter *e, uint32_t insn) { return ptx_number(e, insn); }

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void open_block(ptx_emitter *e) {
  if (e->block_count == e->block_room) {
    uint32_t room = e->block_room * 2 + 64;
    uint32_t *blocks = realloc(e->blocks, room * sizeof *blocks);
    if (blocks == NULL) {
      e->out->failed = true;
      return;
    }
    e->blocks = blocks;
    e->block_room = room;
  }
  e->blocks[e->block_count++] = e->place_count;
}

/* Forgets the addresses of the block. */
static void close_block(ptx_emitter *e) {
  if (e->block_count == 0) {
    ptx_refuse(e, VYRE_ERR_INVALID_FILE, "a block ends that has not begun. Fix: compile the program again");
    return;
  }
  e->place_count = e->blocks[--e->block_count];
}

/* ---- Jumps ----------------------------------------------------------------------------------- */

static void leave(ptx_emitter *e) {
  if (e->uses_groups && ptx_needs(e, 80, 70, "cp.async")) ptx_plain(e, "cp.async.wait_all;");
  ptx_plain(e, "ret;");
}

static bool is_uniform(const ptx_emitter *e, uint32_t condition) {
  return gpu_value(e->h, condition)->uniform <= VYRE_KERNEL_UNIFORM_WORKGROUP;
}

static void branch(ptx_emitter *e, uint32_t condition, bool if_true, uint32_t to) {
  const char *const text[2][2] = { { "@!$0 bra L$1;", "@!$0 bra.uni L$1;" }, { "@$0 bra L$1;", "@$0 bra.uni L$1;" } };
  ptx_operand p = ptx_predicate(e, condition);
  ptx_line(e, text[if_true][is_uniform(e, condition)], p, label(e, to));
}

/* ---- Short arms ------------------------------------------------------------------------------ */

static bool is_simple(const vyre_kernel_insn *in, uint32_t *effects) {
  switch (in->op) {
    case VYRE_KERNEL_DIV:
    case VYRE_KERNEL_REM:
    case VYRE_KERNEL_SQRT:
    case VYRE_KERNEL_DIV_RAW:
    case VYRE_KERNEL_REM_RAW: return false;
    case VYRE_KERNEL_SET:
    case VYRE_KERNEL_LOAD:
    case VYRE_KERNEL_STORE: return ++*effects <= FEW_EFFECTS;
    default: return in->op >= VYRE_KERNEL_PARAM && in->op < VYRE_KERNEL_LOAD;
  }
}

/* The END_IF of an if whose arms are short, 0 for any other. */
static uint32_t short_if(const ptx_emitter *e, uint32_t number) {
  const vyre_kernel_insn *in = gpu_insn(e->h, number);
  uint32_t effects = 0, end = e->entry->insn_first + e->entry->insn_count;
  for (uint32_t i = number + 1; i < end && i <= number + SHORT_ARM; i++) {
    const vyre_kernel_insn *next = gpu_insn(e->h, i);
    if (next->op == VYRE_KERNEL_END_IF) return i;
    if (next->op == VYRE_KERNEL_ELSE && i == in->arg[1]) continue;
    if (!is_simple(next, &effects)) return 0;
  }
  return 0;
}

static void instruction(ptx_emitter *e, uint32_t number);

static void predicated(ptx_emitter *e, uint32_t number, uint32_t end) {
  const vyre_kernel_insn *in = gpu_insn(e->h, number);
  e->guard = ptx_predicate(e, in->arg[0]);
  open_block(e);
  for (uint32_t i = number + 1; i < end; i++) {
    if (gpu_insn(e->h, i)->op != VYRE_KERNEL_ELSE) {
      instruction(e, i);
      continue;
    }
    ptx_operand otherwise = ptx_new(e, PTX_P);
    ptx_line(e, "not.pred $0, $1;", otherwise, e->guard);
    e->guard = otherwise;
  }
  close_block(e);
  e->guard = PTX_NONE;
}

/* ---- Structure ------------------------------------------------------------------------------- */

/* `if (c) break;` and its like: the jump takes the condition. */
static bool conditional_jump(ptx_emitter *e, uint32_t number) {
  if (e->entry->insn_first + e->entry->insn_count - number < 3) return false;
  const vyre_kernel_insn *in = gpu_insn(e->h, number), *jump = gpu_insn(e->h, number + 1);
  if (in->arg[1] != number + 2 || gpu_insn(e->h, number + 2)->op != VYRE_KERNEL_END_IF) return false;
  if (jump->op == VYRE_KERNEL_BREAK || jump->op == VYRE_KERNEL_CONTINUE) {
    branch(e, in->arg[0], true, jump->arg[1]);
    return true;
  }
  if (jump->op != VYRE_KERNEL_RETURN || e->uses_groups) return false;
  ptx_line(e, "@$0 ret;", ptx_predicate(e, in->arg[0]));
  return true;
}

/* Gives the instruction to go on at. */
static uint32_t begin_if(ptx_emitter *e, uint32_t number) {
  const vyre_kernel_insn *in = gpu_insn(e->h, number);
  if (conditional_jump(e, number)) return number + 3;
  uint32_t end = is_uniform(e, in->arg[0]) ? 0 : short_if(e, number);
  if (end != 0) {
    predicated(e, number, end);
    return end + 1;
  }
  branch(e, in->arg[0], false, in->arg[1]);
  open_block(e);
  return number + 1;
}

static void end_loop(ptx_emitter *e, uint32_t number) {
  const vyre_kernel_insn *in = gpu_insn(e->h, number);
  close_block(e);
  if (in->arg[0] != 0) branch(e, in->arg[0], false, in->arg[1]);
  else ptx_line(e, "bra.uni L$0;", label(e, in->arg[1]));
  ptx_line(e, "L$0:", label(e, number));
}

static void go_to(ptx_emitter *e, uint32_t to) { ptx_line(e, "bra.uni L$0;", label(e, to)); }

static uint32_t structure(ptx_emitter *e, uint32_t number) {
  const vyre_kernel_insn *in = gpu_insn(e->h, number);
  switch (in->op) {
    case VYRE_KERNEL_IF: return begin_if(e, number);
    case VYRE_KERNEL_ELSE:
      close_block(e);
      go_to(e, in->arg[1]);
      ptx_line(e, "L$0:", label(e, number));
      open_block(e);
      break;
    case VYRE_KERNEL_END_IF:
      close_block(e);
      ptx_line(e, "L$0:", label(e, number));
      break;
    case VYRE_KERNEL_LOOP:
      ptx_line(e, "L$0:", label(e, number));
      open_block(e);
      break;
    case VYRE_KERNEL_CONTINUING:
      close_block(e);
      ptx_line(e, "L$0:", label(e, number));
      open_block(e);
      break;
    case VYRE_KERNEL_END_LOOP: end_loop(e, number); break;
    case VYRE_KERNEL_RETURN: leave(e); break;
    default: go_to(e, in->arg[1]); /* BREAK, CONTINUE */
  }
  return number + 1;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static bool write_instruction(ptx_emitter *e, uint32_t number, const vyre_kernel_insn *in) {
  uint32_t op = in->op;
  if (op >= VYRE_KERNEL_PARAM && op <= VYRE_KERNEL_NUM_SUBGROUPS) return ptx_leaf(e, in);
  if (op == VYRE_KERNEL_GET || op == VYRE_KERNEL_SET) return ptx_move(e, in);
  if (op == VYRE_KERNEL_BITCAST || op == VYRE_KERNEL_VECTOR || op == VYRE_KERNEL_EXTRACT) return ptx_move(e, in);
  bool converts = (op >= VYRE_KERNEL_RESIZE && op <= VYRE_KERNEL_TO_BF16) || op == VYRE_KERNEL_TO_INT_RAW;
  if (converts) return ptx_convert(e, in);
  if (op < VYRE_KERNEL_LOAD) return ptx_pattern(e, in) || ptx_compute(e, in);
  if (op <= VYRE_KERNEL_STORE) return ptx_memory(e, number, in);
  if (op <= VYRE_KERNEL_ATOMIC_CAS) return ptx_atomic(e, in);
  if (op <= VYRE_KERNEL_WAIT) return ptx_copy(e, in);
  if (op >= VYRE_KERNEL_SUBGROUP_ADD && op <= VYRE_KERNEL_SHUFFLE_DOWN) return ptx_subgroup(e, in);
  return ptx_group(e, in);
}

static void instruction(ptx_emitter *e, uint32_t number) {
  const vyre_kernel_insn *in = gpu_insn(e->h, number);
  if (!write_instruction(e, number, in))
    ptx_refuse(e, VYRE_ERR_UNSUPPORTED, "instruction %u, %s, is of types that PTX has no form for. "
               "Fix: compile the program again", number, gpu_opcode_of(in->op).spelling);
}

void ptx_body(ptx_emitter *e) {
  uint32_t end = e->entry->insn_first + e->entry->insn_count;
  for (uint32_t i = e->entry->insn_first; i < end && e->status == VYRE_OK && !e->out->failed;) {
    if (gpu_insn(e->h, i)->op < VYRE_KERNEL_PARAM) i = structure(e, i);
    else instruction(e, i++);
  }
  leave(e);
}
