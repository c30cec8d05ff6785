/* What became of a submission: the completion record, timestamps and prints, read from a recording's memory. */
#include "plugins/vulkan/work.h"

#include <string.h>

/* ---- Time ------------------------------------------------------------------------------------ */

/* Ticks of the device's clock in ns. The period is any float, and 64 bits of ticks need more than a double. */
static uint64_t ns_of(const vulkan_recording *r, uint64_t ticks) {
  return (uint64_t)((long double)ticks * (long double)r->batch->device->facts->properties.limits.timestampPeriod);
}

static uint64_t ticks_of(const vulkan_recording *r, uint64_t query) {
  return r->timestamp_bits >= 64 ? query : query & ((1ull << r->timestamp_bits) - 1);
}

static bool read_queries(const vulkan_recording *r, uint32_t first, uint32_t count, uint64_t *out) {
  const vyre_plugin_device *device = r->batch->device;
  return device->vk.vkGetQueryPoolResults(device->handle, r->queries, first, count, count * sizeof *out, out,
                                          sizeof *out, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS;
}

/* The clock may wrap between the two. */
static uint64_t time_between(const vulkan_recording *r) {
  uint64_t ticks[2];
  if (r->queries == VK_NULL_HANDLE || !read_queries(r, VULKAN_QUERY_BEGIN, 2, ticks)) return 0;
  return ns_of(r, ticks_of(r, ticks[1] - ticks[0]));
}

static void read_timestamps(const vulkan_submission *s) {
  const vulkan_recording *r = s->recording;
  uint32_t query = VULKAN_QUERY_FIRST;
  for (uint64_t i = 0; i < r->batch->count; i++) {
    const vulkan_command *c = &r->batch->commands[i];
    uint64_t ticks;
    if (c->kind != VYRE_COMMAND_TIMESTAMP) continue;
    if (c->u.timestamp.index < s->timestamp_count && r->queries != VK_NULL_HANDLE && read_queries(r, query, 1, &ticks))
      s->timestamps[c->u.timestamp.index] = ns_of(r, ticks_of(r, ticks));
    query++;
  }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void read_diagnostics(const vulkan_submission *s, vyre_completion *record) {
  const vulkan_recording *r = s->recording;
  uint64_t used = 0;
  for (uint32_t i = 0; i < r->batch->plan_count; i++) {
    const vulkan_plan *plan = &r->batch->plans[i];
    if (plan->has_diagnostics && plan->pieces > 0)
      gpu_read_diagnostics(r->host->host + plan->diagnostics,
                           sizeof(vyre_kernel_diagnostics) + plan->print_words * sizeof(uint64_t), record, s->prints,
                           s->print_words, &used);
  }
  if (record->trap_count > 0) record->status = VYRE_ERR_TRAP;
}

/* The grid that a dispatch found on the device, for its report. */
static void read_grid(const vulkan_recording *r, const vulkan_plan *plan) {
  const vyre_dispatch *d = &plan->dispatch;
  const uint8_t *at = r->host->host + plan->gathered + d->set->lengths * 8u;
  for (int axis = 0; axis < 3; axis++) {
    uint32_t groups;
    memcpy(&groups, at + 4 * axis, sizeof groups);
    d->executable->grid[axis] = groups < d->grid[axis] ? groups : d->grid[axis];
  }
}

static void read_extents(const vulkan_submission *s, vyre_completion *record) {
  const vulkan_recording *r = s->recording;
  uint32_t clamped;
  if (!r->batch->patched) return;
  memcpy(&clamped, r->host->host + VULKAN_HOST_CLAMPED, sizeof clamped);
  record->clamped_extents = clamped;
  for (uint32_t i = 0; i < r->batch->plan_count; i++)
    if (r->batch->plans[i].indirect != 0) read_grid(r, &r->batch->plans[i]);
}

/* ---- The record ------------------------------------------------------------------------------ */

/* With the lock of work. What the device lost, or never got, has left nothing to read. */
void vulkan_complete(const vulkan_submission *s) {
  vyre_completion record = { .size = sizeof record, .status = s->status, .vendor_code = s->vendor_code };
  if (s->recording->batch->plan_count > 0)
    record.masked_loads = record.masked_stores = record.masked_atomics = VYRE_NOT_COUNTED;
  if (s->status == VYRE_OK) {
    read_diagnostics(s, &record);
    read_extents(s, &record);
    read_timestamps(s);
    record.device_ns = time_between(s->recording);
  } else {
    memcpy(record.text, s->text, sizeof record.text);
  }
  if (s->completion != NULL) gpu_answer(s->completion, &record, sizeof record);
}
