/* The schedule of a launch.
 *
 * Workgroups run one after another, x fastest; the state of one is used again for the next. With grid barriers, or
 * where workgroups may wait for each other, all of them are kept and take their turns in rounds. */
#include "launch.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/checked.h"
#include "base/error.h"

#include "group.h"

/* ---- State ---- */

/* Where the parts of a workgroup's state lie in one block of memory. */
typedef struct layout {
  uint64_t locals, shared, invocations, counters, runnable, bytes;
} layout;

/* No sum here can pass 2^64: a workgroup has at most 2^12 invocations of 2^31 cells and 2^26 local bytes. */
static layout lay_out(const cpu_code *code) {
  uint64_t n = code->invocations;
  layout l;
  l.locals = n * code->cells * sizeof(cpu_cell);
  l.shared = l.locals + n * code->local_bytes;
  l.invocations = l.shared + code->shared_bytes;
  l.counters = l.invocations + n * sizeof(cpu_invocation);
  l.runnable = l.counters + n * code->counters * sizeof(uint64_t);
  l.bytes = (l.runnable + n * sizeof(uint32_t) + 15) & ~(uint64_t)15;
  return l;
}

uint64_t cpu_group_bytes(const cpu_code *code) {
  return lay_out(code).bytes + sizeof(cpu_group);
}

static void place(cpu_group *g, cpu_run *run, uint8_t *memory) {
  layout l = lay_out(run->code);
  g->run = run;
  g->frames = (cpu_cell *)(void *)memory;
  g->locals = memory + l.locals;
  g->shared = memory + l.shared;
  g->invocations = (cpu_invocation *)(void *)(memory + l.invocations);
  g->counters = (uint64_t *)(void *)(memory + l.counters);
  g->runnable = (uint32_t *)(void *)(memory + l.runnable);
}

/* Puts every invocation at the start of workgroup (x, y, z). Frames need nothing: a variable is written first. */
static void begin(cpu_group *g, uint32_t x, uint32_t y, uint32_t z) {
  const cpu_code *code = g->run->code;
  const uint32_t *size = code->program->workgroup;
  g->wid[0] = x;
  g->wid[1] = y;
  g->wid[2] = z;
  g->arrived = g->expired = false;
  memset(g->locals, 0, code->invocations * code->local_bytes);
  memset(g->shared, 0, code->shared_bytes);
  memset(g->counters, 0, (size_t)code->invocations * code->counters * sizeof *g->counters);
  for (uint32_t i = 0; i < code->invocations; i++)
    g->invocations[i] = (cpu_invocation){ .lid = { i % size[0], i / size[0] % size[1], i / size[0] / size[1] } };
  cpu_group_list(g);
}

/* ---- Turns ---- */

static bool is_cancelled(const cpu_run *run) {
  const uint32_t *cancel = run->launch->cancel;
  return cancel != NULL && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0;
}

static void rest(cpu_run *run) {
  if (run->pause_ns == 0) return;
  struct timespec time = { 0, run->pause_ns };
  run->pause_ns = 0;
  nanosleep(&time, NULL);
}

static vyre_status advance(cpu_group *g) {
  if (is_cancelled(g->run)) return VYRE_ERR_CLOSED;
  cpu_group_turn(g);
  return cpu_group_meet(g);
}

/* Until the workgroup has ended, or waits at a grid barrier. */
static vyre_status advance_fully(cpu_group *g) {
  vyre_status status = VYRE_OK;
  while (status == VYRE_OK && g->runnable_count > 0) {
    status = advance(g);
    rest(g->run);
  }
  return status;
}

/* ---- Grids ---- */

static vyre_status run_in_turn(cpu_run *run, cpu_group *g) {
  const uint32_t *grid = run->launch->grid;
  vyre_status status = VYRE_OK;
  for (uint32_t z = 0; z < grid[2]; z++)
    for (uint32_t y = 0; y < grid[1]; y++)
      for (uint32_t x = 0; x < grid[0] && status == VYRE_OK; x++) {
        begin(g, x, y, z);
        status = advance_fully(g);
      }
  return status;
}

