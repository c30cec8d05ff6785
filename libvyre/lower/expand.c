/* What the target does not take becomes what it does take: the rows of expand.def, and vectors component by
 * component. */
#include "lower/expand.h"

#define T(type) VYRE_KERNEL_TYPE_BIT(type)
#define UNSIGNED (T(U32) | T(U64))
#define SIGNED (T(I32) | T(I64))
#define INTEGERS (UNSIGNED | SIGNED)
#define FLOATS (T(F32) | T(F64))
#define SCALARS (T(BOOL) | INTEGERS | FLOATS)
#define NARROW (T(U8) | T(U16) | T(I8) | T(I16))
#define ANY UINT64_MAX
#define SAME UINT64_MAX

typedef struct row {
  uint16_t op, with;
  uint64_t types, with_types;
  expand_builder build;
} row;

static const row rows[] = {
#define X(op, types, with, with_types, builder) \
  { VYRE_KERNEL_##op, VYRE_KERNEL_##with, types, with_types, expand_##builder },
#include "lower/expand.def"
#undef X
};

/* What a device must have for a row that brings in wider types. */
static uint64_t needs_of(const row *x) {
  if (x->with == VYRE_KERNEL_NONE || x->with_types == SAME) return 0;
  return ((x->with_types & (T(U64) | T(I64))) != 0 ? VYRE_NEED_INT64 : 0) |
         ((x->with_types & T(F64)) != 0 ? VYRE_NEED_FLOAT64 : 0);
}

static bool applies(const lower_code *c, const row *x, uint64_t first, uint64_t types) {
  if ((x->types & first) == 0 && x->types != ANY) return false;
  if ((needs_of(x) & ~c->options->needs) != 0) return false;
  return x->with == VYRE_KERNEL_NONE || lower_takes(c, x->with, x->with_types == SAME ? types : x->with_types);
}

static const row *find(const lower_code *c, const lower_request *r, uint64_t types) {
  uint64_t first = form_type_bit(r->type[0]);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].op == r->op && applies(c, &rows[i], first, types)) return &rows[i];
  return NULL;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static bool is_component_wise(const lower_request *r) {
  bool is_operator = form_ops[r->op].kinds[0] == FORM_VA && form_ops[r->op].effects == 0;
  return is_operator && form_lanes(r->result) > 1;
}

static lower_value each_component(lower_code *c, const lower_request *r) {
  lower_value components[4] = { 0 };
  uint32_t lanes = form_lanes(r->result);
  for (uint32_t k = 0; k < lanes; k++) {
    lower_value x[4] = { 0 };
    for (int i = 0; i < 4; i++)
      x[i] = form_lanes(r->type[i]) > 1 ? lower_extract(c, r->arg[i], k) : r->arg[i];
    components[k] = lower_op(c, r->op, x[0], x[1], x[2]);
  }
  return lower_vector(c, components, lanes);
}

/* ---- Refusal --------------------------------------------------------------------------------- */

static const char *type_name(vyre_type type) { return vyre_type_describe(type)->spelling; }

static lower_value refuse(lower_code *c, const lower_request *r) {
  vyre_kernel_op_info info = vyre_kernel_op_describe(r->op);
  vyre_type type = r->type[0] != VYRE_TYPE_NONE ? r->type[0] : r->result;
  lower_fail(
      c, VYRE_ERR_UNSUPPORTED, info.spelling,
      "unsupported(%s): the program needs the opcode %s%s%s, which the backend does not take, and nothing expands "
      "it. Fix: choose another backend, or write it in another way.",
      info.spelling, info.spelling, type != VYRE_TYPE_NONE ? " of " : "",
      type != VYRE_TYPE_NONE ? type_name(type) : "");
  return 0;
}

lower_value lower_expand(lower_code *c, const lower_request *r, uint64_t types) {
  const row *found = find(c, r, types);
  if (found != NULL) {
    c->needs |= needs_of(found);
    return found->build(c, r);
  }
  if (is_component_wise(r)) return each_component(c, r);
  return refuse(c, r);
}
