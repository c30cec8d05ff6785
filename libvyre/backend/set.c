/* Binding sets: what a program asks for against what it gets. All checks of one dispatch happen here, once, so that
 * submitting has nothing left to check but what was declared late. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/checked.h"
#include "base/error.h"

enum { GRAIN = 16, FEW_SLOTS = 32 };

void vyre_set_retain(vyre_set *set) { vyre_refs_take(&set->refs); }

static void free_set(vyre_set *set) {
  for (uint32_t i = 0; i < set->slot_count && set->slots != NULL; i++) {
    vyre_buffer_destroy(set->slots[i].buffer);
    vyre_buffer_destroy(set->slots[i].length_buffer);
  }
  free(set->slots);
  free(set->params);
  free(set->block);
  pthread_mutex_destroy(&set->lock);
  vyre_executable_destroy(set->executable);
  free(set);
}

void vyre_set_destroy(vyre_set *set) {
  if (set == NULL || !vyre_refs_drop(&set->refs)) return;
  vyre_device *device = set->executable->device;
  vyre_batch_destroy(set->ready);
  if (vyre_device_may_destroy(device)) device->ops->set_destroy(set->plugin);
  free_set(set);
}

/* ---- What the program asks for --------------------------------------------------------------- */

static uint32_t param_size(vyre_type type) { return vyre_type_describe(type)->bytes; }

static bool lay_out_params(vyre_set *set, const vyre_program *program, uint32_t count) {
  uint64_t end = 0;
  set->param_count = count;
  set->params = calloc(count + 1u, sizeof *set->params);
  for (uint32_t i = 0; i < count && set->params != NULL; i++) {
    vyre_param_info info;
    vyre_program_param(program, i, &info);
    uint32_t bytes = param_size(info.type);
    end = (end + bytes - 1) / bytes * bytes;
    set->params[i] = (vyre_set_param){ .name = info.name, .type = info.type, .offset = (uint32_t)end, .bytes = bytes };
    end += bytes;
  }
  set->block_bytes = end;
  set->block = calloc(1, end + 8);
  return set->params != NULL && set->block != NULL;
}

static bool lay_out_slots(vyre_set *set, const vyre_program *program, uint32_t count) {
  set->slots = calloc(count + 1u, sizeof *set->slots);
  if (set->slots == NULL) return false;
  set->slot_count = count;
  for (uint32_t i = 0; i < count; i++) {
    vyre_buffer_info info;
    vyre_program_slot(program, i, &info);
    set->slots[i] = (vyre_set_slot){
      .name = info.name, .written = info.access != VYRE_ACCESS_READ, .zero = info.access == VYRE_ACCESS_WRITE
    };
  }
  return true;
}

/* What was compiled in stands in the block as well, for backends that do not ask for it before. */
static void fill_specs(vyre_set *set) {
  for (uint64_t i = 0; i < set->executable->spec_count; i++) {
    const vyre_spec_constant *spec = &set->executable->spec[i];
    vyre_set_param *param = &set->params[spec->id];
    memcpy(set->block + param->offset, &spec->bits, param->bytes);
    param->given = param->spec = true;
  }
}

/* Arguments mostly come in the program's order, so a search goes on where the last one ended. */
static uint32_t find_param(const vyre_set *set, const char *name, uint32_t *hint) {
  for (uint32_t i = 0; i < set->param_count; i++) {
    uint32_t at = (*hint + i) % set->param_count;
    if (strcmp(set->params[at].name, name) != 0) continue;
    *hint = at + 1;
    return at;
  }
  return UINT32_MAX;
}

static uint32_t find_slot(const vyre_set *set, const char *name, uint32_t *hint) {
  for (uint32_t i = 0; i < set->slot_count; i++) {
    uint32_t at = (*hint + i) % set->slot_count;
    if (strcmp(set->slots[at].name, name) != 0) continue;
    *hint = at + 1;
    return at;
  }
  return UINT32_MAX;
}

static vyre_status unknown_name(const vyre_set *set, const vyre_arg *arg, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_NOT_FOUND, arg->name,
                   "Program %s has no %s called %s. Fix: name one that it declares.", set->executable->info.name,
                   arg->kind == VYRE_ARG_PARAM ? "parameter" : "buffer that is bound", arg->name);
}

