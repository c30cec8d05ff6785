/* The cache's directory: where it is, that it is nobody else's, and how large it may become. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/cache.h"
#include "base/checked.h"
#include "base/env.h"
#include "base/vector.h"

enum { BLOCK_BYTES = 4096, LEFTOVER_SECONDS = 3600, OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

/* ---- Where ----------------------------------------------------------------------------------- */

/* The user's directory for caches and what is appended to it; NULL if the process knows none. */
static char *users_base(void) {
  const char *cache = vyre_env_get("XDG_CACHE_HOME"), *home = vyre_env_get("HOME");
  char *path = NULL;
  if (cache != NULL && cache[0] == '/') return strdup(cache);
  if (home == NULL || home[0] != '/' || asprintf(&path, "%s/.cache", home) < 0) return NULL;
  return path;
}

/* A directory that others can write to, or that is another user's, is not safe to take machine code from. */
static bool is_private(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return false;
  if (info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return true;
  errno = EPERM;
  return false;
}

/* One step down, through no symbolic link. Takes |parent|, which may be -1. */
static int step_into(int parent, const char *name, bool create) {
  if (parent < 0) return -1;
  int fd = openat(parent, name, OPEN_DIRECTORY | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT && create && (mkdirat(parent, name, 0700) == 0 || errno == EEXIST))
    fd = openat(parent, name, OPEN_DIRECTORY | O_NOFOLLOW);
  int code = errno;
  if (fd >= 0 && !is_private(fd)) {
    code = errno;
    close(fd);
    fd = -1;
  }
  close(parent);
  errno = code;
  return fd;
}

/* The default: the user may have made the base itself a link to another disk; what is ours below it is none. */
static int open_default(bool create, char **path) {
  char *base = users_base();
  if (base == NULL) {
    errno = EINVAL;
    return -1;
  }
  if (asprintf(path, "%s/vyre/pipelines", base) < 0) *path = NULL;
  if (create) mkdir(base, 0700);
  int fd = step_into(step_into(open(base, OPEN_DIRECTORY), "vyre", create), "pipelines", create);
  int code = errno;
  free(base);
  errno = code;
  return fd;
}

/* The one that was named: its parents must be there, and it is made itself. */
static int open_named(const char *name, bool create, char **path) {
  size_t bytes = strlen(name);
  while (bytes > 1 && name[bytes - 1] == '/') bytes--;
  char *copy = strndup(name, bytes), *slash = copy != NULL ? strrchr(copy, '/') : NULL;
  *path = strndup(name, bytes);
  if (slash == NULL || copy[0] != '/' || slash[1] == 0) {
    free(copy);
    errno = copy == NULL ? ENOMEM : EINVAL;
    return -1;
  }
  *slash = 0;
  int parent = open(slash == copy ? "/" : copy, OPEN_DIRECTORY);
  int fd = step_into(parent, slash + 1, create);
  int code = errno;
  free(copy);
  errno = code;
  return fd;
}

int vyre_cache_directory_open(const vyre_config *config, bool create, char **path) {
  vyre_config_value directory;
  vyre_config_get(config, VYRE_CONFIG_CACHE_DIRECTORY, &directory);
  *path = NULL;
  return directory.is_set ? open_named(directory.text, create, path) : open_default(create, path);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const char suffix[] = ".bin", temporary[] = "tmp-";

void vyre_cache_name(const uint8_t key[VYRE_DIGEST_BYTES], char out[VYRE_CACHE_NAME_BYTES]) {
  for (unsigned i = 0; i < VYRE_DIGEST_BYTES; i++) snprintf(out + 2 * i, 3, "%02x", key[i]);
  memcpy(out + 2 * VYRE_DIGEST_BYTES, suffix, sizeof suffix);
}

bool vyre_cache_temporary_name(char out[VYRE_CACHE_NAME_BYTES]) {
  uint64_t random[2];
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
  snprintf(out, VYRE_CACHE_NAME_BYTES, "%s%ld-%016" PRIx64 "%016" PRIx64, temporary, (long)getpid(), random[0],
           random[1]);
  return true;
}

static bool is_entry(const char *name) {
  return strlen(name) == VYRE_CACHE_NAME_BYTES - 1 && strspn(name, "0123456789abcdef") == 2 * VYRE_DIGEST_BYTES &&
         strcmp(name + 2 * VYRE_DIGEST_BYTES, suffix) == 0;
}

static bool is_temporary(const char *name) { return strncmp(name, temporary, strlen(temporary)) == 0; }

/* ---- How much -------------------------------------------------------------------------------- */

typedef struct entry {
  struct timespec time;
  uint64_t charge;
  char name[VYRE_CACHE_NAME_BYTES];
} entry;

typedef VYRE_VECTOR(entry) entries;

static int compare_ages(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->time.tv_sec != y->time.tv_sec) return x->time.tv_sec < y->time.tv_sec ? -1 : 1;
  if (x->time.tv_nsec != y->time.tv_nsec) return x->time.tv_nsec < y->time.tv_nsec ? -1 : 1;
  return strcmp(x->name, y->name);
}

uint64_t vyre_cache_charge(uint64_t bytes) {
  uint64_t charge;
  return vyre_align_u64(bytes > 0 ? bytes : 1, BLOCK_BYTES, &charge) ? charge : UINT64_MAX;
}

/* Files with other names are not ours: neither counted nor removed. */
static bool list_entries(int directory, DIR *stream, entries *out, uint64_t *total) {
  struct timespec now;
  struct dirent *item;
  clock_gettime(CLOCK_REALTIME, &now);
  *total = 0;
  while ((item = readdir(stream)) != NULL) {
    struct stat info;
    bool is_ours = is_entry(item->d_name), is_leftover = is_temporary(item->d_name);
    if ((!is_ours && !is_leftover) || fstatat(directory, item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(info.st_mode)) continue;
    if (is_leftover && info.st_mtim.tv_sec + LEFTOVER_SECONDS < now.tv_sec &&
        unlinkat(directory, item->d_name, 0) == 0)
      continue;
    uint64_t charge = vyre_cache_charge((uint64_t)info.st_size);
    *total += charge;
    if (!is_ours) continue;
    entry e = { .time = info.st_mtim, .charge = charge };
    memcpy(e.name, item->d_name, sizeof e.name);
    if (!vyre_vector_push(out, e)) return false;
  }
  return true;
}

uint64_t vyre_cache_trim(int directory, uint64_t limit) {
  int copy = openat(directory, ".", OPEN_DIRECTORY);
  DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
  entries all = { 0 };
  uint64_t total = 0;
  if (stream == NULL) {
    if (copy >= 0) close(copy);
    return UINT64_MAX;
  }
  bool is_complete = list_entries(directory, stream, &all, &total);
  closedir(stream);
  if (is_complete && total > limit) {
    uint64_t aim = limit - limit / 16; /* so that not every writer has to come here */
    qsort(all.data, all.count, sizeof *all.data, compare_ages);
    for (uint32_t i = 0; i < all.count && total > (i + 1 < all.count ? aim : limit); i++)
      if (unlinkat(directory, all.data[i].name, 0) == 0 || errno == ENOENT) total -= all.data[i].charge;
  }
  vyre_vector_free(&all);
  return is_complete ? total : UINT64_MAX;
}
