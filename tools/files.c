/* A file is written beside its place, under a name that a signal removes, and renamed when it is complete.
 * Devices and pipes can not be renamed over: they are written in place, before the renames. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

#define FIRST_BLOCK 65536u
#define MAX_STAGED 1024u

/* Names of the files to remove if a signal ends the process; written only while those signals are blocked. */
static char *removed_by_signal[MAX_STAGED];

static int complain_memory(void) {
  output_complain("memory is exhausted. Fix: use less data or more memory.");
  return OUTPUT_FAILED;
}

static bool grow(uint8_t **bytes, size_t *room, size_t most) {
  size_t more = *room ? *room * 2 : FIRST_BLOCK;
  if (more < *room || more > most + 1) more = most + 1;
  uint8_t *grown = realloc(*bytes, more + 1); /* and the NUL */
  if (!grown) return false;
  *bytes = grown;
  *room = more;
  return true;
}

static int read_all(int fd, const char *path, size_t most, uint8_t **bytes, size_t *count) {
  struct stat status;
  size_t room = 0, used = 0;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 && (uint64_t)status.st_size < most)
    room = (size_t)status.st_size / 2 + 1; /* the first growth makes it the whole size and a little */
  for (;;) {
    if ((!*bytes || used == room) && !grow(bytes, &room, most)) return complain_memory();
    ssize_t got = read(fd, *bytes + used, room - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      output_complain_at(path, "%s. Fix: name a file that can be read.", strerror(errno));
      return OUTPUT_USAGE;
    }
    if (got == 0) break;
    used += (size_t)got;
    if (used > most) {
      output_complain_at(path, "it has more than %zu bytes. Fix: give a smaller file.", most);
      return OUTPUT_FAILED;
    }
  }
  (*bytes)[used] = 0;
  *count = used;
  return OUTPUT_DONE;
}

/* Standard input can be read once: a second reader would take its end for an empty file. */
static bool claim_stdin(int fd) {
  static bool is_taken;
  struct stat given, standard;
  bool is_standard = fstat(fd, &given) == 0 && fstat(STDIN_FILENO, &standard) == 0 && !S_ISREG(given.st_mode) &&
                     !S_ISCHR(given.st_mode) && given.st_dev == standard.st_dev && given.st_ino == standard.st_ino;
  if (fd != STDIN_FILENO && !is_standard) return true;
  if (is_taken) return false;
  is_taken = true;
  return true;
}

int files_read(const char *path, size_t most, uint8_t **bytes, size_t *count) {
  *bytes = NULL;
  *count = 0;
  bool is_stdin = strcmp(path, "-") == 0;
  int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    output_complain_at(path, "%s. Fix: name a file that can be read.", strerror(errno));
    return OUTPUT_USAGE;
  }
  if (!claim_stdin(fd)) {
    output_complain_at(path, "standard input is named twice. Fix: give it to one reader, and a file to the other.");
    if (!is_stdin) close(fd);
    return OUTPUT_USAGE;
  }
  int result = read_all(fd, is_stdin ? "standard input" : path, most, bytes, count);
  if (!is_stdin) close(fd);
  if (result == OUTPUT_DONE) return result;
  free(*bytes);
  *bytes = NULL;
  return result;
}

static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};
#define ENDING_SIGNALS (sizeof ending_signals / sizeof ending_signals[0])

static void remove_and_end(int number) {
  for (size_t i = 0; i < MAX_STAGED; i++)
    if (removed_by_signal[i]) unlink(removed_by_signal[i]);
  signal(number, SIG_DFL);
  raise(number);
}

static void block_signals(sigset_t *before) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < ENDING_SIGNALS; i++) sigaddset(&set, ending_signals[i]);
  sigprocmask(SIG_BLOCK, &set, before);
}

