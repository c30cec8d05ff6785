/* The page: a summary, then each workload with its pictures and figures, then machine, probes and gates. It loads
 * nothing, runs nothing, and says so to the browser. */
#include "html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/writer.h"
#include "format.h"
#include "gates.h"
#include "record_fields.h"
#include "svg.h"

static const char style[] =
  ":root{--bg:#fff;--fg:#1c1f23;--soft:#5c6570;--edge:#d8dde3;--bound:#c62828}"
  "@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e6e9ec;--soft:#9aa4ae;--edge:#333a41;--bound:#ef5350}}"
  "body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;"
  "padding:0 1rem}h1{margin-bottom:0}h2{margin-top:3rem;border-bottom:1px solid var(--edge)}h3{margin-bottom:.2rem}"
  "p,figcaption{color:var(--soft);margin:.2rem 0}table{border-collapse:collapse;margin:.6rem 0;font-size:13px}"
  "th,td{text-align:left;padding:.15rem .7rem .15rem 0;border-bottom:1px solid var(--edge);vertical-align:top}"
  "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}svg{width:100%;height:auto;"
  "display:block}svg text{font-size:12px;fill:var(--fg);paint-order:stroke;stroke:var(--bg);stroke-width:3px}"
  ".chip{display:inline-block;padding:0 .6rem;margin-right:.4rem;"
  "border-radius:.8rem;color:#fff}.pass{background:#2e7d32}.fail{background:#c62828}.unstable{background:#b26a00}"
  ".untested,.absent{background:#607080}.recorded{background:#37618e}.grid{stroke:var(--edge)}"
  ".whisker{stroke:var(--fg);stroke-width:2}.bound{stroke:var(--bound);stroke-width:2;stroke-dasharray:5 3;fill:none}"
  ".line{fill:none;stroke-width:2}.c0{fill:#1565c0}.c1{fill:#ef6c00}.c2{fill:#2e7d32}.c3{fill:#8e24aa}.c4{fill:#00838f}"
  ".c5{fill:#ad8b00}.c6{fill:#d81b60}.c7{fill:#6d4c41}.l0{stroke:#1565c0}.l1{stroke:#ef6c00}.l2{stroke:#2e7d32}"
  ".l3{stroke:#8e24aa}.l4{stroke:#00838f}.l5{stroke:#ad8b00}.l6{stroke:#d81b60}.l7{stroke:#6d4c41}";

/* ---- Parts ------------------------------------------------------------------------------------- */

/* <TAG>text</TAG>; the tag may have attributes. */
static void element(vyre_writer *w, const char *tag, const char *text) {
  vyre_write(w, "<%s>", tag);
  svg_text(w, text);
  vyre_write(w, "</%.*s>", (int)strcspn(tag, " "), tag);
}

static void chip(vyre_writer *w, const char *word, size_t length) {
  vyre_write(w, "<span class=\"chip %.*s\">%.*s</span>", (int)length, word, (int)length, word);
}

static const char *const words[] = { "pass", "fail", "unstable", "untested", "recorded", "absent" };

/* A sentence whose first word is one of a verdict shows that as a chip. */
static void verdict(vyre_writer *w, const char *text) {
  size_t length = strcspn(text, ":");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strlen(words[i]) != length || memcmp(words[i], text, length) != 0) continue;
    chip(w, words[i], length);
    text += length + (text[length] == ':');
    break;
  }
  svg_text(w, text);
}

