/* Executables: a blob from anywhere, checked against the device before the API sees any of it. */
#include "plugins/vulkan/work.h"

#include <stdlib.h>
#include <string.h>

/* ---- Checks ---------------------------------------------------------------------------------- */

static vyre_status lacks(const vyre_plugin_executable *e, const char *what, uint64_t wanted, uint64_t most,
                         vyre_error *error) {
  return gpu_fail(error, VYRE_ERR_LIMIT, e->name,
                  "the program needs %s %llu, and device %s has %llu. Fix: make it smaller, or choose another device",
                  what, (unsigned long long)wanted, e->device->facts->properties.deviceName, (unsigned long long)most);
}

static vyre_status check_features(const vyre_plugin_executable *e, vyre_error *error) {
  static const char *const names[] = {
#define X(name, bit) [bit] = #name,
    SPIRV_FEATURES(X)
#undef X
  };
  const spirv_target own = spirv_target_of(&e->device->facts->caps);
  const uint32_t missing = e->facts.features & ~own.features & ~(uint32_t)SPIRV_EXACTLY;
  if (e->facts.version > own.version)
    return lacks(e, "SPIR-V of version", e->facts.version >> 8, own.version >> 8, error);
  if (missing == 0) return VYRE_OK;
  uint32_t first = (uint32_t)__builtin_ctz(missing);
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, e->name,
                  "the program was compiled for %s, which device %s lacks. Fix: compile it for this device",
                  first < sizeof names / sizeof *names && names[first] != NULL ? names[first] : "a feature",
                  e->device->facts->properties.deviceName);
}

/* What the device promises only of code made with more care than this. */
static uint32_t careless(const vyre_plugin_executable *e) {
  const uint32_t lacking = spirv_target_of(&e->device->facts->caps).features & ~e->facts.features;
  return ((lacking & SPIRV_KEEP_32) != 0 ? VYRE_NUMERIC_SUBNORMALS | VYRE_NUMERIC_FMA : 0) |
         ((lacking & SPIRV_WIDE_32) != 0 ? VYRE_NUMERIC_DIVISION | VYRE_NUMERIC_FMA : 0);
}

static vyre_status check_numeric(const vyre_plugin_executable *e, vyre_error *error) {
  static const char *const names[] = { "kept subnormals", "fma rounded once", "division rounded once",
                                       "the order of zeros" };
  const uint32_t missing = e->blob.numeric & (~e->device->facts->caps.numeric | careless(e));
  if (missing == 0) return VYRE_OK;
  uint32_t first = (uint32_t)__builtin_ctz(missing);
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, e->name,
                  "the program relies on %s, which device %s does not promise. Fix: compile it for this device",
                  first < sizeof names / sizeof *names ? names[first] : "a promise",
                  e->device->facts->properties.deviceName);
}

static vyre_status check_subgroup(const vyre_plugin_executable *e, vyre_error *error) {
  const vulkan_facts *facts = e->device->facts;
  const uint32_t size = e->facts.subgroup;
  if (size == 0 || (facts->caps.subgroup_sizes & size) != 0) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, e->name,
                  "the program was compiled for subgroups of %u, and device %s has sizes whose sum is %u. Fix: compile "
                  "it for this device",
                  size, facts->properties.deviceName, facts->caps.subgroup_sizes);
}

static vyre_status check_entry(const vyre_plugin_executable *e, const vyre_kernel_entry *entry, vyre_error *error) {
  const VkPhysicalDeviceLimits *limits = &e->device->facts->properties.limits;
  uint32_t size[3];
  spirv_planned(entry, &e->facts, size);
  for (int axis = 0; axis < 3; axis++)
    if (size[axis] == 0 || size[axis] > limits->maxComputeWorkGroupSize[axis])
      return lacks(e, "a workgroup whose size along an axis is", size[axis], limits->maxComputeWorkGroupSize[axis],
                   error);
  uint64_t invocations = (uint64_t)size[0] * size[1] * size[2];
  if (invocations > limits->maxComputeWorkGroupInvocations)
    return lacks(e, "invocations of a workgroup:", invocations, limits->maxComputeWorkGroupInvocations, error);
  const uint64_t most = (uint64_t)e->facts.subgroup * e->device->facts->sizes.maxComputeWorkgroupSubgroups;
  if (e->facts.subgroup != 0 && vulkan_requires_size(e->device->facts) && invocations > most)
    return lacks(e, "invocations of a workgroup in subgroups of a size that is required:", invocations, most, error);
  if (entry->shared_bytes > limits->maxComputeSharedMemorySize)
    return lacks(e, "bytes of workgroup memory:", entry->shared_bytes, limits->maxComputeSharedMemorySize, error);
  return VYRE_OK;
}

