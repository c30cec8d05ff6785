/* The typing rules that ops.def names. Each rule is one function: from the operands' types to the type of the
 * result, or to the code of the rule that is broken. */
#include "ir/check.h"

typedef struct operands {
  vyre_type x, y, z;
} operands;

static bool is_number(vyre_type t) { return ir_is_integer(t) || ir_is_float(t); }
static bool is_scalar(vyre_type t) { return t != VYRE_TYPE_NONE && !ir_is_vector(t); }

static vyre_type broken(vyre_code *code, vyre_code rule) {
  *code = rule;
  return VYRE_TYPE_NONE;
}

static vyre_type check_arith(operands o, vyre_code *code) {
  if (o.x == VYRE_TYPE_BOOL || o.y == VYRE_TYPE_BOOL) return broken(code, VYRE_V87);
  return o.x == o.y && is_number(o.x) ? o.x : broken(code, VYRE_V88);
}

static vyre_type check_integer(operands o, vyre_code *code) {
  if (!ir_is_integer(o.x) || !ir_is_integer(o.y)) return broken(code, VYRE_V89);
  return o.x == o.y ? o.x : broken(code, VYRE_V90);
}

static vyre_type check_bits(operands o, vyre_code *code) {
  if (!ir_is_integer(o.x) || !ir_is_integer(o.y)) return broken(code, VYRE_V91);
  return o.x == o.y ? o.x : broken(code, VYRE_V93);
}

static vyre_type check_shift(operands o, vyre_code *code) {
  bool lanes = ir_type_at(o.x)->lanes == ir_type_at(o.y)->lanes;
  return ir_is_integer(o.x) && ir_component(o.y) == VYRE_TYPE_U32 && lanes ? o.x : broken(code, VYRE_V94);
}

static vyre_type check_equal(operands o, vyre_code *code) {
  return o.x == o.y && is_scalar(o.x) ? VYRE_TYPE_BOOL : broken(code, VYRE_V96);
}

static vyre_type check_order(operands o, vyre_code *code) {
  return o.x == o.y && is_scalar(o.x) && is_number(o.x) ? VYRE_TYPE_BOOL : broken(code, VYRE_V96);
}

static vyre_type check_logic(operands o, vyre_code *code) {
  return o.x == VYRE_TYPE_BOOL && o.y == VYRE_TYPE_BOOL ? VYRE_TYPE_BOOL : broken(code, VYRE_V95);
}

static bool same_unsigned(operands o) { return o.x == o.y && is_scalar(o.x) && ir_is_unsigned(o.x); }

static vyre_type check_unsigned_absdiff(operands o, vyre_code *code) {
  return same_unsigned(o) ? o.x : broken(code, VYRE_V86);
}

static vyre_type check_unsigned_sat(operands o, vyre_code *code) {
  return same_unsigned(o) ? o.x : broken(code, VYRE_V85);
}

static vyre_type check_negate(operands o, vyre_code *code) { return is_number(o.x) ? o.x : broken(code, VYRE_V99); }

static vyre_type check_signed(operands o, vyre_code *code) {
  return is_number(o.x) && !ir_is_unsigned(o.x) ? o.x : broken(code, VYRE_V99);
}

static vyre_type check_bit(operands o, vyre_code *code) { return ir_is_integer(o.x) ? o.x : broken(code, VYRE_V101); }

static vyre_type check_lnot(operands o, vyre_code *code) {
  return o.x == VYRE_TYPE_BOOL ? o.x : broken(code, VYRE_V100);
}

static vyre_type check_float(operands o, vyre_code *code) { return ir_is_float(o.x) ? o.x : broken(code, VYRE_V102); }

static vyre_type check_fscalar(operands o, vyre_code *code) {
  return ir_is_float(o.x) && is_scalar(o.x) ? o.x : broken(code, VYRE_V102);
}

static vyre_type check_fclass(operands o, vyre_code *code) {
  return check_fscalar(o, code) != VYRE_TYPE_NONE ? VYRE_TYPE_BOOL : VYRE_TYPE_NONE;
}

static vyre_type check_unpack(operands o, vyre_code *code) {
  return o.x == VYRE_TYPE_U32 || o.x == VYRE_TYPE_I32 ? VYRE_TYPE_U32 : broken(code, VYRE_V103);
}

static vyre_type check_select(operands o, vyre_code *code) {
  if (o.x != VYRE_TYPE_BOOL) return broken(code, VYRE_V134);
  return o.y == o.z ? o.y : broken(code, VYRE_V29);
}

static vyre_type check_fma(operands o, vyre_code *code) {
  return ir_is_float(o.x) && o.x == o.y && o.x == o.z ? o.x : broken(code, VYRE_V28);
}

static vyre_type check_subgroup(operands o, vyre_code *code) {
  return is_number(o.x) && is_scalar(o.x) ? o.x : broken(code, VYRE_V152);
}

static vyre_type check_subgroup_bits(operands o, vyre_code *code) {
  if (ir_is_float(o.x)) return broken(code, VYRE_V47);
  return check_subgroup(o, code);
}

