/* Three significant digits and the unit that gives them at most three places before the point. */
#include "format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scale {
  double factor;
  const char *unit;
} scale;

/* |value| in the largest unit of which it has one or more; the units are from large to small. */
static const char *scaled(double value, const scale *scales, size_t count, char text[FORMAT_BYTES]) {
  size_t i = 0;
  while (i + 1 < count && value < scales[i].factor * 0.9995) i++;
  double v = value / scales[i].factor;
  int places = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
  snprintf(text, FORMAT_BYTES, "%.*f %s", places, v, scales[i].unit);
  return text;
}

#define SCALED(value, ...) \
  scaled(value, (const scale[]){ __VA_ARGS__ }, sizeof((const scale[]){ __VA_ARGS__ }) / sizeof(scale), text)

const char *format_time(double ns, char text[FORMAT_BYTES]) {
  return SCALED(ns, { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" });
}

const char *format_bytes(uint64_t bytes, char text[FORMAT_BYTES]) {
  if (bytes < 1024) snprintf(text, FORMAT_BYTES, "%" PRIu64 " B", bytes);
  else SCALED((double)bytes, { 1 << 30, "GiB" }, { 1 << 20, "MiB" }, { 1 << 10, "KiB" });
  return text;
}

const char *format_size(uint64_t n, char text[FORMAT_BYTES]) {
  bool power = n >= 1024 && (n & (n - 1)) == 0;
  if (power) snprintf(text, FORMAT_BYTES, "2^%d", __builtin_ctzll(n));
  else snprintf(text, FORMAT_BYTES, "%" PRIu64, n);
  return text;
}

const char *format_ratio(double ratio, char text[FORMAT_BYTES]) {
  snprintf(text, FORMAT_BYTES, ratio < 0.0995 ? "%.3g" : "%.3f", ratio);
  return text;
}

const char *format_figure(double value, const char *unit, char text[FORMAT_BYTES]) {
  if (unit && strcmp(unit, "ns") == 0) return format_time(value, text);
  if (unit && strcmp(unit, "B/s") == 0) return SCALED(value, { 1e12, "TB/s" }, { 1e9, "GB/s" }, { 1e6, "MB/s" });
  snprintf(text, FORMAT_BYTES, "%.6g%s%.12s", value, unit ? " " : "", unit ? unit : "");
  return text;
}

void format_cell(vyre_writer *w, const char *text, int columns) {
  vyre_writer cell = { 0 };
  size_t wanted = (size_t)abs(columns), used = 0, left = strlen(text), fits = 0, fit_columns = 0;
  const unsigned char *p = (const unsigned char *)text;
  while (left > 0 && used <= wanted) {
    size_t width, bytes = vyre_write_escaped_point(&cell, p, left, &width);
    used += width;
    if (used < wanted) { /* with room for the mark */
      fits = cell.count;
      fit_columns = used;
    }
    p += bytes;
    left -= bytes;
  }
  bool cut = used > wanted;
  size_t blanks = cut ? wanted - fit_columns - 1 : wanted - used;
  if (columns < 0) vyre_write_repeat(w, ' ', blanks);
  if (cell.data) vyre_write_bytes(w, cell.data, cut ? fits : cell.count);
  if (cut) vyre_write_text(w, "~");
  if (columns > 0) vyre_write_repeat(w, ' ', blanks);
  w->failed |= cell.failed;
  vyre_writer_free(&cell);
}
