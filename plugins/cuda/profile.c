/* Records of what can be compiled for: what an architecture fixes, with or without a device. */
#include "plugins/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "cuda:sm_";

/* Architectures that a program can be compiled for where no device is. A device has a profile of its own number. */
static const struct {
  uint32_t sm;
  char variant;
} architectures[] = { { 75, 0 }, { 80, 0 }, { 86, 0 }, { 89, 0 }, { 90, 0 }, { 90, 'a' }, { 100, 0 }, { 120, 0 } };

void cuda_describe_architecture(uint32_t sm, char variant, vyre_capabilities *out) {
  *out = (vyre_capabilities){
    .size = sizeof *out,
    .kind = VYRE_DEVICE_DISCRETE,
    .pci = UINT64_MAX,
    .vendor_id = 0x10DE,
    .numa_node = -1,
    .dlpack_type = 2, /* kDLCUDA */
    .forward_progress = VYRE_PROGRESS_WORKGROUPS,
    .needs = PTX_NEEDS,
    .numeric = VYRE_NUMERIC_SUBNORMALS | VYRE_NUMERIC_FMA | VYRE_NUMERIC_DIVISION | VYRE_NUMERIC_ZERO_ORDER,
    .subgroup_sizes = 1 + 2 + 4 + 8 + 16 + 32,
    .subgroup_size = 32,
    .max_workgroup_invocations = 1024,
    .max_workgroup = { 1024, 1024, 64 },
    .max_shared_bytes = PTX_STATIC_SHARED,
    .max_bindings = 256,
    .max_param_bytes = 2048,
  };
  snprintf(out->profile, sizeof out->profile, "%s%u%.1s", prefix, sm, variant != 0 ? &variant : "");
  snprintf(out->name, sizeof out->name, "NVIDIA GPU of compute capability %u.%u", sm / 10, sm % 10);
  snprintf(out->driver, sizeof out->driver, "none");
}

bool cuda_profile(uint32_t index, vyre_capabilities *out) {
  if (index >= sizeof architectures / sizeof *architectures) return false;
  cuda_describe_architecture(architectures[index].sm, architectures[index].variant, out);
  return true;
}

uint32_t cuda_architecture_of(const vyre_capabilities *record) {
  const size_t skip = sizeof prefix - 1;
  char *end;
  if (strncmp(record->profile, prefix, skip) != 0 || memchr(record->profile, 0, sizeof record->profile) == NULL)
    return 0;
  unsigned long sm = strtoul(record->profile + skip, &end, 10);
  bool is_one = sm >= PTX_MIN_SM && sm < 1000 && (end[0] == 0 || (end[0] == 'a' && end[1] == 0));
  return is_one ? (uint32_t)sm : 0;
}
