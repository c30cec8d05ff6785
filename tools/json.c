/* The bracket and comma rules of JSON, kept by one bit a level. */
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

/* Length of the well-formed UTF-8 sequence at |s|, or 0. */
static size_t sequence(const unsigned char *s) {
  size_t bytes = s[0] < 0x80                   ? 1
                 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
                 : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
                 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                               : 0;
  for (size_t i = 1; i < bytes; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
  bool too_large = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
  return overlong || too_large ? 0 : bytes;
}

/* Bytes that are no UTF-8, as file names may have them, become the replacement character. */
static void write_string(FILE *file, const char *text) {
  putc('"', file);
  for (const unsigned char *s = (const unsigned char *)text; *s;) {
    size_t bytes = sequence(s);
    if (bytes == 0) {
      fputs("\\ufffd", file);
      bytes = 1;
    } else if (*s == '"' || *s == '\\') {
      fprintf(file, "\\%c", *s);
    } else if (*s < ' ' || *s == 0x7F) {
      fprintf(file, "\\u%04x", *s);
    } else {
      fwrite(s, 1, bytes, file);
    }
    s += bytes;
  }
  putc('"', file);
}

static void new_line(const json_writer *j) {
  fprintf(j->file, "\n%*s", (int)(2 * j->depth), "");
}

static void begin_value(json_writer *j, const char *key) {
  uint64_t bit = (uint64_t)1 << j->depth;
  if (j->has_members & bit) putc(',', j->file);
  j->has_members |= bit;
  if (j->depth > 0) new_line(j);
  if (!key) return;
  write_string(j->file, key);
  fputs(": ", j->file);
}

void json_open(json_writer *j, const char *key, char bracket) {
  begin_value(j, key);
  putc(bracket, j->file);
  j->depth++;
  j->has_members &= ~((uint64_t)1 << j->depth);
}

void json_close(json_writer *j, char bracket) {
  bool empty = !(j->has_members >> j->depth & 1);
  j->depth--;
  if (!empty) new_line(j);
  putc(bracket, j->file);
  if (j->depth == 0) putc('\n', j->file);
}

void json_text(json_writer *j, const char *key, const char *text) {
  begin_value(j, key);
  write_string(j->file, text);
}

void json_unsigned(json_writer *j, const char *key, uint64_t value) {
  begin_value(j, key);
  fprintf(j->file, "%" PRIu64, value);
}

void json_signed(json_writer *j, const char *key, int64_t value) {
  begin_value(j, key);
  fprintf(j->file, "%" PRId64, value);
}

void json_boolean(json_writer *j, const char *key, bool value) {
  begin_value(j, key);
  fputs(value ? "true" : "false", j->file);
}

void json_raw(json_writer *j, const char *members) {
  uint64_t bit = (uint64_t)1 << j->depth;
  if (j->has_members & bit) putc(',', j->file);
  j->has_members |= bit;
  fputs(members, j->file);
}

void json_diagnostics(json_writer *j, const vyre_diagnostics *d) {
  json_open(j, "diagnostics", '[');
  vyre_diagnostic found;
  for (uint32_t i = 0; vyre_diagnostics_get(d, i, &found); i++) {
    json_open(j, NULL, '{');
    json_text(j, "severity", found.severity == VYRE_SEVERITY_ERROR ? "error" : "warning");
    json_text(j, "code", vyre_code_name(found.code));
    if (found.line) {
      json_unsigned(j, "line", found.line);
      json_unsigned(j, "column", found.column);
      json_unsigned(j, "offset", found.offset);
    }
    json_text(j, "message", found.message);
    if (found.fix) json_text(j, "fix", found.fix);
    json_close(j, '}');
  }
  json_close(j, ']');
}

void json_element(json_writer *j, const char *key, vyre_type type, const void *element) {
  char text[NUMBER_TEXT_BYTES];
  number_print(type, element, text);
  bool is_word = strpbrk(text, "in") != NULL; /* inf, -inf, nan */
  if (type == VYRE_TYPE_BOOL) {
    json_boolean(j, key, text[0] == '1');
  } else if (is_word) {
    json_text(j, key, text);
  } else {
    begin_value(j, key);
    fputs(text, j->file);
  }
}
