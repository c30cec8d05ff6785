/* Where an access goes, and whether it is made.
 *
 * Addresses are of 64 bits in global and constant memory, of 32 in shared and local memory, where what is out of range
 * is not accessed and so may wrap around. An index that is another value and a constant, known not to wrap, gives the
 * address of that value's element and an offset in the instruction; addresses are kept for as long as their block
 * lasts, so that accesses side by side share one. */
#include "plugins/cuda/ptx_emit.h"

enum { MOST_OFFSET = 1 << 20, LOOK_BACK = 24 };

const char *ptx_space(const ptx_emitter *e, const vyre_kernel_access *a) {
  switch ((vyre_kernel_space)a->space) {
    case VYRE_KERNEL_SPACE_SHARED: return "shared";
    case VYRE_KERNEL_SPACE_LOCAL: return "local";
    case VYRE_KERNEL_SPACE_TABLE: return e->constant_tables[a->number] ? "const" : "global";
    default: return "global";
  }
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The constant bank serves one address at a time, so a table is there only if no access to it diverges. It holds 64
 * KiB, which the tables before this one may have taken. */
void ptx_place_tables(ptx_emitter *e) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < e->h->tables.count; i++) {
    const vyre_kernel_table_data *t = VYRE_KERNEL_AT(vyre_kernel_table_data, e->h, tables, i);
    bytes += (t->length * gpu_element_bytes(t->element) + 15) / 16 * 16;
    e->constant_tables[i] = bytes <= 65536;
  }
  for (uint32_t i = 0; i < e->h->accesses.count; i++) {
    const vyre_kernel_access *a = gpu_access(e->h, i);
    bool diverges = gpu_value(e->h, a->index)->uniform > VYRE_KERNEL_UNIFORM_WORKGROUP;
    if (a->space == VYRE_KERNEL_SPACE_TABLE && diverges) e->constant_tables[a->number] = false;
  }
}

/* ---- Indices --------------------------------------------------------------------------------- */

static bool is_wide_value(const ptx_emitter *e, uint32_t v) { return ptx_is_wide(ptx_value_type(e, v)); }

uint32_t ptx_split_index(const ptx_emitter *e, const vyre_kernel_access *a, int64_t *plus) {
  *plus = 0;
  const vyre_kernel_insn *in = ptx_maker(e, a->index);
  uint64_t bits;
  if (in == NULL || (in->op != VYRE_KERNEL_ADD && in->op != VYRE_KERNEL_SUB)) return a->index;
  uint32_t other = in->arg[0];
  if (!ptx_constant(e, in->arg[1], &bits)) {
    if (in->op == VYRE_KERNEL_SUB || !ptx_constant(e, in->arg[0], &bits)) return a->index;
    other = in->arg[1];
  }
  const vyre_kernel_value *v = gpu_value(e->h, other);
  uint64_t most = is_wide_value(e, other) ? UINT64_MAX : UINT32_MAX, size = gpu_element_bytes(a->element);
  if (v->type.cls != VYRE_KERNEL_CLASS_UINT || v->type.lanes != 1 || bits * size > MOST_OFFSET || bits > MOST_OFFSET)
    return a->index;
  bool fits = in->op == VYRE_KERNEL_ADD ? v->most <= most - bits || bits < 1ull << (v->trailing_zeros & 31)
                                        : v->least >= bits;
  if (!fits) return a->index;
  *plus = in->op == VYRE_KERNEL_ADD ? (int64_t)bits : -(int64_t)bits;
  return other;
}

/* ---- Where a memory begins ------------------------------------------------------------------- */

static int64_t first_byte(const ptx_emitter *e, const vyre_kernel_access *a) {
  if (a->space == VYRE_KERNEL_SPACE_SHARED)
    return (int64_t)VYRE_KERNEL_AT(vyre_kernel_array, e->h, shared, a->number)->offset;
  if (a->space == VYRE_KERNEL_SPACE_LOCAL)
    return (int64_t)VYRE_KERNEL_AT(vyre_kernel_array, e->h, locals, a->number)->offset;
  return 0;
}

static ptx_operand table_address(ptx_emitter *e, uint32_t number) {
  ptx_operand made = ptx_new(e, PTX_D);
  ptx_line(e, "mov.u64 $0, table_$1;", made, ptx_number(e, number));
  return made;
}

static ptx_operand memory_of(ptx_emitter *e, const vyre_kernel_access *a) {
  switch ((vyre_kernel_space)a->space) {
    case VYRE_KERNEL_SPACE_SHARED: return e->shared;
    case VYRE_KERNEL_SPACE_LOCAL: return e->local;
    case VYRE_KERNEL_SPACE_TABLE: return table_address(e, a->number);
    case VYRE_KERNEL_SPACE_HIDDEN: {
      uint32_t kind = VYRE_KERNEL_AT(vyre_kernel_hidden_binding, e->h, hidden_bindings, a->number)->kind;
      return e->pointers[e->facts->hidden[kind] - 1];
    }
    default: return e->pointers[a->number];
  }
}

static ptx_operand low_word(ptx_emitter *e, uint32_t v) {
  ptx_operand o = ptx_scalar(e, v);
  if (ptx_kind(o) != PTX_D) return o;
  ptx_operand made = ptx_new(e, PTX_R);
  ptx_line(e, "cvt.u32.u64 $0, $1;", made, o);
  return made;
}

