/* The typing rules that kernel_ops.def names: each is one function from the operands' types to a result. A rule that
 * leaves the result open says which there may be. */
#include "lower/form.h"

#include <vyre/lower.h>

#include "ir/program.h"

typedef enum rule {
  RULE_NONE, RULE_VALUE, RULE_ARITH, RULE_ARITH1, RULE_INT, RULE_INT1, RULE_LOGIC, RULE_LOGIC1, RULE_SHIFT,
  RULE_FLOAT1, RULE_FSCALAR, RULE_FMA, RULE_EQUAL, RULE_ORDER, RULE_SELECT, RULE_VECTOR, RULE_EXTRACT, RULE_RESIZE,
  RULE_TO_FLOAT, RULE_TO_INT, RULE_REFLOAT, RULE_BITCAST, RULE_HALF, RULE_TO_HALF, RULE_U32, RULE_U64, RULE_BOOL,
  RULE_LENGTH, RULE_SLOT, RULE_LOAD, RULE_STORE, RULE_ATOMIC0, RULE_ATOMIC_S, RULE_ATOMIC1, RULE_ATOMIC2, RULE_VOTE,
  RULE_BALLOT, RULE_LANES, RULE_LANES_INT, RULE_SHUFFLE, RULE_COND, RULE_OPT_COND, RULE_CODE, RULE_COUNT, RULE_COPY
} rule;

#define NO FORM_NO
#define VA FORM_VA
#define OV FORM_OV
#define AC FORM_AC
#define SL FORM_SL
#define PA FORM_PA
#define BI FORM_BI
#define SP FORM_SP
#define HW FORM_HW
#define IN FORM_IN
#define LI FORM_LI
#define IM FORM_IM
#define READS FORM_READS
#define WRITES FORM_WRITES
#define ORDERS FORM_ORDERS
#define MEETS FORM_MEETS
#define LANES FORM_LANES
#define FLOW FORM_FLOW
#define ULP FORM_ULP
#define IS_VALUE(kind) ((kind) == FORM_VA || (kind) == FORM_OV)
const form_op form_ops[FORM_OPS] = {
#define X(name, number, spelling, rule, k0, k1, k2, k3, effects, doc)                     \
  [number] = { true, RULE_##rule, effects, { k0, k1, k2, k3 },                            \
               IS_VALUE(k0) | IS_VALUE(k1) << 1 | IS_VALUE(k2) << 2 | IS_VALUE(k3) << 3 },
#include <vyre/kernel_ops.def>
#undef X
};

static const vyre_kernel_op_info infos[FORM_OPS] = {
#define X(name, number, spelling, rule, k0, k1, k2, k3, effects, doc) [number] = { #name, spelling, doc },
#include <vyre/kernel_ops.def>
#undef X
};

vyre_kernel_op_info vyre_kernel_op_describe(uint32_t op) {
  return op < FORM_OPS ? infos[op] : (vyre_kernel_op_info){ NULL, NULL, NULL };
}

/* ---- Types ----------------------------------------------------------------------------------- */

static const vyre_kernel_type types[VYRE_TYPE_COUNT] = {
#define X(name, cls, bits, lanes) [VYRE_TYPE_##name] = { VYRE_KERNEL_CLASS_##cls, bits, lanes, 0 },
#include <vyre/kernel_types.def>
#undef X
};

