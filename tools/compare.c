/* Bits are compared, since results agree bit by bit; only the payload of a NaN is free. */
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bits.h"
#include "number.h"
#include "output.h"

static void complain(const char *buffer, uint64_t index, uint32_t lanes, const char *name, vyre_type type,
                     const uint8_t *found, const char *oracle_name, const uint8_t *wanted) {
  uint32_t size = vyre_type_describe(type)->bytes;
  char found_text[NUMBER_TEXT_BYTES], wanted_text[NUMBER_TEXT_BYTES], component[8] = "";
  number_print(type, found, found_text);
  number_print(type, wanted, wanted_text);
  if (lanes > 1) {
    component[0] = '.';
    component[1] = "xyzw"[index % lanes];
  }
  int digits = (int)(2 * size);
  output_complain("run: --verify: buffer %s differs first at [%" PRIu64 "]%s: %s gives %s (0x%0*" PRIX64
                  "), %s gives %s (0x%0*" PRIX64 ")",
                  buffer, index / lanes, component, name, found_text, digits, bits_at(found, size), oracle_name,
                  wanted_text, digits, bits_at(wanted, size));
}

bool compare_data(const char *buffer, const char *name, const data *found, const char *oracle_name,
                  const data *wanted) {
  if (memcmp(found->bytes, wanted->bytes, data_bytes(found)) == 0) return true;
  const vyre_type_info *info = vyre_type_describe(found->element);
  uint32_t size = vyre_type_describe(info->component)->bytes;
  for (uint64_t i = 0; i < found->count * info->lanes; i++) {
    const uint8_t *a = found->bytes + i * size, *b = wanted->bytes + i * size;
    uint64_t a_bits = bits_at(a, size), b_bits = bits_at(b, size);
    if (a_bits == b_bits || (bits_are_nan(info->component, a_bits) && bits_are_nan(info->component, b_bits))) continue;
    complain(buffer, i, info->lanes, name, info->component, a, oracle_name, b);
    return false;
  }
  return true;
}
