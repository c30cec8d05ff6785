/* Entries, read and written. */
#include "backend/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

void vyre_cache_init(vyre_cache *cache, const vyre_config *config, vyre_log *log) {
  cache->config = config;
  cache->log = log;
  atomic_init(&cache->room, 0);
  atomic_init(&cache->off, false);
  atomic_init(&cache->told, false);
}

static uint64_t setting(const vyre_cache *cache, vyre_config_key key) {
  vyre_config_value value;
  vyre_config_get(cache->config, key, &value);
  return value.number;
}

static bool is_enabled(const vyre_cache *cache) { return setting(cache, VYRE_CONFIG_CACHE_ENABLE) != 0; }

/* Once for a context, however often it happens. */
static void tell(vyre_cache *cache, const char *path, int code) {
  if (atomic_exchange(&cache->told, true)) return;
  vyre_log_write(cache->log, VYRE_LOG_INFO, "cache",
                 "Nothing is kept in %s: %s. Fix: set cache.directory to a directory that is yours alone, or "
                 "cache.enable to off.",
                 path != NULL ? path : "the cache, for which no directory is known", strerrordesc_np(code));
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool read_all(int fd, uint8_t *out, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t got = read(fd, out + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += (size_t)got;
  }
  return true;
}

/* The bytes of a file that looks like an entry and is the user's own; NULL, with *why where it is worth a word. */
static uint8_t *read_file(int fd, uint64_t *bytes, const char **why) {
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    *why = "it is no regular file";
    return NULL;
  }
  if (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    *why = "others may have written it";
    return NULL;
  }
  if (info.st_size < VYRE_CACHE_MIN_FILE || info.st_size > VYRE_CACHE_MAX_FILE) {
    *why = "its size is none of an entry";
    return NULL;
  }
  *bytes = (uint64_t)info.st_size;
  uint8_t *frame = malloc(*bytes);
  if (frame != NULL && read_all(fd, frame, *bytes)) return frame;
  *why = frame != NULL ? "it can't be read" : "memory is exhausted";
  free(frame);
  return NULL;
}

/* The data takes the place of the frame, in the same memory. */
static uint8_t *read_entry(int fd, const vyre_cache_id *id, uint64_t *bytes, const char **why) {
  uint64_t frame_bytes = 0;
  uint8_t *frame = read_file(fd, &frame_bytes, why);
  if (frame == NULL) return NULL;
  const uint8_t *data;
  *why = vyre_cache_frame_open(frame, frame_bytes, id, &data, bytes);
  if (*why == NULL) {
    memmove(frame, data, *bytes);
    return frame;
  }
  free(frame);
  return NULL;
}

vyre_status vyre_cache_get(vyre_cache *cache, const vyre_cache_id *id, void **data, uint64_t *bytes) {
  *data = NULL;
  *bytes = 0;
  if (!is_enabled(cache)) return VYRE_ERR_NOT_FOUND;
  char *path, name[VYRE_CACHE_NAME_BYTES];
  int directory = vyre_cache_directory_open(cache->config, false, &path);
  if (directory < 0) {
    if (errno != ENOENT) tell(cache, path, errno);
    free(path);
    return VYRE_ERR_NOT_FOUND;
  }
  vyre_cache_name(id->key, name);
  const char *why = NULL;
  /* A pipe in its place must not hold us up, and a terminal not become ours. */
  int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd >= 0) *data = read_entry(fd, id, bytes, &why);
  else if (errno != ENOENT) why = errno == ELOOP ? "it is a symbolic link" : "it can't be opened";
  if (fd >= 0) close(fd);
  close(directory);
  if (*data == NULL) *bytes = 0;
  if (why != NULL) vyre_log_write(cache->log, VYRE_LOG_DEBUG, "cache", "%s/%s is passed over: %s.", path, name, why);
  free(path);
  return *data != NULL ? VYRE_OK : VYRE_ERR_NOT_FOUND;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool write_all(int fd, const void *data, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    ssize_t put = write(fd, (const uint8_t *)data + done, bytes - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    done += (uint64_t)put;
  }
  return true;
}

