/* Any bytes as the result of a benchmark: an answer, and what is accepted is written as it was read, judged, shown and
 * compared with itself. */
#include <stdlib.h>
#include <string.h>

#include "harness/compare.h"
#include "harness/gates.h"
#include "harness/html.h"
#include "harness/record_json.h"
#include "harness/render.h"
#include "harness/table.h"
#include "harness/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool holds) {
  if (!holds) abort();
}

/* The report as one of its writers has it; to be freed. */
static vyre_writer rendered(const bench_report *report, bool (*write)(FILE *, const bench_report *)) {
  vyre_writer text = { 0 };
  require(bench_render(report, write, &text));
  return text;
}

static void require_plain(const vyre_writer *text) {
  for (size_t i = 0; i < text->count; i++) {
    unsigned char c = (unsigned char)text->data[i];
    require(c >= ' ' || c == '\n' || c == '\t');
  }
}

static void use(bench_report *report) {
  require(bench_targets_judge(report) == VYRE_OK && bench_gates_judge(report) == VYRE_OK);
  vyre_writer table = rendered(report, bench_table_write), html = rendered(report, bench_html_write);
  require_plain(&table);
  require_plain(&html);
  require(!html.data || !strstr(html.data, "<script"));
  vyre_writer_free(&table);
  vyre_writer_free(&html);
  bench_comparison comparison;
  require(bench_compare(report, report, &comparison) == VYRE_OK);
  require(comparison.changes[BENCH_SLOWER] == 0 && comparison.changes[BENCH_FASTER] == 0);
  bench_comparison_free(&comparison);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  bench_report report = { 0 }, again = { 0 };
  vyre_error error = VYRE_ERROR_INIT;
  if (bench_json_parse("it", (const char *)bytes, length, &report, &error) != VYRE_OK) {
    require(strstr(error.text, "Fix: ") != NULL);
  } else {
    vyre_writer text = rendered(&report, bench_json_write);
    require(bench_json_parse("it", text.data, text.count, &again, &error) == VYRE_OK);
    vyre_writer text_again = rendered(&again, bench_json_write);
    require(text.count == text_again.count && memcmp(text.data, text_again.data, text.count) == 0);
    vyre_writer_free(&text);
    vyre_writer_free(&text_again);
    use(&report);
  }
  bench_report_free(&report);
  bench_report_free(&again);
  return 0;
}
