/* Timelines and queues: who waits for what, in which order it comes, and what is there when it has come. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "world.h"

static const uint64_t long_ns = 60000000000u, short_ns = 2000000u;

static uint64_t value_of(raw *r, vyre_plugin_timeline *t) {
  uint64_t value = UINT64_MAX;
  vyre_error error = VYRE_ERROR_INIT;
  raw_wants(r, "timeline_value", r->ops.timeline_value(t, &value, &error), VYRE_OK, &error);
  return value;
}

static void expect_value(raw *r, vyre_plugin_timeline *t, const char *when, uint64_t wanted) {
  uint64_t value = value_of(r, t);
  if (value != wanted) kit_fail(r->k, "%s: the timeline is at %" PRIu64 ", wanted %" PRIu64, when, value, wanted);
}

/* ---- By the host alone ----------------------------------------------------------------------- */

void check_timelines(kit *k) {
  raw r;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_timeline *t = NULL, *late = NULL;
  if (!raw_open(k, &r)) return;
  raw_wants(&r, "a timeline from 5 on", r.ops.timeline_create(r.device, 5, &t, &error), VYRE_OK, &error);
  raw_wants(&r, "a timeline near its end", r.ops.timeline_create(r.device, UINT64_MAX - 2, &late, &error), VYRE_OK,
            &error);
  if (t == NULL || late == NULL) return;
  expect_value(&r, t, "a new timeline", 5);
  raw_wants(&r, "waiting for what is past", r.ops.timeline_wait(t, 3, 0, &error), VYRE_OK, &error);
  raw_wants(&r, "waiting for what is reached", r.ops.timeline_wait(t, 5, UINT64_MAX, &error), VYRE_OK, &error);
  raw_wants(&r, "asking for what is to come", r.ops.timeline_wait(t, 6, 0, &error), VYRE_ERR_TIMEOUT, &error);
  uint64_t began = kit_now_ns();
  raw_wants(&r, "waiting for what does not come", r.ops.timeline_wait(t, 6, short_ns, &error), VYRE_ERR_TIMEOUT,
            &error);
  if (kit_now_ns() - began < short_ns) kit_fail(k, "a wait of %" PRIu64 " ns gives up too early", short_ns);
  raw_wants(&r, "signalling 6", r.ops.timeline_signal(t, 6, &error), VYRE_OK, &error);
  raw_wants(&r, "signalling 900", r.ops.timeline_signal(t, 900, &error), VYRE_OK, &error);
  expect_value(&r, t, "after signals", 900);
  raw_wants(&r, "waiting for what was passed", r.ops.timeline_wait(t, 77, long_ns, &error), VYRE_OK, &error);
  raw_wants(&r, "signalling the last value", r.ops.timeline_signal(late, UINT64_MAX - 1, &error), VYRE_OK, &error);
  expect_value(&r, late, "at its end", UINT64_MAX - 1);
  r.ops.timeline_destroy(late);
  r.ops.timeline_destroy(t);
  raw_close(&r);
}

/* ---- With work ------------------------------------------------------------------------------- */

static vyre_submit submit_of(world *w, const vyre_point *waits, uint32_t wait_count, const vyre_point *signals,
                             uint32_t signal_count, vyre_completion *completion) {
  *completion = (vyre_completion){.size = sizeof *completion};
  return (vyre_submit){.size = sizeof(vyre_submit),
                       .batch = w->batch,
                       .waits = waits,
                       .wait_count = wait_count,
                       .signals = signals,
                       .signal_count = signal_count,
                       .completion = completion};
}

/* Work waits for a point that the host has not reached yet, and several points come with its end. */
void check_wait_before_signal(kit *k) {
  world w;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_timeline *gate = NULL, *other = NULL;
  static vyre_completion completion;
  if (!world_open(k, &w)) return;
  const vyre_backend_ops *ops = &w.r.ops;
  ops->timeline_create(w.r.device, 0, &gate, NULL);
  ops->timeline_create(w.r.device, 0, &other, NULL);
  if (gate == NULL || other == NULL) {
    kit_fail(k, "a second and third timeline can't be had");
    return;
  }
  vyre_point waits[2] = {{gate, 3}, {gate, 2}}, signals[2] = {{w.queue.timeline, 10}, {other, 7}};
  vyre_submit submit = submit_of(&w, waits, 2, signals, 2, &completion);
  world_clear(&w);
  kit_doing(k, "a submission that waits for a point in the future");
  if (!raw_wants(&w.r, "submit", ops->submit(w.queue.queue, &submit, &error), VYRE_OK, &error)) return;
  memset(waits, 0xFF, sizeof waits); /* arguments are borrowed for the call */
  memset(signals, 0xFF, sizeof signals);
  memset(&submit, 0xFF, sizeof submit);
  ops->timeline_signal(gate, 2, NULL);
  raw_wants(&w.r, "waiting before all points are reached", ops->timeline_wait(w.queue.timeline, 10, short_ns, &error),
            VYRE_ERR_TIMEOUT, &error);
  if (w.y_words[1] != 0) kit_fail(k, "work began before the point that it waits for");
  ops->timeline_signal(gate, 3, NULL);
  if (!raw_wants(&w.r, "waiting once all points are reached", ops->timeline_wait(w.queue.timeline, 10, long_ns, &error),
                 VYRE_OK, &error))
    kit_end(k);
  raw_wants(&w.r, "the second signal", ops->timeline_wait(other, 7, long_ns, &error), VYRE_OK, &error);
  if (completion.status != VYRE_OK) kit_fail(k, "its completion record says %s", vyre_status_name(completion.status));
  world_check(&w, "work that waited", 5);
  ops->timeline_destroy(gate);
  ops->timeline_destroy(other);
  world_close(&w);
}

