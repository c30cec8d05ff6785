/* What compile gives and load takes: a frame with the plugin's build, the profile and what the code relies on, then the
 * kernel's launch part (gpu_kernel_keep), the code, and, once finalized, machine code. A digest over everything shows
 * damage; it is no signature. */
#ifndef GPU_BLOB_H
#define GPU_BLOB_H

#include "plugins/gpu/kernel.h"

enum { GPU_BLOB_FACTS = 8 };

typedef struct gpu_blob {
  char build_id[64];  /* of the plugin that compiled it */
  char profile[64];   /* that it was compiled for */
  uint8_t kernel_digest[32]; /* of the whole kernel: keys of what is made from it */
  uint64_t needs;     /* VYRE_NEED_* that it relies on */
  uint32_t numeric;   /* VYRE_NUMERIC_* that it relies on */
  uint32_t subgroup;  /* size that it was compiled for; 0 for any */
  uint64_t facts[GPU_BLOB_FACTS]; /* the plugin's own, such as what the emitter found */
  const vyre_kernel_header *kernel; /* launch part; in memory of its own if written, else inside the blob */
  const void *code;   /* in the target's form, aligned to 16 */
  uint64_t code_bytes;
  const void *machine; /* for one device; NULL before finalize */
  uint64_t machine_bytes;
} gpu_blob;

/* A digest that only has to tell inputs apart: four lanes of FNV-1a over 64-bit words. */
void gpu_digest(const void *data, uint64_t bytes, uint8_t out[32]);

/* |blob->kernel| is the whole kernel or its launch part; kernel_digest is filled in by the caller.
 * Errors: NO_MEMORY. */
vyre_status gpu_blob_write(const vyre_host *host, const gpu_blob *blob, vyre_bytes *out, vyre_error *error);
/* Reads a blob from anywhere. |*out| points into |data|, which has to be aligned to 8. |build_id| is this plugin's.
 * Errors: INVALID_FILE (cut off, damaged, of another backend), UNSUPPORTED (another build). */
vyre_status gpu_blob_read(const char *build_id, const void *data, uint64_t bytes, gpu_blob *out, vyre_error *error);

#endif
