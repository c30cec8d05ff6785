#include "fusing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

void fuse_over(fusing *f, const uint32_t (*grids)[3], const char *const *texts, uint32_t count) {
  vyre_fuse_options options = VYRE_FUSE_OPTIONS_INIT;
  ck_assert_uint_le(count, FUSING_MAX);
  *f = (fusing){ .count = count, .shared = f->shared, .refusal = VYRE_FUSE_REFUSAL_INIT, .error = VYRE_ERROR_INIT };
  for (uint32_t i = 0; i < count; i++) f->arms[i] = trial_parse(texts[i]);
  if (grids != NULL) memcpy(f->grids, grids, count * sizeof *grids);
  options.grids = grids;
  f->status =
      (f->shared ? vyre_fuse_shared : vyre_fuse)(f->arms, count, &options, &f->fused, f->grid, &f->refusal, &f->error);
  ck_assert_int_eq(f->status == VYRE_OK, f->fused != NULL);
  if (f->fused != NULL) ck_assert_int_eq(vyre_text_print(f->fused, &f->text, NULL), VYRE_OK);
}

void fuse(fusing *f, uint32_t x, const char *const *texts, uint32_t count) {
  uint32_t grids[FUSING_MAX][3];
  for (uint32_t i = 0; i < FUSING_MAX; i++) memcpy(grids[i], ((uint32_t[]){ x, 1, 1 }), sizeof *grids);
  fuse_over(f, x != 0 ? (const uint32_t(*)[3])grids : NULL, texts, count);
}

void fuse_end(fusing *f) {
  for (uint32_t i = 0; i < f->count; i++) vyre_program_release(f->arms[i]);
  vyre_program_release(f->fused);
  free(f->text);
}

void fuse_gives(const fusing *f, const char *text) {
  if (f->status != VYRE_OK) ck_abort_msg("%s", f->error.text);
  if (strcmp(f->text, text) != 0) ck_abort_msg("wanted:\n%s\ngot:\n%s", text, f->text);
}

void fuse_refuses(const fusing *f, vyre_fuse_reason reason, const char *word) {
  if (f->fused != NULL) ck_abort_msg("fused to\n%s", f->text);
  ck_assert_int_eq(f->status, VYRE_ERR_INVALID_ARGUMENT);
  if (f->refusal.reason != (uint32_t)reason || strstr(f->refusal.text, word) == NULL)
    ck_abort_msg("%s %s", vyre_fuse_reason_name(f->refusal.reason), f->error.text);
  ck_assert_ptr_nonnull(strstr(f->error.text, "Fix: "));
  ck_assert_ptr_nonnull(strstr(f->error.text, f->refusal.fix));
  ck_assert_ptr_nonnull(strstr(f->error.text, vyre_fuse_reason_name(reason)));
}

uint32_t fuse_count(const fusing *f, const char *word) {
  uint32_t count = 0;
  if (f->status != VYRE_OK) ck_abort_msg("%s", f->error.text);
  for (const char *at = f->text; (at = strstr(at, word)) != NULL; at += strlen(word)) count++;
  return count;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Memory by name, for all programs of a sequence. */
typedef struct memory {
  char name[FUSING_MAX * 8][64];
  void *data[FUSING_MAX * 8];
  uint64_t bytes[FUSING_MAX * 8], length[FUSING_MAX * 8];
  uint32_t count;
} memory;

static uint32_t place_of(memory *m, const vyre_buffer_info *info, uint64_t elements, uint64_t seed) {
  uint32_t i = 0;
  while (i < m->count && strcmp(m->name[i], info->name) != 0) i++;
  if (i < m->count) return i;
  snprintf(m->name[i], sizeof m->name[i], "%s", info->name);
  m->length[i] = info->length != 0 ? info->length : elements;
  m->bytes[i] = m->length[i] * vyre_type_describe(info->element)->bytes;
  m->data[i] = calloc(m->bytes[i] + 16, 1);
  for (uint64_t k = 0; k < m->bytes[i] / 4 && info->access != VYRE_ACCESS_WRITE; k++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u + i;
    ((uint32_t *)m->data[i])[k] = (uint32_t)(seed >> 33) % 97;
  }
  m->count++;
  return i;
}

static void run_on(memory *m, const vyre_program *p, const uint32_t grid[3], uint64_t elements, uint64_t seed) {
  char *text;
  trial t;
  vyre_buffer_info info;
  vyre_param_info param;
  ck_assert_int_eq(vyre_text_print(p, &text, NULL), VYRE_OK);
  trial_begin(&t, text);
  for (uint32_t i = 0; vyre_program_param(p, i, &param); i++) trial_set(&t, param.name, 1 + (uint8_t)param.name[0] % 7);
  for (uint32_t slot = 0; vyre_program_slot(p, slot, &info); slot++) {
    uint32_t i = place_of(m, &info, elements, seed);
    if (info.access == VYRE_ACCESS_WRITE) memset(m->data[i], 0, m->bytes[i]);
    memcpy(trial_bind(&t, info.name, m->length[i]), m->data[i], m->bytes[i]);
  }
  trial_run(&t, grid[0], grid[1], grid[2]);
  for (uint32_t slot = 0; vyre_program_slot(p, slot, &info); slot++) {
    uint32_t i = place_of(m, &info, elements, seed);
    memcpy(m->data[i], t.bound[slot].data, m->bytes[i]);
  }
  trial_end(&t);
  free(text);
}

void fuse_runs_alike(const fusing *f, uint64_t elements, uint64_t seed) {
  memory wanted = { .count = 0 }, got = { .count = 0 };
  vyre_buffer_info info;
  if (f->status != VYRE_OK) ck_abort_msg("%s", f->error.text);
  for (uint32_t i = 0; i < f->count; i++) /* places in one order for both */
    for (uint32_t slot = 0; vyre_program_slot(f->arms[i], slot, &info); slot++) {
      place_of(&wanted, &info, elements, seed);
      place_of(&got, &info, elements, seed);
    }
  for (uint32_t i = 0; i < f->count; i++) run_on(&wanted, f->arms[i], f->grids[i], elements, seed);
  run_on(&got, f->fused, f->grid, elements, seed);
  ck_assert_uint_eq(wanted.count, got.count);
  for (uint32_t i = 0; i < got.count; i++) {
    if (memcmp(wanted.data[i], got.data[i], got.bytes[i]) != 0)
      ck_abort_msg("buffer %s differs\n%s", got.name[i], f->text);
    free(wanted.data[i]);
    free(got.data[i]);
  }
}
