/* From a kernel to modules: entry points one by one, each instruction once. */
#include "plugins/vulkan/spirv_emit.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Values ---------------------------------------------------------------------------------- */

spirv_type spirv_type_of(vyre_kernel_type type) {
  const bool is_float = type.cls == VYRE_KERNEL_CLASS_FLOAT;
  if (type.cls == VYRE_KERNEL_CLASS_BOOL) return T_BOOL;
  if (type.lanes == 2) return is_float ? T_F32X2 : T_U32X2;
  if (type.lanes == 4) return is_float ? T_F32X4 : T_U32X4;
  if (type.bits == 64) return is_float ? T_F64 : T_U64;
  return is_float ? T_F32 : T_U32;
}

uint32_t spirv_declare_constant(spirv_emitter *e, uint32_t value) {
  if (value == 0 || value > e->kernel->constants.count) return 1; /* only of a kernel that nobody has verified */
  uint64_t bits = VYRE_KERNEL_AT(vyre_kernel_constant, e->kernel, constants, value - 1)->bits;
  return e->ids[value] = spirv_constant(&e->m, spirv_type_of(spirv_value_type(e, value)), bits);
}

uint32_t spirv_global(spirv_emitter *e, SpvStorageClass storage, uint32_t pointer) {
  uint32_t id = spirv_id(&e->m);
  spirv_put(&e->m, PART_GLOBALS, SpvOpVariable, pointer, id, storage);
  return id;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static uint32_t slot_value(spirv_emitter *e, const vyre_kernel_insn *in) {
  spirv_module *m = &e->m;
  if (in->op == VYRE_KERNEL_SET) {
    spirv_do(m, SpvOpStore, e->slots[in->arg[0]], spirv_use(e, in->arg[1]));
    return 0;
  }
  return spirv_value(m, SpvOpLoad, spirv_type_of(spirv_value_type(e, in->result)), e->slots[in->arg[0]]);
}

static uint32_t emit_insn(spirv_emitter *e, const vyre_kernel_insn *in, uint32_t number) {
  const uint16_t op = in->op;
  if (op < VYRE_KERNEL_PARAM) return spirv_flow(e, in, number), 0;
  if (op < VYRE_KERNEL_GET) return spirv_leaf(e, in);
  if (op < VYRE_KERNEL_ADD) return slot_value(e, in);
  if (op < VYRE_KERNEL_LOAD) return spirv_operator(e, in);
  if (op == VYRE_KERNEL_LOAD) return spirv_load(e, gpu_access(e->kernel, in->arg[0]));
  if (op == VYRE_KERNEL_STORE) return spirv_store(e, gpu_access(e->kernel, in->arg[0]), in->arg[1]), 0;
  if (op <= VYRE_KERNEL_ATOMIC_CAS) return spirv_atomic(e, in);
  return spirv_group(e, in);
}

static void keep_carried(spirv_emitter *e, uint32_t value) {
  if (e->carried_next == spirv_carried_count(e)) return;
  const spirv_carried *c = spirv_carried_at(e, e->carried_next);
  if (c->value != value) return;
  spirv_do(&e->m, SpvOpStore, c->variable, e->ids[value]);
  e->carried_next++;
}

static void emit_insns(spirv_emitter *e) {
  const uint32_t end = e->entry->insn_first + e->entry->insn_count;
  for (uint32_t i = e->entry->insn_first; i < end && e->status == VYRE_OK; i++) {
    const vyre_kernel_insn *in = gpu_insn(e->kernel, i);
    uint32_t id = emit_insn(e, in, i);
    if (in->result != 0) e->ids[in->result] = id;
    if (e->is_cut) keep_carried(e, in->result);
    if (e->m.next > SPIRV_MAX_IDS)
      spirv_fail(e, VYRE_ERR_LIMIT,
                 "the program becomes more than %d SPIR-V ids at instruction %u of %u. Fix: split the program",
                 SPIRV_MAX_IDS, i, e->kernel->insns.count);
  }
}

/* ---- Entry points ---------------------------------------------------------------------------- */

static uint32_t declare_variable(spirv_emitter *e, spirv_type type) {
  spirv_module *m = &e->m;
  uint32_t zero = spirv_zero(m, type), pointer = spirv_pointer(m, SpvStorageClassFunction, type), id = spirv_id(m);
  spirv_do(m, SpvOpVariable, pointer, id, SpvStorageClassFunction, zero);
  return id;
}

static void declare_slots(spirv_emitter *e) {
  for (uint32_t i = e->entry->slot_first; i < e->entry->slot_first + e->entry->slot_count; i++)
    e->slots[i] = declare_variable(e, spirv_type_of(VYRE_KERNEL_AT(vyre_kernel_slot, e->kernel, slots, i)->type));
}

static void declare_carried(spirv_emitter *e) {
  if (!e->is_cut) return;
  e->is_done = declare_variable(e, T_BOOL);
  for (uint32_t i = 0; i < spirv_carried_count(e); i++) {
    spirv_carried *c = spirv_carried_at(e, i);
    c->variable = declare_variable(e, spirv_type_of(spirv_value_type(e, c->value)));
  }
}

/* A float control, if the target has it for every width in use. Widths may differ where the target says so. */
static void request(spirv_emitter *e, uint32_t function, SpvExecutionMode mode, spirv_capability capability,
                    uint32_t for_f32, uint32_t for_f64) {
  const uint32_t has = e->target->features;
  bool f32 = e->has_f32 && (has & for_f32), f64 = e->has_f64 && (has & for_f64);
  if (e->has_f32 && e->has_f64 && f32 != f64 && (has & SPIRV_CONTROLS_ALL) == 0) f32 = f64 = false;
  if ((has & SPIRV_FLOAT_CONTROLS) == 0 || !(f32 || f64)) return;
  spirv_need(&e->m, capability);
  e->controls |= (f32 ? for_f32 : 0) | (f64 ? for_f64 : 0);
  if (f32) spirv_put(&e->m, PART_MODES, SpvOpExecutionMode, function, mode, 32);
  if (f64) spirv_put(&e->m, PART_MODES, SpvOpExecutionMode, function, mode, 64);
}

static void put_modes(spirv_emitter *e, uint32_t function) {
  const spirv_facts size = { .subgroup = e->subgroup };
  uint32_t planned[3];
  spirv_planned(e->entry, &size, planned);
  spirv_put(&e->m, PART_MODES, SpvOpExecutionMode, function, SpvExecutionModeLocalSize, planned[0], planned[1],
            planned[2]);
  if ((e->kernel->flags & VYRE_KERNEL_FLUSH) == 0)
    request(e, function, SpvExecutionModeDenormPreserve, CAP_DENORM_PRESERVE, SPIRV_DENORM_PRESERVE_32,
            SPIRV_DENORM_PRESERVE_64);
  request(e, function, SpvExecutionModeSignedZeroInfNanPreserve, CAP_SIGNED_ZERO, SPIRV_SIGNED_ZERO_32,
          SPIRV_SIGNED_ZERO_64);
  request(e, function, SpvExecutionModeRoundingModeRTE, CAP_RTE, SPIRV_RTE_32, SPIRV_RTE_64);
}

/* Until SPIR-V 1.4 an entry point names only what comes from outside and has no binding, which lists begin with here as
 * there: naming more is not allowed. */
static void put_entry(spirv_emitter *e, uint32_t function) {
  char name[16];
  gpu_bytes inputs = { 0 };
  const uint32_t first[2] = { SpvExecutionModelGLCompute, function };
  const uint32_t *names = (const uint32_t *)(const void *)e->interface.data;
  uint32_t count = (uint32_t)(e->interface.count / sizeof *names);
  const spirv_variable *const built[] = { &e->workgroup_id, &e->local_id, &e->local_index, &e->subgroup_id, &e->lane };
  if (e->m.version < 0x10400) {
    for (size_t i = 0; i < sizeof built / sizeof *built; i++)
      if (built[i]->stamp == e->number + 1) gpu_bytes_word(&inputs, built[i]->id);
    names = (const uint32_t *)(const void *)inputs.data;
    count = (uint32_t)(inputs.count / sizeof *names);
  }
  snprintf(name, sizeof name, "entry%u", e->number);
  spirv_put_text(&e->m.part[PART_ENTRIES], SpvOpEntryPoint, first, 2, name, names, count);
  if (inputs.failed || e->interface.failed) e->m.failed = true;
  gpu_bytes_free(&inputs);
}

static void open_entry(spirv_emitter *e, uint32_t number) {
  const uint32_t *used = (const uint32_t *)(const void *)e->used.data;
  for (size_t i = 0; i < e->used.count / sizeof *used; i++) e->words[used[i]] = 0;
  e->used.count = e->interface.count = 0;
  e->entry = gpu_entry(e->kernel, number);
  e->number = number;
  e->invocations = e->entry->workgroup[0] * e->entry->workgroup[1] * e->entry->workgroup[2];
  e->real = e->depth = 0;
  e->loop = UINT32_MAX;
  e->wants_wid = e->wants_lid = e->wants_gid = 0;
  e->wants_lane = e->wants_subgroup_id = e->has_f32 = e->has_f64 = false;
  e->wants_local_index = (e->target->features & SPIRV_ZERO_WORKGROUP) == 0 && e->entry->shared_count != 0;
  for (uint32_t i = 0; i < e->layout.buffers; i++) {
    spirv_buffer *b = &e->buffers[i];
    b->wants_address = b->wants_length = b->wants_wide_length = b->wants_high = false;
  }
}

static void emit_entry(spirv_emitter *e, uint32_t number) {
  spirv_module *m = &e->m;
  open_entry(e, number);
  spirv_scan(e);
  spirv_find_chains(e);
  spirv_declare_shared(e);
  uint32_t function = spirv_id(m), label = spirv_id(m), type = spirv_type_id(m, T_MAIN);
  spirv_do(m, SpvOpFunction, spirv_type_id(m, T_VOID), function, SpvFunctionControlMaskNone, type);
  spirv_label(m, label);
  declare_slots(e);
  declare_carried(e);
  spirv_declare_locals(e);
  spirv_enter(e);
  spirv_zero_shared(e);
  emit_insns(e);
  if (m->block != 0) spirv_put_words(&m->part[PART_CODE], SpvOpReturn, NULL, 0);
  spirv_put_words(&m->part[PART_CODE], SpvOpFunctionEnd, NULL, 0);
  m->block = 0;
  put_entry(e, function);
  put_modes(e, function);
}

/* ---- Modules --------------------------------------------------------------------------------- */

/* Whether a kernel sees lanes, so that it needs a size of subgroups; the size that it wants, 0 for any. */
static bool sees_subgroups(const vyre_kernel_header *k, uint32_t *size) {
  bool sees = false;
  *size = 0;
  for (uint32_t i = 0; i < k->entries.count; i++)
    if (gpu_entry(k, i)->subgroup != 0) *size = gpu_entry(k, i)->subgroup;
  for (uint32_t i = 0; i < k->insns.count && !sees; i++) {
    uint16_t op = gpu_insn(k, i)->op;
    sees = (op >= VYRE_KERNEL_LANE && op <= VYRE_KERNEL_NUM_SUBGROUPS) ||
           (op >= VYRE_KERNEL_SUBGROUP_ADD && op <= VYRE_KERNEL_SHUFFLE_DOWN);
  }
  return sees || *size != 0;
}

static vyre_status choose_subgroup(const vyre_kernel_header *k, const spirv_target *target, uint32_t *size,
                                   vyre_error *error) {
  const uint32_t has = target->subgroup_sizes;
  if (!sees_subgroups(k, size)) return *size = 0, VYRE_OK;
  if (*size == 0) *size = target->subgroup_size;
  if (*size != 0 && *size <= 32 && (*size & (*size - 1)) == 0 && (has & *size) != 0) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, VYRE_KERNEL_TEXT(k, k->name),
                  "the program runs in subgroups of %u, and the target offers none of that size (a mask of 0x%x). Fix: "
                  "choose another device or size",
                  *size, has);
}

