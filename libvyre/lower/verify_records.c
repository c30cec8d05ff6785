/* Each record of a kernel by itself, and against the tables that it names. */
#include <string.h>

#include "lower/verify.h"

#define AT(type, table, i) VYRE_KERNEL_AT(type, v->h, table, i)

/* ---- What several tables have ---------------------------------------------------------------- */

static bool check_type(verifier *v, const char *table, uint32_t i, vyre_kernel_type type) {
  if (type.cls > VYRE_KERNEL_CLASS_BRAIN) return verify_unknown(v, table, i, "class %u", type.cls);
  if (form_type_named(type) == VYRE_TYPE_NONE)
    return verify_fault(v, table, i, "class %u with %u bits and %u lanes is no type", type.cls, type.bits, type.lanes);
  return true;
}

static bool check_value_type(verifier *v, const char *table, uint32_t i, vyre_kernel_type type) {
  if (!check_type(v, table, i, type)) return false;
  if (!form_is_value_type(form_type_named(type)))
    return verify_fault(v, table, i, "values have no type of memory alone");
  return true;
}

static bool check_scalar(verifier *v, const char *table, uint32_t i, vyre_kernel_type type) {
  if (!check_value_type(v, table, i, type)) return false;
  return type.lanes == 1 ? true : verify_fault(v, table, i, "a vector where a scalar is wanted");
}

/* Bits of a scalar, upper ones 0. */
static bool check_bits(verifier *v, const char *table, uint32_t i, vyre_kernel_type type, uint64_t bits) {
  if (type.bits < 64 && bits >> type.bits != 0)
    return verify_fault(v, table, i, "0x%llX has more than %u bits", (unsigned long long)bits, type.bits);
  return true;
}

static bool check_text(verifier *v, const char *table, uint32_t i, uint32_t at) {
  if (at < v->h->strings.count) return true;
  return verify_fault(v, table, i, "its name stands at %u, the strings have %u bytes", at, v->h->strings.count);
}

