/* The words of a check, and its random numbers. */
#include "kit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <vyre/text.h>

#include "outcome.h"
#include "tools/number.h"

uint64_t kit_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Appends a line; what has no room is left out. */
__attribute__((format(printf, 3, 0))) static void add_line(char *text, size_t room, const char *format, va_list args) {
  size_t used = strnlen(text, room - 1);
  if (used > 0 && used + 1 < room) text[used++] = '\n';
  vsnprintf(text + used, room - used, format, args);
}

bool kit_fail(kit *k, const char *format, ...) {
  kit_outcome *o = k->outcome;
  o->verdict = KIT_FAIL;
  if (o->failures++ == 0) o->text[0] = '\0'; /* of an earlier skip */
  if (o->failures > KIT_MOST_FAILURES) return false;
  va_list args;
  va_start(args, format);
  add_line(o->text, sizeof o->text, format, args);
  va_end(args);
  return false;
}

bool kit_skip(kit *k, const char *format, ...) {
  if (k->outcome->verdict != KIT_PASS) return false;
  k->outcome->verdict = KIT_SKIP;
  va_list args;
  va_start(args, format);
  add_line(k->outcome->text, sizeof k->outcome->text, format, args);
  va_end(args);
  return false;
}

void kit_note(kit *k, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_line(k->outcome->note, sizeof k->outcome->note, format, args);
  va_end(args);
}

void kit_doing(kit *k, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(k->outcome->doing, sizeof k->outcome->doing, format, args);
  va_end(args);
}

bool kit_is_over(const kit *k) {
  return k->outcome->verdict != KIT_PASS;
}

bool kit_is_full(const kit *k) {
  return k->outcome->failures >= KIT_MOST_FAILURES;
}

void kit_count_programs(kit *k, uint64_t programs) {
  k->outcome->programs += programs;
}

void kit_end(kit *k) {
  k->outcome->has_ended = 1;
  _exit(0);
}

/* splitmix64 */
uint64_t kit_random(kit *k) {
  uint64_t z = k->random += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

void kit_save(kit *k, const char *suffix, const void *bytes, uint64_t count) {
  char *path;
  if (k->settings->report == NULL || asprintf(&path, "%s.%s.%s", k->settings->report, k->check, suffix) < 0) return;
  FILE *file = fopen(path, "wbe");
  if (file != NULL) {
    bool is_whole = fwrite(bytes, 1, count, file) == count;
    if (fclose(file) == 0 && is_whole) kit_note(k, "saved as %s", path);
  }
  free(path);
}

vyre_program *kit_parse(kit *k, const char *text) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  if (vyre_text_parse(text, strlen(text), NULL, NULL, &program, &error) == VYRE_OK) return program;
  kit_fail(k, "the kit's own program is refused: %s: %s\n%s", error.where, error.text, text);
  return NULL;
}

void kit_element_text(vyre_type type, const void *element, char text[KIT_ELEMENT_BYTES]) {
  uint32_t size = vyre_type_describe(type)->bytes;
  char number[NUMBER_TEXT_BYTES];
  uint64_t bits = 0;
  memcpy(&bits, element, size);
  number_print(type, element, number);
  snprintf(text, KIT_ELEMENT_BYTES, "%s (0x%0*" PRIX64 ")", number, (int)(2 * size), bits);
}
