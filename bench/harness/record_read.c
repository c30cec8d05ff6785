/* Reads a report by walking over its table beside the JSON. What the table does not know is refused, so that no
 * misspelt member is lost and no later schema is half understood. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/checked.h"
#include "base/error.h"
#include "record_fields.h"
#include "record_json.h"
#include "stats.h"

/* The last two keep what compares everything with everything short. */
enum { MAX_BYTES = 64 << 20, MAX_CASES = 4096, MAX_ELEMENTS = 256 };

/* Where the reader is: a member, or an element of a list. */
typedef struct place {
  const struct place *outer;
  const char *key;
  size_t index;
} place;

typedef struct reader {
  const char *name;
  vyre_arena *arena;
  vyre_error *error;
} reader;

static vyre_status read_members(reader *r, const place *at, const record_type *type, json_t *json, void *object);

/* "cases[2].id" into |text|, as much as fits. */
static size_t spell(const place *at, char *text, size_t room) {
  if (!at) return 0;
  size_t used = spell(at->outer, text, room);
  if (used >= room) return used;
  int more = at->key ? snprintf(text + used, room - used, "%s%s", used ? "." : "", at->key)
                     : snprintf(text + used, room - used, "[%zu]", at->index);
  return more < 0 ? used : used + (size_t)more;
}

__attribute__((format(printf, 3, 4))) static vyre_status refuse(reader *r, const place *at, const char *format, ...) {
  char where[VYRE_ERROR_WHERE_BYTES] = "the report", text[256];
  spell(at, where, sizeof where);
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return vyre_fail(r->error, VYRE_ERR_INVALID_FILE, r->name, "%s %s. Fix: give a file that vyre bench --json wrote.",
                   where, text);
}

static vyre_status no_memory(reader *r) {
  return vyre_fail_memory(r->error, r->name);
}

static const char *kind_of(json_t *json) {
  switch (json_typeof(json)) {
  case JSON_OBJECT:
    return "an object";
  case JSON_ARRAY:
    return "an array";
  case JSON_STRING:
    return "a text";
  case JSON_INTEGER:
    return "an integer";
  case JSON_REAL:
    return "a fraction";
  case JSON_NULL:
    return "null";
  default:
    return "a truth value";
  }
}

static vyre_status read_text(reader *r, const place *at, json_t *json, const char **out) {
  if (!json_is_string(json)) return refuse(r, at, "has to be a text, and is %s", kind_of(json));
  *out = vyre_arena_copy(r->arena, json_string_value(json), json_string_length(json));
  return *out ? VYRE_OK : no_memory(r);
}

static vyre_status read_unsigned(reader *r, const place *at, json_t *json, uint64_t max, uint64_t *out) {
  if (!json_is_integer(json)) return refuse(r, at, "has to be an integer, and is %s", kind_of(json));
  json_int_t value = json_integer_value(json);
  if (value < 0 || (uint64_t)value > max)
    return refuse(r, at, "has to be from 0 to %ju, and is %jd", (uintmax_t)max, (intmax_t)value);
  *out = (uint64_t)value;
  return VYRE_OK;
}

static vyre_status read_u32(reader *r, const place *at, json_t *json, uint32_t *out) {
  uint64_t value = 0;
  vyre_status status = read_unsigned(r, at, json, UINT32_MAX, &value);
  *out = (uint32_t)value;
  return status;
}

static vyre_status read_number(reader *r, const place *at, json_t *json, double *out) {
  if (!json_is_number(json)) return refuse(r, at, "has to be a number, and is %s", kind_of(json));
  *out = json_number_value(json);
  return VYRE_OK;
}

static vyre_status read_hex(reader *r, const place *at, json_t *json, uint64_t *out) {
  const char *text = json_string_value(json);
  if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
    return refuse(r, at, "has to be 16 hexadecimal digits");
  *out = strtoull(text, NULL, 16);
  return VYRE_OK;
}

static vyre_status read_digest(reader *r, const place *at, json_t *json, bench_digest *out) {
  out->known = true;
  return read_hex(r, at, json, &out->fnv);
}

