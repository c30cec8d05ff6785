#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <vyre/text.h>

#include "../../plugins/cpu_ref/cpu_limits.h"

vyre_program *trial_parse(const char *text) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_diagnostics *diagnostics;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create("trial", text, strlen(text), &diagnostics), VYRE_OK);
  if (vyre_text_parse(text, strlen(text), NULL, diagnostics, &program, &error) != VYRE_OK)
    ck_abort_msg("%s\n%s", error.text, vyre_diagnostics_render(diagnostics));
  vyre_diagnostics_destroy(diagnostics);
  return program;
}

void trial_begin_with(trial *t, const char *text, const cpu_options *options) {
  *t = (trial){ .error = VYRE_ERROR_INIT };
  t->program = trial_parse(text);
  if (cpu_code_create(t->program, options, &t->code, &t->error) != VYRE_OK) ck_abort_msg("%s", t->error.text);
  t->launch = (cpu_launch){ .code = t->code, .params = t->params, .bound = t->bound, .memory_limit = CPU_MEMORY_LIMIT };
}

void trial_begin(trial *t, const char *text) {
  trial_begin_with(t, text, &(cpu_options){ 0 });
}

void trial_end(trial *t) {
  for (int i = 0; i < TRIAL_MAX; i++) free(t->bound[i].data);
  cpu_code_destroy(t->code);
  vyre_program_release(t->program);
}

static uint32_t slot_named(const trial *t, const char *name, uint32_t *bytes) {
  vyre_buffer_info info;
  for (uint32_t slot = 0; vyre_program_slot(t->program, slot, &info); slot++) {
    if (strcmp(info.name, name) != 0) continue;
    *bytes = vyre_type_describe(info.element)->bytes;
    return slot;
  }
  ck_abort_msg("no buffer %s", name);
}

void *trial_bind(trial *t, const char *name, uint64_t elements) {
  uint32_t bytes, slot = slot_named(t, name, &bytes);
  ck_assert_uint_lt(slot, TRIAL_MAX);
  free(t->bound[slot].data);
  t->bound[slot].data = calloc(elements * bytes + 16, 1);
  t->bound[slot].length = elements;
  return t->bound[slot].data;
}

void trial_set(trial *t, const char *name, uint64_t bits) {
  vyre_param_info info;
  for (uint32_t i = 0; vyre_program_param(t->program, i, &info); i++) {
    if (strcmp(info.name, name) != 0) continue;
    t->params[i] = bits;
    return;
  }
  ck_abort_msg("no parameter %s", name);
}

void trial_set_f32(trial *t, const char *name, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  trial_set(t, name, bits);
}

vyre_status trial_try(trial *t, uint32_t x, uint32_t y, uint32_t z) {
  t->launch.grid[0] = x;
  t->launch.grid[1] = y;
  t->launch.grid[2] = z;
  return cpu_launch_run(&t->launch, &t->report, &t->error);
}

static uint64_t bytes_bound(const trial *t, uint32_t slot) {
  vyre_buffer_info info;
  return vyre_program_slot(t->program, slot, &info) ? t->bound[slot].length * vyre_type_describe(info.element)->bytes : 0;
}

/* Copies of what is bound, in |to|; or back. */
static void save(const trial *t, void **to) {
  for (uint32_t i = 0; i < TRIAL_MAX; i++) {
    to[i] = malloc(bytes_bound(t, i) + 1);
    if (bytes_bound(t, i) > 0) memcpy(to[i], t->bound[i].data, bytes_bound(t, i));
  }
}

void trial_run(trial *t, uint32_t x, uint32_t y, uint32_t z) {
  void *before[TRIAL_MAX], *reversed[TRIAL_MAX];
  save(t, before);
  t->launch.reverse = true;
  if (trial_try(t, x, y, z) != VYRE_OK) ck_abort_msg("reversed: %s", t->error.text);
  save(t, reversed);
  for (uint32_t i = 0; i < TRIAL_MAX; i++) {
    if (bytes_bound(t, i) > 0) memcpy(t->bound[i].data, before[i], bytes_bound(t, i));
    free(before[i]);
  }
  t->launch.reverse = false;
  if (trial_try(t, x, y, z) != VYRE_OK) ck_abort_msg("forward: %s", t->error.text);
  for (uint32_t i = 0; i < TRIAL_MAX; i++) {
    if (bytes_bound(t, i) > 0 && memcmp(t->bound[i].data, reversed[i], bytes_bound(t, i)) != 0)
      ck_abort_msg("buffer %u differs between the two orders of lanes", i);
    free(reversed[i]);
  }
}
