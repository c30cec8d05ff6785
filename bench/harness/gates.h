/* Twelve questions to a report as a whole, whose answers decide whether it is evidence. */
#ifndef VYRE_BENCH_GATES_H
#define VYRE_BENCH_GATES_H

#include <stdbool.h>

#include <vyre/status.h>

#include "record.h"

/* Fills the gates of the report; needs verdicts, so bench_targets_judge comes first. VYRE_ERR_NO_MEMORY. */
vyre_status bench_gates_judge(bench_report *report);
/* Whether one of them, or a target whose quality is "gate", failed. */
bool bench_report_failed(const bench_report *report);

#endif