static bool check_uniform(verifier *v, const char *table, uint32_t i, uint32_t uniform) {
  return uniform <= VYRE_KERNEL_UNIFORM_NONE ? true : verify_unknown(v, table, i, "uniformity %u", uniform);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool check_value(verifier *v, uint32_t i) {
  const vyre_kernel_value *x = AT(vyre_kernel_value, values, i);
  if (!check_value_type(v, "value", i, x->type) || !check_uniform(v, "value", i, x->uniform)) return false;
  vyre_type type = form_type_named(x->type);
  bool is_integer = form_is_integer(type) && x->type.lanes == 1;
  uint64_t mask = type == VYRE_TYPE_U32 ? UINT32_MAX : UINT64_MAX;
  if (x->zero != 0) return verify_unknown(v, "value", i, "a word that should be 0 is %u", x->zero);
  if (x->trailing_zeros > (is_integer ? x->type.bits : 0))
    return verify_fault(v, "value", i, "%u of its low bits are said to be 0", x->trailing_zeros);
  bool fits = form_is_unsigned(type) ? x->least <= x->most && x->most <= mask : x->least == 0 && x->most == UINT64_MAX;
  return fits ? true
              : verify_fault(v, "value", i, "bounds %llu to %llu", (unsigned long long)x->least,
                             (unsigned long long)x->most);
}

static bool check_values(verifier *v) {
  static const vyre_kernel_value none;
  const vyre_kernel_header *h = v->h;
  if (h->values.count == 0 || memcmp(AT(vyre_kernel_value, values, 0), &none, sizeof none) != 0)
    return verify_fault(v, "value", 0, "it should be there, and all zero");
  for (uint32_t i = 1; i < h->values.count; i++)
    if (!check_value(v, i)) return false;
  if (h->constants.count >= h->values.count)
    return verify_fault(v, "constant", h->constants.count, "there are %u values", h->values.count);
  for (uint32_t i = 0; i < h->constants.count; i++) {
    vyre_kernel_type type = AT(vyre_kernel_value, values, i + 1)->type;
    if (!check_scalar(v, "constant", i, type)) return false;
    if (!check_bits(v, "constant", i, type, AT(vyre_kernel_constant, constants, i)->bits)) return false;
  }
  return true;
}

static bool check_slot(verifier *v, uint32_t i) {
  const vyre_kernel_slot *s = AT(vyre_kernel_slot, slots, i);
  if ((s->zero[0] | s->zero[1] | s->zero[2]) != 0)
    return verify_unknown(v, "slot", i, "a byte that should be 0 is not");
  return check_value_type(v, "slot", i, s->type) && check_uniform(v, "slot", i, s->uniform) &&
         check_text(v, "slot", i, s->name);
}

/* ---- The launch block ------------------------------------------------------------------------ */

static uint32_t aligned(uint32_t at, uint32_t bytes) { return (at + bytes - 1) & ~(bytes - 1); }

static bool check_params(verifier *v) {
  const vyre_kernel_header *h = v->h;
  uint32_t end = 0;
  for (uint32_t i = 0; i < h->params.count; i++) {
    const vyre_kernel_param *p = AT(vyre_kernel_param, params, i);
    if (!check_scalar(v, "param", i, p->type) || !check_text(v, "param", i, p->name)) return false;
    uint32_t bytes = form_bytes(form_type_named(p->type));
    if (end > UINT32_MAX - 16 || p->offset != aligned(end, bytes))
      return verify_fault(v, "param", i, "it stands at %u, natural alignment is %u", p->offset, aligned(end, bytes));
    end = p->offset + bytes;
  }
  if (h->param_bytes != end || h->count_offset != aligned(end, 8))
    return verify_fault(v, "header", 0, "parameters of %u bytes, counts at %u; they end at %u", h->param_bytes,
                        h->count_offset, end);
  return true;
}

static bool check_binding(verifier *v, uint32_t i) {
  const vyre_kernel_binding *b = AT(vyre_kernel_binding, bindings, i);
  if ((b->zero[0] | b->zero[1] | b->zero[2]) != 0)
    return verify_unknown(v, "binding", i, "a byte that should be 0 is not");
  if (b->access != VYRE_ACCESS_READ && b->access != VYRE_ACCESS_RW && b->access != VYRE_ACCESS_WRITE)
    return verify_fault(v, "binding", i, "access %u is none of bound memory", b->access);
  if (b->count_offset != v->h->count_offset + 8 * (uint64_t)i)
    return verify_fault(v, "binding", i, "its count stands at %u", b->count_offset);
  return check_type(v, "binding", i, b->element) && check_text(v, "binding", i, b->name);
}

static bool check_words(verifier *v) {
  const vyre_kernel_header *h = v->h;
  uint64_t end = h->count_offset + 8 * (uint64_t)h->bindings.count;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < h->hidden_words.count; i++) {
    const vyre_kernel_hidden_word *w = AT(vyre_kernel_hidden_word, hidden_words, i);
    if (w->kind < VYRE_KERNEL_WORD_GRID_X || w->kind > VYRE_KERNEL_WORD_TIME_BUDGET)
      return verify_unknown(v, "hidden word", i, "kind %u", w->kind);
    vyre_type wanted = w->kind == VYRE_KERNEL_WORD_TIME_BUDGET ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
    if (form_type_named(w->type) != wanted || (seen >> w->kind & 1) != 0)
      return verify_fault(v, "hidden word", i, "it has another type than its kind %u, or is there twice", w->kind);
    seen |= 1u << w->kind;
    if (w->offset < end || w->offset % form_bytes(wanted) != 0)
      return verify_fault(v, "hidden word", i, "it stands at %u, where others stand", w->offset);
    end = (uint64_t)w->offset + form_bytes(wanted);
  }
  if (end > h->launch_bytes || h->launch_bytes % 8 != 0)
    return verify_fault(v, "header", 0, "a launch block of %u bytes, whose words end at %llu", h->launch_bytes,
                        (unsigned long long)end);
  return true;
}