/* A file beyond the process's limit would end the process by a signal. */
static bool is_allowed(uint64_t file_bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || file_bytes <= limit.rlim_cur);
}

/* Under a temporary name first. There is no fsync: an entry that a power cut leaves half written is a miss. */
static bool write_entry(int directory, const vyre_cache_id *id, const void *data, uint64_t bytes, bool *is_place_bad) {
  uint8_t head[VYRE_CACHE_HEAD_BYTES], foot[VYRE_CACHE_FOOT_BYTES];
  char name[VYRE_CACHE_NAME_BYTES], temporary[VYRE_CACHE_NAME_BYTES];
  *is_place_bad = false;
  if (!vyre_cache_temporary_name(temporary)) return false;
  int fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  *is_place_bad = fd < 0 && errno != ENOSPC && errno != EDQUOT && errno != EMFILE && errno != ENFILE;
  if (fd < 0) return false;
  vyre_cache_name(id->key, name);
  vyre_cache_frame_wrap(id, data, bytes, head, foot);
  bool is_done = write_all(fd, head, sizeof head) && write_all(fd, data, bytes) && write_all(fd, foot, sizeof foot);
  int code = errno;
  is_done = close(fd) == 0 && is_done; /* some file systems report a full disk only now */
  if (is_done && renameat(directory, temporary, directory, name) == 0) return true;
  if (is_done) code = errno;
  unlinkat(directory, temporary, 0);
  errno = code;
  return false;
}

/* Keeps the directory below its limit. It is measured only when what this process wrote since may have filled a part
 * of what was left: so small a part that dozens of processes together stay below it too. */
static void make_room(vyre_cache *cache, int directory, uint64_t limit, uint64_t charge) {
  enum { WRITERS = 64 };
  uint64_t room = atomic_load(&cache->room);
  while (room >= charge)
    if (atomic_compare_exchange_weak(&cache->room, &room, room - charge)) return;
  uint64_t used = vyre_cache_trim(directory, limit);
  atomic_store(&cache->room, used < limit ? (limit - used) / WRITERS : 0);
}

static vyre_status put_into(vyre_cache *cache, int directory, const char *path, const vyre_cache_id *id,
                            const void *data, uint64_t bytes, uint64_t limit) {
  bool is_place_bad;
  if (!write_entry(directory, id, data, bytes, &is_place_bad)) {
    if (is_place_bad) atomic_store(&cache->off, true);
    tell(cache, path, errno);
    return VYRE_ERR_IO;
  }
  make_room(cache, directory, limit, vyre_cache_charge(VYRE_CACHE_HEAD_BYTES + bytes + VYRE_CACHE_FOOT_BYTES));
  return VYRE_OK;
}

vyre_status vyre_cache_put(vyre_cache *cache, const vyre_cache_id *id, const void *data, uint64_t bytes) {
  if (!is_enabled(cache) || atomic_load(&cache->off)) return VYRE_ERR_UNSUPPORTED;
  uint64_t limit = setting(cache, VYRE_CONFIG_CACHE_SIZE);
  if (bytes > VYRE_CACHE_MAX_BYTES) return VYRE_ERR_LIMIT;
  uint64_t file_bytes = VYRE_CACHE_HEAD_BYTES + bytes + VYRE_CACHE_FOOT_BYTES;
  if (vyre_cache_charge(file_bytes) > limit || !is_allowed(file_bytes)) return VYRE_ERR_LIMIT;
  char *path;
  int directory = vyre_cache_directory_open(cache->config, true, &path);
  if (directory < 0) {
    atomic_store(&cache->off, true);
    tell(cache, path, errno);
    free(path);
    return VYRE_ERR_UNSUPPORTED;
  }
  vyre_status status = put_into(cache, directory, path, id, data, bytes, limit);
  close(directory);
  free(path);
  return status;
}
