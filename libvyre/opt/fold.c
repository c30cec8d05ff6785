/* The literal half of the language's table (docs/ir.md). Written for itself and held against the oracle by a test. */
#include "opt/fold.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "base/narrow.h"
#include "ir/check.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

/* ---- Numbers and bits ------------------------------------------------------------------------ */

static unsigned width_of(vyre_type t) { return 8u * ir_type_at(ir_component(t))->bytes; }
static uint64_t ones(vyre_type t) { return UINT64_MAX >> (64 - width_of(t)); }

static int64_t as_signed(vyre_type t, uint64_t bits) {
  return width_of(t) == 32 ? (int32_t)(uint32_t)bits : (int64_t)bits;
}

static double as_double(vyre_type t, uint64_t bits) {
  if (t == VYRE_TYPE_F64) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return (double)value;
}

static uint64_t bits_of_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value == value ? bits : 0x7FC00000;
}

static uint64_t bits_of_f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value == value ? bits : 0x7FF8000000000000u;
}

uint64_t opt_integer_bits(vyre_type type, int64_t value) { return (uint64_t)value & ones(type); }

uint64_t opt_float_bits(vyre_type type, double value) {
  return type == VYRE_TYPE_F64 ? bits_of_f64(value) : bits_of_f32((float)value);
}

uint64_t opt_smallest(vyre_type type) { return ir_is_unsigned(type) ? 0 : 1ull << (width_of(type) - 1); }
uint64_t opt_largest(vyre_type type) { return ir_is_unsigned(type) ? ones(type) : ones(type) >> 1; }

/* ---- Integers -------------------------------------------------------------------------------- */

static uint64_t reversed(uint64_t x) {
  x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
  x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
  x = (x >> 4 & 0x0F0F0F0F0F0F0F0Fu) | (x & 0x0F0F0F0F0F0F0F0Fu) << 4;
  return __builtin_bswap64(x);
}

static uint64_t rotated_left(uint64_t a, unsigned count, unsigned width) {
  count &= width - 1;
  return count == 0 ? a : a << count | a >> (width - count);
}

static bool fold_unsigned(vyre_op op, vyre_type t, uint64_t a, uint64_t b, uint64_t *out) {
  unsigned width = width_of(t);
  switch (op) {
    case VYRE_OP_DIV: *out = b == 0 ? ones(t) : a / b; return true;
    case VYRE_OP_MOD: *out = b == 0 ? 0 : a % b; return true;
    case VYRE_OP_SHR: *out = a >> (b & (width - 1)); return true;
    case VYRE_OP_MIN: *out = a < b ? a : b; return true;
    case VYRE_OP_MAX: *out = a > b ? a : b; return true;
    case VYRE_OP_ABSDIFF: *out = a > b ? a - b : b - a; return true;
    case VYRE_OP_SAT_ADD: *out = a > ones(t) - b ? ones(t) : a + b; return true;
    case VYRE_OP_SAT_SUB: *out = a > b ? a - b : 0; return true;
    case VYRE_OP_SAT_MUL: *out = (u128)a * b > ones(t) ? ones(t) : a * b; return true;
    case VYRE_OP_MULHI: *out = (uint64_t)((u128)a * b >> width); return true;
    case VYRE_OP_LT: *out = a < b; return true;
    case VYRE_OP_GT: *out = a > b; return true;
    case VYRE_OP_LE: *out = a <= b; return true;
    case VYRE_OP_GE: *out = a >= b; return true;
    default: return false;
  }
}

