/* The ways to run a program: by the oracle as it is written, by the engine of plugins/template as its kernel, by a
 * device of libvyre. */
#ifndef VYRE_TESTS_LOWER_RUNS_H
#define VYRE_TESTS_LOWER_RUNS_H

#include <vyre/device.h>

#include "outcome.h"
#include "targets.h"

/* Each prepares the outcome and fills it. |reverse|: invocations take their turns from the last to the first. */
void run_oracle(vyre_program *p, const run_case *c, bool reverse, outcome *out);
void run_engine(vyre_program *p, const run_case *c, target t, bool reverse, outcome *out);
/* The work budget is not given. */
void run_device(vyre_program *p, const run_case *c, vyre_device *device, outcome *out);

#endif
