/* A program from a file or standard input, text or wire form. */
#ifndef VYRE_TOOLS_PROGRAM_H
#define VYRE_TOOLS_PROGRAM_H

#include <vyre/ir.h>

#include "options.h"
#include "profile.h"

typedef struct loaded_program {
  const char *path; /* as it was given; "standard input" for "-" */
  uint8_t *bytes;   /* the file, followed by a NUL */
  size_t count;
  bool is_wire;
  vyre_program *program; /* NULL if it is not valid */
  vyre_diagnostics *diagnostics;
} loaded_program;

/* Reads a file and tells text from wire form. Gives an exit status; free in any case. */
int program_read(const char *path, loaded_program *out);
/* Reads and decodes, with the --define of |options|. Gives an exit status. Diagnostics have not been shown, other
 * failures have been said. */
int program_load(const char *path, const parsed_options *options, loaded_program *out);
void program_free(loaded_program *p);

/* Reads the file of a profile. Gives an exit status; it has been said then. */
int program_read_profile(const char *path, profile *out);
/* "read", "rw", ... as it is written in a declaration. */
const char *program_access_name(vyre_access access);

#endif
