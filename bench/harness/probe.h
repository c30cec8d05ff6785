/* The machine's own speeds, by peers that measure them: the first step of a run, and what bounds are computed from. */
#ifndef VYRE_BENCH_PROBE_H
#define VYRE_BENCH_PROBE_H

#include "record.h"
#include "run.h"

/* Asks every peer in the options' directory for every probe of probes.def and fills the report's. Of several peers on
 * one device the best answer counts. A peer that has no such probe or fails is passed over. |bytes| is the working
 * set of those of memory, 0 to let each peer choose. False without memory. */
bool bench_probe_all(const bench_options *options, uint64_t bytes, bench_report *report);

/* The value of a probe for the device that vyre runs on, or the host if |of_host|; NULL if it was not measured. */
const bench_probe *bench_probe_find(const bench_report *report, const char *name, const char *device, bool of_host);

#endif
