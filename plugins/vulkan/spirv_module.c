/* Types, constants and the final order of a module. */
#include "plugins/vulkan/spirv_module.h"

#include <stdlib.h>
#include <string.h>

/* What each capability is called, from which version of SPIR-V on it needs no extension, and the target's feature that it
 * stands for. */
static const struct {
  SpvCapability capability;
  uint32_t core; /* version */
  const char *extension;
  uint32_t feature;
} capabilities[CAPS] = {
  [CAP_INT64] = { SpvCapabilityInt64, 0, NULL, SPIRV_INT64 },
  [CAP_FLOAT64] = { SpvCapabilityFloat64, 0, NULL, SPIRV_FLOAT64 },
  [CAP_INT16] = { SpvCapabilityInt16, 0, NULL, SPIRV_INT16 },
  [CAP_INT8] = { SpvCapabilityInt8, 0, NULL, SPIRV_INT8 },
  [CAP_STORAGE16] = { SpvCapabilityStorageBuffer16BitAccess, 0x10300, "SPV_KHR_16bit_storage", SPIRV_STORAGE16 },
  [CAP_STORAGE8] = { SpvCapabilityStorageBuffer8BitAccess, 0x10500, "SPV_KHR_8bit_storage", SPIRV_STORAGE8 },
  [CAP_MEMORY_MODEL] = { SpvCapabilityVulkanMemoryModel, 0x10500, "SPV_KHR_vulkan_memory_model", SPIRV_MEMORY_MODEL },
  [CAP_DEVICE_SCOPE] = { SpvCapabilityVulkanMemoryModelDeviceScope, 0x10500, NULL, SPIRV_MEMORY_MODEL },
  [CAP_BUFFER_ATOMIC64] = { SpvCapabilityInt64Atomics, 0, NULL, SPIRV_BUFFER_ATOMIC64 },
  [CAP_SHARED_ATOMIC64] = { SpvCapabilityInt64Atomics, 0, NULL, SPIRV_SHARED_ATOMIC64 },
  [CAP_ADDRESSES] = { SpvCapabilityPhysicalStorageBufferAddresses, 0x10500, "SPV_KHR_physical_storage_buffer",
                      SPIRV_ADDRESSES },
  [CAP_SUBGROUP] = { SpvCapabilityGroupNonUniform, 0x10300, NULL, 0 },
  [CAP_VOTE] = { SpvCapabilityGroupNonUniformVote, 0x10300, NULL, SPIRV_VOTE },
  [CAP_BALLOT] = { SpvCapabilityGroupNonUniformBallot, 0x10300, NULL, SPIRV_BALLOT },
  [CAP_SHUFFLE] = { SpvCapabilityGroupNonUniformShuffle, 0x10300, NULL, SPIRV_SHUFFLE },
  [CAP_DENORM_PRESERVE] = { SpvCapabilityDenormPreserve, 0x10400, "SPV_KHR_float_controls", SPIRV_FLOAT_CONTROLS },
  [CAP_SIGNED_ZERO] = { SpvCapabilitySignedZeroInfNanPreserve, 0x10400, "SPV_KHR_float_controls",
                        SPIRV_FLOAT_CONTROLS },
  [CAP_RTE] = { SpvCapabilityRoundingModeRTE, 0x10400, "SPV_KHR_float_controls", SPIRV_FLOAT_CONTROLS },
};

