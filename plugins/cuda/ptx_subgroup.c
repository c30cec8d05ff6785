/* Subgroup operations: shfl, vote and redux among the lanes of e->mask.
 *
 * A subgroup smaller than a warp is a segment of it, which shfl knows by the upper half of its third operand. Lanes
 * that do not exist are only behind the last one of a workgroup: what comes from there is selected away. */
#include <stdio.h>

#include "plugins/cuda/ptx_emit.h"

enum { TEXT_ROOM = 256 };

static bool is_whole(const ptx_emitter *e) { return e->live == PTX_NONE; }

static ptx_operand mask_of(ptx_emitter *e) { return e->mask != PTX_NONE ? e->mask : ptx_number(e, UINT32_MAX); }

static ptx_operand live_of(ptx_emitter *e) { return is_whole(e) ? ptx_number(e, e->subgroup) : e->live; }

/* |to| = |from| of the lane that |mode| and |by| say. |exists|, if there is one, becomes whether that is in the
 * segment; else the own value comes. */
static void shuffle(ptx_emitter *e, const char *mode, ptx_operand to, ptx_operand from, ptx_operand by,
                    ptx_operand exists) {
  char text[TEXT_ROOM];
  uint32_t segment = (32 - e->subgroup) << 8 | (mode[0] == 'u' ? 0 : 31);
  const char *also = exists != PTX_NONE ? "|$4" : "";
  if (ptx_kind(to) == PTX_D)
    snprintf(text, sizeof text,
             "mov.b64 {$r0, $r1}, $1;\nshfl.sync.%s.b32 $r2, $r0, $2, %u, $3;\n"
             "shfl.sync.%s.b32 $r3%s, $r1, $2, %u, $3;\nmov.b64 $0, {$r2, $r3};", mode, segment, mode, also, segment);
  else snprintf(text, sizeof text, "shfl.sync.%s.b32 $0%s, $1, $2, %u, $3;", mode, also, segment);
  ptx_line(e, text, to, from, by, mask_of(e), exists);
}

static ptx_operand select(ptx_emitter *e, ptx_operand if_true, ptx_operand if_false, ptx_operand p, uint32_t kind) {
  ptx_operand made = ptx_new(e, kind);
  ptx_line(e, kind == PTX_D ? "selp.b64 $0, $1, $2, $3;" : "selp.b32 $0, $1, $2, $3;", made, if_true, if_false, p);
  return made;
}

/* ---- Shuffles -------------------------------------------------------------------------------- */

/* The mode that does it alone, because the lane exists or shfl itself gives the own value; NULL for none. */
static const char *mode_of(const ptx_emitter *e, const vyre_kernel_insn *in) {
  uint64_t most = gpu_value(e->h, in->arg[1])->most;
  if (ptx_constant(e, in->arg[1], &most) && most == 0 && in->op <= VYRE_KERNEL_SHUFFLE) return "idx";
  if (most >= e->subgroup) return NULL;
  if (in->op == VYRE_KERNEL_SHUFFLE_UP) return "up";
  if (!is_whole(e)) return NULL;
  return in->op == VYRE_KERNEL_SHUFFLE_XOR ? "bfly" : in->op == VYRE_KERNEL_SHUFFLE_DOWN ? "down" : "idx";
}

static bool exchange(ptx_emitter *e, const vyre_kernel_insn *in) {
  ptx_operand to = ptx_scalar(e, in->result), from = ptx_scalar(e, in->arg[0]), by = ptx_scalar(e, in->arg[1]);
  const char *mode = mode_of(e, in), *text;
  if (mode != NULL) {
    shuffle(e, mode, to, from, by, PTX_NONE);
    return true;
  }
  switch (in->op) {
    case VYRE_KERNEL_SHUFFLE_XOR: text = "xor.b32 $r0, $1, $2;\nsetp.lt.u32 $p0, $r0, $3;\n"; break;
    case VYRE_KERNEL_SHUFFLE_UP: text = "sub.s32 $r0, $1, $2;\nsetp.le.u32 $p0, $2, $1;\n"; break;
    case VYRE_KERNEL_SHUFFLE_DOWN:
      text = "add.s32 $r0, $1, $2;\nsub.s32 $r1, $3, $1;\nsetp.lt.u32 $p0, $2, $r1;\n";
      break;
    default: text = "mov.b32 $r0, $2;\nsetp.lt.u32 $p0, $2, $3;\n";
  }
  char lines[TEXT_ROOM];
  ptx_operand lane = ptx_new(e, PTX_R);
  snprintf(lines, sizeof lines, "%sselp.b32 $0, $r0, $1, $p0;", text);
  ptx_line(e, lines, lane, e->lane, by, live_of(e));
  shuffle(e, "idx", to, from, lane, PTX_NONE);
  return true;
}

