/* A socket pair instead of two pipes: a write to a child that has gone is an error here and no signal. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

enum { CHILD_FILE = 3, DRAIN_CHUNKS = 16, FULL_TIMEOUT_MS = 2000 };

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- Starting ---------------------------------------------------------------------------------- */

/* Away from the numbers that become the child's standard streams. */
static int above_standard(int fd) {
  return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, CHILD_FILE + 1);
}

/* In the child, between fork and exec: async-signal-safe calls alone. Tells the errno of what failed. */
_Noreturn static void become(const char *path, int line, int errors, int file, int report, pid_t parent) {
  signal(SIGPIPE, SIG_DFL);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  bool is_orphan = getppid() != parent;
  bool done = !is_orphan && dup2(line, STDIN_FILENO) >= 0 && dup2(line, STDOUT_FILENO) >= 0 &&
              dup2(errors, STDERR_FILENO) >= 0;
  if (done && file >= 0) done = dup2(file, CHILD_FILE) >= 0;
  if (file < 0) close(CHILD_FILE);
  char *const argv[] = {(char *)(uintptr_t)path, NULL};
  if (done) execv(path, argv);
  int code = errno;
  ssize_t ignored = write(report, &code, sizeof code);
  (void)ignored;
  _exit(127);
}

/* The pair, the pipe of stderr and the pipe that tells of a failed exec, in this order: ours, theirs. */
static bool open_channels(int fds[6]) {
  int raw[6] = {-1, -1, -1, -1, -1, -1};
  bool open = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, raw) == 0 &&
              pipe2(raw + 2, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(raw + 4, O_CLOEXEC) == 0;
  int code = errno;
  for (int i = 0; i < 6; i++) {
    fds[i] = open ? above_standard(raw[i]) : -1;
    if (open && fds[i] < 0) code = errno;
    if (raw[i] >= 0) close(raw[i]);
  }
  for (int i = 0; i < 6; i++) open = open && fds[i] >= 0;
  errno = code;
  return open;
}

static void close_all(int *fds, int count) {
  for (int i = 0; i < count; i++)
    if (fds[i] >= 0) close(fds[i]);
}

vyre_status bench_child_start(bench_child *child, const char *path, int file, vyre_error *error) {
  *child = (bench_child){.line = -1, .errors = -1};
  snprintf(child->path, sizeof child->path, "%s", path);
  int fds[6], code = 0;
  int kept = above_standard(file);
  pid_t parent = getpid();
  pid_t pid = open_channels(fds) ? fork() : -1;
  if (pid == 0) become(path, fds[1], fds[3], kept, fds[5], parent);
  if (pid < 0) code = errno;
  if (kept >= 0) close(kept);
  if (fds[1] >= 0) close(fds[1]);
  if (fds[3] >= 0) close(fds[3]);
  if (fds[5] >= 0) close(fds[5]);
  if (pid > 0) {
    setpgid(pid, pid); /* whoever is first */
    ssize_t got;
    while ((got = read(fds[4], &code, sizeof code)) < 0 && errno == EINTR) continue;
    if (got <= 0) code = 0;
  }
  if (fds[4] >= 0) close(fds[4]);
  if (pid > 0 && code == 0) {
    child->pid = pid;
    child->line = fds[0];
    child->errors = fds[2];
    return VYRE_OK;
  }
  if (pid > 0) waitpid(pid, NULL, 0);
  close_all((int[]){fds[0], fds[2]}, 2);
  return vyre_fail(error, code == ENOENT ? VYRE_ERR_NOT_FOUND : VYRE_ERR_IO, path,
                   "It can't be started: %s. Fix: build it, or leave it out.", strerror(code));
}

/* ---- Listening and speaking -------------------------------------------------------------------- */

/* Keeps the end of what comes on stderr; no more at once than a pipe holds, since some never end. */
static void drain_errors(bench_child *child) {
  char chunk[4096];
  ssize_t got;
  for (int chunks = 0; chunks < DRAIN_CHUNKS && (got = read(child->errors, chunk, sizeof chunk)) > 0; chunks++) {
    size_t have = strlen(child->tail), add = (size_t)got;
    const char *from = chunk;
    if (add > BENCH_TAIL_BYTES) {
      from += add - BENCH_TAIL_BYTES;
      add = BENCH_TAIL_BYTES;
    }
    size_t keep = have + add > BENCH_TAIL_BYTES ? BENCH_TAIL_BYTES - add : have;
    memmove(child->tail, child->tail + (have - keep), keep);
    for (size_t i = 0; i < add; i++) child->tail[keep + i] = (unsigned char)from[i] < ' ' ? ' ' : from[i];
    child->tail[keep + add] = '\0';
  }
}

