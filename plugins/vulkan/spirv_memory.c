/* Loads, stores and atomics.
 *
 * All memory is seen as units: words, or bytes, halves, double words or vectors of words where the target has them. An
 * element that is larger than the unit takes several, a smaller one is a part of a word. An index out of range is made 0 for
 * a load, and what was loaded zero; stores and atomics stand under an if. */
#include "plugins/vulkan/spirv_emit.h"

const spirv_view_shape spirv_views[VIEWS] = {
  [VIEW_8] = { T_U8, 0 },  [VIEW_16] = { T_U16, 1 },   [VIEW_32] = { T_U32, 2 },
  [VIEW_64] = { T_U64, 3 }, [VIEW_32X2] = { T_U32X2, 3 }, [VIEW_32X4] = { T_U32X4, 4 },
};

spirv_view spirv_view_of(vyre_kernel_type element) {
  if (element.lanes == 4) return VIEW_32X4;
  if (element.lanes == 2) return VIEW_32X2;
  switch (element.cls == VYRE_KERNEL_CLASS_BOOL ? 32 : element.bits) {
    case 8: return VIEW_8;
    case 16: return VIEW_16;
    case 64: return VIEW_64;
    default: return VIEW_32;
  }
}

/* An access on its way: the memory, the units that it is seen in, and where in it. */
typedef struct place {
  const vyre_kernel_access *access;
  SpvStorageClass storage;
  uint32_t variable;      /* of an array of units; 0 for an address */
  uint32_t address;       /* u64 */
  spirv_view view, unit;  /* of the element, of the memory */
  spirv_type index;       /* type of indices: u64 behind addresses, else u32 */
  bool is_shared_by_others; /* other invocations see it */
  uint32_t in_range;      /* bool; 0: it surely is */
} place;

/* ---- Variables ------------------------------------------------------------------------------- */

/* The view in which a target can have memory of a view; words where it can't. */
static spirv_view storage_unit(const spirv_emitter *e, spirv_view view) {
  const uint32_t has = e->target->features;
  if ((view == VIEW_8 && !(has & SPIRV_STORAGE8)) || (view == VIEW_16 && !(has & SPIRV_STORAGE16))) return VIEW_32;
  return view == VIEW_64 && !(has & SPIRV_INT64) ? VIEW_32X2 : view;
}

static spirv_view array_unit(const spirv_emitter *e, uint8_t seen) {
  const uint32_t has = e->target->features;
  if ((seen & (seen - 1)) != 0 || seen == 0) return VIEW_32;
  spirv_view view = (spirv_view)__builtin_ctz(seen);
  if ((view == VIEW_8 && !(has & SPIRV_INT8)) || (view == VIEW_16 && !(has & SPIRV_INT16))) return VIEW_32;
  return view == VIEW_64 && !(has & SPIRV_INT64) ? VIEW_32X2 : view;
}

static void need_for_unit(spirv_emitter *e, spirv_view unit, bool is_storage) {
  if (unit == VIEW_8) spirv_need(&e->m, is_storage ? CAP_STORAGE8 : CAP_INT8);
  if (unit == VIEW_16) spirv_need(&e->m, is_storage ? CAP_STORAGE16 : CAP_INT16);
}

/* A pointer to a struct of a runtime array of units. */
static uint32_t runtime_block(spirv_emitter *e, spirv_view unit) {
  spirv_module *m = &e->m;
  uint32_t *pointer = &e->runtime_blocks[unit];
  if (*pointer != 0) return *pointer;
  uint32_t of = spirv_type_id(m, spirv_views[unit].type), array = spirv_id(m), block = spirv_id(m);
  *pointer = spirv_id(m);
  spirv_put(m, PART_GLOBALS, SpvOpTypeRuntimeArray, array, of);
  spirv_put(m, PART_GLOBALS, SpvOpTypeStruct, block, array);
  spirv_put(m, PART_GLOBALS, SpvOpTypePointer, *pointer, SpvStorageClassStorageBuffer, block);
  spirv_put(m, PART_MARKS, SpvOpDecorate, array, SpvDecorationArrayStride, 1u << spirv_views[unit].log);
  spirv_put(m, PART_MARKS, SpvOpMemberDecorate, block, 0, SpvDecorationOffset, 0);
  spirv_put(m, PART_MARKS, SpvOpDecorate, block, SpvDecorationBlock);
  return *pointer;
}

