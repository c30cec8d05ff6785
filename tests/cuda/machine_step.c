/* Registers, memory, and the instructions that need more than numbers. */
#include "tests/cuda/machine_step.h"

#include <string.h>

enum { SHARED_FIRST = 1024, LOCAL_FIRST = 256 }; /* addresses that are not 0 */

/* ---- Registers ------------------------------------------------------------------------------- */

static uint32_t kind_of(uint8_t letter) {
  return letter == 'r' ? 0 : letter == 'd' ? 1 : letter == 'p' ? 2 : letter == 'h' ? 3 : 4;
}

static uint64_t *reg(machine *m, thread *t, uint8_t letter, uint64_t number) {
  static uint64_t nothing[2];
  uint32_t kind = kind_of(letter);
  if (number < m->entry->registers[kind]) return t->reg[kind] + number * (kind == 4 ? 2 : 1);
  machine_say(m, "register %c%u is not declared", letter, (unsigned)number);
  return nothing;
}

static void put(machine *m, thread *t, uint8_t letter, uint64_t number, uint64_t value) {
  if (letter == 'r') value = (uint32_t)value;
  if (letter == 'p') value &= 1;
  if (letter == 'h') value = (uint16_t)value;
  *reg(m, t, letter, number) = value;
}

static uint64_t special_value(const machine *m, const thread *t, uint64_t number) {
  static uint64_t clock;
  if (number < SPECIAL_CTAID) return t->tid[number];
  if (number < SPECIAL_NCTAID) return t->block->at[number - SPECIAL_CTAID];
  if (number < SPECIAL_LANEID) return m->launch->grid[number - SPECIAL_NCTAID];
  return number == SPECIAL_LANEID ? t->number % 32 : (clock += 32);
}

static uint64_t symbol_value(machine *m, uint64_t number) {
  if (number == SYMBOL_SHARED) return SHARED_FIRST;
  if (number == SYMBOL_LOCAL) return LOCAL_FIRST;
  for (uint32_t i = 0; i < m->code->table_count; i++)
    if (m->code->tables[i].number + SYMBOL_TABLE == number) return (uint64_t)(uintptr_t)m->code->tables[i].words;
  machine_say(m, "a table that is not there");
  return 0;
}

static uint64_t value_of(machine *m, thread *t, uint8_t kind, uint8_t letter, uint64_t number) {
  switch (kind) {
    case OPERAND_REGISTER: return *reg(m, t, letter, number);
    case OPERAND_NUMBER: return number;
    case OPERAND_SPECIAL: return special_value(m, t, number);
    case OPERAND_SYMBOL: return symbol_value(m, number);
    default: return 0;
  }
}

