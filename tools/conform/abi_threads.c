/* Many threads: what may be called at the same time is. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "programs.h"
#include "world.h"

static const uint64_t long_ns = 60000000000u;

typedef struct worker {
  world *w; /* shared: an instance, its device, an executable, x */
  uint32_t number;
  _Atomic bool *stop;
  const char *failed; /* NULL, or what went wrong; told by the check's own thread */
  vyre_status status;
} worker;

static void *give_up(worker *me, const char *what, vyre_status status) {
  me->failed = what;
  me->status = status;
  return NULL;
}

/* Has buffers, sets, batches, a queue and a timeline of its own, and runs. */
static void *run_alone(void *ctx) {
  worker *me = ctx;
  const raw *r = &me->w->r; /* whose host services count meanwhile: they are not for copying */
  world own = {.r = {.k = r->k, .ops = r->ops, .device = r->device, .caps = r->caps},
               .executable = me->w->executable,
               .x = me->w->x};
  const vyre_backend_ops *ops = &own.r.ops;
  for (uint32_t round = 0; round < 30; round++) {
    vyre_buffer_request request = {.size = sizeof request, .bytes = 1024};
    void *map = NULL;
    if (!raw_host_memory(&own.r, &request.properties)) return give_up(me, "memory of the host", VYRE_ERR_UNSUPPORTED);
    vyre_status status = ops->buffer_create(own.r.device, &request, &own.y, NULL);
    if (status == VYRE_OK) status = ops->buffer_map(own.y, &map, NULL);
    if (status != VYRE_OK) return give_up(me, "a buffer", status);
    uint32_t n = 1000 * me->number + round;
    vyre_bind binds[2] = {
        {.buffer = own.x, .bytes = 4 * WORLD_ELEMENTS, .elements = WORLD_ELEMENTS},
        {.flags = VYRE_BIND_WRITTEN, .buffer = own.y, .bytes = 4 * WORLD_ELEMENTS, .elements = WORLD_ELEMENTS}};
    vyre_set_request set = {.size = sizeof set, .bind_count = 2, .binds = binds, .params = &n, .param_bytes = 4};
    status = ops->set_create(own.executable, &set, &own.set, NULL);
    if (status != VYRE_OK) return give_up(me, "a set", status);
    vyre_dispatch dispatch = {.size = sizeof dispatch, .executable = own.executable, .set = own.set, .grid = {4, 1, 1}};
    vyre_command command = {.kind = VYRE_COMMAND_DISPATCH, .record = &dispatch};
    status = ops->batch_create(own.r.device, &command, 1, &own.batch, NULL);
    if (status == VYRE_OK && own.queue.queue == NULL)
      status = ops->queue_create(own.r.device, 0, &own.queue.queue, NULL);
    if (status == VYRE_OK && own.queue.timeline == NULL)
      status = ops->timeline_create(own.r.device, 0, &own.queue.timeline, NULL);
    if (status != VYRE_OK) return give_up(me, "a batch, a queue or a timeline", status);
    vyre_completion completion = {.size = sizeof completion};
    vyre_point end = {own.queue.timeline, ++own.queue.value};
    vyre_submit submit = {
        .size = sizeof submit, .batch = own.batch, .signals = &end, .signal_count = 1, .completion = &completion};
    status = ops->submit(own.queue.queue, &submit, NULL);
    if (status == VYRE_OK) status = ops->timeline_wait(own.queue.timeline, own.queue.value, long_ns, NULL);
    if (status == VYRE_OK) status = completion.status;
    if (status != VYRE_OK) return give_up(me, "a run", status);
    raw_invalidate(&own.r, own.y, 1024);
    for (uint32_t i = 0; i < WORLD_ELEMENTS; i++) {
      uint32_t word;
      memcpy(&word, (uint8_t *)map + 4 * (size_t)i, 4);
      if (word != i * 0x9E3779B1u * 3 + n) return give_up(me, "a result that is another thread's, or none", VYRE_OK);
    }
    ops->batch_destroy(own.batch);
    ops->set_destroy(own.set);
    ops->buffer_destroy(own.y);
  }
  ops->queue_destroy(own.queue.queue);
  ops->timeline_destroy(own.queue.timeline);
  return NULL;
}

