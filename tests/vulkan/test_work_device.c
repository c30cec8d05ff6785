/* Work on a real driver: folded grids, extents from the device, timestamps, threads, batches that are pending again.
 * What is wanted is computed here, from the same random numbers. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "rig.h"
#include "../suite.h"

/* ---- Grids beyond the API's limits ----------------------------------------------------------- */

/* Each workgroup is counted, and its ids are added up, by rows so that few wait for each other. */
static const char count_program[] =
  "program count workgroup(1) { rw n: u32[]; rw sum: u32[];\n"
  "  let row = (wid.x ^ (wid.x >> 16) ^ wid.y ^ wid.z) & 255;\n"
  "  atomic_add(n[row], 1); atomic_add(sum[row], wid.x * 3 + wid.y * 5 + wid.z * 7 + nwg.x + nwg.y * 11 + gid.z); }";

typedef struct counted {
  uint32_t n[256], sum[256];
} counted;

static counted expect(const uint32_t grid[3]) {
  counted c = { { 0 }, { 0 } };
  for (uint32_t z = 0; z < grid[2]; z++)
    for (uint32_t y = 0; y < grid[1]; y++)
      for (uint32_t x = 0; x < grid[0]; x++) {
        uint32_t row = (x ^ (x >> 16) ^ y ^ z) & 255;
        c.n[row]++;
        c.sum[row] += x * 3 + y * 5 + z * 7 + grid[0] + grid[1] * 11 + z;
      }
  return c;
}

static void compare(const counted *wanted, const uint32_t *n, const uint32_t *sum, const char *what) {
  for (int i = 0; i < 256; i++) {
    ck_assert_msg(n[i] == wanted->n[i], "%s: row %d: wanted %u workgroups, found %u", what, i, wanted->n[i], n[i]);
    ck_assert_msg(sum[i] == wanted->sum[i], "%s: row %d: wanted a sum of 0x%x, found 0x%x", what, i, wanted->sum[i],
                  sum[i]);
  }
}

typedef struct counter {
  vyre_plugin_executable *e;
  vyre_plugin_buffer *buffers[2];
  uint32_t *words[2];
  vyre_plugin_set *set;
} counter;

static counter make_counter(rig *r) {
  counter c = { .e = rig_load(r, count_program) };
  vyre_bind binds[2];
  for (int i = 0; i < 2; i++) {
    c.buffers[i] = rig_buffer(r, 1024, &c.words[i]);
    binds[i] = rig_bind(c.buffers[i], 1024, 256);
    binds[i].flags |= VYRE_BIND_ZERO;
  }
  c.set = rig_set(r, c.e, binds, 2, NULL, 0);
  return c;
}

static void end_counter(rig *r, counter *c) {
  r->ops->set_destroy(c->set);
  for (int i = 0; i < 2; i++) r->ops->buffer_destroy(c->buffers[i]);
  r->ops->executable_destroy(c->e);
}

/* A driver that computes on the CPU allocates for each workgroup, which takes long. */
static uint32_t groups(uint32_t wanted, uint32_t few) {
  return suite_is_short() ? few : wanted;
}

START_TEST(grids_are_folded) {
  const uint32_t grids[][3] = { { groups(1u << 26, 1u << 20), 1, 1 }, { 70000, 3, 2 }, { 3, 70001, 2 }, { 2, 3, 65537 },
                                { 65535, 1, 1 }, { 65536, 2, 1 }, { 131071, 1, 3 }, { 1, 1, 1 },
                                { 66000, groups(66, 4), 1 }, { 0, 70000, 1 } };
  rig r;
  rig_open(&r, 0);
  counter c = make_counter(&r);
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    const uint32_t *g = grids[i];
    char what[64];
    vyre_completion completion;
    const vyre_dispatch d = rig_dispatch(c.e, c.set, g[0], g[1], g[2]);
    vyre_plugin_batch *batch = rig_batch(&r, &d);
    snprintf(what, sizeof what, "a grid of %u x %u x %u", g[0], g[1], g[2]);
    if (g[0] == 0) memset(c.words[0], 0, 1024), memset(c.words[1], 0, 1024);
    rig_must(&r, rig_run(&r, batch, &completion));
    const counted wanted = expect(g);
    compare(&wanted, c.words[0], c.words[1], what);
    r.ops->batch_destroy(batch);
  }
  end_counter(&r, &c);
  rig_close(&r);
}
END_TEST

