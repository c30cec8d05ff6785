/* Opening a kernel: every number of it is looked at once. */
#include "plugins/gpu/kernel.h"

#include <string.h>

#include "plugins/gpu/flow.h"

#define NO GPU_NO
#define VA GPU_VA
#define OV GPU_OV
#define AC GPU_AC
#define SL GPU_SL
#define PA GPU_PA
#define BI GPU_BI
#define SP GPU_SP
#define HW GPU_HW
#define IN GPU_IN
#define LI GPU_LI
#define IM GPU_IM
static const gpu_opcode opcodes[] = {
#define X(name, number, spelling, rule, k0, k1, k2, k3, effects, doc) [number] = { spelling, { k0, k1, k2, k3 } },
#include <vyre/kernel_ops.def>
#undef X
};

gpu_opcode gpu_opcode_of(uint32_t op) {
  return op < sizeof opcodes / sizeof *opcodes ? opcodes[op] : (gpu_opcode){ 0 };
}

/* Record size and alignment of each table of the header; launching reads those with |kept|. */
static const struct { size_t table; uint32_t least, align; bool kept; } tables[] = {
#define TABLE(member, type, align, kept) { offsetof(vyre_kernel_header, member), sizeof(type), align, kept }
  TABLE(values, vyre_kernel_value, 8, false),       TABLE(constants, vyre_kernel_constant, 8, false),
  TABLE(insns, vyre_kernel_insn, 4, false),         TABLE(operands, uint32_t, 4, false),
  TABLE(accesses, vyre_kernel_access, 8, false),    TABLE(slots, vyre_kernel_slot, 4, false),
  TABLE(entries, vyre_kernel_entry, 8, true),       TABLE(params, vyre_kernel_param, 4, true),
  TABLE(bindings, vyre_kernel_binding, 8, true),    TABLE(shared, vyre_kernel_array, 8, true),
  TABLE(locals, vyre_kernel_array, 8, true),        TABLE(tables, vyre_kernel_table_data, 8, true),
  TABLE(table_bytes, uint8_t, 1, true),             TABLE(hidden_bindings, vyre_kernel_hidden_binding, 8, true),
  TABLE(hidden_words, vyre_kernel_hidden_word, 4, true), TABLE(specs, vyre_kernel_spec, 8, true),
  TABLE(strings, uint8_t, 1, true),
#undef TABLE
};
enum { TABLES = sizeof tables / sizeof *tables };

static vyre_kernel_table table_of(const vyre_kernel_header *h, size_t i) {
  vyre_kernel_table t;
  memcpy(&t, (const uint8_t *)h + tables[i].table, sizeof t);
  return t;
}

static bool table_fits(const vyre_kernel_header *h, size_t i) {
  vyre_kernel_table t = table_of(h, i);
  return t.count == 0 || (t.stride >= tables[i].least && t.stride % tables[i].align == 0 && t.offset % 8 == 0 &&
                          t.offset >= sizeof *h && t.offset + (uint64_t)t.count * t.stride <= h->bytes);
}

static vyre_status broken(vyre_error *error, const char *what, uint64_t at) {
  return gpu_fail(error, VYRE_ERR_INVALID_FILE, gpu_name,
                  "the kernel's %s %llu is out of range. Fix: compile the program again", what, (unsigned long long)at);
}