static bool fold_signed(vyre_op op, vyre_type t, uint64_t x, uint64_t y, uint64_t *out) {
  int64_t a = as_signed(t, x), b = as_signed(t, y);
  unsigned width = width_of(t);
  switch (op) {
    case VYRE_OP_DIV: *out = b == 0 ? 0 : b == -1 ? 0 - x : (uint64_t)(a / b); break;
    case VYRE_OP_MOD: *out = b == 0 || b == -1 ? 0 : (uint64_t)(a % b); break;
    case VYRE_OP_SHR: *out = (uint64_t)(a >> (y & (width - 1))); break;
    case VYRE_OP_MIN: *out = a < b ? x : y; break;
    case VYRE_OP_MAX: *out = a > b ? x : y; break;
    case VYRE_OP_MULHI: *out = (uint64_t)((i128)a * b >> width); break;
    case VYRE_OP_LT: *out = a < b; break;
    case VYRE_OP_GT: *out = a > b; break;
    case VYRE_OP_LE: *out = a <= b; break;
    case VYRE_OP_GE: *out = a >= b; break;
    case VYRE_OP_ABS: *out = a < 0 ? 0 - x : x; break;
    case VYRE_OP_SIGN: *out = (uint64_t)(int64_t)((a > 0) - (a < 0)); break;
    default: return false;
  }
  *out &= ones(t);
  return true;
}

static bool fold_integer(vyre_op op, vyre_type t, uint64_t a, uint64_t b, uint64_t *out) {
  unsigned width = width_of(t);
  switch (op) {
    case VYRE_OP_ADD: *out = a + b; break;
    case VYRE_OP_SUB: *out = a - b; break;
    case VYRE_OP_MUL: *out = a * b; break;
    case VYRE_OP_BITAND: *out = a & b; break;
    case VYRE_OP_BITOR: *out = a | b; break;
    case VYRE_OP_BITXOR: *out = a ^ b; break;
    case VYRE_OP_SHL: *out = a << (b & (width - 1)); break;
    case VYRE_OP_ROTL: *out = rotated_left(a, (unsigned)b, width); break;
    case VYRE_OP_ROTR: *out = rotated_left(a, width - ((unsigned)b & (width - 1)), width); break;
    case VYRE_OP_EQ: *out = a == b; break;
    case VYRE_OP_NE: *out = a != b; break;
    case VYRE_OP_NEG: *out = 0 - a; break;
    case VYRE_OP_BITNOT: *out = ~a; break;
    case VYRE_OP_POPCOUNT: *out = (uint64_t)__builtin_popcountll(a); break;
    case VYRE_OP_CLZ: *out = a == 0 ? width : (uint64_t)__builtin_clzll(a) - (64 - width); break;
    case VYRE_OP_CTZ: *out = a == 0 ? width : (uint64_t)__builtin_ctzll(a); break;
    case VYRE_OP_REVERSE_BITS: *out = reversed(a) >> (64 - width); break;
    case VYRE_OP_UNPACK4LO: *out = a & 15; break;
    case VYRE_OP_UNPACK4HI: *out = a >> 4 & 15; break;
    case VYRE_OP_UNPACK8LO: *out = a & 255; break;
    case VYRE_OP_UNPACK8HI: *out = a >> 24; break;
    default: return ir_is_unsigned(t) ? fold_unsigned(op, t, a, b, out) : fold_signed(op, t, a, b, out);
  }
  *out &= ones(t);
  return true;
}

static bool fold_bool(vyre_op op, uint64_t a, uint64_t b, uint64_t *out) {
  switch (op) {
    case VYRE_OP_LAND: *out = a & b; return true;
    case VYRE_OP_LOR: *out = a | b; return true;
    case VYRE_OP_LNOT: *out = !a; return true;
    case VYRE_OP_EQ: *out = a == b; return true;
    case VYRE_OP_NE: *out = a != b; return true;
    default: return false;
  }
}

/* ---- Floats ---------------------------------------------------------------------------------- */