/* The modules that are there fit the device. */
static vyre_status check_layouts(const vyre_plugin_executable *e, vyre_error *error) {
  const VkPhysicalDeviceLimits *limits = &e->device->facts->properties.limits;
  const uint32_t most = limits->maxPerStageDescriptorStorageBuffers < limits->maxDescriptorSetStorageBuffers
                          ? limits->maxPerStageDescriptorStorageBuffers
                          : limits->maxDescriptorSetStorageBuffers;
  for (int mode = 0; mode < SPIRV_MODES; mode++) {
    const spirv_layout *layout = &e->modules[mode].layout;
    if (e->facts.module_bytes[mode] == 0) continue;
    if (layout->storage > most) return lacks(e, "storage buffers:", layout->storage, most, error);
    if (layout->push_bytes > limits->maxPushConstantsSize)
      return lacks(e, "bytes of push constants:", layout->push_bytes, limits->maxPushConstantsSize, error);
    if (layout->block_bytes > limits->maxUniformBufferRange)
      return lacks(e, "bytes of parameters:", layout->block_bytes, limits->maxUniformBufferRange, error);
  }
  return VYRE_OK;
}

static vyre_status check(vyre_plugin_executable *e, vyre_error *error) {
  vyre_status status = gpu_check_needs(e->blob.needs, e->device->facts->caps.needs, e->name, error);
  if (status == VYRE_OK) status = check_numeric(e, error);
  if (status == VYRE_OK) status = check_features(e, error);
  if (status == VYRE_OK) status = check_subgroup(e, error);
  for (uint32_t i = 0; i < e->kernel->entries.count && status == VYRE_OK; i++)
    status = check_entry(e, gpu_entry(e->kernel, i), error);
  return status == VYRE_OK ? check_layouts(e, error) : status;
}

/* ---- Loading --------------------------------------------------------------------------------- */

static vyre_status read_blob(vyre_plugin_executable *e, uint64_t bytes, vyre_error *error) {
  vyre_status status = gpu_blob_read(vulkan_build_id, e->bytes, bytes, &e->blob, error);
  if (status != VYRE_OK) return status;
  e->kernel = e->blob.kernel;
  e->name = VYRE_KERNEL_TEXT(e->kernel, e->kernel->name);
  if (!spirv_facts_read(e->blob.facts, e->blob.code_bytes, &e->facts))
    return gpu_fail(error, VYRE_ERR_INVALID_FILE, e->name,
                    "the executable says of its code what can't be true. Fix: compile the program again");
  for (int mode = 0; mode < SPIRV_MODES; mode++)
    e->modules[mode].layout = spirv_layout_of(e->kernel, &e->facts, (spirv_mode)mode);
  return VYRE_OK;
}

/* Constant tables are bound like a buffer. */
static vyre_status bring_tables(vyre_plugin_executable *e, vyre_error *error) {
  const vyre_kernel_table *tables = &e->kernel->table_bytes;
  if (tables->count == 0) return VYRE_OK;
  const uint64_t bytes = ((uint64_t)tables->count + 15) & ~(uint64_t)15;
  const uint32_t most = e->device->facts->properties.limits.maxStorageBufferRange;
  if (bytes > most) return lacks(e, "bytes of constant tables:", bytes, most, error);
  vyre_status status =
    vulkan_buffer_make(e->device, VYRE_MEMORY_HOST_WRITE | VYRE_MEMORY_COHERENT, bytes, &e->tables, error);
  if (status == VYRE_OK) memcpy(e->tables->host, (const uint8_t *)e->kernel + tables->offset, tables->count);
  return status;
}

