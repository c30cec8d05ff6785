/* Where invocations meet, and in which order workgroups and invocations run.
 *
 * Workgroups run one after another, x fastest. In a workgroup invocations take turns; one that comes to a collective
 * waits until all living ones that are concerned wait at the very same instruction. If all wait but not at the same
 * one, the program is wrong, and the launch ends. If a grid barrier lies inside flow, all workgroups are kept and take turns. */
#include "group.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT32_MAX };

static const step *step_of(const group *g, uint32_t i) { return &g->run->code->steps[g->invocations[i].pc]; }

/* Where the step limit has left a loop in the middle, that is its consequence: the launch ends with its trap, and this
 * workgroup here. */
static vyre_status divided(group *g, uint32_t i, uint32_t j) {
  const run *r = g->run;
  const vyre_kernel_diagnostics *d = (void *)r->hidden[VYRE_KERNEL_HIDDEN_DIAGNOSTICS].data;
  if ((r->code->header->flags & VYRE_KERNEL_STEPS) != 0 && d != NULL && d->trap_count > 0) {
    for (uint32_t k = 0; k < r->invocations; k++) g->invocations[k].turn = TURN_ENDED;
    return VYRE_OK;
  }
  return engine_fail(g->run->fault, VYRE_ERR_NONUNIFORM,
                     "invocations %u and %u of workgroup (%u, %u, %u) meet at different places, statements %u and %u. "
                     "Fix: let all of them come to the same one",
                     i, j, g->wid[0], g->wid[1], g->wid[2], step_of(g, i)->stmt, step_of(g, j)->stmt);
}

/* ---- Subgroups ------------------------------------------------------------------------------- */

/* The lanes of a subgroup; those that do not exist or have returned are not live. */
typedef struct lanes {
  bool live[TEMPLATE_MAX_LANES];
  cell value[TEMPLATE_MAX_LANES], argument[TEMPLATE_MAX_LANES];
} lanes;

/* v = v op shuffle_xor(v, d) for d = 1, 2, 4, 8, 16; a missing partner leaves v. */
static void reduce(lanes *s, op_fn fn) {
  for (uint32_t d = 1; d < TEMPLATE_MAX_LANES; d *= 2) {
    lanes before = *s;
    for (uint32_t l = 0; l < TEMPLATE_MAX_LANES; l++)
      if (before.live[l] && before.live[l ^ d])
        s->value[l].word = fn(before.value[l].word, before.value[l ^ d].word, 0);
  }
}

/* v = lane >= d ? shuffle_up(v, d) op v : v for the same d. */
static void scan(lanes *s, op_fn fn) {
  for (uint32_t d = 1; d < TEMPLATE_MAX_LANES; d *= 2) {
    lanes before = *s;
    for (uint32_t l = d; l < TEMPLATE_MAX_LANES; l++)
      if (before.live[l] && before.live[l - d])
        s->value[l].word = fn(before.value[l - d].word, before.value[l].word, 0);
  }
}

static void exclusive(lanes *s, op_fn fn, uint64_t first) {
  scan(s, fn);
  memmove(s->value + 1, s->value, (TEMPLATE_MAX_LANES - 1) * sizeof *s->value);
  s->value[0].word = first;
}

static void fill(lanes *s, uint64_t word) {
  for (uint32_t l = 0; l < TEMPLATE_MAX_LANES; l++) s->value[l].word = word;
}

static uint32_t mask(const lanes *s, bool all) {
  uint32_t bits = 0;
  for (uint32_t l = 0; l < TEMPLATE_MAX_LANES; l++) bits |= (uint32_t)(s->live[l] && (all || s->value[l].word)) << l;
  return bits;
}

static uint64_t source_lane(uint16_t op, uint32_t lane, uint32_t argument) {
  switch (op) {
    case VYRE_KERNEL_SHUFFLE_XOR: return lane ^ argument;
    case VYRE_KERNEL_SHUFFLE_UP: return argument <= lane ? lane - argument : NOBODY;
    case VYRE_KERNEL_SHUFFLE_DOWN: return (uint64_t)lane + argument;
    default: return argument; /* SHUFFLE, BROADCAST */
  }
}