static vyre_status open_block(const void *kernel, uint64_t bytes, vyre_error *error) {
  const vyre_kernel_header *h = kernel;
  if (kernel == NULL || bytes < sizeof *h || (uintptr_t)kernel % 8 != 0 || h->magic != VYRE_KERNEL_MAGIC)
    return gpu_fail(error, VYRE_ERR_INVALID_FILE, gpu_name, "this is no kernel. Fix: compile the program again");
  if (h->form_major != VYRE_KERNEL_FORM_MAJOR)
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, gpu_name,
                    "the kernel is of form %u, form %u is known here. Fix: use a plugin of the same release as libvyre",
                    h->form_major, VYRE_KERNEL_FORM_MAJOR);
  if (h->header_bytes < sizeof *h || h->bytes != bytes || bytes > VYRE_KERNEL_MAX_BYTES)
    return broken(error, "size", h->bytes);
  for (size_t i = 0; i < TABLES; i++)
    if (!table_fits(h, i)) return broken(error, "table", i);
  const uint32_t known = VYRE_KERNEL_CONTRACT | VYRE_KERNEL_FLUSH | VYRE_KERNEL_UNCHECKED | VYRE_KERNEL_COUNTS_MASKED |
                         VYRE_KERNEL_STEPS | VYRE_KERNEL_PROGRESS | VYRE_KERNEL_NO_TIME_BUDGET;
  return gpu_check_flags("a kernel", h->flags, known, error);
}

/* ---- Records that launching reads ------------------------------------------------------------ */

