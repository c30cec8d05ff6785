/* The log: levels, silence by default, removal that waits, and sinks that call back. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/log.h>

#include "../fail_malloc.h"
#include "../suite.h"

typedef struct seen {
  int count;
  vyre_log_level level;
  char subsystem[32], text[5000];
} seen;

static void remember(void *ctx, vyre_log_level level, const char *subsystem, const char *text) {
  seen *s = ctx;
  s->count++;
  s->level = level;
  snprintf(s->subsystem, sizeof s->subsystem, "%s", subsystem);
  snprintf(s->text, sizeof s->text, "%s", text);
}

static vyre_log *make(void) {
  vyre_log *log;
  ck_assert_int_eq(vyre_log_create(&log), VYRE_OK);
  return log;
}

START_TEST(levels_choose_what_is_sent) {
  vyre_log *log = make();
  for (int limit = VYRE_LOG_OFF; limit <= VYRE_LOG_TRACE; limit++) {
    seen s = { 0 };
    ck_assert_int_eq(vyre_log_set(log, limit, remember, &s), VYRE_OK);
    for (int level = VYRE_LOG_ERROR; level <= VYRE_LOG_TRACE; level++) {
      vyre_log_write(log, level, "loader", "level %d", level);
      ck_assert_int_eq(vyre_log_wants(log, level), level <= limit);
    }
    ck_assert_int_eq(s.count, limit);
    if (limit > 0) {
      ck_assert_int_eq(s.level, limit);
      ck_assert_str_eq(s.subsystem, "loader");
      ck_assert_int_eq(atoi(s.text + 6), limit);
    }
    vyre_log_set(log, VYRE_LOG_OFF, NULL, NULL);
  }
  vyre_log_destroy(log);
}
END_TEST

START_TEST(no_log_and_no_sink_are_silent) {
  vyre_log *log = make();
  vyre_log_write(NULL, VYRE_LOG_ERROR, "x", "y");
  ck_assert(!vyre_log_wants(NULL, VYRE_LOG_ERROR));
  ck_assert(!vyre_log_wants(log, VYRE_LOG_ERROR));
  ck_assert_int_eq(vyre_log_set(log, VYRE_LOG_TRACE, NULL, NULL), VYRE_OK);
  ck_assert(!vyre_log_wants(log, VYRE_LOG_ERROR));
  vyre_log_write(log, VYRE_LOG_ERROR, "x", "y");
  vyre_log_destroy(log);
  vyre_log_destroy(NULL);
}
END_TEST

START_TEST(long_texts_are_cut_and_errno_stays) {
  char longest[6000];
  memset(longest, 'a', sizeof longest);
  longest[sizeof longest - 1] = 0;
  vyre_log *log = make();
  seen s = { 0 };
  vyre_log_set(log, VYRE_LOG_INFO, remember, &s);
  errno = EDOM;
  vyre_log_write(log, VYRE_LOG_INFO, "x", "%s", longest);
  ck_assert_int_eq(errno, EDOM);
  ck_assert_uint_eq(strlen(s.text), 4095);
  vyre_log_destroy(log);
}
END_TEST

typedef struct inside {
  vyre_log *log;
  int count;
  vyre_status status;
} inside;

static void call_back(void *ctx, vyre_log_level level, const char *subsystem, const char *text) {
  (void)level, (void)subsystem, (void)text;
  inside *i = ctx;
  i->count++;
  vyre_log_write(i->log, VYRE_LOG_ERROR, "sink", "again");
  i->status = vyre_log_set(i->log, VYRE_LOG_OFF, NULL, NULL);
}

START_TEST(sink_that_calls_back_does_not_hang) {
  inside i = { .log = make() };
  vyre_log_set(i.log, VYRE_LOG_INFO, call_back, &i);
  vyre_log_write(i.log, VYRE_LOG_INFO, "x", "y");
  ck_assert_int_eq(i.count, 1);
  ck_assert_int_eq(i.status, VYRE_ERR_REENTRANT);
  vyre_log_write(i.log, VYRE_LOG_INFO, "x", "y");
  ck_assert_int_eq(i.count, 2);
  vyre_log_destroy(i.log);
}
END_TEST

/* A sink that is slow, so that a removal which did not wait would find it running. */
typedef struct slow {
  atomic_int running, calls, after_removal;
  atomic_bool removed;
} slow;

