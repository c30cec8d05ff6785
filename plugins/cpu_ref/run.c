/* The interpreter: one statement of one invocation at a time. */
#include "group.h"

#include <string.h>
#include <time.h>

#include <vyre/backend.h>

#include "memory.h"

uint64_t cpu_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- Memory ---- */

/* The first byte of a buffer as |invocation| sees it. */
static uint8_t *base_of(const cpu_group *g, uint32_t invocation, uint32_t binding) {
  const cpu_code *code = g->run->code;
  const cpu_buffer *b = &code->buffers[binding];
  switch (b->space) {
    case CPU_SPACE_SHARED: return g->shared + b->offset;
    case CPU_SPACE_LOCAL: return g->locals + invocation * code->local_bytes + b->offset;
    default: return g->run->views[binding].base;
  }
}

void cpu_run_load(cpu_group *g, uint32_t invocation, uint32_t binding, uint64_t index, cpu_cell *out) {
  const cpu_buffer *b = &g->run->code->buffers[binding];
  if (index >= g->run->views[binding].length) {
    g->run->report->masked_loads++;
    out->word[0] = out->word[1] = 0;
    return;
  }
  cpu_load(b->element, base_of(g, invocation, binding) + index * b->bytes, out);
}

static void store(cpu_group *g, uint32_t invocation, uint32_t binding, uint64_t index, const cpu_cell *in) {
  const cpu_buffer *b = &g->run->code->buffers[binding];
  if (g->invocations[invocation].expired) return;
  if (index >= g->run->views[binding].length) {
    g->run->report->masked_stores++;
    return;
  }
  cpu_store(b->element, base_of(g, invocation, binding) + index * b->bytes, in);
}

static void atomic(cpu_group *g, uint32_t i, const cpu_insn *in) {
  const cpu_buffer *b = &g->run->code->buffers[in->x];
  cpu_cell *old = cpu_operand(g, i, in->d);
  uint64_t index = cpu_operand(g, i, in->a)->word[0];
  uint64_t value = cpu_operand(g, i, in->b)->word[0], desired = cpu_operand(g, i, in->c)->word[0];
  bool in_range = index < g->run->views[in->x].length;
  if (in_range && !g->invocations[i].expired) {
    cpu_atomic(in->aux, b->element, in->aux2, base_of(g, i, in->x) + index * b->bytes, value, desired, old);
    return;
  }
  if (!in_range) g->run->report->masked_atomics++;
  old->word[0] = old->word[1] = 0;
}

/* How many of |count| elements from |first| on a buffer of |length| has. */
static uint64_t reach(uint64_t first, uint64_t count, uint64_t length) {
  if (first >= length) return 0;
  return count < length - first ? count : length - first;
}

/* The elements that the source does not have are zero, those that the target does not have are dropped. */
void cpu_run_copy(cpu_group *g, uint32_t invocation, const cpu_insn *in) {
  const cpu_buffer *b = &g->run->code->buffers[in->x];
  uint64_t to = cpu_operand(g, invocation, in->a)->word[0], from = cpu_operand(g, invocation, in->b)->word[0];
  uint64_t count = cpu_operand(g, invocation, in->c)->word[0];
  uint64_t readable = reach(from, count, g->run->views[in->y].length);
  uint64_t writable = reach(to, count, g->run->views[in->x].length);
  uint64_t copied = readable < writable ? readable : writable;
  if (g->invocations[invocation].expired) return;
  g->run->report->masked_loads += count - readable;
  g->run->report->masked_stores += count - writable;
  if (writable == 0) return;
  uint8_t *target = base_of(g, invocation, in->x) + to * b->bytes;
  if (copied > 0) memmove(target, base_of(g, invocation, in->y) + from * b->bytes, copied * b->bytes);
  memset(target + copied * b->bytes, 0, (writable - copied) * b->bytes);
  if (b->element != VYRE_TYPE_BOOL) return;
  for (uint64_t k = 0; k < copied; k++) { /* any word but 0 is read as true, and true is written as 1 */
    cpu_cell cell;
    cpu_load(VYRE_TYPE_BOOL, target + 4 * k, &cell);
    cpu_store(VYRE_TYPE_BOOL, target + 4 * k, &cell);
  }
}

/* ---- Values ---- */

static uint32_t id_of(const cpu_group *g, uint32_t i, vyre_op op, uint32_t axis) {
  switch (op) {
    case VYRE_OP_GID: return cpu_gid(g, i, axis);
    case VYRE_OP_WID: return g->wid[axis];
    case VYRE_OP_LID: return g->invocations[i].lid[axis];
    case VYRE_OP_LANE: return i % g->run->code->subgroup;
    default: return i / g->run->code->subgroup; /* SUBGROUP_ID */
  }
}