uint32_t gpu_type_number(vyre_kernel_type type) {
#define X(name, class, width, count)                                                                     \
  if (type.cls == VYRE_KERNEL_CLASS_##class && type.bits == (width) && type.lanes == (count)) return VYRE_TYPE_##name;
#include <vyre/kernel_types.def>
#undef X
  return VYRE_TYPE_NONE;
}

const char *gpu_type_name(vyre_kernel_type type) {
  switch (gpu_type_number(type)) {
#define X(name, spelling, bytes, lanes, component, value, wire) \
  case VYRE_TYPE_##name: return spelling;
#include <vyre/types.def>
#undef X
    default: return "?";
  }
}

static bool in_strings(const vyre_kernel_header *h, uint32_t at) {
  return at < h->strings.count && memchr(VYRE_KERNEL_TEXT(h, at), 0, h->strings.count - at) != NULL;
}

static bool in_block(const vyre_kernel_header *h, uint32_t offset, uint32_t bytes, uint32_t align) {
  return offset % align == 0 && offset <= h->launch_bytes && bytes <= h->launch_bytes - offset;
}

static bool arrays_fit(const vyre_kernel_header *h, const vyre_kernel_table *table, uint32_t first, uint32_t count,
                       uint64_t memory) {
  if (first > table->count || count > table->count - first) return false;
  for (uint32_t i = first; i < first + count; i++) {
    const vyre_kernel_array *a = (const void *)((const uint8_t *)h + table->offset + (uint64_t)i * table->stride);
    uint64_t bytes;
    if (gpu_type_number(a->element) == VYRE_TYPE_NONE || !in_strings(h, a->name) || a->offset > memory ||
        __builtin_mul_overflow(a->length, gpu_element_bytes(a->element), &bytes) || bytes > memory - a->offset)
      return false;
  }
  return true;
}

/* Not in a launch part, whose entry points still say which instructions they had. */
static bool code_fits(const vyre_kernel_header *h, const vyre_kernel_entry *e, uint32_t *next_insn) {
  if (e->insn_first != *next_insn || e->insn_count > h->insns.count - e->insn_first) return false;
  *next_insn += e->insn_count;
  return e->slot_first <= h->slots.count && e->slot_count <= h->slots.count - e->slot_first;
}

static bool entry_fits(const vyre_kernel_header *h, const vyre_kernel_entry *e, uint32_t *next_insn) {
  uint64_t size = (uint64_t)e->workgroup[0] * e->workgroup[1];
  if (size == 0 || __builtin_mul_overflow(size, e->workgroup[2], &size) || size == 0 || size > UINT32_MAX) return false;
  if (e->subgroup > 32 || (e->subgroup & (e->subgroup - 1)) != 0) return false;
  if (h->values.count != 0 && !code_fits(h, e, next_insn)) return false;
  return arrays_fit(h, &h->shared, e->shared_first, e->shared_count, e->shared_bytes) &&
         arrays_fit(h, &h->locals, e->local_first, e->local_count, e->local_bytes);
}

static bool tables_fit(const vyre_kernel_header *h) {
  for (uint32_t i = 0; i < h->tables.count; i++) {
    const vyre_kernel_table_data *t = VYRE_KERNEL_AT(vyre_kernel_table_data, h, tables, i);
    uint64_t bytes;
    if (gpu_type_number(t->element) == VYRE_TYPE_NONE || !in_strings(h, t->name) || t->offset > h->table_bytes.count ||
        __builtin_mul_overflow(t->length, gpu_element_bytes(t->element), &bytes) ||
        bytes > h->table_bytes.count - t->offset)
      return false;
  }
  return h->table_bytes.count == 0 || h->table_bytes.stride == 1;
}

/* Parameters of at most 16 bytes, counts, and a word of each kind. */
static uint64_t most_launch_bytes(const vyre_kernel_header *h) {
  return 16ull * h->params.count + 8ull * h->bindings.count + 8ull * (VYRE_KERNEL_WORD_TIME_BUDGET + 1);
}

static vyre_status open_launch(const vyre_kernel_header *h, vyre_error *error) {
  uint32_t next_insn = 0;
  if (!in_strings(h, h->name)) return broken(error, "name", h->name);
  if (h->launch_bytes % 8 != 0 || h->launch_bytes > most_launch_bytes(h) || h->param_bytes > h->launch_bytes)
    return broken(error, "launch block", h->launch_bytes);
  for (uint32_t i = 0; i < h->entries.count; i++)
    if (!entry_fits(h, gpu_entry(h, i), &next_insn)) return broken(error, "entry point", i);
  for (uint32_t i = 0; i < h->params.count; i++) {
    const vyre_kernel_param *p = VYRE_KERNEL_AT(vyre_kernel_param, h, params, i);
    if (gpu_type_number(p->type) == VYRE_TYPE_NONE || !in_strings(h, p->name) ||
        !in_block(h, p->offset, gpu_element_bytes(p->type), gpu_element_bytes(p->type) / p->type.lanes))
      return broken(error, "parameter", i);
  }
  for (uint32_t i = 0; i < h->bindings.count; i++) {
    const vyre_kernel_binding *b = VYRE_KERNEL_AT(vyre_kernel_binding, h, bindings, i);
    if (gpu_type_number(b->element) == VYRE_TYPE_NONE || !in_strings(h, b->name) || !in_block(h, b->count_offset, 8, 8))
      return broken(error, "binding", i);
  }
  for (uint32_t i = 0; i < h->hidden_words.count; i++) {
    const vyre_kernel_hidden_word *w = VYRE_KERNEL_AT(vyre_kernel_hidden_word, h, hidden_words, i);
    uint32_t wanted = w->kind == VYRE_KERNEL_WORD_TIME_BUDGET ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
    if (w->kind == 0 || w->kind > VYRE_KERNEL_WORD_TIME_BUDGET || gpu_type_number(w->type) != wanted ||
        !in_block(h, w->offset, w->type.bits / 8, w->type.bits / 8))
      return broken(error, "hidden word", i);
  }
  for (uint32_t i = 0; i < h->hidden_bindings.count; i++) {
    uint32_t kind = VYRE_KERNEL_AT(vyre_kernel_hidden_binding, h, hidden_bindings, i)->kind;
    if (kind == 0 || kind > VYRE_KERNEL_HIDDEN_STOP) return broken(error, "hidden binding", i);
  }
  for (uint32_t i = 0; i < h->specs.count; i++)
    if (VYRE_KERNEL_AT(vyre_kernel_spec, h, specs, i)->id >= h->params.count) return broken(error, "spec constant", i);
  return h->entries.count > 0 && tables_fit(h) ? VYRE_OK : broken(error, "constant table or entry point", 0);
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static bool is_value(const vyre_kernel_header *h, uint32_t value) { return value != 0 && value < h->values.count; }

static uint32_t memories_of(const vyre_kernel_header *h, uint32_t space) {
  switch ((vyre_kernel_space)space) {
    case VYRE_KERNEL_SPACE_BINDING: return h->bindings.count;
    case VYRE_KERNEL_SPACE_SHARED: return h->shared.count;
    case VYRE_KERNEL_SPACE_LOCAL: return h->locals.count;
    case VYRE_KERNEL_SPACE_TABLE: return h->tables.count;
    case VYRE_KERNEL_SPACE_HIDDEN: return h->hidden_bindings.count;
  }
  return 0;
}

static bool access_fits(const vyre_kernel_header *h, const vyre_kernel_access *a) {
  const uint32_t known = VYRE_KERNEL_ACCESS_COHERENT | VYRE_KERNEL_ACCESS_STREAMING | VYRE_KERNEL_ACCESS_LAST_USE |
                         VYRE_KERNEL_ACCESS_READ_ONLY;
  return a->number < memories_of(h, a->space) && gpu_type_number(a->element) != VYRE_TYPE_NONE &&
         a->bound_kind <= VYRE_KERNEL_BOUND_VALUE && (a->flags & ~known) == 0 && is_value(h, a->index) &&
         (a->base == 0 || is_value(h, a->base)) && (a->bound_kind != VYRE_KERNEL_BOUND_VALUE || is_value(h, a->bound)) &&
         (a->bound_kind != VYRE_KERNEL_BOUND_LENGTH || a->space == VYRE_KERNEL_SPACE_BINDING);
}

static bool access_is_defined(const vyre_kernel_header *h, uint32_t number, uint32_t next) {
  const vyre_kernel_access *a = gpu_access(h, number);
  return a->base < next && a->index < next && a->bound < next;
}

/* Values from |next| on are not defined yet. */
static bool operand_fits(const vyre_kernel_header *h, uint8_t kind, uint32_t arg, uint32_t next) {
  switch (kind) {
    case GPU_NO: return arg == 0;
    case GPU_VA: return arg != 0 && arg < next;
    case GPU_OV: return arg < next;
    case GPU_AC: return arg < h->accesses.count && access_is_defined(h, arg, next);
    case GPU_SL: return arg < h->slots.count;
    case GPU_PA: return arg < h->params.count;
    case GPU_BI: return arg < h->bindings.count;
    case GPU_SP: return arg < h->specs.count;
    case GPU_HW: return arg < h->hidden_words.count;
    case GPU_IN: return arg < h->insns.count;
    case GPU_LI: return arg <= h->operands.count;
    default: return true;
  }
}

/* Numbers whose range the operand's kind does not say. */
static bool numbers_fit(const vyre_kernel_header *h, const vyre_kernel_insn *in) {
  if ((in->op >= VYRE_KERNEL_ATOMIC_LOAD && in->op <= VYRE_KERNEL_ATOMIC_CAS) || in->op == VYRE_KERNEL_FENCE)
    return in->aux <= VYRE_ORDER_SEQ_CST && in->aux2 <= VYRE_SCOPE_SYSTEM;
  switch (in->op) {
    case VYRE_KERNEL_GID:
    case VYRE_KERNEL_WID:
    case VYRE_KERNEL_LID:
    case VYRE_KERNEL_NWG: return in->arg[0] < 3;
    case VYRE_KERNEL_LENGTH: return in->arg[1] < 2;
    case VYRE_KERNEL_EXTRACT: return in->arg[1] < gpu_value(h, in->arg[0])->type.lanes;
    case VYRE_KERNEL_PRINT: return in->arg[2] <= h->operands.count - in->arg[1];
    default: return true;
  }
}

static vyre_status open_insns(const vyre_kernel_header *h, vyre_error *error) {
  uint32_t next = h->constants.count + 1;
  for (uint32_t i = 0; i < h->insns.count; i++) {
    const vyre_kernel_insn *in = gpu_insn(h, i);
    gpu_opcode op = gpu_opcode_of(in->op);
    if (op.spelling == NULL)
      return gpu_fail(error, VYRE_ERR_UNSUPPORTED, gpu_name,
                      "opcode 0x%03x of instruction %u is not known here. Fix: use a newer plugin", in->op, i);
    for (int k = 0; k < 4; k++)
      if (!operand_fits(h, op.kind[k], in->arg[k], next)) return broken(error, "operand of instruction", i);
    if (!numbers_fit(h, in)) return broken(error, "number in instruction", i);
    if (in->result == 0) continue;
    if (in->result != next++ || in->result >= h->values.count) return broken(error, "result of instruction", i);
  }
  return gpu_check_flow(h, error);
}

static vyre_status open_code(const vyre_kernel_header *h, vyre_error *error) {
  if (h->constants.count >= h->values.count || h->insns.count > VYRE_KERNEL_MAX_INSNS)
    return broken(error, "table", 0);
  for (uint32_t i = 1; i < h->values.count; i++)
    if (gpu_type_number(gpu_value(h, i)->type) == VYRE_TYPE_NONE) return broken(error, "value", i);
  for (uint32_t i = 0; i < h->slots.count; i++)
    if (gpu_type_number(VYRE_KERNEL_AT(vyre_kernel_slot, h, slots, i)->type) == VYRE_TYPE_NONE)
      return broken(error, "slot", i);
  for (uint32_t i = 0; i < h->accesses.count; i++)
    if (!access_fits(h, gpu_access(h, i))) return broken(error, "access", i);
  for (uint32_t i = 0; i < h->operands.count; i++)
    if (!is_value(h, *VYRE_KERNEL_AT(uint32_t, h, operands, i))) return broken(error, "operand", i);
  return open_insns(h, error);
}

vyre_status gpu_kernel_open(const void *kernel, uint64_t bytes, const vyre_kernel_header **out, vyre_error *error) {
  *out = NULL;
  const vyre_kernel_header *h = kernel;
  vyre_status status = open_block(kernel, bytes, error);
  if (status == VYRE_OK) status = open_launch(h, error);
  if (status == VYRE_OK && h->values.count != 0) status = open_code(h, error);
  if (status == VYRE_OK && h->values.count == 0 && h->insns.count != 0) status = broken(error, "table", 0);
  if (status == VYRE_OK) *out = h;
  return status;
}

int gpu_hidden_binding(const vyre_kernel_header *h, vyre_kernel_hidden_kind kind) {
  for (uint32_t i = 0; i < h->hidden_bindings.count; i++)
    if (VYRE_KERNEL_AT(vyre_kernel_hidden_binding, h, hidden_bindings, i)->kind == (uint32_t)kind) return (int)i;
  return -1;
}

int gpu_hidden_word(const vyre_kernel_header *h, vyre_kernel_word kind) {
  for (uint32_t i = 0; i < h->hidden_words.count; i++)
    if (VYRE_KERNEL_AT(vyre_kernel_hidden_word, h, hidden_words, i)->kind == (uint32_t)kind) return (int)i;
  return -1;
}

void gpu_kernel_keep(const vyre_kernel_header *kernel, gpu_bytes *b) {
  gpu_bytes_align(b, 8);
  size_t start = b->count;
  vyre_kernel_header own = *kernel;
  own.header_bytes = sizeof own;
  gpu_bytes_add(b, &own, sizeof own);
  for (size_t i = 0; i < TABLES; i++) {
    vyre_kernel_table t = table_of(kernel, i);
    if (!tables[i].kept) t.count = 0;
    gpu_bytes_align(b, 8);
    const uint8_t *from = (const uint8_t *)kernel + t.offset;
    t.offset = t.count != 0 ? (uint32_t)(b->count - start) : 0;
    gpu_bytes_add(b, from, (size_t)t.count * t.stride);
    memcpy((uint8_t *)&own + tables[i].table, &t, sizeof t);
  }
  gpu_bytes_align(b, 8);
  if (b->failed) return;
  own.bytes = (uint32_t)(b->count - start);
  memcpy(b->data + start, &own, sizeof own);
}