static void name_binding(spirv_emitter *e, uint32_t id, uint32_t number) {
  if (number >= e->kernel->bindings.count) return;
  const vyre_kernel_binding *b = VYRE_KERNEL_AT(vyre_kernel_binding, e->kernel, bindings, number);
  spirv_put_text(&e->m.part[PART_NAMES], SpvOpName, &id, 1, VYRE_KERNEL_TEXT(e->kernel, b->name), NULL, 0);
}

/* None is called NonWritable: beside such a buffer, NVIDIA's compiler (580.159.04) takes loads of the others for what they
 * were before the last store. */
static uint32_t storage_variable(spirv_emitter *e, uint32_t number, spirv_view unit) {
  spirv_buffer *b = &e->buffers[number];
  spirv_variable *variable = &b->variables[unit];
  if (variable->id == 0) {
    need_for_unit(e, unit, true);
    variable->id = spirv_global(e, SpvStorageClassStorageBuffer, runtime_block(e, unit));
    name_binding(e, variable->id, number);
    spirv_put(&e->m, PART_MARKS, SpvOpDecorate, variable->id, SpvDecorationDescriptorSet, 0);
    spirv_put(&e->m, PART_MARKS, SpvOpDecorate, variable->id, SpvDecorationBinding, number);
  }
  return spirv_name(e, variable);
}

/* Views of one buffer are aliases of each other. Without the Vulkan memory model, caches are passed by variable. */
void spirv_mark_aliases(spirv_emitter *e) {
  const bool has_model = e->target->features & SPIRV_MEMORY_MODEL;
  for (uint32_t i = 0; i < e->layout.buffers; i++) {
    const spirv_buffer *b = &e->buffers[i];
    uint32_t count = 0;
    for (int v = 0; v < VIEWS; v++) count += b->variables[v].id != 0;
    for (int v = 0; v < VIEWS; v++) {
      uint32_t id = b->variables[v].id;
      if (id != 0 && count > 1) spirv_put(&e->m, PART_MARKS, SpvOpDecorate, id, SpvDecorationAliased);
      if (id != 0 && b->is_coherent && !has_model)
        spirv_put(&e->m, PART_MARKS, SpvOpDecorate, id, SpvDecorationCoherent);
    }
  }
}

/* A pointer to an array that holds |a|, up to the next multiple of 16 bytes; gives the array's type. */
static uint32_t array_pointer(spirv_emitter *e, const vyre_kernel_array *a, spirv_view unit, SpvStorageClass storage,
                              uint32_t *array) {
  spirv_module *m = &e->m;
  uint64_t bytes = (a->length * gpu_element_bytes(a->element) + 15) / 16 * 16;
  uint32_t length = spirv_u32(m, (uint32_t)((bytes != 0 ? bytes : 16) >> spirv_views[unit].log));
  uint32_t of = spirv_type_id(m, spirv_views[unit].type);
  need_for_unit(e, unit, false);
  *array = spirv_id(m);
  uint32_t pointer = spirv_id(m);
  spirv_put(m, PART_GLOBALS, SpvOpTypeArray, *array, of, length);
  spirv_put(m, PART_GLOBALS, SpvOpTypePointer, pointer, storage, *array);
  return pointer;
}

static uint32_t null_of(spirv_emitter *e, uint32_t type) {
  uint32_t id = spirv_id(&e->m);
  spirv_put(&e->m, PART_GLOBALS, SpvOpConstantNull, type, id);
  return id;
}

static bool zeroes_itself(const spirv_emitter *e) { return e->target->features & SPIRV_ZERO_WORKGROUP; }

