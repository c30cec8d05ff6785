/* Written by our own writer, read by jansson. What is read is believed only member by member. */
#include "profile.h"

#include <jansson.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#define FORM_VERSION 1

const bit_name profile_programs[] = {
#define X(name, bit, spelling, use) {VYRE_NEED_##name, spelling},
#include <vyre/needs.def>
#undef X
    {0, NULL}};
const bit_name profile_numbers[] = {{VYRE_NUMERIC_SUBNORMALS, "subnormals"},
                                    {VYRE_NUMERIC_FMA, "fma"},
                                    {VYRE_NUMERIC_DIVISION, "division"},
                                    {VYRE_NUMERIC_ZERO_ORDER, "zero_order"},
                                    {0, NULL}};

/* Members that are a number each, or several. */
typedef struct field {
  const char *name;
  size_t at;
  uint32_t count;
} field;

static const field fields[] = {
    {"subgroup_size", offsetof(vyre_capabilities, subgroup_size), 1},
    {"max_workgroup_invocations", offsetof(vyre_capabilities, max_workgroup_invocations), 1},
    {"max_workgroup", offsetof(vyre_capabilities, max_workgroup), 3},
    {"max_shared_bytes", offsetof(vyre_capabilities, max_shared_bytes), 1},
    {"max_bindings", offsetof(vyre_capabilities, max_bindings), 1},
    {"max_param_bytes", offsetof(vyre_capabilities, max_param_bytes), 1},
    {"vendor", offsetof(vyre_capabilities, vendor), 8},
};
#define FIELDS (sizeof fields / sizeof fields[0])
#define OTHER_MEMBERS 6 /* vyre_profile backend profile programs numbers subgroup_sizes */

/* ---- Writing ------------------------------------------------------------------------------- */

void profile_bits_json(json_writer *j, const char *key, const bit_name *names, uint64_t bits) {
  json_open(j, key, '[');
  for (; names->name; names++)
    if (bits & names->bit) json_text(j, NULL, names->name);
  json_close(j, ']');
}

static void field_json(json_writer *j, const field *f, const vyre_capabilities *c) {
  const uint32_t *numbers = (const uint32_t *)(const void *)((const char *)c + f->at);
  if (f->count == 1) {
    json_unsigned(j, f->name, numbers[0]);
    return;
  }
  json_open(j, f->name, '[');
  for (uint32_t i = 0; i < f->count; i++) json_unsigned(j, NULL, numbers[i]);
  json_close(j, ']');
}

void profile_members_json(json_writer *j, const vyre_capabilities *c) {
  json_text(j, "profile", c->profile);
  profile_bits_json(j, "programs", profile_programs, c->needs);
  profile_bits_json(j, "numbers", profile_numbers, c->numeric);
  json_open(j, "subgroup_sizes", '[');
  for (uint32_t size = 1; size != 0; size <<= 1) /* each size is its own bit */
    if (c->subgroup_sizes & size) json_unsigned(j, NULL, size);
  json_close(j, ']');
  for (size_t i = 0; i < FIELDS; i++) field_json(j, &fields[i], c);
}

void profile_json(json_writer *j, const char *backend, const vyre_capabilities *c) {
  json_open(j, NULL, '{');
  json_unsigned(j, "vyre_profile", FORM_VERSION);
  json_text(j, "backend", backend);
  profile_members_json(j, c);
  json_close(j, '}');
}

/* ---- Reading ------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static bool refuse(char *reason, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int bytes = vsnprintf(reason, PROFILE_REASON_BYTES, format, arguments);
  va_end(arguments);
  const char fix[] = ". Fix: save it anew with `vyre backends --save-profile`.";
  size_t used = bytes < 0 ? 0 : (size_t)bytes, most = PROFILE_REASON_BYTES - sizeof fix;
  strcpy(reason + (used < most ? used : most), fix);
  return false;
}

static bool read_number(const json_t *value, const char *name, uint64_t most, uint32_t *out, char *reason) {
  json_int_t number = json_integer_value(value); /* 0 for what is none */
  if (!json_is_integer(value) || number < 0 || (uint64_t)number > most)
    return refuse(reason, "%s is no number from 0 to %llu", name, (unsigned long long)most);
  *out = (uint32_t)number;
  return true;
}

