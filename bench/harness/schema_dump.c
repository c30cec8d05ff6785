/* Writes docs/evidence/schema.md from record.def. */
#include <stdio.h>

#include "record_fields.h"

static const char *const kinds[] = { [RECORD_TEXT] = "text",
                                     [RECORD_U32] = "integer below 2^32",
                                     [RECORD_U64] = "integer below 2^63",
                                     [RECORD_F64] = "number",
                                     [RECORD_BOOL] = "true or false",
                                     [RECORD_TRIPLE32] = "three integers",
                                     [RECORD_TRIPLE64] = "three integers",
                                     [RECORD_CLOCK] = "a word",
                                     [RECORD_CLASS] = "a word",
                                     [RECORD_VERDICT] = "a word",
                                     [RECORD_DIGEST] = "16 hex digits",
                                     [RECORD_HEX] = "16 hex digits",
                                     [RECORD_NUMBERS] = "numbers above 0",
                                     [RECORD_PAIRS] = "object of texts",
                                     [RECORD_OBJECT] = "object",
                                     [RECORD_SERIES] = "object",
                                     [RECORD_GROUP] = "object",
                                     [RECORD_LIST] = "array" };

static void print_kind(const record_field *field) {
  printf("%s", kinds[field->kind]);
  if (field->type) printf(" of [%s](#%s)", field->type()->name, field->type()->name);
  if (field->kind < RECORD_CLOCK || field->kind > RECORD_VERDICT) return;
  uint32_t count;
  const char *const *words = record_words(field->kind, &count);
  for (uint32_t i = 0; i < count; i++) printf("%s `%s`", i ? "," : ":", words[i]);
}

static void print_type(const record_type *type) {
  printf("\n## %s\n\n%s\n\n| member | is | always there | meaning |\n|---|---|---|---|\n", type->name, type->text);
  if (type == record_of_report()) printf("| `schema` | integer | yes | %u |\n", BENCH_SCHEMA);
  for (uint32_t i = 0; i < type->count; i++) {
    const record_field *field = &type->fields[i];
    printf("| `%s` | ", field->key);
    print_kind(field);
    bool always = field->presence == RECORD_REQUIRED || field->presence == RECORD_SOME;
    printf(" | %s | %s |\n", always ? "yes" : "", field->text);
  }
}

int main(void) {
  printf("# Schema of a result, version %u\n\n"
         "What `vyre bench --json` writes, and `vyre bench compare` reads. Written from `bench/harness/record.def` by\n"
         "`make schema-docs`.\n\n"
         "A value that was not measured is absent, never 0. All times are in ns, of one launch. A member that is not\n"
         "listed here is refused, and so is another schema: a change that takes something away, or changes what it\n"
         "means, is a new version.\n",
         BENCH_SCHEMA);
  uint32_t count;
  const record_type *(*const *types)(void) = record_types(&count);
  while (count > 0) print_type(types[--count]());
  return fflush(stdout) == 0 ? 0 : 1;
}
