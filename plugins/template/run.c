/* What one invocation does until it meets others. */
#include <string.h>
#include <time.h>

#include <vyre/ir.h>

#include "group.h"

/* Steps of one turn: long enough to be cheap, short enough that an invocation that waits for another one in a loop does
 * not keep it from running. */
enum { STEPS_A_TURN = 4096 };

uint64_t engine_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static engine_memory memory_of(const group *g, const invocation *v, const place *p) {
  const run *r = g->run;
  const vyre_kernel_header *h = r->code->header;
  switch (p->space) {
    case VYRE_KERNEL_SPACE_BINDING: return r->launch->bound[p->number];
    case VYRE_KERNEL_SPACE_HIDDEN:
      return r->hidden[VYRE_KERNEL_AT(vyre_kernel_hidden_binding, h, hidden_bindings, p->number)->kind];
    case VYRE_KERNEL_SPACE_SHARED: return (engine_memory){ g->shared + p->offset, r->entry->shared_bytes - p->offset };
    case VYRE_KERNEL_SPACE_LOCAL: return (engine_memory){ v->locals + p->offset, r->entry->local_bytes - p->offset };
    default:
      return (engine_memory){ r->code->kernel + h->table_bytes.offset + p->offset, h->table_bytes.count - p->offset };
  }
}

static uint64_t limit_of(const group *g, const invocation *v, const place *p) {
  switch (p->bound_kind) {
    case VYRE_KERNEL_BOUND_STATIC: return p->limit;
    case VYRE_KERNEL_BOUND_LENGTH: return g->run->launch->elements[p->number];
    case VYRE_KERNEL_BOUND_VALUE: return group_value(g, v, p->bound)->word;
    default: return UINT64_MAX;
  }
}

/* A kernel that calls an index PROVED that is out of range is wrong: it is not believed, and the launch fails. */
static void hold_to_proof(const group *g, const place *p, uint64_t index, uint64_t elements) {
  const vyre_kernel_header *h = g->run->code->header;
  if (p->bound_kind != VYRE_KERNEL_BOUND_PROVED || (h->flags & VYRE_KERNEL_UNCHECKED) != 0) return;
  if (p->space == VYRE_KERNEL_SPACE_BINDING) {
    const vyre_kernel_binding *b = VYRE_KERNEL_AT(vyre_kernel_binding, h, bindings, p->number);
    uint64_t length = g->run->launch->elements[p->number];
    if (engine_element_bytes(b->element) == p->bytes && length < elements) elements = length;
  }
  if (index >= elements) g->run->report->false_proofs++;
}

/* Where |count| elements from the access's on are; *inside are those that are in range. */
static uint8_t *reach(const group *g, const invocation *v, const place *p, uint64_t count, uint64_t *inside) {
  uint64_t index = group_value(g, v, p->index)->word, limit = limit_of(g, v, p);
  uint64_t base = p->base != 0 ? group_value(g, v, p->base)->word : 0;
  engine_memory memory = memory_of(g, v, p);
  uint64_t elements = base <= memory.bytes ? (memory.bytes - base) / p->bytes : 0;
  hold_to_proof(g, p, index, elements);
  if (limit > elements) limit = elements;
  *inside = index < limit ? limit - index : 0;
  if (*inside > count) *inside = count;
  return *inside > 0 ? memory.data + base + index * p->bytes : NULL;
}

static void load(uint8_t element, const uint8_t *at, uint32_t bytes, cell *out) {
  uint16_t half;
  memset(out, 0, sizeof *out);
  memcpy(out, at, bytes);
  memcpy(&half, at, bytes < 2 ? bytes : 2);
  switch (element) {
    case VYRE_TYPE_BOOL: out->word = out->part[0] != 0; break;
    case VYRE_TYPE_I8: out->part[0] = (uint32_t)(int8_t)*at; break;
    case VYRE_TYPE_I16: out->part[0] = (uint32_t)(int16_t)half; break;
    case VYRE_TYPE_F16: out->word = op_from_f16(half); break;
    case VYRE_TYPE_BF16: out->word = op_from_bf16(half); break;
    default: break;
  }
}

static void store(uint8_t element, uint8_t *at, uint32_t bytes, const cell *in) {
  cell value = *in;
  if (element == VYRE_TYPE_F16) value.word = op_to_f16(in->part[0]);
  if (element == VYRE_TYPE_BF16) value.word = op_to_bf16(in->part[0]);
  memcpy(at, &value, bytes);
}

