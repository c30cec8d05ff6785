#include "driver_host.h"

#include <stdlib.h>
#include <time.h>

#include "base/error.h"

typedef struct host {
  const bench_host_work *work;
  void *ctx;
} host;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static vyre_status sample(bench_driver *d, bench_clock clock, uint32_t launches, bench_times *out, vyre_error *error) {
  host *h = d->self;
  *out = (bench_times){-1, -1};
  if (clock != BENCH_WALL_RESIDENT)
    return vyre_fail(error, VYRE_ERR_UNSUPPORTED, d->work->id, "It has the wall clock alone, resident.");
  double start = now_ns();
  for (uint32_t i = 0; i < launches; i++) {
    vyre_status status = h->work->run(h->ctx, error);
    if (status != VYRE_OK) return status;
  }
  out->wall_ns = (now_ns() - start) / launches;
  return VYRE_OK;
}

static vyre_status output(bench_driver *d, vyre_error *error) {
  host *h = d->self;
  return h->work->check(h->ctx, error);
}

static vyre_status poison(bench_driver *d, vyre_error *error) {
  host *h = d->self;
  (void)error;
  h->work->spoil(h->ctx);
  return VYRE_OK;
}

static bool describe(bench_driver *d, vyre_arena *arena, bench_contestant *out) {
  host *h = d->self;
  (void)arena;
  out->how = h->work->how;
  return true;
}

static void close_driver(bench_driver *d) {
  host *h = d->self;
  h->work->destroy(h->ctx);
  free(h);
}

static const bench_driver_table table = {
    .sample = sample, .output = output, .poison = poison, .describe = describe, .close = close_driver};

vyre_status bench_driver_host(const bench_host_work *work, void *ctx, const bench_work *of, bench_driver *out,
                              vyre_error *error) {
  *out = (bench_driver){.cold_ns = -1};
  host *h = malloc(sizeof *h);
  if (!h) {
    work->destroy(ctx);
    return vyre_fail_memory(error, of->id);
  }
  *h = (host){work, ctx};
  *out = (bench_driver){.table = &table, .work = of, .self = h, .cold_ns = -1};
  return VYRE_OK;
}
