/* Arenas: alignment, large requests, copies, and what happens without memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "base/arena.h"

START_TEST(pieces_are_aligned_and_apart) {
  vyre_arena arena = { 0 };
  unsigned char *pieces[400];
  for (int i = 0; i < 400; i++) {
    size_t bytes = (size_t)i * 7 % 301;
    pieces[i] = vyre_arena_alloc(&arena, bytes);
    ck_assert_ptr_nonnull(pieces[i]);
    ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
    memset(pieces[i], i, bytes);
  }
  for (int i = 0; i < 400; i++)
    for (size_t b = 0; b < (size_t)i * 7 % 301; b++) ck_assert_uint_eq(pieces[i][b], (unsigned char)i);
  vyre_arena_free(&arena);
  ck_assert_ptr_null(arena.chunks);
}
END_TEST

START_TEST(large_requests_keep_the_current_chunk) {
  vyre_arena arena = { 0 };
  unsigned char *first = vyre_arena_alloc(&arena, 16);
  unsigned char *large = vyre_arena_alloc(&arena, 1 << 20);
  unsigned char *second = vyre_arena_alloc(&arena, 16);
  memset(large, 1, 1 << 20);
  ck_assert_ptr_eq(second, first + 16);
  vyre_arena_free(&arena);
}
END_TEST

START_TEST(sizes_that_do_not_fit_are_refused) {
  vyre_arena arena = { 0 };
  ck_assert_ptr_null(vyre_arena_alloc(&arena, SIZE_MAX));
  ck_assert_ptr_null(vyre_arena_alloc(&arena, SIZE_MAX - 15));
  ck_assert_ptr_null(vyre_arena_alloc(&arena, SIZE_MAX - 40));
  ck_assert_ptr_null(vyre_arena_copy(&arena, "", SIZE_MAX));
  ck_assert_ptr_nonnull(vyre_arena_alloc(&arena, 1));
  vyre_arena_free(&arena);
}
END_TEST

START_TEST(copies_end_with_nul_and_hold_any_bytes) {
  vyre_arena arena = { 0 };
  char *copy = vyre_arena_copy(&arena, "a\0b", 3);
  ck_assert_mem_eq(copy, "a\0b\0", 4);
  ck_assert_str_eq(vyre_arena_copy(&arena, NULL, 0), "");
  vyre_arena_free(&arena);
}
END_TEST

START_TEST(without_memory_it_stays_usable) {
  vyre_arena arena = { 0 };
  fail_malloc_at(1);
  void *piece = vyre_arena_alloc(&arena, 100);
  bool failed = fail_malloc_end();
  ck_assert_int_eq(piece == NULL, failed);
  ck_assert_ptr_nonnull(vyre_arena_alloc(&arena, 100));
  fail_malloc_at(1);
  piece = vyre_arena_alloc(&arena, 1 << 20);
  failed = fail_malloc_end();
  ck_assert_int_eq(piece == NULL, failed);
  vyre_arena_free(&arena);
}
END_TEST

int main(void) {
  return run_suite("arena", 60,
                   (const TTest *const[]){ pieces_are_aligned_and_apart, large_requests_keep_the_current_chunk,
                                           sizes_that_do_not_fit_are_refused, copies_end_with_nul_and_hold_any_bytes,
                                           without_memory_it_stays_usable, NULL });
}
