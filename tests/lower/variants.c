#include "variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/opt.h>
#include <vyre/text.h>
#include <vyre/wire.h>

/* ---- What there is --------------------------------------------------------------------------- */

static vyre_status same(vyre_program *program, vyre_program *out, vyre_error *error) {
  if (vyre_program_equal(program, out)) return VYRE_OK;
  snprintf(error->text, sizeof error->text, "the program comes back as another one");
  return VYRE_ERR_INTERNAL;
}

static vyre_status through_text(vyre_program *program, vyre_program **out, vyre_error *error) {
  char *text;
  size_t bytes;
  vyre_status status = vyre_text_print(program, &text, &bytes);
  if (status != VYRE_OK) return status;
  status = vyre_text_parse(text, bytes, NULL, NULL, out, error);
  free(text);
  return status == VYRE_OK ? same(program, *out, error) : status;
}

static vyre_status through_wire(vyre_program *program, vyre_program **out, vyre_error *error) {
  uint8_t *bytes;
  size_t count;
  vyre_status status = vyre_wire_encode(program, &bytes, &count);
  if (status != VYRE_OK) return status;
  status = vyre_wire_decode(bytes, count, NULL, out, error);
  free(bytes);
  return status == VYRE_OK ? same(program, *out, error) : status;
}

static vyre_status optimize(vyre_program *program, uint32_t level, vyre_program **out, vyre_error *error) {
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  options.level = level;
  options.flags = VYRE_OPT_VERIFY;
  return vyre_optimize(program, &options, out, NULL, error);
}

static vyre_status at_level_1(vyre_program *program, vyre_program **out, vyre_error *error) {
  return optimize(program, 1, out, error);
}
static vyre_status at_level_2(vyre_program *program, vyre_program **out, vyre_error *error) {
  return optimize(program, 2, out, error);
}

const variant variants_plain[] = {
  { .name = "reversed", .where = RUN_ORACLE, .reverse = true },
  { .name = "engine", .where = RUN_ENGINE, .target = TARGET_ENGINE },
  { .name = "scalar", .where = RUN_ENGINE, .target = TARGET_SCALAR, .reverse = true },
  { .name = "raw", .where = RUN_ENGINE, .target = TARGET_RAW },
  { .name = "least", .where = RUN_ENGINE, .target = TARGET_LEAST, .reverse = true },
  { .name = "text", .where = RUN_NOTHING, .transform = through_text },
  { .name = "wire", .where = RUN_NOTHING, .transform = through_wire },
  { .name = "level-1", .where = RUN_ORACLE, .asked = true, .transform = at_level_1 },
  { .name = "level-2", .where = RUN_ENGINE, .target = TARGET_ENGINE, .asked = true,
    .transform = at_level_2 },
};
const uint32_t variants_plain_count = sizeof variants_plain / sizeof *variants_plain;

/* ---- Running them ---------------------------------------------------------------------------- */

bool variants_open(variants_room *room) {
  *room = (variants_room){ outcome_create(), outcome_create() };
  if (room->wanted != NULL && room->got != NULL) return true;
  variants_close(room);
  return false;
}

void variants_close(variants_room *room) {
  outcome_destroy(room->wanted);
  outcome_destroy(room->got);
  *room = (variants_room){ 0 };
}

static void run(const variant *v, vyre_program *p, const run_case *c, outcome *out) {
  switch (v->where) {
    case RUN_ORACLE: run_oracle(p, c, v->reverse, out); break;
    case RUN_ENGINE: run_engine(p, c, v->target, v->reverse, out); break;
    case RUN_DEVICE: run_device(p, c, v->device, out); break;
    case RUN_NOTHING: break;
  }
}

/* Where a load of the program is one of each invocation in the kernel, it is counted so. */
static bool counts_loads_otherwise(const vyre_program *p) {
  char *text;
  if (vyre_text_print(p, &text, NULL) != VYRE_OK) return true;
  bool otherwise = strstr(text, "workgroup_uniform_load") != NULL;
  free(text);
  return otherwise;
}