static void run_load(group *g, invocation *v, const step *s) {
  const place *p = &g->run->code->places[s->arg[0]];
  uint64_t inside;
  const uint8_t *at = reach(g, v, p, 1, &inside);
  cell *result = group_result(g, v, s->result);
  if (at != NULL) load(p->element, at, p->bytes, result);
  else memset(result, 0, sizeof *result), g->run->report->masked_loads++;
}

static void run_store(group *g, invocation *v, const step *s) {
  const place *p = &g->run->code->places[s->arg[0]];
  uint64_t inside;
  uint8_t *at = reach(g, v, p, 1, &inside);
  if (at != NULL) store(p->element, at, p->bytes, group_value(g, v, s->arg[1]));
  else g->run->report->masked_stores++;
}

void group_copy(group *g, invocation *v, const step *s) {
  const place *to = &g->run->code->places[s->arg[0]], *from = &g->run->code->places[s->arg[1]];
  uint64_t count = group_value(g, v, s->arg[2])->word, readable, writable;
  const uint8_t *source = reach(g, v, from, count, &readable);
  uint8_t *target = reach(g, v, to, count, &writable);
  uint64_t copied = readable < writable ? readable : writable;
  g->run->report->masked_loads += count - readable;
  g->run->report->masked_stores += count - writable;
  if (copied > 0) memmove(target, source, copied * to->bytes);
  if (writable > copied) memset(target + copied * to->bytes, 0, (writable - copied) * to->bytes);
  for (uint64_t i = 0; i < copied && to->element == VYRE_TYPE_BOOL; i++) {
    uint32_t word;
    memcpy(&word, target + 4 * i, 4);
    word = word != 0;
    memcpy(target + 4 * i, &word, 4);
  }
}

/* ---- Atomics --------------------------------------------------------------------------------- */

static uint64_t next_value(const step *s, uint64_t old, uint64_t value, uint64_t desired) {
  if (s->op == VYRE_KERNEL_ATOMIC_CAS) return old == value ? desired : old;
  return s->fn != NULL ? s->fn(old, value, 0) : value; /* XCHG, STORE */
}

/* One read-modify-write. A workgroup runs on one thread, so its own scope needs no atomic instruction; beyond it every
 * order is taken as the strongest. */
#define UPDATE(T)                                                                                              \
  static uint64_t update_##T(const step *s, T *at, uint64_t value, uint64_t desired) {                         \
    if (s->scope == VYRE_SCOPE_WORKGROUP) {                                                                    \
      T old = *at;                                                                                             \
      *at = (T)next_value(s, old, value, desired);                                                             \
      return old;                                                                                              \
    }                                                                                                          \
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST), next;                                                       \
    do next = (T)next_value(s, old, value, desired);                                                           \
    while (!__atomic_compare_exchange_n(at, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));            \
    return old;                                                                                                \
  }
UPDATE(uint32_t)
UPDATE(uint64_t)

static void run_atomic(group *g, invocation *v, const step *s) {
  const place *p = &g->run->code->places[s->arg[0]];
  uint64_t inside, old = 0;
  uint8_t *at = reach(g, v, p, 1, &inside);
  if (at == NULL || (uintptr_t)at % p->bytes != 0) {
    g->run->report->masked_atomics++;
  } else {
    uint64_t value = s->arg[1] != 0 ? group_value(g, v, s->arg[1])->word : 0;
    uint64_t desired = s->arg[2] != 0 ? group_value(g, v, s->arg[2])->word : 0;
    uint32_t *word = (uint32_t *)(void *)at;
    uint64_t *two = (uint64_t *)(void *)at;
    if (s->op == VYRE_KERNEL_ATOMIC_LOAD) old = p->bytes == 8 ? __atomic_load_n(two, __ATOMIC_SEQ_CST)
                                                              : __atomic_load_n(word, __ATOMIC_SEQ_CST);
    else old = p->bytes == 8 ? update_uint64_t(s, two, value, desired) : update_uint32_t(s, word, value, desired);
  }
  if (s->result == 0) return;
  cell *result = group_result(g, v, s->result);
  memset(result, 0, sizeof *result);
  result->word = old;
}

/* ---- Launch block, ids, records -------------------------------------------------------------- */

static uint32_t gid(const group *g, const invocation *v, uint32_t axis) {
  return g->wid[axis] * g->run->entry->workgroup[axis] + v->lid[axis];
}

