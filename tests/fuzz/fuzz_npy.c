/* Any bytes as a .npy file, read as every element type: an answer, and what is accepted survives being written. */
#include <stdlib.h>
#include <string.h>

/* The source itself, so that it is instrumented like the library. */
#include "../../tools/npy.c"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool holds) {
  if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  for (int type = VYRE_TYPE_NONE + 1; type < VYRE_TYPE_COUNT; type++) {
    uint8_t *data, *file, *again;
    uint64_t count, count_again;
    size_t file_length;
    char reason[NPY_REASON_BYTES] = "";
    if (!npy_decode(bytes, length, (vyre_type)type, &data, &count, reason)) {
      require(data == NULL && strstr(reason, "Fix: ") != NULL);
      continue;
    }
    require(count <= length);
    if (npy_encode((vyre_type)type, data, count, &file, &file_length)) {
      require(npy_decode(file, file_length, (vyre_type)type, &again, &count_again, reason));
      require(count_again == count && memcmp(again, data, count * vyre_type_describe((vyre_type)type)->bytes) == 0);
      free(again);
      free(file);
    }
    free(data);
  }
  return 0;
}
