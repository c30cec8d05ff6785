/* The process is a fork of this one, without exec: the command has one thread and no plugin open when it forks, so
 * everything works in the child, and it has the settings, the path and the report's layout without passing them. (A
 * library could not do this, because it does not know its host's threads; that is why this is part of the command.)
 *
 * What the child found comes back as one record through a pipe. The plugin may have written over anything in it, so no
 * number in it is believed and every text is ended again. A child that ends without the whole record, however it ends,
 * is what the plugin did to it. */
#include "isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "output.h"

#define REPORT_MAGIC 0x74726F706572u
#define MOST_DEVICES 4096u

typedef struct report {
  uint64_t magic;
  vyre_verdict verdict;
  vyre_status status;
  uint32_t device_count, zero;
  char version[256], build_id[256], reason[1024];
} report; /* the devices' records follow */

/* ---- The child ------------------------------------------------------------------------------- */

/* Dies with its parent, leaves no core file, and what the plugin prints on standard output is dropped. */
static void settle_in(void) {
  const struct rlimit none = {0, 0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  setrlimit(RLIMIT_CORE, &none);
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  if (null > STDERR_FILENO) close(null);
}

static bool write_all(int fd, const void *data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t put = write(fd, (const char *)data + done, bytes - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    done += (size_t)put;
  }
  return true;
}

static void copy_text(char *out, size_t room, const char *text) {
  snprintf(out, room, "%s", text);
}

/* Loads the plugin, ends it again, and only then reports: closing may kill, too. */
static bool probe_here(const session *parent, const char *path, int fd) {
  session own = {.config = parent->config};
  vyre_backend_info info;
  vyre_capabilities *devices = NULL;
  report r = {.magic = REPORT_MAGIC};
  if (session_set(&own, VYRE_CONFIG_BACKENDS_PATH, path, "--probe-isolated") != OUTPUT_DONE) return false;
  if (session_open(&own) != OUTPUT_DONE) return false;
  if (vyre_backends_load(own.context, NULL) != VYRE_OK || !vyre_backend_describe(own.context, 0, &info)) return false;
  r.verdict = info.verdict;
  r.status = info.status;
  copy_text(r.version, sizeof r.version, info.version);
  copy_text(r.build_id, sizeof r.build_id, info.build_id);
  copy_text(r.reason, sizeof r.reason, info.reason);
  r.device_count = info.device_count < MOST_DEVICES ? info.device_count : MOST_DEVICES;
  if (r.device_count > 0 && !(devices = calloc(r.device_count, sizeof *devices))) return false;
  for (uint32_t i = 0; i < r.device_count; i++)
    if (vyre_backend_device(own.context, 0, i, &devices[i], NULL) != VYRE_OK) return false;
  vyre_context_destroy(own.context);
  return write_all(fd, &r, sizeof r) && write_all(fd, devices, r.device_count * sizeof *devices);
}

/* ---- The parent ------------------------------------------------------------------------------ */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

typedef enum reading { READING_DONE, READING_ENDED, READING_LATE } reading;

static reading read_all(int fd, void *out, size_t bytes, uint64_t deadline) {
  for (size_t done = 0; done < bytes;) {
    uint64_t now = now_ns(), left = now < deadline ? deadline - now : 0;
    struct timespec wait = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    struct pollfd pipe_end = {.fd = fd, .events = POLLIN};
    int ready = ppoll(&pipe_end, 1, &wait, NULL);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return READING_LATE;
    ssize_t got = read(fd, (char *)out + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return READING_ENDED;
    done += (size_t)got;
  }
  return READING_DONE;
}

static void end_text(char *text, size_t room) {
  text[room - 1] = '\0';
}

static bool is_sound(const report *r) {
  return r->magic == REPORT_MAGIC && vyre_verdict_name(r->verdict)[0] && r->device_count <= MOST_DEVICES;
}

static reading read_report(int fd, uint64_t deadline, isolated_plugin *out) {
  report r;
  reading result = read_all(fd, &r, sizeof r, deadline);
  if (result != READING_DONE) return result;
  if (!is_sound(&r)) return READING_ENDED;
  if (r.device_count > 0 && !(out->devices = calloc(r.device_count, sizeof *out->devices))) return READING_ENDED;
  result = read_all(fd, out->devices, r.device_count * sizeof *out->devices, deadline);
  if (result != READING_DONE) return result;
  out->verdict = vyre_verdict_name(r.verdict);
  out->status = r.status;
  out->device_count = r.device_count;
  end_text(r.version, sizeof r.version);
  end_text(r.build_id, sizeof r.build_id);
  end_text(r.reason, sizeof r.reason);
  copy_text(out->version, sizeof out->version, r.version);
  copy_text(out->build_id, sizeof out->build_id, r.build_id);
  copy_text(out->reason, sizeof out->reason, r.reason);
  for (uint32_t i = 0; i < out->device_count; i++) {
    end_text(out->devices[i].profile, sizeof out->devices[i].profile);
    end_text(out->devices[i].name, sizeof out->devices[i].name);
    end_text(out->devices[i].driver, sizeof out->devices[i].driver);
  }
  return READING_DONE;
}

/* Whatever the plugin started goes with it. */
static int end_child(pid_t child) {
  int ended = 0;
  kill(-child, SIGKILL);
  kill(child, SIGKILL); /* it may not have come to be a group of its own */
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  return ended;
}

static void judge(isolated_plugin *out, reading result, int ended, uint64_t timeout_ns) {
  static const char fix[] = "Fix: take it away, or report it to its author";
  out->status = VYRE_ERR_BROKEN_PLUGIN;
  out->device_count = 0;
  if (result == READING_LATE) {
    out->verdict = "hung";
    out->status = VYRE_ERR_TIMEOUT;
    snprintf(out->reason, sizeof out->reason,
             "It had not answered after %.3g s. %s; the setting backends.probe_timeout gives it more time.",
             (double)timeout_ns / 1e9, fix);
  } else if (WIFSIGNALED(ended)) {
    out->verdict = "crashed";
    snprintf(out->reason, sizeof out->reason, "It ended the process that probed it by signal %d (%s). %s.",
             WTERMSIG(ended), strsignal(WTERMSIG(ended)), fix);
  } else {
    out->verdict = "exited";
    snprintf(out->reason, sizeof out->reason, "It ended the process that probed it with exit status %d. %s.",
             WEXITSTATUS(ended), fix);
  }
}

/* How a child ended that closed the pipe, which may come a moment before its end, or long before. */
static reading await_end(pid_t child, uint64_t deadline) {
  const struct timespec pause = {0, 1000000};
  for (;;) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == child)
      return READING_ENDED;
    if (now_ns() >= deadline) return READING_LATE;
    nanosleep(&pause, NULL);
  }
}

