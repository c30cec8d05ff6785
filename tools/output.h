/* What every part of the command says and how it ends: messages on stderr, data on stdout, three exit statuses. */
#ifndef VYRE_TOOLS_OUTPUT_H
#define VYRE_TOOLS_OUTPUT_H

#include <stdbool.h>

#include <vyre/diagnostic.h>
#include <vyre/status.h>

#include "json.h"

enum {
  OUTPUT_DONE = 0,
  OUTPUT_FAILED = 1, /* the job failed: a difference, a refusal, an invalid program */
  OUTPUT_USAGE = 2   /* a command line that is not understood, a file that can not be read or is malformed */
};

/* Makes sure that the three standard streams are open, so that no file takes their numbers, and that a closed pipe
 * is an error of the write instead of the end of the process. Call it first. */
void output_prepare(void);

/* Notes and warnings are dropped from here on. */
void output_set_quiet(bool quiet);
bool output_is_quiet(void);

/* Starts a writer of the command's JSON on stdout, and gives it back. */
json_writer *output_json(json_writer *writer);

/* One message on stderr, as `vyre: ...`; control characters but line ends as \xNN. */
__attribute__((format(printf, 1, 2))) void output_complain(const char *format, ...);
/* The same about the place |where|, a file say: `vyre: WHERE: ...`. */
__attribute__((format(printf, 2, 3))) void output_complain_at(const char *where, const char *format, ...);
/* The same for what is worth knowing and no error. */
__attribute__((format(printf, 1, 2))) void output_note(const char *format, ...);

/* Says what an error record holds and gives the exit status that its status stands for. |what| names what was
 * being done or read. */
int output_error(const char *what, const vyre_error *error);

/* The diagnostics of the program in |file|, warnings only unless quiet. */
void output_diagnostics(const char *file, const vyre_diagnostics *d);

/* Prints a text from elsewhere (a plugin, a file's name) on stdout: control characters as \xNN, so that it can not
 * pass for something else or command the terminal. */
void output_foreign(const char *text);

/* The same on stderr. */
void output_quote(const char *text);

/* Ends the use of stdout: |result|, or OUTPUT_FAILED, with a message, if something could not be written. A failure
 * that is wanted as JSON is written now, unless data was. */
int output_finish(int result);

/* Redraws a line of progress if stderr is a terminal; NULL removes it. */
void output_progress(const char *text);

#endif
