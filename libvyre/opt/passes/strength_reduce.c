/* Operators that a device takes long for become ones that it does not.
 *
 * First the rules of the table that need nothing but the expression. Then divisions, remainders and products by literals
 * that use their operand more than once: an operand that is more than a leaf is bound to a `let` in front of the
 * statement, so that it is evaluated once, as before. That moves it in front of what the statement evaluates earlier,
 * so it must not read memory that this changes. */
#include "opt/passes/algebra.h"
#include "opt/strength.h"

typedef struct reduction {
  opt_context *c;
  opt_unit *unit;
  opt_edit *edit;
  opt_map map;
  uint32_t position;
  bool has_effect; /* the statement */
  bool bound;      /* a `let` in front of the statement; what was mapped with it is good for this statement alone */
} reduction;

/* ---- Making ---------------------------------------------------------------------------------- */

static uint32_t constant(reduction *r, vyre_type type, uint64_t bits) {
  return opt_constant(r->unit, type, opt_integer_bits(ir_component(type), (int64_t)bits));
}

static uint32_t shifted(reduction *r, vyre_op op, uint32_t x, unsigned count) {
  vyre_type type = opt_type(r->unit, x);
  uint32_t lanes = ir_type_at(type)->lanes;
  vyre_type counts = lanes > 1 ? ir_vector_of(VYRE_TYPE_U32, lanes) : VYRE_TYPE_U32;
  return count == 0 ? x : opt_op(r->unit, op, x, opt_constant(r->unit, counts, count), 0);
}

static uint32_t right(reduction *r, uint32_t x, unsigned count) { return shifted(r, VYRE_OP_SHR, x, count); }
static uint32_t mulhi(reduction *r, uint32_t x, uint64_t factor) {
  return opt_op(r->unit, VYRE_OP_MULHI, x, constant(r, opt_type(r->unit, x), factor), 0);
}
static uint32_t negated(reduction *r, uint32_t x) { return opt_op(r->unit, VYRE_OP_NEG, x, 0, 0); }

/* An expression that gives what |x| gives and may be evaluated often; 0 if there is none. */
static uint32_t bind(reduction *r, uint32_t x) {
  opt_unit *u = r->unit;
  if (x == 0 || opt_is_constant(u, x) || opt_is(u, x, VYRE_OP_VAR) || opt_is(u, x, VYRE_OP_PARAM)) return x;
  uint32_t flags = opt_flags(u, x);
  if (flags & (OPT_EFFECT | OPT_CONVERGENT) || ((flags & OPT_READS_MEMORY) && r->has_effect)) return 0;
  uint32_t var = opt_new_named_var(u, "t", opt_type(u, x), VYRE_STMT_LET);
  if (var == UINT32_MAX || opt_put_let(r->edit, var, x, r->position) == 0) return 0;
  r->bound = true;
  return opt_var_value(u, var);
}

/* Whether bind would give an expression. */
static bool can_bind(const reduction *r, uint32_t x) {
  uint32_t flags = opt_flags(r->unit, x);
  return (flags & (OPT_EFFECT | OPT_CONVERGENT)) == 0 && !((flags & OPT_READS_MEMORY) && r->has_effect);
}

/* ---- Products -------------------------------------------------------------------------------- */

static uint32_t sum_of_shifts(reduction *r, uint32_t x, const opt_sum *sum) {
  opt_unit *u = r->unit;
  uint32_t first = 0; /* the highest term that is added, so that nothing has to be negated */
  while (first < sum->count && sum->term[first].negative) first++;
  bool negative = first == sum->count;
  if (negative) first = 0;
  uint32_t result = shifted(r, VYRE_OP_SHL, x, sum->term[first].shift);
  if (negative) result = negated(r, result);
  for (uint32_t i = 0; i < sum->count; i++) {
    if (i == first) continue;
    uint32_t term = shifted(r, VYRE_OP_SHL, x, sum->term[i].shift);
    result = opt_op(u, sum->term[i].negative ? VYRE_OP_SUB : VYRE_OP_ADD, result, term, 0);
  }
  return result;
}

/* Only where the sum takes no more than half as long: products overlap with other work. */
static uint32_t reduce_product(reduction *r, uint32_t x, uint64_t factor, unsigned width) {
  opt_sum sum = opt_sum_of(factor, width);
  if (sum.count < 2 || opt_sum_cost(&sum) * 2 > r->unit->costs->op[VYRE_OP_MUL] || !can_bind(r, x)) return 0;
  x = bind(r, x);
  return x != 0 ? sum_of_shifts(r, x, &sum) : 0;
}

/* ---- Quotients ------------------------------------------------------------------------------- */

/* |x| may be evaluated often. */
static uint32_t unsigned_quotient(reduction *r, uint32_t x, uint64_t d, unsigned width) {
  opt_quotient q = opt_unsigned_quotient(d, width);
  uint32_t high = mulhi(r, right(r, x, q.before), q.multiplier);
  if (!q.fixup) return right(r, high, q.after);
  high = bind(r, high);
  return right(r, opt_add(r->unit, right(r, opt_sub(r->unit, x, high), 1), high), q.after);
}

