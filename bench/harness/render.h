/* A report to memory, by any of its writers. */
#ifndef VYRE_BENCH_RENDER_H
#define VYRE_BENCH_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/writer.h"
#include "record.h"

/* Appends what |write| writes to |out|; false without memory. (A stream of open_memstream loses bytes without memory
 * and does not tell.) */
bool bench_render(const bench_report *report, bool (*write)(FILE *, const bench_report *), vyre_writer *out);

#endif
