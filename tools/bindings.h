/* What a run binds: the program's parameters and buffers, as --set, --in, --len and --out say. */
#ifndef VYRE_TOOLS_BINDINGS_H
#define VYRE_TOOLS_BINDINGS_H

#include <vyre/device.h>

#include "data.h"
#include "options.h"

typedef struct bound_buffer {
  vyre_buffer_info info;
  const char *in;  /* SRC, or NULL */
  const char *out; /* DST, or NULL */
  const char *len; /* N, or NULL */
  data input;      /* before the run */
} bound_buffer;

typedef struct bindings {
  const vyre_program *program;
  vyre_arg *params; /* in declaration order, without those that are compiled in */
  uint32_t param_count;
  vyre_arg *specs;  /* those, of --spec */
  uint32_t spec_count;
  bound_buffer *buffers; /* by slot */
  uint32_t buffer_count;
  uint32_t *outputs; /* slots of --out, in the order of the command line */
  uint32_t output_count;
} bindings;

/* Gathers and reads all that a run of |program| needs. Gives an exit status; free in any case. */
int bindings_read(const vyre_program *program, const parsed_options *o, bindings *out);
void bindings_free(bindings *b);

/* Results of a run: copies of what goes in, by slot. Gives an exit status; free in any case. */
int bindings_copy(const bindings *b, data **out);
/* Makes them what goes in once more. */
void bindings_reset(const bindings *b, data *results);
void bindings_free_copy(const bindings *b, data *results);

/* Whether the program may write that buffer. */
bool bindings_is_written(const bound_buffer *buffer);

#endif
