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

#include "failure.h"

#define MESSAGE_BYTES 4096

static bool is_quiet;
static bool has_progress;
static bool has_json; /* something of it is on stdout */
static bool has_failed; /* stdout, and it was said */

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

void output_quote(const char *text) {
  print_escaped(stderr, text, false);
}

json_writer *output_json(json_writer *writer) {
  *writer = (json_writer){.file = stdout};
  has_json = true;
  return writer;
}

/* Messages may quote what comes from elsewhere. Longer ones are cut. */
static void say(const char *prefix, const char *where, const char *text) {
  output_progress(NULL);
  fputs(prefix, stderr);
  print_escaped(stderr, where, true);
  if (where[0]) fputs(": ", stderr);
  print_escaped(stderr, text, true);
  fputc('\n', stderr);
}

__attribute__((format(printf, 3, 0))) static void complain(vyre_status status, const char *where, const char *format,
                                                           va_list arguments) {
  char text[MESSAGE_BYTES];
  vsnprintf(text, sizeof text, format, arguments);
  failure_note(status, where, text);
  say("vyre: ", where, text);
}

void output_complain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain(VYRE_OK, "", format, arguments);
  va_end(arguments);
}

void output_complain_at(const char *where, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain(VYRE_OK, where, format, arguments);
  va_end(arguments);
}

void output_note(const char *format, ...) {
  if (is_quiet) return;
  va_list arguments;
  char text[MESSAGE_BYTES];
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  say("vyre: note: ", "", text);
}

/* |where| may be |what| itself, or a line of it. */
static bool names(const char *where, const char *what) {
  size_t bytes = strlen(what);
  return strncmp(where, what, bytes) == 0 && (where[bytes] == '\0' || where[bytes] == ':');
}

int output_error(const char *what, const vyre_error *error) {
  const char *text = error->text[0] ? error->text : vyre_status_text(error->status);
  char where[MESSAGE_BYTES];
  bool is_both = error->where[0] && !names(error->where, what);
  const char *one = error->where[0] && !is_both ? error->where : what;
  snprintf(where, sizeof where, is_both ? "%s: %s" : "%s", one, error->where);
  failure_note(error->status, where, text);
  say("vyre: ", where, text);
  if (error->log && error->log[0]) {
    print_escaped(stderr, error->log, true);
    fputc('\n', stderr);
  }
  bool is_input = error->status == VYRE_ERR_INVALID_FILE || error->status == VYRE_ERR_INVALID_CONFIG ||
                  error->status == VYRE_ERR_INVALID_WIRE;
  return is_input ? OUTPUT_USAGE : OUTPUT_FAILED;
}

void output_diagnostics(const char *file, const vyre_diagnostics *d) {
  if (vyre_diagnostics_errors(d) > 0) failure_note_diagnostics(file, d);
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
  if (result != OUTPUT_DONE && failure_is_wanted() && !has_json) failure_print(result);
  errno = 0; /* what is still there to be written fails again, with the reason */
  if ((fflush(stdout) == 0 && !ferror(stdout)) || has_failed) return result;
  has_failed = true;
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
