/* One result is a line that scripts can cut: verdict, id, time; what is to be said about it stands below, indented. */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <config.h>

#include "base/digest.h"
#include "tools/output.h"

/* ---- What counts as what --------------------------------------------------------------------- */

static bool has_failed(kit_verdict verdict) {
  return verdict != KIT_PASS && verdict != KIT_SKIP;
}

conform_standing conform_standing_of(const conform_report *r, const check_result *result) {
  bool is_listed = allow_find(r->allowed, result->row->id) != NULL;
  if (has_failed(result->verdict)) return is_listed ? STANDING_ALLOWED : STANDING_FAIL;
  if (result->verdict == KIT_SKIP) return STANDING_SKIP;
  return is_listed ? STANDING_UNEXPECTED : STANDING_PASS;
}

uint32_t conform_count(const conform_report *r, conform_standing standing) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->count; i++) count += conform_standing_of(r, &r->results[i]) == standing;
  return count;
}

bool conform_is_met(const conform_report *r) {
  return conform_count(r, STANDING_FAIL) == 0 && conform_count(r, STANDING_UNEXPECTED) == 0;
}

static uint64_t all_programs(const conform_report *r) {
  uint64_t programs = 0;
  for (uint32_t i = 0; i < r->count; i++) programs += r->results[i].programs;
  return programs;
}

/* ---- For people ------------------------------------------------------------------------------ */

/* Line by line, since line ends of a foreign text are escaped. */
static void print_indented(const char *text) {
  while (*text != '\0') {
    int bytes = (int)strcspn(text, "\n");
    char line[2048];
    snprintf(line, sizeof line, "%.*s", bytes, text);
    printf("         ");
    output_foreign(line);
    printf("\n");
    text += bytes + (text[bytes] == '\n');
  }
}

void conform_row(const conform_report *r, const check_result *result) {
  const allow_entry *entry = allow_find(r->allowed, result->row->id);
  conform_standing standing = conform_standing_of(r, result);
  bool is_unexpected = standing == STANDING_UNEXPECTED;
  printf("%-8s %-32s %6.2f s\n", is_unexpected ? "passes" : check_verdict_name(result->verdict), result->row->id,
         (double)result->ns / 1e9);
  if (has_failed(result->verdict)) {
    if (result->row->policy != 0)
      printf("         checked: %s (VBP-%u)\n", result->row->what, result->row->policy);
    else
      printf("         checked: %s\n", result->row->what);
  }
  print_indented(result->text);
  print_indented(result->note);
  if (entry == NULL) return;
  printf("         %s until %s: ", is_unexpected ? "unexpected pass: listed as failing" : entry->section, entry->day);
  output_foreign(entry->reason);
  printf("\n");
}

