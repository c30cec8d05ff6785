/* The report: filled while passes run, read by whoever asked for it. */
#include "opt/report.h"

#include <stdlib.h>

void opt_note(opt_context *c, const char *rule, uint32_t position, uint64_t saved) {
  if (!c->explains) return;
  vyre_opt_note note = { c->pass, rule, position, c->round, saved, NULL };
  if (!vyre_vector_push(&c->report->notes, note) && c->unit->fault == OPT_FINE) c->unit->fault = OPT_NO_MEMORY;
}

bool opt_report_text(vyre_opt_report *report, const char *pass, uint32_t round, char *text) {
  vyre_opt_note note = { pass, "", VYRE_NO_POSITION, round, 0, text };
  if (vyre_vector_push(&report->notes, note)) return true;
  free(text);
  return false;
}

void vyre_opt_report_free(vyre_opt_report *report) {
  if (report == NULL) return;
  for (uint32_t i = 0; i < report->notes.count; i++) free((char *)report->notes.data[i].text);
  vyre_vector_free(&report->notes);
  free(report);
}

void vyre_opt_report_summary(const vyre_opt_report *report, vyre_opt_summary *out) { *out = report->summary; }

uint32_t vyre_opt_report_passes(const vyre_opt_report *report) { return report->pass_count; }

bool vyre_opt_report_pass(const vyre_opt_report *report, uint32_t index, vyre_opt_pass_report *out) {
  if (index >= report->pass_count) return false;
  *out = report->passes[index];
  return true;
}

uint32_t vyre_opt_report_notes(const vyre_opt_report *report) { return report->notes.count; }

bool vyre_opt_report_note(const vyre_opt_report *report, uint32_t index, vyre_opt_note *out) {
  if (index >= report->notes.count) return false;
  *out = report->notes.data[index];
  return true;
}
