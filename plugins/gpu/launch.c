/* The launch block, grids in pieces, budgets, diagnostics. */
#include "plugins/gpu/launch.h"

#include <string.h>

static uint64_t word_of(const gpu_launch *l, uint32_t kind) {
  switch ((vyre_kernel_word)kind) {
    case VYRE_KERNEL_WORD_GRID_X: return l->grid[0];
    case VYRE_KERNEL_WORD_GRID_Y: return l->grid[1];
    case VYRE_KERNEL_WORD_GRID_Z: return l->grid[2];
    case VYRE_KERNEL_WORD_ORIGIN_X: return l->origin[0];
    case VYRE_KERNEL_WORD_ORIGIN_Y: return l->origin[1];
    case VYRE_KERNEL_WORD_ORIGIN_Z: return l->origin[2];
    case VYRE_KERNEL_WORD_COMMAND: return l->command;
    case VYRE_KERNEL_WORD_WORK_BUDGET: return l->work_budget;
    case VYRE_KERNEL_WORD_TIME_BUDGET: return l->time_budget_ns;
  }
  return 0;
}

void gpu_launch_block(const gpu_launch *l, void *to) {
  const vyre_kernel_header *k = l->kernel;
  uint8_t *block = to;
  memset(block, 0, k->launch_bytes);
  if (l->params != NULL) memcpy(block, l->params, k->param_bytes);
  for (uint32_t i = 0; i < k->bindings.count; i++)
    memcpy(block + VYRE_KERNEL_AT(vyre_kernel_binding, k, bindings, i)->count_offset, &l->elements[i],
           sizeof l->elements[i]);
  for (uint32_t i = 0; i < k->hidden_words.count; i++) {
    const vyre_kernel_hidden_word *w = VYRE_KERNEL_AT(vyre_kernel_hidden_word, k, hidden_words, i);
    uint64_t word = word_of(l, w->kind);
    memcpy(block + w->offset, &word, w->type.bits / 8u); /* little endian */
  }
}

/* The workgroups of a grid; UINT64_MAX for more. */
static uint64_t groups_of(const uint32_t grid[3]) {
  uint64_t groups = (uint64_t)grid[0] * grid[1];
  return __builtin_mul_overflow(groups, grid[2], &groups) ? UINT64_MAX : groups;
}

uint64_t gpu_spill_bytes(const vyre_kernel_header *kernel, const uint32_t grid[3]) {
  uint64_t bytes;
  return __builtin_mul_overflow(kernel->spill_bytes, groups_of(grid), &bytes) ? UINT64_MAX : bytes;
}

vyre_status gpu_launch_check(const gpu_launch *l, vyre_error *error) {
  const char *name = VYRE_KERNEL_TEXT(l->kernel, l->kernel->name);
  const uint64_t most_spill = 1ull << 32;
  if (l->work_budget > UINT32_MAX)
    return gpu_fail(error, VYRE_ERR_LIMIT, name,
                    "a work budget of %llu is above the limit of %u. Fix: give a smaller one or none",
                    (unsigned long long)l->work_budget, UINT32_MAX);
  if (l->time_budget_ns != 0 && l->kernel->flags & VYRE_KERNEL_NO_TIME_BUDGET)
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, name,
                    "the kernel was lowered without a clock. Fix: give no time budget");
  if (gpu_spill_bytes(l->kernel, l->grid) <= most_spill) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_LIMIT, name,
                  "what lives across grid barriers takes %llu bytes a workgroup, in %u x %u x %u of them more than the "
                  "limit of %llu. Fix: launch fewer workgroups, or keep less across grid_barrier",
                  (unsigned long long)l->kernel->spill_bytes, l->grid[0], l->grid[1], l->grid[2],
                  (unsigned long long)most_spill);
}

static uint32_t step_of(const uint32_t grid[3], const uint32_t limit[3], const gpu_piece *piece, int axis) {
  uint32_t left = grid[axis] - piece->origin[axis];
  return left < limit[axis] ? left : limit[axis];
}

bool gpu_next_piece(const uint32_t grid[3], const uint32_t limit[3], gpu_piece *piece) {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return false;
  int axis = 0;
  if (piece->begun) {
    while (axis < 3 && grid[axis] - piece->origin[axis] <= piece->size[axis]) piece->origin[axis++] = 0;
    if (axis == 3) return false;
    piece->origin[axis] += piece->size[axis];
  }
  piece->begun = true;
  for (axis = 0; axis < 3; axis++) piece->size[axis] = step_of(grid, limit, piece, axis);
  return true;
}

/* At most |records| of them, each whole within |count| words: room that was taken and not written lies behind them. */
static void move_prints(const uint64_t *words, uint64_t count, uint32_t records, vyre_completion *c, uint64_t *prints,
                        uint64_t room, uint64_t *used) {
  const uint64_t header_words = sizeof(vyre_print_record) / sizeof *words;
  for (uint64_t at = 0; records > 0 && count - at >= header_words; records--) {
    vyre_print_record record;
    memcpy(&record, words + at, sizeof record);
    uint64_t need = header_words + record.arg_count;
    if (need > count - at) return;
    if (prints != NULL && need <= room - *used) {
      memcpy(prints + *used, words + at, need * sizeof *words);
      *used += need;
      c->prints_written++;
    } else {
      c->prints_dropped++;
    }
    at += need;
  }
}

void gpu_read_diagnostics(const void *diagnostics, uint64_t bytes, vyre_completion *c, uint64_t *prints, uint64_t room,
                          uint64_t *used) {
  vyre_kernel_diagnostics d;
  if (bytes < sizeof d) return;
  memcpy(&d, diagnostics, sizeof d);
  if (d.trap_count != 0 && c->trap_count == 0) {
    c->trap_code = d.trap_code;
    memcpy(c->trap_gid, d.trap_gid, sizeof c->trap_gid);
  }
  c->trap_count += d.trap_count;
  c->prints_dropped += d.prints_dropped;
  uint64_t there = (bytes - sizeof d) / sizeof(uint64_t);
  if (there > d.print_words) there = d.print_words;
  const uint8_t *words = (const uint8_t *)diagnostics + sizeof d;
  move_prints((const uint64_t *)(const void *)words, there, d.prints_written, c, prints, room, used);
}
