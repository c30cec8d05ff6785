/* A report as text for people: the cases with their contestants, then probes, machine, gates. */
#ifndef VYRE_BENCH_TABLE_H
#define VYRE_BENCH_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "record.h"

/* False if the stream failed. */
bool bench_table_write(FILE *file, const bench_report *report);
/* One case alone, for a run under way. */
bool bench_table_case(FILE *file, const bench_case *c);

#endif
