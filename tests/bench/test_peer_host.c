/* Peers that do what they should, and peers that do anything else. */
#include "harness/peer_host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../suite.h"

static char fake_path[4096];

static void work_of_four(bench_work *work) {
  *work = (bench_work){.id = "elementwise.add", .n = 4};
  bench_work_array(work, "a", VYRE_TYPE_F32, 4, false);
  bench_work_array(work, "b", VYRE_TYPE_F32, 4, false);
  bench_work_array(work, "o", VYRE_TYPE_F32, 4, true);
  bench_work_param_u32(work, "d0", 7);
  ck_assert_int_eq(bench_work_allocate(work, NULL), VYRE_OK);
  float *a = bench_work_find(work, "a")->host, *b = bench_work_find(work, "b")->host;
  for (int i = 0; i < 4; i++) {
    a[i] = (float)i;
    b[i] = 10;
  }
}

/* What became of a peer with this fault, until the first sample. */
static vyre_status try_fault(const char *fault, bench_peer *peer, vyre_error *error) {
  bench_work work;
  bench_times times;
  *error = (vyre_error)VYRE_ERROR_INIT;
  work_of_four(&work);
  setenv("FAKE_fake_peer", fault, 1);
  vyre_status status = bench_peer_begin(peer, fake_path, &work, error);
  if (status == VYRE_OK) status = bench_peer_sample(peer, BENCH_WALL_RESIDENT, 3, &times, error);
  bench_work_free(&work);
  return status;
}

START_TEST(a_good_peer) {
  bench_work work;
  bench_peer peer;
  bench_times times;
  work_of_four(&work);
  unsetenv("FAKE_fake_peer");
  ck_assert_int_eq(bench_peer_begin(&peer, fake_path, &work, NULL), VYRE_OK);
  ck_assert_str_eq(peer.who.name, "fake_peer");
  ck_assert_str_eq(peer.who.version, "1.0");
  ck_assert_str_eq(peer.who.build, "make");
  ck_assert_str_eq(peer.who.flags, "-O3");
  ck_assert_str_eq(peer.who.how, "by hand");
  ck_assert_str_eq(peer.who.device, "fake device");
  ck_assert_str_eq(peer.who.kind, "cpu");
  ck_assert_uint_eq(peer.who.bytes, 24);
  ck_assert_uint_eq(peer.who.parts, 1);
  const float *o = bench_work_find(&work, "o")->host;
  ck_assert_int_eq(bench_peer_do(&peer, "poison", NULL), VYRE_OK);
  ck_assert_int_eq(bench_peer_do(&peer, "output", NULL), VYRE_OK);
  ck_assert(o[3] == 777);
  ck_assert_int_eq(bench_peer_sample(&peer, BENCH_WALL_RESIDENT, 3, &times, NULL), VYRE_OK);
  ck_assert(times.wall_ns >= 1000 && times.wall_ns <= 1020 && times.device_ns < 0);
  ck_assert_int_eq(bench_peer_do(&peer, "output", NULL), VYRE_OK);
  for (int i = 0; i < 4; i++) ck_assert(o[i] == (float)i + 10);
  ck_assert_int_eq(bench_peer_sample(&peer, BENCH_DEVICE, 3, &times, NULL), VYRE_ERR_UNSUPPORTED);
  ck_assert_int_eq(bench_peer_sample(&peer, BENCH_WALL_E2E, 1, &times, NULL), VYRE_OK); /* it goes on */
  pid_t pid = peer.child.pid;
  bench_peer_end(&peer);
  ck_assert(kill(pid, 0) != 0 && errno == ESRCH);
  bench_work_free(&work);
}
END_TEST

