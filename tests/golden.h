/* Texts that a folder of golden files holds: NAME.vyre is a program, and another file beside it what becomes of it. To
 * take new texts, run a test with VYRE_UPDATE_GOLDEN=1 and look at the difference. */
#ifndef VYRE_TESTS_GOLDEN_H
#define VYRE_TESTS_GOLDEN_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "suite.h"

enum { GOLDEN_ROOM = 1 << 20, GOLDEN_PATH = 4096 };

/* |folder| is that of the layer: tests/FOLDER/golden. */
static inline void golden_path(char path[GOLDEN_PATH], const char *folder, const char *name, const char *suffix) {
  const char *root = getenv("top_srcdir");
  snprintf(path, GOLDEN_PATH, "%s/tests/%s/golden/%s%s", root != NULL ? root : ".", folder, name, suffix);
}

/* The text of a file, "" for what is not there; the caller frees it. */
static inline char *golden_read(const char *folder, const char *name, const char *suffix) {
  char path[GOLDEN_PATH], *text = calloc(1, GOLDEN_ROOM);
  golden_path(path, folder, name, suffix);
  FILE *file = fopen(path, "r");
  if (file == NULL) return text;
  size_t bytes = fread(text, 1, GOLDEN_ROOM - 1, file);
  ck_assert_msg(bytes < GOLDEN_ROOM - 1, "%s is too long", path);
  fclose(file);
  return text;
}

static inline vyre_program *golden_parse(const char *name, const char *text) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_diagnostics *diagnostics;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create(name, text, strlen(text), &diagnostics), VYRE_OK);
  if (vyre_text_parse(text, strlen(text), NULL, diagnostics, &program, &error) != VYRE_OK)
    ck_abort_msg("%s\n%s\n%s", error.text, vyre_diagnostics_render(diagnostics), text);
  vyre_diagnostics_destroy(diagnostics);
  return program;
}

/* The line in which two texts differ first. */
static inline uint32_t golden_first_difference(const char *a, const char *b) {
  uint32_t line = 1;
  for (; *a == *b && *a != 0; a++, b++) line += *a == '\n';
  return line;
}

/* Holds |text| against the file, or makes it the file's. */
static inline void golden_check(const char *folder, const char *name, const char *suffix, const char *text) {
  char *golden = golden_read(folder, name, suffix), path[GOLDEN_PATH];
  golden_path(path, folder, name, suffix);
  if (getenv("VYRE_UPDATE_GOLDEN") != NULL) {
    FILE *file = fopen(path, "w");
    ck_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
  } else if (strcmp(text, golden) != 0) {
    fprintf(stderr, "%s is now:\n%s", path, text);
    ck_abort_msg("%s differs from line %u on", path, golden_first_difference(text, golden));
  }
  free(golden);
}

/* Calls |check| with the name of each program of the folder; gives how many there are. */
static inline uint32_t golden_each(const char *folder, void (*check)(const char *name)) {
  char path[GOLDEN_PATH];
  golden_path(path, folder, "", "");
  DIR *directory = opendir(path);
  ck_assert_msg(directory != NULL, "%s can't be read", path);
  uint32_t count = 0;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    char *dot = strrchr(entry->d_name, '.');
    if (dot == NULL || strcmp(dot, ".vyre") != 0) continue;
    *dot = 0;
    check(entry->d_name);
    count++;
  }
  closedir(directory);
  return count;
}

#endif
