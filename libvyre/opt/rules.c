/* What the generated matcher calls, and the loop around it. */
#include "opt/rules.h"

#include <math.h>

/* ---- Reading --------------------------------------------------------------------------------- */

static inline vyre_type type_of(const opt_matcher *m, uint32_t e) { return opt_type(m->unit, e); }
static inline uint32_t operand(const opt_matcher *m, uint32_t e, uint32_t i) { return opt_at(m->unit, e)->arg[i]; }
static inline vyre_type target_of(const opt_matcher *m, uint32_t e) { return (vyre_type)opt_at(m->unit, e)->aux; }
static inline bool is_one_of(vyre_type t, uint32_t mask) { return mask >> t & 1; }

/* The operator; constants of vectors are literals, too. */
static inline vyre_op kind_of(const opt_matcher *m, uint32_t e) {
  return opt_is_constant(m->unit, e) ? VYRE_OP_LIT : (vyre_op)opt_at(m->unit, e)->op;
}

static bool is_integer(const opt_matcher *m, uint32_t e, int64_t value) {
  vyre_type t = ir_component(type_of(m, e));
  return ir_is_integer(t) && opt_constant_bits(m->unit, e) == opt_integer_bits(t, value);
}

static bool is_truth(const opt_matcher *m, uint32_t e, bool value) {
  return type_of(m, e) == VYRE_TYPE_BOOL && opt_constant_bits(m->unit, e) == value;
}

static bool is_float(const opt_matcher *m, uint32_t e, double value) {
  vyre_type t = ir_component(type_of(m, e));
  return ir_is_float(t) && opt_constant_bits(m->unit, e) == opt_float_bits(t, value);
}

/* What costs nothing to evaluate again. */
static bool is_leaf(const opt_matcher *m, uint32_t e) {
  return kind_of(m, e) == VYRE_OP_LIT || (ir_op_arity[opt_at(m->unit, e)->op] == 0 && opt_is_pure(m->unit, e)) ||
         opt_is(m->unit, e, VYRE_OP_VAR);
}

/* Whether its parts may be evaluated in another order, or fewer of them. */
static bool may_reorder(const opt_matcher *m, uint32_t e) {
  return (opt_flags(m->unit, e) & (OPT_EFFECT | OPT_CONVERGENT)) == 0;
}

/* ---- Literals -------------------------------------------------------------------------------- */

static inline uint64_t width_of(vyre_type t) { return 8u * ir_type_at(ir_component(t))->bytes; }

static inline vyre_type count_type(vyre_type t) {
  uint32_t lanes = ir_type_at(t)->lanes;
  return lanes > 1 ? ir_vector_of(VYRE_TYPE_U32, lanes) : VYRE_TYPE_U32;
}

/* Operators on literals. The only one without a literal for its value is a negated NaN: the NaN stands for it, since the
 * rules use it in products alone. */
static uint64_t compute(vyre_op op, vyre_type type, uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return opt_fold_op(op, type, (uint64_t[]){ a, b, 0 }, &out) ? out : a;
}

static uint64_t constant_log2(vyre_type t, uint64_t a) { return compute(VYRE_OP_CTZ, t, a, 0); }
static uint64_t constant_odd(vyre_type t, uint64_t a) {
  (void)t;
  return a == 0 ? 0 : a >> __builtin_ctzll(a);
}

/* Newton's iteration: each step doubles the number of right bits, of which an odd number has 3. */
static uint64_t constant_inverse(vyre_type t, uint64_t a) {
  uint64_t x = a;
  for (int i = 0; i < 5; i++) x *= 2 - a * x;
  return opt_integer_bits(t, (int64_t)x);
}

/* A power of two whose reciprocal is one, too, and neither is subnormal. */
static bool constant_exact_reciprocal(vyre_type t, uint64_t bits) {
  unsigned fraction = t == VYRE_TYPE_F64 ? 52 : 23, width = t == VYRE_TYPE_F64 ? 64 : 32;
  uint64_t exponent = bits << 1 >> (fraction + 1) & ((1u << (width - 1 - fraction)) - 1);
  uint64_t most = (1u << (width - 1 - fraction)) - 2; /* 1/2^(most - bias) would be subnormal */
  return (bits & ((1ull << fraction) - 1)) == 0 && exponent > 0 && exponent < most;
}

/* ---- Making ---------------------------------------------------------------------------------- */

enum { MAX_DEPTH = 8 }; /* of results within results; deeper ones are left to the next run */

static uint32_t made(opt_matcher *m, uint32_t e) {
  if (e == 0 || m->bare || m->depth >= MAX_DEPTH) return e;
  m->depth++;
  e = opt_simplify(m, e);
  m->depth--;
  return e;
}

static uint32_t make(opt_matcher *m, vyre_op op, uint32_t x, uint32_t y, uint32_t z) {
  if (x == 0 || (ir_op_arity[op] > 1 && y == 0)) return 0;
  return made(m, opt_op(m->unit, op, x, y, z));
}

static uint32_t make_cast(opt_matcher *m, vyre_type to, uint32_t x) {
  return x == 0 ? 0 : made(m, opt_cast(m->unit, to, x));
}

/* True if that is it; else the matcher goes on. */
static bool took(opt_matcher *m, uint32_t rule, uint32_t before, uint32_t after) {
  return m->took == NULL || m->took(m->context, opt_rules[rule].id, before, after);
}

#include "opt/rules.inc"

uint32_t opt_rule_apply(opt_matcher *m, uint32_t e) { return match_any(m, e); }

uint32_t opt_simplify(opt_matcher *m, uint32_t e) {
  enum { MAX_STEPS = 64 }; /* no rule undoes another; should they ever, this ends it */
  for (int i = 0; i < MAX_STEPS && e != 0; i++) {
    uint32_t folded = opt_fold(m->unit, e);
    uint32_t next = folded != e ? folded : m->groups != 0 ? opt_rule_apply(m, e) : 0;
    if (next == 0 || next == e) return m->unit->fault == OPT_FINE ? e : 0;
    e = next;
  }
  return e;
}