/* One round: each workgroup that runs takes a turn, or all until it stops. */
static vyre_status run_round(cpu_run *run, cpu_group *groups, uint64_t count, bool *ran) {
  *ran = false;
  for (uint64_t k = 0; k < count; k++) {
    if (groups[k].runnable_count == 0) continue;
    vyre_status status = run->launch->together ? advance(&groups[k]) : advance_fully(&groups[k]);
    if (status != VYRE_OK) return status;
    *ran = true;
  }
  rest(run);
  return VYRE_OK;
}

/* Lets the workgroups go on that wait at a grid barrier, all at the same one. Those that have ended do not count.
 * False if there are none. */
static vyre_status pass_grid_barrier(cpu_run *run, cpu_group *groups, uint64_t count, bool *passed) {
  uint32_t barrier = UINT32_MAX;
  *passed = false;
  for (uint64_t k = 0; k < count; k++) {
    uint32_t at = cpu_group_grid_barrier(&groups[k]);
    if (at == UINT32_MAX) continue;
    if (barrier != UINT32_MAX && at != barrier) {
      snprintf(run->fault, sizeof run->fault, "the grid is divided between the grid_barriers of statements %u and %u",
               run->code->insns.data[barrier].stmt, run->code->insns.data[at].stmt);
      return VYRE_ERR_NONUNIFORM;
    }
    barrier = at;
  }
  for (uint64_t k = 0; k < count && barrier != UINT32_MAX; k++) cpu_group_release(&groups[k]);
  *passed = barrier != UINT32_MAX;
  return VYRE_OK;
}

static vyre_status run_together(cpu_run *run, cpu_group *groups, uint64_t count) {
  const uint32_t *grid = run->launch->grid;
  vyre_status status = VYRE_OK;
  for (uint64_t k = 0; k < count; k++)
    begin(&groups[k], (uint32_t)(k % grid[0]), (uint32_t)(k / grid[0] % grid[1]), (uint32_t)(k / grid[0] / grid[1]));
  for (bool going = true; going && status == VYRE_OK;) {
    status = run_round(run, groups, count, &going);
    if (!going && status == VYRE_OK) status = pass_grid_barrier(run, groups, count, &going);
  }
  return status;
}

/* ---- The whole ---- */

static uint64_t leaf_value(const cpu_run *run, const ir_expr *x) {
  switch (x->op) {
    case VYRE_OP_LIT: return ir_literal_bits(x);
    case VYRE_OP_PARAM: return run->launch->params[x->arg[3]];
    case VYRE_OP_NWG: return run->launch->grid[x->aux];
    case VYRE_OP_SUBGROUP_SIZE: return run->code->subgroup;
    case VYRE_OP_NUM_SUBGROUPS: return run->code->subgroups;
    case VYRE_OP_LEN: return (uint32_t)run->views[x->arg[3]].length;
    default: return run->views[x->arg[3]].length; /* LEN64 */
  }
}

static void bind(cpu_run *run) {
  const cpu_code *code = run->code;
  const vyre_program *p = code->program;
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    const ir_buffer *from = &p->buffers.data[i];
    cpu_view *view = &run->views[i];
    view->length = from->length;
    if (code->buffers[i].space == CPU_SPACE_TABLE) view->base = (uint8_t *)(uintptr_t)from->data;
    if (code->buffers[i].space != CPU_SPACE_BOUND) continue;
    view->base = run->launch->bound[from->slot].data;
    view->length = run->launch->bound[from->slot].length;
  }
  for (uint32_t i = 0; i < code->leaves.count; i++)
    run->shared[i] = (cpu_cell){ { leaf_value(run, ir_expr_at(p, code->leaves.data[i])), 0 } };
}

static vyre_status check_ids(const cpu_launch *launch, vyre_error *error) {
  for (int axis = 0; axis < 3; axis++) {
    uint32_t size = launch->code->program->workgroup[axis];
    if ((uint64_t)launch->grid[axis] * size <= (uint64_t)1 << 32) continue;
    return vyre_fail(error, VYRE_ERR_OUT_OF_RANGE, launch->code->program->info.name,
                     "%u workgroups of %u invocations on axis %c have ids beyond 2^32 - 1. Fix: launch fewer",
                     launch->grid[axis], size, 'x' + axis);
  }
  return VYRE_OK;
}

