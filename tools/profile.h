/* A profile as a file: what compiling needs to know of a device, without its identity and memory, as a JSON object.
 *
 *   vyre_profile     1, the version of this form
 *   backend          the backend's name; profile: the profile's
 *   programs         capabilities of programs that it has, by their names in needs.def
 *   numbers          promises about floats that it makes
 *   subgroup_sizes   sizes that can be required; subgroup_size: the one that is used otherwise
 *   max_...          limits, each a number, max_workgroup one an axis
 *   vendor           eight numbers that mean something to the backend alone
 *
 * Every member stands once, and no other may. */
#ifndef VYRE_TOOLS_PROFILE_H
#define VYRE_TOOLS_PROFILE_H

#include <vyre/device.h>

#include "json.h"

#define PROFILE_REASON_BYTES 256
#define PROFILE_MAX_BYTES (1u << 20)

typedef struct bit_name {
  uint64_t bit;
  const char *name;
} bit_name;

/* Names of VYRE_NEED_* and VYRE_NUMERIC_*; a row without name ends them. */
extern const bit_name profile_programs[];
extern const bit_name profile_numbers[];

typedef struct profile {
  char backend[VYRE_BACKEND_MAX_NAME + 1];
  vyre_capabilities capabilities; /* 0 where a profile says nothing */
} profile;

/* The names of the bits that are set, as an array. */
void profile_bits_json(json_writer *j, const char *key, const bit_name *names, uint64_t bits);
/* The members from `profile` on, in an object that is open. */
void profile_members_json(json_writer *j, const vyre_capabilities *c);
/* The whole object. */
void profile_json(json_writer *j, const char *backend, const vyre_capabilities *c);

/* Reads a profile. False, with the reason and a fix, if it is not one. */
bool profile_parse(const char *text, size_t length, profile *out, char reason[PROFILE_REASON_BYTES]);

#endif