/* ---- Reductions and scans -------------------------------------------------------------------- */

static uint32_t combining(uint32_t op) {
  switch (op) {
    case VYRE_KERNEL_SUBGROUP_MUL: return VYRE_KERNEL_MUL;
    case VYRE_KERNEL_SUBGROUP_AND: return VYRE_KERNEL_AND;
    case VYRE_KERNEL_SUBGROUP_OR: return VYRE_KERNEL_OR;
    case VYRE_KERNEL_SUBGROUP_XOR: return VYRE_KERNEL_XOR;
    case VYRE_KERNEL_SUBGROUP_MIN:
    case VYRE_KERNEL_SUBGROUP_INCLUSIVE_MIN:
    case VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MIN: return VYRE_KERNEL_MIN;
    case VYRE_KERNEL_SUBGROUP_MAX:
    case VYRE_KERNEL_SUBGROUP_INCLUSIVE_MAX:
    case VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MAX: return VYRE_KERNEL_MAX;
    default: return VYRE_KERNEL_ADD;
  }
}

static const char *redux(uint32_t op, ptx_type type) {
  if (type != PTX_U32 && type != PTX_I32) return NULL;
  if (type == PTX_I32 && op == VYRE_KERNEL_SUBGROUP_MIN) return "redux.sync.min.s32 $0, $1, $2;";
  if (type == PTX_I32 && op == VYRE_KERNEL_SUBGROUP_MAX) return "redux.sync.max.s32 $0, $1, $2;";
  switch (op) {
    case VYRE_KERNEL_SUBGROUP_ADD: return "redux.sync.add.u32 $0, $1, $2;";
    case VYRE_KERNEL_SUBGROUP_MIN: return "redux.sync.min.u32 $0, $1, $2;";
    case VYRE_KERNEL_SUBGROUP_MAX: return "redux.sync.max.u32 $0, $1, $2;";
    case VYRE_KERNEL_SUBGROUP_AND: return "redux.sync.and.b32 $0, $1, $2;";
    case VYRE_KERNEL_SUBGROUP_OR: return "redux.sync.or.b32 $0, $1, $2;";
    case VYRE_KERNEL_SUBGROUP_XOR: return "redux.sync.xor.b32 $0, $1, $2;";
    default: return NULL;
  }
}

static bool has_redux(const ptx_emitter *e) {
  return e->target.sm >= 80 && (e->target.version == 0 || e->target.version >= 70);
}

/* v = v op that of lane ^ d, a lane that is missing leaving v; then lane 0's for all, which differs only where lanes
 * are missing. */
