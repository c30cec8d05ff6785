/* A main for fuzz targets where libFuzzer is absent: gives the target every file of its corpus, whole and cut short at
 * up to 64 places. Arguments are files and directories; without any it takes the corpus in the source tree that is
 * named after the program: fuzz_ini reads tests/corpus/ini. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CUTS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t files;

/* The input stands in a block of exactly its size, so that a checker sees a read behind it. */
static void give(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size > 0 ? size : 1);
  if (copy == NULL) exit(1);
  memcpy(copy, data, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
}

static int run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return perror(path), 1;
  struct stat info;
  uint8_t *data = NULL;
  size_t size = 0;
  if (fstat(fileno(file), &info) == 0 && (data = malloc((size_t)info.st_size + 1)) != NULL)
    size = fread(data, 1, (size_t)info.st_size, file);
  fclose(file);
  if (data == NULL) return perror(path), 1;
  printf("%s\n", path);
  fflush(stdout); /* so that the last line names the file that a crash is about */
  for (size_t cut = 0; cut < CUTS && cut < size; cut++) give(data, size * cut / (size < CUTS ? size : CUTS));
  give(data, size);
  free(data);
  files++;
  return 0;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int run_path(const char *path) {
  struct stat info;
  if (stat(path, &info) != 0) return perror(path), 1;
  if (!S_ISDIR(info.st_mode)) return run_file(path);
  struct dirent **entries;
  int count = scandir(path, &entries, is_visible, alphasort), bad = 0;
  if (count < 0) return perror(path), 1;
  for (int i = 0; i < count; i++) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
    bad |= run_file(name);
    free(entries[i]);
  }
  free(entries);
  return bad;
}

static int run_own_corpus(const char *program) {
  const char *source = getenv("top_srcdir"), *name = strrchr(program, '/');
  name = name != NULL ? name + 1 : program;
  if (strncmp(name, "lt-", 3) == 0) name += 3;
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/corpus/%s", source != NULL ? source : ".",
           strncmp(name, "fuzz_", 5) == 0 ? name + 5 : name);
  return run_path(path);
}

int main(int argc, char **argv) {
  int bad = argc == 1 ? run_own_corpus(argv[0]) : 0;
  for (int i = 1; i < argc; i++) bad |= run_path(argv[i]);
  if (files == 0) fputs("The corpus is empty. Fix: give files or directories, or set top_srcdir.\n", stderr);
  return bad || files == 0;
}