static bool check_hidden(verifier *v) {
  const vyre_kernel_header *h = v->h;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < h->hidden_bindings.count; i++) {
    const vyre_kernel_hidden_binding *b = AT(vyre_kernel_hidden_binding, hidden_bindings, i);
    if (b->kind < VYRE_KERNEL_HIDDEN_DIAGNOSTICS || b->kind > VYRE_KERNEL_HIDDEN_STOP || b->zero != 0)
      return verify_unknown(v, "hidden binding", i, "kind %u", b->kind);
    if ((seen >> b->kind & 1) != 0) return verify_fault(v, "hidden binding", i, "kind %u is there twice", b->kind);
    seen |= 1u << b->kind;
    if (b->kind == VYRE_KERNEL_HIDDEN_SPILL && b->bytes != h->spill_bytes)
      return verify_fault(v, "hidden binding", i, "%llu bytes, the header says %llu", (unsigned long long)b->bytes,
                          (unsigned long long)h->spill_bytes);
  }
  bool spills = (seen >> VYRE_KERNEL_HIDDEN_SPILL & 1) != 0;
  if ((h->spill_bytes != 0) != spills || h->spill_bytes % 16 != 0 || h->spill_bytes > UINT32_MAX)
    return verify_fault(v, "header", 0, "%llu bytes of spill", (unsigned long long)h->spill_bytes);
  return true;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Arrays [first, first + count) of one entry point: in order, without overlap, within |bytes|. */
static bool check_arrays(verifier *v, const char *name, const vyre_kernel_table *t, uint32_t first, uint32_t count,
                         uint64_t bytes) {
  uint64_t end = 0;
  for (uint32_t i = first; i < first + count; i++) {
    const vyre_kernel_array *a =
      (const vyre_kernel_array *)(const void *)((const uint8_t *)v->h + t->offset + (uint64_t)i * t->stride);
    uint64_t size;
    if (!check_type(v, name, i, a->element) || !check_text(v, name, i, a->name)) return false;
    if ((a->flags & ~(uint32_t)VYRE_KERNEL_ARRAY_NEEDS_ZERO) != 0 || a->zero != 0)
      return verify_unknown(v, name, i, "flags 0x%X", a->flags);
    bool fits = !__builtin_mul_overflow(a->length, form_bytes(form_type_named(a->element)), &size) &&
                a->offset >= end && a->offset % 16 == 0 && !__builtin_add_overflow(a->offset, size, &end) &&
                end <= bytes;
    if (!fits)
      return verify_fault(v, name, i, "%llu elements at %llu do not fit behind those before it, in %llu bytes",
                          (unsigned long long)a->length, (unsigned long long)a->offset, (unsigned long long)bytes);
  }
  return bytes % 16 == 0
             ? true
             : verify_fault(v, name, first, "%llu bytes in all are no multiple of 16", (unsigned long long)bytes);
}

static bool check_table_data(verifier *v, uint32_t i) {
  const vyre_kernel_table_data *t = AT(vyre_kernel_table_data, tables, i);
  uint64_t size, end;
  if (!check_type(v, "table", i, t->element) || !check_text(v, "table", i, t->name)) return false;
  bool fits = !__builtin_mul_overflow(t->length, form_bytes(form_type_named(t->element)), &size) && t->length > 0 &&
              t->offset % 16 == 0 && !__builtin_add_overflow(t->offset, size, &end) && end <= v->h->table_bytes.count;
  return fits ? true
              : verify_fault(v, "table", i, "%llu elements at %llu do not lie in its %u bytes",
                             (unsigned long long)t->length, (unsigned long long)t->offset, v->h->table_bytes.count);
}

