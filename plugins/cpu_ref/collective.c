/* Where invocations meet: barriers, subgroup operations and their like.
 *
 * A collective happens when all living invocations that are concerned wait at the very same instruction. If they
 * all wait, but not at the same one, they will never meet: that is an error, which names two of them. */
#include "group.h"

#include <stdio.h>
#include <string.h>

enum { NOBODY = UINT32_MAX, MAX_LANES = 32 };

static const cpu_insn *insn_of(const cpu_group *g, uint32_t i) {
  return &g->run->code->insns.data[g->invocations[i].pc];
}

static void go_on(cpu_invocation *v) {
  v->state = CPU_RUNS;
  v->pc++;
}

void cpu_group_list(cpu_group *g) {
  uint32_t n = g->run->code->invocations;
  g->runnable_count = 0;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t i = g->run->launch->reverse ? n - 1 - k : k;
    if (g->invocations[i].state == CPU_RUNS) g->runnable[g->runnable_count++] = i;
  }
}

void cpu_group_release(cpu_group *g) {
  for (uint32_t i = 0; i < g->run->code->invocations; i++)
    if (g->invocations[i].state == CPU_WAITS) go_on(&g->invocations[i]);
  cpu_group_list(g);
}

/* ---- Disagreement ---- */

static const char *name_of(const cpu_insn *in) {
  switch (in->kind) {
    case CPU_BARRIER: return "barrier";
    case CPU_GRID_BARRIER: return "grid_barrier";
    case CPU_WORKGROUP_LOAD: return "workgroup_uniform_load";
    case CPU_SHOULD_STOP: return "should_stop";
    case CPU_COPY_WORKGROUP: return "copy_async workgroup";
    default: return vyre_op_describe(in->aux)->spelling;
  }
}

/* Once the step limit has left a loop in the middle, disagreement is its consequence; the launch ends with its trap,
 * and this workgroup here. */
static vyre_status disagree(cpu_group *g, uint32_t i, uint32_t j, const char *how) {
  if (g->expired) {
    for (uint32_t k = 0; k < g->run->code->invocations; k++) g->invocations[k].state = CPU_ENDED;
    g->runnable_count = 0;
    return VYRE_OK;
  }
  const cpu_insn *a = insn_of(g, i), *b = insn_of(g, j);
  snprintf(g->run->fault, sizeof g->run->fault,
           "%s: invocation (%u, %u, %u) is at %s of statement %u, invocation (%u, %u, %u) at %s of statement %u", how,
           cpu_gid(g, i, 0), cpu_gid(g, i, 1), cpu_gid(g, i, 2), name_of(a), a->stmt, cpu_gid(g, j, 0),
           cpu_gid(g, j, 1), cpu_gid(g, j, 2), name_of(b), b->stmt);
  return VYRE_ERR_NONUNIFORM;
}

/* The first living invocation of [first, end) whose |operand| differs from that of |of|, or NOBODY. */
static uint32_t find_other_value(const cpu_group *g, uint32_t first, uint32_t end, uint32_t of, uint32_t operand) {
  uint64_t wanted = cpu_operand(g, of, operand)->word[0];
  for (uint32_t i = first; i < end; i++)
    if (g->invocations[i].state != CPU_ENDED && cpu_operand(g, i, operand)->word[0] != wanted) return i;
  return NOBODY;
}

/* ---- Subgroups ---- */

/* A subgroup. Lanes that do not exist, in the last one of a workgroup, are not live. */
typedef struct lanes {
  bool live[MAX_LANES];
  cpu_cell value[MAX_LANES];
} lanes;

/* v = v op shuffle_xor(v, d) for d = 1, 2, 4, 8, 16; a missing partner leaves v. */
static void reduce(lanes *s, cpu_op combine) {
  for (uint32_t d = 1; d < MAX_LANES; d *= 2) {
    lanes before = *s;
    for (uint32_t l = 0; l < MAX_LANES; l++)
      if (before.live[l] && before.live[l ^ d])
        s->value[l].word[0] = combine(before.value[l].word[0], before.value[l ^ d].word[0], 0);
  }
}

/* v = lane >= d ? shuffle_up(v, d) op v : v for the same d. */
static void scan(lanes *s, cpu_op combine) {
  for (uint32_t d = 1; d < MAX_LANES; d *= 2) {
    lanes before = *s;
    for (uint32_t l = d; l < MAX_LANES; l++)
      if (before.live[l] && before.live[l - d])
        s->value[l].word[0] = combine(before.value[l - d].word[0], before.value[l].word[0], 0);
  }
}