static vyre_status given_twice(const char *name, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, name, "%s is given twice. Fix: give it once.", name);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static vyre_status put_param(const vyre_set_param *param, const vyre_arg *arg, uint8_t *block, vyre_error *error) {
  if (arg->type != param->type)
    return vyre_fail(error, VYRE_ERR_MISSING_BINDING, param->name,
                     "Parameter %s has type %s and is given a %s. Fix: give a value of its type.", param->name,
                     vyre_type_describe((vyre_type)param->type)->spelling, vyre_type_describe(arg->type)->spelling);
  uint64_t bits = param->type == VYRE_TYPE_BOOL ? arg->bits != 0 : arg->bits;
  memcpy(block + param->offset, &bits, param->bytes); /* little endian, as the ABI is */
  return VYRE_OK;
}

static vyre_status take_param(vyre_set *set, const vyre_arg *arg, uint32_t *hint, vyre_error *error) {
  uint32_t index = find_param(set, arg->name, hint);
  if (index == UINT32_MAX) return unknown_name(set, arg, error);
  vyre_set_param *param = &set->params[index];
  if (param->spec)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, param->name,
                     "Parameter %s was given a value when the program was compiled. Fix: leave it out, or compile the "
                     "program without it in specs.", param->name);
  if (param->given) return given_twice(param->name, error);
  param->given = true;
  param->late = (arg->flags & VYRE_ARG_LATE) != 0;
  set->late_param_count += param->late;
  return param->late ? VYRE_OK : put_param(param, arg, set->block, error);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static vyre_status check_offset(const vyre_set *set, const char *name, uint64_t offset, vyre_error *error) {
  uint32_t alignment = set->executable->device->caps.binding_alignment;
  if (offset % alignment == 0) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, name,
                   "Buffer %s is bound from byte %" PRIu64 " on, and the device wants multiples of %u "
                   "(binding_alignment). Fix: place the data at such an offset.",
                   name, offset, alignment);
}

/* Elements and bytes of the range. */
static vyre_status measure(vyre_set_slot *slot, const vyre_arg *arg, vyre_type element, vyre_error *error) {
  uint32_t size = vyre_type_describe(element)->bytes;
  uint64_t rest = arg->offset <= arg->buffer->bytes ? arg->buffer->bytes - arg->offset : 0;
  slot->elements = arg->elements != VYRE_WHOLE ? arg->elements : rest / size;
  if (arg->elements == VYRE_WHOLE && rest % size != 0)
    return vyre_fail(error, VYRE_ERR_MISSING_BINDING, slot->name,
                     "Buffer %s gets %" PRIu64 " bytes, which are not whole elements of %u. Fix: say how many elements "
                     "are meant.",
                     slot->name, rest, size);
  if (!vyre_mul_u64(slot->elements, size, &slot->bytes)) slot->bytes = UINT64_MAX;
  return vyre_buffer_check_range(arg->buffer, arg->offset, slot->bytes, slot->name, error);
}

static vyre_status check_length(const vyre_set_slot *slot, const vyre_buffer_info *info, vyre_error *error) {
  if (info->length != 0 && slot->elements != info->length)
    return vyre_fail(error, VYRE_ERR_MISSING_BINDING, slot->name,
                     "Buffer %s is declared with %" PRIu64 " elements and gets %" PRIu64 ". Fix: bind exactly that "
                     "many, or declare it with [].",
                     slot->name, info->length, slot->elements);
  if (info->uses_len32 && slot->elements > UINT32_MAX)
    return vyre_fail(error, VYRE_ERR_OUT_OF_RANGE, slot->name,
                     "Buffer %s gets %" PRIu64 " elements, and the program takes its len() as u32, at most %u. Fix: "
                     "use len64(%s), or bind fewer.",
                     slot->name, slot->elements, UINT32_MAX, slot->name);
  return VYRE_OK;
}