static void shuffle(lanes *s, uint16_t op) {
  lanes before = *s;
  for (uint32_t l = 0; l < TEMPLATE_MAX_LANES; l++) {
    uint64_t from = source_lane(op, l, before.argument[l].part[0]);
    if (from < TEMPLATE_MAX_LANES && before.live[from]) s->value[l] = before.value[from];
  }
}

static void operate(lanes *s, const step *in) {
  switch (in->op) {
    case VYRE_KERNEL_SUBGROUP_ANY: fill(s, mask(s, false) != 0); break;
    case VYRE_KERNEL_SUBGROUP_ALL: fill(s, mask(s, false) == mask(s, true)); break;
    case VYRE_KERNEL_SUBGROUP_BALLOT: fill(s, mask(s, false)); break;
    case VYRE_KERNEL_BROADCAST:
    case VYRE_KERNEL_SHUFFLE:
    case VYRE_KERNEL_SHUFFLE_XOR:
    case VYRE_KERNEL_SHUFFLE_UP:
    case VYRE_KERNEL_SHUFFLE_DOWN: shuffle(s, in->op); break;
    case VYRE_KERNEL_SUBGROUP_INCLUSIVE_ADD:
    case VYRE_KERNEL_SUBGROUP_INCLUSIVE_MIN:
    case VYRE_KERNEL_SUBGROUP_INCLUSIVE_MAX: scan(s, in->fn); break;
    case VYRE_KERNEL_SUBGROUP_EXCLUSIVE_ADD: exclusive(s, in->fn, 0); break;
    case VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MIN: exclusive(s, in->fn, op_largest(in->type)); break;
    case VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MAX: exclusive(s, in->fn, op_smallest(in->type)); break;
    default:
      reduce(s, in->fn);
      fill(s, s->value[__builtin_ctz(mask(s, true))].word);
  }
}

static void run_subgroup(group *g, uint32_t first, uint32_t end, const step *in) {
  lanes s = { 0 };
  for (uint32_t i = first; i < end; i++) {
    invocation *v = &g->invocations[i];
    s.live[i - first] = v->turn != TURN_ENDED;
    if (!s.live[i - first]) continue;
    s.value[i - first] = *group_value(g, v, in->arg[0]);
    if (in->arg[1] != 0) s.argument[i - first] = *group_value(g, v, in->arg[1]);
  }
  operate(&s, in);
  for (uint32_t i = first; i < end; i++)
    if (s.live[i - first]) *group_result(g, &g->invocations[i], in->result) = s.value[i - first];
}

/* ---- Meetings -------------------------------------------------------------------------------- */

static void release(group *g, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    invocation *v = &g->invocations[i];
    if (v->turn != TURN_WAITS) continue;
    v->turn = TURN_RUNS;
    v->pc++;
  }
}

static bool is_subgroup(const step *s) {
  return s->op >= VYRE_KERNEL_SUBGROUP_ADD && s->op <= VYRE_KERNEL_SHUFFLE_DOWN;
}

/* What the invocations of [first, end) do: one that lives, one that waits elsewhere than that (or NOBODY each). */
typedef struct meeting {
  uint32_t any, other;
  bool complete, subgroup; /* all that live wait; one of them at a subgroup operation */
} meeting;

static meeting look(const group *g, uint32_t first, uint32_t end) {
  meeting m = { NOBODY, NOBODY, true, false };
  for (uint32_t i = first; i < end; i++) {
    const invocation *v = &g->invocations[i];
    if (v->turn == TURN_ENDED) continue;
    if (v->turn == TURN_RUNS) return (meeting){ NOBODY, NOBODY, false, false };
    if (m.any == NOBODY) m.any = i;
    if (v->pc != g->invocations[m.any].pc) m.other = i;
    m.subgroup |= is_subgroup(step_of(g, i));
  }
  return m;
}