static bool reduce(ptx_emitter *e, const vyre_kernel_insn *in, ptx_type type, const char *combine) {
  ptx_operand to = ptx_scalar(e, in->result), v = ptx_scalar(e, in->arg[0]);
  uint32_t kind = ptx_register_of(type);
  const char *native = redux(in->op, type);
  if (native != NULL && has_redux(e) && ptx_needs(e, 80, 70, "redux")) {
    ptx_line(e, native, to, v, mask_of(e));
    return true;
  }
  for (uint32_t d = 1; d < e->subgroup; d *= 2) {
    ptx_operand other = ptx_new(e, kind), next = ptx_new(e, kind);
    shuffle(e, "bfly", other, v, ptx_number(e, d), PTX_NONE);
    ptx_line(e, combine, next, v, other);
    if (!is_whole(e)) {
      ptx_operand exists = ptx_new(e, PTX_P);
      ptx_line(e, "xor.b32 $r0, $1, $2;\nsetp.lt.u32 $0, $r0, $3;", exists, e->lane, ptx_number(e, d), e->live);
      next = select(e, next, v, exists, kind);
    }
    v = next;
  }
  if (is_whole(e)) ptx_line(e, kind == PTX_D ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;", to, v);
  else shuffle(e, "idx", to, v, ptx_number(e, 0), PTX_NONE);
  return true;
}

/* What the first lane gets of an exclusive scan. */
static uint64_t first_of(uint32_t op, ptx_type type) {
  static const uint64_t largest[PTX_TYPES] = { 0, UINT32_MAX, INT32_MAX, UINT64_MAX, INT64_MAX, 0x7F800000u,
                                               0x7FF0000000000000u };
  static const uint64_t smallest[PTX_TYPES] = { 0, 0, 0x80000000u, 0, 0x8000000000000000u, 0xFF800000u,
                                                0xFFF0000000000000u };
  if (op == VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MIN) return largest[type];
  return op == VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MAX ? smallest[type] : 0;
}

static bool scan(ptx_emitter *e, const vyre_kernel_insn *in, ptx_type type, const char *combine) {
  ptx_operand to = ptx_scalar(e, in->result), v = ptx_scalar(e, in->arg[0]);
  uint32_t kind = ptx_register_of(type);
  for (uint32_t d = 1; d < e->subgroup; d *= 2) {
    ptx_operand other = ptx_new(e, kind), next = ptx_new(e, kind), exists = ptx_new(e, PTX_P);
    shuffle(e, "up", other, v, ptx_number(e, d), exists);
    ptx_line(e, combine, next, other, v);
    v = select(e, next, v, exists, kind);
  }
  if (in->op >= VYRE_KERNEL_SUBGROUP_EXCLUSIVE_ADD) {
    ptx_operand before = ptx_new(e, kind), exists = ptx_new(e, PTX_P);
    shuffle(e, "up", before, v, ptx_number(e, 1), exists);
    v = select(e, before, ptx_number(e, first_of(in->op, type)), exists, kind);
  }
  ptx_line(e, kind == PTX_D ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;", to, v);
  return true;
}

/* ---- Votes ----------------------------------------------------------------------------------- */

static bool vote(ptx_emitter *e, const vyre_kernel_insn *in) {
  ptx_operand p = ptx_predicate(e, in->arg[0]), to = ptx_scalar(e, in->result), mask = mask_of(e);
  if (in->op == VYRE_KERNEL_SUBGROUP_ANY) ptx_line(e, "vote.sync.any.pred $0, $1, $2;", to, p, mask);
  else if (in->op == VYRE_KERNEL_SUBGROUP_ALL) ptx_line(e, "vote.sync.all.pred $0, $1, $2;", to, p, mask);
  else if (e->subgroup == 32) ptx_line(e, "vote.sync.ballot.b32 $0, $1, $2;", to, p, mask);
  else
    ptx_line(e, "vote.sync.ballot.b32 $r0, $1, $2;\nmov.u32 $r1, %%laneid;\nsub.s32 $r2, $r1, $3;\n"
             "shr.u32 $0, $r0, $r2;", to, p, mask, e->lane);
  return true;
}

bool ptx_subgroup(ptx_emitter *e, const vyre_kernel_insn *in) {
  if (in->result == 0) return false;
  ptx_type type = ptx_value_type(e, in->arg[0]);
  ptx_define(e, in->result);
  if (type >= PTX_TYPES || ptx_lanes(e, in->arg[0]) != 1) return false;
  bool votes = in->op >= VYRE_KERNEL_SUBGROUP_ANY && in->op <= VYRE_KERNEL_SUBGROUP_BALLOT;
  if (votes) return type == PTX_BOOL && vote(e, in);
  if (type == PTX_BOOL || ptx_value_type(e, in->result) != type) return false;
  if (in->op >= VYRE_KERNEL_BROADCAST) return exchange(e, in);
  const char *combine = ptx_operator(combining(in->op), type);
  if (combine == NULL) return false;
  return in->op <= VYRE_KERNEL_SUBGROUP_XOR ? reduce(e, in, type, combine) : scan(e, in, type, combine);
}