/* ---- Extents from the device ----------------------------------------------------------------- */

START_TEST(grids_from_the_device_are_clamped_and_folded) {
  static const uint32_t most[][3] = { { 40, 30, 2 }, { 70000, 3, 1 }, { 2, 65540, 2 } };
  uint64_t seed = 11;
  rig r;
  rig_open(&r, 0);
  counter c = make_counter(&r);
  uint32_t *grid;
  vyre_plugin_buffer *counts = rig_buffer(&r, 64, &grid);
  for (size_t i = 0; i < 12; i++) {
    const uint32_t *m = most[i % 3];
    vyre_dispatch d = rig_dispatch(c.e, c.set, m[0], m[1], m[2]);
    d.grid_buffer = counts;
    d.grid_offset = 20;
    vyre_plugin_batch *batch = rig_batch(&r, &d);
    for (int turn = 0; turn < 3; turn++) { /* one recording, with other numbers */
      uint32_t clamped[3], beyond = 0;
      vyre_completion completion;
      for (int axis = 0; axis < 3; axis++) {
        uint32_t random = rig_random(&seed);
        grid[5 + axis] = random % 4 == 0 ? random : random % (m[axis] + 2);
        beyond += grid[5 + axis] > m[axis];
        clamped[axis] = grid[5 + axis] > m[axis] ? m[axis] : grid[5 + axis];
      }
      rig_must(&r, rig_run(&r, batch, &completion));
      const counted wanted = expect(clamped);
      compare(&wanted, c.words[0], c.words[1], "a grid from the device");
      ck_assert_uint_eq(completion.clamped_extents, beyond);
      vyre_launch_report report = { .size = sizeof report };
      rig_must(&r, r.ops->executable_report(c.e, &report, &r.error));
      ck_assert_mem_eq(report.launched_grid, clamped, sizeof clamped);
    }
    r.ops->batch_destroy(batch);
  }
  r.ops->buffer_destroy(counts);
  end_counter(&r, &c);
  rig_close(&r);
}
END_TEST

static const char lengths_program[] = "program lengths workgroup(64) { param a: u32; read x: u32[]; rw y: u32[];\n"
                                      "  let i = gid.x; y[i] = x[i] + a + len(x) * 1000 + len(y); }";

/* The count of y lies in y itself, which is cleared: it is read before. */
START_TEST(lengths_from_the_device_are_clamped) {
  enum { MOST = 300, GROUPS = 5 };
  uint64_t seed = 5;
  rig r;
  rig_open(&r, 0);
  vyre_plugin_executable *e = rig_load(&r, lengths_program);
  uint32_t *x, *y;
  uint64_t *count;
  vyre_plugin_buffer *xs = rig_buffer(&r, 4 * MOST, &x), *ys = rig_buffer(&r, 4 * MOST, &y);
  vyre_plugin_buffer *counts = rig_buffer(&r, 32, &count);
  vyre_bind binds[2] = { rig_bind(xs, 4 * MOST, MOST), rig_bind(ys, 4 * MOST, MOST) };
  binds[0].flags = 0;
  binds[0].length_bits = 64;
  binds[0].length_buffer = counts;
  binds[0].length_offset = 8;
  binds[1].flags |= VYRE_BIND_ZERO;
  binds[1].length_bits = 32;
  binds[1].length_buffer = ys;
  binds[1].length_offset = 16;
  const uint32_t a = 77;
  vyre_plugin_set *set = rig_set(&r, e, binds, 2, &a, 4);
  const vyre_dispatch d = rig_dispatch(e, set, GROUPS, 1, 1);
  vyre_plugin_batch *batch = rig_batch(&r, &d);
  for (int turn = 0; turn < 40; turn++) {
    const uint64_t random = (uint64_t)rig_random(&seed) << 32 | rig_random(&seed);
    const uint32_t ny = rig_random(&seed) % (MOST + 20);
    vyre_completion completion;
    for (int i = 0; i < MOST; i++) x[i] = rig_random(&seed), y[i] = rig_random(&seed);
    count[1] = turn % 3 == 0 ? random : turn % 3 == 1 ? 1ull << 32 : random % (MOST + 20);
    y[4] = ny;
    rig_must(&r, rig_run(&r, batch, &completion));
    const uint32_t lx = count[1] > MOST ? MOST : (uint32_t)count[1], ly = ny > MOST ? MOST : ny;
    for (uint32_t i = 0; i < MOST; i++) {
      const uint32_t wanted = i < ly && i < 64 * GROUPS ? (i < lx ? x[i] : 0) + a + lx * 1000 + ly : 0;
      ck_assert_msg(y[i] == wanted, "lengths %u and %u: y[%u]: wanted %u, found %u", lx, ly, i, wanted, y[i]);
    }
    ck_assert_uint_eq(completion.clamped_extents, (count[1] > MOST) + (ny > MOST));
  }
  r.ops->batch_destroy(batch);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(xs);
  r.ops->buffer_destroy(ys);
  r.ops->buffer_destroy(counts);
  r.ops->executable_destroy(e);
  rig_close(&r);
}
END_TEST

