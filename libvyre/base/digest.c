/* BLAKE2b-256 by libsodium. */
#include "base/digest.h"

#include <sodium.h>
#include <string.h>

_Static_assert(sizeof(crypto_generichash_state) <= sizeof(vyre_digest), "the state fits");
_Static_assert(_Alignof(crypto_generichash_state) <= _Alignof(vyre_digest), "and is aligned");

static crypto_generichash_state *state_of(vyre_digest *d) { return (crypto_generichash_state *)(void *)d->state; }

void vyre_digest_begin(vyre_digest *d) {
  /* Picks the fastest code for this processor, once; should that fail, the portable code stays in place. */
  int picked = sodium_init();
  (void)picked;
  crypto_generichash_init(state_of(d), NULL, 0, VYRE_DIGEST_BYTES);
}

void vyre_digest_add(vyre_digest *d, const void *bytes, size_t length) {
  if (length > 0) crypto_generichash_update(state_of(d), bytes, length);
}

void vyre_digest_end(vyre_digest *d, uint8_t *out) { crypto_generichash_final(state_of(d), out, VYRE_DIGEST_BYTES); }

void vyre_digest_of(const void *bytes, size_t length, uint8_t *out) {
  vyre_digest d;
  vyre_digest_begin(&d);
  vyre_digest_add(&d, bytes, length);
  vyre_digest_end(&d, out);
}

bool vyre_digest_equal(const uint8_t *a, const uint8_t *b) { return memcmp(a, b, VYRE_DIGEST_BYTES) == 0; }
