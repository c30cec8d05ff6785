/* A transcendental is taken native where the target's documented bound is within the budget, else from a builder. */
#include "lower/transcend.h"

enum form { F32, F64, PAIR };

typedef struct row {
  uint16_t op;
  uint8_t type; /* vyre_type */
  uint8_t form; /* enum form */
  uint32_t ulp;
  transcend_builder build;
} row;

static const row rows[] = {
#define X(op, type, ulp, form, builder) { VYRE_KERNEL_##op, VYRE_TYPE_##type, form, ulp, builder },
#include "lower/transcend.def"
#undef X
};

/* Without a list of opcodes the target takes all of the form, within any budget. */
static bool is_native(const lower_code *c, uint32_t op, vyre_type type) {
  const vyre_lower_options *o = c->options;
  if (o->opcodes == NULL) return true;
  for (uint64_t i = 0; i < o->opcode_count; i++)
    if (o->opcodes[i].opcode == op && o->opcodes[i].ulp <= o->ulp_budget &&
        (o->opcodes[i].types & form_type_bit(type)) != 0)
      return true;
  return false;
}

/* Capabilities of a device. */
static uint64_t needs_of(uint8_t form) {
  if (form == PAIR) return 0;
  return form == F64 ? VYRE_NEED_FLOAT64 | VYRE_NEED_FMA : VYRE_NEED_FMA;
}

/* Whether the target computes in f32 or f64 what a form asks for. */
static bool has_float(const lower_code *c, vyre_type type) {
  static const uint16_t wanted[] = { VYRE_KERNEL_ADD,  VYRE_KERNEL_SUB,    VYRE_KERNEL_MUL, VYRE_KERNEL_DIV,
                                     VYRE_KERNEL_FMA,  VYRE_KERNEL_SQRT,   VYRE_KERNEL_LT,  VYRE_KERNEL_SELECT,
                                     VYRE_KERNEL_TO_INT, VYRE_KERNEL_TO_FLOAT };
  uint64_t needs = needs_of(type == VYRE_TYPE_F64 ? F64 : F32);
  if ((c->options->needs & needs) != needs) return false;
  if (type == VYRE_TYPE_F64 && !lower_takes(c, VYRE_KERNEL_REFLOAT, form_type_bit(type))) return false;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (!lower_takes(c, wanted[i], form_type_bit(type))) return false;
  return true;
}

static const row *find(const lower_code *c, uint32_t op, vyre_type type) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const row *r = &rows[i];
    if (r->op != op || r->type != type || r->ulp > c->options->ulp_budget) continue;
    if (r->form == PAIR || has_float(c, r->form == F64 ? VYRE_TYPE_F64 : VYRE_TYPE_F32)) return r;
  }
  return NULL;
}

lower_value lower_transcend(lower_code *c, const lower_request *r) {
  const char *name = vyre_kernel_op_describe(r->op).spelling, *type = vyre_type_describe(r->result)->spelling;
  if ((c->options->compile_flags & VYRE_COMPILE_ULP) == 0) {
    lower_fail(c, VYRE_ERR_INVALID_ARGUMENT, name,
               "%s needs ulp_budget, which is not set. Fix: give the program the attribute ulp(n), or the option "
               "ulp_budget (--ulp n); 0 asks for correct rounding.",
               name);
    return 0;
  }
  if (is_native(c, r->op, r->result)) return lower_append(c, r);
  const row *found = find(c, r->op, r->result);
  if (found != NULL) {
    c->needs |= needs_of(found->form);
    return found->build(c, r->arg[0]);
  }
  lower_fail(c, VYRE_ERR_UNSUPPORTED, name,
             "unsupported(%s): %s of %s within %u units in the last place is wanted (ulp_budget); the backend does not "
             "offer it and there is no expansion of that exactness. Fix: allow a larger error, or choose another "
             "backend.",
             name, name, type, c->options->ulp_budget);
  return 0;
}