/* Waits for a child whose socket has ended, and says how it went. */
static vyre_status explain_end(bench_child *child, vyre_error *error) {
  int state = 0;
  char how[64] = "closed its output";
  if (child->pid <= 0) return vyre_fail(error, VYRE_ERR_IO, child->path, "It has ended already.");
  kill(-child->pid, SIGCONT);
  for (int i = 0; i < 200; i++) { /* two seconds; it may still be tearing down */
    pid_t gone = waitpid(child->pid, &state, WNOHANG);
    if (gone == child->pid) {
      if (WIFSIGNALED(state)) snprintf(how, sizeof how, "was ended by signal %d", WTERMSIG(state));
      else snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(state));
      kill(-child->pid, SIGKILL); /* what it may have started itself */
      child->pid = 0;
      break;
    }
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
  drain_errors(child);
  const char *tail = child->tail + strspn(child->tail, " ");
  return vyre_fail(error, VYRE_ERR_IO, child->path, "It %s%s%s", how, tail[0] ? ": " : ".", tail);
}

vyre_status bench_child_say(bench_child *child, vyre_error *error, const char *format, ...) {
  char text[BENCH_LINE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof text)
    return vyre_fail(error, VYRE_ERR_LIMIT, child->path, "A request passes %d bytes.", BENCH_LINE_BYTES);
  for (int sent = 0; sent < length;) {
    ssize_t wrote = send(child->line, text + sent, (size_t)(length - sent), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote < 0 && errno == EINTR) continue;
    bool is_full = wrote < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (is_full && poll(&(struct pollfd){.fd = child->line, .events = POLLOUT}, 1, FULL_TIMEOUT_MS) > 0) continue;
    if (is_full)
      return vyre_fail(error, VYRE_ERR_IO, child->path, "It answers and does not read what it is asked.");
    if (wrote < 0) return explain_end(child, error);
    sent += (int)wrote;
  }
  return VYRE_OK;
}

/* Takes a line out of the buffer. */
static bool take_line(bench_child *child, char line[BENCH_LINE_BYTES]) {
  const char *end = memchr(child->buffer, '\n', child->buffered);
  if (!end) return false;
  uint32_t length = (uint32_t)(end - child->buffer);
  for (uint32_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)child->buffer[i];
    line[i] = (c < ' ' && c != '\t') || c == 0x7F ? ' ' : (char)c;
  }
  line[length] = '\0';
  child->buffered -= length + 1;
  memmove(child->buffer, end + 1, child->buffered);
  return true;
}

/* Reads what is there, at the latest at |deadline|. */
static vyre_status fill(bench_child *child, uint64_t deadline, vyre_error *error) {
  uint64_t now = now_ns();
  if (now >= deadline)
    return vyre_fail(error, VYRE_ERR_TIMEOUT, child->path, "It gave no answer in time.");
  struct pollfd watch[] = {{.fd = child->line, .events = POLLIN}, {.fd = child->errors, .events = POLLIN}};
  uint64_t left_ms = (deadline - now) / 1000000u + 1;
  int ready = poll(watch, 2, left_ms < 1000 ? (int)left_ms : 1000);
  if (ready <= 0) return VYRE_OK;
  if (watch[1].revents & POLLIN) drain_errors(child);
  if (watch[1].revents & POLLHUP && !(watch[1].revents & POLLIN) && !watch[0].revents)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* it closed stderr: no busy loop */
  if (!watch[0].revents) return VYRE_OK;
  ssize_t got = read(child->line, child->buffer + child->buffered, sizeof child->buffer - child->buffered);
  if (got < 0 && errno == EINTR) return VYRE_OK;
  if (got <= 0) return explain_end(child, error);
  child->buffered += (uint32_t)got;
  return VYRE_OK;
}

vyre_status bench_child_hear(bench_child *child, uint64_t timeout_ns, char line[BENCH_LINE_BYTES], vyre_error *error) {
  uint64_t deadline = now_ns() + timeout_ns;
  while (!take_line(child, line)) {
    if (child->buffered == sizeof child->buffer)
      return vyre_fail(error, VYRE_ERR_IO, child->path, "It wrote a line of more than %d bytes.", BENCH_LINE_BYTES);
    vyre_status status = fill(child, deadline, error);
    if (status != VYRE_OK) return status;
  }
  return VYRE_OK;
}

void bench_child_rest(bench_child *child, bool resting) {
  if (child->pid > 0) kill(-child->pid, resting ? SIGSTOP : SIGCONT);
}

void bench_child_end(bench_child *child, uint64_t grace_ns) {
  if (child->line >= 0) shutdown(child->line, SHUT_WR); /* the end of its input */
  if (child->pid > 0) {
    bench_child_rest(child, false);
    uint64_t deadline = now_ns() + grace_ns;
    pid_t gone;
    while ((gone = waitpid(child->pid, NULL, WNOHANG)) == 0 && now_ns() < deadline) {
      if (child->errors >= 0) drain_errors(child);
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(-child->pid, SIGKILL); /* and whatever it started */
    if (gone == 0) waitpid(child->pid, NULL, 0);
  }
  close_all((int[]){child->line, child->errors}, 2);
  *child = (bench_child){.line = -1, .errors = -1};
}
