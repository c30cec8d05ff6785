/* Status texts from the table, and the one way to fill an error record. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct status_row {
  vyre_status status;
  uint32_t reaction;
  const char *name, *text;
} status_row;

static const status_row status_rows[] = {
#define X(name, number, reaction, text) { number, VYRE_REACTION_##reaction, "VYRE_ERR_" #name, text },
#include <vyre/status.def>
#undef X
};

static const status_row *find_row(vyre_status status) {
  for (size_t i = 0; i < sizeof status_rows / sizeof *status_rows; i++)
    if (status_rows[i].status == status) return &status_rows[i];
  return NULL;
}

const char *vyre_status_name(vyre_status status) {
  const status_row *row = find_row(status);
  return row != NULL ? row->name : "unknown status";
}

const char *vyre_status_text(vyre_status status) {
  const status_row *row = find_row(status);
  return row != NULL ? row->text : "unknown status";
}

uint32_t vyre_status_reaction(vyre_status status) {
  const status_row *row = find_row(status);
  return row != NULL ? row->reaction : VYRE_REACTION_INTERNAL;
}

/* Texts are made aside first, because the arguments may lie in the record: a caller adds context to what it got. */
vyre_status vyre_fail(vyre_error *error, vyre_status status, const char *where, const char *format, ...) {
  if (error == NULL || error->size < sizeof *error) return status;
  char place[VYRE_ERROR_WHERE_BYTES], text[VYRE_ERROR_TEXT_BYTES];
  snprintf(place, sizeof place, "%s", where != NULL ? where : "");
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (error->log != NULL && error->log_capacity > 0) {
    va_start(args, format);
    vsnprintf(error->log, error->log_capacity, format, args);
    va_end(args);
  }
  error->status = status;
  error->vendor_code = 0;
  error->reaction = vyre_status_reaction(status);
  error->log_length = length > 0 ? (uint64_t)length : 0;
  strcpy(error->where, place);
  strcpy(error->text, length >= 0 ? text : "");
  return status;
}

vyre_status vyre_fail_memory(vyre_error *error, const char *where) {
  return vyre_fail(error, VYRE_ERR_NO_MEMORY, where, "Memory is exhausted. Fix: free memory, or use a smaller input.");
}
