/* Work that is pending: timelines, waiting, callbacks, the loss of a device and its closing, and that what is destroyed
 * while it is used lives on until its last use. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../suite.h"
#include "adder.h"

/* Waits for what a thread of the library does next; it always comes, or the test times out. */
static void wait_for_live(vyre_device *device, uint64_t count) {
  while (live_objects(device) != count) nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* ---- Timelines and pending work -------------------------------------------------------------- */

START_TEST(waiting_asking_and_timing_out) {
  bench b = bench_fake("sound");
  adder a = adder_for(&b);
  vyre_timeline *gate;
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  vyre_submission *s = hold_back(&b, &a, gate, NULL, 0);
  vyre_completion c = { .size = sizeof c };
  uint64_t value;
  REFUSED(vyre_submission_wait(s, 0, &error), VYRE_ERR_TIMEOUT, "had not ended");
  REFUSED(vyre_submission_wait(s, 1000000, &error), VYRE_ERR_TIMEOUT, "0.001 s");
  REFUSED(vyre_submission_completion(s, &c, &error), VYRE_ERR_NOT_READY, "not ended yet");
  REFUSED(vyre_queue_wait(a.queue, 0, &error), VYRE_ERR_TIMEOUT, "");
  REFUSED(vyre_device_wait(b.device, 0, &error), VYRE_ERR_TIMEOUT, "");
  REFUSED(vyre_timeline_wait(gate, 1, 0, &error), VYRE_ERR_TIMEOUT, "reached 1");
  ck_assert_uint_eq(word(a.y, 0), 0);
  OK(vyre_timeline_signal(gate, 1, &error));
  OK(vyre_submission_wait(s, VYRE_FOREVER, &error));
  OK(vyre_submission_wait(s, 0, &error));
  OK(vyre_device_wait(b.device, 0, &error));
  OK(vyre_timeline_wait(gate, 1, 0, &error));
  OK(vyre_timeline_value(gate, &value, &error));
  ck_assert_uint_eq(value, 1);
  ck_assert_uint_eq(word(a.y, 3), 1);
  REFUSED(vyre_timeline_signal(gate, 1, &error), VYRE_ERR_INVALID_ARGUMENT, "only signal higher");
  vyre_submission_destroy(s);
  vyre_timeline_destroy(gate);
  adder_end(&a);
  ck_assert_uint_eq(live_objects(b.device), 0);
  bench_end(&b);
}
END_TEST

/* Everything may be destroyed while it is used, and lives until the work has ended. */
START_TEST(destroyed_while_pending) {
  bench b = bench_fake("sound");
  vyre_timeline *gate;
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  adder a = adder_for(&b);
  vyre_buffer *result;
  vyre_batch *batch;
  OK(vyre_buffer_create(b.device, 16, HOST, &result, &error));
  vyre_submission_destroy(hold_back(&b, &a, gate, NULL, 0));
  OK(vyre_batch_create(b.device, &batch, &error));
  OK(vyre_batch_copy(batch, a.y, 0, result, 0, 16, &error));
  OK(vyre_queue_submit(a.queue, batch, NULL, NULL, &error));
  vyre_batch_destroy(batch);
  uint64_t used = live_objects(b.device);
  adder_end(&a);
  ck_assert_uint_eq(live_objects(b.device), used);
  OK(vyre_timeline_signal(gate, 1, &error));
  wait_for_live(b.device, 2); /* gate and result */
  ck_assert_uint_eq(word(result, 0), 1);
  vyre_timeline_destroy(gate);
  vyre_buffer_destroy(result);
  bench_end(&b);
}
END_TEST

START_TEST(a_timeline_is_kept_by_who_waits_for_it) {
  bench b = bench_fake("sound");
  vyre_timeline *gate, *done;
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  OK(vyre_timeline_create(b.device, 0, &done, &error));
  adder a = adder_for(&b);
  vyre_submission *s = hold_back(&b, &a, gate, &(vyre_timeline_point){ done, 5 }, 1);
  vyre_timeline_destroy(done);
  OK(vyre_timeline_signal(gate, 1, &error));
  vyre_timeline_destroy(gate);
  OK(vyre_submission_wait(s, VYRE_FOREVER, &error));
  vyre_submission_destroy(s);
  adder_end(&a);
  ck_assert_uint_eq(live_objects(b.device), 0);
  bench_end(&b);
}
END_TEST

START_TEST(points_in_order) {
  bench b = bench_fake("sound"), other = b;
  vyre_timeline *gate, *done, *foreign;
  adder a = adder_for(&b);
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  OK(vyre_timeline_create(b.device, 10, &done, &error));
  vyre_submission *first = hold_back(&b, &a, gate, &(vyre_timeline_point){ done, 20 }, 1);
  vyre_submission *second = hold_back(&b, &a, gate, &(vyre_timeline_point){ done, 30 }, 1);
  vyre_batch *batch;
  vyre_timeline_point point = { done, 30 };
  vyre_submit_options options = { .size = sizeof options, .signals = &point, .signal_count = 1 };
  OK(vyre_batch_create(b.device, &batch, &error));
  REFUSED(vyre_queue_submit(a.queue, batch, &options, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "30 was signalled or promised");
  options.size = 0;
  REFUSED(vyre_queue_submit(a.queue, batch, &options, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "size 0");
  options.size = sizeof options;
  OK(vyre_device_open(b.context, "sound:1", &other.device, &error));
  OK(vyre_timeline_create(other.device, 0, &foreign, &error));
  point = (vyre_timeline_point){ foreign, 1 };
  REFUSED(vyre_queue_submit(a.queue, batch, &options, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "another device");
  options = (vyre_submit_options){ .size = sizeof options, .waits = &point, .wait_count = 1 };
  REFUSED(vyre_queue_submit(a.queue, batch, &options, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "another device");
  REFUSED(vyre_timeline_wait(done, 11, 0, &error), VYRE_ERR_TIMEOUT, "");
  OK(vyre_timeline_signal(gate, 7, &error));
  OK(vyre_timeline_wait(done, 30, VYRE_FOREVER, &error));
  OK(vyre_timeline_wait(done, 11, 0, &error));
  vyre_submission_destroy(first);
  vyre_submission_destroy(second);
  vyre_batch_destroy(batch);
  vyre_timeline_destroy(foreign);
  vyre_timeline_destroy(gate);
  vyre_timeline_destroy(done);
  OK(vyre_device_close(other.device, 0, &error));
  adder_end(&a);
  bench_end(&b);
}
END_TEST

/* A point tells of its own submission, each time it is asked, and of no other one. */
START_TEST(failure_stands_at_its_point) {
  bench b = bench_fake("traps");
  vyre_timeline *done;
  adder a = adder_for(&b);
  OK(vyre_timeline_create(b.device, 0, &done, &error));
  vyre_batch *batch;
  vyre_submission *s;
  vyre_timeline_point point = { done, 10 };
  vyre_submit_options options = { .size = sizeof options, .signals = &point, .signal_count = 1 };
  OK(vyre_batch_create(b.device, &batch, &error));
  OK(vyre_timeline_signal(done, 3, &error));
  OK(vyre_queue_submit(a.queue, batch, &options, &s, &error));
  for (int i = 0; i < 3; i++) {
    REFUSED(vyre_timeline_wait(done, 10, VYRE_FOREVER, &error), VYRE_ERR_TRAP, "code 7");
    REFUSED(vyre_timeline_wait(done, 4, VYRE_FOREVER, &error), VYRE_ERR_TRAP, "code 7");
    REFUSED(vyre_submission_wait(s, VYRE_FOREVER, &error), VYRE_ERR_TRAP, "outputs are not to be used");
    OK(vyre_timeline_wait(done, 3, VYRE_FOREVER, &error));
  }
  OK(vyre_timeline_signal(done, 12, &error));
  OK(vyre_timeline_wait(done, 12, VYRE_FOREVER, &error));
  REFUSED(vyre_timeline_wait(done, 10, VYRE_FOREVER, &error), VYRE_ERR_TRAP, "code 7");
  /* It is still known when many others have come and gone. */
  for (uint64_t v = 13; v < 400; v++) OK(vyre_timeline_signal(done, v, &error));
  for (point.value = 400; point.value < 410; point.value++)
    OK(vyre_queue_submit(a.queue, batch, &options, NULL, &error));
  REFUSED(vyre_timeline_wait(done, 10, VYRE_FOREVER, &error), VYRE_ERR_TRAP, "code 7");
  REFUSED(vyre_timeline_wait(done, 409, VYRE_FOREVER, &error), VYRE_ERR_TRAP, "code 7");
  OK(vyre_timeline_wait(done, 399, VYRE_FOREVER, &error));
  vyre_submission_destroy(s);
  vyre_batch_destroy(batch);
  vyre_timeline_destroy(done);
  adder_end(&a);
  ck_assert_uint_eq(live_objects(b.device), 0);
  bench_end(&b);
}
END_TEST

/* ---- Callbacks ------------------------------------------------------------------------------- */

typedef struct noted {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int calls;
  vyre_status last;
  pthread_t thread;
} noted;

static void note(void *ctx, vyre_status status) {
  noted *n = ctx;
  pthread_mutex_lock(&n->lock);
  n->calls++;
  n->last = status;
  n->thread = pthread_self();
  pthread_cond_broadcast(&n->changed);
  pthread_mutex_unlock(&n->lock);
}

static void wait_for_calls(noted *n, int calls) {
  pthread_mutex_lock(&n->lock);
  while (n->calls < calls) pthread_cond_wait(&n->changed, &n->lock);
  pthread_mutex_unlock(&n->lock);
}

START_TEST(callbacks_before_and_after_the_end) {
  bench b = bench_fake("traps");
  adder a = adder_for(&b);
  noted n = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, pthread_self() };
  vyre_timeline *gate;
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  vyre_submission *s = hold_back(&b, &a, gate, NULL, 0);
  for (int i = 0; i < 3; i++) OK(vyre_submission_on_complete(s, note, &n, &error));
  ck_assert_int_eq(n.calls, 0);
  OK(vyre_timeline_signal(gate, 1, &error));
  wait_for_calls(&n, 3);
  ck_assert_int_eq(n.last, VYRE_ERR_TRAP);
  ck_assert(!pthread_equal(n.thread, pthread_self()));
  OK(vyre_submission_on_complete(s, note, &n, &error));
  wait_for_calls(&n, 4);
  /* It is called at once for what has ended, even while a thread waits for something later. */
  vyre_timeline_destroy(gate);
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  vyre_submission *later = hold_back(&b, &a, gate, NULL, 0);
  OK(vyre_submission_on_complete(later, note, &n, &error));
  OK(vyre_submission_on_complete(s, note, &n, &error));
  wait_for_calls(&n, 5);
  vyre_submission_destroy(s);
  vyre_submission_destroy(later);
  OK(vyre_timeline_signal(gate, 1, &error));
  wait_for_calls(&n, 6);
  vyre_timeline_destroy(gate);
  adder_end(&a);
  bench_end(&b);
  ck_assert_int_eq(n.calls, 6);
}
END_TEST

/* ---- Loss and closing ------------------------------------------------------------------------ */

typedef struct blocked {
  vyre_submission *submission;
  vyre_status status;
} blocked;

static void *wait_endlessly(void *ctx) {
  blocked *w = ctx;
  w->status = vyre_submission_wait(w->submission, VYRE_FOREVER, NULL);
  return NULL;
}

START_TEST(loss_wakes_everyone_and_stays) {
  bench b = bench_fake("loses"), other = b;
  adder a = adder_for(&b);
  vyre_timeline *gate;
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  OK(vyre_device_open(b.context, "loses:1", &other.device, &error));
  blocked waiters[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    waiters[i].submission = hold_back(&b, &a, gate, NULL, 0);
    ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_endlessly, &waiters[i]), 0);
  }
  REFUSED(vyre_queue_dispatch(a.queue, a.set, one, NULL, &error), VYRE_ERR_DEVICE_LOST, "fell off its bus");
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
    ck_assert_int_eq(waiters[i].status, VYRE_ERR_DEVICE_LOST);
    REFUSED(vyre_submission_wait(waiters[i].submission, 0, &error), VYRE_ERR_DEVICE_LOST, "");
    uint32_t *small = calloc(2, sizeof *small); /* an error record of a caller that knows no more than its size */
    small[0] = 2 * sizeof *small;
    ck_assert_int_eq(vyre_submission_wait(waiters[i].submission, 0, (vyre_error *)(void *)small), VYRE_ERR_DEVICE_LOST);
    free(small);
    vyre_submission_destroy(waiters[i].submission);
  }
  vyre_buffer *m;
  vyre_batch *batch;
  uint64_t value;
  REFUSED(vyre_buffer_create(b.device, 16, 0, &m, &error), VYRE_ERR_DEVICE_LOST, "open it anew");
  REFUSED(vyre_batch_create(b.device, &batch, &error), VYRE_ERR_DEVICE_LOST, "");
  REFUSED(vyre_timeline_value(gate, &value, &error), VYRE_ERR_DEVICE_LOST, "");
  REFUSED(vyre_queue_dispatch(a.queue, a.set, one, NULL, &error), VYRE_ERR_DEVICE_LOST, "");
  REFUSED(vyre_device_wait(b.device, 0, &error), VYRE_ERR_DEVICE_LOST, "");
  /* Other devices go on, and this one can be closed and opened again. */
  OK(vyre_buffer_create(other.device, 16, 0, &m, &error));
  vyre_buffer_destroy(m);
  OK(vyre_device_close(other.device, 0, &error));
  adder_end(&a);
  vyre_timeline_destroy(gate);
  bench_end(&b);
}
END_TEST

START_TEST(closing_waits_and_refuses) {
  bench b = bench_fake("sound");
  adder a = adder_for(&b);
  OK(vyre_queue_dispatch(a.queue, a.set, one, NULL, &error));
  OK(vyre_device_close(b.device, VYRE_FOREVER, &error));
  ck_assert_uint_eq(word(a.y, 0), 1); /* what there is can be read */
  REFUSED(vyre_queue_dispatch(a.queue, a.set, one, NULL, &error), VYRE_ERR_CLOSED, "open it again");
  b.device = NULL;
  adder_end(&a);
  bench_end(&b);
}
END_TEST

START_TEST(closing_gives_up_in_time) {
  bench b = bench_fake("sound");
  adder a = adder_for(&b);
  vyre_timeline *gate;
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  vyre_submission *s = hold_back(&b, &a, gate, NULL, 0);
  REFUSED(vyre_device_close(b.device, 1000000, &error), VYRE_ERR_DEVICE_LOST, "still running");
  REFUSED(vyre_submission_wait(s, VYRE_FOREVER, &error), VYRE_ERR_DEVICE_LOST, "");
  REFUSED(vyre_queue_dispatch(a.queue, a.set, one, NULL, &error), VYRE_ERR_DEVICE_LOST, "");
  vyre_submission_destroy(s);
  adder_end(&a);
  vyre_timeline_destroy(gate);
  b.device = NULL;
  bench_end(&b);
}
END_TEST

typedef struct held_waiter {
  vyre_submission *submission;
  vyre_timeline *timeline;
  vyre_status answer;
} held_waiter;

static void *wait_held(void *argument) {
  held_waiter *w = argument;
  w->answer = w->submission != NULL ? vyre_submission_wait(w->submission, VYRE_FOREVER, NULL)
                                    : vyre_timeline_wait(w->timeline, 9, VYRE_FOREVER, NULL);
  return NULL;
}

START_TEST(giving_a_device_up_wakes_who_waits) {
  bench b = bench_fake("sound");
  adder a = adder_for(&b);
  vyre_timeline *gate, *done;
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  OK(vyre_timeline_create(b.device, 0, &done, &error));
  vyre_submission *s = hold_back(&b, &a, gate, &(vyre_timeline_point){ done, 9 }, 1);
  held_waiter waiters[2] = { { .submission = s }, { .timeline = done } };
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_held, &waiters[i]), 0);
  REFUSED(vyre_device_close(b.device, 1000000, &error), VYRE_ERR_DEVICE_LOST, "still running");
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(waiters[i].answer, VYRE_ERR_DEVICE_LOST);
  }
  vyre_submission_destroy(s);
  adder_end(&a);
  vyre_timeline_destroy(gate);
  vyre_timeline_destroy(done);
  b.device = NULL;
  bench_end(&b);
}
END_TEST