/* The pipelines that most launches take are there when loading ends. */
static vyre_status make_first_pipelines(vyre_plugin_executable *e, vyre_error *error) {
  spirv_mode mode = e->facts.module_bytes[SPIRV_BOUND] != 0 ? SPIRV_BOUND : SPIRV_ADDRESSED;
  const vulkan_module *module;
  return vulkan_pipelines(e, mode, e->modules[mode].layout.push_bytes != 0 ? VULKAN_BLOCK_PUSHED : VULKAN_BLOCK_BOUND,
                          &module, error);
}

vyre_status vulkan_executable_load(vyre_plugin_device *device, const void *blob, uint64_t bytes,
                                   vyre_plugin_executable **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vulkan_alive(device, error);
  if (status != VYRE_OK) return status;
  vyre_plugin_executable *e = calloc(1, sizeof *e);
  if (e == NULL) return gpu_no_memory(error);
  e->device = device;
  pthread_mutex_init(&e->lock, NULL);
  e->bytes = blob != NULL && bytes < SIZE_MAX ? malloc((size_t)bytes + 1) : NULL;
  if (e->bytes != NULL) memcpy(e->bytes, blob, (size_t)bytes);
  status = e->bytes != NULL ? read_blob(e, bytes, error) : gpu_no_memory(error);
  if (status == VYRE_OK) status = check(e, error);
  if (status == VYRE_OK) status = bring_tables(e, error);
  if (status == VYRE_OK) status = make_first_pipelines(e, error);
  if (status == VYRE_OK) *out = e;
  else vulkan_executable_destroy(e);
  return status;
}

void vulkan_executable_destroy(vyre_plugin_executable *e) {
  vulkan_pipelines_destroy(e);
  vulkan_lanes_note_destroyed(e->device);
  if (e->tables != NULL) vulkan_buffer_destroy(e->tables);
  pthread_mutex_destroy(&e->lock);
  free(e->bytes);
  free(e);
}

/* ---- What it is ------------------------------------------------------------------------------ */

/* The largest among the entry points. */
static void add_entries(const vyre_plugin_executable *e, vyre_launch_report *r) {
  for (uint32_t i = 0; i < e->kernel->entries.count; i++) {
    const vyre_kernel_entry *entry = gpu_entry(e->kernel, i);
    if (i == 0) {
      memcpy(r->declared_workgroup, entry->workgroup, sizeof r->declared_workgroup);
      spirv_planned(entry, &e->facts, r->planned_workgroup);
    }
    if (entry->shared_bytes > r->shared_bytes) r->shared_bytes = entry->shared_bytes;
    if (entry->local_bytes > r->scratch_bytes) r->scratch_bytes = entry->local_bytes;
  }
}

vyre_status vulkan_executable_report(vyre_plugin_executable *e, vyre_launch_report *out, vyre_error *error) {
  vyre_plugin_device *device = e->device;
  vyre_status status = vulkan_alive(device, error);
  if (status != VYRE_OK) return status;
  const vyre_capabilities *caps = &device->facts->caps;
  const bool reaches_host = (caps->can & VYRE_CAN_HOST_COHERENT_ATOMICS) != 0;
  vyre_launch_report r = { .size = sizeof r,
                           .flags = reaches_host ? 0 : VYRE_REPORT_SYSTEM_IS_DEVICE,
                           .subgroup_size = e->facts.subgroup != 0 ? e->facts.subgroup : caps->subgroup_size,
                           .entry_points = e->kernel->entries.count };
  add_entries(e, &r);
  vulkan_pipeline_statistics(e, &r);
  pthread_mutex_lock(&device->work->lock);
  memcpy(r.launched_grid, e->grid, sizeof r.launched_grid);
  r.launches = e->launches;
  pthread_mutex_unlock(&device->work->lock);
  r.spill_bytes = gpu_spill_bytes(e->kernel, r.launched_grid);
  gpu_answer(out, &r, sizeof r);
  return VYRE_OK;
}

/* Vulkan promises no more than that one workgroup runs. */
vyre_status vulkan_max_resident(vyre_plugin_executable *e, uint64_t *workgroups, vyre_error *error) {
  *workgroups = 0;
  vyre_status status = vulkan_alive(e->device, error);
  if (status == VYRE_OK) *workgroups = 1;
  return status;
}