static bool make_room(spirv_emitter *e) {
  const vyre_kernel_header *k = e->kernel;
  e->ids = calloc(k->values.count + 1u, sizeof *e->ids);
  e->meets = calloc(k->insns.count + 1u, sizeof *e->meets);
  e->chains = calloc(k->insns.count + 1u, sizeof *e->chains);
  e->buffers = calloc(e->layout.buffers + 1u, sizeof *e->buffers);
  e->shared = calloc(k->shared.count + 1u, sizeof *e->shared);
  e->locals = calloc(k->locals.count + 1u, sizeof *e->locals);
  e->slots = calloc(k->slots.count + 1u, sizeof *e->slots);
  e->specs = calloc(k->specs.count + 1u, sizeof *e->specs);
  e->words = calloc(e->layout.block_bytes / 4 + 1u, sizeof *e->words);
  e->frames = calloc(SPIRV_MAX_DEPTH, sizeof *e->frames);
  return e->ids != NULL && e->meets != NULL && e->chains != NULL && e->buffers != NULL && e->shared != NULL && e->locals != NULL &&
         e->slots != NULL && e->specs != NULL && e->words != NULL && e->frames != NULL;
}

static void free_room(spirv_emitter *e) {
  void *const all[] = { e->ids, e->meets, e->chains, e->buffers, e->shared, e->locals, e->slots, e->specs, e->words, e->frames };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  gpu_bytes_free(&e->interface);
  gpu_bytes_free(&e->used);
  gpu_bytes_free(&e->carried);
  spirv_module_free(&e->m);
}

