/* Running it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/machine_code.h"
#include "tests/cuda/machine_step.h"

enum { TURN = 4096 }; /* instructions before another thread gets its turn */

void machine_say(machine *m, const char *format, ...) {
  if (m->failed) return;
  m->failed = true;
  va_list args;
  va_start(args, format);
  vsnprintf(m->why, m->room, format, args);
  va_end(args);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void begin_block(machine *m, block *b, const uint32_t at[3]) {
  const entry_code *e = m->entry;
  uint64_t per_thread = 0, seed = 0x9E3779B97F4A7C15u;
  for (int k = 0; k < 5; k++) per_thread += e->registers[k] * (k == 4 ? 2u : 1u);
  memcpy(b->at, at, sizeof b->at);
  b->count = e->size[0] * e->size[1] * e->size[2];
  b->threads = calloc(b->count, sizeof *b->threads);
  b->registers = malloc((size_t)(b->count * per_thread + 1) * 8);
  b->shared = malloc(e->shared_bytes + 16u);
  b->locals = malloc((size_t)b->count * e->local_bytes + 16);
  if (b->threads == NULL || b->registers == NULL || b->shared == NULL || b->locals == NULL) abort();
  for (uint64_t i = 0; i < b->count * per_thread; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    b->registers[i] = seed;
  }
  memset(b->shared, 0xA5, e->shared_bytes);
  memset(b->locals, 0x5A, (size_t)b->count * e->local_bytes);
  for (uint32_t i = 0; i < b->count; i++) {
    thread *t = &b->threads[i];
    uint64_t *next = b->registers + i * per_thread;
    for (int k = 0; k < 5; next += e->registers[k] * (k == 4 ? 2u : 1u), k++) t->reg[k] = next;
    *t = (thread){ .number = i, .pc = e->first, .block = b, .local = b->locals + (size_t)i * e->local_bytes,
                   .reg = { t->reg[0], t->reg[1], t->reg[2], t->reg[3], t->reg[4] },
                   .tid = { i % e->size[0], i / e->size[0] % e->size[1], i / e->size[0] / e->size[1] } };
  }
}

static void end_block(block *b) {
  free(b->threads);
  free(b->registers);
  free(b->shared);
  free(b->locals);
}

/* ---- Meetings -------------------------------------------------------------------------------- */

/* All that live wait at one barrier. */
static bool meet_block(machine *m, block *b) {
  thread *first = NULL;
  for (uint32_t i = 0; i < b->count; i++) {
    thread *t = &b->threads[i];
    if (t->state == THREAD_ENDED) continue;
    if (t->state != THREAD_AT_BARRIER) return false;
    if (first != NULL && t->pc != first->pc) machine_say(m, "threads meet at two barriers");
    first = t;
  }
  if (first == NULL) return false;
  for (uint32_t i = 0; i < b->count; i++)
    if (b->threads[i].state == THREAD_AT_BARRIER) {
      b->threads[i].state = THREAD_RUNS;
      b->threads[i].pc++;
    }
  return true;
}

/* The lanes that the mask of |first| names, if all of them wait at the same instruction. */
static bool meet_lanes(machine *m, block *b, thread *first) {
  uint32_t warp = first->number / 32 * 32, mask = machine_mask(m, first);
  thread *lanes[32] = { NULL };
  if ((mask >> (first->number % 32) & 1) == 0) {
    machine_say(m, "a lane is not in its own mask 0x%08X: %.60s", mask, m->code->insns[first->pc].line);
    return false;
  }
  for (uint32_t k = 0; k < 32; k++) {
    if ((mask >> k & 1) == 0) continue;
    if (warp + k >= b->count) {
      machine_say(m, "the mask 0x%08X names a lane that does not exist", mask);
      return false;
    }
    thread *t = &b->threads[warp + k];
    if (t->state == THREAD_ENDED) continue;
    if (t->state != THREAD_AT_LANES || t->pc != first->pc || machine_mask(m, t) != mask) return false;
    lanes[k] = t;
  }
  machine_lanes(m, lanes, &m->code->insns[first->pc]);
  for (uint32_t k = 0; k < 32; k++)
    if (lanes[k] != NULL) {
      lanes[k]->state = THREAD_RUNS;
      lanes[k]->pc++;
    }
  return true;
}

/* A turn of every thread that can run, then what they met for. Gives whether anything happened. */
static bool turn(machine *m, block *b) {
  bool any = false;
  for (uint32_t i = 0; i < b->count && !m->failed; i++) {
    thread *t = &b->threads[m->launch->backwards ? b->count - 1 - i : i];
    for (uint32_t k = 0; k < TURN && t->state == THREAD_RUNS && !m->failed; k++) machine_step(m, t);
    any |= t->state == THREAD_RUNS;
    m->turns++;
  }
  for (uint32_t i = 0; i < b->count && !m->failed; i++)
    if (b->threads[i].state == THREAD_AT_LANES) any |= meet_lanes(m, b, &b->threads[i]);
  return any | meet_block(m, b);
}

static bool has_ended(const block *b) {
  for (uint32_t i = 0; i < b->count; i++)
    if (b->threads[i].state != THREAD_ENDED) return false;
  return true;
}

static void run_together(machine *m, block *blocks, uint32_t count) {
  for (bool ended = false; !ended && !m->failed;) {
    bool any = false;
    ended = true;
    for (uint32_t i = 0; i < count; i++) {
      any |= turn(m, &blocks[i]);
      ended &= has_ended(&blocks[i]);
    }
    if (!any && !ended) machine_say(m, "threads wait for each other for ever");
    if (m->turns > 4000000) machine_say(m, "no end");
  }
}

bool machine_run(const machine_launch *launch, char *why, uint32_t room) {
  machine m = { .launch = launch, .code = launch->code, .entry = &launch->code->entries[launch->entry], .why = why,
                .room = room };
  uint32_t count = launch->grid[0] * launch->grid[1] * launch->grid[2], step = launch->together ? count : 1;
  block *blocks = calloc(step == 0 ? 1 : step, sizeof *blocks);
  if (blocks == NULL) abort();
  for (uint32_t first = 0; first < count && !m.failed; first += step) {
    for (uint32_t i = 0; i < step; i++) {
      uint32_t n = first + i, x = launch->grid[0], y = launch->grid[1];
      begin_block(&m, &blocks[i], (const uint32_t[]){ n % x, n / x % y, n / x / y });
    }
    run_together(&m, blocks, step);
    for (uint32_t i = 0; i < step; i++) end_block(&blocks[i]);
  }
  free(blocks);
  return !m.failed;
}