/* ---- Buffers by address ---------------------------------------------------------------------- */

static const char tables_program[] =
  "program tables workgroup(64) { const T: u32[5] = {3, 1, 4, 1, 5}; const N: i8[3] = {-1, 2, -3};\n"
  "  read x: u32[]; rw y: u32[]; let i = gid.x; y[i] = x[i] * T[i % 7] + bitcast<u32>(N[i % 4]); }";

/* Tables are one more buffer there. What lies behind a table reads as 0. */
START_TEST(tables_are_reached_by_address) {
  enum { COUNT = 192 };
  static const uint32_t t[7] = { 3, 1, 4, 1, 5 }, n[4] = { UINT32_MAX, 2, UINT32_MAX - 2 };
  uint64_t seed = 9;
  rig r;
  rig_setting("max_binding", "256");
  rig_open(&r, 0);
  uint32_t *x, *y;
  vyre_plugin_executable *e = rig_load(&r, tables_program);
  vyre_plugin_buffer *xs = rig_buffer(&r, 4 * COUNT, &x), *ys = rig_buffer(&r, 4 * COUNT, &y);
  const vyre_bind binds[2] = { rig_bind(xs, 4 * COUNT, COUNT), rig_bind(ys, 4 * COUNT, COUNT) };
  vyre_plugin_set *set = rig_set(&r, e, binds, 2, NULL, 0);
  const vyre_dispatch d = rig_dispatch(e, set, COUNT / 64, 1, 1);
  vyre_plugin_batch *batch = rig_batch(&r, &d);
  vyre_completion completion;
  for (int i = 0; i < COUNT; i++) x[i] = rig_random(&seed);
  rig_must(&r, rig_run(&r, batch, &completion));
  for (int i = 0; i < COUNT; i++) ck_assert_uint_eq(y[i], x[i] * t[i % 7] + n[i % 4]);
  r.ops->batch_destroy(batch);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(xs);
  r.ops->buffer_destroy(ys);
  r.ops->executable_destroy(e);
  rig_close(&r);
}
END_TEST

/* So the setting does take descriptors away. */
START_TEST(without_addresses_they_are_refused) {
  rig r;
  rig_setting("max_binding", "256");
  rig_setting("without", "buffer_device_address");
  rig_open(&r, 0);
  uint32_t *y;
  vyre_plugin_executable *e = rig_load(&r, tables_program);
  vyre_plugin_buffer *buffer = rig_buffer(&r, 512, &y);
  const vyre_bind binds[2] = { rig_bind(buffer, 256, 64), rig_bind(buffer, 512, 128) };
  const vyre_set_request request = { .size = sizeof request, .bind_count = 2, .binds = binds };
  vyre_plugin_set *set;
  ck_assert_int_eq(r.ops->set_create(e, &request, &set, &r.error), VYRE_ERR_LIMIT);
  ck_assert_ptr_nonnull(strstr(r.error.text, "binds at most 256"));
  r.ops->buffer_destroy(buffer);
  r.ops->executable_destroy(e);
  rig_close(&r);
}
END_TEST

/* ---- Late values ----------------------------------------------------------------------------- */

