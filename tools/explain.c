/* An account of rewrites by place: many notes about one place, as after unrolling, are one line with their number. */
#include "explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>

#include "output.h"

static int fail_memory(void) {
  output_complain("memory is exhausted");
  return OUTPUT_FAILED;
}

/* ---- Checks of accesses ---------------------------------------------------------------------- */

/* With the program's own attributes; an error budget that it leaves open changes no access. */
static int count_checks(const vyre_program *program, explain_checks *out) {
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program_info info;
  uint8_t *bytes;
  size_t length;
  vyre_program_describe(program, &info);
  options.compile_flags = VYRE_COMPILE_ULP;
  options.ulp_budget = info.ulp != VYRE_ULP_UNSET ? info.ulp : 4;
  options.subgroup_size = info.subgroup;
  *out = (explain_checks){0};
  vyre_status status = vyre_lower(program, &options, &bytes, &length, &error);
  if (status == VYRE_ERR_NO_MEMORY) return fail_memory();
  if (status != VYRE_OK) return OUTPUT_DONE;
  const vyre_kernel_header *header = (const void *)bytes;
  out->is_known = true;
  out->accesses = header->accesses.count;
  for (uint64_t i = 0; i < out->accesses; i++) {
    const vyre_kernel_access *access = (const void *)(bytes + header->accesses.offset + i * header->accesses.stride);
    out->checked += access->bound_kind != VYRE_KERNEL_BOUND_PROVED;
  }
  free(bytes);
  return OUTPUT_DONE;
}

int explain_count(explain *e) {
  int result = count_checks(e->before->program, &e->checks_before);
  return result == OUTPUT_DONE ? count_checks(e->after, &e->checks_after) : result;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Equal rewrites at one place. */
typedef struct place {
  uint32_t offset, line, column; /* line 0: no place is known */
  const char *pass, *rule;
  uint64_t count, saved;
} place;

static int compare_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
  int order = strcmp(x->pass, y->pass);
  return order != 0 ? order : strcmp(x->rule, y->rule);
}

/* Of places in the order of the text, columns in code points. */
static void find_lines(const loaded_program *p, place *places, uint32_t count) {
  uint32_t line = 1, column = 1;
  size_t at = 0;
  if (p->is_wire) return;
  for (uint32_t i = 0; i < count && places[i].offset < p->count; i++) {
    for (; at < places[i].offset; at++) {
      bool ends = p->bytes[at] == '\n';
      line += ends;
      column = ends ? 1 : column + ((p->bytes[at] & 0xC0) != 0x80);
    }
    places[i].line = line;
    places[i].column = column;
  }
}

/* Merges equal neighbours. Gives how many are left. */
static uint32_t merge_places(place *places, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (kept > 0 && compare_places(&places[kept - 1], &places[i]) == 0) {
      places[kept - 1].count++;
      places[kept - 1].saved += places[i].saved;
    } else {
      places[kept++] = places[i];
    }
  }
  return kept;
}

/* The caller frees *out. */
static int gather_places(const explain *e, place **out, uint32_t *count) {
  uint32_t notes = vyre_opt_report_notes(e->report), found = 0;
  vyre_opt_note note;
  place *places = calloc(notes + (size_t)1, sizeof *places);
  *out = places;
  *count = 0;
  if (!places) return fail_memory();
  for (uint32_t i = 0; vyre_opt_report_note(e->report, i, &note); i++)
    if (!note.text) places[found++] = (place){note.position, 0, 0, note.pass, note.rule, 1, note.saved};
  qsort(places, found, sizeof *places, compare_places);
  *count = merge_places(places, found);
  find_lines(e->before, places, *count);
  return OUTPUT_DONE;
}

