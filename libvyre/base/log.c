/* Each call in flight stands in a list on its caller's stack. Removing a sink waits for those that may still be in it,
 * and a call from within a sink is recognised by its thread. */
#include <vyre/log.h>

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/writer.h"

enum { TEXT_BYTES = 4096 };

typedef struct call {
  struct call *next;
  pthread_t thread;
  uint64_t generation;
} call;

struct vyre_log {
  atomic_int level;
  pid_t process;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  /* under the lock */
  uint64_t generation; /* counts sinks */
  call *calls;
  vyre_log_fn fn;
  void *ctx;
};

static const char level_names[][8] = { "off", "error", "warning", "info", "debug", "trace" };

const char *vyre_log_level_name(vyre_log_level level) {
  return (unsigned)level <= VYRE_LOG_TRACE ? level_names[level] : "";
}

vyre_status vyre_log_create(vyre_log **out) {
  *out = NULL;
  vyre_log *log = calloc(1, sizeof *log);
  if (log == NULL) return VYRE_ERR_NO_MEMORY;
  log->process = getpid();
  pthread_mutex_init(&log->lock, NULL);
  pthread_cond_init(&log->ended, NULL);
  *out = log;
  return VYRE_OK;
}

static bool is_inside(const vyre_log *log) {
  for (const call *c = log->calls; c != NULL; c = c->next)
    if (pthread_equal(c->thread, pthread_self())) return true;
  return false;
}

static bool is_running_before(const vyre_log *log, uint64_t generation) {
  for (const call *c = log->calls; c != NULL; c = c->next)
    if (c->generation < generation) return true;
  return false;
}

vyre_status vyre_log_set(vyre_log *log, vyre_log_level level, vyre_log_fn fn, void *ctx) {
  if (log->process != getpid()) return VYRE_ERR_FORKED;
  pthread_mutex_lock(&log->lock);
  if (is_inside(log)) {
    pthread_mutex_unlock(&log->lock);
    return VYRE_ERR_REENTRANT;
  }
  log->fn = fn;
  log->ctx = ctx;
  uint64_t generation = ++log->generation;
  atomic_store_explicit(&log->level, fn != NULL ? (int)level : VYRE_LOG_OFF, memory_order_relaxed);
  while (is_running_before(log, generation)) pthread_cond_wait(&log->ended, &log->lock);
  pthread_mutex_unlock(&log->lock);
  return VYRE_OK;
}

void vyre_log_destroy(vyre_log *log) {
  if (log == NULL) return;
  if (vyre_log_set(log, VYRE_LOG_OFF, NULL, NULL) == VYRE_OK) {
    pthread_cond_destroy(&log->ended);
    pthread_mutex_destroy(&log->lock);
  }
  free(log);
}

bool vyre_log_wants(const vyre_log *log, vyre_log_level level) {
  return log != NULL && level > VYRE_LOG_OFF && (int)level <= atomic_load_explicit(&log->level, memory_order_relaxed);
}

/* False if there is no sink, or if this thread is in it. */
static bool begin(vyre_log *log, vyre_log_level level, call *c, vyre_log_fn *fn, void **ctx) {
  pthread_mutex_lock(&log->lock);
  bool goes = vyre_log_wants(log, level) && !is_inside(log);
  if (goes) {
    *c = (call){ log->calls, pthread_self(), log->generation };
    log->calls = c;
    *fn = log->fn;
    *ctx = log->ctx;
  }
  pthread_mutex_unlock(&log->lock);
  return goes;
}

static void end(vyre_log *log, call *c) {
  pthread_mutex_lock(&log->lock);
  call **link = &log->calls;
  while (*link != c) link = &(*link)->next;
  *link = c->next;
  pthread_cond_broadcast(&log->ended);
  pthread_mutex_unlock(&log->lock);
}

void vyre_log_write(vyre_log *log, vyre_log_level level, const char *subsystem, const char *format, ...) {
  if (!vyre_log_wants(log, level)) return;
  int saved = errno;
  char text[TEXT_BYTES];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  call c;
  vyre_log_fn fn;
  void *ctx;
  if (length >= 0 && log->process == getpid() && begin(log, level, &c, &fn, &ctx)) {
    fn(ctx, level, subsystem, text);
    end(log, &c);
  }
  errno = saved;
}

void vyre_log_stderr(void *ctx, vyre_log_level level, const char *subsystem, const char *text) {
  (void)ctx;
  vyre_writer w = { 0 };
  for (const char *line = text;;) {
    size_t bytes = strcspn(line, "\n");
    vyre_write(&w, "vyre: %s: %s: ", vyre_log_level_name(level), subsystem);
    vyre_write_escaped(&w, line, bytes);
    vyre_write_text(&w, "\n");
    if (line[bytes] == 0) break;
    line += bytes + 1;
  }
  if (w.failed) fputs("vyre: a message was lost for want of memory\n", stderr);
  else fwrite(w.data, 1, w.count, stderr);
  vyre_writer_free(&w);
}
