/* Expressions: each use of one is an evaluation, operands from left to right. The language limits their depth, so
 * recursion is safe. */
#include "lower/lowering.h"

#define op1(l, op, x) lower_op1(&(l)->code, op, x)
#define op2(l, op, x, y) lower_op2(&(l)->code, op, x, y)

/* Operators of the language that are one opcode with the same operands. */
static const uint16_t same[VYRE_OP_COUNT] = {
  [VYRE_OP_ADD] = VYRE_KERNEL_ADD, [VYRE_OP_SUB] = VYRE_KERNEL_SUB, [VYRE_OP_MUL] = VYRE_KERNEL_MUL,
  [VYRE_OP_DIV] = VYRE_KERNEL_DIV, [VYRE_OP_MOD] = VYRE_KERNEL_REM, [VYRE_OP_BITAND] = VYRE_KERNEL_AND,
  [VYRE_OP_BITOR] = VYRE_KERNEL_OR, [VYRE_OP_BITXOR] = VYRE_KERNEL_XOR, [VYRE_OP_SHL] = VYRE_KERNEL_SHL,
  [VYRE_OP_SHR] = VYRE_KERNEL_SHR, [VYRE_OP_EQ] = VYRE_KERNEL_EQ, [VYRE_OP_NE] = VYRE_KERNEL_NE,
  [VYRE_OP_LT] = VYRE_KERNEL_LT, [VYRE_OP_LE] = VYRE_KERNEL_LE, [VYRE_OP_LAND] = VYRE_KERNEL_AND,
  [VYRE_OP_LOR] = VYRE_KERNEL_OR, [VYRE_OP_MIN] = VYRE_KERNEL_MIN, [VYRE_OP_MAX] = VYRE_KERNEL_MAX,
  [VYRE_OP_ROTL] = VYRE_KERNEL_ROTL, [VYRE_OP_ROTR] = VYRE_KERNEL_ROTR, [VYRE_OP_MULHI] = VYRE_KERNEL_MULHI,
  [VYRE_OP_NEG] = VYRE_KERNEL_NEG, [VYRE_OP_BITNOT] = VYRE_KERNEL_NOT, [VYRE_OP_LNOT] = VYRE_KERNEL_NOT,
  [VYRE_OP_POPCOUNT] = VYRE_KERNEL_POPCOUNT, [VYRE_OP_CLZ] = VYRE_KERNEL_CLZ, [VYRE_OP_CTZ] = VYRE_KERNEL_CTZ,
  [VYRE_OP_REVERSE_BITS] = VYRE_KERNEL_REVERSE_BITS, [VYRE_OP_ABS] = VYRE_KERNEL_ABS,
  [VYRE_OP_SQRT] = VYRE_KERNEL_SQRT, [VYRE_OP_FLOOR] = VYRE_KERNEL_FLOOR, [VYRE_OP_CEIL] = VYRE_KERNEL_CEIL,
  [VYRE_OP_ROUND] = VYRE_KERNEL_ROUND, [VYRE_OP_TRUNC] = VYRE_KERNEL_TRUNC, [VYRE_OP_RSQRT] = VYRE_KERNEL_RSQRT,
  [VYRE_OP_EXP] = VYRE_KERNEL_EXP, [VYRE_OP_EXP2] = VYRE_KERNEL_EXP2, [VYRE_OP_LOG] = VYRE_KERNEL_LOG,
  [VYRE_OP_LOG2] = VYRE_KERNEL_LOG2, [VYRE_OP_SIN] = VYRE_KERNEL_SIN, [VYRE_OP_COS] = VYRE_KERNEL_COS,
  [VYRE_OP_TAN] = VYRE_KERNEL_TAN, [VYRE_OP_ASIN] = VYRE_KERNEL_ASIN, [VYRE_OP_ACOS] = VYRE_KERNEL_ACOS,
  [VYRE_OP_ATAN] = VYRE_KERNEL_ATAN, [VYRE_OP_SINH] = VYRE_KERNEL_SINH, [VYRE_OP_COSH] = VYRE_KERNEL_COSH,
  [VYRE_OP_TANH] = VYRE_KERNEL_TANH, [VYRE_OP_SELECT] = VYRE_KERNEL_SELECT, [VYRE_OP_FMA] = VYRE_KERNEL_FMA,
  [VYRE_OP_SUBGROUP_ADD] = VYRE_KERNEL_SUBGROUP_ADD, [VYRE_OP_SUBGROUP_MUL] = VYRE_KERNEL_SUBGROUP_MUL,
  [VYRE_OP_SUBGROUP_MIN] = VYRE_KERNEL_SUBGROUP_MIN, [VYRE_OP_SUBGROUP_MAX] = VYRE_KERNEL_SUBGROUP_MAX,
  [VYRE_OP_SUBGROUP_AND] = VYRE_KERNEL_SUBGROUP_AND, [VYRE_OP_SUBGROUP_OR] = VYRE_KERNEL_SUBGROUP_OR,
  [VYRE_OP_SUBGROUP_XOR] = VYRE_KERNEL_SUBGROUP_XOR,
  [VYRE_OP_SUBGROUP_INCLUSIVE_ADD] = VYRE_KERNEL_SUBGROUP_INCLUSIVE_ADD,
  [VYRE_OP_SUBGROUP_INCLUSIVE_MIN] = VYRE_KERNEL_SUBGROUP_INCLUSIVE_MIN,
  [VYRE_OP_SUBGROUP_INCLUSIVE_MAX] = VYRE_KERNEL_SUBGROUP_INCLUSIVE_MAX,
  [VYRE_OP_SUBGROUP_EXCLUSIVE_ADD] = VYRE_KERNEL_SUBGROUP_EXCLUSIVE_ADD,
  [VYRE_OP_SUBGROUP_EXCLUSIVE_MIN] = VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MIN,
  [VYRE_OP_SUBGROUP_EXCLUSIVE_MAX] = VYRE_KERNEL_SUBGROUP_EXCLUSIVE_MAX,
  [VYRE_OP_SUBGROUP_ANY] = VYRE_KERNEL_SUBGROUP_ANY, [VYRE_OP_SUBGROUP_ALL] = VYRE_KERNEL_SUBGROUP_ALL,
  [VYRE_OP_SUBGROUP_BALLOT] = VYRE_KERNEL_SUBGROUP_BALLOT, [VYRE_OP_SUBGROUP_BROADCAST] = VYRE_KERNEL_BROADCAST,
  [VYRE_OP_SUBGROUP_SHUFFLE] = VYRE_KERNEL_SHUFFLE, [VYRE_OP_SUBGROUP_SHUFFLE_XOR] = VYRE_KERNEL_SHUFFLE_XOR,
  [VYRE_OP_SUBGROUP_SHUFFLE_UP] = VYRE_KERNEL_SHUFFLE_UP, [VYRE_OP_SUBGROUP_SHUFFLE_DOWN] = VYRE_KERNEL_SHUFFLE_DOWN,
};