/* A transformation may leave out an access; expansions of narrow and vector accesses make several of one. */
static compare_options how_to_compare(const variant *v, const vyre_program *p) {
  bool whole = v->where == RUN_ENGINE && (v->target == TARGET_ENGINE || v->target == TARGET_RAW);
  bool as_written = v->transform == NULL && (v->where == RUN_ORACLE || whole);
  return (compare_options){ .masked = as_written && !counts_loads_otherwise(p), .words = v->where != RUN_DEVICE,
                            .nans = true };
}

/* True if the variant differs from what is wanted. */
static bool differs(const variants_room *room, const variant *v, vyre_program *p, const run_case *c, verdict *out) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *other = NULL;
  if (v->transform != NULL && v->transform(p, &other, &error) != VYRE_OK) {
    snprintf(out->text, sizeof out->text, "%s", error.text);
    vyre_program_release(other);
    return true;
  }
  out->runs++;
  if (v->where == RUN_NOTHING) {
    vyre_program_release(other);
    return false;
  }
  run(v, other != NULL ? other : p, c, room->got);
  vyre_program_release(other);
  if (room->got->refused) {
    out->refused++;
    snprintf(out->text, sizeof out->text, "%s", room->got->text);
    return false;
  }
  if (room->got->text[0] != 0) {
    snprintf(out->text, sizeof out->text, "%s", room->got->text);
    return true;
  }
  /* Another program takes another number of steps. */
  if (v->transform != NULL && (room->wanted->expired || room->got->expired)) return false;
  compare_options how = how_to_compare(v, p);
  return outcome_differs(p, room->wanted, room->got, &how, out->text, sizeof out->text);
}

/* What stands in the table for the oracle itself. */
static const variant forwards = { .name = "oracle", .where = RUN_ORACLE };

void variants_check(const variants_room *room, const variant *list, uint32_t count, vyre_program *p, const run_case *c,
                    volatile uint32_t *running, verdict *out) {
  *out = (verdict){ 0 };
  if (running != NULL) *running = UINT32_MAX;
  run(&forwards, p, c, room->wanted);
  if (room->wanted->text[0] != 0) {
    snprintf(out->text, sizeof out->text, "%s", room->wanted->text);
    out->refused = room->wanted->refused;
    out->failed = room->wanted->refused ? NULL : &forwards;
    return;
  }
  out->runs++;
  out->trapped = room->wanted->traps > 0;
  for (uint32_t i = 0; i < count; i++) {
    if (running != NULL) *running = i;
    if (!differs(room, &list[i], p, c, out)) continue;
    out->failed = &list[i];
    return;
  }
}

/* Whether two ways to run the program, in both orders of lanes, agree. */
static bool agree(const variants_room *room, const variant *forward, const variant *backward, vyre_program *p,
                  const run_case *c) {
  char text[128];
  compare_options how = { .masked = true, .words = true, .nans = true };
  run(forward, p, c, room->wanted);
  run(backward, p, c, room->got);
  return room->wanted->text[0] == 0 && room->got->text[0] == 0 &&
         !outcome_differs(p, room->wanted, room->got, &how, text, sizeof text);
}

/* A candidate that has lost what kept it free of races differs everywhere: the engine's orders vouch for the oracle,
 * the oracle's for all others. */
bool variants_fails(const variants_room *room, const variant *v, vyre_program *p, const run_case *c) {
  static const variant engine[] = {
    { .name = "forward", .where = RUN_ENGINE, .target = TARGET_ENGINE },
    { .name = "backward", .where = RUN_ENGINE, .target = TARGET_ENGINE, .reverse = true },
  };
  bool is_oracle = v->where == RUN_ORACLE && v->transform == NULL;
  verdict found;
  if (is_oracle ? !agree(room, &engine[0], &engine[1], p, c) : !agree(room, &forwards, &variants_plain[0], p, c))
    return false;
  variants_check(room, v, 1, p, c, NULL, &found);
  return found.failed == v;
}