START_TEST(a_refused_submit_leaves_its_timelines_as_they_were) {
  bench b = bench_fake("sound");
  adder a = adder_for(&b);
  vyre_timeline *t, *far;
  vyre_batch *batch;
  OK(vyre_timeline_create(b.device, 0, &t, &error));
  OK(vyre_timeline_create(b.device, 100, &far, &error));
  OK(vyre_batch_create(b.device, &batch, &error));
  vyre_timeline_point points[3] = { { t, 5 }, { t, 7 }, { far, 3 } };
  vyre_submit_options options = { .size = sizeof options, .signals = points, .signal_count = 3 };
  REFUSED(vyre_queue_submit(a.queue, batch, &options, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "100 was signalled");
  OK(vyre_batch_order(batch, &error)); /* nor is the batch closed */
  options.signal_count = 1;
  vyre_submission *s;
  OK(vyre_queue_submit(a.queue, batch, &options, &s, &error));
  OK(vyre_timeline_wait(t, 5, VYRE_FOREVER, &error));
  vyre_submission_destroy(s);
  OK(vyre_timeline_signal(t, 20, &error));
  points[0].value = 15;
  REFUSED(vyre_queue_submit(a.queue, batch, &options, NULL, &error), VYRE_ERR_INVALID_ARGUMENT, "20 was signalled");
  vyre_batch_destroy(batch);
  vyre_timeline_destroy(t);
  vyre_timeline_destroy(far);
  adder_end(&a);
  ck_assert_uint_eq(live_objects(b.device), 0);
  bench_end(&b);
}
END_TEST

/* The points that the host reaches first are the host's, whatever becomes of work that was to signal them. */
START_TEST(a_point_is_of_who_reached_it) {
  bench b = bench_fake("traps");
  adder a = adder_for(&b);
  vyre_timeline *gate, *done;
  OK(vyre_timeline_create(b.device, 0, &gate, &error));
  OK(vyre_timeline_create(b.device, 0, &done, &error));
  vyre_submission *s = hold_back(&b, &a, gate, &(vyre_timeline_point){ done, 4 }, 1);
  OK(vyre_timeline_signal(done, 8, &error));
  OK(vyre_timeline_wait(done, 3, VYRE_FOREVER, &error));
  OK(vyre_timeline_signal(gate, 1, &error));
  REFUSED(vyre_submission_wait(s, VYRE_FOREVER, &error), VYRE_ERR_TRAP, "");
  OK(vyre_timeline_wait(done, 3, VYRE_FOREVER, &error));
  vyre_submission_destroy(s);
  vyre_timeline_destroy(gate);
  vyre_timeline_destroy(done);
  adder_end(&a);
  bench_end(&b);
}
END_TEST

/* ---- Persistent launches --------------------------------------------------------------------- */

START_TEST(persistent_launches) {
  bench b = bench_fake("sound");
  adder a = adder_for(&b);
  vyre_launch launch = VYRE_LAUNCH_INIT;
  vyre_submission *s;
  launch.grid[0] = 5;
  REFUSED(vyre_launch_persistent(a.set, &launch, &s, &error), VYRE_ERR_LIMIT, "5 workgroups is asked for, and 4");
  launch.grid[0] = launch.grid[1] = launch.grid[2] = UINT64_MAX;
  REFUSED(vyre_launch_persistent(a.set, &launch, &s, &error), VYRE_ERR_LIMIT, "max_resident");
  ck_assert_ptr_null(s);
  launch = (vyre_launch)VYRE_LAUNCH_INIT;
  launch.stop_buffer = a.y;
  REFUSED(vyre_launch_persistent(a.set, &launch, &s, &error), VYRE_ERR_INVALID_ARGUMENT, "stop word of its own");
  launch.stop_buffer = NULL;
  OK(vyre_launch_persistent(a.set, &launch, &s, &error));
  OK(vyre_submission_stop(s, &error));
  OK(vyre_submission_wait(s, VYRE_FOREVER, &error));
  vyre_submission_destroy(s);
  OK(vyre_queue_dispatch(a.queue, a.set, one, &s, &error));
  REFUSED(vyre_submission_stop(s, &error), VYRE_ERR_INVALID_ARGUMENT, "no persistent launch");
  vyre_submission_destroy(s);
  adder_end(&a);
  bench_end(&b);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { waiting_asking_and_timing_out,
                                 destroyed_while_pending,
                                 a_timeline_is_kept_by_who_waits_for_it,
                                 points_in_order,
                                 failure_stands_at_its_point,
                                 callbacks_before_and_after_the_end,
                                 loss_wakes_everyone_and_stays,
                                 closing_waits_and_refuses,
                                 closing_gives_up_in_time,
                                 giving_a_device_up_wakes_who_waits,
                                 a_refused_submit_leaves_its_timelines_as_they_were,
                                 a_point_is_of_who_reached_it,
                                 persistent_launches,
                                 NULL };
  return run_suite("pending", 60, tests);
}
