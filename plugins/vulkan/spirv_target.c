/* What is known about a target and about what was emitted, as numbers that records and blobs keep. */
#include "plugins/vulkan/spirv.h"

#include <string.h>

/* Tells the vendor numbers of this plugin from those of another; the lower half is a version of their meaning. */
static const uint32_t vendor_magic = 0x56530001u;

void spirv_target_keep(const spirv_target *target, vyre_capabilities *record) {
  const uint32_t words[8] = { vendor_magic,        target->features,        target->version,
                              target->push_bytes,  target->storage_buffers, target->uniform_bytes };
  memcpy(record->vendor, words, sizeof words);
}

spirv_target spirv_target_of(const vyre_capabilities *record) {
  spirv_target target = { .version = 0x00010300, .push_bytes = 128, .storage_buffers = 4, .uniform_bytes = 16384 };
  const bool is_ours = record->size >= offsetof(vyre_capabilities, vendor) + sizeof record->vendor &&
                       record->vendor[0] == vendor_magic;
  if (is_ours)
    target = (spirv_target){ .features = record->vendor[1],        .version = record->vendor[2],
                             .push_bytes = record->vendor[3],      .storage_buffers = record->vendor[4],
                             .uniform_bytes = record->vendor[5] };
  target.numeric = record->numeric;
  target.subgroup_size = record->subgroup_size;
  target.subgroup_sizes = record->subgroup_sizes;
  return target;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

void spirv_facts_keep(const spirv_facts *f, uint64_t words[SPIRV_FACT_WORDS]) {
  memset(words, 0, SPIRV_FACT_WORDS * sizeof *words);
  for (int mode = 0; mode < SPIRV_MODES; mode++)
    words[mode] = (uint64_t)f->module_offset[mode] << 32 | f->module_bytes[mode];
  words[2] = (uint64_t)f->subgroup << 32 | f->push_bytes;
  words[3] = (uint64_t)f->features << 32 | f->version;
}

static bool module_fits(const spirv_facts *f, int mode, uint64_t code_bytes) {
  uint64_t offset = f->module_offset[mode], bytes = f->module_bytes[mode];
  if (bytes == 0) return offset == 0;
  return offset % 16 == 0 && bytes % 4 == 0 && bytes >= 20 && offset <= code_bytes && bytes <= code_bytes - offset;
}

bool spirv_facts_read(const uint64_t words[SPIRV_FACT_WORDS], uint64_t code_bytes, spirv_facts *f) {
  *f = (spirv_facts){ .subgroup = (uint32_t)(words[2] >> 32), .push_bytes = (uint32_t)words[2],
                      .features = (uint32_t)(words[3] >> 32), .version = (uint32_t)words[3] };
  for (int mode = 0; mode < SPIRV_MODES; mode++) {
    f->module_offset[mode] = (uint32_t)(words[mode] >> 32);
    f->module_bytes[mode] = (uint32_t)words[mode];
    if (!module_fits(f, mode, code_bytes)) return false;
  }
  const bool is_size = f->subgroup <= 32 && (f->subgroup & (f->subgroup - 1)) == 0;
  return is_size && (f->module_bytes[SPIRV_BOUND] != 0 || f->module_bytes[SPIRV_ADDRESSED] != 0);
}

/* ---- Launching ------------------------------------------------------------------------------- */

static uint32_t aligned(uint64_t bytes, uint32_t align) { return (uint32_t)((bytes + align - 1) / align * align); }

spirv_layout spirv_layout_of(const vyre_kernel_header *kernel, const spirv_facts *facts, spirv_mode mode) {
  const bool has_tables = kernel->table_bytes.count != 0;
  const uint32_t bound = kernel->bindings.count + kernel->hidden_bindings.count;
  spirv_layout layout = { .buffers = bound + has_tables, .table_buffer = has_tables ? bound : UINT32_MAX };
  uint64_t bytes = layout.address_offset = aligned(kernel->launch_bytes, 8);
  if (mode == SPIRV_ADDRESSED) bytes += (uint64_t)layout.buffers * 8;
  else layout.storage = layout.block_binding = layout.buffers;
  layout.block_bytes = aligned(bytes, 16);
  if (layout.block_bytes <= facts->push_bytes) layout.push_bytes = layout.block_bytes;
  return layout;
}

void spirv_planned(const vyre_kernel_entry *entry, const spirv_facts *facts, uint32_t workgroup[3]) {
  memcpy(workgroup, entry->workgroup, sizeof entry->workgroup);
  if (facts->subgroup == 0) return;
  uint32_t invocations = workgroup[0] * workgroup[1] * workgroup[2];
  workgroup[0] = aligned(invocations, facts->subgroup);
  workgroup[1] = workgroup[2] = 1;
}