#define IS_UINT(t) ((t) == VYRE_TYPE_U32 || (t) == VYRE_TYPE_U64)
#define IS_SINT(t) ((t) == VYRE_TYPE_I32 || (t) == VYRE_TYPE_I64)
#define IS_FLOAT(t) ((t) == VYRE_TYPE_F32 || (t) == VYRE_TYPE_F64)
const form_traits form_types[VYRE_TYPE_COUNT] = {
#define X(name, spelling, bytes, lanes, component, value, wire)                                                  \
  [VYRE_TYPE_##name] = { bytes, lanes, VYRE_TYPE_##component, VYRE_TYPE_##value, IS_UINT(VYRE_TYPE_##name),      \
                         IS_SINT(VYRE_TYPE_##name), IS_UINT(VYRE_TYPE_##component) || IS_SINT(VYRE_TYPE_##component), \
                         IS_FLOAT(VYRE_TYPE_##component) },
#include <vyre/types.def>
#undef X
};

vyre_kernel_type form_type(vyre_type type) { return types[type]; }

/* Types by class, logarithm of bits and lanes. */
enum { LOG_1, LOG_8 = 3, LOG_16, LOG_32, LOG_64, LOGS };
static const uint8_t named[VYRE_KERNEL_CLASS_BRAIN + 1][LOGS][5] = {
#define X(name, cls, bits, lanes) [VYRE_KERNEL_CLASS_##cls][LOG_##bits][lanes] = VYRE_TYPE_##name,
#include <vyre/kernel_types.def>
#undef X
};

vyre_type form_type_named(vyre_kernel_type type) {
  bool is_power = type.bits != 0 && type.bits <= 64 && (type.bits & (type.bits - 1)) == 0;
  if (!is_power || type.cls > VYRE_KERNEL_CLASS_BRAIN || type.lanes > 4 || type.zero != 0) return VYRE_TYPE_NONE;
  return (vyre_type)named[type.cls][__builtin_ctz(type.bits)][type.lanes];
}

static bool is_number(vyre_type t) { return form_is_integer(t) || form_is_float(t); }
static bool is_scalar(vyre_type t) { return types[t].lanes == 1; }
static bool is_index(vyre_type t) { return form_is_unsigned(t); }

/* ---- Rules ----------------------------------------------------------------------------------- */

/* Whether the operands may be these. */
static bool operands_fit(uint32_t op, const vyre_type t[4]) {
  vyre_type x = t[0], y = t[1], z = t[2];
  switch ((rule)form_ops[op].rule) {
    case RULE_NONE:
    case RULE_U32:
    case RULE_U64:
    case RULE_BOOL:
    case RULE_LENGTH: return true;
    case RULE_VALUE: return x != VYRE_TYPE_NONE;
    case RULE_ARITH: return is_number(x) && x == y;
    case RULE_ARITH1: return is_number(x) && (op != VYRE_KERNEL_ABS || types[x].cls != VYRE_KERNEL_CLASS_UINT);
    case RULE_INT: return form_is_integer(x) && x == y;
    case RULE_INT1: return form_is_integer(x);
    case RULE_LOGIC: return (form_is_integer(x) || x == VYRE_TYPE_BOOL) && x == y;
    case RULE_LOGIC1: return form_is_integer(x) || x == VYRE_TYPE_BOOL;
    case RULE_SHIFT:
      return form_is_integer(x) && form_component(y) == VYRE_TYPE_U32 && types[x].lanes == types[y].lanes;
    case RULE_FLOAT1: return form_is_float(x);
    case RULE_FSCALAR: return form_is_float(x) && is_scalar(x);
    case RULE_FMA: return form_is_float(x) && x == y && x == z;
    case RULE_EQUAL: return (is_number(x) || x == VYRE_TYPE_BOOL) && is_scalar(x) && x == y;
    case RULE_ORDER: return is_number(x) && is_scalar(x) && x == y;
    case RULE_SELECT: return x == VYRE_TYPE_BOOL && form_is_value_type(y) && y == z;
    case RULE_VECTOR: {
      uint32_t lanes = z == VYRE_TYPE_NONE ? 2 : 4;
      if (lanes == 2 && t[3] != VYRE_TYPE_NONE) return false;
      if (lanes == 4 && (z != x || t[3] != x)) return false;
      return x == y && ir_vector_of(x, lanes) != VYRE_TYPE_NONE;
    }
    case RULE_EXTRACT: return form_is_value_type(x) && !is_scalar(x);
    case RULE_RESIZE:
    case RULE_TO_FLOAT: return form_is_integer(x) && is_scalar(x);
    case RULE_TO_INT:
    case RULE_REFLOAT: return form_is_float(x) && is_scalar(x);
    case RULE_BITCAST: return is_number(x);
    case RULE_HALF: return x == VYRE_TYPE_U32;
    case RULE_TO_HALF: return x == VYRE_TYPE_F32;
    case RULE_SLOT: return op == VYRE_KERNEL_GET || x == y;
    case RULE_LOAD: return x != VYRE_TYPE_NONE;
    case RULE_STORE: return x != VYRE_TYPE_NONE && y == form_widened(x);
    case RULE_ATOMIC0: return (form_is_integer(x) && is_scalar(x)) || x == VYRE_TYPE_U32X4;
    case RULE_ATOMIC_S: return form_is_integer(x) && is_scalar(x) && x == y;
    case RULE_ATOMIC1:
      return x == y && ((form_is_integer(x) && is_scalar(x)) || (x == VYRE_TYPE_F32 && op == VYRE_KERNEL_ATOMIC_ADD));
    case RULE_ATOMIC2: return form_is_integer(x) && is_scalar(x) && x == y && x == z;
    case RULE_VOTE:
    case RULE_BALLOT:
    case RULE_COND: return x == VYRE_TYPE_BOOL;
    case RULE_OPT_COND: return x == VYRE_TYPE_BOOL || x == VYRE_TYPE_NONE;
    case RULE_LANES: return is_number(x) && is_scalar(x);
    case RULE_LANES_INT: return form_is_integer(x) && is_scalar(x);
    case RULE_SHUFFLE: return is_number(x) && is_scalar(x) && y == VYRE_TYPE_U32;
    case RULE_CODE: return x == VYRE_TYPE_U32;
    case RULE_COUNT: return is_index(x);
    case RULE_COPY: return x != VYRE_TYPE_NONE && x == y && z == VYRE_TYPE_U32;
  }
  return false;
}

vyre_type form_result(uint32_t op, const vyre_type t[4]) {
  switch ((rule)form_ops[op].rule) {
    case RULE_VALUE:
    case RULE_ARITH:
    case RULE_ARITH1:
    case RULE_INT:
    case RULE_INT1:
    case RULE_LOGIC:
    case RULE_LOGIC1:
    case RULE_SHIFT:
    case RULE_FLOAT1:
    case RULE_FSCALAR:
    case RULE_FMA:
    case RULE_ATOMIC0:
    case RULE_ATOMIC1:
    case RULE_ATOMIC2:
    case RULE_LANES:
    case RULE_LANES_INT:
    case RULE_SHUFFLE: return t[0];
    case RULE_SLOT: return op == VYRE_KERNEL_GET ? t[0] : VYRE_TYPE_NONE;
    case RULE_LOAD: return form_widened(t[0]);
    case RULE_SELECT: return t[1];
    case RULE_VECTOR: return ir_vector_of(t[0], t[2] == VYRE_TYPE_NONE ? 2 : 4);
    case RULE_EXTRACT: return form_component(t[0]);
    case RULE_EQUAL:
    case RULE_ORDER:
    case RULE_VOTE:
    case RULE_BOOL: return VYRE_TYPE_BOOL;
    case RULE_U32:
    case RULE_BALLOT:
    case RULE_TO_HALF: return VYRE_TYPE_U32;
    case RULE_U64: return VYRE_TYPE_U64;
    case RULE_HALF: return VYRE_TYPE_F32;
    case RULE_REFLOAT: return t[0] == VYRE_TYPE_F32 ? VYRE_TYPE_F64 : VYRE_TYPE_F32;
    case RULE_RESIZE:
      return t[0] == VYRE_TYPE_U32   ? VYRE_TYPE_U64
             : t[0] == VYRE_TYPE_U64 ? VYRE_TYPE_U32
             : t[0] == VYRE_TYPE_I32 ? VYRE_TYPE_I64
                                     : VYRE_TYPE_I32;
    default: return VYRE_TYPE_NONE;
  }
}

bool form_fits(uint32_t op, vyre_type result, const vyre_type t[4]) {
  if (!operands_fit(op, t)) return false;
  switch ((rule)form_ops[op].rule) {
    case RULE_TO_FLOAT: return form_is_float(result) && is_scalar(result);
    case RULE_TO_INT: return form_is_integer(result) && is_scalar(result);
    case RULE_BITCAST: return is_number(result) && result != t[0] && form_bytes(result) == form_bytes(t[0]);
    case RULE_LENGTH: return is_index(result);
    default: return result == form_result(op, t);
  }
}

bool form_takes_order(uint32_t op, uint32_t order) {
  switch (order) {
    case VYRE_ORDER_RELAXED: return op != VYRE_KERNEL_FENCE;
    case VYRE_ORDER_ACQUIRE: return op != VYRE_KERNEL_ATOMIC_STORE;
    case VYRE_ORDER_RELEASE: return op != VYRE_KERNEL_ATOMIC_LOAD;
    case VYRE_ORDER_ACQ_REL: return op != VYRE_KERNEL_ATOMIC_STORE && op != VYRE_KERNEL_ATOMIC_LOAD;
    case VYRE_ORDER_SEQ_CST: return true;
    default: return false;
  }
}