static vyre_status meet_subgroups(group *g, bool *released) {
  uint32_t count = g->run->invocations, size = g->run->subgroup;
  for (uint32_t first = 0; first < count; first += size) {
    uint32_t end = first + size < count ? first + size : count;
    meeting m = look(g, first, end);
    if (!m.complete || m.any == NOBODY || !m.subgroup) continue;
    if (m.other != NOBODY) return divided(g, m.any, m.other);
    run_subgroup(g, first, end, step_of(g, m.any));
    release(g, first, end);
    *released = true;
  }
  return VYRE_OK;
}

static bool should_stop(run *r) {
  const engine_launch *launch = r->launch;
  if (r->stopped) return true;
  if (launch->stop != NULL && __atomic_load_n(launch->stop, __ATOMIC_ACQUIRE) != 0) r->stopped = true;
  if (launch->work_budget != 0 && r->stop_calls++ >= launch->work_budget) r->stopped = true;
  if (launch->time_budget_ns != 0 && engine_now_ns() - r->started_ns >= launch->time_budget_ns) r->stopped = true;
  return r->stopped;
}

static void run_workgroup(group *g, uint32_t any) {
  const step *in = step_of(g, any);
  if (in->op == VYRE_KERNEL_COPY_ASYNC) group_copy(g, &g->invocations[any], in);
  if (in->op == VYRE_KERNEL_SHOULD_STOP) {
    cell answer = { .both = { should_stop(g->run), 0 } };
    for (uint32_t i = 0; i < g->run->invocations; i++)
      if (g->invocations[i].turn == TURN_WAITS) *group_result(g, &g->invocations[i], in->result) = answer;
  }
  release(g, 0, g->run->invocations);
}

/* A turn of every invocation that can run, then what they have met for. */
static vyre_status group_turn(group *g) {
  uint32_t count = g->run->invocations;
  for (uint32_t k = 0; k < count; k++) {
    invocation *v = &g->invocations[g->run->launch->reverse ? count - 1 - k : k];
    if (v->turn == TURN_RUNS) group_run_invocation(g, v);
  }
  bool released = false;
  vyre_status status = meet_subgroups(g, &released);
  if (status != VYRE_OK || released) return status;
  meeting m = look(g, 0, count);
  if (!m.complete || m.any == NOBODY) return VYRE_OK;
  if (m.other != NOBODY) return divided(g, m.any, m.other);
  if (step_of(g, m.any)->op != VYRE_KERNEL_GRID_BARRIER) run_workgroup(g, m.any);
  return VYRE_OK;
}

static bool at_grid_barrier(const group *g) {
  meeting m = look(g, 0, g->run->invocations);
  return m.complete && m.any != NOBODY && m.other == NOBODY && step_of(g, m.any)->op == VYRE_KERNEL_GRID_BARRIER;
}

static bool has_ended(const group *g) {
  for (uint32_t i = 0; i < g->run->invocations; i++)
    if (g->invocations[i].turn != TURN_ENDED) return false;
  return true;
}

/* Until it has ended, or waits at a grid barrier. */
static vyre_status group_advance(group *g) {
  vyre_status status = VYRE_OK;
  while (status == VYRE_OK && !has_ended(g) && !at_grid_barrier(g)) {
    const uint32_t *cancel = g->run->launch->cancel;
    if (cancel != NULL && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0)
      return engine_fail(g->run->fault, VYRE_ERR_CLOSED, "the queue was closed while this ran. Fix: wait for it first");
    status = group_turn(g);
  }
  return status;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static uint64_t entry_cells(const engine_code *code, uint32_t entry) {
  return code->value_count[entry] + VYRE_KERNEL_AT(vyre_kernel_entry, code->header, entries, entry)->slot_count;
}

static uint64_t entry_bytes(const engine_code *code, uint32_t number) {
  const vyre_kernel_entry *e = VYRE_KERNEL_AT(vyre_kernel_entry, code->header, entries, number);
  uint64_t invocations = (uint64_t)e->workgroup[0] * e->workgroup[1] * e->workgroup[2]; /* at most 65536 */
  return sizeof(group) + e->shared_bytes +
         invocations * (sizeof(invocation) + e->local_bytes + entry_cells(code, number) * sizeof(cell));
}

uint64_t engine_group_bytes(const engine_code *code) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < code->header->entries.count; i++)
    if (entry_bytes(code, i) > most) most = entry_bytes(code, i);
  return most;
}

