/* Checks of the file and its descriptor. */
#include "checks.h"
#include "raw.h"

void check_descriptor(kit *k) {
  raw r;
  raw_load(k, &r);
}
