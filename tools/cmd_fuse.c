/* vyre fuse: several programs as one, or the reason why not. */
#include <stdio.h>
#include <stdlib.h>

#include <vyre/plan.h>
#include <vyre/text.h>

#include "commands.h"
#include "data.h"
#include "failure.h"
#include "files.h"
#include "output.h"
#include "program.h"

typedef struct fusing {
  const parsed_options *o;
  loaded_program *loaded; /* as many as operands */
  vyre_program **arms;
  uint32_t (*grids)[3];
  bool has_grid;
  uint64_t axes[3];
} fusing;

static int read_grid(fusing *f) {
  const char *text = options_get(f->o, OPT_FUSE_GRID);
  f->has_grid = text != NULL;
  const char *wanted = text ? data_parse_axes(text, UINT32_MAX, f->axes) : NULL;
  for (int axis = 0; text && !wanted && axis < 3; axis++)
    if (f->axes[axis] == 0) wanted = "at least one workgroup along each axis";
  if (!wanted) return OUTPUT_DONE;
  output_complain("fuse: --grid %.80s: wants %s. Fix: correct it.", text, wanted);
  return OUTPUT_USAGE;
}

/* All of them, so that what is wrong with each is said. */
static int load(fusing *f) {
  size_t count = f->o->operand_count;
  f->loaded = calloc(count, sizeof *f->loaded);
  f->arms = calloc(count, sizeof *f->arms);
  f->grids = calloc(count, sizeof *f->grids);
  if (!f->loaded || !f->arms || !f->grids) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  int worst = OUTPUT_DONE;
  for (size_t i = 0; i < count; i++) {
    loaded_program *p = &f->loaded[i];
    int result = program_load(f->o->operands[i], f->o, p);
    if (p->diagnostics) output_diagnostics(p->path, p->diagnostics);
    if (result > worst) worst = result;
    f->arms[i] = p->program;
    for (int axis = 0; axis < 3; axis++) f->grids[i][axis] = (uint32_t)f->axes[axis];
  }
  return worst;
}

static void release(fusing *f) {
  for (size_t i = 0; f->loaded && i < f->o->operand_count; i++) program_free(&f->loaded[i]);
  free(f->loaded);
  free(f->arms);
  free(f->grids);
}

static void write_axes(json_writer *j, const char *key, const uint32_t axes[3]) {
  json_open(j, key, '[');
  for (int axis = 0; axis < 3; axis++) json_unsigned(j, NULL, axes[axis]);
  json_close(j, ']');
}

/* ---- Refused --------------------------------------------------------------------------------- */

static void write_refusal(const fusing *f, const vyre_fuse_refusal *r) {
  json_writer writer, *j = output_json(&writer);
  json_open(j, NULL, '{');
  failure_write(j, OUTPUT_FAILED);
  json_text(j, "reason", vyre_fuse_reason_name(r->reason));
  if (r->arm != VYRE_NO_ARM) json_text(j, "program", f->loaded[r->arm].path);
  if (r->arm != VYRE_NO_ARM) json_unsigned(j, "arm", r->arm);
  if (r->other != VYRE_NO_ARM) json_unsigned(j, "other", r->other);
  if (r->subject[0]) json_text(j, "subject", r->subject);
  if (r->fused[0]) write_axes(j, "own", r->own);
  if (r->fused[0]) write_axes(j, "fused", r->fused);
  if (r->fused_threads) json_unsigned(j, "own_threads", r->own_threads);
  if (r->fused_threads) json_unsigned(j, "fused_threads", r->fused_threads);
  json_close(j, '}');
}

static int refuse(const fusing *f, const vyre_fuse_refusal *r, const vyre_error *error) {
  bool is_one = r->reason != VYRE_FUSE_FINE && r->arm != VYRE_NO_ARM;
  int result = output_error(is_one ? f->loaded[r->arm].path : "fuse", error);
  if (r->reason != VYRE_FUSE_FINE && options_has(f->o, OPT_JSON)) write_refusal(f, r);
  return result;
}

/* ---- Fused ----------------------------------------------------------------------------------- */

static void write_json(const fusing *f, const char *text, const uint32_t grid[3]) {
  json_writer writer, *j = output_json(&writer);
  json_open(j, NULL, '{');
  json_open(j, "files", '[');
  for (size_t i = 0; i < f->o->operand_count; i++) json_text(j, NULL, f->loaded[i].path);
  json_close(j, ']');
  if (f->has_grid) write_axes(j, "grid", grid);
  if (text) json_text(j, "text", text);
  json_close(j, '}');
}

/* Larger workgroups need fewer of them. */
static void note_grid(const fusing *f, const uint32_t grid[3]) {
  if (!f->has_grid || (grid[0] == f->axes[0] && grid[1] == f->axes[1] && grid[2] == f->axes[2])) return;
  output_note("fuse: launch the result with --grid %u,%u,%u", grid[0], grid[1], grid[2]);
}

static int tell(const fusing *f, const vyre_program *fused, const uint32_t grid[3]) {
  const char *path = options_get(f->o, OPT_OUTPUT);
  bool is_json = options_has(f->o, OPT_JSON);
  char *text;
  size_t length;
  if (vyre_text_print(fused, &text, &length) != VYRE_OK) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  note_grid(f, grid);
  int result = path || !is_json ? files_write(path ? path : "-", text, length) : OUTPUT_DONE;
  if (result == OUTPUT_DONE && is_json) write_json(f, path ? NULL : text, grid);
  free(text);
  return result;
}

static int join(const fusing *f) {
  vyre_fuse_options options = VYRE_FUSE_OPTIONS_INIT;
  vyre_fuse_refusal refusal = VYRE_FUSE_REFUSAL_INIT;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *fused;
  uint32_t grid[3], count = f->o->operand_count > UINT32_MAX ? UINT32_MAX : (uint32_t)f->o->operand_count;
  if (f->has_grid) options.grids = (const uint32_t (*)[3])f->grids;
  bool is_shared = options_has(f->o, OPT_SHARED);
  vyre_status status =
      (is_shared ? vyre_fuse_shared : vyre_fuse)(f->arms, count, &options, &fused, grid, &refusal, &error);
  if (status != VYRE_OK) return refuse(f, &refusal, &error);
  int result = tell(f, fused, grid);
  vyre_program_release(fused);
  return result;
}

int cmd_fuse(const parsed_options *o) {
  fusing f = {.o = o, .axes = {1, 1, 1}};
  const char *path = options_get(o, OPT_OUTPUT);
  if (path && !*path) {
    output_complain("fuse: --output names no file. Fix: add -o FILE, or leave it out.");
    return OUTPUT_USAGE;
  }
  int result = read_grid(&f);
  if (result != OUTPUT_DONE) return result;
  result = load(&f);
  if (result == OUTPUT_DONE) result = join(&f);
  release(&f);
  return result;
}