static void group_free(group *g) {
  free(g->invocations);
  free(g->cells);
  free(g->shared);
  free(g->locals);
}

static bool group_make(group *g, run *r) {
  const vyre_kernel_entry *e = r->entry;
  uint64_t cells = entry_cells(r->code, r->entry_number);
  *g = (group){ .run = r };
  g->invocations = calloc(r->invocations, sizeof *g->invocations);
  g->cells = calloc((size_t)r->invocations * cells + 1, sizeof *g->cells);
  g->shared = calloc((size_t)e->shared_bytes + 16, 1);
  g->locals = calloc((size_t)r->invocations * e->local_bytes + 16, 1);
  return g->invocations != NULL && g->cells != NULL && g->shared != NULL && g->locals != NULL;
}

/* Makes it workgroup |number|. All memory is zeroed, also where nobody asks for it. */
static void group_begin(group *g, uint64_t number) {
  const run *r = g->run;
  const vyre_kernel_entry *e = r->entry;
  uint64_t cells = entry_cells(r->code, r->entry_number), rest = number;
  for (int axis = 0; axis < 3; axis++) {
    g->wid[axis] = (uint32_t)(rest % r->launch->grid[axis]);
    rest /= r->launch->grid[axis];
  }
  memset(g->cells, 0, r->invocations * cells * sizeof *g->cells);
  memset(g->shared, 0, e->shared_bytes);
  memset(g->locals, 0, r->invocations * e->local_bytes);
  for (uint32_t i = 0; i < r->invocations; i++)
    g->invocations[i] = (invocation){ .pc = e->insn_first,
                                      .turn = TURN_RUNS,
                                      .lid = { i % e->workgroup[0], i / e->workgroup[0] % e->workgroup[1],
                                               i / e->workgroup[0] / e->workgroup[1] },
                                      .cells = g->cells + i * cells,
                                      .locals = g->locals + i * e->local_bytes };
}

static vyre_status no_memory(run *r, uint64_t bytes) {
  return engine_fail(r->fault, VYRE_ERR_NO_MEMORY,
                     "the launch wants %llu bytes for its state, the limit is %llu. Fix: use smaller workgroups or a "
                     "smaller grid",
                     (unsigned long long)bytes, (unsigned long long)r->launch->memory_limit);
}

/* One after another. */
static vyre_status run_in_turn(run *r, uint64_t count) {
  group g;
  vyre_status status = group_make(&g, r) ? VYRE_OK : no_memory(r, entry_bytes(r->code, r->entry_number));
  for (uint64_t i = 0; i < count && status == VYRE_OK; i++) {
    group_begin(&g, i);
    status = group_advance(&g);
  }
  group_free(&g);
  return status;
}

/* All kept: each up to its barrier or end, until all are at one. */
static vyre_status run_rounds(group *groups, uint64_t count) {
  for (;;) {
    uint64_t waiting = 0;
    for (uint64_t i = 0; i < count; i++) {
      vyre_status status = group_advance(&groups[i]);
      if (status != VYRE_OK) return status;
      waiting += at_grid_barrier(&groups[i]);
    }
    if (waiting == 0) return VYRE_OK;
    for (uint64_t i = 0; i < count; i++) release(&groups[i], 0, groups[i].run->invocations);
  }
}

static vyre_status run_together(run *r, uint64_t count) {
  uint64_t bytes;
  if (__builtin_mul_overflow(entry_bytes(r->code, r->entry_number), count, &bytes) || bytes > r->launch->memory_limit)
    return no_memory(r, bytes);
  group *groups = calloc(count, sizeof *groups);
  vyre_status status = groups != NULL ? VYRE_OK : no_memory(r, bytes);
  uint64_t made = 0;
  while (made < count && status == VYRE_OK) {
    if (group_make(&groups[made], r)) group_begin(&groups[made], made);
    else status = no_memory(r, bytes);
    made++;
  }
  if (status == VYRE_OK) status = run_rounds(groups, count);
  for (uint64_t i = 0; i < made; i++) group_free(&groups[i]);
  free(groups);
  return status;
}