static void call_lanes(cpu_group *g, uint32_t i, const cpu_insn *in, cpu_cell *d) {
  const cpu_cell *a = cpu_operand(g, i, in->a), *b = cpu_operand(g, i, in->b), *c = cpu_operand(g, i, in->c);
  for (uint32_t k = 0; k < in->aux; k++) d->lane[k] = (uint32_t)in->fn(a->lane[k], b->lane[k], c->lane[k]);
}

static void build_vector(cpu_group *g, uint32_t i, const cpu_insn *in, cpu_cell *d) {
  const uint32_t operands[4] = { in->a, in->b, in->c, in->x };
  cpu_cell result = { { 0, 0 } };
  for (uint32_t k = 0; k < in->aux; k++) result.lane[k] = cpu_operand(g, i, operands[k])->lane[0];
  *d = result;
}

/* ---- Traps, prints ---- */

static bool comes_first(const uint32_t *a, const uint32_t *b) {
  for (int axis = 2; axis > 0; axis--) if (a[axis] != b[axis]) return a[axis] < b[axis];
  return a[0] < b[0];
}

static void trap(cpu_group *g, uint32_t i, uint32_t code) {
  cpu_report *report = g->run->report;
  uint32_t gid[3] = { cpu_gid(g, i, 0), cpu_gid(g, i, 1), cpu_gid(g, i, 2) };
  if (g->invocations[i].trapped) return;
  g->invocations[i].trapped = true;
  if (report->trap_count++ > 0 && !comes_first(gid, report->trap_gid)) return;
  report->trap_code = code;
  memcpy(report->trap_gid, gid, sizeof gid);
}

static void print(cpu_group *g, uint32_t i, const cpu_site *site) {
  const cpu_launch *launch = g->run->launch;
  cpu_report *report = g->run->report;
  vyre_print_record record = { .site = site->number, .arg_count = site->count, .command = launch->command,
                               .gid = { cpu_gid(g, i, 0), cpu_gid(g, i, 1), cpu_gid(g, i, 2) } };
  uint64_t header = sizeof record / sizeof(uint64_t);
  if (launch->print_words - report->print_words < header + site->count) {
    report->prints_dropped++;
    return;
  }
  uint64_t *at = launch->prints + report->print_words;
  memcpy(at, &record, sizeof record);
  for (uint32_t k = 0; k < site->count; k++)
    at[header + k] = cpu_operand(g, i, g->run->code->operands.data[site->first + k])->word[0];
  report->print_words += header + site->count;
  report->prints_written++;
}

/* The scheduler waits once a turn, for as long as the longest that was asked for. */
static void ask_pause(cpu_run *run, uint64_t ns) {
  uint32_t bounded = ns < CPU_MAX_PAUSE_NS ? (uint32_t)ns : CPU_MAX_PAUSE_NS;
  if (bounded > run->pause_ns) run->pause_ns = bounded;
}

/* ---- Loops ---- */

static uint64_t sign_extended(vyre_type type, uint64_t bits) {
  return type == VYRE_TYPE_I32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)bits : bits;
}

static bool is_less(vyre_type type, uint64_t a, uint64_t b) {
  if (type == VYRE_TYPE_I32 || type == VYRE_TYPE_I64)
    return (int64_t)sign_extended(type, a) < (int64_t)sign_extended(type, b);
  return a < b;
}

/* True if the loop has a first iteration. */
static bool loop_begins(vyre_type type, const cpu_cell *cells) {
  return is_less(type, cells[0].word[0], cells[1].word[0]) && is_less(type, 0, cells[2].word[0]);
}

/* Steps the variable; false if the next value would reach the end, pass it or overflow. The variable is below the end,
 * so the distance is positive and fits the unsigned type. */
static bool loop_goes_on(vyre_type type, cpu_cell *cells) {
  uint64_t variable = sign_extended(type, cells[0].word[0]), end = sign_extended(type, cells[1].word[0]);
  uint64_t step = cells[2].word[0];
  if (step >= end - variable) return false;
  variable += step;
  cells[0].word[0] = type == VYRE_TYPE_I32 ? (uint32_t)variable : variable;
  return true;
}