/* Comparisons, classes and choices are exact, so f32 is computed as f64. */
static bool fold_exact(vyre_op op, vyre_type t, const uint64_t *x, uint64_t *out) {
  uint64_t sign = 1ull << (width_of(t) - 1);
  double a = as_double(t, x[0]), b = as_double(t, x[1]);
  bool first;
  switch (op) {
    case VYRE_OP_EQ: *out = a == b; return true;
    case VYRE_OP_NE: *out = a != b; return true;
    case VYRE_OP_LT: *out = a < b; return true;
    case VYRE_OP_GT: *out = a > b; return true;
    case VYRE_OP_LE: *out = a <= b; return true;
    case VYRE_OP_GE: *out = a >= b; return true;
    case VYRE_OP_IS_NAN: *out = a != a; return true;
    case VYRE_OP_IS_INF: *out = isinf(a) != 0; return true;
    case VYRE_OP_IS_FINITE: *out = isfinite(a) != 0; return true;
    case VYRE_OP_NEG: *out = x[0] ^ sign; return true;
    case VYRE_OP_ABS: *out = x[0] & ~sign; return true;
    case VYRE_OP_MIN: first = a < b || (a == b && (x[0] & sign)) || b != b; break;
    case VYRE_OP_MAX: first = a > b || (a == b && (x[1] & sign)) || b != b; break;
    case VYRE_OP_SIGN: *out = opt_float_bits(t, a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a); return true;
    case VYRE_OP_FLOOR: *out = opt_float_bits(t, floor(a)); return true;
    case VYRE_OP_CEIL: *out = opt_float_bits(t, ceil(a)); return true;
    case VYRE_OP_ROUND: *out = opt_float_bits(t, rint(a)); return true;
    case VYRE_OP_TRUNC: *out = opt_float_bits(t, trunc(a)); return true;
    default: return false;
  }
  *out = opt_float_bits(t, first ? a : b);
  return true;
}

/* What rounds is computed in the type itself. */
static bool fold_f32(vyre_op op, const uint64_t *x, uint64_t *out) {
  float a = (float)as_double(VYRE_TYPE_F32, x[0]), b = (float)as_double(VYRE_TYPE_F32, x[1]);
  switch (op) {
    case VYRE_OP_ADD: *out = bits_of_f32(a + b); return true;
    case VYRE_OP_SUB: *out = bits_of_f32(a - b); return true;
    case VYRE_OP_MUL: *out = bits_of_f32(a * b); return true;
    case VYRE_OP_DIV: *out = bits_of_f32(a / b); return true;
    case VYRE_OP_RCP: *out = bits_of_f32(1 / a); return true;
    case VYRE_OP_SQRT: *out = bits_of_f32(sqrtf(a)); return true;
    case VYRE_OP_FMA: *out = bits_of_f32(fmaf(a, b, (float)as_double(VYRE_TYPE_F32, x[2]))); return true;
    default: return false;
  }
}

static bool fold_f64(vyre_op op, const uint64_t *x, uint64_t *out) {
  double a = as_double(VYRE_TYPE_F64, x[0]), b = as_double(VYRE_TYPE_F64, x[1]);
  switch (op) {
    case VYRE_OP_ADD: *out = bits_of_f64(a + b); return true;
    case VYRE_OP_SUB: *out = bits_of_f64(a - b); return true;
    case VYRE_OP_MUL: *out = bits_of_f64(a * b); return true;
    case VYRE_OP_DIV: *out = bits_of_f64(a / b); return true;
    case VYRE_OP_RCP: *out = bits_of_f64(1 / a); return true;
    case VYRE_OP_SQRT: *out = bits_of_f64(sqrt(a)); return true;
    case VYRE_OP_FMA: *out = bits_of_f64(fma(a, b, as_double(VYRE_TYPE_F64, x[2]))); return true;
    default: return false;
  }
}

/* Where the exact value is a small number. Zeros are positive: odd functions keep the sign of -0, which is no row. */
static bool fold_point(vyre_op op, vyre_type t, uint64_t x, uint64_t *out) {
  static const struct { uint8_t op; double at, value; } points[] = {
    { VYRE_OP_RSQRT, 1, 1 }, { VYRE_OP_SIN, 0, 0 },   { VYRE_OP_COS, 0, 1 },  { VYRE_OP_TAN, 0, 0 },
    { VYRE_OP_EXP, 0, 1 },   { VYRE_OP_EXP2, 0, 1 },  { VYRE_OP_LOG, 1, 0 },  { VYRE_OP_LOG2, 1, 0 },
    { VYRE_OP_ASIN, 0, 0 },  { VYRE_OP_ACOS, 1, 0 },  { VYRE_OP_ATAN, 0, 0 }, { VYRE_OP_TANH, 0, 0 },
    { VYRE_OP_SINH, 0, 0 },  { VYRE_OP_COSH, 0, 1 },
  };
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    if (points[i].op != op || opt_float_bits(t, points[i].at) != x) continue;
    *out = opt_float_bits(t, points[i].value);
    return true;
  }
  return false;
}

