/* Copies: cp.async from global to shared memory where the target has it, 4, 8 or 16 bytes an element; else, and between
 * other memories, loads and stores at once. Elements past the end of the source become zero by the size operand of
 * cp.async; a loop ends where the destination does. */
#include <stdio.h>

#include "plugins/cuda/ptx_emit.h"

enum { TEXT_ROOM = 192 };

bool ptx_has_groups(const ptx_emitter *e) {
  return e->target.sm >= 80 && (e->target.version == 0 || e->target.version >= 70);
}

typedef struct copy {
  const vyre_kernel_access *to, *from;
  uint32_t bytes;           /* of an element */
  bool is_async, workgroup;
  ptx_operand left_to, left_from; /* elements from the index to the end, 64 bits; PTX_NONE for no end */
  ptx_operand k, count;     /* 64 bits */
  ptx_operand to_at, from_at; /* addresses of element k, without offset */
} copy;

/* limit - index, 0 where that is negative. */
static ptx_operand left(ptx_emitter *e, const vyre_kernel_access *a) {
  if (a->bound_kind == VYRE_KERNEL_BOUND_PROVED) return PTX_NONE;
  ptx_operand made = ptx_new(e, PTX_D), index = ptx_wide(e, a->index), limit = ptx_limit(e, a);
  ptx_line(e, "max.u64 $d0, $1, $2;\nsub.s64 $0, $d0, $2;", made, limit, index);
  return made;
}

static void step_on(ptx_emitter *e, ptx_operand at, uint64_t by) {
  ptx_line(e, ptx_kind(at) == PTX_R ? "add.s32 $0, $0, $1;" : "add.s64 $0, $0, $1;", at, ptx_number(e, by));
}

/* The address of the access, |k| elements on. */
static ptx_operand begin_at(ptx_emitter *e, const vyre_kernel_access *a, ptx_operand k, uint32_t bytes) {
  ptx_address at = ptx_plain_address(e, a);
  bool near = ptx_kind(at.reg) == PTX_R;
  ptx_operand made = ptx_new(e, near ? PTX_R : PTX_D);
  if (near) ptx_line(e, "cvt.u32.u64 $r0, $1;\nmad.lo.s32 $0, $r0, $2, $3;", made, k, ptx_number(e, bytes), at.reg);
  else ptx_line(e, "mad.lo.s64 $0, $1, $2, $3;", made, k, ptx_number(e, bytes), at.reg);
  if (at.offset != 0) step_on(e, made, (uint64_t)at.offset);
  return made;
}

static const char *element_type(uint32_t bytes) {
  return bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "b32" : bytes == 8 ? "b64" : "v2.b64";
}

/* Whether source element |k| is there. */
static ptx_operand is_there(ptx_emitter *e, const copy *c) {
  if (c->left_from == PTX_NONE) return PTX_NONE;
  ptx_operand p = ptx_new(e, PTX_P);
  ptx_line(e, "setp.lt.u64 $0, $1, $2;", p, c->k, c->left_from);
  return p;
}

static void move_async(ptx_emitter *e, const copy *c) {
  char text[TEXT_ROOM];
  ptx_operand there = is_there(e, c), bytes = ptx_number(e, c->bytes);
  if (there != PTX_NONE) {
    bytes = ptx_new(e, PTX_R);
    ptx_line(e, "selp.b32 $0, $1, 0, $2;", bytes, ptx_number(e, c->bytes), there);
  }
  snprintf(text, sizeof text, "cp.async.%s.shared.global [$0], [$1], %u, $2;", c->bytes == 16 ? "cg" : "ca", c->bytes);
  ptx_line(e, text, c->to_at, c->from_at, bytes);
}