/* Exclusive is inclusive moved up by a lane. */
static void shift_up(lanes *s, uint64_t first) {
  memmove(s->value + 1, s->value, (MAX_LANES - 1) * sizeof *s->value);
  s->value[0].word[0] = first;
}

static uint32_t ballot(const lanes *s) {
  uint32_t bits = 0;
  for (uint32_t l = 0; l < MAX_LANES; l++) bits |= (uint32_t)(s->live[l] && s->value[l].word[0]) << l;
  return bits;
}

static uint32_t live_mask(const lanes *s) {
  uint32_t bits = 0;
  for (uint32_t l = 0; l < MAX_LANES; l++) bits |= (uint32_t)s->live[l] << l;
  return bits;
}

static void fill(lanes *s, uint64_t value) {
  for (uint32_t l = 0; l < MAX_LANES; l++) s->value[l] = (cpu_cell){ { value, 0 } };
}

/* The lane that a shuffle reads; MAX_LANES or more if there is none. */
static uint32_t source_lane(vyre_op op, uint32_t lane, uint32_t argument) {
  switch (op) {
    case VYRE_OP_SUBGROUP_SHUFFLE_XOR: return lane ^ argument;
    case VYRE_OP_SUBGROUP_SHUFFLE_UP: return argument <= lane ? lane - argument : NOBODY;
    case VYRE_OP_SUBGROUP_SHUFFLE_DOWN: return argument < MAX_LANES ? lane + argument : NOBODY;
    default: return argument;
  }
}

static void shuffle(lanes *s, const cpu_group *g, uint32_t first, const cpu_insn *in) {
  lanes before = *s;
  for (uint32_t l = 0; l < MAX_LANES; l++) {
    if (!before.live[l]) continue;
    uint32_t from = source_lane(in->aux, l, cpu_operand(g, first + l, in->b)->lane[0]);
    if (from < MAX_LANES && before.live[from]) s->value[l] = before.value[from];
  }
}

static void operate(lanes *s, const cpu_group *g, uint32_t first, const cpu_insn *in) {
  switch ((vyre_op)in->aux) {
    case VYRE_OP_SUBGROUP_ANY: fill(s, ballot(s) != 0); break;
    case VYRE_OP_SUBGROUP_ALL: fill(s, ballot(s) == live_mask(s)); break;
    case VYRE_OP_SUBGROUP_BALLOT: fill(s, ballot(s)); break;
    case VYRE_OP_SUBGROUP_BROADCAST:
    case VYRE_OP_SUBGROUP_SHUFFLE:
    case VYRE_OP_SUBGROUP_SHUFFLE_XOR:
    case VYRE_OP_SUBGROUP_SHUFFLE_UP:
    case VYRE_OP_SUBGROUP_SHUFFLE_DOWN: shuffle(s, g, first, in); break;
    case VYRE_OP_SUBGROUP_INCLUSIVE_ADD:
    case VYRE_OP_SUBGROUP_INCLUSIVE_MIN:
    case VYRE_OP_SUBGROUP_INCLUSIVE_MAX: scan(s, in->fn); break;
    case VYRE_OP_SUBGROUP_EXCLUSIVE_ADD: scan(s, in->fn); shift_up(s, 0); break;
    case VYRE_OP_SUBGROUP_EXCLUSIVE_MIN: scan(s, in->fn); shift_up(s, cpu_op_largest(in->aux2)); break;
    case VYRE_OP_SUBGROUP_EXCLUSIVE_MAX: scan(s, in->fn); shift_up(s, cpu_op_smallest(in->aux2)); break;
    default:
      reduce(s, in->fn);
      fill(s, s->value[__builtin_ctz(live_mask(s))].word[0]);
  }
}

static vyre_status run_subgroup(cpu_group *g, uint32_t first, uint32_t end, uint32_t any) {
  const cpu_insn *in = insn_of(g, any);
  lanes s = { 0 };
  if (in->aux == VYRE_OP_SUBGROUP_BROADCAST) {
    uint32_t other = find_other_value(g, first, end, any, in->b);
    if (other != NOBODY) return disagree(g, any, other, "different lanes are asked for");
  }
  for (uint32_t i = first; i < end; i++) {
    s.live[i - first] = g->invocations[i].state != CPU_ENDED;
    if (s.live[i - first]) s.value[i - first] = *cpu_operand(g, i, in->a);
  }
  operate(&s, g, first, in);
  for (uint32_t i = first; i < end; i++) {
    if (g->invocations[i].state == CPU_ENDED) continue;
    *cpu_operand(g, i, in->d) = s.value[i - first];
    go_on(&g->invocations[i]);
  }
  return VYRE_OK;
}