static uint32_t records_of(const verifier *v, uint32_t space) {
  switch (space) {
    case VYRE_KERNEL_SPACE_BINDING: return v->h->bindings.count;
    case VYRE_KERNEL_SPACE_SHARED: return v->h->shared.count;
    case VYRE_KERNEL_SPACE_LOCAL: return v->h->locals.count;
    case VYRE_KERNEL_SPACE_TABLE: return v->h->tables.count;
    case VYRE_KERNEL_SPACE_HIDDEN: return v->h->hidden_bindings.count;
    default: return 0;
  }
}

/* An index, base or bound: a value of u32 or u64, or 0 where it may be left out. Where it is visible is seen later. */
static bool check_index(verifier *v, uint32_t i, uint32_t value, bool may_be_none) {
  if (value == 0 && may_be_none) return true;
  if (value == 0 || value >= v->h->values.count) return verify_fault(v, "access", i, "%u is no value", value);
  return form_is_unsigned(verify_value_type(v, value))
             ? true
             : verify_fault(v, "access", i, "value %u is no u32 or u64", value);
}

static bool check_access(verifier *v, uint32_t i) {
  const vyre_kernel_access *a = AT(vyre_kernel_access, accesses, i);
  const uint32_t known = VYRE_KERNEL_ACCESS_COHERENT | VYRE_KERNEL_ACCESS_STREAMING | VYRE_KERNEL_ACCESS_LAST_USE |
                         VYRE_KERNEL_ACCESS_READ_ONLY;
  if (a->space < VYRE_KERNEL_SPACE_BINDING || a->space > VYRE_KERNEL_SPACE_HIDDEN)
    return verify_unknown(v, "access", i, "space %u", a->space);
  if (a->bound_kind > VYRE_KERNEL_BOUND_VALUE) return verify_unknown(v, "access", i, "bound of kind %u", a->bound_kind);
  if ((a->flags & ~known) != 0 || a->zero != 0) return verify_unknown(v, "access", i, "flags 0x%X", a->flags);
  if (a->number >= records_of(v, a->space))
    return verify_fault(v, "access", i, "number %u, its space %u has %u", a->number, a->space, records_of(v, a->space));
  if (!check_type(v, "access", i, a->element)) return false;
  uint32_t bytes = form_bytes(form_type_named(a->element));
  if (a->alignment < bytes || (a->alignment & (a->alignment - 1)) != 0)
    return verify_fault(v, "access", i, "alignment %u of elements of %u bytes", a->alignment, bytes);
  if (a->bound_kind == VYRE_KERNEL_BOUND_LENGTH && a->space != VYRE_KERNEL_SPACE_BINDING)
    return verify_fault(v, "access", i, "only bindings have a length");
  if (a->bound_kind != VYRE_KERNEL_BOUND_STATIC && a->limit != 0)
    return verify_fault(v, "access", i, "a limit of %llu without that kind of bound", (unsigned long long)a->limit);
  if ((a->bound_kind == VYRE_KERNEL_BOUND_VALUE) != (a->bound != 0))
    return verify_fault(v, "access", i, "bound value %u with a bound of kind %u", a->bound, a->bound_kind);
  return check_index(v, i, a->index, false) && check_index(v, i, a->base, true) && check_index(v, i, a->bound, true);
}

/* ---- Entry points ---------------------------------------------------------------------------- */

