/* What a program needs against what a device has. */
#include "base/diag.h"
#include "ir/validate.h"

/* Arrays instead of pointers, so that the table needs no relocation. */
typedef struct need {
  uint32_t bit;
  char name[16], use[40];
} need;

static const need needs[] = {
  { VYRE_NEED_INT64, "int64", "64-bit integer arithmetic" },
  { VYRE_NEED_FLOAT64, "float64", "f64 arithmetic" },
  { VYRE_NEED_SUBGROUP, "subgroup", "subgroup operations" },
  { VYRE_NEED_ATOMIC64, "atomic64", "64-bit atomics" },
  { VYRE_NEED_ATOMIC_F32_ADD, "atomic_f32_add", "atomic_add on f32" },
  { VYRE_NEED_ATOMIC_LOAD128, "atomic_load128", "atomic_load of 16 bytes" },
  { VYRE_NEED_SEQ_CST, "seq_cst", "the memory order seq_cst" },
  { VYRE_NEED_CLOCK, "clock", "clock_ns()" },
  { VYRE_NEED_GRID_BARRIER, "grid_barrier", "grid_barrier" },
  { VYRE_NEED_GRID_SYNC, "grid_sync", "grid_barrier inside an if or a loop" },
  { VYRE_NEED_PROGRESS, "progress", "the attribute progress(workgroups)" },
  { VYRE_NEED_ULP, "transcendental", "exp, sin, log or the like" },
  { VYRE_NEED_FMA, "fma", "fma" },
  { VYRE_NEED_TRAP, "trap", "trap" },
  { VYRE_NEED_PRINT, "print", "print" },
  { VYRE_NEED_ASYNC_COPY, "async_copy", "copy_async" },
  { VYRE_NEED_SHOULD_STOP, "should_stop", "should_stop()" },
  { VYRE_NEED_FLOAT16, "float16", "f16 or bf16" },
  { VYRE_NEED_STORAGE8, "storage8", "8-bit elements" },
  { VYRE_NEED_STORAGE16, "storage16", "16-bit elements" },
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