/* What is added to a negative x so that a shift rounds towards 0: 2^k - 1. */
static uint32_t biased(reduction *r, uint32_t x, unsigned k, unsigned width) {
  uint32_t mask = constant(r, opt_type(r->unit, x), (1ull << k) - 1);
  return opt_add(r->unit, opt_op(r->unit, VYRE_OP_BITAND, right(r, x, width - 1), mask, 0), x);
}

static uint32_t signed_quotient(reduction *r, uint32_t x, uint64_t d, unsigned width) {
  if ((d & (d - 1)) == 0) {
    unsigned k = (unsigned)__builtin_ctzll(d);
    return right(r, biased(r, x, k, width), k);
  }
  opt_quotient q = opt_signed_quotient(d, width);
  uint32_t high = mulhi(r, x, q.multiplier);
  if (q.fixup) high = opt_add(r->unit, high, x);
  return opt_sub(r->unit, right(r, high, q.after), right(r, x, width - 1));
}

/* Of a signed divisor. */
static uint64_t magnitude(vyre_type type, uint64_t d) {
  return d >= opt_smallest(type) ? opt_integer_bits(type, (int64_t)(0 - d)) : d;
}

static uint32_t reduce_division(reduction *r, vyre_op op, uint32_t x, uint64_t d) {
  vyre_type vector = opt_type(r->unit, x), type = ir_component(vector);
  unsigned width = 8u * ir_type_at(type)->bytes;
  bool is_signed = !ir_is_unsigned(type);
  uint64_t size = is_signed ? magnitude(type, d) : d;
  bool power = (size & (size - 1)) == 0;
  if (size < 2 || (power && !is_signed) || !can_bind(r, x)) return 0; /* rules have those */
  if ((x = bind(r, x)) == 0) return 0;
  if (op == VYRE_OP_MOD && power) {
    uint32_t whole = biased(r, x, (unsigned)__builtin_ctzll(size), width);
    return opt_sub(r->unit, x, opt_op(r->unit, VYRE_OP_BITAND, whole, constant(r, vector, 0 - size), 0));
  }
  uint32_t q = is_signed ? signed_quotient(r, x, size, width) : unsigned_quotient(r, x, size, width);
  if (op == VYRE_OP_MOD) return opt_sub(r->unit, x, opt_mul(r->unit, q, constant(r, vector, size)));
  return is_signed && d >= opt_smallest(type) ? negated(r, q) : q;
}

/* ---- The pass -------------------------------------------------------------------------------- */

static uint32_t reduce(void *context, uint32_t e) {
  reduction *r = context;
  opt_unit *u = r->unit;
  ir_expr n = *opt_at(u, e);
  vyre_op op = n.op;
  if ((op != VYRE_OP_MUL && op != VYRE_OP_DIV && op != VYRE_OP_MOD) || !ir_is_integer((vyre_type)n.type)) return e;
  if (op == VYRE_OP_MUL && opt_is_constant(u, n.arg[0])) {
    uint32_t first = n.arg[0];
    n.arg[0] = n.arg[1];
    n.arg[1] = first;
  }
  if (!opt_is_constant(u, n.arg[1]) || opt_is_constant(u, n.arg[0])) return e;
  uint64_t literal = opt_constant_bits(u, n.arg[1]);
  unsigned width = 8u * ir_type_at(ir_component((vyre_type)n.type))->bytes;
  uint32_t result = op == VYRE_OP_MUL ? reduce_product(r, n.arg[0], literal, width)
                                      : reduce_division(r, op, n.arg[0], literal);
  if (result == 0) return e;
  uint64_t before = opt_meta_of(u, e)->cost, after = opt_meta_of(u, result)->cost;
  if (r->c->explains) opt_note(r->c, op == VYRE_OP_MUL ? "shift_add" : op == VYRE_OP_DIV ? "divide_by_multiplying"
                                                                                          : "remainder_by_multiplying",
                               r->position, before > after ? before - after : 0);
  return result;
}

static opt_action enter(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  reduction *r = context;
  uint32_t count;
  (void)old;
  const uint32_t *operands = opt_operands(r->unit, s, &count);
  r->edit = e;
  r->position = s->pos;
  r->has_effect = false;
  for (uint32_t i = 0; i < count; i++) r->has_effect |= (opt_flags(r->unit, operands[i]) & OPT_EFFECT) != 0;
  opt_map_operands(&r->map, s);
  opt_hide_beyond(r->unit, s);
  if (r->bound) opt_map_reset(&r->map);
  r->bound = false;
  return OPT_KEEP;
}

static bool has_work(const vyre_program *source) {
  return ir_has_op(source, VYRE_OP_MUL) || ir_has_op(source, VYRE_OP_DIV) || ir_has_op(source, VYRE_OP_MOD);
}

bool opt_pass_strength_reduce(opt_context *c) {
  static const opt_rewriter rewriter = { .enter = enter };
  if (!has_work(c->unit->source)) return false; /* no pass of a level makes these of others */
  bool changed = opt_apply_rules(c, OPT_RULES_FOLD | OPT_RULES_STRENGTH, NULL, NULL);
  reduction r = { .c = c, .unit = c->unit };
  r.map = opt_map_begin(c->unit, reduce, &r);
  changed |= opt_rewrite(c->unit, &rewriter, &r);
  opt_map_end(&r.map);
  return changed;
}