void spirv_declare_shared(spirv_emitter *e) {
  const vyre_kernel_entry *entry = e->entry;
  for (uint32_t i = entry->shared_first; i < entry->shared_first + entry->shared_count; i++) {
    const vyre_kernel_array *a = VYRE_KERNEL_AT(vyre_kernel_array, e->kernel, shared, i);
    spirv_array *s = &e->shared[i];
    if (s->seen == 0) continue;
    uint32_t type, id;
    s->unit = (uint8_t)array_unit(e, s->seen);
    uint32_t pointer = array_pointer(e, a, (spirv_view)s->unit, SpvStorageClassWorkgroup, &type);
    if ((a->flags & VYRE_KERNEL_ARRAY_NEEDS_ZERO) && zeroes_itself(e)) {
      uint32_t zero = null_of(e, type);
      id = spirv_id(&e->m);
      spirv_put(&e->m, PART_GLOBALS, SpvOpVariable, pointer, id, SpvStorageClassWorkgroup, zero);
    } else {
      id = spirv_global(e, SpvStorageClassWorkgroup, pointer);
    }
    s->variable = (spirv_variable){ .id = id };
  }
}

void spirv_declare_locals(spirv_emitter *e) {
  const vyre_kernel_entry *entry = e->entry;
  for (uint32_t i = entry->local_first; i < entry->local_first + entry->local_count; i++) {
    const vyre_kernel_array *a = VYRE_KERNEL_AT(vyre_kernel_array, e->kernel, locals, i);
    spirv_array *s = &e->locals[i];
    if (s->seen == 0) continue;
    uint32_t type;
    s->unit = (uint8_t)array_unit(e, s->seen);
    uint32_t pointer = array_pointer(e, a, (spirv_view)s->unit, SpvStorageClassFunction, &type);
    s->variable.id = spirv_id(&e->m);
    if (a->flags & VYRE_KERNEL_ARRAY_NEEDS_ZERO) {
      uint32_t zero = null_of(e, type);
      spirv_do(&e->m, SpvOpVariable, pointer, s->variable.id, SpvStorageClassFunction, zero);
    } else {
      spirv_do(&e->m, SpvOpVariable, pointer, s->variable.id, SpvStorageClassFunction);
    }
  }
}

/* ---- Places ---------------------------------------------------------------------------------- */

static uint32_t as_type(spirv_emitter *e, uint32_t value, bool is_wide, spirv_type type) {
  if (is_wide == (type == T_U64)) return value;
  return spirv_value(&e->m, SpvOpUConvert, type, value);
}

static bool is_wide_value(const spirv_emitter *e, uint32_t value) { return spirv_value_type(e, value).bits == 64; }

/* Index and bound as the wider of both types. */
static uint32_t below_value(spirv_emitter *e, const vyre_kernel_access *a) {
  const bool index_wide = is_wide_value(e, a->index), bound_wide = is_wide_value(e, a->bound);
  const spirv_type type = index_wide || bound_wide ? T_U64 : T_U32;
  uint32_t index = as_type(e, spirv_use(e, a->index), index_wide, type);
  uint32_t bound = as_type(e, spirv_use(e, a->bound), bound_wide, type);
  return spirv_value(&e->m, SpvOpULessThan, T_BOOL, index, bound);
}

static uint32_t below_static(spirv_emitter *e, const vyre_kernel_access *a) {
  const bool is_wide = is_wide_value(e, a->index);
  if (gpu_value(e->kernel, a->index)->most < a->limit || (!is_wide && a->limit > UINT32_MAX)) return 0;
  uint32_t limit = spirv_constant(&e->m, is_wide ? T_U64 : T_U32, a->limit);
  return spirv_value(&e->m, SpvOpULessThan, T_BOOL, spirv_use(e, a->index), limit);
}

/* A descriptor's range is below 2^32 bytes, so that the low word of a length is all of it for a u32. */
static uint32_t below_length(spirv_emitter *e, const vyre_kernel_access *a) {
  spirv_module *m = &e->m;
  const spirv_buffer *b = &e->buffers[a->number];
  if (is_wide_value(e, a->index))
    return spirv_value(m, SpvOpULessThan, T_BOOL, spirv_use(e, a->index), b->wide_length);
  uint32_t below = spirv_value(m, SpvOpULessThan, T_BOOL, spirv_use(e, a->index), b->length);
  return e->mode == SPIRV_ADDRESSED ? spirv_value(m, SpvOpLogicalOr, T_BOOL, below, b->is_long) : below;
}

