/* The capability records: of a device, from its facts, and of what Vulkan 1.1 promises. */
#include <stdio.h>
#include <string.h>

#include "plugins/vulkan/facts.h"
#include "plugins/vulkan/spirv.h"

/* Lowering and the emitter make these of whatever a device has. */
static const uint64_t needs_of_all = VYRE_NEED_GRID_BARRIER | VYRE_NEED_ULP | VYRE_NEED_FMA | VYRE_NEED_TRAP |
                                     VYRE_NEED_PRINT | VYRE_NEED_ASYNC_COPY | VYRE_NEED_SHOULD_STOP |
                                     VYRE_NEED_FLOAT16 | VYRE_NEED_STORAGE8 | VYRE_NEED_STORAGE16 |
                                     VYRE_NEED_ATOMIC_F32_ADD;
/* Min and max are emitted with their order of zeros. */
static const uint32_t numeric_of_all = VYRE_NUMERIC_ZERO_ORDER;

enum {
  HIDDEN_BUFFERS = 5,       /* beside the bindings of a program: hidden bindings and constant tables */
  LEAST_UNIFORM_BYTES = 16384,
  DLPACK_VULKAN = 7,
  QUEUES = 64,              /* of the ABI; they share the device's */
};

/* ---- Target of the emitter ------------------------------------------------------------------- */

static uint32_t features_of(const vulkan_facts *f) {
  static const struct { uint64_t has; uint32_t gives; } same[] = {
    { VULKAN_BIT(INT64), SPIRV_INT64 },
    { VULKAN_BIT(FLOAT64), SPIRV_FLOAT64 },
    { VULKAN_BIT(INT16), SPIRV_INT16 },
    { VULKAN_BIT(INT8), SPIRV_INT8 },
    { VULKAN_BIT(STORAGE16), SPIRV_STORAGE16 },
    { VULKAN_BIT(STORAGE8), SPIRV_STORAGE8 },
    { VULKAN_BIT(MEMORY_MODEL) | VULKAN_BIT(DEVICE_SCOPE), SPIRV_MEMORY_MODEL },
    { VULKAN_BIT(ATOMIC64), SPIRV_BUFFER_ATOMIC64 },
    { VULKAN_BIT(SHARED_ATOMIC64), SPIRV_SHARED_ATOMIC64 },
    { VULKAN_BIT(ADDRESS) | VULKAN_BIT(INT64), SPIRV_ADDRESSES },
    { VULKAN_BIT(ZERO_WORKGROUP), SPIRV_ZERO_WORKGROUP },
    { VULKAN_BIT(SUBGROUP_EXTENDED), SPIRV_EXTENDED_TYPES },
    { VULKAN_BIT(ATOMIC_F32_ADD), SPIRV_BUFFER_F32_ADD },
  };
  uint32_t features = 0;
  for (uint32_t i = 0; i < sizeof same / sizeof *same; i++)
    if ((f->features & same[i].has) == same[i].has) features |= same[i].gives;
  return features;
}

