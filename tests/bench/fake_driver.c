#include "fake_driver.h"

#include <string.h>

#include "base/error.h"

char fake_log[4096];

static double uniform(fake *f) {
  f->state = f->state * 6364136223846793005u + 1442695040888963407u;
  return (double)(f->state >> 11) * 0x1p-53;
}

static void launch(fake *f) {
  f->launches++;
  if (f->silent_from && f->launches >= f->silent_from) return;
  bool wrong = f->wrong_from && f->launches >= f->wrong_from && f->launches <= f->wrong_to;
  for (uint32_t i = 0; i < 4; i++) f->output[i] = 3 * i + (wrong && i == 2);
}

static vyre_status sample(bench_driver *d, bench_clock clock, uint32_t launches, bench_times *out, vyre_error *error) {
  fake *f = d->self;
  if (f->resting) f->worked_at_rest++;
  if (clock == BENCH_DEVICE && !f->has_device_clock) return vyre_fail(error, VYRE_ERR_UNSUPPORTED, NULL, "no clock");
  if (clock == BENCH_WALL_E2E && f->lacks_e2e) return vyre_fail(error, VYRE_ERR_UNSUPPORTED, NULL, "not from the host");
  for (uint32_t i = 0; i < launches; i++) {
    launch(f);
    if (f->launches == f->fail_at) return vyre_fail(error, VYRE_ERR_IO, NULL, "it fell over");
  }
  size_t at = strlen(fake_log);
  if (launches > 1 && at + 1 < sizeof fake_log) fake_log[at] = f->letter;
  double ns = f->ns * (1 + f->noise * uniform(f));
  if (f->bad_time != 0) ns = f->bad_time;
  *out = (bench_times){clock == BENCH_DEVICE ? -1 : ns, clock == BENCH_DEVICE ? ns / 2 : -1};
  return VYRE_OK;
}

static vyre_status output(bench_driver *d, vyre_error *error) {
  const fake *f = d->self;
  (void)error;
  memcpy(d->work->arrays[0].host, f->output, sizeof f->output);
  return VYRE_OK;
}

static vyre_status poison(bench_driver *d, vyre_error *error) {
  fake *f = d->self;
  (void)error;
  memset(f->output, 0xEE, sizeof f->output);
  return VYRE_OK;
}

static void rest(bench_driver *d, bool resting) {
  ((fake *)d->self)->resting = resting;
}

static bool describe(bench_driver *d, vyre_arena *arena, bench_contestant *out) {
  (void)d;
  (void)arena;
  (void)out;
  return true;
}

static void close_driver(bench_driver *d) {
  (void)d;
}

static const bench_driver_table table = {sample, output, poison, rest, describe, close_driver};

bench_driver fake_driver(fake *f, bench_work *work) {
  return (bench_driver){.table = &table, .work = work, .self = f, .cold_ns = -1};
}

void fake_work(bench_work *work, bench_answer *answer) {
  *work = (bench_work){.id = "fake", .n = 4};
  bench_work_array(work, "o", VYRE_TYPE_U32, 4, true);
  if (bench_work_allocate(work, NULL) != VYRE_OK) return;
  uint32_t *o = work->arrays[0].host;
  for (uint32_t i = 0; i < 4; i++) o[i] = 3 * i;
  bench_answer_take(work, answer);
}