/* Padding has no access that is not checked: what is known of an index may not hold for it. */
static uint32_t in_range(spirv_emitter *e, const vyre_kernel_access *a) {
  uint32_t inside = 0;
  if (a->bound_kind == VYRE_KERNEL_BOUND_STATIC) inside = below_static(e, a);
  if (a->bound_kind == VYRE_KERNEL_BOUND_LENGTH) inside = below_length(e, a);
  if (a->bound_kind == VYRE_KERNEL_BOUND_VALUE) inside = below_value(e, a);
  if (e->real == 0) return inside;
  return inside == 0 ? e->real : spirv_value(&e->m, SpvOpLogicalAnd, T_BOOL, inside, e->real);
}

static place place_of(spirv_emitter *e, const vyre_kernel_access *a) {
  const uint32_t number = spirv_buffer_of(e, a);
  place p = { .access = a, .view = spirv_view_of(a->element), .index = T_U32, .is_shared_by_others = true };
  if (a->space == VYRE_KERNEL_SPACE_SHARED || a->space == VYRE_KERNEL_SPACE_LOCAL) {
    spirv_array *array = a->space == VYRE_KERNEL_SPACE_SHARED ? &e->shared[a->number] : &e->locals[a->number];
    p.unit = (spirv_view)array->unit;
    p.is_shared_by_others = a->space == VYRE_KERNEL_SPACE_SHARED;
    p.storage = p.is_shared_by_others ? SpvStorageClassWorkgroup : SpvStorageClassFunction;
    p.variable = p.is_shared_by_others ? spirv_name(e, &array->variable) : array->variable.id;
  } else if (e->mode == SPIRV_BOUND) {
    p.unit = storage_unit(e, p.view);
    p.storage = SpvStorageClassStorageBuffer;
    p.variable = storage_variable(e, number, p.unit);
  } else {
    p.unit = storage_unit(e, p.view);
    p.storage = SpvStorageClassPhysicalStorageBuffer;
    p.index = T_U64;
    p.address = e->buffers[number].address;
    need_for_unit(e, p.unit, true);
  }
  p.in_range = in_range(e, a);
  return p;
}

/* Number of what the access names in pieces of 1 << log bytes from the start of the memory, log at most that of the
 * element; 0 where it is out of range, if |is_safe|. */
static uint32_t index_in(spirv_emitter *e, const place *p, uint32_t log, bool is_safe) {
  spirv_module *m = &e->m;
  const vyre_kernel_access *a = p->access;
  uint32_t index = as_type(e, spirv_use(e, a->index), is_wide_value(e, a->index), p->index);
  const uint32_t up = spirv_views[p->view].log - log;
  if (up != 0) index = spirv_value(m, SpvOpShiftLeftLogical, p->index, index, spirv_u32(m, up));
  if (a->base != 0) {
    uint32_t base = as_type(e, spirv_use(e, a->base), is_wide_value(e, a->base), p->index);
    if (log != 0) base = spirv_value(m, SpvOpShiftRightLogical, p->index, base, spirv_u32(m, log));
    index = spirv_value(m, SpvOpIAdd, p->index, base, index);
  }
  if (a->space == VYRE_KERNEL_SPACE_TABLE) { /* all tables are one buffer */
    const uint64_t offset = VYRE_KERNEL_AT(vyre_kernel_table_data, e->kernel, tables, a->number)->offset;
    if (offset != 0)
      index = spirv_value(m, SpvOpIAdd, p->index, index, spirv_constant(m, p->index, offset >> log));
  }
  if (!is_safe || p->in_range == 0) return index;
  return spirv_value(m, SpvOpSelect, p->index, p->in_range, index, spirv_constant(m, p->index, 0));
}

/* ---- Units ----------------------------------------------------------------------------------- */

static uint32_t unit_pointer(spirv_emitter *e, const place *p, uint32_t index) {
  spirv_module *m = &e->m;
  const spirv_view_shape shape = spirv_views[p->unit];
  uint32_t type = spirv_pointer(m, p->storage, shape.type);
  if (p->storage == SpvStorageClassPhysicalStorageBuffer) {
    if (shape.log != 0) index = spirv_value(m, SpvOpShiftLeftLogical, T_U64, index, spirv_u32(m, shape.log));
    uint32_t address = spirv_value(m, SpvOpIAdd, T_U64, p->address, index);
    return spirv_value_words(m, SpvOpConvertUToPtr, type, &address, 1);
  }
  if (p->storage == SpvStorageClassStorageBuffer)
    return spirv_value_words(m, SpvOpAccessChain, type, SPIRV_WORDS(p->variable, spirv_u32(m, 0), index));
  return spirv_value_words(m, SpvOpAccessChain, type, SPIRV_WORDS(p->variable, index));
}

