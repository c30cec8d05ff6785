/* Any bytes as an entry of the disk cache: as they are, and with key, length and checksum made to fit. They are refused
 * with a reason, or the data lies within them and is what would be written again as these very bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds) {
  if (!holds) abort();
}

static vyre_cache_id wanted(void) {
  vyre_cache_id id;
  for (uint8_t i = 0; i < VYRE_DIGEST_BYTES; i++) {
    id.key[i] = i;
    id.owner[i] = (uint8_t)(0x80 + i);
  }
  return id;
}

static void open_frame(const uint8_t *frame, size_t size) {
  const vyre_cache_id id = wanted();
  const uint8_t *data;
  uint64_t bytes;
  const char *why = vyre_cache_frame_open(frame, size, &id, &data, &bytes);
  if (why != NULL) {
    require(data == NULL && bytes == 0);
    return;
  }
  require(data > frame && data - frame + bytes + VYRE_CACHE_FOOT_BYTES == size);
  if (frame[4] == 1) return; /* is not written any more */
  uint8_t head[VYRE_CACHE_HEAD_BYTES], foot[VYRE_CACHE_FOOT_BYTES];
  vyre_cache_frame_wrap(&id, data, bytes, head, foot);
  require(memcmp(frame, head, sizeof head) == 0 && memcmp(data + bytes, foot, sizeof foot) == 0);
}

static void fit_checksum(uint8_t *frame, size_t size) {
  vyre_digest_of(frame, size - VYRE_CACHE_FOOT_BYTES, frame + size - VYRE_CACHE_FOOT_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  open_frame(data, size);
  uint8_t *copy = size >= VYRE_CACHE_FOOT_BYTES ? malloc(size) : NULL;
  if (copy == NULL) return 0;
  memcpy(copy, data, size);
  fit_checksum(copy, size);
  open_frame(copy, size);
  if (size >= VYRE_CACHE_HEAD_BYTES + VYRE_CACHE_FOOT_BYTES) {
    const vyre_cache_id id = wanted();
    vyre_cache_frame_wrap(&id, copy + VYRE_CACHE_HEAD_BYTES, size - VYRE_CACHE_HEAD_BYTES - VYRE_CACHE_FOOT_BYTES, copy,
                          copy + size - VYRE_CACHE_FOOT_BYTES);
    open_frame(copy, size);
    const uint8_t *inside;
    uint64_t bytes;
    require(vyre_cache_frame_open(copy, size, &id, &inside, &bytes) == NULL);
  }
  free(copy);
  return 0;
}
