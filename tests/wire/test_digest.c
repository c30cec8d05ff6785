/* BLAKE2b-256: published values, and pieces against the whole. */
#include <stdio.h>

#include "base/digest.h"
#include "kit.h"

static void check_hex(const uint8_t *digest, const char *hex) {
  char text[2 * VYRE_DIGEST_BYTES + 1];
  for (int i = 0; i < VYRE_DIGEST_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
  ck_assert_str_eq(text, hex);
}

START_TEST(known_values) {
  uint8_t digest[VYRE_DIGEST_BYTES];
  vyre_digest_of("", 0, digest);
  check_hex(digest, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  vyre_digest_of("abc", 3, digest);
  check_hex(digest, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}
END_TEST

START_TEST(pieces_are_the_whole) {
  uint8_t data[1000], whole[VYRE_DIGEST_BYTES], parts[VYRE_DIGEST_BYTES];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7);
  vyre_digest_of(data, sizeof data, whole);
  for (size_t piece = 1; piece < sizeof data; piece = piece * 2 + 1) {
    vyre_digest d;
    vyre_digest_begin(&d);
    for (size_t at = 0; at < sizeof data; at += piece)
      vyre_digest_add(&d, data + at, at + piece < sizeof data ? piece : sizeof data - at);
    vyre_digest_add(&d, NULL, 0);
    vyre_digest_end(&d, parts);
    ck_assert(vyre_digest_equal(whole, parts));
  }
  parts[31] ^= 1;
  ck_assert(!vyre_digest_equal(whole, parts));
}
END_TEST

int main(void) {
  const TTest *tests[] = { known_values, pieces_are_the_whole, NULL };
  return run_suite("digest", 10, tests);
}
