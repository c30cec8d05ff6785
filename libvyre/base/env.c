/* The kernel says at exec whether the process is a privileged one; libc keeps the answer. */
#include "base/env.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *vyre_env_get(const char *name) { return secure_getenv(name); }

bool vyre_env_is_ignored(void) { return getauxval(AT_SECURE) != 0; }

const char *vyre_env_next(const char *prefix, size_t *cursor) {
  size_t bytes = strlen(prefix);
  while (environ != NULL && environ[*cursor] != NULL) {
    const char *entry = environ[(*cursor)++];
    if (strncmp(entry, prefix, bytes) == 0) return entry;
  }
  return NULL;
}
