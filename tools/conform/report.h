/* What a run of the kit found, for people and as JSON. */
#ifndef VYRE_TOOLS_CONFORM_REPORT_H
#define VYRE_TOOLS_CONFORM_REPORT_H

#include "allow.h"
#include "run.h"
#include "tools/json.h"

#define CONFORM_DIGEST_BYTES 65 /* hexadecimal, and its end */

typedef struct conform_report {
  const kit_settings *settings;
  plugin_identity identity;
  char digest[CONFORM_DIGEST_BYTES]; /* of the plugin's file */
  const check_result *results;       /* in order */
  uint32_t count;
  bool is_whole; /* every check was run */
  const allow_list *allowed;
  char day[11]; /* of the run */
} conform_report;

/* BLAKE2b-256. */
void conform_digest(const void *bytes, size_t count, char text[CONFORM_DIGEST_BYTES]);

/* What a result counts as. */
typedef enum conform_standing {
  STANDING_PASS,
  STANDING_SKIP,
  STANDING_ALLOWED,    /* it failed, and the list has it */
  STANDING_UNEXPECTED, /* it passed, and the list says that it fails */
  STANDING_FAIL
} conform_standing;
conform_standing conform_standing_of(const conform_report *r, const check_result *result);
/* How many results stand so. */
uint32_t conform_count(const conform_report *r, conform_standing standing);
bool conform_is_met(const conform_report *r);

/* The line or lines of one result on stdout, as soon as it is there. */
void conform_row(const conform_report *r, const check_result *result);
/* The last lines. */
void conform_sum(const conform_report *r);
void conform_json(json_writer *j, const conform_report *r);
/* The text of a certificate, for a report that conforms and is whole; the caller frees it. NULL without memory. Its
 * last member is the digest (BLAKE2b-256) of all bytes before the line of that member. */
char *conform_certificate(const conform_report *r, size_t *bytes);

/* All checks, for --list. */
void conform_list(void);
void conform_list_json(json_writer *j);

#endif
