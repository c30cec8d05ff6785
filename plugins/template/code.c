/* A kernel becomes steps. Kernels come checked from libvyre, but a stored one may come from anywhere: so every number
 * that the engine follows is looked at once, here. A wrong kernel can then give wrong results, but reaches no memory
 * that is not its own. */
#include "engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What arg[0..3] of each opcode hold, from the form's own table. */
enum operand { NO, VA, OV, AC, SL, PA, BI, SP, HW, IN, LI, IM };
typedef struct opcode {
  uint8_t kind[4];
  bool known;
} opcode;
static const opcode opcodes[] = {
#define X(name, number, spelling, rule, k0, k1, k2, k3, effects, doc) [number] = { { k0, k1, k2, k3 }, true },
#include <vyre/kernel_ops.def>
#undef X
};

vyre_status engine_fail(engine_fault *fault, vyre_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(fault->text, sizeof fault->text, format, args);
  va_end(args);
  return fault->status = status;
}

static vyre_status broken(engine_fault *fault, const char *what, uint64_t at) {
  return engine_fail(fault, VYRE_ERR_INVALID_FILE, "the kernel's %s %llu is out of range. Fix: compile the program again",
                     what, (unsigned long long)at);
}

/* ---- The block ------------------------------------------------------------------------------- */

static bool table_fits(const vyre_kernel_header *h, const vyre_kernel_table *t, uint32_t least, uint32_t align) {
  if (t->count == 0) return true;
  return t->stride >= least && t->stride % align == 0 && t->offset % 8 == 0 && t->offset >= sizeof *h &&
         t->offset + (uint64_t)t->count * t->stride <= h->bytes;
}

/* Header and tables lie in the block, the texts end. */
static bool block_fits(const vyre_kernel_header *h, uint64_t bytes) {
  static const struct { size_t table; uint32_t least, align; } tables[] = {
#define TABLE(member, type, align) { offsetof(vyre_kernel_header, member), sizeof(type), align }
    TABLE(values, vyre_kernel_value, 8), TABLE(constants, vyre_kernel_constant, 8), TABLE(insns, vyre_kernel_insn, 4),
    TABLE(operands, uint32_t, 4), TABLE(accesses, vyre_kernel_access, 8), TABLE(slots, vyre_kernel_slot, 4),
    TABLE(entries, vyre_kernel_entry, 8), TABLE(params, vyre_kernel_param, 4),
    TABLE(bindings, vyre_kernel_binding, 8), TABLE(shared, vyre_kernel_array, 8),
    TABLE(locals, vyre_kernel_array, 8), TABLE(tables, vyre_kernel_table_data, 8), TABLE(table_bytes, uint8_t, 1),
    TABLE(hidden_bindings, vyre_kernel_hidden_binding, 8), TABLE(hidden_words, vyre_kernel_hidden_word, 4),
    TABLE(specs, vyre_kernel_spec, 8), TABLE(strings, uint8_t, 1),
#undef TABLE
  };
  if (h->header_bytes < sizeof *h || h->bytes != bytes || h->launch_bytes % 8 != 0 ||
      h->launch_bytes > VYRE_KERNEL_MAX_BYTES || h->param_bytes > h->launch_bytes)
    return false;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    const vyre_kernel_table *t = (const vyre_kernel_table *)(const void *)((const uint8_t *)h + tables[i].table);
    if (!table_fits(h, t, tables[i].least, tables[i].align)) return false;
  }
  return h->entries.count > 0 && h->values.count > h->constants.count && h->insns.count <= VYRE_KERNEL_MAX_INSNS;
}

/* ---- Records --------------------------------------------------------------------------------- */

uint32_t engine_element_bytes(vyre_kernel_type type) {
  return (type.cls == VYRE_KERNEL_CLASS_BOOL ? 4u : type.bits / 8u) * type.lanes;
}

const char *engine_text(const engine_code *code, uint32_t at) {
  const vyre_kernel_header *h = code->header;
  const char *text = VYRE_KERNEL_TEXT(h, at);
  return at < h->strings.count && memchr(text, 0, h->strings.count - at) != NULL ? text : "";
}

