/* Files: read whole, and written so that nobody ever sees half of one. */
#ifndef VYRE_TOOLS_FILES_H
#define VYRE_TOOLS_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Reads a whole file, or standard input for "-". More than |most| bytes are refused. The bytes are followed by a NUL
 * that is not counted; the caller frees them. Gives an exit status; what went wrong has been said. */
int files_read(const char *path, size_t most, uint8_t **bytes, size_t *count);

/* Files that are written together: staged beside their places, and renamed into them once all are complete. */
typedef struct staged_file {
  char *target;         /* where it belongs, symbolic links followed */
  char *temporary;      /* where it is until then; NULL for devices and pipes, which are written at the commit */
  const uint8_t *bytes; /* for those */
  size_t count;
} staged_file;

typedef struct file_set {
  staged_file *files;
  size_t count;
} file_set;

/* Says early whether |path| could be written. Gives an exit status. */
int files_check(const char *path);
/* Writes |count| bytes beside |path|. The bytes are borrowed until the commit. Gives an exit status; two files of a set
 * with one target are OUTPUT_USAGE. */
int files_stage(file_set *set, const char *path, const void *bytes, size_t count);
/* Puts all in their places. Gives an exit status; the set is empty afterwards. */
int files_commit(file_set *set);
/* Removes what was staged. */
void files_discard(file_set *set);

/* One file by itself; "-" is standard output. */
int files_write(const char *path, const void *bytes, size_t count);

#endif
