/* The program's own malloc wins over the C library's when symbols are bound. What does the work underneath is the C
 * library's, or a sanitizer's, by the names that both export for this purpose. */
#include "fail_malloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
  __has_feature(thread_sanitizer)
#define UNDER(name) __interceptor_##name
enum { UNDER_SANITIZER = 1 };
#else
#define UNDER(name) __libc_##name
enum { UNDER_SANITIZER = 0 };
#endif
/* A sanitizer allocates before its own shadow memory is there. */
#define PLAIN __attribute__((no_sanitize("address", "thread")))

void *UNDER(malloc)(size_t bytes);
void *UNDER(calloc)(size_t count, size_t bytes);
void *UNDER(realloc)(void *old, size_t bytes);
void UNDER(free)(void *p);
/* Seen by the C library too, whatever the build's visibility is. */
#define SEEN __attribute__((visibility("default")))
SEEN void *malloc(size_t bytes);
SEEN void *calloc(size_t count, size_t bytes);
SEEN void *realloc(void *old, size_t bytes);
SEEN void free(void *p);

#if defined(__clang__) && __has_feature(thread_sanitizer)
#define STANDS_ASIDE /* this runtime does not let a program stand before it */
#endif

static atomic_ullong until; /* allocations until one fails, it included; 0: none will */
static atomic_bool stays, failed;
static atomic_llong live;
/* A sanitizer allocates as a thread starts, and ends the process if that fails: there only the thread that asked for
 * failures gets them. */
static _Thread_local bool asked;

static void arm(uint64_t n, bool forever) {
  asked = true;
  atomic_store(&failed, false);
  atomic_store(&stays, forever);
  atomic_store(&until, n);
}

void fail_malloc_at(uint64_t n) { arm(n, false); }
void fail_malloc_from(uint64_t n) { arm(n, true); }

bool fail_malloc_end(void) {
  atomic_store(&until, 0);
  return atomic_load(&failed);
}

bool fail_malloc_works(void) {
  void *(*volatile allocate)(size_t) = malloc; /* a call that no compiler leaves out */
  arm(1, false);
  free(allocate(1));
  return fail_malloc_end();
}

/* Sanitizers make some allocations (strdup) themselves, valgrind stands before some of these functions, and both find
 * leaks better than a count does. */
int64_t fail_malloc_live(void) {
  static atomic_int counts; /* 1 yes, -1 no, 0 not known yet */
  if (UNDER_SANITIZER) return 0;
  if (atomic_load(&counts) == 0 && atomic_load(&until) == 0) {
    bool before = atomic_load(&failed);
    atomic_store(&counts, fail_malloc_works() ? 1 : -1);
    atomic_store(&failed, before);
  }
  return atomic_load(&counts) < 0 ? 0 : atomic_load(&live);
}

#ifndef STANDS_ASIDE
PLAIN static bool fails(void) {
  unsigned long long left = atomic_load(&until);
  if (left == 0 || (UNDER_SANITIZER && !asked)) return false;
  if (left > 1) {
    atomic_store(&until, left - 1);
    return false;
  }
  if (!atomic_load(&stays)) atomic_store(&until, 0);
  atomic_store(&failed, true);
  errno = ENOMEM;
  return true;
}

PLAIN static void *count(void *p) {
  if (p != NULL) atomic_fetch_add(&live, 1);
  return p;
}

PLAIN void *malloc(size_t bytes) { return fails() ? NULL : count(UNDER(malloc)(bytes)); }
PLAIN void *calloc(size_t number, size_t bytes) { return fails() ? NULL : count(UNDER(calloc)(number, bytes)); }

PLAIN void *realloc(void *old, size_t bytes) {
  if (fails()) return NULL;
  void *p = UNDER(realloc)(old, bytes);
  return old == NULL ? count(p) : p;
}

PLAIN void free(void *p) {
  if (p != NULL) atomic_fetch_sub(&live, 1);
  UNDER(free)(p);
}
#endif
