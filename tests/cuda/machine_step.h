/* One thread, one instruction. */
#ifndef VYRE_TESTS_CUDA_MACHINE_STEP_H
#define VYRE_TESTS_CUDA_MACHINE_STEP_H

#include "tests/cuda/machine_code.h"

typedef enum thread_state { THREAD_RUNS, THREAD_AT_BARRIER, THREAD_AT_LANES, THREAD_ENDED } thread_state;

typedef struct block block;

typedef struct thread {
  uint32_t number, pc, tid[3];
  thread_state state;
  block *block;
  uint64_t *reg[5]; /* r d p h q; two words each of q */
  uint8_t *local;
} thread;

struct block {
  uint32_t at[3], count;
  thread *threads;
  uint64_t *registers;
  uint8_t *shared, *locals;
};

typedef struct machine {
  const machine_launch *launch;
  const machine_code *code;
  const entry_code *entry;
  char *why;
  uint32_t room;
  bool failed;
  uint64_t turns;
} machine;

void machine_say(machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Runs one instruction, or makes the thread wait at it. */
void machine_step(machine *m, thread *t);
/* What the lanes that wait at a shuffle, vote or reduction get; NULL for those that take no part. */
void machine_lanes(machine *m, thread *lanes[32], const instruction *in);
uint32_t machine_mask(machine *m, thread *t);

/* Arithmetic, machine_ops.c: the result of an instruction that only computes. False if it is not known. */
bool machine_compute(const instruction *in, const uint64_t *x, uint64_t *result);
/* What an atomic leaves in memory. */
uint64_t machine_update(const char *op, const char *type, uint64_t old, uint64_t b, uint64_t c, bool flushes);

static inline bool machine_has(const instruction *in, const char *part) {
  for (uint32_t i = 1; i < in->part_count; i++)
    if (in->part[i][0] == part[0] && __builtin_strcmp(in->part[i], part) == 0) return true;
  return false;
}
static inline const char *machine_type(const instruction *in) { return in->part[in->part_count - 1]; }

#endif
