/* A machine that runs PTX on the host, as far as the emitter writes it: by what the PTX ISA says, and with rubbish
 * wherever it says nothing (registers that were not written, division by 0, lanes that do not exist). Accesses outside
 * of the memory that it was given, or not aligned to their size, end the run. Warps have 32 lanes; threads run one at a
 * time and meet at barriers, shuffles and votes. */
#ifndef VYRE_TESTS_CUDA_MACHINE_H
#define VYRE_TESTS_CUDA_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct machine_code machine_code;

/* Reads a module. NULL, and |why|, if it has what the machine does not know. |text| outlives what is made. */
machine_code *machine_read(const char *text, char *why, uint32_t room);
void machine_free(machine_code *code);

typedef struct machine_range {
  uint8_t *data;
  uint64_t bytes;
} machine_range;

typedef struct machine_launch {
  const machine_code *code;
  uint32_t entry;
  uint32_t grid[3];
  const uint8_t *params; /* all bytes of the parameters: block, then pointers */
  uint32_t block_bytes;  /* where pointers begin */
  const machine_range *ranges; /* global memory */
  uint32_t range_count;
  bool together;         /* the grid is resident */
  bool backwards;        /* from the last thread to the first */
} machine_launch;

/* False, and |why|, if the run can't go on. */
bool machine_run(const machine_launch *launch, char *why, uint32_t room);

#endif