/* Handlers, except where the parent had the signal ignored (nohup). */
static void catch_signals(void) {
  for (size_t i = 0; i < ENDING_SIGNALS; i++) {
    struct sigaction action;
    if (sigaction(ending_signals[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
      signal(ending_signals[i], remove_and_end);
  }
}

static char *directory_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return strdup(".");
  return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Where |path| leads: through symbolic links, as far as there is something. NULL, and said, without memory. */
static char *resolve(const char *path) {
  char *target = realpath(path, NULL);
  if (target) return target;
  const char *slash = strrchr(path, '/');
  char *directory = directory_of(path);
  char *place = directory ? realpath(directory, NULL) : NULL;
  if (!place) {
    target = strdup(path); /* the directory is not there: writing will say so */
  } else if (asprintf(&target, "%s/%s", place, slash ? slash + 1 : path) < 0) {
    target = NULL;
  }
  free(place);
  free(directory);
  if (!target) complain_memory();
  return target;
}

static int complain_write(const char *path, int error) {
  output_complain_at(path, "can not be written: %s. Fix: name a file in a directory that can be written and has room.",
                     strerror(error));
  return OUTPUT_FAILED;
}

/* Tells whether |path| is there and can not be renamed over. */
static bool is_special(const char *path, struct stat *status, bool *exists) {
  *exists = stat(path, status) == 0;
  return *exists && !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode);
}

int files_check(const char *path) {
  struct stat status;
  bool exists;
  bool special = is_special(path, &status, &exists);
  if (exists && S_ISDIR(status.st_mode)) return complain_write(path, EISDIR);
  if (exists && access(path, W_OK) != 0) return complain_write(path, errno);
  if (special) return OUTPUT_DONE;
  char *target = resolve(path);
  char *directory = target ? directory_of(target) : NULL;
  int error = directory && access(directory, W_OK | X_OK) != 0 ? errno : 0;
  free(directory);
  free(target);
  return error ? complain_write(path, error) : OUTPUT_DONE;
}

static bool write_all(int fd, const uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t done = write(fd, bytes, count);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes += done;
    count -= (size_t)done;
  }
  return true;
}

/* ".NAME.XXXXXX" in the directory of |target|. */
static char *temporary_name(const char *target) {
  const char *slash = strrchr(target, '/');
  const char *name = slash ? slash + 1 : target;
  char *temporary = NULL;
  if (asprintf(&temporary, "%.*s.%.*s.XXXXXX", (int)(name - target), target, NAME_MAX - 8, name) < 0) return NULL;
  return temporary;
}

static mode_t usual_mode(void) {
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/* Writes and closes; false with errno if the file is not complete. Owner and mode are those of the file that it
 * replaces; keeping the owner is tried only, since it is a privilege. */
static bool write_temporary(int fd, const void *bytes, size_t count, const struct stat *old) {
  bool done = write_all(fd, bytes, count) && fchmod(fd, old ? old->st_mode & 0777 : usual_mode()) == 0;
  if (done && old && fchown(fd, old->st_uid, old->st_gid) != 0) errno = 0;
  int error = errno;
  if (close(fd) != 0 && done) return false;
  if (!done) errno = error;
  return done;
}

static int stage_regular(staged_file *file, size_t slot, const char *path, const void *bytes, size_t count,
                         const struct stat *old) {
  file->temporary = temporary_name(file->target);
  if (!file->temporary) return complain_memory();
  sigset_t before;
  block_signals(&before);
  catch_signals();
  int fd = mkostemp(file->temporary, O_CLOEXEC);
  int error = errno;
  if (fd >= 0) removed_by_signal[slot] = file->temporary;
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (fd < 0) {
    free(file->temporary);
    file->temporary = NULL;
    return complain_write(path, error);
  }
  if (!write_temporary(fd, bytes, count, old)) return complain_write(path, errno);
  return OUTPUT_DONE;
}

int files_stage(file_set *set, const char *path, const void *bytes, size_t count) {
  int result = files_check(path);
  if (result != OUTPUT_DONE) return result;
  if (set->count == MAX_STAGED) {
    output_complain("more than %u files are to be written. Fix: write fewer.", MAX_STAGED);
    return OUTPUT_USAGE;
  }
  staged_file *grown = realloc(set->files, (set->count + 1) * sizeof *grown);
  if (!grown) return complain_memory();
  set->files = grown;
  struct stat status;
  bool exists;
  bool special = is_special(path, &status, &exists);
  staged_file file = {.target = special ? strdup(path) : resolve(path), .bytes = bytes, .count = count};
  if (!file.target) return OUTPUT_FAILED;
  for (size_t i = 0; i < set->count; i++) {
    if (special || strcmp(set->files[i].target, file.target) != 0) continue;
    output_complain_at(path, "two outputs go to one file. Fix: give each its own.");
    free(file.target);
    return OUTPUT_USAGE;
  }
  size_t slot = set->count++;
  set->files[slot] = file;
  return special ? OUTPUT_DONE : stage_regular(&set->files[slot], slot, path, bytes, count, exists ? &status : NULL);
}

static bool write_special(const staged_file *file) {
  int fd = open(file->target, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool done = write_all(fd, file->bytes, file->count);
  int error = errno;
  if (close(fd) != 0 && done) return false;
  errno = error;
  return done;
}

int files_commit(file_set *set) {
  int result = OUTPUT_DONE;
  for (size_t i = 0; i < set->count && result == OUTPUT_DONE; i++)
    if (!set->files[i].temporary && !write_special(&set->files[i]))
      result = complain_write(set->files[i].target, errno);
  sigset_t before;
  block_signals(&before);
  for (size_t i = 0; i < set->count && result == OUTPUT_DONE; i++) {
    staged_file *file = &set->files[i];
    if (!file->temporary) continue;
    if (rename(file->temporary, file->target) != 0) {
      result = complain_write(file->target, errno);
      break;
    }
    removed_by_signal[i] = NULL;
    free(file->temporary);
    file->temporary = NULL;
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  files_discard(set);
  return result;
}

void files_discard(file_set *set) {
  sigset_t before;
  block_signals(&before);
  for (size_t i = 0; i < set->count; i++) {
    removed_by_signal[i] = NULL;
    if (set->files[i].temporary) unlink(set->files[i].temporary);
    free(set->files[i].temporary);
    free(set->files[i].target);
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  free(set->files);
  *set = (file_set){0};
}

int files_write(const char *path, const void *bytes, size_t count) {
  if (strcmp(path, "-") == 0) {
    fwrite(bytes, 1, count, stdout);
    return OUTPUT_DONE; /* output_finish finds a failure */
  }
  file_set set = {0};
  int result = files_stage(&set, path, bytes, count);
  if (result != OUTPUT_DONE) {
    files_discard(&set);
    return result;
  }
  return files_commit(&set);
}
