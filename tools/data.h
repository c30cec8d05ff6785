/* The contents of buffers: from a SRC of --in, to a DST of --out. forms.def says how these are written. */
#ifndef VYRE_TOOLS_DATA_H
#define VYRE_TOOLS_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/ir.h>

/* |count| elements of |element| as a buffer holds them. */
typedef struct data {
  vyre_type element;
  uint64_t count;
  uint8_t *bytes; /* never NULL once read or made */
} data;

uint64_t data_bytes(const data *d);
void data_free(data *d);

/* |count| elements of zero. Gives an exit status; it has been said then. */
int data_zeros(vyre_type element, uint64_t count, data *out);
/* What |source| describes, for the buffer |name|. Gives an exit status. */
int data_read(const char *name, const char *source, vyre_type element, data *out);

/* Whether |destination| is well formed for |element|. Gives an exit status. */
int data_check_destination(const char *name, const char *destination, vyre_type element);
bool data_is_stdout(const char *destination);
/* The file of a destination that is one. */
const char *data_path(const char *destination);
/* The bytes for that file: |*out| is the data's own, or a new block that goes to |*owned|, which the caller frees.
 * Gives an exit status. */
int data_encode(const data *d, const char *destination, const uint8_t **out, uint64_t *length, uint8_t **owned);
/* One line on stdout. */
void data_print(const data *d);

/* The whole of |text| as a decimal or 0x number. */
bool data_parse_count(const char *text, uint64_t *value);
/* X[,Y[,Z]], each up to |most|, which is UINT32_MAX or UINT64_MAX; an axis that is not given stays. Gives NULL, or what
 * was wanted instead. */
const char *data_parse_axes(const char *text, uint64_t most, uint64_t axes[3]);

#endif
