/* Figures as people read them. */
#ifndef VYRE_BENCH_FORMAT_H
#define VYRE_BENCH_FORMAT_H

#include <stdint.h>

#include "base/writer.h"

enum { FORMAT_BYTES = 32 };

/* Each writes to |text| and gives it. */
const char *format_time(double ns, char text[FORMAT_BYTES]);    /* 12.3 us */
const char *format_bytes(uint64_t bytes, char text[FORMAT_BYTES]); /* 12.0 KiB */
const char *format_size(uint64_t n, char text[FORMAT_BYTES]);   /* 2^20, or 1000000 */
const char *format_ratio(double ratio, char text[FORMAT_BYTES]); /* 1.250, 0.00123 */
/* A figure of |unit|: a time, a bandwidth (GB/s), or as it is. */
const char *format_figure(double value, const char *unit, char text[FORMAT_BYTES]);

/* A text from outside, escaped, in |columns| columns: filled up with blanks, or cut with a mark. Negative: to the
 * right. */
void format_cell(vyre_writer *w, const char *text, int columns);

#endif
