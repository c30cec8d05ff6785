/* Inside a launch: workgroups and their invocations. */
#ifndef TEMPLATE_GROUP_H
#define TEMPLATE_GROUP_H

#include "engine.h"

typedef enum turn { TURN_RUNS, TURN_WAITS, TURN_ENDED } turn;

typedef struct invocation {
  uint32_t pc; /* number of its next instruction */
  turn turn;
  uint32_t lid[3];
  cell *cells; /* results of the entry point, then its slots */
  uint8_t *locals;
} invocation;

/* The launch block and the memory that the engine brings. */
typedef struct run {
  const engine_launch *launch;
  const engine_code *code;
  const vyre_kernel_entry *entry; /* the one that runs */
  uint32_t entry_number, invocations, subgroup;
  uint8_t *block;
  engine_memory hidden[VYRE_KERNEL_HIDDEN_STOP + 1];
  uint32_t no_stop;               /* the stop word where the host has none */
  bool stopped;
  uint64_t stop_calls, started_ns;
  engine_report *report;
  engine_fault *fault;
} run;

typedef struct group {
  run *run;
  uint32_t wid[3];
  invocation *invocations;
  cell *cells;
  uint8_t *shared, *locals;
} group;

/* An operand: a constant, or a result of the entry point. */
static inline const cell *group_value(const group *g, const invocation *v, uint32_t value) {
  const engine_code *code = g->run->code;
  if (value <= code->header->constants.count) return &code->constants[value];
  return &v->cells[value - code->first_value[g->run->entry_number]];
}
static inline cell *group_result(const group *g, invocation *v, uint32_t value) {
  return &v->cells[value - g->run->code->first_value[g->run->entry_number]];
}

/* Runs one invocation until it waits, ends or has had its turn. run.c */
void group_run_invocation(group *g, invocation *v);
/* Copies as COPY_ASYNC of |v| says. run.c */
void group_copy(group *g, invocation *v, const step *s);

#endif
