/* What went wrong, as JSON: with --json a command that fails tells it on standard output, beside the message. */
#ifndef VYRE_TOOLS_FAILURE_H
#define VYRE_TOOLS_FAILURE_H

#include <vyre/diagnostic.h>
#include <vyre/status.h>

#include "json.h"

/* From here on failures are kept. */
void failure_want(void);
bool failure_is_wanted(void);

/* The first message since the last failure_write counts, being the cause of the others. |where| is a file, key or place,
 * "" if it is the command line; |status| what the library gave, VYRE_OK if it was not the library. |text| may end in a
 * "Fix: " sentence. */
void failure_note(vyre_status status, const char *where, const char *text);
/* The same for a program with errors; its diagnostics are kept whole. */
void failure_note_diagnostics(const char *file, const vyre_diagnostics *d);

/* Writes status (of exit), code, message, where, fix as members, and forgets what was kept. */
void failure_write(json_writer *j, int exit_status);
/* The same as an object of its own, with diagnostics, on standard output. */
void failure_print(int exit_status);

#endif
