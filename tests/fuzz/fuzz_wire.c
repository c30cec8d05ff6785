/* Any bytes as a program: as they are, and under a header that fits them. They are refused with a fix, or they are
 * exactly what encode writes for the program that they were read as. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/wire.h>

#include "base/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds) {
  if (!holds) abort();
}

static void check_accepted(vyre_program *p, const uint8_t *data, size_t size) {
  uint8_t *own;
  size_t length;
  vyre_program *again;
  require(vyre_wire_encode(p, &own, &length) == VYRE_OK);
  require(length == size && memcmp(own, data, size) == 0);
  require(vyre_wire_decode(own, length, NULL, &again, NULL) == VYRE_OK);
  require(vyre_program_equal(p, again));
  vyre_program_release(again);
  free(own);
}

static void decode(const uint8_t *data, size_t size) {
  vyre_program *p;
  vyre_diagnostics *d;
  vyre_error error = VYRE_ERROR_INIT;
  if (vyre_diagnostics_create("fuzz", NULL, 0, &d) != VYRE_OK) return;
  vyre_status status = vyre_wire_decode(data, size, d, &p, &error);
  if (status == VYRE_OK) {
    check_accepted(p, data, size);
    vyre_program_release(p);
  } else {
    require(p == NULL && strstr(error.text, "Fix: ") != NULL);
    require(status == VYRE_ERR_INVALID_WIRE || status == VYRE_ERR_INVALID_PROGRAM || status == VYRE_ERR_LIMIT);
    if (status == VYRE_ERR_INVALID_PROGRAM) require(vyre_diagnostics_errors(d) > 0);
  }
  vyre_diagnostics_destroy(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  decode(data, size);
  if (size < VYRE_WIRE_HEADER_BYTES) return 0;
  uint8_t *copy = malloc(size);
  if (copy == NULL) return 0;
  memcpy(copy, data, size);
  memcpy(copy, "VIR0\1\0\4", 8);
  vyre_digest_of(copy + VYRE_WIRE_HEADER_BYTES, size - VYRE_WIRE_HEADER_BYTES, copy + 8);
  decode(copy, size);
  free(copy);
  return 0;
}
