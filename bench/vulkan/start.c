/* A program that starts for the first time, and again. Each start is a process of its own; all caches of vyre and of the
 * driver lie in a directory that is empty at first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vulkan/contest.h"

enum { STARTS = 3 };

/* Only what the plugin says of its cache. */
static void show_cache(void *ctx, vyre_log_level level, const char *subsystem, const char *text) {
  (void)ctx, (void)level;
  if (strstr(text, "cache") || strstr(text, "driver compiles") || strstr(text, "self-test"))
    printf("    %s: %s\n", subsystem, text);
}

static const char *start(vyre_log *log, const contest_kernel *kernel) {
  vyre_side side;
  vyre_job job = {0};
  const double begin = peer_now();
  const char *fault = vyre_side_open(NULL, log, &side);
  const double opened = peer_now();
  if (!fault) fault = vyre_job_compile(&side, kernel, false, &job);
  const double compiled = peer_now();
  if (!fault) fault = vyre_job_bind(&job, kernel, 1);
  if (!fault) fault = vyre_job_run(&job);
  const double done = peer_now();
  if (!fault)
    printf("    open %.2f ms, compile %.2f ms, first launch %.2f ms\n", (opened - begin) / 1e6,
           (compiled - opened) / 1e6, (done - compiled) / 1e6);
  vyre_job_destroy(&job);
  vyre_side_close(&side);
  return fault;
}

int contest_start_once(const char *name) {
  vyre_log *log;
  if (vyre_log_create(&log) != VYRE_OK) return contest_complain("start", "memory is exhausted");
  vyre_log_set(log, VYRE_LOG_DEBUG, show_cache, NULL);
  const char *fault = "there is no such kernel";
  for (uint32_t i = 0; i < contest_kernel_count; i++)
    if (strcmp(contest_kernels[i].name, name) == 0) fault = start(log, &contest_kernels[i]);
  vyre_log_destroy(log);
  return fault ? contest_complain(name, fault) : 0;
}

static int run_again(const char *name) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "vulkan_bench", "start-once", name, (char *)NULL);
    _exit(127);
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) < 0) return contest_complain("start", "no process can be started");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void remove_directory(const char *directory) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", directory);
  if (system(command) != 0) contest_complain(directory, "it can't be removed");
}

int contest_run_start(void) {
  static const char *const names[] = {"saxpy", "matmul"};
  char directory[] = "/tmp/vyre-start-XXXXXX";
  int status = 0;
  if (!mkdtemp(directory)) return contest_complain("start", "/tmp takes no directory");
  setenv("XDG_CACHE_HOME", directory, 1);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (int k = 0; k < STARTS && status == 0; k++) {
      printf("%s, start %d\n", names[i], k + 1);
      status = run_again(names[i]);
    }
  remove_directory(directory);
  return status;
}
