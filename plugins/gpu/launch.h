/* What every launch needs that no device API knows: the launch block, grids in pieces, budgets, and what the
 * diagnostics buffer says afterwards. */
#ifndef GPU_LAUNCH_H
#define GPU_LAUNCH_H

#include "plugins/gpu/kernel.h"

/* One dispatch of one kernel. */
typedef struct gpu_launch {
  const vyre_kernel_header *kernel;
  const void *params;       /* kernel->param_bytes; NULL for all zero */
  const uint64_t *elements; /* by slot */
  uint32_t grid[3];         /* of the whole dispatch */
  uint32_t origin[3];       /* of this piece */
  uint32_t command;         /* number of the dispatch in its batch */
  uint64_t work_budget, time_budget_ns;
} gpu_launch;

/* Writes kernel->launch_bytes bytes. */
void gpu_launch_block(const gpu_launch *launch, void *to);
/* Errors: LIMIT (a work budget that does not fit, a spill buffer above 2^32 bytes), UNSUPPORTED (a time budget without
 * a clock). */
vyre_status gpu_launch_check(const gpu_launch *launch, vyre_error *error);
/* Bytes of the spill binding for a grid; 0 for a kernel without one. gpu_launch_check has passed. */
uint64_t gpu_spill_bytes(const vyre_kernel_header *kernel, const uint32_t grid[3]);

/* Walks a grid in pieces that fit |limit| on each axis, x fastest:
 *   gpu_piece piece = { 0 };
 *   while (gpu_next_piece(grid, limit, &piece)) launch piece.size groups from piece.origin;
 * A grid with an axis of 0 has no piece. */
typedef struct gpu_piece {
  uint32_t origin[3], size[3];
  bool begun;
} gpu_piece;
bool gpu_next_piece(const uint32_t grid[3], const uint32_t limit[3], gpu_piece *piece);

/* Adds what a dispatch left in its diagnostics buffer to |completion|, which is the plugin's own whole record, and moves
 * whole print records to |prints| behind *used words, as far as |room| goes; what finds none is dropped and counted.
 * |bytes| is the size of the buffer; what the device wrote is not trusted. */
void gpu_read_diagnostics(const void *diagnostics, uint64_t bytes, vyre_completion *completion, uint64_t *prints,
                          uint64_t room, uint64_t *used);

#endif
