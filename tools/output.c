/* Messages, exit statuses and the care for standard streams. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_quiet;
static bool has_progress;

void output_prepare(void) {
  /* A closed stream is opened the wrong way round: using it fails as it did while it was closed. */
  for (int fd = 0; fd <= 2; fd++) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) _exit(OUTPUT_FAILED);
  }
  signal(SIGPIPE, SIG_IGN);
}

void output_set_quiet(bool quiet) {
  is_quiet = quiet;
}
bool output_is_quiet(void) {
  return is_quiet;
}

static void print_escaped(FILE *stream, const char *text, bool keep_line_ends) {
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
    bool is_control = *at < 0x20 || *at == 0x7F;
    if (is_control && !(keep_line_ends && *at == '\n')) fprintf(stream, "\\x%02X", *at);
    else putc(*at, stream);
  }
}

void output_foreign(const char *text) {
  print_escaped(stdout, text, false);
}

/* Messages may quote what comes from elsewhere. Longer ones are cut. */
__attribute__((format(printf, 2, 0))) static void say(const char *prefix, const char *format, va_list arguments) {
  output_progress(NULL);
  char text[4096];
  vsnprintf(text, sizeof text, format, arguments);
  fputs(prefix, stderr);
  print_escaped(stderr, text, true);
  fputc('\n', stderr);
}

void output_complain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say("vyre: ", format, arguments);
  va_end(arguments);
}

void output_note(const char *format, ...) {
  if (is_quiet) return;
  va_list arguments;
  va_start(arguments, format);
  say("vyre: note: ", format, arguments);
  va_end(arguments);
}

/* |where| may be |what| itself, or a line of it. */
static bool names(const char *where, const char *what) {
  size_t bytes = strlen(what);
  return strncmp(where, what, bytes) == 0 && (where[bytes] == '\0' || where[bytes] == ':');
}

int output_error(const char *what, const vyre_error *error) {
  const char *text = error->text[0] ? error->text : vyre_status_text(error->status);
  if (names(error->where, what)) {
    output_complain("%s: %s", error->where, text);
  } else if (error->where[0]) {
    output_complain("%s: %s: %s", what, error->where, text);
  } else {
    output_complain("%s: %s", what, text);
  }
  if (error->log && error->log[0]) {
    print_escaped(stderr, error->log, true);
    fputc('\n', stderr);
  }
  bool is_input = error->status == VYRE_ERR_INVALID_FILE || error->status == VYRE_ERR_INVALID_CONFIG ||
                  error->status == VYRE_ERR_INVALID_WIRE;
  return is_input ? OUTPUT_USAGE : OUTPUT_FAILED;
}

void output_diagnostics(const vyre_diagnostics *d) {
  if (vyre_diagnostics_errors(d) == 0 && (is_quiet || vyre_diagnostics_warnings(d) == 0)) return;
  output_progress(NULL);
  char *text = vyre_diagnostics_render(d);
  if (!text) {
    output_complain("memory is exhausted");
    return;
  }
  fputs(text, stderr);
  free(text);
}

int output_finish(int result) {
  errno = 0; /* what is still there to be written fails again, with the reason */
  if (fflush(stdout) == 0 && !ferror(stdout)) return result;
  output_complain("standard output: %s. Fix: give it a place that takes the data.",
                  errno ? strerror(errno) : "a write failed");
  return result == OUTPUT_DONE ? OUTPUT_FAILED : result;
}

void output_progress(const char *text) {
  if (!text) {
    if (has_progress) fputs("\r\033[K", stderr);
    has_progress = false;
    return;
  }
  if (is_quiet || !isatty(STDERR_FILENO)) return;
  fprintf(stderr, "\r\033[K%s", text);
  has_progress = true;
}