void conform_sum(const conform_report *r) {
  uint32_t failed = conform_count(r, STANDING_FAIL), unexpected = conform_count(r, STANDING_UNEXPECTED);
  output_foreign(r->settings->name[0] != '\0' ? r->settings->name : r->settings->plugin);
  printf(" %s: %" PRIu32 " passed, %" PRIu32 " skipped, %" PRIu32 " failed",
         !conform_is_met(r) ? "does not conform"
         : r->is_whole      ? "conforms"
                            : "passes these checks",
         conform_count(r, STANDING_PASS), conform_count(r, STANDING_SKIP), failed);
  if (r->allowed->count > 0)
    printf(", %" PRIu32 " failed as listed, %" PRIu32 " passed against the list", conform_count(r, STANDING_ALLOWED),
           unexpected);
  printf("; %" PRIu64 " programs, seed %" PRIu64 "\n", all_programs(r), r->settings->seed);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void identity_json(json_writer *j, const conform_report *r) {
  char text[24];
  const char *file = strrchr(r->settings->plugin, '/') + 1;
  json_unsigned(j, "kit_version", KIT_VERSION);
  json_text(j, "vyre_version", PACKAGE_VERSION);
  json_text(j, "day", r->day);
  json_open(j, "plugin", '{');
  json_text(j, "file", file);
  json_text(j, "name", r->settings->name);
  json_text(j, "version", r->identity.version);
  json_text(j, "build_id", r->identity.build_id);
  json_text(j, "digest", r->digest);
  json_unsigned(j, "abi_major", r->identity.abi_major);
  json_unsigned(j, "abi_minor", r->identity.abi_minor);
  snprintf(text, sizeof text, "0x%016" PRIX64, r->identity.fingerprint);
  json_text(j, "abi_fingerprint", text);
  json_unsigned(j, "device", r->settings->device);
  json_close(j, '}');
  json_unsigned(j, "seed", r->settings->seed);
  json_unsigned(j, "seconds", r->settings->budget_ns / 1000000000u);
  json_open(j, "checks_by_standing", '{');
  json_unsigned(j, "passed", conform_count(r, STANDING_PASS));
  json_unsigned(j, "skipped", conform_count(r, STANDING_SKIP));
  json_unsigned(j, "failed", conform_count(r, STANDING_FAIL));
  json_unsigned(j, "failed_as_listed", conform_count(r, STANDING_ALLOWED));
  json_unsigned(j, "passed_against_list", conform_count(r, STANDING_UNEXPECTED));
  json_close(j, '}');
  json_unsigned(j, "programs", all_programs(r));
}

static void entry_json(json_writer *j, const char *key, const allow_entry *entry) {
  json_open(j, key, '{');
  if (!key) json_text(j, "id", entry->id);
  json_text(j, "section", entry->section);
  json_text(j, "until", entry->day);
  json_text(j, "reason", entry->reason);
  json_close(j, '}');
}

static void result_json(json_writer *j, const conform_report *r, const check_result *result) {
  const allow_entry *entry = allow_find(r->allowed, result->row->id);
  json_open(j, NULL, '{');
  json_text(j, "id", result->row->id);
  json_text(j, "group", check_group_names[result->row->group]);
  if (result->row->policy != 0) json_unsigned(j, "policy", result->row->policy);
  json_text(j, "what", result->row->what);
  json_text(j, "verdict", check_verdict_name(result->verdict));
  if (result->text[0] != '\0') json_text(j, "text", result->text);
  if (result->note[0] != '\0') json_text(j, "note", result->note);
  json_unsigned(j, "programs", result->programs);
  json_unsigned(j, "ns", result->ns);
  if (entry != NULL) entry_json(j, "listed", entry);
  json_close(j, '}');
}

void conform_json(json_writer *j, const conform_report *r) {
  json_open(j, NULL, '{');
  identity_json(j, r);
  json_boolean(j, "whole", r->is_whole);
  json_boolean(j, "conforms", conform_is_met(r));
  json_open(j, "checks", '[');
  for (uint32_t i = 0; i < r->count; i++) result_json(j, r, &r->results[i]);
  json_close(j, ']');
  json_close(j, '}');
}

/* ---- The certificate ------------------------------------------------------------------------- */

static void certificate_members(json_writer *j, const conform_report *r) {
  identity_json(j, r);
  json_open(j, "skipped", '[');
  for (uint32_t i = 0; i < r->count; i++)
    if (conform_standing_of(r, &r->results[i]) == STANDING_SKIP) json_text(j, NULL, r->results[i].row->id);
  json_close(j, ']');
  json_open(j, "listed", '[');
  for (uint32_t i = 0; i < r->count; i++)
    if (conform_standing_of(r, &r->results[i]) == STANDING_ALLOWED)
      entry_json(j, NULL, allow_find(r->allowed, r->results[i].row->id));
  json_close(j, ']');
}

void conform_digest(const void *bytes, size_t count, char text[CONFORM_DIGEST_BYTES]) {
  uint8_t digest[VYRE_DIGEST_BYTES];
  vyre_digest_of(bytes, count, digest);
  for (int i = 0; i < VYRE_DIGEST_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

char *conform_certificate(const conform_report *r, size_t *bytes) {
  char *text = NULL, *whole = NULL, digest[CONFORM_DIGEST_BYTES];
  json_writer j = {.file = open_memstream(&text, bytes)};
  if (j.file == NULL) return NULL;
  json_open(&j, NULL, '{');
  certificate_members(&j, r);
  fputs(",\n", j.file);
  bool is_complete = !ferror(j.file);
  if (fclose(j.file) == 0 && is_complete) {
    conform_digest(text, *bytes, digest);
    int length = asprintf(&whole, "%s  \"digest\": \"%s\"\n}\n", text, digest);
    *bytes = length < 0 ? 0 : (size_t)length;
    if (length < 0) whole = NULL;
  }
  free(text);
  return whole;
}

/* ---- The checks that there are --------------------------------------------------------------- */

void conform_list(void) {
  for (uint32_t i = 0; i < check_count; i++) {
    const check_row *row = &check_rows[i];
    char policy[16] = "";
    if (row->policy != 0) snprintf(policy, sizeof policy, "VBP-%u", row->policy);
    printf("%-32s %-7s %s\n", row->id, policy, row->what);
  }
}

void conform_list_json(json_writer *j) {
  json_open(j, NULL, '[');
  for (uint32_t i = 0; i < check_count; i++) {
    json_open(j, NULL, '{');
    json_text(j, "id", check_rows[i].id);
    json_text(j, "group", check_group_names[check_rows[i].group]);
    if (check_rows[i].policy != 0) json_unsigned(j, "policy", check_rows[i].policy);
    json_text(j, "what", check_rows[i].what);
    json_close(j, '}');
  }
  json_close(j, ']');
}
