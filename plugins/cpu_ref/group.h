/* A workgroup while it runs. */
#ifndef CPU_GROUP_H
#define CPU_GROUP_H

#include "launch.h"
#include "cpu_limits.h"

typedef enum cpu_state {
  CPU_RUNS,
  CPU_WAITS, /* at the collective that its pc names */
  CPU_ENDED
} cpu_state;

typedef struct cpu_invocation {
  uint32_t pc;
  uint8_t state;    /* cpu_state */
  bool trapped;
  bool expired;     /* the step limit was reached: no more stores, atomics and iterations */
  bool all_expired; /* it was reached in a loop with a barrier, by the whole workgroup */
  uint32_t lid[3];
  uint64_t steps;   /* back edges so far, of loops without barrier */
} cpu_invocation;

/* Elements of a buffer of the program; base is for bound ones and tables. */
typedef struct cpu_view {
  uint8_t *base;
  uint64_t length;
} cpu_view;

/* What all workgroups of a launch share. */
typedef struct cpu_run {
  const cpu_launch *launch;
  const cpu_code *code;
  cpu_report *report;
  cpu_view *views;      /* by binding */
  cpu_cell *shared;     /* the shared cells */
  uint64_t started_ns;
  uint64_t stop_calls;  /* of should_stop so far */
  bool stopped;         /* should_stop was true once */
  uint32_t pause_ns;    /* longest pause that was asked for in this turn */
  char fault[256];      /* why the launch failed, for people */
} cpu_run;

typedef struct cpu_group {
  cpu_run *run;
  uint32_t wid[3];
  cpu_invocation *invocations;
  cpu_cell *frames;        /* code->cells for each invocation */
  uint8_t *locals;         /* code->local_bytes for each */
  uint8_t *shared;         /* code->shared_bytes */
  uint64_t *counters;      /* code->counters for each: back edges of loops with a barrier */
  uint32_t *runnable;      /* invocations that run, in the order of their turns */
  uint32_t runnable_count;
  bool arrived;            /* an invocation came to a collective in the last turn */
  bool expired;            /* an invocation reached the step limit */
} cpu_group;

static inline cpu_cell *cpu_frame(const cpu_group *g, uint32_t invocation) {
  return g->frames + (size_t)invocation * g->run->code->cells;
}

/* The cell that an operand names. */
static inline cpu_cell *cpu_operand(const cpu_group *g, uint32_t invocation, uint32_t operand) {
  if (operand & CPU_SHARED_CELL) return g->run->shared + (operand & ~CPU_SHARED_CELL);
  return cpu_frame(g, invocation) + operand;
}

static inline uint32_t cpu_gid(const cpu_group *g, uint32_t invocation, uint32_t axis) {
  return g->wid[axis] * g->run->code->program->workgroup[axis] + g->invocations[invocation].lid[axis];
}

uint64_t cpu_now_ns(void);

/* One turn: every invocation that runs executes one statement. run.c */
void cpu_group_turn(cpu_group *g);
/* A load with its check. */
void cpu_run_load(cpu_group *g, uint32_t invocation, uint32_t binding, uint64_t index, cpu_cell *out);
/* Copies |count| elements with their checks. */
void cpu_run_copy(cpu_group *g, uint32_t invocation, const cpu_insn *in);

/* Lets invocations go on whose collective is complete; grid barriers are left to the caller.
 * Errors: NONUNIFORM, then run->fault says where. collective.c */
vyre_status cpu_group_meet(cpu_group *g);
/* If all that live wait at one grid barrier, its instruction; else UINT32_MAX. */
uint32_t cpu_group_grid_barrier(const cpu_group *g);
/* Lets all that wait go on behind the instruction where they wait. */
void cpu_group_release(cpu_group *g);
/* Makes the list of those that run. */
void cpu_group_list(cpu_group *g);

#endif
