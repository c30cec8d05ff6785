/* Generators and answers against the digests that are written down; no device is needed. */
#include <stdlib.h>

#include "base/error.h"
#include "generate.h"
#include "run.h"

typedef void (*teller)(void *ctx, const char *id, const char *array, bench_digest found, bench_digest wanted);

static bool verify_row(const bench_case_row *row, teller tell, void *ctx, vyre_error *error, bool *all_equal) {
  const bench_workload *w = row->workload;
  char id[128];
  bench_case_id(row, id);
  bench_work work = {.id = w->id, .n = row->n, .file = -1};
  if (w->declare) w->declare(&work);
  bool made = bench_work_allocate(&work, error) == VYRE_OK;
  if (made && w->generate) w->generate(&work);
  if (made && w->expect) w->expect(&work);
  for (uint32_t i = 0; made && i < work.array_count; i++) {
    const bench_array *a = &work.arrays[i];
    bench_digest found = {true, bench_fnv(a->host, a->bytes)}, wanted = bench_golden(w, row->n, a->name);
    if (wanted.known && wanted.fnv != found.fnv) *all_equal = false;
    tell(ctx, id, a->name, found, wanted);
  }
  bench_work_free(&work);
  return made;
}

bool bench_verify(const bench_options *options, teller tell, void *ctx, vyre_error *error) {
  uint32_t room, count;
  const bench_suite *suite;
  bench_case_rows(&room);
  const bench_case_row **rows = calloc(room, sizeof *rows);
  if (!rows) {
    vyre_fail_memory(error, "bench");
    return false;
  }
  bool all_equal = true, made = bench_select(options, rows, &count, &suite, error) == VYRE_OK;
  for (uint32_t i = 0; made && i < count; i++)
    if (rows[i]->buffer_sets == 1) made = verify_row(rows[i], tell, ctx, error, &all_equal);
  free(rows);
  return made && all_equal;
}