uint32_t spirv_module_features(const spirv_module *m) {
  uint32_t features = 0;
  for (uint32_t i = 0; i < CAPS; i++)
    if (m->capabilities >> i & 1) features |= capabilities[i].feature;
  return features;
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* A scalar by its opcode and width, a vector by its component and count. */
static const struct {
  SpvOp op;
  uint32_t bits, component, capability;
} shapes[TYPES] = {
  [T_VOID] = { SpvOpTypeVoid, 0, 0, CAPS },
  [T_BOOL] = { SpvOpTypeBool, 0, 0, CAPS },
  [T_U8] = { SpvOpTypeInt, 8, 0, CAPS },
  [T_U16] = { SpvOpTypeInt, 16, 0, CAPS },
  [T_U32] = { SpvOpTypeInt, 32, 0, CAPS },
  [T_U64] = { SpvOpTypeInt, 64, 0, CAP_INT64 },
  [T_F32] = { SpvOpTypeFloat, 32, 0, CAPS },
  [T_F64] = { SpvOpTypeFloat, 64, 0, CAP_FLOAT64 },
  [T_BOOLX2] = { SpvOpTypeVector, 2, T_BOOL, CAPS },
  [T_BOOLX4] = { SpvOpTypeVector, 4, T_BOOL, CAPS },
  [T_U32X2] = { SpvOpTypeVector, 2, T_U32, CAPS },
  [T_U32X3] = { SpvOpTypeVector, 3, T_U32, CAPS },
  [T_U32X4] = { SpvOpTypeVector, 4, T_U32, CAPS },
  [T_F32X2] = { SpvOpTypeVector, 2, T_F32, CAPS },
  [T_F32X4] = { SpvOpTypeVector, 4, T_F32, CAPS },
  [T_MAIN] = { SpvOpTypeFunction, 0, T_VOID, CAPS },
  [T_PAIR] = { SpvOpTypeStruct, 0, T_U32, CAPS },
};

static void declare_type(spirv_module *m, spirv_type type) {
  uint32_t component = shapes[type].component != T_NONE ? spirv_type_id(m, shapes[type].component) : 0;
  uint32_t id = m->types[type] = spirv_id(m), bits = shapes[type].bits;
  if (shapes[type].capability != CAPS) spirv_need(m, shapes[type].capability);
  switch (shapes[type].op) {
    case SpvOpTypeInt: spirv_put(m, PART_GLOBALS, SpvOpTypeInt, id, bits, 0); break;
    case SpvOpTypeFloat: spirv_put(m, PART_GLOBALS, SpvOpTypeFloat, id, bits); break;
    case SpvOpTypeVector: spirv_put(m, PART_GLOBALS, SpvOpTypeVector, id, component, bits); break;
    case SpvOpTypeFunction: spirv_put(m, PART_GLOBALS, SpvOpTypeFunction, id, component); break;
    case SpvOpTypeStruct: spirv_put(m, PART_GLOBALS, SpvOpTypeStruct, id, component, component); break;
    default: spirv_put(m, PART_GLOBALS, shapes[type].op, id); break;
  }
}

uint32_t spirv_type_id(spirv_module *m, spirv_type type) {
  if (m->types[type] == 0) declare_type(m, type);
  return m->types[type];
}

uint32_t spirv_lanes(spirv_type type) { return shapes[type].op == SpvOpTypeVector ? shapes[type].bits : 1; }

static uint32_t class_index(SpvStorageClass storage) {
  switch (storage) {
    case SpvStorageClassInput: return 0;
    case SpvStorageClassUniform: return 1;
    case SpvStorageClassPushConstant: return 2;
    case SpvStorageClassStorageBuffer: return 3;
    case SpvStorageClassPhysicalStorageBuffer: return 4;
    case SpvStorageClassWorkgroup: return 5;
    default: return 6; /* Function */
  }
}

uint32_t spirv_pointer(spirv_module *m, SpvStorageClass storage, spirv_type to) {
  uint32_t *id = &m->pointers[to][class_index(storage)];
  if (*id != 0) return *id;
  uint32_t pointee = spirv_type_id(m, to);
  *id = spirv_id(m);
  spirv_put(m, PART_GLOBALS, SpvOpTypePointer, *id, storage, pointee);
  return *id;
}

/* ---- Constants ------------------------------------------------------------------------------- */

static void declare_constant(spirv_module *m, spirv_type type, uint64_t bits, uint32_t id) {
  uint32_t of = spirv_type_id(m, type);
  if (type == T_BOOL) spirv_put(m, PART_GLOBALS, bits != 0 ? SpvOpConstantTrue : SpvOpConstantFalse, of, id);
  else if (type == T_U64 || type == T_F64)
    spirv_put(m, PART_GLOBALS, SpvOpConstant, of, id, (uint32_t)bits, (uint32_t)(bits >> 32));
  else spirv_put(m, PART_GLOBALS, SpvOpConstant, of, id, (uint32_t)bits);
}

static spirv_constant_row *place_of(spirv_constant_row *rows, uint32_t room, uint32_t type, uint64_t bits) {
  uint64_t hash = (bits + 1) * 0x9E3779B97F4A7C15u + type * 0xC2B2AE3D27D4EB4Fu;
  uint32_t at = (uint32_t)(hash >> 32) & (room - 1);
  while (rows[at].id != 0 && (rows[at].bits != bits || rows[at].type != type)) at = (at + 1) & (room - 1);
  return &rows[at];
}

static bool grow_constants(spirv_module *m) {
  uint32_t room = m->constant_room != 0 ? m->constant_room * 2 : 64;
  spirv_constant_row *rows = calloc(room, sizeof *rows);
  if (rows == NULL) return false;
  for (uint32_t i = 0; i < m->constant_room; i++)
    if (m->constants[i].id != 0) *place_of(rows, room, m->constants[i].type, m->constants[i].bits) = m->constants[i];
  free(m->constants);
  m->constants = rows;
  m->constant_room = room;
  return true;
}

uint32_t spirv_constant(spirv_module *m, spirv_type type, uint64_t bits) {
  if (m->constant_count * 2 >= m->constant_room && !grow_constants(m)) {
    m->failed = true;
    return 1;
  }
  spirv_constant_row *row = place_of(m->constants, m->constant_room, type, bits);
  if (row->id != 0) return row->id;
  *row = (spirv_constant_row){ bits, type, spirv_id(m) };
  uint32_t id = row->id;
  m->constant_count++;
  declare_constant(m, type, bits, id);
  return id;
}

uint32_t spirv_zero(spirv_module *m, spirv_type type) {
  if (spirv_lanes(type) == 1) return spirv_constant(m, type, 0);
  const uint64_t null_of_vector = UINT64_MAX; /* no vector has a row otherwise */
  spirv_constant(m, T_U32, 0);                /* there is a table */
  if (m->failed) return 1;
  spirv_constant_row *row = place_of(m->constants, m->constant_room, type, null_of_vector);
  if (row->id != 0) return row->id;
  *row = (spirv_constant_row){ null_of_vector, type, spirv_id(m) };
  uint32_t id = row->id;
  m->constant_count++;
  spirv_put(m, PART_GLOBALS, SpvOpConstantNull, spirv_type_id(m, type), id);
  return id;
}

/* ---- Flow and choice ------------------------------------------------------------------------- */

uint32_t spirv_when(spirv_module *m, uint32_t condition) {
  uint32_t inside = spirv_id(m), merge = spirv_id(m);
  spirv_do(m, SpvOpSelectionMerge, merge, SpvSelectionControlMaskNone);
  spirv_branch_if(m, condition, inside, merge);
  spirv_label(m, inside);
  return merge;
}

/* Until SPIR-V 1.4 a vector is chosen component by component. */
uint32_t spirv_select(spirv_module *m, spirv_type type, uint32_t condition, uint32_t yes, uint32_t no) {
  uint32_t lanes = spirv_lanes(type);
  if (lanes == 2 && m->version < 0x10400)
    condition = spirv_value(m, SpvOpCompositeConstruct, T_BOOLX2, condition, condition);
  if (lanes == 4 && m->version < 0x10400)
    condition = spirv_value(m, SpvOpCompositeConstruct, T_BOOLX4, condition, condition, condition, condition);
  return spirv_value(m, SpvOpSelect, type, condition, yes, no);
}

/* ---- The whole ------------------------------------------------------------------------------- */

void spirv_put_text(gpu_bytes *to, SpvOp op, const uint32_t *first, uint32_t first_count, const char *text,
                    const uint32_t *last, uint32_t last_count) {
  uint32_t length = (uint32_t)strlen(text), text_words = length / 4 + 1;
  uint32_t count = 1 + first_count + text_words + last_count;
  uint32_t *at = gpu_bytes_room(to, count * 4u);
  if (at == NULL) return;
  *at++ = count << SpvWordCountShift | (uint32_t)op;
  for (uint32_t i = 0; i < first_count; i++) *at++ = first[i];
  memset(at, 0, text_words * 4u);
  memcpy(at, text, length);
  at += text_words;
  for (uint32_t i = 0; i < last_count; i++) *at++ = last[i];
  to->count += count * 4u;
}

bool spirv_module_begin(spirv_module *m, uint32_t version) {
  *m = (spirv_module){ .version = version, .next = 1 };
  m->imported = spirv_id(m);
  return true;
}

void spirv_module_free(spirv_module *m) {
  for (int i = 0; i < PARTS; i++) gpu_bytes_free(&m->part[i]);
  free(m->constants);
  m->constants = NULL;
}

static void put_capability(gpu_bytes *code, SpvCapability capability) {
  spirv_put_words(code, SpvOpCapability, SPIRV_WORDS(capability));
}

/* Two rows may name the same capability or extension: it stands once. */
static void put_capabilities(const spirv_module *m, gpu_bytes *code) {
  put_capability(code, SpvCapabilityShader);
  for (uint32_t i = 0; i < CAPS; i++) {
    bool is_again = i == CAP_SHARED_ATOMIC64 && (m->capabilities >> CAP_BUFFER_ATOMIC64 & 1);
    if ((m->capabilities >> i & 1) && !is_again) put_capability(code, capabilities[i].capability);
  }
}

static void put_extensions(const spirv_module *m, gpu_bytes *code) {
  const char *last = "";
  for (uint32_t i = 0; i < CAPS; i++) {
    const char *name = capabilities[i].extension;
    if ((m->capabilities >> i & 1) == 0 || name == NULL || m->version >= capabilities[i].core) continue;
    if (strcmp(name, last) != 0) spirv_put_text(code, SpvOpExtension, NULL, 0, name, NULL, 0);
    last = name;
  }
}

void spirv_module_end(spirv_module *m, gpu_bytes *code) {
  const uint32_t head[5] = { SpvMagicNumber, m->version, 0, m->next, 0 };
  const bool has_model = m->capabilities >> CAP_MEMORY_MODEL & 1, has_addresses = m->capabilities >> CAP_ADDRESSES & 1;
  gpu_bytes_add(code, head, sizeof head);
  put_capabilities(m, code);
  put_extensions(m, code);
  spirv_put_text(code, SpvOpExtInstImport, &m->imported, 1, "GLSL.std.450", NULL, 0);
  const uint32_t model[2] = {
    has_addresses ? SpvAddressingModelPhysicalStorageBuffer64 : SpvAddressingModelLogical,
    has_model ? SpvMemoryModelVulkan : SpvMemoryModelGLSL450
  };
  spirv_put_words(code, SpvOpMemoryModel, model, 2);
  for (int i = 0; i < PARTS; i++) {
    gpu_bytes_add(code, m->part[i].data, m->part[i].count);
    if (m->part[i].failed) m->failed = true;
  }
}
