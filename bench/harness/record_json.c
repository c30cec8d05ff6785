/* Writes a report by walking over its table. A number that is not finite was not measured, and is left out. */
#include "record_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "record_fields.h"
#include "tools/json.h"

static void write_members(json_writer *j, const record_type *type, const void *object);

static void write_number(json_writer *j, const char *key, double value) {
  if (isfinite(value)) json_element(j, key, VYRE_TYPE_F64, &value);
}

static void write_object(json_writer *j, const char *key, const record_type *type, const void *object) {
  json_open(j, key, '{');
  write_members(j, type, object);
  json_close(j, '}');
}

static void write_triple(json_writer *j, const record_field *field, const void *member) {
  json_open(j, field->key, '[');
  bool narrow = field->kind == RECORD_TRIPLE32;
  for (int i = 0; i < 3; i++)
    json_unsigned(j, NULL, narrow ? ((const uint32_t *)member)[i] : ((const uint64_t *)member)[i]);
  json_close(j, ']');
}

static void write_list(json_writer *j, const record_field *field, const void *member, uint32_t count) {
  const char *elements;
  memcpy(&elements, member, sizeof elements);
  json_open(j, field->key, field->kind == RECORD_PAIRS ? '{' : '[');
  for (uint32_t i = 0; i < count; i++) {
    if (field->kind == RECORD_LIST) {
      const record_type *type = field->type();
      write_object(j, NULL, type, elements + i * type->size);
    } else if (field->kind == RECORD_PAIRS) {
      const bench_pair *pair = (const bench_pair *)(const void *)elements + i;
      json_text(j, pair->key, pair->value);
    } else {
      write_number(j, NULL, ((const double *)(const void *)elements)[i]);
    }
  }
  json_close(j, field->kind == RECORD_PAIRS ? '}' : ']');
}

static void write_word(json_writer *j, const record_field *field, const void *member) {
  uint32_t word, count;
  memcpy(&word, member, sizeof word);
  const char *const *words = record_words(field->kind, &count);
  if (word < count) json_text(j, field->key, words[word]);
}

static void write_hex(json_writer *j, const char *key, uint64_t value) {
  char text[17];
  snprintf(text, sizeof text, "%016" PRIx64, value);
  json_text(j, key, text);
}

static void write_text(json_writer *j, const char *key, const void *member) {
  const char *text;
  memcpy(&text, member, sizeof text);
  if (text) json_text(j, key, text);
}

static void write_field(json_writer *j, const record_field *field, const void *object) {
  const void *member = (const char *)object + field->offset;
  switch (field->kind) {
  case RECORD_TEXT:
    write_text(j, field->key, member);
    break;
  case RECORD_U32:
    json_unsigned(j, field->key, *(const uint32_t *)member);
    break;
  case RECORD_U64:
    json_unsigned(j, field->key, *(const uint64_t *)member);
    break;
  case RECORD_F64:
    write_number(j, field->key, *(const double *)member);
    break;
  case RECORD_BOOL:
    json_boolean(j, field->key, *(const bool *)member);
    break;
  case RECORD_TRIPLE32:
  case RECORD_TRIPLE64:
    write_triple(j, field, member);
    break;
  case RECORD_CLOCK:
  case RECORD_CLASS:
  case RECORD_VERDICT:
    write_word(j, field, member);
    break;
  case RECORD_DIGEST:
    write_hex(j, field->key, ((const bench_digest *)member)->fnv);
    break;
  case RECORD_HEX:
    write_hex(j, field->key, *(const uint64_t *)member);
    break;
  case RECORD_NUMBERS:
  case RECORD_PAIRS:
  case RECORD_LIST:
    write_list(j, field, member, record_count(field, object));
    break;
  case RECORD_OBJECT:
  case RECORD_SERIES:
    write_object(j, field->key, field->type(), member);
    break;
  case RECORD_GROUP:
    write_object(j, field->key, field->type(), object);
    break;
  }
}

static void write_members(json_writer *j, const record_type *type, const void *object) {
  for (uint32_t i = 0; i < type->count; i++)
    if (record_present(&type->fields[i], object)) write_field(j, &type->fields[i], object);
}

bool bench_json_write(FILE *file, const bench_report *report) {
  json_writer j = { .file = file };
  json_open(&j, NULL, '{');
  json_unsigned(&j, "schema", BENCH_SCHEMA);
  write_members(&j, record_of_report(), report);
  json_close(&j, '}');
  return fflush(file) == 0 && !ferror(file);
}