static bool same(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The clock that pictures show of a contestant: the device's, else the first that there is; BENCH_CLOCKS if none is. */
static bench_clock shown_clock(const bench_contestant *c) {
  uint32_t clock = 0;
  while (clock < BENCH_CLOCKS && c->clocks[clock].count == 0) clock++;
  return clock;
}

static double shown_ns(const bench_contestant *c) {
  bench_clock clock = shown_clock(c);
  return clock < BENCH_CLOCKS ? c->clocks[clock].stats.p50 : 0;
}

/* vyre is colour 0; the others have theirs by the name's place in the first case that has it. */
static uint32_t colour_of(const bench_report *r, const char *name) {
  for (uint32_t i = 0; i < r->case_count; i++)
    for (uint32_t k = 0; k < r->cases[i].contestant_count; k++)
      if (same(r->cases[i].contestants[k].name, name)) return k == 0 ? 0 : 1 + (k - 1) % (SVG_COLOURS - 1);
  return 0;
}

/* ---- Bars of a case ---------------------------------------------------------------------------- */

/* What is the whole of the bars: the bound, or the best time. */
static double whole_of(const bench_case *c) {
  if (c->bound && c->bound_ns > 0) return c->bound_ns;
  double best = INFINITY;
  for (uint32_t i = 0; i < c->contestant_count; i++)
    if (shown_ns(&c->contestants[i]) > 0) best = fmin(best, shown_ns(&c->contestants[i]));
  return best;
}

static void bars(vyre_writer *w, const bench_report *r, const bench_case *c) {
  enum { MOST = 16 };
  svg_bar list[MOST];
  char labels[MOST][64], figures[MOST][64], text[FORMAT_BYTES], mark[96];
  double whole = whole_of(c);
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->contestant_count && count < MOST; i++) {
    const bench_contestant *who = &c->contestants[i];
    bench_clock clock = shown_clock(who);
    if (clock == BENCH_CLOCKS) continue;
    const bench_stats *s = &who->clocks[clock].stats;
    snprintf(labels[count], sizeof *labels, "%.24s, %s", who->name, bench_clock_name(clock));
    snprintf(figures[count], sizeof *figures, "%s, %.3g %%", format_time(s->p50, text), 100 * whole / s->p50);
    list[count] = (svg_bar){ labels[count], figures[count], whole / s->p50, whole / s->p99, whole / s->min,
                             colour_of(r, who->name) };
    count++;
  }
  if (count == 0) return;
  bool bound = c->bound && c->bound_ns > 0;
  snprintf(mark, sizeof mark, "%s %s", bound ? c->bound : "the best:", format_time(whole, text));
  svg_bars(w, c->id, list, count, mark);
}

/* ---- Lines of a workload ----------------------------------------------------------------------- */

static bool in_group(const bench_case *c, const bench_case *first) {
  return same(c->workload, first->workload) && same(c->variant, first->variant);
}