static uint64_t value(machine *m, thread *t, const operand *o) {
  return value_of(m, t, o->kind, o->letter, o->number) ^ (uint64_t)o->is_negated;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool holds(const uint8_t *data, uint64_t bytes, uint64_t at, uint64_t size) {
  uint64_t first = (uint64_t)(uintptr_t)data;
  return at >= first && at - first <= bytes && size <= bytes - (at - first);
}

static uint8_t *global(machine *m, uint64_t at, uint64_t size, const char *space) {
  for (uint32_t i = 0; i < m->launch->range_count; i++)
    if (holds(m->launch->ranges[i].data, m->launch->ranges[i].bytes, at, size) && space[0] == 'g')
      return (uint8_t *)(uintptr_t)at;
  for (uint32_t i = 0; i < m->code->table_count; i++)
    if (holds((uint8_t *)m->code->tables[i].words, m->code->tables[i].bytes, at, size) &&
        m->code->tables[i].is_constant == (space[0] == 'c'))
      return (uint8_t *)(uintptr_t)at;
  return NULL;
}

static uint8_t *window(uint8_t *data, uint64_t bytes, uint64_t first, uint64_t at, uint64_t size) {
  at = (uint32_t)at - first;
  return at <= bytes && size <= bytes - at ? data + at : NULL;
}

/* The memory of an operand in brackets; NULL, and the run is over, if there is none. */
static uint8_t *memory(machine *m, thread *t, const instruction *in, const operand *o, uint64_t size) {
  static const char *const spaces[] = { "global", "shared", "local", "const", "param" };
  const char *space = "";
  uint8_t *at = NULL;
  for (int i = 0; i < 5; i++)
    if (machine_has(in, spaces[i])) space = spaces[i];
  if (in->part[0][0] == 'c') space = o == &in->operands[0] ? "shared" : "global"; /* cp.async */
  if (space[0] == 'p') {
    uint64_t offset = (uint64_t)o->offset + (o->number == SYMBOL_POINTERS ? m->launch->block_bytes : 0);
    return (uint8_t *)(uintptr_t)m->launch->params + offset;
  }
  uint64_t address = value_of(m, t, o->kind, o->letter, o->number) + (uint64_t)o->offset;
  if (space[0] == 's') at = window(t->block->shared, m->entry->shared_bytes, SHARED_FIRST, address, size);
  else if (space[0] == 'l') at = window(t->local, m->entry->local_bytes, LOCAL_FIRST, address, size);
  else at = global(m, address, size, space);
  if (at == NULL) machine_say(m, "thread %u goes outside of memory: %.60s", t->number, in->line);
  if (at != NULL && address % size != 0)
    machine_say(m, "thread %u goes to no multiple of %u: %.60s", t->number, (unsigned)size, in->line);
  return m->failed ? NULL : at;
}

static uint32_t bytes_of(const char *type) {
  if (strcmp(type, "b128") == 0) return 16;
  return type[1] == '6' ? 8 : type[1] == '3' ? 4 : type[1] == '1' ? 2 : 1;
}

static uint64_t fetch(const uint8_t *from, const char *type) {
  uint64_t v = 0;
  uint32_t bytes = bytes_of(type);
  memcpy(&v, from, bytes <= 8 ? bytes : 8);
  return type[0] == 's' && bytes < 8 ? (uint64_t)((int64_t)(v << (64 - 8 * bytes)) >> (64 - 8 * bytes)) : v;
}

static void load(machine *m, thread *t, const instruction *in) {
  const char *type = machine_type(in);
  const operand *to = &in->operands[0];
  uint32_t bytes = bytes_of(type), count = to->kind == OPERAND_LIST ? to->count : 1;
  const uint8_t *from = memory(m, t, in, &in->operands[1], (uint64_t)bytes * count);
  if (from == NULL) return;
  if (bytes == 16) memcpy(reg(m, t, 'q', to->number), from, 16);
  else if (to->kind != OPERAND_LIST) put(m, t, to->letter, to->number, fetch(from, type));
  else
    for (uint32_t k = 0; k < count; k++)
      put(m, t, to->list[k].letter, to->list[k].number, fetch(from + k * bytes, type));
}

static void store(machine *m, thread *t, const instruction *in) {
  const operand *from = &in->operands[1];
  uint32_t bytes = bytes_of(machine_type(in)), count = from->kind == OPERAND_LIST ? from->count : 1;
  if (bytes > 8) machine_say(m, "what is this: %.60s", in->line);
  uint8_t *to = bytes > 8 ? NULL : memory(m, t, in, &in->operands[0], (uint64_t)bytes * count);
  for (uint32_t k = 0; k < count && to != NULL; k++) {
    uint64_t v = value(m, t, from);
    if (from->kind == OPERAND_LIST)
      v = value_of(m, t, from->list[k].kind, from->list[k].letter, from->list[k].number);
    memcpy(to + k * bytes, &v, bytes <= 8 ? bytes : 8);
  }
}

static void atomic(machine *m, thread *t, const instruction *in) {
  const char *type = machine_type(in), *op = in->part[in->part_count - 2];
  uint32_t first = in->part[0][0] == 'a', bytes = bytes_of(type);
  uint8_t *at = memory(m, t, in, &in->operands[first], bytes);
  if (at == NULL) return;
  uint64_t old = fetch(at, type), b = value(m, t, &in->operands[first + 1]), c = value(m, t, &in->operands[first + 2]);
  uint64_t next = machine_update(op, type, old, b, c, machine_has(in, "global"));
  memcpy(at, &next, bytes);
  if (first != 0) put(m, t, in->operands[0].letter, in->operands[0].number, old);
}

static void copy(machine *m, thread *t, const instruction *in) {
  uint64_t size = in->operands[2].number, real = value(m, t, &in->operands[3]);
  uint8_t *to = memory(m, t, in, &in->operands[0], size);
  if (to == NULL) return;
  memset(to, 0, size);
  const uint8_t *from = real != 0 ? memory(m, t, in, &in->operands[1], real) : NULL;
  if (from != NULL) memcpy(to, from, real);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* mov of a list, apart or together. */
static void move_list(machine *m, thread *t, const instruction *in) {
  const operand *to = &in->operands[0], *from = &in->operands[1];
  const operand *list = to->kind == OPERAND_LIST ? to : from;
  bool is_128 = strcmp(machine_type(in), "b128") == 0;
  uint64_t pair[2] = { 0, 0 };
  for (uint32_t k = 0; k < 2 && list == from; k++)
    pair[k] = value_of(m, t, from->list[k].kind, from->list[k].letter, from->list[k].number);
  if (list == from && is_128) memcpy(reg(m, t, 'q', to->number), pair, 16);
  else if (list == from) put(m, t, to->letter, to->number, (uint32_t)pair[0] | pair[1] << 32);
  else {
    uint64_t v = is_128 ? 0 : value(m, t, from);
    if (is_128) memcpy(pair, reg(m, t, 'q', from->number), 16);
    else pair[0] = (uint32_t)v, pair[1] = v >> 32;
    for (uint32_t k = 0; k < 2; k++) put(m, t, to->list[k].letter, to->list[k].number, pair[k]);
  }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static inline bool is(const instruction *in, const char *op) {
  return in->part[0][0] == op[0] && strcmp(in->part[0], op) == 0;
}

static void compute(machine *m, thread *t, const instruction *in) {
  const operand *to = &in->operands[0];
  uint64_t x[3] = { 0 }, result = 0;
  for (uint32_t i = 1; i < in->operand_count && i < 4; i++) x[i - 1] = value(m, t, &in->operands[i]);
  if (!machine_compute(in, x, &result)) machine_say(m, "what is this: %.60s", in->line);
  put(m, t, to->letter, to->number, result);
}

static void execute(machine *m, thread *t, const instruction *in) {
  if (is(in, "ld")) load(m, t, in);
  else if (is(in, "st")) store(m, t, in);
  else if (is(in, "atom") || is(in, "red")) atomic(m, t, in);
  else if (is(in, "cp") && in->operand_count == 4) copy(m, t, in);
  else if (is(in, "cp") || is(in, "fence") || is(in, "nanosleep")) return;
  else if (is(in, "mov") && (in->operands[0].kind == OPERAND_LIST || in->operands[1].kind == OPERAND_LIST))
    move_list(m, t, in);
  else compute(m, t, in);
}

void machine_step(machine *m, thread *t) {
  if (t->pc >= m->entry->first + m->entry->count) {
    machine_say(m, "thread %u runs off the end", t->number);
    return;
  }
  const instruction *in = &m->code->insns[t->pc];
  if (in->guarded && (*reg(m, t, 'p', in->guard) & 1) == (uint64_t)in->guard_negated) {
    t->pc++;
    return;
  }
  if (is(in, "bra")) t->pc = in->target;
  else if (is(in, "ret")) t->state = THREAD_ENDED;
  else if (is(in, "bar")) t->state = THREAD_AT_BARRIER;
  else if (is(in, "shfl") || is(in, "vote") || is(in, "redux")) t->state = THREAD_AT_LANES;
  else {
    execute(m, t, in);
    t->pc++;
  }
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

uint32_t machine_mask(machine *m, thread *t) {
  const instruction *in = &m->code->insns[t->pc];
  return (uint32_t)value(m, t, &in->operands[in->operand_count - 1]);
}

static void shuffle(machine *m, thread *lanes[32], const instruction *in) {
  bool has_predicate = in->operands[1].kind == OPERAND_REGISTER && in->operands[1].letter == 'p';
  uint64_t own[32] = { 0 }, result[32] = { 0 }, in_range[32] = { 0 };
  const operand *o = &in->operands[1 + has_predicate];
  for (uint32_t k = 0; k < 32; k++)
    if (lanes[k] != NULL) own[k] = value(m, lanes[k], &o[0]);
  for (uint32_t k = 0; k < 32; k++) {
    if (lanes[k] == NULL) continue;
    uint32_t b = (uint32_t)value(m, lanes[k], &o[1]) & 31, c = (uint32_t)value(m, lanes[k], &o[2]);
    uint32_t segment = c >> 8 & 31, least = k & segment, most = least | (c & 31 & ~segment), j = 0;
    if (machine_has(in, "up")) in_range[k] = (int32_t)(k - b) >= (int32_t)most, j = k - b;
    if (machine_has(in, "down")) j = k + b, in_range[k] = j <= most;
    if (machine_has(in, "bfly")) j = k ^ b, in_range[k] = j <= most;
    if (machine_has(in, "idx")) j = least | (b & ~segment), in_range[k] = j <= most;
    if (in_range[k] == 0) j = k;
    result[k] = lanes[j & 31] != NULL ? own[j & 31] : 0xBADBADBAu;
  }
  for (uint32_t k = 0; k < 32; k++) {
    if (lanes[k] == NULL) continue;
    put(m, lanes[k], in->operands[0].letter, in->operands[0].number, result[k]);
    if (has_predicate) put(m, lanes[k], 'p', in->operands[1].number, in_range[k]);
  }
}

void machine_lanes(machine *m, thread *lanes[32], const instruction *in) {
  uint64_t all = 0;
  uint32_t votes = 0, members = 0;
  bool first = true;
  if (is(in, "shfl")) {
    shuffle(m, lanes, in);
    return;
  }
  for (uint32_t k = 0; k < 32; k++) {
    if (lanes[k] == NULL) continue;
    uint64_t own = value(m, lanes[k], &in->operands[1]);
    members |= 1u << k;
    votes |= (uint32_t)(own & 1) << k;
    all = first ? own : machine_update(in->part[2], machine_type(in), all, own, 0, false);
    first = false;
  }
  if (is(in, "vote")) all = machine_has(in, "any") ? votes != 0 : machine_has(in, "all") ? votes == members : votes;
  for (uint32_t k = 0; k < 32; k++)
    if (lanes[k] != NULL) put(m, lanes[k], in->operands[0].letter, in->operands[0].number, all);
}
