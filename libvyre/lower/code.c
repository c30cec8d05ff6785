/* Adding to a kernel: values, instructions, blocks, slots, accesses. */
#include "lower/code.h"

#include <string.h>

void lower_fail_memory(lower_code *c) {
  if (c->status == VYRE_OK) c->status = vyre_fail_memory(c->error, "lower");
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static void push(lower_code *c, const vyre_kernel_insn *insn) {
  if (c->insns.count + c->head.count + c->body.count >= VYRE_KERNEL_MAX_INSNS) {
    lower_fail(
        c, VYRE_ERR_LIMIT, c->name,
        "The program becomes more than %u instructions. Fix: split it, or name expressions that are used more than "
        "once with let.",
        VYRE_KERNEL_MAX_INSNS);
    return;
  }
  if (!vyre_vector_push(c->to, *insn)) lower_fail_memory(c);
}

lower_value lower_append(lower_code *c, const lower_request *r) {
  if (lower_failed(c)) return 0;
  vyre_kernel_insn insn = { .op = r->op, .aux = r->aux, .aux2 = r->aux2, .stmt = c->stmt,
                            .arg = { r->arg[0], r->arg[1], r->arg[2], r->arg[3] } };
  if (r->result != VYRE_TYPE_NONE) {
    lower_info info = { .type = (uint8_t)r->result };
    lower_note_facts(c, r, &info);
    insn.result = c->values.count;
    if (!vyre_vector_push(&c->values, info)) lower_fail_memory(c);
  }
  push(c, &insn);
  return lower_failed(c) ? 0 : insn.result;
}

lower_value lower_emit(lower_code *c, const lower_request *r) {
  if (lower_failed(c)) return 0;
  uint64_t types = LOWER_LISTED | form_type_bit(r->result);
  for (int k = 0; k < 4; k++) types |= form_type_bit(r->type[k]);
  if ((form_ops[r->op].effects & FORM_ULP) != 0) return lower_transcend(c, r);
  return lower_takes(c, r->op, types) ? lower_append(c, r) : lower_expand(c, r, types);
}

void lower_plain(lower_code *c, uint32_t op, uint32_t aux, uint32_t aux2) {
  lower_emit(c, &(lower_request){ .op = (uint16_t)op, .aux = (uint8_t)aux, .aux2 = (uint8_t)aux2 });
}

/* ---- Constants ------------------------------------------------------------------------------- */

static lower_info constant_info(vyre_type type, uint64_t bits) {
  lower_info info = {
      .type = (uint8_t)type, .is_constant = true, .uniform = VYRE_KERNEL_UNIFORM_GRID, .most = UINT64_MAX};
  uint32_t width = form_bytes(type) * 8;
  if (form_is_integer(type)) info.zeros = (uint8_t)(bits == 0 ? width : (uint32_t)__builtin_ctzll(bits));
  if (form_is_unsigned(type)) info.least = info.most = bits;
  return info;
}

lower_value lower_constant(lower_code *c, vyre_type type, uint64_t bits) {
  if (lower_failed(c)) return 0;
  uint32_t hash = vyre_hash_u64(bits ^ (uint64_t)type << 56 ^ type), cursor = hash, found;
  if (!vyre_index_set_reserve(&c->constant_set)) return lower_fail_memory(c), 0;
  while ((found = vyre_index_set_next(&c->constant_set, hash, &cursor)) != UINT32_MAX)
    if (c->constants.data[found] == bits && lower_type_of(c, c->constant_values.data[found]) == type)
      return c->constant_values.data[found];
  lower_info info = constant_info(type, bits);
  lower_value value = c->values.count;
  info.bits = c->constants.count;
  if (!vyre_vector_push(&c->constants, bits) || !vyre_vector_push(&c->constant_values, value) ||
      !vyre_vector_push(&c->values, info))
    return lower_fail_memory(c), 0;
  vyre_index_set_insert(&c->constant_set, hash, cursor, info.bits);
  return value;
}

lower_value lower_f32(lower_code *c, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return lower_constant(c, VYRE_TYPE_F32, bits);
}

lower_value lower_f64(lower_code *c, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return lower_constant(c, VYRE_TYPE_F64, bits);
}

lower_value lower_number(lower_code *c, vyre_type type, uint64_t x) {
  vyre_type component = form_component(type);
  uint32_t lanes = form_lanes(type);
  lower_value one = lower_constant(c, component, form_bytes(component) == 4 ? (uint32_t)x : x);
  return lanes == 1 ? one : lower_vector(c, (lower_value[4]){ one, one, one, one }, lanes);
}

bool lower_constant_bits(const lower_code *c, lower_value v, uint64_t *bits) {
  const lower_info *info = lower_info_of(c, v);
  if (!info->is_constant) return false;
  *bits = c->constants.data[info->bits];
  return true;
}

/* ---- Operators ------------------------------------------------------------------------------- */

lower_value lower_op(lower_code *c, uint32_t op, lower_value x, lower_value y, lower_value z) {
  lower_request r = { .op = (uint16_t)op, .arg = { x, y, z },
                      .type = { lower_type_of(c, x), lower_type_of(c, y), lower_type_of(c, z) } };
  r.result = form_result(op, r.type);
  return lower_emit(c, &r);
}

lower_value lower_convert(lower_code *c, uint32_t op, vyre_type type, lower_value x) {
  if (op == VYRE_KERNEL_BITCAST && lower_type_of(c, x) == type) return x;
  return lower_emit(c,
                    &(lower_request){.op = (uint16_t)op, .result = type, .arg[0] = x, .type[0] = lower_type_of(c, x)});
}

lower_value lower_vector(lower_code *c, const lower_value *components, uint32_t lanes) {
  lower_request r = { .op = VYRE_KERNEL_VECTOR };
  for (uint32_t k = 0; k < lanes; k++) {
    r.arg[k] = components[k];
    r.type[k] = lower_type_of(c, components[k]);
  }
  r.result = form_result(r.op, r.type);
  return lower_emit(c, &r);
}

lower_value lower_extract(lower_code *c, lower_value vector, uint32_t component) {
  vyre_type type = lower_type_of(c, vector);
  return lower_emit(c, &(lower_request){ .op = VYRE_KERNEL_EXTRACT, .result = form_component(type),
                                         .arg = { vector, component }, .type[0] = type });
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

lower_value lower_leaf(lower_code *c, uint32_t op, vyre_type type, uint32_t arg0, uint32_t arg1) {
  lower_request r = { .op = (uint16_t)op, .result = type, .arg = { arg0, arg1 } };
  uint8_t kind = form_ops[op].kinds[0];
  if (kind == FORM_PA || kind == FORM_SP || kind == FORM_HW) r.type[0] = type;
  if (type == VYRE_TYPE_NONE) r.result = form_result(op, r.type);
  lower_insns *to = c->to;
  c->to = &c->leaves;
  lower_value v = lower_emit(c, &r);
  c->to = to;
  return v;
}

#define add(c, x, y) lower_op2(c, VYRE_KERNEL_ADD, x, y)
#define mul(c, x, y) lower_op2(c, VYRE_KERNEL_MUL, x, y)

lower_value lower_local_index(lower_code *c) {
  if (c->local_index != 0) return c->local_index;
  lower_insns *to = c->to;
  c->to = &c->leaves;
  lower_value v = 0;
  for (uint32_t axis = 3; axis-- > 0;) {
    if (c->workgroup[axis] == 1) continue;
    lower_value id = lower_leaf(c, VYRE_KERNEL_LID, VYRE_TYPE_NONE, axis, 0);
    v = v == 0 ? id : add(c, mul(c, v, lower_u32(c, c->workgroup[axis])), id);
  }
  c->local_index = v != 0 ? v : lower_u32(c, 0);
  c->to = to;
  return c->local_index;
}

lower_value lower_group_index(lower_code *c) {
  if (c->group_index != 0) return c->group_index;
  lower_insns *to = c->to;
  c->to = &c->leaves;
  lower_value v = lower_leaf(c, VYRE_KERNEL_WID, VYRE_TYPE_NONE, 2, 0);
  for (uint32_t axis = 2; axis-- > 0;)
    v = add(c, mul(c, v, lower_leaf(c, VYRE_KERNEL_NWG, VYRE_TYPE_NONE, axis, 0)),
            lower_leaf(c, VYRE_KERNEL_WID, VYRE_TYPE_NONE, axis, 0));
  c->group_index = v;
  c->to = to;
  return v;
}

lower_value lower_hidden_word(lower_code *c, vyre_kernel_word kind) {
  for (uint32_t i = 0; i < c->hidden_words.count; i++)
    if (c->hidden_words.data[i].kind == kind)
      return lower_leaf(c, VYRE_KERNEL_HIDDEN, form_type_named(c->hidden_words.data[i].type), i, 0);
  vyre_type type = kind == VYRE_KERNEL_WORD_TIME_BUDGET ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
  uint32_t bytes = form_bytes(type);
  c->launch_bytes = (c->launch_bytes + bytes - 1) & ~(bytes - 1);
  vyre_kernel_hidden_word word = { .kind = kind, .type = form_type(type), .offset = c->launch_bytes };
  c->launch_bytes += bytes;
  if (!vyre_vector_push(&c->hidden_words, word)) lower_fail_memory(c);
  return lower_failed(c) ? 0 : lower_leaf(c, VYRE_KERNEL_HIDDEN, type, c->hidden_words.count - 1, 0);
}

/* ---- Flow ------------------------------------------------------------------------------------ */

/* Structure is taken by every target. Where it leads to is filled in when the kernel is assembled. */
static void flow(lower_code *c, uint32_t op, lower_value v) {
  lower_append(c, &(lower_request){ .op = (uint16_t)op, .arg[0] = v });
}

void lower_if(lower_code *c, lower_value condition) { flow(c, VYRE_KERNEL_IF, condition); }
void lower_else(lower_code *c) { flow(c, VYRE_KERNEL_ELSE, 0); }
void lower_end_if(lower_code *c) { flow(c, VYRE_KERNEL_END_IF, 0); }
void lower_loop(lower_code *c) { flow(c, VYRE_KERNEL_LOOP, 0); }
void lower_continuing(lower_code *c) { flow(c, VYRE_KERNEL_CONTINUING, 0); }
void lower_end_loop(lower_code *c, lower_value leave) { flow(c, VYRE_KERNEL_END_LOOP, leave); }
void lower_jump(lower_code *c, uint32_t op) { flow(c, op, 0); }

/* ---- Slots ----------------------------------------------------------------------------------- */

uint32_t lower_slot(lower_code *c, vyre_type type, uint32_t uniform, uint32_t name) {
  vyre_kernel_slot slot = { .type = form_type(type), .uniform = (uint8_t)uniform, .name = name };
  if (!vyre_vector_push(&c->slots, slot)) lower_fail_memory(c);
  return lower_failed(c) ? 0 : c->slots.count - 1;
}

lower_value lower_get(lower_code *c, uint32_t slot) {
  if (lower_failed(c)) return 0;
  vyre_type type = form_type_named(c->slots.data[slot].type);
  return lower_append(c, &(lower_request){ .op = VYRE_KERNEL_GET, .result = type, .arg[0] = slot, .type[0] = type });
}

void lower_know(lower_code *c, lower_value v, uint32_t zeros, uint64_t least, uint64_t most) {
  if (lower_failed(c)) return;
  lower_info *info = &c->values.data[v];
  if (zeros > info->zeros) info->zeros = (uint8_t)zeros;
  if (least < info->least) least = info->least;
  if (most > info->most) most = info->most;
  if (!form_is_unsigned((vyre_type)info->type) || least > most) return; /* where nothing is ever reached */
  info->least = least;
  info->most = most;
}

void lower_set(lower_code *c, uint32_t slot, lower_value v) {
  lower_append(c, &(lower_request){ .op = VYRE_KERNEL_SET, .arg = { slot, v } });
}

/* ---- Memory ---------------------------------------------------------------------------------- */

uint32_t lower_text(lower_code *c, const char *text) {
  if (*text == 0) return 0;
  uint32_t at = (uint32_t)c->strings.count;
  vyre_write_bytes(&c->strings, text, strlen(text) + 1);
  return at;
}

uint32_t lower_hidden_binding(lower_code *c, vyre_kernel_hidden_kind kind, uint64_t bytes) {
  for (uint32_t i = 0; i < c->hidden_bindings.count; i++)
    if (c->hidden_bindings.data[i].kind == kind) return i;
  vyre_kernel_hidden_binding binding = { .kind = kind, .bytes = bytes };
  if (!vyre_vector_push(&c->hidden_bindings, binding)) lower_fail_memory(c);
  return lower_failed(c) ? 0 : c->hidden_bindings.count - 1;
}

uint32_t lower_array(lower_code *c, vyre_kernel_space space, vyre_type element, uint64_t length, uint32_t flags,
                     uint32_t name) {
  vyre_kernel_entry *entry = &c->entries.data[c->entries.count - 1];
  bool is_shared = space == VYRE_KERNEL_SPACE_SHARED;
  uint64_t *used = is_shared ? &entry->shared_bytes : &entry->local_bytes;
  vyre_kernel_array array = {
      .element = form_type(element), .flags = flags, .length = length, .offset = *used, .name = name};
  uint64_t bytes;
  if (__builtin_mul_overflow(length, form_bytes(element), &bytes) || __builtin_add_overflow(bytes, 15, &bytes) ||
      __builtin_add_overflow(*used, bytes & ~15ull, used)) {
    lower_fail(c, VYRE_ERR_LIMIT, c->name, "Its arrays have more than 2^64 bytes. Fix: declare fewer elements.");
    return 0;
  }
  if (!(is_shared ? vyre_vector_push(&c->shared, array) : vyre_vector_push(&c->locals, array))) lower_fail_memory(c);
  return lower_failed(c) ? 0 : (is_shared ? c->shared.count : c->locals.count) - 1;
}

/* Memory begins at a multiple of 16, so that low bits of the index that are 0 count, too. */
static uint32_t alignment_of(const lower_code *c, const vyre_kernel_access *a) {
  uint32_t bytes = form_bytes(form_type_named(a->element)), zeros = lower_info_of(c, a->index)->zeros;
  if (a->base != 0) return bytes;
  while (zeros-- > 0 && bytes < 16) bytes *= 2;
  return bytes;
}

uint32_t lower_access(lower_code *c, vyre_kernel_access access) {
  if (lower_failed(c)) return 0;
  if (access.alignment == 0) access.alignment = alignment_of(c, &access);
  if (!vyre_vector_push(&c->accesses, access) || !vyre_vector_push(&c->access_stmts, c->stmt)) lower_fail_memory(c);
  return lower_failed(c) ? 0 : c->accesses.count - 1;
}

vyre_type lower_element(const lower_code *c, uint32_t access) {
  return lower_failed(c) ? VYRE_TYPE_NONE : form_type_named(c->accesses.data[access].element);
}

lower_value lower_load(lower_code *c, uint32_t access) {
  vyre_type element = lower_element(c, access);
  return lower_emit(c, &(lower_request){ .op = VYRE_KERNEL_LOAD, .result = form_widened(element), .arg[0] = access,
                                         .type[0] = element });
}

void lower_store(lower_code *c, uint32_t access, lower_value v) {
  lower_emit(c, &(lower_request){ .op = VYRE_KERNEL_STORE, .arg = { access, v },
                                  .type = { lower_element(c, access), lower_type_of(c, v) } });
}

lower_value lower_atomic(lower_code *c, uint32_t op, uint32_t access, lower_value x, lower_value y, vyre_order order,
                         vyre_scope scope) {
  lower_request r = { .op = (uint16_t)op, .aux = (uint8_t)order, .aux2 = (uint8_t)scope, .arg = { access, x, y },
                      .type = { lower_element(c, access), lower_type_of(c, x), lower_type_of(c, y) } };
  r.result = form_result(op, r.type);
  return lower_emit(c, &r);
}

/* ---- Entry points ---------------------------------------------------------------------------- */

void lower_open_entry(lower_code *c) {
  vyre_kernel_entry entry = {.workgroup = {c->workgroup[0], c->workgroup[1], c->workgroup[2]},
                             .subgroup = c->subgroup,
                             .insn_first = c->insns.count,
                             .slot_first = c->slots.count,
                             .shared_first = c->shared.count,
                             .local_first = c->locals.count};
  if (!vyre_vector_push(&c->entries, entry)) lower_fail_memory(c);
  c->to = &c->body;
  c->local_index = c->group_index = 0;
  c->stop_flag = 0;
}

static void move_insns(lower_code *c, lower_insns *from) {
  if (lower_failed(c) || from->count == 0) return;
  if (!vyre_vector_reserve(&c->insns, from->count)) {
    lower_fail_memory(c);
    return;
  }
  memcpy(c->insns.data + c->insns.count, from->data, from->count * sizeof *from->data);
  c->insns.count += from->count;
  from->count = 0;
}

void lower_close_entry(lower_code *c) {
  if (lower_failed(c)) return;
  vyre_kernel_entry *entry = &c->entries.data[c->entries.count - 1];
  move_insns(c, &c->leaves);
  move_insns(c, &c->head);
  move_insns(c, &c->body);
  entry->insn_count = c->insns.count - entry->insn_first;
  entry->slot_count = c->slots.count - entry->slot_first;
  entry->shared_count = c->shared.count - entry->shared_first;
  entry->local_count = c->locals.count - entry->local_first;
}

void lower_code_free(lower_code *c) {
  vyre_vector_free(&c->values);
  vyre_vector_free(&c->constants);
  vyre_vector_free(&c->constant_values);
  vyre_index_set_free(&c->constant_set);
  vyre_vector_free(&c->leaves);
  vyre_vector_free(&c->head);
  vyre_vector_free(&c->body);
  vyre_vector_free(&c->insns);
  vyre_vector_free(&c->accesses);
  vyre_vector_free(&c->access_stmts);
  vyre_vector_free(&c->slots);
  vyre_vector_free(&c->entries);
  vyre_vector_free(&c->params);
  vyre_vector_free(&c->specs);
  vyre_vector_free(&c->bindings);
  vyre_vector_free(&c->shared);
  vyre_vector_free(&c->locals);
  vyre_vector_free(&c->tables);
  vyre_vector_free(&c->table_bytes);
  vyre_vector_free(&c->hidden_bindings);
  vyre_vector_free(&c->hidden_words);
  vyre_vector_free(&c->operands);
  vyre_writer_free(&c->strings);
}
