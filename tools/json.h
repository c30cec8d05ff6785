/* Writes JSON (RFC 8259), indented. A call order that is not JSON is a defect of the caller. */
#ifndef VYRE_TOOLS_JSON_H
#define VYRE_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <vyre/ir.h>

#define JSON_MAX_DEPTH 63u

typedef struct json_writer {
  FILE *file;
  uint32_t depth;
  uint64_t has_members; /* bit: something was written at this depth */
} json_writer;

/* In all of these |key| is NULL inside an array and at the top. */
void json_open(json_writer *j, const char *key, char bracket); /* '{' or '[' */
void json_close(json_writer *j, char bracket);                 /* '}' or ']'; the outermost ends the line */
void json_text(json_writer *j, const char *key, const char *text);
void json_unsigned(json_writer *j, const char *key, uint64_t value);
void json_signed(json_writer *j, const char *key, int64_t value);
void json_boolean(json_writer *j, const char *key, bool value);
/* Members that are text already, from a writer of the same depth. */
void json_raw(json_writer *j, const char *members);
/* Findings about a program as the member "diagnostics". */
void json_diagnostics(json_writer *j, const vyre_diagnostics *d);
/* One scalar element; JSON has no inf and nan, these become strings. */
void json_element(json_writer *j, const char *key, vyre_type type, const void *element);

#endif
