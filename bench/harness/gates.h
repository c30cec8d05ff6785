/* Twelve questions to a report as a whole, whose answers decide whether it is evidence. */
#ifndef VYRE_BENCH_GATES_H
#define VYRE_BENCH_GATES_H

#include <stdbool.h>

#include <vyre/status.h>

#include "record.h"

/* Fills the gates of the report; needs verdicts, so bench_targets_judge comes first. VYRE_ERR_NO_MEMORY. */
vyre_status bench_gates_judge(bench_report *report);
/* Whether it may be kept and quoted as evidence: it was judged, and no gate failed. */
bool bench_report_is_evidence(const bench_report *report);
/* Whether something is wrong with vyre: no result or a wrong one, or a target of quality "gate" that it fails. */
bool bench_report_failed(const bench_report *report);

#endif
