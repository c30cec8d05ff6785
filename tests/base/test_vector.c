/* Vectors and the text writer: growth, its limits, and growth that fails. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "base/vector.h"
#include "base/writer.h"

typedef VYRE_VECTOR(uint32_t) numbers;

START_TEST(elements_stay_while_it_grows) {
  numbers v = { 0 };
  for (uint32_t i = 0; i < 100000; i++) ck_assert(vyre_vector_push(&v, i * 3));
  ck_assert_uint_eq(v.count, 100000);
  for (uint32_t i = 0; i < v.count; i++) ck_assert_uint_eq(v.data[i], i * 3);
  vyre_vector_free(&v);
  ck_assert_ptr_null(v.data);
  ck_assert_uint_eq(v.capacity, 0);
}
END_TEST

START_TEST(room_is_made_at_once) {
  numbers v = { 0 };
  ck_assert(vyre_vector_reserve(&v, 1000));
  uint32_t *data = v.data;
  for (uint32_t i = 0; i < 1000; i++) ck_assert(vyre_vector_push(&v, i));
  ck_assert_ptr_eq(v.data, data);
  vyre_vector_free(&v);
}
END_TEST

START_TEST(more_than_32_bits_of_elements_are_refused) {
  char *data = NULL;
  uint32_t capacity = 0;
  ck_assert(!vyre_vector_grow((void **)&data, UINT32_MAX, &capacity, 1, 1));
  ck_assert(!vyre_vector_grow((void **)&data, 0, &capacity, 2, SIZE_MAX / 2 + 1));
  ck_assert_ptr_null(data);
  ck_assert_uint_eq(capacity, 0);
}
END_TEST

START_TEST(failed_growth_changes_nothing) {
  numbers v = { 0 };
  for (uint32_t i = 0; i < 8; i++) ck_assert(vyre_vector_push(&v, i));
  fail_malloc_at(1);
  bool pushed = vyre_vector_push(&v, 8);
  bool failed = fail_malloc_end();
  ck_assert(pushed != failed);
  ck_assert_uint_eq(v.count, failed ? 8 : 9);
  ck_assert_uint_eq(v.data[7], 7);
  vyre_vector_free(&v);
}
END_TEST

START_TEST(trimming_keeps_the_elements) {
  numbers v = { 0 };
  ck_assert(vyre_vector_trim(&v)); /* nothing to trim */
  ck_assert_ptr_null(v.data);
  for (uint32_t i = 0; i < 1000; i++) ck_assert(vyre_vector_push(&v, i));
  fail_malloc_at(1);
  bool trimmed = vyre_vector_trim(&v), failed = fail_malloc_end();
  ck_assert(trimmed != failed);
  ck_assert_uint_eq(v.capacity, failed ? 1024 : 1000);
  ck_assert(vyre_vector_trim(&v));
  ck_assert_uint_eq(v.capacity, 1000);
  ck_assert_uint_eq(v.count, 1000);
  for (uint32_t i = 0; i < 1000; i++) ck_assert_uint_eq(v.data[i], i);
  ck_assert(vyre_vector_push(&v, 1000));
  vyre_vector_free(&v);
}
END_TEST

START_TEST(writer_joins_what_it_is_given) {
  vyre_writer w = { 0 };
  for (int i = 0; i < 500; i++) vyre_write(&w, "%d,", i);
  vyre_write_text(&w, "end");
  vyre_write_repeat(&w, '!', 3);
  ck_assert_uint_eq(w.count, strlen(w.data));
  char *text = vyre_writer_take(&w);
  ck_assert_int_eq(strncmp(text, "0,1,2,3,", 8), 0);
  ck_assert_str_eq(text + strlen(text) - 10, "499,end!!!");
  ck_assert_ptr_null(w.data);
  free(text);
}
END_TEST

START_TEST(writer_escapes_what_would_steer_a_terminal) {
  static const char hostile[] = "a\tb\x1b[31m\x7f\xc2\x9b\xe2\x80\xae\xff\xe4\xbd\xa0\xc3";
  vyre_writer w = { 0 };
  vyre_write_escaped(&w, hostile, sizeof hostile - 1);
  ck_assert_str_eq(w.data, "a\tb\\x1B[31m\\x7F\\u{009B}\\u{202E}\\xFF\xe4\xbd\xa0\\xC3");
  vyre_writer_free(&w);
}
END_TEST

START_TEST(empty_writer_gives_an_empty_text) {
  vyre_writer w = { 0 };
  char *text = vyre_writer_take(&w);
  ck_assert_str_eq(text, "");
  free(text);
}
END_TEST

START_TEST(writer_remembers_that_memory_ran_out) {
  for (uint64_t n = 1;; n++) {
    int64_t before = fail_malloc_live();
    vyre_writer w = { 0 };
    fail_malloc_at(n);
    for (int i = 0; i < 200; i++) vyre_write_text(&w, "0123456789");
    char *text = vyre_writer_take(&w);
    bool failed = fail_malloc_end();
    ck_assert_int_eq(text == NULL, failed);
    if (text != NULL) ck_assert_uint_eq(strlen(text), 2000);
    free(text);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
}
END_TEST

int main(void) {
  return run_suite("vector", 60,
                   (const TTest *const[]){ elements_stay_while_it_grows, room_is_made_at_once,
                                           more_than_32_bits_of_elements_are_refused, failed_growth_changes_nothing,
                                           trimming_keeps_the_elements,
                                           writer_joins_what_it_is_given, writer_escapes_what_would_steer_a_terminal,
                                           empty_writer_gives_an_empty_text, writer_remembers_that_memory_ran_out,
                                           NULL });
}
