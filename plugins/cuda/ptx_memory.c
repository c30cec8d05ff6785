/* Loads and stores.
 *
 * What is out of range is not loaded and leaves the zero that was put there before. Loads of memory that does not
 * change take the read-only path; accesses that others see in an order go past the cache of the multiprocessor as
 * relaxed ones of the device. Neighbours that are in range for certain become one access of 64 or 128 bits. */
#include "plugins/cuda/ptx_emit.h"

/* ---- Elements -------------------------------------------------------------------------------- */

/* How an element lies in memory: the type of the instruction, the register that takes it. */
typedef struct shape {
  const char *type; /* "b32", "u8", ... */
  uint32_t kind;    /* PTX_R, PTX_D, PTX_H */
} shape;

static shape shape_of(vyre_kernel_type t) {
  bool is_signed = t.cls == VYRE_KERNEL_CLASS_SINT;
  switch (t.bits) {
    case 8: return (shape){ is_signed ? "s8" : "u8", PTX_R };
    case 16:
      if (t.cls == VYRE_KERNEL_CLASS_FLOAT) return (shape){ "b16", PTX_H };
      return (shape){ is_signed ? "s16" : "u16", PTX_R };
    case 64: return (shape){ "b64", PTX_D };
    default: return (shape){ "b32", PTX_R };
  }
}

/* Whether the value is what the memory holds, without a conversion. */
static bool is_plain(vyre_kernel_type t) {
  return t.cls != VYRE_KERNEL_CLASS_BOOL && t.cls != VYRE_KERNEL_CLASS_BRAIN &&
         !(t.cls == VYRE_KERNEL_CLASS_FLOAT && t.bits == 16);
}

/* The value of an element that was loaded. */
static void widen(ptx_emitter *e, vyre_kernel_type t, ptx_operand to, ptx_operand loaded) {
  if (t.cls == VYRE_KERNEL_CLASS_BOOL) ptx_line(e, "setp.ne.s32 $0, $1, 0;", to, loaded);
  else if (t.cls == VYRE_KERNEL_CLASS_BRAIN)
    ptx_line(e, "shl.b32 $r0, $1, 16;\nsetp.num.f32 $p0, $r0, $r0;\nselp.b32 $0, $r0, 0x7FC00000, $p0;", to, loaded);
  else
    ptx_line(e, "cvt.f32.f16 $r0, $1;\nsetp.num.f32 $p0, $r0, $r0;\nselp.b32 $0, $r0, 0x7FC00000, $p0;", to, loaded);
}

/* What a store writes for a value. */
static ptx_operand narrow(ptx_emitter *e, vyre_kernel_type t, ptx_operand value) {
  if (is_plain(t)) return value;
  ptx_operand made = ptx_new(e, t.cls == VYRE_KERNEL_CLASS_FLOAT ? PTX_H : PTX_R);
  if (t.cls == VYRE_KERNEL_CLASS_BOOL) ptx_line(e, "selp.b32 $0, 1, 0, $1;", made, value);
  else if (t.cls == VYRE_KERNEL_CLASS_BRAIN)
    ptx_line(e, "bfe.u32 $r0, $1, 16, 1;\nadd.s32 $r1, $r0, $1;\nadd.s32 $r2, $r1, 0x7FFF;\nshr.u32 $r3, $r2, 16;\n"
             "setp.num.f32 $p0, &1, &1;\nselp.b32 $0, $r3, 0x7FC0, $p0;", made, value);
  else
    ptx_line(e, "cvt.rn.f16.f32 $h0, &1;\nsetp.num.f32 $p0, &1, &1;\nselp.b16 $0, $h0, 0x7E00, $p0;", made, value);
  return made;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

enum { TEXT_ROOM = 128 };

/* ".relaxed.gpu", ".cs" or "". */
static const char *order_of(const vyre_kernel_access *a) {
  if ((a->flags & VYRE_KERNEL_ACCESS_COHERENT) != 0) return ".relaxed.gpu";
  return (a->flags & VYRE_KERNEL_ACCESS_STREAMING) != 0 ? ".cs" : "";
}

static char *join(char *to, const char *text) {
  while (*text != 0) *to++ = *text++;
  return to;
}

/* One access of |count| parts, such as `@p1 ld.global.v2.b32 {r1, r2}, [d1+8];`. */
static void put_access(ptx_emitter *e, const vyre_kernel_access *a, bool is_load, ptx_operand when,
                       const ptx_operand *parts, uint32_t count) {
  static const char *const lists[] = { "", "$0", "{$0, $1}", "", "{$0, $1, $2, $3}" };
  static const char *const vectors[] = { ".", ".", ".v2.", ".", ".v4." };
  const char *space = ptx_space(e, a);
  bool is_global = space[0] == 'g';
  bool is_read_only = is_global && is_load &&
                      ((a->flags & VYRE_KERNEL_ACCESS_READ_ONLY) != 0 || a->space == VYRE_KERNEL_SPACE_TABLE);
  ptx_address at = ptx_address_of(e, a);
  const char *place = at.offset == 0 ? "[$5]" : at.offset < 0 ? "[$5+-$6]" : "[$5+$6]";
  ptx_operand o[7] = { [4] = when, [5] = at.reg,
                       [6] = ptx_number(e, (uint64_t)(at.offset < 0 ? -at.offset : at.offset)) };
  for (uint32_t k = 0; k < count; k++) o[k] = parts[k];
  const char *words[] = { when != PTX_NONE ? "@$4 " : "", is_load ? "ld" : "st",
                          is_global && !is_read_only ? order_of(a) : "", ".", space, is_read_only ? ".nc" : "",
                          vectors[count], shape_of(a->element).type, " ", is_load ? lists[count] : place, ", ",
                          is_load ? place : lists[count], ";" };
  char text[TEXT_ROOM], *end = text;
  for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) end = join(end, words[i]);
  *end = 0;
  ptx_write(e, text, o);
}