static uint64_t word_at(const run *r, uint32_t offset, vyre_kernel_type type) {
  uint64_t value = 0;
  memcpy(&value, r->block + offset, type.bits == 64 ? 8 : 4);
  return type.cls == VYRE_KERNEL_CLASS_BOOL ? value != 0 : value;
}

static uint64_t leaf(const group *g, const invocation *v, const step *s) {
  const run *r = g->run;
  const vyre_kernel_header *h = r->code->header;
  uint32_t linear = (uint32_t)(v - g->invocations);
  switch (s->op) {
    case VYRE_KERNEL_PARAM: {
      const vyre_kernel_param *p = VYRE_KERNEL_AT(vyre_kernel_param, h, params, s->arg[0]);
      return word_at(r, p->offset, p->type);
    }
    case VYRE_KERNEL_SPEC: return VYRE_KERNEL_AT(vyre_kernel_spec, h, specs, s->arg[0])->bits;
    case VYRE_KERNEL_HIDDEN: {
      const vyre_kernel_hidden_word *w = VYRE_KERNEL_AT(vyre_kernel_hidden_word, h, hidden_words, s->arg[0]);
      return word_at(r, w->offset, w->type);
    }
    case VYRE_KERNEL_LENGTH: {
      uint64_t count = r->launch->elements[s->arg[0]];
      if (VYRE_KERNEL_AT(vyre_kernel_value, h, values, s->result)->type.bits == 64) return count;
      return s->arg[1] ? count >> 32 : (uint32_t)count;
    }
    case VYRE_KERNEL_GID: return gid(g, v, s->arg[0]);
    case VYRE_KERNEL_WID: return g->wid[s->arg[0]];
    case VYRE_KERNEL_LID: return v->lid[s->arg[0]];
    case VYRE_KERNEL_NWG: return r->launch->grid[s->arg[0]];
    case VYRE_KERNEL_LANE: return linear % r->subgroup;
    case VYRE_KERNEL_SUBGROUP_ID: return linear / r->subgroup;
    case VYRE_KERNEL_SUBGROUP_SIZE: return r->subgroup;
    case VYRE_KERNEL_NUM_SUBGROUPS: return (r->invocations + r->subgroup - 1) / r->subgroup;
    default: return engine_now_ns(); /* CLOCK */
  }
}

/* True if |a| comes before |b| in x, then y, then z. */
static bool is_before(const uint32_t *a, const uint32_t *b) {
  for (int axis = 2; axis >= 0; axis--)
    if (a[axis] != b[axis]) return a[axis] < b[axis];
  return false;
}

static void run_trap(group *g, const invocation *v, const step *s) {
  engine_report *report = g->run->report;
  uint32_t id[3] = { gid(g, v, 0), gid(g, v, 1), gid(g, v, 2) };
  if (report->trap_count++ > 0 && !is_before(id, report->trap_gid)) return;
  report->trap_code = group_value(g, v, s->arg[0])->part[0];
  memcpy(report->trap_gid, id, sizeof id);
}

