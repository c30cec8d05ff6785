/* What a run ran on and was built from: strings for the report. */
#ifndef VYRE_BENCH_MACHINE_H
#define VYRE_BENCH_MACHINE_H

#include <vyre/device.h>

#include "record.h"

/* The commit that this was built from, "" outside of a checkout, and whether its files had been changed. */
extern const char bench_commit[];
extern const bool bench_dirty;

/* Fills host, commit, dirty, compiler, flags, time and run_id. False without memory. */
bool bench_machine_describe(bench_report *report);
/* Fills device and backends: the device that the run uses, and every plugin that was found. */
bool bench_device_describe(bench_report *report, vyre_context *context, vyre_device *device);

#endif