static vyre_status check_device_length(const vyre_set *set, const vyre_set_slot *slot, const vyre_buffer_info *info,
                                       const vyre_arg *arg, vyre_error *error) {
  if (arg->length_bits == 0) return VYRE_OK;
  vyre_device *device = set->executable->device;
  if ((device->caps.can & VYRE_CAN_DEVICE_LENGTH) == 0)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, slot->name,
                     "The length of %s is in a buffer, and device %s lacks the capability device_length. Fix: read the "
                     "count and give it as a number.",
                     slot->name, device->name);
  if ((arg->length_bits != 32 && arg->length_bits != 64) || arg->length_buffer == NULL ||
      arg->length_buffer->device != device || arg->length_offset % (arg->length_bits / 8) != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, slot->name,
                     "The length of %s is not a u32 or u64 at a multiple of its size in a buffer of the same device. "
                     "Fix: correct length_bits, length_buffer or length_offset.",
                     slot->name);
  if (info->length != 0)
    return vyre_fail(error, VYRE_ERR_MISSING_BINDING, slot->name,
                     "Buffer %s is declared with %" PRIu64 " elements, so its length can't come from the device. Fix: "
                     "declare it with [].",
                     slot->name, info->length);
  return vyre_buffer_check_range(arg->length_buffer, arg->length_offset, arg->length_bits / 8, slot->name, error);
}

static vyre_status take_buffer(vyre_set *set, const vyre_arg *arg, uint32_t *hint, vyre_error *error) {
  uint32_t index = find_slot(set, arg->name, hint);
  if (index == UINT32_MAX) return unknown_name(set, arg, error);
  vyre_set_slot *slot = &set->slots[index];
  vyre_buffer_info info;
  vyre_program_slot(set->executable->program, index, &info);
  if (slot->given) return given_twice(slot->name, error);
  if (arg->buffer == NULL || arg->buffer->device != set->executable->device)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, slot->name,
                     "%s is given %s. Fix: give a buffer of the device that the program was compiled for.", slot->name,
                     arg->buffer == NULL ? "no buffer" : "a buffer of another device");
  vyre_status status = check_offset(set, slot->name, arg->offset, error);
  if (status == VYRE_OK) status = measure(slot, arg, info.element, error);
  if (status == VYRE_OK) status = check_length(slot, &info, error);
  if (status == VYRE_OK) status = check_device_length(set, slot, &info, arg, error);
  if (status != VYRE_OK) return status;
  slot->given = true;
  slot->late = (arg->flags & VYRE_ARG_LATE) != 0;
  set->late_slot_count += slot->late;
  slot->offset = arg->offset;
  slot->buffer = arg->buffer;
  vyre_buffer_retain(slot->buffer);
  if (arg->length_bits == 0) return VYRE_OK;
  slot->length_bits = arg->length_bits;
  slot->length_offset = arg->length_offset;
  slot->length_buffer = arg->length_buffer;
  vyre_buffer_retain(slot->length_buffer);
  return VYRE_OK;
}

static vyre_status check_all_given(const vyre_set *set, vyre_error *error) {
  const char *missing = NULL;
  for (uint32_t i = 0; i < set->slot_count && missing == NULL; i++)
    if (!set->slots[i].given) missing = set->slots[i].name;
  if (missing != NULL)
    return vyre_fail(error, VYRE_ERR_MISSING_BINDING, missing,
                     "Buffer %s of program %s is not bound. Fix: bind it, or give its length if the program fills it.",
                     missing, set->executable->info.name);
  for (uint32_t i = 0; i < set->param_count && missing == NULL; i++)
    if (!set->params[i].given) missing = set->params[i].name;
  if (missing != NULL)
    return vyre_fail(error, VYRE_ERR_MISSING_BINDING, missing,
                     "Parameter %s of program %s has no value. Fix: give it one.", missing, set->executable->info.name);
  return VYRE_OK;
}

/* ---- Overlaps -------------------------------------------------------------------------------- */

static vyre_status aliased(const vyre_set_slot *a, const vyre_set_slot *b, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_ALIASED, b->name,
                   "Buffers %s and %s are bound to ranges that overlap, and %s is written. Fix: bind separate ranges "
                   "(written ones reach to the next multiple of 16 bytes), or declare one buffer for both.",
                   a->name, b->name, a->written ? a->name : b->name);
}