/* The same for atomics. */
static const uint16_t atomics[VYRE_OP_COUNT] = {
  [VYRE_OP_ATOMIC_ADD] = VYRE_KERNEL_ATOMIC_ADD, [VYRE_OP_ATOMIC_SUB] = VYRE_KERNEL_ATOMIC_SUB,
  [VYRE_OP_ATOMIC_AND] = VYRE_KERNEL_ATOMIC_AND, [VYRE_OP_ATOMIC_OR] = VYRE_KERNEL_ATOMIC_OR,
  [VYRE_OP_ATOMIC_XOR] = VYRE_KERNEL_ATOMIC_XOR, [VYRE_OP_ATOMIC_MIN] = VYRE_KERNEL_ATOMIC_MIN,
  [VYRE_OP_ATOMIC_MAX] = VYRE_KERNEL_ATOMIC_MAX, [VYRE_OP_ATOMIC_XCHG] = VYRE_KERNEL_ATOMIC_XCHG,
  [VYRE_OP_ATOMIC_CAS] = VYRE_KERNEL_ATOMIC_CAS, [VYRE_OP_ATOMIC_LOAD] = VYRE_KERNEL_ATOMIC_LOAD,
  [VYRE_OP_ATOMIC_STORE] = VYRE_KERNEL_ATOMIC_STORE,
};

