/* A comparison as a table, the worst first, and as JSON. */
#include <string.h>

#include "base/writer.h"
#include "compare.h"
#include "format.h"
#include "record_fields.h"
#include "tools/json.h"

static const bench_case *case_of(const bench_difference *d) {
  return d->after ? d->after : d->before;
}

static void write_row(vyre_writer *w, const bench_difference *d) {
  char text[FORMAT_BYTES];
  vyre_write(w, "%-12s ", bench_change_name(d->change));
  format_cell(w, case_of(d)->id, 44);
  vyre_write_text(w, " ");
  format_cell(w, d->contestant, 10);
  if (d->ratio > 0) {
    vyre_write(w, " %-13s", bench_clock_name(d->clock));
    format_cell(w, format_time(d->before_ns, text), -10);
    vyre_write_text(w, " ->");
    format_cell(w, format_time(d->after_ns, text), -10);
    vyre_write(w, " %6.3f [%.3f, %.3f]", d->ratio, d->low, d->high);
  }
  if (d->reason) {
    vyre_write_text(w, d->ratio > 0 ? "\n               " : " ");
    vyre_write_escaped(w, d->reason, strlen(d->reason));
  }
  if (d->reason && d->controlled && d->ratio > 0) vyre_write(w, " (theirs: %.3f)", d->drift);
  vyre_write_text(w, "\n");
}

bool bench_comparison_write(FILE *file, const bench_comparison *comparison) {
  static const bench_change order[] = { BENCH_BROKEN, BENCH_SLOWER, BENCH_UNCLEAR, BENCH_FASTER,
                                        BENCH_MENDED, BENCH_SAME,   BENCH_ADDED,   BENCH_REMOVED, BENCH_INCOMPARABLE };
  vyre_writer w = { 0 };
  if (comparison->warning) vyre_write(&w, "Warning: %s.\n", comparison->warning);
  for (size_t k = 0; k < sizeof order / sizeof *order; k++)
    for (uint32_t i = 0; i < comparison->count; i++)
      if (comparison->rows[i].change == order[k]) write_row(&w, &comparison->rows[i]);
  const char *sign = "";
  for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
    if (!comparison->changes[order[k]]) continue;
    vyre_write(&w, "%s%u %s", sign, comparison->changes[order[k]], bench_change_name(order[k]));
    sign = ", ";
  }
  vyre_write_text(&w, comparison->count ? ".\n" : "There is nothing to compare.\n");
  bool done = !w.failed && fwrite(w.data, 1, w.count, file) == w.count && fflush(file) == 0;
  vyre_writer_free(&w);
  return done;
}

static void number(json_writer *j, const char *key, double value) {
  json_element(j, key, VYRE_TYPE_F64, &value);
}

static void json_row(json_writer *j, const bench_difference *d) {
  json_open(j, NULL, '{');
  json_text(j, "case", case_of(d)->id);
  json_text(j, "contestant", d->contestant);
  json_text(j, "change", bench_change_name(d->change));
  if (d->reason) json_text(j, "reason", d->reason);
  if (d->ratio > 0) {
    json_text(j, "clock", bench_clock_name(d->clock));
    number(j, "before_ns", d->before_ns);
    number(j, "after_ns", d->after_ns);
    number(j, "ratio", d->ratio);
    number(j, "low", d->low);
    number(j, "high", d->high);
    if (d->controlled) number(j, "drift", d->drift);
  }
  json_close(j, '}');
}

bool bench_comparison_json(FILE *file, const bench_comparison *comparison) {
  json_writer j = { .file = file };
  json_open(&j, NULL, '{');
  json_unsigned(&j, "schema", BENCH_SCHEMA);
  json_boolean(&j, "failed", bench_comparison_failed(comparison));
  if (comparison->warning) json_text(&j, "warning", comparison->warning);
  json_open(&j, "changes", '[');
  for (uint32_t i = 0; i < comparison->count; i++) json_row(&j, &comparison->rows[i]);
  json_close(&j, ']');
  json_close(&j, '}');
  return fflush(file) == 0 && !ferror(file);
}
