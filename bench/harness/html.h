/* A report as one HTML file that needs nothing else: bars against the bound, lines over sizes, and every figure. */
#ifndef VYRE_BENCH_HTML_H
#define VYRE_BENCH_HTML_H

#include <stdbool.h>
#include <stdio.h>

#include "record.h"

/* False if the stream failed, or memory. */
bool bench_html_write(FILE *file, const bench_report *report);

#endif
