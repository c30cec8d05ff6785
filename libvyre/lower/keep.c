/* What lives across a grid barrier: computed again, or stored at the end of one entry point and loaded in the next that
 * uses it. In a workgroup's part of the spill binding each kept thing is an array over the invocations, so that
 * neighbours touch neighbouring elements. */
#include "lower/lowering.h"

#define op2(l, op, x, y) lower_op2(&(l)->code, op, x, y)

/* ---- The spill binding ----------------------------------------------------------------------- */

/* Element |index| (a u32) of the array of |type| at |place|. */
static uint32_t spilled(lowering *l, vyre_type type, uint64_t place, lower_value index) {
  lower_code *c = &l->code;
  uint64_t bytes = form_bytes(type);
  lower_value first = op2(l, VYRE_KERNEL_MUL, lower_group_index(c), lower_u32(c, (uint32_t)(l->split.bytes / bytes)));
  if (place != 0) first = op2(l, VYRE_KERNEL_ADD, first, lower_u32(c, (uint32_t)(place / bytes)));
  vyre_kernel_access access = { .space = VYRE_KERNEL_SPACE_HIDDEN, .element = form_type(type),
                                .number = lower_hidden_binding(c, VYRE_KERNEL_HIDDEN_SPILL, l->split.bytes),
                                .index = op2(l, VYRE_KERNEL_ADD, first, index) };
  return lower_access(c, access);
}

/* That of this invocation. */
static uint32_t own(lowering *l, vyre_type type, uint64_t place) {
  return spilled(l, type, place, lower_local_index(&l->code));
}

/* ---- The mark of those that ended, and the step limit ---------------------------------------- */

static bool may_have_ended(const lowering *l) { return l->split.first_leaving < l->entry; }

static void mark_ended(lowering *l, bool ended) {
  uint32_t access = own(l, VYRE_TYPE_BOOL, l->split.ended);
  lower_store(&l->code, access, lower_bool(&l->code, ended));
}

static void load_slot(lowering *l, uint32_t slot, vyre_type type, uint64_t place) {
  lower_set(&l->code, slot, lower_load(&l->code, own(l, type, place)));
}