/* ---- Launches -------------------------------------------------------------------------------- */

static void put_word(run *r, const vyre_kernel_hidden_word *w) {
  const engine_launch *l = r->launch;
  const uint64_t values[] = {
    [VYRE_KERNEL_WORD_GRID_X] = l->grid[0],
    [VYRE_KERNEL_WORD_GRID_Y] = l->grid[1],
    [VYRE_KERNEL_WORD_GRID_Z] = l->grid[2],
    [VYRE_KERNEL_WORD_COMMAND] = l->command,
    [VYRE_KERNEL_WORD_WORK_BUDGET] = l->work_budget,
    [VYRE_KERNEL_WORD_TIME_BUDGET] = l->time_budget_ns,
  };
  uint64_t value = w->kind < sizeof values / sizeof *values ? values[w->kind] : 0; /* origins are 0 */
  memcpy(r->block + w->offset, &value, w->type.bits == 64 ? 8 : 4);
}

static bool make_block(run *r) {
  const vyre_kernel_header *h = r->code->header;
  r->block = calloc((size_t)h->launch_bytes + 8, 1);
  if (r->block == NULL) return false;
  if (h->param_bytes > 0) memcpy(r->block, r->launch->params, h->param_bytes);
  for (uint32_t i = 0; i < h->bindings.count; i++)
    memcpy(r->block + VYRE_KERNEL_AT(vyre_kernel_binding, h, bindings, i)->count_offset, &r->launch->elements[i], 8);
  for (uint32_t i = 0; i < h->hidden_words.count; i++)
    put_word(r, VYRE_KERNEL_AT(vyre_kernel_hidden_word, h, hidden_words, i));
  return true;
}

/* The memory that the kernel asks of the backend. */
static vyre_status make_hidden(run *r, uint64_t groups) {
  const vyre_kernel_header *h = r->code->header;
  for (uint32_t i = 0; i < h->hidden_bindings.count; i++) {
    const vyre_kernel_hidden_binding *b = VYRE_KERNEL_AT(vyre_kernel_hidden_binding, h, hidden_bindings, i);
    engine_memory *m = &r->hidden[b->kind];
    if (b->kind == VYRE_KERNEL_HIDDEN_STOP) {
      *m = (engine_memory){ (uint8_t *)(uintptr_t)(r->launch->stop != NULL ? r->launch->stop : &r->no_stop), 4 };
      continue;
    }
    uint64_t bytes = b->bytes;
    if (b->kind == VYRE_KERNEL_HIDDEN_SPILL &&
        (__builtin_mul_overflow(h->spill_bytes, groups, &bytes) || bytes > 1ull << 32))
      return engine_fail(r->fault, VYRE_ERR_LIMIT,
                         "what lives across grid barriers takes %llu bytes a workgroup, and %llu workgroups want more "
                         "than the 4294967296 bytes that it can be. Fix: use a smaller grid",
                         (unsigned long long)h->spill_bytes, (unsigned long long)groups);
    if (b->kind == VYRE_KERNEL_HIDDEN_DIAGNOSTICS) bytes = sizeof(vyre_kernel_diagnostics) + 8 * r->launch->print_words;
    if (b->kind == VYRE_KERNEL_HIDDEN_STATE) bytes = sizeof(vyre_kernel_state);
    if (bytes > r->launch->memory_limit) return no_memory(r, bytes);
    m->bytes = bytes;
    m->data = aligned_alloc(16, (bytes + 31) & ~(uint64_t)15);
    if (m->data == NULL) return no_memory(r, bytes);
    memset(m->data, 0, (bytes + 31) & ~(uint64_t)15);
  }
  vyre_kernel_diagnostics *d = (void *)r->hidden[VYRE_KERNEL_HIDDEN_DIAGNOSTICS].data;
  vyre_kernel_state *state = (void *)r->hidden[VYRE_KERNEL_HIDDEN_STATE].data;
  if (d != NULL) d->print_words = (uint32_t)r->launch->print_words;
  if (state != NULL) state->started_ns = r->started_ns;
  return VYRE_OK;
}