static vyre_status read_word(reader *r, const place *at, record_kind kind, json_t *json, uint32_t *out) {
  uint32_t count;
  const char *const *words = record_words(kind, &count);
  const char *text = json_string_value(json);
  for (*out = 0; text && *out < count; (*out)++)
    if (strcmp(text, words[*out]) == 0) return VYRE_OK;
  return refuse(r, at, "is none of the words of its kind, such as %s", words[0]);
}

static vyre_status read_triple(reader *r, const place *at, record_kind kind, json_t *json, void *out) {
  if (json_array_size(json) != 3) return refuse(r, at, "has to be an array of three numbers");
  for (size_t i = 0; i < 3; i++) {
    place element = { at, NULL, i };
    json_t *value = json_array_get(json, i);
    vyre_status status = kind == RECORD_TRIPLE32 ? read_u32(r, &element, value, (uint32_t *)out + i)
                                                 : read_unsigned(r, &element, value, INT64_MAX, (uint64_t *)out + i);
    if (status) return status;
  }
  return VYRE_OK;
}

/* Room for |count| elements, all zero, whose address goes to the member. */
static vyre_status make_room(reader *r, size_t count, size_t size, void *member, uint32_t *counted, char **out) {
  size_t bytes;
  if (count > UINT32_MAX || !vyre_mul_size(count, size, &bytes) || !(*out = vyre_arena_alloc(r->arena, bytes)))
    return no_memory(r);
  memset(*out, 0, bytes);
  memcpy(member, out, sizeof *out);
  *counted = (uint32_t)count;
  return VYRE_OK;
}

static vyre_status read_list(reader *r, const place *at, const record_type *type, json_t *json, void *member,
                             uint32_t *count) {
  if (!json_is_array(json)) return refuse(r, at, "has to be an array, and is %s", kind_of(json));
  size_t most = at->outer ? MAX_ELEMENTS : MAX_CASES, found = json_array_size(json);
  if (found > most) return refuse(r, at, "has %zu elements, and may have %zu", found, most);
  char *elements;
  vyre_status status = make_room(r, found, type->size, member, count, &elements);
  for (size_t i = 0; status == VYRE_OK && i < *count; i++) {
    place element = { at, NULL, i };
    status = read_members(r, &element, type, json_array_get(json, i), elements + i * type->size);
  }
  return status;
}

static vyre_status read_numbers(reader *r, const place *at, json_t *json, void *member, uint32_t *count) {
  if (!json_is_array(json)) return refuse(r, at, "has to be an array, and is %s", kind_of(json));
  char *elements;
  vyre_status status = make_room(r, json_array_size(json), sizeof(double), member, count, &elements);
  for (size_t i = 0; status == VYRE_OK && i < *count; i++) {
    place element = { at, NULL, i };
    double *value = (double *)(void *)elements + i;
    status = read_number(r, &element, json_array_get(json, i), value);
    if (status == VYRE_OK && !bench_is_time(*value)) return refuse(r, &element, "is no time that a launch can take");
  }
  return status;
}

static vyre_status read_pairs(reader *r, const place *at, json_t *json, void *member, uint32_t *count) {
  if (!json_is_object(json)) return refuse(r, at, "has to be an object, and is %s", kind_of(json));
  if (json_object_size(json) > MAX_ELEMENTS) return refuse(r, at, "has more than %d members", MAX_ELEMENTS);
  char *elements;
  vyre_status status = make_room(r, json_object_size(json), sizeof(bench_pair), member, count, &elements);
  if (status) return status;
  bench_pair *pair = (bench_pair *)(void *)elements;
  const char *key;
  json_t *value;
  json_object_foreach(json, key, value) {
    place element = { at, key, 0 };
    pair->key = vyre_arena_copy(r->arena, key, strlen(key));
    if (!pair->key) return no_memory(r);
    status = read_text(r, &element, value, &pair->value);
    if (status) return status;
    pair++;
  }
  return VYRE_OK;
}

static bool near(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + DBL_MIN;
}

