/* The program that a kernel is made from: the optimized one. What the optimizer can't do costs speed, never the run. */
#include <stdlib.h>
#include <string.h>

#include <vyre/opt.h>

#include "backend/objects.h"
#include "base/error.h"

/* The words of the setting optimizer.debug. */
enum { DEBUG_OFF, DEBUG_PRINT, DEBUG_VERIFY, DEBUG_ROUNDTRIP };

static uint32_t debug_flags(const vyre_config *config) {
  vyre_config_value value = { 0 };
  if (config != NULL) vyre_config_get(config, VYRE_CONFIG_OPTIMIZER_DEBUG, &value);
  switch (value.number) {
  case DEBUG_PRINT: return VYRE_OPT_PRINT;
  case DEBUG_VERIFY: return VYRE_OPT_VERIFY;
  case DEBUG_ROUNDTRIP: return VYRE_OPT_VERIFY | VYRE_OPT_ROUNDTRIP;
  default: return 0;
  }
}

/* A message of the log is cut at some length, so each line is one. Who asks for them wants them at the usual level. */
static void log_text(vyre_log *log, const vyre_opt_note *note) {
  vyre_log_write(log, VYRE_LOG_WARNING, "optimizer", "After %s, round %u:", note->pass, note->round);
  for (const char *at = note->text; *at != 0;) {
    size_t bytes = strcspn(at, "\n");
    vyre_log_write(log, VYRE_LOG_WARNING, "optimizer", "%.*s", (int)bytes, at);
    at += bytes + (at[bytes] == '\n');
  }
}

static void log_report(const vyre_context *context, const vyre_program *program, const vyre_opt_report *report) {
  vyre_opt_summary summary;
  vyre_program_info info;
  vyre_opt_note note;
  for (uint32_t i = 0; vyre_opt_report_note(report, i, &note); i++)
    if (note.text != NULL) log_text(context->log, &note);
  vyre_opt_report_summary(report, &summary);
  vyre_program_describe(program, &info);
  if (summary.outcome == VYRE_OPT_BROKEN)
    vyre_log_write(context->log, VYRE_LOG_WARNING, "optimizer",
                   "In the program %s a pass of the optimizer was undone. %s", info.name, summary.text);
  if (summary.outcome == VYRE_OPT_BUDGET)
    vyre_log_write(context->log, VYRE_LOG_INFO, "optimizer", "The optimizer stopped early in the program %s: %s",
                   info.name, summary.text);
}

vyre_status vyre_request_optimize(const vyre_context *context, const vyre_program *program, uint32_t level,
                                  const vyre_compile_request *request, vyre_program **out, vyre_error *error) {
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  vyre_opt_report *report;
  options.level = level;
  options.flags = debug_flags(context->config);
  options.spec = request->spec;
  options.spec_count = request->spec_count;
  vyre_status status = vyre_optimize(program, &options, out, &report, error);
  if (status != VYRE_OK) return status;
  log_report(context, program, report);
  vyre_opt_report_free(report);
  return VYRE_OK;
}
