/* The frame of a compiled program. */
#include "plugins/gpu/blob.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = "VYGPU_1";

/* In front of everything; offsets are from its start. */
typedef struct frame {
  char magic[8];
  char backend[32];
  char build_id[64];
  char profile[64];
  uint8_t kernel_digest[32];
  uint8_t digest[32]; /* of the whole blob, this member being 0 */
  uint64_t bytes;
  uint64_t needs;
  uint32_t numeric, subgroup;
  uint64_t facts[GPU_BLOB_FACTS];
  uint64_t kernel_offset, kernel_bytes;
  uint64_t code_offset, code_bytes;
  uint64_t machine_offset, machine_bytes;
} frame;

/* ---- Digest ---------------------------------------------------------------------------------- */

enum { LANES = 4 };

static void hash_on(uint64_t lanes[LANES], const void *data, uint64_t bytes) {
  const uint8_t *from = data;
  for (uint64_t at = 0; at < bytes; at += LANES * sizeof(uint64_t)) {
    uint64_t words[LANES] = { 0 };
    uint64_t left = bytes - at;
    memcpy(words, from + at, left < sizeof words ? left : sizeof words);
    for (int i = 0; i < LANES; i++) {
      lanes[i] = (lanes[i] ^ words[i]) * 0x100000001B3u;
      lanes[i] ^= lanes[i] >> 32;
    }
  }
}

static void hash_end(uint64_t lanes[LANES], uint64_t bytes, uint8_t out[32]) {
  for (int round = 0; round < 2 * LANES; round++) {
    int i = round % LANES;
    lanes[i] = (lanes[i] ^ lanes[(i + 1) % LANES] ^ bytes) * 0x9E3779B97F4A7C15u;
    lanes[i] ^= lanes[i] >> 29;
  }
  memcpy(out, lanes, 32);
}

static void hash_begin(uint64_t lanes[LANES]) {
  for (int i = 0; i < LANES; i++) lanes[i] = 0xCBF29CE484222325u + (uint64_t)i;
}

void gpu_digest(const void *data, uint64_t bytes, uint8_t out[32]) {
  uint64_t lanes[LANES];
  hash_begin(lanes);
  hash_on(lanes, data, bytes);
  hash_end(lanes, bytes, out);
}