static bool stats_agree(const bench_stats *a, const bench_stats *b) {
  return a->count == b->count && near(a->min, b->min) && near(a->p50, b->p50) && near(a->p90, b->p90) &&
         near(a->p95, b->p95) && near(a->p99, b->p99) && near(a->p999, b->p999) && near(a->max, b->max) &&
         near(a->mean, b->mean) && near(a->stddev, b->stddev) && near(a->cv, b->cv);
}

static vyre_status read_series(reader *r, const place *at, const record_type *type, json_t *json, bench_series *out) {
  vyre_status status = read_members(r, at, type, json, out);
  if (status) return status;
  bench_stats stats;
  if (!bench_stats_of(out->ns, out->count, &stats)) return no_memory(r);
  if (!stats_agree(&stats, &out->stats)) return refuse(r, at, "has statistics that do not follow from its samples");
  return VYRE_OK;
}

static vyre_status read_value(reader *r, const place *at, const record_field *field, json_t *json, void *object) {
  char *member = (char *)object + field->offset;
  void *value = member;
  uint32_t *count = (uint32_t *)(void *)((char *)object + field->other);
  switch (field->kind) {
  case RECORD_TEXT:
    return read_text(r, at, json, value);
  case RECORD_U32:
    return read_u32(r, at, json, value);
  case RECORD_U64:
    return read_unsigned(r, at, json, INT64_MAX, value);
  case RECORD_F64:
    return read_number(r, at, json, value);
  case RECORD_BOOL:
    if (!json_is_boolean(json)) return refuse(r, at, "has to be true or false, and is %s", kind_of(json));
    *(bool *)value = json_is_true(json);
    return VYRE_OK;
  case RECORD_TRIPLE32:
  case RECORD_TRIPLE64:
    return read_triple(r, at, field->kind, json, value);
  case RECORD_CLOCK:
  case RECORD_CLASS:
  case RECORD_VERDICT:
    return read_word(r, at, field->kind, json, value);
  case RECORD_DIGEST:
    return read_digest(r, at, json, value);
  case RECORD_HEX:
    return read_hex(r, at, json, value);
  case RECORD_NUMBERS:
    return read_numbers(r, at, json, value, count);
  case RECORD_PAIRS:
    return read_pairs(r, at, json, value, count);
  case RECORD_LIST:
    return read_list(r, at, field->type(), json, value, count);
  case RECORD_OBJECT:
    return read_members(r, at, field->type(), json, value);
  case RECORD_SERIES:
    return read_series(r, at, field->type(), json, value);
  case RECORD_GROUP:
    return read_members(r, at, field->type(), json, object);
  }
  return VYRE_OK;
}

/* Members that share a flag are all there or none. */
static vyre_status check_absent(reader *r, const place *at, const record_field *field, const void *object) {
  place member = { at, field->key, 0 };
  if (field->presence == RECORD_REQUIRED || field->presence == RECORD_SOME) return refuse(r, &member, "is missing");
  if (field->presence == RECORD_FLAG && *((const bool *)object + field->other))
    return refuse(r, &member, "is missing, while others that belong to it are there");
  return VYRE_OK;
}

static vyre_status read_field(reader *r, const place *at, const record_field *field, json_t *json, void *object) {
  place member = { at, field->key, 0 };
  if (field->presence == RECORD_FLAG) *((bool *)object + field->other) = true;
  vyre_status status = read_value(r, &member, field, json, object);
  if (status) return status;
  if (field->presence == RECORD_SOME && record_count(field, object) == 0) return refuse(r, &member, "is empty");
  if (!record_present(field, object)) return refuse(r, &member, "is 0 or empty; what is not there is left out");
  return VYRE_OK;
}

static const record_field *find_field(const record_type *type, const char *key) {
  for (uint32_t i = 0; i < type->count; i++)
    if (strcmp(type->fields[i].key, key) == 0) return &type->fields[i];
  return NULL;
}

