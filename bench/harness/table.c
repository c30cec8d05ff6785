/* Lines of at most 110 columns, but for reasons and notes. Texts from peers, drivers and files are escaped. */
#include "table.h"

#include <string.h>

#include "base/writer.h"
#include "format.h"
#include "gates.h"
#include "record_fields.h"

static void write_foreign(vyre_writer *w, const char *text) {
  vyre_write_escaped(w, text, strlen(text));
}

/* A line that begins with |label| and says |text|, if there is one. */
static void write_note(vyre_writer *w, const char *label, const char *text) {
  if (!text) return;
  vyre_write_text(w, label);
  write_foreign(w, text);
  vyre_write_text(w, "\n");
}

static const bench_ratio *ratio_of(const bench_case *c, const char *peer, bench_clock clock) {
  for (uint32_t i = 0; i < c->ratio_count; i++)
    if (c->ratios[i].clock == clock && strcmp(c->ratios[i].peer, peer) == 0) return &c->ratios[i];
  return NULL;
}

static void write_series(vyre_writer *w, const bench_case *c, const bench_contestant *who, bench_clock clock,
                         const char *name) {
  const bench_stats *s = &who->clocks[clock].stats;
  const bench_ratio *ratio = ratio_of(c, who->name, clock);
  char text[FORMAT_BYTES], low[FORMAT_BYTES], high[FORMAT_BYTES];
  vyre_write_text(w, "  ");
  format_cell(w, name, 14);
  vyre_write(w, " %-13s", bench_clock_name(clock));
  format_cell(w, format_time(s->min, text), -9);
  format_cell(w, format_time(s->p50, text), -10);
  format_cell(w, format_time(s->p90, text), -10);
  format_cell(w, format_time(s->p99, text), -10);
  vyre_write(w, " %6.2f %%", 100 * s->cv);
  if (ratio)
    vyre_write(w, "  %7s [%s, %s]", format_ratio(ratio->value, text), format_ratio(ratio->low, low),
               format_ratio(ratio->high, high));
  vyre_write_text(w, "\n");
}

static void write_cold(vyre_writer *w, const bench_contestant *who) {
  char text[FORMAT_BYTES];
  if (who->cold.count == 0) return;
  vyre_write(w, "  %14s %-13s", "", "cold");
  format_cell(w, format_time(who->cold.stats.min, text), -9);
  format_cell(w, format_time(who->cold.stats.p50, text), -10);
  vyre_write_text(w, "\n");
}

static void write_contestant(vyre_writer *w, const bench_case *c, const bench_contestant *who) {
  const char *name = who->name;
  for (int clock = 0; clock < BENCH_CLOCKS; clock++) {
    if (who->clocks[clock].count == 0) continue;
    write_series(w, c, who, (bench_clock)clock, name);
    name = "";
  }
  write_cold(w, who);
  if (who->failure || !who->correct) {
    vyre_write_text(w, "  ");
    format_cell(w, name, 14);
    write_note(w, " ", who->failure ? who->failure : "its result is wrong");
  }
  if (who->difference && !who->failure) write_note(w, "                 nearly the same work: ", who->difference);
}

static void write_launch(vyre_writer *w, const bench_launch *l) {
  vyre_write(w, "  launch         %ux%ux%u invocations in %llux%llux%llu workgroups", l->workgroup[0], l->workgroup[1],
             l->workgroup[2], (unsigned long long)l->grid[0], (unsigned long long)l->grid[1],
             (unsigned long long)l->grid[2]);
  if (memcmp(l->workgroup, l->declared_workgroup, sizeof l->workgroup) != 0)
    vyre_write(w, ", declared %ux%ux%u", l->declared_workgroup[0], l->declared_workgroup[1], l->declared_workgroup[2]);
  if (l->has_registers) vyre_write(w, ", %u registers, %u bytes spilt", l->registers, l->spill_bytes);
  vyre_write(w, "%s on ", l->graph ? ", from a graph," : "");
  write_foreign(w, l->device);
  vyre_write_text(w, " by ");
  write_foreign(w, l->backend);
  vyre_write_text(w, "\n");
}

static void write_counters(vyre_writer *w, const bench_case *c) {
  char text[FORMAT_BYTES];
  for (uint32_t i = 0; i < c->counter_count; i++) {
    vyre_write_text(w, "  ");
    write_foreign(w, c->counters[i].name);
    vyre_write_text(w, " ");
    write_foreign(w, format_figure(c->counters[i].value, c->counters[i].unit, text));
    vyre_write_text(w, "\n");
  }
}

static void write_head(vyre_writer *w, const bench_case *c) {
  char text[FORMAT_BYTES];
  write_foreign(w, c->id);
  vyre_write(w, ": n = %s", format_size(c->n, text));
  if (c->bytes) vyre_write(w, ", %s", format_bytes(c->bytes, text));
  if (c->bound && c->bound_ns > 0) {
    vyre_write_text(w, ", at least ");
    vyre_write(w, "%s by ", format_time(c->bound_ns, text));
    write_foreign(w, c->bound);
  }
  vyre_write_text(w, "\n");
  write_note(w, "  ", c->title);
  vyre_write(w, "  %-14s %-13s%9s%10s%10s%10s %8s  %s\n", "", "clock", "min", "p50", "p90", "p99", "spread",
             "ratio to vyre [99 %]");
}