static void store_slot(lowering *l, uint32_t slot, vyre_type type, uint64_t place) {
  uint32_t access = own(l, type, place);
  lower_store(&l->code, access, lower_get(&l->code, slot));
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Copies between an array and its place, element by element: of workgroup memory each invocation its share. */
static void copy_array(lowering *l, uint32_t binding, bool save) {
  lower_code *c = &l->code;
  const ir_buffer *b = &l->p->buffers.data[binding];
  vyre_type element = (vyre_type)b->element;
  bool is_shared = b->access == VYRE_ACCESS_SHARED;
  uint64_t place = l->split.arrays[binding].place;
  lower_value mine = lower_local_index(c), first = is_shared ? mine : lower_u32(c, 0);
  lower_value length = lower_u32(c, (uint32_t)b->length), all = lower_u32(c, (uint32_t)l->split.invocations);
  lower_value step = is_shared ? all : lower_u32(c, 1);
  uint32_t at = lower_slot(c, VYRE_TYPE_U32, VYRE_KERNEL_UNIFORM_NONE, 0);
  lower_group_index(c);
  if (is_shared && save) lower_plain(c, VYRE_KERNEL_BARRIER, 0, 0);
  lower_set(c, at, first);
  lower_if(c, op2(l, VYRE_KERNEL_LT, first, length));
  lower_loop(c);
  lower_value k = lower_get(c, at);
  lower_value to = is_shared ? k : op2(l, VYRE_KERNEL_ADD, op2(l, VYRE_KERNEL_MUL, k, all), mine);
  uint32_t inside = lower_buffer_element(l, binding, k), outside = spilled(l, element, place, to);
  lower_store(c, save ? outside : inside, lower_load(c, save ? inside : outside));
  lower_continuing(c);
  lower_value now = lower_get(c, at), left = op2(l, VYRE_KERNEL_SUB, length, now);
  lower_set(c, at, op2(l, VYRE_KERNEL_ADD, now, step));
  lower_end_loop(c, op2(l, VYRE_KERNEL_LE, left, step));
  lower_end_if(c);
  if (is_shared && !save) lower_plain(c, VYRE_KERNEL_BARRIER, 0, 0);
}

void lower_keep_array(lowering *l, uint32_t binding) {
  lower_insns *to = l->code.to;
  l->code.to = &l->code.head;
  copy_array(l, binding, false);
  l->code.to = to;
}

/* ---- Variables ------------------------------------------------------------------------------- */

/* A let that is computed again is made of leaves alone, so it can stand among them. */
static void compute_again(lowering *l, uint32_t var) {
  lower_insns *to = l->code.to;
  l->code.to = &l->code.leaves;
  lower_value v = lower_expr(l, l->split.vars[var].value);
  l->code.to = to;
  l->vars[var] = (lower_place){ .entry = l->entry + 1, .where = v };
}

void lower_keep_variable(lowering *l, uint32_t var) {
  const split_var *v = &l->split.vars[var];
  const ir_var *declared = &l->p->vars.data[var];
  if (v->value != 0) {
    compute_again(l, var);
    return;
  }
  lower_insns *to = l->code.to;
  l->code.to = &l->code.head;
  vyre_type type = (vyre_type)declared->type;
  lower_value loaded = lower_load(&l->code, own(l, type, v->place));
  lower_place place = { .entry = l->entry + 1, .where = loaded };
  if (!lowering_failed(l)) l->code.values.data[loaded].uniform = l->uniformity.var[var];
  if (declared->kind == VYRE_STMT_VAR) {
    place.where =
        lower_slot(&l->code, type, l->uniformity.var[var], lower_text(&l->code, ir_text(l->p, declared->name)));
    lower_set(&l->code, place.where, loaded);
  }
  l->code.to = to;
  l->vars[var] = place;
}

static void store_variable(lowering *l, uint32_t var) {
  const ir_var *declared = &l->p->vars.data[var];
  const lower_place *place = &l->vars[var];
  lower_value v = declared->kind == VYRE_STMT_VAR ? lower_get(&l->code, place->where) : place->where;
  lower_store(&l->code, own(l, (vyre_type)declared->type, l->split.vars[var].place), v);
}

/* ---- Entry points ---------------------------------------------------------------------------- */

static bool is_last(const lowering *l) { return l->entry + 1 >= l->split.entries; }

void lower_keep_begin(lowering *l) {
  lower_code *c = &l->code;
  lower_steps *steps = &l->steps;
  l->changed_vars.count = l->changed_arrays.count = 0;
  lower_steps_begin(l);
  if (l->entry == 0) return;
  c->to = &c->head;
  if (may_have_ended(l)) {
    lower_if(c, lower_load(c, own(l, VYRE_TYPE_BOOL, l->split.ended)));
    lower_jump(c, VYRE_KERNEL_RETURN);
    lower_end_if(c);
  }
  if (steps->on) {
    load_slot(l, steps->expired, VYRE_TYPE_BOOL, l->split.expired);
    load_slot(l, steps->all_expired, VYRE_TYPE_BOOL, l->split.all_expired);
    load_slot(l, steps->count, steps->type, l->split.count);
  }
  c->to = &c->body;
}

void lower_keep_end(lowering *l) {
  lower_steps *steps = &l->steps;
  if (l->dead || is_last(l)) return;
  for (uint32_t i = 0; i < l->changed_vars.count; i++) store_variable(l, l->changed_vars.data[i]);
  for (uint32_t i = 0; i < l->changed_arrays.count; i++) copy_array(l, l->changed_arrays.data[i], true);
  if (steps->on) {
    store_slot(l, steps->expired, VYRE_TYPE_BOOL, l->split.expired);
    store_slot(l, steps->all_expired, VYRE_TYPE_BOOL, l->split.all_expired);
    store_slot(l, steps->count, steps->type, l->split.count);
  }
  if (l->split.leaves[l->entry]) mark_ended(l, false);
}

void lower_keep_note_variable(lowering *l, uint32_t var) {
  if (l->split.entries == 1 || l->vars[var].changed) return;
  const split_var *v = &l->split.vars[var];
  l->vars[var].changed = true;
  if (v->place == UINT64_MAX || v->last_use <= l->entry) return;
  if (!vyre_vector_push(&l->changed_vars, var)) lower_fail_memory(&l->code);
}

void lower_keep_note_buffer(lowering *l, uint32_t binding) {
  if (l->split.entries == 1 || l->arrays[binding].entry != l->entry + 1 || l->arrays[binding].changed) return;
  const split_array *array = &l->split.arrays[binding];
  l->arrays[binding].changed = true;
  if (array->place == UINT64_MAX || array->last_use <= l->entry) return;
  if (!vyre_vector_push(&l->changed_arrays, binding)) lower_fail_memory(&l->code);
}

void lower_keep_leave(lowering *l) {
  if (!is_last(l)) mark_ended(l, true);
}