/* What lowered code left in DIAGNOSTICS. */
static void read_diagnostics(const run *r) {
  const vyre_kernel_diagnostics *d = (void *)r->hidden[VYRE_KERNEL_HIDDEN_DIAGNOSTICS].data;
  engine_report *report = r->report;
  if (d == NULL) return;
  if (d->trap_count > 0 && report->trap_count == 0) {
    report->trap_code = d->trap_code;
    memcpy(report->trap_gid, d->trap_gid, sizeof report->trap_gid);
  }
  report->trap_count += d->trap_count;
  report->masked_loads += d->masked[0];
  report->masked_stores += d->masked[1];
  report->masked_atomics += d->masked[2];
  const uint64_t *from = (const uint64_t *)(const void *)(d + 1);
  uint64_t words = 0;
  for (uint32_t i = 0; i < d->prints_written && words + 3 <= d->print_words; i++) {
    vyre_print_record record;
    memcpy(&record, from + words, sizeof record);
    words += sizeof record / 8 + (uint64_t)record.arg_count;
  }
  if (words > d->print_words) words = d->print_words;
  if (words > r->launch->print_words - report->print_words) words = r->launch->print_words - report->print_words;
  if (words > 0) memcpy(r->launch->prints + report->print_words, from, words * 8);
  report->print_words += words;
  report->prints_written += d->prints_written;
  report->prints_dropped += d->prints_dropped;
}

static vyre_status run_entry(run *r, uint32_t number, uint64_t groups) {
  const vyre_kernel_entry *e = VYRE_KERNEL_AT(vyre_kernel_entry, r->code->header, entries, number);
  r->entry = e;
  r->entry_number = number;
  r->invocations = e->workgroup[0] * e->workgroup[1] * e->workgroup[2];
  r->subgroup = e->subgroup != 0 ? e->subgroup : r->launch->subgroup;
  return r->code->resident ? run_together(r, groups) : run_in_turn(r, groups);
}

vyre_status engine_run(const engine_launch *launch, engine_report *report, engine_fault *fault) {
  run r = { .launch = launch, .code = launch->code, .report = report, .fault = fault, .started_ns = engine_now_ns() };
  uint64_t groups = (uint64_t)launch->grid[0] * launch->grid[1];
  memset(report, 0, sizeof *report);
  if (__builtin_mul_overflow(groups, launch->grid[2], &groups)) return no_memory(&r, UINT64_MAX);
  if (engine_group_bytes(launch->code) > launch->memory_limit) return no_memory(&r, engine_group_bytes(launch->code));
  vyre_status status = make_block(&r) ? make_hidden(&r, groups) : no_memory(&r, launch->code->header->launch_bytes);
  for (uint32_t i = 0; i < launch->code->header->entries.count && groups > 0 && status == VYRE_OK; i++)
    status = run_entry(&r, i, groups);
  if (status == VYRE_OK) read_diagnostics(&r);
  free(r.block);
  for (int kind = 1; kind < VYRE_KERNEL_HIDDEN_STOP; kind++) free(r.hidden[kind].data);
  if (status == VYRE_OK && report->false_proofs > 0)
    status = engine_fail(fault, VYRE_ERR_INTERNAL, "the kernel calls %llu accesses proved in range that were not. Fix: "
                         "report this, with the program",
                         (unsigned long long)report->false_proofs);
  if (status == VYRE_OK && report->trap_count > 0)
    status = engine_fail(fault, VYRE_ERR_TRAP, "%llu invocations trapped, one of them (%u, %u, %u) with code %u. Fix: "
                         "see the program's trap statements, or raise the step limit if the code is 4294967295",
                         (unsigned long long)report->trap_count, report->trap_gid[0], report->trap_gid[1],
                         report->trap_gid[2], report->trap_code);
  return status;
}