/* And for leaves. */
static const uint16_t leaf_ops[VYRE_OP_COUNT] = {
  [VYRE_OP_GID] = VYRE_KERNEL_GID, [VYRE_OP_WID] = VYRE_KERNEL_WID, [VYRE_OP_LID] = VYRE_KERNEL_LID,
  [VYRE_OP_NWG] = VYRE_KERNEL_NWG, [VYRE_OP_LANE] = VYRE_KERNEL_LANE,
  [VYRE_OP_SUBGROUP_SIZE] = VYRE_KERNEL_SUBGROUP_SIZE, [VYRE_OP_SUBGROUP_ID] = VYRE_KERNEL_SUBGROUP_ID,
  [VYRE_OP_NUM_SUBGROUPS] = VYRE_KERNEL_NUM_SUBGROUPS,
};

/* ---- Leaves ---------------------------------------------------------------------------------- */

static lower_value length(lowering *l, const ir_expr *x) {
  const ir_buffer *b = &l->p->buffers.data[x->arg[3]];
  bool is_wide = x->op == VYRE_OP_LEN64;
  if (b->length != 0) return lower_number(&l->code, (vyre_type)x->type, b->length);
  return lower_leaf(&l->code, VYRE_KERNEL_LENGTH, is_wide ? VYRE_TYPE_U64 : VYRE_TYPE_U32, b->slot, 0);
}

/* A parameter, or the spec constant that has taken its place. */
static lower_value parameter(lowering *l, const ir_expr *x) {
  const vyre_kernel_spec *specs = l->code.specs.data;
  uint32_t low = 0, high = l->code.specs.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (specs[middle].id == x->arg[3]) return lower_leaf(&l->code, VYRE_KERNEL_SPEC, (vyre_type)x->type, middle, 0);
    if (specs[middle].id < x->arg[3]) low = middle + 1;
    else high = middle;
  }
  return lower_leaf(&l->code, VYRE_KERNEL_PARAM, (vyre_type)x->type, x->arg[3], 0);
}

static lower_value make_leaf(lowering *l, const ir_expr *x) {
  switch (x->op) {
    case VYRE_OP_LIT: return lower_constant(&l->code, (vyre_type)x->type, ir_literal_bits(x));
    case VYRE_OP_PARAM: return parameter(l, x);
    case VYRE_OP_LEN:
    case VYRE_OP_LEN64: return length(l, x);
    default: return lower_leaf(&l->code, leaf_ops[x->op], VYRE_TYPE_NONE, x->aux, 0);
  }
}

/* A leaf has one value in an entry point; a literal one in the kernel. */
static lower_value leaf(lowering *l, uint32_t e) {
  if (l->leaves[e] != 0) return l->leaves[e];
  const ir_expr *x = ir_expr_at(l->p, e);
  l->leaves[e] = make_leaf(l, x);
  if (x->op != VYRE_OP_LIT && !vyre_vector_push(&l->kept, e)) lower_fail_memory(&l->code);
  return l->leaves[e];
}

/* ---- Conversions ----------------------------------------------------------------------------- */

static lower_value bitcast(lowering *l, vyre_type type, lower_value x) {
  return lower_convert(&l->code, VYRE_KERNEL_BITCAST, type, x);
}