/* The caller's rounding may be another; a fold is rare enough to set it each time. */
static bool fold_float(vyre_op op, vyre_type t, const uint64_t *x, uint64_t *out) {
  fenv_t caller;
  if (fegetenv(&caller) != 0 || fesetenv(FE_DFL_ENV) != 0) return false;
  bool known = fold_exact(op, t, x, out) || (t == VYRE_TYPE_F32 ? fold_f32(op, x, out) : fold_f64(op, x, out)) ||
               fold_point(op, t, x[0], out);
  return fesetenv(&caller) == 0 && known;
}

/* ---- One operator ---------------------------------------------------------------------------- */

static bool gives_bool(vyre_op op) {
  return (op >= VYRE_OP_EQ && op <= VYRE_OP_GE) || (op >= VYRE_OP_IS_NAN && op <= VYRE_OP_IS_FINITE);
}

bool opt_fold_op(vyre_op op, vyre_type type, const uint64_t *x, uint64_t *out) {
  bool known;
  uint64_t operands[3] = { x[0], ir_op_arity[op] > 1 ? x[1] : 0, ir_op_arity[op] > 2 ? x[2] : 0 };
  if (op == VYRE_OP_SELECT) *out = operands[0] ? operands[1] : operands[2], known = true;
  else if (type == VYRE_TYPE_BOOL) known = fold_bool(op, operands[0], operands[1], out);
  else if (ir_is_float(type)) known = fold_float(op, type, operands, out);
  else known = fold_integer(op, type, operands[0], operands[1], out);
  return known && ir_check_literal(gives_bool(op) ? VYRE_TYPE_BOOL : type, *out);
}

/* ---- Conversions ----------------------------------------------------------------------------- */

/* Truncation with clamping; a NaN gives 0. */
static uint64_t integer_of_double(vyre_type to, double x) {
  unsigned width = width_of(to);
  if (x != x) return 0;
  if (ir_is_unsigned(to)) return !(x > 0) ? 0 : x >= ldexp(1, (int)width) ? ones(to) : (uint64_t)x;
  double end = ldexp(1, (int)width - 1);
  if (x >= end) return opt_largest(to);
  return x < -end ? opt_smallest(to) : (uint64_t)(int64_t)x & ones(to);
}

static uint64_t float_of_integer(vyre_type from, vyre_type to, uint64_t x) {
  bool is_signed = from == VYRE_TYPE_I32 || from == VYRE_TYPE_I64;
  int64_t s = is_signed ? as_signed(from, x) : 0;
  if (to == VYRE_TYPE_F32) return bits_of_f32(is_signed ? (float)s : (float)x);
  return bits_of_f64(is_signed ? (double)s : (double)x);
}

static uint64_t cast_narrow(vyre_type to, uint64_t x) {
  switch (to) {
    case VYRE_TYPE_U8: return (uint8_t)x;
    case VYRE_TYPE_U16: return (uint16_t)x;
    case VYRE_TYPE_I8: return opt_integer_bits(VYRE_TYPE_I32, (int8_t)(uint8_t)x);
    case VYRE_TYPE_I16: return opt_integer_bits(VYRE_TYPE_I32, (int16_t)(uint16_t)x);
    case VYRE_TYPE_F16: return vyre_f32_from_f16(vyre_f16_from_f32((uint32_t)x));
    default: return vyre_f32_from_bf16(vyre_bf16_from_f32((uint32_t)x));
  }
}

static uint64_t cast_value(vyre_type from, vyre_type to, uint64_t x) {
  if (from == to) return x;
  if (ir_is_narrow(to)) return cast_narrow(to, x);
  bool from_float = ir_is_float(from);
  if (to == VYRE_TYPE_BOOL) return from_float ? as_double(from, x) != 0 : x != 0;
  if (ir_is_float(to)) return from_float ? opt_float_bits(to, as_double(from, x)) : float_of_integer(from, to, x);
  if (from_float) return integer_of_double(to, as_double(from, x));
  bool extends = from == VYRE_TYPE_I32;
  return (extends ? (uint64_t)as_signed(from, x) : x) & ones(to);
}

