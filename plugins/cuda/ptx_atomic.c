/* Atomics: ld, st, atom and red with order and scope. seq_cst is a fence before the access, which then acquires or
 * releases.
 *
 * The PTX ISA says that atom.add.f32 on global memory flushes subnormals. Where |b| is at least 2^-100 that changes
 * nothing: a subnormal operand is below half a unit in the last place of b, and a sum that is not 0 has its lowest bit
 * no lower than b's, at 2^-124 or above. Other additions go through compare and swap. */
#include <stdio.h>

#include "plugins/cuda/ptx_emit.h"

enum { TEXT_ROOM = 192 };
static const uint32_t plain_f32 = 0x0D800000; /* 2^-100 */

/* One atomic access as it is being written. */
typedef struct atomic {
  const char *order, *scope, *space; /* without dots */
  ptx_operand reg, offset, when;
} atomic;

static const char *scope_name(uint32_t scope) {
  return scope == VYRE_SCOPE_WORKGROUP ? "cta" : scope == VYRE_SCOPE_DEVICE ? "gpu" : "sys";
}

static const char *order_name(uint32_t op, uint32_t order) {
  static const char *const names[] = { "relaxed", "acquire", "release", "acq_rel" };
  if (order != VYRE_ORDER_SEQ_CST) return names[order & 3];
  return op == VYRE_KERNEL_ATOMIC_LOAD ? "acquire" : op == VYRE_KERNEL_ATOMIC_STORE ? "release" : "acq_rel";
}

/* A line of which |format| has, one after another, order, scope and space. */
static void line(ptx_emitter *e, const atomic *t, const char *verb, const char *rest, ptx_operand to, ptx_operand b,
                 ptx_operand c) {
  char text[TEXT_ROOM];
  snprintf(text, sizeof text, "%s%s.%s.%s.%s.%s", t->when != PTX_NONE ? "@$5 " : "", verb, t->order, t->scope, t->space,
           rest);
  ptx_line(e, text, to, t->reg, t->offset, b, c, t->when);
}

static void zero(ptx_emitter *e, ptx_operand to) {
  ptx_line(e, ptx_kind(to) == PTX_D ? "mov.b64 $0, 0;" : "mov.b32 $0, 0;", to);
}

static bool is_used(const ptx_emitter *e, uint32_t v) { return v != 0 && e->uses[v] != 0; }

/* ---- Loads and stores ------------------------------------------------------------------------ */

static bool load(ptx_emitter *e, const vyre_kernel_insn *in, const vyre_kernel_access *a, const atomic *t) {
  ptx_define(e, in->result);
  uint32_t lanes = a->element.lanes;
  if (in->result == 0 || ptx_lanes(e, in->result) != lanes) return false;
  for (uint32_t k = 0; k < lanes && t->when != PTX_NONE; k++) zero(e, ptx_part(e, in->result, k));
  if (lanes == 1) {
    bool wide = a->element.bits == 64;
    if (ptx_kind(ptx_scalar(e, in->result)) != (wide ? PTX_D : PTX_R)) return false;
    line(e, t, "ld", wide ? "b64 $0, [$1+$2];" : "b32 $0, [$1+$2];", ptx_scalar(e, in->result), PTX_NONE, PTX_NONE);
    return true;
  }
  if (lanes != 4) return false;
  if (!ptx_needs(e, 70, t->scope[0] == 's' ? 84 : 83, "an atomic load of 16 bytes")) return true;
  ptx_operand pair[2] = { ptx_new(e, PTX_D), ptx_new(e, PTX_D) }, whole = ptx_new(e, PTX_Q);
  for (int k = 0; k < 2 && t->when != PTX_NONE; k++) zero(e, pair[k]);
  if (t->when != PTX_NONE) ptx_line(e, "mov.b128 $0, {$1, $1};", whole, pair[0]);
  line(e, t, "ld", "b128 $0, [$1+$2];", whole, PTX_NONE, PTX_NONE);
  ptx_line(e, "mov.b128 {$0, $1}, $2;", pair[0], pair[1], whole);
  for (uint32_t k = 0; k < 2; k++)
    ptx_line(e, "mov.b64 {$0, $1}, $2;", ptx_part(e, in->result, 2 * k), ptx_part(e, in->result, 2 * k + 1), pair[k]);
  return true;
}