static void emit_entries(spirv_emitter *e) {
  if (e->target->features & SPIRV_MEMORY_MODEL) {
    spirv_need(&e->m, CAP_MEMORY_MODEL);
    spirv_need(&e->m, CAP_DEVICE_SCOPE);
  }
  if (e->mode == SPIRV_ADDRESSED) spirv_need(&e->m, CAP_ADDRESSES);
  spirv_begin_launch(e);
  for (uint32_t i = 0; i < e->kernel->entries.count && e->status == VYRE_OK; i++) emit_entry(e, i);
  spirv_mark_aliases(e);
}

static vyre_status emit_module(const vyre_kernel_header *kernel, const spirv_target *target, spirv_mode mode,
                               gpu_bytes *code, spirv_facts *facts, vyre_error *error) {
  spirv_emitter e = { .kernel = kernel, .target = target, .mode = mode, .subgroup = facts->subgroup, .error = error,
                      .layout = spirv_layout_of(kernel, facts, mode) };
  spirv_module_begin(&e.m, target->version);
  gpu_bytes_align(code, 16);
  size_t before = code->count;
  if (!make_room(&e)) e.m.failed = true;
  else emit_entries(&e);
  if (e.status == VYRE_OK && !e.m.failed) spirv_module_end(&e.m, code);
  if (e.status == VYRE_OK && (e.m.failed || code->failed)) e.status = gpu_no_memory(error);
  facts->module_offset[mode] = (uint32_t)before;
  facts->module_bytes[mode] = (uint32_t)(code->count - before);
  facts->features |= spirv_module_features(&e.m) | e.controls | (target->features & (SPIRV_ORDERED_ATOMICS | SPIRV_EXACTLY));
  free_room(&e);
  return e.status;
}

