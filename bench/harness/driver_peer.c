/* A peer as a contestant. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "driver.h"
#include "peer_host.h"

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static vyre_status sample(bench_driver *d, bench_clock clock, uint32_t launches, bench_times *out, vyre_error *error) {
  vyre_status status = bench_peer_sample(d->self, clock, launches, out, error);
  double time = clock == BENCH_DEVICE ? out->device_ns : out->wall_ns;
  if (status != VYRE_OK || time > 0) return status;
  return vyre_fail(error, VYRE_ERR_UNSUPPORTED, ((bench_peer *)d->self)->child.path, "It does not have that clock.");
}

static vyre_status output(bench_driver *d, vyre_error *error) {
  return bench_peer_do(d->self, "output", error);
}

static vyre_status poison(bench_driver *d, vyre_error *error) {
  return bench_peer_do(d->self, "poison", error);
}

static void rest(bench_driver *d, bool resting) {
  bench_child_rest(&((bench_peer *)d->self)->child, resting);
}

/* NULL for a field that is empty. */
static bool copy(vyre_arena *arena, const char *text, const char **out) {
  *out = text[0] ? vyre_arena_copy(arena, text, strlen(text)) : NULL;
  return !text[0] || *out;
}

static bool describe(bench_driver *d, vyre_arena *arena, bench_contestant *out) {
  const bench_peer_identity *who = &((bench_peer *)d->self)->who;
  if (strcmp(who->kind, "cpu") == 0 && out->class == BENCH_GPU_SOTA) out->class = BENCH_CPU_SOTA;
  if (strcmp(who->kind, "gpu") == 0 && out->class == BENCH_CPU_SOTA) out->class = BENCH_GPU_SOTA;
  return copy(arena, who->version, &out->version) && copy(arena, who->build, &out->build) &&
         copy(arena, who->flags, &out->flags) && copy(arena, who->how, &out->how);
}

static void close_driver(bench_driver *d) {
  bench_peer_end(d->self);
  free(d->self);
}

static const bench_driver_table table = {.sample = sample,
                                         .output = output,
                                         .poison = poison,
                                         .rest = rest,
                                         .describe = describe,
                                         .close = close_driver};

vyre_status bench_driver_peer(const char *path, const bench_work *work, bench_driver *out, vyre_error *error) {
  *out = (bench_driver){.cold_ns = -1};
  bench_peer *peer = calloc(1, sizeof *peer);
  if (!peer) return vyre_fail_memory(error, path);
  bench_times times;
  double start = now_ns();
  vyre_status status = bench_peer_begin(peer, path, work, error);
  if (status == VYRE_OK) status = bench_peer_sample(peer, BENCH_WALL_READBACK, 1, &times, error);
  double cold = now_ns() - start;
  if (status != VYRE_OK) {
    bench_peer_end(peer);
    free(peer);
    return status;
  }
  *out = (bench_driver){.table = &table, .work = work, .self = peer, .cold_ns = cold};
  return VYRE_OK;
}
