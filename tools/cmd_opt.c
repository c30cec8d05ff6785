/* vyre opt: what the optimizer makes of a program, and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/opt.h>
#include <vyre/text.h>

#include "commands.h"
#include "explain.h"
#include "files.h"
#include "output.h"
#include "program.h"

static int check_usage(const parsed_options *o) {
  const char *path = options_get(o, OPT_OUTPUT);
  bool lists = options_has(o, OPT_LIST_PASSES);
  if (lists && o->operand_count > 0)
    output_complain("opt: --list is about no program, but found '%s'. Fix: leave one of them out.", o->operands[0]);
  else if (!lists && o->operand_count == 0)
    output_complain("opt: the program is missing. Fix: write `vyre opt PROGRAM`, or `vyre opt --list` for the passes.");
  else if (path && !*path) output_complain("opt: --output names no file. Fix: add -o FILE, or leave it out.");
  else if (options_has(o, OPT_PASSES) && options_has(o, OPT_LEVEL))
    output_complain("opt: --passes stands instead of the passes of a level. Fix: leave --passes or --level out.");
  else return OUTPUT_DONE;
  return OUTPUT_USAGE;
}

static int read_options(const parsed_options *o, vyre_opt_options *out) {
  const char *level = options_get(o, OPT_LEVEL), *after = options_get(o, OPT_PRINT_AFTER);
  if (level) {
    if (level[0] < '0' || level[0] > '2' || level[1] != 0) {
      output_complain("opt: --level %.80s: wants 0, 1 or 2. Fix: give one of them.", level);
      return OUTPUT_USAGE;
    }
    out->level = (uint32_t)(level[0] - '0');
  }
  out->passes = options_get(o, OPT_PASSES);
  out->print_after = after && strcmp(after, "all") != 0 ? after : NULL;
  out->flags = VYRE_OPT_VERIFY; /* a defect of a pass is told by its name, here of all places */
  if (after) out->flags |= VYRE_OPT_PRINT;
  if (options_has(o, OPT_EXPLAIN) || options_has(o, OPT_JSON)) out->flags |= VYRE_OPT_EXPLAIN;
  return OUTPUT_DONE;
}

static int write_json(const explain *e, const char *text) {
  json_writer writer, *j = output_json(&writer);
  json_open(j, NULL, '{');
  json_text(j, "file", e->before->path);
  if (text) json_text(j, "text", text);
  int result = explain_json(e, j);
  json_close(j, '}');
  return result;
}

/* The text comes first, so that an account on the same terminal stands behind it. */
static int tell(const parsed_options *o, const explain *e) {
  const char *path = options_get(o, OPT_OUTPUT);
  bool is_json = options_has(o, OPT_JSON);
  char *text = NULL;
  size_t length = 0;
  if (vyre_text_print(e->after, &text, &length) != VYRE_OK) {
    output_complain("memory is exhausted");
    return OUTPUT_FAILED;
  }
  int result = OUTPUT_DONE;
  if (!is_json) explain_print_texts(e->report);
  if (path || !is_json) result = files_write(path ? path : "-", text, length);
  if (result == OUTPUT_DONE && is_json) result = write_json(e, path ? NULL : text);
  else if (result == OUTPUT_DONE && options_has(o, OPT_EXPLAIN)) result = explain_text(e);
  free(text);
  return result;
}

static int optimize(const parsed_options *o, const loaded_program *p, const vyre_opt_options *options) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *after;
  vyre_opt_report *report;
  vyre_opt_summary summary;
  vyre_status status = vyre_optimize(p->program, options, &after, &report, &error);
  if (status != VYRE_OK) {
    int result = output_error(p->path, &error);
    return status == VYRE_ERR_INVALID_ARGUMENT ? OUTPUT_USAGE : result;
  }
  vyre_opt_report_summary(report, &summary);
  if (summary.outcome == VYRE_OPT_BUDGET) output_note("%s: the optimizer stopped early: %s", p->path, summary.text);
  explain e = {.before = p, .after = after, .report = report};
  int result = explain_count(&e);
  if (result == OUTPUT_DONE) result = tell(o, &e);
  vyre_opt_report_free(report);
  vyre_program_release(after);
  return result;
}

int cmd_opt(const parsed_options *o) {
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  int result = check_usage(o);
  if (result == OUTPUT_DONE) result = read_options(o, &options);
  if (result != OUTPUT_DONE) return result;
  if (options_has(o, OPT_LIST_PASSES)) {
    if (options_has(o, OPT_JSON)) explain_list_json();
    else explain_list_text();
    return OUTPUT_DONE;
  }
  loaded_program p;
  result = program_load(o->operands[0], o, &p);
  if (p.diagnostics) output_diagnostics(p.path, p.diagnostics);
  if (result == OUTPUT_DONE) result = optimize(o, &p, &options);
  program_free(&p);
  return result;
}
