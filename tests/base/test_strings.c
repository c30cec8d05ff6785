/* Interned strings, and the shape of UTF-8. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "base/strings.h"
#include "base/utf8.h"

START_TEST(equal_bytes_have_one_number) {
  vyre_strings s = { 0 };
  uint32_t a = vyre_strings_intern(&s, "alpha", 5), b = vyre_strings_intern(&s, "beta", 4);
  ck_assert_uint_ne(a, b);
  ck_assert_uint_eq(vyre_strings_intern(&s, "alphabet", 5), a);
  ck_assert_uint_eq(vyre_strings_find(&s, "beta", 4), b);
  ck_assert_uint_eq(vyre_strings_find(&s, "gamma", 5), UINT32_MAX);
  ck_assert_str_eq(vyre_strings_text(&s, a), "alpha");
  vyre_strings_free(&s);
}
END_TEST

START_TEST(number_0_is_the_empty_string) {
  vyre_strings s = { 0 };
  ck_assert_uint_eq(vyre_strings_find(&s, "", 0), UINT32_MAX);
  ck_assert_uint_eq(vyre_strings_intern(&s, "x", 1), 1);
  ck_assert_uint_eq(vyre_strings_intern(&s, "", 0), 0);
  ck_assert_uint_eq(vyre_strings_intern(&s, NULL, 0), 0);
  ck_assert_str_eq(vyre_strings_text(&s, 0), "");
  vyre_strings_free(&s);
}
END_TEST

START_TEST(bytes_may_be_anything) {
  vyre_strings s = { 0 };
  uint32_t a = vyre_strings_intern(&s, "a\0b", 3), b = vyre_strings_intern(&s, "a\0c", 3);
  ck_assert_uint_ne(a, b);
  ck_assert_uint_ne(vyre_strings_intern(&s, "a", 1), a);
  ck_assert_mem_eq(vyre_strings_text(&s, a), "a\0b\0", 4);
  vyre_strings_free(&s);
}
END_TEST

START_TEST(texts_stay_where_they_are) {
  vyre_strings s = { 0 };
  const char *first = vyre_strings_text(&s, vyre_strings_intern(&s, "first", 5));
  char name[16];
  for (int i = 0; i < 20000; i++) {
    int bytes = snprintf(name, sizeof name, "n%d", i);
    ck_assert_uint_eq(vyre_strings_intern(&s, name, (uint32_t)bytes), (uint32_t)i + 2);
  }
  ck_assert_str_eq(first, "first");
  ck_assert_ptr_eq(first, vyre_strings_text(&s, 1));
  ck_assert_uint_eq(vyre_strings_find(&s, "n12345", 6), 12347);
  vyre_strings_free(&s);
}
END_TEST

START_TEST(without_memory_the_table_stays_whole) {
  for (uint64_t n = 1;; n++) {
    int64_t before = fail_malloc_live();
    vyre_strings s = { 0 };
    fail_malloc_at(n);
    uint32_t lost = 0;
    char name[16];
    for (int i = 0; i < 3000; i++) {
      int bytes = snprintf(name, sizeof name, "n%d", i);
      lost += vyre_strings_intern(&s, name, (uint32_t)bytes) == UINT32_MAX;
    }
    bool failed = fail_malloc_end();
    ck_assert_uint_eq(lost, failed);
    for (int i = 0; i < 3000; i++) {
      int bytes = snprintf(name, sizeof name, "n%d", i);
      uint32_t id = vyre_strings_intern(&s, name, (uint32_t)bytes);
      ck_assert_uint_ne(id, UINT32_MAX);
      ck_assert_str_eq(vyre_strings_text(&s, id), name);
    }
    ck_assert_uint_eq(s.table.count, 3001);
    ck_assert_str_eq(vyre_strings_text(&s, 0), "");
    vyre_strings_free(&s);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
}
END_TEST

/* Every sequence of up to four bytes from the edges of the table is judged as the definition says. */
static uint32_t by_definition(const unsigned char *p, size_t left) {
  static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  uint32_t length = p[0] < 0x80 ? 1 : (p[0] & 0xE0) == 0xC0 ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : (p[0] & 0xF8) == 0xF0 ? 4 : 0;
  if (length == 0 || length > left) return 0;
  uint32_t value = length == 1 ? p[0] : p[0] & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; i++) {
    if ((p[i] & 0xC0) != 0x80) return 0;
    value = value << 6 | (p[i] & 0x3Fu);
  }
  bool good = value >= least[length] && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
  return good ? length : 0;
}

START_TEST(utf8_is_judged_as_defined) {
  static const unsigned char edges[] = { 0x00, 0x01, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                                         0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xFF };
  enum { EDGES = sizeof edges };
  for (uint32_t i = 0; i < EDGES * EDGES * EDGES * EDGES; i++) {
    const unsigned char p[4] = { edges[i % EDGES], edges[i / EDGES % EDGES], edges[i / EDGES / EDGES % EDGES],
                                 edges[i / EDGES / EDGES / EDGES] };
    for (size_t left = 1; left <= 4; left++)
      if (vyre_utf8_length(p, left) != by_definition(p, left)) ck_abort_msg("%02X%02X%02X%02X", p[0], p[1], p[2], p[3]);
  }
  ck_assert_uint_eq(vyre_utf8_length((const unsigned char *)"", 0), 0);
}
END_TEST

START_TEST(first_fault_of_a_text_is_found) {
  char text[64];
  for (size_t at = 0; at < sizeof text; at++) {
    memset(text, 'a', sizeof text);
    text[at] = 0;
    ck_assert_uint_eq(vyre_utf8_fault(text, sizeof text), at);
    text[at] = (char)0xC3;
    ck_assert_uint_eq(vyre_utf8_fault(text, sizeof text), at);
    if (at + 1 < sizeof text) text[at + 1] = (char)0xA9;
    ck_assert_int_eq(vyre_utf8_valid(text, sizeof text), at + 1 < sizeof text);
  }
  ck_assert(vyre_utf8_valid("", 0));
}
END_TEST

int main(void) {
  return run_suite("strings", 60,
                   (const TTest *const[]){ equal_bytes_have_one_number, number_0_is_the_empty_string,
                                           bytes_may_be_anything, texts_stay_where_they_are,
                                           without_memory_the_table_stays_whole, utf8_is_judged_as_defined,
                                           first_fault_of_a_text_is_found, NULL });
}