static void move_now(ptx_emitter *e, const copy *c) {
  char text[TEXT_ROOM];
  const char *type = element_type(c->bytes);
  ptx_operand there = is_there(e, c), a = ptx_new(e, c->bytes < 8 ? PTX_R : PTX_D), b = PTX_NONE;
  if (c->bytes == 16) b = ptx_new(e, PTX_D);
  if (there != PTX_NONE) ptx_line(e, c->bytes < 8 ? "mov.b32 $0, 0;" : "mov.b64 $0, 0;", a);
  if (there != PTX_NONE && b != PTX_NONE) ptx_line(e, "mov.b64 $0, 0;", b);
  const char *parts = b != PTX_NONE ? "{$0, $1}" : "$0";
  snprintf(text, sizeof text, "%sld.%s.%s %s, [$2];", there != PTX_NONE ? "@$3 " : "", ptx_space(e, c->from), type,
           parts);
  ptx_line(e, text, a, b, c->from_at, there);
  snprintf(text, sizeof text, "st.%s.%s [$2], %s;", ptx_space(e, c->to), type, parts);
  ptx_line(e, text, a, b, c->to_at);
}

static void copy_elements(ptx_emitter *e, copy *c, uint32_t count) {
  uint32_t step = c->workgroup ? e->invocations : 1;
  ptx_operand p = ptx_new(e, PTX_P), label = ptx_number(e, ptx_number_of(p));
  c->k = ptx_new(e, PTX_D);
  c->count = ptx_new(e, PTX_D);
  if (c->workgroup) ptx_line(e, "cvt.u64.u32 $0, $1;", c->k, e->linear);
  else ptx_line(e, "mov.b64 $0, 0;", c->k);
  ptx_operand wanted = ptx_wide(e, count);
  if (c->left_to != PTX_NONE) ptx_line(e, "min.u64 $0, $1, $2;", c->count, wanted, c->left_to);
  else ptx_line(e, "mov.b64 $0, $1;", c->count, wanted);
  c->to_at = begin_at(e, c->to, c->k, c->bytes);
  c->from_at = begin_at(e, c->from, c->k, c->bytes);
  ptx_line(e, "setp.ge.u64 $0, $1, $2;\n@$0 bra V$3;\nU$3:", p, c->k, c->count, label);
  if (c->is_async) move_async(e, c);
  else move_now(e, c);
  step_on(e, c->k, step);
  step_on(e, c->to_at, step * c->bytes);
  step_on(e, c->from_at, step * c->bytes);
  uint64_t bits;
  bool is_one = ptx_constant(e, count, &bits) && bits <= step;
  ptx_line(e, is_one ? "V$3:" : "setp.lt.u64 $0, $1, $2;\n@$0 bra U$3;\nV$3:", p, c->k, c->count, label);
}

static bool copy_async(ptx_emitter *e, const vyre_kernel_insn *in) {
  copy c = { .to = gpu_access(e->h, in->arg[0]), .from = gpu_access(e->h, in->arg[1]), .workgroup = in->aux != 0 };
  c.bytes = gpu_element_bytes(c.to->element);
  if (!gpu_same(c.to->element, c.from->element) || c.to->space == VYRE_KERNEL_SPACE_TABLE) return false;
  bool from_global = ptx_space(e, c.from)[0] == 'g';
  c.is_async = ptx_has_groups(e) && from_global && c.to->space == VYRE_KERNEL_SPACE_SHARED && c.bytes >= 4;
  if (c.is_async && !ptx_needs(e, 80, 70, "cp.async")) return true;
  c.left_to = left(e, c.to);
  c.left_from = left(e, c.from);
  copy_elements(e, &c, in->arg[2]);
  return true;
}

bool ptx_copy(ptx_emitter *e, const vyre_kernel_insn *in) {
  if (in->op == VYRE_KERNEL_COPY_ASYNC) return copy_async(e, in);
  if (!e->uses_groups || !ptx_needs(e, 80, 70, "cp.async")) return true;
  if (in->op == VYRE_KERNEL_COMMIT) ptx_plain(e, "cp.async.commit_group;");
  else ptx_line(e, "cp.async.wait_group $0;", ptx_number(e, in->aux));
  return true;
}
