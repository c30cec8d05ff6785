/* Each picture has a fixed width in its own units, which the page scales. */
#include "svg.h"

#include <math.h>
#include <string.h>

#include "format.h"

void svg_text(vyre_writer *w, const char *text) {
  vyre_writer plain = { 0 };
  vyre_write_escaped(&plain, text, strlen(text));
  for (size_t i = 0; i < plain.count; i++) {
    switch (plain.data[i]) {
    case '<':
      vyre_write_text(w, "&lt;");
      break;
    case '>':
      vyre_write_text(w, "&gt;");
      break;
    case '&':
      vyre_write_text(w, "&amp;");
      break;
    case '"':
      vyre_write_text(w, "&quot;");
      break;
    case '\'':
      vyre_write_text(w, "&#39;");
      break;
    default:
      vyre_write_bytes(w, &plain.data[i], 1);
    }
  }
  w->failed |= plain.failed;
  vyre_writer_free(&plain);
}

static void open_picture(vyre_writer *w, const char *title, int width, int height) {
  vyre_write(w, "<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", width, height);
  svg_text(w, title);
  vyre_write_text(w, "</title>\n");
}

__attribute__((format(printf, 5, 6))) static void label(vyre_writer *w, double x, double y, const char *anchor,
                                                        const char *format, ...) {
  vyre_writer text = { 0 };
  va_list args;
  va_start(args, format);
  vyre_write_list(&text, format, args);
  va_end(args);
  vyre_write(w, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  if (text.data) svg_text(w, text.data);
  vyre_write_text(w, "</text>\n");
  w->failed |= text.failed;
  vyre_writer_free(&text);
}

/* ---- Bars -------------------------------------------------------------------------------------- */

enum { BAR_LEFT = 190, BAR_SPAN = 420, BAR_WIDTH = 800, BAR_STEP = 24, BAR_TOP = 26 };

static double clamp(double value, double low, double high) {
  return fmin(fmax(value, low), high);
}

static void bar(vyre_writer *w, const svg_bar *b, double scale, double y) {
  double end = BAR_LEFT + b->share * scale, low = BAR_LEFT + b->low * scale, high = BAR_LEFT + b->high * scale;
  label(w, BAR_LEFT - 8, y + 12, "end", "%s", b->label);
  vyre_write(w, "<rect class=\"c%u\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"16\"/>\n", b->colour, BAR_LEFT, y,
             fmax(end - BAR_LEFT, 1));
  vyre_write(w, "<path class=\"whisker\" d=\"M%.2f %.1fH%.2f\"/>\n", low, y + 8, high);
  label(w, fmax(end, high) + 6, y + 12, "start", "%s", b->figure);
}

void svg_bars(vyre_writer *w, const char *title, const svg_bar *bars, uint32_t count, const char *whole) {
  double most = 1;
  for (uint32_t i = 0; i < count; i++) most = fmax(most, fmax(bars[i].share, bars[i].high));
  most = clamp(most, 1, 100);
  double scale = BAR_SPAN / most, bottom = BAR_TOP + (double)BAR_STEP * count;
  double x = BAR_LEFT + scale;
  open_picture(w, title, BAR_WIDTH, (int)bottom + 6);
  vyre_write(w, "<path class=\"bound\" d=\"M%.2f %dV%.1f\"/>\n", x, BAR_TOP - 6, bottom);
  label(w, x, BAR_TOP - 11, "middle", "%s", whole);
  for (uint32_t i = 0; i < count; i++) {
    svg_bar b = bars[i];
    b.share = clamp(b.share, 0, most);
    b.low = clamp(b.low, 0, most);
    b.high = clamp(b.high, 0, most);
    bar(w, &b, scale, BAR_TOP + (double)BAR_STEP * i);
  }
  vyre_write_text(w, "</svg>\n");
}

/* ---- Lines ------------------------------------------------------------------------------------- */

enum { WIDTH = 800, HEIGHT = 340, LEFT = 80, RIGHT = 640, TOP = 14, BOTTOM = 300, LEGEND = 656 };

typedef struct range {
  double low, high; /* logarithms */
} range;

static void widen(range *r, const double *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    r->low = fmin(r->low, log2(values[i]));
    r->high = fmax(r->high, log2(values[i]));
  }
}

static double place(const range *r, double value, double from, double to) {
  return from + (log2(value) - r->low) / (r->high - r->low) * (to - from);
}

static void x_axis(vyre_writer *w, const range *x) {
  char text[FORMAT_BYTES];
  int first = (int)ceil(x->low), last = (int)floor(x->high), step = (last - first) / 8 + 1;
  for (int power = first; power <= last; power += step) {
    double at = place(x, exp2(power), LEFT, RIGHT);
    vyre_write(w, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", at, TOP, BOTTOM);
    label(w, at, BOTTOM + 18, "middle", "%s", format_size((uint64_t)exp2(power), text));
  }
  label(w, (LEFT + RIGHT) / 2.0, HEIGHT - 4, "middle", "n");
}

static void y_axis(vyre_writer *w, const range *y) {
  char text[FORMAT_BYTES];
  double first = ceil(y->low / log2(10)), last = floor(y->high / log2(10));
  for (double power = first; power <= last; power++) {
    double at = place(y, pow(10, power), BOTTOM, TOP);
    vyre_write(w, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, at, RIGHT);
    label(w, LEFT - 8, at + 4, "end", "%s", format_time(pow(10, power), text));
  }
}

static void line(vyre_writer *w, const svg_line *l, const range *x, const range *y, uint32_t row) {
  vyre_write_text(w, "<polyline class=\"");
  if (l->bound) vyre_write_text(w, "line bound");
  else vyre_write(w, "line l%u", l->colour);
  vyre_write_text(w, "\" points=\"");
  for (uint32_t i = 0; i < l->count; i++)
    vyre_write(w, "%.1f,%.1f ", place(x, l->x[i], LEFT, RIGHT), place(y, l->y[i], BOTTOM, TOP));
  vyre_write_text(w, "\"/>\n");
  for (uint32_t i = 0; i < l->count && !l->bound; i++)
    vyre_write(w, "<circle class=\"c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", l->colour,
               place(x, l->x[i], LEFT, RIGHT), place(y, l->y[i], BOTTOM, TOP));
  double at = TOP + 12 + 20.0 * row;
  if (l->bound) vyre_write(w, "<path class=\"bound\" d=\"M%d %.1fh14\"/>\n", LEGEND, at - 4);
  else
    vyre_write(w, "<rect class=\"c%u\" x=\"%d\" y=\"%.1f\" width=\"14\" height=\"8\"/>\n", l->colour, LEGEND, at - 8);
  label(w, LEGEND + 20, at, "start", "%s", l->label);
}

void svg_lines(vyre_writer *w, const char *title, const svg_line *lines, uint32_t count) {
  range x = { INFINITY, -INFINITY }, y = { INFINITY, -INFINITY };
  for (uint32_t i = 0; i < count; i++) {
    widen(&x, lines[i].x, lines[i].count);
    widen(&y, lines[i].y, lines[i].count);
  }
  if (!(x.low < x.high) || !isfinite(y.low) || !isfinite(y.high)) return;
  y.low -= 0.5;
  y.high += 0.5;
  open_picture(w, title, WIDTH, HEIGHT);
  x_axis(w, &x);
  y_axis(w, &y);
  uint32_t row = 0;
  for (uint32_t i = 0; i < count; i++)
    if (lines[i].count) line(w, &lines[i], &x, &y, row++);
  vyre_write_text(w, "</svg>\n");
}
