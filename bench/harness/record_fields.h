/* The table record.def as data: for whoever walks over a report without knowing its members. */
#ifndef VYRE_BENCH_RECORD_FIELDS_H
#define VYRE_BENCH_RECORD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

typedef enum record_kind {
  RECORD_TEXT,
  RECORD_U32,
  RECORD_U64,
  RECORD_F64,
  RECORD_BOOL,
  RECORD_TRIPLE32,
  RECORD_TRIPLE64,
  RECORD_CLOCK,
  RECORD_CLASS,
  RECORD_VERDICT,
  RECORD_DIGEST,
  RECORD_HEX,
  RECORD_NUMBERS,
  RECORD_PAIRS,
  RECORD_OBJECT,
  RECORD_SERIES,
  RECORD_GROUP,
  RECORD_LIST
} record_kind;

typedef enum record_presence {
  RECORD_REQUIRED,
  RECORD_OPTIONAL,
  RECORD_FLAG,
  RECORD_COUNT,
  RECORD_SOME
} record_presence;

typedef struct record_type record_type;

typedef struct record_field {
  const char *key;
  record_kind kind;
  size_t offset;            /* of the member */
  record_presence presence;
  size_t other;             /* offset of the flag or count */
  const record_type *(*type)(void); /* of objects and lists */
  const char *text;
} record_field;

struct record_type {
  const char *name, *text;
  size_t size;
  const record_field *fields;
  uint32_t count;
};

/* All types, each behind those that it holds; the last is the report. */
const record_type *(*const *record_types(uint32_t *count))(void);
const record_type *record_of_report(void);

/* Whether the member of the object has something that is written. */
bool record_present(const record_field *field, const void *object);
/* How many elements a list, array or pairs has. */
uint32_t record_count(const record_field *field, const void *object);

/* The words of RECORD_CLOCK, RECORD_CLASS or RECORD_VERDICT; their number in *count. */
const char *const *record_words(record_kind kind, uint32_t *count);
const char *bench_clock_name(bench_clock clock);
const char *bench_class_name(bench_class class);

#endif
