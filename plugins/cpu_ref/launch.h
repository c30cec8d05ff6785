/* One launch of a program over a grid of workgroups, on the calling thread. */
#ifndef CPU_LAUNCH_H
#define CPU_LAUNCH_H

#include "code.h"

/* What a launch binds to one slot. */
typedef struct cpu_bound {
  void *data;      /* aligned to 16; NULL only where length is 0 */
  uint64_t length; /* elements */
} cpu_bound;

typedef struct cpu_launch {
  const cpu_code *code;
  const uint64_t *params;   /* bits of each parameter, in declaration order */
  const cpu_bound *bound;   /* by slot */
  uint32_t grid[3];         /* workgroups */
  bool reverse;             /* invocations of a workgroup take their turns from the last to the first */
  bool together;            /* all workgroups take turns; else each begins when the one before it has ended */
  uint64_t memory_limit;    /* bytes that the state of invocations may take */
  const uint32_t *stop;     /* should_stop() is true once this word is not 0; NULL: there is none */
  const uint32_t *cancel;   /* the launch is given up once this word is not 0; NULL: there is none */
  uint64_t time_budget_ns;  /* 0: none */
  uint64_t work_budget;     /* calls of should_stop(); 0: none */
  uint64_t *prints;         /* room for print records (vyre_print_record) */
  uint64_t print_words;
  uint32_t command;         /* goes into print records */
  uint64_t *executed;       /* by instruction: how often it was run is added here; NULL: nobody asks */
} cpu_launch;

typedef struct cpu_report {
  uint64_t operations; /* instructions that were run */
  uint64_t masked_loads, masked_stores, masked_atomics; /* accesses out of range */
  uint64_t trap_count; /* invocations that trapped */
  uint32_t trap_code;  /* of the one that comes first in x, then y, then z */
  uint32_t trap_gid[3];
  uint64_t prints_written, prints_dropped;
  uint64_t print_words; /* used */
} cpu_report;

/* Runs to the end. The report is filled whatever the status. The floating-point environment is the default one
 * meanwhile, and the caller's again afterwards. An axis of 0 runs nothing.
 * Errors: OUT_OF_RANGE (ids beyond 32 bits), LIMIT (state above memory_limit), NO_MEMORY, TRAP, NONUNIFORM, CLOSED
 * (cancelled). */
vyre_status cpu_launch_run(const cpu_launch *launch, cpu_report *report, vyre_error *error);

/* Bytes of state that one workgroup takes. */
uint64_t cpu_group_bytes(const cpu_code *code);

#endif
