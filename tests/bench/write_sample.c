/* Writes the sample report as table, html or json; with "hostile", one whose every text tries to break out. */
#include <string.h>

#include "harness/gates.h"
#include "harness/html.h"
#include "harness/record_fields.h"
#include "harness/table.h"
#include "harness/targets.h"
#include "sample_report.h"

/* The tag and the control characters are not to come out as such. */
static const char hostile[] = "</svg></style><script>document.title='broken'</script>\"'&amp;\x1B[31m\xE2\x80\xAE\xFF";

/* Every text of an object and of what it holds. */
static void make_hostile(const record_type *type, char *object) {
  for (uint32_t i = 0; i < type->count; i++) {
    const record_field *field = &type->fields[i];
    char *elements;
    if (field->kind == RECORD_TEXT) {
      const char *text = hostile;
      memcpy(object + field->offset, &text, sizeof text);
    } else if (field->kind == RECORD_LIST) {
      memcpy(&elements, object + field->offset, sizeof elements);
      const record_type *held = field->type();
      for (uint32_t k = 0; k < record_count(field, object); k++) make_hostile(held, elements + k * held->size);
    } else if (field->kind == RECORD_PAIRS) {
      memcpy(&elements, object + field->offset, sizeof elements);
      for (uint32_t k = 0; k < record_count(field, object); k++)
        ((bench_pair *)(void *)elements)[k] = (bench_pair){ hostile, hostile };
    } else if (field->kind == RECORD_GROUP) {
      make_hostile(field->type(), object);
    }
  }
}

int main(int argc, char **argv) {
  bench_report report;
  sample_options options = SAMPLE_PLAIN;
  options.cv = 0; /* so that every digit is the same everywhere */
  sample_report(&report, &options);
  if (bench_targets_judge(&report) != VYRE_OK || bench_gates_judge(&report) != VYRE_OK) return 1;
  if (argc > 2) make_hostile(record_of_report(), (char *)&report);
  const char *form = argc > 1 ? argv[1] : "";
  bool done = strcmp(form, "table") == 0  ? bench_table_write(stdout, &report)
              : strcmp(form, "html") == 0 ? bench_html_write(stdout, &report)
                                          : bench_json_write(stdout, &report);
  bench_report_free(&report);
  return done ? 0 : 1;
}