static void print_place(const char *path, const place *p) {
  output_quote(path);
  if (p->line != 0) fprintf(stderr, ":%" PRIu32 ":%" PRIu32, p->line, p->column);
  fprintf(stderr, ": %s: %s", p->pass, p->rule);
  if (p->count > 1) fprintf(stderr, ", %" PRIu64 " times", p->count);
  if (p->saved > 0) fprintf(stderr, ", saves %" PRIu64, p->saved);
  putc('\n', stderr);
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static const struct {
  vyre_opt_decision decision;
  const char *reason;
} reverts[] = {
    {VYRE_OPT_COST_REVERTED, "cost"},
    {VYRE_OPT_GROWTH_REVERTED, "growth"},
    {VYRE_OPT_EFFECT_REVERTED, "effects"},
    {VYRE_OPT_LIMIT_REVERTED, "limit"},
    {VYRE_OPT_BROKEN_REVERTED, "broken"},
};
enum { REVERTS = sizeof reverts / sizeof reverts[0] };

static uint32_t count_reverted(const vyre_opt_pass_report *r) {
  uint32_t count = 0;
  for (size_t i = 0; i < REVERTS; i++) count += r->decisions[reverts[i].decision];
  return count;
}

static uint32_t count_runs(const vyre_opt_pass_report *r) {
  return count_reverted(r) + r->decisions[VYRE_OPT_CHANGED] + r->decisions[VYRE_OPT_UNCHANGED];
}

static void print_passes(const vyre_opt_report *report) {
  vyre_opt_pass_report r;
  fprintf(stderr, "\n%-24s %5s %8s %9s %10s %9s\n", "pass", "runs", "changed", "reverted", "saved", "ms");
  for (uint32_t i = 0; vyre_opt_report_pass(report, i, &r); i++) {
    if (count_runs(&r) == 0) continue;
    fprintf(stderr, "%-24s %5" PRIu32 " %8" PRIu32 " %9" PRIu32 " %10" PRIu64 " %9.3f", r.name, count_runs(&r),
            r.decisions[VYRE_OPT_CHANGED], count_reverted(&r), r.cost_saved, (double)r.nanoseconds * 1e-6);
    for (size_t k = 0; k < REVERTS; k++)
      if (r.decisions[reverts[k].decision] > 0)
        fprintf(stderr, "  %s %" PRIu32, reverts[k].reason, r.decisions[reverts[k].decision]);
    putc('\n', stderr);
  }
}

/* ---- The whole ------------------------------------------------------------------------------- */

static const char *outcome_of(const vyre_opt_summary *s) {
  return s->outcome == VYRE_OPT_DONE ? "done" : s->outcome == VYRE_OPT_BUDGET ? "budget" : "broken";
}

static void print_change(const char *label, uint64_t before, uint64_t after) {
  fprintf(stderr, "%-24s %" PRIu64 " -> %" PRIu64 "\n", label, before, after);
}

static void print_summary(const explain *e) {
  vyre_opt_summary s;
  const explain_checks *before = &e->checks_before, *after = &e->checks_after;
  vyre_opt_report_summary(e->report, &s);
  putc('\n', stderr);
  print_change("cost", s.cost_before, s.cost_after);
  print_change("expressions", s.exprs_before, s.exprs_after);
  print_change("statements", s.stmts_before, s.stmts_after);
  if (before->is_known && after->is_known)
    fprintf(stderr, "%-24s %" PRIu64 " of %" PRIu64 " -> %" PRIu64 " of %" PRIu64 "\n", "accesses with a check",
            before->checked, before->accesses, after->checked, after->accesses);
  fprintf(stderr, "%-24s %" PRIu32 "\n%-24s %.3f ms\n", "rounds", s.rounds, "time", (double)s.nanoseconds * 1e-6);
}

void explain_print_texts(const vyre_opt_report *report) {
  vyre_opt_note note;
  for (uint32_t i = 0; vyre_opt_report_note(report, i, &note); i++)
    if (note.text) fprintf(stderr, "// after %s, round %" PRIu32 "\n%s\n", note.pass, note.round, note.text);
}

int explain_text(const explain *e) {
  place *places;
  uint32_t count;
  int result = gather_places(e, &places, &count);
  if (result == OUTPUT_DONE) {
    for (uint32_t i = 0; i < count; i++) print_place(e->before->path, &places[i]);
    print_passes(e->report);
    print_summary(e);
  }
  free(places);
  return result;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_places(json_writer *j, const place *places, uint32_t count) {
  json_open(j, "rewrites", '[');
  for (uint32_t i = 0; i < count; i++) {
    const place *p = &places[i];
    json_open(j, NULL, '{');
    json_text(j, "pass", p->pass);
    json_text(j, "rule", p->rule);
    if (p->line != 0) {
      json_unsigned(j, "line", p->line);
      json_unsigned(j, "column", p->column);
    }
    json_unsigned(j, "count", p->count);
    json_unsigned(j, "saved", p->saved);
    json_close(j, '}');
  }
  json_close(j, ']');
}

static void write_texts(json_writer *j, const vyre_opt_report *report) {
  vyre_opt_note note;
  json_open(j, "texts", '[');
  for (uint32_t i = 0; vyre_opt_report_note(report, i, &note); i++) {
    if (!note.text) continue;
    json_open(j, NULL, '{');
    json_text(j, "pass", note.pass);
    json_unsigned(j, "round", note.round);
    json_text(j, "text", note.text);
    json_close(j, '}');
  }
  json_close(j, ']');
}

static void write_passes(json_writer *j, const vyre_opt_report *report) {
  vyre_opt_pass_report r;
  json_open(j, "passes", '[');
  for (uint32_t i = 0; vyre_opt_report_pass(report, i, &r); i++) {
    if (count_runs(&r) == 0) continue;
    json_open(j, NULL, '{');
    json_text(j, "name", r.name);
    json_unsigned(j, "runs", count_runs(&r));
    json_unsigned(j, "changed", r.decisions[VYRE_OPT_CHANGED]);
    json_open(j, "reverted", '{');
    for (size_t k = 0; k < REVERTS; k++)
      if (r.decisions[reverts[k].decision] > 0)
        json_unsigned(j, reverts[k].reason, r.decisions[reverts[k].decision]);
    json_close(j, '}');
    json_unsigned(j, "saved", r.cost_saved);
    json_unsigned(j, "ns", r.nanoseconds);
    json_close(j, '}');
  }
  json_close(j, ']');
}

static void write_pair(json_writer *j, const char *key, uint64_t before, uint64_t after) {
  json_open(j, key, '{');
  json_unsigned(j, "before", before);
  json_unsigned(j, "after", after);
  json_close(j, '}');
}

static void write_summary(json_writer *j, const explain *e) {
  vyre_opt_summary s;
  vyre_opt_report_summary(e->report, &s);
  json_open(j, "summary", '{');
  json_text(j, "outcome", outcome_of(&s));
  write_pair(j, "cost", s.cost_before, s.cost_after);
  write_pair(j, "expressions", s.exprs_before, s.exprs_after);
  write_pair(j, "statements", s.stmts_before, s.stmts_after);
  if (e->checks_before.is_known && e->checks_after.is_known) {
    write_pair(j, "accesses", e->checks_before.accesses, e->checks_after.accesses);
    write_pair(j, "checks", e->checks_before.checked, e->checks_after.checked);
  }
  json_unsigned(j, "rounds", s.rounds);
  json_unsigned(j, "ns", s.nanoseconds);
  json_close(j, '}');
}

int explain_json(const explain *e, json_writer *j) {
  place *places;
  uint32_t count;
  int result = gather_places(e, &places, &count);
  if (result == OUTPUT_DONE) {
    write_places(j, places, count);
    write_texts(j, e->report);
    write_passes(j, e->report);
    write_summary(j, e);
  }
  free(places);
  return result;
}

/* ---- The registry ---------------------------------------------------------------------------- */

void explain_list_text(void) {
  vyre_opt_pass_info p;
  printf("%-24s %-16s %-13s %-5s %-36s %s\n", "pass", "phase", "class", "level", "requires", "what it does");
  for (uint32_t i = 0; vyre_opt_pass_describe(i, &p); i++) {
    char level[12] = "-";
    if (p.level != UINT32_MAX) snprintf(level, sizeof level, "%" PRIu32, p.level);
    printf("%-24s %-16s %-13s %-5s %-36s %s\n", p.name, p.phase, p.class_name, level, p.requires[0] ? p.requires : "-",
           p.doc);
  }
  puts("level -: only with --passes");
}

void explain_list_json(void) {
  json_writer writer, *j = output_json(&writer);
  vyre_opt_pass_info p;
  json_open(j, NULL, '[');
  for (uint32_t i = 0; vyre_opt_pass_describe(i, &p); i++) {
    json_open(j, NULL, '{');
    json_text(j, "name", p.name);
    json_text(j, "phase", p.phase);
    json_text(j, "class", p.class_name);
    json_text(j, "family", p.family);
    if (p.level != UINT32_MAX) json_unsigned(j, "level", p.level);
    json_text(j, "requires", p.requires);
    json_text(j, "invalidates", p.invalidates);
    json_text(j, "doc", p.doc);
    json_close(j, '}');
  }
  json_close(j, ']');
}