static void digest_of(const frame *f, const uint8_t *blob, uint8_t out[32]) {
  uint64_t lanes[LANES];
  frame own = *f;
  memset(own.digest, 0, sizeof own.digest);
  hash_begin(lanes);
  hash_on(lanes, &own, sizeof own);
  hash_on(lanes, blob + sizeof own, f->bytes - sizeof own);
  hash_end(lanes, f->bytes, out);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_text(char *to, size_t room, const char *text) {
  size_t length = strnlen(text, room - 1);
  memcpy(to, text, length);
}

static void put_part(gpu_bytes *b, const void *data, uint64_t bytes, uint64_t *offset, uint64_t *length) {
  gpu_bytes_align(b, 16);
  *offset = b->count;
  *length = bytes;
  gpu_bytes_add(b, data, bytes);
}

static vyre_status hand_over(const vyre_host *host, const gpu_bytes *b, vyre_bytes *out, vyre_error *error) {
  void *data = b->failed ? NULL : host->alloc(host->ctx, b->count, 16);
  if (data == NULL) return gpu_no_memory(error);
  memcpy(data, b->data, b->count);
  out->data = data;
  out->length = b->count;
  return VYRE_OK;
}

vyre_status gpu_blob_write(const vyre_host *host, const gpu_blob *blob, vyre_bytes *out, vyre_error *error) {
  frame f = { .needs = blob->needs, .numeric = blob->numeric, .subgroup = blob->subgroup };
  gpu_bytes b = { 0 };
  out->data = NULL;
  out->length = 0;
  memcpy(f.magic, magic, sizeof magic);
  put_text(f.backend, sizeof f.backend, gpu_name);
  put_text(f.build_id, sizeof f.build_id, blob->build_id);
  put_text(f.profile, sizeof f.profile, blob->profile);
  memcpy(f.kernel_digest, blob->kernel_digest, sizeof f.kernel_digest);
  memcpy(f.facts, blob->facts, sizeof f.facts);
  gpu_bytes_add(&b, &f, sizeof f);
  gpu_bytes_align(&b, 16);
  f.kernel_offset = b.count;
  gpu_kernel_keep(blob->kernel, &b);
  f.kernel_bytes = b.count - f.kernel_offset;
  put_part(&b, blob->code, blob->code_bytes, &f.code_offset, &f.code_bytes);
  put_part(&b, blob->machine, blob->machine_bytes, &f.machine_offset, &f.machine_bytes);
  f.bytes = b.count;
  if (!b.failed) {
    digest_of(&f, b.data, f.digest);
    memcpy(b.data, &f, sizeof f);
  }
  vyre_status status = hand_over(host, &b, out, error);
  gpu_bytes_free(&b);
  return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static vyre_status bad(vyre_error *error, const char *what) {
  return gpu_fail(error, VYRE_ERR_INVALID_FILE, gpu_name, "the executable %s. Fix: compile the program again", what);
}

static bool part_fits(const frame *f, uint64_t offset, uint64_t bytes) {
  return offset % 16 == 0 && offset >= sizeof *f && offset <= f->bytes && bytes <= f->bytes - offset;
}

static bool texts_end(const frame *f) {
  return f->backend[sizeof f->backend - 1] == 0 && f->build_id[sizeof f->build_id - 1] == 0 &&
         f->profile[sizeof f->profile - 1] == 0;
}

static vyre_status read_frame(const char *build_id, const void *data, uint64_t bytes, frame *f, vyre_error *error) {
  uint8_t digest[32];
  if (data == NULL || bytes < sizeof *f || (uintptr_t)data % 8 != 0) return bad(error, "is cut off");
  memcpy(f, data, sizeof *f);
  if (memcmp(f->magic, magic, sizeof magic) != 0 || !texts_end(f) || strcmp(f->backend, gpu_name) != 0)
    return bad(error, "was not compiled by this backend");
  if (f->bytes != bytes) return bad(error, "has another length than it says");
  if (strcmp(f->build_id, build_id) != 0)
    return gpu_fail(error, VYRE_ERR_UNSUPPORTED, gpu_name,
                    "the executable was compiled by build %s, this is build %s. Fix: compile it again", f->build_id,
                    build_id);
  digest_of(f, data, digest);
  if (memcmp(digest, f->digest, sizeof digest) != 0) return bad(error, "is damaged");
  return part_fits(f, f->kernel_offset, f->kernel_bytes) && part_fits(f, f->code_offset, f->code_bytes) &&
             part_fits(f, f->machine_offset, f->machine_bytes)
           ? VYRE_OK
           : bad(error, "is damaged");
}

vyre_status gpu_blob_read(const char *build_id, const void *data, uint64_t bytes, gpu_blob *out, vyre_error *error) {
  frame f;
  *out = (gpu_blob){ 0 };
  vyre_status status = read_frame(build_id, data, bytes, &f, error);
  if (status != VYRE_OK) return status;
  const uint8_t *blob = data;
  const vyre_kernel_header *kernel;
  status = gpu_kernel_open(blob + f.kernel_offset, f.kernel_bytes, &kernel, error);
  if (status != VYRE_OK) return status;
  memcpy(out->build_id, f.build_id, sizeof out->build_id);
  memcpy(out->profile, f.profile, sizeof out->profile);
  memcpy(out->kernel_digest, f.kernel_digest, sizeof out->kernel_digest);
  memcpy(out->facts, f.facts, sizeof out->facts);
  out->needs = f.needs;
  out->numeric = f.numeric;
  out->subgroup = f.subgroup;
  out->kernel = kernel;
  out->code = blob + f.code_offset;
  out->code_bytes = f.code_bytes;
  out->machine = f.machine_bytes != 0 ? blob + f.machine_offset : NULL;
  out->machine_bytes = f.machine_bytes;
  return VYRE_OK;
}
