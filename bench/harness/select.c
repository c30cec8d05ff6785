/* Which rows of the table a command line means. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/writer.h"
#include "run.h"

static const bench_suite suite_rows[] = {
#define SUITE(name, samples, tiers, first, content) {name, content, samples, tiers, first},
#include "suites.def"
};
enum { SUITES = sizeof suite_rows / sizeof *suite_rows };

const bench_suite *bench_suites(uint32_t *count) {
  *count = SUITES;
  return suite_rows;
}

static const bench_suite *find_suite(const char *name) {
  for (int i = 0; i < SUITES; i++)
    if (strcmp(suite_rows[i].name, name) == 0) return &suite_rows[i];
  return NULL;
}

/* Whether |name| is the id of the row or the beginning of it up to a dot. */
static bool is_named(const bench_case_row *row, const char *name) {
  char id[128];
  bench_case_id(row, id);
  size_t length = strlen(name);
  return length > 0 && strncmp(id, name, length) == 0 && (id[length] == '\0' || id[length] == '.');
}

/* Whether no earlier row is of another variant of the same workload. */
static bool is_first_variant(const bench_case_row *rows, const bench_case_row *row) {
  for (const bench_case_row *r = rows; r < row; r++)
    if (strcmp(r->workload->id, row->workload->id) == 0) return r->workload == row->workload;
  return true;
}

static bool is_chosen(const bench_options *o, const bench_suite *suite, const bench_case_row *all,
                      const bench_case_row *row) {
  bool named = false, has_names = false;
  for (uint32_t i = 0; i < o->name_count; i++) {
    if (find_suite(o->names[i])) continue;
    has_names = true;
    named |= is_named(row, o->names[i]);
  }
  if (o->tier && strcmp(o->tier, row->tier) != 0) return false;
  if (o->variant && strcmp(o->variant, row->workload->variant) != 0) return false;
  if (has_names) return named;
  return strstr(suite->tiers, row->tier) && (!suite->first_variant_only || is_first_variant(all, row));
}

/* What |list| of the rows there is, each once, for a message. */
static vyre_status complain(vyre_error *error, const char *what, const char *found,
                            const char *(*list)(const bench_case_row *)) {
  vyre_writer w = {0};
  uint32_t count;
  const bench_case_row *rows = bench_case_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    bool is_new = true;
    for (uint32_t k = 0; k < i; k++) is_new &= strcmp(list(&rows[k]), list(&rows[i])) != 0;
    if (is_new) vyre_write(&w, "%s%s", i ? ", " : "", list(&rows[i]));
  }
  char *text = vyre_writer_take(&w);
  vyre_status status = vyre_fail(error, VYRE_ERR_NOT_FOUND, found,
                                 "There is no %s of that name. Fix: take one of %.300s, or see `bench list`.", what,
                                 text ? text : "those of `bench list`");
  free(text);
  return status;
}

static const char *tier_of(const bench_case_row *row) {
  return row->tier;
}
static const char *variant_of(const bench_case_row *row) {
  return row->workload->variant;
}
static const char *workload_of(const bench_case_row *row) {
  return row->workload->id;
}

static bool any_named(const char *name) {
  uint32_t count;
  const bench_case_row *rows = bench_case_rows(&count);
  for (uint32_t i = 0; i < count; i++)
    if (is_named(&rows[i], name)) return true;
  return false;
}

static bool any_has(const char *value, const char *(*of)(const bench_case_row *)) {
  uint32_t count;
  const bench_case_row *rows = bench_case_rows(&count);
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(of(&rows[i]), value) == 0) return true;
  return false;
}

/* Finds the one suite among the names, and sees that every other name means something. */
static vyre_status check_names(const bench_options *o, const bench_suite **suite, vyre_error *error) {
  *suite = NULL;
  for (uint32_t i = 0; i < o->name_count; i++) {
    const bench_suite *found = find_suite(o->names[i]);
    if (found && *suite)
      return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, o->names[i],
                       "Two suites are named, %s as well. Fix: name one.", (*suite)->name);
    if (found) *suite = found;
    else if (!any_named(o->names[i])) return complain(error, "suite, workload or case", o->names[i], workload_of);
  }
  if (!*suite) *suite = find_suite("release");
  if (o->tier && !any_has(o->tier, tier_of)) return complain(error, "tier", o->tier, tier_of);
  if (o->variant && !any_has(o->variant, variant_of)) return complain(error, "variant", o->variant, variant_of);
  return VYRE_OK;
}

vyre_status bench_select(const bench_options *o, const bench_case_row **rows, uint32_t *count,
                         const bench_suite **suite, vyre_error *error) {
  *count = 0;
  vyre_status status = check_names(o, suite, error);
  if (status != VYRE_OK) return status;
  uint32_t all_count;
  const bench_case_row *all = bench_case_rows(&all_count);
  for (uint32_t i = 0; i < all_count; i++)
    if (is_chosen(o, *suite, all, &all[i])) rows[(*count)++] = &all[i];
  if (*count > 0) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_NOT_FOUND, o->name_count ? o->names[0] : (*suite)->name,
                   "No case fits the names, the tier and the variant together. Fix: leave one of them out, or see "
                   "`bench list`.");
}