/* Memory operands of a load or store, behind the |count| words that it has. Only what never changes is private: all else
 * takes part in barriers and fences. */
static uint32_t add_operands(const spirv_emitter *e, const place *p, uint32_t *words, uint32_t count) {
  uint32_t mask = 0;
  const bool has_model = e->target->features & SPIRV_MEMORY_MODEL;
  if (has_model && p->is_shared_by_others && !(p->access->flags & VYRE_KERNEL_ACCESS_READ_ONLY))
    mask |= SpvMemoryAccessNonPrivatePointerMask;
  if ((p->access->flags & VYRE_KERNEL_ACCESS_COHERENT) && (e->target->features & SPIRV_ORDERED_ATOMICS))
    mask |= SpvMemoryAccessVolatileMask; /* in place of the fences */
  if (p->storage == SpvStorageClassPhysicalStorageBuffer) mask |= SpvMemoryAccessAlignedMask;
  if (mask == 0) return count;
  words[count++] = mask;
  if (mask & SpvMemoryAccessAlignedMask) words[count++] = 1u << spirv_views[p->unit].log;
  return count;
}

static uint32_t load_unit(spirv_emitter *e, const place *p, uint32_t index) {
  uint32_t words[3] = { unit_pointer(e, p, index) }, count = add_operands(e, p, words, 1);
  return spirv_value_words(&e->m, SpvOpLoad, spirv_type_id(&e->m, spirv_views[p->unit].type), words, count);
}

static void store_unit(spirv_emitter *e, const place *p, uint32_t index, uint32_t value) {
  uint32_t words[4] = { unit_pointer(e, p, index), value }, count = add_operands(e, p, words, 2);
  spirv_put_words(&e->m.part[PART_CODE], SpvOpStore, words, count);
}