START_TEST(late_values_come_with_each_submit) {
  enum { COUNT = 64, PLACES = 8 };
  uint64_t seed = 3;
  rig r;
  rig_open(&r, 0);
  vyre_plugin_executable *e = rig_load(&r, lengths_program);
  const uint32_t step = r.caps.binding_alignment > 4 * COUNT ? r.caps.binding_alignment : 4 * COUNT;
  uint32_t *x, *y;
  vyre_plugin_buffer *xs = rig_buffer(&r, (uint64_t)step * PLACES, &x);
  vyre_plugin_buffer *ys = rig_buffer(&r, (uint64_t)step * PLACES, &y);
  vyre_bind binds[2] = { rig_bind(xs, 4 * COUNT, COUNT), rig_bind(ys, 4 * COUNT, COUNT) };
  binds[0].flags = VYRE_BIND_LATE;
  binds[1].flags |= VYRE_BIND_LATE;
  vyre_plugin_set *set;
  const vyre_set_request request = { .size = sizeof request, .bind_count = 2, .binds = binds, .late_params = 1 };
  rig_must(&r, r.ops->set_create(e, &request, &set, &r.error));
  const vyre_dispatch d = rig_dispatch(e, set, 1, 1, 1);
  vyre_plugin_batch *batch = rig_batch(&r, &d);
  for (uint32_t i = 0; i < step / 4 * PLACES; i++) x[i] = rig_random(&seed);
  uint32_t params[PLACES];
  uint64_t from[PLACES], last = 0;
  vyre_completion completions[PLACES];
  for (int i = 0; i < PLACES; i++) { /* all pending together */
    params[i] = rig_random(&seed);
    from[i] = rig_random(&seed) % PLACES;
    const uint64_t offsets[2] = { from[i] * step, (uint64_t)i * step };
    const vyre_late late = { .command = 0, .params = &params[i], .offsets = offsets };
    vyre_point point;
    vyre_submit submit = rig_submit(&r, batch, &point, &completions[i]);
    submit.late = &late;
    submit.late_count = 1;
    rig_must(&r, r.ops->submit(r.queue, &submit, &r.error));
    last = point.value;
  }
  rig_must(&r, r.ops->timeline_wait(r.timeline, last, UINT64_MAX, &r.error));
  for (int i = 0; i < PLACES; i++)
    for (uint32_t k = 0; k < COUNT; k++)
      ck_assert_uint_eq(y[i * (step / 4) + k], x[from[i] * (step / 4) + k] + params[i] + COUNT * 1000 + COUNT);
  r.ops->batch_destroy(batch);
  r.ops->set_destroy(set);
  r.ops->buffer_destroy(xs);
  r.ops->buffer_destroy(ys);
  r.ops->executable_destroy(e);
  rig_close(&r);
}
END_TEST

/* ---- Time ------------------------------------------------------------------------------------ */

