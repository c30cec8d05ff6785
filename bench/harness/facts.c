/* Each line is checked like one of any other child. */
#include "facts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/writer.h"
#include "child.h"

enum { MOST_FACTS = 32, MOST_KEY = 40, MOST_VALUE = 120 };
#define ANSWER_TIMEOUT_NS 20000000000u
#define GRACE_NS 1000000000u

static bench_pair *find(bench_report *report, const char *key) {
  for (uint32_t i = 0; i < report->device_count; i++)
    if (strcmp(report->device[i].key, key) == 0) return &report->device[i];
  return NULL;
}

/* A new pair, in a list that is one longer. */
static bench_pair *append(bench_report *report, const char *key) {
  bench_pair *longer = vyre_arena_alloc(&report->arena, (report->device_count + 1) * sizeof *longer);
  char *kept = vyre_arena_copy(&report->arena, key, strlen(key));
  if (!longer || !kept) return NULL;
  memcpy(longer, report->device, report->device_count * sizeof *longer);
  report->device = longer;
  longer[report->device_count] = (bench_pair){.key = kept, .value = ""};
  return &longer[report->device_count++];
}

/* Sets the value of a key; throttling is gathered. False without memory. */
static bool put(bench_report *report, const char *key, const char *value) {
  bench_pair *pair = find(report, key);
  if (!pair) pair = append(report, key);
  if (!pair) return false;
  bool gathers = strcmp(key, "throttle") == 0 && pair->value[0] && strcmp(pair->value, "none") != 0;
  if (gathers && (strcmp(value, "none") == 0 || strstr(pair->value, value))) return true;
  vyre_writer w = {0};
  vyre_write(&w, "%s%s%s", gathers ? pair->value : "", gathers ? ", " : "", value);
  const char *kept = w.failed ? NULL : vyre_arena_copy(&report->arena, w.data, w.count);
  vyre_writer_free(&w);
  if (kept) pair->value = kept;
  return kept != NULL;
}

/* The key with its star replaced; false if it is no key. */
static bool spell(const char *key, size_t bytes, bool is_first, char out[MOST_KEY + 8]) {
  uint32_t stars = 0;
  size_t used = 0;
  if (bytes == 0 || bytes > MOST_KEY) return false;
  for (size_t i = 0; i < bytes; i++) {
    if (key[i] == '*' && stars++ == 0) {
      used += (size_t)sprintf(out + used, "%s", is_first ? "before" : "after");
      continue;
    }
    if (!islower((unsigned char)key[i]) && !isdigit((unsigned char)key[i]) && key[i] != '_') return false;
    out[used++] = key[i];
  }
  out[used] = '\0';
  return true;
}

/* One line; false only without memory. */
static bool take_line(bench_report *report, const char *line, bool is_first) {
  char key[MOST_KEY + 8], value[MOST_VALUE + 1];
  if (strncmp(line, "fact ", 5) != 0) return true;
  const char *word = line + 5;
  size_t bytes = strcspn(word, " ");
  if (word[bytes] != ' ' || !spell(word, bytes, is_first, key)) return true;
  snprintf(value, sizeof value, "%.*s", MOST_VALUE, word + bytes + 1);
  return !value[0] || put(report, key, value);
}

bool bench_facts_take(const char *peers, bool is_first, bench_report *report) {
  char path[4096], line[BENCH_LINE_BYTES];
  const bench_pair *uuid = find(report, "uuid");
  bench_child child;
  if (!peers || !uuid || snprintf(path, sizeof path, "%s/facts", peers) >= (int)sizeof path) return true;
  if (access(path, X_OK) != 0 || bench_child_start(&child, path, -1, NULL) != VYRE_OK) return true;
  bool has_memory = true;
  vyre_status status = bench_child_say(&child, NULL, "device %s\n", uuid->value);
  for (int i = 0; i < MOST_FACTS && status == VYRE_OK && has_memory; i++) {
    status = bench_child_hear(&child, ANSWER_TIMEOUT_NS, line, NULL);
    if (status != VYRE_OK || strcmp(line, "done") == 0) break;
    has_memory = take_line(report, line, is_first);
  }
  bench_child_end(&child, GRACE_NS);
  return has_memory;
}