static vyre_type check_subgroup_vote(operands o, vyre_code *code) {
  return o.x == VYRE_TYPE_BOOL ? VYRE_TYPE_BOOL : broken(code, VYRE_V134);
}

static vyre_type check_subgroup_ballot(operands o, vyre_code *code) {
  return o.x == VYRE_TYPE_BOOL ? VYRE_TYPE_U32 : broken(code, VYRE_V134);
}

static vyre_type check_subgroup_shuffle(operands o, vyre_code *code) {
  if (o.y != VYRE_TYPE_U32) return broken(code, VYRE_V135);
  return check_subgroup(o, code);
}

/* Rules whose types do not follow from operands alone; the builder has them. */
static vyre_type check_elsewhere(operands o, vyre_code *code) {
  (void)o;
  return broken(code, VYRE_V136);
}

/* From the rule's name in ops.def to its function. */
#define RULE_LEAF check_elsewhere
#define RULE_LEN check_elsewhere
#define RULE_LOAD check_elsewhere
#define RULE_CAST check_elsewhere
#define RULE_BITCAST check_elsewhere
#define RULE_SPLAT check_elsewhere
#define RULE_VECTOR check_elsewhere
#define RULE_EXTRACT check_elsewhere
#define RULE_ATOMIC check_elsewhere
#define RULE_ATOMIC_ADD check_elsewhere
#define RULE_ATOMIC_LOAD check_elsewhere
#define RULE_ARITH check_arith
#define RULE_INTEGER check_integer
#define RULE_BITS check_bits
#define RULE_SHIFT check_shift
#define RULE_EQUAL check_equal
#define RULE_ORDER check_order
#define RULE_LOGIC check_logic
#define RULE_UNSIGNED_ABSDIFF check_unsigned_absdiff
#define RULE_UNSIGNED_SAT check_unsigned_sat
#define RULE_NEGATE check_negate
#define RULE_BIT check_bit
#define RULE_LNOT check_lnot
#define RULE_SIGNED check_signed
#define RULE_FLOAT check_float
#define RULE_FCLASS check_fclass
#define RULE_FSCALAR check_fscalar
#define RULE_UNPACK check_unpack
#define RULE_SELECT check_select
#define RULE_FMA check_fma
#define RULE_SUBGROUP check_subgroup
#define RULE_SUBGROUP_BITS check_subgroup_bits
#define RULE_SUBGROUP_VOTE check_subgroup_vote
#define RULE_SUBGROUP_BALLOT check_subgroup_ballot
#define RULE_SUBGROUP_SHUFFLE check_subgroup_shuffle

vyre_type ir_check_op(vyre_op op, vyre_type x, vyre_type y, vyre_type z, vyre_code *code) {
  operands o = { x, y, z };
  *code = VYRE_CODE_NONE;
  switch (op) {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) \
  case VYRE_OP_##name: return RULE_##rule(o, code);
#include <vyre/ops.def>
#undef X
    default: return check_elsewhere(o, code);
  }
}

bool ir_check_cast(vyre_type from, vyre_type to) {
  bool scalar = from >= VYRE_TYPE_BOOL && from <= VYRE_TYPE_F64;
  if (to >= VYRE_TYPE_BOOL && to <= VYRE_TYPE_F64) return scalar;
  return ir_is_narrow(to) && ir_type_at(to)->value == from;
}

bool ir_check_bitcast(vyre_type from, vyre_type to) {
  if (!is_number(from) || !is_number(to)) return false;
  return ir_type_at(from)->bytes == ir_type_at(to)->bytes;
}

bool ir_check_literal(vyre_type type, uint64_t bits) {
  switch (type) {
    case VYRE_TYPE_BOOL: return bits <= 1;
    case VYRE_TYPE_U32:
    case VYRE_TYPE_I32: return bits <= UINT32_MAX;
    case VYRE_TYPE_U64:
    case VYRE_TYPE_I64: return true;
    /* The one NaN that text can write; a literal is a value, and payloads are not. */
    case VYRE_TYPE_F32: return bits <= UINT32_MAX && ((bits & 0x7FFFFFFF) <= 0x7F800000 || bits == 0x7FC00000);
    case VYRE_TYPE_F64:
      return (bits & INT64_MAX) <= 0x7FF0000000000000u || bits == 0x7FF8000000000000u;
    default: return false;
  }
}

bool ir_check_order(vyre_op op, vyre_order order) {
  switch (order) {
    case VYRE_ORDER_RELAXED:
    case VYRE_ORDER_SEQ_CST: return true;
    case VYRE_ORDER_ACQUIRE: return op != VYRE_OP_ATOMIC_STORE;
    case VYRE_ORDER_RELEASE: return op != VYRE_OP_ATOMIC_LOAD;
    case VYRE_ORDER_ACQ_REL: return op != VYRE_OP_ATOMIC_LOAD && op != VYRE_OP_ATOMIC_STORE;
    default: return false;
  }
}
