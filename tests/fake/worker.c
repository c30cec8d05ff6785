/* A thread that does what is put to it, in order: a stream, or a queue of a device. */
#include <pthread.h>
#include <stdlib.h>

#include "script.h"

typedef struct task {
  struct task *next;
  void (*run)(void *ctx);
  void *ctx;
} task;

struct fake_worker {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  task *first, **end;
  bool is_busy, is_ending;
};

static void *work(void *ctx) {
  fake_worker *w = ctx;
  pthread_mutex_lock(&w->lock);
  while (w->first != NULL || !w->is_ending) {
    task *t = w->first;
    if (t == NULL) {
      pthread_cond_wait(&w->moved, &w->lock);
      continue;
    }
    w->first = t->next;
    if (w->first == NULL) w->end = &w->first;
    w->is_busy = true;
    pthread_mutex_unlock(&w->lock);
    t->run(t->ctx);
    free(t);
    pthread_mutex_lock(&w->lock);
    w->is_busy = false;
    pthread_cond_broadcast(&w->moved);
  }
  pthread_mutex_unlock(&w->lock);
  pthread_cond_destroy(&w->moved);
  pthread_mutex_destroy(&w->lock);
  free(w);
  return NULL;
}

fake_worker *fake_worker_new(void) {
  fake_worker *w = calloc(1, sizeof *w);
  pthread_t thread;
  if (w == NULL) return NULL;
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->moved, NULL);
  w->end = &w->first;
  if (pthread_create(&thread, NULL, work, w) == 0) {
    pthread_detach(thread);
    return w;
  }
  free(w);
  return NULL;
}

bool fake_worker_put(fake_worker *w, void (*run)(void *ctx), void *ctx) {
  task *t = malloc(sizeof *t);
  if (t == NULL) return false;
  *t = (task){ NULL, run, ctx };
  pthread_mutex_lock(&w->lock);
  *w->end = t;
  w->end = &t->next;
  pthread_cond_broadcast(&w->moved);
  pthread_mutex_unlock(&w->lock);
  return true;
}

bool fake_worker_is_idle(fake_worker *w) {
  pthread_mutex_lock(&w->lock);
  bool is_idle = w->first == NULL && !w->is_busy;
  pthread_mutex_unlock(&w->lock);
  return is_idle;
}

void fake_worker_wait(fake_worker *w) {
  pthread_mutex_lock(&w->lock);
  while (w->first != NULL || w->is_busy) pthread_cond_wait(&w->moved, &w->lock);
  pthread_mutex_unlock(&w->lock);
}

void fake_worker_end(fake_worker *w) {
  if (w == NULL) return;
  pthread_mutex_lock(&w->lock);
  w->is_ending = true;
  pthread_cond_broadcast(&w->moved);
  pthread_mutex_unlock(&w->lock);
}