/* |from| + value |v| times |scale|, in a register like |from|. */
static ptx_operand add_scaled(ptx_emitter *e, ptx_operand from, uint32_t v, uint32_t scale) {
  bool near = ptx_kind(from) == PTX_R, wide = is_wide_value(e, v);
  const char *text = near   ? "mad.lo.s32 $0, $1, $2, $3;"
                     : wide ? "mad.lo.s64 $0, $1, $2, $3;"
                            : "mad.wide.u32 $0, $1, $2, $3;";
  ptx_operand by = near ? low_word(e, v) : ptx_scalar(e, v), made = ptx_new(e, near ? PTX_R : PTX_D);
  ptx_line(e, text, made, by, ptx_number(e, scale), from);
  return made;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static bool same_place(const ptx_place *a, const ptx_place *b) {
  return a->index == b->index && a->number == b->number && a->base == b->base && a->space == b->space &&
         a->bytes == b->bytes;
}

static ptx_operand remembered(const ptx_emitter *e, const ptx_place *p) {
  uint32_t last = e->place_count < LOOK_BACK ? 0 : e->place_count - LOOK_BACK;
  for (uint32_t i = e->place_count; i > last; i--)
    if (same_place(&e->places[i - 1], p)) return e->places[i - 1].reg;
  return PTX_NONE;
}

ptx_address ptx_address_of(ptx_emitter *e, const vyre_kernel_access *a) {
  uint32_t size = gpu_element_bytes(a->element);
  int64_t plus;
  uint64_t bits;
  ptx_place p = { .space = a->space, .bytes = (uint8_t)size, .number = a->number, .base = a->base };
  p.index = ptx_split_index(e, a, &plus);
  if (ptx_constant(e, p.index, &bits) && bits <= MOST_OFFSET) {
    plus += (int64_t)bits;
    p.index = 0;
  }
  ptx_address address = { remembered(e, &p), plus * size + first_byte(e, a) };
  if (address.reg != PTX_NONE) return address;
  p.reg = memory_of(e, a);
  if (a->base != 0) p.reg = add_scaled(e, p.reg, a->base, 1);
  if (p.index != 0) p.reg = add_scaled(e, p.reg, p.index, size);
  if (e->place_count < PTX_PLACES) e->places[e->place_count++] = p;
  address.reg = p.reg;
  return address;
}

ptx_address ptx_plain_address(ptx_emitter *e, const vyre_kernel_access *a) {
  ptx_address at = ptx_address_of(e, a);
  if (at.offset >= 0) return at;
  bool near = ptx_kind(at.reg) == PTX_R;
  ptx_operand made = ptx_new(e, near ? PTX_R : PTX_D);
  ptx_line(e, near ? "sub.s32 $0, $1, $2;" : "sub.s64 $0, $1, $2;", made, at.reg, ptx_number(e, (uint64_t)-at.offset));
  return (ptx_address){ made, 0 };
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

ptx_operand ptx_limit(ptx_emitter *e, const vyre_kernel_access *a) {
  switch ((vyre_kernel_bound)a->bound_kind) {
    case VYRE_KERNEL_BOUND_STATIC: return ptx_number(e, a->limit);
    case VYRE_KERNEL_BOUND_LENGTH: return e->lengths[a->number];
    case VYRE_KERNEL_BOUND_VALUE: return ptx_wide(e, a->bound);
    default: return PTX_NONE;
  }
}

/* Whether what is known of index and bound says that the index is below. */
bool ptx_is_inside(const ptx_emitter *e, const vyre_kernel_access *a) {
  const vyre_kernel_value *index = gpu_value(e->h, a->index);
  uint64_t most = is_wide_value(e, a->index) ? index->most : index->most & UINT32_MAX;
  switch ((vyre_kernel_bound)a->bound_kind) {
    case VYRE_KERNEL_BOUND_STATIC: return most < a->limit;
    case VYRE_KERNEL_BOUND_VALUE: return most < gpu_value(e->h, a->bound)->least;
    default: return a->bound_kind == VYRE_KERNEL_BOUND_PROVED;
  }
}

ptx_operand ptx_bound(ptx_emitter *e, const vyre_kernel_access *a) {
  if (ptx_is_inside(e, a)) return e->guard;
  bool narrow = !is_wide_value(e, a->index), guarded = e->guard != PTX_NONE;
  narrow &= a->bound_kind == VYRE_KERNEL_BOUND_STATIC ||
            (a->bound_kind == VYRE_KERNEL_BOUND_VALUE && !is_wide_value(e, a->bound));
  ptx_operand index = narrow ? ptx_scalar(e, a->index) : ptx_wide(e, a->index);
  bool by_value = narrow && a->bound_kind == VYRE_KERNEL_BOUND_VALUE;
  ptx_operand limit = by_value ? ptx_scalar(e, a->bound) : ptx_limit(e, a), inside = ptx_new(e, PTX_P);
  const char *text = narrow ? (guarded ? "setp.lt.and.u32 $0, $1, $2, $3;" : "setp.lt.u32 $0, $1, $2;")
                            : (guarded ? "setp.lt.and.u64 $0, $1, $2, $3;" : "setp.lt.u64 $0, $1, $2;");
  ptx_line(e, text, inside, index, limit, e->guard);
  return inside;
}