/* Counts a back edge; false if the step limit ends the loop. */
static bool may_repeat(cpu_group *g, uint32_t i, const cpu_loop *loop) {
  const cpu_code *code = g->run->code;
  cpu_invocation *v = &g->invocations[i];
  if (code->steps == 0) return true;
  bool met = loop->counter != UINT32_MAX;
  if (met ? v->all_expired : v->expired) return false;
  uint64_t *count = met ? &g->counters[(size_t)i * code->counters + loop->counter] : &v->steps;
  if (++*count < code->steps) return true;
  trap(g, i, CPU_STEP_TRAP);
  v->expired = g->expired = true;
  v->all_expired |= met;
  return false;
}

static uint32_t next_of(cpu_group *g, uint32_t i, const cpu_loop *loop) {
  cpu_cell *cells = cpu_frame(g, i) + loop->cells;
  if (loop->type != VYRE_TYPE_NONE && !loop_goes_on(loop->type, cells)) return loop->exit;
  return may_repeat(g, i, loop) ? loop->body : loop->exit;
}

/* ---- Turns ---- */

/* Runs one statement of invocation |i|; true if it can run another in the next turn. */
static bool run_statement(cpu_group *g, uint32_t i) {
  cpu_run *run = g->run;
  const cpu_insn *insns = run->code->insns.data;
  const cpu_loop *loops = run->code->loops.data;
  cpu_invocation *v = &g->invocations[i];
  cpu_cell *const bases[2] = { cpu_frame(g, i), run->shared };
  uint64_t operations = 0, *executed = run->launch->executed;
  uint32_t pc = v->pc;
#define CELL(operand) (bases[(operand) >> 31] + ((operand) & ~CPU_SHARED_CELL))
  do {
    if (executed != NULL) executed[pc]++;
    const cpu_insn *in = &insns[pc++];
    cpu_cell *d = bases[0] + in->d;
    const cpu_cell *a = CELL(in->a);
    operations++;
    switch ((cpu_kind)in->kind) {
      case CPU_CALL: d->word[0] = in->fn(a->word[0], CELL(in->b)->word[0], CELL(in->c)->word[0]); break;
      case CPU_CALL_LANES: call_lanes(g, i, in, d); break;
      case CPU_MOVE: *d = *a; break;
      case CPU_SELECT: *d = a->word[0] ? *CELL(in->b) : *CELL(in->c); break;
      case CPU_SPLAT: *d = (cpu_cell){ .lane = { a->lane[0], a->lane[0], a->lane[0], a->lane[0] } }; break;
      case CPU_VECTOR: build_vector(g, i, in, d); break;
      case CPU_EXTRACT: d->word[0] = a->lane[in->aux]; break;
      case CPU_ID: d->word[0] = id_of(g, i, in->aux, in->aux2); break;
      case CPU_CLOCK: d->word[0] = cpu_now_ns(); break;
      case CPU_LOAD: cpu_run_load(g, i, in->x, a->word[0], d); break;
      case CPU_STORE: store(g, i, in->x, a->word[0], CELL(in->b)); break;
      case CPU_ATOMIC: atomic(g, i, in); break;
      case CPU_FENCE: cpu_fence(in->aux); break;
      case CPU_JUMP: pc = in->x; break;
      case CPU_UNLESS:
        if (!a->word[0]) pc = in->x;
        break;
      case CPU_FOR:
        if (in->aux) d[2].word[0] = 1;
        if (!loop_begins(loops[in->x].type, d)) pc = loops[in->x].exit;
        break;
      case CPU_NEXT: pc = next_of(g, i, &loops[in->x]); break;
      case CPU_CONTINUE: pc = loops[in->x].next; break;
      case CPU_BREAK: pc = loops[in->x].exit; break;
      case CPU_TRAP: trap(g, i, a->lane[0]); v->state = CPU_ENDED; break;
      case CPU_RETURN: v->state = CPU_ENDED; break;
      case CPU_PRINT: print(g, i, &run->code->sites.data[in->x]); break;
      case CPU_COPY: cpu_run_copy(g, i, in); break;
      case CPU_PAUSE: ask_pause(run, a->word[0]); break;
      case CPU_BARRIER:
      case CPU_GRID_BARRIER:
      case CPU_WORKGROUP_LOAD:
      case CPU_SHOULD_STOP:
      case CPU_COPY_WORKGROUP:
      case CPU_SUBGROUP:
        v->state = CPU_WAITS;
        g->arrived = true;
        pc--;
        break;
    }
  } while (v->state == CPU_RUNS && !insns[pc].begins);
#undef CELL
  v->pc = pc;
  run->report->operations += operations;
  return v->state == CPU_RUNS;
}

void cpu_group_turn(cpu_group *g) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < g->runnable_count; k++) {
    uint32_t i = g->runnable[k];
    if (run_statement(g, i)) g->runnable[kept++] = i;
  }
  g->runnable_count = kept;
}
