/* The set of indices: finding, growing, equal hashes, and the spread of the hash functions. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "base/index_set.h"

static const uint64_t KEY = 0x0123456789ABCDEF;

static uint32_t find(const vyre_index_set *set, const uint32_t *keys, uint32_t hash, uint32_t key, uint32_t *cursor) {
  *cursor = hash;
  for (;;) {
    uint32_t index = vyre_index_set_next(set, hash, cursor);
    if (index == UINT32_MAX || keys[index] == key) return index;
  }
}

static void insert(vyre_index_set *set, const uint32_t *keys, uint32_t index, uint32_t hash) {
  uint32_t cursor;
  ck_assert(vyre_index_set_reserve(set));
  ck_assert_uint_eq(find(set, keys, hash, keys[index], &cursor), UINT32_MAX);
  vyre_index_set_insert(set, hash, cursor, index);
}

START_TEST(what_was_put_in_is_found) {
  enum { COUNT = 50000 };
  uint32_t *keys = malloc(COUNT * sizeof *keys), cursor;
  vyre_index_set set = { 0 };
  for (uint32_t i = 0; i < COUNT; i++) {
    keys[i] = i * 2654435761u;
    insert(&set, keys, i, vyre_hash_u64(keys[i]));
  }
  ck_assert_uint_eq(set.count, COUNT);
  for (uint32_t i = 0; i < COUNT; i++) ck_assert_uint_eq(find(&set, keys, vyre_hash_u64(keys[i]), keys[i], &cursor), i);
  ck_assert_uint_eq(find(&set, keys, vyre_hash_u64(1), 1, &cursor), UINT32_MAX);
  vyre_index_set_free(&set);
  ck_assert_ptr_null(set.slots);
  free(keys);
}
END_TEST

START_TEST(equal_hashes_are_told_apart_by_key) {
  uint32_t keys[200], cursor;
  vyre_index_set set = { 0 };
  for (uint32_t i = 0; i < 200; i++) {
    keys[i] = i;
    insert(&set, keys, i, i % 3 == 0 ? 0 : UINT32_MAX);
  }
  for (uint32_t i = 0; i < 200; i++)
    ck_assert_uint_eq(find(&set, keys, i % 3 == 0 ? 0 : UINT32_MAX, i, &cursor), i);
  ck_assert_uint_eq(find(&set, keys, 0, 1000, &cursor), UINT32_MAX);
  vyre_index_set_free(&set);
}
END_TEST

START_TEST(failed_growth_keeps_the_set) {
  uint32_t keys[48], cursor;
  vyre_index_set set = { 0 };
  for (uint32_t i = 0; i < 48; i++) {
    keys[i] = i;
    insert(&set, keys, i, vyre_hash_u64(i));
  }
  fail_malloc_at(1);
  bool grown = vyre_index_set_reserve(&set);
  bool failed = fail_malloc_end();
  ck_assert(grown != failed);
  for (uint32_t i = 0; i < 48; i++) ck_assert_uint_eq(find(&set, keys, vyre_hash_u64(i), i, &cursor), i);
  vyre_index_set_free(&set);
}
END_TEST

START_TEST(expected_entries_need_no_growth) {
  uint32_t keys[1000], cursor;
  vyre_index_set set = { 0 };
  ck_assert(vyre_index_set_expect(&set, 1000));
  uint64_t *slots = set.slots;
  for (uint32_t i = 0; i < 1000; i++) {
    keys[i] = i;
    insert(&set, keys, i, vyre_hash_u64(i));
  }
  ck_assert_ptr_eq(set.slots, slots);
  ck_assert(vyre_index_set_expect(&set, 10)); /* fewer than there are: nothing changes */
  ck_assert_ptr_eq(set.slots, slots);
  ck_assert(vyre_index_set_expect(&set, 5000));
  for (uint32_t i = 0; i < 1000; i++) ck_assert_uint_eq(find(&set, keys, vyre_hash_u64(i), i, &cursor), i);
  fail_malloc_at(1);
  bool grown = vyre_index_set_expect(&set, 100000);
  bool failed = fail_malloc_end();
  ck_assert(grown != failed);
  for (uint32_t i = 0; i < 1000; i++) ck_assert_uint_eq(find(&set, keys, vyre_hash_u64(i), i, &cursor), i);
  vyre_index_set_free(&set);
}
END_TEST

START_TEST(hash_of_bytes_sees_every_byte_and_the_length) {
  unsigned char text[40] = { 0 };
  for (uint32_t length = 0; length < 39; length++) {
    uint32_t plain = vyre_hash_bytes(KEY, text, length);
    ck_assert_uint_ne(plain, vyre_hash_bytes(KEY, text, length + 1));
    for (uint32_t i = 0; i < length; i++) {
      text[i] ^= 0x40;
      ck_assert_uint_ne(vyre_hash_bytes(KEY, text, length), plain);
      text[i] ^= 0x40;
    }
  }
}
END_TEST

/* Texts that collide under one key are apart under others. */
START_TEST(collisions_depend_on_the_key) {
  enum { TEXTS = 4096, BITS = 12 };
  const uint64_t keys[2] = { 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9 };
  uint32_t first[1 << BITS], pairs = 0, again = 0;
  memset(first, 0xFF, sizeof first);
  for (uint32_t i = 0; i < TEXTS; i++) {
    uint32_t *other = &first[vyre_hash_bytes(keys[0], &i, sizeof i) >> (32 - BITS)];
    if (*other != UINT32_MAX) {
      pairs++;
      uint32_t x = vyre_hash_bytes(keys[1], &i, sizeof i), y = vyre_hash_bytes(keys[1], other, sizeof *other);
      again += x >> (32 - BITS) == y >> (32 - BITS);
    }
    *other = i;
  }
  ck_assert_uint_gt(pairs, TEXTS / 8);
  ck_assert_uint_lt(again, 16);
}
END_TEST

START_TEST(keys_are_many_and_the_same_within_a_process) {
  uint64_t keys[8], same[8];
  vyre_hash_keys(keys, 8);
  vyre_hash_keys(same, 8);
  ck_assert_mem_eq(keys, same, sizeof keys);
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < i; j++) ck_assert_uint_ne(keys[i], keys[j]);
}
END_TEST

START_TEST(low_bits_of_the_hash_spread) {
  static uint32_t buckets[1024];
  for (uint32_t i = 0; i < 1024 * 64; i++) buckets[vyre_hash_u64((uint64_t)i << 20) & 1023]++;
  for (int i = 0; i < 1024; i++) {
    ck_assert_uint_gt(buckets[i], 20);
    ck_assert_uint_lt(buckets[i], 120);
  }
}
END_TEST

int main(void) {
  return run_suite("index_set", 60,
                   (const TTest *const[]){ what_was_put_in_is_found, equal_hashes_are_told_apart_by_key,
                                           failed_growth_keeps_the_set, expected_entries_need_no_growth,
                                           hash_of_bytes_sees_every_byte_and_the_length,
                                           collisions_depend_on_the_key,
                                           keys_are_many_and_the_same_within_a_process, low_bits_of_the_hash_spread,
                                           NULL });
}