static void take_time(void *ctx, vyre_log_level level, const char *subsystem, const char *text) {
  (void)level, (void)subsystem, (void)text;
  slow *s = ctx;
  atomic_fetch_add(&s->running, 1);
  atomic_fetch_add(&s->calls, 1);
  if (atomic_load(&s->removed)) atomic_fetch_add(&s->after_removal, 1);
  usleep(200);
  if (atomic_load(&s->removed)) atomic_fetch_add(&s->after_removal, 1);
  atomic_fetch_sub(&s->running, 1);
}

static atomic_bool writers_stop;

static void *write_on(void *ctx) {
  while (!atomic_load(&writers_stop)) vyre_log_write(ctx, VYRE_LOG_INFO, "thread", "text");
  return NULL;
}

START_TEST(removal_waits_for_calls_in_flight) {
  vyre_log *log = make();
  pthread_t threads[4];
  atomic_store(&writers_stop, false);
  for (int i = 0; i < 4; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, write_on, log), 0);
  for (int round = 0; round < 50; round++) {
    slow *s = calloc(1, sizeof *s);
    ck_assert_int_eq(vyre_log_set(log, VYRE_LOG_INFO, take_time, s), VYRE_OK);
    while (atomic_load(&s->calls) < 4) usleep(50);
    ck_assert_int_eq(vyre_log_set(log, VYRE_LOG_OFF, NULL, NULL), VYRE_OK);
    atomic_store(&s->removed, true);
    ck_assert_int_eq(atomic_load(&s->running), 0);
    usleep(300);
    ck_assert_int_eq(atomic_load(&s->after_removal), 0);
    free(s);
  }
  atomic_store(&writers_stop, true);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  vyre_log_destroy(log);
}
END_TEST

START_TEST(child_of_fork_is_silent_and_does_not_hang) {
  vyre_log *log = make();
  seen s = { 0 };
  vyre_log_set(log, VYRE_LOG_INFO, remember, &s);
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    vyre_log_write(log, VYRE_LOG_INFO, "x", "y");
    _exit(s.count == 0 && vyre_log_set(log, VYRE_LOG_OFF, NULL, NULL) == VYRE_ERR_FORKED ? 0 : 1);
  }
  int state;
  ck_assert_int_eq(waitpid(child, &state, 0), child);
  ck_assert(WIFEXITED(state) && WEXITSTATUS(state) == 0);
  vyre_log_destroy(log);
}
END_TEST

START_TEST(standard_error_sink_writes_lines) {
  int ends[2], saved = dup(2);
  ck_assert_int_eq(pipe(ends), 0);
  fflush(stderr);
  dup2(ends[1], 2);
  vyre_log_stderr(NULL, VYRE_LOG_WARNING, "loader", "one\ntwo \x1b[0m");
  fflush(stderr);
  dup2(saved, 2);
  close(saved);
  close(ends[1]);
  char text[256];
  ssize_t got = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  ck_assert_int_gt(got, 0);
  text[got] = 0;
  ck_assert_str_eq(text, "vyre: warning: loader: one\nvyre: warning: loader: two \\x1B[0m\n");
}
END_TEST

START_TEST(level_names_are_those_of_the_settings) {
  static const char *const names[] = { "off", "error", "warning", "info", "debug", "trace" };
  for (int i = 0; i < 6; i++) ck_assert_str_eq(vyre_log_level_name(i), names[i]);
  ck_assert_str_eq(vyre_log_level_name(6), "");
  ck_assert_str_eq(vyre_log_level_name(-1), "");
}
END_TEST

START_TEST(without_memory_there_is_no_log) {
  fail_malloc_at(1);
  vyre_log *log;
  vyre_status status = vyre_log_create(&log);
  bool failed = fail_malloc_end();
  ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
  ck_assert_int_eq(log == NULL, failed);
  vyre_log_destroy(log);
}
END_TEST

int main(void) {
  return run_suite("log", 60,
                   (const TTest *const[]){ levels_choose_what_is_sent, no_log_and_no_sink_are_silent,
                                           long_texts_are_cut_and_errno_stays, sink_that_calls_back_does_not_hang,
                                           removal_waits_for_calls_in_flight, child_of_fork_is_silent_and_does_not_hang,
                                           standard_error_sink_writes_lines, level_names_are_those_of_the_settings,
                                           without_memory_there_is_no_log, NULL });
}
