/* One row for each figure, so that text and JSON can not differ. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct row {
  const char *key;
  const char *label;
  const uint32_t *axes; /* three numbers, or NULL for one */
  uint64_t value;
  bool is_known; /* figures that a backend does not have are left out */
} row;

#define MAX_ROWS 24u

static uint32_t gather(const vyre_launch_report *r, const vyre_completion *c, row rows[MAX_ROWS]) {
  const row all[] = {
      {"declared_workgroup", "declared workgroup", r->declared_workgroup, 0, true},
      {"planned_workgroup", "planned workgroup", r->planned_workgroup, 0, true},
      {"launched_grid", "launched grid", r->launched_grid, 0, true},
      {"subgroup_size", "subgroup size", NULL, r->subgroup_size, true},
      {"entry_points", "entry points", NULL, r->entry_points, true},
      {"registers", "registers an invocation", NULL, r->registers, r->registers != 0},
      {"shared_bytes", "shared bytes a workgroup", NULL, r->shared_bytes, true},
      {"scratch_bytes", "scratch bytes an invocation", NULL, r->scratch_bytes, true},
      {"spill_bytes", "spill bytes", NULL, r->spill_bytes, true},
      {"max_resident", "resident workgroups at most", NULL, r->max_resident, r->max_resident != 0},
      {"launches", "launches", NULL, r->launches, true},
      {"masked_loads", "loads out of range", NULL, c->masked_loads, c->masked_loads != VYRE_NOT_COUNTED},
      {"masked_stores", "stores out of range", NULL, c->masked_stores, c->masked_stores != VYRE_NOT_COUNTED},
      {"masked_atomics", "atomics out of range", NULL, c->masked_atomics, c->masked_atomics != VYRE_NOT_COUNTED},
      {"prints_written", "prints", NULL, c->prints_written, true},
      {"prints_dropped", "prints dropped", NULL, c->prints_dropped, true},
      {"clamped_extents", "clamped extents", NULL, c->clamped_extents, true},
      {"device_ns", "device time in ns", NULL, c->device_ns, c->device_ns != 0},
  };
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (all[i].is_known) rows[count++] = all[i];
  return count;
}

void report_text(const vyre_device *device, const vyre_launch_report *report, const vyre_completion *completion) {
  row rows[MAX_ROWS];
  uint32_t count = gather(report, completion, rows);
  fprintf(stderr, "%-28s %s\n", "device", vyre_device_name(device));
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t *axes = rows[i].axes;
    if (axes) {
      fprintf(stderr, "%-28s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", rows[i].label, axes[0], axes[1], axes[2]);
    } else {
      fprintf(stderr, "%-28s %" PRIu64 "\n", rows[i].label, rows[i].value);
    }
  }
  if (report->flags & VYRE_REPORT_SYSTEM_IS_DEVICE) fputs("atomics of system scope reach the device only\n", stderr);
  if (report->flags & VYRE_REPORT_NATIVE_GRID_BARRIER) fputs("grid barriers run inside one launch\n", stderr);
}

void report_json(json_writer *j, const vyre_launch_report *report, const vyre_completion *completion) {
  row rows[MAX_ROWS];
  uint32_t count = gather(report, completion, rows);
  json_open(j, "report", '{');
  for (uint32_t i = 0; i < count; i++) {
    if (!rows[i].axes) {
      json_unsigned(j, rows[i].key, rows[i].value);
      continue;
    }
    json_open(j, rows[i].key, '[');
    for (int axis = 0; axis < 3; axis++) json_unsigned(j, NULL, rows[i].axes[axis]);
    json_close(j, ']');
  }
  json_boolean(j, "system_scope_is_device", (report->flags & VYRE_REPORT_SYSTEM_IS_DEVICE) != 0);
  json_boolean(j, "native_grid_barrier", (report->flags & VYRE_REPORT_NATIVE_GRID_BARRIER) != 0);
  json_close(j, '}');
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

void report_sort_times(run_times *times) {
  qsort(times->whole, times->count, sizeof *times->whole, compare);
  qsort(times->device, times->count, sizeof *times->device, compare);
}

static uint64_t median(const uint64_t *sorted, uint32_t count) {
  uint64_t low = sorted[(count - 1) / 2], high = sorted[count / 2];
  return low + (high - low) / 2;
}

static void line(const char *label, const uint64_t *sorted, uint32_t count) {
  fprintf(stderr, "%-28s %.6f %.6f %.6f ms\n", label, (double)sorted[0] * 1e-6, (double)median(sorted, count) * 1e-6,
          (double)sorted[count - 1] * 1e-6);
}

void report_times_text(const run_times *times) {
  fprintf(stderr, "%-28s %" PRIu32 " (least, median, most)\n", "timed runs", times->count);
  if (times->device[0]) line("on the device", times->device, times->count);
  line("with binding and copies", times->whole, times->count);
}

static void durations(json_writer *j, const char *key, const uint64_t *sorted, uint32_t count) {
  json_open(j, key, '{');
  json_unsigned(j, "least_ns", sorted[0]);
  json_unsigned(j, "median_ns", median(sorted, count));
  json_unsigned(j, "most_ns", sorted[count - 1]);
  json_close(j, '}');
}

void report_times_json(json_writer *j, const run_times *times) {
  json_open(j, "time", '{');
  json_unsigned(j, "runs", times->count);
  if (times->device[0]) durations(j, "device", times->device, times->count);
  durations(j, "whole", times->whole, times->count);
  json_close(j, '}');
}
