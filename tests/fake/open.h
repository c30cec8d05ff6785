/* Opens a fake library as a test built it, instead of the vendor's. A test has a process of its own for it. */
#ifndef FAKE_OPEN_H
#define FAKE_OPEN_H

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The address of |symbol| in *out, a pointer; NULL if the library has none. */
static inline void fake_take(void *library, void *out, const char *symbol) {
  void *address = dlsym(library, symbol);
  memcpy(out, &address, sizeof address);
}

/* The library of that file name, with this script in the environment variable that it reads. */
static inline void *fake_open(const char *file, const char *variable, const char *script) {
  const char *build = getenv("top_builddir"), *objdir = getenv("objdir");
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/fake/%s/%s", build != NULL ? build : ".", objdir != NULL ? objdir : ".libs",
           file);
  ck_assert_int_eq(setenv(variable, script, 1), 0);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(library != NULL, "%s", dlerror());
  return library;
}

#endif
