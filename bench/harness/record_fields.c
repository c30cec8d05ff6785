/* record.def, expanded to one function a type, in which `self` is its C structure. */
#include "record_fields.h"

#include <string.h>

#define REQUIRED RECORD_REQUIRED, 0
#define OPTIONAL RECORD_OPTIONAL, 0
#define FLAG(has) RECORD_FLAG, offsetof(self, has)
#define COUNT(n) RECORD_COUNT, offsetof(self, n)
#define SOME(n) RECORD_SOME, offsetof(self, n)

#define RECORD(type, c_type, text)                \
  static const record_type *record_##type(void) { \
    typedef c_type self;                          \
    static const char about[] = text;             \
    static const record_field fields[] = {
#define FIELD(key, kind, member, presence, text) { key, RECORD_##kind, offsetof(self, member), presence, NULL, text },
#define PART(key, kind, member, presence, type, text) \
  { key, RECORD_##kind, offsetof(self, member), presence, record_##type, text },
#define END(type)                                                                                             \
  }                                                                                                           \
  ;                                                                                                           \
  static const record_type it = { #type, about, sizeof(self), fields, sizeof fields / sizeof fields[0] };     \
  return &it;                                                                                                 \
  }
#include "record.def"
#undef RECORD
#undef FIELD
#undef PART
#undef END

const record_type *(*const *record_types(uint32_t *count))(void) {
  static const record_type *(*const types[])(void) = {
#define RECORD(type, c_type, text) record_##type,
#define FIELD(key, kind, member, presence, text)
#define PART(key, kind, member, presence, type, text)
#define END(type)
#include "record.def"
  };
  *count = sizeof types / sizeof types[0];
  return types;
}

const record_type *record_of_report(void) {
  return record_report();
}

uint32_t record_count(const record_field *field, const void *object) {
  uint32_t count;
  memcpy(&count, (const char *)object + field->other, sizeof count);
  return count;
}

static bool is_set(const record_field *field, const void *object) {
  const char *member = (const char *)object + field->offset;
  switch (field->kind) {
  case RECORD_TEXT:
    return *(const char *const *)(const void *)member != NULL;
  case RECORD_U32:
    return *(const uint32_t *)(const void *)member != 0;
  case RECORD_U64:
    return *(const uint64_t *)(const void *)member != 0;
  case RECORD_F64:
    return *(const double *)(const void *)member != 0;
  case RECORD_DIGEST:
    return ((const bench_digest *)(const void *)member)->known;
  case RECORD_SERIES:
    return ((const bench_series *)(const void *)member)->count != 0;
  default:
    return true;
  }
}

bool record_present(const record_field *field, const void *object) {
  switch (field->presence) {
  case RECORD_OPTIONAL:
    return is_set(field, object);
  case RECORD_FLAG:
    return *((const bool *)object + field->other);
  case RECORD_COUNT:
    return record_count(field, object) != 0;
  default:
    return true;
  }
}

static const char *const clock_words[BENCH_CLOCKS] = { "device", "wall_resident", "wall_readback", "wall_e2e" };
static const char *const class_words[BENCH_CLASSES] = { "gpu_sota", "cpu_sota", "hw_bound",
                                                        "self",     "near",     "reference_correctness" };
static const char *const verdict_words[] = { "pass", "fail", "absent" };

const char *const *record_words(record_kind kind, uint32_t *count) {
  switch (kind) {
  case RECORD_CLOCK:
    *count = BENCH_CLOCKS;
    return clock_words;
  case RECORD_CLASS:
    *count = BENCH_CLASSES;
    return class_words;
  default:
    *count = sizeof verdict_words / sizeof verdict_words[0];
    return verdict_words;
  }
}

const char *bench_clock_name(bench_clock clock) {
  return clock_words[clock];
}

const char *bench_class_name(bench_class class) {
  return class_words[class];
}