static int by_x(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct curve {
  double (*points)[2]; /* room for every case */
  uint32_t count;
} curve;

static void add_point(curve *v, uint64_t n, double ns) {
  if (n == 0 || !(ns > 0)) return;
  for (uint32_t i = 0; i < v->count; i++)
    if (v->points[i][0] == (double)n) return; /* one size, measured in two ways: the first */
  v->points[v->count][0] = (double)n;
  v->points[v->count++][1] = ns;
}

/* The curve's points, sorted, to two rows of |xy|. */
static void settle(curve *v, double *x, double *y) {
  qsort(v->points, v->count, sizeof *v->points, by_x);
  for (uint32_t i = 0; i < v->count; i++) {
    x[i] = v->points[i][0];
    y[i] = v->points[i][1];
  }
}

static const bench_contestant *named(const bench_case *c, const char *name) {
  for (uint32_t i = 0; i < c->contestant_count; i++)
    if (same(c->contestants[i].name, name)) return &c->contestants[i];
  return NULL;
}

static void lines(vyre_writer *w, const bench_report *r, const bench_case *first) {
  uint32_t most = r->case_count, count = first->contestant_count + 1;
  double(*points)[2] = calloc(most, sizeof *points), *xy = calloc((size_t)most * count * 2, sizeof *xy);
  svg_line *list = calloc(count, sizeof *list);
  if (!points || !xy || !list) w->failed = true;
  for (uint32_t k = 0; k < count && !w->failed; k++) {
    const char *name = k < first->contestant_count ? first->contestants[k].name : NULL;
    curve v = { points, 0 };
    for (uint32_t i = 0; i < r->case_count; i++) {
      const bench_case *c = &r->cases[i];
      if (!in_group(c, first)) continue;
      const bench_contestant *who = name ? named(c, name) : NULL;
      add_point(&v, c->n, name ? (who ? shown_ns(who) : 0) : c->bound ? c->bound_ns : 0);
    }
    double *x = xy + (size_t)most * 2 * k, *y = x + most;
    settle(&v, x, y);
    list[k] = (svg_line){ name ? name : "bound", x, y, v.count, name ? colour_of(r, name) : 0, !name };
  }
  if (!w->failed) svg_lines(w, first->workload, list, count);
  free(points);
  free(xy);
  free(list);
}

/* ---- Figures of a case ------------------------------------------------------------------------- */

static void time_cell(vyre_writer *w, double ns) {
  char text[FORMAT_BYTES];
  vyre_write(w, "<td class=\"n\">%s</td>", format_time(ns, text));
}

static const bench_ratio *ratio_of(const bench_case *c, const char *peer, bench_clock clock) {
  for (uint32_t i = 0; i < c->ratio_count; i++)
    if (c->ratios[i].clock == clock && same(c->ratios[i].peer, peer)) return &c->ratios[i];
  return NULL;
}

static void series_row(vyre_writer *w, const bench_contestant *who, const char *clock, const bench_series *s,
                       const bench_ratio *ratio) {
  vyre_write_text(w, "<tr>");
  element(w, "td", who->name);
  element(w, "td", bench_class_name(who->class));
  element(w, "td", clock);
  time_cell(w, s->stats.min);
  time_cell(w, s->stats.p50);
  time_cell(w, s->stats.p90);
  time_cell(w, s->stats.p99);
  vyre_write(w, "<td class=\"n\">%.2f %%</td><td class=\"n\">%u</td><td class=\"n\">", 100 * s->stats.cv, s->count);
  char text[FORMAT_BYTES], low[FORMAT_BYTES], high[FORMAT_BYTES];
  if (ratio)
    vyre_write(w, "%s [%s, %s]", format_ratio(ratio->value, text), format_ratio(ratio->low, low),
               format_ratio(ratio->high, high));
  vyre_write_text(w, "</td></tr>\n");
}

static void figures(vyre_writer *w, const bench_case *c) {
  vyre_write_text(w, "<table><tr><th></th><th>class</th><th>clock</th><th class=\"n\">min</th><th class=\"n\">p50</th>"
                     "<th class=\"n\">p90</th><th class=\"n\">p99</th><th class=\"n\">spread</th>"
                     "<th class=\"n\">samples</th><th class=\"n\">ratio to vyre [99 %]</th></tr>\n");
  for (uint32_t i = 0; i < c->contestant_count; i++) {
    const bench_contestant *who = &c->contestants[i];
    for (int clock = 0; clock < BENCH_CLOCKS; clock++)
      if (who->clocks[clock].count)
        series_row(w, who, bench_clock_name((bench_clock)clock), &who->clocks[clock],
                   ratio_of(c, who->name, (bench_clock)clock));
    if (who->cold.count) series_row(w, who, "cold", &who->cold, NULL);
    const char *reason = who->failure ? who->failure : who->correct ? who->difference : "its result is wrong";
    if (!reason) continue;
    vyre_write_text(w, "<tr>");
    element(w, "td", who->name);
    element(w, "td", bench_class_name(who->class));
    element(w, "td colspan=\"8\"", reason);
    vyre_write_text(w, "</tr>\n");
  }
  vyre_write_text(w, "</table>\n");
}

/* A row of two cells, left out without a value. */
static void pair(vyre_writer *w, const char *key, const char *value) {
  if (!value) return;
  vyre_write_text(w, "<tr>");
  element(w, "th", key);
  element(w, "td", value);
  vyre_write_text(w, "</tr>\n");
}

static void launch(vyre_writer *w, const bench_launch *l) {
  vyre_writer text = { 0 };
  vyre_write(&text, "%ux%ux%u invocations (declared %ux%ux%u) in %llux%llux%llu workgroups", l->workgroup[0],
             l->workgroup[1], l->workgroup[2], l->declared_workgroup[0], l->declared_workgroup[1],
             l->declared_workgroup[2], (unsigned long long)l->grid[0], (unsigned long long)l->grid[1],
             (unsigned long long)l->grid[2]);
  if (l->has_subgroup) vyre_write(&text, ", subgroups of %u", l->subgroup);
  if (l->has_registers) vyre_write(&text, ", %u registers, %u bytes spilt", l->registers, l->spill_bytes);
  if (l->has_resident) vyre_write(&text, ", %u resident", l->resident);
  vyre_write(&text, "; %s on %s%s%s", l->backend, l->device, l->cooperative ? ", cooperative" : "",
             l->graph ? ", from a graph" : "");
  pair(w, "launch", text.data);
  w->failed |= text.failed;
  vyre_writer_free(&text);
}

static void counter(vyre_writer *w, const bench_counter *c) {
  char text[FORMAT_BYTES];
  pair(w, c->name, format_figure(c->value, c->unit, text));
}

static void who_was_it(vyre_writer *w, const bench_contestant *c) {
  vyre_writer text = { 0 };
  const char *parts[] = { c->version, c->build, c->flags, c->how };
  for (int i = 0; i < 4; i++)
    if (parts[i]) vyre_write(&text, "%s%s", text.count ? "; " : "", parts[i]);
  pair(w, c->name, text.count ? text.data : NULL);
  w->failed |= text.failed;
  vyre_writer_free(&text);
}

static void details(vyre_writer *w, const bench_case *c) {
  vyre_write_text(w, "<details><summary>How it was measured</summary><table>\n");
  pair(w, "check", c->check);
  pair(w, "order", c->order);
  for (uint32_t i = 0; i < c->contestant_count; i++) who_was_it(w, &c->contestants[i]);
  for (uint32_t i = 0; c->contestant_count && i < c->contestants[0].launch_count; i++)
    launch(w, &c->contestants[0].launches[i]);
  for (uint32_t i = 0; i < c->counter_count; i++) counter(w, &c->counters[i]);
  pair(w, "notes", c->notes);
  vyre_write_text(w, "</table></details>\n");
}

static void one_case(vyre_writer *w, const bench_report *r, const bench_case *c) {
  char text[FORMAT_BYTES];
  element(w, "h3", c->id);
  vyre_write(w, "<p>n = %s", format_size(c->n, text));
  if (c->bytes) vyre_write(w, ", %s to move", format_bytes(c->bytes, text));
  if (c->has_phi) vyre_write(w, ", phi %s by %s time", format_ratio(c->phi, text), bench_clock_name(c->phi_clock));
  vyre_write_text(w, "</p>\n<p>");
  if (c->verdict) verdict(w, c->verdict);
  vyre_write_text(w, "</p>\n");
  bars(w, r, c);
  figures(w, c);
  details(w, c);
}

/* ---- The page ---------------------------------------------------------------------------------- */

static bool is_first(const bench_report *r, uint32_t at) {
  for (uint32_t i = 0; i < at; i++)
    if (in_group(&r->cases[i], &r->cases[at])) return false;
  return true;
}

static void workload(vyre_writer *w, const bench_report *r, const bench_case *first) {
  vyre_write_text(w, "<h2>");
  svg_text(w, first->workload);
  if (first->variant) vyre_write_text(w, ", ");
  if (first->variant) svg_text(w, first->variant);
  vyre_write_text(w, "</h2>\n");
  if (first->title) element(w, "p", first->title);
  lines(w, r, first);
  vyre_write_text(w, "<p>Lines and bars show p50 of device time where there is any, else of wall time; a bar is the "
                     "share of the bound that was reached, its whisker goes from p99 to the fastest.</p>\n");
  for (uint32_t i = 0; i < r->case_count; i++)
    if (in_group(&r->cases[i], first)) one_case(w, r, &r->cases[i]);
}

static void summary(vyre_writer *w, const bench_report *r) {
  vyre_write_text(w, "<p>");
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    uint32_t count = 0;
    size_t length = strlen(words[k]);
    for (uint32_t i = 0; i < r->case_count; i++)
      count += r->cases[i].verdict && strncmp(r->cases[i].verdict, words[k], length) == 0;
    if (count) vyre_write(w, "<span class=\"chip %s\">%u %s</span>", words[k], count, words[k]);
  }
  vyre_write(w, "%s</p>\n", bench_report_is_evidence(r) ? "All gates hold." : "Not evidence: see the gates.");
}

