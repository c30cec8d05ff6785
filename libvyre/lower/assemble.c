/* From tables that grew to one block: values get their final numbers, blocks learn where they end, and everything is
 * laid out behind the header. */
#include <string.h>

#include "lower/code.h"

/* ---- Values ---------------------------------------------------------------------------------- */

typedef struct layout {
  lower_code *c;
  uint32_t *numbers; /* of each value: its final number */
  uint8_t *block;
  vyre_kernel_header *header;
  uint64_t bytes;  /* laid out so far */
  uint64_t copied; /* of them written */
} layout;

/* Constants first, then results in the order of instructions. */
static uint32_t number_values(layout *l) {
  lower_code *c = l->c;
  uint32_t next = 1;
  for (uint32_t i = 0; i < c->constant_values.count; i++) l->numbers[c->constant_values.data[i]] = next++;
  for (uint32_t i = 0; i < c->insns.count; i++) {
    vyre_kernel_insn *insn = &c->insns.data[i];
    for (uint32_t values = form_ops[insn->op].values; values != 0; values &= values - 1) {
      uint32_t *arg = &insn->arg[__builtin_ctz(values)];
      *arg = l->numbers[*arg];
    }
    if (insn->result == 0) continue;
    l->numbers[insn->result] = next;
    insn->result = next++;
  }
  for (uint32_t i = 0; i < c->operands.count; i++) c->operands.data[i] = l->numbers[c->operands.data[i]];
  for (uint32_t i = 0; i < c->accesses.count; i++) {
    vyre_kernel_access *a = &c->accesses.data[i];
    a->base = l->numbers[a->base];
    a->index = l->numbers[a->index];
    a->bound = l->numbers[a->bound];
  }
  return next;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

enum { NOWHERE = UINT32_MAX };

typedef struct open_block {
  uint32_t insn;  /* IF or ELSE whose arm is open, or LOOP */
  uint32_t jumps; /* LOOP: the last of its jumps, which hold the one before in arg[1] */
  uint32_t around; /* LOOP: the loop around it, as a place in the stack */
} open_block;

static void link_jumps(vyre_kernel_insn *insns, const open_block *loop, uint32_t end) {
  for (uint32_t jump = loop->jumps; jump != NOWHERE;) {
    vyre_kernel_insn *insn = &insns[jump];
    jump = insn->arg[1];
    insn->arg[1] = insn->op == VYRE_KERNEL_BREAK ? end : insns[loop->insn].arg[2];
  }
}

/* Fills in where structure leads to. */
static bool link_blocks(lower_code *c) {
  VYRE_VECTOR(open_block) open = { 0 };
  vyre_kernel_insn *insns = c->insns.data;
  uint32_t loop = NOWHERE;
  bool good = true;
  for (uint32_t i = 0; good && i < c->insns.count; i++) {
    open_block *top = open.count > 0 ? &open.data[open.count - 1] : NULL;
    switch (insns[i].op) {
      case VYRE_KERNEL_IF: good = vyre_vector_push(&open, ((open_block){ .insn = i })); break;
      case VYRE_KERNEL_ELSE:
        insns[top->insn].arg[1] = i;
        top->insn = i;
        break;
      case VYRE_KERNEL_END_IF:
        insns[top->insn].arg[1] = i;
        open.count--;
        break;
      case VYRE_KERNEL_LOOP:
        good = vyre_vector_push(&open, ((open_block){ .insn = i, .jumps = NOWHERE, .around = loop }));
        loop = open.count - 1;
        break;
      case VYRE_KERNEL_CONTINUING: insns[top->insn].arg[2] = i; break;
      case VYRE_KERNEL_END_LOOP:
        insns[i].arg[1] = top->insn;
        insns[top->insn].arg[1] = i;
        link_jumps(insns, top, i);
        loop = top->around;
        open.count--;
        break;
      case VYRE_KERNEL_BREAK:
      case VYRE_KERNEL_CONTINUE:
        insns[i].arg[1] = open.data[loop].jumps;
        open.data[loop].jumps = i;
        break;
      default: break;
    }
  }
  vyre_vector_free(&open);
  return good;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Where a table will stand. */
static void place(layout *l, vyre_kernel_table *table, uint64_t count, uint32_t stride, uint32_t alignment) {
  l->bytes = (l->bytes + alignment - 1) & ~(uint64_t)(alignment - 1);
  *table = (vyre_kernel_table){ .offset = (uint32_t)l->bytes, .count = (uint32_t)count, .stride = stride };
  l->bytes += count * stride;
}

static void place_all(layout *l, vyre_kernel_header *h, uint32_t values) {
  const lower_code *c = l->c;
  l->bytes = sizeof *h;
  place(l, &h->values, values, sizeof(vyre_kernel_value), 8);
  place(l, &h->constants, c->constants.count, sizeof(vyre_kernel_constant), 8);
  place(l, &h->insns, c->insns.count, sizeof(vyre_kernel_insn), 8);
  place(l, &h->operands, c->operands.count, sizeof(uint32_t), 8);
  place(l, &h->accesses, c->accesses.count, sizeof(vyre_kernel_access), 8);
  place(l, &h->slots, c->slots.count, sizeof(vyre_kernel_slot), 8);
  place(l, &h->entries, c->entries.count, sizeof(vyre_kernel_entry), 8);
  place(l, &h->params, c->params.count, sizeof(vyre_kernel_param), 8);
  place(l, &h->bindings, c->bindings.count, sizeof(vyre_kernel_binding), 8);
  place(l, &h->shared, c->shared.count, sizeof(vyre_kernel_array), 8);
  place(l, &h->locals, c->locals.count, sizeof(vyre_kernel_array), 8);
  place(l, &h->tables, c->tables.count, sizeof(vyre_kernel_table_data), 8);
  place(l, &h->table_bytes, c->table_bytes.count, 1, 16);
  place(l, &h->hidden_bindings, c->hidden_bindings.count, sizeof(vyre_kernel_hidden_binding), 8);
  place(l, &h->hidden_words, c->hidden_words.count, sizeof(vyre_kernel_hidden_word), 8);
  place(l, &h->specs, c->specs.count, sizeof(vyre_kernel_spec), 8);
  place(l, &h->strings, c->strings.count, 1, 8);
  l->bytes = (l->bytes + 7) & ~7ull;
}

/* The gap before a table is filled with zeros, then come its records. */
static void copy(layout *l, const vyre_kernel_table *table, const void *records) {
  size_t bytes = (size_t)table->count * table->stride;
  memset(l->block + l->copied, 0, table->offset - l->copied);
  if (bytes > 0) memcpy(l->block + table->offset, records, bytes);
  l->copied = table->offset + bytes;
}

static vyre_kernel_value value_record(const lower_info *info) {
  return (vyre_kernel_value){ .type = form_type((vyre_type)info->type), .uniform = info->uniform,
                              .trailing_zeros = info->zeros, .least = info->least, .most = info->most };
}

/* A value that no instruction has, of a place that was never filled, has no number and is left out. */
static void copy_values(layout *l, const vyre_kernel_table *table) {
  vyre_kernel_value *records = (vyre_kernel_value *)(void *)(l->block + table->offset);
  records[0] = (vyre_kernel_value){ .uniform = 0 };
  l->copied = table->offset + (size_t)table->count * table->stride;
  for (uint32_t i = 1; i < l->c->values.count; i++)
    if (l->numbers[i] != 0) records[l->numbers[i]] = value_record(&l->c->values.data[i]);
}

static void copy_all(layout *l) {
  const lower_code *c = l->c;
  const vyre_kernel_header *h = l->header;
  copy_values(l, &h->values);
  copy(l, &h->constants, c->constants.data);
  copy(l, &h->insns, c->insns.data);
  copy(l, &h->operands, c->operands.data);
  copy(l, &h->accesses, c->accesses.data);
  copy(l, &h->slots, c->slots.data);
  copy(l, &h->entries, c->entries.data);
  copy(l, &h->params, c->params.data);
  copy(l, &h->bindings, c->bindings.data);
  copy(l, &h->shared, c->shared.data);
  copy(l, &h->locals, c->locals.data);
  copy(l, &h->tables, c->tables.data);
  copy(l, &h->table_bytes, c->table_bytes.data);
  copy(l, &h->hidden_bindings, c->hidden_bindings.data);
  copy(l, &h->hidden_words, c->hidden_words.data);
  copy(l, &h->specs, c->specs.data);
  copy(l, &h->strings, c->strings.data);
  memset(l->block + l->copied, 0, l->bytes - l->copied);
}

static vyre_kernel_header header_of(const lower_code *c, const uint8_t *fingerprint) {
  const vyre_lower_options *o = c->options;
  vyre_kernel_header h = {
    .magic = VYRE_KERNEL_MAGIC, .header_bytes = sizeof h,
    .form_major = VYRE_KERNEL_FORM_MAJOR, .form_minor = VYRE_KERNEL_FORM_MINOR,
    .flags = c->flags, .needs = c->needs, .result = c->result,
    .ulp = (o->compile_flags & VYRE_COMPILE_ULP) != 0 ? o->ulp_budget : VYRE_ULP_UNSET,
    .steps = (o->compile_flags & VYRE_COMPILE_STEPS) != 0 ? o->steps : 0,
    .name = c->name_at, .launch_bytes = (c->launch_bytes + 7) & ~7u, .count_offset = c->count_offset,
    .param_bytes = c->param_bytes, .spill_bytes = c->spill_bytes,
  };
  memcpy(h.fingerprint, fingerprint, sizeof h.fingerprint);
  return h;
}

static bool lay_out(layout *l, const uint8_t *fingerprint) {
  lower_code *c = l->c;
  vyre_kernel_header header = header_of(c, fingerprint);
  l->numbers = calloc(c->values.count, sizeof *l->numbers);
  if (l->numbers == NULL || c->strings.failed || !link_blocks(c)) return false;
  uint32_t values = number_values(l);
  place_all(l, &header, values);
  if (l->bytes > VYRE_KERNEL_MAX_BYTES) {
    lower_fail(c, VYRE_ERR_LIMIT, c->name,
               "The kernel would have %llu bytes, and %u is the most. Fix: split the program.",
               (unsigned long long)l->bytes, VYRE_KERNEL_MAX_BYTES);
    return true;
  }
  header.bytes = (uint32_t)l->bytes;
  l->block = malloc(l->bytes);
  if (l->block == NULL) return false;
  l->header = (vyre_kernel_header *)(void *)l->block;
  *l->header = header;
  copy_all(l);
  return true;
}

bool lower_assemble(lower_code *c, const uint8_t *fingerprint, uint8_t **out, size_t *bytes) {
  if (lower_failed(c)) return false;
  layout l = { .c = c };
  if (!lay_out(&l, fingerprint)) lower_fail_memory(c);
  free(l.numbers);
  if (lower_failed(c)) {
    free(l.block);
    return false;
  }
  *out = l.block;
  *bytes = l.bytes;
  return true;
}