static void zero(ptx_emitter *e, ptx_operand to) {
  uint32_t kind = ptx_kind(to);
  ptx_line(e, kind == PTX_D ? "mov.b64 $0, 0;" : kind == PTX_H ? "mov.b16 $0, 0;" : "mov.b32 $0, 0;", to);
}

static void load(ptx_emitter *e, const vyre_kernel_insn *in, const vyre_kernel_access *a) {
  vyre_kernel_type t = a->element;
  ptx_operand parts[4] = { PTX_NONE }, when = ptx_bound(e, a);
  ptx_define(e, in->result);
  for (uint32_t k = 0; k < t.lanes; k++)
    parts[k] = is_plain(t) ? ptx_part(e, in->result, k) : ptx_new(e, shape_of(t).kind);
  for (uint32_t k = 0; k < t.lanes && when != e->guard; k++) zero(e, parts[k]);
  put_access(e, a, true, when, parts, t.lanes);
  if (!is_plain(t)) widen(e, t, ptx_scalar(e, in->result), parts[0]);
}

static void store(ptx_emitter *e, const vyre_kernel_insn *in, const vyre_kernel_access *a) {
  vyre_kernel_type t = a->element;
  ptx_operand parts[4] = { PTX_NONE }, when = ptx_bound(e, a);
  for (uint32_t k = 0; k < t.lanes; k++) parts[k] = narrow(e, t, ptx_part(e, in->arg[1], k));
  put_access(e, a, false, when, parts, t.lanes);
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

static void load_together(ptx_emitter *e, const ptx_neighbours *n) {
  ptx_operand parts[4] = { PTX_NONE };
  for (uint32_t k = 0; k < n->count; k++) {
    const vyre_kernel_insn *in = gpu_insn(e->h, n->insns[k]);
    ptx_define(e, in->result);
    parts[k] = ptx_scalar(e, in->result);
    e->done[n->insns[k]] = true;
  }
  put_access(e, gpu_access(e->h, gpu_insn(e->h, n->insns[0])->arg[0]), true, e->guard, parts, n->count);
}

static void store_together(ptx_emitter *e, const ptx_neighbours *n) {
  ptx_operand parts[4] = { PTX_NONE };
  for (uint32_t k = 0; k < n->count; k++) parts[k] = ptx_scalar(e, gpu_insn(e->h, n->insns[k])->arg[1]);
  put_access(e, gpu_access(e->h, gpu_insn(e->h, n->insns[0])->arg[0]), false, e->guard, parts, n->count);
}

/* Stores wait for the last of their group, behind which all values are there. */
static bool stores_wait(ptx_emitter *e, uint32_t number) {
  ptx_neighbours n;
  if (e->stores.count == 0 && ptx_find_neighbours(e, number, &n)) {
    e->stores = n;
    for (uint32_t k = 0; k < n.count; k++) e->done[n.insns[k]] = true;
  }
  if (!e->done[number]) return false;
  if (number == e->stores.last) {
    store_together(e, &e->stores);
    e->stores.count = 0;
  }
  return true;
}

bool ptx_memory(ptx_emitter *e, uint32_t number, const vyre_kernel_insn *in) {
  const vyre_kernel_access *a = gpu_access(e->h, in->arg[0]);
  ptx_neighbours n;
  if (in->op == VYRE_KERNEL_STORE) {
    if (!stores_wait(e, number)) store(e, in, a);
    return true;
  }
  if (in->result == 0 || ptx_lanes(e, in->result) != a->element.lanes) return false;
  if (e->done[number]) return true;
  if (ptx_find_neighbours(e, number, &n)) load_together(e, &n);
  else load(e, in, a);
  return true;
}