static void pairs(vyre_writer *w, const char *title, const bench_pair *list, uint32_t count) {
  if (count == 0) return;
  vyre_write(w, "<h3>%s</h3><table>\n", title);
  for (uint32_t i = 0; i < count; i++) pair(w, list[i].key, list[i].value);
  vyre_write_text(w, "</table>\n");
}

static void probes(vyre_writer *w, const bench_report *r) {
  char text[FORMAT_BYTES];
  if (r->probe_count == 0) return;
  vyre_write_text(w, "<h3>Probes</h3><table>\n");
  for (uint32_t i = 0; i < r->probe_count; i++) {
    const bench_probe *p = &r->probes[i];
    vyre_write_text(w, "<tr>");
    element(w, "th", p->name);
    vyre_write(w, "<td class=\"n\">");
    svg_text(w, format_figure(p->value, p->unit, text));
    vyre_write(w, "</td><td class=\"n\">+%.1f %%</td>", 100 * p->spread);
    element(w, "td", p->of ? p->of : "");
    element(w, "td", p->how ? p->how : "");
    vyre_write_text(w, "</tr>\n");
  }
  vyre_write_text(w, "</table>\n");
}

static void gates(vyre_writer *w, const bench_report *r) {
  static const char *const names[] = { "pass", "fail", "absent" };
  if (r->gate_count == 0) return;
  vyre_write_text(w, "<h3>Gates</h3><table>\n");
  for (uint32_t i = 0; i < r->gate_count; i++) {
    const bench_gate *g = &r->gates[i];
    vyre_write(w, "<tr><td class=\"n\">%u</td><td>", g->number);
    chip(w, names[g->verdict], strlen(names[g->verdict]));
    vyre_write_text(w, "</td>");
    element(w, "td", g->name);
    element(w, "td", g->reason ? g->reason : "");
    vyre_write_text(w, "</tr>\n");
  }
  vyre_write_text(w, "</table>\n");
}