static bool store(ptx_emitter *e, const vyre_kernel_insn *in, const vyre_kernel_access *a, const atomic *t) {
  if (a->element.lanes != 1) return false;
  line(e, t, "st", a->element.bits == 64 ? "b64 [$1+$2], $3;" : "b32 [$1+$2], $3;", PTX_NONE,
       ptx_scalar(e, in->arg[1]), PTX_NONE);
  return true;
}

/* ---- Additions of f32 ------------------------------------------------------------------------ */

static void add_by_swaps(ptx_emitter *e, const atomic *t, ptx_operand old, ptx_operand b) {
  ptx_operand next = ptx_new(e, PTX_R), found = ptx_new(e, PTX_R), again = ptx_new(e, PTX_P);
  ptx_operand label = ptx_number(e, ptx_number_of(again));
  atomic first = *t;
  first.order = "relaxed";
  first.when = PTX_NONE;
  line(e, &first, "ld", "b32 $0, [$1+$2];", old, PTX_NONE, PTX_NONE);
  ptx_line(e, "C$3:\nadd.rn.f32 $0, $1, &2;", next, old, b, label);
  first.order = t->order;
  line(e, &first, "atom", "cas.b32 $0, [$1+$2], $3, $4;", found, old, next);
  ptx_line(e, "setp.ne.s32 $0, $1, $2;\nmov.b32 $2, $1;\n@$0 bra C$3;", again, found, old, label);
}

/* Whether a constant decides between both ways: 1 native, 0 swaps, -1 it is not known. */
static int decided(const ptx_emitter *e, const vyre_kernel_insn *in, const atomic *t) {
  uint64_t bits;
  if (t->space[0] == 's' || (e->h->flags & VYRE_KERNEL_FLUSH) != 0) return 1;
  if (!ptx_constant(e, in->arg[1], &bits)) return -1;
  uint32_t magnitude = (uint32_t)bits & 0x7FFFFFFF;
  return magnitude >= plain_f32 && magnitude <= 0x7F800000;
}

static bool add_f32(ptx_emitter *e, const vyre_kernel_insn *in, atomic t) {
  ptx_operand to = ptx_scalar(e, in->result), b = ptx_scalar(e, in->arg[1]), when = t.when;
  int way = decided(e, in, &t);
  bool reduces = !is_used(e, in->result) && t.order[0] == 'r';
  const char *rest = reduces ? "add.f32 [$1+$2], &3;" : "add.f32 $0, [$1+$2], &3;";
  if (when != PTX_NONE) zero(e, to);
  if (way == 1) {
    line(e, &t, reduces ? "red" : "atom", rest, to, b, PTX_NONE);
    return true;
  }
  ptx_operand small = ptx_new(e, PTX_P), large = ptx_new(e, PTX_P), end = ptx_number(e, ptx_number_of(small));
  ptx_line(e, "and.b32 $r0, $2, 0x7FFFFFFF;\nsetp.ge.f32 $0, $r0, 0f0D800000;\nnot.pred $1, $0;", large, small, b);
  if (when != PTX_NONE)
    ptx_line(e, "and.pred $0, $0, $2;\nand.pred $1, $1, $2;", large, small, when);
  t.when = large;
  if (way < 0) line(e, &t, reduces ? "red" : "atom", rest, to, b, PTX_NONE);
  ptx_line(e, "@!$0 bra E$1;", small, end);
  add_by_swaps(e, &t, to, b);
  ptx_line(e, "E$0:", end);
  return true;
}

/* ---- Read, modify, write --------------------------------------------------------------------- */

