/* The frame of a cache entry: pure functions on bytes, so that a fuzzer can drive the reader. */
#include <string.h>

#include "backend/cache.h"

enum { SCHEMA_KEYLESS = 1, SCHEMA = 2, AT_SCHEMA = 4, AT_KEY = 6, AT_OWNER = 38, AT_LENGTH = 70 };
_Static_assert(AT_OWNER == AT_KEY + VYRE_DIGEST_BYTES && AT_LENGTH == AT_OWNER + VYRE_DIGEST_BYTES, "no gaps");
_Static_assert(AT_LENGTH + 8 == VYRE_CACHE_HEAD_BYTES, "the data follows");

static const char magic[AT_SCHEMA + 1] = "VPC0";

static void store(uint8_t *out, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) out[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t load(const uint8_t *bytes, unsigned count) {
  uint64_t value = 0;
  for (unsigned i = 0; i < count; i++) value |= (uint64_t)bytes[i] << 8 * i;
  return value;
}

void vyre_cache_frame_wrap(const vyre_cache_id *id, const void *data, uint64_t bytes,
                           uint8_t head[VYRE_CACHE_HEAD_BYTES], uint8_t foot[VYRE_CACHE_FOOT_BYTES]) {
  memcpy(head, magic, AT_SCHEMA);
  store(head + AT_SCHEMA, SCHEMA, 2);
  memcpy(head + AT_KEY, id->key, sizeof id->key);
  memcpy(head + AT_OWNER, id->owner, sizeof id->owner);
  store(head + AT_LENGTH, bytes, 8);
  vyre_digest digest;
  vyre_digest_begin(&digest);
  vyre_digest_add(&digest, head, VYRE_CACHE_HEAD_BYTES);
  vyre_digest_add(&digest, data, bytes);
  vyre_digest_end(&digest, foot);
}

static bool has_checksum(const uint8_t *frame, uint64_t frame_bytes) {
  uint8_t digest[VYRE_DIGEST_BYTES];
  vyre_digest_of(frame, frame_bytes - VYRE_CACHE_FOOT_BYTES, digest);
  return vyre_digest_equal(digest, frame + frame_bytes - VYRE_CACHE_FOOT_BYTES);
}

const char *vyre_cache_frame_open(const uint8_t *frame, uint64_t frame_bytes, const vyre_cache_id *id,
                                  const uint8_t **data, uint64_t *bytes) {
  *data = NULL;
  *bytes = 0;
  if (frame_bytes < VYRE_CACHE_MIN_FILE) return "it is truncated";
  if (frame_bytes > VYRE_CACHE_MAX_FILE) return "it is larger than any entry";
  if (memcmp(frame, magic, AT_SCHEMA) != 0) return "it is no cache entry";
  uint64_t schema = load(frame + AT_SCHEMA, 2), head = schema == SCHEMA ? VYRE_CACHE_HEAD_BYTES : AT_KEY;
  if (schema != SCHEMA && schema != SCHEMA_KEYLESS) return "its schema is another one";
  if (frame_bytes < head + VYRE_CACHE_FOOT_BYTES) return "it is truncated";
  uint64_t length = frame_bytes - head - VYRE_CACHE_FOOT_BYTES;
  if (schema == SCHEMA && load(frame + AT_LENGTH, 8) != length) return "its length is another one";
  if (length > VYRE_CACHE_MAX_BYTES) return "it is larger than any entry";
  if (!has_checksum(frame, frame_bytes)) return "its checksum is wrong";
  if (schema == SCHEMA && memcmp(frame + AT_KEY, id->key, sizeof id->key) != 0) return "it has another key";
  if (schema == SCHEMA && memcmp(frame + AT_OWNER, id->owner, sizeof id->owner) != 0) return "it has another owner";
  *data = frame + head;
  *bytes = length;
  return NULL;
}