static bool check_entry(verifier *v, uint32_t i, vyre_kernel_entry *ends) {
  const vyre_kernel_header *h = v->h;
  const vyre_kernel_entry *e = AT(vyre_kernel_entry, entries, i);
  uint64_t invocations = (uint64_t)e->workgroup[0] * e->workgroup[1];
  bool too_many = e->workgroup[2] != 0 && invocations > UINT32_MAX / e->workgroup[2];
  if (invocations == 0 || e->workgroup[2] == 0 || too_many)
    return verify_fault(v, "entry", i, "a workgroup of (%u, %u, %u)", e->workgroup[0], e->workgroup[1],
                        e->workgroup[2]);
  if (e->subgroup > 32 || (e->subgroup & (e->subgroup - 1)) != 0)
    return verify_fault(v, "entry", i, "subgroups of %u", e->subgroup);
  if (e->insn_first != ends->insn_first || e->slot_first != ends->slot_first ||
      e->shared_first != ends->shared_first || e->local_first != ends->local_first)
    return verify_fault(v, "entry", i, "its parts do not begin where those of the one before end");
  if (e->insn_count > h->insns.count - e->insn_first || e->slot_count > h->slots.count - e->slot_first ||
      e->shared_count > h->shared.count - e->shared_first || e->local_count > h->locals.count - e->local_first)
    return verify_fault(v, "entry", i, "it has more of a table than there is");
  if (e->dynamic_shared_bytes != 0)
    return verify_unknown(v, "entry", i, "%llu dynamic bytes", (unsigned long long)e->dynamic_shared_bytes);
  ends->insn_first += e->insn_count;
  ends->slot_first += e->slot_count;
  ends->shared_first += e->shared_count;
  ends->local_first += e->local_count;
  return check_arrays(v, "shared", &h->shared, e->shared_first, e->shared_count, e->shared_bytes) &&
         check_arrays(v, "local", &h->locals, e->local_first, e->local_count, e->local_bytes);
}

static bool check_table_bytes(verifier *v) {
  uint32_t count = v->h->table_bytes.count;
  return count % 16 == 0 ? true : verify_fault(v, "table_bytes", 0, "%u bytes are no multiple of 16", count);
}

static bool check_entries(verifier *v) {
  const vyre_kernel_header *h = v->h;
  vyre_kernel_entry ends = { .insn_first = 0 };
  if (h->entries.count == 0) return verify_fault(v, "entry", 0, "there is none");
  if (h->insns.count > VYRE_KERNEL_MAX_INSNS) return verify_fault(v, "insn", h->insns.count, "there are too many");
  for (uint32_t i = 0; i < h->entries.count; i++)
    if (!check_entry(v, i, &ends)) return false;
  if (ends.insn_first != h->insns.count || ends.slot_first != h->slots.count || ends.shared_first != h->shared.count ||
      ends.local_first != h->locals.count)
    return verify_fault(v, "entry", h->entries.count - 1, "behind the last one there is more of a table");
  return true;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static bool check_strings(verifier *v) {
  const vyre_kernel_header *h = v->h;
  const char *text = VYRE_KERNEL_TEXT(h, 0);
  if (h->strings.count == 0 || text[0] != 0 || text[h->strings.count - 1] != 0)
    return verify_fault(v, "strings", 0, "they do not begin with the empty text or not end with NUL");
  return check_text(v, "header", 0, h->name);
}

static bool check_spec(verifier *v, uint32_t i) {
  const vyre_kernel_spec *s = AT(vyre_kernel_spec, specs, i);
  return check_scalar(v, "spec", i, s->type) && check_bits(v, "spec", i, s->type, s->bits);
}

/* Every record of a table. */
static bool check_each(verifier *v, const vyre_kernel_table *table, bool (*check)(verifier *v, uint32_t i)) {
  for (uint32_t i = 0; i < table->count; i++)
    if (!check(v, i)) return false;
  return true;
}

bool verify_records(verifier *v) {
  const vyre_kernel_header *h = v->h;
  return check_strings(v) && check_values(v) && check_each(v, &h->slots, check_slot) && check_params(v) &&
         check_each(v, &h->bindings, check_binding) && check_words(v) && check_hidden(v) && check_entries(v) &&
         check_table_bytes(v) && check_each(v, &h->tables, check_table_data) && check_each(v, &h->specs, check_spec) &&
         check_each(v, &h->accesses, check_access);
}
