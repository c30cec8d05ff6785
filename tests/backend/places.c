#include "places.h"

#include <check.h>
#include <dirent.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/cache.h"

static char root[256];

const char *place(void) {
  const char *base = getenv("TMPDIR");
  snprintf(root, sizeof root, "%s/vyre-test-XXXXXX", base != NULL && base[0] == '/' ? base : P_tmpdir);
  ck_assert_ptr_nonnull(mkdtemp(root));
  return root;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info, (void)kind, (void)walk;
  return remove(path);
}

void remove_place(void) {
  if (root[0] != 0) nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  root[0] = 0;
}

const char *below(const char *format, ...) {
  static char paths[8][8192];
  static unsigned turn;
  char *path = paths[turn++ % 8];
  int used = snprintf(path, sizeof paths[0], "%s/", root);
  va_list args;
  va_start(args, format);
  vsnprintf(path + used, sizeof paths[0] - (size_t)used, format, args);
  va_end(args);
  return path;
}

void make_directory(const char *path) { ck_assert_int_eq(mkdir(path, 0755), 0); }

void write_file(const char *path, const void *data, size_t bytes) {
  FILE *file = fopen(path, "wb");
  ck_assert_msg(file != NULL, "%s can't be written", path);
  ck_assert_uint_eq(fwrite(data, 1, bytes, file), bytes);
  ck_assert_int_eq(fclose(file), 0);
}

unsigned char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s can't be read", path);
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  unsigned char *data = malloc(*bytes + 1);
  ck_assert_ptr_nonnull(data);
  ck_assert_uint_eq(fread(data, 1, *bytes, file), *bytes);
  fclose(file);
  return data;
}

unsigned count_files(const char *directory, const char *prefix, const char *suffix, uint64_t *total) {
  DIR *stream = opendir(directory);
  unsigned count = 0;
  *total = 0;
  ck_assert_ptr_nonnull(stream);
  for (struct dirent *e; (e = readdir(stream)) != NULL;) {
    struct stat info;
    size_t all = strlen(e->d_name), end_bytes = strlen(suffix);
    if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 || all < end_bytes) continue;
    if (strcmp(e->d_name + all - end_bytes, suffix) != 0 || e->d_name[0] == '.') continue;
    ck_assert_int_eq(fstatat(dirfd(stream), e->d_name, &info, 0), 0);
    *total += vyre_cache_charge((uint64_t)info.st_size);
    count++;
  }
  closedir(stream);
  return count;
}

unsigned char *read_fake(size_t *bytes) {
  const char *build = getenv("top_builddir");
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/backend/.libs/fake.so", build != NULL ? build : ".");
  return read_file(path, bytes);
}

void copy_fake_part(const char *path, size_t part) {
  size_t bytes;
  unsigned char *data = read_fake(&bytes);
  write_file(path, data, part < bytes ? part : bytes);
  free(data);
}

void copy_fake(const char *path) { copy_fake_part(path, SIZE_MAX); }

bool is_mapped(const char *path) {
  FILE *maps = fopen("/proc/self/maps", "r");
  ck_assert_ptr_nonnull(maps);
  char line[8192];
  bool found = false;
  while (fgets(line, sizeof line, maps) != NULL) found = found || strstr(line, path) != NULL;
  fclose(maps);
  return found;
}

vyre_config *config_for(const char *path) {
  vyre_config_options options = { .size = sizeof options, .no_file = true, .no_environment = true };
  vyre_config *config;
  ck_assert_int_eq(vyre_config_load(&options, &config, NULL), VYRE_OK);
  ck_assert_int_eq(vyre_config_set(config, VYRE_CONFIG_BACKENDS_PATH, path, "test", NULL), VYRE_OK);
  return config;
}

vyre_context *context_for(vyre_config *config) {
  vyre_context *context;
  ck_assert_int_eq(vyre_context_create(config, NULL, &context, NULL), VYRE_OK);
  return context;
}

vyre_backend_info row_of(vyre_context *context, const char *path) {
  vyre_backend_info info;
  for (uint32_t i = 0; vyre_backend_describe(context, i, &info); i++)
    if (strcmp(info.path, path) == 0) return info;
  ck_abort_msg("no row for %s", path);
  return info;
}
