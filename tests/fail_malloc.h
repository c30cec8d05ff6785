/* Makes the n-th allocation of a test fail, and counts what is not freed.
 *
 * Add tests/fail_malloc.c to the sources of a test program: it then stands between the program and the C library's
 * malloc, calloc and realloc, for every allocation of the process that the program's code, statically linked code and
 * the C library make. It works with AddressSanitizer and ThreadSanitizer; only under valgrind, which replaces malloc
 * itself, and under the ThreadSanitizer of clang nothing fails. Typical use:
 *
 *   for (uint64_t n = 1;; n++) {
 *     int64_t before = fail_malloc_live();
 *     fail_malloc_at(n);
 *     vyre_status status = thing_create(&thing);
 *     bool failed = fail_malloc_end();
 *     ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
 *     thing_destroy(thing);
 *     ck_assert_int_eq(fail_malloc_live(), before);
 *     if (!failed) break;
 *   }
 *
 * Nothing of Check may be called in between, because it allocates too and gives up when that fails.
 * Tests with several threads must arm it while only one of them allocates. */
#ifndef VYRE_TESTS_FAIL_MALLOC_H
#define VYRE_TESTS_FAIL_MALLOC_H

#include <stdbool.h>
#include <stdint.h>

/* The |n|-th allocation from now on fails, and only that one; 1 is the next. */
void fail_malloc_at(uint64_t n);
/* The |n|-th allocation from now on and all after it fail. */
void fail_malloc_from(uint64_t n);
/* No more failures. Whether there was one since the last arming. */
bool fail_malloc_end(void);
/* Whether allocations fail at all here, found out by trying: not under valgrind. For tests that count failures. */
bool fail_malloc_works(void);
/* Allocations that are not freed yet. Only differences mean something. Always 0 under a sanitizer. */
int64_t fail_malloc_live(void);

#endif