/* By opcode: the operation, and whether its type is one of bits, of any integer, or signed as the element is. */
static const struct { const char *name; char types; bool reduces; } updates[] = {
  [VYRE_KERNEL_ATOMIC_ADD - VYRE_KERNEL_ATOMIC_ADD] = { "add", 'u', true },
  [VYRE_KERNEL_ATOMIC_SUB - VYRE_KERNEL_ATOMIC_ADD] = { "add", 'u', true },
  [VYRE_KERNEL_ATOMIC_AND - VYRE_KERNEL_ATOMIC_ADD] = { "and", 'b', true },
  [VYRE_KERNEL_ATOMIC_OR - VYRE_KERNEL_ATOMIC_ADD] = { "or", 'b', true },
  [VYRE_KERNEL_ATOMIC_XOR - VYRE_KERNEL_ATOMIC_ADD] = { "xor", 'b', true },
  [VYRE_KERNEL_ATOMIC_MIN - VYRE_KERNEL_ATOMIC_ADD] = { "min", 's', true },
  [VYRE_KERNEL_ATOMIC_MAX - VYRE_KERNEL_ATOMIC_ADD] = { "max", 's', true },
  [VYRE_KERNEL_ATOMIC_XCHG - VYRE_KERNEL_ATOMIC_ADD] = { "exch", 'b', false },
  [VYRE_KERNEL_ATOMIC_CAS - VYRE_KERNEL_ATOMIC_ADD] = { "cas", 'b', false },
};

static bool update(ptx_emitter *e, const vyre_kernel_insn *in, const vyre_kernel_access *a, const atomic *t) {
  ptx_type type = ptx_type_of(a->element);
  ptx_define(e, in->result);
  if (in->result == 0 || a->element.lanes != 1 || ptx_value_type(e, in->result) != type) return false;
  if (type == PTX_F32 && in->op == VYRE_KERNEL_ATOMIC_ADD) return add_f32(e, in, *t);
  if (type == PTX_BOOL || ptx_is_float(type) || type >= PTX_TYPES) return false;
  bool wide = ptx_is_wide(type), cas = in->op == VYRE_KERNEL_ATOMIC_CAS;
  uint32_t row = in->op - VYRE_KERNEL_ATOMIC_ADD;
  bool reduces = updates[row].reduces && !is_used(e, in->result) && t->order[0] == 'r';
  char letter = updates[row].types, rest[64];
  if (letter == 's' && (type == PTX_U32 || type == PTX_U64)) letter = 'u';
  ptx_operand b = ptx_scalar(e, in->arg[1]), c = cas ? ptx_scalar(e, in->arg[2]) : PTX_NONE;
  if (in->op == VYRE_KERNEL_ATOMIC_SUB) {
    ptx_operand negative = ptx_new(e, wide ? PTX_D : PTX_R);
    ptx_line(e, wide ? "sub.s64 $0, 0, $1;" : "sub.s32 $0, 0, $1;", negative, b);
    b = negative;
  }
  if (t->when != PTX_NONE && !reduces) zero(e, ptx_scalar(e, in->result));
  snprintf(rest, sizeof rest, "%s.%c%s %s[$1+$2], $3%s;", updates[row].name, letter, wide ? "64" : "32",
           reduces ? "" : "$0, ", cas ? ", $4" : "");
  line(e, t, reduces ? "red" : "atom", rest, ptx_scalar(e, in->result), b, c);
  return true;
}

bool ptx_atomic(ptx_emitter *e, const vyre_kernel_insn *in) {
  const vyre_kernel_access *a = gpu_access(e->h, in->arg[0]);
  if (a->space == VYRE_KERNEL_SPACE_LOCAL || a->space == VYRE_KERNEL_SPACE_TABLE) return false;
  ptx_address at = ptx_plain_address(e, a);
  atomic t = { .order = order_name(in->op, in->aux), .scope = scope_name(in->aux2), .space = ptx_space(e, a),
               .reg = at.reg, .offset = ptx_number(e, (uint64_t)at.offset), .when = ptx_bound(e, a) };
  if (in->aux == VYRE_ORDER_SEQ_CST) {
    char fence[32];
    snprintf(fence, sizeof fence, "fence.sc.%s;", t.scope);
    ptx_plain(e, fence);
  }
  if (in->op == VYRE_KERNEL_ATOMIC_LOAD) return load(e, in, a, &t);
  if (in->op == VYRE_KERNEL_ATOMIC_STORE) return store(e, in, a, &t);
  return update(e, in, a, &t);
}
