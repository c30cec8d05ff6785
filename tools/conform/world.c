/* The small program, made and run. */
#include "world.h"

#include <string.h>

const char world_text[] = "program world workgroup(64) {\n"
                          "  param n: u32;\n"
                          "  read x: u32[];\n"
                          "  rw y: u32[];\n"
                          "  let i = gid.x;\n"
                          "  if (i < len(y)) {\n"
                          "    y[i] = x[i] * 3 + n;\n"
                          "  }\n"
                          "}\n";

enum { BYTES = 4 * WORLD_ELEMENTS, USUAL_N = 5 };

bool world_make_set(world *w, uint32_t n, vyre_plugin_set **out) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_bind binds[2] = {
      {.buffer = w->x, .bytes = BYTES, .elements = WORLD_ELEMENTS},
      {.flags = VYRE_BIND_WRITTEN, .buffer = w->y, .bytes = BYTES, .elements = WORLD_ELEMENTS},
  };
  vyre_set_request request = {.size = sizeof request, .bind_count = 2, .binds = binds, .params = &n, .param_bytes = 4};
  *out = NULL;
  return raw_wants(&w->r, "a binding set", w->r.ops.set_create(w->executable, &request, out, &error), VYRE_OK, &error);
}

bool world_make(world *w) {
  w->executable = raw_executable(&w->r, world_text);
  w->x = w->executable != NULL ? raw_buffer(&w->r, BYTES) : NULL;
  w->y = w->x != NULL ? raw_buffer(&w->r, BYTES) : NULL;
  if (w->y == NULL) return false;
  w->x_words = (uint32_t *)(void *)raw_map(&w->r, w->x);
  w->y_words = (uint32_t *)(void *)raw_map(&w->r, w->y);
  if (w->x_words == NULL || w->y_words == NULL) return false;
  for (uint32_t i = 0; i < WORLD_ELEMENTS; i++) w->x_words[i] = i * 0x9E3779B1u;
  raw_flush(&w->r, w->x, BYTES);
  if (!world_make_set(w, USUAL_N, &w->set)) return false;
  w->batch = raw_dispatch(&w->r, w->executable, w->set, WORLD_GROUPS);
  return w->batch != NULL && raw_queue_open(&w->r, &w->queue);
}

bool world_open(kit *k, world *w) {
  *w = (world){0};
  return raw_open(k, &w->r) && world_make(w);
}

void world_clear(world *w) {
  memset(w->y_words, 0, BYTES);
  raw_flush(&w->r, w->y, BYTES);
}

bool world_check(world *w, const char *what, uint32_t n) {
  raw_invalidate(&w->r, w->y, BYTES);
  for (uint32_t i = 0; i < WORLD_ELEMENTS; i++) {
    uint32_t wanted = i * 0x9E3779B1u * 3 + n;
    if (w->y_words[i] != wanted)
      return kit_fail(w->r.k, "%s: y[%u]: wanted %u, found %u; x[%u] = %u, n = %u", what, i, wanted, w->y_words[i], i,
                      w->x_words[i], n);
  }
  return true;
}

bool world_run(world *w, const char *what) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_completion completion;
  world_clear(w);
  kit_doing(w->r.k, "%s", what);
  vyre_status status = raw_run(&w->r, &w->queue, w->batch, &completion, &error);
  if (status != VYRE_OK)
    return kit_fail(w->r.k, "%s: %s: %s", what, vyre_status_name(status),
                    error.text[0] != '\0' ? error.text : completion.text);
  return world_check(w, what, USUAL_N);
}

void world_unmake(world *w) {
  const vyre_backend_ops *ops = &w->r.ops;
  raw_queue_close(&w->r, &w->queue);
  if (w->batch != NULL) ops->batch_destroy(w->batch);
  if (w->set != NULL) ops->set_destroy(w->set);
  if (w->x != NULL) ops->buffer_destroy(w->x);
  if (w->y != NULL) ops->buffer_destroy(w->y);
  if (w->executable != NULL) ops->executable_destroy(w->executable);
  w->batch = NULL;
  w->set = NULL;
  w->x = w->y = NULL;
  w->executable = NULL;
}

void world_close(world *w) {
  kit_doing(w->r.k, "destroying everything");
  world_unmake(w);
  raw_close(&w->r);
}