static lower_value one_of(lowering *l, vyre_type type) {
  if (type == VYRE_TYPE_F32) return lower_f32(&l->code, 1);
  if (type == VYRE_TYPE_F64) return lower_f64(&l->code, 1);
  return lower_constant(&l->code, type, 1);
}

/* To a type that exists in memory alone: through it and back. */
static lower_value cast_narrow(lowering *l, vyre_type to, lower_value x) {
  lower_value by = lower_u32(&l->code, to == VYRE_TYPE_I8 ? 24 : 16);
  switch (to) {
    case VYRE_TYPE_U8: return op2(l, VYRE_KERNEL_AND, x, lower_u32(&l->code, 0xFF));
    case VYRE_TYPE_U16: return op2(l, VYRE_KERNEL_AND, x, lower_u32(&l->code, 0xFFFF));
    case VYRE_TYPE_F16: return op1(l, VYRE_KERNEL_FROM_F16, op1(l, VYRE_KERNEL_TO_F16, x));
    case VYRE_TYPE_BF16: return op1(l, VYRE_KERNEL_FROM_BF16, op1(l, VYRE_KERNEL_TO_BF16, x));
    default: return op2(l, VYRE_KERNEL_SHR, op2(l, VYRE_KERNEL_SHL, x, by), by); /* i8, i16 */
  }
}

static lower_value cast(lowering *l, vyre_type to, lower_value x) {
  vyre_type from = lower_type_of(&l->code, x);
  if (from == to) return x;
  if (ir_is_narrow(to)) return cast_narrow(l, to, x);
  if (to == VYRE_TYPE_BOOL) return op2(l, VYRE_KERNEL_NE, x, lower_constant(&l->code, from, 0));
  if (from == VYRE_TYPE_BOOL) return lower_select(&l->code, x, one_of(l, to), lower_constant(&l->code, to, 0));
  if (form_is_float(from) && form_is_float(to)) return op1(l, VYRE_KERNEL_REFLOAT, x);
  if (form_is_float(from)) return lower_convert(&l->code, VYRE_KERNEL_TO_INT, to, x);
  if (form_is_float(to)) return lower_convert(&l->code, VYRE_KERNEL_TO_FLOAT, to, x);
  if (form_bytes(from) != form_bytes(to)) x = op1(l, VYRE_KERNEL_RESIZE, x);
  return bitcast(l, to, x);
}

/* ---- Operators that are made of several ------------------------------------------------------ */

static lower_value float_sign(lowering *l, lower_value x) {
  vyre_type type = lower_type_of(&l->code, x);
  lower_value zero = lower_constant(&l->code, type, 0), one = one_of(l, type);
  lower_value not_below = lower_select(&l->code, op2(l, VYRE_KERNEL_EQ, x, zero), zero, x); /* a NaN stays */
  lower_value negative = op1(l, VYRE_KERNEL_NEG, one);
  lower_value result = lower_select(&l->code, op2(l, VYRE_KERNEL_LT, x, zero), negative, not_below);
  return lower_select(&l->code, op2(l, VYRE_KERNEL_LT, zero, x), one, result);
}

static lower_value sign(lowering *l, lower_value x) {
  vyre_type type = lower_type_of(&l->code, x);
  if (form_is_integer(type)) {
    lower_value at_least = op2(l, VYRE_KERNEL_MAX, x, lower_number(&l->code, type, UINT64_MAX));
    return op2(l, VYRE_KERNEL_MIN, at_least, lower_number(&l->code, type, 1));
  }
  uint32_t lanes = form_lanes(type);
  if (lanes == 1) return float_sign(l, x);
  lower_value components[4] = { 0 };
  for (uint32_t k = 0; k < lanes; k++) components[k] = float_sign(l, lower_extract(&l->code, x, k));
  return lower_vector(&l->code, components, lanes);
}

