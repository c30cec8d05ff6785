/* Programs in text, run by the engine of the reference interpreter. Whatever fails on the way ends the test with the
 * diagnostics. */
#ifndef VYRE_TESTS_TRIAL_H
#define VYRE_TESTS_TRIAL_H

#include "../../plugins/cpu_ref/launch.h"
#include "holds.h"

enum { TRIAL_MAX = 16 };

typedef struct trial {
  vyre_program *program;
  cpu_code *code;
  uint64_t params[TRIAL_MAX];
  cpu_bound bound[TRIAL_MAX]; /* memory belongs to the trial */
  cpu_launch launch;          /* may be changed before a run */
  cpu_report report;
  vyre_error error;
} trial;

/* Parses and prepares; ulp_budget is 0. */
void trial_begin(trial *t, const char *text);
void trial_begin_with(trial *t, const char *text, const cpu_options *options);
void trial_end(trial *t);

/* Parses alone. */
vyre_program *trial_parse(const char *text);

/* Binds |elements| elements of zero and gives them. */
void *trial_bind(trial *t, const char *name, uint64_t elements);
void trial_set(trial *t, const char *name, uint64_t bits);
void trial_set_f32(trial *t, const char *name, float value);

/* One run over (x, y, z) workgroups. */
vyre_status trial_try(trial *t, uint32_t x, uint32_t y, uint32_t z);
/* Runs in both orders of lanes, each from what is bound now; both must end OK and leave the same memory. */
void trial_run(trial *t, uint32_t x, uint32_t y, uint32_t z);

#endif