/* Compiles and loads meanwhile. */
static void *compile_meanwhile(void *ctx) {
  worker *me = ctx;
  raw *r = &me->w->r;
  for (uint32_t round = 0; round < 30; round++) {
    vyre_error error = VYRE_ERROR_INIT;
    raw_program p;
    vyre_bytes blob = {.size = sizeof blob};
    vyre_plugin_executable *executable = NULL;
    const char *text = sample_programs[round % 3].text;
    if (!raw_program_make(r, text, &p)) return give_up(me, "lowering", VYRE_ERR_INTERNAL);
    vyre_status status = raw_compile(r, &p.request, &blob, &error);
    if (status == VYRE_OK) status = r->ops.executable_load(r->device, blob.data, blob.length, &executable, &error);
    if (executable != NULL) r->ops.executable_destroy(executable);
    raw_blob_free(r, &blob);
    raw_program_free(&p);
    if (status != VYRE_OK) return give_up(me, "compiling and loading", status);
  }
  return NULL;
}

static void join_all(kit *k, pthread_t *threads, worker *workers, int count) {
  for (int i = 0; i < count; i++) {
    pthread_join(threads[i], NULL);
    if (workers[i].failed != NULL)
      kit_fail(k, "thread %d of %d: %s: %s", i, count, workers[i].failed, vyre_status_name(workers[i].status));
  }
}

void check_threads(kit *k) {
  enum { RUNNERS = 6, COMPILERS = 2 };
  world w;
  pthread_t threads[RUNNERS + COMPILERS];
  worker workers[RUNNERS + COMPILERS];
  if (!world_open(k, &w)) return;
  int started = 0, runners = w.r.caps.max_queues <= RUNNERS ? (int)w.r.caps.max_queues - 1 : RUNNERS;
  kit_doing(k, "%d threads that run beside %d that compile", runners, COMPILERS);
  for (; started < runners + COMPILERS; started++) {
    workers[started] = (worker){.w = &w, .number = (uint32_t)started};
    void *(*start)(void *) = started < runners ? run_alone : compile_meanwhile;
    if (pthread_create(&threads[started], NULL, start, &workers[started]) != 0) break;
  }
  join_all(k, threads, workers, started);
  world_run(&w, "after all threads");
  if (!kit_is_over(k)) world_close(&w);
}

static void *wait_for_all(void *ctx) {
  worker *me = ctx;
  for (uint64_t value = 1; value <= 20; value++) {
    vyre_status status = me->w->r.ops.timeline_wait(me->w->queue.timeline, value, long_ns, NULL);
    if (status != VYRE_OK) return give_up(me, "timeline_wait", status);
  }
  return NULL;
}

/* Many wait for one timeline, which one thread moves by work and the host. */
void check_waiters(kit *k) {
  enum { WAITERS = 12 };
  world w;
  pthread_t threads[WAITERS];
  worker workers[WAITERS];
  static vyre_completion completions[21];
  if (!world_open(k, &w)) return;
  int started = 0;
  kit_doing(k, "%d threads that wait for one timeline", WAITERS);
  for (; started < WAITERS; started++) {
    workers[started] = (worker){.w = &w};
    if (pthread_create(&threads[started], NULL, wait_for_all, &workers[started]) != 0) break;
  }
  for (uint64_t value = 1; value <= 20; value++) {
    vyre_error error = VYRE_ERROR_INIT;
    completions[value] = (vyre_completion){.size = sizeof completions[value]};
    vyre_point end = {w.queue.timeline, value};
    vyre_submit submit = {
        .size = sizeof submit, .batch = w.batch, .signals = &end, .signal_count = 1, .completion = &completions[value]};
    raw_wants(&w.r, "submit", w.r.ops.submit(w.queue.queue, &submit, &error), VYRE_OK, &error);
    w.r.ops.timeline_wait(w.queue.timeline, value, long_ns, NULL);
  }
  join_all(k, threads, workers, started);
  w.queue.value = 20;
  world_run(&w, "after all waiters");
  world_close(&w);
}