static lower_value infinity_of(lowering *l, lower_value x) {
  vyre_type type = lower_type_of(&l->code, x);
  return lower_constant(&l->code, type, type == VYRE_TYPE_F64 ? 0x7FF0000000000000u : 0x7F800000u);
}

static lower_value saturated(lowering *l, const ir_expr *e, lower_value x, lower_value y) {
  vyre_type type = (vyre_type)e->type;
  lower_value all = lower_number(&l->code, type, UINT64_MAX), zero = lower_number(&l->code, type, 0);
  if (e->op == VYRE_OP_SAT_SUB) return op2(l, VYRE_KERNEL_SUB, op2(l, VYRE_KERNEL_MAX, x, y), y);
  if (e->op == VYRE_OP_SAT_ADD) {
    lower_value sum = op2(l, VYRE_KERNEL_ADD, x, y);
    return lower_select(&l->code, op2(l, VYRE_KERNEL_LT, sum, x), all, sum);
  }
  lower_value high = op2(l, VYRE_KERNEL_MULHI, x, y), low = op2(l, VYRE_KERNEL_MUL, x, y);
  return lower_select(&l->code, op2(l, VYRE_KERNEL_EQ, high, zero), low, all);
}

static lower_value unpacked(lowering *l, vyre_op op, lower_value x) {
  lower_code *c = &l->code;
  x = bitcast(l, VYRE_TYPE_U32, x);
  switch (op) {
    case VYRE_OP_UNPACK4LO: return op2(l, VYRE_KERNEL_AND, x, lower_u32(c, 15));
    case VYRE_OP_UNPACK4HI:
      return op2(l, VYRE_KERNEL_AND, op2(l, VYRE_KERNEL_SHR, x, lower_u32(c, 4)), lower_u32(c, 15));
    case VYRE_OP_UNPACK8LO: return op2(l, VYRE_KERNEL_AND, x, lower_u32(c, 255));
    default: return op2(l, VYRE_KERNEL_SHR, x, lower_u32(c, 24));
  }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint32_t table_of(lowering *l, uint32_t binding) {
  lower_code *c = &l->code;
  const ir_buffer *b = &l->p->buffers.data[binding];
  uint64_t bytes = b->length * form_bytes((vyre_type)b->element);
  if (l->tables[binding] != 0) return l->tables[binding] - 1;
  vyre_kernel_table_data table = { .element = form_type((vyre_type)b->element), .length = b->length,
                                   .name = lower_text(c, ir_text(l->p, b->name)), .offset = c->table_bytes.count };
  if (bytes > UINT32_MAX || !vyre_vector_reserve(&c->table_bytes, (uint32_t)bytes) ||
      !vyre_vector_push(&c->tables, table))
    return lower_fail_memory(c), 0;
  for (uint64_t i = 0; i < bytes; i++) c->table_bytes.data[c->table_bytes.count++] = b->data[i];
  while (c->table_bytes.count % 16 != 0)
    if (!vyre_vector_push(&c->table_bytes, 0)) return lower_fail_memory(c), 0;
  l->tables[binding] = c->tables.count;
  return c->tables.count - 1;
}

static vyre_kernel_access access_to(lowering *l, uint32_t binding, lower_value index) {
  const ir_buffer *b = &l->p->buffers.data[binding];
  vyre_kernel_access a = { .element = form_type((vyre_type)b->element), .index = index };
  switch (b->access) {
    case VYRE_ACCESS_SHARED:
    case VYRE_ACCESS_LOCAL:
      a.space = b->access == VYRE_ACCESS_SHARED ? VYRE_KERNEL_SPACE_SHARED : VYRE_KERNEL_SPACE_LOCAL;
      a.number = lower_buffer_array(l, binding);
      break;
    case VYRE_ACCESS_TABLE:
      a.space = VYRE_KERNEL_SPACE_TABLE;
      a.number = table_of(l, binding);
      a.flags = VYRE_KERNEL_ACCESS_READ_ONLY;
      break;
    default:
      a.space = VYRE_KERNEL_SPACE_BINDING;
      a.number = b->slot;
      a.flags = b->access == VYRE_ACCESS_READ ? VYRE_KERNEL_ACCESS_READ_ONLY : 0;
  }
  return a;
}

static uint32_t checked_access(lowering *l, uint32_t binding, lower_value index, bool is_proved) {
  const ir_buffer *b = &l->p->buffers.data[binding];
  vyre_kernel_access a = access_to(l, binding, index);
  if (is_proved || (l->code.flags & VYRE_KERNEL_UNCHECKED) != 0) {
    a.bound_kind = VYRE_KERNEL_BOUND_PROVED;
  } else if (b->length != 0) {
    a.bound_kind = VYRE_KERNEL_BOUND_STATIC;
    a.limit = b->length;
  } else {
    a.bound_kind = VYRE_KERNEL_BOUND_LENGTH;
  }
  return lower_access(&l->code, a);
}

/* Here, not later: the condition that proves it may no longer hold behind the statement. */
uint32_t lower_buffer_access(lowering *l, uint32_t binding, lower_value index, uint32_t e) {
  if (lowering_failed(l)) return 0;
  uint64_t length = l->p->buffers.data[binding].length;
  bool is_proved = length != 0 && lower_info_of(&l->code, index)->most < length;
  return checked_access(l, binding, index, is_proved || opt_range_proves(l->ranges, e, binding));
}

uint32_t lower_buffer_stretch(lowering *l, uint32_t binding, lower_value index) {
  return lowering_failed(l) ? 0 : checked_access(l, binding, index, false);
}

uint32_t lower_buffer_element(lowering *l, uint32_t binding, lower_value index) {
  return lowering_failed(l) ? 0 : lower_access(&l->code, access_to(l, binding, index));
}

static lower_value load(lowering *l, const ir_expr *x) {
  lower_value index = lower_expr(l, x->arg[0]);
  if (x->op == VYRE_OP_WORKGROUP_UNIFORM_LOAD) lower_plain(&l->code, VYRE_KERNEL_BARRIER, 0, 0);
  lower_value v = lower_load(&l->code, lower_buffer_access(l, x->arg[3], index, x->arg[0]));
  if (x->op == VYRE_OP_WORKGROUP_UNIFORM_LOAD) lower_plain(&l->code, VYRE_KERNEL_BARRIER, 0, 0);
  if (lowering_failed(l) || x->op == VYRE_OP_LOAD) return v;
  l->code.values.data[v].uniform =
    x->op == VYRE_OP_GRID_UNIFORM_LOAD ? VYRE_KERNEL_UNIFORM_GRID : VYRE_KERNEL_UNIFORM_WORKGROUP;
  return v;
}

/* An expired invocation leaves memory as it is and gets 0. */
static lower_value atomic(lowering *l, const ir_expr *x) {
  lower_code *c = &l->code;
  lower_value index = lower_expr(l, x->arg[0]), operands[2] = { 0 };
  for (uint32_t k = 1; k < ir_op_arity[x->op]; k++) operands[k - 1] = lower_expr(l, x->arg[k]);
  uint32_t access = lower_buffer_access(l, x->arg[3], index, x->arg[0]), op = atomics[x->op];
  if (x->op != VYRE_OP_ATOMIC_LOAD) lower_keep_note_buffer(l, x->arg[3]);
  vyre_type type = (vyre_type)x->type;
  bool guarded = l->steps.on, has_value = x->op != VYRE_OP_ATOMIC_STORE;
  if (!guarded) return lower_atomic(c, op, access, operands[0], operands[1], x->aux, x->aux2);
  uint32_t result = has_value ? lower_slot(c, type, VYRE_KERNEL_UNIFORM_NONE, 0) : 0;
  if (has_value) lower_set(c, result, lower_number(c, type, 0));
  lower_unless_expired(l);
  lower_value old = lower_atomic(c, op, access, operands[0], operands[1], x->aux, x->aux2);
  if (has_value) lower_set(c, result, old);
  lower_end_unless_expired(l);
  return has_value ? lower_get(c, result) : 0;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static lower_value operator(lowering *l, const ir_expr *x) {
  lower_code *c = &l->code;
  lower_value o[IR_MAX_OPERANDS] = { 0 };
  for (uint32_t i = 0; i < ir_op_arity[x->op]; i++) o[i] = lower_expr(l, x->arg[i]);
  if (same[x->op] != 0) return lower_op(c, same[x->op], o[0], o[1], o[2]);
  switch (x->op) {
    case VYRE_OP_GT: return op2(l, VYRE_KERNEL_LT, o[1], o[0]);
    case VYRE_OP_GE: return op2(l, VYRE_KERNEL_LE, o[1], o[0]);
    case VYRE_OP_ABSDIFF:
      return op2(l, VYRE_KERNEL_SUB, op2(l, VYRE_KERNEL_MAX, o[0], o[1]), op2(l, VYRE_KERNEL_MIN, o[0], o[1]));
    case VYRE_OP_SAT_ADD:
    case VYRE_OP_SAT_SUB:
    case VYRE_OP_SAT_MUL: return saturated(l, x, o[0], o[1]);
    case VYRE_OP_SIGN: return sign(l, o[0]);
    case VYRE_OP_RCP: return op2(l, VYRE_KERNEL_DIV, one_of(l, (vyre_type)x->type), o[0]);
    case VYRE_OP_IS_NAN: return op2(l, VYRE_KERNEL_NE, o[0], o[0]);
    case VYRE_OP_IS_INF: return op2(l, VYRE_KERNEL_EQ, op1(l, VYRE_KERNEL_ABS, o[0]), infinity_of(l, o[0]));
    case VYRE_OP_IS_FINITE: return op2(l, VYRE_KERNEL_LT, op1(l, VYRE_KERNEL_ABS, o[0]), infinity_of(l, o[0]));
    case VYRE_OP_UNPACK4LO:
    case VYRE_OP_UNPACK4HI:
    case VYRE_OP_UNPACK8LO:
    case VYRE_OP_UNPACK8HI: return unpacked(l, x->op, o[0]);
    case VYRE_OP_CAST: return cast(l, (vyre_type)x->aux, o[0]);
    case VYRE_OP_BITCAST: return bitcast(l, (vyre_type)x->type, o[0]);
    case VYRE_OP_SPLAT:
      return lower_vector(c, (lower_value[4]){o[0], o[0], o[0], o[0]}, form_lanes((vyre_type)x->type));
    case VYRE_OP_VEC2:
    case VYRE_OP_VEC4: return lower_vector(c, o, ir_op_arity[x->op]);
    case VYRE_OP_EXTRACT: return lower_extract(c, o[0], x->aux);
    case VYRE_OP_CLOCK_NS: return lower_op(c, VYRE_KERNEL_CLOCK, 0, 0, 0);
    default: return lower_op(c, VYRE_KERNEL_SHOULD_STOP, 0, 0, 0);
  }
}

lower_value lower_expr(lowering *l, uint32_t e) {
  if (lowering_failed(l)) return 0;
  const ir_expr *x = ir_expr_at(l->p, e);
  if (x->op == VYRE_OP_VAR) return lower_variable(l, x->arg[3]);
  if (x->op == VYRE_OP_LIT || x->op == VYRE_OP_PARAM || x->op == VYRE_OP_LEN || x->op == VYRE_OP_LEN64 ||
      leaf_ops[x->op] != 0)
    return leaf(l, e);
  if (x->op >= VYRE_OP_LOAD && x->op <= VYRE_OP_WORKGROUP_UNIFORM_LOAD) return load(l, x);
  return atomics[x->op] != 0 ? atomic(l, x) : operator(l, x);
}