static bool read_text(const json_t *root, const char *name, char *out, size_t room, char *reason) {
  const char *text = json_string_value(json_object_get(root, name));
  if (!text || !text[0] || strlen(text) >= room)
    return refuse(reason, "%s is no text of 1 to %zu bytes", name, room - 1);
  strcpy(out, text);
  return true;
}

static bool read_bits(const json_t *root, const char *name, const bit_name *names, uint64_t *out, char *reason) {
  const json_t *list = json_object_get(root, name);
  size_t count = json_array_size(list); /* 0 for what is none */
  if (!json_is_array(list)) return refuse(reason, "%s is no list of names", name);
  for (size_t i = 0; i < count; i++) {
    const char *word = json_string_value(json_array_get(list, i));
    const bit_name *row = names;
    while (word && row->name && strcmp(row->name, word) != 0) row++;
    if (!word) return refuse(reason, "%s has what is no name", name);
    if (!row->name) return refuse(reason, "%s has %.60s, which is not known", name, word);
    if (*out & row->bit) return refuse(reason, "%s has %.60s twice", name, word);
    *out |= row->bit;
  }
  return true;
}

static bool read_sizes(const json_t *root, uint32_t *out, char *reason) {
  const json_t *list = json_object_get(root, "subgroup_sizes");
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count == 0) return refuse(reason, "subgroup_sizes is no list of sizes");
  for (size_t i = 0; i < count; i++) {
    uint32_t size = 0;
    if (!read_number(json_array_get(list, i), "a subgroup size", 32, &size, reason)) return false;
    if (size == 0 || (size & (size - 1)) != 0 || (*out & size))
      return refuse(reason, "subgroup_sizes has %u, which is no power of two or stands twice", size);
    *out |= size;
  }
  return true;
}

static bool read_field(const json_t *root, const field *f, vyre_capabilities *c, char *reason) {
  const json_t *value = json_object_get(root, f->name);
  uint32_t *numbers = (uint32_t *)(void *)((char *)c + f->at);
  if (f->count == 1) return read_number(value, f->name, UINT32_MAX, numbers, reason);
  if (json_array_size(value) != f->count) return refuse(reason, "%s is no list of %u numbers", f->name, f->count);
  for (uint32_t i = 0; i < f->count; i++)
    if (!read_number(json_array_get(value, i), f->name, UINT32_MAX, &numbers[i], reason)) return false;
  return true;
}

static bool read_root(const json_t *root, profile *out, char *reason) {
  vyre_capabilities *c = &out->capabilities;
  uint32_t version = 0;
  uint64_t numbers = 0;
  if (!json_is_object(root)) return refuse(reason, "it is no JSON object");
  const json_t *form = json_object_get(root, "vyre_profile");
  if (!form) return refuse(reason, "it has no member vyre_profile, so it is no profile");
  if (!read_number(form, "vyre_profile", UINT32_MAX, &version, reason)) return false;
  if (version != FORM_VERSION)
    return refuse(reason, "it is a profile of form %u, and form %d is known", version, FORM_VERSION);
  if (!read_text(root, "backend", out->backend, sizeof out->backend, reason) ||
      !read_text(root, "profile", c->profile, sizeof c->profile, reason) ||
      !read_bits(root, "programs", profile_programs, &c->needs, reason) ||
      !read_bits(root, "numbers", profile_numbers, &numbers, reason) || !read_sizes(root, &c->subgroup_sizes, reason))
    return false;
  c->numeric = (uint32_t)numbers;
  for (size_t i = 0; i < FIELDS; i++)
    if (!read_field(root, &fields[i], c, reason)) return false;
  if (json_object_size(root) != FIELDS + OTHER_MEMBERS)
    return refuse(reason, "it has members that are not known");
  if ((c->subgroup_sizes & c->subgroup_size) == 0 || (c->subgroup_size & (c->subgroup_size - 1)) != 0)
    return refuse(reason, "its subgroup_size %u is not among its subgroup_sizes", c->subgroup_size);
  return true;
}

bool profile_parse(const char *text, size_t length, profile *out, char reason[PROFILE_REASON_BYTES]) {
  json_error_t error;
  *out = (profile){.capabilities.size = sizeof out->capabilities};
  if (length > PROFILE_MAX_BYTES) return refuse(reason, "it has more than %u bytes", PROFILE_MAX_BYTES);
  json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  if (!root) return refuse(reason, "line %d is no JSON: %.120s", error.line, error.text);
  bool is_good = read_root(root, out, reason);
  json_decref(root);
  return is_good;
}
