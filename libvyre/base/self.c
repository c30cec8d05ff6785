/* The dynamic linker knows which file this code came from; the rest is what was configured, relative to the prefix. */
#include "base/self.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

vyre_status vyre_self_directory(char **out) {
  Dl_info info;
  *out = NULL;
  if (dladdr((const void *)(uintptr_t)vyre_self_directory, &info) == 0 || info.dli_fname == NULL) return VYRE_OK;
  *out = realpath(info.dli_fname, NULL);
  if (*out == NULL) return errno == ENOMEM ? VYRE_ERR_NO_MEMORY : VYRE_OK;
  *strrchr(*out, '/') = 0;
  return VYRE_OK;
}

/* What |path| has behind |base|: "" or with its slash; NULL if it is not below. */
static const char *behind(const char *path, const char *base) {
  size_t bytes = strlen(base);
  if (strncmp(path, base, bytes) != 0 || (path[bytes] != '/' && path[bytes] != 0)) return NULL;
  return path + bytes;
}

vyre_status vyre_self_place(const char *place, char **out) {
  const char *library = behind(VYRE_LIB_DIR, VYRE_PREFIX), *rest = behind(place, VYRE_PREFIX);
  char *own = NULL;
  *out = NULL;
  vyre_status status = library != NULL && rest != NULL ? vyre_self_directory(&own) : VYRE_OK;
  if (own == NULL) return status;
  size_t bytes = strlen(own), tail = strlen(library);
  bool is_installed = bytes >= tail && strcmp(own + bytes - tail, library) == 0;
  if (is_installed && asprintf(out, "%.*s%s", (int)(bytes - tail), own, rest) < 0) {
    *out = NULL;
    status = VYRE_ERR_NO_MEMORY;
  }
  free(own);
  return status;
}
