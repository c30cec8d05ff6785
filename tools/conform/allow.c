/* Reading the list of known failures. Every line is looked at before any check runs, so that a list is mended at once.
 */
#include "allow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "tools/files.h"
#include "tools/output.h"

#define MOST_BYTES (1u << 20)
#define PLACE_BYTES 4200

typedef struct reading {
  const char *path, *today, *section;
  uint32_t line;
  allow_list *list;
  int result;
} reading;

__attribute__((format(printf, 2, 3))) static void complain(reading *r, const char *format, ...) {
  char place[PLACE_BYTES], *text;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0) text = NULL;
  va_end(args);
  snprintf(place, sizeof place, "%s:%u", r->path, r->line);
  output_complain_at(place, "%s", text ? text : "memory is exhausted");
  free(text);
  r->result = OUTPUT_USAGE;
}

/* ---- Parts of a line ------------------------------------------------------------------------- */

/* Without blanks at both ends. */
static char *trim(char *text) {
  text += strspn(text, " \t\r");
  size_t bytes = strlen(text);
  while (bytes > 0 && strchr(" \t\r", text[bytes - 1])) text[--bytes] = '\0';
  return text;
}

static bool is_digits(const char *text, size_t count) {
  return strspn(text, "0123456789") >= count;
}

static bool is_day(const char *text) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (!is_digits(text, 4) || text[4] != '-' || !is_digits(text + 5, 2) || text[7] != '-' || !is_digits(text + 8, 2))
    return false;
  int year = atoi(text), month = atoi(text + 5), day = atoi(text + 8);
  bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (month < 1 || month > 12 || day < 1) return false;
  return day <= days[month - 1] + (month == 2 && is_leap);
}

static bool is_check(const char *id) {
  for (uint32_t i = 0; i < check_count; i++)
    if (strcmp(check_rows[i].id, id) == 0) return true;
  return false;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void take_section(reading *r, char *text) {
  static const char *const sections[] = {"unsupported", "expected failure"};
  size_t bytes = strlen(text);
  r->section = NULL;
  for (int i = 0; i < 2; i++)
    if (bytes == strlen(sections[i]) + 2 && text[bytes - 1] == ']' && memcmp(text + 1, sections[i], bytes - 2) == 0)
      r->section = sections[i];
  if (!r->section) complain(r, "there is no section %.80s. Fix: write [unsupported] or [expected failure].", text);
}

static void add_entry(reading *r, const char *id, const char *day, const char *reason) {
  allow_entry *more = realloc(r->list->entries, (r->list->count + 1) * sizeof *more);
  if (!more) {
    complain(r, "memory is exhausted");
    return;
  }
  r->list->entries = more;
  allow_entry *e = &more[r->list->count++];
  *e = (allow_entry){.id = strdup(id), .reason = strdup(reason), .section = r->section, .line = r->line};
  memcpy(e->day, day, sizeof e->day - 1);
  e->day[sizeof e->day - 1] = '\0';
  if (!e->id || !e->reason) complain(r, "memory is exhausted");
}

static void take_entry(reading *r, char *text) {
  char *equals = strchr(text, '=');
  if (!equals) {
    complain(r, "'%.80s' is no line of a list. Fix: write `ID = YYYY-MM-DD REASON`.", text);
    return;
  }
  *equals = '\0';
  char *id = trim(text), *day = trim(equals + 1);
  size_t length = strlen(day);
  char *reason = trim(day + (length > 10 ? 10 : length));
  const allow_entry *earlier = allow_find(r->list, id);
  if (!r->section) {
    complain(r, "%.80s stands before a section. Fix: write [unsupported] or [expected failure] above it.", id);
  } else if (!is_check(id)) {
    complain(r, "there is no check '%.80s'. Fix: `vyre conform --list` lists them.", id);
  } else if (earlier) {
    complain(r, "%s stands in line %u already. Fix: keep one of them.", id, earlier->line);
  } else if (!is_day(day) || (day[10] != '\0' && day[10] != ' ' && day[10] != '\t')) {
    complain(r, "%s: '%.40s' does not begin with a day. Fix: write the last day that it holds for, as 2027-01-31.", id,
             day);
  } else if (!*reason) {
    complain(r, "%s has no reason. Fix: write why it fails behind the day.", id);
  } else if (strncmp(day, r->today, 10) < 0) {
    complain(r,
             "%s was allowed until %.10s, and today is %s: %.200s. Fix: mend the plugin, or look at it again and write "
             "a later day.",
             id, day, r->today, reason);
  } else {
    add_entry(r, id, day, reason);
  }
}

static void take_line(reading *r, char *line) {
  char *text = trim(line);
  if (*text == '\0' || *text == '#' || *text == ';') return;
  if (*text == '[')
    take_section(r, text);
  else
    take_entry(r, text);
}

int allow_read(const char *path, const char *today, allow_list *out) {
  *out = (allow_list){0};
  uint8_t *bytes = NULL;
  size_t count = 0;
  int result = files_read(path, MOST_BYTES, &bytes, &count);
  if (result == OUTPUT_DONE && memchr(bytes, '\0', count)) {
    output_complain_at(path, "it is no text. Fix: write lines `ID = YYYY-MM-DD REASON`.");
    result = OUTPUT_USAGE;
  }
  reading r = {.path = path, .today = today, .list = out, .result = result};
  for (char *line = result == OUTPUT_DONE ? (char *)bytes : NULL, *next; line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = '\0';
    r.line++;
    take_line(&r, line);
  }
  free(bytes);
  return r.result;
}

void allow_free(allow_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    free(list->entries[i].id);
    free(list->entries[i].reason);
  }
  free(list->entries);
  *list = (allow_list){0};
}

const allow_entry *allow_find(const allow_list *list, const char *id) {
  for (size_t i = 0; i < list->count; i++)
    if (list->entries[i].id && strcmp(list->entries[i].id, id) == 0) return &list->entries[i];
  return NULL;
}