/* The number of an element type, VYRE_TYPE_NONE for one that the form has not. */
static uint8_t element_type(vyre_kernel_type type) {
#define X(name, class, width, count)                                                              \
  if (type.cls == VYRE_KERNEL_CLASS_##class && type.bits == width && type.lanes == count) return VYRE_TYPE_##name;
#include <vyre/kernel_types.def>
#undef X
  return VYRE_TYPE_NONE;
}

static bool array_at(const vyre_kernel_array *a, uint64_t memory, place *p) {
  uint64_t bytes;
  p->offset = a->offset;
  return !__builtin_mul_overflow(a->length, engine_element_bytes(a->element), &bytes) && a->offset <= memory &&
         bytes <= memory - a->offset;
}

/* Whether the memory that an access names exists, for any entry point. */
static bool find_memory(const engine_code *code, const vyre_kernel_entry *entry, place *p) {
  const vyre_kernel_header *h = code->header;
  switch (p->space) {
    case VYRE_KERNEL_SPACE_BINDING: return p->number < h->bindings.count;
    case VYRE_KERNEL_SPACE_HIDDEN: return p->number < h->hidden_bindings.count;
    case VYRE_KERNEL_SPACE_SHARED:
      return p->number >= entry->shared_first && p->number - entry->shared_first < entry->shared_count &&
             array_at(VYRE_KERNEL_AT(vyre_kernel_array, h, shared, p->number), entry->shared_bytes, p);
    case VYRE_KERNEL_SPACE_LOCAL:
      return p->number >= entry->local_first && p->number - entry->local_first < entry->local_count &&
             array_at(VYRE_KERNEL_AT(vyre_kernel_array, h, locals, p->number), entry->local_bytes, p);
    case VYRE_KERNEL_SPACE_TABLE: {
      if (p->number >= h->tables.count) return false;
      const vyre_kernel_table_data *t = VYRE_KERNEL_AT(vyre_kernel_table_data, h, tables, p->number);
      uint64_t bytes;
      p->offset = t->offset;
      return !__builtin_mul_overflow(t->length, engine_element_bytes(t->element), &bytes) &&
             t->offset <= h->table_bytes.count && bytes <= h->table_bytes.count - t->offset;
    }
    default: return false;
  }
}

/* What an instruction's operands may be: values of this entry point before it, and records that exist. */
typedef struct scope {
  const engine_code *code;
  const vyre_kernel_entry *entry;
  uint32_t first_value, next_value; /* results so far: [first, next) */
} scope;

static bool is_value(const scope *s, uint32_t value) {
  if (value == 0) return false;
  return value <= s->code->header->constants.count || (value >= s->first_value && value < s->next_value);
}

static vyre_kernel_type type_of(const engine_code *code, uint32_t value) {
  return VYRE_KERNEL_AT(vyre_kernel_value, code->header, values, value)->type;
}

static bool take_access(const scope *s, uint32_t number) {
  const vyre_kernel_header *h = s->code->header;
  if (number >= h->accesses.count) return false;
  const vyre_kernel_access *a = VYRE_KERNEL_AT(vyre_kernel_access, h, accesses, number);
  place *p = &s->code->places[number];
  *p = (place){ .space = a->space, .bound_kind = a->bound_kind, .element = element_type(a->element),
                .bytes = (uint8_t)engine_element_bytes(a->element), .number = a->number, .base = a->base, .index = a->index,
                .bound = a->bound, .limit = a->limit };
  const uint32_t known = VYRE_KERNEL_ACCESS_COHERENT | VYRE_KERNEL_ACCESS_STREAMING | VYRE_KERNEL_ACCESS_LAST_USE |
                         VYRE_KERNEL_ACCESS_READ_ONLY;
  if (p->element == VYRE_TYPE_NONE || p->bound_kind > VYRE_KERNEL_BOUND_VALUE || (a->flags & ~known) != 0) return false;
  if (p->bound_kind == VYRE_KERNEL_BOUND_LENGTH && p->space != VYRE_KERNEL_SPACE_BINDING) return false;
  if (p->bound_kind == VYRE_KERNEL_BOUND_VALUE && !is_value(s, p->bound)) return false;
  return is_value(s, p->index) && (p->base == 0 || is_value(s, p->base)) && find_memory(s->code, s->entry, p);
}

static bool take_operand(const scope *s, uint8_t kind, uint32_t arg) {
  const vyre_kernel_header *h = s->code->header;
  switch ((enum operand)kind) {
    case NO: return arg == 0;
    case VA: return is_value(s, arg);
    case OV: return arg == 0 || is_value(s, arg);
    case AC: return take_access(s, arg);
    case SL: return arg >= s->entry->slot_first && arg - s->entry->slot_first < s->entry->slot_count;
    case PA: return arg < h->params.count;
    case BI: return arg < h->bindings.count;
    case SP: return arg < h->specs.count;
    case HW: return arg < h->hidden_words.count;
    case IN: return arg >= s->entry->insn_first && arg - s->entry->insn_first < s->entry->insn_count;
    case LI: return arg <= h->operands.count;
    case IM: return true;
  }
  return false;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool is_atomic(uint16_t op) { return op >= VYRE_KERNEL_ATOMIC_LOAD && op <= VYRE_KERNEL_ATOMIC_CAS; }

/* Numbers whose range the operand's kind does not say. */
static bool check_numbers(const scope *s, const vyre_kernel_insn *in) {
  const vyre_kernel_header *h = s->code->header;
  if (is_atomic(in->op) || in->op == VYRE_KERNEL_FENCE)
    return in->aux <= VYRE_ORDER_SEQ_CST && in->aux2 <= VYRE_SCOPE_SYSTEM;
  switch (in->op) {
    case VYRE_KERNEL_GID:
    case VYRE_KERNEL_WID:
    case VYRE_KERNEL_LID:
    case VYRE_KERNEL_NWG: return in->arg[0] < 3;
    case VYRE_KERNEL_LENGTH: return in->arg[1] < 2;
    case VYRE_KERNEL_EXTRACT: return in->arg[1] < type_of(s->code, in->arg[0]).lanes;
    case VYRE_KERNEL_PRINT:
      if (in->arg[2] > h->operands.count - in->arg[1]) return false;
      for (uint32_t i = 0; i < in->arg[2]; i++)
        if (!is_value(s, *VYRE_KERNEL_AT(uint32_t, h, operands, in->arg[1] + i))) return false;
      return true;
    default: return true;
  }
}

static const uint8_t *kinds_of(uint16_t op) {
  return op < sizeof opcodes / sizeof *opcodes && opcodes[op].known ? opcodes[op].kind : NULL;
}

/* The function of an opcode that computes, and the type that it computes in. */
static void choose(const engine_code *code, const vyre_kernel_insn *in, const uint8_t *kinds, step *to) {
  vyre_kernel_type from = { 0 }, result = { 0 };
  if (kinds[0] == VA) from = type_of(code, in->arg[0]);
  if (in->result != 0) result = type_of(code, in->result);
  if (kinds[0] == AC) from = VYRE_KERNEL_AT(vyre_kernel_access, code->header, accesses, in->arg[0])->element;
  op_type operand = op_type_of(from);
  to->type = (uint8_t)operand;
  to->lanes = from.lanes;
  to->fn = op_find(in->op, operand, op_type_of(result));
  static const struct { uint16_t op, as; } combined[] = {
    { VYRE_KERNEL_SUBGROUP_ADD, VYRE_KERNEL_ADD }, { VYRE_KERNEL_SUBGROUP_MUL, VYRE_KERNEL_MUL },
    { VYRE_KERNEL_SUBGROUP_MIN, VYRE_KERNEL_MIN }, { VYRE_KERNEL_SUBGROUP_MAX, VYRE_KERNEL_MAX },
    { VYRE_KERNEL_SUBGROUP_AND, VYRE_KERNEL_AND }, { VYRE_KERNEL_SUBGROUP_OR, VYRE_KERNEL_OR },
    { VYRE_KERNEL_SUBGROUP_XOR, VYRE_KERNEL_XOR },
    { VYRE_KERNEL_SUBGROUP_INCLUSIVE_ADD, VYRE_KERNEL_ADD }, { VYRE_KERNEL_SUBGROUP_INCLUSIVE_MIN, VYRE_KERNEL_MIN },
    { VYRE_KERNEL_SUBGROUP_INCLUSIVE_MAX, VYRE_KERNEL_MAX }, { VYRE_KERNEL_SUBGROUP_EXCLUSIVE_ADD, VYRE_KERNEL_ADD },
    { VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MIN, VYRE_KERNEL_MIN }, { VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MAX, VYRE_KERNEL_MAX },
    { VYRE_KERNEL_ATOMIC_ADD, VYRE_KERNEL_ADD }, { VYRE_KERNEL_ATOMIC_SUB, VYRE_KERNEL_SUB },
    { VYRE_KERNEL_ATOMIC_AND, VYRE_KERNEL_AND }, { VYRE_KERNEL_ATOMIC_OR, VYRE_KERNEL_OR },
    { VYRE_KERNEL_ATOMIC_XOR, VYRE_KERNEL_XOR }, { VYRE_KERNEL_ATOMIC_MIN, VYRE_KERNEL_MIN },
    { VYRE_KERNEL_ATOMIC_MAX, VYRE_KERNEL_MAX },
  };
  for (size_t i = 0; i < sizeof combined / sizeof *combined; i++)
    if (combined[i].op == in->op) to->fn = op_find(combined[i].as, operand, operand);
}

/* Opcodes that need a function have one for their types. */
static bool computes(uint16_t op) {
  return (op >= VYRE_KERNEL_ADD && op < VYRE_KERNEL_LOAD && op != VYRE_KERNEL_SELECT && op != VYRE_KERNEL_BITCAST &&
          op != VYRE_KERNEL_VECTOR && op != VYRE_KERNEL_EXTRACT) ||
         (op >= VYRE_KERNEL_ATOMIC_ADD && op <= VYRE_KERNEL_ATOMIC_MAX) ||
         (op >= VYRE_KERNEL_SUBGROUP_ADD && op <= VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MAX);
}

static vyre_status take_insn(scope *s, uint32_t number, engine_fault *fault) {
  const vyre_kernel_header *h = s->code->header;
  const vyre_kernel_insn *in = VYRE_KERNEL_AT(vyre_kernel_insn, h, insns, number);
  const uint8_t *kinds = kinds_of(in->op);
  step *to = &s->code->steps[number];
  if (kinds == NULL)
    return engine_fail(fault, VYRE_ERR_UNSUPPORTED,
                       "opcode 0x%03x of instruction %u is not known here. Fix: use a newer plugin", in->op, number);
  for (int k = 0; k < 4; k++)
    if (!take_operand(s, kinds[k], in->arg[k])) return broken(fault, "operand of instruction", number);
  if (!check_numbers(s, in)) return broken(fault, "number in instruction", number);
  if (in->result != 0 && (in->result != s->next_value || in->result >= h->values.count))
    return broken(fault, "result of instruction", number);
  *to = (step){ .op = in->op, .order = in->aux, .scope = in->aux2, .result = in->result, .stmt = in->stmt };
  memcpy(to->arg, in->arg, sizeof to->arg);
  choose(s->code, in, kinds, to);
  if (computes(in->op) && to->fn == NULL)
    return engine_fail(fault, VYRE_ERR_UNSUPPORTED,
                       "opcode 0x%03x is not taken for the types of instruction %u. Fix: lower for this plugin's table",
                       in->op, number);
  if (kinds[0] == AC && is_atomic(in->op) && to->lanes != 1)
    return engine_fail(fault, VYRE_ERR_UNSUPPORTED, "instruction %u is an atomic access to a vector. Fix: lower for this "
                       "plugin's table", number);
  if (in->result != 0) s->next_value++;
  return VYRE_OK;
}

static bool ranges_fit(const vyre_kernel_header *h, const vyre_kernel_entry *e, uint32_t insn) {
  uint64_t invocations = (uint64_t)e->workgroup[0] * e->workgroup[1];
  if (e->workgroup[0] == 0 || e->workgroup[1] == 0 || e->workgroup[2] == 0 || invocations > 65536 ||
      invocations * e->workgroup[2] > 65536)
    return false;
  return e->insn_first == insn && e->insn_count <= h->insns.count - insn && e->slot_first <= h->slots.count &&
         e->slot_count <= h->slots.count - e->slot_first && e->shared_first <= h->shared.count &&
         e->shared_count <= h->shared.count - e->shared_first && e->local_first <= h->locals.count &&
         e->local_count <= h->locals.count - e->local_first && e->shared_bytes <= UINT32_MAX &&
         e->local_bytes <= UINT32_MAX && (e->subgroup & (e->subgroup - 1)) == 0 && e->subgroup <= TEMPLATE_MAX_LANES;
}

static vyre_status take_entry(engine_code *code, uint32_t number, uint32_t *insn, uint32_t *value,
                              engine_fault *fault) {
  const vyre_kernel_entry *e = VYRE_KERNEL_AT(vyre_kernel_entry, code->header, entries, number);
  if (!ranges_fit(code->header, e, *insn)) return broken(fault, "entry point", number);
  scope s = { code, e, *value, *value };
  vyre_status status = VYRE_OK;
  for (uint32_t end = *insn + e->insn_count; *insn < end && status == VYRE_OK; ++*insn) {
    status = take_insn(&s, *insn, fault);
    code->resident |= status == VYRE_OK && code->steps[*insn].op == VYRE_KERNEL_GRID_BARRIER;
  }
  code->first_value[number] = *value;
  code->value_count[number] = s.next_value - *value;
  *value = s.next_value;
  return status;
}

/* The launch block's records lie in it. */
static bool launch_fits(const vyre_kernel_header *h) {
  for (uint32_t i = 0; i < h->params.count; i++) {
    const vyre_kernel_param *p = VYRE_KERNEL_AT(vyre_kernel_param, h, params, i);
    if (p->offset > h->param_bytes || engine_element_bytes(p->type) > h->param_bytes - p->offset) return false;
  }
  for (uint32_t i = 0; i < h->bindings.count; i++) {
    const vyre_kernel_binding *b = VYRE_KERNEL_AT(vyre_kernel_binding, h, bindings, i);
    if (b->count_offset > h->launch_bytes || h->launch_bytes - b->count_offset < 8) return false;
  }
  for (uint32_t i = 0; i < h->hidden_words.count; i++) {
    const vyre_kernel_hidden_word *w = VYRE_KERNEL_AT(vyre_kernel_hidden_word, h, hidden_words, i);
    if (w->offset > h->launch_bytes || engine_element_bytes(w->type) > h->launch_bytes - w->offset) return false;
  }
  for (uint32_t i = 0; i < h->hidden_bindings.count; i++) {
    const vyre_kernel_hidden_binding *b = VYRE_KERNEL_AT(vyre_kernel_hidden_binding, h, hidden_bindings, i);
    if (b->kind == 0 || b->kind > VYRE_KERNEL_HIDDEN_STOP) return false;
  }
  return true;
}

/* What this engine does not know may change what the rest means. */
static vyre_status check_known(const vyre_kernel_header *h, engine_fault *fault) {
  const uint32_t known = VYRE_KERNEL_CONTRACT | VYRE_KERNEL_FLUSH | VYRE_KERNEL_UNCHECKED | VYRE_KERNEL_COUNTS_MASKED |
                         VYRE_KERNEL_STEPS | VYRE_KERNEL_PROGRESS | VYRE_KERNEL_NO_TIME_BUDGET;
  if ((h->flags & ~known) != 0)
    return engine_fail(fault, VYRE_ERR_UNSUPPORTED, "kernel flags 0x%x are not known here. Fix: use a newer plugin",
                       h->flags & ~known);
  for (uint32_t i = 1; i < h->values.count; i++) {
    vyre_kernel_type type = VYRE_KERNEL_AT(vyre_kernel_value, h, values, i)->type;
    if (element_type(type) != VYRE_TYPE_NONE) continue;
    return engine_fail(fault, VYRE_ERR_UNSUPPORTED,
                       "value %u is of class %u, %u bits and %u lanes, which is no type here. Fix: use a newer plugin", i,
                       type.cls, type.bits, type.lanes);
  }
  return VYRE_OK;
}

static vyre_status take_all(engine_code *code, engine_fault *fault) {
  const vyre_kernel_header *h = code->header;
  uint32_t insn = 0, value = h->constants.count + 1;
  vyre_status status = check_known(h, fault);
  if (status != VYRE_OK) return status;
  if (!launch_fits(h)) return broken(fault, "launch block of bytes", h->launch_bytes);
  for (uint32_t i = 0; i < h->constants.count; i++)
    code->constants[i + 1].word = VYRE_KERNEL_AT(vyre_kernel_constant, h, constants, i)->bits;
  for (uint32_t i = 0; i < h->entries.count && status == VYRE_OK; i++)
    status = take_entry(code, i, &insn, &value, fault);
  if (status == VYRE_OK && insn != h->insns.count) return broken(fault, "instruction behind the last entry point", insn);
  return status;
}

void engine_free(engine_code *code) {
  if (code == NULL) return;
  free(code->kernel);
  free(code->steps);
  free(code->places);
  free(code->constants);
  free(code->first_value);
  free(code->value_count);
  free(code);
}

bool engine_fix_spec(engine_code *code, uint32_t id, uint64_t bits) {
  const vyre_kernel_table *specs = &code->header->specs;
  for (uint32_t i = 0; i < specs->count; i++) {
    vyre_kernel_spec *spec = (void *)(code->kernel + specs->offset + (uint64_t)i * specs->stride);
    if (spec->id != id) continue;
    spec->bits = bits;
    return true;
  }
  return false;
}

static bool allocate(engine_code *code, const void *kernel, uint64_t bytes) {
  code->kernel = aligned_alloc(16, (bytes + 15) & ~(uint64_t)15);
  if (code->kernel == NULL) return false;
  memcpy(code->kernel, kernel, bytes);
  const vyre_kernel_header *h = code->header = (const vyre_kernel_header *)(const void *)code->kernel;
  code->steps = calloc((size_t)h->insns.count + 1, sizeof *code->steps);
  code->places = calloc((size_t)h->accesses.count + 1, sizeof *code->places);
  code->constants = calloc((size_t)h->constants.count + 1, sizeof *code->constants);
  code->first_value = calloc(h->entries.count, sizeof *code->first_value);
  code->value_count = calloc(h->entries.count, sizeof *code->value_count);
  return code->steps != NULL && code->places != NULL && code->constants != NULL && code->first_value != NULL &&
         code->value_count != NULL;
}

vyre_status engine_prepare(const void *kernel, uint64_t bytes, engine_code **out, engine_fault *fault) {
  vyre_kernel_header header;
  *out = NULL;
  if (bytes < sizeof header || bytes > VYRE_KERNEL_MAX_BYTES) return broken(fault, "size", bytes);
  memcpy(&header, kernel, sizeof header);
  if (header.magic != VYRE_KERNEL_MAGIC || header.form_major != VYRE_KERNEL_FORM_MAJOR)
    return engine_fail(fault, VYRE_ERR_UNSUPPORTED,
                       "kernels of form %u are not known here, only of form %u. Fix: use a plugin for that form",
                       header.form_major, VYRE_KERNEL_FORM_MAJOR);
  if (!block_fits(&header, bytes)) return broken(fault, "table in bytes", bytes);
  engine_code *code = calloc(1, sizeof *code);
  if (code == NULL || !allocate(code, kernel, bytes)) {
    engine_free(code);
    return engine_fail(fault, VYRE_ERR_NO_MEMORY, "memory is used up. Fix: free some");
  }
  code->name = engine_text(code, header.name);
  vyre_status status = take_all(code, fault);
  if (status == VYRE_OK) *out = code;
  else engine_free(code);
  return status;
}