bool opt_fold_cast(vyre_type from, vyre_type to, uint64_t x, uint64_t *out) {
  fenv_t caller;
  bool rounds = ir_is_float(to) || ir_is_float(from);
  if (rounds && (fegetenv(&caller) != 0 || fesetenv(FE_DFL_ENV) != 0)) return false;
  *out = cast_value(from, to, x);
  return !rounds || fesetenv(&caller) == 0;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

bool opt_is_constant(const opt_unit *u, uint32_t e) {
  const ir_expr *n = opt_at(u, e);
  return n->op == VYRE_OP_LIT || (n->op == VYRE_OP_SPLAT && opt_is_literal(u, n->arg[0]));
}

uint64_t opt_constant_bits(const opt_unit *u, uint32_t e) {
  const ir_expr *n = opt_at(u, e);
  return ir_literal_bits(n->op == VYRE_OP_SPLAT ? opt_at(u, n->arg[0]) : n);
}

static uint32_t splat(opt_unit *u, vyre_type type, uint32_t x) {
  return opt_expr(u, (ir_expr){ .op = VYRE_OP_SPLAT, .type = (uint8_t)type, .arg = { x } });
}

uint32_t opt_constant(opt_unit *u, vyre_type type, uint64_t bits) {
  uint32_t literal = opt_literal(u, ir_component(type), bits);
  return ir_is_vector(type) ? splat(u, type, literal) : literal;
}

static bool is_vector_of(vyre_op op) { return op == VYRE_OP_SPLAT || op == VYRE_OP_VEC2 || op == VYRE_OP_VEC4; }

/* The bits of a literal's lane; of scalars every lane is the same. */
static bool literal_lane(const opt_unit *u, uint32_t e, uint32_t lane, uint64_t *bits) {
  const ir_expr *n = opt_at(u, e);
  if (is_vector_of(n->op)) n = opt_at(u, n->arg[n->op == VYRE_OP_SPLAT ? 0 : lane]);
  *bits = ir_literal_bits(n);
  return n->op == VYRE_OP_LIT;
}

static uint32_t vector_of_bits(opt_unit *u, vyre_type type, const uint64_t *lanes) {
  uint32_t count = ir_type_at(type)->lanes;
  bool same = true;
  ir_expr n = { .op = count == 2 ? VYRE_OP_VEC2 : VYRE_OP_VEC4, .type = (uint8_t)type };
  for (uint32_t i = 0; i < count; i++) {
    same &= lanes[i] == lanes[0];
    n.arg[i] = opt_literal(u, ir_component(type), lanes[i]);
  }
  return same ? opt_constant(u, type, lanes[0]) : opt_expr(u, n);
}

static uint32_t fold_operator(opt_unit *u, uint32_t e) {
  ir_expr n = *opt_at(u, e);
  vyre_type type = (vyre_type)n.type, of = ir_component(opt_type(u, n.arg[n.op == VYRE_OP_SELECT ? 1 : 0]));
  uint32_t count = ir_type_at(type)->lanes;
  uint64_t lanes[4] = { 0 }, x[3] = { 0 };
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < ir_op_arity[n.op]; k++)
      if (!literal_lane(u, n.arg[k], i, &x[k])) return e;
    bool known = n.op == VYRE_OP_CAST ? opt_fold_cast(of, (vyre_type)n.aux, x[0], &lanes[i])
                                      : opt_fold_op(n.op, of, x, &lanes[i]);
    if (!known) return e;
  }
  return count > 1 ? vector_of_bits(u, type, lanes) : opt_literal(u, type, lanes[0]);
}