static void run_print(group *g, const invocation *v, const step *s) {
  engine_report *report = g->run->report;
  const engine_launch *launch = g->run->launch;
  vyre_print_record record = { .site = s->arg[0], .arg_count = s->arg[2], .command = launch->command,
                               .gid = { gid(g, v, 0), gid(g, v, 1), gid(g, v, 2) } };
  uint64_t words = sizeof record / 8 + s->arg[2];
  if (words > launch->print_words - report->print_words) {
    report->prints_dropped++;
    return;
  }
  uint64_t *to = launch->prints + report->print_words;
  memcpy(to, &record, sizeof record);
  for (uint32_t i = 0; i < s->arg[2]; i++)
    to[sizeof record / 8 + i] =
      group_value(g, v, *VYRE_KERNEL_AT(uint32_t, g->run->code->header, operands, s->arg[1] + i))->word;
  report->print_words += words;
  report->prints_written++;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void run_vector(group *g, invocation *v, const step *s) {
  cell result = { .both = { 0, 0 } };
  for (int k = 0; k < 4 && s->arg[k] != 0; k++) result.part[k] = group_value(g, v, s->arg[k])->part[0];
  *group_result(g, v, s->result) = result;
}

/* The opcode's function, on a scalar or on each component. */
static void run_compute(group *g, invocation *v, const step *s) {
  static const cell none;
  const cell *a = group_value(g, v, s->arg[0]);
  const cell *b = s->arg[1] != 0 ? group_value(g, v, s->arg[1]) : &none;
  const cell *c = s->arg[2] != 0 ? group_value(g, v, s->arg[2]) : &none;
  cell result = { .both = { 0, 0 } };
  if (s->lanes == 1) result.word = s->fn(a->word, b->word, c->word);
  else
    for (uint32_t k = 0; k < s->lanes; k++) result.part[k] = (uint32_t)s->fn(a->part[k], b->part[k], c->part[k]);
  *group_result(g, v, s->result) = result;
}

static cell *slot(const group *g, invocation *v, uint32_t number) {
  return &v->cells[g->run->code->value_count[g->run->entry_number] + number - g->run->entry->slot_first];
}

static bool meets(const step *s) {
  return (s->op >= VYRE_KERNEL_BARRIER && s->op <= VYRE_KERNEL_SHUFFLE_DOWN) ||
         (s->op == VYRE_KERNEL_COPY_ASYNC && s->order != 0);
}

/* Everything without flow. */
static void run_plain(group *g, invocation *v, const step *s) {
  switch (s->op) {
    case VYRE_KERNEL_GET: *group_result(g, v, s->result) = *slot(g, v, s->arg[0]); break;
    case VYRE_KERNEL_SET: *slot(g, v, s->arg[0]) = *group_value(g, v, s->arg[1]); break;
    case VYRE_KERNEL_SELECT:
      *group_result(g, v, s->result) = *group_value(g, v, group_value(g, v, s->arg[0])->word ? s->arg[1] : s->arg[2]);
      break;
    case VYRE_KERNEL_BITCAST: *group_result(g, v, s->result) = *group_value(g, v, s->arg[0]); break;
    case VYRE_KERNEL_VECTOR: run_vector(g, v, s); break;
    case VYRE_KERNEL_EXTRACT:
      group_result(g, v, s->result)->both[1] = 0;
      group_result(g, v, s->result)->word = group_value(g, v, s->arg[0])->part[s->arg[1]];
      break;
    case VYRE_KERNEL_LOAD: run_load(g, v, s); break;
    case VYRE_KERNEL_STORE: run_store(g, v, s); break;
    case VYRE_KERNEL_COPY_ASYNC: group_copy(g, v, s); break;
    case VYRE_KERNEL_COMMIT:
    case VYRE_KERNEL_WAIT:
    case VYRE_KERNEL_PAUSE: break; /* copies are made at once, and a pause is a hint */
    case VYRE_KERNEL_FENCE: __atomic_thread_fence(__ATOMIC_SEQ_CST); break;
    case VYRE_KERNEL_TRAP: run_trap(g, v, s); break;
    case VYRE_KERNEL_PRINT: run_print(g, v, s); break;
    default:
      if (s->op >= VYRE_KERNEL_ATOMIC_LOAD && s->op <= VYRE_KERNEL_ATOMIC_CAS) run_atomic(g, v, s);
      else if (s->fn != NULL) run_compute(g, v, s);
      else if (s->result != 0) {
        cell result = { .both = { leaf(g, v, s), 0 } };
        *group_result(g, v, s->result) = result;
      }
  }
}

/* ---- Flow ------------------------------------------------------------------------------------ */

/* The next instruction behind a structure opcode. */
static uint32_t jump(const group *g, const invocation *v, const step *s, uint32_t pc, uint32_t end) {
  switch (s->op) {
    case VYRE_KERNEL_IF: return group_value(g, v, s->arg[0])->word ? pc + 1 : s->arg[1] + 1;
    case VYRE_KERNEL_ELSE: return s->arg[1];
    case VYRE_KERNEL_BREAK: return s->arg[1] + 1;
    case VYRE_KERNEL_CONTINUE: return s->arg[1];
    case VYRE_KERNEL_END_LOOP:
      return s->arg[0] != 0 && group_value(g, v, s->arg[0])->word ? pc + 1 : s->arg[1] + 1;
    case VYRE_KERNEL_RETURN: return end;
    default: return pc + 1;
  }
}

void group_run_invocation(group *g, invocation *v) {
  const run *r = g->run;
  uint32_t end = r->entry->insn_first + r->entry->insn_count, steps = 0;
  while (v->pc < end && steps < STEPS_A_TURN) {
    const step *s = &r->code->steps[v->pc];
    if (meets(s)) {
      v->turn = TURN_WAITS;
      break;
    }
    steps++;
    if (s->op <= VYRE_KERNEL_RETURN) {
      v->pc = jump(g, v, s, v->pc, end);
      continue;
    }
    run_plain(g, v, s);
    v->pc++;
  }
  if (v->pc >= end) v->turn = TURN_ENDED;
}
