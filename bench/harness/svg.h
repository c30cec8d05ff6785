/* Pictures for a report, as inline SVG. Colours are classes of the page's style sheet: c0 (vyre) to c7 for contestants,
 * bound for the bound. */
#ifndef VYRE_BENCH_SVG_H
#define VYRE_BENCH_SVG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/writer.h"

enum { SVG_COLOURS = 8 };

/* Text for HTML or SVG: escaped, and without what would hide or reorder it. */
void svg_text(vyre_writer *w, const char *text);

/* A bar: how much of the whole (1: the bound, or the best) a contestant reached, with the share at its slowest and
 * fastest. */
typedef struct svg_bar {
  const char *label, *figure; /* at the left, at the right */
  double share, low, high;
  uint32_t colour;
} svg_bar;

/* Horizontal bars from 0. |whole| labels the line at 1. */
void svg_bars(vyre_writer *w, const char *title, const svg_bar *bars, uint32_t count, const char *whole);

/* A line of |count| points, x and y above 0. */
typedef struct svg_line {
  const char *label;
  const double *x, *y;
  uint32_t count, colour;
  bool bound;                 /* dashed, in the colour of the bound */
} svg_line;

/* Lines over two logarithmic axes: x a size, y ns. Lines without points are left out; nothing is drawn without any. */
void svg_lines(vyre_writer *w, const char *title, const svg_line *lines, uint32_t count);

#endif
