/* What is told about a run besides its results: the launch report and the times, as text on stderr or as JSON. */
#ifndef VYRE_TOOLS_REPORT_H
#define VYRE_TOOLS_REPORT_H

#include <vyre/device.h>

#include "json.h"

/* Durations of repeated runs in ns, sorted. */
typedef struct run_times {
  uint64_t *whole;  /* binding, copies and the run */
  uint64_t *device; /* on the device, 0 where it does not tell */
  uint32_t count;
} run_times;

void report_text(const vyre_device *device, const vyre_launch_report *report, const vyre_completion *completion);
void report_json(json_writer *j, const vyre_launch_report *report, const vyre_completion *completion);

void report_sort_times(run_times *times);
void report_times_text(const run_times *times);
void report_times_json(json_writer *j, const run_times *times);

#endif
