#include "outcome.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../gen/random_program.h"

outcome *outcome_create(void) { return calloc(1, sizeof(outcome)); }

void outcome_destroy(outcome *o) {
  for (uint32_t i = 0; o != NULL && i < OUTCOME_MAX; i++) free(o->memory.data[i]);
  free(o);
}

void outcome_say(outcome *o, const char *format, ...) {
  va_list args;
  if (o->text[0] != 0) return;
  va_start(args, format);
  vsnprintf(o->text, sizeof o->text, format, args);
  va_end(args);
}

/* ---- Input ----------------------------------------------------------------------------------- */

static bool make_room(run_memory *m, uint32_t slot, uint64_t bytes) {
  uint64_t room = (bytes + 31) & ~15ull;
  if (room > m->room[slot]) {
    free(m->data[slot]);
    m->data[slot] = aligned_alloc(16, room);
    m->room[slot] = m->data[slot] != NULL ? room : 0;
  }
  if (m->data[slot] == NULL) return false;
  memset(m->data[slot], 0, room);
  return true;
}

/* The value of an element that is no extreme: a small number, or a float near 1. */
static uint64_t ordinary(random_source *source, vyre_type component) {
  uint64_t small = random_below(source, 16);
  switch (component) {
    case VYRE_TYPE_F32: return 0x3F800000u + (small << 20) + (random_bits(source) & 0x80000000u);
    case VYRE_TYPE_F64: return 0x3FF0000000000000u + (small << 50) + (random_bits(source) & 1ull << 63);
    case VYRE_TYPE_F16: return 0x3C00u + (small << 7);
    case VYRE_TYPE_BF16: return 0x3F80u + (small << 4);
    case VYRE_TYPE_I32:
    case VYRE_TYPE_I64: return small - 4;
    default: return small;
  }
}

static void fill(random_source *source, uint8_t *data, uint64_t bytes, vyre_type element, bool mixed) {
  const vyre_type_info *info = vyre_type_describe(element);
  uint32_t size = info->bytes / info->lanes;
  bool plain = mixed && random_chance(source, 50);
  for (uint64_t at = 0; at < bytes; at += size) {
    uint64_t bits = plain ? ordinary(source, info->component) : random_bits(source);
    memcpy(data + at, &bits, size);
  }
}

/* By name, so that what is left holds the same once others are removed. */
static random_source source_of(const run_case *c, const char *name) {
  random_source source = { c->seed };
  for (; *name != 0; name++) source.state = (source.state ^ (uint8_t)*name) * 0x100000001B3u;
  return source;
}

static bool bind_all(run_memory *m, const vyre_program *p, const run_case *c) {
  vyre_buffer_info info;
  for (m->count = 0; vyre_program_slot(p, m->count, &info); m->count++) {
    uint32_t i = m->count;
    if (i == OUTCOME_MAX) return false;
    m->length[i] = info.length != 0 ? info.length : c->elements;
    m->bytes[i] = m->length[i] * vyre_type_describe(info.element)->bytes;
    if (!make_room(m, i, m->bytes[i])) return false;
    random_source source = source_of(c, info.name);
    if (info.access != VYRE_ACCESS_WRITE) fill(&source, m->data[i], m->bytes[i], info.element, c->mixed);
  }
  return true;
}

static bool make_params(run_memory *m, const vyre_program *p, const run_case *c) {
  vyre_param_info info;
  for (m->param_count = 0; vyre_program_param(p, m->param_count, &info); m->param_count++) {
    if (m->param_count == OUTCOME_MAX) return false;
    random_source source = source_of(c, info.name);
    uint64_t bits = random_bits(&source);
    if (c->mixed && random_chance(&source, 50)) bits = ordinary(&source, info.type);
    if (vyre_type_describe(info.type)->bytes == 4) bits = (uint32_t)bits;
    m->params[m->param_count] = info.type == VYRE_TYPE_BOOL ? bits & 1 : bits;
  }
  return true;
}