int isolate_probe(const session *s, const char *path, uint64_t timeout_ns, isolated_plugin *out) {
  *out = (isolated_plugin){.verdict = "unreadable", .status = VYRE_ERR_INVALID_ARGUMENT};
  if (strchr(path, ':')) {
    copy_text(out->reason, sizeof out->reason,
              "There is a colon in its path, which a search path can not name. Fix: move it to another directory.");
    return OUTPUT_DONE;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    output_complain("--probe-isolated: %s. Fix: close some files.", strerror(errno));
    return OUTPUT_FAILED;
  }
  fflush(stdout);
  uint64_t now = now_ns(), deadline = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    settle_in();
    _exit(probe_here(s, path, ends[1]) ? 0 : OUTPUT_FAILED);
  }
  int code = errno, ended;
  close(ends[1]);
  if (child > 0) {
    reading result = read_report(ends[0], deadline, out);
    if (result == READING_ENDED) result = await_end(child, deadline);
    ended = end_child(child);
    if (result != READING_DONE) judge(out, result, ended, timeout_ns);
  } else {
    output_complain("--probe-isolated: %s. Fix: let this user have more processes.", strerror(code));
  }
  close(ends[0]);
  return child > 0 ? OUTPUT_DONE : OUTPUT_FAILED;
}