static uint32_t next_index(spirv_emitter *e, const place *p, uint32_t index, uint32_t by) {
  if (by == 0) return index;
  return spirv_value(&e->m, SpvOpIAdd, p->index, index, spirv_constant(&e->m, p->index, by));
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* A word that holds a narrow element, by its number, and the element's first bit in it. */
typedef struct narrow {
  uint32_t word, shift, bits;
} narrow;

static narrow find_narrow(spirv_emitter *e, const place *p, bool is_safe) {
  spirv_module *m = &e->m;
  const uint32_t log = spirv_views[p->view].log, per_word = 4u >> log;
  uint32_t index = index_in(e, p, log, is_safe);
  uint32_t low = as_type(e, index, p->index == T_U64, T_U32);
  uint32_t part = spirv_value(m, SpvOpBitwiseAnd, T_U32, low, spirv_u32(m, per_word - 1));
  return (narrow){
    .word = spirv_value(m, SpvOpShiftRightLogical, p->index, index, spirv_u32(m, 2 - log)),
    .shift = spirv_value(m, SpvOpShiftLeftLogical, T_U32, part, spirv_u32(m, 3 + log)),
    .bits = 8u << log,
  };
}

static uint32_t load_narrow(spirv_emitter *e, const place *p) {
  const SpvOp op =
    p->access->element.cls == VYRE_KERNEL_CLASS_SINT ? SpvOpBitFieldSExtract : SpvOpBitFieldUExtract;
  narrow n = find_narrow(e, p, true);
  uint32_t word = load_unit(e, p, n.word);
  return spirv_value(&e->m, op, T_U32, word, n.shift, spirv_u32(&e->m, n.bits));
}

static uint32_t load_words(spirv_emitter *e, const place *p) {
  const spirv_type pair = p->view == VIEW_32X4 ? T_U32X4 : T_U32X2;
  uint32_t words[4], count = spirv_lanes(pair), first = index_in(e, p, 2, true);
  for (uint32_t i = 0; i < count; i++) words[i] = load_unit(e, p, next_index(e, p, first, i));
  return spirv_value_words(&e->m, SpvOpCompositeConstruct, spirv_type_id(&e->m, pair), words, count);
}

/* What was loaded as the value that it stands for. */
static uint32_t widened(spirv_emitter *e, const place *p, spirv_type from, uint32_t bits) {
  const vyre_kernel_type element = p->access->element;
  const bool is_narrow = from == T_U8 || from == T_U16;
  const spirv_type to = is_narrow ? T_U32 : spirv_type_of(element);
  if (is_narrow)
    return spirv_value(&e->m, element.cls == VYRE_KERNEL_CLASS_SINT ? SpvOpSConvert : SpvOpUConvert, to, bits);
  return from == to || element.bits < 32 ? bits : spirv_value(&e->m, SpvOpBitcast, to, bits);
}

uint32_t spirv_load(spirv_emitter *e, const vyre_kernel_access *a) {
  const place p = place_of(e, a);
  const uint32_t log = spirv_views[p.view].log, unit_log = spirv_views[p.unit].log;
  spirv_type type = spirv_views[p.unit].type;
  uint32_t bits;
  if (log < unit_log) {
    bits = load_narrow(e, &p);
  } else if (log > unit_log) {
    bits = load_words(e, &p);
    type = p.view == VIEW_32X4 ? T_U32X4 : T_U32X2;
  } else {
    bits = load_unit(e, &p, index_in(e, &p, log, true));
  }
  bits = widened(e, &p, type, bits);
  if (p.in_range == 0) return bits;
  const spirv_type value = a->element.bits < 32 ? T_U32 : spirv_type_of(a->element);
  return spirv_select(&e->m, value, p.in_range, bits, spirv_zero(&e->m, value));
}

/* ---- Stores ---------------------------------------------------------------------------------- */

/* Two atomics on the word: neighbours of the element may be written meanwhile. */
static void store_narrow(spirv_emitter *e, const place *p, uint32_t value) {
  spirv_module *m = &e->m;
  const narrow n = find_narrow(e, p, false);
  uint32_t ones = spirv_u32(m, (1u << n.bits) - 1);
  uint32_t bits = spirv_value(m, SpvOpShiftLeftLogical, T_U32, spirv_value(m, SpvOpBitwiseAnd, T_U32, value, ones), n.shift);
  uint32_t keep = spirv_value(m, SpvOpNot, T_U32, spirv_value(m, SpvOpShiftLeftLogical, T_U32, ones, n.shift));
  if (!p->is_shared_by_others) {
    uint32_t kept = spirv_value(m, SpvOpBitwiseAnd, T_U32, load_unit(e, p, n.word), keep);
    store_unit(e, p, n.word, spirv_value(m, SpvOpBitwiseOr, T_U32, kept, bits));
    return;
  }
  uint32_t pointer = unit_pointer(e, p, n.word);
  uint32_t scope =
    spirv_scope(e, p->storage == SpvStorageClassWorkgroup ? VYRE_SCOPE_WORKGROUP : VYRE_SCOPE_DEVICE);
  uint32_t order = spirv_semantics(e, VYRE_ORDER_RELAXED);
  spirv_value(m, SpvOpAtomicAnd, T_U32, pointer, scope, order, keep);
  spirv_value(m, SpvOpAtomicOr, T_U32, pointer, scope, order, bits);
}

static void store_words(spirv_emitter *e, const place *p, spirv_type type, uint32_t value) {
  const spirv_type pair = p->view == VIEW_32X4 ? T_U32X4 : T_U32X2;
  if (type != pair) value = spirv_value(&e->m, SpvOpBitcast, pair, value);
  uint32_t first = index_in(e, p, 2, false);
  for (uint32_t i = 0; i < spirv_lanes(pair); i++)
    store_unit(e, p, next_index(e, p, first, i), spirv_value(&e->m, SpvOpCompositeExtract, T_U32, value, i));
}

static void store_whole(spirv_emitter *e, const place *p, spirv_type type, uint32_t value) {
  const spirv_type to = spirv_views[p->unit].type;
  if (to == T_U8 || to == T_U16) value = spirv_value(&e->m, SpvOpUConvert, to, value);
  else if (to != type) value = spirv_value(&e->m, SpvOpBitcast, to, value);
  store_unit(e, p, index_in(e, p, spirv_views[p->view].log, false), value);
}

void spirv_store(spirv_emitter *e, const vyre_kernel_access *a, uint32_t value) {
  const place p = place_of(e, a);
  const uint32_t log = spirv_views[p.view].log, unit_log = spirv_views[p.unit].log, id = spirv_use(e, value);
  const spirv_type type = spirv_type_of(spirv_value_type(e, value));
  uint32_t merge = p.in_range != 0 ? spirv_when(&e->m, p.in_range) : 0;
  if (log < unit_log) store_narrow(e, &p, id);
  else if (log > unit_log) store_words(e, &p, type, id);
  else store_whole(e, &p, type, id);
  if (merge != 0) spirv_join(&e->m, merge);
}

/* ---- Atomics --------------------------------------------------------------------------------- */

static SpvOp atomic_op(uint16_t op, bool is_signed) {
  switch (op) {
    case VYRE_KERNEL_ATOMIC_ADD: return SpvOpAtomicIAdd;
    case VYRE_KERNEL_ATOMIC_SUB: return SpvOpAtomicISub;
    case VYRE_KERNEL_ATOMIC_AND: return SpvOpAtomicAnd;
    case VYRE_KERNEL_ATOMIC_OR: return SpvOpAtomicOr;
    case VYRE_KERNEL_ATOMIC_XOR: return SpvOpAtomicXor;
    case VYRE_KERNEL_ATOMIC_MIN: return is_signed ? SpvOpAtomicSMin : SpvOpAtomicUMin;
    case VYRE_KERNEL_ATOMIC_MAX: return is_signed ? SpvOpAtomicSMax : SpvOpAtomicUMax;
    default: return SpvOpAtomicExchange;
  }
}

/* The atomic itself, relaxed. */
static uint32_t relaxed(spirv_emitter *e, const vyre_kernel_insn *in, const place *p, uint32_t pointer) {
  spirv_module *m = &e->m;
  const spirv_type type = spirv_views[p->unit].type;
  uint32_t scope = spirv_scope(e, in->aux2), order = spirv_semantics(e, VYRE_ORDER_RELAXED);
  uint32_t x = in->arg[1] != 0 ? spirv_use(e, in->arg[1]) : 0;
  switch (in->op) {
    case VYRE_KERNEL_ATOMIC_LOAD: return spirv_value(m, SpvOpAtomicLoad, type, pointer, scope, order);
    case VYRE_KERNEL_ATOMIC_STORE: spirv_do(m, SpvOpAtomicStore, pointer, scope, order, x); return 0;
    case VYRE_KERNEL_ATOMIC_CAS:
      return spirv_value(m, SpvOpAtomicCompareExchange, type, pointer, scope, order, order,
                         spirv_use(e, in->arg[2]), x);
    default:
      return spirv_value(m, atomic_op(in->op, p->access->element.cls == VYRE_KERNEL_CLASS_SINT), type, pointer, scope,
                         order, x);
  }
}

/* The order is that of fences around it: some drivers make a barrier of the whole workgroup of an atomic's own. */
static uint32_t at_pointer(spirv_emitter *e, const vyre_kernel_insn *in, const place *p) {
  const bool is_both = in->aux == VYRE_ORDER_ACQ_REL;
  uint32_t pointer = unit_pointer(e, p, index_in(e, p, spirv_views[p->view].log, false));
  if (is_both || in->aux == VYRE_ORDER_RELEASE) spirv_fence(e, in->aux2, VYRE_ORDER_RELEASE);
  uint32_t old = relaxed(e, in, p, pointer);
  if (is_both || in->aux == VYRE_ORDER_ACQUIRE) spirv_fence(e, in->aux2, VYRE_ORDER_ACQUIRE);
  return old;
}

static bool can_be_atomic(spirv_emitter *e, const place *p) {
  const bool is_shared = p->storage == SpvStorageClassWorkgroup;
  const uint32_t wanted = is_shared ? SPIRV_SHARED_ATOMIC64 : SPIRV_BUFFER_ATOMIC64;
  if (p->unit == VIEW_32) return true;
  if (p->unit == VIEW_64 && (e->target->features & wanted)) {
    spirv_need(&e->m, is_shared ? CAP_SHARED_ATOMIC64 : CAP_BUFFER_ATOMIC64);
    return true;
  }
  spirv_fail(e, VYRE_ERR_UNSUPPORTED,
             "the program has 64-bit atomics on %s, which the target can't do (%s). Fix: choose another device",
             is_shared ? "workgroup memory" : "buffers",
             is_shared ? "shaderSharedInt64Atomics" : "shaderBufferInt64Atomics");
  return false;
}

uint32_t spirv_atomic(spirv_emitter *e, const vyre_kernel_insn *in) {
  spirv_module *m = &e->m;
  const place p = place_of(e, gpu_access(e->kernel, in->arg[0]));
  if (!can_be_atomic(e, &p)) return 0;
  if (p.in_range == 0) return at_pointer(e, in, &p);
  for (uint32_t i = 1; i < 3; i++)
    if (in->arg[i] != 0) spirv_use(e, in->arg[i]);
  uint32_t before = m->block, merge = spirv_when(m, p.in_range);
  uint32_t old = at_pointer(e, in, &p), inside = m->block;
  spirv_join(m, merge);
  if (in->result == 0) return 0;
  const spirv_type type = spirv_views[p.unit].type;
  return spirv_value(m, SpvOpPhi, type, old, inside, spirv_zero(m, type), before);
}

/* ---- Zero ------------------------------------------------------------------------------------ */

/* The invocations of a workgroup, padding included, write zeros in turn. */
static void zero_array(spirv_emitter *e, const vyre_kernel_array *a, spirv_array *s, uint32_t step) {
  spirv_module *m = &e->m;
  const vyre_kernel_access access = { .space = VYRE_KERNEL_SPACE_SHARED };
  const place p = { .access = &access, .storage = SpvStorageClassWorkgroup, .variable = spirv_name(e, &s->variable),
                    .view = (spirv_view)s->unit, .unit = (spirv_view)s->unit, .index = T_U32,
                    .is_shared_by_others = true };
  uint64_t bytes = (a->length * gpu_element_bytes(a->element) + 15) / 16 * 16;
  uint32_t units = spirv_u32(m, (uint32_t)(bytes >> spirv_views[s->unit].log));
  uint32_t before = m->block, header = spirv_id(m), next = spirv_id(m), body = spirv_id(m), on = spirv_id(m),
           merge = spirv_id(m), by = spirv_u32(m, step);
  spirv_branch(m, header);
  spirv_label(m, header);
  uint32_t index = spirv_value(m, SpvOpPhi, T_U32, e->local_index_value, before, next, on);
  uint32_t goes_on = spirv_value(m, SpvOpULessThan, T_BOOL, index, units);
  spirv_do(m, SpvOpLoopMerge, merge, on, SpvLoopControlMaskNone);
  spirv_branch_if(m, goes_on, body, merge);
  spirv_label(m, body);
  uint32_t zero = s->unit == VIEW_8 || s->unit == VIEW_16
                    ? spirv_value(m, SpvOpUConvert, spirv_views[s->unit].type, spirv_u32(m, 0))
                    : spirv_zero(m, spirv_views[s->unit].type);
  store_unit(e, &p, index, zero);
  spirv_branch(m, on);
  spirv_label(m, on);
  spirv_do(m, SpvOpIAdd, spirv_type_id(m, T_U32), next, index, by);
  spirv_branch(m, header);
  spirv_label(m, merge);
}

void spirv_zero_shared(spirv_emitter *e) {
  const vyre_kernel_entry *entry = e->entry;
  uint32_t step = e->invocations, count = 0;
  if (zeroes_itself(e)) return;
  if (e->subgroup != 0) step = (step + e->subgroup - 1) / e->subgroup * e->subgroup;
  for (uint32_t i = entry->shared_first; i < entry->shared_first + entry->shared_count; i++) {
    const vyre_kernel_array *a = VYRE_KERNEL_AT(vyre_kernel_array, e->kernel, shared, i);
    if (e->shared[i].seen == 0 || (a->flags & VYRE_KERNEL_ARRAY_NEEDS_ZERO) == 0) continue;
    zero_array(e, a, &e->shared[i], step);
    count++;
  }
  if (count != 0) spirv_barrier(e);
}