/* |offsets| by slot. */
static vyre_status check_overlaps(const vyre_set *set, const uint64_t *offsets, vyre_error *error) {
  vyre_range few[FEW_SLOTS], *ranges = few;
  const vyre_range *a, *b;
  if (set->slot_count > FEW_SLOTS) ranges = malloc(set->slot_count * sizeof *ranges);
  if (ranges == NULL) return vyre_fail_memory(error, "binding set");
  for (uint32_t i = 0; i < set->slot_count; i++) {
    const vyre_set_slot *slot = &set->slots[i];
    ranges[i] = (vyre_range){ slot->buffer, offsets[i], slot->bytes, slot->written };
    /* What lies behind a written range up to the next multiple of 16 belongs to it. */
    if (slot->written) ranges[i].bytes = (slot->bytes + GRAIN - 1) / GRAIN * GRAIN;
  }
  vyre_status status = vyre_find_overlap(ranges, set->slot_count, &a, &b, error);
  if (status == VYRE_ERR_ALIASED) status = aliased(&set->slots[a - ranges], &set->slots[b - ranges], error);
  if (ranges != few) free(ranges);
  return status;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static vyre_status take_args(vyre_set *set, const vyre_arg *args, uint32_t count, vyre_error *error) {
  uint32_t param_hint = 0, slot_hint = 0;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
    switch (args[i].kind) {
    case VYRE_ARG_PARAM: status = take_param(set, &args[i], &param_hint, error); break;
    case VYRE_ARG_BUFFER: status = take_buffer(set, &args[i], &slot_hint, error); break;
    default:
      status = vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, args[i].name,
                         "A binding set takes no host memory. Fix: make a buffer, or use vyre_run.");
    }
  }
  return status == VYRE_OK ? check_all_given(set, error) : status;
}

/* The plugin's set, and the check of what it is made of. */
static vyre_status make_plugin_set(vyre_set *set, vyre_error *error) {
  vyre_device *device = set->executable->device;
  vyre_bind *binds = calloc(set->slot_count + 1u, sizeof *binds);
  uint64_t *offsets = calloc(set->slot_count + 1u, sizeof *offsets);
  vyre_status status = binds != NULL && offsets != NULL ? VYRE_OK : vyre_fail_memory(error, "binding set");
  for (uint32_t i = 0; i < set->slot_count && status == VYRE_OK; i++) {
    const vyre_set_slot *slot = &set->slots[i];
    offsets[i] = slot->offset;
    binds[i] = (vyre_bind){
      .flags = (slot->written ? VYRE_BIND_WRITTEN : 0u) | (slot->zero ? VYRE_BIND_ZERO : 0u) |
               (slot->late ? VYRE_BIND_LATE : 0u),
      .length_bits = slot->length_bits,
      .buffer = slot->buffer->plugin,
      .offset = slot->offset,
      .bytes = slot->bytes,
      .elements = slot->elements,
      .length_buffer = slot->length_buffer != NULL ? slot->length_buffer->plugin : NULL,
      .length_offset = slot->length_offset,
    };
  }
  vyre_set_request request = {
    .size = sizeof request,
    .bind_count = set->slot_count,
    .binds = binds,
    .params = set->block,
    .param_bytes = set->block_bytes,
    .late_params = set->late_param_count > 0,
  };
  if (status == VYRE_OK && set->late_slot_count == 0) status = check_overlaps(set, offsets, error);
  if (status == VYRE_OK) {
    status = device->ops->set_create(set->executable->plugin, &request, &set->plugin, error);
    status = vyre_device_made(device, status, set->plugin, error);
  }
  free(offsets);
  free(binds);
  return status;
}

vyre_status vyre_set_create(vyre_executable *executable, const vyre_arg *args, uint32_t count, vyre_set **out,
                            vyre_error *error) {
  *out = NULL;
  vyre_status status = vyre_device_check_open(executable->device, error);
  if (status != VYRE_OK) return status;
  vyre_set *set = calloc(1, sizeof *set);
  if (set == NULL) return vyre_fail_memory(error, "binding set");
  set->refs = 1;
  set->executable = executable;
  vyre_executable_retain(executable);
  pthread_mutex_init(&set->lock, NULL);
  const vyre_program_info *info = &executable->info;
  const vyre_capabilities *caps = &executable->device->caps;
  if (!lay_out_params(set, executable->program, info->param_count) ||
      !lay_out_slots(set, executable->program, info->binding_count))
    status = vyre_fail_memory(error, "binding set");
  else if (set->block_bytes > caps->max_param_bytes)
    status = vyre_fail(error, VYRE_ERR_LIMIT, info->name,
                       "The parameters take %" PRIu64 " bytes, and device %s takes at most %u (max_param_bytes). Fix: "
                       "put them into a buffer.",
                       set->block_bytes, executable->device->name, caps->max_param_bytes);
  if (status == VYRE_OK) {
    fill_specs(set);
    status = take_args(set, args, count, error);
  }
  if (status == VYRE_OK) status = make_plugin_set(set, error);
  if (status != VYRE_OK) {
    free_set(set);
    return status;
  }
  *out = set;
  return VYRE_OK;
}

