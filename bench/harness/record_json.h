/* A report as JSON and back. What its members are stands in record.def; docs/evidence/schema.md is written from it. */
#ifndef VYRE_BENCH_RECORD_JSON_H
#define VYRE_BENCH_RECORD_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <vyre/status.h>

#include "record.h"

/* Writes the report; false if the stream failed. Absent values are left out. */
bool bench_json_write(FILE *file, const bench_report *report);

/* Reads a file that bench_json_write wrote into |*out|, which is zero before, and is freed by bench_report_free
 * whatever the result. The file is hostile: each member has to be one of the schema, of its type, and there if the
 * schema says so; statistics have to follow from their samples.
 * VYRE_ERR_IO: it can't be read; VYRE_ERR_LIMIT: larger than 64 MiB; VYRE_ERR_INVALID_FILE: no report, with the place;
 * VYRE_ERR_UNSUPPORTED: of another schema; VYRE_ERR_NO_MEMORY. */
vyre_status bench_json_read(const char *path, bench_report *out, vyre_error *error);
/* The same from memory; |name| stands for it in messages. */
vyre_status bench_json_parse(const char *name, const char *bytes, size_t count, bench_report *out, vyre_error *error);

/* Frees what a report holds, and makes it the empty one. */
void bench_report_free(bench_report *report);

#endif