/* By bytes, as types of one size lie over each other. */
static uint32_t fold_bitcast(opt_unit *u, uint32_t e) {
  ir_expr n = *opt_at(u, e);
  vyre_type to = (vyre_type)n.type, from = opt_type(u, n.arg[0]);
  uint32_t from_bytes = width_of(from) / 8, to_bytes = width_of(to) / 8;
  uint8_t bytes[16] = { 0 };
  uint64_t lanes[4] = { 0 };
  if (from == to) return n.arg[0];
  if (opt_is(u, n.arg[0], VYRE_OP_BITCAST)) {
    n.arg[0] = opt_at(u, n.arg[0])->arg[0];
    return opt_type(u, n.arg[0]) == to ? n.arg[0] : opt_expr(u, n);
  }
  for (uint32_t i = 0; i < ir_type_at(from)->lanes; i++) {
    uint64_t bits;
    if (!literal_lane(u, n.arg[0], i, &bits)) return e;
    for (uint32_t k = 0; k < from_bytes; k++) bytes[i * from_bytes + k] = (uint8_t)(bits >> 8 * k);
  }
  for (uint32_t i = 0; i < ir_type_at(to)->lanes; i++) {
    for (uint32_t k = 0; k < to_bytes; k++) lanes[i] |= (uint64_t)bytes[i * to_bytes + k] << 8 * k;
    if (!ir_check_literal(ir_component(to), lanes[i])) return e;
  }
  return ir_is_vector(to) ? vector_of_bits(u, to, lanes) : opt_literal(u, to, lanes[0]);
}

/* A component of what is put together from components, where the others need not be evaluated. */
static uint32_t fold_extract(opt_unit *u, uint32_t e) {
  const ir_expr *n = opt_at(u, e), *vector = opt_at(u, n->arg[0]);
  if (!is_vector_of(vector->op)) return e;
  uint32_t lane = vector->op == VYRE_OP_SPLAT ? 0 : n->aux;
  for (uint32_t i = 0; i < ir_op_arity[vector->op]; i++)
    if (i != lane && (opt_flags(u, vector->arg[i]) & (OPT_EFFECT | OPT_CONVERGENT))) return e;
  return vector->arg[lane];
}

/* Equal literals, or all components of one vector in their order. */
static uint32_t fold_vector(opt_unit *u, uint32_t e) {
  const ir_expr n = *opt_at(u, e), *first = opt_at(u, n.arg[0]);
  bool same = first->op == VYRE_OP_LIT, moved = first->op == VYRE_OP_EXTRACT;
  uint32_t vector = first->arg[0];
  for (uint32_t i = 0; i < ir_op_arity[n.op]; i++) {
    const ir_expr *x = opt_at(u, n.arg[i]);
    same &= n.arg[i] == n.arg[0];
    moved &= x->op == VYRE_OP_EXTRACT && x->aux == i && x->arg[0] == vector;
  }
  if (same) return splat(u, (vyre_type)n.type, n.arg[0]);
  bool once = moved && opt_type(u, vector) == n.type && !(opt_flags(u, vector) & (OPT_EFFECT | OPT_CONVERGENT));
  return once ? vector : e;
}

uint32_t opt_fold(opt_unit *u, uint32_t e) {
  vyre_op op = opt_at(u, e)->op;
  switch (op) {
    case VYRE_OP_CAST: return fold_operator(u, e);
    case VYRE_OP_BITCAST: return fold_bitcast(u, e);
    case VYRE_OP_EXTRACT: return fold_extract(u, e);
    case VYRE_OP_VEC2:
    case VYRE_OP_VEC4: return fold_vector(u, e);
    default: return op >= VYRE_OP_ADD && op <= VYRE_OP_FMA ? fold_operator(u, e) : e;
  }
}

/* ---- Exchanging operands --------------------------------------------------------------------- */

bool opt_is_commutative(vyre_op op) {
  static const bool table[VYRE_OP_COUNT] = {
#define COMMUTATIVE(name) [VYRE_OP_##name] = true,
#define MIRRORED(a, b)
#define RULE(...)
#include "opt/rules.def"
#undef COMMUTATIVE
#undef MIRRORED
  };
  return table[op];
}

vyre_op opt_mirrored(vyre_op op) {
  static const uint8_t table[VYRE_OP_COUNT] = {
#define COMMUTATIVE(name)
#define MIRRORED(a, b) [VYRE_OP_##a] = VYRE_OP_##b, [VYRE_OP_##b] = VYRE_OP_##a,
#include "opt/rules.def"
#undef COMMUTATIVE
#undef MIRRORED
#undef RULE
  };
  return table[op] != 0 ? table[op] : op;
}