/* What the invocations of [first, end) do. */
typedef struct meeting {
  uint32_t any;   /* one that lives, NOBODY if none does */
  uint32_t other; /* one that waits elsewhere, or NOBODY */
  bool complete;  /* all that live wait */
  bool subgroup;  /* one of them at a subgroup operation */
} meeting;

static meeting look(const cpu_group *g, uint32_t first, uint32_t end) {
  meeting m = { NOBODY, NOBODY, true, false };
  for (uint32_t i = first; i < end; i++) {
    const cpu_invocation *v = &g->invocations[i];
    if (v->state == CPU_ENDED) continue;
    if (v->state == CPU_RUNS) return (meeting){ .complete = false };
    if (m.any == NOBODY) m.any = i;
    if (v->pc != g->invocations[m.any].pc && m.other == NOBODY) m.other = i;
    m.subgroup |= insn_of(g, i)->kind == CPU_SUBGROUP;
  }
  return m;
}

static vyre_status meet_subgroups(cpu_group *g) {
  const cpu_code *code = g->run->code;
  vyre_status status = VYRE_OK;
  bool released = false;
  for (uint32_t first = 0; first < code->invocations && status == VYRE_OK; first += code->subgroup) {
    uint32_t end = first + code->subgroup < code->invocations ? first + code->subgroup : code->invocations;
    meeting m = look(g, first, end);
    if (!m.complete || m.any == NOBODY || !m.subgroup) continue;
    if (m.other != NOBODY) return disagree(g, m.any, m.other, "the subgroup is divided");
    status = run_subgroup(g, first, end, m.any);
    released = true;
  }
  if (released) cpu_group_list(g);
  return status;
}

/* ---- Workgroups ---- */

static bool should_stop(cpu_run *run) {
  const cpu_launch *launch = run->launch;
  if (run->stopped) return true;
  if (launch->stop != NULL && __atomic_load_n(launch->stop, __ATOMIC_ACQUIRE) != 0) run->stopped = true;
  if (launch->work_budget != 0 && run->stop_calls++ >= launch->work_budget) run->stopped = true;
  if (launch->time_budget_ns != 0 && cpu_now_ns() - run->started_ns >= launch->time_budget_ns) run->stopped = true;
  return run->stopped;
}

static vyre_status run_workgroup(cpu_group *g, uint32_t any) {
  const cpu_insn *in = insn_of(g, any);
  uint32_t end = g->run->code->invocations;
  const uint32_t operands[3] = { in->a, in->b, in->c };
  uint32_t uniform = in->kind == CPU_COPY_WORKGROUP ? 3 : in->kind == CPU_WORKGROUP_LOAD ? 1 : 0;
  for (uint32_t k = 0; k < uniform; k++) {
    uint32_t other = find_other_value(g, 0, end, any, operands[k]);
    if (other != NOBODY) return disagree(g, any, other, "operands differ in the workgroup");
  }
  if (in->kind == CPU_COPY_WORKGROUP) cpu_run_copy(g, any, in);
  if (in->kind == CPU_WORKGROUP_LOAD || in->kind == CPU_SHOULD_STOP) {
    cpu_cell value = { { 0, 0 } };
    if (in->kind == CPU_SHOULD_STOP) value.word[0] = should_stop(g->run);
    else cpu_run_load(g, any, in->x, cpu_operand(g, any, in->a)->word[0], &value);
    for (uint32_t i = 0; i < end; i++)
      if (g->invocations[i].state == CPU_WAITS) *cpu_operand(g, i, in->d) = value;
  }
  cpu_group_release(g);
  return VYRE_OK;
}

vyre_status cpu_group_meet(cpu_group *g) {
  if (!g->arrived && g->runnable_count > 0) return VYRE_OK;
  g->arrived = false;
  vyre_status status = meet_subgroups(g);
  if (status != VYRE_OK || g->runnable_count > 0) return status;
  meeting m = look(g, 0, g->run->code->invocations);
  if (m.any == NOBODY) return VYRE_OK;
  if (m.other != NOBODY) return disagree(g, m.any, m.other, "the workgroup is divided");
  if (insn_of(g, m.any)->kind == CPU_GRID_BARRIER) return VYRE_OK;
  return run_workgroup(g, m.any);
}

uint32_t cpu_group_grid_barrier(const cpu_group *g) {
  meeting m = look(g, 0, g->run->code->invocations);
  if (!m.complete || m.any == NOBODY || m.other != NOBODY) return UINT32_MAX;
  return insn_of(g, m.any)->kind == CPU_GRID_BARRIER ? g->invocations[m.any].pc : UINT32_MAX;
}