static void backends(vyre_writer *w, const bench_report *r) {
  if (r->backend_count == 0) return;
  vyre_write_text(w, "<h3>Backends</h3><table>\n");
  for (uint32_t i = 0; i < r->backend_count; i++)
    pair(w, r->backends[i].name, r->backends[i].reason ? r->backends[i].reason : "measured");
  vyre_write_text(w, "</table>\n");
}

static void head(vyre_writer *w, const bench_report *r) {
  vyre_write(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" "
                "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                "<meta name=\"viewport\" content=\"width=device-width\"><title>vyre bench, ");
  svg_text(w, r->time ? r->time : "");
  vyre_write(w, "</title><style>%s</style></head><body>\n<h1>vyre bench</h1>\n<p>", style);
  svg_text(w, r->time ? r->time : "");
  if (r->suite) vyre_write_text(w, ", ");
  if (r->suite) svg_text(w, r->suite);
  if (r->commit) vyre_write_text(w, ", commit ");
  if (r->commit) svg_text(w, r->commit);
  vyre_write(w, "%s</p>\n", r->dirty ? ", changed since" : "");
}

static void page(vyre_writer *w, const bench_report *r) {
  head(w, r);
  summary(w, r);
  for (uint32_t i = 0; i < r->case_count; i++)
    if (is_first(r, i)) workload(w, r, &r->cases[i]);
  vyre_write_text(w, "<h2>Machine</h2>\n");
  pairs(w, "Host", r->host, r->host_count);
  pairs(w, "Device", r->device, r->device_count);
  bench_pair build[] = { { "compiler", r->compiler }, { "flags", r->flags } };
  pairs(w, "Build", build, 2);
  probes(w, r);
  backends(w, r);
  gates(w, r);
  vyre_write_text(w, "</body></html>\n");
}

bool bench_html_write(FILE *file, const bench_report *report) {
  vyre_writer w = { 0 };
  page(&w, report);
  bool done = !w.failed && fwrite(w.data, 1, w.count, file) == w.count && fflush(file) == 0;
  vyre_writer_free(&w);
  return done;
}