static void write_case(vyre_writer *w, const bench_case *c) {
  write_head(w, c);
  for (uint32_t i = 0; i < c->contestant_count; i++) write_contestant(w, c, &c->contestants[i]);
  for (uint32_t i = 0; c->contestant_count && i < c->contestants[0].launch_count; i++)
    write_launch(w, &c->contestants[0].launches[i]);
  char text[FORMAT_BYTES];
  if (c->has_phi)
    vyre_write(w, "  phi            %s of the bound, by %s time\n", format_ratio(c->phi, text),
               bench_clock_name(c->phi_clock));
  write_counters(w, c);
  write_note(w, "  note           ", c->notes);
  write_note(w, "  ", c->verdict);
  vyre_write_text(w, "\n");
}

static void write_pairs(vyre_writer *w, const char *title, const bench_pair *pairs, uint32_t count) {
  if (count) vyre_write(w, "%s\n", title);
  for (uint32_t i = 0; i < count; i++) {
    vyre_write_text(w, "  ");
    format_cell(w, pairs[i].key, 18);
    write_note(w, " ", pairs[i].value);
  }
}

static void write_probes(vyre_writer *w, const bench_report *r) {
  char text[FORMAT_BYTES];
  if (r->probe_count) vyre_write_text(w, "Measured of the machine\n");
  for (uint32_t i = 0; i < r->probe_count; i++) {
    const bench_probe *p = &r->probes[i];
    vyre_write_text(w, "  ");
    format_cell(w, p->name, 14);
    format_cell(w, format_figure(p->value, p->unit, text), -12);
    vyre_write(w, "  +%4.1f %%  ", 100 * p->spread);
    write_foreign(w, p->of ? p->of : "");
    write_note(w, ", ", p->how);
    if (!p->how) vyre_write_text(w, "\n");
  }
}

static void write_gates(vyre_writer *w, const bench_report *r) {
  static const char *const words[] = { "pass", "FAIL", "-" };
  if (r->gate_count) vyre_write_text(w, "Gates\n");
  for (uint32_t i = 0; i < r->gate_count; i++) {
    vyre_write(w, "  %2u %-4s ", r->gates[i].number, words[r->gates[i].verdict]);
    write_foreign(w, r->gates[i].name);
    if (r->gates[i].reason) vyre_write_text(w, ": ");
    if (r->gates[i].reason) write_foreign(w, r->gates[i].reason);
    vyre_write_text(w, "\n");
  }
}

/* How many cases have each word of a verdict. */
static void write_sum(vyre_writer *w, const bench_report *r) {
  static const char *const words[] = { "pass", "fail", "unstable", "untested", "recorded" };
  if (r->case_count == 0) return; /* probes alone */
  vyre_write(w, "%u cases:", r->case_count);
  for (size_t word = 0; word < sizeof words / sizeof *words; word++) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->case_count; i++)
      count += r->cases[i].verdict && strncmp(r->cases[i].verdict, words[word], strlen(words[word])) == 0;
    if (count) vyre_write(w, " %u %s", count, words[word]);
  }
  vyre_write(w, ". %s\n", bench_report_is_evidence(r) ? "All gates hold." : "Not evidence: see the gates.");
}

static void write_what(vyre_writer *w, const bench_report *r) {
  vyre_write_text(w, "Measured at ");
  write_foreign(w, r->time);
  if (r->commit) {
    vyre_write_text(w, ", commit ");
    vyre_write_escaped(w, r->commit, strnlen(r->commit, 12));
    vyre_write_text(w, r->dirty ? ", changed since" : "");
  }
  write_note(w, ", by ", r->compiler ? r->compiler : "an unknown compiler");
}

static bool finish(FILE *file, vyre_writer *w) {
  bool done = !w->failed && (w->count == 0 || fwrite(w->data, 1, w->count, file) == w->count) && fflush(file) == 0;
  vyre_writer_free(w);
  return done;
}

bool bench_table_case(FILE *file, const bench_case *c) {
  vyre_writer w = { 0 };
  write_case(&w, c);
  return finish(file, &w);
}

bool bench_table_write(FILE *file, const bench_report *report) {
  vyre_writer w = { 0 };
  for (uint32_t i = 0; i < report->case_count; i++) write_case(&w, &report->cases[i]);
  write_pairs(&w, "Host", report->host, report->host_count);
  write_pairs(&w, "Device", report->device, report->device_count);
  write_probes(&w, report);
  for (uint32_t i = 0; i < report->backend_count; i++) {
    if (!report->backends[i].reason) continue;
    vyre_write_text(&w, "Nothing ran on ");
    write_foreign(&w, report->backends[i].name);
    write_note(&w, ": ", report->backends[i].reason);
  }
  write_gates(&w, report);
  write_what(&w, report);
  write_sum(&w, report);
  return finish(file, &w);
}