/* Two queues, each waiting for the other in turns, submitted in the wrong order. */
void check_two_queues(kit *k) {
  enum { TURNS = 20 };
  world w;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_queue *second = NULL;
  vyre_plugin_timeline *t = NULL;
  static vyre_completion completions[2 * TURNS];
  if (!world_open(k, &w)) return;
  const vyre_backend_ops *ops = &w.r.ops;
  if (w.r.caps.max_queues < 2) {
    kit_skip(k, "it has one queue");
    return;
  }
  if (!raw_wants(&w.r, "a second queue", ops->queue_create(w.r.device, 0, &second, &error), VYRE_OK, &error)) return;
  ops->timeline_create(w.r.device, 0, &t, NULL);
  world_clear(&w);
  kit_doing(k, "two queues that wait for each other in turns");
  for (int q = 1; q >= 0; q--)
    for (uint64_t turn = 0; turn < TURNS; turn++) {
      vyre_point wait = {t, 2 * turn + (uint64_t)q}, signal = {t, 2 * turn + (uint64_t)q + 1};
      vyre_submit submit = submit_of(&w, &wait, 1, &signal, 1, &completions[2 * turn + (uint64_t)q]);
      if (!raw_wants(&w.r, "submit", ops->submit(q == 0 ? w.queue.queue : second, &submit, &error), VYRE_OK, &error))
        return;
    }
  if (!raw_wants(&w.r, "waiting for the last turn", ops->timeline_wait(t, 2 * TURNS, long_ns, &error), VYRE_OK, &error))
    kit_end(k);
  for (int i = 0; i < 2 * TURNS; i++)
    if (completions[i].status != VYRE_OK)
      kit_fail(k, "turn %d ends with %s", i, vyre_status_name(completions[i].status));
  world_check(&w, "two queues in turns", 5);
  ops->queue_destroy(second);
  ops->timeline_destroy(t);
  world_close(&w);
}

/* The record is whole before a signal is seen, by whoever looks without waiting. */
void check_completion(kit *k) {
  enum { RUNS = 40, DISPATCHES = 200 };
  world w;
  vyre_error error = VYRE_ERROR_INIT;
  if (!world_open(k, &w)) return;
  /* So much that who looks too early sees it. */
  vyre_command commands[DISPATCHES];
  vyre_dispatch dispatch = {
      .size = sizeof dispatch, .executable = w.executable, .set = w.set, .grid = {WORLD_GROUPS, 1, 1}};
  for (int i = 0; i < DISPATCHES; i++)
    commands[i] =
        i % 2 == 0 ? (vyre_command){VYRE_COMMAND_DISPATCH, 0, &dispatch} : (vyre_command){VYRE_COMMAND_ORDER, 0, NULL};
  vyre_plugin_batch *small = w.batch;
  vyre_status made = w.r.ops.batch_create(w.r.device, commands, DISPATCHES, &w.batch, &error);
  if (!raw_wants(&w.r, "a batch of many dispatches", made, VYRE_OK, &error)) return;
  w.r.ops.batch_destroy(small);
  for (int i = 0; i < RUNS && !kit_is_over(k); i++) {
    static vyre_completion completion;
    vyre_point end = {w.queue.timeline, ++w.queue.value};
    vyre_submit submit = submit_of(&w, NULL, 0, &end, 1, &completion);
    completion.status = -1; /* libvyre has zero here; what the plugin writes is seen */
    world_clear(&w);
    kit_doing(k, "polling for the end of submission %d", i);
    if (!raw_wants(&w.r, "submit", w.r.ops.submit(w.queue.queue, &submit, &error), VYRE_OK, &error)) return;
    while (value_of(&w.r, w.queue.timeline) < w.queue.value && !kit_is_over(k)) continue;
    if (completion.status == -1)
      kit_fail(k, "submission %d: its point is reached, and its record is not filled", i);
    else if (completion.status != VYRE_OK)
      kit_fail(k, "submission %d ends with %d: %s", i, completion.status, completion.text);
    world_check(&w, "polled", 5);
  }
  world_close(&w);
}

/* As many as the record says, and one more is refused. */
void check_queues(kit *k) {
  enum { MOST = 1024 };
  static vyre_plugin_queue *queues[MOST + 1];
  raw r;
  vyre_error error = VYRE_ERROR_INIT;
  if (!raw_open(k, &r)) return;
  uint32_t most = r.caps.max_queues < MOST ? r.caps.max_queues : MOST;
  for (uint32_t i = 0; i < most; i++) {
    kit_doing(k, "making queue %u of %u", i + 1, r.caps.max_queues);
    if (!raw_wants(&r, "a queue", r.ops.queue_create(r.device, 0, &queues[i], &error), VYRE_OK, &error)) {
      kit_fail(k, "max_queues is %u, and queue %u can't be had", r.caps.max_queues, i + 1);
      return;
    }
  }
  vyre_status status =
      r.caps.max_queues <= MOST ? r.ops.queue_create(r.device, 0, &queues[most], &error) : VYRE_ERR_LIMIT;
  if (r.caps.max_queues <= MOST) raw_wants(&r, "a queue above max_queues", status, VYRE_ERR_LIMIT, &error);
  for (uint32_t i = 0; i < most; i++) r.ops.queue_destroy(queues[i]);
  raw_wants(&r, "a queue, once others are destroyed", r.ops.queue_create(r.device, 0, &queues[0], &error), VYRE_OK,
            &error);
  if (queues[0] != NULL) r.ops.queue_destroy(queues[0]);
  raw_close(&r);
}