/* The path is needed to start it, and not after that. */
START_TEST(its_path_may_go) {
  bench_work work;
  bench_peer peer;
  bench_times times;
  vyre_error error = VYRE_ERROR_INIT;
  char *path = strdup(fake_path);
  work_of_four(&work);
  unsetenv("FAKE_fake_peer");
  ck_assert_int_eq(bench_peer_begin(&peer, path, &work, NULL), VYRE_OK);
  memset(path, 'x', strlen(path));
  free(path);
  ck_assert_int_eq(bench_peer_sample(&peer, BENCH_DEVICE, 1, &times, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_int_eq(strncmp(error.where, fake_path, 20), 0);
  bench_peer_end(&peer);
  bench_work_free(&work);
}
END_TEST

START_TEST(a_peer_without_arrays) {
  bench_work work = {.id = "probe.t_launch", .file = -1};
  bench_peer peer;
  bench_times times;
  unsetenv("FAKE_fake_peer");
  ck_assert_int_eq(bench_peer_begin(&peer, fake_path, &work, NULL), VYRE_OK);
  ck_assert_int_eq(bench_peer_sample(&peer, BENCH_WALL_RESIDENT, 1, &times, NULL), VYRE_OK);
  bench_peer_end(&peer);
}
END_TEST

START_TEST(what_is_refused) {
  static const struct {
    const char *fault;
    vyre_status status;
    const char *text;
  } rows[] = {
      {"refuse", VYRE_ERR_UNSUPPORTED, "it does not know how"},
      {"no-reason", VYRE_ERR_UNSUPPORTED, "it gives no reason"},
      {"late-no", VYRE_ERR_UNSUPPORTED, "not today"},
      {"crash-early", VYRE_ERR_IO, "by signal 9"},
      {"exit-early", VYRE_ERR_IO, "status 3: fake: a library is missing"},
      {"crash", VYRE_ERR_IO, "by signal 6"},
      {"greet", VYRE_ERR_IO, "\"hello\""},
      {"nameless", VYRE_ERR_IO, "not of the protocol"},
      {"ten-fields", VYRE_ERR_IO, "not of the protocol"},
      {"no-parts", VYRE_ERR_IO, "not of the protocol"},
      {"bad-bytes", VYRE_ERR_IO, "not of the protocol"},
      {"long-line", VYRE_ERR_IO, "a line of more than 8192 bytes"},
      {"negative", VYRE_ERR_IO, "\"time -3 -\""},
      {"nan", VYRE_ERR_IO, "\"time nan -\""},
      {"inf", VYRE_ERR_IO, "\"time inf -\""},
      {"huge", VYRE_ERR_IO, "\"time 1e999 -\""},
      {"zero", VYRE_ERR_IO, "\"time 0 -\""},
      {"never", VYRE_ERR_IO, "\"time 1e-300 -\""},
      {"ages", VYRE_ERR_IO, "\"time 1e200 -\""},
      {"text", VYRE_ERR_IO, "\"time soon -\""},
      {"tail", VYRE_ERR_IO, "\"time 5 - more\""},
      {"one-time", VYRE_ERR_IO, "\"time 5\""},
      {"done", VYRE_ERR_IO, "\"done\""},
      {"empty", VYRE_ERR_IO, "\"\""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bench_peer peer;
    vyre_error error;
    vyre_status status = try_fault(rows[i].fault, &peer, &error);
    ck_assert_msg(status == rows[i].status, "%s: status %d: %s", rows[i].fault, status, error.text);
    ck_assert_msg(strstr(error.text, rows[i].text) != NULL, "%s: the reason is %s", rows[i].fault, error.text);
    bench_peer_end(&peer);
  }
}
END_TEST

START_TEST(what_is_borne) {
  static const char *const faults[] = {"short", "flood", "babble", "stop-clock", "control"};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    bench_peer peer;
    vyre_error error;
    vyre_status status = try_fault(faults[i], &peer, &error);
    ck_assert_msg(status == VYRE_OK, "%s: %s", faults[i], error.text);
    for (const char *c = peer.who.name; *c; c++) ck_assert((unsigned char)*c >= ' ');
    bench_peer_end(&peer);
  }
}
END_TEST

/* Whoever answers without being asked fills the socket with what it was asked; that ends, and no one waits for it. */
START_TEST(who_does_not_listen) {
  bench_peer peer;
  bench_times times;
  vyre_error error;
  vyre_status status = try_fault("deaf", &peer, &error);
  for (int i = 0; i < 100000 && status == VYRE_OK; i++)
    status = bench_peer_sample(&peer, BENCH_WALL_RESIDENT, 1, &times, &error);
  ck_assert_int_eq(status, VYRE_ERR_IO);
  ck_assert_msg(strstr(error.text, "does not read") != NULL, "%s", error.text);
  bench_peer_end(&peer);
}
END_TEST

/* A file that became smaller would end the harness by SIGBUS. */
START_TEST(the_memory_keeps_its_size) {
  bench_work work;
  bench_peer peer;
  work_of_four(&work);
  setenv("FAKE_fake_peer", "shrinks", 1);
  ck_assert_int_eq(bench_peer_begin(&peer, fake_path, &work, NULL), VYRE_OK);
  struct stat info;
  ck_assert_int_eq(fstat(work.file, &info), 0);
  ck_assert_uint_eq((uint64_t)info.st_size, work.bytes);
  bench_peer_end(&peer);
  bench_work_free(&work);
}
END_TEST

START_TEST(files_that_are_no_peers) {
  bench_work work = {.id = "w", .file = -1};
  bench_peer peer;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(bench_peer_begin(&peer, "/no/such/peer", &work, &error), VYRE_ERR_NOT_FOUND);
  bench_peer_end(&peer);
  ck_assert_int_eq(bench_peer_begin(&peer, "/dev/null", &work, &error), VYRE_ERR_IO);
  ck_assert_msg(strstr(error.text, "can't be started") != NULL, "%s", error.text);
  bench_peer_end(&peer);
  char path[] = "/tmp/vyre-peer-XXXXXX";
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  ck_assert_int_eq(write(file, "\x7f" "ELFnonsense", 12), 12);
  ck_assert_int_eq(fchmod(file, 0700), 0);
  close(file);
  ck_assert_int_eq(bench_peer_begin(&peer, path, &work, &error), VYRE_ERR_IO);
  bench_peer_end(&peer);
  unlink(path);
}
END_TEST

/* What a peer says before it goes is its reason, though it has not listened. */
START_TEST(who_goes_early_may_say_why) {
  char path[] = "/tmp/vyre-peer-XXXXXX";
  static const char script[] = "#!/bin/sh\necho no it has no time\nexit 0\n";
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  ck_assert_int_eq(write(file, script, sizeof script - 1), (int)sizeof script - 1);
  ck_assert_int_eq(fchmod(file, 0700), 0);
  close(file);
  for (int i = 0; i < 20; i++) {
    bench_work work;
    bench_peer peer;
    vyre_error error = VYRE_ERROR_INIT;
    work_of_four(&work);
    ck_assert_int_eq(bench_peer_begin(&peer, path, &work, &error), VYRE_ERR_UNSUPPORTED);
    ck_assert_str_eq(error.text, "it has no time");
    bench_peer_end(&peer);
    bench_work_free(&work);
  }
  unlink(path);
}
END_TEST

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

START_TEST(silence_ends) {
  bench_child child;
  vyre_error error = VYRE_ERROR_INIT;
  char line[BENCH_LINE_BYTES];
  setenv("FAKE_fake_peer", "silent", 1);
  ck_assert_int_eq(bench_child_start(&child, fake_path, -1, &error), VYRE_OK);
  ck_assert_int_eq(bench_child_say(&child, &error, "ready\n"), VYRE_OK);
  ck_assert_int_eq(bench_child_hear(&child, 50000000, line, &error), VYRE_ERR_TIMEOUT);
  pid_t pid = child.pid;
  double start = now();
  bench_child_end(&child, 50000000);
  ck_assert_double_lt(now() - start, 30); /* it would sleep for a minute */
  ck_assert(kill(pid, 0) != 0 && errno == ESRCH);
}
END_TEST

/* The third field of /proc/PID/stat: T for a process that is stopped. */
static char state_of(pid_t pid) {
  char path[64], text[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "r");
  if (!file) return '?';
  if (!fgets(text, sizeof text, file)) text[0] = '\0';
  fclose(file);
  const char *end = strrchr(text, ')');
  return end && end[1] == ' ' ? end[2] : '?';
}

START_TEST(who_rests_is_stopped) {
  bench_work work;
  bench_peer peer;
  bench_times times;
  work_of_four(&work);
  unsetenv("FAKE_fake_peer");
  ck_assert_int_eq(bench_peer_begin(&peer, fake_path, &work, NULL), VYRE_OK);
  bench_child_rest(&peer.child, true);
  while (state_of(peer.child.pid) != 'T') usleep(1000);
  bench_child_rest(&peer.child, false);
  ck_assert_int_eq(bench_peer_sample(&peer, BENCH_WALL_RESIDENT, 1, &times, NULL), VYRE_OK);
  bench_child_rest(&peer.child, true);
  pid_t pid = peer.child.pid;
  bench_peer_end(&peer); /* ends one that is stopped as well */
  ck_assert(kill(pid, 0) != 0 && errno == ESRCH);
  bench_work_free(&work);
}
END_TEST

START_TEST(no_descriptor_leaks) {
  int before = open("/dev/null", O_RDONLY);
  close(before);
  for (int i = 0; i < 20; i++) {
    bench_peer peer;
    vyre_error error;
    try_fault(i % 2 ? "" : "crash", &peer, &error);
    bench_peer_end(&peer);
    bench_work work = {.id = "w", .file = -1};
    ck_assert_int_eq(bench_peer_begin(&peer, "/no/such/peer", &work, &error), VYRE_ERR_NOT_FOUND);
    bench_peer_end(&peer);
  }
  int after = open("/dev/null", O_RDONLY);
  ck_assert_int_eq(after, before);
  close(after);
}
END_TEST

/* A writer that dies must not take the harness with it. */
START_TEST(speaking_to_the_dead) {
  bench_child child;
  vyre_error error = VYRE_ERROR_INIT;
  setenv("FAKE_fake_peer", "exit-early", 1);
  ck_assert_int_eq(bench_child_start(&child, fake_path, -1, &error), VYRE_OK);
  ck_assert_int_eq(bench_child_say(&child, &error, "ready\n"), VYRE_OK);
  vyre_status status = VYRE_OK;
  for (int i = 0; i < 10000 && status == VYRE_OK; i++) status = bench_child_say(&child, &error, "sample e2e 1\n");
  ck_assert_int_eq(status, VYRE_ERR_IO);
  ck_assert_msg(strstr(error.text, "status 3") != NULL, "%s", error.text);
  char line[BENCH_LINE_BYTES];
  ck_assert_int_eq(bench_child_say(&child, &error, "quit\n"), VYRE_ERR_IO); /* again: nobody is signalled for it */
  ck_assert_int_eq(bench_child_hear(&child, 1000000000, line, &error), VYRE_ERR_IO);
  bench_child_rest(&child, true);
  bench_child_end(&child, 1000000000);
}
END_TEST

int main(int argc, char **argv) {
  const char *top = getenv("top_builddir");
  (void)argc;
  (void)argv;
  snprintf(fake_path, sizeof fake_path, "%s/tests/bench/fake_peer", top ? top : ".");
  const TTest *const tests[] = {
      a_good_peer, its_path_may_go, a_peer_without_arrays, what_is_refused, what_is_borne, who_does_not_listen,
      the_memory_keeps_its_size, files_that_are_no_peers,
      who_goes_early_may_say_why, silence_ends, who_rests_is_stopped, no_descriptor_leaks, speaking_to_the_dead, NULL
  };
  return run_suite("peer_host", 120, tests);
}