bool outcome_prepare(outcome *o, const vyre_program *p, const run_case *c) {
  o->refused = o->expired = false;
  o->text[0] = 0;
  o->traps = o->prints_written = o->prints_dropped = o->print_words = 0;
  memset(o->masked, 0, sizeof o->masked);
  if (bind_all(&o->memory, p, c) && make_params(&o->memory, p, c)) return true;
  outcome_say(o, "more buffers or parameters than a test takes, or no memory");
  return false;
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static bool is_nan(vyre_type component, uint64_t bits) {
  switch (component) {
    case VYRE_TYPE_F32: return (bits & 0x7FFFFFFF) > 0x7F800000;
    case VYRE_TYPE_F64: return (bits & ~(1ull << 63)) > 0x7FF0000000000000u;
    case VYRE_TYPE_F16: return (bits & 0x7FFF) > 0x7C00;
    case VYRE_TYPE_BF16: return (bits & 0x7FFF) > 0x7F80;
    default: return false;
  }
}

/* Byte offset of the first component that differs, |bytes| if none does. */
static uint64_t first_difference(const uint8_t *a, const uint8_t *b, uint64_t bytes, vyre_type element, bool nans) {
  const vyre_type_info *info = vyre_type_describe(element);
  uint32_t size = info->bytes / info->lanes;
  if (bytes == 0 || memcmp(a, b, bytes) == 0) return bytes;
  for (uint64_t at = 0; at < bytes; at += size) {
    uint64_t x = 0, y = 0;
    memcpy(&x, a + at, size);
    memcpy(&y, b + at, size);
    if (x != y && !(nans && is_nan(info->component, x) && is_nan(info->component, y))) return at;
  }
  return bytes;
}

static bool memory_differs(const vyre_program *p, const outcome *wanted, const outcome *got, bool nans, char *text,
                           uint32_t room) {
  vyre_buffer_info info;
  for (uint32_t i = 0; vyre_program_slot(p, i, &info); i++) {
    const uint8_t *a = wanted->memory.data[i], *b = got->memory.data[i];
    uint64_t bytes = wanted->memory.bytes[i], at = first_difference(a, b, bytes, info.element, nans);
    if (at == bytes) continue;
    const vyre_type_info *type = vyre_type_describe(info.element);
    uint64_t x = 0, y = 0;
    memcpy(&x, a + at, type->bytes / type->lanes);
    memcpy(&y, b + at, type->bytes / type->lanes);
    snprintf(text, room, "buffer %s, element %" PRIu64 ": 0x%" PRIx64 " wanted, 0x%" PRIx64 " found", info.name,
             at / type->bytes, x, y);
    return true;
  }
  return false;
}

static bool counts_differ(const outcome *wanted, const outcome *got, const compare_options *o, char *text,
                          uint32_t room) {
  const struct {
    const char *name;
    uint64_t wanted, got;
    bool compared;
  } counts[] = {
    { "masked loads", wanted->masked[0], got->masked[0], o->masked },
    { "masked stores", wanted->masked[1], got->masked[1], o->masked },
    { "masked atomics", wanted->masked[2], got->masked[2], o->masked },
    { "prints", wanted->prints_written + wanted->prints_dropped, got->prints_written + got->prints_dropped, true },
    { "words of prints", wanted->print_words, got->print_words,
      o->words && wanted->prints_dropped == 0 },
  };
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    if (!counts[i].compared || counts[i].wanted == counts[i].got) continue;
    snprintf(text, room, "%" PRIu64 " %s wanted, %" PRIu64 " found", counts[i].wanted, counts[i].name, counts[i].got);
    return true;
  }
  return false;
}

bool outcome_differs(const vyre_program *p, const outcome *wanted, const outcome *got, const compare_options *options,
                     char *text, uint32_t room) {
  bool counts = options->expiry || (!wanted->expired && !got->expired);
  if (counts ? wanted->traps != got->traps : (wanted->traps > 0) != (got->traps > 0)) {
    snprintf(text, room, "%" PRIu64 " traps wanted, %" PRIu64 " found", wanted->traps, got->traps);
    return true;
  }
  if (wanted->traps > 0) return false;
  return memory_differs(p, wanted, got, options->nans, text, room) ||
         counts_differ(wanted, got, options, text, room);
}

/* ---- As text --------------------------------------------------------------------------------- */

static const char case_form[] = "case grid %" PRIu64 " %" PRIu64 " %" PRIu64 " subgroup %" PRIu32 " ulp %" PRIu32
                                " steps %" PRIu64 " budget %" PRIu64 " elements %" PRIu64 " seed %" PRIu64 " mixed %d";

void run_case_write(const run_case *c, char *text, uint32_t room) {
  snprintf(text, room, case_form, c->grid[0], c->grid[1], c->grid[2], c->subgroup, c->ulp, c->steps, c->work_budget,
           c->elements, c->seed, c->mixed);
}

bool run_case_read(run_case *c, const char *text) {
  int mixed = 0;
  *c = (run_case){ 0 };
  int read = sscanf(text,
                    "case grid %" SCNu64 " %" SCNu64 " %" SCNu64 " subgroup %" SCNu32 " ulp %" SCNu32 " steps %" SCNu64
                    " budget %" SCNu64 " elements %" SCNu64 " seed %" SCNu64 " mixed %d",
                    &c->grid[0], &c->grid[1], &c->grid[2], &c->subgroup, &c->ulp, &c->steps, &c->work_budget,
                    &c->elements, &c->seed, &mixed);
  c->mixed = mixed != 0;
  return read == 10;
}
