/* Kept in one place for the whole command, because what goes wrong is found where nobody holds a writer. */
#include "failure.h"

#include <stdlib.h>
#include <string.h>

#include "output.h"

static struct {
  bool is_wanted, is_kept;
  char code[48];
  char where[512];
  char text[4096]; /* as long as messages get */
  char *diagnostics;
} kept;

void failure_want(void) {
  kept.is_wanted = true;
}
bool failure_is_wanted(void) {
  return kept.is_wanted;
}

static void keep(const char *code, const char *where, const char *text) {
  if (!kept.is_wanted || kept.is_kept) return;
  kept.is_kept = true;
  snprintf(kept.code, sizeof kept.code, "%s", code);
  snprintf(kept.where, sizeof kept.where, "%s", where);
  snprintf(kept.text, sizeof kept.text, "%s", text);
}

void failure_note(vyre_status status, const char *where, const char *text) {
  keep(status != VYRE_OK ? vyre_status_name(status) : "", where, text);
}

/* The list as a member of the outermost object; NULL without memory. */
static char *render(const vyre_diagnostics *d) {
  char *text = NULL;
  size_t length;
  json_writer j = {.file = open_memstream(&text, &length), .depth = 1};
  if (!j.file) return NULL;
  json_diagnostics(&j, d);
  bool is_complete = !ferror(j.file);
  if (fclose(j.file) == 0 && is_complete) return text;
  free(text);
  return NULL;
}

void failure_note_diagnostics(const char *file, const vyre_diagnostics *d) {
  if (!kept.is_wanted || kept.is_kept) return;
  vyre_diagnostic first;
  for (uint32_t i = 0; vyre_diagnostics_get(d, i, &first) && first.severity != VYRE_SEVERITY_ERROR;) i++;
  char where[512];
  snprintf(where, sizeof where, first.line ? "%s:%u:%u" : "%s", file, first.line, first.column);
  char text[4096];
  snprintf(text, sizeof text, "%s%s%s", first.message, first.fix ? " Fix: " : "", first.fix ? first.fix : "");
  keep(vyre_status_name(VYRE_ERR_INVALID_PROGRAM), where, text);
  kept.diagnostics = render(d);
}

static void forget(void) {
  free(kept.diagnostics);
  kept.diagnostics = NULL;
  kept.is_kept = false;
}

/* Cuts |text| at its last "Fix: " sentence, which is given without that word; "" if there is none. */
static const char *split_fix(char *text) {
  char *fix = NULL;
  for (char *next = text; (next = strstr(next, "Fix: ")) != NULL; next++) fix = next;
  if (!fix || fix == text || fix[-1] != ' ') return "";
  fix[-1] = '\0';
  return fix + strlen("Fix: ");
}

static void write_members(json_writer *j, int exit_status) {
  bool is_input = exit_status == OUTPUT_USAGE;
  if (!kept.is_kept) kept.code[0] = kept.where[0] = kept.text[0] = '\0';
  const char *fix = split_fix(kept.text);
  json_unsigned(j, "status", (uint64_t)exit_status);
  json_text(j, "code", kept.code[0] ? kept.code : is_input ? "BAD_INPUT" : "FAILED");
  json_text(j, "message", kept.text);
  json_text(j, "where", kept.where);
  json_text(j, "fix", fix);
}

void failure_write(json_writer *j, int exit_status) {
  write_members(j, exit_status);
  forget();
}

void failure_print(int exit_status) {
  json_writer j = {.file = stdout};
  json_open(&j, NULL, '{');
  write_members(&j, exit_status);
  if (kept.diagnostics) {
    json_raw(&j, kept.diagnostics);
  } else {
    json_open(&j, "diagnostics", '[');
    json_close(&j, ']');
  }
  json_close(&j, '}');
  forget();
}