static uint32_t subgroup_operations(const vulkan_facts *f) {
  static const struct { VkSubgroupFeatureFlags has; uint32_t gives; } same[] = {
    { VK_SUBGROUP_FEATURE_VOTE_BIT, SPIRV_VOTE },
    { VK_SUBGROUP_FEATURE_BALLOT_BIT, SPIRV_BALLOT },
    { VK_SUBGROUP_FEATURE_SHUFFLE_BIT, SPIRV_SHUFFLE },
    { VK_SUBGROUP_FEATURE_ARITHMETIC_BIT, SPIRV_ARITHMETIC },
  };
  uint32_t features = 0;
  if ((f->subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0) return 0;
  for (uint32_t i = 0; i < sizeof same / sizeof *same; i++)
    if ((f->subgroup.supportedOperations & same[i].has) != 0) features |= same[i].gives;
  return features;
}

static uint32_t float_controls(const vulkan_facts *f) {
  const VkPhysicalDeviceFloatControlsProperties *p = &f->floats;
  if (!f->has[VULKAN_FLOAT_CONTROLS]) return 0;
  uint32_t features = SPIRV_FLOAT_CONTROLS;
#define TAKE(member, feature) \
  if (p->member != VK_FALSE) features |= SPIRV_##feature;
  TAKE(shaderDenormPreserveFloat32, DENORM_PRESERVE_32)
  TAKE(shaderDenormFlushToZeroFloat32, DENORM_FLUSH_32)
  TAKE(shaderSignedZeroInfNanPreserveFloat32, SIGNED_ZERO_32)
  TAKE(shaderRoundingModeRTEFloat32, RTE_32)
  TAKE(shaderDenormPreserveFloat64, DENORM_PRESERVE_64)
  TAKE(shaderSignedZeroInfNanPreserveFloat64, SIGNED_ZERO_64)
  TAKE(shaderRoundingModeRTEFloat64, RTE_64)
#undef TAKE
  if (p->denormBehaviorIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL &&
      p->roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL)
    features |= SPIRV_CONTROLS_ALL;
  return features;
}

static uint32_t spirv_version(const vulkan_facts *f) {
  if (f->api >= VK_API_VERSION_1_3) return 0x00010600;
  if (f->api >= VK_API_VERSION_1_2) return 0x00010500;
  return f->has[VULKAN_SPIRV_1_4] ? 0x00010400 : 0x00010300;
}

static uint32_t lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

static spirv_target target_of(const vulkan_facts *f) {
  const VkPhysicalDeviceLimits *l = &f->properties.limits;
  spirv_target target = {
    .features = features_of(f) | subgroup_operations(f) | float_controls(f),
    .version = spirv_version(f),
    .push_bytes = l->maxPushConstantsSize,
    .storage_buffers = lesser(l->maxPerStageDescriptorStorageBuffers, l->maxDescriptorSetStorageBuffers),
    .uniform_bytes = l->maxUniformBufferRange,
  };
  target.storage_buffers = lesser(target.storage_buffers, l->maxPerStageResources - 1); /* the block is one more */
  if (f->driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE) target.features |= SPIRV_ORDERED_ATOMICS;
  return target;
}

/* ---- Parts of the record --------------------------------------------------------------------- */

static void describe_identity(const vulkan_facts *f, vyre_capabilities *c) {
  const VkPhysicalDeviceProperties *p = &f->properties;
  switch (p->deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: c->kind = VYRE_DEVICE_DISCRETE; break;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: c->kind = VYRE_DEVICE_INTEGRATED; break;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: c->kind = VYRE_DEVICE_CPU; break;
    default: c->kind = VYRE_DEVICE_VIRTUAL; break;
  }
  snprintf(c->name, sizeof c->name, "%.*s", (int)sizeof c->name - 1, p->deviceName);
  snprintf(c->profile, sizeof c->profile, "vulkan:%08x%08x", p->vendorID, p->deviceID);
  if (f->has[VULKAN_DRIVER_PROPERTIES])
    snprintf(c->driver, sizeof c->driver, "%.24s %.36s", f->driver.driverName, f->driver.driverInfo);
  else
    snprintf(c->driver, sizeof c->driver, "driver %u", p->driverVersion);
  memcpy(c->uuid, f->id.deviceUUID, sizeof c->uuid);
  c->driver_version = p->driverVersion;
  c->api_version = f->api;
  c->vendor_id = p->vendorID;
  c->device_id = p->deviceID;
  c->pci = UINT64_MAX;
  if (f->has[VULKAN_PCI])
    c->pci = (uint64_t)f->pci.pciDomain << 16 | f->pci.pciBus << 8 | f->pci.pciDevice << 3 | f->pci.pciFunction;
  c->numa_node = -1;
  c->dlpack_type = DLPACK_VULKAN;
}

/* Sizes that a pipeline can require. Without size control nobody knows which one a launch gets. */
static void describe_subgroups(const vulkan_facts *f, spirv_target *target, vyre_capabilities *c) {
  const uint32_t operations = SPIRV_VOTE | SPIRV_BALLOT | SPIRV_SHUFFLE;
  c->subgroup_sizes = c->subgroup_size = 1;
  if (!VULKAN_HAS(f, SIZE_CONTROL) || !VULKAN_HAS(f, FULL_SUBGROUPS) ||
      (f->sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0 ||
      (target->features & operations) != operations || f->sizes.minSubgroupSize > 32)
    return;
  uint32_t sizes = 0, largest = 0;
  for (uint32_t size = 1; size <= 32; size *= 2)
    if (size >= f->sizes.minSubgroupSize && size <= f->sizes.maxSubgroupSize) sizes |= largest = size;
  if (sizes == 0) return;
  c->needs |= VYRE_NEED_SUBGROUP;
  c->subgroup_sizes = sizes;
  c->subgroup_size = (sizes & f->subgroup.subgroupSize) != 0 ? f->subgroup.subgroupSize : largest;
}

static void describe_needs(const vulkan_facts *f, vyre_capabilities *c) {
  static const struct { uint64_t has, gives; } same[] = {
    { VULKAN_BIT(INT64), VYRE_NEED_INT64 },
    { VULKAN_BIT(FLOAT64) | VULKAN_BIT(INT64), VYRE_NEED_FLOAT64 }, /* its bits are handled as integers */
    { VULKAN_BIT(ATOMIC64) | VULKAN_BIT(SHARED_ATOMIC64), VYRE_NEED_ATOMIC64 },
  };
  c->needs = needs_of_all;
  for (uint32_t i = 0; i < sizeof same / sizeof *same; i++)
    if ((f->features & same[i].has) == same[i].has) c->needs |= same[i].gives;
  c->numeric = numeric_of_all;
}

static void describe_limits(const vulkan_facts *f, const spirv_target *target, vyre_capabilities *c) {
  const VkPhysicalDeviceLimits *l = &f->properties.limits;
  c->max_workgroup_invocations = l->maxComputeWorkGroupInvocations;
  memcpy(c->max_workgroup, l->maxComputeWorkGroupSize, sizeof c->max_workgroup);
  c->max_shared_bytes = l->maxComputeSharedMemorySize;
  c->max_bindings = target->storage_buffers > HIDDEN_BUFFERS ? target->storage_buffers - HIDDEN_BUFFERS : 1;
  /* The launch block has each parameter and, for each binding, its length and maybe its address. */
  c->max_param_bytes = target->uniform_bytes / 2;
  if ((target->features & SPIRV_ADDRESSES) != 0) c->max_bindings = target->uniform_bytes / 2 / 16 - HIDDEN_BUFFERS - 8;
  c->can = VYRE_CAN_DEVICE_LENGTH | VYRE_CAN_INDIRECT_GRID;
  for (uint32_t i = 0; i < f->family_count; i++)
    if ((f->families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0 && f->families[i].timestampValidBits > 0)
      c->can |= VYRE_CAN_TIMESTAMP;
  c->max_queues = QUEUES;
  c->max_buffer_bytes = f->max_buffer_bytes;
  uint64_t alignment = l->minStorageBufferOffsetAlignment;
  c->binding_alignment = alignment < 16 ? 16 : alignment > 256 ? 256 : (uint32_t)alignment;
}

static void describe_handles(const vulkan_facts *f, vyre_capabilities *c) {
  if (f->has[VULKAN_EXTERNAL_HOST]) c->import_kinds |= 1u << VYRE_HANDLE_HOST_POINTER;
  if (f->has[VULKAN_EXTERNAL_FD]) c->import_kinds |= 1u << VYRE_HANDLE_FD;
  if (f->exports) c->export_kinds |= 1u << VYRE_HANDLE_FD;
  if (VULKAN_HAS(f, ADDRESS)) c->export_kinds |= 1u << VYRE_HANDLE_DEVICE_POINTER;
}

static void describe_memory(const vulkan_facts *f, vyre_capabilities *c) {
  c->memory_type_count = vulkan_memory_kinds(f, c->memory_types);
  c->memory_heap_count = lesser(f->memory.memoryHeapCount, VYRE_MAX_MEMORY_HEAPS);
  for (uint32_t i = 0; i < c->memory_heap_count; i++) {
    const VkMemoryHeap *heap = &f->memory.memoryHeaps[i];
    bool local = (heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    c->memory_heaps[i] = (vyre_memory_heap){ .bytes = heap->size, .properties = local ? VYRE_MEMORY_DEVICE_LOCAL : 0 };
  }
}

void vulkan_describe(vulkan_facts *f) {
  vyre_capabilities *c = &f->caps;
  spirv_target target = target_of(f);
  memset(c, 0, sizeof *c);
  c->size = sizeof *c;
  describe_identity(f, c);
  describe_needs(f, c);
  describe_subgroups(f, &target, c);
  describe_limits(f, &target, c);
  describe_handles(f, c);
  describe_memory(f, c);
  spirv_target_keep(&target, c);
}

/* ---- Profile --------------------------------------------------------------------------------- */

/* The least that the tables "Required Limits" of the Vulkan specification allow. */
void vulkan_describe_profile(vyre_capabilities *out) {
  enum { STORAGE_BUFFERS = 4 };
  const spirv_target target = { .version = 0x00010300,
                                .push_bytes = 128,
                                .storage_buffers = STORAGE_BUFFERS,
                                .uniform_bytes = LEAST_UNIFORM_BYTES };
  *out = (vyre_capabilities){
    .size = sizeof *out,
    .kind = VYRE_DEVICE_VIRTUAL,
    .profile = "vulkan",
    .pci = UINT64_MAX,
    .api_version = VK_API_VERSION_1_1,
    .numa_node = -1,
    .needs = needs_of_all,
    .numeric = numeric_of_all,
    .subgroup_sizes = 1,
    .subgroup_size = 1,
    .max_workgroup_invocations = 128,
    .max_workgroup = { 128, 128, 64 },
    .max_shared_bytes = 16384,
    .max_bindings = STORAGE_BUFFERS,
    .max_param_bytes = LEAST_UNIFORM_BYTES / 2,
    .binding_alignment = 256,
  };
  spirv_target_keep(&target, out);
}
