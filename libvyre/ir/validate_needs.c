/* What a program needs against what a device has. */
#include "base/diag.h"
#include "ir/validate.h"

/* Arrays instead of pointers, so that the table needs no relocation. */
typedef struct need {
  uint32_t bit;
  char name[16], use[40];
} need;

static const need needs[] = {
#define X(name, bit, spelling, use) { VYRE_NEED_##name, spelling, use },
#include <vyre/needs.def>
#undef X
};

static const need *find(uint32_t bit) {
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    if (needs[i].bit == bit) return &needs[i];
  return NULL;
}

const char *ir_need_name(uint32_t bit) {
  const need *n = find(bit);
  return n != NULL ? n->name : NULL;
}

const char *ir_need_use(uint32_t bit) {
  const need *n = find(bit);
  return n != NULL ? n->use : NULL;
}

uint32_t ir_check_needs(const vyre_program *p, uint32_t available, vyre_diagnostics *d) {
  uint32_t missing = p->info.needs & ~available;
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
    if ((missing & needs[i].bit) == 0) continue;
    vyre_code code = needs[i].bit == VYRE_NEED_SUBGROUP ? VYRE_V41 : VYRE_V56;
    vyre_diag(d, code, VYRE_NO_POSITION, "it uses %s, which needs the capability %s", needs[i].use, needs[i].name);
  }
  return missing;
}