/* How many workgroups are kept at a time, and whether they fit. */
static vyre_status count_groups(const cpu_launch *launch, bool together, uint64_t *count, vyre_error *error) {
  const uint32_t *grid = launch->grid;
  uint64_t each = cpu_group_bytes(launch->code), bytes;
  *count = 1;
  bool fits = !together || (vyre_mul_u64(grid[0], grid[1], count) && vyre_mul_u64(*count, grid[2], count));
  fits = fits && vyre_mul_u64(*count, each, &bytes);
  if (fits && bytes <= launch->memory_limit) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_LIMIT, launch->code->program->info.name,
                   "the state of %s takes %llu bytes a workgroup, %s%llu in all, the limit is %llu. Fix: launch fewer "
                   "workgroups, make them smaller, or raise cpu_ref.memory_limit",
                   together ? "all workgroups, which run together," : "a workgroup", (unsigned long long)each,
                   fits ? "" : "more than ", fits ? (unsigned long long)bytes : (unsigned long long)UINT64_MAX,
                   (unsigned long long)launch->memory_limit);
}

static vyre_status run_grid(cpu_run *run, vyre_error *error) {
  const cpu_code *code = run->code;
  const char *name = code->program->info.name;
  bool together = run->launch->together || (code->program->info.stmt_kinds >> VYRE_STMT_GRID_BARRIER & 1) != 0;
  uint64_t count, each = lay_out(code).bytes;
  vyre_status status = count_groups(run->launch, together, &count, error);
  if (status != VYRE_OK) return status;
  cpu_group *groups = calloc(count, sizeof *groups);
  uint8_t *memory = malloc(count * each);
  if (groups == NULL || memory == NULL) {
    status = vyre_fail_memory(error, name);
  } else {
    for (uint64_t k = 0; k < count; k++) place(&groups[k], run, memory + k * each);
    status = together ? run_together(run, groups, count) : run_in_turn(run, groups);
  }
  free(groups);
  free(memory);
  return status;
}

/* What came of it, in words. */
static vyre_status conclude(const cpu_run *run, vyre_status status, vyre_error *error) {
  const cpu_report *report = run->report;
  const char *name = run->code->program->info.name;
  if (status == VYRE_ERR_NONUNIFORM)
    return vyre_fail(error, status, name, "%s. Fix: make the flow around it uniform", run->fault);
  if (status == VYRE_ERR_CLOSED)
    return vyre_fail(error, status, name, "the launch was given up. Fix: let the program end by itself");
  if (status != VYRE_OK || report->trap_count == 0) return status;
  return vyre_fail(error, VYRE_ERR_TRAP, name,
                   "%llu invocations trapped, (%u, %u, %u) with code %u%s. Fix: see trap(...) in the program",
                   (unsigned long long)report->trap_count, report->trap_gid[0], report->trap_gid[1],
                   report->trap_gid[2], report->trap_code,
                   report->trap_code == CPU_STEP_TRAP ? ", the step limit" : "");
}

vyre_status cpu_launch_run(const cpu_launch *launch, cpu_report *report, vyre_error *error) {
  const cpu_code *code = launch->code;
  cpu_run run = { .launch = launch, .code = code, .report = report, .started_ns = cpu_now_ns() };
  memset(report, 0, sizeof *report);
  vyre_status status = check_ids(launch, error);
  if (status != VYRE_OK || launch->grid[0] == 0 || launch->grid[1] == 0 || launch->grid[2] == 0) return status;
  run.views = calloc((size_t)code->program->buffers.count + 1, sizeof *run.views);
  run.shared = calloc((size_t)code->leaves.count + 1, sizeof *run.shared);
  if (run.views == NULL || run.shared == NULL) {
    status = vyre_fail_memory(error, code->program->info.name);
  } else {
    fenv_t caller;
    fegetenv(&caller);
    fesetenv(FE_DFL_ENV);
    bind(&run);
    status = run_grid(&run, error);
    fesetenv(&caller);
  }
  free(run.views);
  free(run.shared);
  return conclude(&run, status, error);
}