static vyre_status read_members(reader *r, const place *at, const record_type *type, json_t *json, void *object) {
  if (!json_is_object(json)) return refuse(r, at, "has to be an object, and is %s", kind_of(json));
  const char *key;
  json_t *value;
  json_object_foreach(json, key, value) {
    if (find_field(type, key)) continue;
    place member = { at, key, 0 };
    if (at || strcmp(key, "schema") != 0) return refuse(r, &member, "is no member of the schema");
  }
  for (uint32_t i = 0; i < type->count; i++) {
    const record_field *field = &type->fields[i];
    value = json_object_get(json, field->key);
    if (!value) continue;
    vyre_status status = read_field(r, at, field, value, object);
    if (status) return status;
  }
  for (uint32_t i = 0; i < type->count; i++) {
    const record_field *field = &type->fields[i];
    vyre_status status = json_object_get(json, field->key) ? VYRE_OK : check_absent(r, at, field, object);
    if (status) return status;
  }
  return VYRE_OK;
}

static vyre_status read_report(reader *r, json_t *json, bench_report *out) {
  if (!json_is_object(json)) return refuse(r, NULL, "has to be an object, and is %s", kind_of(json));
  place at = { NULL, "schema", 0 };
  json_t *version = json_object_get(json, "schema");
  uint32_t schema;
  if (!version) return refuse(r, &at, "is missing");
  vyre_status status = read_u32(r, &at, version, &schema);
  if (status) return status;
  if (schema != BENCH_SCHEMA)
    return vyre_fail(r->error, VYRE_ERR_UNSUPPORTED, r->name,
                     "schema %u is known, and this report is of schema %u. Fix: read it with the vyre that wrote it.",
                     BENCH_SCHEMA, schema);
  return read_members(r, NULL, record_of_report(), json, out);
}

/* Without memory jansson speaks of bad text, or goes on with a part of it. */
static _Thread_local bool exhausted;

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) exhausted = true;
  return memory;
}

vyre_status bench_json_parse(const char *name, const char *bytes, size_t count, bench_report *out, vyre_error *error) {
  reader r = { name, &out->arena, error };
  json_error_t fault;
  json_set_alloc_funcs(allocate, free);
  exhausted = false;
  json_t *json = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &fault);
  if (exhausted) json_decref(json);
  if (exhausted) return no_memory(&r);
  if (!json)
    return vyre_fail(error, VYRE_ERR_INVALID_FILE, name,
                     "line %d, column %d is no JSON: %s. Fix: give a file that vyre bench --json wrote.", fault.line,
                     fault.column, fault.text);
  vyre_status status = read_report(&r, json, out);
  json_decref(json);
  return status;
}

/* The whole stream in memory of malloc, which grows as it is read, so that the file's claimed size means nothing. */
static vyre_status slurp(FILE *file, const char *path, char **bytes, size_t *count, vyre_error *error) {
  size_t room = 1 << 16;
  *bytes = NULL;
  *count = 0;
  for (;; room *= 2) {
    char *more = realloc(*bytes, room);
    if (!more) return vyre_fail_memory(error, path);
    *bytes = more;
    *count += fread(*bytes + *count, 1, room - *count, file);
    if (ferror(file))
      return vyre_fail(error, VYRE_ERR_IO, path, "cannot be read: %s. Fix: give a file that can.", strerror(errno));
    if (*count > MAX_BYTES)
      return vyre_fail(error, VYRE_ERR_LIMIT, path, "a report has at most %d bytes. Fix: give a report.", MAX_BYTES);
    if (*count < room) return VYRE_OK;
  }
}

vyre_status bench_json_read(const char *path, bench_report *out, vyre_error *error) {
  FILE *file = fopen(path, "rbe");
  if (!file)
    return vyre_fail(error, VYRE_ERR_IO, path, "cannot be opened: %s. Fix: check its name and access.",
                     strerror(errno));
  char *bytes;
  size_t count;
  vyre_status status = slurp(file, path, &bytes, &count, error);
  fclose(file);
  if (status == VYRE_OK) status = bench_json_parse(path, bytes, count, out, error);
  free(bytes);
  return status;
}

void bench_report_free(bench_report *report) {
  vyre_arena_free(&report->arena);
  *report = (bench_report){ 0 };
}
