/* The one digest of the project: BLAKE2b-256 (RFC 7693, unkeyed, 32 bytes). The library that computes it is known
 * to digest.c alone. */
#ifndef VYRE_BASE_DIGEST_H
#define VYRE_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VYRE_DIGEST_BYTES = 32 };

/* A digest under way. It owns nothing, so there is nothing to release. */
typedef struct vyre_digest {
  _Alignas(64) unsigned char state[384];
} vyre_digest;

void vyre_digest_begin(vyre_digest *d);
void vyre_digest_add(vyre_digest *d, const void *bytes, size_t length);
/* Writes VYRE_DIGEST_BYTES to |out|. The digest must be begun again before its next use. */
void vyre_digest_end(vyre_digest *d, uint8_t *out);

/* All three at once. */
void vyre_digest_of(const void *bytes, size_t length, uint8_t *out);
bool vyre_digest_equal(const uint8_t *a, const uint8_t *b);

#endif