START_TEST(timestamps_tell_the_time) {
  rig r;
  rig_open(&r, 0);
  if ((r.caps.can & VYRE_CAN_TIMESTAMP) == 0) {
    rig_close(&r);
    return;
  }
  counter c = make_counter(&r);
  const vyre_timestamp first = { sizeof first, 1 }, last = { sizeof last, 0 };
  const vyre_dispatch d = rig_dispatch(c.e, c.set, 3000, 10, 1);
  const vyre_command commands[] = { { VYRE_COMMAND_TIMESTAMP, 0, &first }, { VYRE_COMMAND_ORDER, 0, NULL },
                                    { VYRE_COMMAND_DISPATCH, 0, &d },      { VYRE_COMMAND_ORDER, 0, NULL },
                                    { VYRE_COMMAND_TIMESTAMP, 0, &last } };
  vyre_plugin_batch *batch;
  rig_must(&r, r.ops->batch_create(r.device, commands, 5, &batch, &r.error));
  uint64_t before = 0;
  for (int i = 0; i < 10; i++) {
    uint64_t times[2] = { 0, 0 };
    vyre_completion completion;
    vyre_point point;
    vyre_submit submit = rig_submit(&r, batch, &point, &completion);
    submit.timestamps = times;
    submit.timestamp_count = 2;
    rig_must(&r, r.ops->submit(r.queue, &submit, &r.error));
    rig_must(&r, r.ops->timeline_wait(r.timeline, point.value, UINT64_MAX, &r.error));
    ck_assert_uint_lt(before, times[1]);
    ck_assert_uint_lt(times[1], times[0]);
    ck_assert_uint_ge(completion.device_ns, times[0] - times[1]);
    before = times[0];
  }
  r.ops->batch_destroy(batch);
  end_counter(&r, &c);
  rig_close(&r);
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

static const char chain_program[] = "program chain workgroup(64) { param m: u32; rw y: u32[];\n"
                                   "  let i = gid.x; y[i] = y[i] * m + i; }";
enum { THREADS = 6, TURNS = 60, WORDS = 192 };

typedef struct worker {
  rig *r;
  vyre_plugin_executable *e; /* all share it */
  uint32_t seed;
  bool good;
} worker;

/* A chain of submissions of one batch that depend on each other by the queue's order alone, several pending. */
static void *work(void *argument) {
  worker *w = argument;
  rig own = *w->r;
  const vyre_backend_ops *ops = own.ops;
  uint32_t *y, wanted[WORDS], m = w->seed | 1;
  own.point = 0;
  rig_must(&own, ops->queue_create(own.device, 0, &own.queue, &own.error));
  rig_must(&own, ops->timeline_create(own.device, 0, &own.timeline, &own.error));
  vyre_plugin_buffer *buffer = rig_buffer(&own, 4 * WORDS, &y);
  const vyre_bind bind = rig_bind(buffer, 4 * WORDS, WORDS);
  vyre_plugin_set *set = rig_set(&own, w->e, &bind, 1, &m, 4);
  const vyre_dispatch d = rig_dispatch(w->e, set, WORDS / 64, 1, 1);
  vyre_plugin_batch *batch = rig_batch(&own, &d);
  for (uint32_t i = 0; i < WORDS; i++) wanted[i] = y[i] = w->seed * (i + 1);
  vyre_completion completions[TURNS];
  for (int turn = 0; turn < TURNS; turn++) {
    vyre_point point;
    const vyre_submit submit = rig_submit(&own, batch, &point, &completions[turn]);
    rig_must(&own, ops->submit(own.queue, &submit, &own.error));
    if (turn % 7 == 0) rig_must(&own, ops->timeline_wait(own.timeline, point.value, UINT64_MAX, &own.error));
    for (uint32_t i = 0; i < WORDS; i++) wanted[i] = wanted[i] * m + i;
  }
  rig_must(&own, ops->timeline_wait(own.timeline, own.point, UINT64_MAX, &own.error));
  w->good = memcmp(y, wanted, sizeof wanted) == 0;
  for (int turn = 0; turn < TURNS; turn++) w->good &= completions[turn].status == VYRE_OK;
  ops->batch_destroy(batch);
  ops->set_destroy(set);
  ops->buffer_destroy(buffer);
  ops->timeline_destroy(own.timeline);
  ops->queue_destroy(own.queue);
  return NULL;
}

static void run_threads(void) {
  rig r;
  pthread_t threads[THREADS];
  worker workers[THREADS];
  rig_open(&r, 0);
  vyre_plugin_executable *e = rig_load(&r, chain_program);
  for (uint32_t i = 0; i < THREADS; i++) {
    workers[i] = (worker){ &r, e, 0x9E3779B1u * (i + 1), false };
    ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) ck_assert_msg(workers[i].good, "thread %d has other results", i);
  vyre_launch_report report = { .size = sizeof report };
  rig_must(&r, r.ops->executable_report(e, &report, &r.error));
  ck_assert_uint_eq(report.launches, THREADS * TURNS);
  r.ops->executable_destroy(e);
  rig_close(&r);
}

START_TEST(many_threads_submit) { run_threads(); }
END_TEST

START_TEST(many_threads_submit_with_fences) {
  rig_setting("without", "timeline_semaphore");
  run_threads();
}
END_TEST

/* ---- The driver's cache ---------------------------------------------------------------------- */

START_TEST(a_second_start_compiles_nothing) {
  for (int start = 0; start < 2; start++) {
    rig r;
    rig_open(&r, 0);
    const unsigned hits = rig_cache_hits, puts = rig_cache_puts;
    vyre_plugin_executable *e = rig_load(&r, chain_program);
    ck_assert_uint_eq(rig_cache_hits - hits, start);
    ck_assert_uint_eq(rig_cache_puts - puts, 1 - start);
    r.ops->executable_destroy(e);
    rig_close(&r);
  }
}
END_TEST

int main(void) {
  if (!rig_has_device()) return 77;
  const TTest *const tests[] = { grids_are_folded,
                                        grids_from_the_device_are_clamped_and_folded,
                                        lengths_from_the_device_are_clamped,
                                        tables_are_reached_by_address,
                                        without_addresses_they_are_refused,
                                        late_values_come_with_each_submit,
                                        timestamps_tell_the_time,
                                        many_threads_submit,
                                        many_threads_submit_with_fences,
                                        a_second_start_compiles_nothing,
                                        NULL };
  return run_suite("vulkan work, device", 300, tests);
}