vyre_status vyre_set_grid(const vyre_set *set, uint64_t grid[3], vyre_error *error) {
  const uint32_t *workgroup = set->executable->info.workgroup;
  grid[0] = grid[1] = grid[2] = 1;
  if (workgroup[1] != 1 || workgroup[2] != 1)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, set->executable->info.name,
                     "The workgroup is %u x %u x %u, so no grid follows from the buffers. Fix: say how many workgroups "
                     "to run along each axis.",
                     workgroup[0], workgroup[1], workgroup[2]);
  uint64_t longest = 0, longest_written = 0;
  bool is_any_written = false;
  for (uint32_t i = 0; i < set->slot_count; i++) {
    const vyre_set_slot *slot = &set->slots[i];
    is_any_written = is_any_written || slot->written;
    if (slot->elements > longest) longest = slot->elements;
    if (slot->written && slot->elements > longest_written) longest_written = slot->elements;
  }
  if (set->slot_count == 0) return VYRE_OK;
  uint64_t elements = is_any_written ? longest_written : longest;
  grid[0] = elements / workgroup[0] + (elements % workgroup[0] != 0);
  return VYRE_OK;
}

/* ---- Late values ----------------------------------------------------------------------------- */

static vyre_status not_late(const vyre_arg *arg, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, arg->name,
                   "%s is given with the submit, and the set did not declare it late. Fix: set VYRE_ARG_LATE when the "
                   "set is made.",
                   arg->name);
}

static vyre_status take_late(const vyre_set *set, const vyre_arg *arg, uint8_t *block, uint64_t *offsets,
                             vyre_error *error) {
  uint32_t hint = 0;
  if (arg->kind == VYRE_ARG_PARAM) {
    uint32_t index = find_param(set, arg->name, &hint);
    if (index == UINT32_MAX) return unknown_name(set, arg, error);
    if (!set->params[index].late) return not_late(arg, error);
    return put_param(&set->params[index], arg, block, error);
  }
  uint32_t index = find_slot(set, arg->name, &hint);
  if (index == UINT32_MAX) return unknown_name(set, arg, error);
  const vyre_set_slot *slot = &set->slots[index];
  if (!slot->late) return not_late(arg, error);
  offsets[index] = arg->offset;
  vyre_status status = check_offset(set, slot->name, arg->offset, error);
  if (status != VYRE_OK) return status;
  return vyre_buffer_check_range(slot->buffer, arg->offset, slot->bytes, slot->name, error);
}

/* That nothing is given twice; with the right number, nothing is missing then. */
static const char *repeated(const vyre_arg *args, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < i; j++)
      if (strcmp(args[i].name, args[j].name) == 0) return args[i].name;
  return NULL;
}

vyre_status vyre_set_late(const vyre_set *set, const vyre_arg *args, uint32_t count, uint8_t *block, uint64_t *offsets,
                          vyre_error *error) {
  vyre_status status = VYRE_OK;
  if (set->block_bytes > 0) memcpy(block, set->block, set->block_bytes);
  for (uint32_t i = 0; i < set->slot_count; i++) offsets[i] = set->slots[i].offset;
  for (uint32_t i = 0; i < count && status == VYRE_OK; i++) status = take_late(set, &args[i], block, offsets, error);
  if (status != VYRE_OK) return status;
  uint32_t wanted = set->late_param_count + set->late_slot_count;
  const char *twice = repeated(args, count);
  if (twice != NULL) return given_twice(twice, error);
  if (count != wanted)
    return vyre_fail(error, VYRE_ERR_MISSING_BINDING, set->executable->info.name,
                     "%u values are given with the submit, and %u were declared late. Fix: give all of them.", count,
                     wanted);
  return check_overlaps(set, offsets, error);
}