static vyre_status too_many(const vyre_kernel_header *k, uint64_t has, const char *what, const char *limit,
                            uint64_t most, vyre_error *error) {
  return gpu_fail(error, VYRE_ERR_LIMIT, VYRE_KERNEL_TEXT(k, k->name),
                  "the program needs %llu %s, and the target takes at most %llu (%s). Fix: use fewer, or choose another "
                  "device",
                  (unsigned long long)has, what, (unsigned long long)most, limit);
}

vyre_status spirv_emit(const vyre_kernel_header *k, const spirv_target *target, gpu_bytes *code, spirv_facts *facts,
                       vyre_error *error) {
  *facts = (spirv_facts){ .push_bytes = target->push_bytes, .version = target->version };
  vyre_status status = choose_subgroup(k, target, &facts->subgroup, error);
  if (status != VYRE_OK) return status;
  const spirv_layout bound = spirv_layout_of(k, facts, SPIRV_BOUND);
  const uint32_t for_addresses = SPIRV_ADDRESSES | SPIRV_INT64;
  const bool has_addresses = (target->features & for_addresses) == for_addresses && bound.buffers != 0;
  const bool fits = bound.storage <= target->storage_buffers;
  if (bound.block_bytes > target->uniform_bytes)
    return too_many(k, bound.block_bytes, "bytes of parameters and lengths", "maxUniformBufferRange",
                    target->uniform_bytes, error);
  if (!fits && !has_addresses)
    return too_many(k, bound.storage, "buffers", "maxPerStageDescriptorStorageBuffers", target->storage_buffers, error);
  if (fits) status = emit_module(k, target, SPIRV_BOUND, code, facts, error);
  if (status != VYRE_OK || !has_addresses) return status;
  const spirv_layout addressed = spirv_layout_of(k, facts, SPIRV_ADDRESSED);
  if (fits && addressed.block_bytes > target->uniform_bytes) return VYRE_OK;
  if (addressed.block_bytes > target->uniform_bytes)
    return too_many(k, addressed.block_bytes, "bytes of parameters, lengths and addresses", "maxUniformBufferRange",
                    target->uniform_bytes, error);
  return emit_module(k, target, SPIRV_ADDRESSED, code, facts, error);
}
